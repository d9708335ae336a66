//! What calls give, as far as the text and everybody's knowledge of builtins and of a few libraries tell.

use ruff_python_ast::{Expr, ExprCall};

use twincell_syntax::dotted;
use twincell_syntax::python::is_builtin;
use twincell_values::reading::literal;
use twincell_values::value::Recipe;

use super::walk::Walk;
use super::{Id, Kind, Source, Test, Value};
use crate::foreign::{is_foreign, opens};
use crate::network;

/// Methods that only frames of pandas have. The result of those in the second list is another frame of the same columns.
const OF_FRAMES: &[&str] = &[
    "groupby",
    "merge",
    "iloc",
    "loc",
    "iterrows",
    "itertuples",
    "dropna",
    "fillna",
    "drop_duplicates",
    "pivot_table",
    "to_csv",
    "set_index",
    "reset_index",
    "sort_values",
    "value_counts",
    "to_excel",
    "melt",
    "applymap",
    "corr",
    "nlargest",
];
const SAME: &[&str] = &[
    "dropna",
    "fillna",
    "drop_duplicates",
    "reset_index",
    "sort_values",
    "head",
    "tail",
    "copy",
    "merge",
    "query",
    "sample",
    "assign",
    "sort_index",
    "nlargest",
];
/// Arguments of their methods that name columns.
const COLUMNS: &[&str] = &["on", "by", "subset", "columns", "left_on", "right_on", "index", "values"];

/// Functions whose first argument is a sequence of bytes.
const TAKING_BYTES: &[&str] = &[
    "base64.b64decode",
    "base64.b64encode",
    "base64.urlsafe_b64decode",
    "base64.urlsafe_b64encode",
    "binascii.hexlify",
    "hashlib.md5",
    "hashlib.sha1",
    "hashlib.sha256",
    "hashlib.sha512",
    "io.BytesIO",
    "zlib.compress",
    "zlib.crc32",
];

/// Methods of texts that give a text like it.
const SAME_TEXT: &[&str] = &["strip", "lstrip", "rstrip", "lower", "upper", "title", "casefold", "capitalize"];

/// Methods of texts that files do not have.
const OF_TEXTS: &[&str] =
    &["strip", "lstrip", "rstrip", "split", "splitlines", "startswith", "endswith", "lower", "upper"];

impl Walk<'_> {
    pub(super) fn call(&mut self, node: &ExprCall, whole: &Expr) -> Id {
        let arguments = &node.arguments;
        if let Expr::Name(name) = node.func.as_ref()
            && name.id == "super"
        {
            return self.above();
        }
        if let Expr::Attribute(attribute) = node.func.as_ref() {
            let of = self.expression(&attribute.value);
            self.note_usual_method(of, node);
            if let Some(id) = self.method(of, &attribute.attr, node) {
                return id;
            }
        }
        let callee = self.expression(&node.func);
        let given: Vec<Id> = arguments.args.iter().map(|argument| self.expression(argument)).collect();
        for (argument, &value) in arguments.args.iter().zip(&given) {
            if argument.is_starred_expr() {
                self.sketch.value_mut(value).is_spread = true;
            }
        }
        let named: Vec<(String, Id)> = arguments
            .keywords
            .iter()
            .filter_map(|keyword| {
                let value = self.expression(&keyword.value);
                if keyword.arg.is_none() {
                    self.is_kind(value, Kind::Dict);
                }
                keyword.arg.as_ref().map(|name| (name.to_string(), value))
            })
            .collect();
        if let Some(number) = self.sketch.value(callee).function {
            return self.own(number, node, &given, &named, true);
        }
        if let Some(number) = self.method_of_class(&node.func) {
            return self.own(number, node, &given, &named, false);
        }
        self.note_given(callee, &given, &named);
        if self.sketch.value(callee).origin.is_none() {
            for class in &self.handled {
                let pair = (callee, class.clone());
                if !self.sketch.guarded.contains(&pair) {
                    self.sketch.guarded.push(pair);
                }
            }
        }
        if let Some(origin) = self.sketch.value(callee).origin.clone() {
            // One stand-in gives the same to all calls.
            let is_foreign = is_foreign(&origin);
            if let (true, Some(known)) = (is_foreign, self.sketch.value(callee).result) {
                return known;
            }
            // `open(name, mode='w')`
            let mode = named.iter().find(|(name, _)| opens(&origin) && given.len() == 1 && name == "mode");
            let given = [given, mode.map(|(_, mode)| *mode).into_iter().collect()].concat();
            let result = self.known(&origin, &given, whole);
            self.note_usual(&origin, node, &given, &named, result);
            if is_foreign || network::role(&origin).is_some() {
                self.sketch.value_mut(callee).result = Some(result);
            }
            return result;
        }
        if let Some(known) = self.sketch.value(callee).result {
            let has_arguments = !given.is_empty() || !named.is_empty();
            for class in self.sketch.classes.iter_mut().filter(|class| class.object == known && has_arguments) {
                class.is_given = true;
            }
            return known;
        }
        let result = self.sketch.fresh();
        self.sketch.value_mut(callee).result = Some(result);
        result
    }

    /// The function that `Class.method` is.
    fn method_of_class(&mut self, callee: &Expr) -> Option<usize> {
        let Expr::Attribute(attribute) = callee else { return None };
        let class = self.expression(&attribute.value);
        let object = self.sketch.value(class).result?;
        if !self.sketch.classes.iter().any(|class| self.sketch.is_same(class.object, object)) {
            return None;
        }
        let attributes = &self.sketch.value(object).attributes;
        let (_, method) = attributes.iter().find(|(name, _)| *name == attribute.attr.as_str())?;
        self.sketch.value(*method).function
    }

    /// A call of a function of the snippet.
    fn own(&mut self, number: usize, node: &ExprCall, given: &[Id], named: &[(String, Id)], is_bound: bool) -> Id {
        let function = &self.functions[number];
        let (result, is_async) = (function.result, function.is_async);
        // `object.method()` and `Class()` give the first argument themselves.
        let is_bound = is_bound && function.is_method;
        let parameters: Vec<(String, Id)> = function.parameters.iter().skip(usize::from(is_bound)).cloned().collect();
        let has_stars = node.arguments.args.iter().any(Expr::is_starred_expr);
        let positions = if has_stars { &[][..] } else { given };
        let mut pairs: Vec<(Id, Id)> = parameters.iter().map(|(_, id)| *id).zip(positions.iter().copied()).collect();
        for (name, value) in named {
            pairs.extend(parameters.iter().find(|(known, _)| known == name).map(|(_, id)| (*id, *value)));
        }
        for (parameter, value) in pairs {
            let value_of = self.sketch.value(value);
            // The conditions of the function ask nothing of literals.
            if value_of.known.is_none()
                && !(value_of.is_made && value_of.parts.is_empty() && value_of.element.is_none())
            {
                self.sketch.join(value, parameter);
            }
        }
        if is_async {
            self.sketch.add(Value { awaited: Some(result), origin: None, ..Value::default() })
        } else {
            result
        }
    }

    /// A call of something imported, or of a builtin.
    fn known(&mut self, origin: &str, given: &[Id], whole: &Expr) -> Id {
        let first = given.first().copied();
        match (origin, first) {
            ("int" | "float" | "abs" | "round", Some(value)) => {
                let of = self.sketch.value(value);
                if of.kind.is_none() && of.origin.as_deref().is_none_or(is_foreign) {
                    self.is_kind(value, Kind::Number);
                }
                return value;
            }
            ("str" | "bool", Some(value)) => return value,
            ("list" | "sorted" | "tuple" | "reversed" | "set" | "iter", Some(value)) => {
                self.element(value);
                return value;
            }
            ("len", Some(value)) => {
                if let Some(known) = self.sketch.value(value).length {
                    return known;
                }
                let length = self.sketch.add(Value { kind: Some(Kind::Number), ..Value::default() });
                self.sketch.value_mut(value).length = Some(length);
                return length;
            }
            ("range", _) => {
                given.iter().for_each(|&bound| self.is_kind(bound, Kind::Number));
                let element = self.made_of(Kind::Number);
                return self.sketch.add(Value { element: Some(element), is_made: true, ..Value::default() });
            }
            ("sum" | "max" | "min" | "next", Some(value)) => {
                if given.len() > 1 {
                    return self.made();
                }
                let element = self.element(value);
                if origin != "next" && !self.sketch.value(element).is_made {
                    self.is_kind(element, Kind::Number);
                }
                return self.made();
            }
            ("enumerate", Some(value)) => {
                let (index, element) = (self.made_of(Kind::Number), self.element(value));
                let pair = self.sketch.add(Value { parts: vec![index, element], is_made: true, ..Value::default() });
                return self.sketch.add(Value { element: Some(pair), is_made: true, ..Value::default() });
            }
            ("zip", _) => {
                let parts = given.iter().map(|&value| self.element(value)).collect();
                let pair = self.sketch.add(Value { parts, is_made: true, ..Value::default() });
                return self.sketch.add(Value { element: Some(pair), is_made: true, ..Value::default() });
            }
            ("json.loads", Some(value)) => {
                if let Some(known) = self.sketch.value(value).parsed {
                    return known;
                }
                let parsed = self.sketch.fresh();
                self.sketch.value_mut(value).parsed = Some(parsed);
                return parsed;
            }
            ("io.StringIO", Some(value)) => {
                self.is_kind(value, Kind::Text);
                return self.made();
            }
            ("vars", Some(value)) if !self.sketch.value(value).is_made => {
                self.sketch.value_mut(value).is_assigned = true;
                return self.made_of(Kind::Dict);
            }
            ("asyncio.run", Some(value)) => {
                return self.sketch.value(value).awaited.unwrap_or(value);
            }
            _ => {}
        }
        let of_network = network::role(origin).is_some();
        if of_network && let Some(known) = self.sketch.sources.iter_mut().find(|source| source.origin == origin) {
            known.handled.extend(self.handled.iter().cloned());
            return known.value;
        }
        let called = if opens(origin) { "open" } else { origin };
        let result = self.sketch.add(Value { origin: Some(format!("{called}()")), ..Value::default() });
        self.sketch.value_mut(result).arguments = given.to_vec();
        if TAKING_BYTES.contains(&origin)
            && let Some(&first) = given.first()
            && self.sketch.value(first).kind.is_none()
        {
            self.is_kind(first, Kind::Bytes);
        }
        if matches!(origin, "ast.parse" | "compile" | "eval" | "exec")
            && let Some(&code) = given.first()
            && self.sketch.value(code).origin.as_deref().is_none_or(|origin| is_foreign(origin) || origin == "open()")
        {
            self.is_kind(code, Kind::Code);
        }
        if matches!(origin, "pandas.read_csv" | "pandas.DataFrame") {
            self.is_kind(result, Kind::Frame);
        }
        if !is_builtin(origin) || origin == "open" {
            let (line, handled) = (self.line(whole), self.handled.clone());
            self.sketch.sources.push(Source { origin: origin.to_owned(), value: result, line, handled });
        }
        result
    }

    /// A call of a method that means the same wherever it is called.
    fn method(&mut self, of: Id, name: &str, node: &ExprCall) -> Option<Id> {
        let arguments = &node.arguments;
        let first = arguments.args.first();
        let value = self.sketch.value(of);
        if value.function.is_some()
            || value.attributes.iter().any(|(known, id)| known == name && self.sketch.value(*id).function.is_some())
        {
            return None;
        }
        if name == "decode" {
            self.is_kind(of, Kind::Bytes);
            return Some(of);
        }
        let is_frame = value.kind == Some(Kind::Frame);
        let has_origin = value.origin.is_some();
        if is_frame || OF_FRAMES.contains(&name) && !has_origin {
            return Some(self.of_frame(of, name, node));
        }
        if let Some(origin) = &value.origin {
            // The rest of a file is read as its rows are.
            if origin == "open()" && matches!(name, "read" | "readlines" | "readline") && !value.is_made {
                return Some(of);
            }
            // What people answer is a text, and what was read of a file.
            let is_text = origin == "input()" || origin == "open()" && OF_TEXTS.contains(&name);
            if !is_foreign(origin) && !is_text {
                return None;
            }
        }
        let read = |walk: &mut Self| {
            for value in arguments.args.iter().chain(arguments.keywords.iter().map(|keyword| &keyword.value)) {
                walk.expression(value);
            }
        };
        match (name, first) {
            ("get" | "pop", Some(key)) => {
                let Some(Recipe::Str(key)) = literal(key) else { return None };
                if key.contains("://") || key.starts_with('/') {
                    return None;
                }
                read(self);
                let item = self.item(of, &key);
                if let Some(default) = arguments.args.get(1).and_then(literal) {
                    self.note_default(item, &default);
                }
                Some(item)
            }
            ("items", None) => {
                self.is_kind(of, Kind::Dict);
                let (key, element) = (self.made_of(Kind::Text), self.element(of));
                let pair = self.sketch.add(Value { parts: vec![key, element], is_made: true, ..Value::default() });
                Some(self.sketch.add(Value { element: Some(pair), is_made: true, ..Value::default() }))
            }
            ("values", None) => {
                self.is_kind(of, Kind::Dict);
                Some(of)
            }
            ("keys", None) => {
                self.is_kind(of, Kind::Dict);
                Some(self.made())
            }
            ("append" | "extend" | "sort" | "insert", _) if !value.is_made => {
                self.is_kind(of, Kind::List);
                read(self);
                Some(self.made())
            }
            ("update", _) => {
                self.is_kind(of, Kind::Dict);
                read(self);
                Some(self.made())
            }
            ("format" | "join", _) => {
                self.is_kind(of, Kind::Text);
                read(self);
                Some(self.made_of(Kind::Text))
            }
            ("encode" | "replace", _) => {
                self.is_kind(of, Kind::Text);
                read(self);
                Some(of)
            }
            (name, _) if SAME_TEXT.contains(&name) => {
                self.is_kind(of, Kind::Text);
                Some(of)
            }
            ("split" | "splitlines" | "startswith" | "endswith" | "isdigit", _) => {
                self.is_kind(of, Kind::Text);
                read(self);
                Some(self.made())
            }
            _ => None,
        }
    }

    /// What a condition asks by a call.
    pub(super) fn tested(&mut self, test: &Expr) -> Option<(Id, Test)> {
        let Expr::Call(node) = test else { return None };
        let given = &node.arguments.args;
        match (node.func.as_ref(), &**given) {
            (Expr::Name(name), [of, class]) if name.id == "isinstance" => {
                let name = match dotted(class)?.as_str() {
                    "str" => "str",
                    "int" => "int",
                    "float" => "float",
                    "list" => "list",
                    "dict" => "dict",
                    other if is_builtin(other) => return None,
                    _ => {
                        self.expression(class);
                        return Some((self.expression(of), Test::Instance(dotted(class)?)));
                    }
                };
                Some((self.expression(of), Test::Is(name)))
            }
            (Expr::Attribute(node), [affix]) if matches!(node.attr.as_str(), "startswith" | "endswith") => {
                let Some(Recipe::Str(affix)) = literal(affix) else { return None };
                let of = self.expression(&node.value);
                self.is_kind(of, Kind::Text);
                let is_first = node.attr.as_str() == "startswith";
                Some((of, if is_first { Test::Begins(affix) } else { Test::Ends(affix) }))
            }
            _ => None,
        }
    }

    fn of_frame(&mut self, of: Id, name: &str, node: &ExprCall) -> Id {
        let value = self.sketch.value_mut(of);
        if value.kind.is_none() {
            value.kind = Some(Kind::Frame);
        }
        let first = node.arguments.args.first().filter(|_| matches!(name, "groupby" | "sort_values" | "set_index"));
        let named = node
            .arguments
            .keywords
            .iter()
            .filter(|keyword| keyword.arg.as_ref().is_some_and(|name| COLUMNS.contains(&name.as_str())));
        for columns in first.into_iter().chain(named.map(|keyword| &keyword.value)) {
            let all = match columns {
                Expr::List(node) => &*node.elts,
                other => std::slice::from_ref(other),
            };
            for column in all {
                if let Some(Recipe::Str(column)) = literal(column) {
                    self.item(of, &column);
                    // Both frames that are joined have the column.
                    if let ("merge", Some(other)) = (name, node.arguments.args.first()) {
                        let other = self.expression(other);
                        self.is_kind(other, Kind::Frame);
                        self.item(other, &column);
                    }
                }
            }
        }
        // `frame.agg({'price': 'sum'})`
        if let ("agg" | "aggregate", Some(Expr::Dict(columns))) = (name, node.arguments.args.first()) {
            for column in columns.items.iter().filter_map(|item| literal(item.key.as_ref()?)) {
                if let Recipe::Str(column) = column {
                    self.item(of, &column);
                }
            }
        }
        if name == "iterrows" {
            let index = self.made();
            let pair = self.sketch.add(Value { parts: vec![index, of], is_made: true, ..Value::default() });
            return self.sketch.add(Value { element: Some(pair), is_made: true, ..Value::default() });
        }
        for argument in &node.arguments.args {
            self.expression(argument);
        }
        if SAME.contains(&name) {
            return of;
        }
        // A grouped frame has its columns: `df.groupby('city')['price']`.
        if name == "groupby" {
            return of;
        }
        self.made()
    }
}
