//! Views of a [`Comparison`]: terminal text, static HTML, SVG, and the MIME bundle that a notebook shows.
//!
//! A view is a function of the report and computes nothing about behavior. [`text()`] is for terminals,
//! [`html_fragment`] for a notebook's output area, [`html_page`] for a file of its own, [`pair_plots`] and [`study_plot`] are
//! the plots in both; [`mime_bundle`] packs them; [`plain_sentence`] is for text that others print beside them. None needs a script, and nothing from user code reaches the output
//! unescaped: the `plain` room takes out what misleads the eye, maud escapes for HTML.
//!
//! ```
//! use twincell_compare::report::{Comparison, FORMAT, Verdict};
//! use twincell_widgets::{TextOptions, html_page, text};
//!
//! let comparison = Comparison {
//!     format: FORMAT,
//!     twincell: "0.1.0".into(),
//!     verdict: Verdict::Identical,
//!     sentence: "Identical: only comments differ.".into(),
//!     pairs: vec![],
//!     added: vec!["helper".into()],
//!     removed: vec![],
//!     predictor: "uniform".into(),
//!     seed: 0,
//!     budget: 300,
//!     milliseconds: 1.5,
//! };
//! assert!(text(&comparison, &TextOptions::default()).starts_with("= identical\n  Identical: only comments differ.\n"));
//! assert!(html_page(&comparison, "Review").contains("<title>Review</title>"));
//! ```
//!
//! Deliberately absent: reading files, running code, deciding a verdict, interactive widgets.

mod differences;
pub mod export;
mod html;
mod plain;
mod plot;
mod predictions;
mod state;
mod text;
mod words;

use serde_json::{Value, json};

use twincell_compare::report::Comparison;

pub use differences::{Differences, DifferingRow, differences_fragment, differences_text};
pub use html::{html_fragment, html_page, study_fragment, study_page};
pub use plain::sentence as plain_sentence;
pub use plot::{Confusion, Plot, StudyPlot, confusion_of, pair_plots, study_plot};
pub use predictions::{predictions_fragment, predictions_text};
pub use state::{ComparisonState, Detail, STATE_FORMAT, StudyRow, StudyState, detail, state};
pub use text::{TextOptions, text};

/// The interactive view as one ES module with anywidget's `render`. Built from `widgets/js` by `make widgets`.
pub const MODULE: &str = include_str!("../dist/widget.js");

/// A small ES module for anywidget that finds [`MODULE`] in the page, in the view's model or by asking the kernel.
pub const LOADER: &str = include_str!("../dist/loader.js");

/// The MIME type of a [`Comparison`] as JSON; the report's field `format` is its version.
pub const COMPARISON_MIME: &str = "application/vnd.twincell.comparison+json";

/// The representations of a comparison by MIME type, as Jupyter's `display_data` wants them: plain text, static HTML
/// and the report itself.
pub fn mime_bundle(comparison: &Comparison) -> Value {
    // A report holds only strings, numbers and string-keyed structs, which JSON always has a form for.
    let report = serde_json::to_value(comparison).unwrap_or_default();
    json!({
        "text/plain": text(comparison, &TextOptions::default()),
        "text/html": html_fragment(comparison),
        COMPARISON_MIME: report,
    })
}
