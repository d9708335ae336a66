//! What is read from whole functions, and asked of values. One program, so that the crate is linked once.

mod questions;
mod source_functions;
