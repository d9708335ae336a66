//! The predictions for a text: a table for the terminal, and the code with the predictions in its margin for a
//! notebook. Nothing is run.

use std::collections::BTreeMap;

use maud::{Markup, PreEscaped, html};
use unicode_width::UnicodeWidthStr;

use twincell_values::predicted::{Predicted, SitePrediction};

use crate::bundle::STYLE;
use crate::text::cut;
use crate::{plain, words};

/// The maximum number of classes named for a site, and the minimum probability of a named class.
const NAMED: usize = 3;
const LEAST: f32 = 0.01;
/// The maximum number of reported errors.
const NOTES: usize = 5;
/// The width of an expression in the table, in columns.
const WIDEST: usize = 48;

/// `int 94 %, float 2 %`
fn likeliest(site: &SitePrediction) -> String {
    let ranked = site.ranked();
    if let (Some((_, most)), Some((_, least))) = (ranked.first(), ranked.last())
        && most == least
    {
        return format!("any class, {} each", words::percent(f64::from(*most)));
    }
    let named = ranked.iter().take(NAMED).filter(|(_, share)| *share >= LEAST);
    let named: Vec<String> =
        named.map(|(class, share)| format!("{} {}", class.name(), words::percent(f64::from(*share)))).collect();
    named.join(", ")
}

/// The predictions as a table for a terminal, with a part for each function.
pub fn predictions_text(predicted: &Predicted) -> String {
    let mut lines = Vec::new();
    let width = |site: &SitePrediction| plain::path(&site.path).width().min(WIDEST);
    let widest = predicted.sites.iter().map(width).max().unwrap_or(0).max("value site".len());
    let mut function = None;
    for site in &predicted.sites {
        if function != Some(&site.function) {
            if function.is_some() {
                lines.push(String::new());
            }
            lines.push(plain::value(&site.function));
            lines.push(format!("  {:>5}  {:widest$}  {:9}  predicted", "line", "value site", "kind"));
            function = Some(&site.function);
        }
        let path = cut(&plain::path(&site.path), WIDEST);
        let padding = " ".repeat(widest.saturating_sub(path.width()));
        let kind = words::kind_name(Some(site.kind));
        lines.push(format!("  {:>5}  {path}{padding}  {kind:9}  {}", site.line, likeliest(site)));
    }
    if predicted.sites.is_empty() && predicted.errors.is_empty() {
        lines.push(
            "There is no function with a value to predict; code outside functions has no predictions.".to_owned(),
        );
    }
    lines.extend(notes(predicted));
    lines.join("\n") + "\n"
}

/// The code of a text with the predictions beside it, for a notebook's output area.
pub fn predictions_fragment(text: &str, predicted: &Predicted) -> String {
    fragment(text, predicted).into_string()
}

fn fragment(text: &str, predicted: &Predicted) -> Markup {
    let mut by_line: BTreeMap<u32, Vec<&SitePrediction>> = BTreeMap::new();
    for site in &predicted.sites {
        by_line.entry(site.line).or_default().push(site);
    }
    html! {
        div.tc-out {
            style { (PreEscaped(STYLE)) }
            div.tc-scroll {
                table.tc-table {
                    caption { (words::count(predicted.sites.len(), "value site")) " with what is expected there" }
                    thead { tr { th scope="col" { "Line" } th scope="col" { "Code" } th scope="col" { "Predicted" } } }
                    tbody {
                        @for (index, line) in text.lines().enumerate() {
                            @let sites = by_line.get(&(index as u32 + 1));
                            tr {
                                td.tc-num { (index + 1) }
                                td { code style="white-space: pre" { (plain::code(line)) } }
                                td {
                                    @for site in sites.into_iter().flatten() {
                                        div { code { (plain::path(&site.path)) } " " (likeliest(site)) }
                                    }
                                }
                            }
                        }
                    }
                }
            }
            @for note in notes(predicted) { p { (note) } }
        }
    }
}

/// The parts that could not be predicted, one on each line.
fn notes(predicted: &Predicted) -> Vec<String> {
    let errors = predicted.errors.iter().map(|error| {
        format!("line {}, column {} is not valid Python: {}", error.line, error.column, plain::sentence(&error.message))
    });
    let left_out = predicted
        .left_out
        .iter()
        .map(|(name, reason)| format!("{} is left out: {}", plain::value(name), plain::sentence(reason)));
    let mut notes: Vec<String> = errors.chain(left_out).collect();
    if notes.len() > NOTES {
        let more = notes.len() - NOTES;
        notes.truncate(NOTES);
        notes.push(format!("and {more} more"));
    }
    notes
}
