// Old and new side by side: CodeMirror's merge view, aligned as the report aligns them. In a narrow column one stands
// above the other. What one version looks like is in `editor.ts`, what its margin says in `marks.ts` and `margin.ts`.

import { MergeView } from "@codemirror/merge";
import { Compartment, EditorState, type Extension } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { blocks, changes, type Block } from "../align";
import { h, replace } from "../dom";
import * as plain from "../plain";
import type { PairContext, Session } from "../session";
import type { Line, VersionNumber } from "../types";
import * as words from "../words";
import { cursorLine, editorExtensions, putCursor } from "./editor";
import { margins, setMarks } from "./margin";
import { aligned, fixedMarks, marksNow, versionOf, type Aligned } from "./marks";
import { link } from "../parts";

/** Below this width the versions stand one above the other. */
const NARROW = 640;
const VERSIONS = [0, 1] as const;

export class CodeView {
  readonly element: HTMLElement;
  private readonly session: Session;
  private readonly aligned: Aligned;
  private readonly blocks: Block[];
  private readonly frame = h("div", { class: "tcw-code" });
  private readonly spoken = h("p", { class: "tcw-hidden", role: "status" });
  private readonly filtered = h("p", { class: "tcw-linefilter" });
  private readonly dark = new Compartment();
  private isDark = false;
  private narrow = false;
  private editors: EditorView[] = [];
  private merged: MergeView | null = null;
  /** The choices that the editors show. */
  private marked: object | null = null;

  constructor(
    { session, pair, signal }: PairContext,
    private readonly onValue: (path: string) => void,
  ) {
    this.session = session;
    this.aligned = aligned(pair);
    this.blocks = blocks(pair);
    this.element = h("div", {}, this.frame, this.filtered, h("p", { class: "tcw-legend" }, LEGEND), this.spoken);
    const observer = new ResizeObserver(([entry]) => this.onWidth(entry?.contentRect.width ?? 0));
    this.build();
    observer.observe(this.frame);
    session.store.watch(["detail", "execution", "line"], signal, () => this.mark());
    signal.addEventListener("abort", () => {
      observer.disconnect();
      this.clear();
    });
  }

  setDark(now: boolean): void {
    this.isDark = now;
    for (const editor of this.editors) {
      editor.dispatch({ effects: this.dark.reconfigure(EditorView.darkTheme.of(now)) });
    }
  }

  private onWidth(width: number): void {
    if (width === 0 || width < NARROW === this.narrow) return;
    this.narrow = width < NARROW;
    this.build();
  }

  /** Makes the editors anew. If the focus was in one of them, it moves to the same line of its successor. */
  private build(): void {
    const lines = this.editors.map(cursorLine);
    const focused = this.editors.findIndex((editor) => editor.contentDOM === document.activeElement);
    this.clear();
    if (this.narrow) this.stack();
    else this.merge();
    this.editors.forEach((editor, index) => {
      const line = lines[index];
      if (line !== undefined) putCursor(editor, line);
    });
    this.editors[focused]?.focus();
    this.marked = this.session.store.get();
  }

  private clear(): void {
    if (this.merged) this.merged.destroy();
    else this.editors.forEach((editor) => editor.destroy());
    this.merged = null;
  }

  /** One version above the other. */
  private stack(): void {
    this.editors = VERSIONS.map((version) => new EditorView({ state: EditorState.create(this.document(version)) }));
    const parts = this.editors.map((editor, index) => [this.heading(index as VersionNumber), editor.dom]);
    replace(this.frame, h("div", { class: "tcw-stacked" }, parts));
  }

  /** Side by side. */
  private merge(): void {
    const merged = new MergeView({
      a: this.document(0),
      b: this.document(1),
      gutter: false,
      highlightChanges: false,
      diffConfig: { override: (a, b) => changes(this.blocks, a, b) },
    });
    this.merged = merged;
    this.editors = [merged.a, merged.b];
    const headings = VERSIONS.map((version) => this.heading(version));
    replace(this.frame, h("div", { class: "tcw-codehead" }, headings), merged.dom);
    reveal(merged, this.blocks[0]);
  }

  private document(version: VersionNumber): { doc: string; extensions: Extension[] } {
    const { pair } = this.aligned;
    const toggled = (line: number) => this.toggleLine(version, line);
    const marks = marksNow(this.aligned, version, !this.narrow, this.session.store.get());
    return {
      doc: versionOf(pair, version)
        .lines.map((line) => plain.code(line.text))
        .join("\n"),
      extensions: [
        margins(fixedMarks(this.aligned, version, !this.narrow), marks, { toggleLine: toggled, onValue: this.onValue }),
        this.dark.of(EditorView.darkTheme.of(this.isDark)),
        ...editorExtensions(versionOf(pair, version), version, {
          reached: (line) => this.sayLine(version, line),
          toggled,
        }),
      ],
    };
  }

  private heading(version: VersionNumber): HTMLElement {
    const { pair } = this.aligned;
    const of = versionOf(pair, version);
    return h(
      "div",
      { class: "tcw-codehead-side" },
      h("span", { class: "tcw-side" }, words.versionName(version)),
      " ",
      h("code", {}, plain.value(of.qualname)),
      h("span", { class: "tcw-note" }, pair.executions.length > 0 ? ` ${words.percent(of.coverage)} covered` : ""),
    );
  }

  private sayLine(version: VersionNumber, line: Line): void {
    const { detail } = this.session.store.get();
    const hits = new Map(detail ? (version === 0 ? detail.old : detail.new).hits : []);
    const here = detail ? (hits.get(line.number) ?? 0) : null;
    const number = words.lineInFile(versionOf(this.aligned.pair, version), line.number);
    this.spoken.textContent = words.marginSentence(words.versionName(version), { ...line, number }, here);
  }

  /** Lists the executions that ran a line, or all again, and says so. */
  private toggleLine(version: VersionNumber, line: number): void {
    const { pair } = this.aligned;
    const { store } = this.session;
    const own = versionOf(pair, version);
    const of = own.lines.find((one) => one.number === line);
    const name = `${words.lineInFile(own, line)} of ${words.versionName(version)}`;
    const say = (text: string) => void (this.spoken.textContent = text);
    if (!of?.executable) return say(`Line ${name} has no code of its own.`);
    if (pair.executions.length === 0) return say("Nothing was executed.");
    const now = store.get().line;
    if (now?.version === version && now.line === line) {
      store.set({ line: null });
      return say("All executions are listed again.");
    }
    store.set({ line: { version, line }, tab: "executions" });
    say(`${words.count(of.executions, "execution")} ran line ${name}.`);
  }

  private mark(): void {
    const { store } = this.session;
    const now = store.get();
    // The editors were made with the present choice, or receive it here.
    if (now !== this.marked) {
      this.editors.forEach((editor, index) => {
        const marks = marksNow(this.aligned, index as VersionNumber, !this.narrow, now);
        editor.dispatch({ effects: setMarks.of(marks) });
      });
      this.marked = now;
    }
    const { line } = now;
    replace(
      this.filtered,
      line && [
        `Executions that ran line ${words.lineInFile(versionOf(this.aligned.pair, line.version), line.line)} of ${words.versionName(line.version)} are listed. `,
        link("List all again", null, () => store.set({ line: null })),
      ],
    );
  }
}

/** Scrolls a long function to its first change; only within its frame, never the page. */
function reveal({ a, b, dom }: MergeView, first: Block | undefined): void {
  if (!first) return;
  a.requestMeasure({
    read: () => {
      const top = (editor: EditorView, line: number) =>
        editor.lineBlockAt(editor.state.doc.line(Math.min(line + 1, editor.state.doc.lines)).from).top;
      return Math.max(top(a, first.fromOld), top(b, first.fromNew));
    },
    write: (top) => {
      if (top > dom.clientHeight * 0.7) dom.scrollTop = top - dom.clientHeight * 0.3;
    },
  });
}

const LEGEND =
  "Margin: line, executions that ran it (– never ran, · no code of its own), ▸ and times in the execution shown. " +
  "− and + mark what changed, ⊘ a condition that was always the same, ★ a decisive value. " +
  "A click on a line lists the executions that ran it.";
