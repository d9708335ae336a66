//! What calls of code outside of the project may read and write, apart from their arguments.

use twincell_syntax::python::{
    ASKING, ASKING_MODULES, PURE_MODULES, attributes_of, is_builtin_exception, is_of_stdlib,
};

use super::items::ALL_ITEMS;
use crate::program::Items;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Effect {
    pub reads_items: &'static [Items],
    pub writes_items: &'static [Items],
    /// Files, clocks, and what libraries keep.
    pub reads_outside: bool,
    pub writes_outside: bool,
    /// Attributes of arguments, by no name.
    pub reads_attributes: bool,
}

impl Effect {
    /// It may do whatever its arguments allow.
    pub fn is_unknown(&self) -> bool {
        *self == UNKNOWN
    }
}

/// An unknown callee may read and write all that its arguments reach. A library writes the attributes of a project's
/// objects only through their methods.
const UNKNOWN: Effect = Effect {
    reads_items: ALL_ITEMS,
    writes_items: ALL_ITEMS,
    reads_outside: true,
    writes_outside: true,
    reads_attributes: true,
};
const NONE: Effect = Effect {
    reads_items: &[],
    writes_items: &[],
    reads_outside: false,
    writes_outside: false,
    reads_attributes: false,
};
const LOOKS: Effect = Effect { reads_items: ALL_ITEMS, ..NONE };

/// Builtins that look at the value itself and not at what it holds.
const SHALLOW: &[&str] = &[
    "isinstance",
    "issubclass",
    "id",
    "type",
    "callable",
    "range",
    "super",
    "object",
    "property",
    "staticmethod",
    "classmethod",
    "hasattr",
    "getattr",
    "chr",
    "ord",
    "bin",
    "hex",
    "oct",
    "int",
    "float",
    "complex",
    "abs",
    "round",
    "divmod",
    "pow",
    "slice",
    "setattr",
    "delattr",
];
/// Functions of modules that only compute which change their arguments all the same.
const MUTATING: &[&str] = &[
    "heapq.heap",
    "heapq.merge",
    "bisect.insort",
    "random.shuffle",
    "operator.setitem",
    "operator.delitem",
    "operator.i",
];
/// Modules that look at attributes of arguments by no name.
const BY_NO_NAME: &[&str] = &["copy", "pickle", "json", "dataclasses", "pprint", "inspect", "marshal", "shelve"];

/// Functions that never return, as typeshed declares them.
const ENDING: &[&str] = &[
    "builtins.exit",
    "builtins.quit",
    "sys.exit",
    "os._exit",
    "os.abort",
    "os.execl",
    "os.execle",
    "os.execlp",
    "os.execlpe",
    "os.execv",
    "os.execve",
    "os.execvp",
    "os.execvpe",
    "_thread.exit",
];

/// Whether a function by its dotted path never returns.
pub(super) fn never_returns(path: &str) -> bool {
    ENDING.contains(&path)
}

/// A function by its dotted path.
pub(super) fn of_path(path: &str, has_generated_methods: bool) -> Effect {
    if let Some(name) = path.strip_prefix("builtins.") {
        return of_builtin(name, has_generated_methods);
    }
    let below = |modules: &[&str]| {
        modules.iter().any(|one| path.strip_prefix(one).is_some_and(|rest| rest.is_empty() || rest.starts_with('.')))
    };
    let mutates = MUTATING.iter().any(|one| path.starts_with(one));
    let writes_items = if mutates { ALL_ITEMS } else { &[] };
    let reads_attributes = below(BY_NO_NAME);
    if below(ASKING_MODULES) || below(&PURE_MODULES) {
        let of_machine = ["os.", "time.", "glob", "uuid", "secrets", "datetime", "platform", "tempfile"];
        let reads_outside = of_machine.iter().any(|one| path.starts_with(one));
        return Effect { reads_items: ALL_ITEMS, writes_items, reads_outside, reads_attributes, ..NONE };
    }
    let root = path.split('.').next().unwrap_or_default();
    if matches!(root, "logging" | "warnings" | "typing_extensions") {
        return LOOKS;
    }
    if is_of_stdlib(root) {
        return Effect {
            reads_items: ALL_ITEMS,
            writes_items,
            reads_outside: true,
            writes_outside: true,
            reads_attributes,
        };
    }
    UNKNOWN
}

fn of_builtin(name: &str, has_generated_methods: bool) -> Effect {
    let name = name.split('.').next().unwrap_or_default();
    match name {
        _ if SHALLOW.contains(&name) || is_builtin_exception(name) => NONE,
        "str" | "repr" | "format" | "print" | "ascii" | "sorted" | "hash" | "max" | "min" => {
            Effect { reads_attributes: has_generated_methods, ..LOOKS }
        }
        "vars" | "dir" => Effect { reads_attributes: true, ..LOOKS },
        "next" | "map" | "filter" => LOOKS,
        _ if ASKING.contains(&name) => LOOKS,
        _ => UNKNOWN,
    }
}

/// A method of an unknown object by its name.
pub(super) fn of_method(name: &str) -> Effect {
    let (sequence, mapping, set) = (&[Items::Sequence][..], &[Items::Mapping][..], &[Items::Set][..]);
    let writes = match name {
        "append" | "extend" | "insert" | "sort" | "reverse" | "appendleft" | "extendleft" | "popleft" | "rotate" => {
            sequence
        }
        "setdefault" | "popitem" | "move_to_end" => mapping,
        "add" | "discard" | "difference_update" | "intersection_update" | "symmetric_difference_update" => set,
        "update" => &[Items::Mapping, Items::Set],
        "pop" | "remove" | "clear" => ALL_ITEMS,
        _ if is_reader(name) => return LOOKS,
        "debug" | "info" | "warning" | "error" | "exception" | "critical" => return LOOKS,
        _ => return UNKNOWN,
    };
    Effect { reads_items: writes, writes_items: writes, ..NONE }
}

/// Methods of builtin classes that read the elements of their arguments.
const READING_ARGUMENTS: &[&str] = &[
    "join",
    "extend",
    "update",
    "format",
    "format_map",
    "union",
    "intersection",
    "difference",
    "symmetric_difference",
    "issubset",
    "issuperset",
    "isdisjoint",
    "index",
    "count",
    "fromkeys",
    "intersection_update",
    "difference_update",
    "symmetric_difference_update",
    "extendleft",
    "translate",
];

/// Whether a method of a builtin class reads the elements of its arguments, and gives them no other name.
pub(super) fn reads_arguments(name: &str) -> bool {
    READING_ARGUMENTS.contains(&name)
}

/// Whether a method changes the container that it belongs to.
pub(super) fn changes_its_object(name: &str) -> bool {
    let effect = of_method(name);
    !effect.writes_items.is_empty()
}

/// A method of a builtin class that changes nothing.
fn is_reader(name: &str) -> bool {
    ["str", "list", "tuple", "dict", "set", "int", "float"].iter().any(|class| attributes_of(class).contains(&name))
}
