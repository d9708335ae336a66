//! Counts the steps that executions take, so that the work on a witness has a budget of its own that no clock decides.

use std::cell::Cell;

use twincell_engine::protocol::{ExecutionRecord, ExecutionRequest};
use twincell_engine::{EngineError, Executed};

use super::Execute;

/// Executes, and adds the steps to a count.
pub struct Metered<'a> {
    pub inner: &'a mut dyn Execute,
    pub steps: &'a Cell<u64>,
}

impl Execute for Metered<'_> {
    fn execute(&mut self, requests: Vec<ExecutionRequest>) -> Result<Vec<Executed>, EngineError> {
        let done = self.inner.execute(requests)?;
        let records = done.iter().filter_map(|executed| match executed {
            Executed::Record(record) => Some(record),
            Executed::Lost { .. } => None,
        });
        let taken: u64 = records.map(|record| steps(record)).sum();
        self.steps.set(self.steps.get().saturating_add(taken));
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
        let mut metered = Metered { inner: &mut Loops, steps: &steps };
        metered.execute(vec![ExecutionRequest::default(); 2]).unwrap();
        assert_eq!(steps.get(), 1 + 2 * 2 * 41);
    }
}
