//! The terms that locals stand for at a place of the code. A scope within another sees what is bound around it, and what
//! it binds itself is forgotten at its end.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::Term;

/// What is bound, and how to forget it. A copy for each scope would take quadratic time for a class of many methods.
#[derive(Default)]
pub(super) struct Bound {
    terms: BTreeMap<String, Rc<Term>>,
    /// Each binding since the outermost open scope began, with what it replaced.
    replaced: Vec<(String, Option<Rc<Term>>)>,
    open: usize,
}

/// The place at which a scope began.
pub(super) struct Scope(usize);

impl Bound {
    pub fn get(&self, name: &str) -> Option<&Rc<Term>> {
        self.terms.get(name)
    }

    pub fn insert(&mut self, name: String, term: Rc<Term>) {
        let before = self.terms.insert(name.clone(), term);
        if self.open > 0 {
            self.replaced.push((name, before));
        }
    }

    pub fn begin(&mut self) -> Scope {
        self.open += 1;
        Scope(self.replaced.len())
    }

    pub fn end(&mut self, Scope(from): Scope) {
        self.open -= 1;
        for (name, before) in self.replaced.drain(from..).rev() {
            match before {
                Some(before) => self.terms.insert(name, before),
                None => self.terms.remove(&name),
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_scope_binds_is_forgotten_at_its_end() {
        let term = |name: &str| Rc::new(Term::Name(name.into()));
        let mut bound = Bound::default();
        bound.insert("x".into(), term("a"));
        let outer = bound.begin();
        bound.insert("x".into(), term("b"));
        let inner = bound.begin();
        bound.insert("x".into(), term("c"));
        bound.insert("y".into(), term("d"));
        assert!(bound.get("x") == Some(&term("c")) && bound.get("y").is_some());
        bound.end(inner);
        assert!(bound.get("x") == Some(&term("b")) && bound.get("y").is_none());
        bound.end(outer);
        bound.insert("z".into(), term("e"));
        assert!(bound.get("x") == Some(&term("a")) && bound.get("z").is_some() && bound.replaced.is_empty());
    }
}
