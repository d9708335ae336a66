//! Notices in words. Every format lists all of them, the weightiest first.

use maud::{Markup, html};
use serde::Serialize;

use twincell_compare::notice::{FileChange, Notice, Place, Weight};
use twincell_syntax::Side;

use crate::{plain, words};

/// All that is to say beside the verdicts.
#[derive(Debug, Clone, Copy, Default)]
pub struct Notices<'a> {
    pub all: &'a [Notice],
    /// Whether a change to what is trusted passes.
    pub allows_changes: bool,
}

impl<'a> Notices<'a> {
    pub fn of(self, weight: Weight) -> impl Iterator<Item = &'a Notice> {
        self.all.iter().filter(move |notice| notice.weight() == weight)
    }

    /// Whether a run fails because of them, whatever the verdicts are.
    pub fn fail(self) -> bool {
        !self.allows_changes && self.of(Weight::Trust).next().is_some()
    }

    /// In the order of weight, as every format lists them.
    pub(crate) fn ordered(self) -> Vec<&'a Notice> {
        let mut all: Vec<&Notice> = self.all.iter().collect();
        all.sort_by_key(|notice| notice.weight());
        all
    }

    /// What was trusted and is not what it was, in short: `policy changed`.
    pub fn headline(self) -> Option<&'static str> {
        self.of(Weight::Trust).next().map(|_| "policy changed")
    }
}

/// A notice as JSON: its data, and what people read.
#[derive(Serialize)]
pub struct NoticeRow<'a> {
    #[serde(flatten)]
    notice: &'a Notice,
    sentence: String,
}

/// A notice for people.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct NoticeLine {
    /// Whether it says that something trusted is not what it was.
    is_trust: bool,
    /// Its kind: `Policy changed`.
    title: &'static str,
    sentence: String,
}

/// Notices for views, in the order of weight.
pub fn notice_lines(notices: Notices<'_>) -> Vec<NoticeLine> {
    let line = |notice| NoticeLine {
        is_trust: Notice::weight(notice) == Weight::Trust,
        title: title(notice),
        sentence: notice_sentence(notice),
    };
    notices.ordered().into_iter().map(line).collect()
}

/// A list of notices, or nothing.
pub(crate) fn lines_markup(lines: &[NoticeLine]) -> Markup {
    html! {
        @if !lines.is_empty() {
            section.tc-notices aria-label="Notices" {
                ul {
                    @for line in lines {
                        li class=[line.is_trust.then_some("tc-trust")] {
                            strong { (line.title) } ": " (plain::sentence(&line.sentence))
                        }
                    }
                }
            }
        }
    }
}

/// Notices as JSON.
pub fn notice_rows<'a>(notices: Notices<'a>) -> Vec<NoticeRow<'a>> {
    notices.ordered().into_iter().map(|notice| NoticeRow { notice, sentence: notice_sentence(notice) }).collect()
}

/// The name of its kind for people.
pub(crate) fn title(notice: &Notice) -> &'static str {
    match notice {
        Notice::PolicyChanged { .. } => "Policy changed",
        Notice::BaselineChanged { .. } => "Accepted differences changed",
        Notice::BaselineOutdated { .. } => "Accepted differences outdated",
        Notice::Excluded { .. } => "Left out by the policy",
        Notice::Suppressed { .. } => "Suppressed by a rule",
        Notice::Accepted { .. } => "Accepted",
        Notice::TooLarge { .. } => "Too large to run",
        Notice::Deadline { .. } => "Out of time",
        Notice::MayReplace { .. } => "May replace functions",
        Notice::FewExecutions { .. } => "Few executions",
        Notice::Weakened { .. } => "Weakened by the policy",
        Notice::TestsLeftOut { .. } => "Tests left out",
        Notice::OneSided { .. } => "In one version only",
        Notice::Untracked { .. } => "Not tracked",
        Notice::LeadsElsewhere { .. } => "Leads elsewhere",
        Notice::NotPython { .. } => "No Python",
        Notice::NothingToCompare { .. } => "Nothing to compare",
        Notice::NotCopied { .. } => "Repository not copied",
        Notice::Stopped { .. } => "Stopped",
        Notice::UnknownExamples { .. } => "Examples not used",
    }
}

/// One line for people. Names in it come from the code and are not yet harmless.
pub fn notice_sentence(notice: &Notice) -> String {
    match notice {
        Notice::PolicyChanged { file, change } => {
            let became = became("the policy", *change);
            format!("{file}: {became}; the policy of the old version is in force")
        }
        Notice::BaselineChanged { file, change } => {
            let became = became("the list of accepted differences", *change);
            format!("{file}: {became}; what the old version accepts counts")
        }
        Notice::BaselineOutdated { file, entries } => {
            let (noun, does, them) = if *entries == 1 { ("entry", "does", "it") } else { ("entries", "do", "them") };
            format!(
                "{file}: {entries} {noun} of an earlier format {does} not count, since what functions use is not in {them}: \
                 accept again with --accept"
            )
        }
        Notice::Excluded { file, pattern } => format!("{file}: left out by the policy (exclude: {pattern})"),
        Notice::Suppressed { place, rule, changed_verdict } => {
            let effect = if *changed_verdict { "; without this rule the verdict would be changing" } else { "" };
            format!("{}: differences suppressed by {rule}{effect}", at(place))
        }
        Notice::Accepted { place, reason } => format!("{}: the difference is accepted: {reason}", at(place)),
        Notice::TooLarge { place, side, size, most } => format!(
            "{}: not run: {} has {} statements and expressions, and max-function is {}",
            at(place),
            version(*side),
            words::number(*size as usize),
            words::number(*most as usize)
        ),
        Notice::Deadline { place, seconds } => {
            format!("{}: stopped after {seconds} s (deadline); what was found by then is all that is known", at(place))
        }
        Notice::MayReplace { place, side, line, more, target } => {
            let others = if *more == 0 { String::new() } else { format!(" (and {more} more)") };
            let of = target.as_ref().map_or_else(String::new, |target| format!(" of {target}"));
            let version = version(*side);
            format!(
                "{}: line {line} of {version}{others} may put something else in the place of functions{of}, and is not \
                 followed into them",
                at(place)
            )
        }
        Notice::FewExecutions { place, executions, usual } => {
            format!("{}: at most {executions} executions, since the policy sets a budget below {usual}", at(place))
        }
        Notice::Weakened { setting, value, file } => {
            format!("the policy sets {setting} = {value} ({file}), which may keep differences from being found")
        }
        Notice::TestsLeftOut { files } => {
            format!("tests changed, too, and were not compared (name the files, or --verbose): {}", listed(files))
        }
        Notice::OneSided { file, side } => format!("{file}: only in the {} revision, not compared", side.name()),
        Notice::Untracked { files } => format!("not compared, since git does not track it: {}", listed(files)),
        Notice::LeadsElsewhere { files } => {
            format!("changed, a link or another repository, and not compared: {}", listed(files))
        }
        Notice::NotPython { files } => format!("changed, and no Python: {}", listed(files)),
        Notice::NothingToCompare { file, reason } => format!("{file}: {reason}"),
        Notice::NotCopied { reason } => {
            format!("the repository was not copied, so what its other modules give is injected: {reason}")
        }
        Notice::Stopped { files } => format!("stopped, so these files were not compared: {}", listed(files)),
        Notice::UnknownExamples { functions } => {
            format!("examples not used, since no changed file has their function: {}", listed(functions))
        }
    }
}

fn became(what: &str, change: FileChange) -> String {
    match change {
        FileChange::Added => format!("{what} is new"),
        FileChange::Removed => format!("{what} is gone"),
        FileChange::Changed => format!("{what} changed"),
        FileChange::NoFile => format!("{what} is no regular file any more"),
    }
}

fn at(place: &Place) -> String {
    match &place.file {
        Some(file) => format!("{file}: {}", place.function),
        None => place.function.clone(),
    }
}

fn version(side: Side) -> String {
    format!("the {} version", side.name())
}

/// The maximum number of files that a notice names.
const NAMED: usize = 5;

/// `a.csv, b.csv`, with the number of those that are too many.
fn listed(names: &[String]) -> String {
    let first = names.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(NAMED) {
        0 => first,
        more => format!("{first} and {more} more"),
    }
}

/// Notices as lines of text, all of them.
pub fn notices_text(notices: Notices<'_>) -> String {
    notices.ordered().into_iter().map(|notice| plain::sentence(&notice_sentence(notice)) + "\n").collect()
}

/// Notices as a part of a page. It stands apart from what the interactive view replaces.
pub(crate) fn markup(notices: Notices<'_>) -> Markup {
    lines_markup(&notice_lines(notices))
}
