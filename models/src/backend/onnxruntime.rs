//! ONNX Runtime, from the shared library in the user's Python package, on the CPU or on an NVIDIA GPU.
//!
//! The library is loaded at run time and at most once a process. Whatever is wrong with it is a reason, never a panic.

use std::ffi::CStr;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use ort::environment::Environment;
use ort::ep::{self, ExecutionProviderDispatch};
use ort::session::Session as OrtSession;
use ort::value::{Outlet, TensorElementType, TensorRef, ValueType};

use super::{Backend, Batch, Logits, Port, Refused, Session, check_contract};
use crate::ModelOptions;

/// The library that this process has loaded. A second one cannot be, so the first that works serves every model.
static LOADED: Mutex<Option<Environment>> = Mutex::new(None);

struct OnnxRuntime {
    backend: Backend,
    session: Mutex<OrtSession>,
}

pub(super) fn open_cpu(model: &[u8], options: &ModelOptions) -> Result<Box<dyn Session>, Refused> {
    let library = library(options).map_err(Refused::Backend)?;
    open(model, options, &library, Backend::OnnxRuntime, ep::CPU::default().build())
}

pub(super) fn open_cuda(model: &[u8], options: &ModelOptions) -> Result<Box<dyn Session>, Refused> {
    let library = cuda_library(options).map_err(Refused::Backend)?;
    // PyPI's NVIDIA packages lie beside onnxruntime. What is missing there the system may have; if it does not, opening
    // the session says which library it needs.
    if let Some(packages) = library.ancestors().nth(3) {
        let folder = |name: &str| Some(packages.join("nvidia").join(name).join("lib")).filter(|folder| folder.is_dir());
        let (cuda, cudnn) = (folder("cu13"), folder("cudnn"));
        let _ = ep::cuda::preload_dylibs(cuda.as_deref(), cudnn.as_deref());
    }
    // TF32 would round the inputs of every product to 10 bits.
    let provider = ep::CUDA::default().with_tf32(false).build().error_on_failure();
    open(model, options, &library, Backend::Cuda, provider)
}

/// The library's absolute path, if there is such a file.
fn library(options: &ModelOptions) -> Result<PathBuf, String> {
    let Some(path) = &options.onnxruntime_library else {
        return Err("the user's Python has no package onnxruntime; `pip install onnxruntime` adds it".to_owned());
    };
    std::fs::canonicalize(path).map_err(|error| format!("{}: {error}", path.display()))
}

/// The library, if it and the machine have what CUDA takes.
fn cuda_library(options: &ModelOptions) -> Result<PathBuf, String> {
    if !options.allow_gpu {
        return Err("the GPU is switched off by an option".to_owned());
    }
    let library = library(options)?;
    if !library.with_file_name("libonnxruntime_providers_cuda.so").is_file() {
        return Err("this onnxruntime is built without CUDA; `pip install onnxruntime-gpu` has it".to_owned());
    }
    if !Path::new("/dev/nvidiactl").exists() && !Path::new("/dev/dxg").exists() {
        return Err("there is no NVIDIA device".to_owned());
    }
    Ok(library)
}

fn environment(library: &Path) -> Result<Environment, String> {
    let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
    let _open = checked_library(library)?;
    if let Some(environment) = loaded.as_ref() {
        return Ok(environment.clone());
    }
    let builder = ort::init_from(library).map_err(|error| error.to_string())?;
    let built = builder.with_name("twincell").with_telemetry(false).build().map_err(|error| error.to_string())?;
    *loaded = Some(built.clone());
    Ok(built)
}

/// Opens the library and makes sure that `ort` will take it.
///
/// `ort` must never see one that it refuses: rc.14 keeps its cell for the library marked as filled after a failure, so
/// that the next call reads what was never written.
fn checked_library(library: &Path) -> Result<libloading::Library, String> {
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
    Ok(loaded)
}

fn open(
    model: &[u8],
    options: &ModelOptions,
    library: &Path,
    backend: Backend,
    provider: ExecutionProviderDispatch,
) -> Result<Box<dyn Session>, Refused> {
    let environment = environment(library).map_err(Refused::Backend)?;
    let session = build(model, options, &environment, provider)
        .map_err(|error| Refused::Backend(format!("the model cannot be loaded: {error}")))?;
    check_contract(
        &ports(session.inputs(), TensorElementType::Int64),
        &ports(session.outputs(), TensorElementType::Float32),
    )?;
    Ok(Box::new(OnnxRuntime { backend, session: Mutex::new(session) }))
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

fn ports(outlets: &[Outlet], wanted: TensorElementType) -> Vec<Port<'_>> {
    outlets
        .iter()
        .map(|outlet| match outlet.dtype() {
            ValueType::Tensor { ty, shape, .. } => Port {
                name: outlet.name(),
                element: if *ty == wanted { Ok(()) } else { Err(ty.to_string()) },
                last: shape.last().and_then(|&size| usize::try_from(size).ok()),
            },
            other => Port { name: outlet.name(), element: Err(other.to_string()), last: None },
        })
        .collect()
}

impl Session for OnnxRuntime {
    fn backend(&self) -> Backend {
        self.backend
    }

    fn rows_at_once(&self) -> usize {
        if self.backend == Backend::Cuda { 16 } else { 1 }
    }

    fn forward(&self, batch: &Batch) -> Result<Logits, String> {
        self.run(batch).map_err(|error| error.to_string())
    }
}

impl OnnxRuntime {
    fn run(&self, batch: &Batch) -> ort::Result<Logits> {
        let shape = [batch.rows, batch.tokens];
        let inputs = ort::inputs![
            "input_ids" => TensorRef::from_array_view((shape, batch.input_ids.as_slice()))?,
            "attention_mask" => TensorRef::from_array_view((shape, batch.attention_mask.as_slice()))?,
        ];
        let mut session = self.session.lock().unwrap_or_else(PoisonError::into_inner);
        let outputs = session.run(inputs)?;
        let (shape, values) = outputs["logits"].try_extract_tensor::<f32>()?;
        Ok(Logits {
            shape: shape.iter().map(|&size| usize::try_from(size).unwrap_or(0)).collect(),
            values: values.to_vec(),
        })
    }
}
