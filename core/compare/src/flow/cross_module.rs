//! Changes in other modules of the project that a function uses. Where the same job compares these modules as well, they
//! alone do not make the function changing: its two texts also run in one and the same version of the project, and only a
//! difference that shows there is its own.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;
use std::sync::Arc;

use twincell_semantic::{PlacedText, ProjectModule};
use twincell_syntax::{Function, Import, Index, PerSide, Side};

use super::sources::Sources;
use crate::note::Changed;

/// The maximum number of entities that are looked at for one version, of modules that are read, and of names that are
/// looked for among the modules.
const ENTITIES: usize = 400;
const MODULES: usize = 60;
const NAMES: usize = 2000;

/// The modules of both versions of a project, read once.
pub(super) struct Modules {
    places: PerSide<ProjectModule>,
    known: PerSide<BTreeMap<String, Option<Arc<PlacedText>>>>,
    changed: BTreeMap<String, BTreeSet<String>>,
    /// What a comparison of each module by itself judges.
    judged: BTreeMap<String, BTreeSet<String>>,
    /// Whether a name was not looked for, since there were too many.
    is_cut: PerSide<bool>,
}

/// A function that is observed beside another one.
pub(super) struct Companion {
    pub function: Function,
    /// The other module of the project that holds it, by dotted name.
    pub module: Option<String>,
}

/// What changed in other modules of what a function uses.
#[derive(Default)]
pub(super) struct Elsewhere {
    pub changed: Vec<Changed>,
    /// Whether this is all, and the same job judges each of it.
    pub are_judged: bool,
}

/// What a version of a function uses in other modules.
struct Used {
    /// (module, name) of each that is there, once, nearest first.
    found: Vec<(String, String)>,
    /// Whether all that the function names is there.
    is_complete: bool,
    /// Whether something was not looked at, since there is too much.
    is_cut: bool,
}

impl Modules {
    pub fn of(places: PerSide<ProjectModule>) -> Self {
        let (changed, judged) = (BTreeMap::new(), BTreeMap::new());
        Self { places, known: PerSide::default(), changed, judged, is_cut: PerSide::default() }
    }

    /// Whether both versions lie in one copy of the project.
    fn are_one(&self) -> bool {
        self.places.old.path.folder == self.places.new.path.folder
    }

    fn get(&mut self, side: Side, dotted: &str) -> Option<&Arc<PlacedText>> {
        if !self.known[side].contains_key(dotted) {
            let known = &self.known[side];
            if known.len() >= NAMES || known.values().flatten().count() >= MODULES {
                self.is_cut[side] = true;
                return None;
            }
            let found = self.places[side].find(dotted);
            self.known[side].insert(dotted.to_owned(), found);
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
                module.map_or(&empty, |module| module.index())
            };
            let changed = twincell_syntax::changed_entities(index(Side::Old), index(Side::New));
            self.changed.insert(dotted.to_owned(), changed);
        }
        &self.changed[dotted]
    }

    /// Whether a comparison of a module by itself judges what changed there: a function that both versions have, or what
    /// such a function reaches.
    fn judges(&mut self, dotted: &str, name: &str) -> bool {
        if !self.judged.contains_key(dotted) {
            let functions = PerSide::of(|side| {
                let found = self.places[side].find(dotted);
                let functions = found.as_ref().map_or(&[][..], |found| &found.index().functions);
                functions.iter().map(|function| function.entity().to_owned()).collect::<BTreeSet<String>>()
            });
            let shared: BTreeSet<String> = functions.old.intersection(&functions.new).cloned().collect();
            let classes = shared.iter().filter_map(|name| name.rsplit_once('.')).map(|(class, _)| class.to_owned());
            let mut judged: BTreeSet<String> = classes.collect();
            for side in Side::BOTH {
                let Some(module) = self.known[side].get(dotted).and_then(Option::as_ref) else { continue };
                let mut reached = shared.clone();
                let mut waiting: Vec<String> = shared.iter().cloned().collect();
                while let Some(name) = waiting.pop() {
                    let further = module.index().used_by(&name).into_iter().filter(|next| reached.insert(next.clone()));
                    waiting.extend(further);
                }
                judged.extend(reached);
            }
            self.judged.insert(dotted.to_owned(), judged);
        }
        self.judged[dotted].contains(name)
    }

    /// The module that a dotted path lies in, and what it names there.
    fn resolve(&mut self, side: Side, target: &str) -> Option<(String, String)> {
        let ends = target.match_indices('.').map(|(at, _)| at).collect::<Vec<_>>();
        let found = ends.into_iter().rev().find(|&at| self.get(side, &target[..at]).is_some())?;
        Some((target[..found].to_owned(), target[found + 1..].to_owned()))
    }
}

/// The other modules of the projects that hold the sources, where they count.
fn modules(sources: &Sources) -> Option<Rc<RefCell<Modules>>> {
    let PerSide { old: Some(old), new: Some(new) } = sources.versions.as_ref().map(|version| version.place.as_ref())
    else {
        return None;
    };
    Some(sources.memo(|| RefCell::new(Modules::of(PerSide::new(old.clone(), new.clone())))))
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

/// What a version of a function uses in other modules: what it names, and what these reach.
fn used(sources: &Sources, side: Side, function: &Function, modules: &mut Modules) -> Used {
    let own = function.entity();
    let imports = sources[side].absolute_imports();
    let index = &sources[side].index;
    let reached = std::iter::once(own.to_owned()).chain(index.reach(own));
    let mut waiting: VecDeque<String> = reached.flat_map(|entity| targets(index, &imports, &entity)).collect();
    let direct = waiting.len();
    let (mut found, mut is_complete, mut is_cut) = (Vec::new(), true, false);
    let (mut seen, mut known) = (BTreeSet::new(), BTreeSet::new());
    for number in 0.. {
        let Some(target) = waiting.pop_front() else { break };
        if seen.len() >= ENTITIES {
            is_cut = true;
            break;
        }
        if !seen.insert(target.clone()) || !modules.places[side].finds(&target) {
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
        let Some(found_in) = modules.get(side, &module) else { continue };
        let (index, imports) = (found_in.index(), found_in.imports());
        let inherited = || name.rsplit_once('.').and_then(|(class, attribute)| index.inherited(class, attribute));
        let root = name.split('.').next().unwrap_or(&name);
        // What follows the entity in the name leads on: `tax.Rates.of`, where `tax` imports `Rates`.
        let whole = if index.defines(&name) { Some(name.clone()) } else { inherited() };
        let of_root = || index.defines(root).then(|| (root.to_owned(), &name[root.len()..]));
        let Some((start, rest)) = whole.map(|whole| (whole, "")).or_else(of_root) else {
            is_complete &= number >= direct;
            continue;
        };
        let reached: Vec<String> = std::iter::once(start.clone()).chain(index.reach(&start)).collect();
        for entity in reached {
            let rest = if entity == start { rest } else { "" };
            let further = targets(index, imports, &entity).into_iter();
            waiting.extend(further.map(|target| target + rest));
            if known.insert((module.clone(), entity.clone())) {
                found.push((module.clone(), entity));
            }
        }
    }
    Used { found, is_complete, is_cut: is_cut || modules.is_cut[side] }
}

/// The functions of other modules that changed and that one version alone uses, nearest first. None if something was not
/// looked at.
pub(super) fn one_sided(sources: &Sources, functions: &PerSide<Function>) -> PerSide<Vec<Companion>> {
    let Some(modules) = modules(sources) else { return PerSide::default() };
    let modules = &mut *modules.borrow_mut();
    let used = PerSide::of(|side| used(sources, side, &functions[side], modules));
    if used.iter().any(|used| used.is_cut) {
        return PerSide::default();
    }
    PerSide::of(|side| {
        let of_other: BTreeSet<&(String, String)> = used[side.other()].found.iter().collect();
        let own = used[side].found.iter().filter(|one| !of_other.contains(one));
        let companion = |(module, name): &(String, String)| {
            let is_changed = modules.changed(module).contains(name);
            let known = modules.get(side, module).filter(|_| is_changed)?.index();
            let function = known.functions.iter().find(|function| function.qualname == *name)?.clone();
            Some(Companion { function, module: Some(module.clone()) })
        };
        own.filter_map(companion).collect()
    })
}

/// What changed in other modules of what a function uses, in either version. The same job also compares the files
/// `compared`.
pub(super) fn changed(sources: &Sources, functions: &PerSide<Function>, compared: &BTreeSet<String>) -> Elsewhere {
    let Some(modules) = modules(sources) else { return Elsewhere::default() };
    let modules = &mut *modules.borrow_mut();
    if modules.are_one() {
        return Elsewhere::default();
    }
    let (mut found, mut are_judged) = (BTreeSet::new(), true);
    for side in Side::BOTH {
        let used = used(sources, side, &functions[side], modules);
        are_judged &= !used.is_cut;
        for (module, name) in used.found {
            if !modules.changed(&module).contains(&name) {
                continue;
            }
            let file =
                [Side::New, Side::Old].into_iter().find_map(|side| Some(modules.get(side, &module)?.path.to_string()));
            let Some(file) = file else { continue };
            are_judged &= compared.contains(&file) && modules.judges(&module, &name);
            found.insert(Changed { name, file });
        }
    }
    are_judged &= Side::BOTH.into_iter().all(|side| !modules.is_cut[side]);
    Elsewhere { changed: found.into_iter().collect(), are_judged }
}

/// Whether a project has all that a function names of its modules.
pub(super) fn is_whole(sources: &Sources, side: Side, function: &Function, place: &ProjectModule) -> bool {
    let places = PerSide::new(place.clone(), place.clone());
    let used = used(sources, side, function, &mut Modules::of(places));
    used.is_complete && !used.is_cut
}

#[cfg(test)]
mod tests {
    use twincell_repo::ModulePath;

    use super::*;
    use crate::{CompareOptions, Source};

    const TAX: &str = "RATES = {'food': 1}\n\n\ndef rate(kind):\n    return RATES[kind]\n\n\ndef other():\n    return 1\n\n\n\
                       class Base:\n    def name(self):\n        return 1\n";

    /// What a function of `shop/cart.py` uses that changed, by name, when `shop/tax.py` became `tax`.
    fn changed_in(cart: &str, tax: &str) -> Vec<String> {
        let of = |tax| vec![("__init__.py", "from .tax import rate\n"), ("tax.py", tax)];
        let (found, are_judged) = changed_between(cart, [of(TAX), of(tax)]);
        assert!(are_judged && found.iter().all(|changed| changed.file == "shop/tax.py"), "{found:?}");
        found.into_iter().map(|changed| changed.name).collect()
    }

    /// What a function of `shop/cart.py` uses that changed between these other files of `shop`, and whether a job that
    /// compares all of them judges it.
    fn changed_between(cart: &str, files: [Vec<(&str, &str)>; 2]) -> (Vec<Changed>, bool) {
        let compared = files[1].iter().map(|(file, _)| format!("shop/{file}")).collect();
        let found = between([cart, cart], files, |sources, functions| changed(sources, functions, &compared));
        (found.changed, found.are_judged)
    }

    /// What `look` finds of the first functions of two versions of `shop/cart.py` with these other files of `shop`.
    fn between<R>(
        carts: [&str; 2],
        files: [Vec<(&str, &str)>; 2],
        look: impl FnOnce(&Sources, &PerSide<Function>) -> R,
    ) -> R {
        let folders = [0, 1].map(|side: usize| {
            let folder = tempfile::tempdir().unwrap();
            std::fs::create_dir(folder.path().join("shop")).unwrap();
            for (file, text) in files[side].iter().copied().chain([("cart.py", carts[side])]) {
                std::fs::write(folder.path().join("shop").join(file), text).unwrap();
            }
            folder
        });
        let [old, new] = [0, 1].map(|side: usize| Source {
            text: carts[side].into(),
            place: Some(ModulePath::of(folders[side].path(), "shop/cart.py").into()),
            ..Source::default()
        });
        let sources = Sources::new(&old, &new, &CompareOptions::default());
        let [old, new] = carts.map(|cart| twincell_syntax::functions(cart).0.remove(0));
        look(&sources, &PerSide::new(old, new))
    }

    #[test]
    fn changed_functions_of_other_modules_that_one_version_alone_uses_are_found() {
        let tax = format!("{TAX}def net(x):\n    return x - rate(x) - low()\ndef low():\n    return 1\n");
        let new = format!("{tax}def more(x):\n    return low()\n");
        let carts = [
            "from .tax import rate\ndef f(x):\n    return x - rate(x)\n",
            "from . import tax\ndef f(x):\n    return tax.more(tax.net(x))\n",
        ];
        let files = [vec![("tax.py", tax.as_str())], vec![("tax.py", new.as_str())]];
        let found = |carts: [&str; 2]| {
            let name = |one: Companion| (one.module.unwrap(), one.function.qualname);
            between(carts, files.clone(), one_sided).map(|found| found.into_iter().map(name).collect::<Vec<_>>())
        };
        let more = ("shop.tax".to_owned(), "more".to_owned());
        assert_eq!(found(carts), PerSide::new(vec![], vec![more]));
        // What is the same in both versions is none.
        assert_eq!(found([carts[1], carts[0]]), PerSide::default());
        assert_eq!(found([carts[0], carts[0]]), PerSide::default());
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

    /// What changed of what a function uses when `shop/util.py` changes, on the way through `shop/tax.py`.
    fn changed_beyond(cart: &str, tax: &str) -> Vec<String> {
        let of = |util| vec![("__init__.py", ""), ("tax.py", tax), ("util.py", util)];
        let util = "def rate():\n    return 1\nclass Base:\n    def rate(self):\n        return 1\n";
        let new = util.replace("return 1", "return 2");
        let (found, are_judged) = changed_between(cart, [of(util), of(&new)]);
        assert!(are_judged && found.iter().all(|changed| changed.file == "shop/util.py"), "{found:?}");
        found.into_iter().map(|changed| changed.name).collect()
    }

    #[test]
    fn what_an_inherited_method_uses_is_found_whatever_the_classes_are_called() {
        for class in ["Discount", "éé"] {
            let base = "from .util import rate\nclass B:\n    def f(self):\n        return rate()\n";
            let tax = format!("{base}class {class}(B):\n    pass\n");
            let cart = format!("from .tax import {class}\ndef f(x):\n    return {class}.f(x)\n");
            assert_eq!(changed_beyond(&cart, &tax), ["rate"], "{class}");
        }
    }

    #[test]
    fn what_follows_a_class_in_a_name_leads_to_its_bases_in_other_modules() {
        let tax = "from .util import Base\nclass C(Base):\n    pass\n";
        let cart = "from .tax import C\ndef f(x):\n    return C.rate(x)\n";
        assert_eq!(changed_beyond(cart, tax), ["Base.rate"]);
    }

    #[test]
    fn what_is_too_much_to_be_looked_at_is_not_all() {
        let tax: String = (0..ENTITIES).map(|number| format!("def f{number}():\n    pass\n")).collect();
        let of = || vec![("__init__.py", ""), ("tax.py", tax.as_str())];
        let calls = |most: usize| -> String { (0..most).map(|number| format!("    tax.f{number}()\n")).collect() };
        let cart = |most| format!("from . import tax\ndef f(x):\n{}", calls(most));
        assert!(changed_between(&cart(ENTITIES / 2), [of(), of()]).1);
        assert!(!changed_between(&cart(ENTITIES + 1), [of(), of()]).1);
        let imports: String = (0..=MODULES).map(|number| format!("from . import m{number}\n")).collect();
        let calls: String = (0..=MODULES).map(|number| format!("    m{number}.f()\n")).collect();
        let names: Vec<String> = (0..=MODULES).map(|number| format!("m{number}.py")).collect();
        let of = || names.iter().map(|name| (name.as_str(), "def f():\n    pass\n")).collect::<Vec<_>>();
        assert!(!changed_between(&format!("{imports}def f(x):\n{calls}"), [of(), of()]).1);
    }

    #[test]
    fn what_no_function_of_its_module_uses_is_judged_nowhere() {
        let cart = "from .tax import RATE\ndef f(x):\n    return RATE\n";
        let judged = |beside: &str| {
            let [old, new] = ["RATE = 1\n", "RATE = 2\n"].map(|rate| format!("{rate}{beside}"));
            let (found, are_judged) = changed_between(cart, [vec![("tax.py", &old)], vec![("tax.py", &new)]]);
            assert_eq!(found.len(), 1);
            are_judged
        };
        assert!(judged("def rate():\n    return RATE\n"));
        assert!(!judged("def rate():\n    return 1\n"));
        assert!(!judged(""));
        // A module that only one version has is not compared.
        let (new, tax) = ("def f():\n    return 2\n", "from .tax import f as g\ndef f(x):\n    return g()\n");
        assert!(!changed_between(tax, [vec![], vec![("tax.py", new)]]).1);
    }

    #[test]
    fn a_project_without_what_a_function_names_is_not_whole() {
        let cart = "from tax import rate\ndef f(x):\n    return rate(x)\n";
        let function = twincell_syntax::functions(cart).0.remove(0);
        for (tax, whole) in [(TAX.to_owned(), true), (TAX.replace("def rate(", "def rate_of("), false)] {
            let folder = tempfile::tempdir().unwrap();
            std::fs::write(folder.path().join("tax.py"), tax).unwrap();
            let place = ProjectModule::from(ModulePath::of(folder.path(), "tax.py"));
            let source = Source { text: cart.into(), place: Some(place.clone()), ..Source::default() };
            let sources = Sources::new(&source, &source, &CompareOptions::default());
            assert_eq!(is_whole(&sources, Side::Old, &function, &place), whole);
        }
    }
}
