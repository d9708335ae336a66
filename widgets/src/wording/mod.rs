//! The sentences of a comparison: what is said of all pairs, of one pair, and why. Every format has them from here.

mod headline;
mod names;
mod notes;
mod pair;
mod sensitivity;
mod whole;

pub use headline::{condition, conditions, contrast, headline, place};
pub use notes::note;
pub use pair::{decided_by, pair, reason};
pub use sensitivity::varied;
pub use whole::comparison;

#[cfg(test)]
mod tests {
    use twincell_compare::note::Changed;
    use twincell_compare::report::{
        CallSite, CellNumbers, ChangeReached, Condition, Contrast, DecidedBy, Headline, PairFacts, PairReport, Reason,
        StoppedExample, Support, Usable,
    };
    use twincell_compare::verdict::Verdict;
    use twincell_samples::{comparison as whole, pair as sample};
    use twincell_syntax::{CodeKind, PerSide, Side};
    use twincell_values::value::{Choice, Decision, Recipe};

    use super::*;

    fn of(verdict: Verdict, reason: Reason) -> PairReport {
        PairReport { reason, ..sample(verdict) }
    }

    fn same() -> PairReport {
        let mut same = of(Verdict::Identical, Reason::SameText);
        same.facts.has_same_text = true;
        same
    }

    fn changing(name: &str) -> PairReport {
        let headline = Headline {
            call: format!("{name}(x=0)"),
            contrast: contrast_of("", Some("3"), Some("0")),
            conditions: vec![],
            unlikely: false,
        };
        let mut changing = PairReport { headline: Some(headline), ..of(Verdict::Changing, Reason::Differs) };
        (changing.new.qualname, changing.facts.name) = (name.into(), name.into());
        changing
    }

    fn contrast_of(place: &str, old: Option<&str>, new: Option<&str>) -> Contrast {
        let shown = PerSide::new(old, new).map(|shown| shown.map(str::to_owned));
        Contrast { place: place.into(), shown }
    }

    fn no_difference() -> PairReport {
        let usable = Usable { valid: 1, all: 1, varied: true };
        of(Verdict::LikelyPreserving, Reason::NoDifference { usable, support: Support::Sampled })
    }

    #[test]
    fn what_differs_is_told_by_what_each_version_shows() {
        for (place, old, new, said) in [
            ("", Some("3"), Some("0"), "3 -> 0"),
            ("stdout", Some("'a'"), Some("''"), "stdout 'a' -> ''"),
            ("calls", Some("g()"), None, "no longer calls g()"),
            ("calls", None, Some("g(1)"), "now calls g(1)"),
            ("x afterwards 1 in both, but not equal", None, None, "x afterwards 1 in both, but not equal"),
            ("", None, None, "the two differ"),
        ] {
            assert_eq!(contrast(&contrast_of(place, old, new)), said);
        }
    }

    #[test]
    fn a_change_that_needs_an_unlikely_value_says_so() {
        let mut pair = changing("f");
        if let Some(headline) = &mut pair.headline {
            headline.unlikely = true;
        }
        assert_eq!(super::pair(&pair), "f(x=0): 3 -> 0 (only for an unlikely value)");
        assert_eq!(super::pair(&pair), reason(&pair));
    }

    #[test]
    fn without_a_difference_the_sentence_says_how_much_was_tried() {
        let mut pair = no_difference();
        let all = ChangeReached {
            changed: 2,
            never: PerSide::default(),
            least: None,
            changed_names: vec![],
            stopped_early: false,
        };
        pair.reached = Some(all.clone());
        assert_eq!(super::pair(&pair), "f: no difference in 1 execution; all 2 changed lines ran");
        let never = PerSide::new(vec![], vec![12, 13, 15]);
        pair.reached = Some(ChangeReached { changed: 5, never, stopped_early: true, ..all.clone() });
        let said = "3 of 5 changed lines never ran: new 12 to 13, 15; stopped before the budget was used up";
        assert_eq!(super::pair(&pair), format!("f: no difference in 1 execution; {said}"));
        pair.reached = Some(ChangeReached { changed: 1, least: Some(27), ..all });
        assert!(super::pair(&pair).ends_with("; the changed line ran in only 27 executions"));
    }

    #[test]
    fn a_version_that_does_not_end_is_told_with_its_values() {
        let why = Reason::MayNotEnd { side: Side::New, stopped: 2, executions: 9 };
        let choice = Choice { path: "x".into(), decision: Decision::Value(Recipe::Int(7)) };
        let values = vec![Condition { choice, call: CallSite::Unknown }];
        let stopped = Some(StoppedExample { values, execution: 8 });
        let pair = PairReport { stopped, ..of(Verdict::Inconclusive, why) };
        let said = super::pair(&pair);
        assert!(said.starts_with("f: in 2 of 9 executions only the new version ran into a limit"), "{said}");
        assert!(said.ends_with(": it may not end, e.g. for x = 7 in execution 8"), "{said}");
    }

    #[test]
    fn several_functions_are_counted() {
        let pairs = vec![changing("f"), no_difference(), of(Verdict::Inconclusive, Reason::NothingRan)];
        assert_eq!(comparison(&whole(pairs.clone())), "Behavior changed in 1 of 3 functions: f.");
        let without = comparison(&whole(pairs[1..].to_vec()));
        assert_eq!(without, "No difference found, but 1 of 2 functions is inconclusive: f.");
        assert_eq!(comparison(&whole(pairs[..1].to_vec())), pair(&pairs[0]));
        let kinds = [CodeKind::Function, CodeKind::Class, CodeKind::Snippet];
        let of_kinds = pairs.into_iter().zip(kinds).map(|(pair, kind)| {
            let facts = PairFacts { kind, ..pair.facts.clone() };
            PairReport { facts, ..pair }
        });
        let said = "Behavior changed in 1 of 3 functions, classes and snippets: f.";
        assert_eq!(comparison(&whole(of_kinds.collect())), said);
    }

    #[test]
    fn what_only_one_version_has_is_said_where_nothing_changed() {
        assert_eq!(
            (pair(&same()).as_str(), reason(&same()).as_str()),
            ("Identical: nothing differs in f.", "nothing differs")
        );
        let mut one = whole(vec![same()]);
        assert_eq!(comparison(&one), pair(&same()));
        (one.added, one.removed) = (vec!["h".into()], vec!["g".into()]);
        assert_eq!(comparison(&one), "Identical: nothing differs in f. Only in old: g. Only in new: h.");
        assert_eq!(comparison(&whole(vec![same(), same()])), "Identical: nothing differs in 2 functions.");
    }

    #[test]
    fn who_is_judged_by_its_callers_is_not_counted_and_named_apart() {
        let judged = |names: &[&str], verdict| {
            let names = names.iter().map(|name| (*name).to_owned()).collect();
            PairReport { decided_by: DecidedBy::Pairs { names, verdict }, ..changing("_help") }
        };
        let member = pair(&judged(&["Cache"], Verdict::Changing));
        assert_eq!(member, "_help is covered by Cache, whose behavior changed. By itself: _help(x=0): 3 -> 0");
        let helper = judged(&["f"], Verdict::LikelyPreserving);
        let said = pair(&helper);
        assert_eq!(said, "_help is covered by f, which behaves as before. By itself: _help(x=0): 3 -> 0");
        let caller = no_difference();
        let mut both = whole(vec![caller.clone(), helper]);
        both.verdict_of_pairs = Verdict::LikelyPreserving;
        assert_eq!(comparison(&both), format!("{} Covered by the code that uses them: _help.", pair(&caller)));
    }

    #[test]
    fn what_changed_in_other_modules_is_judged_there() {
        let changed = Changed { name: "Rates.of".into(), file: "shop/tax.py".into() };
        let judged = PairReport { decided_by: DecidedBy::OtherModules(vec![changed]), ..changing("f") };
        assert_eq!(
            pair(&judged),
            "f behaves as before in one version of the project; what differs is covered by Rates.of \
             (shop/tax.py). By itself: f(x=0): 3 -> 0"
        );
        assert_eq!(decided_by(&judged), ["Rates.of (shop/tax.py)"]);
        let mut alone = whole(vec![judged.clone()]);
        alone.verdict_of_pairs = Verdict::LikelyPreserving;
        assert_eq!(comparison(&alone), pair(&judged));
    }

    #[test]
    fn what_is_accepted_is_said_before_all_else() {
        let mut one = whole(vec![changing("f"), same()]);
        one.accept([(0, "as planned".to_owned())]);
        assert_eq!((one.verdict, comparison(&one).as_str()), (Verdict::Identical, "What differs is accepted: f."));
    }

    #[test]
    fn parts_of_cells_are_named_with_their_cell() {
        let in_cell = |number: u32, pair: PairReport| {
            let cell = Some(CellNumbers { old: number, new: number });
            PairReport { cell, ..pair }
        };
        let mut one = whole(vec![in_cell(2, changing("f"))]);
        assert_eq!(comparison(&one), "In cell 2: f(x=0): 3 -> 0");
        one.cells_left_out = vec![CellNumbers { old: 3, new: 4 }];
        assert_eq!(comparison(&one), "Not compared: cell 3 → 4. In cell 2: f(x=0): 3 -> 0");
        let several = whole(vec![in_cell(2, changing("f")), in_cell(3, same())]);
        assert_eq!(comparison(&several), "Behavior changed in 1 of 2 parts of the cells: f (cell 2).");
    }
}
