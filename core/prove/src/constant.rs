//! Constants of Python, equal only if type and value are.

#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Constant {
    None,
    Ellipsis,
    Bool(bool),
    Int(i128),
    /// A whole number that needs more bits, by its text.
    Big(String),
    /// By its bits.
    Float(u64),
    Complex(u64),
    Text(String),
    Bytes(Vec<u8>),
}
