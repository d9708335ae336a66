// One execution in full: its values, which can be changed in place and run, what each version did with them, and what
// can be done with it.

import { copyText } from "../clipboard";
import { classes, focusOn, h, replace } from "../dom";
import * as plain from "../plain";
import type { PairContext, Session } from "../session";
import type { Detail, DetailValue, Evidence } from "../types";
import * as words from "../words";
import { button, enable, evidenceTable, output, seen, simpleTable, source, testName } from "../parts";
import { adder } from "./adder";
import { statusLine } from "./status";

/** The maximum number of listed values. */
const VALUES = 200;

const EDITING =
  "Change a value and press Enter to see what happens. Any Python literal will do: 0, 'text', [1, 2], None; object() is an object of which nothing is known.";

export interface DetailView {
  /** Puts the cursor into the field of a value. */
  focusValue(path: string): void;
}

export function detailView(context: PairContext, panel: HTMLElement): DetailView {
  const { session, pair, signal } = context;
  const { store } = session;
  const heading = h("h3", { class: "tcw-h" });
  const actions = h("div", { class: "tcw-bar", role: "group", "aria-label": "What to do with this execution" });
  const status = statusLine(context, () => true);
  const hint = h("p", { class: "tcw-hint" });
  const test = h("div", { class: "tcw-part-test" });
  const body = h("div", {});
  const fields = new Map<string, HTMLInputElement>();
  const confirm = h("div", { class: "tcw-bar", role: "group", "aria-label": "Before the debugger", hidden: true });
  replace(panel, heading, actions, confirm, status, hint, test, body);

  const run = button("Run again", () => session.runAgain(), {
    title: "Run both versions once more, with the same values",
  });
  const runChanged = button("Run with changed values", () => session.runChanged(), { primary: true });
  const shrink = button("Shrink", () => session.shrink());
  const copy = button("Copy as pytest", () => session.makeTest(copyText), {
    title: "Copy this execution as a test that does not need twincell",
  });
  const headline = button("Show in the headline", () => session.makeHeadline());
  headline.hidden = !session.canHeadline;
  const pin = button("Pin as example", () => session.pin(), { title: "Keep these values in the tab Pinned" });
  const back = button("Back to the values as injected", () => session.runUnchanged());
  const ask = (asks: boolean) => {
    confirm.hidden = !asks;
    debug.setAttribute("aria-expanded", String(asks));
    (asks ? open : debug).focus();
  };
  const debug = button("Debug …", () => ask(confirm.hidden === true));
  debug.hidden = !session.canDebug;
  debug.setAttribute("aria-expanded", "false");
  const open = button("Run in the debugger", () => {
    ask(false);
    session.debug();
  });
  replace(
    confirm,
    h("span", {}, words.OUTSIDE),
    open,
    button("Cancel", () => ask(false)),
  );
  replace(actions, run, runChanged, shrink, copy, debug, headline, pin, back);

  store.watch(["detail", "execution", "base", "changes"], signal, () => {
    const { detail, execution } = store.get();
    replace(heading, ...headingOf(session, detail, execution));
    show(detail, execution);
  });
  function show(detail: Detail | null, execution: number | null): void {
    // If the focus was in a field, it moves to the field that replaces it.
    const typed = [...fields].find(([, field]) => field === document.activeElement)?.[0];
    const inside = body.contains(document.activeElement);
    fields.clear();
    replace(
      body,
      ...(detail
        ? content(session, detail, { fields, add })
        : [h("p", { class: "tcw-quiet" }, missing(session, execution))]),
    );
    const field = typed === undefined ? undefined : fields.get(typed);
    if (field) field.focus({ preventScroll: true });
    else if (inside) focusOn(body);
  }
  function add(path: string, literal: string): void {
    session.edit(path, literal);
    show(store.get().detail, store.get().execution);
    fields.get(path)?.focus();
  }
  store.watch(["detail", "edits", "busy", "base", "changes"], signal, () => {
    const { detail, edits, busy } = store.get();
    const ready = session.live && busy === null;
    const edited = edits.size;
    enable(run, ready && store.get().execution !== null);
    enable(runChanged, ready && edited > 0);
    runChanged.title =
      edited === 0 ? "Change a value below first" : "Run both versions with the values that you changed";
    enable(shrink, ready && detail?.differs === true);
    shrink.title =
      detail && !detail.differs
        ? "There is no difference to shrink here"
        : "Look for smaller values that still show the difference";
    enable(copy, ready && detail !== null);
    enable(debug, ready && detail?.differs === true);
    if (!ready || !detail?.differs) confirm.hidden = true;
    debug.title =
      detail && !detail.differs
        ? "There is no difference to debug here"
        : "Open both versions on these values in the debugger";
    enable(headline, ready && detail?.differs === true && session.isChanged);
    headline.title =
      detail && !detail.differs
        ? "There is no difference to tell of here"
        : "Let the sentence, the evidence and the test of this function tell of these values";
    enable(pin, detail !== null && busy === null);
    if (!session.isChanged && back === document.activeElement) run.focus();
    back.hidden = !session.isChanged;
    for (const field of fields.values()) field.readOnly = busy !== null;
  });
  store.watch(["busy"], signal, () => {
    const { detail, execution } = store.get();
    if (!detail) replace(body, h("p", { class: "tcw-quiet" }, missing(session, execution)));
  });
  store.watch(["busy", "message", "detail"], signal, () => {
    const { busy, message, detail } = store.get();
    // One line says what happens, or otherwise what can be done.
    hint.hidden = busy !== null || message !== null;
    hint.textContent = session.live ? (detail && detail.values.length > 0 ? EDITING : "") : words.NO_KERNEL;
  });
  store.watch(["test"], signal, () => {
    const text = store.get().test;
    replace(test, text !== null && source(text, testName(pair)));
  });
  return { focusValue: (path) => fields.get(path)?.focus() };
}

function missing(session: Session, execution: number | null): string {
  if (execution === null) return "No execution is shown.";
  if (session.live) {
    return session.store.get().busy === null ? "“Run again” shows its values." : "Its values are on the way.";
  }
  return "Its values are not stored here, only what came of it. Which lines it ran is marked in the code.";
}

function headingOf(session: Session, detail: Detail | null, execution: number | null): (Node | string)[] {
  const of = session.pair;
  const listed = of?.executions.find((one) => one.number === execution);
  const outcome = detail ? words.detailOutcome(detail) : listed && words.outcome(listed);
  const mark = outcome ? [h("span", { class: `tcw-mark tcw-o-${outcome}` }, words.OUTCOME_MARK[outcome])] : [];
  const { base, changes } = session.store.get();
  const note = words.changeNote(base, changes);
  return [`${words.executionName(execution)}${note && ` ${note}`}`, " ", ...mark];
}

/** What the table of values is made with. */
interface Editing {
  /** The field of each value, by its access path. */
  fields: Map<string, HTMLInputElement>;
  /** Adds a value that has no field: an attribute of an object, or another input. */
  add(path: string, literal: string): void;
}

function content(session: Session, detail: Detail, editing: Editing): (Node | string)[] {
  const parts: Node[] = [
    section(
      "Injected values",
      detail.values.length > 0 ? "the same into both versions" : "",
      values(session, detail, editing),
    ),
  ];
  parts.push(section("What each version did", "", behavior(detail)));
  if (detail.evidence.length > 0) {
    parts.push(
      section(
        "Evidence",
        words.count(detail.evidence.length, "difference"),
        evidenceTable(detail.evidence, "What differs", null),
      ),
    );
  }
  return parts;
}

function section(title: string, note: string, content: Node): HTMLElement {
  return h(
    "section",
    { class: "tcw-part" },
    h("h4", {}, title, note && h("span", { class: "tcw-note" }, ` ${note}`)),
    content,
  );
}

function values(session: Session, detail: Detail, editing: Editing): HTMLElement {
  if (detail.values.length === 0) {
    return h("p", { class: "tcw-quiet" }, "No value was missing: nothing was injected.");
  }
  const rows: { cells: (Node | string)[]; tone: string }[] = words
    .byWeight(detail.values)
    .slice(0, VALUES)
    .map((one) => ({
      cells: [
        plain.path(one.path),
        h(
          "div",
          {},
          valueCell(session, one, editing.fields),
          session.live && one.is_object && adder(one.path, editing.add),
        ),
        one.changed
          ? h("span", { class: "tcw-changedmark" }, "✎ by you")
          : one.decisive
            ? h("span", { class: "tcw-decisivemark" }, "★ decisive")
            : "",
        plain.value(one.class),
        one.changed ? "–" : words.probability(one.probability),
        session.pair ? words.entryPlace(session.pair, one) : "",
      ],
      tone: one.changed ? "tcw-ischanged" : one.decisive ? "tcw-isdecisive" : "",
    }));
  rows.push(...addedRows(session, detail, editing.fields));
  const columns = [
    { title: "Access path", kind: "code" as const },
    { title: "Value" },
    { title: "" },
    { title: "Class" },
    { title: "Probability", kind: "number" as const },
    { title: "Line", kind: "number" as const },
  ];
  const rest = Math.max(0, detail.values.length - VALUES);
  return h(
    "div",
    {},
    simpleTable("Injected values", columns, rows),
    session.live && adder(null, editing.add),
    rest > 0 && h("p", { class: "tcw-legend" }, `… and ${words.count(rest, "more value")}, not shown`),
    detail.values.some((one) => one.decisive) &&
      h("p", { class: "tcw-legend" }, "★ decisive: with another value here the difference goes away."),
  );
}

/** Attributes that a person gave to objects, as far as nothing read them yet. */
function addedRows(session: Session, detail: Detail, fields: Map<string, HTMLInputElement>) {
  const { edits, changes } = session.store.get();
  const injected = new Set(detail.values.map((one) => one.path));
  const added = [...new Set([...changes.keys(), ...edits.keys()])].filter((path) => !injected.has(path));
  return added.map((path) => {
    const ran = changes.get(path);
    const one = { path, literal: ran ?? "", value: "" };
    const note = ran === undefined ? "not run yet" : "nothing read it";
    return {
      cells: [
        plain.path(path),
        valueCell(session, one, fields),
        h("span", { class: "tcw-changedmark" }, "✎ by you"),
        note,
        "–",
        "",
      ],
      tone: "tcw-ischanged",
    };
  });
}

function valueCell(
  session: Session,
  one: Pick<DetailValue, "path" | "literal" | "value">,
  fields: Map<string, HTMLInputElement>,
): Node | string {
  if (!session.live) return h("span", { class: "tcw-mono" }, plain.value(one.value));
  const { edits, changes } = session.store.get();
  // Unsafe characters are in strings, where their escapes mean the same. What cannot be written can be replaced.
  const original = one.literal === null ? "" : plain.value(one.literal, Number.MAX_SAFE_INTEGER);
  const field = h("input", {
    class: classes("tcw-field tcw-valuefield", edits.has(one.path) && "tcw-edited"),
    "aria-label": `Value of ${plain.path(one.path)}`,
    placeholder: one.literal === null ? plain.value(one.value) : null,
    spellcheck: "false",
    autocomplete: "off",
    autocapitalize: "off",
    oninput: () => {
      const same = field.value === original;
      field.classList.toggle("tcw-edited", !same);
      session.edit(one.path, same ? null : field.value);
    },
    onkeydown: (event: KeyboardEvent) => {
      if (event.key === "Enter") {
        event.preventDefault();
        if (session.store.get().edits.has(one.path)) session.runChanged();
      } else if (event.key === "Escape" && session.store.get().edits.has(one.path)) {
        event.preventDefault();
        field.value = original;
        field.classList.remove("tcw-edited");
        session.edit(one.path, null);
      }
    },
  });
  field.value = edits.get(one.path) ?? original;
  field.size = Math.max(8, Math.min(44, Math.max(field.value.length, field.placeholder.length) + 1));
  fields.set(one.path, field);
  if (!changes.has(one.path)) return field;
  const undo = h(
    "button",
    {
      type: "button",
      class: "tcw-link",
      "aria-label": `Put the value of ${plain.path(one.path)} back`,
      onclick: () => session.forget(one.path),
    },
    "undo",
  );
  return h("span", {}, field, " ", undo);
}

/** What each version did, side by side. Evidence says what differs. */
function behavior(detail: Detail): HTMLElement {
  const differs = (such: (one: Evidence) => boolean) => detail.evidence.some(such);
  const rows: { cells: (Node | string)[]; tone?: string }[] = [];
  const add = (name: string, different: boolean, old: Node, renewed: Node) =>
    rows.push({ cells: [`${different ? "≠ " : ""}${name}`, old, renewed], tone: different ? "tcw-differs" : "" });
  const { old, new: renewed } = detail;
  const invalid = (side: Detail["old"]) =>
    h("span", {}, seen(side.outcome), !side.valid && h("span", { class: "tcw-note" }, " ○ says nothing"));
  add(
    "outcome",
    differs((one) => one.channel === "return" || one.channel === "exception"),
    invalid(old),
    invalid(renewed),
  );
  for (const one of detail.final_values) add(plain.value(one.name), one.differs, seen(one.old), seen(one.new));
  for (const stream of ["stdout", "stderr"] as const) {
    if (old[stream] === "" && renewed[stream] === "") continue;
    add(
      stream,
      differs((one) => one.at?.kind === "output" && one.at.stream === stream),
      output(old[stream]),
      output(renewed[stream]),
    );
  }
  if (old.log.length + renewed.log.length > 0) {
    add(
      "log",
      differs((one) => one.channel === "log"),
      output(old.log.join("\n")),
      output(renewed.log.join("\n")),
    );
  }
  return simpleTable(
    "What each version did",
    [{ title: "" }, { title: "Old", kind: "seen" }, { title: "New", kind: "seen" }],
    rows,
  );
}
