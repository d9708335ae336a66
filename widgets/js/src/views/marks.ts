// The marks in the margin of an editor: lines that ran, values that entered, and room that keeps rows level with those of
// the other version. Without elements.

import { partners } from "../align";
import type { Choices } from "../store";
import type { Detail, DetailValue, Execution, PairState, VersionNumber } from "../types";
import * as words from "../words";
import { versionOf, type Shown } from "./lines";
import { gapsOf, type Fixed, type Marks, type Placed } from "./margin";

/** An editor's text, and how it stands beside another one. */
export interface Side {
  pair: PairState;
  shown: Shown;
  /** The versions whose lines it shows. */
  versions: VersionNumber[];
  /** Lines of the other version that stand level with the same lines here: its version, and their numbers here. */
  level: { version: VersionNumber; here: Map<number, number> } | null;
}

export function side(pair: PairState, shown: Shown, versions: VersionNumber[], isLevel: boolean): Side {
  const [version] = versions;
  if (!isLevel || version === undefined) return { pair, shown, versions, level: null };
  const found = partners(pair);
  return {
    pair,
    shown,
    versions,
    level: version === 0 ? { version: 1, here: found.new } : { version: 0, here: found.old },
  };
}

/** The place in the text of a line of the other version that stands level with it. */
function levelPlace({ shown, versions, level }: Side, line: number): number | undefined {
  const number = level?.here.get(line);
  return number === undefined ? undefined : shown.places[versions[0] ?? 0].get(number);
}

/** The marks that do not depend on the execution. */
export function fixedMarks(of: Side): Fixed {
  const { pair, shown, versions, level } = of;
  const gaps = new Map<number, boolean>();
  for (const version of versions) {
    for (const [line, gap] of gapsOf(versionOf(pair, version))) {
      const place = shown.places[version].get(line);
      // Of a line that both have, the new one's is shown.
      if (place !== undefined) gaps.set(place, gap);
    }
  }
  const twinGaps = new Map<number, boolean>();
  for (const [line, gap] of level ? gapsOf(versionOf(pair, level.version)) : []) {
    const place = levelPlace(of, line);
    if (place !== undefined) twinGaps.set(place, gap);
  }
  return { shown, isOld: versions[0] === 0, gaps, twinGaps };
}

/** The marks that depend on the shown execution and on the filtering line. */
export function marksNow(of: Side, chosen: Readonly<Choices>): Marks {
  const { detail, line } = chosen;
  const { pair, shown, versions, level } = of;
  const execution = pair.executions.find((one) => one.number === chosen.execution);
  const hits = new Map<number, number>();
  for (const version of versions) {
    for (const [number, times] of hitsOf(version, pair, detail, execution)) {
      const place = shown.places[version].get(number);
      if (place !== undefined) hits.set(place, times);
    }
  }
  const placed = (version: VersionNumber, place: (line: number) => number | undefined, into: Placed) => {
    for (const value of valuesIn(pair, version, detail)) {
      const at = place(value.line);
      if (at !== undefined) into.set(at, [...(into.get(at) ?? []), value]);
    }
    return into;
  };
  const values: Placed = new Map();
  for (const version of versions) placed(version, (number) => shown.places[version].get(number), values);
  const twins: Placed = new Map();
  if (level) placed(level.version, (number) => levelPlace(of, number), twins);
  const filter = line && versions.includes(line.version) ? (shown.places[line.version].get(line.line) ?? null) : null;
  return { hits, values, twins, filter };
}

/** The lines that an execution ran in a version, and how often; 0 where only that is known. */
function hitsOf(
  version: VersionNumber,
  pair: PairState,
  detail: Detail | null,
  execution: Execution | undefined,
): [number, number][] {
  if (detail) return (version === 0 ? detail.old : detail.new).hits;
  // How often each line ran is known only for executions in full. For others it is known whether it ran.
  const ran = execution ? (pair.line_sets[execution.lines]?.[version] ?? []) : [];
  return ran.map((line) => [line, 0]);
}

/** The values that entered in a version, each at its line. */
function valuesIn(pair: PairState, version: VersionNumber, detail: Detail | null): DetailValue[] {
  return words
    .byWeight(detail?.values ?? [])
    .filter((one) => one.version === version)
    .map((one) => ({ ...one, line: words.entryLine(pair, one) ?? 0 }));
}
