// An impact: modules and functions with counts and bars, and the source of one of them with its heat, all as a chosen level of
// the analysis leaves them. A chosen line draws its chain beside the source and tells it below, and what pruned it.

import { classes, h, replace, shape } from "../dom";
import { link as linkTo } from "../parts";
import * as plain from "../plain";
import { figureView } from "../plots/figure";
import { levelsPlot } from "../plots/levels";
import { Store } from "../store";
import type { ImpactFileState, ImpactLink, ImpactState, ImpactStatementState } from "../types";
import * as words from "../words";

interface ImpactChoices {
  /** The place of the shown file. */
  file: number;
  /** The place of the chosen statement in it. */
  statement: number | null;
  /** The place of the shown level. */
  level: number;
}

/** The width of the margin in which chains are drawn, in pixels. */
const MARGIN = 44;

export class ImpactView {
  readonly element: HTMLElement;
  private readonly all = new AbortController();
  private readonly store: Store<ImpactChoices>;
  private readonly source = h("div", { class: "tcw-imp-source" });
  private readonly told = h("section", { class: "tcw-imp-told", "aria-label": "Why", "aria-live": "polite" });
  /** The rows of the shown file by line. */
  private rows = new Map<number, HTMLElement>();
  /** Those of statements, with the mark of a statement in the row in which it begins. */
  private heated: { row: HTMLElement; one: ImpactStatementState; mark: HTMLElement | null }[] = [];

  constructor(private readonly state: ImpactState) {
    this.store = new Store<ImpactChoices>({ file: 0, statement: null, level: Math.max(0, state.levels.length - 1) });
    const { signal } = this.all;
    const tone = state.reached.some((file) => file.impacted > 0) ? "tcw-changing" : "tcw-preserving";
    this.element = h(
      "div",
      { class: "tcw-imp" },
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
      isPruned(state) && this.levels(),
      state.reached.length > 0 && this.body(),
    );
    if (state.reached.length === 0) return;
    this.store.watch(["file"], signal, () => this.showFile());
    this.store.watch(["level"], signal, () => this.showHeat());
    this.store.watch(["statement", "file", "level"], signal, () => this.showChain());
  }

  setDark(): void {}

  destroy(): void {
    this.all.abort();
  }

  /** The slider over the levels, and their sizes against time. */
  private levels(): HTMLElement {
    const { state, store } = this;
    const { levels } = state;
    const said = h("output", {});
    const slider = h("input", {
      type: "range",
      min: 0,
      max: levels.length - 1,
      step: 1,
      "aria-label": "Level of the analysis",
      oninput: () => store.set({ level: Number(slider.value) }),
    });
    const names = levels.map((one, place) =>
      h(
        "button",
        { type: "button", class: "tcw-imp-level", tabindex: -1, onclick: () => store.set({ level: place }) },
        plain.value(one.name),
      ),
    );
    store.watch(["level"], this.all.signal, () => {
      const { level } = store.get();
      const text = levelText(state, level);
      slider.value = String(level);
      slider.setAttribute("aria-valuetext", text);
      said.textContent = text;
      names.forEach((one, place) => one.classList.toggle("tcw-imp-here", place === level));
    });
    const figure = levelsPlot(levels);
    return h(
      "section",
      { class: "tcw-imp-levels", "aria-label": "Levels of the analysis" },
      h(
        "div",
        { class: "tcw-imp-choice" },
        h("h3", { class: "tcw-h" }, "Levels"),
        slider,
        h("div", { class: "tcw-imp-names", "aria-hidden": "true" }, names),
        said,
        h(
          "p",
          { class: "tcw-legend" },
          "DCIA takes every changed statement for a source of impact. The levels prune what equivalences of both versions show to be the same: k=0 within the changed functions, further ones through more and more calls.",
        ),
      ),
      figure && figureView(figure, this.all.signal),
    );
  }

  private body(): HTMLElement {
    const { reached, others } = this.state;
    const all = h("p", { class: "tcw-quiet" });
    this.store.watch(["level"], this.all.signal, () => {
      const isNear = (one: ImpactStatementState) => stateAt(one, this.store.get().level) !== "pruned";
      const near = reached.filter((file) => file.statements.some(isNear)).length;
      all.textContent = words.countOf(near, reached.length + others, "file");
    });
    const pruned = isPruned(this.state)
      ? ", = pruned: sees the same values. Choose a line with ~ or =."
      : ". Choose a line with ~.";
    return h(
      "div",
      { class: "tcw-imp-body" },
      h("nav", { class: "tcw-imp-tree", "aria-label": "Modules and functions" }, all, this.tree()),
      h(
        "div",
        { class: "tcw-imp-main" },
        this.source,
        h(
          "p",
          { class: "tcw-legend" },
          `+ changed, ~ may see other values: the darker, the nearer to the change${pruned}`,
        ),
        this.told,
      ),
    );
  }

  private tree(): HTMLElement {
    const { store } = this;
    const items = this.state.reached.map((file, place) => {
      const open = () => store.set({ file: place, statement: null });
      const functions = file.functions.map((one) => {
        const show = () => {
          open();
          this.reveal(one.line);
        };
        const note = one.reached ? null : h("span", { class: "tcw-quiet" }, " no entry reaches it");
        const at = file.functions.indexOf(one);
        return h("li", {}, entry(one.name, this.counted(one, file, at), show), note);
      });
      const item = h(
        "details",
        {},
        h("summary", { onclick: open }, h("code", {}, plain.value(file.path)), " ", this.counted(file, file)),
        h("ul", {}, functions),
      );
      store.watch(["file"], this.all.signal, () => {
        if (store.get().file === place) item.open = true;
        item.classList.toggle("tcw-imp-here", store.get().file === place);
      });
      return h("li", {}, item);
    });
    return h("ul", { class: "tcw-imp-files" }, items);
  }

  /** The counts of a file or of one of its functions, as the shown level leaves them. */
  private counted(all: Counts, file: ImpactFileState, at: number | null = null): HTMLElement {
    const own = file.statements.filter((one) => !one.changed && (at === null || one.function === at));
    const total = all.changed + all.impacted + all.not_impacted;
    const shown = h("span", { class: "tcw-imp-counts" });
    this.store.watch(["level"], this.all.signal, () => {
      const impacted = own.filter((one) => one.levels > this.store.get().level).length;
      replace(shown, counts(all.changed, impacted, total));
    });
    return shown;
  }

  private showFile(): void {
    const file = this.file();
    if (!file) return;
    this.rows = new Map();
    this.heated = [];
    const lines: HTMLElement[] = [];
    let before = 0;
    for (const line of file.lines) {
      if (line.number > before + 1) lines.push(h("div", { class: "tcw-imp-gap" }, "⋯"));
      before = line.number;
      const place = innermost(file, line.number);
      const one = place === null ? undefined : file.statements[place];
      const begins = one !== undefined && one.lines[0] === line.number;
      const mark = begins && one.link !== null ? this.opener(place!) : h("span", { class: "tcw-imp-mark" });
      const row = h(
        "div",
        {},
        h("span", { class: "tcw-imp-no" }, line.number),
        mark,
        h("code", {}, plain.code(line.text)),
      );
      if (one) this.heated.push({ row, one, mark: begins ? mark : null });
      else row.className = "tcw-imp-line";
      this.rows.set(line.number, row);
      lines.push(row);
    }
    replace(
      this.source,
      h("h3", { class: "tcw-h" }, h("code", {}, plain.value(file.path))),
      h(
        "div",
        { class: "tcw-imp-code", tabindex: 0, role: "region", "aria-label": `Source of ${plain.value(file.path)}` },
        h("div", { class: "tcw-imp-lines" }, lines),
      ),
    );
    this.showHeat();
    const first = file.statements.find((one) => one.changed) ?? file.statements[0];
    if (first) this.reveal(first.lines[0]);
  }

  /** Colors and marks the lines of the shown file as the shown level leaves them. */
  private showHeat(): void {
    const { level } = this.store.get();
    for (const { row, one, mark } of this.heated) {
      const state = stateAt(one, level);
      const isOn = row.classList.contains("tcw-imp-on");
      const tone = { changed: "tcw-imp-c", impacted: `tcw-imp-h${one.heat}`, pruned: "tcw-imp-p" }[state];
      row.className = classes("tcw-imp-line", tone, isOn && "tcw-imp-on");
      if (!mark) continue;
      mark.textContent = SIGNS[state];
      if (mark instanceof HTMLButtonElement) mark.setAttribute("aria-label", question(one, level));
    }
  }

  /** The sign of an impacted or a pruned line, which shows its chain. */
  private opener(place: number): HTMLElement {
    const show = () => this.store.set({ statement: this.store.get().statement === place ? null : place });
    return h("button", { type: "button", class: "tcw-imp-mark", onclick: show });
  }

  private showChain(): void {
    const file = this.file();
    const { statement } = this.store.get();
    const one = statement === null ? undefined : file?.statements[statement];
    for (const row of this.rows.values()) row.classList.remove("tcw-imp-on");
    this.source.querySelector("svg")?.remove();
    for (const button of this.source.querySelectorAll("button[aria-pressed]")) button.removeAttribute("aria-pressed");
    if (!file || !one) return replace(this.told);
    this.rows.get(one.lines[0])?.querySelector("button")?.setAttribute("aria-pressed", "true");
    const chain = chainOf(this.state, one);
    this.draw(file, chain);
    const isCut = stateAt(one, this.store.get().level) === "pruned";
    replace(
      this.told,
      h("h3", { class: "tcw-h" }, question(one, this.store.get().level)),
      one.pruned &&
        h("p", { class: "tcw-imp-because" }, plain.sentence(one.pruned.because), isCut && ". Without this:"),
      h(
        "ol",
        { class: "tcw-imp-chain" },
        chain.map((link, place) =>
          h(
            "li",
            { class: isCut && place === one.pruned?.cut && "tcw-imp-cut" },
            link.place !== null && [this.placeLink(link), link.old && " of the old version", " "],
            plain.sentence(link.text),
            link.code !== "" && [": ", h("code", {}, plain.code(link.code))],
            isCut && place === one.pruned?.cut && h("em", {}, " (ruled out)"),
          ),
        ),
      ),
    );
  }

  /** The place of a link, which leads there if it is shown. */
  private placeLink(link: ImpactLink): Node {
    const [path, line] = placeOf(link);
    const file = link.old ? -1 : this.state.reached.findIndex((one) => one.path === path);
    const name = plain.value(link.place ?? "");
    if (file < 0) return h("code", {}, name);
    const show = () => {
      if (file !== this.store.get().file) this.store.set({ file, statement: null });
      this.reveal(line);
    };
    return linkTo(name, `Show ${name}`, show);
  }

  /** Draws a chain in the margin, as far as it stands in the shown file. */
  private draw(file: ImpactFileState, chain: readonly ImpactLink[]): void {
    const places = chain.filter((link) => link.place !== null && !link.old && placeOf(link)[0] === file.path);
    const rows = places.map((link) => this.rows.get(placeOf(link)[1])).filter((row) => row !== undefined);
    for (const row of rows) row.classList.add("tcw-imp-on");
    const lines = this.source.querySelector(".tcw-imp-lines");
    if (!(lines instanceof HTMLElement) || rows.length === 0) return;
    const drawn = shape("svg", {
      class: "tcw-imp-arcs",
      width: MARGIN,
      height: lines.scrollHeight,
      "aria-hidden": "true",
    });
    const middle = (row: HTMLElement) => row.offsetTop + row.offsetHeight / 2;
    rows.forEach((row, index) => {
      const y = middle(row);
      drawn.append(shape("circle", { cx: MARGIN - 5, cy: y, r: 3 }));
      const next = rows[index + 1];
      if (!next || next === row) return;
      const to = middle(next);
      const bend = Math.max(4, MARGIN - 10 - Math.abs(to - y) / 6);
      drawn.append(shape("path", { d: `M${MARGIN - 5} ${y} C${bend} ${y} ${bend} ${to} ${MARGIN - 5} ${to}` }));
    });
    lines.prepend(drawn);
  }

  private reveal(line: number): void {
    const row = this.rows.get(line);
    const box = row?.closest(".tcw-imp-code");
    if (!row || !box) return;
    // What is not on the page yet has no height.
    if (!box.isConnected) return void requestAnimationFrame(() => box.isConnected && this.reveal(line));
    box.scrollTop = Math.max(0, row.offsetTop - box.clientHeight / 3);
  }

  private file(): ImpactFileState | undefined {
    return this.state.reached[this.store.get().file];
  }
}

/** The sign of a line by the state of its statement. */
const SIGNS = { changed: "+", impacted: "~", pruned: "=" };

/** What a statement is after a level. */
export function stateAt(one: ImpactStatementState, level: number): keyof typeof SIGNS {
  if (one.changed) return "changed";
  return one.levels > level ? "impacted" : "pruned";
}

/** Whether a level took a statement away. */
function isPruned({ levels }: ImpactState): boolean {
  return (levels.at(-1)?.impacted ?? 0) < (levels[0]?.impacted ?? 0);
}

function question(one: ImpactStatementState, level: number): string {
  const line = one.lines[0];
  return stateAt(one, level) === "pruned" ? `What pruned line ${line}` : `Why line ${line} may see other values`;
}

function levelText({ levels }: ImpactState, at: number): string {
  const [first, one] = [levels[0], levels[at]];
  if (!first || !one) return "";
  const fewer = first.impacted - one.impacted;
  const less = at === 0 ? "" : `, ${words.number(fewer)} fewer than ${plain.value(first.name)}`;
  return `${plain.value(one.name)}: ${words.count(one.impacted, "statement")} may see other values${less}`;
}

/** The chain of a statement, the change first. */
export function chainOf(state: ImpactState, one: ImpactStatementState): ImpactLink[] {
  const chain: ImpactLink[] = [];
  for (let at = one.link; at !== null;) {
    const link: ImpactLink | undefined = state.links[at];
    if (!link || chain.length >= state.links.length) break;
    chain.push(link);
    at = link.from;
  }
  return chain.reverse();
}

/** The place among the statements of the innermost one that has a line. */
export function innermost(file: ImpactFileState, line: number): number | null {
  let found: number | null = null;
  let size = Infinity;
  for (const [place, { lines }] of file.statements.entries()) {
    if (lines[0] > line) break;
    if (line <= lines[1] && lines[1] - lines[0] < size) [found, size] = [place, lines[1] - lines[0]];
  }
  return found;
}

function placeOf(link: ImpactLink): [string, number] {
  const place = link.place ?? "";
  const end = place.lastIndexOf(":");
  return [place.slice(0, end), Number(place.slice(end + 1))];
}

interface Counts {
  changed: number;
  impacted: number;
  not_impacted: number;
}

function counts(changed: number, impacted: number, all: number): (Node | string)[] {
  const share = (count: number) => `width: ${((100 * count) / Math.max(1, all)).toFixed(1)}%`;
  return [
    h(
      "span",
      { class: "tcw-imp-bar", "aria-hidden": "true" },
      h("span", { class: "tcw-imp-c", style: share(changed) }),
      h("span", { class: "tcw-imp-h4", style: share(impacted) }),
    ),
    ` +${words.number(changed)} ~${words.number(impacted)} of ${words.number(all)}`,
  ];
}

function entry(name: string, counted: HTMLElement, show: () => void): HTMLElement {
  return h(
    "button",
    { type: "button", class: "tcw-imp-entry", onclick: show },
    h("code", {}, plain.value(name)),
    " ",
    counted,
  );
}
