import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { STATE_FORMAT } from "../src/state";
import { attempt } from "../src/views/attempt";
import { comparison } from "./make";

// What a page that twincell writes looks like to the widget.
function page(state: unknown): void {
  document.documentElement.setAttribute("data-twincell-page", "");
  const main = document.createElement("main");
  main.textContent = "Behavior changed, said without scripts.";
  const carried = document.createElement("script");
  carried.type = "application/json";
  carried.setAttribute("data-twincell-state", "");
  carried.textContent = JSON.stringify(state);
  document.body.replaceChildren(main, carried);
}

beforeEach(() => {
  vi.resetModules();
  vi.spyOn(console, "error").mockImplementation(() => undefined);
});

afterEach(() => {
  document.documentElement.removeAttribute("data-twincell-page");
  vi.restoreAllMocks();
});

/** Milliseconds that reading the whole widget may take on a busy machine. */
const IMPORT = 60_000;

test.each([
  ["of another version", { ...comparison(), format: STATE_FORMAT + 1 }],
  ["that is broken", { ...comparison(), pairs: [{ name: "f" }] }],
])(
  "a page keeps what it says without scripts beside a state %s",
  async (_, state) => {
    page(state);
    await import("../src/index");
    expect(document.querySelector("main")?.textContent).toBe("Behavior changed, said without scripts.");
  },
  IMPORT,
);

test("a view that cannot be made has a reason for people", () => {
  const make = () => {
    throw new TypeError("x is undefined");
  };
  expect(attempt({ format: STATE_FORMAT }, make)).toMatch(/could not be shown interactively/);
  expect(attempt({ format: STATE_FORMAT + 1 }, make)).toMatch(/another version/);
  expect(attempt({ format: STATE_FORMAT }, () => ({ made: true }))).toEqual({ made: true });
});
