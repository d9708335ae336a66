// A running comparison, study or search for a slice: its progress, and a way to end it.

import { h, replace } from "../dom";
import * as plain from "../plain";
import { drawingView } from "../plots/figure";
import { progressPlot } from "../plots/slice";
import type { Progress, SliceProgress, StudyProgress } from "../types";
import * as words from "../words";
import { button, enable } from "../parts";

/** Milliseconds after which a stop without effect is explained. */
const STOPPING = 2000;
const INTERRUPT = "Still running? Some front ends send this only after the cell has ended: press Interrupt instead.";

export interface ProgressView {
  element: HTMLElement;
  update(progress: Progress | StudyProgress | SliceProgress | null): void;
}

export function progressView(stop: () => void, signal: AbortSignal): ProgressView {
  const bar = h("progress", { class: "tcw-progress-bar", "aria-label": "What is done" });
  const text = h("p", { class: "tcw-progress-text" });
  const end = button("Stop", () => {
    enable(end, false);
    end.textContent = "Stopping…";
    stop();
    setTimeout(() => (hint.textContent = INTERRUPT), STOPPING);
  });
  const hint = h("p", { class: "tcw-progress-text", role: "status" });
  const title = h("p", { class: "tcw-progress-title" });
  const drawing = drawingView(signal);
  drawing.element.hidden = true;
  const element = h(
    "div",
    { class: "tcw-progress", role: "group", "aria-label": "Progress" },
    title,
    h("div", { class: "tcw-progress-row" }, bar, end),
    text,
    hint,
    drawing.element,
  );
  return {
    element,
    update(progress) {
      const plot = progress && "points" in progress ? progressPlot(progress) : null;
      drawing.element.hidden = plot === null;
      if (plot) drawing.show(plot);
      if (!progress) {
        replace(title, "Comparing…");
        bar.removeAttribute("value");
        text.textContent = "Reading both versions.";
        return;
      }
      if ("points" in progress) {
        replace(title, "Looking for the slice…");
        if (progress.total === 0) bar.removeAttribute("value");
        else {
          bar.max = progress.total;
          bar.value = Math.min(progress.done, progress.total);
        }
        text.textContent = plain.sentence(progress.text);
        return;
      }
      if ("done" in progress) {
        replace(title, "Running the study…");
        bar.max = Math.max(1, progress.total ?? 1);
        if (progress.total === null) bar.removeAttribute("value");
        else bar.value = Math.min(progress.done, progress.total);
        text.textContent = plain.sentence(progress.text);
        return;
      }
      replace(
        title,
        "Comparing…",
        progress.pairs > 1 &&
          h("span", { class: "tcw-note" }, ` pair ${Math.min(progress.pair + 1, progress.pairs)} of ${progress.pairs}`),
      );
      bar.max = Math.max(1, progress.budget);
      bar.value = Math.min(progress.executions, progress.budget);
      text.textContent = `${words.number(progress.executions)} of at most ${words.count(progress.budget, "execution")} · ${words.percent(progress.coverage)} of the lines covered so far`;
    },
  };
}
