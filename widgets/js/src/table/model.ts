// Which rows a table has, and in which order: TanStack sorts and filters. No elements.

import {
  columnFilteringFeature,
  constructTable,
  createFilteredRowModel,
  createSortedRowModel,
  rowSortingFeature,
  tableFeatures,
  type ColumnDef,
  type Row,
} from "@tanstack/table-core";
import { storeReactivityBindings } from "@tanstack/table-core/store-reactivity-bindings";

export interface Column<T> {
  id: string;
  title: string;
  /** By what it is sorted. */
  key(row: T): string | number | null;
  /** What is shown; the key where absent. Already plain. */
  text?(row: T): string;
  /** A track of CSS grid, e.g. `minmax(8em, 2fr)`. */
  width: string;
  kind?: "number" | "code" | "text";
  /** What is said when one points at it, where this is more than the text. Already plain. */
  hint?(row: T): string;
  /** It is shown only in tables that have this many pixels, or fewer than that many. */
  from?: number;
  below?: number;
  /** The first click sorts from the largest. */
  descendingFirst?: boolean;
}

/** Numbers by size, texts by their letters with numbers within by size. */
export function compare(a: string | number | null, b: string | number | null): number {
  if (typeof a === "number" && typeof b === "number") return a - b;
  return collator.compare(String(a), String(b));
}

const collator = new Intl.Collator("en", { numeric: true });

/** By which column the rows are sorted. */
export interface Sorting {
  id: string;
  desc: boolean;
}

/** Whether a column is shown in a table of this width. */
export function hasRoom({ from = 0, below = Infinity }: Pick<Column<never>, "from" | "below">, width: number): boolean {
  return from <= width && width < below;
}

export interface TableModel<T> {
  rows(): T[];
  sorting(): Sorting | null;
  toggleSorting(column: string): void;
  filter(test: ((row: T) => boolean) | null): void;
}

export function tableModel<T extends object>(
  columns: Column<T>[],
  rows: T[],
  id: (row: T) => string,
  sorting: Sorting | null = null,
): TableModel<T> {
  const features = tableFeatures({
    coreReactivityFeature: storeReactivityBindings(),
    rowSortingFeature,
    sortedRowModel: createSortedRowModel(),
    columnFilteringFeature,
    filteredRowModel: createFilteredRowModel(),
  });
  type Features = typeof features;
  const definitions: ColumnDef<Features, T>[] = columns.map((column) => ({
    id: column.id,
    accessorFn: (row: T) => column.key(row) ?? undefined,
    // What is absent comes last, whichever way it is sorted.
    sortUndefined: "last" as const,
    sortFn: (a: Row<Features, T>, b: Row<Features, T>) => compare(column.key(a.original), column.key(b.original)),
    sortDescFirst: column.descendingFirst ?? false,
    // A filter is a test of the whole row, kept at the first column.
    filterFn: (row: Row<Features, T>, _: string, test: (row: T) => boolean) => test(row.original),
  }));
  const initialState = { sorting: sorting ? [sorting] : [] };
  const table = constructTable({ features, columns: definitions, data: rows, getRowId: id, initialState });
  return {
    rows: () => table.getRowModel().rows.map((row) => row.original),
    sorting: () => table.atoms.sorting.get()[0] ?? null,
    toggleSorting: (column) => table.getColumn(column)?.toggleSorting(),
    filter: (test) => table.setColumnFilters(test ? [{ id: columns[0]?.id ?? "", value: test }] : []),
  };
}
