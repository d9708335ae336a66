// The reproducer: a pytest file that shows the difference without twincell.

import { h, replace } from "../dom";
import * as plain from "../plain";
import type { PairContext } from "../session";
import { source, testName } from "../parts";

export function testView({ pair }: PairContext, panel: HTMLElement): void {
  const { reproducer } = pair;
  const text = reproducer?.source ?? null;
  // A test that was run and does not tell old from new helps nobody.
  if (text === null || reproducer?.holds === false) {
    const why = reproducer?.reason
      ? `There is none, because ${plain.sentence(reproducer.reason)}.`
      : text === null
        ? "There is none: a test is written where a difference was found."
        : "There is none: the test that was written does not tell old from new.";
    return replace(panel, h("p", { class: "tcw-quiet" }, why));
  }
  const note =
    reproducer?.holds === true
      ? "A pytest file that does not need twincell. It was run: it passes with old and fails with new."
      : "A pytest file that does not need twincell. It could not be run here.";
  replace(panel, h("p", { class: "tcw-lead" }, note), source(text, testName(pair)));
}
