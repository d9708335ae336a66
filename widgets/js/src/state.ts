// The state that the kernel sends, as JSON. Written from the types of widgets/src/state by its tests, and not by
// hand. Strings are raw: they come from user code and go through `plain` before they are shown.

/** Version of the state's shape: the view refuses another one. */
export const STATE_FORMAT = 6;

export type Verdict = "changing" | "likely_preserving" | "inconclusive" | "identical";

export type Channel = "return" | "arguments" | "output" | "log" | "calls" | "exception";

export type Strength = "observable" | "call_pattern";

export type Stream = "stdout" | "stderr";

export type VariedOutcome = "differs" | "same" | "nothing";

/** Where in its channel a difference is. */
export type EvidencePlace =
  | { kind: "return_value" }
  | { kind: "exception" }
  | { kind: "left"; slot: Slot }
  | { kind: "output"; stream: Stream }
  | { kind: "message"; number: number }
  | { kind: "call"; number: number };

/** Where a value is that an execution leaves behind beside its result. */
export type Slot =
  | { argument: string }
  | { reordered: string }
  | { global: string }
  | { name: string }
  | "awaited"
  | "yielded"
  | "yielded_afterwards"
  | "generator_value"
  | { callback: number }
  | "descriptor"
  | "class_attributes"
  | "enum_members"
  | { use: { step: number; member: string } }
  | { same: { place: string; other: string } }
  | { kept: string }
  | { rebound: string }
  | "again"
  | "repeats"
  | { stored: string }
  | "cause"
  | { file: string };

/** A comparison. */
export interface ComparisonState {
  /** `STATE_FORMAT`. */
  format: number;
  twincell: string;
  verdict: Verdict;
  sentence: string;
  /** A sentence where the code ran without a complete sandbox. */
  without_sandbox: string | null;
  predictor: string;
  /** As text, since it may be greater than JavaScript's integers. */
  seed: string;
  budget: number;
  milliseconds: number;
  added: Array<string>;
  removed: Array<string>;
  pairs: Array<PairState>;
  /** Names of the classes, in the order of `Path.predicted`. */
  classes: Array<string>;
}

/** One function, class or snippet in both versions. */
export interface PairState {
  name: string;
  verdict: Verdict;
  /**
   * Its sign and its word: those of the verdict, or those that say that it is accepted or that other pairs decide in
   * its place.
   */
  mark: [string, string];
  /** Its rank among the pairs: lower ranks come first. */
  rank: number;
  sentence: string;
  /** The reason, if the sentence does not give it. */
  reason: string | null;
  /** Figures of what was executed, as (name, value). */
  facts: Array<[string, string]>;
  notes: Array<string>;
  /** Qualified names of the pairs that decide in its place. */
  decided_by: Array<string>;
  /** Why somebody accepted its difference. */
  accepted: string | null;
  executed: number;
  old: Version;
  new: Version;
  /** Both versions side by side. */
  rows: Array<AlignedRow>;
  executions: Array<Execution>;
  /** Lines of old and of new that ran; `Execution.lines` is an index into it. */
  line_sets: Array<[Array<number>, Array<number>]>;
  paths: Array<Path>;
  evidence: Array<Evidence>;
  /** What other values of decisive inputs show, one input at a time, with all else as in the witness. */
  varied: Array<Varied>;
  /** What other values of two decisive numbers show, both at a time. */
  varied_together: VariedTogether | null;
  /** How much each input matters, the ones that matter most first. Empty where fewer than two could be varied. */
  input_weights: Array<InputWeight>;
  /** The witness, or the execution with the most coverage. */
  shown: Detail | null;
  /** Why this execution is shown. */
  role: string | null;
  reproducer: Reproducer | null;
}

/** One version of a pair. */
export interface Version {
  qualname: string;
  lines: Array<Line>;
  coverage: number;
  changed_lines: number;
  changed_lines_reached: number;
  /** The number that the first line has in the file. */
  first_line: number;
  /** Where in `lines` other functions begin, ascending. */
  parts: Array<Part>;
  branches: Array<Branch>;
}

/** A function that is listed behind a version's own text, since it is observed with it. */
export interface Part {
  /** `Line.number` of its first line. */
  number: number;
  /** The number that this line has in its file. */
  first_line: number;
  /** What holds it, for people. None if it is the text of the version. */
  elsewhere: string | null;
}

export interface Line {
  /** Counted from 1. */
  number: number;
  text: string;
  /** Whether it is shown as part of the change. */
  changed: boolean;
  executable: boolean;
  /** The number of executions that ran the line. */
  executions: number;
  /** How often it ran in the execution that is shown first. */
  hits: number;
}

/** Executions in which the condition at this line was true, and false. */
export interface Branch {
  line: number;
  taken: number;
  not_taken: number;
}

/** Indices into the lines of both versions. None if a version has no line there. */
export interface AlignedRow {
  old: number | null;
  new: number | null;
}

/** One execution in short. */
export interface Execution {
  /** Counted from 1. */
  number: number;
  old: string;
  new: string;
  old_valid: boolean;
  new_valid: boolean;
  differs: boolean;
  /** False if it showed a difference that was not repeated, so that nothing is said about it. */
  examined: boolean;
  /** Lines that no earlier execution ran. */
  new_lines: number;
  coverage_so_far: number;
  microseconds: number;
  /** The example on whose values it ran. */
  example: string | null;
  /** Index into `PairState.line_sets`. */
  lines: number;
}

/** A difference in one channel. */
export interface Evidence {
  channel: Channel;
  place: string;
  /** The place as data; null in evidence older than format 5, except for outputs. */
  at: EvidencePlace | null;
  old: string;
  new: string;
  strength: Strength;
  probability: number;
  edge_case: boolean;
  score: number;
  /** The number of the execution that shows it. */
  execution: number;
}

/** The values that entered under one access path. */
export interface Path {
  path: string;
  /** None for a parameter. */
  kind: string | null;
  /** 0 is old, 1 is new. */
  version: 0 | 1;
  line: number;
  /** A probability for each class. May be empty. */
  predicted: Array<number>;
  /** The most frequent first, bounded. */
  injected: Array<InjectedValue>;
  /** The number of further values. */
  more: number;
}

/** A value, with the executions that had it: all of them, those that differ, and those that say nothing. */
export interface InjectedValue {
  value: string;
  class: string;
  count: number;
  differing: number;
  invalid: number;
}

/** The pytest file that shows the difference, or the reason why there is none. */
export interface Reproducer {
  source: string | null;
  holds: boolean | null;
  reason: string | null;
}

/** One execution in full. */
export interface Detail {
  /** Its number. None if values were changed. */
  execution: number | null;
  differs: boolean;
  valid: boolean;
  evidence: Array<Evidence>;
  old: VersionRun;
  new: VersionRun;
  final_values: Array<FinalValue>;
  values: Array<DetailValue>;
  calls: Array<CallRow>;
  parting: Divergence | null;
}

/** What one version did in an execution. */
export interface VersionRun {
  outcome: string;
  valid: boolean;
  stdout: string;
  stderr: string;
  log: Array<string>;
  /** (line, times), ascending. */
  hits: Array<[number, number]>;
}

/**
 * What the code left under one name: an argument after the call, a name that a snippet binds, a member of an object.
 */
export interface FinalValue {
  /** The name with its kind, e.g. `request afterwards`. */
  name: string;
  differs: boolean;
  old: string;
  new: string;
}

/** A value that was injected into both versions. */
export interface DetailValue {
  path: string;
  value: string;
  class: string;
  probability: number;
  /** 0 is old, 1 is new. */
  version: 0 | 1;
  line: number;
  decisive: boolean;
  /**
   * As Python would write it, in full, so that a person can put another one in its place; none where it cannot be
   * written, or not in so many characters.
   */
  literal: string | null;
  /** Whether it is an object of which nothing is known, which can be given attributes. */
  is_object: boolean;
  /** Whether a person chose it. */
  changed: boolean;
}

/** Corresponding calls of both versions to external code. */
export interface CallRow {
  old: string | null;
  new: string | null;
  equal: boolean;
}

/** The first line that both versions have in common and did not run equally often. */
export interface Divergence {
  old_line: number;
  new_line: number;
  old_hits: number;
  new_hits: number;
}

/** Values of one input, with all else the same. */
export interface Varied {
  path: string;
  sentence: string;
  /** Whether all values are numbers, ascending. */
  is_numeric: boolean;
  values: Array<VariedValue>;
}

/** What both versions do on a value. */
export interface VariedValue {
  value: string;
  outcome: VariedOutcome;
  old: string;
  new: string;
}

/** Two numbers varied at the same time, with all else the same. */
export interface VariedTogether {
  /** Their access paths. */
  paths: [string, string];
  /** The values of each, ascending. */
  values: [Array<string>, Array<string>];
  /** What each pair of values shows: a row for each value of the first. */
  outcomes: Array<Array<VariedOutcome>>;
}

/** How often the difference goes away with another value of one input, with all else the same. */
export interface InputWeight {
  path: string;
  /** The other values that say something. */
  tried: number;
  /** Those of them that show no difference. */
  gone: number;
}

/** A study, with one row for each change. */
export interface StudyState {
  /** `STATE_FORMAT`. */
  format: number;
  title: string;
  /** A sentence if the study was stopped before its end. */
  unfinished: string | null;
  /** A sentence where code ran without a complete sandbox. */
  without_sandbox: string | null;
  /** What is to say beside the verdicts, the weightiest first. */
  notices: Array<NoticeLine>;
  rows: Array<StudyRow>;
}

/** A notice for people. */
export interface NoticeLine {
  /** Whether it says that something trusted is not what it was. */
  is_trust: boolean;
  /** Its kind: `Policy changed`. */
  title: string;
  sentence: string;
}

/** One change of a study. */
export interface StudyRow {
  id: string;
  /** Where it comes from, as far as the input says so. */
  project: string | null;
  commit: string | null;
  file: string | null;
  /** The qualified name of the function. */
  function: string | null;
  /** When it was committed, as the input says it. */
  date: string | null;
  /** What kind of change it is. */
  kind: string | null;
  verdict: Verdict;
  /** The label, if somebody gave one. */
  label: Label | null;
  reason: string;
  executions: number;
  /** The share of executable lines that ran, 0 to 1. */
  coverage: number;
  /** Number of the first execution that differs. */
  first_difference: number | null;
  /** Cyclomatic complexity of the new version. */
  complexity: number | null;
  milliseconds: number;
  evidence: Array<Evidence>;
  /** The status of the reproducer, e.g. `holds`. */
  reproducer: string | null;
  /**
   * Whether its comparison was kept. It lies apart from the rows, packed, and the view asks for it when the row is
   * opened.
   */
  kept: boolean;
}

/** A person's judgment of a change. */
export type Label = "changing" | "preserving" | "unclear";

/** Tests that pass before a change and fail after it. */
export interface AmplificationState {
  /** `STATE_FORMAT`. */
  format: number;
  sentence: string;
  /** Whether a test shows the change; None if no test runs it. */
  shown: boolean | null;
  /** What the tests reach of the change, and what else there is to say, a line each. */
  facts: Array<string>;
  /** The tests, the best first. */
  tests: Array<AmplifiedState>;
  /** Tests of the project that run changed code, each with the number of changed statements that it runs. */
  selected: Array<[string, number]>;
  /** All tests as patches: in the form that passes before the change, and in the one that passes after it. */
  patches: [string, string];
}

/** An amplified test. */
export interface AmplifiedState {
  /** What the two versions do, in one line. */
  sentence: string;
  /** The test that it was made from; None if its values were injected. */
  origin: string | null;
  /** The definition of that test. */
  origin_text: string;
  /** The file that it belongs to, relative to the repository. */
  file: string;
  /** How it was made. */
  by: string;
  /** Passes before the change, fails after it. */
  old: FormState;
  /** Fails before the change, passes after it. None where it cannot be written. */
  new: FormState | null;
}

/** A test as it is written. */
export interface FormState {
  name: string;
  text: string;
  /** A unified diff of the test file. */
  patch: string;
}

/** The prefixes of a snippet. */
export interface PrefixesState {
  /** `STATE_FORMAT`. */
  format: number;
  sentence: string;
  /** Whether every line runs behind some prefix. */
  whole: boolean;
  /** The names that the snippet reads and does not define. */
  undefined: Array<string>;
  /** What else there is to say, as (name, text). */
  facts: Array<[string, string]>;
  /** The snippet, without long gaps. */
  code: Array<CodeLine>;
  /** The number of lines on which a statement begins. */
  statements: number;
  /** Every parent before its children. */
  nodes: Array<PrefixNode>;
  /** The number of further nodes. */
  more: number;
  /** The numbers of the nodes that people see first: the best one, then the others of P. */
  kept: Array<number>;
  /** What stands before and behind the prefix in a program. */
  around: [string, string];
  /** What stands before the prefix in a cell of a notebook. */
  before_cell: string;
  /** The beginning of a pytest file, which the tests of nodes follow. */
  test_beginning: string;
}

/** A line of the snippet. */
export interface CodeLine {
  /** Counted from 1. */
  number: number;
  text: string;
  /** Whether a statement begins on it. */
  statement: boolean;
}

/** A node of the tree. */
export interface PrefixNode {
  /** Its number in the report. */
  number: number;
  parent: number | null;
  depth: number;
  /** The step that made it: undefinedness, error or coverage guidance. */
  step: 1 | 2 | 3;
  /** What it was made from. */
  from: string;
  /** Python. Empty if nothing is needed. */
  text: string;
  /** The lines of the snippet that complete behind it. */
  completed: Array<number>;
  /** The share of lines that it covers, 0 to 1. */
  coverage: number;
  /** How the snippet ends behind it, if not by itself. */
  ended: string | null;
  /** The line of the snippet at which an exception ends it. */
  ended_at: number | null;
  /** The number of values that it makes of each type. */
  makes: Array<[string, number]>;
  /** It covers most. */
  best: boolean;
  /** It is in P, the smallest set that covers all lines that any node covers. */
  chosen: boolean;
  /** Its fixture and its test in a pytest file. None if the snippet does not end behind it. */
  test: string | null;
}

/** A slice of a history. */
export interface SliceState {
  /** `STATE_FORMAT`. */
  format: number;
  /** As the user wrote it. */
  range: string;
  /** The commit that the range begins after. */
  base: string;
  goal: SliceGoal;
  /** What the tests do in runs that kept what was tried, and in all others. */
  outcomes: [string, string];
  sentence: string;
  /** Figures, as (name, value). */
  facts: Array<[string, string]>;
  /** What else there is to say, a sentence each. */
  remarks: Array<string>;
  /** The number of units that stay. */
  size: number;
  /** Whether commits are split, so that a unit is a part of one. */
  is_split: boolean;
  /** All units of the range, oldest first. Other fields name them by their place here. */
  units: Array<SliceUnitState>;
  /**
   * Units that need the text of others, without what follows from other such needs: (the later one, the one that it
   * needs).
   */
  text_needs: Array<[number, number]>;
  name_needs: Array<SliceNameNeed>;
  /** The runs of the tests, in their order. The first is that of the whole range. */
  steps: Array<SliceStep>;
  /** The tests that decided, the first of them. */
  tests: Array<string>;
  /** The number of further tests. */
  more_tests: number;
  /** Tests that decided nothing, each with the reason. */
  left_out: Array<[string, string]>;
  ended: SliceEnded;
  is_minimal: boolean;
  seconds: number;
}

/** A commit, or a part of one. */
export interface SliceUnitState {
  /** The whole hash. */
  commit: string;
  subject: string;
  /** The path, or the path and the entity in it; None for a whole commit. */
  part: string | null;
  /** The first files that it changes. */
  paths: Array<string>;
  /** The number of further files. */
  more_paths: number;
  /** The paper's significance. */
  score: number;
  stays: boolean;
  why: SliceWhy;
  /** The reason as a sentence. */
  reason: string;
  /** The units that the reason names. */
  by: Array<number>;
  /** The run that decided, counted from 0. */
  step: number | null;
  /** The first tests that do otherwise without it. */
  failed: Array<SliceFailedTest>;
  /** The number of all tests that do otherwise without it. */
  failed_count: number;
  /** What it changes, as git shows it: the first lines. */
  diff: string;
  /** A sentence on what the diff lacks. */
  diff_lacks: string | null;
}

/** Why a unit stays or goes. */
export type SliceWhy =
  | "tests_fail"
  | "text_needed"
  | "name_needed"
  | "not_reproduced"
  | "unknown"
  | "not_run"
  | "tests_pass"
  | "still_fails"
  | "in_target"
  | "reverts"
  | "reverted"
  | "cleanup";

/** What a test did without a unit. */
export interface SliceFailedTest {
  test: string;
  /** Empty if it passed, or if pytest gave none. */
  exception: string;
  message: string;
}

/** Names that a unit needs of another one. */
export interface SliceNameNeed {
  /** The unit that uses the names. */
  user: number;
  /** The unit that provides them. */
  provider: number;
  /** The first names, dotted. */
  names: Array<string>;
  /** The number of further names. */
  more: number;
  /** Whether nothing else provides one of them. */
  is_only: boolean;
}

/** A run of the tests. */
export interface SliceStep {
  /** The paper's rule. */
  rule: string;
  /** The number of units that were tried, and of those that the slice has after it. */
  tried: number;
  kept: number;
  passed: boolean;
}

export type SliceEnded = "minimal" | "budget" | "deadline" | "interrupted";

export type SliceGoal = "pass" | "fail";

/** What is known of a slice that is still searched for. */
export interface SliceProgress {
  stage: SliceStage;
  /** What is done of the stage, and of how much. For the search these are runs, with those that are about left. */
  done: number;
  total: number;
  /** The size of the best slice after runs: each run after which it was smaller, and the last one. */
  points: Array<SlicePoint>;
  /** The number of units of the range. */
  of: number;
  /** About how many seconds are left, where some run took time. */
  seconds_left: number | null;
  /** How far it is, in words. */
  text: string;
}

export type SliceStage = "reading" | "criterion" | "comparing" | "refining";

/** The size of the best slice after a run. */
export interface SlicePoint {
  runs: number;
  kept: number;
}

/** An impact. */
export interface ImpactState {
  /** `STATE_FORMAT`. */
  format: number;
  sentence: string;
  /** Figures, as (name, value). */
  facts: Array<[string, string]>;
  /** What the result leaves open, a sentence each. */
  remarks: Array<string>;
  /** The levels of the analysis, DCIA first. Each leaves fewer statements than the one before, or as many. */
  levels: Array<ImpactLevelState>;
  /** The files of the new version with changed, impacted or pruned statements, those with a change first. */
  reached: Array<ImpactFileState>;
  /** The number of other files. */
  others: number;
  /** The links of all chains. A chain is followed from its last link to the change. */
  links: Array<ImpactLink>;
}

/** A level of the analysis. */
export interface ImpactLevelState {
  /** `DCIA`, `k=0`. */
  name: string;
  /** The statements that it leaves impacted, beyond the changed ones. */
  impacted: number;
  /** The functions that were compared. */
  compared: number;
  /** When it was whole, since the beginning. None if nobody measured it. */
  milliseconds: number | null;
}

/** A file of the new version. */
export interface ImpactFileState {
  path: string;
  changed: number;
  impacted: number;
  not_impacted: number;
  /** Those with changed, impacted or pruned statements, by line. */
  functions: Array<ImpactFunctionState>;
  statements: Array<ImpactStatementState>;
  /** The text, line by line: the whole file, or the lines around its statements where there is no room for more. */
  lines: Array<ImpactLineState>;
}

/** A line of a file. */
export interface ImpactLineState {
  /** Counted from 1. */
  number: number;
  text: string;
}

/** A function of a file, or the body of the module. */
export interface ImpactFunctionState {
  name: string;
  /** The line of its first changed, impacted or pruned statement. */
  line: number;
  changed: number;
  impacted: number;
  not_impacted: number;
  /** Whether an entry reaches it. */
  reached: boolean;
}

/** A changed or impacted statement, or one that a level took away. */
export interface ImpactStatementState {
  /** First and last line. */
  lines: [number, number];
  changed: boolean;
  /** How near to the change it is, 4 to 1. 0 for one that changed. */
  heat: number;
  /** The number of links of its chain. */
  distance: number;
  /** The last link of its chain. None where there is no room for it, and for one that changed. */
  link: number | null;
  /** The place of its function among those of the file. */
  function: number;
  /** How many levels leave it impacted, from DCIA on. 0 for one that changed. */
  levels: number;
  /** What took it away then, in words. */
  pruned: ImpactPrunedState | null;
}

/** What took a statement away. */
export interface ImpactPrunedState {
  /** The level, the equivalence, and how it was shown. */
  because: string;
  /** The place in its chain of the first link that no longer holds. */
  cut: number;
}

/** A link of chains. */
export interface ImpactLink {
  /** The link before it. None for the change. */
  from: number | null;
  /** `shop/cart.py:12`. None for what holds of a whole function. */
  place: string | null;
  /** Whether that is a place of the old version. */
  old: boolean;
  text: string;
  /** The line of code. */
  code: string;
}
