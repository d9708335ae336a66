//! Reads a function in the order of its text, and keeps what each name stands for.

use std::collections::BTreeMap;

use twincell_syntax::parse::parse;

use ruff_python_ast::{Comprehension, Expr, ExprLambda, Operator, Stmt, UnaryOp};

use super::notes::{is_column, is_named, joined, result};
use super::roles::{Origin, Role, Table};
use super::{Found, Kind, texts};
use crate::reading::models::Known;
use crate::value::Recipe;
use crate::value::shape::Content;

/// How deep expressions may nest.
const MAX_DEPTH: u32 = 60;
/// How deep functions of the module are followed.
const MAX_CALLS: u32 = 3;
const MAX_HELPERS: u32 = 40;
/// What is worth as much as two hints.
pub(super) const CERTAIN: u32 = 2;

pub(super) struct Walk<'a> {
    pub(super) parameters: Vec<String>,
    pub(super) found: Vec<Found>,
    /// The texts that parameters have as their defaults.
    pub(super) defaults: Vec<Vec<String>>,
    /// Columns that are asked of a table made from several.
    pub(super) of_any: Vec<(Vec<usize>, String, Vec<Content>)>,
    pub(super) known: &'a Known,
    /// What the function that is read returns.
    returned: Role,
    /// How many functions are being read, one within the other.
    calls: u32,
    /// How many were read.
    helpers: u32,
    pub(super) names: BTreeMap<String, Role>,
    pub(super) depth: u32,
}

impl<'a> Walk<'a> {
    pub fn new(
        parameters: Vec<String>,
        kinds: &BTreeMap<String, Kind>,
        known: &'a Known,
        defaults: &BTreeMap<String, Vec<String>>,
    ) -> Self {
        let mut names = BTreeMap::new();
        for (root, name) in parameters.iter().enumerate() {
            let table = Table { roots: vec![root], ..Table::default() };
            let whole = Role::Column(Some(Origin { root, column: None }));
            let role = match kinds.get(name) {
                Some(Kind::Frame) => Role::Table(table),
                Some(Kind::Frames) => Role::Tables(table),
                Some(Kind::Series | Kind::Array) => whole,
                Some(Kind::Unknown) | None => Role::Parameter(root),
            };
            names.insert(name.clone(), role);
        }
        // A default that is a text may name a column.
        let found = vec![Found::default(); parameters.len()];
        let defaults = parameters.iter().map(|name| defaults.get(name).cloned().unwrap_or_default()).collect();
        Self {
            parameters,
            found,
            defaults,
            of_any: vec![],
            known,
            names,
            returned: Role::Other,
            calls: 0,
            helpers: 0,
            depth: 0,
        }
    }

    pub fn finish(mut self) -> BTreeMap<String, Found> {
        for (roots, name, contents) in std::mem::take(&mut self.of_any) {
            let has = |found: &Found| found.shape.columns.iter().any(|column| column.name == name);
            if let Some(root) = roots.iter().find(|root| has(&self.found[**root])).or(roots.first()) {
                self.note_column(*root, &name, &contents);
            }
        }
        self.parameters.into_iter().zip(self.found).collect()
    }

    pub fn body(&mut self, body: &[Stmt]) {
        body.iter().for_each(|stmt| self.stmt(stmt));
    }

    pub(super) fn stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Assign(node) => {
                let role = self.role(&node.value);
                node.targets.iter().for_each(|target| self.bind(target, &role, Some(&node.value)));
            }
            Stmt::AnnAssign(node) => {
                if let Some(value) = &node.value {
                    let role = self.role(value);
                    self.bind(&node.target, &role, Some(value));
                }
            }
            Stmt::AugAssign(node) => {
                let own = self.role(&node.target);
                let other = self.role(&node.value);
                self.operands(&own, node.op, &other, &node.value);
                if let Expr::Subscript(_) = node.target.as_ref() {
                    self.bind(&node.target, &Role::Column(None), None);
                }
            }
            Stmt::For(node) => {
                let over = self.role(&node.iter);
                let item = self.item(&over, &node.iter);
                self.bind(&node.target, &item, None);
                self.body(&node.body);
                self.body(&node.orelse);
            }
            Stmt::While(node) => {
                self.role(&node.test);
                self.body(&node.body);
                self.body(&node.orelse);
            }
            Stmt::If(node) => {
                self.role(&node.test);
                self.body(&node.body);
                for clause in &node.elif_else_clauses {
                    clause.test.iter().for_each(|test| drop(self.role(test)));
                    self.body(&clause.body);
                }
            }
            Stmt::With(node) => {
                node.items.iter().for_each(|item| drop(self.role(&item.context_expr)));
                self.body(&node.body);
            }
            Stmt::Try(node) => {
                self.body(&node.body);
                for handler in &node.handlers {
                    let ruff_python_ast::ExceptHandler::ExceptHandler(handler) = handler;
                    self.body(&handler.body);
                }
                self.body(&node.orelse);
                self.body(&node.finalbody);
            }
            Stmt::Return(node) => {
                let returned = node.value.as_ref().map(|value| self.role(value)).unwrap_or_default();
                if returned != Role::Other {
                    self.returned = returned;
                }
            }
            Stmt::Expr(node) => drop(self.role(&node.value)),
            Stmt::Delete(node) => node.targets.iter().for_each(|target| drop(self.role(target))),
            Stmt::Assert(node) => drop(self.role(&node.test)),
            Stmt::Raise(node) => node.exc.iter().for_each(|raised| drop(self.role(raised))),
            Stmt::FunctionDef(node) => self.body(&node.body),
            _ => {}
        }
    }

    /// What a function of the module gives for these arguments, after reading it.
    pub(super) fn helper(&mut self, name: &str, arguments: &[Role]) -> Role {
        let known = self.known;
        let is_table = |role: &Role| !matches!(role, Role::Other | Role::Names(_));
        let Some(text) = known
            .helpers
            .get(name)
            .filter(|_| self.calls < MAX_CALLS && self.helpers < MAX_HELPERS && arguments.iter().any(is_table))
        else {
            return Role::Other;
        };
        self.calls += 1;
        self.helpers += 1;
        let parsed = parse(text);
        let outer = std::mem::take(&mut self.names);
        let before = std::mem::take(&mut self.returned);
        if let Some(Stmt::FunctionDef(node)) = parsed.suite().first() {
            for (parameter, role) in node.parameters.iter_non_variadic_params().zip(arguments) {
                self.names.insert(parameter.parameter.name.to_string(), role.clone());
            }
            self.body(&node.body);
        }
        self.names = outer;
        self.calls -= 1;
        std::mem::replace(&mut self.returned, before)
    }

    /// Notes what a target stands for from now on.
    pub(super) fn bind(&mut self, target: &Expr, role: &Role, value: Option<&Expr>) {
        match target {
            Expr::Name(name) => {
                let role = match (role, value.and_then(texts)) {
                    (Role::Other, Some(texts)) => Role::Names(texts),
                    _ => role.clone(),
                };
                self.names.insert(name.id.to_string(), role);
            }
            Expr::Tuple(tuple) => {
                let parts = self.parts(role, value, tuple.elts.len());
                for (index, element) in tuple.elts.iter().enumerate() {
                    let own = match value {
                        Some(Expr::Tuple(values)) => values.elts.get(index),
                        _ => None,
                    };
                    self.bind(element, &parts.get(index).cloned().unwrap_or_default(), own);
                }
            }
            Expr::Subscript(node) => {
                let holder = self.role(&node.value);
                let names = match &holder {
                    Role::ByLabel(_) | Role::ByPosition(_) => match node.slice.as_ref() {
                        Expr::Tuple(tuple) => {
                            tuple.elts.first().into_iter().for_each(|rows| self.mask(rows));
                            tuple.elts.get(1).and_then(|names| self.written_names(names))
                        }
                        rows => {
                            self.mask(rows);
                            None
                        }
                    },
                    _ => self.written_names(&node.slice),
                };
                if let (Role::Parameter(root), Expr::Tuple(tuple)) = (&holder, node.slice.as_ref())
                    && tuple.elts.iter().any(Expr::is_slice_expr)
                {
                    self.found[*root].array += CERTAIN;
                    self.dimensions(&Some(Origin { root: *root, column: None }), &node.slice);
                }
                if names.is_none() && matches!(holder, Role::Table(_) | Role::Column(_)) {
                    self.mask(&node.slice);
                }
                self.define(&node.value, &names.unwrap_or_default());
            }
            Expr::Attribute(node) => {
                self.role(&node.value);
            }
            _ => {}
        }
    }

    /// The columns are there from now on, in the table for which the expression stands.
    pub(super) fn define(&mut self, table: &Expr, names: &[String]) {
        let name = match table {
            Expr::Name(name) => name.id.as_str(),
            // `df.loc[...] = ...`
            Expr::Attribute(node) => match node.value.as_ref() {
                Expr::Name(name) => name.id.as_str(),
                _ => return,
            },
            _ => return,
        };
        if let Some(Role::Parameter(root)) = self.names.get(name) {
            let table = Table { roots: vec![*root], ..Table::default() };
            if names.is_empty() {
                return;
            }
            self.names.insert(name.to_owned(), Role::Table(table));
        }
        if let Some(Role::Table(own)) = self.names.get_mut(name) {
            own.defined.extend(names.iter().cloned());
        }
    }

    /// What the targets of an unpacking stand for.
    pub(super) fn parts(&mut self, role: &Role, value: Option<&Expr>, count: usize) -> Vec<Role> {
        if let Some(Expr::Tuple(values)) = value {
            return values.elts.iter().map(|value| self.role(value)).collect();
        }
        match role {
            Role::Extent(root) => {
                self.has_dimensions(*root, count.min(3) as u8);
                vec![]
            }
            Role::Row(table) => vec![Role::Other, Role::Row(table.clone())],
            Role::Group(table) | Role::Entries(table) if count == 2 => vec![Role::Other, Role::Table(table.clone())],
            _ => vec![],
        }
    }

    /// What iterating over something gives.
    pub(super) fn item(&mut self, over: &Role, written: &Expr) -> Role {
        match (over, written) {
            (Role::Rows(table, _), _) => Role::Row(table.clone()),
            (Role::Group(table), _) => Role::Group(table.clone()),
            (Role::Entries(table), _) => Role::Entries(table.clone()),
            (Role::Tables(table), _) => Role::Table(table.clone()),
            (Role::Column(source), Expr::Call(call)) if is_named(&call.func, "enumerate") => Role::Cell(source.clone()),
            (Role::Column(source), _) => Role::Cell(source.clone()),
            (Role::Names(names), _) => Role::Names(names.clone()),
            _ => Role::Other,
        }
    }

    /// What an expression stands for, after noting what it says.
    pub(super) fn role(&mut self, expr: &Expr) -> Role {
        if self.depth > MAX_DEPTH {
            return Role::Other;
        }
        self.depth += 1;
        let role = self.evaluated(expr);
        self.depth -= 1;
        role
    }

    pub(super) fn evaluated(&mut self, expr: &Expr) -> Role {
        match expr {
            Expr::Name(name) => match self.names.get(name.id.as_str()) {
                Some(role) => role.clone(),
                None => self.known.texts.get(name.id.as_str()).cloned().map_or(Role::Other, Role::Names),
            },
            Expr::StringLiteral(text) => Role::Names(vec![text.value.to_str().to_owned()]),
            Expr::List(list) => {
                let roles: Vec<Role> = list.elts.iter().map(|element| self.role(element)).collect();
                together(&roles).unwrap_or_default()
            }
            Expr::Tuple(tuple) => {
                tuple.elts.iter().for_each(|element| drop(self.role(element)));
                Role::Other
            }
            Expr::Dict(dict) => {
                for item in &dict.items {
                    self.role(&item.value);
                }
                Role::Other
            }
            Expr::Subscript(node) => self.subscript(node),
            Expr::Attribute(node) => self.attribute(node),
            Expr::Call(node) => self.call(node),
            Expr::BinOp(node) => {
                let (left, right) = (self.role(&node.left), self.role(&node.right));
                self.operands(&left, node.op, &right, &node.right);
                self.operands(&right, node.op, &left, &node.left);
                match (node.op, &left, &right) {
                    (
                        Operator::Sub,
                        Role::Column(Some(left @ Origin { column: Some(_), .. })),
                        Role::Column(Some(right @ Origin { column: Some(_), .. })),
                    ) => Role::Difference(vec![left.clone(), right.clone()]),
                    _ => result(&left, &right),
                }
            }
            Expr::Compare(node) => {
                let left = self.role(&node.left);
                let mut is_column = is_column(&left);
                for (operator, right) in node.ops.iter().zip(&node.comparators) {
                    let role = self.role(right);
                    is_column |= self::is_column(&role);
                    use ruff_python_ast::CmpOp as C;
                    if matches!(operator, C::Is | C::IsNot | C::In | C::NotIn) {
                        if let (C::In | C::NotIn, Role::Names(names), Role::Cell(_)) = (operator, &role, &left) {
                            self.candidates(&left, names.iter().cloned().map(Recipe::Str));
                        }
                        continue;
                    }
                    let is_ordered = !matches!(operator, C::Eq | C::NotEq);
                    self.compared(&left, right, is_ordered);
                    self.compared(&role, &node.left, is_ordered);
                }
                match left {
                    Role::Parameter(root) | Role::Like(root) | Role::Column(Some(Origin { root, column: None })) => {
                        Role::Like(root)
                    }
                    _ if is_column => Role::Column(None),
                    _ => Role::Other,
                }
            }
            Expr::UnaryOp(node) => {
                let role = self.role(&node.operand);
                match node.op {
                    UnaryOp::Invert => self.note(&role, Content::Truths),
                    UnaryOp::USub => self.note(&role, Content::Numbers),
                    _ => {}
                }
                if is_column(&role) { Role::Column(None) } else { Role::Other }
            }
            Expr::BoolOp(node) => {
                node.values.iter().for_each(|value| drop(self.role(value)));
                Role::Other
            }
            Expr::If(node) => {
                self.role(&node.test);
                let body = self.role(&node.body);
                let other = self.role(&node.orelse);
                if body == Role::Other { other } else { body }
            }
            Expr::Lambda(node) => {
                self.lambda(node, &Role::Other);
                Role::Other
            }
            Expr::ListComp(node) => self.comprehension(&node.generators, &[&node.elt]),
            Expr::SetComp(node) => self.comprehension(&node.generators, &[&node.elt]),
            Expr::Generator(node) => self.comprehension(&node.generators, &[&node.elt]),
            Expr::DictComp(node) => {
                let parts: Vec<&Expr> = node.key.as_deref().into_iter().chain([node.value.as_ref()]).collect();
                self.comprehension(&node.generators, &parts)
            }
            Expr::FString(node) => {
                for element in node.value.elements().filter_map(|element| element.as_interpolation()) {
                    self.role(&element.expression);
                }
                Role::Other
            }
            Expr::Starred(node) => self.role(&node.value),
            Expr::Await(node) => self.role(&node.value),
            Expr::Named(node) => {
                let role = self.role(&node.value);
                self.bind(&node.target, &role, Some(&node.value));
                role
            }
            Expr::Slice(node) => {
                [&node.lower, &node.upper, &node.step].into_iter().flatten().for_each(|part| drop(self.role(part)));
                Role::Other
            }
            _ => Role::Other,
        }
    }

    pub(super) fn comprehension(&mut self, generators: &[Comprehension], parts: &[&Expr]) -> Role {
        let outer = self.names.clone();
        for generator in generators {
            let over = self.role(&generator.iter);
            let item = self.item(&over, &generator.iter);
            if let (Expr::Call(call), Expr::Tuple(targets)) = (&generator.iter, &generator.target)
                && is_named(&call.func, "zip")
            {
                for (target, argument) in targets.elts.iter().zip(&call.arguments.args) {
                    let role = self.role(argument);
                    let item = self.item(&role, argument);
                    self.bind(target, &item, None);
                }
            } else {
                self.bind(&generator.target, &item, None);
            }
            generator.ifs.iter().for_each(|test| drop(self.role(test)));
        }
        let roles: Vec<Role> = parts.iter().map(|part| self.role(part)).collect();
        self.names = outer;
        match roles.into_iter().next() {
            Some(Role::Table(table)) => Role::Tables(table),
            _ => Role::Other,
        }
    }

    /// A function whose first parameter gets something.
    pub(super) fn lambda(&mut self, node: &ExprLambda, given: &Role) -> Role {
        let outer = self.names.clone();
        let parameters = node.parameters.iter().flat_map(|parameters| parameters.iter_non_variadic_params());
        for (index, parameter) in parameters.enumerate() {
            let role = if index == 0 { given.clone() } else { Role::Other };
            self.names.insert(parameter.parameter.name.to_string(), role);
        }
        let role = self.role(&node.body);
        self.names = outer;
        role
    }

    /// What is handed to a method that calls it: the lambda is read, whatever else it is.
    pub(super) fn applied(&mut self, argument: &Expr, given: &Role) -> Role {
        match argument {
            Expr::Lambda(node) => self.lambda(node, given),
            other => self.role(other),
        }
    }
}

/// All tables of a display as one.
fn together(roles: &[Role]) -> Option<Role> {
    let tables: Vec<&Table> =
        roles.iter().filter_map(|role| if let Role::Table(table) = role { Some(table) } else { None }).collect();
    let (first, rest) = tables.split_first()?;
    Some(Role::Tables(rest.iter().fold((*first).clone(), |all, table| joined(&all, table))))
}
