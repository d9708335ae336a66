//! Where a comparison stands, and whether it goes on.

/// Where a comparison stands, for progress displays.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress {
    pub pair: u32,
    pub pairs: u32,
    pub executions: u32,
    pub budget: u32,
    /// Share of executable lines that ran, 0 to 1.
    pub coverage: f64,
}

/// Answered by a progress callback: go on, or stop and report what was found so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Continue {
    Yes,
    Stop,
}
