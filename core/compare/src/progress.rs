//! The progress of a comparison, and whether it continues.

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

/// The answer of a progress callback: continue, or stop and report the findings so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Continue {
    Yes,
    Stop,
}
