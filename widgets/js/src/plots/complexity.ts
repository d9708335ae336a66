// Complexity against reach: how much of a change ran, by the number of decisions in its new version.

import { dot, link, pointer, ruleY, tip } from "@observablehq/plot";
import type { StudyRow, Verdict } from "../types";
import * as words from "../words";
import { COLOR, greatest, sample, whole, type Entry, type Figure } from "./figure";
import { color } from "./fillings";

/** The maximum number of drawn points. More would only cover each other. */
const POINTS = 1500;
/** Points on top come last. */
const SIGNS: [Verdict, Entry["shape"]][] = [
  ["identical", "ring"],
  ["inconclusive", "cross"],
  ["likely_preserving", "circle"],
  ["changing", "diamond"],
];

interface Point {
  id: string;
  verdict: Verdict;
  complexity: number;
  reach: number;
}

/** Null if no change that ran has a complexity. */
export function complexityPlot(rows: StudyRow[]): Figure | null {
  const points = rows.flatMap(({ id, verdict, executions, complexity, coverage }): Point[] =>
    executions > 0 && complexity != null ? [{ id, verdict, complexity, reach: coverage * 100 }] : [],
  );
  if (points.length === 0) return null;
  const most = greatest(
    points.map((one) => one.complexity),
    2,
  );
  if (new Set(points.map((one) => `${one.complexity} ${one.reach}`)).size === 1) return null;
  const medians = bins(points, most);
  const [x, y] = ["complexity", "reach"];
  const present = SIGNS.filter(([verdict]) => points.some((one) => one.verdict === verdict));
  const inOrder = words.VERDICTS.flatMap((verdict) => present.filter(([one]) => one === verdict));
  const dots = present.map(([verdict, sign]) => {
    const of = sample(
      points.filter((one) => one.verdict === verdict),
      POINTS,
    );
    const solid = sign === "diamond" || sign === "circle";
    const symbol = sign === "diamond" ? "diamond" : sign === "cross" ? "times" : "circle";
    return dot(of, { x, y, symbol, r: 3, [solid ? "fill" : "stroke"]: color(verdict), clip: false });
  });
  const title = (one: Point) =>
    `complexity ${one.complexity}, ${words.percent(one.reach / 100)} covered\n${words.verdictName(one.verdict)}`;
  return {
    title: "Complexity against reach",
    description: `${words.count(points.length, "change")}; half of them have a complexity of ${median(points.map((one) => one.complexity))} or less, and half of them cover ${words.percent(median(points.map((one) => one.reach)) / 100)} of their lines or less.`,
    legend: [
      ...inOrder.map(([verdict, sign]) => ({
        text: `${words.icon(verdict)} ${words.verdictName(verdict)}`,
        color: color(verdict),
        shape: sign,
      })),
      ...(medians.length > 0 ? [{ text: "median of a range", color: COLOR.line, shape: "line" as const }] : []),
    ],
    marks: [
      ruleY([0], { stroke: "var(--tcw-rule)" }),
      ...dots,
      link(medians, { x1: "from", x2: "to", y1: "reach", y2: "reach", stroke: COLOR.line, strokeWidth: 3 }),
      tip(sample(points, POINTS), pointer({ x, y, title })),
    ],
    options: {
      x: { label: "Cyclomatic complexity of the new version", domain: [0.5, most + 0.5], ...whole(0, most) },
      y: { label: "Covered (%)", domain: [0, 100], grid: true },
    },
    numbers: points.map((one) => ({
      change: one.id,
      verdict: words.verdictName(one.verdict),
      complexity: one.complexity,
      "covered (%)": one.reach,
    })),
    file: "study_complexity",
  };
}

/** The maximum number of ranges with a median, and the fewest changes whose median says something. */
const RANGES = 8;
const ENOUGH = 5;

export interface Range {
  from: number;
  to: number;
  reach: number;
}

/** The median reach in ranges of complexity. Ranges with few changes have none. */
export function bins(points: Pick<Point, "complexity" | "reach">[], most: number): Range[] {
  const step = Math.ceil(most / RANGES);
  return Array.from({ length: Math.ceil(most / step) }, (_, index) => index * step + 0.5).flatMap((from) => {
    const inside = points.filter(({ complexity }) => from < complexity && complexity < from + step);
    return inside.length < ENOUGH ? [] : [{ from, to: from + step, reach: median(inside.map((one) => one.reach)) }];
  });
}

function median(values: number[]): number {
  return values.sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
