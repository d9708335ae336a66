//! Stand-ins that call the functions which the snippet gives them, as what they stand for would some day: decorators that
//! register, buttons, threads, pipelines.

use twincell_syntax::python::python_string;

use crate::import::Import;
use crate::layout::Expression;
use crate::values::Writer;
use twincell_sketch::ArgumentPlace;
use twincell_sketch::environment::{Callback, Node};

/// Writes the function that stands for a node, and gives its name.
/// `target` is the name that it will have anyway.
pub(crate) fn write(writer: &mut Writer<'_>, node: &Node, name: &str, target: Option<&str>) -> Expression {
    if node.decorates {
        return decorator(writer, node, target);
    }
    let result = node.calls.first().map(|(_, result)| result).filter(|result| !result.is_unused);
    let result = result.map(|result| writer.value(result, name).written("return ", 1));
    let once = if node.gives.iter().any(|given| given.is_once) { once(writer) } else { None };
    let function = target.map_or_else(|| writer.fresh(name), str::to_owned);
    writer.take(&function);
    let mut lines: Vec<String> = Vec::new();
    let mut places: Vec<&ArgumentPlace> = node.gives.iter().map(|given| &given.place).collect();
    places.dedup();
    for place in places {
        let given: Vec<&Callback> = node.gives.iter().filter(|given| given.place == *place).collect();
        let Some(first) = given.first() else { continue };
        let (whole, is_there) = match place {
            ArgumentPlace::Position(index) => {
                (format!("args[{index}]"), format!("len(args) > {index} and callable(args[{index}])"))
            }
            ArgumentPlace::Keyword(name) => {
                let key = python_string(name);
                (format!("kwargs[{key}]"), format!("{key} in kwargs"))
            }
        };
        if first.is_item {
            lines.push(format!("    for function in {whole}:"));
            lines.push(format!("        {}", call(writer, "function", &given)));
            continue;
        }
        let mut indent = "    ".to_owned();
        let mut tests: Vec<String> = Vec::new();
        if first.is_sometimes {
            tests.push(is_there);
        }
        if let Some(called) = &once {
            tests.push(format!("{whole} not in {called}"));
        }
        if !tests.is_empty() {
            lines.push(format!("    if {}:", tests.join(" and ")));
            indent += "    ";
        }
        if let Some(called) = &once {
            lines.push(format!("{indent}{called}.append({whole})"));
        }
        lines.push(format!("{indent}{}", call(writer, &whole, &given)));
    }
    lines.extend(result.map(|result| format!("    {result}")));
    writer.makes("function");
    writer.block(format!("def {function}(*args, **kwargs):\n{}", lines.join("\n")));
    Expression::text(function)
}

/// A list of what was called, since a function that passes itself on would never end.
fn once(writer: &mut Writer<'_>) -> Option<String> {
    let called = writer.fresh("called");
    writer.take(&called);
    writer.line(format!("{called} = []"));
    Some(called)
}

/// A decorator leaves its function as it is.
fn decorator(writer: &mut Writer<'_>, node: &Node, target: Option<&str>) -> Expression {
    writer.makes("function");
    if node.gives.is_empty() {
        return Expression::text("lambda function: function");
    }
    let name = target.map_or_else(|| writer.fresh("decorator"), str::to_owned);
    writer.take(&name);
    let given: Vec<&Callback> = node.gives.iter().collect();
    let call = call(writer, "function", &given);
    writer.block(format!("def {name}(function):\n    {call}\n    return function"));
    Expression::text(name)
}

/// The call of one of several functions.
fn call(writer: &mut Writer<'_>, function: &str, given: &[&Callback]) -> String {
    let mut all: Vec<(String, Vec<String>)> = Vec::new();
    for callback in given {
        let mut arguments = Vec::new();
        for argument in &callback.arguments {
            let name = argument.path.clone();
            arguments.push(writer.value(argument, &name).flat());
        }
        if all.iter().all(|(name, _)| *name != callback.name) {
            all.push((callback.name.clone(), arguments));
        }
    }
    let is_same = all.iter().all(|(_, arguments)| Some(arguments) == all.first().map(|(_, first)| first));
    let arguments = match all.first() {
        Some((_, arguments)) if is_same => arguments.join(", "),
        _ => {
            let tuple = |arguments: &[String]| match arguments {
                [only] => format!("({only},)"),
                several => format!("({})", several.join(", ")),
            };
            let entries: Vec<String> =
                all.iter().map(|(name, arguments)| format!("{}: {}", python_string(name), tuple(arguments))).collect();
            format!("*{{{}}}[{function}.__name__]", entries.join(", "))
        }
    };
    let call = format!("{function}({arguments})");
    if given.iter().all(|callback| callback.is_async) {
        writer.import(Import::module("asyncio"));
        return format!("asyncio.run({call})");
    }
    call
}
