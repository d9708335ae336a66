// The plots of a study: executions until the verdict and until the first difference, coverage, and complexity against
// reach, over all changes.

import { rectY, ruleY, tip, pointerX } from "@observablehq/plot";
import type { StudyRow, Verdict } from "../types";
import * as words from "../words";
import { complexityPlot } from "./complexity";
import { whole, type Figure } from "./figure";
import { color, fillings } from "./fillings";

const VERDICTS = ["changing", "likely_preserving", "inconclusive", "identical"] as const;
/** The maximum number of bars. */
const BARS = 20;

export function studyPlots(rows: StudyRow[]): Figure[] {
  const figures = [
    counted(rows, {
      title: "Executions until the verdict",
      label: "Executions",
      value: (row) => row.executions,
      least: 0,
      file: "study_executions",
    }),
    counted(
      rows.filter((row) => row.first_difference != null),
      {
        title: "Executions until the first difference",
        label: "First execution that differs",
        value: (row) => row.first_difference ?? 0,
        least: 1,
        file: "study_first_difference",
      },
    ),
    // A change that executed nothing covered nothing.
    coverage(rows.filter((row) => row.executions > 0)),
    complexityPlot(rows),
  ];
  return figures.filter((figure) => figure !== null);
}

interface Counted extends Pick<Histogram, "title" | "label" | "value" | "file"> {
  least: number;
}

/** Whole numbers from the least one on, each in the middle of its bar; null if there are none. */
function counted(rows: StudyRow[], { least, ...rest }: Counted): Figure | null {
  if (rows.length === 0) return null;
  const most = Math.max(1, ...rows.map(rest.value));
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

function coverage(ran: StudyRow[]): Figure | null {
  if (ran.length === 0) return null;
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
    return VERDICTS.map((verdict) => ({
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
  const present = VERDICTS.filter((verdict) => points.some((one) => one.verdict === verdict));
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
    legend: present.map((verdict) => ({
      text: `${words.icon(verdict)} ${words.verdictName(verdict)}`,
      color: color(verdict),
      fill: filled.fill(verdict),
      shape: "box",
    })),
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
