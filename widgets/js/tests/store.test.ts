import { expect, test, vi } from "vitest";
import { Store } from "../src/store";

test("who watches hears at once, and of changes of what is watched only", () => {
  const store = new Store({ a: 1, b: 1 });
  const heard = vi.fn();
  store.watch(["a"], new AbortController().signal, heard);
  expect(heard).toHaveBeenCalledTimes(1);
  store.set({ b: 2 });
  store.set({ a: 1 });
  expect(heard).toHaveBeenCalledTimes(1);
  store.set({ a: 2 });
  expect(heard).toHaveBeenCalledTimes(2);
});

test("after its end nobody hears anything, not even of the change that ended it", () => {
  const store = new Store({ a: 1 });
  const end = new AbortController();
  const heard = vi.fn();
  store.watch(["a"], new AbortController().signal, () => store.get().a === 2 && end.abort());
  store.watch(["a"], end.signal, heard);
  store.set({ a: 2 });
  store.set({ a: 3 });
  expect(heard).toHaveBeenCalledTimes(1);
});
