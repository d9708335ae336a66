//! A network as a predictor, opened on first use, on the best back end available.

use std::sync::OnceLock;

use twincell_values::predictor::{Distribution, FunctionSites, PredictError, Predictor};

use crate::backend::{self, Backend, Used};
use crate::cache::Remembered;
use crate::guarded::guarded;
use crate::seq2seq::Sequences;
use crate::tagger::Tagger;
use crate::weights::{Architecture, Weights};
use crate::{BackendReport, ModelError, ModelOptions};

/// Number of comparisons predicted ahead together on a GPU, to fill passes of several lengths.
const CALLS_AHEAD: usize = 64;

/// Increase this when the same network on the same back end gives different answers than before.
const FORMAT: u32 = 1;

/// Predicts with a network: the embedded one, or one from a folder.
pub struct Neural {
    options: ModelOptions,
    network: OnceLock<Result<Network, ModelError>>,
    /// Facts known before the network is opened.
    foreseen: Option<Foreseen>,
}

struct Foreseen {
    description: String,
    identity: String,
}

impl Neural {
    /// The embedded network is opened at the first prediction, and one from a folder at once.
    pub fn new(options: &ModelOptions) -> Result<Self, ModelError> {
        let (network, foreseen) = match options.model_dir {
            Some(_) => (OnceLock::from(Ok(Network::open(options)?)), None),
            None => (OnceLock::new(), backend::foreseen(options)),
        };
        let foreseen = foreseen.map(|used| Foreseen {
            description: description("", used.backend),
            identity: identity(Weights::embedded_identity(), &used),
        });
        Ok(Neural { options: options.clone(), network, foreseen })
    }

    fn network(&self) -> &Result<Network, ModelError> {
        self.network.get_or_init(|| Network::open(&self.options))
    }

    /// The expected facts, unless the network is already open.
    fn foreseen(&self) -> Option<&Foreseen> {
        self.foreseen.as_ref().filter(|_| self.network.get().is_none())
    }
}

impl Predictor for Neural {
    fn describe(&self) -> String {
        match (self.foreseen(), self.network.get()) {
            (Some(foreseen), _) => foreseen.description.clone(),
            _ => self.network().as_ref().map_or_else(|_| "neural (cannot be loaded)".to_owned(), Network::describe),
        }
    }

    fn ahead(&self) -> usize {
        // What was foreseen is a CPU, and stays unopened until something is asked that the cache does not hold.
        if self.foreseen().is_some() {
            return 0;
        }
        match self.network() {
            Ok(network) if network.many_at_once() => CALLS_AHEAD,
            _ => 0,
        }
    }

    fn predict(&self, functions: &[FunctionSites<'_>]) -> Result<Vec<Vec<Distribution>>, PredictError> {
        let network = self.network().as_ref().map_err(|error| PredictError(error.to_string()))?;
        let predicted = match self.options.model_dir {
            Some(_) => guarded(|| network.predict(functions)).and_then(|predicted| predicted),
            None => network.predict(functions),
        };
        predicted.map_err(|reason| {
            PredictError(format!("{} cannot predict: {reason}; another predictor may serve", network.describe()))
        })
    }
}

impl Remembered for Neural {
    fn identity(&self) -> Option<&str> {
        match self.foreseen() {
            Some(foreseen) => Some(&foreseen.identity),
            None => self.network().as_ref().ok().map(|network| network.identity.as_str()),
        }
    }
}

/// A tokenizer and sessions that are open and fit each other.
pub(crate) struct Network {
    origin: String,
    reader: Reader,
    used: Used,
    identity: String,
    size: usize,
}

enum Reader {
    Tagger(Tagger),
    Sequences(Sequences),
}

impl Network {
    pub(crate) fn open(options: &ModelOptions) -> Result<Self, ModelError> {
        match options.model_dir.as_deref() {
            None => Self::opened(options),
            Some(folder) => {
                let tried = guarded(|| {
                    let network = Self::opened(options)?;
                    network.try_out()?;
                    Ok(network)
                });
                tried.unwrap_or_else(|reason| Err(ModelError::Broken { model: folder.display().to_string(), reason }))
            }
        }
    }

    fn opened(options: &ModelOptions) -> Result<Self, ModelError> {
        let weights = Weights::of(options)?;
        let (model, size) = (weights.identity(), weights.size());
        let Weights { origin, architecture, tokenizer } = weights;
        let (reader, used) = match architecture {
            Architecture::Tagger(bytes) => {
                let (tagger, used) = Tagger::open(&origin, bytes, &tokenizer, options)?;
                (Reader::Tagger(tagger), used)
            }
            Architecture::Sequences { encoder, decoder } => {
                let (sequences, used) = Sequences::open(&origin, encoder, decoder, &tokenizer, options)?;
                (Reader::Sequences(sequences), used)
            }
        };
        Ok(Network { identity: identity(&model, &used), origin, reader, used, size })
    }

    /// Makes a first prediction, which uncovers errors that nothing else shows.
    fn try_out(&self) -> Result<(), ModelError> {
        let tried = match &self.reader {
            Reader::Tagger(tagger) => tagger.try_out(),
            Reader::Sequences(sequences) => sequences.try_out(),
        };
        tried.map_err(|reason| ModelError::Contract {
            model: self.origin.clone(),
            reason: format!("a first try failed: {reason}"),
        })
    }

    fn predict(&self, functions: &[FunctionSites<'_>]) -> Result<Vec<Vec<Distribution>>, String> {
        match &self.reader {
            Reader::Tagger(tagger) => tagger.predict(functions),
            Reader::Sequences(sequences) => sequences.predict(functions),
        }
    }

    /// Whether a pass takes rows of several functions.
    fn many_at_once(&self) -> bool {
        match &self.reader {
            Reader::Tagger(tagger) => tagger.many_at_once(),
            Reader::Sequences(_) => false,
        }
    }

    fn describe(&self) -> String {
        let how = match self.reader {
            Reader::Tagger(_) => "",
            Reader::Sequences(_) => "one query a site, ",
        };
        description(how, self.used.backend)
    }

    pub(crate) fn report(&self) -> BackendReport {
        BackendReport {
            predictor: self.describe(),
            model: self.origin.clone(),
            bytes: Some(self.size as u64),
            precision: Some(self.used.precision),
            in_use: Some(self.used.backend),
            not_used: self.used.not_used.clone(),
        }
    }
}

fn description(how: &str, backend: Backend) -> String {
    format!("neural ({how}{backend})")
}

fn identity(model: &str, used: &Used) -> String {
    format!("{FORMAT} {model} {}", used.identity)
}
