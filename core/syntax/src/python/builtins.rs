//! Builtin classes: which public attributes they have.

/// Public attributes of a builtin class, none for any other.
pub fn attributes_of(class: &str) -> &'static [&'static str] {
    match class {
        "str" => STR,
        "list" => LIST,
        "tuple" => TUPLE,
        "dict" => DICT,
        "set" => SET,
        "int" | "bool" => INT,
        "float" => FLOAT,
        _ => &[],
    }
}

const STR: &[&str] = &[
    "capitalize",
    "casefold",
    "center",
    "count",
    "encode",
    "endswith",
    "expandtabs",
    "find",
    "format",
    "format_map",
    "index",
    "isalnum",
    "isalpha",
    "isascii",
    "isdecimal",
    "isdigit",
    "isidentifier",
    "islower",
    "isnumeric",
    "isprintable",
    "isspace",
    "istitle",
    "isupper",
    "join",
    "ljust",
    "lower",
    "lstrip",
    "maketrans",
    "partition",
    "removeprefix",
    "removesuffix",
    "replace",
    "rfind",
    "rindex",
    "rjust",
    "rpartition",
    "rsplit",
    "rstrip",
    "split",
    "splitlines",
    "startswith",
    "strip",
    "swapcase",
    "title",
    "translate",
    "upper",
    "zfill",
];

const LIST: &[&str] =
    &["append", "clear", "copy", "count", "extend", "index", "insert", "pop", "remove", "reverse", "sort"];

const TUPLE: &[&str] = &["count", "index"];

const DICT: &[&str] =
    &["clear", "copy", "get", "items", "keys", "pop", "popitem", "setdefault", "update", "values", "fromkeys"];

const SET: &[&str] = &[
    "add",
    "clear",
    "copy",
    "difference",
    "discard",
    "intersection",
    "isdisjoint",
    "issubset",
    "issuperset",
    "pop",
    "remove",
    "union",
    "update",
    "symmetric_difference",
];

const INT: &[&str] = &["bit_length", "to_bytes", "real", "imag", "numerator", "denominator"];

const FLOAT: &[&str] = &["is_integer", "hex", "real", "imag"];
