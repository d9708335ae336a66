//! A study: many changes, compared in parallel, one finding each.
//!
//! Changes come one at a time from whatever holds them ([`read`]), are compared by threads or other processes ([`run`],
//! [`farm`]), and their findings go to a store that survives a kill ([`store`]).

pub mod change;
mod columns;
pub mod detail;
pub mod differences;
mod events;
pub mod farm;
pub mod find;
pub mod finding;
pub mod frame;
mod input;
pub mod job;
pub mod key;
pub mod metrics;
pub mod mine;
pub mod notable;
pub mod outputs;
pub mod pace;
pub mod page;
mod queue;
pub mod read;
pub mod run;
#[cfg(test)]
mod scripted;
pub mod store;
pub mod summary;
mod threads;
pub mod transform;

pub use input::Input;
