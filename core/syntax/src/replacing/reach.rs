//! Which functions of a module may replace others, themselves or through what they call.
//!
//! A function reaches all functions whose name it mentions, as a name or as an attribute. This is asked once for the whole
//! module, backwards from the functions that do such a thing, so that functions may call each other as they like.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use super::module::{Called, Module};
use super::search::{Level, Mention, Search};

/// How many steps may be taken to find what belongs to the content of all calls. Beyond, a call belongs to the whole module.
const MOST_STEPS: usize = 2_000_000;

/// What a call of a function may do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reached {
    /// The functions on the way to what they replace.
    pub content: u64,
    pub target: Option<String>,
}

pub struct Reach<'m, 'a> {
    module: &'m Module<'a>,
    functions: Vec<Function>,
    /// Whether a function may replace others when it is called with this.
    may_replace: Vec<[bool; Level::ALL.len()]>,
    steps: std::cell::Cell<usize>,
}

struct Function {
    content: u64,
    /// The functions that it may call, and what it gives them.
    calls: BTreeSet<(usize, Level)>,
    target: Option<String>,
}

impl<'m, 'a> Reach<'m, 'a> {
    pub fn of(module: &'m Module<'a>) -> Self {
        let mut functions = Vec::new();
        let mut may_replace = Vec::new();
        for code in &module.codes {
            let search = Search::of_code(module, *code);
            let least = search.hits.iter().map(|hit| hit.level).min();
            may_replace.push(Level::ALL.map(|level| least.is_some_and(|least| least <= level)));
            let of_mention = |mention: &Mention<'a>| {
                let called = module.by_name.get(mention.name).into_iter().flatten();
                called.map(|called| (called.code, level(called, mention.level))).collect::<Vec<_>>()
            };
            let calls = search.mentions.iter().flat_map(of_mention).collect();
            let target = search.hits.iter().find_map(|hit| hit.target.clone());
            functions.push(Function { content: search.content, calls, target });
        }
        let mut reach = Self { module, functions, may_replace, steps: std::cell::Cell::new(0) };
        reach.spread();
        reach
    }

    /// What a function gives to one that it calls, when it was given something itself.
    fn given(own: Level, call: Level) -> Level {
        if call == Level::Passed { own } else { call }
    }

    /// Finds the callers of functions that may replace others, and theirs.
    fn spread(&mut self) {
        let mut callers: Vec<Vec<(usize, Level)>> = vec![vec![]; self.functions.len()];
        for (caller, function) in self.functions.iter().enumerate() {
            for (called, level) in &function.calls {
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

    /// What a mention of names outside of functions may do.
    pub fn of_names(&self, names: impl IntoIterator<Item = (&'a str, Level)>) -> Option<Reached> {
        let of_name = |(name, given): (&str, Level)| {
            let called = self.module.by_name.get(name).into_iter().flatten();
            // Outside of functions nothing was given.
            called.map(move |called| (called.code, Self::given(Level::Nothing, level(called, given))))
        };
        let mut due: Vec<(usize, Level)> = names.into_iter().flat_map(of_name).collect();
        due.retain(|(code, level)| self.may_replace[*code][*level as usize]);
        if due.is_empty() {
            return None;
        }
        let mut seen: BTreeSet<(usize, Level)> = due.iter().copied().collect();
        while let Some((code, own)) = due.pop() {
            self.steps.set(self.steps.get() + self.functions[code].calls.len() + 1);
            if self.steps.get() > MOST_STEPS {
                break;
            }
            for (called, call) in &self.functions[code].calls {
                let next = (*called, Self::given(own, *call));
                if self.may_replace[next.0][next.1 as usize] && seen.insert(next) {
                    due.push(next);
                }
            }
        }
        let mut hasher = DefaultHasher::new();
        let is_whole = self.steps.get() <= MOST_STEPS;
        let reached: BTreeSet<usize> = match is_whole {
            true => seen.into_iter().map(|(code, _)| code).collect(),
            false => (0..self.functions.len()).collect(),
        };
        let mut contents: Vec<u64> = reached.iter().map(|code| self.functions[*code].content).collect();
        contents.sort_unstable();
        contents.hash(&mut hasher);
        let target = reached.iter().find_map(|code| self.functions[*code].target.clone());
        Some(Reached { content: hasher.finish(), target: target.filter(|_| is_whole) })
    }
}

/// What a function gets of what a call gives.
fn level(called: &Called, given: Level) -> Level {
    if called.gets { given } else { Level::Nothing }
}
