//! Prefixes for a snippet, for terminals.

use twincell_engine::protocol::{End, Raise};
use twincell_prefix::{Guidance, Prefixes};

use crate::plain;

/// The best prefix, then the others that are needed to cover all lines that were reached. They stand as Python, so that
/// what is printed can be run.
pub fn prefixes_text(prefixes: &Prefixes) -> String {
    let mut out = String::new();
    let (covered, lines) = (prefixes.covered.len(), prefixes.lines.len());
    out += &format!("# {covered} of {} run", counted(lines, "line"));
    let nodes = prefixes.nodes.len();
    out += &match prefixes.chosen.len() {
        0 => format!("; {} tried\n", counted(nodes, "prefix")),
        chosen => format!(", with {} of {} tried\n", counted(chosen, "prefix"), nodes),
    };
    if prefixes.stopped {
        out += "# the search was stopped before it was done\n";
    }
    let missing: Vec<String> =
        prefixes.lines.iter().filter(|line| !prefixes.covered.contains(line)).map(u32::to_string).collect();
    if !missing.is_empty() {
        out += &format!("# not reached: line {}\n", missing.join(", "));
    }
    let best = prefixes.best.into_iter();
    let others = prefixes.chosen.iter().copied().filter(|number| Some(*number) != prefixes.best);
    for number in best.chain(others) {
        let node = &prefixes.nodes[number];
        let share = node.completed.len();
        let star = if Some(number) == prefixes.best { "best prefix" } else { "prefix" };
        out += &format!(
            "\n# {star} {number}: {share} of {}, {}{}\n",
            counted(lines, "line"),
            from(node.guidance),
            ended(&node.end)
        );
        out +=
            &if node.text.is_empty() { "# (nothing is needed)\n".to_owned() } else { plain::file(&node.text) + "\n" };
    }
    out
}

fn from(guidance: Guidance) -> &'static str {
    match guidance {
        Guidance::Undefinedness => "from what the code leaves undefined",
        Guidance::Error => "from the error of another",
        Guidance::Coverage => "from lines that nothing had reached",
    }
}

fn ended(end: &End) -> String {
    match end {
        End::Whole => String::new(),
        End::Steps => "; stopped after many steps".into(),
        End::Time => "; stopped since it took too long".into(),
        End::Unreadable { line, message } => format!("; line {line} cannot be read: {}", plain::sentence(message)),
        End::Lost { reason } => format!("; lost: {}", plain::sentence(reason)),
        End::Raised(raise) => {
            let Raise { class, message, line, in_snippet, .. } = &**raise;
            let place = if *in_snippet { format!("line {line}") } else { format!("line {line} of the prefix") };
            format!("; ends at {place} with {}: {}", plain::sentence(class), plain::sentence(message))
        }
    }
}

fn counted(count: usize, noun: &str) -> String {
    match (count, noun.ends_with('x')) {
        (1, _) => format!("1 {noun}"),
        (_, true) => format!("{count} {noun}es"),
        _ => format!("{count} {noun}s"),
    }
}
