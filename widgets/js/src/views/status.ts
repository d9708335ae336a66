// The line that says what the kernel does for this view, did last, or why it could not. In a tab of the execution it
// stands where one works; for all other tabs above the code.

import { classes, h } from "../dom";
import * as plain from "../plain";
import type { PairContext } from "../session";

/** `here` says for which tabs the line is. */
export function statusLine({ session, signal }: PairContext, here: (tab: string) => boolean): HTMLElement {
  const { store } = session;
  const line = h("p", { class: "tcw-status", role: "status" });
  store.watch(["busy", "message", "tab"], signal, () => {
    const { busy, message, tab } = store.get();
    line.className = classes("tcw-status", message?.bad && "tcw-bad", busy !== null && "tcw-busy");
    // A sign marks errors, not only the color red.
    const said = message ? `${message.bad ? "! " : ""}${plain.sentence(message.text)}` : "";
    line.textContent = !here(tab) ? "" : busy !== null ? `${busy}…${said ? ` ${said}` : ""}` : said;
  });
  return line;
}
