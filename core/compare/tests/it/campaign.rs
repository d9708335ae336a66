//! Campaigns over a stand-in for a worker: what is repeated, when it ends, and what is said of it.

use std::cell::Cell;
use std::sync::Arc;

use twincell_behavior::Rules;
use twincell_compare::campaign::{self, Campaign, Execute, Plan, Techniques, Values};
use twincell_compare::report::{Reason, Support, Usable};
use twincell_compare::verdict::Verdict;
use twincell_compare::{Continue, Example, ExampleSource, decide};
use twincell_engine::observed::{Behavior, Limit, Observed, Outcome};
use twincell_engine::protocol::{ExecutionRecord, ExecutionRequest, Injection};
use twincell_engine::{EngineError, Executed};
use twincell_search::Target;
use twincell_syntax::PerSide;
use twincell_values::value::{AbstractValue, Choice, Decision, Fixed, Given, Recipe};

/// Runs a closure: (request, version, how often this version ran in the request before) -> its outcome.
struct Fake<F> {
    run: F,
    requests: Vec<ExecutionRequest>,
}

impl<F: FnMut(&ExecutionRequest, u8, usize) -> Option<Outcome>> Execute for Fake<F> {
    fn execute(&mut self, requests: Vec<ExecutionRequest>) -> Result<Vec<Executed>, EngineError> {
        Ok(requests
            .into_iter()
            .map(|request| {
                self.requests.push(request.clone());
                let outcomes: Option<Vec<Outcome>> = (0..request.versions.len())
                    .map(|at| {
                        let version = request.versions[at];
                        let again = request.versions[..at].iter().filter(|&&other| other == version).count();
                        (self.run)(&request, version, again)
                    })
                    .collect();
                match outcomes {
                    Some(outcomes) => Executed::Record(Box::new(record(&request, outcomes))),
                    None => Executed::Lost { index: request.index, reason: "the worker died".into() },
                }
            })
            .collect())
    }
}

fn record(request: &ExecutionRequest, outcomes: Vec<Outcome>) -> ExecutionRecord {
    let fixed = request.fixed.get("x").cloned();
    let decision = fixed.unwrap_or(Decision::Value(Recipe::Int(i64::from(request.index))));
    ExecutionRecord {
        index: request.index,
        seed: request.seed,
        injections: injection(&decision).filter(|_| request.explain).into_iter().collect(),
        choices: vec![Choice { path: "x".into(), decision }],
        behaviors: outcomes.into_iter().map(behavior).collect(),
        microseconds: 1,
        ..ExecutionRecord::default()
    }
}

/// Of a text, and of an object that was given: only its variations can be written, as a list of their number.
fn injection(decision: &Decision) -> Option<Injection> {
    let Decision::Value(value) = decision else { return None };
    let written = match value {
        Recipe::Str(_) => None,
        Recipe::Given(given) => (given.variation > 0).then(|| Recipe::List(vec![Recipe::Int(given.variation.into())])),
        _ => return None,
    };
    let certain = value.abstract_value();
    Some(Injection {
        path: "x".into(),
        value: value.clone(),
        kind: None,
        version: 0,
        line: 0,
        probability: 1.0,
        classes: AbstractValue::ALL.map(|class| f32::from(u8::from(class == certain))).to_vec(),
        written,
    })
}

fn behavior(outcome: Outcome) -> Behavior {
    Behavior { lines: vec![(1, 1)], ..Behavior::new(outcome) }
}

fn returned(value: i64) -> Option<Outcome> {
    Some(Outcome::Returned(Observed::Int(value.to_string())))
}

fn stopped() -> Option<Outcome> {
    Some(Outcome::Stopped { reason: Limit::Steps })
}

fn unintended() -> Option<Outcome> {
    let exception = Observed::Exception { class: "TypeError".into(), arguments: vec![] };
    Some(Outcome::Raised { exception, intended: false, line: 1, message: "TypeError".into() })
}

fn plan(budget: u32, seed: u64) -> Plan {
    Plan {
        budget,
        seed,
        techniques: Techniques::default(),
        rules: Rules::default(),
        ignore_edge_cases: false,
        raise_probability: 0.15,
        may_replace: false,
        examples: vec![],
        trial: None,
    }
}

/// The same for both versions.
fn same(lines: Vec<u32>) -> PerSide<Vec<u32>> {
    PerSide::of(|_| lines.clone())
}

fn target() -> Target {
    Target { lines: same(vec![1]), changed: same(vec![1]), ..Target::default() }
}

fn run<F>(run: F) -> (Campaign, Vec<ExecutionRequest>)
where
    F: FnMut(&ExecutionRequest, u8, usize) -> Option<Outcome>,
{
    let mut fake = Fake { run, requests: vec![] };
    let campaign = campaign::run(&mut fake, &target(), &plan(100, 7), &mut |_, _| Continue::Yes).unwrap();
    (campaign, fake.requests)
}

/// Examples in a file, one in each line, with these values of `x`.
fn examples(values: &[i64]) -> Vec<Arc<Example>> {
    let example = |(line, value): (u32, &i64)| {
        let fixed = Fixed::from([("x".to_owned(), Decision::Value(Recipe::Int(*value)))]);
        Arc::new(Example { fixed, source: ExampleSource::File { label: "calls.py".into(), line } })
    };
    (1..).zip(values).map(example).collect()
}

fn run_on<F>(values: &[i64], budget: u32, run: F) -> (Campaign, Vec<ExecutionRequest>)
where
    F: FnMut(&ExecutionRequest, u8, usize) -> Option<Outcome>,
{
    let mut fake = Fake { run, requests: vec![] };
    let plan = Plan { examples: examples(values), ..plan(budget, 7) };
    let campaign = campaign::run(&mut fake, &target(), &plan, &mut |_, _| Continue::Yes).unwrap();
    (campaign, fake.requests)
}

fn value_of_x(request: &ExecutionRequest) -> i64 {
    match request.fixed.get("x") {
        Some(Decision::Value(Recipe::Int(value))) => *value,
        _ => i64::from(request.index),
    }
}

#[test]
fn versions_that_do_the_same_use_up_the_budget() {
    let (campaign, requests) = run(|_, _, _| returned(1));
    assert_eq!((campaign.executions.len(), requests.len()), (100, 100));
    assert_eq!(campaign.witness, None);
    let (verdict, reason) = decide(&campaign, None, &target());
    assert_eq!(verdict, Verdict::LikelyPreserving);
    assert_eq!(
        reason,
        Reason::NoDifference { usable: Usable { valid: 100, all: 100, varied: true }, support: Support::Sampled }
    );
}

#[test]
fn the_first_confirmed_difference_ends_the_campaign() {
    let (campaign, requests) =
        run(|request, version, _| returned(if value_of_x(request) == 5 { i64::from(version) } else { 0 }));
    let witness = &campaign.executions[campaign.witness.unwrap()];
    assert_eq!(value_of_x(&requests[witness.record.index as usize]), 5);
    assert_eq!(decide(&campaign, None, &target()).0, Verdict::Changing);
}

#[test]
fn examples_run_first_and_fill_half_of_the_budget_at_most() {
    let (_, requests) = run_on(&[70, 71, 72], 100, |_, _, _| returned(1));
    assert_eq!(requests[..3].iter().map(value_of_x).collect::<Vec<_>>(), [70, 71, 72]);
    assert_eq!(requests.len(), 100);
    let ran = |budget| {
        let (campaign, _) = run_on(&[70, 71, 72], budget, |_, _, _| returned(1));
        campaign.executions.iter().filter(|case| case.example().is_some()).count()
    };
    assert_eq!([1, 2, 4, 5, 6].map(ran), [1, 1, 2, 2, 3]);
}

#[test]
fn an_example_that_shows_the_difference_is_the_witness_and_stays_as_it_is() {
    let differ = |request: &ExecutionRequest, version, _| {
        returned(if value_of_x(request) % 2 == 1 { i64::from(version) } else { 0 })
    };
    let (campaign, _) = run_on(&[70, 71], 100, differ);
    let witness = &campaign.executions[campaign.witness.unwrap()];
    let source = ExampleSource::File { label: "calls.py".into(), line: 2 };
    assert_eq!(witness.example().map(|example| &example.source), Some(&source));
    assert_eq!(witness.probability, 1.0);
    let mut fake = Fake { run: differ, requests: vec![] };
    let go_on = &mut || Continue::Yes;
    let shrunk = campaign::shrink(&mut fake, witness, &Rules::default(), Values::Plain, 50, go_on).unwrap();
    assert_eq!(shrunk.record.choices, witness.record.choices);
    assert!(shrunk.example().is_some());
}

#[test]
fn what_ran_on_other_values_than_its_example_is_no_example() {
    let (mut campaign, _) = run_on(&[70], 10, |_, _, _| returned(1));
    let first = &mut campaign.executions[0];
    assert!(first.example().is_some());
    first.record.choices[0].decision = Decision::Value(Recipe::Int(0));
    assert!(first.example().is_none());
}

#[test]
fn a_difference_is_confirmed_on_the_same_decisions_in_both_orders_and_against_itself() {
    let (_, requests) = run(|_, version, _| returned(version.into()));
    let confirming: Vec<&ExecutionRequest> = requests.iter().filter(|request| !request.fixed.is_empty()).collect();
    let versions: Vec<&[u8]> = confirming.iter().map(|request| request.versions.as_slice()).collect();
    assert_eq!(versions[..2], [&[0, 1][..], &[1, 0]]);
    assert!(versions[2].len() > 2 && versions[2].iter().all(|&version| version == 0));
    assert!(versions[3].len() > 2 && versions[3].iter().all(|&version| version == 1));
    assert!(confirming[..4].iter().all(|request| value_of_x(request) == 0));
    assert!(confirming.iter().all(|request| request.seed == requests[0].seed));
}

#[test]
fn what_a_version_does_not_do_again_is_no_evidence() {
    let mut count = 0;
    let (campaign, _) = run(|_, _, _| {
        count += 1;
        returned(count)
    });
    assert_eq!(campaign.witness, None);
    assert_eq!(campaign.nondeterministic, 100);
    assert!(campaign.executions.iter().all(|kept| kept.differences.is_empty()));
}

#[test]
fn a_coin_is_no_evidence() {
    for seed in 0..50 {
        let mut state: u64 = seed;
        let (campaign, _) = run(|_, _, _| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            returned((state >> 63) as i64)
        });
        assert_eq!(campaign.witness, None, "seed {seed}");
    }
}

#[test]
fn a_version_that_ends_otherwise_when_repeated_gives_no_evidence() {
    let (campaign, _) = run(|_, version, again| if again > 0 { unintended() } else { returned(version.into()) });
    assert_eq!(campaign.witness, None);
}

#[test]
fn a_worker_that_is_always_lost_ends_the_campaign_soon() {
    let (campaign, requests) = run(|_, _, _| None);
    assert!(requests.len() < 10, "{}", requests.len());
    let (verdict, reason) = decide(&campaign, None, &target());
    assert_eq!((verdict, reason), (Verdict::Inconclusive, Reason::AllLost { first: "the worker died".into() }));
}

#[test]
fn a_worker_that_is_lost_now_and_then_does_not() {
    let (campaign, requests) = run(|request, _, _| if request.index % 25 == 3 { None } else { returned(1) });
    assert_eq!((requests.len(), campaign.lost.len()), (100, 4));
    assert_eq!(decide(&campaign, None, &target()).0, Verdict::LikelyPreserving);
}

#[test]
fn executions_that_are_all_stopped_by_a_bound_end_the_campaign() {
    let (campaign, requests) = run(|_, _, _| stopped());
    assert!(requests.len() < 40, "{}", requests.len());
    let (verdict, reason) = decide(&campaign, None, &target());
    assert_eq!(verdict, Verdict::Inconclusive);
    assert!(matches!(reason, Reason::AllStopped { limit: Limit::Steps, .. }), "{reason:?}");
}

#[test]
fn unintended_exceptions_say_nothing() {
    let (campaign, _) = run(|_, version, _| if version == 0 { unintended() } else { returned(1) });
    let (verdict, reason) = decide(&campaign, None, &target());
    assert_eq!(verdict, Verdict::Inconclusive);
    assert_eq!(reason, Reason::AllRaised { executions: 100 });
}

#[test]
fn code_that_no_usable_execution_reached_leaves_it_open() {
    let mut fake = Fake { run: |_: &ExecutionRequest, _, _| returned(1), requests: vec![] };
    let target = Target { lines: same(vec![1, 2]), changed: same(vec![2]), ..Target::default() };
    let campaign = campaign::run(&mut fake, &target, &plan(10, 0), &mut |_, _| Continue::Yes).unwrap();
    let (verdict, reason) = decide(&campaign, None, &target);
    assert_eq!(verdict, Verdict::Inconclusive);
    assert!(matches!(reason, Reason::ChangeNotRun { .. }), "{reason:?}");
}

#[test]
fn whoever_watches_may_stop_it() {
    let mut fake = Fake { run: |_: &ExecutionRequest, _, _| returned(1), requests: vec![] };
    let campaign = campaign::run(&mut fake, &target(), &plan(100, 0), &mut |_, _| Continue::Stop).unwrap();
    assert!(campaign.stopped_early && campaign.executions.len() < 100);
}

#[test]
fn what_is_stopped_when_nothing_is_left_to_do_ended_by_itself() {
    let mut fake = Fake { run: |_: &ExecutionRequest, _, _| returned(1), requests: vec![] };
    let mut at_the_end = |next, _| if next >= 100 { Continue::Stop } else { Continue::Yes };
    let campaign = campaign::run(&mut fake, &target(), &plan(100, 0), &mut at_the_end).unwrap();
    assert!(!campaign.stopped_early && campaign.executions.len() == 100);
}

/// Runs the requests of the search, and leaves every repetition undone, as a pool does that is told to stop.
struct StopsAtRepetitions<F>(Fake<F>);

impl<F: FnMut(&ExecutionRequest, u8, usize) -> Option<Outcome>> Execute for StopsAtRepetitions<F> {
    fn execute(&mut self, requests: Vec<ExecutionRequest>) -> Result<Vec<Executed>, EngineError> {
        let is_repetition = requests.iter().any(|request| request.versions.len() > 2);
        if is_repetition { Ok(vec![]) } else { self.0.execute(requests) }
    }
}

#[test]
fn a_difference_whose_repetition_is_stopped_is_no_lost_worker() {
    let changed = |_: &ExecutionRequest, version: u8, _| returned(i64::from(version));
    let mut stopped = StopsAtRepetitions(Fake { run: changed, requests: vec![] });
    let campaign = campaign::run(&mut stopped, &target(), &plan(10, 0), &mut |_, _| Continue::Yes).unwrap();
    assert!(campaign.stopped_early && campaign.unrepeated > 0, "{campaign:?}");
    assert!(campaign.lost.is_empty() && campaign.unconfirmed == 0 && campaign.witness.is_none());
    let (verdict, reason) = decide(&campaign, None, &target());
    assert_eq!((verdict, reason), (Verdict::Inconclusive, Reason::StoppedBeforeRepetition));
}

#[test]
fn the_same_seed_asks_for_the_same_executions() {
    let same = |seed| {
        let mut fake = Fake { run: |_: &ExecutionRequest, _, _| returned(1), requests: vec![] };
        campaign::run(&mut fake, &target(), &plan(60, seed), &mut |_, _| Continue::Yes).unwrap();
        fake.requests
    };
    assert_eq!(same(1), same(1));
    assert_ne!(same(1), same(2));
}

#[test]
fn a_witness_shrinks_to_the_simplest_decision_that_still_shows_it() {
    let differs = |request: &ExecutionRequest, version: u8, _: usize| {
        let shows = value_of_x(request) != 0;
        returned(if shows { i64::from(version) } else { 0 })
    };
    let mut fake = Fake { run: differs, requests: vec![] };
    let campaign = campaign::run(&mut fake, &target(), &plan(100, 7), &mut |_, _| Continue::Yes).unwrap();
    let found = &campaign.executions[campaign.witness.unwrap()];
    let mut big = found.clone();
    big.record.choices[0].decision = Decision::Value(Recipe::Int(4711));
    let shrunk =
        campaign::shrink(&mut fake, &big, &Rules::default(), Values::Drawn, 50, &mut || Continue::Yes).unwrap();
    assert_eq!(shrunk.record.choices[0].decision, Decision::Value(Recipe::Int(1)));
    assert!(!shrunk.differences.is_empty());
    let repeated: Fixed = campaign::repeat(&shrunk.record);
    assert_eq!(repeated.len(), 1);
}

#[test]
fn a_text_can_shrink_without_becoming_an_unlikely_one() {
    // Whether "a" shows it, which is tried first.
    let any = Cell::new(false);
    let differs = |request: &ExecutionRequest, version: u8, _: usize| {
        let shows =
            matches!(request.fixed.get("x"), Some(Decision::Value(Recipe::Str(text))) if any.get() || text != "a");
        returned(if shows { i64::from(version) } else { 0 })
    };
    let text = |text: &str| Decision::Value(Recipe::Str(text.into()));
    let example = Example { fixed: Fixed::from([("x".to_owned(), text("apple"))]), source: ExampleSource::Notebook };
    let mut fake = Fake { run: differs, requests: vec![] };
    let plan = Plan { examples: vec![Arc::new(example)], ..plan(100, 7) };
    let campaign = campaign::run(&mut fake, &target(), &plan, &mut |_, _| Continue::Yes).unwrap();
    let mut found = campaign.executions[campaign.witness.unwrap()].clone();
    found.given = None;
    let mut shrunk = |values| {
        let go_on = &mut || Continue::Yes;
        let shrunk = campaign::shrink(&mut fake, &found, &Rules::default(), values, 50, go_on).unwrap();
        shrunk.record.choices[0].decision.clone()
    };
    assert_eq!(shrunk(Values::Plain), text(""));
    assert_eq!(shrunk(Values::Usual), text("e"));
    any.set(true);
    assert_eq!(shrunk(Values::Usual), text("a"));
}

/// A whole object on which the versions differ, and what a run of a request gives: they also differ on variations 3 to 5,
/// and on what is written for these.
fn differing_on_a_given_object(request: &ExecutionRequest, version: u8, _: usize) -> Option<Outcome> {
    let shows = match request.fixed.get("x") {
        Some(Decision::Value(Recipe::Given(given))) => matches!(given.variation, 0 | 3..=5),
        Some(Decision::Value(Recipe::List(items))) => matches!(items.as_slice(), [Recipe::Int(3..=5)]),
        _ => false,
    };
    returned(if shows { i64::from(version) } else { 0 })
}

fn given(variation: u32) -> Decision {
    let class = AbstractValue::Object;
    Decision::Value(
        Given { index: 0, variation, rows: None, count: 0, shown: "sales".into(), class, is_large: true }.into(),
    )
}

#[test]
fn a_witness_on_an_object_that_nobody_can_write_becomes_one_on_a_part_of_it() {
    let example = Example { fixed: Fixed::from([("x".to_owned(), given(0))]), source: ExampleSource::Notebook };
    let mut fake = Fake { run: differing_on_a_given_object, requests: vec![] };
    let plan = Plan { examples: vec![Arc::new(example)], ..plan(100, 7) };
    let campaign = campaign::run(&mut fake, &target(), &plan, &mut |_, _| Continue::Yes).unwrap();
    let witness = &campaign.executions[campaign.witness.unwrap()];
    assert_eq!((&witness.record.choices[0].decision, witness.record.index), (&given(0), 0));
    let go_on = &mut || Continue::Yes;
    let shrunk = campaign::shrink(&mut fake, witness, &Rules::default(), Values::Drawn, 50, go_on).unwrap();
    assert_eq!(shrunk.record.choices[0].decision, Decision::Value(Recipe::List(vec![Recipe::Int(3)])));
    assert!(shrunk.example().is_none(), "it is not what was given");
}

#[test]
fn a_witness_on_many_rows_shrinks_to_the_row_that_shows_it() {
    let example = |count| {
        let Decision::Value(Recipe::Given(given)) = given(0) else { panic!() };
        let value = Decision::Value(Given { count, ..*given }.into());
        Example { fixed: Fixed::from([("x".to_owned(), value)]), source: ExampleSource::Notebook }
    };
    let differs = |request: &ExecutionRequest, version: u8, _: usize| {
        let shows = match request.fixed.get("x") {
            Some(Decision::Value(Recipe::Given(given))) => {
                given.variation == 0 && given.rows.is_none_or(|(from, to)| (from..to).contains(&777))
            }
            _ => false,
        };
        returned(if shows { i64::from(version) } else { 0 })
    };
    let mut fake = Fake { run: differs, requests: vec![] };
    let plan = Plan { examples: vec![Arc::new(example(1_000_000))], ..plan(100, 7) };
    let campaign = campaign::run(&mut fake, &target(), &plan, &mut |_, _| Continue::Yes).unwrap();
    let witness = &campaign.executions[campaign.witness.unwrap()];
    let go_on = &mut || Continue::Yes;
    let shrunk = campaign::shrink(&mut fake, witness, &Rules::default(), Values::Drawn, 100, go_on).unwrap();
    let Decision::Value(Recipe::Given(found)) = &shrunk.record.choices[0].decision else { panic!() };
    assert_eq!(found.rows, Some((777, 778)));
}

#[test]
fn all_of_a_large_object_is_for_its_example_alone() {
    let example = Example { fixed: Fixed::from([("x".to_owned(), given(0))]), source: ExampleSource::Notebook };
    let mut fake = Fake { run: |_: &ExecutionRequest, _, _| returned(1), requests: vec![] };
    let plan = Plan { examples: vec![Arc::new(example)], ..plan(100, 7) };
    campaign::run(&mut fake, &target(), &plan, &mut |_, _| Continue::Yes).unwrap();
    let whole = fake.requests.iter().filter(|request| request.fixed.get("x") == Some(&given(0)));
    assert_eq!(whole.count(), 1);
}

#[test]
fn a_value_is_decisive_where_the_difference_goes_with_it_and_not_where_the_worker_does() {
    let witness = |run: fn(&ExecutionRequest, u8, usize) -> Option<Outcome>| {
        let mut fake = Fake { run, requests: vec![] };
        let campaign = campaign::run(&mut fake, &target(), &plan(1, 7), &mut |_, _| Continue::Yes).unwrap();
        let found = &campaign.executions[campaign.witness.unwrap()];
        let decisive = campaign::decisive(&mut fake, found, &Rules::default(), 0.15, 10).unwrap();
        decisive.into_iter().map(|value| value.path).collect::<Vec<_>>()
    };
    let only_at_zero = |request: &ExecutionRequest, version: u8, _: usize| {
        returned(if value_of_x(request) == 0 { i64::from(version) } else { 0 })
    };
    let lost_elsewhere = |request: &ExecutionRequest, version: u8, _: usize| {
        if value_of_x(request) == 0 { returned(i64::from(version)) } else { None }
    };
    assert_eq!(witness(only_at_zero), ["x"]);
    assert_eq!(witness(lost_elsewhere), [""; 0]);
}
