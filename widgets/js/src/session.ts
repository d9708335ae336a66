// What a person can do with a comparison: choose an execution, run it again, change its values, shrink it, copy it as
// a test, make it the example of the headline, pin it. Views call these and watch the store; what is asked of the kernel about executions is asked here.

import type { Kernel, Request } from "./kernel";
import { fragment, placeOf, spokenPlace } from "./place";
import { Store, type Choices, type LineFilter } from "./store";
import type { Changes, ComparisonState, Detail, PairState, Pinned } from "./types";
import * as words from "./words";

/** The state that the views of one pair share. They live until the signal. */
export interface PairContext {
  session: Session;
  pair: PairState;
  signal: AbortSignal;
}

/** After this long without an answer the view says what may be wrong. */
const PATIENCE = 20_000;

const NONE: Changes = new Map();

export interface Host {
  kernel: Kernel | null;
  pinned: Pinned[];
  /** Keeps them with the notebook; null if they live as long as the view. */
  savePinned: ((pinned: Pinned[]) => void) | null;
  /** A link to a line of a pair, by its fragment; null where there is no page to link to. */
  link?: ((fragment: string) => string) | null;
  /** Whether a new state of the comparison replaces the one that is shown. */
  renews?: boolean;
  /** Whether the kernel has a debugger. */
  debugs?: boolean;
  /** Where a person was when this state replaced another one. */
  place?: Place | undefined;
}

/** The part of a comparison that a person looks at. */
export interface Place {
  pair: number;
  tab: string;
  line: LineFilter | null;
}

/** The input of an action: whom to ask about what, and whether anybody still waits for the answer. */
interface ReplayRequest {
  kernel: Kernel;
  request: Omit<Request, "changes">;
  awaited(): boolean;
}

export class Session {
  readonly store: Store<Choices>;
  /** The executions that are known in full, by pair and execution. */
  private readonly details = new Map<string, Detail>();
  /** Counts choices, so that a late answer changes nothing. */
  private turn = 0;
  /** The kernel's present task for this view, one at a time. Of requests made meanwhile, the latest is sent. */
  private flight: Promise<void> | null = null;

  constructor(
    readonly state: ComparisonState,
    private readonly host: Host,
  ) {
    state.pairs.forEach((pair, index) => {
      if (pair.shown && pair.shown.execution !== null) this.details.set(`${index}:${pair.shown.execution}`, pair.shown);
    });
    const { pair: first, tab } = host.place ?? { pair: words.pairOrder(state)[0] ?? 0, tab: "found" };
    this.store = new Store<Choices>({
      pair: first,
      tab,
      ...this.start(first),
      line: host.place?.line ?? null,
      pinned: host.pinned,
    });
  }

  /** Whether pinned examples are kept with the notebook. */
  get keeps(): boolean {
    return this.host.savePinned !== null;
  }

  /** Whether there is a kernel to ask. */
  get live(): boolean {
    return this.host.kernel !== null;
  }

  /** Whether an execution can become the example of the headline. */
  get canHeadline(): boolean {
    return this.live && this.host.renews === true;
  }

  /** Whether an execution can be opened in the kernel's debugger. */
  get canDebug(): boolean {
    return this.live && this.host.debugs === true;
  }

  get place(): Place {
    const { pair, tab, line } = this.store.get();
    return { pair, tab, line };
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
      base: null,
      changes: NONE,
      edits: NONE,
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

  /** A link to a line of the pair, or its name where there is no page to link to. */
  linkTo({ version, line }: LineFilter): string {
    const { pair } = this.store.get();
    const of = this.pair;
    if (!of) return "";
    const place = { pair, version, line };
    return this.host.link ? this.host.link(fragment(place, of)) : spokenPlace(place, of);
  }

  /** Shows the line that a fragment names. Returns whether there is one. */
  follow(fragment: string): boolean {
    const place = placeOf(fragment, this.state.pairs);
    if (!place) return false;
    this.choosePair(place.pair);
    this.store.set({ line: { version: place.version, line: place.line } });
    return true;
  }

  /** Shows an execution; its values come from the kernel unless they are known. */
  choose(execution: number): void {
    const { execution: now, detail } = this.store.get();
    if (now === execution && detail && !this.isChanged) return;
    if (!this.asItWas(execution) && this.live) void this.run("Running it once more for its values", NONE, "");
  }

  edit(path: string, literal: string | null): void {
    const edits = new Map(this.store.get().edits);
    if (literal === null) edits.delete(path);
    else edits.set(path, literal);
    this.store.set({ edits });
  }

  /** Restores the previous value. */
  forget(path: string): void {
    const changes = new Map(this.store.get().changes);
    this.edit(path, null);
    if (changes.delete(path)) void this.run("Running", changes, "Ran with the value put back.");
  }

  runAgain(): void {
    void this.run("Running again", this.store.get().changes, "Ran again, with the same values.");
  }

  runChanged(): void {
    const { changes, edits } = this.store.get();
    const all = new Map([...changes, ...edits]);
    void this.run("Running with changed values", all, "Ran with changed values.", { ran: edits });
  }

  /** Back from changed values to the execution as it was. */
  runUnchanged(): void {
    const { execution } = this.store.get();
    if (!this.asItWas(execution)) void this.run("Running", NONE, "");
  }

  /** Whether the shown values differ from those of the execution. */
  get isChanged(): boolean {
    const { base, changes } = this.store.get();
    return base !== null || changes.size > 0;
  }

  /** Shows an execution as it was, with its values if they are known. */
  private asItWas(execution: number | null): Detail | null {
    this.turn += 1;
    const detail = this.details.get(`${this.store.get().pair}:${execution}`) ?? null;
    const changes = { base: null, changes: NONE, edits: NONE };
    this.store.set({ execution, detail, ...changes, message: null, busy: null, test: null });
    return detail;
  }

  shrink(): void {
    const { changes } = this.store.get();
    void this.ask("Looking for smaller values", async ({ kernel, request }) => {
      const detail = await kernel.shrink({ ...request, changes });
      // The next request starts from the smaller values, which only the kernel has in full.
      const base = detail.handle ?? null;
      if (base === null) throw new Error("The kernel did not keep the smaller values. Run the cell again.");
      return {
        detail,
        base,
        changes: NONE,
        edits: this.unrun(NONE, detail),
        message: { text: "These are the smallest values found.", bad: false },
      };
    });
  }

  makeTest(copy: (text: string) => Promise<boolean>): void {
    const { changes } = this.store.get();
    void this.ask("Writing a test", async ({ kernel, request, awaited }) => {
      const test = await kernel.reproducer({ ...request, changes });
      // The clipboard does not change for an execution that is no longer shown.
      if (!awaited()) return {};
      const copied = await copy(test);
      const text = copied
        ? "Copied. The test stands below."
        : "The test stands below; the browser did not let it be copied.";
      return { test, message: { text, bad: false } };
    });
  }

  makeHeadline(): void {
    const { changes } = this.store.get();
    void this.ask("Making it the example of the headline", async ({ kernel, request }) => {
      await kernel.headline({ ...request, changes });
      return {};
    });
  }

  debug(): void {
    const { changes } = this.store.get();
    const action = async ({ kernel, request }: ReplayRequest) => {
      const { old, new: renewed } = await kernel.debug({ ...request, changes });
      return { message: { text: `Debugged. Old: ${old}. New: ${renewed}.`, bad: false } };
    };
    // A version that stands at a breakpoint waits for the person.
    void this.ask(words.DEBUGGING, action, this.store.get().base, true);
  }

  pin(): void {
    const { pair, execution, detail, base, changes, pinned } = this.store.get();
    const of = this.pair;
    if (!detail || !of) return;
    const values = words.byWeight(detail.values).map(({ path, value }) => ({ path, value }));
    const example = {
      pair,
      name: of.name,
      execution,
      handle: base,
      changes: Object.fromEntries(changes),
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
    this.store.set({ tab: "shown" });
    const { execution, handle } = example;
    const changes = new Map(Object.entries(example.changes));
    if (handle === null && changes.size === 0) {
      if (execution !== null) this.choose(execution);
      return;
    }
    if (execution !== null) this.asItWas(execution);
    void this.run("Running the pinned example", changes, "", { base: handle });
  }

  /** Examples that were pinned elsewhere. */
  takePinned(pinned: Pinned[]): void {
    this.store.set({ pinned });
  }

  /** Later answers change nothing any more. */
  close(): void {
    this.turn += 1;
  }

  private setPinned(pinned: Pinned[]): void {
    this.store.set({ pinned });
    this.host.savePinned?.(pinned);
  }

  /** The values that were typed and not run, without those that no longer have a field. */
  private unrun(ran: Changes, detail: Detail): Changes {
    const paths = (of: Detail | null) => new Set(of?.values.map((one) => one.path));
    const [before, now] = [paths(this.store.get().detail), paths(detail)];
    // What was never injected is an attribute that a person adds.
    const stays = (path: string) => now.has(path) || !before.has(path);
    return new Map([...this.store.get().edits].filter(([path, literal]) => ran.get(path) !== literal && stays(path)));
  }

  private run(
    busy: string,
    changes: Changes,
    done: string,
    { base = this.store.get().base, ran = NONE }: { base?: number | null; ran?: Changes } = {},
  ): Promise<void> {
    const action = async ({ kernel, request }: ReplayRequest): Promise<Partial<Choices>> => {
      const detail = await kernel.replay({ ...request, changes });
      if (request.handle === null && changes.size === 0) {
        this.details.set(`${request.pair}:${request.execution}`, detail);
      }
      const message = done ? { text: done, bad: false } : null;
      return { detail, base, changes, edits: this.unrun(ran, detail), message };
    };
    return this.ask(busy, action, base);
  }

  private async ask(
    busy: string,
    action: (request: ReplayRequest) => Promise<Partial<Choices>>,
    handle = this.store.get().base,
    awaitsPerson = false,
  ): Promise<void> {
    const { kernel } = this.host;
    const { pair, execution } = this.store.get();
    if (!kernel) return this.store.set({ message: { text: words.NO_KERNEL, bad: true } });
    if (execution === null) return;
    this.turn += 1;
    const turn = this.turn;
    const awaited = () => turn === this.turn;
    this.store.set({ busy, message: null, test: null });
    while (this.flight) {
      await this.flight;
      if (!awaited()) return;
    }
    let land = () => {};
    const flight = new Promise<void>((resolve) => (land = resolve));
    this.flight = flight;
    const landed = () => {
      if (this.flight === flight) this.flight = null;
      land();
    };
    const late = setTimeout(() => {
      // An answer that may never come does not delay later requests.
      landed();
      if (!awaited() || awaitsPerson) return;
      const text = "The kernel has not answered yet. It may be busy; if it was restarted, run the cell again.";
      this.store.set({ message: { text, bad: true } });
    }, PATIENCE);
    let changed: Partial<Choices>;
    try {
      changed = await action({ kernel, request: { pair, execution, handle }, awaited });
    } catch (error) {
      changed = { message: { text: error instanceof Error ? error.message : String(error), bad: true } };
    }
    clearTimeout(late);
    landed();
    if (awaited()) this.store.set({ ...changed, busy: null });
  }
}
