//! The exact types that terms are known to have.

use std::collections::BTreeSet;

use crate::constant::Constant;

#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Type {
    /// No value: the items of an empty container.
    Never,
    Any,
    /// A variable that may be unbound, and otherwise holds anything.
    MaybeUnbound,
    /// Anything that an iterator of a class that is not known gave.
    Drawn,
    None,
    Bool,
    Int,
    Float,
    Text,
    Bytes,
    Tuple,
    List(Box<Type>),
    Dict(Box<Type>, Box<Type>),
    /// The content of a list or a tuple, of a dictionary.
    Items(Box<Type>),
    Entries(Box<Type>, Box<Type>),
    Range,
    /// A state of the heap, and whether containers hold what their types say.
    Heap(bool),
}

impl Type {
    pub fn of_constant(value: &Constant) -> Self {
        match value {
            Constant::None => Type::None,
            Constant::Bool(_) => Type::Bool,
            Constant::Int(_) | Constant::Big(_) => Type::Int,
            Constant::Float(_) => Type::Float,
            Constant::Text(_) => Type::Text,
            Constant::Bytes(_) => Type::Bytes,
            Constant::Ellipsis | Constant::Complex(_) => Type::Any,
        }
    }

    /// The least type that has the values of both.
    pub fn join(&self, other: &Type) -> Type {
        match (self, other) {
            _ if self == other => self.clone(),
            (Type::Never, one) | (one, Type::Never) => one.clone(),
            (Type::MaybeUnbound, _) | (_, Type::MaybeUnbound) => Type::MaybeUnbound,
            (Type::Items(a), Type::Items(b)) => Type::Items(Box::new(a.join(b))),
            (Type::List(a), Type::List(b)) => Type::List(Box::new(a.join(b))),
            (Type::Entries(a, c), Type::Entries(b, d)) => Type::Entries(Box::new(a.join(b)), Box::new(c.join(d))),
            (Type::Heap(a), Type::Heap(b)) => Type::Heap(*a && *b),
            _ => Type::Any,
        }
    }

    /// Whether comparing and hashing such values runs Python's own code only, and a value equals itself.
    pub fn is_plain(&self) -> bool {
        matches!(self, Type::Never | Type::None | Type::Bool | Type::Int | Type::Text | Type::Bytes)
    }

    /// Whether it is one class of values that is never `None`, a truth, or of a class of the user.
    pub fn is_exact(&self) -> bool {
        !matches!(self, Type::Any | Type::MaybeUnbound | Type::Drawn | Type::Never)
    }

    /// The types of containers in a type, itself included.
    pub fn containers(&self, found: &mut BTreeSet<Type>) {
        let inner: &[&Type] = match self {
            Type::List(item) => &[item],
            Type::Dict(key, value) => &[key, value],
            _ => return,
        };
        found.insert(self.clone());
        inner.iter().for_each(|class| class.containers(found));
    }

    /// Of an annotation such as `int` or `list[str]`.
    pub fn of_annotation(text: &str) -> Option<Type> {
        let text = text.trim();
        Some(match text {
            "int" => Type::Int,
            "bool" => Type::Bool,
            "str" => Type::Text,
            "float" => Type::Float,
            "None" => Type::None,
            "list" | "List" => Type::List(Box::new(Type::Any)),
            "dict" | "Dict" => Type::Dict(Box::new(Type::Any), Box::new(Type::Any)),
            _ => {
                let (head, rest) = text.split_once('[')?;
                let inner = rest.strip_suffix(']')?;
                match head.trim() {
                    "list" | "List" => Type::List(Box::new(Type::of_annotation(inner).unwrap_or(Type::Any))),
                    "dict" | "Dict" => {
                        let (key, value) = inner.split_once(',')?;
                        let [key, value] = [key, value].map(|one| Type::of_annotation(one).unwrap_or(Type::Any));
                        Type::Dict(Box::new(key), Box::new(value))
                    }
                    _ => return None,
                }
            }
        })
    }

    /// As an annotation says it.
    pub fn display(&self) -> String {
        match self {
            Type::None => "None".to_string(),
            Type::Bool => "bool".to_string(),
            Type::Int => "int".to_string(),
            Type::Float => "float".to_string(),
            Type::Text => "str".to_string(),
            Type::Bytes => "bytes".to_string(),
            Type::Tuple => "tuple".to_string(),
            Type::List(item) => match **item {
                Type::Any => "list".to_string(),
                ref item => format!("list[{}]", item.display()),
            },
            Type::Dict(key, value) => match (&**key, &**value) {
                (Type::Any, Type::Any) => "dict".to_string(),
                (key, value) => format!("dict[{}, {}]", key.display(), value.display()),
            },
            _ => "object".to_string(),
        }
    }
}
