//! Reading Protocol Buffers messages field by field, without copying them and without a schema, and writing them.
//!
//! Only what every reader takes in the same way is read: numbers have no more bytes than they need, and there are no
//! groups.

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
    // Some readers drop the bits above these, so that the field would be another one for them.
    let tag = u64::from(u32::try_from(read_number(rest)?).ok()?);
    if tag >> 3 == 0 {
        return None;
    }
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

/// A number, unless it has more bytes than it needs: readers disagree about how many there may be.
pub(super) fn read_number(rest: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for place in 0..10 {
        let (&byte, left) = rest.split_first()?;
        *rest = left;
        number |= u64::from(byte & 0x7f) << (7 * place);
        if byte < 0x80 {
            let is_shortest = place == 0 || byte != 0;
            // The tenth byte has room for one bit.
            return (is_shortest && (place < 9 || byte == 1)).then_some(number);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_as_many_bytes_as_they_need() {
        for number in [0, 1, 0x7f, 0x80, 1 << 21, 1 << 35, 1 << 63, u64::MAX] {
            let mut bytes = Vec::new();
            varint(number, &mut bytes);
            assert_eq!(read_number(&mut &bytes[..]), Some(number));
            for length in 0..bytes.len() {
                assert_eq!(read_number(&mut &bytes[..length]), None, "{number} cut off");
            }
            if let Some(last) = bytes.last_mut() {
                *last |= 0x80;
            }
            bytes.push(0);
            assert_eq!(read_number(&mut &bytes[..]), None, "{number} with one byte more");
        }
        let beyond = [&[0xff; 9][..], &[2]].concat();
        assert_eq!(read_number(&mut &beyond[..]), None);
    }

    #[test]
    fn a_tag_that_readers_take_for_different_fields_is_refused() {
        let number = |message: &[u8]| fields(message).next().and_then(Result::ok).map(|field| field.number);
        assert_eq!(number(b"\x38\x01"), Some(7));
        assert_eq!(number(b"\xf8\xff\xff\xff\x0f\x01"), Some((1 << 29) - 1));
        // Field 7 with bits above the 32nd, field 7 with a byte more, field 0 as a number and as a text, groups.
        for message in
            [&b"\xb8\x80\x80\x80\x10\x01"[..], b"\xb8\x00\x01", b"\x00\x01", b"\x02\x00", b"\x3b\x3c", b"\x3c"]
        {
            assert_eq!(number(message), None, "{message:?}");
        }
    }
}
