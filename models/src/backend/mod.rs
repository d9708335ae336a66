//! What runs the network: three back ends behind one trait, and the choice among them.
//!
//! The choice never fails because of one back end: each that cannot be used leaves a reason and the next is tried. Only
//! a model that breaks the contract is refused at once, because no back end can mend that.

mod onnxruntime;
mod rten;

use std::borrow::Cow;
use std::fmt;

use twincell_core::value::AbstractValue;

use crate::{ModelError, ModelOptions};

/// The back ends, in the order in which they are tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Backend {
    /// ONNX Runtime from the user's Python, on an NVIDIA GPU.
    Cuda,
    /// ONNX Runtime from the user's Python, on the CPU.
    OnnxRuntime,
    /// Pure Rust, built into this binary, on the CPU.
    Rten,
}

impl fmt::Display for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Backend::Cuda => "ONNX Runtime, CUDA",
            Backend::OnnxRuntime => "ONNX Runtime, CPU",
            Backend::Rten => "rten, CPU",
        })
    }
}

/// A back end that was passed over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotUsed {
    pub backend: Backend,
    pub reason: String,
}

/// What runs a predictor here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackendReport {
    /// As [`twincell_core::predictor::Predictor::describe`] says it.
    pub predictor: String,
    /// `embedded`, the model's folder, or `none`.
    pub model: String,
    /// None for a predictor without a network.
    pub in_use: Option<Backend>,
    /// The back ends tried before, with why each cannot be used.
    pub not_used: Vec<NotUsed>,
}

/// Rows of tokens for one forward pass, padded to one length.
pub(crate) struct Batch {
    pub(crate) rows: usize,
    pub(crate) tokens: usize,
    /// `rows * tokens` numbers, row by row.
    pub(crate) input_ids: Vec<i64>,
    /// 1 for a token, 0 for padding.
    pub(crate) attention_mask: Vec<i64>,
}

impl Batch {
    pub(crate) fn new(rows: &[&[i64]]) -> Self {
        Self::of_length(rows, rows.iter().map(|row| row.len()).max().unwrap_or(0))
    }

    /// Rows of at most so many `tokens`, padded to that.
    pub(crate) fn of_length(rows: &[&[i64]], tokens: usize) -> Self {
        let padded = |row: &[i64], number: &dyn Fn(i64) -> i64, out: &mut Vec<i64>| {
            out.extend(row.iter().map(|&id| number(id)));
            out.resize(out.len() + tokens - row.len(), 0);
        };
        let mut batch = Batch { rows: rows.len(), tokens, input_ids: Vec::new(), attention_mask: Vec::new() };
        for row in rows {
            padded(row, &|id| id, &mut batch.input_ids);
            padded(row, &|_| 1, &mut batch.attention_mask);
        }
        batch
    }
}

/// The length that a row gets where passes take many rows: the next power of two, and not too short.
pub(crate) fn padded(tokens: usize) -> usize {
    tokens.next_power_of_two().max(SHORTEST)
}

/// Shorter rows take a GPU as long.
const SHORTEST: usize = 64;

/// What a network answers: `[rows, tokens, classes]` and the numbers.
pub(crate) struct Logits {
    pub(crate) shape: Vec<usize>,
    pub(crate) values: Vec<f32>,
}

/// A network, ready to run.
pub(crate) trait Session: Send + Sync {
    fn backend(&self) -> Backend;

    /// Rows that one forward pass should take. 1 on a CPU: two rows there take about as long as two passes, and padding
    /// comes on top (figures in models/README.md). Where it is more, every pass has as many rows, and one of a few lengths
    /// ([`padded`]), so that a row's numbers do not depend on what it is batched with.
    fn rows_at_once(&self) -> usize;

    fn forward(&self, batch: &Batch) -> Result<Logits, String>;
}

/// Why one back end does not take a model.
pub(crate) enum Refused {
    /// The back end cannot be used here, or not for this model.
    Backend(String),
    /// The model itself is wrong.
    Contract(String),
}

/// An input or output as a back end sees it.
struct Port<'a> {
    name: &'a str,
    /// Of the right element type, or what it is instead.
    element: Result<(), String>,
    /// The size of the last dimension where the model fixes it.
    last: Option<usize>,
}

/// The contract of models/README.md: inputs `input_ids`, `attention_mask` int64, output `logits` float32 with twelve classes last.
fn check_contract(inputs: &[Port<'_>], outputs: &[Port<'_>]) -> Result<(), Refused> {
    let broken = |reason: String| Err(Refused::Contract(reason));
    let names = |ports: &[Port<'_>]| ports.iter().map(|port| port.name).collect::<Vec<_>>().join(", ");
    for wanted in ["input_ids", "attention_mask"] {
        match inputs.iter().find(|port| port.name == wanted) {
            None => return broken(format!("it has no input `{wanted}`, only: {}", names(inputs))),
            Some(Port { element: Err(other), .. }) => {
                return broken(format!("its input `{wanted}` is {other}, not a tensor of int64"));
            }
            Some(_) => {}
        }
    }
    if inputs.len() > 2 {
        return broken(format!("it has inputs besides `input_ids` and `attention_mask`: {}", names(inputs)));
    }
    let Some(logits) = outputs.iter().find(|port| port.name == "logits") else {
        return broken(format!("it has no output `logits`, only: {}", names(outputs)));
    };
    if let Err(other) = &logits.element {
        return broken(format!("its output `logits` is {other}, not a tensor of float32"));
    }
    match logits.last {
        Some(classes) if classes != AbstractValue::COUNT => {
            broken(format!("its output `logits` has {classes} classes, not {}", AbstractValue::COUNT))
        }
        _ => Ok(()),
    }
}

/// A network on the first back end that takes it, and why the earlier ones do not.
pub(crate) struct Opened {
    pub(crate) session: Box<dyn Session>,
    pub(crate) not_used: Vec<NotUsed>,
}

/// Opens a network on the first back end that can be used. `origin` names the model in errors.
pub(crate) fn open(origin: &str, model: Cow<'static, [u8]>, options: &ModelOptions) -> Result<Opened, ModelError> {
    let mut not_used = Vec::new();
    for backend in [Backend::Cuda, Backend::OnnxRuntime, Backend::Rten] {
        let opened = match backend {
            Backend::Cuda => onnxruntime::open_cuda(&model, options),
            Backend::OnnxRuntime => onnxruntime::open_cpu(&model, options),
            Backend::Rten => rten::open(model.clone(), options),
        };
        match opened {
            Ok(session) => return Ok(Opened { session, not_used }),
            Err(Refused::Backend(reason)) => not_used.push(NotUsed { backend, reason }),
            Err(Refused::Contract(reason)) => return Err(ModelError::Contract { model: origin.to_owned(), reason }),
        }
    }
    let reasons: Vec<String> =
        not_used.iter().map(|NotUsed { backend, reason }| format!("{backend}: {reason}")).collect();
    Err(ModelError::NoBackend { model: origin.to_owned(), reasons: reasons.join("; ") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shorter_rows_are_padded_and_masked() {
        let batch = Batch::new(&[&[5, 6, 7], &[8]]);
        assert_eq!((batch.rows, batch.tokens), (2, 3));
        assert_eq!(batch.input_ids, [5, 6, 7, 8, 0, 0]);
        assert_eq!(batch.attention_mask, [1, 1, 1, 1, 0, 0]);
    }

    #[test]
    fn a_broken_contract_is_named() {
        fn port(name: &str, last: Option<usize>) -> Port<'_> {
            Port { name, element: Ok(()), last }
        }
        let good = || [port("input_ids", None), port("attention_mask", None)];
        let reason = |inputs: &[Port<'_>], outputs: &[Port<'_>]| match check_contract(inputs, outputs) {
            Err(Refused::Contract(reason)) => reason,
            _ => String::new(),
        };
        assert_eq!(reason(&good(), &[port("logits", Some(12))]), "");
        assert_eq!(reason(&good(), &[port("logits", None)]), "");
        assert_eq!(
            reason(&[port("input_ids", None)], &[port("logits", None)]),
            "it has no input `attention_mask`, only: input_ids"
        );
        assert_eq!(reason(&good(), &[port("y", Some(12))]), "it has no output `logits`, only: y");
        assert_eq!(reason(&good(), &[port("logits", Some(9))]), "its output `logits` has 9 classes, not 12");
        let float = Port { name: "input_ids", element: Err("f32".to_owned()), last: None };
        assert_eq!(
            reason(&[float, port("attention_mask", None)], &[port("logits", None)]),
            "its input `input_ids` is f32, not a tensor of int64"
        );
    }
}
