// What other values of the inputs show, with all else the same: where old and new part, one input at a time and two at a
// time, and which inputs matter.

import { classes, h } from "../dom";
import { seen, shareBar, simpleTable } from "../parts";
import * as plain from "../plain";
import type { InputWeight, Varied, VariedOutcome, VariedTogether } from "../types";
import * as words from "../words";

/** The values of one input: numbers in a row that shows where old and new part, others with what each version did. */
export function variedView(varied: Varied): HTMLElement {
  return h(
    "section",
    { class: "tcw-part" },
    h("h4", {}, plain.sentence(varied.sentence)),
    varied.is_numeric ? numbers(varied) : others(varied),
  );
}

function numbers(varied: Varied): HTMLElement {
  const cell = (one: Varied["values"][number]) =>
    h(
      "li",
      { class: `tcw-v-${one.outcome}`, title: `old ${plain.value(one.old)}; new ${plain.value(one.new)}` },
      outcome(one.outcome, `${plain.value(one.value)}`),
    );
  return h(
    "ul",
    { class: "tcw-varied", "aria-label": "Values that were tried, all else the same" },
    varied.values.map(cell),
  );
}

function others(varied: Varied): HTMLElement {
  const rows = varied.values.map((one) => ({
    cells: [outcome(one.outcome, plain.value(one.value)), seen(one.old), seen(one.new)],
    tone: one.outcome === "differs" ? "tcw-differs" : "",
  }));
  const columns = [
    { title: plain.path(varied.path), kind: "code" as const },
    { title: "Old", kind: "seen" as const },
    { title: "New", kind: "seen" as const },
  ];
  return simpleTable("Values that were tried, all else the same", columns, rows);
}

/** A sign for the eye, and a word for those who listen. */
function outcome(one: VariedOutcome, text: string): HTMLElement {
  const [mark, said] = words.VARIED_MARK[one];
  return h(
    "span",
    {},
    h("span", { "aria-hidden": "true" }, `${mark} `),
    text,
    h("span", { class: "tcw-hidden" }, ` ${said}`),
  );
}

/** Two numbers at the same time: a square for each pair of values, and a line where old and new part. */
export function togetherView({ paths, values, outcomes }: VariedTogether): HTMLElement {
  const [down, across] = paths.map((path) => plain.path(path, 60)) as [string, string];
  const at = (row: number, column: number) => outcomes[row]?.[column];
  const cell = (one: VariedOutcome, row: number, column: number) => {
    // Beside what says nothing, no line is known.
    const parts = (other: VariedOutcome | undefined) =>
      (one === "differs" && other === "same") || (one === "same" && other === "differs");
    const [mark, said] = words.VARIED_MARK[one];
    const pair = `${down} = ${plain.value(values[0][row] ?? "")}, ${across} = ${plain.value(values[1][column] ?? "")}`;
    return h(
      "td",
      {
        class: classes(
          `tcw-v-${one}`,
          parts(at(row, column - 1)) && "tcw-parts-left",
          parts(at(row - 1, column)) && "tcw-parts-top",
        ),
        title: `${pair}: ${said}`,
      },
      h("span", { "aria-hidden": "true" }, mark),
      h("span", { class: "tcw-hidden" }, said),
    );
  };
  const head = h(
    "tr",
    {},
    h("td", { class: "tcw-corner" }, `${down} ↓  ${across} →`),
    values[1].map((value) => h("th", { scope: "col" }, plain.value(value, 20))),
  );
  const rows = outcomes.map((row, index) =>
    h(
      "tr",
      {},
      h("th", { scope: "row" }, plain.value(values[0][index] ?? "", 20)),
      row.map((one, column) => cell(one, index, column)),
    ),
  );
  const caption = `${down} and ${across} at the same time, all else the same`;
  const table = h(
    "table",
    { class: "tcw-together" },
    h("caption", { class: "tcw-hidden" }, caption),
    h("thead", {}, head),
    h("tbody", {}, rows),
  );
  const all = outcomes.flat();
  return h(
    "section",
    { class: "tcw-part" },
    h("h4", {}, words.togetherSentence(all, down, across), h("span", { class: "tcw-note" }, " all else the same")),
    h("div", { class: "tcw-scroll", tabindex: 0, role: "region", "aria-label": caption }, table),
    h("p", { class: "tcw-legend" }, words.variedLegend(all)),
  );
}

/** How often the difference goes away with another value of each input. */
export function weightsView(weights: InputWeight[]): HTMLElement {
  const rows = weights.map((one) => ({
    cells: [plain.path(one.path), shareBar(one.gone / one.tried, "tcw-bar-injected", words.weightText(one))],
  }));
  return h(
    "section",
    { class: "tcw-part" },
    h("h4", {}, "Which inputs matter", h("span", { class: "tcw-note" }, " one at a time, all else the same")),
    simpleTable(
      "How often the difference goes away with another value",
      [{ title: "Input", kind: "code" }, { title: "The difference goes away with" }],
      rows,
    ),
  );
}
