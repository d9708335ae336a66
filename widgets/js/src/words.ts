// The words, signs and numbers that all views share; the same ones as in widgets/src/words.rs.

import * as plain from "./plain";
import type {
  Branch,
  CallRow,
  Changes,
  Channel,
  ComparisonState,
  Detail,
  DetailValue,
  Evidence,
  Execution,
  InputWeight,
  Label,
  Line,
  PairState,
  Part,
  Divergence,
  VariedOutcome,
  Verdict,
  Version,
  VersionNumber,
} from "./types";

/** The verdicts in the order of filters, tables, legends and stacks. */
export const VERDICTS: readonly Verdict[] = ["changing", "inconclusive", "likely_preserving", "identical"];

const VERDICT_WORDS: Record<Verdict, { icon: string; name: string; tone: string }> = {
  changing: { icon: "≠", name: "changing", tone: "changing" },
  likely_preserving: { icon: "≈", name: "likely preserving", tone: "preserving" },
  inconclusive: { icon: "?", name: "inconclusive", tone: "inconclusive" },
  identical: { icon: "=", name: "identical", tone: "identical" },
};

/** A sign that carries the verdict together with its word, never a color alone. */
export function icon(verdict: Verdict): string {
  return VERDICT_WORDS[verdict]?.icon ?? "?";
}

export function verdictName(verdict: Verdict): string {
  return VERDICT_WORDS[verdict]?.name ?? plain.value(String(verdict));
}

/** The class that sets the accent color of a verdict. */
export function tone(verdict: Verdict): string {
  return `tcw-${VERDICT_WORDS[verdict]?.tone ?? "identical"}`;
}

export function labelName(label: Label | null): string {
  return label ?? "no label";
}

/** Rounded down, so that only full coverage reads 100 %. */
export function percent(share: number): string {
  const bounded = Number.isFinite(share) ? Math.min(1, Math.max(0, share)) : 0;
  return `${Math.floor(bounded * 100 + 1e-9)}\u{a0}%`;
}

/** A probability. A small but possible one does not read 0 %. */
export function probability(share: number): string {
  return share > 0 && share < 0.01 ? "<\u{a0}1\u{a0}%" : percent(share);
}

export function duration(milliseconds: number): string {
  if (!Number.isFinite(milliseconds) || milliseconds < 0) return "unknown";
  if (milliseconds < 10) return `${milliseconds.toFixed(1)} ms`;
  if (milliseconds < 10_000) return `${milliseconds.toFixed(0)} ms`;
  return `${(milliseconds / 1000).toFixed(1)} s`;
}

/** Whole numbers as people read them. */
export function number(value: number): string {
  return value.toLocaleString("en-US");
}

export function count(value: number, noun: string): string {
  return `${number(value)} ${noun}${value === 1 ? "" : "s"}`;
}

/** How many of them, where not all. */
export function countOf(value: number, all: number, noun: string): string {
  return value === all ? count(all, noun) : `${number(value)} of ${count(all, noun)}`;
}

/** A hash as git shortens it. Other names of commits stay. */
export function commitName(commit: string): string {
  return /^[0-9a-f]{12,}$/i.test(commit) ? commit.slice(0, 8) : commit;
}

/** The changes of a group that is drawn. */
export interface GroupShare {
  name: string;
  changes: number;
  changing: number;
}

/** How many changes are in how many groups, and which of the drawn groups has the largest share of changing: the first
 * of those that have it, and none where nothing is changing. */
export function groupsSentence(groups: number, drawn: readonly GroupShare[]): string {
  const share = ({ changing, changes }: GroupShare) => changing / Math.max(1, changes);
  const all = drawn.reduce((sum, { changes }) => sum + changes, 0);
  const said = `${count(all, "change")} in ${count(groups, "group")}`;
  const most = drawn
    .filter(({ changing }) => changing > 0)
    .reduce<GroupShare | null>((best, one) => (best && share(one) <= share(best) ? best : one), null);
  return most ? `${said}; ${most.name} has the largest share of changing, ${probability(share(most))}` : said;
}

/** What is said in place of years that are too many to draw. */
export function tooManyYears(most: number): string {
  return `The commits lie more than ${count(most, "year")} apart.`;
}

export function executionName(execution: number | null): string {
  return execution === null ? "Changed values" : `Execution ${number(execution)}`;
}

/** How the shown values differ from those of the execution. Empty if they are the same. */
export function changeNote(base: number | null, changes: Changes): string {
  const changed = changes.size > 0 ? `${count(changes.size, "value")} changed by you` : "";
  return base === null ? changed && `with ${changed}` : `made smaller${changed && `, ${changed}`}`;
}

export function kindName(kind: string | null): string {
  return kind ?? "parameter";
}

export type Outcome = "differs" | "same" | "nothing" | "unexamined";

/** In the order in which they matter. */
export const OUTCOMES: readonly Outcome[] = ["differs", "same", "nothing", "unexamined"];

/** An execution in which a version ended in an exception that injected values may have caused says nothing. */
export function outcome(execution: Pick<Execution, "differs" | "examined" | "old_valid" | "new_valid">): Outcome {
  if (execution.differs) return "differs";
  if (!execution.examined) return "unexamined";
  return execution.old_valid && execution.new_valid ? "same" : "nothing";
}

export function detailOutcome(detail: Detail): Outcome {
  if (detail.differs) return "differs";
  return detail.valid ? "same" : "nothing";
}

export const OUTCOME_MARK: Record<Outcome, string> = {
  differs: "≠ differs",
  same: "= same",
  nothing: "○ says nothing",
  unexamined: "? not examined",
};

/** The sign and the word for what a value shows. */
export const VARIED_MARK: Record<VariedOutcome, [string, string]> = {
  differs: ["≠", "differs"],
  same: ["=", "same"],
  nothing: ["○", "says nothing"],
};

/** The meaning of the outcomes that do not explain themselves. */
export const OUTCOME_LEGEND: Partial<Record<Outcome, string>> = {
  nothing:
    "○ says nothing: a version ended in an exception that the injected values may have caused, so the execution is no evidence.",
  unexamined: "? not examined: the two versions differed, but the execution was not repeated, so it is no evidence.",
};

/** The coverage margin: how many executions ran a line, `·` for a line without code of its own, `–` for never. */
export function margin(line: Line): string {
  if (!line.executable) return "·";
  return line.executions === 0 ? "–" : short(line.executions);
}

/** A number that fits a narrow margin. */
export function short(value: number): string {
  if (value < 10_000) return String(value);
  return value < 1_000_000 ? `${Math.floor(value / 1000)}k` : `${Math.floor(value / 1_000_000)}M`;
}

/** The margin's information about a line, in words. */
export function marginSentence(side: string, line: Line, name: string, hits: number | null): string {
  const changed = line.changed ? ", changed" : "";
  if (!line.executable) return `Line ${name} of ${side}${changed}: no code of its own`;
  const runs = line.executions === 0 ? "never ran" : `ran in ${count(line.executions, "execution")}`;
  const here = hits === null ? "" : hits > 0 ? `, ${count(hits, "time")} in the one shown` : ", not in the one shown";
  return `Line ${name} of ${side}${changed}: ${runs}${here}`;
}

/** The part of a version's listing that holds a line; null for the version's own lines. */
export function partOf(version: Version, line: number): Part | null {
  return version.parts.findLast((part) => part.number <= line) ?? null;
}

/** The number that a line of a version has in its file. */
export function lineInFile(version: Version, line: number): number {
  const { number, first_line } = partOf(version, line) ?? { number: 1, first_line: version.first_line };
  return first_line + line - number;
}

/** A line by its number in its file, and by the file if that is another one: `12`, `12 (shop.tax)`. */
export function lineName(version: Version, line: number): string {
  const elsewhere = partOf(version, line)?.elsewhere ?? null;
  const number = lineInFile(version, line);
  return elsewhere === null ? String(number) : `${number} (${elsewhere})`;
}

/** The line where a value entered: a parameter without one enters at the `def`. */
export function entryLine(
  pair: PairState,
  value: { path: string; version: VersionNumber; line: number },
): number | null {
  if (value.line > 0) return value.line;
  const path = pair.paths.find((one) => one.path === value.path);
  const { lines } = value.version === 0 ? pair.old : pair.new;
  return path?.kind === null ? (lines[0]?.number ?? null) : null;
}

export function entryPlace(pair: PairState, value: { path: string; version: VersionNumber; line: number }): string {
  const line = entryLine(pair, value);
  const version = value.version === 0 ? pair.old : pair.new;
  return `${versionName(value.version)}${line === null ? "" : ` ${lineName(version, line)}`}`;
}

/** Values by importance: decisive ones, those that can be written, then stand-ins for objects. */
export function byWeight<T extends Pick<DetailValue, "decisive" | "changed" | "literal">>(values: readonly T[]): T[] {
  const weight = (one: T) => (one.decisive || one.changed ? 0 : one.literal !== null ? 1 : 2);
  return [...values].sort((a, b) => weight(a) - weight(b));
}

/** The truth value that a condition never had; null if it had both, or if its line never ran. */
export function branchGap(branch: Branch): boolean | null {
  if (branch.taken === 0) return branch.not_taken === 0 ? null : true;
  return branch.not_taken === 0 ? false : null;
}

/** The old version is 0, the new one 1. */
export function versionName(version: VersionNumber): "old" | "new" {
  return version === 0 ? "old" : "new";
}

/** What became of a call among all of them. */
export function callMark(row: CallRow, all: CallRow[]): string {
  if (row.new === null) {
    const isMoved = all.some((other) => other.old === null && other.new === row.old);
    return isMoved ? "↕ moved, old" : "− only old";
  }
  if (row.old === null) {
    const isMoved = all.some((other) => other.new === null && other.old === row.new);
    return isMoved ? "↕ moved, new" : "+ only new";
  }
  return row.equal ? "= same" : "≠ differs";
}

const CHANNELS: Record<Channel, string> = {
  return: "return value",
  arguments: "arguments",
  output: "output",
  log: "log",
  calls: "calls",
  exception: "exception",
};

export function channelName(channel: Channel): string {
  return CHANNELS[channel] ?? plain.value(String(channel));
}

/** The strength of a piece of evidence, e.g. `observable, edge case (1 %)`. */
export function strength(evidence: Pick<Evidence, "strength" | "edge_case" | "probability">): string {
  const name = evidence.strength === "call_pattern" ? "call pattern" : "observable";
  return evidence.edge_case ? `${name}, edge case (${probability(evidence.probability)})` : name;
}

/** Numbers of pairs in the order shown. */
export function pairOrder(state: ComparisonState): number[] {
  const ranked = state.pairs.map(({ rank }, index) => ({ rank, index }));
  return ranked.sort((a, b) => a.rank - b.rank || a.index - b.index).map(({ index }) => index);
}

/** The class that sets the accent color of a pair: none of a verdict where others decide or it is accepted. */
export function pairTone(pair: PairState): string {
  return tone(pair.decided_by.length > 0 || pair.accepted !== null ? "identical" : pair.verdict);
}

/** What two numbers show together. */
export function togetherSentence(outcomes: VariedOutcome[], one: string, other: string): string {
  const differing = outcomes.filter((outcome) => outcome === "differs").length;
  return `differs for ${number(differing)} of ${number(outcomes.length)} pairs of ${one} and ${other}`;
}

/** The signs among some outcomes, and what they mean. */
export function variedLegend(outcomes: VariedOutcome[]): string {
  const there = (Object.keys(VARIED_MARK) as VariedOutcome[]).filter((outcome) => outcomes.includes(outcome));
  return there.map((outcome) => VARIED_MARK[outcome].join(" ")).join(" · ");
}

/** How often the difference goes away without the value of an input. */
export function weightText({ gone, tried }: InputWeight): string {
  if (gone === 0) return tried === 1 ? "not with the one other value" : `none of ${count(tried, "other value")}`;
  if (gone === tried) return tried === 1 ? "the other value" : `all ${count(tried, "other value")}`;
  return `${number(gone)} of ${count(tried, "other value")}`;
}

/** What is said where no unchanged line ran more often in one version. Changed lines are not compared. */
export const NO_PARTING = "Both ran the unchanged lines equally often.";

/** The first unchanged line that the versions did not run equally often, with its numbers in the files. */
export function partingSentence(pair: PairState, parting: Divergence): string {
  const [old, renewed] = [lineName(pair.old, parting.old_line), lineName(pair.new, parting.new_line)];
  const line = old === renewed ? `line ${old}` : `line ${old} (${renewed} in new)`;
  const said = `The first unchanged line that they did not run equally often is ${line}`;
  if (parting.new_hits === 0) return `${said}: only old ran it.`;
  if (parting.old_hits === 0) return `${said}: only new ran it.`;
  return `${said}: old ran it ${count(parting.old_hits, "time")}, new ${count(parting.new_hits, "time")}.`;
}

/** The access path of an attribute, an item or a call of an object, as a person wrote it: `x`, `.x`, `['key']`. Without a
 * holder, the path as it was written. */
export function attributePath(holder: string | null, written: string): string | null {
  const name = written.trim();
  if (name === "") return null;
  if (holder === null) return name;
  return /^[.[(]/.test(name) ? `${holder}${name}` : `${holder}.${name}`;
}

export const NO_KERNEL = "This needs a running kernel: run the cell again in a notebook.";

/** Why a person has to confirm that an execution is opened in the debugger. */
export const OUTSIDE =
  "Old, then new will run in this kernel, outside of the sandbox, and stop at the first changed line. Turn the debugger on first (the bug above the notebook).";

/** What goes on while an execution is open in the debugger. */
export const DEBUGGING = "Old runs, then new. Step and continue in the debugger's panel";
