import { expect, test, vi } from "vitest";
import type { Kernel } from "../src/kernel";
import { fragment, placeOf } from "../src/place";
import { Session } from "../src/session";
import type { Pinned } from "../src/types";
import { comparison, detail, pair, version } from "./make";

const settled = () => new Promise((done) => setTimeout(done));

function session(
  kernel: Partial<Record<"debug" | "replay" | "shrink" | "reproducer" | "headline", unknown>> | null,
  pinned: Pinned[] = [],
) {
  const savePinned = vi.fn();
  return {
    session: new Session(comparison([pair(), pair({ verdict: "identical", shown: null, executions: [] })]), {
      kernel: kernel as Kernel | null,
      pinned,
      savePinned,
    }),
    savePinned,
  };
}

test("the execution shown at first needs no kernel", () => {
  const replay = vi.fn();
  const { session: one } = session({ replay });
  expect(one.store.get().detail?.execution).toBe(0);
  one.choose(0);
  expect(replay).not.toHaveBeenCalled();
});

test("another execution is asked for once, then known", async () => {
  const replay = vi.fn(async () => detail(1));
  const { session: one } = session({ replay });
  one.choose(1);
  expect(one.store.get()).toMatchObject({ execution: 1, detail: null });
  await settled();
  expect(one.store.get().detail?.execution).toBe(1);
  one.choose(0);
  one.choose(1);
  expect(replay).toHaveBeenCalledTimes(1);
  expect(replay).toHaveBeenCalledWith({ pair: 0, execution: 1, handle: null, changes: new Map() });
});

test("without a kernel another execution is shown without its values", () => {
  const { session: one } = session(null);
  one.choose(1);
  expect(one.store.get()).toMatchObject({ execution: 1, detail: null, busy: null });
});

test("changed values add up, can be put back one by one and all together", async () => {
  const replay = vi.fn(async (request: { changes: Map<string, string> }) =>
    detail(request.changes.size > 0 ? null : 0),
  );
  const { session: one } = session({ replay });
  one.edit("x", "1");
  one.runChanged();
  await settled();
  expect(one.store.get()).toMatchObject({ changes: new Map([["x", "1"]]), edits: new Map() });
  one.edit("y", "2");
  one.runChanged();
  await settled();
  expect(replay).toHaveBeenLastCalledWith({
    pair: 0,
    execution: 0,
    handle: null,
    changes: new Map([
      ["x", "1"],
      ["y", "2"],
    ]),
  });
  one.forget("x");
  await settled();
  expect(replay).toHaveBeenLastCalledWith({ pair: 0, execution: 0, handle: null, changes: new Map([["y", "2"]]) });
  one.runUnchanged();
  expect(one.store.get()).toMatchObject({ changes: new Map(), detail: { execution: 0 } });
});

test("an answer that comes after another choice changes nothing", async () => {
  let answer: (value: unknown) => void = () => undefined;
  const { session: one } = session({ replay: () => new Promise((resolve) => (answer = resolve)) });
  one.choose(1);
  one.choose(0);
  answer(detail(1));
  await settled();
  expect(one.store.get()).toMatchObject({ execution: 0, detail: { execution: 0 }, busy: null });
});

test("what the kernel refuses is said, and what was typed stays", async () => {
  const { session: one } = session({
    replay: async () => {
      throw new Error("That is no literal.");
    },
  });
  one.edit("x", "(");
  one.runChanged();
  await settled();
  expect(one.store.get()).toMatchObject({
    edits: new Map([["x", "("]]),
    changes: new Map(),
    message: { text: "That is no literal.", bad: true },
    busy: null,
  });
});

test("what comes after shrinking starts from the smaller values, and changes only what a person changes", async () => {
  const shrunk = detail(0, { handle: 7, values: [{ ...detail(0).values[0]!, value: "<object>", literal: null }] });
  const replay = vi.fn(async () => ({ ...shrunk, handle: 8 }));
  const reproducer = vi.fn(async () => "def test(): pass");
  const { session: one, savePinned } = session({ replay, reproducer, shrink: async () => shrunk });
  one.shrink();
  await settled();
  expect(one.store.get()).toMatchObject({ base: 7, changes: new Map(), detail: shrunk });
  const request = { pair: 0, execution: 0, handle: 7, changes: new Map() };
  one.runAgain();
  await settled();
  expect(replay).toHaveBeenLastCalledWith(request);
  one.makeTest(async () => true);
  await settled();
  expect(reproducer).toHaveBeenLastCalledWith(request);
  one.edit("y", "2");
  one.runChanged();
  await settled();
  expect(replay).toHaveBeenLastCalledWith({ ...request, changes: new Map([["y", "2"]]) });
  expect(one.store.get()).toMatchObject({ base: 7, changes: new Map([["y", "2"]]) });
  one.pin();
  expect(savePinned.mock.calls[0]?.[0]).toMatchObject([{ execution: 0, handle: 7, changes: { y: "2" } }]);
  // Back: the execution as it was is known, and nothing of what was made smaller took its place.
  one.choose(0);
  expect(one.store.get()).toMatchObject({ base: null, changes: new Map(), detail: { values: [{ value: "0" }] } });
  one.showPinned(0);
  await settled();
  expect(replay).toHaveBeenLastCalledWith({ ...request, changes: new Map([["y", "2"]]) });
  expect(one.store.get().base).toBe(7);
});

test("smaller values that the kernel did not keep are not taken for those of the execution", async () => {
  const { session: one } = session({ shrink: async () => detail(0, { handle: null }) });
  one.shrink();
  await settled();
  expect(one.store.get()).toMatchObject({ base: null, message: { bad: true } });
});

test("values whose paths every object has are nobody's changes until somebody makes them", async () => {
  const replay = vi.fn(async () => detail(null));
  const { session: one } = session({ replay });
  for (const path of ["constructor", "toString", "__proto__"]) {
    expect(one.store.get().edits.has(path)).toBe(false);
    one.edit(path, "1");
    expect(one.store.get().edits.get(path)).toBe("1");
  }
  one.edit("toString", null);
  one.runChanged();
  await settled();
  const changes = new Map([
    ["constructor", "1"],
    ["__proto__", "1"],
  ]);
  expect(replay).toHaveBeenLastCalledWith({ pair: 0, execution: 0, handle: null, changes });
  one.pin();
  expect(Object.entries(one.store.get().pinned[0]?.changes ?? {})).toEqual([...changes]);
  one.showPinned(0);
  await settled();
  expect(replay).toHaveBeenLastCalledWith({ pair: 0, execution: 0, handle: null, changes });
});

test("an example is pinned with its values, saved, shown and let go", async () => {
  const { session: one, savePinned } = session({ replay: async () => detail(null) });
  one.pin();
  expect(savePinned).toHaveBeenCalledWith([
    {
      pair: 0,
      name: "f",
      execution: 0,
      handle: null,
      changes: {},
      values: [{ path: "x", value: "0" }],
      old: "returns 1",
      new: "returns 2",
    },
  ]);
  one.showPinned(0);
  expect(one.store.get().tab).toBe("shown");
  one.unpin(0);
  expect(savePinned).toHaveBeenLastCalledWith([]);
});

test("a test is copied, or shown where it cannot be", async () => {
  const { session: one } = session({ reproducer: async () => "def test(): pass" });
  one.makeTest(async () => false);
  await settled();
  expect(one.store.get()).toMatchObject({ test: "def test(): pass", message: { bad: false } });
});

test("without an execution in full the first one is chosen", () => {
  const one = new Session(comparison([pair({ shown: null })]), {
    kernel: null,
    pinned: [],
    savePinned: () => undefined,
  });
  expect(one.store.get()).toMatchObject({ execution: 1, detail: null });
});

test("another pair starts afresh", () => {
  const { session: one } = session(null);
  one.store.set({ line: { version: 0, line: 1 }, search: "x" });
  one.choosePair(1);
  expect(one.store.get()).toMatchObject({ pair: 1, line: null, search: "", detail: null, execution: null });
});

test("what was typed and not run outlives the runs of others", async () => {
  const value = detail(0).values[0]!;
  const values = ["x", "y", "z"].map((path) => ({ ...value, path }));
  const { session: one } = session({ replay: async () => detail(0, { values }) });
  one.edit("x", "1");
  one.runChanged();
  // Typed while it ran.
  one.edit("y", "2");
  await settled();
  expect(one.store.get()).toMatchObject({ changes: new Map([["x", "1"]]), edits: new Map([["y", "2"]]) });
  one.runAgain();
  await settled();
  expect(one.store.get().edits).toEqual(new Map([["y", "2"]]));
  one.edit("z", "3");
  one.forget("x");
  await settled();
  expect(one.store.get().changes).toEqual(new Map());
  expect(one.store.get().edits).toEqual(
    new Map([
      ["y", "2"],
      ["z", "3"],
    ]),
  );
});

test("what was typed for a value that has no field any more is not run", async () => {
  const shrunk = detail(0, { handle: 1, values: [] });
  const { session: one } = session({ shrink: async () => shrunk });
  one.edit("x", "1");
  one.shrink();
  await settled();
  expect(one.store.get().edits).toEqual(new Map());
});

test("of what is wished while the kernel works, it is asked for the latest only", async () => {
  const answers: ((value: unknown) => void)[] = [];
  const replay = vi.fn((_: { execution: number }) => new Promise((resolve) => answers.push(resolve)));
  const { session: one } = session({ replay });
  for (const execution of [1, 2, 3, 4, 5, 6]) one.choose(execution);
  await settled();
  expect(replay.mock.calls.map(([request]) => request.execution)).toEqual([1]);
  answers[0]?.(detail(1));
  await settled();
  expect(replay.mock.calls.map(([request]) => request.execution)).toEqual([1, 6]);
  expect(one.store.get()).toMatchObject({ execution: 6, detail: null });
  answers[1]?.(detail(6));
  await settled();
  expect(one.store.get()).toMatchObject({ execution: 6, detail: { execution: 6 }, busy: null });
  // The first answer was kept, though nobody waited for it any more.
  one.choose(1);
  expect(one.store.get().detail?.execution).toBe(1);
});

test("an answer that never comes holds up what is wished later for a while only", async () => {
  vi.useFakeTimers();
  try {
    const replay = vi.fn(() => new Promise(() => undefined));
    const { session: one } = session({ replay });
    one.choose(1);
    one.choose(2);
    await vi.advanceTimersByTimeAsync(20_001);
    expect(replay).toHaveBeenCalledTimes(2);
    await vi.advanceTimersByTimeAsync(20_001);
    expect(one.store.get().message?.text).toMatch(/has not answered yet/);
  } finally {
    vi.useRealTimers();
  }
});

test("a test that nobody waits for any more is not copied", async () => {
  let answer: (value: string) => void = () => undefined;
  const copy = vi.fn(async () => true);
  const { session: one } = session({ reproducer: () => new Promise((resolve) => (answer = resolve)) });
  one.makeTest(copy);
  one.runUnchanged();
  answer("def test(): pass");
  await settled();
  expect(copy).not.toHaveBeenCalled();
  expect(one.store.get().test).toBeNull();
});

test("a pinned example with changed values is run as it was pinned, and nothing else is", async () => {
  const pinned = { pair: 0, name: "f", execution: 2, handle: 3, changes: { x: "1" }, values: [], old: "", new: "" };
  const replay = vi.fn(async () => detail(null));
  const { session: one } = session({ replay }, [pinned]);
  one.showPinned(0);
  await settled();
  expect(replay.mock.calls).toEqual([[{ pair: 0, execution: 2, handle: 3, changes: new Map([["x", "1"]]) }]]);
  expect(one.store.get()).toMatchObject({ execution: 2, base: 3, tab: "shown" });
});

test("an attribute that a person adds stays until it is run", async () => {
  const { session: one } = session({ replay: async () => detail(null) });
  one.edit("self.shop.discount", "20");
  one.runAgain();
  await settled();
  expect(one.store.get().edits).toEqual(new Map([["self.shop.discount", "20"]]));
  one.runChanged();
  await settled();
  expect(one.store.get().edits).toEqual(new Map());
  expect(one.store.get().changes).toEqual(new Map([["self.shop.discount", "20"]]));
});

test("an execution with changed values becomes the example of the headline", async () => {
  const headline = vi.fn(async () => undefined);
  const { session: one } = session({ replay: async () => detail(null), headline });
  one.edit("x", "1");
  one.runChanged();
  await settled();
  one.makeHeadline();
  await settled();
  expect(headline).toHaveBeenCalledWith({ pair: 0, execution: 0, handle: null, changes: new Map([["x", "1"]]) });
  // A view that gets no new state cannot show it.
  expect(one.canHeadline).toBe(false);
});

test("an execution is opened in the debugger only where there is one, and its outcomes are told", async () => {
  const debug = vi.fn(async () => ({
    old: "returned 1; its test passed here",
    new: "returned 2; its test failed here",
  }));
  const { session: one } = session({ debug });
  expect(one.canDebug).toBe(false);
  one.debug();
  expect(one.store.get().busy).toContain("the debugger's panel");
  await settled();
  expect(debug).toHaveBeenCalledWith({ pair: 0, execution: 0, handle: null, changes: new Map() });
  expect(one.store.get().message?.text).toContain("New: returned 2");
});

test("lines of other files are found again by the function that holds them", () => {
  const parts = [
    { number: 2, first_line: 30, elsewhere: null },
    { number: 3, first_line: 1, elsewhere: "shop.tax" },
  ];
  const own = { ...version(["def f(): g()", "def g(): h()", "def h(): pass"]), parts };
  const of = pair({ old: own, new: own });
  const links = [1, 2, 3].map((line) => fragment({ pair: 0, version: 1, line }, of));
  expect(links).toEqual(["#pair1-new-1", "#pair1-new-30", "#pair1-new-part2-1"]);
  expect(links.map((link) => placeOf(link, [of])?.line)).toEqual([1, 2, 3]);
  expect([placeOf("#pair1-new-2", [of]), placeOf("#pair1-new-part1-30", [of])]).toEqual([null, null]);
});

test("a line is named where there is no page to link to, and found again where there is one", () => {
  const { session: one } = session(null);
  expect(one.linkTo({ version: 1, line: 1 })).toBe(`${one.pair?.name}:1 (new)`);
  expect(one.follow("#pair1-old-1")).toBe(true);
  expect(one.store.get().line).toEqual({ version: 0, line: 1 });
  for (const nothing of ["", "#pair1-old-999", "#pair9-new-1", "#pair0-new-1", "#other"]) {
    expect(one.follow(nothing)).toBe(false);
  }
});

test("a view that replaces this one shows the same pair, tab and line", () => {
  const { session: one } = session(null);
  one.store.set({ tab: "shown", line: { version: 1, line: 2 } });
  expect(one.place).toEqual({ pair: 0, tab: "shown", line: { version: 1, line: 2 } });
  const next = new Session(one.state, { kernel: null, pinned: [], savePinned: null, place: one.place });
  expect(next.store.get()).toMatchObject({ pair: 0, tab: "shown", line: { version: 1, line: 2 } });
});
