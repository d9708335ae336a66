// A diff as git writes it: for each file an editor with the lines of its hunks, and their signs and numbers in the margin.

import { Compartment, EditorState, RangeSetBuilder, type Extension } from "@codemirror/state";
import { Decoration, EditorView, gutter } from "@codemirror/view";
import { parseDiff, type DiffFile, type DiffLine } from "../diff";
import { h, replace } from "../dom";
import * as plain from "../plain";
import * as words from "../words";
import { readOnly, readOnlyPython } from "./editor";
import { Label } from "./margin";

/** The maximum number of files that are shown. */
const FILES = 30;

const TONES: Record<DiffLine["kind"], string> = { same: "", removed: "tcw-del", added: "tcw-add", hunk: "tcw-hunk" };
const SIGNS: Record<DiffLine["kind"], string> = { same: "", removed: "−", added: "+", hunk: "" };

export class DiffView {
  readonly element = h("div", { class: "tcw-diff" });
  private readonly dark = new Compartment();
  private isDark = false;
  private editors: EditorView[] = [];

  setDark(now: boolean): void {
    this.isDark = now;
    for (const editor of this.editors) {
      editor.dispatch({ effects: this.dark.reconfigure(EditorView.darkTheme.of(now)) });
    }
  }

  /** Shows a diff in place of the one before. `lacks` says what it lacks. */
  show(text: string, lacks: string | null): void {
    this.clear();
    const files = parseDiff(text);
    const more = files.length - FILES;
    replace(
      this.element,
      files.slice(0, FILES).map((file) => this.file(file)),
      more > 0 && h("p", { class: "tcw-legend" }, `… and ${words.count(more, "more file")}.`),
      lacks !== null && h("p", { class: "tcw-legend" }, plain.sentence(lacks)),
    );
  }

  destroy(): void {
    this.clear();
  }

  private clear(): void {
    for (const editor of this.editors) editor.destroy();
    this.editors = [];
  }

  private file({ path, notes, lines }: DiffFile): HTMLElement {
    const name = plain.value(path);
    const heading = h(
      "div",
      { class: "tcw-codehead-side" },
      h("code", {}, name),
      notes.length > 0 && h("span", { class: "tcw-note" }, ` ${notes.map((note) => plain.value(note)).join(", ")}`),
    );
    if (lines.length === 0) return h("div", { class: "tcw-code tcw-difffile" }, heading);
    const isPython = /\.pyi?"?$/.test(path);
    const label = `What changes in ${name}, read-only`;
    const doc = lines
      .map((line) => (line.kind === "hunk" ? hunkText(line, isPython) : plain.code(line.text)))
      .join("\n");
    const extensions = [
      marked(lines),
      this.dark.of(EditorView.darkTheme.of(this.isDark)),
      ...(isPython ? readOnlyPython(label) : readOnly(label)),
    ];
    const editor = new EditorView({ state: EditorState.create({ doc, extensions }) });
    this.editors.push(editor);
    return h("div", { class: "tcw-code tcw-difffile" }, heading, editor.dom);
  }
}

/** The line between two hunks. Python takes it for a comment. */
function hunkText({ text }: DiffLine, isPython: boolean): string {
  return `${isPython ? "# " : ""}⋯ ${plain.code(text)}`.trimEnd();
}

/** The margin and the colors of the lines. */
function marked(lines: DiffLine[]): Extension[] {
  const column = (name: string, text: (line: DiffLine) => string) =>
    gutter({
      class: `tcw-g-${name}`,
      lineMarker: (view, block) => {
        const line = lines[view.state.doc.lineAt(block.from).number - 1];
        return line ? new Label(text(line), TONES[line.kind]) : null;
      },
    });
  return [
    column("line", (line) => String(line.old ?? "")),
    column("line", (line) => String(line.new ?? "")),
    column("sign", (line) => SIGNS[line.kind]),
    EditorView.decorations.of((view) => {
      const builder = new RangeSetBuilder<Decoration>();
      lines.slice(0, view.state.doc.lines).forEach((line, index) => {
        const { from } = view.state.doc.line(index + 1);
        if (line.kind !== "same") builder.add(from, from, Decoration.line({ class: TONES[line.kind] }));
      });
      return builder.finish();
    }),
  ];
}
