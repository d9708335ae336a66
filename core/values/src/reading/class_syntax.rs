//! The parts of a class definition: bases, names, fields.

use std::collections::BTreeMap;

use ruff_python_ast::{Expr, StmtClassDef};

use crate::value::Field;

/// The classes that a module defines, by name.
pub(super) type Nodes<'a> = BTreeMap<&'a str, &'a StmtClassDef>;

pub(super) fn bases(node: &StmtClassDef) -> impl Iterator<Item = &str> {
    node.bases().iter().filter_map(|base| match base {
        Expr::Subscript(node) => last_name(&node.value),
        other => last_name(other),
    })
}

pub(super) fn is_enumeration(base: &str) -> bool {
    matches!(base, "Enum" | "IntEnum" | "StrEnum" | "Flag" | "IntFlag")
}

pub(super) fn last_name(expr: &Expr) -> Option<&str> {
    match expr {
        Expr::Name(name) => Some(&name.id),
        Expr::Attribute(node) => Some(&node.attr),
        _ => None,
    }
}

pub(super) fn module(expr: &Expr) -> Option<&str> {
    match expr {
        Expr::Attribute(node) => last_name(&node.value),
        _ => None,
    }
}

/// Adds a field, in the place of an inherited one of this name.
pub(super) fn put(fields: &mut Vec<Field>, field: Field) {
    match fields.iter_mut().find(|known| known.name == field.name) {
        Some(known) => *known = field,
        None => fields.push(field),
    }
}
