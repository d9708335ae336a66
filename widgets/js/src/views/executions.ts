// Every execution in a table that can be sorted, filtered and searched. The code view shows the chosen one.

import { h, replace } from "../dom";
import { executionFilter } from "../filter";
import * as plain from "../plain";
import type { PairContext, Session } from "../session";
import type { Column } from "../table/model";
import { VirtualTable } from "../table/virtual";
import type { Execution, PairState } from "../types";
import * as words from "../words";
import { tag } from "../parts";

const columns: Column<Execution>[] = [
  { id: "number", title: "No.", key: (one) => one.number, width: "58px", kind: "number" },
  {
    id: "outcome",
    title: "Evidence",
    key: (one) => words.OUTCOMES.indexOf(words.outcome(one)),
    text: (one) => words.OUTCOME_MARK[words.outcome(one)],
    width: "122px",
  },
  {
    id: "old",
    title: "Old",
    key: (one) => one.old,
    text: (one) => plain.value(one.old),
    width: "minmax(150px, 1fr)",
    kind: "code",
  },
  {
    id: "new",
    title: "New",
    key: (one) => one.new,
    text: (one) => plain.value(one.new),
    width: "minmax(150px, 1fr)",
    kind: "code",
  },
  {
    id: "lines",
    title: "New lines",
    key: (one) => one.new_lines,
    text: (one) => (one.new_lines > 0 ? `+${one.new_lines}` : "0"),
    width: "92px",
    kind: "number",
    descendingFirst: true,
  },
  {
    id: "coverage",
    title: "Covered so far",
    key: (one) => one.coverage_so_far,
    text: (one) => words.percent(one.coverage_so_far),
    width: "122px",
    kind: "number",
    descendingFirst: true,
  },
  {
    id: "time",
    title: "Time",
    key: (one) => one.microseconds,
    text: (one) => words.duration(one.microseconds / 1000),
    width: "82px",
    kind: "number",
    descendingFirst: true,
  },
];

/** Where the values of an execution come from, where some were given. */
const given: Column<Execution> = {
  id: "example",
  title: "Given by",
  key: (one) => one.example ?? "",
  text: (one) => plain.value(one.example ?? ""),
  width: "minmax(120px, 0.6fr)",
};

/** Fills a panel; `listed` receives the listed executions, in order. */
export function executionsView(
  { session, pair, signal }: PairContext,
  panel: HTMLElement,
  listed: (rows: Execution[]) => void,
): void {
  const { store } = session;
  const found = h("span", { class: "tcw-quiet", role: "status" });
  const table = new VirtualTable<Execution>({
    label: "Executions",
    columns: pair.executions.some((one) => one.example) ? [...columns, given] : columns,
    rows: pair.executions,
    id: (one) => String(one.number),
    tone: (one) => `tcw-o-${words.outcome(one)}`,
    choose: (one) => session.choose(one.number),
    listed: (rows) => {
      listed(rows);
      found.textContent = words.countOf(rows.length, pair.executions.length, "execution");
    },
    empty: "No execution matches.",
  });
  replace(panel, h("div", FILTERS, filters(session, pair, signal), found), table.element, legends(pair));
  store.watch(["search", "outcome", "line"], signal, () => table.filter(executionFilter(pair, store.get())));
  signal.addEventListener("abort", () => table.destroy());
  store.watch(["execution", "tab"], signal, () => {
    const { execution, tab } = store.get();
    table.select(
      execution === null ? null : String(execution),
      tab === "executions" && panel.contains(document.activeElement) === false,
    );
  });
}

const FILTERS = { class: "tcw-bar", role: "group", "aria-label": "Which executions" };

/** Fields that select the listed executions and show the selection. */
function filters({ store }: Session, pair: PairState, signal: AbortSignal): HTMLElement[] {
  const there = new Set(pair.executions.map(words.outcome));
  const search = h("input", {
    type: "search",
    class: "tcw-field tcw-search",
    placeholder: "Search outcomes",
    "aria-label": "Search the outcomes of executions",
    oninput: () => store.set({ search: search.value }),
  });
  const outcome = h(
    "select",
    {
      class: "tcw-field",
      "aria-label": "Evidence",
      onchange: () => store.set({ outcome: outcome.value as "all" }),
    },
    h("option", { value: "all" }, "All evidence"),
    words.OUTCOMES.filter((value) => value !== "unexamined" || there.has(value)).map((value) =>
      h("option", { value }, words.OUTCOME_MARK[value]),
    ),
  );
  const line = h("span", {});
  store.watch(["search", "outcome", "line"], signal, () => {
    const now = store.get();
    if (search.value !== now.search) search.value = now.search;
    outcome.value = now.outcome;
    const name = now.line && `line ${now.line.line} of ${words.versionName(now.line.version)}`;
    replace(line, name && tag(`ran ${name}`, `No longer only ${name}`, () => store.set({ line: null })));
  });
  return [search, outcome, line];
}

/** What is not listed, and the meaning of the marks of the listed executions. */
function legends(pair: PairState): HTMLElement[] {
  const there = new Set(pair.executions.map(words.outcome));
  const texts = words.OUTCOMES.flatMap((one) => (there.has(one) ? [words.OUTCOME_LEGEND[one]] : []));
  if (pair.executed > pair.executions.length) {
    const [ran, kept] = [words.number(pair.executed), words.number(pair.executions.length)];
    texts.unshift(`${ran} executions ran; ${kept} of them are listed.`);
  }
  return texts.filter(Boolean).map((text) => h("p", { class: "tcw-legend" }, text));
}
