//! The state of a module: the content of its globals, as the module left it. It is restored after each run, so that
//! executions do not see what others wrote into a module's lists, tables, classes and objects.
//!
//! This reaches builtin containers, classes and instances of the module itself, closures, defaults and caches of its
//! functions, and stand-ins for missing modules and objects. Objects of other modules' classes stay as they are.

use std::collections::{BTreeSet, HashSet};

use pyo3::prelude::*;
use pyo3::types::{
    PyByteArray, PyBytes, PyDict, PyFunction, PyList, PyModule, PyModuleMethods, PySet, PyTuple, PyType,
};

use twincell_engine::observed::Observed;

use crate::execution::code::MODULE_NAME;
use crate::execution::object::{Mark, MockObject};
use crate::observe::bindings::unchanged;
use crate::observe::{self, classes, identity};

/// The maximum number of examined objects, and of entries of one container.
const MAX_OBJECTS: usize = 4000;
const MAX_ENTRIES: usize = 2000;
/// The maximum length of a `bytearray`.
const MAX_BYTES: usize = 1 << 16;

enum Saved {
    List(Py<PyList>, Py<PyList>),
    Dict(Py<PyDict>, Py<PyDict>),
    Set(Py<PySet>, Py<PySet>),
    Bytes(Py<PyByteArray>, Vec<u8>),
    /// A `deque` or a subclass of a builtin container: the object, and its content as a list or dict.
    Other(Py<PyAny>, Py<PyAny>),
    Class(Py<PyType>, Py<PyDict>),
    /// An instance, with those of its slots that hold something.
    Slots(Py<PyAny>, Vec<(String, Py<PyAny>)>),
    Cell(Py<PyAny>, Py<PyAny>),
    Cache(Py<PyAny>),
    /// A lock that nobody held.
    Lock(Py<PyAny>),
    /// A stand-in for something missing, and the number of the module's assignments to it.
    StandIn(Py<MockObject>, Mark),
}

/// Everything reachable from a module's globals that code may change in place.
#[derive(Default)]
pub(crate) struct ModuleState {
    /// Each with the global by which it was reached, or with none if a change of it says nothing of a global.
    saved: Vec<(Option<String>, Saved)>,
    /// The objects that code can change, by identity. They live as long as the module does.
    held: HashSet<usize>,
    _alive: Vec<Py<PyAny>>,
}

struct Walk<'py> {
    seen: HashSet<usize>,
    waiting: Vec<Bound<'py, PyAny>>,
    /// What decorators keep with methods. It says nothing of the class, so it is looked at behind everything that does.
    of_methods: Vec<Bound<'py, PyAny>>,
    /// The functions that are found in classes.
    methods: HashSet<usize>,
    saved: Vec<(Option<String>, Saved)>,
    held: Vec<Py<PyAny>>,
    root: Option<String>,
    /// The names of the modules whose classes, functions and objects it looks into.
    modules: HashSet<String>,
}

impl ModuleState {
    /// The stand-ins for what is missing, as the module left them.
    pub fn stand_ins(&self, py: Python<'_>) -> Vec<(Py<MockObject>, Mark)> {
        let stand_ins = self.saved.iter().filter_map(|(_, saved)| match saved {
            Saved::StandIn(object, mark) => Some((object.clone_ref(py), *mark)),
            _ => None,
        });
        stand_ins.collect()
    }

    /// Records the content of the globals.
    pub fn of(globals: &Bound<'_, PyDict>) -> Self {
        let mut walk = Walk::within([MODULE_NAME.to_owned()].into());
        walk.globals("", globals);
        walk.into_state()
    }

    /// Records the content of other modules, by name. What is reached from a global is under its dotted name.
    pub fn of_project(modules: &Bound<'_, PyDict>) -> PyResult<Self> {
        let names = modules.keys().iter().map(|name| name.extract()).collect::<PyResult<_>>()?;
        let mut walk = Walk::within(names);
        for (name, module) in modules.iter() {
            let Ok(module) = module.cast_exact::<PyModule>() else { continue };
            let (name, globals) = (name.extract::<String>()?, module.dict());
            walk.root = Some(name.clone());
            walk.keep(Saved::Dict(globals.clone().unbind(), globals.copy()?.unbind()));
            walk.globals(&format!("{name}."), &globals);
        }
        Ok(walk.into_state())
    }

    /// Whether the module held this object from the start.
    pub fn holds(&self, identity: usize) -> bool {
        self.held.contains(&identity)
    }

    /// The globals whose content the code changed in place, in their present state, by name.
    pub fn changed(&self, globals: &Bound<'_, PyDict>) -> Vec<(String, Observed)> {
        self.changed_in(globals.py(), |name| globals.get_item(name).ok().flatten())
    }

    /// The same, with a function that looks a name up.
    pub fn changed_in<'py>(
        &self,
        py: Python<'py>,
        look_up: impl Fn(&str) -> Option<Bound<'py, PyAny>>,
    ) -> Vec<(String, Observed)> {
        let mut names: BTreeSet<&str> = BTreeSet::new();
        for (root, saved) in &self.saved {
            let is_told = !matches!(saved, Saved::Cache(_) | Saved::Cell(..));
            if let Some(root) = root
                && is_told
                && !saved.is_unchanged(py).unwrap_or(true)
            {
                names.insert(root);
            }
        }
        let observed = |name: &str| -> Option<Observed> {
            let value = look_up(name)?;
            if let Ok(stand_in) = value.cast_exact::<MockObject>() {
                let stand_in = stand_in.get();
                let before = self.saved.iter().find_map(|(_, saved)| match saved {
                    Saved::StandIn(known, before) if std::ptr::eq(known.get(), stand_in) => Some(*before),
                    _ => None,
                })?;
                let assigned = observe::assigned_since(stand_in, py, before);
                return Some(Observed::Injected { path: stand_in.path().to_buf(), assigned });
            }
            Some(match value.cast::<PyType>() {
                Ok(class) => observe::namespace(class),
                Err(_) => observe::value(&value),
            })
        };
        names.into_iter().filter_map(|name| Some((name.to_owned(), observed(name)?))).collect()
    }

    /// Restores everything.
    pub fn restore(&self, py: Python<'_>) {
        for (_, saved) in &self.saved {
            if !saved.is_unchanged(py).unwrap_or(false) {
                // An object that code made unwritable stays as it is.
                let _ = saved.restore(py);
            }
        }
    }
}

impl<'py> Walk<'py> {
    fn within(modules: HashSet<String>) -> Self {
        Walk {
            seen: HashSet::new(),
            waiting: Vec::new(),
            of_methods: Vec::new(),
            methods: HashSet::new(),
            saved: Vec::new(),
            held: Vec::new(),
            root: None,
            modules,
        }
    }

    /// Looks at everything that is reachable from globals. Their names get a prefix.
    fn globals(&mut self, prefix: &str, globals: &Bound<'py, PyDict>) {
        for (name, value) in globals.iter() {
            let Ok(name) = name.extract::<String>() else { continue };
            if name.starts_with("__") || name.starts_with("_tc_") {
                continue;
            }
            self.root = Some(format!("{prefix}{name}"));
            self.waiting.push(value);
            self.look_at_waiting();
        }
    }

    fn look_at_waiting(&mut self) {
        while let Some(value) = self.waiting.pop() {
            if self.seen.len() < MAX_OBJECTS && self.seen.insert(value.as_ptr() as usize) {
                if identity::is_mutable(&value) {
                    self.held.push(value.clone().unbind());
                }
                // An object that cannot be examined is left alone.
                let _ = self.look(&value);
            }
        }
    }

    fn into_state(mut self) -> ModuleState {
        self.root = None;
        self.waiting.append(&mut self.of_methods);
        self.look_at_waiting();
        let held = self.held.iter().map(|object| object.as_ptr() as usize).collect();
        ModuleState { saved: self.saved, held, _alive: self.held }
    }

    /// Whether a class's own attributes say that it belongs to one of the modules.
    fn is_own(&self, namespace: &Bound<'py, PyDict>) -> bool {
        let module = namespace.get_item("__module__").ok().flatten();
        let name = module.and_then(|module| module.extract::<String>().ok());
        name.is_some_and(|name| self.modules.contains(&name))
    }

    fn keep(&mut self, saved: Saved) {
        self.saved.push((self.root.clone(), saved));
    }

    fn look(&mut self, value: &Bound<'py, PyAny>) -> PyResult<()> {
        if let Ok(list) = value.cast_exact::<PyList>() {
            if list.len() <= MAX_ENTRIES {
                self.waiting.extend(list.iter());
                self.keep(Saved::List(list.clone().unbind(), list.get_slice(0, list.len()).unbind()));
            }
        } else if let Ok(dict) = value.cast_exact::<PyDict>() {
            self.dict(dict)?;
        } else if let Ok(set) = value.cast_exact::<PySet>() {
            if set.len() <= MAX_ENTRIES {
                let copy = PySet::new(value.py(), set.iter())?;
                self.keep(Saved::Set(set.clone().unbind(), copy.unbind()));
            }
        } else if let Ok(bytes) = value.cast_exact::<PyByteArray>() {
            if bytes.len() <= MAX_BYTES {
                self.keep(Saved::Bytes(bytes.clone().unbind(), bytes.to_vec()));
            }
        } else if let Ok(tuple) = value.cast_exact::<PyTuple>() {
            self.waiting.extend(tuple.iter().take(MAX_ENTRIES));
        } else if let Ok(class) = value.cast::<PyType>() {
            self.class(class)?;
        } else if value.is_exact_instance_of::<PyFunction>() {
            self.function(value)?;
        } else if let Ok(stand_in) = value.cast_exact::<MockObject>() {
            self.keep(Saved::StandIn(stand_in.clone().unbind(), stand_in.get().mark()));
        } else {
            self.object(value)?;
        }
        Ok(())
    }

    fn dict(&mut self, dict: &Bound<'py, PyDict>) -> PyResult<()> {
        if dict.len() <= MAX_ENTRIES {
            self.waiting.extend(dict.values().iter());
            self.keep(Saved::Dict(dict.clone().unbind(), dict.copy()?.unbind()));
        }
        Ok(())
    }

    fn class(&mut self, class: &Bound<'py, PyType>) -> PyResult<()> {
        let namespace = namespace(class)?;
        if self.is_own(&namespace) {
            let values = namespace.values();
            self.methods
                .extend(values.iter().filter_map(|value| Some(classes::function_of(&value)?.as_ptr() as usize)));
            self.waiting.extend(values.iter());
            self.keep(Saved::Class(class.clone().unbind(), namespace.unbind()));
        }
        Ok(())
    }

    fn function(&mut self, function: &Bound<'py, PyAny>) -> PyResult<()> {
        let module = function.getattr("__module__")?.extract::<String>();
        if !module.is_ok_and(|module| self.modules.contains(&module)) {
            return Ok(());
        }
        for part in ["__defaults__", "__kwdefaults__"] {
            let part = function.getattr(part)?;
            if !part.is_none() {
                self.waiting.push(part);
            }
        }
        let attributes = function.getattr("__dict__")?.cast_into::<PyDict>()?;
        let is_method = self.methods.contains(&(function.as_ptr() as usize));
        let later = if is_method { &mut self.of_methods } else { &mut self.waiting };
        later.push(attributes.into_any());
        if let Ok(cells) = function.getattr("__closure__")?.cast::<PyTuple>() {
            for cell in cells.iter() {
                let content = cell.getattr("cell_contents")?;
                self.waiting.push(content.clone());
                self.keep(Saved::Cell(cell.unbind(), content.unbind()));
            }
        }
        Ok(())
    }

    fn object(&mut self, value: &Bound<'py, PyAny>) -> PyResult<()> {
        let kind = value.get_type();
        let name = kind.name()?.to_string();
        if name == "_lru_cache_wrapper" {
            self.keep(Saved::Cache(value.getattr("cache_clear")?.unbind()));
            self.waiting.push(value.getattr("__wrapped__")?);
        } else if matches!(name.as_str(), "lock" | "RLock") && kind.module()? == "_thread" {
            if !is_held(value)? {
                self.keep(Saved::Lock(value.clone().unbind()));
            }
        } else if name == "deque" && kind.module()? == "collections" {
            let content = PyList::empty(value.py());
            for item in value.try_iter()? {
                content.append(item?)?;
            }
            self.waiting.extend(content.iter());
            self.keep(Saved::Other(value.clone().unbind(), content.into_any().unbind()));
        } else if matches!(name.as_str(), "defaultdict" | "OrderedDict" | "Counter") && kind.module()? == "collections"
        {
            let content = value.py().get_type::<PyDict>().call1((value,))?.cast_into::<PyDict>()?;
            self.waiting.extend(content.values().iter());
            self.keep(Saved::Other(value.clone().unbind(), content.into_any().unbind()));
        } else if self.is_own(&namespace(&kind)?) {
            if let Ok(attributes) = observe::object_namespace(value) {
                self.dict(&attributes)?;
            }
            let slots = observe::slots(value)?;
            if !slots.is_empty() {
                self.waiting.extend(slots.iter().map(|(_, held)| held.clone()));
                let slots = slots.into_iter().map(|(name, held)| (name, held.unbind())).collect();
                self.keep(Saved::Slots(value.clone().unbind(), slots));
            }
        }
        Ok(())
    }
}

/// A class's own attributes.
fn namespace<'py>(class: &Bound<'py, PyType>) -> PyResult<Bound<'py, PyDict>> {
    let py = class.py();
    let proxy = py.get_type::<PyType>().call_method1("__getattribute__", (class, "__dict__"))?;
    py.get_type::<PyDict>().call1((proxy,))?.cast_into::<PyDict>().map_err(Into::into)
}

/// Whether a lock is held: a plain one by anybody, a reentrant one by this thread.
fn is_held(lock: &Bound<'_, PyAny>) -> PyResult<bool> {
    let method = if lock.hasattr("locked")? { "locked" } else { "_is_owned" };
    lock.call_method0(method)?.is_truthy()
}

fn same_entries(now: &Bound<'_, PyDict>, before: &Bound<'_, PyDict>) -> bool {
    // Order counts, since code sees it when it iterates.
    now.len() == before.len() && unchanged(now, before) == before.len()
}

fn same_items(now: &Bound<'_, PyList>, before: &Bound<'_, PyList>) -> bool {
    now.len() == before.len() && now.iter().zip(before.iter()).all(|(item, known)| item.is(&known))
}

impl Saved {
    fn is_unchanged(&self, py: Python<'_>) -> PyResult<bool> {
        Ok(match self {
            Saved::List(list, before) => same_items(list.bind(py), before.bind(py)),
            Saved::Dict(dict, before) => same_entries(dict.bind(py), before.bind(py)),
            Saved::Set(set, before) => {
                let (set, before) = (set.bind(py), before.bind(py));
                set.len() == before.len() && set.iter().zip(before.iter()).all(|(member, known)| member.is(&known))
            }
            Saved::Bytes(bytes, before) => bytes.bind(py).to_vec() == *before,
            Saved::Other(object, before) => {
                let (object, before) = (object.bind(py), before.bind(py));
                match before.cast::<PyDict>() {
                    Ok(before) => {
                        let now = py.get_type::<PyDict>().call1((object,))?.cast_into::<PyDict>()?;
                        same_entries(&now, before)
                    }
                    Err(_) => {
                        let now = py.get_type::<PyList>().call1((object,))?.cast_into::<PyList>()?;
                        same_items(&now, before.cast::<PyList>()?)
                    }
                }
            }
            Saved::Class(class, before) => same_entries(&namespace(class.bind(py))?, before.bind(py)),
            Saved::Cell(cell, before) => cell.bind(py).getattr("cell_contents")?.is(before.bind(py)),
            Saved::Slots(object, before) => {
                let now = observe::slots(object.bind(py))?;
                now.len() == before.len()
                    && now.iter().zip(before).all(|((name, held), (own, known))| name == own && held.is(known))
            }
            Saved::Cache(_) => false,
            Saved::Lock(lock) => !is_held(lock.bind(py))?,
            Saved::StandIn(stand_in, before) => stand_in.get().mark() == *before,
        })
    }

    fn restore(&self, py: Python<'_>) -> PyResult<()> {
        match self {
            Saved::List(list, before) => {
                let list = list.bind(py);
                list.set_slice(0, list.len(), before.bind(py))
            }
            Saved::Dict(dict, before) => {
                let dict = dict.bind(py);
                dict.clear();
                dict.update(before.bind(py).as_mapping())
            }
            Saved::Set(set, before) => {
                let set = set.bind(py);
                set.clear();
                before.bind(py).iter().try_for_each(|member| set.add(member))
            }
            Saved::Bytes(bytes, before) => {
                let bytes = bytes.bind(py);
                bytes.call_method0("clear")?;
                bytes.call_method1("extend", (PyBytes::new(py, before),)).map(|_| ())
            }
            Saved::Other(object, before) => {
                let object = object.bind(py);
                object.call_method0("clear")?;
                let method = if before.bind(py).is_instance_of::<PyDict>() { "update" } else { "extend" };
                object.call_method1(method, (before,)).map(|_| ())
            }
            Saved::Class(class, before) => {
                let (class, before) = (class.bind(py), before.bind(py));
                let now = namespace(class)?;
                for (name, _) in now.iter() {
                    if !before.contains(&name)? {
                        class.delattr(name.cast_into::<pyo3::types::PyString>()?)?;
                    }
                }
                for (name, value) in before.iter() {
                    if !now.get_item(&name)?.is_some_and(|own| own.is(&value)) {
                        class.setattr(name.cast_into::<pyo3::types::PyString>()?, value)?;
                    }
                }
                Ok(())
            }
            Saved::Cell(cell, before) => cell.bind(py).setattr("cell_contents", before),
            Saved::Slots(object, before) => {
                let (object, of_object) = (object.bind(py), py.get_type::<PyAny>());
                for (name, _) in observe::slots(object)? {
                    of_object.call_method1("__delattr__", (object, name))?;
                }
                for (name, held) in before {
                    of_object.call_method1("__setattr__", (object, name, held))?;
                }
                Ok(())
            }
            Saved::Cache(clear) => clear.call0(py).map(|_| ()),
            Saved::Lock(lock) => {
                // The next run would wait for ever.
                while is_held(lock.bind(py))? {
                    lock.call_method0(py, "release")?;
                }
                Ok(())
            }
            Saved::StandIn(stand_in, before) => {
                stand_in.get().forget_since(*before);
                Ok(())
            }
        }
    }
}
