// A study: how verdicts stand against labels, distributions over the changes, and the changes in a table. A cell of the
// matrix filters the table; a change that is chosen is shown in full, which is in `change.ts`.

import { classes, h, replace } from "../dom";
import { cellKey, confusion, studyFilter, type StudyFilter } from "../filter";
import type { Kernel } from "../kernel";
import * as plain from "../plain";
import { figureView } from "../plots/figure";
import { studyPlots } from "../plots/study";
import { Store } from "../store";
import { virtualTable, type Column } from "../table";
import type { StudyRow, StudyState } from "../types";
import * as words from "../words";
import { changeView, type ChangeView } from "./change";

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

export function studyView(state: StudyState, kernel: Kernel | null) {
  const store = new Store<StudyChoices>({ search: "", cell: null, open: null });
  const all = new AbortController();
  let opened: ChangeView | null = null;
  let dark = false;

  const ids = new Map(state.rows.map((row, index) => [row, String(index)]));
  const found = h("span", { class: "tcw-quiet", role: "status" });
  const table = virtualTable<StudyRow>({
    label: "Changes",
    columns,
    rows: state.rows,
    id: (row) => ids.get(row) ?? "",
    tone: (row) => words.tone(row.verdict),
    choose: (row) => store.set({ open: row }),
    listed: (rows) => {
      found.textContent =
        rows.length === state.rows.length
          ? words.count(rows.length, "change")
          : `${words.number(rows.length)} of ${words.count(state.rows.length, "change")}`;
    },
    empty: "No change is like that.",
  });
  const search = h("input", {
    type: "search",
    class: "tcw-field tcw-search",
    placeholder: "Search changes",
    "aria-label": "Search names and reasons of changes",
    oninput: () => store.set({ search: search.value }),
  });
  const filtered = h("span", {});
  const matrix = matrixView(state, store, all.signal);
  const overview = h(
    "div",
    {},
    h("h2", { class: "tcw-studytitle" }, plain.sentence(state.title)),
    h("p", { class: "tcw-lead" }, summary(state)),
    h(
      "div",
      { class: "tcw-two tcw-studytop" },
      matrix,
      h(
        "div",
        { class: "tcw-figures" },
        studyPlots(state.rows).map((figure) => figureView(figure, all.signal)),
      ),
    ),
    h("div", { class: "tcw-bar", role: "group", "aria-label": "Which changes" }, search, filtered, found),
    table.element,
    h("p", { class: "tcw-legend" }, "Choose a change to see it in full."),
  );
  const detail = h("div", {});
  const element = h("div", { class: "tcw-study" }, overview, detail);

  store.watch(["search", "cell"], all.signal, () => {
    const now = store.get();
    const { cell } = now;
    replace(
      filtered,
      cell &&
        h(
          "button",
          {
            type: "button",
            class: "tcw-tag",
            "aria-label": "No longer only one cell of the matrix",
            onclick: () => store.set({ cell: null }),
          },
          `${words.labelName(cell.label as StudyRow["label"])} → ${words.verdictName(cell.verdict as StudyRow["verdict"])} ✕`,
        ),
    );
    table.filter(studyFilter(now));
  });
  store.watch(["open"], all.signal, () => {
    const { open } = store.get();
    opened?.destroy();
    opened = null;
    overview.hidden = open !== null;
    table.select(open ? (ids.get(open) ?? null) : null);
    if (!open) return replace(detail);
    const ask = (live: Kernel) => live.open(state.rows.indexOf(open));
    opened = changeView(open, kernel, ask, () => {
      store.set({ open: null });
      table.element.querySelector<HTMLElement>("[role=grid]")?.focus();
    });
    opened.setDark(dark);
    replace(detail, opened.element);
    opened.element.querySelector("button")?.focus();
  });

  return {
    element,
    setDark(now: boolean) {
      dark = now;
      opened?.setDark(now);
    },
    destroy() {
      opened?.destroy();
      table.destroy();
      all.abort();
    },
  };
}

function summary(state: StudyState): string {
  const by = (verdict: string) => state.rows.filter((row) => row.verdict === verdict).length;
  const parts = (["changing", "likely_preserving", "identical", "inconclusive"] as const)
    .filter((verdict) => by(verdict) > 0)
    .map((verdict) => `${words.number(by(verdict))} ${words.verdictName(verdict)}`);
  return `${words.count(state.rows.length, "change")}: ${parts.join(", ")}.`;
}

function matrixView(state: StudyState, store: Store<StudyChoices>, signal: AbortSignal): HTMLElement {
  const { labels, verdicts, counts } = confusion(state.rows);
  const buttons: { button: HTMLElement; verdict: string; label: string | null }[] = [];
  const most = Math.max(1, ...counts.values());
  const cell = (verdict: string, label: string | null) => {
    const count = counts.get(cellKey(verdict, label)) ?? 0;
    const wrong =
      (label === "changing" && (verdict === "likely_preserving" || verdict === "identical")) ||
      (label === "preserving" && verdict === "changing");
    if (count === 0) return h("td", { class: "tcw-quiet" }, "0");
    const name = `${words.count(count, "change")} labelled ${words.labelName(label as StudyRow["label"])}, judged ${words.verdictName(verdict as StudyRow["verdict"])}${wrong ? ", which disagrees" : ""}`;
    const button = h(
      "button",
      {
        type: "button",
        class: classes("tcw-cell", wrong && "tcw-wrong"),
        "aria-label": name,
        title: name,
        style: `--share: ${(count / most).toFixed(3)}`,
        onclick: () => {
          const now = store.get().cell;
          store.set({ cell: now?.verdict === verdict && now.label === label ? null : { verdict, label } });
        },
      },
      `${wrong ? "✗ " : ""}${words.number(count)}`,
    );
    buttons.push({ button, verdict, label });
    return h("td", {}, button);
  };
  const table = h(
    "table",
    { class: "tcw-matrix" },
    h("caption", {}, "Label against verdict; a cell filters the table"),
    h(
      "thead",
      {},
      h(
        "tr",
        {},
        h("td", {}),
        verdicts.map((verdict) =>
          h(
            "th",
            { scope: "col" },
            `${words.icon(verdict as StudyRow["verdict"])} ${words.verdictName(verdict as StudyRow["verdict"])}`,
          ),
        ),
      ),
    ),
    h(
      "tbody",
      {},
      labels.map((label) =>
        h(
          "tr",
          {},
          h("th", { scope: "row" }, words.labelName(label as StudyRow["label"])),
          verdicts.map((verdict) => cell(verdict, label)),
        ),
      ),
    ),
  );
  store.watch(["cell"], signal, () => {
    const now = store.get().cell;
    for (const { button, verdict, label } of buttons)
      button.setAttribute("aria-pressed", String(now?.verdict === verdict && now.label === label));
  });
  return h(
    "div",
    {},
    h("div", { class: "tcw-scroll", tabindex: 0, role: "region", "aria-label": "Label against verdict" }, table),
    h("p", { class: "tcw-legend" }, "✗ the verdict disagrees with the label"),
  );
}
