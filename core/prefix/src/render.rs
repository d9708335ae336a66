//! An environment as the prefix that a person would keep: imports, classes, files, and an assignment for each name.

use std::collections::BTreeSet;

use twincell_sketch::environment::{Environment, Node};
use twincell_sketch::network;
use twincell_syntax::python::{is_builtin, is_identifier, python_string};
use twincell_values::path::AccessPath;

use crate::arguments;
use crate::code::{Code, MOCK};
use crate::import::Import;
use crate::known;
use crate::layout::Expression;
use crate::lessons::Lessons;
use crate::reading::{Imported, Reading};
use crate::stand_in;
use crate::values::{Writer, mocked_module};

/// A meaning for `super()` where Python gives it none.
pub(crate) const SUPER: &str = "def super(*args):\n    return MagicMock()";
/// What somebody answers who is asked for something.
const INPUT: &str = "def input(prompt=''):\n    return '1'";

/// Writes a prefix.
pub(crate) fn render(environment: &Environment, reading: &Reading, lessons: &Lessons) -> Code {
    let mut writer = Writer::new(reading, lessons);
    let common = &lessons.common;
    for import in reading.imports.difference(&common.without) {
        writer.import(import.clone());
    }
    for module in &common.modules {
        writer.import(Import::module("sys"));
        let mock = writer.plain_mock();
        writer.assign(&mocked_module(module), &mock);
    }
    classes_of_mocks(&mut writer);
    stand_in::of_modules(&mut writer);
    stand_in::of_network(&mut writer);
    for (module, inner) in &common.patched {
        writer.import(Import::module(module));
        let mock = writer.plain_mock();
        writer.assign(&format!("{module}.{inner}"), &mock);
    }
    for (file, text) in &common.files {
        writer.import(Import::name("pathlib", "Path"));
        // Whoever runs it elsewhere keeps a file of this name.
        let file = format!("Path({})", python_string(file));
        writer.block(format!("if not {file}.exists():\n    {file}.write_text({})", python_string(text)));
    }
    if let (true, Some(package)) = (common.is_in_package, &reading.package) {
        writer.line(format!("__package__ = {}", python_string(package)));
    }
    if let Some(line) = arguments::command_line(reading, &lessons.scene) {
        argv(&mut writer, &line);
    } else if common.has_arguments {
        argv(&mut writer, &["1", "2", "3"].map(str::to_owned));
    }
    for variable in &common.variables {
        writer.import(Import::module("os"));
        let text = python_string(variable);
        writer.line(format!("os.environ[{text}] = {text}"));
    }
    for definition in common.old_names.iter().filter_map(|name| known::old(name)) {
        writer.statement(definition);
    }
    if common.has_input {
        writer.makes("function");
        writer.block(INPUT);
    }
    if reading.has_bare_super {
        writer.import(Import::of_mocks());
        writer.makes(MOCK);
        writer.block(SUPER);
    }
    bases(&mut writer);
    let mut environment = environment.clone();
    for class in reading.exceptions.iter().chain(&reading.classes) {
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
        if !writer.is_taken(name) {
            let mock = writer.plain_mock();
            writer.assign(name, &mock);
        }
    }
    writer.finish()
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
    let constant = if is_mocked { None } else { writer.constant_result(node) };
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
    if !writer.lessons.common.modules.contains(module) || is_class(name) {
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
