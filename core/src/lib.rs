//! The analysis: did a change to Python code alter its behavior?
//!
//! A comparison flows through five rooms:
//! [`source`] (two texts -> pairs of functions) -> [`instrument`] (function -> instrumented text and its table of
//! [`site`]s) -> [`campaign`] (choose, execute in [`engine`], learn, stop) -> [`behavior`] (what differs) ->
//! [`verdict`]. [`report`] holds what a view needs, as plain data; [`reproduce`] writes a test of its own for a witness.
//!
//! Deliberately absent: a Python interpreter, a neural network ([`predictor::Predictor`] is implemented elsewhere),
//! Jupyter, the network, printing.

pub mod behavior;
pub mod campaign;
pub mod compare;
pub mod engine;
pub mod instrument;
pub mod predicted;
pub mod predictor;
pub mod report;
pub mod reproduce;
pub mod site;
pub mod source;
pub mod stdlib;
pub mod value;
pub mod verdict;
