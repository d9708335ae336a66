// Requests to the kernel and their answers, matched by number. A page without a kernel has none.

import type { Changes, ComparisonState, Detail } from "./types";

/** The carrier of messages: anywidget's model, or a stand-in in a test. */
export interface Transport {
  send(message: unknown): void;
  /** Returns a function that ends the listening. */
  listen(listener: (message: unknown) => void): () => void;
}

export interface Request {
  pair: number;
  execution: number;
  /** The handle of an earlier detail: its values are the start, and `changes` change them. */
  handle: number | null;
  changes: Changes;
}

/** The form of a test that passes before the change, or the one that passes after it. */
export type FormName = "old" | "new";

type Action = "replay" | "shrink" | "reproducer" | "headline" | "debug";

interface Answer {
  id: number;
  ok: boolean;
  detail?: Detail;
  source?: string;
  state?: ComparisonState;
  packed?: string;
  outcomes?: { old: string; new: string };
  file?: string;
  error?: string;
}

interface Pending {
  resolve(answer: Answer): void;
  reject(reason: Error): void;
}

// Starts high, so that an answer to a page before its reload does not match.
let lastId = Date.now();

export class Kernel {
  private readonly pending = new Map<number, Pending>();
  private readonly unlisten: () => void;

  constructor(private readonly transport: Transport) {
    this.unlisten = transport.listen((message) => this.receive(message));
  }

  /** Runs an execution again, with other values where `changes` has some. */
  async replay(request: Request): Promise<Detail> {
    return detailOf(await this.askOf("replay", request));
  }

  /** Looks for smaller values that still show the difference. */
  async shrink(request: Request): Promise<Detail> {
    return detailOf(await this.askOf("shrink", request));
  }

  /** The execution as a pytest file. */
  async reproducer(request: Request): Promise<string> {
    const answer = await this.askOf("reproducer", request);
    if (typeof answer.source !== "string") throw new Error("The kernel answered without a test.");
    return answer.source;
  }

  /** Makes the execution the example of its pair. The comparison that shows it comes as a new state. */
  async headline(request: Request): Promise<void> {
    await this.askOf("headline", request);
  }

  /** Runs both versions in the debugger, in the kernel: what each of them did, once they went on to their ends. */
  async debug(request: Request): Promise<{ old: string; new: string }> {
    const { outcomes } = await this.askOf("debug", request);
    if (!outcomes) throw new Error("The kernel answered without outcomes.");
    return outcomes;
  }

  /** The comparison that was kept of a change of a study, counted from 0, packed. */
  async kept(row: number): Promise<string> {
    const { packed } = await this.ask({ do: "kept", row });
    if (typeof packed !== "string") throw new Error("The kernel answered without a comparison.");
    return packed;
  }

  /** The comparison of one change of a study, counted from 0. Later requests about executions refer to it. */
  async open(row: number): Promise<ComparisonState> {
    const { state } = await this.ask({ do: "open", row });
    if (!state) throw new Error("The kernel answered without a comparison.");
    return state;
  }

  /** Runs an amplified test once more: its outcomes before and after the change. */
  async runTest(test: number, form: FormName): Promise<{ old: string; new: string }> {
    const { outcomes } = await this.ask({ do: "run_test", test, form });
    if (!outcomes) throw new Error("The kernel answered without outcomes.");
    return outcomes;
  }

  /** Adds an amplified test to its file in the user's repository: the path of the file. */
  async writeTest(test: number, form: FormName): Promise<string> {
    const { file } = await this.ask({ do: "write_test", test, form });
    if (typeof file !== "string") throw new Error("The kernel answered without a file.");
    return file;
  }

  /** Ends a running campaign; what it found so far is kept. */
  stop(): void {
    this.transport.send({ do: "stop" });
  }

  close(): void {
    this.unlisten();
    for (const { reject } of this.pending.values()) reject(new Error("The view was closed."));
    this.pending.clear();
  }

  private askOf(action: Action, { pair, execution, handle, changes }: Request): Promise<Answer> {
    const from = handle === null ? {} : { handle };
    // Each path becomes an own property of the object, whatever its name.
    return this.ask({ do: action, pair, execution, ...from, changes: Object.fromEntries(changes) });
  }

  private ask(question: object): Promise<Answer> {
    lastId += 1;
    const id = lastId;
    return new Promise((resolve, reject) => {
      this.pending.set(id, { resolve, reject });
      try {
        this.transport.send({ id, ...question });
      } catch {
        this.pending.delete(id);
        reject(new Error("The kernel cannot be reached. Run the cell again."));
      }
    });
  }

  private receive(message: unknown): void {
    if (!isAnswer(message)) return;
    const pending = this.pending.get(message.id);
    if (!pending) return;
    this.pending.delete(message.id);
    if (message.ok) pending.resolve(message);
    else pending.reject(new Error(message.error || "The kernel could not do it and did not say why."));
  }
}

function isAnswer(message: unknown): message is Answer {
  return typeof message === "object" && message !== null && "id" in message && "ok" in message;
}

function detailOf(answer: Answer): Detail {
  if (!answer.detail) throw new Error("The kernel answered without an execution.");
  return answer.detail;
}
