// A page around the widget for the tests: a stand-in for anywidget's model, which answers as the kernel would, and
// clocks for the first paint and for scrolling.

import widget, { mount } from "./widget.js";

class Model {
  constructor(traits) {
    this.traits = traits;
    this.listeners = [];
    this.sent = [];
    this.saved = 0;
  }
  get(name) {
    return this.traits[name];
  }
  set(name, value) {
    this.traits[name] = value;
    this.tell(`change:${name}`, value);
  }
  save_changes() {
    this.saved += 1;
  }
  on(name, listener) {
    this.listeners.push([name, listener]);
  }
  off(name, listener) {
    this.listeners = this.listeners.filter(([other, one]) => other !== name || one !== listener);
  }
  tell(name, value) {
    for (const [other, listener] of this.listeners) if (other === name) listener(value);
  }
  send(message) {
    this.sent.push(message);
    const answer = this.answer?.(message);
    this.answered = answer;
    if (answer) setTimeout(() => this.tell("msg:custom", { id: message.id, ...answer }), 5);
  }
}

/**
 * Answers with the detail of the pair, under the number that was asked for, with the values that were changed; or with
 * one that it answered with before, where it is asked for that.
 */
function answerOf(state, comparison) {
  const kept = [];
  if (state.rows) {
    return ({ do: action, row }) => {
      if (action === "kept") return { ok: true, packed: comparison.packed };
      if (action !== "open") return null;
      if (!state.rows[row].kept) return { ok: false, error: "the texts of this change are not known." };
      return { ok: true, state: comparison.state };
    };
  }
  if (state.patches) {
    return ({ do: action, test, form }) => {
      if (action === "run_test") return { ok: true, outcomes: form === "old" ? { old: "passed", new: "failed" } : { old: "failed", new: "passed" } };
      return form === "old" ? { ok: false, error: "the file is not what it was" } : { ok: true, file: state.tests[test].file };
    };
  }
  return ({ do: action, pair, execution, handle, changes }) => {
    if (action === "stop") return null;
    if (action === "reproducer") return { ok: true, source: `def test_it():\n    assert ${JSON.stringify(changes)} is not None\n` };
    if (Object.values(changes).includes("syntax error")) return { ok: false, error: "syntax error is not a Python literal." };
    if (handle !== undefined && !kept[handle]) return { ok: false, error: "These values are not kept any more." };
    const detail = structuredClone(handle === undefined ? state.pairs[pair].shown : kept[handle]);
    const listed = state.pairs[pair].executions.find((one) => one.number === execution);
    const changed = Object.keys(changes).length > 0;
    detail.execution = changed ? null : execution;
    if (!changed && listed && handle === undefined) [detail.differs, detail.old.outcome, detail.new.outcome] = [listed.differs, listed.old, listed.new];
    for (const value of detail.values) {
      if (!Object.hasOwn(changes, value.path)) continue;
      value.value = value.literal = changes[value.path];
      value.changed = true;
    }
    if (changed) detail.old.outcome = `returns with ${Object.values(changes).join(", ")}`;
    if (action === "headline") {
      // As the kernel does it: the new state comes before the answer.
      Object.assign(detail, { execution });
      const pairs = state.pairs.map((one, index) => (index === pair ? { ...one, shown: detail, role: "Inputs that you chose" } : one));
      window.model.set("state", { ...state, sentence: `for ${Object.values(changes).join(", ")}`, pairs });
      return { ok: true };
    }
    if (action === "shrink") Object.assign(detail.values[0], { value: "<object>", literal: null });
    detail.handle = kept.push(detail) - 1;
    return { ok: true, detail };
  };
}

const here = document.getElementById("here");
let close = () => {};

/**
 * Shows a state with a kernel behind it, or without; milliseconds until it is painted. `comparison` is the one that a study
 * kept of its changes, as it is and packed.
 */
window.show = async (state, live, comparison) => {
  close();
  here.replaceChildren();
  window.model = null;
  const start = performance.now();
  if (live) {
    const model = new Model({ kind: "comparison", state, progress: null, pinned: [] });
    model.answer = state && answerOf(state, comparison);
    window.model = model;
    close = widget.render({ model, el: here });
  } else {
    close = mount(here, state, async () => comparison.packed);
  }
  await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  return performance.now() - start;
};

/** Takes away what is shown; how many listeners the model has left. */
window.takeAway = () => {
  close();
  return window.model.listeners.length;
};

/** From now on the kernel answers when it is told to: the answers to what was asked meanwhile, the first one first. */
window.holdAnswers = () => {
  const { model } = window;
  const answer = model.answer;
  const held = [];
  model.answer = (message) => void held.push(message);
  window.letOneGo = () => {
    const message = held.shift();
    model.tell("msg:custom", { id: message.id, ...answer(message) });
  };
};

/** Shows progress first, then the state. */
window.showProgress = async (progress) => {
  await window.show(null, true);
  window.model.set("progress", progress);
};

/** Scrolls a table from top to bottom; frames a second, and the longest frame. */
window.scrollThrough = async (selector, frames) => {
  const element = document.querySelector(selector);
  const length = element.scrollHeight - element.clientHeight;
  const times = [];
  for (let index = 0; index <= frames; index += 1) {
    element.scrollTop = (length * index) / frames;
    times.push(await new Promise(requestAnimationFrame));
  }
  const each = times.slice(1).map((time, index) => time - times[index]);
  return { fps: (1000 * each.length) / (times.at(-1) - times[0]), longest: Math.max(...each) };
};

window.ready = true;
