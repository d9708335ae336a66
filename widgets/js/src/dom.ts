// Elements from plain descriptions. Text becomes text nodes; there is no way from here to markup in a string.

type Child = Node | string | number | null | undefined | false | Child[];
type Handler = (event: never) => void;
type Property = string | number | boolean | null | undefined | Handler;

/** An element. `on…` is a listener, true an empty attribute, null and false none; `class` may hold spaces. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  properties: Record<string, Property> = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name.slice(2), value as EventListener);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  append(element, children);
  return element;
}

export function append(parent: Element, children: Child[]): void {
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    if (Array.isArray(child)) append(parent, child);
    else parent.append(typeof child === "number" ? String(child) : child);
  }
}

export function replace(parent: Element, ...children: Child[]): void {
  parent.replaceChildren();
  append(parent, children);
}

/** A part of a drawing. */
export function shape(name: string, attributes: Record<string, string | number>, text = ""): SVGElement {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  if (text) made.textContent = text;
  return made;
}

/** Classes by condition. */
export function classes(...names: (string | false | null | undefined)[]): string {
  return names.filter(Boolean).join(" ");
}

/** Gives the focus to an element that usually has none, such as the frame around a removed button. */
export function focusOn(element: HTMLElement): void {
  if (element.tabIndex < 0 && !element.hasAttribute("tabindex")) element.setAttribute("tabindex", "-1");
  element.focus({ preventScroll: true });
}

let ids = 0;

/** An id that no other element of the page has. */
export function uniqueId(name: string): string {
  ids += 1;
  return `tcw-${name}-${ids}`;
}

/** A sign that screen readers skip, since its word is beside it. */
export function sign(text: string): HTMLElement {
  return h("span", { class: "tcw-sign", "aria-hidden": "true" }, text);
}
