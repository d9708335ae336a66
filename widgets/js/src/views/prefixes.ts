// Prefixes of a snippet: the sentence, the tree, and for one prefix its code, what it changes, its test and its values.

import { copyText } from "../clipboard";
import { h, replace } from "../dom";
import { saveText } from "../download";
import { button, simpleTable, source, tag } from "../parts";
import * as plain from "../plain";
import { cell, keptNodes, nodeName, program, testFile, valueTable } from "../prefixes";
import { Store } from "../store";
import type { PrefixesState, PrefixNode } from "../types";
import * as words from "../words";
import { PrefixView } from "./prefix";
import { tabs, type Tab } from "./tabs";
import { tree } from "./tree";

interface PrefixChoices {
  /** The number of the shown node; null if there is none. */
  node: number | null;
  tab: string;
  /** Whether all nodes are listed, not only those that are kept. */
  all: boolean;
}

/** What the surroundings of a view can do. */
export interface PrefixHost {
  /** Inserts a cell below that of the view; false if this front end cannot. Null where there is no notebook. */
  insert: ((element: Element, source: string) => boolean) | null;
}

export class PrefixesView {
  readonly element: HTMLElement;
  private readonly all = new AbortController();
  private readonly store: Store<PrefixChoices>;
  private readonly kept: PrefixNode[];
  private readonly byNumber: Map<number, PrefixNode>;
  private readonly code: PrefixView;
  private readonly change: PrefixView;
  private readonly said = h("span", { class: "tcw-quiet", role: "status" });

  constructor(
    private readonly state: PrefixesState,
    private readonly host: PrefixHost,
  ) {
    const { signal } = this.all;
    this.kept = keptNodes(state);
    this.byNumber = new Map(state.nodes.map((node) => [node.number, node]));
    this.store = new Store<PrefixChoices>({
      node: (this.kept[0] ?? state.nodes[0])?.number ?? null,
      tab: "code",
      all: this.kept.length === 0,
    });
    this.code = new PrefixView(state);
    this.change = new PrefixView(state);
    this.element = h(
      "div",
      { class: "tcw-prefixes" },
      h(
        "div",
        { class: `tcw-head ${state.whole ? "tcw-preserving" : "tcw-inconclusive"}` },
        h("p", { class: "tcw-sentence" }, plain.sentence(state.sentence)),
      ),
      this.facts(),
      state.nodes.length > 0 && h("div", { class: "tcw-prefixtop" }, this.chooser(signal), this.shown(signal)),
    );
  }

  setDark(now: boolean): void {
    this.code.setDark(now);
    this.change.setDark(now);
  }

  destroy(): void {
    this.all.abort();
    this.code.destroy();
    this.change.destroy();
  }

  private get node(): PrefixNode | null {
    const { node } = this.store.get();
    return node === null ? null : (this.byNumber.get(node) ?? null);
  }

  private facts(): HTMLElement | false {
    const { undefined: names, facts } = this.state;
    if (names.length === 0 && facts.length === 0) return false;
    const list = names.flatMap((name, index) => [index > 0 && ", ", h("code", {}, plain.value(name))]);
    return h(
      "dl",
      { class: "tcw-facts" },
      names.length > 0 && h("div", {}, h("dt", {}, "Undefined"), h("dd", {}, list)),
      facts.map(([name, text]) => h("div", {}, h("dt", {}, plain.value(name)), h("dd", {}, plain.sentence(text)))),
    );
  }

  /** The tree, with a switch between the nodes that are kept and all of them. */
  private chooser(signal: AbortSignal): HTMLElement {
    const { state, store } = this;
    const listing = tree(state, (node) => store.set({ node }));
    const more = state.nodes.length - this.kept.length;
    const count =
      words.number(state.nodes.length) + (state.more > 0 ? ` of ${words.number(state.nodes.length + state.more)}` : "");
    const toggle = h("div", { class: "tcw-bar" });
    store.watch(["all"], signal, () => {
      const { all } = store.get();
      listing.list(all ? state.nodes : this.kept, all);
      if (this.kept.length === 0 || more === 0) return;
      replace(
        toggle,
        all
          ? tag("the whole tree", "Only the best prefix and those of P", () => this.listAll(false, toggle))
          : button(`Whole tree (${count})`, () => this.listAll(true, toggle), {
              small: true,
            }),
      );
    });
    store.watch(["node"], signal, () => {
      const { node } = store.get();
      if (node !== null) listing.choose(node);
    });
    return h(
      "div",
      {},
      h("h3", { class: "tcw-h" }, "Prefixes"),
      toggle,
      listing.element,
      h(
        "p",
        { class: "tcw-legend" },
        "★ covers most lines. P is the smallest set that covers all lines that any prefix covers. The steps are those of the search: 1 what the code leaves undefined, 2 errors, 3 lines that nothing had reached. Behind a prefix with a hatched bar, the code does not end by itself.",
        state.more > 0 && ` Not listed: ${words.count(state.more, "node")}.`,
      ),
    );
  }

  private listAll(all: boolean, toggle: HTMLElement): void {
    const { node } = this.store.get();
    const isKept = this.kept.some(({ number }) => number === node);
    this.store.set({ all, ...(!all && !isKept && { node: this.kept[0]?.number ?? null }) });
    toggle.querySelector("button")?.focus();
  }

  /** The chosen prefix: what can be done with it, and its tabs. */
  private shown(signal: AbortSignal): HTMLElement {
    const { state, store } = this;
    const title = h("h3", { class: "tcw-h" });
    const lead = h("p", { class: "tcw-lead" });
    store.watch(["node"], signal, () => {
      const { node } = this;
      this.said.textContent = "";
      if (!node) return;
      const part = node.best ? "★ Best prefix" : node.chosen ? "Prefix of P" : "Prefix";
      replace(title, `${part} `, h("span", { class: "tcw-note" }, String(node.number)));
      replace(
        lead,
        `${words.percent(node.coverage)} of the lines: ${words.number(node.completed.length)} of ${words.number(state.statements)}, ${plain.sentence(node.from)}.`,
      );
    });
    const list: Tab[] = [
      {
        id: "code",
        title: () => "Code",
        fill: (panel) => this.follow("code", panel, this.code, (node) => this.code.show(node)),
      },
      {
        id: "change",
        title: () => "Change from its parent",
        fill: (panel) =>
          this.follow("change", panel, this.change, (node) => this.change.showChange(node, this.parent(node))),
      },
      { id: "test", title: () => "Test", fill: (panel) => this.tests(panel) },
      { id: "values", title: () => "Values", fill: (panel) => this.values(panel) },
    ];
    const bar = tabs("What to see of the prefix", list, (tab) => store.set({ tab }));
    store.watch(["tab"], signal, () => bar.show(store.get().tab));
    return h("div", {}, title, lead, this.actions(), bar.element);
  }

  private parent({ parent }: PrefixNode): PrefixNode | null {
    return parent === null ? null : (this.byNumber.get(parent) ?? null);
  }

  private follow(id: string, panel: HTMLElement, view: PrefixView, show: (node: PrefixNode) => void): void {
    replace(panel, view.element);
    let shown: PrefixNode | null = null;
    this.store.watch(["node", "tab"], this.all.signal, () => {
      // A hidden panel is filled when it is seen.
      if (this.store.get().tab !== id || !this.node || this.node === shown) return;
      shown = this.node;
      show(shown);
    });
  }

  private actions(): HTMLElement {
    const { insert } = this.host;
    const act = (action: (node: PrefixNode) => Promise<string> | string) => async () => {
      const { node } = this;
      if (!node) return;
      const said = await action(node);
      // Meanwhile another one may have been chosen.
      if (node === this.node) this.said.textContent = said;
    };
    const copied = async (text: string, what: string) =>
      (await copyText(text)) ? `${what} is copied.` : "The browser did not let it be copied.";
    const inserted = async (node: PrefixNode) => {
      if (node.text === "") return "Nothing is needed, so there is nothing to insert.";
      const whole = cell(this.state, node);
      if (insert?.(this.element, whole)) return "A cell with it stands below.";
      return `This front end does not let a view insert cells. ${await copied(whole, "The prefix")}`;
    };
    const script = (node: PrefixNode) => copied(program(this.state, node), "The prefix with the code behind it");
    const test = (node: PrefixNode) => {
      const text = testFile(this.state, [node]);
      return text === null ? "There is no test: the code does not end behind it." : copied(text, "A pytest file");
    };
    const save = (node: PrefixNode) => {
      saveText(`prefix_${node.number}.py`, "text/x-python", program(this.state, node));
      return "";
    };
    return h(
      "div",
      { class: "tcw-bar", role: "group", "aria-label": "What to do with the prefix" },
      insert && button("Insert as a cell", act(inserted), { primary: true }),
      button("Copy as a script", act(script)),
      button("Copy as a test", act(test)),
      button("Download", act(save)),
      this.said,
    );
  }

  /** The pytest file of the prefixes that are kept. */
  private tests(panel: HTMLElement): void {
    const text = testFile(this.state, this.kept);
    if (text === null) {
      const why = "There is none: the code ends behind no prefix, so a test would run for ever or be lost.";
      return replace(panel, h("p", { class: "tcw-quiet" }, why));
    }
    const lead =
      "A pytest file that does not need twincell: a fixture for each of these prefixes, and a test that runs the code on it.";
    replace(panel, h("p", { class: "tcw-lead" }, lead), source(text, "test_prefixes.py"));
  }

  /** The types of values of the prefixes that are kept. */
  private values(panel: HTMLElement): void {
    const rows = valueTable(this.kept);
    if (rows.length === 0) return replace(panel, h("p", { class: "tcw-quiet" }, "The prefixes make no values."));
    const columns = [
      { title: "Type", kind: "code" as const },
      ...this.kept.map((node) => ({ title: nodeName(node), kind: "number" as const })),
    ];
    const cells = rows.map(({ type, counts }) => ({ cells: [plain.value(type), ...counts.map(words.number)] }));
    replace(panel, simpleTable("The number of values of each type that the prefixes make", columns, cells));
  }
}
