//! A minimal set of commits of a range that keeps given tests passing, or that makes them fail.
//!
//! A [`Timeline`] is the range: its units, what each needs, and the files of any of them. [`refine`] is the search, which knows no
//! git. [`Trials`] run the tests for it, and [`slice()`] does all and gives a [`Slice`], which is plain data.

mod equality;
mod error;
mod flow;
mod imports;
mod invariants;
mod lines;
mod reasons;
pub mod refine;
mod result;
mod selection;
mod timeline;
mod trial;

pub use equality::{Behavior, Version};
pub use error::SliceError;
pub use flow::{Progress, SliceOptions, slice};
pub use invariants::{Invariant, Invariants};
pub use result::{
    Applied, BroughtLines, Ended, FORMAT, FlakyTest, Goal, Goes, NotCompared, Slice, SlicePart, SliceTarget,
    SliceTests, SliceUnit, Stays, Uncompared, UnitState,
};
pub use selection::{Selection, UnitId};
pub use timeline::{
    AM_OPTIONS, Brought, By, Diffs, EntityChange, EntityChangeKind, KnownBy, NameNeed, NameNeedKind, OnTarget, Part,
    Patch, PatchFile, Same, SameAs, Timeline, TimelineOptions, Tree, TreeDifference, TreeFile, Unit,
};
pub use trial::{Criterion, Files, Setup, Trials, criterion};
pub use twincell_testing::{Failure, Outcome};
