// Verdicts by the time of the commit.

import { rectY, ruleY } from "@observablehq/plot";
import type { StudyRow, Verdict } from "../types";
import * as words from "../words";
import { greatest, whole, type Figure } from "./figure";
import { color, fillings, verdictBoxes } from "./fillings";
import { columns, emptyTally, occurring, size, stack, sum, tallies } from "./tally";

/** The maximum number of days, months of 31 days, or years from the first to the last commit. */
const PERIODS = 40;
const DAY = 86_400_000;

const iso = (time: number) => new Date(time).toISOString().slice(0, 10);
const digits = (value: number, count: number) => String(value).padStart(count, "0");

/** A length of time whose periods have consecutive numbers. */
interface Span {
  name: string;
  number(time: number): number;
  text(number: number): string;
  /** As many names of periods as a narrow drawing has room for. */
  labels: number;
}

const DAYS: Span = { name: "day", number: (time) => time / DAY, text: (day) => iso(day * DAY), labels: 3 };
const MONTHS: Span = {
  name: "month",
  number: (time) => new Date(time).getUTCFullYear() * 12 + new Date(time).getUTCMonth(),
  text: (month) => `${digits(Math.floor(month / 12), 4)}-${digits((month % 12) + 1, 2)}`,
  labels: 4,
};
const YEARS: Span = {
  name: "year",
  number: (time) => new Date(time).getUTCFullYear(),
  text: (year) => digits(year, 4),
  labels: 4,
};

/** Changes over time, stacked by verdict; a sentence if they are too far apart. Null if all have one date, or none. */
export function timePlot(rows: StudyRow[]): Figure | string | null {
  const byDay = tallies(rows, day);
  if (byDay.size < 2) return null;
  const days = [...byDay.keys()].sort((a, b) => a - b);
  const [first = 0, last = 0] = [days[0], days.at(-1)];
  const apart = (last - first) / DAY;
  const span = apart <= PERIODS ? DAYS : apart <= 31 * PERIODS ? MONTHS : YEARS;
  const start = span.number(first);
  const end = span.number(last);
  if (span === YEARS && end - start > PERIODS) return words.tooManyYears(PERIODS);
  const periods = Array.from({ length: end - start + 1 }, (_, index) => {
    const inside = days.filter((time) => span.number(time) === start + index);
    return { name: span.text(start + index), tally: sum(inside.map((time) => byDay.get(time) ?? emptyTally())) };
  });
  const bars = periods.flatMap(({ name, tally }, index) => stack(tally).map((part) => ({ ...part, name, index })));
  const all = sum(byDay.values());
  const filled = fillings();
  const step = Math.ceil(periods.length / span.labels);
  return {
    title: "Verdicts over time",
    description: `${words.count(size(all), "change")} from ${iso(first)} to ${iso(last)}, by ${span.name} of the commit.`,
    legend: verdictBoxes(occurring(all), filled),
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
        title: (bar: (typeof bars)[number]) => `${bar.name}\n${words.verdictName(bar.verdict)}: ${bar.to - bar.from}`,
      }),
      ruleY([0], { stroke: "var(--tcw-rule)" }),
    ],
    options: {
      x: {
        label: `Committed in the ${span.name}`,
        domain: [0, periods.length],
        ticks: periods.map((_, index) => index + 0.5).filter((_, index) => index % step === 0),
        tickFormat: (at: number) => periods[Math.floor(at)]?.name ?? "",
      },
      y: {
        label: "Changes",
        grid: true,
        ...whole(
          0,
          greatest(
            periods.map(({ tally }) => size(tally)),
            1,
          ),
          5,
        ),
      },
      color: { type: "identity" },
    },
    numbers: periods.map(({ name, tally }) => ({ [span.name]: name, ...columns(tally) })),
    file: "study_time",
  };
}

/** The day of a commit as a time; null if it is not known. */
function day({ date }: StudyRow): number | null {
  const written = /^\d{4}-\d{2}-\d{2}/.exec(date ?? "");
  const time = written ? Date.parse(written[0]) : NaN;
  return Number.isNaN(time) ? null : time;
}
