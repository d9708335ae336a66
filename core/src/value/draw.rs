//! Drawing decisions: a pure function of (seed, access path, distribution, pools).

/// Literals and other candidates from both versions.
pub struct Pools;

/// Draws decisions for one execution.
pub struct Draw;
