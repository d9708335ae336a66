//! Whether a proof says that a function does the same. What it calls is taken to do the same, since a change there is
//! compared by itself.

use std::collections::BTreeSet;

use twincell_prove::{Answer, DEPTH, ModuleNames, Proof, prove};
use twincell_syntax::{CodeKind, Function, PerSide, Side, attribute_names, functions as functions_of};

use super::sources::Sources;

/// The proof that both versions of a function do the same, if there is one.
pub(super) fn proof(sources: &Sources, functions: &PerSide<Function>) -> Option<Proof> {
    let (old, new) = (&functions.old, &functions.new);
    let are_functions = functions.iter().all(|function| function.kind == CodeKind::Function);
    if !are_functions || !functions.iter().all(is_plain) || old.decorators != new.decorators {
        return None;
    }
    if uses_changed_attribute(sources, functions.iter()) {
        return None;
    }
    let module = |side: Side| match sources.cut_out {
        true => &*sources[side].module,
        false => &*sources[side].text,
    };
    let modules = [module(Side::Old), module(Side::New)];
    let names = ModuleNames::new(modules, [old.entity(), new.entity()]).looking_into(modules, DEPTH);
    match prove(&old.text, &new.text, &names) {
        Answer::Equivalent(proof) => {
            let is_looked_into = |one: &Function| proof.looked_into.contains(one.entity());
            let texts = modules.into_iter().filter(|_| !proof.looked_into.is_empty());
            let looked_into: Vec<Function> =
                texts.flat_map(|text| functions_of(text).0).filter(is_looked_into).collect();
            (!uses_changed_attribute(sources, looked_into.iter())).then_some(proof)
        }
        Answer::Unknown(_) => None,
    }
}

/// Whether a function means what its text says: nothing around it binds its names, and no decorator reads what a proof leaves out.
fn is_plain(function: &Function) -> bool {
    const PLAIN: [&str; 3] = ["staticmethod", "classmethod", "property"];
    function.parent.is_none()
        && function.decorators.iter().all(|decorator| PLAIN.contains(&decorator.trim().trim_start_matches('@')))
}

/// Whether one of these functions uses an attribute that may be a changed method or a changed variable of a class.
fn uses_changed_attribute<'f>(sources: &Sources, mut functions: impl Iterator<Item = &'f Function>) -> bool {
    let changed: BTreeSet<&str> = sources.changed.iter().filter_map(|name| Some(name.rsplit_once('.')?.1)).collect();
    functions.any(|function| attribute_names(&function.text).iter().any(|name| changed.contains(name.as_str())))
}
