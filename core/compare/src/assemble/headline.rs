//! The headline of a change is its example: the call on the values that show it, and what each version makes of it, as in
//! `f(x=0): 3 -> 0`.

use twincell_behavior::{
    Channel, Difference, EvidencePlace, Rules, Shown, afterwards, align_calls, display_call, display_observed,
    display_outcome_in_present, display_parts, display_shown, display_slot, innermost, is_argument, is_inserted,
    short_path, short_text,
};
use twincell_engine::observed::{Behavior, Call, Observed, Outcome, Slot};
use twincell_engine::protocol::Injection;
use twincell_syntax::{CodeKind, PerSide, Side};
use twincell_values::path::{AccessPath, Question};
use twincell_values::value::{Choice, Decision, Recipe};

use super::called::subject;
use super::place::{Sites, as_written};
use super::{NAMED_VALUES, injection_of};
use crate::assemble::{CampaignSummary, PairContext, members_used};
use crate::campaign::TestCase;
use crate::example::Example;
use crate::report::{Contrast, Evidence, Headline};

/// The maximum number of characters of what a version shows, and the number up to which a value is read at a glance.
const SHOWN: usize = 80;
const READABLE: usize = 40;
/// The number of characters shown before the first difference of two long texts.
const BEFORE: usize = 24;
/// The number of characters that are shown at least from the first difference on.
const DIFFERENT: usize = 12;
/// The number of characters shown of the end of a long text.
const END: usize = 32;
/// The maximum number of values that are named since they are needed besides the decisive ones.
const BESIDES: usize = 2;
/// The name of what a function returns.
const RESULT: &str = "result";

/// The example of a difference.
pub(super) fn headline(
    context: &PairContext<'_>,
    summary: &CampaignSummary<'_>,
    case: &TestCase,
    evidence: &[Evidence],
) -> Headline {
    let example = case.example().filter(|one| is_whole(context, case, one));
    let example = example.map_or_else(String::new, |one| format!(" on {}", short_text(&one.source.to_string())));
    let uses = members_used(context, case);
    let first = case.differences.first();
    let asked = first.filter(|one| one.channel != Channel::Calls).and_then(|_| other_calls(case, summary.rules));
    let contrast = match (first, &asked) {
        (_, Some(calls)) => contrast_of("calls", calls.as_ref().map(display_call).as_ref().map(|text| &**text)),
        // The subject has the member already.
        (Some(difference @ Difference { place: EvidencePlace::Left { slot: Slot::Use { .. } }, .. }), _)
            if uses.len() == 1 =>
        {
            contrast_of("", difference.sides().map(display_shown))
        }
        (Some(difference), _) => {
            // What a class gives is its object.
            let result = if context.functions.new.kind == CodeKind::Class { "self" } else { RESULT };
            contrast(summary.sites, case, difference, summary.rules, result)
        }
        (None, _) => Contrast::default(),
    };
    let callees: Vec<&str> = asked.iter().flat_map(PerSide::iter).map(|call| call.callee.as_str()).collect();
    let outcome = first.is_some_and(|one| matches!(one.place, EvidencePlace::ReturnValue | EvidencePlace::Exception));
    let told: Vec<&str> = contrast.shown.iter().flatten().filter(|_| outcome).map(|s| &**s).collect();
    let values = named_values(context, case, &that_matter(summary), &told);
    // Members are told as uses, what a call gave that differs says nothing beside the call, and the exception says what
    // failed.
    let is_a_use = |choice: &&Choice| !uses.is_empty() && Question::is_about_members(&choice.path);
    let is_given = |choice: &&Choice| callees.iter().any(|callee| gave(callee, &choice.path));
    let values: Vec<&Choice> = values
        .into_iter()
        .filter(|one| !is_a_use(one) && !is_given(one) && !Question::lets_fail(&one.path, &one.decision))
        .collect();
    let (call, conditions) = subject(context, summary.sites, case, &values, &uses);
    let is_of_name = matches!(first, Some(Difference { place: EvidencePlace::Left { slot: Slot::Name(_) }, .. }));
    // What statements bind is what they are about.
    let says_enough = context.functions.new.kind == CodeKind::Snippet && is_of_name && asked.is_none();
    let call = if says_enough { example.trim_start().to_owned() } else { format!("{call}{example}") };
    let unlikely = evidence.iter().any(|one| one.edge_case);
    Headline { call, contrast, conditions, unlikely }
}

/// Whether an example has all arguments. Objects that nobody wrote as data are drawn.
fn is_whole(context: &PairContext<'_>, case: &TestCase, example: &Example) -> bool {
    let is_drawn = |name: &String| case.record.choices.iter().any(|choice| choice.path == *name);
    let mut names = context.functions.new.parameters.iter().map(|parameter| &parameter.name);
    names.all(|name| !is_drawn(name) || example.fixed.contains_key(name))
}

/// Calls of one function with other arguments, which got results of their own: what differs otherwise comes from them.
fn other_calls(case: &TestCase, rules: &Rules) -> Option<PerSide<Call>> {
    let [old, new] = case.record.behaviors.as_slice() else { return None };
    let drawn_apart = |callee: &str| {
        let is_new = |one: &Injection| Side::numbered(one.version) == Side::New && gave(callee, one.path.as_str());
        case.record.injections.iter().any(is_new)
    };
    let rows = align_calls(&old.calls, &new.calls, rules);
    let with_others = rows.iter().find_map(|row| match (&row.old, &row.new) {
        (Some(old), Some(new)) if !row.equal && old.callee == new.callee && drawn_apart(new.callee.as_str()) => {
            Some(PerSide::new(old.clone(), new.clone()))
        }
        _ => None,
    });
    let returns = case.differences.first().is_some_and(|one| one.place == EvidencePlace::ReturnValue);
    with_others.or_else(|| {
        let old_alone = rows.iter().filter_map(|row| row.old.as_ref().filter(|_| row.new.is_none()));
        let new_alone = rows.iter().filter_map(|row| row.new.as_ref().filter(|_| row.old.is_none()));
        let old = returned_call(case, old, Side::Old, old_alone)?;
        let new = returned_call(case, new, Side::New, new_alone)?;
        returns.then(|| PerSide::new(old.clone(), new.clone()))
    })
}

/// The call whose drawn result a version returns.
fn returned_call<'a>(
    case: &TestCase,
    behavior: &Behavior,
    side: Side,
    mut calls: impl Iterator<Item = &'a Call>,
) -> Option<&'a Call> {
    let Outcome::Returned(value) = &behavior.outcome else { return None };
    let shown = display_observed(value);
    let is_returned =
        |one: &&Injection| Side::numbered(one.version) == side && says_much(&one.value) && one.value.display() == shown;
    let returned: Vec<&Injection> = case.record.injections.iter().filter(is_returned).collect();
    calls.find(|call| returned.iter().any(|one| gave(call.callee.as_str(), one.path.as_str())))
}

/// Whether a path is a result of this function.
fn gave(callee: &str, path: &str) -> bool {
    AccessPath::new(path).callee().is_some_and(|of| of.as_str() == callee)
}

/// What each version shows at one place.
pub(super) fn difference(case: &TestCase, difference: &Difference, rules: &Rules) -> Contrast {
    contrast(PerSide::of(|_| &[][..]), case, difference, rules, RESULT)
}

/// What each version shows at one place. Of long values, the part that differs. `result` names what is returned.
fn contrast(sites: Sites<'_>, case: &TestCase, difference: &Difference, rules: &Rules, result: &str) -> Contrast {
    let shown = difference.sides().map(display_shown);
    let is_long = shown.iter().any(|text| text.chars().count() > READABLE);
    let part = Shared::of(case, difference, result)
        .and_then(|shared| shared.assigned().or_else(|| if is_long { shared.innermost(rules) } else { None }));
    if let Some((place, parts)) = part {
        return contrast_of(place, parts.as_ref().map(String::as_str));
    }
    let with = |name: &str| contrast_of(name, shown);
    if matches!(difference.place, EvidencePlace::ReturnValue | EvidencePlace::Exception)
        && let Some(ended) = ended_use(case)
    {
        return ended;
    }
    match &difference.place {
        place @ (EvidencePlace::ReturnValue | EvidencePlace::Exception) => {
            let outcome = |side, is_brief| match case.behavior(side).map(|behavior| &behavior.outcome) {
                Some(raised @ Outcome::Raised { .. }) if is_brief => {
                    display_outcome_in_present(&with_brief_attribute(case, raised))
                }
                Some(raised @ Outcome::Raised { .. }) => display_outcome_in_present(raised),
                Some(Outcome::Returned(value)) if *place == EvidencePlace::Exception => beside_nothing(value),
                _ => shown[side].to_owned(),
            };
            let outcomes = different(|is_brief| PerSide::of(|side| outcome(side, is_brief)));
            contrast_of("", outcomes.as_ref().map(String::as_str))
        }
        EvidencePlace::Output { stream } => with(stream.name()),
        EvidencePlace::Left { .. } if matches!(difference.old, Shown::InState { .. }) => with("gives"),
        EvidencePlace::Left { slot: Slot::Use { member, .. } } => with(member),
        EvidencePlace::Left { slot: Slot::Same { place, other } } => {
            let is = difference.sides().map(|shown| if *shown == Shown::Same { "True" } else { "False" });
            contrast_of(format!("{} is {}:", short_path(place), short_path(other)), is)
        }
        EvidencePlace::Left { slot: Slot::Name(name) } => with(&format!("{}:", short_text(name))),
        EvidencePlace::Left { slot } => with(&format!("{}{}", slot_name(slot), afterwards(slot))),
        EvidencePlace::Message { .. } => {
            let quoted = |shown: &Shown| match shown {
                Shown::Text(text) => format!("'{text}'"),
                nothing => display_shown(nothing).into(),
            };
            contrast_of("logs", difference.sides().map(quoted).as_ref().map(String::as_str))
        }
        EvidencePlace::Call { .. } => {
            let calls = different(|is_brief| {
                PerSide::of(|side| match made(case, side, shown[side]).filter(|_| is_brief) {
                    Some(call) => {
                        let call = as_written(sites, side, call);
                        display_call(&Call { callee: short_path(call.callee.as_str()).into(), ..call })
                    }
                    None => shown[side].to_owned(),
                })
            });
            let only = |side: Side| PerSide::of(|own| (own == side).then(|| calls[own].as_str()));
            match difference.sides() {
                PerSide { new: Shown::NoCall, .. } => one_sided("calls", only(Side::Old)),
                PerSide { old: Shown::NoCall, .. } => one_sided("calls", only(Side::New)),
                _ => contrast_of("calls", calls.as_ref().map(String::as_str)),
            }
        }
    }
}

/// Two texts with brief paths, or with whole ones if only these tell them apart.
fn different(texts: impl Fn(bool) -> PerSide<String>) -> PerSide<String> {
    let brief = texts(true);
    if brief.old == brief.new { texts(false) } else { brief }
}

/// The call of a version that is shown like this.
fn made<'a>(case: &'a TestCase, side: Side, shown: &str) -> Option<&'a Call> {
    case.behavior(side)?.calls.iter().find(|call| display_call(call) == shown)
}

/// The error, with the path of a missing attribute abridged.
fn with_brief_attribute(case: &TestCase, raised: &Outcome) -> Outcome {
    let mut raised = raised.clone();
    if let Outcome::Raised { message, .. } = &mut raised
        && case.record.choices.iter().any(
            |choice| matches!(Question::parse(&choice.path), Question::Attribute(path) if path.as_str() == message),
        )
    {
        *message = short_path(message);
    }
    raised
}

/// What the use of an object gives in one version, where the other one ends by it.
fn ended_use(case: &TestCase) -> Option<Contrast> {
    let [old, new] = case.record.behaviors.as_slice() else { return None };
    let (returned, raised) = match (&old.outcome, &new.outcome) {
        (Outcome::Returned(_), Outcome::Raised { .. }) => (Side::Old, Side::New),
        (Outcome::Raised { .. }, Outcome::Returned(_)) => (Side::New, Side::Old),
        _ => return None,
    };
    let uses = |side: Side| {
        let left = case.behavior(side).into_iter().flat_map(|behavior| &behavior.arguments);
        left.filter_map(|(slot, value)| match slot {
            Slot::Use { step, member } => Some((*step, member.as_str(), value)),
            _ => None,
        })
    };
    let is_missing = |step: u32| uses(raised).all(|(other, ..)| other != step);
    let (_, member, value) = uses(returned).filter(|(step, ..)| is_missing(*step)).min_by_key(|(step, ..)| *step)?;
    let place = if uses(returned).count() == 1 { "" } else { member };
    let outcome = |side: Side| match case.behavior(side).map(|behavior| &behavior.outcome) {
        Some(raised @ Outcome::Raised { .. }) => display_outcome_in_present(raised),
        // An exception that the code raises itself ends a use, and not the run.
        _ => match value {
            Observed::Exception { class, arguments } => match arguments.as_slice() {
                [Observed::Str(message)] if class != "KeyError" => format!("raises {class}: {message}"),
                _ => format!("raises {}", display_observed(value)),
            },
            _ => display_observed(value),
        },
    };
    Some(contrast_of(place, PerSide::of(outcome).as_ref().map(String::as_str)))
}

/// Two values of one place.
struct Shared<'a> {
    values: PerSide<&'a Observed>,
    /// What the place is called, and what stands behind a part of it.
    name: String,
    after: &'static str,
}

impl<'a> Shared<'a> {
    fn of(case: &'a TestCase, difference: &Difference, result: &str) -> Option<Self> {
        let returned = |side| match &case.behavior(side)?.outcome {
            Outcome::Returned(value) => Some(value),
            _ => None,
        };
        let slot_of = |slot| PerSide::of(|side| case.behavior(side)?.left(slot));
        let (values, name, after) = match &difference.place {
            EvidencePlace::ReturnValue => (PerSide::of(returned), result.to_owned(), ""),
            EvidencePlace::Left { slot: slot @ Slot::Name(name) } => (slot_of(slot), short_text(name), ":"),
            EvidencePlace::Left { slot } if is_argument(slot) => (slot_of(slot), slot_name(slot), afterwards(slot)),
            _ => return None,
        };
        Some(Self { values: PerSide::new(values.old?, values.new?), name, after })
    }

    /// What only one version assigned, with its place: `request.meta['retries'] afterwards`.
    fn assigned(&self) -> Option<(String, PerSide<String>)> {
        let (path, parts) = assigned(self.values.old, self.values.new)?;
        Some((self.placed(&path), parts))
    }

    /// The part that differs, with its place: `result['key'][2]`.
    fn innermost(&self, rules: &Rules) -> Option<(String, PerSide<String>)> {
        let (path, parts) = innermost(self.values.old, self.values.new, rules);
        let is_part = !path.is_empty() || is_inserted(parts.old, parts.new, rules);
        let parts = display_parts(parts.old, parts.new, rules);
        (is_part && parts.old != parts.new).then(|| (self.placed(&path), parts))
    }

    fn placed(&self, path: &str) -> String {
        format!("{}{path}{}", self.name, self.after)
    }
}

/// What only one version assigned to an injected object, if this is all that differs.
fn assigned(old: &Observed, new: &Observed) -> Option<(String, PerSide<String>)> {
    let (Observed::Injected { path: of_old, assigned: old }, Observed::Injected { path, assigned: new }) = (old, new)
    else {
        return None;
    };
    if of_old != path {
        return None;
    }
    let beyond = |some: &[(String, Observed)], others: &[(String, Observed)]| {
        let further = some.iter().filter(|one| !others.contains(one)).collect::<Vec<_>>();
        match further.as_slice() {
            [only] if others.len() + 1 == some.len() => Some((short_text(&only.0), display_observed(&only.1))),
            _ => None,
        }
    };
    let nothing = || "unchanged".to_owned();
    beyond(new, old)
        .map(|(place, value)| (place, PerSide::new(nothing(), value)))
        .or_else(|| beyond(old, new).map(|(place, value)| (place, PerSide::new(value, nothing()))))
}

/// The name of what is left behind.
fn slot_name(slot: &Slot) -> String {
    match slot {
        Slot::Argument(path) | Slot::Reordered(path) => short_path(path),
        other => display_slot(other).into(),
    }
}

/// A value that nothing of its kind stands beside: of a large object, the class is enough.
fn beside_nothing(value: &Observed) -> String {
    let whole = display_observed(value);
    match value {
        Observed::Object { class, .. } if whole.chars().count() > READABLE => format!("{class}(…)"),
        _ => whole,
    }
}

/// Two texts that differ, both from shortly before their first difference if they are long.
fn contrast_of(place: impl Into<String>, texts: PerSide<&str>) -> Contrast {
    let (place, PerSide { old, new }) = (place.into(), texts);
    if old == new {
        let place = format!("{place} {} in both, but not equal", short_text(old)).trim_start().to_owned();
        return Contrast { place, ..Contrast::default() };
    }
    let same = old.chars().zip(new.chars()).take_while(|(one, other)| one == other).count();
    let is_long = |text: &str| text.chars().count() > SHOWN;
    // The start stays where the difference begins in it.
    let from = if (is_long(old) || is_long(new)) && same + DIFFERENT > SHOWN - END { same - BEFORE } else { 0 };
    Contrast { place, shown: texts.map(|text| Some(if from > 0 { part_from(text, from) } else { shortened(text) })) }
}

/// What only one version shows.
fn one_sided(place: &str, texts: PerSide<Option<&str>>) -> Contrast {
    Contrast { place: place.to_owned(), shown: texts.map(|text| text.map(short_text)) }
}

/// The part of a text behind so many characters.
fn part_from(text: &str, from: usize) -> String {
    let mut rest = text.chars().skip(from);
    let part: String = rest.by_ref().take(SHOWN).collect();
    format!("…{part}{}", if rest.next().is_some() { "…" } else { "" })
}

/// A text without its middle if it is long: errors often say at their end what is wrong.
fn shortened(text: &str) -> String {
    let length = text.chars().count();
    if length <= SHOWN {
        return text.to_owned();
    }
    let start: String = text.chars().take(SHOWN - END).collect();
    let end: String = text.chars().skip(length - END).collect();
    format!("{start}…{end}")
}

/// The paths of the decisive values, with some of those that are needed besides. Where there are none, those whose replacement
/// takes the difference away most often.
fn that_matter<'a>(summary: &CampaignSummary<'a>) -> Vec<&'a str> {
    let decisive = summary.decisive.iter().map(|value| value.path.as_str());
    let besides = summary.variations.needed.iter().map(String::as_str).take(BESIDES);
    let needed: Vec<&str> = decisive.chain(besides).collect();
    if needed.is_empty() {
        let matter = summary.variations.weights.iter().filter(|one| one.gone > 0);
        return matter.take(NAMED_VALUES).map(|one| one.path.as_str()).collect();
    }
    needed
}

/// The decisive values of a witness, those that entered on changed lines first. Then values that a version returned as they
/// entered (`told` is what the headline shows), plain values that changed lines read, and real objects that were passed:
/// without them, `1 -> 2` does not say what 1 and 2 are.
fn named_values<'a>(
    context: &PairContext<'_>,
    case: &'a TestCase,
    decisive: &[&str],
    told: &[&str],
) -> Vec<&'a Choice> {
    let on_changed_line = |injection: &Injection| {
        let lines = &context.diff.lines[Side::numbered(injection.version)];
        injection.kind.is_none() || lines.contains(&injection.line)
    };
    let needed = |choice: &Choice| {
        matches!(choice.decision, Decision::Raise(_) | Decision::Fail) || decisive.contains(&&*choice.path)
    };
    let is_read = |choice: &Choice| {
        let reads = |injection: &Injection| injection.kind.is_some() && on_changed_line(injection);
        // What is read of a real object enters nowhere, so its parameter stands for it.
        let is_real =
            |recipe: &Recipe, injection: &Injection| matches!(recipe, Recipe::Made(_)) && injection.kind.is_none();
        match (&choice.decision, injection_of(case, choice)) {
            (Decision::Value(recipe), Some(injection)) => {
                !recipe.has_object() && (reads(injection) || is_real(recipe, injection))
            }
            _ => false,
        }
    };
    let returned: Vec<&Choice> = case.record.choices.iter().filter(|choice| is_one_of(case, choice, told)).collect();
    // Of several equal ones, nobody knows which it is.
    let is_told = |choice: &Choice| matches!(returned.as_slice(), [only] if only.path == choice.path);
    let mut values: Vec<&Choice> = (case.record.choices.iter())
        .filter(|choice| needed(choice) || is_told(choice) || is_read(choice))
        // What was replaced is noted by itself, and arguments of an earlier call are told where they are passed again.
        .filter(|choice| !matches!(Question::parse(&choice.path), Question::Injected(_) | Question::Again(_)))
        .collect();
    values.sort_by_key(|choice| {
        let raises = matches!(choice.decision, Decision::Raise(_) | Decision::Fail);
        let is_near = raises || injection_of(case, choice).is_some_and(on_changed_line);
        (!needed(choice), !is_told(choice), !is_near)
    });
    let most = values.iter().filter(|choice| needed(choice)).count().max(NAMED_VALUES);
    values.truncate(most);
    values
}

/// Whether a value that entered reads like one of these texts.
fn is_one_of(case: &TestCase, choice: &Choice, told: &[&str]) -> bool {
    let Decision::Value(recipe) = &choice.decision else { return false };
    says_much(recipe) && injection_of(case, choice).is_some() && told.contains(&recipe.display().as_str())
}

/// Whether a value is seldom another's by chance.
fn says_much(recipe: &Recipe) -> bool {
    !matches!(recipe, Recipe::None | Recipe::Bool(_))
}
