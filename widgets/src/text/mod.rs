//! A comparison for the terminal: sentence, evidence, injected values, the change, differing calls. Colors appear only
//! on request. User text is stripped of everything that a terminal would obey.

mod code;
mod entry;
mod page;
mod summary;

use anstyle::{AnsiColor, Style};
use page::Page;

use twincell_behavior::display_call;
use twincell_compare::report::{Comparison, PairReport, VersionReport};
use twincell_compare::verdict::Verdict;
use twincell_engine::observed::Call;

use crate::{plain, wording, words};
pub(crate) use page::cut;
pub use summary::{Advice, SummaryFile, summary};

const EVIDENCE_SHOWN: usize = 10;
const VALUES_SHOWN: usize = 20;
const CALLS_SHOWN: usize = 20;
/// The maximum number of unchanged functions with a paragraph of their own.
const SAME_SHOWN: usize = 3;

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();

/// How text is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextOptions {
    /// Use ANSI colors. They only repeat what signs and words say.
    pub color: bool,
    /// The number of columns of the terminal, taken as at least 40 and at most 240.
    pub width: usize,
}

impl Default for TextOptions {
    fn default() -> Self {
        Self { color: false, width: 100 }
    }
}

/// A comparison as text of at most `width` columns. From 130 columns on, both versions stand side by side.
pub fn text(comparison: &Comparison, options: &TextOptions) -> String {
    let mut page = Page::new(options.color, options.width.clamp(40, 240));
    let pairs = words::ordered_pairs(comparison);
    let mark = match pairs.as_slice() {
        [only] => words::mark(only),
        _ => (words::icon(comparison.verdict), comparison.verdict.name()),
    };
    heading(&mut page, mark, tone(comparison.verdict), "", &plain::sentence(&wording::comparison(comparison)));
    if let Some(mark) = words::without_sandbox(comparison) {
        page.prose("  ", &plain::sentence(&mark), BOLD);
    }
    match pairs.as_slice() {
        [only] => {
            accepted(&mut page, only);
            if let Some(sentence) = words::further_sentence(comparison, only) {
                page.prose("  ", &plain::sentence(&sentence), Style::new());
            }
            pair_body(&mut page, only, comparison.budget);
        }
        several => {
            // Most of a large file is unchanged. That is one paragraph, and not one for each function.
            let (same, others): (Vec<&PairReport>, Vec<&PairReport>) = several.iter().copied().partition(|pair| {
                let [old, new] = [&pair.old, &pair.new].map(|version| version.lines.iter().map(|line| &line.text));
                pair.verdict == Verdict::Identical && pair.decides_itself() && old.eq(new)
            });
            let (same, others) = if same.len() > SAME_SHOWN { (same, others) } else { (Vec::new(), several.to_vec()) };
            for pair in others {
                page.rule();
                let name = plain::value(&words::pair_name(pair));
                let decides = pair.decides();
                let style = if decides { tone(pair.verdict) } else { BOLD };
                heading(&mut page, words::mark(pair), style, &name, &plain::sentence(&wording::pair(pair)));
                accepted(&mut page, pair);
                if decides && pair.verdict != Verdict::Identical {
                    pair_body(&mut page, pair, comparison.budget);
                }
            }
            if !same.is_empty() {
                page.rule();
                let names: Vec<String> = same.iter().map(|pair| plain::value(&words::pair_name(pair))).collect();
                let mark = (words::icon(Verdict::Identical), Verdict::Identical.name());
                let count = format!("{} functions and classes", same.len());
                heading(&mut page, mark, tone(Verdict::Identical), &count, &format!("{}.", names.join(", ")));
            }
        }
    }
    code::legend(&mut page, comparison);
    one_sided(&mut page, "Only in old", &comparison.removed);
    one_sided(&mut page, "Only in new", &comparison.added);
    page.blank();
    let foot = format!(
        "twincell {} · predictor: {} · seed {} · {} in all",
        plain::value(&comparison.twincell),
        plain::value(&comparison.predictor),
        comparison.seed,
        words::duration(comparison.milliseconds)
    );
    page.prose("", &foot, DIM);
    page.finish()
}

/// The line above what is said of a file.
pub(crate) fn file_heading(path: &str, options: &TextOptions) -> String {
    let mut page = Page::new(options.color, usize::MAX);
    page.styled(BOLD, &plain::sentence(path));
    page.end();
    page.finish()
}

fn accepted(page: &mut Page, pair: &PairReport) {
    if let Some(reason) = &pair.accepted {
        page.prose("  ", &format!("Accepted: {}", plain::sentence(reason)), Style::new());
    }
}

fn tone(verdict: Verdict) -> Style {
    let color = match verdict {
        Verdict::Changing => AnsiColor::Red,
        Verdict::LikelyPreserving => AnsiColor::Green,
        Verdict::Inconclusive => AnsiColor::Yellow,
        Verdict::Identical => AnsiColor::Cyan,
    };
    Style::new().bold().fg_color(Some(color.into()))
}

fn heading(page: &mut Page, (icon, word): (&str, &str), style: Style, name: &str, sentence: &str) {
    let gap = if name.is_empty() { "" } else { "  " };
    page.styled(style, &format!("{icon} {word}"));
    page.styled(BOLD, &format!("{gap}{}", page.cut(name, page.width - 22)));
    page.end();
    page.prose("  ", sentence, Style::new());
}

fn pair_body(page: &mut Page, pair: &PairReport, budget: u32) {
    if let Some(reason) = words::reason(pair) {
        page.prose("  ", &reason, Style::new());
    }
    let facts = words::facts(pair, budget);
    let facts: Vec<String> = facts.iter().map(|(name, value)| format!("{}: {value}", name.to_lowercase())).collect();
    page.prose("  ", &facts.join(" · "), DIM);
    evidence(page, pair);
    values(page, pair);
    code::changes(page, pair);
    calls(page, pair);
    if !pair.notes.is_empty() {
        page.title("Notes");
        for note in &pair.notes {
            page.hanging("  • ", &plain::sentence(&wording::note(note)));
        }
    }
}

fn evidence(page: &mut Page, pair: &PairReport) {
    if pair.evidence.is_empty() {
        return;
    }
    page.title("Evidence");
    for one in pair.evidence.iter().take(EVIDENCE_SHOWN) {
        let place = words::evidence_place(one);
        let number = one.execution;
        page.hanging("  ≠ ", &format!("{place} ({}, execution {number})", words::strength(one)));
        for (label, value) in [("      old  ", &one.old), ("      new  ", &one.new)] {
            page.hanging(label, if value.is_empty() { "nothing".into() } else { plain::value(value) }.as_str());
        }
    }
    page.more(pair.evidence.len(), EVIDENCE_SHOWN);
}

fn values(page: &mut Page, pair: &PairReport) {
    let Some(witness) = &pair.witness else { return };
    page.title(&words::witness_title(pair, witness));
    if witness.injections.is_empty() {
        page.prose("  ", "No value was missing: nothing was injected.", Style::new());
    }
    for injection in witness.injections.iter().take(VALUES_SHOWN) {
        let value = plain::value(&injection.value.display());
        page.hanging("  ", &format!("{} = {value}", plain::path(injection.path.as_str())));
        let about = format!(
            "{}, {}, {}, {} likely",
            injection.value.abstract_value().name(),
            words::kind_name(injection.kind),
            words::injection_place(pair, injection),
            words::probability(f64::from(injection.probability))
        );
        page.aside(&about);
    }
    page.more(witness.injections.len(), VALUES_SHOWN);
    let others = words::other_decisions(witness);
    for (path, decision) in others.iter().take(VALUES_SHOWN) {
        page.hanging("  ", &format!("{}: {}", plain::path(path), plain::value(decision)));
    }
    page.more(others.len(), VALUES_SHOWN);
    for varied in &witness.varied {
        page.prose("  ", &plain::sentence(&wording::varied(varied)), Style::new());
    }
}

fn calls(page: &mut Page, pair: &PairReport) {
    let Some(witness) = &pair.witness else { return };
    let differing: Vec<_> = witness.calls.iter().filter(|row| !row.equal).collect();
    if differing.is_empty() {
        return;
    }
    page.title(&format!("Calls that differ ({} of {})", differing.len(), witness.calls.len()));
    for row in differing.iter().take(CALLS_SHOWN) {
        let shown = |version: &VersionReport, call: &Call| {
            let line = words::line_name(version, call.line);
            format!("{} (line {line})", plain::value(&display_call(call)))
        };
        match (&row.old, &row.new) {
            (Some(old), Some(new)) => {
                page.hanging("  ≠ old       ", &shown(&pair.old, old));
                page.hanging("    new       ", &shown(&pair.new, new));
            }
            (old, new) => {
                let label = format!("  {}  ", words::call_mark(row, &witness.calls));
                old.iter().for_each(|call| page.hanging(&label, &shown(&pair.old, call)));
                new.iter().for_each(|call| page.hanging(&label, &shown(&pair.new, call)));
            }
        }
    }
    page.more(differing.len(), CALLS_SHOWN);
}

fn one_sided(page: &mut Page, title: &str, names: &[String]) {
    if !names.is_empty() {
        let names: Vec<String> = names.iter().map(|name| plain::value(name)).collect();
        page.blank();
        page.hanging(&format!("{title}: "), &names.join(", "));
    }
}
