//! The libraries that a snippet imports, which somebody may install before prefixes are searched for.

use std::collections::{BTreeMap, BTreeSet};

use ruff_python_ast::Stmt;
use ruff_python_ast::visitor::{Visitor, walk_stmt};

use twincell_engine::protocol::Script;
use twincell_engine::{EngineError, WorkerPool};
use twincell_syntax::parse::{parse, with_stack_for};
use twincell_syntax::python::{is_of_python, python_string};

use crate::distributions::distribution;
use crate::program;
use crate::reading::Reading;
use crate::result::NotInstalled;

impl NotInstalled {
    pub(crate) fn may_pass(&self) -> bool {
        matches!(self, Self::NoInstaller | Self::Refused { .. } | Self::Stopped)
    }
}

/// The modules of libraries that a snippet imports, or that its undefined names are known for, each with the distribution
/// that brings it, if that is known.
pub fn libraries(text: &str) -> BTreeMap<String, Option<String>> {
    let reading = Reading::new(text);
    let mut named = Named::default();
    with_stack_for(reading.text().len(), || named.visit_body(parse(reading.text()).suite()));
    let known = reading.imports.iter().map(|import| import.target().module);
    let all = named.0.into_iter().chain(known.map(|module| (module.clone(), module)));
    let brought = |(path, module): (String, String)| match distribution(&path) {
        (_, None) => distribution(&module),
        found => found,
    };
    all.filter(|(path, _)| !is_of_python(path)).map(brought).collect()
}

/// Those of some modules that code in a worker cannot import. Nothing but packages above them is imported to know.
pub fn missing(modules: &[String], pool: &WorkerPool) -> Result<Vec<String>, EngineError> {
    if modules.is_empty() {
        return Ok(vec![]);
    }
    let (mut snippet, mut asked) = (String::from(FIND), Vec::new());
    for module in modules {
        snippet += &format!("if is_there({}):\n    pass\n", python_string(module));
        asked.push((snippet.matches('\n').count() as u32, module));
    }
    let reading = Reading::new("");
    let mut loaded = pool.load(&program::of_scripts(&reading, None))?;
    let ran = loaded.script(Script { prefix: String::new(), snippet, steps: u64::from(u32::MAX), beside: None })?;
    let is_missing = |line: &u32| ran.completed.binary_search(line).is_err();
    Ok(asked.into_iter().filter(|(line, _)| is_missing(line)).map(|(_, module)| module.clone()).collect())
}

const FIND: &str = "\
from importlib.util import find_spec
def is_there(module):
    try:
        return find_spec(module) is not None
    except BaseException:
        return False
";

/// The dotted paths that the statements of a text import, wherever they stand, each with the module for it. What is imported
/// from a package may be a module of another distribution, or no module.
#[derive(Default)]
struct Named(BTreeSet<(String, String)>);

impl Visitor<'_> for Named {
    fn visit_stmt(&mut self, statement: &Stmt) {
        match statement {
            Stmt::Import(import) => {
                self.0.extend(import.names.iter().map(|alias| (alias.name.to_string(), alias.name.to_string())));
            }
            Stmt::ImportFrom(import) if import.level == 0 => {
                let module = import.module.as_ref().map(ToString::to_string).unwrap_or_default();
                let path = |name: &str| (format!("{module}.{name}"), module.clone());
                self.0.extend(import.names.iter().map(|alias| path(&alias.name)));
            }
            _ => {}
        }
        walk_stmt(self, statement);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_libraries_of_a_snippet_are_those_that_it_imports_and_that_its_names_are_known_for() {
        let text = "import os, yaml\nfrom google.cloud import storage\nfrom . import own\nprint(np.array([1]))\n\
                    def f():\n    import requests.adapters\n    from bs4 import *\n    from azure.other import Client\n";
        let found = libraries(text);
        let found: Vec<(&str, &str)> =
            found.iter().map(|(module, name)| (module.as_str(), name.as_deref().unwrap_or_default())).collect();
        let expected = [
            ("azure.other", ""),
            ("bs4", "beautifulsoup4"),
            ("google.cloud.storage", "google-cloud-storage"),
            ("numpy", "numpy"),
            ("requests", "requests"),
            ("yaml", "PyYAML"),
        ];
        assert_eq!(found, expected);
    }
}
