//! Where weights come from: the files built into this binary, or a folder of the user's.

use std::borrow::Cow;
use std::path::Path;

use crate::{ModelError, ModelOptions};

/// Counts for the predictor `frequency`.
pub(crate) const FREQUENCY: &[u8] = include_bytes!("../weights/frequency.json");
const MODEL: &[u8] = include_bytes!("../weights/model.onnx");
const TOKENIZER: &[u8] = include_bytes!("../weights/tokenizer.json");

/// The two files of a network, not looked into yet.
pub(crate) struct Weights {
    /// For messages: `embedded` or the folder.
    pub(crate) origin: String,
    pub(crate) model: Cow<'static, [u8]>,
    pub(crate) tokenizer: Cow<'static, [u8]>,
}

impl Weights {
    pub(crate) fn of(options: &ModelOptions) -> Result<Self, ModelError> {
        match &options.model_dir {
            Some(folder) => Self::from_folder(folder),
            None => Ok(Self::embedded()),
        }
    }

    pub(crate) fn embedded() -> Self {
        Weights { origin: "embedded".to_owned(), model: Cow::Borrowed(MODEL), tokenizer: Cow::Borrowed(TOKENIZER) }
    }

    fn from_folder(folder: &Path) -> Result<Self, ModelError> {
        let read = |name: &str| {
            let path = folder.join(name);
            std::fs::read(&path)
                .map(Cow::Owned)
                .map_err(|source| ModelError::Read { path: path.display().to_string(), source })
        };
        Ok(Weights {
            origin: folder.display().to_string(),
            model: read("model.onnx")?,
            tokenizer: read("tokenizer.json")?,
        })
    }
}
