//! Verdicts, and how much a difference speaks for a change.

use serde::{Deserialize, Serialize};

use twincell_behavior::Basis;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    Changing,
    LikelyPreserving,
    Inconclusive,
    Identical,
}

impl Verdict {
    /// The severity of a verdict: the greater, the more attention it needs.
    pub fn severity(self) -> u8 {
        match self {
            Verdict::Identical => 0,
            Verdict::LikelyPreserving => 1,
            Verdict::Inconclusive => 2,
            Verdict::Changing => 3,
        }
    }

    /// The most severe of some verdicts, or identical if there are none.
    pub fn worst(verdicts: impl IntoIterator<Item = Verdict>) -> Verdict {
        verdicts.into_iter().max_by_key(|verdict| verdict.severity()).unwrap_or(Verdict::Identical)
    }

    /// The name of the verdict in reports.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Changing => "changing",
            Verdict::LikelyPreserving => "likely preserving",
            Verdict::Inconclusive => "inconclusive",
            Verdict::Identical => "identical",
        }
    }
}

/// A difference that needs values with a lower probability than this under the predictor is an edge case.
pub const EDGE_CASE: f64 = 0.03;

/// A difference with this score ends the search, since none could be clearer.
pub const SURE: f64 = 0.95;

/// A difference with at least this score is a change.
pub const CHANGING: f64 = 0.4;

/// Whether what was invented, and not the change, may be why the versions differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Invented {
    No,
    /// A synthesized result: of a look-up in a container of an unlikely class, or of one that the versions name
    /// differently.
    Perhaps,
    /// What a function of the program did not give, since it failed as it would in Python.
    Surely,
}

/// How much a difference speaks for a change, 0 to 1. What was invented for sure counts as little as what may have been
/// on unlikely values.
pub fn score(basis: Basis, probability: f64, invented: Invented) -> f64 {
    let certainty = match basis {
        Basis::Observable => 1.0,
        Basis::SideEffect => 0.95,
        Basis::TypeOnly => 0.9,
        Basis::OneSidedQuery => 0.7,
        Basis::DifferentQueries => 0.5,
        Basis::Crashed => 0.6,
        Basis::Reordered => 0.35,
        Basis::FormattingOnly | Basis::Equal => 0.3,
    };
    match (probability < EDGE_CASE, invented) {
        (true, Invented::Perhaps) | (_, Invented::Surely) => certainty * 0.35,
        (true, Invented::No) => certainty * 0.7,
        (false, _) => certainty,
    }
}
