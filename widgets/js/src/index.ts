// The widget. `render` is what anywidget calls in a notebook; `mount` shows the same state in a page without a kernel.

import { focusOn, h, replace } from "./dom";
import { Kernel } from "./kernel";
import { insertBelow } from "./notebook";
import { unpacked } from "./packed";
import type { Host, Place } from "./session";
import style from "./style.css";
import { followTheme } from "./theme";
import type {
  AmplificationState,
  ComparisonState,
  ImpactState,
  Pinned,
  PrefixesState,
  Progress,
  SliceProgress,
  SliceState,
  StudyProgress,
  StudyState,
} from "./types";
import { AmplificationView } from "./views/amplification";
import { attempt } from "./views/attempt";
import { comparisonView } from "./views/comparison";
import { ImpactView } from "./views/impact";
import { PrefixesView, type PrefixHost } from "./views/prefixes";
import { progressView } from "./views/progress";
import { SliceView } from "./views/slice";
import { StudyView, type Kept } from "./views/study";

type State = ComparisonState | StudyState | PrefixesState | AmplificationState | SliceState | ImpactState;

interface Model {
  get(name: string): unknown;
  set(name: string, value: unknown): void;
  save_changes(): void;
  send(message: unknown): void;
  /** What the front end lets widgets reach. Not all have it. */
  widget_manager?: unknown;
  on(name: string, listener: (value: never) => void): void;
  off(name: string, listener: (value: never) => void): void;
}

interface View {
  element: HTMLElement;
  setDark(dark: boolean): void;
  takePinned?(pinned: Pinned[]): void;
  /** Where a person is in it. */
  place?(): Place;
  /** Shows what a part of the page's address names. */
  followLink?(fragment: string): void;
  destroy(): void;
}

/** A place in the page, with the style and the theme. Its content can be replaced. */
function stage(el: HTMLElement, signal: AbortSignal): { show(view: View | HTMLElement): void; view(): View | null } {
  const content = h("div", {});
  // Shortcuts of the notebook, such as x for cutting a cell, are off while one works in here: JupyterLab looks for the
  // attribute from the element that has the focus upwards, but takes that element itself for part of the notebook.
  const quiet = "data-lm-suppress-shortcuts";
  const focused = (event: FocusEvent) => (event.target as Element).setAttribute(quiet, "true");
  const root = h("div", { class: "tcw", [quiet]: "true", onfocusin: focused }, h("style", {}, style), content);
  let view: View | null = null;
  let dark = false;
  el.append(root);
  root.addEventListener("click", (event) => keepFocus(event.composedPath(), root), { signal });
  followTheme(root, signal, (now) => {
    dark = now;
    view?.setDark(now);
  });
  signal.addEventListener("abort", () => {
    view?.destroy();
    root.remove();
  });
  return {
    view: () => view,
    show(shown) {
      view?.destroy();
      view = shown instanceof HTMLElement ? null : shown;
      view?.setDark(dark);
      // If the focus was in the old content, as on the button Stop, it moves to the heading of the new content.
      const inside = content.contains(document.activeElement);
      replace(content, shown instanceof HTMLElement ? shown : shown.element);
      // The text beside it for readers without the view is hidden only while there is a view.
      root.classList.toggle("tcw-live", view !== null);
      if (inside) focusOn(content.querySelector("h2") ?? content);
    },
  };
}

/** A button that disappears when pressed leaves the focus to its surroundings, not to the page. */
function keepFocus(path: EventTarget[], root: HTMLElement): void {
  if (!path.some((one) => one instanceof HTMLButtonElement)) return;
  queueMicrotask(() => {
    if (document.activeElement !== document.body && document.activeElement !== null) return;
    const around = path.find(
      (one) => one instanceof HTMLElement && root.contains(one) && one.getClientRects().length > 0,
    );
    if (around instanceof HTMLElement) focusOn(around);
  });
}

function viewOf(state: State, host: Host & PrefixHost, kept: Kept): View | HTMLElement {
  const view = attempt<State, View>(state, (known) => {
    if ("rows" in known) return new StudyView(known, host.kernel, kept);
    if ("patches" in known) return new AmplificationView(known, host.kernel);
    if ("units" in known) return new SliceView(known);
    if ("reached" in known) return new ImpactView(known);
    if ("nodes" in known) return new PrefixesView(known, host);
    return comparisonView(known, host);
  });
  return typeof view === "string" ? h("p", { role: "alert" }, view) : view;
}

function render({ model, el, signal }: { model: Model; el: HTMLElement; signal?: AbortSignal }): () => void {
  const own = new AbortController();
  signal?.addEventListener("abort", () => own.abort());
  const kernel = new Kernel({
    send: (message) => model.send(message),
    listen: (listener) => {
      const heard = (message: never) => listener(message);
      model.on("msg:custom", heard);
      return () => model.off("msg:custom", heard);
    },
  });
  const place = stage(el, own.signal);
  const progress = progressView(() => kernel.stop(), own.signal);
  const pinned = () => (model.get("pinned") as Pinned[] | null) ?? [];
  const savePinned = (now: Pinned[]) => {
    model.set("pinned", now);
    model.save_changes();
  };
  const insert = (element: Element, source: string) => insertBelow(element, model.widget_manager, source);
  const onState = () => {
    const state = model.get("state") as State | null;
    const there = place.view()?.place?.();
    const kept = (row: number) => kernel.kept(row);
    const debugs = model.get("debugs") === true;
    const host = { kernel, pinned: pinned(), savePinned, insert, renews: true, debugs, place: there };
    if (state) place.show(viewOf(state, host, kept));
    else place.show(progress.element);
  };
  const onProgress = () => {
    if (!model.get("state")) progress.update(model.get("progress") as Progress | StudyProgress | SliceProgress | null);
  };
  const onPinned = () => place.view()?.takePinned?.(pinned());
  const listeners: [string, () => void][] = [
    ["change:state", onState],
    ["change:progress", onProgress],
    ["change:pinned", onPinned],
  ];
  for (const [name, listener] of listeners) model.on(name, listener);
  own.signal.addEventListener("abort", () => {
    for (const [name, listener] of listeners) model.off(name, listener);
    kernel.close();
  });
  onProgress();
  onState();
  return () => own.abort();
}

/** Shows a state in a page without a kernel. Returns a function that removes it again. */
export function mount(el: HTMLElement, state: State, kept: Kept = carriedComparison): () => void {
  const own = new AbortController();
  const link = (fragment: string) => `${location.href.split("#", 1)[0] ?? ""}${fragment}`;
  const place = stage(el, own.signal);
  place.show(viewOf(state, { kernel: null, pinned: [], savePinned: null, insert: null, link }, kept));
  const follow = () => place.view()?.followLink?.(location.hash);
  window.addEventListener("hashchange", follow, { signal: own.signal });
  follow();
  return () => own.abort();
}

/** What a page carries of a kind: a state, or one of the comparisons of a study. */
function carried(attribute: string): string | null {
  return document.querySelector(`html[data-twincell-page] script[${attribute}]`)?.textContent ?? null;
}

async function carriedComparison(row: number): Promise<string> {
  const text = carried(`data-twincell-comparison="${row}"`);
  if (text === null) throw new Error("The page does not hold this comparison.");
  return text;
}

/** A complete page carries its state beside the text for readers without scripts, which stays if there is no view. */
function showIn(state: State): void {
  const [place, text] = [h("main", {}), document.querySelector("main")];
  // It has to be in the page to scroll to a line.
  text?.before(place);
  mount(place, state);
  (place.querySelector(".tcw-live") ? text : place)?.remove();
}

const plainState = carried("data-twincell-state");
const packedState = carried("data-twincell-packed");
if (plainState !== null) showIn(JSON.parse(plainState) as State);
if (packedState !== null) {
  const failed = (error: unknown) => console.error("twincell: the page could not be unpacked:", error);
  unpacked(packedState).then((state) => showIn(state as State), failed);
}

export default { render };
