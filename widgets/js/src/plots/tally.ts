// How many changes have each verdict, as a stack of bars and as numbers.

import type { StudyRow, Verdict } from "../types";
import * as words from "../words";

export type Tally = Record<Verdict, number>;

export function emptyTally(): Tally {
  return { changing: 0, inconclusive: 0, likely_preserving: 0, identical: 0 };
}

/** The tallies of the keys of rows. Rows without a key are left out. */
export function tallies<K>(rows: StudyRow[], key: (row: StudyRow) => K | null): Map<K, Tally> {
  const found = new Map<K, Tally>();
  for (const row of rows) {
    const of = key(row);
    if (of === null) continue;
    const tally = found.get(of) ?? emptyTally();
    tally[row.verdict] += 1;
    found.set(of, tally);
  }
  return found;
}

export function sum(all: Iterable<Tally>): Tally {
  const whole = emptyTally();
  for (const tally of all) for (const verdict of words.VERDICTS) whole[verdict] += tally[verdict];
  return whole;
}

export function size(tally: Tally): number {
  return words.VERDICTS.reduce((all, verdict) => all + tally[verdict], 0);
}

/** The verdicts that occur. */
export function occurring(tally: Tally): Verdict[] {
  return words.VERDICTS.filter((verdict) => tally[verdict] > 0);
}

export interface Part {
  verdict: Verdict;
  from: number;
  to: number;
}

/** The verdicts that occur, one on the other. */
export function stack(tally: Tally): Part[] {
  let before = 0;
  return occurring(tally).map((verdict) => {
    const from = before;
    before += tally[verdict];
    return { verdict, from, to: before };
  });
}

/** The columns of the table of numbers. */
export function columns(tally: Tally): Record<string, number> {
  return Object.fromEntries(words.VERDICTS.map((verdict) => [words.verdictName(verdict), tally[verdict]]));
}
