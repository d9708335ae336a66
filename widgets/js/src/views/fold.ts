// Lines that are out of sight: runs of unchanged ones, each of which opens by a click on what stands in its place.

import { StateEffect, StateField, type EditorState, type Extension, type Text } from "@codemirror/state";
import { Decoration, EditorView, WidgetType, type DecorationSet } from "@codemirror/view";
import { h } from "../dom";
import * as words from "../words";

/** Lines that are hidden, from and to, exclusive, counted from 0. The number names the run in all editors. */
export interface Fold {
  number: number;
  from: number;
  to: number;
}

/** The folds that stay closed. */
const setClosed = StateEffect.define<ReadonlySet<number>>();

interface Folded {
  folds: Fold[];
  closed: ReadonlySet<number>;
}

const field = StateField.define<Folded>({
  create: () => ({ folds: [], closed: new Set() }),
  update: (folded, transaction) => {
    const effect = transaction.effects.find((one) => one.is(setClosed));
    return effect ? { ...folded, closed: effect.value } : folded;
  },
});

/** Hides these lines as long as their folds are closed. */
export function folding(folds: Fold[], closed: ReadonlySet<number>, open: (fold: number) => void): Extension {
  return [
    field.init(() => ({ folds, closed })),
    EditorView.decorations.compute([field], (state) => drawn(state.doc, state.field(field), open)),
  ];
}

function drawn(doc: Text, { folds, closed }: Folded, open: (fold: number) => void): DecorationSet {
  const hidden = folds
    .filter((fold) => closed.has(fold.number))
    .map((fold) =>
      Decoration.replace({ widget: new Folds(fold, open), block: true }).range(
        doc.line(fold.from + 1).from,
        doc.line(fold.to).to,
      ),
    );
  return Decoration.set(hidden);
}

export function close(editor: EditorView, closed: ReadonlySet<number>): void {
  editor.dispatch({ effects: setClosed.of(closed) });
}

/** The closed fold that hides a line, counted from 0. */
export function foldAt(state: EditorState, line: number): Fold | undefined {
  const { folds, closed } = state.field(field);
  return folds.find((fold) => closed.has(fold.number) && fold.from <= line && line < fold.to);
}

class Folds extends WidgetType {
  constructor(
    readonly fold: Fold,
    readonly open: (fold: number) => void,
  ) {
    super();
  }
  override eq(other: Folds): boolean {
    return this.fold.number === other.fold.number;
  }
  override toDOM(): HTMLElement {
    const { number, from, to } = this.fold;
    return h(
      "div",
      { class: "tcw-folded", title: "Show these lines", onclick: () => this.open(number) },
      `⋯ ${words.count(to - from, "unchanged line")}`,
    );
  }
  override ignoreEvent(): boolean {
    return true;
  }
}
