// What a person chose once, for all views of this browser. Where nothing can be stored, it holds for the page.

const PREFIX = "twincell.";
const here = new Map<string, string>();

export function remembered<T extends string>(name: string, allowed: readonly T[], otherwise: T): T {
  let stored = here.get(name) ?? null;
  try {
    stored ??= localStorage.getItem(PREFIX + name);
  } catch {
    // A page without an origin of its own stores nothing.
  }
  return allowed.find((one) => one === stored) ?? otherwise;
}

export function remember(name: string, value: string): void {
  here.set(name, value);
  try {
    localStorage.setItem(PREFIX + name, value);
  } catch {
    // As above.
  }
}
