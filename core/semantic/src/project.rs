//! One version of a project: its modules, and where the answers to queries are kept.

use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use ruff_text_size::TextRange;
use rustc_hash::FxHashMap;

use crate::answers::{Ancestor, Flow, Graph, Referent, Values};
use crate::files::Files;
use crate::ids::{ModuleId, ScopeId, SymbolId, SymbolName};
use crate::layout::Layout;
use crate::lower::lower;
use crate::module::{Module, Scope, ScopeKind, Symbol};
use crate::store::Store;
use crate::text::{ModuleText, PlacedText};

/// A version of a project. A file is read when a query first comes to it, and answers are kept as long as the project is.
pub struct Project {
    pub(crate) layout: Layout,
    modules: Vec<OnceLock<Arc<Module>>>,
    files: Box<dyn Files>,
    pub(crate) store: Store,
    pub(crate) memos: Memos,
}

impl fmt::Debug for Project {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Project").field("modules", &self.modules.len()).finish_non_exhaustive()
    }
}

/// The answers of queries, each written only by the file of its query.
#[derive(Debug, Default)]
pub(crate) struct Memos {
    pub members: Memo<(ModuleId, Arc<str>), Arc<[Referent]>>,
    pub ancestors: Memo<SymbolId, Arc<[Ancestor]>>,
    pub subclasses: OnceLock<FxHashMap<SymbolId, Vec<SymbolId>>>,
    pub by_name: OnceLock<FxHashMap<Arc<str>, Vec<ModuleId>>>,
    pub flow: OnceLock<Flow>,
    pub values: OnceLock<Values>,
    pub graph: OnceLock<Graph>,
    pub texts: Memo<(ModuleId, Arc<str>), Option<Arc<PlacedText>>>,
}

/// Answers by question.
#[derive(Debug)]
pub(crate) struct Memo<K, V>(Mutex<FxHashMap<K, V>>);

impl<K, V> Default for Memo<K, V> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K: std::hash::Hash + Eq, V: Clone> Memo<K, V> {
    pub fn get(&self, key: &K) -> Option<V> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(key).cloned()
    }

    pub fn insert(&self, key: K, value: V) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(key, value);
    }
}

impl Project {
    /// Lists the files. What the store holds of them is not read again.
    pub fn open(files: impl Files + 'static, store: &Store) -> Self {
        let layout = Layout::of(files.paths());
        let modules = layout.places.iter().map(|_| OnceLock::new()).collect();
        Self { layout, modules, files: Box::new(files), store: store.clone(), memos: Memos::default() }
    }

    pub(crate) fn files(&self) -> &dyn Files {
        &*self.files
    }

    /// The modules in order of their paths, namespace packages included.
    pub fn modules(&self) -> impl Iterator<Item = ModuleId> + use<> {
        (0..self.modules.len() as u32).map(ModuleId)
    }

    /// The dotted name of a module.
    pub fn module_name(&self, module: ModuleId) -> &str {
        self.layout.places.get(module.0 as usize).map_or("", |place| &place.name)
    }

    /// The path of a module's file. That of a namespace package ends in `/`.
    pub fn path(&self, module: ModuleId) -> &str {
        self.layout.places.get(module.0 as usize).map_or("", |place| &place.path)
    }

    /// The text of a module, if its file can be read and is not too large.
    pub fn text(&self, module: ModuleId) -> Option<Arc<ModuleText>> {
        let place = self.layout.places.get(module.0 as usize)?;
        self.store.text(self.files(), &place.path, place.content?)
    }

    /// Whether parts of a module's text could not be read.
    pub fn is_broken(&self, module: ModuleId) -> bool {
        self.module(module).is_some_and(|module| module.is_broken)
    }

    /// The module in a file.
    pub fn module_at(&self, path: &str) -> Option<ModuleId> {
        let found = self.layout.places.binary_search_by(|place| (*place.path).cmp(path)).ok()?;
        Some(ModuleId(found as u32))
    }

    /// The symbols of a module, the module itself first.
    pub fn symbols_of(&self, module: ModuleId) -> impl Iterator<Item = SymbolId> + use<> {
        let count = self.module(module).map_or(0, |module| module.symbols.len());
        (0..count as u32).map(move |local| SymbolId::new(module, local))
    }

    /// All symbols, by module.
    pub fn symbols(&self) -> impl Iterator<Item = SymbolId> + '_ {
        self.modules().flat_map(|module| self.symbols_of(module))
    }

    /// What a symbol is, and where it is defined.
    pub fn symbol(&self, symbol: SymbolId) -> Option<&Symbol> {
        self.module(symbol.module)?.symbols.get(symbol.local as usize)
    }

    /// What a symbol is called in every version.
    pub fn name(&self, symbol: SymbolId) -> SymbolName {
        let place = self.layout.places.get(symbol.module.0 as usize);
        SymbolName {
            path: place.map(|place| place.path.clone()).unwrap_or_default(),
            module: place.map(|place| place.name.clone()).unwrap_or_default(),
            qualname: self.symbol(symbol).map(|symbol| symbol.qualname.clone()).unwrap_or_default(),
        }
    }

    /// The symbol of a name, if this version has it.
    pub fn find(&self, name: &SymbolName) -> Option<SymbolId> {
        let module = self.module_at(&name.path)?;
        self.find_in(module, &name.qualname)
    }

    /// The symbol of a module with this qualified name.
    pub fn find_in(&self, module: ModuleId, qualname: &str) -> Option<SymbolId> {
        if qualname.is_empty() {
            return Some(SymbolId::new(module, 0));
        }
        let local = *self.module(module)?.symbol_of.get(qualname)?;
        Some(SymbolId::new(module, local))
    }

    /// The innermost symbol around a place of a module's text.
    pub fn symbol_around(&self, module: ModuleId, range: TextRange) -> Option<SymbolId> {
        let symbols = self.symbols_of(module).filter_map(|id| Some((id, self.symbol(id)?)));
        let around = symbols.flat_map(|(id, symbol)| symbol.places.iter().map(move |place| (id, place.range)));
        let smallest = around.filter(|(_, place)| place.contains_range(range)).min_by_key(|(_, place)| place.len());
        smallest.map(|(id, _)| id)
    }

    pub(crate) fn module(&self, module: ModuleId) -> Option<&Module> {
        let position = module.0 as usize;
        let place = self.layout.places.get(position)?;
        let read = || match place.content {
            Some(content) => self.store.module(self.files(), &place.path, content),
            None => Arc::new(lower("")),
        };
        Some(&**self.modules.get(position)?.get_or_init(read))
    }

    pub(crate) fn scope(&self, module: ModuleId, scope: ScopeId) -> Option<&Scope> {
        self.module(module)?.scope(scope)
    }

    /// The scopes of a class or of a function.
    pub(crate) fn scopes_of(&self, symbol: SymbolId) -> &[ScopeId] {
        self.module(symbol.module).and_then(|module| module.scopes_of.get(&symbol.local)).map_or(&[], |scopes| scopes)
    }

    /// The scopes of a class.
    pub(crate) fn class_scopes(&self, class: SymbolId) -> impl Iterator<Item = &Scope> {
        let scopes = self.scopes_of(class).iter().filter_map(move |scope| self.scope(class.module, *scope));
        scopes.filter(|scope| scope.kind == ScopeKind::Class)
    }
}
