//! The types that annotations declare.

use ruff_python_ast::{Expr, ParameterWithDefault};

use super::class_syntax::last_name;
use super::facts::ModuleFacts;
use super::imported_names::last;
use super::tables::Kind;
use super::written::{literal, named};
use crate::value::{AbstractValue, Declared, Recipe, library};

/// The text of a type that nests deeper is ignored.
pub(super) const MAX_DEPTH: u32 = 6;

/// The type of an annotation, if all of its parts are understood: builtin classes, containers and unions of them,
/// literals.
pub(super) fn declared(expr: &Expr, depth: u32, known: &ModuleFacts) -> Option<Declared> {
    use AbstractValue as A;
    if depth > MAX_DEPTH {
        return None;
    }
    let one = |class: A| Some(Declared::of(&[class]));
    let boxed = |expr: &Expr| declared(expr, depth + 1, known).map(Box::new);
    match expr {
        Expr::NoneLiteral(_) => one(A::None),
        Expr::StringLiteral(text) => {
            let parsed = ruff_python_parser::parse_expression(text.value.to_str()).ok()?;
            declared(&parsed.into_syntax().body, depth + 1, known)
        }
        Expr::BinOp(node) if node.op == ruff_python_ast::Operator::BitOr => {
            Some(declared(&node.left, depth + 1, known)?.or(&declared(&node.right, depth + 1, known)?))
        }
        Expr::Subscript(node) => {
            let inner = match node.slice.as_ref() {
                Expr::Tuple(tuple) => tuple.elts.as_slice(),
                other => std::slice::from_ref(other),
            };
            match last_name(&node.value)? {
                "Optional" => Some(declared(inner.first()?, depth + 1, known)?.or(&Declared::of(&[A::None]))),
                "Union" => {
                    let parts: Option<Vec<Declared>> =
                        inner.iter().map(|part| declared(part, depth + 1, known)).collect();
                    parts?.into_iter().reduce(|a, b| a.or(&b))
                }
                "Annotated" | "Final" | "Required" | "NotRequired" => declared(inner.first()?, depth + 1, known),
                "Literal" => {
                    let literals = inner.iter().map(literal).collect::<Option<Vec<Recipe>>>()?;
                    let mut classes = Vec::new();
                    literals.iter().for_each(|value| add(&mut classes, value.abstract_value()));
                    Some(Declared { classes, literals, ..Declared::default() })
                }
                "tuple" | "Tuple" => match inner {
                    [item, Expr::EllipsisLiteral(_)] => {
                        Some(Declared { items: boxed(item), ..Declared::of(&[A::Tuple]) })
                    }
                    parts => {
                        let parts: Option<Vec<Declared>> =
                            parts.iter().map(|part| declared(part, depth + 1, known)).collect();
                        Some(Declared { parts: parts.unwrap_or_default(), ..Declared::of(&[A::Tuple]) })
                    }
                },
                outer => {
                    let of = plain(named(&node.value).as_deref().unwrap_or(outer), known)?;
                    let mut classes = of.library.iter();
                    let gives_items = !of.library.is_empty() && classes.all(|class| library::gives_items(class));
                    match (of.classes.first()?, inner) {
                        // What it gives comes first: `Generator[int, None, None]`.
                        (A::Object, [item, ..]) if gives_items => Some(Declared { items: boxed(item), ..of }),
                        (A::Object, _) if kind(&of) != Kind::Unknown => Some(of),
                        (A::Object, [key, value]) => Some(Declared { keys: boxed(key), items: boxed(value), ..of }),
                        (A::Object, [key]) if outer == "Counter" => {
                            let counts = Declared::of(&[A::Int]);
                            Some(Declared { keys: boxed(key), items: Some(Box::new(counts)), ..of })
                        }
                        (A::Object, [item]) => Some(Declared { items: boxed(item), ..of }),
                        (A::Dict, [key, value]) => Some(Declared { keys: boxed(key), items: boxed(value), ..of }),
                        (A::List | A::Set, [item]) => Some(Declared { items: boxed(item), ..of }),
                        _ => None,
                    }
                }
            }
        }
        other => plain(&named(other)?, known),
    }
}

/// The dotted name of the one class in an annotation, beside None.
pub(super) fn class_named(expr: &Expr, depth: u32) -> Option<String> {
    if depth > MAX_DEPTH {
        return None;
    }
    let either = |parts: &[Expr]| {
        let mut named = parts.iter().filter(|part| !part.is_none_literal_expr());
        let first = class_named(named.next()?, depth + 1);
        first.filter(|_| named.next().is_none())
    };
    match expr {
        Expr::StringLiteral(text) => {
            let parsed = ruff_python_parser::parse_expression(text.value.to_str()).ok()?;
            class_named(&parsed.into_syntax().body, depth + 1)
        }
        Expr::BinOp(node) => either(&[(*node.left).clone(), (*node.right).clone()]),
        Expr::Subscript(node) => match last_name(&node.value)? {
            "Optional" | "Final" => class_named(&node.slice, depth + 1),
            "Union" => either(&node.slice.as_tuple_expr()?.elts),
            "Annotated" => class_named(node.slice.as_tuple_expr()?.elts.first()?, depth + 1),
            _ => None,
        },
        other => named(other).filter(|name| last(name).trim_start_matches('_').starts_with(char::is_uppercase)),
    }
}

/// The type that the text of an annotation declares, if it consists of builtin classes alone.
pub fn annotated_type(annotation: &str) -> Option<Declared> {
    let parsed = ruff_python_parser::parse_expression(annotation).ok()?;
    declared(&parsed.into_syntax().body, 0, &ModuleFacts::default()).filter(|own| own.is_of_library(&|_| false))
}

/// The type of a parameter of a constructor: its annotation, or what its default tells.
pub(super) fn parameter_type(parameter: &ParameterWithDefault, known: &ModuleFacts) -> Option<Declared> {
    if let Some(annotation) = &parameter.parameter.annotation {
        return declared(annotation, 0, known);
    }
    let class = literal(parameter.default.as_deref()?)?.abstract_value();
    (class != AbstractValue::None).then(|| Declared::of(&[class]))
}

/// The class of a name, perhaps with its module: a builtin one, an abstract one for which builtin classes stand, one of the
/// module or one of a library.
pub(super) fn plain(dotted: &str, known: &ModuleFacts) -> Option<Declared> {
    use AbstractValue as A;
    Some(match last(dotted) {
        "str" => Declared::of(&[A::Str]),
        "int" => Declared::of(&[A::Int]),
        "bool" => Declared::of(&[A::Bool]),
        "float" => Declared::of(&[A::Float, A::Int]),
        "bytes" => Declared { bytes: true, ..Declared::of(&[A::Str]) },
        "list" | "List" => Declared::of(&[A::List]),
        "tuple" | "Tuple" => Declared::of(&[A::Tuple]),
        "dict" | "Dict" | "Mapping" | "MutableMapping" => Declared::of(&[A::Dict]),
        "set" | "Set" | "frozenset" | "FrozenSet" => Declared::of(&[A::Set]),
        "Sequence" | "Collection" => Declared::of(&[A::List, A::Tuple]),
        // Callers pass what gives its items once, too.
        "Iterable" => Declared {
            library: vec![library::class_named("Iterator")?.to_owned()],
            ..Declared::of(&[A::List, A::Tuple, A::Object])
        },
        name => match known.classes.get(name) {
            Some(class) => class.clone(),
            None => Declared { library: vec![known.library_class(dotted)?.to_owned()], ..Declared::of(&[A::Object]) },
        },
    })
}

/// What kind of table a type is.
pub(super) fn kind(declared: &Declared) -> Kind {
    let is = |class: &str| declared.library.iter().any(|own| own == class);
    if is(library::FRAME) {
        Kind::Frame
    } else if is(library::SERIES) {
        Kind::Series
    } else if is(library::ARRAY) {
        Kind::Array
    } else if is(library::POLARS_FRAME) {
        Kind::PolarsFrame
    } else if is(library::POLARS_LAZY) {
        Kind::PolarsLazy
    } else if is(library::POLARS_SERIES) {
        Kind::PolarsSeries
    } else if declared.items.as_deref().is_some_and(|items| kind(items) == Kind::Frame) {
        Kind::Frames
    } else {
        Kind::Unknown
    }
}

pub(super) fn add(classes: &mut Vec<AbstractValue>, class: AbstractValue) {
    if !classes.contains(&class) {
        classes.push(class);
    }
}
