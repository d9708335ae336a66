//! Injection: a value for each access path that the code asks for and does not have.
//!
//! [`resolve`] decides on values and builds them. The other modules say what is asked: names, attributes and items,
//! operators, texts, the class of an object, the arguments of the function, exceptions. [`reach`] says what other code
//! sees of what the code changed.

pub(crate) mod arguments;
pub(crate) mod builtins;
mod classes;
pub(crate) mod comparing;
pub(crate) mod constants;
pub(crate) mod environment;
pub(crate) mod exceptions;
pub(crate) mod failures;
pub(crate) mod given;
pub(crate) mod items;
pub(crate) mod machine;
pub(crate) mod members;
pub(crate) mod membership;
pub(crate) mod names;
pub(crate) mod operators;
pub(crate) mod original;
mod project;
pub(crate) mod protocols;
pub(crate) mod provided;
pub(crate) mod questions;
pub(crate) mod reach;
pub(crate) mod reflection;
pub(crate) mod replacement;
pub(crate) mod resolve;
pub(crate) mod running;
mod templates;
pub(crate) mod texts;
