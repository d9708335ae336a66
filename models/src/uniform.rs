//! The predictor that knows nothing: every class is as likely as any other.

use twincell_values::predictor::{Distribution, FunctionSites, PredictError, Predictor};
use twincell_values::value::AbstractValue;

/// One twelfth each.
#[derive(Debug, Clone, Copy, Default)]
pub struct Uniform;

impl Predictor for Uniform {
    fn describe(&self) -> String {
        "uniform".to_owned()
    }

    fn predict(&self, functions: &[FunctionSites<'_>]) -> Result<Vec<Vec<Distribution>>, PredictError> {
        let uniform = [1.0 / AbstractValue::COUNT as f32; AbstractValue::COUNT];
        Ok(functions.iter().map(|function| vec![uniform; function.sites.len()]).collect())
    }
}
