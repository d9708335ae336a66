// A line as a link: a part of the address of a page, and the text that names it elsewhere.

import type { PairState, Version, VersionNumber } from "./types";
import * as words from "./words";

export interface LinePlace {
  pair: number;
  version: VersionNumber;
  /** The number in the version's own text, counted from 1. */
  line: number;
}

/** `#pair1-new-12`: pairs are counted from 1 and lines as in the file. A line of another file is named with its place
 * among the functions that are listed: `#pair1-new-part2-12`. */
export function fragment({ pair, version, line }: LinePlace, of: PairState): string {
  return `#pair${pair + 1}-${words.versionName(version)}-${nameIn(version === 0 ? of.old : of.new, line)}`;
}

function nameIn(version: Version, line: number): string {
  const part = words.partOf(version, line);
  const elsewhere = part && part.elsewhere !== null ? `part${version.parts.indexOf(part) + 1}-` : "";
  return `${elsewhere}${words.lineInFile(version, line)}`;
}

/** The line that a fragment names, if it is there. */
export function placeOf(fragment: string, pairs: PairState[]): LinePlace | null {
  const found = /^#pair(\d{1,9})-(old|new)-((?:part\d{1,9}-)?\d{1,9})$/.exec(fragment);
  if (!found) return null;
  const pair = Number(found[1]) - 1;
  const version = found[2] === "old" ? 0 : 1;
  const of = pairs[pair];
  const own = version === 0 ? of?.old : of?.new;
  const line = own?.lines.find((one) => nameIn(own, one.number) === found[3]);
  return line ? { pair, version, line: line.number } : null;
}

/** `shop.price:12 (new)`, where there is no page to link to. */
export function spokenPlace({ version, line }: LinePlace, of: PairState): string {
  const own = version === 0 ? of.old : of.new;
  return `${of.name}:${words.lineName(own, line)} (${words.versionName(version)})`;
}
