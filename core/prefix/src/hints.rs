//! Texts that are nearly Python: what they are, so that an error can say what to do, and indentation that means nothing.

use std::borrow::Cow;

/// A text whose lines are all indented, without that indentation.
pub(crate) fn dedented(text: &str) -> Cow<'_, str> {
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    let indent = |line: &str| line.len() - line.trim_start_matches([' ', '\t']).len();
    let Some(first) = lines.clone().next() else { return Cow::Borrowed(text) };
    let width = indent(first);
    let shared = &first[..width];
    if width == 0 || !lines.all(|line| line.starts_with(shared)) {
        return Cow::Borrowed(text);
    }
    let lines: Vec<&str> =
        text.split('\n').map(|line| line.strip_prefix(shared).unwrap_or(line.trim_start())).collect();
    Cow::Owned(lines.join("\n"))
}

/// What a text that is not Python probably is, and what to do.
pub(crate) fn hint(text: &str, line: u32) -> Option<&'static str> {
    let failing = text.lines().nth((line as usize).saturating_sub(1)).unwrap_or_default().trim_start();
    let begins = |line: &str, word: &str| line.trim_start().starts_with(word);
    if text.lines().any(|line| begins(line, ">>> ")) {
        return Some("this is a doctest: keep only the code behind `>>>` and `...`");
    }
    if text.lines().any(|line| begins(line, "In [")) {
        return Some("this is a transcript of IPython: keep only the code behind `In [1]:`");
    }
    if begins(failing, "print ") || begins(failing, "exec ") {
        return Some("this is Python 2: write `print(...)`, or convert it first");
    }
    if failing.starts_with("except ") && failing.contains(',') || failing.starts_with("raise ") && failing.contains(',')
    {
        return Some("this is Python 2: convert it first");
    }
    if is_diff(text) {
        return Some("this is a diff: give the code after the change");
    }
    if failing.starts_with(['%', '!', '?']) {
        return Some("this is a command of notebooks: leave the line out");
    }
    None
}

/// Whether a text has a line that only diffs have, or the two lines that name the files of one.
fn is_diff(text: &str) -> bool {
    let is_range = |line: &str| line.starts_with("@@ -") && line[4..].contains(" @@");
    let names_files = |(one, other): (&str, &str)| one.starts_with("--- ") && other.starts_with("+++ ");
    text.lines().any(|line| line.starts_with("diff --git ") || is_range(line))
        || text.lines().zip(text.lines().skip(1)).any(names_files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indentation_that_all_lines_share_means_nothing() {
        assert_eq!(dedented("    a = 1\n\n    if a:\n        b = 2\n"), "a = 1\n\nif a:\n    b = 2\n");
        for kept in ["a = 1\n    b = 2\n", "    a = 1\nb = 2\n", "", "\n"] {
            assert_eq!(dedented(kept), kept);
        }
    }

    #[test]
    fn what_is_nearly_python_is_named() {
        let said = |text: &str, line| hint(text, line).unwrap_or_default();
        assert!(said(">>> f(1)\n2\n", 1).contains("doctest"));
        assert!(said("x = 1\nprint x\n", 2).contains("Python 2"));
        assert!(said("try:\n    f()\nexcept A, e:\n    pass\n", 3).contains("Python 2"));
        assert!(said("%cd x y\n", 1).contains("notebooks"));
        assert!(said("@@ -1,2 +1,2 @@\n-a = 1\n+a = 2\n", 1).contains("diff"));
        assert!(said("--- a.py\n+++ b.py\n-a = 1\n", 1).contains("diff"));
        let usage = "TEXT = (\n--- usage ---\n";
        assert_eq!((hint("x = = 1\n", 1), hint(usage, 2)), (None, None));
    }
}
