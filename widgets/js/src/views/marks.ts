// The marks in the margin of each version: lines that ran, values that entered, and room that keeps rows level with
// those of the other version. Without elements.

import { partners, within, type Ranges } from "../align";
import * as plain from "../plain";
import type { Choices } from "../store";
import type { Detail, DetailValue, Execution, PairState, Version, VersionNumber } from "../types";
import * as words from "../words";
import { gapsOf, type Fixed, type Marks } from "./margin";

/** A pair whose lines are compared. */
export interface Aligned {
  pair: PairState;
  differing: { old: Ranges; new: Ranges };
  /** Lines that are the same in both versions: the number in one by the number in the other. */
  partners: { old: Map<number, number>; new: Map<number, number> };
}

export function aligned(pair: PairState): Aligned {
  return { pair, differing: within(pair, plain.code), partners: partners(pair) };
}

export function versionOf(pair: PairState, version: VersionNumber): Version {
  return version === 0 ? pair.old : pair.new;
}

/** For the numbers of lines of the other version, those of the same lines here. */
function linesHere({ partners }: Aligned, version: VersionNumber): Map<number, number> {
  return version === 0 ? partners.new : partners.old;
}

/** The marks that do not depend on the execution. `level`: both versions stand side by side. */
export function fixedMarks(of: Aligned, version: VersionNumber, level: boolean): Fixed {
  const here = linesHere(of, version);
  const gaps = level ? [...gapsOf(versionOf(of.pair, version === 0 ? 1 : 0))] : [];
  return {
    version: versionOf(of.pair, version),
    number: version,
    differing: of.differing[words.versionName(version)],
    twinGaps: new Map(gaps.flatMap(([line, gap]) => (here.has(line) ? [[here.get(line) ?? 0, gap]] : []))),
  };
}

/** The marks that depend on the shown execution and on the filtering line. */
export function marksNow(of: Aligned, version: VersionNumber, level: boolean, chosen: Readonly<Choices>): Marks {
  const { detail, line } = chosen;
  const { pair } = of;
  const here = linesHere(of, version);
  const others = level ? valuesIn(pair, version === 0 ? 1 : 0, detail) : [];
  return {
    hits: hits(
      pair,
      version,
      detail,
      pair.executions.find((one) => one.number === chosen.execution),
    ),
    values: valuesIn(pair, version, detail),
    twins: others.flatMap((one) => (here.has(one.line) ? [{ ...one, line: here.get(one.line) ?? 0 }] : [])),
    filter: line?.version === version ? line.line : null,
  };
}

/** The lines that an execution ran in a version, and how often; 0 where only that is known. */
function hits(
  pair: PairState,
  version: VersionNumber,
  detail: Detail | null,
  execution: Execution | undefined,
): Map<number, number> {
  if (detail) return new Map((version === 0 ? detail.old : detail.new).hits);
  // How often each line ran is known only for executions in full. For others it is known whether it ran.
  const ran = execution ? (pair.line_sets[execution.lines]?.[version] ?? []) : [];
  return new Map(ran.map((line) => [line, 0]));
}

/** The values that entered in a version, each at its line. */
function valuesIn(pair: PairState, version: VersionNumber, detail: Detail | null): DetailValue[] {
  return words
    .byWeight(detail?.values ?? [])
    .filter((one) => one.version === version)
    .map((one) => ({ ...one, line: words.entryLine(pair, one) ?? 0 }));
}
