//! A repository at a version: a copy of its files where workers may read, and the place of a module in it.
//!
//! The user's checkout is only read. A copy has what git tracks and nothing hidden, so that code under comparison finds its
//! own project there, and no secrets. Nothing here knows pairs. `testing/` runs the project's own tests.

mod around;
mod beside;
mod content;
mod convention;
mod copy;
mod discover;
mod place;
mod range;
mod testing;

pub use around::{Project, imported, places};
pub use beside::{Beside, beside};
pub use content::{Content, content, differing};
pub use convention::is_test;
pub use copy::{CopyError, Version, copy};
pub use discover::{discover, is_inside};
pub use place::{holds, module, place};
pub use range::{Range, base};
pub use testing::{
    Cache, Checkout, Cleaned, CollectionError, Environment, Failure, Kept, Lack, Mechanism, NamedKind, Namespaces,
    Network, Observation, Observed, Operands, Outcome, Relation, Request, Revision, Seen, Session, Store, SuiteOptions,
    SuiteReport, SuiteRun, SuiteTest, Test, TestError, TestKind, TestLimits, TestRecord, checkout, committed,
    environment, run_suite,
};
