//! The special methods that Python runs for an operation.

use ruff_python_ast::{CmpOp, Operator};
use twincell_syntax::python::is_builtin_exception;

pub(super) const TEXT: &[&str] = &["__str__", "__repr__", "__format__"];
pub(super) const TRUTH: &[&str] = &["__bool__", "__len__"];
pub(super) const ITERATION: &[&str] = &["__iter__", "__next__", "__getitem__", "__aiter__", "__anext__"];
pub(super) const GET_ITEM: &[&str] =
    &["__getitem__", "__missing__", "__class_getitem__", "__hash__", "__eq__", "__index__"];
pub(super) const SET_ITEM: &[&str] = &["__setitem__", "__hash__", "__eq__", "__index__"];
pub(super) const DELETE_ITEM: &[&str] = &["__delitem__", "__hash__", "__eq__", "__index__"];
pub(super) const GET_ATTRIBUTE: &[&str] = &["__getattr__", "__getattribute__", "__get__"];
pub(super) const SET_ATTRIBUTE: &[&str] = &["__setattr__", "__set__"];
pub(super) const ENTER: &[&str] = &["__enter__", "__aenter__"];
pub(super) const EXIT: &[&str] = &["__exit__", "__aexit__"];

/// What `%` with a text on its left runs upon what it formats.
pub(super) const FORMATTING: &[&str] = &[
    "__str__",
    "__repr__",
    "__format__",
    "__bytes__",
    "__int__",
    "__float__",
    "__index__",
    "__getitem__",
    "__missing__",
];
/// What a set, and a dictionary upon its keys, runs.
pub(super) const HASHING: &[&str] = &["__hash__", "__eq__"];
pub(super) const INDEX: &[&str] = &["__index__"];
/// What `**` runs.
pub(super) const UNPACK_MAPPING: &[&str] = &["keys", "__getitem__", "__iter__", "__next__"];
const ITERATION_TO_SET: &[&str] = &["__iter__", "__next__", "__getitem__", "__hash__", "__eq__", "keys"];
const COPYING: &[&str] = &[
    "__copy__",
    "__deepcopy__",
    "__replace__",
    "__reduce__",
    "__reduce_ex__",
    "__getstate__",
    "__setstate__",
    "__getnewargs__",
    "__getnewargs_ex__",
];

/// Methods of descriptors.
pub(super) fn of_descriptors(name: &str) -> bool {
    matches!(name, "__get__" | "__set__" | "__delete__" | "__set_name__" | "__init_subclass__")
}

/// Methods of keys, for an operation upon a container and a key.
pub(super) fn of_keys(name: &str) -> bool {
    matches!(name, "__hash__" | "__eq__" | "__index__")
}

/// Methods that an operation upon a builtin container runs upon its elements.
pub(super) fn of_elements(name: &str) -> bool {
    let compares = matches!(name, "__eq__" | "__ne__" | "__lt__" | "__gt__" | "__le__" | "__ge__" | "__hash__");
    compares || TEXT.contains(&name) || matches!(name, "__add__" | "__radd__")
}

pub(super) fn binary(operator: Operator) -> &'static [&'static str] {
    match operator {
        Operator::Add => &["__add__", "__radd__", "__iadd__"],
        Operator::Sub => &["__sub__", "__rsub__", "__isub__"],
        // A sequence is repeated as often as the other operand says.
        Operator::Mult => &["__mul__", "__rmul__", "__imul__", "__index__"],
        Operator::MatMult => &["__matmul__", "__rmatmul__", "__imatmul__"],
        Operator::Div => &["__truediv__", "__rtruediv__", "__itruediv__"],
        Operator::Mod => &["__mod__", "__rmod__", "__imod__"],
        Operator::Pow => &["__pow__", "__rpow__", "__ipow__"],
        Operator::LShift => &["__lshift__", "__rlshift__", "__ilshift__"],
        Operator::RShift => &["__rshift__", "__rrshift__", "__irshift__"],
        Operator::BitOr => &["__or__", "__ror__", "__ior__"],
        Operator::BitXor => &["__xor__", "__rxor__", "__ixor__"],
        Operator::BitAnd => &["__and__", "__rand__", "__iand__"],
        Operator::FloorDiv => &["__floordiv__", "__rfloordiv__", "__ifloordiv__"],
    }
}

pub(super) fn comparison(operator: CmpOp) -> &'static [&'static str] {
    match operator {
        CmpOp::Eq => &["__eq__"],
        CmpOp::NotEq => &["__ne__", "__eq__"],
        CmpOp::Lt | CmpOp::Gt => &["__lt__", "__gt__"],
        CmpOp::LtE | CmpOp::GtE => &["__le__", "__ge__"],
        CmpOp::Is | CmpOp::IsNot => &[],
        CmpOp::In | CmpOp::NotIn => &["__contains__", "__iter__", "__eq__", "__hash__"],
    }
}

/// Those that a builtin function runs upon its arguments, or nothing if it may run any.
pub(super) fn of_builtin(name: &str) -> Option<&'static [&'static str]> {
    Some(match name {
        "len" => &["__len__"],
        "str" | "repr" | "format" | "ascii" | "print" | "input" => TEXT,
        "bool" | "any" | "all" => &["__bool__", "__len__", "__iter__", "__next__", "__getitem__"],
        "set" | "frozenset" => ITERATION_TO_SET,
        "range" | "hex" | "bin" | "oct" | "chr" => INDEX,
        "iter" | "next" | "list" | "tuple" | "zip" | "map" | "filter" => ITERATION,
        "enumerate" => &["__iter__", "__next__", "__getitem__", "__index__"],
        "dict" => &["__iter__", "__next__", "__getitem__", "keys", "__hash__", "__eq__"],
        "sorted" | "min" | "max" => &["__iter__", "__next__", "__getitem__", "__lt__", "__gt__"],
        "sum" => &["__iter__", "__next__", "__getitem__", "__add__", "__radd__"],
        "reversed" => &["__reversed__", "__iter__", "__len__", "__getitem__"],
        "hash" => &["__hash__"],
        "int" => &["__int__", "__index__", "__trunc__"],
        "float" => &["__float__", "__index__"],
        "abs" => &["__abs__"],
        "complex" => &["__complex__", "__float__", "__index__"],
        "round" => &["__round__", "__index__"],
        "divmod" => &["__divmod__", "__rdivmod__"],
        "pow" => &["__pow__", "__rpow__"],
        "isinstance" => &["__instancecheck__"],
        "issubclass" => &["__subclasscheck__"],
        "dir" => &["__dir__"],
        "bytes" | "bytearray" => &["__bytes__", "__buffer__", "__iter__", "__next__", "__getitem__", "__index__"],
        "open" => &["__fspath__", "__index__"],
        "getattr" | "hasattr" => GET_ATTRIBUTE,
        "setattr" => SET_ATTRIBUTE,
        "delattr" => &["__delattr__"],
        "type" | "id" | "callable" | "super" | "object" | "property" | "staticmethod" | "classmethod" | "slice"
        | "vars" => &[],
        // Methods of builtin classes, and exceptions, which keep their arguments.
        _ if name.contains('.') || is_builtin_exception(name) => &[],
        _ => return None,
    })
}

/// Those that a function of a library, by its dotted path, runs upon its arguments by their names.
pub(super) fn of_library(path: &str) -> &'static [&'static str] {
    match path {
        "copy.copy" | "copy.deepcopy" | "copy.replace" | "pickle.dump" | "pickle.dumps" => COPYING,
        _ => &[],
    }
}

/// Those that a method of a builtin class runs upon its arguments and upon the elements of its object.
pub(super) fn of_method(name: &str) -> &'static [&'static str] {
    match name {
        "format" | "format_map" => FORMATTING,
        "count" | "index" => &["__eq__", "__index__"],
        "remove" => &["__eq__"],
        "add" | "discard" | "get" | "setdefault" => HASHING,
        "pop" => &["__hash__", "__eq__", "__index__"],
        "translate" => &["__getitem__", "__missing__", "__index__"],
        "append" | "appendleft" => &[],
        "sort" => &["__lt__", "__gt__"],
        "join" | "extend" | "extendleft" => ITERATION,
        "fromkeys"
        | "update"
        | "union"
        | "intersection"
        | "difference"
        | "symmetric_difference"
        | "intersection_update"
        | "difference_update"
        | "symmetric_difference_update"
        | "issubset"
        | "issuperset"
        | "isdisjoint" => ITERATION_TO_SET,
        // Numbers are what is left that such a method takes.
        _ => INDEX,
    }
}
