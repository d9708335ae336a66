//! `match`: what its patterns bind.

use ruff_python_ast::{Pattern, StmtMatch};

use super::{Lowering, hashing};
use crate::ids::NodeId;
use crate::module::{ContainerKind, Key, Literal, Step};

impl Lowering {
    pub(super) fn match_statement(&mut self, node: &StmtMatch) {
        let subject = self.value(&node.subject);
        let before = self.moment();
        let mut ends = Vec::new();
        self.around.push(hashing::of_expression(&node.subject));
        for case in &node.cases {
            self.return_to(&before);
            self.pattern(&case.pattern, subject);
            if let Some(guard) = &case.guard {
                self.value(guard);
            }
            self.body(&case.body);
            ends.push(self.moment());
        }
        self.around.pop();
        ends.push(before);
        self.join(ends);
    }

    fn pattern(&mut self, pattern: &Pattern, subject: NodeId) {
        let scope = self.here();
        match pattern {
            Pattern::MatchValue(pattern) => {
                self.value(&pattern.value);
            }
            Pattern::MatchSingleton(_) => {}
            Pattern::MatchSequence(pattern) => {
                for (position, part) in pattern.patterns.iter().enumerate() {
                    let to = self.node();
                    self.step(Step::Index { base: subject, key: Key::Number(position as i64), to, scope });
                    self.pattern(part, to);
                }
            }
            Pattern::MatchMapping(pattern) => {
                for (key, part) in pattern.keys.iter().zip(&pattern.patterns) {
                    let key = self.key(key);
                    let to = self.node();
                    self.step(Step::Index { base: subject, key, to, scope });
                    self.pattern(part, to);
                }
                if let Some(rest) = &pattern.rest {
                    let value = self.new_value(Literal::Container(ContainerKind::Dict, None));
                    self.step(Step::Spread { base: subject, to: value, scope });
                    self.assign_name(rest.as_str(), value, None);
                }
            }
            Pattern::MatchClass(pattern) => {
                let class = self.value(&pattern.cls);
                let matched = self.node();
                self.step(Step::Annotated { class, to: matched, is_whole: false });
                for part in &pattern.arguments.patterns {
                    let to = self.node();
                    self.pattern(part, to);
                }
                for keyword in &pattern.arguments.keywords {
                    let to = self.node();
                    let name = self.mangled(keyword.attr.as_str());
                    self.step(Step::Load { base: matched, name, to, scope });
                    self.pattern(&keyword.pattern, to);
                }
            }
            Pattern::MatchStar(pattern) => {
                if let Some(name) = &pattern.name {
                    let value = self.new_value(Literal::Container(ContainerKind::List, None));
                    self.step(Step::Spread { base: subject, to: value, scope });
                    self.assign_name(name.as_str(), value, None);
                }
            }
            Pattern::MatchAs(pattern) => {
                if let Some(inner) = &pattern.pattern {
                    self.pattern(inner, subject);
                }
                if let Some(name) = &pattern.name {
                    self.assign_name(name.as_str(), subject, None);
                }
            }
            Pattern::MatchOr(pattern) => pattern.patterns.iter().for_each(|part| self.pattern(part, subject)),
        }
    }
}
