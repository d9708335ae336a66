// A table of any length: TanStack sorts and filters, only the rows in sight have elements, and those are used again
// while one scrolls. The rows are one tab stop; arrows move, Enter chooses.

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
import { elementScroll, observeElementOffset, observeElementRect, Virtualizer } from "@tanstack/virtual-core";
import { classes, h, replace, uniqueId } from "./dom";

const ROW_HEIGHT = 28;

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
  /** The first click sorts from the largest. */
  descendingFirst?: boolean;
}

export interface TableOptions<T> {
  label: string;
  columns: Column<T>[];
  rows: T[];
  /** What no other row has; without spaces. */
  id(row: T): string;
  /** Classes of a row. */
  tone?(row: T): string;
  choose(row: T): void;
  /** Called when other rows are listed, or in another order. */
  listed?(rows: T[]): void;
  empty: string;
  /** Pixels at most. */
  height?: number;
}

export interface VirtualTable<T> {
  element: HTMLElement;
  filter(test: ((row: T) => boolean) | null): void;
  select(id: string | null, reveal?: boolean): void;
  destroy(): void;
}

/** Numbers by size, texts by their letters with numbers within by size. */
export function compare(a: string | number | null, b: string | number | null): number {
  if (typeof a === "number" && typeof b === "number") return a - b;
  return collator.compare(String(a), String(b));
}

const collator = new Intl.Collator("en", { numeric: true });

/** Rows sorted and filtered; no elements. */
export function tableModel<T extends object>(columns: Column<T>[], rows: T[], id: (row: T) => string) {
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
  const table = constructTable({ features, columns: definitions, data: rows, getRowId: id });
  return {
    rows: () => table.getRowModel().rows.map((row) => row.original),
    sorting: () => table.atoms.sorting.get()[0] ?? null,
    toggleSorting: (column: string) => table.getColumn(column)?.toggleSorting(),
    filter: (test: ((row: T) => boolean) | null) =>
      table.setColumnFilters(test ? [{ id: columns[0]?.id ?? "", value: test }] : []),
  };
}

export function virtualTable<T extends object>(options: TableOptions<T>): VirtualTable<T> {
  const { columns } = options;
  const model = tableModel(columns, options.rows, options.id);
  const name = uniqueId("row");
  const tracks = columns.map((column) => column.width).join(" ");
  let rows = model.rows();
  let active = -1;
  let selected: string | null = null;

  const headers = columns.map((column) => {
    const arrow = h("span", { class: "tcw-arrow", "aria-hidden": "true" });
    const button = h(
      "button",
      { type: "button", class: "tcw-sort", onclick: () => sortBy(column.id) },
      column.title,
      arrow,
    );
    return h("div", { role: "columnheader", class: column.kind === "number" ? "tcw-num" : null }, button);
  });
  const head = h(
    "div",
    { role: "rowgroup", class: "tcw-vhead" },
    h("div", { role: "row", "aria-rowindex": 1, class: "tcw-vrow" }, headers),
  );
  const body = h("div", { role: "rowgroup", class: "tcw-vbody" });
  const empty = h("p", { class: "tcw-quiet tcw-empty", hidden: true }, options.empty);
  const scroller = h(
    "div",
    {
      role: "grid",
      class: "tcw-vtable",
      tabindex: 0,
      "aria-label": options.label,
      "aria-colcount": columns.length,
      style: `--tracks: ${tracks}; max-height: ${options.height ?? 400}px`,
      onkeydown: (event: KeyboardEvent) => onKey(event),
    },
    head,
    body,
  );
  const element = h("div", {}, scroller, empty);

  const shown = new Map<number, HTMLElement>();
  const spare: HTMLElement[] = [];

  const virtualizer = new Virtualizer<HTMLElement, HTMLElement>(virtualOptions());
  const unmount = virtualizer._didMount();
  // The scroller has no size before it is in the page.
  const start = requestAnimationFrame(() => {
    virtualizer._willUpdate();
    draw();
  });
  refresh();

  function virtualOptions() {
    return {
      count: rows.length,
      getScrollElement: () => scroller,
      estimateSize: () => ROW_HEIGHT,
      observeElementRect,
      observeElementOffset,
      scrollToFn: elementScroll,
      overscan: 6,
      scrollPaddingStart: ROW_HEIGHT,
      initialRect: { width: 800, height: options.height ?? 400 },
      onChange: () => draw(),
    };
  }

  function sortBy(column: string): void {
    model.toggleSorting(column);
    refresh();
  }

  function refresh(): void {
    const before = rows[active];
    const activeId = before === undefined ? null : options.id(before);
    rows = model.rows();
    active = activeId === null ? -1 : rows.findIndex((row) => options.id(row) === activeId);
    virtualizer.setOptions(virtualOptions());
    virtualizer.measure();
    const sorting = model.sorting();
    columns.forEach((column, index) => {
      const sorted = sorting?.id === column.id ? (sorting.desc ? "descending" : "ascending") : "none";
      headers[index]?.setAttribute("aria-sort", sorted);
      const arrow = headers[index]?.querySelector(".tcw-arrow");
      if (arrow) arrow.textContent = sorted === "none" ? "" : sorted === "descending" ? " ↓" : " ↑";
    });
    scroller.setAttribute("aria-rowcount", String(rows.length + 1));
    body.style.height = `${rows.length * ROW_HEIGHT}px`;
    empty.hidden = rows.length > 0;
    for (const [index, row] of shown) release(index, row);
    draw();
    options.listed?.(rows);
  }

  function release(index: number, row: HTMLElement): void {
    shown.delete(index);
    row.remove();
    spare.push(row);
  }

  function draw(): void {
    const items = virtualizer.getVirtualItems();
    const wanted = new Set(items.map((item) => item.index));
    for (const [index, row] of shown) if (!wanted.has(index)) release(index, row);
    // In the order of the rows, which is the order in which they are read aloud.
    let next = body.firstElementChild;
    for (const { index } of items) {
      const row = rows[index];
      if (!row) continue;
      let element = shown.get(index);
      if (!element) {
        element = spare.pop() ?? blank();
        fill(element, row, index);
        shown.set(index, element);
      }
      if (element === next) next = next.nextElementSibling;
      else body.insertBefore(element, next);
    }
    // Rows that are not in sight have no element to speak of.
    const spoken = shown.get(active)?.id;
    if (spoken === undefined) scroller.removeAttribute("aria-activedescendant");
    else scroller.setAttribute("aria-activedescendant", spoken);
  }

  function blank(): HTMLElement {
    const cells = columns.map((column) =>
      h(
        "div",
        {
          role: "gridcell",
          class: classes(column.kind === "number" && "tcw-num", column.kind === "code" && "tcw-mono"),
        },
        document.createTextNode(""),
      ),
    );
    return h(
      "div",
      {
        role: "row",
        onclick: (event: MouseEvent) => choose(Number((event.currentTarget as HTMLElement).dataset.index)),
      },
      cells,
    );
  }

  function fill(element: HTMLElement, row: T, index: number): void {
    element.dataset.index = String(index);
    element.id = `${name}-${options.id(row)}`;
    element.setAttribute("aria-rowindex", String(index + 2));
    element.style.transform = `translateY(${index * ROW_HEIGHT}px)`;
    columns.forEach((column, at) => {
      const cell = element.children[at] as HTMLElement;
      const text = column.text ? column.text(row) : String(column.key(row) ?? "");
      // Texts of cells that are used again are changed in place, which is quicker than making new ones.
      const node = cell.firstChild as Text;
      if (node.data !== text) {
        node.data = text;
        if (column.kind === "code") cell.title = text;
      }
    });
    mark(element, row, index);
  }

  function mark(element: HTMLElement, row: T, index: number): void {
    const chosen = options.id(row) === selected;
    element.className = classes(
      "tcw-vrow",
      options.tone?.(row),
      chosen && "tcw-selected",
      index === active && "tcw-active",
    );
    element.setAttribute("aria-selected", String(chosen));
  }

  function markAll(): void {
    for (const [index, element] of shown) {
      const row = rows[index];
      if (row) mark(element, row, index);
    }
  }

  function choose(index: number): void {
    const row = rows[index];
    if (!row) return;
    move(index);
    options.choose(row);
  }

  function move(index: number): void {
    if (rows.length === 0) return;
    active = Math.max(0, Math.min(rows.length - 1, index));
    virtualizer.scrollToIndex(active, { align: "auto" });
    draw();
    markAll();
  }

  function onKey(event: KeyboardEvent): void {
    if (event.target !== scroller || event.altKey || event.ctrlKey || event.metaKey) return;
    const page = Math.max(1, Math.floor(scroller.clientHeight / ROW_HEIGHT) - 2);
    const steps: Record<string, number> = {
      ArrowDown: active + 1,
      ArrowUp: active < 0 ? 0 : active - 1,
      PageDown: active + page,
      PageUp: active - page,
      Home: 0,
      End: rows.length - 1,
    };
    const step = steps[event.key];
    if (step !== undefined) move(step);
    else if (event.key === "Enter" || event.key === " ") choose(active);
    else return;
    event.preventDefault();
  }

  return {
    element,
    filter(test) {
      model.filter(test);
      scroller.scrollTop = 0;
      refresh();
    },
    select(id, reveal = false) {
      selected = id;
      const index = rows.findIndex((row) => options.id(row) === id);
      if (index >= 0 && reveal) move(index);
      else markAll();
    },
    destroy() {
      cancelAnimationFrame(start);
      unmount();
      replace(body);
    },
  };
}
