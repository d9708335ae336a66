//! Where a value comes from that no variable has, and how a test listens there.

use serde::{Deserialize, Serialize};
use twincell_testing::Seen;

/// How a test can listen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Style {
    /// Functions and methods of plain classes are given fixtures of pytest.
    Fixtures,
    /// Methods of a `unittest.TestCase` cannot be given any, and put statements into blocks.
    Blocks,
}

/// Where a value comes from that no variable has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Heard {
    pub channel: Seen,
    pub style: Style,
    /// Whether statements before it have said something on this channel, too.
    pub earlier: bool,
}
