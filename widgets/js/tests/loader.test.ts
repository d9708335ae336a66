import { afterEach, beforeEach, expect, test, vi } from "vitest";

const TEXT =
  "export default { render: ({ el }) => { el.shown = (el.shown ?? 0) + 1; return () => { el.shown = 0; }; } };";

type Loader = (typeof import("../src/loader"))["default"];
let loader: Loader;

class Model {
  readonly sent: unknown[] = [];
  readonly listeners = new Set<(value: never) => void>();
  constructor(private readonly module: string) {}
  get(name: string): unknown {
    return name === "module" ? this.module : undefined;
  }
  send(message: unknown): void {
    this.sent.push(message);
  }
  on(_name: string, listener: (value: never) => void): void {
    this.listeners.add(listener);
  }
  off(_name: string, listener: (value: never) => void): void {
    this.listeners.delete(listener);
  }
  hear(message: unknown): void {
    for (const listener of this.listeners) listener(message as never);
  }
}

function render(model: Model, signal?: AbortSignal) {
  const el: HTMLElement & { shown?: number } = document.createElement("div");
  return { el, done: loader.render({ model, el, signal } as never) };
}

beforeEach(async () => {
  // Node imports no blobs; the text is what counts.
  vi.stubGlobal("SOURCES", `test ${Math.random()}`);
  vi.stubGlobal(
    "Blob",
    class {
      constructor(readonly parts: string[]) {}
    },
  );
  vi.spyOn(URL, "createObjectURL").mockImplementation(
    (blob) => `data:text/javascript,${encodeURIComponent((blob as unknown as { parts: string[] }).parts.join(""))}`,
  );
  vi.spyOn(URL, "revokeObjectURL").mockImplementation(() => undefined);
  vi.resetModules();
  loader = (await import("../src/loader")).default;
});

afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

test("the first view brings the widget, and the next ones find it", async () => {
  const first = render(new Model(TEXT));
  await first.done;
  expect(first.el.shown).toBe(1);
  const model = new Model("");
  const next = render(model);
  await next.done;
  expect(next.el.shown).toBe(1);
  expect(model.sent).toEqual([]);
});

test("a view without it asks the kernel, once, and stops listening", async () => {
  const model = new Model("");
  const { el, done } = render(model);
  expect(model.sent).toEqual([{ do: "module" }]);
  expect(el.textContent).toBe("Waiting for the kernel…");
  model.hear({ id: 3, ok: true });
  model.hear({ module: TEXT });
  (await done)();
  expect(el.shown).toBe(0);
  expect(el.textContent).toBe("");
  expect(model.listeners.size).toBe(0);
});

test("a view that waits is served by one that brings the widget", async () => {
  const waiting = render(new Model(""));
  await render(new Model(TEXT)).done;
  await waiting.done;
  expect(waiting.el.shown).toBe(1);
});

test("what cannot be read is asked for again by the next view", async () => {
  await expect(render(new Model("no module at all (")).done).rejects.toThrow();
  const next = render(new Model(TEXT));
  await next.done;
  expect(next.el.shown).toBe(1);
});

test("a view that is gone before the widget came shows nothing", async () => {
  const gone = new AbortController();
  const model = new Model("");
  const { el, done } = render(model, gone.signal);
  gone.abort();
  model.hear({ module: TEXT });
  await done;
  expect(el.shown).toBeUndefined();
});

test("a kernel that cannot be reached leaves the place empty, and nothing listens", async () => {
  const model = new Model("");
  model.send = () => {
    throw new Error("The comm is closed.");
  };
  const { el, done } = render(model);
  await expect(done).rejects.toThrow("The comm is closed.");
  expect(el.childNodes).toHaveLength(0);
  expect(model.listeners.size).toBe(0);
});
