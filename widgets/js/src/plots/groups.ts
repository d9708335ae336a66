// Verdicts of groups of changes: by kind, by project, and by the time of the commit.

import { barX, rectY, ruleX, ruleY, text } from "@observablehq/plot";
import * as plain from "../plain";
import type { StudyRow, Verdict } from "../types";
import * as words from "../words";
import { whole, type Figure } from "./figure";
import { color, fillings, verdictBoxes, VERDICTS } from "./fillings";

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
  const counts = new Map<string, number>();
  const grouped = rows.filter((row) => of(row) !== null);
  for (const row of grouped) counts.set(of(row) ?? "", (counts.get(of(row) ?? "") ?? 0) + 1);
  if (counts.size < 2) return null;
  const largest = [...counts].sort(([a, many], [b, more]) => more - many || (a < b ? -1 : 1));
  const own = new Set(largest.slice(0, largest.length > GROUPS ? GROUPS - 1 : GROUPS).map(([name]) => name));
  const groups = [...own].map((name) => ({ name: short(name), rows: grouped.filter((row) => of(row) === name) }));
  const others = grouped.filter((row) => !own.has(of(row) ?? ""));
  if (others.length > 0) groups.push({ name: OTHERS, rows: others });
  const bars = groups.flatMap(({ name, rows: inside }, group) => {
    let before = 0;
    return VERDICTS.flatMap((verdict) => {
      const share = (100 * inside.filter((row) => row.verdict === verdict).length) / inside.length;
      const bar = { group, name, verdict, from: before, to: before + share };
      before += share;
      return share > 0 ? [bar] : [];
    });
  });
  const filled = fillings();
  const changing = (inside: StudyRow[]) => inside.filter((row) => row.verdict === "changing").length / inside.length;
  const most = groups.reduce((best, one) => (changing(one.rows) > changing(best.rows) ? one : best));
  const names = groups.map(({ name, rows: inside }) => `${name} (${words.number(inside.length)})`);
  return {
    title,
    description: `${words.count(grouped.length, "change")} in ${words.count(counts.size, "group")}; the largest share of changing has ${most.name}, ${words.percent(changing(most.rows))}.`,
    legend: verdictBoxes(
      grouped.map((row) => row.verdict),
      filled,
    ),
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
    numbers: groups.map(({ name, rows: inside }) => ({ group: name, ...verdictCounts(inside) })),
    file,
  };
}

/** A name from the data under comparison, as far as a drawing has room for it. */
function short(name: string): string {
  const shown = plain.value(name);
  return shown.length > NAME ? `${shown.slice(0, NAME - 1)}…` : shown;
}

function verdictCounts(rows: StudyRow[]): Record<string, number> {
  return Object.fromEntries(
    VERDICTS.map((verdict) => [words.verdictName(verdict), rows.filter((row) => row.verdict === verdict).length]),
  );
}

/** The maximum number of periods. */
const PERIODS = 40;
/** From the longest to the shortest: how much of an ISO date names the period, and how many days one has. */
const SPANS = [
  { name: "year", letters: 4, days: 366 },
  { name: "month", letters: 7, days: 31 },
  { name: "day", letters: 10, days: 1 },
] as const;

/** Changes over time, stacked by verdict. Null if all dates are in one period, or there are none. */
export function timePlot(rows: StudyRow[]): Figure | null {
  const dated = rows.flatMap((row) => {
    const time = /^\d{4}-\d{2}-\d{2}/.test(row.date ?? "") ? Date.parse((row.date ?? "").slice(0, 10)) : NaN;
    return Number.isNaN(time) ? [] : [{ time, row }];
  });
  const times = dated.map((one) => one.time);
  const [first, last] = [Math.min(...times), Math.max(...times)];
  if (dated.length === 0 || first === last) return null;
  const fits = ({ days }: { days: number }) => (last - first) / (days * DAY) <= PERIODS;
  const span = SPANS.findLast(fits) ?? SPANS[0];
  const periods = periodsBetween(first, last, span.letters);
  const bars = periods.flatMap((period, index) => {
    const inside = dated.filter(({ time }) => iso(time).startsWith(period)).map(({ row }) => row);
    let before = 0;
    return VERDICTS.flatMap((verdict) => {
      const count = inside.filter((row) => row.verdict === verdict).length;
      const bar = { index, period, verdict, from: before, to: before + count, count };
      before += count;
      return count > 0 ? [bar] : [];
    });
  });
  const filled = fillings();
  const most = Math.max(...bars.map((bar) => bar.to));
  const step = Math.ceil(periods.length / 6);
  return {
    title: "Verdicts over time",
    description: `${words.count(dated.length, "change")} from ${iso(first)} to ${iso(last)}, by ${span.name} of the commit.`,
    legend: verdictBoxes(
      dated.map(({ row }) => row.verdict),
      filled,
    ),
    marks: [
      () => filled.definitions(),
      rectY(bars, {
        x1: "index",
        x2: (bar: { index: number }) => bar.index + 1,
        y1: "from",
        y2: "to",
        inset: 1,
        fill: (bar: { verdict: Verdict }) => filled.fill(bar.verdict),
        stroke: (bar: { verdict: Verdict }) => color(bar.verdict),
        title: (bar: (typeof bars)[number]) => `${bar.period}\n${words.verdictName(bar.verdict)}: ${bar.count}`,
      }),
      ruleY([0], { stroke: "var(--tcw-rule)" }),
    ],
    options: {
      x: {
        label: `Committed in the ${span.name}`,
        domain: [0, periods.length],
        ticks: periods.map((_, index) => index + 0.5).filter((_, index) => index % step === 0),
        tickFormat: (at: number) => periods[Math.floor(at)] ?? "",
      },
      y: { label: "Changes", grid: true, ...whole(0, most, 5) },
      color: { type: "identity" },
    },
    numbers: periods.map((period) => ({
      [span.name]: period,
      ...verdictCounts(dated.filter(({ time }) => iso(time).startsWith(period)).map(({ row }) => row)),
    })),
    file: "study_time",
  };
}

const DAY = 86_400_000;
const iso = (time: number) => new Date(time).toISOString().slice(0, 10);

/** All periods from one time to another, also those without a change. */
function periodsBetween(first: number, last: number, letters: number): string[] {
  const found = new Set<string>();
  for (let time = first; time <= last; time += DAY) found.add(iso(time).slice(0, letters));
  return [...found];
}
