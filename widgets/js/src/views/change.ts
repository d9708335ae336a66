// One change of a study in full: its comparison as it is stored, and where there is a kernel one that is made again
// and can be worked with. What is stored stays until somebody asks for the other.

import { focusOn, h, replace } from "../dom";
import type { Kernel } from "../kernel";
import * as plain from "../plain";
import type { ComparisonState, StudyRow } from "../types";
import * as words from "../words";
import { attempt } from "./attempt";
import { comparisonView, type ComparisonView } from "./comparison";
import { badge, button, enable, evidenceTable, link } from "../parts";

export interface ChangeView {
  element: HTMLElement;
  setDark(dark: boolean): void;
  destroy(): void;
}

/** `ask` makes the kernel compare the change once more. */
export function changeView(
  row: StudyRow,
  kernel: Kernel | null,
  ask: (kernel: Kernel) => Promise<ComparisonState>,
  goBack: () => void,
): ChangeView {
  let opened: ComparisonView | null = null;
  let dark = false;
  let gone = false;

  const status = h("p", { class: "tcw-quiet", role: "status" });
  const place = h("div", {}, withoutComparison(row));
  const work = kernel && button("Work with it", () => void again(kernel), { primary: true });
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

  async function again(live: Kernel): Promise<void> {
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

  const element = h(
    "div",
    {},
    link("← All changes", null, goBack),
    h(
      "h2",
      { class: "tcw-studytitle" },
      h("code", {}, plain.value(row.id)),
      h("span", { class: "tcw-note" }, ` label: ${words.labelName(row.label)}`),
    ),
    h("div", { class: "tcw-bar" }, work, status),
    place,
  );
  const shown = row.comparison !== null && put(row.comparison, null);
  if (!shown && kernel) void again(kernel);
  else if (row.comparison === null) status.textContent = "The whole comparison is not stored in this study.";

  return {
    element,
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
