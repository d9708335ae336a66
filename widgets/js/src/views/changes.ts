// The columns of a study's table: what is needed to know a change again, and what was found. Narrow tables have the
// verdict as a sign, the name and the reason; wide ones have room for the rest.

import * as places from "../places";
import * as plain from "../plain";
import type { Column } from "../table/model";
import type { StudyRow } from "../types";
import * as words from "../words";

const order = (row: StudyRow) => words.VERDICTS.indexOf(row.verdict);

/** The width in pixels from which verdicts have their words. */
const WORDS = 640;

/** A column is there if a row has something in it. */
export function changeColumns(rows: StudyRow[]): Column<StudyRow>[] {
  const of = places.shared(rows);
  const any = (has: (row: StudyRow) => unknown) => rows.some((row) => has(row));
  const columns: (Column<StudyRow> | false)[] = [
    {
      id: "verdict",
      title: "Verdict",
      key: order,
      text: (row) => `${words.icon(row.verdict)} ${words.verdictName(row.verdict)}`,
      width: "140px",
      from: WORDS,
    },
    {
      id: "sign",
      title: "≠",
      key: order,
      text: (row) => words.icon(row.verdict),
      hint: (row) => words.verdictName(row.verdict),
      width: "26px",
      below: WORDS,
    },
    {
      id: "name",
      title: any((row) => row.function !== null) ? "Function" : "Change",
      key: (row) => places.changeName(row, of),
      hint: (row) => plain.value(row.id),
      width: "minmax(110px, 1.1fr)",
      kind: "code",
    },
    {
      id: "reason",
      title: "Reason",
      key: (row) => row.reason,
      text: (row) => plain.value(row.reason),
      width: "minmax(170px, 2.6fr)",
    },
    any((row) => row.label) && {
      id: "label",
      title: "Label",
      key: (row) => row.label,
      text: (row) => row.label ?? "",
      width: "92px",
      from: 560,
    },
    of.project === null &&
      any((row) => row.project) && {
        id: "project",
        title: "Project",
        key: (row) => row.project,
        text: (row) => plain.value(row.project ?? ""),
        width: "minmax(70px, 0.5fr)",
        from: 760,
      },
    any((row) => row.file) && {
      id: "file",
      title: "File",
      key: (row) => row.file,
      text: (row) => places.fileName(row, of),
      hint: (row) => plain.value(row.file ?? ""),
      width: "minmax(90px, 0.9fr)",
      kind: "code",
      from: 860,
    },
    any((row) => row.commit) && {
      id: "commit",
      title: "Commit",
      key: (row) => row.date ?? row.commit,
      text: (row) => places.commitName(row.commit),
      hint: (row) => [row.commit, row.date].flatMap((one) => (one === null ? [] : [plain.value(one)])).join(", "),
      width: "86px",
      kind: "code",
      from: 960,
    },
    {
      id: "executions",
      title: "Executions",
      key: (row) => row.executions,
      text: (row) => words.number(row.executions),
      width: "88px",
      kind: "number",
      descendingFirst: true,
      from: 1040,
    },
    {
      id: "coverage",
      title: "Covered",
      key: (row) => row.coverage,
      // Where nothing ran there is nothing to cover.
      text: (row) => (row.executions === 0 ? "–" : words.percent(row.coverage)),
      width: "76px",
      kind: "number",
      descendingFirst: true,
      from: 1060,
    },
    {
      id: "time",
      title: "Time",
      key: (row) => row.milliseconds,
      text: (row) => words.duration(row.milliseconds),
      width: "76px",
      kind: "number",
      descendingFirst: true,
      from: 1160,
    },
  ];
  return columns.filter((column) => column !== false);
}
