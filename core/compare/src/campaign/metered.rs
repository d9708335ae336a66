//! Counts the steps that executions take, so that the work on a witness has a budget of its own that no clock decides.
//! Where each version of an execution loads its program anew, this counts as steps as well.

use std::cell::Cell;

use twincell_engine::protocol::{ExecutionRecord, ExecutionRequest};
use twincell_engine::{EngineError, Executed, Loaded};

use super::Execute;

/// How many bytes of a program are loaded in the time of one step.
const BYTES_PER_STEP: u64 = 50;

/// Executes, and adds the steps to a count.
pub struct Metered<'a> {
    inner: &'a mut dyn Execute,
    steps: &'a Cell<u64>,
    /// The steps that loading takes, for each version of an execution.
    loading: u64,
}

impl<'a> Metered<'a> {
    pub fn new(loaded: &'a mut Loaded<'_>, steps: &'a Cell<u64>) -> Self {
        let loading = loaded.loaded_anew() as u64 / BYTES_PER_STEP;
        Self { inner: loaded, steps, loading }
    }
}

impl Execute for Metered<'_> {
    fn execute(&mut self, requests: Vec<ExecutionRequest>) -> Result<Vec<Executed>, EngineError> {
        let versions: usize = requests.iter().map(|request| request.versions.len()).sum();
        let done = self.inner.execute(requests)?;
        let records = done.iter().filter_map(|executed| match executed {
            Executed::Record(record) => Some(record),
            Executed::Lost { .. } => None,
        });
        let taken: u64 = records.map(|record| steps(record)).sum();
        let loading = self.loading.saturating_mul(versions as u64);
        self.steps.set(self.steps.get().saturating_add(taken).saturating_add(loading));
        Ok(done)
    }
}

/// The steps of an execution: each line of each version as often as it ran.
fn steps(record: &ExecutionRecord) -> u64 {
    let lines = record.behaviors.iter().flat_map(|behavior| &behavior.lines);
    lines.map(|(_, hits)| u64::from(*hits)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use twincell_engine::observed::{Behavior, Observed, Outcome};

    struct Loops;

    impl Execute for Loops {
        fn execute(&mut self, requests: Vec<ExecutionRequest>) -> Result<Vec<Executed>, EngineError> {
            let behavior =
                || Behavior { lines: vec![(1, 1), (2, 40)], ..Behavior::new(Outcome::Returned(Observed::None)) };
            let record = || ExecutionRecord { behaviors: vec![behavior(), behavior()], ..ExecutionRecord::default() };
            Ok(requests.iter().map(|_| Executed::Record(Box::new(record()))).collect())
        }
    }

    #[test]
    fn steps_are_those_of_all_versions_in_all_executions() {
        let steps = Cell::new(1);
        let requests = vec![ExecutionRequest { versions: vec![0, 1], ..ExecutionRequest::default() }; 2];
        Metered { inner: &mut Loops, steps: &steps, loading: 0 }.execute(requests.clone()).unwrap();
        assert_eq!(steps.get(), 1 + 2 * 2 * 41);
        Metered { inner: &mut Loops, steps: &steps, loading: 100 }.execute(requests).unwrap();
        assert_eq!(steps.get(), 1 + 2 * 2 * (41 + 141));
    }
}
