//! Channel: calls to missing code.
//!
//! Two versions may ask for the same values in another order or more often. That alone is not behavior. Only *actions*
//! count (`effects.rs` says which calls act). Actions on one receiver must be the same, in the same order. Between
//! receivers the order says little, unless one can reach the other: each action must find what it can see in the same
//! state (`state.rs`). Arguments of the other calls count nevertheless, because the values of these calls depend on
//! them (see the access paths of calls).

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;

use twincell_engine::observed::{Behavior, Call, Observed, Reached, State};
use twincell_syntax::{PerSide, Side};
use twincell_values::path::AccessPath;

use super::effects::{Effect, effect_within, looks, may_change, receiver};
use super::equal::{all_equal, equal};
use super::state::{Other, first_other};
use super::{Basis, Difference, Rules, Unordered};
use crate::display::{displayed_call, displayed_moment};
use crate::{CallRow, EvidencePlace, Shown};

/// Whether two calls have the same callee and the same arguments. If the arguments are the same, it does not matter how
/// they are passed.
fn same_call(old: &Call, new: &Call, rules: &Rules) -> bool {
    old.callee == new.callee && same_arguments(old, new, rules)
}

fn same_arguments(old: &Call, new: &Call, rules: &Rules) -> bool {
    if all_equal(&old.arguments, &new.arguments, rules) {
        let matches = |(name, value): &(String, Observed)| {
            new.keywords.iter().any(|(other_name, other)| name == other_name && equal(value, other, rules))
        };
        return old.keywords.len() == new.keywords.len() && old.keywords.iter().all(matches);
    }
    if old.arguments.len() == new.arguments.len() {
        return false;
    }
    let values = |call: &Call| -> Vec<Observed> {
        call.arguments.iter().chain(call.keywords.iter().map(|(_, value)| value)).cloned().collect()
    };
    let (a, mut b) = (values(old), values(new));
    a.len() == b.len()
        && a.iter().all(|value| match b.iter().position(|other| equal(value, other, rules)) {
            Some(index) => {
                b.remove(index);
                true
            }
            None => false,
        })
}

pub(super) fn compare(old: &Behavior, new: &Behavior, rules: &Rules, found: &mut Vec<Difference>) {
    let (mut a, mut b) = (actions(old, rules), actions(new, rules));
    let managed = managed(&mut a, &mut b);
    let same = |a: &Call, b: &Call| same_call(a, b, rules) || same_management(a, b, &managed);
    let in_order = a.len() == b.len() && a.iter().zip(&b).all(|(a, b)| same(a, b));
    if !in_order && rules.unordered.contains(&Unordered::Calls) && same_in_any_order(&a, &b, &same) {
        return;
    }
    let different = if in_order { None } else { first_difference(&a, &b, &same, rules) };
    let in_state = match different {
        None => in_other_state(&a, &b, &|_| true, rules),
        // Arguments may differ because the code changed one of them before the call.
        Some((Some(one), Some(_), _)) => in_other_state(&a, &b, &|call| std::ptr::eq(call, one), rules),
        Some(_) => None,
    };
    if let Some(difference) = in_state {
        found.push(difference);
        return;
    }
    if different.is_none()
        && let Some(difference) = asked_otherwise(old, new, rules)
    {
        found.push(difference);
        return;
    }
    if in_order {
        return;
    }
    // The same calls on each receiver: only the order between receivers differs.
    let reordered = || {
        let at = a.iter().zip(&b).position(|(a, b)| !same(a, b)).unwrap_or(0);
        (a.get(at).copied(), b.get(at).copied(), Basis::Reordered)
    };
    let (one, other, basis) = different.unwrap_or_else(reordered);
    let shown = |call: Option<&Call>| call.map_or(Shown::NoCall, |call| Shown::Text(displayed_call(call)));
    let position = |call: Option<&Call>, calls: &[&Call]| {
        calls.iter().position(|own| call.is_some_and(|call| std::ptr::eq(*own, call))).map(|at| at + 1)
    };
    let place = EvidencePlace::Call { number: position(one, &a).or(position(other, &b)).unwrap_or(1) };
    found.push(Difference::new(place, shown(one), shown(other), basis));
}

/// The maximum number of actions that are compared in any order.
const FEW_ACTIONS: usize = 256;

/// Whether both versions take the same actions, each as often as the other.
fn same_in_any_order(old: &[&Call], new: &[&Call], same: &dyn Fn(&Call, &Call) -> bool) -> bool {
    if old.len() != new.len() || old.len() > FEW_ACTIONS {
        return false;
    }
    let mut left = new.to_vec();
    old.iter().all(|call| {
        let twin = left.iter().position(|other| same(call, other));
        twin.map(|at| left.swap_remove(at)).is_some()
    })
}

fn actions<'a>(behavior: &'a Behavior, rules: &Rules) -> Vec<&'a Call> {
    let counts = |call: &&Call| match effect_within(call, &rules.effects) {
        Effect::Nothing => false,
        Effect::Asks => rules.every_call_acts,
        Effect::Acts | Effect::Reaches => true,
    };
    behavior.calls.iter().filter(counts).collect()
}

/// The calls on each receiver, with their positions.
type ByReceiver<'a> = BTreeMap<Option<AccessPath<'a>>, PerSide<Vec<(usize, &'a Call)>>>;

fn by_receiver<'a>(old: &[&'a Call], new: &[&'a Call]) -> ByReceiver<'a> {
    let mut found = ByReceiver::new();
    for (side, calls) in [(Side::Old, old), (Side::New, new)] {
        for (at, call) in calls.iter().enumerate() {
            found.entry(receiver(call)).or_default()[side].push((at, call));
        }
    }
    found
}

/// The first action of both versions, among some of the old one, that finds something in another state.
fn in_other_state(old: &[&Call], new: &[&Call], counts: &dyn Fn(&Call) -> bool, rules: &Rules) -> Option<Difference> {
    if old.iter().chain(new).all(|call| call.state.is_empty()) {
        return None;
    }
    let grouped = by_receiver(old, new);
    let pairs = grouped.values().flat_map(|PerSide { old, new }| old.iter().zip(new));
    let others = pairs.filter(|((_, a), (_, b))| a.callee == b.callee && counts(a)).filter_map(|((at, a), (_, b))| {
        let other = first_other(&a.state, &b.state, rules)?;
        Some((*at, PerSide::new(*a, *b), other))
    });
    let (at, PerSide { old: a, new: b }, Other { place, old: then, new: now, part }) =
        others.min_by_key(|(at, ..)| *at)?;
    let moment = 1 + old[..at].iter().filter(|call| call.callee == a.callee).count();
    let (then, now) = (in_state(a, moment, place, &part, then), in_state(b, moment, place, &part, now));
    Some(Difference::new(EvidencePlace::Call { number: at + 1 }, then, now, Basis::Observable))
}

/// The first question of both versions that is asked in another state, or of one version only although its callee may
/// change its receiver and both versions call it somewhere.
fn asked_otherwise(old: &Behavior, new: &Behavior, rules: &Rules) -> Option<Difference> {
    let looking = |behavior: &'_ Behavior| -> Vec<usize> {
        let numbered = behavior.calls.iter().enumerate();
        numbered.filter(|(_, call)| looks(call) && !rules.every_call_acts).map(|(at, _)| at).collect()
    };
    let (own, mut others) = (looking(old), looking(new));
    let text = |call: &Call| Shown::Text(displayed_call(call));
    let only = |number, old, new| Some(Difference::new(EvidencePlace::Call { number }, old, new, Basis::OneSidedQuery));
    let mut alone = None;
    for at in own {
        let call = &old.calls[at];
        let Some(index) = others.iter().position(|&other| same_call(call, &new.calls[other], rules)) else {
            alone = alone.or((may_change(call) && call.by_all).then_some(at));
            continue;
        };
        let counterpart = &new.calls[others.remove(index)];
        if let Some(other) = first_other(&call.state, &counterpart.state, rules) {
            let moment = 1 + old.calls[..at].iter().filter(|earlier| earlier.callee == call.callee).count();
            let shown = |call: &Call, value| in_state(call, moment, other.place, &other.part, value);
            return only(at + 1, shown(call, other.old), shown(counterpart, other.new));
        }
    }
    if let Some(at) = alone {
        return only(at + 1, text(&old.calls[at]), Shown::NoCall);
    }
    let at = others.into_iter().find(|&at| may_change(&new.calls[at]) && new.calls[at].by_all)?;
    only(at + 1, Shown::NoCall, text(&new.calls[at]))
}

/// A call, and what it finds in a place.
fn in_state(call: &Call, moment: usize, place: &Reached, part: &str, value: Option<&Observed>) -> Shown {
    Shown::InState {
        shown: displayed_moment(&displayed_call(call), place, part, value),
        moment,
        callee: Some(call.callee.clone()),
        place: place.clone(),
    }
}

/// The first action on one receiver that the other version does not make at this point, in the order of appearance.
fn first_difference<'a>(
    old: &[&'a Call],
    new: &[&'a Call],
    same: &dyn Fn(&Call, &Call) -> bool,
    rules: &Rules,
) -> Option<(Option<&'a Call>, Option<&'a Call>, Basis)> {
    let by_receiver = by_receiver(old, new);
    let differing = by_receiver.values().filter_map(|PerSide { old, new }| {
        let at = (0..old.len().max(new.len())).find(|&at| match (old.get(at), new.get(at)) {
            (Some((_, a)), Some((_, b))) => !same(a, b),
            _ => true,
        })?;
        Some((old.get(at).copied(), new.get(at).copied()))
    });
    let (one, other) = differing.min_by_key(|(one, other)| {
        let place = |call: &Option<(usize, &Call)>| call.map_or(usize::MAX, |(at, _)| at);
        (place(one).min(place(other)), place(one))
    })?;
    let (one, other) = (one.map(|(_, call)| call), other.map(|(_, call)| call));
    let reaches = [one, other].into_iter().flatten().any(|call| effect_within(call, &rules.effects) == Effect::Reaches);
    // Both versions take this action, with different arguments. It is neither an extra call nor a moved one.
    let is_given_otherwise = one.zip(other).is_some_and(|(one, other)| {
        one.callee == other.callee
            && effect_within(one, &rules.effects) != Effect::Asks
            && !new.iter().any(|call| same(one, call))
            && !old.iter().any(|call| same(call, other))
    });
    Some((one, other, if reaches || is_given_otherwise { Basis::Observable } else { Basis::SideEffect }))
}

/// The receivers for which one version has a `with` and the other opens and closes them itself. Receivers that have no
/// effect on entering are left out.
fn managed<'a>(old: &mut Vec<&'a Call>, new: &mut Vec<&'a Call>) -> BTreeSet<AccessPath<'a>> {
    let mut found = BTreeSet::new();
    if !old.iter().chain(new.iter()).any(|call| LEAVING.contains(&verb(call))) {
        return found;
    }
    let [others, own] = [new.clone(), old.clone()];
    for (with, without) in [(&mut *old, others), (&mut *new, own)] {
        let has = |calls: &[&Call], on: AccessPath<'_>, verbs: &[&str]| {
            calls.iter().any(|call| receiver(call) == Some(on) && verbs.contains(&verb(call)))
        };
        let left: BTreeSet<AccessPath<'_>> =
            with.iter().filter(|call| LEAVING.contains(&verb(call))).filter_map(|call| receiver(call)).collect();
        for on in left.into_iter().filter(|on| !has(&without, *on, &LEAVING)) {
            if has(&without, on, &["acquire", "release"]) {
                found.insert(on);
            } else if gives_itself(on) && has(&without, on, &["close", "aclose"]) {
                with.retain(|call| receiver(call) != Some(on) || !ENTERING.contains(&verb(call)));
                found.insert(on);
            }
        }
    }
    for calls in [old, new] {
        calls.retain(|call| !awaits_management(call, &found));
    }
    found
}

/// `await lock.acquire()`, where an `async with` awaits it.
fn awaits_management(call: &Call, managed: &BTreeSet<AccessPath<'_>>) -> bool {
    let called = receiver(call).and_then(AccessPath::split_call);
    let awaited = called.and_then(|(callee, _)| callee.split_attribute());
    verb(call) == "__await__"
        && awaited.is_some_and(|(on, name)| managed.contains(&on) && [&ENTERED[..], &LEFT].concat().contains(&name))
}

const ENTERING: [&str; 2] = ["__enter__", "__aenter__"];
const LEAVING: [&str; 2] = ["__exit__", "__aexit__"];
/// What code calls that does the same without a `with`.
const ENTERED: [&str; 1] = ["acquire"];
const LEFT: [&str; 3] = ["release", "close", "aclose"];

/// Whether a `with` makes one call, and the other does the same without it.
fn same_management(a: &Call, b: &Call, managed: &BTreeSet<AccessPath<'_>>) -> bool {
    if receiver(a) != receiver(b) || !receiver(a).is_some_and(|on| managed.contains(&on)) {
        return false;
    }
    let pair = [verb(a), verb(b)];
    let is = |implied: &[&str], written: &[&str]| {
        [pair, [pair[1], pair[0]]].iter().any(|[one, other]| implied.contains(one) && written.contains(other))
    };
    is(&ENTERING, &ENTERED) || is(&LEAVING, &LEFT)
}

/// Files and similar objects: entering one returns the object itself, and leaving it closes it.
fn gives_itself(receiver: AccessPath<'_>) -> bool {
    let Some((made_by, _)) = receiver.split_call() else { return false };
    words(made_by.own_name())
        .any(|word| ["open", "file", "socket", "stream", "closing"].contains(&word.to_lowercase().as_str()))
}

/// The words of a name: `NamedTemporaryFile` has three, and `open_stream` has two.
fn words(name: &str) -> impl Iterator<Item = &str> {
    name.split('_').flat_map(|part| {
        let starts = part
            .char_indices()
            .zip(part.chars().skip(1))
            .filter(|((_, before), c)| before.is_lowercase() && c.is_uppercase());
        let mut cuts: Vec<usize> = starts.map(|((at, before), _)| at + before.len_utf8()).collect();
        cuts.insert(0, 0);
        cuts.push(part.len());
        (1..cuts.len()).filter_map(move |at| part.get(cuts[at - 1]..cuts[at]))
    })
}

fn verb(call: &Call) -> &str {
    call.callee.as_path().own_name()
}

/// Both call logs side by side, in order: a longest common subsequence of equal calls.
pub fn align(old: &[Call], new: &[Call], rules: &Rules) -> Vec<CallRow> {
    // Logs are bounded for display, so the quadratic table stays small.
    const MOST: usize = 300;
    let (old, new) = (&old[..old.len().min(MOST)], &new[..new.len().min(MOST)]);
    let (numbers, small) = (numbered(old, new), |call: &Call| parts(call) <= SMALL);
    let same = |i: usize, j: usize| {
        let (a, b) = (&old[i], &new[j]);
        numbers.old[i] == numbers.new[j]
            || small(a) && small(b) && same_call(a, b, rules) && first_other(&a.state, &b.state, rules).is_none()
    };
    let mut length = vec![vec![0u32; new.len() + 1]; old.len() + 1];
    for i in (0..old.len()).rev() {
        for j in (0..new.len()).rev() {
            length[i][j] = if same(i, j) { length[i + 1][j + 1] + 1 } else { length[i + 1][j].max(length[i][j + 1]) };
        }
    }
    let (mut i, mut j) = (0, 0);
    let mut rows = Vec::new();
    while i < old.len() || j < new.len() {
        let row = match (old.get(i), new.get(j)) {
            (Some(a), Some(b)) if same(i, j) => CallRow { old: Some(a.clone()), new: Some(b.clone()), equal: true },
            (Some(a), Some(b)) if a.callee == b.callee && length[i][j] == length[i + 1][j + 1] => {
                CallRow { old: Some(a.clone()), new: Some(b.clone()), equal: false }
            }
            (Some(a), Some(_)) if length[i + 1][j] >= length[i][j + 1] => {
                CallRow { old: Some(a.clone()), new: None, equal: false }
            }
            (_, Some(b)) => CallRow { old: None, new: Some(b.clone()), equal: false },
            (Some(a), None) => CallRow { old: Some(a.clone()), new: None, equal: false },
            (None, None) => break,
        };
        i += usize::from(row.old.is_some());
        j += usize::from(row.new.is_some());
        rows.push(row);
    }
    rows
}

/// The maximum number of parts in a call's arguments for comparing calls that are not identical part by part.
const SMALL: usize = 200;

/// Each distinct call has a number. Calls with equal numbers are identical.
fn numbered(old: &[Call], new: &[Call]) -> PerSide<Vec<usize>> {
    type Whole<'a> = (AccessPath<'a>, &'a [Observed], &'a [(String, Observed)], &'a State);
    let mut known: FxHashMap<Whole<'_>, usize> = FxHashMap::default();
    PerSide::new(old, new).map(|calls| {
        let mut numbers = Vec::new();
        for Call { callee, arguments, keywords, state, .. } in calls {
            let next = known.len();
            numbers.push(*known.entry((callee.as_path(), arguments, keywords, state)).or_insert(next));
        }
        numbers
    })
}

/// The number of parts in the arguments of a call, up to the bound.
fn parts(call: &Call) -> usize {
    let arguments = call.arguments.iter().chain(call.keywords.iter().map(|(_, value)| value));
    arguments.map(|value| value.parts(SMALL)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use twincell_engine::observed::Outcome;

    #[test]
    fn what_opens_gives_itself_however_long_its_arguments_are() {
        for receiver in [
            "open(path)",
            "self.open(a(b), c)",
            "open(a.joinpath(b, c)~0123456789abcdef)",
            "open(a.joinpath(b, ~0123456789abcdef)",
            "gzip.open('a (b ~0123456789abcdef)",
            "tempfile.NamedTemporaryFile()",
        ] {
            assert!(gives_itself(receiver.into()), "{receiver}");
        }
        for receiver in [
            "connect(open(path))",
            "open(path).lock",
            "self.lock()",
            "open(path).lock()",
            "opened",
            "()",
            "store.open(a.joinpath(b, ~0123456789abcdef).lock()",
            "open('a (b ~0123456789abcdef).lock()",
        ] {
            assert!(!gives_itself(receiver.into()), "{receiver}");
        }
    }

    fn call(callee: &str, arguments: &[i64], discarded: bool) -> Call {
        Call {
            callee: callee.into(),
            arguments: arguments.iter().map(|value| Observed::Int(value.to_string())).collect(),
            keywords: vec![],
            line: 1,
            discarded,
            by_all: true,
            state: vec![],
        }
    }

    fn behavior(calls: Vec<Call>) -> Behavior {
        Behavior { calls, ..Behavior::new(Outcome::Returned(Observed::None)) }
    }

    fn differs(old: Vec<Call>, new: Vec<Call>) -> bool {
        let mut found = Vec::new();
        compare(&behavior(old), &behavior(new), &Rules::default(), &mut found);
        !found.is_empty()
    }

    #[test]
    fn asking_in_another_order_is_no_difference() {
        let (a, b) = (call("x.get", &[1], false), call("y.find", &[2], false));
        assert!(!differs(vec![a.clone(), b.clone()], vec![b, a]));
    }

    #[test]
    fn without_telling_calls_apart_a_question_that_is_gone_is_a_difference() {
        let old = behavior(vec![call("x.get", &[1], false)]);
        let count = |every_call_acts| {
            let mut found = Vec::new();
            compare(&old, &behavior(vec![]), &Rules { every_call_acts, ..Rules::default() }, &mut found);
            found.len()
        };
        assert_eq!((count(false), count(true)), (0, 1));
    }

    #[test]
    fn an_action_that_is_gone_is_a_difference() {
        assert!(differs(vec![call("x.save", &[], true)], vec![]));
        assert!(differs(vec![call("stats.inc", &[1], true)], vec![call("stats.inc", &[2], true)]));
    }

    #[test]
    fn the_order_of_actions_matters_on_one_receiver_and_says_little_between_two() {
        let basis = |old: Vec<Call>, new: Vec<Call>| {
            let mut found = Vec::new();
            compare(&behavior(old), &behavior(new), &Rules::default(), &mut found);
            found.first().map(|difference| difference.basis)
        };
        let (a, b, c) = (call("x.write", &[1], true), call("x.write", &[2], true), call("y.send", &[], true));
        assert_eq!(basis(vec![a.clone(), b.clone()], vec![b.clone(), a.clone()]), Some(Basis::SideEffect));
        assert_eq!(basis(vec![a.clone(), c.clone()], vec![c.clone(), a.clone()]), Some(Basis::Reordered));
        assert_eq!(basis(vec![a.clone(), c.clone()], vec![a.clone(), c]), None);
        assert_eq!(basis(vec![call("os.remove", &[], true)], vec![]), Some(Basis::Observable));
    }

    #[test]
    fn an_action_with_other_arguments_can_be_seen() {
        let basis = |old: &[i64], new: &[i64]| {
            let calls = |given: &[i64]| given.iter().map(|&value| call("x.write", &[value], true)).collect();
            let mut found = Vec::new();
            compare(&behavior(calls(old)), &behavior(calls(new)), &Rules::default(), &mut found);
            found.first().map(|difference| difference.basis)
        };
        assert_eq!(basis(&[1], &[2]), Some(Basis::Observable));
        assert_eq!(basis(&[1, 2], &[1, 3]), Some(Basis::Observable));
        // A call more, and another order.
        assert_eq!(basis(&[1, 2], &[2]), Some(Basis::SideEffect));
        assert_eq!(basis(&[1, 2], &[2, 1]), Some(Basis::SideEffect));
    }

    #[test]
    fn a_with_may_be_written_out() {
        let with = |receiver: &str| {
            ["__enter__", "write", "__exit__"].map(|verb| call(&format!("{receiver}.{verb}"), &[], true)).to_vec()
        };
        let by_hand = |receiver: &str, verbs: &[&str]| -> Vec<Call> {
            verbs.iter().map(|verb| call(&format!("{receiver}.{verb}"), &[], true)).collect()
        };
        assert!(!differs(with("a.open('b')"), by_hand("a.open('b')", &["write", "close"])));
        assert!(!differs(with("lock"), by_hand("lock", &["acquire", "write", "release"])));
        assert!(differs(with("a.open('b')"), by_hand("a.open('b')", &["write"])));
        assert!(differs(with("a.open('b')"), by_hand("a.open('b')", &["close", "write"])));
        assert!(!differs(with("x.openFile()"), by_hand("x.openFile()", &["write", "close"])));
        for other in ["self.profile()", "reopen()", "a.upstream()"] {
            assert!(differs(with(other), by_hand(other, &["write", "close"])), "{other}");
        }
        assert!(differs(with("connection"), by_hand("connection", &["write", "close"])));
    }

    #[test]
    fn an_argument_by_keyword_is_the_same_argument() {
        let by_keyword =
            Call { keywords: vec![("maxsplit".into(), Observed::Int("1".into()))], ..call("x.send", &[7], true) };
        assert!(!differs(vec![call("x.send", &[7, 1], true)], vec![by_keyword]));
    }

    #[test]
    fn alignment_shows_a_removed_call_beside_nothing() {
        let rows = align(&[call("a", &[], true), call("b", &[], true)], &[call("b", &[], true)], &Rules::default());
        assert_eq!(rows.len(), 2);
        assert!(rows[0].new.is_none() && rows[1].equal);
    }
}
