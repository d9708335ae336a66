//! What is said of a pair in a summary: its sentence where this fits into one line, and otherwise the parts of its headline,
//! each in lines of its own.

use twincell_compare::report::{Headline, PairReport};
use unicode_width::UnicodeWidthStr;

use super::page::Page;
use crate::{plain, wording};

/// The maximum number of lines of a sentence, of a call, and of conditions.
const LINES: usize = 4;
const CALL: usize = 2;
const CONDITIONS: usize = 2;
/// The minimum number of columns for a call in the line of its place.
const ROOM: usize = 24;

const OLD: &str = "old  ";
const NEW: &str = "new  ";
const WHEN: &str = "when ";

/// A line of text with the label in front of it.
pub(super) type Labelled = (&'static str, String);

/// The lines about a pair, of which the first follows `start` columns of its line, and the others an indent.
pub(super) fn lines(page: &Page, pair: &PairReport, start: usize, indent: usize) -> Vec<Labelled> {
    let sentence = plain::sentence(&wording::pair(pair));
    match &pair.headline {
        Some(headline) if start + sentence.width() > page.width => parts(page, headline, start, indent),
        _ => wrapped(page, &sentence, start, indent, LINES),
    }
}

/// The first lines of a text, of which the first follows `start` columns of its line.
fn wrapped(page: &Page, text: &str, start: usize, indent: usize, most: usize) -> Vec<Labelled> {
    let mut lines = page.wrapped_behind(text, start, indent);
    if lines.len() > most {
        lines.truncate(most);
        let last = &mut lines[most - 1];
        *last = page.cut(&format!("{last} …"), page.width - indent);
    }
    lines.into_iter().map(|line| ("", line)).collect()
}

/// The call, what each version makes of it, and when.
fn parts(page: &Page, headline: &Headline, start: usize, indent: usize) -> Vec<Labelled> {
    let room = page.width - indent;
    let [call, place] = [&headline.call, wording::place(&headline.contrast)].map(plain::sentence);
    // Statements have no call: the name that they bind comes first.
    let (first, place) = if call.is_empty() { (place.trim_end_matches(':'), "") } else { (&*call, &*place) };
    let mut lines: Vec<Labelled> = match start + first.width().min(ROOM) <= page.width {
        true => wrapped(page, first, start, indent, CALL),
        false => std::iter::once(("", String::new())).chain(wrapped(page, first, indent, indent, CALL)).collect(),
    };
    let at = |shown: &str| format!("{place} {}", plain::sentence(shown)).trim_start().to_owned();
    match (&headline.contrast.shown.old, &headline.contrast.shown.new) {
        (Some(old), Some(new)) => {
            let both = at(&format!("{old} -> {new}"));
            if both.width() <= room {
                lines.push(("", both));
            } else {
                let labelled = [(OLD, old), (NEW, new)];
                lines.extend(labelled.map(|(label, shown)| (label, page.cut(&at(shown), room - label.width()))));
            }
        }
        _ => lines.push(("", page.cut(&plain::sentence(&wording::contrast(&headline.contrast)), room))),
    }
    lines.extend(conditions(page, headline, room));
    lines
}

/// Those conditions that fit, each of them whole.
fn conditions(page: &Page, headline: &Headline, room: usize) -> Vec<Labelled> {
    const UNLIKELY: &str = "only for an unlikely value";
    let all: Vec<String> = wording::conditions(headline).iter().map(|one| plain::sentence(one)).collect();
    if all.is_empty() {
        return if headline.unlikely { vec![("", UNLIKELY.to_owned())] } else { vec![] };
    }
    let first = |count: usize| {
        let more = if count < all.len() { format!(" and {} more", all.len() - count) } else { String::new() };
        let unlikely = if headline.unlikely { format!("; {UNLIKELY}") } else { String::new() };
        page.wrapped(&format!("{}{more}{unlikely}", all[..count].join(", ")), page.width - room + WHEN.width())
    };
    let fits = (1..=all.len()).rev().map(first).find(|lines| lines.len() <= CONDITIONS);
    let lines = fits.unwrap_or_else(|| first(1).into_iter().take(CONDITIONS).collect());
    let label = |number| if number == 0 { WHEN } else { "     " };
    lines.into_iter().enumerate().map(|(number, line)| (label(number), line)).collect()
}
