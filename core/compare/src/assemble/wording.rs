//! The sentences that a report opens with.

use twincell_behavior::{Rule, Rules};
use twincell_engine::protocol::{Injection, Unevaluated};
use twincell_syntax::{CodeKind, Function, PerSide, Side};
use twincell_values::path::{AccessPath, Question};
use twincell_values::value::{Choice, Decision, Recipe};

use super::headline::difference;
use crate::assemble::place::Place;
use crate::assemble::{CampaignSummary, PairContext, number};
use crate::campaign::{SetAside, TestCase};
use crate::note::{Changed, Isolated, Misfit, NotGiven, Note, WhyNotGiven};
use crate::report::{Bound, Headline, PairReport};
use crate::verdict::Verdict;

/// The maximum number of values named in a sentence, unless more are decisive.
pub(super) const NAMED_VALUES: usize = 3;
/// The maximum number of function names in one list.
const NAMED_FUNCTIONS: usize = 5;
/// The maximum number of runs of lines of a version that are named.
const RUNS: usize = 3;
/// The maximum number of modules in one list.
const NAMED_MODULES: usize = 8;
/// The maximum number of characters of one text within a sentence.
const SENTENCE_TEXT: usize = 80;
/// The number of characters of a path in a sentence up to which nothing in its brackets is left out.
const SENTENCE_PATH: usize = 40;

/// What is said of a pair of the same text.
const SAME_TEXT: &str = "nothing differs";

/// The reason why a pair is the same program, and the sentence that says so.
pub(super) fn identical(context: &PairContext<'_>) -> (String, String) {
    let name = name_of(&context.functions.new);
    if context.has_same_text() {
        return (SAME_TEXT.into(), format!("Identical: {SAME_TEXT} in {name}."));
    }
    let former = &context.functions.old.qualname;
    if former != name {
        let reason = format!("{former} has become {name}, with the same code");
        return (reason.clone(), format!("Identical but for its name: {reason}."));
    }
    let mut parts = vec!["comments", "docstrings", "annotations", "layout"];
    parts.extend((!context.diff.renames.is_empty()).then_some("names of locals"));
    parts.extend(context.renamed_attributes().next().map(|_| "names of private attributes"));
    let last = parts.pop().unwrap_or_default();
    let reason = format!("only {} or {last} differ", parts.join(", "));
    let sentence = format!("Identical: {name} is the same program; {reason}.");
    (reason, sentence)
}

/// Whom a sentence is about: a function or a class by its name.
pub(super) fn name_of(function: &Function) -> &str {
    if function.kind == CodeKind::Snippet { "statements outside functions" } else { &function.qualname }
}

/// The sentence for a pair that does not decide, with what it shows by itself. `verdict` is that of those who do.
pub(super) fn decided_elsewhere(report: &PairReport, by: &[String], verdict: Verdict) -> String {
    let how = match (verdict, by.len()) {
        (Verdict::Changing, _) => "whose behavior changed",
        (_, 1) => "which behaves as before",
        _ => "which behave as before",
    };
    format!("{} is judged by {}, {how}. By itself: {}", report.new.qualname, by.join(", "), report.sentence)
}

/// What changed in another module, with its file: `Rates.of (src/shop/tax.py)`.
pub(super) fn elsewhere(changed: &Changed) -> String {
    format!("{} ({})", changed.name, changed.file)
}

/// Several of these.
fn all_elsewhere(changed: &[Changed]) -> String {
    let names: Vec<String> = changed.iter().map(elsewhere).collect();
    list(&names.iter().map(String::as_str).collect::<Vec<_>>())
}

/// The sentence for a pair whose difference comes from other modules, with what it shows by itself.
pub(super) fn decided_in_other_modules(report: &PairReport, changed: &[Changed]) -> String {
    format!(
        "{} behaves as before in one version of the project; what differs is judged elsewhere: {}. By itself: {}",
        report.new.qualname,
        all_elsewhere(changed),
        report.sentence
    )
}

/// The sentence that a view shows first.
pub(super) fn sentence(
    context: &PairContext<'_>,
    summary: &CampaignSummary<'_>,
    headline: Option<&Headline>,
) -> String {
    let name = name_of(&context.functions.new);
    match (headline, summary.verdict) {
        (Some(headline), _) => headline.to_string(),
        (None, Verdict::LikelyPreserving) => {
            let stopped = summary.campaign.stopped_early.then(|| format!("; {}", note(&Note::StoppedEarly)));
            format!("{name}: {}{}{}", summary.reason, reached(context, summary), stopped.unwrap_or_default())
        }
        _ => {
            let example = summary.campaign.stopped_example().map(|case| {
                let values = injected_values(case);
                let with = if values.is_empty() { "in".into() } else { format!("for {} in", values.join(", ")) };
                format!(", e.g. {with} execution {}", number(case))
            });
            format!("{name}: {}{}", summary.reason, example.unwrap_or_default())
        }
    }
}

/// A changed line ran in few executions if more than this number of times as many ran in all.
const FEW: usize = 4;

/// `1 execution`, `3 executions`.
pub(crate) fn executions(count: usize) -> String {
    format!("{count} {}", if count == 1 { "execution" } else { "executions" })
}

/// What the executions reached of the change: `; the changed line ran in only 27 executions`,
/// `; 2 of 5 changed lines never ran: new 12 to 13`.
fn reached(context: &PairContext<'_>, summary: &CampaignSummary<'_>) -> String {
    let lines = context.changed_lines(summary.target);
    let changed: usize = lines.iter().map(Vec::len).sum();
    let never = PerSide::of(|side| {
        let missed = lines[side].iter().filter(|line| !summary.campaign.reached[side].contains(line));
        missed.map(|line| context.functions[side].first_line + line - 1).collect::<Vec<u32>>()
    });
    let ran =
        Side::BOTH.into_iter().flat_map(|side| lines[side].iter().map(move |line| summary.campaign.ran(side, *line)));
    let few = ran.min().filter(|least| *least as usize * FEW < summary.campaign.executed());
    let few = |one: &str| few.map_or_else(String::new, |least| format!("{one} in only {}", executions(least as usize)));
    match (changed, never.old.len() + never.new.len()) {
        (0, _) => format!(", though {} changed", context.changed_names.join(", ")),
        (1, 0) => format!("; the changed line ran{}", few("")),
        (_, 0) => format!("; all {changed} changed lines ran{}", few(", one")),
        (_, missed) => format!("; {missed} of {changed} changed lines never ran: {}", numbers(&never)),
    }
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
pub(crate) fn bound(bound: &Bound) -> String {
    match bound {
        Bound::Size { side, size, most } => format!(
            "too large: the {side} version has {size} statements and expressions, and at most {most} are compared; \
             --max-function raises this"
        ),
        Bound::Deadline { seconds } => {
            format!("its time of {seconds} s was over, and this is all that was found by then; --deadline raises it")
        }
        Bound::Replaces { side, line, more } => {
            let others = match more {
                0 => String::new(),
                more => format!(" (and {more} more)"),
            };
            format!(
                "line {line} of the {side} version{others} may put something else in the place of functions, and is not \
                 followed into them"
            )
        }
    }
}

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
pub(crate) fn note(note: &Note) -> String {
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
            let place = if *are_judged { ", and is judged there" } else { "" };
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
    }
}

/// A rule as a policy writes it.
pub(crate) fn rule(rule: &Rule) -> String {
    match rule {
        Rule::Ignore { what } => format!("ignore = \"{}\"", what.name()),
        Rule::Unordered { what } => format!("unordered = \"{}\"", what.name()),
        Rule::Effect { declared } => format!("effects.\"{}\" = \"{}\"", declared.functions, declared.effect.name()),
        Rule::FloatTolerance => "float-tolerance".into(),
        Rule::KeyOrder => "the order of keys (--ordered-keys counts it)".into(),
        Rule::EdgeCases => "ignore-edge-cases".into(),
    }
}

/// What a rule sets aside.
pub(super) fn set_aside(one: &SetAside, changed_verdict: bool, rules: &Rules) -> String {
    let first = one.case.differences.first();
    let what = first.map_or_else(|| "the two differ".to_string(), |first| difference(&one.case, first, rules));
    let effect = if changed_verdict { "; without this rule the verdict would be changing" } else { "" };
    format!("set aside by {}: {what} (execution {}){effect}", rule(&one.rule), number(&one.case))
}

pub(super) fn cut(text: &str) -> String {
    if text.chars().count() <= SENTENCE_TEXT {
        return text.to_string();
    }
    format!("{}…", text.chars().take(SENTENCE_TEXT).collect::<String>())
}

/// A path within a sentence.
pub(super) fn brief(path: &str) -> String {
    cut(&AccessPath::new(path).abridged(SENTENCE_PATH))
}

/// Two paths within a sentence: whole, where what is left out would tell them apart.
fn apart(one: &str, other: &str) -> PerSide<String> {
    let paths = PerSide::new(one, other);
    let brief = paths.as_ref().map(|path| brief(path));
    if brief.old == brief.new { paths.map(cut) } else { brief }
}

/// `x = 0`, `f(x) raises ValueError`, `x is true`, `'a' not in x`, `…(x) on line 7 = 0`.
pub(super) fn named(choice: &Choice, place: &Place) -> String {
    let question = Question::parse(&choice.path);
    if let Decision::Value(recipe) = &choice.decision
        && let Some(answer) = answer(question, recipe)
    {
        return answer;
    }
    let path = match question {
        Question::Raise(operation) => operation,
        _ => &choice.path,
    };
    // A plain value that was called says less than the place.
    let path = match (place, AccessPath::new(path).of_called_value()) {
        (Place::Code(code), _) => brief(code),
        (Place::Line(line), Some(call)) => format!("…{} on line {line}", brief(call)),
        (Place::Unknown, Some(call)) => format!("…{}", brief(call)),
        (_, None) => brief(path),
    };
    match &choice.decision {
        Decision::Value(recipe) => format!("{path} = {}", cut(&recipe.display())),
        Decision::Raise(class) => format!("{path} raises {class}"),
        Decision::Default => format!("{path} not given"),
        Decision::Same(other) => {
            let PerSide { old: one, new: other } = apart(&choice.path, other);
            format!("{one} is {other}")
        }
        Decision::Fail => format!("{path} missing"),
    }
}

/// The answer to a question about a value, as people say it; none where the question with its answer says it.
fn answer(question: Question<'_>, recipe: &Recipe) -> Option<String> {
    let path = |path: AccessPath<'_>| brief(path.as_str());
    Some(match (question, recipe) {
        (Question::Truth(of), Recipe::Bool(is)) => format!("{} is {}", path(of), if *is { "true" } else { "false" }),
        (Question::Item { item, holder }, Recipe::Bool(is)) => {
            format!("{} {} {}", cut(item), if *is { "in" } else { "not in" }, path(holder))
        }
        (Question::Keyword { name, .. }, Recipe::Bool(is)) => {
            format!("{name} {}", if *is { "given" } else { "not given" })
        }
        (Question::Positional(name), Recipe::Int(0)) => format!("*{name} is empty"),
        (Question::Positional(name), Recipe::Int(1)) => format!("*{name} has 1 item"),
        (Question::Positional(name), Recipe::Int(count)) => format!("*{name} has {count} items"),
        (Question::Instance { of, class }, Recipe::Bool(is)) => {
            format!("{} is {} {}", path(of), if *is { "a" } else { "no" }, cut(class))
        }
        (Question::Succeeds(of), Recipe::Bool(true)) => format!("{} succeeds all the same", path(of)),
        (Question::Succeeds(of), Recipe::Bool(false)) => format!("{} fails", path(of)),
        (Question::Attribute(of), Recipe::Bool(is)) => {
            format!("{} {}", path(of), if *is { "exists" } else { "does not exist" })
        }
        (Question::Order { one, other }, Recipe::Int(order @ 0..=2)) => {
            let PerSide { old: one, new: other } = apart(one, other);
            format!("{one} {} {other}", ["<", "==", ">"][*order as usize])
        }
        _ => return None,
    })
}

pub(super) fn injection_of<'a>(case: &'a TestCase, choice: &Choice) -> Option<&'a Injection> {
    case.record.injections.iter().find(|injection| injection.path == choice.path)
}

/// The first injected values.
fn injected_values(case: &TestCase) -> Vec<String> {
    let entered = case.record.choices.iter().filter(|choice| injection_of(case, choice).is_some());
    entered.take(NAMED_VALUES).map(|choice| named(choice, &Place::Unknown)).collect()
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
fn list(names: &[&str]) -> String {
    let shown = names.iter().take(NAMED_FUNCTIONS).copied().collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(NAMED_FUNCTIONS) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// The sentence about pairs whose differences are accepted, if there are any.
pub(crate) fn accepted(pairs: &[PairReport]) -> Option<String> {
    let names: Vec<&str> = (pairs.iter())
        .filter(|pair| pair.accepted.is_some() && pair.verdict == Verdict::Changing)
        .map(|pair| pair.new.qualname.as_str())
        .collect();
    (!names.is_empty()).then(|| format!("What differs is accepted: {}.", list(&names)))
}

/// The sentence about all pairs, and about functions that only one version has.
pub(crate) fn overall(verdict: Verdict, pairs: &[PairReport], added: &[String], removed: &[String]) -> String {
    let (deciding, judged): (Vec<&PairReport>, Vec<&PairReport>) =
        pairs.iter().partition(|pair| pair.decided_by.is_empty());
    let kinds: Vec<CodeKind> = deciding.iter().map(|pair| pair.facts.kind).collect();
    let names = |wanted: Verdict| -> Vec<&str> {
        let such = deciding.iter().filter(|pair| pair.verdict == wanted);
        such.map(|pair| pair.new.qualname.as_str()).collect()
    };
    let (total, all) = (deciding.len(), counted(deciding.len(), &kinds));
    let (elsewhere, judged): (Vec<&PairReport>, Vec<&PairReport>) =
        judged.into_iter().partition(|pair| pair.facts.in_other_modules);
    let mut sentence = match (verdict, deciding.as_slice()) {
        (_, []) if judged.is_empty() && elsewhere.len() == 1 => return elsewhere[0].sentence.clone(),
        (_, []) => String::from("No difference that does not come from other modules."),
        (_, [pair]) => pair.sentence.clone(),
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
        sentence.push_str(&format!(" Judged in other modules: {}.", list(&names)));
    }
    if !judged.is_empty() {
        let names: Vec<&str> = judged.iter().map(|pair| pair.new.qualname.as_str()).collect();
        sentence.push_str(&format!(" Judged only by the code that uses them: {}.", list(&names)));
    }
    if verdict != Verdict::Changing {
        for (which, names) in [("old", removed), ("new", added)] {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            if !names.is_empty() {
                sentence.push_str(&format!(" Only in {which}: {}.", list(&names)));
            }
        }
    }
    sentence
}
