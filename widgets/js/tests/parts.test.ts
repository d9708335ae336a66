import { bins, complexityPlot } from "../src/plots/complexity";
import type { StudyRow } from "../src/types";
import { afterEach, expect, test, vi } from "vitest";
import { studyPlots } from "../src/plots/study";
import { timePlot } from "../src/plots/time";
import { fillings } from "../src/plots/fillings";
import { Session } from "../src/session";
import { enable, button, source } from "../src/parts";
import { pinsView } from "../src/views/pins";
import { testView } from "../src/views/test";
import { change, comparison, pair } from "./make";

afterEach(() => vi.restoreAllMocks());

const shown = (session: Session, of = pair()) => ({ session, pair: of, signal: new AbortController().signal });
const host = (savePinned: (() => void) | null) => new Session(comparison(), { kernel: null, pinned: [], savePinned });

test("a test is taken along as it is, whatever of it is seen", async () => {
  const writeText = vi.fn(async (_: string) => undefined);
  vi.stubGlobal("navigator", { clipboard: { writeText } });
  const text = `x = '${"a".repeat(600)}\u{202e}'\n`;
  const made = source(text, "test_f.py");
  expect(made.querySelector("pre")?.textContent).toMatch(/… \(\d+ characters\)$/);
  [...made.querySelectorAll("button")].find((one) => one.textContent === "Copy")?.click();
  await vi.waitFor(() => expect(made.querySelector("[role=status]")?.textContent).toBe("Copied."));
  expect(writeText).toHaveBeenCalledWith(text);
  vi.unstubAllGlobals();
});

test("a test that does not tell old from new is not offered", () => {
  const reproducer = { source: "def test(): pass", holds: false, reason: null };
  const panel = document.createElement("div");
  testView(shown(host(null), pair({ reproducer })), panel);
  expect(panel.textContent).toMatch(/^There is none: .* does not tell old from new\.$/);
  expect(panel.querySelector("button, pre")).toBeNull();
});

test("what becomes of pinned examples is said as it is", () => {
  const said = (savePinned: (() => void) | null) => {
    const panel = document.createElement("div");
    pinsView(shown(host(savePinned)), panel);
    return panel.textContent;
  };
  expect(said(() => undefined)).toMatch(/with the notebook where the state of its widgets is saved\.$/);
  expect(said(null)).toMatch(/as long as this is open\.$/);
});

test("changes that executed nothing are none of those whose coverage is drawn", () => {
  const ran = change("a", "changing", null);
  const idle = { ...change("b", "inconclusive", null), executions: 0, coverage: 0 };
  const half = { ...change("c", "changing", null), coverage: 0.5 };
  const [executions, coverage] = studyPlots([ran, half, idle]).figures;
  expect(executions?.numbers).toHaveLength(3);
  expect(coverage?.numbers.map((row) => row.change)).toEqual(["a", "c"]);
  expect(studyPlots([idle]).figures).toEqual([]);
});

test("what would be a single bar is a sentence", () => {
  const rows = ["a", "b"].map((id) => ({ ...change(id, "likely_preserving", null), executions: 300, complexity: 2 }));
  const { figures, sentences } = studyPlots(rows);
  expect(figures).toEqual([]);
  expect(sentences.join(" ")).toBe(
    "All 2 changes took 300 executions until the verdict. All 2 changes that ran cover 100\u{a0}% of their lines.",
  );
  expect(studyPlots([])).toEqual({ figures: [], sentences: [] });
});

test("verdicts are drawn by kind, project and time where changes differ in these", () => {
  const of = (more: Partial<StudyRow>) => ({ ...change("a", "changing", null), ...more });
  const titles = (rows: StudyRow[]) => studyPlots(rows).figures.map((one) => one.title);
  expect(titles([of({ project: "a", kind: "loop" }), of({ project: "a", kind: null, date: "2026-01-01" })])).toEqual(
    [],
  );
  const rows = [
    of({ project: "a", kind: "loop", date: "2025-11-02T10:00:00Z" }),
    of({ project: "b", kind: "result", date: "2026-02-01", verdict: "identical" }),
    of({ project: "b", kind: "result", date: "yesterday" }),
  ];
  expect(titles(rows)).toEqual(["Verdicts by kind of change", "Verdicts by project", "Verdicts over time"]);
  const [kinds, , time] = studyPlots(rows).figures;
  expect(kinds?.numbers[0]).toMatchObject({ group: "result", changing: 1, identical: 1 });
  expect(time?.numbers.map((row) => row["month"])).toEqual(["2025-11", "2025-12", "2026-01", "2026-02"]);
});

const dated = (...dates: string[]) => dates.map((date) => ({ ...change(date, "changing", null), date }));

test("years that are too many are said in a sentence, and nobody counts their days", () => {
  const { figures, sentences } = studyPlots(dated("0001-01-01", "9999-12-31"));
  expect(figures.map((one) => one.title)).not.toContain("Verdicts over time");
  expect(sentences).toContain("The commits lie more than 40 years apart.");
});

test("periods are days, months or years, with those between, and few of them have a label", () => {
  const time = (...dates: string[]) => {
    const figure = studyPlots(dated(...dates)).figures.find((one) => one.file === "study_time");
    return { periods: figure?.numbers.map((row) => Object.values(row)[0]), ticks: figure?.options.x?.ticks };
  };
  expect(time("2026-02-28", "2026-03-01").periods).toEqual(["2026-02-28", "2026-03-01"]);
  const days = time("2026-01-01", "2026-02-10");
  expect([days.periods?.length, days.ticks]).toEqual([41, [0.5, 14.5, 28.5]]);
  const months = time("2024-11-30", "2026-02-01");
  expect([months.periods?.[0], months.periods?.at(-1), months.periods?.length]).toEqual(["2024-11", "2026-02", 16]);
  expect(months.ticks).toEqual([0.5, 4.5, 8.5, 12.5]);
  const years = time("0086-05-01", "0126-05-01");
  expect([years.periods?.[0], years.periods?.length]).toEqual(["0086", 41]);
});

test("a study may have more changes than a call has arguments", () => {
  const [one, other] = dated("2025-01-01", "2026-01-01").map((row, index) => ({ ...row, complexity: index + 1 }));
  const rows = Array.from({ length: 150_000 }, (_, index) => (index % 2 ? one : other) as StudyRow);
  expect(complexityPlot(rows)?.options.x?.domain).toEqual([0.5, 2.5]);
  expect(timePlot(rows)).toMatchObject({ numbers: { length: 13 } });
});

test("of many groups the largest are drawn, and the others together", () => {
  const rows = Array.from({ length: 60 }, (_, index) => ({
    ...change(String(index), "changing", null),
    project: `p${index % 20}`,
  }));
  const [projects] = studyPlots(rows).figures;
  expect(projects?.numbers).toHaveLength(10);
  expect(projects?.numbers.at(-1)).toMatchObject({ group: "others", changing: 33 });
  expect(projects?.description).toMatch(/^60 changes in 20 groups; p0 has the largest share of changing/);
});

test("medians of complexity are those of ranges with enough changes", () => {
  const points = Array.from({ length: 12 }, (_, index) => ({ complexity: index < 10 ? 1 : 40, reach: index * 10 }));
  expect(bins(points, 40)).toEqual([{ from: 0.5, to: 5.5, reach: 50 }]);
});

test("the first difference and complexity are drawn of the changes that have them", () => {
  const rows = [1, 1, 4].map((complexity, index) => ({
    ...change(String(index), "changing", null),
    complexity,
    coverage: complexity / 4,
    executions: complexity,
    first_difference: index === 0 ? null : index,
  }));
  const { figures } = studyPlots([...rows, change("older", "identical", null)]);
  expect(figures.map((one) => one.file)).toEqual([
    "study_executions",
    "study_first_difference",
    "study_coverage",
    "study_complexity",
  ]);
  expect(figures[1]?.numbers.map((row) => row.change)).toEqual(["1", "2"]);
  expect(figures[3]?.description).toMatch(/^3 changes; half of them have a complexity of 1 or less/);
});

test("each verdict fills its bars in its own way", () => {
  const { fill, definitions } = fillings();
  const verdicts = ["changing", "likely_preserving", "inconclusive", "identical"] as const;
  const found = verdicts.map(fill);
  expect(new Set(found).size).toBe(4);
  const known = [...definitions().querySelectorAll("pattern")].map((one) => `url(#${one.id})`);
  expect(found.filter((one) => one.startsWith("url("))).toEqual(known);
});

test("a button that is off does nothing and keeps the focus", () => {
  const action = vi.fn();
  const made = button("›", action, { label: "Next" });
  document.body.append(made);
  made.focus();
  enable(made, false);
  made.click();
  expect(action).not.toHaveBeenCalled();
  expect(document.activeElement).toBe(made);
});
