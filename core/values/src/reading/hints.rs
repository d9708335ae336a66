//! What a function says about its parameters: annotations, default values, and types in the docstring.
//!
//! Hints multiply a predictor's probabilities for the sites of a parameter. They are not laws: annotations and
//! docstrings may be wrong, and unintended values are where changes show. Default values and members of `Literal[...]`
//! become candidates. Hints are read from the text alone.

use std::collections::BTreeMap;

use ruff_python_ast::{AtomicNodeIndex, Expr, Identifier, Parameters, Stmt, StmtFunctionDef};
use ruff_text_size::TextRange;

use twincell_syntax::parse::{parse, with_stack_for};
use twincell_syntax::site::{Site, SiteKind};
use twincell_syntax::{CodeKind, Function};

use super::annotations::{MAX_DEPTH, add, class_named, declared};
use super::class_syntax::last_name;
use super::facts::ModuleFacts;
use super::hint::{Hint, HintBasis};
use super::inferred::{from_uses, infer};
use super::tables::TokenizedText;
use super::types;
use super::used::Uses;
use super::written::literal;
use crate::predictor::Distribution;
use crate::value::{AbstractValue, Declared, library};

/// The share of its probability that a class keeps if no hint names it.
const UNNAMED: f32 = 0.15;
/// The minimum probability that the named classes share, relative to the rest.
const NAMED: f32 = 0.3;

/// The hints of a function, by parameter.
pub fn hints(function: &Function) -> BTreeMap<String, Hint> {
    hints_within(function, &ModuleFacts::default(), &BTreeMap::new())
}

/// Like [`hints`], with what the module tells, and with what another version says of parameters of which this one says
/// nothing.
pub fn hints_within(
    function: &Function,
    known: &ModuleFacts,
    others: &BTreeMap<String, Hint>,
) -> BTreeMap<String, Hint> {
    with_stack_for(function.text.len(), || {
        let parsed = parse(&function.text);
        let mut found: BTreeMap<String, Hint> = BTreeMap::new();
        let statements;
        let definition = match parsed.suite().first() {
            _ if function.kind == CodeKind::Snippet => {
                statements = without_parameters(parsed.suite());
                &statements
            }
            Some(Stmt::FunctionDef(definition)) => definition,
            _ => return found,
        };
        if let Some(Stmt::Expr(first)) = definition.body.first()
            && let Expr::StringLiteral(text) = first.value.as_ref()
        {
            for (name, described) in documented(text.value.to_str()) {
                let hint = found.entry(name).or_default();
                read_words(&described, hint);
                hint.declared = types::documented(&described, known);
            }
        }
        annotated(&definition.parameters, known, &mut found);
        for (name, other) in others {
            let hint = found.entry(name.clone()).or_default();
            let is_open = hint.declared.is_none() && hint.classes.iter().all(|class| *class == AbstractValue::None);
            if let Some(declared) = other.declared.as_ref().filter(|own| is_open && own.is_of_classes()) {
                infer(hint, declared.clone(), other.basis);
            }
        }
        let written = TokenizedText { text: &function.text, tokens: parsed.tokens() };
        // Callers in the module write the names of its functions. Methods may have the same names.
        let handed = known.handed.get(&function.name);
        let handed = handed.filter(|_| function.class_name.is_none() && function.parent.is_none());
        let handed = handed.map_or(&[][..], Vec::as_slice);
        let others = from_uses(definition, written, known, handed, &mut found);
        found.retain(|name, hint| {
            let is_own = definition.parameters.iter().any(|one| one.name() == name) || others.contains(name);
            *hint != Hint::default() && is_own
        });
        found
    })
}

/// A function that consists of statements.
fn without_parameters(statements: &[Stmt]) -> StmtFunctionDef {
    StmtFunctionDef {
        node_index: AtomicNodeIndex::default(),
        range: TextRange::default(),
        is_async: false,
        decorator_list: Default::default(),
        name: Identifier::new("statements", TextRange::default()),
        type_params: None,
        parameters: Box::default(),
        returns: None,
        body: statements.to_vec().into(),
    }
}

/// Weights predictions and adds candidates at the sites that read a value for which there are hints.
pub fn apply(hints: &BTreeMap<String, Hint>, sites: &[Site], predictions: &mut [Distribution], uses: &mut [Uses]) {
    for ((site, distribution), uses) in sites.iter().zip(predictions).zip(uses) {
        let Some(hint) = hints.get(&site.path) else { continue };
        hint.apply(distribution, uses);
    }
}

impl Hint {
    /// Takes the declared classes of libraries for others of the same name, unless the code can mean them.
    pub fn keep_library(&mut self, is_meant: &dyn Fn(&str, HintBasis) -> bool) {
        let basis = self.basis;
        let is_other = |declared: &Declared| !declared.is_of_library(&|class| is_meant(class, basis));
        // What a container holds may be anything then.
        if let Some(declared) = &mut self.declared
            && declared.items.as_deref().is_some_and(is_other)
        {
            declared.items = None;
        }
        if self.declared.as_ref().is_some_and(is_other) {
            self.declared = None;
        }
    }

    /// Weights the prediction for the parameter and adds candidates.
    pub fn apply(&self, distribution: &mut Distribution, uses: &mut Uses) {
        weigh(self, distribution);
        uses.declared = self.declared.clone();
        uses.named = self.named.clone();
        uses.optional |= self.optional;
        for candidate in &self.candidates {
            if !uses.candidates.contains(candidate) {
                uses.candidates.push(candidate.clone());
            }
        }
        for key in &self.keys {
            if !uses.key_candidates.contains(key) {
                uses.key_candidates.push(key.clone());
            }
        }
        uses.bytes |= self.bytes && self.classes.is_empty();
        if !self.items.is_empty() {
            let element = uses.element.get_or_insert_default();
            element
                .tested
                .extend(self.items.iter().filter(|class| !element.tested.contains(class)).copied().collect::<Vec<_>>());
        }
    }
}

/// The hints for the fields that a class declares, for classes whose constructor is generated from these: dataclasses
/// and named tuples.
pub fn field_hints(class: &str, known: &ModuleFacts) -> BTreeMap<String, Hint> {
    with_stack_for(class.len(), || {
        let parsed = parse(class);
        let mut found: BTreeMap<String, Hint> = BTreeMap::new();
        let Some(Stmt::ClassDef(definition)) = parsed.suite().first() else { return found };
        for field in definition.body.iter().filter_map(Stmt::as_ann_assign_stmt) {
            let Expr::Name(name) = field.target.as_ref() else { continue };
            one(&name.id, Some(&field.annotation), field.value.as_deref(), known, &mut found);
        }
        found.retain(|_, hint| *hint != Hint::default());
        found
    })
}

/// A name in capitals is a constant, which stands for something. `None` is unlikely, unless the code asks for it.
pub fn apply_constants(sites: &[Site], predictions: &mut [Distribution], uses: &[Uses]) {
    for ((site, distribution), uses) in sites.iter().zip(predictions).zip(uses) {
        let is_read = matches!(site.kind, SiteKind::Name | SiteKind::Attribute);
        if !is_read || !is_constant_name(&site.identifier) || uses.tested.contains(&AbstractValue::None) {
            continue;
        }
        distribution[AbstractValue::None as usize] *= UNNAMED;
        let total: f32 = distribution.iter().sum();
        if total > 0.0 {
            distribution.iter_mut().for_each(|probability| *probability /= total);
        }
    }
}

fn is_constant_name(name: &str) -> bool {
    name.chars().filter(|c| c.is_ascii_uppercase()).count() > 1
        && name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
}

fn weigh(hint: &Hint, distribution: &mut Distribution) {
    if hint.classes.is_empty() {
        return;
    }
    let share = NAMED / hint.classes.len() as f32;
    for class in AbstractValue::ALL {
        let probability = &mut distribution[class as usize];
        *probability = if hint.classes.contains(&class) { *probability + share } else { *probability * UNNAMED };
    }
    let total: f32 = distribution.iter().sum();
    if total > 0.0 {
        distribution.iter_mut().for_each(|probability| *probability /= total);
    }
}

fn annotated(parameters: &Parameters, known: &ModuleFacts, found: &mut BTreeMap<String, Hint>) {
    for parameter in parameters.iter_non_variadic_params() {
        let annotation = parameter.parameter.annotation.as_deref();
        one(&parameter.parameter.name, annotation, parameter.default.as_deref(), known, found);
    }
}

/// Reads the annotation and the default of one parameter or attribute.
pub(super) fn one(
    name: &str,
    annotation: Option<&Expr>,
    default: Option<&Expr>,
    known: &ModuleFacts,
    found: &mut BTreeMap<String, Hint>,
) {
    if let Some(annotation) = annotation {
        // The signature takes precedence over other statements about the parameter.
        let mut hint = Hint::default();
        read_type(annotation, &mut hint, 0);
        hint.declared = declared(annotation, 0, known);
        hint.named = class_named(annotation, 0).filter(|_| hint.declared.is_none());
        hint.optional = hint.classes.contains(&AbstractValue::None);
        if hint != Hint::default() {
            found.insert(name.to_string(), hint);
        }
    }
    if let Some(Expr::Call(call)) = default
        && let Some(class) = last_name(&call.func).and_then(library::class_named)
        && found.get(name).is_none_or(|hint| hint.declared.is_none() && hint.classes.is_empty())
        && library::is_standard(class)
    {
        // `x=Decimal('0')`.
        let declared = Declared { library: vec![class.to_owned()], ..Declared::of(&[AbstractValue::Object]) };
        found.entry(name.to_string()).or_default().declared = Some(declared);
    }
    if let Some(default) = default.and_then(literal) {
        let hint = found.entry(name.to_string()).or_default();
        let class = default.abstract_value();
        // `=None` says that the value may be missing, and nothing about it otherwise.
        if (class != AbstractValue::None || !hint.classes.is_empty()) && !hint.classes.contains(&class) {
            hint.classes.push(class);
        }
        if let Some(declared) = hint.declared.as_mut().filter(|declared| !declared.admits(&default)) {
            // `x: int = None`.
            *declared = declared.clone().or(&Declared::of(&[class]));
        }
        if !hint.candidates.contains(&default) {
            hint.candidates.push(default);
        }
    }
}

/// Reads a type in Python's notation.
fn read_type(expr: &Expr, hint: &mut Hint, depth: u32) {
    use AbstractValue as A;
    if depth > MAX_DEPTH {
        return;
    }
    match expr {
        Expr::NoneLiteral(_) => add(&mut hint.classes, A::None),
        Expr::StringLiteral(text) => read_words(text.value.to_str(), hint),
        Expr::BinOp(node) => {
            read_type(&node.left, hint, depth + 1);
            read_type(&node.right, hint, depth + 1);
        }
        Expr::Name(name) => read_name(&name.id, hint),
        Expr::Attribute(node) => read_name(&node.attr, hint),
        Expr::Subscript(node) => {
            let outer = match node.value.as_ref() {
                Expr::Name(name) => name.id.as_str(),
                Expr::Attribute(node) => node.attr.as_str(),
                _ => return,
            };
            let inner = match node.slice.as_ref() {
                Expr::Tuple(tuple) => tuple.elts.as_slice(),
                other => std::slice::from_ref(other),
            };
            match outer {
                "Optional" | "Union" | "Annotated" | "Final" => {
                    let count = if outer == "Annotated" { 1 } else { inner.len() };
                    inner.iter().take(count).for_each(|part| read_type(part, hint, depth + 1));
                    if outer == "Optional" {
                        add(&mut hint.classes, A::None);
                    }
                }
                "Literal" => {
                    for member in inner.iter().filter_map(literal) {
                        add(&mut hint.classes, member.abstract_value());
                        hint.candidates.push(member);
                    }
                }
                _ => {
                    read_name(outer, hint);
                    let of_items = matches!(hint.classes.last(), Some(A::List | A::Tuple | A::Set));
                    if of_items {
                        let mut item = Hint::default();
                        inner.iter().take(1).for_each(|part| read_type(part, &mut item, depth + 1));
                        hint.items.extend(item.classes);
                    }
                }
            }
        }
        _ => {}
    }
}

fn read_name(name: &str, hint: &mut Hint) {
    use AbstractValue as A;
    let classes: &[A] = match name {
        "str" | "string" | "String" | "AnyStr" | "Text" | "unicode" | "basestring" => &[A::Str],
        "int" | "integer" | "Integer" => &[A::Int],
        "bool" | "boolean" | "Boolean" => &[A::Bool],
        "float" | "Float" | "number" | "Number" | "numeric" => &[A::Float, A::Int],
        "bytes" | "bytearray" | "memoryview" => {
            hint.bytes = true;
            &[]
        }
        "list" | "List" | "MutableSequence" => &[A::List],
        "Sequence" | "Iterable" | "Collection" | "Iterator" | "iterable" | "sequence" => &[A::List, A::Tuple],
        "tuple" | "Tuple" => &[A::Tuple],
        "dict" | "Dict" | "dictionary" | "Mapping" | "MutableMapping" | "mapping" | "OrderedDict" | "defaultdict" => {
            &[A::Dict]
        }
        "set" | "Set" | "frozenset" | "FrozenSet" | "AbstractSet" | "MutableSet" => &[A::Set],
        "callable" | "Callable" | "function" => &[A::Callable],
        "None" | "NoneType" => &[A::None],
        "IO" | "TextIO" | "BinaryIO" | "IOBase" | "socket" => &[A::Resource],
        "Any" | "object" | "TypeVar" | "T" => &[],
        // A class of the code itself, in the usual spelling of classes.
        name if name.starts_with(char::is_uppercase) => &[A::Object],
        _ => &[],
    };
    classes.iter().for_each(|class| add(&mut hint.classes, *class));
}

/// Reads a type in people's notation: `str or None, optional`, `list of int`.
fn read_words(text: &str, hint: &mut Hint) {
    let words = text.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|word| !word.is_empty());
    let mut in_items = false;
    for word in words.take(12) {
        match word {
            "of" => in_items = true,
            "or" | "and" | "optional" | "a" | "an" | "default" => in_items = false,
            _ if in_items => {
                let mut item = Hint::default();
                read_name(word, &mut item);
                hint.items.extend(item.classes);
            }
            // The first word of a sentence is not a class.
            _ if !is_known(word) => {}
            _ => read_name(word, hint),
        }
    }
}

fn is_known(word: &str) -> bool {
    let mut hint = Hint::default();
    read_name(word, &mut hint);
    hint.bytes || hint.classes.first().is_some_and(|class| *class != AbstractValue::Object)
}

/// The parameters and the texts of their types: Sphinx (`:type x: int`, `:param int x:`), Google (`x (int): ...`) and
/// NumPy (`x : int`).
fn documented(docstring: &str) -> Vec<(String, String)> {
    let is_name = |name: &str| !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_');
    let mut found = Vec::new();
    for line in docstring.lines() {
        let line = line.trim();
        if let Some(rest) = line.strip_prefix(":type ") {
            if let Some((name, described)) = rest.split_once(':') {
                found.push((name.trim().to_string(), described.trim().to_string()));
            }
        } else if let Some(rest) = line.strip_prefix(":param ") {
            if let Some((head, _)) = rest.split_once(':')
                && let Some((described, name)) = head.rsplit_once(' ')
            {
                found.push((name.trim().to_string(), described.trim().to_string()));
            }
        } else if let Some((head, described)) = line.split_once(" : ") {
            if is_name(head.trim()) {
                found.push((head.trim().to_string(), described.to_string()));
            }
        } else if let Some((head, rest)) = line.split_once('(')
            && is_name(head.trim())
            && let Some((described, _)) = rest.split_once("):")
        {
            found.push((head.trim().to_string(), described.to_string()));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reading::annotations::annotated_type;
    use crate::value::Recipe;
    use AbstractValue as A;

    fn hint(code: &str, name: &str) -> Hint {
        let (functions, _) = twincell_syntax::functions(code);
        hints(&functions[0]).remove(name).unwrap_or_default()
    }

    #[test]
    fn annotations_name_classes_and_those_of_items() {
        assert_eq!(hint("def f(x: int): pass", "x").classes, [A::Int]);
        assert_eq!(hint("def f(x: 'Optional[str]'): pass", "x").classes, [A::Str]);
        assert_eq!(hint("def f(x: str | None): pass", "x").classes, [A::Str, A::None]);
        let list = hint("def f(x: list[int]): pass", "x");
        assert_eq!((list.classes, list.items), (vec![A::List], vec![A::Int]));
        assert_eq!(hint("def f(x: Any): pass", "x").classes, []);
    }

    #[test]
    fn an_annotation_names_one_class_beside_none() {
        let named = |annotation: &str| hint(&format!("def f(x: {annotation}): pass"), "x").named;
        for annotation in ["Session", "'Session'", "Session | None", "Optional['Session']", "Annotated[Session, 1]"] {
            assert_eq!(named(annotation).as_deref(), Some("Session"), "{annotation}");
        }
        assert_eq!(named("Union[None, web.Session]").as_deref(), Some("web.Session"));
        for annotation in ["int", "Session | Other", "list[Session]", "session", "None", "'x +'", "Union[()]"] {
            assert_eq!(named(annotation), None, "{annotation}");
        }
        let optional = |code: &str| hint(code, "x").optional;
        assert!(optional("def f(x: Session | None): pass") && optional("def f(x: Optional[int]): pass"));
        assert!(!optional("def f(x: Session = None): pass") && !optional("def f(x: int): pass"));
    }

    #[test]
    fn annotations_of_builtin_classes_are_types() {
        assert_eq!(annotated_type("dict[str, int]").map(|own| own.classes), Some(vec![A::Dict]));
        assert_eq!(annotated_type("'Optional[str]'").map(|own| own.classes), Some(vec![A::Str, A::None]));
        for text in ["date", "list[Decimal]", "T", "x +", "self"] {
            assert_eq!(annotated_type(text), None, "{text}");
        }
    }

    #[test]
    fn a_class_is_that_of_the_library_which_its_name_leads_to() {
        let declared = |module: &str, annotation: &str| {
            let code = format!("def f(x: {annotation}): pass");
            let (functions, _) = twincell_syntax::functions(&code);
            let hint = hints_within(&functions[0], &ModuleFacts::of(module), &BTreeMap::new()).remove("x").unwrap();
            hint.declared.map(|declared| declared.library.join(" "))
        };
        for (module, annotation, expected) in [
            ("import polars as pl\n", "pl.DataFrame", Some("polars.DataFrame")),
            ("import polars as pl\nimport pandas as pd\n", "pd.DataFrame", Some("pandas.DataFrame")),
            ("import polars as pl\nimport pandas as pd\n", "pl.DataFrame", Some("polars.DataFrame")),
            ("from polars import DataFrame\n", "DataFrame", Some("polars.DataFrame")),
            ("import httpx\n", "httpx.Response", Some("httpx.Response")),
            ("import httpx\nimport requests\n", "requests.Response", Some("requests.Response")),
            ("import requests\nfrom flask import Response\n", "Response", None),
        ] {
            assert_eq!(declared(module, annotation).as_deref(), expected, "{module}{annotation}");
        }
    }

    #[test]
    fn the_first_type_in_brackets_is_that_of_the_items() {
        for annotation in ["Iterator[int]", "Generator[int, None, str]", "AsyncGenerator[int, None]", "Iterable[int]"] {
            let declared = hint(&format!("def f(x: {annotation}): pass"), "x").declared.unwrap();
            assert_eq!(declared.items.map(|items| items.classes), Some(vec![A::Int]), "{annotation}");
        }
    }

    #[test]
    fn two_types_in_the_brackets_of_a_class_of_the_module_are_those_of_keys_and_items() {
        let module = "from dataclasses import dataclass\n\n@dataclass\nclass Registry:\n    size: int\n";
        let (functions, _) = twincell_syntax::functions("def f(x: Registry[str, int]): pass");
        let hint = hints_within(&functions[0], &ModuleFacts::of(module), &BTreeMap::new()).remove("x").unwrap();
        let declared = hint.declared.unwrap();
        assert_eq!(declared.keys.map(|keys| keys.classes), Some(vec![A::Str]));
        assert_eq!(declared.items.map(|items| items.classes), Some(vec![A::Int]));
    }

    #[test]
    fn a_method_does_not_get_what_a_function_of_its_name_is_handed() {
        let module = "import pandas as pd\ndef load(x):\n    return x\nload(pd.read_csv('x.csv'))\n";
        let known = ModuleFacts::of(module);
        let declared = |code: &str, name: &str| {
            let (functions, _) = twincell_syntax::functions(code);
            let method = functions.iter().find(|function| function.name == "load").unwrap();
            hints_within(method, &known, &BTreeMap::new()).remove(name).and_then(|hint| hint.declared)
        };
        assert!(declared(module, "x").is_some());
        let code = "class C:\n    def load(self, path):\n        return path\n";
        assert_eq!((declared(code, "self"), declared(code, "path")), (None, None));
    }

    #[test]
    fn literals_and_defaults_are_candidates() {
        let found = hint("def f(x: Literal['a', 'b'] = 'c'): pass", "x").candidates;
        assert_eq!(found, ["a", "b", "c"].map(|text| Recipe::Str(text.into())));
        assert_eq!(hint("def f(x=5): pass", "x").classes, [A::Int]);
        assert_eq!(hint("def f(x=None): pass", "x").classes, []);
    }

    #[test]
    fn docstrings_of_all_three_styles_are_read() {
        let sphinx = "def f(x, y):\n    ''':param int x: how many\n    :type y: list of str\n    '''\n";
        assert_eq!(hint(sphinx, "x").classes, [A::Int]);
        assert_eq!(hint(sphinx, "y").items, [A::Str]);
        assert_eq!(hint("def f(x):\n    '''Args:\n        x (dict, optional): it\n    '''\n", "x").classes, [A::Dict]);
        assert_eq!(hint("def f(x):\n    '''\n    x : float\n        It.\n    '''\n", "x").classes, [A::Float, A::Int]);
        assert_eq!(hint("def f(x):\n    '''Does (as said): nothing of x.'''\n", "x"), Hint::default());
    }

    #[test]
    fn a_hint_multiplies_and_leaves_every_class_possible() {
        let mut distribution = [1.0 / 12.0; 12];
        weigh(&hint("def f(x: str): pass", "x"), &mut distribution);
        assert!(distribution[A::Str as usize] > 0.6, "{distribution:?}");
        assert!(distribution.iter().all(|probability| *probability > 0.0));
    }
}
