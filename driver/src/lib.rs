//! Everything that a surface needs to run an analysis: the table of options, an engine that stays warm, and files.
//!
//! A surface (the command line, the magics, the Python library) reads what a user wrote into [`options::Options`],
//! which come from ONE [`options::TABLE`]. [`warm::Engine`] compares with them: it holds workers and a predictor, which
//! later comparisons of the process use again. [`policy`] reads what a project writes down in `pyproject.toml`, and
//! [`providers`] has the values of classes that a program registered. [`warm::Environment`] describes the process's
//! environment. [`files`] reads source text, [`examples`] calls that somebody gave, [`given`] hands values to workers, and
//! [`reproducers`] writes the reproducers of a comparison.
//!
//! Nothing here knows a command, a notebook or Python's objects, and nothing here prints.
//!
//! A prediction needs no worker, so this runs wherever twincell is built:
//!
//! ```
//! use twincell_driver::options::{Job, Options};
//! use twincell_driver::warm::{Environment, predict};
//! use twincell_engine::Stop;
//!
//! let mut options = Options::default();
//! options.set_text(Job::Compare, "predictor", "uniform")?;
//! let error = options.set_text(Job::Compare, "budget", "many").unwrap_err();
//! assert_eq!(error.to_string(), "budget cannot be 'many': give a whole number from 1 to 1000000");
//!
//! let text = "def total(order):\n    return order.price\n";
//! let predicted = predict(text, &options, &Environment::default(), &Stop::default())?;
//! assert_eq!(predicted.sites.len(), 2); // `order` and `order.price`
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod amplify;
mod behavior;
pub mod blame;
pub mod command_line;
mod comparing;
pub mod decode;
pub mod examples;
pub mod failure;
pub mod files;
mod files_beside;
pub mod given;
pub mod impact;
pub mod libraries;
mod local_imports;
pub mod notebook;
pub mod options;
mod placing;
pub mod policy;
mod project;
mod proofs;
pub mod providers;
pub mod reproducers;
pub mod selection;
pub mod slice;
mod versions;
pub mod waiting;
pub mod warm;
