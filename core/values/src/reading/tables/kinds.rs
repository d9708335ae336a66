//! The kinds of tables and of their parts.

pub use crate::value::shape::Shape;

/// What kind of thing a parameter is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Frame,
    Series,
    Array,
    /// A container of frames.
    Frames,
    PolarsFrame,
    PolarsLazy,
    PolarsSeries,
    /// Not declared.
    Unknown,
    /// No table, as its uses tell.
    Other,
}
