//! What finds prefixes.

use serde::{Deserialize, Serialize};

/// What finds prefixes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Generators {
    /// Executions with hooks, and what errors teach.
    #[default]
    Local,
    /// A language model.
    Llm,
    /// The first, and then the second for lines that it leaves uncovered.
    Both,
}
