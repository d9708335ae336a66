//! One notice of every kind.

use twincell_compare::notice::{FileChange, Notice, Place};
use twincell_syntax::Side;

/// One notice of every kind, with this text wherever the code can choose one.
pub fn notices(odd: &str) -> Vec<Notice> {
    std::iter::successors(Some(first(odd)), |last| next(last, odd)).collect()
}

fn first(odd: &str) -> Notice {
    Notice::PolicyChanged { file: odd.to_owned(), change: FileChange::Added }
}

/// The notice of the next kind. A new kind goes between two of these, as the compiler asks for it.
fn next(last: &Notice, odd: &str) -> Option<Notice> {
    let own = || odd.to_owned();
    let place = || Place { file: Some(own()), function: own() };
    Some(match last {
        Notice::PolicyChanged { .. } => Notice::BaselineChanged { file: own(), change: FileChange::Removed },
        Notice::BaselineChanged { .. } => Notice::BaselineOutdated { file: own(), entries: 3 },
        Notice::BaselineOutdated { .. } => Notice::Excluded { file: own(), pattern: own() },
        Notice::Excluded { .. } => Notice::Suppressed { place: place(), rule: own(), changed_verdict: true },
        Notice::Suppressed { .. } => Notice::Accepted { place: place(), reason: own() },
        Notice::Accepted { .. } => Notice::TooLarge { place: place(), side: Side::New, size: 9, most: 1 },
        Notice::TooLarge { .. } => Notice::Deadline { place: place(), seconds: 0.01 },
        Notice::Deadline { .. } => {
            Notice::MayReplace { place: place(), side: Side::New, line: 12, more: 1, target: Some(own()) }
        }
        Notice::MayReplace { .. } => Notice::FewExecutions { place: place(), executions: 1, usual: 300 },
        Notice::FewExecutions { .. } => Notice::Weakened { setting: own(), value: own(), file: own() },
        Notice::Weakened { .. } => Notice::TestsLeftOut { files: vec![own()] },
        Notice::TestsLeftOut { .. } => Notice::OneSided { file: own(), side: Side::New },
        Notice::OneSided { .. } => Notice::Untracked { files: vec![own()] },
        Notice::Untracked { .. } => Notice::LeadsElsewhere { files: vec![own()] },
        Notice::LeadsElsewhere { .. } => Notice::NotPython { files: vec![own()] },
        Notice::NotPython { .. } => Notice::NothingToCompare { file: own(), reason: own() },
        Notice::NothingToCompare { .. } => Notice::NotCopied { reason: own() },
        Notice::NotCopied { .. } => Notice::Stopped { files: vec![own()] },
        Notice::Stopped { .. } => Notice::UnknownExamples { functions: vec![own()] },
        Notice::UnknownExamples { .. } => return None,
    })
}
