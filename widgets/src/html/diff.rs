//! The text of a diff as git writes it, with lines that come and go marked by their signs and by a color.

use maud::{Markup, html};

use crate::plain;

/// Lines of a diff for a `pre`.
pub fn diff_lines(text: &str) -> Markup {
    let mut in_hunk = false;
    let lines = text.lines().map(|line| {
        // Only a line that belongs to no hunk begins with another character than its sign.
        in_hunk = match line.as_bytes().first() {
            Some(b'@') => true,
            Some(b' ' | b'+' | b'-' | b'\\') => in_hunk,
            _ => false,
        };
        let style = match (in_hunk, line.as_bytes().first()) {
            (true, Some(b'+')) => "background: rgba(46, 160, 67, .16)",
            (true, Some(b'-')) => "background: rgba(248, 81, 73, .14)",
            (true, Some(b'@')) => "opacity: .7",
            (false, _) if line.starts_with("diff ") => "font-weight: 600",
            (false, _) => "opacity: .7",
            _ => "",
        };
        (style, plain::code(line))
    });
    html! {
        @for (style, line) in lines { span style=[(!style.is_empty()).then_some(style)] { (line) } "\n" }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_lines_of_hunks_come_and_go() {
        let shown = diff_lines("diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n--- <b>\n+++ c\n").into_string();
        assert!(shown.contains("<span style=\"opacity: .7\">--- a/x</span>"), "{shown}");
        assert!(shown.contains("rgba(248, 81, 73, .14)\">--- &lt;b&gt;</span>"), "{shown}");
        assert_eq!(shown.matches("rgba(46").count(), 1);
    }
}
