//! Error guidance (Treefix, III-E) without a language model: what the error of a plain run says about how to write its
//! prefix, as a table of rules by exception and by the expression that failed.

use twincell_engine::protocol::Raise;
use twincell_syntax::instrument::Instrumented;
use twincell_syntax::python::is_identifier;
use twincell_syntax::site::SiteKind;
use twincell_values::path::AccessPath;
use twincell_values::reading::Locals;
use twincell_values::value::Recipe;

use crate::environment::{Environment, Node};
use crate::known;
use crate::reading::{Imported, PACKAGE, Reading};
use crate::render::Lessons;

/// The text of a file that a snippet opens and nobody knows.
const TEXT: &str = "first line\nsecond line\n";

/// What one failed run tells.
pub(crate) struct Failure<'a> {
    pub(crate) raise: &'a Raise,
    pub(crate) environment: &'a Environment,
    pub(crate) lessons: &'a Lessons,
}

/// Ways to write the prefix without the error, the likeliest first. All hold for the whole snippet, except for mocks.
pub(crate) fn repairs(
    failure: &Failure<'_>,
    reading: &Reading,
    instrumented: &Instrumented,
    locals: &Locals,
) -> Vec<Lessons> {
    let Failure { raise, lessons, .. } = failure;
    let mut lessons = (*lessons).clone();
    let name = raise.name.as_deref().unwrap_or_default();
    let is = |class: &str| raise.class == class || raise.bases.iter().any(|base| base == class);
    if is("ImportError") && !name.is_empty() {
        let mut whole = String::new();
        for part in name.split('.') {
            if !whole.is_empty() {
                whole.push('.');
            }
            whole += part;
            // What contains a module that is there is there.
            if is("ModuleNotFoundError") && whole.len() < name.len() && !lessons.modules.contains(&whole) {
                continue;
            }
            lessons.modules.insert(whole.clone());
        }
        return vec![lessons];
    }
    if is("ImportError") {
        lessons.definitions.push(format!("__package__ = '{PACKAGE}'"));
        lessons.modules.insert(PACKAGE.into());
        let relative =
            reading.imported.values().map(|import| &import.module).filter(|module| module.starts_with(PACKAGE));
        lessons.modules.extend(relative.cloned());
        return once(lessons);
    }
    if is("EOFError") {
        lessons.definitions.push("def input(prompt=''):\n    return '1'".into());
        return once(lessons);
    }
    if is("FileNotFoundError") && !name.is_empty() && !name.starts_with('/') {
        let text = if name.ends_with(".json") { "{}" } else { TEXT };
        return match lessons.files.insert(name.to_owned(), text.into()) {
            None => vec![lessons],
            Some(_) => vec![],
        };
    }
    if is("NameError") && is_identifier(name) && !is("UnboundLocalError") {
        match known::old(name) {
            Some(definition) => lessons.definitions.push(definition.into()),
            None => drop(lessons.names.insert(name.to_owned())),
        }
        return once(lessons);
    }
    if is("AttributeError")
        && let Some((root, import)) = recognised(failure, reading, instrumented)
    {
        lessons.without.insert(import);
        lessons.names.insert(root);
        return vec![lessons];
    }
    let patches = patches(failure, reading, instrumented);
    let mocks = mocks(failure, reading, instrumented, locals);
    if is("OSError") { [patches, mocks].concat() } else { [mocks, patches].concat() }
}

/// The name whose usual meaning has no such attribute, and the import that gives it this meaning.
fn recognised(failure: &Failure<'_>, reading: &Reading, instrumented: &Instrumented) -> Option<(String, String)> {
    let sites = instrumented.sites.sites.iter().filter(|site| site.line == failure.raise.line);
    let attributes =
        sites.filter(|site| site.kind == SiteKind::Attribute && failure.raise.name.as_ref() == Some(&site.identifier));
    let roots = attributes.filter_map(|site| {
        let (root, rest) = AccessPath::new(&site.path).split_root();
        (rest.strip_prefix('.') == Some(site.identifier.as_str())).then_some(root)
    });
    let import = |root: &str| {
        let gives = |import: &&String| import.split_whitespace().next_back() == Some(root);
        let import = reading.imports.iter().find(gives)?;
        (!failure.lessons.without.contains(import)).then(|| (root.to_owned(), import.clone()))
    };
    roots.filter_map(import).next()
}

/// Mocks in place of the functions of modules that the failing line calls, one at a time: what they do is refused here, or
/// needs what is not here.
fn patches(failure: &Failure<'_>, reading: &Reading, instrumented: &Instrumented) -> Vec<Lessons> {
    let mut found = Vec::new();
    for site in instrumented.sites.sites.iter().filter(|site| site.line == failure.raise.line) {
        let path = AccessPath::new(&site.path);
        let Some(callee) = path.callee().filter(|callee| site.kind == SiteKind::Call && callee.is_dotted()) else {
            continue;
        };
        let (root, rest) = callee.split_root();
        let Some(Imported { module, name }) = reading.imported.get(root) else { continue };
        let inner = name.iter().map(String::as_str).chain(rest.split('.').filter(|part| !part.is_empty()));
        let mut lessons = failure.lessons.clone();
        if lessons.patched.insert((module.clone(), inner.collect::<Vec<_>>().join("."))) {
            found.push(lessons);
        }
    }
    found
}

/// Nothing if a lesson was learned before.
fn once(mut lessons: Lessons) -> Vec<Lessons> {
    let count = lessons.definitions.len();
    lessons.definitions.dedup();
    if lessons.definitions.len() < count { vec![] } else { vec![lessons] }
}

/// Mocks in place of objects that the failing expression names: the last of them, then all of its line, then all.
fn mocks(failure: &Failure<'_>, reading: &Reading, instrumented: &Instrumented, locals: &Locals) -> Vec<Lessons> {
    let Raise { line, columns, .. } = failure.raise;
    let text = reading.text();
    let begin: usize = text.split_inclusive('\n').take((*line as usize).saturating_sub(1)).map(str::len).sum();
    let range = columns.map(|(start, end)| begin + start as usize..begin + end as usize);
    let is_near =
        |start: usize, end: usize| range.as_ref().is_none_or(|range| range.start <= start && end <= range.end);
    let mut near: Vec<String> = Vec::new();
    let mut on_line: Vec<String> = Vec::new();
    for site in instrumented.sites.sites.iter().filter(|site| site.line == *line) {
        let Some(path) = known_path(&site.path, failure.environment, locals) else { continue };
        if failure.lessons.mocked.contains(&path) {
            continue;
        }
        if is_near(site.start as usize, site.end as usize) && !near.contains(&path) {
            near.push(path.clone());
        }
        if !on_line.contains(&path) {
            on_line.push(path);
        }
    }
    near.sort_by_key(|path| std::cmp::Reverse(path.len()));
    let mut found: Vec<Lessons> = Vec::new();
    let mut add = |paths: &[String]| {
        let mut lessons = failure.lessons.clone();
        lessons.mocked.extend(paths.iter().cloned());
        if lessons != *failure.lessons && !found.contains(&lessons) {
            found.push(lessons);
        }
    };
    for path in &near {
        add(std::slice::from_ref(path));
    }
    add(&on_line);
    let mut all = Vec::new();
    failure.environment.names.iter().for_each(|(_, node)| objects(node, &mut all));
    add(&all);
    found
}

/// The longest part of a path at which the environment has an object. A local stands for the path that it is bound to.
fn known_path(path: &str, environment: &Environment, locals: &Locals) -> Option<String> {
    let (root, rest) = AccessPath::new(path).split_root();
    let alias = locals.aliases.iter().find(|(local, _)| local == root);
    let path = alias.map_or_else(|| path.to_owned(), |(_, path)| format!("{path}{rest}"));
    let mut all = Vec::new();
    environment.names.iter().for_each(|(_, node)| objects(node, &mut all));
    let is_part = |known: &&String| path == **known || AccessPath::new(&path).beyond(known).is_some();
    all.iter().filter(is_part).max_by_key(|known| known.len()).cloned()
}

fn objects(node: &Node, out: &mut Vec<String>) {
    if matches!(node.value, None | Some(Recipe::Versatile(_))) {
        out.push(node.path.clone());
    }
    let children = node.attributes.iter().chain(&node.items).chain(&node.calls);
    children.for_each(|(_, child)| objects(child, out));
}
