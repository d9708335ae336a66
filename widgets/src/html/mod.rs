//! Static HTML: a whole comparison as a fragment for notebooks or as a complete page. [`pair`] renders one pair.
//! `style.css` has the styles, scoped to the class `tc-out`; `make widgets` makes it small. There are no scripts and no ids,
//! except that a complete page has our one script, which replaces the static view by the interactive one.

mod code;
mod diff;
mod pair;
mod study;
mod tables;

use std::sync::LazyLock;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use serde::Serialize;
use sha2::{Digest, Sha256};

use twincell_compare::report::{Comparison, PairReport};
use twincell_compare::verdict::Verdict;

use crate::bundle::{MODULE, STYLE};
use crate::notices::{self, Notices};
use crate::packed::packed;
use crate::plot::Plot;
use crate::state::{self, StudyState};
use crate::{plain, wording, words};

pub(crate) use diff::diff_lines;

const PAGE_STYLE: &str = include_str!("page.css");

/// A comparison for a notebook's output area: one `div` with its own style, colors from Jupyter's theme variables.
pub fn html_fragment(comparison: &Comparison) -> String {
    fragment(comparison).into_string()
}

/// A comparison as a self-contained page that needs no network: the interactive view and, below it, the static one for
/// readers without scripts. Only our script runs, by a policy that names its hash.
pub fn html_page(comparison: &Comparison, title: &str) -> String {
    page(title, Notices::default(), &fragment(comparison), &state::state(comparison))
}

/// The same with what is to say beside it, also where nothing was compared.
pub fn html_report(comparison: Option<&Comparison>, notices: Notices<'_>, title: &str) -> String {
    let notices = notices::markup(notices);
    match comparison {
        Some(comparison) => scripted(title, &notices, &fragment(comparison), &carried(&state::state(comparison))),
        None => document(title, PLAIN_POLICY, &html! { (notices) main { p { "Nothing was compared." } } }),
    }
}

/// A study for a notebook's output area: a table without scripts.
pub fn study_fragment(study: &StudyState) -> String {
    study::table(study).into_string()
}

/// A study as a page like that of [`html_page`]. Without scripts it shows a table of its changes. What it carries is
/// packed: the rows in one piece, and each comparison that was kept in a piece of its own.
pub fn study_page(study: &StudyState, title: &str) -> String {
    let carried = html! {
        script type="text/plain" data-twincell-packed { (PreEscaped(packed(study))) }
        @for (index, row) in study.rows.iter().enumerate() {
            @if let Some(comparison) = &row.comparison {
                script type="text/plain" data-twincell-comparison=(index) { (PreEscaped(comparison)) }
            }
        }
    };
    scripted(title, &html! {}, &study::table(study), &carried)
}

pub(crate) fn page(title: &str, notices: Notices<'_>, fragment: &Markup, state: &impl Serialize) -> String {
    scripted(title, &notices::markup(notices), fragment, &carried(state))
}

/// What the interactive view shows.
fn carried(state: &impl Serialize) -> Markup {
    html! { script type="application/json" data-twincell-state { (PreEscaped(json(state))) } }
}

/// A page in which our script runs, with what it is to show. It leaves alone what stands above.
fn scripted(title: &str, above: &Markup, fragment: &Markup, carried: &Markup) -> String {
    let policy = format!("{PLAIN_POLICY}; img-src data: blob:; script-src 'sha256-{}'", MODULE_HASH.as_str());
    let body = html! {
        (above)
        main { (fragment) }
        (carried)
        script type="module" { (PreEscaped(MODULE)) }
    };
    document(title, &policy, &body)
}

/// A page without scripts, in which none runs.
pub(crate) fn plain_page(title: &str, fragment: &Markup) -> String {
    document(title, PLAIN_POLICY, &html! { main { (fragment) } })
}

/// Nothing is loaded, and nothing runs.
const PLAIN_POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'";

fn document(title: &str, policy: &str, body: &Markup) -> String {
    html! {
        (DOCTYPE)
        html lang="en" data-twincell-page {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta http-equiv="Content-Security-Policy" content=(policy);
                title { (plain::sentence(title)) }
                style { (PreEscaped(PAGE_STYLE)) }
            }
            body { (body) }
        }
    }
    .into_string()
}

/// A part of a view that opens and closes.
pub(crate) fn section(title: &str, note: &str, open: bool, content: Markup) -> Markup {
    html! {
        details.tc-section open[open] {
            summary { span.tc-title { (title) } " " span.tc-note { (note) } }
            (content)
        }
    }
}

/// The hash by which the policy knows our script.
static MODULE_HASH: LazyLock<String> = LazyLock::new(|| STANDARD.encode(Sha256::digest(MODULE.as_bytes())));

/// JSON that can stand in a script element: it is plain ASCII, and nothing in it ends the element or begins a comment.
fn json(state: &impl Serialize) -> String {
    // A state holds only strings, numbers and string-keyed structs, which JSON can always represent.
    let json = serde_json::to_string(state).unwrap_or_default();
    let mut out = String::with_capacity(json.len());
    for character in json.chars() {
        match character {
            '<' => out.push_str("\\u003c"),
            ' '..='~' => out.push(character),
            // Outside strings JSON is ASCII, and inside them every character can be written by number.
            other => {
                let mut units = [0; 2];
                for unit in other.encode_utf16(&mut units) {
                    out.push_str(&format!("\\u{unit:04x}"));
                }
            }
        }
    }
    out
}

fn fragment(comparison: &Comparison) -> Markup {
    let pairs = words::ordered_pairs(comparison);
    html! {
        div.tc-out {
            style { (PreEscaped(STYLE)) }
            div class={ "tc-head " (tone(comparison.verdict)) } {
                (badge((words::icon(comparison.verdict), comparison.verdict.name()), tone(comparison.verdict)))
                p.tc-sentence { (plain::sentence(&wording::comparison(comparison))) }
            }
            @if let Some(mark) = words::without_sandbox(comparison) {
                p.tc-reason { strong { (plain::sentence(&mark)) } }
            }
            @match pairs.as_slice() {
                [only] => {
                    @if let Some(sentence) = words::further_sentence(comparison, only) {
                        p.tc-reason { (plain::sentence(&sentence)) }
                    }
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
                @let open = pair.decides() && (index == 0 || pair.verdict == Verdict::Changing);
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
        span.tc-gist { (plain::sentence(&wording::pair(pair))) }
        @if let Some(reason) = &pair.accepted { " " span.tc-gist { "Accepted: " (plain::sentence(reason)) } }
    }
}

/// Plots side by side if there is room. Their markup is ours and holds nothing from user code.
pub(crate) fn plots(plots: &[Plot]) -> Markup {
    html! { div.tc-plots { @for plot in plots { (PreEscaped(&plot.svg)) } } }
}

pub(crate) fn badge((icon, word): (&str, &str), tone: &str) -> Markup {
    html! {
        span class={ "tc-badge " (tone) } {
            span.tc-icon aria-hidden="true" { (icon) } " " (word)
        }
    }
}

/// The class that sets the accent color of a verdict.
pub(crate) fn tone(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Changing => "tc-changing",
        Verdict::LikelyPreserving => "tc-preserving",
        Verdict::Inconclusive => "tc-inconclusive",
        Verdict::Identical => "tc-identical",
    }
}

fn pair_tone(pair: &PairReport) -> &'static str {
    if pair.decides() { tone(pair.verdict) } else { tone(Verdict::Identical) }
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
