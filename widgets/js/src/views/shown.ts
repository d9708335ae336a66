// The line above the code: which execution is shown, what each version did in it, and the way to the others.

import { h, replace } from "../dom";
import { neighbour } from "../filter";
import * as plain from "../plain";
import type { PairContext } from "../session";
import type { Execution } from "../types";
import * as words from "../words";

export function shownView({ session, pair, signal }: PairContext, listed: () => Execution[]): HTMLElement {
  const { store } = session;
  const title = h("p", { class: "tcw-shown-title" });
  const sides = h("dl", { class: "tcw-sides" });
  const previous = h(
    "button",
    { type: "button", class: "tcw-button tcw-small", "aria-label": "Previous execution listed", onclick: () => go(-1) },
    "‹",
  );
  const next = h(
    "button",
    { type: "button", class: "tcw-button tcw-small", "aria-label": "Next execution listed", onclick: () => go(1) },
    "›",
  );
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

  store.watch(["execution", "detail", "base", "changes", "busy"], signal, () => {
    const { execution, detail, base, changes, busy } = store.get();
    const of = pair.executions.find((one) => one.number === execution);
    const outcome = detail ? words.detailOutcome(detail) : of && words.outcome(of);
    const isFirst = pair.shown !== null && execution === pair.shown.execution;
    const note = words.changeNote(base, changes) || (isFirst && pair.role !== null ? plain.value(pair.role) : "");
    replace(
      title,
      h("strong", {}, words.executionName(execution)),
      outcome && [" ", h("span", { class: `tcw-mark tcw-o-${outcome}` }, words.OUTCOME_MARK[outcome])],
      note && h("span", { class: "tcw-note" }, ` ${note.charAt(0).toLowerCase()}${note.slice(1)}`),
      busy !== null && h("span", { class: "tcw-note tcw-busy" }, ` ${busy}…`),
    );
    const [old, renewed] = [detail?.old.outcome ?? of?.old ?? "", detail?.new.outcome ?? of?.new ?? ""];
    replace(sides, side("old", old), side("new", renewed));
    previous.disabled = !neighbour(listed(), execution, -1);
    next.disabled = !neighbour(listed(), execution, 1);
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
  );
}

function side(name: string, text: string): HTMLElement {
  return h("div", {}, h("dt", {}, name), h("dd", { class: "tcw-mono" }, plain.value(text)));
}
