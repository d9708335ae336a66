// Small states to test with.

import { STATE_FORMAT } from "../src/state";
import type {
  ComparisonState,
  Detail,
  Execution,
  ImpactState,
  ImpactStatementState,
  Line,
  PairState,
  PrefixesState,
  PrefixNode,
  SliceState,
  SliceUnitState,
  StudyRow,
  Version,
  VersionRun,
} from "../src/types";

export function line(number: number, text: string, changed = false): Line {
  return { number, text, changed, executable: true, executions: 1, hits: 0 };
}

export function version(texts: string[], changed: number[] = []): Version {
  const lines = texts.map((text, index) => line(index + 1, text, changed.includes(index)));
  return {
    qualname: "f",
    lines,
    coverage: 1,
    changed_lines: changed.length,
    changed_lines_reached: changed.length,
    first_line: 1,
    parts: [],
    branches: [],
  };
}

export function execution(number: number, more: Partial<Execution> = {}): Execution {
  return {
    number,
    old: "returns 1",
    new: "returns 1",
    old_valid: true,
    new_valid: true,
    differs: false,
    examined: true,
    new_lines: 0,
    coverage_so_far: 1,
    microseconds: 10,
    example: null,
    lines: 0,
    ...more,
  };
}

export function versionRun(outcome: string): VersionRun {
  return { outcome, valid: true, stdout: "", stderr: "", log: [], hits: [[1, 1]] };
}

export function detail(execution: number | null, more: Partial<Detail> = {}): Detail {
  const value = {
    path: "x",
    value: "0",
    class: "int",
    probability: 0.5,
    version: 0 as const,
    line: 1,
    decisive: true,
    literal: "0",
    is_object: false,
    changed: false,
  };
  return {
    execution,
    differs: true,
    valid: true,
    evidence: [],
    old: versionRun("returns 1"),
    new: versionRun("returns 2"),
    final_values: [],
    values: [value],
    calls: [],
    parting: null,
    ...more,
  };
}

export function pair(more: Partial<PairState> = {}): PairState {
  return {
    name: "f",
    verdict: "changing",
    mark: ["≠", "changing"],
    rank: 0,
    sentence: "Behavior changed.",
    reason: null,
    facts: [["Executions", "2 of at most 300"]],
    notes: [],
    decided_by: [],
    accepted: null,
    executed: 2,
    old: version(["def f():", "    return 1"]),
    new: version(["def f():", "    return 2"]),
    rows: [
      { old: 0, new: 0 },
      { old: 1, new: 1 },
    ],
    executions: [execution(1, { differs: true }), execution(2)],
    line_sets: [
      [
        [1, 2],
        [1, 2],
      ],
    ],
    paths: [],
    evidence: [],
    varied: [],
    varied_together: null,
    input_weights: [],
    shown: detail(0),
    role: "Inputs that show it",
    reproducer: null,
    ...more,
  };
}

export function comparison(pairs: PairState[] = [pair()]): ComparisonState {
  return {
    format: STATE_FORMAT,
    twincell: "0",
    verdict: "changing",
    sentence: "Behavior changed.",
    without_sandbox: null,
    predictor: "uniform",
    seed: "18446744073709551615",
    budget: 300,
    milliseconds: 1,
    added: [],
    removed: [],
    pairs,
    classes: ["none", "int"],
  };
}

export function change(id: string, verdict: StudyRow["verdict"], label: StudyRow["label"]): StudyRow {
  return {
    id,
    project: null,
    commit: null,
    file: null,
    function: null,
    date: null,
    kind: null,
    verdict,
    label,
    reason: "because",
    executions: 1,
    coverage: 1,
    first_difference: null,
    complexity: null,
    milliseconds: 1,
    evidence: [],
    reproducer: null,
    kept: false,
  };
}

export function node(number: number, more: Partial<PrefixNode> = {}): PrefixNode {
  return {
    number,
    parent: null,
    depth: 0,
    step: 1,
    from: "from what the code leaves undefined",
    text: "x = 1\n",
    completed: [1],
    coverage: 1,
    ended: null,
    ended_at: null,
    makes: [],
    best: false,
    chosen: false,
    test: null,
    ...more,
  };
}

export function prefixes(more: Partial<PrefixesState> = {}): PrefixesState {
  return {
    format: STATE_FORMAT,
    sentence: "1 of 1 line run, with 1 prefix of 1 tried",
    whole: true,
    undefined: ["x"],
    facts: [],
    code: [{ number: 1, text: "print(x)", statement: true }],
    statements: 1,
    nodes: [node(0, { best: true, chosen: true })],
    more: 0,
    kept: [0],
    around: ["", "print(x)\n"],
    before_cell: "",
    test_beginning: "",
    ...more,
  };
}

export function sliceUnit(subject: string, more: Partial<SliceUnitState> = {}): SliceUnitState {
  return {
    commit: "0123456789abcdef0123456789abcdef01234567",
    subject,
    part: null,
    paths: ["shop.py"],
    more_paths: 0,
    score: 0,
    stays: false,
    why: "tests_pass",
    reason: "it goes: the tests pass without it (run 2)",
    by: [],
    step: 1,
    failed: [],
    failed_count: 0,
    diff: "diff --git a/shop.py b/shop.py\n--- a/shop.py\n+++ b/shop.py\n@@ -1,2 +1,2 @@ def f():\n x = 1\n-y = 2\n+y = 3\n",
    diff_lacks: null,
    ...more,
  };
}

export function slice(units: SliceUnitState[], more: Partial<SliceState> = {}): SliceState {
  return {
    format: STATE_FORMAT,
    range: "v1..v2",
    base: "0".repeat(40),
    goal: "pass",
    outcomes: ["tests pass", "tests fail"],
    sentence: "1 of 3 commits in v1..v2 keep the tests passing",
    facts: [["Stay", "1 of 3"]],
    remarks: [],
    size: units.filter((unit) => unit.stays).length,
    is_split: false,
    units,
    text_needs: [],
    name_needs: [],
    steps: [
      { rule: "INIT", tried: 3, kept: 3, passed: true },
      { rule: "PAR-SIG", tried: 1, kept: 1, passed: true },
    ],
    tests: ["tests/test_shop.py::test_f"],
    more_tests: 0,
    left_out: [],
    ended: "minimal",
    is_minimal: true,
    seconds: 2,
    ...more,
  };
}

/** An impact on two files: line 2 of the first changed, and what reads it is impacted. */
export function impact(more: Partial<ImpactState> = {}): ImpactState {
  const lines = (...texts: string[]) => texts.map((text, index) => ({ number: index + 1, text }));
  const counts = { changed: 0, impacted: 1, not_impacted: 1, reached: true };
  const statement = (line: number, link: number): ImpactStatementState => ({
    lines: [line, line],
    changed: false,
    heat: 4,
    distance: 2,
    link,
    function: 0,
    levels: 2,
    pruned: null,
  });
  return {
    format: STATE_FORMAT,
    sentence: "1 statement changed, and 2 others may see other values",
    facts: [["Changed", "1"]],
    remarks: [],
    levels: [
      { name: "DCIA", impacted: 2, compared: 0, milliseconds: 40 },
      { name: "k=0", impacted: 2, compared: 1, milliseconds: 95 },
    ],
    reached: [
      {
        path: "tax.py",
        changed: 1,
        impacted: 1,
        not_impacted: 1,
        functions: [{ name: "rate", line: 2, ...counts, changed: 1 }],
        statements: [
          { ...statement(2, 0), changed: true, heat: 0, distance: 0, link: null, levels: 0 },
          statement(3, 1),
        ],
        lines: lines("def rate():", "    base = 25", "    return base"),
      },
      {
        path: "shop.py",
        changed: 0,
        impacted: 1,
        not_impacted: 1,
        functions: [{ name: "price", line: 2, ...counts }],
        statements: [statement(2, 2)],
        lines: lines("def price():", "    return rate()"),
      },
    ],
    others: 3,
    links: [
      { from: null, place: "tax.py:2", old: false, text: "changed", code: "base = 25" },
      { from: 0, place: "tax.py:3", old: false, text: "uses the variable base", code: "return base" },
      { from: 1, place: "shop.py:2", old: false, text: "uses what rate returns", code: "return rate()" },
    ],
    ...more,
  };
}

/** The same where level 0 takes the statement of the second file away. */
export function prunedImpact(): ImpactState {
  const state = impact();
  const [file] = state.reached.slice(1);
  if (!file) return state;
  state.levels[1]!.impacted = 1;
  [file.impacted, file.not_impacted] = [0, 2];
  Object.assign(file.functions[0]!, { impacted: 0, not_impacted: 2 });
  const pruned = { because: "k=0 pruned it: what rate returns is the same for the same inputs", cut: 1 };
  Object.assign(file.statements[0]!, { levels: 1, pruned });
  return state;
}
