//! An environment as the prefix that a person would keep: imports, classes, files, and an assignment for each name.

use std::collections::{BTreeMap, BTreeSet};

use twincell_sketch::environment::{Environment, Node};
use twincell_sketch::network;
use twincell_syntax::python::{is_builtin, is_identifier, python_string};
use twincell_values::path::AccessPath;
use twincell_values::value::{AbstractValue, Recipe};

use crate::answers;
use crate::arguments;
use crate::code::{Code, MOCK};
use crate::compat_shims;
use crate::files;
use crate::import::Import;
use crate::import::Imported;
use crate::known;
use crate::layout::Expression;
use crate::lessons::{Exits, Failing, Lessons, Wanted};
use crate::reading::{OWN_PATH, Reading};
use crate::signatures::function_at;
use crate::stand_in;
use crate::values::{Writer, mocked_module};

/// A meaning for `super()` where Python gives it none.
pub(crate) const SUPER: &str =
    "# Outside of a class, super() means nothing.\ndef super(*args):\n    return MagicMock()";
/// The same where nothing but `__init__` is asked of it.
const PLAIN_SUPER: [&str; 2] = [
    "# Outside of a class, super() means nothing.\nclass Above:\n    def __init__(self, *args, **kwargs):\n        pass",
    "def super(*args):\n    return Above()",
];
/// What is enough of a loop that would take too long.
const SHORT_RANGE: &str = "def range(*bounds):\n    return builtins.range(*bounds)[:10]";
/// What somebody answers who is asked for something.
const INPUT: &str = "def input(prompt=''):\n    return '1'";

/// Writes a prefix.
pub(crate) fn render(environment: &Environment, reading: &Reading, lessons: &Lessons) -> Code {
    let mut writer = Writer::new(reading, lessons);
    let common = &lessons.common;
    for import in reading.imports.difference(&common.without) {
        writer.import(import.clone());
    }
    for import in &common.early {
        writer.import(import.clone());
    }
    // Inner modules first.
    for module in common.modules.iter().rev() {
        writer.import(Import::module("sys"));
        if lessons.plain_modules.contains(module) {
            let namespace = namespace(&mut writer, module, environment);
            writer.assign(&mocked_module(module), &namespace);
        } else {
            let mock = writer.plain_mock();
            writer.assign(&mocked_module(module), &mock);
        }
    }
    for module in &lessons.absent {
        writer.import(Import::module("sys"));
        writer.line(format!("{} = None  # as if it were not installed", mocked_module(module)));
    }
    classes_of_mocks(&mut writer);
    stand_in::of_modules(&mut writer);
    stand_in::of_network(&mut writer);
    for old in &common.moved {
        let Some(now) = compat_shims::module(old) else { continue };
        writer.import(Import::module("sys"));
        writer.import(Import::module(now));
        writer.line(format!("{} = {now}", mocked_module(old)));
    }
    for (module, inner) in &common.patched {
        let dotted = format!("{module}.{inner}");
        if let Some((imports, statements)) = compat_shims::statements(&dotted, reading) {
            imports.into_iter().for_each(|import| writer.import(import));
            statements.into_iter().for_each(|statement| writer.statement(statement));
            continue;
        }
        writer.import(Import::module(module));
        let acting = reading.sketch.called(&dotted).filter(|_| lessons.scene.acts);
        let value = match acting.map(|id| reading.sketch.node(id, inner, &lessons.scene)) {
            Some(node) => writer.value(&node, inner.rsplit('.').next().unwrap_or(inner)),
            None => writer.plain_mock(),
        };
        writer.assign(&dotted, &value);
    }
    let text = |(name, wanted): (&String, &Wanted)| (name.clone(), files::text(reading, name, wanted, &lessons.scene));
    let mut files: BTreeMap<String, String> = common.files.iter().map(text).collect();
    let mut folders = common.folders.clone();
    if lessons.scene.has_files {
        files::asked_for(reading, &lessons.scene, &mut files, &mut folders);
    }
    for (file, text) in &files {
        make_file(&mut writer, file, text);
    }
    for folder in &folders {
        make_folder(&mut writer, folder);
    }
    own_path(&mut writer);
    if let (true, Some(package)) = (common.is_in_package, &reading.package) {
        writer.line(format!("__package__ = {}", python_string(package)));
    }
    if let Some(line) = arguments::command_line(reading, &lessons.scene) {
        argv(&mut writer, &line);
    } else if common.arguments > 0 {
        let words: Vec<String> = (1..=common.arguments).map(|word| word.to_string()).collect();
        argv(&mut writer, &words);
    }
    for variable in &common.variables {
        writer.import(Import::module("os"));
        let text = python_string(variable);
        writer.line(format!("os.environ[{text}] = {text}"));
    }
    if common.has_input {
        input(&mut writer);
    }
    if lessons.scene.is_elsewhere {
        machine(&mut writer);
    }
    if let Some(failing) = &lessons.failing {
        fail(&mut writer, failing);
    }
    leave(&mut writer);
    if common.has_short_ranges {
        writer.import(Import::module("builtins"));
        writer.makes("function");
        writer.block(SHORT_RANGE);
    }
    for name in common.old_names.difference(&lessons.mocked) {
        if let Some(definition) = known::old(name) {
            writer.take(name);
            writer.statement(definition);
        } else if let Some((import, definition)) = known::of_python_2(name) {
            import.into_iter().for_each(|import| writer.import(import));
            writer.take(name);
            writer.statement(definition);
        }
    }
    if reading.has_bare_super && reading.only_initialises {
        PLAIN_SUPER.into_iter().for_each(|block| writer.block(block));
    } else if reading.has_bare_super {
        writer.import(Import::of_mocks());
        writer.makes(MOCK);
        writer.block(SUPER);
    }
    bases(&mut writer);
    let mut environment = environment.clone();
    environment.prune(&lessons.pruned);
    for class in reading.exceptions.iter().chain(&reading.classes).chain(&reading.types) {
        // What else is taken from something that has to be made is a class there, too.
        let (root, _) = AccessPath::from(class).split_root();
        let is_made = environment.names.iter().any(|(known, _)| known == root);
        if root.len() < class.len() && (is_made || common.names.contains(root)) {
            environment.at(class.into());
        }
    }
    for (name, node) in &environment.names {
        assign(&mut writer, name, node);
    }
    for name in &common.names {
        if !writer.is_taken(name) && reading.types.contains(name) {
            type_of_annotation(&mut writer, name);
        } else if !writer.is_taken(name) {
            let mock = writer.plain_mock();
            writer.assign(name, &mock);
        }
    }
    writer.finish()
}

/// What Python tells of the machine, the moment and chance.
fn machine(writer: &mut Writer<'_>) {
    let reading = writer.reading;
    for (origin, id) in reading.sketch.of_machine() {
        let dotted = origin.strip_suffix("()").unwrap_or(origin);
        let Some((module, name)) = dotted.rsplit_once('.') else { continue };
        let mut node = reading.sketch.node(id, name, &writer.lessons.scene);
        // Parts of the version are counted, and it is none that changes.
        if let Some(Recipe::List(parts)) = &node.value {
            node.value = Some(Recipe::Tuple(parts.clone()));
        }
        writer.import(Import::module(module));
        let value = writer.value(&node, name);
        if dotted == origin {
            writer.assign(dotted, &value);
        } else {
            writer.makes("function");
            writer.assign(dotted, &value.behind("lambda *args, **kwargs: "));
        }
    }
}

/// A function that fails as the snippet expects, always or once.
fn fail(writer: &mut Writer<'_>, Failing { origin, class, is_once }: &Failing) {
    let Some(exception) = writer.exception(class) else { return };
    let (module, name) = origin.rsplit_once('.').unwrap_or(("", origin));
    if !module.is_empty() {
        writer.import(Import::module(module));
    }
    // `open` is what the snippet itself will call.
    let function = if module.is_empty() { name.to_owned() } else { writer.fresh(name) };
    writer.take(&function);
    let raise = format!("raise {exception}('failure')");
    writer.makes("function");
    if *is_once {
        let (real, failures) = (writer.fresh(&format!("real_{name}")), writer.fresh("failures"));
        writer.take(&real);
        writer.take(&failures);
        writer.line(format!("{real} = {origin}"));
        writer.line(format!("{failures} = [{exception}('failure')]"));
        writer.block(format!(
            "def {function}(*args, **kwargs):\n    if {failures}:\n        raise {failures}.pop()\n    return {real}(*args, **kwargs)"
        ));
    } else {
        writer.block(format!("def {function}(*args, **kwargs):\n    {raise}"));
    }
    if !module.is_empty() {
        writer.line(format!("{origin} = {function}"));
    }
}

/// What happens where the snippet leaves the program.
fn leave(writer: &mut Writer<'_>) {
    let (said, body) = match writer.lessons.exits {
        Exits::End => return,
        Exits::EndWithStatus => {
            ("Without a status, the code goes on.", "if status is not None:\n        raise SystemExit(status)")
        }
        Exits::GoOn => ("The code goes on where it would end.", "pass"),
    };
    let exits = &writer.reading.exits;
    let function = if exits.contains("exit") { "exit".to_owned() } else { writer.fresh("exit") };
    writer.take(&function);
    writer.makes("function");
    writer.block(format!("# {said}\ndef {function}(status=None):\n    {body}"));
    for exit in exits.iter().filter(|exit| **exit != function) {
        if let Some((module, _)) = exit.rsplit_once('.') {
            writer.import(Import::module(module));
        }
        writer.line(format!("{exit} = {function}"));
    }
}

/// A name of an annotation, which nothing else tells anything about.
fn type_of_annotation(writer: &mut Writer<'_>, name: &str) {
    let is_variable =
        name.len() == 1 || ["T_", "_T"].iter().any(|start| name.starts_with(start)) || name.ends_with("_T");
    if is_variable {
        writer.import(Import::name("typing", "TypeVar"));
        writer.makes("TypeVar");
        writer.line(format!("{name} = TypeVar({})", python_string(name)));
    } else {
        writer.class(name, false);
    }
}

/// A path for a snippet that asks for its own, since cells of notebooks have none.
fn own_path(writer: &mut Writer<'_>) {
    if writer.reading.has_own_path && writer.take(OWN_PATH) {
        writer.makes("str");
        writer.line(format!("{OWN_PATH} = 'snippet.py'"));
    }
}

/// Somebody who answers.
fn input(writer: &mut Writer<'_>) {
    let Some(first) = writer.lessons.scene.answers else {
        writer.makes("function");
        return writer.block(INPUT);
    };
    // One answer after the other, so that loops which wait for a certain one end.
    let mut answers = answers::asked_for(writer.reading);
    let count = answers.len().max(1);
    answers.rotate_left(first % count);
    answers.retain(|answer| !writer.lessons.unanswered.contains(answer));
    let name = writer.fresh("answers");
    writer.take(&name);
    writer.import(Import::name("itertools", "cycle"));
    let answers = answers.into_iter().map(|answer| Expression::text(python_string(&answer))).collect();
    writer.assign(&name, &Expression::call("cycle", vec![(String::new(), Expression::list(answers))]));
    writer.makes("function");
    writer.block(format!("def input(prompt=''):\n    return next({name})"));
}

/// Whoever runs the prefix elsewhere keeps a file of this name.
fn make_file(writer: &mut Writer<'_>, file: &str, text: &str) {
    writer.import(Import::name("pathlib", "Path"));
    let path = format!("Path({})", python_string(file));
    let mut body = match file.rsplit_once('/') {
        Some((folder, _)) => format!("    Path({}).mkdir(parents=True, exist_ok=True)\n", python_string(folder)),
        None => String::new(),
    };
    if file.ends_with(".zip") {
        writer.import(Import::name("zipfile", "ZipFile"));
        let archive = format!("    with ZipFile({}, 'w') as archive:\n", python_string(file));
        body += &format!("{archive}        archive.writestr('first.txt', {})", python_string(text));
    } else {
        body += &format!("    {path}.write_text({})", python_string(text));
    }
    writer.block(format!("if not {path}.exists():\n{body}"));
}

/// A folder with a file in it, unless there is one of this name.
fn make_folder(writer: &mut Writer<'_>, folder: &str) {
    writer.import(Import::name("pathlib", "Path"));
    let path = format!("Path({})", python_string(folder));
    let inner = files::opened_within(writer.reading, folder)
        .unwrap_or_else(|| format!("first{}", writer.reading.ending.as_deref().unwrap_or(".txt")));
    let file = format!("{}/{inner}", folder.trim_end_matches('/'));
    let text = python_string("first line\n");
    writer.block(format!(
        "if not {path}.exists():\n    {path}.mkdir(parents=True)\n    Path({}).write_text({text})",
        python_string(&file)
    ));
}

/// `sys.argv = [...]`
fn argv(writer: &mut Writer<'_>, line: &[String]) {
    let words = std::iter::once("program").chain(line.iter().map(String::as_str));
    let words = words.map(|word| Expression::text(python_string(word))).collect();
    writer.import(Import::module("sys"));
    writer.assign("sys.argv", &Expression::list(words));
}

/// What executions with hooks find before the snippet: what stands in for a network and for classes above its own.
pub(crate) fn stand_ins(reading: &Reading) -> String {
    let lessons = Lessons::default();
    let mut writer = Writer::new(reading, &lessons);
    stand_in::of_network(&mut writer);
    own_path(&mut writer);
    if let Some(line) = arguments::command_line(reading, &lessons.scene) {
        argv(&mut writer, &line);
    }
    bases(&mut writer);
    writer.finish().text()
}

/// The classes above those of the snippet that it does not define.
fn bases(writer: &mut Writer<'_>) {
    let reading = writer.reading;
    for class in reading.classes.difference(&reading.exceptions).filter(|class| reading.undefined.contains(class)) {
        if !writer.is_imported(class) && !writer.lessons.mocked.contains(class) {
            stand_in::base(writer, class, class);
        }
    }
}

/// A name of the snippet.
fn assign(writer: &mut Writer<'_>, name: &str, node: &Node) {
    if !is_identifier(name) || writer.is_taken(name) || writer.is_imported(name) {
        return;
    }
    let reading = writer.reading;
    // What Python 2 had has its usual meaning.
    if let Some(definition) = known::old(name).filter(|_| !writer.lessons.mocked.contains(name)) {
        writer.take(name);
        return writer.statement(definition);
    }
    // A person would keep what everybody knows.
    if is_builtin(name) && !writer.lessons.has_builtins {
        return;
    }
    if let Some(imported) = reading.imported.get(name) {
        of_module(writer, name, imported, node);
        return;
    }
    writer.take(name);
    if reading.exceptions.contains(name) || reading.classes.contains(name) {
        writer.class(name, reading.exceptions.contains(name));
        return;
    }
    if writer.lessons.classes.contains(name) {
        stand_in::made_class(writer, name, node);
        return;
    }
    let is_mocked = writer.lessons.mocked.contains(name);
    let is_function = node.value == Some(Recipe::Mock(AbstractValue::Callable)) && node.calls.is_empty();
    let constant = match () {
        () if is_mocked => None,
        () if is_function && node.attributes.is_empty() => Some(Expression::text("None")),
        () => writer.constant_result(node),
    };
    match constant {
        Some(result) => writer.define(name, &result),
        None => {
            let value = writer.value_of(name, node);
            writer.assign(name, &value);
        }
    }
}

/// A name that the snippet imports. It has a value only if its module is a mock: then the value stands there.
fn of_module(writer: &mut Writer<'_>, name: &str, Imported { module, name: inner }: &Imported, node: &Node) {
    let reading = writer.reading;
    let is_class = |path: &str| reading.exceptions.contains(path) || reading.classes.contains(path);
    let is_written = writer.lessons.plain_modules.contains(module);
    if !writer.lessons.common.modules.contains(module) || is_class(name) || is_written {
        return;
    }
    let place = mocked_module(module);
    let has_stand_in = |name: &str| network::role(&format!("{module}.{name}")).is_some();
    let Some(inner) = inner else {
        for (attribute, node) in &node.attributes {
            if is_identifier(attribute) && !is_class(&node.path) && !has_stand_in(attribute) {
                let value = writer.value(node, attribute);
                writer.assign(&format!("{place}.{attribute}"), &value);
            }
        }
        return;
    };
    if has_stand_in(inner) {
        return;
    }
    let value = writer.value(node, name);
    writer.assign(&format!("{place}.{inner}"), &value);
}

/// A module that is not here, as what the snippet takes from it.
fn namespace(writer: &mut Writer<'_>, module: &str, environment: &Environment) -> Expression {
    let reading = writer.reading;
    let is_class = |path: &str| reading.exceptions.contains(path) || reading.classes.contains(path);
    let mut members: BTreeMap<String, (String, Node)> = BTreeMap::new();
    for (bound, imported) in reading.imported.iter().filter(|(_, imported)| imported.module == module) {
        let found = environment.names.iter().find(|(name, _)| name == bound).map(|(_, node)| node.clone());
        let read = || {
            let (_, id) = reading.sketch.imported.iter().find(|(name, _)| name == bound)?;
            Some(reading.sketch.node(*id, bound, &writer.lessons.scene))
        };
        let mut node = found.or_else(read).unwrap_or_else(|| Node::new(bound.clone()));
        without_unused(reading, &mut node);
        match &imported.name {
            Some(name) => drop(members.insert(name.clone(), (bound.clone(), node))),
            None => {
                let attributes = node.attributes.into_iter();
                members.extend(attributes.map(|(name, inner)| (name, (inner.path.clone(), inner))));
            }
        }
    }
    let has_stand_in = |name: &str| network::role(&format!("{module}.{name}")).is_some();
    members.retain(|name, (path, _)| is_identifier(name) && !is_class(path) && !has_stand_in(name));
    let mut items = Vec::new();
    for (name, (_, node)) in members {
        let is_asked =
            !node.attributes.is_empty() || !node.calls.is_empty() || node.decorates || !node.gives.is_empty();
        let value = match () {
            () if !is_asked && name.starts_with(char::is_uppercase) => {
                writer.makes("type");
                Expression::text(format!("type({}, (), {{}})", python_string(&name)))
            }
            () if !is_asked => writer.plain_object(),
            () => writer.value(&node, &name),
        };
        items.push((name + "=", value));
    }
    // Modules within it, which come before it.
    let inner = writer.lessons.common.modules.iter().filter_map(|other| other.strip_prefix(module)?.strip_prefix('.'));
    for inner in inner.filter(|inner| is_identifier(inner)) {
        items.push((format!("{inner}="), Expression::text(mocked_module(&format!("{module}.{inner}")))));
    }
    writer.import(Import::name("types", "SimpleNamespace"));
    writer.makes("SimpleNamespace");
    Expression::call("SimpleNamespace", items)
}

/// Has functions give nothing whose results nothing looks at.
fn without_unused(reading: &Reading, node: &mut Node) {
    for (_, result) in &mut node.calls {
        let is_used = function_at(&result.path).strip_suffix("()").is_none_or(|name| reading.signatures.is_used(name));
        if result.is_unused && !is_used {
            result.value = Some(Recipe::None);
        }
    }
    let inner = node.attributes.iter_mut().chain(&mut node.items).chain(&mut node.calls);
    inner.for_each(|(_, inner)| without_unused(reading, inner));
}

/// The classes that the snippet takes from modules that are mocks, since Python demands classes for some purposes.
fn classes_of_mocks(writer: &mut Writer<'_>) {
    let (reading, modules) = (writer.reading, &writer.lessons.common.modules);
    let mut add = |names: &BTreeSet<String>, bases: &str| {
        for path in names {
            let (root, rest) = AccessPath::from(path).split_root();
            let Some(Imported { module, name }) = reading.imported.get(root) else { continue };
            let parts = name.iter().map(String::as_str).chain(rest.split('.').filter(|part| !part.is_empty()));
            let class = parts.collect::<Vec<_>>().join(".");
            // A class above those of the snippet is written whole.
            let is_above = bases == "()" && reading.sketch.classes.iter().any(|below| below.bases.contains(path));
            if modules.contains(module) && !class.is_empty() && !is_above {
                let name = python_string(class.rsplit('.').next().unwrap_or(&class));
                writer.makes("type");
                writer.line(format!("{}.{class} = type({name}, {bases}, {{}})", mocked_module(module)));
            }
        }
    };
    add(&reading.exceptions, "(Exception,)");
    add(&reading.classes, "()");
}
