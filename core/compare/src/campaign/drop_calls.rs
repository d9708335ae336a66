//! As few uses of an object as still show a difference.

use std::collections::BTreeMap;

use twincell_engine::EngineError;
use twincell_values::path::{AccessPath, Question};
use twincell_values::value::{Choice, Decision, Recipe};

use super::TestCase;
use super::bisect::Search;
use super::shrink::changed;

impl Search<'_> {
    /// The witness with as few uses of its object as show the difference.
    pub(super) fn fewer_uses(&mut self, witness: TestCase) -> Result<TestCase, EngineError> {
        let mut best = witness;
        let mut step = uses(&best.record.choices);
        while step > 0 && !self.is_over() {
            if uses(&best.record.choices) > 1 && step <= uses(&best.record.choices) {
                *self.left -= 1;
                let without = without_use(&best.record.choices, step);
                let found = changed(self.execute, &best, without, self.channels, self.rules, self.lost)?;
                let is_fewer = |found: &TestCase| {
                    uses(&found.record.choices) < uses(&best.record.choices)
                        && found.record.invented() <= best.record.invented()
                };
                best = found.filter(is_fewer).unwrap_or(best);
            }
            step -= 1;
        }
        Ok(best)
    }
}

/// The number of uses of an object.
fn uses(choices: &[Choice]) -> u32 {
    let more = number(choices, Question::MembersUsed).and_then(|more| u32::try_from(more).ok());
    more.map_or(0, |more| more + 1)
}

/// The decisions that leave one use out: those behind it come earlier, with their arguments.
fn without_use(choices: &[Choice], left_out: u32) -> Vec<(String, Decision)> {
    let count = uses(choices);
    let fewer = (Question::MembersUsed.to_string(), Decision::Value(Recipe::Int(i64::from(count) - 2)));
    let moved = (left_out..count).flat_map(|step| {
        let earlier = |question: fn(u32) -> Question<'static>| {
            let choice = find(choices, question(step + 1))?;
            Some((question(step).to_string(), choice.decision.clone()))
        };
        [earlier(Question::Member), earlier(Question::Operand)].into_iter().flatten()
    });
    std::iter::once(fewer).chain(moved).chain(passed_without(choices, left_out)).collect()
}

/// An argument of a name that several calls have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Passed {
    /// The use that passes it; the constructor comes before the first one.
    step: u32,
    /// The number of its value, see [`AccessPath::numbered`]: that of an earlier one where it stands for it again.
    number: usize,
}

/// The arguments of each name that several calls have, in their order. A worker asks for them between the uses.
fn arguments(choices: &[Choice]) -> BTreeMap<&str, Vec<Passed>> {
    let mut all: BTreeMap<&str, Vec<Passed>> = BTreeMap::new();
    let (mut step, mut first) = (0, BTreeMap::new());
    for choice in choices {
        match Question::parse(&choice.path) {
            Question::Member(next) => step = next,
            Question::Again(of) => {
                let Some((name, own)) = of.split_number() else { continue };
                let passed = all.entry(name.as_str()).or_insert_with(|| {
                    vec![Passed { step: first.get(name.as_str()).copied().unwrap_or(step), number: 1 }]
                });
                let again = match choice.decision {
                    Decision::Value(Recipe::Int(again)) => usize::try_from(again).ok().filter(|again| *again > 0),
                    _ => None,
                };
                let again = again.map(|again| again.min(passed.len()));
                passed.extend(again.or_else(|| own.parse().ok()).map(|number| Passed { step, number }));
            }
            Question::Value(path) => {
                first.entry(path.split_root().0).or_insert(step);
            }
            Question::Positional(name) => {
                first.entry(name).or_insert(step);
            }
            _ => {}
        }
    }
    // Nobody could tell such an argument from a question: `order(x, 1)`.
    all.retain(|name, _| !Question::is_answer(&format!("{name}(")));
    all
}

/// The decisions about the arguments that are passed when those of one use are not.
fn passed_without(choices: &[Choice], left_out: u32) -> Vec<(String, Decision)> {
    let mut numbers: BTreeMap<&str, BTreeMap<usize, usize>> = BTreeMap::new();
    let mut decisions = Vec::new();
    for (name, passed) in arguments(choices) {
        let numbers = numbers.entry(name).or_default();
        for (own, one) in (1..).zip(passed.iter().filter(|one| one.step != left_out)) {
            let again = numbers.get(&one.number).copied();
            numbers.entry(one.number).or_insert(own);
            if own > 1 {
                let own = AccessPath::new(name).numbered(own);
                let again = i64::try_from(again.unwrap_or(0)).unwrap_or(0);
                decisions.push((Question::Again((&own).into()).to_string(), Decision::Value(Recipe::Int(again))));
            }
        }
    }
    let is_again = |path: &str| matches!(Question::parse(path), Question::Again(_));
    let renumbered = |path: &str| {
        numbers.iter().fold(path.to_owned(), |path, (name, numbers)| {
            AccessPath::new(&path).renumbered(name, &|number| numbers.get(&number).copied())
        })
    };
    let moved = choices.iter().filter(|choice| !is_again(&choice.path)).filter_map(|choice| {
        let path = renumbered(&choice.path);
        (path != choice.path).then(|| in_order(&choice.path, &path, &choice.decision))
    });
    decisions.extend(moved);
    decisions
}

/// A decision under its new path. A worker asks for the order of two objects in the order of their paths.
fn in_order(before: &str, path: &str, decision: &Decision) -> (String, Decision) {
    if let (Question::Order { one: first, other: second }, Question::Order { one, other }) =
        (Question::parse(before), Question::parse(path))
        && let Decision::Value(Recipe::Int(order)) = decision
        && first <= second
        && one > other
    {
        let question = Question::Order { one: other, other: one };
        return (question.to_string(), Decision::Value(Recipe::Int(2 - order)));
    }
    (path.to_owned(), decision.clone())
}

fn find<'a>(choices: &'a [Choice], question: Question<'_>) -> Option<&'a Choice> {
    let path = question.to_string();
    choices.iter().find(|choice| choice.path == path)
}

fn number(choices: &[Choice], question: Question<'_>) -> Option<i64> {
    match find(choices, question)?.decision {
        Decision::Value(Recipe::Int(number)) => Some(number),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choices(all: &[(&str, Recipe)]) -> Vec<Choice> {
        let choice =
            |(path, value): &(&str, Recipe)| Choice { path: (*path).into(), decision: Decision::Value(value.clone()) };
        all.iter().map(choice).collect()
    }

    fn text(text: &str) -> Recipe {
        Recipe::Str(text.into())
    }

    /// The first two of three uses, each with a key of its own.
    fn two_keys() -> Vec<(&'static str, Recipe)> {
        vec![
            ("members used", Recipe::Int(2)),
            ("member 1", Recipe::Int(0)),
            ("key", text("a")),
            ("member 2", Recipe::Int(0)),
            ("again for key (2)", Recipe::Int(0)),
            ("key (2)", text("b")),
        ]
    }

    fn without(all: &[(&str, Recipe)], left_out: u32) -> BTreeMap<String, Recipe> {
        let value = |(path, decision)| match decision {
            Decision::Value(recipe) => (path, recipe),
            other => panic!("{other:?}"),
        };
        without_use(&choices(all), left_out).into_iter().map(value).collect()
    }

    #[test]
    fn later_arguments_come_earlier() {
        let third = [("member 3", Recipe::Int(1)), ("again for key (3)", Recipe::Int(2))];
        let all = [two_keys(), third.to_vec()].concat();
        let found = without(&all, 1);
        assert_eq!(found["members used"], Recipe::Int(1));
        assert_eq!((&found["member 1"], &found["member 2"]), (&Recipe::Int(0), &Recipe::Int(1)));
        assert_eq!((&found["key"], &found["again for key (2)"]), (&text("b"), &Recipe::Int(1)));
        // The value is now a new one: the use that it was first passed to is left out.
        let found = without(&all, 2);
        assert_eq!((&found["again for key (2)"], found.get("key (2)")), (&Recipe::Int(0), None));
        assert!(!found.contains_key("key"));
    }

    #[test]
    fn questions_about_several_arguments_are_those_of_the_others() {
        let all = [
            ("members used", Recipe::Int(1)),
            ("member 1", Recipe::Int(0)),
            ("key", text("a")),
            ("len(*rest)", Recipe::Int(1)),
            ("rest[0]", Recipe::Int(1)),
            ("value", Recipe::Int(1)),
            ("member 2", Recipe::Int(0)),
            ("again for key (2)", Recipe::Int(0)),
            ("key (2)", text("b")),
            ("again for rest (2)", Recipe::Int(0)),
            ("rest (2)[0]", Recipe::Int(2)),
            ("again for value (2)", Recipe::Int(0)),
            ("value (2)", Recipe::Int(3)),
            ("order(key (2), value (2))", Recipe::Int(2)),
        ];
        let found = without(&all, 1);
        assert_eq!((&found["order(key, value)"], &found["rest[0]"]), (&Recipe::Int(2), &Recipe::Int(2)));
    }

    #[test]
    fn an_order_is_asked_for_in_the_order_of_the_paths() {
        let order = ("order(key, key (2))", Recipe::Int(0));
        let third = [order, ("member 3", Recipe::Int(0)), ("again for key (3)", Recipe::Int(1))];
        let all = [two_keys(), third.to_vec()].concat();
        // The third use passes what the first one did, and the second one now comes first.
        let found = without(&all, 1);
        assert_eq!((&found["key"], &found["key (2)"]), (&text("b"), &text("a")));
        assert_eq!(found["order(key, key (2))"], Recipe::Int(2));
    }

    #[test]
    fn arguments_of_the_constructor_stay() {
        let all = [
            ("limit", Recipe::Int(3)),
            ("members used", Recipe::Int(1)),
            ("member 1", Recipe::Int(0)),
            ("again for limit (2)", Recipe::Int(0)),
            ("limit (2)", Recipe::Int(5)),
            ("member 2", Recipe::Int(0)),
            ("again for limit (3)", Recipe::Int(0)),
            ("limit (3)", Recipe::Int(7)),
        ];
        let found = without(&all, 1);
        assert_eq!((&found["limit (2)"], found.get("limit")), (&Recipe::Int(7), None));
    }
}
