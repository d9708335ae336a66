import { expect, test } from "vitest";
import { parseDiff } from "../src/diff";

test("a diff is taken apart into files and numbered lines", () => {
  const [file, ...others] = parseDiff(
    "diff --git a/x.py b/x.py\nindex 1..2 100644\n--- a/x.py\n+++ b/x.py\n@@ -3,2 +3,3 @@ def f():\n a\n--- b\n+++ c\n+d\n",
  );
  expect(others).toEqual([]);
  expect(file?.path).toBe("x.py");
  expect(file?.lines).toEqual([
    { kind: "hunk", text: "def f():", old: null, new: null },
    { kind: "same", text: "a", old: 3, new: 3 },
    { kind: "removed", text: "-- b", old: 4, new: null },
    { kind: "added", text: "++ c", old: null, new: 4 },
    { kind: "added", text: "d", old: null, new: 5 },
  ]);
});

test("what happens to a file itself is said", () => {
  const files = parseDiff(
    [
      "diff --git a/old.py b/new.py",
      "similarity index 90%",
      "rename from old.py",
      "rename to new.py",
      "diff --git a/run.sh b/run.sh",
      "old mode 100644",
      "new mode 100755",
      "diff --git a/gone.py b/gone.py",
      "deleted file mode 100644",
      "--- a/gone.py",
      "+++ /dev/null",
      "@@ -1 +0,0 @@",
      "-diff --git a/x b/x",
      "diff --git a/logo.png b/logo.png",
      "new file mode 100644",
      "Binary files /dev/null and b/logo.png differ",
    ].join("\n"),
  );
  expect(files.map(({ path, notes, lines }) => [path, notes.join(), lines.length])).toEqual([
    ["new.py", "renamed from old.py", 0],
    ["run.sh", "mode 100755", 0],
    ["gone.py", "file goes", 2],
    ["logo.png", "new file,binary", 0],
  ]);
});

test("a text that is no diff is shown as it is", () => {
  expect(parseDiff("")).toEqual([]);
  expect(parseDiff("x\ny").map(({ lines }) => lines.map(({ text }) => text))).toEqual([["x", "y"]]);
});
