//! The calls of the predictor that a comparison will make, found without executing anything, so that many comparisons
//! can ask at once.

use std::sync::{Mutex, PoisonError};

use twincell_syntax::site::Site;
use twincell_values::predictor::{Distribution, FunctionSites, PredictError, Predictor};
use twincell_values::value::AbstractValue;

use super::pair::Pair;
use super::plain;
use super::program::{instrumented, program};
use super::select::{self, Selected, select};
use super::sources::Sources;
use crate::{CompareOptions, Source};

/// One function of a call of the predictor.
#[derive(Debug, Clone, PartialEq)]
pub struct PredictionRequest {
    text: String,
    sites: Vec<Site>,
}

impl PredictionRequest {
    pub fn sites(&self) -> FunctionSites<'_> {
        FunctionSites { text: &self.text, sites: &self.sites }
    }
}

/// The calls of [`Predictor::predict`] that [`super::compare`] will make for these texts, each with its functions.
/// Empty if the comparison will not get that far.
pub fn requests(old: &Source, new: &Source, options: &CompareOptions) -> Vec<Vec<PredictionRequest>> {
    let (old, new) = (plain(old).0, plain(new).0);
    let Ok(Selected { pairs, .. }) = select(&old, &new, options) else { return vec![] };
    let sources = Sources::new(&old, &new, options);
    let listener = Listener::default();
    for functions in pairs.into_iter().filter(|functions| select::is_worth(&sources, functions, options)) {
        let pair = Pair::new(&sources, functions, options.max_function);
        if pair.is_same_program() || pair.exceeds.is_some() {
            continue;
        }
        if let Ok(instrumented) = instrumented(&pair) {
            // The comparison will report the error.
            let _ = program(&pair, &instrumented, &listener, options);
        }
    }
    listener.heard.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// Records the calls instead of answering them.
#[derive(Default)]
struct Listener {
    heard: Mutex<Vec<Vec<PredictionRequest>>>,
}

impl Predictor for Listener {
    fn describe(&self) -> String {
        "nothing".into()
    }

    fn predict(&self, functions: &[FunctionSites<'_>]) -> Result<Vec<Vec<Distribution>>, PredictError> {
        let call = functions
            .iter()
            .map(|function| PredictionRequest { text: function.text.into(), sites: function.sites.to_vec() })
            .collect();
        self.heard.lock().unwrap_or_else(PoisonError::into_inner).push(call);
        let even = [1.0 / AbstractValue::COUNT as f32; AbstractValue::COUNT];
        Ok(functions.iter().map(|function| vec![even; function.sites.len()]).collect())
    }
}
