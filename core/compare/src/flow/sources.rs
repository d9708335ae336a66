//! The two texts from which pairs come: what each holds and imports, and what changed in it.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::rc::Rc;

use twincell_engine::protocol::Context;
use twincell_repo::ModulePath;
use twincell_syntax::parse::normalize_newlines;
use twincell_syntax::{CodeKind, Function, Import, Index, PerSide, Side, Wrapped};
use twincell_values::reading::{Around, ModuleContext, ModuleText};
use twincell_values::value::Recipe;

use super::attribute_usage::HeldOfClass;
use super::classes::{ClassDiff, Fields};
use super::cross_module::Modules;
use super::examples::{self, ModuleNames};
use super::pair::entity;
use super::reached;
use crate::{CompareOptions, GivenCall, Source};

/// The two texts from which pairs come: what each holds, and what changed in it.
pub(super) struct Texts {
    pub indices: PerSide<Index>,
    pub changed: BTreeSet<String>,
    /// In each text, the entities that changed or that use a changed one, directly or indirectly.
    pub tainted: PerSide<BTreeSet<String>>,
    /// The modules, where they count.
    pub modules: PerSide<Rc<str>>,
    pub context: Context,
    /// Whether the texts are functions cut out of their modules.
    pub cut_out: bool,
    /// The lines of statements that may replace functions, and that only this text has.
    pub replacing: PerSide<Vec<u32>>,
    pub surroundings: PerSide<Rc<ModuleContext>>,
    /// What is evaluated before the texts, where it counts.
    pub contexts: PerSide<Rc<str>>,
    /// The number of lines of it that the indexed texts begin with.
    pub before: PerSide<u32>,
    /// Where the modules lie, where they count.
    pub places: PerSide<Option<ModulePath>>,
    /// The modules with absolute imports, as they are evaluated elsewhere.
    pub elsewhere: PerSide<Rc<str>>,
    /// What the modules import at their top level.
    pub imports: PerSide<BTreeMap<String, Import>>,
    /// The names that the modules import from others of their project.
    pub of_project: PerSide<BTreeSet<String>>,
    /// (qualified name in new, name in old) of functions with the same code.
    pub function_renames: Rc<[(String, String)]>,
    /// The examples that the texts bring with them, and the names of which values may be made.
    pub calls_beside: Rc<[GivenCall]>,
    pub module_names: PerSide<Rc<ModuleNames>>,
    /// The attributes that one version keeps behind a property, here or in modules of the project that it imports.
    pub wrapped: Rc<[Wrapped]>,
    /// What methods share, by the names of their old and new classes.
    pub classes: RefCell<BTreeMap<PerSide<String>, Rc<ClassDiff>>>,
    /// The other modules of the projects that hold the texts, where they count.
    pub around: Option<RefCell<Modules>>,
    /// What classes declare about the attributes of their objects.
    pub fields: RefCell<PerSide<BTreeMap<String, Rc<Fields>>>>,
    /// How the methods of classes use what the objects hold.
    pub held: RefCell<PerSide<BTreeMap<String, HeldOfClass>>>,
}

impl Texts {
    pub fn new(old: &Source, new: &Source, options: &CompareOptions) -> Self {
        let context = options.context;
        let cut_out = old.module.is_some() || new.module.is_some();
        let is_behind =
            |source: &Source| context == Context::Module && source.module.is_none() && !source.context.is_empty();
        let text = |source: &Source| match (context, &source.module) {
            (Context::Module, Some(module)) => module.clone(),
            _ if is_behind(source) => format!("{}\n{}", source.context, source.text),
            _ => source.text.clone(),
        };
        let before = PerSide::new(old, new).map(|source| match is_behind(source) {
            true => normalize_newlines(&source.context).matches('\n').count() as u32 + 1,
            false => 0,
        });
        let texts = PerSide::new(text(old), text(new));
        let indices = texts.as_ref().map(|text| Index::of(text));
        let imports = texts.as_ref().map(|text| {
            let mut imports = twincell_syntax::imports(text);
            imports.retain(|_, import| import.is_global);
            imports
        });
        let changed = if texts.old == texts.new {
            BTreeSet::new()
        } else {
            twincell_syntax::changed_entities(&indices.old, &indices.new)
        };
        let tainted = indices.as_ref().map(|index| index.tainted(&changed));
        let replacing = match cut_out {
            true => PerSide::default(),
            false => twincell_syntax::replacing(&old.text, &new.text),
        };
        let function_renames = twincell_syntax::function_renames(&indices.old.functions, &indices.new.functions).into();
        let calls_beside = examples::beside(&texts);
        let module_names = PerSide::of(|side| match context {
            Context::Module => Rc::new(ModuleNames::of(&indices[side], &imports[side])),
            Context::Function => Rc::default(),
        });
        let place = |source: &Source| source.place.clone().filter(|_| context == Context::Module);
        let places = PerSide::new(place(old), place(new));
        let around = match &places {
            PerSide { old: Some(old), new: Some(new) } => {
                Some(RefCell::new(Modules::of(PerSide::new(old.clone(), new.clone()))))
            }
            _ => None,
        };
        let evaluated =
            |source: &Source| if context == Context::Module { source.context.as_str().into() } else { Rc::default() };
        let contexts = PerSide::new(evaluated(old), evaluated(new));
        let modules: PerSide<Rc<str>> =
            texts.as_ref().map(|text| if context == Context::Module { text.as_str().into() } else { Rc::default() });
        let elsewhere = PerSide::of(|side| match &places[side] {
            Some(place) => twincell_syntax::absolute_imports(&modules[side], place.package()).into(),
            None => modules[side].clone(),
        });
        let surroundings = PerSide::of(|side| {
            let (place, providers) = (places[side].as_ref(), options.providers.as_slice());
            let read = |module: &str| place.and_then(|place| module_text(place, module));
            // Without its module, code has none of them.
            let packages = if context == Context::Module { options.packages.as_slice() } else { &[] };
            let installed = |module: &str| installed_text(packages, module);
            let name = place.map(|place| place.name.as_str());
            let around = Around { name, read: &read, installed: &installed, providers };
            Rc::new(match place {
                Some(_) => ModuleContext::within(&modules[side], &elsewhere[side], &around),
                None => ModuleContext::within(&texts[side], &texts[side], &around),
            })
        });
        let of_project = PerSide::of(|side| match &places[side] {
            Some(place) => of_project(place, &elsewhere[side]),
            None => BTreeSet::new(),
        });
        let wrapped = wrapped(&indices, &places, &texts).into();
        Self {
            indices,
            wrapped,
            changed,
            tainted,
            modules,
            contexts,
            before,
            places,
            around,
            elsewhere,
            context,
            cut_out,
            replacing,
            surroundings,
            imports,
            of_project,
            function_renames,
            calls_beside,
            module_names,
            classes: RefCell::default(),
            fields: RefCell::default(),
            held: RefCell::default(),
        }
    }

    /// Whether either snippet uses a changed entity.
    pub fn uses_changed(&self, snippets: PerSide<&Function>) -> bool {
        Side::BOTH.into_iter().any(|side| {
            let names = twincell_syntax::global_names(&twincell_syntax::without_definitions(&snippets[side].text));
            names.iter().any(|name| self.tainted[side].contains(name))
        })
    }

    /// What a version's module imports, by name, with absolute paths where its place is known.
    pub fn absolute_imports(&self, side: Side) -> BTreeMap<String, Import> {
        twincell_syntax::imports(&self.elsewhere[side])
    }

    /// The literals of helpers and constants that a function uses.
    pub fn reached(&self, side: Side, function: &Function) -> Vec<Recipe> {
        if self.context == Context::Function || function.kind == CodeKind::Snippet {
            return vec![];
        }
        let project = self.places[side].as_ref().map(|place| (place, &*self.elsewhere[side]));
        let constants = &self.surroundings[side].constants;
        reached::literals(&self.indices[side], constants, entity(function), function, project)
    }

    /// Whether a statement outside of functions that only one text has may replace functions.
    pub fn may_replace(&self) -> bool {
        self.replacing.iter().any(|lines| !lines.is_empty())
    }

    /// The changed entities that an entity uses, and those that lead there, nearest first.
    pub fn path(&self, side: Side, from: &str) -> Vec<String> {
        let mut path = self.indices[side].reach(from);
        path.retain(|entity| self.tainted[side].contains(entity));
        path
    }
}

/// The attributes that one version keeps behind a property, of the classes of both texts and of the modules of their
/// project that both import.
fn wrapped(indices: &PerSide<Index>, places: &PerSide<Option<ModulePath>>, texts: &PerSide<String>) -> Vec<Wrapped> {
    let own = indices.as_ref().map(|index| index.functions.as_slice());
    let mut found = twincell_syntax::wrapped_attributes(own);
    if let PerSide { old: Some(old), new: Some(new) } = places.as_ref().map(Option::as_ref) {
        for module in twincell_project::imported(new, &texts.new) {
            let there = |place: &ModulePath| place.module(&module).map(|(_, text)| text);
            let (Some(old), Some(new)) = (there(old), there(new)) else { continue };
            if old == new {
                continue;
            }
            let functions = PerSide::new(twincell_syntax::functions(&old).0, twincell_syntax::functions(&new).0);
            found.extend(twincell_syntax::wrapped_attributes(functions.as_ref().map(Vec::as_slice)));
        }
    }
    found
}

/// The names that a module with absolute imports takes from others of its project.
fn of_project(place: &ModulePath, module: &str) -> BTreeSet<String> {
    let imports = twincell_syntax::imports(module).into_iter();
    let found = imports.filter(|(_, import)| import.is_global && place.finds(&import.target));
    found.map(|(name, _)| name).collect()
}

/// The text of another module of a project.
fn module_text(place: &ModulePath, module: &str) -> Option<ModuleText> {
    let (place, text) = place.module(module)?;
    Some(ModuleText { package: place.package().to_owned(), text })
}

/// The text of a module of an installed package.
fn installed_text(packages: &[PathBuf], module: &str) -> Option<ModuleText> {
    packages.iter().find_map(|folder| {
        let (file, name) = (String::new(), String::new());
        module_text(&ModulePath { folder: folder.clone(), file, name, search: vec![String::new()] }, module)
    })
}
