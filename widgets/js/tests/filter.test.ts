import { expect, test } from "vitest";
import * as filter from "../src/filter";
import { change, execution, pair } from "./make";

const of = pair({
  line_sets: [
    [[1, 2], [1]],
    [[1], [1, 2]],
  ],
  executions: [
    execution(1, { differs: true, new: "returns None" }),
    execution(2, { lines: 1 }),
    execution(3, { new_valid: false, old: "raises KeyError" }),
  ],
});
const listed = (by: Partial<filter.ExecutionFilter>) => {
  const test = filter.executionFilter(of, { line: null, outcome: "all", search: "", ...by });
  return of.executions.filter((one) => !test || test(one)).map((one) => one.number);
};

test("without a filter there is nothing to test", () => {
  expect(filter.executionFilter(of, { line: null, outcome: "all", search: "  " })).toBeNull();
});

test("a line lists the executions that ran it in that version", () => {
  expect(listed({ line: { version: 0, line: 2 } })).toEqual([1, 3]);
  expect(listed({ line: { version: 1, line: 2 } })).toEqual([2]);
  expect(listed({ line: { version: 1, line: 99 } })).toEqual([]);
});

test("outcome and search both have to fit", () => {
  expect(listed({ outcome: "differs" })).toEqual([1]);
  expect(listed({ outcome: "nothing" })).toEqual([3]);
  expect(listed({ search: "keyerror" })).toEqual([3]);
  expect(listed({ search: "Execution 2" })).toEqual([2]);
  expect(listed({ search: "keyerror", outcome: "same" })).toEqual([]);
});

test("the neighbour is the next one listed, also for one that is not listed", () => {
  const [first, second, third] = of.executions;
  expect(filter.neighbour(of.executions, 1, 1)).toBe(second);
  expect(filter.neighbour(of.executions, 3, 1)).toBeUndefined();
  expect(filter.neighbour([first!, third!], 2, 1)).toBe(third);
  expect(filter.neighbour([first!, third!], 2, -1)).toBe(first);
  expect(filter.neighbour([], 1, 1)).toBeUndefined();
});

test("waits are counted from one difference to the next", () => {
  const differing = [2, 3, 7];
  const executions = Array.from({ length: 10 }, (_, index) =>
    execution(index + 1, { differs: differing.includes(index) }),
  );
  expect(filter.waits(executions)).toEqual([3, 1, 4]);
});

test("waits count the executions that are not listed, too", () => {
  const executions = [3, 90, 1500].map((number) => execution(number, { differs: number !== 90 }));
  expect(filter.waits(executions)).toEqual([3, 1497]);
});

test("a cell of the matrix and a search filter the changes of a study", () => {
  const rows = [
    change("a", "changing", "changing"),
    change("b", "changing", null),
    change("c", "identical", "preserving"),
  ];
  const found = (by: Partial<filter.StudyFilter>) =>
    rows
      .filter(filter.studyFilter({ search: "", verdict: null, cell: null, ...by }) ?? (() => true))
      .map((row) => row.id);
  expect(found({})).toEqual(["a", "b", "c"]);
  expect(found({ cell: { verdict: "changing", label: null } })).toEqual(["b"]);
  expect(found({ search: "BECAUSE", cell: { verdict: "identical", label: "preserving" } })).toEqual(["c"]);
  expect(found({ verdict: "changing", search: "b" })).toEqual(["a", "b"]);
  const { labels, verdicts, counts } = filter.confusion(rows);
  expect(labels).toEqual(["changing", "preserving", null]);
  expect(verdicts).toEqual(["changing", "identical"]);
  expect(counts.get(filter.cellKey({ verdict: "changing", label: null }))).toBe(1);
});
