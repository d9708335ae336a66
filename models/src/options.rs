//! The options of a predictor. No defaults are looked up on the disk here.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The three predictors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PredictorKind {
    #[default]
    Neural,
    Frequency,
    Uniform,
}

impl PredictorKind {
    pub const ALL: [PredictorKind; 3] = [PredictorKind::Neural, PredictorKind::Frequency, PredictorKind::Uniform];

    /// The name by which users choose the predictor.
    pub fn name(self) -> &'static str {
        match self {
            PredictorKind::Neural => "neural",
            PredictorKind::Frequency => "frequency",
            PredictorKind::Uniform => "uniform",
        }
    }
}

impl fmt::Display for PredictorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// No predictor has the given name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no predictor `{0}`; choose neural, frequency or uniform")]
pub struct UnknownPredictor(pub String);

impl FromStr for PredictorKind {
    type Err = UnknownPredictor;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|kind| kind.name() == name).ok_or_else(|| UnknownPredictor(name.to_owned()))
    }
}

/// Which predictor to load, with which weights, and where to run it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelOptions {
    pub kind: PredictorKind,
    /// A folder with a network and its `tokenizer.json`, which replaces the embedded one.
    pub model_dir: Option<PathBuf>,
    /// The file of ONNX Runtime's shared library, in PyPI's packages `onnxruntime/capi/libonnxruntime.so.*`. A process
    /// loads at most one and keeps the first that works.
    pub onnxruntime_library: Option<PathBuf>,
    /// Threads of one forward pass on the CPU, at least 1.
    pub threads: usize,
    /// Use an NVIDIA GPU where the library and the machine support it.
    pub allow_gpu: bool,
    /// Calculate with int8 on a CPU where its cost in accuracy is known, which is for the embedded network.
    pub allow_int8: bool,
    /// The folder in which predictions of a network are cached for other processes, if any.
    pub cache: Option<PathBuf>,
}

impl Default for ModelOptions {
    fn default() -> Self {
        ModelOptions {
            kind: PredictorKind::Neural,
            model_dir: None,
            onnxruntime_library: None,
            threads: std::thread::available_parallelism().map_or(1, |cores| cores.get().min(2)),
            allow_gpu: true,
            allow_int8: true,
            cache: None,
        }
    }
}
