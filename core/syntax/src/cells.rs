//! What the cells of a notebook define: the statements that a text needs of the cells that ran before it.

use std::collections::{BTreeMap, BTreeSet};

use ruff_python_ast::visitor::source_order::{
    SourceOrderVisitor, walk_annotation, walk_expr, walk_parameters, walk_stmt,
};
use ruff_python_ast::{Expr, Stmt};

use super::notebook::plain_python;
use super::parse::{normalize_newlines, parse, slice, with_stack_for};
use super::queries::names_of_call;
use super::scopes::Bindings;

/// What a notebook knows of a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CellName {
    /// It is not bound any more, or its value comes from elsewhere.
    Absent,
    /// It holds what the cells bound it to.
    Bound,
    /// It holds a constant, as source.
    Constant(String),
}

/// The names that a text reads and does not bind within a function, and the parameters of its functions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UsedNames {
    pub free: BTreeSet<String>,
    pub parameters: BTreeSet<String>,
}

/// The names that a text uses.
pub fn used_names(text: &str) -> UsedNames {
    with_stack_for(text.len(), || {
        let parsed = parse(text);
        let mut visitor = Free::default();
        parsed.suite().iter().for_each(|stmt| visitor.visit_stmt(stmt));
        visitor.used
    })
}

/// What a text needs of earlier cells.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CellContext {
    /// Statements in the order in which they ran.
    pub text: String,
    /// The names that they and the text read.
    pub names: BTreeSet<String>,
}

/// The cells of a notebook in the order in which they ran, read once for all that need something of them.
#[derive(Debug, Default)]
pub struct EarlierCells {
    statements: Vec<Statement>,
    /// How many statements there are before each cell.
    before: Vec<usize>,
    /// The statements that bind or change a name, by name.
    touching: BTreeMap<String, Vec<usize>>,
}

impl EarlierCells {
    pub fn new(cells: &[&str]) -> Self {
        let mut read = Self::default();
        for cell in cells {
            read.before.push(read.statements.len());
            let text = plain(cell);
            with_stack_for(text.len(), || {
                let parsed = parse(&text);
                read.statements.extend(parsed.suite().iter().filter_map(|stmt| Statement::new(&text, stmt)));
            });
        }
        for (at, statement) in read.statements.iter().enumerate() {
            for name in &statement.binds {
                read.touching.entry(name.clone()).or_default().push(at);
            }
        }
        read
    }

    /// The imports, definitions and assignments of the first `count` cells, in the order in which they ran, that `wanted`
    /// names need and what these need in turn. Later bindings of a name replace earlier ones. `own` are the names that the
    /// text defines itself. Loops and calls are left out: they work on data, and what they leave in a constant is known.
    pub fn context(
        &self,
        count: usize,
        wanted: &BTreeSet<String>,
        own: &BTreeSet<String>,
        known: &dyn Fn(&str) -> CellName,
    ) -> CellContext {
        let end = self.before.get(count).copied().unwrap_or(self.statements.len());
        let (mut constants, mut taken) = (BTreeMap::new(), BTreeSet::new());
        let mut waiting: Vec<String> = wanted.iter().filter(|name| !own.contains(*name)).cloned().collect();
        let mut names = wanted.clone();
        while let Some(name) = waiting.pop() {
            let positions = match known(&name) {
                CellName::Absent => continue,
                CellName::Constant(source) => {
                    constants.insert(name, source);
                    continue;
                }
                CellName::Bound => self.positions(end, &name),
            };
            for &position in positions {
                if taken.insert(position) {
                    let more = self.statements[position].reads.iter().filter(|name| names.insert((*name).clone()));
                    waiting.extend(more.filter(|name| !own.contains(*name)).cloned());
                }
            }
        }
        let constants = constants.into_iter().map(|(name, source)| format!("{name} = {source}\n"));
        let taken = taken.into_iter().map(|position| format!("{}\n", self.statements[position].text));
        CellContext { text: constants.chain(taken).collect(), names }
    }

    /// The last statement before `end` that binds a name anew, and those after it that bind or change it.
    fn positions(&self, end: usize, name: &str) -> &[usize] {
        let touching = self.touching.get(name).map_or(&[][..], Vec::as_slice);
        let touching = &touching[..touching.partition_point(|at| *at < end)];
        let is_anew = |at: &usize| {
            let statement = &self.statements[*at];
            statement.is_definition && !statement.changes.contains(name)
        };
        &touching[touching.iter().rposition(is_anew).unwrap_or(0)..]
    }
}

/// A cell without notebook syntax.
fn plain(cell: &str) -> String {
    match plain_python(cell) {
        Some((text, _)) => text,
        None => normalize_newlines(cell).into_owned(),
    }
}

#[derive(Debug)]
struct Statement {
    text: String,
    /// The names that it binds or changes.
    binds: BTreeSet<String>,
    /// Those of them that it changes, or reads before it binds them.
    changes: BTreeSet<String>,
    reads: BTreeSet<String>,
    /// It binds its names whatever came before.
    is_definition: bool,
}

impl Statement {
    /// `None` for a statement that defines nothing.
    fn new(text: &str, stmt: &Stmt) -> Option<Self> {
        let is_definition = match stmt {
            Stmt::FunctionDef(_) | Stmt::ClassDef(_) | Stmt::Import(_) | Stmt::ImportFrom(_) | Stmt::Assign(_) => true,
            Stmt::AnnAssign(node) => node.value.is_some(),
            Stmt::AugAssign(_) | Stmt::If(_) | Stmt::Try(_) => false,
            // `(n := 3)` binds a name.
            Stmt::Expr(_) if !Bindings::of_body(std::slice::from_ref(stmt)).bound.is_empty() => true,
            _ => return None,
        };
        let changed = changed(stmt);
        let mut binds = Bindings::of_body(std::slice::from_ref(stmt)).bound;
        let mut visitor = Free::default();
        visitor.visit_stmt(stmt);
        let reads = visitor.used.free;
        let is_function = matches!(stmt, Stmt::FunctionDef(_) | Stmt::ClassDef(_));
        let mut changes: BTreeSet<String> = match is_function {
            true => BTreeSet::new(),
            false => binds.intersection(&reads).cloned().collect(),
        };
        changes.extend(changed.iter().cloned());
        binds.extend(changed);
        Some(Self { text: slice(text, stmt).to_owned(), binds, changes, reads, is_definition })
    }
}

/// The names whose values an assignment changes: `x` in `x['a'] = 1` and `x.a += 1`.
fn changed(stmt: &Stmt) -> Vec<String> {
    let targets: Vec<&Expr> = match stmt {
        Stmt::Assign(node) => node.targets.iter().collect(),
        Stmt::AugAssign(node) => vec![&node.target],
        _ => vec![],
    };
    targets.into_iter().filter_map(|target| root(target, false)).collect()
}

fn root(expr: &Expr, is_within: bool) -> Option<String> {
    match expr {
        Expr::Name(name) => is_within.then(|| name.id.to_string()),
        Expr::Attribute(node) => root(&node.value, true),
        Expr::Subscript(node) => root(&node.value, true),
        _ => None,
    }
}

/// The names that are read and bound by no function around.
#[derive(Default)]
struct Free {
    used: UsedNames,
    scopes: Vec<Bindings>,
}

impl Free {
    fn within(&mut self, scope: Bindings, visit: impl FnOnce(&mut Self)) {
        self.scopes.push(scope);
        visit(self);
        self.scopes.pop();
    }
}

impl<'a> SourceOrderVisitor<'a> for Free {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        let Stmt::FunctionDef(node) = stmt else { return walk_stmt(self, stmt) };
        node.decorator_list.iter().for_each(|decorator| self.visit_expr(&decorator.expression));
        walk_parameters(self, &node.parameters);
        node.returns.iter().for_each(|returns| walk_annotation(self, returns));
        if self.scopes.is_empty() {
            let names = node.parameters.iter().map(|parameter| parameter.name().to_string());
            self.used.parameters.extend(names);
        }
        let scope = Bindings::of_function(&node.parameters, node.type_params.as_deref(), &node.body);
        self.within(scope, |visitor| visitor.visit_body(&node.body));
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Name(name) if name.ctx.is_load() => {
                if !self.scopes.iter().any(|scope| scope.is_local(name.id.as_str())) {
                    self.used.free.insert(name.id.to_string());
                }
            }
            Expr::Lambda(node) => {
                node.parameters.iter().for_each(|parameters| walk_parameters(self, parameters));
                self.within(Bindings::of_lambda(node.parameters.as_deref(), &node.body), |visitor| {
                    visitor.visit_expr(&node.body);
                });
            }
            Expr::ListComp(node) => {
                self.within(Bindings::of_comprehension(&node.generators), |visitor| walk_expr(visitor, expr));
            }
            Expr::SetComp(node) => {
                self.within(Bindings::of_comprehension(&node.generators), |visitor| walk_expr(visitor, expr));
            }
            Expr::DictComp(node) => {
                self.within(Bindings::of_comprehension(&node.generators), |visitor| walk_expr(visitor, expr));
            }
            Expr::Generator(node) => {
                self.within(Bindings::of_comprehension(&node.generators), |visitor| walk_expr(visitor, expr));
            }
            Expr::Call(call) => {
                let is_free = |name: &&str| !self.scopes.iter().any(|scope| scope.is_local(name));
                let free = names_of_call(call).into_iter().filter(is_free);
                self.used.free.extend(free.map(str::to_owned));
                walk_expr(self, expr);
            }
            _ => walk_expr(self, expr),
        }
    }
}

/// The names that a text itself defines as functions and classes, or imports.
pub fn defined_names(text: &str) -> BTreeSet<String> {
    with_stack_for(text.len(), || {
        let is_it = |stmt: &&Stmt| {
            matches!(stmt, Stmt::FunctionDef(_) | Stmt::ClassDef(_) | Stmt::Import(_) | Stmt::ImportFrom(_))
        };
        let parsed = parse(text);
        parsed
            .suite()
            .iter()
            .filter(is_it)
            .flat_map(|stmt| Bindings::of_body(std::slice::from_ref(stmt)).bound)
            .collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &[&str]) -> BTreeSet<String> {
        text.iter().map(ToString::to_string).collect()
    }

    fn context(cells: &[&str], text: &str) -> String {
        let known = |name: &str| match name {
            "RATE" => CellName::Constant("0.2".into()),
            "gone" => CellName::Absent,
            _ => CellName::Bound,
        };
        EarlierCells::new(cells).context(cells.len(), &used_names(text).free, &defined_names(text), &known).text
    }

    #[test]
    fn names_of_functions_are_free_only_where_no_function_binds_them() {
        let used =
            used_names("def f(a: Money, b=LIMIT):\n    c = a + helper(b)\n    return [c * d for d in c if RATE]\n");
        assert_eq!(used.free, names(&["LIMIT", "Money", "RATE", "helper"]));
        assert_eq!(used.parameters, names(&["a", "b"]));
    }

    #[test]
    fn helpers_imports_and_constants_come_along_with_what_they_need() {
        let cells = [
            "import math\nimport os\n",
            "RATE = compute()\ndef helper(x):\n    return math.floor(x * RATE)\n",
            "def unused():\n    return os\nhelper(3)\n",
        ];
        let expected = "RATE = 0.2\nimport math\ndef helper(x):\n    return math.floor(x * RATE)\n";
        assert_eq!(context(&cells, "def f(x):\n    return helper(x)\n"), expected);
    }

    #[test]
    fn the_last_definition_counts_and_what_changes_it_afterwards() {
        let cells = ["t = {}\nt['a'] = 1\n", "t = dict(b=2)\n", "t['c'] = 3\nfor x in t:\n    print(x)\n"];
        assert_eq!(context(&cells, "def f(x):\n    return t[x]\n"), "t = dict(b=2)\nt['c'] = 3\n");
    }

    #[test]
    fn only_earlier_cells_count() {
        let read = EarlierCells::new(&["n = 1\n", "n = 2\n"]);
        let context = |count| read.context(count, &names(&["n"]), &BTreeSet::new(), &|_| CellName::Bound).text;
        assert_eq!([context(0), context(1), context(2)], ["", "n = 1\n", "n = 2\n"]);
    }

    #[test]
    fn what_an_expression_or_a_timed_statement_binds_comes_along() {
        assert_eq!(context(&["print(n := 3)\n"], "def f():\n    return n\n"), "print(n := 3)\n");
        assert_eq!(context(&["%time y = 2 + 1\n"], "def f():\n    return y\n"), "y = 2 + 1\n");
    }

    #[test]
    fn what_the_text_defines_and_what_is_gone_is_left_out() {
        let cells = ["def f(x):\n    return 1\ndef gone():\n    return 2\n", "%matplotlib inline\ny = f\n"];
        assert_eq!(context(&cells, "def f(x):\n    return gone() + y(x)\n"), "y = f\n");
    }
}
