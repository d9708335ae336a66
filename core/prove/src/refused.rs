//! Constructs that mean more than the lowering keeps, looked for in the whole text of a function: no proof is tried with them.

use ruff_python_ast::visitor::source_order::{self, SourceOrderVisitor};
use ruff_python_ast::{ExceptHandler, Expr, Identifier, Stmt, StmtFunctionDef, StringLiteral};

use twincell_syntax::scopes::Bindings;

use crate::result::Construct;

/// The most items of a display: longer ones are made in several steps.
const MAX_DISPLAY: usize = 30;
/// Builtins that are other names of the same, or that only some Pythons have.
const UNSTEADY: [&str; 8] = [
    "IOError",
    "EnvironmentError",
    "WindowsError",
    "ExceptionGroup",
    "BaseExceptionGroup",
    "PythonFinalizationError",
    "aiter",
    "anext",
];
const OF_EXCEPTIONS: [&str; 5] = ["__context__", "__cause__", "__traceback__", "__suppress_context__", "__notes__"];

/// What of a function keeps it from being proved, if anything does.
pub(crate) fn refused(function: &StmtFunctionDef, is_builtin_exception: &dyn Fn(&str) -> bool) -> Option<Construct> {
    if function.type_params.is_some() {
        return Some(Construct::TypeParameters);
    }
    // A variable of this name has nothing to do with the function.
    let is_shadowed = Bindings::of_function(&function.parameters, None, &function.body).is_local(&function.name);
    let own = (!is_shadowed).then_some(function.name.as_str());
    let mut looking = Looking { own, is_builtin_exception, named_handlers: 0, comprehensions: 0, found: None };
    let mut defaults = function.parameters.iter_non_variadic_params().filter_map(|one| one.default.as_deref());
    if defaults.any(has_name) {
        return Some(Construct::Default);
    }
    looking.visit_body(&function.body);
    looking.found
}

/// Whether an expression is a constant of the text, which is the same object at each call.
pub(crate) fn is_literal(expr: &Expr) -> bool {
    match expr {
        Expr::UnaryOp(node) => node.operand.is_number_literal_expr(),
        other => other.is_literal_expr(),
    }
}

/// Whether an expression rests on names, which a class or a function around it may bind.
fn has_name(expr: &Expr) -> bool {
    struct Names(bool);
    impl<'a> SourceOrderVisitor<'a> for Names {
        fn visit_expr(&mut self, expr: &'a Expr) {
            self.0 |= matches!(expr, Expr::Name(_));
            source_order::walk_expr(self, expr);
        }
    }
    let mut names = Names(false);
    names.visit_expr(expr);
    names.0
}

/// Whether a function has attributes or keywords that a class around it would rename.
pub(crate) fn has_private_names(function: &StmtFunctionDef) -> bool {
    struct Private(bool);
    impl<'a> SourceOrderVisitor<'a> for Private {
        fn visit_identifier(&mut self, identifier: &'a Identifier) {
            self.0 |= identifier.starts_with("__") && !identifier.ends_with("__");
        }
    }
    let mut private = Private(false);
    private.visit_parameters(&function.parameters);
    private.visit_body(&function.body);
    private.0
}

/// Whether a handler of a function gives its exception a name.
pub(crate) fn names_exceptions(function: &StmtFunctionDef) -> bool {
    struct Handlers(bool);
    impl<'a> SourceOrderVisitor<'a> for Handlers {
        fn visit_except_handler(&mut self, handler: &'a ExceptHandler) {
            let ExceptHandler::ExceptHandler(node) = handler;
            self.0 |= node.name.is_some();
            source_order::walk_except_handler(self, handler);
        }
    }
    let mut handlers = Handlers(false);
    handlers.visit_body(&function.body);
    handlers.0
}

struct Looking<'a> {
    own: Option<&'a str>,
    is_builtin_exception: &'a dyn Fn(&str) -> bool,
    named_handlers: usize,
    comprehensions: usize,
    found: Option<Construct>,
}

impl Looking<'_> {
    fn refuse(&mut self, construct: Construct) {
        self.found.get_or_insert(construct);
    }
}

impl<'a> SourceOrderVisitor<'a> for Looking<'_> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        if let Stmt::FunctionDef(node) = stmt
            && (node.returns.is_some() || node.type_params.is_some())
        {
            self.refuse(Construct::TypeParameters);
        }
        source_order::walk_stmt(self, stmt);
    }

    fn visit_except_handler(&mut self, handler: &'a ExceptHandler) {
        let ExceptHandler::ExceptHandler(node) = handler;
        self.named_handlers += usize::from(node.name.is_some());
        if self.named_handlers > 1 {
            // Which of two equal exceptions it is shows.
            self.refuse(Construct::Exceptions);
        }
        if let Some(Expr::Tuple(classes)) = node.type_.as_deref() {
            let is_known =
                |one: &Expr| matches!(one, Expr::Name(name) if (self.is_builtin_exception)(name.id.as_str()));
            if !classes.elts.iter().all(is_known) {
                self.refuse(Construct::Exceptions);
            }
        }
        source_order::walk_except_handler(self, handler);
    }

    fn visit_string_literal(&mut self, literal: &'a StringLiteral) {
        // What a surrogate is read as.
        if literal.value.contains('\u{fffd}') {
            self.refuse(Construct::Surrogate);
        }
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        let is_display = |items: usize| items > MAX_DISPLAY;
        match expr {
            Expr::StringLiteral(text) if text.value.to_str().contains('\u{fffd}') => self.refuse(Construct::Surrogate),
            Expr::FString(text) => {
                let elements = || text.value.elements();
                if elements().count() == 1 && elements().all(|one| one.as_interpolation().is_some()) {
                    // It gives what `__format__` gave.
                    self.refuse(Construct::UnsafeFormat);
                }
                if elements().any(|one| one.as_literal().is_some_and(|text| text.value.contains('\u{fffd}'))) {
                    self.refuse(Construct::Surrogate);
                }
            }
            Expr::Name(name) => {
                let text = name.id.as_str();
                if text.starts_with("__") || UNSTEADY.contains(&text) {
                    self.refuse(Construct::SpecialName);
                }
                if self.own == Some(text) {
                    self.refuse(Construct::OwnName);
                }
                if text == "super" && self.comprehensions > 0 {
                    self.refuse(Construct::Frames);
                }
            }
            Expr::Call(call) => {
                if let Expr::Name(name) = call.func.as_ref()
                    && self.own == Some(name.id.as_str())
                {
                    // A call of itself is followed; its name is no value otherwise.
                    self.visit_arguments(&call.arguments);
                    return;
                }
            }
            Expr::Attribute(attribute) if OF_EXCEPTIONS.contains(&attribute.attr.as_str()) => {
                self.refuse(Construct::Exceptions);
            }
            Expr::Set(node) if is_display(node.elts.len()) => self.refuse(Construct::Display),
            Expr::List(node) if is_display(node.elts.len()) => self.refuse(Construct::Display),
            Expr::Tuple(node) if is_display(node.elts.len()) => self.refuse(Construct::Display),
            Expr::Dict(node) if is_display(node.items.len()) => self.refuse(Construct::Display),
            _ => {}
        }
        let is_comprehension =
            matches!(expr, Expr::ListComp(_) | Expr::SetComp(_) | Expr::DictComp(_) | Expr::Generator(_));
        self.comprehensions += usize::from(is_comprehension);
        source_order::walk_expr(self, expr);
        self.comprehensions -= usize::from(is_comprehension);
    }
}
