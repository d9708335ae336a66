// One commit of a slice: why it stays or goes, what it needs and who needs it, its files, and its diff.

import { copyText } from "../clipboard";
import { h, replace, sign } from "../dom";
import { button, link, simpleTable } from "../parts";
import { commitName } from "../places";
import * as plain from "../plain";
import { namesOf, standing, STANDINGS, unitName, type Need } from "../slices";
import type { SliceState, SliceUnitState } from "../types";
import * as words from "../words";
import { DiffView } from "./diff";

/** The maximum number of units that a line names, and of files. */
const NAMED = 8;
const PATHS = 12;

export class UnitView {
  readonly element = h("section", { class: "tcw-unit", "aria-label": "The chosen commit" });
  private readonly diff = new DiffView();

  constructor(
    private readonly state: SliceState,
    private readonly needs: readonly Need[],
    private readonly choose: (place: number) => void,
  ) {}

  setDark(now: boolean): void {
    this.diff.setDark(now);
  }

  destroy(): void {
    this.diff.destroy();
  }

  show(place: number | null): void {
    const unit = place === null ? undefined : this.state.units[place];
    if (place === null || !unit) return replace(this.element);
    const { sign: mark, word, tone } = STANDINGS[standing(unit)];
    const said = h("span", { class: "tcw-quiet", role: "status" });
    const copy = async () => {
      said.textContent = (await copyText(unit.commit)) ? "Copied." : "The browser did not let it be copied.";
    };
    this.diff.show(unit.diff, unit.diff_lacks);
    replace(
      this.element,
      h(
        "h3",
        { class: "tcw-h tcw-unit-title" },
        h("span", { class: `tcw-badge ${tone}` }, sign(mark), ` ${word}`),
        " ",
        h("code", {}, commitName(unit.commit)),
        ` ${plain.value(unit.subject)}`,
        unit.part !== null && h("span", { class: "tcw-note" }, ` ${plain.value(unit.part)}`),
      ),
      h("p", { class: "tcw-lead" }, plain.sentence(unit.reason)),
      this.failed(unit),
      this.relations(place),
      h(
        "div",
        { class: "tcw-bar" },
        button("Copy the hash", () => void copy(), { small: true }),
        h("span", { class: "tcw-quiet" }, `score ${words.number(unit.score)}`),
        said,
      ),
      paths(unit),
      this.diff.element,
    );
  }

  /** What the first tests do without it, where the sentence does not say it of all. */
  private failed({ failed, failed_count: count }: SliceUnitState): HTMLElement | null {
    if (failed.length < 2) return null;
    const rows = failed.map(({ test, exception, message }) => ({
      cells: [plain.value(test), plain.value([exception, message].filter(Boolean).join(": "))],
    }));
    const columns = [{ title: "Test", kind: "code" as const }, { title: "Without the commit" }];
    const more = count - failed.length;
    return h(
      "div",
      { class: "tcw-part" },
      simpleTable("What tests do without the commit", columns, rows),
      more > 0 && h("p", { class: "tcw-legend" }, `and ${words.number(more)} more`),
    );
  }

  /** What the unit needs, and who needs it, as links. */
  private relations(place: number): HTMLElement | null {
    const of = (kind: Need["kind"], here: "user" | "provider") =>
      this.needs.filter((need) => need.kind === kind && need[here] === place);
    const unit = (other: number) => {
      const known = this.state.units[other];
      if (!known) return "";
      const name = unitName(known);
      const shown = link(name, `Show the commit ${name}`, () => this.choose(other));
      return h("span", {}, sign(STANDINGS[standing(known)].sign), " ", shown);
    };
    const texts = (title: string, here: "user" | "provider", there: "user" | "provider") => {
      const found = of("text", here);
      return found.length > 0 && h("li", {}, title, " ", listed(found.map((need) => unit(need[there]))));
    };
    const names = of("name", "user").map((need) =>
      h("li", {}, "It uses ", h("code", {}, namesOf(need)), " of ", unit(need.provider)),
    );
    const provided = of("name", "provider").map((need) =>
      h("li", {}, unit(need.user), " uses its ", h("code", {}, namesOf(need))),
    );
    const lines = [
      texts("Its text stands on that of", "user", "provider"),
      texts("Its text is needed by", "provider", "user"),
      ...bounded(names),
      ...bounded(provided),
    ].filter((line) => line !== false);
    return lines.length > 0 ? h("ul", { class: "tcw-list" }, lines) : null;
  }
}

function listed(units: (Node | string)[]): (Node | string)[] {
  const rest = units.length - NAMED;
  const shown = units.slice(0, NAMED).flatMap((unit, index) => (index > 0 ? [", ", unit] : [unit]));
  return rest > 0 ? [...shown, ` and ${words.number(rest)} more`] : shown;
}

function bounded(lines: HTMLElement[]): HTMLElement[] {
  const rest = lines.length - NAMED;
  return rest > 0 ? [...lines.slice(0, NAMED), h("li", {}, `and ${words.number(rest)} more`)] : lines;
}

function paths({ paths, more_paths: more, diff }: SliceUnitState): HTMLElement | null {
  // The diff names them.
  if (diff !== "" || paths.length === 0) return null;
  const shown = paths.slice(0, PATHS).map((path) => h("li", {}, h("code", {}, plain.value(path))));
  const rest = paths.length + more - shown.length;
  return h("ul", { class: "tcw-list" }, shown, rest > 0 && h("li", {}, `and ${words.number(rest)} more`));
}
