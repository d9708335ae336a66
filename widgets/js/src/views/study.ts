// A study: verdicts against labels (`matrix.ts`), distributions over the changes, and the changes in a table.
// A cell of the matrix filters the table. The chosen change is shown in full (`change.ts`).

import { h, replace } from "../dom";
import { studyFilter, type StudyFilter } from "../filter";
import type { Kernel } from "../kernel";
import * as plain from "../plain";
import { figureView } from "../plots/figure";
import { studyPlots } from "../plots/study";
import { Store } from "../store";
import type { Column } from "../table/model";
import { VirtualTable } from "../table/virtual";
import type { StudyRow, StudyState } from "../types";
import * as words from "../words";
import { changeView, type ChangeView } from "./change";
import { matrixView } from "./matrix";
import { tag } from "../parts";

interface StudyChoices extends StudyFilter {
  open: StudyRow | null;
}

const VERDICT_ORDER = { changing: 0, inconclusive: 1, likely_preserving: 2, identical: 3 };
const mark = (row: StudyRow) => `${words.icon(row.verdict)} ${words.verdictName(row.verdict)}`;

const columns: Column<StudyRow>[] = [
  {
    id: "id",
    title: "Change",
    key: (row) => row.id,
    text: (row) => plain.value(row.id),
    width: "minmax(160px, 2fr)",
    kind: "code",
  },
  { id: "verdict", title: "Verdict", key: (row) => VERDICT_ORDER[row.verdict] ?? 9, text: mark, width: "146px" },
  { id: "label", title: "Label", key: (row) => row.label, text: (row) => words.labelName(row.label), width: "96px" },
  {
    id: "reason",
    title: "Reason",
    key: (row) => row.reason,
    text: (row) => plain.value(row.reason),
    width: "minmax(140px, 2fr)",
  },
  {
    id: "executions",
    title: "Executions",
    key: (row) => row.executions,
    text: (row) => words.number(row.executions),
    width: "104px",
    kind: "number",
    descendingFirst: true,
  },
  {
    id: "coverage",
    title: "Covered",
    key: (row) => row.coverage,
    // Where nothing ran there is nothing to cover.
    text: (row) => (row.executions === 0 ? "–" : words.percent(row.coverage)),
    width: "90px",
    kind: "number",
    descendingFirst: true,
  },
  {
    id: "time",
    title: "Time",
    key: (row) => row.milliseconds,
    text: (row) => words.duration(row.milliseconds),
    width: "86px",
    kind: "number",
    descendingFirst: true,
  },
];

export class StudyView {
  readonly element: HTMLElement;
  private readonly store = new Store<StudyChoices>({ search: "", cell: null, open: null });
  private readonly all = new AbortController();
  private readonly ids: Map<StudyRow, string>;
  private readonly table: VirtualTable<StudyRow>;
  private readonly overview: HTMLElement;
  private readonly detail = h("div", {});
  private opened: ChangeView | null = null;
  private dark = false;

  constructor(
    private readonly state: StudyState,
    private readonly kernel: Kernel | null,
  ) {
    const { signal } = this.all;
    this.ids = new Map(state.rows.map((row, index) => [row, String(index)]));
    const found = h("span", { class: "tcw-quiet", role: "status" });
    this.table = new VirtualTable<StudyRow>({
      label: "Changes",
      columns,
      rows: state.rows,
      id: (row) => this.ids.get(row) ?? "",
      tone: (row) => words.tone(row.verdict),
      choose: (row) => this.store.set({ open: row }),
      listed: (rows) => (found.textContent = words.countOf(rows.length, state.rows.length, "change")),
      empty: "No change matches.",
    });
    const figures = studyPlots(state.rows).map((figure) => figureView(figure, signal));
    this.overview = h(
      "div",
      {},
      h("h2", { class: "tcw-studytitle" }, plain.sentence(state.title)),
      h("p", { class: "tcw-lead" }, summary(state)),
      !!state.without_sandbox && h("p", { class: "tcw-lead" }, h("strong", {}, plain.sentence(state.without_sandbox))),
      h(
        "div",
        { class: "tcw-two tcw-studytop" },
        matrixView(state.rows, this.store, signal),
        h("div", { class: "tcw-figures" }, figures),
      ),
      h("div", FILTERS, filters(this.store, signal), found),
      this.table.element,
      h("p", { class: "tcw-legend" }, "Choose a change to see it in full."),
    );
    this.element = h("div", { class: "tcw-study" }, this.overview, this.detail);
    this.store.watch(["search", "cell"], signal, () => this.table.filter(studyFilter(this.store.get())));
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

  /** Shows the chosen change in place of the overview. */
  private showOpen(): void {
    const { open } = this.store.get();
    this.opened?.destroy();
    this.opened = null;
    this.overview.hidden = open !== null;
    this.table.select(open ? (this.ids.get(open) ?? null) : null);
    if (!open) return replace(this.detail);
    const ask = (live: Kernel) => live.open(this.state.rows.indexOf(open));
    this.opened = changeView(open, this.kernel, ask, () => {
      this.store.set({ open: null });
      this.table.element.querySelector<HTMLElement>("[role=grid]")?.focus();
    });
    this.opened.setDark(this.dark);
    replace(this.detail, this.opened.element);
    this.opened.element.querySelector("button")?.focus();
  }
}

const FILTERS = { class: "tcw-bar", role: "group", "aria-label": "Which changes" };

/** Fields that select the listed changes and show the selection. */
function filters(store: Store<StudyChoices>, signal: AbortSignal): HTMLElement[] {
  const search = h("input", {
    type: "search",
    class: "tcw-field tcw-search",
    placeholder: "Search changes",
    "aria-label": "Search names and reasons of changes",
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

function summary(state: StudyState): string {
  const by = (verdict: string) => state.rows.filter((row) => row.verdict === verdict).length;
  const parts = (["changing", "likely_preserving", "identical", "inconclusive"] as const)
    .filter((verdict) => by(verdict) > 0)
    .map((verdict) => `${words.number(by(verdict))} ${words.verdictName(verdict)}`);
  return `${words.count(state.rows.length, "change")}: ${parts.join(", ")}.`;
}
