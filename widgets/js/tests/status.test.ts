import { expect, test } from "vitest";
import type { Kernel } from "../src/kernel";
import { Session } from "../src/session";
import { callsView } from "../src/views/calls";
import { statusLine } from "../src/views/status";
import { comparison, detail, pair } from "./make";

const settled = () => new Promise((done) => setTimeout(done));

function opened(replay: () => Promise<unknown>) {
  const of = pair();
  const session = new Session(comparison([of]), {
    kernel: { replay } as unknown as Kernel,
    pinned: [],
    savePinned: null,
  });
  return { session, pair: of, signal: new AbortController().signal };
}

test("what the kernel refuses is said in every tab, once", async () => {
  const context = opened(async () => {
    throw new Error("The kernel is gone.");
  });
  const above = statusLine(context, (tab) => tab !== "shown");
  const panel = document.createElement("div");
  callsView(context, panel);
  context.session.store.set({ tab: "calls" });
  context.session.choose(2);
  expect(above.textContent).toBe("Running it once more for its values…");
  expect(panel.textContent).toBe("The calls are on the way.");
  await settled();
  expect(above.textContent).toBe("! The kernel is gone.");
  expect(above.getAttribute("role")).toBe("status");
  expect(panel.textContent).toBe("“Run again” in the tab Execution 2 shows the calls.");
  context.session.store.set({ tab: "shown" });
  expect(above.textContent).toBe("");
});

test("calls that have come stay as they are while the kernel works on", async () => {
  const context = opened(async () => detail(0));
  const panel = document.createElement("div");
  callsView(context, panel);
  const before = panel.firstElementChild;
  context.session.runAgain();
  expect(panel.firstElementChild).toBe(before);
  await settled();
});
