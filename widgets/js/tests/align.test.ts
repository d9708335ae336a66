import { expect, test } from "vitest";
import { blocks, changes, partners, within } from "../src/align";
import { version } from "./make";

const old = version(["a", "b = one(1)", "c", "d"], [1, 2]);
const renewed = version(["a", "b = one(2)", "d", "e"], [1, 3]);
const rows = [
  { old: 0, new: 0 },
  { old: 1, new: 1 },
  { old: 2, new: null },
  { old: 3, new: 2 },
  { old: null, new: 3 },
];

test("rows without a partner and changed rows make blocks", () => {
  expect(blocks({ old, new: renewed, rows })).toEqual([
    { fromOld: 1, toOld: 3, fromNew: 1, toNew: 2 },
    { fromOld: 4, toOld: 4, fromNew: 3, toNew: 4 },
  ]);
});

test("blocks become ranges of characters", () => {
  const text = (of: typeof old) => of.lines.map((line) => line.text).join("\n");
  const found = changes(blocks({ old, new: renewed, rows }), text(old), text(renewed));
  expect(found.map((one) => text(old).slice(one.fromA, one.toA))).toEqual(["b = one(1)\nc\n", ""]);
  expect(found.map((one) => text(renewed).slice(one.fromB, one.toB))).toEqual(["b = one(2)\n", "e"]);
});

test("within a changed line only what the other has not is marked", () => {
  const found = within({ old, new: renewed, rows }, (text) => text);
  expect(found.old.get(1)?.map(([from, to]) => "b = one(1)".slice(from, to))).toEqual(["1"]);
  expect(found.new.get(1)?.map(([from, to]) => "b = one(2)".slice(from, to))).toEqual(["2"]);
});

test("lines with nothing in common are not compared", () => {
  const a = version(["    return 1"], [0]);
  const b = version(["    xxxxxxxxxxxxxxxxx"], [0]);
  expect(within({ old: a, new: b, rows: [{ old: 0, new: 0 }] }, (text) => text).old.size).toBe(0);
});

test("lines that are the same know each other, changed ones do not", () => {
  const found = partners({ old, new: renewed, rows });
  expect([...found.old]).toEqual([
    [1, 1],
    [4, 3],
  ]);
  expect([...found.new]).toEqual([
    [1, 1],
    [3, 4],
  ]);
});
