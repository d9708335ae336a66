// The search for a slice: the size of what was tried in each run of the tests, and of the best slice so far.

import { dot, lineY, pointerX, ruleY, tip } from "@observablehq/plot";
import { unitNoun } from "../slices";
import type { SliceProgress, SliceState, SliceStep } from "../types";
import * as words from "../words";
import { COLOR, greatest, sample, whole, type Figure } from "./figure";

/** The maximum number of marks that are drawn. */
const RUNS = 1500;
const PASSED = "var(--tcw-preserving-plot)";

/** What the rules of the paper do. */
const RULES: Record<string, string> = {
  INIT: "INIT: the whole range",
  "PAR-RAND": "PAR-RAND: a part by chance",
  "PAR-SIG": "PAR-SIG: those that matter least go",
};

type Run = SliceStep & { run: number };

export function slicePlot(state: Pick<SliceState, "steps" | "is_split" | "outcomes">): Figure | null {
  const noun = unitNoun(state);
  const runs: Run[] = state.steps.map((step, index) => ({ ...step, run: index + 1 }));
  const [first, last] = [runs[0], runs.at(-1)];
  if (!first || !last) return null;
  const passed = runs.filter((one) => one.passed).length;
  const [held, not] = state.outcomes;
  const title = (one: Run) =>
    [
      `Run ${words.number(one.run)}, ${RULES[one.rule] ?? one.rule}`,
      `tried ${words.count(one.tried, noun)}: ${one.passed ? `● ${held}` : `✕ ${not}`}`,
      `best slice so far: ${words.number(one.kept)}`,
    ].join("\n");
  const marks = sample(runs, RUNS);
  const of = (passed: boolean) => marks.filter((one) => one.passed === passed);
  const most = greatest(
    runs.map((one) => Math.max(one.tried, one.kept)),
    1,
  );
  return {
    title: "The search",
    description: `From ${words.count(first.kept, noun)} to ${words.number(last.kept)} in ${words.count(runs.length, "run")} of the tests; in ${words.number(passed)} of them ${held}.`,
    legend: [
      { text: "best slice so far", color: COLOR.line, shape: "line" },
      { text: `tried, ${held}`, color: PASSED, shape: "circle" },
      { text: `tried, ${not}`, color: COLOR.differs, shape: "cross" },
    ],
    marks: [
      ruleY([0], { stroke: "var(--tcw-rule)" }),
      lineY([...runs, { ...last, run: last.run + 0.5 }], {
        x: "run",
        y: "kept",
        curve: "step-after",
        stroke: COLOR.line,
        strokeWidth: 2,
      }),
      dot(of(true), { x: "run", y: "tried", fill: PASSED, r: 3.5 }),
      dot(of(false), { x: "run", y: "tried", symbol: "times", stroke: COLOR.differs, strokeWidth: 1.5, r: 3.5 }),
      tip(marks, pointerX({ x: "run", y: "tried", title })),
    ],
    options: {
      x: { label: "Run of the tests", domain: [0.5, runs.length + 0.5], ...whole(1, Math.max(2, runs.length)) },
      y: { label: `${noun[0]?.toUpperCase()}${noun.slice(1)}s`, grid: true, domain: [0, most], ...whole(0, most, 5) },
    },
    numbers: runs.map(({ run, rule, tried, kept, passed }) => ({
      run,
      rule,
      tried,
      result: passed ? held : not,
      "best so far": kept,
    })),
    file: "slice_search",
  };
}

/** The same while the search goes on; null before its first run. */
export function progressPlot({ points, of, total }: SliceProgress): Figure | null {
  const last = points.at(-1);
  if (!last) return null;
  const drops = points.filter((one, index) => one.kept < (points[index - 1]?.kept ?? of));
  return {
    title: "The search",
    description: `${words.number(last.kept)} of ${words.number(of)} are left after ${words.count(last.runs, "run")}.`,
    legend: [],
    marks: [
      ruleY([0], { stroke: "var(--tcw-rule)" }),
      lineY([{ runs: 0, kept: of }, ...points], {
        x: "runs",
        y: "kept",
        curve: "step-after",
        stroke: COLOR.line,
        strokeWidth: 2,
      }),
      dot(drops, { x: "runs", y: "kept", fill: PASSED, r: 3.5 }),
      dot([last], { x: "runs", y: "kept", stroke: COLOR.line, strokeWidth: 2, r: 5 }),
    ],
    options: {
      height: 190,
      x: { label: "Runs of the tests", domain: [0, Math.max(total, last.runs, 1)], ...whole(0, Math.max(total, 1)) },
      y: { label: "Left", grid: true, domain: [0, Math.max(of, 1)], ...whole(0, Math.max(of, 1), 5) },
    },
    numbers: [],
    file: "slice_search",
  };
}
