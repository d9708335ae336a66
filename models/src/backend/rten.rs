//! The back end that is always there: rten, pure Rust, in this binary.

use std::borrow::Cow;
use std::sync::Arc;

use ::rten::{
    DataType, Dimension, Model, ModelOptions as LoadOptions, NodeId, RunOptions, ThreadPool, Value, ValueType,
};

use super::{Backend, Batch, Logits, Port, Refused, Session, check_contract};
use crate::ModelOptions;

struct Rten {
    model: Model,
    input_ids: NodeId,
    attention_mask: NodeId,
    logits: NodeId,
    pool: Arc<ThreadPool>,
}

pub(super) fn open(model: Cow<'static, [u8]>, options: &ModelOptions) -> Result<Box<dyn Session>, Refused> {
    let mut loading = LoadOptions::with_all_ops();
    // Costs a second copy of the weights, and takes packing them out of every forward pass.
    loading.prepack_weights(true);
    let model = match model {
        Cow::Borrowed(bytes) => loading.load_static_slice(bytes),
        Cow::Owned(bytes) => loading.load(bytes),
    }
    .map_err(|error| Refused::Backend(format!("the model cannot be loaded: {error}")))?;
    check_contract(
        &ports(&model, model.input_ids(), DataType::Int32),
        &ports(&model, model.output_ids(), DataType::Float),
    )?;
    let node = |name: &str| model.node_id(name).map_err(|error| Refused::Contract(error.to_string()));
    Ok(Box::new(Rten {
        input_ids: node("input_ids")?,
        attention_mask: node("attention_mask")?,
        logits: node("logits")?,
        pool: Arc::new(ThreadPool::with_num_threads(options.threads.max(1))),
        model,
    }))
}

/// Inputs or outputs; rten reads int64 as its int32.
fn ports<'a>(model: &'a Model, nodes: &[NodeId], wanted: DataType) -> Vec<Port<'a>> {
    nodes
        .iter()
        .filter_map(|&node| model.node_info(node))
        .map(|info| Port {
            name: info.name().unwrap_or_default(),
            element: match info.dtype() {
                Some(ValueType::Tensor(element)) if element != wanted => Err(format!("{element:?}")),
                _ => Ok(()),
            },
            last: match info.shape().and_then(|shape| shape.last().cloned()) {
                Some(Dimension::Fixed(size)) => Some(size),
                _ => None,
            },
        })
        .collect()
}

impl Session for Rten {
    fn backend(&self) -> Backend {
        Backend::Rten
    }

    fn rows_at_once(&self) -> usize {
        1
    }

    fn forward(&self, batch: &Batch) -> Result<Logits, String> {
        let tensor = |numbers: &[i64]| {
            let numbers: Result<Vec<i32>, _> = numbers.iter().map(|&number| i32::try_from(number)).collect();
            let numbers = numbers.map_err(|error| error.to_string())?;
            Value::from_shape([batch.rows, batch.tokens].as_slice(), numbers).map_err(|error| error.to_string())
        };
        let inputs = vec![
            (self.input_ids, tensor(&batch.input_ids)?.into()),
            (self.attention_mask, tensor(&batch.attention_mask)?.into()),
        ];
        let options = RunOptions::default().with_thread_pool(Some(Arc::clone(&self.pool)));
        let [logits] = self.model.run_n(inputs, [self.logits], Some(options)).map_err(|error| error.to_string())?;
        let (shape, values) = logits.into_shape_vec::<f32, 3>().map_err(|error| error.to_string())?;
        Ok(Logits { shape: shape.to_vec(), values })
    }
}
