//! Calls that Python makes by itself: protocols that have an effect on the object.

use pyo3::prelude::*;

use twincell_engine::observed::Call;
use twincell_values::path::AccessPath;

use crate::execution::object::Versatile;
use crate::execution::state;

/// Entering and leaving a versatile resource is an effect on it.
pub(crate) fn protocol(slf: &Bound<'_, Versatile>, method: &str) {
    let callee = AccessPath::new(slf.get().path()).attribute(method);
    state::with(|execution| {
        if !execution.loading {
            let line = execution.run.line;
            execution.run.calls.push(Call { callee, arguments: vec![], keywords: vec![], line, discarded: true });
        }
    });
}
