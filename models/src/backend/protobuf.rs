//! Reading Protocol Buffers messages field by field, without copying them and without a schema, and writing them.

/// One field of a message.
pub(super) struct Field<'a> {
    pub(super) number: u64,
    pub(super) value: Value<'a>,
    /// The whole field, as it is in the message.
    pub(super) raw: &'a [u8],
}

pub(super) enum Value<'a> {
    Number(u64),
    Bytes(&'a [u8]),
    Fixed,
}

pub(super) fn fields(message: &[u8]) -> impl Iterator<Item = Result<Field<'_>, String>> {
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
        Some(read.ok_or_else(|| "it is not an ONNX file, or not a complete one".to_owned()))
    })
}

fn read_field<'a>(rest: &mut &'a [u8]) -> Option<(u64, Value<'a>)> {
    let tag = read_number(rest)?;
    let value = match tag & 7 {
        0 => Value::Number(read_number(rest)?),
        1 => take(rest, 8).map(|_| Value::Fixed)?,
        2 => {
            let length = usize::try_from(read_number(rest)?).ok()?;
            Value::Bytes(take(rest, length)?)
        }
        5 => take(rest, 4).map(|_| Value::Fixed)?,
        _ => return None,
    };
    Some((tag >> 3, value))
}

fn take<'a>(rest: &mut &'a [u8], length: usize) -> Option<&'a [u8]> {
    let (taken, left) = rest.split_at_checked(length)?;
    *rest = left;
    Some(taken)
}

pub(super) fn read_number(rest: &mut &[u8]) -> Option<u64> {
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
pub(super) fn messages(message: &[u8], number: u64) -> impl Iterator<Item = Result<&[u8], String>> {
    fields(message).filter_map(move |field| match field {
        Ok(Field { number: found, value: Value::Bytes(bytes), .. }) if found == number => Some(Ok(bytes)),
        Ok(_) => None,
        Err(error) => Some(Err(error)),
    })
}

pub(super) fn text(message: &[u8], number: u64) -> Result<&[u8], String> {
    messages(message, number).next().unwrap_or(Ok(b""))
}

pub(super) fn varint(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

pub(super) fn put(out: &mut Vec<u8>, number: u64, bytes: &[u8]) {
    varint(number << 3 | 2, out);
    varint(bytes.len() as u64, out);
    out.extend(bytes);
}

pub(super) fn put_number(out: &mut Vec<u8>, number: u64, value: u64) {
    varint(number << 3, out);
    varint(value, out);
}
