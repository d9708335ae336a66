// A person's choices in the view, and the listeners to their changes.

import type { Outcome } from "./words";
import type { Changes, Detail, Pinned, VersionNumber } from "./types";

export interface LineFilter {
  version: VersionNumber;
  line: number;
}

export interface Choices {
  pair: number;
  tab: string;
  /** The shown execution; null if the pair has none. */
  execution: number | null;
  /** Executions listed are those that ran this line, ended so, and hold this text. */
  line: LineFilter | null;
  outcome: Outcome | "all";
  search: string;
  /** The execution in full; null until the kernel has sent it. */
  detail: Detail | null;
  /** The start that `changes` change: shrunk values, by the kernel's handle; null for the execution as it was. */
  base: number | null;
  /** The changed values that `detail` was run with. */
  changes: Changes;
  /** Values that were typed and not run yet. */
  edits: Changes;
  /** What the kernel is doing for this view. */
  busy: string | null;
  /** What it did last, or why it could not. */
  message: { text: string; bad: boolean } | null;
  /** The test that was requested last. */
  test: string | null;
  pinned: Pinned[];
}

type Listener = () => void;

export class Store<T extends object> {
  private readonly listeners = new Set<{ keys: (keyof T)[]; listener: Listener }>();

  constructor(private state: T) {}

  get(): Readonly<T> {
    return this.state;
  }

  /** Takes over the given values and tells the listeners of those that changed. */
  set(changed: Partial<T>): void {
    const before = this.state;
    this.state = { ...before, ...changed };
    const different = (Object.keys(changed) as (keyof T)[]).filter((key) => !Object.is(before[key], this.state[key]));
    if (different.length === 0) return;
    for (const entry of [...this.listeners]) {
      // An earlier listener may have ended this one.
      if (this.listeners.has(entry) && entry.keys.some((key) => different.includes(key))) entry.listener();
    }
  }

  /** Calls `listener` now and after each change of one of these, until the signal. */
  watch(keys: (keyof T)[], signal: AbortSignal, listener: Listener): void {
    if (signal.aborted) return;
    const entry = { keys, listener };
    this.listeners.add(entry);
    signal.addEventListener("abort", () => this.listeners.delete(entry));
    listener();
  }
}
