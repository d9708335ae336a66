//! The levels of an analysis in words: what each left, what ended them, and what took a statement away.

use twincell_impact::{Equivalence, LevelSummary, Pruned, Rule as Derivation, StepPlace};
use twincell_prove::{Assumption, Proof, Rule};

use super::{ImpactReport, ImpactStopped, ProvedFunction, chain, place_name};
use crate::words;

/// What a level is called.
pub(super) fn name(k: Option<u32>) -> String {
    k.map_or_else(|| "DCIA".to_owned(), |k| format!("k={k}"))
}

/// What the level after one is called. The first is DCIA.
pub fn impact_level(last: Option<&LevelSummary>) -> String {
    name(last.map(|level| level.k.map_or(0, |k| k + 1)))
}

/// A level that is whole, for a line of progress.
pub fn impact_progress(level: &LevelSummary) -> String {
    let after = level.milliseconds.map(|after| format!(" after {}", words::duration(after as f64)));
    let left = words::count(level.impacted, "statement");
    format!("{}: {left} may see other values{}", name(level.k), after.unwrap_or_default())
}

/// The number of statements that each level left, where one took any away.
pub(super) fn counts(report: &ImpactReport) -> Option<String> {
    let levels = &report.impact.levels;
    let is_pruned = levels.first()?.impacted > levels.last()?.impacted;
    let named = levels.iter().enumerate().map(|(at, level)| {
        let count = if at == 0 { words::count(level.impacted, "statement") } else { words::number(level.impacted) };
        format!("{} {count}", name(level.k))
    });
    is_pruned.then(|| named.collect::<Vec<_>>().join(", "))
}

/// What ended the levels before the last one.
pub(super) fn stopped(report: &ImpactReport) -> Option<String> {
    let why = match report.stopped.filter(|_| report.impact.is_partial)? {
        ImpactStopped::Time => "the time was over",
        ImpactStopped::Interrupt => "it was interrupted",
    };
    let last = name(report.impact.levels.last()?.k);
    Some(format!("ended after {last}, since {why}: later levels may leave fewer statements"))
}

/// Why a level took a statement away: the equivalence, and how it was shown.
pub(super) fn pruned(report: &ImpactReport, pruned: &Pruned) -> String {
    let what = match (&pruned.at, pruned.equivalence) {
        (StepPlace::Statement(place), _) => format!("{} computes the same values", place_name(place)),
        (StepPlace::Function { path, function }, _) => format!("{} takes the same ways", chain::name(path, function)),
        (StepPlace::Variable(variable), Equivalence::SameArgument) => {
            format!("the calls pass the same values for {}", chain::variable(variable))
        }
        (StepPlace::Variable(variable), Equivalence::Proved) if variable.result_of().is_none() => {
            format!("the change leaves {} as it is", chain::variable(variable))
        }
        (StepPlace::Variable(variable), Equivalence::SameValues) => {
            format!("{} is the same", chain::variable(variable))
        }
        (StepPlace::Variable(variable), Equivalence::SameSummary | Equivalence::Proved) => {
            format!("{} is the same for the same inputs", chain::variable(variable))
        }
    };
    let shown = match (pruned.equivalence, proof(report, pruned)) {
        (Equivalence::Proved, Some(proof)) => format!("as a proof shows: {}", grounds(proof)),
        (Equivalence::Proved, None) => "as a proof shows".to_owned(),
        _ => "as comparing the operations of both versions shows".to_owned(),
    };
    format!("{} pruned it: {what}, {shown}", name(Some(pruned.k)))
}

/// The proof about the function in which the chain begins, or one that looks into it.
fn proof<'r>(report: &'r ImpactReport, pruned: &Pruned) -> Option<&'r Proof> {
    // A long chain is kept without its beginning.
    let first =
        pruned.chain.first().filter(|step| matches!(step.rule, Derivation::SyntChanged | Derivation::Rewired))?;
    let StepPlace::Statement(place) = &first.at else { return None };
    let mut own = report.proofs.iter().filter(|one| one.path == place.path);
    let is_meant = |one: &&ProvedFunction| {
        one.function == place.function || one.proof.looked_into.iter().any(|name| **name == *place.function)
    };
    own.find(is_meant).map(|one| &one.proof)
}

/// What a proof rests on.
fn grounds(proof: &Proof) -> String {
    let rules = proof.rules.iter().map(|rule| match rule {
        Rule::Branches => "the same conditions decide, in another shape",
        Rule::Loops => "loops keep a relation between the variables of both versions",
        Rule::Recursion => "calls of the function itself do the same, by induction",
        Rule::Arithmetic => "the arithmetic of whole numbers",
        Rule::Texts => "texts are sequences of parts",
        Rule::OwnContainers => "containers that nobody else sees are values",
        Rule::Containers => "lists and dictionaries change only where the text changes them",
    });
    let assumptions = proof.assumptions.iter().map(|one| match one {
        Assumption::StableName(name) => format!("{name} is bound before, and not bound anew meanwhile"),
        Assumption::PlainClasses => "isinstance with a builtin class has no effect of its own".to_owned(),
    });
    let mut parts: Vec<String> = rules.map(str::to_owned).collect();
    if parts.is_empty() {
        parts.push("the same operations run in the same order".to_owned());
    }
    if !proof.looked_into.is_empty() {
        let names: Vec<&str> = proof.looked_into.iter().map(String::as_str).collect();
        parts.push(format!("looking into calls of {}", names.join(", ")));
    }
    let assumed: Vec<String> = assumptions.collect();
    if !assumed.is_empty() {
        parts.push(format!("assuming that {}", assumed.join(", and that ")));
    }
    parts.join("; ")
}

#[cfg(test)]
mod tests {
    use twincell_impact::{FunctionPlace, Prover, Shown};

    use super::*;
    use crate::impacts::tests::{proved_report, report};

    const OLD: &str = "def f(a, b):\n    return g(a + b)\n\ndef g(x):\n    return x\n";
    const NEW: &str = "def f(a, b):\n    c = a + b\n    return g(c)\n\ndef g(x):\n    return x\n";

    /// Shows every function.
    struct Always;

    impl Prover for Always {
        fn depth(&self) -> u32 {
            0
        }

        fn proves(&self, _: &FunctionPlace, _: &FunctionPlace, _: u32) -> Option<Shown> {
            Some(Shown::default())
        }
    }

    fn sentences(report: &ImpactReport) -> Vec<String> {
        let all = report.impact.statements.iter().filter_map(|one| one.pruned.as_ref());
        all.map(|one| pruned(report, one)).collect()
    }

    #[test]
    fn the_levels_are_counted_where_one_took_a_statement_away() {
        assert_eq!(counts(&report("shop.py", OLD, NEW)).as_deref(), Some("DCIA 1 statement, k=0 0"));
        assert_eq!(counts(&report("shop.py", OLD, OLD)), None);
    }

    #[test]
    fn a_level_has_a_line_when_it_is_whole_and_the_next_one_a_name() {
        let found = report("shop.py", OLD, NEW);
        let lines: Vec<String> = found.impact.levels.iter().map(impact_progress).collect();
        assert!(lines[0].starts_with("DCIA: 1 statement may see other values after 100"), "{lines:?}");
        assert!(lines[1].starts_with("k=0: 0 statements may see other values after 200"), "{lines:?}");
        let next: Vec<String> =
            [None, found.impact.levels.first(), found.impact.levels.last()].map(impact_level).into();
        assert_eq!(next, ["DCIA", "k=0", "k=1"]);
    }

    #[test]
    fn an_end_before_the_last_level_is_said() {
        let mut found = report("shop.py", OLD, NEW);
        assert_eq!(stopped(&found), None);
        found.stopped = Some(ImpactStopped::Time);
        assert_eq!(stopped(&found), None);
        found.impact.is_partial = true;
        assert!(stopped(&found).is_some_and(|line| line.starts_with("ended after k=0, since the time was over")));
    }

    #[test]
    fn a_pruned_statement_has_its_equivalence_and_how_it_was_shown() {
        insta::assert_snapshot!(sentences(&report("shop.py", OLD, NEW)).join("\n"));
        let old = "def f(a):\n    return a * 2\n\ndef g(a):\n    x = f(a)\n    return x\n";
        let mut found = proved_report("shop.py", old, &old.replace("a * 2", "a + a"), &Always);
        assert!(sentences(&found).iter().all(|one| one.ends_with(", as a proof shows")), "{:?}", sentences(&found));
        let rules = [Rule::Arithmetic].into();
        let assumptions = [Assumption::PlainClasses].into();
        let proof = Proof { rules, assumptions, ..Proof::default() };
        found.proofs = vec![ProvedFunction { path: "shop.py".into(), function: "f".into(), proof }];
        insta::assert_snapshot!(sentences(&found).join("\n"));
    }
}
