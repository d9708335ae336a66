//! Statements of other tests of the module, where all that they name is there: sequences that people have written.

use std::collections::BTreeSet;

use ruff_python_ast::visitor::source_order::{SourceOrderVisitor, walk_expr};
use ruff_python_ast::{Expr, Stmt};
use ruff_text_size::Ranged;
use twincell_syntax::global_names;
use twincell_syntax::parse::parse;
use twincell_syntax::python::is_builtin;
use twincell_syntax::scopes::Bindings;

use super::{Material, Mutation, Operator};
use crate::body::{fresh, last_name, names, stands_alone};
use crate::code::{Code, Edit, definition, indent, line_end};
use crate::strip::strip;
use crate::subject::{Subject, TestModule};

/// Places of these mutations are counted from here.
const FIRST: usize = 20_000;
/// The longest statement that is taken over, in bytes.
const MAX_STATEMENT: usize = 400;
/// How many statements of other tests are known, how many of them are tried, and behind how many statements of a test.
const MAX_DONORS: usize = 200;
const MAX_TRIED: usize = 30;
const MAX_PLACES: usize = 3;

/// A statement of another test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Donor {
    /// Its source, with the indentation of its first line taken away.
    text: String,
    /// The name that it binds and that nothing else is to have.
    binds: Option<String>,
    /// The names that it reads.
    reads: BTreeSet<String>,
    /// The names of the functions and methods that it calls.
    calls: BTreeSet<String>,
}

/// The statements with calls in the tests beside one: methods of its class, or functions. Those of the tests next to it come
/// first.
pub fn donors(module: &TestModule, of: &Subject) -> Vec<Donor> {
    let position = module.subjects.iter().position(|one| one == of).unwrap_or(0);
    let mut beside: Vec<(usize, &Subject)> = module.subjects.iter().enumerate().collect();
    beside.retain(|(at, one)| *at != position && one.classes == of.classes);
    beside.sort_by_key(|(at, _)| (at.abs_diff(position), *at));
    let mut found: Vec<Donor> = Vec::new();
    for (_, subject) in beside {
        for donor in statements(&strip(&subject.code)) {
            if found.len() < MAX_DONORS && found.iter().all(|one| one.text != donor.text) {
                found.push(donor);
            }
        }
    }
    found
}

fn statements(code: &Code) -> Vec<Donor> {
    let parsed = code.parse();
    let Some(function) = definition(&parsed) else { return vec![] };
    let own = function.body.iter().filter_map(|stmt| {
        let binds = match stmt {
            Stmt::Expr(_) => None,
            Stmt::Assign(assign) => match assign.targets.as_slice() {
                [Expr::Name(name)] => Some(name.id.to_string()),
                _ => return None,
            },
            _ => return None,
        };
        let calls = calls(stmt);
        if calls.is_empty() || stmt.range().len().to_usize() > MAX_STATEMENT || !stands_alone(code.text(), stmt.range())
        {
            return None;
        }
        let blanks = indent(code.text(), stmt.start().to_usize());
        let text = code.slice(stmt).replace(&format!("\n{blanks}"), "\n");
        let reads = global_names(&text).into_iter().filter(|name| !name.contains('.')).collect();
        Some(Donor { text, binds, reads, calls })
    });
    own.collect()
}

fn calls(stmt: &Stmt) -> BTreeSet<String> {
    struct Calls(BTreeSet<String>);
    impl<'a> SourceOrderVisitor<'a> for Calls {
        fn visit_expr(&mut self, expr: &'a Expr) {
            if let Expr::Call(call) = expr {
                self.0.extend(last_name(&call.func).map(str::to_owned));
            }
            walk_expr(self, expr);
        }
    }
    let mut calls = Calls(BTreeSet::new());
    calls.visit_stmt(stmt);
    calls.0
}

/// Puts each statement behind each of the test's, where what it reads is bound.
pub fn mutations(code: &Code, material: &Material, found: &mut Vec<Mutation>) {
    let parsed = code.parse();
    let Some(function) = definition(&parsed) else { return };
    let is_changed = |name: &String| {
        material.targets.iter().any(|target| target.function.is_changed && target.function.name == *name)
    };
    let own = calls_of_all(&function.body);
    let nearness = |donor: &Donor| match () {
        () if donor.calls.iter().any(is_changed) => 1,
        () if donor.calls.iter().any(|name| own.contains(name)) => 2,
        () => 3,
    };
    let mut donors: Vec<(u8, &Donor)> = material.donors.iter().map(|donor| (nearness(donor), donor)).collect();
    donors.sort_by_key(|(nearness, _)| *nearness);
    let mut bound: BTreeSet<String> = material.globals.clone();
    bound.extend(Bindings::of_function(&function.parameters, None, &[]).bound);
    let mut used = names(code);
    used.extend(bound.iter().cloned());
    let ends: Vec<&Stmt> = function.body.iter().filter(|stmt| stands_alone(code.text(), stmt.range())).collect();
    for (at, stmt) in ends.iter().enumerate() {
        bound.extend(Bindings::of_body(std::slice::from_ref(*stmt)).bound);
        let from_end = ends.len() - 1 - at;
        if from_end >= MAX_PLACES || stmt.is_return_stmt() || stmt.is_raise_stmt() {
            continue;
        }
        let is_there = |name: &String| bound.contains(name) || is_builtin(name);
        let usable = donors.iter().filter(|(_, donor)| donor.reads.iter().all(is_there));
        for (nearness, donor) in usable.take(MAX_TRIED) {
            let order = nearness + u8::from(from_end > 0);
            let blanks = indent(code.text(), stmt.start().to_usize());
            let text = match &donor.binds {
                Some(name) if used.contains(name) => {
                    let other = fresh(&mut used.clone(), name);
                    format!("{other}{}", donor.text.get(name.len()..).unwrap_or(""))
                }
                _ => donor.text.clone(),
            };
            let text = format!("{blanks}{}\n", text.replace('\n', &format!("\n{blanks}")));
            let edits = vec![Edit::insert(line_end(code.text(), stmt.end().to_usize()), text)];
            found.push(Mutation { operator: Operator::AddStatement, place: FIRST + at, order, edits, imports: vec![] });
        }
    }
}

fn calls_of_all(body: &[Stmt]) -> BTreeSet<String> {
    body.iter().flat_map(calls).collect()
}

/// The names that a module binds.
pub fn globals(module: &TestModule) -> BTreeSet<String> {
    Bindings::of_body(parse(&module.text).suite()).bound.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_of_other_tests_stand_where_their_names_are_bound() {
        let module = TestModule::new(
            "t.py",
            "from shop import Cart\nPEN = 'pen'\n\ndef test_a(cart):\n    cart.add(PEN)\n    n = cart.total()\n\n\
             def test_b(cart, other):\n    cart.add(PEN, 2)\n    assert cart.take(PEN) == 1\n    n = other.total()\n",
        );
        let subject = &module.subjects[0];
        let material = Material { donors: donors(&module, subject), globals: globals(&module), ..Material::default() };
        let mut found = Vec::new();
        mutations(&subject.code, &material, &mut found);
        let made: Vec<String> = found
            .into_iter()
            .filter_map(|mutation| Some(subject.code.edited(mutation.edits)?.lines().replace('\n', "|")))
            .collect();
        assert_eq!(
            made,
            [
                "def test_a(cart):|    cart.add(PEN)|    cart.add(PEN, 2)|    n = cart.total()|",
                "def test_a(cart):|    cart.add(PEN)|    result = cart.take(PEN)|    n = cart.total()|",
                "def test_a(cart):|    cart.add(PEN)|    n = cart.total()|    cart.add(PEN, 2)|",
                "def test_a(cart):|    cart.add(PEN)|    n = cart.total()|    result = cart.take(PEN)|",
            ]
        );
    }
}
