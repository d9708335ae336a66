// The calls of both versions to external code, aligned like a diff, with differences marked down to the argument.

import { difference, folded, type Piece } from "../calls";
import { h, replace } from "../dom";
import * as plain from "../plain";
import type { PairContext, Session } from "../session";
import type { CallRow } from "../types";
import * as words from "../words";

/** The maximum number of rows shown. */
const ROWS = 400;

export function callsView({ session, signal }: PairContext, panel: HTMLElement): void {
  const { store } = session;
  store.watch(["detail", "busy"], signal, () => {
    if (!store.get().detail) replace(panel, h("p", { class: "tcw-quiet" }, missing(session)));
  });
  store.watch(["detail"], signal, () => {
    const { detail } = store.get();
    if (!detail) return;
    if (detail.calls.length === 0) {
      return replace(
        panel,
        h("p", { class: "tcw-quiet" }, "Neither version called anything outside itself in this execution."),
      );
    }
    const differing = detail.calls.filter((row) => !row.equal).length;
    const body = h("tbody", {});
    const rows = detail.calls.slice(0, ROWS);
    for (const row of folded(rows)) body.append("folded" in row ? fold(row.folded) : rowOf(row, detail.calls));
    const table = h(
      "table",
      { class: "tcw-table tcw-calls" },
      h("caption", { class: "tcw-hidden" }, "Calls, old against new, in order"),
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          h("th", { scope: "col" }, "Compared"),
          h("th", { scope: "col" }, "Old"),
          h("th", { scope: "col" }, "New"),
        ),
      ),
      body,
    );
    replace(
      panel,
      h(
        "p",
        { class: "tcw-lead" },
        `${words.count(detail.calls.length, "call")}, ${differing === 0 ? "none differs." : `${words.number(differing)} differing. Parts that only one version has are underlined.`}`,
      ),
      h(
        "div",
        { class: "tcw-scroll tcw-limit", tabindex: 0, role: "region", "aria-label": "Calls to external code" },
        table,
      ),
      detail.calls.length > ROWS &&
        h("p", { class: "tcw-legend" }, `… and ${words.count(detail.calls.length - ROWS, "more call")}, not shown`),
    );
  });
}

function missing(session: Session): string {
  if (!session.live) return words.NO_KERNEL;
  const { busy, execution } = session.store.get();
  return busy !== null
    ? "The calls are on the way."
    : `“Run again” in the tab ${words.executionName(execution)} shows the calls.`;
}

function rowOf(row: CallRow, all: CallRow[]): HTMLElement {
  const both = row.old !== null && row.new !== null && !row.equal ? difference(row.old, row.new) : null;
  const cell = (text: string | null, pieces: Piece[] | undefined) =>
    text === null
      ? h("td", { class: "tcw-quiet" }, "no call")
      : h("td", { class: "tcw-mono" }, pieces ? marked(pieces) : plain.value(text));
  return h(
    "tr",
    { class: row.equal ? null : "tcw-differs" },
    h("th", { scope: "row", class: "tcw-nowrap" }, words.callMark(row, all)),
    cell(row.old, both?.old),
    cell(row.new, both?.new),
  );
}

/** Pieces up to the width of a value. */
function marked(pieces: Piece[]): Node[] {
  let room = plain.VALUE_LIMIT;
  return pieces.flatMap((piece) => {
    if (room <= 0) return [];
    const text = plain.value(piece.text, room);
    room -= piece.text.length;
    return [piece.differs ? h("mark", {}, text) : document.createTextNode(text)];
  });
}

function fold(rows: CallRow[]): HTMLElement {
  const open = () => row.replaceWith(...rows.map((one) => rowOf(one, rows)));
  const row = h(
    "tr",
    {},
    h(
      "td",
      { colspan: 3, class: "tcw-fold" },
      h(
        "button",
        { type: "button", class: "tcw-link", onclick: open },
        `Show ${words.count(rows.length, "equal call")}`,
      ),
    ),
  );
  return row;
}
