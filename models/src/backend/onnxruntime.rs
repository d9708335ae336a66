//! ONNX Runtime, from the shared library in the user's Python package, on the CPU or on an NVIDIA GPU.
//!
//! The library is loaded at run time and at most once in a process. Every error is a reason, never a panic.

use std::ffi::CStr;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use ort::environment::Environment;
use ort::ep::{self, ExecutionProviderDispatch};
use ort::memory::{AllocationDevice, AllocatorType, MemoryInfo, MemoryType};
use ort::session::Session as OrtSession;
use ort::value::{Outlet, Tensor, TensorElementType, ValueType};

use super::contract::{Element, Port};
use super::{Input, Model, Numbers, Output, Refused, Session};
use crate::ModelOptions;

/// The library that this process has loaded. A second one is impossible, so the first that works serves every model.
static LOADED: Mutex<Option<Loaded>> = Mutex::new(None);

#[derive(Clone)]
struct Loaded {
    environment: Environment,
    release: String,
}

/// The number of rows of every pass on a GPU.
const ROWS_ON_GPU: usize = 16;

struct OnnxRuntime {
    rows_at_once: usize,
    output: &'static str,
    session: Mutex<OrtSession>,
}

pub(super) fn open_cpu(model: &Model, options: &ModelOptions) -> Result<Box<dyn Session>, Refused> {
    let library = library(options).map_err(Refused::Backend)?;
    Ok(Box::new(open(model, options, &library, ep::CPU::default().build(), 1)?))
}

pub(super) fn open_cuda(model: &Model, options: &ModelOptions) -> Result<Box<dyn Session>, Refused> {
    let library = cuda_library(options).map_err(Refused::Backend)?;
    // PyPI's NVIDIA packages are beside onnxruntime. The system may have the missing ones. If not, opening the session
    // says which library it needs.
    if let Some(packages) = library.ancestors().nth(3) {
        let folder = |name: &str| Some(packages.join("nvidia").join(name).join("lib")).filter(|folder| folder.is_dir());
        let (cuda, cudnn) = (folder("cu13"), folder("cudnn"));
        let _ = ep::cuda::preload_dylibs(cuda.as_deref(), cudnn.as_deref());
    }
    // TF32 would round the inputs of every product to 10 bits.
    let provider = ep::CUDA::default().with_tf32(false).build().error_on_failure();
    Ok(Box::new(open(model, options, &library, provider, ROWS_ON_GPU)?))
}

/// The release of the library that is loaded.
pub(super) fn release() -> String {
    let loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
    loaded.as_ref().map_or_else(String::new, |loaded| loaded.release.clone())
}

/// What NVIDIA's driver reports about itself and the devices.
pub(super) fn devices() -> String {
    let driver = Path::new("/proc/driver/nvidia");
    let folders = std::fs::read_dir(driver.join("gpus")).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = folders.map(|folder| folder.path().join("information")).collect();
    files.sort();
    files.push(driver.join("version"));
    files.iter().filter_map(|file| std::fs::read_to_string(file).ok()).collect()
}

/// The library's absolute path, if there is such a file.
pub(super) fn library(options: &ModelOptions) -> Result<PathBuf, String> {
    let Some(path) = &options.onnxruntime_library else {
        return Err("the user's Python has no package onnxruntime; `pip install onnxruntime` adds it".to_owned());
    };
    std::fs::canonicalize(path).map_err(|error| format!("{}: {error}", path.display()))
}

/// The library, if it and the machine have everything that CUDA needs.
pub(super) fn cuda_library(options: &ModelOptions) -> Result<PathBuf, String> {
    if !options.allow_gpu {
        return Err("the GPU is switched off by an option".to_owned());
    }
    if !Path::new("/dev/nvidiactl").exists() && !Path::new("/dev/dxg").exists() {
        return Err("there is no NVIDIA device".to_owned());
    }
    if options.onnxruntime_library.is_none() {
        return Err(
            "the user's Python has no package onnxruntime-gpu; `pip install onnxruntime-gpu` adds it".to_owned()
        );
    }
    let library = library(options)?;
    if !library.with_file_name("libonnxruntime_providers_cuda.so").is_file() {
        return Err("this onnxruntime is built without CUDA; `pip install onnxruntime-gpu` has it".to_owned());
    }
    Ok(library)
}

fn environment(library: &Path) -> Result<Environment, String> {
    let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
    let (_open, release) = checked_library(library)?;
    if let Some(loaded) = loaded.as_ref() {
        return Ok(loaded.environment.clone());
    }
    let builder = ort::init_from(library).map_err(|error| error.to_string())?;
    let environment = builder.with_name("twincell").with_telemetry(false).build().map_err(|error| error.to_string())?;
    *loaded = Some(Loaded { environment: environment.clone(), release });
    Ok(environment)
}

/// Opens the library, returns its release, and makes sure that `ort` accepts it.
///
/// `ort` must never see a library that it refuses: after a failure, rc.14 keeps its cell for the library marked as
/// filled, so that the next call reads something that was never written.
fn checked_library(library: &Path) -> Result<(libloading::Library, String), String> {
    let path = library.display();
    // SAFETY: loading runs the library's initialisers. The caller names a library as ONNX Runtime, and `ort` loads it
    // right after this; a broken file is refused by the loader.
    let loaded = unsafe { libloading::Library::new(library) }
        .map_err(|error| format!("{path} cannot be loaded as a library: {error}"))?;
    // SAFETY: this is the symbol's type in every release of ONNX Runtime.
    let base = unsafe { loaded.get::<unsafe extern "C" fn() -> *const ort::sys::OrtApiBase>(b"OrtGetApiBase") }
        .map_err(|_| format!("{path} is not ONNX Runtime: it has no OrtGetApiBase"))?;
    // SAFETY: the entry point takes nothing and returns null or a table that lives as long as the library.
    let base = unsafe { base().as_ref() }.ok_or_else(|| format!("{path} is not ONNX Runtime: it has no interface"))?;
    // SAFETY: the function may be called at any time; its text is the library's own and ends in 0.
    let version = unsafe { CStr::from_ptr((base.GetVersionString)()) }.to_string_lossy().into_owned();
    let minor = version.split('.').nth(1).and_then(|minor| minor.parse::<u32>().ok()).unwrap_or(0);
    // SAFETY: as above. It is not asked for what it is too old for: it would complain on standard error.
    if minor < ort::MINOR_VERSION || unsafe { (base.GetApi)(ort::MINOR_VERSION) }.is_null() {
        return Err(format!(
            "{path} is ONNX Runtime {version}, older than 1.{}; `pip install --upgrade onnxruntime` brings a newer one",
            ort::MINOR_VERSION
        ));
    }
    Ok((loaded, version))
}

fn open(
    model: &Model,
    options: &ModelOptions,
    library: &Path,
    provider: ExecutionProviderDispatch,
    rows_at_once: usize,
) -> Result<OnnxRuntime, Refused> {
    let environment = environment(library).map_err(Refused::Backend)?;
    let session = build(&model.bytes, options, &environment, provider)
        .map_err(|error| Refused::Backend(format!("the model cannot be loaded: {error}")))?;
    model.contract.check(&ports(session.inputs()), &ports(session.outputs()))?;
    Ok(OnnxRuntime { rows_at_once, output: model.contract.output, session: Mutex::new(session) })
}

fn build(
    model: &[u8],
    options: &ModelOptions,
    environment: &Environment,
    provider: ExecutionProviderDispatch,
) -> ort::Result<OrtSession> {
    OrtSession::builder(environment)?
        .with_execution_providers([provider])?
        .with_intra_threads(options.threads.max(1))?
        .with_inter_threads(1)?
        // Threads that wait in a loop would take the cores from the workers.
        .with_intra_op_spinning(false)?
        .with_deterministic_compute(true)?
        .commit_from_memory(model)
}

fn ports(outlets: &[Outlet]) -> Vec<Port<'_>> {
    outlets
        .iter()
        .map(|outlet| match outlet.dtype() {
            ValueType::Tensor { ty, shape, .. } => Port {
                name: outlet.name(),
                element: Some(match ty {
                    TensorElementType::Int64 => Ok(Element::Int64),
                    TensorElementType::Float32 => Ok(Element::Float32),
                    other => Err(other.to_string()),
                }),
                last: shape.last().and_then(|&size| usize::try_from(size).ok()),
            },
            other => Port { name: outlet.name(), element: Some(Err(other.to_string())), last: None },
        })
        .collect()
}

impl Session for OnnxRuntime {
    fn rows_at_once(&self) -> usize {
        self.rows_at_once
    }

    fn run(&self, inputs: &[Input<'_>]) -> Result<Output, String> {
        let (shape, values) = self.run_bound(inputs).map_err(|error| error.to_string())?;
        Output::new(shape, values)
    }
}

impl OnnxRuntime {
    /// One pass with bound inputs and output: each input goes to the device once, only the output that is read comes
    /// back, and others are not calculated.
    fn run_bound(&self, inputs: &[Input<'_>]) -> ort::Result<(Vec<usize>, Vec<f32>)> {
        let mut session = self.session.lock().unwrap_or_else(PoisonError::into_inner);
        // A new one for each pass, since an old one insists on the shapes that it saw.
        let mut binding = session.create_binding()?;
        for input in inputs {
            let shape = input.shape.clone();
            match input.numbers {
                Numbers::Int64(numbers) => {
                    binding.bind_input(input.name, &Tensor::from_array((shape, numbers.to_vec()))?)?;
                }
                Numbers::Float32(numbers) => {
                    binding.bind_input(input.name, &Tensor::from_array((shape, numbers.to_vec()))?)?;
                }
            }
        }
        let here = MemoryInfo::new(AllocationDevice::CPU, 0, AllocatorType::Device, MemoryType::CPUOutput)?;
        binding.bind_output_to_device(self.output, &here)?;
        let outputs = session.run_binding(&binding)?;
        let (shape, values) = outputs[self.output].try_extract_tensor::<f32>()?;
        Ok((shape.iter().map(|&size| usize::try_from(size).unwrap_or(0)).collect(), values.to_vec()))
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::*;
    use crate::backend::{Precision, TAGGER};
    use crate::weights::Weights;

    /// Calculates CUDA's input on the CPU, since most machines that run this test have no GPU, and also the CPU's
    /// input.
    #[test]
    fn the_network_with_smaller_weights_answers_nearly_the_same() {
        let Some(library) = std::env::var_os("TWINCELL_ONNXRUNTIME").map(PathBuf::from) else {
            return;
        };
        let options =
            ModelOptions { onnxruntime_library: Some(library.clone()), threads: 1, ..ModelOptions::default() };
        let ids: Vec<i64> = (0..80).map(|number| 2 + number * 37 % 8000).collect();
        let logits = |precision: Precision| {
            let model = Model { bytes: Cow::Borrowed(Weights::embedded_model()), contract: &TAGGER };
            let model = precision.rewritten(&model).ok().unwrap();
            let session = open(&model, &options, &library, ep::CPU::default().build(), 1).ok().unwrap();
            let shape = vec![2, 40];
            let inputs = [
                Input { name: "input_ids", shape: shape.clone(), numbers: Numbers::Int64(&ids) },
                Input { name: "attention_mask", shape, numbers: Numbers::Int64(&[1; 80]) },
            ];
            let [once, again] = [session.run(&inputs).unwrap().values, session.run(&inputs).unwrap().values];
            assert_eq!(once, again, "the same bits");
            once
        };
        let whole = logits(Precision::Float32);
        for (precision, most) in [(Precision::Float16, 0.1), (Precision::Int8, 1.0)] {
            let smaller = logits(precision);
            assert_ne!(whole, smaller);
            let apart = |(a, b): (&f32, &f32)| (a - b).abs();
            let mean = whole.iter().zip(&smaller).map(apart).sum::<f32>() / whole.len() as f32;
            let largest = whole.iter().zip(&smaller).map(apart).fold(0.0, f32::max);
            println!("{precision}: {mean} on average, {largest} at most");
            assert!(mean < most / 5.0 && largest < most, "{precision}: {mean} on average, {largest} at most");
        }
    }
}
