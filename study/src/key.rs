//! The key of a row: a hash of everything that its result depends on, so that a study knows which results it has.

use sha2::{Digest, Sha256};
use twincell_driver::options::Options;
use twincell_driver::warm::{Environment, model_options};
use twincell_prefix::Generators;

use crate::change::{Change, NoChange};
use crate::snippet::Snippet;

/// Increase this when rows that are equal in everything hashed here would get other results than before.
const FORMAT: &[u8] = b"twincell study 4";

/// Makes the keys of a study.
#[derive(Clone)]
pub struct Keys {
    /// The hash of what all rows of the study share.
    shared: Sha256,
}

impl Keys {
    /// Reads the model. An error is one line for people.
    pub fn new(options: &Options, environment: &Environment) -> Result<Self, String> {
        let mut shared = Sha256::new();
        put(&mut shared, FORMAT);
        put(&mut shared, env!("CARGO_PKG_VERSION").as_bytes());
        put(&mut shared, settings(options)?.as_bytes());
        // The Python that runs the code, unless another one is among the options. Neither its packages nor its location
        // count.
        put(&mut shared, environment.version.as_bytes());
        let parts =
            twincell_models::contents(&model_options(options, environment)).map_err(|error| error.to_string())?;
        let mut model = Sha256::new();
        for part in &parts {
            put(&mut model, part);
        }
        put(&mut shared, &model.finalize());
        Ok(Self { shared })
    }

    /// What the study as a whole depends on, for other processes that must give the same results.
    pub fn fingerprint(&self) -> String {
        hex(self.shared.clone())
    }

    pub fn of_change(&self, change: &Change) -> String {
        let mut hash = self.shared.clone();
        put(&mut hash, change.old.as_bytes());
        put(&mut hash, change.new.as_bytes());
        for text in [&change.old_module, &change.new_module, &change.function] {
            put(&mut hash, &[u8::from(text.is_some())]);
            put(&mut hash, text.as_deref().unwrap_or_default().as_bytes());
        }
        if let Some(budget) = change.budget {
            put(&mut hash, b"budget of its file");
            put(&mut hash, &budget.to_le_bytes());
        }
        hex(hash)
    }

    pub fn of_snippet(&self, snippet: &Snippet, options: &Options) -> String {
        let mut hash = self.shared.clone();
        put(&mut hash, b"prefixes");
        put(&mut hash, &options.width.to_le_bytes());
        put(&mut hash, &options.prefix_budget.to_le_bytes());
        put(&mut hash, format!("{:?}", options.prefix_techniques).as_bytes());
        if options.generators != Generators::Local {
            put(&mut hash, format!("{:?} {}", options.generators, options.token_budget).as_bytes());
            put(&mut hash, twincell_models::Endpoint::named().as_bytes());
        }
        if options.install {
            put(&mut hash, b"install");
        }
        put(&mut hash, snippet.text.as_bytes());
        hex(hash)
    }

    pub fn of_row(&self, row: &NoChange) -> String {
        let mut hash = self.shared.clone();
        put(&mut hash, b"no change");
        put(&mut hash, row.reason().as_bytes());
        hex(hash)
    }
}

/// All options that can change a result. They are destructured, so that a new option is not forgotten.
fn settings(options: &Options) -> Result<String, String> {
    let Options {
        function: _,
        budget: _,
        seed: _,
        width: _,
        prefix_budget: _,
        generators: _,
        token_budget: _,
        install: _,
        variant_budget: _,
        round_budget: _,
        commit_budget: _,
        slicing: _,
        impacting: _,
        pass_env: _,
        tests: _,
        guided: _,
        network: _,
        prefix_techniques: _,
        context: _,
        raise_probability: _,
        float_tolerance: _,
        ignore_edge_cases: _,
        ordered_keys: _,
        isolation: _,
        max_source: _,
        max_function: _,
        // A row that it cut has no key, and no other depends on it.
        deadline: _,
        techniques: _,
        // Its files are read instead.
        model: _,
        // Results are the same for any number of jobs, and for any source of predictions.
        jobs: _,
        cache: _,
        // Code that must not be trusted may run differently without a sandbox. So a row that came about with this option
        // is never taken up by a study without it.
        run_unsafe,
        predictor,
        device,
        timeout,
        memory,
        python,
        // What they say is among the analysis.
        examples: _,
        recorded: _,
        given: _,
        // What it says is among the others, and for a change in its budget.
        policy: _,
        allow_policy_change: _,
        ignore: _,
        unordered: _,
        effects: _,
        providers: _,
        paths: _,
        deprecations: _,
    } = options;
    let analysis = Options { deadline: Options::default().deadline, ..options.clone() }.for_core();
    let analysis = serde_json::to_string(&analysis).map_err(|error| error.to_string())?;
    let python = python.as_ref().map(|path| path.to_string_lossy().into_owned());
    Ok(format!("{analysis} {predictor} {device:?} {timeout} {memory} {python:?} {run_unsafe}"))
}

/// Hashes a text with its length, so that adjacent texts cannot merge.
fn put(hash: &mut Sha256, bytes: &[u8]) {
    hash.update((bytes.len() as u64).to_le_bytes());
    hash.update(bytes);
}

fn hex(hash: Sha256) -> String {
    hash.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use twincell_behavior::{DeclaredEffect, FunctionEffect};
    use twincell_driver::options::{Cache, Job, TABLE};

    fn change() -> Change {
        Change { old: "a".into(), new: "b".into(), ..Change::default() }
    }

    #[test]
    fn every_option_that_can_change_a_result_changes_the_keys() {
        let key = |options: &Options| Keys::new(options, &Environment::default()).unwrap().of_change(&change());
        let plain = key(&Options::default());
        assert_eq!(plain.len(), 32);
        for (name, text) in [
            ("budget", "7"),
            ("seed", "7"),
            ("predictor", "uniform"),
            ("context", "function"),
            ("device", "cpu"),
            ("timeout", "7"),
            ("memory", "77"),
            ("raise-probability", "0.5"),
            ("float-tolerance", "0.5"),
            ("ignore-edge-cases", "on"),
            ("ordered-keys", "on"),
            ("ignore", "log"),
            ("unordered", "items"),
            ("isolation", "process"),
            ("max-source", "7"),
            ("max-function", "7"),
            ("disable", "mutation"),
            ("python", "/other/python"),
            ("unsafe", "on"),
        ] {
            let mut options = Options::default();
            options.set_text(Job::Study, name, text).unwrap();
            assert_ne!(key(&options), plain, "{name}");
        }
        let other = Environment { version: "cpython 3.99".into(), ..Environment::default() };
        let function = Options { function: Some("f".into()), ..Options::default() };
        assert_ne!(key(&function), plain);
        assert_ne!(Keys::new(&Options::default(), &other).unwrap().of_change(&change()), plain);
        let effect = DeclaredEffect { functions: "metrics.*".to_owned(), effect: FunctionEffect::None };
        assert_ne!(key(&Options { effects: vec![effect], ..Options::default() }), plain);
        let mut given = Options::default();
        given.add_examples(twincell_driver::examples::given_as_text("{\"function\": \"f\", \"args\": [1]}").unwrap());
        assert_ne!(key(&given), plain);
        // `jobs`, `cache` and `deadline` change nothing, `model`, `examples` and `recorded` count by their content,
        // `policy` by what it says, and `width`, `generator`, `install`, and the `budget`, `budget-tokens` and `disable` of
        // prefixes are of prefixes. `tests`, `network`, `pass-env`, and the `budget`, `budget-rounds` and `disable` of
        // `amplify` are of tests, the `budget` of `blame` is of commits, and `allow-policy-change` is of an exit status. The nine
        // of `slice` are of histories, and the five of `impact` are of projects.
        assert_eq!(TABLE.len(), 20 + 13 + 7 + 1 + 9 + 5);
        let mut others = Options { jobs: Some(7), cache: Cache::Memory, ..Options::default() };
        for (job, name) in [
            (Job::Study, "deadline"),
            (Job::Prefix, "width"),
            (Job::Prefix, "budget"),
            (Job::Prefix, "budget-tokens"),
            (Job::Amplify, "budget"),
            (Job::Amplify, "budget-rounds"),
            (Job::Slice, "jobs"),
            (Job::Slice, "repeat"),
            (Job::Slice, "budget"),
            (Job::Slice, "deadline"),
            (Job::Blame, "budget"),
        ] {
            others.set_text(job, name, "7").unwrap();
        }
        others.set_text(Job::Prefix, "install", "on").unwrap();
        assert_eq!(key(&others), plain);
    }

    #[test]
    fn the_key_is_of_what_is_compared_and_not_of_what_it_is_called() {
        let keys = Keys::new(&Options::default(), &Environment::default()).unwrap();
        let plain = keys.of_change(&change());
        let named = Change { id: 7.into(), label: Some("changing".into()), project: Some("p".into()), ..change() };
        assert_eq!(keys.of_change(&named), plain);
        let others = [
            Change { old: "".into(), new: "ab".into(), ..change() },
            Change { old: "ab".into(), new: "".into(), ..change() },
            Change { old_module: Some("".into()), ..change() },
            Change { new_module: Some("".into()), ..change() },
            Change { function: Some("".into()), ..change() },
            Change { budget: Some(7), ..change() },
        ];
        let distinct: BTreeSet<String> = others.iter().map(|other| keys.of_change(other)).chain([plain]).collect();
        assert_eq!(distinct.len(), others.len() + 1);
    }

    #[test]
    fn a_model_that_cannot_be_read_is_said_at_once() {
        let options = Options { model: Some("/no/such/model".into()), ..Options::default() };
        let Err(error) = Keys::new(&options, &Environment::default()) else { panic!("there is no such model") };
        assert!(error.contains("/no/such/model"), "{error}");
    }
}
