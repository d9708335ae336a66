//! What the patterns of `match` ask for: classes, literals, keys and items of the subject.

use ruff_python_ast::{Expr, Identifier, MatchCase, Pattern, PatternMatchClass, Singleton};

use super::collector::{Collector, Flow, FlowKind, place};
use super::written::{builtin_class, literal, named};
use super::{MAX_DEPTH, MAX_PARTS, Uses, add_missing};
use crate::value::{AbstractValue, Recipe};

/// Values of one pattern.
const MAX_SHAPES: usize = 8;

impl Collector {
    pub(super) fn note_match(&mut self, subject: &Expr, cases: &[MatchCase]) {
        for case in cases {
            self.note_pattern(subject, &case.pattern);
        }
    }

    fn note_pattern(&mut self, subject: &Expr, pattern: &Pattern) {
        match (subject, pattern) {
            // `match a, b`: each by itself.
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

    /// `case [first, *_]`: what a name captures is the subject or one of its items.
    fn note_captured(&mut self, subject: &Expr, pattern: &Pattern, index: Option<usize>) {
        match pattern {
            Pattern::MatchAs(node) => {
                if let (Some(name), Some(value)) = (&node.name, place(subject)) {
                    let kind = index.map_or(FlowKind::Value, FlowKind::Part);
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

/// Patterns of a sequence whose places are known: those before a star.
fn items(patterns: &[Pattern]) -> impl Iterator<Item = (usize, &Pattern)> {
    patterns.iter().enumerate().take(MAX_PARTS).take_while(|(_, pattern)| !pattern.is_match_star())
}

/// What a value has to be for a pattern to match.
fn asked(pattern: &Pattern) -> Uses {
    let tested = |class| Uses { tested: vec![class], candidates: shapes(pattern, MAX_DEPTH), ..Uses::default() };
    match pattern {
        Pattern::MatchSequence(_) => tested(AbstractValue::List),
        Pattern::MatchMapping(node) => {
            let mut uses = tested(AbstractValue::Dict);
            add_missing(&mut uses.key_candidates, &node.keys.iter().filter_map(literal).collect::<Vec<_>>());
            uses
        }
        Pattern::MatchClass(node) => match (class(node), node.arguments.patterns.as_slice()) {
            (Some(class), []) => Uses { tested: vec![class], ..Uses::default() },
            (Some(class), _) => tested(class),
            (None, _) => Uses { candidates: shapes(pattern, 1), ..Uses::default() },
        },
        Pattern::MatchAs(node) => node.pattern.as_deref().map(asked).unwrap_or_default(),
        Pattern::MatchOr(node) => node.patterns.iter().fold(Uses::default(), |mut all, pattern| {
            all.merge(&asked(pattern));
            all
        }),
        Pattern::MatchValue(_) | Pattern::MatchSingleton(_) => {
            Uses { candidates: shapes(pattern, 1), ..Uses::default() }
        }
        Pattern::MatchStar(_) => Uses::default(),
    }
}

/// The builtin class that a pattern asks for.
fn class(node: &PatternMatchClass) -> Option<AbstractValue> {
    builtin_class(&node.cls.as_name_expr()?.id)
}

/// Values that match, with objects where any value does; none where that cannot be told, or further in than `depth`.
fn shapes(pattern: &Pattern, depth: usize) -> Vec<Recipe> {
    if depth == 0 {
        return vec![];
    }
    let inside = |pattern: &Pattern| shapes(pattern, depth - 1);
    let mut shapes = match pattern {
        Pattern::MatchValue(node) => {
            literal(&node.value).or_else(|| named(&node.value).map(Recipe::Named)).into_iter().collect()
        }
        Pattern::MatchSingleton(node) => vec![match node.value {
            Singleton::None => Recipe::None,
            Singleton::True => Recipe::Bool(true),
            Singleton::False => Recipe::Bool(false),
        }],
        Pattern::MatchSequence(node) => {
            let items = node.patterns.iter().filter(|pattern| !pattern.is_match_star()).map(inside);
            each_way(items).into_iter().map(Recipe::List).collect()
        }
        Pattern::MatchMapping(node) => {
            let Some(keys) = node.keys.iter().map(literal).collect::<Option<Vec<_>>>() else { return vec![] };
            let dictionary = |values| Recipe::Dict(keys.iter().cloned().zip::<Vec<_>>(values).collect());
            each_way(node.patterns.iter().map(inside)).into_iter().map(dictionary).collect()
        }
        Pattern::MatchClass(node) => match (class(node), node.arguments.patterns.as_slice()) {
            // `int(0 | 1)`: of builtin classes the only position is the value itself.
            (Some(_), [inner]) => inside(inner),
            (Some(class), []) => an_instance(class).into_iter().collect(),
            _ if named(&node.cls).as_deref() == Some("bytes") => vec![Recipe::Bytes(b"a".to_vec())],
            _ => vec![],
        },
        Pattern::MatchAs(node) => match &node.pattern {
            Some(pattern) => inside(pattern),
            None => vec![Recipe::Versatile(AbstractValue::Object)],
        },
        Pattern::MatchOr(node) => node.patterns.iter().flat_map(inside).collect(),
        Pattern::MatchStar(_) => vec![],
    };
    shapes.truncate(MAX_SHAPES);
    shapes
}

/// All ways to take one value from each place.
fn each_way(places: impl Iterator<Item = Vec<Recipe>>) -> Vec<Vec<Recipe>> {
    places.take(MAX_PARTS + 1).enumerate().fold(vec![vec![]], |ways: Vec<Vec<Recipe>>, (index, values)| {
        // No container is as long as that.
        let values = if index == MAX_PARTS { vec![] } else { values };
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
        _ => return None,
    })
}
