//! The stand-in class of a reproducer: the parts of `standin.py` that a case needs, with its answers.

use std::collections::BTreeSet;
use std::fmt::Write;

use twincell_engine::protocol::Context;
use twincell_syntax::python::{PURE_MODULES, PURE_NAMES, PURE_WHERE_IMPORTED};
use twincell_values::value::{AbstractValue, Decision, Recipe};

use super::answers::is_own_method;
use super::file::Writer;
use super::{python, slice};

/// The parts of a stand-in, by name.
pub(super) fn part(name: &str) -> &'static str {
    let text = include_str!("standin.py");
    let marker = format!("# part {name}\n");
    let from = text.find(&marker).map_or(text.len(), |at| at + marker.len());
    let rest = text.get(from..).unwrap_or("");
    rest.split("\n# part ").next().unwrap_or(rest).trim_matches('\n')
}

impl Writer<'_> {
    pub(super) fn uses(&self, word: &str) -> bool {
        self.case.functions.iter().any(|function| function.text.contains(word))
    }

    /// The parts of the pure standard library that the code may use: names with their modules, and what it may import.
    fn pure(&self) -> (Vec<String>, Vec<String>) {
        let modules = PURE_MODULES.iter().map(|&module| (module, ""));
        let used: Vec<(&str, &str)> = modules.chain(PURE_NAMES).filter(|(name, _)| self.uses(name)).collect();
        let imports = PURE_MODULES.iter().chain(&PURE_WHERE_IMPORTED).filter(|name| self.uses(name));
        let entry = |(name, module): &(&str, &str)| format!("{}: {}", python::string(name), python::string(module));
        (used.iter().map(entry).collect(), imports.map(|name| python::string(name)).collect())
    }

    pub(super) fn has_imports(&self, modules: &[String; 2]) -> bool {
        self.uses("import ") || modules.iter().any(|module| module.contains("import "))
    }

    /// The stand-in class with the parts that this case needs.
    pub(super) fn standin_parts(&self, old: &str, new: &str, modules: &[String; 2]) -> Result<String, String> {
        let case = self.case;
        let patched = self.patched();
        let answers = self.answers(&patched)?;
        let mut text = String::from(
            "# What was recorded for each access path; `...` and what is not here is one more stand-in.\n",
        );
        text.push_str("ANSWERS = {\n");
        let deferred = answers.iter().any(|(_, value)| is_deferred(value));
        for (path, value) in answers.iter().filter(|(_, value)| !is_deferred(value)) {
            let _ = writeln!(text, "    {}: {value},", python::string(path));
        }
        text.push_str("}\n");
        let renamed = case.renames.iter().map(|(new, old)| format!("{}: {}", python::string(new), python::string(old)));
        let _ = writeln!(text, "RENAMED = {{{}}}", renamed.collect::<Vec<_>>().join(", "));
        let raised: BTreeSet<String> = [old, new]
            .into_iter()
            .chain(modules.iter().map(String::as_str))
            .flat_map(slice::exceptions)
            .map(|path| python::string(&path))
            .collect();
        let raised: Vec<String> = raised.into_iter().collect();
        let set =
            |items: &[String]| if items.is_empty() { "set()".into() } else { format!("{{{}}}", items.join(", ")) };
        let _ = writeln!(text, "EXCEPTIONS = {}", set(&raised));
        let methods: Vec<String> =
            patched.keys().filter(|name| is_own_method(name)).map(|name| python::string(name)).collect();
        let _ = writeln!(text, "METHODS = {}", set(&methods));
        let recorded: BTreeSet<&str> = case
            .record
            .behaviors
            .iter()
            .flat_map(|behavior| &behavior.calls)
            .map(|call| call.callee.as_str())
            .collect();
        let stopped: Vec<String> =
            recorded.into_iter().filter(|name| is_own_method(name)).map(python::string).collect();
        let _ = writeln!(text, "STOPPED = {}", set(&stopped));
        let extended: Vec<String> = case
            .record
            .choices
            .iter()
            .filter(|choice| match &choice.decision {
                Decision::Value(recipe) => {
                    !matches!(
                        recipe,
                        Recipe::Versatile(AbstractValue::Object | AbstractValue::Resource | AbstractValue::Callable)
                    ) && self.is_extended(&choice.path)
                }
                _ => false,
            })
            .map(|choice| python::string(&python::masked(&choice.path)))
            .collect();
        let mentions = |words: &[&str]| {
            let texts = [old, new].into_iter().chain(modules.iter().map(String::as_str));
            texts.into_iter().any(|text| words.iter().any(|word| text.contains(word)))
        };
        let mut parts = vec!["core", "log", "text", "assigned"];
        if answers.keys().any(|path| path.starts_with("order("))
            || mentions(&[" < ", " > ", "<=", ">=", "sort", "min(", "max("])
        {
            parts.push("compare");
        }
        if mentions(&["+", "-", "*", "/", "%", "|", "&", "^", "<<", ">>", "@", "~"]) {
            parts.push("arithmetic");
        }
        if mentions(&["with "]) {
            parts.push("context_manager");
        }
        if mentions(&["async ", "await "]) {
            parts.push("awaiting");
        }
        if !extended.is_empty() {
            let _ = writeln!(text, "EXTENDED = {}", set(&extended));
            parts.push("extended");
        }
        parts.push("names");
        parts.push("mend");
        let (pure, imported) = match case.context {
            Context::Module => (vec![], vec![]),
            Context::Function => self.pure(),
        };
        let _ = writeln!(text, "PURE = {{{}}}", pure.join(", "));
        let _ = writeln!(text, "IMPORTED = {}", set(&imported));
        let _ = writeln!(text, "ONLY_PURE = {}", if case.context == Context::Function { "True" } else { "False" });
        if self.has_imports(modules) {
            parts.push("imports");
        }
        if self.decisions.keys().any(|path| path.starts_with("isinstance(") || path.starts_with("class(")) {
            parts.push("isinstance");
        }
        if !patched.is_empty() {
            parts.push("patch");
        }
        if case.context == Context::Module && slice::is_inner(self.method()) {
            parts.push("receiver");
        }
        for name in parts {
            let mut body = part(name).to_string();
            if name == "core" {
                // Names that every object has are answered only if the code asked for them.
                for dunder in ["__class__", "__doc__", "__module__"] {
                    if self.decisions.keys().any(|path| path.contains(&format!(".{dunder}"))) {
                        let property = format!(
                            "    {dunder} = property(lambda self: answer(f'{{self._path_}}.{dunder}'))\n    __int__ ="
                        );
                        body = body.replacen("    __int__ =", &property, 1);
                    }
                }
            }
            let _ = write!(text, "\n\n{body}\n");
        }
        if deferred {
            text.push_str("\n\nANSWERS |= {\n");
            for (path, value) in answers.iter().filter(|(_, value)| is_deferred(value)) {
                let _ = writeln!(text, "    {}: {value},", python::string(path));
            }
            text.push_str("}\n");
        }
        Ok(text)
    }
}

/// An answer that needs a class of the file.
fn is_deferred(value: &str) -> bool {
    value.starts_with("Raises(") || value.starts_with("Same(")
}

#[cfg(test)]
mod tests {
    use twincell_values::value::{MAX_ARGUMENTS, MAX_PATH, cut_at};

    #[test]
    fn a_stand_in_cuts_paths_where_executions_do() {
        let text = include_str!("standin.py");
        let kept = cut_at("x".repeat(MAX_PATH + 1), MAX_PATH).find('~');
        let expected = [
            format!("cut(path, {MAX_PATH})"),
            format!("in values), {MAX_ARGUMENTS})"),
            format!("head[: most - {}]", MAX_PATH - kept.unwrap_or(0)),
        ];
        for part in expected {
            assert!(text.contains(&part), "{part}");
        }
    }
}
