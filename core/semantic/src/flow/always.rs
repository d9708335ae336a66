//! Which look-ups of attributes always find something, so that no `__getattr__` is asked.

use crate::answers::Ancestor;
use crate::ids::{ModuleId, SymbolId};
use crate::module::Scope;
use crate::project::Project;
use crate::resolve::ancestors;

/// Whether every object of a class itself has an attribute, whenever something looks it up. This goes by the bodies of the
/// class and its ancestors and by the beginnings of their `__init__`; what `copy` and `pickle` make is taken to have it, too.
pub fn always_has(project: &Project, class: SymbolId, name: &str) -> bool {
    !is_deleted(project, name) && has_from_beginning(project, class, name)
}

/// Whether a module binds a name whatever happens, once its body has run.
pub fn module_always_has(project: &Project, module: ModuleId, name: &str) -> bool {
    let Some(text) = project.module(module) else { return false };
    let is_bound = text.name_id(name).is_some_and(|id| text.scopes.first().is_some_and(|one| one.always.contains(&id)));
    is_bound && !is_deleted(project, name)
}

fn is_deleted(project: &Project, name: &str) -> bool {
    let deletes = |module: ModuleId| {
        let text = project.module(module)?;
        Some(text.deleted.contains(&text.name_id(name)?))
    };
    project.modules().any(|module| deletes(module).unwrap_or_default())
}

fn has_from_beginning(project: &Project, class: SymbolId, name: &str) -> bool {
    let line = ancestors(project, class);
    let is_bare = || project.modules().any(|module| project.module(module).is_some_and(|text| text.makes_bare));
    let binds_itself = |one: &Ancestor, name: &str| match one {
        Ancestor::Class(class) => project.class_scopes(*class).any(|scope| binds(project, *class, scope, name)),
        Ancestor::External(_) => false,
    };
    let sets_itself = |name: &str| line.iter().any(|one| binds_itself(one, name));
    let mut is_beginning = !["__new__", "__setattr__", name].into_iter().any(sets_itself) && !is_bare();
    for ancestor in line.iter() {
        let class = match ancestor {
            Ancestor::Class(class) => *class,
            Ancestor::External(path) => {
                if matches!(&**path, "builtins.object" | "abc.ABC" | "typing.Generic" | "typing.Protocol") {
                    continue;
                }
                return false;
            }
        };
        let mut scopes = project.class_scopes(class);
        let (Some(scope), None) = (scopes.next(), scopes.next()) else { return false };
        let id = project.module(class.module).and_then(|text| text.name_id(name));
        if id.is_some_and(|id| scope.always.contains(&id) || is_beginning && scope.initial.contains(&id)) {
            return true;
        }
        if binds(project, class, scope, name) {
            return false;
        }
        is_beginning &= scope.goes_above;
    }
    false
}

fn binds(project: &Project, class: SymbolId, scope: &Scope, name: &str) -> bool {
    let id = project.module(class.module).and_then(|text| text.name_id(name));
    id.is_some_and(|id| scope.variables.contains_key(&id))
}
