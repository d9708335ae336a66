// What a person can do with a comparison: choose an execution, run it again, change its values, shrink it, copy it as
// a test, pin it. Views call these and watch the store; only this file talks to the kernel.

import type { Kernel } from "./kernel";
import { Store, type Choices } from "./store";
import type { Changes, ComparisonState, Detail, PairState, Pinned } from "./types";
import * as words from "./words";

/** What the views of one pair share: they live until the signal. */
export interface PairContext {
  session: Session;
  pair: PairState;
  signal: AbortSignal;
}

/** After so long without an answer the view says what may be wrong. */
const PATIENCE = 20_000;

export interface Host {
  kernel: Kernel | null;
  pinned: Pinned[];
  savePinned(pinned: Pinned[]): void;
}

export class Session {
  readonly store: Store<Choices>;
  /** Executions in full that are known, by pair and execution. */
  private readonly details = new Map<string, Detail>();
  /** Counts what was chosen, so that an answer that comes too late changes nothing. */
  private turn = 0;

  constructor(
    readonly state: ComparisonState,
    private readonly host: Host,
  ) {
    state.pairs.forEach((pair, index) => {
      if (pair.shown && pair.shown.execution !== null) this.details.set(`${index}:${pair.shown.execution}`, pair.shown);
    });
    const first = words.pairOrder(state)[0] ?? 0;
    this.store = new Store<Choices>({
      pair: first,
      tab: "found",
      ...this.start(first),
      pinned: host.pinned,
    });
  }

  /** Whether there is a kernel to ask. */
  get live(): boolean {
    return this.host.kernel !== null;
  }

  get pair(): PairState | undefined {
    return this.state.pairs[this.store.get().pair];
  }

  private start(pair: number): Omit<Choices, "pair" | "tab" | "pinned"> {
    const shown = this.state.pairs[pair]?.shown ?? null;
    return {
      execution: shown?.execution ?? this.state.pairs[pair]?.executions[0]?.number ?? null,
      line: null,
      outcome: "all",
      search: "",
      detail: shown,
      changes: {},
      edits: {},
      busy: null,
      message: null,
      test: null,
    };
  }

  choosePair(pair: number): void {
    if (pair === this.store.get().pair) return;
    this.turn += 1;
    this.store.set({ pair, ...this.start(pair) });
  }

  /** Shows an execution; its values come from the kernel unless they are known. */
  choose(execution: number): void {
    const { pair, detail } = this.store.get();
    if (detail?.execution === execution) return;
    const known = this.details.get(`${pair}:${execution}`) ?? null;
    this.turn += 1;
    this.store.set({ execution, detail: known, changes: {}, edits: {}, message: null, busy: null, test: null });
    if (!known && this.live) void this.run("Running it once more for its values", {}, "");
  }

  edit(path: string, literal: string | null): void {
    const edits = { ...this.store.get().edits };
    if (literal === null) delete edits[path];
    else edits[path] = literal;
    this.store.set({ edits });
  }

  /** Puts the injected value back. */
  forget(path: string): void {
    const changes = { ...this.store.get().changes };
    delete changes[path];
    this.edit(path, null);
    if (Object.keys(changes).length === Object.keys(this.store.get().changes).length) return;
    void this.run("Running", changes, "Ran with the injected value put back.");
  }

  runAgain(): void {
    void this.run("Running again", this.store.get().changes, "Ran again, with the same values.");
  }

  runChanged(): void {
    const { changes, edits } = this.store.get();
    void this.run("Running with changed values", { ...changes, ...edits }, "Ran with changed values.");
  }

  /** Back from changed values to the execution as it was. */
  runUnchanged(): void {
    const { pair, execution } = this.store.get();
    this.turn += 1;
    const known = this.details.get(`${pair}:${execution}`) ?? null;
    this.store.set({ detail: known, changes: {}, edits: {}, message: null, busy: null, test: null });
    if (!known) void this.run("Running", {}, "");
  }

  shrink(): void {
    const { changes } = this.store.get();
    void this.ask("Looking for smaller values", async (kernel, request) => {
      const detail = await kernel.shrink({ ...request, changes });
      // What was shrunk has other values than the execution it came from; they are its changes from now on.
      const changed = Object.fromEntries(
        detail.values.filter((one) => one.changed).map((one) => [one.path, one.value]),
      );
      return {
        detail,
        changes: changed,
        edits: {},
        message: { text: "These are the smallest values found.", bad: false },
      };
    });
  }

  makeTest(copy: (text: string) => Promise<boolean>): void {
    const { changes } = this.store.get();
    void this.ask("Writing a test", async (kernel, request) => {
      const test = await kernel.reproducer({ ...request, changes });
      const copied = await copy(test);
      const text = copied
        ? "Copied. The test stands below."
        : "The test stands below; the browser did not let it be copied.";
      return { test, message: { text, bad: false } };
    });
  }

  pin(): void {
    const { pair, execution, detail, changes, pinned } = this.store.get();
    const of = this.pair;
    if (!detail || !of) return;
    const values = words.byWeight(detail.values).map(({ path, value }) => ({ path, value }));
    const example = {
      pair,
      name: of.name,
      execution,
      changes,
      values,
      old: detail.old.outcome,
      new: detail.new.outcome,
    };
    this.setPinned([...pinned, example]);
    this.store.set({ message: { text: "Pinned. See the tab Pinned.", bad: false } });
  }

  unpin(index: number): void {
    this.setPinned(this.store.get().pinned.filter((_, other) => other !== index));
  }

  showPinned(index: number): void {
    const example = this.store.get().pinned[index];
    if (!example || !this.state.pairs[example.pair]) return;
    this.choosePair(example.pair);
    if (example.execution !== null) this.choose(example.execution);
    this.store.set({ tab: "shown" });
    if (Object.keys(example.changes).length > 0) void this.run("Running the pinned example", example.changes, "");
  }

  /** Examples that were pinned elsewhere. */
  takePinned(pinned: Pinned[]): void {
    this.store.set({ pinned });
  }

  /** Answers that are still to come change nothing any more. */
  close(): void {
    this.turn += 1;
  }

  private setPinned(pinned: Pinned[]): void {
    this.store.set({ pinned });
    this.host.savePinned(pinned);
  }

  private run(busy: string, changes: Changes, done: string): Promise<void> {
    return this.ask(busy, async (kernel, request) => {
      const detail = await kernel.replay({ ...request, changes });
      if (detail.execution !== null) this.details.set(`${request.pair}:${detail.execution}`, detail);
      return { detail, changes, edits: {}, message: done ? { text: done, bad: false } : null };
    });
  }

  private async ask(
    busy: string,
    action: (kernel: Kernel, request: { pair: number; execution: number }) => Promise<Partial<Choices>>,
  ): Promise<void> {
    const { kernel } = this.host;
    const { pair, execution } = this.store.get();
    if (!kernel) return this.store.set({ message: { text: words.NO_KERNEL, bad: true } });
    if (execution === null) return;
    this.turn += 1;
    const turn = this.turn;
    this.store.set({ busy, message: null, test: null });
    const late = setTimeout(() => {
      if (turn !== this.turn) return;
      const text = "The kernel has not answered yet. It may be busy; if it was restarted, run the cell again.";
      this.store.set({ message: { text, bad: true } });
    }, PATIENCE);
    let changed: Partial<Choices>;
    try {
      changed = await action(kernel, { pair, execution });
    } catch (error) {
      changed = { message: { text: error instanceof Error ? error.message : String(error), bad: true } };
    }
    clearTimeout(late);
    if (turn === this.turn) this.store.set({ ...changed, busy: null });
  }
}
