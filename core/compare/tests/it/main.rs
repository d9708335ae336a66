//! Campaigns and selection without a worker. One program, so that the crate is linked once.

mod campaign;
mod selection;
