// What the kernel sends, as JSON: the state of a comparison or a study, one execution in full, the examples that a
// person pinned. widgets/src/state.rs makes it. Lines and executions count from 1. Strings are raw: they come from user
// code and go through `plain` before they are shown.

export type Verdict = "changing" | "likely_preserving" | "inconclusive" | "identical";
export type Channel = "return" | "arguments" | "output" | "log" | "calls" | "exception";
/** 0 is old, 1 is new. */
export type VersionNumber = 0 | 1;
/**
 * Values that a person put in place of injected ones, by access path, as Python literals. A map, since a path may be
 * `constructor`, which every plain object has.
 */
export type Changes = ReadonlyMap<string, string>;

export interface ComparisonState {
  format: 1;
  twincell: string;
  verdict: Verdict;
  sentence: string;
  predictor: string;
  /** As text: it may be greater than what is counted exactly here. */
  seed: string;
  budget: number;
  milliseconds: number;
  added: string[];
  removed: string[];
  pairs: PairState[];
  /** Names of the predictor's classes, in the order of `Path.predicted`. */
  classes: string[];
}

export interface PairState {
  name: string;
  verdict: Verdict;
  /** Its sign and its word: the verdict's, or that others decide in its place. */
  mark: [string, string];
  /** Where it stands among the pairs: the less, the sooner. */
  rank: number;
  sentence: string;
  /** Why, where the sentence does not say it. */
  reason: string | null;
  /** What was executed, as (name, value). */
  facts: [string, string][];
  notes: string[];
  /** Those that decide in its place. */
  decided_by: string[];
  executed: number;
  old: Version;
  new: Version;
  /** Both versions side by side: indices into their lines. */
  rows: Row[];
  executions: Execution[];
  /** Lines of old and of new that ran; `Execution.lines` is an index into it. */
  line_sets: [number[], number[]][];
  paths: Path[];
  evidence: Evidence[];
  shown: Detail | null;
  /** Why that one is shown. */
  role: string | null;
  reproducer: Reproducer | null;
}

export interface Row {
  old: number | null;
  new: number | null;
}

export interface Reproducer {
  source: string | null;
  holds: boolean | null;
  reason: string | null;
}

export interface Version {
  qualname: string;
  lines: Line[];
  coverage: number;
  changed_lines: number;
  changed_lines_reached: number;
  branches: Branch[];
}

export interface Line {
  number: number;
  text: string;
  changed: boolean;
  executable: boolean;
  /** In how many executions the line ran. */
  executions: number;
  /** How often it ran in the execution that is shown at first. */
  hits: number;
}

/** Executions in which the condition at this line was true, and false. */
export interface Branch {
  line: number;
  taken: number;
  not_taken: number;
}

export interface Execution {
  /** Counted from one. */
  number: number;
  old: string;
  new: string;
  old_valid: boolean;
  new_valid: boolean;
  differs: boolean;
  /** False where it showed a difference that was left aside, so that nothing is said of it. */
  examined: boolean;
  new_lines: number;
  coverage_so_far: number;
  microseconds: number;
  lines: number;
}

export interface Evidence {
  channel: Channel;
  place: string;
  old: string;
  new: string;
  strength: "observable" | "call_pattern";
  probability: number;
  edge_case: boolean;
  score: number;
  execution: number;
}

export interface Path {
  path: string;
  /** None for a parameter. */
  kind: string | null;
  version: VersionNumber;
  line: number;
  /** A probability for each class; may be empty. */
  predicted: number[];
  /** Most frequent first, bounded. */
  injected: InjectedValue[];
  /** Values beyond those. */
  more: number;
}

export interface InjectedValue {
  value: string;
  class: string;
  count: number;
  differing: number;
  invalid: number;
}

/** One execution in full. */
export interface Detail {
  /** What the kernel knows it by, so that it can be worked on further; none of what came with the comparison. */
  handle?: number | null;
  /** None where values were changed by hand. */
  execution: number | null;
  differs: boolean;
  valid: boolean;
  evidence: Evidence[];
  old: Side;
  new: Side;
  left: Left[];
  values: DetailValue[];
  calls: CallRow[];
}

export interface DetailValue {
  path: string;
  value: string;
  class: string;
  probability: number;
  version: VersionNumber;
  line: number;
  decisive: boolean;
  /** As Python would write it, in full; null where it cannot be written, or not in so many characters. */
  literal: string | null;
  /** A person chose it. */
  changed: boolean;
}

export interface CallRow {
  old: string | null;
  new: string | null;
  equal: boolean;
}

export interface Side {
  outcome: string;
  valid: boolean;
  stdout: string;
  stderr: string;
  log: string[];
  /** Lines that ran, and how often. */
  hits: [number, number][];
}

/** What the code left under one name: an argument after the call, a name that a snippet binds, a member of an object. */
export interface Left {
  name: string;
  differs: boolean;
  old: string;
  new: string;
}

export interface Pinned {
  pair: number;
  name: string;
  execution: number | null;
  /** The detail that `changes` change; null for the execution as it was. */
  handle: number | null;
  changes: Record<string, string>;
  values: { path: string; value: string }[];
  old: string;
  new: string;
}

export interface Progress {
  pair: number;
  pairs: number;
  executions: number;
  budget: number;
  coverage: number;
}

export interface StudyState {
  format: 1;
  title: string;
  rows: StudyRow[];
}

export type Label = "changing" | "preserving" | "unclear";

export interface StudyRow {
  id: string;
  verdict: Verdict;
  label: Label | null;
  reason: string;
  executions: number;
  coverage: number;
  /** The first execution that differs. Results that were made before it was told do not have it. */
  first_difference?: number | null;
  /** Cyclomatic, of the new version; as above. */
  complexity?: number | null;
  milliseconds: number;
  evidence: Evidence[];
  /** What became of the reproducer, e.g. `holds`. */
  reproducer: string | null;
  comparison: ComparisonState | null;
}
