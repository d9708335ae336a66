//! Reads a function in the order of its text, and keeps what each name stands for.

use std::collections::{BTreeMap, HashMap};

use ruff_text_size::{Ranged, TextRange};
use twincell_syntax::instrument::written_path;
use twincell_syntax::parse::parse;

use ruff_python_ast::{Alias, Comprehension, Expr, ExprCall, ExprLambda, Operator, Stmt, UnaryOp};

use super::methods::is_of_tables;
use super::notes::{is_column, is_library, is_moved, is_named, joined, result};
use super::roles::{Origin, Role, Table};
use super::{Found, Kind, Tables, TokenizedText, is_of_frames, is_of_rows, texts};
use crate::reading::facts::{Globals, Handed, ModuleFacts};
use crate::value::Recipe;
use crate::value::shape::{Content, Shape};

/// How deep expressions may nest.
const MAX_DEPTH: u32 = 60;
/// How deep functions of the module are followed.
const MAX_CALLS: u32 = 3;
const MAX_HELPERS: u32 = 40;
/// How many values beside parameters are followed, and how many arguments of a call.
const MOST_OTHERS: usize = 100;
const MOST_HANDED: usize = 20;
/// What is worth as much as two hints.
pub(super) const CERTAIN: u32 = 2;

pub(super) struct Walk<'a> {
    /// The parameters, and then the paths of other values that the function gets.
    pub(super) parameters: Vec<String>,
    /// How many of these are parameters.
    pub(super) count: usize,
    /// Whether it reads a module and no function.
    is_module: bool,
    /// What the others are by themselves.
    others: Vec<Kind>,
    /// The text that is read. Other values have their paths from it.
    pub(super) written: Option<TokenizedText<'a>>,
    /// What functions of the module are called with.
    handed: Handed,
    /// Attributes of parameters that may be columns: the parameter, the name, and the value as another one.
    attributes: Vec<(usize, String, usize)>,
    pub(super) found: Vec<Found>,
    /// The texts that parameters have as their defaults.
    pub(super) defaults: Vec<Vec<String>>,
    /// Columns that are asked of a table made from several.
    pub(super) of_any: Vec<(Vec<usize>, String, Vec<Content>)>,
    pub(super) known: &'a ModuleFacts,
    /// What the function that is read returns.
    returned: Role,
    /// How many functions are being read, one within the other.
    calls: u32,
    /// How many were read.
    helpers: u32,
    pub(super) names: BTreeMap<String, Role>,
    /// The arguments of the innermost call that were read, with what they stand for.
    pub(super) arguments: HashMap<TextRange, Role>,
    pub(super) depth: u32,
    /// The frame whose method is being read: expressions of polars in its arguments are about its columns.
    pub(super) context: Option<Table>,
}

impl<'a> Walk<'a> {
    pub fn new(
        parameters: Vec<String>,
        kinds: &BTreeMap<String, Kind>,
        known: &'a ModuleFacts,
        defaults: &BTreeMap<String, Vec<String>>,
    ) -> Self {
        let mut names = BTreeMap::new();
        for (root, name) in parameters.iter().enumerate() {
            let table = Table { roots: vec![root], ..Table::default() };
            let whole = Role::Column(Some(Origin { root, column: None }));
            let role = match kinds.get(name) {
                Some(Kind::Frame | Kind::PolarsFrame | Kind::PolarsLazy) => Role::Table(table),
                Some(Kind::Frames) => Role::Tables(table),
                Some(Kind::Series | Kind::Array | Kind::PolarsSeries) => whole,
                Some(Kind::Other) => Role::Other,
                Some(Kind::Unknown) | None => Role::Parameter(root),
            };
            names.insert(name.clone(), role);
        }
        // A default that is a text may name a column.
        let of_name = |name: &String| {
            let kind = kinds.get(name).copied().unwrap_or(Kind::Unknown);
            Found { is_named: is_of_frames(name), is_named_row: is_of_rows(name), ..Found::of(kind, known) }
        };
        let found = parameters.iter().map(of_name).collect();
        let defaults = parameters.iter().map(|name| defaults.get(name).cloned().unwrap_or_default()).collect();
        Self {
            count: parameters.len(),
            is_module: false,
            others: vec![],
            written: None,
            handed: Handed::new(),
            attributes: vec![],
            parameters,
            found,
            defaults,
            of_any: vec![],
            known,
            names,
            returned: Role::Other,
            calls: 0,
            helpers: 0,
            arguments: HashMap::new(),
            depth: 0,
            context: None,
        }
    }

    /// For the text of a module.
    pub fn of_module(written: TokenizedText<'a>, known: &'a ModuleFacts) -> Self {
        let walk = Self::new(vec![], &BTreeMap::new(), known, &BTreeMap::new());
        Self { is_module: true, written: Some(written), ..walk }
    }

    pub fn finish(mut self) -> Tables {
        self.settle();
        let mut all = self.parameters.into_iter().zip(self.found);
        let parameters = all.by_ref().take(self.count).collect();
        let others = all.zip(self.others).map(|((path, found), kind)| (path, (kind, found))).collect();
        Tables { parameters, others }
    }

    /// What a module that was read says: its tables, and what its functions are called with.
    pub fn globals(mut self) -> (Globals, Handed) {
        self.settle();
        let mut globals = Globals::new();
        for (name, role) in &self.names {
            let shape = |roots: &[usize]| match roots {
                [root] => self.found[*root].shape.clone(),
                _ => Shape::default(),
            };
            let own = match role {
                Role::Table(table) if table.is_derived => (self.kind_of(table), Shape::default()),
                Role::Table(table) => {
                    let mut shape = shape(&table.roots);
                    for column in &table.defined {
                        shape.column(column);
                    }
                    (self.kind_of(table), shape)
                }
                Role::Column(_) if self.known.prefers_polars() => continue,
                Role::Column(_) => (Kind::Series, Shape::default()),
                _ => continue,
            };
            globals.insert(name.clone(), own);
        }
        (globals, self.handed)
    }

    /// Gives columns that are asked of a table made from several to one of these, and takes attributes that are used like
    /// columns for columns.
    fn settle(&mut self) {
        for (root, name, own) in std::mem::take(&mut self.attributes) {
            let attribute = self.found[own].clone();
            let is_used = attribute.shape.is_numeric || attribute.only_series + attribute.series + attribute.array > 0;
            if is_used && self.found[root].frame > 0 {
                self.found[root].like_column += 1;
                self.found[root].looked_up += 1;
                self.note_column(root, &name, &attribute.shape.own.contents);
            }
        }
        for (roots, name, contents) in std::mem::take(&mut self.of_any) {
            let has = |found: &Found| found.shape.columns.iter().any(|column| column.name == name);
            if let Some(root) = roots.iter().find(|root| has(&self.found[**root])).or(roots.first()) {
                self.note_column(*root, &name, &contents);
            }
        }
    }

    /// A value that the function gets and that is no parameter. `kind` says what it is by itself.
    pub(super) fn other(&mut self, expr: &Expr, kind: Kind) -> Role {
        self.other_at(expr.range(), kind, Some(expr))
    }

    /// The same, of an expression in this place. `named`: the expression, if it may be a name or an attribute.
    pub(super) fn other_at(&mut self, range: TextRange, kind: Kind, named: Option<&Expr>) -> Role {
        // The paths of what is read in helpers mean nothing outside of them.
        let Some(written) = self.written.filter(|_| self.calls == 0) else { return Role::Other };
        let path = written_path(written.text, written.tokens, range);
        let root = match self.parameters.iter().skip(self.count).position(|own| *own == path) {
            Some(at) => self.count + at,
            None if self.parameters.len() > self.count + MOST_OTHERS => return Role::Other,
            None => {
                let is_named = matches!(named, Some(Expr::Name(_) | Expr::Attribute(_)))
                    && is_of_frames(path.rsplit('.').next().unwrap_or_default());
                let shape = self.known.tables.get(&path).map(|(_, shape)| shape.clone()).unwrap_or_default();
                self.parameters.push(path);
                self.found.push(Found { is_named, shape, ..Found::of(kind, self.known) });
                self.defaults.push(vec![]);
                self.others.push(kind);
                let own = self.parameters.len() - 1;
                if let Some(Expr::Attribute(node)) = named
                    && let Expr::Name(holder) = node.value.as_ref()
                    && let Some(Role::Parameter(root)) = self.names.get(holder.id.as_str())
                {
                    self.attributes.push((*root, node.attr.to_string(), own));
                }
                own
            }
        };
        let table = Table { roots: vec![root], ..Table::default() };
        match kind {
            Kind::Frame | Kind::PolarsFrame | Kind::PolarsLazy => Role::Table(table),
            Kind::Frames => Role::Tables(table),
            Kind::Series | Kind::Array | Kind::PolarsSeries => Role::Column(Some(Origin { root, column: None })),
            Kind::Unknown | Kind::Other => Role::Parameter(root),
        }
    }

    /// A name that the function does not bind.
    fn global(&mut self, expr: &Expr, name: &str) -> Role {
        let known = self.known;
        if let Some((kind, _)) = known.tables.get(name) {
            return self.other(expr, *kind);
        }
        if known.bound.contains(name) || twincell_syntax::python::is_builtin(name) {
            return Role::Other;
        }
        self.other(expr, Kind::Unknown)
    }

    /// Whether an expression begins with a name that the module imports or defines.
    pub(super) fn is_of_module(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Name(name) => {
                let name = name.id.as_str();
                !self.names.contains_key(name)
                    && (self.known.bound.contains(name) || twincell_syntax::python::is_builtin(name))
            }
            Expr::Attribute(node) => self.is_of_module(&node.value),
            _ => false,
        }
    }

    /// Notes what a function of the module is called with.
    pub(super) fn hand(&mut self, name: &str, arguments: &[Role]) {
        if !self.known.helpers.contains_key(name) || self.names.contains_key(name) {
            return;
        }
        let handed = self.handed.entry(name.to_owned()).or_default();
        for (at, role) in arguments.iter().enumerate().take(MOST_HANDED) {
            if handed.len() <= at {
                handed.push(None);
            }
            if let Role::Table(_) = role {
                handed[at] = Some(Kind::Frame);
            }
        }
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
            // What a module calls is read where it calls it.
            Stmt::FunctionDef(_) if self.is_module && self.calls == 0 => {}
            Stmt::FunctionDef(node) => {
                let outer = self.names.clone();
                for parameter in node.parameters.iter() {
                    self.names.insert(parameter.name().to_string(), Role::Other);
                }
                self.body(&node.body);
                self.names = outer;
                self.names.insert(node.name.to_string(), Role::Other);
            }
            Stmt::Import(node) => self.imported(&node.names),
            Stmt::ImportFrom(node) => self.imported(&node.names),
            _ => {}
        }
    }

    fn imported(&mut self, names: &[Alias]) {
        for alias in names {
            let name = alias.asname.as_ref().unwrap_or(&alias.name);
            self.names.insert(name.split('.').next().unwrap_or_default().to_owned(), Role::Other);
        }
    }

    /// What a function of the module gives for these arguments, after reading it.
    pub(super) fn helper(&mut self, name: &str, arguments: &[Role]) -> Role {
        let known = self.known;
        let is_table = |role: &Role| !matches!(role, Role::Other | Role::Names(_) | Role::OneOf(_));
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
        if let Some(Role::Column(Some(Origin { root, column: None }))) = self.names.get(name) {
            self.found[*root].set.extend(names.iter().cloned());
        }
        if let Some(Role::Parameter(root)) = self.names.get(name) {
            let table = Table { roots: vec![*root], ..Table::default() };
            if names.is_empty() {
                return;
            }
            if self.found[*root].is_row() {
                self.found[*root].looked_up += 1;
                self.found[*root].set.extend(names.iter().cloned());
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
            (Role::Parameter(root), written) if !matches!(written, Expr::Call(_)) => Role::Item(*root),
            (Role::Names(names), _) => Role::OneOf(names.clone()),
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
                None => match self.known.texts.get(name.id.as_str()) {
                    Some(texts) => Role::Names(texts.clone()),
                    None => self.global(expr, name.id.as_str()),
                },
            },
            Expr::StringLiteral(text) => Role::Names(vec![text.value.to_str().to_owned()]),
            Expr::List(list) => {
                let roles: Vec<Role> = list.elts.iter().map(|element| self.role(element)).collect();
                together(&roles).or_else(|| texts(expr).map(Role::Names)).unwrap_or_default()
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
            Expr::Attribute(node) => match self.attribute(node) {
                Role::Other if self.is_open(&node.value) && !is_of_tables(&node.attr) => {
                    self.other(expr, Kind::Unknown)
                }
                role => role,
            },
            Expr::Call(node) => match self.call(node) {
                Role::Other if self.may_give_table(node) => self.other(expr, Kind::Unknown),
                role => role,
            },
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
                    _ if is_moved(node) && (is_column(&left) || is_column(&right)) => Role::Dates,
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
                        if let (C::In | C::NotIn, Role::Names(names) | Role::OneOf(names), Role::Cell(_)) =
                            (operator, &role, &left)
                        {
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

    /// Whether nothing is known of the holder of an attribute.
    fn is_open(&self, holder: &Expr) -> bool {
        let role = match holder {
            Expr::Name(name) => self.names.get(name.id.as_str()),
            Expr::Attribute(_) => None,
            _ => return false,
        };
        matches!(role, None | Some(Role::Other | Role::Parameter(_))) && !self.is_of_module(holder)
    }

    /// Whether a call of which nothing is known may give a table: no builtin does.
    fn may_give_table(&self, node: &ExprCall) -> bool {
        match node.func.as_ref() {
            Expr::Name(name) => !twincell_syntax::python::is_builtin(&name.id),
            Expr::Attribute(function) => match function.value.as_ref() {
                Expr::Name(name) if is_library(&name.id, self.known) => false,
                Expr::Name(name) if self.names.get(name.id.as_str()) == Some(&Role::Other) => true,
                _ => !is_of_tables(&function.attr),
            },
            _ => false,
        }
    }

    pub(super) fn comprehension(&mut self, generators: &[Comprehension], parts: &[&Expr]) -> Role {
        let outer = self.names.clone();
        for generator in generators {
            if let (Expr::Call(call), Expr::Tuple(targets)) = (&generator.iter, &generator.target)
                && is_named(&call.func, "zip")
            {
                let roles: Vec<Role> = call.arguments.args.iter().map(|argument| self.role(argument)).collect();
                for ((target, argument), role) in targets.elts.iter().zip(&call.arguments.args).zip(&roles) {
                    let item = self.item(role, argument);
                    self.bind(target, &item, None);
                }
            } else {
                let over = self.role(&generator.iter);
                let item = self.item(&over, &generator.iter);
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

    /// What an argument of the innermost call stands for.
    pub(super) fn argument(&mut self, argument: &Expr) -> Role {
        self.read_once(argument, |walk| walk.role(argument))
    }

    fn read_once(&mut self, argument: &Expr, read: impl FnOnce(&mut Self) -> Role) -> Role {
        if let Some(role) = self.arguments.get(&argument.range()) {
            return role.clone();
        }
        let role = read(self);
        self.arguments.insert(argument.range(), role.clone());
        role
    }

    /// What is handed to a method that calls it: the lambda is read, whatever else it is.
    pub(super) fn applied(&mut self, argument: &Expr, given: &Role) -> Role {
        match argument {
            Expr::Lambda(node) => self.read_once(argument, |walk| walk.lambda(node, given)),
            Expr::Name(name) if self.known.helpers.contains_key(name.id.as_str()) => {
                self.hand(&name.id, std::slice::from_ref(given));
                if let Role::Row(_) = given
                    && let Some([first, ..]) = self.handed.get_mut(name.id.as_str()).map(Vec::as_mut_slice)
                {
                    *first = Some(Kind::Series);
                }
                self.helper(&name.id, std::slice::from_ref(given))
            }
            other => self.argument(other),
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
