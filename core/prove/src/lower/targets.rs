//! What assigns, deletes and imports.

use ruff_python_ast::comparable::{ComparableParameters, ComparableStmt};
use ruff_python_ast::{Expr, Stmt};

use super::{Lowered, Lowering};
use crate::constant::Constant;
use crate::program::{Operation, Slot, Step};
use crate::result::Construct;

impl<'a> Lowering<'a> {
    pub(super) fn assign(&mut self, target: &'a Expr, value: Slot) -> Lowered<()> {
        match target {
            Expr::Name(name) => self.write_name(&name.id, value),
            Expr::Attribute(node) => {
                let object = self.value(&node.value)?;
                self.operate(Operation::SetAttribute(node.attr.to_string()), vec![object, value]);
            }
            Expr::Subscript(node) => {
                let object = self.value(&node.value)?;
                let key = self.value(&node.slice)?;
                self.operate(Operation::SetItem, vec![object, key, value]);
            }
            Expr::Tuple(node) => self.unpack(&node.elts, value)?,
            Expr::List(node) => self.unpack(&node.elts, value)?,
            Expr::Starred(node) => self.assign(&node.value, value)?,
            _ => return self.refuse(Construct::Unparsed),
        }
        Ok(())
    }

    fn unpack(&mut self, targets: &'a [Expr], value: Slot) -> Lowered<()> {
        let star = targets.iter().position(Expr::is_starred_expr);
        let operation = match star {
            None => Operation::Unpack(targets.len()),
            Some(before) => Operation::UnpackRest(before, targets.len() - before - 1),
        };
        let parts = self.operate(operation, vec![value]);
        // All parts are there before the first target is bound.
        let values: Vec<Slot> =
            (0..targets.len()).map(|index| self.operate(Operation::Part(index), vec![parts])).collect();
        for (target, value) in targets.iter().zip(values) {
            self.assign(target, value)?;
        }
        Ok(())
    }

    pub(super) fn write_name(&mut self, name: &str, value: Slot) {
        match self.local(name) {
            Some(slot) => self.step(Step::Move { to: slot, from: value }),
            None => {
                self.operate(Operation::SetGlobal(name.to_string()), vec![value]);
            }
        }
    }

    pub(super) fn augment(&mut self, target: &'a Expr, value: &'a Expr, operator: &'static str) -> Lowered<()> {
        let operation = Operation::InPlace(operator);
        match target {
            Expr::Name(name) => {
                let old = self.read_name(&name.id);
                let value = self.value(value)?;
                let result = self.operate(operation, vec![old, value]);
                self.write_name(&name.id, result);
            }
            Expr::Attribute(node) => {
                let object = self.value(&node.value)?;
                let old = self.operate(Operation::Attribute(node.attr.to_string()), vec![object]);
                let value = self.value(value)?;
                let result = self.operate(operation, vec![old, value]);
                self.operate(Operation::SetAttribute(node.attr.to_string()), vec![object, result]);
            }
            Expr::Subscript(node) => {
                let object = self.value(&node.value)?;
                let key = self.value(&node.slice)?;
                let old = self.operate(Operation::Item, vec![object, key]);
                let value = self.value(value)?;
                let result = self.operate(operation, vec![old, value]);
                self.operate(Operation::SetItem, vec![object, key, result]);
            }
            _ => return self.refuse(Construct::Unparsed),
        }
        Ok(())
    }

    pub(super) fn delete(&mut self, target: &'a Expr) -> Lowered<()> {
        match target {
            Expr::Name(name) => match self.local(&name.id) {
                Some(slot) => {
                    self.step(Step::Check(slot));
                    self.step(Step::Unbind(slot));
                }
                None => {
                    self.operate(Operation::DeleteGlobal(name.id.to_string()), Vec::new());
                }
            },
            Expr::Attribute(node) => {
                let object = self.value(&node.value)?;
                self.operate(Operation::DeleteAttribute(node.attr.to_string()), vec![object]);
            }
            Expr::Subscript(node) => {
                let object = self.value(&node.value)?;
                let key = self.value(&node.slice)?;
                self.operate(Operation::DeleteItem, vec![object, key]);
            }
            Expr::Tuple(node) => {
                for target in &node.elts {
                    self.delete(target)?;
                }
            }
            Expr::List(node) => {
                for target in &node.elts {
                    self.delete(target)?;
                }
            }
            _ => return self.refuse(Construct::Unparsed),
        }
        Ok(())
    }

    pub(super) fn import(&mut self, statement: &'a Stmt) -> Lowered<()> {
        match statement {
            Stmt::Import(node) => {
                for alias in &node.names {
                    let name = alias.name.as_str();
                    let first = name.split('.').next().unwrap_or_default();
                    // With `as`, the module itself is bound.
                    let bound = alias.asname.as_ref().map_or(first, |name| name.as_str());
                    let which = if alias.asname.is_some() { format!("{name} itself") } else { name.to_string() };
                    let module = self.operate(Operation::Import(which), Vec::new());
                    self.write_name(bound, module);
                }
            }
            Stmt::ImportFrom(node) => {
                let dots = ".".repeat(node.level as usize);
                let from = node.module.as_ref().map(|module| module.as_str()).unwrap_or_default();
                let names: Vec<&str> = node.names.iter().map(|alias| alias.name.as_str()).collect();
                if names.contains(&"*") {
                    return self.refuse(Construct::StarImport);
                }
                let module =
                    self.operate(Operation::Import(format!("{dots}{from} for {}", names.join(","))), Vec::new());
                for alias in &node.names {
                    let value = self.operate(Operation::ImportFrom(alias.name.to_string()), vec![module]);
                    self.write_name(alias.asname.as_ref().unwrap_or(&alias.name).as_str(), value);
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// A nested function becomes a closure that is bound to its name.
    pub(super) fn nested(&mut self, node: &'a ruff_python_ast::StmtFunctionDef) -> Lowered<()> {
        if !node.decorator_list.is_empty() {
            return self.refuse(Construct::Closure);
        }
        let body: Vec<ComparableStmt> = node.body.iter().map(ComparableStmt::from).collect();
        let parameters = ComparableParameters::from(&*node.parameters);
        let text = format!("{} {} {parameters:?} {body:?}", node.is_async, node.name);
        let value = self.closure(text, Some(&node.name), &node.parameters, |visitor| {
            use ruff_python_ast::visitor::source_order::SourceOrderVisitor;
            visitor.visit_body(&node.body);
        })?;
        self.write_name(&node.name, value);
        Ok(())
    }

    pub(super) fn none(&mut self) -> Slot {
        self.constant(Constant::None)
    }
}
