// One prefix: its code above the snippet that runs behind it, with what each line did, and what it changes in its parent.

import { unifiedMergeView } from "@codemirror/merge";
import { Compartment, EditorState, type Extension } from "@codemirror/state";
import { EditorView, gutter, GutterMarker } from "@codemirror/view";
import { h, replace } from "../dom";
import * as plain from "../plain";
import { lineCount, reach, type Reach } from "../prefixes";
import type { PrefixesState, PrefixNode } from "../types";
import * as words from "../words";
import { readOnlyPython } from "./editor";

/** The maximum number of characters of two prefixes that are compared. */
const COMPARED = 100_000;

const MARKS: Record<Reach, { sign: string; tone: string; title: string }> = {
  completed: { sign: "✓", tone: "tcw-ran", title: "completes" },
  ended: { sign: "✗", tone: "tcw-never", title: "an exception ends the code here" },
  missed: { sign: "–", tone: "tcw-never", title: "does not complete" },
  none: { sign: "", tone: "", title: "" },
};

/** Editors of one prefix. They are made anew for each. */
export class PrefixView {
  readonly element = h("div", {});
  private readonly dark = new Compartment();
  private isDark = false;
  private editors: EditorView[] = [];

  constructor(private readonly state: PrefixesState) {}

  setDark(now: boolean): void {
    this.isDark = now;
    for (const editor of this.editors) {
      editor.dispatch({ effects: this.dark.reconfigure(EditorView.darkTheme.of(now)) });
    }
  }

  /** The prefix, and the snippet behind it. */
  show(node: PrefixNode): void {
    const { code } = this.state;
    const did = reach(this.state, node);
    const numbers = code.map(({ number }) => number);
    const isWhole = node.completed.length === this.state.statements;
    const nothing = isWhole ? "# (nothing is needed)" : "# (nothing is needed for these lines)";
    const text = node.text === "" ? nothing : node.text.replace(/\n$/, "");
    const prefix = this.editor(text, `Prefix ${node.number}`, []);
    const snippet = this.editor(code.map((line) => line.text).join("\n"), "The code that runs behind it", [
      column("line", (at) => new Mark(String(numbers[at] ?? ""), "", "")),
      column("reach", (at) => {
        const { sign, tone, title } = MARKS[did.get(numbers[at] ?? 0) ?? "none"];
        return new Mark(sign, tone, title);
      }),
    ]);
    const ended = node.ended === null ? "ends by itself" : plain.sentence(node.ended);
    this.replace([
      this.part("Prefix", words.count(lineCount(node.text), "line"), prefix),
      this.part("The code behind it", ended, snippet),
      // The signs beside the lines are not read out.
      h("p", { class: "tcw-hidden" }, spoken(did)),
      h(
        "p",
        { class: "tcw-legend", "aria-hidden": "true" },
        "✓ completes, – does not, ✗ an exception ends the code here.",
      ),
    ]);
  }

  /** What a prefix changes in that of its parent. */
  showChange(node: PrefixNode, parent: PrefixNode | null): void {
    if (parent === null)
      return this.say("It has no parent: it is the first prefix of its branch, or the code as it is.");
    if (parent.text.length + node.text.length > COMPARED) return this.say("The two prefixes are too long to compare.");
    if (parent.text === node.text) return this.say(`Its text is that of its parent, prefix ${parent.number}.`);
    const label = `What prefix ${node.number} changes in prefix ${parent.number}`;
    const merge = unifiedMergeView({ original: shown(parent.text), mergeControls: false, gutter: true });
    const editor = this.editor(node.text, label, [merge]);
    const note = this.state.kept.includes(node.number) ? "what is shown was simplified after the search" : "";
    this.replace([this.part(label, note, editor)]);
  }

  destroy(): void {
    this.replace([]);
  }

  private say(sentence: string): void {
    this.replace([h("p", { class: "tcw-quiet" }, sentence)]);
  }

  private replace(parts: HTMLElement[]): void {
    // The editors of `parts` come last in the list.
    const kept = this.editors.filter((editor) => parts.some((part) => part.contains(editor.dom)));
    for (const editor of this.editors) if (!kept.includes(editor)) editor.destroy();
    this.editors = kept;
    replace(this.element, parts);
  }

  private part(title: string, note: string, editor: EditorView): HTMLElement {
    const heading = h("div", { class: "tcw-codehead-side" }, h("span", { class: "tcw-side" }, title), " ");
    heading.append(h("span", { class: "tcw-note" }, note));
    return h("div", { class: "tcw-code tcw-stacked tcw-prefixpart" }, heading, editor.dom);
  }

  private editor(text: string, label: string, more: Extension[]): EditorView {
    const extensions = [
      ...more,
      this.dark.of(EditorView.darkTheme.of(this.isDark)),
      ...readOnlyPython(`${label}, read-only`),
    ];
    const made = new EditorView({ state: EditorState.create({ doc: shown(text), extensions }) });
    this.editors.push(made);
    return made;
  }
}

/** What each line did, for those who do not see the signs. */
function spoken(did: ReadonlyMap<number, Reach>): string {
  const lines = (wanted: Reach) => [...did].filter(([, own]) => own === wanted).map(([number]) => number);
  const said = (wanted: Reach, what: string) => {
    const found = lines(wanted);
    return found.length === 0 ? [] : [`${found.length === 1 ? "Line" : "Lines"} ${found.join(", ")}: ${what}.`];
  };
  return [
    ...said("completed", "completed"),
    ...said("missed", "not completed"),
    ...said("ended", "an exception ends the code"),
  ].join(" ");
}

/** Code for people: unsafe characters are escaped, and very long lines are cut. */
function shown(text: string): string {
  return text.split("\n").map(plain.code).join("\n");
}

function column(name: string, marker: (line: number) => GutterMarker): Extension {
  return gutter({
    class: `tcw-g-${name}`,
    lineMarker: (view, block) => marker(view.state.doc.lineAt(block.from).number - 1),
  });
}

class Mark extends GutterMarker {
  constructor(
    readonly text: string,
    readonly tone: string,
    readonly title: string,
  ) {
    super();
    this.elementClass = tone;
  }
  override eq(other: Mark): boolean {
    return this.text === other.text && this.tone === other.tone;
  }
  override toDOM(): Node {
    return h("span", { title: this.title || null }, this.text);
  }
}
