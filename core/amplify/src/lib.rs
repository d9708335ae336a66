//! Tests that show what a change to a project's code does, made from the project's own tests.

mod change;
mod code;

pub use change::{ChangedFile, ChangedText, Constants, Touchable, Touched, changed_file, constants};
pub use code::Code;
