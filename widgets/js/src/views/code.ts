// Old and new, side by side in CodeMirror's merge view, aligned as the report aligns them, or as one text. In a narrow
// column the two sides stand one above the other. Unchanged lines away from changes are hidden until they are asked for.
// What the lines of an editor are is in `lines.ts`, what an editor looks like in `editor.ts`, what its margin says in
// `marks.ts` and `margin.ts`.

import { MergeView } from "@codemirror/merge";
import { Compartment, EditorState, type Extension } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { blocks, changes, within, type Block } from "../align";
import { copyText } from "../clipboard";
import { h, replace } from "../dom";
import * as plain from "../plain";
import { remember, remembered } from "../remembered";
import type { PairContext, Session } from "../session";
import type { PairState, VersionNumber } from "../types";
import * as words from "../words";
import { cursorLine, editorExtensions, putCursor } from "./editor";
import { close, folding, type Fold } from "./fold";
import { folds, keptLines, ofBoth, ofVersion, versionOf, type ShownLine } from "./lines";
import { margins, setMarks } from "./margin";
import { fixedMarks, marksNow, side, type Side } from "./marks";
import { button, link } from "../parts";

/** Below this width the versions stand one above the other. */
const NARROW = 640;
const VERSIONS = [0, 1] as const;

type Layout = "sides" | "unified";
const LAYOUTS: Record<Layout, string> = { sides: "Side by side", unified: "Unified" };

export class CodeView {
  readonly element: HTMLElement;
  private readonly session: Session;
  private readonly pair: PairState;
  private readonly blocks: Block[];
  private readonly differing: ReturnType<typeof within>;
  /** Runs of rows that can be hidden, and those of them that are. */
  private readonly hidden: [number, number][];
  private closed: ReadonlySet<number>;
  private readonly frame = h("div", { class: "tcw-code" });
  private readonly spoken = h("p", { class: "tcw-hidden", role: "status" });
  private readonly filtered = h("p", { class: "tcw-linefilter" });
  private readonly copied = h("span", { class: "tcw-quiet", role: "status" });
  private readonly layouts: { layout: Layout; choice: HTMLButtonElement }[];
  private readonly fold = button("", () => this.foldAll(), { small: true });
  private readonly dark = new Compartment();
  private layout: Layout;
  private isDark = false;
  private narrow = false;
  private sides: Side[] = [];
  private editors: EditorView[] = [];
  private merged: MergeView | null = null;
  /** The choices that the editors show. */
  private marked: object | null = null;
  /** The line that was scrolled to. */
  private revealed: object | null = null;

  constructor(
    { session, pair, signal }: PairContext,
    private readonly onValue: (path: string) => void,
  ) {
    this.session = session;
    this.pair = pair;
    this.blocks = blocks(pair);
    this.differing = within(pair, plain.code);
    this.hidden = folds(pair, keptLines(pair));
    this.closed = new Set(this.hidden.keys());
    this.layout = remembered("layout", Object.keys(LAYOUTS) as Layout[], "sides");
    this.layouts = (Object.keys(LAYOUTS) as Layout[]).map((layout) => ({
      layout,
      choice: button(LAYOUTS[layout], () => this.choose(layout), { small: true }),
    }));
    const bar = h(
      "div",
      { class: "tcw-codebar" },
      h(
        "div",
        { class: "tcw-layouts", role: "group", "aria-label": "How the versions stand" },
        this.layouts.map((one) => one.choice),
      ),
      this.hidden.length > 0 && this.fold,
    );
    this.element = h("div", {}, bar, this.frame, this.filtered, h("p", { class: "tcw-legend" }, LEGEND), this.spoken);
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

  private choose(layout: Layout): void {
    if (layout === this.layout) return;
    this.layout = layout;
    remember("layout", layout);
    this.build();
  }

  /** Makes the editors anew. If the focus was in one of them, it moves to the same line of its successor. */
  private build(): void {
    const cursors = this.editors.map((editor, index) => this.sides[index]?.shown.lines[cursorLine(editor) - 1]);
    const focused = this.editors.findIndex((editor) => editor.contentDOM === document.activeElement);
    this.clear();
    this.sides = this.sidesNow();
    if (this.layout === "unified") this.unify();
    else if (this.narrow) this.stack();
    else this.merge();
    for (const line of cursors) if (line) this.putCursor(line);
    if (focused >= 0) this.editors[Math.min(focused, this.editors.length - 1)]?.focus();
    this.marked = this.session.store.get();
    for (const { layout, choice } of this.layouts) choice.setAttribute("aria-pressed", String(layout === this.layout));
    this.nameFold();
    const { line } = this.session.store.get();
    if (line) this.reveal(line.version, line.line);
  }

  private sidesNow(): Side[] {
    const { pair, differing, narrow } = this;
    if (this.layout === "unified") return [side(pair, ofBoth(pair, differing), [0, 1], false)];
    return VERSIONS.map((version) => side(pair, ofVersion(pair, version, differing), [version], !narrow));
  }

  private putCursor({ version, line }: ShownLine): void {
    this.sides.forEach(({ shown }, index) => {
      const place = shown.places[version].get(line.number);
      const editor = this.editors[index];
      if (place !== undefined && editor) putCursor(editor, place + 1);
    });
  }

  private clear(): void {
    if (this.merged) this.merged.destroy();
    else this.editors.forEach((editor) => editor.destroy());
    this.merged = null;
  }

  /** Both as one text. */
  private unify(): void {
    const [only] = this.sides;
    if (!only) return;
    const editor = new EditorView({ state: EditorState.create(this.document(only)) });
    this.editors = [editor];
    const headings = VERSIONS.map((version) => this.heading(version));
    replace(this.frame, h("div", { class: "tcw-codehead" }, headings), h("div", { class: "tcw-unified" }, editor.dom));
  }

  /** One version above the other. */
  private stack(): void {
    this.editors = this.sides.map((one) => new EditorView({ state: EditorState.create(this.document(one)) }));
    const parts = this.editors.map((editor, index) => [this.heading(index as VersionNumber), editor.dom]);
    replace(this.frame, h("div", { class: "tcw-stacked" }, parts));
  }

  /** Side by side. */
  private merge(): void {
    const [a, b] = this.sides.map((one) => this.document(one));
    if (!a || !b) return;
    const merged = new MergeView({
      a,
      b,
      gutter: false,
      highlightChanges: false,
      diffConfig: { override: (a, b) => changes(this.blocks, a, b) },
    });
    this.merged = merged;
    this.editors = [merged.a, merged.b];
    const headings = VERSIONS.map((version) => this.heading(version));
    replace(this.frame, h("div", { class: "tcw-codehead" }, headings), merged.dom);
    revealFirstChange(merged, this.blocks[0]);
  }

  private document(of: Side): { doc: string; extensions: Extension[] } {
    const { lines } = of.shown;
    const toggleLine = (version: VersionNumber, line: number) => this.toggleLine(version, line);
    const open = (fold: number) => this.close([...this.closed].filter((one) => one !== fold));
    return {
      doc: lines.map(({ line }) => plain.code(line.text)).join("\n"),
      extensions: [
        margins(fixedMarks(of), marksNow(of, this.session.store.get()), { toggleLine, onValue: this.onValue }),
        folding(this.foldsOf(of), this.closed, open),
        this.dark.of(EditorView.darkTheme.of(this.isDark)),
        ...editorExtensions(lines, this.label(of), {
          reached: (line) => this.sayLine(line),
          toggled: ({ version, line }) => this.toggleLine(version, line.number),
          folded: open,
        }),
      ],
    };
  }

  /** For screen readers. */
  private label({ versions }: Side): string {
    const names = versions.map((version) => plain.value(versionOf(this.pair, version).qualname));
    const [version] = versions;
    return versions.length > 1 || version === undefined
      ? `Both versions, ${names.at(-1) ?? ""}`
      : `${words.versionName(version)} version, ${names[0] ?? ""}`;
  }

  /** The lines of an editor that can be hidden. */
  private foldsOf({ shown }: Side): Fold[] {
    return this.hidden.flatMap(([first, last], number) => {
      const [from, to] = [shown.rows[first], shown.rows[last - 1]];
      return from == null || to == null ? [] : [{ number, from, to: to + 1 }];
    });
  }

  private close(folds: Iterable<number>): void {
    this.closed = new Set(folds);
    for (const editor of this.editors) close(editor, this.closed);
    this.nameFold();
  }

  /** Shows all lines, or hides all unchanged ones. */
  private foldAll(): void {
    this.close(this.closed.size > 0 ? [] : this.hidden.keys());
  }

  private nameFold(): void {
    this.fold.textContent = this.closed.size > 0 ? "Show all lines" : "Hide unchanged lines";
  }

  private heading(version: VersionNumber): HTMLElement {
    const { pair } = this;
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

  private sayLine({ version, line }: ShownLine): void {
    const { detail } = this.session.store.get();
    const hits = new Map(detail ? (version === 0 ? detail.old : detail.new).hits : []);
    const here = detail ? (hits.get(line.number) ?? 0) : null;
    const name = words.lineName(versionOf(this.pair, version), line.number);
    this.spoken.textContent = words.marginSentence(words.versionName(version), line, name, here);
  }

  /** Lists the executions that ran a line, or all again, and says so. */
  private toggleLine(version: VersionNumber, line: number): void {
    const { pair } = this;
    const { store } = this.session;
    const own = versionOf(pair, version);
    const of = own.lines.find((one) => one.number === line);
    const name = `${words.lineName(own, line)} of ${words.versionName(version)}`;
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
      this.sides.forEach((one, index) => this.editors[index]?.dispatch({ effects: setMarks.of(marksNow(one, now)) }));
      this.marked = now;
    }
    const { line } = now;
    this.copied.textContent = "";
    replace(
      this.filtered,
      line && [
        `Executions that ran line ${words.lineName(versionOf(this.pair, line.version), line.line)} of ${words.versionName(line.version)} are listed. `,
        link("List all again", null, () => store.set({ line: null })),
        " ",
        link("Copy a link to the line", null, () => void this.copyLink()),
        " ",
        this.copied,
      ],
    );
    if (line !== this.revealed && line) this.reveal(line.version, line.line);
    this.revealed = line;
  }

  /** Opens the fold of a line, and scrolls to it within the frame. */
  private reveal(version: VersionNumber, line: number): void {
    this.sides.forEach((one, index) => {
      const place = one.shown.places[version].get(line);
      const editor = this.editors[index];
      if (place === undefined || !editor) return;
      const fold = this.foldsOf(one).find(({ from, to }) => from <= place && place < to);
      if (fold && this.closed.has(fold.number)) this.close([...this.closed].filter((one) => one !== fold.number));
      putCursor(editor, place + 1);
      scrollTo(editor, this.merged?.dom ?? editor.scrollDOM, place);
    });
  }

  private async copyLink(): Promise<void> {
    const { line } = this.session.store.get();
    if (!line) return;
    const done = await copyText(this.session.linkTo(line));
    this.copied.textContent = done ? "Copied." : "The browser did not let it be copied.";
  }
}

/** Scrolls a frame, and never the page, so that a line of an editor is in sight. */
function scrollTo(editor: EditorView, frame: HTMLElement, line: number): void {
  editor.requestMeasure({
    read: () => editor.lineBlockAt(editor.state.doc.line(line + 1).from).top,
    write: (top) => {
      const isInSight = top >= frame.scrollTop && top < frame.scrollTop + frame.clientHeight - 20;
      if (!isInSight) frame.scrollTop = Math.max(0, top - frame.clientHeight * 0.3);
    },
  });
}

/** Scrolls a long function to its first change; only within its frame, never the page. */
function revealFirstChange({ a, b, dom }: MergeView, first: Block | undefined): void {
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
  "Margin: line, executions that ran it (– never ran, · no code of its own), ▸ if the one shown did, and how often. " +
  "− and + mark what changed, ⊘ a condition that was always the same, ★ a decisive value. " +
  "A click on a line lists the executions that ran it.";
