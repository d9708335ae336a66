import { expect, test, vi } from "vitest";
import { progressPlot, slicePlot } from "../src/plots/slice";
import { drawnUnits, namesOf, needsOf, standing, unitFilter } from "../src/slices";
import { needsView } from "../src/views/needs";
import { progressView } from "../src/views/progress";
import { SliceView } from "../src/views/slice";
import { UnitView } from "../src/views/unit";
import { slice, sliceUnit } from "./make";

const stays = (subject: string) =>
  sliceUnit(subject, { stays: true, why: "tests_fail", reason: "without it, a test fails" });
const HOSTILE = "</div><script>window.hacked = 1</script><img src=x onerror=alert(1)>\u202e";

test("a unit stays, goes, or was never tried", () => {
  const units = [stays("a"), sliceUnit("b"), sliceUnit("c", { stays: true, why: "unknown" })];
  expect(units.map(standing)).toEqual(["stays", "goes", "untried"]);
});

test("units are found by their hash, subject, files and reason", () => {
  const rows = [stays("Add a tax"), sliceUnit("Fix docs", { paths: ["docs/Index.md"] })].map((unit, place) => ({
    unit,
    place,
  }));
  const found = (search: string, standing: "stays" | "goes" | null = null) => {
    const test = unitFilter({ search, standing });
    return rows.filter((row) => !test || test(row)).map(({ place }) => place);
  };
  expect([found(""), found("TAX"), found("docs/index"), found("a test fails"), found("", "goes")]).toEqual([
    [0, 1],
    [0],
    [1],
    [0],
    [1],
  ]);
  expect(found("tax", "goes")).toEqual([]);
});

test("the slice and what it touches are drawn, those of the slice first where there is little room", () => {
  const units = [sliceUnit("0"), sliceUnit("1"), stays("2"), sliceUnit("3"), stays("4")];
  const needs = needsOf({
    text_needs: [
      [2, 0],
      [3, 1],
    ],
    name_needs: [{ user: 4, provider: 2, names: ["shop.f", "shop.g"], more: 2, is_only: true }],
  });
  expect(drawnUnits(units, needs, false, 9)).toEqual({ places: [0, 2, 4], left: 0 });
  expect(drawnUnits(units, needs, true, 9).places).toEqual([0, 1, 2, 3, 4]);
  expect(drawnUnits(units, needs, true, 3)).toEqual({ places: [0, 2, 4], left: 2 });
  expect(namesOf(needs[2] ?? needs[0]!)).toBe("shop.f, shop.g and 2 more");
});

test("arrow keys move through the units and along their needs", () => {
  const state = slice([stays("0"), stays("1"), stays("2")], { text_needs: [[2, 0]] });
  const chosen: number[] = [];
  const view = needsView(state, (place) => (chosen.push(place), view.choose(place)), new AbortController().signal);
  const list = view.element.querySelector<HTMLElement>("[role=listbox]");
  for (const key of ["ArrowDown", "ArrowDown", "ArrowDown", "ArrowLeft", "ArrowRight", "Home", "x"]) {
    list?.dispatchEvent(new KeyboardEvent("keydown", { key }));
  }
  expect(chosen).toEqual([0, 1, 2, 0, 2, 0]);
  const options = [...view.element.querySelectorAll("[role=option]")];
  expect(options.map((one) => one.getAttribute("aria-selected"))).toEqual(["true", "false", "false"]);
  expect(list?.getAttribute("aria-activedescendant")).toBe(options[0]?.id);
  expect(options[2]?.textContent).toContain("needs text of 01234567");
  expect(view.element.querySelectorAll(".tcw-arc-on")).toHaveLength(1);
});

test("a unit says what it needs and who needs it, and leads there", () => {
  const name = { user: 2, provider: 0, names: ["shop.tax"], more: 0, is_only: true };
  const state = slice([stays("Zero"), sliceUnit("One"), stays("Two")], { text_needs: [[2, 1]], name_needs: [name] });
  const choose = vi.fn();
  const view = new UnitView(state, needsOf(state), choose);
  view.show(2);
  const text = view.element.textContent ?? "";
  expect(text).toContain("Its text stands on that of ○ 01234567 One");
  expect(text).toContain("It uses shop.tax of ● 01234567 Zero");
  view.element.querySelector<HTMLElement>(".tcw-link")?.click();
  expect(choose).toHaveBeenCalledWith(1);
  view.show(0);
  expect(view.element.textContent).toContain("01234567 Two uses its shop.tax");
  expect(view.element.querySelectorAll(".cm-line.tcw-add, .cm-line.tcw-del")).toHaveLength(2);
  view.destroy();
});

test("the files of a unit are counted where the state has only the first ones", () => {
  const unit = sliceUnit("Many files", { paths: ["a.py", "b.py"], more_paths: 40, diff: "" });
  const state = slice([unit]);
  const view = new UnitView(state, needsOf(state), vi.fn());
  view.show(0);
  expect(view.element.textContent).toContain("a.pyb.py");
  expect(view.element.textContent).toContain("and 40 more");
  view.destroy();
});

test("nothing of a history becomes markup", () => {
  const unit = sliceUnit(HOSTILE, { part: HOSTILE, paths: [HOSTILE], reason: HOSTILE, diff_lacks: HOSTILE });
  unit.diff = `diff --git a/${HOSTILE} b/${HOSTILE}\n@@ -1 +1 @@\n+${HOSTILE}\n`;
  const need = { user: 0, provider: 1, names: [HOSTILE], more: 0, is_only: true };
  const state = slice([{ ...unit, stays: true }, unit], {
    sentence: HOSTILE,
    remarks: [HOSTILE],
    tests: [HOSTILE],
    name_needs: [need],
  });
  const view = new SliceView(state);
  document.body.append(view.element);
  for (const tab of view.element.querySelectorAll<HTMLElement>("[role=tab]")) tab.click();
  expect(view.element.querySelectorAll("script, img:not(.cm-widgetBuffer)")).toHaveLength(0);
  expect(view.element.innerHTML).not.toContain("\u202e");
  view.destroy();
  view.element.remove();
});

test("the search is told in a sentence, and a run by its rule", () => {
  const figure = slicePlot(slice([]));
  expect(figure?.description).toBe("From 3 commits to 1 in 2 runs of the tests; in 2 of them tests pass.");
  expect(figure?.numbers[1]).toEqual({ run: 2, rule: "PAR-SIG", tried: 1, result: "tests pass", "best so far": 1 });
  expect(slicePlot(slice([], { steps: [] }))).toBeNull();
});

test("a search that goes on has a chart as soon as there was a run", () => {
  const view = progressView(() => {}, new AbortController().signal);
  const progress = {
    stage: "reading" as const,
    done: 0,
    total: 0,
    points: [],
    of: 0,
    seconds_left: null,
    text: "reading",
  };
  view.update(progress);
  const drawing = view.element.querySelector<HTMLElement>(".tcw-drawing");
  expect([drawing?.hidden, view.element.textContent]).toEqual([true, expect.stringContaining("reading")]);
  const points = [
    { runs: 1, kept: 9 },
    { runs: 3, kept: 4 },
  ];
  view.update({ ...progress, stage: "refining", points, of: 9, done: 3, total: 8, text: "4 of 9 are left" });
  expect([drawing?.hidden, view.element.querySelector("progress")?.value]).toEqual([false, 3]);
  expect(progressPlot({ ...progress, points, of: 9, total: 8 })?.description).toBe("4 of 9 are left after 3 runs.");
  view.update({ pair: 0, pairs: 1, executions: 1, budget: 2, coverage: 0 });
  expect(drawing?.hidden).toBe(true);
});
