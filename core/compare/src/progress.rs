//! The progress of a comparison.

/// The progress of a comparison, for displays.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress {
    pub pair: u32,
    pub pairs: u32,
    pub executions: u32,
    pub budget: u32,
    /// The share of executable lines that ran, 0 to 1.
    pub coverage: f64,
}
