//! Views of results: terminal text, static HTML, SVG, the interactive view, and files for other programs.
//!
//! Three types meet here. A [`Comparison`] comes in: the report that `twincell-compare` makes. A [`ComparisonState`]
//! goes out to the interactive view: the same report in texts and numbers ([`state()`]). The view's TypeScript types
//! are generated from it. An [`export::ExportRow`] goes out to other programs: one function in short, as SARIF, JUnit,
//! Markdown and annotations list it. A study has a [`StudyState`] in place of both.
//!
//! A view is a function of the report and computes nothing about behavior. [`text()`] is for terminals,
//! [`html_fragment`] for a notebook's output area, [`html_page`] for a file of its own. [`pair_plots`] and
//! [`study_plot`] draw the plots in both. [`mime_bundle`] packs text, HTML and the report. [`plain_sentence`] is for
//! text that others print beside them.
//!
//! ```
//! use twincell_compare::report::{Comparison, FORMAT};
//! use twincell_compare::verdict::Verdict;
//! use twincell_widgets::export::{ExportRow, annotations};
//! use twincell_widgets::{Notices, TextOptions, html_page, mime_bundle, state, text};
//!
//! let comparison = Comparison {
//!     format: FORMAT,
//!     twincell: "0.1.0".into(),
//!     verdict: Verdict::Identical,
//!     verdict_of_pairs: Verdict::Identical,
//!     pairs: vec![],
//!     added: vec!["<helper>".into()],
//!     removed: vec![],
//!     cells_left_out: vec![],
//!     predictor: "uniform".into(),
//!     seed: 0,
//!     budget: 300,
//!     sandbox: None,
//!     milliseconds: 1.5,
//! };
//! let shown = text(&comparison, &TextOptions::default());
//! assert!(shown.starts_with("= identical\n  No difference"));
//! let page = html_page(&comparison, "Review");
//! assert!(page.contains("<title>Review</title>") && page.contains("&lt;helper&gt;"));
//! assert_eq!(mime_bundle(&comparison)["text/plain"], shown);
//!
//! // The interactive view gets JSON, other programs get rows.
//! let state = serde_json::to_value(state(&comparison))?;
//! assert_eq!(state["verdict"], "identical");
//! let rows = ExportRow::of_comparison(&comparison, Some("app.py"));
//! assert_eq!(annotations(&rows, Notices::default()), "twincell: nothing to compare\n");
//! # Ok::<(), serde_json::Error>(())
//! ```
//!
//! Invariants: no static view needs a script. Nothing from user code reaches an output unescaped: the `plain` room
//! removes misleading characters, and maud escapes for HTML.
//!
//! Deliberately absent: reading files, running code, deciding a verdict.

mod amplified;
mod blame;
mod bundle;
mod differences;
mod enforced;
pub mod export;
mod formats;
mod html;
mod impacts;
mod json;
mod label;
mod notices;
mod packed;
mod plain;
mod plot;
mod predictions;
mod prefixes;
mod progress;
mod selected;
mod slices;
mod state;
mod text;
pub mod wording;
mod words;

use serde_json::{Value, json};

use twincell_compare::report::Comparison;

pub use amplified::{
    AmplificationState, amplification_fragment, amplification_junit, amplification_markdown, amplification_page,
    amplification_state, amplification_text,
};
pub use blame::{blame_before, blame_diff, blame_fragment, blame_markdown, blame_page, blame_text};
pub use bundle::{LOADER, MODULE};
pub use differences::{Differences, DifferingRow, differences_fragment, differences_text};
pub use enforced::Enforced;
pub use formats::{Format, Report, render};
pub use html::{html_fragment, html_page, html_report, study_fragment, study_page};
pub use impacts::{
    ImpactExplained, ImpactFileState, ImpactFunctionState, ImpactLevelState, ImpactLineState, ImpactLink,
    ImpactPrunedState, ImpactPruning, ImpactReport, ImpactRow, ImpactState, ImpactStatementState, ImpactStopped,
    LeftOut, ProvedFunction, Texts, impact_explained, impact_explanation, impact_fragment, impact_level,
    impact_markdown, impact_page, impact_place, impact_progress, impact_rows, impact_sarif, impact_text,
};
pub use json::{ComparisonJson, PairJson, comparison_json};
pub use label::Label;
pub use notices::{NoticeLine, NoticeRow, Notices, notice_lines, notice_rows, notice_sentence, notices_text};
pub use packed::{may_be_packed, packed};
pub use plain::{json as plain_json, sentence as plain_sentence};
pub use plot::{Confusion, Plot, StudyPlot, confusion_of, pair_plots, study_plot};
pub use predictions::{predictions_fragment, predictions_text};
pub use prefixes::{
    Left, NO_TEST, PrefixFigures, PrefixesState, Reached, Spread, no_function, prefix_study_fragment,
    prefix_study_page, prefix_study_text, prefixes_fragment, prefixes_page, prefixes_pytest, prefixes_state,
    prefixes_text,
};
pub use progress::{ProgressLine, blame_progress};
pub use selected::{SelectionReport, SelectionRow, selection_report, selection_text};
pub use slices::{
    SliceExplained, SliceFailedTest, SliceNameNeed, SlicePoint, SliceProgress, SliceRow, SliceStage, SliceState,
    SliceStep, SliceUnitState, SliceWhy, slice_branch_text, slice_explained, slice_explanation, slice_fragment,
    slice_markdown, slice_page, slice_rows, slice_text,
};
pub use state::{ComparisonState, Detail, STATE_FORMAT, StudyRow, StudyState, detail, state};
pub use text::{Advice, SummaryFile, TextOptions, summary, text};

/// The MIME type of a [`Comparison`] as JSON; the report's field `format` is its version.
pub const COMPARISON_MIME: &str = "application/vnd.twincell.comparison+json";

/// The representations of a comparison by MIME type, as Jupyter's `display_data` wants them: plain text, static HTML
/// and the report itself.
pub fn mime_bundle(comparison: &Comparison) -> Value {
    // A report holds only strings, numbers and string-keyed structs, which JSON can always represent.
    let report = serde_json::to_value(comparison_json(comparison)).unwrap_or_default();
    json!({
        "text/plain": text(comparison, &TextOptions::default()),
        "text/html": html_fragment(comparison),
        COMPARISON_MIME: report,
    })
}
