//! Tests that show what a change to a project's code does, made from the project's own tests.
//!
//! [`amplify`] selects tests that run the change, takes their assertions out, observes what the two versions do, and
//! searches for inputs with which they do something else. What it finds is an [`Amplification`]: tests that pass before
//! the change and fail after it. The technique is that of DCI (Danglot et al., 2020), for Python.
//!
//! A [`Change`] has both versions of the changed files and the tests of the old version; [`Runners`] run tests of the
//! versions. Deliberately absent: git, how pytest is driven, and comparisons, whose witnesses the caller gives.
//!
//! ```
//! use twincell_amplify::{ChangedText, changed_file};
//! use twincell_syntax::PerSide;
//!
//! let texts = PerSide::new(Some("def f(a):\n    return a > 1\n".into()), Some("def f(a):\n    return a >= 1\n".into()));
//! let file = changed_file(&ChangedText { path: "shop.py".into(), texts }).unwrap();
//! assert!(file.functions.new.contains_key("f"));
//! assert_eq!(file.statements.new[0].first, 2);
//! ```

mod again;
mod block;
mod body;
mod captured_output;
mod cases;
mod change;
mod channel;
mod code;
mod defined;
mod flow;
mod form;
mod literal;
mod observe;
mod opened;
mod operators;
mod repository;
mod result;
mod run;
mod steering;
mod strip;
mod subject;
mod wording;

pub use again::{rerun, with_test};
pub use change::{ChangedFile, ChangedText, Constants, Touchable, Touched, changed_file, constants};
pub use channel::{Heard, Style};
pub use flow::{AmplifyOptions, Change, Progress, TECHNIQUES, Witness, amplify};
pub use observe::Difference;
pub use operators::Operator;
pub use repository::{Opened, open};
pub use result::{Amplification, AmplifiedTest, FORMAT, Form, Raised, Reach, Selected, Shown, Status, Technique};
pub use run::{Runner, Runners};
pub use steering::{Steering, SteeringKind};
pub use twincell_testing::{CollectionError, Network, SuiteReport};
