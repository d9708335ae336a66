//! Notes what is said of the columns of parameters.

use ruff_python_ast::{Expr, ExprBinOp, Number, Operator, UnaryOp};

use twincell_syntax::names_in_query;

use super::roles::{Origin, Role, Source, Table};
use super::walk::Walk;
use super::{content_of, texts};
use crate::reading::facts::ModuleFacts;
use crate::reading::written::literal;
use crate::value::Recipe;
use crate::value::shape::{Column, Content};

impl Walk<'_> {
    /// Rows picked by a condition: a column by itself holds truths.
    pub(super) fn mask(&mut self, rows: &Expr) {
        let role = self.role(rows);
        if let Role::Column(_) = role {
            self.note(&role, Content::Truths);
        }
    }

    /// The names of columns for which an expression stands.
    pub(super) fn written_names(&mut self, expr: &Expr) -> Option<Vec<String>> {
        match expr {
            Expr::StringLiteral(_) => texts(expr),
            Expr::List(list) => {
                let names: Option<Vec<Vec<String>>> =
                    list.elts.iter().map(|element| self.written_names(element)).collect();
                names.map(|names| names.concat())
            }
            Expr::Name(name) => match self.names.get(name.id.as_str()) {
                Some(Role::Names(names) | Role::OneOf(names)) => Some(names.clone()),
                Some(Role::Parameter(root)) if *root >= self.count => None,
                Some(Role::Parameter(root)) => {
                    let root = *root;
                    let may_be = self.found[root].frame + self.found[root].series + self.found[root].looked_up == 0;
                    may_be.then(|| self.standing_for(root))
                }
                Some(_) => None,
                None => self.known.texts.get(name.id.as_str()).cloned(),
            },
            Expr::Starred(node) => self.written_names(&node.value),
            _ => None,
        }
    }

    /// Whether an expression stands for several names together: a display, or a name of one.
    pub(super) fn is_list(&self, expr: &Expr) -> bool {
        match expr {
            Expr::List(_) => true,
            Expr::Name(name) => match self.names.get(name.id.as_str()) {
                Some(Role::Names(names)) => names.len() > 1,
                Some(Role::Parameter(root)) => *root < self.count && is_plural(&self.parameters[*root]),
                Some(_) => false,
                None => self.known.texts.get(name.id.as_str()).is_some_and(|texts| texts.len() > 1),
            },
            _ => false,
        }
    }

    /// The column for which a parameter stands.
    pub(super) fn standing_for(&mut self, root: usize) -> Vec<String> {
        let name = format!("{}_1", self.parameters[root]);
        let found = &mut self.found[root];
        if found.columns.is_empty() {
            found.columns = match self.defaults[root].as_slice() {
                [] => vec![name],
                defaults => defaults.to_vec(),
            };
        }
        found.columns.clone()
    }

    /// The column of a table. It is needed, unless the code has made it.
    pub(super) fn column(&mut self, table: &Table, name: &str) -> Source {
        if table.is_derived || table.defined.contains(name) {
            return None;
        }
        match table.roots.as_slice() {
            [] => None,
            [root] => {
                self.note_column(*root, name, &[]);
                Some(Origin { root: *root, column: Some(name.to_owned()) })
            }
            roots => {
                let has = |root: &&usize| self.found[**root].shape.columns.iter().any(|column| column.name == name);
                if let Some(root) = roots.iter().find(has) {
                    return Some(Origin { root: *root, column: Some(name.to_owned()) });
                }
                self.of_any.push((roots.to_vec(), name.to_owned(), vec![]));
                None
            }
        }
    }

    pub(super) fn note_column(&mut self, root: usize, name: &str, contents: &[Content]) {
        if let Some(column) = self.found[root].shape.column(name) {
            contents.iter().for_each(|content| column.note(*content));
        }
    }

    pub(super) fn with_column(&mut self, role: &Role, note: impl FnOnce(&mut Column)) {
        let origin = match role {
            Role::Column(Some(origin)) | Role::Cell(Some(origin)) => origin.clone(),
            Role::Parameter(root) => Origin { root: *root, column: None },
            _ => return,
        };
        let shape = &mut self.found[origin.root].shape;
        match origin.column {
            Some(name) => {
                if let Some(column) = shape.column(&name) {
                    note(column);
                }
            }
            None => note(&mut shape.own),
        }
    }

    pub(super) fn note(&mut self, role: &Role, content: Content) {
        self.with_column(role, |column| column.note(content));
    }

    pub(super) fn candidates(&mut self, role: &Role, values: impl IntoIterator<Item = Recipe>) {
        self.with_column(role, |column| {
            for value in values {
                content_of(&value).into_iter().for_each(|content| column.note(content));
                column.note_candidate(value);
            }
        });
    }

    /// An array has at least so many dimensions.
    pub(super) fn has_dimensions(&mut self, root: usize, count: u8) {
        let shape = &mut self.found[root].shape;
        shape.dimensions = shape.dimensions.max(Some(count.min(3)));
    }

    /// A comparison of a column or a cell with something written.
    pub(super) fn compared(&mut self, role: &Role, other: &Expr, is_ordered: bool) {
        if let (Role::Dimensions(root), Some(count)) = (role, written_index(other)) {
            self.has_dimensions(*root, count);
            return;
        }
        match literal(other) {
            Some(Recipe::None) => {}
            Some(value) => self.candidates(role, [value]),
            None => {
                if let Expr::Name(name) = other
                    && !is_ordered
                    && matches!(role, Role::Column(Some(_)) | Role::Cell(Some(_)))
                    && let Some(parameter) = self.parameters.iter().position(|own| own == name.id.as_str())
                {
                    self.found[parameter].is_compared = true;
                    self.note(role, Content::Keys);
                }
                let is_negative = matches!(other, Expr::UnaryOp(node) if node.op == UnaryOp::USub);
                if self.is_time(other) {
                    self.note(role, Content::Dates);
                    if let Role::Difference(origins) = role {
                        for origin in origins {
                            self.note(&Role::Column(Some(origin.clone())), Content::Dates);
                        }
                    }
                } else if is_negative {
                    self.note(role, Content::Numbers);
                } else if is_ordered
                    && matches!(other, Expr::Name(name) if matches!(self.names.get(name.id.as_str()), Some(Role::Parameter(_))))
                {
                    // Limits that callers give are numbers, mostly.
                    self.note(role, Content::Numbers);
                    if let (Role::Column(_) | Role::Cell(_), Some(Role::Parameter(root))) =
                        (role, other.as_name_expr().and_then(|name| self.names.get(name.id.as_str())))
                    {
                        self.found[*root].is_operand = true;
                    }
                }
            }
        }
    }

    /// Whether an expression gives dates or spans.
    fn is_time(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Call(call) => is_moment(&call.func),
            Expr::Name(name) => matches!(self.names.get(name.id.as_str()), Some(Role::Dates)),
            Expr::BinOp(node) => is_moved(node),
            _ => false,
        }
    }

    /// What an operator says of one of its operands.
    pub(super) fn operands(&mut self, own: &Role, operator: Operator, other: &Role, written: &Expr) {
        use Operator as O;
        match operator {
            O::BitAnd | O::BitOr | O::BitXor => self.note(own, Content::Truths),
            O::Add if self.is_time(written) => self.note(own, Content::Dates),
            O::Add => match (other, literal(written)) {
                (Role::Names(_) | Role::OneOf(_), _) | (_, Some(Recipe::Str(_))) => self.note(own, Content::Texts),
                (_, Some(Recipe::Int(_) | Recipe::Float(_))) => self.note(own, Content::Numbers),
                _ => {}
            },
            O::MatMult => {}
            _ => {
                let is_span = matches!(written, Expr::Call(call) if is_moment(&call.func));
                self.note(own, if is_span { Content::Dates } else { Content::Numbers });
            }
        }
        if let (Role::Column(_), Role::Parameter(root)) = (own, other)
            && !matches!(operator, O::BitAnd | O::BitOr | O::BitXor | O::MatMult)
        {
            self.found[*root].is_operand = true;
        }
        if let Role::Table(table) = own
            && !matches!(operator, O::BitAnd | O::BitOr)
        {
            table.roots.iter().for_each(|root| self.found[*root].shape.is_numeric = true);
        }
    }

    /// The columns that the text of a query compares.
    pub(super) fn query(&mut self, table: &Table, text: &str) {
        let Ok(parsed) = ruff_python_parser::parse_expression(&text.replace('@', "")) else { return };
        let locals = names_in_query(text);
        let outer = self.names.clone();
        let body = parsed.into_syntax().body;
        for name in names_in(&body) {
            if !locals.contains(name.as_str()) {
                let source = self.column(table, &name);
                self.names.insert(name, Role::Column(source));
            }
        }
        self.role(&body);
        self.names = outer;
    }
}

/// The names in an expression.
pub(super) fn names_in(expr: &Expr) -> Vec<String> {
    use ruff_python_ast::visitor::{Visitor, walk_expr};
    struct Names(Vec<String>);
    impl<'a> Visitor<'a> for Names {
        fn visit_expr(&mut self, expr: &'a Expr) {
            if let Expr::Name(name) = expr {
                self.0.push(name.id.to_string());
            }
            walk_expr(self, expr);
        }
    }
    let mut names = Names(vec![]);
    names.visit_expr(expr);
    names.0
}

pub(super) fn is_column(role: &Role) -> bool {
    matches!(role, Role::Column(_) | Role::Accessor | Role::Like(_) | Role::Difference(_) | Role::Dates)
}

/// What an operator with these operands gives.
pub(super) fn result(left: &Role, right: &Role) -> Role {
    match (left, right) {
        (Role::Table(table), _) | (_, Role::Table(table)) => Role::Table(table.clone()),
        (Role::Parameter(root) | Role::Like(root), _) | (_, Role::Parameter(root) | Role::Like(root)) => {
            Role::Like(*root)
        }
        (Role::Column(Some(Origin { root, column: None })), _)
        | (_, Role::Column(Some(Origin { root, column: None }))) => Role::Like(*root),
        _ if is_column(left) || is_column(right) => Role::Column(None),
        (Role::Cell(_), _) | (_, Role::Cell(_)) => Role::Cell(None),
        _ => Role::Other,
    }
}

pub(super) fn joined(left: &Table, right: &Table) -> Table {
    let mut roots = left.roots.clone();
    roots.extend(right.roots.iter().filter(|root| !left.roots.contains(root)));
    Table {
        roots,
        defined: left.defined.union(&right.defined).cloned().collect(),
        is_derived: left.is_derived && right.is_derived,
    }
}

/// Whether the name of a parameter says that it stands for several columns.
pub(in crate::reading) fn is_plural(name: &str) -> bool {
    const WORDS: [&str; 8] = ["cols", "columns", "features", "fields", "keys", "names", "variables", "vars"];
    WORDS.iter().any(|word| name == *word || name.strip_suffix(word).is_some_and(|rest| rest.ends_with('_')))
}

/// Whether a name is a module of tables or arrays, as code names it.
pub(super) fn is_library(name: &str, known: &ModuleFacts) -> bool {
    matches!(name, "pd" | "pandas" | "np" | "numpy") || known.is_polars(name)
}

pub(super) fn is_named(expr: &Expr, name: &str) -> bool {
    matches!(expr, Expr::Name(own) if own.id.as_str() == name)
}

/// Whether a callee makes dates or spans.
pub(super) fn is_moment(callee: &Expr) -> bool {
    const MOMENTS: [&str; 8] =
        ["Timestamp", "datetime", "Timedelta", "timedelta", "today", "now", "to_datetime", "date"];
    last_name(callee).is_some_and(|name| MOMENTS.contains(&name))
}

/// Whether a span is added to something or taken away from it.
pub(super) fn is_moved(node: &ExprBinOp) -> bool {
    let is_span = |expr: &Expr| match expr {
        Expr::Call(call) => {
            last_name(&call.func).is_some_and(|name| matches!(name, "Timedelta" | "timedelta" | "DateOffset"))
        }
        _ => false,
    };
    match node.op {
        Operator::Add => is_span(&node.left) || is_span(&node.right),
        Operator::Sub => is_span(&node.right) && !is_span(&node.left),
        _ => false,
    }
}

fn last_name(callee: &Expr) -> Option<&str> {
    match callee {
        Expr::Name(name) => Some(name.id.as_str()),
        Expr::Attribute(node) => Some(node.attr.as_str()),
        _ => None,
    }
}

/// What a literal is, also a negative number.
pub(super) fn written_content(expr: &Expr) -> Option<Content> {
    match expr {
        Expr::UnaryOp(node) if node.op == UnaryOp::USub => Some(Content::Numbers),
        Expr::Name(name) if matches!(name.id.as_str(), "int" | "float") => Some(Content::Numbers),
        other => content_of(&literal(other)?),
    }
}

/// A small index that is written out.
pub(super) fn written_index(expr: &Expr) -> Option<u8> {
    match expr {
        Expr::NumberLiteral(number) => match &number.value {
            Number::Int(value) => value.as_u8().filter(|index| *index < 8),
            _ => None,
        },
        _ => None,
    }
}
