// One change of a study in full: its comparison as it was kept, and where there is a kernel one that is made again
// and can be worked with. What was kept stays until somebody asks for the other.

import { focusOn, h, replace } from "../dom";
import type { Kernel } from "../kernel";
import * as plain from "../plain";
import type { ComparisonState, StudyRow } from "../types";
import * as words from "../words";
import { attempt } from "./attempt";
import { comparisonView, type ComparisonView } from "./comparison";
import { badge, button, enable, evidenceTable } from "../parts";
import { origin } from "../places";

export interface ChangeView {
  element: HTMLElement;
  setDark(dark: boolean): void;
  /** Gives the keyboard to the view. */
  focus(): void;
  destroy(): void;
}

/** Where the comparison of a change comes from. */
export interface Sources {
  /** The one that was kept; null if none was. */
  kept: (() => Promise<ComparisonState>) | null;
  /** A kernel that can compare the change once more. */
  again: { kernel: Kernel; ask(kernel: Kernel): Promise<ComparisonState> } | null;
}

/** The ways to the table and to the changes before and after this one, as they are listed there. */
export interface Around {
  back(): void;
  previous?: () => void;
  next?: () => void;
  /** Its place among them: `3 of 33`. */
  position: string;
}

export function changeView(row: StudyRow, { kept, again }: Sources, around: Around): ChangeView {
  let opened: ComparisonView | null = null;
  let dark = false;
  let gone = false;

  const status = h("p", { class: "tcw-quiet", role: "status" });
  const place = h("div", {});
  const work = again && button("Work with it", () => void compareAgain(again), { primary: true });
  if (work) work.title = "Compare this change once more, so that its executions can be run again and changed";

  /** Whether it could be shown. */
  function put(comparison: ComparisonState, live: Kernel | null): boolean {
    const host = { kernel: live, pinned: [], savePinned: null };
    const view = attempt(comparison, (state) => comparisonView(state, host));
    if (typeof view === "string") {
      status.textContent = view;
      return false;
    }
    opened?.destroy();
    opened = view;
    view.setDark(dark);
    replace(place, view.element);
    return true;
  }

  async function showKept(load: () => Promise<ComparisonState>): Promise<void> {
    status.textContent = "Loading the comparison…";
    let comparison: ComparisonState;
    try {
      comparison = await load();
    } catch {
      if (!gone) status.textContent = "The comparison that was kept could not be read.";
      return;
    }
    if (gone || opened) return;
    status.textContent = "";
    put(comparison, null);
  }

  async function show(): Promise<void> {
    if (kept) await showKept(kept);
    else if (!again) status.textContent = "The whole comparison is not stored in this study.";
    if (gone || opened) return;
    replace(place, withoutComparison(row));
    if (again) await compareAgain(again);
  }

  async function compareAgain({ kernel: live, ask }: NonNullable<Sources["again"]>): Promise<void> {
    if (work) enable(work, false);
    status.textContent = "Comparing this change once more…";
    try {
      const comparison = await ask(live);
      // An answer may come after the change was closed, and after it was opened once more.
      if (gone) return;
      status.textContent = "";
      const inside = place.contains(document.activeElement) || work === document.activeElement;
      if (!put(comparison, live)) return;
      work?.remove();
      if (inside) focusOn(place);
    } catch (error) {
      if (!gone) status.textContent = plain.sentence(error instanceof Error ? error.message : String(error));
    } finally {
      if (work) enable(work, true);
    }
  }

  const title = h("h2", { class: "tcw-studytitle" }, h("code", {}, plain.value(row.function ?? row.id)));
  const facts = [origin(row), row.date && plain.value(row.date), row.label && `label: ${words.labelName(row.label)}`];
  const element = h(
    "div",
    {},
    ways(around),
    title,
    h("p", { class: "tcw-lead tcw-quiet" }, facts.filter(Boolean).join(" · ")),
    h("div", { class: "tcw-bar" }, work, status),
    place,
  );
  void show();

  return {
    element,
    focus: () => focusOn(title),
    setDark(now) {
      dark = now;
      opened?.setDark(now);
    },
    destroy() {
      gone = true;
      opened?.destroy();
    },
  };
}

function ways({ back, previous, next, position }: Around): HTMLElement {
  const step = (text: string, key: string, go: (() => void) | undefined) => {
    const made = button(text, () => go?.(), { small: true, title: `Key ${key}` });
    made.setAttribute("aria-keyshortcuts", key);
    enable(made, go !== undefined);
    return made;
  };
  return h(
    "div",
    { class: "tcw-bar", role: "group", "aria-label": "Other changes" },
    step("← All changes", "Escape", back),
    step("‹ Previous", "p", previous),
    step("Next ›", "n", next),
    h("span", { class: "tcw-quiet" }, `${position} listed · keys: p, n, Esc`),
  );
}

function withoutComparison(row: StudyRow): HTMLElement {
  return h(
    "div",
    {},
    h(
      "div",
      { class: `tcw-head ${words.tone(row.verdict)}` },
      badge(row.verdict),
      h("p", { class: "tcw-sentence" }, plain.sentence(row.reason || "No reason is stored.")),
    ),
    row.evidence.length > 0 && evidenceTable(row.evidence, "What differs", null),
    row.reproducer && h("p", { class: "tcw-lead" }, `Reproducer: ${plain.value(row.reproducer)}.`),
  );
}
