//! Statements -> what they use by name: names of the module, attributes, texts, imports in functions, and what is not in the
//! text at all.

use std::collections::{BTreeMap, BTreeSet};

use ruff_python_ast::visitor::source_order::{self, SourceOrderVisitor};
use ruff_python_ast::{
    Comprehension, Decorator, Expr, ExprCall, InterpolatedStringElement, Pattern, Stmt, StringLiteral,
};
use ruff_text_size::Ranged;
use twincell_syntax::scopes::Bindings;

use super::names::{NameId, Names};

/// What an import names: `from .a import b` has level 1, `a` and `b`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct ImportPath {
    pub level: u32,
    pub module: NameId,
    /// Nothing for `import a`.
    pub name: Option<NameId>,
    /// Whether a name stands for the whole path: `import a.b as c`.
    pub is_whole: bool,
}

/// What is used and not named.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Unnamed {
    /// A module, whose name begins with a text.
    Module(Option<NameId>),
    /// An attribute, whose name begins with a text.
    Attribute(Option<NameId>),
    /// Fixtures, whose names are not in the text.
    Fixture,
    /// Anything.
    Code,
}

/// What a piece of code uses.
#[derive(Debug, Default)]
pub(super) struct Uses {
    /// Names that no scope of the piece binds.
    pub names: BTreeSet<NameId>,
    /// Such names with attributes.
    pub chains: BTreeSet<Vec<NameId>>,
    pub attributes: BTreeSet<NameId>,
    /// Imports in functions, each with the attributes that are read of what it binds.
    pub imports: BTreeSet<(ImportPath, Vec<NameId>)>,
    /// Texts that are one identifier.
    pub words: BTreeSet<NameId>,
    /// Dotted names in texts.
    pub dotted: BTreeSet<NameId>,
    /// All texts that are not long.
    pub texts: BTreeSet<NameId>,
    pub unnamed: BTreeSet<(Unnamed, u32)>,
    pub reads_docs: bool,
    pub reads_annotations: bool,
    pub reads_source: bool,
    /// What is called: names with attributes, and nothing for other expressions.
    pub callees: BTreeSet<Option<Vec<NameId>>>,
}

/// The longest text that may name a file.
const MAX_TEXT: usize = 300;
const DOC_READERS: [&str; 8] =
    ["__doc__", "getdoc", "doctest", "pydoc", "DocTestSuite", "DocTestRunner", "DocTestFinder", "testmod"];
const ANNOTATION_READERS: [&str; 7] = [
    "__annotations__",
    "get_type_hints",
    "signature",
    "getfullargspec",
    "getargspec",
    "get_annotations",
    "__signature__",
];
const SOURCE_READERS: [&str; 7] =
    ["getsource", "getsourcelines", "findsource", "co_firstlineno", "f_lineno", "tb_lineno", "linecache"];
const IMPORTERS: [&str; 16] = [
    "import_module",
    "__import__",
    "load_source",
    "load_module",
    "spec_from_file_location",
    "run_path",
    "run_module",
    "exec_module",
    "find_spec",
    "find_module",
    "resolve_name",
    "walk_packages",
    "iter_modules",
    "find_packages",
    "SourceFileLoader",
    "importorskip",
];
/// What gives all that a module, a class or an object has.
const NAMESPACES: [&str; 5] = ["globals", "locals", "vars", "dir", "__subclasses__"];
/// What makes functions that read an attribute.
const GETTERS: [&str; 2] = ["attrgetter", "methodcaller"];
const ATTRIBUTE_READERS: [&str; 6] = ["getattr", "hasattr", "setattr", "delattr", "attrgetter", "methodcaller"];
const EVALUATORS: [&str; 3] = ["exec", "eval", "compile"];

pub(super) struct Reader<'n> {
    pub names: &'n mut Names,
    pub uses: Uses,
    scopes: Vec<(Bindings, BTreeMap<String, ImportPath>)>,
    /// The line of an offset.
    line_of: &'n dyn Fn(u32) -> u32,
    /// Names are attributes, too: those of a class's body.
    pub in_class: bool,
}

impl<'n> Reader<'n> {
    pub fn new(names: &'n mut Names, line_of: &'n dyn Fn(u32) -> u32) -> Self {
        Self { names, uses: Uses::default(), scopes: Vec::new(), line_of, in_class: false }
    }

    /// Reads a piece of code with the names of a scope.
    pub fn within(&mut self, bindings: Bindings, read: impl FnOnce(&mut Self)) {
        self.scopes.push((bindings, BTreeMap::new()));
        read(self);
        self.scopes.pop();
    }

    /// What a name is: nothing for a name of the module.
    fn local(&self, name: &str) -> Option<Option<&ImportPath>> {
        for (bindings, imports) in self.scopes.iter().rev() {
            if bindings.globals.contains(name) {
                return None;
            }
            if bindings.is_local(name) {
                return Some(imports.get(name));
            }
        }
        None
    }

    fn word(&mut self, name: &str) {
        self.uses.reads_docs |= DOC_READERS.contains(&name);
        self.uses.reads_annotations |= ANNOTATION_READERS.contains(&name);
        self.uses.reads_source |= SOURCE_READERS.contains(&name);
    }

    fn attribute(&mut self, name: &str) {
        self.word(name);
        let id = self.names.id(name);
        self.uses.attributes.insert(id);
    }

    fn chain(&mut self, root: &str, attributes: &[&str]) {
        // The docstring of the module is a variable of it.
        if root != "__doc__" {
            self.word(root);
        }
        attributes.iter().for_each(|name| self.word(name));
        match self.local(root).map(|import| import.cloned()) {
            None => {
                let mut ids = vec![self.names.id(root)];
                ids.extend(attributes.iter().map(|name| self.names.id(name)));
                if self.in_class {
                    self.uses.attributes.extend(ids.iter().copied());
                }
                match ids.len() {
                    1 => drop(self.uses.names.insert(ids[0])),
                    _ => drop(self.uses.chains.insert(ids)),
                }
            }
            Some(Some(import)) => {
                let ids = attributes.iter().map(|name| self.names.id(name)).collect();
                self.uses.imports.insert((import, ids));
            }
            Some(None) => attributes.iter().for_each(|name| self.attribute(name)),
        }
    }

    /// A text that the code holds: it may name things.
    fn text(&mut self, text: &str) {
        let has_code = text.contains("import ");
        if text.len() <= MAX_TEXT && !text.is_empty() {
            let id = self.names.id(text);
            self.uses.texts.insert(id);
        }
        let is_part = |one: char| one.is_alphanumeric() || one == '_' || one == '.';
        let is_one = text.chars().all(is_part);
        for token in text.split(|one: char| !is_part(one)) {
            let token = token.trim_matches('.');
            if token.is_empty() || token.starts_with(|one: char| one.is_ascii_digit()) {
                continue;
            }
            if token.contains('.') {
                let id = self.names.id(token);
                self.uses.dotted.insert(id);
                // `attrgetter("a.b")`.
                if is_one {
                    for part in token.split('.') {
                        let id = self.names.id(part);
                        self.uses.words.insert(id);
                    }
                }
            }
            if is_one || has_code || text.len() <= MAX_TEXT && text.contains([':', '/', ' ']) && !text.contains('\n') {
                let is_name = !token.contains('.');
                if is_name && (is_one || has_code || text.contains(':')) {
                    self.word(token);
                    let id = self.names.id(token);
                    self.uses.words.insert(id);
                }
            }
        }
    }

    /// What a value surely begins with, if it is a text; an empty one where nothing is known. `None` for a whole literal.
    fn prefix(&mut self, value: Option<&Expr>) -> Option<Option<NameId>> {
        let text = match value {
            Some(Expr::StringLiteral(_)) => return None,
            Some(Expr::BinOp(operation)) => match operation.left.as_ref() {
                Expr::StringLiteral(left) => left.value.to_str().split('%').next().unwrap_or_default().to_owned(),
                Expr::BinOp(_) => match self.prefix(Some(&operation.left))? {
                    Some(prefix) => self.names.text(prefix).to_string(),
                    None => String::new(),
                },
                _ => String::new(),
            },
            Some(Expr::FString(text)) => match text.value.elements().next() {
                Some(InterpolatedStringElement::Literal(first)) => first.value.to_string(),
                _ => String::new(),
            },
            Some(Expr::Call(call)) => match call.func.as_ref() {
                Expr::Attribute(format) if &format.attr == "format" => match format.value.as_ref() {
                    Expr::StringLiteral(text) => text.value.to_str().split('{').next().unwrap_or_default().to_owned(),
                    _ => String::new(),
                },
                _ => String::new(),
            },
            _ => String::new(),
        };
        Some((!text.is_empty()).then(|| self.names.id(&text)))
    }

    fn call(&mut self, call: &ExprCall) {
        let callee = match call.func.as_ref() {
            Expr::Name(name) => name.id.as_str(),
            Expr::Attribute(attribute) => attribute.attr.as_str(),
            _ => "",
        };
        let chain = dotted(generic(&call.func));
        let root = chain.map(|(root, attributes)| {
            let mut ids = vec![self.names.id(root)];
            ids.extend(attributes.iter().map(|name| self.names.id(name)));
            ids
        });
        self.uses.callees.insert(root);
        let line = (self.line_of)(call.range().start().to_u32());
        let first = call.arguments.args.first();
        if IMPORTERS.contains(&callee) {
            if let Some(prefix) = self.prefix(first) {
                self.uses.unnamed.insert((Unnamed::Module(prefix), line));
            }
        } else if callee == "getfixturevalue" {
            if self.prefix(first).is_some() {
                self.uses.unnamed.insert((Unnamed::Fixture, line));
            }
        } else if NAMESPACES.contains(&callee) {
            self.uses.unnamed.insert((Unnamed::Attribute(None), line));
        } else if ATTRIBUTE_READERS.contains(&callee)
            && (GETTERS.contains(&callee) || matches!(call.func.as_ref(), Expr::Name(_)))
        {
            let named = match callee {
                getter if GETTERS.contains(&getter) => first,
                _ => call.arguments.args.get(1),
            };
            if let Some(prefix) = self.prefix(named) {
                self.uses.unnamed.insert((Unnamed::Attribute(prefix), line));
            }
        } else if EVALUATORS.contains(&callee)
            && matches!(call.func.as_ref(), Expr::Name(_))
            && !matches!(first, Some(Expr::StringLiteral(_)))
        {
            self.uses.unnamed.insert((Unnamed::Code, line));
        }
    }
}

/// `Cart` of `Cart[int]`.
pub(super) fn generic(expr: &Expr) -> &Expr {
    match expr {
        Expr::Subscript(subscript) => &subscript.value,
        expr => expr,
    }
}

/// A name with attributes.
pub(super) fn dotted(expr: &Expr) -> Option<(&str, Vec<&str>)> {
    let mut attributes = Vec::new();
    let mut expr = expr;
    loop {
        match expr {
            Expr::Name(name) => {
                attributes.reverse();
                return Some((name.id.as_str(), attributes));
            }
            Expr::Attribute(attribute) => {
                attributes.push(attribute.attr.as_str());
                expr = &attribute.value;
            }
            _ => return None,
        }
    }
}

/// What has a docstring that is written `x.__doc__`.
fn doc_holder(expr: &Expr) -> Option<&Expr> {
    match expr {
        Expr::Attribute(attribute) if &attribute.attr == "__doc__" => Some(&attribute.value),
        _ => None,
    }
}

/// What the imports of a statement bind.
pub(super) fn imported(stmt: &Stmt, names: &mut Names) -> Vec<(String, ImportPath)> {
    match stmt {
        Stmt::Import(import) => import
            .names
            .iter()
            .map(|alias| {
                let module = names.id(&alias.name);
                let bound = match &alias.asname {
                    Some(name) => name.to_string(),
                    None => alias.name.split('.').next().unwrap_or_default().to_owned(),
                };
                (bound, ImportPath { level: 0, module, name: None, is_whole: alias.asname.is_some() })
            })
            .collect(),
        Stmt::ImportFrom(import) => import
            .names
            .iter()
            .map(|alias| {
                let module = names.id(import.module.as_ref().map_or("", |module| module.as_str()));
                let bound = alias.asname.as_ref().unwrap_or(&alias.name).to_string();
                let name = Some(names.id(&alias.name));
                (bound, ImportPath { level: import.level, module, name, is_whole: false })
            })
            .collect(),
        _ => Vec::new(),
    }
}

impl<'a> SourceOrderVisitor<'a> for Reader<'_> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::FunctionDef(function) => {
                function.decorator_list.iter().for_each(|decorator| self.visit_decorator(decorator));
                self.visit_parameters(&function.parameters);
                let bindings =
                    Bindings::of_function(&function.parameters, function.type_params.as_deref(), &function.body);
                self.within(bindings, |this| this.visit_body(&function.body));
            }
            Stmt::ClassDef(class) => {
                class.decorator_list.iter().for_each(|decorator| self.visit_decorator(decorator));
                if let Some(arguments) = &class.arguments {
                    self.visit_arguments(arguments);
                }
                self.visit_body(&class.body);
            }
            Stmt::Import(_) | Stmt::ImportFrom(_) => {
                for (bound, path) in imported(stmt, self.names) {
                    self.uses.imports.insert((path.clone(), Vec::new()));
                    if let Some((_, imports)) = self.scopes.last_mut() {
                        imports.insert(bound, path);
                    }
                }
            }
            Stmt::Expr(expression) if expression.value.is_string_literal_expr() => {}
            // What hands a docstring on does not read it.
            Stmt::Assign(assign)
                if assign.targets.iter().all(|target| doc_holder(target).is_some())
                    && let Some(holder) = doc_holder(&assign.value) =>
            {
                let holders = assign.targets.iter().filter_map(doc_holder).chain([holder]);
                holders.for_each(|holder| self.visit_expr(holder));
            }
            Stmt::Assign(assign) if assign.targets.iter().all(|target| doc_holder(target).is_some()) => {
                let holders = assign.targets.iter().filter_map(doc_holder);
                holders.for_each(|holder| self.visit_expr(holder));
                self.visit_expr(&assign.value);
            }
            _ => source_order::walk_stmt(self, stmt),
        }
    }

    fn visit_decorator(&mut self, decorator: &'a Decorator) {
        self.visit_expr(&decorator.expression);
    }

    fn visit_comprehension(&mut self, comprehension: &'a Comprehension) {
        source_order::walk_comprehension(self, comprehension);
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Name(name) => {
                self.chain(&name.id, &[]);
            }
            Expr::Attribute(attribute) => match dotted(expr) {
                Some((root, attributes)) => self.chain(root, &attributes),
                None => {
                    self.attribute(&attribute.attr);
                    self.visit_expr(&attribute.value);
                }
            },
            Expr::Call(call) => {
                self.call(call);
                source_order::walk_expr(self, expr);
            }
            Expr::StringLiteral(text) => self.text(text.value.to_str()),
            Expr::Lambda(lambda) => {
                if let Some(parameters) = &lambda.parameters {
                    self.visit_parameters(parameters);
                }
                let bindings = Bindings::of_lambda(lambda.parameters.as_deref(), &lambda.body);
                self.within(bindings, |this| this.visit_expr(&lambda.body));
            }
            Expr::ListComp(comp) => {
                self.within(Bindings::of_comprehension(&comp.generators), |this| source_order::walk_expr(this, expr));
            }
            Expr::SetComp(comp) => {
                self.within(Bindings::of_comprehension(&comp.generators), |this| source_order::walk_expr(this, expr));
            }
            Expr::DictComp(comp) => {
                self.within(Bindings::of_comprehension(&comp.generators), |this| source_order::walk_expr(this, expr));
            }
            Expr::Generator(comp) => {
                self.within(Bindings::of_comprehension(&comp.generators), |this| source_order::walk_expr(this, expr));
            }
            _ => source_order::walk_expr(self, expr),
        }
    }

    fn visit_string_literal(&mut self, literal: &'a StringLiteral) {
        self.text(&literal.value);
    }

    fn visit_interpolated_string_element(&mut self, element: &'a InterpolatedStringElement) {
        if let InterpolatedStringElement::Literal(literal) = element {
            self.text(&literal.value);
        }
        source_order::walk_interpolated_string_element(self, element);
    }

    fn visit_pattern(&mut self, pattern: &'a Pattern) {
        if let Pattern::MatchClass(class) = pattern {
            for keyword in &class.arguments.keywords {
                self.attribute(&keyword.attr);
            }
        }
        source_order::walk_pattern(self, pattern);
    }
}

impl Uses {
    /// Adds what another piece uses.
    pub fn join(&mut self, other: Uses) {
        self.names.extend(other.names);
        self.chains.extend(other.chains);
        self.attributes.extend(other.attributes);
        self.imports.extend(other.imports);
        self.words.extend(other.words);
        self.dotted.extend(other.dotted);
        self.texts.extend(other.texts);
        self.unnamed.extend(other.unnamed);
        self.callees.extend(other.callees);
        self.reads_docs |= other.reads_docs;
        self.reads_annotations |= other.reads_annotations;
        self.reads_source |= other.reads_source;
    }
}
