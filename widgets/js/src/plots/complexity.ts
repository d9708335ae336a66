// Complexity against reach: how much of a change ran, by the number of decisions in its new version.

import { dot, lineY, pointer, ruleY, tip } from "@observablehq/plot";
import type { StudyRow, Verdict } from "../types";
import * as words from "../words";
import { COLOR, sample, whole, type Entry, type Figure } from "./figure";
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
  const levels = [...new Set(points.map((one) => one.complexity))].sort((a, b) => a - b);
  const medians = levels.map((complexity) => ({
    complexity,
    reach: median(points.filter((one) => one.complexity === complexity).map((one) => one.reach)),
  }));
  const [x, y] = ["complexity", "reach"];
  const most = Math.max(2, ...levels);
  const present = SIGNS.filter(([verdict]) => points.some((one) => one.verdict === verdict));
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
      ...present.map(([verdict, sign]) => ({
        text: `${words.icon(verdict)} ${words.verdictName(verdict)}`,
        color: color(verdict),
        shape: sign,
      })),
      { text: "median", color: COLOR.line, shape: "line" },
    ],
    marks: [
      ruleY([0], { stroke: "var(--tcw-rule)" }),
      ...dots,
      lineY(medians, { x, y, stroke: COLOR.line, strokeWidth: 2 }),
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

function median(values: number[]): number {
  return values.sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
