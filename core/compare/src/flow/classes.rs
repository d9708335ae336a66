//! What the classes of a text say: about the attributes of their objects, about both versions of a method, and about the
//! members by which a class is compared.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;

use twincell_engine::protocol::{Body, Member};
use twincell_syntax::{CodeKind, Function, Index, PerSide, Side, Wrapped};
use twincell_values::reading::{Hint, ModuleFacts, attribute_hints, field_hints};
use twincell_values::value::AbstractValue;

use super::dunder::{operation, operations_of, special_methods};
use super::imports::Imports;
use super::sources::Sources;

/// What was found: what methods share, by the names of their old and new classes, and the fields of classes.
#[derive(Default)]
struct KnownOfClasses {
    diffs: RefCell<BTreeMap<PerSide<String>, Rc<ClassDiff>>>,
    fields: RefCell<PerSide<BTreeMap<String, Rc<Fields>>>>,
}

/// What a class declares about each attribute of its objects.
pub(super) type Fields = BTreeMap<String, Hint>;

/// What two versions of a class say about all of its methods.
#[derive(Default)]
pub(super) struct ClassDiff {
    pub attribute_renames: Vec<(String, String)>,
    pub keeps_state_otherwise: bool,
}

/// The class of a method, as an entity.
pub(super) fn owner(function: &Function) -> Option<&str> {
    match function.kind {
        CodeKind::Class => Some(function.entity()),
        _ => function.class_name.as_ref().and_then(|_| function.entity().rsplit_once('.')).map(|(owner, _)| owner),
    }
}

pub(super) fn methods<'a>(index: &'a Index, class: &str) -> Vec<&'a Function> {
    let of_class = |function: &&Function| {
        function.parent.is_none() && function.qualname.rsplit_once('.').is_some_and(|(owner, _)| owner == class)
    };
    index.functions.iter().filter(of_class).collect()
}

/// What the class of a method says about the attributes of its objects: `self.words`, from the fields of the class and
/// from what its constructor assigns.
pub(super) fn fields(sources: &Sources, side: Side, method: &Function) -> BTreeMap<String, Hint> {
    let Some((owner, own)) = object(method) else { return BTreeMap::new() };
    let memo = sources.memo(KnownOfClasses::default);
    let mut known = memo.fields.borrow_mut();
    let hints = known[side].entry(owner.to_owned()).or_insert_with(|| {
        let (index, known) = (&sources[side].index, &sources[side].surroundings.known);
        let text = index.class_text(owner);
        let mut hints = text.map(|text| field_hints(text, known)).unwrap_or_default();
        hints.extend(assigned(index, owner, known));
        Rc::new(hints)
    });
    hints.iter().map(|(name, hint)| (format!("{own}.{name}"), hint.clone())).collect()
}

/// The class of a method of objects, and the method's name for the object.
pub(super) fn object(method: &Function) -> Option<(&str, &str)> {
    let of_objects = !method.decorators.iter().any(|text| matches!(text.as_str(), "staticmethod" | "classmethod"));
    let own = method.parameters.first().filter(|_| of_objects && method.kind != CodeKind::Class)?;
    Some((owner(method)?, &own.name))
}

/// The `__init__` of a class, its own or an inherited one.
pub(super) fn initializer<'a>(index: &'a Index, class: &str) -> Option<&'a Function> {
    let name = index.inherited(class, "__init__")?;
    index.functions.iter().find(|function| function.qualname == name)
}

/// What the constructor of a class says about the attributes that it assigns.
fn assigned(index: &Index, class: &str, known: &ModuleFacts) -> Fields {
    let Some(constructor) = initializer(index, class) else { return Fields::new() };
    let mut others = methods(index, class);
    others.extend(
        owner(constructor).filter(|owner| *owner != class).map(|owner| methods(index, owner)).unwrap_or_default(),
    );
    attribute_hints(constructor, &others, known)
}

/// What the classes of two methods say. It takes all methods of both, so it is looked at once.
pub(super) fn class_diff(sources: &Sources, functions: &PerSide<Function>) -> Rc<ClassDiff> {
    let PerSide { old: Some(old), new: Some(new) } = functions.as_ref().map(owner) else { return Rc::default() };
    let names = PerSide::new(old.to_owned(), new.to_owned());
    let memo = sources.memo(KnownOfClasses::default);
    let mut known = memo.diffs.borrow_mut();
    let diff = known.entry(names).or_insert_with_key(|names| {
        let mut attribute_renames = attribute_renames(sources, names);
        attribute_renames.extend(sources.wrapped.iter().filter(|wrapped| wrapped.class == names.new).map(|wrapped| {
            let Wrapped { public, private, .. } = wrapped.clone();
            if wrapped.side == Side::New { (private, public) } else { (public, private) }
        }));
        let keeps_state_otherwise = keeps_state_otherwise(sources, names, &attribute_renames);
        Rc::new(ClassDiff { attribute_renames, keeps_state_otherwise })
    });
    diff.clone()
}

fn attribute_renames(sources: &Sources, classes: &PerSide<String>) -> Vec<(String, String)> {
    let PerSide { old, new } = PerSide::of(|side| methods(&sources[side].index, &classes[side]));
    // One method alone does not show how others name its attributes.
    if old.len() < 2 || new.len() < 2 { vec![] } else { twincell_syntax::attribute_renames(&old, &new) }
}

fn keeps_state_otherwise(sources: &Sources, classes: &PerSide<String>, renames: &[(String, String)]) -> bool {
    let PerSide { old, new } = classes;
    let attributes = |index: &Index, class: &str, renames: &[(String, String)]| -> BTreeSet<String> {
        let names = methods(index, class).into_iter().flat_map(twincell_syntax::private_attributes);
        let canonical = |name: String| renames.iter().find(|(is, _)| *is == name).map_or(name, |(_, was)| was.clone());
        names.map(canonical).filter(|name| !index.defines(&format!("{class}.{name}"))).collect()
    };
    attributes(&sources.versions.old.index, old, &[]) != attributes(&sources.versions.new.index, new, renames)
        || starts_with_other_containers(sources, classes, renames)
}

/// Whether the constructors give an attribute containers of different classes: a list in old, a dictionary in new.
fn starts_with_other_containers(sources: &Sources, classes: &PerSide<String>, renames: &[(String, String)]) -> bool {
    use AbstractValue as A;
    let PerSide { old, new } =
        PerSide::of(|side| assigned(&sources[side].index, &classes[side], &sources[side].surroundings.known));
    new.iter().any(|(name, is)| {
        let before = renames.iter().find(|(new, _)| new == name).map_or(name, |(_, old)| old);
        let was = old.get(before).map_or(&[][..], |hint| &hint.classes);
        let of_containers = [was, &is.classes[..]].map(|classes| {
            !classes.is_empty() && classes.iter().all(|class| matches!(class, A::List | A::Tuple | A::Dict | A::Set))
        });
        of_containers == [true; 2] && !is.classes.iter().any(|class| was.contains(class))
    })
}

/// Operations that objects support by themselves, and better where a decorator provides them.
const OPERATIONS: [&str; 4] = ["__eq__", "__hash__", "__lt__", "__repr__"];
/// The one that depends on the decorators alone, and not on the attributes: whether objects are frozen.
const SET_ATTRIBUTE: &str = "__setattr__";

/// The public members that both versions of a class have.
pub(super) fn class_bodies(sources: &Sources, functions: &PerSide<Function>) -> PerSide<Body> {
    let PerSide { old, new } =
        PerSide::of(|side| members(&sources[side].index, functions[side].entity(), &sources[side].surroundings.known));
    let in_both =
        |member: &&Member| new.iter().any(|other| other.name == member.name && other.is_property == member.is_property);
    // Callers know the old signatures.
    let mut shared: Vec<Member> = old.iter().filter(in_both).cloned().collect();
    if functions.iter().any(|function| !function.decorators.is_empty()) {
        // Decorators write such methods for a class.
        let sets = (functions.old.decorators != functions.new.decorators).then_some(&SET_ATTRIBUTE);
        let written = OPERATIONS.iter().chain(sets).filter(|name| shared.iter().all(|member| member.name != **name));
        let members = written.map(|name| operation(name, false)).collect();
        shared = [shared, members].concat();
    }
    let special = PerSide::of(|side| special_methods(&sources[side].index, functions[side].entity()));
    for name in special.old.symmetric_difference(&special.new) {
        for name in operations_of(name) {
            if shared.iter().all(|member| member.name != *name) {
                shared.push(operation(name, true));
            }
        }
    }
    let mut constructor =
        constructor(&sources.versions.old.index, functions.old.entity(), &sources.versions.old.surroundings.known);
    let imports = Imports { of_module: sources.versions.old.imports.clone(), ..Imports::default() };
    imports.keep_library(sources.context, &mut constructor);
    shared.iter_mut().for_each(|member| imports.keep_library(sources.context, &mut member.hints));
    for member in &mut shared {
        let is_tainted = |side: Side| {
            let found = sources[side].index.inherited(functions[side].entity(), &member.name);
            found.is_some_and(|name| sources[side].tainted.contains(&name))
        };
        // What asks for a special method of one version alone is tried with the others, by which it is told best.
        member.is_changed = !member.by_operation && Side::BOTH.into_iter().any(is_tainted);
    }
    let body = Body::Class { constructor, members: shared };
    PerSide::new(body.clone(), body)
}

/// What a class declares about the arguments of its constructor: in `__init__`, or as fields.
fn constructor(index: &Index, class: &str, known: &ModuleFacts) -> BTreeMap<String, Hint> {
    let mut found = BTreeMap::new();
    let mut waiting = VecDeque::from([class.to_string()]);
    let mut seen = BTreeSet::new();
    while let Some(class) = waiting.pop_front() {
        if !seen.insert(class.clone()) {
            continue;
        }
        let own = methods(index, &class).into_iter().find(|method| method.name == "__init__");
        let hints = match own {
            Some(own) => twincell_values::reading::hints_within(own, known, &BTreeMap::new()),
            None => index.class_text(&class).map(|text| field_hints(text, known)).unwrap_or_default(),
        };
        for (name, hint) in hints {
            found.entry(name).or_insert(hint);
        }
        if own.is_none() {
            waiting.extend(index.classes.get(&class).into_iter().flat_map(|class| class.bases.iter().cloned()));
        }
    }
    found
}

fn members(index: &Index, class: &str, known: &ModuleFacts) -> Vec<Member> {
    const PROTOCOLS: [&str; 14] = [
        "__call__",
        "__len__",
        "__contains__",
        "__getitem__",
        "__setitem__",
        "__delitem__",
        "__iter__",
        "__next__",
        "__bool__",
        "__str__",
        "__repr__",
        "__add__",
        "__eq__",
        "__lt__",
    ];
    let mut found: Vec<Member> = Vec::new();
    let mut waiting = vec![class.to_string()];
    let mut seen = BTreeSet::new();
    while let Some(class) = waiting.pop() {
        if !seen.insert(class.clone()) {
            continue;
        }
        for method in methods(index, &class) {
            let public = !method.name.starts_with('_') || PROTOCOLS.contains(&method.name.as_str());
            let setter = method.decorators.iter().any(|text| text.ends_with(".setter") || text.ends_with(".deleter"));
            if public && !setter && found.iter().all(|member| member.name != method.name) {
                let is_property = method
                    .decorators
                    .iter()
                    .any(|text| text.rsplit('.').next().is_some_and(|name| name.ends_with("property")));
                found.push(Member {
                    name: method.name.clone(),
                    is_property,
                    hints: twincell_values::reading::hints_within(method, known, &BTreeMap::new()),
                    by_operation: false,
                    is_changed: false,
                });
            }
        }
        waiting.extend(index.classes.get(&class).into_iter().flat_map(|class| class.bases.iter().cloned()));
    }
    found.sort_by(|a, b| a.name.cmp(&b.name));
    found
}
