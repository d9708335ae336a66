//! What the calls of a callee, or the consumer of a generator, find in a place, as checks: with stand-ins, which look when
//! they are called, and with mocks.

use std::collections::BTreeSet;

use twincell_behavior::{Effect, effect, looks, receiver};
use twincell_engine::observed::{Behavior, Call, Elision, Observed, Reached, State};
use twincell_syntax::PerSide;
use twincell_syntax::python::is_identifier;
use twincell_values::path::AccessPath;

use super::equality::Equality;
use super::objects::Objects;
use super::plan::{Check, Moment, Operand, TestPlan};
use super::python;
use super::refusal::Refusal;

/// What enters a context, which is no action that a state names.
const ENTERING: [&str; 3] = ["__enter__", "__aenter__", "acquire"];

/// All calls of one callee, or all items of a generator.
pub(super) struct Moments<'a> {
    callee: Option<&'a str>,
    place: &'a Reached,
    /// What is in the place each time. `None` where it is as it was.
    found: PerSide<Vec<Option<&'a Observed>>>,
    behaviors: PerSide<&'a Behavior>,
}

impl<'a> Moments<'a> {
    pub(super) fn of(behaviors: PerSide<&'a Behavior>, callee: &'a str, place: &'a Reached) -> Result<Self, Refusal> {
        let calls = |behavior: &'a Behavior| behavior.calls.iter().filter(|call| call.callee == callee);
        if behaviors
            .into_iter()
            .any(|behavior| calls(behavior).any(|call| effect(call) == Effect::Asks && !looks(call)))
        {
            // What a question finds was not observed.
            return Err(Refusal::CallNotObservedInFull);
        }
        let value = |call: &'a Call| call.state.iter().find(|(own, _)| own == place).map(|(_, value)| value);
        let found = behaviors.map(|behavior| calls(behavior).map(value).collect());
        Ok(Self { callee: Some(callee), place, found, behaviors })
    }

    /// What a consumer finds.
    pub(super) fn of_items(behaviors: PerSide<&'a Behavior>, place: &'a Reached) -> Self {
        let value = |state: &'a State| state.iter().find(|(own, _)| own == place).map(|(_, value)| value);
        let found = behaviors.map(|behavior| behavior.yields.iter().map(value).collect());
        Self { callee: None, place, found, behaviors }
    }

    /// The actions on an object, by their callees.
    fn actions(&self, object: &str) -> Vec<&'a str> {
        let calls = self.behaviors.into_iter().flat_map(|behavior| &behavior.calls);
        let acting = calls.filter(|call| receiver(call) == Some(object.into()) && effect(call) != Effect::Asks);
        let names: BTreeSet<&str> = acting.map(|call| call.callee.as_str()).collect();
        names.into_iter().filter(|name| !ENTERING.contains(&AccessPath::new(name).last_name())).collect()
    }

    /// How many actions there were by then with the old version.
    fn counts(&self) -> Result<Vec<String>, Refusal> {
        let count = |value: &Option<&Observed>| match value {
            None => Some("0".to_string()),
            Some(Observed::List(names)) => Some(names.len().to_string()),
            Some(_) => None,
        };
        self.found.old.iter().map(count).collect::<Option<_>>().ok_or(Refusal::CallNotObservedInFull)
    }

    /// Whether the place is deleted at some time.
    fn has_deletion(&self) -> bool {
        self.found.iter().flatten().any(|value| value.is_some_and(is_deleted))
    }

    /// A value that some call finds and that distinguishes the versions: the first that differs.
    fn telling(&self) -> Option<&'a Observed> {
        let PerSide { old, new } = &self.found;
        let differing = old.iter().zip(new).find(|(a, b)| a != b);
        differing.and_then(|(a, b)| (*a).or(*b))
    }
}

fn is_deleted(value: &Observed) -> bool {
    matches!(value, Observed::Elided { reason: Elision::Deleted })
}

/// Looks whenever the callee, a stand-in, is called, or an item is given.
pub(super) fn watched(
    plan: &mut TestPlan,
    moments: &Moments<'_>,
    is_parameter: &dyn Fn(&str) -> bool,
) -> Result<(), Refusal> {
    let when = moments.callee.map_or(Moment::Item, |callee| Moment::Call(callee.to_owned()));
    let answer = |path: &str| Operand::Answer(path.to_owned());
    let (found, as_it_was) = match moments.place {
        Reached::Assigned { object, place } if moments.has_deletion() => {
            let name = place.strip_prefix('.').ok_or(Refusal::UnsayableAssignment)?;
            let found = Operand::Contains(python::string(name), Box::new(answer(object).step("._deleted_")));
            let expected = moments.found.old.iter().map(|value| value.is_some_and(is_deleted));
            let expected = expected.map(truth).collect();
            plan.checks.push(Check::EachTime { when, found, expected, starts_equal: false });
            return Ok(());
        }
        Reached::Assigned { object, place } => (Operand::assigned(answer(object), place), "None"),
        Reached::Container(path) if is_parameter(path) => {
            plan.watched.insert(path.clone());
            (Operand::Named(path.clone()).applied("text"), "before")
        }
        Reached::Container(path) => (answer(path).applied("text"), "before"),
        Reached::Global(name) => (Operand::Global(name.clone()).applied("text"), "before"),
        Reached::Actions(object) => {
            let found = Operand::CallCount(moments.actions(object).into_iter().map(python::masked).collect());
            plan.checks.push(Check::EachTime { when, found, expected: moments.counts()?, starts_equal: false });
            return Ok(());
        }
        Reached::File(argument) => (Operand::File(*argument), "None"),
        Reached::Rest => return Err(Refusal::CallNotObservedInFull),
    };
    let expected = moments.found.old.iter().map(|value| match value {
        None => Some(as_it_was.to_string()),
        Some(value) if matches!(moments.place, Reached::File(_)) => python::plain(value),
        Some(value) => python::text(value).map(|text| python::string(&text)),
    });
    let expected = expected.collect::<Option<_>>().ok_or(Refusal::NotObservedInFull)?;
    let starts_equal = as_it_was == "before" && moments.found.old.contains(&None);
    plan.checks.push(Check::EachTime { when, found, expected, starts_equal });
    Ok(())
}

fn truth(value: bool) -> String {
    if value { "True" } else { "False" }.to_owned()
}

/// What a test with mocks checks. `equality` says what must hold of a value.
pub(super) fn mocked(
    moments: &Moments<'_>,
    objects: &Objects,
    equality: &dyn Fn(&Observed) -> Result<Equality, Refusal>,
) -> Result<Check, Refusal> {
    let Some(callee) = moments.callee else { return Err(Refusal::NeedsMoreThanACall) };
    let own = moments.behaviors.old.calls.iter().filter(|call| call.callee == callee);
    if own.clone().any(|call| !call.discarded) {
        return Err(Refusal::CallsBeyondAMock);
    }
    let reach = |path: &str| objects.reach(path).map(Operand::Named).ok_or(Refusal::OutOfReach);
    let when = Moment::MockCall(reach(callee)?);
    let (found, expected) = match moments.place {
        Reached::Actions(object) => {
            let [name] = moments.actions(object)[..] else { return Err(Refusal::CallsBeyondAMock) };
            (reach(name)?.step(".call_count"), moments.counts()?)
        }
        place => {
            let value = match place {
                Reached::Assigned { object, place } => reach(object)?.step(place),
                Reached::Container(path) => reach(path)?,
                Reached::Global(name) if is_identifier(name) => Operand::Named(name.clone()),
                _ => return Err(Refusal::OutOfReach),
            };
            let telling = moments.telling().ok_or(Refusal::CallsBeyondAMock)?;
            let truths = moments.found.old.iter().map(|value| truth(*value == Some(telling)));
            (Operand::Holds(Box::new(value), equality(telling)?), truths.collect())
        }
    };
    Ok(Check::EachTime { when, found, expected, starts_equal: false })
}
