// Labels against verdicts: how many changes of a study have both. Each count is a button that lists these changes only.

import { classes, h } from "../dom";
import { cellKey, confusion, disagrees, isSameCell, type Cell, type StudyFilter } from "../filter";
import type { Store } from "../store";
import type { StudyRow } from "../types";
import * as words from "../words";

export function matrixView<T extends StudyFilter>(rows: StudyRow[], store: Store<T>, signal: AbortSignal): HTMLElement {
  const { labels, verdicts, counts } = confusion(rows);
  const buttons: { cell: Cell; button: HTMLElement }[] = [];
  const most = Math.max(1, ...counts.values());
  const choose = (cell: Cell) => {
    const chosen = isSameCell(store.get().cell, cell) ? null : cell;
    store.set({ cell: chosen } as Partial<T>);
  };
  const counted = (cell: Cell) => {
    const count = counts.get(cellKey(cell)) ?? 0;
    if (count === 0) return h("td", { class: "tcw-quiet" }, "0");
    const button = countButton(cell, count, most, choose);
    buttons.push({ cell, button });
    return h("td", {}, button);
  };
  const headings = verdicts.map((verdict) =>
    h("th", { scope: "col" }, `${words.icon(verdict)} ${words.verdictName(verdict)}`),
  );
  const lines = labels.map((label) =>
    h(
      "tr",
      {},
      h("th", { scope: "row" }, words.labelName(label)),
      verdicts.map((verdict) => counted({ verdict, label })),
    ),
  );
  const table = h(
    "table",
    { class: "tcw-matrix" },
    h("caption", {}, "Label against verdict; a cell filters the table"),
    h("thead", {}, h("tr", {}, h("td", {}), headings)),
    h("tbody", {}, lines),
  );
  store.watch(["cell"], signal, () => {
    const chosen = store.get().cell;
    for (const { cell, button } of buttons) button.setAttribute("aria-pressed", String(isSameCell(chosen, cell)));
  });
  return h(
    "div",
    { class: "tcw-matrixbox" },
    h("div", { class: "tcw-scroll", tabindex: 0, role: "region", "aria-label": "Label against verdict" }, table),
    h("p", { class: "tcw-legend" }, "✗ the verdict disagrees with the label"),
  );
}

/** `most` is the largest count, which has the strongest color. */
function countButton(cell: Cell, count: number, most: number, choose: (cell: Cell) => void): HTMLElement {
  const wrong = disagrees(cell);
  const [label, verdict] = [words.labelName(cell.label), words.verdictName(cell.verdict)];
  const name = `${words.count(count, "change")} labelled ${label}, judged ${verdict}${wrong ? ", which disagrees" : ""}`;
  return h(
    "button",
    {
      type: "button",
      class: classes("tcw-cell", wrong && "tcw-wrong"),
      "aria-label": name,
      title: name,
      style: `--share: ${(count / most).toFixed(3)}`,
      onclick: () => choose(cell),
    },
    `${wrong ? "✗ " : ""}${words.number(count)}`,
  );
}
