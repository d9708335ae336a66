// The elements of the rows in sight. There are as many as fit, and scrolling reuses them.

import { classes, h, uniqueId } from "../dom";
import { hasRoom, type Column } from "./model";

export const ROW_HEIGHT = 28;

/** The look of a row besides its cells. */
export interface RowLook<T> {
  columns: Column<T>[];
  /** A unique key without spaces. */
  id(row: T): string;
  /** Classes of a row. */
  tone?(row: T): string;
}

/** The rows of a table, and which of them stand out. */
export interface Listed<T> {
  rows: T[];
  /** The index of the row that the keyboard is at; -1 for none. */
  active: number;
  /** The id of the row that was chosen. */
  selected: string | null;
}

export class RowElements<T> {
  readonly body = h("div", { role: "rowgroup", class: "tcw-vbody" });
  private readonly name = uniqueId("row");
  private readonly shown = new Map<number, HTMLElement>();
  private readonly spare: HTMLElement[] = [];
  private width = Infinity;

  constructor(
    private readonly look: RowLook<T>,
    private readonly choose: (index: number) => void,
  ) {}

  /** Takes all rows out of sight, since others come. */
  clear(): void {
    for (const [index, element] of this.shown) this.release(index, element);
  }

  /** Shows the rows at these indices and no others. */
  draw(indices: number[], listed: Listed<T>): void {
    const wanted = new Set(indices);
    for (const [index, element] of this.shown) if (!wanted.has(index)) this.release(index, element);
    // In the order of the rows, which is the order in which they are read aloud.
    let next = this.body.firstElementChild;
    for (const index of indices) {
      const row = listed.rows[index];
      if (!row) continue;
      const element = this.shown.get(index) ?? this.enter(index, row, listed);
      if (element === next) next = next.nextElementSibling;
      else this.body.insertBefore(element, next);
    }
  }

  /** Shows the columns that have room in this width. */
  fit(width: number): void {
    this.width = width;
    for (const element of [...this.shown.values(), ...this.spare]) this.hideColumns(element);
  }

  /** Marks the rows in sight anew. */
  mark(listed: Listed<T>): void {
    for (const [index, element] of this.shown) {
      const row = listed.rows[index];
      if (row) this.markOne(element, row, index, listed);
    }
  }

  /** The id of the element of a row; none where it is not in sight. */
  elementId(index: number): string | undefined {
    return this.shown.get(index)?.id;
  }

  private release(index: number, element: HTMLElement): void {
    this.shown.delete(index);
    element.remove();
    this.spare.push(element);
  }

  private enter(index: number, row: T, listed: Listed<T>): HTMLElement {
    const element = this.spare.pop() ?? this.blank();
    this.fill(element, row, index);
    this.markOne(element, row, index, listed);
    this.shown.set(index, element);
    return element;
  }

  private blank(): HTMLElement {
    const cells = this.look.columns.map(({ kind }) => {
      const tone = classes(kind === "number" && "tcw-num", kind === "code" && "tcw-mono");
      return h("div", { role: "gridcell", class: tone }, document.createTextNode(""));
    });
    const choose = (event: MouseEvent) => this.choose(Number((event.currentTarget as HTMLElement).dataset.index));
    const row = h("div", { role: "row", onclick: choose }, cells);
    this.hideColumns(row);
    return row;
  }

  private hideColumns(row: HTMLElement): void {
    this.look.columns.forEach((column, at) => {
      (row.children[at] as HTMLElement).hidden = !hasRoom(column, this.width);
    });
  }

  private fill(element: HTMLElement, row: T, index: number): void {
    element.dataset.index = String(index);
    element.id = `${this.name}-${this.look.id(row)}`;
    element.setAttribute("aria-rowindex", String(index + 2));
    element.style.transform = `translateY(${index * ROW_HEIGHT}px)`;
    this.look.columns.forEach((column, at) => {
      const cell = element.children[at] as HTMLElement;
      const text = column.text ? column.text(row) : String(column.key(row) ?? "");
      // Texts of cells that are used again are changed in place, which is quicker than making new ones.
      const node = cell.firstChild as Text;
      if (node.data === text && !column.hint) return;
      node.data = text;
      if (column.kind !== "number") cell.title = column.hint?.(row) ?? text;
    });
  }

  private markOne(element: HTMLElement, row: T, index: number, { active, selected }: Listed<T>): void {
    const chosen = this.look.id(row) === selected;
    element.className = classes(
      "tcw-vrow",
      this.look.tone?.(row),
      chosen && "tcw-selected",
      index === active && "tcw-active",
    );
    element.setAttribute("aria-selected", String(chosen));
  }
}
