//! The options of all jobs: one table, from which the command line ([`command_line`](crate::command_line)), the magics and the keyword
//! arguments of the Python library are derived, so that they cannot drift apart.
//!
//! A new option is one entry in [`TABLE`] (`table.rs`) and one field of [`Options`], or of what it holds for a job. Nothing here parses a command line or
//! knows Python objects.

mod alias;
mod given;
mod impacting;
pub(crate) mod paths;
mod slicing;
mod table;
mod value;

use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use twincell_amplify::AmplifyOptions;
use twincell_behavior::{Declared, DeclaredEffect, Ignored, Unordered};
use twincell_blame::BlameOptions;
use twincell_compare::campaign::Techniques;
use twincell_compare::{CompareOptions, Examples, GivenCall};
use twincell_engine::protocol::{Context, Isolation};
use twincell_models::PredictorKind;
use twincell_prefix::{Generators, PrefixOptions};
use twincell_values::value::Provider;

pub use alias::{ALIASES, Alias, Deprecation, Spelling, aliases_of};
pub use given::{GivenOption, OptionName, add_given, find_for};
pub use impacting::Impacting;
pub use paths::{PathBudget, PathRules};
pub use slicing::Slicing;
pub use table::TABLE;
pub use value::{Kind, OptionError, Value};

/// The values of all options, and the rules that only a policy has. [`Options::default`] holds the defaults of the
/// table. As JSON they go to the other processes of a study.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Options {
    pub function: Option<String>,
    /// The maximum number of executions of one pair.
    pub budget: u32,
    pub seed: u64,
    /// The number of prefixes for which a step asks, and the maximum number of attempts to cover more.
    pub width: u32,
    pub prefix_budget: u32,
    /// What finds prefixes, and the maximum number of tokens that a language model may use.
    pub generators: Generators,
    pub token_budget: u64,
    /// Whether libraries that a snippet imports are installed if they are missing.
    pub install: bool,
    /// The maximum number of variants of tests in all, and of rounds of the search for them.
    pub variant_budget: u32,
    pub round_budget: u32,
    /// The maximum number of commits at which a call runs.
    pub commit_budget: u32,
    pub slicing: Slicing,
    pub impacting: Impacting,
    /// The files and folders with tests. If absent, those of the project's configuration.
    pub tests: Option<String>,
    /// Whether values of the change and coverage lead the search for tests.
    pub guided: bool,
    /// Whether tests may reach the network.
    pub network: bool,
    /// Variables of the environment that tests get besides those that hold no secret.
    pub pass_env: Option<String>,
    /// What a search for prefixes does.
    pub prefix_techniques: twincell_prefix::Techniques,
    pub predictor: PredictorKind,
    pub context: Context,
    /// The folder of the model. If absent, the model that comes with twincell.
    pub model: Option<PathBuf>,
    pub device: Device,
    pub cache: Cache,
    /// The maximum size of one source, in MiB.
    pub max_source: u64,
    /// The maximum number of statements and expressions of one version of a pair.
    pub max_function: u32,
    /// The maximum time of one pair, in seconds.
    pub deadline: f64,
    /// Whether code runs where the sandbox is not complete.
    pub run_unsafe: bool,
    /// The maximum number of workers. If absent, one for each processor.
    pub jobs: Option<usize>,
    /// The time limit of one execution, in seconds.
    pub timeout: f64,
    /// The memory limit of one worker, in MiB.
    pub memory: u64,
    pub raise_probability: f64,
    pub float_tolerance: f64,
    pub ignore_edge_cases: bool,
    pub ordered_keys: bool,
    /// What counts for nothing.
    pub ignore: BTreeSet<Ignored>,
    /// What may be in any order.
    pub unordered: BTreeSet<Unordered>,
    pub isolation: Isolation,
    pub techniques: Techniques,
    /// The file of examples, and that of recorded inputs.
    pub examples: Option<PathBuf>,
    pub recorded: Option<PathBuf>,
    /// What was read from both, and what else was given.
    pub given: Examples,
    /// The Python that runs the workers. If absent, the one that runs twincell.
    pub python: Option<PathBuf>,
    /// The file of the policy, or `none`. If absent, the one that is found.
    pub policy: Option<PathBuf>,
    /// Whether a change to the policy or to the accepted differences passes.
    pub allow_policy_change: bool,
    /// The effects of functions, by the policy.
    pub effects: Vec<DeclaredEffect>,
    /// What makes values of classes: registered in this process, by the policy, by libraries.
    pub providers: Vec<Arc<Provider>>,
    /// The policy's rules for paths.
    pub paths: PathRules,
    /// Old spellings that were used.
    #[serde(skip)]
    pub deprecations: Vec<Deprecation>,
}

/// Where the neural network may run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Device {
    Auto,
    Cpu,
}

/// Where predictions are cached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Cache {
    /// In the user's cache folder, also for other processes.
    Disk,
    Memory,
}

/// The job to run. Not every option makes sense for each job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Job {
    Compare,
    Study,
    Predict,
    Prefix,
    Amplify,
    Slice,
    Blame,
    Impact,
    Doctor,
}

impl Job {
    pub const ALL: [Job; 9] = [
        Job::Compare,
        Job::Study,
        Job::Predict,
        Job::Prefix,
        Job::Amplify,
        Job::Slice,
        Job::Blame,
        Job::Impact,
        Job::Doctor,
    ];

    /// The name of the command, and of the function in Python.
    pub fn name(self) -> &'static str {
        match self {
            Job::Compare => "compare",
            Job::Study => "study",
            Job::Predict => "predict",
            Job::Prefix => "prefix",
            Job::Amplify => "amplify",
            Job::Slice => "slice",
            Job::Blame => "blame",
            Job::Impact => "impact",
            Job::Doctor => "doctor",
        }
    }
}

/// One option, with everything that any surface says about it.
pub struct OptionSpec {
    /// The name on the command line, without the dashes. Python says `raise_probability` for `raise-probability`.
    pub name: &'static str,
    pub kind: Kind,
    /// The default as a user would write it. Empty if the option is absent by default.
    pub default: &'static str,
    /// The text in help if there is no default to show.
    pub absent: &'static str,
    pub help: &'static str,
    pub jobs: &'static [Job],
    apply: fn(&mut Options, Value),
}

/// An option goes by its name and its jobs.
impl PartialEq for OptionSpec {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name && self.jobs == other.jobs
    }
}

impl fmt::Debug for OptionSpec {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name)
    }
}

impl Default for Options {
    fn default() -> Self {
        let core = CompareOptions::default();
        let prefix = PrefixOptions::default();
        let amplify = AmplifyOptions::default();
        let blame = BlameOptions::default();
        Self {
            function: core.function,
            budget: core.budget,
            seed: core.seed,
            width: prefix.width,
            prefix_budget: prefix.rounds,
            generators: prefix.generators,
            token_budget: prefix.tokens,
            install: false,
            variant_budget: u32::try_from(amplify.variants).unwrap_or(u32::MAX),
            round_budget: amplify.rounds,
            commit_budget: blame.runs,
            slicing: Slicing::default(),
            impacting: Impacting::default(),
            tests: None,
            guided: amplify.guided,
            network: false,
            pass_env: None,
            prefix_techniques: prefix.techniques,
            predictor: PredictorKind::Neural,
            context: core.context,
            model: None,
            device: Device::Auto,
            cache: Cache::Disk,
            jobs: None,
            timeout: 5.0,
            memory: 1024,
            max_source: core.max_source >> 20,
            max_function: core.max_function,
            deadline: core.deadline.as_secs_f64(),
            run_unsafe: false,
            raise_probability: core.raise_probability,
            float_tolerance: core.float_tolerance,
            ignore_edge_cases: core.ignore_edge_cases,
            ordered_keys: core.ordered_keys,
            ignore: core.declared.ignore,
            unordered: core.declared.unordered,
            isolation: core.isolation,
            techniques: core.techniques,
            examples: None,
            recorded: None,
            given: Examples::default(),
            python: None,
            policy: None,
            allow_policy_change: false,
            effects: core.declared.effects,
            providers: core.providers,
            paths: PathRules::default(),
            deprecations: vec![],
        }
    }
}

impl Options {
    /// Sets the option of a job with this name (`raise-probability` or `raise_probability`) from what a user typed.
    pub fn set_text(&mut self, job: Job, name: &str, text: &str) -> Result<(), OptionError> {
        find_for(job, name)?.parse(text)?.apply(self);
        Ok(())
    }

    /// These options for [`twincell_prefix::prefixes`].
    pub fn for_prefix(&self) -> PrefixOptions {
        PrefixOptions {
            width: self.width,
            rounds: self.prefix_budget,
            seed: self.seed,
            deadline: Duration::from_secs_f64(self.deadline),
            generators: self.generators,
            tokens: self.token_budget,
            techniques: self.prefix_techniques,
            ..PrefixOptions::default()
        }
    }

    /// These options for [`twincell_amplify::amplify`].
    pub fn for_amplify(&self) -> AmplifyOptions {
        AmplifyOptions {
            rounds: self.round_budget,
            variants: self.variant_budget as usize,
            seed: self.seed,
            guided: self.guided,
            seconds: self.deadline,
            ..AmplifyOptions::default()
        }
    }

    /// These options for [`twincell_blame::blame`].
    pub fn for_blame(&self) -> BlameOptions {
        BlameOptions { runs: self.commit_budget, deadline: Duration::from_secs_f64(self.deadline) }
    }

    /// The options that the analysis takes.
    pub fn for_core(&self) -> CompareOptions {
        CompareOptions {
            budget: self.budget,
            seed: self.seed,
            context: self.context,
            function: self.function.clone(),
            raise_probability: self.raise_probability,
            float_tolerance: self.float_tolerance,
            ignore_edge_cases: self.ignore_edge_cases,
            ordered_keys: self.ordered_keys,
            declared: Declared {
                ignore: self.ignore.clone(),
                unordered: self.unordered.clone(),
                effects: self.effects.clone(),
            },
            isolation: self.isolation,
            techniques: self.techniques,
            examples: self.given.clone(),
            max_source: self.max_source << 20,
            max_function: self.max_function,
            deadline: Duration::from_secs_f64(self.deadline),
            given: vec![],
            not_given: vec![],
            providers: self.providers.clone(),
            compared_files: BTreeSet::new(),
            packages: vec![],
        }
    }

    /// The options that the analysis takes for the code of a file.
    pub fn for_file(&self, path: &Path) -> CompareOptions {
        CompareOptions {
            budget: self.paths.budget(path).unwrap_or(self.budget),
            examples: crate::examples::of_path(&self.given, path),
            ..self.for_core()
        }
    }

    /// Adds examples that are given as they are.
    pub fn add_examples(&mut self, calls: Vec<GivenCall>) {
        let before = self.given.calls.iter().cloned();
        self.given.calls = Arc::new(before.chain(calls).collect());
    }

    /// Reads the files of examples. An error is one line for people.
    pub fn read_examples(&mut self, job: Job) -> Result<(), String> {
        let mut calls = self.given.calls.to_vec();
        if let Some(path) = &self.examples {
            calls.extend(crate::examples::read(path)?);
        }
        if let Some(path) = &self.recorded {
            calls.extend(crate::examples::read_recorded(path)?);
        }
        self.given.calls = Arc::new(calls);
        self.given.is_shared |= job == Job::Study;
        Ok(())
    }

    pub fn deadline(&self) -> Duration {
        Duration::from_secs_f64(self.timeout)
    }

    pub fn worker_count(&self) -> usize {
        self.jobs.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, |count| count.get()))
    }
}

/// The options that make sense for a job, in the order of the table.
pub fn of(job: Job) -> impl Iterator<Item = &'static OptionSpec> {
    TABLE.iter().filter(move |spec| spec.jobs.contains(&job))
}

impl OptionSpec {
    /// The name, with its job where `compare` has another option of this name.
    pub fn whole_name(&self) -> String {
        let is_other = !self.jobs.contains(&Job::Compare) && of(Job::Compare).any(|spec| spec.name == self.name);
        match self.jobs.first() {
            Some(job) if is_other => format!("{} of {}", self.name, job.name()),
            _ => self.name.to_owned(),
        }
    }

    /// The name of the keyword argument in Python.
    pub fn keyword(&self) -> String {
        self.name.replace('-', "_")
    }

    /// The help, with the allowed values and the default. Techniques have a line each.
    pub fn full_help(&self) -> String {
        let default = if self.default.is_empty() { self.absent } else { self.default };
        let allowed = self.kind.allowed().map(|allowed| format!("{allowed}; ")).unwrap_or_default();
        let techniques = self.kind.techniques().iter().map(|(name, help)| format!("\n- {name}: {help}"));
        format!("{} [{allowed}default: {default}]{}", self.help, techniques.collect::<String>())
    }
}

/// The options of a job, as Python writes them.
fn keywords(job: Job) -> String {
    of(job).map(OptionSpec::keyword).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use twincell_slice::refine::Scheme;

    use super::*;

    #[test]
    fn the_defaults_of_the_table_are_the_defaults_of_the_options() {
        let mut written = Options::default();
        for spec in TABLE.iter().filter(|spec| !spec.default.is_empty()) {
            written.set_text(spec.jobs[0], spec.name, spec.default).unwrap();
        }
        assert_eq!(written, Options::default());
    }

    #[test]
    fn every_option_changes_something_of_its_own() {
        let mut seen = Vec::new();
        for spec in TABLE {
            let sample = match spec.kind {
                Kind::Text { .. } | Kind::Texts { .. } | Kind::Path { .. } => "some/thing".to_owned(),
                Kind::Integer { maximum, .. } | Kind::IntegerOr { maximum, .. } => maximum.to_string(),
                Kind::Number { maximum, .. } => maximum.to_string(),
                Kind::Flag => "on".to_owned(),
                Kind::Words { allowed } => allowed.join(","),
                Kind::Techniques { all } => all[0].0.to_owned(),
                Kind::Choice { allowed } => {
                    (*allowed.iter().find(|choice| **choice != spec.default).unwrap()).to_owned()
                }
            };
            let mut options = Options::default();
            options.set_text(spec.jobs[0], spec.name, &sample).unwrap();
            assert_ne!(options, Options::default(), "{} changes nothing", spec.name);
            assert!(!seen.contains(&options), "{} changes what another option changes", spec.name);
            seen.push(options);
        }
    }

    #[test]
    fn names_are_unique_in_a_job_and_sorted_into_jobs() {
        for (index, spec) in TABLE.iter().enumerate() {
            for earlier in TABLE[..index].iter().filter(|earlier| earlier.name == spec.name) {
                assert!(earlier.jobs.iter().all(|job| !spec.jobs.contains(job)), "{} is there twice", spec.name);
            }
            assert!(!spec.jobs.is_empty(), "{} is an option of nothing", spec.name);
            assert!(spec.default.is_empty() != spec.absent.is_empty(), "{} needs one of default and absent", spec.name);
        }
    }

    #[test]
    fn every_scheme_of_a_slice_can_be_given() {
        let Kind::Choice { allowed } = find_for(Job::Slice, "scheme").unwrap().kind() else { panic!() };
        assert_eq!(allowed.len(), Scheme::ALL.len());
        assert!(Scheme::ALL.iter().all(|scheme| allowed.contains(&scheme.name())));
    }

    #[test]
    fn an_unknown_option_is_answered_with_the_known_ones() {
        let error = find_for(Job::Compare, "bugdet").unwrap_err().to_string();
        assert!(error.contains("bugdet") && error.contains("budget") && error.contains("raise_probability"), "{error}");
        let error = find_for(Job::Predict, "budget").err().map(|error| error.to_string());
        assert_eq!(
            error.as_deref(),
            Some("predict has no option budget: it has predictor, model, device, cache, policy")
        );
    }

    #[test]
    fn errors_name_the_value_and_what_is_allowed() {
        for (name, text, expected) in [
            ("budget", "0", "budget cannot be 0: give a whole number from 1 to 1000000"),
            ("budget", "many", "budget cannot be 'many': give a whole number from 1 to 1000000"),
            ("raise-probability", "2", "raise-probability cannot be 2: give a number from 0 to 1"),
            ("raise_probability", "nan", "raise-probability cannot be NaN: give a number from 0 to 1"),
            ("context", "file", "context cannot be 'file': give function or module"),
            ("predictor", "", "predictor cannot be '': give neural, frequency or uniform"),
            (
                "disable",
                "mutation,luck",
                "disable cannot be 'mutation,luck': give some of learning, observation, directed, mutation, hints, replacement, calls, trial, environments, exhaustion, proof, with commas",
            ),
            ("ignore-edge-cases", "perhaps", "ignore-edge-cases cannot be 'perhaps': give on or off"),
            ("function", "", "function cannot be '': give a text that is not empty"),
        ] {
            assert_eq!(Options::default().set_text(Job::Compare, name, text).unwrap_err().to_string(), expected);
        }
    }

    #[test]
    fn values_of_the_wrong_type_are_refused() {
        let given = |name, value| find_for(Job::Compare, name).unwrap().check(value);
        assert!(given("budget", Value::Text("100".into())).is_err());
        assert!(given("budget", Value::Number(1.5)).is_err());
        assert!(given("function", Value::Integer(1)).is_err());
        assert_eq!(given("timeout", Value::Integer(2)).unwrap().value, Value::Number(2.0));
        assert!(given("python", Value::Text("/usr/bin/python3".into())).is_ok());
    }

    #[test]
    fn each_analysis_has_a_budget_and_techniques_of_its_own() {
        for (job, budget, technique) in
            [(Job::Compare, 300, "learning"), (Job::Prefix, 10, "solver"), (Job::Amplify, 3000, "guidance")]
        {
            let spec = find_for(job, "budget").unwrap().spec;
            assert_eq!(spec.default, budget.to_string());
            let mut options = Options::default();
            options.set_text(job, "budget", "7").unwrap();
            options.set_text(job, "disable", technique).unwrap();
            let [compare, prefix, amplify] = [Job::Compare, Job::Prefix, Job::Amplify].map(|other| other == job);
            assert_eq!((options.budget == 7, !options.techniques.learning), (compare, compare));
            assert_eq!((options.prefix_budget == 7, !options.prefix_techniques.solver), (prefix, prefix));
            assert_eq!((options.variant_budget == 7, !options.guided), (amplify, amplify));
        }
    }

    #[test]
    fn the_help_of_disable_has_a_line_for_each_technique() {
        let help = find_for(Job::Prefix, "disable").unwrap().spec.full_help();
        assert!(
            help.starts_with("Techniques to leave out, to measure what each contributes [default: all are used]\n")
        );
        assert!(help.contains("\n- solver: ") && help.lines().count() == 4, "{help}");
    }
}
