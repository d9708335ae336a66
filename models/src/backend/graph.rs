//! Rewriting the products with weights of an ONNX graph, for back ends that are faster with smaller numbers.
//!
//! Only `Y = MatMul(X, W)` with a weight W changes, and X and Y stay float32. Norms and softmax in particular are left
//! alone, no type has to be followed through the graph, and none of its other operators must support smaller numbers.
//!
//! Only the embedded network is rewritten ([`super::Precision`]). Foreign models stay as they are.
//!
//! An ONNX file is a Protocol Buffers message. Unchanged parts are copied byte for byte.

use std::collections::{HashMap, HashSet};

use super::protobuf::{Value, fields, messages, put, put_number, read_number, text};

// ONNX's numbers of element types.
pub(super) const FLOAT: u64 = 1;
pub(super) const INT8: u64 = 3;
pub(super) const FLOAT16: u64 = 10;
/// The type of an attribute that is an integer.
const INT: u64 = 2;

// Field numbers of onnx.proto.
const MODEL_GRAPH: u64 = 7;
const GRAPH_NODE: u64 = 1;
const GRAPH_INITIALIZER: u64 = 5;
const NODE_INPUT: u64 = 1;
const NODE_OUTPUT: u64 = 2;
const NODE_OPERATOR: u64 = 4;
const NODE_ATTRIBUTE: u64 = 5;
const ATTRIBUTE_NAME: u64 = 1;
const ATTRIBUTE_INT: u64 = 3;
const ATTRIBUTE_TYPE: u64 = 20;
const TENSOR_DIMS: u64 = 1;
const TENSOR_TYPE: u64 = 2;
const TENSOR_NAME: u64 = 8;
const TENSOR_RAW: u64 = 9;

/// What replaces products.
pub(super) trait Rewriting {
    /// Writes the replacement of a weight, or nothing if the weight must stay as it is.
    fn weight(&mut self, weight: &Weight<'_>, graph: &mut Graph) -> bool;

    /// Writes the replacement of a product whose weight was replaced.
    fn product(&mut self, product: &Product<'_>, graph: &mut Graph);
}

/// A weight of a product: stored as float32, or as float16 with a cast behind it.
pub(super) struct Weight<'a> {
    /// The name under which it is stored.
    pub(super) name: &'a [u8],
    pub(super) element: u64,
    pub(super) dims: Vec<u64>,
    /// Little-endian numbers.
    pub(super) raw: &'a [u8],
}

/// `output = MatMul(input, weight)`, by names.
pub(super) struct Product<'a> {
    pub(super) input: &'a [u8],
    pub(super) weight: &'a [u8],
    pub(super) output: &'a [u8],
}

/// The graph that is written.
pub(super) struct Graph(Vec<u8>);

impl Graph {
    /// An operator; an attribute is an integer.
    pub(super) fn node(&mut self, operator: &str, inputs: &[&[u8]], outputs: &[&[u8]], attribute: Option<(&str, u64)>) {
        let mut node = Vec::new();
        inputs.iter().for_each(|name| put(&mut node, NODE_INPUT, name));
        outputs.iter().for_each(|name| put(&mut node, NODE_OUTPUT, name));
        put(&mut node, NODE_OPERATOR, operator.as_bytes());
        if let Some((name, value)) = attribute {
            let mut attribute = Vec::new();
            put(&mut attribute, ATTRIBUTE_NAME, name.as_bytes());
            put_number(&mut attribute, ATTRIBUTE_INT, value);
            put_number(&mut attribute, ATTRIBUTE_TYPE, INT);
            put(&mut node, NODE_ATTRIBUTE, &attribute);
        }
        put(&mut self.0, GRAPH_NODE, &node);
    }

    pub(super) fn initializer(&mut self, name: &[u8], element: u64, dims: &[u64], raw: &[u8]) {
        let mut tensor = Vec::with_capacity(raw.len() + 64);
        dims.iter().for_each(|&size| put_number(&mut tensor, TENSOR_DIMS, size));
        put_number(&mut tensor, TENSOR_TYPE, element);
        put(&mut tensor, TENSOR_NAME, name);
        put(&mut tensor, TENSOR_RAW, raw);
        put(&mut self.0, GRAPH_INITIALIZER, &tensor);
    }
}

/// The same model with other products. An error if the file is not complete.
pub(super) fn rewritten(model: &[u8], rewriting: &mut dyn Rewriting) -> Result<Vec<u8>, String> {
    let mut out = Vec::with_capacity(model.len());
    for field in fields(model) {
        let field = field?;
        match field.value {
            Value::Bytes(graph) if field.number == MODEL_GRAPH => {
                put(&mut out, MODEL_GRAPH, &rewritten_graph(graph, rewriting)?);
            }
            _ => out.extend(field.raw),
        }
    }
    Ok(out)
}

fn rewritten_graph(graph: &[u8], rewriting: &mut dyn Rewriting) -> Result<Vec<u8>, String> {
    let nodes: Vec<Node<'_>> = messages(graph, GRAPH_NODE).map(|node| Node::read(node?)).collect::<Result<_, _>>()?;
    // A weight with other uses than products is left alone.
    let (mut as_weights, mut otherwise) = (HashSet::new(), HashSet::new());
    let mut uses: HashMap<&[u8], usize> = HashMap::new();
    for node in &nodes {
        for (place, input) in node.inputs.iter().enumerate() {
            *uses.entry(*input).or_default() += 1;
            if node.operator == b"MatMul" && place == 1 {
                as_weights.insert(*input)
            } else {
                otherwise.insert(*input)
            };
        }
    }
    // The name under which products know a weight, by the name under which it is stored.
    let mut known = HashMap::new();
    for node in nodes.iter().filter(|node| node.operator == b"Cast") {
        if let ([from], [to]) = (node.inputs.as_slice(), node.outputs.as_slice()) {
            known.insert(*from, *to);
        }
    }

    let mut written = Graph(Vec::with_capacity(graph.len()));
    let (mut taken, mut replaced, mut idle) = (HashMap::new(), HashSet::new(), HashSet::new());
    for tensor in messages(graph, GRAPH_INITIALIZER) {
        let Some(weight) = Weight::read(tensor?)? else { continue };
        let name = if weight.element == FLOAT { Some(weight.name) } else { known.get(weight.name).copied() };
        let Some(name) = name.filter(|name| as_weights.contains(name) && !otherwise.contains(name)) else { continue };
        if rewriting.weight(&weight, &mut written) {
            taken.insert(name, weight.name);
            // A weight stored as float16 goes with its cast, unless something else also reads it.
            if weight.element == FLOAT {
                replaced.insert(weight.name);
            } else if uses.get(weight.name) == Some(&1) {
                replaced.insert(weight.name);
                idle.insert(name);
            }
        }
    }
    let mut nodes = nodes.iter();
    for field in fields(graph) {
        let field = field?;
        match (field.number, field.value) {
            (GRAPH_NODE, Value::Bytes(_)) => {
                let Some(node) = nodes.next() else { continue };
                if let Some(product) = node.product(&taken) {
                    rewriting.product(&product, &mut written);
                } else if !node.outputs.iter().any(|output| idle.contains(output)) {
                    written.0.extend(field.raw);
                }
            }
            (GRAPH_INITIALIZER, Value::Bytes(tensor)) if replaced.contains(text(tensor, TENSOR_NAME)?) => {}
            _ => written.0.extend(field.raw),
        }
    }
    Ok(written.0)
}

impl<'a> Weight<'a> {
    /// None if it does not consist of floats, or is stored elsewhere.
    fn read(tensor: &'a [u8]) -> Result<Option<Self>, String> {
        let mut weight = Weight { name: b"", element: 0, dims: Vec::new(), raw: b"" };
        for field in fields(tensor) {
            let field = field?;
            match (field.number, field.value) {
                (TENSOR_DIMS, Value::Number(size)) => weight.dims.push(size),
                (TENSOR_DIMS, Value::Bytes(mut packed)) => {
                    while let Some(size) = read_number(&mut packed) {
                        weight.dims.push(size);
                    }
                }
                (TENSOR_TYPE, Value::Number(element)) => weight.element = element,
                (TENSOR_NAME, Value::Bytes(name)) => weight.name = name,
                (TENSOR_RAW, Value::Bytes(raw)) => weight.raw = raw,
                _ => {}
            }
        }
        let size = match weight.element {
            FLOAT => 4,
            FLOAT16 => 2,
            _ => return Ok(None),
        };
        let whole = weight.dims.iter().try_fold(size, |bytes: u64, &next| bytes.checked_mul(next));
        Ok((whole == Some(weight.raw.len() as u64)).then_some(weight))
    }
}

/// An operator of the graph.
struct Node<'a> {
    inputs: Vec<&'a [u8]>,
    outputs: Vec<&'a [u8]>,
    operator: &'a [u8],
}

impl<'a> Node<'a> {
    fn read(message: &'a [u8]) -> Result<Self, String> {
        let mut node = Node { inputs: Vec::new(), outputs: Vec::new(), operator: b"" };
        for field in fields(message) {
            let field = field?;
            match (field.number, field.value) {
                (NODE_INPUT, Value::Bytes(name)) => node.inputs.push(name),
                (NODE_OUTPUT, Value::Bytes(name)) => node.outputs.push(name),
                (NODE_OPERATOR, Value::Bytes(name)) => node.operator = name,
                _ => {}
            }
        }
        Ok(node)
    }

    /// As a product with one of these weights, if it is one.
    fn product(&self, taken: &HashMap<&'a [u8], &'a [u8]>) -> Option<Product<'a>> {
        match (self.operator, self.inputs.as_slice(), self.outputs.as_slice()) {
            (b"MatMul", [input, weight], [output]) => Some(Product { input, weight: taken.get(weight)?, output }),
            _ => None,
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::weights::Weights;

    /// Takes every weight and leaves products as they are.
    struct Listed(Vec<(Vec<u64>, u64)>);

    impl Rewriting for Listed {
        fn weight(&mut self, weight: &Weight<'_>, graph: &mut Graph) -> bool {
            self.0.push((weight.dims.clone(), weight.element));
            graph.initializer(weight.name, weight.element, &weight.dims, weight.raw);
            true
        }

        fn product(&mut self, product: &Product<'_>, graph: &mut Graph) {
            graph.node("MatMul", &[product.input, product.weight], &[product.output], None);
        }
    }

    /// `y = relu(x W)` with a weight of one row, stored as float16 with a cast behind it if requested.
    pub(in crate::backend) fn product(numbers: &[f32], stored_as_half: bool) -> Vec<u8> {
        let mut graph = Graph(Vec::new());
        let dims = [1, numbers.len() as u64];
        if stored_as_half {
            let raw: Vec<u8> = numbers.iter().flat_map(|&n| ::half::f16::from_f32(n).to_le_bytes()).collect();
            graph.initializer(b"stored", FLOAT16, &dims, &raw);
            graph.node("Cast", &[b"stored"], &[b"w"], Some(("to", FLOAT)));
        } else {
            let raw: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
            graph.initializer(b"w", FLOAT, &dims, &raw);
        }
        graph.node("MatMul", &[b"x", b"w"], &[b"xw"], None);
        graph.node("Relu", &[b"xw"], &[b"y"], None);
        let mut model = Vec::new();
        put_number(&mut model, 1, 8);
        put(&mut model, MODEL_GRAPH, &graph.0);
        // A field of fixed size that is unknown here.
        model.extend([0x7d, 1, 2, 3, 4]);
        model
    }

    #[test]
    fn weights_are_found_however_they_are_stored() {
        for (stored_as_half, element) in [(false, FLOAT), (true, FLOAT16)] {
            let mut listed = Listed(Vec::new());
            let model = product(&[1.0, 2.0, 3.0], stored_as_half);
            let once = rewritten(&model, &mut listed).unwrap();
            assert_eq!(listed.0, [(vec![1, 3], element)]);
            assert!(once.ends_with(&[0x7d, 1, 2, 3, 4]));
            assert!(once.windows(4).any(|bytes| bytes == b"Relu"));
        }
    }

    #[test]
    fn the_weights_of_the_embedded_network_are_found() {
        let mut listed = Listed(Vec::new());
        rewritten(Weights::embedded_model(), &mut listed).unwrap();
        let numbers: u64 = listed.0.iter().map(|(dims, _)| dims.iter().product::<u64>()).sum();
        assert!(listed.0.len() > 10 && numbers > 1_000_000, "{numbers} in {}", listed.0.len());
    }

    #[test]
    fn a_broken_file_is_an_error() {
        let model = Weights::embedded_model();
        for broken in [&model[..model.len() / 2], b"\x07", b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"] {
            assert!(rewritten(broken, &mut Listed(Vec::new())).is_err());
        }
    }
}
