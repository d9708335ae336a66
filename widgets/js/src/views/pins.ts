// Pinned examples: their values and outcomes, to be run again or removed.

import { h, replace } from "../dom";
import * as plain from "../plain";
import type { PairContext } from "../session";
import * as words from "../words";
import { link, seen, simpleTable } from "../parts";

/** The number of shown values of an example. */
const VALUES = 5;

export function pinsView({ session, signal }: PairContext, panel: HTMLElement): void {
  session.store.watch(["pinned"], signal, () => {
    const { pinned } = session.store.get();
    if (pinned.length === 0) {
      return replace(
        panel,
        h(
          "p",
          { class: "tcw-quiet" },
          `Nothing is pinned. “Pin as example” in the tab of an execution keeps its values here, ${session.keeps ? "and with the notebook where the state of its widgets is saved" : "as long as this is open"}.`,
        ),
      );
    }
    const rows = pinned.map((example, index) => {
      const name = `${plain.value(example.name)}, ${words.executionName(example.execution).toLowerCase()}`;
      const values = example.values
        .slice(0, VALUES)
        .map(({ path, value }) =>
          h("div", { class: "tcw-mono" }, `${plain.path(path, 60)} = ${plain.value(value, 120)}`),
        );
      const note = words.changeNote(example.handle, new Map(Object.entries(example.changes)));
      return {
        cells: [
          h("span", {}, name, note && h("span", { class: "tcw-note" }, ` ${note}`)),
          h(
            "div",
            {},
            values,
            example.values.length > VALUES &&
              h("span", { class: "tcw-note" }, `and ${example.values.length - VALUES} more`),
          ),
          seen(example.old),
          seen(example.new),
          h(
            "span",
            { class: "tcw-nowrap" },
            link("Show", `Show the pinned example ${index + 1}`, () => session.showPinned(index)),
            " ",
            link("Remove", `Remove the pinned example ${index + 1}`, () => session.unpin(index)),
          ),
        ],
      };
    });
    replace(
      panel,
      simpleTable(
        "Pinned examples",
        [
          { title: "Example" },
          { title: "Values", kind: "seen" },
          { title: "Old", kind: "seen" },
          { title: "New", kind: "seen" },
          { title: "" },
        ],
        rows,
      ),
    );
  });
}
