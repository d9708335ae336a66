//! The Python extension module `twincell._twincell`: what Rust offers to the thin Python package around it.

mod git;
mod options;
mod study;
mod warm;

#[cfg(test)]
mod fixtures;
