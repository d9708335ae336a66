//! What is evaluated before a function: its module, or as much of it as stays without the module.

use std::collections::BTreeSet;
use std::rc::Rc;

use twincell_engine::protocol::Context;
use twincell_syntax::python::is_always_real;
use twincell_syntax::{CodeKind, Function, Import, Index, PerSide, Side};

use super::{Texts, entity, owner};

/// The text that is evaluated before a function in its context.
pub(super) fn module(texts: &Texts, side: Side, kept: &BTreeSet<String>, parts: &[Function]) -> Rc<str> {
    let function = &parts[0];
    match texts.context {
        // The statements are the rest of the module.
        _ if function.kind == CodeKind::Snippet => texts.contexts[side].clone(),
        Context::Module => texts.modules[side].clone(),
        Context::Function if texts.cut_out => Rc::default(),
        Context::Function => {
            let index = &texts.indices[side];
            let keep: BTreeSet<String> = kept.iter().cloned().chain(pure_imports(index, parts)).collect();
            index.slice(&keep).into()
        }
    }
}

/// The text for an execution without the module: as in function context, the constants that the function reads, which
/// the code could also have written out, and what it imports from its project, which is there in each version.
pub(super) fn alone(texts: &Texts, side: Side, kept: &BTreeSet<String>, parts: &[Function]) -> String {
    let function = &parts[0];
    if texts.context == Context::Function || function.kind == CodeKind::Snippet {
        return String::new();
    }
    let index = &texts.indices[side];
    let mut keep = kept.clone();
    let of_both = |name: &String| texts.indices.iter().all(|index| index.is_constant(name));
    let reached = index.reach(entity(function)).into_iter();
    // Constants may be made with modules that only compute.
    keep.extend(reached.filter(|name| of_both(name) || index.is_pure_import(name)));
    keep.extend(pure_imports(index, parts));
    if let Some(place) = &texts.places[side] {
        let imports = twincell_syntax::imports(&texts.elsewhere[side]);
        let of_project = |import: &Import| import.is_global && twincell_project::holds(place, &import.target);
        keep.extend(read(parts).filter(|name| imports.get(name).is_some_and(of_project)));
    }
    let real = texts.imports[side].iter().filter(|(_, import)| is_always_real(&import.target));
    keep.extend(real.map(|(name, _)| name.clone()));
    index.slice(&keep)
}

/// What a function and its companions read of modules that only compute. These are there on every machine, so what they
/// give does not have to be invented.
fn pure_imports(index: &Index, parts: &[Function]) -> BTreeSet<String> {
    read(parts).filter(|name| index.is_pure_import(name)).collect()
}

/// The names that a function and its companions read of what surrounds them.
fn read(parts: &[Function]) -> impl Iterator<Item = String> {
    let texts = parts.iter().flat_map(|part| std::iter::once(&part.text).chain(&part.decorators));
    texts.flat_map(|text| twincell_syntax::global_names(text))
}

/// What a version has of its text even without its module: what changed and the function uses, and the functions that only
/// this version uses, where the other may do the same by itself. The class around it is kept for `self`, and so are the
/// classes between it and those from which it inherits something of this.
pub(super) fn kept(texts: &Texts, side: Side, functions: &PerSide<Function>, path: &[String]) -> BTreeSet<String> {
    let function = &functions[side];
    let mut keep = helpers_of_one(texts, side, functions);
    keep.extend(path.iter().cloned());
    keep.remove(entity(function));
    if let Some(own) = owner(function) {
        let classes = texts.indices[side].ancestry(own);
        let is_kept = |class: &String| keep.iter().any(|name| name.rsplit_once('.').is_some_and(|(of, _)| of == class));
        if classes.iter().skip(1).any(is_kept) {
            keep.extend(classes);
        }
    }
    keep
}

/// The functions that only this version uses, and what these need.
fn helpers_of_one(texts: &Texts, side: Side, functions: &PerSide<Function>) -> BTreeSet<String> {
    if functions[side].kind == CodeKind::Snippet {
        return BTreeSet::new();
    }
    let index = &texts.indices[side];
    let used = |side: Side| texts.indices[side].used_by(entity(&functions[side]));
    let of_other = used(side.other());
    // The other version may reach it by its name: `getattr(self, 'css')`.
    let other = &functions[side.other()].text;
    let is_named = |name: &str| {
        let last = name.rsplit('.').next().unwrap_or(name);
        ['\'', '"'].iter().any(|quote| other.contains(&format!("{quote}{last}{quote}")))
    };
    let helpers = used(side).into_iter().filter(|name| !of_other.contains(name) && index.is_function(name));
    let helpers = helpers.filter(|name| !is_named(name));
    let mut keep = BTreeSet::new();
    for helper in helpers {
        let needed = index.reach(&helper).into_iter();
        keep.extend(
            needed.filter(|name| index.is_function(name) || index.is_constant(name) || index.is_pure_import(name)),
        );
        keep.insert(helper);
    }
    keep
}
