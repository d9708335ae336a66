// The tree of prefixes after the pattern of the ARIA guide: one tab stop, arrow keys choose. All nodes are flat elements
// that say their level.

import { classes, h, replace, sign, uniqueId } from "../dom";
import { nodeName } from "../prefixes";
import type { PrefixesState, PrefixNode } from "../types";
import * as words from "../words";

/** Levels below this one are not moved further to the right. */
const DEEPEST = 10;
/** The steps of the algorithm, numbered as in figures. */
const STEPS = { 1: "I: undefined names", 2: "II: after an error", 3: "III: for more lines" } as const;

export interface Tree {
  element: HTMLElement;
  choose(number: number): void;
  /** Lists these nodes only. */
  list(nodes: readonly PrefixNode[], nested: boolean): void;
}

export function tree(state: PrefixesState, chosen: (number: number) => void): Tree {
  let listed: { node: PrefixNode; item: HTMLElement }[] = [];
  let now: number | null = null;
  const element = h("div", {
    class: "tcw-tree",
    role: "tree",
    tabindex: 0,
    "aria-label": "Prefixes",
    onkeydown: (event: KeyboardEvent) => {
      if (event.altKey || event.ctrlKey || event.metaKey) return;
      const to = target(event.key);
      if (to === undefined) return;
      event.preventDefault();
      if (to) chosen(to.node.number);
    },
  });

  /** The node to which a key moves; null if there is none, undefined if the key does nothing here. */
  function target(key: string): { node: PrefixNode } | null | undefined {
    const at = listed.findIndex(({ node }) => node.number === now);
    const node = listed[at]?.node;
    switch (key) {
      case "ArrowDown":
        return listed[at + 1] ?? null;
      case "ArrowUp":
        return listed[at - 1] ?? null;
      case "Home":
        return listed[0] ?? null;
      case "End":
        return listed.at(-1) ?? null;
      case "ArrowLeft":
        return listed.find((one) => one.node.number === node?.parent) ?? null;
      case "ArrowRight":
        return listed.find((one) => one.node.parent === node?.number) ?? null;
      default:
        return undefined;
    }
  }

  function choose(number: number): void {
    now = number;
    for (const { node, item } of listed) {
      const here = node.number === number;
      item.setAttribute("aria-selected", String(here));
      if (here) {
        element.setAttribute("aria-activedescendant", item.id);
        // Only the frame of the tree scrolls, never the page.
        const [top, bottom] = [item.offsetTop, item.offsetTop + item.offsetHeight];
        if (top < element.scrollTop) element.scrollTop = top;
        else if (bottom > element.scrollTop + element.clientHeight) element.scrollTop = bottom - element.clientHeight;
      }
    }
  }

  return {
    element,
    choose,
    list(nodes, nested) {
      listed = nodes.map((node) => ({ node, item: itemOf(state, node, nested, () => chosen(node.number)) }));
      replace(
        element,
        listed.map(({ item }) => item),
      );
      element.removeAttribute("aria-activedescendant");
      if (now !== null) choose(now);
    },
  };
}

function itemOf(state: PrefixesState, node: PrefixNode, nested: boolean, chosen: () => void): HTMLElement {
  const level = nested ? node.depth : 0;
  const unseen = (text: string) => h("span", { class: "tcw-hidden" }, text);
  return h(
    "div",
    {
      id: uniqueId("node"),
      class: classes("tcw-node", node.ended !== null && "tcw-failed"),
      role: "treeitem",
      "aria-level": level + 1,
      style: `padding-left: ${8 + 14 * Math.min(level, DEEPEST)}px`,
      onclick: chosen,
    },
    h("span", { class: "tcw-node-name" }, level > 0 && sign("└ "), nodeName(node)),
    h("span", { class: "tcw-node-set" }, node.chosen && "P"),
    h(
      "span",
      { class: "tcw-share-box", "aria-hidden": "true" },
      h("span", { class: "tcw-bar-reached", style: `width: ${(100 * node.coverage).toFixed(1)}%` }),
    ),
    h(
      "span",
      { class: "tcw-node-lines" },
      String(node.completed.length),
      unseen(` of ${words.count(state.statements, "line")}, step `),
    ),
    h("span", { class: "tcw-node-step" }, STEPS[node.step]),
    node.ended !== null && unseen(", does not end by itself"),
  );
}
