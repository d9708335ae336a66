//! The two sources from which pairs come: what each holds and imports, and what changed between them. Queries on them keep
//! their answers here, each in a type of its own.

use std::any::{Any, TypeId};
use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops;
use std::rc::Rc;

use twincell_engine::protocol::Context;
use twincell_semantic::{ProjectModule, installed};
use twincell_syntax::parse::normalize_newlines;
use twincell_syntax::{AfterCells, Function, Import, Index, PerSide, Replacing, Side, Wrapped};
use twincell_values::reading::{Around, ModuleContext};

use crate::{CompareOptions, Source};

/// The two sources from which pairs come.
pub(super) struct Sources {
    pub versions: PerSide<Version>,
    pub context: Context,
    /// Whether the texts are functions cut out of their modules.
    pub cut_out: bool,
    pub changed: BTreeSet<String>,
    /// (qualified name in new, name in old) of functions with the same code.
    pub function_renames: Rc<[(String, String)]>,
    /// The attributes that one version keeps behind a property, here or in modules of the project that it imports.
    pub wrapped: Rc<[Wrapped]>,
    memos: RefCell<HashMap<TypeId, Rc<dyn Any>>>,
}

/// One version of the text, with what surrounds it.
pub(super) struct Version {
    /// The text with what is evaluated before it, and in function context the text alone.
    pub text: String,
    pub index: Index,
    /// The entities that changed or that use a changed one, directly or indirectly.
    pub tainted: BTreeSet<String>,
    /// The module, where it counts.
    pub module: Rc<str>,
    /// The module with absolute imports, as it is evaluated elsewhere.
    pub elsewhere: Rc<str>,
    /// What is evaluated before the text, where it counts.
    pub context: Rc<str>,
    /// The number of lines of it that the indexed text begins with.
    pub before: u32,
    /// Where the module lies, where that counts.
    pub place: Option<ProjectModule>,
    /// What the module imports at its top level.
    pub imports: BTreeMap<String, Import>,
    /// The names that the module imports from others of its project.
    pub of_project: BTreeSet<String>,
    pub surroundings: Rc<ModuleContext>,
    /// The statements that may replace functions, and that only this version has.
    pub replacing: Vec<Replacing>,
}

impl ops::Index<Side> for Sources {
    type Output = Version;

    fn index(&self, side: Side) -> &Version {
        &self.versions[side]
    }
}

impl Sources {
    pub fn new(old: &Source, new: &Source, options: &CompareOptions) -> Self {
        let cut_out = old.module.is_some() || new.module.is_some();
        let mut versions = PerSide::new(old, new).map(|source| Version::new(source, options));
        let (one, other) = (&versions.old, &versions.new);
        let changed = match one.text == other.text {
            true => BTreeSet::new(),
            false => twincell_syntax::changed_entities(&one.index, &other.index),
        };
        let function_renames = twincell_syntax::function_renames(&one.index.functions, &other.index.functions).into();
        let mut replacing = match cut_out {
            true => PerSide::default(),
            false => replacing(old, new),
        };
        for side in Side::BOTH {
            let version = &mut versions[side];
            version.tainted = version.index.tainted(&changed);
            version.replacing = std::mem::take(&mut replacing[side]);
        }
        let wrapped = wrapped(&versions).into();
        let context = options.context;
        Self { versions, context, cut_out, changed, function_renames, wrapped, memos: RefCell::default() }
    }

    /// What a query keeps, made when it is first asked for. The type is of the query's own file, which alone writes it.
    pub fn memo<T: 'static>(&self, make: impl FnOnce() -> T) -> Rc<T> {
        let kept = self.memos.borrow().get(&TypeId::of::<T>()).cloned();
        if let Some(Ok(kept)) = kept.map(Rc::downcast) {
            return kept;
        }
        let made = Rc::new(make());
        self.memos.borrow_mut().insert(TypeId::of::<T>(), made.clone());
        made
    }

    /// The entities of both versions, the old one's first.
    pub fn indices(&self) -> impl Iterator<Item = &Index> {
        self.versions.iter().map(|version| &version.index)
    }

    /// Whether either snippet uses a changed entity.
    pub fn uses_changed(&self, snippets: PerSide<&Function>) -> bool {
        Side::BOTH.into_iter().any(|side| {
            let names = twincell_syntax::global_names(&twincell_syntax::without_definitions(&snippets[side].text));
            names.iter().any(|name| self[side].tainted.contains(name))
        })
    }

    /// Whether a statement outside of functions that only one text has may replace functions.
    pub fn may_replace(&self) -> bool {
        self.versions.iter().any(|version| !version.replacing.is_empty())
    }

    /// The changed entities that an entity uses, and those that lead there, nearest first.
    pub fn path(&self, side: Side, from: &str) -> Vec<String> {
        let mut path = self[side].index.reach(from);
        path.retain(|entity| self[side].tainted.contains(entity));
        path
    }
}

/// Whether the context of a source stands above its text.
fn is_behind(source: &Source, context: Context) -> bool {
    context == Context::Module && source.module.is_none() && !source.context.is_empty()
}

/// The statements outside of functions that may replace some, and that only one text has.
pub(super) fn replacing(old: &Source, new: &Source) -> PerSide<Vec<Replacing>> {
    let sources = PerSide::new(old, new);
    // What a cell replaces may stand in an earlier one.
    let whole = sources.as_ref().map(|source| behind(source));
    let of = |side: Side| AfterCells { text: &whole[side].0, before: whole[side].1, is_cell: sources[side].is_cell };
    twincell_syntax::replacing(of(Side::Old), of(Side::New))
}

/// A text with what is evaluated before it, and how many lines that has.
fn behind(source: &Source) -> (Cow<'_, str>, u32) {
    match source.context.as_str() {
        "" => (source.text.as_str().into(), 0),
        context => {
            let before = normalize_newlines(context).matches('\n').count() as u32 + 1;
            (format!("{context}\n{}", source.text).into(), before)
        }
    }
}

/// The text whose entities count.
fn text(source: &Source, context: Context) -> String {
    match (context, &source.module) {
        (Context::Module, Some(module)) => module.clone(),
        _ if is_behind(source, context) => behind(source).0.into_owned(),
        _ => source.text.clone(),
    }
}

impl Version {
    fn new(source: &Source, options: &CompareOptions) -> Self {
        let text = text(source, options.context);
        let has_module = options.context == Context::Module;
        let before = match is_behind(source, options.context) {
            true => behind(source).1,
            false => 0,
        };
        let mut imports = twincell_syntax::imports(&text);
        imports.retain(|_, import| import.is_global);
        let place = source.place.clone().filter(|_| has_module);
        let module: Rc<str> = if has_module { text.as_str().into() } else { Rc::default() };
        let elsewhere: Rc<str> = match &place {
            Some(place) => twincell_syntax::absolute_imports(&module, place.path.package()).into(),
            None => module.clone(),
        };
        // Without its module, code has none of them.
        let packages = if has_module { options.packages.as_slice() } else { &[] };
        let around = Around {
            name: place.as_ref().map(|place| place.path.name.as_str()),
            read: &|module: &str| place.as_ref()?.find(module),
            installed: &|module: &str| installed(packages, module),
            providers: options.providers.as_slice(),
        };
        let surroundings = match &place {
            Some(_) => ModuleContext::within(&module, &elsewhere, &around),
            None => ModuleContext::within(&text, &text, &around),
        };
        Self {
            of_project: place.as_ref().map(|place| of_project(place, &elsewhere)).unwrap_or_default(),
            surroundings: Rc::new(surroundings),
            context: if has_module { source.context.as_str().into() } else { Rc::default() },
            tainted: BTreeSet::new(),
            replacing: vec![],
            index: Index::of(&text),
            text,
            module,
            elsewhere,
            before,
            place,
            imports,
        }
    }

    /// What the module imports, by name, with absolute paths where its place is known.
    pub fn absolute_imports(&self) -> BTreeMap<String, Import> {
        twincell_syntax::imports(&self.elsewhere)
    }
}

/// The attributes that one version keeps behind a property, of the classes of both texts and of the modules of their
/// project that both import.
fn wrapped(versions: &PerSide<Version>) -> Vec<Wrapped> {
    let own = versions.as_ref().map(|version| version.index.functions.as_slice());
    let mut found = twincell_syntax::wrapped_attributes(own);
    if let PerSide { old: Some(old), new: Some(new) } = versions.as_ref().map(|version| version.place.as_ref()) {
        for module in new.imported(&versions.new.text) {
            let (Some(old), Some(new)) = (old.find(&module), new.find(&module)) else { continue };
            if old.text() != new.text() {
                let functions = PerSide::new(old.index(), new.index()).map(|index| index.functions.as_slice());
                found.extend(twincell_syntax::wrapped_attributes(functions));
            }
        }
    }
    found
}

/// The names that a module with absolute imports takes from others of its project.
fn of_project(place: &ProjectModule, module: &str) -> BTreeSet<String> {
    let imports = twincell_syntax::imports(module).into_iter();
    let found = imports.filter(|(_, import)| import.is_global && place.finds(&import.target));
    found.map(|(name, _)| name).collect()
}
