//! What the calls of a callee, or the consumer of a generator, find in a place, as assertions: with stand-ins, which look
//! when they are called, and with mocks.

use std::collections::BTreeSet;

use twincell_behavior::{Effect, effect, looks, receiver};
use twincell_engine::observed::{Behavior, Call, Elision, Observed, Reached, State};
use twincell_syntax::PerSide;
use twincell_syntax::python::is_identifier;
use twincell_values::path::AccessPath;

use super::objects::Objects;
use super::plan::Checks;
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
    checks: &mut Checks,
    moments: &Moments<'_>,
    is_parameter: &dyn Fn(&str) -> bool,
) -> Result<(), Refusal> {
    let answer = |path: &str| format!("answer({})", python::string(&python::masked(path)));
    let (look, as_it_was) = match moments.place {
        Reached::Assigned { object, place } if moments.has_deletion() => {
            let name = place.strip_prefix('.').ok_or(Refusal::UnsayableAssignment)?;
            let look = format!("{} in {}._deleted_", python::string(name), answer(object));
            let expected = moments.found.old.iter().map(|value| value.is_some_and(is_deleted));
            let expected: Vec<String> =
                expected.map(|deleted| if deleted { "True" } else { "False" }.to_owned()).collect();
            look_each_time(checks, moments.callee, &look, &expected);
            return Ok(());
        }
        Reached::Assigned { object, place } => {
            let place = python::string(&python::masked(place));
            (format!("assigned({}).get({place})", answer(object)), "None")
        }
        Reached::Container(path) if is_parameter(path) => {
            checks.watched.push(path.clone());
            (format!("text({path})"), "before")
        }
        Reached::Container(path) => (format!("text({})", answer(path)), "before"),
        Reached::Global(name) => (format!("text(names.get({}))", python::string(name)), "before"),
        Reached::Actions(object) => {
            let names = moments.actions(object).into_iter().map(python::masked);
            let names: Vec<String> = names.map(|name| python::string(&format!("{name}("))).collect();
            let comma = if names.len() == 1 { "," } else { "" };
            let look = format!("sum(call.startswith(({}{comma})) for call in calls)", names.join(", "));
            look_each_time(checks, moments.callee, &look, &moments.counts()?);
            return Ok(());
        }
        Reached::File(argument) => (format!("pathlib.Path(given[{argument}]).read_bytes()"), "None"),
        Reached::Rest => return Err(Refusal::CallNotObservedInFull),
    };
    let expected = moments.found.old.iter().map(|value| match value {
        None => Some(as_it_was.to_string()),
        Some(value) if matches!(moments.place, Reached::File(_)) => python::plain(value),
        Some(value) => python::text(value).map(|text| python::string(&text)),
    });
    let expected: Vec<String> = expected.collect::<Option<_>>().ok_or(Refusal::NotObservedInFull)?;
    look_each_time(checks, moments.callee, &look, &expected);
    if as_it_was == "before" && moments.found.old.contains(&None) {
        checks.before.push(format!("before = {look}"));
    }
    Ok(())
}

fn look_each_time(checks: &mut Checks, callee: Option<&str>, look: &str, expected: &[String]) {
    match callee {
        Some(callee) => {
            let callee = python::string(&python::masked(callee));
            checks.before.push(format!("watched[{callee}] = lambda *given: {look}"));
        }
        None => checks.each = Some(format!("seen.append({look})")),
    }
    checks.after.push(format!("assert seen == [{}]", expected.join(", ")));
}

/// Lines of a test with mocks: before the call, and after it. `equals` compares an expression with a value.
pub(super) fn mocked(
    moments: &Moments<'_>,
    objects: &Objects,
    equals: &dyn Fn(&str, &Observed) -> Result<String, Refusal>,
) -> Result<(Vec<String>, String), Refusal> {
    let Some(callee) = moments.callee else { return Err(Refusal::NeedsMoreThanACall) };
    let own = moments.behaviors.old.calls.iter().filter(|call| call.callee == callee);
    if own.clone().any(|call| !call.discarded) {
        return Err(Refusal::CallsBeyondAMock);
    }
    let callee = objects.reach(callee).ok_or(Refusal::OutOfReach)?;
    let (look, expected) = match moments.place {
        Reached::Actions(object) => {
            let [name] = moments.actions(object)[..] else { return Err(Refusal::CallsBeyondAMock) };
            (format!("{}.call_count", objects.reach(name).ok_or(Refusal::OutOfReach)?), moments.counts()?)
        }
        place => {
            let name = match place {
                Reached::Assigned { object, place } => {
                    format!("{}{place}", objects.reach(object).ok_or(Refusal::OutOfReach)?)
                }
                Reached::Container(path) => objects.reach(path).ok_or(Refusal::OutOfReach)?,
                Reached::Global(name) if is_identifier(name) => name.clone(),
                _ => return Err(Refusal::OutOfReach),
            };
            let telling = moments.telling().ok_or(Refusal::CallsBeyondAMock)?;
            let truths = moments
                .found
                .old
                .iter()
                .map(|value| if *value == Some(telling) { "True".to_string() } else { "False".to_string() });
            (equals(&name, telling)?, truths.collect())
        }
    };
    let before = vec!["seen = []".to_string(), format!("{callee}.side_effect = lambda *_, **__: seen.append({look})")];
    Ok((before, format!("assert seen == [{}]", expected.join(", "))))
}
