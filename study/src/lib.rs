//! A study: many changes, compared in parallel, one finding each.
//!
//! A [`change::Change`] is an old and a new text. Sources give changes one at a time ([`change::Changes`]): a file of
//! any known format ([`read`]), a git history ([`mine`]), a command that rewrites a folder ([`transform`]).
//! [`run::run`] makes threads or other processes ([`farm`]) compare them. Each becomes a [`finding::Finding`], a row
//! that goes to a [`store::Store`], which survives a kill. [`job::run_study`] composes all of this for a surface, and
//! adds pages, reproducers and figures.
//!
//! A row depends only on its change, the options, the model and the version: not on the number of threads, the order,
//! or the machine.
//!
//! Any function can stand for the engine. This one refuses everything:
//!
//! ```
//! use twincell_compare::{CompareOptions, Continue, Source};
//! use twincell_driver::{options::{Job, Options}, warm::Environment};
//! use twincell_study::find::{Refused, Wanted};
//! use twincell_study::run::{Study, Workers, run};
//! use twincell_study::{key::Keys, read, store::Memory};
//!
//! let folder = tempfile::tempdir()?;
//! let file = folder.path().join("changes.jsonl");
//! std::fs::write(&file, r#"{"id": "tax", "old": "def f(x): return x", "new": "def f(x): return x + 1"}"#)?;
//!
//! let mut options = Options::default();
//! options.set_text(Job::Study, "predictor", "uniform")?;
//! let keys = Keys::new(&options, &Environment::default())?;
//! let refuse = |_: &Source, _: &Source, _: &CompareOptions, _: &mut dyn FnMut() -> Continue| {
//!     Err(Refused { reason: "there is no engine here".to_owned(), for_good: false })
//! };
//! let mut store = Memory::default();
//! let outcome = run(
//!     Study {
//!         changes: &mut *read::open(&file)?,
//!         options: options.for_core(),
//!         keys: &keys,
//!         workers: Workers::Threads { compare: &refuse, jobs: 2, ahead: None },
//!         store: &mut store,
//!         wanted: Wanted::default(),
//!         keep: &mut |_, _| Ok(()),
//!         aside: None,
//!         ready: &|| Ok(()),
//!     },
//!     &mut |_progress| Continue::Yes,
//! )?;
//! assert_eq!(outcome.confusion.total(), 1);
//! assert_eq!(store.rows[&1].id, "tax");
//! assert_eq!(store.rows[&1].reason, "there is no engine here");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod change;
mod columns;
pub mod detail;
pub mod differences;
mod events;
pub mod farm;
pub mod find;
pub mod finding;
pub mod frame;
mod input;
pub mod job;
pub mod kept;
pub mod key;
pub mod metrics;
pub mod mine;
pub mod notable;
pub mod outputs;
pub mod pace;
pub mod page;
pub mod prefixes;
mod queue;
pub mod read;
pub mod run;
#[cfg(test)]
mod scripted;
pub mod snippet;
pub mod store;
pub mod summary;
mod threads;
pub mod transform;

pub use input::Input;
