//! Assignments: to names, attributes, elements, and to several of them at once.

use ruff_python_ast::{Expr, ExprAttribute};
use ruff_text_size::Ranged;

use super::versions::Part;
use super::{Lowering, hashing};
use crate::ids::NodeId;
use crate::module::{Binding, ContainerKind, Dotted, Key, Literal, ScopeKind, Step, SymbolKind, SymbolPlace, Target};

/// A value to assign: one, or those of a tuple that is written out.
pub(super) enum Assigned {
    Value(NodeId, Option<Dotted>),
    Parts(Vec<Assigned>),
}

impl Lowering {
    /// Evaluates the right side of an assignment.
    pub(super) fn assigned(&mut self, expr: &Expr, targets: &[Expr]) -> Assigned {
        let unpacks = targets.iter().any(|target| matches!(target, Expr::Tuple(_) | Expr::List(_)));
        match expr {
            Expr::Tuple(_) | Expr::List(_) if unpacks => {
                let parts = elements(expr);
                if parts.iter().any(|part| part.is_starred_expr()) {
                    return Assigned::Value(self.value(expr), None);
                }
                let inner: Vec<Expr> = targets.iter().flat_map(elements).cloned().collect();
                Assigned::Parts(parts.iter().map(|part| self.assigned(part, &inner)).collect())
            }
            _ => {
                let dotted = self.dotted(expr).filter(|_| !expr.is_subscript_expr());
                Assigned::Value(self.value(expr), dotted)
            }
        }
    }

    /// The value as one.
    pub(super) fn whole(&mut self, assigned: &Assigned) -> NodeId {
        match assigned {
            Assigned::Value(node, _) => *node,
            Assigned::Parts(parts) => {
                let kind = Literal::Container(ContainerKind::Tuple, Some(parts.len() as u32));
                let whole = self.new_value(kind);
                for (position, part) in parts.iter().enumerate() {
                    let from = self.whole(part);
                    let scope = self.here();
                    self.step(Step::StoreIndex { base: whole, key: Key::Number(position as i64), from, scope });
                }
                whole
            }
        }
    }

    pub(super) fn assign(&mut self, target: &Expr, assigned: &Assigned) {
        match (target, assigned) {
            (Expr::Tuple(_) | Expr::List(_), Assigned::Parts(parts)) => self.assign_parts(elements(target), parts),
            (Expr::Tuple(_) | Expr::List(_), Assigned::Value(base, _)) => self.unpack(elements(target), *base),
            (Expr::Name(name), _) => {
                let value = self.whole(assigned);
                let alias = match assigned {
                    Assigned::Value(_, alias) => alias.clone(),
                    Assigned::Parts(_) => None,
                };
                self.assign_name(&name.id, value, alias);
                self.refer_store(&name.id, target);
            }
            (Expr::Attribute(attribute), _) => {
                let value = self.whole(assigned);
                self.assign_attribute(attribute, value);
            }
            (Expr::Subscript(subscript), _) => {
                let value = self.whole(assigned);
                let base = self.value(&subscript.value);
                let key = self.key(&subscript.slice);
                let scope = self.here();
                self.step(Step::StoreIndex { base, key, from: value, scope });
                if let Some(frame) = self.frames.last_mut() {
                    match Part::of(key) {
                        Some(part) => frame.versions.assign_part(base, part, value),
                        None => frame.versions.forget_parts(),
                    }
                }
            }
            (Expr::Starred(starred), _) => self.assign(&starred.value, assigned),
            _ => {}
        }
    }

    fn refer_store(&mut self, name: &str, target: &Expr) {
        let name = self.mangled(name);
        self.refer(target.range(), Target::Name(name), true);
    }

    /// Binds a name to a value, of which it may be another name.
    pub(super) fn assign_name(&mut self, name: &str, value: NodeId, alias: Option<Dotted>) {
        let binding = match (self.variable_symbol(name), alias) {
            (Some(symbol), Some(alias)) => Binding::Alias(symbol, alias),
            (Some(symbol), None) => Binding::Symbol(symbol),
            (None, alias) => Binding::Local(alias),
        };
        self.write(name, value, binding);
    }

    /// The symbol of a name that is bound here, if it is that of a variable of the module or of a class.
    fn variable_symbol(&self, name: &str) -> Option<u32> {
        let frame = self.frames.get(self.frame_of(name))?;
        matches!(frame.kind, ScopeKind::Module | ScopeKind::Class)
            .then(|| self.module.symbol_of.get(format!("{}{name}", frame.prefix).as_str()).copied())
            .flatten()
    }

    /// Makes symbols of the names that a statement of the module or of a class assigns, and returns them.
    pub(super) fn declare(&mut self, target: &Expr, statement: &impl Ranged, hash: u64, into: &mut Vec<u32>) {
        match target {
            Expr::Name(name) => {
                let Some(frame) = self.frames.get(self.frame_of(&name.id)) else { return };
                if matches!(frame.kind, ScopeKind::Module | ScopeKind::Class) {
                    let qualname = format!("{}{}", frame.prefix, name.id);
                    let place = SymbolPlace { range: statement.range(), name: name.range };
                    let hash = hash.rotate_left(into.len() as u32);
                    into.push(self.symbol(qualname, SymbolKind::Variable, place, hash));
                }
            }
            Expr::Tuple(_) | Expr::List(_) => {
                elements(target).iter().for_each(|part| self.declare(part, statement, hash, into));
            }
            Expr::Starred(starred) => self.declare(&starred.value, statement, hash, into),
            _ => {}
        }
    }

    fn assign_attribute(&mut self, attribute: &ExprAttribute, from: NodeId) {
        let base = self.value(&attribute.value);
        let name = self.mangled(&attribute.attr);
        self.refer(attribute.attr.range, Target::Attribute(base, name), true);
        self.step(Step::Store { base, name, from });
        if let Some(frame) = self.frames.last_mut() {
            frame.versions.assign_part(base, Part::Attribute(name), from);
        }
        let Expr::Name(object) = attribute.value.as_ref() else { return };
        let object = self.mangled(&object.id);
        let receiver = self.frames.iter().rev().find_map(|frame| frame.receiver);
        let Some((_, class)) = receiver.filter(|(receiver, _)| *receiver == object) else { return };
        let Some(class_name) = self.module.scope(class).map(|class| class.name.clone()) else { return };
        let place = SymbolPlace { range: attribute.range, name: attribute.attr.range };
        let around = std::mem::take(&mut self.around);
        let owner = self.module.scope(class).map_or(0, |class| class.owner);
        let qualname = format!("{class_name}.{}", attribute.attr);
        let is_known = self.module.symbol_of.get(qualname.as_str()).copied();
        let is_field = is_known.is_none_or(|known| {
            self.module.symbols.get(known as usize).is_some_and(|symbol| symbol.kind == SymbolKind::Field)
        });
        if is_field {
            let field = self.symbol(qualname, SymbolKind::Field, place, 0);
            let method = self.owner;
            self.module.bound_with.push((field, method));
            if let Some(symbol) = self.module.symbols.get_mut(field as usize) {
                symbol.parent = owner;
            }
            if let Some(class) = self.scope_mut(class)
                && !class.fields.contains(&(name, field))
            {
                class.fields.push((name, field));
            }
        }
        self.around = around;
    }

    fn assign_parts(&mut self, targets: &[Expr], parts: &[Assigned]) {
        let star = targets.iter().position(|target| target.is_starred_expr());
        let after = star.map_or(0, |star| targets.len() - star - 1);
        for (position, target) in targets.iter().enumerate() {
            match star {
                Some(star) if position == star => {
                    let middle = parts.get(star..parts.len().saturating_sub(after)).unwrap_or_default();
                    let list = self.new_value(Literal::Container(ContainerKind::List, Some(middle.len() as u32)));
                    for (at, part) in middle.iter().enumerate() {
                        let from = self.whole(part);
                        let scope = self.here();
                        self.step(Step::StoreIndex { base: list, key: Key::Number(at as i64), from, scope });
                    }
                    self.assign(target, &Assigned::Value(list, None));
                }
                Some(star) if position > star => {
                    let at = (parts.len() + position).checked_sub(targets.len());
                    if let Some(part) = at.and_then(|at| parts.get(at)) {
                        self.assign(target, part);
                    }
                }
                _ => {
                    if let Some(part) = parts.get(position) {
                        self.assign(target, part);
                    }
                }
            }
        }
    }

    /// Assigns the elements of a value that is not written out.
    fn unpack(&mut self, targets: &[Expr], base: NodeId) {
        let star = targets.iter().position(|target| target.is_starred_expr());
        for (position, target) in targets.iter().enumerate() {
            let to = self.node();
            let scope = self.here();
            match star {
                Some(star) if position == star => {
                    let list = self.new_value(Literal::Container(ContainerKind::List, None));
                    self.step(Step::Spread { base, to: list, scope });
                    self.assign(target, &Assigned::Value(list, None));
                    continue;
                }
                Some(star) if position > star => {
                    let key = Key::Number(position as i64 - targets.len() as i64);
                    self.step(Step::Index { base, key, to, scope });
                }
                _ => self.step(Step::Index { base, key: Key::Number(position as i64), to, scope }),
            }
            self.assign(target, &Assigned::Value(to, None));
        }
    }

    /// The hash of the value of an assignment.
    pub(super) fn hash_of(expr: Option<&Expr>) -> u64 {
        expr.map_or(0, hashing::of_expression)
    }
}

fn elements(expr: &Expr) -> &[Expr] {
    match expr {
        Expr::Tuple(tuple) => &tuple.elts,
        Expr::List(list) => &list.elts,
        _ => &[],
    }
}
