//! What every surface needs to run an analysis: the table of options, an engine for them that stays warm, and files.

pub mod decode;
pub mod files;
pub mod options;
pub mod reproducers;
pub mod waiting;
pub mod warm;
