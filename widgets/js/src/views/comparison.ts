// A comparison: the sentence, what was executed, the pairs where there are several, and for one pair the execution
// that is shown, the code, and the tabs with everything else.

import { h, replace, uniqueId } from "../dom";
import * as plain from "../plain";
import { plotsView } from "../plots/pair";
import { Session, type Host, type PairContext, type Place } from "../session";
import type { ComparisonState, Execution, PairState, Pinned } from "../types";
import * as words from "../words";
import { callsView } from "./calls";
import { CodeView } from "./code";
import { detailView, type DetailView } from "./detail";
import { executionsView } from "./executions";
import { foundView } from "./found";
import { badge, pairBadge } from "../parts";
import { pinsView } from "./pins";
import { shownView } from "./shown";
import { tabs, type Tab } from "./tabs";
import { testView } from "./test";
import { valuesView } from "./values";

export interface ComparisonView {
  element: HTMLElement;
  setDark(dark: boolean): void;
  takePinned(pinned: Pinned[]): void;
  place(): Place;
  followLink(fragment: string): void;
  destroy(): void;
}

export function comparisonView(state: ComparisonState, host: Host): ComparisonView {
  const session = new Session(state, host);
  const { store } = session;
  const all = new AbortController();
  const body = h("div", {});
  let code: CodeView | null = null;
  let dark = false;
  let current = new AbortController();

  const only = state.pairs.length === 1 ? state.pairs[0] : undefined;
  const element = h(
    "div",
    {},
    h(
      "div",
      { class: `tcw-head ${words.tone(state.verdict)}` },
      badge(state.verdict),
      h("p", { class: "tcw-sentence" }, plain.sentence(state.sentence)),
      only && !state.sentence.startsWith(only.sentence) && h("p", { class: "tcw-lead" }, plain.sentence(only.sentence)),
      !!state.without_sandbox && h("p", { class: "tcw-lead" }, h("strong", {}, plain.sentence(state.without_sandbox))),
    ),
    state.pairs.length > 1 && chooser(session, all.signal),
    body,
    oneSided("Only in old", "−", state.removed),
    oneSided("Only in new", "+", state.added),
    h(
      "p",
      { class: "tcw-foot" },
      `twincell ${plain.value(state.twincell)} · predictor: ${plain.value(state.predictor)} · seed ${plain.value(state.seed)} · ${words.duration(state.milliseconds)} in all`,
    ),
  );

  store.watch(["pair"], all.signal, () => {
    current.abort();
    current = new AbortController();
    code = null;
    const { pair } = session;
    if (!pair)
      return replace(body, h("p", { class: "tcw-quiet" }, "No function is in both versions, so nothing was compared."));
    const made = pairView({ session, pair, signal: current.signal });
    code = made.code;
    code?.setDark(dark);
    replace(body, made.element);
  });

  return {
    element,
    setDark(now) {
      dark = now;
      code?.setDark(now);
    },
    takePinned: (pinned) => session.takePinned(pinned),
    place: () => session.place,
    followLink(fragment) {
      if (session.follow(fragment)) code?.element.scrollIntoView({ block: "start" });
    },
    destroy() {
      current.abort();
      all.abort();
      session.close();
    },
  };
}

function pairView(context: PairContext): { element: HTMLElement; code: CodeView | null } {
  const { session, pair, signal } = context;
  const { store } = session;
  let listed: Execution[] = pair.executions;
  let detail: DetailView | null = null;

  const several = session.state.pairs.length > 1;
  const facts = pair.facts.map(([name, value]) =>
    h("div", {}, h("dt", {}, plain.value(name)), h("dd", {}, plain.value(value))),
  );
  const showValue = (path: string) => {
    store.set({ tab: "shown" });
    detail?.focusValue(path);
  };
  const code = pair.rows.length > 0 ? new CodeView(context, showValue) : null;
  const listener = {
    detailMade: (made: DetailView) => void (detail = made),
    executionsListed: (rows: Execution[]) => void (listed = rows),
  };
  const parts = tabs(`About ${plain.value(pair.name)}`, pairTabs(context, listener), (tab) => store.set({ tab }));
  store.watch(["tab"], signal, () => parts.show(store.get().tab));
  store.watch(["execution", "detail", "pinned"], signal, () => parts.retitle());

  const name = uniqueId("pair");
  const element = h(
    "section",
    { "aria-labelledby": name },
    h(
      "h2",
      { id: name, class: several ? "tcw-pairtitle" : "tcw-hidden" },
      several && pairBadge(pair),
      several && " ",
      plain.value(pair.name),
    ),
    several && pair.sentence !== session.state.sentence && h("p", { class: "tcw-lead" }, plain.sentence(pair.sentence)),
    h("dl", { class: "tcw-facts" }, facts),
    isShown(pair) && shownView(context, () => listed),
    code?.element,
    parts.element,
  );
  return { element, code };
}

/** Whether there is an execution to show. */
function isShown(pair: PairState): boolean {
  return pair.executions.length > 0 || pair.shown !== null;
}

/** Receives what the tabs made and what they list. */
interface TabListener {
  detailMade(detail: DetailView): void;
  executionsListed(rows: Execution[]): void;
}

/** Everything about a pair besides its code. If nothing ran, there are only the findings. */
function pairTabs(context: PairContext, listener: TabListener): Tab[] {
  const { session, pair } = context;
  const { store } = session;
  const counted = (found: unknown[]) => (found.length > 0 ? String(found.length) : "");
  const found: Tab = {
    id: "found",
    title: () => "Found",
    note: () => counted(pair.evidence),
    fill: (panel) => foundView(context, panel),
  };
  if (!isShown(pair)) return [found];
  return [
    found,
    {
      id: "shown",
      title: () => words.executionName(store.get().execution),
      fill: (panel) => listener.detailMade(detailView(context, panel)),
    },
    {
      id: "executions",
      title: () => "Executions",
      note: () => words.number(pair.executions.length),
      fill: (panel) => executionsView(context, panel, listener.executionsListed),
    },
    {
      id: "values",
      title: () => "Values",
      note: () => words.number(pair.paths.length),
      fill: (panel) => valuesView(context, panel),
    },
    { id: "calls", title: () => "Calls", note: () => callsNote(context), fill: (panel) => callsView(context, panel) },
    { id: "plots", title: () => "Plots", fill: (panel) => plotsView(context, panel) },
    { id: "test", title: () => "Test", fill: (panel) => testView(context, panel) },
    {
      id: "pinned",
      title: () => "Pinned",
      note: () => counted(store.get().pinned),
      fill: (panel) => pinsView(context, panel),
    },
  ];
}

function callsNote({ session }: PairContext): string {
  const { detail } = session.store.get();
  if (!detail) return "";
  const differing = detail.calls.filter((row) => !row.equal).length;
  return differing > 0 ? `≠ ${differing}` : words.number(detail.calls.length);
}

/** The pairs, one of which is shown. */
function chooser(session: Session, signal: AbortSignal): HTMLElement {
  const { state, store } = session;
  const buttons = words.pairOrder(state).map((index) => {
    const pair = state.pairs[index];
    const button = h(
      "button",
      { type: "button", class: "tcw-choice", onclick: () => session.choosePair(index) },
      pair && [
        pairBadge(pair),
        h("code", {}, plain.value(pair.name)),
        h("span", { class: "tcw-gist" }, plain.sentence(pair.sentence)),
      ],
    );
    return { index, button };
  });
  store.watch(["pair"], signal, () => {
    for (const { index, button } of buttons) button.setAttribute("aria-current", String(index === store.get().pair));
  });
  return h(
    "nav",
    { class: "tcw-chooser", "aria-label": "Functions compared" },
    h("p", { class: "tcw-note" }, `${words.number(buttons.length)} compared`),
    h(
      "ul",
      {},
      buttons.map(({ button }) => h("li", {}, button)),
    ),
  );
}

function oneSided(title: string, mark: string, names: string[]): HTMLElement | null {
  const SHOWN = 50;
  if (names.length === 0) return null;
  const list = names
    .slice(0, SHOWN)
    .flatMap((name, index) => [index > 0 ? ", " : "", h("code", {}, plain.value(name))]);
  return h(
    "p",
    { class: "tcw-sided" },
    h("strong", {}, `${mark} ${title}: `),
    list,
    names.length > SHOWN && ` and ${names.length - SHOWN} more`,
  );
}
