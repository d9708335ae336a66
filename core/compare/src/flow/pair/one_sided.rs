//! The code of the module that one version alone uses: the other may do the same by itself, so nothing may be invented in
//! its place. Without the module it is real all the same, with everything that it needs. What both versions use of this is
//! real in both.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use twincell_syntax::{CodeKind, Function, Index, PerSide, Side, attribute_names, global_names};
use twincell_values::reading::hints_within;

use crate::flow::sources::Sources;

/// What this version keeps of its module.
pub(super) fn kept(sources: &Sources, side: Side, functions: &PerSide<Function>) -> BTreeSet<String> {
    if functions[side].kind == CodeKind::Snippet {
        return BTreeSet::new();
    }
    let called = PerSide::of(|side| called(&sources[side].index, functions[side].entity()));
    let helpers = PerSide::of(|side| helpers(sources, side, functions));
    let needed = PerSide::of(|side| needed(&sources[side].index, &helpers[side]));
    let is_plain = |name: &String| {
        let index = &sources[side].index;
        index.is_function(name) || index.classes.contains_key(name) || owner_is_class(index, name)
    };
    let is_fixed = |name: &String| {
        let index = &sources[side].index;
        index.is_constant(name) || index.is_pure_import(name) || sources[side].of_project.contains(name)
    };
    // State that both versions read is the same for both, whatever it holds.
    let is_own = |name: &String| is_plain(name) || is_fixed(name) || !called[side.other()].contains(name);
    let mut keep: BTreeSet<String> = needed[side].iter().filter(|name| is_own(name)).cloned().collect();
    keep.extend(helpers[side].iter().cloned());
    keep.extend(needed_whole(&sources[side].index, &decorators(&sources[side].index, &helpers[side])));
    let is_needed = |name: &&String| called[side].contains(*name) && (is_plain(name) || is_fixed(name));
    let of_other = needed[side.other()].iter().filter(is_needed);
    let mut whole: BTreeSet<String> = of_other.cloned().collect();
    whole.extend(classes_of_values(sources, functions).into_iter().filter(|class| is_plain(class)));
    keep.extend(needed_whole(&sources[side].index, &whole));
    keep.extend(heirs(sources, side, functions, &called));
    keep
}

/// The functions that only this version calls.
fn helpers(sources: &Sources, side: Side, functions: &PerSide<Function>) -> BTreeSet<String> {
    let index = &sources[side].index;
    let used = |side: Side| sources[side].index.used_by(functions[side].entity());
    let of_other = used(side.other());
    // The other version may reach it by its name: `getattr(self, 'css')`.
    let other = &functions[side.other()].text;
    let is_named = |name: &str| {
        let last = name.rsplit('.').next().unwrap_or(name);
        ['\'', '"'].iter().any(|quote| other.contains(&format!("{quote}{last}{quote}")))
    };
    let helpers = used(side).into_iter().filter(|name| !of_other.contains(name) && index.is_function(name));
    helpers.filter(|name| !is_named(name)).collect()
}

/// What the decorators of functions name. A decorator that is not there leaves a stand-in in the function's place.
fn decorators(index: &Index, names: &BTreeSet<String>) -> BTreeSet<String> {
    // Most pairs have none, and the text may hold many functions.
    if names.is_empty() {
        return BTreeSet::new();
    }
    let functions = index.functions.iter().filter(|function| names.contains(function.entity()));
    functions.flat_map(|function| &function.decorators).flat_map(|text| global_names(text)).collect()
}

/// What an entity uses, directly or through functions. What the methods of a class use is not used by making an object.
fn called(index: &Index, from: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut waiting = VecDeque::from([from.to_owned()]);
    while let Some(entity) = waiting.pop_front() {
        for next in index.used_by(&entity) {
            if found.insert(next.clone()) && !index.classes.contains_key(&next) {
                waiting.push_back(next);
            }
        }
    }
    found
}

fn needed(index: &Index, entities: &BTreeSet<String>) -> BTreeSet<String> {
    entities.iter().flat_map(|entity| index.reach(entity)).collect()
}

/// These entities, and all that they need.
pub(super) fn needed_whole(index: &Index, entities: &BTreeSet<String>) -> BTreeSet<String> {
    let mut found = needed(index, entities);
    found.extend(entities.iter().cloned());
    found
}

/// Whether it is an attribute of a class of the text.
fn owner_is_class(index: &Index, name: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(owner, _)| index.classes.contains_key(owner))
}

/// The classes of the module of which the parameters may be objects, where one version alone uses a method or a property
/// of this name.
fn classes_of_values(sources: &Sources, functions: &PerSide<Function>) -> BTreeSet<String> {
    let read = functions.as_ref().map(|function| attribute_names(&function.text));
    let one_sided: BTreeSet<&String> = read.old.symmetric_difference(&read.new).collect();
    let mut found = BTreeSet::new();
    for side in Side::BOTH {
        let index = &sources[side].index;
        let has_one_sided = |class: &str| {
            let of_class = |class: &String| {
                let methods = index.classes.get(class).into_iter().flat_map(|class| &class.methods);
                methods.into_iter().any(|method| one_sided.contains(method))
            };
            index.ancestry(class).iter().any(of_class)
        };
        let hints = hints_within(&functions[side], &sources[side].surroundings.known, &BTreeMap::new());
        let declared = hints.values().filter_map(|hint| hint.declared.as_ref());
        let classes = declared.flat_map(|declared| declared.classes_of_models());
        found.extend(classes.filter(|class| has_one_sided(class)).map(str::to_owned));
    }
    found
}

/// The classes of methods, where one version alone uses what they inherit from other modules of their project, directly
/// or through functions, with what their heads name.
fn heirs(
    sources: &Sources,
    side: Side,
    functions: &PerSide<Function>,
    called: &PerSide<BTreeSet<String>>,
) -> BTreeSet<String> {
    let read = PerSide::of(|side| {
        let entities = std::iter::once(functions[side].entity()).chain(called[side].iter().map(String::as_str));
        let found = entities.flat_map(|entity| sources[side].index.read_from_elsewhere(entity));
        found.map(|(class, attribute)| (class.to_owned(), attribute.to_owned())).collect::<BTreeSet<_>>()
    });
    let index = &sources[side].index;
    let mut keep = BTreeSet::new();
    for (class, _) in read.old.symmetric_difference(&read.new) {
        let classes = index.ancestry(class);
        let heads: Vec<String> = classes
            .iter()
            .flat_map(|class| index.names_read_by(class))
            .filter(|name| sources[side].of_project.contains(*name))
            .map(str::to_owned)
            .collect();
        if !heads.is_empty() {
            keep.extend(heads);
            keep.extend(classes);
        }
    }
    keep
}

#[cfg(test)]
mod tests {
    use super::super::Pair;
    use super::*;
    use crate::{CompareOptions, Source};

    /// What each version of `App.f` has of its text without its module, in a project with a module `base`.
    fn alone(old: &str, new: &str) -> PerSide<String> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("base.py"), "class Base:\n    def ready(self, g):\n        return g\n")
            .unwrap();
        std::fs::write(folder.path().join("app.py"), "").unwrap();
        let place: twincell_semantic::ProjectModule = twincell_repo::ModulePath::of(folder.path(), "app.py").into();
        let [old, new] =
            [old, new].map(|text| Source { text: text.into(), place: Some(place.clone()), ..Source::default() });
        let sources = Sources::new(&old, &new, &CompareOptions::default());
        let function = |source: &Source| {
            let all = twincell_syntax::functions(&source.text).0;
            all.into_iter().find(|function| function.qualname == "App.f").unwrap()
        };
        let pair = Pair::new(&sources, (function(&old), function(&new)), u32::MAX);
        pair.versions.map(|version| version.alone)
    }

    #[test]
    fn what_a_helper_inherits_in_one_version_and_has_itself_in_the_other_is_real_in_both() {
        let old = "from base import Base\n\n\nclass App(Base):\n    def f(self, g):\n        self.add(g)\n\n    \
                   def add(self, g):\n        self.g = self.ready(g)\n";
        let new = format!("{old}\n    def ready(self, g):\n        return g\n");
        let found = alone(old, &new);
        for (side, text) in Side::BOTH.into_iter().zip(found) {
            for kept in ["from base import Base", "class App(Base):", "self.g = self.ready(g)"] {
                assert!(text.contains(kept), "{side:?} lacks {kept}: {text}");
            }
        }
    }

    #[test]
    fn a_helper_of_one_version_has_its_decorator_even_where_both_versions_use_that() {
        let old = "from base import retry\n\nagain = retry(3)\n\n\nclass App:\n    def f(self, g):\n        self.add(g)\n\n    \
                   @again\n    def add(self, g):\n        self.g = g\n";
        let new = format!("{old}\n    @again\n    def ready(self, g):\n        return g\n")
            .replace("self.add(g)", "self.add(self.ready(g))");
        let found = alone(old, &new);
        for kept in ["from base import retry", "again = retry(3)", "def ready(self, g)"] {
            assert!(found.new.contains(kept), "lacks {kept}: {}", found.new);
        }
        assert!(!found.old.contains("again"), "{}", found.old);
    }
}
