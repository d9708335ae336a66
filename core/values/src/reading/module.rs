//! Reads what a module tells of the values of its functions.

use super::facts::{Classes, ModuleFacts, POLARS, package_of};
use super::imported::{self, Around};
use super::models::classes;
use super::provided::{Provided, provided};
use super::tables;
use crate::value::library;

impl ModuleFacts {
    pub fn of(module: &str) -> Self {
        Self::with_classes(module, Classes::new(), &Provided::new())
    }

    /// What a module of a project tells, with the classes that it imports from other modules. `module` has absolute
    /// imports.
    pub fn within(module: &str, around: &Around<'_>) -> Self {
        let provided = provided(module, around.name, false, around.providers);
        Self::with_classes(module, imported::classes(module, around), &provided)
    }

    fn with_classes(module: &str, imported: Classes, provided: &Provided) -> Self {
        let classes = classes(module, None, imported, provided);
        let mut known = Self { classes, has_arrays: true, ..Self::default() };
        let is_renamed = module.contains(&format!(" as {POLARS}"));
        if !is_renamed && !library::packages().any(|package| module.contains(package)) {
            return known;
        }
        let imports = twincell_syntax::imports(module);
        known.imports = imports.iter().map(|(name, import)| (name.clone(), import.target.clone())).collect();
        let imports_any = |package: &str| imports.values().any(|import| package_of(&import.target) == package);
        (known.has_pandas, known.has_polars) = (imports_any("pandas"), imports_any("polars"));
        known.has_tables = known.has_pandas || known.has_polars || imports_any("numpy");
        known.has_arrays = !known.has_tables || imports_any("numpy");
        known.texts = tables::constants(module);
        known.helpers = tables::helpers(module);
        if known.has_tables {
            known.bound = imports.into_keys().chain(tables::definitions(module)).collect();
            (known.tables, known.handed) = tables::of_module(module, &known);
        }
        known
    }
}
