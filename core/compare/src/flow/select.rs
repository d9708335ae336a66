//! Selects the functions, classes and snippets of two texts to compare.

use std::collections::BTreeSet;

use twincell_behavior::Channel;
use twincell_engine::observed::{Observed, Slot};
use twincell_syntax::{CodeKind, Function, Index, PerSide, Replacing, Side};

use super::pair::Pair;
use super::sources::{Sources, replacing};
use crate::assemble;
use crate::report::{Bound, PairReport};
use crate::verdict::Verdict;
use crate::{CompareError, CompareOptions, Source};

/// The maximum number of names in an error.
const NAMED: usize = 20;

pub(super) struct Selected {
    pub pairs: Vec<(Function, Function)>,
    pub added: Vec<String>,
    pub removed: Vec<String>,
}

/// Finds what to compare: the functions that both texts have, classes that changed, and statements outside definitions.
pub(super) fn select(old: &Source, new: &Source, options: &CompareOptions) -> Result<Selected, CompareError> {
    let (mut old_functions, mut new_functions) = (functions(old)?, functions(new)?);
    let cut_out = old.module.is_some() || new.module.is_some();
    if let Some(name) = options.function.as_deref() {
        return by_name(name, old, new, old_functions, new_functions, cut_out);
    }
    // A nested function runs with the function that holds it.
    old_functions.retain(|function| function.parent.is_none());
    new_functions.retain(|function| function.parent.is_none());
    let snippets = snippets(old, new);
    if let ([one], [other], None) = (old_functions.as_slice(), new_functions.as_slice(), &snippets)
        && (cut_out || one.qualname == other.qualname || one.class_name.is_none() == other.class_name.is_none())
    {
        let pairs = std::iter::once((one.clone(), other.clone())).chain(classes(old, new, cut_out));
        return Ok(Selected { pairs: pairs.collect(), added: vec![], removed: vec![] });
    }
    let names = |functions: &[Function]| {
        let mut names: Vec<&str> =
            functions.iter().map(|function| function.qualname.as_str()).take(NAMED + 1).collect();
        if names.len() > NAMED {
            names[NAMED] = "...";
        }
        if names.is_empty() { "none".to_string() } else { names.join(", ") }
    };
    let nothing = CompareError::NothingInCommon { old: names(&old_functions), new: names(&new_functions) };
    let empty = [(old, old_functions.is_empty()), (new, new_functions.is_empty())];
    let pairing = twincell_syntax::pair(old_functions, new_functions);
    let mut pairs = pairing.pairs;
    pairs.extend(classes(old, new, cut_out));
    pairs.extend(snippets);
    if pairs.is_empty() {
        let without = empty.into_iter().find(|(_, empty)| *empty);
        return Err(without.map_or(nothing, |(source, _)| no_function(source)));
    }
    Ok(Selected { pairs, added: pairing.added, removed: pairing.removed })
}

fn functions(source: &Source) -> Result<Vec<Function>, CompareError> {
    let (functions, errors) = twincell_syntax::functions(&source.text);
    match errors.into_iter().next() {
        Some(error) => Err(CompareError::Syntax { label: source.label.clone(), error }),
        None => Ok(functions),
    }
}

fn no_function(source: &Source) -> CompareError {
    let holds = match &source.text {
        text if text.trim().is_empty() => "it is empty",
        text if twincell_syntax::snippet(text).has_statements => {
            "it has statements, and those are compared with statements only"
        }
        _ => "it has no code",
    };
    CompareError::NoFunction { label: source.label.clone(), holds }
}

/// The requested function. For whole texts it may also be a class, or the statements outside definitions, which the name
/// of what they bind stands for, too.
fn by_name(
    name: &str,
    old: &Source,
    new: &Source,
    mut old_functions: Vec<Function>,
    mut new_functions: Vec<Function>,
    cut_out: bool,
) -> Result<Selected, CompareError> {
    if cut_out {
        // The texts hold the function alone. Its place in the module is known by name.
        place(&mut old_functions, name, old.module.as_deref());
        place(&mut new_functions, name, new.module.as_deref());
    }
    let find = |functions: &[Function]| functions.iter().find(|function| function.qualname == name).cloned();
    if let (Some(one), Some(other)) = (find(&old_functions), find(&new_functions)) {
        return Ok(Selected { pairs: vec![(one, other)], added: vec![], removed: vec![] });
    }
    let is_bound = [old, new].iter().all(|source| Index::of(&source.text).bound_names().any(|bound| bound == name));
    let mut others = classes(old, new, cut_out).into_iter().chain(snippets(old, new));
    let is_it = |one: &Function| one.qualname == name || one.kind == CodeKind::Snippet && is_bound;
    if let Some(pair) = others.find(|(one, _)| is_it(one)) {
        return Ok(Selected { pairs: vec![pair], added: vec![], removed: vec![] });
    }
    let mut known: Vec<String> =
        old_functions.iter().chain(&new_functions).map(|function| function.qualname.clone()).collect();
    known.sort_unstable();
    known.dedup();
    Err(CompareError::UnknownFunction { name: name.into(), known })
}

/// Gives the outermost function of a cut-out text its qualified name in the module, and its line if it stands there.
fn place(functions: &mut [Function], qualname: &str, module: Option<&str>) {
    let Some(outermost) = functions.first_mut() else { return };
    let in_module = module.map(twincell_syntax::functions).map_or_else(Vec::new, |(functions, _)| functions);
    if let Some(same) = in_module.iter().find(|one| one.qualname == qualname && one.text == outermost.text) {
        outermost.first_line = same.first_line;
    }
    outermost.qualname = qualname.into();
    outermost.parent = None;
    let owner = qualname.rsplit_once('.').map(|(owner, _)| owner);
    outermost.class_name = owner
        .filter(|owner| !owner.ends_with("<locals>"))
        .map(|owner| owner.rsplit('.').next().unwrap_or(owner).to_string());
}

/// The statements outside definitions, if both texts have some, or if those of one may replace functions.
fn snippets(old: &Source, new: &Source) -> Option<(Function, Function)> {
    if old.module.is_some() || new.module.is_some() {
        return None;
    }
    let (one, other) = (twincell_syntax::snippet(&old.text), twincell_syntax::snippet(&new.text));
    let both_have = one.has_statements && other.has_statements;
    let may_replace = || replacing(old, new).iter().any(|found| !found.is_empty());
    (both_have || may_replace()).then_some((one.function, other.function))
}

/// The classes that both texts have.
fn classes(old: &Source, new: &Source, cut_out: bool) -> Vec<(Function, Function)> {
    if cut_out {
        return vec![];
    }
    let mut news = twincell_syntax::classes(&new.text);
    let olds = twincell_syntax::classes(&old.text).into_iter();
    olds.filter_map(|class| {
        let position = news.iter().position(|other| other.qualname == class.qualname)?;
        Some((class, news.remove(position)))
    })
    .collect()
}

/// Whether a snippet or class needs its own comparison. Functions always do, and so does anything requested by name.
pub(super) fn is_worth(sources: &Sources, pair: &(Function, Function), options: &CompareOptions) -> bool {
    let name = &pair.1.qualname;
    if options.function.is_some() {
        return true;
    }
    match pair.1.kind {
        CodeKind::Function => true,
        CodeKind::Class => {
            let inside = format!("{name}.");
            let is_private = name.rsplit('.').next().is_some_and(|name| name.starts_with('_'));
            !is_private && sources.changed.iter().any(|entity| entity == name || entity.starts_with(&inside))
        }
        CodeKind::Snippet if sources.may_replace() => true,
        CodeKind::Snippet => {
            let snippets = PerSide::new(&pair.0, &pair.1);
            let own = twincell_syntax::diff(&pair.0, &pair.1);
            !own.identical && (own_statements_differ(snippets) || sources.uses_changed(snippets))
        }
    }
}

/// Marks a report where a statement may replace functions: what these do then was not run.
pub(super) fn note_replacing(sources: &Sources, report: &mut PairReport) {
    // One that did not run, or not to its end, says enough.
    if report.bound.is_some() {
        return;
    }
    let found = sources.versions.as_ref().map(|version| &version.replacing);
    let first = [Side::New, Side::Old].into_iter().find_map(|side| Some((side, found[side].first()?)));
    let Some((side, Replacing { line, target })) = first else { return };
    let more = found.iter().map(|found| found.len()).sum::<usize>() - 1;
    assemble::cut(report, Bound::Replaces { side, line: *line, more, target: target.clone() });
}

/// Whether the texts differ outside the definitions that they hold.
fn own_statements_differ(snippets: PerSide<&Function>) -> bool {
    let statements = snippets.map(|snippet| {
        let text = twincell_syntax::without_definitions(&snippet.text);
        Function { text, ..snippet.clone() }
    });
    !twincell_syntax::diff(&statements.old, &statements.new).identical
}

/// The pairs that do not decide, by position, with the names of those that decide in their place.
///
/// A private function whose callers changed with it is judged at its callers: if all of them ran and showed no
/// difference, the changes between them are internal. A method of a class that keeps its state differently (whose
/// private attributes differ, or which starts with other containers) runs on objects that neither version would make.
/// If sequences of calls of the whole class ran, they decide, whatever they showed. A function whose own code is the
/// same and that does not reach what changed is judged by what changed.
pub(super) fn deciders(sources: &Sources, pairs: &[Pair], reports: &[PairReport]) -> Vec<(usize, Vec<String>)> {
    let mut decided: Vec<(usize, Vec<String>)> = Vec::new();
    let unsettled = |report: &PairReport| matches!(report.verdict, Verdict::Changing | Verdict::Inconclusive);
    for (position, (pair, report)) in pairs.iter().zip(reports).enumerate() {
        if !(pair.kind() == CodeKind::Function && unsettled(report)) {
            continue;
        }
        let Some((class, _)) = report.new.qualname.rsplit_once('.') else { continue };
        let starts_otherwise = reports.iter().any(|other| {
            other.new.qualname.strip_prefix(class) == Some(".__init__") && differs_in_private_state_only(other)
        });
        // Who calls a constructor sees the other attributes.
        let shows_more = report.new.qualname.ends_with(".__init__") && !differs_in_private_state_only(report);
        if !(pair.keeps_state_otherwise || starts_otherwise) || shows_more {
            continue;
        }
        let whole = pairs.iter().zip(reports).find(|(pair, report)| {
            pair.kind() == CodeKind::Class
                && report.new.qualname == class
                && matches!(report.verdict, Verdict::LikelyPreserving | Verdict::Changing)
        });
        if whole.is_some() {
            decided.push((position, vec![class.to_string()]));
        }
    }
    // From the outside in, since a helper's callers may be helpers themselves.
    loop {
        let before = decided.len();
        for (position, (pair, report)) in pairs.iter().zip(reports).enumerate() {
            if unsettled(report)
                && !decided.iter().any(|(known, _)| *known == position)
                && let Some(others) = settled_by_callers(sources, pairs, reports, pair, &decided)
                    .or_else(|| settled_by_uses(sources, reports, (pair, report), &decided))
            {
                decided.push((position, others));
            }
        }
        if decided.len() == before {
            return decided;
        }
    }
}

/// Whether the witness of a constructor shows only other values in private attributes.
fn differs_in_private_state_only(report: &PairReport) -> bool {
    let (Verdict::Changing, Some(witness)) = (report.verdict, &report.witness) else { return false };
    let only_arguments = report.evidence.iter().all(|evidence| evidence.channel == Channel::Arguments);
    let attributes = PerSide::new(&witness.old, &witness.new).map(|behavior| {
        let mut all = Vec::new();
        for (slot, value) in &behavior.arguments {
            match value {
                Observed::Injected { assigned, .. } => {
                    all.extend(assigned.iter().map(|(name, value)| (Changed::Attribute(name), value)));
                }
                _ => all.push((Changed::Whole(slot), value)),
            }
        }
        all
    });
    let differs = |side: Side| {
        let others = &attributes[side.other()];
        attributes[side].iter().filter(|entry| !others.contains(entry)).map(|(changed, _)| *changed)
    };
    let differing: Vec<Changed<'_>> = Side::BOTH.into_iter().flat_map(differs).collect();
    let is_private = |changed: &Changed<'_>| match changed {
        Changed::Attribute(name) => name.starts_with("._") && !name.ends_with("__"),
        Changed::Whole(_) => false,
    };
    only_arguments && !differing.is_empty() && differing.iter().all(is_private)
}

/// What a version changed: a part of an injected object, `.name` or `[key]`, or something as a whole.
#[derive(Clone, Copy, PartialEq)]
enum Changed<'a> {
    Attribute(&'a str),
    Whole(&'a Slot),
}

/// The callers that decide for a private function.
fn settled_by_callers(
    sources: &Sources,
    pairs: &[Pair],
    reports: &[PairReport],
    helper: &Pair,
    decided: &[(usize, Vec<String>)],
) -> Option<Vec<String>> {
    let PerSide { old, new } = &helper.shown;
    if helper.kind() != CodeKind::Function || !is_private(&new.qualname) {
        return None;
    }
    let callers: BTreeSet<String> = sources
        .versions
        .old
        .index
        .users(&old.qualname)
        .into_iter()
        .chain(sources.versions.new.index.users(&new.qualname))
        .collect();
    let mut ran = false;
    let mut changed_together = old.parameters.len() != new.parameters.len() || old.qualname != new.qualname;
    for caller in &callers {
        let found = reports.iter().position(|other| other.old.qualname == *caller || other.new.qualname == *caller);
        let Some(found) = found else {
            // A function that only one text has stands for nothing that others see.
            if sources.indices().all(|index| index.defines(caller)) {
                return None;
            }
            changed_together = true;
            continue;
        };
        let verdict = reports[found].verdict;
        ran |= verdict == Verdict::LikelyPreserving;
        changed_together |= !pairs[found].is_unchanged_itself();
        let fine = matches!(verdict, Verdict::LikelyPreserving | Verdict::Identical);
        if !fine && !decided.iter().any(|(known, _)| *known == found) {
            return None;
        }
    }
    (ran && changed_together).then(|| callers.into_iter().collect())
}

/// The changed functions that decide for one that only uses them, or for the statements of a text. Each of them behaves
/// as before, and so does what holds them, whatever it does with them. What only one text has counts as a part of its
/// users.
fn settled_by_uses(
    sources: &Sources,
    reports: &[PairReport],
    (pair, report): (&Pair, &PairReport),
    decided: &[(usize, Vec<String>)],
) -> Option<Vec<String>> {
    let PerSide { old, new } = &pair.shown;
    let is_snippet = pair.kind() == CodeKind::Snippet;
    let uses_only = match is_snippet {
        true => !own_statements_differ(pair.functions().as_ref()),
        false => pair.is_unchanged_itself() && old.decorators == new.decorators,
    };
    // What else its own executions tell, they tell of the change.
    if report.verdict != Verdict::Inconclusive || !report.stays_away || report.bound.is_some() || !uses_only {
        return None;
    }
    // A property's functions have one name.
    let of = |name: &str| -> Vec<usize> {
        let is = |qualname: &str| twincell_syntax::entity(qualname) == name;
        let found = reports.iter().enumerate();
        found.filter(|(_, one)| is(&one.old.qualname) || is(&one.new.qualname)).map(|(position, _)| position).collect()
    };
    let behaves_as_before = |name: &str| {
        let own = of(name);
        let fine = |position: &usize| {
            let verdict = reports[*position].verdict;
            matches!(verdict, Verdict::LikelyPreserving | Verdict::Identical)
                || decided.iter().any(|(known, _)| known == position)
        };
        !own.is_empty() && own.iter().all(fine)
    };
    let in_one_text = |name: &str| sources.indices().filter(|index| index.defines(name)).count() == 1;
    let is_part = |name: &str| {
        let users = sources.indices().flat_map(|index| index.users(name)).collect::<BTreeSet<String>>();
        in_one_text(name) && users.iter().all(|user| behaves_as_before(user) || in_one_text(user))
    };
    // The text of a snippet holds all definitions.
    let changed: Vec<&String> =
        if is_snippet { sources.changed.iter().collect() } else { pair.changed_names.iter().collect() };
    let (judged, parts): (Vec<&String>, Vec<&String>) = changed.into_iter().partition(|name| !of(name).is_empty());
    let all = judged.iter().all(|name| behaves_as_before(name)) && parts.iter().all(|name| is_part(name));
    (all && !judged.is_empty()).then(|| judged.into_iter().cloned().collect())
}

/// Whether a name is not meant for others: it has a leading underscore and is not one of Python's protocols.
fn is_private(qualname: &str) -> bool {
    qualname.split('.').any(|part| part.starts_with('_') && !part.ends_with("__"))
}
