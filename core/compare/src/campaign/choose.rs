//! Chooses the next execution: examples come first, then what the search wants, and once what the text asks for.

use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use twincell_engine::protocol::ExecutionRequest;
use twincell_search::Decisions;
use twincell_values::value::{Decision, Recipe};

use super::confirm::both;
use super::corpus::State;

/// The next execution.
pub(super) fn choose(state: &mut State<'_>, seed: u64, index: u32) -> ExecutionRequest {
    let own = xxh3_64_with_seed(&index.to_le_bytes(), seed);
    let observe = state.search.observes();
    let request = ExecutionRequest { index, seed: own, versions: both(), observe, ..ExecutionRequest::default() };
    if let Some(example) = state.example_at(index) {
        return ExecutionRequest { fixed: example.fixed.clone(), given: true, ..request };
    }
    if let Some(fixed) = state.environments.take(index) {
        let replace = state.replacement.like(&fixed);
        return ExecutionRequest { fixed, replace, ..request };
    }
    let mut random = Pcg64Mcg::seed_from_u64(own);
    let wants_afresh = state.replacement.wants_afresh(index);
    let Decisions { mut fixed, is_fresh } = match wants_afresh {
        true => Decisions { fixed: state.search.afresh(&mut random), is_fresh: true },
        false => state.search.decisions(index, &mut random),
    };
    // All of a large object is for its example.
    fixed.retain(|_, decision| !matches!(decision, Decision::Value(Recipe::Given(given)) if given.takes_long()));
    let replace = if is_fresh { state.replacement.afresh(index) } else { state.replacement.like(&fixed) };
    ExecutionRequest { fixed, replace, ..request }
}
