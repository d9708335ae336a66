// Where old and new part: which values of an input show a difference, and which do not, with all else the same.

import { h } from "../dom";
import * as plain from "../plain";
import type { Varied } from "../types";
import * as words from "../words";

export function regionView(varied: Varied): HTMLElement {
  return h(
    "section",
    { class: "tcw-part" },
    h("h4", {}, plain.sentence(varied.sentence), h("span", { class: "tcw-note" }, " all else the same")),
    strip(varied),
  );
}

/** The values of one input, in a row that shows where old and new part. */
function strip(varied: Varied): HTMLElement {
  const cell = (one: Varied["values"][number]) => {
    const [mark, said] = words.VARIED_MARK[one.outcome];
    return h(
      "li",
      { class: `tcw-v-${one.outcome}`, title: `old ${plain.value(one.old)}; new ${plain.value(one.new)}` },
      h("span", { "aria-hidden": "true" }, `${mark} `),
      plain.value(one.value),
      h("span", { class: "tcw-hidden" }, ` ${said}`),
    );
  };
  return h(
    "ul",
    { class: "tcw-strip", "aria-label": "Values that were tried, all else the same" },
    varied.values.map(cell),
  );
}
