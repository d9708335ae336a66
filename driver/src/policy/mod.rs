//! The policy that a project writes down: options, and rules about its own code, in `twincell.toml` or under
//! `[tool.twincell]` of `pyproject.toml`.
//!
//! [`in_force`] gives the options of a job: what a user gave beats the policy, and the policy beats the defaults. A
//! policy comes with code that may be hostile. So it is read with bounds, it names no program and no model, and it can
//! only tighten the limits of workers.
//!
//! Where two versions of a repository are compared, the policy is that of the old one ([`Base`]), since the new one may be a
//! stranger's.

mod base;
mod find;
mod read;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use twincell_behavior::DeclaredEffect;
use twincell_compare::notice::Notice;
use twincell_values::value::Provider;

use crate::options::{GivenOption, Job, OptionError, Options, PathBudget, PathRules, Value, find_for};
use crate::providers;

pub use base::{BASELINE, Base, BaseError, is_trusted};

/// What is wrong with a policy, where, and what to do: one line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {what}")]
pub struct PolicyError {
    /// The file, with a line where there is one.
    place: String,
    what: String,
}

/// Why there are no options.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InForceError {
    #[error(transparent)]
    Option(#[from] OptionError),
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// A file of examples cannot be read.
    #[error("{0}")]
    Examples(String),
}

/// A policy, as it was read.
#[derive(Debug, Clone, PartialEq)]
pub struct Policy {
    /// The name of the file for people: as seen from the current folder.
    pub file: String,
    /// The folder that paths in the policy start from.
    pub root: PathBuf,
    /// In the order of the file.
    pub settings: Vec<Setting>,
}

/// One setting of a policy.
#[derive(Debug, Clone, PartialEq)]
pub struct Setting {
    pub name: String,
    pub value: SettingValue,
    /// The line in the file, from 1.
    pub line: usize,
}

#[derive(Debug, Clone, PartialEq)]
pub enum SettingValue {
    Option(GivenOption),
    Effects(Vec<DeclaredEffect>),
    Exclude(Vec<String>),
    Budgets(Vec<PathBudget>),
    Values(Vec<Provider>),
}

/// The settings of a policy that are no options.
pub const OWN: [&str; 4] = ["effects", "exclude", "budgets", "values"];

/// Settings that make differences harder to find, where they are not at their default. `budget` is said of each function.
const WEAKENING: [&str; 9] =
    ["disable", "values", "deadline", "timeout", "memory", "context", "predictor", "raise-probability", "max-source"];

/// Says that there is no policy, in place of the name of its file.
const NONE: &str = "none";

impl Policy {
    /// The policy for code in a folder: the one that is named, or else the one that is found there.
    pub fn of(folder: &Path, named: Option<&Path>) -> Result<Option<Self>, PolicyError> {
        match named {
            Some(named) if named.as_os_str() == NONE => Ok(None),
            Some(named) => read::file(named).map(Some),
            None => find::nearest(folder),
        }
    }

    /// Sets what it says. Its options are those of the table, so that they apply as given ones do.
    fn apply(&self, options: &mut Options) {
        for setting in &self.settings {
            match &setting.value {
                SettingValue::Option(option) => {
                    option.apply(options);
                    options.deprecations.extend(option.deprecation(Some(self.place(setting.line))));
                }
                SettingValue::Effects(effects) => options.effects = effects.clone(),
                SettingValue::Exclude(exclude) => options.paths.exclude = exclude.clone(),
                SettingValue::Budgets(budgets) => options.paths.budgets = budgets.clone(),
                SettingValue::Values(providers) => {
                    options.providers = providers.iter().cloned().map(Arc::new).collect();
                }
            }
        }
        options.paths.root = Some(self.root.clone());
        // More processes than this machine has processors are for its owner to ask for.
        let most = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        options.jobs = options.jobs.map(|jobs| jobs.min(most));
    }

    fn place(&self, line: usize) -> String {
        format!("{}:{line}", self.file)
    }

    /// The settings that are in force and make differences harder to find.
    pub fn weakening(&self, given: &[GivenOption]) -> Vec<Notice> {
        // An option of another job that has the name of one of the policy's does not replace it.
        let is_given = |setting: &Setting| matches!(&setting.value, SettingValue::Option(option) if given.iter().any(|one| one.spec == option.spec));
        let is_default = |setting: &Setting| {
            let mut set = Options::default();
            match &setting.value {
                SettingValue::Option(option) => {
                    option.apply(&mut set);
                    set == Options::default()
                }
                _ => false,
            }
        };
        let weakening = self
            .settings
            .iter()
            .filter(|setting| WEAKENING.contains(&setting.name.as_str()) && !is_given(setting) && !is_default(setting));
        weakening
            .map(|setting| Notice::Weakened {
                setting: setting.name.clone(),
                value: setting.value.text(),
                file: self.file.clone(),
            })
            .collect()
    }

    /// The number of executions that a function would get without this policy, if the policy may give it fewer.
    pub fn usual_budget(&self, given: &[GivenOption]) -> Option<u32> {
        let is_given = given.iter().any(is_budget);
        let sets = self.settings.iter().any(|setting| matches!(setting.name.as_str(), "budget" | "budgets"));
        (sets && !is_given).then(|| Options::default().budget)
    }
}

/// The options of a job: given ones, on top of the policy, on top of the defaults. The policy is the one that `given`
/// names, or else the one for the current folder.
pub fn in_force(job: Job, given: &[GivenOption]) -> Result<Options, InForceError> {
    let policy = Policy::of(&current_folder(), named(given).as_deref())?;
    resolved(job, policy.as_ref(), given)
}

/// As [`in_force`], with a policy that was read before.
pub fn resolved(job: Job, policy: Option<&Policy>, given: &[GivenOption]) -> Result<Options, InForceError> {
    let mut options = Options::default();
    if let Some(policy) = policy {
        policy.apply(&mut options);
    }
    for one in given {
        find_for(job, one.spec.name)?;
        if is_budget(one) {
            // What a user gives beats the policy, for every path.
            options.paths.budgets.clear();
        }
        one.apply(&mut options);
        options.deprecations.extend(one.deprecation(None));
    }
    options.providers = providers::in_force(std::mem::take(&mut options.providers));
    options.read_examples(job).map_err(InForceError::Examples)?;
    Ok(options)
}

/// Whether it is the number of executions that a policy sets, not what other jobs call their budget.
fn is_budget(option: &GivenOption) -> bool {
    find_for(Job::Compare, "budget").is_ok_and(|budget| budget.spec == option.spec)
}

/// The policy that given options name.
pub fn named(given: &[GivenOption]) -> Option<PathBuf> {
    match &given.iter().find(|one| one.spec.name == "policy")?.value {
        Value::Path(path) => Some(path.clone()),
        _ => None,
    }
}

/// The policy that given options name, or else the one for the current folder.
pub fn found(given: &[GivenOption]) -> Result<Option<Policy>, PolicyError> {
    Policy::of(&current_folder(), named(given).as_deref())
}

/// The rules for paths of the policy for code in a folder.
pub fn path_rules(folder: &Path, named: Option<&Path>) -> Result<PathRules, InForceError> {
    let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    let policy = Policy::of(&folder, named)?;
    Ok(resolved(Job::Compare, policy.as_ref(), &[])?.paths)
}

fn current_folder() -> PathBuf {
    std::env::current_dir().unwrap_or_else(|_| PathBuf::from("."))
}

impl SettingValue {
    /// As a person would write it.
    pub fn text(&self) -> String {
        let listed = |items: Vec<String>| items.join(", ");
        match self {
            SettingValue::Option(option) => option.value.to_string(),
            SettingValue::Effects(effects) => {
                listed(effects.iter().map(|one| format!("{} = {}", one.functions, one.effect.name())).collect())
            }
            SettingValue::Exclude(patterns) => listed(patterns.clone()),
            SettingValue::Budgets(budgets) => {
                listed(budgets.iter().map(|one| format!("{} = {}", one.paths, one.budget)).collect())
            }
            SettingValue::Values(providers) => listed(providers.iter().map(Provider::display).collect()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn in_folder(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        folder
    }

    fn options(folder: &Path, given: &[(&str, &str)]) -> Result<Options, String> {
        let policy = Policy::of(folder, None).map_err(|error| error.to_string())?;
        let given: Vec<_> =
            given.iter().map(|(name, text)| find_for(Job::Compare, name).unwrap().parse(text).unwrap()).collect();
        resolved(Job::Compare, policy.as_ref(), &given).map_err(|error| error.to_string())
    }

    #[test]
    fn what_is_given_beats_the_policy_and_the_policy_beats_the_defaults() {
        let text = "[tool.other]\nx = 1\n[tool.twincell]\nbudget = 70\nfloat_tolerance = 1e-6\nignore = [\"log\"]\n\
                    ignore-edge-cases = true\n[tool.twincell.budgets]\n\"src/**\" = 900\n";
        let folder = in_folder(&[("pyproject.toml", text)]);
        let found = options(folder.path(), &[("seed", "3")]).unwrap();
        assert_eq!((found.budget, found.seed, found.float_tolerance), (70, 3, 1e-6));
        assert!(found.ignore_edge_cases && found.ignore.len() == 1);
        assert_eq!(found.paths.budget(Path::new("src/a/b.py")), Some(900));
        let given = options(folder.path(), &[("budget", "5"), ("ignore", "output,calls")]).unwrap();
        assert_eq!((given.budget, given.ignore.len()), (5, 2));
        assert_eq!(given.paths.budget(Path::new("src/a/b.py")), None, "a given budget holds for every path");
    }

    #[test]
    fn an_option_of_another_job_replaces_none_of_the_policy() {
        let text = "disable = ['mutation']\nbudget = 70\ndeadline = 1\n[budgets]\n'src/**' = 9\n";
        let folder = in_folder(&[("twincell.toml", text)]);
        let policy = Policy::of(folder.path(), None).unwrap().unwrap();
        let given = |job, options: &[(&str, &str)]| -> Vec<GivenOption> {
            options.iter().map(|(name, text)| find_for(job, name).unwrap().parse(text).unwrap()).collect()
        };
        let weakening = |given: &[GivenOption]| -> Vec<String> {
            let notices = policy.weakening(given).into_iter();
            notices
                .filter_map(|one| if let Notice::Weakened { setting, .. } = one { Some(setting) } else { None })
                .collect()
        };
        let of_amplify = given(Job::Amplify, &[("disable", "guidance"), ("budget", "5"), ("deadline", "9")]);
        assert_eq!(weakening(&of_amplify), ["disable"]);
        assert_eq!(policy.usual_budget(&of_amplify), Some(Options::default().budget));
        let paths = |job, given: &[GivenOption]| resolved(job, Some(&policy), given).unwrap().paths;
        assert_eq!(paths(Job::Amplify, &of_amplify).budget(Path::new("src/a.py")), Some(9));
        let of_compare = given(Job::Compare, &[("disable", "learning"), ("budget", "5"), ("deadline", "9")]);
        assert_eq!(weakening(&of_compare), Vec::<String>::new());
        assert_eq!(policy.usual_budget(&of_compare), None);
        assert_eq!(paths(Job::Compare, &of_compare).budget(Path::new("src/a.py")), None);
    }

    #[test]
    fn a_policy_names_no_program_and_loosens_no_limit() {
        for (line, expected) in [
            ("python = '/tmp/python'", "python is not for a policy, which comes with the code: give --python"),
            ("model = '/tmp/model'", "model is not for a policy, which comes with the code: give --model"),
            ("function = 'f'", "function is not for a policy, which comes with the code: give --function"),
            ("policy = 'x'", "policy is not for a policy, which comes with the code: give --policy"),
            (
                "unsafe = true",
                "unsafe is not for a policy that comes with the code: give --unsafe, or --policy with your own",
            ),
            ("timeout = 6", "timeout cannot be above 5 in a policy, which comes with the code: give --timeout"),
            ("memory = 2048", "memory cannot be above 1024 in a policy, which comes with the code: give --memory"),
        ] {
            let folder = in_folder(&[("twincell.toml", &format!("seed = 1\n{line}\n"))]);
            let error = options(folder.path(), &[]).unwrap_err();
            assert!(error.ends_with(&format!("twincell.toml:2: {expected}")), "{error}");
        }
        let folder = in_folder(&[("own.toml", "unsafe = true\n")]);
        assert!(Policy::of(folder.path(), Some(&folder.path().join("own.toml"))).unwrap().is_some());
        let folder = in_folder(&[("twincell.toml", "timeout = 2\nmemory = 64\njobs = 1024\n")]);
        let found = options(folder.path(), &[]).unwrap();
        let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        assert_eq!((found.timeout, found.memory, found.jobs), (2.0, 64, Some(processors)));
    }
}
