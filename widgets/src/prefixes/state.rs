//! The state of a tree of prefixes.

use serde::Serialize;

use twincell_engine::protocol::End;
use twincell_prefix::{Compact, Guidance, Prefixes};

use super::{beginning, code_lines, ended, facts, from, headline, listed, test_of};
use crate::state::STATE_FORMAT;

/// The prefixes of a snippet.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PrefixesState<'a> {
    /// [`STATE_FORMAT`].
    pub(super) format: u32,
    sentence: String,
    /// Whether every line runs behind some prefix.
    whole: bool,
    /// The names that the snippet reads and does not define.
    undefined: &'a [String],
    /// What else there is to say, as (name, text).
    facts: Vec<(&'static str, String)>,
    /// The snippet, without long gaps.
    code: Vec<CodeLine<'a>>,
    /// The number of lines on which a statement begins.
    statements: usize,
    /// Every parent before its children.
    nodes: Vec<PrefixNode<'a>>,
    /// The number of further nodes.
    more: usize,
    /// The numbers of the nodes that people see first: the best one, then the others of P.
    kept: Vec<usize>,
    /// What stands before and behind the prefix in a program.
    around: [String; 2],
    /// What stands before the prefix in a cell of a notebook.
    before_cell: String,
    /// The beginning of a pytest file, which the tests of nodes follow.
    test_beginning: String,
}

/// A line of the snippet.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct CodeLine<'a> {
    /// Counted from 1.
    number: u32,
    text: &'a str,
    /// Whether a statement begins on it.
    statement: bool,
}

/// A node of the tree.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct PrefixNode<'a> {
    /// Its number in the report.
    number: usize,
    parent: Option<usize>,
    depth: usize,
    /// The step that made it: undefinedness, error or coverage guidance.
    #[cfg_attr(test, ts(type = "1 | 2 | 3"))]
    step: u8,
    /// What it was made from.
    from: String,
    /// Python. Empty if nothing is needed.
    text: &'a str,
    /// The lines of the snippet that complete behind it.
    completed: &'a [u32],
    /// The share of lines that it covers, 0 to 1.
    coverage: f64,
    /// How the snippet ends behind it, if not by itself.
    ended: Option<String>,
    /// The line of the snippet at which an exception ends it.
    ended_at: Option<u32>,
    /// The number of values that it makes of each type.
    makes: Vec<(&'a str, u32)>,
    /// It covers most.
    best: bool,
    /// It is in P, the smallest set that covers all lines that any node covers.
    chosen: bool,
    /// Its fixture and its test in a pytest file. None if the snippet does not end behind it.
    test: Option<String>,
}

/// Prefixes for the interactive view.
pub fn prefixes_state<'a>(snippet: &'a str, prefixes: &'a Prefixes) -> PrefixesState<'a> {
    let compact = Compact::new(snippet);
    let listed = listed(prefixes);
    let more = prefixes.nodes.len() - listed.len();
    let nodes = listed.into_iter().map(|(number, depth)| node(number, depth, prefixes, &compact)).collect();
    let line = |(number, text)| CodeLine { number, text, statement: prefixes.lines.binary_search(&number).is_ok() };
    PrefixesState {
        format: STATE_FORMAT,
        sentence: headline(prefixes),
        whole: prefixes.covered.len() == prefixes.lines.len(),
        undefined: &prefixes.undefined,
        facts: facts(prefixes),
        code: code_lines(snippet).into_iter().map(line).collect(),
        statements: prefixes.lines.len(),
        nodes,
        kept: prefixes.kept(),
        more,
        around: prefixes.around(snippet),
        // Notebooks run in the folder of the process that makes the view.
        before_cell: std::env::current_dir().map_or_else(|_| String::new(), |folder| prefixes.before_cell(&folder)),
        test_beginning: beginning(&compact, prefixes),
    }
}

fn node<'a>(number: usize, depth: usize, prefixes: &'a Prefixes, code: &Compact) -> PrefixNode<'a> {
    let node = &prefixes.nodes[number];
    PrefixNode {
        number,
        // A parent comes before its children. What says something else did not come from a search.
        parent: node.parent.filter(|parent| *parent < number),
        depth,
        step: match node.guidance {
            Guidance::Undefinedness => 1,
            Guidance::Error => 2,
            Guidance::Coverage => 3,
        },
        from: from(node),
        text: &node.text,
        completed: &node.completed,
        coverage: prefixes.coverage_of(node),
        ended: ended(&node.end),
        ended_at: match &node.end {
            End::Raised(raise) if raise.in_snippet => Some(raise.line),
            _ => None,
        },
        makes: node.makes.iter().map(|(kind, count)| (kind.as_str(), *count)).collect(),
        best: Some(number) == prefixes.best,
        chosen: prefixes.chosen.contains(&number),
        test: test_of(number, prefixes, code),
    }
}
