//! `match`: patterns decide which case runs, and bind names.

use ruff_python_ast::{Pattern, StmtMatch};
use ruff_text_size::{Ranged, TextRange};

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
            self.pattern(&case.pattern, &mut reads);
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

    /// What a pattern reads besides the subject.
    fn pattern(&mut self, pattern: &'a Pattern, reads: &mut Vec<Place>) {
        match pattern {
            Pattern::MatchValue(node) => reads.extend(self.value(&node.value)),
            Pattern::MatchSequence(node) => {
                reads.extend(self.all_items());
                node.patterns.iter().for_each(|one| self.pattern(one, reads));
            }
            Pattern::MatchMapping(node) => {
                reads.extend(self.all_items());
                node.patterns.iter().for_each(|one| self.pattern(one, reads));
            }
            Pattern::MatchClass(node) => {
                reads.extend(self.value(&node.cls));
                if !node.arguments.patterns.is_empty() {
                    reads.push(self.shared(Shared::AnyAttribute));
                }
                node.arguments.patterns.iter().for_each(|one| self.pattern(one, reads));
                for keyword in &node.arguments.keywords {
                    let map = self.out.shared(Shared::Attribute(keyword.attr.as_str().into()));
                    self.out.escaped.insert(map);
                    reads.push(Place::Shared(map));
                    self.pattern(&keyword.pattern, reads);
                }
            }
            Pattern::MatchAs(node) => {
                if let Some(inner) = &node.pattern {
                    self.pattern(inner, reads);
                }
            }
            Pattern::MatchOr(node) => node.patterns.iter().for_each(|one| self.pattern(one, reads)),
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
