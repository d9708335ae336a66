// What all plots share: a title, a sentence that says what is seen, a legend within the drawing, the numbers as a
// table, and downloads. The drawing follows the width of the column.

import { plot, type Markish, type PlotOptions } from "@observablehq/plot";
import { csv, savePng, saveSvg, saveText } from "../download";
import { h, replace, shape } from "../dom";
import * as plain from "../plain";
import { simpleTable } from "../parts";

export interface Entry {
  text: string;
  color: string;
  /** The outline of a box; its color if absent. */
  fill?: string;
  shape: "line" | "circle" | "ring" | "diamond" | "cross" | "box" | "hatch";
}

export interface Figure {
  title: string;
  /** The content, for readers who cannot see it. */
  description: string;
  legend: Entry[];
  marks: Markish[];
  options: PlotOptions;
  /** The numbers behind the plot, in the form of the download. */
  numbers: Record<string, string | number>[];
  /** The name of downloaded files, without their ending. */
  file: string;
  note?: string;
}

/** The number of rows shown in the page. Downloads have all. */
const NUMBERS = 200;
const LEGEND = 24;

/** What several plots show: the drawings, and what takes no drawing to say. */
export interface Figures {
  figures: Figure[];
  sentences: string[];
}

/**
 * Figures side by side behind a first element, in as many rows as they need. Legends that share entries stand once, above
 * all of them.
 */
export function figuresView(
  { figures, sentences }: Figures,
  signal: AbortSignal,
  first: HTMLElement | null = null,
): HTMLElement {
  const isSame = (one: Entry, other: Entry) => one.text === other.text && one.shape === other.shape;
  const isShared = ({ legend }: Figure) =>
    figures.filter((other) => legend.some((entry) => other.legend.some((one) => isSame(entry, one)))).length > 1;
  const shared = figures.filter(isShared).map(({ legend }) => legend);
  // The longest one has them in their order.
  const entries = shared.sort((one, other) => other.length - one.length).flat();
  const legend = entries.filter((entry, index) => entries.findIndex((one) => isSame(one, entry)) === index);
  return h(
    "div",
    {},
    sentences.length > 0 && h("p", { class: "tcw-legend" }, sentences.join(" ")),
    legend.length > 0 && h("p", { class: "tcw-keys" }, legend.map(legendKey)),
    h(
      "div",
      { class: "tcw-figures tcw-gapless" },
      first,
      figures.map((figure) => figureView(figure, signal, isShared(figure))),
    ),
  );
}

/** An entry of a legend that stands outside of drawings. */
function legendKey(entry: Entry): HTMLElement {
  const drawing = shape("svg", { width: 18, height: 14, "aria-hidden": "true" });
  drawing.append(legendEntry({ ...entry, text: "" }, 0, 7));
  return h("span", { class: "tcw-key" }, drawing, entry.text);
}

/**
 * A figure that draws itself again when its column becomes wider or narrower. A legend that stands elsewhere comes into
 * the drawing only when it is downloaded.
 */
export function figureView(figure: Figure, signal: AbortSignal, hasLegendElsewhere = false): HTMLElement {
  const shown = hasLegendElsewhere ? { ...figure, legend: [] } : figure;
  const canvas = drawingView(signal);
  const drawing = canvas.element;
  const said = h("span", { class: "tcw-quiet", role: "status" });
  canvas.show(shown);

  const background = () => getComputedStyle(drawing).getPropertyValue("--tcw-bg").trim() || "#fff";
  const download = (ending: string, action: (svg: SVGSVGElement) => void | Promise<void>) =>
    h(
      "button",
      {
        type: "button",
        class: "tcw-button tcw-small",
        "aria-label": `Download “${figure.title}” as ${ending}`,
        onclick: async () => {
          said.textContent = "";
          try {
            const { svg, width } = canvas.now();
            const whole = shown.legend.length === figure.legend.length ? svg : detached(figure, drawing, width);
            if (whole) await action(whole);
          } catch (error) {
            said.textContent = `The plot could not be saved as ${ending}${error instanceof Error ? `: ${error.message}` : "."}`;
          }
        },
      },
      ending,
    );
  const numbers = h("details", { class: "tcw-numbers" }, h("summary", {}, "Numbers"));
  numbers.addEventListener(
    "toggle",
    () => numbers.open && numbers.childElementCount === 1 && numbers.append(numbersTable(figure)),
    { signal },
  );

  return h(
    "figure",
    { class: "tcw-figure" },
    h(
      "figcaption",
      {},
      h("h4", {}, figure.title),
      h("div", { class: "tcw-downloads", role: "group", "aria-label": "Download" }, [
        download("SVG", (shown) => saveSvg(`${figure.file}.svg`, shown, background())),
        download("PNG", (shown) => savePng(`${figure.file}.png`, shown, background())),
        download("CSV", () => saveText(`${figure.file}.csv`, "text/csv", csv(figure.numbers))),
      ]),
    ),
    h("p", { class: "tcw-legend" }, figure.description),
    drawing,
    figure.note && h("p", { class: "tcw-legend" }, figure.note),
    said,
    figure.numbers.length > 0 && numbers,
  );
}

/** A drawing that follows the width of its column. */
export interface DrawingView {
  element: HTMLElement;
  /** Draws a figure, in place of the one before. */
  show(figure: Figure): void;
  /** What is drawn, and how wide. */
  now(): { svg: SVGSVGElement | null; width: number };
}

export function drawingView(signal: AbortSignal): DrawingView {
  const element = h("div", { class: "tcw-drawing" });
  let figure: Figure | null = null;
  let svg: SVGSVGElement | null = null;
  let width = 0;
  const draw = () => {
    if (!figure || width === 0) return;
    svg = drawn(figure, width);
    replace(element, svg);
  };
  const observer = new ResizeObserver(([entry]) => {
    const now = Math.floor(entry?.contentRect.width ?? 0);
    if (now === 0 || Math.abs(now - width) <= 8) return;
    width = now;
    draw();
  });
  observer.observe(element);
  signal.addEventListener("abort", () => observer.disconnect());
  return {
    element,
    show(shown) {
      figure = shown;
      draw();
    },
    now: () => ({ svg, width }),
  };
}

/** The drawing with its whole legend. It has the colors of the place where the other one is. */
function detached(figure: Figure, place: HTMLElement, width: number): SVGSVGElement {
  const svg = drawn(figure, width);
  const hidden = h("div", { class: "tcw-unseen", style: "position: absolute" }, svg);
  place.append(hidden);
  setTimeout(() => hidden.remove());
  return svg;
}

function numbersTable(figure: Figure): HTMLElement {
  const names = Object.keys(figure.numbers[0] ?? {});
  const rows = figure.numbers
    .slice(0, NUMBERS)
    .map((row) => ({ cells: names.map((name) => plain.value(String(row[name] ?? ""))) }));
  const columns = names.map((name) => ({
    title: name,
    kind: typeof figure.numbers[0]?.[name] === "number" ? ("number" as const) : ("text" as const),
  }));
  const rest = figure.numbers.length - rows.length;
  const box = h("div", { class: "tcw-limit" }, simpleTable(`Numbers of “${figure.title}”`, columns, rows));
  return h(
    "div",
    {},
    box,
    rest > 0 && h("p", { class: "tcw-legend" }, `… and ${rest} more; the CSV file has them all.`),
  );
}

function drawn(figure: Figure, width: number): SVGSVGElement {
  const lines = legendLines(figure.legend, width);
  // The name of the vertical axis stands at the top.
  const top = figure.options.y?.label ? 18 : 0;
  const svg = plot({
    height: 240 + top + lines.length * LEGEND,
    marginLeft: 52,
    marginRight: 16,
    marginBottom: 36,
    ...figure.options,
    width,
    marginTop: 14 + top + lines.length * LEGEND,
    marks: figure.marks,
    ariaLabel: figure.title,
    ariaDescription: figure.description,
    style: {
      background: "none",
      color: "var(--tcw-soft)",
      fontFamily: "inherit",
      fontSize: "11px",
      overflow: "visible",
    },
  }) as SVGSVGElement;
  // One image with one name. The names of its parts help nobody.
  svg.setAttribute("role", "img");
  for (const part of svg.querySelectorAll("g[aria-label], g[aria-description]")) {
    part.removeAttribute("aria-label");
    part.removeAttribute("aria-description");
  }
  lines.forEach((line, row) => {
    for (const { entry, x } of line) svg.append(legendEntry(entry, x, top + row * LEGEND + 12));
  });
  return svg;
}

/** Entries from left to right, in as many lines as they need. */
function legendLines(legend: Entry[], width: number): { entry: Entry; x: number }[][] {
  const lines: { entry: Entry; x: number }[][] = [];
  let x = 0;
  for (const entry of legend) {
    const wide = 22 + entry.text.length * 6.2 + 18;
    if (lines.length === 0 || x + wide > width) {
      lines.push([]);
      x = 0;
    }
    lines.at(-1)?.push({ entry, x });
    x += wide;
  }
  return lines;
}

function legendEntry({ text, color, fill = color, shape: kind }: Entry, x: number, y: number): SVGElement {
  const group = shape("g", { transform: `translate(${x}, ${y})` });
  const shapes: Record<Entry["shape"], SVGElement> = {
    line: shape("path", { d: "M1,0H15", fill: "none", stroke: color, "stroke-width": 2 }),
    circle: shape("circle", { cx: 8, r: 3.5, fill: color }),
    ring: shape("circle", { cx: 8, r: 3.5, fill: "none", stroke: color, "stroke-width": 1.5 }),
    diamond: shape("path", { d: "M8,-6L13,0L8,6L3,0Z", fill: color }),
    cross: shape("path", { d: "M5,-3L11,3M5,3L11,-3", fill: "none", stroke: color, "stroke-width": 1.5 }),
    box: shape("rect", { x: 3, y: -5, width: 10, height: 10, fill, stroke: color }),
    hatch: shape("rect", {
      x: 3,
      y: -5,
      width: 10,
      height: 10,
      fill: "none",
      stroke: color,
      "stroke-width": 1.5,
      "stroke-dasharray": "3 2",
    }),
  };
  group.append(
    shapes[kind],
    shape("text", { x: 20, dy: "0.32em", "text-anchor": "start", fill: "var(--tcw-ink)" }, text),
  );
  return group;
}

/** An axis for whole numbers, without ticks between them. */
export function whole(from: number, to: number, most = 8): { tickFormat: string; ticks: number } {
  return { tickFormat: "d", ticks: Math.max(1, Math.min(most, Math.floor(to - from))) };
}

/** The greatest number, and at least `least`. A spread into Math.max fails where there are too many of them. */
export function greatest(numbers: Iterable<number>, least: number): number {
  let most = least;
  for (const number of numbers) most = Math.max(most, number);
  return most;
}

/** At most this many, evenly chosen. */
export function sample<T>(rows: T[], limit: number): T[] {
  if (rows.length <= limit) return rows;
  const step = rows.length / limit;
  return Array.from({ length: limit }, (_, index) => rows[Math.floor(index * step)] as T);
}

export const COLOR = {
  differs: "var(--tcw-differs)",
  same: "var(--tcw-same)",
  nothing: "var(--tcw-soft)",
  line: "var(--tcw-blue)",
};
