import { expect, test } from "vitest";
import { levelsPlot } from "../src/plots/levels";
import { chainOf, ImpactView, innermost, stateAt } from "../src/views/impact";
import { impact, prunedImpact } from "./make";

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

function slide(root: HTMLElement, level: number): void {
  const slider = root.querySelector<HTMLInputElement>("input[type=range]")!;
  slider.value = String(level);
  slider.dispatchEvent(new Event("input"));
}

test("a statement is impacted until the level that pruned it", () => {
  const [kept, pruned] = prunedImpact().reached.map((file) => file.statements.at(-1)!);
  expect([0, 1].map((level) => stateAt(kept!, level))).toEqual(["impacted", "impacted"]);
  expect([0, 1].map((level) => stateAt(pruned!, level))).toEqual(["impacted", "pruned"]);
  expect(stateAt({ ...pruned!, changed: true }, 1)).toBe("changed");
});

test("the slider shows the heat, the marks and the counts of a level", () => {
  const root = shown(new ImpactView(prunedImpact()));
  press(root.querySelectorAll(".tcw-imp-tree summary")[1]);
  const row = () => root.querySelectorAll(".tcw-imp-line")[1]!;
  const counts = () => root.querySelectorAll(".tcw-imp-tree summary .tcw-imp-counts")[1]?.textContent;
  expect([row().classList.contains("tcw-imp-p"), row().querySelector("button")?.textContent]).toEqual([true, "="]);
  expect(counts()).toBe(" +0 ~0 of 2");
  expect(root.querySelector(".tcw-imp-tree p")?.textContent).toBe("1 of 5 files");
  slide(root, 0);
  expect([row().classList.contains("tcw-imp-h4"), row().querySelector("button")?.textContent]).toEqual([true, "~"]);
  expect(counts()).toBe(" +0 ~1 of 2");
  expect(root.querySelector(".tcw-imp-tree p")?.textContent).toBe("2 of 5 files");
  expect(root.querySelector(".tcw-imp-choice output")?.textContent).toBe("DCIA: 2 statements may see other values");
});

test("a pruned line tells what pruned it, and which link no longer holds", () => {
  const root = shown(new ImpactView(prunedImpact()));
  press(root.querySelectorAll(".tcw-imp-tree summary")[1]);
  press(root.querySelector("button.tcw-imp-mark"));
  expect(root.querySelector(".tcw-imp-told h3")?.textContent).toBe("What pruned line 2");
  expect(root.querySelector(".tcw-imp-because")?.textContent).toContain("k=0 pruned it");
  expect(texts(root.querySelectorAll(".tcw-imp-cut"))).toEqual([
    "tax.py:3 uses the variable base: return base (ruled out)",
  ]);
  slide(root, 0);
  expect(root.querySelector(".tcw-imp-told h3")?.textContent).toBe("Why line 2 may see other values");
  expect(root.querySelector(".tcw-imp-cut")).toBeNull();
});

test("levels that prune nothing have neither slider nor chart", () => {
  const root = shown(new ImpactView(impact()));
  expect(root.querySelector(".tcw-imp-levels")).toBeNull();
  expect(shown(new ImpactView(prunedImpact())).querySelector(".tcw-imp-levels figure")).not.toBeNull();
});

test("the chart has the levels that were measured", () => {
  const { levels } = prunedImpact();
  expect(levelsPlot(levels)?.numbers.map((row) => [row.level, row.impacted, row.milliseconds])).toEqual([
    ["DCIA", 2, 40],
    ["k=0", 1, 95],
  ]);
  expect(levelsPlot(levels.map((one) => ({ ...one, milliseconds: null })))).toBeNull();
});
