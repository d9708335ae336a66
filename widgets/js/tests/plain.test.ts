import { expect, test } from "vitest";
import * as plain from "../src/plain";

test("unsafe characters become Python escapes, as in Rust", () => {
  expect(plain.value("a\x1b[31mb\0\u{202e}c\u{9b}\n")).toBe("a\\x1b[31mb\\x00\\u202ec\\x9b\\n");
  expect(plain.value("naïve 日本 ×")).toBe("naïve 日本 ×");
  expect(plain.value("\u{e0041}")).toBe("\\U000e0041");
  expect(plain.value("\ud800")).toBe("\\ud800");
});

test("characters that are drawn as nothing become escapes", () => {
  const unseen = [0x3164, 0x115f, 0x1160, 0xffa0, 0x34f, 0x17b4, 0x17b5, 0x180b, 0x180f, 0xfe00, 0xfe0f, 0x600, 0xad];
  for (const code of unseen) {
    const text = plain.value(`a${String.fromCodePoint(code)}b`);
    expect(text).toBe(`a\\${code <= 0xff ? "x" : "u"}${code.toString(16).padStart(code <= 0xff ? 2 : 4, "0")}b`);
  }
  expect(plain.value("a\u{e0100}")).toBe("a\\U000e0100");
});

test("a mark at the start of a value combines with nothing that stands before it", () => {
  expect(plain.value("\u0301e")).toBe("\\u0301e");
  expect(plain.value("e\u0301")).toBe("e\u0301");
});

test("tabs in code become spaces, its line end goes", () => {
  expect(plain.code("\treturn 1\r\n")).toBe("    return 1");
});

test("a cut value says how long it was, in characters", () => {
  expect(plain.value("x".repeat(5000))).toMatch(/x… \(5000 characters\)$/);
  expect(plain.value("😀".repeat(301))).toMatch(/😀… \(301 characters\)$/);
  expect(plain.value("😀".repeat(300))).toBe("😀".repeat(300));
});

test("a sentence has its line breaks as spaces", () => {
  expect(plain.sentence("one\ntwo")).toBe("one two");
});

test("a file keeps its lines and says how many are left out", () => {
  expect(plain.file("a\n\tb\u{202e}\n")).toBe("a\n    b\\u202e");
  expect(plain.file("x\n".repeat(2000)).split("\n").at(-1)).toBe("… (500 more lines)");
});
