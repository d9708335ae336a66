// Tabs after the pattern of the ARIA guide: one tab stop, arrow keys choose. A panel is made when it is first shown.

import { h, replace, uniqueId } from "../dom";

export interface Tab {
  id: string;
  title(): string;
  /** The number of things in it, in small print beside the title. */
  note?(): string;
  /** Makes its content. */
  fill(panel: HTMLElement): void;
}

export interface Tabs {
  element: HTMLElement;
  show(id: string): void;
  retitle(): void;
}

export function tabs(label: string, list: Tab[], chosen: (id: string) => void): Tabs {
  const made = list.map((tab) => {
    const [tabId, panelId] = [uniqueId("tab"), uniqueId("panel")];
    const button = h("button", {
      type: "button",
      role: "tab",
      id: tabId,
      class: "tcw-tab",
      "aria-controls": panelId,
      onclick: () => chosen(tab.id),
    });
    const panel = h("div", {
      role: "tabpanel",
      id: panelId,
      class: "tcw-panel",
      "aria-labelledby": tabId,
      hidden: true,
    });
    return { tab, button, panel, filled: false };
  });
  const bar = h(
    "div",
    {
      role: "tablist",
      class: "tcw-tabs",
      "aria-label": label,
      onkeydown: (event: KeyboardEvent) => {
        const at = made.findIndex(({ button }) => button === event.target);
        const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: made.length - 1 }[event.key];
        if (at < 0 || to === undefined) return;
        event.preventDefault();
        const next = made[(to + made.length) % made.length];
        if (!next) return;
        chosen(next.tab.id);
        next.button.focus();
      },
    },
    made.map(({ button }) => button),
  );
  const element = h(
    "div",
    {},
    bar,
    made.map(({ panel }) => panel),
  );

  function retitle(): void {
    for (const { tab, button } of made) {
      const note = tab.note?.();
      replace(button, tab.title(), note ? h("span", { class: "tcw-note" }, ` ${note}`) : null);
    }
  }

  function show(id: string): void {
    const known = made.some(({ tab }) => tab.id === id) ? id : made[0]?.tab.id;
    // If the focus was in the old panel, it moves to the new tab.
    const left = made.some(({ tab, panel }) => tab.id !== known && panel.contains(document.activeElement));
    for (const one of made) {
      const here = one.tab.id === known;
      one.button.setAttribute("aria-selected", String(here));
      one.button.tabIndex = here ? 0 : -1;
      one.panel.hidden = !here;
      if (here && left) one.button.focus({ preventScroll: true });
      if (here && !one.filled) {
        one.filled = true;
        one.tab.fill(one.panel);
      }
    }
  }

  retitle();
  return { element, show, retitle };
}
