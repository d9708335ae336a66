// A table of any length: only the rows in sight have elements. The rows are one tab stop; arrows move, Enter chooses.

import { elementScroll, observeElementOffset, observeElementRect, Virtualizer } from "@tanstack/virtual-core";
import { h, replace } from "../dom";
import { header, type Header } from "./header";
import { hasRoom, tableModel, type Sorting, type TableModel } from "./model";
import { ROW_HEIGHT, RowElements, type Listed, type RowLook } from "./rows";

export interface TableOptions<T> extends RowLook<T> {
  label: string;
  rows: T[];
  choose(row: T): void;
  /** Called when the listed rows or their order change. */
  listed?(rows: T[]): void;
  empty: string;
  /** How it is sorted at first. */
  sorting?: Sorting;
  /** The maximum height in pixels. */
  height?: number;
}

/** The default maximum height in pixels. */
const HEIGHT = 400;

export class VirtualTable<T extends object> {
  readonly element: HTMLElement;
  private readonly model: TableModel<T>;
  private readonly listed: Listed<T>;
  private readonly header: Header;
  private readonly elements: RowElements<T>;
  private readonly empty: HTMLElement;
  private readonly scroller: HTMLElement;
  private readonly virtualizer: Virtualizer<HTMLElement, HTMLElement>;
  private readonly unmount: () => void;
  private readonly start: number;
  private readonly widths: ResizeObserver;

  constructor(private readonly options: TableOptions<T>) {
    const { columns, label } = options;
    this.model = tableModel(columns, options.rows, options.id, options.sorting);
    this.listed = { rows: this.model.rows(), active: -1, selected: null };
    this.header = header(columns, (column) => {
      this.model.toggleSorting(column);
      this.refresh();
    });
    this.elements = new RowElements(options, (index) => this.choose(index));
    this.empty = h("p", { class: "tcw-quiet tcw-empty", hidden: true }, options.empty);
    this.scroller = h(
      "div",
      {
        role: "grid",
        class: "tcw-vtable",
        tabindex: 0,
        "aria-label": label,
        style: `max-height: ${options.height ?? HEIGHT}px`,
        onkeydown: (event: KeyboardEvent) => this.onKey(event),
      },
      this.header.element,
      this.elements.body,
    );
    this.element = h("div", {}, this.scroller, this.empty);
    this.fit(Infinity);
    this.widths = new ResizeObserver(([entry]) => {
      const width = entry?.contentRect.width ?? 0;
      // A table out of sight has no width.
      if (width > 0) this.fit(width);
    });
    this.widths.observe(this.scroller);
    this.virtualizer = new Virtualizer(this.virtualOptions());
    this.unmount = this.virtualizer._didMount();
    // The scroller has no size before it is in the page.
    this.start = requestAnimationFrame(() => {
      this.virtualizer._willUpdate();
      this.draw();
    });
    this.refresh();
  }

  filter(test: ((row: T) => boolean) | null): void {
    this.model.filter(test);
    this.scroller.scrollTop = 0;
    this.refresh();
  }

  /** The listed rows, in their order. */
  get rows(): readonly T[] {
    return this.listed.rows;
  }

  /** Gives the keyboard to the rows. */
  focus(): void {
    this.scroller.focus({ preventScroll: true });
    this.scroller.scrollIntoView({ block: "nearest" });
  }

  select(id: string | null, reveal = false): void {
    this.listed.selected = id;
    const index = this.indexOf(id);
    if (index >= 0 && reveal) this.move(index);
    else this.elements.mark(this.listed);
  }

  destroy(): void {
    cancelAnimationFrame(this.start);
    this.widths.disconnect();
    this.unmount();
    replace(this.elements.body);
  }

  private virtualOptions() {
    return {
      count: this.listed.rows.length,
      getScrollElement: () => this.scroller,
      estimateSize: () => ROW_HEIGHT,
      observeElementRect,
      observeElementOffset,
      scrollToFn: elementScroll,
      overscan: 6,
      scrollPaddingStart: ROW_HEIGHT,
      initialRect: { width: 800, height: this.options.height ?? HEIGHT },
      onChange: () => this.draw(),
    };
  }

  private fit(width: number): void {
    const tracks = this.options.columns.filter((column) => hasRoom(column, width)).map((column) => column.width);
    this.scroller.style.setProperty("--tracks", tracks.join(" "));
    this.scroller.setAttribute("aria-colcount", String(tracks.length));
    this.header.fit(width);
    this.elements.fit(width);
  }

  private indexOf(id: string | null): number {
    return id === null ? -1 : this.listed.rows.findIndex((row) => this.options.id(row) === id);
  }

  /** Lists the model's present rows. The row with the keyboard focus stays the same. */
  private refresh(): void {
    const { listed } = this;
    const active = listed.rows[listed.active];
    listed.rows = this.model.rows();
    listed.active = this.indexOf(active === undefined ? null : this.options.id(active));
    this.virtualizer.setOptions(this.virtualOptions());
    this.virtualizer.measure();
    this.header.show(this.model.sorting());
    this.scroller.setAttribute("aria-rowcount", String(listed.rows.length + 1));
    this.elements.body.style.height = `${listed.rows.length * ROW_HEIGHT}px`;
    this.empty.hidden = listed.rows.length > 0;
    this.elements.clear();
    this.draw();
    this.options.listed?.(listed.rows);
  }

  private draw(): void {
    const indices = this.virtualizer.getVirtualItems().map((item) => item.index);
    this.elements.draw(indices, this.listed);
    // Rows out of sight have no element.
    const spoken = this.elements.elementId(this.listed.active);
    if (spoken === undefined) this.scroller.removeAttribute("aria-activedescendant");
    else this.scroller.setAttribute("aria-activedescendant", spoken);
  }

  private choose(index: number): void {
    const row = this.listed.rows[index];
    if (!row) return;
    this.move(index);
    this.options.choose(row);
  }

  private move(index: number): void {
    const { rows } = this.listed;
    if (rows.length === 0) return;
    this.listed.active = Math.max(0, Math.min(rows.length - 1, index));
    this.virtualizer.scrollToIndex(this.listed.active, { align: "auto" });
    this.draw();
    this.elements.mark(this.listed);
  }

  private onKey(event: KeyboardEvent): void {
    if (event.target !== this.scroller || event.altKey || event.ctrlKey || event.metaKey) return;
    const { active, rows } = this.listed;
    const page = Math.max(1, Math.floor(this.scroller.clientHeight / ROW_HEIGHT) - 2);
    const steps: Record<string, number> = {
      ArrowDown: active + 1,
      ArrowUp: active < 0 ? 0 : active - 1,
      PageDown: active + page,
      PageUp: active - page,
      Home: 0,
      End: rows.length - 1,
    };
    const step = steps[event.key];
    if (step !== undefined) this.move(step);
    else if (event.key === "Enter" || event.key === " ") this.choose(active);
    else return;
    event.preventDefault();
  }
}
