//! One pair with everything that its comparison needs: both versions, what runs beside them, and the differences.

mod around;
mod companions;
mod one_sided;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::PathBuf;
use std::rc::Rc;

use twincell_engine::protocol::{Body, Context, Member, Place};
use twincell_syntax::parse::normalize_newlines;
use twincell_syntax::{CodeKind, Diff, Function, Import, Index, PerSide, Side, Snippet, Wrapped};
use twincell_values::reading::{Around, Hint, Known, ModuleText, Surroundings};
use twincell_values::value::Recipe;

pub(super) use companions::Companion;

use around::{alone, kept, module};
use companions::{companions, path};

use super::elsewhere::{self, Modules};
use super::examples::{self, ModuleNames};
use super::imports::Imports;
use super::reached;
use super::special::{operation, operations_of, special_methods};
use crate::report::{Bound, PartReport, PartText};
use crate::{CompareOptions, GivenCall, Source, assemble};

/// The two texts from which pairs come: what each holds, and what changed in it.
pub(super) struct Texts {
    pub indices: PerSide<Index>,
    pub changed: BTreeSet<String>,
    /// In each text, the entities that changed or that use a changed one, directly or indirectly.
    tainted: PerSide<BTreeSet<String>>,
    /// The modules, where they count.
    modules: PerSide<Rc<str>>,
    context: Context,
    /// Whether the texts are functions cut out of their modules.
    cut_out: bool,
    surroundings: PerSide<Rc<Surroundings>>,
    /// What is evaluated before the texts, where it counts.
    contexts: PerSide<Rc<str>>,
    /// The number of lines of it that the indexed texts begin with.
    before: PerSide<u32>,
    /// Where the modules lie, where they count.
    places: PerSide<Option<Place>>,
    /// The modules with absolute imports, as they are evaluated elsewhere.
    elsewhere: PerSide<Rc<str>>,
    /// What the modules import at their top level.
    imports: PerSide<BTreeMap<String, Import>>,
    /// The names that the modules import from others of their project.
    of_project: PerSide<BTreeSet<String>>,
    /// (qualified name in new, name in old) of functions with the same code.
    function_renames: Rc<[(String, String)]>,
    /// The examples that the texts bring with them, and the names of which values may be made.
    calls_beside: Rc<[GivenCall]>,
    module_names: PerSide<Rc<ModuleNames>>,
    /// The attributes that one version keeps behind a property, here or in modules of the project that it imports.
    wrapped: Rc<[Wrapped]>,
    /// What methods share, by the names of their old and new classes.
    classes: RefCell<BTreeMap<PerSide<String>, Rc<ClassDiff>>>,
    /// The other modules of the projects that hold the texts, where they count.
    pub around: Option<RefCell<Modules>>,
    /// What classes declare about the attributes of their objects.
    fields: RefCell<PerSide<BTreeMap<String, Rc<Fields>>>>,
}

/// What a class declares about each attribute of its objects.
type Fields = BTreeMap<String, Hint>;

/// What two versions of a class say about all of its methods.
#[derive(Default)]
struct ClassDiff {
    attribute_renames: Vec<(String, String)>,
    keeps_state_otherwise: bool,
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
                Some(_) => Surroundings::within(&modules[side], &elsewhere[side], &around),
                None => Surroundings::within(&texts[side], &texts[side], &around),
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
            surroundings,
            imports,
            of_project,
            function_renames,
            calls_beside,
            module_names,
            classes: RefCell::default(),
            fields: RefCell::default(),
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
    fn reached(&self, side: Side, function: &Function) -> Vec<Recipe> {
        if self.context == Context::Function || function.kind == CodeKind::Snippet {
            return vec![];
        }
        let project = self.places[side].as_ref().map(|place| (place, &*self.elsewhere[side]));
        let constants = &self.surroundings[side].constants;
        reached::literals(&self.indices[side], constants, entity(function), function, project)
    }

    /// The changed entities that an entity uses, and those that lead there, nearest first.
    fn path(&self, side: Side, from: &str) -> Vec<String> {
        let mut path = self.indices[side].reach(from);
        path.retain(|entity| self.tainted[side].contains(entity));
        path
    }
}

/// One version: the function, and what runs beside it.
pub(super) struct VersionParts {
    /// The function and its companions, each with its own text.
    pub parts: Vec<Function>,
    /// The other module of the project that holds each part, by dotted name.
    pub modules: Vec<Option<String>>,
    /// The parts behind the function, as a listing of all of them tells them.
    pub listed: Vec<PartReport>,
    /// The text that is evaluated before. All pairs share it, since there are as many as the text has functions.
    pub module: Rc<str>,
    /// Where the module lies.
    pub place: Option<Place>,
    /// The module's text as it is evaluated elsewhere.
    pub elsewhere: Rc<str>,
    /// In module context, the text that is evaluated before an execution without the module.
    pub alone: String,
    pub decorators: Vec<String>,
    pub body: Body,
    /// What the classes of the parts declare about the attributes of their objects, by path, for each part.
    pub fields: Vec<BTreeMap<String, Hint>>,
    /// What the surrounding text reveals about values that the code looks at.
    pub surroundings: Rc<Surroundings>,
    pub imports: Imports,
    /// The literals of helpers and constants that the function uses.
    pub reached: Vec<Recipe>,
}

/// The attributes that one version keeps behind a property, of the classes of both texts and of the modules of their
/// project that both import.
fn wrapped(indices: &PerSide<Index>, places: &PerSide<Option<Place>>, texts: &PerSide<String>) -> Vec<Wrapped> {
    let own = indices.as_ref().map(|index| index.functions.as_slice());
    let mut found = twincell_syntax::wrapped_attributes(own);
    if let PerSide { old: Some(old), new: Some(new) } = places.as_ref().map(Option::as_ref) {
        for module in twincell_project::imported(new, &texts.new) {
            let there = |place: &Place| twincell_project::module(place, &module).map(|(_, text)| text);
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
fn of_project(place: &Place, module: &str) -> BTreeSet<String> {
    let imports = twincell_syntax::imports(module).into_iter();
    let found = imports.filter(|(_, import)| import.is_global && twincell_project::holds(place, &import.target));
    found.map(|(name, _)| name).collect()
}

/// The text of another module of a project.
fn module_text(place: &Place, module: &str) -> Option<ModuleText> {
    let (place, text) = twincell_project::module(place, module)?;
    Some(ModuleText { package: place.package().to_owned(), text })
}

/// The text of a module of an installed package.
fn installed_text(packages: &[PathBuf], module: &str) -> Option<ModuleText> {
    packages.iter().find_map(|folder| {
        let (file, name) = (String::new(), String::new());
        module_text(&Place { folder: folder.clone(), file, name, search: vec![String::new()] }, module)
    })
}

/// Two versions of one function, snippet or class.
pub(super) struct Pair {
    pub versions: PerSide<VersionParts>,
    /// Both versions for people: the text of all parts as one.
    pub shown: PerSide<Function>,
    pub diff: Diff,
    /// The changed names that the versions use. They are searched for if the versions themselves are the same.
    pub changed_names: Vec<String>,
    pub attribute_renames: Vec<(String, String)>,
    pub wrapped: Rc<[Wrapped]>,
    /// (qualified name in new, name in old) of functions of the two texts with the same code.
    pub function_renames: Rc<[(String, String)]>,
    /// The examples that the texts bring with them, and the names of which values may be made.
    pub calls_beside: Rc<[GivenCall]>,
    pub module_names: PerSide<Rc<ModuleNames>>,
    /// Whether only one version of the class has certain private attributes, so that the class keeps its state
    /// differently.
    pub keeps_state_otherwise: bool,
    /// The bound that a version exceeds. Such a pair is not compared, and its difference is not looked into.
    pub exceeds: Option<Bound>,
    unchanged: bool,
}

impl Pair {
    /// The functions themselves, without their companions, with absolute imports.
    pub fn functions(&self) -> PerSide<Function> {
        self.versions.as_ref().map(|version| {
            let function = version.parts[0].clone();
            let Some(place) = &version.place else { return function };
            Function { text: twincell_syntax::absolute_imports(&function.text, place.package()), ..function }
        })
    }

    /// `most`: how many statements and expressions each version may have.
    pub fn new(texts: &Texts, (old, new): (Function, Function), most: u32) -> Self {
        let functions = PerSide { old, new };
        // Aligning takes the longest, and nothing says for how long.
        let is_too_large = bound(functions.as_ref().map(std::slice::from_ref), most).is_some();
        let class = if is_too_large { Rc::default() } else { class_diff(texts, &functions) };
        let attribute_renames = class.attribute_renames.clone();
        let own = match is_too_large {
            true => twincell_syntax::unaligned_diff(&functions.old, &functions.new),
            false => twincell_syntax::diff_renamed(&functions.old, &functions.new, &attribute_renames),
        };
        let paths = PerSide::of(|side| texts.path(side, entity(&functions[side])));
        let decorators_differ = functions.old.decorators != functions.new.decorators;
        let mut changed_names: Vec<String> = Vec::new();
        if own.identical {
            for name in paths.iter().flatten().filter(|name| texts.changed.contains(*name)) {
                if !changed_names.contains(name) {
                    changed_names.push(name.clone());
                }
            }
            if decorators_differ {
                changed_names.insert(0, "its decorators".into());
            }
        }
        let snippets = functions.as_ref().map(|function| match function.kind {
            CodeKind::Snippet => Some(twincell_syntax::snippet(&function.text)),
            _ => None,
        });
        let bodies = match (&snippets, functions.old.kind) {
            (PerSide { old: Some(old), new: Some(new) }, _) => snippet_bodies(old, new, &own),
            (_, CodeKind::Class) => class_bodies(texts, &functions),
            _ => PerSide::new(Body::Function, Body::Function),
        };
        let unchanged = own.identical;
        // Most functions of a text are the same and do not run.
        let is_run = !own.identical || !changed_names.is_empty();
        let mut others =
            if is_run && !is_too_large { elsewhere::one_sided(texts, &functions) } else { PerSide::default() };
        let mut bodies = bodies.into_iter();
        let versions = PerSide::of(|side| {
            let function = &functions[side];
            let path = path(texts, side, &paths, function);
            let others = std::mem::take(&mut others[side]);
            let (mut parts, mut modules) = (vec![function.clone()], vec![None]);
            for Companion { function, module } in companions(&texts.indices[side], &path, function, others) {
                parts.push(function);
                modules.push(module);
            }
            let own: Vec<&Function> =
                parts.iter().zip(&modules).filter(|(_, module)| module.is_none()).map(|(part, _)| part).collect();
            let kept = kept(texts, side, &functions, &path);
            let module = module(texts, side, &kept, &own);
            let alone = if is_run { alone(texts, side, &kept, &own) } else { String::new() };
            let fields = parts.iter().zip(&modules).map(|(part, module)| match module {
                // Its own module declares them.
                Some(_) => Fields::new(),
                None => fields(texts, side, part),
            });
            let fields = fields.collect();
            VersionParts {
                elsewhere: match &texts.places[side] {
                    Some(_) if function.kind != CodeKind::Snippet => texts.elsewhere[side].clone(),
                    _ => module.clone(),
                },
                module,
                place: texts.places[side].clone(),
                alone,
                decorators: decorators(texts, side, function, decorators_differ),
                surroundings: texts.surroundings[side].clone(),
                imports: Imports {
                    of_module: texts.imports[side].clone(),
                    own: parts.iter().flat_map(|part| twincell_syntax::imports(&part.text)).collect(),
                },
                fields,
                listed: listed(&parts, &modules, texts.before[side]),
                reached: if is_run { texts.reached(side, function) } else { vec![] },
                parts,
                modules,
                body: bodies.next().unwrap_or_default(),
            }
        });
        let shown = versions.as_ref().map(|version| whole(&version.parts));
        let exceeds = bound(versions.as_ref().map(|version| version.parts.as_slice()), most);
        let diff = if exceeds.is_some() { own } else { whole_diff(&versions, own, &shown) };
        Self {
            exceeds,
            versions,
            shown,
            diff,
            changed_names,
            attribute_renames,
            wrapped: texts.wrapped.clone(),
            function_renames: texts.function_renames.clone(),
            calls_beside: texts.calls_beside.clone(),
            module_names: texts.module_names.clone(),
            keeps_state_otherwise: class.keeps_state_otherwise,
            unchanged,
        }
    }

    /// Whether nothing that would show a difference needs to run.
    pub fn is_same_program(&self) -> bool {
        self.diff.identical && self.changed_names.is_empty()
    }

    /// Whether the function itself is the same and only what it uses changed.
    pub fn is_unchanged_itself(&self) -> bool {
        self.unchanged
    }

    pub fn kind(&self) -> CodeKind {
        self.shown.new.kind
    }

    pub fn context(&self) -> assemble::PairContext<'_> {
        let members = match &self.versions.old.body {
            Body::Class { members, .. } => members.as_slice(),
            _ => &[],
        };
        assemble::PairContext {
            functions: &self.shown,
            diff: &self.diff,
            changed_names: &self.changed_names,
            members,
            own_lines: self.versions.as_ref().map(|version| line_count(&version.parts[0])),
            parts: self.versions.as_ref().map(|version| version.listed.clone()),
        }
    }
}

/// The bound that a version exceeds, if it has more statements and expressions than this.
fn bound(parts: PerSide<&[Function]>, most: u32) -> Option<Bound> {
    Side::BOTH.into_iter().find_map(|side| {
        let texts = || parts[side].iter().map(|part| part.text.as_str());
        // Each statement and each expression has a character of its own.
        if texts().map(str::len).sum::<usize>() <= most as usize {
            return None;
        }
        let size = texts().map(twincell_syntax::size).fold(0, u32::saturating_add);
        (size > most).then_some(Bound::Size { side, size, most })
    })
}

/// The name of a function as an entity, without the number of a duplicate.
pub(super) fn entity(function: &Function) -> &str {
    function.qualname.split('#').next().unwrap_or(&function.qualname)
}

/// The class of a method, as an entity.
fn owner(function: &Function) -> Option<&str> {
    match function.kind {
        CodeKind::Class => Some(entity(function)),
        _ => function.class_name.as_ref().and_then(|_| entity(function).rsplit_once('.')).map(|(owner, _)| owner),
    }
}

pub(super) fn methods<'a>(index: &'a Index, class: &str) -> Vec<&'a Function> {
    let of_class = |function: &&Function| {
        function.parent.is_none() && function.qualname.rsplit_once('.').is_some_and(|(owner, _)| owner == class)
    };
    index.functions.iter().filter(of_class).collect()
}

/// What the class of a method declares about the attributes of its objects: `self.words`, from the fields of the class.
fn fields(texts: &Texts, side: Side, method: &Function) -> BTreeMap<String, Hint> {
    let of_objects = !method.decorators.iter().any(|text| matches!(text.as_str(), "staticmethod" | "classmethod"));
    let Some((owner, own)) = owner(method).zip(method.parameters.first()).filter(|_| of_objects) else {
        return BTreeMap::new();
    };
    let mut known = texts.fields.borrow_mut();
    let hints = known[side].entry(owner.to_owned()).or_insert_with(|| {
        let text = texts.indices[side].class_text(owner);
        let field_hints = |text| twincell_values::reading::field_hints(text, &texts.surroundings[side].known);
        Rc::new(text.map(field_hints).unwrap_or_default())
    });
    hints.iter().map(|(name, hint)| (format!("{}.{name}", own.name), hint.clone())).collect()
}

/// What the classes of two methods say. It takes all methods of both, so it is looked at once.
fn class_diff(texts: &Texts, functions: &PerSide<Function>) -> Rc<ClassDiff> {
    let PerSide { old: Some(old), new: Some(new) } = functions.as_ref().map(owner) else { return Rc::default() };
    let names = PerSide::new(old.to_owned(), new.to_owned());
    let mut known = texts.classes.borrow_mut();
    let diff = known.entry(names).or_insert_with_key(|names| {
        let mut attribute_renames = attribute_renames(texts, names);
        attribute_renames.extend(texts.wrapped.iter().filter(|wrapped| wrapped.class == names.new).map(|wrapped| {
            let Wrapped { public, private, .. } = wrapped.clone();
            if wrapped.side == Side::New { (private, public) } else { (public, private) }
        }));
        let keeps_state_otherwise = keeps_state_otherwise(texts, names, &attribute_renames);
        Rc::new(ClassDiff { attribute_renames, keeps_state_otherwise })
    });
    diff.clone()
}

fn attribute_renames(texts: &Texts, classes: &PerSide<String>) -> Vec<(String, String)> {
    let PerSide { old, new } = PerSide::of(|side| methods(&texts.indices[side], &classes[side]));
    // One method alone does not show how others name its attributes.
    if old.len() < 2 || new.len() < 2 { vec![] } else { twincell_syntax::attribute_renames(&old, &new) }
}

fn keeps_state_otherwise(texts: &Texts, classes: &PerSide<String>, renames: &[(String, String)]) -> bool {
    let PerSide { old, new } = classes;
    let attributes = |index: &Index, class: &str, renames: &[(String, String)]| -> BTreeSet<String> {
        let names = methods(index, class).into_iter().flat_map(twincell_syntax::private_attributes);
        let canonical = |name: String| renames.iter().find(|(is, _)| *is == name).map_or(name, |(_, was)| was.clone());
        names.map(canonical).filter(|name| !index.defines(&format!("{class}.{name}"))).collect()
    };
    attributes(&texts.indices.old, old, &[]) != attributes(&texts.indices.new, new, renames)
}

/// The decorators to apply: if they differ, all of them, and otherwise those that changed themselves. The others do the
/// same to both versions, and one that needs its framework's context would only keep the function from running.
fn decorators(texts: &Texts, side: Side, function: &Function, differ: bool) -> Vec<String> {
    if differ || function.kind == CodeKind::Class {
        return function.decorators.clone();
    }
    let root = |text: &str| text.split(['.', '(', ' ']).next().unwrap_or_default().to_string();
    // `@name.setter` above `name` says how the function is reached, not what it does.
    let is_applied = |text: &&String| texts.tainted[side].contains(&root(text)) && root(text) != function.name;
    function.decorators.iter().filter(is_applied).cloned().collect()
}

fn snippet_bodies(old: &Snippet, new: &Snippet, diff: &Diff) -> PerSide<Body> {
    let renames: BTreeMap<&String, &String> = diff.renames.iter().map(|(is, was)| (is, was)).collect();
    let canonical = |name: &String| renames.get(name).copied().unwrap_or(name).clone();
    let new_names: BTreeMap<String, String> = new.results.iter().map(|name| (canonical(name), name.clone())).collect();
    // Names that both bind, and results of the old version that are lost. Names that only the new version binds do no
    // harm.
    let wanted: Vec<&String> =
        old.results.iter().filter(|name| new_names.contains_key(*name) || old.unread.contains(*name)).collect();
    let body = |results: Vec<(String, String)>, bound: &BTreeSet<String>| {
        let compared: BTreeSet<&String> = results.iter().map(|(own, _)| own).collect();
        let temporary = bound.iter().filter(|name| !compared.contains(name)).cloned().collect();
        Body::Snippet { results, temporary }
    };
    let olds = wanted.iter().map(|name| ((*name).clone(), (*name).clone())).collect();
    let news = wanted.iter().map(|name| (new_names.get(*name).unwrap_or(name).clone(), (*name).clone())).collect();
    PerSide::new(body(olds, &old.bound), body(news, &new.bound))
}

/// Operations that objects support by themselves, and better where a decorator provides them.
const OPERATIONS: [&str; 5] = ["__eq__", "__hash__", "__lt__", "__repr__", "__setattr__"];

/// The public members that both versions of a class have.
fn class_bodies(texts: &Texts, functions: &PerSide<Function>) -> PerSide<Body> {
    let PerSide { old, new } =
        PerSide::of(|side| members(&texts.indices[side], entity(&functions[side]), &texts.surroundings[side].known));
    let in_both =
        |member: &&Member| new.iter().any(|other| other.name == member.name && other.is_property == member.is_property);
    // Callers know the old signatures.
    let mut shared: Vec<Member> = old.iter().filter(in_both).cloned().collect();
    if functions.iter().any(|function| !function.decorators.is_empty()) {
        // Decorators write such methods for a class.
        let written = OPERATIONS.iter().filter(|name| shared.iter().all(|member| member.name != **name));
        let members = written.map(|name| operation(name, false)).collect();
        shared = [shared, members].concat();
    }
    let special = PerSide::of(|side| special_methods(&texts.indices[side], entity(&functions[side])));
    for name in special.old.symmetric_difference(&special.new) {
        for name in operations_of(name) {
            if shared.iter().all(|member| member.name != *name) {
                shared.push(operation(name, true));
            }
        }
    }
    let mut constructor = constructor(&texts.indices.old, entity(&functions.old), &texts.surroundings.old.known);
    let imports = Imports { of_module: texts.imports.old.clone(), ..Imports::default() };
    imports.keep_library(texts.context, &mut constructor);
    shared.iter_mut().for_each(|member| imports.keep_library(texts.context, &mut member.hints));
    for member in &mut shared {
        let is_tainted = |side: Side| {
            let found = texts.indices[side].inherited(entity(&functions[side]), &member.name);
            found.is_some_and(|name| texts.tainted[side].contains(&name))
        };
        // What asks for a special method of one version alone is tried with the others, by which it is told best.
        member.is_changed = !member.by_operation && Side::BOTH.into_iter().any(is_tainted);
    }
    let body = Body::Class { constructor, members: shared };
    PerSide::new(body.clone(), body)
}

/// What a class declares about the arguments of its constructor: in `__init__`, or as fields.
fn constructor(index: &Index, class: &str, known: &Known) -> BTreeMap<String, Hint> {
    let field_hints = |text| twincell_values::reading::field_hints(text, known);
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
            None => index.class_text(&class).map(field_hints).unwrap_or_default(),
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

fn members(index: &Index, class: &str, known: &Known) -> Vec<Member> {
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

fn line_count(part: &Function) -> u32 {
    part.text.lines().count() as u32
}

/// The number of lines before each part, where all stand in one text.
fn starts(parts: &[Function]) -> impl Iterator<Item = u32> {
    parts.iter().scan(0, |lines, part| {
        let start = *lines;
        *lines += line_count(part);
        Some(start)
    })
}

/// The parts behind the function. Of the text that holds them, `before` lines are those of earlier cells.
fn listed(parts: &[Function], modules: &[Option<String>], before: u32) -> Vec<PartReport> {
    let part = |((part, module), start): ((&Function, &Option<String>), u32)| {
        let (text, first_line) = match module {
            Some(module) => (PartText::Module(module.clone()), part.first_line),
            None if part.first_line > before => (PartText::Own, part.first_line - before),
            None => (PartText::EarlierCells, 1),
        };
        PartReport { number: start + 1, first_line, text }
    };
    parts.iter().zip(modules).zip(starts(parts)).skip(1).map(part).collect()
}

/// All parts as one text, under the name of the first.
fn whole(parts: &[Function]) -> Function {
    let mut shown = parts[0].clone();
    shown.text = parts.iter().map(|part| part.text.as_str()).collect();
    shown
}

/// The difference of the functions and their companions, in lines of the whole texts.
fn whole_diff(versions: &PerSide<VersionParts>, own: Diff, shown: &PerSide<Function>) -> Diff {
    if versions.iter().all(|version| version.parts.len() == 1) {
        return own;
    }
    let mut diff = own;
    for side in Side::BOTH {
        let others = &versions[side.other()].parts;
        let parts = &versions[side].parts;
        for (part, start) in parts.iter().zip(starts(parts)).skip(1) {
            let lines: Vec<u32> = match others.iter().skip(1).find(|twin| twin.qualname == part.qualname) {
                Some(twin) if side == Side::Old => twincell_syntax::diff(part, twin).lines.old,
                Some(twin) => twincell_syntax::diff(twin, part).lines.new,
                None => (1..=line_count(part)).collect(),
            };
            diff.lines[side].extend(lines.into_iter().map(|line| line + start));
        }
    }
    diff.rows = twincell_syntax::rows(&shown.old.text, &shown.new.text);
    diff
}
