//! Error guidance (Treefix, III-E) without a language model: what the error of a plain run says about how to write its
//! prefix, as a table of rules by exception and by the expression that failed.

use twincell_engine::protocol::Raise;
use twincell_sketch::environment::{Environment, Node};
use twincell_syntax::imported_modules;
use twincell_syntax::instrument::Instrumented;
use twincell_syntax::python::is_identifier;
use twincell_syntax::site::SiteKind;
use twincell_values::path::AccessPath;
use twincell_values::reading::Locals;
use twincell_values::value::Recipe;

use crate::compat_shims;
use crate::files::{is_below, may_be_column, may_have_columns};
use crate::import::Import;
use crate::import::Imported;
use crate::known;
use crate::lessons::{Common, Lessons, Wanted};
use crate::reading::Reading;

/// Functions of `os.path` that do not look at the machine.
const OF_TEXTS: &[&str] = &[
    "basename",
    "commonpath",
    "commonprefix",
    "dirname",
    "isabs",
    "join",
    "normcase",
    "normpath",
    "split",
    "splitdrive",
    "splitext",
];

/// The maximum number of arguments that a command line is given.
pub(crate) const ARGUMENTS: usize = 3;

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
    let mut learned = (*lessons).clone();
    let common = &mut learned.common;
    let name = raise.name.as_deref().unwrap_or_default();
    let is = |class: &str| raise.class == class || raise.bases.iter().any(|base| base == class);
    let moved = moved_names(name, raise.line, reading, instrumented);
    if is("ModuleNotFoundError") && compat_shims::module(name).is_some() {
        common.moved.insert(name.to_owned());
    } else if (is("ImportError") || is("AttributeError")) && moved.iter().any(|name| !common.patched.contains(name)) {
        common.patched.extend(moved);
    } else if is("ImportError") && !name.is_empty() {
        let mut whole = String::new();
        for part in name.split('.') {
            if !whole.is_empty() {
                whole.push('.');
            }
            whole += part;
            // What contains a module that is there is there.
            if is("ModuleNotFoundError") && whole.len() < name.len() && !common.modules.contains(&whole) {
                continue;
            }
            common.modules.insert(whole.clone());
        }
    } else if is("ImportError")
        && let Some(package) = &reading.package
    {
        common.is_in_package = true;
        if reading.is_in_real_package {
            return if learned == **lessons { vec![] } else { vec![learned] };
        }
        let dots = package.match_indices('.').map(|(dot, _)| &package[..dot]);
        common.modules.extend(dots.chain([package.as_str()]).map(str::to_owned));
        let outermost = package.split('.').next().unwrap_or(package);
        let modules = reading.imported.values().map(|import| &import.module);
        common.modules.extend(modules.filter(|module| AccessPath::from(*module).split_root().0 == outermost).cloned());
    } else if is("IndexError") && reading.has_arguments && common.arguments < ARGUMENTS {
        common.arguments = ARGUMENTS;
    } else if is("KeyError") && reading.has_environment && !name.is_empty() && !common.variables.contains(name) {
        common.variables.insert(name.to_owned());
    } else if is("KeyError")
        && may_be_column(name)
        && let Some(asked) = files_asked(common, reading, lessons, name)
    {
        for file in asked {
            common.files.entry(file).or_default().columns.push(name.to_owned());
        }
    } else if is("BdbQuit") && !common.patched.contains(&debugger()) {
        // Nobody is there to debug.
        common.patched.insert(debugger());
    } else if is("EOFError") {
        common.has_input = true;
    } else if is("FileNotFoundError") && is_below(name) {
        if wants_folder(raise.line, instrumented) {
            common.folders.insert(name.to_owned());
        } else {
            common.files.insert(name.to_owned(), Wanted { line: raise.line, columns: vec![] });
        }
    } else if is("NotADirectoryError")
        && let Some((folder, _)) = name.rsplit_once('/')
        && common.folders.remove(folder)
    {
        // What lies in it is a folder, too.
        common.folders.insert(format!("{folder}/first"));
    } else if (is("TypeError") || is("AttributeError"))
        && let Some(builtin) = known::meant_as_in_python_2(&raise.message)
        && !common.old_names.contains(builtin)
    {
        common.old_names.insert(builtin.to_owned());
    } else if is("NotADirectoryError") && common.files.remove(name).is_some() {
        common.folders.insert(name.to_owned());
    } else if is("NameError")
        && let Some(import) =
            later_import(reading, name).filter(|import| !common.modules.contains(&import.target().module))
        && !common.early.contains(&import)
    {
        common.early.insert(import);
    } else if is("NameError") && is_identifier(name) && !is("UnboundLocalError") {
        let names = if known::old(name).is_some() { &mut common.old_names } else { &mut common.names };
        names.insert(name.to_owned());
    } else if let Some(import) = import_at(reading, raise).filter(|_| !is("ImportError")) {
        // A module that is there fails on its own.
        common.modules.extend(imported_modules(import).into_iter().take(1));
    } else if is("AttributeError")
        && let Some((root, import)) = recognised(failure, reading, instrumented)
    {
        common.without.insert(import);
        common.names.insert(root);
    } else {
        return mocks_for(failure, is("OSError"), reading, instrumented, locals);
    }
    // What was learned before does not help.
    if learned == **lessons { vec![] } else { vec![learned] }
}

/// The import by which the snippet itself gives a name its meaning, too late.
fn later_import(reading: &Reading, name: &str) -> Option<Import> {
    let Imported { module, name: inner } = reading.imported.get(name)?;
    match inner {
        None if module == name => Some(Import::module(module)),
        None => Some(Import::aliased(module, name)),
        Some(inner) if inner == name => Some(Import::name(module, name)),
        Some(_) => None,
    }
}

/// The files whose rows may lack a column, if there are such.
fn files_asked(common: &Common, reading: &Reading, lessons: &Lessons, column: &str) -> Option<Vec<String>> {
    let unknown = common.files.iter().filter(|(name, wanted)| {
        !wanted.columns.iter().any(|known| known == column) && may_have_columns(reading, name, wanted, &lessons.scene)
    });
    let unknown: Vec<String> = unknown.map(|(name, _)| name.clone()).collect();
    (!unknown.is_empty()).then_some(unknown)
}

fn debugger() -> (String, String) {
    ("pdb".into(), "set_trace".into())
}

/// Whether what a line looks for is a folder.
fn wants_folder(line: u32, instrumented: &Instrumented) -> bool {
    const OF_FOLDERS: &[&str] = &["chdir", "iterdir", "listdir", "scandir"];
    let mut calls = instrumented.sites.sites.iter().filter(|site| site.line == line && site.kind == SiteKind::Call);
    calls.any(|site| {
        let callee = AccessPath::new(&site.path).callee();
        callee.is_some_and(|callee| OF_FOLDERS.contains(&callee.last_word()))
    })
}

/// What the snippet takes from a module, or asks for on a line, that is somewhere else now.
fn moved_names(module: &str, line: u32, reading: &Reading, instrumented: &Instrumented) -> Vec<(String, String)> {
    let is_moved = |module: &str, name: &str| compat_shims::is_known(&format!("{module}.{name}"));
    let imported = reading.imported.values().filter(|import| import.module == module);
    let imported = imported.filter_map(|import| Some((import.module.clone(), import.name.clone()?)));
    let on_line = instrumented.sites.sites.iter().filter(|site| site.line == line && site.kind == SiteKind::Attribute);
    let asked = on_line.filter_map(|site| {
        let (root, rest) = AccessPath::new(&site.path).split_root();
        let Imported { module, name: None } = reading.imported.get(root)? else { return None };
        Some((module.clone(), rest.strip_prefix('.')?.to_owned()))
    });
    imported.chain(asked).filter(|(module, name)| is_moved(module, name)).collect()
}

/// Ways to write a prefix behind which the snippet takes too long: what is measured or scheduled runs once, and ranges
/// are short.
pub(crate) fn shortened(lessons: &Lessons, reading: &Reading) -> Vec<Lessons> {
    let uses = |start: &str| reading.sketch.sources.iter().any(|source| source.origin.starts_with(start));
    let mut found = Vec::new();
    for (start, module, inner) in [("timeit.", "timeit", "Timer.timeit"), ("sched.", "sched", "scheduler.run")] {
        let mut learned = lessons.clone();
        if uses(start) && learned.common.patched.insert((module.into(), inner.into())) {
            found.push(learned);
        }
    }
    if reading.has_ranges && !lessons.common.has_short_ranges {
        let mut learned = lessons.clone();
        learned.common.has_short_ranges = true;
        found.push(learned);
    }
    found
}

/// The import of a snippet that fails.
fn import_at<'r>(reading: &'r Reading, raise: &Raise) -> Option<&'r str> {
    let line = reading.text().lines().nth((raise.line as usize).checked_sub(1)?)?.trim_start();
    (raise.in_snippet && (line.starts_with("import ") || line.starts_with("from "))).then_some(line)
}

/// Mocks, the likeliest first: of functions of modules where the machine refuses something, and else of objects.
fn mocks_for(
    failure: &Failure<'_>,
    is_refused: bool,
    reading: &Reading,
    instrumented: &Instrumented,
    locals: &Locals,
) -> Vec<Lessons> {
    let builtins = if failure.environment.has_builtins() && !failure.lessons.has_builtins {
        vec![Lessons { has_builtins: true, ..failure.lessons.clone() }]
    } else {
        vec![]
    };
    let patches = patches(failure, reading, instrumented);
    let mocks = mocks(failure, reading, instrumented, locals);
    if is_refused { [builtins, patches, mocks].concat() } else { [builtins, mocks, patches].concat() }
}

/// The name whose usual meaning has no such attribute, and the import that gives it this meaning.
fn recognised(failure: &Failure<'_>, reading: &Reading, instrumented: &Instrumented) -> Option<(String, Import)> {
    let sites = instrumented.sites.sites.iter().filter(|site| site.line == failure.raise.line);
    let attributes =
        sites.filter(|site| site.kind == SiteKind::Attribute && failure.raise.name.as_ref() == Some(&site.identifier));
    let roots = attributes.filter_map(|site| {
        let (root, rest) = AccessPath::new(&site.path).split_root();
        (rest.strip_prefix('.') == Some(site.identifier.as_str())).then_some(root)
    });
    let import = |root: &str| {
        let import = reading.imports.iter().find(|import| import.bound() == root)?;
        (!failure.lessons.common.without.contains(import)).then(|| (root.to_owned(), import.clone()))
    };
    roots.filter_map(import).next()
}

/// Mocks in place of the functions of modules that the failing line calls, one at a time: what they do is refused here, or
/// needs what is not here.
fn patches(failure: &Failure<'_>, reading: &Reading, instrumented: &Instrumented) -> Vec<Lessons> {
    let (mut found, mut holders) = (Vec::new(), Vec::new());
    for site in instrumented.sites.sites.iter().filter(|site| site.line == failure.raise.line) {
        let path = AccessPath::new(&site.path);
        let Some(callee) = path.callee().filter(|callee| site.kind == SiteKind::Call && callee.is_dotted()) else {
            continue;
        };
        let (root, rest) = callee.split_root();
        // `from module import *`
        let star = || reading.imported.get("*").filter(|_| reading.undefined.iter().any(|name| name == root));
        let Some(Imported { module, name }) = reading.imported.get(root).or_else(star) else { continue };
        let name = name.as_deref().map(|name| if name == "*" { root } else { name });
        let inner: Vec<&str> = name.into_iter().chain(rest.split('.').filter(|part| !part.is_empty())).collect();
        // What only joins and splits texts needs other arguments.
        let of_paths = match inner[..] {
            ["path", function] if module == "os" => Some(function),
            [function] if module == "os.path" => Some(function),
            _ => None,
        };
        if of_paths.is_some_and(|function| OF_TEXTS.contains(&function)) {
            continue;
        }
        let add = |inner: &[&str], found: &mut Vec<Lessons>| {
            let mut lessons = failure.lessons.clone();
            if !inner.is_empty() && lessons.common.patched.insert((module.clone(), inner.join("."))) {
                found.push(lessons);
            }
        };
        add(&inner, &mut found);
        // Methods of builtin types cannot be replaced, but the types can.
        add(&inner[..inner.len().saturating_sub(1)], &mut holders);
    }
    found.extend(holders);
    found
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
        // A mock cannot be raised.
        if failure.lessons.mocked.contains(&path) || is_raised(reading, &path) {
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
    all.retain(|path| !is_raised(reading, path));
    add(&all);
    found
}

fn is_raised(reading: &Reading, path: &str) -> bool {
    reading.exceptions.contains(path) || reading.raised.contains(path)
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
    if matches!(node.value, None | Some(Recipe::Mock(_))) {
        out.push(node.path.clone());
    }
    let children = node.attributes.iter().chain(&node.items).chain(&node.calls);
    children.for_each(|(_, child)| objects(child, out));
}
