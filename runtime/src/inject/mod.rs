//! Injection: a value for each access path that the code asks for and does not have.
//!
//! [`resolve`] decides on values and builds them. The other modules say what is asked: names, attributes and items,
//! operators, texts, the class of an object, the arguments of the function, exceptions.

pub(crate) mod arguments;
pub(crate) mod exceptions;
pub(crate) mod failures;
pub(crate) mod members;
pub(crate) mod names;
pub(crate) mod operators;
pub(crate) mod reflection;
pub(crate) mod replacement;
pub(crate) mod resolve;
pub(crate) mod texts;
mod unpacking;
