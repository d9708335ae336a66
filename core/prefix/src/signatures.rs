//! The parameters of functions that a prefix writes, from the calls in the snippet: `f(page, size=3)` is a call of
//! `def f(page, size)`.
//!
//! A function is known by its last name, with `()` behind it for a result that is called: `register()` of
//! `register(name)(value)`. Others than the snippet may call it in other ways, so that a run has to confirm it.

use std::collections::{BTreeMap, BTreeSet};

use ruff_python_ast::visitor::{Visitor, walk_expr, walk_stmt};
use ruff_python_ast::{Decorator, Expr, ExprCall, Stmt};

use twincell_sketch::natural;
use twincell_syntax::python::is_identifier;
use twincell_values::path::{AccessPath, text_of};

/// The parameters of a function that takes whatever it is called with.
pub(crate) const ANY: &str = "*args, **kwargs";

/// The maximum number of parameters that are written one by one.
const MOST: usize = 6;

/// What calls say of one function.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Calls {
    /// What stands for each parameter that is given by position.
    positions: Vec<String>,
    /// The least number of them.
    least: Option<usize>,
    /// Keywords, and the number of calls that have them.
    keywords: Vec<(String, usize)>,
    count: usize,
    has_star: bool,
    has_stars: bool,
}

/// What the calls of a snippet say, by function.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Signatures {
    calls: BTreeMap<String, Calls>,
    /// Those whose results something looks at or hands on.
    used: BTreeSet<String>,
}

impl Signatures {
    pub(crate) fn of(body: &[Stmt]) -> Self {
        let mut reader = Reader::default();
        reader.visit_body(body);
        let mut signatures = Self { used: reader.used, ..Self::default() };
        for (key, call) in reader.calls {
            // A local stands for what it is bound to.
            let also = reader.bound.iter().filter(|(local, _)| *local == key).map(|(_, other)| other.clone());
            for key in also.chain([key.clone()]) {
                signatures.calls.entry(key).or_default().add(&call);
            }
        }
        signatures
    }

    pub(crate) fn functions(&self) -> impl Iterator<Item = &String> {
        self.calls.keys()
    }

    /// The parameters of a function as source, without `self`. `None` if nothing calls it.
    pub(crate) fn parameters(&self, function: &str) -> Option<String> {
        self.calls.get(function).map(Calls::parameters)
    }

    /// Whether something looks at the results of a function or hands them on.
    pub(crate) fn is_used(&self, function: &str) -> bool {
        self.used.contains(function)
    }

    /// The names of its parameters.
    pub(crate) fn names(&self, function: &str) -> Vec<String> {
        self.calls.get(function).map(|calls| calls.named().0).unwrap_or_default()
    }
}

/// The function at an access path.
pub(crate) fn function_at(path: &str) -> String {
    let path = AccessPath::new(path).without_repetition();
    if let Some((callee, _)) = path.split_call() {
        return function_at(callee.as_str()) + "()";
    }
    match path.split_item() {
        Some((_, key)) => text_of(key).unwrap_or(key).to_owned(),
        None => path.last_name().to_owned(),
    }
}

/// One call.
#[derive(Debug, Default)]
struct Given {
    positions: Vec<String>,
    keywords: Vec<String>,
    has_star: bool,
    has_stars: bool,
}

impl Given {
    fn of(call: &ExprCall) -> Self {
        let mut given = Self::default();
        for argument in &call.arguments.args {
            match argument {
                Expr::Starred(_) => given.has_star = true,
                other if !given.has_star => given.positions.push(called(other)),
                _ => {}
            }
        }
        for keyword in &call.arguments.keywords {
            match &keyword.arg {
                Some(name) => given.keywords.push(name.to_string()),
                None => given.has_stars = true,
            }
        }
        given
    }

    /// The call that a decorator is.
    fn of_decorator() -> Self {
        Self { positions: vec!["function".into()], ..Self::default() }
    }
}

impl Calls {
    fn add(&mut self, call: &Given) {
        self.count += 1;
        let count = call.positions.len();
        self.least = Some(self.least.map_or(count, |least| least.min(count)));
        self.positions.extend(call.positions.iter().skip(self.positions.len()).cloned());
        for name in &call.keywords {
            match self.keywords.iter_mut().find(|(known, _)| known == name) {
                Some((_, count)) => *count += 1,
                None => self.keywords.push((name.clone(), 1)),
            }
        }
        self.has_star |= call.has_star;
        self.has_stars |= call.has_stars;
    }

    /// The names of its parameters, and how many at the beginning every call gives.
    fn named(&self) -> (Vec<String>, usize) {
        let mut names: Vec<String> = Vec::new();
        for name in &self.positions {
            let mut name = name.clone();
            if self.keywords.iter().any(|(keyword, _)| *keyword == name) {
                name = "value".into();
            }
            let mut fresh = name.clone();
            for number in 2.. {
                let is_taken = names.contains(&fresh) || self.keywords.iter().any(|(keyword, _)| *keyword == fresh);
                if !is_taken {
                    break;
                }
                fresh = format!("{name}{number}");
            }
            names.push(fresh);
        }
        let mut given = self.least.unwrap_or(0);
        // Whether every call gives all that stands before the keywords.
        let all = given == names.len();
        let always = |count: usize| count == self.count;
        let (first, rest): (Vec<_>, Vec<_>) = self.keywords.iter().partition(|(_, count)| all && always(*count));
        given += first.len();
        names.extend(first.into_iter().chain(rest).map(|(name, _)| name.clone()));
        (names, given)
    }

    fn parameters(&self) -> String {
        let (names, given) = self.named();
        if names.len() > MOST || self.has_star && !self.keywords.is_empty() {
            return ANY.to_owned();
        }
        let mut parts: Vec<String> = names
            .iter()
            .enumerate()
            .map(|(at, name)| if at < given { name.clone() } else { format!("{name}=None") })
            .collect();
        if self.has_star {
            parts.push("*args".into());
        }
        if self.has_stars {
            parts.push("**kwargs".into());
        }
        parts.join(", ")
    }
}

/// What a parameter is called that gets this argument.
fn called(argument: &Expr) -> String {
    let word = match argument {
        Expr::Name(name) => name.id.to_string(),
        Expr::Attribute(attribute) => attribute.attr.to_string(),
        Expr::Subscript(item) => match item.slice.as_string_literal_expr() {
            Some(key) => key.value.to_str().to_owned(),
            None => String::new(),
        },
        Expr::StringLiteral(_) | Expr::FString(_) => "text".into(),
        Expr::NumberLiteral(_) => "number".into(),
        Expr::List(_) | Expr::Tuple(_) | Expr::Set(_) | Expr::ListComp(_) => "items".into(),
        Expr::Lambda(_) => "function".into(),
        _ => String::new(),
    };
    let word = natural::snake(word.trim_matches('_'));
    match word.as_str() {
        "self" | "cls" => "owner".into(),
        "args" | "kwargs" => "value".into(),
        _ if is_identifier(&word) => word,
        _ => "value".into(),
    }
}

#[derive(Default)]
struct Reader {
    calls: Vec<(String, Given)>,
    /// (local, the function that it is bound to)
    bound: Vec<(String, String)>,
    used: BTreeSet<String>,
}

/// The function that an expression gives.
pub(crate) fn function_of(expression: &Expr) -> Option<String> {
    match expression {
        Expr::Name(name) => Some(name.id.to_string()),
        Expr::Attribute(attribute) => Some(attribute.attr.to_string()),
        Expr::Call(call) => function_of(&call.func).map(|callee| callee + "()"),
        Expr::Await(awaited) => function_of(&awaited.value),
        Expr::Subscript(item) => item.slice.as_string_literal_expr().map(|key| key.value.to_str().to_owned()),
        _ => None,
    }
}

impl Visitor<'_> for Reader {
    fn visit_stmt(&mut self, statement: &Stmt) {
        if let Stmt::Assign(assign) = statement
            && let ([Expr::Name(local)], Some(function)) = (assign.targets.as_slice(), function_of(&assign.value))
        {
            self.bound.push((local.id.to_string(), function));
        }
        // The call that a statement is gives its result to nobody.
        match statement {
            Stmt::Expr(only) => match only.value.as_ref() {
                Expr::Call(call) => self.call(call),
                Expr::Await(awaited) => match awaited.value.as_ref() {
                    Expr::Call(call) => self.call(call),
                    other => self.visit_expr(other),
                },
                other => self.visit_expr(other),
            },
            other => walk_stmt(self, other),
        }
    }

    fn visit_decorator(&mut self, decorator: &Decorator) {
        if let Some(function) = function_of(&decorator.expression) {
            self.calls.push((function, Given::of_decorator()));
        }
        self.visit_expr(&decorator.expression);
    }

    fn visit_expr(&mut self, expression: &Expr) {
        match expression {
            Expr::Call(call) => {
                self.used.extend(function_of(&call.func));
                self.call(call);
            }
            other => walk_expr(self, other),
        }
    }
}

impl Reader {
    /// A call, whoever gets its result.
    fn call(&mut self, call: &ExprCall) {
        if let Some(function) = function_of(&call.func) {
            self.calls.push((function, Given::of(call)));
        }
        self.visit_expr(&call.func);
        self.visit_arguments(&call.arguments);
    }
}

#[cfg(test)]
mod tests {
    use twincell_syntax::parse::parse;

    use super::*;

    #[test]
    fn calls_tell_the_parameters() {
        let read = |text: &str, function: &str| Signatures::of(parse(text).suite()).parameters(function).unwrap();
        assert_eq!(read("close()\n", "close"), "");
        assert_eq!(read("self.find(page, 'a', size=3)\n", "find"), "page, text, size");
        assert_eq!(read("f(a)\nf(a, b.Name)\n", "f"), "a, name=None");
        assert_eq!(read("f(a)\nf(a, size=2)\n", "f"), "a, size=None");
        assert_eq!(read("f(size, size=size)\nf(1, *rest)\n", "f"), ANY);
        assert_eq!(read("f(size, size=size)\n", "f"), "value, size");
        assert_eq!(read("f(x, x, *rest, **more)\n", "f"), "x, x2, *args, **kwargs");
        assert_eq!(read("f(self, d['key'], g(1))\n", "f"), "owner, key, value");
        assert_eq!(read("f(1, 2, 3, 4, 5, 6, 7)\n", "f"), ANY);
        // A keyword that every call gives needs no default.
        assert_eq!(read("f(a, size=2)\nf(b, size=3)\n", "f"), "a, size");
    }

    #[test]
    fn a_result_that_is_called_is_a_function_of_its_own() {
        let text = "@app.route('/')\ndef page():\n    pass\nmake = self.maker(1)\nmake(name)\n";
        let signatures = Signatures::of(parse(text).suite());
        let read = |function: &str| signatures.parameters(function);
        assert_eq!((read("route"), read("route()")), (Some("text".into()), Some("function".into())));
        assert_eq!((read("maker"), read("maker()")), (Some("number".into()), Some("name".into())));
        assert_eq!(read("page"), None);
        assert_eq!((signatures.is_used("maker"), signatures.is_used("make")), (true, false));
        assert_eq!(signatures.names("maker()"), ["name"]);
    }

    #[test]
    fn paths_name_the_functions() {
        assert_eq!(function_at("self.app.find"), "find");
        assert_eq!(function_at("self.maker(1)"), "maker()");
        assert_eq!(function_at("self.maker(1)#2"), "maker()");
        assert_eq!(function_at("handlers['done']"), "done");
    }
}
