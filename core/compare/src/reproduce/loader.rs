//! The function `load` of a reproducer. It evaluates the code under test with the part of its module that it needs.

use std::collections::BTreeSet;
use std::fmt::Write;

use twincell_engine::protocol::Context;
use twincell_syntax::parse::parse;
use twincell_syntax::scopes::Bindings;
use twincell_syntax::{Function, PerSide, global_names};

use super::text::written_name;
use super::writer::Writer;
use super::{python, slice};
use crate::note::Note;

impl Writer<'_> {
    /// The function that loads the code under test.
    pub(super) fn loader(&self, modules: &PerSide<String>) -> String {
        let mut text = self.globals(modules);
        text.push_str("\n\ndef load():\n    \"\"\"The function under test.\"\"\"\n");
        if self.standins {
            text.push_str("    global loading\n    loading = True\n");
        }
        text.push_str(&self.given_file(modules));
        text.push_str(&self.own_module(modules));
        if self.standins {
            text.push_str("    loading = False\n    mend()\n");
            text.push_str(&self.recorded_builtins());
            for (name, places) in self.patched() {
                for place in places {
                    let _ = writeln!(text, "    patch({}, {})", python::string(&place), python::string(&name));
                }
            }
        }
        text.push_str(&self.set_in_module());
        text.push_str(&self.found_in_file());
        text.push_str(&self.own_function());
        text
    }

    /// The version to run, and the globals of the code.
    fn globals(&self, modules: &PerSide<String>) -> String {
        let mut text = String::from("SUBJECT = os.environ.get('TWINCELL_SUBJECT', 'new')\n");
        let (open, close) = if self.standins { ("Names({", "})") } else { ("{", "}") };
        let replaced = [
            ("'__import__': imported", self.has_imports(modules)),
            ("'__build_class__': build_class", self.has_class_keywords(modules)),
        ];
        let replaced = replaced.iter().filter(|(_, is_needed)| self.standins && *is_needed);
        let replaced: Vec<&str> = replaced.map(|(entry, _)| *entry).collect();
        let builtins = if replaced.is_empty() {
            String::new()
        } else {
            format!(", '__builtins__': vars(builtins) | {{{}}}", replaced.join(", "))
        };
        let _ =
            writeln!(text, "names = {open}'__name__': 'twincell_module', '__file__': '<twincell>'{builtins}{close}");
        // Dataclasses look up their module where annotations are texts; a file that the test is given may have some, too.
        text.push_str("sys.modules.setdefault('twincell_module', types.ModuleType('twincell_module'))\n");
        text
    }

    /// Runs the part of the module that a version needs.
    fn own_module(&self, modules: &PerSide<String>) -> String {
        if modules.iter().all(String::is_empty) {
            return String::new();
        }
        let module =
            if modules.old == modules.new { "MODULE" } else { "OLD_MODULE if SUBJECT == 'old' else NEW_MODULE" };
        if self.case.notes.iter().any(Note::is_of_module) {
            return format!(
                "    else:\n        for statement in ast.parse({module}).body:\n            \
                 with contextlib.suppress(Exception):  # skips statements that fail here\n                \
                 exec(compile(ast.Module([statement], []), 'module', 'exec'), names)\n"
            );
        }
        format!("    else:\n        exec(compile({module}, 'module', 'exec'), names)\n")
    }

    /// Replaces the builtins that answer as recorded.
    fn recorded_builtins(&self) -> String {
        let replaced = [
            ("isinstance", "is_instance", self.has_instances()),
            ("issubclass", "is_subclass", self.has_instances()),
            ("hasattr", "has_attribute", self.has_attributes()),
            ("super", "parent", self.has_super()),
        ];
        let lines = replaced.into_iter().filter(|(.., is_needed)| *is_needed);
        lines.map(|(name, by, _)| format!("    names['{name}'] = {by}\n")).collect()
    }

    /// Returns the function of the file that the test is given.
    fn found_in_file(&self) -> String {
        let function = &self.case.functions.new;
        let mut path = case_path(function);
        if let Some(last) = path.last_mut().filter(|last| **last == function.name) {
            *last = written_name(function);
        }
        let mut parts = path.iter();
        let first = python::string(parts.next().map_or("", String::as_str));
        let found =
            parts.fold(format!("names[{first}]"), |found, part| format!("vars({found})[{}]", python::string(part)));
        format!(
            "    if SUBJECT not in ('old', 'new'):\n        found = {found}\n        \
             found = getattr(found, '__func__', None) or getattr(found, 'fget', None) or found\n        \
             return inspect.unwrap(found)\n"
        )
    }

    /// Returns the function of a version.
    fn own_function(&self) -> String {
        let function = self.method();
        // A method's name is not a global, even if its class was left out.
        let of_class =
            function.parameters.first().is_some_and(|first| matches!(first.name.as_str(), "self" | "cls" | "mcs"));
        let (scope, place, target) = if slice::is_inner(function) || of_class {
            ("    scope = {}\n", "names, scope", "scope")
        } else {
            ("", "names", "names")
        };
        let PerSide { old, new } = PerSide::of(|side| python::string(&written_name(&self.case.functions[side])));
        let name = if old == new { new } else { format!("{old} if SUBJECT == 'old' else {new}") };
        format!(
            "{scope}    exec(compile(OLD if SUBJECT == 'old' else NEW, SUBJECT, 'exec'), {place})\n    \
             return {target}[{name}]\n"
        )
    }

    /// The names that the functions read and that stand for missing objects, also if a whole module has them.
    pub(super) fn injected(&self, modules: &PerSide<String>) -> Vec<String> {
        if !self.standins || self.case.context != Context::Function {
            return vec![];
        }
        let bound: BTreeSet<String> = modules
            .iter()
            .flat_map(|module| Bindings::of_body(parse(module).suite()).bound.into_iter().collect::<Vec<_>>())
            .collect();
        let used: BTreeSet<String> =
            self.case.functions.iter().flat_map(|function| global_names(&function.text)).collect();
        let is_injected = |name: &&String| {
            !bound.contains(*name) && self.case.functions.iter().all(|function| function.name != **name)
        };
        used.iter().filter(is_injected).map(|name| python::string(name)).collect()
    }
}

fn case_path(function: &Function) -> Vec<String> {
    function.qualname.split('.').map(|part| part.split('#').next().unwrap_or(part).to_string()).collect()
}
