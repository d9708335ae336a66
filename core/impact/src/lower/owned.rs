//! Containers that one local alone holds. Nobody else sees what is put into them, so they need no map that all containers
//! share: an update of the container is an update of the local.
//!
//! A local holds its container alone if all its values are made on the spot (`[]`, `dict()`, a comprehension), up to where
//! the container may get another name: it is returned, stored, or passed to something that may keep it.

use ruff_python_ast::{Expr, ExprCall, Operator};
use rustc_hash::FxHashMap;

use super::declare::{Found, look_up};
use super::draft::{Builder, Draft, Place};
use super::expressions::MapItems;
use crate::program::{Items, Shared};

/// What a value is, as far as its expression tells.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Made {
    /// A number, a text, a truth value: it holds nothing.
    Scalar,
    /// A new container, whose elements may have other names.
    Container,
    #[default]
    Unknown,
}

/// Who holds a value that is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Holder {
    Local(u32),
    /// Nobody: it was just made.
    Nobody(Made),
    Unknown,
}

/// A shared map that is read or written unless a local alone holds the container.
#[derive(Debug, Clone, Copy)]
pub(super) struct Guard {
    pub local: u32,
    pub map: u32,
    /// Elements of elements count, too.
    pub is_deep: bool,
}

/// Builtins whose results are scalars.
const SCALARS: &[&str] = &[
    "str",
    "int",
    "float",
    "len",
    "repr",
    "bool",
    "abs",
    "round",
    "ord",
    "chr",
    "isinstance",
    "issubclass",
    "callable",
    "hasattr",
    "format",
    "hash",
    "id",
    "input",
    "bytes",
    "hex",
    "bin",
    "oct",
    "any",
    "all",
    "ascii",
];
/// Builtins whose results are new containers.
const CONTAINERS: &[&str] = &["list", "dict", "set", "sorted", "tuple", "frozenset", "bytearray", "range"];
/// Methods of texts whose results are texts, numbers and truth values.
const TEXT_METHODS: &[&str] = &[
    "join",
    "strip",
    "lstrip",
    "rstrip",
    "lower",
    "upper",
    "title",
    "capitalize",
    "casefold",
    "format",
    "startswith",
    "endswith",
    "encode",
    "decode",
    "ljust",
    "rjust",
    "zfill",
    "isdigit",
    "isalpha",
    "isspace",
];
const LIST_METHODS: &[&str] = &["split", "rsplit", "splitlines", "partition", "rpartition"];
/// Builtins that only look at the elements of their arguments.
const SHALLOW: &[&str] =
    &["len", "list", "tuple", "set", "frozenset", "dict", "any", "all", "enumerate", "zip", "reversed", "sum", "range"];
/// Builtins whose results go on seeing their arguments.
const LAZY: &[&str] = &["iter", "enumerate", "zip", "map", "filter", "reversed"];

impl<'a> Builder<'_, 'a> {
    /// Whether a name is that of a builtin.
    pub fn is_builtin(&self, name: &str) -> bool {
        matches!(look_up(&self.frame, name).0, Found::Nowhere)
    }

    /// The builtin that a call calls.
    pub fn builtin<'c>(&self, call: &'c ExprCall) -> Option<&'c str> {
        match call.func.as_ref() {
            Expr::Name(name) if self.is_builtin(&name.id) => Some(&name.id),
            _ => None,
        }
    }

    pub fn made(&self, expr: &Expr) -> Made {
        match expr {
            Expr::NumberLiteral(_)
            | Expr::StringLiteral(_)
            | Expr::BytesLiteral(_)
            | Expr::BooleanLiteral(_)
            | Expr::NoneLiteral(_)
            | Expr::EllipsisLiteral(_)
            | Expr::FString(_) => Made::Scalar,
            Expr::Compare(_) if !self.world.has_operators => Made::Scalar,
            Expr::UnaryOp(node) => match self.made(&node.operand) {
                Made::Scalar => Made::Scalar,
                _ if node.op == ruff_python_ast::UnaryOp::Not => Made::Scalar,
                _ => Made::Unknown,
            },
            Expr::List(_)
            | Expr::Dict(_)
            | Expr::Set(_)
            | Expr::Tuple(_)
            | Expr::ListComp(_)
            | Expr::SetComp(_)
            | Expr::DictComp(_) => Made::Container,
            Expr::BinOp(node) => match (self.made(&node.left), self.made(&node.right)) {
                (Made::Scalar, Made::Scalar) => Made::Scalar,
                (Made::Scalar, _) if node.op == Operator::Mod => Made::Scalar,
                (Made::Container, _) | (_, Made::Container) => Made::Container,
                _ => Made::Unknown,
            },
            Expr::If(node) => self.made(&node.body).max(self.made(&node.orelse)),
            Expr::Call(call) => match call.func.as_ref() {
                Expr::Name(name) if self.is_builtin(&name.id) => match name.id.as_str() {
                    name if SCALARS.contains(&name) => Made::Scalar,
                    name if CONTAINERS.contains(&name) => Made::Container,
                    _ => Made::Unknown,
                },
                Expr::Attribute(attribute) if !self.world.declared.methods.contains_key(attribute.attr.as_str()) => {
                    match attribute.attr.as_str() {
                        name if TEXT_METHODS.contains(&name) => Made::Scalar,
                        name if LIST_METHODS.contains(&name) => Made::Container,
                        _ => Made::Unknown,
                    }
                }
                _ => Made::Unknown,
            },
            _ => Made::Unknown,
        }
    }

    /// The value of an expression that is looked at, and gets no other name.
    pub fn look(&mut self, expr: &'a Expr) -> (Vec<Place>, Holder) {
        let Expr::Name(name) = expr else {
            let made = self.made(expr);
            let holder = if made == Made::Unknown { Holder::Unknown } else { Holder::Nobody(made) };
            return (self.value(expr), holder);
        };
        let places = self.read_name(&name.id);
        let holder = match places[..] {
            [Place::Local(local)] => Holder::Local(local),
            _ => Holder::Unknown,
        };
        (places, holder)
    }

    /// The maps of elements that matter for a container.
    pub fn items(&mut self, kinds: &[Items], holder: Holder, is_deep: bool) -> Vec<Place> {
        match holder {
            Holder::Nobody(Made::Scalar) => Vec::new(),
            Holder::Nobody(_) if !is_deep => Vec::new(),
            Holder::Nobody(_) | Holder::Unknown => kinds.map_items(self),
            Holder::Local(local) => {
                let guards = kinds.iter().map(|kind| {
                    let map = self.out.shared(Shared::Items(*kind));
                    self.draft.guards.push(Guard { local, map, is_deep });
                    Place::Guarded(self.draft.guards.len() as u32 - 1)
                });
                guards.collect()
            }
        }
    }

    /// The value that a holder holds gets another name.
    pub fn escapes(&mut self, holder: Holder) {
        if let Holder::Local(local) = holder {
            self.escaping.push(local);
        }
    }
}

/// Whether a builtin looks at its arguments and gives them no other name.
pub(super) fn only_looks(name: &str, is_iterated: bool) -> bool {
    let asks = twincell_syntax::python::ASKING.contains(&name) || matches!(name, "print" | "input");
    asks && (is_iterated || !LAZY.contains(&name))
}

/// Whether a builtin looks at elements, but not into them.
pub(super) fn is_shallow(name: &str) -> bool {
    SHALLOW.contains(&name)
}

/// Decides for each guard at each node whether the shared map is meant.
pub(super) fn resolve(draft: &mut Draft, successors: &[Vec<u32>]) {
    if draft.guards.is_empty() {
        return;
    }
    let mut made: FxHashMap<u32, Made> = FxHashMap::default();
    for node in draft.nodes.iter().filter(|node| !node.is_update) {
        for place in &node.writes {
            if let Place::Local(local) = place {
                let known = made.entry(*local).or_insert(Made::Scalar);
                *known = (*known).max(node.makes);
            }
        }
    }
    let mut visible: FxHashMap<u32, Vec<bool>> = FxHashMap::default();
    for guard in &draft.guards {
        if made.get(&guard.local) == Some(&Made::Container) {
            visible.entry(guard.local).or_insert_with(|| visible_at(draft, successors, guard.local));
        }
    }
    let guards = std::mem::take(&mut draft.guards);
    let place = |at: usize, place: Place| -> Option<Place> {
        let Place::Guarded(number) = place else { return Some(place) };
        let guard = guards.get(number as usize)?;
        let is_own = match made.get(&guard.local) {
            Some(Made::Scalar) => true,
            Some(Made::Container) => !guard.is_deep && !visible.get(&guard.local).is_some_and(|visible| visible[at]),
            _ => false,
        };
        (!is_own).then_some(Place::Shared(guard.map))
    };
    for (at, node) in draft.nodes.iter_mut().enumerate() {
        let replace = |places: &mut Vec<Place>| {
            if places.iter().any(|one| matches!(one, Place::Guarded(_))) {
                *places = std::mem::take(places).into_iter().filter_map(|one| place(at, one)).collect();
                places.sort_unstable();
                places.dedup();
            }
        };
        replace(&mut node.reads);
        replace(&mut node.writes);
        node.dispatch.iter_mut().for_each(replace);
        node.calls.iter_mut().flat_map(|call| &mut call.inputs).for_each(replace);
    }
}

/// The nodes at which the container of a local may have another name.
fn visible_at(draft: &Draft, successors: &[Vec<u32>], local: u32) -> Vec<bool> {
    let defines = |node: u32| {
        let node = &draft.nodes[node as usize];
        !node.is_update && node.writes.contains(&Place::Local(local))
    };
    let mut visible = vec![false; draft.nodes.len()];
    let escapes = draft.nodes.iter().enumerate().filter(|(_, node)| node.escapes.contains(&local));
    let mut open: Vec<u32> = escapes.map(|(at, _)| at as u32).collect();
    for node in &open {
        visible[*node as usize] = true;
    }
    while let Some(node) = open.pop() {
        if defines(node) {
            continue;
        }
        for next in &successors[node as usize] {
            if !visible[*next as usize] && !defines(*next) {
                visible[*next as usize] = true;
                open.push(*next);
            }
        }
    }
    visible
}
