//! The execution that is going on: its decisions, what is predicted, and what the version that runs now has seen.
//!
//! [`state`] holds it. What all other rooms need of it lives here as plain data; nothing here observes or injects.

pub(crate) mod code;
pub(crate) mod object;
pub(crate) mod observations;
pub(crate) mod paths;
pub(crate) mod prediction_index;
pub(crate) mod state;
pub(crate) mod steps;
