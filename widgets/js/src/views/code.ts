// Old and new side by side: CodeMirror's merge view, aligned as the report aligns them. In a narrow column one stands
// above the other. What the margin and the marks say is in `margin.ts`.

import { indentUnit, syntaxHighlighting, HighlightStyle } from "@codemirror/language";
import { python } from "@codemirror/lang-python";
import { MergeView } from "@codemirror/merge";
import { Compartment, EditorState, type Extension } from "@codemirror/state";
import { drawSelection, EditorView, keymap } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { blocks, changes, partners, within } from "../align";
import { h, replace } from "../dom";
import * as plain from "../plain";
import type { PairContext } from "../session";
import type { Detail, DetailValue, Execution, PairState, Version, VersionNumber } from "../types";
import * as words from "../words";
import { gapsOf, margins, setMarks, type Marks } from "./margin";

/** Below this width the versions stand one above the other. */
const NARROW = 640;
const NAMES = ["old", "new"] as const;

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

export interface CodeView {
  element: HTMLElement;
  setDark(dark: boolean): void;
}

export function codeView({ session, pair, signal }: PairContext, onValue: (path: string) => void): CodeView {
  const dark = new Compartment();
  const texts = [pair.old, pair.new].map((version) => version.lines.map((line) => plain.code(line.text)).join("\n"));
  const found = blocks(pair);
  const differing = within(pair, plain.code);
  const same = partners(pair);
  const frame = h("div", { class: "tcw-code" });
  const spoken = h("p", { class: "tcw-hidden", role: "status" });
  const status = h("p", { class: "tcw-linefilter" });
  const element = h("div", {}, frame, status, h("p", { class: "tcw-legend" }, legend()), spoken);
  let editors: EditorView[] = [];
  let merged: MergeView | null = null;
  let narrow: boolean | null = null;
  let marked: object | null = null;
  let isDark = false;

  function extensions(version: VersionNumber): Extension[] {
    const of = version === 0 ? pair.old : pair.new;
    const name = NAMES[version];
    return [
      margins(fixed(version), marksNow(version), { toggleLine: (line) => toggleLine(version, line), onValue }),
      python(),
      indentUnit.of("    "),
      syntaxHighlighting(highlighting),
      EditorState.readOnly.of(true),
      EditorView.editable.of(false),
      EditorView.lineWrapping,
      drawSelection(),
      dark.of(EditorView.darkTheme.of(isDark)),
      EditorView.contentAttributes.of({
        tabindex: "0",
        "aria-readonly": "true",
        "aria-label": `${name} version, ${plain.value(of.qualname)}. Arrow keys move by line; Enter lists the executions that ran the line.`,
      }),
      keymap.of([
        { key: "ArrowDown", run: (view) => step(view, version, 1) },
        { key: "ArrowUp", run: (view) => step(view, version, -1) },
        { key: "Enter", run: (view) => (toggleLine(version, lineAt(view, of)), true) },
        { key: "Space", run: (view) => (toggleLine(version, lineAt(view, of)), true) },
      ]),
    ];
  }

  function fixed(version: VersionNumber) {
    const [own, other] = version === 0 ? ([pair.old, pair.new] as const) : ([pair.new, pair.old] as const);
    const here = version === 0 ? same.new : same.old;
    const twinGaps = new Map(
      [...gapsOf(other)].flatMap(([line, gap]) => (here.has(line) ? [[here.get(line) ?? 0, gap]] : [])),
    );
    return {
      version: own,
      number: version,
      differing: differing[NAMES[version]],
      twinGaps: narrow ? new Map() : twinGaps,
    };
  }

  function step(view: EditorView, version: VersionNumber, by: 1 | -1): boolean {
    const { doc, selection } = view.state;
    const next = doc.lineAt(selection.main.head).number + by;
    if (next < 1 || next > doc.lines) return false;
    view.dispatch({ selection: { anchor: doc.line(next).from }, scrollIntoView: true });
    const line = (version === 0 ? pair.old : pair.new).lines[next - 1];
    const { detail } = session.store.get();
    const hits = new Map(detail ? (version === 0 ? detail.old : detail.new).hits : []);
    if (line)
      spoken.textContent = words.marginSentence(NAMES[version], line, detail ? (hits.get(line.number) ?? 0) : null);
    return true;
  }

  function lineAt(view: EditorView, version: Version): number {
    const index = view.state.doc.lineAt(view.state.selection.main.head).number - 1;
    return version.lines[index]?.number ?? 0;
  }

  function toggleLine(version: VersionNumber, line: number): void {
    const { line: now } = session.store.get();
    const of = (version === 0 ? pair.old : pair.new).lines.find((one) => one.number === line);
    const name = `line ${line} of ${NAMES[version]}`;
    const say = (text: string) => (spoken.textContent = text.charAt(0).toUpperCase() + text.slice(1));
    if (!of?.executable) return void say(`${name} has no code of its own.`);
    if (pair.executions.length === 0) return void say("Nothing was executed.");
    const same = now?.version === version && now.line === line;
    session.store.set({ line: same ? null : { version, line }, ...(same ? {} : { tab: "executions" }) });
    say(same ? "All executions are listed again." : `${words.count(of.executions, "execution")} ran ${name}.`);
  }

  function clear(): void {
    if (merged) merged.destroy();
    else editors.forEach((editor) => editor.destroy());
    merged = null;
  }

  function build(): void {
    // Who works in here goes on at the same line of what takes its place.
    const lines = editors.map(({ state }) => state.doc.lineAt(state.selection.main.head).number);
    const focused = editors.findIndex((editor) => editor.contentDOM === document.activeElement);
    clear();
    const [old = "", renewed = ""] = texts;
    const headings = NAMES.map((_, version) => heading(pair, version as VersionNumber));
    if (narrow) {
      editors = ([0, 1] as const).map(
        (version) =>
          new EditorView({ state: EditorState.create({ doc: texts[version] ?? "", extensions: extensions(version) }) }),
      );
      replace(frame, h("div", { class: "tcw-stacked" }, headings[0], editors[0]?.dom, headings[1], editors[1]?.dom));
    } else {
      merged = new MergeView({
        a: { doc: old, extensions: extensions(0) },
        b: { doc: renewed, extensions: extensions(1) },
        gutter: false,
        highlightChanges: false,
        diffConfig: { override: (a, b) => changes(found, a, b) },
      });
      editors = [merged.a, merged.b];
      replace(frame, h("div", { class: "tcw-codehead" }, headings), merged.dom);
      reveal(merged);
    }
    editors.forEach((editor, index) => {
      const line = lines[index];
      if (line !== undefined) editor.dispatch({ selection: { anchor: editor.state.doc.line(line).from } });
    });
    editors[focused]?.focus();
    marked = session.store.get();
  }

  /** Scrolls a long function to its first change; only within its frame, never the page. */
  function reveal({ a, b, dom }: MergeView): void {
    const first = found[0];
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

  function marksNow(version: VersionNumber): Marks {
    const { detail, execution, line } = session.store.get();
    const of = pair.executions.find((one) => one.number === execution);
    const marks = marksOf(pair, version, detail, of, line?.version === version ? line.line : null);
    const here = version === 0 ? same.new : same.old;
    const others = narrow ? [] : valuesIn(pair, version === 0 ? 1 : 0, detail);
    return {
      ...marks,
      twins: others.flatMap((one) => (here.has(one.line) ? [{ ...one, line: here.get(one.line) ?? 0 }] : [])),
    };
  }

  function mark(): void {
    const now = session.store.get();
    const { line } = now;
    // The editors were made with what is chosen now, or hear of it here.
    if (now !== marked) {
      editors.forEach((editor, index) => editor.dispatch({ effects: setMarks.of(marksNow(index as VersionNumber)) }));
      marked = now;
    }
    replace(
      status,
      line && [
        `Executions that ran line ${line.line} of ${NAMES[line.version]} are listed. `,
        h(
          "button",
          { type: "button", class: "tcw-link", onclick: () => session.store.set({ line: null }) },
          "List all again",
        ),
      ],
    );
  }

  const observer = new ResizeObserver(([entry]) => {
    const width = entry?.contentRect.width ?? 0;
    if (width === 0 || width < NARROW === narrow) return;
    narrow = width < NARROW;
    build();
  });
  narrow = false;
  build();
  observer.observe(frame);
  session.store.watch(["detail", "execution", "line"], signal, mark);
  signal.addEventListener("abort", () => {
    observer.disconnect();
    clear();
  });

  return {
    element,
    setDark(now) {
      isDark = now;
      for (const editor of editors) editor.dispatch({ effects: dark.reconfigure(EditorView.darkTheme.of(now)) });
    },
  };
}

function heading(pair: PairState, version: VersionNumber): HTMLElement {
  const of = version === 0 ? pair.old : pair.new;
  return h(
    "div",
    { class: "tcw-codehead-side" },
    h("span", { class: "tcw-side" }, NAMES[version]),
    " ",
    h("code", {}, plain.value(of.qualname)),
    h("span", { class: "tcw-note" }, pair.executions.length > 0 ? ` ${words.percent(of.coverage)} covered` : ""),
  );
}

function legend(): string {
  return (
    "Margin: line, executions that ran it (– never ran, · no code of its own), ▸ and times in the execution shown. " +
    "− and + mark what changed, ⊘ a condition that was always the same, ★ a decisive value. A click on a line lists the executions that ran it."
  );
}

/** The values that entered in a version, each at its line. */
function valuesIn(pair: PairState, version: VersionNumber, detail: Detail | null): DetailValue[] {
  return words
    .byWeight(detail?.values ?? [])
    .filter((one) => one.version === version)
    .map((one) => ({ ...one, line: words.entryLine(pair, one) ?? 0 }));
}

function marksOf(
  pair: PairState,
  version: VersionNumber,
  detail: Detail | null,
  execution: Execution | undefined,
  filter: number | null,
): Marks {
  const values = valuesIn(pair, version, detail);
  if (detail) return { hits: new Map((version === 0 ? detail.old : detail.new).hits), values, twins: [], filter };
  // How often each line ran is known of executions in full only; of others, whether it ran.
  const ran = execution ? (pair.line_sets[execution.lines]?.[version] ?? []) : [];
  return { hits: new Map(ran.map((line) => [line, 0])), values, twins: [], filter };
}
