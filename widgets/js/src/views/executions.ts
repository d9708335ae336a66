// Every execution in a table that can be sorted, filtered and searched. One that is chosen is shown in the code view.

import { h, replace } from "../dom";
import { executionFilter } from "../filter";
import * as plain from "../plain";
import type { PairContext } from "../session";
import { virtualTable, type Column } from "../table";
import type { Execution } from "../types";
import * as words from "../words";

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

/** Fills a panel; `listed` hears which executions are listed, in their order. */
export function executionsView(
  { session, pair, signal }: PairContext,
  panel: HTMLElement,
  listed: (rows: Execution[]) => void,
): void {
  const { store } = session;
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
  const found = h("span", { class: "tcw-quiet", role: "status" });
  const table = virtualTable<Execution>({
    label: "Executions",
    columns,
    rows: pair.executions,
    id: (one) => String(one.number),
    tone: (one) => `tcw-o-${words.outcome(one)}`,
    choose: (one) => session.choose(one.number),
    listed: (rows) => {
      listed(rows);
      const all = pair.executions.length;
      found.textContent =
        rows.length === all
          ? words.count(all, "execution")
          : `${words.number(rows.length)} of ${words.count(all, "execution")}`;
    },
    empty: "No execution is like that.",
  });
  const fewer = pair.executed > pair.executions.length;
  replace(
    panel,
    h("div", { class: "tcw-bar", role: "group", "aria-label": "Which executions" }, search, outcome, line, found),
    table.element,
    fewer &&
      h(
        "p",
        { class: "tcw-legend" },
        `${words.number(pair.executed)} executions ran; ${words.number(pair.executions.length)} of them are listed.`,
      ),
    words.OUTCOMES.map((one) => {
      const legend = there.has(one) && words.OUTCOME_LEGEND[one];
      return legend && h("p", { class: "tcw-legend" }, legend);
    }),
  );
  store.watch(["search", "outcome", "line"], signal, () => {
    const now = store.get();
    if (search.value !== now.search) search.value = now.search;
    outcome.value = now.outcome;
    const at = now.line;
    replace(
      line,
      at &&
        h(
          "button",
          {
            type: "button",
            class: "tcw-tag",
            "aria-label": `No longer only line ${at.line} of ${at.version === 0 ? "old" : "new"}`,
            onclick: () => store.set({ line: null }),
          },
          `ran line ${at.line} of ${at.version === 0 ? "old" : "new"} ✕`,
        ),
    );
    table.filter(executionFilter(pair, now));
  });
  signal.addEventListener("abort", () => table.destroy());
  store.watch(["execution", "tab"], signal, () => {
    const { execution, tab } = store.get();
    table.select(
      execution === null ? null : String(execution),
      tab === "executions" && panel.contains(document.activeElement) === false,
    );
  });
}
