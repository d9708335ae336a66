//! The current execution: its decisions, the predictions, and what the running version has seen.
//!
//! [`state`] holds it. All other modules find the shared parts here as plain data. Nothing here observes or injects.

pub(crate) mod actions;
pub(crate) mod code;
pub(crate) mod given;
mod handlers;
pub(crate) mod namespaces;
pub(crate) mod object;
pub(crate) mod observations;
pub(crate) mod own_uses;
pub(crate) mod prediction_index;
pub(crate) mod state;
pub(crate) mod static_paths;
pub(crate) mod steps;
