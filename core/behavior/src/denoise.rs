//! The part of a version's behavior that repeats when it runs again on the same values. The rest is noise, and not
//! evidence.
//!
//! Noise is removed where it occurs and no further: an attribute that holds the time hides no other attribute, and a
//! line that names a process hides no other line.

use std::collections::{BTreeMap, BTreeSet};

use twincell_engine::observed::{Behavior, Call, Elision, Observed, Outcome, Reached, Slot, State, Varying};
use twincell_engine::sources::Sources;
use twincell_syntax::PerSide;

use super::Rules;
use super::display::display_varying;
use super::equal::{equal, same_text, type_name};
use crate::Channel;

/// Stands for a text that differs each time.
const NOISE: &str = "[another one each time]";

/// Two behaviors, reduced to the parts that repeat.
#[derive(Debug, Clone)]
pub struct Denoised {
    pub old: Behavior,
    pub new: Behavior,
    /// The channels in which nothing repeats.
    pub noisy: BTreeSet<Channel>,
}

/// The same part of several repetitions, each with the sources that vary in it.
type Again<'a, T> = Vec<(Sources, &'a T)>;

/// Keeps those parts of one run of each version that every other run of that version shows as well. In the place of a
/// part that differs stands what is known of it. The repetitions are in the order of their numbers, from 0.
pub fn denoise(old: (&Behavior, &[Behavior]), new: (&Behavior, &[Behavior]), rules: &Rules) -> Denoised {
    let mut noisy = BTreeSet::new();
    let runs = PerSide::new(old, new).map(|(first, again)| {
        let again: Again<'_, Behavior> =
            again.iter().enumerate().map(|(number, run)| (Sources::varied(number), run)).collect();
        (first, again)
    });
    let PerSide { old, new } = runs.as_ref().map(|(first, again)| Behavior {
        outcome: outcome(first, again, rules, &mut noisy),
        arguments: arguments(first, again, rules),
        calls: calls(first, again, rules, &mut noisy),
        yields: yields(first, again, rules),
        ..(*first).clone()
    });
    let mut denoised = Denoised { old, new, noisy };
    for channel in Channel::ALL {
        for (texts, replace) in texts(channel) {
            let found = runs.as_ref().map(|(first, again)| varying_texts(first, again, *texts));
            let PerSide { old: Some(old), new: Some(new) } = found else {
                denoised.noisy.insert(channel);
                continue;
            };
            let numbers: BTreeSet<usize> = old.keys().chain(new.keys()).copied().collect();
            for number in numbers {
                let (old, new) = (old.get(&number), new.get(&number));
                // A text whose source is unknown says nothing, whatever the other version writes there.
                let unknown = [old, new].iter().flatten().any(|varying| varying.sources.is_none());
                for (behavior, varying) in [(&mut denoised.old, old), (&mut denoised.new, new)] {
                    match varying {
                        _ if unknown => replace(behavior, number, NOISE),
                        Some(varying) => replace(behavior, number, &display_varying(varying)),
                        None => {}
                    }
                }
            }
        }
    }
    denoised
}

/// Takes the texts of a channel from a behavior, and replaces one of them.
type Texts = (fn(&Behavior) -> Vec<&str>, fn(&mut Behavior, usize, &str));

/// The texts of a channel that are compared as they are, line by line. The values of the other channels are reduced
/// part by part ([`denoise`]).
fn texts(channel: Channel) -> &'static [Texts] {
    match channel {
        Channel::Output => &[
            (
                |one| one.stdout.split('\n').collect(),
                |one, number, text| {
                    replace_line(&mut one.stdout, number, text);
                },
            ),
            (
                |one| one.stderr.split('\n').collect(),
                |one, number, text| {
                    replace_line(&mut one.stderr, number, text);
                },
            ),
        ],
        Channel::Log => &[(
            |one| one.log.iter().map(|logged| logged.message.as_str()).collect(),
            |one, number, text| {
                if let Some(logged) = one.log.get_mut(number) {
                    logged.message = text.into();
                }
            },
        )],
        Channel::Return | Channel::Arguments | Channel::Calls | Channel::Exception => &[],
    }
}

/// The texts that differ between runs of a version, by number; `None` if their count differs.
fn varying_texts(
    first: &Behavior,
    again: &Again<'_, Behavior>,
    of: fn(&Behavior) -> Vec<&str>,
) -> Option<BTreeMap<usize, Varying>> {
    let first = of(first);
    let again: Vec<(Sources, Vec<&str>)> = again.iter().map(|(varied, run)| (*varied, of(run))).collect();
    if again.iter().any(|(_, texts)| texts.len() != first.len()) {
        return None;
    }
    let mut found = BTreeMap::new();
    for (number, text) in first.iter().enumerate() {
        let differs: Vec<(Sources, bool)> =
            again.iter().map(|(varied, texts)| (*varied, !same_text(text, texts[number]))).collect();
        if differs.iter().any(|(_, differs)| *differs) {
            let all = std::iter::once(*text).chain(again.iter().map(|(_, texts)| texts[number]));
            let sources = sources(&differs).unwrap_or_default();
            found.insert(number, Varying { types: vec!["str".into()], sources, around: around(all) });
        }
    }
    Some(found)
}

fn replace_line(text: &mut String, number: usize, line: &str) {
    let lines: Vec<&str> =
        text.split('\n').enumerate().map(|(at, known)| if at == number { line } else { known }).collect();
    *text = lines.join("\n");
}

fn outcome(first: &Behavior, again: &Again<'_, Behavior>, rules: &Rules, noisy: &mut BTreeSet<Channel>) -> Outcome {
    let each = |part: fn(&Outcome) -> Option<&Observed>| -> Option<Again<'_, Observed>> {
        again.iter().map(|(varied, run)| Some((*varied, part(&run.outcome)?))).collect()
    };
    match &first.outcome {
        Outcome::Returned(value) => {
            if let Some(again) = each(|outcome| match outcome {
                Outcome::Returned(value) => Some(value),
                _ => None,
            }) {
                return Outcome::Returned(common(value, &again, rules));
            }
        }
        Outcome::Raised { exception, intended, line, message } => {
            if let Some(again) = each(|outcome| match outcome {
                Outcome::Raised { exception, .. } => Some(exception),
                _ => None,
            }) {
                let exception = common(exception, &again, rules);
                if matches!(exception, Observed::Elided { .. } | Observed::Varying(_)) {
                    noisy.insert(Channel::Exception);
                    return first.outcome.clone();
                }
                return Outcome::Raised { exception, intended: *intended, line: *line, message: message.clone() };
            }
        }
        Outcome::Stopped { .. } => {
            if again.iter().all(|(_, run)| matches!(run.outcome, Outcome::Stopped { .. })) {
                return first.outcome.clone();
            }
        }
    }
    noisy.extend([Channel::Return, Channel::Exception]);
    first.outcome.clone()
}

/// Compares by position. An entry that only some runs have equals anything.
fn arguments(first: &Behavior, again: &Again<'_, Behavior>, rules: &Rules) -> Vec<(Slot, Observed)> {
    fn by_slot(behavior: &Behavior) -> BTreeMap<&Slot, &Observed> {
        let mut found = BTreeMap::new();
        for (slot, value) in &behavior.arguments {
            // The first entry of a name counts, as when versions are compared.
            found.entry(slot).or_insert(value);
        }
        found
    }
    let kept = by_slot(first);
    let again: Vec<(Sources, BTreeMap<&Slot, &Observed>)> =
        again.iter().map(|(varied, run)| (*varied, by_slot(run))).collect();
    let slots: BTreeSet<&Slot> = kept.keys().chain(again.iter().flat_map(|(_, run)| run.keys())).copied().collect();
    let value = |slot: &Slot| {
        let again: Option<Again<'_, Observed>> =
            again.iter().map(|(varied, run)| Some((*varied, *run.get(slot)?))).collect();
        match (kept.get(slot), again) {
            (Some(first), Some(again)) => common(first, &again, rules),
            _ => noise(),
        }
    };
    slots.into_iter().map(|slot| (slot.clone(), value(slot))).collect()
}

fn calls(first: &Behavior, again: &Again<'_, Behavior>, rules: &Rules, noisy: &mut BTreeSet<Channel>) -> Vec<Call> {
    let alike = |call: &Call, other: &Call| {
        call.callee == other.callee
            && call.arguments.len() == other.arguments.len()
            && call.keywords.iter().map(|(name, _)| name).eq(other.keywords.iter().map(|(name, _)| name))
    };
    let repeats = |run: &Behavior| {
        run.calls.len() == first.calls.len() && first.calls.iter().zip(&run.calls).all(|(a, b)| alike(a, b))
    };
    if !again.iter().all(|(_, run)| repeats(run)) {
        noisy.insert(Channel::Calls);
        return first.calls.clone();
    }
    let mut kept = first.calls.clone();
    for (number, call) in kept.iter_mut().enumerate() {
        for (at, value) in call.arguments.iter_mut().enumerate() {
            let again = again.iter().map(|(varied, run)| (*varied, &run.calls[number].arguments[at])).collect();
            *value = common(value, &again, rules);
        }
        for (at, (_, value)) in call.keywords.iter_mut().enumerate() {
            let again = again.iter().map(|(varied, run)| (*varied, &run.calls[number].keywords[at].1)).collect();
            *value = common(value, &again, rules);
        }
        let again = again.iter().map(|(varied, run)| (*varied, &run.calls[number].state)).collect();
        call.state = state(&call.state, &again, rules);
    }
    kept
}

/// The moments that all runs have.
fn yields(first: &Behavior, again: &Again<'_, Behavior>, rules: &Rules) -> Vec<State> {
    let moment = |(number, own): (usize, &State)| {
        let again: Option<Again<'_, State>> =
            again.iter().map(|(varied, run)| Some((*varied, run.yields.get(number)?))).collect();
        Some(state(own, &again?, rules))
    };
    first.yields.iter().enumerate().map_while(moment).collect()
}

/// The common part of states. A place that only some of them have is noise.
fn state(first: &State, again: &Again<'_, State>, rules: &Rules) -> State {
    fn by_place(state: &State) -> BTreeMap<&Reached, &Observed> {
        state.iter().map(|(place, value)| (place, value)).collect()
    }
    let kept = by_place(first);
    let again: Vec<(Sources, BTreeMap<&Reached, &Observed>)> =
        again.iter().map(|(varied, state)| (*varied, by_place(state))).collect();
    let places: BTreeSet<&Reached> =
        kept.keys().chain(again.iter().flat_map(|(_, state)| state.keys())).copied().collect();
    let value = |place: &Reached| {
        let again: Option<Again<'_, Observed>> =
            again.iter().map(|(varied, state)| Some((*varied, *state.get(place)?))).collect();
        match (kept.get(place), again) {
            (Some(first), Some(again)) => common(first, &again, rules),
            _ => noise(),
        }
    };
    places.into_iter().map(|place| (place.clone(), value(place))).collect()
}

fn noise() -> Observed {
    Observed::Elided { reason: Elision::Noise }
}

/// The common part of the values of several runs.
fn common(first: &Observed, again: &Again<'_, Observed>, rules: &Rules) -> Observed {
    if again.iter().all(|(_, other)| equal(first, other, rules)) {
        return first.clone();
    }
    parts(first, again, rules).unwrap_or_else(|| varying(first, again, rules))
}

/// The common parts of values of the same form. `None` if their forms differ, or if they have no parts.
fn parts(first: &Observed, again: &Again<'_, Observed>, rules: &Rules) -> Option<Observed> {
    use Observed as O;
    match first {
        O::List(own) => items(own, again, rules, |other| match other {
            O::List(items) => Some(items),
            _ => None,
        })
        .map(O::List),
        O::Tuple(own) => items(own, again, rules, |other| match other {
            O::Tuple(items) => Some(items),
            _ => None,
        })
        .map(O::Tuple),
        O::Iterator { kind, items: own, finished } => items(own, again, rules, |other| match other {
            O::Iterator { items, finished: ends, .. } if ends == finished => Some(items),
            _ => None,
        })
        .map(|items| O::Iterator { kind: kind.clone(), items, finished: *finished }),
        O::Exception { class, arguments } => items(arguments, again, rules, |other| match other {
            O::Exception { class: own, arguments } if own == class => Some(arguments),
            _ => None,
        })
        .map(|arguments| O::Exception { class: class.clone(), arguments }),
        O::Object { class, attributes } => named(attributes, again, rules, |other| match other {
            O::Object { class: own, attributes } if own == class => Some(attributes),
            _ => None,
        })
        .map(|attributes| O::Object { class: class.clone(), attributes }),
        O::Injected { path, assigned } => named(assigned, again, rules, |other| match other {
            O::Injected { path: own, assigned } if own == path => Some(assigned),
            _ => None,
        })
        .map(|assigned| O::Injected { path: path.clone(), assigned }),
        O::Called { gave } => {
            let again = again.iter().map(|(varied, other)| match other {
                O::Called { gave } => Some((*varied, &**gave)),
                _ => None,
            });
            Some(O::Called { gave: Box::new(common(gave, &again.collect::<Option<_>>()?, rules)) })
        }
        O::Dict(own) => {
            let others = entries(again, |other| match other {
                O::Dict(entries) => Some(entries),
                _ => None,
            })?;
            let same_keys = |other: &[(O, O)]| {
                other.len() == own.len() && own.iter().zip(other).all(|((a, _), (b, _))| equal(a, b, rules))
            };
            others.iter().all(|(_, other)| same_keys(other)).then(|| {
                let value = |at: usize| others.iter().map(|(varied, other)| (*varied, &other[at].1)).collect();
                let merged = own.iter().enumerate();
                O::Dict(merged.map(|(at, (key, own))| (key.clone(), common(own, &value(at), rules))).collect())
            })
        }
        _ => None,
    }
}

/// A part of each repetition; `None` if one does not have it.
fn entries<'a, T: ?Sized>(
    again: &Again<'a, Observed>,
    of: impl Fn(&'a Observed) -> Option<&'a T>,
) -> Option<Vec<(Sources, &'a T)>> {
    again.iter().map(|(varied, other)| Some((*varied, of(other)?))).collect()
}

fn items<'a>(
    first: &[Observed],
    again: &Again<'a, Observed>,
    rules: &Rules,
    of: impl Fn(&'a Observed) -> Option<&'a Vec<Observed>>,
) -> Option<Vec<Observed>> {
    let others = entries(again, of)?;
    let item = |at: usize| others.iter().map(|(varied, other)| (*varied, &other[at])).collect();
    let same = others.iter().all(|(_, other)| other.len() == first.len());
    same.then(|| first.iter().enumerate().map(|(at, own)| common(own, &item(at), rules)).collect())
}

type Named = Vec<(String, Observed)>;

fn named<'a>(
    first: &[(String, Observed)],
    again: &Again<'a, Observed>,
    rules: &Rules,
    of: impl Fn(&'a Observed) -> Option<&'a Named>,
) -> Option<Named> {
    let others = entries(again, of)?;
    let value = |at: usize| others.iter().map(|(varied, other)| (*varied, &other[at].1)).collect();
    let same = |other: &Named| other.iter().map(|(name, _)| name).eq(first.iter().map(|(name, _)| name));
    others.iter().all(|(_, other)| same(other)).then(|| {
        let own = first.iter().enumerate();
        own.map(|(at, (name, own))| (name.clone(), common(own, &value(at), rules))).collect()
    })
}

/// What is known of a value that differs from run to run. It is noise, and equals anything, if it differs where no
/// source of such values varies.
fn varying(first: &Observed, again: &Again<'_, Observed>, rules: &Rules) -> Observed {
    let all = || std::iter::once(first).chain(again.iter().map(|(_, other)| *other));
    if all().any(|value| matches!(value, Observed::Elided { .. })) {
        return noise();
    }
    let differs: Vec<(Sources, bool)> =
        again.iter().map(|(varied, other)| (*varied, !equal(first, other, rules))).collect();
    let Some(sources) = sources(&differs) else { return noise() };
    let types: BTreeSet<String> = all().map(type_name).collect();
    let texts: Option<Vec<&str>> = all()
        .map(|value| match value {
            Observed::Str(text) => Some(text.as_str()),
            _ => None,
        })
        .collect();
    let around = texts.map(|texts| around(texts.into_iter())).unwrap_or_default();
    Observed::Varying(Varying { types: types.into_iter().collect(), sources, around })
}

/// The sources that explain exactly which repetitions differ from the first run: a repetition differs if and only if one
/// of them varies in it. `None` if one differs in which nothing varies, and `Some(None)` if the repetitions do not tell.
fn sources(differs: &[(Sources, bool)]) -> Option<Option<Sources>> {
    if differs.iter().any(|(varied, differs)| *differs && varied.is_empty()) {
        return None;
    }
    let same = differs.iter().filter(|(_, differs)| !differs);
    let found = same.fold(Sources::ALL, |left, (varied, _)| left.without(*varied));
    let distinguished = differs.iter().any(|(varied, _)| varied.iter().count() == 1);
    let explains = differs.iter().all(|(varied, differs)| !differs || varied.meets(found));
    Some((distinguished && explains).then_some(found))
}

/// The common beginning and end of texts, in whole words: `took 0.12 s` and `took 0.15 s` share `took ` and ` s`.
fn around<'a>(texts: impl Iterator<Item = &'a str>) -> (String, String) {
    let in_word = |c: char| c.is_alphanumeric() || "._-:+,".contains(c);
    let mut texts = texts;
    let first = texts.next().unwrap_or_default();
    let (mut before, mut behind) = (first, first);
    for text in texts {
        let same = before.chars().zip(text.chars()).take_while(|(a, b)| a == b).map(|(c, _)| c.len_utf8());
        before = &before[..same.sum()];
        let same = behind.chars().rev().zip(text.chars().rev()).take_while(|(a, b)| a == b).map(|(c, _)| c.len_utf8());
        behind = &behind[behind.len() - same.sum::<usize>()..];
    }
    let before = before.trim_end_matches(in_word);
    let behind = behind.trim_start_matches(in_word);
    let room = first.len() - before.len();
    // A text that is all beginning has no end.
    let behind = if behind.len() > room { "" } else { behind };
    (before.to_owned(), behind.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{EvidencePlace, differences};
    use twincell_engine::observed::Logged;
    use twincell_engine::sources::Source;

    fn int(value: i64) -> Observed {
        Observed::Int(value.to_string())
    }

    fn behavior(returned: Observed, attributes: &[(&str, i64)], stdout: &str) -> Behavior {
        let assigned = attributes.iter().map(|(name, value)| (format!(".{name}"), int(*value))).collect();
        Behavior {
            arguments: vec![(Slot::Argument("self".into()), Observed::Injected { path: "self".into(), assigned })],
            stdout: stdout.into(),
            log: vec![Logged { level: "info".into(), message: format!("took {stdout}"), line: 1 }],
            ..Behavior::new(Outcome::Returned(returned))
        }
    }

    fn places(old: &[Behavior], new: &[Behavior]) -> Vec<EvidencePlace> {
        let rules = Rules::default();
        let found = denoise((&old[0], &old[1..]), (&new[0], &new[1..]), &rules);
        let all = differences(&found.old, &found.new, &rules);
        let kept = all.into_iter().filter(|difference| !found.noisy.contains(&difference.channel));
        kept.map(|difference| difference.place).collect()
    }

    #[test]
    fn a_noisy_attribute_hides_no_other() {
        let run = |name: i64, time: i64| behavior(int(1), &[("name", name), ("time", time)], "");
        assert_eq!(places(&[run(1, 10), run(1, 11)], &[run(1, 12), run(1, 13)]), []);
        assert_eq!(
            places(&[run(1, 10), run(1, 11)], &[run(2, 10), run(2, 11)]),
            [EvidencePlace::Left { slot: Slot::Argument("self".into()) }]
        );
    }

    #[test]
    fn an_item_or_a_line_that_is_noise_hides_no_other() {
        let run = |item: i64, noise: i64, line: &str| {
            behavior(Observed::List(vec![int(item), int(noise)]), &[], &format!("{noise}\n{line}\n"))
        };
        assert_eq!(places(&[run(1, 5, "a"), run(1, 6, "a")], &[run(1, 7, "a"), run(1, 8, "a")]), []);
        let found = places(&[run(1, 5, "a"), run(1, 6, "a")], &[run(2, 7, "b"), run(2, 8, "b")]);
        let channels: Vec<Channel> = found.iter().map(EvidencePlace::channel).collect();
        assert_eq!(channels, [Channel::Return, Channel::Output]);
    }

    /// The runs of a version whose value is another one whenever a source of a set varies.
    fn runs(sources: &[Source], value: impl Fn(usize) -> Observed) -> Vec<Behavior> {
        let varies = |number: usize| sources.iter().any(|source| Sources::varied(number).contains(*source));
        let number = |number: usize| if varies(number) { number } else { 0 };
        std::iter::once(0).chain(0..24).map(|run| behavior(value(number(run)), &[], "")).collect()
    }

    #[test]
    fn what_a_source_gives_equals_only_what_the_same_source_gives() {
        let number = |run: usize| int(run as i64);
        let (time, timer) = (runs(&[Source::Time], number), runs(&[Source::Timer], number));
        let later = runs(&[Source::Time], |run| int(run as i64 + 1000));
        let constant = runs(&[], |_| int(0));
        let text = runs(&[Source::Time], |run| Observed::Str(run.to_string()));
        let both = runs(&[Source::Time, Source::Timer], number);
        assert_eq!(places(&time, &later), []);
        for other in [&timer, &constant, &text, &both] {
            assert_eq!(places(&time, other), [EvidencePlace::ReturnValue]);
            assert_eq!(places(other, &time), [EvidencePlace::ReturnValue]);
        }
    }

    #[test]
    fn what_no_set_of_sources_explains_equals_what_has_its_type() {
        let bit = runs(&[Source::Random], |run| int((run / 2 % 2) as i64));
        assert_eq!(places(&bit, &runs(&[], |_| int(0))), []);
        assert_eq!(places(&bit, &runs(&[], |_| Observed::None)), [EvidencePlace::ReturnValue]);
    }

    #[test]
    fn texts_share_whole_words() {
        let around = |texts: &[&str]| super::around(texts.iter().copied());
        assert_eq!(around(&["took 0.12 s", "took 0.15 s"]), ("took ".into(), " s".into()));
        assert_eq!(around(&["a b", "a b"]), ("a ".into(), "".into()));
        assert_eq!(around(&["", "x"]), (String::new(), String::new()));
    }

    #[test]
    fn of_a_place_named_twice_the_first_counts() {
        let run = |first: i64, second: i64| Behavior {
            arguments: [first, second].map(|value| (Slot::Argument("x".into()), int(value))).into(),
            ..behavior(int(1), &[], "")
        };
        assert_eq!(places(&[run(1, 5), run(1, 6)], &[run(1, 7), run(1, 8)]), []);
        assert_eq!(places(&[run(1, 5), run(1, 5)], &[run(2, 5), run(2, 5)]).len(), 1);
    }

    #[test]
    fn a_place_that_is_there_at_one_time_only_is_noise() {
        let bare = Behavior { arguments: vec![], ..behavior(int(1), &[], "") };
        let with = behavior(int(1), &[("a", 1)], "");
        assert_eq!(places(&[bare.clone(), with.clone()], &[bare.clone(), bare.clone()]), []);
        assert_eq!(places(&[with.clone(), with], &[bare.clone(), bare]).len(), 1);
    }

    #[test]
    fn an_end_that_is_another_one_each_time_says_nothing() {
        let ended = |value: i64| behavior(int(value), &[], "");
        let raised = Behavior {
            outcome: Outcome::Raised {
                exception: Observed::Exception { class: "ValueError".into(), arguments: vec![] },
                intended: true,
                line: 1,
                message: String::new(),
            },
            ..ended(1)
        };
        assert_eq!(places(&[ended(1), raised], &[ended(2), ended(2)]), []);
    }
}
