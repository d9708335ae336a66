//! The back end that is always available: rten, pure Rust, in this binary.

use std::borrow::Cow;
use std::sync::Arc;

use ::rten::{
    DataType, Dimension, Model as RtenModel, ModelOptions as LoadOptions, NodeId, RunOptions, ThreadPool, Value,
    ValueOrView, ValueType,
};

use super::contract::{Element, Port};
use super::{Input, Model, Numbers, Output, Refused, Session};
use crate::ModelOptions;

/// The release of rten, and of the build, whose Cargo.lock gives the releases of its parts.
pub(super) const RELEASE: &str = concat!("0.27.0 in twincell ", env!("CARGO_PKG_VERSION"));

struct Rten {
    model: RtenModel,
    inputs: Vec<(&'static str, NodeId)>,
    output: NodeId,
    pool: Arc<ThreadPool>,
}

pub(super) fn open(model: &Model, options: &ModelOptions) -> Result<Box<dyn Session>, Refused> {
    let mut loading = LoadOptions::with_all_ops();
    // This costs a second copy of the weights, and saves packing them in every forward pass.
    loading.prepack_weights(true);
    let contract = model.contract;
    let model = match &model.bytes {
        Cow::Borrowed(bytes) => loading.load_static_slice(bytes),
        Cow::Owned(bytes) => loading.load(bytes.clone()),
    }
    .map_err(|error| Refused::Backend(format!("the model cannot be loaded: {error}")))?;
    contract.check(&ports(&model, model.input_ids()), &ports(&model, model.output_ids()))?;
    let node = |name: &str| model.node_id(name).map_err(|error| Refused::Contract(error.to_string()));
    Ok(Box::new(Rten {
        inputs: contract.inputs.iter().map(|(name, _)| Ok((*name, node(name)?))).collect::<Result<_, _>>()?,
        output: node(contract.output)?,
        pool: Arc::new(ThreadPool::with_num_threads(options.threads.max(1))),
        model,
    }))
}

/// Inputs or outputs. rten reads int64 as its int32.
fn ports<'a>(model: &'a RtenModel, nodes: &[NodeId]) -> Vec<Port<'a>> {
    nodes
        .iter()
        .filter_map(|&node| model.node_info(node))
        .map(|info| Port {
            name: info.name().unwrap_or_default(),
            element: info.dtype().map(|element| match element {
                ValueType::Tensor(DataType::Int32) => Ok(Element::Int64),
                ValueType::Tensor(DataType::Float) => Ok(Element::Float32),
                ValueType::Tensor(other) => Err(format!("{other:?}")),
                other => Err(format!("{other:?}")),
            }),
            last: match info.shape().and_then(|shape| shape.last().cloned()) {
                Some(Dimension::Fixed(size)) => Some(size),
                _ => None,
            },
        })
        .collect()
}

impl Session for Rten {
    fn rows_at_once(&self) -> usize {
        1
    }

    fn run(&self, inputs: &[Input<'_>]) -> Result<Output, String> {
        let inputs: Result<Vec<(NodeId, ValueOrView<'_>)>, String> = inputs
            .iter()
            .map(|input| {
                let known = self.inputs.iter().find(|(name, _)| *name == input.name);
                let (_, node) = known.ok_or_else(|| format!("the network has no input `{}`", input.name))?;
                Ok((*node, tensor(input)?.into()))
            })
            .collect();
        let options = RunOptions::default().with_thread_pool(Some(Arc::clone(&self.pool)));
        let [output] = self.model.run_n(inputs?, [self.output], Some(options)).map_err(|error| error.to_string())?;
        let (shape, values) = output.into_shape_vec::<f32, 3>().map_err(|error| error.to_string())?;
        Output::new(shape.to_vec(), values)
    }
}

fn tensor(input: &Input<'_>) -> Result<Value, String> {
    let shape = input.shape.as_slice();
    match input.numbers {
        Numbers::Int64(numbers) => {
            let numbers: Result<Vec<i32>, _> = numbers.iter().map(|&number| i32::try_from(number)).collect();
            Value::from_shape(shape, numbers.map_err(|error| error.to_string())?).map_err(|error| error.to_string())
        }
        Numbers::Float32(numbers) => Value::from_shape(shape, numbers.to_vec()).map_err(|error| error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_release_is_the_one_that_cargo_builds() {
        let manifest = include_str!("../../Cargo.toml");
        let (release, _) = super::RELEASE.split_once(" in ").unwrap();
        assert!(manifest.contains(&format!("rten = {{ version = \"={release}\"")));
    }
}
