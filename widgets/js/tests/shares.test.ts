import { expect, test } from "vitest";
import { csv } from "../src/download";
import { sample, whole } from "../src/plots/figure";
import { bars } from "../src/plots/study";
import { lightness } from "../src/theme";
import type { Path } from "../src/types";
import { same, shares, sharesOfAll } from "../src/shares";

const path = (injected: [string, string, number, number][], predicted: number[] = [0.25, 0.75]): Path => ({
  path: "x",
  kind: null,
  version: 0,
  line: 1,
  predicted,
  injected: injected.map(([value, kind, count, differing]) => ({ value, class: kind, count, differing, invalid: 0 })),
  more: 0,
});
const classes = ["none", "int"];

test("shares of what was injected stand beside what was predicted", () => {
  expect(
    shares(
      { classes },
      path([
        ["0", "int", 3, 1],
        ["None", "none", 1, 0],
      ]),
    ),
  ).toEqual([
    { class: "none", predicted: 0.25, injected: 0.25, differing: 0 },
    { class: "int", predicted: 0.75, injected: 0.75, differing: 1 / 3 },
  ]);
});

test("a class that the predictor does not know is there too, one that nobody used is not", () => {
  expect(shares({ classes }, path([["x", "str", 1, 0]], [0, 1])).map((one) => one.class)).toEqual(["int", "str"]);
});

test("over all paths, each weighs as it was injected", () => {
  const found = sharesOfAll({ classes }, [path([["0", "int", 3, 3]]), path([["None", "none", 1, 0]])]);
  expect(found.find((one) => one.class === "int")).toEqual({
    class: "int",
    predicted: 0.75,
    injected: 0.75,
    differing: 1,
  });
});

test("a sample is even, and everything where there is little", () => {
  expect(sample([1, 2, 3], 5)).toEqual([1, 2, 3]);
  expect(sample([0, 1, 2, 3, 4, 5, 6, 7], 4)).toEqual([0, 2, 4, 6]);
});

test("CSV quotes what needs it and holds no formulas", () => {
  expect(csv([{ a: 'say "hi", twice', b: -1, c: "=HYPERLINK(1)" }])).toBe(
    `a,b,c\r\n"say ""hi"", twice",-1,'=HYPERLINK(1)\r\n`,
  );
  expect(csv([])).toBe("");
});

test("light and dark are told by the color of the page", () => {
  expect(lightness("rgb(255, 255, 255)")).toBe(1);
  expect(lightness("rgba(0, 0, 0, 0)")).toBeNull();
  expect(lightness("rgb(22, 25, 29)")).toBeLessThan(0.2);
});

test("what is counted twice makes no negative number", () => {
  expect(same({ count: 5, differing: 1, invalid: 2 })).toBe(2);
  expect(same({ count: 3, differing: 3, invalid: 2 })).toBe(0);
});

test("the last bar of a distribution holds its end", () => {
  const points = [0, 49, 50, 100].map((x) => ({ x, verdict: "changing" as const }));
  expect(bars(points, [0, 50, 100]).map(({ from, to, count }) => [from, to, count])).toEqual([
    [0, 50, 2],
    [50, 100, 2],
  ]);
});

test("an axis of whole numbers has no more ticks than numbers", () => {
  expect([whole(1, 3).ticks, whole(1, 1).ticks, whole(0, 300).ticks]).toEqual([2, 1, 8]);
});
