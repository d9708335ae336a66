// The reproducer: a pytest file that shows the difference without twincell.

import { copyText } from "../clipboard";
import { h, replace } from "../dom";
import { saveText } from "../download";
import * as plain from "../plain";
import type { PairContext } from "../session";
import { button, source } from "./parts";

export function testView({ pair }: PairContext, panel: HTMLElement): void {
  const { reproducer } = pair;
  const text = reproducer?.source ?? null;
  if (text === null) {
    const why = reproducer?.reason
      ? `There is none, because ${plain.sentence(reproducer.reason)}.`
      : "There is none: a test is written where a difference was found.";
    return replace(panel, h("p", { class: "tcw-quiet" }, why));
  }
  const said = h("span", { class: "tcw-quiet", role: "status" });
  const copy = async () => {
    said.textContent = (await copyText(text)) ? "Copied." : "The browser did not let it be copied.";
  };
  const holds = reproducer?.holds;
  const note =
    holds === true
      ? "A pytest file that needs no twincell. It was run: it passes with old and fails with new."
      : holds === false
        ? "A pytest file that was run here and does not tell old from new, so do not rely on it."
        : "A pytest file that needs no twincell. It could not be run here.";
  const name = `test_${pair.new.qualname.replace(/\W+/g, "_").slice(0, 80)}.py`;
  replace(
    panel,
    h("p", { class: "tcw-lead" }, note),
    h(
      "div",
      { class: "tcw-bar" },
      button("Copy", () => void copy()),
      button("Download", () => saveText(name, "text/x-python", text)),
      said,
    ),
    source(text, "The test"),
  );
}
