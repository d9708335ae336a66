//! What an engine sends to a worker and gets from it, for tests whose worker is the test program itself: the text of a
//! program tells that worker what to do.

use std::time::Duration;

use twincell_engine::observed::Behavior;
use twincell_engine::protocol::{Context, ExecutionRecord, ExecutionRequest, Program, Version};
use twincell_engine::{Executed, PoolOptions};

/// One worker: this test program, started again to run only the test of this name.
pub fn test_as_worker(test: &str, deadline: Duration) -> std::io::Result<PoolOptions> {
    let mut options = PoolOptions::new(std::env::current_exe()?);
    options.arguments = [test, "--exact", "--nocapture", "--test-threads=1"].map(Into::into).to_vec();
    options.workers = 1;
    options.deadline = deadline;
    Ok(options)
}

/// A program of one version with this text.
pub fn program(code: &str) -> Program {
    let version = Version {
        imports: vec![],
        qualname: "f".to_owned(),
        name: "f".to_owned(),
        code: code.to_owned(),
        sites: Default::default(),
        predictions: Vec::new(),
        parameters: Vec::new(),
        renames: Vec::new(),
        locals: Default::default(),
        uses: Vec::new(),
        held: Vec::new(),
        class_name: None,
        module: String::new(),
        alone: String::new(),
        body: Default::default(),
        companions: Vec::new(),
        decorators: Vec::new(),
        attribute_renames: Vec::new(),
        wrapped_attributes: Vec::new(),
        function_renames: Vec::new(),
        place: None,
    };
    Program {
        versions: vec![version],
        literals: Vec::new(),
        context: Context::Function,
        raise_probability: 0.0,
        step_budget: 1000,
        tests_other_truths: false,
        calls_twice: false,
        isolation: Default::default(),
        imports: Vec::new(),
        given: Vec::new(),
    }
}

/// Requests to run the program's version twice. Each has its index as its seed.
pub fn requests(count: u32) -> Vec<ExecutionRequest> {
    let request =
        |index| ExecutionRequest { index, seed: index.into(), versions: vec![0, 0], ..ExecutionRequest::default() };
    (0..count).map(request).collect()
}

/// The answer to a request: each version behaves like this.
pub fn record(request: &ExecutionRequest, behavior: &Behavior) -> ExecutionRecord {
    ExecutionRecord {
        index: request.index,
        seed: request.seed,
        behaviors: vec![behavior.clone(); request.versions.len()],
        microseconds: 1,
        ..ExecutionRecord::default()
    }
}

/// The record of an execution, or why it was lost.
pub fn outcome(executed: &Executed) -> Result<&ExecutionRecord, &str> {
    match executed {
        Executed::Record(record) => Ok(record),
        Executed::Lost { reason, .. } => Err(reason),
    }
}
