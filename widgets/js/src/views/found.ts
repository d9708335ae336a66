// The findings: the reason for the verdict, every difference, and the notes.

import { h, replace } from "../dom";
import * as plain from "../plain";
import type { PairContext } from "../session";
import * as words from "../words";
import { evidenceTable } from "../parts";
import { togetherView, variedView, weightsView } from "./varied";

const EVIDENCE = 100;

export function foundView({ session, pair }: PairContext, panel: HTMLElement): void {
  const choose = (execution: number) => {
    session.choose(execution);
    session.store.set({ tab: "shown" });
  };
  const shown = pair.evidence.slice(0, EVIDENCE);
  replace(
    panel,
    pair.reason !== null && h("p", { class: "tcw-lead" }, plain.sentence(pair.reason)),
    pair.decided_by.length > 0 &&
      h("p", { class: "tcw-lead" }, "Covered by ", plain.sentence(pair.decided_by.join(", ")), "."),
    pair.accepted !== null && h("p", { class: "tcw-lead" }, "Accepted: ", plain.sentence(pair.accepted)),
    shown.length > 0
      ? evidenceTable(shown, "What differs", choose)
      : h(
          "p",
          { class: "tcw-quiet" },
          pair.executions.length > 0 ? "No execution showed a difference." : "Nothing was executed.",
        ),
    pair.evidence.length > shown.length &&
      h(
        "p",
        { class: "tcw-legend" },
        `… and ${words.count(pair.evidence.length - shown.length, "more difference")}, not shown`,
      ),
    pair.varied.map(variedView),
    pair.varied_together && togetherView(pair.varied_together),
    pair.input_weights.length > 0 && weightsView(pair.input_weights),
    pair.notes.length > 0 &&
      h(
        "section",
        { class: "tcw-part" },
        h("h4", {}, "Notes"),
        h(
          "ul",
          { class: "tcw-notes" },
          pair.notes.map((note) => h("li", {}, plain.sentence(note))),
        ),
      ),
  );
}
