//! An index of a text: its functions, classes with their attributes, constants and imports, and which of them use
//! which.
//!
//! Entities go by name: `f`, `LIMIT`, `Session`, `Session.auth`, `Session.limit`. An edge says that one entity reads
//! another, as far as names tell: a global name, or an attribute of `self`, `cls`, `super()` or of a class of the text.
//! Reading a class by its name reads all of it. This is a call graph by names (class hierarchy analysis, Dean, Grove
//! and Chambers 1995, limited to one text). Uses through other objects are not followed.

mod constants;
mod depends;
mod reads;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};

use ruff_python_ast::comparable::{ComparableExpr, ComparableStmt};
use ruff_python_ast::visitor::Visitor;
use ruff_python_ast::{Expr, Stmt, StmtClassDef, StmtFunctionDef};
use ruff_text_size::{Ranged, TextRange};

use crate::bound::bound;
use crate::parse::{normalize_newlines, parse, with_stack_for};
use crate::scopes::Bindings;
use crate::{Function, diff, functions};
use constants::{constants, pure_imports};
use reads::{Reads, SUPER, owners};

pub use reads::{attribute_names, global_names};

/// The entities of a text and what each of them reads.
#[derive(Debug, Clone, Default)]
pub struct Index {
    /// The functions, nested ones included, in order.
    pub functions: Vec<Function>,
    pub classes: BTreeMap<String, Class>,
    /// A hash of all statements that bind a name of the module, except functions and classes.
    bindings: BTreeMap<String, u64>,
    reads: BTreeMap<String, BTreeSet<String>>,
    /// The ranges of each entity's statements.
    places: BTreeMap<String, Vec<TextRange>>,
    /// The names of the module and of its classes that are bound once, to a value that is written out.
    constants: BTreeSet<String>,
    /// The names of the module that are bound once, by an import of what only computes.
    pure_imports: BTreeSet<String>,
    text: String,
}

/// A class of the module, outside any function.
#[derive(Debug, Clone, Default)]
pub struct Class {
    /// The names of the bases, as far as they are plain names.
    pub bases: Vec<String>,
    /// Hash of bases, keywords and decorators.
    head: u64,
    /// The bindings of the body besides methods, by name. Statements that bind nothing go by the name ``.
    attributes: BTreeMap<String, u64>,
    pub methods: Vec<String>,
    range: TextRange,
}

impl Index {
    pub fn of(text: &str) -> Self {
        let text = normalize_newlines(text).into_owned();
        let found = functions(&text).0;
        with_stack_for(text.len(), || {
            let parsed = parse(&text);
            let mut index = Index { functions: found, ..Index::default() };
            for stmt in &parsed.syntax().body {
                index.statement(stmt);
            }
            index.text.clone_from(&text);
            index.read_wholes();
            index.pure_imports = pure_imports(&index, &parsed.syntax().body);
            index.constants = constants(&index, &parsed.syntax().body);
            index
        })
    }

    /// `NAME.x` reads one attribute if `NAME` is a class, and all of `NAME` otherwise.
    fn read_wholes(&mut self) {
        let classes = &self.classes;
        for reads in self.reads.values_mut() {
            let owners = owners(reads);
            reads.extend(owners.into_iter().filter(|owner| !classes.contains_key(owner)));
        }
    }

    fn statement(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::FunctionDef(function) => self.function(function, &function.name, None),
            Stmt::ClassDef(class) => self.class(class, &class.name),
            _ => {
                let mut reads = Reads::new(None);
                reads.visit_stmt(stmt);
                for name in bound(stmt) {
                    let entry = self.bindings.entry(name.to_string()).or_default();
                    *entry = entry.rotate_left(5) ^ binding(stmt, name);
                    self.reads.entry(name.to_string()).or_default().extend(reads.found.iter().cloned());
                    self.places.entry(name.to_string()).or_default().push(stmt.range());
                }
                // Definitions within `if` and `try` also belong to the module.
                for inner in inner_bodies(stmt).into_iter().flatten() {
                    if matches!(inner, Stmt::FunctionDef(_) | Stmt::ClassDef(_)) {
                        self.statement(inner);
                    }
                }
            }
        }
    }

    fn function(&mut self, function: &StmtFunctionDef, qualname: &str, class: Option<&str>) {
        let mut reads = Reads::new(class);
        reads.first_parameter = function.parameters.iter().next().map(|parameter| parameter.name().to_string());
        for decorator in &function.decorator_list {
            reads.visit_expr(&decorator.expression);
        }
        reads.visit_parameters(&function.parameters);
        reads.visit_body(&function.body);
        let own = Bindings::of_function(&function.parameters, None, &function.body);
        reads.found.retain(|name| !own.is_local(name.split('.').next().unwrap_or(name)));
        self.reads.entry(qualname.to_string()).or_default().extend(reads.found);
        self.places.entry(qualname.to_string()).or_default().push(function.range());
    }

    fn class(&mut self, class: &StmtClassDef, path: &str) {
        let mut head = DefaultHasher::new();
        let mut reads = Reads::new(None);
        let mut found = Class { range: class.range(), ..Class::default() };
        for decorator in &class.decorator_list {
            ComparableExpr::from(&decorator.expression).hash(&mut head);
            reads.visit_expr(&decorator.expression);
        }
        if let Some(arguments) = &class.arguments {
            for base in &arguments.args {
                ComparableExpr::from(base).hash(&mut head);
                reads.visit_expr(base);
                if let Expr::Name(name) = base {
                    found.bases.push(name.id.to_string());
                }
            }
            for keyword in &arguments.keywords {
                keyword.arg.as_deref().hash(&mut head);
                ComparableExpr::from(&keyword.value).hash(&mut head);
                reads.visit_expr(&keyword.value);
            }
        }
        found.head = head.finish();
        for stmt in &class.body {
            match stmt {
                Stmt::FunctionDef(method) => {
                    let qualname = format!("{path}.{}", method.name);
                    self.function(method, &qualname, Some(path));
                    reads.found.insert(qualname);
                    if !found.methods.contains(&method.name.to_string()) {
                        found.methods.push(method.name.to_string());
                    }
                }
                Stmt::ClassDef(inner) => {
                    let qualname = format!("{path}.{}", inner.name);
                    self.class(inner, &qualname);
                    reads.found.insert(qualname);
                }
                Stmt::Pass(_) => {}
                Stmt::Expr(text) if text.value.is_string_literal_expr() || text.value.is_ellipsis_literal_expr() => {}
                _ => {
                    let mut names: Vec<String> = bound(stmt).into_iter().map(str::to_string).collect();
                    if names.is_empty() {
                        names.push(String::new());
                    }
                    let mut own = Reads::new(None);
                    own.visit_stmt(stmt);
                    for name in names {
                        let entry = found.attributes.entry(name.clone()).or_default();
                        *entry = entry.rotate_left(5) ^ hash(&ComparableStmt::from(stmt));
                        let qualname = format!("{path}.{name}");
                        self.reads.entry(qualname.clone()).or_default().extend(own.found.iter().cloned());
                        self.places.entry(qualname.clone()).or_default().push(stmt.range());
                        reads.found.insert(qualname);
                    }
                }
            }
        }
        self.reads.entry(path.to_string()).or_default().extend(reads.found);
        self.classes.insert(path.to_string(), found);
    }

    fn has(&self, entity: &str) -> bool {
        self.reads.contains_key(entity)
    }

    /// The entities that an entity reads directly. Attributes are looked up along the bases that the text holds.
    pub fn used_by(&self, entity: &str) -> Vec<String> {
        let resolve = |name: &String| -> Option<String> {
            if self.has(name) {
                return Some(name.clone());
            }
            let (class, attribute) = name.rsplit_once('.')?;
            self.inherited(class, attribute)
        };
        self.reads.get(entity).into_iter().flatten().filter_map(resolve).collect()
    }

    /// What an entity reads of a class that the text does not show, by the name of the class: what it inherits from
    /// elsewhere.
    pub fn read_from_elsewhere<'a>(&'a self, entity: &str) -> impl Iterator<Item = (&'a str, &'a str)> {
        let names = self.reads.get(entity).into_iter().flatten().filter(|name| !self.has(name));
        names.filter_map(|name| {
            let (class, attribute) = name.rsplit_once('.')?;
            let class = class.strip_suffix(SUPER).unwrap_or(class);
            (self.classes.contains_key(class) && self.inherited(class, attribute).is_none())
                .then_some((class, attribute))
        })
    }

    /// The names that an entity reads directly, whatever binds them.
    pub fn names_read_by<'a>(&'a self, entity: &str) -> impl Iterator<Item = &'a str> {
        self.reads.get(entity).into_iter().flatten().map(String::as_str)
    }

    /// The entity behind an attribute of a class, looked up along the bases that the text holds.
    pub fn inherited(&self, class: &str, attribute: &str) -> Option<String> {
        let bases = |class: &str| self.classes.get(class).into_iter().flat_map(|class| class.bases.iter().cloned());
        let mut waiting: VecDeque<String> = match class.strip_suffix(SUPER) {
            Some(class) => bases(class).collect(),
            None => VecDeque::from([class.to_string()]),
        };
        let mut seen = BTreeSet::new();
        while let Some(class) = waiting.pop_front() {
            if !seen.insert(class.clone()) {
                continue;
            }
            let own = format!("{class}.{attribute}");
            if self.has(&own) {
                return Some(own);
            }
            waiting.extend(bases(&class));
        }
        None
    }

    /// A class and the classes of the text from which it inherits.
    pub fn ancestry(&self, class: &str) -> Vec<String> {
        let mut found: Vec<String> = Vec::new();
        let mut waiting = vec![class];
        while let Some(name) = waiting.pop() {
            if let Some(class) = self.classes.get(name).filter(|_| found.iter().all(|known| known != name)) {
                found.push(name.to_owned());
                waiting.extend(class.bases.iter().map(String::as_str));
            }
        }
        found
    }

    /// Everything that an entity reads, directly or through others, nearest first, without the entity itself.
    pub fn reach(&self, from: &str) -> Vec<String> {
        let mut seen = BTreeSet::from([from.to_string()]);
        let mut waiting = VecDeque::from([from.to_string()]);
        let mut found = Vec::new();
        while let Some(entity) = waiting.pop_front() {
            for next in self.used_by(&entity) {
                if seen.insert(next.clone()) {
                    found.push(next.clone());
                    waiting.push_back(next);
                }
            }
        }
        found
    }

    /// The entities that read this one directly.
    pub fn users(&self, entity: &str) -> Vec<String> {
        let reads = |user: &&String| user.as_str() != entity && self.used_by(user).iter().any(|read| read == entity);
        // A class reads its methods because it contains them.
        let holds = |user: &&String| entity.strip_prefix(user.as_str()).is_some_and(|rest| rest.starts_with('.'));
        self.reads.keys().filter(reads).filter(|user| !holds(user)).cloned().collect()
    }

    /// These entities and all that reach one of them.
    pub fn tainted(&self, changed: &BTreeSet<String>) -> BTreeSet<String> {
        if changed.is_empty() {
            return BTreeSet::new();
        }
        let mut users: BTreeMap<String, Vec<&str>> = BTreeMap::new();
        for user in self.reads.keys() {
            for read in self.used_by(user) {
                users.entry(read).or_default().push(user);
            }
        }
        let mut waiting: Vec<&str> = changed.iter().map(String::as_str).collect();
        let mut found: BTreeSet<String> = BTreeSet::new();
        while let Some(entity) = waiting.pop() {
            if found.insert(entity.to_string()) {
                waiting.extend(users.get(entity).into_iter().flatten());
            }
        }
        found
    }

    /// The range of a class definition, decorators included.
    pub fn class_text(&self, class: &str) -> Option<&str> {
        self.classes.get(class).and_then(|class| self.text.get(class.range.to_std_range()))
    }

    /// Whether an entity is a function or a method.
    pub fn is_function(&self, name: &str) -> bool {
        self.functions.iter().any(|function| function.qualname == name)
    }

    /// Whether an entity is a constant: a number, a text or a table that nothing binds again.
    pub fn is_constant(&self, name: &str) -> bool {
        self.constants.contains(name)
    }

    /// Whether a name is always a module that only computes, or what the module imports from one.
    pub fn is_pure_import(&self, name: &str) -> bool {
        self.pure_imports.contains(name)
    }

    /// The names of the module that statements other than definitions bind.
    pub fn bound_names(&self) -> impl Iterator<Item = &str> {
        self.bindings.keys().map(String::as_str)
    }

    /// Whether the module binds the name at its top level.
    pub fn defines(&self, name: &str) -> bool {
        self.has(name)
    }

    /// The text with everything but these entities blanked out. Lines stay in place. A class that holds one of the
    /// entities keeps its head, and has an empty body if it is one of them and holds none.
    pub fn slice(&self, keep: &BTreeSet<String>) -> String {
        let mut ranges: Vec<TextRange> = Vec::new();
        let mut heads: BTreeSet<&str> = BTreeSet::new();
        for (name, places) in self.places.iter().filter(|(name, _)| keep.contains(*name)) {
            ranges.extend(places);
            let mut owner = name.as_str();
            while let Some((class, _)) = owner.rsplit_once('.') {
                heads.insert(class);
                owner = class;
            }
        }
        heads.extend(keep.iter().map(String::as_str).filter(|name| self.classes.contains_key(*name)));
        let heads: Vec<(TextRange, TextRange)> =
            heads.iter().filter_map(|class| Some((self.head_of(class)?, self.classes.get(*class)?.range))).collect();
        let is_empty = |(head, class): &&(TextRange, TextRange)| {
            let mut kept = ranges.iter().chain(heads.iter().map(|(head, _)| head));
            !kept.any(|range| range.start() >= head.end() && class.contains_range(*range))
        };
        let empty: Vec<usize> = heads.iter().filter(is_empty).map(|(head, _)| head.end().to_usize()).collect();
        ranges.extend(heads.iter().map(|(head, _)| head));
        let kept = |offset: usize| ranges.iter().any(|range| range.to_std_range().contains(&offset));
        if ranges.is_empty() {
            return String::new();
        }
        // A line is kept if its first non-blank character is.
        let mut out = String::with_capacity(self.text.len());
        let mut offset = 0;
        for line in self.text.split_inclusive('\n') {
            let first = offset + (line.len() - line.trim_start().len());
            let end = offset + line.len();
            if kept(offset) || kept(first.min(end.saturating_sub(1))) {
                out.push_str(line);
            } else if empty.iter().any(|body| (offset..end).contains(body)) {
                out.push_str(&line[..first - offset]);
                out.push_str("pass\n");
            } else {
                out.push('\n');
            }
            offset = end;
        }
        out
    }

    /// The range from the first decorator of a class to the line of its first statement.
    fn head_of(&self, class: &str) -> Option<TextRange> {
        let class = self.classes.get(class)?;
        let text = self.text.get(class.range.to_std_range())?;
        let parsed = parse(text);
        let Some(Stmt::ClassDef(parsed)) = parsed.syntax().body.first() else { return None };
        let end = parsed.body.first().map_or(parsed.range.end(), Ranged::start).to_usize();
        // The indentation of the first statement is not part of the head.
        let end = text.get(..end)?.trim_end_matches([' ', '\t']).len();
        Some(TextRange::at(class.range.start(), ruff_text_size::TextSize::new(end as u32)))
    }
}

fn hash(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// A hash of what a statement binds a name to. A name in a list of imports has nothing to do with the others.
fn binding(stmt: &Stmt, name: &str) -> u64 {
    let (aliases, from) = match stmt {
        Stmt::Import(import) => (&import.names, None),
        Stmt::ImportFrom(import) => (&import.names, Some((import.module.as_deref(), import.level))),
        _ => return hash(&ComparableStmt::from(stmt)),
    };
    let own = aliases.iter().filter_map(|alias| {
        let (target, bound) = (alias.name.as_str(), alias.asname.as_deref());
        let is_it = match bound {
            Some(bound) => bound == name,
            None => target.split('.').next() == Some(name),
        };
        is_it.then_some((target, bound))
    });
    let mut own: Vec<_> = own.collect();
    own.sort_unstable();
    hash(&(from, own))
}

/// The bodies within a statement that still belong to the module.
pub(crate) fn inner_bodies(stmt: &Stmt) -> Vec<&[Stmt]> {
    match stmt {
        Stmt::If(node) => std::iter::once(node.body.as_slice())
            .chain(node.elif_else_clauses.iter().map(|clause| clause.body.as_slice()))
            .collect(),
        Stmt::Try(node) => {
            let handlers = node.handlers.iter().map(|handler| {
                let ruff_python_ast::ExceptHandler::ExceptHandler(handler) = handler;
                handler.body.as_slice()
            });
            [node.body.as_slice(), &node.orelse, &node.finalbody].into_iter().chain(handlers).collect()
        }
        Stmt::With(node) => vec![&node.body],
        Stmt::For(node) => vec![&node.body, &node.orelse],
        Stmt::While(node) => vec![&node.body, &node.orelse],
        Stmt::Match(node) => node.cases.iter().map(|case| case.body.as_slice()).collect(),
        _ => vec![],
    }
}

/// The entities that differ between two texts: changed, added and removed.
pub fn changed_entities(old: &Index, new: &Index) -> BTreeSet<String> {
    let mut changed = BTreeSet::new();
    fn outermost(index: &Index) -> impl Iterator<Item = &Function> {
        index.functions.iter().filter(|function| function.parent.is_none())
    }
    let olds: BTreeMap<&str, &Function> =
        outermost(old).map(|function| (function.qualname.as_str(), function)).collect();
    let news: BTreeMap<&str, &Function> =
        outermost(new).map(|function| (function.qualname.as_str(), function)).collect();
    for name in olds.keys().chain(news.keys()) {
        let same = match (olds.get(name), news.get(name)) {
            (Some(a), Some(b)) => a.decorators == b.decorators && (a.text == b.text || diff(a, b).identical),
            _ => false,
        };
        if !same {
            // The setter `C.x#2` is part of `C.x`.
            changed.insert(crate::entity(name).to_string());
        }
    }
    for name in old.bindings.keys().chain(new.bindings.keys()) {
        if old.bindings.get(name) != new.bindings.get(name) {
            changed.insert(name.clone());
        }
    }
    let nothing = BTreeMap::new();
    for name in old.classes.keys().chain(new.classes.keys()) {
        let (a, b) = (old.classes.get(name), new.classes.get(name));
        if a.map(|class| class.head) != b.map(|class| class.head) {
            changed.insert(name.clone());
        }
        let attributes = [a, b].map(|class| class.map_or(&nothing, |class| &class.attributes));
        for attribute in attributes[0].keys().chain(attributes[1].keys()) {
            if attributes[0].get(attribute) != attributes[1].get(attribute) {
                changed.insert(format!("{name}.{attribute}"));
            }
        }
    }
    changed
}

#[cfg(test)]
mod tests {
    use super::*;

    fn affected(old: &str, new: &str, function: &str) -> Vec<String> {
        let [old, new] = [old, new].map(Index::of);
        let changed = changed_entities(&old, &new);
        let mut found: Vec<String> = old.reach(function).into_iter().filter(|name| changed.contains(name)).collect();
        found.extend(new.reach(function).into_iter().filter(|name| changed.contains(name)));
        found.sort();
        found.dedup();
        found
    }

    const F: &str = "\ndef f(x):\n    return x * LIMIT\n";

    #[test]
    fn a_constant_that_changed_counts_where_it_is_read() {
        assert_eq!(affected(&format!("LIMIT = 1{F}"), &format!("LIMIT = 2{F}"), "f"), ["LIMIT"]);
        assert_eq!(affected(&format!("OTHER = 1{F}"), &format!("OTHER = 2{F}"), "f"), [""; 0]);
        assert_eq!(
            affected("LIMIT = 1\ndef f(LIMIT): return LIMIT\n", "LIMIT = 2\ndef f(LIMIT): return LIMIT\n", "f"),
            [""; 0]
        );
    }

    #[test]
    fn layout_of_a_constant_does_not_count() {
        assert_eq!(affected(&format!("LIMIT = 1{F}"), &format!("LIMIT=1  # one{F}"), "f"), [""; 0]);
    }

    #[test]
    fn a_constant_bound_within_a_statement_counts() {
        let module = |value: u32| format!("try:\n    import x\nexcept ImportError:\n    LIMIT = {value}{F}");
        assert_eq!(affected(&module(1), &module(2), "f"), ["LIMIT"]);
    }

    #[test]
    fn an_import_that_changed_counts() {
        assert_eq!(affected(&format!("from a import LIMIT{F}"), &format!("from b import LIMIT{F}"), "f"), ["LIMIT"]);
    }

    const CLASS: &str = "class B:\n    size = 1\nclass A(B):\n    def f(self):\n        return self.g()\n    def g(self):\n        return self.size\n";

    #[test]
    fn an_attribute_of_a_base_counts_where_a_method_reads_it() {
        assert_eq!(affected(CLASS, &CLASS.replace("size = 1", "size = 2"), "A.f"), ["B.size"]);
        assert_eq!(affected(CLASS, &CLASS.replace("return self.size", "return 0"), "A.f"), ["A.g"]);
    }

    #[test]
    fn a_class_that_super_names_is_not_read_as_a_whole() {
        let text = |size| {
            format!(
                "class B:\n    pass\nclass A(B):\n    def f(self):\n        super(A, self).f()\n    def g(self):\n        return {size}\n"
            )
        };
        let (old, new) = (Index::of(&text(1)), Index::of(&text(2)));
        let tainted = new.tainted(&changed_entities(&old, &new));
        assert!(tainted.contains("A.g") && !tainted.contains("A.f"), "{tainted:?}");
    }

    #[test]
    fn names_in_a_list_of_imports_are_apart() {
        let (old, new) = (Index::of("from m import a, b\n"), Index::of("from m import c as d, b, a\n"));
        assert_eq!(changed_entities(&old, &new), BTreeSet::from(["d".to_owned()]));
        let other = Index::of("from n import a, b\n");
        assert_eq!(changed_entities(&old, &other), BTreeSet::from(["a".to_owned(), "b".to_owned()]));
    }

    #[test]
    fn what_super_finds_is_the_base_s() {
        let text = |size: u32| {
            format!(
                "class B:\n    def f(self):\n        return {size}\nclass A(B):\n    def f(self):\n        return super().f()\n"
            )
        };
        assert_eq!(affected(&text(1), &text(2), "A.f"), ["B.f"]);
    }

    #[test]
    fn a_slice_keeps_lines_and_the_heads_of_classes() {
        let index = Index::of(
            "import os\n@d\nclass A(\n    B,\n):\n    x = 1\n    def f(self):\n        return 1\n    def g(self):\n        return 2\n",
        );
        let kept = index.slice(&BTreeSet::from(["A.g".to_string()]));
        assert_eq!(kept, "\n@d\nclass A(\n    B,\n):\n\n\n\n    def g(self):\n        return 2\n");
        let empty = index.slice(&BTreeSet::from(["A".to_string()]));
        assert_eq!(empty, "\n@d\nclass A(\n    B,\n):\n    pass\n\n\n\n\n");
        assert_eq!(index.slice(&BTreeSet::new()), "");
    }
}
