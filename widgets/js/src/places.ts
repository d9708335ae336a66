// Where changes of a study come from, in as few letters as tell them apart: what all of them share is said once.

import * as plain from "./plain";
import type { StudyRow } from "./types";
import * as words from "./words";

/** What the changes of a study share. */
export interface Shared {
  /** The project of all. */
  project: string | null;
  /** The folder of all files, with a slash at its end. Empty if there is none. */
  folder: string;
  /** The beginning of all ids, up to a sign between words. */
  id: string;
}

export function shared(rows: StudyRow[]): Shared {
  const projects = new Set(rows.map((row) => row.project));
  const [project] = projects;
  return {
    project: projects.size === 1 ? (project ?? null) : null,
    folder: beginning(
      rows.flatMap((row) => row.file ?? []),
      /\//,
    ),
    id: beginning(
      rows.map((row) => row.id),
      /[/:. -]/,
    ),
  };
}

/** The longest common beginning that ends with a separator. None of a single text, which nothing tells apart. */
export function beginning(texts: string[], separator: RegExp): string {
  const [first = "", ...others] = new Set(texts);
  if (others.length === 0) return "";
  let end = first.length;
  for (const other of others) {
    let same = 0;
    while (same < end && first[same] === other[same]) same += 1;
    end = same;
  }
  while (end > 0 && !separator.test(first[end - 1] ?? "")) end -= 1;
  return first.slice(0, end);
}

/** What people call the change: its function, or else its id. */
export function changeName(row: StudyRow, of: Shared): string {
  return plain.value(row.function ?? (row.id.slice(of.id.length) || row.id));
}

export function fileName(row: StudyRow, of: Shared): string {
  return row.file === null ? "" : plain.value(row.file.slice(of.folder.length));
}

export function commitName(commit: string | null): string {
  return commit === null ? "" : plain.value(words.commitName(commit));
}

/** Everything that is known of where the change comes from. */
export function origin(row: StudyRow): string {
  return [row.project, row.file, row.commit].flatMap((one) => (one === null ? [] : [plain.value(one)])).join(" · ");
}
