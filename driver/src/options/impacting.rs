//! What the options of `impact` set.

use serde::{Deserialize, Serialize};
use twincell_impact::{ImpactOptions, Sources};

/// The values of the options that only `impact` has.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Impacting {
    /// The functions at which executions start, as `MODULE:FUNCTION`. None stand for all.
    pub entries: Vec<String>,
    /// Whether impact goes on through files, libraries and other state outside of the project.
    pub outside: bool,
    /// What DCIA takes for changed.
    pub sources: Sources,
    /// The last level. `None` is the deepest that there is.
    pub depth: Option<u32>,
    /// The time for all levels, in seconds.
    pub time: Option<f64>,
}

impl Default for Impacting {
    fn default() -> Self {
        let core = ImpactOptions::default();
        Self { entries: vec![], outside: core.outside, sources: core.sources, depth: core.depth, time: None }
    }
}

impl Impacting {
    /// These options for [`twincell_impact::impact`].
    pub fn for_core(&self) -> ImpactOptions {
        ImpactOptions { outside: self.outside, sources: self.sources, depth: self.depth, ..ImpactOptions::default() }
    }
}
