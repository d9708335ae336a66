// What a tree of prefixes says about its nodes, without elements.

import type { PrefixesState, PrefixNode } from "./types";

/** The nodes that people see first: the best one, then the others of P. */
export function keptNodes(state: PrefixesState): PrefixNode[] {
  return state.kept.flatMap((number) => state.nodes.filter((node) => node.number === number));
}

/** `★ 12` for the best one. */
export function nodeName(node: PrefixNode): string {
  return node.best ? `★ ${node.number}` : String(node.number);
}

/** A node with the snippet behind it, as one file. */
export function program({ around: [before, after] }: PrefixesState, { text }: PrefixNode): string {
  return text === "" ? before + after : `${before}${text}\n${after}`;
}

/** A node as a cell of a notebook. */
export function cell({ before_cell }: PrefixesState, { text }: PrefixNode): string {
  return before_cell + text;
}

/** A pytest file with the tests of these nodes. Null if the code ends behind none of them. */
export function testFile(state: PrefixesState, nodes: readonly PrefixNode[]): string | null {
  const tests = nodes.flatMap(({ test }) => (test === null ? [] : [test]));
  return tests.length === 0 ? null : state.test_beginning + tests.join("");
}

/** The number of values of each type by node, the most frequent type first. */
export function valueTable(nodes: readonly PrefixNode[]): { type: string; counts: number[] }[] {
  const rows = new Map<string, number[]>();
  nodes.forEach(({ makes }, position) => {
    for (const [type, count] of makes) {
      const counts = rows.get(type) ?? nodes.map(() => 0);
      counts[position] = count;
      rows.set(type, counts);
    }
  });
  const sum = (counts: number[]) => counts.reduce((all, one) => all + one, 0);
  return [...rows]
    .map(([type, counts]) => ({ type, counts }))
    .sort((a, b) => sum(b.counts) - sum(a.counts) || (a.type < b.type ? -1 : 1));
}

/** What a line of the snippet did behind a node: it completed, an exception ended the snippet there, or neither. */
export type Reach = "completed" | "ended" | "missed" | "none";

/** The number of lines of a text. */
export function lineCount(text: string): number {
  return text === "" ? 0 : text.replace(/\n$/, "").split("\n").length;
}

/** What each line of the snippet did, by its number. A line on which no statement begins did nothing. */
export function reach(state: PrefixesState, node: PrefixNode): Map<number, Reach> {
  const completed = new Set(node.completed);
  const of = (number: number, statement: boolean): Reach => {
    if (number === node.ended_at) return "ended";
    if (!statement) return "none";
    return completed.has(number) ? "completed" : "missed";
  };
  return new Map(state.code.map(({ number, statement }) => [number, of(number, statement)]));
}
