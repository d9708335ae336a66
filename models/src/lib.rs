use std::path::PathBuf;
use std::sync::Arc;
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PredictorKind { Neural, Frequency, Uniform }
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ModelOptions { pub kind: PredictorKind, pub model_dir: Option<PathBuf>, pub onnxruntime_library: Option<PathBuf>, pub threads: usize, pub allow_gpu: bool }
#[derive(Debug)]
pub struct ModelError(pub String);
impl std::fmt::Display for ModelError { fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result { f.write_str(&self.0) } }
impl std::error::Error for ModelError {}
impl Default for ModelOptions { fn default() -> Self { ModelOptions{kind:PredictorKind::Neural,model_dir:None,onnxruntime_library:None,threads:1,allow_gpu:true} } }
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)] pub enum Backend { Cuda }
impl std::fmt::Display for Backend { fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result { f.write_str("x") } }
pub struct NotUsed {pub backend: Backend, pub reason: String}
pub struct BackendReport { pub predictor: String, pub model: String, pub in_use: Option<Backend>, pub not_used: Vec<NotUsed> }
pub fn backend_report(_o: &ModelOptions) -> Result<BackendReport, ModelError> { Err(ModelError("none".into())) }
pub fn load(_o: &ModelOptions) -> Result<Arc<dyn twincell_core::predictor::Predictor>, ModelError> { Err(ModelError("none".into())) }
