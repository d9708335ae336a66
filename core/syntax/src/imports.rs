//! What imports bind: names, and the dotted path of what each of them stands for.
//!
//! The same class is `C` after `from a.b import C`, `b.C` after `from a import b`, and `a.b.C` after `import a.b`. Only
//! texts are read, so nothing has to be installed. The dots of relative imports are left out.

use std::collections::{BTreeMap, BTreeSet};

use ruff_python_ast::statement_visitor::{StatementVisitor, walk_stmt};
use ruff_python_ast::{Expr, Stmt, StmtImport, StmtImportFrom};
use ruff_text_size::Ranged;

use crate::parse::{parse, with_stack_for};
use crate::python::is_of_stdlib;

/// A name that an import binds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Import {
    /// The dotted path of what the name stands for: `a.b.C`.
    pub target: String,
    /// Whether it is bound outside all functions.
    pub is_global: bool,
}

/// The names that imports of a text bind, in functions as well. A name that two imports bind to different things is
/// left out.
pub fn imports(text: &str) -> BTreeMap<String, Import> {
    with_stack_for(text.len(), || {
        let mut found = Found::default();
        found.visit_body(&parse(text).syntax().body);
        found.names.into_iter().filter_map(|(name, import)| Some((name, import?))).collect()
    })
}

/// What a text imports when it is evaluated, each once: the dotted paths of modules, and of what is imported from them,
/// which may be modules as well. Relative imports, and those for type checkers alone, are left out.
pub fn imported_modules(text: &str) -> BTreeSet<String> {
    with_stack_for(text.len(), || {
        let mut found = Modules::default();
        found.visit_body(&parse(text).syntax().body);
        found.paths
    })
}

/// As [`imported_modules`], with what functions import when they are called, and with what is for type checkers.
pub fn modules_imported_anywhere(text: &str) -> BTreeSet<String> {
    with_stack_for(text.len(), || {
        let mut found = Modules { anywhere: true, ..Modules::default() };
        found.visit_body(&parse(text).syntax().body);
        found.paths
    })
}

/// Whether a text imports what is not of the standard library, by relative imports or by others, in functions as well.
pub fn imports_others(text: &str) -> bool {
    with_stack_for(text.len(), || {
        let mut others = Others(false);
        others.visit_body(&parse(text).syntax().body);
        others.0
    })
}

/// A text whose imports name modules by their whole dotted path, where it named them from the package that holds it:
/// `from shop.models import Item` for `from .models import Item` in `shop`. Lines stay in place. Imports that lead out of
/// the outermost package stay as they are.
pub fn absolute_imports(text: &str, package: &str) -> String {
    with_stack_for(text.len(), || {
        let parsed = parse(text);
        let mut relative = Relative::default();
        relative.visit_body(&parsed.syntax().body);
        let mut whole = text.to_owned();
        for import in relative.0.iter().rev() {
            let above = package.split('.').count().checked_sub(import.level as usize - 1).filter(|kept| *kept > 0);
            let (Some(above), false) = (above, package.is_empty()) else { continue };
            let named: Vec<&str> = package.split('.').take(above).chain(import.module.as_deref()).collect();
            let start = import.start().to_usize();
            let Some(dots) = text[start..].find('.').map(|dot| start + dot) else { continue };
            let end = match &import.module {
                Some(module) => module.end().to_usize(),
                None => dots + text[dots..].find("import").unwrap_or(0),
            };
            let space = if import.module.is_none() { " " } else { "" };
            if !text[dots..end].contains('\n') {
                whole.replace_range(dots..end, &format!("{}{space}", named.join(".")));
            }
        }
        whole
    })
}

/// The imports of a text that begin with dots.
#[derive(Default)]
struct Relative<'a>(Vec<&'a StmtImportFrom>);

impl<'a> StatementVisitor<'a> for Relative<'a> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::ImportFrom(import) if import.level > 0 => self.0.push(import),
            _ => walk_stmt(self, stmt),
        }
    }
}

/// Whether an import was seen that is not of the standard library.
struct Others(bool);

impl<'a> StatementVisitor<'a> for Others {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        let is_other = |module: &str| !is_of_stdlib(module.split('.').next().unwrap_or(module));
        match stmt {
            Stmt::Import(import) => self.0 |= import.names.iter().any(|alias| is_other(&alias.name)),
            Stmt::ImportFrom(import) => self.0 |= import.level > 0 || import.module.as_deref().is_some_and(is_other),
            _ => walk_stmt(self, stmt),
        }
    }
}

/// Modules that a text imports.
#[derive(Default)]
struct Modules {
    paths: BTreeSet<String>,
    /// Whether imports in functions and for type checkers count.
    anywhere: bool,
}

impl<'a> StatementVisitor<'a> for Modules {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::Import(import) => self.paths.extend(import.names.iter().map(|alias| alias.name.to_string())),
            Stmt::ImportFrom(import) if import.level == 0 => {
                let Some(module) = &import.module else { return };
                self.paths.insert(module.to_string());
                let named = import.names.iter().filter(|alias| alias.name.as_str() != "*");
                self.paths.extend(named.map(|alias| format!("{module}.{}", alias.name)));
            }
            Stmt::FunctionDef(_) if !self.anywhere => {}
            Stmt::If(branch) if !self.anywhere && is_for_type_checkers(&branch.test) => {
                branch.elif_else_clauses.iter().for_each(|clause| self.visit_body(&clause.body));
            }
            _ => walk_stmt(self, stmt),
        }
    }
}

fn is_for_type_checkers(test: &Expr) -> bool {
    match test {
        Expr::Name(name) => name.id.as_str() == "TYPE_CHECKING",
        Expr::Attribute(attribute) => attribute.attr.as_str() == "TYPE_CHECKING",
        _ => false,
    }
}

#[derive(Default)]
struct Found {
    /// None where imports disagree.
    names: BTreeMap<String, Option<Import>>,
    functions: usize,
}

impl Found {
    fn add(&mut self, name: &str, target: String) {
        let import = Import { target, is_global: self.functions == 0 };
        let known = self.names.entry(name.to_owned()).or_insert_with(|| Some(import.clone()));
        if known.as_ref().is_some_and(|known| known.target != import.target) {
            *known = None;
        }
    }

    fn import(&mut self, import: &StmtImport) {
        for alias in &import.names {
            let dotted = alias.name.as_str();
            match &alias.asname {
                Some(name) => self.add(name, dotted.to_owned()),
                None => {
                    let first = dotted.split('.').next().unwrap_or_default();
                    self.add(first, first.to_owned());
                }
            }
        }
    }

    fn import_from(&mut self, import: &StmtImportFrom) {
        let module = import.module.as_ref().map_or("", |module| module.as_str());
        for alias in import.names.iter().filter(|alias| alias.name.as_str() != "*") {
            let target = if module.is_empty() { alias.name.to_string() } else { format!("{module}.{}", alias.name) };
            self.add(alias.asname.as_ref().unwrap_or(&alias.name), target);
        }
    }
}

impl<'a> StatementVisitor<'a> for Found {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::Import(import) => self.import(import),
            Stmt::ImportFrom(import) => self.import_from(import),
            Stmt::FunctionDef(_) => {
                self.functions += 1;
                walk_stmt(self, stmt);
                self.functions -= 1;
            }
            _ => walk_stmt(self, stmt),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn targets(text: &str) -> Vec<(String, String)> {
        imports(text).into_iter().map(|(name, import)| (name, import.target)).collect()
    }

    #[test]
    fn what_is_not_of_the_standard_library_is_found_wherever_it_is_imported() {
        for other in [
            "from . import a",
            "from ..b import *",
            "import numpy as np",
            "def f():\n    from shop.tax import rate\n",
            "try:\n    from .fast import f\nexcept ImportError:\n    from .slow import f\n",
        ] {
            assert!(imports_others(other), "{other}");
        }
        assert!(!imports_others("import os.path, json\nfrom collections import abc\n"));
    }

    #[test]
    fn each_form_of_an_import_says_what_its_name_stands_for() {
        for (text, name, target) in [
            ("import a.b", "a", "a"),
            ("import a.b as c", "c", "a.b"),
            ("from a.b import C", "C", "a.b.C"),
            ("from a import b as c", "c", "a.b"),
            ("from . import b", "b", "b"),
            ("from ..a import b", "b", "a.b"),
            ("def f():\n    if x:\n        from a import b", "b", "a.b"),
        ] {
            assert_eq!(targets(text), [(name.to_owned(), target.to_owned())], "{text}");
        }
    }

    #[test]
    fn what_a_module_imports_first_thing_is_known_by_its_path() {
        let text = "import a.b as c, d\nfrom e.f import g, h as i\nfrom . import j\nfrom .k import l\nfrom m import *\n\
                    try:\n    import n\nexcept ImportError:\n    import o\ndef f():\n    import p\n\
                    if typing.TYPE_CHECKING:\n    import q\nelse:\n    import r\n";
        let found: Vec<String> = imported_modules(text).into_iter().collect();
        assert_eq!(found, ["a.b", "d", "e.f", "e.f.g", "e.f.h", "m", "n", "o", "r"]);
        let anywhere: Vec<String> = modules_imported_anywhere(text).into_iter().collect();
        assert_eq!(anywhere, ["a.b", "d", "e.f", "e.f.g", "e.f.h", "m", "n", "o", "p", "q", "r"]);
    }

    #[test]
    fn relative_imports_become_absolute_ones_on_their_lines() {
        let text = "from .models import Item\nfrom . import tax\ndef f():\n    from ..a.b import c as d\n    import os\n\
                    from ...far import away\nfrom .import_this import x\n";
        let expected = "from shop.cart.models import Item\nfrom shop.cart import tax\ndef f():\n    from shop.a.b import c as d\n    \
                        import os\nfrom ...far import away\nfrom shop.cart.import_this import x\n";
        assert_eq!(absolute_imports(text, "shop.cart"), expected);
        assert_eq!(absolute_imports(text, ""), text);
        assert_eq!(absolute_imports("from .\\\n import x\n", "shop"), "from .\\\n import x\n");
    }

    #[test]
    fn a_name_that_stands_for_two_things_is_left_out() {
        assert_eq!(targets("try:\n    import json\nexcept ImportError:\n    import simplejson as json\n"), []);
        assert_eq!(targets("import a.b\nimport a.c\n"), [("a".to_owned(), "a".to_owned())]);
    }
}
