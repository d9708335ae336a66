// Small pieces that several views use.

import { copyText } from "./clipboard";
import { classes, h, sign } from "./dom";
import { saveText } from "./download";
import * as plain from "./plain";
import type { Evidence, PairState, Verdict } from "./types";
import * as words from "./words";

export function badge(verdict: Verdict): HTMLElement {
  return marked([words.icon(verdict), words.verdictName(verdict)], words.tone(verdict));
}

export function pairBadge(pair: PairState): HTMLElement {
  return marked(pair.mark, words.pairTone(pair));
}

function marked([icon, word]: [string, string], tone: string): HTMLElement {
  return h("span", { class: `tcw-badge ${tone}` }, sign(plain.value(icon)), " ", plain.value(word));
}

export interface SimpleColumn {
  title: string;
  /** `seen` has what a version did, which needs room. */
  kind?: "number" | "code" | "seen" | "text";
}

/** A table of few rows that scrolls by itself when it is too wide. The first cell of a row is its heading. */
export function simpleTable(
  caption: string,
  columns: SimpleColumn[],
  rows: { cells: (Node | string | null)[]; tone?: string }[],
): HTMLElement {
  const kind = (index: number) => {
    const { kind } = columns[index] ?? {};
    return kind === "number" ? "tcw-num" : kind === "code" ? "tcw-mono" : kind === "seen" ? "tcw-seen" : null;
  };
  const table = h(
    "table",
    { class: "tcw-table" },
    h("caption", { class: "tcw-hidden" }, caption),
    h(
      "thead",
      {},
      h(
        "tr",
        {},
        columns.map((column, index) =>
          h(column.title ? "th" : "td", column.title ? { scope: "col", class: kind(index) } : {}, column.title),
        ),
      ),
    ),
    h(
      "tbody",
      {},
      rows.map(({ cells, tone }) =>
        h(
          "tr",
          { class: tone },
          cells.map((cell, index) =>
            index === 0 ? h("th", { scope: "row", class: kind(0) }, cell) : h("td", { class: kind(index) }, cell),
          ),
        ),
      ),
    ),
  );
  return h("div", { class: "tcw-scroll", tabindex: 0, role: "region", "aria-label": caption }, table);
}

/** What a version did. Words say that a text is empty. */
export function seen(text: string): HTMLElement {
  return text === ""
    ? h("span", { class: "tcw-quiet" }, "nothing")
    : h("span", { class: "tcw-mono" }, plain.value(text));
}

/** Output of several lines. */
export function output(text: string): HTMLElement {
  return text === "" ? seen("") : h("pre", { class: "tcw-output" }, plain.file(text));
}

/** A share as a bar, with its text. */
export function shareBar(share: number, tone: string, text: string): HTMLElement {
  const width = `${(Math.max(0, Math.min(1, share)) * 100).toFixed(1)}%`;
  return h(
    "span",
    { class: "tcw-share" },
    h("span", { class: "tcw-share-box", "aria-hidden": "true" }, h("span", { class: tone, style: `width: ${width}` })),
    h("span", {}, text),
  );
}

function strength(evidence: Evidence): HTMLElement {
  const [name, ...rest] = words.strength(evidence).split(", ");
  return h("span", {}, h("span", { class: "tcw-nowrap" }, name), rest.length > 0 && `, ${rest.join(", ")}`);
}

export function evidenceTable(
  evidence: Evidence[],
  caption: string,
  choose: ((execution: number) => void) | null,
): HTMLElement {
  const columns: SimpleColumn[] = [
    { title: "What differs" },
    { title: "Strength" },
    { title: "Place", kind: "code" },
    { title: "Old", kind: "seen" },
    { title: "New", kind: "seen" },
  ];
  if (choose) columns.push({ title: "Execution", kind: "number" });
  const rows = evidence.map((one) => {
    const cells: (Node | string)[] = [
      `≠ ${words.channelName(one.channel)}`,
      strength(one),
      plain.value(one.place),
      seen(one.old),
      seen(one.new),
    ];
    if (choose)
      cells.push(link(words.number(one.execution), `Show execution ${one.execution}`, () => choose(one.execution)));
    return { cells, tone: "tcw-differs" };
  });
  return simpleTable(caption, columns, rows);
}

export function link(text: string, label: string | null, action: () => void): HTMLElement {
  return h("button", { type: "button", class: "tcw-link", "aria-label": label, onclick: action }, text);
}

/** A button that takes a filter away. */
export function tag(text: string, label: string, remove: () => void): HTMLElement {
  return h("button", { type: "button", class: "tcw-tag", "aria-label": label, onclick: remove }, `${text} ✕`);
}

export function button(
  text: string,
  action: () => void,
  properties: { primary?: boolean; small?: boolean; title?: string; label?: string } = {},
): HTMLButtonElement {
  const press = () => made.getAttribute("aria-disabled") !== "true" && action();
  const made = h(
    "button",
    {
      type: "button",
      class: classes("tcw-button", properties.primary && "tcw-primary", properties.small && "tcw-small"),
      "aria-label": properties.label,
      title: properties.title,
      onclick: press,
    },
    text,
  );
  return made;
}

/** The name of a pytest file about a pair. */
export function testName(of: PairState): string {
  return `test_${of.new.qualname.replace(/\W+/g, "_").slice(0, 80)}.py`;
}

/** Turns a button on or off. One that is off keeps the focus, so that keyboard users do not lose their place. */
export function enable(button: HTMLButtonElement, on: boolean): void {
  button.setAttribute("aria-disabled", String(!on));
}

/** A test as text, with buttons to copy the original: the shown text has long lines cut and characters escaped. */
export function source(text: string, name: string): HTMLElement {
  const said = h("span", { class: "tcw-quiet", role: "status" });
  const copy = async () => {
    said.textContent = (await copyText(text)) ? "Copied." : "The browser did not let it be copied.";
  };
  return h(
    "div",
    {},
    h(
      "div",
      { class: "tcw-bar" },
      button("Copy", () => void copy()),
      button("Download", () => saveText(name, "text/x-python", text)),
      said,
    ),
    h(
      "pre",
      { class: "tcw-source", tabindex: 0, role: "region", "aria-label": "The test" },
      h("code", {}, plain.file(text)),
    ),
  );
}
