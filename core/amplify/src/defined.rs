//! The names and signatures that each version of the changed files defines. That a version lacks a name or a parameter of
//! the other one is no difference of behavior.

use std::collections::{BTreeMap, BTreeSet};

use ruff_python_ast::visitor::source_order::{SourceOrderVisitor, walk_alias, walk_expr, walk_stmt};
use ruff_python_ast::{Alias, Expr, ExprCall, Stmt};
use ruff_text_size::{Ranged, TextRange};
use twincell_syntax::parse::{normalize_newlines, parse, with_stack_for};
use twincell_syntax::{Function, ParameterKind, PerSide, Side, functions};

use crate::body::last_name;
use crate::change::ChangedText;
use crate::code::Code;
use crate::result::Raised;

/// What the changed files of each version define.
#[derive(Debug, Default)]
pub struct Defined {
    /// Functions, classes, methods, attributes, and the variables of modules.
    names: PerSide<BTreeSet<String>>,
    /// By the name that a call has: of a constructor, the class.
    signatures: PerSide<BTreeMap<String, Vec<Signature>>>,
    /// By the path of a file, what can be imported from it.
    tops: PerSide<BTreeMap<String, BTreeSet<String>>>,
}

/// The parameters of a function, without the object of a method.
#[derive(Debug)]
struct Signature {
    /// The maximum number of positional arguments. `None` if there is none.
    positional: Option<usize>,
    /// The names of keyword arguments. `None` if it takes any.
    keywords: Option<BTreeSet<String>>,
}

impl Defined {
    pub fn of(files: &[ChangedText]) -> Self {
        let mut defined = Self::default();
        for side in Side::BOTH {
            for file in files {
                let Some(text) = file.texts[side].as_deref() else { continue };
                let top = defined.tops[side].entry(file.path.clone()).or_default();
                let text = normalize_newlines(text);
                with_stack_for(text.len(), || {
                    let mut names = Names { found: &mut defined.names[side], top, depth: 0, classes: 0 };
                    names.visit_body(parse(&text).suite());
                    for function in functions(&text).0 {
                        let called = match (&function.class_name, function.name.as_str()) {
                            (Some(class), "__init__" | "__new__") => class.clone(),
                            (_, name) => name.to_owned(),
                        };
                        defined.signatures[side].entry(called).or_default().push(Signature::of(&function));
                    }
                });
            }
        }
        defined
    }

    /// Whether a statement raises in a version because it uses a name or a parameter that only the other version has.
    pub fn lacks(&self, side: Side, code: &Code, statement: TextRange, raised: &Raised) -> bool {
        let parsed = code.parse();
        let mut uses = Uses { within: statement, names: Vec::new(), calls: Vec::new() };
        uses.visit_body(parsed.suite());
        match raised.class.as_str() {
            "AttributeError" | "NameError" | "ImportError" => {
                let is_told = |name: &str| raised.message.contains(&format!("'{name}'"));
                uses.names.into_iter().any(|name| is_told(name) && self.is_missing(side, name))
            }
            "ModuleNotFoundError" => self.lacks_module(side, &raised.message),
            "TypeError" => uses.calls.into_iter().any(|call| self.lacks_parameter(side, call, &raised.message)),
            _ => false,
        }
    }

    /// Whether a name can be imported from a file in one version alone.
    pub fn is_one_sided(&self, path: &str, name: &str) -> bool {
        let has = |side: Side| self.tops[side].get(path).is_some_and(|top| top.contains(name));
        has(Side::Old) != has(Side::New)
    }

    fn is_missing(&self, side: Side, name: &str) -> bool {
        self.names[side.other()].contains(name) && !self.names[side].contains(name)
    }

    /// Whether a message says that there is no module which only the other version has.
    fn lacks_module(&self, side: Side, message: &str) -> bool {
        let Some(module) = message.strip_prefix("No module named '").and_then(|rest| rest.split('\'').next()) else {
            return false;
        };
        let file = module.replace('.', "/");
        let is_it = |path: &str| {
            let stem = path.strip_suffix(".py").map_or(path, |stem| stem.strip_suffix("/__init__").unwrap_or(stem));
            stem.strip_suffix(&file).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
        };
        self.tops[side.other()].keys().any(|path| is_it(path) && !self.tops[side].contains_key(path))
    }

    /// Whether a version refuses the arguments of a call, as a message says, and the other one takes them.
    fn lacks_parameter(&self, side: Side, call: &ExprCall, message: &str) -> bool {
        let Some(name) = last_name(&call.func) else { return false };
        let takes = |side: Side| self.signatures[side].get(name).into_iter().flatten().any(|one| one.takes(call));
        // `fee() takes 1 positional argument but 2 were given`, but not `fee() missing 1 required positional argument`.
        let takes_none = message.contains("takes no arguments");
        let are_too_many = takes_none || (message.contains(" takes ") && message.contains("positional argument"));
        let is_refused =
            |keyword: &str| takes_none || message.contains(&format!("unexpected keyword argument '{keyword}'"));
        let mut refused = (call.arguments.keywords.iter())
            .filter_map(|keyword| keyword.arg.as_deref())
            .filter(|keyword| is_refused(keyword))
            .peekable();
        let is_it = are_too_many || refused.peek().is_some();
        let is_known = self.names[side].contains(name);
        // Fields of a class may be parameters.
        refused.any(|keyword| self.is_missing(side, keyword))
            || (is_it && is_known && takes(side.other()) && !takes(side))
    }
}

impl Signature {
    fn of(function: &Function) -> Self {
        let is_static = function.decorators.iter().any(|one| one.trim_start_matches('@').trim() == "staticmethod");
        let is_method = function.class_name.is_some() && function.parent.is_none() && !is_static;
        let parameters = || function.parameters.iter().skip(usize::from(is_method));
        let has = |kind| parameters().any(|one| one.kind == kind);
        let positional =
            parameters().filter(|one| matches!(one.kind, ParameterKind::PositionalOnly | ParameterKind::Positional));
        let named =
            parameters().filter(|one| matches!(one.kind, ParameterKind::Positional | ParameterKind::KeywordOnly));
        Self {
            positional: (!has(ParameterKind::VarPositional)).then(|| positional.count()),
            keywords: (!has(ParameterKind::VarKeyword)).then(|| named.map(|one| one.name.clone()).collect()),
        }
    }

    /// Whether there is a parameter for each argument of a call. Nobody knows how many an unpacked argument stands for.
    fn takes(&self, call: &ExprCall) -> bool {
        let (given, named) = (&call.arguments.args, &call.arguments.keywords);
        let takes = |name: &str| self.keywords.as_ref().is_none_or(|known| known.contains(name));
        given.iter().any(Expr::is_starred_expr)
            || (self.positional.is_none_or(|most| given.len() <= most)
                && named.iter().all(|keyword| keyword.arg.as_ref().is_none_or(|name| takes(name))))
    }
}

/// Collects the names that a file defines, without the variables and imports of functions.
struct Names<'n> {
    found: &'n mut BTreeSet<String>,
    /// Those that stand in no function and no class.
    top: &'n mut BTreeSet<String>,
    /// How many functions are around.
    depth: usize,
    /// How many classes are around.
    classes: usize,
}

impl Names<'_> {
    fn define(&mut self, name: &str) {
        self.found.insert(name.to_owned());
        if self.depth == 0 && self.classes == 0 {
            self.top.insert(name.to_owned());
        }
    }
}

impl<'a> SourceOrderVisitor<'a> for Names<'_> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::FunctionDef(function) => {
                self.define(&function.name);
                self.depth += 1;
                walk_stmt(self, stmt);
                self.depth -= 1;
                return;
            }
            Stmt::ClassDef(class) => {
                self.define(&class.name);
                self.classes += 1;
                walk_stmt(self, stmt);
                self.classes -= 1;
                return;
            }
            _ => {}
        }
        walk_stmt(self, stmt);
    }

    fn visit_alias(&mut self, alias: &'a Alias) {
        let name = alias.asname.as_ref().unwrap_or(&alias.name);
        if let (0, Some(name)) = (self.depth, name.split('.').next()) {
            self.define(name);
        }
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Attribute(attribute) if attribute.ctx.is_store() => {
                self.found.insert(attribute.attr.to_string());
            }
            Expr::Name(name) if name.ctx.is_store() && self.depth == 0 => {
                self.define(&name.id);
            }
            _ => {}
        }
        walk_expr(self, expr);
    }
}

/// Collects the names and the calls in a part of a test.
struct Uses<'a> {
    within: TextRange,
    names: Vec<&'a str>,
    calls: Vec<&'a ExprCall>,
}

impl<'a> SourceOrderVisitor<'a> for Uses<'a> {
    fn visit_alias(&mut self, alias: &'a Alias) {
        if self.within.contains_range(alias.range()) {
            self.names.push(&alias.name);
        }
        walk_alias(self, alias);
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        if self.within.contains_range(expr.range()) {
            match expr {
                Expr::Attribute(attribute) => self.names.push(&attribute.attr),
                Expr::Name(name) => self.names.push(&name.id),
                Expr::Call(call) => self.calls.push(call),
                _ => {}
            }
        }
        walk_expr(self, expr);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::body::places;

    fn defined(old: Option<&str>, new: Option<&str>) -> Defined {
        let texts = PerSide::new(old, new).map(|text| text.map(str::to_owned));
        Defined::of(&[ChangedText { path: "src/shop/desk.py".into(), texts }])
    }

    /// Whether the old version lacks what the only statement of a test uses, where that raises.
    fn lacks(defined: &Defined, statement: &str, class: &str, message: &str) -> bool {
        let code = Code::new(&format!("def test():\n    {statement}\n"));
        let raised = Raised { class: class.into(), message: message.into() };
        defined.lacks(Side::Old, &code, places(&code)[0].range, &raised)
    }

    #[test]
    fn a_name_that_one_version_alone_has_is_missing_in_the_other() {
        let old = "class Desk:\n    def remind(self, loan):\n        return loan\ndef find(x):\n    return None\n";
        let new = "import limits\nclass Desk:\n    limit: int = 3\n    def _late(self, loan):\n        \
                   self.seen = at = loan\n        import days\n    def remind(self, loan):\n        return loan\n\
                   def find(x):\n    return Desk()\n";
        let defined = defined(Some(old), Some(new));
        for (statement, class, message, expected) in [
            ("desk._late(1)", "AttributeError", "'Desk' object has no attribute '_late'", true),
            ("x = desk.seen", "AttributeError", "'Desk' object has no attribute 'seen'", true),
            ("desk.limits.x", "AttributeError", "module 'desk' has no attribute 'limits'", true),
            ("f(limits)", "NameError", "name 'limits' is not defined", true),
            (
                "with x: from desk import limits",
                "ImportError",
                "cannot import name 'limits' from 'desk' (/a/desk.py)",
                true,
            ),
            ("desk.remind(1)", "AttributeError", "'NoneType' object has no attribute 'remind'", false),
            ("desk.at", "AttributeError", "'Desk' object has no attribute 'at'", false),
            ("desk.days", "AttributeError", "module 'desk' has no attribute 'days'", false),
            ("find(1).total(desk.limit)", "AttributeError", "'NoneType' object has no attribute 'total'", false),
            ("desk._late(1)", "ValueError", "no '_late'", false),
        ] {
            assert_eq!(lacks(&defined, statement, class, message), expected, "{statement}: {message}");
        }
    }

    #[test]
    fn a_parameter_that_one_version_alone_has_is_missing_in_the_other() {
        let old = "class Desk:\n    def remind(self, loan): pass\ndef fee(days): pass\ndef other(rate): pass\n\
                   def total(): pass\nclass Plain: pass\n";
        let new = "class Desk:\n    def __init__(self, size): pass\n    def remind(self, loan, late): pass\n\
                   def fee(days, rate=1): pass\ndef other(rate): pass\ndef total(price=1): return 1\n\
                   class Plain:\n    limit: int = 3\n";
        let defined = defined(Some(old), Some(new));
        for (statement, message, expected) in [
            ("fee(2, rate=3)", "fee() got an unexpected keyword argument 'rate'", true),
            ("fee(2, rate=3)", "fee() got an unexpected keyword argument 'rate'. Did you mean 'days'?", true),
            ("fee(2, 3)", "fee() takes 1 positional argument but 2 were given", true),
            ("desk.remind(1, late=2)", "Desk.remind() got an unexpected keyword argument 'late'", true),
            ("desk.remind(1, 2)", "Desk.remind() takes 2 positional arguments but 3 were given", true),
            ("Desk(1)", "Desk() takes no arguments", true),
            ("Plain(limit=1)", "Plain() takes no arguments", true),
            ("Plain(limit=1)", "Plain.__init__() got an unexpected keyword argument 'limit'", true),
            ("fee('a')", "unsupported operand type(s) for *: 'int' and 'str'", false),
            ("fee(2, unknown=3)", "fee() got an unexpected keyword argument 'unknown'", false),
            ("other(2, 3)", "other() takes 1 positional argument but 2 were given", false),
            ("fee(*x)", "fee() takes 1 positional argument but 2 were given", false),
            ("fee(rate=2)", "fee() missing 1 required positional argument: 'days'", false),
            ("total(price=1) + 1", "unsupported operand type(s) for +: 'NoneType' and 'int'", false),
            ("Plain(limit=1) + 1", "unsupported operand type(s) for +: 'Plain' and 'int'", false),
        ] {
            assert_eq!(lacks(&defined, statement, "TypeError", message), expected, "{statement}: {message}");
        }
    }

    #[test]
    fn a_module_that_one_version_alone_has_is_missing_in_the_other() {
        let (class, statement) = ("ModuleNotFoundError", "with x: import shop.desk");
        for (old, message, expected) in [
            (None, "No module named 'shop.desk'", true),
            (None, "No module named 'shop.desk'; 'shop' is not a package", true),
            (None, "No module named 'op.desk'", false),
            (None, "No module named 'yaml'", false),
            (Some(""), "No module named 'shop.desk'", false),
        ] {
            assert_eq!(lacks(&defined(old, Some("")), statement, class, message), expected, "{message}");
        }
    }

    #[test]
    fn what_one_version_of_a_file_lacks_cannot_be_imported_from_it() {
        let old = "def fee(): pass\nclass Desk:\n    def late(self): pass\n";
        let new = "from rates import fee\ndef late(): pass\nclass Desk: pass\n";
        let both = defined(Some(old), Some(new));
        for (name, expected) in [("fee", false), ("Desk", false), ("late", true)] {
            assert_eq!(both.is_one_sided("src/shop/desk.py", name), expected, "{name}");
        }
        assert!(defined(None, Some(new)).is_one_sided("src/shop/desk.py", "Desk"));
    }
}
