// The plots of a study: executions until the verdict, and coverage, over all changes.

import { binX, rectY, ruleY, type RectYOptions } from "@observablehq/plot";
import type { StudyRow } from "../types";
import * as words from "../words";
import type { Entry, Figure } from "./figure";

const VERDICTS = ["changing", "likely_preserving", "inconclusive", "identical", "error"] as const;

export function studyPlots(rows: StudyRow[]): Figure[] {
  return [
    histogram(
      rows,
      "Executions until the verdict",
      "Executions",
      (row) => row.executions,
      "study_executions",
      undefined,
    ),
    histogram(
      rows,
      "Coverage of both versions",
      "Covered (%)",
      (row) => (row.coverage === null ? null : row.coverage * 100),
      "study_coverage",
      [0, 100],
    ),
  ].filter((figure) => figure.numbers.length > 0);
}

function histogram(
  rows: StudyRow[],
  title: string,
  label: string,
  value: (row: StudyRow) => number | null,
  file: string,
  domain: [number, number] | undefined,
): Figure {
  const points = rows.flatMap((row) => {
    const x = value(row);
    return x === null ? [] : [{ x, verdict: row.verdict, name: words.verdictName(row.verdict), id: row.id }];
  });
  const present = VERDICTS.filter((verdict) => points.some((one) => one.verdict === verdict));
  const sorted = points.map((one) => one.x).sort((a, b) => a - b);
  const legend: Entry[] = present.map((verdict) => ({
    text: `${words.icon(verdict)} ${words.verdictName(verdict)}`,
    color: color(verdict),
    shape: "box",
  }));
  return {
    title,
    description: `${words.count(points.length, "change")}; half of them ${Math.round(sorted[Math.floor(sorted.length / 2)] ?? 0)} or less.`,
    legend,
    marks: [
      rectY(
        points,
        binX<RectYOptions>(
          { y: "count" },
          {
            x: "x",
            fill: (one: { verdict: StudyRow["verdict"] }) => color(one.verdict),
            order: present.map(color),
            thresholds: 20,
            ...(domain ? { domain } : {}),
            inset: 0.5,
            title: (one: { name: string }) => one.name,
            tip: true,
          },
        ),
      ),
      ruleY([0], { stroke: "var(--tcw-rule)" }),
    ],
    options: {
      x: { label, ...(domain ? { domain } : {}) },
      y: { label: "Changes", grid: true },
      color: { type: "identity" },
    },
    numbers: points.map((one) => ({ change: one.id, verdict: one.name, [label.toLowerCase()]: one.x })),
    file,
  };
}

function color(verdict: StudyRow["verdict"]): string {
  return `var(--tcw-${words.tone(verdict).replace("tcw-", "")}-plot)`;
}
