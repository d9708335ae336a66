//! One pair with everything that its comparison needs: both versions, what runs beside them, and the differences.

mod companions;
mod evaluated_context;
mod one_sided;
mod whole;

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use twincell_engine::protocol::{Body, Context};
use twincell_repo::ModulePath;
use twincell_syntax::{CodeKind, Diff, Function, PerSide, Side, Snippet, Wrapped};
use twincell_values::reading::{Hint, ModuleContext, Uses};
use twincell_values::value::Recipe;

use companions::{companions, path};
use evaluated_context::{alone, kept, module};
use whole::{line_count, listed, whole, whole_diff};

use super::attribute_usage::held;
use super::brought::{ModuleNames, brought, module_names};
use super::classes::{Fields, class_bodies, class_diff, fields};
use super::cross_module::{self, Companion};
use super::imports::Imports;
use super::reached::reached;
use super::sources::Sources;
use crate::report::{Bound, PartReport};
use crate::{GivenCall, assemble};

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
    pub place: Option<ModulePath>,
    /// The module's text as it is evaluated elsewhere.
    pub elsewhere: Rc<str>,
    /// In module context, the text that is evaluated before an execution without the module.
    pub alone: String,
    pub decorators: Vec<String>,
    pub body: Body,
    /// What the classes of the parts declare about the attributes of their objects, by path, for each part.
    pub fields: Vec<BTreeMap<String, Hint>>,
    /// How the methods of the function's class use what its objects hold, by path.
    pub held: Vec<(String, Uses)>,
    /// What the surrounding text reveals about values that the code looks at.
    pub surroundings: Rc<ModuleContext>,
    pub imports: Imports,
    /// The literals of helpers and constants that the function uses.
    pub reached: Vec<Recipe>,
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
    /// Whether only one version of the class has certain private attributes, or the versions start with different
    /// containers, so that the class keeps its state differently.
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
    pub fn new(sources: &Sources, (old, new): (Function, Function), most: u32) -> Self {
        let functions = PerSide { old, new };
        // Aligning takes the longest, and nothing says for how long.
        let is_too_large = bound(functions.as_ref().map(std::slice::from_ref), most).is_some();
        let class = if is_too_large { Rc::default() } else { class_diff(sources, &functions) };
        let attribute_renames = class.attribute_renames.clone();
        let own = match is_too_large {
            true => twincell_syntax::unaligned_diff(&functions.old, &functions.new),
            false => twincell_syntax::diff_renamed(&functions.old, &functions.new, &attribute_renames),
        };
        let paths = PerSide::of(|side| sources.path(side, functions[side].entity()));
        let decorators_differ = functions.old.decorators != functions.new.decorators;
        let mut changed_names: Vec<String> = Vec::new();
        if own.identical {
            for name in paths.iter().flatten().filter(|name| sources.changed.contains(*name)) {
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
            (_, CodeKind::Class) => class_bodies(sources, &functions),
            _ => PerSide::new(Body::Function, Body::Function),
        };
        let unchanged = own.identical;
        // Most functions of a text are the same and do not run.
        let is_run = !own.identical || !changed_names.is_empty();
        let mut others =
            if is_run && !is_too_large { cross_module::one_sided(sources, &functions) } else { PerSide::default() };
        let mut bodies = bodies.into_iter();
        let versions = PerSide::of(|side| {
            let function = &functions[side];
            let path = path(sources, side, &paths, function);
            let others = std::mem::take(&mut others[side]);
            let (mut parts, mut modules) = (vec![function.clone()], vec![None]);
            for Companion { function, module } in companions(&sources[side].index, &path, function, others) {
                parts.push(function);
                modules.push(module);
            }
            let own: Vec<&Function> =
                parts.iter().zip(&modules).filter(|(_, module)| module.is_none()).map(|(part, _)| part).collect();
            let kept = kept(sources, side, &functions, &path);
            let module = module(sources, side, &kept, &own);
            let alone = if is_run { alone(sources, side, &kept, &own) } else { String::new() };
            let fields = parts.iter().zip(&modules).map(|(part, module)| match module {
                // Its own module declares them.
                Some(_) => Fields::new(),
                None => fields(sources, side, part),
            });
            let fields = fields.collect();
            VersionParts {
                elsewhere: match &sources[side].place {
                    Some(_) if function.kind != CodeKind::Snippet => sources[side].elsewhere.clone(),
                    _ => module.clone(),
                },
                module,
                place: sources[side].place.as_ref().map(|place| place.path.clone()),
                alone,
                decorators: decorators(sources, side, function, decorators_differ),
                surroundings: sources[side].surroundings.clone(),
                imports: Imports {
                    of_module: sources[side].imports.clone(),
                    own: parts.iter().flat_map(|part| twincell_syntax::imports(&part.text)).collect(),
                },
                fields,
                // Without the module, the others do not run.
                held: match sources.context {
                    Context::Module if is_run && !is_too_large => held(sources, side, function),
                    _ => vec![],
                },
                listed: listed(&parts, &modules, sources[side].before),
                reached: if is_run { reached(sources, side, function) } else { vec![] },
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
            wrapped: sources.wrapped.clone(),
            function_renames: sources.function_renames.clone(),
            calls_beside: brought(sources),
            module_names: module_names(sources),
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
            attribute_renames: &self.attribute_renames,
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

/// The decorators to apply: if they differ, all of them, and otherwise those that changed themselves. The others do the
/// same to both versions, and one that needs its framework's context would only keep the function from running.
fn decorators(sources: &Sources, side: Side, function: &Function, differ: bool) -> Vec<String> {
    if differ || function.kind == CodeKind::Class {
        return function.decorators.clone();
    }
    let root = |text: &str| text.split(['.', '(', ' ']).next().unwrap_or_default().to_string();
    // `@name.setter` above `name` says how the function is reached, not what it does.
    let is_applied = |text: &&String| sources[side].tainted.contains(&root(text)) && root(text) != function.name;
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
