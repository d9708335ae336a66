//! What a reader of a result must know besides the verdicts: what was trusted and has changed, what a rule left out or set
//! aside, and what was not compared.
//!
//! There is ONE stream of these, [`Notice`], from which every format is written. Views put them into words.

use serde::{Deserialize, Serialize};

use twincell_behavior::Rule;
use twincell_syntax::Side;

use crate::report::{Bound, Comparison, PairReport};
use crate::verdict::Verdict;

/// One remark about a whole result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Notice {
    /// The policy is not the same in both versions. That of the old one is in force.
    PolicyChanged { file: String, change: FileChange },
    /// The accepted differences are not the same in both versions. Those of the old one count.
    BaselineChanged { file: String, change: FileChange },
    /// Accepted differences that do not count, since an earlier format does not say all that they depend on.
    BaselineOutdated { file: String, entries: usize },
    /// The policy leaves a file out.
    Excluded { file: String, pattern: String },
    /// A rule suppresses differences of a function.
    #[serde(rename = "set_aside")]
    Suppressed { place: Place, rule: String, changed_verdict: bool },
    /// The differences of a function are accepted.
    Accepted { place: Place, reason: String },
    /// A function was not run, since it is too large.
    TooLarge { place: Place, side: Side, size: u32, most: u32 },
    /// The time of a function was over before its executions were.
    Deadline { place: Place, seconds: f64 },
    /// A statement outside of functions that only this version has may replace functions, and `more` others may. `target` is
    /// the other module whose functions they are, if the text names it.
    MayReplace {
        place: Place,
        side: Side,
        line: u32,
        more: usize,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        target: Option<String>,
    },
    /// The policy gives a function fewer executions than usual, and none of them showed a difference.
    FewExecutions { place: Place, executions: u32, usual: u32 },
    /// The policy sets something that makes differences harder to find.
    Weakened { setting: String, value: String, file: String },
    /// Tests that changed, too, and were not compared.
    TestsLeftOut { files: Vec<String> },
    /// A file that only one version has.
    OneSided { file: String, side: Side },
    /// Files that git does not track.
    Untracked { files: Vec<String> },
    /// Links and other repositories that lead elsewhere than before. What they lead to is not compared.
    LeadsElsewhere { files: Vec<String> },
    /// Files that are no Python, where nothing else changed.
    NotPython { files: Vec<String> },
    /// A file without anything to compare.
    NothingToCompare { file: String, reason: String },
    /// The other modules of the repository could not be copied.
    NotCopied { reason: String },
    /// The user stopped the comparison before these files.
    Stopped { files: Vec<String> },
    /// Functions of which somebody gave examples, and which no changed file has.
    UnknownExamples { functions: Vec<String> },
}

/// Where a notice about a function belongs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// The path of the file, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    pub function: String,
}

/// What became of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileChange {
    Added,
    Removed,
    Changed,
    /// It is a link, a folder, or something else that is not read.
    NoFile,
}

/// How much a notice weighs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Weight {
    /// It makes a run fail unless somebody allows it.
    Trust,
    /// A rule, or a bound, keeps something from being seen.
    Rule,
    Remark,
}

impl Notice {
    pub fn weight(&self) -> Weight {
        match self {
            Notice::PolicyChanged { .. } | Notice::BaselineChanged { .. } => Weight::Trust,
            Notice::BaselineOutdated { .. }
            | Notice::Excluded { .. }
            | Notice::Suppressed { .. }
            | Notice::Accepted { .. }
            | Notice::TooLarge { .. }
            | Notice::Deadline { .. }
            | Notice::MayReplace { .. }
            | Notice::FewExecutions { .. }
            | Notice::Weakened { .. }
            | Notice::LeadsElsewhere { .. } => Weight::Rule,
            Notice::TestsLeftOut { .. }
            | Notice::OneSided { .. }
            | Notice::Untracked { .. }
            | Notice::NotPython { .. }
            | Notice::NothingToCompare { .. }
            | Notice::NotCopied { .. }
            | Notice::Stopped { .. }
            | Notice::UnknownExamples { .. } => Weight::Remark,
        }
    }

    /// The file that it is about, if it is about one.
    pub fn file(&self) -> Option<&str> {
        match self {
            Notice::PolicyChanged { file, .. }
            | Notice::BaselineChanged { file, .. }
            | Notice::BaselineOutdated { file, .. }
            | Notice::Excluded { file, .. }
            | Notice::Weakened { file, .. }
            | Notice::OneSided { file, .. }
            | Notice::NothingToCompare { file, .. } => Some(file),
            Notice::Suppressed { place, .. }
            | Notice::Accepted { place, .. }
            | Notice::TooLarge { place, .. }
            | Notice::Deadline { place, .. }
            | Notice::MayReplace { place, .. }
            | Notice::FewExecutions { place, .. } => place.file.as_deref(),
            Notice::TestsLeftOut { .. }
            | Notice::Untracked { .. }
            | Notice::LeadsElsewhere { .. }
            | Notice::NotPython { .. }
            | Notice::NotCopied { .. }
            | Notice::Stopped { .. }
            | Notice::UnknownExamples { .. } => None,
        }
    }

    /// What is to say of the functions of a comparison. `usual` is the number of executions that a function gets without a
    /// policy.
    pub fn of_comparison(comparison: &Comparison, file: Option<&str>, usual: Option<u32>) -> Vec<Self> {
        let of = |pair| Self::of_pair(pair, file, usual.map(|usual| (comparison.budget, usual)));
        comparison.pairs.iter().flat_map(of).collect()
    }

    fn of_pair(pair: &PairReport, file: Option<&str>, budget: Option<(u32, u32)>) -> Vec<Self> {
        let place = || Place { file: file.map(str::to_owned), function: pair.place() };
        let mut found: Vec<Self> = Vec::new();
        for aside in &pair.suppressed {
            let (rule, changed_verdict) = (aside.rule.to_string(), aside.changed_verdict);
            // What is noted of every comparison is no rule that somebody wrote.
            if changed_verdict || aside.rule != Rule::KeyOrder {
                found.push(Notice::Suppressed { place: place(), rule, changed_verdict });
            }
        }
        found.extend(pair.accepted.clone().map(|reason| Notice::Accepted { place: place(), reason }));
        match pair.bound.clone() {
            Some(Bound::Size { side, size, most }) => found.push(Notice::TooLarge { place: place(), side, size, most }),
            Some(Bound::Deadline { seconds }) => found.push(Notice::Deadline { place: place(), seconds }),
            Some(Bound::Replaces { side, line, more, target }) => {
                found.push(Notice::MayReplace { place: place(), side, line, more, target });
            }
            None => {}
        }
        if let Some((executions, usual)) = budget
            && executions < usual
            && pair.executed > 0
            && matches!(pair.verdict, Verdict::LikelyPreserving | Verdict::Inconclusive)
        {
            found.push(Notice::FewExecutions { place: place(), executions, usual });
        }
        found
    }
}
