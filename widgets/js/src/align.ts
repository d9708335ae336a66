// Old and new side by side, as the report aligns them, in the form in which the merge view wants it.

import { Change, presentableDiff } from "@codemirror/merge";
import type { PairState } from "./types";

/** A run of lines that differ: from and to, exclusive, as indices of lines. */
export interface Block {
  fromOld: number;
  toOld: number;
  fromNew: number;
  toNew: number;
}

/** Runs of rows where a line has no partner or is marked as changed. */
export function blocks(pair: Pick<PairState, "rows" | "old" | "new">): Block[] {
  const out: Block[] = [];
  let open: Block | null = null;
  let [old, renewed] = [0, 0];
  for (const row of pair.rows) {
    const changed =
      row.old === null ||
      row.new === null ||
      pair.old.lines[row.old]?.changed === true ||
      pair.new.lines[row.new]?.changed === true;
    if (changed && !open) open = { fromOld: old, toOld: old, fromNew: renewed, toNew: renewed };
    if (!changed && open) {
      out.push(open);
      open = null;
    }
    if (row.old !== null) old = row.old + 1;
    if (row.new !== null) renewed = row.new + 1;
    if (open) [open.toOld, open.toNew] = [old, renewed];
  }
  if (open) out.push(open);
  return out;
}

/** Lines that are the same in both versions: numbers of lines of one by those of the other. */
export function partners(pair: Pick<PairState, "rows" | "old" | "new">): {
  old: Map<number, number>;
  new: Map<number, number>;
} {
  const out = { old: new Map<number, number>(), new: new Map<number, number>() };
  for (const row of pair.rows) {
    const [old, renewed] = [pair.old.lines[row.old ?? -1], pair.new.lines[row.new ?? -1]];
    if (!old || !renewed || old.changed || renewed.changed) continue;
    out.old.set(old.number, renewed.number);
    out.new.set(renewed.number, old.number);
  }
  return out;
}

/** The blocks as changes of characters: what the merge view aligns by. */
export function changes(found: Block[], old: string, renewed: string): Change[] {
  const [a, b] = [offsets(old), offsets(renewed)];
  return found.map(
    ({ fromOld, toOld, fromNew, toNew }) =>
      new Change(span(a, fromOld), span(a, toOld), span(b, fromNew), span(b, toNew)),
  );
}

/** Where each line starts, and the end. */
function offsets(text: string): number[] {
  const starts = [0];
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  starts.push(text.length);
  return starts;
}

function span(starts: number[], line: number): number {
  return starts[Math.min(line, starts.length - 1)] ?? 0;
}

/** Ranges of characters within a line, by the index of the line. */
export type Ranges = Map<number, [number, number][]>;

/** A line with a smaller share in common with its partner is another line, not a changed one. */
const ALIKE = 0.4;

/** Within changed lines side by side: the parts that the other one lacks. `text` gives a line as it is shown. */
export function within(
  pair: Pick<PairState, "rows" | "old" | "new">,
  text: (raw: string) => string,
): { old: Ranges; new: Ranges } {
  const out = { old: new Map() as Ranges, new: new Map() as Ranges };
  for (const row of pair.rows) {
    if (row.old === null || row.new === null) continue;
    const [first, second] = [pair.old.lines[row.old], pair.new.lines[row.new]];
    if (!first || !second || (!first.changed && !second.changed)) continue;
    const [a, b] = [text(first.text), text(second.text)];
    const found = presentableDiff(a, b, { scanLimit: 500 });
    const gone = found.reduce((sum, one) => sum + one.toA - one.fromA, 0);
    if (found.length === 0 || a.trim().length - gone < ALIKE * Math.min(a.trim().length, b.trim().length)) continue;
    out.old.set(
      row.old,
      trimmed(
        a,
        found.map((one) => [one.fromA, one.toA]),
      ),
    );
    out.new.set(
      row.new,
      trimmed(
        b,
        found.map((one) => [one.fromB, one.toB]),
      ),
    );
  }
  return out;
}

/** Without blanks at their ends, and without ranges that are only blanks. */
function trimmed(text: string, ranges: [number, number][]): [number, number][] {
  return ranges
    .map(([from, to]): [number, number] => {
      const inner = text.slice(from, to);
      return [from + inner.length - inner.trimStart().length, to - (inner.length - inner.trimEnd().length)];
    })
    .filter(([from, to]) => from < to);
}
