//! Calls that Python makes by itself: protocols that have an effect on the object.

use pyo3::prelude::*;

use twincell_engine::observed::Call;

use crate::execution::object::MockObject;
use crate::execution::state;
use crate::inject::reach;

/// Entering and leaving a mock resource is an effect on it.
pub(crate) fn protocol(slf: &Bound<'_, MockObject>, method: &str) {
    let callee = slf.get().path().attribute(method);
    if let Some(line) = state::with(|execution| (!execution.loading).then_some(execution.run.line)).flatten() {
        let call =
            Call { callee, arguments: vec![], keywords: vec![], line, discarded: true, by_all: true, state: vec![] };
        reach::record(slf.py(), call, &[]);
    }
}
