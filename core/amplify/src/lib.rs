//! Tests that show what a change to a project's code does, made from the project's own tests.

mod body;
mod cases;
mod change;
mod code;
mod literal;
mod observe;
mod operators;
mod strip;
mod subject;

pub use change::{ChangedFile, ChangedText, Constants, Touchable, Touched, changed_file, constants};
pub use code::Code;
