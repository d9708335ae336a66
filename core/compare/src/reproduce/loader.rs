//! The function `load` of a reproducer. It evaluates the code under test with the part of its module that it needs.

use std::collections::BTreeSet;
use std::fmt::Write;

use twincell_engine::protocol::Context;
use twincell_syntax::parse::parse;
use twincell_syntax::scopes::Bindings;
use twincell_syntax::{Function, PerSide, Side, global_names};

use super::file::Writer;
use super::words::Words;
use super::{python, slice};
use crate::note::Note;

impl Writer<'_> {
    /// The function that loads the code under test.
    pub(super) fn loader(&self, modules: &PerSide<String>) -> String {
        let function = self.method();
        // A method's name is not a global, even if its class was left out.
        let of_class =
            function.parameters.first().is_some_and(|first| matches!(first.name.as_str(), "self" | "cls" | "mcs"));
        let inner = slice::is_inner(function) || of_class;
        let mut text = String::new();
        let plain = !self.standins;
        let kind = if plain { "{" } else { "Names({" };
        let close = if plain { "}" } else { "})" };
        let builtins = if self.standins && self.has_imports(modules) {
            ", '__builtins__': vars(builtins) | {'__import__': imported}"
        } else {
            ""
        };
        let _ = writeln!(text, "SUBJECT = os.environ.get('TWINCELL_SUBJECT', 'new')");
        let _ =
            writeln!(text, "names = {kind}'__name__': 'twincell_module', '__file__': '<twincell>'{builtins}{close}");
        if Words::of(modules.iter().map(String::as_str)).names_like(&["dataclass"]) {
            // Annotations are texts there, and dataclasses look up their meaning in the module.
            text.push_str("sys.modules.setdefault('twincell_module', types.ModuleType('twincell_module'))\n");
        }
        text.push_str("\n\ndef load():\n    \"\"\"The function under test.\"\"\"\n");
        if self.standins {
            text.push_str("    global loading\n    loading = True\n");
        }
        text.push_str("    if SUBJECT not in ('old', 'new'):\n");
        text.push_str(
            "        with open(SUBJECT) as file:\n            exec(compile(file.read(), SUBJECT, 'exec'), names)\n",
        );
        let injected = self.injected(modules);
        if !injected.is_empty() {
            let _ = writeln!(text, "        for name in ({},):", injected.join(", "));
            text.push_str("            names.pop(name, None)  # as everywhere in this test, it is a stand-in\n");
        }
        if !modules.iter().all(String::is_empty) {
            let module =
                if modules.old == modules.new { "MODULE" } else { "OLD_MODULE if SUBJECT == 'old' else NEW_MODULE" };
            text.push_str("    else:\n");
            let failing = self.case.notes.iter().any(Note::is_of_module);
            if failing {
                let _ = writeln!(text, "        for statement in ast.parse({module}).body:");
                text.push_str("            with contextlib.suppress(Exception):  # skips statements that fail here\n");
                text.push_str("                exec(compile(ast.Module([statement], []), 'module', 'exec'), names)\n");
            } else {
                let _ = writeln!(text, "        exec(compile({module}, 'module', 'exec'), names)");
            }
        }
        if self.standins {
            text.push_str("    loading = False\n    mend()\n");
            if self.has_instances() {
                text.push_str("    names['isinstance'] = is_instance\n");
                text.push_str("    names['issubclass'] = is_subclass\n");
            }
            if self.has_attributes() {
                text.push_str("    names['hasattr'] = has_attribute\n");
            }
            if self.decisions.contains_key("super()") || self.words.names("super") {
                text.push_str("    names['super'] = lambda *_: answer('super()')\n");
            }
            for (name, places) in self.patched() {
                for place in places {
                    let _ = writeln!(text, "    patch({}, {})", python::string(&place), python::string(&name));
                }
            }
        }
        text.push_str("    if SUBJECT not in ('old', 'new'):\n");
        let found = |side: Side| {
            let path = case_path(&self.case.functions[side]);
            let mut parts = path.iter();
            let first = python::string(parts.next().map_or("", String::as_str));
            parts.fold(format!("names[{first}]"), |found, part| format!("vars({found})[{}]", python::string(part)))
        };
        let _ = writeln!(text, "        found = {}", found(Side::New));
        text.push_str("        found = getattr(found, '__func__', None) or getattr(found, 'fget', None) or found\n");
        text.push_str("        return inspect.unwrap(found)\n");
        let target = if inner { "scope" } else { "names" };
        if inner {
            text.push_str("    scope = {}\n");
        }
        let place = if inner { "names, scope" } else { "names" };
        let _ = writeln!(text, "    exec(compile(OLD if SUBJECT == 'old' else NEW, SUBJECT, 'exec'), {place})");
        let PerSide { old, new } = PerSide::of(|side| python::string(&self.case.functions[side].name));
        if old == new {
            let _ = writeln!(text, "    return {target}[{new}]");
        } else {
            let _ = writeln!(text, "    return {target}[{old} if SUBJECT == 'old' else {new}]");
        }
        text
    }

    /// The names that the functions read and that stand for missing objects, also if a whole module has them.
    fn injected(&self, modules: &PerSide<String>) -> Vec<String> {
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
