//! How an execution uses a class from outside: calls of its constructor and of its members, each with arguments under
//! access paths of their own.

use ruff_python_ast::{Expr, Stmt};

use twincell_syntax::parse::{parse, with_stack_for};
use twincell_syntax::{Function, Parameter, ParameterKind, functions};
use twincell_values::path::{AccessPath, Question};
use twincell_values::value::{Decision, Recipe};

/// A class, with what calls of its constructor and methods need.
pub(crate) struct Class<'a> {
    pub name: &'a str,
    methods: Vec<Function>,
    fields: Vec<Parameter>,
}

impl<'a> Class<'a> {
    pub fn of(function: &'a Function) -> Self {
        Self { name: &function.name, methods: functions(&function.text).0, fields: fields(function) }
    }

    pub fn method(&self, name: &str) -> Option<&Function> {
        self.methods.iter().find(|method| method.qualname == format!("{}.{name}", self.name))
    }

    /// The parameters of the constructor.
    pub fn constructor(&self) -> &[Parameter] {
        self.method("__init__").map_or(&self.fields, passed)
    }
}

/// The parameters of a method that calls pass: all but the object. It is none of a static method.
pub(crate) fn passed(method: &Function) -> &[Parameter] {
    let own = usize::from(!method.decorators.iter().any(|text| text == "staticmethod"));
    method.parameters.get(own..).unwrap_or_default()
}

/// Whether a decorator may give a method another signature.
pub(crate) fn is_decorated(method: &Function) -> bool {
    method.decorators.iter().any(|text| text != "staticmethod" && text != "classmethod")
}

/// The fields of a class whose constructor is generated from them.
fn fields(class: &Function) -> Vec<Parameter> {
    with_stack_for(class.text.len(), || {
        let parsed = parse(&class.text);
        let Some(Stmt::ClassDef(definition)) = parsed.suite().first() else { return vec![] };
        let called = |text: &String| text.split('(').next().is_some_and(|name| name.trim().ends_with("dataclass"));
        let is_made_of_fields = class.decorators.iter().any(called)
            || definition.bases().iter().any(|base| matches!(base, Expr::Name(name) if name.id == "NamedTuple"));
        let of = |stmt: &Stmt| {
            let field = stmt.as_ann_assign_stmt().filter(|_| is_made_of_fields)?;
            let Expr::Name(name) = field.target.as_ref() else { return None };
            let has_default = field.value.is_some();
            Some(Parameter {
                name: name.id.to_string(),
                kind: ParameterKind::KeywordOnly,
                has_default,
                annotation: None,
            })
        };
        definition.body.iter().filter_map(of).collect()
    })
}

/// The access paths of the arguments of one call after another, by the rules of a worker (the runtime's injection of
/// arguments): a name that occurred before is numbered, or stands for an earlier one again.
#[derive(Default)]
pub(crate) struct ArgumentPaths(Vec<String>);

impl ArgumentPaths {
    /// The access path of the argument of this name in the next call.
    pub fn of<'d>(&self, name: &str, decision: &dyn Fn(&str) -> Option<&'d Decision>) -> String {
        let numbered = |count: usize| AccessPath::new(name).numbered(count + 1);
        let count = self.0.iter().filter(|known| *known == name).count();
        match decision(&Question::Again((&numbered(count)).into()).to_string()) {
            Some(Decision::Value(Recipe::Int(again @ 1..))) => {
                numbered(usize::try_from(*again).unwrap_or(1).min(count.max(1)) - 1).into_string()
            }
            _ => numbered(count).into_string(),
        }
    }

    /// Notes a call that has or could have arguments of these names.
    pub fn called(&mut self, names: impl IntoIterator<Item = String>) {
        self.0.extend(names);
    }

    /// The names of the arguments of all calls.
    pub fn into_names(self) -> Vec<String> {
        self.0
    }
}
