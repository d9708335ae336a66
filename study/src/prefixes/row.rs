//! What a study keeps of the prefixes of a snippet.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use twincell_engine::protocol::End;
use twincell_prefix::{Guidance, Library, Prefixes};

use crate::snippet::Snippet;

/// A row. Shares are of the lines on which a statement begins, 0 to 1.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct PrefixRow {
    pub id: String,
    pub folder: String,
    /// The number of lines on which a statement begins.
    pub lines: u32,
    /// The share that runs without a prefix, and the name of the exception that ends it there, if any.
    pub as_is: f64,
    pub error_before: Option<String>,
    /// The share that some prefix covers after each step: undefinedness, error, coverage guidance.
    pub by_step: [f64; 3],
    /// The share that all prefixes cover, and the best one.
    pub coverage: f64,
    pub best: f64,
    /// The step that found the best one. Absent if nothing ran.
    pub best_step: Option<Guidance>,
    /// The number of prefixes that each step tried, and that of P.
    pub tried: [u32; 3],
    pub chosen: u32,
    pub milliseconds: f64,
    /// Whether the search ended before it was done.
    pub stopped: bool,
    /// Why there are no prefixes.
    pub reason: Option<String>,
    /// Why a language model was asked no more.
    #[serde(default)]
    pub problem: Option<String>,
    /// What was to be installed for it.
    #[serde(default)]
    pub libraries: Vec<Library>,
    /// What the row depends on. Absent if it must not be taken up.
    pub key: Option<String>,
}

/// The position of a step in Treefix's Table III.
fn step(guidance: Guidance) -> usize {
    match guidance {
        Guidance::Undefinedness => 0,
        Guidance::Error => 1,
        Guidance::Coverage => 2,
    }
}

impl PrefixRow {
    /// The row of a search. Its key is set later.
    pub fn new(snippet: &Snippet, prefixes: &Prefixes, milliseconds: f64) -> Self {
        let share = |ran: &BTreeSet<u32>| match prefixes.lines.len() {
            0 => 1.0,
            all => prefixes.lines.iter().filter(|line| ran.contains(line)).count() as f64 / all as f64,
        };
        let (mut ran, mut tried) = ([const { BTreeSet::new() }; 3], [0; 3]);
        for node in &prefixes.nodes {
            tried[step(node.guidance)] += 1;
            for reached in &mut ran[step(node.guidance)..] {
                reached.extend(node.completed.iter().copied());
            }
        }
        let best = prefixes.best.map(|best| &prefixes.nodes[best]);
        Self {
            id: snippet.id.clone(),
            folder: snippet.folder.clone(),
            lines: prefixes.lines.len() as u32,
            as_is: prefixes.coverage_of(&prefixes.as_is),
            error_before: match &prefixes.as_is.end {
                End::Raised(raise) => Some(raise.class.clone()),
                _ => None,
            },
            by_step: [share(&ran[0]), share(&ran[1]), share(&ran[2])],
            coverage: prefixes.coverage(),
            // All is run of a snippet without statements.
            best: best.map_or_else(|| share(&BTreeSet::new()), |node| prefixes.coverage_of(node)),
            best_step: best.map(|node| node.guidance),
            tried,
            chosen: prefixes.chosen.len() as u32,
            milliseconds,
            stopped: prefixes.stopped,
            reason: None,
            problem: prefixes.problem.clone(),
            libraries: prefixes.libraries.clone(),
            key: None,
        }
    }

    /// The row of a snippet without prefixes: nothing of it runs.
    pub fn not_run(snippet: &Snippet, reason: String, milliseconds: f64) -> Self {
        let (id, folder) = (snippet.id.clone(), snippet.folder.clone());
        Self { id, folder, milliseconds, reason: Some(reason), ..Self::default() }
    }

    pub fn is_whole(&self) -> bool {
        self.reason.is_none() && self.coverage >= 1.0
    }
}
