//! The witness that a report shows: as small as it gets, with its decisive values and a reproducer.

use std::cell::Cell;

use twincell_engine::Loaded;
use twincell_engine::observed::Behavior;
use twincell_engine::protocol::ExecutionRecord;
use twincell_values::value::{Decision, Recipe};

use crate::Continue;
use crate::campaign::{self, DECISIVE_BUDGET, Decisive, Metered, Plan, TestCase, Values, Variations};
use crate::report::Reproducer;
use crate::verdict;

/// The number of executions spent on shrinking a witness.
const SHRINK_BUDGET: u32 = 100;
/// The number of steps that all of this may take, a few seconds at most. It ends with what it has.
const STEPS: u64 = 1_000_000;
/// The number of executions spent on finding another witness if the reproducer of the smallest does not hold.
const NATURAL_BUDGET: u32 = 160;

/// Makes the reproducer of a witness, and of further executions of which all else is the same but one value.
pub(super) type Write<'a> = &'a dyn Fn(&TestCase, &[ExecutionRecord], &mut Loaded<'_>) -> Reproducer;

/// A witness with all that is reported of it.
pub(super) struct ReportedWitness {
    pub case: TestCase,
    pub decisive: Vec<Decisive>,
    /// What other values of its inputs show.
    pub variations: Variations,
    pub reproducer: Reproducer,
}

impl ReportedWitness {
    /// A witness as it was found.
    pub fn as_found(found: &TestCase) -> Self {
        Self {
            case: found.clone(),
            decisive: vec![],
            variations: Variations::default(),
            reproducer: Reproducer::default(),
        }
    }
}

/// The witness to show, its decisive values and its reproducer: the smallest witness of a difference that was found, or
/// another one if only a reproducer of that one holds.
pub(super) fn choose_reported(
    found: &TestCase,
    loaded: &mut Loaded<'_>,
    plan: &Plan,
    literals: &[Recipe],
    write: Write<'_>,
    go_on: &mut dyn FnMut() -> Continue,
) -> ReportedWitness {
    let steps = Cell::new(0);
    let mut go_on = || if steps.get() > STEPS { Continue::Stop } else { go_on() };
    let mut chosen = chosen(&steps, found, loaded, plan, literals, write, &mut go_on);
    // Where each execution has its own process, this costs more than it tells.
    if loaded.loaded_anew() == 0 {
        let ReportedWitness { case, decisive, .. } = &chosen;
        let mut metered = Metered::new(loaded, &steps);
        let within = &mut || steps.get() <= STEPS;
        chosen.variations =
            campaign::variations(&mut metered, case, decisive, literals, &plan.rules, within).unwrap_or_default();
        let further = &chosen.variations.further;
        if chosen.reproducer.holds == Some(true) && !further.is_empty() {
            let of_all = write(&chosen.case, further, loaded);
            if of_all.holds == Some(true) {
                chosen.reproducer = of_all;
            }
        }
    }
    chosen
}

/// As [`choose_reported`], counting the steps, without other values.
fn chosen(
    steps: &Cell<u64>,
    found: &TestCase,
    loaded: &mut Loaded<'_>,
    plan: &Plan,
    literals: &[Recipe],
    write: Write<'_>,
    go_on: &mut dyn FnMut() -> Continue,
) -> ReportedWitness {
    let (case, decisive) = smallest_within(steps, loaded, found, plan, go_on);
    let reproducer = write(&case, &[], loaded);
    let ends = !case.record.behaviors.iter().any(Behavior::is_stopped);
    // Another one would have the same object, which no test can have.
    let is_written =
        !case.record.choices.iter().any(|choice| matches!(&choice.decision, Decision::Value(Recipe::Given(_))));
    if ends && is_written && reproducer.may_hold_of_another() {
        let mut holding = |other: TestCase, loaded: &mut Loaded<'_>| {
            let reproducer = write(&other, &[], loaded);
            let decisive = (reproducer.holds == Some(true)).then(|| decisive_values(&other, loaded, plan))?;
            is_as_likely(&decisive, found).then_some(ReportedWitness {
                case: other,
                decisive,
                variations: Variations::default(),
                reproducer,
            })
        };
        let another = another(steps, loaded, [&case, found], plan, literals, &mut holding, go_on);
        if let Some(reported) = another.or_else(|| holding(found.clone(), loaded)) {
            return reported;
        }
    }
    ReportedWitness { case, decisive, variations: Variations::default(), reproducer }
}

/// A shrunk witness and its decisive values. A confirmed witness stays one even if it cannot be shrunk.
pub(super) fn smallest(
    loaded: &mut Loaded<'_>,
    found: &TestCase,
    plan: &Plan,
    go_on: &mut dyn FnMut() -> Continue,
) -> (TestCase, Vec<Decisive>) {
    let steps = Cell::new(0);
    let mut go_on = || if steps.get() > STEPS { Continue::Stop } else { go_on() };
    smallest_within(&steps, loaded, found, plan, &mut go_on)
}

/// As [`smallest`], counting the steps.
fn smallest_within(
    steps: &Cell<u64>,
    loaded: &mut Loaded<'_>,
    found: &TestCase,
    plan: &Plan,
    go_on: &mut dyn FnMut() -> Continue,
) -> (TestCase, Vec<Decisive>) {
    for values in [Values::Plain, Values::Usual, Values::Drawn] {
        let mut metered = Metered::new(loaded, steps);
        if let Ok(shrunk) = campaign::shrink(&mut metered, found, &plan.rules, values, SHRINK_BUDGET, go_on) {
            let decisive = decisive_values(&shrunk, loaded, plan);
            // One that can be is better than a likely one that cannot.
            let is_more_real = shrunk.record.invented() < found.record.invented();
            let still_counts = shrunk.score_at(campaign::joint_probability(&decisive)) >= verdict::CHANGING;
            if is_as_likely(&decisive, found) || is_more_real && still_counts {
                return (shrunk, decisive);
            }
        }
    }
    let decisive = decisive_values(found, loaded, plan);
    (found.clone(), decisive)
}

/// A likely difference does not become an edge case by shrinking, or for the sake of its test.
fn is_as_likely(decisive: &[Decisive], found: &TestCase) -> bool {
    campaign::joint_probability(decisive) >= verdict::EDGE_CASE || found.probability < verdict::EDGE_CASE
}

/// Another witness of the same difference that passes: one without synthesized results near the first start, or near the
/// second where the first has none. Each is tried before the next is made smaller, which takes the longest.
fn another(
    steps: &Cell<u64>,
    loaded: &mut Loaded<'_>,
    starts: [&TestCase; 2],
    plan: &Plan,
    literals: &[Recipe],
    passes: &mut dyn FnMut(TestCase, &mut Loaded<'_>) -> Option<ReportedWitness>,
    go_on: &mut dyn FnMut() -> Continue,
) -> Option<ReportedWitness> {
    for start in starts {
        let mut metered = Metered::new(loaded, steps);
        let natural = campaign::natural_witnesses(&mut metered, start, &plan.rules, literals, NATURAL_BUDGET, go_on);
        let natural = natural.unwrap_or_default();
        let has_some = !natural.is_empty();
        for other in natural {
            let mut metered = Metered::new(loaded, steps);
            let shrunk = campaign::shrink(&mut metered, &other, &plan.rules, Values::Plain, SHRINK_BUDGET, go_on);
            for other in shrunk.into_iter().chain([other]) {
                if let Some(reported) = passes(other, loaded) {
                    return Some(reported);
                }
            }
        }
        if has_some {
            break;
        }
    }
    None
}

/// The decisive values of a witness.
pub(super) fn decisive_values(witness: &TestCase, loaded: &mut Loaded<'_>, plan: &Plan) -> Vec<Decisive> {
    campaign::decisive(loaded, witness, &plan.rules, plan.raise_probability, DECISIVE_BUDGET).unwrap_or_default()
}
