// A slice of a history: its commits in a table, which a search and their standing filter, what they need of each other, and the
// search for the slice. The chosen commit stands below the table in full (`unit.ts`).

import { h, replace } from "../dom";
import { simpleTable } from "../parts";
import { commitName } from "../places";
import * as plain from "../plain";
import { figureView } from "../plots/figure";
import { slicePlot } from "../plots/slice";
import {
  needsOf,
  standing,
  STANDINGS,
  unitFilter,
  unitNoun,
  type PlacedUnit,
  type Standing,
  type UnitFilter,
} from "../slices";
import { Store } from "../store";
import type { Column } from "../table/model";
import { VirtualTable } from "../table/virtual";
import type { SliceState, SliceUnitState } from "../types";
import * as words from "../words";
import { needsView } from "./needs";
import { tabs, type Tab } from "./tabs";
import { UnitView } from "./unit";

interface SliceChoices extends UnitFilter {
  /** The place of the chosen unit. */
  unit: number | null;
  tab: string;
}

const ORDER: readonly Standing[] = ["stays", "untried", "goes"];
/** The maximum height of the table in pixels. */
const HEIGHT = 380;
/** The width in pixels from which standings have their words. */
const WORDS = 560;
/** The width from which parts of commits have a column of their own. */
const PARTS = 640;

export class SliceView {
  readonly element: HTMLElement;
  private readonly all = new AbortController();
  private readonly store: Store<SliceChoices>;
  private readonly unit: UnitView;
  private table: VirtualTable<PlacedUnit> | null = null;

  constructor(private readonly state: SliceState) {
    const first = state.units.findIndex((unit) => unit.stays);
    const unit = first < 0 ? null : first;
    this.store = new Store<SliceChoices>({ search: "", standing: null, unit, tab: "units" });
    const { store } = this;
    const { signal } = this.all;
    const needs = needsOf(state);
    this.unit = new UnitView(state, needs, (place) => store.set({ unit: place }));
    const noun = unitNoun(state);
    const list: Tab[] = [
      {
        id: "units",
        title: () => (noun === "commit" ? "Commits" : "Changes"),
        note: () => words.number(state.units.length),
        fill: (panel) => this.units(panel),
      },
      {
        id: "needs",
        title: () => "Dependencies",
        note: () => words.number(needs.length),
        fill: (panel) => this.needs(panel, needs.length),
      },
      {
        id: "search",
        title: () => "Search",
        note: () => words.number(state.steps.length),
        fill: (panel) => this.search(panel),
      },
      {
        id: "tests",
        title: () => "Tests",
        note: () => words.number(state.tests.length + state.more_tests),
        fill: (panel) => this.tests(panel),
      },
    ];
    const bar = tabs("What to see of the slice", list, (tab) => store.set({ tab }));
    const tone = state.is_minimal ? "tcw-preserving" : "tcw-inconclusive";
    this.element = h(
      "div",
      { class: "tcw-slice" },
      h("div", { class: `tcw-head ${tone}` }, h("h2", { class: "tcw-sentence" }, plain.sentence(state.sentence))),
      h(
        "dl",
        { class: "tcw-facts" },
        state.facts.map(([name, value]) =>
          h("div", {}, h("dt", {}, plain.value(name)), h("dd", {}, plain.value(value))),
        ),
      ),
      state.remarks.length > 0 &&
        h(
          "ul",
          { class: "tcw-list" },
          state.remarks.map((remark) => h("li", {}, plain.sentence(remark))),
        ),
      bar.element,
      this.unit.element,
    );
    store.watch(["tab"], signal, () => {
      const { tab } = store.get();
      bar.show(tab);
      this.unit.element.hidden = tab !== "units" && tab !== "needs";
    });
    store.watch(["unit"], signal, () => this.unit.show(store.get().unit));
  }

  setDark(now: boolean): void {
    this.unit.setDark(now);
  }

  destroy(): void {
    this.table?.destroy();
    this.unit.destroy();
    this.all.abort();
  }

  private units(panel: HTMLElement): void {
    const { state, store } = this;
    const { signal } = this.all;
    const noun = unitNoun(state);
    const rows = state.units.map((unit, place) => ({ place, unit }));
    const found = h("span", { class: "tcw-quiet", role: "status" });
    const table = new VirtualTable<PlacedUnit>({
      label: `${noun === "commit" ? "Commits" : "Changes"} of the range`,
      columns: columns(state),
      rows,
      id: ({ place }) => String(place),
      tone: ({ unit }) => STANDINGS[standing(unit)].tone,
      choose: ({ place }) => store.set({ unit: place }),
      listed: (listed) => (found.textContent = words.countOf(listed.length, rows.length, noun)),
      empty: `No ${noun} matches.`,
      height: HEIGHT,
      sorting: { id: "standing", desc: false },
    });
    this.table = table;
    replace(
      panel,
      h(
        "div",
        { class: "tcw-bar", role: "group", "aria-label": `Which ${noun}s` },
        this.standings(rows),
        this.searchField(noun),
        found,
      ),
      table.element,
      h("p", { class: "tcw-legend" }, `Choose a ${noun} to see its diff and what it needs.`),
    );
    store.watch(["search", "standing"], signal, () => table.filter(unitFilter(store.get())));
    store.watch(["unit"], signal, () => {
      const { unit } = store.get();
      table.select(unit === null ? null : String(unit), unit !== null);
    });
  }

  /** A button for each standing, with its count. */
  private standings(rows: PlacedUnit[]): HTMLElement[] {
    const { store } = this;
    const counted = ORDER.map((one) => ({ one, count: rows.filter(({ unit }) => standing(unit) === one).length }));
    return counted
      .filter(({ count }) => count > 0)
      .map(({ one, count }) => {
        const { sign, word, words: several, tone } = STANDINGS[one];
        const choose = () => store.set({ standing: store.get().standing === one ? null : one });
        const made = h(
          "button",
          { type: "button", class: `tcw-badge tcw-filter ${tone}`, onclick: choose },
          `${sign} ${words.number(count)} ${count === 1 ? word : several}`,
        );
        store.watch(["standing"], this.all.signal, () =>
          made.setAttribute("aria-pressed", String(store.get().standing === one)),
        );
        return made;
      });
  }

  private searchField(noun: string): HTMLElement {
    const { store } = this;
    const field = h("input", {
      type: "search",
      class: "tcw-field tcw-search",
      placeholder: `Search ${noun}s`,
      "aria-label": `Search hashes, subjects, files and reasons of ${noun}s`,
      oninput: () => store.set({ search: field.value }),
    });
    return field;
  }

  private needs(panel: HTMLElement, count: number): void {
    const { state, store } = this;
    if (count === 0) {
      const none = `No ${unitNoun(state)} needs the text or a name of another one.`;
      return replace(panel, h("p", { class: "tcw-quiet" }, none));
    }
    const view = needsView(state, (unit) => store.set({ unit }), this.all.signal);
    replace(panel, view.element);
    store.watch(["unit", "tab"], this.all.signal, () => {
      if (store.get().tab === "needs") view.choose(store.get().unit);
    });
  }

  private search(panel: HTMLElement): void {
    const figure = slicePlot(this.state);
    replace(
      panel,
      figure ? figureView(figure, this.all.signal) : h("p", { class: "tcw-quiet" }, "The tests never ran."),
      h(
        "p",
        { class: "tcw-legend" },
        "The rules are those of DEFINER (ASE 2016): INIT is the whole range, PAR-SIG leaves out what matters least, PAR-RAND a part by chance.",
      ),
    );
  }

  private tests(panel: HTMLElement): void {
    const { goal, tests, more_tests: more, left_out: left } = this.state;
    const rows = left.map(([test, why]) => ({ cells: [plain.value(test), plain.sentence(why)] }));
    replace(
      panel,
      h(
        "p",
        { class: "tcw-lead" },
        `These tests ${goal === "pass" ? "pass" : "fail"} at the end of the range, and decided:`,
      ),
      h(
        "ul",
        { class: "tcw-list" },
        tests.map((test) => h("li", {}, h("code", {}, plain.value(test)))),
        more > 0 && h("li", {}, `and ${words.number(more)} more`),
      ),
      rows.length > 0 &&
        simpleTable("Tests that decided nothing", [{ title: "Decided nothing", kind: "code" }, { title: "Why" }], rows),
    );
  }
}

function columns(state: SliceState): Column<PlacedUnit>[] {
  const all: (Column<PlacedUnit> | false)[] = [
    {
      id: "standing",
      title: "State",
      key: ({ unit }) => ORDER.indexOf(standing(unit)),
      text: ({ unit }) => `${STANDINGS[standing(unit)].sign} ${STANDINGS[standing(unit)].word}`,
      width: "92px",
      from: WORDS,
    },
    {
      id: "sign",
      title: "●",
      key: ({ unit }) => ORDER.indexOf(standing(unit)),
      text: ({ unit }) => STANDINGS[standing(unit)].sign,
      hint: ({ unit }) => STANDINGS[standing(unit)].word,
      width: "28px",
      below: WORDS,
    },
    { id: "place", title: "No.", key: ({ place }) => place + 1, width: "54px", kind: "number", from: WORDS },
    {
      id: "commit",
      title: "Commit",
      key: ({ unit }) => unit.commit,
      text: ({ unit }) => commitName(unit.commit),
      hint: ({ unit }) => plain.value(unit.commit),
      width: "84px",
      kind: "code",
    },
    {
      id: "subject",
      title: "Subject",
      key: ({ unit }) => unit.subject,
      text: ({ unit }) => plain.value(unit.subject),
      width: "minmax(150px, 1.5fr)",
      ...(state.is_split && { from: PARTS }),
    },
    state.is_split && {
      id: "brief",
      title: "Part and subject",
      key: ({ unit }) => unit.part,
      text: ({ unit }) => plain.value(`${unit.part ?? ""} ${unit.subject}`),
      width: "minmax(150px, 1fr)",
      below: PARTS,
    },
    state.is_split && {
      id: "part",
      title: "Part",
      key: ({ unit }) => unit.part,
      text: ({ unit }) => plain.value(unit.part ?? ""),
      width: "minmax(120px, 1fr)",
      kind: "code",
      from: PARTS,
    },
    !state.is_split && {
      id: "paths",
      title: "Files",
      key: ({ unit }) => unit.paths[0] ?? null,
      text: ({ unit }) => pathsText(unit),
      hint: ({ unit }) => unit.paths.slice(0, 20).map(plain.value).join("\n"),
      width: "minmax(110px, 0.9fr)",
      kind: "code",
      from: 860,
    },
    {
      id: "score",
      title: "Score",
      key: ({ unit }) => unit.score,
      text: ({ unit }) => words.number(unit.score),
      width: "62px",
      kind: "number",
      descendingFirst: true,
      from: 640,
    },
    {
      id: "reason",
      title: "Why",
      key: ({ unit }) => unit.reason,
      text: ({ unit }) => plain.sentence(unit.reason),
      width: "minmax(170px, 2fr)",
      from: 480,
    },
  ];
  return all.filter((column) => column !== false);
}

function pathsText({ paths, more_paths: more }: SliceUnitState): string {
  const [first] = paths;
  if (first === undefined) return "";
  const rest = paths.length + more - 1;
  return rest > 0 ? `${plain.value(first)} +${rest}` : plain.value(first);
}
