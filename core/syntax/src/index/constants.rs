//! What a module binds once and for all: constants, and what imports bind of modules that only compute.

use std::collections::BTreeSet;

use ruff_python_ast::{Arguments, Expr, Stmt, StmtClassDef};

use super::Index;
use crate::bound::bound;
use crate::python::is_pure_import;
use crate::scopes::{assigned_attributes, declared_globals};

/// Numbers, texts, tables and enumerations that a module or a class binds once. A switch, None and what is empty are set later, and so
/// are attributes of a class whose names have small letters: subclasses and objects have others.
pub(super) fn constants(index: &Index, body: &[Stmt]) -> BTreeSet<String> {
    let constant = |stmt| constant(index, stmt);
    let of_module = body.iter().filter_map(constant);
    let mut found: BTreeSet<String> = of_module.map(str::to_owned).collect();
    let is_bound_once = |name: &String| match index.places.get(name) {
        Some(places) => places.len() == 1,
        None => index.classes.contains_key(name),
    };
    for stmt in body {
        let Stmt::ClassDef(class) = stmt else { continue };
        if is_enumeration(index, class) {
            found.insert(class.name.to_string());
        }
        let names = class.body.iter().filter_map(constant).filter(|name| name.chars().all(|c| !c.is_lowercase()));
        found.extend(names.map(|name| format!("{}.{name}", class.name)));
    }
    found.retain(is_bound_once);
    if !found.is_empty() {
        let (rebound, assigned) = (declared_globals(&index.text), assigned_attributes(&index.text));
        found.retain(|name| match name.rsplit_once('.') {
            Some((_, attribute)) => !assigned.contains(attribute),
            None => !rebound.contains(name),
        });
    }
    found
}

/// Whether a class is an enumeration of values that are written out, without code of its own.
fn is_enumeration(index: &Index, class: &StmtClassDef) -> bool {
    const BASES: [&str; 5] = ["Enum", "Flag", "IntEnum", "IntFlag", "StrEnum"];
    let is_base = |base: &Expr| match base {
        Expr::Name(name) => BASES.contains(&name.id.as_str()) && only_computes(index, base),
        Expr::Attribute(node) => BASES.contains(&node.attr.as_str()) && only_computes(index, base),
        _ => false,
    };
    let is_builtin = |base: &Expr| {
        let name = base.as_name_expr().map(|name| name.id.as_str());
        name.is_some_and(|name| matches!(name, "str" | "int") && !index.has(name))
    };
    let is_auto = |value: &Expr| match value {
        Expr::Call(call) => call.arguments.is_empty() && only_computes(index, &call.func),
        _ => false,
    };
    let is_member = |stmt: &Stmt| match stmt {
        Stmt::Assign(node) => is_auto(&node.value) || is_written_out(index, &node.value),
        Stmt::Expr(node) => node.value.is_string_literal_expr(),
        Stmt::Pass(_) => true,
        _ => false,
    };
    let bases = class.bases();
    class.decorator_list.is_empty()
        && class.keywords().is_empty()
        && bases.iter().any(is_base)
        && bases.iter().all(|base| is_base(base) || is_builtin(base))
        && class.body.iter().all(is_member)
}

/// The names that imports bind to modules that only compute, and to what those hold. An import within another statement
/// may not run.
pub(super) fn pure_imports(index: &Index, body: &[Stmt]) -> BTreeSet<String> {
    let is_pure = |stmt: &&Stmt| match stmt {
        // `import a.b` binds `a`.
        Stmt::Import(import) => import.names.iter().all(|alias| {
            let bound =
                alias.asname.as_ref().map_or_else(|| alias.name.split('.').next(), |_| Some(alias.name.as_str()));
            bound.is_some_and(is_pure_import)
        }),
        Stmt::ImportFrom(import) => import.level == 0 && import.module.as_deref().is_some_and(is_pure_import),
        _ => false,
    };
    let mut found: BTreeSet<String> = body.iter().filter(is_pure).flat_map(bound).map(str::to_owned).collect();
    found.retain(|name| index.places.get(name).is_some_and(|places| places.len() == 1));
    if !found.is_empty() {
        let rebound = declared_globals(&index.text);
        found.retain(|name| !rebound.contains(name));
    }
    found
}

/// The name that a statement binds to a value that is written out.
fn constant<'a>(index: &Index, stmt: &'a Stmt) -> Option<&'a str> {
    let (target, value) = match stmt {
        Stmt::Assign(node) => match node.targets.as_slice() {
            [target] => (target, &*node.value),
            _ => return None,
        },
        Stmt::AnnAssign(node) => (&*node.target, node.value.as_deref()?),
        _ => return None,
    };
    let is_set_later = matches!(value, Expr::BooleanLiteral(_) | Expr::NoneLiteral(_)) || is_empty(value);
    let name = target.as_name_expr()?.id.as_str();
    (!is_set_later && is_written_out(index, value)).then_some(name)
}

fn is_empty(value: &Expr) -> bool {
    match value {
        Expr::List(node) => node.elts.is_empty(),
        Expr::Tuple(node) => node.elts.is_empty(),
        Expr::Dict(node) => node.items.is_empty(),
        Expr::StringLiteral(node) => node.value.is_empty(),
        _ => false,
    }
}

/// Whether a value is written with literals and calls that only compute: `60 * 60`, `re.compile('a+')`, `frozenset({1})`.
fn is_written_out(index: &Index, value: &Expr) -> bool {
    let all = |values: &[Expr]| values.iter().all(|value| is_written_out(index, value));
    match value {
        Expr::List(node) => all(&node.elts),
        Expr::Tuple(node) => all(&node.elts),
        Expr::Set(node) => all(&node.elts),
        Expr::Dict(node) => node.items.iter().all(|item| {
            item.key.as_ref().is_some_and(|key| is_written_out(index, key)) && is_written_out(index, &item.value)
        }),
        Expr::UnaryOp(node) => is_written_out(index, &node.operand),
        Expr::BinOp(node) => is_written_out(index, &node.left) && is_written_out(index, &node.right),
        Expr::Call(node) => {
            let arguments = &node.arguments;
            // What is made from nothing is filled later.
            !arguments.is_empty()
                && !is_filled_later(&node.func, arguments)
                && only_computes(index, &node.func)
                && all(&arguments.args)
                && arguments.keywords.iter().all(|keyword| is_written_out(index, &keyword.value))
        }
        value => value.is_literal_expr(),
    }
}

/// Whether a call makes something that changes later: an empty container of a given size, or a counter.
fn is_filled_later(function: &Expr, arguments: &Arguments) -> bool {
    let name = match function {
        Expr::Name(name) => name.id.as_str(),
        Expr::Attribute(node) => node.attr.as_str(),
        _ => return false,
    };
    match name {
        "count" | "cycle" => true,
        "deque" | "defaultdict" => arguments.args.is_empty(),
        _ => false,
    }
}

/// Classes of Python of which a module writes constants.
const OF_CONSTANTS: [&str; 7] = ["bytes", "dict", "frozenset", "list", "range", "set", "tuple"];

fn only_computes(index: &Index, function: &Expr) -> bool {
    match function {
        Expr::Name(name) => {
            let name = name.id.as_str();
            index.is_pure_import(name) || OF_CONSTANTS.contains(&name) && !index.has(name)
        }
        Expr::Attribute(node) => only_computes(index, &node.value),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_are_written_with_literals_and_calls_that_only_compute() {
        let index = Index::of(
            "import re\nfrom collections import deque\nfrom datetime import timedelta\nfrom itertools import count\nfrom shop import load\nWORD = re.compile('a+')\n\
             KEEP = timedelta(minutes=30)\nSTART = timedelta(0)\nNAMES = frozenset({'a', 'b'})\nDAY = 24 * 60 * 60\n\
             RECENT = deque(maxlen=9)\nIDS = count(1)\nRATES = load('rates')\nCACHE = dict()\nSIZE = len(NAMES)\nNESTED = [re.compile(load('x'))]\n",
        );
        for name in ["WORD", "START", "NAMES", "DAY"] {
            assert!(index.is_constant(name), "{name}");
        }
        for name in ["RECENT", "IDS", "RATES", "CACHE", "SIZE", "NESTED"] {
            assert!(!index.is_constant(name), "{name}");
        }
    }

    #[test]
    fn an_enumeration_without_code_is_a_constant() {
        let index = Index::of(
            "import enum\nfrom enum import Enum, auto\nfrom shop import Base, color\n\n\
             class Unit(str, Enum):\n    'Units.'\n    C = 'c'\n\n\
             class Kind(enum.IntEnum):\n    A = auto()\n\n\
             class Own(Enum):\n    A = 1\n    def f(self):\n        return 1\n\n\
             class Loaded(Enum):\n    A = color()\n\nclass Plain:\n    A = 1\n\nclass Other(Base, Enum):\n    A = 1\n",
        );
        for name in ["Unit", "Kind"] {
            assert!(index.is_constant(name), "{name}");
        }
        for name in ["Own", "Loaded", "Plain", "Other"] {
            assert!(!index.is_constant(name), "{name}");
        }
    }

    #[test]
    fn a_name_that_the_module_defines_is_not_of_python() {
        let own = "def frozenset(x):\n    return x\nNAMES = frozenset({'a', 'b'})\n";
        assert!(!Index::of(own).is_constant("NAMES"));
    }
}
