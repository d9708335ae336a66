//! The libraries of the code under comparison as they are installed here: those that are missing, what others lack, and the
//! tables for which objects stand in where a module was evaluated without its files.

use std::collections::{BTreeMap, BTreeSet};

use pyo3::exceptions::PyAttributeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use twincell_engine::protocol::{GivenValue, Program, Unevaluated, Version};
use twincell_syntax::Import;
use twincell_syntax::site::SiteKind;
use twincell_values::drawing::PathKnowledge;
use twincell_values::path::AccessPath;
use twincell_values::reading::Uses;
use twincell_values::value::{Declared, library};

use crate::execution::object::MockObject;
use crate::execution::prediction_index::PredictionIndex;
use crate::hooks;
use crate::observe;
use crate::worker::version::LoadedVersion;

/// Imports the libraries whose values a program gets, while no code of it has run. Values of those that are not installed
/// stay what they are without a declaration. Returns their names.
pub(super) fn without_missing_libraries(py: Python<'_>, program: &mut Program) -> Vec<String> {
    let declared = program.versions.iter().flat_map(Version::all_uses).filter_map(|uses| uses.declared.as_ref());
    let mut modules: Vec<String> = declared.flat_map(Declared::modules).collect();
    let given: Vec<&str> = program.given.iter().flat_map(GivenValue::modules).collect();
    let written = imported(program);
    if modules.is_empty() && given.is_empty() && written.is_empty() {
        return modules;
    }
    for module in given.into_iter().chain(written) {
        // If it is missing, loading the value or the code says so.
        let _ = py.import(module);
    }
    modules.sort();
    modules.dedup();
    modules.retain(|module| py.import(module.as_str()).is_err());
    observe::note_libraries(py);
    if !modules.is_empty() {
        let is_missing = |uses: &Uses| {
            uses.declared.as_ref().is_some_and(|own| own.modules().iter().any(|module| modules.contains(module)))
        };
        let all = program.versions.iter_mut().flat_map(Version::all_uses_mut);
        all.filter(|uses| is_missing(uses)).for_each(|uses| uses.declared = None);
    }
    modules
}

/// The libraries that the texts of a program import, of those with classes that are told by their content.
fn imported(program: &Program) -> Vec<&'static str> {
    let is_it = |package: &str, module: &str| module.split('.').next() == Some(package);
    let is_imported = |package: &&'static str| {
        let by_module = program.imports.iter().any(|module| is_it(package, module));
        let mut codes =
            program.versions.iter().filter(|version| version.code.contains(package)).filter_map(own_imports);
        by_module || codes.any(|imports| imports.values().any(|import| is_it(package, &import.target)))
    };
    library::packages().filter(is_imported).collect()
}

/// What the function of a version imports itself. `None` if its text is too long to be read in a worker: the stack for that
/// is reserved by the length of the text, and the memory of workers is bounded.
fn own_imports(version: &Version) -> Option<BTreeMap<String, Import>> {
    const LONGEST: usize = 20_000;
    (version.code.len() <= LONGEST).then(|| twincell_syntax::imports(&version.code))
}

/// Removes the objects that stand in for tables where a module was evaluated without its files. Their names are missing then,
/// and each execution gets real ones.
pub(super) fn without_stand_ins(globals: &Bound<'_, PyDict>, index: &PredictionIndex) {
    let names = index.versions.iter().flat_map(|indexed| &indexed.version.sites.sites);
    for site in names.filter(|site| site.kind == SiteKind::Name) {
        let declared =
            PathKnowledge::known(index, AccessPath::new(&site.path)).and_then(|(_, uses)| uses.declared.as_ref());
        let is_table = declared.is_some_and(|own| own.library.iter().any(|class| library::has_shape(class)));
        if is_table
            && let Ok(Some(value)) = globals.get_item(&site.path)
            && value.is_instance_of::<MockObject>()
        {
            let _ = globals.del_item(&site.path);
        }
    }
}

/// What the code asks of installed libraries that they do not have: it is of another version. A name that a version binds or
/// imports itself may stand for something else than the module's.
pub(super) fn lacking(py: Python<'_>, index: &PredictionIndex, versions: &[LoadedVersion]) -> Vec<Unevaluated> {
    let mut found = Vec::new();
    for (indexed, version) in index.versions.iter().zip(versions) {
        let globals = version.globals.bind(py);
        let Some(own) = bound(&indexed.version) else { continue };
        for site in indexed.version.sites.sites.iter().filter(|site| site.kind == SiteKind::Attribute) {
            let Some((holder, name)) = AccessPath::new(&site.path).split_attribute() else { continue };
            let (first, rest) = holder.split_root();
            if !holder.is_dotted() || own.contains(first) {
                continue;
            }
            let Ok(Some(root)) = globals.get_item(first) else { continue };
            let Ok(object) = rest.split('.').skip(1).try_fold(root, |object, part| {
                hooks::of_library(&object).map_or_else(|| Err(PyAttributeError::new_err(())), |_| object.getattr(part))
            }) else {
                continue;
            };
            let Some(module) = hooks::of_library(&object) else { continue };
            let lacks = Unevaluated::Lacking { module, name: name.to_owned() };
            if matches!(object.hasattr(name), Ok(false)) && !found.contains(&lacks) {
                found.push(lacks);
            }
        }
    }
    found
}

/// The names that the code of a version binds or imports itself, in any of its functions. `None` if nobody knows.
fn bound(version: &Version) -> Option<BTreeSet<String>> {
    let parameters = version.parameters.iter().map(|parameter| parameter.name.clone());
    let names = version.locals.names.iter().cloned().chain(parameters);
    Some(names.chain(own_imports(version)?.into_keys()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_read_up_to_the_greatest_length() {
        let imports = |length: usize| {
            let mut program = twincell_samples::executions::program("def f():\n    import polars\n");
            let version = &mut program.versions[0];
            version.code = format!("{:length$}", version.code);
            own_imports(version).map(|imports| imports.len())
        };
        assert_eq!((imports(20_000), imports(20_001)), (Some(1), None));
    }
}
