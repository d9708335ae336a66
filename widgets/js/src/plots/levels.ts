// The levels of an impact: how many statements each leaves, and when it was whole.

import { dot, lineY, pointerX, ruleY, text, tip } from "@observablehq/plot";
import * as plain from "../plain";
import type { ImpactLevelState } from "../types";
import * as words from "../words";
import { COLOR, greatest, whole, type Figure } from "./figure";

interface Measured extends ImpactLevelState {
  milliseconds: number;
}

/** Null where nobody measured the levels. */
export function levelsPlot(levels: readonly ImpactLevelState[]): Figure | null {
  const measured = levels
    .filter((one): one is Measured => one.milliseconds !== null)
    .map((one) => ({ ...one, name: plain.value(one.name) }));
  const [first, last] = [measured[0], measured.at(-1)];
  if (!first || !last) return null;
  const end = Math.max(1, last.milliseconds * 1.08);
  const most = greatest(
    measured.map((one) => one.impacted),
    1,
  );
  const told = (one: Measured) => `${one.name} ${words.number(one.impacted)} after ${words.duration(one.milliseconds)}`;
  return {
    title: "Size against time",
    description: `Impacted statements: ${measured.map(told).join(", ")}.`,
    legend: [
      { text: "impacted statements", color: COLOR.line, shape: "line" },
      { text: "a whole level", color: COLOR.differs, shape: "circle" },
    ],
    marks: [
      ruleY([0], { stroke: "var(--tcw-rule)" }),
      lineY([...measured, { ...last, milliseconds: end }], {
        x: "milliseconds",
        y: "impacted",
        curve: "step-after",
        stroke: COLOR.line,
        strokeWidth: 2,
      }),
      dot(measured, { x: "milliseconds", y: "impacted", fill: COLOR.differs, r: 4 }),
      text(measured, {
        x: "milliseconds",
        y: "impacted",
        text: "name",
        dx: 7,
        dy: -9,
        textAnchor: "start",
        fill: "var(--tcw-ink)",
      }),
      tip(measured, pointerX({ x: "milliseconds", y: "impacted", title: told })),
    ],
    options: {
      height: 190,
      x: { label: "Milliseconds", domain: [0, end], ...whole(0, end, 6) },
      y: { label: "Impacted statements", grid: true, domain: [0, most * 1.15], ...whole(0, most, 4) },
    },
    numbers: measured.map(({ name, impacted, compared, milliseconds }) => ({
      level: name,
      impacted,
      compared,
      milliseconds,
    })),
    file: "impact_levels",
  };
}
