// For each access path: expected against injected classes, and the outcome of each value.

import { h, replace } from "../dom";
import * as plain from "../plain";
import type { PairContext } from "../session";
import type { Column } from "../table/model";
import { VirtualTable } from "../table/virtual";
import type { ComparisonState, PairState, Path } from "../types";
import { same, shares } from "../shares";
import * as words from "../words";
import { seen, shareBar, simpleTable } from "../parts";

const sum = (path: Path, key: "count" | "differing" | "invalid") =>
  path.injected.reduce((total, one) => total + one[key], 0);

export function valuesView({ session, pair, signal }: PairContext, panel: HTMLElement): void {
  const { state } = session;
  if (pair.paths.length === 0) {
    return replace(
      panel,
      h("p", { class: "tcw-quiet" }, "No value was missing in any execution: nothing was injected."),
    );
  }
  const columns: Column<Path>[] = [
    {
      id: "path",
      title: "Access path",
      key: (one) => one.path,
      text: (one) => plain.path(one.path),
      width: "minmax(160px, 2fr)",
      kind: "code",
    },
    { id: "kind", title: "Kind", key: (one) => words.kindName(one.kind), width: "96px" },
    {
      id: "line",
      title: "Line",
      key: (one) => words.entryLine(pair, one),
      text: (one) => words.entryPlace(pair, one),
      width: "82px",
      kind: "number",
    },
    { id: "likely", title: "Expected most", key: (one) => likeliest(state, one), width: "minmax(110px, 1fr)" },
    {
      id: "distinct",
      title: "Values",
      key: (one) => one.injected.length + one.more,
      width: "84px",
      kind: "number",
      descendingFirst: true,
    },
    {
      id: "count",
      title: "Injected",
      key: (one) => sum(one, "count"),
      width: "94px",
      kind: "number",
      descendingFirst: true,
    },
    {
      id: "differing",
      title: "≠ Differed",
      key: (one) => sum(one, "differing"),
      width: "104px",
      kind: "number",
      descendingFirst: true,
    },
  ];
  const ids = new Map(pair.paths.map((path, index) => [path, String(index)]));
  const detail = h("div", {});
  // The decisive path comes first, or else the path that was varied most.
  const decisive = pair.shown?.values.find((one) => one.decisive)?.path;
  const varied = (path: Path) => path.injected.length + path.more;
  const first =
    pair.paths.find((path) => path.path === decisive) ??
    pair.paths.reduce((most, path) => (varied(path) > varied(most) ? path : most));
  const table = new VirtualTable<Path>({
    label: "Access paths",
    columns,
    rows: pair.paths,
    id: (path) => ids.get(path) ?? "",
    choose: (path) => show(path),
    empty: "",
    height: 220,
  });
  function show(path: Path): void {
    table.select(ids.get(path) ?? null);
    replace(detail, ...pathDetail(state, pair, path));
  }
  signal.addEventListener("abort", () => table.destroy());
  replace(panel, table.element, detail);
  show(first);
}

function likeliest(state: ComparisonState, path: Path): string {
  const most = path.predicted.reduce((best, share, index) => (share > (path.predicted[best] ?? -1) ? index : best), 0);
  const share = path.predicted[most];
  return share === undefined
    ? "no prediction"
    : `${plain.value(state.classes[most] ?? "")} ${words.probability(share)}`;
}

function pathDetail(state: ComparisonState, pair: PairState, path: Path): Node[] {
  const found = shares(state, path);
  const rows = found.map((one) => ({
    cells: [
      plain.value(one.class),
      shareBar(one.predicted, "tcw-bar-predicted", path.predicted.length > 0 ? words.probability(one.predicted) : "–"),
      shareBar(one.injected, "tcw-bar-injected", words.probability(one.injected)),
      one.injected > 0 ? words.probability(one.differing) : "–",
    ],
  }));
  const values = path.injected.map((one) => ({
    cells: [
      seen(one.value),
      plain.value(one.class),
      words.number(one.count),
      one.differing > 0 ? `≠ ${words.number(one.differing)}` : "0",
      words.number(same(one)),
      one.invalid > 0 ? `○ ${words.number(one.invalid)}` : "0",
    ],
    tone: one.differing > 0 ? "tcw-differs" : "",
  }));
  const name = plain.path(path.path);
  return [
    h(
      "h4",
      { class: "tcw-pathname" },
      h("code", {}, name),
      h(
        "span",
        { class: "tcw-note" },
        ` ${words.kindName(path.kind)}, ${words.entryPlace(pair, path).replace(" ", " line ")}`,
      ),
    ),
    h(
      "div",
      { class: "tcw-two" },
      simpleTable(
        "Expected and injected, by class",
        [
          { title: "Class" },
          { title: "▒ Predicted" },
          { title: "█ Injected" },
          { title: "≠ Differed", kind: "number" },
        ],
        rows,
      ),
      h(
        "div",
        {},
        simpleTable(
          "Injected values and their outcomes",
          [
            { title: "Value", kind: "seen" },
            { title: "Class" },
            { title: "Times", kind: "number" },
            { title: "≠ Differed", kind: "number" },
            { title: "= Same", kind: "number" },
            { title: "○ Says nothing", kind: "number" },
          ],
          values,
        ),
        path.more > 0 && h("p", { class: "tcw-legend" }, `… and ${words.count(path.more, "rarer value")}, not listed`),
      ),
    ),
  ];
}
