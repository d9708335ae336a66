//! Reads conditions and terms from the syntax of one function.

use std::collections::BTreeMap;
use std::rc::Rc;

use ruff_python_ast::visitor::{Visitor, walk_expr, walk_stmt};
use ruff_python_ast::{
    BoolOp, Comprehension, ExceptHandler, Expr, InterpolatedStringElement, Operator, Stmt, StmtIf, UnaryOp,
};
use ruff_text_size::{Ranged, TextRange};

use twincell_syntax::Function;
use twincell_syntax::parse::{Lines, parse, with_stack_for};
use twincell_syntax::scopes::mangle;
use twincell_syntax::site::{Comparator, SiteKind, SiteTable, TELLING_CALLS};

use super::bound::Bound;
use super::{Condition, Conditions, Decided, MAX_DEPTH, Term};
use crate::reading::written::literal;
use crate::value::Recipe;

/// Reads the conditions of a function.
pub fn conditions(function: &Function, sites: &SiteTable) -> Conditions {
    with_stack_for(function.text.len(), || {
        let parsed = parse(&function.text);
        let lines = Lines::new(&function.text);
        let mut reader = Reader {
            lines: &lines,
            class_name: function.class_name.as_deref(),
            branches: numbered(sites.branches.iter().map(|branch| (branch.start, branch.end))),
            comparisons: numbered(sites.comparisons.iter().map(|comparison| (comparison.start, comparison.end))),
            calls: sites
                .sites
                .iter()
                .zip(0..)
                .filter(|(site, _)| site.kind == SiteKind::Call && TELLING_CALLS.contains(&site.identifier.as_str()))
                .map(|(site, number)| ((site.start, site.end), number))
                .collect(),
            bound: Bound::default(),
            found: Conditions::default(),
            depth: 0,
        };
        match parsed.suite().as_slice() {
            [Stmt::FunctionDef(definition)] => reader.block(&definition.body),
            body => reader.block(body),
        }
        reader.found
    })
}

fn numbered(ranges: impl Iterator<Item = (u32, u32)>) -> BTreeMap<(u32, u32), u32> {
    ranges.zip(0..).collect()
}

struct Reader<'a> {
    lines: &'a Lines<'a>,
    class_name: Option<&'a str>,
    /// Numbers by byte range.
    branches: BTreeMap<(u32, u32), u32>,
    comparisons: BTreeMap<(u32, u32), u32>,
    calls: BTreeMap<(u32, u32), u32>,
    /// The terms that locals stand for at this place.
    bound: Bound,
    found: Conditions,
    depth: u32,
}

fn range_of(node: &impl Ranged) -> (u32, u32) {
    let range: TextRange = node.range();
    (range.start().to_u32(), range.end().to_u32())
}

/// Whether control never leaves this block at its end.
fn leaves(body: &[Stmt]) -> bool {
    match body.last() {
        Some(Stmt::Return(_) | Stmt::Raise(_) | Stmt::Continue(_) | Stmt::Break(_)) => true,
        Some(Stmt::If(node)) => {
            let last = node.elif_else_clauses.last();
            last.is_some_and(|clause| clause.test.is_none())
                && leaves(&node.body)
                && node.elif_else_clauses.iter().all(|clause| leaves(&clause.body))
        }
        _ => false,
    }
}

impl Reader<'_> {
    /// The first and last line of some statements.
    fn span(&self, body: &[Stmt]) -> Option<(u32, u32)> {
        let (first, last) = (body.first()?, body.last()?);
        Some((self.lines.line(first.start()), self.lines.line(last.end())))
    }

    /// Reads statements one after the other.
    fn block(&mut self, body: &[Stmt]) {
        for (position, stmt) in body.iter().enumerate() {
            let rest = self.span(&body[position + 1..]);
            match stmt {
                Stmt::If(node) => self.branching(node, rest),
                Stmt::Assert(node) => {
                    let regions = [vec![], rest.into_iter().collect()];
                    self.decide(&node.test, regions);
                    self.visit_expr(&node.test);
                }
                Stmt::While(node) => {
                    let regions = [rest.into_iter().collect(), self.span(&node.body).into_iter().collect()];
                    self.decide(&node.test, regions);
                    self.visit_expr(&node.test);
                    self.block(&node.body);
                    self.block(&node.orelse);
                }
                _ => self.visit_stmt(stmt),
            }
        }
    }

    fn branching(&mut self, node: &StmtIf, rest: Option<(u32, u32)>) {
        let clauses = &node.elif_else_clauses;
        let mut tests = vec![(Some(node.test.as_ref()), node.body.as_slice())];
        tests.extend(clauses.iter().map(|clause| (clause.test.as_ref(), clause.body.as_slice())));
        for (position, (test, body)) in tests.iter().enumerate() {
            if let Some(test) = test {
                let mut otherwise: Vec<(u32, u32)> =
                    tests[position + 1..].iter().filter_map(|(_, body)| self.span(body)).collect();
                if leaves(body) {
                    otherwise.extend(rest);
                }
                let regions = [otherwise, self.span(body).into_iter().collect()];
                self.decide(test, regions);
                self.visit_expr(test);
            }
            self.block(body);
        }
    }

    fn decide(&mut self, test: &Expr, regions: [Vec<(u32, u32)>; 2]) {
        if let Some(&number) = self.branches.get(&range_of(test)) {
            let condition = self.condition(test);
            self.found.branches.insert(number, Decided { condition, line: self.lines.line(test.start()), regions });
        }
    }

    fn bind(&mut self, target: &Expr, term: Rc<Term>) {
        match target {
            Expr::Name(name) => {
                self.bound.insert(name.id.to_string(), term);
            }
            Expr::Tuple(_) | Expr::List(_) => {
                let elements = match target {
                    Expr::Tuple(tuple) => &tuple.elts,
                    Expr::List(list) => &list.elts,
                    _ => return,
                };
                let starred = elements.iter().position(Expr::is_starred_expr);
                for (position, element) in elements.iter().enumerate() {
                    let part = match term.as_ref() {
                        _ if starred.is_some_and(|starred| position >= starred) => Rc::new(Term::Unknown),
                        Term::Display(terms) if terms.len() == elements.len() => terms[position].clone(),
                        _ => Rc::new(Term::Part(term.clone(), position, elements.len())),
                    };
                    self.bind(element, part);
                }
            }
            Expr::Starred(starred) => self.bind(&starred.value, Rc::new(Term::Unknown)),
            _ => {}
        }
    }

    fn condition(&mut self, expr: &Expr) -> Condition {
        match expr {
            Expr::BoolOp(node) => {
                let parts = node.values.iter().map(|value| self.condition(value)).collect();
                if node.op == BoolOp::And { Condition::All(parts) } else { Condition::Any(parts) }
            }
            Expr::UnaryOp(node) if node.op == UnaryOp::Not => Condition::Not(Box::new(self.condition(&node.operand))),
            Expr::Named(node) => {
                let condition = self.condition(&node.value);
                let term = self.term(&node.value);
                self.bind(&node.target, term);
                condition
            }
            Expr::Compare(node) => {
                let number = self.comparisons.get(&range_of(node)).copied();
                let mut left = self.term(&node.left);
                let mut parts = Vec::new();
                for (op, right) in node.ops.iter().zip(&node.comparators) {
                    let right = self.term(right);
                    let comparator = Comparator::of(*op);
                    parts.push(Condition::Compare { number, comparator, left, right: right.clone() });
                    left = right;
                }
                if parts.len() == 1 { parts.remove(0) } else { Condition::All(parts) }
            }
            _ => {
                let site = self.calls.get(&range_of(expr)).copied();
                Condition::Truth { term: self.term(expr), site }
            }
        }
    }

    fn term(&mut self, expr: &Expr) -> Rc<Term> {
        if self.depth >= MAX_DEPTH {
            return Rc::new(Term::Unknown);
        }
        self.depth += 1;
        let term = self.read(expr);
        self.depth -= 1;
        term
    }

    fn terms(&mut self, exprs: &[Expr]) -> Vec<Rc<Term>> {
        exprs.iter().map(|expr| self.term(expr)).collect()
    }

    fn read(&mut self, expr: &Expr) -> Rc<Term> {
        if let Some(literal) = literal(expr) {
            return Rc::new(Term::Literal(literal));
        }
        Rc::new(match expr {
            Expr::Name(name) => match self.bound.get(name.id.as_str()) {
                Some(term) => return term.clone(),
                None => Term::Name(name.id.to_string()),
            },
            Expr::Attribute(node) => Term::Attribute(self.term(&node.value), mangle(&node.attr, self.class_name)),
            Expr::Subscript(node) => Term::Subscript(self.term(&node.value), self.term(&node.slice)),
            Expr::Call(node) => {
                let callee = self.term(&node.func);
                let mut arguments = self.terms(&node.arguments.args);
                for keyword in &node.arguments.keywords {
                    let argument = self.term(&keyword.value);
                    arguments.push(argument);
                }
                Term::Call(callee, arguments)
            }
            Expr::Await(node) => Term::Await(self.term(&node.value)),
            Expr::BinOp(node) => Term::Binary(self.term(&node.left), node.op, self.term(&node.right)),
            Expr::UnaryOp(node) if node.op == UnaryOp::USub => Term::Negative(self.term(&node.operand)),
            Expr::BoolOp(node) if node.op == BoolOp::Or => Term::First(self.terms(&node.values)),
            Expr::BoolOp(_) | Expr::Compare(_) | Expr::UnaryOp(_) => Term::Truth(Rc::new(self.condition(expr))),
            Expr::Named(node) => {
                let term = self.term(&node.value);
                self.bind(&node.target, term.clone());
                return term;
            }
            Expr::If(node) => {
                let condition = Rc::new(self.condition(&node.test));
                Term::Either(condition, self.term(&node.body), self.term(&node.orelse))
            }
            Expr::Tuple(node) => Term::Display(self.terms(&node.elts)),
            Expr::List(node) => Term::Display(self.terms(&node.elts)),
            Expr::Set(node) => Term::Display(self.terms(&node.elts)),
            Expr::ListComp(node) => self.comprehension(&node.elt, &node.generators),
            Expr::SetComp(node) => self.comprehension(&node.elt, &node.generators),
            Expr::Generator(node) => self.comprehension(&node.elt, &node.generators),
            Expr::FString(node) => {
                let mut sum: Option<Rc<Term>> = None;
                for element in node.value.elements() {
                    let part = match element {
                        InterpolatedStringElement::Literal(text) => {
                            Rc::new(Term::Literal(Recipe::Str(text.value.to_string())))
                        }
                        InterpolatedStringElement::Interpolation(part) if part.format_spec.is_none() => {
                            let value = self.term(&part.expression);
                            Rc::new(Term::Call(Rc::new(Term::Name("str".into())), vec![value]))
                        }
                        InterpolatedStringElement::Interpolation(_) => Rc::new(Term::Unknown),
                    };
                    sum = Some(match sum {
                        Some(sum) => Rc::new(Term::Binary(sum, Operator::Add, part)),
                        None => part,
                    });
                }
                return sum.unwrap_or_else(|| Rc::new(Term::Literal(Recipe::Str(String::new()))));
            }
            _ => Term::Unknown,
        })
    }

    /// A comprehension over one iterable. Its variables are bound while its parts are read.
    fn comprehension(&mut self, element: &Expr, generators: &[Comprehension]) -> Term {
        let [generator] = generators else { return Term::Unknown };
        let iterated = self.term(&generator.iter);
        let scope = self.bound.begin();
        self.bind(&generator.target, Rc::new(Term::Element(iterated.clone())));
        let conditions = generator.ifs.iter().map(|condition| self.condition(condition)).collect();
        let element = self.term(element);
        self.bound.end(scope);
        Term::Comprehension(element, conditions, iterated)
    }

    /// Reads a comprehension's own branches and comparisons.
    fn within(&mut self, generators: &[Comprehension], elements: &[&Expr]) {
        let scope = self.bound.begin();
        for generator in generators {
            self.visit_expr(&generator.iter);
            let iterated = self.term(&generator.iter);
            self.bind(&generator.target, Rc::new(Term::Element(iterated)));
            for condition in &generator.ifs {
                let line = elements.first().map(|element| self.lines.line(element.start()));
                let region = line.map(|line| (line, line)).into_iter().collect();
                self.decide(condition, [vec![], region]);
                self.visit_expr(condition);
            }
        }
        for element in elements {
            self.visit_expr(element);
        }
        self.bound.end(scope);
    }
}

impl<'a> Visitor<'a> for Reader<'_> {
    fn visit_annotation(&mut self, _: &'a Expr) {}

    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::Assign(node) => {
                self.visit_expr(&node.value);
                let term = self.term(&node.value);
                for target in &node.targets {
                    self.visit_expr(target);
                    self.bind(target, term.clone());
                }
            }
            Stmt::AnnAssign(node) => {
                if let Some(value) = &node.value {
                    self.visit_expr(value);
                    let term = self.term(value);
                    self.bind(&node.target, term);
                }
            }
            Stmt::AugAssign(node) => {
                self.visit_expr(&node.value);
                if node.target.is_name_expr() {
                    let term = Term::Binary(self.term(&node.target), node.op, self.term(&node.value));
                    self.bind(&node.target, Rc::new(term));
                }
            }
            Stmt::For(node) => {
                self.visit_expr(&node.iter);
                let iterated = self.term(&node.iter);
                self.bind(&node.target, Rc::new(Term::Element(iterated)));
                self.block(&node.body);
                self.block(&node.orelse);
            }
            Stmt::With(node) => {
                for item in &node.items {
                    self.visit_expr(&item.context_expr);
                    if let Some(target) = &item.optional_vars {
                        let term = self.term(&item.context_expr);
                        self.bind(target, term);
                    }
                }
                self.block(&node.body);
            }
            Stmt::Try(node) => {
                self.block(&node.body);
                for ExceptHandler::ExceptHandler(handler) in &node.handlers {
                    if let Some(name) = &handler.name {
                        self.bound.insert(name.to_string(), Rc::new(Term::Unknown));
                    }
                    self.block(&handler.body);
                }
                self.block(&node.orelse);
                self.block(&node.finalbody);
            }
            Stmt::FunctionDef(node) => {
                let scope = self.bound.begin();
                for parameter in &node.parameters {
                    self.bound.insert(parameter.name().to_string(), Rc::new(Term::Unknown));
                }
                self.block(&node.body);
                self.bound.end(scope);
                self.bound.insert(node.name.to_string(), Rc::new(Term::Unknown));
            }
            Stmt::If(_) | Stmt::While(_) | Stmt::Assert(_) => self.block(std::slice::from_ref(stmt)),
            Stmt::Match(node) => {
                self.visit_expr(&node.subject);
                for case in &node.cases {
                    if let Some(guard) = &case.guard {
                        let regions = [vec![], self.span(&case.body).into_iter().collect()];
                        self.decide(guard, regions);
                        self.visit_expr(guard);
                    }
                    self.block(&case.body);
                }
            }
            _ => walk_stmt(self, stmt),
        }
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Compare(node) => {
                if let Some(&number) = self.comparisons.get(&range_of(node)) {
                    let condition = self.condition(expr);
                    let line = self.lines.line(node.start());
                    self.found.comparisons.insert(number, (condition, line));
                }
                walk_expr(self, expr);
            }
            Expr::Call(_) => {
                if let Some(&site) = self.calls.get(&range_of(expr)) {
                    let term = self.term(expr);
                    self.found.calls.insert(site, (term, self.lines.line(expr.start())));
                }
                walk_expr(self, expr);
            }
            Expr::Named(node) => {
                self.visit_expr(&node.value);
                let term = self.term(&node.value);
                self.bind(&node.target, term);
            }
            Expr::If(node) => {
                self.decide(&node.test, [vec![], vec![]]);
                walk_expr(self, expr);
            }
            Expr::Lambda(node) => {
                let scope = self.bound.begin();
                for parameter in node.parameters.iter().flat_map(|parameters| parameters.iter()) {
                    self.bound.insert(parameter.name().to_string(), Rc::new(Term::Unknown));
                }
                self.visit_expr(&node.body);
                self.bound.end(scope);
            }
            Expr::ListComp(node) => self.within(&node.generators, &[&node.elt]),
            Expr::SetComp(node) => self.within(&node.generators, &[&node.elt]),
            Expr::Generator(node) => self.within(&node.generators, &[&node.elt]),
            Expr::DictComp(node) => match &node.key {
                Some(key) => self.within(&node.generators, &[key, &node.value]),
                None => self.within(&node.generators, &[&node.value]),
            },
            _ => walk_expr(self, expr),
        }
    }
}
