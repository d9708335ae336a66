//! What the errors of plain runs have taught about a snippet.

use std::collections::{BTreeMap, BTreeSet};

use twincell_sketch::Scenario;

use crate::import::Import;

/// How to write an environment so that it does not fail.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Lessons {
    /// Access paths of objects that are written as mocks, which take whatever is asked of them.
    pub(crate) mocked: BTreeSet<String>,
    /// Builtin functions are given other meanings, where the execution has such.
    pub(crate) has_builtins: bool,
    /// Names that are written as classes.
    pub(crate) classes: BTreeSet<String>,
    /// Modules that cannot be imported here, and are written with what the snippet takes from them instead of as mocks.
    pub(crate) plain_modules: BTreeSet<String>,
    /// Access paths of what the text speaks of and an execution does not need.
    pub(crate) pruned: BTreeSet<String>,
    /// Functions that are written with the parameters that the snippet gives them, as `signatures.rs` names them.
    pub(crate) signatures: BTreeSet<String>,
    /// Answers to `input()` that the snippet does not need.
    pub(crate) unanswered: BTreeSet<String>,
    /// What happens where the snippet leaves the program.
    pub(crate) exits: Exits,
    /// A call of Python or of a library that fails, as the snippet expects.
    pub(crate) failing: Option<Failing>,
    /// Modules that are made absent, as the snippet expects.
    pub(crate) absent: BTreeSet<String>,
    /// Which conditions on stand-ins do not hold.
    pub(crate) scene: Scenario,
    /// What holds for every prefix of the snippet.
    pub(crate) common: Common,
}

/// What happens where a snippet leaves the program.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Exits {
    #[default]
    End,
    /// It goes on, unless it gives a status.
    EndWithStatus,
    GoOn,
}

/// A call that fails.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failing {
    /// What is called, by dotted name.
    pub(crate) origin: String,
    /// The class of its exception, as the snippet writes it.
    pub(crate) class: String,
    /// Only the first call fails.
    pub(crate) is_once: bool,
}

/// A file that the snippet opens.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Wanted {
    /// The line that opens it.
    pub(crate) line: u32,
    /// What the snippet asks of its rows that the text does not tell.
    pub(crate) columns: Vec<String>,
}

/// What holds for every prefix of a snippet.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Common {
    /// Modules that cannot be imported here, and are mocks.
    pub(crate) modules: BTreeSet<String>,
    /// What modules hold, by module and dotted path in it, that cannot do its work here, and is a mock.
    pub(crate) patched: BTreeSet<(String, String)>,
    /// Modules of Python 2, which have other names now.
    pub(crate) moved: BTreeSet<String>,
    /// Recognised imports that do not fit, so that the names are values.
    pub(crate) without: BTreeSet<Import>,
    /// Files to make.
    pub(crate) files: BTreeMap<String, Wanted>,
    /// Folders to make, with a file in each.
    pub(crate) folders: BTreeSet<String>,
    /// Names of Python 2 that have other names now.
    pub(crate) old_names: BTreeSet<String>,
    /// Imports that the snippet has only behind the first use of their names.
    pub(crate) early: BTreeSet<Import>,
    /// Names that nothing tells anything about.
    pub(crate) names: BTreeSet<String>,
    /// The snippet is a module of a package: it has relative imports.
    pub(crate) is_in_package: bool,
    /// Nobody answers `input()`.
    pub(crate) has_input: bool,
    /// The number of arguments on the command line, where somebody has to give some.
    pub(crate) arguments: usize,
    /// Variables of the environment that nobody has set.
    pub(crate) variables: BTreeSet<String>,
    /// Ranges are so long that the snippet takes too long.
    pub(crate) has_short_ranges: bool,
}

impl Common {
    /// The number of columns that files have because an error asked for them.
    pub(crate) fn columns(&self) -> usize {
        self.files.values().map(|wanted| wanted.columns.len()).sum()
    }

    /// Takes over what somebody else has learned.
    pub(crate) fn join(&mut self, other: &Self) {
        let Self {
            modules,
            patched,
            moved,
            without,
            files,
            folders,
            old_names,
            early,
            names,
            variables,
            is_in_package,
            has_input,
            arguments,
            has_short_ranges,
        } = other;
        self.modules.extend(modules.iter().cloned());
        self.patched.extend(patched.iter().cloned());
        self.without.extend(without.iter().cloned());
        for (file, wanted) in files {
            let known = self.files.entry(file.clone()).or_insert_with(|| wanted.clone());
            let new = wanted.columns.iter().filter(|column| !known.columns.contains(column));
            let new: Vec<String> = new.cloned().collect();
            known.columns.extend(new);
        }
        self.moved.extend(moved.iter().cloned());
        self.folders.extend(folders.iter().cloned());
        self.old_names.extend(old_names.iter().cloned());
        self.early.extend(early.iter().cloned());
        self.names.extend(names.iter().cloned());
        self.is_in_package |= is_in_package;
        self.variables.extend(variables.iter().cloned());
        self.has_input |= has_input;
        self.arguments = self.arguments.max(*arguments);
        self.has_short_ranges |= has_short_ranges;
    }
}
