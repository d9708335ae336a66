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
  Label,
  Line,
  PairState,
  Verdict,
  Version,
  VersionNumber,
} from "./types";

const VERDICTS: Record<Verdict | "error", { icon: string; name: string; tone: string }> = {
  changing: { icon: "≠", name: "changing", tone: "changing" },
  likely_preserving: { icon: "≈", name: "likely preserving", tone: "preserving" },
  inconclusive: { icon: "?", name: "inconclusive", tone: "inconclusive" },
  identical: { icon: "=", name: "identical", tone: "identical" },
  error: { icon: "!", name: "error", tone: "error" },
};

/** A sign that carries the verdict together with its word, never a color alone. */
export function icon(verdict: Verdict | "error"): string {
  return VERDICTS[verdict]?.icon ?? "?";
}

export function verdictName(verdict: Verdict | "error"): string {
  return VERDICTS[verdict]?.name ?? plain.value(String(verdict));
}

/** The class that sets the accent color of a verdict. */
export function tone(verdict: Verdict | "error"): string {
  return `tcw-${VERDICTS[verdict]?.tone ?? "identical"}`;
}

export function labelName(label: Label | null): string {
  return label ?? "no label";
}

/** Rounded down, so that only full coverage reads 100 %. */
export function percent(share: number): string {
  const bounded = Number.isFinite(share) ? Math.min(1, Math.max(0, share)) : 0;
  return `${Math.floor(bounded * 100 + 1e-9)}\u{a0}%`;
}

/** A probability: what is small but possible does not read 0 %. */
export function probability(share: number): string {
  return share > 0 && share < 0.01 ? "<\u{a0}1\u{a0}%" : percent(share);
}

export function duration(milliseconds: number): string {
  if (!Number.isFinite(milliseconds) || milliseconds < 0) return "unknown";
  if (milliseconds < 1) return `${(milliseconds * 1000).toFixed(0)} µs`;
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

export function executionName(execution: number | null): string {
  return execution === null ? "Changed values" : `Execution ${number(execution)}`;
}

/** In what the values that are shown differ from those of the execution; empty where they are the same. */
export function changeNote(base: number | null, changes: Changes): string {
  const changed = changes.size > 0 ? `${count(changes.size, "value")} changed by you` : "";
  return base === null ? changed && `with ${changed}` : `made smaller${changed && `, ${changed}`}`;
}

export function kindName(kind: string | null): string {
  return kind ?? "parameter";
}

export type Outcome = "differs" | "same" | "nothing";

/** An execution in which a version ended in an exception that injected values may have caused says nothing. */
export function outcome(execution: Pick<Execution, "differs" | "old_valid" | "new_valid">): Outcome {
  if (execution.differs) return "differs";
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
};

export const OUTCOME_LEGEND =
  "○ says nothing: a version ended in an exception that the injected values may have caused, so the execution is no evidence.";

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

/** What the margin says about a line, in words. */
export function marginSentence(side: string, line: Line, hits: number | null): string {
  const changed = line.changed ? ", changed" : "";
  if (!line.executable) return `Line ${line.number} of ${side}${changed}: no code of its own`;
  const runs = line.executions === 0 ? "never ran" : `ran in ${count(line.executions, "execution")}`;
  const here = hits === null ? "" : hits > 0 ? `, ${count(hits, "time")} in the one shown` : ", not in the one shown";
  return `Line ${line.number} of ${side}${changed}: ${runs}${here}`;
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
  return `${value.version === 0 ? "old" : "new"}${line === null ? "" : ` ${line}`}`;
}

/** Values in the order in which they matter: decisive ones, those that one can write, then stand-ins for objects. */
export function byWeight<T extends Pick<DetailValue, "decisive" | "changed" | "literal">>(values: readonly T[]): T[] {
  const weight = (one: T) => (one.decisive || one.changed ? 0 : one.literal !== null ? 1 : 2);
  return [...values].sort((a, b) => weight(a) - weight(b));
}

/** What a branch never did; none where it did both, or where its line never ran. */
export function branchGap(branch: Branch): string | null {
  if (branch.taken === 0 && branch.not_taken === 0) return null;
  if (branch.taken === 0) return "never true";
  return branch.not_taken === 0 ? "never false" : null;
}

export function callMark(row: CallRow): string {
  if (row.new === null) return "− only old";
  if (row.old === null) return "+ only new";
  return row.equal ? "= same" : "≠ differs";
}

const CHANNELS: Record<Channel, string> = {
  return: "return value",
  arguments: "arguments after the call",
  output: "console output",
  log: "log",
  calls: "calls to external code",
  exception: "exception",
};

export function channelName(channel: Channel): string {
  return CHANNELS[channel] ?? plain.value(String(channel));
}

/** How much an evidence says, e.g. `observable, edge case (1 %)`. */
export function strength(evidence: Evidence): string {
  const name = evidence.strength === "call_pattern" ? "call pattern" : "observable";
  return evidence.edge_case ? `${name}, edge case (${probability(evidence.probability)})` : name;
}

/** Why the verdict is what it is, as a sentence; none where the first sentence says so already. */
export function reason(pair: PairState): string | null {
  if (!pair.reason || pair.sentence.includes(pair.reason)) return null;
  const end = pair.reason.endsWith(".") ? "" : ".";
  return plain.sentence(`${pair.reason.charAt(0).toUpperCase()}${pair.reason.slice(1)}${end}`);
}

/** What was executed, as (name, value) in the order shown. */
export function facts(pair: PairState, budget: number): [string, string][] {
  const both = (old: string, renewed: string) => (old === renewed ? `${old} of both` : `old ${old}, new ${renewed}`);
  const reached = (version: Version) =>
    version.changed_lines === 0 ? "none to reach" : `${version.changed_lines_reached} of ${version.changed_lines}`;
  const facts: [string, string][] = [];
  if (pair.executions.length === 0 && pair.verdict === "identical") {
    facts.push(["Executions", "none needed"]);
  } else {
    facts.push(["Executions", `${number(pair.executed)} of at most ${number(budget)}`]);
    facts.push(["Lines covered", both(percent(pair.old.coverage), percent(pair.new.coverage))]);
    facts.push(["Changed lines reached", `old ${reached(pair.old)}, new ${reached(pair.new)}`]);
    const differing = pair.executions.filter((execution) => execution.differs).length;
    if (pair.executions.length > 0) facts.push(["Differing", count(differing, "execution")]);
  }
  if (pair.lost > 0) facts.push(["Lost with a worker", count(pair.lost, "execution")]);
  facts.push(["Time", duration(pair.milliseconds)]);
  return facts;
}

/** What the execution is that is shown at first. */
export function shownTitle(pair: PairState): string {
  return pair.is_witness ? "the smallest inputs that show the difference" : "the one that covered most";
}

/** What was compared with what: one name, or both when the function was renamed. */
export function pairName(pair: PairState): string {
  const { old, new: renewed } = pair;
  return old.qualname === renewed.qualname
    ? plain.value(renewed.qualname)
    : `${plain.value(old.qualname)} → ${plain.value(renewed.qualname)}`;
}

/** Numbers of pairs in the order shown: what changed first, identical ones last. */
export function pairOrder(state: ComparisonState): number[] {
  const rank: Record<Verdict, number> = { changing: 0, inconclusive: 1, likely_preserving: 2, identical: 3 };
  return state.pairs
    .map((_, index) => index)
    .sort((a, b) => {
      const [first, second] = [state.pairs[a], state.pairs[b]];
      return (first ? rank[first.verdict] : 9) - (second ? rank[second.verdict] : 9) || a - b;
    });
}

export const NO_KERNEL = "This needs a running kernel: run the cell again in a notebook.";
