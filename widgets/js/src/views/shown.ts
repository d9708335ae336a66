// The line above the code: which execution is shown, what each version did in it, and the way to the others.

import { h, replace } from "../dom";
import { neighbour } from "../filter";
import * as plain from "../plain";
import type { PairContext } from "../session";
import type { Detail, Execution, PairState } from "../types";
import * as words from "../words";
import { button, enable } from "../parts";
import { statusLine } from "./status";

export function shownView(context: PairContext, listed: () => Execution[]): HTMLElement {
  const { session, pair, signal } = context;
  const { store } = session;
  const title = h("p", { class: "tcw-shown-title" });
  const sides = h("dl", { class: "tcw-sides" });
  const parting = h("p", { class: "tcw-parting" });
  const previous = button("‹", () => go(-1), { small: true, label: "Previous execution listed" });
  const next = button("›", () => go(1), { small: true, label: "Next execution listed" });
  const first = h("button", {
    type: "button",
    class: "tcw-link",
    onclick: () => pair.shown?.execution != null && session.choose(pair.shown.execution),
  });
  first.textContent = `Back to ${words.executionName(pair.shown?.execution ?? null).toLowerCase()}`;

  function go(step: 1 | -1): void {
    const to = neighbour(listed(), store.get().execution, step);
    if (to) session.choose(to.number);
  }

  store.watch(["execution", "detail", "base", "changes"], signal, () => {
    const { execution, detail, base, changes } = store.get();
    const of = pair.executions.find((one) => one.number === execution);
    const outcome = detail ? words.detailOutcome(detail) : of && words.outcome(of);
    const isFirst = pair.shown !== null && execution === pair.shown.execution;
    const note = words.changeNote(base, changes) || (isFirst && pair.role !== null ? plain.value(pair.role) : "");
    replace(
      title,
      h("strong", {}, words.executionName(execution)),
      outcome && [" ", h("span", { class: `tcw-mark tcw-o-${outcome}` }, words.OUTCOME_MARK[outcome])],
      note && h("span", { class: "tcw-note" }, ` ${note.charAt(0).toLowerCase()}${note.slice(1)}`),
    );
    const [old, renewed] = [detail?.old.outcome ?? of?.old ?? "", detail?.new.outcome ?? of?.new ?? ""];
    replace(sides, side("old", old), side("new", renewed));
    replace(parting, partingOf(pair, detail));
    enable(previous, neighbour(listed(), execution, -1) !== undefined);
    enable(next, neighbour(listed(), execution, 1) !== undefined);
    first.hidden = isFirst || pair.shown === null;
  });
  const move = h(
    "div",
    { class: "tcw-shown-move", role: "group", "aria-label": "Other executions" },
    first,
    previous,
    next,
  );
  return h(
    "div",
    { class: "tcw-shown" },
    h("div", { class: "tcw-shown-head" }, title, pair.executions.length > 1 && move),
    sides,
    parting,
    statusLine(context, (tab) => tab !== "shown"),
  );
}

/** Which unchanged line the two did not run equally often, if a difference is shown. */
function partingOf(pair: PairState, detail: Detail | null): string | null {
  if (!detail?.differs) return null;
  return detail.parting ? words.partingSentence(pair, detail.parting) : words.NO_PARTING;
}

function side(name: string, text: string): HTMLElement {
  return h("div", {}, h("dt", {}, name), h("dd", { class: "tcw-mono" }, plain.value(text)));
}
