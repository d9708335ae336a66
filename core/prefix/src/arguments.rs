//! The command line that a program of `argparse` asks for.

use ruff_python_ast::visitor::{Visitor, walk_expr};
use ruff_python_ast::{Expr, ExprCall};

use twincell_sketch::Scenario;
use twincell_syntax::parse::{parse, with_stack_for};
use twincell_values::reading::literal;
use twincell_values::value::Recipe;

use crate::reading::Reading;

/// One call of `add_argument`.
#[derive(Debug, Clone, Default)]
struct Argument {
    /// As on the command line: `--count`, `input`.
    name: String,
    /// The attribute that it becomes.
    destination: String,
    is_required: bool,
    /// It stands without a value.
    is_flag: bool,
    is_number: bool,
    choices: Vec<Recipe>,
}

#[derive(Default)]
struct Arguments {
    found: Vec<Argument>,
    has_commands: bool,
}

impl Visitor<'_> for Arguments {
    fn visit_expr(&mut self, expression: &Expr) {
        if let Expr::Call(call) = expression
            && let Expr::Attribute(attribute) = call.func.as_ref()
        {
            match attribute.attr.as_str() {
                "add_argument" => self.found.extend(argument(call)),
                "add_parser" => self.has_commands = true,
                _ => {}
            }
        }
        walk_expr(self, expression);
    }
}

fn argument(call: &ExprCall) -> Option<Argument> {
    let text = |expression: &Expr| match literal(expression) {
        Some(Recipe::Str(text)) => Some(text),
        _ => None,
    };
    let names: Vec<String> = call.arguments.args.iter().filter_map(text).collect();
    // The long name says more.
    let name = names.iter().find(|name| name.starts_with("--")).or(names.first())?.clone();
    let named = |wanted: &str| {
        let is = |keyword: &&ruff_python_ast::Keyword| keyword.arg.as_ref().is_some_and(|name| name == wanted);
        call.arguments.keywords.iter().find(is).map(|keyword| &keyword.value)
    };
    let is_option = name.starts_with('-');
    let is_optional = named("nargs").and_then(text).is_some_and(|count| matches!(count.as_str(), "?" | "*"));
    let is_required = named("required").and_then(literal) == Some(Recipe::Bool(true));
    let is_number = matches!(named("type"), Some(Expr::Name(class)) if matches!(class.id.as_str(), "int" | "float"));
    let choices = match named("choices") {
        Some(Expr::List(node)) => node.elts.iter().filter_map(literal).collect(),
        Some(Expr::Tuple(node)) => node.elts.iter().filter_map(literal).collect(),
        _ => vec![],
    };
    Some(Argument {
        destination: named("dest").and_then(text).unwrap_or_else(|| name.trim_start_matches('-').replace('-', "_")),
        is_required: if is_option { is_required } else { !is_optional },
        is_flag: named("action").and_then(text).is_some_and(|action| action != "append" && action != "store"),
        is_number,
        choices,
        name,
    })
}

/// What stands behind the name of the program. `None` if it reads no command line, or one of a form that is not known.
pub(crate) fn command_line(reading: &Reading, scene: &Scenario) -> Option<Vec<String>> {
    let sketch = &reading.sketch;
    let is_read = |origin: &str| origin.starts_with("argparse.") && origin.ends_with(".parse_args");
    let source = sketch.sources.iter().find(|source| is_read(&source.origin))?;
    if !source.arguments(sketch).is_empty() {
        return None;
    }
    let text = reading.text();
    let mut arguments = Arguments::default();
    with_stack_for(text.len(), || arguments.visit_body(parse(text).suite()));
    if arguments.has_commands {
        return None;
    }
    let attributes = &sketch.value(source.value).attributes;
    let mut line = Vec::new();
    let mut plain = Vec::new();
    for argument in arguments.found {
        let asked = attributes.iter().find(|(name, _)| *name == argument.destination).map(|(_, id)| *id);
        let is_asked = asked.is_some_and(|id| !sketch.conditions_of(id).is_empty());
        let value = asked.and_then(|id| sketch.node(id, &argument.destination, scene).value);
        let is_empty = matches!(&value, Some(Recipe::None | Recipe::Bool(false)))
            || matches!(&value, Some(Recipe::Str(text)) if text.is_empty());
        if !argument.is_required && (!is_asked || is_empty) {
            continue;
        }
        let is_option = argument.name.starts_with('-');
        if is_option {
            line.push(argument.name.clone());
        }
        if !argument.is_flag {
            let written = written(&argument, value);
            if is_option { line.push(written) } else { plain.push(written) }
        }
    }
    Some([plain, line].concat())
}

fn written(argument: &Argument, value: Option<Recipe>) -> String {
    let text = |value: &Recipe| match value {
        Recipe::Str(text) => text.clone(),
        other => other.display(),
    };
    let chosen = argument.choices.iter().find(|choice| Some(*choice) == value.as_ref()).or(argument.choices.first());
    match (chosen, value) {
        (Some(chosen), _) => text(chosen),
        (None, Some(number @ (Recipe::Int(_) | Recipe::Float(_)))) => text(&number),
        _ if argument.is_number => "1".into(),
        (None, Some(Recipe::Str(value))) if !value.is_empty() => value,
        _ => argument.destination.clone(),
    }
}
