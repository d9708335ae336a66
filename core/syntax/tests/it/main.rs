//! What this crate promises about whole texts. One program, so that the crate is linked once.

mod check;
mod cleanups;
mod instrument_fixtures;
mod instrument_meaning;
mod properties;
mod source_diff;
