//! What is evaluated before a function: its module, or as much of it as stays without the module.

use std::collections::BTreeSet;
use std::rc::Rc;

use twincell_engine::protocol::Context;
use twincell_syntax::python::is_always_real;
use twincell_syntax::{CodeKind, Function, Index, PerSide, Side};

use super::one_sided;
use crate::flow::classes::owner;
use crate::flow::sources::Sources;

/// The text that is evaluated before a function in its context.
pub(super) fn module(sources: &Sources, side: Side, kept: &BTreeSet<String>, parts: &[&Function]) -> Rc<str> {
    let function = parts[0];
    match sources.context {
        // The statements are the rest of the module.
        _ if function.kind == CodeKind::Snippet => sources[side].context.clone(),
        Context::Module => sources[side].module.clone(),
        Context::Function if sources.cut_out => Rc::default(),
        Context::Function => {
            let index = &sources[side].index;
            let keep: BTreeSet<String> = kept.iter().cloned().chain(pure_imports(index, parts)).collect();
            index.slice(&keep).into()
        }
    }
}

/// The text for an execution without the module: as in function context, the constants that the function reads, which
/// the code could also have written out, and what it imports from its project, which is there in each version.
pub(super) fn alone(sources: &Sources, side: Side, kept: &BTreeSet<String>, parts: &[&Function]) -> String {
    let function = parts[0];
    if sources.context == Context::Function || function.kind == CodeKind::Snippet {
        return String::new();
    }
    let index = &sources[side].index;
    let mut keep = kept.clone();
    let of_both = |name: &String| sources.indices().all(|index| index.is_constant(name));
    let reached = index.reach(function.entity());
    let owners = reached.iter().filter_map(|name| name.rsplit_once('.')).map(|(owner, _)| owner.to_owned());
    let enumerations: BTreeSet<String> = owners.filter(of_both).collect();
    keep.extend(one_sided::needed_whole(index, &enumerations));
    // Constants may be made with modules that only compute.
    keep.extend(reached.into_iter().filter(|name| of_both(name) || index.is_pure_import(name)));
    keep.extend(pure_imports(index, parts));
    keep.extend(read(parts).filter(|name| sources[side].of_project.contains(name)));
    let real = sources[side].imports.iter().filter(|(_, import)| is_always_real(&import.target));
    keep.extend(real.map(|(name, _)| name.clone()));
    index.slice(&keep)
}

/// What a function and its companions read of modules that only compute. These are there on every machine, so what they
/// give does not have to be invented.
fn pure_imports(index: &Index, parts: &[&Function]) -> BTreeSet<String> {
    read(parts).filter(|name| index.is_pure_import(name)).collect()
}

/// The names that a function and its companions read of what surrounds them.
fn read(parts: &[&Function]) -> impl Iterator<Item = String> {
    let texts = parts.iter().flat_map(|part| std::iter::once(&part.text).chain(&part.decorators));
    texts.flat_map(|text| twincell_syntax::global_names(text))
}

/// What a version has of its text even without its module: what changed and the function uses, and what only one version
/// uses (`one_sided.rs`). The class around it is kept for `self`, and so are the classes between it and those from which
/// it inherits something of this.
pub(super) fn kept(sources: &Sources, side: Side, functions: &PerSide<Function>, path: &[String]) -> BTreeSet<String> {
    let function = &functions[side];
    let mut keep = one_sided::kept(sources, side, functions);
    keep.extend(path.iter().cloned());
    keep.remove(function.entity());
    if let Some(own) = owner(function) {
        let classes = sources[side].index.ancestry(own);
        let is_kept = |class: &String| keep.iter().any(|name| name.rsplit_once('.').is_some_and(|(of, _)| of == class));
        if classes.iter().skip(1).any(is_kept) {
            keep.extend(classes);
        }
    }
    keep
}
