//! The search for values with which code reaches something new: lines, sides of branches, outcomes of comparisons.
//!
//! A [`Target`] says what is known of the code before it runs. [`Search`] learns from the record of each execution and
//! gives the decisions of the next: planned ones first, which are calculated to turn a condition around (`solve/`) or to
//! avoid an exception (`mutation.rs`), then variations of executions that reached something new (`vary.rs`). Who runs the
//! executions, and what for, is not known here: `compare` searches for differences, others for coverage.
//!
//! ```
//! use twincell_search::{Methods, Search, Target};
//! use twincell_syntax::{PerSide, functions, instrument::instrument};
//!
//! let (found, _) = functions("def f(x):\n    if x == 7:\n        return 1\n");
//! let sites = instrument(&found[0])?.sites;
//! let target = Target {
//!     lines: PerSide::new(twincell_search::executable_lines(&sites), vec![]),
//!     readings: PerSide::new(twincell_search::Reading::new(&found[0], &sites, &[]), Default::default()),
//!     ..Target::default()
//! };
//! let search = Search::new(&target, Methods::default());
//! assert_eq!(search.coverage(), 0.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod corpus;
mod mutation;
mod numbers;
mod search_targets;
mod solve;
mod target;
mod vary;

pub use corpus::{Decisions, Methods, Search};
pub use target::{Reading, Target, executable_lines};
