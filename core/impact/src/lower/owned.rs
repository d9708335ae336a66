//! Containers that one variable alone holds. Nobody else sees what is put into them, so they need no map that all containers
//! share. An update of a local's container is an update of the local, and the containers of an attribute, a global or a
//! captured variable have a map of their own.
//!
//! A variable holds its container alone if all its values are made on the spot (`[]`, `dict()`, a comprehension), up to where
//! the container may get another name: it is returned, stored, or passed to something that may keep it.

use ruff_python_ast::{Expr, ExprCall, Operator};
use ruff_text_size::TextRange;
use rustc_hash::{FxHashMap, FxHashSet};
use twincell_semantic::{Referent, Value};

use super::declare::{Found, look_up};
use super::draft::{Builder, Draft, Guard, Made, Place};
use crate::program::{Items, Shared};

/// Who holds a value that is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Holder {
    Local(u32),
    /// A shared variable.
    Shared(u32),
    /// Nobody: it was just made.
    Nobody(Made),
    Unknown,
}

/// A value that is looked at: who holds it, and what it may be, unless that may be anything.
#[derive(Debug, Clone, Copy)]
pub(super) struct Held<'v> {
    pub holder: Holder,
    pub values: Option<&'v [Value]>,
    /// It is something of a library by its dotted name: what it holds is a part of what is outside.
    pub is_outside: bool,
}

impl Held<'_> {
    pub const UNKNOWN: Self = Self { holder: Holder::Unknown, values: None, is_outside: false };
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
            Expr::Attribute(attribute) if self.is_definition(expr) || self.is_of_typing(attribute.attr.range) => {
                Made::Scalar
            }
            _ => Made::Unknown,
        }
    }

    /// Whether a reference is a part of the module `typing`.
    fn is_of_typing(&self, range: TextRange) -> bool {
        let referents = self.world.referents(self.module, range);
        let of_typing = |one: &Referent| matches!(one, Referent::External(path) if path.starts_with("typing"));
        !referents.is_empty() && referents.iter().all(of_typing)
    }

    /// The value of an expression that is looked at, and gets no other name.
    pub fn look(&mut self, expr: &'a Expr) -> (Vec<Place>, Held<'a>) {
        let values = self.values(expr);
        let (places, holder) = self.look_for_holder(expr);
        (places, Held { holder, values, is_outside: self.is_of_library(expr) })
    }

    fn look_for_holder(&mut self, expr: &'a Expr) -> (Vec<Place>, Holder) {
        if let Expr::Attribute(attribute) = expr {
            let base = self.value(&attribute.value);
            return self.look_at_attribute(attribute, base);
        }
        let Expr::Name(name) = expr else {
            let made = self.made(expr);
            let holder = if made == Made::Unknown { Holder::Unknown } else { Holder::Nobody(made) };
            return (self.value(expr), holder);
        };
        let places = self.read_name(&name.id);
        // A handler may wait for a name that nothing binds.
        self.fails |= self.is_caught();
        let holder = match places[..] {
            _ if self.is_definition(expr) => Holder::Nobody(Made::Scalar),
            [Place::Local(local)] => Holder::Local(local),
            [Place::Shared(shared)] => Holder::Shared(shared),
            _ => Holder::Unknown,
        };
        (places, holder)
    }

    /// The maps of elements that are read for a container that may be one of some values.
    pub fn read_items(&mut self, kinds: &[Items], held: Held<'a>, is_deep: bool) -> Vec<Place> {
        let mut places = self.items(kinds, held, is_deep, false);
        if !kinds.is_empty() {
            places.extend(self.members(held.values));
        }
        places
    }

    /// The maps of elements that are written for a container that may be one of some values.
    pub fn written_items(&mut self, kinds: &[Items], held: Held<'a>, is_deep: bool) -> Vec<Place> {
        self.items(kinds, held, is_deep, true)
    }

    fn items(
        &mut self,
        kinds: &[Items],
        Held { holder, values, is_outside }: Held<'a>,
        is_deep: bool,
        is_write: bool,
    ) -> Vec<Place> {
        if is_outside && !kinds.is_empty() {
            return vec![self.shared(Shared::Outside), self.shared(Shared::GivenItems)];
        }
        let holder = match holder {
            Holder::Nobody(Made::Scalar) => return Vec::new(),
            Holder::Nobody(_) if !is_deep => return Vec::new(),
            Holder::Nobody(_) | Holder::Unknown => {
                return self.maps(kinds, values, is_deep, is_write).into_iter().map(Place::Shared).collect();
            }
            Holder::Local(local) => Place::Local(local),
            Holder::Shared(shared) => Place::Shared(shared),
        };
        if kinds.is_empty() {
            return Vec::new();
        }
        let maps = self.maps(kinds, values, is_deep, is_write);
        let own = match holder {
            Place::Shared(shared) => {
                vec![self.out.shared(Shared::ItemsOf(self.out.shared[shared as usize].clone().into()))]
            }
            _ => maps.clone(),
        };
        self.draft.guards.push(Guard { holder, maps, own, is_deep });
        vec![Place::Guarded(self.draft.guards.len() as u32 - 1)]
    }

    /// The value that a holder holds gets another name.
    pub fn escapes(&mut self, holder: Holder) {
        match holder {
            Holder::Local(local) => self.escaping.push(local),
            Holder::Shared(shared) => {
                self.out.escaped.insert(shared);
            }
            Holder::Nobody(_) | Holder::Unknown => {}
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

/// The shared variables whose containers have other names: some value of theirs is not made on the spot, or somebody keeps it.
pub(super) fn escaped(drafts: &[Draft], out: &super::Output) -> FxHashSet<u32> {
    let mut escaped = out.escaped.clone();
    for node in drafts.iter().flat_map(|draft| &draft.nodes) {
        if !node.is_update && node.makes == Made::Unknown {
            escaped.extend(node.writes.iter().filter_map(|place| match place {
                Place::Shared(shared) => Some(*shared),
                _ => None,
            }));
        }
    }
    escaped
}

/// The globals and captured variables that only ever hold scalars.
pub(super) fn scalars(drafts: &[Draft], out: &super::Output) -> FxHashSet<u32> {
    let (mut scalars, mut others) = (FxHashSet::default(), FxHashSet::default());
    for node in drafts.iter().flat_map(|draft| &draft.nodes) {
        let into = if node.makes == Made::Scalar && !node.is_update { &mut scalars } else { &mut others };
        into.extend(node.writes.iter().filter_map(|place| match place {
            Place::Shared(shared) => Some(*shared),
            _ => None,
        }));
    }
    let is_variable = |one: &u32| matches!(out.shared[*one as usize], Shared::Global(..) | Shared::Captured(..));
    scalars.into_iter().filter(|one| is_variable(one) && !others.contains(one)).collect()
}

/// The shared variables that decide which map is meant.
pub(super) struct Maps {
    pub escaped: FxHashSet<u32>,
    /// Those that hold nothing.
    pub scalars: FxHashSet<u32>,
    /// What unknown code changes of containers that one shared variable holds.
    pub foreign: u32,
    /// All attributes, for those who read them by no name.
    pub any_attribute: u32,
}

/// Decides for each guard at each node which map is meant.
pub(super) fn resolve(
    draft: &mut Draft,
    successors: &[Vec<u32>],
    Maps { escaped, scalars, foreign, any_attribute }: &Maps,
) {
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
        if let Place::Local(local) = guard.holder
            && made.get(&local) == Some(&Made::Container)
        {
            visible.entry(local).or_insert_with(|| visible_at(draft, successors, local));
        }
    }
    let guards = std::mem::take(&mut draft.guards);
    let maps = |at: usize, guard: &Guard| -> Vec<u32> {
        match guard.holder {
            Place::Local(local) => match made.get(&local) {
                Some(Made::Scalar) => vec![],
                Some(Made::Container) if !guard.is_deep && !visible.get(&local).is_some_and(|visible| visible[at]) => {
                    vec![]
                }
                _ => guard.maps.clone(),
            },
            Place::Shared(shared) if scalars.contains(&shared) => vec![],
            Place::Shared(shared) if escaped.contains(&shared) => guard.maps.clone(),
            _ if guard.is_deep => [guard.maps.as_slice(), &guard.own, &[*foreign]].concat(),
            _ => [guard.own.as_slice(), &[*foreign]].concat(),
        }
    };
    for (at, node) in draft.nodes.iter_mut().enumerate() {
        let replace = |places: &mut Vec<Place>, is_write: bool| {
            if !places.iter().any(|one| matches!(one, Place::Guarded(_))) {
                return;
            }
            let mut found = Vec::new();
            for place in std::mem::take(places) {
                match place {
                    Place::Guarded(number) => {
                        let maps = guards.get(number as usize).map(|guard| maps(at, guard)).unwrap_or_default();
                        // Who writes such a container is no unknown code, and changes what the object holds.
                        let of_object = |map: u32| if is_write && map == *foreign { *any_attribute } else { map };
                        found.extend(maps.into_iter().map(of_object).map(Place::Shared));
                    }
                    other => found.push(other),
                }
            }
            found.sort_unstable();
            found.dedup();
            *places = found;
        };
        replace(&mut node.reads, false);
        replace(&mut node.writes, true);
        node.dispatch.iter_mut().for_each(|places| replace(places, false));
        node.calls.iter_mut().flat_map(|call| &mut call.inputs).for_each(|places| replace(places, false));
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
