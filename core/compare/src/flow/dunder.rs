//! Special methods of classes, and the operations that ask for them.

use std::collections::{BTreeMap, BTreeSet};

use twincell_engine::protocol::Member;
use twincell_syntax::Index;

use super::classes::methods;

/// A member that stands for an operation.
pub(super) fn operation(name: &str, by_operation: bool) -> Member {
    Member { name: name.into(), is_property: false, hints: BTreeMap::new(), by_operation, is_changed: false }
}

/// The operations that ask for a special method, by the name of the method that they ask for first.
pub(super) fn operations_of(method: &str) -> &[&'static str] {
    match method {
        "__len__" => &["__bool__", "__len__"],
        "__eq__" | "__ne__" => &["__eq__", "__hash__"],
        "__getitem__" => &["__getitem__", "__iter__"],
        "__exit__" | "__enter__" => &["__enter__"],
        "__reduce__" | "__reduce_ex__" | "__getstate__" | "__setstate__" | "__copy__" | "__getnewargs__"
        | "__getnewargs_ex__" => &["__copy__"],
        "__getattr__" | "__getattribute__" => &["__getattr__"],
        "__gt__" | "__lt__" => &["__lt__"],
        "__str__" | "__repr__" => &["__str__"],
        _ => SPECIAL.iter().find(|name| **name == method).map_or(&[], std::slice::from_ref),
    }
}

/// Special methods that one operation asks for.
const SPECIAL: [&str; 33] = [
    "__bool__",
    "__iter__",
    "__contains__",
    "__hash__",
    "__call__",
    "__deepcopy__",
    "__format__",
    "__le__",
    "__ge__",
    "__next__",
    "__reversed__",
    "__int__",
    "__float__",
    "__index__",
    "__abs__",
    "__neg__",
    "__invert__",
    "__add__",
    "__sub__",
    "__mul__",
    "__truediv__",
    "__floordiv__",
    "__mod__",
    "__pow__",
    "__matmul__",
    "__and__",
    "__or__",
    "__xor__",
    "__lshift__",
    "__rshift__",
    "__setitem__",
    "__delitem__",
    "__setattr__",
];

/// The special methods that a class of the text or one of its bases defines.
pub(super) fn special_methods(index: &Index, class: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut waiting = vec![class.to_string()];
    let mut seen = BTreeSet::new();
    while let Some(class) = waiting.pop() {
        if seen.insert(class.clone()) {
            let names = methods(index, &class).into_iter().map(|method| method.name.clone());
            found.extend(names.filter(|name| name.starts_with("__") && name.ends_with("__")));
            waiting.extend(index.classes.get(&class).into_iter().flat_map(|class| class.bases.iter().cloned()));
        }
    }
    found
}
