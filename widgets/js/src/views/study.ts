// A study: first the changes in a table, which verdicts, a search and a cell of the matrix (`matrix.ts`) filter; below
// it the matrix and the plots. The chosen change is shown in full in their place (`change.ts`).

import { h, replace } from "../dom";
import { studyFilter, type StudyFilter } from "../filter";
import type { Kernel } from "../kernel";
import { unpacked } from "../packed";
import { tag } from "../parts";
import * as places from "../places";
import * as plain from "../plain";
import { figuresView } from "../plots/figure";
import { studyPlots } from "../plots/study";
import { Store } from "../store";
import { VirtualTable } from "../table/virtual";
import type { ComparisonState, NoticeLine, StudyRow, StudyState } from "../types";
import * as words from "../words";
import { changeView, type Around, type ChangeView } from "./change";
import { changeColumns } from "./changes";
import { matrixView } from "./matrix";

interface StudyChoices extends StudyFilter {
  open: StudyRow | null;
}

/** Where the comparisons are that were kept: the one of a row, packed. */
export type Kept = (row: number) => Promise<string>;

/** The maximum height of the table in pixels. */
const HEIGHT = 560;
/** What the keys do while a change is open: steps through the listed changes. */
const STEPS: Record<string, 1 | -1> = { n: 1, p: -1 };

export class StudyView {
  readonly element: HTMLElement;
  private readonly store = new Store<StudyChoices>({ search: "", verdict: null, cell: null, open: null });
  private readonly all = new AbortController();
  private readonly numbers: Map<StudyRow, number>;
  private readonly table: VirtualTable<StudyRow>;
  private readonly overview: HTMLElement;
  private readonly detail = h("div", {});
  private opened: ChangeView | null = null;
  private dark = false;

  constructor(
    state: StudyState,
    private readonly kernel: Kernel | null,
    private readonly kept: Kept,
  ) {
    const { signal } = this.all;
    const { rows } = state;
    this.numbers = new Map(rows.map((row, index) => [row, index]));
    const found = h("span", { class: "tcw-quiet", role: "status" });
    this.table = new VirtualTable<StudyRow>({
      label: "Changes",
      columns: changeColumns(rows),
      rows,
      id: (row) => this.id(row),
      tone: (row) => words.tone(row.verdict),
      choose: (row) => this.store.set({ open: row }),
      listed: (listed) => (found.textContent = words.countOf(listed.length, rows.length, "change")),
      empty: rows.length === 0 ? "The study has no changes." : "No change matches.",
      height: HEIGHT,
      sorting: { id: "verdict", desc: false },
    });
    const isLabelled = rows.some((row) => row.label !== null);
    this.overview = h(
      "div",
      {},
      h("h2", { class: "tcw-studytitle" }, plain.sentence(state.title)),
      !!state.unfinished && h("p", { class: "tcw-lead" }, h("strong", {}, plain.sentence(state.unfinished))),
      !!state.without_sandbox && h("p", { class: "tcw-lead" }, h("strong", {}, plain.sentence(state.without_sandbox))),
      state.notices.length > 0 && h("ul", { class: "tcw-notices", "aria-label": "Notices" }, state.notices.map(notice)),
      h("div", FILTERS, verdicts(rows, this.store, signal), filters(this.store, signal), found),
      this.table.element,
      h("p", { class: "tcw-legend" }, sharedPlaces(rows), "Choose a change to see it in full."),
      figuresView(studyPlots(rows), signal, isLabelled ? matrixView(rows, this.store, signal) : null),
    );
    this.element = h(
      "div",
      { class: "tcw-study", onkeydown: (event: KeyboardEvent) => this.onKey(event) },
      this.overview,
      this.detail,
    );
    const filter = () => this.table.filter(studyFilter(this.store.get()));
    this.store.watch(["search", "verdict", "cell"], signal, filter);
    this.store.watch(["open"], signal, () => this.showOpen());
  }

  setDark(now: boolean): void {
    this.dark = now;
    this.opened?.setDark(now);
  }

  destroy(): void {
    this.opened?.destroy();
    this.table.destroy();
    this.all.abort();
  }

  private id(row: StudyRow): string {
    return String(this.numbers.get(row));
  }

  /** Shows the chosen change in place of the overview. */
  private showOpen(): void {
    const { open } = this.store.get();
    const moves = this.opened !== null && open !== null;
    this.opened?.destroy();
    this.opened = null;
    this.overview.hidden = open !== null;
    if (!open) return replace(this.detail);
    const number = this.numbers.get(open) ?? 0;
    const sources = {
      kept: open.kept ? async () => (await unpacked(await this.kept(number))) as ComparisonState : null,
      again: this.kernel && { kernel: this.kernel, ask: (kernel: Kernel) => kernel.open(number) },
    };
    this.opened = changeView(open, sources, this.around(open));
    this.opened.setDark(this.dark);
    replace(this.detail, this.opened.element);
    this.opened.focus();
    if (!moves) this.opened.element.scrollIntoView({ block: "nearest" });
  }

  /** The ways from a change to the listed ones around it, and back to the table. */
  private around(open: StudyRow): Around {
    const { rows } = this.table;
    const place = rows.indexOf(open);
    const to = (row: StudyRow | undefined) => row && (() => this.store.set({ open: row }));
    return {
      back: () => this.goBack(),
      previous: to(rows[place - 1]),
      next: to(rows[place + 1]),
      position: `${words.number(place + 1)} of ${words.number(rows.length)}`,
    };
  }

  /** Back to the row of the change that was open. */
  private goBack(): void {
    const { open } = this.store.get();
    this.store.set({ open: null });
    this.table.select(open && this.id(open), true);
    this.table.focus();
  }

  private onKey(event: KeyboardEvent): void {
    const { open } = this.store.get();
    const isTyping = (event.target as Element).closest("input, textarea, select, .cm-editor") !== null;
    if (!open || isTyping || event.defaultPrevented || event.altKey || event.ctrlKey || event.metaKey) return;
    const step = STEPS[event.key];
    if (event.key === "Escape") this.goBack();
    else if (step === undefined) return;
    else this.around(open)[step > 0 ? "next" : "previous"]?.();
    event.preventDefault();
    event.stopPropagation();
  }
}

/** A line that stands beside the verdicts. */
function notice(line: NoticeLine): HTMLElement {
  const tone = line.is_trust ? "tcw-trust" : "";
  return h("li", { class: tone }, h("strong", {}, plain.value(line.title)), ": ", plain.sentence(line.sentence));
}

const FILTERS = { class: "tcw-bar", role: "group", "aria-label": "Which changes" };

/** A button for each verdict, with its count. */
function verdicts(rows: StudyRow[], store: Store<StudyChoices>, signal: AbortSignal): HTMLElement[] {
  const counted = words.VERDICTS.map((verdict) => ({
    verdict,
    count: rows.filter((row) => row.verdict === verdict).length,
  }));
  return counted
    .filter(({ count }) => count > 0)
    .map(({ verdict, count }) => {
      const choose = () => store.set({ verdict: store.get().verdict === verdict ? null : verdict });
      const made = h(
        "button",
        { type: "button", class: `tcw-badge tcw-filter ${words.tone(verdict)}`, onclick: choose },
        `${words.icon(verdict)} ${words.number(count)} ${words.verdictName(verdict)}`,
      );
      const isChosen = () => made.setAttribute("aria-pressed", String(store.get().verdict === verdict));
      store.watch(["verdict"], signal, isChosen);
      return made;
    });
}

/** Fields that select the listed changes and show the selection. */
function filters(store: Store<StudyChoices>, signal: AbortSignal): HTMLElement[] {
  const search = h("input", {
    type: "search",
    class: "tcw-field tcw-search",
    placeholder: "Search changes",
    "aria-label": "Search names, places and reasons of changes",
    oninput: () => store.set({ search: search.value }),
  });
  const filtered = h("span", {});
  store.watch(["cell"], signal, () => {
    const { cell } = store.get();
    const name = cell && `${words.labelName(cell.label)} → ${words.verdictName(cell.verdict)}`;
    replace(filtered, name && tag(name, "No longer only one cell of the matrix", () => store.set({ cell: null })));
  });
  return [search, filtered];
}

/** What the table does not repeat in every row. */
function sharedPlaces(rows: StudyRow[]): string {
  const { project, folder } = places.shared(rows);
  const parts = [project && `project ${plain.value(project)}`, folder && `files in ${plain.value(folder)}`];
  const said = parts.filter(Boolean).join(", ");
  return said && `All changes: ${said}. `;
}
