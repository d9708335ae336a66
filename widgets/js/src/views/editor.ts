// Python in a read-only editor: its colors, and for one version of a function keys and names for screen readers.

import { indentUnit, syntaxHighlighting, HighlightStyle } from "@codemirror/language";
import { python } from "@codemirror/lang-python";
import { EditorState, type Extension } from "@codemirror/state";
import { drawSelection, EditorView, keymap } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { foldAt } from "./fold";
import type { ShownLine } from "./lines";

const highlighting = HighlightStyle.define([
  {
    tag: [tags.keyword, tags.controlKeyword, tags.operatorKeyword, tags.definitionKeyword, tags.moduleKeyword],
    class: "tcw-k",
  },
  { tag: [tags.string, tags.special(tags.string)], class: "tcw-s" },
  { tag: [tags.number, tags.bool, tags.null], class: "tcw-n" },
  { tag: [tags.comment], class: "tcw-c" },
  { tag: [tags.function(tags.definition(tags.variableName)), tags.definition(tags.className)], class: "tcw-f" },
]);

export interface LineEvents {
  /** The cursor moved to this line. */
  reached(line: ShownLine): void;
  /** The executions that ran this line are asked for, or no longer. */
  toggled(line: ShownLine): void;
  /** The cursor moved to lines that are hidden. */
  folded(fold: number): void;
}

export function editorExtensions(lines: ShownLine[], label: string, events: LineEvents): Extension[] {
  const toggle = (view: EditorView) => {
    const line = lines[lineIndex(view)];
    if (line) events.toggled(line);
    return true;
  };
  return [
    ...readOnlyPython(`${label}. Arrow keys move by line; Enter lists the executions that ran the line.`),
    keymap.of([
      { key: "ArrowDown", run: (view) => step(view, lines, 1, events) },
      { key: "ArrowUp", run: (view) => step(view, lines, -1, events) },
      { key: "Enter", run: toggle },
      { key: "Space", run: toggle },
    ]),
  ];
}

/** Python that can be read and not changed, under a name for screen readers. */
export function readOnlyPython(label: string): Extension[] {
  return [python(), indentUnit.of("    "), syntaxHighlighting(highlighting), ...readOnly(label)];
}

/** The same for any text. */
export function readOnly(label: string): Extension[] {
  return [
    EditorState.readOnly.of(true),
    EditorView.editable.of(false),
    EditorView.lineWrapping,
    drawSelection(),
    EditorView.contentAttributes.of({ tabindex: "0", "aria-readonly": "true", "aria-label": label }),
  ];
}

/** Where the cursor is, counted from 0. */
function lineIndex(view: EditorView): number {
  return cursorLine(view) - 1;
}

/** Where the cursor is, counted from 1. */
export function cursorLine({ state }: EditorView): number {
  return state.doc.lineAt(state.selection.main.head).number;
}

export function putCursor(view: EditorView, line: number): void {
  view.dispatch({ selection: { anchor: view.state.doc.line(line).from } });
}

function step(view: EditorView, lines: ShownLine[], by: 1 | -1, events: LineEvents): boolean {
  const { doc } = view.state;
  const next = cursorLine(view) + by;
  if (next < 1 || next > doc.lines) return false;
  const fold = foldAt(view.state, next - 1);
  if (fold) events.folded(fold.number);
  view.dispatch({ selection: { anchor: doc.line(next).from }, scrollIntoView: true });
  const line = lines[next - 1];
  if (line) events.reached(line);
  return true;
}
