//! Statements are removed and repeated, arguments are changed and added, and calls of changed functions are added.

use ruff_python_ast::visitor::source_order::{SourceOrderVisitor, walk_expr};
use ruff_python_ast::{Expr, ExprCall, Stmt};
use ruff_text_size::Ranged;
use twincell_syntax::ParameterKind;

use super::{Material, Mutation, Operator, Target};
use crate::body::{fresh, last_name, names, places, stands_alone, suites};
use crate::code::{Code, Edit, definition, indent, line_end};
use crate::literal::string;

/// Places of calls and statements are counted from here.
const FIRST: usize = 10_000;

pub fn mutations(code: &Code, material: &Material, found: &mut Vec<Mutation>) {
    let parsed = code.parse();
    let Some(function) = definition(&parsed) else { return };
    let mut place = FIRST;
    suites(&function.body, &mut |suite| {
        for stmt in suite {
            place += 1;
            statement(code, stmt, suite.len() == 1, place, found);
        }
    });
    let mut calls = Calls(Vec::new());
    for decorator in &function.decorator_list {
        if let Expr::Call(call) = &decorator.expression {
            // Only what a decorator is given: the call of the decorator itself stays.
            call.arguments.args.iter().for_each(|argument| calls.visit_expr(argument));
        }
    }
    calls.visit_body(&function.body);
    for call in &calls.0 {
        place += 1;
        arguments(code, call, material, place, found);
        for target in material.targets.iter().filter(|target| is_called(target, call)).take(2) {
            place += 1;
            keywords(call, target, material, place, found);
        }
    }
    for target in &material.targets {
        place += 1;
        added(code, target, material, &calls.0, place, found);
    }
}

struct Calls<'a>(Vec<&'a ExprCall>);

impl<'a> SourceOrderVisitor<'a> for Calls<'a> {
    fn visit_expr(&mut self, expr: &'a Expr) {
        if let Expr::Call(call) = expr
            && self.0.len() < 100
        {
            self.0.push(call);
        }
        walk_expr(self, expr);
    }
}

fn statement(code: &Code, stmt: &Stmt, is_only: bool, place: usize, found: &mut Vec<Mutation>) {
    let is_simple = matches!(stmt, Stmt::Expr(_) | Stmt::Assign(_) | Stmt::AugAssign(_));
    if !is_simple || !stands_alone(code.text(), stmt.range()) {
        return;
    }
    let start = crate::code::line_start(code.text(), stmt.start().to_usize());
    let end = line_end(code.text(), stmt.end().to_usize());
    let lines = code.text().get(start..end).unwrap_or("");
    if !matches!(stmt, Stmt::Assign(assign) if !assign.value.is_call_expr()) {
        let edits = vec![Edit::insert(end, lines)];
        found.push(Mutation { operator: Operator::RepeatStatement, place, order: 2, edits, imports: vec![] });
    }
    if !is_only {
        let edits = vec![Edit { range: start..end, with: String::new() }];
        found.push(Mutation { operator: Operator::RemoveStatement, place, order: 2, edits, imports: vec![] });
    }
}

/// Arguments are dropped, exchanged and replaced.
fn arguments(code: &Code, call: &ExprCall, material: &Material, place: usize, found: &mut Vec<Mutation>) {
    let mut push = |operator, order, edits| {
        found.push(Mutation { operator, place, order, edits, imports: vec![] });
    };
    let written = |skip: Option<usize>| {
        let arguments: Vec<&str> = call
            .arguments
            .iter_source_order()
            .enumerate()
            .filter(|(at, _)| Some(*at) != skip)
            .map(|(_, argument)| code.slice(argument))
            .collect();
        format!("({})", arguments.join(", "))
    };
    let count = call.arguments.len();
    if call.arguments.args.iter().any(Expr::is_generator_expr) {
        return;
    }
    for at in (0..count).rev().take(4) {
        push(Operator::Argument, 2, vec![Edit::replace(call.arguments.range(), written(Some(at)))]);
    }
    if let [first, second, ..] = &*call.arguments.args {
        let edits =
            vec![Edit::replace(first.range(), code.slice(second)), Edit::replace(second.range(), code.slice(first))];
        push(Operator::Argument, 3, edits);
    }
    for argument in call.arguments.args.iter().take(3) {
        if matches!(argument, Expr::Name(_) | Expr::Call(_) | Expr::List(_) | Expr::Attribute(_)) {
            let text = code.slice(argument);
            // What the change names, where the test computes a value or is given one.
            for value in named(material) {
                push(Operator::Argument, 2, vec![Edit::replace(argument.range(), value)]);
            }
            push(Operator::Argument, 3, vec![Edit::replace(argument.range(), "None")]);
            push(Operator::Argument, 3, vec![Edit::replace(argument.range(), format!("iter({text})"))]);
            push(Operator::Argument, 4, vec![Edit::replace(argument.range(), format!("str({text})"))]);
            push(Operator::Argument, 4, vec![Edit::replace(argument.range(), format!("list({text})"))]);
        }
    }
}

/// Some values that the change names, as source.
fn named(material: &Material) -> impl Iterator<Item = String> {
    let texts = material.constants.texts.iter().take(4).map(|text| string(text));
    texts.chain(material.constants.integers.iter().take(2).map(i64::to_string))
}

/// Whether a call, by its name, is one of a function or of a class.
fn is_called(target: &Target, call: &ExprCall) -> bool {
    let name = match (&target.function.class, target.function.name.as_str()) {
        (Some(class), "__init__" | "__new__") => class.as_str(),
        (_, name) => name,
    };
    last_name(&call.func) == Some(name)
}

/// Keyword arguments that a call leaves out.
fn keywords(call: &ExprCall, target: &Target, material: &Material, place: usize, found: &mut Vec<Mutation>) {
    let skip = usize::from(target.function.class.is_some());
    let given = call.arguments.args.len();
    for (at, (name, kind, default)) in target.function.parameters.iter().skip(skip).enumerate() {
        let is_given = at < given || call.arguments.find_keyword(name).is_some();
        let is_named = matches!(kind, ParameterKind::Positional | ParameterKind::KeywordOnly);
        if is_given || !is_named {
            continue;
        }
        let order = if target.mentions.contains(name) { 0 } else { 2 };
        for (rank, value) in values_for(default.as_deref(), material).into_iter().enumerate() {
            let edit = match call.arguments.iter_source_order().map(|one| one.end()).max() {
                Some(end) => Edit::insert(end.to_usize(), format!(", {name}={value}")),
                None => Edit::insert(call.arguments.end().to_usize() - 1, format!("{name}={value}")),
            };
            let order = order + u8::try_from(rank / 3).unwrap_or(3).min(3);
            let is_generator = call.arguments.args.iter().any(Expr::is_generator_expr);
            if !is_generator {
                found.push(Mutation {
                    operator: Operator::AddKeyword,
                    place,
                    order,
                    edits: vec![edit],
                    imports: vec![],
                });
            }
        }
    }
}

/// Values that differ from a parameter's default, as source.
fn values_for(default: Option<&str>, material: &Material) -> Vec<String> {
    let texts = material.constants.texts.iter().take(6).map(|text| string(text));
    let integers = material.constants.integers.iter().take(4).map(i64::to_string);
    let mut values: Vec<String> = match default {
        Some("True") => vec!["False".into(), "None".into()],
        Some("False") => vec!["True".into(), "1".into()],
        Some(text) if text.parse::<f64>().is_ok() => {
            let (is_whole, own) = (text.parse::<i64>().is_ok(), text.parse::<f64>().unwrap_or(0.0));
            let more = if is_whole { format!("{}", own as i64 + 1) } else { format!("{:?}", own + 1.0) };
            vec![more, "0".into(), "10".into(), "-1".into(), "None".into()]
        }
        Some(text) if text.starts_with(['\'', '"']) => vec!["'a'".into(), "''".into(), "None".into()],
        Some("None") | None => {
            vec![
                "True".into(),
                "1".into(),
                "'a'".into(),
                "0".into(),
                "10".into(),
                "''".into(),
                "[]".into(),
                "False".into(),
            ]
        }
        Some(_) => vec!["None".into(), "True".into(), "0".into()],
    };
    values.extend(texts.chain(integers));
    values.dedup();
    values
}

/// Calls of a changed function with values at hand, at the end of the test and of its blocks.
fn added(
    code: &Code,
    target: &Target,
    material: &Material,
    calls: &[&ExprCall],
    place: usize,
    found: &mut Vec<Mutation>,
) {
    if !target.function.is_changed || target.function.is_async || target.function.name.contains("test") {
        return;
    }
    let mut used = names(code);
    let result = fresh(&mut used, "result");
    let mut written: Vec<(u8, Vec<String>, Vec<String>)> = Vec::new();
    match &target.function.class {
        None => {
            if target.function.name.starts_with("__") || material.elsewhere.contains(&target.function.name) {
                return;
            }
            let import = format!("from {} import {}", target.module, target.function.name);
            for arguments in arguments_for(target, 0, &used.iter().cloned().collect::<Vec<_>>(), material) {
                let call = format!("{result} = {}({arguments})", target.function.name);
                written.push((3, vec![call], vec![import.clone()]));
            }
        }
        Some(class) => {
            let has_class = |of: &str| of.rsplit('.').next() == Some(class);
            let known = material.classes.iter().filter(|(_, of)| has_class(of)).map(|(name, _)| name.clone());
            let mut receivers: Vec<(Option<String>, String)> = known.map(|name| (None, name)).collect();
            // The text of a constructor's call makes another object of the class.
            for call in calls.iter().filter(|call| last_name(&call.func) == Some(class)).take(3) {
                let name = fresh(&mut used, &class.to_lowercase());
                receivers.push((Some(format!("{name} = {}", code.slice(*call).replace('\n', " "))), name));
            }
            for (made, receiver) in receivers.into_iter().take(4) {
                for (order, asked) in questions(target, &receiver, material) {
                    let lines = made.iter().cloned().chain([format!("{result} = {asked}")]).collect();
                    written.push((order, lines, vec![]));
                }
            }
        }
    }
    let ends: Vec<_> = places(code).into_iter().filter(|place| !place.expects).collect();
    let blocks = ends.iter().rfind(|place| !place.is_outer);
    for at in ends.iter().rfind(|place| place.is_outer).into_iter().chain(blocks) {
        for (order, lines, imports) in &written {
            let text: String = lines.iter().map(|line| format!("{}{line}\n", at.indent)).collect();
            let edits = vec![Edit::insert(at.behind, text)];
            let imports = imports.clone();
            found.push(Mutation { operator: Operator::AddCall, place, order: *order, edits, imports });
        }
    }
    if ends.is_empty()
        && let Some(last) = removable_end(code)
    {
        for (order, lines, imports) in written {
            let text: String = lines.iter().map(|line| format!("{}{line}\n", last.1)).collect();
            let edits = vec![Edit::insert(last.0, text)];
            found.push(Mutation { operator: Operator::AddCall, place, order, edits, imports });
        }
    }
}

/// Where a test without places ends.
fn removable_end(code: &Code) -> Option<(usize, String)> {
    let range = crate::body::removable(code).into_iter().max_by_key(|range| range.end())?;
    stands_alone(code.text(), range).then(|| {
        let at = range.end().to_usize();
        (line_end(code.text(), at), indent(code.text(), range.start().to_usize()).to_owned())
    })
}

/// How Python code uses a method of an object.
fn questions(target: &Target, receiver: &str, material: &Material) -> Vec<(u8, String)> {
    let fixed: &[&str] = match target.function.name.as_str() {
        "__init__" | "__new__" | "__post_init__" | "__del__" | "__init_subclass__" => return vec![],
        "__bool__" | "__nonzero__" => &["bool({})"],
        "__len__" => &["len({})"],
        "__str__" | "__unicode__" => &["str({})"],
        "__repr__" => &["repr({})"],
        "__iter__" => &["list({})"],
        "__next__" => &["next({})"],
        "__hash__" => &["hash({}) == hash({})"],
        "__eq__" => &["{} == {}", "{} == None", "{} == 1"],
        "__ne__" => &["{} != {}", "{} != None"],
        "__lt__" => &["{} < {}", "{} < 1"],
        "__contains__" => &["None in {}", "0 in {}", "'' in {}"],
        "__getitem__" => &["{}[0]", "{}['a']", "{}[-1]", "{}[:1]"],
        "__call__" => &["{}()", "{}(None)"],
        "__enter__" => &["{}.__enter__()"],
        _ => &[],
    };
    if !fixed.is_empty() {
        return fixed.iter().map(|asked| (0, asked.replace("{}", receiver))).collect();
    }
    let asked = format!("{receiver}.{}", target.function.name);
    let mut found = vec![(2, asked.clone())];
    found.extend(arguments_for(target, 1, &[], material).into_iter().map(|given| (0, format!("{asked}({given})"))));
    found
}

/// Arguments for a call: locals of the names of parameters, and values of the change.
fn arguments_for(target: &Target, skip: usize, locals: &[String], material: &Material) -> Vec<String> {
    let required: Vec<&String> = (target.function.parameters.iter().skip(skip))
        .filter(|(_, kind, default)| {
            default.is_none() && matches!(kind, ParameterKind::Positional | ParameterKind::PositionalOnly)
        })
        .map(|(name, ..)| name)
        .collect();
    let texts = material.constants.texts.iter().take(4).map(|text| string(text));
    let numbers = material.constants.integers.iter().take(3).flat_map(|value| [*value, value.saturating_add(1)]);
    let floats = material.constants.floats.iter().take(3).map(|value| format!("{value:?}"));
    let candidates: Vec<String> = (texts.chain(numbers.map(|value| value.to_string())).chain(floats))
        .chain(["1", "'a b'", "''", "[]", "None", "0", "{}"].map(str::to_owned))
        .collect();
    if required.is_empty() {
        return vec![String::new()];
    }
    let one = |candidate: &String| {
        let given = required.iter().map(|name| if locals.contains(name) { (*name).clone() } else { candidate.clone() });
        given.collect::<Vec<_>>().join(", ")
    };
    let mut found: Vec<String> = candidates.iter().map(one).collect();
    found.dedup();
    found.truncate(12);
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use twincell_syntax::parse::parse;

    #[test]
    fn a_long_test_has_its_first_hundred_calls_changed() {
        let parsed = parse(&"f()\n".repeat(150));
        let mut calls = Calls(Vec::new());
        calls.visit_body(&parsed.syntax().body);
        assert_eq!(calls.0.len(), 100);
    }
}
