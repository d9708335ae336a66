//! What a constructor says about the attributes that it gives to its objects.

use std::collections::{BTreeMap, BTreeSet};

use ruff_python_ast::visitor::{Visitor, walk_expr, walk_stmt};
use ruff_python_ast::{BoolOp, Expr, ModModule, Stmt, StmtFunctionDef};
use ruff_python_parser::Parsed;

use twincell_syntax::Function;
use twincell_syntax::parse::{parse, with_stack_for};

use super::bindings::own_attribute;
use super::facts::ModuleFacts;
use super::hint::Hint;
use super::hints::{hints_within, one};
use super::stored::stored;
use super::written::{builtin_class, named};
use crate::value::{AbstractValue, Declared};

/// The hints for the attributes that the statements of a constructor assign, by name: annotations, literals,
/// containers, and parameters for which there are hints. An attribute that starts as a container and becomes nothing else
/// in these methods is one. That an attribute starts as `None` says nothing about it.
pub fn attribute_hints(constructor: &Function, methods: &[&Function], known: &ModuleFacts) -> BTreeMap<String, Hint> {
    let parameters = hints_within(constructor, known, &BTreeMap::new());
    let length = methods.iter().map(|method| method.text.len()).max().unwrap_or(0).max(constructor.text.len());
    with_stack_for(length, || {
        let mut found: BTreeMap<String, Hint> = BTreeMap::new();
        let parsed = parse(&constructor.text);
        let Some(Stmt::FunctionDef(definition)) = parsed.suite().first() else { return found };
        let mut containers = BTreeMap::new();
        for Assigned { name, annotation, value } in definition.body.iter().filter_map(|one| assigned(definition, one)) {
            let value = value.map(otherwise).filter(|value| !value.is_none_literal_expr());
            let handed = value.and_then(named).and_then(|name| parameters.get(&name));
            if let (Some(hint), None) = (handed, annotation) {
                found.entry(name.to_owned()).or_insert_with(|| hint.clone());
                continue;
            }
            one(name, annotation, value, known, &mut found);
            if let Some(class) = value.and_then(class_of) {
                let hint = found.entry(name.to_owned()).or_default();
                if !hint.classes.contains(&class) && hint.declared.is_none() {
                    hint.classes.push(class);
                }
            }
            if let (Some(made @ (Expr::List(_) | Expr::Dict(_) | Expr::Set(_) | Expr::Call(_))), None) =
                (value, annotation)
                && let Some(class) = class_of(made).filter(|class| is_container(*class))
            {
                containers.insert(name.to_owned(), class);
            }
        }
        let others: Vec<Parsed<ModModule>> = methods.iter().map(|method| parse(&method.text)).collect();
        for other in others.iter().chain([&parsed]) {
            let Some(Stmt::FunctionDef(definition)) = other.suite().first() else { continue };
            let mut all = Assignments { of: definition, containers: &mut containers };
            all.visit_body(&definition.body);
        }
        let texts = others.iter().chain([&parsed]).filter_map(|text| text.suite().first()?.as_function_def_stmt());
        let mut held = stored(texts, known);
        for (name, class) in containers {
            let items = held.remove(&name).map(Box::new);
            let hint = found.entry(name).or_default();
            hint.declared.get_or_insert_with(|| Declared { items, ..Declared::of(&[class]) });
        }
        found.retain(|_, hint| *hint != Hint::default());
        found
    })
}

/// The parameters that a constructor keeps as they are, each with its attribute: `self.size = size`, `self.items = items or []`.
/// Those that it binds again are others, and so is what an attribute becomes later.
pub fn kept_parameters(constructor: &Function) -> Vec<(String, String)> {
    with_stack_for(constructor.text.len(), || {
        let parsed = parse(&constructor.text);
        let Some(Stmt::FunctionDef(definition)) = parsed.suite().first() else { return vec![] };
        let mut bound = Bound::default();
        bound.visit_body(&definition.body);
        let passed: Vec<&str> = constructor.parameters.iter().skip(1).map(|one| one.name.as_str()).collect();
        let kept = definition.body.iter().filter_map(|statement| {
            let Assigned { name, value, .. } = assigned(definition, statement)?;
            let is_kept = |parameter: &String| passed.contains(&&**parameter) && !bound.names.contains(parameter);
            let parameter = alternatives(value?).into_iter().filter_map(named).find(is_kept)?;
            (bound.attributes.get(name) == Some(&1)).then(|| (parameter, name.to_owned()))
        });
        kept.collect()
    })
}

/// The names that statements bind, and how often each attribute of any object.
#[derive(Default)]
struct Bound {
    names: BTreeSet<String>,
    attributes: BTreeMap<String, u32>,
}

impl<'a> Visitor<'a> for Bound {
    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Name(name) if !name.ctx.is_load() => {
                self.names.insert(name.id.to_string());
            }
            Expr::Attribute(target) if target.ctx.is_store() => {
                *self.attributes.entry(target.attr.to_string()).or_default() += 1;
            }
            _ => {}
        }
        walk_expr(self, expr);
    }
}

/// An assignment to an attribute of the object to which a method belongs.
struct Assigned<'a> {
    name: &'a str,
    annotation: Option<&'a Expr>,
    value: Option<&'a Expr>,
}

fn assigned<'a>(method: &StmtFunctionDef, statement: &'a Stmt) -> Option<Assigned<'a>> {
    let (target, annotation, value) = match statement {
        Stmt::Assign(node) => match node.targets.as_slice() {
            [target] => (target, None, Some(node.value.as_ref())),
            _ => return None,
        },
        Stmt::AnnAssign(node) => (node.target.as_ref(), Some(node.annotation.as_ref()), node.value.as_deref()),
        _ => return None,
    };
    Some(Assigned { name: own_attribute(method, target)?, annotation, value })
}

/// Takes the attributes that a method binds to anything else from those that are containers.
struct Assignments<'a> {
    of: &'a StmtFunctionDef,
    /// The class of each.
    containers: &'a mut BTreeMap<String, AbstractValue>,
}

impl<'a> Visitor<'a> for Assignments<'_> {
    fn visit_stmt(&mut self, statement: &'a Stmt) {
        if let Stmt::AugAssign(node) = statement {
            // What is joined to a container leaves it one: `self.seen |= {x}`.
            return self.visit_expr(&node.value);
        }
        match assigned(self.of, statement) {
            Some(Assigned { name, value: Some(value), .. }) => {
                let class = class_of(otherwise(value));
                if self.containers.get(name).is_some_and(|known| class != Some(*known)) {
                    self.containers.remove(name);
                }
            }
            _ => walk_stmt(self, statement),
        }
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        let is_bound = expr.as_attribute_expr().is_some_and(|target| target.ctx.is_store());
        if let Some(name) = own_attribute(self.of, expr).filter(|_| is_bound) {
            self.containers.remove(name);
        }
        walk_expr(self, expr);
    }
}

fn is_container(class: AbstractValue) -> bool {
    matches!(class, AbstractValue::List | AbstractValue::Dict | AbstractValue::Set)
}

/// What an expression may give: both of `items or []`, and of `items if items else []`.
fn alternatives(expr: &Expr) -> Vec<&Expr> {
    match expr {
        Expr::BoolOp(node) if node.op == BoolOp::Or => node.values.iter().collect(),
        Expr::If(node) => vec![&node.body, &node.orelse],
        _ => vec![expr],
    }
}

/// What an expression gives where nothing was handed over: `[]` of `items or []` and of `items if items else []`.
fn otherwise(expr: &Expr) -> &Expr {
    match expr {
        Expr::BoolOp(node) if node.op == BoolOp::Or => node.values.last().unwrap_or(expr),
        Expr::If(node) => &node.orelse,
        _ => expr,
    }
}

/// The class of a container that is made, or what a builtin class makes.
fn class_of(expr: &Expr) -> Option<AbstractValue> {
    match expr {
        Expr::List(_) | Expr::ListComp(_) => Some(AbstractValue::List),
        Expr::Dict(_) | Expr::DictComp(_) => Some(AbstractValue::Dict),
        Expr::Set(_) | Expr::SetComp(_) => Some(AbstractValue::Set),
        Expr::Tuple(_) => Some(AbstractValue::Tuple),
        Expr::Call(call) => call.func.as_name_expr().and_then(|name| builtin_class(&name.id)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use AbstractValue as A;

    #[test]
    fn a_constructor_keeps_parameters_as_attributes() {
        let code = "class C:\n    def __init__(self, size, late, twice, lines=None, other=None, *rest):\n        \
                    self.size = size\n        self.lines = lines or []\n        self.own: int = other + 1\n        \
                    self.other = [] if other is None else other\n        self.last = size.last\n        \
                    self.unknown = unknown\n        self.me = self\n        late = late.name\n        \
                    self.late = late\n        self.twice = twice\n        self.twice = int(self.twice)\n        \
                    rest.extent = size\n";
        let (functions, _) = twincell_syntax::functions(code);
        let kept = kept_parameters(&functions[0]);
        let kept: Vec<(&str, &str)> = kept.iter().map(|(one, attribute)| (&**one, &**attribute)).collect();
        assert_eq!(kept, [("size", "size"), ("lines", "lines"), ("other", "other")]);
    }

    #[test]
    fn what_a_constructor_assigns_tells_of_attributes() {
        let code = "class C:\n    def __init__(self, size: int, lines=None, other=None):\n        \
                    self.size = size\n        self.lines = lines or []\n        self.seen = set()\n        \
                    self.by_name: dict[str, int] = {}\n        self.other = other\n        self.open = None\n        \
                    self.pairs = [x for x in lines]\n        size.a = {}\n        self.a.b = {}\n        \
                    self.rows = []\n        self.lost = []\n        self.bound = []\n    \
                    def clear(self):\n        self.rows = []\n        self.seen |= {1}\n        \
                    if self.lost:\n            self.lost = None\n        \
                    for self.bound in self.lines: pass\n";
        let (functions, _) = twincell_syntax::functions(code);
        let found = attribute_hints(&functions[0], &functions[1..].iter().collect::<Vec<_>>(), &ModuleFacts::default());
        let classes: Vec<(&str, &[A])> = found.iter().map(|(name, one)| (name.as_str(), &one.classes[..])).collect();
        let expected: [(&str, &[A]); 9] = [
            ("bound", &[A::List]),
            ("by_name", &[A::Dict]),
            ("lines", &[A::List]),
            ("lost", &[A::List]),
            ("other", &[]),
            ("pairs", &[A::List]),
            ("rows", &[A::List]),
            ("seen", &[A::Set]),
            ("size", &[A::Int]),
        ];
        assert_eq!(classes, expected);
        let declared = found.iter().filter(|(_, one)| one.declared.is_some()).map(|(name, _)| name.as_str());
        assert_eq!(declared.collect::<Vec<_>>(), ["by_name", "lines", "rows", "seen", "size"]);
    }

    #[test]
    fn what_methods_put_into_a_container_tells_of_its_items() {
        let code = "class C:\n    def __init__(self):\n        self.done = []\n        self.names = {}\n        \
                    self.mixed = []\n        self.unknown = []\n    \
                    def add(self, at, text):\n        edit = Edit(at, text)\n        self.done.append(edit)\n        \
                    self.names[at] = f'{text}!'\n        self.mixed.append(1)\n        self.unknown.append(text)\n    \
                    def more(self):\n        self.mixed.insert(0, 'a')\n        self.unknown += [1]\n        self.done.append(self.gone.pop())\n";
        let module = "class Edit:\n    def __init__(self, at, text):\n        self.at = at\n        self.text = text\n";
        let (functions, _) = twincell_syntax::functions(code);
        let known = ModuleFacts::of(module);
        let found = attribute_hints(&functions[0], &functions[1..].iter().collect::<Vec<_>>(), &known);
        let items = |name: &str| found[name].declared.as_ref().unwrap().items.as_deref();
        assert_eq!(items("done").unwrap().models[0].class, "Edit");
        assert_eq!(items("names").unwrap().classes, [A::Str]);
        assert_eq!(items("mixed").unwrap().classes, [A::Int, A::Str]);
        assert_eq!(items("unknown"), None);
    }
}
