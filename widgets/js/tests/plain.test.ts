// What Rust does as well is in golden.test.ts.

import { expect, test } from "vitest";
import * as plain from "../src/plain";

test("half of a pair, which only JavaScript has, becomes an escape", () => {
  expect(plain.value("\ud800")).toBe("\\ud800");
});

test("a value is bounded by another limit where one is given", () => {
  expect(plain.value("x".repeat(50), 40)).toBe(`${"x".repeat(40)}… (50 characters)`);
});

test("people see an ellipsis where a path is cut off", () => {
  expect(plain.path("Loan(Book(year=N~4533fb69074c8c0f).book")).toBe("Loan(Book(year=N…).book");
  expect(plain.path("(~x)")).toBe("(~x)");
});
