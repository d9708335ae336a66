//! The constants of a module: values that what the code looks up in them, or compares with them, may well have.

use std::collections::BTreeMap;

use ruff_python_ast::{Expr, Stmt};
use twincell_syntax::parse::{parse, with_stack_for};

use super::class_syntax::bases;
use super::written::{literal, literal_members};
use crate::value::Recipe;

/// By name: the value of a literal, the items of a list, a tuple or a set, or the keys of a dictionary.
pub type Constants = BTreeMap<String, Vec<Recipe>>;

/// The number of values that are kept of each constant.
const MOST: usize = 24;

/// The constants that a module, or a class in it, binds to names in capitals.
pub fn constants(module: &str) -> Constants {
    let is_start = |line: &str| line.trim_start().starts_with(|c: char| c.is_ascii_uppercase() || c == '_');
    if !module.lines().any(|line| is_start(line) && line.contains('=')) {
        return Constants::new();
    }
    with_stack_for(module.len(), || {
        let mut found = Constants::new();
        collect(parse(module).suite(), &mut found);
        found
    })
}

fn collect(body: &[Stmt], found: &mut Constants) {
    for stmt in body {
        let (targets, value) = match stmt {
            Stmt::Assign(node) => (node.targets.as_slice(), Some(node.value.as_ref())),
            Stmt::AnnAssign(node) => (std::slice::from_ref(node.target.as_ref()), node.value.as_deref()),
            Stmt::ClassDef(node) => {
                // The members of an enumeration are not equal to their values.
                if !bases(node).any(|base| base.ends_with("Enum") || base.ends_with("Flag")) {
                    collect(&node.body, found);
                }
                continue;
            }
            _ => continue,
        };
        let ([Expr::Name(name)], Some(value)) = (targets, value) else { continue };
        let is_constant = !name.id.chars().any(char::is_lowercase) && name.id.chars().any(char::is_uppercase);
        let values = if is_constant { values(value) } else { vec![] };
        if !values.is_empty() {
            found.insert(name.id.to_string(), values);
        }
    }
}

/// The value of a literal, or the members of a display, also of one that a call takes: `frozenset({'a', 'b'})`.
fn values(value: &Expr) -> Vec<Recipe> {
    let mut found = match value {
        Expr::Call(call) if call.arguments.keywords.is_empty() && call.arguments.args.len() == 1 => {
            literal_members(&call.arguments.args[0])
        }
        other => literal(other).map_or_else(|| literal_members(other), |value| vec![value]),
    };
    found.truncate(MOST);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_stand_for_their_values_members_and_keys() {
        let module = "\
LIMIT = 1000
RATES: dict = {'std': 0.2, 'low': 0.1}
_ALLOWED = frozenset({'a', 'b'})
name = 'x'
OTHER = compute()
class C:
    MOST = 3
class E(IntEnum):
    ONE = 1
";
        let text = |text: &str| Recipe::Str(text.into());
        let expected = [
            ("LIMIT", vec![Recipe::Int(1000)]),
            ("MOST", vec![Recipe::Int(3)]),
            ("RATES", vec![text("std"), text("low")]),
            ("_ALLOWED", vec![text("a"), text("b")]),
        ];
        assert_eq!(constants(module), expected.map(|(name, values)| (name.to_owned(), values)).into());
    }
}
