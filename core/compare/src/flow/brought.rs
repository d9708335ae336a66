//! What the texts bring with them for examples: calls in docstrings and decorators, and names of which values may be made.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use twincell_engine::protocol::Context;
use twincell_syntax::{Import, Index, PerSide, Side};
use twincell_values::reading::examples::{Beside, written_beside};

use super::sources::{Sources, Version};
use crate::{ExampleSource, GivenCall};

/// The names that a module binds, for values that are made of them. None without its module.
#[derive(Debug, Default)]
pub(super) struct ModuleNames {
    pub all: BTreeSet<String>,
    pub classes: BTreeSet<String>,
}

impl ModuleNames {
    pub fn of(index: &Index, imports: &BTreeMap<String, Import>) -> Self {
        let classes: BTreeSet<String> = index.classes.keys().cloned().collect();
        let bound = index.bound_names().chain(imports.keys().map(String::as_str)).map(str::to_owned);
        Self { all: bound.chain(classes.iter().cloned()).collect(), classes }
    }
}

/// What was found.
struct Names(PerSide<Rc<ModuleNames>>);
struct Calls(Rc<[GivenCall]>);

/// The names that the modules of both versions bind.
pub(super) fn module_names(sources: &Sources) -> PerSide<Rc<ModuleNames>> {
    let names = |version: &Version| match sources.context {
        Context::Module => Rc::new(ModuleNames::of(&version.index, &version.imports)),
        Context::Function => Rc::default(),
    };
    sources.memo(|| Names(sources.versions.as_ref().map(names))).0.clone()
}

/// The calls that the two texts bring with them, those of new first.
pub(super) fn brought(sources: &Sources) -> Rc<[GivenCall]> {
    sources.memo(|| Calls(beside(sources.versions.as_ref().map(|version| &*version.text)))).0.clone()
}

fn beside(texts: PerSide<&str>) -> Rc<[GivenCall]> {
    let mut found: Vec<GivenCall> = Vec::new();
    for version in [Side::New, Side::Old] {
        if version == Side::Old && texts.old == texts.new {
            break;
        }
        for (kind, call) in written_beside(texts[version]) {
            let line = call.line;
            let source = match kind {
                Beside::Docstring => ExampleSource::Docstring { version, line },
                Beside::Decorator => ExampleSource::Decorator { version, line },
            };
            found.push(GivenCall { call, source });
        }
    }
    found.into()
}
