//! `twincell doctor`: reports the set-up, what works, and how to mend what does not.

use std::fmt::Write as _;
use std::io;
use std::path::Path;

use serde::Serialize;
use twincell_driver::amplify::checkouts;
use twincell_driver::options::{GivenOption, Options, TABLE};
use twincell_driver::policy::{OWN, Policy};
use twincell_driver::warm::{Environment, model_options, worker_info};
use twincell_models::{Backend, Disk, backend_report};
use twincell_repo::Cleaned;
use twincell_widgets::plain_sentence;

/// The findings. The fields are those that `--json` prints.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// Whether everything works that a comparison needs.
    pub works: bool,
    pub twincell: String,
    pub system: String,
    pub python: PythonReport,
    pub predictor: PredictorReport,
    pub gpu: GpuReport,
    pub sandbox: SandboxReport,
    pub policy: PolicyReport,
    /// What was removed, if it was asked for.
    pub removed: Option<RemovedReport>,
    /// What does not work, and what to do.
    pub problems: Vec<String>,
}

/// The Python that runs workers.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PythonReport {
    pub executable: String,
    /// The version, as a worker reports it. Absent if none could be started.
    pub version: Option<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct PredictorReport {
    /// The name in reports, e.g. `neural (ONNX Runtime, CPU)`.
    pub in_use: Option<String>,
    /// `embedded`, a folder, or `none`.
    pub model: Option<String>,
    /// The size of the network's files in bytes, and its precision. Absent for a predictor without a network.
    pub model_bytes: Option<u64>,
    pub precision: Option<String>,
    /// The library found in the user's Python.
    pub onnxruntime: Option<String>,
    /// The faster back ends, and why each is not in use.
    pub not_used: Vec<NotUsed>,
    /// Where predictions are cached for other processes. Absent if they are not.
    pub cache: Option<CacheReport>,
}

/// The file of predictions.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CacheReport {
    pub file: String,
    /// Its content and size, unless there is a problem with it.
    pub answers: Option<u64>,
    pub bytes: Option<u64>,
    pub problem: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NotUsed {
    pub backend: String,
    pub reason: String,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GpuReport {
    /// The driver's own line about its version, if an NVIDIA driver is loaded.
    pub driver: Option<String>,
    pub in_use: bool,
}

/// What a worker enforces. Absent entries mean that no worker could be started.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct SandboxReport {
    pub complete: bool,
    pub filesystem: Option<String>,
    pub network: Option<String>,
    pub programs: Option<String>,
    pub memory: Option<String>,
    pub time: Option<String>,
}

/// The checkouts of repositories and the results of their tests that were removed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RemovedReport {
    pub folder: String,
    /// The disk space that is free now.
    pub bytes: u64,
    /// How many checkouts are in use and stay, and the results of tests with them.
    pub in_use: usize,
    /// What could not be removed, and why.
    pub failed: Vec<String>,
}

/// The options in force, and where each comes from.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct PolicyReport {
    /// The file of the policy. Absent if there is none.
    pub file: Option<String>,
    pub settings: Vec<SettingReport>,
}

/// A setting in force.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SettingReport {
    pub name: String,
    /// As a person would write it; absent where it is not set.
    pub value: Option<String>,
    /// `default`, `command line`, or the file and line of the policy.
    pub from: String,
}

/// Every option and every rule of the policy, with its origin.
pub fn policy_report(policy: Option<&Policy>, given: &[GivenOption]) -> PolicyReport {
    let of_policy = |name: &str| {
        let policy = policy?;
        let setting = policy.settings.iter().find(|setting| setting.name == name)?;
        Some((setting.value.text(), format!("{}:{}", policy.file, setting.line)))
    };
    let of_line = |name: &str| {
        let one = given.iter().find(|one| one.spec.whole_name() == name)?;
        Some((one.value.to_string(), "command line".to_owned()))
    };
    let report = |name: &str, default: &str| {
        let (value, from) = of_line(name).or_else(|| of_policy(name)).unzip();
        let value = value.or_else(|| (!default.is_empty()).then(|| default.to_owned()));
        SettingReport { name: name.to_owned(), value, from: from.unwrap_or_else(|| "default".to_owned()) }
    };
    let options = TABLE.iter().filter(|spec| spec.name != "function");
    let options = options.map(|spec| report(&spec.whole_name(), spec.default));
    let rules = OWN.map(|name| report(name, ""));
    PolicyReport { file: policy.map(|policy| policy.file.clone()), settings: options.chain(rules).collect() }
}

/// Removes the checkouts of repositories that nobody uses, and the results of their tests.
pub fn clean(environment: &Environment) -> io::Result<RemovedReport> {
    let checkouts = checkouts(environment)?;
    let Cleaned { bytes, in_use, failed } = checkouts.clean(&twincell_testing::stored(&checkouts.folder));
    let failed = failed.into_iter().map(|(path, reason)| format!("cannot remove {}: {reason}", path.display()));
    Ok(RemovedReport { folder: checkouts.folder.display().to_string(), bytes, in_use, failed: failed.collect() })
}

/// Checks everything. It starts a worker and loads the predictor, as a comparison would.
pub fn examine(options: &Options, environment: &Environment, policy: PolicyReport) -> Report {
    let mut problems = environment.problems.clone();
    let executable = options.python.as_ref().unwrap_or(&environment.python);
    let mut python = PythonReport { executable: executable.display().to_string(), version: None };
    let mut sandbox = SandboxReport::default();
    match worker_info(options, environment) {
        Ok(info) => {
            if let Some(missing) = info.sandbox.missing() {
                problems.push(format!(
                    "the sandbox is not complete here: {missing}; code runs only with --unsafe: only code that you trust"
                ));
            }
            python.version = Some(info.python);
            sandbox = SandboxReport {
                complete: info.sandbox.is_complete(),
                filesystem: Some(info.sandbox.filesystem),
                network: Some(info.sandbox.network),
                programs: Some(info.sandbox.programs),
                memory: Some(info.sandbox.memory),
                time: Some(info.sandbox.time),
            };
        }
        Err(failure) => problems.push(failure.to_string()),
    }

    let mut predictor = PredictorReport {
        onnxruntime: environment.onnxruntime.as_ref().map(|path| path.display().to_string()),
        ..PredictorReport::default()
    };
    let mut gpu = GpuReport { driver: driver(Path::new("/proc/driver/nvidia/version")), in_use: false };
    let model = model_options(options, environment);
    match backend_report(&model) {
        Ok(report) => {
            gpu.in_use = report.in_use == Some(Backend::Cuda);
            predictor.in_use = Some(report.predictor);
            predictor.model = Some(report.model);
            predictor.model_bytes = report.bytes;
            predictor.precision = report.precision.map(|precision| precision.to_string());
            predictor.cache = model.cache.filter(|_| report.in_use.is_some()).map(|folder| cache(&folder));
            let not_used = report.not_used.into_iter();
            predictor.not_used =
                not_used.map(|one| NotUsed { backend: one.backend.to_string(), reason: one.reason }).collect();
        }
        Err(error) => problems.push(format!("cannot load the predictor: {error}")),
    }

    Report {
        works: python.version.is_some() && predictor.in_use.is_some(),
        twincell: env!("CARGO_PKG_VERSION").to_owned(),
        system: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
        python,
        predictor,
        gpu,
        sandbox,
        policy,
        removed: None,
        problems,
    }
}

fn cache(folder: &Path) -> CacheReport {
    let stored = Disk::in_folder(folder).stored();
    let file = stored.path.display().to_string();
    match stored.contents {
        Ok((answers, bytes)) => CacheReport { file, answers: Some(answers), bytes: Some(bytes), problem: None },
        Err(problem) => CacheReport { file, answers: None, bytes: None, problem: Some(problem) },
    }
}

impl PredictorReport {
    /// The predictor and its model, in words.
    fn model_text(&self) -> Option<String> {
        let mut text = self.model.clone()?;
        if let Some(bytes) = self.model_bytes {
            text = format!("{text}, {}", mebibytes(bytes));
        }
        match &self.precision {
            Some(precision) => Some(format!("{text}, {precision}")),
            None => Some(text),
        }
    }

    /// Where predictions are cached, in words.
    fn cache_text(&self) -> String {
        match &self.cache {
            Some(CacheReport { file, problem: Some(problem), .. }) => {
                format!("cached in this process only: {file} cannot be used ({problem})")
            }
            Some(CacheReport { file, answers, bytes, .. }) => {
                let (answers, bytes) = (answers.unwrap_or(0), bytes.unwrap_or(0));
                let noun = if answers == 1 { "function" } else { "functions" };
                format!("{answers} {noun} cached in {file} ({})", mebibytes(bytes))
            }
            None => "cached in this process only".to_owned(),
        }
    }
}

fn mebibytes(bytes: u64) -> String {
    format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20))
}

impl Report {
    /// One fact on each line.
    pub fn text(&self) -> String {
        let mut facts = vec![
            ("twincell", format!("{} on {}", self.twincell, self.system)),
            (
                "Python",
                format!(
                    "{} ({})",
                    self.python.version.as_ref().unwrap_or(&"does not start".to_owned()),
                    self.python.executable
                ),
            ),
            ("predictor", self.predictor.in_use.clone().unwrap_or_else(|| "cannot be loaded".to_owned())),
            ("model", self.predictor.model_text().unwrap_or_else(|| "none".to_owned())),
            ("predictions", self.predictor.cache_text()),
            ("ONNX Runtime", self.predictor.onnxruntime.clone().unwrap_or_else(|| "not in this Python".to_owned())),
        ];
        for one in &self.predictor.not_used {
            facts.push(("not used", format!("{}: {}", one.backend, one.reason)));
        }
        let driver = self.gpu.driver.clone().unwrap_or_else(|| "no NVIDIA driver".to_owned());
        facts.push(("GPU", format!("{} ({driver})", if self.gpu.in_use { "in use" } else { "not in use" })));
        facts.push(("sandbox", if self.sandbox.complete { "complete" } else { "not complete" }.to_owned()));
        for (name, fact) in [
            ("  filesystem", &self.sandbox.filesystem),
            ("  network", &self.sandbox.network),
            ("  programs", &self.sandbox.programs),
            ("  memory", &self.sandbox.memory),
            ("  time", &self.sandbox.time),
        ] {
            facts.push((name, fact.clone().unwrap_or_else(|| "unknown".to_owned())));
        }
        facts.push(("policy", self.policy.file.clone().unwrap_or_else(|| "none".to_owned())));
        let set = self.policy.settings.iter().filter(|setting| setting.from != "default");
        let lines: Vec<String> = set
            .map(|setting| {
                let value = setting.value.as_deref().unwrap_or_default();
                format!("{} = {value} ({})", setting.name, setting.from)
            })
            .collect();
        let rest = if lines.is_empty() { "everything by default" } else { "everything else by default" };
        facts.extend(lines.into_iter().map(|line| ("  in force", line)));
        facts.push(("  in force", rest.to_owned()));
        if let Some(RemovedReport { folder, bytes, in_use, failed }) = &self.removed {
            facts.push(("removed", format!("{} of checkouts and results of tests in {folder}", mebibytes(*bytes))));
            if *in_use > 0 {
                let noun = if *in_use == 1 { "checkout" } else { "checkouts" };
                facts.push(("kept", format!("{in_use} {noun} in use, and the results of tests")));
            }
            facts.extend(failed.iter().map(|problem| ("problem", problem.clone())));
        }
        facts.extend(self.problems.iter().map(|problem| ("problem", problem.clone())));
        facts.iter().fold(String::new(), |mut text, (name, fact)| {
            // Names of files, values of a project's policy and what interpreters say come from others. Writing to a String
            // cannot fail.
            let _ = writeln!(text, "{name:14} {}", plain_sentence(fact));
            text
        })
    }
}

/// The first line of the file in which NVIDIA's driver gives its version.
fn driver(path: &Path) -> Option<String> {
    let text = std::fs::read_to_string(path).ok()?;
    text.lines().next().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_says_where_predictions_are_kept_or_why_not() {
        let cache = |answers: Option<u64>, problem: Option<&str>| {
            let bytes = answers.map(|_| 3 << 19);
            let cache =
                CacheReport { file: "/c/p.sqlite".to_owned(), answers, bytes, problem: problem.map(Into::into) };
            PredictorReport { cache: Some(cache), ..PredictorReport::default() }.cache_text()
        };
        assert_eq!(cache(Some(1), None), "1 function cached in /c/p.sqlite (1.5 MiB)");
        assert_eq!(cache(None, Some("no room")), "cached in this process only: /c/p.sqlite cannot be used (no room)");
        assert_eq!(PredictorReport::default().cache_text(), "cached in this process only");
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(super::cache(folder.path()).answers, Some(0));
        assert!(super::cache(Path::new("/dev/null/x")).problem.is_some());
    }

    #[test]
    fn the_text_says_what_the_model_is() {
        let model = PredictorReport {
            model: Some("embedded".to_owned()),
            model_bytes: Some(24 << 20),
            precision: Some("float32".to_owned()),
            ..PredictorReport::default()
        };
        assert_eq!(model.model_text().as_deref(), Some("embedded, 24.0 MiB, float32"));
    }

    fn report() -> Report {
        Report {
            works: false,
            twincell: "0".to_owned(),
            system: "linux x86_64".to_owned(),
            python: PythonReport { executable: "/no/python".to_owned(), version: None },
            predictor: PredictorReport {
                in_use: Some("neural (rten, CPU)".to_owned()),
                not_used: vec![NotUsed { backend: "CUDA".to_owned(), reason: "no library".to_owned() }],
                ..PredictorReport::default()
            },
            gpu: GpuReport { driver: None, in_use: false },
            sandbox: SandboxReport::default(),
            policy: PolicyReport::default(),
            removed: None,
            problems: vec!["cannot start /no/python".to_owned()],
        }
    }

    #[test]
    fn the_text_says_what_is_in_use_and_why_the_rest_is_not() {
        let text = report().text();
        for expected in
            ["neural (rten, CPU)", "CUDA: no library", "problem        cannot start /no/python", "no NVIDIA"]
        {
            assert!(text.contains(expected), "{expected} in {text}");
        }
    }

    #[test]
    fn the_driver_is_read_from_its_first_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("version");
        assert_eq!(driver(&path), None);
        std::fs::write(&path, "NVRM version:  NVIDIA  580\nGCC version\n").unwrap();
        assert_eq!(driver(&path).as_deref(), Some("NVRM version: NVIDIA 580"));
    }
}
