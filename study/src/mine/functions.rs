//! The functions of a file's text, and which of them a commit modified.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use twincell_driver::decode::python_source;
use twincell_repo::{FileId, Repo};
use twincell_syntax::{Function, functions, same_tree};

/// More than a person writes.
pub(super) const MOST_BYTES: usize = 4 << 20;
/// The size of cached texts that may be needed again. Up to twice this is held.
const KEPT_BYTES: usize = 16 << 20;

/// A text, and its functions that are not nested in another.
#[derive(Debug)]
pub struct Module {
    pub text: String,
    pub functions: Vec<Function>,
}

impl Module {
    pub fn read(bytes: &[u8]) -> Result<Self, String> {
        if bytes.len() > MOST_BYTES {
            return Err(format!("has more than {} MiB", MOST_BYTES >> 20));
        }
        let text = python_source(bytes)?;
        let (found, errors) = functions(&text);
        match errors.first() {
            Some(error) => Err(format!("is not valid Python: {error}")),
            None => Ok(Self { text, functions: found.into_iter().filter(|one| one.parent.is_none()).collect() }),
        }
    }

    /// The text of a function with its decorators.
    pub fn whole(&self, function: &Function) -> String {
        let line = self.text.lines().nth(function.first_line.saturating_sub(1) as usize).unwrap_or_default();
        let indentation = &line[..line.len() - line.trim_start_matches([' ', '\t']).len()];
        let mut text = String::new();
        for decorator in &function.decorators {
            text.push('@');
            for (index, line) in decorator.lines().enumerate() {
                text.push_str(if index == 0 { line } else { line.strip_prefix(indentation).unwrap_or(line) });
                text.push('\n');
            }
        }
        text + &function.text
    }
}

/// What a commit did to the functions of a file.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Became {
    /// The positions in both modules, in the order of the new one.
    pub modified: Vec<(usize, usize)>,
    pub added_or_removed: usize,
}

/// Compares the functions of both versions by qualified name. `wanted` says by the name whether a function counts.
pub fn became(old: &Module, new: &Module, wanted: &dyn Fn(&Function) -> bool) -> Became {
    let mut before: BTreeMap<&str, usize> = (old.functions.iter().enumerate())
        .filter(|(_, function)| wanted(function))
        .map(|(index, function)| (function.qualname.as_str(), index))
        .collect();
    let mut became = Became::default();
    for (index, function) in new.functions.iter().enumerate().filter(|(_, function)| wanted(function)) {
        match before.remove(function.qualname.as_str()) {
            Some(was) if old.functions.get(was).is_some_and(|old| !same_tree(old, function)) => {
                became.modified.push((was, index));
            }
            Some(_) => {}
            None => became.added_or_removed += 1,
        }
    }
    became.added_or_removed += before.len();
    became
}

/// Modules by the id of their bytes in git: the new version of a file is the old one in the next commit that changes
/// it.
#[derive(Default)]
pub struct Modules {
    held: Mutex<Generations>,
}

/// Recently used modules, and those used before them.
#[derive(Default)]
struct Generations {
    young: HashMap<FileId, Arc<Module>>,
    old: HashMap<FileId, Arc<Module>>,
    bytes: usize,
}

impl Modules {
    /// An error is the rest of a sentence that begins with the file's name.
    pub fn read(&self, repo: &Repo, id: FileId) -> Result<Arc<Module>, String> {
        if let Some(known) = self.held.lock().unwrap_or_else(PoisonError::into_inner).get(id) {
            return Ok(known);
        }
        let bytes = repo.bytes(id, MOST_BYTES).map_err(|error| format!("is not in this clone: {error}"))?;
        let bytes = bytes.ok_or_else(|| format!("has more than {} MiB", MOST_BYTES >> 20))?;
        let module = Arc::new(Module::read(&bytes)?);
        self.held.lock().unwrap_or_else(PoisonError::into_inner).put(id, module.clone());
        Ok(module)
    }
}

impl Generations {
    fn get(&mut self, id: FileId) -> Option<Arc<Module>> {
        if let Some(known) = self.young.get(&id) {
            return Some(known.clone());
        }
        let known = self.old.remove(&id)?;
        self.put(id, known.clone());
        Some(known)
    }

    fn put(&mut self, id: FileId, module: Arc<Module>) {
        self.bytes += module.text.len();
        self.young.insert(id, module);
        if self.bytes > KEPT_BYTES {
            self.old = std::mem::take(&mut self.young);
            self.bytes = 0;
        }
    }
}
