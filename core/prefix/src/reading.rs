//! What a snippet tells before it runs: the names it does not define, what it takes for classes, and what it imports.

use std::collections::{BTreeMap, BTreeSet};

use ruff_python_ast::visitor::{Visitor, walk_annotation, walk_except_handler, walk_expr, walk_stmt};
use ruff_python_ast::{ExceptHandler, Expr, ExprCall, Stmt, StmtTry};

use twincell_sketch::Sketch;
use twincell_syntax::parse::{parse, with_stack_for};
use twincell_syntax::python::{is_builtin, is_builtin_exception, is_identifier};
use twincell_syntax::scopes::Bindings;
use twincell_syntax::{Snippet, dotted, snippet, used_names, without_escapes};

use crate::flags::flags;
use crate::import::{Import, Imported};
use crate::known;
use crate::signatures::Signatures;

/// The name of a file's own path.
pub(crate) const OWN_PATH: &str = "__file__";

/// The outermost package that relative imports are taken to reach.
const PACKAGE: &str = "package";

/// The package that is so many levels below it.
fn package_below(levels: u32) -> String {
    PACKAGE.to_owned() + &".part".repeat(levels as usize)
}

/// A snippet, read.
#[derive(Debug, Clone)]
pub(crate) struct Reading {
    pub(crate) snippet: Snippet,
    /// The names that it reads and binds nowhere, sorted.
    pub(crate) undefined: Vec<String>,
    /// What its top level binds.
    pub(crate) bound: Bindings,
    /// The imports that give undefined names the meaning that everybody knows.
    pub(crate) imports: BTreeSet<Import>,
    /// Dotted names of exception classes: those that it raises or catches.
    pub(crate) exceptions: BTreeSet<String>,
    /// Dotted names of other classes: bases, and what `isinstance` names.
    pub(crate) classes: BTreeSet<String>,
    /// Dotted names of what its annotations name and nothing but them.
    pub(crate) types: BTreeSet<String>,
    /// Dotted names of values that it raises.
    pub(crate) raised: BTreeSet<String>,
    /// The names that imports bind, its own and those of [`Self::imports`].
    pub(crate) imported: BTreeMap<String, Imported>,
    /// Dotted names of objects whose attributes it assigns.
    pub(crate) assigned: BTreeSet<String>,
    /// The package that the snippet is a module of, if it has relative imports.
    pub(crate) package: Option<String>,
    /// The names of all attributes that it asks for.
    pub(crate) attributes: BTreeSet<String>,
    /// The modules that it does without where they cannot be imported.
    pub(crate) guarded: BTreeSet<String>,
    /// How the names of files end that it looks for: `.txt`.
    pub(crate) ending: Option<String>,
    /// What it says that parts the cells of a line.
    pub(crate) separator: Option<char>,
    /// What it calls to leave the program, by dotted name.
    pub(crate) exits: BTreeSet<String>,
    /// It calls `range`, with its usual meaning or that of Python 2.
    pub(crate) has_ranges: bool,
    /// It has a `with` statement.
    pub(crate) has_with: bool,
    /// This package lies around it.
    pub(crate) is_in_real_package: bool,
    /// It reads `sys.argv`.
    pub(crate) has_arguments: bool,
    /// It reads `__file__`, which only files have.
    pub(crate) has_own_path: bool,
    /// It reads `os.environ`.
    pub(crate) has_environment: bool,
    /// It uses `super()` outside of classes, where Python gives it no meaning.
    pub(crate) has_bare_super: bool,
    /// `super()` is asked for nothing but `__init__`.
    pub(crate) only_initialises: bool,
    /// The names of classes that are asked to initialise something: `Base.__init__(self)`.
    pub(crate) initialised: BTreeSet<String>,
    /// It awaits outside of functions, as cells of notebooks may.
    pub(crate) awaits: bool,
    /// Names of which it asks nothing but whether they are true.
    pub(crate) flags: BTreeSet<String>,
    /// How it calls functions.
    pub(crate) signatures: Signatures,
    /// What the text says of its values.
    pub(crate) sketch: Sketch,
}

/// Whether a text awaits outside of functions, as cells of notebooks may.
pub(crate) fn awaits(text: &str) -> bool {
    with_stack_for(text.len(), || {
        let mut names = Names::default();
        names.visit_body(parse(text).suite());
        names.awaits
    })
}

impl Reading {
    /// Reads a text. Magics of notebooks are left out, on their lines.
    pub(crate) fn new(text: &str) -> Self {
        Self::within(text, "")
    }

    /// The same for the text of a module of a package. Empty for none.
    pub(crate) fn within(text: &str, package: &str) -> Self {
        let plain = without_escapes(text);
        let snippet = snippet(plain.as_deref().unwrap_or(text));
        let text = &snippet.function.text;
        let mut names = Names::default();
        let (bound, flags, signatures) = with_stack_for(text.len(), || {
            let parsed = parse(text);
            names.visit_body(parsed.suite());
            (Bindings::of_body(parsed.suite()), flags(parsed.suite()), Signatures::of(parsed.suite()))
        });
        let is_free = |name: &String| is_identifier(name) && !bound.is_local(name) && !is_builtin(name);
        let undefined: Vec<String> = used_names(text).free.into_iter().filter(is_free).collect();
        let import = |name: &String| {
            let used = names.attributes.iter().filter(|(of, _)| of == name).map(|(_, attribute)| attribute.as_str());
            // What the snippet hands to a function of its own is a value: `f(count)`.
            let is_called = names.called.contains(name) || name.starts_with(char::is_uppercase);
            let is_handed = names.handed.iter().any(|(callee, given)| given == name && bound.is_local(callee));
            let used = used.collect::<Vec<_>>();
            if is_handed && !is_called && used.is_empty() {
                return None;
            }
            let is_function = names.called.contains(name) && used.is_empty();
            known::import(name, &used, names.plainly.contains(name))
                .or_else(|| known::function_of_module(name, is_function))
        };
        let imports: BTreeSet<Import> = undefined.iter().filter_map(import).collect();
        // The import that goes up most reaches the outermost package, unless there is a real one.
        let highest = names.relative.iter().map(|import| import.level).max();
        let real = Some(package).filter(|package| !package.is_empty());
        let real = real.filter(|real| highest.is_some_and(|highest| real.split('.').count() >= highest as usize));
        let package = real.map(str::to_owned).or(highest.map(|highest| package_below(highest - 1)));
        let mut imported = names.imported;
        imported.extend(names.relative.into_iter().map(|import| {
            let package = package.iter().flat_map(|package| package.split('.'));
            let kept = package.clone().count().saturating_sub(import.level as usize - 1);
            let package = package.take(kept).collect::<Vec<_>>().join(".");
            let module = import.module.map_or_else(|| package.clone(), |inner| format!("{package}.{inner}"));
            (import.bound, Imported { module, name: Some(import.name) })
        }));
        imported.extend(imports.iter().map(|import| (import.bound().to_owned(), import.target())));
        // Names say that what is nowhere raised is an exception, too: the category of a warning.
        let is_exception = |name: &&String| name.starts_with(char::is_uppercase) && known::is_exception(name);
        let mut exceptions = names.exceptions;
        exceptions.extend(undefined.iter().filter(is_exception).cloned());
        let exits = with_stack_for(text.len(), || exits(parse(text).suite(), &names.callees, &imported, &bound));
        let has_ranges = ["range", "xrange"].iter().any(|name| names.called.contains(*name) && !bound.is_local(name));
        let asks = |name: &str, attribute: &str| names.attributes.contains(&(name.to_owned(), attribute.to_owned()));
        Self {
            imported,
            undefined,
            bound,
            exceptions,
            types: {
                let is_only_named = |name: &String| {
                    let root = name.split('.').next().unwrap_or_default();
                    !names.valued.contains(root) && !names.classes.contains(name)
                };
                names.types.into_iter().filter(is_only_named).collect()
            },
            classes: names.classes,
            is_in_real_package: real.is_some(),
            package,
            has_arguments: asks("sys", "argv"),
            exits,
            has_ranges,
            has_own_path: names.plainly.contains(OWN_PATH) || names.attributes.iter().any(|(of, _)| of == OWN_PATH),
            has_with: names.has_with,
            guarded: names.guarded,
            ending: names.ending,
            separator: names.separators.chosen(),
            has_environment: asks("os", "environ"),
            raised: names.raised,
            attributes: names.all_attributes,
            assigned: names.assigned,
            has_bare_super: names.bare_super,
            only_initialises: names.supers == names.plain_supers,
            initialised: names.initialised,
            awaits: names.awaits,
            flags,
            signatures,
            sketch: Sketch::read(text, &imports.iter().map(|import| format!("{import}\n")).collect::<String>()),
            imports,
            snippet,
        }
    }

    pub(crate) fn text(&self) -> &str {
        &self.snippet.function.text
    }
}

/// Whether imports that fail are handled. What handles all exceptions may be there for something else than imports.
fn handles_imports(guard: &StmtTry) -> bool {
    let is_import = |statement: &Stmt| matches!(statement, Stmt::Import(_) | Stmt::ImportFrom(_) | Stmt::Assign(_));
    let has_only_imports = guard.body.iter().all(is_import);
    let is_of_imports = |class: &Expr| match dotted(class).as_deref() {
        Some("ImportError" | "ModuleNotFoundError") => true,
        Some("Exception") => has_only_imports,
        _ => false,
    };
    guard.handlers.iter().any(|handler| {
        let ExceptHandler::ExceptHandler(node) = handler;
        match node.type_.as_deref() {
            Some(Expr::Tuple(classes)) => classes.elts.iter().any(is_of_imports),
            Some(class) => is_of_imports(class),
            None => has_only_imports,
        }
    })
}

/// The modules that a statement imports.
fn modules_of(statement: &Stmt) -> Vec<String> {
    match statement {
        Stmt::Import(import) => import.names.iter().map(|alias| alias.name.to_string()).collect(),
        Stmt::ImportFrom(import) if import.level == 0 => {
            import.module.iter().map(std::string::ToString::to_string).collect()
        }
        _ => vec![],
    }
}

/// `from ..module import name as bound`
struct Relative {
    bound: String,
    level: u32,
    module: Option<String>,
    name: String,
}

#[derive(Default)]
struct Names {
    exceptions: BTreeSet<String>,
    classes: BTreeSet<String>,
    types: BTreeSet<String>,
    /// The names that stand outside of annotations.
    valued: BTreeSet<String>,
    in_annotation: bool,
    raised: BTreeSet<String>,
    imported: BTreeMap<String, Imported>,
    relative: Vec<Relative>,
    /// (name, attribute that is read or assigned).
    attributes: BTreeSet<(String, String)>,
    /// The names of attributes, whatever they are asked of.
    all_attributes: BTreeSet<String>,
    has_with: bool,
    guarded: BTreeSet<String>,
    ending: Option<String>,
    separators: Separators,
    /// Names that stand by themselves: called, passed, compared.
    plainly: BTreeSet<String>,
    assigned: BTreeSet<String>,
    /// Names that are called.
    called: BTreeSet<String>,
    /// The dotted names of all that is called.
    callees: BTreeSet<String>,
    /// (first name of what is called, name that it is given).
    handed: BTreeSet<(String, String)>,
    /// `super()` outside of classes, where Python gives it no meaning.
    bare_super: bool,
    /// The number of calls of `super()`, and of those that only initialise: `super().__init__()`.
    supers: u32,
    plain_supers: u32,
    /// The names of classes that are asked to initialise something: `Base.__init__(self)`.
    initialised: BTreeSet<String>,
    in_class: bool,
    /// The number of functions around.
    depth: u32,
    awaits: bool,
}

impl Names {
    fn exception(&mut self, class: &Expr) {
        match class {
            Expr::Tuple(classes) => classes.elts.iter().for_each(|class| self.exception(class)),
            Expr::Call(call) => self.exception(&call.func),
            other => {
                if let Some(name) = dotted(other).filter(|name| !is_builtin_exception(name)) {
                    self.exceptions.insert(name);
                }
            }
        }
    }

    fn class(&mut self, class: &Expr) {
        match class {
            Expr::Tuple(classes) => classes.elts.iter().for_each(|class| self.class(class)),
            other => {
                if let Some(name) = dotted(other).filter(|name| !is_builtin(name)) {
                    self.classes.insert(name);
                }
            }
        }
    }
}

impl Names {
    /// What an annotation names. What it subscripts is left out, since it has to be able to do that.
    fn annotation(&mut self, annotation: &Expr) {
        match annotation {
            Expr::Subscript(node) => self.annotation(&node.slice),
            Expr::BinOp(node) => {
                self.annotation(&node.left);
                self.annotation(&node.right);
            }
            Expr::Tuple(node) => node.elts.iter().for_each(|inner| self.annotation(inner)),
            Expr::List(node) => node.elts.iter().for_each(|inner| self.annotation(inner)),
            other => {
                self.types.extend(dotted(other).filter(|name| !is_builtin(name)));
            }
        }
    }
}

impl Visitor<'_> for Names {
    fn visit_annotation(&mut self, annotation: &Expr) {
        self.annotation(annotation);
        let outer = std::mem::replace(&mut self.in_annotation, true);
        walk_annotation(self, annotation);
        self.in_annotation = outer;
    }

    fn visit_stmt(&mut self, statement: &Stmt) {
        let outer = self.in_class;
        let is_function = matches!(statement, Stmt::FunctionDef(_));
        match statement {
            Stmt::For(node) => self.awaits |= node.is_async && self.depth == 0,
            Stmt::With(node) => {
                self.awaits |= node.is_async && self.depth == 0;
                self.has_with = true;
            }
            Stmt::Raise(raise) => match raise.exc.as_deref() {
                Some(value) if dotted(value).is_some() && !is_class(value) => self.raised.extend(dotted(value)),
                Some(class) => self.exception(class),
                None => {}
            },
            Stmt::Try(guard) if handles_imports(guard) => {
                self.guarded.extend(guard.body.iter().flat_map(modules_of));
            }
            Stmt::Import(import) => {
                for alias in &import.names {
                    let whole = alias.name.to_string();
                    // `import a.b` binds `a`.
                    let (bound, module) = match &alias.asname {
                        Some(name) => (name.to_string(), whole),
                        None => {
                            let first = whole.split('.').next().unwrap_or(&whole).to_owned();
                            (first.clone(), first)
                        }
                    };
                    self.imported.insert(bound, Imported { module, name: None });
                }
            }
            Stmt::ImportFrom(import) => {
                let module = import.module.as_ref().map(ToString::to_string);
                for alias in &import.names {
                    let bound = alias.asname.as_ref().unwrap_or(&alias.name).to_string();
                    let name = alias.name.to_string();
                    if import.level > 0 {
                        self.relative.push(Relative { bound, level: import.level, module: module.clone(), name });
                    } else {
                        let module = module.clone().unwrap_or_default();
                        self.imported.insert(bound, Imported { module, name: Some(name) });
                    }
                }
            }
            Stmt::ClassDef(class) => {
                self.in_class = true;
                let is_exception = |base: &Expr| dotted(base).is_some_and(|name| known::is_exception(&name));
                for base in class.bases() {
                    if is_exception(base) { self.exception(base) } else { self.class(base) }
                }
            }
            _ => {}
        }
        self.depth += u32::from(is_function);
        walk_stmt(self, statement);
        self.depth -= u32::from(is_function);
        self.in_class = outer;
    }

    fn visit_except_handler(&mut self, handler: &ExceptHandler) {
        let ExceptHandler::ExceptHandler(node) = handler;
        if let Some(class) = &node.type_ {
            self.exception(class);
        }
        walk_except_handler(self, handler);
    }

    fn visit_expr(&mut self, expression: &Expr) {
        // What an annotation calls or goes through is a value: `In [2]: sum(x)`.
        let outer = self.in_annotation;
        self.in_annotation &= !matches!(expression, Expr::Call(_) | Expr::ListComp(_) | Expr::Generator(_));
        self.visit_inner(expression);
        self.in_annotation = outer;
    }
}

impl Names {
    fn visit_inner(&mut self, expression: &Expr) {
        match expression {
            Expr::Attribute(attribute) => {
                self.all_attributes.insert(attribute.attr.to_string());
                if attribute.ctx.is_store() || attribute.attr.as_str() == "__dict__" {
                    self.assigned.extend(dotted(&attribute.value));
                }
                if let Expr::Name(name) = attribute.value.as_ref() {
                    if !self.in_annotation {
                        self.valued.insert(name.id.to_string());
                    }
                    self.attributes.insert((name.id.to_string(), attribute.attr.to_string()));
                    return;
                }
            }
            Expr::StringLiteral(text) if self.ending.is_none() => {
                self.ending = ending(text.value.to_str()).map(str::to_owned);
            }
            Expr::Await(_) => self.awaits |= self.depth == 0,
            Expr::Name(name) => {
                if !self.in_annotation {
                    self.valued.insert(name.id.to_string());
                }
                self.plainly.insert(name.id.to_string());
            }
            Expr::Call(call) => {
                let name = call.func.as_name_expr().map(|name| name.id.as_str());
                self.called.extend(name.map(str::to_owned));
                let callee = dotted(&call.func).unwrap_or_default();
                self.callees.insert(callee.clone());
                if let (true, Some(class)) = (callee.ends_with(".__new__"), call.arguments.args.first()) {
                    self.class(class);
                }
                if let Expr::Attribute(attribute) = call.func.as_ref()
                    && attribute.attr.as_str() == "__init__"
                {
                    match attribute.value.as_ref() {
                        Expr::Name(class) if !is_builtin(&class.id) => {
                            self.class(&attribute.value);
                            self.initialised.insert(class.id.to_string());
                        }
                        Expr::Call(above) if above.func.as_name_expr().is_some_and(|name| name.id == "super") => {
                            self.plain_supers += 1;
                        }
                        _ => {}
                    }
                }
                let callee = callee.split('.').next().unwrap_or_default();
                for given in call.arguments.args.iter().filter_map(Expr::as_name_expr) {
                    self.handed.insert((callee.to_owned(), given.id.to_string()));
                }
                self.separators.see(call);
                match (name, &*call.arguments.args) {
                    (Some("vars"), [of]) => self.assigned.extend(dotted(of)),
                    (Some("isinstance" | "issubclass"), [_, class]) => self.class(class),
                    (Some("cast"), [class, _]) => self.class(class),
                    (Some("TypeVar"), _) => {
                        let bound = call.arguments.keywords.iter().filter(|keyword| keyword.arg.is_some());
                        bound.for_each(|keyword| self.class(&keyword.value));
                    }
                    (Some("super"), _) => {
                        self.bare_super |= !self.in_class;
                        self.supers += 1;
                    }
                    _ => {}
                }
            }
            _ => {}
        }
        walk_expr(self, expression);
    }
}

/// What leaves the program among what is called, if the snippet leaves it in its middle whatever happens.
fn exits(
    body: &[Stmt],
    callees: &BTreeSet<String>,
    imported: &BTreeMap<String, Imported>,
    bound: &Bindings,
) -> BTreeSet<String> {
    const EXITS: &[&str] = &["exit", "quit", "sys.exit", "os._exit"];
    let target = |callee: &str| {
        let (root, rest) = callee.split_at(callee.find('.').unwrap_or(callee.len()));
        let target = match imported.get(root) {
            Some(Imported { module, name: Some(name) }) => format!("{module}.{name}{rest}"),
            Some(Imported { module, name: None }) => format!("{module}{rest}"),
            None if bound.is_local(root) => return None,
            None => callee.to_owned(),
        };
        EXITS.contains(&target.as_str()).then_some(target)
    };
    let leaves = |statement: &Stmt| match statement {
        Stmt::Expr(node) => match node.value.as_ref() {
            Expr::Call(call) => dotted(&call.func).is_some_and(|callee| target(&callee).is_some()),
            _ => false,
        },
        _ => false,
    };
    let Some((_, before)) = body.split_last() else { return BTreeSet::new() };
    if !before.iter().any(leaves) {
        return BTreeSet::new();
    }
    callees.iter().filter_map(|callee| target(callee)).collect()
}

/// What separates the cells of tables, as far as a call tells: `csv.reader(file, delimiter='\t')`, `line.split(';')`.
#[derive(Default)]
struct Separators {
    /// Of what reads tables.
    of_readers: Option<char>,
    has_reader: bool,
    of_splits: Option<char>,
}

impl Separators {
    fn see(&mut self, call: &ExprCall) {
        const READERS: &[&str] = &["reader", "DictReader", "read_csv", "read_table", "loadtxt", "genfromtxt"];
        let is_named = |name: &str| matches!(name, "delimiter" | "sep");
        let named = || {
            let keywords = &call.arguments.keywords;
            keywords.iter().find(|keyword| keyword.arg.as_ref().is_some_and(|name| is_named(name.as_str())))
        };
        let callee = match call.func.as_ref() {
            Expr::Attribute(attribute) => attribute.attr.as_str(),
            Expr::Name(name) => name.id.as_str(),
            _ => return,
        };
        if READERS.contains(&callee) {
            self.has_reader = true;
            let own = named().and_then(|keyword| separator(&keyword.value));
            self.of_readers = self.of_readers.or(own);
        }
        let is_of_literal = call.func.as_attribute_expr().is_none_or(|of| of.value.is_string_literal_expr());
        if callee == "split" && !is_of_literal {
            self.of_splits = self.of_splits.or(call.arguments.args.first().and_then(separator));
        }
    }

    fn chosen(&self) -> Option<char> {
        self.of_readers.or(self.of_splits.filter(|_| !self.has_reader))
    }
}

/// How the names of files end of which a text speaks: `.txt` for `.txt` and for `*.txt`.
pub(crate) fn ending(text: &str) -> Option<&str> {
    let (before, ending) = text.rsplit_once('.')?;
    let is_ending = (1..=5).contains(&ending.len()) && ending.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let is_all = before.is_empty() || before.ends_with('*');
    (is_ending && is_all).then(|| &text[before.len()..])
}

fn separator(value: &Expr) -> Option<char> {
    let mut characters = value.as_string_literal_expr()?.value.to_str().chars();
    let only = characters.next().filter(|_| characters.next().is_none())?;
    [',', ';', '\t', '|'].contains(&only).then_some(only)
}

/// Whether a name is written as those of classes are.
fn is_class(expression: &Expr) -> bool {
    dotted(expression)
        .is_some_and(|name| name.rsplit('.').next().is_some_and(|last| last.starts_with(char::is_uppercase)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_separated_as_what_reads_them_says() {
        let of = |text: &str| Reading::new(text).separator;
        assert_eq!(of("csv.reader(file, delimiter='\t')\nprint(1, 2, sep='|')\n"), Some('\t'));
        assert_eq!(of("path.split('|')\npd.read_csv(file)\n"), None);
        assert_eq!((of("line.split(';')\n"), of("'a|b'.split('|')\n")), (Some(';'), None));
    }

    #[test]
    fn only_what_stands_as_a_type_in_an_annotation_is_one() {
        let reading = Reading::new("In [1]: rows=[1]\nIn [2]: sum(rows)\ndef first(x: Page) -> list[Row]:\n    pass\n");
        assert_eq!(reading.types.into_iter().collect::<Vec<_>>(), ["Page", "Row"]);
    }
}
