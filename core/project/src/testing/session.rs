//! A process of pytest that has collected a version's tests and runs some of them whenever it is asked.

use super::{Checkout, CollectionError, Environment, Request, Test, TestError, TestLimits, TestRecord};

/// One pytest process for one version. It has loaded plugins, `conftest.py` and test modules once, and forks a child for each
/// request. It ends with this value.
#[derive(Debug)]
pub struct Session {
    tests: Vec<Test>,
    errors: Vec<CollectionError>,
}

impl Session {
    /// Starts pytest in a checkout and waits until it has collected the tests.
    pub fn start(checkout: &Checkout, environment: &Environment, limits: &TestLimits) -> Result<Self, TestError> {
        let _ = (checkout, environment, limits);
        unimplemented!()
    }

    /// The tests, in pytest's order.
    pub fn tests(&self) -> &[Test] {
        &self.tests
    }

    /// What could not be collected.
    pub fn errors(&self) -> &[CollectionError] {
        &self.errors
    }

    /// Runs tests. There is one record for each requested id, in this order, also for tests that hang or end their process.
    pub fn run(&mut self, request: &Request) -> Result<Vec<TestRecord>, TestError> {
        let _ = request;
        unimplemented!()
    }

    /// Runs several requests, so many of them at once. Their results are those of [`Self::run`], in the order of the requests.
    /// Two requests must not bring the same file.
    pub fn run_all(&mut self, requests: &[Request], workers: usize) -> Result<Vec<Vec<TestRecord>>, TestError> {
        let _ = (requests, workers);
        unimplemented!()
    }
}
