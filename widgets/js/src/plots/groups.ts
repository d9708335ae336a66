// Verdicts of groups of changes: by kind and by project.

import { barX, ruleX, text } from "@observablehq/plot";
import * as plain from "../plain";
import type { StudyRow, Verdict } from "../types";
import * as words from "../words";
import type { Figure } from "./figure";
import { color, fillings, verdictBoxes } from "./fillings";
import { columns, occurring, size, stack, sum, tallies } from "./tally";

/** The maximum number of groups, the largest ones; the others are one together. */
const GROUPS = 10;
const OTHERS = "others";
/** The longest name that is drawn whole. */
const NAME = 22;

export interface Grouping {
  title: string;
  of(row: StudyRow): string | null;
  file: string;
}

/** The share of each verdict in each group. Null if there are fewer than two groups. */
export function groupsPlot(rows: StudyRow[], { title, of, file }: Grouping): Figure | null {
  const found = tallies(rows, of);
  if (found.size < 2) return null;
  const largest = [...found].sort(([a, many], [b, more]) => size(more) - size(many) || (a < b ? -1 : 1));
  const own = largest.length > GROUPS ? GROUPS - 1 : GROUPS;
  const groups = largest.slice(0, own).map(([name, tally]) => ({ name: short(name), tally }));
  const others = largest.slice(own).map(([, tally]) => tally);
  if (others.length > 0) groups.push({ name: OTHERS, tally: sum(others) });
  const bars = groups.flatMap(({ tally }, group) => {
    const percent = (count: number) => (100 * count) / size(tally);
    return stack(tally).map(({ verdict, from, to }) => ({ group, verdict, from: percent(from), to: percent(to) }));
  });
  const filled = fillings();
  const shares = groups.map(({ name, tally }) => ({ name, changes: size(tally), changing: tally.changing }));
  const names = shares.map(({ name, changes }) => `${name} (${words.number(changes)})`);
  return {
    title,
    description: `${words.groupsSentence(found.size, shares)}.`,
    legend: verdictBoxes(occurring(sum(found.values())), filled),
    marks: [
      () => filled.definitions(),
      barX(bars, {
        x1: "from",
        x2: "to",
        y: "group",
        fill: (bar: { verdict: Verdict }) => filled.fill(bar.verdict),
        stroke: (bar: { verdict: Verdict }) => color(bar.verdict),
        insetTop: 2,
        insetBottom: 2,
        title: (bar: (typeof bars)[number]) =>
          `${names[bar.group]}\n${words.verdictName(bar.verdict)}: ${words.percent((bar.to - bar.from) / 100)}`,
      }),
      text(names, {
        x: 0,
        y: (_: string, index: number) => index,
        text: (name: string) => name,
        textAnchor: "end",
        dx: -6,
        fill: "var(--tcw-ink)",
      }),
      ruleX([0], { stroke: "var(--tcw-rule)" }),
    ],
    options: {
      marginLeft: 12 + 6.4 * Math.max(...names.map((name) => name.length)),
      x: { label: "Changes (%)", domain: [0, 100], grid: true, ticks: 5 },
      y: { axis: null, domain: groups.map((_, index) => index) },
      color: { type: "identity" },
    },
    numbers: groups.map(({ name, tally }) => ({ group: name, ...columns(tally) })),
    file,
  };
}

/** A name from the data under comparison, as far as a drawing has room for it. */
function short(name: string): string {
  const shown = plain.value(name);
  return shown.length > NAME ? `${shown.slice(0, NAME - 1)}…` : shown;
}
