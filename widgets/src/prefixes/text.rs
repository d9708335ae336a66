//! Prefixes for terminals.

use twincell_prefix::Prefixes;

use super::{STOPPED, asked, beside, ended, from, headline, libraries, not_reached};
use crate::{plain, words};

/// The best prefix, then the others that are needed to cover all lines that were reached. They stand as Python. Only
/// very long lines are cut.
pub fn prefixes_text(prefixes: &Prefixes) -> String {
    let mut out = format!("# {}\n", headline(prefixes));
    if prefixes.stopped {
        out += &format!("# {STOPPED}\n");
    }
    if let Some(asked) = asked(prefixes) {
        out += &format!("# {asked}\n");
    }
    for said in libraries(prefixes).into_iter().chain(beside(prefixes)) {
        out += &format!("# {said}\n");
    }
    if let Some(lines) = not_reached(prefixes) {
        out += &format!("# not reached: {lines}\n");
    }
    for number in prefixes.kept() {
        let node = &prefixes.nodes[number];
        let star = if Some(number) == prefixes.best { "best prefix" } else { "prefix" };
        let lines = words::count(prefixes.lines.len(), "line");
        out += &format!("\n# {star} {number}: {} of {lines}, {}", node.completed.len(), from(node));
        out += &ended(&node.end).map_or_else(String::new, |ended| format!("; {ended}"));
        out += "\n";
        out += &if node.text.is_empty() { "# (nothing is needed)".to_owned() } else { plain::file(&node.text) };
        out += "\n";
    }
    out
}
