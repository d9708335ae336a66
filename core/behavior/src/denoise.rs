//! The part of a version's behavior that repeats when it runs again on the same values. The rest is noise, and not
//! evidence.
//!
//! Noise is removed where it occurs and no further: an attribute that holds the time hides no other attribute, and a
//! line that names a process hides no other line.

use std::collections::{BTreeMap, BTreeSet};

use twincell_engine::observed::{Behavior, Elision, Observed, Outcome, Slot};
use twincell_syntax::PerSide;

use super::Rules;
use super::equal::{equal, same_text};
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

/// Keeps those parts of one run of each version that every other run of that version shows as well.
pub fn denoise(old: (&Behavior, &[Behavior]), new: (&Behavior, &[Behavior]), rules: &Rules) -> Denoised {
    let mut noisy = BTreeSet::new();
    let runs = PerSide::new(old, new);
    let PerSide { old, new } = runs.map(|(first, again)| {
        again.iter().fold(first.clone(), |kept, again| Behavior {
            outcome: outcome(&kept.outcome, &again.outcome, rules, &mut noisy),
            arguments: arguments(&kept, again, rules),
            ..calls(kept, again, rules, &mut noisy)
        })
    });
    let mut denoised = Denoised { old, new, noisy };
    for channel in Channel::ALL {
        for (texts, blank) in texts(channel) {
            let Some(changing) = lines_that_change(runs, *texts) else {
                denoised.noisy.insert(channel);
                continue;
            };
            for index in changing {
                blank(&mut denoised.old, index);
                blank(&mut denoised.new, index);
            }
        }
    }
    denoised
}

/// Takes the texts of a channel from a behavior, and blanks one of them.
type Texts = (fn(&Behavior) -> Vec<&str>, fn(&mut Behavior, usize));

/// The texts of a channel that are compared as they are, line by line. The values of the other channels are reduced
/// part by part ([`denoise`]).
fn texts(channel: Channel) -> &'static [Texts] {
    match channel {
        Channel::Output => &[
            (|one| one.stdout.split('\n').collect(), blank_stdout),
            (|one| one.stderr.split('\n').collect(), blank_stderr),
        ],
        Channel::Log => &[(|one| one.log.iter().map(|logged| logged.message.as_str()).collect(), blank_message)],
        Channel::Return | Channel::Arguments | Channel::Calls | Channel::Exception => &[],
    }
}

/// The numbers of the texts that differ between runs of a version; `None` if their count differs.
fn lines_that_change(
    runs: PerSide<(&Behavior, &[Behavior])>,
    of: fn(&Behavior) -> Vec<&str>,
) -> Option<BTreeSet<usize>> {
    let mut changing = BTreeSet::new();
    for (first, again) in runs {
        let first = of(first);
        for again in again {
            let again = of(again);
            if first.len() != again.len() {
                return None;
            }
            let pairs = first.iter().zip(&again).enumerate();
            changing.extend(pairs.filter(|(_, (a, b))| !same_text(a, b)).map(|(index, _)| index));
        }
    }
    Some(changing)
}

fn blank_stdout(behavior: &mut Behavior, index: usize) {
    blank_line(&mut behavior.stdout, index);
}

fn blank_stderr(behavior: &mut Behavior, index: usize) {
    blank_line(&mut behavior.stderr, index);
}

fn blank_line(text: &mut String, index: usize) {
    let lines: Vec<&str> =
        text.split('\n').enumerate().map(|(at, line)| if at == index { NOISE } else { line }).collect();
    *text = lines.join("\n");
}

fn blank_message(behavior: &mut Behavior, index: usize) {
    if let Some(logged) = behavior.log.get_mut(index) {
        logged.message = NOISE.into();
    }
}

fn outcome(kept: &Outcome, again: &Outcome, rules: &Rules, noisy: &mut BTreeSet<Channel>) -> Outcome {
    match (kept, again) {
        (Outcome::Returned(a), Outcome::Returned(b)) => Outcome::Returned(common(a, b, rules)),
        (Outcome::Raised { exception: a, intended, line, message }, Outcome::Raised { exception: b, .. }) => {
            let exception = common(a, b, rules);
            if matches!(exception, Observed::Elided { .. }) {
                noisy.insert(Channel::Exception);
                return kept.clone();
            }
            Outcome::Raised { exception, intended: *intended, line: *line, message: message.clone() }
        }
        (Outcome::Stopped { .. }, Outcome::Stopped { .. }) => kept.clone(),
        _ => {
            noisy.extend([Channel::Return, Channel::Exception]);
            kept.clone()
        }
    }
}

/// Compares by position. An entry that only some runs have equals anything.
fn arguments(kept: &Behavior, again: &Behavior, rules: &Rules) -> Vec<(Slot, Observed)> {
    let by_slot = |behavior: &Behavior| {
        let mut found: BTreeMap<Slot, Observed> = BTreeMap::new();
        for (slot, value) in &behavior.arguments {
            // The first entry of a name counts, as when versions are compared.
            found.entry(slot.clone()).or_insert_with(|| value.clone());
        }
        found
    };
    let (kept, mut again) = (by_slot(kept), by_slot(again));
    let mut merged: Vec<(Slot, Observed)> = kept
        .into_iter()
        .map(|(slot, value)| {
            let value = again.remove(&slot).map_or_else(noise, |other| common(&value, &other, rules));
            (slot, value)
        })
        .collect();
    merged.extend(again.into_keys().map(|slot| (slot, noise())));
    merged
}

fn calls(mut kept: Behavior, again: &Behavior, rules: &Rules, noisy: &mut BTreeSet<Channel>) -> Behavior {
    let alike = |pair: (&super::Call, &super::Call)| {
        let names =
            |call: &super::Call| -> Vec<String> { call.keywords.iter().map(|(name, _)| name.clone()).collect() };
        pair.0.callee == pair.1.callee
            && pair.0.arguments.len() == pair.1.arguments.len()
            && names(pair.0) == names(pair.1)
    };
    if kept.calls.len() != again.calls.len() || !kept.calls.iter().zip(&again.calls).all(alike) {
        noisy.insert(Channel::Calls);
        return kept;
    }
    for (call, again) in kept.calls.iter_mut().zip(&again.calls) {
        for (value, other) in call.arguments.iter_mut().zip(&again.arguments) {
            *value = common(value, other, rules);
        }
        for ((_, value), (_, other)) in call.keywords.iter_mut().zip(&again.keywords) {
            *value = common(value, other, rules);
        }
    }
    kept
}

fn noise() -> Observed {
    Observed::Elided { reason: Elision::Noise }
}

/// The common part of two values. The rest is left out and counts as equal to anything.
fn common(a: &Observed, b: &Observed, rules: &Rules) -> Observed {
    use Observed as O;
    if equal(a, b, rules) {
        return a.clone();
    }
    let items = |a: &[O], b: &[O]| -> Option<Vec<O>> {
        (a.len() == b.len()).then(|| a.iter().zip(b).map(|(a, b)| common(a, b, rules)).collect())
    };
    let named = |a: &[(String, O)], b: &[(String, O)]| -> Option<Vec<(String, O)>> {
        let same = a.len() == b.len() && a.iter().zip(b).all(|((name, _), (other, _))| name == other);
        same.then(|| {
            a.iter().zip(b).map(|((name, value), (_, other))| (name.clone(), common(value, other, rules))).collect()
        })
    };
    let merged = match (a, b) {
        (O::List(a), O::List(b)) => items(a, b).map(O::List),
        (O::Tuple(a), O::Tuple(b)) => items(a, b).map(O::Tuple),
        (O::Iterator { kind, items: a, finished }, O::Iterator { items: b, finished: ends, .. })
            if finished == ends =>
        {
            items(a, b).map(|items| O::Iterator { kind: kind.clone(), items, finished: *finished })
        }
        (O::Exception { class, arguments: a }, O::Exception { class: other, arguments: b }) if class == other => {
            items(a, b).map(|arguments| O::Exception { class: class.clone(), arguments })
        }
        (O::Object { class, attributes: a }, O::Object { class: other, attributes: b }) if class == other => {
            named(a, b).map(|attributes| O::Object { class: class.clone(), attributes })
        }
        (O::Injected { path, assigned: a }, O::Injected { path: other, assigned: b }) if path == other => {
            named(a, b).map(|assigned| O::Injected { path: path.clone(), assigned })
        }
        (O::Called { gave: a }, O::Called { gave: b }) => Some(O::Called { gave: Box::new(common(a, b, rules)) }),
        (O::Dict(a), O::Dict(b)) => {
            let keys = a.len() == b.len() && a.iter().zip(b).all(|((key, _), (other, _))| equal(key, other, rules));
            keys.then(|| {
                let values =
                    a.iter().zip(b).map(|((key, value), (_, other))| (key.clone(), common(value, other, rules)));
                O::Dict(values.collect())
            })
        }
        _ => None,
    };
    merged.unwrap_or_else(noise)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{EvidencePlace, differences};
    use twincell_engine::observed::Logged;

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
