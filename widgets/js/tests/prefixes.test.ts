import { expect, test, vi } from "vitest";
import { insertBelow } from "../src/notebook";
import { cell, keptNodes, lineCount, program, reach, testFile, valueTable } from "../src/prefixes";
import { tree } from "../src/views/tree";
import { node, prefixes } from "./make";

test("the kept nodes come in the order of the report, and those that are not listed do not", () => {
  const nodes = [node(0), node(1, { chosen: true }), node(2, { best: true, chosen: true }), node(3, { chosen: true })];
  expect(keptNodes(prefixes({ nodes, kept: [2, 3, 1, 9] })).map(({ number }) => number)).toEqual([2, 3, 1]);
});

test("lines are counted as people count them", () => {
  expect(["", "x", "x\n", "x\n\ny\n"].map(lineCount)).toEqual([0, 1, 1, 3]);
});

test("a program is the prefix and what stands around it", () => {
  const state = prefixes({ around: ["import asyncio\n", "print(x)\n"] });
  expect(program(state, node(1, { text: "x = 1\n" }))).toBe("import asyncio\nx = 1\n\nprint(x)\n");
  expect(program(state, node(1, { text: "" }))).toBe("import asyncio\nprint(x)\n");
});

test("a cell is the prefix and what its notebook needs before it", () => {
  const state = prefixes({ before_cell: "import sys\n\nsys.path[:0] = ['/project']\n\n" });
  expect(cell(state, node(1, { text: "x = 1\n" }))).toBe("import sys\n\nsys.path[:0] = ['/project']\n\nx = 1\n");
});

test("a file of tests has those that there are", () => {
  const state = prefixes({ test_beginning: "import x\n" });
  expect(testFile(state, [node(1, { test: "def test_1(): pass\n" }), node(2)])).toBe("import x\ndef test_1(): pass\n");
  expect(testFile(state, [node(2)])).toBeNull();
});

test("values are counted by type, the most frequent first, whatever a type is called", () => {
  const one = node(1, {
    makes: [
      ["int", 1],
      ["constructor", 2],
    ],
  });
  const rows = valueTable([one, node(2, { makes: [["int", 4]] })]);
  expect(rows).toEqual([
    { type: "int", counts: [1, 4] },
    { type: "constructor", counts: [2, 0] },
  ]);
});

test("each line completes, is missed, or is the one at which the code ends", () => {
  const code = [1, 2, 3, 5].map((number) => ({ number, text: "", statement: number !== 2 }));
  const did = reach(prefixes({ code }), node(1, { completed: [1], ended_at: 3 }));
  expect([...did]).toEqual([
    [1, "completed"],
    [2, "none"],
    [3, "ended"],
    [5, "missed"],
  ]);
});

test("keys walk through the tree: to neighbours, parents and children", () => {
  const nodes = [node(0), node(1, { parent: 0, depth: 1 }), node(2, { parent: 0, depth: 1 })];
  const chosen = vi.fn((number: number) => list.choose(number));
  const list = tree(prefixes({ nodes }), chosen);
  list.list(nodes, true);
  list.choose(0);
  const press = (key: string) => list.element.dispatchEvent(new KeyboardEvent("keydown", { key, cancelable: true }));
  for (const key of ["ArrowDown", "ArrowDown", "ArrowDown", "ArrowLeft", "ArrowRight", "End", "Home", "a"]) press(key);
  expect(chosen.mock.calls.flat()).toEqual([1, 2, 0, 1, 2, 0]);
  const items = [...list.element.querySelectorAll("[role=treeitem]")];
  expect(items.map((item) => item.getAttribute("aria-level"))).toEqual(["1", "2", "2"]);
  expect(list.element.getAttribute("aria-activedescendant")).toBe(items[0]?.id);
  // The browser's own keys stay its own.
  const back = new KeyboardEvent("keydown", { key: "ArrowLeft", altKey: true, cancelable: true });
  expect(list.element.dispatchEvent(back)).toBe(true);
});

test("a cell is inserted below the one with the view, where the front end can", () => {
  document.body.innerHTML = `<div class="jp-Notebook"><div class="jp-Cell" data-windowed-list-index="7"><p></p></div></div>`;
  const view = document.querySelector("p") as HTMLElement;
  const insertCell = vi.fn();
  const manager = { context: { model: { sharedModel: { insertCell } } } };
  expect(insertBelow(view, manager, "x = 1")).toBe(true);
  expect(insertCell).toHaveBeenCalledWith(8, { cell_type: "code", source: "x = 1" });
  expect(insertBelow(view, undefined, "x = 1")).toBe(false);
  expect(insertBelow(document.body, manager, "x = 1")).toBe(false);
  vi.spyOn(console, "error").mockImplementation(() => undefined);
  insertCell.mockImplementation(() => {
    throw new Error("read-only");
  });
  expect(insertBelow(view, manager, "x = 1")).toBe(false);
});
