// The plots of one pair: coverage over executions, executions until a difference, predicted against injected values,
// time spent. What would be an empty or a flat drawing is a sentence.

import {
  barX,
  binX,
  dot,
  lineY,
  pointer,
  pointerX,
  rectY,
  ruleX,
  ruleY,
  tip,
  type RectYOptions,
} from "@observablehq/plot";
import { h, replace } from "../dom";
import { waits } from "../filter";
import * as plain from "../plain";
import type { PairContext } from "../session";
import type { ComparisonState, Execution, PairState, Path } from "../types";
import { sharesOfAll } from "../shares";
import * as words from "../words";
import { COLOR, figureView, greatest, sample, whole, type Entry, type Figure } from "./figure";

/** The maximum number of drawn points. More would only cover each other. */
const POINTS = 1500;

const OUTCOMES: Record<words.Outcome, Entry> = {
  differs: { text: words.OUTCOME_MARK.differs, color: COLOR.differs, shape: "diamond" },
  same: { text: words.OUTCOME_MARK.same, color: COLOR.same, shape: "circle" },
  nothing: { text: words.OUTCOME_MARK.nothing, color: COLOR.nothing, shape: "ring" },
  unexamined: { text: words.OUTCOME_MARK.unexamined, color: COLOR.nothing, shape: "cross" },
};

export function plotsView({ session, pair, signal }: PairContext, panel: HTMLElement): void {
  if (pair.executions.length === 0) {
    return replace(panel, h("p", { class: "tcw-quiet" }, "Nothing was executed, so there is nothing to draw."));
  }
  const name = pair.new.qualname.replace(/\W+/g, "_").slice(0, 60);
  const shares = pair.paths.length > 0 ? sharesView(session.state, pair, name, signal) : NO_VALUES;
  const all = [coveragePlot(pair, name), waitsPlot(pair, name), shares, timePlot(pair, name)];
  const drawn = all.filter((one) => typeof one !== "string");
  const told = all.filter((one) => typeof one === "string");
  replace(
    panel,
    h(
      "div",
      { class: "tcw-figures" },
      drawn.map((one) => (one instanceof HTMLElement ? one : figureView(one, signal))),
    ),
    told.map((text) => h("p", { class: "tcw-lead" }, text)),
  );
}

const NO_VALUES = "No value was missing in any execution, so nothing was predicted or injected.";

function coveragePlot(pair: PairState, file: string): Figure | string {
  const { executions } = pair;
  const [earliest, latest] = [executions[0], executions.at(-1)];
  if (!earliest || !latest || earliest.coverage_so_far === latest.coverage_so_far) {
    const percent = words.percent(latest?.coverage_so_far ?? 0);
    return executions.length === 1
      ? `The one execution covered ${percent} of the lines of both versions.`
      : `The first execution covered ${percent} of the lines of both versions, and no later one added any.`;
  }
  const points = sample(executions, POINTS);
  const differing = sample(
    executions.filter((one) => one.differs),
    POINTS,
  );
  const x = (one: Execution) => one.number;
  const y = (one: Execution) => one.coverage_so_far * 100;
  const last = executions.at(-1);
  const legend: Entry[] = [{ text: "lines covered so far", color: COLOR.line, shape: "line" }];
  if (differing.length > 0) legend.push(OUTCOMES.differs);
  return {
    title: "Coverage over executions",
    description: `After ${words.count(last?.number ?? 0, "execution")}, ${words.percent(last?.coverage_so_far ?? 0)} of the lines of both versions were covered.`,
    legend,
    marks: [
      ruleY([0], { stroke: "var(--tcw-rule)" }),
      lineY(points, { x, y, curve: "step-after", stroke: COLOR.line, strokeWidth: 2 }),
      dot(differing, { x, y, symbol: "diamond", fill: COLOR.differs, r: 4, clip: false }),
      tip(
        points,
        pointerX({
          x,
          y,
          title: (one: Execution) =>
            `${words.executionName(one.number)}\n${words.percent(one.coverage_so_far)} covered so far\n${words.OUTCOME_MARK[words.outcome(one)]}`,
        }),
      ),
    ],
    options: {
      x: { label: "Execution", ...numbers(executions) },
      y: { label: "Covered (%)", domain: [0, 100], grid: true },
    },
    numbers: executions.map((one) => ({
      execution: one.number,
      "covered so far": one.coverage_so_far,
      "new lines": one.new_lines,
      evidence: words.outcome(one),
    })),
    file: `${file}_coverage`,
  };
}

/** The executions that are known here: all of them, or those that are listed. */
function those({ executions, executed }: PairState): string {
  const listed = words.count(executions.length, "execution");
  return executed > executions.length ? `the ${listed} listed of ${words.number(executed)}` : listed;
}

/** An axis for their numbers. */
function numbers(executions: Execution[]) {
  return whole(executions[0]?.number ?? 1, executions.at(-1)?.number ?? 1);
}

function waitsPlot(pair: PairState, file: string): Figure | string {
  const found = waits(pair.executions);
  const first = found[0];
  if (first === undefined) return `No difference came in ${those(pair)}.`;
  if (found.length === 1) return `The one difference in ${those(pair)} came with execution ${first}.`;
  if (found.length === pair.executions.length && found.length === pair.executed) {
    return `Each of ${those(pair)} showed a difference.`;
  }
  const most = greatest(found, 1);
  const step = Math.max(1, Math.ceil(most / 40));
  const thresholds = Array.from({ length: Math.ceil(most / step) + 1 }, (_, index) => 0.5 + index * step);
  const rows = found.map((executions) => ({ executions }));
  const highest = Math.max(
    1,
    ...thresholds.map((from) => found.filter((one) => one > from && one < from + step).length),
  );
  return {
    title: "Executions until a difference",
    description: `The first difference came with execution ${first}. ${words.count(found.length, "difference")} in ${those(pair)}.`,
    legend: [
      { text: "differences that came after so many executions", color: COLOR.differs, shape: "box" },
      { text: "the first one", color: "var(--tcw-ink)", shape: "line" },
    ],
    marks: [
      rectY(
        rows,
        binX<RectYOptions>(
          { y: "count" },
          {
            x: "executions",
            thresholds,
            fill: COLOR.differs,
            inset: 0.5,
            tip: { format: { x: (value: number) => String(Math.ceil(value)) } },
          },
        ),
      ),
      ruleX([first], { stroke: "var(--tcw-ink)", strokeWidth: 2 }),
      ruleY([0], { stroke: "var(--tcw-rule)" }),
    ],
    options: {
      x: {
        label: "Executions since the difference before",
        domain: [0.5, Math.max(most, 4) + 0.5],
        ...whole(0, Math.max(most, 4)),
      },
      y: { label: "Differences", ...whole(0, highest, 5), grid: true },
    },
    numbers: found.map((executions, index) => ({
      difference: index + 1,
      "executions since the one before": executions,
    })),
    file: `${file}_until_difference`,
  };
}

/** Expected against injected, for all paths or for a chosen one. */
function sharesView(state: ComparisonState, pair: PairState, file: string, signal: AbortSignal): HTMLElement {
  const place = h("div", {});
  const choice = h(
    "select",
    { class: "tcw-field", "aria-label": "Access path", onchange: () => show(choice.value) },
    h("option", { value: "" }, "all access paths"),
    pair.paths.map((path, index) => h("option", { value: index }, plain.path(path.path, 80))),
  );
  let shown = new AbortController();
  signal.addEventListener("abort", () => shown.abort());
  function show(which: string): void {
    shown.abort();
    shown = new AbortController();
    const path = which === "" ? null : (pair.paths[Number(which)] ?? null);
    const name = path ? plain.path(path.path, 60) : "all access paths";
    replace(place, figureView(sharesPlot(state, path ? [path] : pair.paths, name, file), shown.signal));
  }
  show("");
  return h("div", {}, h("label", { class: "tcw-bar" }, h("span", {}, "Values of"), choice), place);
}

function sharesPlot(state: ComparisonState, paths: Path[], name: string, file: string): Figure {
  const found = sharesOfAll(state, paths);
  const rows = found.flatMap((one) => [
    { class: plain.value(one.class), kind: "predicted", share: one.predicted * 100 },
    { class: plain.value(one.class), kind: "injected", share: one.injected * 100 },
  ]);
  type Bar = (typeof rows)[number];
  const at = (kind: string) => rows.filter((row) => row.kind === kind);
  const title = (row: Bar) => `${row.class}\n${row.kind}: ${words.probability(row.share / 100)}`;
  return {
    title: "Predicted against injected values",
    description: `How often each class of value was expected and how often it was injected, for ${name}.`,
    legend: [
      { text: "predicted", color: "var(--tcw-ink)", shape: "hatch" },
      { text: "injected", color: COLOR.line, shape: "box" },
    ],
    marks: [
      barX(at("predicted"), {
        x: "share",
        y: "kind",
        fy: "class",
        fill: "none",
        stroke: "var(--tcw-ink)",
        strokeDasharray: "3 2",
        insetTop: 1,
        insetBottom: 1,
      }),
      barX(at("injected"), { x: "share", y: "kind", fy: "class", fill: COLOR.line, insetTop: 1, insetBottom: 1 }),
      tip(rows, pointer({ x: "share", y: "kind", fy: "class", title })),
      ruleX([0], { stroke: "var(--tcw-rule)" }),
    ],
    options: {
      height: 64 + found.length * 26 + 24,
      marginLeft: 72,
      marginRight: 20,
      x: { label: "Share (%)", grid: true, domain: [0, Math.max(10, ...rows.map((row) => row.share))] },
      y: { axis: null, domain: ["predicted", "injected"] },
      fy: { label: null, axis: "left", padding: 0.25, domain: found.map((one) => plain.value(one.class)) },
    },
    numbers: found.map((one) => ({
      "access path": name,
      class: one.class,
      predicted: one.predicted,
      injected: one.injected,
      differed: one.differing,
    })),
    file: `${file}_values`,
  };
}

function timePlot(pair: PairState, file: string): Figure | string {
  const [only] = pair.executions;
  if (only && pair.executions.length === 1)
    return `The one execution took ${words.duration(only.microseconds / 1000)}.`;
  const points = sample(pair.executions, POINTS);
  const total = pair.executions.reduce((sum, one) => sum + one.microseconds, 0) / 1000;
  const sorted = pair.executions.map((one) => one.microseconds).sort((a, b) => a - b);
  const median = (sorted[Math.floor(sorted.length / 2)] ?? 0) / 1000;
  const x = (one: Execution) => one.number;
  const y = (one: Execution) => one.microseconds / 1000;
  const title = (one: Execution) =>
    `${words.executionName(one.number)}\n${words.duration(one.microseconds / 1000)}\n${words.OUTCOME_MARK[words.outcome(one)]}`;
  const of = (outcome: words.Outcome) => points.filter((one) => words.outcome(one) === outcome);
  const present = words.OUTCOMES.filter((outcome) => of(outcome).length > 0);
  return {
    title: "Time spent",
    description: `${words.duration(total)} in ${those(pair)}; half of them took ${words.duration(median)} or less.`,
    legend: [
      ...present.map((outcome) => OUTCOMES[outcome]),
      { text: "median", color: "var(--tcw-ink)", shape: "line" },
    ],
    marks: [
      ruleY([0], { stroke: "var(--tcw-rule)" }),
      ruleY([median], { stroke: "var(--tcw-ink)", strokeWidth: 1 }),
      dot(of("same"), { x, y, fill: COLOR.same, r: 2.5 }),
      dot(of("nothing"), { x, y, stroke: COLOR.nothing, r: 2.5 }),
      dot(of("unexamined"), { x, y, symbol: "times", stroke: COLOR.nothing, r: 2.5 }),
      dot(of("differs"), { x, y, symbol: "diamond", fill: COLOR.differs, r: 3.5 }),
      tip(points, pointer({ x, y, title })),
    ],
    options: { x: { label: "Execution", ...numbers(pair.executions) }, y: { label: "Milliseconds", grid: true } },
    numbers: pair.executions.map((one) => ({
      execution: one.number,
      microseconds: one.microseconds,
      evidence: words.outcome(one),
    })),
    file: `${file}_time`,
    ...(points.length < pair.executions.length
      ? {
          note: `${words.number(points.length)} of ${words.count(pair.executions.length, "execution")} are drawn; the CSV file has them all.`,
        }
      : {}),
  };
}
