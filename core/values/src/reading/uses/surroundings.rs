//! What the text around a function reveals about its values: regular expressions, enumerations, helpers that read texts,
//! and classes.

use std::collections::BTreeMap;
use std::sync::Arc;

use ruff_python_ast::visitor::{Visitor, walk_stmt};
use ruff_python_ast::{Expr, ExprCall, Stmt};
use ruff_text_size::{Ranged, TextRange};

use twincell_syntax::functions;
use twincell_syntax::instrument::instrument;
use twincell_syntax::parse::{parse, with_stack_for};
use twincell_syntax::site::SiteKind;

use super::constructed::of_constructor;
use super::{Uses, as_text, read_within};
use crate::reading::constants::{self, Constants};
use crate::reading::written::{is_constant, literal};
use crate::reading::{Around, ModuleFacts, imported};
use crate::value::{Recipe, matching};

/// Maximum number of texts for one pattern.
const TEXTS: usize = 12;
/// Maximum number of helpers of a text that are kept, and the maximum length of each in bytes.
const MOST_HELPERS: usize = 500;
const LONGEST_HELPER: usize = 10_000;
/// The sign of a class with a constructor.
const CONSTRUCTOR: &str = "def __init__";

/// A function that reads texts, or a class with a constructor.
#[derive(Debug, Clone, PartialEq)]
struct Helper {
    text: String,
    /// By how much the text is indented.
    indent: usize,
    is_class: bool,
}

/// By name.
type Helpers = BTreeMap<String, Helper>;

/// The patterns and enumerations of a text, by their names.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ModuleContext {
    /// Compiled patterns, by the last part of the name: `WORD` and `self._word` are found as `WORD` and `_word`.
    pub(super) patterns: BTreeMap<String, String>,
    /// The members of enumerations: name and value.
    pub(super) members: BTreeMap<String, Vec<(String, Recipe)>>,
    /// What the text tells of values by names of constants and classes.
    pub known: Arc<ModuleFacts>,
    helpers: Arc<Helpers>,
    /// The constants that the text binds or imports.
    pub constants: Arc<Constants>,
}

impl ModuleContext {
    pub fn of(text: &str) -> Self {
        let constants = Arc::new(constants::constants(text));
        Self { known: Arc::new(ModuleFacts::of(text)), constants, ..Self::of_texts(text) }
    }

    /// Like [`ModuleContext::of`], for a module of a project. `module` is the text with absolute imports.
    pub fn within(text: &str, module: &str, around: &Around<'_>) -> Self {
        let mut constants = imported::constants(module, around.read);
        constants.extend(constants::constants(text));
        Self {
            known: Arc::new(ModuleFacts::within(module, around)),
            constants: Arc::new(constants),
            ..Self::of_texts(text)
        }
    }

    fn of_texts(text: &str) -> Self {
        const SIGNS: [&str; 4] = ["re.compile", "Enum", "Flag", CONSTRUCTOR];
        if !SIGNS.iter().any(|sign| text.contains(sign)) && !reads_texts(text) {
            return Self::default();
        }
        with_stack_for(text.len(), || {
            let mut finder = Finder { text, found: Self::default(), helpers: Helpers::default() };
            finder.visit_body(parse(text).suite());
            Self { helpers: Arc::new(finder.helpers), ..finder.found }
        })
    }

    /// The parameters of the helper with this name, each with what the helper does with it: what a function reads in its
    /// text, and all that a class does.
    pub(super) fn helper_parameters(&self, name: &str) -> Option<Vec<(String, Uses)>> {
        let Helper { text, indent, is_class } = self.helpers.get(name)?;
        let dedented: String = text
            .split_inclusive('\n')
            .map(|line| {
                &line[line.len() - line.trim_start_matches(' ').len().max(line.len().saturating_sub(*indent))..]
            })
            .collect();
        // Helpers of helpers are not followed.
        let around = Self { helpers: Arc::default(), ..self.clone() };
        if *is_class {
            return of_constructor(&dedented, &around);
        }
        let function = functions(&dedented).0.into_iter().next()?;
        let sites = instrument(&function).ok()?.sites.sites;
        let reading = read_within(&function.text, &sites, &around);
        let read = |name: &str| {
            let own =
                sites.iter().zip(&reading.uses).find(|(site, _)| site.kind == SiteKind::Name && site.path == name);
            own.map(|(_, uses)| Uses { bytes: uses.bytes, ..as_text(uses.clone()) }).unwrap_or_default()
        };
        Some(function.parameters.iter().map(|parameter| (parameter.name.clone(), read(&parameter.name))).collect())
    }

    /// The values of the constant that an expression names: its items or keys, if it has some.
    pub(super) fn constant(&self, expr: &Expr) -> &[Recipe] {
        let name = last_name(expr).filter(|name| is_constant(name));
        name.and_then(|name| self.constants.get(name)).map_or(&[], Vec::as_slice)
    }

    /// Notes `NAME = re.compile(...)`.
    pub(super) fn note(&mut self, targets: &[Expr], value: &Expr) {
        let Some(pattern) = compiled(value) else { return };
        for name in targets.iter().filter_map(last_name) {
            self.patterns.insert(name.to_string(), pattern.clone());
        }
    }

    /// The pattern for which an expression stands: a text, `re.compile(...)`, or a name of one.
    fn pattern(&self, expr: &Expr) -> Option<String> {
        match expr {
            Expr::StringLiteral(_) | Expr::BytesLiteral(_) => written(expr),
            Expr::Call(_) => compiled(expr),
            other => self.patterns.get(last_name(other)?).cloned(),
        }
    }

    /// The value that a call of `re` or of a pattern searches, with texts that the pattern matches.
    pub(super) fn searched<'a>(&self, call: &'a ExprCall) -> Option<(&'a Expr, Vec<String>)> {
        let Expr::Attribute(function) = call.func.as_ref() else { return None };
        let skip = match function.attr.as_str() {
            "match" | "search" | "fullmatch" | "findall" | "finditer" | "split" => 0,
            "sub" | "subn" => 1,
            _ => return None,
        };
        let by_module =
            matches!(function.value.as_ref(), Expr::Name(name) if matches!(name.id.as_str(), "re" | "regex"));
        let arguments = &call.arguments;
        let (pattern, subject) = if by_module {
            (
                verbose(self.pattern(arguments.find_positional(0)?)?, call),
                arguments.find_argument_value("string", skip + 1)?,
            )
        } else {
            if function.value.is_string_literal_expr() {
                return None;
            }
            (self.pattern(&function.value)?, arguments.find_argument_value("string", skip)?)
        };
        let texts = matching(&pattern, TEXTS);
        (!texts.is_empty()).then_some((subject, texts))
    }

    /// The values of the enumeration in which a call looks one up: `State(text)`.
    pub(super) fn looked_up<'a>(&self, call: &'a ExprCall) -> Option<(&'a Expr, Vec<Recipe>)> {
        let members = self.members.get(last_name(&call.func)?)?;
        let [value] = call.arguments.args.as_ref() else { return None };
        Some((value, members.iter().map(|(_, value)| value.clone()).collect()))
    }

    /// The names of the members of an enumeration, for `State[name]`.
    pub(super) fn names(&self, class: &Expr) -> Vec<Recipe> {
        let members = last_name(class).and_then(|name| self.members.get(name));
        members.into_iter().flatten().map(|(name, _)| Recipe::Str(name.clone())).collect()
    }
}

/// Walks over a text.
struct Finder<'t> {
    text: &'t str,
    found: ModuleContext,
    helpers: Helpers,
}

impl<'a> Visitor<'a> for Finder<'_> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::Assign(node) => self.found.note(&node.targets, &node.value),
            Stmt::AnnAssign(node) => {
                if let Some(value) = &node.value {
                    self.found.note(std::slice::from_ref(&node.target), value);
                }
            }
            Stmt::ClassDef(node) if node.bases().iter().filter_map(last_name).any(is_enumeration) => {
                let member = |stmt: &Stmt| match stmt {
                    Stmt::Assign(node) => match node.targets.as_slice() {
                        [Expr::Name(name)] => Some((name.id.to_string(), literal(&node.value)?)),
                        _ => None,
                    },
                    _ => None,
                };
                self.found.members.insert(node.name.to_string(), node.body.iter().filter_map(member).collect());
            }
            Stmt::ClassDef(node) => self.add_helper(&node.name, node.range(), true),
            Stmt::FunctionDef(node) => self.add_helper(&node.name, node.range(), false),
            _ => {}
        }
        walk_stmt(self, stmt);
    }
}

impl Finder<'_> {
    fn add_helper(&mut self, name: &str, range: TextRange, is_class: bool) {
        let text = &self.text[range];
        let says_something = if is_class { text.contains(CONSTRUCTOR) } else { reads_texts(text) };
        if self.helpers.len() < MOST_HELPERS && text.len() <= LONGEST_HELPER && says_something {
            let indent = self.text[..range.start().to_usize()].rsplit('\n').next().unwrap_or_default().len();
            self.helpers.insert(name.to_owned(), Helper { text: text.to_owned(), indent, is_class });
        }
    }
}

fn is_enumeration(base: &str) -> bool {
    base.ends_with("Enum") || base.ends_with("Flag")
}

/// The pattern of `re.compile('...')`.
fn compiled(expr: &Expr) -> Option<String> {
    let call = expr.as_call_expr()?;
    let Expr::Attribute(function) = call.func.as_ref() else { return None };
    let by_module = matches!(function.value.as_ref(), Expr::Name(name) if matches!(name.id.as_str(), "re" | "regex"));
    if !by_module || function.attr.as_str() != "compile" {
        return None;
    }
    Some(verbose(written(call.arguments.find_argument_value("pattern", 0)?)?, call))
}

/// A pattern that is written out, of texts or of bytes.
fn written(expr: &Expr) -> Option<String> {
    match expr {
        Expr::StringLiteral(text) => Some(text.value.to_str().to_string()),
        Expr::BytesLiteral(bytes) => String::from_utf8(bytes.value.bytes().collect()).ok(),
        _ => None,
    }
}

/// Whether a function with this text reads texts of some form.
fn reads_texts(text: &str) -> bool {
    const READING: [&str; 9] =
        ["split(", "partition(", "re.", "int(", "float(", "strptime(", "fromisoformat(", "url", "loads("];
    READING.iter().any(|sign| text.contains(sign))
}

/// A pattern with the one flag that changes its notation.
fn verbose(pattern: String, call: &ExprCall) -> String {
    let mut flags: Vec<&Expr> =
        call.arguments.args.iter().chain(call.arguments.keywords.iter().map(|one| &one.value)).collect();
    while let Some(flag) = flags.pop() {
        match flag {
            Expr::BinOp(node) => flags.extend([node.left.as_ref(), node.right.as_ref()]),
            Expr::Attribute(node) if matches!(node.attr.as_str(), "VERBOSE" | "X") => return format!("(?x){pattern}"),
            _ => {}
        }
    }
    pattern
}

fn last_name(expr: &Expr) -> Option<&str> {
    match expr {
        Expr::Name(name) => Some(&name.id),
        Expr::Attribute(node) => Some(&node.attr),
        _ => None,
    }
}
