//! What a report notes beside its evidence, as sentences.

use twincell_compare::note::{CellLeftOut, Isolated, Misfit, NotGiven, Note, WhyNotGiven};
use twincell_engine::protocol::Unevaluated;

use super::headline::contrast;
use super::names::all_elsewhere;
use super::pair::bound;

/// The maximum number of modules in one list.
const NAMED_MODULES: usize = 8;

/// Why a value was not copied.
fn not_given(reason: &WhyNotGiven) -> String {
    match reason {
        WhyNotGiven::Pickle { error } => format!("it cannot be pickled: {error}"),
        WhyNotGiven::TooLarge { most } => {
            format!("all given values together may have {} MiB; give a part of it", most >> 20)
        }
        WhyNotGiven::TooSlow { seconds } => format!("pickling it took longer than {seconds} s"),
        WhyNotGiven::Unused => "no parameter and no global of the code has this name".into(),
    }
}

/// A note as a sentence for people.
pub fn note(note: &Note) -> String {
    match note {
        Note::Magics { label, lines } => {
            let lines: Vec<String> = lines.iter().map(u32::to_string).collect();
            let lines = lines.join(", ");
            format!(
                "{label}: magics and shell commands count as calls of get_ipython() and were not run (line {lines})"
            )
        }
        Note::OfProject(modules) => {
            let more = modules.len().saturating_sub(NAMED_MODULES);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            format!("real, from the repository: {}{more}", modules[..modules.len().min(NAMED_MODULES)].join(", "))
        }
        Note::Unevaluated(Unevaluated::Statement { line, error }) => {
            format!("line {line} of the module cannot be evaluated here: {error}")
        }
        Note::Unevaluated(Unevaluated::Module { error }) => format!("the module cannot be evaluated here: {error}"),
        Note::Unevaluated(Unevaluated::Library { module }) => format!("mocked: {module} is not installed here"),
        Note::Unevaluated(Unevaluated::Lacking { module, name }) => {
            format!(
                "{module} has no {name} in the version that is installed here; executions that ask for it do not count"
            )
        }
        Note::Unevaluated(Unevaluated::Given { name, error }) => {
            format!("{name} cannot be loaded in the sandbox, so made-up values stand in for it: {error}")
        }
        Note::Unevaluated(Unevaluated::Value { class, value, error, is_last }) => {
            let instead = if *is_last { "so no declared value of it is used" } else { "so it is left out" };
            format!("a value that is declared for {class} cannot be made, {instead}: {value}: {error}")
        }
        Note::NotGiven(NotGiven { name, reason }) => format!("{name} was not copied: {}", not_given(reason)),
        Note::GivenEndsWorker { names, reason } => {
            format!(
                "made-up values stand in for {}: loading what was given ended the worker: {reason}",
                names.join(", ")
            )
        }
        Note::ModuleEndsWorker { reason } => {
            format!("the module cannot be evaluated here ({reason}), so the function alone was run")
        }
        Note::Isolated(Isolated::All) => "isolation: each execution ran in its own process".into(),
        Note::Isolated(Isolated::Witness) => {
            "isolation: executions left state behind; the difference appeared again in a separate process".into()
        }
        Note::Isolated(Isolated::Some(count)) => format!(
            "isolation: executions may have left state behind; {count} ran again, each in its own process, and showed no \
             difference either"
        ),
        Note::Paired { old, new } => {
            format!("compared {old} with {new}: the most similar function of the other version")
        }
        Note::Renamed(renames) => {
            let renames: Vec<String> = renames.iter().map(|(new, old)| format!("{old} is now {new}")).collect();
            format!("renamed: {}", renames.join(", "))
        }
        Note::Signature { gone, required } => {
            let by_name = (!gone.is_empty()).then(|| format!("that pass {} by name", gone.join(" or ")));
            let without = (!required.is_empty()).then(|| format!("without {}", required.join(" or ")));
            let calls: Vec<String> = by_name.into_iter().chain(without).map(|which| format!("calls {which}")).collect();
            format!("signature: {} fail with new", calls.join(", and "))
        }
        Note::ChangedElsewhere { changed, are_judged } => {
            let place = if *are_judged { ", and is covered there" } else { "" };
            format!("it uses what changed in other modules as well{place}: {}", all_elsewhere(changed))
        }
        Note::UsesChanged(names) => {
            format!("the function itself did not change, but what it uses did: {}", names.join(", "))
        }
        Note::Nondeterministic(1) => {
            "1 difference did not appear again when the execution was repeated; it does not count as evidence".into()
        }
        Note::Nondeterministic(count) => {
            format!(
                "{count} differences did not appear again when the execution was repeated; they do not count as evidence"
            )
        }
        Note::Lost { count: 1, first } => format!("1 execution was lost because {first}"),
        Note::Lost { count, first } => format!("{count} executions were lost, the first because {first}"),
        Note::Misfit { source, function, misfit } => {
            let what = match misfit {
                Misfit::TooMany { given, most } => format!("{function} takes {most} arguments, and {given} are given"),
                Misfit::NoParameter(name) => format!("{function} has no parameter {name}"),
                Misfit::Open(names) => {
                    let names = names.join(", ");
                    return format!(
                        "{source}: {names} cannot be read as data and is drawn; give literals or calls of classes"
                    );
                }
            };
            format!("{source} was left out: {what}")
        }
        Note::UnknownExample { source, function } => {
            format!("{source} was left out: no function is called {function}")
        }
        Note::MoreMisfits(count) => format!("{count} more examples were left out or are drawn in part"),
        Note::StoppedEarly => "stopped before the budget was used up".into(),
        Note::FunctionContext => "context: the function alone; everything that it does not define was injected".into(),
        Note::ShownWithoutModule => {
            "context: the function alone shows the difference; everything that it does not define was injected, since \
             the real objects of the module kept executions away from the change"
                .into()
        }
        Note::WithoutModule { executions } => format!(
            "context: real objects of the module kept executions away from the change, so {executions} ran the function \
             alone"
        ),
        Note::Replaced(names) => {
            format!("context: the difference needs injected values in place of {}", names.join(", "))
        }
        Note::Suppressed { rule, contrast: shown, execution, changed_verdict } => {
            let effect = if *changed_verdict { "; without this rule the verdict would be changing" } else { "" };
            format!("suppressed by {rule}: {} (execution {execution}){effect}", contrast(shown))
        }
        Note::Bound(of) => bound(of),
        Note::Cell { cell, why: CellLeftOut::Failed { error } } => format!("{cell} was not compared: {error}"),
        Note::Cell { cell, why: CellLeftOut::NoPython } => {
            format!("{cell} changed and was not compared: it is not Python")
        }
        Note::Cell { cell, why: CellLeftOut::Stopped } => {
            format!("{cell} was not compared: stopped before its turn came")
        }
        Note::Cell { cell, why: CellLeftOut::Alone } => {
            format!(
                "{cell} is in one version only, and may put something else in the place of functions of other cells"
            )
        }
        Note::NotCopied { error } => {
            format!("the repository was not copied, so what its other modules give is injected: {error}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_where_all_ran_in_isolation_does_the_note_say_so() {
        let notes =
            [Isolated::All, Isolated::Witness, Isolated::Some(32)].map(|isolated| note(&Note::Isolated(isolated)));
        assert_eq!(notes.each_ref().map(|note| note.contains("each execution ran")), [true, false, false]);
        assert!(notes[2].contains("32 ran again"), "{}", notes[2]);
    }

    #[test]
    fn calls_that_fail_with_the_new_signature_are_named() {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        for (gone, required, said) in [
            (&["b"][..], &[][..], "signature: calls that pass b by name fail with new"),
            (&["b"], &["c"], "signature: calls that pass b by name, and calls without c fail with new"),
            (&[], &["b"], "signature: calls without b fail with new"),
        ] {
            assert_eq!(note(&Note::Signature { gone: names(gone), required: names(required) }), said);
        }
    }
}
