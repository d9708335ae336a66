// What Rust says of the same: the cases stand in widgets/golden, and the tests of plain.rs and words.rs run them, too.

import { expect, test } from "vitest";
import plainCases from "../../golden/plain.json";
import wordCases from "../../golden/words.json";
import { disagrees } from "../src/filter";
import * as plain from "../src/plain";
import type { Channel, Evidence, Label, Verdict, VersionNumber } from "../src/types";
import * as words from "../src/words";
import { execution, line, pair } from "./make";

/** A text so many times, and what stands after it. */
type Repeated = [string, number, string];
const written = ([text, times, after]: Repeated) => text.repeat(times) + after;

test("texts are shown as in Rust", () => {
  expect(plainCases.limits).toEqual([plain.VALUE_LIMIT, plain.CODE_LIMIT, plain.FILE_LIMIT]);
  const { value, code, file, sentence } = plain;
  const functions: Record<string, (text: string) => string> = { value, code, file, sentence };
  for (const [name, how, given, wanted] of plainCases.shown as [string, string, Repeated, Repeated][]) {
    expect(functions[how]?.(written(given)), name).toBe(written(wanted));
  }
});

test("what is not seen or reorders is escaped", () => {
  for (const [first, last] of plainCases.escaped as [number, number][]) {
    for (let number = first; number <= last; number++) {
      expect(plain.value(`a${String.fromCodePoint(number)}b`)).toMatch(/^a\\[\x20-\x7e]+b$/);
    }
  }
  expect(plain.value(plainCases.kept)).toBe(plainCases.kept);
});

test("numbers are written as in Rust", () => {
  const numbers = ["percent", "probability", "duration", "number"] as const;
  for (const name of numbers) {
    for (const [given, said] of wordCases[name] as [number, string][]) expect(words[name](given), name).toBe(said);
  }
  for (const [given, noun, said] of wordCases.count as [number, string, string][]) {
    expect(words.count(given, noun)).toBe(said);
  }
  for (const [executable, executions, said] of wordCases.margin as [boolean, number, string][]) {
    expect(words.margin({ ...line(1, ""), executable, executions })).toBe(said);
  }
});

test("words are those of Rust", () => {
  for (const [strength, edge_case, probability, said] of wordCases.strength as [
    Evidence["strength"],
    boolean,
    number,
    string,
  ][]) {
    expect(words.strength({ strength, edge_case, probability })).toBe(said);
  }
  expect(wordCases.verdicts.map(([verdict]) => verdict)).toEqual(words.VERDICTS);
  for (const [verdict, sign, word] of wordCases.verdicts as [Verdict, string, string][]) {
    expect([words.icon(verdict), words.verdictName(verdict)]).toEqual([sign, word]);
  }
  for (const [channel, said] of wordCases.channels as [Channel, string][]) {
    expect(words.channelName(channel)).toBe(said);
  }
  for (const [label, said] of wordCases.labels as [Label | null, string][]) expect(words.labelName(label)).toBe(said);
  for (const [version, said] of wordCases.versions as [VersionNumber, string][]) {
    expect(words.versionName(version)).toBe(said);
  }
  for (const [differs, examined, old_valid, new_valid, said] of wordCases.executions as [
    boolean,
    boolean,
    boolean,
    boolean,
    string,
  ][]) {
    const one = execution(1, { differs, examined, old_valid, new_valid });
    expect(words.OUTCOME_MARK[words.outcome(one)]).toBe(said);
  }
  expect([words.OUTCOME_LEGEND.nothing, words.OUTCOME_LEGEND.unexamined]).toEqual(wordCases.legends);
  for (const [label, verdict, said] of wordCases.disagrees as [Label | null, Verdict, boolean][]) {
    expect(disagrees({ label, verdict })).toBe(said);
  }
});

test("inputs and lines are told as in Rust", () => {
  for (const [gone, tried, said] of wordCases.weights as [number, number, string][]) {
    expect(words.weightText({ path: "x", gone, tried })).toBe(said);
  }
  for (const [old_line, new_line, old_hits, new_hits, said] of wordCases.partings as [
    number,
    number,
    number,
    number,
    string,
  ][]) {
    expect(words.partingSentence(pair(), { old_line, new_line, old_hits, new_hits })).toBe(said);
  }
});

test("studies are told as in Rust", () => {
  for (const [commit, said] of wordCases.commits as [string, string][]) expect(words.commitName(commit)).toBe(said);
  for (const [groups, drawn, said] of wordCases.groups as [number, [string, number, number][], string][]) {
    const shares = drawn.map(([name, changes, changing]) => ({ name, changes, changing }));
    expect(words.groupsSentence(groups, shares)).toBe(said);
  }
  for (const [most, said] of wordCases.too_many_years as [number, string][]) {
    expect(words.tooManyYears(most)).toBe(said);
  }
});
