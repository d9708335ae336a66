//! Compares one change: its finding, and other wanted results of the comparison. It works the same in a thread of the
//! study and in another process, so everything here is plain data.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use serde::{Deserialize, Serialize};
use twincell_compare::report::{Bound, Comparison};
use twincell_compare::{CompareOptions, Continue, Source};
use twincell_driver::reproducers::{self, ReproducerFile};

use crate::change::Change;
use crate::detail::Detail;
use crate::finding::Finding;
use crate::page;

/// How a change is compared: by the engine, or by a substitute in tests.
pub type Compare<'a> =
    dyn Fn(&Source, &Source, &CompareOptions, &mut dyn FnMut() -> Continue) -> Result<Comparison, Refused> + Sync + 'a;

/// Why there is no comparison, in one line for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    pub reason: String,
    /// Whether the change is to blame, so that the next run will fail in the same way.
    pub for_good: bool,
}

/// The wanted results of a comparison besides its finding.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wanted {
    /// What a page shows of it, as JSON.
    pub state: bool,
    pub reproducers: bool,
    /// What files for other programs say about it.
    pub detail: bool,
}

/// The result of comparing a change.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ComparedChange {
    pub finding: Finding,
    /// What a page shows of the comparison, packed.
    pub state: Option<String>,
    pub reproducers: Vec<ReproducerFile>,
    pub detail: Option<Detail>,
}

/// Compares a change. `key` is the key of its row.
pub fn find(
    change: &Change,
    key: &str,
    compare: &Compare<'_>,
    options: &CompareOptions,
    wanted: Wanted,
    watch: &mut dyn FnMut() -> Continue,
) -> ComparedChange {
    let start = Instant::now();
    let milliseconds = || start.elapsed().as_secs_f64() * 1000.0;
    let (old, new, options) = change.sources(options);
    let found = catch_unwind(AssertUnwindSafe(|| {
        let comparison = compare(&old, &new, &options, watch)?;
        let mut finding = Finding::new(change, &comparison, milliseconds());
        let was_cut = comparison.pairs.iter().any(|pair| matches!(pair.bound, Some(Bound::Deadline { .. })));
        finding.key = (!was_cut).then(|| key.to_owned());
        Ok(ComparedChange {
            finding,
            state: if wanted.state { page::page_state(change, &comparison) } else { None },
            reproducers: if wanted.reproducers { reproducers::of_study(&comparison) } else { Vec::new() },
            detail: if wanted.detail { Detail::of(change, &comparison) } else { None },
        })
    }));
    let refused = match found {
        Ok(Ok(found)) => return found,
        Ok(Err(refused)) => refused,
        Err(_) => Refused {
            reason: "this is a bug in twincell, please report it with the change".to_owned(),
            for_good: false,
        },
    };
    let mut finding = Finding::not_compared(change, refused.reason, milliseconds());
    finding.key = refused.for_good.then(|| key.to_owned());
    ComparedChange { finding, state: None, reproducers: Vec::new(), detail: None }
}
