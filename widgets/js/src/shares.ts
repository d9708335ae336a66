// Expected against injected classes at an access path, as shares.

import type { ComparisonState, InjectedValue, Path } from "./types";

export interface ClassShare {
  class: string;
  predicted: number;
  injected: number;
  /** The share of injections that differed. */
  differing: number;
}

/** Both distributions over the classes, without classes that neither has. Null without a prediction. */
export function shares(state: Pick<ComparisonState, "classes">, path: Path): ClassShare[] {
  const total = path.injected.reduce((sum, one) => sum + one.count, 0);
  const names = [...new Set([...state.classes, ...path.injected.map((one) => one.class)])];
  return names
    .map((name) => {
      const of = path.injected.filter((one) => one.class === name);
      const count = of.reduce((sum, one) => sum + one.count, 0);
      const at = state.classes.indexOf(name);
      return {
        class: name,
        predicted: at < 0 ? 0 : (path.predicted[at] ?? 0),
        injected: total === 0 ? 0 : count / total,
        differing: count === 0 ? 0 : of.reduce((sum, one) => sum + one.differing, 0) / count,
      };
    })
    .filter((one) => one.injected > 0 || one.predicted >= 0.005);
}

/** Executions that did the same, of those with this value. */
export function same(value: Pick<InjectedValue, "count" | "differing" | "invalid">): number {
  return Math.max(0, value.count - value.differing - value.invalid);
}

/** Over several paths, each weighted by its injections. */
export function sharesOfAll(state: Pick<ComparisonState, "classes">, paths: Path[]): ClassShare[] {
  const weighted = paths.map((path) => ({
    found: shares(state, path),
    weight: path.injected.reduce((sum, one) => sum + one.count, 0),
  }));
  const total = weighted.reduce((sum, one) => sum + one.weight, 0);
  const byClass = new Map<string, ClassShare>();
  for (const { found, weight } of weighted) {
    const part = total === 0 ? 1 / weighted.length : weight / total;
    for (const one of found) {
      const sum = byClass.get(one.class) ?? { class: one.class, predicted: 0, injected: 0, differing: 0 };
      sum.predicted += one.predicted * part;
      sum.differing += one.differing * one.injected * part;
      sum.injected += one.injected * part;
      byClass.set(one.class, sum);
    }
  }
  const place = (one: ClassShare) => state.classes.indexOf(one.class) + 1 || 99;
  return [...byClass.values()]
    .map((one) => ({ ...one, differing: one.injected === 0 ? 0 : one.differing / one.injected }))
    .sort((a, b) => place(a) - place(b));
}
