//! The examples of a pair: those that were given, and those that its texts bring with them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use twincell_engine::protocol::{GivenValue, Version};
use twincell_syntax::site::SiteKind;
use twincell_syntax::{CodeKind, Index, Parameter, ParameterKind, Side};
use twincell_values::path::{AccessPath, Question};
use twincell_values::reading::examples::{Call, Passed};
use twincell_values::value::{ConstructorCall, Decision, Fixed, Recipe, library};

use super::pair::Pair;
use super::sources::Sources;
use crate::note::{Misfit, Note};
use crate::{Example, ExampleSource, Examples, GivenCall};

/// What was given for parameters and globals, as it is and all together, as an example.
pub(super) fn of_values(given: &[GivenValue]) -> Option<Example> {
    let values = given.iter().zip(0..).map(|(value, index)| (value.name.clone(), Decision::Value(value.recipe(index))));
    (!given.is_empty()).then(|| Example { fixed: values.collect(), source: ExampleSource::Notebook })
}

/// The maximum number of examples of a pair. Recorded ones may be many.
const MOST: usize = 200;
/// The maximum number of notes about examples.
const MOST_NOTES: usize = 3;
/// The maximum number of further positional arguments.
const MOST_FURTHER: usize = 16;

/// The examples of a pair, each once, and what to say of those that do not fit.
pub(super) fn of_pair(pair: &Pair, given: &Examples) -> (Vec<Arc<Example>>, Vec<Note>) {
    let names = pair.versions.as_ref().map(|version| version.parts[0].entity());
    let own = names.iter().enumerate().filter(|(at, name)| *at == 0 || **name != names.old);
    let own = own.filter_map(|(_, name)| given.of.get(*name)).flatten();
    let mut found: Vec<Arc<Example>> = Vec::new();
    let mut take = |example: Example| {
        if found.len() < MOST && found.iter().all(|other| other.fixed != example.fixed) {
            found.push(Arc::new(example));
        }
    };
    own.chain(&given.of_all).cloned().for_each(&mut take);
    let mut notes = Vec::new();
    if pair.kind() != CodeKind::Function {
        return (found, notes);
    }
    let is_own = |one: &&GivenCall| names.iter().any(|name| one.call.is_of(name));
    let mut none = 0;
    for GivenCall { call, source } in given.calls.iter().chain(pair.calls_beside.iter()).filter(is_own) {
        let bound = Side::BOTH.map(|side| bind(pair, side, call));
        let misfit = match bound {
            [Ok((fixed, open)), _] | [Err(_), Ok((fixed, open))] => {
                if !fixed.is_empty() {
                    take(Example { fixed, source: source.clone() });
                }
                (!open.is_empty()).then_some(Misfit::Open(open))
            }
            [Err(misfit), Err(_)] => Some(misfit),
        };
        // Who wrote the file can change it. Nobody who gave no name meant this function.
        let is_told = matches!(source, ExampleSource::File { .. }) && !call.function.is_empty();
        if let Some(misfit) = misfit.filter(|_| is_told) {
            none += usize::from(notes.len() >= MOST_NOTES);
            if notes.len() < MOST_NOTES {
                notes.push(Note::Misfit { source: source.clone(), function: names.new.to_owned(), misfit });
            }
        }
    }
    notes.extend((none > 0).then_some(Note::MoreMisfits(none)));
    (found, notes)
}

/// The calls of a file whose function neither text has.
pub(super) fn unknown(sources: &Sources, given: &Examples) -> Vec<Note> {
    if given.is_shared {
        return vec![];
    }
    let unknown = strangers(&sources.indices().collect::<Vec<_>>(), given);
    let note = |(source, function): (&&ExampleSource, &&str)| Note::UnknownExample {
        source: (*source).clone(),
        function: (*function).to_owned(),
    };
    let more = unknown.len().saturating_sub(MOST_NOTES);
    unknown.iter().take(MOST_NOTES).map(note).chain((more > 0).then_some(Note::MoreMisfits(more))).collect()
}

/// The functions that a file of examples calls and that none of the texts has.
pub fn unknown_functions<'a>(texts: impl IntoIterator<Item = &'a str>, given: &Examples) -> BTreeSet<String> {
    if given.calls.is_empty() {
        return BTreeSet::new();
    }
    let indices: Vec<Index> = texts.into_iter().map(Index::of).collect();
    let unknown = strangers(&indices.iter().collect::<Vec<_>>(), given);
    unknown.into_values().map(str::to_owned).collect()
}

/// The places in files of examples with a call whose function no text has, and its name.
fn strangers<'a>(indices: &[&Index], given: &'a Examples) -> BTreeMap<&'a ExampleSource, &'a str> {
    let is_known = |call: &Call| {
        let mut functions = indices.iter().flat_map(|index| &index.functions);
        functions.any(|function| call.is_of(function.entity()))
            || indices.iter().any(|index| index.classes.keys().any(|class| call.is_of(class)))
    };
    // A line of Python also calls what it needs for its example, and methods of objects of any class.
    let mut known = BTreeSet::new();
    let mut unknown: BTreeMap<&ExampleSource, &str> = BTreeMap::new();
    for GivenCall { call, source } in given.calls.iter() {
        if is_known(call) {
            known.insert(source);
        } else if matches!(source, ExampleSource::File { .. }) && (call.is_imported || !call.function.contains('.')) {
            unknown.entry(source).or_insert(&call.function);
        }
    }
    unknown.retain(|source, _| !known.contains(source));
    unknown
}

/// The decisions that a call stands for, and the parameters whose values are not known.
fn bind(pair: &Pair, side: Side, call: &Call) -> Result<(Fixed, Vec<String>), Misfit> {
    let function = &pair.versions[side].parts[0];
    let renames: &[(String, String)] = if side == Side::New { &pair.diff.renames } else { &[] };
    let mut parameters = function.parameters.as_slice();
    let mut arguments = call.arguments.as_slice();
    if let [first, rest @ ..] = parameters
        && matches!(first.name.as_str(), "self" | "cls" | "mcs")
    {
        parameters = rest;
        // `Cart.total(cart, 2)` passes the object, `Cart.of(2)` does not pass the class.
        if !call.is_bound && first.name == "self" {
            arguments = arguments.get(1..).unwrap_or_default();
        }
    }
    let mut bound = Bound { pair, renames, fixed: Fixed::new(), open: Vec::new() };
    let is_positional =
        |one: &&Parameter| matches!(one.kind, ParameterKind::PositionalOnly | ParameterKind::Positional);
    let positional: Vec<&Parameter> = parameters.iter().filter(is_positional).collect();
    let of_kind = |kind: ParameterKind| parameters.iter().find(|one| one.kind == kind);
    let further = arguments.get(positional.len()..).unwrap_or_default();
    match of_kind(ParameterKind::VarPositional) {
        Some(rest) if further.len() <= MOST_FURTHER => {
            let path = bound.path(rest);
            if !call.is_open {
                bound.decide(Question::Positional(&rest.name).to_string(), Recipe::Int(further.len() as i64));
            }
            for (index, value) in further.iter().enumerate() {
                bound.pass(rest, AccessPath::new(&path).item(index).into_string(), value);
            }
        }
        _ if further.is_empty() => {}
        _ => return Err(Misfit::TooMany { given: arguments.len(), most: positional.len() }),
    }
    let mut named: Vec<&str> = Vec::new();
    for (parameter, value) in positional.iter().zip(arguments) {
        bound.pass(parameter, bound.path(parameter), value);
        named.push(&parameter.name);
    }
    let takes_names = |one: &&Parameter| !matches!(one.kind, ParameterKind::VarPositional | ParameterKind::VarKeyword);
    for (name, value) in &call.keywords {
        match (parameters.iter().filter(takes_names).find(|one| one.name == *name), of_kind(ParameterKind::VarKeyword))
        {
            (Some(parameter), _) => {
                bound.pass(parameter, bound.path(parameter), value);
                named.push(&parameter.name);
            }
            (None, Some(rest)) => {
                let path = bound.path(rest);
                let parameter = AccessPath::new(&path);
                bound.decide(Question::Keyword { name, parameter }.to_string(), Recipe::Bool(true));
                bound.pass(rest, parameter.keyword_item(name).into_string(), value);
            }
            (None, None) => return Err(Misfit::NoParameter(name.clone())),
        }
    }
    if !call.is_open {
        for parameter in parameters.iter().filter(takes_names) {
            if parameter.has_default && !named.contains(&parameter.name.as_str()) {
                let path = bound.path(parameter);
                bound.fixed.insert(path, Decision::Default);
            }
        }
    }
    let has_values = bound.fixed.values().any(|decision| matches!(decision, Decision::Value(_)));
    let is_empty_call = call.arguments.is_empty() && call.keywords.is_empty();
    Ok((if has_values || is_empty_call { bound.fixed } else { Fixed::new() }, bound.open))
}

/// A call on its way to decisions.
struct Bound<'a> {
    pair: &'a Pair,
    renames: &'a [(String, String)],
    fixed: Fixed,
    open: Vec<String>,
}

impl Bound<'_> {
    fn path(&self, parameter: &Parameter) -> String {
        canonical(&parameter.name, self.renames)
    }

    fn decide(&mut self, path: String, value: Recipe) {
        self.fixed.insert(path, Decision::Value(value));
    }

    fn pass(&mut self, parameter: &Parameter, path: String, value: &Passed) {
        match value {
            Some(value) if is_known(self.pair, value) => self.decide(path, value.clone()),
            _ => self.open.push(parameter.name.clone()),
        }
    }
}

/// Whether the names in a value stand for something in both versions.
fn is_known(pair: &Pair, value: &Recipe) -> bool {
    let known = |value: &Recipe| is_known(pair, value);
    match value {
        Recipe::Mock(_) => false,
        Recipe::Named(name) => {
            let first = name.split('.').next().unwrap_or(name);
            pair.module_names.iter().all(|names| names.all.contains(first))
        }
        Recipe::Made(call) => {
            let ConstructorCall { class, arguments, keywords } = &**call;
            // What a module imports is real only beside its project.
            let has_class = |side: Side| {
                let names = &pair.module_names[side];
                names.classes.contains(class) || pair.versions[side].place.is_some() && names.all.contains(class)
            };
            let is_there = !library::is_model(class) || Side::BOTH.into_iter().all(has_class);
            is_there && arguments.iter().all(known) && keywords.iter().all(|(_, value)| known(value))
        }
        Recipe::List(items) | Recipe::Tuple(items) | Recipe::Set(items) => items.iter().all(known),
        Recipe::Dict(entries) => entries.iter().all(|(key, value)| known(key) && known(value)),
        _ => true,
    }
}

/// Lets parameters have values of the classes that examples give them, whatever is declared: callers pass them. And a call
/// that names its keywords passes no other.
pub(super) fn admit(versions: &mut [Version], examples: &[Arc<Example>]) {
    let values = examples.iter().flat_map(|example| &example.fixed).filter_map(|(path, decision)| match decision {
        Decision::Value(value) => Some((path, value)),
        _ => None,
    });
    for (path, value) in values {
        for version in &mut *versions {
            let Version { sites, uses, renames, .. } = version;
            let own = sites.sites.iter().zip(uses).filter(|(site, _)| canonical(&site.path, renames) == *path);
            for (_, uses) in own {
                match value {
                    Recipe::None if !uses.candidates.contains(value) => uses.candidates.push(Recipe::None),
                    Recipe::None => {}
                    _ if uses.declared.as_ref().is_none_or(|declared| declared.admits(value)) => {}
                    _ if uses.tested.contains(&value.abstract_value()) => {}
                    _ => uses.tested.push(value.abstract_value()),
                }
            }
        }
    }
}

/// Decides against the keywords that the code looks up in `**options` and that an example does not pass.
pub(super) fn close(versions: &[Version], examples: &mut [Arc<Example>]) {
    for version in versions {
        let Some(rest) = version.parameters.iter().find(|one| one.kind == ParameterKind::VarKeyword) else { continue };
        let path = canonical(&rest.name, &version.renames);
        let sites = version.sites.sites.iter().zip(&version.uses);
        let own =
            sites.filter(|(site, _)| site.kind == SiteKind::Name && canonical(&site.path, &version.renames) == path);
        let mut names: Vec<&str> = own
            .flat_map(|(_, uses)| &uses.key_candidates)
            .filter_map(|key| if let Recipe::Str(name) = key { Some(name.as_str()) } else { None })
            .collect();
        names.push(UNKNOWN_KEYWORD);
        for example in examples.iter_mut() {
            let is_call = !matches!(example.source, ExampleSource::Notebook);
            for name in names.iter().filter(|_| is_call) {
                let question = Question::Keyword { name, parameter: AccessPath::new(&path) }.to_string();
                let fixed = &mut Arc::make_mut(example).fixed;
                fixed.entry(question).or_insert(Decision::Value(Recipe::Bool(false)));
            }
        }
    }
}

/// A key for `**kwargs` that the code does not know, as `runtime/src/inject/arguments.rs` has it.
const UNKNOWN_KEYWORD: &str = "extra";

/// An access path under the old name of its root.
pub(super) fn canonical(path: &str, renames: &[(String, String)]) -> String {
    let (root, rest) = AccessPath::new(path).split_root();
    let old = renames.iter().find(|(new, _)| new == root).map_or(root, |(_, old)| old);
    format!("{old}{rest}")
}
