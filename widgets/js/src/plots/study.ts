// The plots of a study: verdicts by kind, by project (`groups.ts`) and over time (`time.ts`), executions until the verdict and until
// the first difference, coverage, and complexity against reach, over all changes. What would be a single bar is said in
// a sentence.

import { rectY, ruleY, tip, pointerX } from "@observablehq/plot";
import type { StudyRow, Verdict } from "../types";
import * as words from "../words";
import { complexityPlot } from "./complexity";
import { greatest, whole, type Figure, type Figures } from "./figure";
import { color, fillings, verdictBoxes } from "./fillings";
import { groupsPlot } from "./groups";
import { timePlot } from "./time";

/** The maximum number of bars. */
const BARS = 20;

export function studyPlots(rows: StudyRow[]): Figures {
  const made = [
    groupsPlot(rows, { title: "Verdicts by kind of change", of: (row) => row.kind, file: "study_kinds" }),
    groupsPlot(rows, { title: "Verdicts by project", of: (row) => row.project, file: "study_projects" }),
    timePlot(rows),
    counted(rows, {
      title: "Executions until the verdict",
      label: "Executions",
      value: (row) => row.executions,
      flat: (count, value) => `${count} took ${value} executions until the verdict.`,
      least: 0,
      file: "study_executions",
    }),
    counted(
      rows.filter((row) => row.first_difference != null),
      {
        title: "Executions until the first difference",
        label: "First execution that differs",
        value: (row) => row.first_difference ?? 0,
        flat: (count, value) => `${count} first differed in execution ${value}.`,
        least: 1,
        file: "study_first_difference",
      },
    ),
    // A change that executed nothing covered nothing.
    coverage(rows.filter((row) => row.executions > 0)),
    complexityPlot(rows),
  ];
  return {
    figures: made.filter((one): one is Figure => one !== null && typeof one !== "string"),
    sentences: made.filter((one) => typeof one === "string"),
  };
}

interface Described extends Omit<Histogram, "edges" | "ticks" | "range" | "text"> {
  /** What is said in place of a single bar: how many changes have which value. */
  flat(count: string, value: string): string;
}

/** Whole numbers from the least one on, each in the middle of its bar; null if there are none. */
function counted(rows: StudyRow[], { least, flat, ...rest }: Described & { least: number }): Figure | string | null {
  if (rows.length === 0) return null;
  const values = new Set(rows.map(rest.value));
  const [value = 0] = values;
  if (values.size === 1) return flat(all(rows), words.number(value));
  const most = greatest(values, 1);
  const count = most + 1 - least;
  const step = Math.ceil(count / BARS);
  return histogram(rows, {
    ...rest,
    text: words.number,
    edges: Array.from({ length: Math.ceil(count / step) + 1 }, (_, index) => least + index * step - 0.5),
    ticks: whole(0, most),
    range: (from, to) => (step === 1 ? String(from + 0.5) : `${from + 0.5} to ${to - 0.5}`),
  });
}

function coverage(ran: StudyRow[]): Figure | string | null {
  if (ran.length === 0) return null;
  const covered = new Set(ran.map((row) => row.coverage));
  const [value = 0] = covered;
  if (covered.size === 1)
    return `${all(ran)} that ran ${ran.length === 1 ? "covers" : "cover"} ${words.percent(value)} of their lines.`;
  const percents = Array.from({ length: BARS + 1 }, (_, index) => (index * 100) / BARS);
  return histogram(ran, {
    title: "Coverage of both versions",
    label: "Covered (%)",
    value: (row) => row.coverage * 100,
    text: (value) => words.percent(value / 100),
    edges: percents,
    ticks: {},
    range: (from, to) => `${from} to ${to} %`,
    file: "study_coverage",
  });
}

/** `All 12 changes`, `The 1 change`. */
function all(rows: StudyRow[]): string {
  return `${rows.length === 1 ? "The" : "All"} ${words.count(rows.length, "change")}`;
}

export interface Bar {
  from: number;
  to: number;
  verdict: Verdict;
  count: number;
}

/** How many of each verdict lie between two edges. A value at an edge is above it; at the last one, below. */
export function bars(points: { x: number; verdict: Verdict }[], edges: number[]): Bar[] {
  return edges.slice(1).flatMap((to, index) => {
    const from = edges[index] ?? to;
    const isLast = index === edges.length - 2;
    const inside = points.filter(({ x }) => x >= from && (x < to || (isLast && x === to)));
    return words.VERDICTS.map((verdict) => ({
      from,
      to,
      verdict,
      count: inside.filter((one) => one.verdict === verdict).length,
    })).filter((bar) => bar.count > 0);
  });
}

interface Histogram {
  title: string;
  label: string;
  value(row: StudyRow): number;
  text(value: number): string;
  edges: number[];
  ticks: object;
  range(from: number, to: number): string;
  file: string;
}

function histogram(rows: StudyRow[], { title, label, value, text, edges, ticks, range, file }: Histogram): Figure {
  const points = rows.map((row) => ({ x: value(row), verdict: row.verdict, id: row.id }));
  const drawn = bars(points, edges);
  const filled = fillings();
  const heights = new Map<number, number>();
  for (const { from, count } of drawn) heights.set(from, (heights.get(from) ?? 0) + count);
  const sorted = points.map((one) => one.x).sort((a, b) => a - b);
  const said = drawn.map(({ from, to }) => ({ from, to, high: heights.get(from) ?? 0 }));
  const described = ({ from, to }: { from: number; to: number }) =>
    [
      range(from, to),
      ...drawn.filter((bar) => bar.from === from).map((bar) => `${words.verdictName(bar.verdict)}: ${bar.count}`),
    ].join("\n");
  return {
    title,
    description: `${words.count(points.length, "change")}; half of them ${text(sorted[Math.floor(sorted.length / 2)] ?? 0)} or less.`,
    legend: verdictBoxes(
      points.map((one) => one.verdict),
      filled,
    ),
    marks: [
      () => filled.definitions(),
      rectY(drawn, {
        x1: "from",
        x2: "to",
        y: "count",
        fill: (bar: Bar) => filled.fill(bar.verdict),
        stroke: (bar: Bar) => color(bar.verdict),
        inset: 1,
      }),
      tip(said, pointerX({ x: (bar: Bar) => (bar.from + bar.to) / 2, y: "high", title: described })),
      ruleY([0], { stroke: "var(--tcw-rule)" }),
    ],
    options: {
      x: { label, domain: [edges[0] ?? 0, edges.at(-1) ?? 1], ...ticks },
      y: { label: "Changes", grid: true, ...whole(0, Math.max(1, ...heights.values()), 5) },
      color: { type: "identity" },
    },
    numbers: points.map((one) => ({
      change: one.id,
      verdict: words.verdictName(one.verdict),
      [label.toLowerCase()]: one.x,
    })),
    file,
  };
}
