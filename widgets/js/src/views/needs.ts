// What the units of a slice need of each other: one line a unit, oldest first, and arcs beside them, needs of text at the left
// and needs of names at the right. The lines are one list with one tab stop; arrow keys choose, left and right follow needs.

import { classes, h, replace, shape, sign, uniqueId } from "../dom";
import { commitName } from "../places";
import * as plain from "../plain";
import { drawnUnits, namesOf, needsOf, standing, STANDINGS, unitName, unitNoun, type Need } from "../slices";
import type { SliceState } from "../types";
import * as words from "../words";
import { button } from "../parts";

const ROW = 26;
/** The width of the arcs at both sides of the dots, and in a narrow column. */
const WIDTH = 84;
const NARROW = { below: 520, width: 40 };
/** The maximum number of units and of arcs that are drawn. */
const UNITS = 300;
const ARCS = 3000;

export interface NeedsView {
  element: HTMLElement;
  /** Marks the chosen unit, and what it has to do with. */
  choose(place: number | null): void;
}

export function needsView(state: SliceState, chosen: (place: number) => void, signal: AbortSignal): NeedsView {
  const needs = needsOf(state);
  const noun = unitNoun(state);
  let all = false;
  let now: number | null = null;
  let pointed: number | null = null;
  let half = WIDTH;
  let places: number[] = [];
  let rows = new Map<number, HTMLElement>();
  let arcs: { need: Need; path: SVGElement }[] = [];
  const list = h("div", {
    class: "tcw-needs-list",
    role: "listbox",
    tabindex: 0,
    "aria-label": `What the ${noun}s need of each other, oldest first`,
    onkeydown: (event: KeyboardEvent) => {
      if (event.altKey || event.ctrlKey || event.metaKey) return;
      const to = target(event.key);
      if (to === undefined) return;
      event.preventDefault();
      if (to !== null) chosen(to);
    },
  });
  const drawing = h("div", { class: "tcw-needs-arcs", "aria-hidden": "true" });
  const frame = h("div", { class: "tcw-needs" }, drawing, list);
  const bar = h("div", { class: "tcw-bar" });
  const note = h("p", { class: "tcw-legend" });

  /** The unit to which a key moves; null if there is none, undefined if the key does nothing here. */
  function target(key: string): number | null | undefined {
    const at = now === null ? -1 : places.indexOf(now);
    const isDrawn = (place: number) => rows.has(place);
    switch (key) {
      case "ArrowDown":
        return places[at + 1] ?? null;
      case "ArrowUp":
        return places[at < 0 ? 0 : at - 1] ?? null;
      case "Home":
        return places[0] ?? null;
      case "End":
        return places.at(-1) ?? null;
      case "ArrowLeft":
        return needs.find(({ user, provider }) => user === now && isDrawn(provider))?.provider ?? null;
      case "ArrowRight":
        return needs.find(({ user, provider }) => provider === now && isDrawn(user))?.user ?? null;
      default:
        return undefined;
    }
  }

  function mark(): void {
    const at = pointed ?? now;
    const near = new Set<number>(at === null ? [] : [at]);
    for (const { need, path } of arcs) {
      const touches = need.user === at || need.provider === at;
      path.classList.toggle("tcw-arc-on", touches);
      if (touches) near.add(need.user).add(need.provider);
    }
    frame.classList.toggle("tcw-needs-focus", at !== null && rows.has(at));
    frame.classList.toggle("tcw-needs-pointed", pointed !== null);
    for (const [place, row] of rows) {
      row.setAttribute("aria-selected", String(place === now));
      row.classList.toggle("tcw-near", near.has(place));
    }
    const row = now === null ? undefined : rows.get(now);
    if (row) list.setAttribute("aria-activedescendant", row.id);
    else list.removeAttribute("aria-activedescendant");
  }

  function reveal(): void {
    const row = now === null ? undefined : rows.get(now);
    if (!row) return;
    // Only the frame scrolls, never the page.
    const [top, bottom] = [row.offsetTop, row.offsetTop + row.offsetHeight];
    if (top < frame.scrollTop) frame.scrollTop = top;
    else if (bottom > frame.scrollTop + frame.clientHeight) frame.scrollTop = bottom - frame.clientHeight;
  }

  function draw(): void {
    const { places: shown, left } = drawnUnits(state.units, needs, all, UNITS);
    places = shown;
    rows = new Map(places.map((place) => [place, row(place)]));
    replace(list, [...rows.values()]);
    drawArcs();
    const listed = `${words.countOf(places.length, state.units.length, noun)}`;
    replace(bar, toggle(), h("span", { class: "tcw-quiet", role: "status" }, listed));
    replace(note, LEGEND, left > 0 && ` ${words.count(left, noun)} more are not drawn.`);
    mark();
  }

  function toggle(): HTMLElement | null {
    const near = drawnUnits(state.units, needs, false, UNITS).places.length;
    if (near === state.units.length) return null;
    const flip = () => {
      all = !all;
      draw();
      bar.querySelector("button")?.focus();
    };
    return button(all ? "Only the slice and what it touches" : `All ${words.count(state.units.length, noun)}`, flip, {
      small: true,
    });
  }

  function drawArcs(): void {
    const at = new Map(places.map((place, index) => [place, index * ROW + ROW / 2]));
    const height = places.length * ROW;
    const svg = shape("svg", { width: 2 * half + 12, height, viewBox: `0 0 ${2 * half + 12} ${height}` });
    const middle = half + 6;
    const drawn = needs.filter(({ user, provider }) => at.has(user) && at.has(provider)).slice(0, ARCS);
    arcs = drawn.map((need) => ({ need, path: arc(need, at.get(need.user) ?? 0, at.get(need.provider) ?? 0, middle) }));
    svg.append(...arcs.map(({ path }) => path));
    for (const [place, y] of at) {
      const stays = state.units[place]?.stays === true;
      const tone = stays ? "tcw-dot-stays" : "tcw-dot-goes";
      svg.append(shape("circle", { cx: middle, cy: y, r: stays ? 5 : 4, class: `tcw-dot ${tone}` }));
    }
    replace(drawing, svg);
  }

  /** From the unit that needs to the one that it needs, where it ends in an arrow. */
  function arc({ kind }: Need, from: number, to: number, middle: number): SVGElement {
    const side = kind === "text" ? -1 : 1;
    const far = (half - 8) * (1 - Math.exp(-Math.abs(to - from) / ROW / 5)) + 8;
    const [x, end] = [middle + side * 6, middle + side * 7];
    const bend = middle + side * Math.min(half, far) * 1.25;
    const [tip, wing] = [end, end + side * 5];
    const d = `M${x},${from}C${bend},${from} ${bend},${to} ${end},${to}M${wing},${to - 3}L${tip},${to}L${wing},${to + 3}`;
    return shape("path", { d, class: `tcw-arc tcw-arc-${kind}` });
  }

  function row(place: number): HTMLElement {
    const unit = state.units[place];
    if (!unit) return h("div", {});
    const { sign: mark, word, tone } = STANDINGS[standing(unit)];
    const spoken = needs
      .filter(({ user }) => user === place)
      .slice(0, 3)
      .map((need) => {
        const what = need.kind === "text" ? "text" : `the name ${namesOf(need)}`;
        const of = state.units[need.provider];
        return `, needs ${what} of ${of ? commitName(of.commit) : ""}`;
      });
    return h(
      "div",
      {
        id: uniqueId("unit"),
        class: classes("tcw-need", tone, !unit.stays && "tcw-need-goes"),
        role: "option",
        title: unitName(unit),
        onclick: () => chosen(place),
        onpointerenter: () => point(place),
        onpointerleave: () => point(null),
      },
      sign(mark),
      h("span", { class: "tcw-hidden" }, `${word}, `),
      h("code", {}, commitName(unit.commit)),
      h("span", { class: "tcw-need-subject" }, plain.value(unit.subject), unit.part !== null && partOf(unit.part)),
      h("span", { class: "tcw-hidden" }, spoken.join("")),
    );
  }

  function point(place: number | null): void {
    pointed = place;
    mark();
  }

  const observer = new ResizeObserver(([entry]) => {
    const width = entry?.contentRect.width ?? 0;
    if (width === 0) return;
    const to = width < NARROW.below ? NARROW.width : WIDTH;
    if (to === half) return;
    half = to;
    drawArcs();
    mark();
  });
  observer.observe(frame);
  signal.addEventListener("abort", () => observer.disconnect());
  draw();
  return {
    element: h("div", {}, bar, frame, note),
    choose(place) {
      now = place;
      mark();
      reveal();
    },
  };
}

function partOf(part: string): HTMLElement {
  return h("span", { class: "tcw-note" }, ` ${plain.value(part)}`);
}

const LEGEND =
  "● stays, ○ goes. An arrow leads to what is needed: at the left, whole lines, the text that a change stands on; at the right, " +
  "dashed, names that it uses. ← and → follow them.";
