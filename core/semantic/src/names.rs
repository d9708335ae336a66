//! What the names of one module stand for, place by place, from texts alone: names, imports, dotted names, and attributes of a
//! method's own object. Values are not followed, so nothing but the module and what it names is read.

use crate::answers::{Ancestor, Referent};
use crate::ids::{ModuleId, NameId, ScopeId, SymbolId};
use crate::module::{Module, Receiver, ScopeKind, SymbolKind, Target};
use crate::project::Project;
use crate::resolve::{
    Trail, ancestors, attribute, follow, from_import, module_or_external, name_in_scope, own_attribute, unique,
};

/// A place that reads a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NameUse {
    /// The symbol whose text holds the place.
    pub owner: SymbolId,
    /// In the text with `\n` for every line end.
    pub range: (u32, u32),
    /// What it stands for. Any of several would do: branches define a name differently, and classes inherit.
    pub found: Vec<Referent>,
}

/// The names that a module reads, in order, with what is of the project or outside. Locals are left out.
pub fn names_in(project: &Project, module: ModuleId) -> Vec<NameUse> {
    let Some(text) = project.module(module) else { return Vec::new() };
    let mut uses = Vec::new();
    // Where the last reference ended and what it stands for: what follows after a dot is its attribute.
    let mut before: (u32, Vec<Referent>) = (u32::MAX, Vec::new());
    for reference in &text.references {
        let trail = &mut Trail::default();
        let mut is_own = false;
        let found = match reference.target {
            Target::Name(name) => match receiver_class(project, module, text, reference.scope, name) {
                Some(class) => {
                    is_own = true;
                    vec![Referent::Symbol(class)]
                }
                None => name_in_scope(project, module, reference.scope, name, trail),
            },
            Target::Import(path) => vec![module_or_external(project, module, path)],
            Target::ImportFrom(path, name) => unique(from_import(project, module, path, name, trail)),
            Target::Attribute(_, name) if before.0.checked_add(1) == Some(reference.range.start().to_u32()) => {
                let objects: Vec<Referent> =
                    before.1.iter().cloned().flat_map(|object| follow(project, object, trail)).collect();
                let name = text.name(name);
                unique(objects.iter().flat_map(|object| every(project, object, name, trail)).collect())
            }
            Target::Attribute(..) => Vec::new(),
        };
        before = (reference.range.end().to_u32(), found.clone());
        if is_own || reference.is_store || found.is_empty() {
            continue;
        }
        uses.push(NameUse {
            owner: SymbolId::new(module, reference.owner),
            range: (reference.range.start().to_u32(), reference.range.end().to_u32()),
            found,
        });
    }
    uses
}

/// What `object.name` may be: of a class, that of each class that it inherits from.
fn every(project: &Project, object: &Referent, name: &str, trail: &mut Trail) -> Vec<Referent> {
    let class = match object {
        Referent::Symbol(symbol) if !symbol.is_module() => *symbol,
        _ => return attribute(project, object, name, trail),
    };
    if project.symbol(class).is_none_or(|symbol| symbol.kind != SymbolKind::Class) {
        return Vec::new();
    }
    let all = ancestors(project, class);
    let own = all.iter().flat_map(|ancestor| match ancestor {
        Ancestor::External(path) if &**path == "builtins.object" => Vec::new(),
        Ancestor::External(path) => vec![Referent::External(format!("{path}.{name}").into())],
        Ancestor::Class(class) => own_attribute(project, *class, name),
    });
    own.collect()
}

/// The class whose object, or which itself, a name is as the first parameter of a method.
fn receiver_class(
    project: &Project,
    module: ModuleId,
    text: &Module,
    scope: ScopeId,
    name: NameId,
) -> Option<SymbolId> {
    let mut next = Some(scope);
    while let Some(current) = next.and_then(|scope| text.scope(scope)) {
        let is_receiver = matches!(current.receiver, Receiver::Instance | Receiver::Class)
            && current.kind == ScopeKind::Function
            && current.parameters.first().is_some_and(|parameter| parameter.name == name);
        if is_receiver {
            let method = text.symbols.get(current.owner as usize)?;
            let class = SymbolId::new(module, method.parent);
            let is_class = project.symbol(class).is_some_and(|symbol| symbol.kind == SymbolKind::Class);
            return is_class.then_some(class);
        }
        if current.bindings.contains_key(&name) {
            return None;
        }
        next = current.parent;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{MemoryFiles, Store};

    #[test]
    fn names_attributes_of_modules_and_of_the_own_object_are_found() {
        let files: MemoryFiles = [
            ("base.py", "class Base:\n    def m(self): pass\n"),
            ("util.py", "def f(): pass\n"),
            (
                "a.py",
                "import util\nfrom base import Base\nclass A(Base):\n    y = 1\n    def m(self): pass\n    \
                 def g(self, other):\n        local = other.m()\n        return self.m(self.y, util.f, local)\n\
                 LIMIT = util.f()\n",
            ),
        ]
        .into_iter()
        .collect();
        let project = Project::open(files, &Store::new());
        let module = project.module_at("a.py").unwrap();
        let told: Vec<(String, Vec<String>)> = names_in(&project, module)
            .into_iter()
            .map(|one| {
                let name = |referent: &Referent| match referent {
                    Referent::Symbol(symbol) => project.name(*symbol).to_string(),
                    Referent::External(path) => path.to_string(),
                };
                (project.name(one.owner).qualname.to_string(), one.found.iter().map(name).collect())
            })
            .collect();
        let one = |owner: &str, found: &[&str]| {
            (owner.to_owned(), found.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>())
        };
        for expected in [
            one("", &["util"]),
            one("", &["base.Base"]),
            one("A", &["base.Base"]),
            one("A.g", &["a.A.m", "base.Base.m"]),
            one("A.g", &["a.A.y"]),
            one("A.g", &["util.f"]),
            one("LIMIT", &["util.f"]),
        ] {
            assert!(told.contains(&expected), "{expected:?} in {told:?}");
        }
        assert_eq!(told.len(), 10, "{told:?}");
    }
}
