//! What is injected: a value for each access path that the code asks for and does not have.
//!
//! [`resolve`] decides and builds values. The others say what is asked: names, attributes and items, operators, texts,
//! what an object is, the arguments of the function, exceptions.

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
