//! A [`Comparison`]: everything that a view needs, as data. Views compute nothing about behavior, and make the sentences.

use serde::{Deserialize, Serialize};

use twincell_behavior::{CallRow, Channel, EvidencePlace, Rule, Strength, display_place};
use twincell_engine::observed::Behavior;
use twincell_engine::protocol::{Context, Injection, Isolation, SandboxReport};
use twincell_syntax::site::SiteKind;
use twincell_syntax::{AlignedRow, CodeKind};
use twincell_values::value::{AbstractValue, Choice};

use crate::ExampleSource;
use crate::note::Changed;
use crate::project_test::ProjectTest;
use crate::verdict::Verdict;

pub use crate::headline::{CallSite, Condition, Contrast, Headline};
pub use crate::note::{CellNumbers, Note};
pub use crate::reason::{Bound, ChangeReached, Reason, StoppedExample, Support, Uncounted, Usable};

/// The version of the report's format, in its field `format`. It increases when a field is removed or changes its
/// meaning.
///
/// 4: executions are counted from one, as [`ExecutionReport::number`] (3 counted them from zero, as `index`), and a
/// [`Witness`] names the members of a class that it uses.
///
/// 5: [`Evidence::at`] says as data where a difference is. The behavior of a witness names what is left behind, why a
/// version was stopped and why a part of a value is left out by kinds, not by sentences: `{"global": "CACHE"}` and not
/// `"global CACHE"`, `"steps"` and not `"used up its steps"`.
pub const FORMAT: u32 = 5;

/// One observed difference.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    pub channel: Channel,
    /// The place within the channel, e.g. `return value`, `argument request.meta['retries']`, `call 3`.
    pub place: String,
    /// The place as data; none in evidence older than format 5.
    #[serde(default)]
    pub at: Option<EvidencePlace>,
    /// What each version did, as bounded text for people.
    pub old: String,
    pub new: String,
    pub strength: Strength,
    /// The probability, under the predictor, of the values that the difference needs, 0 to 1. It is 1 if it needs none.
    pub probability: f64,
    /// Whether that probability is below [`crate::verdict::EDGE_CASE`].
    pub edge_case: bool,
    /// How much it speaks for a change, 0 to 1 ([`crate::verdict::score`]).
    pub score: f64,
    /// The [`ExecutionReport::number`] of the execution that shows it.
    pub execution: u32,
}

impl Evidence {
    /// Whether it is of this place, by its text if it has no place as data.
    pub fn is_at(&self, place: &EvidencePlace) -> bool {
        match &self.at {
            Some(at) => at == place,
            None => self.channel == place.channel() && self.place == display_place(place),
        }
    }
}

/// A confirmed difference that a rule suppresses.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SuppressedReport {
    pub rule: Rule,
    pub evidence: Vec<Evidence>,
    /// Whether the verdict would be changing without the rule.
    pub changed_verdict: bool,
}

/// One line of a version's text with its coverage.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LineReport {
    /// Its place in the listing, from 1. [`VersionReport::parts`] tells its number in the file.
    pub number: u32,
    pub text: String,
    /// Whether the line is part of the change.
    pub changed: bool,
    /// Whether the line holds code that reports when it runs.
    pub executable: bool,
    /// The number of executions that ran it.
    pub executions: u32,
    /// The hits in the witness execution (or in the last one if there is no witness).
    pub witness_hits: u32,
}

/// The text that holds a part of a listing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PartText {
    /// That of the version itself.
    Own,
    /// Another module of the project, by dotted name.
    Module(String),
    /// The cells of a notebook before it. Lines are counted from the first of the part.
    EarlierCells,
}

/// A function that is listed behind a version's own text, since it is observed with it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartReport {
    /// The [`LineReport::number`] of its first line.
    pub number: u32,
    /// The line of its text, from 1, that is its first.
    pub first_line: u32,
    pub text: PartText,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct VersionReport {
    pub qualname: String,
    /// The line of the whole text, from 1, that is the first of `lines`.
    #[serde(default = "first")]
    pub first_line: u32,
    /// Where in `lines` other functions begin, ascending. None in reports that did not tell.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<PartReport>,
    pub lines: Vec<LineReport>,
    /// The share of executable lines that ran, 0 to 1.
    pub coverage: f64,
    pub changed_lines: u32,
    pub changed_lines_reached: u32,
    /// In the order of the text.
    #[serde(default)]
    pub branches: Vec<BranchReport>,
}

/// A condition, and how often it went each way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct BranchReport {
    pub line: u32,
    /// The kept executions in which the condition was true at least once, and false at least once.
    pub taken: u32,
    pub not_taken: u32,
}

/// The values that entered under one access path in the kept executions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PathReport {
    pub path: String,
    /// `None` for a parameter.
    pub kind: Option<SiteKind>,
    /// The version whose code asked first, and the 1-based line in its text (0 if unknown).
    pub version: u8,
    pub line: u32,
    /// The probability of each class under the predictor, given its uses in the code, in the order of
    /// [`AbstractValue::ALL`]. Empty if it was not requested.
    pub predicted: Vec<f32>,
    /// The most frequent values first.
    pub injected: Vec<InjectedReport>,
    /// The number of further values, which are not listed.
    pub more: u32,
}

/// A value that was injected under a path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InjectedReport {
    /// For people, bounded.
    pub value: String,
    pub class: AbstractValue,
    /// The executions with this value; those of them that differ; and those that do not differ and in which a version
    /// ended in a way that says nothing.
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

/// One execution in short. Details are kept for the witness and the first ones.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExecutionReport {
    /// Its number, counted from one.
    pub number: u32,
    pub seed: u64,
    /// e.g. `returned 3`, `raised ValueError: ...`, bounded.
    pub old: String,
    pub new: String,
    pub old_valid: bool,
    pub new_valid: bool,
    pub differs: bool,
    /// `false` if the execution showed a difference that was set aside, so that nothing is said about it: others had
    /// shown one more clearly, or many similar ones did not appear again.
    #[serde(default = "examined")]
    pub examined: bool,
    /// The lines of either version that no earlier execution ran.
    pub new_lines: u32,
    /// The share of the pair's executable lines that ran in this or an earlier execution, 0 to 1.
    pub coverage_so_far: f64,
    pub microseconds: u32,
    /// The example on whose values it ran; `None` if all of its values were drawn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub example: Option<ExampleSource>,
    /// An index into [`PairReport::line_sets`].
    #[serde(default)]
    pub lines: u32,
    /// All decisions, which repeat this execution together with `seed` ([`crate::replay`]). Only in memory.
    #[serde(skip)]
    pub choices: Vec<Choice>,
}

/// The execution that shows the difference. Without a difference, it is an execution that only one version does not
/// end, if the pair is inconclusive for that reason; otherwise the one with the most coverage.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Witness {
    /// [`ExecutionReport::number`].
    pub execution: u32,
    /// The members of a class that were used, in order, with what was passed: `add(amount=1)`, `total`. Empty for
    /// functions and snippets.
    #[serde(default)]
    pub uses: Vec<String>,
    /// The qualified names of the methods of a class of which it ran changed lines.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub methods: Vec<String>,
    pub choices: Vec<Choice>,
    /// The example that shows the difference; `None` if all of its values were drawn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub example: Option<ExampleSource>,
    /// The existing objects in whose place values were injected: `helper`, `self.items`. `*` is the whole module.
    #[serde(default)]
    pub replaced: Vec<String>,
    pub injections: Vec<Injection>,
    /// The access paths of the decisive values: with another value there is no difference.
    pub decisive: Vec<String>,
    /// The probability of each of them under the predictor: that of all values of its path that show the difference.
    pub probabilities: Vec<f64>,
    pub old: Behavior,
    pub new: Behavior,
    pub calls: Vec<CallRow>,
    /// What other values of decisive inputs show, one input at a time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub varied: Vec<Varied>,
    /// What other values of two decisive numbers show, both at a time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub varied_together: Option<VariedTogether>,
    /// How much each input matters, the ones that matter most first. Empty where fewer than two could be varied.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub input_weights: Vec<InputWeight>,
    /// The first unchanged line of the text that both versions did not run equally often.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parting: Option<Divergence>,
    /// The access paths whose values a person chose. Empty for an execution of the comparison itself.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub chosen: Vec<String>,
}

/// Values of one input, with all else as in the witness.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Varied {
    /// Its access path.
    pub path: String,
    /// Numbers ascending; other values with the witness's own first.
    pub values: Vec<VariedValue>,
}

/// What both versions do on a value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct VariedValue {
    /// For people, bounded.
    pub value: String,
    /// The value, if it is a number.
    pub number: Option<f64>,
    pub outcome: VariedOutcome,
    /// e.g. `returned 3`, `raised ValueError: ...`, bounded.
    pub old: String,
    pub new: String,
}

/// Whether a value shows a difference. It is not repeated, unlike the witness.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum VariedOutcome {
    Differs,
    Same,
    /// A version ended in a way that says nothing.
    Nothing,
}

/// Two numbers varied at the same time, with all else as in the witness.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct VariedTogether {
    /// Their access paths.
    pub paths: [String; 2],
    /// The values of each for people, ascending.
    pub values: [Vec<String>; 2],
    /// What each pair of values shows: a row for each value of the first.
    pub outcomes: Vec<Vec<VariedOutcome>>,
}

/// How often the difference goes away with another value of one input, with all else as in the witness.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InputWeight {
    /// Its access path.
    pub path: String,
    /// The other values on which both versions ended in a way that says something.
    pub tried: u32,
    /// Those of them that show no difference.
    pub gone: u32,
}

/// A line that the two versions have in common, and how often each ran it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Divergence {
    /// The numbers of the line, counted from 1 in the text of each version.
    pub old_line: u32,
    pub new_line: u32,
    pub old_hits: u32,
    pub new_hits: u32,
}

/// One compared pair.
#[derive(Debug, Clone, PartialEq)]
pub struct PairReport {
    /// The cell that holds it, in a notebook. Lines are counted in this cell.
    pub cell: Option<CellNumbers>,
    pub verdict: Verdict,
    pub reason: Reason,
    /// The example of a change.
    pub headline: Option<Headline>,
    /// What the executions reached of the change, where none of them shows a difference.
    pub reached: Option<ChangeReached>,
    /// An execution that a limit stopped, where that leaves the verdict open.
    pub stopped: Option<StoppedExample>,
    /// The bound that kept the pair from running, or ended it.
    pub bound: Option<Bound>,
    pub evidence: Vec<Evidence>,
    /// What rules of the project's policy suppressed, once for each rule. It does not count.
    pub suppressed: Vec<SuppressedReport>,
    pub old: VersionReport,
    pub new: VersionReport,
    pub rows: Vec<AlignedRow>,
    /// The number of executions that came back.
    pub executed: u32,
    /// In order. Beyond the first thousand, only those that run new lines, and up to a thousand that differ.
    pub executions: Vec<ExecutionReport>,
    /// The sets of lines (of old, of new, ascending) that executions ran, each once.
    pub line_sets: Vec<[Vec<u32>; 2]>,
    /// The access paths under which values were injected, the first 200 in order of first use.
    pub paths: Vec<PathReport>,
    pub witness: Option<Witness>,
    /// The context whose values show the difference: the module, or the function alone where real objects of the module
    /// keep executions away from the change. `None` without a difference.
    pub shown_by: Option<Context>,
    /// Who decides in this pair's place. Then the comparison's verdict does not count this pair.
    pub decided_by: DecidedBy,
    /// What changed of the names that it uses, if it did not change itself.
    pub uses_changed: Vec<String>,
    /// Why somebody accepted its difference. Then the comparison's verdict does not count this pair, either.
    pub accepted: Option<String>,
    /// A test that shows the witness's difference without twincell.
    pub reproducer: Option<Reproducer>,
    /// The number of executions whose worker was lost.
    pub lost: u32,
    /// What sentences need beside this.
    pub facts: PairFacts,
    /// Where its executions finally ran, so that they can be repeated there.
    pub isolation: Isolation,
    /// Whether executions tell nothing against it: none ran changed code, none was lost, and limits stopped no version
    /// alone.
    pub stays_away: bool,
    /// What predicted the values of its executions. The network is asked only where a few executions on frequencies show
    /// no clear difference. Empty where nothing was executed.
    pub predicted_by: String,
    /// Parts of the module that were not evaluated, renames, nondeterminism.
    pub notes: Vec<Note>,
    pub milliseconds: f64,
}

/// What a pair is, beside its verdict.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PairFacts {
    pub kind: CodeKind,
    /// The qualified name of the new version, whatever a view calls it among others.
    pub name: String,
    pub has_same_text: bool,
}

/// Who decides on a pair.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum DecidedBy {
    #[default]
    Itself,
    /// Other pairs, by their qualified names: the callers of a helper that changed together with them, the class of a
    /// method, or the changed functions that an unchanged one uses without reaching the change. Together they have this
    /// verdict.
    Pairs { names: Vec<String>, verdict: Verdict },
    /// What differs comes from these changes in other modules of the project, whose own comparisons judge it.
    OtherModules(Vec<Changed>),
}

impl PairReport {
    /// The qualified name of the new version, with its cell in a notebook: `cell 2: f`.
    pub fn place(&self) -> String {
        let cell = self.cell.map(|cell| format!("{cell}: ")).unwrap_or_default();
        format!("{cell}{}", self.new.qualname)
    }

    /// Whether the comparison's verdict counts it.
    pub fn decides(&self) -> bool {
        self.decides_itself() && self.accepted.is_none()
    }

    /// Whether nothing else decides in its place.
    pub fn decides_itself(&self) -> bool {
        self.decided_by == DecidedBy::Itself
    }
}

/// Two compared texts: the root of what every view shows.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    pub format: u32,
    pub twincell: String,
    /// The worst verdict of the pairs: changing, then inconclusive, then likely preserving, then identical.
    pub verdict: Verdict,
    /// The same without what could not be compared.
    pub verdict_of_pairs: Verdict,
    pub pairs: Vec<PairReport>,
    /// The qualified names found in only one of the two.
    pub added: Vec<String>,
    pub removed: Vec<String>,
    /// The cells of a notebook that could not be compared.
    pub cells_left_out: Vec<CellNumbers>,
    pub predictor: String,
    pub seed: u64,
    pub budget: u32,
    /// What the system enforced on the processes that ran the code. `None` if nothing ran.
    pub sandbox: Option<SandboxReport>,
    pub milliseconds: f64,
}

impl Comparison {
    pub fn evidence(&self) -> impl Iterator<Item = &Evidence> {
        self.pairs.iter().flat_map(|pair| &pair.evidence)
    }

    /// Accepts the differences of pairs, by their numbers, for these reasons.
    pub fn accept(&mut self, reasons: impl IntoIterator<Item = (usize, String)>) {
        for (number, reason) in reasons {
            if let Some(pair) = self.pairs.get_mut(number) {
                pair.accepted = Some(reason);
            }
        }
        self.judge();
    }

    /// The same with another report of one pair.
    pub fn with_pair(&self, number: usize, pair: PairReport) -> Self {
        let mut changed = self.clone();
        let Some(place) = changed.pairs.get_mut(number) else { return changed };
        *place = PairReport { facts: place.facts.clone(), cell: place.cell, ..pair };
        changed.judge();
        changed
    }

    /// Sets the verdict to that of the pairs which count.
    fn judge(&mut self) {
        let deciding = self.pairs.iter().filter(|pair| pair.decides());
        self.verdict_of_pairs = Verdict::worst(deciding.map(|pair| pair.verdict));
        // Nobody knows what a cell does that was left out.
        self.verdict = match self.cells_left_out.is_empty() {
            true => self.verdict_of_pairs,
            false => Verdict::worst([self.verdict_of_pairs, Verdict::Inconclusive]),
        };
    }

    /// Adds what another comparison found.
    pub(crate) fn extend(&mut self, other: Self) {
        self.verdict = Verdict::worst([self.verdict, other.verdict]);
        self.verdict_of_pairs = Verdict::worst([self.verdict_of_pairs, other.verdict_of_pairs]);
        self.cells_left_out.extend(other.cells_left_out);
        self.pairs.extend(other.pairs);
        self.added.extend(other.added);
        self.removed.extend(other.removed);
        self.milliseconds += other.milliseconds;
        // All ran in workers of one pool, unless nothing of them ran.
        self.sandbox = self.sandbox.take().or(other.sandbox);
    }

    /// The comparisons of several files as one; `None` if there are none.
    pub fn of_files(files: impl IntoIterator<Item = Self>) -> Option<Self> {
        let mut files = files.into_iter();
        let mut whole = files.next()?;
        files.for_each(|other| whole.extend(other));
        Some(whole)
    }

    /// Adds notes on the whole to a pair that views show, if there is one.
    pub fn note(&mut self, notes: impl IntoIterator<Item = Note>) {
        let shown = self.pairs.iter().position(|pair| pair.verdict != Verdict::Identical).unwrap_or(0);
        if let Some(report) = self.pairs.get_mut(shown) {
            report.notes.extend(notes);
        }
    }
}

/// A self-contained test for one difference.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Reproducer {
    /// The file, if there is one.
    pub source: Option<String>,
    /// Whether it passes on old and fails on new; `None` if it could not be run.
    pub holds: Option<bool>,
    /// Why there is no file, or why it does not hold.
    pub why_not: Option<String>,
    /// The same test for the project's own tests, which imports what it tests. Only in memory.
    #[serde(skip)]
    pub in_project: Option<ProjectTest>,
}

impl Reproducer {
    /// Whether it has no test that holds, while another witness may have one: this one was refused or tried in vain.
    pub(crate) fn may_hold_of_another(&self) -> bool {
        self.source.is_none() || self.holds == Some(false)
    }
}
