//! Which functions and classes of the program the names in its code lead to. They are looked up without code of
//! their metaclasses, along names of the module, modules, and the namespaces of classes.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyModule, PyType};
use twincell_syntax::site::SiteKind;

use crate::execution::own_uses::{OwnUse, OwnUses};
use crate::execution::prediction_index::PredictionIndex;
use crate::execution::{code, namespaces};
use crate::observe::classes;
use crate::worker::module;

/// The calls and attributes of all versions, each with what it leads to in the module of its version.
pub(super) fn own_uses(index: &PredictionIndex, modules: &[Bound<'_, PyDict>]) -> OwnUses {
    let of_version = |(version, module): (usize, &Bound<'_, PyDict>)| {
        let sites = (0..).zip(&index.versions[version].version.sites.sites);
        let uses = sites.filter(|(_, site)| matches!(site.kind, SiteKind::Call | SiteKind::Attribute));
        let uses = uses.map(|(number, site)| {
            let path = index.path(version, number);
            let callee = match site.kind {
                SiteKind::Call => index.container_path(version, number),
                _ => path.to_buf(),
            };
            OwnUse {
                site: number,
                kind: site.kind,
                identifier: site.identifier.clone(),
                is_certain: callee.as_path().is_dotted() && !index.is_local(version, number),
                target: target(index, version, module, callee.as_str()),
                path: path.to_string(),
            }
        });
        uses.collect()
    };
    let versions: Vec<Vec<OwnUse>> = modules.iter().enumerate().map(of_version).collect();
    OwnUses::new(&versions)
}

/// The function or class of the program that a dotted path leads to, by the name that all versions have for it.
fn target(index: &PredictionIndex, version: usize, module: &Bound<'_, PyDict>, path: &str) -> Option<String> {
    let described = &index.versions[version].version;
    let mut parts = path.split('.');
    let first = parts.next()?;
    let is_it = |name: &str| index.canonical(version, name) == first;
    let own = described.parameters.first().filter(|own| described.class_name.is_some() && is_it(&own.name));
    let is_bound = described.parameters.iter().any(|other| is_it(&other.name))
        || described.locals.names.iter().any(|local| local == first);
    let mut found = match own {
        Some(_) => module::enclosing_class(module, &described.qualname)?,
        None if is_bound => return None,
        None => module.get_item(first).ok()??,
    };
    for part in parts {
        found = member(&found, part)?;
    }
    let found = classes::function_of(&found).unwrap_or(found);
    let name = code::program_name(&found)?;
    let former = || index.former_function(version, name.strip_prefix(code::MODULE_NAME)?.strip_prefix(':')?);
    Some(former().map_or(name.clone(), |former| format!("{}:{former}", code::MODULE_NAME)))
}

/// What a class or a module holds under a name.
fn member<'py>(holder: &Bound<'py, PyAny>, name: &str) -> Option<Bound<'py, PyAny>> {
    if let Ok(class) = holder.cast::<PyType>() {
        let holds = |namespace: &Bound<'_, PyAny>| namespace.contains(name).unwrap_or(false);
        return namespaces::namespaces(class).ok()?.into_iter().find(holds)?.get_item(name).ok();
    }
    holder.cast_exact::<PyModule>().ok()?.dict().get_item(name).ok()?
}
