import { expect, test } from "vitest";
import { chainOf, ImpactView, innermost } from "../src/views/impact";
import { impact } from "./make";

function shown(view: ImpactView): HTMLElement {
  document.body.replaceChildren(view.element);
  return view.element;
}

const texts = (elements: Iterable<Element>) => [...elements].map((element) => element.textContent);
const press = (element: Element | null | undefined) => (element as HTMLElement).click();

test("a chain begins with the change", () => {
  const state = impact();
  const last = state.reached[1]!.statements[0]!;
  expect(chainOf(state, last).map((link) => link.place)).toEqual(["tax.py:2", "tax.py:3", "shop.py:2"]);
  expect(chainOf(state, { ...last, link: null })).toEqual([]);
});

test("a line belongs to the innermost statement that has it", () => {
  const file = impact().reached[0]!;
  const one = (lines: [number, number]) => ({ ...file.statements[0]!, lines });
  const nested = { ...file, statements: [one([1, 9]), one([3, 4]), one([12, 12])] };
  expect([0, 2, 3, 5, 10, 12].map((line) => innermost(nested, line))).toEqual([null, 0, 1, 0, null, 2]);
});

test("a chosen line tells its chain, and choosing it again takes it away", () => {
  const root = shown(new ImpactView(impact()));
  const opener = root.querySelector("button.tcw-imp-mark");
  press(opener);
  expect(texts(root.querySelectorAll(".tcw-imp-chain li"))).toEqual([
    "tax.py:2 changed: base = 25",
    "tax.py:3 uses the variable base: return base",
  ]);
  expect(root.querySelectorAll(".tcw-imp-on").length).toBe(2);
  expect(root.querySelectorAll(".tcw-imp-arcs circle").length).toBe(2);
  press(opener);
  expect(root.querySelector(".tcw-imp-chain")).toBeNull();
  expect(root.querySelector(".tcw-imp-on")).toBeNull();
});

test("a link leads to the file in which it stands", () => {
  const root = shown(new ImpactView(impact()));
  press(root.querySelectorAll("summary")[1]);
  expect(root.querySelector(".tcw-imp-source h3")?.textContent).toBe("shop.py");
  press(root.querySelector("button.tcw-imp-mark"));
  press([...root.querySelectorAll(".tcw-imp-chain button")].find((one) => one.textContent === "tax.py:2"));
  expect(root.querySelector(".tcw-imp-source h3")?.textContent).toBe("tax.py");
});

test("nothing of a project becomes markup", () => {
  const hostile = "</div><script>window.hacked = 1</script>\u202e";
  const state = impact();
  state.sentence = hostile;
  state.reached[0]!.path = hostile;
  state.reached[0]!.lines[1]!.text = hostile;
  state.links[0]!.code = hostile;
  const root = shown(new ImpactView(state));
  press(root.querySelector("button.tcw-imp-mark"));
  expect(root.querySelector("script")).toBeNull();
  expect(root.textContent).not.toContain("\u202e");
});

test("a change without impact has no source to show", () => {
  const root = shown(new ImpactView(impact({ reached: [], links: [] })));
  expect(root.querySelector(".tcw-imp-body")).toBeNull();
});
