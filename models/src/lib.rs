//! Predictors of abstract values behind [`twincell_values::predictor::Predictor`].
//!
//! [`load`] turns [`ModelOptions`] into one of three predictors: `neural` (tokenizer and ONNX network, with one forward
//! pass for each function, or one query for each site for networks like CodeT5), `frequency` (counts by identifier) and
//! `uniform`. The network runs on the first back end that works here: CUDA through ONNX Runtime, ONNX Runtime on the
//! CPU, or the embedded rten. [`backend_report`] says which one and why.
//!
//! ```
//! use twincell_models::{ModelOptions, PredictorKind, load};
//! use twincell_syntax::site::{Site, SiteKind};
//! use twincell_values::predictor::FunctionSites;
//! use twincell_values::value::AbstractValue;
//!
//! let text = "def is_long(items):\n    return len(items) > 10\n";
//! let start = text.find("len(items)").unwrap_or_default() as u32;
//! let call = Site {
//!     kind: SiteKind::Call,
//!     start,
//!     end: start + 10,
//!     line: 2,
//!     identifier: "len".into(),
//!     path: "len(items)".into(),
//!     catches: vec![],
//!     discarded: false,
//! };
//!
//! let predictor = load(&ModelOptions { kind: PredictorKind::Frequency, ..ModelOptions::default() })?;
//! let predicted = predictor.predict(&[FunctionSites { text, sites: &[call] }])?;
//! let distribution = predicted[0][0];
//! assert!(distribution[AbstractValue::Int as usize] > 0.5, "{} predicts {distribution:?}", predictor.describe());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`Endpoint`] is a language model behind HTTP, for prefixes.
//!
//! Deliberately absent: finding value sites (they come with the function), searching for ONNX Runtime on the disk (the
//! caller knows the user's Python), downloads, and training (`train/`).

mod address;
mod backend;
mod cache;
mod frequency;
mod guarded;
mod llm;
mod neural;
mod options;
mod seq2seq;
mod sparing;
mod tagger;
mod tokens;
mod uniform;
mod weights;
mod windows;

use std::borrow::Cow;
use std::sync::Arc;

use twincell_values::predictor::Predictor;

pub use backend::{Backend, NotUsed, Precision};
pub use cache::{Cached, Disk, Remembered, Stored};
pub use frequency::Frequency;
pub use guarded::panic_message;
pub use llm::{Endpoint, EndpointError};
pub use neural::Neural;
pub use options::{ModelOptions, PredictorKind, UnknownPredictor};
use sparing::Sparing;
pub use uniform::Uniform;
use weights::Weights;

/// Why a predictor cannot be loaded. Each message says what to do.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    #[error(
        "cannot read {path}: {source}; a model folder holds tokenizer.json and either model.onnx or encoder_model.onnx \
         with decoder_model.onnx"
    )]
    Read { path: String, source: std::io::Error },
    #[error(
        "there is no folder {folder}; a model is a folder with tokenizer.json and either model.onnx or encoder_model.onnx with decoder_model.onnx"
    )]
    NoFolder { folder: String },
    #[error(
        "{folder} holds one half of a sequence-to-sequence model: {missing} is missing; export it without its past, or \
         give a folder with model.onnx"
    )]
    Half { folder: String, missing: &'static str },
    #[error(
        "{path} is not a tokenizer that can be used: {reason}; give the tokenizer.json that the model was trained with"
    )]
    Tokenizer { path: String, reason: String },
    #[error(
        "{model} breaks the model contract: {reason}; see models/README.md for the inputs and outputs a model must have"
    )]
    Contract { model: String, reason: String },
    #[error("{model} is not read: {reason}; export it as one ONNX file of a usual size")]
    Refused { model: String, reason: String },
    #[error("{model} runs on no back end; check that it is an ONNX file in one piece ({reasons})")]
    NoBackend { model: String, reasons: String },
    #[error("reading {model} ended in an error of a library that reads it ({reason}); check that its files are whole")]
    Broken { model: String, reason: String },
    #[error("the embedded file {name} cannot be read ({reason}); this build is broken, reinstall twincell")]
    Embedded { name: &'static str, reason: String },
}

/// Loads the predictor that the options ask for.
///
/// The embedded network and the embedded counts are read at the first prediction. A network from a folder is read and tried at once, so that its
/// errors show here.
pub fn load(options: &ModelOptions) -> Result<Arc<dyn Predictor>, ModelError> {
    Ok(match options.kind {
        PredictorKind::Neural => Arc::new(Sparing {
            inner: Cached::new(Neural::new(options)?, options.cache.as_deref()),
            quick: Frequency::default(),
        }),
        PredictorKind::Frequency => Arc::new(Frequency::default()),
        PredictorKind::Uniform => Arc::new(Uniform),
    })
}

/// A fingerprint of the files that determine a predictor's answers. Empty where there are none.
pub fn contents(options: &ModelOptions) -> Result<Vec<Cow<'static, [u8]>>, ModelError> {
    Ok(match options.kind {
        PredictorKind::Neural => {
            let mut files = Weights::of(options)?.files();
            files.push(Cow::Borrowed(weights::FREQUENCY));
            files
        }
        PredictorKind::Frequency => vec![Cow::Borrowed(weights::FREQUENCY)],
        PredictorKind::Uniform => Vec::new(),
    })
}

/// What runs a predictor on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackendReport {
    /// The text of [`Predictor::describe`].
    pub predictor: String,
    /// `embedded`, the model's folder, or `none`.
    pub model: String,
    /// The size of the network's files. None for a predictor without a network, as below.
    pub bytes: Option<u64>,
    /// The precision in which the network calculates.
    pub precision: Option<Precision>,
    pub in_use: Option<Backend>,
    /// The back ends tried before, and why each cannot be used.
    pub not_used: Vec<NotUsed>,
}

/// Reports which back end the options lead to, and why those before it are not used. Loads the network if there is one.
pub fn backend_report(options: &ModelOptions) -> Result<BackendReport, ModelError> {
    match options.kind {
        PredictorKind::Neural => Ok(neural::Network::open(options)?.report()),
        PredictorKind::Frequency | PredictorKind::Uniform => Ok(BackendReport {
            predictor: options.kind.to_string(),
            model: "none".to_owned(),
            bytes: None,
            precision: None,
            in_use: None,
            not_used: Vec::new(),
        }),
    }
}
