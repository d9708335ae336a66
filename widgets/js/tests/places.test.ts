import { expect, test } from "vitest";
import * as places from "../src/places";
import { change } from "./make";

test("what all share is dropped at a sign between words", () => {
  expect(places.beginning(["src/pkg/core/a.py", "src/pkg/core_b.py"], /\//)).toBe("src/pkg/");
  expect(places.beginning(["a.py", "a.py"], /\//)).toBe("");
  expect(places.beginning(["shop-1:f", "shop-1:g"], /[:-]/)).toBe("shop-1:");
  expect(places.beginning([], /\//)).toBe("");
});

test("a change is called by its function, or else by what its id does not share", () => {
  const rows = [
    { ...change("shop-1a:x.py:Cart.total", "changing", null), function: "Cart.total", file: "x.py", project: "shop" },
    { ...change("shop-2b:y.py:tax", "changing", null), file: "y.py", project: "shop" },
  ];
  const of = places.shared(rows);
  expect(of).toEqual({ project: "shop", folder: "", id: "shop-" });
  expect(rows.map((row) => places.changeName(row, of))).toEqual(["Cart.total", "2b:y.py:tax"]);
  expect(rows.map((row) => places.fileName(row, of))).toEqual(["x.py", "y.py"]);
});

test("hashes of commits are short, and other names stay", () => {
  expect(places.commitName("0123456789abcdef0123456789abcdef01234567")).toBe("01234567");
  expect(places.commitName("v1.2.3-release-candidate")).toBe("v1.2.3-release-candidate");
  expect(places.commitName(null)).toBe("");
});
