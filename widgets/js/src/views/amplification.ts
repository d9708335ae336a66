// Amplified tests: a list of what they show, and for one test its change from the test that it was made from, with what can
// be done with it; what the tests reach of the change; the patch with all of them.

import { copyText } from "../clipboard";
import { h, replace } from "../dom";
import { saveText } from "../download";
import type { FormName, Kernel } from "../kernel";
import { button, enable, link, simpleTable, source } from "../parts";
import * as plain from "../plain";
import { Store } from "../store";
import type { AmplificationState, AmplifiedState, FormState } from "../types";
import * as words from "../words";
import { Merged } from "./merged";
import { tabs, type Tab } from "./tabs";

interface AmplificationChoices {
  test: number;
  form: FormName;
  tab: string;
}

export class AmplificationView {
  readonly element: HTMLElement;
  private readonly all = new AbortController();
  private readonly store: Store<AmplificationChoices>;
  private readonly merged = new Merged();
  private readonly said = h("span", { class: "tcw-quiet", role: "status" });

  constructor(
    private readonly state: AmplificationState,
    private readonly kernel: Kernel | null,
  ) {
    this.store = new Store<AmplificationChoices>({ test: 0, form: "new", tab: "tests" });
    const tone = { true: "tcw-changing", false: "tcw-preserving", null: "tcw-inconclusive" }[`${state.shown}`];
    const list: Tab[] = [
      {
        id: "tests",
        title: () => "Tests",
        note: () => words.number(state.tests.length),
        fill: (panel) => this.tests(panel),
      },
      { id: "change", title: () => "The change", fill: (panel) => this.change(panel) },
      { id: "patch", title: () => "Patch", fill: (panel) => this.patch(panel) },
    ];
    const bar = tabs("What to see of the tests", list, (tab) => this.store.set({ tab }));
    this.element = h(
      "div",
      { class: "tcw-amplification" },
      h("div", { class: `tcw-head ${tone}` }, h("p", { class: "tcw-sentence" }, plain.sentence(state.sentence))),
      state.tests.length > 0 ? bar.element : this.change(h("div", {})),
    );
    this.store.watch(["tab"], this.all.signal, () => bar.show(this.store.get().tab));
  }

  setDark(now: boolean): void {
    this.merged.setDark(now);
  }

  destroy(): void {
    this.all.abort();
    this.merged.destroy();
  }

  private get test(): AmplifiedState | undefined {
    return this.state.tests[this.store.get().test];
  }

  /** The form that is shown: some tests have only the one that passes before the change. */
  private get form(): [FormName, FormState] | null {
    const { test } = this;
    if (!test) return null;
    return this.store.get().form === "new" && test.new ? ["new", test.new] : ["old", test.old];
  }

  private tests(panel: HTMLElement): void {
    const { state, store } = this;
    const rows = state.tests.map(({ sentence, origin, by }, number) => ({
      cells: [
        link(plain.value(sentence), `Show the test: ${plain.value(sentence)}`, () => store.set({ test: number })),
        origin === null ? h("span", { class: "tcw-quiet" }, "none runs it") : plain.value(origin),
        plain.value(by),
      ],
    }));
    const columns = [
      { title: "What differs", kind: "code" as const },
      { title: "Made from", kind: "code" as const },
      { title: "By" },
    ];
    const table = simpleTable("Tests that show the change", columns, rows);
    const links = [...table.querySelectorAll("button")];
    const title = h("h3", { class: "tcw-h" });
    const lead = h("p", { class: "tcw-lead" });
    const forms = h("div", { class: "tcw-bar", role: "group", "aria-label": "Which form of the test" });
    const { signal } = this.all;
    store.watch(["test", "form"], signal, () => {
      const { test, form } = this;
      if (!test || !form) return;
      const [name, written] = form;
      links.forEach((one, number) => {
        const isShown = number === store.get().test;
        if (isShown) one.setAttribute("aria-current", "true");
        else one.removeAttribute("aria-current");
        one.closest("tr")?.classList.toggle("tcw-chosen", isShown);
      });
      this.said.textContent = "";
      replace(title, plain.value(written.name), " ", h("span", { class: "tcw-note" }, plain.value(test.file)));
      const passes =
        name === "new" ? "Passes after the change and fails before it" : "Passes before the change and fails after it";
      const from =
        test.origin === null
          ? "no test runs this code, so its values are injected"
          : `what it changes in ${plain.value(test.origin)} is marked`;
      replace(lead, `${passes}; ${from}.`);
      replace(forms, test.new === null ? "It has no form that passes after the change." : this.switch(name));
      this.merged.show(test.origin === null ? null : test.origin_text, written.text, plain.value(written.name));
    });
    replace(panel, table, title, lead, forms, this.actions(), this.merged.element);
  }

  private switch(shown: FormName): HTMLElement[] {
    const one = (form: FormName, text: string) => {
      const made = button(text, () => this.store.set({ form }), { small: true });
      made.setAttribute("aria-pressed", String(form === shown));
      return made;
    };
    return [one("new", "New behavior"), one("old", "Old behavior")];
  }

  private actions(): HTMLElement {
    const { kernel } = this;
    const buttons: HTMLButtonElement[] = [];
    const act = (action: (number: number, name: FormName, form: FormState) => Promise<string>) => async () => {
      const { form } = this;
      if (!form) return;
      const [name, written] = form;
      for (const one of buttons) enable(one, false);
      let said: string;
      try {
        said = await action(this.store.get().test, name, written);
      } catch (error) {
        said = error instanceof Error ? plain.sentence(error.message) : "It could not be done.";
      }
      for (const one of buttons) enable(one, true);
      // Meanwhile another one may have been chosen.
      if (written === this.form?.[1]) this.said.textContent = said;
    };
    const copied = async (_number: number, _name: FormName, form: FormState) =>
      (await copyText(form.text)) ? "The test is copied." : "The browser did not let it be copied.";
    const ran = async (number: number, name: FormName) => {
      this.said.textContent = "It runs in both versions…";
      const outcomes = await (kernel as Kernel).runTest(number, name);
      return `Before the change: ${plain.value(outcomes.old)}. After it: ${plain.value(outcomes.new)}.`;
    };
    const wrote = async (number: number, name: FormName) =>
      `It stands in ${plain.value(await (kernel as Kernel).writeTest(number, name))}.`;
    if (kernel) {
      buttons.push(button("Run on both versions", act(ran), { primary: true }));
      buttons.push(button("Write to the test file", act(wrote)));
    }
    buttons.push(button("Copy", act(copied)));
    const bar = h("div", { class: "tcw-bar", role: "group", "aria-label": "What to do with the test" }, buttons);
    bar.append(this.said);
    return bar;
  }

  private change(panel: HTMLElement): HTMLElement {
    const { facts, selected } = this.state;
    const rows = selected.map(([id, executed]) => ({ cells: [plain.value(id), words.number(executed)] }));
    const columns = [
      { title: "Test of the project", kind: "code" as const },
      { title: "Changed statements that it runs", kind: "number" as const },
    ];
    replace(
      panel,
      h(
        "ul",
        { class: "tcw-list" },
        facts.map((fact) => h("li", {}, plain.sentence(fact))),
      ),
      rows.length > 0 && simpleTable("Tests of the project that run changed code", columns, rows),
    );
    return panel;
  }

  private patch(panel: HTMLElement): void {
    const [old, now] = this.state.patches;
    const shown = now === "" ? old : now;
    const lead =
      now === ""
        ? "All tests, in the form that passes before the change. To apply with git."
        : "All tests, in the form that passes after the change. To apply with git.";
    const more =
      now !== "" &&
      link("Download the form that passes before the change", null, () =>
        saveText("tests_old.patch", "text/x-diff", old),
      );
    replace(panel, h("p", { class: "tcw-lead" }, lead), source(shown, "tests.patch"), more);
  }
}
