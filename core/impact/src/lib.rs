//! Change impact: which statements beyond the changed ones may see other values, and why.
//!
//! [`impact`] takes two versions of a project and gives an [`Impact`]: each [`StatementImpact`] of the new version is
//! changed, impacted with its chain from a change, or neither. The analysis is DCIA of the paper on SEM-DCIA (Gyori, Lahiri
//! and Partush: Refining Interprocedural Change-Impact Analysis using Equivalence Relations, ISSTA 2017). `lower` makes
//! programs of projects, `mapping` finds the nodes that two programs share, and `dcia` has the rules, which run upon both
//! programs. `sem` compares the values of changed functions, and [`impact_levels`] gives what each level leaves.
//!
//! A statement that is not impacted reads the same sequence of values in both versions, provided that what [`Unsound`] lists
//! does not matter, that no operation and no import fails outside of a `try`, that what is declared a number, a text, a truth
//! value or an object of a class is one (and `x + 0` the same value as an `int`), that both versions end and import the same
//! modules in any order, that objects begin with `__init__` where their class has `__getattr__`, that libraries write
//! attributes of a project's objects and what these hold only through their methods, and that containers which an object of a
//! library holds are changed through that object alone. Operations run special methods of the project's classes upon values
//! that such an object may reach by the calls in the files or through a library.
//! Deliberately absent: running anything, and sentences.
//!
//! ```
//! use twincell_impact::{Entries, ImpactOptions, State, impact};
//! use twincell_semantic::{MemoryFiles, Project, Store};
//!
//! let store = Store::new();
//! let open = |text: &str| Project::open(MemoryFiles::from_iter([("shop.py", text)]), &store);
//! let old = open("def net(price):\n    return price\n\ndef show(price):\n    value = net(price)\n    print(value)\n");
//! let new = open("def net(price):\n    return price * 2\n\ndef show(price):\n    value = net(price)\n    print(value)\n");
//! let found = impact(&old, &new, &Entries::default(), &ImpactOptions::default());
//!
//! let states: Vec<(u32, bool)> = found
//!     .statements
//!     .iter()
//!     .filter(|one| one.state != State::NotImpacted)
//!     .map(|one| (one.place.lines.0, one.state == State::Changed))
//!     .collect();
//! assert_eq!(states, [(2, true), (5, false), (6, false)]);
//! ```

mod dcia;
mod dominance;
mod impact;
mod lower;
mod mapping;
mod program;
mod prover;
mod result;
pub mod selection;
mod sem;

pub use dcia::Rule;
pub use impact::{Level, Snapshot, impact, impact_levels};
pub use program::{Unsound, UnsoundKind};
pub use prover::{FunctionPlace, NoProver, Prover, Shown};
pub use result::{
    Cut, Entries, Entry, Equivalence, FunctionImpact, IMPACT_VERSION, Impact, ImpactOptions, LevelSummary, Place,
    Pruned, Sources, State, StatementImpact, Step, StepPlace, VariableName,
};

#[cfg(test)]
mod tests;
