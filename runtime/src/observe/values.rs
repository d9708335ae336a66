//! Python values -> plain data: bounded, without addresses, and without running code of the value's own class.

use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};

use pyo3::exceptions::PyBaseException;
use pyo3::prelude::*;
use pyo3::types::{
    PyBool, PyByteArray, PyBytes, PyComplex, PyDict, PyEllipsis, PyFloat, PyFrozenSet, PyInt, PyList, PyModule, PySet,
    PySlice, PyString, PyTuple, PyType,
};

use xxhash_rust::xxh3::Xxh3Default;

use twincell_behavior::display_observed;
use twincell_engine::observed::{Elision, INDEX, ITEMS, NAMES, Observed, TEXT, VALUE, VALUES, WRITTEN};
use twincell_values::path::{self, MAX_ARGUMENTS, cut_at};

use crate::execution::namespaces::class_namespace;
use crate::execution::object::{Mark, MockObject};
use crate::execution::{code, state};
use crate::observe::answers;
use crate::observe::classes;
use crate::observe::kinds::{self, Kind};
use crate::observe::tables::{self, Column, Parts};
use crate::observe::{statements, streams};

/// How the names begin that Python gives threads.
const UNNAMED_THREAD: &str = "Thread-";
/// Where rows of SQLAlchemy keep what only its sessions ask for: it leads to all mapped classes, and is no content.
const OF_SESSIONS: &str = "_sa_instance_state";
/// Python's cache of subclass checks. It is no content.
pub(crate) const OF_ABSTRACT_CLASSES: &str = "_abc_impl";
/// The maximum number of nodes of one observed tree, its maximum nesting, and the maximum number of characters of one
/// text.
const MAX_NODES: usize = 400;
const MAX_DEPTH: usize = 10;
const MAX_TEXT: usize = 4000;
/// The number of items taken from an iterator.
pub(crate) const MAX_ITEMS: usize = 20;

/// Observes a value. Iterators are left alone.
pub(crate) fn value(value: &Bound<'_, PyAny>) -> Observed {
    Observer { nodes: 0, above: Vec::new() }.observe(value)
}

/// Observes a value with its private attributes, also where only public ones count.
pub(crate) fn whole(value: &Bound<'_, PyAny>) -> Observed {
    let is_set = |only: bool| state::with(|execution| std::mem::replace(&mut execution.run.public_only, only));
    let before = is_set(false);
    let observed = self::value(value);
    is_set(before.unwrap_or(false));
    observed
}

/// Later assignments of the code: the last value of each attribute and item, by name.
pub(crate) fn assigned_since(object: &MockObject, py: Python<'_>, mark: Mark) -> Vec<(String, Observed)> {
    let mut found: Vec<(String, Option<Py<PyAny>>)> = Vec::new();
    {
        let Ok(assigned) = object.assigned.lock() else { return vec![] };
        for (name, value) in assigned.attributes.iter().skip(mark.attributes) {
            found.push((
                format!(".{}", object.canonical_attribute(name)),
                value.as_ref().map(|value| value.clone_ref(py)),
            ));
        }
        for (text, _, value) in assigned.items.iter().skip(mark.items) {
            found.push((format!("[{text}]"), value.as_ref().map(|value| value.clone_ref(py))));
        }
    }
    let mut observed: BTreeMap<String, Observed> = BTreeMap::new();
    for (name, value) in found {
        let deleted = || Observed::Elided { reason: Elision::Deleted };
        observed.insert(name, value.map_or_else(deleted, |value| self::value(value.bind(py))));
    }
    observed.into_iter().collect()
}

/// The members of a class besides its functions.
pub(crate) fn namespace(class: &Bound<'_, PyType>) -> Observed {
    let mut observer = Observer { nodes: 0, above: Vec::new() };
    let mut attributes: Vec<(String, Observed)> = Vec::new();
    for (name, value) in class_namespace(class).unwrap_or_default() {
        if !(value.is_callable()
            || name.starts_with("__") && name.ends_with("__")
            || name == OF_ABSTRACT_CLASSES
            || classes::is_wrapping(class, &name))
        {
            attributes.push((name, observer.observe(&value)));
        }
    }
    attributes.sort_by(|a, b| a.0.cmp(&b.0));
    Observed::Object { class: class_name(class), attributes }
}

/// A short text for access paths: literals as they are, injected objects by path, and others by class.
pub(crate) fn short(of: &Bound<'_, PyAny>) -> String {
    if let Ok(mock) = of.cast::<MockObject>() {
        return mock.get().path().to_string();
    }
    if let Ok(slice) = of.cast::<PySlice>() {
        let part = |name: &str| {
            slice.getattr(name).ok().filter(|part| !part.is_none()).map(|part| short(&part)).unwrap_or_default()
        };
        let step = part("step");
        let step = if step.is_empty() { step } else { format!(":{step}") };
        return format!("{}:{}{step}", part("start"), part("stop"));
    }
    path::bounded(observed_path(&value(of)))
}

/// An observed value in an access path.
fn observed_path(value: &Observed) -> String {
    match value {
        Observed::Injected { path, .. } => path.to_string(),
        other => display_observed(other),
    }
}

/// The arguments of a call in an access path, regardless of how they are passed. They leave room for operations on the
/// call's value, so that `open(...).close` still says what it closes.
pub(crate) fn arguments_text<'a>(
    arguments: &'a [Observed],
    keywords: impl IntoIterator<Item = &'a Observed>,
) -> String {
    cut_at(arguments.iter().chain(keywords).map(observed_path).collect::<Vec<_>>().join(", "), MAX_ARGUMENTS)
}

/// What stands for many values: their hash. One plain value stands for itself.
fn digest(value: &Bound<'_, PyAny>) -> Observed {
    if let Some(plain) = plain(value) {
        return plain;
    }
    let mut hasher = Xxh3Default::new();
    if let Ok(items) = value.cast_exact::<PyList>() {
        items.iter().for_each(|item| self::value(&item).hash(&mut hasher));
    } else {
        self::value(value).hash(&mut hasher);
    }
    Observed::Str(format!("[{:016x}]", hasher.finish()))
}

struct Observer {
    nodes: usize,
    above: Vec<usize>,
}

impl Observer {
    fn observe(&mut self, value: &Bound<'_, PyAny>) -> Observed {
        self.nodes += 1;
        if let Some(plain) = plain(value) {
            return plain;
        }
        let identity = value.as_ptr() as usize;
        if let Some(up) = self.above.iter().rev().position(|&above| above == identity) {
            return Observed::Cycle { up: up as u32 };
        }
        if self.nodes > MAX_NODES {
            return Observed::Elided { reason: Elision::Size };
        }
        if self.above.len() >= MAX_DEPTH {
            return Observed::Elided { reason: Elision::Depth };
        }
        self.above.push(identity);
        let observed = self.structured(value);
        self.above.pop();
        observed
    }

    fn all<'py>(&mut self, items: impl Iterator<Item = Bound<'py, PyAny>>) -> Vec<Observed> {
        let mut observed = Vec::new();
        for item in items {
            if self.nodes > MAX_NODES {
                observed.push(Observed::Elided { reason: Elision::Size });
                break;
            }
            observed.push(self.observe(&item));
        }
        observed
    }

    fn entries(&mut self, dict: &Bound<'_, PyDict>) -> Vec<(Observed, Observed)> {
        let mut entries = Vec::new();
        type Entries<'a, 'py> = &'a mut dyn Iterator<Item = (Bound<'py, PyAny>, Bound<'py, PyAny>)>;
        let ordered = kinds::own_order(MAX_NODES, dict);
        let all: Entries<'_, '_> = match ordered {
            Some(ordered) => &mut ordered.into_iter(),
            None => &mut dict.iter(),
        };
        for (key, value) in all {
            if self.nodes > MAX_NODES {
                let rest = Observed::Elided { reason: Elision::Size };
                entries.push((rest.clone(), rest));
                break;
            }
            entries.push((self.observe(&key), self.observe(&value)));
        }
        entries
    }

    fn members<'py>(&mut self, items: impl Iterator<Item = Bound<'py, PyAny>>) -> Observed {
        let mut members = self.all(items);
        members.sort_by_cached_key(|member| format!("{member:?}"));
        Observed::Set(members)
    }

    fn structured(&mut self, value: &Bound<'_, PyAny>) -> Observed {
        if let Ok(list) = value.cast_exact::<PyList>() {
            return Observed::List(self.all(list.iter()));
        }
        if let Ok(tuple) = value.cast_exact::<PyTuple>() {
            return Observed::Tuple(self.all(tuple.iter()));
        }
        if let Ok(dict) = value.cast_exact::<PyDict>() {
            return Observed::Dict(self.entries(dict));
        }
        if let Ok(set) = value.cast_exact::<PySet>() {
            return self.members(set.iter());
        }
        if let Ok(set) = value.cast_exact::<PyFrozenSet>() {
            return self.members(set.iter());
        }
        if let Ok(exception) = value.cast::<PyBaseException>() {
            return self.exception(exception.as_any());
        }
        if let Ok(class) = value.cast::<PyType>() {
            return Observed::Class { name: class_name(class) };
        }
        if let Ok(module) = value.cast::<PyModule>() {
            return Observed::Module { name: module.name().map_or_else(|_| "module".into(), |name| name.to_string()) };
        }
        let class = class_name(&value.get_type());
        match kinds::of(value) {
            Some(Kind::Function) => {
                let name = value.getattr("__name__").map_or_else(|_| String::new(), |name| name.to_string());
                return Observed::Function { name: former_name(value).unwrap_or(name) };
            }
            Some(Kind::Members) => {
                if let Ok(items) = value.try_iter() {
                    return self.members(items.filter_map(Result::ok).take(MAX_NODES));
                }
            }
            Some(Kind::Items) => {
                if let Ok(items) = value.try_iter() {
                    return Observed::List(self.all(items.filter_map(Result::ok).take(MAX_NODES)));
                }
            }
            Some(Kind::Written) => {
                let text = value.repr().map_or_else(|_| String::new(), |text| text.to_string());
                // `datetime.date(2020, 1, 1)`: the class is already given.
                let inner =
                    text.split_once('(').and_then(|(_, rest)| rest.strip_suffix(')')).unwrap_or(&text).to_owned();
                return Observed::Object { class, attributes: vec![(WRITTEN.into(), Observed::Str(bounded(inner)))] };
            }
            Some(Kind::Match) => {
                return Observed::Object { class, attributes: self.parts(value, ["re", "regs", "string"]) };
            }
            Some(Kind::Partial) => {
                return Observed::Object { class, attributes: self.parts(value, ["args", "func", "keywords"]) };
            }
            Some(Kind::Answer) => {
                let parts = answers::parts(value).unwrap_or_default();
                let attributes = parts.into_iter().map(|(name, part)| (name, self.observe(&part))).collect();
                return Observed::Object { class, attributes };
            }
            Some(Kind::Statement) => {
                if let Some((sql, parts)) = statements::parts(value) {
                    let mut attributes = vec![("sql".to_owned(), Observed::Str(bounded(sql)))];
                    attributes.extend(parts.iter().map(|(name, part)| (name.to_string(), self.observe(&part))));
                    return Observed::Object { class, attributes };
                }
            }
            Some(Kind::Scalar) => {
                if let Some(plain) = value.call_method0("item").ok().and_then(|item| plain(&item)) {
                    return plain;
                }
            }
            Some(kind @ (Kind::Frame | Kind::Series | Kind::Index | Kind::Array | Kind::Values)) => {
                let class = match kinds::is_of_polars(value) {
                    true => format!("polars.{class}"),
                    false => class,
                };
                return match tables::parts(kind, value) {
                    Some(parts) => self.table(kind, class, parts),
                    None => Observed::Elided { reason: Elision::Size },
                };
            }
            Some(kind) => {
                let left =
                    streams::left(value, kind).map(|left| ("[left]".to_owned(), Observed::Int(left.to_string())));
                return Observed::Object { class, attributes: left.into_iter().collect() };
            }
            None => {}
        }
        self.object(value, class)
    }

    /// A table or an array: what a column holds is under its name.
    fn table(&mut self, kind: Kind, class: String, parts: Parts<'_>) -> Observed {
        let Parts { columns, index, about } = parts;
        let mut attributes: Vec<(String, Observed)> = Vec::new();
        for column in columns {
            let values = self.column(&column);
            if kind == Kind::Frame {
                attributes.push((self.name(&column.name), values));
                continue;
            }
            attributes.push((VALUES.into(), values));
            let what = if kind == Kind::Array { "shape" } else { "name" };
            if !column.name.is_none() {
                attributes.push((what.to_owned(), self.observe(&column.name)));
            }
        }
        if let Some(index) = index {
            attributes.push((INDEX.into(), self.column(&index)));
            if !index.name.is_none() {
                attributes.push((NAMES.to_owned(), self.observe(&index.name)));
            }
        }
        attributes.extend(about.into_iter().map(|(name, value)| (name, digest(&value))));
        // Which class holds the labels of rows is no content.
        let class = if kind == Kind::Index { "Index".to_owned() } else { class };
        Observed::Object { class, attributes }
    }

    fn column(&mut self, column: &Column<'_>) -> Observed {
        let shown = match column.shown.is_none() {
            true => Observed::Elided { reason: Elision::Size },
            false => self.observe(&column.shown),
        };
        let mut attributes = vec![(VALUES.to_owned(), shown)];
        if let Some((count, all)) = &column.all {
            attributes.push(("[all]".to_owned(), Observed::Tuple(vec![self.observe(count), digest(all)])));
        }
        if !column.categories.is_none() {
            attributes.push(("[categories]".to_owned(), self.observe(&column.categories)));
        }
        Observed::Object { class: column.class.clone(), attributes }
    }

    /// The name of a column: a text as it is, and anything else as people write it, in brackets. So does a text that
    /// begins with one.
    fn name(&mut self, name: &Bound<'_, PyAny>) -> String {
        match self.observe(name) {
            Observed::Str(text) if !text.starts_with('[') => text,
            other => format!("[{}]", display_observed(&other)),
        }
    }

    fn parts(&mut self, value: &Bound<'_, PyAny>, names: [&str; 3]) -> Vec<(String, Observed)> {
        let part = |name: &str| Some((name.to_owned(), self.observe(&value.getattr(name).ok()?)));
        names.into_iter().filter_map(part).collect()
    }

    fn exception(&mut self, exception: &Bound<'_, PyAny>) -> Observed {
        let class = class_name(&exception.get_type());
        let arguments = match exception.getattr("args") {
            Ok(arguments) => match arguments.cast::<PyTuple>() {
                Ok(arguments) => self.all(arguments.iter()),
                Err(_) => vec![],
            },
            Err(_) => vec![],
        };
        Observed::Exception { class, arguments }
    }

    /// Any other object: the content of builtin containers that it extends, and its attributes.
    fn object(&mut self, value: &Bound<'_, PyAny>, class: String) -> Observed {
        let mut attributes: Vec<(String, Observed)> = Vec::new();
        if let Ok(dict) = value.cast::<PyDict>() {
            attributes.push((ITEMS.into(), Observed::Dict(self.entries(dict))));
        } else if let Ok(list) = value.cast::<PyList>() {
            attributes.push((ITEMS.into(), Observed::List(self.all(list.iter()))));
        } else if let Ok(tuple) = value.cast::<PyTuple>() {
            attributes.push((ITEMS.into(), Observed::Tuple(self.all(tuple.iter()))));
        } else if let Ok(text) = value.cast::<PyString>() {
            attributes.push((TEXT.into(), Observed::Str(bounded(characters(text)))));
        } else if let Ok(number) = value.cast::<PyInt>() {
            attributes.push((VALUE.into(), Observed::Int(int_text(number))));
        }
        let public_only = is_seen_from_outside(value);
        if let Ok(namespace) = object_namespace(value) {
            for (name, attribute) in namespace.iter() {
                if self.nodes > MAX_NODES {
                    break;
                }
                let Ok(name) = name.extract::<String>() else { continue };
                let name = classes::unwrapped(&value.get_type(), name);
                let hidden = public_only && name.starts_with('_') || name == OF_SESSIONS;
                if !(hidden || name.starts_with("__") && name.ends_with("__")) {
                    let observed = self.observe(&attribute);
                    attributes.push(match &observed {
                        Observed::Str(text) if name == "_name" && is_count_of_threads(value, text) => {
                            (name, Observed::Str(UNNAMED_THREAD.into()))
                        }
                        _ => (name, observed),
                    });
                }
            }
        }
        for (name, attribute) in slots(value).unwrap_or_default() {
            if self.nodes > MAX_NODES {
                break;
            }
            let name = classes::unwrapped(&value.get_type(), name);
            let hidden = public_only && name.starts_with('_') || name.starts_with("__") && name.ends_with("__");
            if !hidden {
                attributes.push((name, self.observe(&attribute)));
            }
        }
        attributes.sort_by(|a, b| a.0.cmp(&b.0));
        Observed::Object { class, attributes }
    }
}

/// Whether it is the name that Python gives a thread, by the number of all threads before.
fn is_count_of_threads(value: &Bound<'_, PyAny>, name: &str) -> bool {
    let number = name.strip_prefix(UNNAMED_THREAD).map(|rest| rest.split(' ').next().unwrap_or_default());
    number.is_some_and(|number| !number.is_empty() && number.chars().all(|c| c.is_ascii_digit()))
        && code::class_names(value.get_type().as_any()).iter().any(|class| class == "Thread")
}

/// An object of a class of the compared text, if it is compared by its public state.
fn is_seen_from_outside(value: &Bound<'_, PyAny>) -> bool {
    state::with(|execution| execution.run.public_only).unwrap_or(false)
        && value.get_type().module().is_ok_and(|module| module == code::MODULE_NAME)
}

/// Attributes with a slot (`__slots__`), read without code of the class.
pub(crate) fn slots<'py>(value: &Bound<'py, PyAny>) -> PyResult<Vec<(String, Bound<'py, PyAny>)>> {
    let py = value.py();
    let of_type = py.get_type::<PyType>();
    let mut found = Vec::new();
    for class in of_type.call_method1("__getattribute__", (value.get_type(), "__mro__"))?.cast::<PyTuple>()?.iter() {
        let namespace = of_type.call_method1("__getattribute__", (&class, "__dict__"))?;
        if !namespace.contains("__slots__")? {
            continue;
        }
        for entry in namespace.call_method0("items")?.try_iter()? {
            let (name, descriptor): (String, Bound<'py, PyAny>) = entry?.extract()?;
            if descriptor.get_type().name()? == "member_descriptor"
                && let Ok(held) = descriptor.call_method1("__get__", (value,))
            {
                found.push((name, held));
            }
        }
    }
    Ok(found)
}

/// The instance dictionary, without running a `__getattribute__` of the class.
pub(crate) fn object_namespace<'py>(value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyDict>> {
    let py = value.py();
    let object = py.get_type::<PyAny>();
    let found = object.call_method1("__getattribute__", (value, "__dict__"))?;
    Ok(found.cast_into::<PyDict>()?)
}

/// Values that contain no others.
fn plain(value: &Bound<'_, PyAny>) -> Option<Observed> {
    if value.is_none() {
        return Some(Observed::None);
    }
    if let Ok(mock) = value.cast_exact::<MockObject>() {
        return Some(Observed::Injected { path: mock.get().path().to_buf(), assigned: vec![] });
    }
    if let Ok(text) = value.cast_exact::<PyString>() {
        return Some(Observed::Str(bounded(characters(text))));
    }
    if let Ok(flag) = value.cast_exact::<PyBool>() {
        return Some(Observed::Bool(flag.is_true()));
    }
    if let Ok(number) = value.cast_exact::<PyInt>() {
        return Some(Observed::Int(int_text(number)));
    }
    if let Ok(number) = value.cast_exact::<PyFloat>() {
        return Some(Observed::Float(format!("{:?}", number.value())));
    }
    if let Ok(bytes) = value.cast_exact::<PyBytes>() {
        return Some(Observed::Bytes(bounded_bytes(bytes.as_bytes())));
    }
    if let Ok(bytes) = value.cast_exact::<PyByteArray>() {
        return Some(Observed::Bytes(bounded_bytes(&bytes.to_vec())));
    }
    if value.cast_exact::<PyComplex>().is_ok() || value.cast_exact::<PyEllipsis>().is_ok() {
        let text = value.repr().map_or_else(|_| String::new(), |text| text.to_string());
        return Some(Observed::Object { class: text, attributes: vec![] });
    }
    if let Ok(slice) = value.cast_exact::<PySlice>() {
        return Some(Observed::Object { class: format!("slice({})", short(slice.as_any())), attributes: vec![] });
    }
    None
}

fn int_text(number: &Bound<'_, PyInt>) -> String {
    if let Ok(small) = number.extract::<i64>() {
        return small.to_string();
    }
    // In recent Pythons, huge integers have no decimal text. Hexadecimal has no bound.
    number
        .as_any()
        .call_method1("__format__", ("x",))
        .map_or_else(|_| "int".into(), |text| bounded(format!("0x{text}")))
}

/// The name that a function of the module had in the old version, if the running one renamed it.
pub(crate) fn former_name(function: &Bound<'_, PyAny>) -> Option<String> {
    let renames = state::with(|execution| execution.index.renames_functions(execution.version));
    if renames != Some(true)
        || !function.getattr("__module__").is_ok_and(|module| module.eq(code::MODULE_NAME).unwrap_or(false))
    {
        return None;
    }
    let name: String = function.getattr("__qualname__").and_then(|name| name.extract()).ok()?;
    state::with(|execution| execution.index.former_function(execution.version, &name).map(str::to_owned)).flatten()
}

/// A class's name, even if its metaclass does not provide it.
pub(crate) fn class_name(class: &Bound<'_, PyType>) -> String {
    let name = class.name().or_else(|_| {
        let of_type = class.py().get_type::<PyType>().getattr("__dict__")?.get_item("__name__")?;
        Ok::<_, PyErr>(of_type.call_method1("__get__", (class,))?.cast_into::<PyString>()?)
    });
    name.map_or_else(|_| "object".into(), |name| name.to_string())
}

/// A text. Lone surrogates, which Unicode does not allow, are written as Python escapes.
pub(crate) fn characters(text: &Bound<'_, PyString>) -> String {
    if let Ok(plain) = text.extract::<String>() {
        return plain;
    }
    let of_class = text.py().get_type::<PyString>();
    let bytes = of_class.call_method1("encode", (text, "utf-8", "backslashreplace"));
    match bytes.as_ref().map(|bytes| bytes.cast::<PyBytes>()) {
        Ok(Ok(bytes)) => String::from_utf8_lossy(bytes.as_bytes()).into_owned(),
        _ => text.to_string_lossy().into_owned(),
    }
}

/// Bytes cut at the bound. The rest counts through its hash.
fn bounded_bytes(bytes: &[u8]) -> Vec<u8> {
    let Some(head) = bytes.get(..MAX_TEXT).filter(|head| head.len() < bytes.len()) else { return bytes.to_vec() };
    let rest = format!("... [{} bytes, {:016x}]", bytes.len(), xxhash_rust::xxh3::xxh3_64(bytes));
    [head, rest.as_bytes()].concat()
}

/// The text before the address of an object in Python's own texts, and the digits that an address has at least.
const ADDRESS: &str = " at 0x";
const FEWEST_DIGITS: usize = 8;

/// A text in which every object has the same address (`<A object at 0x0>`).
pub(crate) fn without_addresses(text: String) -> String {
    if !text.contains(ADDRESS) {
        return text;
    }
    let mut pieces = text.split(ADDRESS);
    let first = pieces.next().unwrap_or_default().to_owned();
    pieces.fold(first, |whole, piece| {
        let rest = piece.trim_start_matches(|c: char| c.is_ascii_hexdigit());
        match piece.len() - rest.len() {
            FEWEST_DIGITS.. => whole + ADDRESS + "0" + rest,
            _ => whole + ADDRESS + piece,
        }
    })
}

/// A text without addresses, cut at the bound. The rest counts through its hash.
pub(crate) fn bounded(text: String) -> String {
    let text = without_addresses(text);
    if text.len() <= MAX_TEXT {
        return text;
    }
    let hash = xxhash_rust::xxh3::xxh3_64(text.as_bytes());
    let cut = (0..=MAX_TEXT).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
    format!("{}... [{} bytes, {hash:016x}]", &text[..cut], text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_objects_are_all_the_same() {
        let text = "<A object at 0x7f00aa00bb00>, <function f at 0x7f00aa00bb10>, read at 0x10".to_owned();
        assert_eq!(without_addresses(text), "<A object at 0x0>, <function f at 0x0>, read at 0x10");
    }

    #[test]
    fn long_bytes_differ_by_what_is_cut_off() {
        let long = |last: u8| [vec![b'a'; 5000], vec![last]].concat();
        assert_ne!(bounded_bytes(&long(b'x')), bounded_bytes(&long(b'y')));
        assert!(bounded_bytes(&long(b'x')).len() < MAX_TEXT + 60);
        assert_eq!(bounded_bytes(&[b'a'; MAX_TEXT]), [b'a'; MAX_TEXT]);
    }
}
