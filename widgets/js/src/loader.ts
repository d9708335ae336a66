// The code that a notebook gets with every view: a few lines that find the widget itself. It is large, so it comes once
// for all views of a page: with the first one, and for the others from the kernel where the page does not have it any
// more.

import type * as Widget from "./index";

type Rendered = Parameters<typeof Widget.default.render>[0];

interface Model {
  get(name: string): unknown;
  send(message: unknown): void;
  on(name: string, listener: (value: never) => void): void;
  off(name: string, listener: (value: never) => void): void;
}

/** The state that the views of a page share. */
interface Place {
  module: Promise<typeof Widget>;
  /** Set once the widget is there. */
  provided: boolean;
  provide(text: string): void;
}

/** The hash of the widget's sources, written in by the build: pages with kernels of two versions keep both. */
declare const SOURCES: string;

const KEY = Symbol.for(`twincell-widget:${SOURCES}`);
const places = globalThis as unknown as Record<symbol, Place | undefined>;

function emptyPlace(): Place {
  let settle: (module: Promise<typeof Widget>) => void;
  const place: Place = {
    module: new Promise((resolve) => (settle = resolve)),
    provided: false,
    provide(text) {
      if (place.provided) return;
      place.provided = true;
      const url = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
      const module: Promise<typeof Widget> = import(url);
      // If it could not be read, the next view asks for it again.
      module.catch(() => delete places[KEY]).finally(() => URL.revokeObjectURL(url));
      settle(module);
    },
  };
  return place;
}

async function render(context: Rendered): Promise<() => void> {
  const model: Model = context.model;
  const { el } = context;
  const found = (places[KEY] ??= emptyPlace());
  const carried = model.get("module");
  if (typeof carried === "string" && carried !== "") found.provide(carried);
  const heard = (message: unknown) => {
    const text = (message as { module?: unknown } | null)?.module;
    if (typeof text === "string") found.provide(text);
  };
  let widget: typeof Widget;
  try {
    if (!found.provided) {
      el.textContent = "Waiting for the kernel…";
      model.on("msg:custom", heard);
      model.send({ do: "module" });
    }
    widget = await found.module;
  } finally {
    // If it is not available, the text beside the view remains.
    el.textContent = "";
    model.off("msg:custom", heard);
  }
  return context.signal?.aborted ? () => undefined : widget.default.render(context);
}

export default { render };
