//! Weights as float16, for GPUs: half the memory, and products on the units that are made for them.
//!
//! Only products with weights change: `Y = MatMul(X, W)` becomes `Y = Cast(MatMul(Cast(X), W16))`. Everything else, norms
//! and softmax above all, stays float32, so that no type has to be followed through the graph and none of its operators
//! has to know float16. Weights that do not fit float16 stay as they are.
//!
//! An ONNX file is a Protocol Buffers message. What is not changed is copied as it is, byte for byte.

use std::collections::{HashMap, HashSet};

use ::half::f16;

/// ONNX's numbers of element types.
const FLOAT: u64 = 1;
const FLOAT16: u64 = 10;
/// Of an attribute that is an integer.
const INT: u64 = 2;

/// The same model with float16 weights.
pub(super) fn narrowed(model: &[u8]) -> Result<Vec<u8>, String> {
    let mut out = Vec::with_capacity(model.len());
    for field in fields(model) {
        let field = field?;
        match field.value {
            Value::Bytes(graph) if field.number == MODEL_GRAPH => put(&mut out, MODEL_GRAPH, &narrowed_graph(graph)?),
            _ => out.extend(field.raw),
        }
    }
    Ok(out)
}

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
const TENSOR_TYPE: u64 = 2;
const TENSOR_NAME: u64 = 8;
const TENSOR_RAW: u64 = 9;

fn narrowed_graph(graph: &[u8]) -> Result<Vec<u8>, String> {
    let nodes: Vec<Node<'_>> = messages(graph, GRAPH_NODE).map(|node| Node::read(node?)).collect::<Result<_, _>>()?;
    // What is used otherwise than as a weight of a product is left alone.
    let mut weights = HashSet::new();
    let mut others = HashSet::new();
    for node in &nodes {
        for (place, input) in node.inputs.iter().enumerate() {
            if node.operator == b"MatMul" && place == 1 {
                weights.insert(*input)
            } else {
                others.insert(*input)
            };
        }
    }
    let (mut halves, mut stored) = (HashMap::new(), HashSet::new());
    for tensor in messages(graph, GRAPH_INITIALIZER) {
        let tensor = tensor?;
        let name = text(tensor, TENSOR_NAME)?;
        if weights.contains(name) && !others.contains(name) {
            halves.extend(half(tensor)?.map(|half| (name, half)));
        }
        if fields(tensor)
            .flatten()
            .any(|field| matches!((field.number, field.value), (TENSOR_TYPE, Value::Number(FLOAT16))))
        {
            stored.insert(name);
        }
    }
    // A weight by the name under which products know it, and the name of its float16 form: the file may have stored it so,
    // with a cast in between.
    let mut known: HashMap<&[u8], &[u8]> = halves.keys().map(|&name| (name, name)).collect();
    for node in nodes.iter().filter(|node| node.operator == b"Cast") {
        if let ([from], [to]) = (node.inputs.as_slice(), node.outputs.as_slice())
            && stored.contains(from)
        {
            known.insert(to, from);
        }
    }

    let mut out = Vec::with_capacity(graph.len());
    let (mut node, mut cast) = (nodes.iter(), HashSet::new());
    for field in fields(graph) {
        let field = field?;
        match (field.number, field.value) {
            (GRAPH_NODE, Value::Bytes(_)) => match node.next().and_then(|node| Some((node, node.weight(&known)?))) {
                Some((node, weight)) => node.with_halves(weight, &mut cast, &mut out),
                None => out.extend(field.raw),
            },
            (GRAPH_INITIALIZER, Value::Bytes(tensor)) => match halves.get(text(tensor, TENSOR_NAME)?) {
                Some(half) => put(&mut out, GRAPH_INITIALIZER, half),
                None => out.extend(field.raw),
            },
            _ => out.extend(field.raw),
        }
    }
    Ok(out)
}

/// The tensor in float16, if it is one of float32 that fits.
fn half(tensor: &[u8]) -> Result<Option<Vec<u8>>, String> {
    let (mut out, mut narrowed) = (Vec::new(), false);
    for field in fields(tensor) {
        let field = field?;
        match (field.number, field.value) {
            (TENSOR_TYPE, Value::Number(FLOAT)) => put_number(&mut out, TENSOR_TYPE, FLOAT16),
            (TENSOR_TYPE, _) => return Ok(None),
            (TENSOR_RAW, Value::Bytes(raw)) => {
                let mut halves = Vec::with_capacity(raw.len() / 2);
                for number in raw.as_chunks::<4>().0 {
                    let half = f16::from_f32(f32::from_le_bytes(*number));
                    if !half.is_finite() {
                        return Ok(None);
                    }
                    halves.extend(half.to_le_bytes());
                }
                put(&mut out, TENSOR_RAW, &halves);
                narrowed = true;
            }
            _ => out.extend(field.raw),
        }
    }
    Ok(narrowed.then_some(out))
}

/// An operator of the graph.
struct Node<'a> {
    message: &'a [u8],
    inputs: Vec<&'a [u8]>,
    outputs: Vec<&'a [u8]>,
    operator: &'a [u8],
}

impl<'a> Node<'a> {
    fn read(message: &'a [u8]) -> Result<Self, String> {
        let mut node = Node { message, inputs: Vec::new(), outputs: Vec::new(), operator: b"" };
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

    /// The float16 form of its weight, if it is a product with one.
    fn weight<'k>(&self, known: &HashMap<&[u8], &'k [u8]>) -> Option<&'k [u8]> {
        (self.operator == b"MatMul").then(|| known.get(self.inputs.get(1)?).copied()).flatten()
    }

    /// Writes this product between two casts. What goes into several products is cast once.
    fn with_halves(&self, weight: &[u8], cast: &mut HashSet<Vec<u8>>, out: &mut Vec<u8>) {
        let (Some(&input), Some(&output)) = (self.inputs.first(), self.outputs.first()) else { return };
        let (half_input, half_output) = (named(input), named(output));
        if cast.insert(half_input.clone()) {
            put(out, GRAPH_NODE, &cast_node(input, &half_input, FLOAT16));
        }
        let mut product = Vec::with_capacity(self.message.len());
        let mut inputs = [half_input.as_slice(), weight].into_iter();
        // The message has been read once without an error.
        for field in fields(self.message).flatten() {
            match field.number {
                NODE_INPUT => put(&mut product, NODE_INPUT, inputs.next().unwrap_or_default()),
                NODE_OUTPUT => put(&mut product, NODE_OUTPUT, &half_output),
                _ => product.extend(field.raw),
            }
        }
        put(out, GRAPH_NODE, &product);
        put(out, GRAPH_NODE, &cast_node(&half_output, output, FLOAT));
    }
}

/// The name of a value's float16 form.
fn named(value: &[u8]) -> Vec<u8> {
    [value, b"/float16"].concat()
}

fn cast_node(from: &[u8], to: &[u8], element: u64) -> Vec<u8> {
    let (mut attribute, mut node) = (Vec::new(), Vec::new());
    put(&mut attribute, ATTRIBUTE_NAME, b"to");
    put_number(&mut attribute, ATTRIBUTE_INT, element);
    put_number(&mut attribute, ATTRIBUTE_TYPE, INT);
    put(&mut node, NODE_INPUT, from);
    put(&mut node, NODE_OUTPUT, to);
    put(&mut node, NODE_OPERATOR, b"Cast");
    put(&mut node, NODE_ATTRIBUTE, &attribute);
    node
}

/// One field of a message.
struct Field<'a> {
    number: u64,
    value: Value<'a>,
    /// All of it, as it stands in the message.
    raw: &'a [u8],
}

enum Value<'a> {
    Number(u64),
    Bytes(&'a [u8]),
    Fixed,
}

fn fields(message: &[u8]) -> impl Iterator<Item = Result<Field<'_>, String>> {
    let mut rest = message;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let before = rest;
        let read = read_field(&mut rest).map(|(number, value)| {
            let (raw, _) = before.split_at(before.len() - rest.len());
            Field { number, value, raw }
        });
        if read.is_none() {
            rest = &[];
        }
        Some(read.ok_or_else(|| "it is no ONNX file, or not a whole one".to_owned()))
    })
}

fn read_field<'a>(rest: &mut &'a [u8]) -> Option<(u64, Value<'a>)> {
    let tag = read_number(rest)?;
    let mut take = |length: usize| {
        let (taken, left) = rest.split_at_checked(length)?;
        *rest = left;
        Some(taken)
    };
    let value = match tag & 7 {
        0 => Value::Number(read_number(rest)?),
        1 => take(8).map(|_| Value::Fixed)?,
        2 => {
            let length = usize::try_from(read_number(rest)?).ok()?;
            let (taken, left) = rest.split_at_checked(length)?;
            *rest = left;
            Value::Bytes(taken)
        }
        5 => take(4).map(|_| Value::Fixed)?,
        _ => return None,
    };
    Some((tag >> 3, value))
}

fn read_number(rest: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for place in 0..10 {
        let (&byte, left) = rest.split_first()?;
        *rest = left;
        number |= u64::from(byte & 0x7f) << (7 * place);
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

/// The messages in one field.
fn messages(message: &[u8], number: u64) -> impl Iterator<Item = Result<&[u8], String>> {
    fields(message).filter_map(move |field| match field {
        Ok(Field { number: found, value: Value::Bytes(bytes), .. }) if found == number => Some(Ok(bytes)),
        Ok(_) => None,
        Err(error) => Some(Err(error)),
    })
}

fn text(message: &[u8], number: u64) -> Result<&[u8], String> {
    messages(message, number).next().unwrap_or(Ok(b""))
}

fn varint(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

fn put(out: &mut Vec<u8>, number: u64, bytes: &[u8]) {
    varint(number << 3 | 2, out);
    varint(bytes.len() as u64, out);
    out.extend(bytes);
}

fn put_number(out: &mut Vec<u8>, number: u64, value: u64) {
    varint(number << 3, out);
    varint(value, out);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::weights::Weights;

    #[test]
    fn the_embedded_network_is_about_half_as_large_and_a_second_time_changes_nothing() {
        let model = Weights::embedded_model();
        let once = narrowed(model).unwrap();
        assert!(once.len() < model.len() * 3 / 4, "{} of {}", once.len(), model.len());
        assert_eq!(narrowed(&once).unwrap(), once);
    }

    #[test]
    fn what_has_no_product_is_copied_as_it_is() {
        let mut node = Vec::new();
        put(&mut node, NODE_INPUT, b"x");
        put(&mut node, NODE_OUTPUT, b"y");
        put(&mut node, NODE_OPERATOR, b"Relu");
        let (mut graph, mut model) = (Vec::new(), Vec::new());
        put(&mut graph, GRAPH_NODE, &node);
        put_number(&mut model, 1, 8);
        put(&mut model, MODEL_GRAPH, &graph);
        // A field of fixed size that nobody here knows.
        model.extend([0x7d, 1, 2, 3, 4]);
        assert_eq!(narrowed(&model).unwrap(), model);
    }

    #[test]
    fn what_does_not_fit_stays_as_it_is() {
        let tensor = |numbers: &[f32]| {
            let mut tensor = Vec::new();
            put_number(&mut tensor, TENSOR_TYPE, FLOAT);
            put(&mut tensor, TENSOR_RAW, &numbers.iter().flat_map(|number| number.to_le_bytes()).collect::<Vec<_>>());
            tensor
        };
        assert!(half(&tensor(&[0.5, -2.0])).unwrap().is_some());
        assert!(half(&tensor(&[0.5, 1e6])).unwrap().is_none());
    }

    #[test]
    fn a_broken_file_is_an_error() {
        let model = Weights::embedded_model();
        for broken in [&model[..model.len() / 2], b"\x07", b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"] {
            assert!(narrowed(broken).is_err());
        }
    }
}
