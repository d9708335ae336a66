//! Processes under each of the two sandboxes. One program, so that the crate is linked once.

mod sandbox;
mod suite;
