//! What the names mean that a function has from its module.

use std::collections::{BTreeMap, BTreeSet};

use ruff_python_ast::{ModModule, Stmt, StmtFunctionDef};
use ruff_python_parser::Parsed;
use ruff_text_size::Ranged;
use twincell_syntax::parse::{parse, with_stack_for};
use twincell_syntax::python::is_builtin;
use twincell_syntax::scopes::declared_globals;
use twincell_syntax::{Index, PerSide, Side, changed_entities, global_names};

use crate::bindings::counts;

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

    /// The function that a name stands for in one version, if a proof looks into calls of it where it stands below this many
    /// calls that it looks into.
    fn called(&self, _side: Side, _name: &str, _below: u32) -> Option<&Definition> {
        None
    }
}

/// A function of a module.
#[derive(Debug, Clone)]
pub struct Definition {
    /// The names that it has from its module.
    reads: BTreeSet<String>,
    parsed: Parsed<ModModule>,
}

impl Definition {
    /// The only function of a text.
    fn of(text: &str) -> Option<Self> {
        let parsed = parse(text);
        let own = Self { reads: global_names(text), parsed };
        (own.parsed.errors().is_empty() && own.function().is_some()).then_some(own)
    }

    pub(crate) fn function(&self) -> Option<&StmtFunctionDef> {
        match &self.parsed.syntax().body[..] {
            [Stmt::FunctionDef(function)] => Some(function),
            _ => None,
        }
    }
}

/// Names as the texts of the two modules tell. Other modules are taken to be the same in both versions.
#[derive(Debug, Clone, Default)]
pub struct ModuleNames {
    bound: BTreeSet<String>,
    different: BTreeSet<String>,
    has_star_import: bool,
    calls_itself: bool,
    /// How many calls deep a proof looks, and into which functions.
    depth: u32,
    called: PerSide<BTreeMap<String, Definition>>,
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
                names.has_star_import |= bound.contains_key("*");
                names.bound.extend(bound.into_keys());
                names.different.extend(rebound);
            }
            names.different.extend(changed);
            names
        })
    }

    /// Lets proofs look into calls of functions of the modules that differ between the versions or that only one has, so many
    /// calls deep. Such a function has one definition, without decorators, and nothing else binds its name.
    #[must_use]
    pub fn looking_into(mut self, modules: [&str; 2], depth: u32) -> Self {
        self.depth = depth;
        if depth == 0 || self.has_star_import {
            return self;
        }
        let length = modules[0].len().max(modules[1].len());
        self.called = with_stack_for(length, || {
            let definitions = |text: &str| {
                let parsed = parse(text);
                let body = &parsed.syntax().body;
                let (bound, rebound) = (counts(body), declared_globals(text));
                let functions = body.iter().filter_map(Stmt::as_function_def_stmt);
                let is_plain = |one: &&StmtFunctionDef| {
                    let name = one.name.as_str();
                    one.decorator_list.is_empty()
                        && !one.is_async
                        && bound.get(name) == Some(&1)
                        && !rebound.contains(name)
                        && self.different.contains(name)
                };
                let named = |one: &StmtFunctionDef| {
                    let (start, end) = (one.start().to_usize(), one.end().to_usize());
                    Some((one.name.to_string(), Definition::of(text.get(start..end)?)?))
                };
                functions.filter(is_plain).filter_map(named).collect()
            };
            PerSide::new(modules[0], modules[1]).map(definitions)
        });
        self
    }

    /// Whether proofs about these texts of the two functions look into a function that is this deep, and no less.
    pub fn is_deeper(&self, functions: PerSide<&str>) -> bool {
        Side::BOTH.into_iter().any(|side| {
            let called = &self.called[side];
            let mut next = global_names(functions[side]);
            let mut known: BTreeSet<&str> = BTreeSet::new();
            for _ in 1..self.depth {
                let found: Vec<_> = next.iter().filter_map(|name| called.get_key_value(name)).collect();
                next = found.iter().flat_map(|(_, one)| one.reads.iter().cloned()).collect();
                known.extend(found.into_iter().map(|(name, _)| name.as_str()));
            }
            self.depth > 0 && next.iter().any(|name| called.contains_key(name) && !known.contains(name.as_str()))
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

    fn called(&self, side: Side, name: &str, below: u32) -> Option<&Definition> {
        if below < self.depth { self.called[side].get(name) } else { None }
    }
}
