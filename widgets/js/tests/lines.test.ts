import { expect, test } from "vitest";
import { folds, ofBoth, ofVersion } from "../src/views/lines";
import { pair, version } from "./make";

const differing = { old: new Map(), new: new Map() };

test("as one text, what is gone stands before what came", () => {
  const old = version(["a", "b", "c", "d"], [1, 2]);
  const renewed = version(["a", "x", "y", "d"], [1, 2]);
  const rows = [0, 1, 2, 3].map((index) => ({ old: index, new: index }));
  const shown = ofBoth(pair({ old, new: renewed, rows }), differing);
  expect(shown.lines.map(({ line }) => line.text)).toEqual(["a", "b", "c", "x", "y", "d"]);
  expect(shown.lines.map(({ numbers }) => numbers.join("|"))).toEqual(["1|1", "2|", "3|", "|2", "|3", "4|4"]);
  // A line that both have stands at one place.
  expect([shown.places[0].get(4), shown.places[1].get(4), shown.places[1].get(2)]).toEqual([5, 5, 3]);
  expect(shown.rows).toEqual([0, null, null, 5]);
  expect(ofVersion(pair({ old, new: renewed, rows }), 0, differing).rows).toEqual([0, 1, 2, 3]);
});

test("unchanged lines away from changes are hidden, but for those that are kept", () => {
  const texts = Array.from({ length: 40 }, (_, index) => `line ${index}`);
  const of = pair({
    old: version(texts, [20]),
    new: version(texts, [20]),
    rows: texts.map((_, index) => ({ old: index, new: index })),
  });
  expect(folds(of, () => false)).toEqual([
    [1, 17],
    [24, 40],
  ]);
  expect(folds(of, (old) => old === 31)).toEqual([
    [1, 17],
    [24, 30],
    [31, 40],
  ]);
  const short = pair({
    old: version(["a", "b"]),
    new: version(["a", "b"]),
    rows: [
      { old: 0, new: 0 },
      { old: 1, new: 1 },
    ],
  });
  expect(folds(short, () => false)).toEqual([]);
});
