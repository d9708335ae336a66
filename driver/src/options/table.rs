//! The table of options: what each surface says of an option, and which jobs have it.

use twincell_amplify::TECHNIQUES;
use twincell_behavior::{Ignored, Unordered};
use twincell_compare::campaign::Techniques;
use twincell_engine::protocol::{Context, Isolation};
use twincell_impact::Sources;
use twincell_models::PredictorKind;
use twincell_prefix::Generators;
use twincell_slice::By;

use super::{Cache, Device, Job, Kind, OptionSpec};

const RUNNING: &[Job] = &[Job::Compare, Job::Study, Job::Prefix, Job::Amplify, Job::Slice, Job::Blame, Job::Doctor];
const EVERY: &[Job] = &[Job::Compare, Job::Study, Job::Prefix, Job::Blame, Job::Doctor];
const PREDICTING: &[Job] = &[Job::Compare, Job::Study, Job::Predict, Job::Prefix, Job::Doctor];
const POLICED: &[Job] = &[Job::Compare, Job::Study, Job::Predict, Job::Prefix, Job::Amplify, Job::Doctor];
const SEARCHING: &[Job] = &[Job::Compare, Job::Study, Job::Prefix];
const SEEDED: &[Job] = &[Job::Compare, Job::Study, Job::Prefix, Job::Amplify];
const SEARCHES: &[Job] = &[Job::Compare, Job::Study, Job::Prefix, Job::Amplify, Job::Blame];
const COMPARING: &[Job] = &[Job::Compare, Job::Study];
const TESTING: &[Job] = &[Job::Amplify, Job::Slice];

/// The help of `disable`, which every analysis has for techniques of its own.
const DISABLE: &str = "Techniques to leave out, to measure what each contributes";

/// All options, in the order in which help lists them. Several jobs may have an option of one name, each with an entry for
/// what it means there.
pub static TABLE: &[OptionSpec] = &[
    OptionSpec {
        name: "function",
        kind: Kind::Text { placeholder: "NAME" },
        default: "",
        absent: "all that changed",
        help: "Compare only the function with this qualified name, e.g. Session.auth",
        jobs: &[Job::Compare],
        apply: |options, value| options.function = value.text(),
    },
    OptionSpec {
        name: "budget",
        kind: Kind::Integer { minimum: 1, maximum: 1_000_000 },
        default: "300",
        absent: "",
        help: "Maximum number of executions for each pair of functions",
        jobs: COMPARING,
        apply: |options, value| options.budget = value.integer() as u32,
    },
    OptionSpec {
        name: "seed",
        kind: Kind::Integer { minimum: 0, maximum: u64::MAX as i128 },
        default: "0",
        absent: "",
        help: "Seed of every random decision: the same seed gives the same result",
        jobs: SEEDED,
        apply: |options, value| options.seed = value.integer() as u64,
    },
    OptionSpec {
        name: "width",
        kind: Kind::Integer { minimum: 1, maximum: 1000 },
        default: "10",
        absent: "",
        help: "Number of prefixes for which each step asks",
        jobs: &[Job::Prefix],
        apply: |options, value| options.width = value.integer() as u32,
    },
    OptionSpec {
        name: "budget",
        kind: Kind::Integer { minimum: 0, maximum: 1000 },
        default: "10",
        absent: "",
        help: "Maximum number of attempts to cover lines that no prefix covers yet",
        jobs: &[Job::Prefix],
        apply: |options, value| options.prefix_budget = value.integer() as u32,
    },
    OptionSpec {
        name: "generator",
        kind: Kind::Choice { allowed: &["local", "llm", "both"] },
        default: "local",
        absent: "",
        help: "What finds prefixes: executions, the language model at TWINCELL_LLM_URL, or it for what executions leave uncovered",
        jobs: &[Job::Prefix],
        apply: |options, value| {
            options.generators = match value.choice() {
                "llm" => Generators::Llm,
                "both" => Generators::Both,
                _ => Generators::Local,
            }
        },
    },
    OptionSpec {
        name: "budget-tokens",
        kind: Kind::Integer { minimum: 1, maximum: 1_000_000_000 },
        default: "200000",
        absent: "",
        help: "Maximum number of tokens that the language model may use for one search",
        jobs: &[Job::Prefix],
        apply: |options, value| options.token_budget = value.integer() as u64,
    },
    OptionSpec {
        name: "install",
        kind: Kind::Flag,
        default: "off",
        absent: "",
        help: "Install libraries that the code imports and that are missing, from wheels and apart from those of your Python",
        jobs: &[Job::Prefix],
        apply: |options, value| options.install = value.flag(),
    },
    OptionSpec {
        name: "budget",
        kind: Kind::Integer { minimum: 1, maximum: 1_000_000 },
        default: "3000",
        absent: "",
        help: "Maximum number of variants of tests to run, in all rounds",
        jobs: &[Job::Amplify],
        apply: |options, value| options.variant_budget = value.integer() as u32,
    },
    OptionSpec {
        name: "budget-rounds",
        kind: Kind::Integer { minimum: 0, maximum: 100 },
        default: "3",
        absent: "",
        help: "Maximum number of rounds of the search for inputs, each from what the last one found; 0 only adds assertions",
        jobs: &[Job::Amplify],
        apply: |options, value| options.round_budget = value.integer() as u32,
    },
    OptionSpec {
        name: "budget",
        kind: Kind::Integer { minimum: 1, maximum: 100_000 },
        default: "100",
        absent: "",
        help: "Maximum number of commits at which the call runs",
        jobs: &[Job::Blame],
        apply: |options, value| options.commit_budget = value.integer() as u32,
    },
    OptionSpec {
        name: "entry",
        kind: Kind::Texts { placeholder: "MODULE:FUNCTION" },
        default: "",
        absent: "every function that both versions have",
        help: "Functions at which executions start, with commas or repeated; MODULE: is the body of a module",
        jobs: &[Job::Impact],
        apply: |options, value| options.impacting.entries = value.texts(),
    },
    OptionSpec {
        name: "outside",
        kind: Kind::Choice { allowed: &["follow", "ignore"] },
        default: "follow",
        absent: "",
        help: "Whether a change has impact through files, libraries and other state outside of the project",
        jobs: &[Job::Impact],
        apply: |options, value| options.impacting.outside = value.choice() == "follow",
    },
    OptionSpec {
        name: "sources",
        kind: Kind::Choice { allowed: &["statements", "functions"] },
        default: "statements",
        absent: "",
        help: "What the first level takes for changed: statements, or whole functions that hold one, as the paper does",
        jobs: &[Job::Impact],
        apply: |options, value| {
            options.impacting.sources =
                if value.choice() == "functions" { Sources::Functions } else { Sources::Statements };
        },
    },
    OptionSpec {
        name: "depth",
        kind: Kind::IntegerOr { minimum: 0, maximum: 1000, word: "max" },
        default: "max",
        absent: "",
        help: "Last level of the analysis: how many calls deep functions are compared",
        jobs: &[Job::Impact],
        apply: |options, value| options.impacting.depth = value.bound().map(|depth| depth as u32),
    },
    OptionSpec {
        name: "time",
        kind: Kind::Number { minimum: 0.0, maximum: 1e6 },
        default: "",
        absent: "as long as it takes",
        help: "Time limit for the levels, in seconds; the result is the last whole level by then, or DCIA, however long it takes",
        jobs: &[Job::Impact],
        apply: |options, value| options.impacting.time = Some(value.number()),
    },
    OptionSpec {
        name: "onto",
        kind: Kind::Text { placeholder: "BRANCH" },
        default: "",
        absent: "where the range begins",
        help: "Branch, or another revision, that the slice is for: what it has already is not counted, and the slice is tried on it",
        jobs: &[Job::Slice],
        apply: |options, value| options.slicing.onto = value.text(),
    },
    OptionSpec {
        name: "compare",
        kind: Kind::Flag,
        default: "off",
        absent: "",
        help: "Compare the changed functions, to find commits that do the same as others in other words, and clean-ups",
        jobs: &[Job::Slice],
        apply: |options, value| options.slicing.compare = value.flag(),
    },
    OptionSpec {
        name: "bisect",
        kind: Kind::Flag,
        default: "off",
        absent: "",
        help: "Find the commits that make tests fail which pass at the start of the range",
        jobs: &[Job::Slice],
        apply: |options, value| options.slicing.bisect = value.flag(),
    },
    OptionSpec {
        name: "scheme",
        kind: Kind::Choice { allowed: &["combined", "neg", "nonpos", "low", "basic"] },
        default: "combined",
        absent: "",
        help: "How the next commits to leave out are chosen: by the tests' coverage, values and outcomes; by values only (neg, \
               nonpos, low); as delta debugging does (basic)",
        jobs: &[Job::Slice],
        // The allowed words are the names of schemes.
        apply: |options, value| options.slicing.scheme = value.choice().parse().unwrap_or_default(),
    },
    OptionSpec {
        name: "by",
        kind: Kind::Choice { allowed: &["commit", "change"] },
        default: "commit",
        absent: "",
        help: "What is taken or left: commits, or their changes to single files and definitions",
        jobs: &[Job::Slice],
        apply: |options, value| {
            options.slicing.by = match value.choice() {
                "change" => By::Change,
                _ => By::Commit,
            }
        },
    },
    OptionSpec {
        name: "jobs",
        kind: Kind::Integer { minimum: 1, maximum: 64 },
        default: "1",
        absent: "",
        help: "Number of candidates that run at once, which does not change the result",
        jobs: &[Job::Slice],
        apply: |options, value| options.slicing.jobs = value.integer() as usize,
    },
    OptionSpec {
        name: "repeat",
        kind: Kind::Integer { minimum: 1, maximum: 100 },
        default: "1",
        absent: "",
        help: "How often each test runs at the end of the range, to find flaky ones",
        jobs: &[Job::Slice],
        apply: |options, value| options.slicing.repeat = value.integer() as u32,
    },
    OptionSpec {
        name: "budget",
        kind: Kind::Integer { minimum: 1, maximum: 1_000_000 },
        default: "",
        absent: "as many as it takes",
        help: "Maximum number of runs of the tests",
        jobs: &[Job::Slice],
        apply: |options, value| options.slicing.budget = Some(value.integer() as usize),
    },
    OptionSpec {
        name: "deadline",
        kind: Kind::Number { minimum: 0.01, maximum: 1e6 },
        default: "",
        absent: "as long as it takes",
        help: "Time limit for all, in seconds; what was found by then is reported",
        jobs: &[Job::Slice],
        apply: |options, value| options.slicing.deadline = Some(value.number()),
    },
    OptionSpec {
        name: "tests",
        kind: Kind::Text { placeholder: "PATHS" },
        default: "",
        absent: "those of the project's configuration",
        help: "Files and folders with tests, separated by spaces",
        jobs: &[Job::Amplify],
        apply: |options, value| options.tests = value.text(),
    },
    OptionSpec {
        name: "disable",
        kind: Kind::Techniques { all: &TECHNIQUES },
        default: "",
        absent: "all are used",
        help: DISABLE,
        jobs: &[Job::Amplify],
        apply: |options, value| options.guided = value.words().is_empty(),
    },
    OptionSpec {
        name: "network",
        kind: Kind::Flag,
        default: "off",
        absent: "",
        help: "Let tests reach the network",
        jobs: TESTING,
        apply: |options, value| options.network = value.flag(),
    },
    OptionSpec {
        name: "pass-env",
        kind: Kind::Text { placeholder: "NAMES" },
        default: "",
        absent: "those that say how programs run",
        help: "More variables of the environment that tests get, separated by commas",
        jobs: TESTING,
        apply: |options, value| options.pass_env = value.text(),
    },
    OptionSpec {
        name: "disable",
        kind: Kind::Techniques { all: &twincell_prefix::Techniques::ALL },
        default: "",
        absent: "all are used",
        help: DISABLE,
        jobs: &[Job::Prefix],
        apply: |options, value| options.prefix_techniques = twincell_prefix::Techniques::except(value.words()),
    },
    OptionSpec {
        name: "predictor",
        kind: Kind::Choice { allowed: &["neural", "frequency", "uniform"] },
        default: "neural",
        absent: "",
        help: "What predicts missing values: the neural network, the frequencies in its training data, or chance",
        jobs: PREDICTING,
        apply: |options, value| {
            options.predictor = match value.choice() {
                "frequency" => PredictorKind::Frequency,
                "uniform" => PredictorKind::Uniform,
                _ => PredictorKind::Neural,
            }
        },
    },
    OptionSpec {
        name: "context",
        kind: Kind::Choice { allowed: &["function", "module"] },
        default: "module",
        absent: "",
        help: "Where names from outside the function come from: predictions alone, or its own module where possible",
        jobs: COMPARING,
        apply: |options, value| {
            options.context = match value.choice() {
                "function" => Context::Function,
                _ => Context::Module,
            }
        },
    },
    OptionSpec {
        name: "model",
        kind: Kind::Path { placeholder: "DIR" },
        default: "",
        absent: "the model that comes with twincell",
        help: "Folder of another model: tokenizer.json with model.onnx, or with encoder_model.onnx and decoder_model.onnx",
        jobs: PREDICTING,
        apply: |options, value| options.model = value.path(),
    },
    OptionSpec {
        name: "device",
        kind: Kind::Choice { allowed: &["auto", "cpu"] },
        default: "auto",
        absent: "",
        help: "Where the neural network runs: on a GPU if there is one, or always on the CPU",
        jobs: PREDICTING,
        apply: |options, value| {
            options.device = match value.choice() {
                "cpu" => Device::Cpu,
                _ => Device::Auto,
            }
        },
    },
    OptionSpec {
        name: "cache",
        kind: Kind::Choice { allowed: &["disk", "memory"] },
        default: "disk",
        absent: "",
        help: "Where the network's predictions are cached: in the user's cache folder, or only in this process",
        jobs: PREDICTING,
        apply: |options, value| {
            options.cache = match value.choice() {
                "memory" => Cache::Memory,
                _ => Cache::Disk,
            }
        },
    },
    OptionSpec {
        name: "jobs",
        kind: Kind::Integer { minimum: 1, maximum: 1024 },
        default: "",
        absent: "one for each processor",
        help: "Maximum number of worker processes",
        jobs: SEARCHING,
        apply: |options, value| options.jobs = Some(value.integer() as usize),
    },
    OptionSpec {
        name: "timeout",
        kind: Kind::Number { minimum: 0.01, maximum: 3600.0 },
        default: "5",
        absent: "",
        help: "Time limit for one execution, in seconds",
        jobs: EVERY,
        apply: |options, value| options.timeout = value.number(),
    },
    OptionSpec {
        name: "memory",
        kind: Kind::Integer { minimum: 16, maximum: 1 << 20 },
        default: "1024",
        absent: "",
        help: "Memory limit for one worker beyond Python itself, in MiB",
        jobs: EVERY,
        apply: |options, value| options.memory = value.integer() as u64,
    },
    OptionSpec {
        name: "max-source",
        kind: Kind::Integer { minimum: 1, maximum: 1024 },
        default: "2",
        absent: "",
        help: "Maximum size of one source, in MiB; larger ones are refused, and not read from git",
        jobs: COMPARING,
        apply: |options, value| options.max_source = value.integer() as u64,
    },
    OptionSpec {
        name: "max-function",
        kind: Kind::Integer { minimum: 1, maximum: u32::MAX as i128 },
        default: "50000",
        absent: "",
        help: "Maximum number of statements and expressions of one function, class or snippet; larger ones are not run",
        jobs: COMPARING,
        apply: |options, value| options.max_function = value.integer() as u32,
    },
    OptionSpec {
        name: "deadline",
        kind: Kind::Number { minimum: 0.01, maximum: 1e6 },
        default: "600",
        absent: "",
        help: "Time limit for one pair of functions or one search, in seconds; what was found by then is reported",
        jobs: SEARCHES,
        apply: |options, value| options.deadline = value.number(),
    },
    OptionSpec {
        name: "unsafe",
        kind: Kind::Flag,
        default: "off",
        absent: "",
        help: "Run the code even where the system does not enforce all of the sandbox; for code that you trust",
        jobs: RUNNING,
        apply: |options, value| options.run_unsafe = value.flag(),
    },
    OptionSpec {
        name: "raise-probability",
        kind: Kind::Number { minimum: 0.0, maximum: 1.0 },
        default: "0.15",
        absent: "",
        help: "Probability that a call in a try body raises an exception that the except clauses name",
        jobs: COMPARING,
        apply: |options, value| options.raise_probability = value.number(),
    },
    OptionSpec {
        name: "float-tolerance",
        kind: Kind::Number { minimum: 0.0, maximum: 1.0 },
        default: "0",
        absent: "",
        help: "Relative difference up to which two floats count as equal",
        jobs: COMPARING,
        apply: |options, value| options.float_tolerance = value.number(),
    },
    OptionSpec {
        name: "ignore-edge-cases",
        kind: Kind::Flag,
        default: "off",
        absent: "",
        help: "Ignore differences that only an unlikely value shows when deciding the verdict",
        jobs: COMPARING,
        apply: |options, value| options.ignore_edge_cases = value.flag(),
    },
    OptionSpec {
        name: "ordered-keys",
        kind: Kind::Flag,
        default: "off",
        absent: "",
        help: "Let the order of the keys of dictionaries count; otherwise it is only noted",
        jobs: COMPARING,
        apply: |options, value| options.ordered_keys = value.flag(),
    },
    OptionSpec {
        name: "ignore",
        kind: Kind::Words { allowed: &Ignored::NAMES },
        default: "",
        absent: "every channel counts",
        help: "Channels that count for nothing; exception-message stands for the arguments of exceptions",
        jobs: COMPARING,
        apply: |options, value| {
            options.ignore = value.words().iter().filter_map(|name| Ignored::named(name)).collect();
        },
    },
    OptionSpec {
        name: "unordered",
        kind: Kind::Words { allowed: &Unordered::NAMES },
        default: "",
        absent: "the order of each counts",
        help: "What may be in any order: calls with effects, or the items of lists, tuples and iterators",
        jobs: COMPARING,
        apply: |options, value| {
            options.unordered = value.words().iter().filter_map(|name| Unordered::named(name)).collect();
        },
    },
    OptionSpec {
        name: "isolation",
        kind: Kind::Choice { allowed: &["auto", "process"] },
        default: "auto",
        absent: "",
        help: "Where executions run: in one process where that makes no difference, or each in its own process",
        jobs: COMPARING,
        apply: |options, value| {
            options.isolation = match value.choice() {
                "process" => Isolation::Process,
                _ => Isolation::Auto,
            }
        },
    },
    OptionSpec {
        name: "disable",
        kind: Kind::Techniques { all: &Techniques::ALL },
        default: "",
        absent: "all are used",
        help: DISABLE,
        jobs: COMPARING,
        apply: |options, value| options.techniques = Techniques::except(value.words()),
    },
    OptionSpec {
        name: "examples",
        kind: Kind::Path { placeholder: "FILE" },
        default: "",
        absent: "those of docstrings and decorators",
        help: "Calls to run first and to vary: Python such as price(cart, 0.2), or JSON",
        jobs: COMPARING,
        apply: |options, value| options.examples = value.path(),
    },
    OptionSpec {
        name: "recorded",
        kind: Kind::Path { placeholder: "FILE" },
        default: "",
        absent: "none",
        help: "Inputs to run first and to vary, as twincell record wrote them while the project's tests ran",
        jobs: COMPARING,
        apply: |options, value| options.recorded = value.path(),
    },
    OptionSpec {
        name: "python",
        kind: Kind::Path { placeholder: "FILE" },
        default: "",
        absent: "the one that runs twincell; for tests first that of the active environment, or of .venv or venv in the repository",
        help: "Python interpreter that runs the code; to compare, twincell must be installed in it, and pytest to amplify or slice",
        jobs: RUNNING,
        apply: |options, value| options.python = value.path(),
    },
    OptionSpec {
        name: "policy",
        kind: Kind::Path { placeholder: "FILE" },
        default: "",
        absent: "the nearest twincell.toml or pyproject.toml of the project",
        help: "Policy of the project in place of the nearest one; none stands for no policy",
        jobs: POLICED,
        apply: |options, value| options.policy = value.path(),
    },
    OptionSpec {
        name: "allow-policy-change",
        kind: Kind::Flag,
        default: "off",
        absent: "",
        help: "Let a change to the policy or to twincell-accepted.json pass; it is still named, and those of the old version hold",
        jobs: &[Job::Compare, Job::Amplify],
        apply: |options, value| options.allow_policy_change = value.flag(),
    },
];
