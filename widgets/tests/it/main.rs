//! Whole renderings. One program, so that the crate is linked once.

mod differences;
mod exports;
mod listing;
mod notices;
mod plots;
mod renderings;
mod samples;
mod tree;
