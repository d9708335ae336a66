//! Injected values as data: abstract values, recipes and decisions.
//!
//! Nothing here knows Python objects; the runtime turns a [`Recipe`] into one.

mod declared;
mod given;
pub mod library;
mod patterns;
mod provided;
pub mod shape;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use twincell_syntax::python::python_string;

pub use declared::{Declared, Field, Model};
pub use given::Given;
pub use patterns::matching;
pub use provided::{Makes, NOTEBOOK, Provided, Provider};
pub use shape::Shape;

/// The twelve classes of values (ChangeGuard, Table 1; LExecutor), by exact type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AbstractValue {
    None,
    Bool,
    Int,
    Float,
    Str,
    List,
    Tuple,
    Dict,
    Set,
    Callable,
    Resource,
    Object,
}

impl AbstractValue {
    pub const COUNT: usize = 12;
    /// In the order of the model's outputs.
    pub const ALL: [AbstractValue; Self::COUNT] = [
        AbstractValue::None,
        AbstractValue::Bool,
        AbstractValue::Int,
        AbstractValue::Float,
        AbstractValue::Str,
        AbstractValue::List,
        AbstractValue::Tuple,
        AbstractValue::Dict,
        AbstractValue::Set,
        AbstractValue::Callable,
        AbstractValue::Resource,
        AbstractValue::Object,
    ];

    /// The name of the class in reports.
    pub fn name(self) -> &'static str {
        match self {
            AbstractValue::None => "none",
            AbstractValue::Bool => "bool",
            AbstractValue::Int => "int",
            AbstractValue::Float => "float",
            AbstractValue::Str => "str",
            AbstractValue::List => "list",
            AbstractValue::Tuple => "tuple",
            AbstractValue::Dict => "dict",
            AbstractValue::Set => "set",
            AbstractValue::Callable => "callable",
            AbstractValue::Resource => "resource",
            AbstractValue::Object => "object",
        }
    }
}

/// A concrete value to inject, as data. The same recipe gives equal but separate values to both versions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Recipe {
    None,
    Bool(bool),
    Int(i64),
    Float(f64),
    Str(String),
    Bytes(Vec<u8>),
    List(Vec<Recipe>),
    Tuple(Vec<Recipe>),
    /// In insertion order. Keys are hashable recipes.
    Dict(Vec<(Recipe, Recipe)>),
    Set(Vec<Recipe>),
    /// A mock object that stands for a callable, a resource or an object.
    #[serde(rename = "versatile")]
    Mock(AbstractValue),
    /// The very object that a dotted name refers to in each version: a constant, a member of an enum, a class. A name in
    /// another module than the code's own has this module before it: `shop.models:Level.LOW`.
    Named(String),
    /// What a call of something in a library makes, by its dotted name: `datetime.date(2024, 2, 29)`.
    Made(Box<ConstructorCall>),
    /// An object that somebody gave, as it is or varied.
    Given(Box<Given>),
    /// A value that a project declares for its class.
    Provided(Box<Provided>),
}

/// A call of something in a library, by its dotted name; of a class of the module, by its name; or of one in another
/// module of the project, with the module before it: `shop.models:Item`. Programs hold many recipes and few
/// calls, so these are boxed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ConstructorCall {
    pub class: String,
    pub arguments: Vec<Recipe>,
    #[serde(default)]
    pub keywords: Vec<(String, Recipe)>,
}

impl From<ConstructorCall> for Recipe {
    fn from(call: ConstructorCall) -> Recipe {
        Recipe::Made(Box::new(call))
    }
}

impl Recipe {
    /// Whether the value is a mock object or holds one.
    pub fn has_object(&self) -> bool {
        match self {
            Recipe::Mock(_) => true,
            Recipe::List(items) | Recipe::Tuple(items) | Recipe::Set(items) => items.iter().any(Recipe::has_object),
            Recipe::Dict(entries) => entries.iter().any(|(_, value)| value.has_object()),
            Recipe::Made(call) => {
                let ConstructorCall { arguments, keywords, .. } = &**call;
                arguments.iter().any(Recipe::has_object) || keywords.iter().any(|(_, value)| value.has_object())
            }
            _ => false,
        }
    }

    /// Text like Python source, e.g. `{'max_retry_times': 0}`. A mock object reads `<object>`. The text is as long
    /// as the value; views cut it.
    pub fn display(&self) -> String {
        let mut text = String::new();
        self.write(&mut text);
        text
    }

    fn write(&self, out: &mut String) {
        use std::fmt::Write;
        let sequence = |out: &mut String, open: &str, items: &[Recipe], close: &str| {
            out.push_str(open);
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push_str(", ");
                }
                item.write(out);
            }
            out.push_str(close);
        };
        match self {
            Recipe::None => out.push_str("None"),
            Recipe::Bool(true) => out.push_str("True"),
            Recipe::Bool(false) => out.push_str("False"),
            Recipe::Int(value) => write!(out, "{value}").unwrap_or_default(),
            Recipe::Float(value) => write!(out, "{value:?}").unwrap_or_default(),
            Recipe::Str(text) => out.push_str(&python_string(text)),
            Recipe::Bytes(bytes) => {
                out.push_str("b'");
                for byte in bytes {
                    write!(out, "{}", byte.escape_ascii()).unwrap_or_default();
                }
                out.push('\'');
            }
            Recipe::List(items) => sequence(out, "[", items, "]"),
            Recipe::Tuple(items) => sequence(out, "(", items, if items.len() == 1 { ",)" } else { ")" }),
            Recipe::Set(items) if items.is_empty() => out.push_str("set()"),
            Recipe::Set(items) => sequence(out, "{", items, "}"),
            Recipe::Dict(entries) => {
                out.push('{');
                for (index, (key, value)) in entries.iter().enumerate() {
                    if index > 0 {
                        out.push_str(", ");
                    }
                    key.write(out);
                    out.push_str(": ");
                    value.write(out);
                }
                out.push('}');
            }
            Recipe::Mock(class) => write!(out, "<{}>", class.name()).unwrap_or_default(),
            Recipe::Named(name) => out.push_str(within_module(name).1),
            Recipe::Made(call) => {
                let ConstructorCall { class, arguments, keywords } = &**call;
                if let Some((before, behind)) = library::written_stream(class) {
                    out.push_str(before);
                    arguments.iter().for_each(|items| items.write(out));
                    out.push_str(behind);
                    return;
                }
                out.push_str(&written_class(class));
                sequence(out, "(", arguments, "");
                for (index, (name, value)) in keywords.iter().enumerate() {
                    out.push_str(if index > 0 || !arguments.is_empty() { ", " } else { "" });
                    out.push_str(name);
                    out.push('=');
                    value.write(out);
                }
                out.push(')');
            }
            Recipe::Given(given) => out.push_str(&given.display()),
            Recipe::Provided(provided) => provided.write(out),
        }
    }

    /// The class that this recipe is a value of.
    pub fn abstract_value(&self) -> AbstractValue {
        match self {
            Recipe::None => AbstractValue::None,
            Recipe::Bool(_) => AbstractValue::Bool,
            Recipe::Int(_) => AbstractValue::Int,
            Recipe::Float(_) => AbstractValue::Float,
            Recipe::Str(_) => AbstractValue::Str,
            Recipe::Bytes(_) | Recipe::Named(_) | Recipe::Made(_) | Recipe::Provided(_) => AbstractValue::Object,
            Recipe::List(_) => AbstractValue::List,
            Recipe::Tuple(_) => AbstractValue::Tuple,
            Recipe::Dict(_) => AbstractValue::Dict,
            Recipe::Set(_) => AbstractValue::Set,
            Recipe::Mock(class) => *class,
            Recipe::Given(given) => given.class,
        }
    }
}

/// Modules under the names by which everybody imports them.
const SHORT: [(&str, &str); 3] = [("pandas", "pd"), ("numpy", "np"), ("polars", "pl")];

/// A dotted name as people write it: `pd.DataFrame`, `ValueError`.
pub fn written_class(class: &str) -> std::borrow::Cow<'_, str> {
    if let (Some(_), name) = within_module(class) {
        return name.into();
    }
    match class.split_once('.') {
        Some(("builtins", name)) => name.into(),
        Some((module, name)) => match SHORT.iter().find(|(long, _)| *long == module) {
            Some((_, short)) => format!("{short}.{name}").into(),
            None => class.into(),
        },
        None => class.into(),
    }
}

/// The module that stands before a name of a project, as in entry points, and the name in it.
pub fn within_module(name: &str) -> (Option<&str>, &str) {
    name.split_once(':').map_or((None, name), |(module, name)| (Some(module), name))
}

/// The short name of a module that such a name begins with: `pd` for `pandas`.
pub fn short_module(module: &str) -> Option<&'static str> {
    SHORT.iter().find(|(long, _)| *long == module).map(|(_, short)| *short)
}

/// One entry of a choice sequence: the decision for one access path.
///
/// A path that does not stand for a plain value carries its aspect: `bool(x)` is the truth of a mock object,
/// `len(x)` the number of its items, `x == 'a'` the result of a comparison.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// Inject this value.
    Value(Recipe),
    /// Raise this exception (a dotted name that the code catches) instead of giving a value.
    Raise(String),
    /// Do not pass this argument, so that the parameter's default applies.
    Default,
    /// Inject the very object of this other path: `x is y`.
    Same(String),
    /// Force nothing: the missing attribute, key or index raises as in Python.
    Fail,
}

/// A decision with its access path. A choice sequence is a list of these in the order of first need.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Choice {
    pub path: String,
    pub decision: Decision,
}

/// Given decisions, which are not drawn, by access path.
pub type Fixed = BTreeMap<String, Decision>;
