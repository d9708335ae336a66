//! The examples of a pair: which of those that were given are its own, and what they say of its parameters.

use std::sync::Arc;

use twincell_engine::protocol::Version;
use twincell_values::value::{Decision, Recipe};

use super::pair::Pair;
use super::prepare::canonical;
use crate::{Example, Examples};

/// The examples of a pair, each once.
pub(super) fn of_pair(pair: &Pair, given: &Examples) -> Vec<Arc<Example>> {
    let names = pair.versions.as_ref().map(|version| entity(&version.parts[0].qualname));
    let own = names.iter().enumerate().filter(|(at, name)| *at == 0 || **name != names.old);
    let own = own.filter_map(|(_, name)| given.of.get(*name)).flatten();
    let mut found: Vec<Arc<Example>> = Vec::new();
    for example in own.chain(&given.of_all) {
        if found.iter().all(|other| other.fixed != example.fixed) {
            found.push(Arc::new(example.clone()));
        }
    }
    found
}

/// Lets parameters have values of the classes that examples give them, whatever is declared: callers pass them.
pub(super) fn admit(versions: &mut [Version], examples: &[Arc<Example>]) {
    let values = examples.iter().flat_map(|example| &example.fixed).filter_map(|(path, decision)| match decision {
        Decision::Value(value) => Some((path, value)),
        _ => None,
    });
    for (path, value) in values {
        for version in &mut *versions {
            let Version { sites, uses, renames, .. } = version;
            let own = sites.sites.iter().zip(uses).filter(|(site, _)| canonical(&site.path, renames) == *path);
            for (_, uses) in own {
                match value {
                    Recipe::None if !uses.candidates.contains(value) => uses.candidates.push(Recipe::None),
                    Recipe::None => {}
                    _ if uses.declared.as_ref().is_none_or(|declared| declared.admits(value)) => {}
                    _ if uses.tested.contains(&value.abstract_value()) => {}
                    _ => uses.tested.push(value.abstract_value()),
                }
            }
        }
    }
}

/// The name of a function without the number of a duplicate.
fn entity(qualname: &str) -> &str {
    qualname.split('#').next().unwrap_or(qualname)
}
