//! What the names mean that a function has from its module.

use std::collections::BTreeSet;

use ruff_python_ast::Stmt;
use twincell_syntax::parse::{parse, with_stack_for};
use twincell_syntax::python::is_builtin;
use twincell_syntax::scopes::declared_globals;
use twincell_syntax::{Index, changed_entities};

use crate::lower::counts;

/// What a name of the module means in the two versions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meaning {
    /// The builtin of this name: neither module binds it.
    Builtin,
    /// The same thing in both versions, bound before the function runs and not bound again while it runs.
    Same,
    /// Something else, or nobody knows.
    Different,
}

/// Says what the names of a module mean. The caller of a proof knows the modules; the functions alone do not tell.
pub trait Names {
    fn meaning(&self, name: &str) -> Meaning;

    /// Whether the name of the function stands for the function itself within it, in both versions. A method is reached in
    /// another way, and a decorator may put something else in the place of the function.
    fn calls_itself(&self) -> bool {
        false
    }
}

/// Names as the texts of the two modules tell. Other modules are taken to be the same in both versions.
#[derive(Debug, Clone, Default)]
pub struct ModuleNames {
    bound: BTreeSet<String>,
    different: BTreeSet<String>,
    has_star_import: bool,
    calls_itself: bool,
}

impl ModuleNames {
    /// Of the modules in which a function stands, with its names in both.
    pub fn new(modules: [&str; 2], functions: [&str; 2]) -> Self {
        let length = modules[0].len().max(modules[1].len());
        with_stack_for(length, || {
            let indices = modules.map(Index::of);
            let mut changed = changed_entities(&indices[0], &indices[1]);
            changed.extend(functions.map(str::to_string));
            let mut names = ModuleNames { calls_itself: true, ..ModuleNames::default() };
            for ((text, index), function) in modules.iter().zip(&indices).zip(functions) {
                names.different.extend(index.tainted(&changed));
                let rebound = declared_globals(text);
                let parsed = parse(text);
                let body = &parsed.syntax().body;
                let bound = counts(body);
                let is_plain = |statement: &Stmt| matches!(statement, Stmt::FunctionDef(node) if node.name.as_str() == function && node.decorator_list.is_empty());
                names.calls_itself &=
                    bound.get(function) == Some(&1) && body.iter().any(is_plain) && !rebound.contains(function);
                names.bound.extend(bound.into_keys());
                names.different.extend(rebound);
                names.has_star_import |= body.iter().any(|statement| {
                    matches!(statement, Stmt::ImportFrom(node) if node.names.iter().any(|alias| alias.name.as_str() == "*"))
                });
            }
            names.different.extend(changed);
            names
        })
    }
}

impl Names for ModuleNames {
    fn meaning(&self, name: &str) -> Meaning {
        if self.different.contains(name) {
            return Meaning::Different;
        }
        if is_builtin(name) && !self.bound.contains(name) {
            return if self.has_star_import { Meaning::Same } else { Meaning::Builtin };
        }
        Meaning::Same
    }

    fn calls_itself(&self) -> bool {
        self.calls_itself
    }
}
