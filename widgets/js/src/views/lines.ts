// The lines that an editor shows: those of one version, or those of both as one text, in which what is gone stands before
// what came. Without elements.

import type { Ranges } from "../align";
import type { DetailValue, Line, PairState, Part, Version, VersionNumber } from "../types";
import * as words from "../words";

/** A line of an editor's text. */
export interface ShownLine {
  version: VersionNumber;
  line: Line;
  /** Its numbers in the files, a column each; empty where a version lacks it. */
  numbers: string[];
  /** What people call it: its number, and its file if that is another one. */
  name: string;
  /** The function that begins with it, if that stands elsewhere. */
  begins: Part | null;
}

/** The text of an editor. */
export interface Shown {
  lines: ShownLine[];
  /** Where the lines of each version stand in it, by their numbers. */
  places: [Map<number, number>, Map<number, number>];
  /** Parts that the other version lacks, in lines that it has in another form, by the line's place. */
  differing: Ranges;
  /** The line's place for each row of the pair that it can hide; null for rows that it does not have. */
  rows: (number | null)[];
}

export function versionOf(pair: PairState, version: VersionNumber): Version {
  return version === 0 ? pair.old : pair.new;
}

interface Differing {
  old: Ranges;
  new: Ranges;
}

function shownLine(pair: PairState, version: VersionNumber, line: Line, numbers: string[]): ShownLine {
  const own = versionOf(pair, version);
  const begins = own.parts.find((part) => part.number === line.number) ?? null;
  return { version, line, numbers, name: words.lineName(own, line.number), begins };
}

/** One version by itself. */
export function ofVersion(pair: PairState, version: VersionNumber, differing: Differing): Shown {
  const own = versionOf(pair, version);
  const places: Shown["places"] = [new Map(), new Map()];
  own.lines.forEach((line, index) => places[version].set(line.number, index));
  return {
    lines: own.lines.map((line) => shownLine(pair, version, line, [String(words.lineInFile(own, line.number))])),
    places,
    differing: differing[words.versionName(version)],
    rows: pair.rows.map((row) => (version === 0 ? row.old : row.new)),
  };
}

/** Both versions as one text. */
export function ofBoth(pair: PairState, differing: Differing): Shown {
  const shown: Shown = { lines: [], places: [new Map(), new Map()], differing: new Map(), rows: [] };
  const numberOf = (version: VersionNumber, line: Line) =>
    String(words.lineInFile(versionOf(pair, version), line.number));
  const add = (version: VersionNumber, index: number, line: Line, numbers: string[]) => {
    const place = shown.lines.length;
    shown.places[version].set(line.number, place);
    const ranges = differing[words.versionName(version)].get(index);
    if (ranges) shown.differing.set(place, ranges);
    shown.lines.push(shownLine(pair, version, line, numbers));
    return place;
  };
  let come: (() => void)[] = [];
  const flush = () => {
    come.forEach((one) => one());
    come = [];
  };
  for (const row of pair.rows) {
    const [old, renewed] = [pair.old.lines[row.old ?? -1], pair.new.lines[row.new ?? -1]];
    if (old && renewed && !old.changed && !renewed.changed) {
      flush();
      const place = add(1, row.new ?? 0, renewed, [numberOf(0, old), numberOf(1, renewed)]);
      shown.places[0].set(old.number, place);
      shown.rows.push(place);
      continue;
    }
    shown.rows.push(null);
    if (old) add(0, row.old ?? 0, old, [numberOf(0, old), ""]);
    if (renewed) come.push(() => add(1, row.new ?? 0, renewed, ["", numberOf(1, renewed)]));
  }
  flush();
  return shown;
}

/** Lines around a change that stay in sight, and the fewest lines that are worth hiding. */
const AROUND = 3;
const FEWEST = 5;

/** Runs of rows that can be hidden, from and to, exclusive: unchanged ones away from changes, the first line and `kept`. */
export function folds(
  pair: Pick<PairState, "rows" | "old" | "new">,
  kept: (old: number, renewed: number) => boolean,
): [number, number][] {
  const { rows } = pair;
  const shown = rows.map(() => false);
  rows.forEach((row, index) => {
    const [old, renewed] = [pair.old.lines[row.old ?? -1], pair.new.lines[row.new ?? -1]];
    const isChanged = !old || !renewed || old.changed || renewed.changed;
    if (!isChanged && (index === 0 || kept(old.number, renewed.number))) shown[index] = true;
    if (isChanged) shown.fill(true, Math.max(0, index - AROUND), index + AROUND + 1);
  });
  const found: [number, number][] = [];
  for (let from = 0; from < rows.length; from += 1) {
    if (shown[from]) continue;
    let to = from;
    while (to < rows.length && !shown[to]) to += 1;
    if (to - from >= FEWEST) found.push([from, to]);
    from = to;
  }
  return found;
}

/** The rows of values that stay in sight, whatever is hidden: those without which there is no difference. */
export function keptLines(pair: PairState): (old: number, renewed: number) => boolean {
  const values: DetailValue[] = pair.shown?.values.filter((one) => one.decisive || one.changed) ?? [];
  const at = (version: VersionNumber) =>
    new Set(values.filter((one) => one.version === version).map((one) => words.entryLine(pair, one)));
  const [old, renewed] = [at(0), at(1)];
  const parting = pair.shown?.parting;
  return (inOld, inNew) =>
    old.has(inOld) || renewed.has(inNew) || (parting?.old_line === inOld && parting.new_line === inNew);
}
