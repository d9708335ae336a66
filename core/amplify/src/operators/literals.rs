//! Other values in the place of those that a test writes down.

use std::collections::{BTreeMap, BTreeSet};

use rand::{Rng, RngExt};
use rand_pcg::Pcg64;
use ruff_python_ast::visitor::source_order::{SourceOrderVisitor, walk_expr, walk_stmt};
use ruff_python_ast::{Expr, ExprCall, Number, Stmt, UnaryOp};
use ruff_python_parser::parse_expression;
use ruff_text_size::{Ranged, TextRange};

use super::{Material, Mutation, Operator, operands, texts};
use crate::body::last_name;
use crate::code::{Code, Edit, definition};
use crate::literal::string;

/// A literal of a test.
struct Site {
    range: TextRange,
    value: Value,
}

enum Value {
    Text(String),
    /// Bytes that are a text.
    Bytes(String),
    Integer(i64),
    Float(f64),
    Boolean(bool),
    Nothing,
    /// A list, a tuple, a set or a dictionary: its brackets, and its items.
    Container(&'static str, &'static str, Vec<TextRange>),
}

pub fn mutations(code: &Code, material: &Material, random: &mut Pcg64, found: &mut Vec<Mutation>) {
    let parsed = code.parse();
    let Some(function) = definition(&parsed) else { return };
    let mut sites = Sites { material, found: Vec::new(), is_decorator: false };
    for decorator in &function.decorator_list {
        if let Expr::Call(call) = &decorator.expression {
            sites.decorator(call);
        }
    }
    sites.visit_body(&function.body);
    for (place, site) in sites.found.iter().enumerate() {
        for (operator, order, with) in others(code, site, material, random) {
            let edits = vec![Edit::replace(site.range, with)];
            found.push(Mutation { operator, place, order, edits, imports: vec![] });
        }
    }
    words(&sites.found, material, random, found);
    fixtures(code, material, random, found);
}

struct Sites<'a> {
    material: &'a Material,
    found: Vec<Site>,
    is_decorator: bool,
}

impl<'a> Sites<'a> {
    fn decorator(&mut self, call: &'a ExprCall) {
        // The first argument names the parameters, others name the sets.
        if last_name(&call.func) == Some("parametrize") {
            self.is_decorator = true;
            for values in call.arguments.args.iter().skip(1).take(1) {
                self.visit_expr(values);
            }
            self.is_decorator = false;
        }
    }

    fn push(&mut self, range: TextRange, value: Value) {
        if self.found.len() < 200 {
            self.found.push(Site { range, value });
        }
    }
}

fn integer(number: &Number) -> Option<Value> {
    match number {
        Number::Int(value) => value.as_i64().map(Value::Integer),
        Number::Float(value) => Some(Value::Float(*value)),
        Number::Complex { .. } => None,
    }
}

fn value_of(expr: &Expr) -> Option<Value> {
    match expr {
        Expr::StringLiteral(text) => Some(Value::Text(text.value.to_str().to_owned())),
        Expr::BytesLiteral(bytes) => String::from_utf8(bytes.value.bytes().collect()).ok().map(Value::Bytes),
        Expr::BooleanLiteral(value) => Some(Value::Boolean(value.value)),
        Expr::NoneLiteral(_) => Some(Value::Nothing),
        Expr::NumberLiteral(number) => integer(&number.value),
        Expr::UnaryOp(unary) if unary.op == UnaryOp::USub => {
            match integer(&unary.operand.as_number_literal_expr()?.value)? {
                Value::Integer(value) => Some(Value::Integer(-value)),
                Value::Float(value) => Some(Value::Float(-value)),
                _ => None,
            }
        }
        _ => None,
    }
}

impl<'a> SourceOrderVisitor<'a> for Sites<'a> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        let is_docstring = matches!(stmt, Stmt::Expr(one) if one.value.is_string_literal_expr());
        if !is_docstring && !stmt.is_assert_stmt() {
            walk_stmt(self, stmt);
        }
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        if let Some(value) = value_of(expr) {
            self.push(expr.range(), value);
            return;
        }
        let ranges = |items: &[Expr]| items.iter().map(Ranged::range).collect();
        match expr {
            // A constant of the module: its value is varied in the place of its name.
            Expr::Name(name) if name.ctx.is_load() => {
                let value = self.material.literals.get(name.id.as_str());
                let parsed = value.and_then(|text| parse_expression(text).ok());
                if let Some(value) = parsed.and_then(|parsed| value_of(parsed.expr())) {
                    self.push(expr.range(), value);
                }
            }
            Expr::List(list) if list.ctx.is_load() && !self.is_decorator => {
                self.push(expr.range(), Value::Container("[", "]", ranges(&list.elts)));
            }
            Expr::Tuple(tuple) if tuple.ctx.is_load() && tuple.parenthesized && !self.is_decorator => {
                self.push(expr.range(), Value::Container("(", ")", ranges(&tuple.elts)));
            }
            Expr::Set(set) if !self.is_decorator => {
                self.push(expr.range(), Value::Container("{", "}", ranges(&set.elts)));
            }
            Expr::Dict(dict) => {
                let items = dict.items.iter().map(|item| {
                    let start = item.key.as_ref().map_or(item.value.start(), Ranged::start);
                    TextRange::new(start, item.value.end())
                });
                if !dict.items.iter().any(|item| item.key.is_none()) {
                    self.push(expr.range(), Value::Container("{", "}", items.collect()));
                }
            }
            _ => {}
        }
        let outer = self.is_decorator;
        // Values within a call in a decorator are ordinary ones.
        self.is_decorator &= !expr.is_call_expr();
        walk_expr(self, expr);
        self.is_decorator = outer;
    }
}

fn number(value: f64) -> String {
    if value.is_finite() { format!("{value:?}") } else { format!("float('{value}')").to_lowercase() }
}

/// Other values for a literal, as source.
fn others(code: &Code, site: &Site, material: &Material, random: &mut Pcg64) -> Vec<(Operator, u8, String)> {
    let constants = &material.constants;
    let mut found: Vec<(Operator, u8, String)> = Vec::new();
    match &site.value {
        Value::Text(text) => {
            let compared = operands::texts(text, &material.compared).into_iter();
            found.extend(compared.map(|(order, text)| (Operator::Text, order, string(&text))));
            for (order, text) in texts::texts(text, constants, &material.texts, random) {
                found.push((Operator::Text, order, string(&text)));
            }
            found.push((Operator::Nothing, 2, "None".to_owned()));
        }
        Value::Bytes(text) => {
            let compared = operands::texts(text, &material.compared).into_iter();
            found.extend(compared.map(|(order, text)| (Operator::Text, order, bytes(&text))));
            for (order, text) in texts::texts(text, constants, &material.texts, random) {
                found.push((Operator::Text, order, bytes(&text)));
            }
        }
        Value::Integer(own) => {
            let compared = operands::integers(*own, &material.compared).into_iter();
            found.extend(compared.map(|(order, value)| (Operator::Number, order, value.to_string())));
            let named =
                constants.integers.iter().take(12).flat_map(|value| [0, 1, -1].map(|by| value.saturating_add(by)));
            found.extend(named.map(|value| (Operator::Number, 1, value.to_string())));
            found.extend(
                constants
                    .floats
                    .iter()
                    .take(8)
                    .flat_map(|value| near(*value))
                    .map(|value| (Operator::Number, 1, value)),
            );
            let plain =
                [own.saturating_add(1), own.saturating_sub(1), 0, -1, 1, own.saturating_neg(), own.saturating_mul(10)];
            found.extend(plain.map(|value| (Operator::Number, 1, value.to_string())));
            for (order, text) in [(4, "9223372036854775807"), (4, "-9223372036854775808")] {
                found.push((Operator::Number, order, text.to_owned()));
            }
            found.push((Operator::Number, 2, number(*own as f64 + 0.5)));
            let wide = random.random_range(2..1000_i64);
            found.push((Operator::Number, 3, wide.to_string()));
            found.push((Operator::Nothing, 2, "None".to_owned()));
        }
        Value::Float(own) => {
            let compared = operands::floats(*own, &material.compared).into_iter();
            found.extend(compared.map(|(order, value)| (Operator::Number, order, number(value))));
            found.extend(
                constants
                    .floats
                    .iter()
                    .take(8)
                    .flat_map(|value| near(*value))
                    .map(|value| (Operator::Number, 1, value)),
            );
            found.extend(constants.integers.iter().take(8).map(|value| (Operator::Number, 1, value.to_string())));
            for value in [own + 1.0, own - 1.0, 0.0, -own, own * 1000.0, own / 1000.0, f64::INFINITY, f64::NAN] {
                found.push((Operator::Number, 2, number(value)));
            }
            found.push((Operator::Nothing, 2, "None".to_owned()));
        }
        Value::Boolean(own) => {
            found.push((Operator::Boolean, 0, if *own { "False" } else { "True" }.to_owned()));
            found.push((Operator::Nothing, 2, "None".to_owned()));
        }
        Value::Nothing => {
            let named = constants.texts.iter().take(6).map(|text| string(text));
            let plain = ["True", "0", "1", "''", "[]", "'a'"].map(str::to_owned);
            found.extend(plain.into_iter().chain(named).map(|value| (Operator::Nothing, 1, value)));
        }
        Value::Container(open, close, items) => {
            let written: Vec<&str> = items.iter().map(|range| code.slice(*range)).collect();
            let whole = |items: &[&str]| match (*open, items.len()) {
                ("(", 1) => format!("({},)", items[0]),
                // An empty set has no brackets.
                ("{", 0) if !written.iter().any(|item| item.contains(':')) => "set()".to_owned(),
                _ => format!("{open}{}{close}", items.join(", ")),
            };
            if !items.is_empty() {
                for (order, size) in operands::sizes(items.len(), &material.compared) {
                    let as_many: Vec<&str> = written.iter().copied().cycle().take(size).collect();
                    found.push((Operator::Container, order, whole(&as_many)));
                }
                found.push((Operator::Container, 1, whole(&[])));
                for at in [0, items.len() - 1] {
                    let mut fewer = written.clone();
                    fewer.remove(at);
                    found.push((Operator::Container, 2, whole(&fewer)));
                }
                let mut more = written.clone();
                more.push(written[0]);
                found.push((Operator::Container, 2, whole(&more)));
                let mut turned = written.clone();
                turned.reverse();
                found.push((Operator::Container, 3, whole(&turned)));
            }
            found.push((Operator::Container, 3, format!("[{}]", whole(&written))));
            found.push((Operator::Nothing, 3, "None".to_owned()));
        }
    }
    found
}

/// A text as bytes.
fn bytes(text: &str) -> String {
    if text.is_ascii() { format!("b{}", string(text)) } else { format!("{}.encode()", string(text)) }
}

fn near(value: f64) -> [String; 3] {
    let step = (value.abs() * 1e-3).max(1e-3);
    [value, value + step, value - step].map(number)
}

/// A word that several texts of a test hold is replaced in all of them, so that they still belong together.
fn words(sites: &[Site], material: &Material, random: &mut Pcg64, found: &mut Vec<Mutation>) {
    let texts: Vec<(usize, &str)> = (sites.iter().enumerate())
        .filter_map(|(at, site)| if let Value::Text(text) = &site.value { Some((at, text.as_str())) } else { None })
        .collect();
    let mut counts: BTreeMap<&str, BTreeSet<usize>> = BTreeMap::new();
    for (at, text) in &texts {
        for word in text.split(|it: char| !it.is_alphanumeric() && it != '_' && it != '-').filter(|word| word.len() > 1)
        {
            counts.entry(word).or_default().insert(*at);
        }
    }
    let alphabet = texts::alphabet(&material.constants);
    let shared = counts.into_iter().filter(|(_, at)| at.len() > 1).take(40);
    for (number, (word, at)) in shared.enumerate() {
        let middle = word.len() / 2;
        let middle = (0..=middle).rev().find(|at| word.is_char_boundary(*at)).unwrap_or(0);
        let (before, after) = word.split_at(middle);
        let mut others: Vec<(u8, String)> = vec![
            (2, word.to_uppercase()),
            (1, format!("{before}-{after}")),
            (1, format!("{before}'{after}")),
            (1, format!("{word}1")),
            (2, format!("{before}/{after}")),
            (2, format!("{before} {after}")),
            (3, format!("{word}{word}")),
        ];
        let character = alphabet[usize::try_from(random.next_u32()).unwrap_or(0) % alphabet.len()];
        others.push((2, format!("{before}{character}{after}")));
        for (order, other) in others {
            let edits = at.iter().filter_map(|at| {
                let (_, text) = texts.iter().find(|(index, _)| index == at)?;
                Some(Edit::replace(sites[*at].range, string(&text.replace(word, &other))))
            });
            let place = 1000 + number;
            found.push(Mutation { operator: Operator::Word, place, order, edits: edits.collect(), imports: vec![] });
        }
    }
}

/// A fixture that returns a literal is overridden by a parameter of the same name.
fn fixtures(code: &Code, material: &Material, random: &mut Pcg64, found: &mut Vec<Mutation>) {
    let parsed = code.parse();
    let Some(function) = definition(&parsed) else { return };
    let start = function.start().to_usize();
    let indent = crate::code::indent(code.text(), start).to_owned();
    let line = crate::code::line_start(code.text(), start);
    for (number, parameter) in function.parameters.iter_non_variadic_params().enumerate() {
        let name = parameter.name().as_str();
        let value = material.fixtures.get(name).and_then(|text| parse_expression(text).ok());
        let Some(Value::Text(text)) = value.and_then(|parsed| value_of(parsed.expr())) else { continue };
        for (order, other) in texts::texts(&text, &material.constants, &material.texts, random) {
            let decorator = format!("{indent}@pytest.mark.parametrize('{name}', [{}])\n", string(&other));
            found.push(Mutation {
                operator: Operator::Fixture,
                place: 2000 + number,
                order,
                edits: vec![Edit::insert(line, decorator)],
                imports: vec!["import pytest".to_owned()],
            });
        }
    }
}
