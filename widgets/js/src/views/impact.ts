// An impact: modules and functions with counts and bars, and the source of one of them with its heat. A chosen line draws its
// chain beside the source and tells it below.

import { classes, h, replace, shape } from "../dom";
import { link as linkTo } from "../parts";
import * as plain from "../plain";
import { Store } from "../store";
import type { ImpactFileState, ImpactLink, ImpactState, ImpactStatementState } from "../types";
import * as words from "../words";

interface ImpactChoices {
  /** The place of the shown file. */
  file: number;
  /** The place of the chosen statement in it. */
  statement: number | null;
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

  constructor(private readonly state: ImpactState) {
    this.store = new Store<ImpactChoices>({ file: 0, statement: null });
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
      state.reached.length > 0 && this.body(),
    );
    if (state.reached.length === 0) return;
    this.store.watch(["file"], signal, () => this.showFile());
    this.store.watch(["statement", "file"], signal, () => this.showChain());
  }

  setDark(): void {}

  destroy(): void {
    this.all.abort();
  }

  private body(): HTMLElement {
    const { reached, others } = this.state;
    const all = words.countOf(reached.length, reached.length + others, "file");
    return h(
      "div",
      { class: "tcw-imp-body" },
      h(
        "nav",
        { class: "tcw-imp-tree", "aria-label": "Modules and functions" },
        h("p", { class: "tcw-quiet" }, all),
        this.tree(),
      ),
      h(
        "div",
        { class: "tcw-imp-main" },
        this.source,
        h(
          "p",
          { class: "tcw-legend" },
          "+ changed, ~ may see other values: the darker, the nearer to the change. Choose a line with ~.",
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
        return h("li", {}, entry(one.name, one, show), note);
      });
      const item = h(
        "details",
        {},
        h("summary", { onclick: open }, h("code", {}, plain.value(file.path)), " ", counts(file)),
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

  private showFile(): void {
    const file = this.file();
    if (!file) return;
    this.rows = new Map();
    const lines: HTMLElement[] = [];
    let before = 0;
    for (const line of file.lines) {
      if (line.number > before + 1) lines.push(h("div", { class: "tcw-imp-gap" }, "⋯"));
      before = line.number;
      const place = innermost(file, line.number);
      const one = place === null ? undefined : file.statements[place];
      const begins = one !== undefined && one.lines[0] === line.number;
      const mark = !begins ? " " : one.changed ? "+" : "~";
      const number = h("span", { class: "tcw-imp-no" }, line.number);
      const row = h(
        "div",
        { class: classes("tcw-imp-line", one && (one.changed ? "tcw-imp-c" : `tcw-imp-h${one.heat}`)) },
        number,
        begins && one.link !== null ? this.opener(place!, line.number) : h("span", { class: "tcw-imp-mark" }, mark),
        h("code", {}, plain.code(line.text)),
      );
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
    const first = file.statements.find((one) => one.changed) ?? file.statements[0];
    if (first) this.reveal(first.lines[0]);
  }

  /** The sign of an impacted line, which shows its chain. */
  private opener(place: number, line: number): HTMLElement {
    const show = () => this.store.set({ statement: this.store.get().statement === place ? null : place });
    return h(
      "button",
      { type: "button", class: "tcw-imp-mark", "aria-label": `Why line ${line} may see other values`, onclick: show },
      "~",
    );
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
    replace(
      this.told,
      h("h3", { class: "tcw-h" }, `Why line ${one.lines[0]} may see other values`),
      h(
        "ol",
        { class: "tcw-imp-chain" },
        chain.map((link) =>
          h(
            "li",
            {},
            link.place !== null && [this.placeLink(link), link.old && " of the old version", " "],
            plain.sentence(link.text),
            link.code !== "" && [": ", h("code", {}, plain.code(link.code))],
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
    if (row && box) box.scrollTop = Math.max(0, row.offsetTop - box.clientHeight / 3);
  }

  private file(): ImpactFileState | undefined {
    return this.state.reached[this.store.get().file];
  }
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

function counts({ changed, impacted, not_impacted: not }: Counts): HTMLElement {
  const all = changed + impacted + not;
  const share = (count: number) => `width: ${((100 * count) / Math.max(1, all)).toFixed(1)}%`;
  return h(
    "span",
    { class: "tcw-imp-counts" },
    h(
      "span",
      { class: "tcw-imp-bar", "aria-hidden": "true" },
      h("span", { class: "tcw-imp-c", style: share(changed) }),
      h("span", { class: "tcw-imp-h4", style: share(impacted) }),
    ),
    ` +${words.number(changed)} ~${words.number(impacted)} of ${words.number(all)}`,
  );
}

function entry(name: string, one: Counts, show: () => void): HTMLElement {
  return h(
    "button",
    { type: "button", class: "tcw-imp-entry", onclick: show },
    h("code", {}, plain.value(name)),
    " ",
    counts(one),
  );
}
