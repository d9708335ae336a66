//! What other code can see when it is called, or when a generator gives it an item: the places in which the versions
//! left something else by then. The states themselves are observed by the runtime; places that no version changed are
//! in none of them.

use twincell_engine::observed::{Behavior, Elision, Observed, Reached, Slot, State};
use twincell_syntax::PerSide;

use super::equal::equal;
use super::{Basis, Difference, Rules};
use crate::contrast::innermost;
use crate::display::{display_observed, displayed_moment};
use crate::{EvidencePlace, Shown};

/// A place in which two states differ, and what is there in each. `None` for a place that is as it was.
pub(super) struct Other<'a> {
    pub place: &'a Reached,
    pub old: Option<&'a Observed>,
    pub new: Option<&'a Observed>,
    /// The part of the place that differs, where the values are long: old and new are of this part.
    pub part: String,
}

/// The number of characters of a value up to which all of it is shown.
const READABLE: usize = 40;

impl Other<'_> {
    /// The same, of the part that differs where the values are long.
    fn narrowed(self, rules: &Rules) -> Self {
        let is_long = |value: &Observed| display_observed(value).chars().count() > READABLE;
        match (self.old, self.new) {
            (Some(old), Some(new)) if !matches!(self.place, Reached::Actions(_)) && (is_long(old) || is_long(new)) => {
                let (part, PerSide { old, new }) = innermost(old, new, rules);
                Self { old: Some(old), new: Some(new), part, ..self }
            }
            _ => self,
        }
    }
}

/// The first place in which two states differ.
pub(super) fn first_other<'a>(old: &'a State, new: &'a State, rules: &Rules) -> Option<Other<'a>> {
    let is_unknown = |state: &State| matches!(state.last(), Some((Reached::Rest, Observed::Elided { .. })));
    if is_unknown(old) || is_unknown(new) {
        return None;
    }
    let at = |state: &'a State, place: &Reached| state.iter().find(|(own, _)| own == place).map(|(_, value)| value);
    let mut places: Vec<&Reached> = old.iter().chain(new).map(|(place, _)| place).collect();
    places.sort();
    places.dedup();
    let mut others =
        places.into_iter().map(|place| Other { place, old: at(old, place), new: at(new, place), part: String::new() });
    let differs = |other: &Other<'_>| match (other.old, other.new) {
        (Some(a), Some(b)) if is_deleted(a) || is_deleted(b) => is_deleted(a) != is_deleted(b),
        (Some(a), Some(b)) => !equal(a, b, rules),
        // A value that could not be observed is not evidence.
        (Some(one), None) | (None, Some(one)) => is_deleted(one) || !matches!(one, Observed::Elided { .. }),
        (None, None) => false,
    };
    others.find(differs).map(|other| other.narrowed(rules))
}

fn is_deleted(value: &Observed) -> bool {
    matches!(value, Observed::Elided { reason: Elision::Deleted })
}

/// Channel: what a consumer sees at each `yield`.
pub(super) fn compare_yields(old: &Behavior, new: &Behavior, rules: &Rules, found: &mut Vec<Difference>) {
    let pairs = old.yields.iter().zip(&new.yields).enumerate();
    let first = pairs.filter_map(|(at, (a, b))| Some((at + 1, first_other(a, b, rules)?))).next();
    let Some((number, Other { place, old, new, part })) = first else { return };
    let shown = |value| Shown::InState {
        shown: displayed_moment(&format!("item {number}").into(), place, &part, value),
        moment: number,
        callee: None,
        place: place.clone(),
    };
    let at = EvidencePlace::Left { slot: Slot::Yielded };
    found.push(Difference::new(at, shown(old), shown(new), Basis::Observable));
}

#[cfg(test)]
mod tests {
    use twincell_engine::observed::{Call, Outcome};

    use super::*;
    use crate::{differences, display_shown};

    fn call(callee: &str, state: &[(Reached, Observed)]) -> Call {
        let callee = callee.into();
        Call {
            callee,
            arguments: vec![],
            keywords: vec![],
            line: 1,
            discarded: true,
            by_all: true,
            state: state.to_vec(),
        }
    }

    fn flag() -> (Reached, Observed) {
        (Reached::Assigned { object: "m".into(), place: ".flag".into() }, Observed::Bool(true))
    }

    fn found(old: Vec<Call>, new: Vec<Call>) -> Vec<(Basis, String)> {
        let behavior = |calls| Behavior { calls, ..Behavior::new(Outcome::Returned(Observed::None)) };
        let all = differences(&behavior(old), &behavior(new), &Rules::default());
        all.iter().map(|one| (one.basis, display_shown(&one.old).to_owned())).collect()
    }

    #[test]
    fn a_call_that_finds_something_else_is_seen() {
        let (with, without) = (call("store.save", &[flag()]), call("store.save", &[]));
        assert_eq!(found(vec![with.clone()], vec![with.clone()]), []);
        let seen = found(vec![with.clone()], vec![without.clone()]);
        assert_eq!(seen, [(Basis::Observable, "store.save() with m.flag = True".into())]);
        let seen = found(vec![without], vec![with]);
        assert_eq!(seen, [(Basis::Observable, "store.save() with m.flag as it was".into())]);
    }

    #[test]
    fn of_large_values_the_part_that_differs_is_shown() {
        let logger = |level: i64| {
            let attributes = vec![
                ("name".to_owned(), Observed::Str("a".repeat(50))),
                ("level".to_owned(), Observed::Int(level.to_string())),
            ];
            Observed::Object { class: "Logger".into(), attributes }
        };
        let place = Reached::Assigned { object: "m".into(), place: ".logger".into() };
        let with = |level| call("store.save", &[(place.clone(), logger(level))]);
        let seen = found(vec![with(1)], vec![with(2)]);
        assert_eq!(seen, [(Basis::Observable, "store.save() with m.logger.level = 1".into())]);
    }

    #[test]
    fn an_action_on_something_within_reach_counts_in_its_order() {
        let cleared = (Reached::Actions("cart".into()), Observed::List(vec![Observed::Str("clear".into())]));
        let (clear, before, after) =
            (call("cart.clear", &[]), call("gateway.charge", &[]), call("gateway.charge", &[cleared]));
        let seen = found(vec![clear.clone(), after], vec![before, clear]);
        assert_eq!(seen, [(Basis::Observable, "gateway.charge() after cart.clear".into())]);
    }

    #[test]
    fn what_could_not_be_observed_is_no_difference() {
        let unknown = Observed::Elided { reason: Elision::Size };
        let at = |place| call("a.save", &[(place, unknown.clone())]);
        for place in [Reached::Rest, flag().0] {
            assert_eq!(found(vec![at(place.clone())], vec![call("a.save", &[])]), []);
            assert_eq!(found(vec![at(place)], vec![call("a.save", &[flag()])]), []);
        }
    }

    #[test]
    fn a_consumer_that_finds_something_else_is_seen() {
        let behavior = |yields| Behavior { yields, ..Behavior::new(Outcome::Returned(Observed::None)) };
        let of = |old, new| differences(&behavior(old), &behavior(new), &Rules::default());
        assert!(of(vec![vec![flag()]], vec![vec![flag()]]).is_empty());
        let seen = of(vec![vec![], vec![]], vec![vec![], vec![flag()]]);
        let texts: Vec<&str> = seen.iter().flat_map(Difference::sides).map(display_shown).collect();
        assert_eq!(texts, ["item 2 with m.flag as it was", "item 2 with m.flag = True"]);
    }
}
