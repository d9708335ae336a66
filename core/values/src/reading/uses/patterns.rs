//! What the patterns of `match` require of the subject: classes, literals, keys and items.

use ruff_python_ast::{Expr, Identifier, MatchCase, Pattern, PatternMatchClass, Singleton};

use super::collector::{Collector, Flow, FlowKind, place};
use super::{MAX_DEPTH, MAX_PARTS, Uses};
use crate::reading::written::{builtin_class, literal, named};
use crate::value::{AbstractValue, Recipe};

/// The maximum number of values of one pattern, and of values in each.
const MAX_SHAPES: usize = 8;
const MAX_NODES: usize = 16;

impl Collector {
    pub(super) fn note_match(&mut self, subject: &Expr, cases: &[MatchCase]) {
        for case in cases {
            self.note_pattern(subject, &case.pattern);
        }
    }

    fn note_pattern(&mut self, subject: &Expr, pattern: &Pattern) {
        match (subject, pattern) {
            // `match a, b`: each subject counts by itself.
            (Expr::Tuple(subjects), Pattern::MatchSequence(sequence))
                if subjects.len() == sequence.patterns.len()
                    && !sequence.patterns.iter().any(Pattern::is_match_star) =>
            {
                for (subject, pattern) in subjects.iter().zip(&sequence.patterns) {
                    self.note_pattern(subject, pattern);
                }
            }
            (_, Pattern::MatchOr(either)) => {
                for pattern in &either.patterns {
                    self.note_pattern(subject, pattern);
                }
            }
            _ => {
                let asked = asked(pattern);
                self.note(subject, |uses| uses.merge(&asked));
                self.note_captured(subject, pattern, None);
            }
        }
    }

    /// `case [first, *_]`: a captured name is the subject or one of its items.
    fn note_captured(&mut self, subject: &Expr, pattern: &Pattern, index: Option<usize>) {
        match pattern {
            Pattern::MatchAs(node) => {
                if let (Some(name), Some(value)) = (&node.name, place(subject)) {
                    let kind = index.map_or(FlowKind::Value, |index| FlowKind::Part(vec![index]));
                    self.flows.push(Flow { local: name.to_string(), value, kind });
                }
                if let Some(inner) = &node.pattern {
                    self.note_captured(subject, inner, index);
                }
            }
            Pattern::MatchSequence(node) if index.is_none() => {
                for (index, item) in items(&node.patterns) {
                    self.note_captured(subject, item, Some(index));
                }
            }
            _ => {}
        }
    }

    /// A name that a pattern binds.
    pub(super) fn note_binding(&mut self, pattern: &Pattern) {
        let bound: Option<&Identifier> = match pattern {
            Pattern::MatchAs(node) => node.name.as_ref(),
            Pattern::MatchStar(node) => node.name.as_ref(),
            Pattern::MatchMapping(node) => node.rest.as_ref(),
            _ => None,
        };
        if let Some(name) = bound {
            *self.bound.entry(name.to_string()).or_default() += 1;
        }
    }
}

/// The patterns of a sequence whose positions are known: those before a star.
fn items(patterns: &[Pattern]) -> impl Iterator<Item = (usize, &Pattern)> {
    patterns.iter().enumerate().take(MAX_PARTS).take_while(|(_, pattern)| !pattern.is_match_star())
}

/// What a value must be for a pattern to match.
fn asked(pattern: &Pattern) -> Uses {
    let matching = || Uses { candidates: shapes(pattern, MAX_DEPTH), ..Uses::default() };
    match pattern {
        Pattern::MatchValue(node) => match named(&node.value) {
            Some(name) => Uses { candidates: vec![Recipe::Named(name)], ..Uses::default() },
            None => matching(),
        },
        Pattern::MatchMapping(node) => {
            let keys: Vec<Recipe> = node.keys.iter().filter_map(literal).collect();
            Uses { key_candidates: keys, ..matching() }
        }
        Pattern::MatchClass(node) => {
            let tested = class(node).into_iter().collect();
            if is_any(node) { Uses { tested, ..Uses::default() } } else { Uses { tested, ..matching() } }
        }
        Pattern::MatchAs(node) => node.pattern.as_deref().map(asked).unwrap_or_default(),
        Pattern::MatchOr(node) => node.patterns.iter().fold(Uses::default(), |mut all, pattern| {
            all.merge(&asked(pattern));
            all
        }),
        Pattern::MatchSingleton(_) | Pattern::MatchSequence(_) => matching(),
        Pattern::MatchStar(_) => Uses::default(),
    }
}

/// The builtin class that a pattern names.
fn class(node: &PatternMatchClass) -> Option<AbstractValue> {
    builtin_class(&node.cls.as_name_expr()?.id)
}

/// `int()` and `int(number)`: whether every value of the builtin class matches.
fn is_any(node: &PatternMatchClass) -> bool {
    let captures = |inner: &Pattern| inner.as_match_as().is_some_and(|node| node.pattern.is_none());
    class(node).is_some()
        && node.arguments.keywords.is_empty()
        && match node.arguments.patterns.as_slice() {
            [] => true,
            [inner] => captures(inner),
            _ => false,
        }
}

/// Plain values that match, with objects where any value matches. Empty where this is unknown, or where lists and
/// dictionaries are nested deeper than `depth`.
fn shapes(pattern: &Pattern, depth: usize) -> Vec<Recipe> {
    let any = || Recipe::Mock(AbstractValue::Object);
    let nested = |pattern: &Pattern| shapes(pattern, depth.saturating_sub(1));
    let mut shapes = match pattern {
        Pattern::MatchSequence(_) | Pattern::MatchMapping(_) if depth == 0 => vec![],
        Pattern::MatchValue(node) => literal(&node.value).into_iter().collect(),
        Pattern::MatchSingleton(node) => vec![match node.value {
            Singleton::None => Recipe::None,
            Singleton::True => Recipe::Bool(true),
            Singleton::False => Recipe::Bool(false),
        }],
        Pattern::MatchSequence(node) => {
            // The items that a star takes: none, or some values.
            let taken: &[usize] = if node.patterns.iter().any(Pattern::is_match_star) { &[0, 2] } else { &[0] };
            let items = |&count: &usize| {
                let item = |pattern: &Pattern| match pattern {
                    Pattern::MatchStar(_) => vec![vec![any()]; count],
                    pattern => vec![nested(pattern)],
                };
                each_way(node.patterns.iter().flat_map(item))
            };
            taken.iter().flat_map(items).map(Recipe::List).collect()
        }
        Pattern::MatchMapping(node) => {
            let Some(keys) = node.keys.iter().map(literal).collect::<Option<Vec<_>>>() else { return vec![] };
            let dictionary = |values| Recipe::Dict(keys.iter().cloned().zip::<Vec<_>>(values).collect());
            each_way(node.patterns.iter().map(nested)).into_iter().map(dictionary).collect()
        }
        Pattern::MatchClass(node) if is_any(node) => class(node).and_then(an_instance).into_iter().collect(),
        Pattern::MatchClass(node) if node.arguments.keywords.is_empty() => {
            match (class(node), node.arguments.patterns.as_slice()) {
                // `int(0 | 1)`: for builtin classes the only position is the value itself.
                (Some(_), [inner]) => shapes(inner, depth),
                (None, []) if named(&node.cls).as_deref() == Some("bytes") => vec![Recipe::Bytes(b"a".to_vec())],
                _ => vec![],
            }
        }
        Pattern::MatchAs(node) => node.pattern.as_deref().map_or_else(|| vec![any()], |inner| shapes(inner, depth)),
        Pattern::MatchOr(node) => node.patterns.iter().flat_map(|pattern| shapes(pattern, depth)).collect(),
        Pattern::MatchClass(_) | Pattern::MatchStar(_) => vec![],
    };
    shapes.retain(|shape| nodes(shape) <= MAX_NODES);
    shapes.truncate(MAX_SHAPES);
    shapes
}

/// The number of values in a value, including itself.
fn nodes(shape: &Recipe) -> usize {
    match shape {
        Recipe::List(items) => 1 + items.iter().map(nodes).sum::<usize>(),
        Recipe::Dict(entries) => 1 + entries.iter().map(|(_, value)| 1 + nodes(value)).sum::<usize>(),
        _ => 1,
    }
}

/// All ways to choose one value for each position.
fn each_way(places: impl Iterator<Item = Vec<Recipe>>) -> Vec<Vec<Recipe>> {
    places.take(MAX_NODES + 1).fold(vec![vec![]], |ways: Vec<Vec<Recipe>>, values| {
        let extended = |way: &Vec<Recipe>| {
            let longer = |value: &Recipe| way.iter().cloned().chain([value.clone()]).collect();
            values.iter().map(longer).collect::<Vec<_>>()
        };
        ways.iter().flat_map(extended).take(MAX_SHAPES).collect()
    })
}

fn an_instance(class: AbstractValue) -> Option<Recipe> {
    Some(match class {
        AbstractValue::Bool => Recipe::Bool(true),
        AbstractValue::Int => Recipe::Int(1),
        AbstractValue::Float => Recipe::Float(1.5),
        AbstractValue::Str => Recipe::Str("a".into()),
        AbstractValue::List => Recipe::List(vec![]),
        AbstractValue::Tuple => Recipe::Tuple(vec![]),
        AbstractValue::Dict => Recipe::Dict(vec![]),
        AbstractValue::Set => Recipe::Set(vec![]),
        _ => return None,
    })
}
