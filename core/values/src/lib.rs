//! What is injected: abstract values, access paths, decisions and how they are drawn.

pub mod drawing;
pub mod predicted;
pub mod predictor;
pub mod reading;
pub mod value;
