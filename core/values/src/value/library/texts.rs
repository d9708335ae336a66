//! What is written as a text: paths, identifiers, addresses, matches of patterns, and streams in memory.

use super::{Provider, made, of_texts, text};
use crate::value::Recipe;

pub(super) const PROVIDERS: &[Provider] = &[
    Provider::new("pathlib.Path", paths),
    Provider::new("uuid.UUID", identifiers),
    Provider::new("ipaddress.IPv4Address", addresses),
    Provider::new("ipaddress.IPv6Address", long_addresses),
    Provider::new("ipaddress.IPv4Network", networks),
    Provider::new("re.Match", matches).made_by(&["re.match", "re.search"]),
    Provider::new("re.Pattern", patterns).made_by(&["re.compile"]),
    Provider::new("io.StringIO", streams).also(&["TextIO"]).changeable(),
    Provider::new("io.BytesIO", byte_streams).also(&["BinaryIO"]).changeable(),
];

fn paths() -> Vec<Recipe> {
    of_texts("pathlib.Path", &["a/b.txt", ".", "/tmp/x.tar.gz", "b", "a/.hidden", "/", "../c d/E.TXT"])
}

fn identifiers() -> Vec<Recipe> {
    of_texts("uuid.UUID", &["12345678-1234-5678-1234-567812345678", "00000000-0000-0000-0000-000000000000"])
}

fn addresses() -> Vec<Recipe> {
    of_texts("ipaddress.IPv4Address", &["192.0.2.1", "127.0.0.1", "10.0.0.255", "255.255.255.255", "8.8.8.8"])
}

fn long_addresses() -> Vec<Recipe> {
    of_texts("ipaddress.IPv6Address", &["2001:db8::1", "::1", "fe80::1"])
}

fn networks() -> Vec<Recipe> {
    of_texts("ipaddress.IPv4Network", &["192.0.2.0/24", "10.0.0.0/8", "192.0.2.1/32"])
}

fn matches() -> Vec<Recipe> {
    let found = |pattern: &str, within: &str| made("re.search", [text(pattern), text(within)]);
    vec![found("(\\w+)=(\\d*)", "a=1"), found("(\\w+)=(\\d*)", "x, key="), found("(?P<name>b)(c)?", "abd")]
}

fn patterns() -> Vec<Recipe> {
    of_texts("re.compile", &["\\d+", "a", "^\\w*$"])
}

fn streams() -> Vec<Recipe> {
    of_texts("io.StringIO", &["one\ntwo\n", "", "a,b\n1,2\n", "no end of line", "\n\n x \n"])
}

fn byte_streams() -> Vec<Recipe> {
    let contents: [&[u8]; 4] = [b"one\ntwo\n", b"", b"\x00\xff", b"abcdefgh"];
    contents.map(|content| made("io.BytesIO", [Recipe::Bytes(content.to_vec())])).to_vec()
}
