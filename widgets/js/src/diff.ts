// The text of a diff as git writes it, taken apart: files, and lines with their numbers. No elements.

export interface DiffLine {
  kind: "same" | "removed" | "added" | "hunk";
  text: string;
  /** The numbers of the line in both versions of the file. */
  old: number | null;
  new: number | null;
}

export interface DiffFile {
  /** The name after the change, or before it for a file that goes. */
  path: string;
  /** What happens to the file itself. */
  notes: string[];
  lines: DiffLine[];
}

export function parseDiff(text: string): DiffFile[] {
  const files: DiffFile[] = [];
  let [old, renewed] = [0, 0];
  let inHunk = false;
  for (const line of text.replace(/\n$/, "").split("\n")) {
    const start = /^diff --git (.*)$/.exec(line);
    // A line of a hunk begins with its sign.
    if (start && !(inHunk && /^[ +\\-]/.test(line))) {
      files.push({ path: afterName(start[1] ?? ""), notes: [], lines: [] });
      inHunk = false;
      continue;
    }
    const file = files.at(-1);
    if (!file) continue;
    const hunk = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@(.*)$/.exec(line);
    if (hunk) {
      inHunk = true;
      [old, renewed] = [Number(hunk[1]), Number(hunk[2])];
      file.lines.push({ kind: "hunk", text: (hunk[3] ?? "").trim(), old: null, new: null });
    } else if (!inHunk) {
      header(file, line);
    } else if (line.startsWith("+")) {
      file.lines.push({ kind: "added", text: line.slice(1), old: null, new: renewed++ });
    } else if (line.startsWith("-")) {
      file.lines.push({ kind: "removed", text: line.slice(1), old: old++, new: null });
    } else if (line.startsWith(" ") || line === "") {
      file.lines.push({ kind: "same", text: line.slice(1), old: old++, new: renewed++ });
    }
  }
  const isOther = files.length === 0 && text.trim() !== "";
  return isOther ? [{ path: "", notes: [], lines: text.split("\n").map(plainLine) }] : files;
}

/** A line of a text that is no diff as git writes it. */
function plainLine(text: string): DiffLine {
  return { kind: "same", text, old: null, new: null };
}

/** Takes in a line before the first hunk of a file. */
function header(file: DiffFile, line: string): void {
  const [, key = "", value = ""] =
    /^(---|\+\+\+|rename from|rename to|new file mode|deleted file mode|old mode|new mode|Binary files) (.*)$/.exec(
      line,
    ) ?? [];
  if (key === "+++" && value !== "/dev/null") file.path = value.replace(/^("?)b\//, "$1");
  if (key === "---" && value !== "/dev/null") file.path = value.replace(/^("?)a\//, "$1");
  if (key === "rename to") file.path = value;
  if (key === "rename from") file.notes.push(`renamed from ${value}`);
  if (key === "new file mode") file.notes.push("new file");
  if (key === "deleted file mode") file.notes.push("file goes");
  if (key === "new mode") file.notes.push(`mode ${value}`);
  if (key === "Binary files") file.notes.push("binary");
}

/** The second name of `a/x b/x`. */
function afterName(names: string): string {
  const half = names.slice(Math.ceil(names.length / 2));
  return half.replace(/^("?)b\//, "$1");
}
