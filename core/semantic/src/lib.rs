//! What the names of a project stand for, which symbol uses which, and what a change means.
//!
//! A [`Project`] is one version: its [`Files`] with their modules, each text read once. A [`SymbolId`] is a module, class,
//! function, method, variable or field of it, and a [`SymbolName`] is the same in every version. Each query is a function:
//! [`resolve`], [`exports`], [`modules_named`], [`references`], [`uses`], [`used_by`], [`reaches`], [`calls`], [`codes`],
//! [`bases`], [`ancestors`], [`subclasses`], [`fields`], [`always_has`], [`overrides`], [`overridden`], [`import_failures`].
//! What is expensive is kept in the project's `Memos` (`project.rs`), where only the file of the query writes it. A [`Change`]
//! compares two projects. A
//! [`Store`] holds what texts say by themselves, by content, so that a version reads only what no version before had.
//!
//! [`SnapshotFiles`] are those of a version in a repository, [`FolderFiles`] those of a folder. For those who follow texts
//! and not symbols, a [`ProjectModule`] finds those of other modules.
//!
//! Deliberately absent: cells of a notebook, whose names `twincell_syntax::EarlierCells` resolves, and anything that imports
//! or runs code. What is not of the project has a dotted path and nothing more. No text makes it panic; everything that follows
//! something else is bounded.
//!
//! ```
//! use twincell_semantic::{Cause, MemoryFiles, Project, Referent, Store, change, resolve, used_by};
//!
//! let mut files: MemoryFiles = [
//!     ("shop/__init__.py", "from .tax import rate\n"),
//!     ("shop/tax.py", "def rate():\n    return 20\n"),
//!     ("main.py", "import shop\ndef price(net):\n    return net * shop.rate()\n"),
//! ].into_iter().collect();
//! let store = Store::new();
//! let old = Project::open(files.clone(), &store);
//! let main = old.module_at("main.py").ok_or("no module")?;
//!
//! let found = resolve(&old, main, "shop.rate");
//! let [Referent::Symbol(rate)] = found[..] else { return Err("not one symbol".into()) };
//! assert_eq!(old.name(rate).to_string(), "shop.tax.rate");
//! let users = used_by(&old, &Referent::Symbol(rate));
//! assert!(users.iter().any(|(user, _)| old.name(*user).to_string() == "main.price"));
//!
//! // `price` has the same text, and means something else.
//! files.insert("shop/tax.py", "def rate():\n    return 25\n");
//! let new = Project::open(files, &store);
//! let change = change(&old, &new);
//! assert_eq!(change.changed.len(), 1);
//! let affected = change.affected.iter().find(|one| new.name(one.new).to_string() == "main.price");
//! assert!(matches!(affected.ok_or("not affected")?.because, Cause::Uses(_)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod answers;
mod change;
mod classes;
mod files;
mod flow;
mod folder;
mod ids;
mod import_failures;
mod import_path;
mod imported;
mod layout;
mod lower;
mod module;
mod names;
mod project;
mod resolve;
mod snapshot;
mod store;
mod text;
mod uses;

pub use answers::{Ancestor, Basis, CallEdge, CallKind, Callee, Code, ReferencePlace, Referent, Site, Value};
pub use change::{Affected, Cause, Change, change, same_text};
pub use classes::{fields, overridden, overrides, subclasses};
pub use files::{ContentId, Files, MemoryFiles};
pub use flow::{
    always_has, calls, calls_are_cut, codes, elements, is_function_given_away, is_given_away, is_site_given_away,
    module_always_has, values,
};
pub use folder::FolderFiles;
pub use ids::{ModuleId, SymbolId, SymbolName};
pub use import_failures::{ImportFailure, Missing, import_failures};
pub use import_path::{module_of_import, submodule};
pub use imported::{ProjectModule, imported, installed};
pub use module::{Symbol, SymbolKind, SymbolPlace};
pub use names::{NameUse, names_in};
pub use project::Project;
pub use resolve::{ancestors, bases, exports, modules_named, resolve};
pub use snapshot::SnapshotFiles;
pub use store::Store;
pub use text::{ModuleText, PlacedText};
pub use uses::{Bounds, Direction, Reach, reaches, references, used_by, uses};

#[cfg(test)]
mod tests;
