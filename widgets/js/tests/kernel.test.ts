import { expect, test } from "vitest";
import { Kernel } from "../src/kernel";
import { detail } from "./make";

function transport() {
  let heard: (message: unknown) => void = () => undefined;
  const sent: { id: number; do: string }[] = [];
  return {
    sent,
    answer: (message: unknown) => heard(message),
    carry: {
      send: (message: unknown) => void sent.push(message as never),
      listen: (listener: (message: unknown) => void) => ((heard = listener), () => undefined),
    },
  };
}

const request = { pair: 0, execution: 3, handle: null, changes: new Map([["x", "1"]]) };

test("a request carries what the contract says, and its answer comes back to it", async () => {
  const { sent, answer, carry } = transport();
  const kernel = new Kernel(carry);
  const first = kernel.replay(request);
  const second = kernel.reproducer(request);
  const { id, ...rest } = sent[0] ?? { id: 0 };
  expect(typeof id).toBe("number");
  expect(rest).toEqual({ do: "replay", pair: 0, execution: 3, changes: { x: "1" } });
  expect(sent[1]).toMatchObject({ do: "reproducer", changes: { x: "1" } });
  expect(sent[0]?.id).not.toBe(sent[1]?.id);
  answer({ id: sent[1]?.id, ok: true, source: "def test(): pass" });
  answer({ id: sent[0]?.id, ok: true, detail: detail(3) });
  expect((await first).execution).toBe(3);
  expect(await second).toBe("def test(): pass");
});

test("a request goes on from a detail that the kernel keeps", () => {
  const { sent, carry } = transport();
  void new Kernel(carry).replay({ ...request, handle: 0, changes: new Map() });
  expect(sent[0]).toMatchObject({ do: "replay", handle: 0, changes: {} });
});

test("paths that every object has arrive like others", () => {
  const { sent, carry } = transport();
  void new Kernel(carry).replay({
    ...request,
    changes: new Map([
      ["__proto__", "1"],
      ["constructor", "2"],
    ]),
  });
  expect(JSON.stringify(sent[0])).toContain('"changes":{"__proto__":"1","constructor":"2"}');
});

test("a refusal is an error with the kernel's sentence", async () => {
  const { sent, answer, carry } = transport();
  const asked = new Kernel(carry).shrink(request);
  answer({ id: sent[0]?.id, ok: false, error: "There is no difference to shrink." });
  await expect(asked).rejects.toThrow("There is no difference to shrink.");
});

test("answers to others and other messages are left alone", async () => {
  const { sent, answer, carry } = transport();
  const asked = new Kernel(carry).replay(request);
  for (const message of [null, "text", {}, { id: -1, ok: true }]) answer(message);
  answer({ id: sent[0]?.id, ok: true });
  await expect(asked).rejects.toThrow("without an execution");
});

test("a kernel that cannot be reached says so", async () => {
  const broken = new Kernel({
    send: () => {
      throw new Error("gone");
    },
    listen: () => () => undefined,
  });
  await expect(broken.replay(request)).rejects.toThrow("cannot be reached");
});

test("stop has no number, and closing ends what is open", async () => {
  const { sent, carry } = transport();
  const kernel = new Kernel(carry);
  kernel.stop();
  expect(sent).toEqual([{ do: "stop" }]);
  const asked = kernel.replay(request);
  kernel.close();
  await expect(asked).rejects.toThrow("closed");
});

test("a change of a study is opened by its row", async () => {
  const { sent, answer, carry } = transport();
  const kernel = new Kernel(carry);
  const opened = kernel.open(4);
  expect(sent[0]).toMatchObject({ do: "open", row: 4 });
  answer({ id: sent[0]?.id, ok: true, state: { format: 1, pairs: [] } });
  expect((await opened).pairs).toEqual([]);
  const failed = kernel.open(5);
  answer({ id: sent[1]?.id, ok: false, error: "its texts are not known" });
  await expect(failed).rejects.toThrow("its texts are not known");
});
