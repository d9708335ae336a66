//! Writes the smallest network that keeps the contract: a table with one row of logits for each token.
//!
//! ONNX files are Protocol Buffers; the few messages needed are written by hand, with the field numbers of `onnx.proto`.

/// What the network is like; [`Table::good`] keeps the contract.
pub struct Table {
    pub tokens: usize,
    pub classes: usize,
    pub first_input: &'static str,
    /// ONNX's number of the element type of the second input, which is not looked at: 7 is int64, 1 is float32.
    pub mask_type: u64,
    pub output: &'static str,
}

impl Table {
    pub fn good() -> Self {
        Table { tokens: 8192, classes: 12, first_input: "input_ids", mask_type: 7, output: "logits" }
    }

    /// The ONNX file: token `t` has the logit 10 for class `t % classes` and 0 for the others.
    pub fn onnx(&self) -> Vec<u8> {
        let mut numbers = Vec::with_capacity(self.tokens * self.classes * 4);
        for token in 0..self.tokens {
            for class in 0..self.classes {
                numbers.extend((if token % self.classes == class { 10f32 } else { 0.0 }).to_le_bytes());
            }
        }
        let initializer = [
            number(1, self.tokens as u64),
            number(1, self.classes as u64),
            number(2, 1),
            bytes(8, b"table"),
            bytes(9, &numbers),
        ]
        .concat();
        let gather = [
            bytes(1, b"table"),
            bytes(1, self.first_input.as_bytes()),
            bytes(2, self.output.as_bytes()),
            bytes(4, b"Gather"),
        ]
        .concat();
        let graph = [
            bytes(1, &gather),
            bytes(2, b"graph"),
            bytes(5, &initializer),
            bytes(11, &value(self.first_input, 7, None)),
            bytes(11, &value("attention_mask", self.mask_type, None)),
            bytes(12, &value(self.output, 1, Some(self.classes))),
        ]
        .concat();
        [number(1, 8), bytes(7, &graph), bytes(8, &number(2, 17))].concat()
    }
}

/// `ValueInfoProto` of a tensor [batch, tokens] or [batch, tokens, last].
fn value(name: &str, element: u64, last: Option<usize>) -> Vec<u8> {
    let mut dimensions = [bytes(1, &bytes(2, b"batch")), bytes(1, &bytes(2, b"tokens"))].concat();
    if let Some(size) = last {
        dimensions.extend(bytes(1, &number(1, size as u64)));
    }
    let tensor = [number(1, element), bytes(2, &dimensions)].concat();
    [bytes(1, name.as_bytes()), bytes(2, &bytes(1, &tensor))].concat()
}

fn varint(mut value: u64) -> Vec<u8> {
    let mut out = Vec::new();
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
    out
}

fn number(field: u64, value: u64) -> Vec<u8> {
    [varint(field << 3), varint(value)].concat()
}

fn bytes(field: u64, content: &[u8]) -> Vec<u8> {
    [varint(field << 3 | 2), varint(content.len() as u64), content.to_vec()].concat()
}
