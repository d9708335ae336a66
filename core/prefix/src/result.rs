//! The tree of prefixes as plain data, and which of them are worth keeping.

use std::collections::BTreeSet;
use std::path::Path;

use serde::{Deserialize, Serialize};

use twincell_engine::protocol::End;
use twincell_syntax::python::{is_builtin, python_string};
use twincell_syntax::{defined_names, without_escapes};

use crate::body::indented;
use crate::code::{MOCK, TypeCounts};
use crate::hints::dedented;
use crate::reading::awaits;

/// What a prefix was made from: the levels of the tree.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Guidance {
    /// What the snippet leaves undefined.
    #[default]
    Undefinedness,
    /// The error of its parent.
    Error,
    /// Lines that nothing covered.
    Coverage,
}

/// What wrote a prefix.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    #[default]
    Local,
    /// A language model.
    Llm,
}

/// A node of the tree.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Prefix {
    /// Its position. `None` below the root, which is the snippet.
    pub parent: Option<usize>,
    pub guidance: Guidance,
    #[serde(default)]
    pub origin: Origin,
    /// Python source. Empty for the snippet as it is.
    pub text: String,
    /// The values that it makes.
    pub makes: TypeCounts,
    /// The lines of the snippet that complete behind it, ascending.
    pub completed: Vec<u32>,
    pub end: End,
}

impl Default for Prefix {
    fn default() -> Self {
        let (guidance, origin) = Default::default();
        Self {
            parent: None,
            guidance,
            origin,
            text: String::new(),
            makes: TypeCounts::new(),
            completed: vec![],
            end: End::Whole,
        }
    }
}

impl Prefix {
    /// The number of objects in it that take whatever is asked of them.
    pub fn mocks(&self) -> u32 {
        self.makes.get(MOCK).copied().unwrap_or_default()
    }

    /// The builtins to which it gives another meaning.
    pub fn redefined(&self) -> Vec<String> {
        defined_names(&self.text).into_iter().filter(|name| is_builtin(name)).collect()
    }
}

/// The prefixes of a snippet.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Prefixes {
    /// The version of this form.
    pub version: u32,
    /// The names that the snippet reads and does not define.
    pub undefined: Vec<String>,
    /// The lines on which a statement begins, ascending.
    pub lines: Vec<u32>,
    /// Those that some prefix covers.
    pub covered: Vec<u32>,
    /// The functions of which no line runs, by qualified name: the snippet does not call them. Without those within others.
    #[serde(default)]
    pub uncalled: Vec<String>,
    /// The snippet as it is. It is a node only if nothing is known of its names: what reaches a network, or other things
    /// that differ between machines, is no part of the tree without what stands in for them.
    #[serde(default)]
    pub as_is: Prefix,
    pub nodes: Vec<Prefix>,
    /// The smallest set of nodes found that together covers all of [`Self::covered`].
    pub chosen: Vec<usize>,
    /// The node that covers most. `None` if nothing ran.
    pub best: Option<usize>,
    /// Whether the search ended before it was done: its time was over, or somebody stopped it.
    pub stopped: bool,
    /// The number of tokens that a language model has used.
    #[serde(default)]
    pub tokens: u64,
    /// Why a language model was asked no more, in one line.
    #[serde(default)]
    pub problem: Option<String>,
    /// What was to be installed for the snippet.
    #[serde(default)]
    pub libraries: Vec<Library>,
    /// What it uses of the files beside it.
    #[serde(default)]
    pub beside: Option<Used>,
}

/// A library that a snippet imports and the user does not have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Library {
    /// The dotted path of the module.
    pub module: String,
    /// What brings it. `None` if nobody knows.
    pub distribution: Option<String>,
    /// Why it is not there, so that something stands in for it. `None` if it is installed.
    pub problem: Option<NotInstalled>,
}

/// Why a library was not installed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NotInstalled {
    /// Nobody knows which distribution brings it.
    Unknown,
    /// There is neither uv nor pip.
    NoInstaller,
    /// The installer says why.
    Refused { message: String },
    /// The distribution is installed and does not bring it.
    Lacking,
    /// Somebody stopped the search, or its time was over.
    Stopped,
}

/// The files beside a snippet that it uses.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Used {
    /// The folder in which a program runs as the snippet did: the one that it finds [`Self::data`] in.
    pub folder: String,
    /// The folders in which it finds [`Self::modules`].
    pub search: Vec<String>,
    /// Paths of modules that it imports, directly or through each other, from the folder that all paths begin at.
    pub modules: Vec<String>,
    /// Paths of files that it names, from [`Self::folder`].
    pub data: Vec<String>,
    /// Why none of them could be used, so that something stands in for them.
    #[serde(default)]
    pub problem: Option<String>,
}

const VERSION: u32 = 1;

impl Prefixes {
    /// The functions of the snippet that are outside of others and that do something, but of which nothing runs.
    pub(crate) fn uncalled_in(&self, text: &str) -> Vec<String> {
        let texts: Vec<&str> = text.lines().collect();
        let does_nothing = |line: u32| {
            let text = texts.get(line as usize - 1).map_or("", |text| text.trim());
            matches!(text, "..." | "pass") || text.starts_with("raise NotImplementedError")
        };
        // Where it failed, it ran.
        let failed = self.nodes.iter().filter_map(|node| match &node.end {
            End::Raised(raise) if raise.in_snippet => Some(raise.line),
            _ => None,
        });
        let ran: BTreeSet<u32> = self.covered.iter().copied().chain(failed).collect();
        let (functions, _) = twincell_syntax::functions(text);
        // Of several with one name, nobody can name the others.
        let outer =
            functions.into_iter().filter(|function| function.parent.is_none() && !function.qualname.contains('#'));
        let idle = outer.filter(|function| {
            // The line of `def` runs without a call.
            let length = function.text.lines().count() as u32;
            let first = function.first_line + u32::from(length > 1);
            let lines = first..function.first_line + length;
            let mut own = self.lines.iter().copied().filter(|line| lines.contains(line)).peekable();
            own.peek().is_some() && !own.all(does_nothing) && ran.range(lines).next().is_none()
        });
        idle.map(|function| function.qualname).collect()
    }

    pub(crate) fn new(undefined: Vec<String>, lines: Vec<u32>, nodes: Vec<Prefix>, stopped: bool) -> Self {
        let covers = |number: usize| -> BTreeSet<u32> {
            nodes[number].completed.iter().copied().filter(|line| lines.binary_search(line).is_ok()).collect()
        };
        let sets: Vec<BTreeSet<u32>> = (0..nodes.len()).map(covers).collect();
        let all: BTreeSet<u32> = sets.iter().flatten().copied().collect();
        // More coverage first, then what ends by itself, and what is shorter and rests on fewer mocks.
        let worth = |number: usize| {
            let node = &nodes[number];
            let Prefix { text, end, .. } = node;
            let is_stopped = matches!(end, End::Steps | End::Time | End::Waits | End::Lost { .. });
            let fails = matches!(end, End::Raised(raise) if !raise.intended);
            // Of those of a length, earlier ones are more natural: they come from the text alone.
            (std::cmp::Reverse(sets[number].len()), is_stopped, fails, node.mocks(), text.lines().count(), number)
        };
        let mut order: Vec<usize> = (0..nodes.len()).collect();
        order.sort_by_key(|&number| worth(number));
        let best = order.first().copied().filter(|&best| !sets[best].is_empty());
        let mut left = all.clone();
        let mut chosen: Vec<usize> = Vec::new();
        while !left.is_empty() {
            let gain = |number: &&usize| sets[**number].intersection(&left).count();
            let most = order.iter().map(|number| gain(&number)).max().unwrap_or(0);
            let Some(&next) = order.iter().find(|number| gain(number) == most && most > 0) else { break };
            left.retain(|line| !sets[next].contains(line));
            chosen.push(next);
        }
        // Later ones may cover all that an earlier one was chosen for.
        for number in chosen.clone() {
            let of_others: BTreeSet<u32> = chosen
                .iter()
                .filter(|&&other| other != number)
                .flat_map(|&other| sets[other].iter().copied())
                .collect();
            if of_others == all {
                chosen.retain(|&other| other != number);
            }
        }
        let covered = all.into_iter().collect();
        let (tokens, problem, libraries, beside) = (0, None, vec![], None);
        let version = VERSION;
        Self {
            version,
            undefined,
            lines,
            covered,
            uncalled: vec![],
            as_is: Prefix::default(),
            nodes,
            chosen,
            best,
            stopped,
            tokens,
            problem,
            libraries,
            beside,
        }
    }

    /// Whether a library is missing that may be there next time, e.g. since there was no network.
    pub fn may_install_more(&self) -> bool {
        self.libraries.iter().filter_map(|library| library.problem.as_ref()).any(NotInstalled::may_pass)
    }

    /// The nodes that people see: the best one, then the others of [`Self::chosen`].
    pub fn kept(&self) -> Vec<usize> {
        let others = self.chosen.iter().copied().filter(|number| Some(*number) != self.best);
        self.best.into_iter().chain(others).collect()
    }

    /// A node with the snippet behind it, as one file. Imports from `__future__` stay first, and a snippet that awaits
    /// outside of functions becomes a function.
    pub fn program(&self, number: usize, snippet: &str) -> String {
        let [before, after] = self.around(snippet);
        match self.nodes.get(number).map_or("", |node| &node.text) {
            "" => before + &after,
            prefix => format!("{before}{prefix}\n{after}"),
        }
    }

    /// What stands before and behind the prefix in a program.
    pub fn around(&self, snippet: &str) -> [String; 2] {
        let [before, after] = around(snippet);
        let there = self.real_files().map_or_else(String::new, |used| used.way(true));
        [before + &there, after]
    }

    /// What was used of the files beside it.
    fn real_files(&self) -> Option<&Used> {
        self.beside.as_ref().filter(|used| used.problem.is_none())
    }

    /// What stands before the prefix in a cell of a notebook that runs in a folder.
    pub fn before_cell(&self, folder: &Path) -> String {
        // Cells import from there.
        let is_here = |one: &String| Path::new(one) == folder;
        let elsewhere = self.real_files().filter(|used| !used.search.iter().chain([&used.folder]).all(is_here));
        elsewhere.map_or_else(String::new, |used| used.way(false))
    }

    /// The share of lines that some prefix covers, 0 to 1.
    pub fn coverage(&self) -> f64 {
        share(self.covered.len(), self.lines.len())
    }

    /// The share of lines that a node covers, 0 to 1.
    pub fn coverage_of(&self, node: &Prefix) -> f64 {
        share(node.completed.iter().filter(|line| self.lines.binary_search(line).is_ok()).count(), self.lines.len())
    }
}

impl Used {
    /// Statements behind which code finds the files beside it. `goes` there, where it reads some.
    fn way(&self, goes: bool) -> String {
        let goes = goes && !self.data.is_empty();
        let mut lines = Vec::new();
        if goes {
            lines.push("import os".to_owned());
        }
        if !self.modules.is_empty() {
            lines.push("import sys".to_owned());
        }
        if lines.is_empty() {
            return String::new();
        }
        lines.push(String::new());
        if !self.modules.is_empty() {
            let folders = self.search.iter().map(|folder| python_string(folder)).collect::<Vec<_>>().join(", ");
            lines.push(format!("sys.path[:0] = [{folders}]  # {}", few(&self.modules)));
        }
        if goes {
            lines.push(format!("os.chdir({})  # {}", python_string(&self.folder), few(&self.data)));
        }
        lines.join("\n") + "\n\n"
    }
}

/// The names of some files, for a comment.
fn few(files: &[String]) -> String {
    const LISTED: usize = 3;
    let names: Vec<String> = files.iter().take(LISTED).map(|file| named(file)).collect();
    let more = if files.len() > LISTED { ", ..." } else { "" };
    format!("{}{more}", names.join(", "))
}

/// A file's name, which may hold anything.
fn named(file: &str) -> String {
    let is_plain = file.chars().all(|one| one.is_alphanumeric() || "._-/ ".contains(one));
    if is_plain { file.to_owned() } else { python_string(file) }
}

/// What stands before and behind the prefix in a program, wherever it runs.
fn around(snippet: &str) -> [String; 2] {
    let snippet = dedented(snippet);
    let snippet = &*without_magics(&snippet).unwrap_or_else(|| snippet.into_owned());
    let is_future = |line: &&str| line.trim_start().starts_with("from __future__ import");
    let (future, rest): (Vec<&str>, Vec<&str>) = snippet.lines().partition(is_future);
    if !future.is_empty() {
        return [future, rest].map(|lines| lines.join("\n") + "\n");
    }
    // Files await within functions only.
    if awaits(snippet) {
        let inner = indented(snippet);
        return ["import asyncio\n".to_owned(), format!("async def main():\n{inner}\nasyncio.run(main())\n")];
    }
    [String::new(), snippet.to_owned()]
}

/// The text with magics and shell commands as comments, since files have none. `None` if it has none.
fn without_magics(snippet: &str) -> Option<String> {
    let plain = without_escapes(snippet)?;
    let lines = snippet.lines().zip(plain.lines()).map(|(own, plain)| match plain.trim() {
        _ if own == plain => own.to_owned(),
        "0" => format!("{}pass  # {}", &own[..own.len() - own.trim_start().len()], own.trim()),
        _ => format!("{}  # {}", plain.trim_end(), own.trim()),
    });
    Some(lines.collect::<Vec<_>>().join("\n") + "\n")
}

fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 { 1.0 } else { part as f64 / whole as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn magics_are_comments_in_files() {
        let own = "%matplotlib inline\nfiles = !ls data\nif files:\n    !pip install x\ndf.plot()\n";
        let plain = "pass  # %matplotlib inline\nfiles = 0  # files = !ls data\nif files:\n    pass  # !pip install x\ndf.plot()\n";
        assert_eq!(around(own), [String::new(), plain.to_owned()]);
        assert_eq!(around("x = y % 2\n")[1], "x = y % 2\n");
    }

    fn chosen(sets: &[&[u32]]) -> (Vec<usize>, Option<usize>) {
        let node = |completed: &&[u32]| Prefix { completed: completed.to_vec(), ..Prefix::default() };
        let found = Prefixes::new(vec![], (1..=9).collect(), sets.iter().map(node).collect(), false);
        (found.chosen, found.best)
    }

    #[test]
    fn no_chosen_prefix_can_be_left_out() {
        assert_eq!(chosen(&[]), (vec![], None));
        assert_eq!(chosen(&[&[]]), (vec![], None));
        assert_eq!(chosen(&[&[1], &[1, 2, 3], &[4, 3]]), (vec![1, 2], Some(1)));
        // The greedy choice takes the first, which the other two make needless.
        assert_eq!(chosen(&[&[2, 3, 4, 5], &[1, 2, 3], &[4, 5, 6]]), (vec![1, 2], Some(0)));
    }
}
