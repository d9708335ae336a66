// What the view adds to the state that the kernel sends: what a person chose, and what is known of a comparison that
// runs. The state itself is in `state.ts`.

import type * as state from "./state";

export type * from "./state";

/** 0 is old, 1 is new. */
export type VersionNumber = state.DetailValue["version"];

/** One execution in full. */
export interface Detail extends state.Detail {
  /** What the kernel knows it by, so that it can be worked on further; none of what came with the comparison. */
  handle?: number | null;
}

/**
 * Values that a person put in place of injected ones, by access path, as Python literals. A map, since a path may be
 * `constructor`, which every plain object has.
 */
export type Changes = ReadonlyMap<string, string>;

/** An example that a person pinned. */
export interface Pinned {
  pair: number;
  name: string;
  execution: number | null;
  /** The detail that `changes` change; null for the execution as it was. */
  handle: number | null;
  changes: Record<string, string>;
  values: { path: string; value: string }[];
  old: string;
  new: string;
}

/** How far a study is that still runs. */
export interface StudyProgress {
  done: number;
  /** Null if nobody knows. */
  total: number | null;
  /** How much is done, how fast, and how long the rest takes. */
  text: string;
}

/** How far a comparison is that still runs. */
export interface Progress {
  pair: number;
  pairs: number;
  executions: number;
  budget: number;
  coverage: number;
}
