//! What makes values of classes in a program, as its project declares it: whether it works in every version.

use std::sync::Arc;

use pyo3::prelude::*;

use twincell_engine::protocol::{Body, Program, Unevaluated};
use twincell_values::reading::{Hint, Uses};
use twincell_values::value::{Declared, Provided, Provider};

use crate::execution::state;
use crate::execution::steps::StopExecution;
use crate::inject::provided;
use crate::worker::module;

/// A value that some version cannot make.
pub(super) struct Failure {
    by: Arc<Provider>,
    number: u32,
    error: String,
}

/// The providers of a program, each once.
pub(super) fn of(program: &mut Program) -> Vec<Arc<Provider>> {
    let mut found: Vec<Arc<Provider>> = Vec::new();
    each(program, &mut |declared| {
        for provider in declared.providers() {
            if !found.contains(&provider) {
                found.push(provider);
            }
        }
    });
    found
}

/// Makes values of each provider once, and notes what the running version cannot make.
pub(super) fn check(py: Python<'_>, providers: &[Arc<Provider>], failures: &mut Vec<Failure>) {
    for by in providers {
        for number in 0..by.samples() {
            // What one value uses up is not missing for the next.
            state::with(|execution| (execution.run.steps, execution.run.steps_around) = (0, 0));
            let Err(error) = provided::make(py, &Provided { by: by.clone(), number }) else { continue };
            let error = match error.is_instance_of::<StopExecution>(py) {
                true => "it goes on until its steps are used up".into(),
                false => module::describe(py, &error),
            };
            if failures.iter().all(|known| known.by != *by || known.number != number) {
                failures.push(Failure { by: by.clone(), number, error });
            }
        }
    }
}

/// Takes what cannot be made out of a program. Returns a note for each class.
pub(super) fn leave_out(program: &mut Program, failures: &[Failure]) -> Vec<Unevaluated> {
    let kept = |provider: &Arc<Provider>| {
        let failed = failures.iter().filter(|failure| failure.by == *provider).map(|failure| failure.number);
        provider.without(&failed.collect::<Vec<_>>()).map(Arc::new)
    };
    each(program, &mut |declared| declared.replace_providers(&kept));
    let mut notes: Vec<Unevaluated> = Vec::new();
    for failure in failures {
        let class = failure.by.class.replace(':', ".");
        if !notes.iter().any(|note| matches!(note, Unevaluated::Value { class: known, .. } if *known == class)) {
            let is_last = kept(&failure.by).is_none();
            let value = failure.by.written(failure.number);
            notes.push(Unevaluated::Value { class, value, error: failure.error.clone(), is_last });
        }
    }
    notes
}

/// Every type that a program declares.
fn each(program: &mut Program, visit: &mut dyn FnMut(&mut Declared)) {
    fn of_uses(uses: &mut Uses, visit: &mut dyn FnMut(&mut Declared)) {
        uses.declared.iter_mut().for_each(&mut *visit);
        uses.element.iter_mut().for_each(|element| of_uses(element, visit));
    }
    for version in &mut program.versions {
        version.all_uses_mut().for_each(|uses| of_uses(uses, visit));
        if let Body::Class { constructor, members } = &mut version.body {
            let hints = constructor.values_mut().chain(members.iter_mut().flat_map(|member| member.hints.values_mut()));
            hints.filter_map(|hint: &mut Hint| hint.declared.as_mut()).for_each(&mut *visit);
        }
    }
}
