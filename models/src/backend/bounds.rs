//! What an ONNX file of a user may hold, checked before any library reads it.
//!
//! A few bytes of a file can announce a tensor of any size, name another file, or nest graphs without end. Libraries
//! believe most of it. Here nothing is allocated, and a file that passes has bounded tensors, nodes, names, parts and
//! depth, all of it in the file itself, and none of it in a form that libraries read differently. What a network
//! calculates is not bounded here.

use super::protobuf::{Field, Value, fields, read_number};

/// The networks of the largest supported kind have some thousand nodes and names of some hundred characters.
const NODES: u64 = 100_000;
const TENSORS: u64 = 100_000;
/// Messages and texts of every kind. One that takes two bytes of a file takes some hundred bytes once it is read.
const PARTS: u64 = 500_000;
const LONGEST_NAME: usize = 4096;
const DIMENSIONS: usize = 16;
/// Graphs within attributes of nodes (`If`, `Loop`), and types within types.
const DEPTH: u32 = 8;
/// The largest size of a dimension, also where the tensor is empty: back ends calculate with 32 bits.
const LARGEST_DIMENSION: u64 = i32::MAX as u64;
/// The most elements that one byte of a file holds: integers of two bits.
const ELEMENTS_A_BYTE: u64 = 4;
/// The most elements of all sparse tensors once they are dense, as libraries make them.
const DENSE_ELEMENTS: u64 = 1 << 26;

/// ONNX Runtime also reads a format of its own, which it tells by these bytes at this place.
const OTHER_FORMAT: (usize, &[u8]) = (4, b"ORTM");

/// The messages of onnx.proto that are looked into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Model,
    Training,
    Function,
    Graph,
    Node,
    Attribute,
    Tensor,
    SparseTensor,
    /// How a tensor is quantized.
    Annotation,
    /// The name and type of an input, an output or a value.
    Port,
    Type,
    TensorType,
    /// The type of a sequence or of an optional value.
    Several,
    Map,
    Shape,
    Dimension,
    /// A release of a set of operators.
    Operators,
    /// A key and a value.
    Entry,
}

/// What a field holds.
enum FieldContent {
    Message(Kind),
    Name,
    /// A text or bytes of any length.
    Text,
    /// Numbers, one in a field or all of them in one.
    Numbers,
    /// Numbers of so many bytes each, one in a field or all of them in one.
    Fixed(usize),
    Other,
}

impl Kind {
    fn holds(self, field: u64) -> FieldContent {
        use Kind::{
            Annotation, Attribute, Dimension, Entry, Function, Graph, Map, Model, Node, Operators, Port, Several,
            Shape, SparseTensor, Tensor, TensorType, Training, Type,
        };
        match (self, field) {
            (Model, 7) | (Training, 1 | 2) | (Attribute, 6 | 11) => FieldContent::Message(Graph),
            (Model, 20) => FieldContent::Message(Training),
            (Model, 25) => FieldContent::Message(Function),
            (Model, 8) | (Function, 9) => FieldContent::Message(Operators),
            (Graph, 1) | (Function, 7) => FieldContent::Message(Node),
            (Graph, 5) | (Attribute, 5 | 10) | (SparseTensor, 1 | 2) => FieldContent::Message(Tensor),
            (Graph, 15) | (Attribute, 22 | 23) => FieldContent::Message(SparseTensor),
            (Graph, 14) => FieldContent::Message(Annotation),
            (Graph, 11..=13) | (Function, 12) => FieldContent::Message(Port),
            (Node, 5) | (Function, 11) => FieldContent::Message(Attribute),
            (Port, 2) | (Attribute, 14 | 15) => FieldContent::Message(Type),
            (Type, 1 | 8) => FieldContent::Message(TensorType),
            (Type, 4 | 9) => FieldContent::Message(Several),
            (Type, 5) => FieldContent::Message(Map),
            (Several, 1) | (Map, 2) => FieldContent::Message(Type),
            (TensorType, 2) => FieldContent::Message(Shape),
            (Shape, 1) => FieldContent::Message(Dimension),
            (Model, 14) | (Training, 3 | 4) | (Function, 14) | (Graph, 16) | (Node, 9) | (Annotation, 2) => {
                FieldContent::Message(Entry)
            }
            (Port, 4) | (Tensor, 16) => FieldContent::Message(Entry),
            (Graph, 2) | (Node, 1..=4 | 7 | 8) | (Attribute, 1 | 21) | (Tensor, 8) | (Port, 1) => FieldContent::Name,
            (Function, 1 | 4..=6 | 10 | 13) | (Dimension, 2) | (Annotation, 1) | (Operators, 1) => FieldContent::Name,
            (Model, 2..=4 | 6) | (Function, 8) | (Graph, 10) | (Node, 6) | (Attribute, 4 | 9 | 13) => {
                FieldContent::Text
            }
            (Tensor, 6 | 9 | 12) | (Port, 3) | (Type, 6) | (Dimension, 3) | (Entry, 1 | 2) => FieldContent::Text,
            (Tensor, 1 | 5 | 7 | 11) | (SparseTensor, 3) | (Attribute, 8) => FieldContent::Numbers,
            (Tensor, 4) | (Attribute, 7) => FieldContent::Fixed(4),
            (Tensor, 10) => FieldContent::Fixed(8),
            _ => FieldContent::Other,
        }
    }

    /// The place of a message that is there at most once, if this one is. Libraries read a second one differently: they
    /// merge it into the first, take it instead, or keep both.
    fn only(self, field: u64) -> Option<u64> {
        use Kind::{Annotation, Attribute, Function, Graph, Model, Node, Port, Shape, Tensor, Training, Type};
        let repeats = match self {
            Model => matches!(field, 8 | 14 | 20 | 25),
            Training => matches!(field, 3 | 4),
            Attribute => matches!(field, 10 | 11 | 15 | 23),
            Function | Graph | Node | Shape | Annotation | Tensor => true,
            Port => field == 4,
            _ => false,
        };
        // A type is one of several kinds.
        (!repeats).then_some(if self == Type { 0 } else { field })
    }
}

/// Why a file is not given to a library, if there is a reason.
pub(super) fn check(model: &[u8]) -> Result<(), String> {
    let (place, mark) = OTHER_FORMAT;
    if model.get(place..).is_some_and(|rest| rest.starts_with(mark)) {
        return Err("it has the format of ONNX Runtime".to_owned());
    }
    let mut counted = Counted::default();
    counted.message(model, Kind::Model, 0)?;
    if counted.graphs == 0 {
        return Err("it is not an ONNX file: it has no graph".to_owned());
    }
    Ok(())
}

/// What was met so far.
#[derive(Default)]
struct Counted {
    graphs: u64,
    nodes: u64,
    tensors: u64,
    parts: u64,
    dense: u64,
}

impl Counted {
    fn message(&mut self, message: &[u8], kind: Kind, depth: u32) -> Result<(), String> {
        if depth > DEPTH {
            return Err(format!("its graphs are nested more than {DEPTH} deep"));
        }
        match kind {
            Kind::Graph => self.graphs += 1,
            Kind::Node => self.nodes += 1,
            Kind::Tensor => {
                self.tensors += 1;
                check_tensor(message)?;
            }
            Kind::SparseTensor => self.sparse_tensor(message)?,
            _ => {}
        }
        if self.nodes > NODES || self.tensors > TENSORS {
            return Err(format!("it has more than {NODES} nodes or {TENSORS} tensors"));
        }
        // A bit for each message that is there at most once. Their fields have numbers below 64.
        let mut met = 0_u64;
        for field in fields(message) {
            let Field { number, value, .. } = field?;
            let held = kind.holds(number);
            if let Value::Bytes(bytes) = value {
                // What is not known here may consist of parts of two bytes.
                let inner = if matches!(held, FieldContent::Other) { bytes.len() as u64 / 2 } else { 0 };
                self.parts = self.parts.saturating_add(1 + inner);
                if self.parts > PARTS {
                    return Err(format!("it has more than {PARTS} parts"));
                }
            }
            match (held, value) {
                (FieldContent::Message(inner), Value::Bytes(bytes)) => {
                    if let Some(place) = kind.only(number) {
                        if met & 1 << place != 0 {
                            return Err(format!("field {number} of a {kind:?} is there twice, and may be there once"));
                        }
                        met |= 1 << place;
                    }
                    let nests = matches!(inner, Kind::Graph | Kind::Type);
                    self.message(bytes, inner, depth + u32::from(nests))?;
                }
                (FieldContent::Name, Value::Bytes(name)) if name.len() > LONGEST_NAME => {
                    return Err(format!("it has a name of {} bytes, and {LONGEST_NAME} are allowed", name.len()));
                }
                (FieldContent::Numbers, Value::Bytes(mut packed)) => {
                    while !packed.is_empty() {
                        read_number(&mut packed).ok_or_else(|| cut_off(kind, number))?;
                    }
                }
                (FieldContent::Fixed(size), Value::Bytes(packed)) if !packed.len().is_multiple_of(size) => {
                    return Err(cut_off(kind, number));
                }
                // Some exporters write -1 for a size that is not fixed.
                (FieldContent::Other, Value::Number(size))
                    if (kind, number) == (Kind::Dimension, 1) && size > LARGEST_DIMENSION && size as i64 != -1 =>
                {
                    return Err(format!("an input, an output or a value has a dimension of {}", size as i64));
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn sparse_tensor(&mut self, tensor: &[u8]) -> Result<(), String> {
        let elements = dimensions(tensor, 3)?.iter().try_fold(1u64, |elements, size| elements.checked_mul(*size));
        self.dense = self.dense.saturating_add(elements.unwrap_or(u64::MAX));
        if self.dense > DENSE_ELEMENTS {
            return Err(format!("its sparse tensors have more than {DENSE_ELEMENTS} elements"));
        }
        Ok(())
    }
}

/// Some libraries go on behind such a field, and some within it.
fn cut_off(kind: Kind, field: u64) -> String {
    format!("field {field} of a {kind:?} ends within a number")
}

/// The sizes in the field `number` of a tensor. There are at most [`DIMENSIONS`].
fn dimensions(tensor: &[u8], number: u64) -> Result<Vec<u64>, String> {
    let mut dims = Vec::new();
    for field in fields(tensor) {
        match field? {
            Field { number: found, value: Value::Number(size), .. } if found == number => dims.push(size),
            Field { number: found, value: Value::Bytes(mut packed), .. } if found == number => {
                while dims.len() <= DIMENSIONS
                    && let Some(size) = read_number(&mut packed)
                {
                    dims.push(size);
                }
            }
            _ => {}
        }
        if dims.len() > DIMENSIONS {
            return Err(format!("a tensor has more than {DIMENSIONS} dimensions"));
        }
    }
    Ok(dims)
}

/// A tensor's elements are in the file, as many as it says.
fn check_tensor(tensor: &[u8]) -> Result<(), String> {
    let dims = dimensions(tensor, 1)?;
    let mut name = &b""[..];
    let mut is_elsewhere = false;
    for field in fields(tensor) {
        let Field { number, value, .. } = field?;
        match (number, value) {
            (8, Value::Bytes(bytes)) => name = bytes,
            (13, _) => is_elsewhere = true,
            (14, Value::Number(location)) => is_elsewhere |= location != 0,
            _ => {}
        }
    }
    let name = || String::from_utf8_lossy(&name[..name.len().min(100)]).escape_debug().to_string();
    if is_elsewhere {
        return Err(format!("the tensor `{}` is in another file", name()));
    }
    if let Some(size) = dims.iter().find(|size| **size > LARGEST_DIMENSION) {
        return Err(format!("the tensor `{}` has a dimension of {}", name(), *size as i64));
    }
    let elements = dims.iter().try_fold(1u64, |elements, size| elements.checked_mul(*size));
    // A tensor without dimensions has one element.
    let held = (tensor.len() as u64).saturating_mul(ELEMENTS_A_BYTE).max(1);
    if elements.is_none_or(|elements| elements > held) {
        return Err(format!("the tensor `{}` has fewer elements than its dimensions {dims:?} say", name()));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::protobuf::{put, put_number, varint};
    use super::*;
    use crate::weights::Weights;

    fn number(field: u64, value: u64) -> Vec<u8> {
        let mut out = Vec::new();
        put_number(&mut out, field, value);
        out
    }

    fn bytes(field: u64, content: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        put(&mut out, field, content);
        out
    }

    fn model(graph: &[u8]) -> Vec<u8> {
        [number(1, 8), bytes(7, graph)].concat()
    }

    fn tensor(dims: &[u64], more: &[u8]) -> Vec<u8> {
        let dims: Vec<u8> = dims.iter().flat_map(|&size| number(1, size)).collect();
        model(&bytes(5, &[dims, number(2, 1), bytes(8, b"w"), more.to_vec()].concat()))
    }

    #[test]
    fn usual_networks_pass() {
        assert_eq!(check(Weights::embedded_model()), Ok(()));
        for network in [
            &include_bytes!("../../tests/predictors/seq2seq/encoder_model.onnx")[..],
            include_bytes!("../../tests/predictors/seq2seq/decoder_model.onnx"),
        ] {
            assert_eq!(check(network), Ok(()));
        }
        assert_eq!(check(&tensor(&[2, 3], &bytes(9, &[0; 24]))), Ok(()));
        assert_eq!(check(&tensor(&[], &bytes(9, &[0; 4]))), Ok(()));
        assert_eq!(check(&tensor(&[0, 7], &[])), Ok(()));
    }

    #[test]
    fn what_announces_more_than_it_holds_is_refused() {
        let raw = bytes(9, &[0; 24]);
        for (dims, said) in [
            (vec![1 << 20, 1 << 20], "has fewer elements than its dimensions [1048576, 1048576] say"),
            (vec![1 << 30, 1 << 30, 1 << 30], "has fewer elements"),
            (vec![u64::MAX], "has a dimension of -1"),
            (vec![0, 1 << 40], "has a dimension of 1099511627776"),
            (vec![1; 17], "more than 16 dimensions"),
        ] {
            assert!(check(&tensor(&dims, &raw)).unwrap_err().contains(said), "{dims:?}");
        }
        let mut packed = Vec::new();
        (0..3).for_each(|_| varint(1 << 25, &mut packed));
        let packed = model(&bytes(5, &[bytes(1, &packed), raw].concat()));
        assert!(check(&packed).unwrap_err().contains("has fewer elements"));
        let dimension = bytes(1, &number(1, 1 << 40));
        let input = [bytes(1, b"x"), bytes(2, &bytes(1, &bytes(2, &dimension)))].concat();
        assert!(check(&model(&bytes(11, &input))).unwrap_err().contains("has a dimension of 1099511627776"));
    }

    #[test]
    fn a_tensor_in_another_file_is_refused_wherever_it_is() {
        let entry = [bytes(1, b"location"), bytes(2, b"/etc/passwd")].concat();
        for elsewhere in [bytes(13, &entry), number(14, 1)] {
            let tensor = [number(1, 1), bytes(8, b"secret"), elsewhere].concat();
            let attribute = bytes(5, &[bytes(1, b"value"), bytes(5, &tensor)].concat());
            let nested = bytes(1, &bytes(5, &bytes(6, &bytes(5, &tensor))));
            let sparse = bytes(15, &bytes(1, &tensor));
            for graph in [bytes(5, &tensor), bytes(1, &attribute), nested, sparse] {
                assert_eq!(check(&model(&graph)).unwrap_err(), "the tensor `secret` is in another file");
            }
            let function = bytes(25, &bytes(7, &attribute));
            let model = [model(b""), function].concat();
            assert_eq!(check(&model).unwrap_err(), "the tensor `secret` is in another file");
        }
    }

    #[test]
    fn nodes_names_and_depth_are_bounded() {
        let nodes = bytes(1, b"").repeat(NODES as usize + 1);
        assert!(check(&model(&nodes)).unwrap_err().contains("more than 100000 nodes"));
        let tensors = bytes(5, b"").repeat(TENSORS as usize + 1);
        assert!(check(&model(&tensors)).unwrap_err().contains("100000 tensors"));
        let name = bytes(1, &bytes(4, &[b'x'; LONGEST_NAME + 1]));
        assert!(check(&model(&name)).unwrap_err().contains("a name of 4097 bytes"));
        let mut graph = Vec::new();
        for _ in 0..1000 {
            graph = bytes(1, &bytes(5, &bytes(6, &graph)));
        }
        assert!(check(&model(&graph)).unwrap_err().contains("nested more than 8 deep"));
        let mut inner = Vec::new();
        for _ in 0..1000 {
            inner = bytes(4, &bytes(1, &inner));
        }
        assert!(check(&model(&bytes(11, &bytes(2, &inner)))).unwrap_err().contains("nested more than 8 deep"));
    }

    #[test]
    fn what_libraries_would_merge_is_refused() {
        let tensor = [number(1, 1), bytes(9, &[0; 4])].concat();
        let shape = bytes(2, &bytes(1, &number(1, 2)));
        let attribute = |content: &[u8]| model(&bytes(1, &bytes(5, content)));
        let port = |types: &[u8]| model(&bytes(11, &[bytes(1, b"x"), types.to_vec()].concat()));
        assert_eq!(check(&attribute(&bytes(5, &tensor))), Ok(()));
        assert_eq!(check(&port(&bytes(2, &bytes(1, &shape)))), Ok(()));
        let training = bytes(20, &bytes(1, b"").repeat(2));
        for twice in [
            [model(b""), model(b"")].concat(),
            [model(b""), training].concat(),
            attribute(&bytes(5, &tensor).repeat(2)),
            attribute(&bytes(6, b"").repeat(2)),
            attribute(&bytes(22, b"").repeat(2)),
            model(&bytes(15, &bytes(1, &tensor).repeat(2))),
            port(&bytes(2, &bytes(1, &shape)).repeat(2)),
            port(&bytes(2, &bytes(1, &shape).repeat(2))),
            port(&bytes(2, &bytes(1, &shape.repeat(2)))),
            // A type that is a tensor and a sequence.
            port(&bytes(2, &[bytes(1, &shape), bytes(4, b"")].concat())),
        ] {
            assert!(check(&twice).unwrap_err().contains("is there twice"));
        }
        // These may be there several times.
        let several = bytes(5, &bytes(10, &tensor).repeat(2)).repeat(2);
        assert_eq!(check(&model(&bytes(1, &several).repeat(2))), Ok(()));
    }

    #[test]
    fn numbers_in_one_field_are_complete() {
        let data = |field: u64, packed: &[u8]| check(&tensor(&[1], &bytes(field, packed)));
        for (field, whole, cut) in [
            (4, &[0; 8][..], &[0; 7][..]),
            (5, &[1, 0x80, 1], &[1, 0x80]),
            (7, &[1, 0x80, 1], &[1, 0x80]),
            (10, &[0; 16], &[0; 12]),
            (11, &[1, 0x80, 1], &[1, 0x80]),
        ] {
            assert_eq!(data(field, whole), Ok(()), "{field}");
            assert!(data(field, cut).unwrap_err().contains("ends within a number"), "{field}");
        }
        assert!(check(&tensor(&[], &bytes(1, &[0x81]))).unwrap_err().contains("ends within a number"));
    }

    #[test]
    fn messages_and_texts_of_every_kind_are_counted() {
        let many = |part: Vec<u8>| part.repeat(PARTS as usize + 1);
        let of_model = |part: Vec<u8>| [model(b""), many(part)].concat();
        for file in [
            of_model(bytes(8, b"")),
            of_model(bytes(14, b"")),
            of_model(bytes(20, b"")),
            of_model(bytes(25, b"")),
            // A field that nobody knows, and one with many parts.
            of_model(bytes(99, b"")),
            [model(b""), bytes(26, &many(bytes(3, b"")))].concat(),
            model(&many(bytes(11, b""))),
            model(&many(bytes(13, b""))),
            model(&many(bytes(16, b""))),
            model(&bytes(1, &many(bytes(1, b"")))),
            model(&bytes(1, &many(bytes(5, b"")))),
            model(&bytes(1, &bytes(5, &many(bytes(9, b""))))),
            model(&bytes(1, &bytes(10, &many(bytes(2, b""))))),
            model(&bytes(5, &many(bytes(6, b"")))),
            model(&bytes(11, &bytes(2, &bytes(1, &bytes(2, &many(bytes(1, b""))))))),
            model(&bytes(14, &many(bytes(2, b"")))),
        ] {
            assert_eq!(check(&file).unwrap_err(), "it has more than 500000 parts");
        }
        // Long texts are no parts.
        assert_eq!(check(&model(&bytes(10, &vec![b' '; 2 * PARTS as usize]))), Ok(()));
    }

    #[test]
    fn sparse_tensors_and_graphs_for_training_are_bounded_as_well() {
        let sparse = |size: u64| bytes(15, &[number(3, size), number(3, size)].concat());
        assert_eq!(check(&model(&sparse(1 << 12))), Ok(()));
        for graph in [sparse(1 << 14), sparse(1 << 40), sparse(1 << 12).repeat(5)] {
            assert!(check(&model(&graph)).unwrap_err().contains("sparse tensors have more than 67108864 elements"));
        }
        let announced = bytes(5, &[number(1, 1 << 30), number(1, 1 << 30)].concat());
        let training = [model(b""), bytes(20, &bytes(2, &announced))].concat();
        assert!(check(&training).unwrap_err().contains("has fewer elements"));
    }

    #[test]
    fn what_is_no_onnx_file_is_refused() {
        assert!(check(b"").is_err() && check(b"\x08\x07ORTM").is_err());
        assert_eq!(check(b"\x1c\0\0\0ORTM\0\0").unwrap_err(), "it has the format of ONNX Runtime");
        let whole = tensor(&[2, 3], &bytes(9, &[0; 24]));
        for length in 0..whole.len() {
            assert!(check(&whole[..length]).is_err(), "{length}");
        }
    }
}
