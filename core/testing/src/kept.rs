//! A session whose results the store keeps, so that no test runs twice at one version.

use crate::suite::key;
use crate::{
    Checkout, Environment, Request, Session, Store, SuiteOptions, SuiteReport, Test, TestError, TestLimits, TestRecord,
};

/// Requests for the project's own tests are answered by the store where it has their results. Variants of tests always run, what
/// asks for a process of its own, and tests that ended late, with their process, or nowhere.
pub struct Kept {
    session: Session,
    store: Store,
    checkout: Checkout,
    environment: Environment,
    limits: TestLimits,
}

impl Kept {
    pub fn new(
        session: Session,
        store: Store,
        checkout: Checkout,
        environment: Environment,
        limits: TestLimits,
    ) -> Self {
        Self { session, store, checkout, environment, limits }
    }

    pub fn tests(&self) -> &[Test] {
        self.session.tests()
    }

    pub fn sandbox(&self) -> Option<&SuiteReport> {
        self.session.sandbox()
    }

    /// There is one record for each requested id, in this order.
    pub fn run(&mut self, request: &Request) -> Result<Vec<TestRecord>, TestError> {
        let is_own = request.files.is_empty()
            && !request.all_cases
            && !request.observe
            && !request.operands
            && request.watched.is_empty()
            && request.anew.is_none();
        let Some(sandbox) = self.session.sandbox().filter(|_| is_own) else { return self.session.run(request) };
        let options =
            SuiteOptions { coverage: request.coverage, covered: request.covered.clone(), ..SuiteOptions::default() };
        let key = key(&self.checkout, &self.environment, &self.limits, &options, sandbox);
        let mut known = self.store.records_of(&key, 0, &request.tests)?;
        let missing: Vec<String> = request.tests.iter().filter(|test| !known.contains_key(*test)).cloned().collect();
        if !missing.is_empty() {
            let found = self.session.run(&Request { tests: missing, ..request.clone() })?;
            self.store.put(&key, 0, &found)?;
            known.extend(found.into_iter().map(|record| (record.id.clone(), record)));
        }
        Ok(request.tests.iter().filter_map(|test| known.get(test).cloned()).collect())
    }
}
