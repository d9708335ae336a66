//! A project's own tests, run by pytest at one version.
//!
//! A [`Checkout`] is a version's files in a folder of ours, which `twincell-repo` makes. A [`Session`] is one pytest process there: it has loaded the
//! project's plugins and test modules once, and forks a child for each [`Request`]. What the tests did comes back as
//! [`TestRecord`]s, which are plain data. `plugin/` is what runs there: Python that needs no packages, in the project's own
//! Python.

mod convention;
mod environment;
mod error;
mod kept;
mod points;
mod process;
mod record;
mod request;
mod session;
mod store;
mod suite;

pub use convention::is_test;
pub use environment::{Environment, environment};
pub use error::TestError;
pub use kept::Kept;
pub use points::{Point, PointValues, Value, Variable, WatchedFunction};
pub use record::{
    CollectionError, Failure, NamedKind, Observation, Observed, Operands, Outcome, Relation, Seen, Test, TestKind,
    TestRecord,
};
pub use request::{Request, TestLimits};
pub use session::Session;
pub use store::{Store, stored};
pub use suite::{SuiteOptions, SuiteRun, SuiteTest, run_suite};
use twincell_repo::Checkout;
pub use twincell_sandbox::{Lack, Mechanism, Namespaces, Network, SuiteReport};
