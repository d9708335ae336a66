//! Changes in other modules of the project that a function uses. They have comparisons of their own, so they alone do not
//! make the function changing: its two texts also run in one and the same version of the project, and only a difference
//! that shows there is its own.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use twincell_engine::protocol::Place;
use twincell_syntax::{Function, Import, Index, PerSide, Side};

use super::pair::{Texts, entity};
use crate::Source;
use crate::note::Changed;

/// The maximum number of entities that are looked at for one version, and of modules that are read.
const ENTITIES: usize = 400;
const MODULES: usize = 60;

/// Another module of the project, as one version has it.
struct Module {
    index: Index,
    imports: BTreeMap<String, Import>,
    file: String,
}

/// The modules of both versions of a project, read once.
pub(super) struct Modules {
    places: PerSide<Place>,
    known: PerSide<BTreeMap<String, Option<Module>>>,
    changed: BTreeMap<String, BTreeSet<String>>,
}

impl Modules {
    /// `None` if both versions lie in one copy of the project, or in none.
    pub fn new(old: &Source, new: &Source) -> Option<Self> {
        let places = PerSide { old: old.place.clone()?, new: new.place.clone()? };
        let known = PerSide::default();
        (places.old.folder != places.new.folder).then_some(Self { places, known, changed: BTreeMap::new() })
    }

    fn get(&mut self, side: Side, dotted: &str) -> Option<&Module> {
        if !self.known[side].contains_key(dotted) {
            let room = self.known[side].len() < MODULES;
            let found = room.then(|| twincell_project::module(&self.places[side], dotted)).flatten();
            let module = found.map(|(place, text)| Module {
                index: Index::of(&text),
                imports: twincell_syntax::imports(&twincell_syntax::absolute_imports(&text, place.package())),
                file: place.file,
            });
            self.known[side].insert(dotted.to_owned(), module);
        }
        self.known[side].get(dotted)?.as_ref()
    }

    /// The entities of a module that are not the same in both versions.
    fn changed(&mut self, dotted: &str) -> &BTreeSet<String> {
        if !self.changed.contains_key(dotted) {
            let empty = Index::default();
            for side in Side::BOTH {
                self.get(side, dotted);
            }
            let index = |side: Side| {
                let module = self.known[side].get(dotted).and_then(Option::as_ref);
                module.map_or(&empty, |module| &module.index)
            };
            let changed = twincell_syntax::changed_entities(index(Side::Old), index(Side::New));
            self.changed.insert(dotted.to_owned(), changed);
        }
        &self.changed[dotted]
    }

    /// The module that a dotted path lies in, and what it names there.
    fn resolve(&mut self, side: Side, target: &str) -> Option<(String, String)> {
        let ends = target.match_indices('.').map(|(at, _)| at).collect::<Vec<_>>();
        let found = ends.into_iter().rev().find(|&at| self.get(side, &target[..at]).is_some())?;
        Some((target[..found].to_owned(), target[found + 1..].to_owned()))
    }
}

/// What names lead to in other modules: dotted paths, from the names that an entity reads and the imports around it.
fn targets(index: &Index, imports: &BTreeMap<String, Import>, entity: &str) -> Vec<String> {
    let target = |name: &str| {
        let (root, rest) = name.split_at(name.find('.').unwrap_or(name.len()));
        imports.get(root).map(|import| format!("{}{rest}", import.target))
    };
    let mut found: Vec<String> = index.names_read_by(entity).chain([entity]).filter_map(target).collect();
    for (class, attribute) in index.read_from_elsewhere(entity) {
        let heads = index.ancestry(class);
        let bases = heads.iter().flat_map(|class| index.names_read_by(class)).filter_map(target);
        found.extend(bases.map(|base| format!("{base}.{attribute}")));
    }
    found
}

/// What a version of a function uses in other modules: those it names, as far as they are there, and whether all are.
fn used(texts: &Texts, side: Side, function: &Function, modules: &mut Modules) -> (BTreeSet<(String, String)>, bool) {
    let own = entity(function);
    let imports = texts.absolute_imports(side);
    let index = &texts.indices[side];
    let reached = std::iter::once(own.to_owned()).chain(index.reach(own));
    let mut waiting: VecDeque<String> = reached.flat_map(|entity| targets(index, &imports, &entity)).collect();
    let direct = waiting.len();
    let (mut found, mut is_complete, mut seen) = (BTreeSet::new(), true, BTreeSet::new());
    for number in 0.. {
        let Some(target) = waiting.pop_front().filter(|_| seen.len() < ENTITIES) else { break };
        if !seen.insert(target.clone()) || !twincell_project::holds(&modules.places[side], &target) {
            continue;
        }
        // A module by itself says nothing.
        if modules.get(side, &target).is_some() {
            continue;
        }
        let Some((module, name)) = modules.resolve(side, &target) else {
            is_complete &= number >= direct;
            continue;
        };
        let Some(Module { index, imports, .. }) = modules.get(side, &module) else { continue };
        let inherited = || name.rsplit_once('.').and_then(|(class, attribute)| index.inherited(class, attribute));
        let root = name.split('.').next().unwrap_or(&name);
        let names = if index.defines(&name) { Some(name.clone()) } else { inherited() };
        let Some(start) = names.or_else(|| index.defines(root).then(|| root.to_owned())) else {
            is_complete &= number >= direct;
            continue;
        };
        let reached: Vec<String> = std::iter::once(start.clone()).chain(index.reach(&start)).collect();
        for entity in reached {
            let rest = if entity == start { &name[start.len().min(name.len())..] } else { "" };
            let further = targets(index, imports, &entity).into_iter();
            waiting.extend(further.map(|target| if entity == start { format!("{target}{rest}") } else { target }));
            found.insert((module.clone(), entity));
        }
    }
    (found, is_complete)
}

/// What changed in other modules of what a function uses, in either version.
pub(super) fn changed(texts: &Texts, functions: &PerSide<Function>, modules: &mut Modules) -> Vec<Changed> {
    let mut found = BTreeSet::new();
    for side in Side::BOTH {
        for (module, name) in used(texts, side, &functions[side], modules).0 {
            if !modules.changed(&module).contains(&name) {
                continue;
            }
            let file =
                [Side::New, Side::Old].into_iter().find_map(|side| Some(modules.get(side, &module)?.file.clone()));
            found.extend(file.map(|file| Changed { name, file }));
        }
    }
    found.into_iter().collect()
}

/// Whether a project has all that a function names of its modules.
pub(super) fn is_whole(texts: &Texts, side: Side, function: &Function, place: &Place) -> bool {
    let places = PerSide::new(place.clone(), place.clone());
    let mut modules = Modules { places, known: PerSide::default(), changed: BTreeMap::new() };
    used(texts, side, function, &mut modules).1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CompareOptions;

    const TAX: &str = "RATES = {'food': 1}\n\n\ndef rate(kind):\n    return RATES[kind]\n\n\ndef other():\n    return 1\n\n\n\
                       class Base:\n    def name(self):\n        return 1\n";

    /// What a function of `shop/cart.py` uses that changed, by name, when `shop/tax.py` became `tax`.
    fn changed_in(cart: &str, tax: &str) -> Vec<String> {
        let folders = [TAX, tax].map(|tax| {
            let folder = tempfile::tempdir().unwrap();
            std::fs::create_dir(folder.path().join("shop")).unwrap();
            for (file, text) in [("__init__.py", "from .tax import rate\n"), ("tax.py", tax), ("cart.py", cart)] {
                std::fs::write(folder.path().join("shop").join(file), text).unwrap();
            }
            folder
        });
        let [old, new] = folders.each_ref().map(|folder| Source {
            text: cart.into(),
            place: Some(twincell_project::place(folder.path(), "shop/cart.py")),
            ..Source::default()
        });
        let texts = Texts::new(&old, &new, &CompareOptions::default());
        let function = twincell_syntax::functions(cart).0.remove(0);
        let functions = PerSide::new(function.clone(), function);
        let mut modules = Modules::new(&old, &new).unwrap();
        let found = changed(&texts, &functions, &mut modules);
        assert!(found.iter().all(|changed| changed.file == "shop/tax.py"), "{found:?}");
        found.into_iter().map(|changed| changed.name).collect()
    }

    #[test]
    fn what_a_function_names_of_other_modules_is_found_however_it_is_imported() {
        let tax = TAX.replace("'food': 1", "'food': 2");
        for import in ["from .tax import rate", "from shop.tax import rate", "from shop import rate"] {
            assert_eq!(changed_in(&format!("{import}\ndef f(x):\n    return rate(x)\n"), &tax), ["RATES"], "{import}");
        }
        assert_eq!(changed_in("from . import tax\ndef f(x):\n    return tax.rate(x)\n", &tax), ["RATES"]);
        assert_eq!(changed_in("from . import tax\ndef f(x):\n    return tax.other()\n", &tax), [""; 0]);
        assert_eq!(changed_in("from .tax import rate\ndef f(x):\n    return x\n", &tax), [""; 0]);
    }

    #[test]
    fn what_a_class_inherits_of_another_module_counts_where_a_method_uses_it() {
        let tax = TAX.replace("    def name(self):\n        return 1", "    def name(self):\n        return 2");
        let cart = "from .tax import Base\nclass C(Base):\n    def f(self):\n        return self.name()\n";
        assert_eq!(changed_in(cart, &tax), ["Base.name"]);
        assert_eq!(changed_in(&cart.replace("self.name()", "1"), &tax), [""; 0]);
    }

    #[test]
    fn a_project_without_what_a_function_names_is_not_whole() {
        let cart = "from tax import rate\ndef f(x):\n    return rate(x)\n";
        let renamed = TAX.replace("def rate(", "def rate_of(");
        let folder = tempfile::tempdir().unwrap();
        let place = twincell_project::place(folder.path(), "tax.py");
        let source = Source { text: cart.into(), place: Some(place.clone()), ..Source::default() };
        let texts = Texts::new(&source, &source, &CompareOptions::default());
        let function = twincell_syntax::functions(cart).0.remove(0);
        std::fs::write(folder.path().join("tax.py"), TAX).unwrap();
        assert!(is_whole(&texts, Side::Old, &function, &place));
        std::fs::write(folder.path().join("tax.py"), renamed).unwrap();
        assert!(!is_whole(&texts, Side::Old, &function, &place));
    }
}
