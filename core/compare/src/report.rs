//! A [`Comparison`]: all that a view needs, serialisable and versioned. Views compute nothing about behavior.

use serde::{Deserialize, Serialize};

use twincell_behavior::{CallRow, Channel, Strength};
use twincell_engine::observed::Behavior;
use twincell_engine::protocol::{Injection, Isolation};
use twincell_syntax::AlignedRow;
use twincell_syntax::site::SiteKind;
use twincell_values::value::{AbstractValue, Choice};

use crate::verdict::Verdict;

/// Version of the report's shape, its field `format`: one more where a field goes away or changes its meaning.
///
/// 4: executions are counted from one, as [`ExecutionReport::number`] (3 counted them from zero, as `index`), and a
/// [`Witness`] names the members of a class that it uses.
pub const FORMAT: u32 = 4;

/// One observed difference.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    pub channel: Channel,
    /// Where in the channel, e.g. `return value`, `argument request.meta['retries']`, `call 3`.
    pub place: String,
    /// What each version did, as text for people, bounded.
    pub old: String,
    pub new: String,
    pub strength: Strength,
    /// Probability, under the predictor, of the values that the difference needs, 0 to 1; 1 when it needs none.
    pub probability: f64,
    /// That probability is below [`crate::verdict::EDGE_CASE`].
    pub edge_case: bool,
    /// How much it speaks for a change, 0 to 1 ([`crate::verdict::score`]).
    pub score: f64,
    /// [`ExecutionReport::number`] of the execution that shows it.
    pub execution: u32,
}

/// One line of a version's text with what ran.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LineReport {
    pub number: u32,
    pub text: String,
    /// Part of the change.
    pub changed: bool,
    /// Holds code that reports when it runs.
    pub executable: bool,
    /// Executions that ran it.
    pub executions: u32,
    /// Hits in the witness execution (or the last one when there is no witness).
    pub witness_hits: u32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct VersionReport {
    pub qualname: String,
    /// Line of the whole text, from 1, that the first of `lines` is.
    #[serde(default = "first")]
    pub first_line: u32,
    pub lines: Vec<LineReport>,
    /// Share of executable lines that ran, 0 to 1.
    pub coverage: f64,
    pub changed_lines: u32,
    pub changed_lines_reached: u32,
    /// In the order of the text.
    #[serde(default)]
    pub branches: Vec<BranchReport>,
}

/// A condition and how often it went which way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct BranchReport {
    pub line: u32,
    /// Kept executions in which the condition was true at least once, and false at least once.
    pub taken: u32,
    pub not_taken: u32,
}

/// What entered under one access path in the executions that are kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PathReport {
    pub path: String,
    /// `None` for a parameter.
    pub kind: Option<SiteKind>,
    /// Version whose code asked first, and the 1-based line in its text (0 when unknown).
    pub version: u8,
    pub line: u32,
    /// Probability of each class under the predictor, given what the code does with the value, in the order of
    /// [`AbstractValue::ALL`]; empty where it was not asked for.
    pub predicted: Vec<f32>,
    /// The most frequent values first.
    pub injected: Vec<InjectedReport>,
    /// Further values, which are not listed.
    pub more: u32,
}

/// One value that was injected under a path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InjectedReport {
    /// For people, bounded.
    pub value: String,
    pub class: AbstractValue,
    /// Executions with this value; those of them that differ, and those that do not and in which a version ended in a way
    /// that says nothing.
    pub count: u32,
    pub differing: u32,
    pub invalid: u32,
}

fn first() -> u32 {
    1
}

fn examined() -> bool {
    true
}

/// One execution in short; details are kept for the witness and the first ones.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExecutionReport {
    /// Which it was, counted from one.
    pub number: u32,
    pub seed: u64,
    /// e.g. `returned 3`, `raised ValueError: ...`, bounded.
    pub old: String,
    pub new: String,
    pub old_valid: bool,
    pub new_valid: bool,
    pub differs: bool,
    /// `false` where it showed a difference that was left aside, so that nothing is said of it: others had shown one more
    /// clearly, or many like it did not show again.
    #[serde(default = "examined")]
    pub examined: bool,
    /// Lines of either version that no earlier execution ran.
    pub new_lines: u32,
    /// Share of the pair's executable lines that ran in this or an earlier execution, 0 to 1.
    pub coverage_so_far: f64,
    pub microseconds: u32,
    /// Index into [`PairReport::line_sets`].
    #[serde(default)]
    pub lines: u32,
    /// All decisions, which repeat this execution together with `seed` ([`crate::replay`]). Only in memory.
    #[serde(skip)]
    pub choices: Vec<Choice>,
}

/// The execution that shows the difference. Without one, an execution that only one version does not end, where the pair is
/// inconclusive for it; else the one with the most coverage.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Witness {
    /// [`ExecutionReport::number`].
    pub execution: u32,
    /// Members of a class that were used, in order: `add()`, `total`. Empty for functions and snippets.
    #[serde(default)]
    pub uses: Vec<String>,
    pub choices: Vec<Choice>,
    pub injections: Vec<Injection>,
    /// Access paths of the values that matter: with another value there is no difference.
    pub decisive: Vec<String>,
    /// Probability of each of them under the predictor: that of all values of its path that show the difference.
    pub probabilities: Vec<f64>,
    pub old: Behavior,
    pub new: Behavior,
    pub calls: Vec<CallRow>,
}

/// One pair, compared.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PairReport {
    pub verdict: Verdict,
    /// Why: for people, one sentence without markup.
    pub reason: String,
    /// The sentence that a view shows first.
    pub sentence: String,
    pub evidence: Vec<Evidence>,
    pub old: VersionReport,
    pub new: VersionReport,
    pub rows: Vec<AlignedRow>,
    /// Executions that came back.
    pub executed: u32,
    /// In order; beyond the first thousand only those that run new lines, and up to a thousand that differ.
    pub executions: Vec<ExecutionReport>,
    /// The sets of lines (of old, of new, ascending) that executions ran, each once.
    #[serde(default)]
    pub line_sets: Vec<[Vec<u32>; 2]>,
    /// Access paths that values were injected under, the first 200 in order of first use.
    #[serde(default)]
    pub paths: Vec<PathReport>,
    pub witness: Option<Witness>,
    /// Qualified names of those that decide in this pair's place, for a helper that changed together with its callers; the
    /// comparison's verdict does not count this pair then.
    #[serde(default)]
    pub decided_by: Vec<String>,
    /// A test that shows the witness's difference without twincell.
    #[serde(default)]
    pub reproducer: Option<Reproducer>,
    /// Executions whose worker was lost.
    pub lost: u32,
    /// Where its executions ran in the end, to repeat them there. Only in memory.
    #[serde(skip)]
    pub isolation: Isolation,
    /// Notes for people: module parts not evaluated, renames found, nondeterminism.
    pub notes: Vec<String>,
    pub milliseconds: f64,
}

/// Two texts, compared: the top of what every view shows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    pub format: u32,
    pub twincell: String,
    /// The worst of the pairs': changing, then inconclusive, then likely preserving, then identical.
    pub verdict: Verdict,
    pub sentence: String,
    pub pairs: Vec<PairReport>,
    /// Qualified names found in only one of the two.
    pub added: Vec<String>,
    pub removed: Vec<String>,
    pub predictor: String,
    pub seed: u64,
    pub budget: u32,
    pub milliseconds: f64,
}

impl Comparison {
    pub fn evidence(&self) -> impl Iterator<Item = &Evidence> {
        self.pairs.iter().flat_map(|pair| &pair.evidence)
    }
}

/// A test of its own for one difference.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reproducer {
    /// The file, where there is one.
    pub source: Option<String>,
    /// It passes on old and fails on new; `None` where it could not be run.
    pub holds: Option<bool>,
    /// Why there is no file, or why it does not hold.
    pub why_not: Option<String>,
}

impl Reproducer {
    /// It has no test that holds, and another witness may have one: this one was refused or tried in vain.
    pub(crate) fn may_hold_of_another(&self) -> bool {
        self.source.is_none() || self.holds == Some(false)
    }
}
