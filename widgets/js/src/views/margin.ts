// The text beside and behind the lines of an editor: numbers, coverage, change marks, the values that entered at a
// line, branches never taken.

import { RangeSetBuilder, StateEffect, StateField, type Extension, type Text as DocumentText } from "@codemirror/state";
import { Decoration, EditorView, gutter, GutterMarker, WidgetType, type DecorationSet } from "@codemirror/view";
import { classes, h } from "../dom";
import * as plain from "../plain";
import type { DetailValue, Version, VersionNumber } from "../types";
import * as words from "../words";
import type { Shown, ShownLine } from "./lines";

/** The maximum number of values shown at one line. The table of values has them all. */
const VALUES_AT_LINE = 3;
/** Characters of such a value. */
const VALUE_WIDTH = 40;

/** Values by the place of the line where they entered. */
export type Placed = Map<number, DetailValue[]>;

/** What depends on the execution that is shown, and on the filter. Lines are named by their places in the text. */
export interface Marks {
  /** How often each line ran; 0 if only the fact that it ran is known. */
  hits: Map<number, number>;
  values: Placed;
  /** Values beside the same lines of the other version. They take up room here invisibly, so that rows stay level. */
  twins: Placed;
  filter: number | null;
}

export const setMarks = StateEffect.define<Marks>();

export interface MarginEvents {
  toggleLine(version: VersionNumber, line: number): void;
  onValue(path: string): void;
}

export interface Fixed {
  shown: Shown;
  /** Whether old stands at the left or by itself, so that what belongs to it comes first. */
  isOld: boolean;
  /** The truth values that conditions never had, by the place of the line. */
  gaps: Map<number, boolean>;
  /** The same of the other version's conditions, by the corresponding line here. */
  twinGaps: Map<number, boolean>;
}

/** The truth values that conditions never had, by line. */
export function gapsOf(version: Version): Map<number, boolean> {
  const gaps = new Map<number, boolean>();
  for (const branch of version.branches) {
    const gap = words.branchGap(branch);
    if (gap !== null) gaps.set(branch.line, gap);
  }
  return gaps;
}

export function margins(fixed: Fixed, first: Marks, events: MarginEvents): Extension[] {
  const { shown } = fixed;
  const field = StateField.define<Marks>({
    create: () => first,
    update: (marks, transaction) => transaction.effects.find((effect) => effect.is(setMarks))?.value ?? marks,
    provide: (self) =>
      EditorView.decorations.compute([self, "doc"], (state) =>
        decorations(fixed, state.field(self), state.doc, events),
      ),
  });
  const placeAt = (view: EditorView, position: number) => view.state.doc.lineAt(position).number - 1;
  const toggle = (one: ShownLine | undefined) => one && events.toggleLine(one.version, one.line.number);
  const column = (
    name: string,
    marker: (line: ShownLine, place: number, marks: Marks) => GutterMarker | null,
    changes: boolean,
  ) =>
    gutter({
      class: `tcw-g-${name}`,
      lineMarker: (view, block) => {
        const place = placeAt(view, block.from);
        const line = shown.lines[place];
        return line ? marker(line, place, view.state.field(field)) : null;
      },
      lineMarkerChange: changes ? (update) => update.startState.field(field) !== update.state.field(field) : null,
      domEventHandlers: {
        click: (view, block) => {
          toggle(shown.lines[placeAt(view, block.from)]);
          return true;
        },
      },
    });
  return [
    field,
    ...(shown.lines[0]?.numbers ?? []).map((_, index) =>
      column("line", (line) => new Label(line.numbers[index] ?? "", gutterTone(line)), false),
    ),
    column("runs", runs, true),
    column("hits", hitsHere, true),
    column(
      "sign",
      (one) => (one.line.changed ? new Label(one.version === 0 ? "−" : "+", gutterTone(one)) : null),
      false,
    ),
    EditorView.domEventHandlers({
      click: (event, view) => {
        // A selection of text is not a click on the line.
        if (!view.state.selection.main.empty || (event.target as HTMLElement).closest(".tcw-chip, .tcw-folded"))
          return false;
        const position = view.posAtCoords({ x: event.clientX, y: event.clientY });
        if (position !== null) toggle(shown.lines[placeAt(view, position)]);
        return false;
      },
    }),
  ];
}

/** A text in the margin. */
export class Label extends GutterMarker {
  constructor(
    readonly text: string,
    readonly tones: string,
    readonly title = "",
  ) {
    super();
    this.elementClass = tones;
  }
  override eq(other: Label): boolean {
    return this.text === other.text && this.tones === other.tones && this.title === other.title;
  }
  override toDOM(): Node {
    return h("span", { title: this.title || null }, this.text);
  }
}

function tone({ line, version }: ShownLine): string {
  return line.changed ? (version === 0 ? "tcw-del" : "tcw-add") : "";
}

function gutterTone(line: ShownLine): string {
  return classes(tone(line), line.begins && "tcw-begins");
}

function runs(one: ShownLine, place: number, marks: Marks): GutterMarker {
  const { line, version } = one;
  const cover = !line.executable ? "" : line.executions === 0 ? "tcw-never" : "tcw-ran";
  const hits = marks.hits.get(place);
  const title = words.marginSentence(words.versionName(version), line, one.name, hits === 0 ? null : (hits ?? 0));
  return new Label(words.margin(line), classes(cover, gutterTone(one)), title);
}

/** Whether the execution that is shown ran the line, and how often if more than once. */
function hitsHere(one: ShownLine, place: number, marks: Marks): GutterMarker {
  const hits = one.line.executable ? marks.hits.get(place) : undefined;
  const text = hits === undefined ? "" : hits > 1 ? `▸${words.short(hits)}×` : "▸";
  return new Label(text, gutterTone(one));
}

const DIFFERING = Decoration.mark({ class: "tcw-differing" });

function decorations(
  { shown, isOld, gaps, twinGaps }: Fixed,
  marks: Marks,
  doc: DocumentText,
  events: MarginEvents,
): DecorationSet {
  const { values, twins } = marks;
  const builder = new RangeSetBuilder<Decoration>();
  shown.lines.slice(0, doc.lines).forEach((line, place) => {
    const { from, to, text } = doc.line(place + 1);
    const names = classes(tone(line), place === marks.filter && "tcw-chosenline", line.begins && "tcw-begins");
    // A continuation line is indented further than its start.
    const hang = Math.min(text.length - text.trimStart().length, 40) + 4;
    builder.add(
      from,
      from,
      Decoration.line({ class: names, attributes: { style: `padding-left: ${hang}ch; text-indent: -${hang}ch` } }),
    );
    for (const [start, end] of shown.differing.get(place) ?? []) builder.add(from + start, from + end, DIFFERING);
    const elsewhere = line.begins?.elsewhere;
    if (elsewhere != null) builder.add(to, to, Decoration.widget({ widget: new Elsewhere(elsewhere), side: 1 }));
    const own = [widget(gaps.get(place), Gap, true), widget(values.get(place), Values, true, events)];
    const other = [widget(twinGaps.get(place), Gap, false), widget(twins.get(place), Values, false, events)];
    // Old before new on both sides; otherwise the rows would break at different places.
    const [old, renewed] = isOld ? [own, other] : [other, own];
    [old[0], renewed[0], old[1], renewed[1]].forEach(
      (one, at) => one && builder.add(to, to, Decoration.widget({ widget: one, side: at + 1 })),
    );
  });
  return builder.finish();
}

function widget<T, Rest extends unknown[]>(
  content: T | undefined,
  Kind: new (content: T, shown: boolean, ...rest: Rest) => WidgetType,
  shown: boolean,
  ...rest: Rest
) {
  return content === undefined ? null : new Kind(content, shown, ...rest);
}

/** What holds the function that begins at a line. */
class Elsewhere extends WidgetType {
  constructor(readonly text: string) {
    super();
  }
  override eq(other: Elsewhere): boolean {
    return this.text === other.text;
  }
  override toDOM(): HTMLElement {
    return h("span", { class: "tcw-note" }, ` in ${plain.value(this.text)}`);
  }
}

/** Takes up room and does nothing else. */
function unseen(element: HTMLElement): HTMLElement {
  element.classList.add("tcw-unseen");
  element.setAttribute("aria-hidden", "true");
  return element;
}

class Gap extends WidgetType {
  constructor(
    readonly never: boolean,
    readonly shown: boolean,
  ) {
    super();
  }
  override eq(other: Gap): boolean {
    return this.never === other.never && this.shown === other.shown;
  }
  override toDOM(): HTMLElement {
    const text = `⊘ never ${this.never}`;
    if (!this.shown) return unseen(h("span", { class: "tcw-gap" }, text));
    const title = `In all executions that reached it, the condition was ${!this.never}.`;
    return h("span", { class: "tcw-gap", title }, text);
  }
}

function described(value: DetailValue): string {
  return `${plain.path(value.path)} = ${plain.value(value.value)}`;
}

class Values extends WidgetType {
  constructor(
    readonly values: DetailValue[],
    readonly shown: boolean,
    readonly events: MarginEvents,
  ) {
    super();
  }
  override eq(other: Values): boolean {
    return (
      this.shown === other.shown &&
      this.values.length === other.values.length &&
      this.values.every((value, index) => {
        const twin = other.values[index];
        return (
          value.path === twin?.path &&
          value.value === twin.value &&
          value.changed === twin.changed &&
          value.decisive === twin.decisive
        );
      })
    );
  }
  override toDOM(): HTMLElement {
    // Stand-ins for objects say little by their values: they are counted, the others shown.
    const isStandIn = (value: DetailValue) => value.literal === null && !value.decisive && !value.changed;
    const [standIns, literal] = [this.values.filter(isStandIn), this.values.filter((value) => !isStandIn(value))];
    const chips = literal.slice(0, VALUES_AT_LINE).map((value) =>
      h(
        "span",
        {
          class: classes("tcw-chip", value.decisive && "tcw-decisive", value.changed && "tcw-changed"),
          title: `Injected: ${described(value)}${value.decisive ? " (decisive)" : ""}${value.changed ? " (changed by you)" : ""}`,
          onclick: () => this.events.onValue(value.path),
        },
        `${plain.path(value.path, VALUE_WIDTH)} = `,
        h("b", {}, plain.value(value.value, VALUE_WIDTH)),
      ),
    );
    if (standIns.length > 0) {
      const title = `Injected: ${standIns.slice(0, 8).map(described).join("; ")}`;
      const [first] = standIns;
      chips.push(
        h(
          "span",
          { class: "tcw-chip tcw-standin", title, onclick: () => first && this.events.onValue(first.path) },
          words.count(standIns.length, "object"),
        ),
      );
    }
    const more = literal.length - Math.min(literal.length, VALUES_AT_LINE);
    const all = h("span", {}, chips, more > 0 && h("span", { class: "tcw-note" }, ` and ${more} more`));
    return this.shown ? all : unseen(all);
  }
  override ignoreEvent(): boolean {
    return true;
  }
}
