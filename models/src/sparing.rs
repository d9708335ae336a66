//! The network behind a quick predictor, which serves for the first executions: a forward pass takes as long as hundreds
//! of executions, and the first few often show a difference whatever predicted their values.

use twincell_values::predictor::{Distribution, FunctionSites, PredictError, Predictor};

use crate::Frequency;

/// A predictor whose first executions are predicted by frequencies.
pub(crate) struct Sparing<P> {
    pub inner: P,
    pub quick: Frequency,
}

impl<P: Predictor> Predictor for Sparing<P> {
    fn describe(&self) -> String {
        self.inner.describe()
    }

    fn predict(&self, functions: &[FunctionSites<'_>]) -> Result<Vec<Vec<Distribution>>, PredictError> {
        self.inner.predict(functions)
    }

    fn quick(&self) -> Option<&dyn Predictor> {
        Some(&self.quick)
    }

    fn ahead(&self) -> usize {
        self.inner.ahead()
    }

    fn predict_ahead(&self, calls: &[Vec<FunctionSites<'_>>]) -> Result<(), PredictError> {
        self.inner.predict_ahead(calls)
    }
}
