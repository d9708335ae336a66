// The row of headings of a table: a button for each column, with an arrow that says how it is sorted.

import { h } from "../dom";
import { hasRoom, type Column, type Sorting } from "./model";

export interface Header {
  element: HTMLElement;
  /** Shows the columns that have room in this width. */
  fit(width: number): void;
  /** Shows by which column the rows are sorted. */
  show(sorting: Sorting | null): void;
}

export function header<T>(columns: Column<T>[], sortBy: (column: string) => void): Header {
  const cells = columns.map((column) => {
    const arrow = h("span", { class: "tcw-arrow", "aria-hidden": "true" });
    const button = h(
      "button",
      { type: "button", class: "tcw-sort", onclick: () => sortBy(column.id) },
      column.title,
      arrow,
    );
    const cell = h("div", { role: "columnheader", class: column.kind === "number" ? "tcw-num" : null }, button);
    return { id: column.id, cell, arrow };
  });
  const row = h(
    "div",
    { role: "row", "aria-rowindex": 1, class: "tcw-vrow" },
    cells.map(({ cell }) => cell),
  );
  return {
    element: h("div", { role: "rowgroup", class: "tcw-vhead" }, row),
    fit(width) {
      cells.forEach(({ cell }, at) => (cell.hidden = !hasRoom(columns[at] ?? {}, width)));
    },
    show(sorting) {
      for (const { id, cell, arrow } of cells) {
        const order = sorting?.id !== id ? "none" : sorting.desc ? "descending" : "ascending";
        cell.setAttribute("aria-sort", order);
        arrow.textContent = { none: "", ascending: " ↑", descending: " ↓" }[order];
      }
    },
  };
}
