//! The sources of weights: the files built into this binary, or a folder of the user.

use std::borrow::Cow;
use std::io::Read as _;
use std::path::Path;

use sha2::{Digest, Sha256};

use crate::{ModelError, ModelOptions};

/// Counts for the predictor `frequency`.
pub(crate) const FREQUENCY: &[u8] = include_bytes!("../weights/frequency.json");
const MODEL: &[u8] = include_bytes!("../weights/model.onnx");
const TOKENIZER: &[u8] = include_bytes!("../weights/tokenizer.json");
/// The hash of the embedded files, so that they need not be read only to identify them.
const SUMS: &str = include_str!("../weights/SHA256SUMS");

/// The files of a model folder.
const TAGGER_FILE: &str = "model.onnx";
const ENCODER_FILE: &str = "encoder_model.onnx";
const DECODER_FILE: &str = "decoder_model.onnx";
const TOKENIZER_FILE: &str = "tokenizer.json";
/// Maximum sizes of a folder's files: a Protocol Buffers message is never longer, and tokenizers have a few megabytes.
const LONGEST_NETWORK: u64 = 2 << 30;
const LONGEST_TOKENIZER: u64 = 64 << 20;

/// The files of a network, not parsed yet.
pub(crate) struct Weights {
    /// For messages: `embedded` or the folder.
    pub(crate) origin: String,
    pub(crate) architecture: Architecture,
    pub(crate) tokenizer: Cow<'static, [u8]>,
}

/// The two supported kinds of networks.
pub(crate) enum Architecture {
    /// A network that reads a function once and tags its tokens.
    Tagger(Cow<'static, [u8]>),
    /// A network that is queried for each site and answers with a word.
    Sequences { encoder: Vec<u8>, decoder: Vec<u8> },
}

impl Weights {
    pub(crate) fn of(options: &ModelOptions) -> Result<Self, ModelError> {
        match &options.model_dir {
            Some(folder) => Self::from_folder(folder),
            None => Ok(Self::embedded()),
        }
    }

    pub(crate) fn embedded() -> Self {
        Weights {
            origin: "embedded".to_owned(),
            architecture: Architecture::Tagger(Cow::Borrowed(MODEL)),
            tokenizer: Cow::Borrowed(TOKENIZER),
        }
    }

    #[cfg(test)]
    pub(crate) fn embedded_model() -> &'static [u8] {
        MODEL
    }

    /// A fingerprint of the embedded files, which differs between builds.
    pub(crate) fn embedded_identity() -> &'static str {
        SUMS
    }

    fn from_folder(folder: &Path) -> Result<Self, ModelError> {
        if !folder.is_dir() {
            return Err(ModelError::NoFolder { folder: folder.display().to_string() });
        }
        let has = |name: &str| folder.join(name).is_file();
        let read = |name: &str| {
            let path = folder.join(name);
            let longest = if name == TOKENIZER_FILE { LONGEST_TOKENIZER } else { LONGEST_NETWORK };
            read_file(&path, longest).map_err(|source| ModelError::Read { path: path.display().to_string(), source })
        };
        let origin = folder.display().to_string();
        // What is there decides; where neither is, the error names the file that most folders have.
        let architecture = match (has(TAGGER_FILE), has(ENCODER_FILE), has(DECODER_FILE)) {
            (false, true, true) => {
                Architecture::Sequences { encoder: read(ENCODER_FILE)?, decoder: read(DECODER_FILE)? }
            }
            (false, true, false) => return Err(ModelError::Half { folder: origin, missing: DECODER_FILE }),
            (false, false, true) => return Err(ModelError::Half { folder: origin, missing: ENCODER_FILE }),
            _ => Architecture::Tagger(Cow::Owned(read(TAGGER_FILE)?)),
        };
        Ok(Weights { origin, architecture, tokenizer: Cow::Owned(read(TOKENIZER_FILE)?) })
    }

    /// All files that determine the answers.
    pub(crate) fn files(self) -> Vec<Cow<'static, [u8]>> {
        match self.architecture {
            Architecture::Tagger(model) => vec![model, self.tokenizer],
            Architecture::Sequences { encoder, decoder } => {
                vec![Cow::Owned(encoder), Cow::Owned(decoder), self.tokenizer]
            }
        }
    }

    /// A fingerprint of the files' contents.
    pub(crate) fn identity(&self) -> String {
        let hash =
            |bytes: &[u8]| Sha256::digest(bytes).iter().fold(String::new(), |text, byte| format!("{text}{byte:02x}"));
        match &self.architecture {
            Architecture::Tagger(Cow::Borrowed(_)) => SUMS.to_owned(),
            Architecture::Tagger(Cow::Owned(model)) => format!("{} {}", hash(model), hash(&self.tokenizer)),
            Architecture::Sequences { encoder, decoder } => {
                format!("{} {} {}", hash(encoder), hash(decoder), hash(&self.tokenizer))
            }
        }
    }

    /// The size of the networks in bytes.
    pub(crate) fn size(&self) -> usize {
        match &self.architecture {
            Architecture::Tagger(model) => model.len(),
            Architecture::Sequences { encoder, decoder } => encoder.len() + decoder.len(),
        }
    }
}

/// Reads a regular file of at most this many bytes.
fn read_file(path: &Path, longest: u64) -> std::io::Result<Vec<u8>> {
    // Before it is opened: a pipe would wait for somebody to write.
    if !std::fs::metadata(path)?.is_file() {
        return Err(std::io::Error::other("it is not a regular file"));
    }
    let mut bytes = Vec::new();
    std::fs::File::open(path)?.take(longest + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > longest {
        return Err(std::io::Error::other(format!("it has more than {} MiB", longest >> 20)));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_file_or_a_longer_one_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, [7; 10]).unwrap();
        assert_eq!(read_file(&path, 10).unwrap(), [7; 10]);
        assert_eq!(read_file(&path, 9).unwrap_err().to_string(), "it has more than 0 MiB");
        assert_eq!(read_file(folder.path(), 9).unwrap_err().to_string(), "it is not a regular file");
        #[cfg(unix)]
        assert!(read_file(Path::new("/dev/zero"), 9).is_err());
    }

    #[test]
    fn the_sums_are_those_of_the_files() {
        for (name, bytes) in [("model.onnx", MODEL), ("tokenizer.json", TOKENIZER)] {
            let sum: String = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
            let line = format!("{sum}  {name}");
            assert!(
                SUMS.lines().any(|known| known == line),
                "{name} has changed: run `sha256sum model.onnx tokenizer.json > SHA256SUMS` in models/weights"
            );
        }
    }
}
