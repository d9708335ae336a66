//! The other modules of a version's project, which its code imports as they are in this version.
//!
//! Each version has its own copy of the project, so two modules of one name can be in this process. Those of a version are
//! in `sys.modules` only while it is loaded or runs. Code sees the copy under a path that leads to the one of the running
//! version, as a worker's folder does (`restore/identity.rs`). Modules are evaluated like the one under comparison:
//! statement by statement, and what fails is skipped.

use std::fs::File;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::{Mutex, PoisonError};

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyModule, PyTuple};

use twincell_engine::observed::Observed;
use twincell_engine::protocol::Unevaluated;
use twincell_repo::ModulePath;
use twincell_syntax::instrument::count_steps;

use crate::execution::code::{PROJECT, PROJECT_PATH};
use crate::execution::state;
use crate::hooks;
use crate::inject::names;
use crate::restore::module_state::ModuleState;
use crate::worker::module;

/// The largest module that is read, in bytes.
const MAX_MODULE: u64 = 2 << 20;

const SOURCE: &std::ffi::CStr = cr"
import ast, importlib.machinery, importlib.util, os, sys, types

PYTHONS_OWN = importlib.machinery.BuiltinImporter, importlib.machinery.FrozenImporter

class _Own(types.ModuleType):
    # The module under comparison, as other modules see it. Its globals are no plain dict.
    def __getattr__(self, name):
        own = types.ModuleType.__getattribute__(self, '__dict__')['__twincell_globals__']
        if name in own:
            return own[name]
        raise AttributeError(f'module {self.__name__!r} has no attribute {name!r}')

# The statements of modules by file, for all processes that are forked from this one.
_compiled = {}

class Tree:
    def __init__(self, real, folder, file, name, search, imports):
        self.real = real
        self.file, self.name = os.path.join(folder, file), name
        self.search = [os.path.join(folder, part) if part else folder for part in search]
        self.import_missing, self.stand_in, self.evaluate, self.compile = imports
        self.modules, self.before, self.kept, self.own = {}, {}, None, None
        self.package = name if os.path.basename(file) == '__init__.py' else name.rpartition('.')[0]
        self.builtins = None

    def enter(self):
        for name in self.modules:
            if name in sys.modules:
                self.before.setdefault(name, sys.modules[name])
        sys.modules.update(self.modules)

    def leave(self):
        for name, module in self.modules.items():
            if name in self.before:
                sys.modules[name] = self.before[name]
            elif name in sys.modules:
                del sys.modules[name]
        if self.kept is not None:
            # What a run imported for the first time is imported anew by the next one.
            for name in [name for name in self.modules if name not in self.kept]:
                del self.modules[name]

    def keep(self):
        self.kept = frozenset(self.modules)

    def adopt(self, variables, builtins, source):
        # The globals of the module under comparison.
        variables['__package__'], variables['__file__'] = self.package, self.file
        builtins['__import__'] = self.import_
        self.builtins, self.own = builtins, (variables, source)

    def load_own(self):
        # As Python does: packages come before their modules.
        if self.own[1]:
            self.load(self.name)

    def find(self, name, folders):
        # The file of a module, and the folders of a package.
        spaces = []
        for folder in folders:
            inner = os.path.join(folder, name)
            initial = os.path.join(inner, '__init__.py')
            if os.path.isfile(initial):
                return initial, [inner]
            if os.path.isfile(inner + '.py'):
                return inner + '.py', None
            if os.path.isdir(inner):
                spaces.append(inner)
        return (None, spaces) if spaces else None

    def has(self, name):
        # As in Python, no file takes the place of a module that is built in or frozen.
        if any(finder.find_spec(name) for finder in PYTHONS_OWN):
            return False
        # A folder without `__init__.py` counts only where nothing of this name is installed.
        found = self.find(name, self.search)
        if found is None or found[0] is not None:
            return found is not None
        if name in sys.modules and name not in self.modules:
            return False
        try:
            return importlib.machinery.PathFinder.find_spec(name) is None
        except Exception:
            return True

    def load(self, dotted):
        if dotted in self.modules:
            return self.modules[dotted]
        parent, _, last = dotted.rpartition('.')
        folders = self.search
        if parent:
            folders = getattr(self.load(parent), '__path__', None)
            if dotted in self.modules:
                return self.modules[dotted]
        is_own = dotted == self.name and self.own is not None and self.own[1]
        found = self.find(last, folders) if folders else None
        if found is None and not is_own:
            raise ModuleNotFoundError(f'No module named {dotted!r}', name=dotted)
        file, inner = found or (self.file, None)
        spec = importlib.machinery.ModuleSpec(dotted, None, origin=file, is_package=inner is not None)
        if file is not None:
            spec = importlib.util.spec_from_file_location(dotted, file, submodule_search_locations=inner)
        else:
            spec.submodule_search_locations = inner
        module = (_Own if is_own else types.ModuleType)(dotted)
        module.__spec__, module.__package__ = spec, dotted if inner is not None else parent
        if file is not None:
            module.__file__ = file
        if inner is not None:
            module.__path__ = inner
        if dotted in sys.modules:
            self.before.setdefault(dotted, sys.modules[dotted])
        self.modules[dotted] = sys.modules[dotted] = module
        variables = vars(module)
        if is_own:
            variables['__twincell_globals__'] = self.own[0]
            self.evaluate(*self.own)
            variables.update((name, value) for name, value in self.own[0].items() if not name.startswith('__'))
        elif file is not None:
            variables['__builtins__'] = self.builtins
            self.evaluate(variables, self.statements(file))
        if parent:
            setattr(self.modules[parent], last, module)
        return module

    def statements(self, file):
        key = self.real, file
        if key not in _compiled:
            try:
                _compiled[key] = self.compile(self.read(file))
            except Exception:
                _compiled[key] = ()
        return _compiled[key]

    def prepare(self, source):
        # Compiles what a module may import, directly or indirectly, without running any of it.
        seen, waiting = set(), [(self.package, source)]
        while waiting:
            package, source = waiting.pop()
            for file, package in self.imported(package, source):
                if file not in seen:
                    seen.add(file)
                    self.statements(file)
                    waiting.append((package, self.read(file)))

    def imported(self, package, source):
        try:
            nodes = list(ast.walk(ast.parse(source)))
        except Exception:
            return
        for node in nodes:
            if isinstance(node, ast.Import):
                named = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                parts = package.split('.')
                base = parts[:len(parts) + 1 - node.level] if node.level else []
                base += node.module.split('.') if node.module else []
                named = ['.'.join([*base, alias.name]) for alias in node.names]
            else:
                continue
            for dotted in named:
                folders, parts = self.search, []
                for part in dotted.split('.'):
                    file, inner = self.find(part, folders) or (None, None)
                    if file is not None:
                        yield file, '.'.join([*parts, part] if inner else parts)
                    if not inner:
                        break
                    folders, parts = inner, [*parts, part]

    def read(self, file):
        try:
            with open(file, 'rb') as opened:
                content = opened.read(MOST + 1)
            return importlib.util.decode_source(content) if len(content) <= MOST else ''
        except (OSError, SyntaxError, UnicodeError, LookupError):
            return ''

    def import_(self, name, globals=None, locals=None, fromlist=(), level=0):
        dotted = name
        if level:
            package = globals.get('__package__') if isinstance(globals, dict) else None
            try:
                dotted = importlib.util.resolve_name('.' * level + name, package)
            except ImportError:
                return self.import_missing(name, globals, locals, fromlist, level)
        top = dotted.partition('.')[0]
        if top not in self.modules and not self.has(top):
            return self.import_missing(dotted, globals, locals, fromlist, 0)
        try:
            module = self.load(dotted)
            for wanted in fromlist or ():
                if wanted != '*' and not hasattr(module, wanted):
                    self.load(f'{dotted}.{wanted}')
        except ImportError as error:
            return self.stand_in(error, dotted, fromlist)
        return module if fromlist else self.modules[top]
";

static HELPERS: PyOnceLock<Py<PyModule>> = PyOnceLock::new();

fn helpers(py: Python<'_>) -> PyResult<&Bound<'_, PyModule>> {
    let made = HELPERS.get_or_try_init(py, || -> PyResult<Py<PyModule>> {
        let module = PyModule::from_code(py, SOURCE, c"twincell_tree.py", c"twincell_tree")?;
        module.setattr("MOST", MAX_MODULE)?;
        Ok(module.unbind())
    });
    Ok(made?.bind(py))
}

/// The modules of one version's project.
pub(crate) struct Tree {
    tree: Py<PyAny>,
    copy: OwnedFd,
    notes: Py<Notes>,
    state: ModuleState,
}

/// What could not be evaluated in the module under comparison.
#[pyclass(frozen)]
#[derive(Default)]
struct Notes(Mutex<Vec<Unevaluated>>);

#[pymethods]
impl Notes {
    /// Evaluates a module in its variables: the text of the one under comparison, or the statements of another one.
    fn __call__(&self, variables: &Bound<'_, PyDict>, content: &Bound<'_, PyAny>) -> PyResult<()> {
        let Ok(statements) = content.cast::<PyTuple>() else {
            let notes = module::evaluate(variables, &content.extract::<String>()?);
            self.0.lock().unwrap_or_else(PoisonError::into_inner).extend(notes);
            return Ok(());
        };
        hooks::install(variables, Vec::new())?;
        let before = state::with(|execution| std::mem::replace(&mut execution.loading, true));
        module::evaluate_compiled(variables, statements);
        state::with(|execution| execution.loading = before.unwrap_or(false));
        Ok(())
    }
}

/// The statements of a module, with marks that count steps.
#[pyfunction]
fn compile_counted<'py>(py: Python<'py>, source: &str) -> PyResult<Bound<'py, PyTuple>> {
    module::compile_module(py, &count_steps(source))
}

/// Makes the copy of a project the one that code sees.
pub(crate) fn show(copy: &OwnedFd) -> std::io::Result<()> {
    // SAFETY: both numbers are descriptors of this process, and nothing else uses the second one.
    match unsafe { libc::dup2(copy.as_raw_fd(), PROJECT) } {
        -1 => Err(std::io::Error::last_os_error()),
        _ => Ok(()),
    }
}

impl Tree {
    /// Opens the copy of a project. Nothing of it is evaluated yet.
    pub fn open(py: Python<'_>, place: &ModulePath) -> PyResult<Self> {
        let copy = OwnedFd::from(File::open(&place.folder)?);
        let notes = Py::new(py, Notes::default())?;
        let imports = PyTuple::new(
            py,
            [
                names::importer(py)?,
                names::failed_import(py)?,
                notes.bind(py).clone().into_any(),
                wrap_pyfunction!(compile_counted, py)?.into_any(),
            ],
        )?;
        let real = place.folder.to_string_lossy();
        let arguments = (real, PROJECT_PATH, &place.file, &place.name, &place.search, imports);
        let tree = helpers(py)?.getattr("Tree")?.call1(arguments)?.unbind();
        Ok(Self { tree, copy, notes, state: ModuleState::default() })
    }

    /// Compiles what `source` may import, for all processes that are forked from this one. Nothing of it runs.
    pub fn prepare(&self, py: Python<'_>, source: &str) -> PyResult<()> {
        self.enter(py)?;
        let prepared = self.tree.call_method1(py, "prepare", (source,));
        self.leave(py)?;
        prepared.map(drop)
    }

    /// Makes these the globals of the module under comparison, whose text is `source`.
    pub fn adopt(&self, globals: &Bound<'_, PyDict>, source: &str) -> PyResult<()> {
        let py = globals.py();
        self.tree.call_method1(py, "adopt", (globals, globals.get_item("__builtins__")?, source)).map(drop)
    }

    /// Makes its modules those that imports find, until it is left.
    pub fn enter(&self, py: Python<'_>) -> PyResult<()> {
        show(&self.copy)?;
        self.tree.call_method0(py, "enter").map(drop)
    }

    pub fn leave(&self, py: Python<'_>) -> PyResult<()> {
        self.tree.call_method0(py, "leave").map(drop)
    }

    /// Evaluates the module under comparison, after the packages that hold it. Returns what could not be evaluated.
    pub fn evaluate(&self, py: Python<'_>) -> PyResult<Vec<Unevaluated>> {
        self.tree.call_method0(py, "load_own")?;
        let mut notes = self.notes.get().0.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(std::mem::take(&mut *notes))
    }

    /// What a module holds, if it was imported.
    pub fn names<'py>(&self, py: Python<'py>, dotted: &str) -> Option<Bound<'py, PyDict>> {
        let modules = self.tree.getattr(py, "modules").ok()?.into_bound(py).cast_into::<PyDict>().ok()?;
        Some(modules.get_item(dotted).ok()??.cast_into::<PyModule>().ok()?.dict())
    }

    /// Takes what its modules hold now for what each run finds.
    pub fn keep(&mut self, py: Python<'_>) -> PyResult<()> {
        self.tree.call_method0(py, "keep")?;
        let modules = self.tree.getattr(py, "modules")?.into_bound(py).cast_into::<PyDict>()?;
        self.state = ModuleState::of_project(&modules)?;
        Ok(())
    }

    /// What a run changed in its modules, by dotted name.
    pub fn changed(&self, py: Python<'_>) -> Vec<(String, Observed)> {
        let modules = self.tree.getattr(py, "modules").ok();
        let look_up = |dotted: &str| {
            let (module, name) = dotted.rsplit_once('.')?;
            modules.as_ref()?.bind(py).get_item(module).ok()?.getattr(name).ok()
        };
        self.state.changed_in(py, look_up)
    }

    /// Puts back what a run changed in its modules.
    pub fn restore(&self, py: Python<'_>) {
        self.state.restore(py);
    }
}
