//! What the options of `impact` set.

use serde::{Deserialize, Serialize};
use twincell_impact::ImpactOptions;

/// The values of the options that only `impact` has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Impacting {
    /// The functions at which executions start, as `MODULE:FUNCTION`. None stand for all.
    pub entries: Vec<String>,
    /// Whether impact goes on through files, libraries and other state outside of the project.
    pub outside: bool,
}

impl Default for Impacting {
    fn default() -> Self {
        Self { entries: vec![], outside: ImpactOptions::default().outside }
    }
}

impl Impacting {
    /// These options for [`twincell_impact::impact`].
    pub fn for_core(&self) -> ImpactOptions {
        ImpactOptions { outside: self.outside, ..ImpactOptions::default() }
    }
}
