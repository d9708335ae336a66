//! What SEM-DCIA adds to DCIA: equivalences of inputs and of summaries over the two versions (the highlighted parts of the
//! paper's Figure 3). Nothing proves any yet, so both sets are empty.

use rustc_hash::FxHashSet;

use crate::program::VariableId;

/// Proven equivalences, by the formals of one version. An oracle that fills it changes no rule.
#[derive(Debug, Clone, Default)]
pub(crate) struct Equivalences {
    /// PREEQUIV: input formals that get the same sequence of values in both versions. A procedure's `called` is one of
    /// them: it is called equally often.
    pub pre: FxHashSet<VariableId>,
    /// SUMMARYEQUIV: output formals that are the same function of what they depend on.
    pub summary: FxHashSet<VariableId>,
}
