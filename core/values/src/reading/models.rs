//! The classes of a module whose values can be made as callers make them: those that declare what they hold (dataclasses,
//! named tuples, models of pydantic and attrs, rows of SQLAlchemy), enumerations, and those with a constructor of their own
//! (`constructors.rs`).

use ruff_python_ast::{Expr, Stmt, StmtClassDef};

use twincell_syntax::parse::{parse, with_stack_for};

use super::annotations::declared;
use super::class_syntax::{Nodes, bases, is_enumeration, last_name, module, put};
use super::constructors;
use super::facts::{Classes, ModuleFacts};
use super::mapped;
use super::provided::{Provided, give};
use crate::value::{AbstractValue, Declared, Field, Model, Recipe};

/// The number of classes that are read, the number of types in one, and how deep its fields may nest.
const MOST: usize = 200;
const MOST_TYPES: usize = 80;
const MAX_DEPTH: u32 = 3;

/// The classes of a module, beside those that it imports. Those of another module than the one under comparison are
/// named with it: `shop.models:Item`.
pub(super) fn classes(text: &str, module: Option<&str>, mut imported: Classes, provided: &Provided) -> Classes {
    give(&mut imported, provided);
    if !text.contains("class ") {
        return imported;
    }
    with_stack_for(text.len(), || {
        let parsed = parse(text);
        let nodes: Nodes<'_> = parsed
            .suite()
            .iter()
            .filter_map(|stmt| stmt.as_class_def_stmt())
            .map(|node| (node.name.as_str(), node))
            .take(MOST)
            .collect();
        // Each round knows the classes of the one before, so that fields may hold them.
        let mut known = ModuleFacts { classes: imported.clone(), ..ModuleFacts::default() };
        for _ in 0..MAX_DEPTH {
            let own = nodes
                .iter()
                .filter_map(|(name, node)| Some(((*name).to_owned(), class(node, &nodes, module, &known)?)));
            let own = own.filter(|(_, class)| class.count() <= MOST_TYPES);
            let mut classes: Classes = imported.clone().into_iter().chain(own).collect();
            give(&mut classes, provided);
            let is_done = classes == known.classes;
            known.classes = classes;
            if is_done {
                break;
            }
        }
        known.classes
    })
}

/// The values of a class.
fn class(node: &StmtClassDef, nodes: &Nodes<'_>, module: Option<&str>, known: &ModuleFacts) -> Option<Declared> {
    let named = |name: &str| module.map_or_else(|| name.to_owned(), |module| format!("{module}:{name}"));
    if bases(node).any(is_enumeration) {
        let members = node.body.iter().filter_map(member).map(|name| format!("{}.{name}", node.name));
        let members: Vec<Recipe> = members.map(|name| Recipe::Named(named(&name))).collect();
        let of_object = Declared::of(&[AbstractValue::Object]);
        return (!members.is_empty()).then_some(Declared { literals: members, is_closed: true, ..of_object });
    }
    if constructors::is_abstract(node, nodes) {
        let heirs = nodes.iter().filter(|(_, heir)| bases(heir).any(|base| base == node.name.as_str()));
        return heirs.filter_map(|(name, _)| known.classes.get(*name)).cloned().reduce(|one, other| one.or(&other));
    }
    let made = |fields, is_mapping| {
        let class = if is_mapping { AbstractValue::Dict } else { AbstractValue::Object };
        let members = constructors::members(node, nodes);
        let is_of_other = module.is_some();
        let models = vec![Model { class: named(&node.name), fields, members, is_mapping, is_of_other }];
        Declared { models, ..Declared::of(&[class]) }
    };
    let Some(own) = Writer::of(node, nodes, MAX_DEPTH) else {
        return Some(made(constructors::fields(node, nodes, known)?, false));
    };
    let mut fields: Vec<Field> = Vec::new();
    match own {
        Writer::Mapped => mapped::columns(node, nodes, known, MAX_DEPTH, &mut fields),
        own => collect(node, nodes, own, known, MAX_DEPTH, &mut fields)?,
    }
    // A table that is defined elsewhere does not show its columns.
    if own == Writer::Mapped && fields.is_empty() {
        return None;
    }
    // Such a model refuses what it does not declare.
    if own == Writer::Pydantic && fields.iter().any(|field| field.declared.is_none() && !field.has_default) {
        return None;
    }
    Some(made(fields, own == Writer::TypedDict))
}

/// Whether a class is an enumeration or has a constructor that is written from its fields.
pub(super) fn declares_fields(node: &StmtClassDef, nodes: &Nodes<'_>) -> bool {
    bases(node).any(is_enumeration) || Writer::of(node, nodes, MAX_DEPTH).is_some()
}

/// What writes the constructor of a class.
#[derive(Clone, Copy, PartialEq)]
enum Writer {
    Dataclass,
    NamedTuple,
    Attrs,
    Pydantic,
    TypedDict,
    /// SQLAlchemy, from mapped columns.
    Mapped,
}

impl Writer {
    fn of(node: &StmtClassDef, nodes: &Nodes<'_>, depth: u32) -> Option<Self> {
        let by_decorator = node.decorator_list.iter().find_map(|decorator| {
            let written = match &decorator.expression {
                Expr::Call(call) => call.func.as_ref(),
                other => other,
            };
            match (module(written), last_name(written)?) {
                (_, "dataclass") => Some(Writer::Dataclass),
                (Some("attrs" | "attr") | None, "define" | "frozen" | "mutable") => Some(Writer::Attrs),
                _ => None,
            }
        });
        let by_base = || {
            bases(node).find_map(|base| match base {
                "BaseModel" => Some(Writer::Pydantic),
                "NamedTuple" => Some(Writer::NamedTuple),
                "TypedDict" => Some(Writer::TypedDict),
                other => nodes.get(other).filter(|_| depth > 0).and_then(|base| Writer::of(base, nodes, depth - 1)),
            })
        };
        let writes_itself = node.body.iter().any(
            |stmt| matches!(stmt, Stmt::FunctionDef(method) if matches!(method.name.as_str(), "__init__" | "__new__")),
        );
        let by_table = || mapped::has_table(node).then_some(Writer::Mapped);
        by_decorator.or_else(by_table).or_else(by_base).filter(|_| !writes_itself)
    }
}

/// The fields of a class, after those of its bases.
fn collect(
    node: &StmtClassDef,
    nodes: &Nodes<'_>,
    writer: Writer,
    known: &ModuleFacts,
    depth: u32,
    fields: &mut Vec<Field>,
) -> Option<()> {
    for base in bases(node) {
        match nodes.get(base) {
            Some(base) if depth > 0 => collect(base, nodes, writer, known, depth - 1, fields)?,
            None if matches!(
                base,
                "BaseModel" | "NamedTuple" | "TypedDict" | "object" | "Generic" | "Protocol" | "ABC"
            ) => {}
            None => match known.classes.get(base).map(|base| base.models.as_slice()) {
                Some([base]) => base.fields.iter().cloned().for_each(|field| put(fields, field)),
                // What another class asks for is not known.
                _ => return None,
            },
            Some(_) => return None,
        }
    }
    for stmt in node.body.iter().filter_map(|stmt| stmt.as_ann_assign_stmt()) {
        let Expr::Name(name) = stmt.target.as_ref() else { continue };
        if is_of_class(&stmt.annotation) {
            continue;
        }
        let value = stmt.value.as_deref();
        let keyword = |name: &str| match value {
            Some(Expr::Call(call)) => call.arguments.find_keyword(name).map(|keyword| &keyword.value),
            _ => None,
        };
        if matches!(keyword("init"), Some(Expr::BooleanLiteral(flag)) if !flag.value) {
            continue;
        }
        let is_field = matches!(value, Some(Expr::Call(call))
            if matches!(last_name(&call.func), Some("field" | "Field" | "ib" | "attrib")));
        let names = ["default", "default_factory", "factory"];
        let has_default = match value {
            None => is_partial(node) || is_not_required(&stmt.annotation),
            Some(Expr::Call(call)) if is_field => {
                let first = call.arguments.args.first().filter(|first| !first.is_ellipsis_literal_expr());
                names.iter().any(|name| keyword(name).is_some()) || writer == Writer::Pydantic && first.is_some()
            }
            Some(_) => true,
        };
        let name = if writer == Writer::Attrs { name.id.trim_start_matches('_') } else { name.id.as_str() };
        let declared = declared(&stmt.annotation, 0, known);
        put(fields, Field { name: name.to_owned(), declared, has_default });
    }
    Some(())
}

/// The name of a member of an enumeration: `NAME = value`.
fn member(stmt: &Stmt) -> Option<&str> {
    let assign = stmt.as_assign_stmt()?;
    let [Expr::Name(name)] = assign.targets.as_slice() else { return None };
    (!name.id.starts_with('_')).then_some(name.id.as_str())
}

/// `class Row(TypedDict, total=False)`.
fn is_partial(node: &StmtClassDef) -> bool {
    let total = node.arguments.as_ref().and_then(|arguments| arguments.find_keyword("total"));
    total.is_some_and(|total| matches!(&total.value, Expr::BooleanLiteral(flag) if !flag.value))
}

fn is_not_required(annotation: &Expr) -> bool {
    matches!(annotation, Expr::Subscript(node) if last_name(&node.value) == Some("NotRequired"))
}

/// Whether an annotation says that the class itself has the attribute.
fn is_of_class(annotation: &Expr) -> bool {
    match annotation {
        Expr::Subscript(node) => last_name(&node.value) == Some("ClassVar"),
        other => last_name(other) == Some("ClassVar"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODULE: &str = "\
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple
import attrs
from enum import Enum
from pydantic import BaseModel

class Color(Enum):
    RED = 1
    BLUE = 2

@dataclass
class Item:
    name: str
    color: Color
    kind: ClassVar[str] = 'item'
    tags: list[str] = field(default_factory=list)
    seen: bool = field(init=False, default=False)

@dataclass(frozen=True)
class Cart:
    items: list[Item]

@dataclass
class Own:
    name: str
    def __init__(self, other): ...

class Point(NamedTuple):
    x: int
    y: int = 0

@attrs.define
class Account:
    _owner: str
    limit: int = attrs.field(factory=int)

class User(BaseModel):
    name: str
    other: Unknown

class Plain:
    name: str

class Row(TypedDict):
    name: str
    note: NotRequired[str]
";

    #[test]
    fn classes_with_declared_fields_are_made_from_them() {
        let known = ModuleFacts::of(MODULE);
        let fields = |class: &str| {
            let model = known.classes[class].models[0].clone();
            model.fields.into_iter().map(|field| (field.name, field.has_default)).collect::<Vec<_>>()
        };
        let named = |names: &[(&str, bool)]| {
            names.iter().map(|(name, default)| ((*name).to_owned(), *default)).collect::<Vec<_>>()
        };
        assert_eq!(fields("Item"), named(&[("name", false), ("color", false), ("tags", true)]));
        assert_eq!(fields("Point"), named(&[("x", false), ("y", true)]));
        assert_eq!(fields("Account"), named(&[("owner", false), ("limit", true)]));
        assert_eq!(fields("Row"), named(&[("name", false), ("note", true)]));
        assert!(known.classes["Row"].models[0].is_mapping);
        for other in ["Own", "User", "Plain"] {
            assert!(!known.classes.contains_key(other), "{other}");
        }
    }

    #[test]
    fn fields_may_hold_values_of_other_classes() {
        let known = ModuleFacts::of(MODULE);
        let items = known.classes["Cart"].models[0].fields[0].declared.clone().and_then(|own| own.items).unwrap();
        let color = items.models[0].fields[1].declared.clone().unwrap();
        assert_eq!(color.literals, ["Color.RED", "Color.BLUE"].map(|name| Recipe::Named(name.into())));
    }
}
