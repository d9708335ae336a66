//! Calls that Python makes by itself: protocols that have an effect on the object.

use pyo3::prelude::*;

use twincell_engine::observed::Call;

use crate::execution::object::Versatile;
use crate::execution::state;

/// Entering and leaving a versatile resource is an effect on it.
pub(crate) fn protocol(slf: &Bound<'_, Versatile>, method: &str) {
    let callee = format!("{}.{method}", slf.get().path());
    state::with(|execution| {
        if !execution.loading {
            let line = execution.run.line;
            execution.run.calls.push(Call { callee, arguments: vec![], keywords: vec![], line, discarded: true });
        }
    });
}
