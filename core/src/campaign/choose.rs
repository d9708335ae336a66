//! The next execution: afresh, or a variation of one that reached something new.
//!
//! Every second execution starts afresh; the others take the choices of an execution that reached something new,
//! forget a few of them, and draw those again (paths are drawn independently, so the rest stays as it was).

use std::collections::BTreeSet;

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::corpus::State;
use crate::engine::protocol::ExecutionRequest;
use crate::value::Fixed;

/// The next execution: afresh, or a variation of one that reached something new.
pub(super) fn choose(state: &State<'_>, seed: u64, index: u32) -> ExecutionRequest {
    let own = xxh3_64_with_seed(&index.to_le_bytes(), seed);
    let mut random = Pcg64Mcg::seed_from_u64(own);
    let mut fixed = Fixed::new();
    if state.techniques.learning && index % 2 == 1 && !state.corpus.is_empty() {
        let choices = &state.corpus[random.random_range(0..state.corpus.len())];
        let forget = 1 + random.random_range(0..3.min(choices.len().max(1)));
        let forgotten: BTreeSet<usize> =
            (0..forget).filter(|_| !choices.is_empty()).map(|_| random.random_range(0..choices.len())).collect();
        fixed = choices
            .iter()
            .enumerate()
            .filter(|(position, _)| !forgotten.contains(position))
            .map(|(_, choice)| (choice.path.clone(), choice.decision.clone()))
            .collect();
    }
    ExecutionRequest { index, seed: own, fixed, versions: vec![0, 1], explain: false }
}
