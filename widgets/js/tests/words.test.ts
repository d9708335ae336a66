import { expect, test } from "vitest";
import * as words from "../src/words";
import { comparison, execution, line, pair, version } from "./make";

test("people count executions from one", () => {
  expect(words.executionName(3)).toBe("Execution 3");
  expect(words.executionName(null)).toBe("Changed values");
});

test("an execution that failed in one version says nothing, unless it differs", () => {
  expect(words.outcome(execution(1, { old_valid: false }))).toBe("nothing");
  expect(words.outcome(execution(1, { old_valid: false, differs: true }))).toBe("differs");
  expect(words.outcome(execution(1))).toBe("same");
  expect(words.outcome(execution(1, { examined: false }))).toBe("unexamined");
  expect(words.outcome(execution(1, { examined: true }))).toBe("same");
});

test("what the margin shows is also said in words", () => {
  expect(words.marginSentence("old", { ...line(3, "", true), executions: 120 }, "3", 2)).toBe(
    "Line 3 of old, changed: ran in 120 executions, 2 times in the one shown",
  );
  expect(words.marginSentence("new", { ...line(3, ""), executions: 0 }, "9 (shop.tax)", null)).toBe(
    "Line 9 (shop.tax) of new: never ran",
  );
});

test("every line has the number of its own file", () => {
  const parts = [
    { number: 3, first_line: 10, elsewhere: null },
    { number: 5, first_line: 7, elsewhere: "shop.tax" },
  ];
  const own = {
    ...version(["def f():", "    g()", "def g():", "    h()", "def h():", "    pass"]),
    first_line: 40,
    parts,
  };
  expect([1, 2, 3, 4, 5, 6].map((line) => words.lineName(own, line))).toEqual([
    "40",
    "41",
    "10",
    "11",
    "7 (shop.tax)",
    "8 (shop.tax)",
  ]);
  expect(words.lineInFile(own, 6)).toBe(8);
});

test("a condition that was always the same is a gap, one that was never reached is none", () => {
  expect(words.branchGap({ line: 1, taken: 0, not_taken: 5 })).toBe(true);
  expect(words.branchGap({ line: 1, taken: 5, not_taken: 0 })).toBe(false);
  expect(words.branchGap({ line: 1, taken: 5, not_taken: 1 })).toBeNull();
  expect(words.branchGap({ line: 1, taken: 0, not_taken: 0 })).toBeNull();
});

test("pairs come in the order of their ranks, equal ones as they are", () => {
  const state = comparison([4, 2, 0, 0].map((rank) => pair({ rank })));
  expect(words.pairOrder(state)).toEqual([2, 3, 1, 0]);
});

test("a pair that others decide on has not the color of a change", () => {
  expect(words.pairTone(pair())).toBe("tcw-changing");
  expect(words.pairTone(pair({ decided_by: ["f"] }))).toBe("tcw-identical");
});

test("what is shown says in what it differs from its execution", () => {
  const changes = new Map([["x", "1"]]);
  expect(words.changeNote(null, new Map())).toBe("");
  expect(words.changeNote(null, changes)).toBe("with 1 value changed by you");
  expect(words.changeNote(3, new Map())).toBe("made smaller");
  expect(words.changeNote(3, changes)).toBe("made smaller, 1 value changed by you");
});

test("a parameter enters at the def, other values where they were looked up", () => {
  const path = (path: string, kind: string | null) => ({
    path,
    kind,
    version: 0 as const,
    line: 0,
    predicted: [],
    injected: [],
    more: 0,
  });
  const of = pair({ paths: [path("x", null), path("x.y", "attribute")] });
  const value = (path: string, line: number) => words.entryPlace(of, { path, version: 0, line });
  expect([value("x", 0), value("x.y", 0), value("x.y", 2)]).toEqual(["old 1", "old", "old 2"]);
});

test("values that matter come first", () => {
  const value = (path: string, decisive: boolean, editable: boolean) => ({
    path,
    decisive,
    literal: editable ? "0" : null,
    changed: false,
  });
  const found = words.byWeight([
    value("a", false, false),
    value("b", false, true),
    value("c", true, false),
    value("d", false, true),
  ]);
  expect(found.map((one) => one.path)).toEqual(["c", "b", "d", "a"]);
});

test("an attribute is written in any way that code reads it", () => {
  const path = (written: string) => words.attributePath("self.shop", written);
  expect([path("x"), path(" .x "), path("['a']"), path("get('a')"), path("  ")]).toEqual([
    "self.shop.x",
    "self.shop.x",
    "self.shop['a']",
    "self.shop.get('a')",
    null,
  ]);
});

test("a call that both versions make at other times has moved", () => {
  const only = (old: string | null, renewed: string | null) => ({ old, new: renewed, equal: false });
  const all = [
    only("save(1)", null),
    { old: "log()", new: "log()", equal: true },
    only(null, "save(1)"),
    only(null, "f()"),
  ];
  expect(all.map((row) => words.callMark(row, all))).toEqual(["↕ moved, old", "= same", "↕ moved, new", "+ only new"]);
});
