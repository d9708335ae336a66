//! The change in a terminal: a unified diff, or both versions side by side if there is room, with line numbers,
//! coverage margin and the injected values under the line where they entered.

use anstyle::{AnsiColor, Style};

use twincell_compare::report::{Comparison, LineReport, PairReport};
use twincell_compare::verdict::Verdict;
use twincell_syntax::AlignedRow;

use super::DIM;
use super::page::{Page, chunks, padded};
use crate::{plain, words};

/// The width from which both versions stand side by side.
const SIDE_BY_SIDE: usize = 130;
/// The number of unchanged rows shown around a changed one.
const CONTEXT: usize = 3;
/// The number of rows up to which a function is shown whole.
const WHOLE: usize = 24;
/// The maximum number of values shown under one line. The list of injected values has more.
const VALUES_AT_LINE: usize = 6;
/// The maximum number of rows shown.
const ROWS: usize = 200;

const REMOVED: Style = Style::new().fg_color(Some(anstyle::Color::Ansi(AnsiColor::Red)));
const ADDED: Style = Style::new().fg_color(Some(anstyle::Color::Ansi(AnsiColor::Green)));
const VALUE: Style = Style::new().fg_color(Some(anstyle::Color::Ansi(AnsiColor::Blue)));

/// A line with its sign and style as it is printed.
struct Shown<'a> {
    line: &'a LineReport,
    /// Its number in the file.
    number: u32,
    sign: char,
    style: Style,
}

pub fn changes(page: &mut Page, pair: &PairReport) {
    let changed: Vec<bool> = pair.rows.iter().map(|row| is_changed(pair, row)).collect();
    if !changed.contains(&true) {
        return;
    }
    page.title("Old and new");
    let shown = shown_rows(&changed);
    let total = shown.len();
    if page.width < SIDE_BY_SIDE {
        page.styled(DIM, &unified_gutter("old", "new", "runs", "runs"));
        page.end();
    }
    let mut last = None;
    let mut hunk = Hunk::default();
    for index in shown.into_iter().take(ROWS) {
        let is_gap = last.is_some_and(|last| index > last + 1) || (last.is_none() && index > 0);
        let (old, new) = words::row_lines(pair, &pair.rows[index]);
        let begun = begun(pair, old, new);
        if is_gap || begun.is_some() {
            hunk.end(page, pair);
            page.prose("  ", begun.as_deref().unwrap_or("⋯"), DIM);
        }
        last = Some(index);
        if page.width >= SIDE_BY_SIDE {
            both_sides(page, sides(pair, old, new));
            entered(page, pair, old, new);
        } else {
            hunk.add(page, pair, (old, new));
        }
    }
    hunk.end(page, pair);
    if last.is_some_and(|last| last + 1 < pair.rows.len()) {
        page.prose("  ", "⋯", DIM);
    }
    page.more(total, ROWS);
}

fn is_changed(pair: &PairReport, row: &AlignedRow) -> bool {
    let (old, new) = words::row_lines(pair, row);
    let is_marked = |line: Option<&LineReport>, other| line.is_some_and(|line| words::is_marked(line, other));
    is_marked(old, new) || is_marked(new, old)
}

/// What is said where other functions begin, which stand elsewhere.
fn begun(pair: &PairReport, old: Option<&LineReport>, new: Option<&LineReport>) -> Option<String> {
    let begun: Vec<_> =
        [words::part_from(&pair.old, old), words::part_from(&pair.new, new)].into_iter().flatten().collect();
    begun.first()?;
    let mut texts: Vec<String> = begun.iter().filter_map(|part| words::part_text(&part.text)).collect();
    texts.dedup();
    Some(if texts.is_empty() { "⋯".to_owned() } else { format!("⋯ in {}", texts.join(", ")) })
}

fn shown_rows(changed: &[bool]) -> Vec<usize> {
    let near = |index: usize| {
        let from = index.saturating_sub(CONTEXT);
        changed[from..(index + CONTEXT + 1).min(changed.len())].contains(&true)
    };
    (0..changed.len()).filter(|&index| changed.len() <= WHOLE || near(index)).collect()
}

/// A line that the diff does not mark but whose text differs (a comment, a renamed local) has the sign `~`.
fn sign(line: &LineReport, other: Option<&LineReport>, changed: char, style: Style) -> (char, Style) {
    match other {
        _ if words::is_marked(line, other) => (changed, style),
        Some(other) if plain::code(other.text.trim_end()) != plain::code(line.text.trim_end()) => ('~', Style::new()),
        _ => (' ', Style::new()),
    }
}

type Sides<'a> = (Option<Shown<'a>>, Option<Shown<'a>>);

fn sides<'a>(pair: &PairReport, old: Option<&'a LineReport>, new: Option<&'a LineReport>) -> Sides<'a> {
    let shown = |version, line: Option<&'a LineReport>, other: Option<&LineReport>, changed, style| {
        line.map(|line| {
            let (sign, style) = sign(line, other, changed, style);
            Shown { line, number: words::line_in_file(version, line.number), sign, style }
        })
    };
    (shown(&pair.old, old, new, '-', REMOVED), shown(&pair.new, new, old, '+', ADDED))
}

/// The meaning of the signs in the margin, once for all pairs, if there was a margin.
pub fn legend(page: &mut Page, comparison: &Comparison) {
    let has_margin =
        |pair: &PairReport| pair.verdict != Verdict::Identical && pair.rows.iter().any(|row| is_changed(pair, row));
    if comparison.pairs.iter().any(has_margin) {
        page.blank();
        page.prose("", words::MARGIN_LEGEND, DIM);
    }
}

/// The coverage margin of a line, with a mark if the shown execution ran it.
fn runs(line: &LineReport) -> String {
    format!("{}{}", if line.witness_hits > 0 { "▸" } else { "" }, words::margin(line))
}

/// Changed lines that follow each other: all of the old version first, then all of the new one.
#[derive(Default)]
struct Hunk<'a> {
    old: Vec<Shown<'a>>,
    new: Vec<Shown<'a>>,
}

impl<'a> Hunk<'a> {
    fn add(&mut self, page: &mut Page, pair: &PairReport, row: (Option<&'a LineReport>, Option<&'a LineReport>)) {
        match sides(pair, row.0, row.1) {
            (Some(old), Some(new)) if old.sign == ' ' && new.sign == ' ' => {
                self.end(page, pair);
                single(page, &new, Some(&old), Some(&new));
                entered(page, pair, row.0, row.1);
            }
            (old, new) => {
                self.old.extend(old);
                self.new.extend(new);
            }
        }
    }

    /// Writes what was added.
    fn end(&mut self, page: &mut Page, pair: &PairReport) {
        for shown in self.old.drain(..) {
            single(page, &shown, Some(&shown), None);
            entered(page, pair, Some(shown.line), None);
        }
        for shown in self.new.drain(..) {
            single(page, &shown, None, Some(&shown));
            entered(page, pair, None, Some(shown.line));
        }
    }
}

fn single(page: &mut Page, shown: &Shown<'_>, old: Option<&Shown<'_>>, new: Option<&Shown<'_>>) {
    let number = |side: Option<&Shown<'_>>| side.map_or_else(String::new, |side| side.number.to_string());
    let margin = |side: Option<&Shown<'_>>| side.map_or_else(String::new, |side| runs(side.line));
    let gutter = unified_gutter(&number(old), &number(new), &margin(old), &margin(new));
    let room = page.width.saturating_sub(gutter.chars().count() + 2).max(8);
    for (index, piece) in chunks(&plain::code(&shown.line.text), room).iter().enumerate() {
        let first = index == 0;
        page.styled(DIM, if first { gutter.clone() } else { unified_gutter("", "", "", "") }.as_str());
        page.styled(shown.style, &format!("{} {piece}", if first { shown.sign } else { ' ' }));
        page.end();
    }
}

fn unified_gutter(old: &str, new: &str, old_runs: &str, new_runs: &str) -> String {
    format!("{old:>4}{new:>5} {old_runs:>5}{new_runs:>5} │ ")
}

fn side_gutter(shown: &Shown<'_>) -> String {
    format!("{:>4} {:>5} │", shown.number, runs(shown.line))
}

fn both_sides(page: &mut Page, (old, new): Sides<'_>) {
    let half = (page.width - 3) / 2;
    let columns = |shown: &Option<Shown<'_>>| -> (String, Vec<String>) {
        shown.as_ref().map_or_else(Default::default, |shown| {
            let gutter = side_gutter(shown);
            let room = half - gutter.chars().count() - 2;
            let pieces = chunks(&plain::code(&shown.line.text), room);
            let signed = |(index, piece)| format!("{} {piece}", if index == 0 { shown.sign } else { ' ' });
            (gutter, pieces.iter().enumerate().map(signed).collect())
        })
    };
    let sides = [(columns(&old), old.map(|one| one.style)), (columns(&new), new.map(|one| one.style))];
    let height = sides.iter().map(|((_, pieces), _)| pieces.len()).max().unwrap_or(0);
    for index in 0..height {
        for (side, ((gutter, pieces), style)) in sides.iter().enumerate() {
            let gutter = if index == 0 { gutter.as_str() } else { "" };
            let gutter = padded(gutter, 12);
            page.styled(DIM, &gutter);
            let piece = pieces.get(index).map_or("", String::as_str);
            page.styled(style.unwrap_or_default(), &padded(piece, half - 12));
            if side == 0 {
                page.styled(DIM, " ┃ ");
            }
        }
        page.end();
    }
}

fn entered(page: &mut Page, pair: &PairReport, old: Option<&LineReport>, new: Option<&LineReport>) {
    let Some(witness) = &pair.witness else { return };
    let found = words::injections_at(witness, old, new);
    if found.is_empty() {
        return;
    }
    let value = |&index: &usize| {
        let injection = &witness.injections[index];
        format!("{} = {}", plain::path(injection.path.as_str()), plain::value(&injection.value.display()))
    };
    let mut values: Vec<String> = found.iter().take(VALUES_AT_LINE).map(value).collect();
    if found.len() > VALUES_AT_LINE {
        values.push(format!("and {} more", found.len() - VALUES_AT_LINE));
    }
    let indent = if page.width >= SIDE_BY_SIDE { 14 } else { 24 };
    let shown = page.cut(&format!("↳ {}", values.join(" · ")), page.width - indent);
    page.styled(Style::new(), &" ".repeat(indent));
    page.styled(VALUE, &shown);
    page.end();
}
