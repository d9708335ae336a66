//! The back ends of the networks: three behind one trait, and the choice among them.
//!
//! One back end cannot make the choice fail: each that cannot be used leaves a reason, and the next is tried. Only a
//! model that breaks the contract is refused at once, because no back end can mend that.

mod bounds;
mod contract;
mod graph;
mod half;
mod int8;
mod onnxruntime;
mod protobuf;
mod rten;

use std::borrow::Cow;
use std::fmt;

pub(crate) use self::contract::{Contract, DECODER, ENCODER, TAGGER};
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

/// The precision of products with weights. The rest of a network is float32 everywhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Precision {
    Float32,
    Float16,
    Int8,
}

impl Precision {
    /// GPUs are faster with float16, CPUs with int8. The cost in accuracy is known only for the network built into this
    /// binary, so others stay as they are.
    fn of(backend: Backend, embedded: bool, options: &ModelOptions) -> Self {
        match backend {
            Backend::Cuda if embedded => Precision::Float16,
            Backend::OnnxRuntime | Backend::Rten if embedded && options.allow_int8 => Precision::Int8,
            _ => Precision::Float32,
        }
    }

    /// The model in the form in which it is calculated.
    fn rewritten(self, model: &Model) -> Result<Model, Refused> {
        let bytes = match self {
            Precision::Float32 => Ok(model.bytes.clone()),
            Precision::Float16 => half::narrowed(&model.bytes).map(Cow::Owned),
            Precision::Int8 => int8::quantized(&model.bytes).map(Cow::Owned),
        };
        let bytes = bytes.map_err(|reason| Refused::Backend(format!("the model cannot be loaded: {reason}")))?;
        Ok(Model { bytes, contract: model.contract })
    }
}

impl fmt::Display for Precision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Precision::Float32 => "float32",
            Precision::Float16 => "float16",
            Precision::Int8 => "int8",
        })
    }
}

/// A back end that was skipped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotUsed {
    pub backend: Backend,
    pub reason: String,
}

/// A tensor on its way into a network.
pub(crate) struct Input<'a> {
    pub(crate) name: &'static str,
    pub(crate) shape: Vec<usize>,
    pub(crate) numbers: Numbers<'a>,
}

pub(crate) enum Numbers<'a> {
    Int64(&'a [i64]),
    Float32(&'a [f32]),
}

/// The output of a network, with as many values as the shape says.
pub(crate) struct Output {
    pub(crate) shape: Vec<usize>,
    pub(crate) values: Vec<f32>,
}

impl Output {
    fn new(shape: Vec<usize>, values: Vec<f32>) -> Result<Self, String> {
        if shape.iter().try_fold(1usize, |size, &next| size.checked_mul(next)) != Some(values.len()) {
            return Err(format!("its output has the shape {shape:?} and {} values", values.len()));
        }
        Ok(Output { shape, values })
    }
}

/// A network, ready to run.
pub(crate) trait Session: Send + Sync {
    /// The number of rows for one forward pass. It is 1 on a CPU: two rows take about as long there as two passes, and
    /// padding costs extra (figures in models/README.md). Where it is more, every pass has as many rows, and one of a
    /// few lengths, so that a row's numbers do not depend on its batch.
    fn rows_at_once(&self) -> usize;

    /// One forward pass. The inputs are those of the network's contract.
    fn run(&self, inputs: &[Input<'_>]) -> Result<Output, String>;
}

/// Why one back end does not take a model.
pub(crate) enum Refused {
    /// The back end cannot be used here, or not for this model.
    Backend(String),
    /// The model itself is wrong.
    Contract(String),
}

/// A network to open.
pub(crate) struct Model {
    pub(crate) bytes: Cow<'static, [u8]>,
    pub(crate) contract: &'static Contract,
}

/// Networks on the first back end that takes all of them, and why the earlier ones do not.
pub(crate) struct Opened<const N: usize> {
    pub(crate) sessions: [Box<dyn Session>; N],
    pub(crate) used: Used,
}

/// The back end that was chosen.
#[derive(Debug, Clone)]
pub(crate) struct Used {
    pub(crate) backend: Backend,
    pub(crate) precision: Precision,
    pub(crate) not_used: Vec<NotUsed>,
    /// Everything about it on which the last bits of an answer may depend.
    pub(crate) identity: String,
}

/// Opens networks on the first back end that can be used. `origin` names the model in errors.
///
/// `first_pass` runs only on a GPU, with the maximum number of tokens that the networks get at once. A GPU that is too
/// old or too small fails there, while another back end can still be chosen.
pub(crate) fn open<const N: usize>(
    origin: &str,
    models: &[Model; N],
    options: &ModelOptions,
    first_pass: impl Fn(&[Box<dyn Session>; N]) -> Result<(), String>,
) -> Result<Opened<N>, ModelError> {
    if options.model_dir.is_some() {
        for model in models {
            bounds::check(&model.bytes).map_err(|reason| ModelError::Refused { model: origin.to_owned(), reason })?;
        }
    }
    let mut not_used = Vec::new();
    for backend in [Backend::Cuda, Backend::OnnxRuntime, Backend::Rten] {
        let precision = Precision::of(backend, options.model_dir.is_none(), options);
        let opened = models.iter().map(|model| open_on(backend, precision, model, options));
        match opened.collect::<Result<Vec<_>, Refused>>().map(<[_; N]>::try_from) {
            Ok(Ok(sessions)) => {
                if backend == Backend::Cuda
                    && let Err(reason) = first_pass(&sessions)
                {
                    not_used.push(NotUsed { backend, reason: format!("a first pass failed: {reason}") });
                    continue;
                }
                return Ok(Opened { sessions, used: Used::of(backend, precision, not_used, options) });
            }
            // There are as many sessions as models.
            Ok(Err(_)) => {}
            Err(Refused::Backend(reason)) => not_used.push(NotUsed { backend, reason }),
            Err(Refused::Contract(reason)) => return Err(ModelError::Contract { model: origin.to_owned(), reason }),
        }
    }
    // The last one works everywhere, so its error is about the model.
    let reasons: Vec<String> =
        not_used.iter().rev().map(|NotUsed { backend, reason }| format!("{backend}: {reason}")).collect();
    Err(ModelError::NoBackend { model: origin.to_owned(), reasons: reasons.join("; ") })
}

fn open_on(
    backend: Backend,
    precision: Precision,
    model: &Model,
    options: &ModelOptions,
) -> Result<Box<dyn Session>, Refused> {
    // This is cheap, and reaches the next back end soon.
    match backend {
        Backend::Cuda => onnxruntime::cuda_library(options).map(|_| ()),
        Backend::OnnxRuntime => onnxruntime::library(options).map(|_| ()),
        Backend::Rten => Ok(()),
    }
    .map_err(Refused::Backend)?;
    let model = &precision.rewritten(model)?;
    match backend {
        Backend::Cuda => onnxruntime::open_cuda(model, options),
        Backend::OnnxRuntime => onnxruntime::open_cpu(model, options),
        Backend::Rten => rten::open(model, options),
    }
}

/// The back end of networks built into this binary, if it is known without opening them.
pub(crate) fn foreseen(options: &ModelOptions) -> Option<Used> {
    // The other two need a library.
    let (backend, precision) = (Backend::Rten, Precision::of(Backend::Rten, true, options));
    options.onnxruntime_library.is_none().then(|| Used::of(backend, precision, Vec::new(), options))
}

impl Used {
    fn of(backend: Backend, precision: Precision, not_used: Vec<NotUsed>, options: &ModelOptions) -> Self {
        let identity = format!("{precision}, {}", identity(backend, options));
        Used { backend, precision, not_used, identity }
    }
}

/// Releases and processors differ in the last bits of an answer.
fn identity(backend: Backend, options: &ModelOptions) -> String {
    let release = match backend {
        Backend::Cuda | Backend::OnnxRuntime => onnxruntime::release(),
        Backend::Rten => rten::RELEASE.to_owned(),
    };
    let device = match backend {
        Backend::Cuda => onnxruntime::devices(),
        Backend::OnnxRuntime | Backend::Rten => processor(),
    };
    format!("{backend}, release {release}, {} threads, {device}", options.threads)
}

/// The features by which kernels for matrices are chosen.
fn processor() -> String {
    let mut features: Vec<&str> = vec![std::env::consts::ARCH];
    #[cfg(target_arch = "x86_64")]
    for (name, here) in [
        ("avx2", std::arch::is_x86_feature_detected!("avx2")),
        ("fma", std::arch::is_x86_feature_detected!("fma")),
        ("avxvnni", std::arch::is_x86_feature_detected!("avxvnni")),
        ("avx512f", std::arch::is_x86_feature_detected!("avx512f")),
        ("avx512vnni", std::arch::is_x86_feature_detected!("avx512vnni")),
        ("avx512bf16", std::arch::is_x86_feature_detected!("avx512bf16")),
    ] {
        features.extend(here.then_some(name));
    }
    #[cfg(target_arch = "aarch64")]
    for (name, here) in [
        ("dotprod", std::arch::is_aarch64_feature_detected!("dotprod")),
        ("i8mm", std::arch::is_aarch64_feature_detected!("i8mm")),
        ("sve", std::arch::is_aarch64_feature_detected!("sve")),
    ] {
        features.extend(here.then_some(name));
    }
    features.join(" ")
}
