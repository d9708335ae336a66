//! The sentences of a comparison: what is said of all pairs, of one pair, and why. Every format has them from here.

mod headline;
mod notes;
mod sensitivity;

use twincell_behavior::display_limit;
use twincell_compare::STATEMENTS;
use twincell_compare::note::Changed;
use twincell_compare::report::{
    Bound, ChangeReached, Comparison, DecidedBy, PairReport, Reason, StoppedExample, Uncounted, Usable,
};
use twincell_compare::verdict::Verdict;
use twincell_engine::observed::Limit;
use twincell_syntax::{CodeKind, PerSide, Side};

pub use headline::{condition, conditions, contrast, headline, place};
pub use notes::note;
pub use sensitivity::varied;

/// The maximum number of function names in one list.
const NAMED_FUNCTIONS: usize = 5;
/// The maximum number of runs of lines of a version that are named.
const RUNS: usize = 3;

/// What is said of a pair of the same text.
const SAME_TEXT: &str = "nothing differs";

/// The result of a comparison in one sentence.
pub fn comparison(comparison: &Comparison) -> String {
    let accepted = accepted(&comparison.pairs).filter(|_| comparison.verdict_of_pairs != Verdict::Changing);
    if let Some(accepted) = accepted {
        return accepted;
    }
    let told = match comparison.pairs.iter().any(|pair| pair.cell.is_some()) {
        true => of_cells(comparison),
        false => overall(comparison),
    };
    let left_out: Vec<String> = comparison.cells_left_out.iter().map(ToString::to_string).collect();
    if left_out.is_empty() { told } else { format!("Not compared: {}. {told}", list(&left_out)) }
}

/// What a view says of a pair first.
pub fn pair(pair: &PairReport) -> String {
    let (name, itself) = (&pair.facts.name, by_itself(pair));
    match &pair.decided_by {
        DecidedBy::Itself => itself,
        DecidedBy::Pairs { names, verdict } => {
            let how = match (verdict, names.len()) {
                (Verdict::Changing, _) => "whose behavior changed",
                (_, 1) => "which behaves as before",
                _ => "which behave as before",
            };
            format!("{name} is covered by {}, {how}. By itself: {itself}", names.join(", "))
        }
        DecidedBy::OtherModules(changed) => format!(
            "{name} behaves as before in one version of the project; what differs is covered by {}. By itself: \
             {itself}",
            all_elsewhere(changed)
        ),
    }
}

/// Who decides in a pair's place: names of pairs, or what changed in other modules.
pub fn decided_by(pair: &PairReport) -> Vec<String> {
    match &pair.decided_by {
        DecidedBy::Itself => vec![],
        DecidedBy::Pairs { names, .. } => names.clone(),
        DecidedBy::OtherModules(changed) => changed.iter().map(elsewhere).collect(),
    }
}

/// What a pair shows by itself.
fn by_itself(pair: &PairReport) -> String {
    let reason = reason(pair);
    if pair.headline.is_some() {
        return reason;
    }
    let facts = &pair.facts;
    let name = if facts.kind == CodeKind::Snippet { STATEMENTS } else { &facts.name };
    match &pair.reason {
        Reason::SameText => format!("Identical: {reason} in {name}."),
        Reason::SameCode { .. } => format!("Identical but for its name: {reason}."),
        Reason::SameProgram { .. } => format!("Identical: {name} is the same program; {reason}."),
        _ => {
            let reached = pair.reached.as_ref().map(reached).unwrap_or_default();
            let example = pair.stopped.as_ref().map(stopped).unwrap_or_default();
            format!("{name}: {reason}{reached}{example}")
        }
    }
}

/// Why a pair has its verdict: of a change, its example.
pub fn reason(pair: &PairReport) -> String {
    if let Some(shown) = &pair.headline {
        return headline(shown);
    }
    match &pair.reason {
        Reason::SameText => SAME_TEXT.into(),
        Reason::SameCode { old, new } => format!("{old} has become {new}, with the same code"),
        Reason::SameProgram { locals, private_attributes } => {
            let mut parts = vec!["comments", "docstrings", "annotations", "layout"];
            parts.extend(locals.then_some("names of locals"));
            parts.extend(private_attributes.then_some("names of private attributes"));
            let last = parts.pop().unwrap_or_default();
            format!("only {} or {last} differ", parts.join(", "))
        }
        Reason::Bound(of) => bound(of),
        Reason::NotRun(error) => error.clone(),
        Reason::NotReached => "stopped before its turn came".into(),
        Reason::Forged => "the code wrote to the connection of its worker, so nothing is known of it".into(),
        Reason::Differs => "the two versions behaved differently on the same values".into(),
        Reason::NotRepeated => "a difference could not be repeated: the worker was lost each time".into(),
        Reason::StoppedBeforeRepetition => "stopped before a difference was repeated".into(),
        Reason::NothingRan => "nothing was executed".into(),
        Reason::AllLost { first } => format!("no execution came back: {first}"),
        Reason::MayNotEnd { side, stopped, executions } => format!(
            "in {stopped} of {executions} executions only the {side} version ran into a limit (steps, recursion or \
             memory): it may not end"
        ),
        Reason::AllStopped { executions, limit } => {
            let why = display_limit(*limit);
            let why =
                if matches!(limit, Limit::RecordBytes(_)) { why.into_owned() } else { format!("a version {why}") };
            format!("all {executions} executions were stopped: {why}")
        }
        Reason::AllRaised { executions } => {
            format!("all {executions} executions ended in an exception that the injected values may have caused")
        }
        Reason::ChangeNotRun { usable } => format!("none of {usable} usable executions ran a changed line"),
        Reason::NoDifference(usable) => format!("no difference in {}", usable_executions(usable)),
        Reason::NoneThatCounts { usable, why } => {
            format!("no difference that counts in {}: {}", usable_executions(usable), uncounted(why))
        }
    }
}

fn uncounted(why: &Uncounted) -> String {
    match why {
        Uncounted::EqualValues => {
            "it differs only in which of equal values it gives, as max(x, y) may where x == y".into()
        }
        Uncounted::Formatting => {
            "results calculated from objects are written differently, but are the same with numbers".into()
        }
        Uncounted::Order => "calls on different objects happen in another order".into(),
        Uncounted::Invented => "it needs a result that Python would not give".into(),
        Uncounted::Unlikely => "it needs an unlikely value".into(),
        Uncounted::EdgeCases(1) => "the one that differs needs an unlikely value".into(),
        Uncounted::EdgeCases(count) => format!("the {count} that differ need an unlikely value"),
        Uncounted::SetAside(rules) => {
            let rules: Vec<String> = rules.iter().map(ToString::to_string).collect();
            format!("what differs was suppressed by {}", rules.join(" and by "))
        }
    }
}

/// `281 executions (19 others not usable)`.
fn usable_executions(usable: &Usable) -> String {
    let said = executions(usable.valid);
    match (usable.varied, usable.all - usable.valid) {
        (false, _) => "an execution without inputs that could vary".into(),
        (true, 0) => said,
        (true, 1) => format!("{said} (1 other not usable)"),
        (true, others) => format!("{said} ({others} others not usable)"),
    }
}

/// `1 execution`, `3 executions`.
fn executions(count: usize) -> String {
    format!("{count} {}", if count == 1 { "execution" } else { "executions" })
}

/// What the executions reached of the change: `; the changed line ran in only 27 executions`,
/// `; 2 of 5 changed lines never ran: new 12 to 13`.
fn reached(reached: &ChangeReached) -> String {
    let few = |one: &str| match reached.least {
        Some(least) => format!("{one} in only {}", executions(least as usize)),
        None => String::new(),
    };
    let said = match (reached.changed, reached.never.iter().map(Vec::len).sum::<usize>()) {
        (0, _) => format!(", though {} changed", reached.changed_names.join(", ")),
        (1, 0) => format!("; the changed line ran{}", few("")),
        (changed, 0) => format!("; all {changed} changed lines ran{}", few(", one")),
        (changed, missed) => format!("; {missed} of {changed} changed lines never ran: {}", numbers(&reached.never)),
    };
    let early = if reached.stopped_early { "; stopped before the budget was used up" } else { "" };
    said + early
}

/// `, e.g. for x = 7 in execution 8`.
fn stopped(example: &StoppedExample) -> String {
    let values: Vec<String> = example.values.iter().map(condition).collect();
    let with = if values.is_empty() { "in".into() } else { format!("for {} in", values.join(", ")) };
    format!(", e.g. {with} execution {}", example.execution)
}

/// Lines of both versions: `old 3 to 5, new 8`. Of many, the first ones.
fn numbers(lines: &PerSide<Vec<u32>>) -> String {
    let of = |side: Side| {
        let runs: Vec<&[u32]> = lines[side].chunk_by(|one, next| one + 1 == *next).collect();
        let run = |run: &&[u32]| match run {
            [] => String::new(),
            [only] => only.to_string(),
            [first, .., last] => format!("{first} to {last}"),
        };
        let told: Vec<String> = runs.iter().take(RUNS).map(run).collect();
        let more = if runs.len() > RUNS { ", …" } else { "" };
        (!told.is_empty()).then(|| format!("{} {}{more}", side.name(), told.join(", ")))
    };
    Side::BOTH.into_iter().filter_map(of).collect::<Vec<_>>().join(", ")
}

/// What a bound did, as part of a sentence.
fn bound(bound: &Bound) -> String {
    match bound {
        Bound::Size { side, size, most } => format!(
            "too large: the {side} version has {size} statements and expressions, and at most {most} are compared; \
             --max-function raises this"
        ),
        Bound::Deadline { seconds } => {
            format!("its time of {seconds} s was over, and this is all that was found by then; --deadline raises it")
        }
        Bound::Replaces { side, line, more, target } => {
            let others = match more {
                0 => String::new(),
                more => format!(" (and {more} more)"),
            };
            format!(
                "line {line} of the {side} version{others} may put something else in the place of functions{}, and is not \
                 followed into them",
                target.as_ref().map_or_else(String::new, |target| format!(" of {target}"))
            )
        }
    }
}

/// What changed in another module, with its file: `Rates.of (src/shop/tax.py)`.
fn elsewhere(changed: &Changed) -> String {
    format!("{} ({})", changed.name, changed.file)
}

/// Several of these.
fn all_elsewhere(changed: &[Changed]) -> String {
    list(&changed.iter().map(elsewhere).collect::<Vec<_>>())
}

/// `2 functions`, `1 class`, `3 functions and classes`.
fn counted(count: usize, kinds: &[CodeKind]) -> String {
    let mut nouns: Vec<&str> = Vec::new();
    for (kind, one, several) in [
        (CodeKind::Function, "function", "functions"),
        (CodeKind::Class, "class", "classes"),
        (CodeKind::Snippet, "snippet", "snippets"),
    ] {
        if kinds.contains(&kind) {
            nouns.push(if kinds.len() == 1 { one } else { several });
        }
    }
    match nouns.as_slice() {
        [rest @ .., last] if !rest.is_empty() => format!("{count} {} and {last}", rest.join(", ")),
        _ => format!("{count} {}", nouns.concat()),
    }
}

/// The first names, and the number of further ones.
fn list<T: AsRef<str>>(names: &[T]) -> String {
    let shown = names.iter().take(NAMED_FUNCTIONS).map(T::as_ref).collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(NAMED_FUNCTIONS) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// The sentence about pairs whose differences are accepted, if there are any.
fn accepted(pairs: &[PairReport]) -> Option<String> {
    let names: Vec<&str> = (pairs.iter())
        .filter(|pair| pair.accepted.is_some() && pair.verdict == Verdict::Changing)
        .map(|pair| pair.new.qualname.as_str())
        .collect();
    (!names.is_empty()).then(|| format!("What differs is accepted: {}.", list(&names)))
}

/// The sentence about the parts of all cells of a notebook.
fn of_cells(comparison: &Comparison) -> String {
    let verdict = comparison.verdict_of_pairs;
    let deciding: Vec<&PairReport> = comparison.pairs.iter().filter(|pair| pair.decides_itself()).collect();
    if let [only] = deciding.as_slice() {
        return only.cell.map_or_else(|| pair(only), |cell| format!("In {cell}: {}", pair(only)));
    }
    let named = |pair: &PairReport| match pair.cell {
        Some(cell) => format!("{} ({cell})", pair.new.qualname),
        None => pair.new.qualname.clone(),
    };
    let such: Vec<String> = deciding.iter().filter(|pair| pair.verdict == verdict).map(|pair| named(pair)).collect();
    let (count, all, names) = (such.len(), deciding.len(), list(&such));
    match verdict {
        Verdict::Changing => format!("Behavior changed in {count} of {all} parts of the cells: {names}."),
        Verdict::Inconclusive => {
            format!("No difference found, but {count} of {all} parts of the cells are inconclusive: {names}.")
        }
        Verdict::LikelyPreserving => {
            format!("No difference in {all} parts of the cells: {count} executed, {} identical.", all - count)
        }
        Verdict::Identical => format!("Identical: nothing differs in {all} parts of the cells."),
    }
}

/// The sentence about all pairs, and about functions that only one version has.
fn overall(comparison: &Comparison) -> String {
    let Comparison { verdict_of_pairs: verdict, pairs, added, removed, .. } = comparison;
    let (deciding, judged): (Vec<&PairReport>, Vec<&PairReport>) = pairs.iter().partition(|pair| pair.decides_itself());
    let kinds: Vec<CodeKind> = deciding.iter().map(|pair| pair.facts.kind).collect();
    let names = |wanted: Verdict| -> Vec<&str> {
        let such = deciding.iter().filter(|pair| pair.verdict == wanted);
        such.map(|pair| pair.new.qualname.as_str()).collect()
    };
    let (total, all) = (deciding.len(), counted(deciding.len(), &kinds));
    let (elsewhere, judged): (Vec<&PairReport>, Vec<&PairReport>) =
        judged.into_iter().partition(|pair| matches!(pair.decided_by, DecidedBy::OtherModules(_)));
    let mut sentence = match (verdict, deciding.as_slice()) {
        (_, []) if judged.is_empty() && elsewhere.len() == 1 => return pair(elsewhere[0]),
        (_, []) => String::from("No difference that does not come from other modules."),
        (_, [only]) => pair(only),
        (Verdict::Changing, _) => {
            let changed = names(Verdict::Changing);
            format!("Behavior changed in {} of {all}: {}.", changed.len(), list(&changed))
        }
        (Verdict::Inconclusive, _) => {
            let open = names(Verdict::Inconclusive);
            let is = if open.len() == 1 { "is" } else { "are" };
            format!("No difference found, but {} of {all} {is} inconclusive: {}.", open.len(), list(&open))
        }
        (Verdict::LikelyPreserving, _) => format!(
            "No difference in {all}: {} executed, {} identical.",
            names(Verdict::LikelyPreserving).len(),
            names(Verdict::Identical).len()
        ),
        (Verdict::Identical, _) => match deciding.iter().filter(|pair| !pair.facts.has_same_text).count() {
            0 => format!("Identical: {SAME_TEXT} in {all}."),
            other => {
                format!("Identical: {other} of {all} are written differently, but all {total} are the same programs.")
            }
        },
    };
    if !elsewhere.is_empty() {
        let names: Vec<&str> = elsewhere.iter().map(|pair| pair.new.qualname.as_str()).collect();
        sentence.push_str(&format!(" Covered by other modules: {}.", list(&names)));
    }
    if !judged.is_empty() {
        let names: Vec<&str> = judged.iter().map(|pair| pair.new.qualname.as_str()).collect();
        sentence.push_str(&format!(" Covered by the code that uses them: {}.", list(&names)));
    }
    if *verdict != Verdict::Changing {
        for (which, names) in [("old", removed), ("new", added)] {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            if !names.is_empty() {
                sentence.push_str(&format!(" Only in {which}: {}.", list(&names)));
            }
        }
    }
    sentence
}

#[cfg(test)]
mod tests {
    use twincell_compare::report::{CallSite, CellNumbers, Condition, Headline, PairFacts};
    use twincell_samples::{comparison as whole, pair as sample};
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

    fn contrast_of(place: &str, old: Option<&str>, new: Option<&str>) -> twincell_compare::report::Contrast {
        let shown = PerSide::new(old, new).map(|shown| shown.map(str::to_owned));
        twincell_compare::report::Contrast { place: place.into(), shown }
    }

    fn no_difference() -> PairReport {
        let usable = Usable { valid: 1, all: 1, varied: true };
        of(Verdict::LikelyPreserving, Reason::NoDifference(usable))
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
        assert_eq!((pair(&same()).as_str(), reason(&same()).as_str()), ("Identical: nothing differs in f.", SAME_TEXT));
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
