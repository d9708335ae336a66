//! The analysis behind `compare`: did a change to Python code alter its behavior?

pub mod assemble;
pub mod campaign;
mod decide;
mod flow;
mod options;
mod progress;
pub mod report;
pub mod reproduce;
pub mod verdict;

pub use decide::decide;
pub use flow::{Again, Replayed, Request, Then, Unit, compare, programs, replay, requests, units};
pub use options::{CompareError, CompareOptions, Source};
pub use progress::{Continue, Progress};
