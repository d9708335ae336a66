//! Calls that leave nothing behind: they only make a value, so nobody but who names the value depends on them.

use rustc_hash::FxHashSet;

use super::graph::Node;
use super::meaning::Builder;
use super::names::NameId;
use super::text::{Unit, UnitKind};

/// How many calls are followed to see what a call leaves behind.
pub(super) const MAX_CALLS: u32 = 6;

impl Builder<'_> {
    /// Whether a call, and with `depth` a call of what it gives, only makes a value: it leaves nothing behind that others
    /// see. Calls of what is outside do, unless their name says that they register something.
    pub(super) fn is_quiet_call(&self, module: usize, chain: &Option<Vec<NameId>>, depth: usize, most: u32) -> bool {
        let Some(chain) = chain else { return false };
        if most == 0 {
            return false;
        }
        let last = chain.last().map(|name| self.names.text(*name).as_ref()).unwrap_or_default();
        if last.contains("register") {
            return false;
        }
        let root = self.meaning_of_root(module, chain[0]);
        if root.is_outside && !root.is_other && root.modules.is_empty() && root.classes.is_empty() {
            return true;
        }
        let Some(found) = self.defined(module, chain) else { return false };
        !found.is_empty() && found.into_iter().all(|node| self.is_quiet(node, depth, most - 1))
    }

    /// Whether a call of a function or class leaves nothing behind.
    pub(super) fn is_quiet(&self, node: Node, depth: usize, most: u32) -> bool {
        let Some((module, unit)) = self.graph.unit(node) else { return false };
        match unit.kind {
            UnitKind::Function | UnitKind::Method => {
                unit.decorators.is_empty()
                    && (0..=depth.min(1)).all(|depth| {
                        let calls = unit.calls.by_depth.get(depth);
                        calls.into_iter().flatten().all(|chain| {
                            self.is_own_quiet(node, unit, chain, most) || self.is_quiet_call(module, chain, 0, most)
                        })
                    })
            }
            UnitKind::Class => {
                let Some(facts) = self.graph.classes.get(&node) else { return false };
                if facts.is_read_whole || facts.runs_code || depth > 0 {
                    return false;
                }
                let members = self.graph.ancestors(node).into_iter();
                let members = members.flat_map(|class| &self.graph.classes[&class].members);
                members.into_iter().all(|(name, member)| match &**self.names.text(*name) {
                    "__init__" | "__new__" => self.is_quiet(*member, 0, most),
                    "__setattr__" | "__init_subclass__" | "__set_name__" => false,
                    _ => true,
                })
            }
            // What was made outside of things that leave nothing behind is outside as well.
            UnitKind::Variable => {
                let own = |name: &NameId| *name == unit.name;
                let names = unit.uses.names.iter().filter(|name| !own(name)).map(|name| vec![*name]);
                let called = unit.uses.callees.iter().flatten().filter(|chain| chain.len() == 1);
                let called: FxHashSet<NameId> = called.map(|chain| chain[0]).collect();
                let made = unit.uses.callees.iter().all(|chain| self.is_quiet_call(module, chain, 0, most));
                let mut given =
                    names.filter(|chain| !called.contains(&chain[0])).chain(unit.uses.chains.iter().cloned());
                made && !unit.uses.callees.is_empty()
                    && given.all(|chain| self.is_quiet_call(module, &Some(chain), 0, most))
            }
            _ => false,
        }
    }

    /// Whether a call is one of a method of the same object, which leaves nothing behind.
    pub(super) fn is_own_quiet(&self, node: Node, unit: &Unit, chain: &Option<Vec<NameId>>, most: u32) -> bool {
        let (Some(class), Some([root, name]), Some((module, _))) =
            (unit.class, chain.as_deref(), self.graph.unit(node))
        else {
            return false;
        };
        if most == 0 || unit.parameters.first() != Some(root) {
            return false;
        }
        let class = self.graph.modules[module].first + class;
        let classes = self.graph.ancestors(class);
        let members = classes.iter().flat_map(|class| &self.graph.classes[class].members);
        let mut found = members.filter(|(member, _)| member == name).peekable();
        match found.peek() {
            Some(_) => found.all(|(_, member)| self.is_quiet(*member, 0, most - 1)),
            None => self.graph.classes[&class].is_called_from_outside,
        }
    }

    /// Whether a decorator may note what it is given.
    pub(super) fn registers(&self, module: usize, unit: &Unit) -> bool {
        let mut decorators = unit.decorators.iter();
        decorators.any(|one| !self.is_quiet_call(module, &one.callee, usize::from(one.is_called), MAX_CALLS))
    }
}
