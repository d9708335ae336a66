import { expect, test } from "vitest";
import { difference, folded, parts } from "../src/calls";

const marked = (pieces: { text: string; differs: boolean }[]) =>
  pieces.map(({ text, differs }) => (differs ? `[${text}]` : text)).join("");

test("arguments are taken apart at commas of their own level", () => {
  expect(parts("f(a, [1, 2], {'x': (3, 4)}, 'a, b')").args.map((arg) => arg.trim())).toEqual([
    "a",
    "[1, 2]",
    "{'x': (3, 4)}",
    "'a, b'",
  ]);
  expect(parts("f()")).toEqual({ head: "f", args: [], tail: "" });
  expect(parts("f('it\\'s, here')").args).toEqual(["'it\\'s, here'"]);
  expect(parts("no call")).toEqual({ head: "no call", args: [], tail: "" });
  expect(parts("f(cut…").args).toEqual([]);
});

test("only what differs is marked", () => {
  const { old, new: renewed } = difference("log(1, 'a', key=2)", "log(1, 'b', key=2)");
  expect(marked(old)).toBe("log(1, ['a'], key=2)");
  expect(marked(renewed)).toBe("log(1, ['b'], key=2)");
});

test("named arguments are compared by name", () => {
  const { old, new: renewed } = difference("f(a=1, b=2)", "f(b=2, a=3)");
  expect(marked(old)).toBe("f([a=1], b=2)");
  expect(marked(renewed)).toBe("f(b=2, [a=3])");
});

test("another name, an argument more, another result", () => {
  expect(marked(difference("f(1)", "g(1)").new)).toBe("[g](1)");
  expect(marked(difference("f(1)", "f(1, 2)").new)).toBe("f(1, [2])");
  expect(marked(difference("f(1) -> 2", "f(1) -> 3").new)).toBe("f(1)[ -> 3]");
});

test("long runs of equal calls are folded, with some left around what differs", () => {
  const rows = [...Array.from({ length: 20 }, () => ({ equal: true })), { equal: false }, { equal: true }];
  const found = folded(rows);
  expect(found.map((row) => ("folded" in row ? row.folded.length : row.equal))).toEqual([18, true, true, false, true]);
});
