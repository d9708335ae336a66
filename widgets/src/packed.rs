//! Data that a page carries in little room and unpacks when somebody looks at it: JSON, compressed by zlib's format, as
//! Base64. `widgets/js/src/packed.ts` reads it.

use std::io::Write as _;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::ZlibEncoder;
use serde::Serialize;

/// A state in its packed form. The same state gives the same text.
pub fn packed(state: &impl Serialize) -> String {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    // A state holds only strings, numbers and string-keyed structs, which JSON can always represent, and writing into
    // memory cannot fail.
    let json = serde_json::to_vec(state).unwrap_or_default();
    let written = encoder.write_all(&json).and_then(|()| encoder.finish());
    STANDARD.encode(written.unwrap_or_default())
}

/// Whether a text has only characters of the packed form, so that it may stand in a page as it is. It may come from
/// another process.
pub fn may_be_packed(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte))
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use flate2::read::ZlibDecoder;

    use super::*;

    #[test]
    fn what_is_packed_is_small_and_comes_out_again() {
        let state = vec!["</script> \u{202e}"; 200];
        let text = packed(&state);
        assert!(text.len() < 200 && may_be_packed(&text) && !may_be_packed("</script>"));
        let mut json = String::new();
        ZlibDecoder::new(STANDARD.decode(text).unwrap().as_slice()).read_to_string(&mut json).unwrap();
        assert_eq!(serde_json::from_str::<Vec<String>>(&json).unwrap(), state);
    }
}
