//! What a search knows of the code before it runs: its lines, its conditions, and which of its lines matter most.

use std::collections::BTreeSet;

use twincell_syntax::site::SiteTable;
use twincell_syntax::{Diff, Function, PerSide};
use twincell_values::reading::{Conditions, conditions};

/// The lines of a pair, for coverage.
#[derive(Debug, Clone, Default)]
pub struct Target {
    /// The executable lines.
    pub lines: PerSide<Vec<u32>>,
    /// The changed lines that are executable.
    pub changed: PerSide<Vec<u32>>,
    /// The lines of the conditions, by their numbers.
    pub branches: PerSide<Vec<u32>>,
    /// What the search knows about the code.
    pub readings: PerSide<Reading>,
    /// The access paths of values that either version uses as mappings.
    pub mappings: BTreeSet<String>,
}

/// What the search knows about the code of one version.
#[derive(Debug, Clone, Default)]
pub struct Reading {
    pub conditions: Conditions,
    /// (name in this version, canonical name).
    pub renames: Vec<(String, String)>,
    /// Canonical names.
    pub parameters: Vec<String>,
    /// The text, line by line.
    pub lines: Vec<String>,
}

impl Reading {
    pub fn new(function: &Function, sites: &SiteTable, renames: &[(String, String)]) -> Self {
        let canonical = |name: &String| {
            let renamed = renames.iter().find(|(own, _)| own == name);
            renamed.map_or_else(|| name.clone(), |(_, canonical)| canonical.clone())
        };
        Self {
            conditions: conditions(function, sites),
            renames: renames.to_vec(),
            parameters: function.parameters.iter().map(|parameter| canonical(&parameter.name)).collect(),
            lines: function.text.lines().map(str::to_owned).collect(),
        }
    }
}

impl Target {
    /// A changed line without code that reports (the second line of a call, a closing bracket) counts for the last line
    /// before it that has such code. If there is none (a parameter's default), it counts for the first.
    pub fn new(diff: &Diff, lines: PerSide<Vec<u32>>) -> Self {
        let executable = |changed: &[u32], lines: &[u32]| -> Vec<u32> {
            let mut found: Vec<u32> = changed
                .iter()
                .filter_map(|&line| {
                    let before = lines.iter().rev().find(|&&own| own <= line);
                    let exact = lines.contains(&line).then_some(line);
                    exact.or(before.copied()).or_else(|| lines.first().copied())
                })
                .collect();
            found.sort_unstable();
            found.dedup();
            found
        };
        let changed = PerSide::of(|side| executable(&diff.lines[side], &lines[side]));
        Self { lines, changed, ..Self::default() }
    }
}

/// The lines with code that reports, ascending.
pub fn executable_lines(sites: &SiteTable) -> Vec<u32> {
    let mut lines: Vec<u32> =
        sites.lines.iter().copied().chain(sites.branches.iter().map(|branch| branch.line)).collect();
    lines.sort_unstable();
    lines.dedup();
    lines
}
