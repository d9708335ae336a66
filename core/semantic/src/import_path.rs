//! Which module an import names.

use crate::ids::ModuleId;
use crate::project::Project;

/// The module that `import dotted` finds in a module, or `from ..dotted import` with as many dots as `level` says. Nothing for
/// what is not of the project.
pub fn module_of_import(project: &Project, from: ModuleId, level: u32, dotted: &str) -> Option<ModuleId> {
    match level {
        0 => project.layout.absolute(from, dotted),
        level => project.layout.relative(from, level, dotted),
    }
}

/// The module of a name within a package.
pub fn submodule(project: &Project, package: ModuleId, name: &str) -> Option<ModuleId> {
    project.layout.submodule(package, name)
}
