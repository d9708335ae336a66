//! The text of a reproducer, put together from its parts.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use super::arguments::{Argument, Decisions, arguments, source};
use super::checks::{Checks, checks};
use super::{Case, python, slice};
use crate::engine::protocol::Context;
use crate::report::display_decision;
use crate::site::SiteKind;
use crate::source::Function;
use crate::source::parse::parse;
use crate::source::scopes::{is_private, mangle};
use crate::stdlib::{PURE_MODULES, PURE_NAMES, PURE_WHERE_IMPORTED};
use crate::value::{AbstractValue, Decision, Recipe};

/// How a reproducer holds the values of the witness.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// Literals only; of the modules, what the functions need.
    Plain,
    /// With the stand-in class.
    Standins,
    /// The same with the modules as a whole.
    Whole,
}

impl Form {
    pub(super) const ALL: [Form; 3] = [Form::Plain, Form::Standins, Form::Whole];
}

/// The parts of a stand-in, by name.
fn part(name: &str) -> &'static str {
    let text = include_str!("standin.py");
    let marker = format!("# part {name}\n");
    let from = text.find(&marker).map_or(text.len(), |at| at + marker.len());
    let rest = text.get(from..).unwrap_or("");
    rest.split("\n# part ").next().unwrap_or(rest).trim_matches('\n')
}

/// Writes a reproducer in a form, or says why it cannot be.
pub(super) fn write(case: &Case<'_>, form: Form) -> Result<String, String> {
    let standins = form != Form::Plain;
    let checks = checks(case, standins)?;
    let decisions: Decisions<'_> =
        case.record.choices.iter().map(|choice| (choice.path.as_str(), &choice.decision)).collect();
    let mut writer = Writer { case, form, standins, decisions, looked_up: BTreeSet::new() };
    if !standins {
        writer.refuse_objects()?;
    }
    let test = writer.test(&checks)?;
    writer.whole(&checks, &test)
}

struct Writer<'a> {
    case: &'a Case<'a>,
    form: Form,
    standins: bool,
    decisions: Decisions<'a>,
    /// Access paths of arguments that are taken from the answers.
    looked_up: BTreeSet<String>,
}

impl Writer<'_> {
    fn method(&self) -> &Function {
        &self.case.functions[0]
    }

    fn canonical(&self, version: usize, name: &str) -> String {
        let renamed = self.case.renames.iter().find(|(new, _)| version == 1 && new == name);
        renamed.map_or(name, |(_, old)| old).to_string()
    }

    fn is_shared(&self, path: &str) -> bool {
        (0..2).all(|version| {
            let parameters = &self.case.functions[version].parameters;
            parameters.iter().any(|parameter| self.canonical(version, &parameter.name) == path)
        })
    }

    fn arguments(&self, version: usize) -> Result<Vec<Argument>, String> {
        let parameters = &self.case.functions[version].parameters;
        let canonical = |name: &str| self.canonical(version, name);
        arguments(parameters, &self.decisions, &canonical, &|path| self.is_shared(path))
    }

    /// Without stand-ins only arguments can be given, and only those that are plain.
    fn refuse_objects(&self) -> Result<(), String> {
        let mut roots: BTreeSet<String> = BTreeSet::new();
        for version in 0..2 {
            roots.extend(self.arguments(version)?.into_iter().map(|argument| argument.path));
        }
        for choice in &self.case.record.choices {
            let path = choice.path.as_str();
            let counted = path.starts_with("len(*") || path.contains("' in **") || path.starts_with("result(");
            let default = matches!(choice.decision, Decision::Default);
            let value = matches!(&choice.decision, Decision::Value(recipe) if !python::has_standin(recipe));
            if !(counted || default || roots.contains(path) && value) {
                return Err(format!("{path} was injected ({})", display_decision(&choice.decision)));
            }
        }
        Ok(())
    }

    /// The test function.
    fn test(&mut self, checks: &Checks) -> Result<String, String> {
        let case = self.case;
        let mut lines: Vec<String> = Vec::new();
        let mut bound: BTreeMap<String, String> = BTreeMap::new();
        let mut calls = Vec::new();
        for version in 0..2 {
            let passed = self.arguments(version)?;
            calls.push(source(&passed, &mut |argument| self.value(argument, checks, &mut bound)));
        }
        lines.push(format!("{} = load()", self.called()));
        lines.extend(bound.iter().map(|(name, value)| format!("{name} = {value}")));
        lines.extend(checks.before.iter().cloned());
        let call = if calls[0] == calls[1] {
            format!("{}({})", self.called(), calls[0])
        } else {
            // Each version has its own way to be called.
            lines.push(format!("old, new = lambda: {0}({1}), lambda: {0}({2})", self.called(), calls[0], calls[1]));
            "(old if SUBJECT == 'old' else new)()".to_string()
        };
        let call = checks.shape.replace("{}", &call);
        let mut call = if checks.result { format!("result = {call}") } else { call };
        if checks.result && checks.after.iter().any(|line| line.contains("iscoroutine(result)")) {
            call.push_str("\ngetattr(result, 'close', lambda: None)()");
        }
        let mut around: Vec<String> = Vec::new();
        if checks.log {
            around.push("Messages()".into());
        }
        for name in &checks.output {
            around.push(format!("contextlib.redirect_{name}(io.StringIO()) as {name}"));
        }
        match checks.raises.as_deref() {
            Some("BaseException") => around.push("contextlib.suppress(BaseException)".into()),
            Some(class) => around.push(format!(
                "pytest.raises({class}){}",
                if checks.after.iter().any(|line| line.contains("caught.")) { " as caught" } else { "" }
            )),
            None => {}
        }
        if around.is_empty() {
            lines.extend(call.lines().map(String::from));
        } else {
            lines.push(format!("with {}:", around.join(", ")));
            lines.extend(call.lines().map(|line| format!("    {line}")));
        }
        lines.extend(checks.after.iter().cloned());
        let name: String =
            case.functions[1].name.trim_matches('_').chars().filter(|c| c.is_alphanumeric() || *c == '_').collect();
        let mut text = format!("def test_{name}():\n");
        for line in lines {
            let _ = writeln!(text, "    {line}");
        }
        Ok(text)
    }

    /// What the function is called in the test.
    fn called(&self) -> &'static str {
        "function"
    }

    /// An argument's source; what is looked at after the call gets a name.
    fn value(&mut self, argument: &Argument, checks: &Checks, bound: &mut BTreeMap<String, String>) -> String {
        let path = python::string(&python::masked(&argument.path));
        let value = match &argument.value {
            None => self.receiver(&argument.path),
            Some(recipe) if self.standins && self.is_asked(&argument.path, recipe) => {
                self.looked_up.insert(argument.path.clone());
                format!("answer({path})")
            }
            Some(recipe) => python::literal(recipe),
        };
        if checks.watched.contains(&argument.path) {
            bound.insert(argument.path.clone(), value);
            return argument.path.clone();
        }
        value
    }

    /// A value that must come from the answers: it holds stand-ins, or more is asked of it than it has.
    fn is_asked(&self, path: &str, recipe: &Recipe) -> bool {
        let shared = |decision: &&Decision| matches!(decision, Decision::Same(other) if other == path);
        python::has_standin(recipe) || self.is_extended(path) || self.decisions.values().any(shared)
    }

    fn is_extended(&self, path: &str) -> bool {
        self.decisions
            .keys()
            .any(|other| other.strip_prefix(path).is_some_and(|rest| rest.starts_with(['.', '[', '('])))
    }

    /// `self` or `cls`.
    fn receiver(&mut self, path: &str) -> String {
        let owner = self.method().qualname.rsplit_once('.').map(|(owner, _)| owner.to_string());
        let owner = owner.filter(|owner| {
            self.case.context == Context::Module && owner.split('.').all(super::arguments::is_identifier)
        });
        let Some(owner) = owner else {
            return if self.standins { format!("answer({})", python::string(path)) } else { "object()".into() };
        };
        if self.standins {
            return format!("receiver({}, {})", python::string(path), python::string(&owner));
        }
        let mut parts = owner.split('.');
        let first = python::string(parts.next().unwrap_or_default());
        let class = parts.fold(format!("names[{first}]"), |class, part| format!("{class}.{part}"));
        if path == "self" { format!("{class}.__new__({class})") } else { class }
    }

    /// Answers for all that was decided and is not said elsewhere.
    fn answers(&self, patched: &BTreeMap<String, BTreeSet<String>>) -> Result<BTreeMap<String, String>, String> {
        let mut answers: BTreeMap<String, String> = BTreeMap::new();
        let mut lengths: BTreeMap<String, usize> = BTreeMap::new();
        let roots: BTreeSet<String> = (0..2)
            .filter_map(|version| self.arguments(version).ok())
            .flatten()
            .map(|argument| argument.path)
            .filter(|path| !self.looked_up.contains(path))
            .collect();
        for choice in &self.case.record.choices {
            let path = choice.path.as_str();
            if let Some((base, index)) = item(path) {
                let length = lengths.entry(base.to_string()).or_default();
                *length = (*length).max(index + 1);
            }
            if ["len(*", "stable ", "succeeds "].iter().any(|start| path.starts_with(start))
                || path.contains("' in **")
                || roots.contains(path)
            {
                continue;
            }
            let is_patched = callee(path).is_some_and(|callee| patched.contains_key(callee));
            let value = match &choice.decision {
                Decision::Raise(name) => format!("Raises({})", python::string(name)),
                Decision::Fail => "Raises()".into(),
                Decision::Default => continue,
                Decision::Same(other) => format!("Same({})", python::string(&python::masked(other))),
                Decision::Value(Recipe::Versatile(_)) if !is_patched && !path.contains("(<function ") => continue,
                // The value of a call whose value nobody takes.
                Decision::Value(Recipe::None) if !is_patched && self.is_discarded(path) => continue,
                Decision::Value(recipe) => python::literal(recipe),
            };
            let path = python::masked(path);
            if answers.insert(path.clone(), value.clone()).is_some_and(|known| known != value) {
                return Err(format!("two values have the same path {path} where it is cut off"));
            }
        }
        // Items that were asked for by unpacking say how many there are.
        for (path, length) in lengths {
            let known = self.decisions.contains_key(format!("len({path})").as_str());
            let plain = matches!(self.decisions.get(path.as_str()), Some(Decision::Value(recipe))
                if !matches!(recipe, Recipe::Versatile(_)));
            if !known && !plain && !path.is_empty() {
                answers.insert(format!("len({})", python::masked(&path)), length.to_string());
            }
        }
        Ok(answers)
    }

    fn is_discarded(&self, path: &str) -> bool {
        path.ends_with(')')
            && !path.contains("(<function ")
            && callee(path).is_some()
            && self.case.record.injections.iter().all(|injection| injection.path != path)
    }

    /// Real functions whose results were recorded: by name in access paths, where the code finds them.
    fn patched(&self) -> BTreeMap<String, BTreeSet<String>> {
        let mut patched: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        let recorded = self.case.record.behaviors.iter().flat_map(|behavior| &behavior.calls);
        let callees: BTreeSet<&str> = self
            .decisions
            .keys()
            .filter_map(|path| callee(path))
            .chain(recorded.map(|call| call.callee.as_str()))
            .collect();
        let sites = self.case.sites.iter().flat_map(|table| &table.sites);
        for site in sites.filter(|site| site.kind == SiteKind::Call) {
            let Some(written) = callee(&site.path).filter(|path| path.split('.').all(super::arguments::is_identifier))
            else {
                continue;
            };
            for name in callees.iter().filter(|name| !name.is_empty()) {
                let plain = *name == written && !written.contains('.') && !self.decisions.contains_key(written);
                if plain || written.strip_suffix(name).is_some_and(|rest| rest.ends_with('.')) {
                    patched.entry(name.to_string()).or_default().insert(written.to_string());
                }
            }
        }
        patched.remove("super");
        if self.case.context == Context::Module && slice::is_inner(self.method()) {
            // Methods of the module's own class whose results were recorded.
            for name in callees.into_iter().filter(|name| is_own_method(name)) {
                patched.entry(name.to_string()).or_default();
            }
        }
        patched
    }

    /// The file as a whole.
    fn whole(&mut self, checks: &Checks, test: &str) -> Result<String, String> {
        let case = self.case;
        let [old, new] = [0, 1].map(|side| function_text(&case.functions[side]));
        let modules = [0, 1].map(|side| match (case.context, self.form) {
            (Context::Function, _) => case.modules[side].to_string(),
            (Context::Module, Form::Whole) => case.modules[side].to_string(),
            (Context::Module, _) => slice::needed(case.modules[side], &case.functions[side]),
        });
        let mut main = String::new();
        if modules[0] == modules[1] {
            if !modules[0].is_empty() {
                let _ = writeln!(main, "MODULE = {}\n", python::block(&modules[0]));
            }
        } else {
            let _ = writeln!(main, "OLD_MODULE = {}\n", python::block(&modules[0]));
            let _ = writeln!(main, "NEW_MODULE = {}\n", python::block(&modules[1]));
        }
        let _ = writeln!(main, "OLD = {}\n\nNEW = {}\n", python::block(&old), python::block(&new));
        if self.standins {
            main.push_str(&self.standin_parts(&old, &new, &modules)?);
        }
        if checks.shape.contains("collected(") {
            main.push_str(
                "\n\nasync def collected(items):\n    \"\"\"What an asynchronous generator gives.\"\"\"\n    \
                 return [item async for item in items]\n",
            );
        }
        if checks.shape.contains("Soon(") {
            let _ = writeln!(main, "\n\n{}", part("virtual_time"));
        }
        let _ = write!(main, "\n\n{}\n\n{test}", self.loader(&modules));
        Ok(format!("{}\n{}\n\n{main}", self.header(), imports(&main)))
    }

    fn header(&self) -> String {
        let name = &self.case.functions[1].qualname;
        let difference = self.case.differences.first();
        let what = difference.map_or(String::new(), |difference| {
            let cut = |text: &str| text.chars().take(200).collect::<String>();
            format!("{}: {} with old, {} with new", difference.place, cut(&difference.old), cut(&difference.new))
        });
        let plain: String = format!(
            "The behavior of {name} changed. {what}.\n\nFound by twincell {}, seed {}. It needs pytest, not twincell, \
             and fails on the new version:\n\n    pytest FILE                          the new version\n    \
             TWINCELL_SUBJECT=old pytest FILE     the old version\n    TWINCELL_SUBJECT=path/to/module.py pytest FILE\n",
            env!("CARGO_PKG_VERSION"),
            self.case.seed
        );
        let escaped: String = plain.chars().filter(|c| *c == '\n' || !c.is_control()).collect();
        format!("\"\"\"{}\"\"\"\n", escaped.replace('\\', "\\\\").replace('"', "\\\""))
    }

    /// The function that loads what is tested.
    fn loader(&self, modules: &[String; 2]) -> String {
        let function = self.method();
        // A method's name is no global, also where its class was left out.
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
        text.push_str("\n\ndef load():\n    \"\"\"The function under test.\"\"\"\n");
        if self.standins && !modules.iter().all(String::is_empty) {
            text.push_str("    global loading\n    loading = True\n");
        }
        text.push_str("    if SUBJECT not in ('old', 'new'):\n");
        text.push_str(
            "        with open(SUBJECT) as file:\n            exec(compile(file.read(), SUBJECT, 'exec'), names)\n",
        );
        let found = |version: usize| {
            let path = case_path(&self.case.functions[version]);
            let mut parts = path.iter();
            let first = python::string(parts.next().map_or("", String::as_str));
            parts.fold(format!("names[{first}]"), |found, part| format!("vars({found})[{}]", python::string(part)))
        };
        let _ = writeln!(text, "        found = {}", found(1));
        text.push_str("        found = getattr(found, '__func__', None) or getattr(found, 'fget', None) or found\n");
        if self.standins && !modules.iter().all(String::is_empty) {
            text.push_str("        loading = False\n");
        }
        text.push_str("        return inspect.unwrap(found)\n");
        if !modules.iter().all(String::is_empty) {
            let module =
                if modules[0] == modules[1] { "MODULE" } else { "OLD_MODULE if SUBJECT == 'old' else NEW_MODULE" };
            let failing = self.case.notes.iter().any(|note| note.contains("cannot be evaluated"));
            if failing {
                let _ = writeln!(text, "    for statement in ast.parse({module}).body:");
                text.push_str("        with contextlib.suppress(Exception):  # what cannot be evaluated is left out\n");
                text.push_str("            exec(compile(ast.Module([statement], []), 'module', 'exec'), names)\n");
            } else {
                let _ = writeln!(text, "    exec(compile({module}, 'module', 'exec'), names)");
            }
        }
        if self.standins {
            if !modules.iter().all(String::is_empty) {
                text.push_str("    loading = False\n    mend()\n");
            }
            if self.decisions.keys().any(|path| path.starts_with("isinstance(") || path.starts_with("class(")) {
                text.push_str("    names['isinstance'] = is_instance\n");
            }
            if self.decisions.contains_key("super()") || self.uses("super()") {
                text.push_str("    names['super'] = lambda *_: answer('super()')\n");
            }
            for (name, places) in self.patched() {
                for place in places {
                    let _ = writeln!(text, "    patch({}, {})", python::string(&place), python::string(&name));
                }
            }
        }
        let target = if inner { "scope" } else { "names" };
        if inner {
            text.push_str("    scope = {}\n");
        }
        let place = if inner { "names, scope" } else { "names" };
        let _ = writeln!(text, "    exec(compile(OLD if SUBJECT == 'old' else NEW, SUBJECT, 'exec'), {place})");
        let [old, new] = [0, 1].map(|side| python::string(&self.case.functions[side].name));
        if old == new {
            let _ = writeln!(text, "    return {target}[{new}]");
        } else {
            let _ = writeln!(text, "    return {target}[{old} if SUBJECT == 'old' else {new}]");
        }
        text
    }

    fn uses(&self, word: &str) -> bool {
        self.case.functions.iter().any(|function| function.text.contains(word))
    }

    /// What the code may use of the pure standard library: names with their modules, and what it may import.
    fn pure(&self) -> (Vec<String>, Vec<String>) {
        let modules = PURE_MODULES.iter().map(|&module| (module, ""));
        let used: Vec<(&str, &str)> = modules.chain(PURE_NAMES).filter(|(name, _)| self.uses(name)).collect();
        let imports = PURE_MODULES.iter().chain(&PURE_WHERE_IMPORTED).filter(|name| self.uses(name));
        let entry = |(name, module): &(&str, &str)| format!("{}: {}", python::string(name), python::string(module));
        (used.iter().map(entry).collect(), imports.map(|name| python::string(name)).collect())
    }

    fn has_imports(&self, modules: &[String; 2]) -> bool {
        self.uses("import ") || modules.iter().any(|module| module.contains("import "))
    }

    /// The stand-in class with what this case needs of it.
    fn standin_parts(&self, old: &str, new: &str, modules: &[String; 2]) -> Result<String, String> {
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
                // Names that every object has are answered only where the code asked for them.
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

fn case_path(function: &Function) -> Vec<String> {
    function.qualname.split('.').map(|part| part.split('#').next().unwrap_or(part).to_string()).collect()
}

/// A function's text; private names of a class that it leaves behind are written out.
fn function_text(function: &Function) -> String {
    let Some(class) = function.class_name.as_deref().filter(|_| function.text.contains("__")) else {
        return function.text.clone();
    };
    let parsed = parse(&function.text);
    let mut out = String::with_capacity(function.text.len());
    let mut from = 0;
    for token in parsed.tokens() {
        let range = ruff_text_size::Ranged::range(token);
        let (start, end) = (range.start().to_usize(), range.end().to_usize());
        let name = function.text.get(start..end).unwrap_or("");
        if token.kind() == ruff_python_ast::token::TokenKind::Name && is_private(name) {
            out.push_str(function.text.get(from..start).unwrap_or(""));
            out.push_str(&mangle(name, Some(class)));
            from = end;
        }
    }
    out.push_str(function.text.get(from..).unwrap_or(""));
    out
}

/// `import` lines for the modules that a file names.
fn imports(text: &str) -> String {
    const MODULES: [&str; 12] = [
        "ast",
        "asyncio",
        "builtins",
        "contextlib",
        "functools",
        "inspect",
        "io",
        "itertools",
        "logging",
        "os",
        "types",
        "warnings",
    ];
    // What stands in the texts of the functions is not this file's.
    let code: String = python_only(text);
    let mut lines: Vec<String> = MODULES
        .iter()
        .filter(|name| {
            code.match_indices(&format!("{name}.")).any(|(at, _)| {
                !code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == '.' || c == '\'')
            }) || code.contains(&format!("({name})"))
                || code.contains(&format!("({name}, "))
        })
        .map(|name| format!("import {name}"))
        .collect();
    if code.contains("pytest.") {
        lines.push("\nimport pytest".into());
    }
    // Compiled texts follow suit: annotations name what is not there.
    lines.insert(0, "from __future__ import annotations\n".into());
    lines.join("\n")
}

/// A text without its triple-quoted strings.
fn python_only(text: &str) -> String {
    let parsed = parse(text);
    let mut out = String::new();
    let mut from = 0;
    for token in parsed.tokens() {
        if token.kind() == ruff_python_ast::token::TokenKind::String {
            let range = ruff_text_size::Ranged::range(token);
            out.push_str(text.get(from..range.start().to_usize()).unwrap_or(""));
            from = range.end().to_usize();
        }
    }
    out.push_str(text.get(from..).unwrap_or(""));
    out
}

/// An answer that needs a class of the file.
fn is_deferred(value: &str) -> bool {
    value.starts_with("Raises(") || value.starts_with("Same(")
}

/// `self.name`.
fn is_own_method(callee: &str) -> bool {
    let name = callee.strip_prefix("self.").or_else(|| callee.strip_prefix("cls."));
    name.is_some_and(super::arguments::is_identifier)
}

/// `x`, 2 of `x[2]`.
fn item(path: &str) -> Option<(&str, usize)> {
    let (base, index) = path.strip_suffix(']')?.rsplit_once('[')?;
    Some((base, index.parse().ok()?))
}

/// What is called by the call that a path ends in, `raise ` and a number of repetition aside.
fn callee(path: &str) -> Option<&str> {
    let path = path.strip_prefix("raise ").unwrap_or(path);
    let path = match path.rsplit_once('#') {
        Some((head, number)) if number.bytes().all(|byte| byte.is_ascii_digit()) => head,
        _ => path,
    };
    const OWN: [&str; 12] =
        ["bool", "len", "int", "order", "isinstance", "class", "hasattr", "iter", "next", "result", "await", "truth"];
    if !path.ends_with(')') {
        // Cut off.
        let start = path.find('(')?;
        return path.contains('~').then(|| &path[..start]).filter(|name| !name.is_empty() && !OWN.contains(name));
    }
    let mut depth = 0;
    for (at, character) in path.char_indices().rev() {
        match character {
            ')' | ']' => depth += 1,
            '(' | '[' => {
                depth -= 1;
                if depth == 0 {
                    return Some(&path[..at]).filter(|name| !name.is_empty() && !OWN.contains(name));
                }
            }
            _ => {}
        }
    }
    None
}
