//! Which functions of a module may replace others, themselves or through what they call.
//!
//! A function reaches all functions whose name it mentions, as a name or as an attribute. This is asked once for the whole
//! module, backwards from the functions that do such a thing, so that functions may call each other as they like.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use super::level::Level;
use super::module::{LONGEST_TARGET, Module};
use super::search::Search;

/// How many steps may be taken to find what belongs to the content of all calls. Beyond, a call belongs to the whole module.
const MOST_STEPS: usize = 2_000_000;

/// What a call of a function may do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reached {
    /// The functions on the way to what they replace.
    pub content: u64,
    pub target: Option<String>,
}

/// The functions of a module come first, and then the names by which they are called: many functions may have one name, and
/// each may be mentioned often.
pub struct Reach<'a> {
    functions: Vec<Function>,
    names: BTreeMap<&'a str, usize>,
    /// Where each of them leads, and what it gives there.
    edges: Vec<Vec<(usize, Level)>>,
    /// Whether one of them may replace others when it is called with this.
    may_replace: Vec<[bool; Level::ALL.len()]>,
    steps: Cell<usize>,
    known: RefCell<BTreeMap<(usize, Level), Option<Reached>>>,
    whole: OnceCell<u64>,
}

struct Function {
    content: u64,
    target: Option<String>,
}

impl<'a> Reach<'a> {
    pub fn of(module: &Module<'a>) -> Self {
        let first_name = module.codes.len();
        let names: BTreeMap<&str, usize> = module.by_name.keys().copied().zip(first_name..).collect();
        let mut functions = Vec::new();
        let mut edges = Vec::new();
        let mut may_replace = Vec::new();
        for code in &module.codes {
            let search = Search::of_code(module, *code);
            let least = search.hits.iter().map(|hit| hit.level).min();
            may_replace.push(Level::ALL.map(|level| least.is_some_and(|least| least <= level)));
            let mentioned = search.mentions.iter();
            let called = mentioned.filter_map(|mention| Some((*names.get(mention.name)?, mention.level)));
            edges.push(called.collect::<BTreeSet<_>>().into_iter().collect());
            let target = search.hits.into_iter().find_map(|hit| hit.target);
            let target = target.filter(|target| target.len() <= LONGEST_TARGET);
            functions.push(Function { content: search.content, target });
        }
        for named in module.by_name.values() {
            let codes = named.codes.iter().map(|called| {
                // What a call gives does not come to all functions that it runs.
                (called.code, if called.gets { Level::Passed } else { Level::Nothing })
            });
            let others = named.others.iter().filter_map(|other| Some((*names.get(other)?, Level::Passed)));
            edges.push(codes.chain(others).collect());
            may_replace.push([false; Level::ALL.len()]);
        }
        let mut reach = Self {
            functions,
            names,
            edges,
            may_replace,
            steps: Cell::new(0),
            known: RefCell::default(),
            whole: OnceCell::new(),
        };
        reach.spread();
        reach
    }

    /// What a function gives to one that it calls, when it was given something itself.
    fn given(own: Level, call: Level) -> Level {
        if call == Level::Passed { own } else { call }
    }

    /// Finds the callers of functions that may replace others, and theirs.
    fn spread(&mut self) {
        let mut callers: Vec<Vec<(usize, Level)>> = vec![vec![]; self.edges.len()];
        for (caller, edges) in self.edges.iter().enumerate() {
            for (called, level) in edges {
                callers[*called].push((caller, *level));
            }
        }
        let all = 0..self.functions.len();
        let mut due: Vec<usize> = all.filter(|at| self.may_replace[*at].contains(&true)).collect();
        while let Some(at) = due.pop() {
            for (caller, call) in &callers[at] {
                let mut is_new = false;
                for own in Level::ALL {
                    let now = self.may_replace[*caller][own as usize]
                        || self.may_replace[at][Self::given(own, *call) as usize];
                    is_new |= now != std::mem::replace(&mut self.may_replace[*caller][own as usize], now);
                }
                if is_new {
                    due.push(*caller);
                }
            }
        }
    }

    /// What a mention of a name outside of functions may do.
    pub fn of_name(&self, name: &str, given: Level) -> Option<Reached> {
        // Outside of functions nothing was given.
        let start = (*self.names.get(name)?, Self::given(Level::Nothing, given));
        let known = self.known.borrow().get(&start).cloned();
        known.unwrap_or_else(|| {
            let reached = self.of_nodes(vec![start]);
            self.known.borrow_mut().insert(start, reached.clone());
            reached
        })
    }

    /// What a call of one of these names may do, whatever it is given.
    pub fn of_names<'n>(&self, names: impl IntoIterator<Item = &'n &'n str>) -> Option<Reached> {
        let nodes = names.into_iter().filter_map(|name| self.names.get(name));
        self.of_nodes(nodes.map(|node| (*node, Level::Holder)).collect())
    }

    fn of_nodes(&self, mut due: Vec<(usize, Level)>) -> Option<Reached> {
        due.retain(|(at, level)| self.may_replace[*at][*level as usize]);
        if due.is_empty() {
            return None;
        }
        let mut seen: BTreeSet<(usize, Level)> = due.iter().copied().collect();
        while let Some((at, own)) = due.pop() {
            self.steps.set(self.steps.get() + self.edges[at].len() + 1);
            if self.steps.get() > MOST_STEPS {
                let content = *self.whole.get_or_init(|| self.content(0..self.functions.len()));
                return Some(Reached { content, target: None });
            }
            for (next, call) in &self.edges[at] {
                let next = (*next, Self::given(own, *call));
                if self.may_replace[next.0][next.1 as usize] && seen.insert(next) {
                    due.push(next);
                }
            }
        }
        let reached: BTreeSet<usize> = seen.into_iter().map(|(at, _)| at).collect();
        let target = reached.range(..self.functions.len()).find_map(|at| self.functions[*at].target.clone());
        Some(Reached { content: self.content(reached), target })
    }

    /// The content of these functions together.
    fn content(&self, nodes: impl IntoIterator<Item = usize>) -> u64 {
        let functions = nodes.into_iter().filter_map(|at| self.functions.get(at));
        let mut contents: Vec<u64> = functions.map(|function| function.content).collect();
        contents.sort_unstable();
        let mut hasher = DefaultHasher::new();
        contents.hash(&mut hasher);
        hasher.finish()
    }
}
