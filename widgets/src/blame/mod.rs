//! Since when a call gives its value, for terminals and as Markdown. [`html`] has the static view.

mod html;

use chrono::DateTime;
use twincell_blame::{
    Answer, Blame, ChangedText, CommitInfo, Culprit, Cut, Place, State, Step, ValueKind, Why, WitnessValue,
};

use crate::amplified::Part::{self, Quoted, Words};
use crate::amplified::{as_markdown, joined};
use crate::{plain, words};

pub use html::{blame_fragment, blame_page};

/// The maximum number of commits that are listed where one of several must be it, and of those that were left out.
const LISTED: usize = 10;
/// The maximum number of hunks, and of lines of all of them.
const HUNKS: usize = 5;
const LINES: usize = 60;

/// For terminals.
pub fn blame_text(found: &Blame) -> String {
    let mut out = String::new();
    for line in answer(found) {
        out += &format!("{}\n", plain::sentence(&joined(&line)));
    }
    for line in details(found) {
        out += &format!("  {}\n", plain::sentence(&joined(&line)));
    }
    if let Some(change) = changed(found) {
        out += &format!("  {}\n", plain::sentence(&joined(&change_line(change, found))));
        for line in diff(change) {
            out += &format!("    {}\n", plain::code(&line));
        }
    }
    for line in ran(found) {
        out += &format!("{}\n", plain::sentence(&joined(&line)));
    }
    out
}

/// As Markdown, for a pull request or an issue.
pub fn blame_markdown(found: &Blame) -> String {
    let mut lines = answer(found).into_iter();
    let mut out = format!("### twincell: {}\n", lines.next().map(|line| as_markdown(&line)).unwrap_or_default());
    for line in lines.chain(details(found)) {
        out += &format!("\n- {}", as_markdown(&line));
    }
    if let Some(change) = changed(found) {
        let text = diff(change).iter().map(|line| plain::code(line)).collect::<Vec<_>>().join("\n");
        out += &format!("\n- {}\n\n", as_markdown(&change_line(change, found)));
        // A fence is longer than any in the text.
        out += &format!("````diff\n{}\n````\n", text.replace("````", "'''"));
    }
    for line in ran(found) {
        out += &format!("\n- {}", as_markdown(&line));
    }
    out + "\n"
}

/// What the call gave before the commit that changed it, where such a commit was found.
pub fn blame_before(found: &Blame) -> Option<String> {
    before(found).map(|before| plain::sentence(&joined(&state(before))))
}

/// What of the commit changed the value, as a diff of its file without a head.
pub fn blame_diff(found: &Blame) -> Option<String> {
    changed(found).map(|change| diff(change).iter().map(|line| plain::code(line) + "\n").collect())
}

/// What the answer is. The first line says it.
fn answer(found: &Blame) -> Vec<Vec<Part>> {
    let call = asked(found);
    let gives = gives(found);
    match &found.answer {
        Answer::Since(culprit) => {
            let mut line = call;
            line.push(Words(format!(" {gives} since ")));
            line.extend(commit(&culprit.commit));
            vec![line]
        }
        Answer::Among { commits, count, .. } => {
            let mut line = call;
            line.push(Words(format!(" {gives} since one of {}:", words::count(*count, "commit"))));
            let mut lines = vec![line];
            lines.extend(commits.iter().take(LISTED).map(|one| indented(commit(one))));
            if let more @ 1.. = count.saturating_sub(LISTED) {
                lines.push(vec![Words(format!("  and {more} more"))]);
            }
            lines
        }
        Answer::Same { oldest } => {
            let mut line = call;
            line.push(Words(match (found.cut, found.has_range) {
                (Some(_), _) => format!(" {gives} as far back as was looked: at "),
                (None, true) => {
                    format!(" {gives} at both ends of the range, as far as it runs: at the oldest commit, ")
                }
                (None, false) => format!(" {gives} as far back as it runs: at the oldest commit, "),
            }));
            line.extend(commit(oldest));
            vec![line]
        }
    }
}

/// What ran: a call, or a function on the witness of a comparison.
fn asked(found: &Blame) -> Vec<Part> {
    let mut line = vec![Quoted(found.call.clone())];
    let Some(values) = &found.witness else { return line };
    for (place, WitnessValue { path, value }) in values.iter().enumerate() {
        line.push(Part::words(if place == 0 { ", where " } else { " and " }));
        line.push(Quoted(format!("{path} = {value}")));
    }
    line.extend((!values.is_empty()).then(|| Part::words(",")));
    line
}

fn gives(found: &Blame) -> &'static str {
    match found.value.kind {
        ValueKind::Returned => "gives its value",
        ValueKind::Raised => "raises its exception",
        ValueKind::Did => "does the same",
    }
}

/// What was before and what is now, and how it came there.
fn details(found: &Blame) -> Vec<Vec<Part>> {
    let value = |(when, mut line): (&str, Vec<Part>)| {
        line.insert(0, Words(format!("{when}: ")));
        line
    };
    values(found).into_iter().map(value).chain(origins(found)).collect()
}

/// What was before, and what is now.
fn values(found: &Blame) -> Vec<(&'static str, Vec<Part>)> {
    let before = before(found).map(|before| ("before", state(before)));
    before.into_iter().chain([("now", vec![Quoted(found.value.shown.clone())])]).collect()
}

/// How the change came.
fn origins(found: &Blame) -> Vec<Vec<Part>> {
    let mut lines = Vec::new();
    if let Answer::Since(culprit) = &found.answer {
        if let Some(merge) = &culprit.merge {
            let mut line = vec![Part::words("it came with the merge ")];
            line.extend(commit(merge));
            lines.push(line);
        }
        if let Some(from) = &culprit.from {
            lines.push(vec![Part::words("before, the function was "), place(from)]);
        }
    }
    lines
}

fn before(found: &Blame) -> Option<&State> {
    match &found.answer {
        Answer::Since(Culprit { before, .. }) | Answer::Among { before, .. } => Some(before),
        Answer::Same { .. } => None,
    }
}

fn state(state: &State) -> Vec<Part> {
    match state {
        State::Gave(value) => vec![Quoted(value.shown.clone())],
        State::Absent => vec![Part::words("the function was not there")],
        State::Skipped(reason) => vec![Quoted(reason.to_string())],
    }
}

fn place(place: &Place) -> Part {
    Quoted(format!("{}:{}", place.file, place.function))
}

fn changed(found: &Blame) -> Option<&ChangedText> {
    match &found.answer {
        Answer::Since(culprit) => culprit.change.as_ref(),
        Answer::Among { .. } | Answer::Same { .. } => None,
    }
}

/// What of the commit it was.
fn change_line(change: &ChangedText, found: &Blame) -> Vec<Part> {
    let mut line = vec![Quoted(change.file.clone())];
    match &change.why {
        Why::Own => line.extend([Part::words(", in "), Quoted(found.place.function.clone()), Part::words(" itself:")]),
        Why::Uses { symbol } => {
            line.extend([Part::words(", in "), Quoted(symbol.clone()), Part::words(", which it uses:")]);
        }
        Why::SameFile => line.push(Part::words(", a guess, since this is the file of the function:")),
    }
    line
}

/// The hunks as git writes them.
fn diff(change: &ChangedText) -> Vec<String> {
    let mut lines = Vec::new();
    for hunk in change.hunks.iter().take(HUNKS) {
        let ((old, count), (new, many)) = (hunk.old, hunk.new);
        lines.push(format!("@@ -{old},{count} +{new},{many} @@"));
        lines.extend(hunk.lines.iter().map(|line| {
            use twincell_blame::HunkLineKind::{Added, Removed, Same};
            let sign = match line.kind {
                Same => ' ',
                Added => '+',
                Removed => '-',
            };
            format!("{sign}{}", line.text)
        }));
    }
    let more = lines.len().saturating_sub(LINES);
    lines.truncate(LINES);
    if more > 0 || change.hunks.len() > HUNKS {
        lines.push("…".to_owned());
    }
    lines
}

/// How it was found, and what was left out.
fn ran(found: &Blame) -> Vec<Vec<Part>> {
    let skipped: Vec<_> = found.skipped().collect();
    let mut first =
        format!("the call ran at {} of {}", found.steps.len() - skipped.len(), words::count(found.commits, "commit"));
    match skipped.len() {
        0 => {}
        count => first += &format!("; at {count} more it cannot run:"),
    }
    let mut lines = vec![vec![Words(first)]];
    for (Step { commit: at, .. }, reason) in skipped.iter().take(LISTED) {
        let mut line = indented(commit(at));
        line.extend([Part::words(": "), Quoted(reason.to_string())]);
        lines.push(line);
    }
    if let more @ 1.. = skipped.len().saturating_sub(LISTED) {
        lines.push(vec![Words(format!("  and {more} more"))]);
    }
    let cut = found.cut.map(|cut| match cut {
        Cut::Budget => "the search ended early: --budget lets it run at more commits",
        Cut::Deadline => "the search ended early, by --deadline",
        Cut::Stopped => "the search was stopped",
        Cut::Skips => "at older commits the call cannot run, as far as those tell that were tried",
        Cut::History => "the history that is known ends there: a clone that is not shallow has more",
    });
    lines.extend(cut.map(|cut| vec![Part::words(cut)]));
    lines
}

fn indented(mut line: Vec<Part>) -> Vec<Part> {
    line.insert(0, Part::words("  "));
    line
}

/// A commit: its id, its date, its subject.
fn commit(commit: &CommitInfo) -> Vec<Part> {
    let date = DateTime::from_timestamp(commit.seconds, 0).map(|time| time.format(" %Y-%m-%d ").to_string());
    vec![
        Words(words::commit_name(&commit.id).to_owned()),
        Words(date.unwrap_or_else(|| " ".to_owned())),
        Quoted(commit.subject.clone()),
    ]
}

#[cfg(test)]
mod tests {
    use twincell_blame::{FORMAT, Hunk, HunkLine, HunkLineKind, Skip, Value, Whole};

    use super::*;

    pub(super) fn sample(text: &str, answer: impl FnOnce(Culprit) -> Answer) -> Blame {
        let info = |id: &str| CommitInfo { id: id.repeat(20), subject: text.to_owned(), seconds: 1_700_000_000 };
        let value = |shown: &str| Value { kind: ValueKind::Returned, shown: shown.to_owned(), whole: Whole::Shown };
        let place = Place { file: format!("{text}.py"), function: "f".to_owned() };
        let line = |kind, text: &str| HunkLine { kind, text: text.to_owned(), old: None, new: None };
        let lines = vec![line(HunkLineKind::Removed, text), line(HunkLineKind::Added, "b")];
        let hunks = vec![Hunk { old: (1, 1), new: (1, 1), lines }];
        let skip = Skip::NotLoaded { reason: text.to_owned() };
        let culprit = Culprit {
            commit: info("ab"),
            merge: Some(info("cd")),
            before: State::Gave(value("returned 1")),
            from: Some(place.clone()),
            change: Some(ChangedText { file: text.to_owned(), why: Why::Own, hunks }),
        };
        Blame {
            format: FORMAT,
            place,
            call: "f(1)".to_owned(),
            witness: None,
            newest: info("ef"),
            value: value("returned 2"),
            commits: 20,
            has_range: false,
            answer: answer(culprit),
            steps: vec![Step { commit: info("12"), place: None, state: State::Skipped(skip) }],
            cut: None,
        }
    }

    #[test]
    fn the_first_line_says_since_when() {
        let text = blame_text(&sample("A subject", Answer::Since));
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "f(1) gives its value since abababab 2023-11-14 A subject");
        assert_eq!(lines[1..3], ["  before: returned 1", "  now: returned 2"]);
        assert!(text.contains("    -A subject\n    +b\n"), "{text}");
        assert!(text.contains("the call ran at 0 of 20 commits; at 1 more it cannot run:\n"), "{text}");
        let none = sample("s", |culprit| Answer::Same { oldest: culprit.commit });
        assert!(blame_text(&none).starts_with("f(1) gives its value as far back as it runs: "));
        let several =
            sample("s", |culprit| Answer::Among { commits: vec![culprit.commit], count: 30, before: State::Absent });
        let text = blame_text(&several);
        assert!(text.starts_with("f(1) gives its value since one of 30 commits:\n  abababab"), "{text}");
        assert!(text.contains("\n  and 20 more\n  before: the function was not there\n"), "{text}");
    }

    #[test]
    fn nothing_of_a_repository_changes_a_terminal_or_a_comment() {
        let found = sample("\u{1b}[2J @team [x](https://x.example) <b>", Answer::Since);
        assert!(!blame_text(&found).contains('\u{1b}'));
        let markdown = blame_markdown(&found);
        let outside = markdown.split("````").step_by(2).collect::<String>();
        let spans: Vec<&str> = outside.split('`').step_by(2).collect();
        assert!(!spans.concat().contains("@team") && !spans.concat().contains("<b>"), "{markdown}");
    }
}
