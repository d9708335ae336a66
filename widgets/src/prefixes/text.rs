//! Prefixes for terminals.

use twincell_prefix::Prefixes;

use super::difference::difference;
use super::{STOPPED, asked, beside, ended, from, headline, libraries, not_reached, nothing, shown, uncalled};
use crate::words;

/// The best prefix, then the others that are needed to cover all lines that were reached. They stand as Python, and those
/// that change only a few lines of one before them as these lines, in comments. Only very long lines are cut.
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
    if let Some(names) = uncalled(prefixes) {
        out += &format!("# not called: {names} (--function NAME calls one of them)\n");
    }
    if let Some(end) = nothing(prefixes) {
        out += &format!("# the last prefix tried {end}\n");
    }
    let kept = prefixes.kept();
    for (position, &number) in kept.iter().enumerate() {
        let node = &prefixes.nodes[number];
        let star = if Some(number) == prefixes.best { "best prefix" } else { "prefix" };
        let lines = words::count(prefixes.lines.len(), "line");
        out += &format!("\n# {star} {number}: {} of {lines}, {}", node.completed.len(), from(node));
        out += &ended(&node.end).map_or_else(String::new, |ended| format!("; {ended}"));
        out += "\n";
        if let Some(found) = difference(prefixes, &kept, position) {
            out += &format!("# as prefix {}, with these lines changed:\n", found.of);
            out.extend(found.lines.iter().map(|line| format!("#   {line}\n")));
            continue;
        }
        out += &shown(prefixes, node);
        out += "\n";
    }
    out
}
