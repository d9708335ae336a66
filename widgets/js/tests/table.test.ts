import { expect, test } from "vitest";
import { compare, hasRoom, tableModel, type Column } from "../src/table/model";
import { VirtualTable } from "../src/table/virtual";

interface Row {
  id: string;
  size: number | null;
}
const columns: Column<Row>[] = [
  { id: "id", title: "Id", key: (row) => row.id, width: "1fr" },
  { id: "size", title: "Size", key: (row) => row.size, width: "1fr", kind: "number", descendingFirst: true },
];
const rows: Row[] = [
  { id: "b10", size: 2 },
  { id: "b9", size: null },
  { id: "a", size: 3 },
];
const model = () => tableModel(columns, rows, (row) => row.id);
const ids = (of: ReturnType<typeof model>) => of.rows().map((row) => row.id);

test("numbers within texts are compared by size", () => {
  expect(compare("b9", "b10")).toBeLessThan(0);
  expect(compare(2, 10)).toBeLessThan(0);
});

test("a column is there where the table has room for it", () => {
  expect([300, 640, 900].map((width) => hasRoom({ from: 640 }, width))).toEqual([false, true, true]);
  expect([300, 640].map((width) => hasRoom({ below: 640 }, width))).toEqual([true, false]);
});

test("what is absent comes last, up and down", () => {
  const table = model();
  table.toggleSorting("size");
  expect(ids(table)).toEqual(["a", "b10", "b9"]);
  table.toggleSorting("size");
  expect(ids(table)).toEqual(["b10", "a", "b9"]);
});

test("a column sorts up, down, and not at all", () => {
  const table = model();
  table.toggleSorting("id");
  expect(ids(table)).toEqual(["a", "b9", "b10"]);
  table.toggleSorting("id");
  expect(ids(table)).toEqual(["b10", "b9", "a"]);
  table.toggleSorting("id");
  expect(ids(table)).toEqual(
    ["b10", "b9", "a"].sort((a, b) => rows.findIndex((row) => row.id === a) - rows.findIndex((row) => row.id === b)),
  );
});

test("a filter keeps the sorting and can be taken away", () => {
  const table = model();
  table.toggleSorting("id");
  table.filter((row) => row.id.startsWith("b"));
  expect(ids(table)).toEqual(["b9", "b10"]);
  table.filter(null);
  expect(ids(table)).toEqual(["a", "b9", "b10"]);
});

test("ten thousand rows are sorted and filtered in no time", () => {
  const many = Array.from({ length: 10_000 }, (_, index) => ({ id: `row ${(index * 7919) % 10_000}`, size: index }));
  const table = tableModel(columns, many, (row) => row.id);
  table.toggleSorting("id");
  expect(table.rows()[9]?.id).toBe("row 9");
  table.filter((row) => (row.size ?? 0) % 2 === 0);
  expect(table.rows()).toHaveLength(5000);
});

test("who is told of by the table is the row itself, sorted, filtered or out of sight", () => {
  const table = new VirtualTable({
    label: "Rows",
    columns,
    rows,
    id: (row) => row.id,
    choose: () => undefined,
    empty: "",
  });
  document.body.append(table.element);
  const grid = table.element.querySelector<HTMLElement>("[role=grid]");
  const press = (key: string) => grid?.dispatchEvent(new KeyboardEvent("keydown", { key }));
  const active = () => {
    const id = grid?.getAttribute("aria-activedescendant");
    return id ? document.getElementById(id)?.firstElementChild?.textContent : null;
  };
  expect(active()).toBeNull();
  press("Home");
  const first = active();
  expect(first).toBe(rows[0]?.id);
  for (let times = 0; times < 2; times += 1) {
    table.element.querySelector<HTMLElement>("button")?.click();
    expect(active()).toBe(first);
  }
  table.filter((row) => row.id !== first);
  expect(active()).toBeNull();
  table.destroy();
});
