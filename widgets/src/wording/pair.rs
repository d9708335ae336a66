//! What is said of one pair, and why it has its verdict.

use twincell_behavior::display_limit;
use twincell_compare::STATEMENTS;
use twincell_compare::report::{
    Bound, ChangeReached, DecidedBy, PairReport, Reason, StoppedExample, Support, Uncounted, Usable,
};
use twincell_compare::verdict::Verdict;
use twincell_engine::observed::Limit;
use twincell_syntax::{CodeKind, PerSide, Side};

use super::headline::{condition, headline};
use super::names::{all_elsewhere, elsewhere};

/// The maximum number of runs of lines of a version that are named.
const RUNS: usize = 3;

/// What is said of a pair of the same text.
pub(super) const SAME_TEXT: &str = "nothing differs";

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
        Reason::NoDifference { usable, support: own } => {
            format!("no difference in {}{}", usable_executions(usable), support(own))
        }
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
        Uncounted::Reordered => "calls on different objects happen in another order".into(),
        Uncounted::Invented => "it needs a result that Python would not give".into(),
        Uncounted::Unlikely => "it needs an unlikely value".into(),
        Uncounted::EdgeCases(1) => "the one that differs needs an unlikely value".into(),
        Uncounted::EdgeCases(count) => format!("the {count} that differ need an unlikely value"),
        Uncounted::Suppressed(rules) => {
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

/// ` and on all 4 combinations of values that the annotations allow`.
fn support(support: &Support) -> String {
    match support {
        Support::Proved(proof) if proof.arguments.is_empty() => ", and proved for all arguments".into(),
        Support::Proved(proof) => {
            let arguments = proof.arguments.iter().map(|one| format!("{} of type {}", one.parameter, one.class));
            format!(", and proved for {}", arguments.collect::<Vec<_>>().join(", "))
        }
        Support::Exhausted { combinations } if *combinations > 1 => {
            format!(" and on all {combinations} combinations of values that the annotations allow")
        }
        Support::Exhausted { .. } | Support::Sampled => String::new(),
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
pub(super) fn bound(bound: &Bound) -> String {
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
