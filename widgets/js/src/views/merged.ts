// A text as a change of another one, or by itself: lines that are gone and lines that are new are marked.

import { unifiedMergeView } from "@codemirror/merge";
import { Compartment, EditorState } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { h, replace } from "../dom";
import * as plain from "../plain";
import { readOnlyPython } from "./editor";

/** The maximum number of characters of two texts that are compared. */
const COMPARED = 100_000;

export class Merged {
  readonly element = h("div", { class: "tcw-code tcw-stacked tcw-prefixpart" });
  private readonly dark = new Compartment();
  private isDark = false;
  private editor: EditorView | null = null;

  setDark(now: boolean): void {
    this.isDark = now;
    this.editor?.dispatch({ effects: this.dark.reconfigure(EditorView.darkTheme.of(now)) });
  }

  /** Shows a text. `original` is what it changes; null if there is nothing to compare it with. */
  show(original: string | null, text: string, label: string): void {
    const isCompared = original !== null && original.length + text.length <= COMPARED;
    const merge = isCompared
      ? [unifiedMergeView({ original: shown(original), mergeControls: false, gutter: true })]
      : [];
    const extensions = [
      ...merge,
      this.dark.of(EditorView.darkTheme.of(this.isDark)),
      ...readOnlyPython(`${label}, read-only`),
    ];
    this.editor?.destroy();
    this.editor = new EditorView({ state: EditorState.create({ doc: shown(text), extensions }) });
    replace(this.element, this.editor.dom);
  }

  destroy(): void {
    this.editor?.destroy();
    this.editor = null;
  }
}

/** Code for people: unsafe characters are escaped, and very long lines are cut. */
function shown(text: string): string {
  return text.replace(/\n$/, "").split("\n").map(plain.code).join("\n");
}
