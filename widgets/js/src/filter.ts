// Selects the listed executions, and the listed changes of a study.

import type { LineFilter } from "./store";
import type { Execution, Label, PairState, StudyRow, Verdict } from "./types";
import { executionName, outcome, VERDICTS, type Outcome } from "./words";

export interface ExecutionFilter {
  line: LineFilter | null;
  outcome: Outcome | "all";
  search: string;
}

/** A test for executions; null if all pass. */
export function executionFilter(pair: PairState, filter: ExecutionFilter): ((execution: Execution) => boolean) | null {
  const needle = filter.search.trim().toLocaleLowerCase();
  if (!filter.line && filter.outcome === "all" && !needle) return null;
  // One answer for each set of lines, of which there are few.
  const { line } = filter;
  const ran = line && pair.line_sets.map((set) => set[line.version].includes(line.line));
  return (execution) =>
    (!ran || ran[execution.lines] === true) &&
    (filter.outcome === "all" || outcome(execution) === filter.outcome) &&
    (!needle || executionText(execution).includes(needle));
}

function executionText(execution: Execution): string {
  return `${executionName(execution.number)}\n${execution.old}\n${execution.new}`.toLocaleLowerCase();
}

/** A cell of the confusion matrix. */
export interface Cell {
  verdict: Verdict;
  label: Label | null;
}

export function isSameCell(a: Cell | null, b: Cell | null): boolean {
  return a?.verdict === b?.verdict && a?.label === b?.label;
}

/** Whether the verdict contradicts the label. */
export function disagrees({ verdict, label }: Cell): boolean {
  if (label === "changing") return verdict === "likely_preserving" || verdict === "identical";
  return label === "preserving" && verdict === "changing";
}

export interface StudyFilter {
  search: string;
  verdict: Verdict | null;
  cell: Cell | null;
}

export function studyFilter(filter: StudyFilter): ((row: StudyRow) => boolean) | null {
  const needle = filter.search.trim().toLocaleLowerCase();
  const { cell, verdict } = filter;
  if (!cell && !verdict && !needle) return null;
  return (row) =>
    (!verdict || row.verdict === verdict) &&
    (!cell || isSameCell(row, cell)) &&
    (!needle || changeText(row).includes(needle));
}

function changeText({ id, function: name, file, commit, project, reason }: StudyRow): string {
  return [id, name, file, commit, project, reason].join("\n").toLocaleLowerCase();
}

/** How many changes have a label and a verdict. */
export interface Confusion {
  labels: (Label | null)[];
  verdicts: Verdict[];
  counts: Map<string, number>;
}

const LABELS: (Label | null)[] = ["changing", "preserving", "unclear", null];

export function confusion(rows: StudyRow[]): Confusion {
  const counts = new Map<string, number>();
  for (const row of rows) {
    const key = cellKey(row);
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  const labels = LABELS.filter((label) => rows.some((row) => row.label === label));
  const verdicts = VERDICTS.filter((verdict) => rows.some((row) => row.verdict === verdict));
  return { labels, verdicts, counts };
}

export function cellKey({ verdict, label }: Cell): string {
  return `${label ?? ""}|${verdict}`;
}

/** The execution in a pair that comes before or after this one among those listed. */
export function neighbour(listed: Execution[], number: number | null, step: 1 | -1): Execution | undefined {
  if (listed.length === 0) return undefined;
  const place = listed.findIndex((execution) => execution.number === number);
  if (place >= 0) return listed[place + step];
  // The shown one is not listed itself, so this is the nearest listed one.
  const sorted = [...listed].sort((a, b) => a.number - b.number);
  const at = number ?? 0;
  return step > 0 ? sorted.find((one) => one.number > at) : sorted.findLast((one) => one.number < at);
}

/** Executions from one that differs to the next that does, the first from the start. Not all of them need be listed. */
export function waits(executions: Execution[]): number[] {
  let before = 0;
  return executions
    .filter((one) => one.differs)
    .map(({ number }) => {
      const since = number - before;
      before = number;
      return since;
    });
}
