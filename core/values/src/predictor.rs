//! The interface of a predictor. `twincell-models` has the implementations.

use twincell_syntax::site::Site;

use crate::value::AbstractValue;

/// Probabilities of the twelve abstract values, in the order of [`AbstractValue::ALL`]; they sum to 1.
pub type Distribution = [f32; AbstractValue::COUNT];

/// The classes of a value about which nothing is known.
pub fn unknown() -> Distribution {
    use AbstractValue as A;
    let mut shares = [0.0; A::COUNT];
    for (class, share) in [(A::Object, 0.5), (A::Str, 0.2), (A::Int, 0.1), (A::Bool, 0.1), (A::None, 0.1)] {
        shares[class as usize] = share;
    }
    shares
}

/// A function to predict: its text and its value sites.
#[derive(Debug, Clone, Copy)]
pub struct FunctionSites<'a> {
    pub text: &'a str,
    pub sites: &'a [Site],
}

/// Why a prediction failed. The message says what to do.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct PredictError(pub String);

/// Predicts the abstract value of every site of some functions in one batch.
pub trait Predictor: Send + Sync {
    /// The description in a report, e.g. `neural (ONNX Runtime, CPU)`.
    fn describe(&self) -> String;

    /// One vector for each function, with one distribution for each site, in the given order.
    fn predict(&self, functions: &[FunctionSites<'_>]) -> Result<Vec<Vec<Distribution>>, PredictError>;

    /// A predictor that costs next to nothing, for the first executions of a search. `None` where this one costs nothing
    /// itself.
    fn quick(&self) -> Option<&dyn Predictor> {
        None
    }

    /// The number of calls of [`Predictor::predict`] that are worth answering together in advance; 0 where this saves
    /// nothing.
    fn ahead(&self) -> usize {
        0
    }

    /// Answers calls that will be made, and caches the answers for them.
    fn predict_ahead(&self, _calls: &[Vec<FunctionSites<'_>>]) -> Result<(), PredictError> {
        Ok(())
    }
}
