//! `match`: patterns decide which case runs, and bind names.

use std::collections::BTreeSet;
use std::sync::Arc;

use ruff_python_ast::{Expr, Pattern, StmtMatch};
use ruff_text_size::{Ranged, TextRange};
use twincell_semantic::{Value, fields};

use super::draft::{Builder, Place};
use crate::program::Shared;

impl<'a> Builder<'_, 'a> {
    pub fn match_statement(&mut self, node: &'a StmtMatch) {
        let head = TextRange::new(node.start(), node.subject.end());
        self.begin(head, "match", &[node.subject.range()]);
        let reads = self.value(&node.subject);
        let subject = self.temporary();
        self.failing_step(node.subject.range(), "subject", reads, vec![subject]);
        let mut ends = Vec::new();
        for case in &node.cases {
            let end = case.guard.as_ref().map_or(case.pattern.end(), |guard| guard.end());
            self.begin(TextRange::new(case.start(), end), "case", &[TextRange::new(case.pattern.start(), end)]);
            let mut reads = vec![subject];
            self.pattern(&case.pattern, Some(&node.subject), &mut reads);
            let branch = self.step(case.pattern.range(), "case", reads.clone(), Vec::new());
            let writes: Vec<Place> =
                names_of(&case.pattern).into_iter().flat_map(|name| self.write_name(name)).collect();
            if !writes.is_empty() {
                self.step(case.pattern.range(), "captured", reads, writes);
            }
            let mut next = if case.pattern.is_irrefutable() { Vec::new() } else { Self::side(branch, 1) };
            if let Some(guard) = &case.guard {
                let reads = self.test(guard);
                let branch = self.failing_step(guard.range(), "guard", reads, Vec::new());
                next.extend(Self::side(branch, 1));
            }
            self.body(&case.body);
            ends.append(&mut self.frontier);
            self.frontier = next;
        }
        self.frontier.extend(ends);
    }

    /// The attributes that positional patterns of a class may read: those that classes name, and fields.
    fn positional_attributes(&self, class: &Expr) -> BTreeSet<Arc<str>> {
        let mut names = self.world.declared.match_args.clone();
        names.insert("__match_args__".into());
        for value in self.world.values(self.module, class.range()) {
            if let Value::Class(class) = value {
                let fields = fields(self.world.project, *class).into_iter();
                names.extend(fields.filter_map(|field| Some(Arc::from(self.world.project.symbol(field)?.name()))));
            }
        }
        names
    }

    /// A pattern reads an attribute of what it is tried on.
    fn attribute_of_subject(&mut self, class: &Expr, name: &Arc<str>, range: TextRange, reads: &mut Vec<Place>) {
        let map = self.out.shared(Shared::Attribute(name.clone()));
        self.out.escaped.insert(map);
        reads.push(Place::Shared(map));
        let mut getters = self.world.declared.properties.get(name).cloned().unwrap_or_default();
        getters.extend(self.asked_by_class(class, name));
        if !getters.is_empty() {
            let given = std::mem::take(reads);
            *reads = self.call_any(range, "property", &getters, given);
        }
    }

    /// Methods that a pattern runs: those of what it is tried on, if that is the subject itself, and of a value in the pattern.
    fn tried(&mut self, range: TextRange, operands: [Option<&'a Expr>; 2], names: &[&str], reads: &mut Vec<Place>) {
        let given = std::mem::take(reads);
        *reads = match operands[0] {
            None => self.operation(range, names, given),
            Some(_) => self.operation_on(&operands.into_iter().flatten().collect::<Vec<_>>(), range, names, given),
        };
    }

    /// What a pattern reads besides the subject.
    fn pattern(&mut self, pattern: &'a Pattern, subject: Option<&'a Expr>, reads: &mut Vec<Place>) {
        match pattern {
            Pattern::MatchValue(node) => {
                reads.extend(self.value(&node.value));
                self.tried(node.range, [subject, Some(&node.value)], &["__eq__"], reads);
            }
            Pattern::MatchSequence(node) => {
                reads.extend(self.all_items());
                self.tried(node.range, [subject, None], &["__len__", "__getitem__"], reads);
                node.patterns.iter().for_each(|one| self.pattern(one, None, reads));
            }
            Pattern::MatchMapping(node) => {
                reads.extend(self.all_items());
                node.keys.iter().for_each(|key| reads.extend(self.value(key)));
                self.tried(node.range, [subject, None], &["get", "keys", "__getitem__", "__len__"], reads);
                node.patterns.iter().for_each(|one| self.pattern(one, None, reads));
            }
            Pattern::MatchClass(node) => {
                reads.extend(self.value(&node.cls));
                if !node.arguments.patterns.is_empty() {
                    reads.push(self.shared(Shared::AnyAttribute));
                    for name in self.positional_attributes(&node.cls) {
                        self.attribute_of_subject(&node.cls, &name, node.range, reads);
                    }
                }
                node.arguments.patterns.iter().for_each(|one| self.pattern(one, None, reads));
                for keyword in &node.arguments.keywords {
                    self.attribute_of_subject(&node.cls, &keyword.attr.as_str().into(), keyword.range, reads);
                    self.pattern(&keyword.pattern, None, reads);
                }
            }
            Pattern::MatchAs(node) => {
                if let Some(inner) = &node.pattern {
                    self.pattern(inner, subject, reads);
                }
            }
            Pattern::MatchOr(node) => node.patterns.iter().for_each(|one| self.pattern(one, subject, reads)),
            Pattern::MatchSingleton(_) | Pattern::MatchStar(_) => {}
        }
    }
}

/// The names that a pattern binds.
fn names_of(pattern: &Pattern) -> Vec<&str> {
    let mut names = Vec::new();
    let mut open = vec![pattern];
    while let Some(next) = open.pop() {
        match next {
            Pattern::MatchAs(node) => {
                names.extend(node.name.as_ref().map(|name| name.as_str()));
                open.extend(node.pattern.as_deref());
            }
            Pattern::MatchStar(node) => names.extend(node.name.as_ref().map(|name| name.as_str())),
            Pattern::MatchMapping(node) => {
                names.extend(node.rest.as_ref().map(|name| name.as_str()));
                open.extend(&node.patterns);
            }
            Pattern::MatchSequence(node) => open.extend(&node.patterns),
            Pattern::MatchOr(node) => open.extend(&node.patterns),
            Pattern::MatchClass(node) => {
                open.extend(&node.arguments.patterns);
                open.extend(node.arguments.keywords.iter().map(|one| &one.pattern));
            }
            Pattern::MatchValue(_) | Pattern::MatchSingleton(_) => {}
        }
    }
    names
}
