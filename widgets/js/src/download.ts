// Files of the shown content: text, tables as CSV, plots as SVG and PNG.

import { shape } from "./dom";

export function saveText(name: string, type: string, text: string): void {
  saveBlob(name, new Blob([text], { type: `${type};charset=utf-8` }));
}

function saveBlob(name: string, blob: Blob): void {
  const address = URL.createObjectURL(blob);
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

/** Rows with a heading, by RFC 4180. A text that a spreadsheet would take for a formula remains a text. */
export function csv(rows: Record<string, unknown>[]): string {
  if (rows.length === 0) return "";
  const names = Object.keys(rows[0] ?? {});
  const cell = (value: unknown) => {
    if (typeof value === "number" || typeof value === "boolean") return String(value);
    const text = String(value ?? "");
    const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
    return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  };
  return [names.map(cell), ...rows.map((row) => names.map((name) => cell(row[name])))]
    .map((cells) => `${cells.join(",")}\r\n`)
    .join("");
}

/** Pixels around a plot in a file, and for its title. */
const [AROUND, TITLE] = [16, 26];

/** A plot that stands by itself, with its title: its colors and fonts no longer depend on the page. */
function standalone(svg: SVGSVGElement, background: string): SVGSVGElement {
  const copy = svg.cloneNode(true) as SVGSVGElement;
  const from = [svg, ...svg.querySelectorAll<SVGElement>("*")];
  const to = [copy, ...copy.querySelectorAll<SVGElement>("*")];
  const names = ["fill", "stroke", "color", "font-family", "font-size", "font-weight", "font-variant-numeric"];
  from.forEach((element, index) => {
    const style = getComputedStyle(element);
    for (const name of names) to[index]?.style.setProperty(name, style.getPropertyValue(name));
  });
  for (const style of copy.querySelectorAll("style")) style.remove();
  const { width, height } = svg.viewBox.baseVal;
  const box = { x: -AROUND, y: -AROUND - TITLE, width: width + 2 * AROUND, height: height + 2 * AROUND + TITLE };
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.setAttribute("viewBox", `${box.x} ${box.y} ${box.width} ${box.height}`);
  copy.setAttribute("width", String(box.width));
  copy.setAttribute("height", String(box.height));
  const title = shape("text", { x: 0, y: -TITLE + 10, "text-anchor": "start", "font-size": 14, "font-weight": 600 });
  title.style.fill = getComputedStyle(svg.closest(".tcw") ?? svg).color;
  title.textContent = svg.getAttribute("aria-label");
  copy.prepend(shape("rect", { ...box, fill: background }), title);
  return copy;
}

export function saveSvg(name: string, svg: SVGSVGElement, background: string): void {
  saveText(name, "image/svg+xml", new XMLSerializer().serializeToString(standalone(svg, background)));
}

/** Twice the size on screen, for print and slides. */
export async function savePng(name: string, svg: SVGSVGElement, background: string): Promise<void> {
  const copy = standalone(svg, background);
  const text = new XMLSerializer().serializeToString(copy);
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  const { width, height } = copy.viewBox.baseVal;
  [canvas.width, canvas.height] = [width * 2, height * 2];
  canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
  const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, "image/png"));
  if (!blob) throw new Error("The browser could not draw the plot as PNG.");
  saveBlob(name, blob);
}
