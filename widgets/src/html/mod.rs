//! Static HTML: the whole of a comparison as a fragment for notebooks or as a page of its own. What one pair looks
//! like is in [`pair`]; styling is in `style.css`, scoped to the class `tc-out`. No scripts, no ids.

mod code;
mod pair;
mod tables;

use maud::{DOCTYPE, Markup, PreEscaped, html};
use twincell_core::report::{Comparison, PairReport, Verdict};

use crate::{plain, words};

const STYLE: &str = include_str!("style.css");
const PAGE_STYLE: &str = include_str!("page.css");

/// A comparison for a notebook's output area: one `div` with its own style, colors from Jupyter's theme variables.
pub fn html_fragment(comparison: &Comparison) -> String {
    fragment(comparison).into_string()
}

/// A comparison as a self-contained page that needs no network and runs no script.
pub fn html_page(comparison: &Comparison, title: &str) -> String {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'";
                title { (plain::sentence(title)) }
                style { (PreEscaped(PAGE_STYLE)) }
            }
            body { main { (fragment(comparison)) } }
        }
    }
    .into_string()
}

fn fragment(comparison: &Comparison) -> Markup {
    let pairs = words::ordered_pairs(comparison);
    html! {
        div.tc-out {
            style { (PreEscaped(STYLE)) }
            div class={ "tc-head " (tone(comparison.verdict)) } {
                (badge((words::icon(comparison.verdict), comparison.verdict.name()), tone(comparison.verdict)))
                p.tc-sentence { (plain::sentence(&comparison.sentence)) }
            }
            @match pairs.as_slice() {
                [only] => {
                    @if only.sentence != comparison.sentence { p.tc-reason { (plain::sentence(&only.sentence)) } }
                    (pair::body(only, comparison.budget))
                }
                several => (several_pairs(several, comparison.budget)),
            }
            (one_sided("Only in old", "−", &comparison.removed))
            (one_sided("Only in new", "+", &comparison.added))
            p.tc-foot {
                "twincell " (plain::value(&comparison.twincell))
                " · predictor: " (plain::value(&comparison.predictor))
                " · seed " (comparison.seed)
                " · " (words::duration(comparison.milliseconds)) " in all"
            }
        }
    }
}

fn several_pairs(pairs: &[&PairReport], budget: u32) -> Markup {
    html! {
        @for (index, pair) in pairs.iter().enumerate() {
            @if pair.verdict == Verdict::Identical {
                div class={ "tc-pair tc-line " (pair_tone(pair)) } { (pair_summary(pair)) }
            } @else {
                @let open = pair.decided_by.is_empty() && (index == 0 || pair.verdict == Verdict::Changing);
                details class={ "tc-pair " (pair_tone(pair)) } open[open] {
                    summary { (pair_summary(pair)) }
                    (pair::body(pair, budget))
                }
            }
        }
    }
}

fn pair_summary(pair: &PairReport) -> Markup {
    html! {
        (badge(words::mark(pair), pair_tone(pair))) " "
        code.tc-name { (plain::value(&words::pair_name(pair))) } " "
        span.tc-gist { (plain::sentence(&pair.sentence)) }
    }
}

fn badge((icon, word): (&str, &str), tone: &str) -> Markup {
    html! {
        span class={ "tc-badge " (tone) } {
            span.tc-icon aria-hidden="true" { (icon) } " " (word)
        }
    }
}

/// The class that sets the accent color of a verdict.
fn tone(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Changing => "tc-changing",
        Verdict::LikelyPreserving => "tc-preserving",
        Verdict::Inconclusive => "tc-inconclusive",
        Verdict::Identical => "tc-identical",
    }
}

fn pair_tone(pair: &PairReport) -> &'static str {
    if pair.decided_by.is_empty() { tone(pair.verdict) } else { tone(Verdict::Identical) }
}

fn one_sided(title: &str, sign: &str, names: &[String]) -> Markup {
    const SHOWN: usize = 50;
    html! {
        @if !names.is_empty() {
            p.tc-sided {
                strong { (sign) " " (title) ": " }
                @for (index, name) in names.iter().take(SHOWN).enumerate() {
                    @if index > 0 { ", " }
                    code { (plain::value(name)) }
                }
                @if names.len() > SHOWN { " and " (names.len() - SHOWN) " more" }
            }
        }
    }
}
