//! Rows of SQLAlchemy: the columns that a declarative class maps. Its constructor takes them by name and needs no database.

use ruff_python_ast::{Expr, ExprCall, Stmt, StmtClassDef};

use super::annotations::{declared, plain};
use super::class_syntax::{Nodes, bases, last_name, put};
use super::facts::ModuleFacts;
use crate::value::{AbstractValue, Declared, Field};

/// The types of columns that are builtin classes of Python.
const TYPES: [(&str, &[&str]); 5] = [
    ("int", &["Integer", "SmallInteger", "BigInteger", "INTEGER", "BIGINT", "SMALLINT"]),
    ("str", &["String", "Text", "Unicode", "UnicodeText", "VARCHAR", "TEXT", "CHAR"]),
    ("bool", &["Boolean", "BOOLEAN"]),
    ("float", &["Float", "Double", "REAL", "FLOAT", "DOUBLE"]),
    ("bytes", &["LargeBinary", "BLOB"]),
];

/// Whether a class maps a table: it names one, as every declarative class does that has rows.
pub(super) fn has_table(node: &StmtClassDef) -> bool {
    node.body.iter().filter_map(Stmt::as_assign_stmt).any(
        |assign| matches!(assign.targets.as_slice(), [Expr::Name(name)] if matches!(name.id.as_str(), "__tablename__" | "__table__")),
    )
}

/// The columns of a class, after those of its bases. What relates rows to others is left to its default.
pub(super) fn columns(
    node: &StmtClassDef,
    nodes: &Nodes<'_>,
    known: &ModuleFacts,
    depth: u32,
    fields: &mut Vec<Field>,
) {
    for base in bases(node).filter_map(|base| nodes.get(base)).filter(|_| depth > 0) {
        columns(base, nodes, known, depth - 1, fields);
    }
    for field in node.body.iter().filter_map(|stmt| column(stmt, known)) {
        put(fields, field);
    }
}

fn column(stmt: &Stmt, known: &ModuleFacts) -> Option<Field> {
    let (target, annotation, value) = match stmt {
        Stmt::AnnAssign(node) => (node.target.as_ref(), Some(node.annotation.as_ref()), node.value.as_deref()),
        Stmt::Assign(node) => match node.targets.as_slice() {
            [target] => (target, None, Some(node.value.as_ref())),
            _ => return None,
        },
        _ => return None,
    };
    let Expr::Name(name) = target else { return None };
    let call = value.and_then(Expr::as_call_expr);
    let mapped = match annotation {
        Some(Expr::Subscript(node)) if last_name(&node.value) == Some("Mapped") => Some(node.slice.as_ref()),
        _ => None,
    };
    let is_column = call.map(|call| matches!(last_name(&call.func), Some("Column" | "mapped_column")));
    let is_left_out = call.is_some_and(|call| {
        let init = call.arguments.find_keyword("init").map(|keyword| &keyword.value);
        matches!(init, Some(Expr::BooleanLiteral(flag)) if !flag.value)
    });
    if !is_column.unwrap_or(mapped.is_some()) || is_left_out {
        return None;
    }
    let by_type = || call.and_then(|call| of_type(call, known));
    let declared = mapped.and_then(|inner| declared(inner, 0, known)).or_else(by_type);
    Some(Field { name: name.id.to_string(), has_default: declared.is_none(), declared })
}

/// The type of `Column(Integer, nullable=True)`.
fn of_type(call: &ExprCall, known: &ModuleFacts) -> Option<Declared> {
    let own = call.arguments.args.iter().find_map(|argument| {
        let written = match argument {
            Expr::Call(call) => call.func.as_ref(),
            other => other,
        };
        let name = last_name(written)?;
        let (class, _) = TYPES.iter().find(|(_, names)| names.contains(&name))?;
        plain(class, known)
    })?;
    let nullable = call.arguments.find_keyword("nullable").map(|keyword| &keyword.value);
    let may_lack = matches!(nullable, Some(Expr::BooleanLiteral(flag)) if flag.value);
    Some(if may_lack { own.or(&Declared::of(&[AbstractValue::None])) } else { own })
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROWS: &str = "\
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, relationship
class Base(DeclarativeBase):
    pass
class Named:
    name: Mapped[str]
class Order(Named, Base):
    __tablename__ = 'orders'
    id: Mapped[int] = mapped_column(primary_key=True)
    note: Mapped[str | None]
    paid = mapped_column(Boolean, default=False)
    code = Column(String(10), nullable=True)
    extra = Column(JSON)
    made: Mapped[int] = mapped_column(init=False)
    lines: Mapped[list['Line']] = relationship()
    limit = 3
class Plain(Base):
    id: Mapped[int]
";

    #[test]
    fn the_columns_of_a_row_are_its_fields() {
        use AbstractValue as A;
        let known = ModuleFacts::of(ROWS);
        let fields = &known.classes["Order"].models[0].fields;
        let found: Vec<(&str, Vec<A>)> = fields
            .iter()
            .map(|field| (field.name.as_str(), field.declared.clone().map(|own| own.classes).unwrap_or_default()))
            .collect();
        let expected = [
            ("name", vec![A::Str]),
            ("id", vec![A::Int]),
            ("note", vec![A::Str, A::None]),
            ("paid", vec![A::Bool]),
            ("code", vec![A::Str, A::None]),
            ("extra", vec![]),
        ];
        assert_eq!(found, expected);
    }
}
