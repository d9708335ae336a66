//! What a project declares about behavior: channels and orders that count for nothing, and what its functions do.
//!
//! [`Declared`] is plain data, as a project writes it. [`suppressed`] names the differences that count for nothing
//! because of it, each with the [`Rule`] that sets it aside.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::fmt;

use globset::{GlobBuilder, GlobMatcher};
use serde::{Deserialize, Serialize};

use twincell_engine::observed::{Behavior, Call, Limit, Observed, Outcome};
use twincell_values::path::AccessPath;

use crate::{Channel, Difference, Rules, differences};

/// What counts for nothing: a channel, or a part of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ignored {
    Return,
    Arguments,
    Output,
    Log,
    Calls,
    Exception,
    /// The arguments of an exception; its class counts.
    ExceptionMessage,
}

impl Ignored {
    pub const NAMES: [&'static str; 7] =
        ["return", "arguments", "output", "log", "calls", "exception", "exception-message"];
    pub const ALL: [Ignored; 7] = [
        Ignored::Return,
        Ignored::Arguments,
        Ignored::Output,
        Ignored::Log,
        Ignored::Calls,
        Ignored::Exception,
        Ignored::ExceptionMessage,
    ];

    pub fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }

    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.name() == name)
    }

    /// The channel that it silences as a whole.
    fn channel(self) -> Option<Channel> {
        match self {
            Ignored::Return => Some(Channel::Return),
            Ignored::Arguments => Some(Channel::Arguments),
            Ignored::Output => Some(Channel::Output),
            Ignored::Log => Some(Channel::Log),
            Ignored::Calls => Some(Channel::Calls),
            Ignored::Exception => Some(Channel::Exception),
            Ignored::ExceptionMessage => None,
        }
    }
}

/// What may be in any order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unordered {
    /// Calls with effects, also on one object.
    Calls,
    /// The items of lists, tuples and iterators, as code makes them of sets.
    Items,
}

impl Unordered {
    pub const NAMES: [&'static str; 2] = ["calls", "items"];
    pub const ALL: [Unordered; 2] = [Unordered::Calls, Unordered::Items];

    pub fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }

    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.name() == name)
    }
}

/// The effect that a project declares for a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FunctionEffect {
    /// Nothing that counts: the call is left out of the comparison.
    None,
    /// It only gives a value: it may be moved, repeated and left out.
    Asks,
    /// It has an effect.
    Acts,
}

impl FunctionEffect {
    pub const NAMES: [&'static str; 3] = ["none", "asks", "acts"];
    pub const ALL: [FunctionEffect; 3] = [FunctionEffect::None, FunctionEffect::Asks, FunctionEffect::Acts];

    pub fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }

    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.name() == name)
    }
}

/// The effect of the functions that match a pattern.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct DeclaredEffect {
    /// A glob for dotted names: `metrics.*`. It matches the end of a name from any dot on: `self.metrics.count`.
    pub functions: String,
    pub effect: FunctionEffect,
}

/// What a project declares about behavior.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Declared {
    pub ignore: BTreeSet<Ignored>,
    pub unordered: BTreeSet<Unordered>,
    /// The last pattern that matches decides.
    pub effects: Vec<DeclaredEffect>,
}

/// A rule that sets a difference aside.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Rule {
    Ignore {
        what: Ignored,
    },
    Unordered {
        what: Unordered,
    },
    Effect {
        declared: DeclaredEffect,
    },
    FloatTolerance,
    /// The order of the keys of dictionaries does not count, unless somebody wants it to.
    KeyOrder,
    /// Differences that only an unlikely value shows do not count.
    EdgeCases,
}

impl fmt::Display for Rule {
    /// As a policy writes it.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Rule::Ignore { what } => write!(out, "ignore = \"{}\"", what.name()),
            Rule::Unordered { what } => write!(out, "unordered = \"{}\"", what.name()),
            Rule::Effect { declared } => {
                write!(out, "effects.\"{}\" = \"{}\"", declared.functions, declared.effect.name())
            }
            Rule::FloatTolerance => out.write_str("float-tolerance"),
            Rule::KeyOrder => out.write_str("the order of keys (--ordered-keys counts it)"),
            Rule::EdgeCases => out.write_str("ignore-edge-cases"),
        }
    }
}

/// Whether a text is a pattern for names of functions. An error says why not.
pub fn check_functions(pattern: &str) -> Result<(), String> {
    matcher(pattern).map(drop)
}

fn matcher(pattern: &str) -> Result<GlobMatcher, String> {
    let glob = GlobBuilder::new(pattern).literal_separator(false).build().map_err(|error| error.kind().to_string())?;
    Ok(glob.compile_matcher())
}

/// Declared effects, ready to be looked up. A pattern that [`check_functions`] refuses matches nothing.
#[derive(Debug, Clone, Default)]
pub struct Effects(Vec<(DeclaredEffect, GlobMatcher)>);

impl PartialEq for Effects {
    fn eq(&self, other: &Self) -> bool {
        self.declared().eq(other.declared())
    }
}

impl Effects {
    pub fn new(declared: &[DeclaredEffect]) -> Self {
        let compiled = declared.iter().filter_map(|one| Some((one.clone(), matcher(&one.functions).ok()?)));
        Self(compiled.collect())
    }

    fn declared(&self) -> impl Iterator<Item = &DeclaredEffect> {
        self.0.iter().map(|(declared, _)| declared)
    }

    /// What was declared for a function, by the last pattern that matches.
    pub(crate) fn of(&self, callee: AccessPath<'_>) -> Option<FunctionEffect> {
        self.0.iter().rev().find(|(_, pattern)| is_match(pattern, callee.as_str())).map(|(declared, _)| declared.effect)
    }
}

/// Whether a pattern matches a dotted name, or its end from any dot on.
fn is_match(pattern: &GlobMatcher, callee: &str) -> bool {
    let ends = callee.match_indices('.').map(|(at, _)| &callee[at + 1..]);
    std::iter::once(callee).chain(ends).any(|end| pattern.is_match(end))
}

impl Rules {
    /// With everything that a project declares.
    pub fn declaring(self, declared: &Declared) -> Self {
        Self {
            ignore: declared.ignore.clone(),
            unordered: declared.unordered.clone(),
            effects: Effects::new(&declared.effects),
            ..self
        }
    }

    /// The rules that may set differences aside.
    fn declared_rules(&self) -> Vec<Rule> {
        let ignored = self.ignore.iter().map(|what| Rule::Ignore { what: *what });
        let unordered = self.unordered.iter().map(|what| Rule::Unordered { what: *what });
        let effects = self.effects.declared().map(|declared| Rule::Effect { declared: declared.clone() });
        let tolerance = (self.float_tolerance > 0.0).then_some(Rule::FloatTolerance);
        ignored.chain(unordered).chain(effects).chain(tolerance).collect()
    }

    /// The same without one of its rules.
    pub fn without(&self, rule: &Rule) -> Self {
        let mut rest = self.clone();
        match rule {
            Rule::Ignore { what } => {
                rest.ignore.remove(what);
            }
            Rule::Unordered { what } => {
                rest.unordered.remove(what);
            }
            Rule::Effect { declared } => rest.effects.0.retain(|(own, _)| own != declared),
            Rule::FloatTolerance => rest.float_tolerance = 0.0,
            Rule::KeyOrder => rest.ordered_keys = true,
            Rule::EdgeCases => {}
        }
        rest
    }

    pub(crate) fn ignores(&self, channel: Channel) -> bool {
        self.ignore.iter().any(|what| what.channel() == Some(channel))
    }

    /// Whether two exceptions are the same because their messages do not count.
    pub(crate) fn same_but_for_message(&self, old: &Observed, new: &Observed) -> bool {
        let class = |exception: &Observed| match exception {
            Observed::Exception { class, .. } => Some(class.clone()),
            _ => None,
        };
        self.ignore.contains(&Ignored::ExceptionMessage) && class(old).is_some() && class(old) == class(new)
    }
}

/// The maximum number of rules that one execution is examined for.
const MOST_RULES: usize = 64;

/// The rules without which two behaviors would show a further difference, each with the strongest such difference.
pub fn suppressed(old: &Behavior, new: &Behavior, rules: &Rules) -> Vec<(Rule, Difference)> {
    let mut declared = rules.declared_rules();
    // Nearly all executions leave the very same values, and are compared once.
    declared.extend((!rules.ordered_keys && !has_same_values(old, new)).then_some(Rule::KeyOrder));
    if declared.is_empty() || !may_count(old) || !may_count(new) {
        return vec![];
    }
    let counted: BTreeSet<Channel> = differences(old, new, rules).into_iter().map(|one| one.channel).collect();
    let found = declared.into_iter().take(MOST_RULES).filter_map(|rule| {
        let further = differences(old, new, &rules.without(&rule));
        let uncounted = further.into_iter().filter(|one| !counted.contains(&one.channel));
        // The first of those that are equally strong.
        Some((rule, uncounted.min_by_key(|one| Reverse(one.basis))?))
    });
    found.collect()
}

/// Whether both leave and pass the very same values, in the same order.
fn has_same_values(old: &Behavior, new: &Behavior) -> bool {
    let is_same = |(one, other): (&Call, &Call)| {
        (&one.callee, &one.arguments, &one.keywords) == (&other.callee, &other.arguments, &other.keywords)
    };
    (&old.outcome, &old.arguments, &old.yields) == (&new.outcome, &new.arguments, &new.yields)
        && old.calls.len() == new.calls.len()
        && old.calls.iter().zip(&new.calls).all(is_same)
}

fn may_count(behavior: &Behavior) -> bool {
    !behavior.is_stopped() || matches!(behavior.outcome, Outcome::Stopped { reason: Limit::Steps })
}

#[cfg(test)]
mod tests {
    use super::*;
    use twincell_engine::observed::{Logged, State};
    use twincell_syntax::PerSide;

    fn call(callee: &str) -> Call {
        Call {
            callee: callee.into(),
            arguments: vec![],
            keywords: vec![],
            line: 1,
            discarded: true,
            by_all: true,
            state: State::default(),
        }
    }

    fn behavior(calls: &[&str], logged: &[&str], returned: Observed) -> Behavior {
        let log = logged.iter().map(|text| Logged { level: "INFO".into(), message: (*text).into(), line: 1 }).collect();
        let calls = calls.iter().map(|callee| call(callee)).collect();
        Behavior { calls, log, ..Behavior::new(Outcome::Returned(returned)) }
    }

    fn ints(values: &[i32]) -> Observed {
        Observed::List(values.iter().map(|value| Observed::Int(value.to_string())).collect())
    }

    fn raises(message: &str) -> Behavior {
        let exception =
            Observed::Exception { class: "ValueError".into(), arguments: vec![Observed::Str(message.into())] };
        Behavior::new(Outcome::Raised { exception, intended: true, line: 1, message: message.into() })
    }

    fn effects(entries: &[(&str, FunctionEffect)]) -> Declared {
        let effects = entries
            .iter()
            .map(|(functions, effect)| DeclaredEffect { functions: (*functions).into(), effect: *effect });
        Declared { effects: effects.collect(), ..Declared::default() }
    }

    #[test]
    fn each_rule_sets_aside_what_it_names_and_nothing_else() {
        let (none, plain) = (Observed::None, Declared::default());
        let ignoring = |what| Declared { ignore: [what].into(), ..Declared::default() };
        let unordered = |what| Declared { unordered: [what].into(), ..Declared::default() };
        let logs = |text: &str| behavior(&[], &[text], none.clone());
        let calls = |callees: &[&str]| behavior(callees, &[], none.clone());
        let gives = |values: &[i32]| behavior(&[], &[], ints(values));
        let keyed = |keys: &[i32]| {
            let entry = |key: &i32| (Observed::Int(key.to_string()), Observed::None);
            behavior(&[], &[], Observed::Dict(keys.iter().map(entry).collect()))
        };
        for (old, new, declared, expected) in [
            (logs("a"), logs("b"), plain.clone(), None),
            (logs("a"), logs("b"), ignoring(Ignored::Log), Some(Rule::Ignore { what: Ignored::Log })),
            (gives(&[1]), gives(&[2]), ignoring(Ignored::Log), None),
            (keyed(&[1, 2]), keyed(&[2, 1]), plain.clone(), Some(Rule::KeyOrder)),
            (keyed(&[1, 2]), keyed(&[2, 3]), plain.clone(), None),
            (gives(&[1]), gives(&[2]), ignoring(Ignored::Return), Some(Rule::Ignore { what: Ignored::Return })),
            (
                raises("a"),
                raises("b"),
                ignoring(Ignored::ExceptionMessage),
                Some(Rule::Ignore { what: Ignored::ExceptionMessage }),
            ),
            (raises("a"), calls(&[]), ignoring(Ignored::ExceptionMessage), None),
            (
                gives(&[1, 2]),
                gives(&[2, 1]),
                unordered(Unordered::Items),
                Some(Rule::Unordered { what: Unordered::Items }),
            ),
            (gives(&[1, 2]), gives(&[2, 2]), unordered(Unordered::Items), None),
            (
                calls(&["a.save", "a.send"]),
                calls(&["a.send", "a.save"]),
                unordered(Unordered::Calls),
                Some(Rule::Unordered { what: Unordered::Calls }),
            ),
            (calls(&["a.save"]), calls(&["a.save", "a.save"]), unordered(Unordered::Calls), None),
        ] {
            let rules = Rules::default().declaring(&declared);
            let rule = suppressed(&old, &new, &rules).into_iter().next().map(|(rule, _)| rule);
            assert_eq!(rule, expected, "{declared:?}");
            assert_eq!(differences(&old, &new, &rules).is_empty(), expected.is_some(), "{declared:?}");
        }
    }

    #[test]
    fn a_rule_that_hides_a_version_that_goes_on_is_named() {
        let run = |outcome, steps| Behavior { lines: vec![(2, 1)], steps, ..Behavior::new(outcome) };
        let ended = run(Outcome::Returned(Observed::None), 3);
        let stopped = |reason| run(Outcome::Stopped { reason }, 20_000);
        let ignoring = Declared { ignore: [Ignored::Exception].into(), ..Declared::default() };
        let changed = PerSide::new(vec![2], vec![]);
        let rules = Rules { changed, ..Rules::default() }.declaring(&ignoring);
        let named = |reason| suppressed(&ended, &stopped(reason), &rules).into_iter().map(|(rule, _)| rule).next();
        assert_eq!(named(Limit::Steps), Some(Rule::Ignore { what: Ignored::Exception }));
        assert_eq!(named(Limit::Memory), None);
    }

    #[test]
    fn a_declared_effect_counts_more_than_the_name_of_a_function() {
        let differs = |callee: &str, declared: &Declared| {
            let (old, new) = (behavior(&[callee], &[], Observed::None), behavior(&[], &[], Observed::None));
            !differences(&old, &new, &Rules::default().declaring(declared)).is_empty()
        };
        let (none, acts) = (FunctionEffect::None, FunctionEffect::Acts);
        assert!(differs("metrics.send", &Declared::default()));
        for callee in ["metrics.send", "self.metrics.send", "app.metrics.db.send"] {
            assert!(!differs(callee, &effects(&[("metrics.*", none)])), "{callee}");
        }
        assert!(differs("symmetrics.send", &effects(&[("metrics.*", none)])));
        assert!(!differs("x.get", &Declared::default()) && differs("x.get", &effects(&[("*.get", acts)])));
        assert!(
            differs("metrics.send", &effects(&[("metrics.*", none), ("metrics.send", acts)])),
            "the last one decides"
        );
        assert!(check_functions("metrics.[").is_err() && check_functions("metrics.*").is_ok());
    }
}
