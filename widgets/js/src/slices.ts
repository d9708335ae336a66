// A slice without elements: its words, which units are listed, and what units need of each other.

import * as plain from "./plain";
import type { SliceState, SliceUnitState } from "./types";
import * as words from "./words";

/** A unit and its place in the history. */
export interface PlacedUnit {
  place: number;
  unit: SliceUnitState;
}

/** What there is one of for each unit. */
export function unitNoun(state: Pick<SliceState, "is_split">): string {
  return state.is_split ? "change" : "commit";
}

export type Standing = "stays" | "untried" | "goes";

/** The sign and the word of where a unit stands, the word for several, and the tone of its color. */
export const STANDINGS: Record<Standing, { sign: string; word: string; words: string; tone: string }> = {
  stays: { sign: "●", word: "stays", words: "stay", tone: "tcw-preserving" },
  untried: { sign: "◐", word: "untried", words: "untried", tone: "tcw-inconclusive" },
  goes: { sign: "○", word: "goes", words: "go", tone: "tcw-identical" },
};

export function standing(unit: Pick<SliceUnitState, "stays" | "why">): Standing {
  if (!unit.stays) return "goes";
  return unit.why === "unknown" ? "untried" : "stays";
}

/** `12345678 Add a thing (shop.py: add)` */
export function unitName(unit: SliceUnitState): string {
  const part = unit.part === null ? "" : ` (${unit.part})`;
  return plain.value(`${words.commitName(unit.commit)} ${unit.subject}${part}`);
}

export interface UnitFilter {
  search: string;
  standing: Standing | null;
}

/** A test for units; null if all pass. */
export function unitFilter(filter: UnitFilter): ((row: PlacedUnit) => boolean) | null {
  const needle = filter.search.trim().toLocaleLowerCase();
  if (filter.standing === null && !needle) return null;
  return ({ unit }) =>
    (filter.standing === null || standing(unit) === filter.standing) && (!needle || searched(unit).includes(needle));
}

function searched({ commit, subject, part, paths, reason }: SliceUnitState): string {
  return [commit, subject, part ?? "", ...paths, reason].join("\n").toLocaleLowerCase();
}

/** A need of one unit of another. */
export interface Need {
  /** The unit that needs. */
  user: number;
  provider: number;
  kind: "text" | "name";
  /** Of names: the first of them, and how many there are more. */
  names: string[];
  more: number;
}

export function needsOf(state: Pick<SliceState, "text_needs" | "name_needs">): Need[] {
  return [
    ...state.text_needs.map(([user, provider]) => ({ user, provider, kind: "text" as const, names: [], more: 0 })),
    ...state.name_needs.map(({ user, provider, names, more }) => ({
      user,
      provider,
      kind: "name" as const,
      names,
      more,
    })),
  ];
}

/** The names of a need, in a line. */
export function namesOf({ names, more }: Need): string {
  const rest = more > 0 ? ` and ${words.number(more)} more` : "";
  return names.map((name) => plain.value(name)).join(", ") + rest;
}

/** The units that are drawn, oldest first, and the number of those that are left out for want of room. */
export interface Drawn {
  places: number[];
  left: number;
}

/** The slice with what it has to do with, or all units; at most so many, those of the slice first. */
export function drawnUnits(
  units: readonly SliceUnitState[],
  needs: readonly Need[],
  all: boolean,
  most: number,
): Drawn {
  const near = new Set<number>();
  for (const { user, provider } of needs) {
    if (units[user]?.stays) near.add(provider);
    if (units[provider]?.stays) near.add(user);
  }
  const rank = (place: number) => (units[place]?.stays ? 0 : near.has(place) ? 1 : 2);
  const wanted = [...units.keys()].filter((place) => all || rank(place) < 2);
  const taken = [...wanted].sort((a, b) => rank(a) - rank(b) || a - b).slice(0, most);
  return { places: taken.sort((a, b) => a - b), left: wanted.length - taken.length };
}
