//! What the engine asks of a predictor. Implementations live in `twincell-models`.

use twincell_syntax::site::Site;

use crate::value::AbstractValue;

/// Probabilities of the twelve abstract values, in the order of [`AbstractValue::ALL`]; they sum to 1.
pub type Distribution = [f32; AbstractValue::COUNT];

/// One function to predict: its text and its value sites.
#[derive(Debug, Clone, Copy)]
pub struct FunctionSites<'a> {
    pub text: &'a str,
    pub sites: &'a [Site],
}

/// Why a prediction could not be made; the message says what to do.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct PredictError(pub String);

/// Predicts the abstract value of every site of some functions, in one batch.
pub trait Predictor: Send + Sync {
    /// What a report shows, e.g. `neural (ONNX Runtime, CPU)`.
    fn describe(&self) -> String;

    /// One vector a function, one distribution a site, in the order given.
    fn predict(&self, functions: &[FunctionSites<'_>]) -> Result<Vec<Vec<Distribution>>, PredictError>;

    /// How many calls of [`Predictor::predict`] are worth answering together before they are made; 0 where one call takes
    /// what it takes.
    fn ahead(&self) -> usize {
        0
    }

    /// Answers calls that will be made, and keeps the answers for them.
    fn predict_ahead(&self, _calls: &[Vec<FunctionSites<'_>>]) -> Result<(), PredictError> {
        Ok(())
    }
}
