//! Tests of what a report tells first, and of why.

use std::collections::BTreeMap;

use twincell_behavior::{Channel, Rules, differences};
use twincell_engine::observed::{Behavior, Call, Limit, Logged, Observed, Outcome, Slot};
use twincell_engine::protocol::{Context, ExecutionRecord, Injection, Member, Unevaluated};
use twincell_search::Target;
use twincell_syntax::site::SiteKind;
use twincell_syntax::{Diff, Function, PerSide};
use twincell_values::value::{AbstractValue, Choice, Decision, Recipe};

use crate::assemble::{CampaignSummary, PairContext, failed, identical, report, signature};
use crate::campaign::{Campaign, Decisive, TestCase, Variations};
use crate::note::Note;
use crate::report::{PairReport, Reason};
use crate::verdict::Verdict;

const OLD: &str = "def f(x):\n    return x or 3\n";
const NEW: &str = "def f(x):\n    return x\n";

/// All lines are those of the functions themselves.
const OWN: PerSide<u32> = PerSide { old: u32::MAX, new: u32::MAX };

fn function(text: &str) -> Function {
    twincell_syntax::functions(text).0.remove(0)
}

fn context_of<'a>(functions: &'a PerSide<Function>, diff: &'a Diff) -> PairContext<'a> {
    PairContext {
        functions,
        diff,
        changed_names: &[],
        attribute_renames: &[],
        members: &[],
        own_lines: OWN,
        parts: PerSide::default(),
    }
}

fn member(name: &str, is_property: bool) -> Member {
    Member { name: name.into(), is_property, hints: BTreeMap::new(), by_operation: false, is_changed: false }
}

fn behavior(outcome: Outcome) -> Behavior {
    Behavior { lines: vec![(2, 1)], ..Behavior::new(outcome) }
}

fn returned(value: i64) -> Behavior {
    behavior(Outcome::Returned(Observed::Int(value.to_string())))
}

fn called(callee: &str, arguments: Vec<Observed>) -> Call {
    Call { callee: callee.into(), arguments, keywords: vec![], line: 2, discarded: true, by_all: true, state: vec![] }
}

fn case(old: Behavior, new: Behavior) -> TestCase {
    let differences = differences(&old, &new, &Rules::default());
    let choices = vec![Choice { path: "x".into(), decision: Decision::Value(Recipe::Int(0)) }];
    let record = ExecutionRecord {
        index: 4,
        seed: 1,
        choices,
        behaviors: vec![old, new],
        microseconds: 5,
        ..ExecutionRecord::default()
    };
    TestCase {
        record,
        differences,
        new_lines: 1,
        coverage: 1.0,
        probability: 1.0,
        rests_on_text: false,
        rests_on_objects: false,
        examined: true,
        given: None,
    }
}

/// The example of a change in one line. Views have words of their own for its conditions.
fn told(report: &PairReport) -> String {
    let headline = report.headline.as_ref().expect("a change has an example");
    let place = if headline.contrast.place.is_empty() { "" } else { &format!("{} ", headline.contrast.place) };
    let contrast = match (&headline.contrast.shown.old, &headline.contrast.shown.new) {
        (Some(old), Some(new)) => format!("{place}{old} -> {new}"),
        (old, new) => format!("{place}{old:?} -> {new:?}"),
    };
    let conditions = headline.conditions.iter().map(|one| match &one.choice.decision {
        Decision::Value(recipe) => format!("{} = {}", one.choice.path, recipe.display()),
        other => format!("{} {other:?}", one.choice.path),
    });
    let conditions: Vec<String> = conditions.collect();
    let conditions = if conditions.is_empty() { String::new() } else { format!(", where {}", conditions.join(", ")) };
    let unlikely = if headline.unlikely { " (unlikely)" } else { "" };
    format!("{}: {contrast}{conditions}{unlikely}", headline.call)
}

fn pair_report(verdict: Verdict, execution: TestCase) -> PairReport {
    likely_pair_report(verdict, execution, &[], 1.0)
}

fn likely_pair_report(verdict: Verdict, execution: TestCase, notes: &[Note], probability: f64) -> PairReport {
    let functions = PerSide::new(OLD, NEW).map(function);
    let diff = twincell_syntax::diff(&functions.old, &functions.new);
    let context = context_of(&functions, &diff);
    reported(&context, verdict, &[execution], vec![Decisive { path: "x".into(), probability }], notes)
}

fn reported(
    context: &PairContext<'_>,
    verdict: Verdict,
    executions: &[TestCase],
    decisive: Vec<Decisive>,
    notes: &[Note],
) -> PairReport {
    let changing = verdict == Verdict::Changing;
    let reached = PerSide::of(|_| [2].into());
    let campaign =
        Campaign { executions: executions.to_vec(), witness: changing.then_some(0), reached, ..Campaign::default() };
    let target = Target::new(context.diff, PerSide::of(|_| vec![2]));
    report(
        context,
        &CampaignSummary {
            sites: PerSide::of(|_| &[][..]),
            verdict,
            reason: Reason::Differs,
            campaign: &campaign,
            witness: campaign.witness.map(|at| &campaign.executions[at]),
            decisive: &decisive,
            variations: &Variations::default(),
            reproducer: None,
            target: &target,
            rules: &Rules::default(),
            classes: &Default::default(),
            notes,
            context: Context::Module,
            milliseconds: 12.4,
        },
    )
}

#[test]
fn what_one_version_alone_assigns_is_told_by_its_place() {
    let given = |more: &[(&str, i64)]| {
        let assigned = [("._count", 2)].iter().chain(more);
        let assigned = assigned.map(|(name, value)| ((*name).to_owned(), Observed::Int(value.to_string()))).collect();
        Observed::Injected { path: "a_context_with_a_long_name".into(), assigned }
    };
    let assigned = |old: Observed, new: Observed| {
        let with = |value| Behavior { arguments: vec![(Slot::Argument("context".into()), value)], ..returned(0) };
        told(&pair_report(Verdict::Changing, case(with(old), with(new))))
    };
    let whole = assigned(given(&[]), given(&[("._session", 1)]));
    assert_eq!(whole, "f(x=0): context._session afterwards unchanged -> 1");
    assert_eq!(assigned(given(&[("._session", 1)]), given(&[])), "f(x=0): context._session afterwards 1 -> unchanged");
}

#[test]
fn a_change_is_told_by_its_values_and_what_each_version_did() {
    let report = pair_report(Verdict::Changing, case(returned(3), returned(0)));
    assert_eq!(told(&report), "f(x=0): 3 -> 0");
    assert_eq!((report.evidence[0].channel, report.evidence[0].execution), (Channel::Return, 5));
    assert_eq!((report.witness.unwrap().execution, report.executions[0].number), (5, 5));
}

#[test]
fn a_change_that_needs_an_unlikely_value_says_so() {
    let report = likely_pair_report(Verdict::Changing, case(returned(3), returned(0)), &[], 0.001);
    assert_eq!(told(&report), "f(x=0): 3 -> 0 (unlikely)");
    assert!(report.evidence[0].edge_case);
}

#[test]
fn each_channel_has_words_of_its_own() {
    let reported = |change: fn(&mut Behavior)| {
        let mut new = returned(0);
        change(&mut new);
        told(&pair_report(Verdict::Changing, case(returned(0), new)))
    };
    let output = reported(|new| new.stdout = "a\n".into());
    assert_eq!(output, r"f(x=0): stdout '' -> 'a\n'");
    let arguments = reported(|new| new.arguments = vec![(Slot::Argument("x.meta".into()), Observed::Int("1".into()))]);
    assert_eq!(arguments, "f(x=0): x.meta afterwards unchanged -> 1");
    let exception = reported(|new| {
        let exception = Observed::Exception { class: "ValueError".into(), arguments: vec![] };
        new.outcome = Outcome::Raised { exception, intended: true, line: 2, message: "it returned 3".into() };
    });
    assert_eq!(exception, "f(x=0): 0 -> raises ValueError: it returned 3");
}

#[test]
fn long_values_are_cut() {
    let long = behavior(Outcome::Returned(Observed::Str("é".repeat(5000))));
    let told = told(&pair_report(Verdict::Changing, case(long, returned(0))));
    assert!(told.chars().count() < 300 && told.contains('…'), "{told}");
}

#[test]
fn without_a_difference_the_report_says_how_much_was_tried() {
    let report = pair_report(Verdict::LikelyPreserving, case(returned(0), returned(0)));
    let reached = report.reached.unwrap();
    assert_eq!((reached.changed, reached.never, reached.least), (2, PerSide::default(), None));
    assert!(report.evidence.is_empty() && report.headline.is_none());
    // The execution that ran most is shown all the same.
    assert!(report.witness.is_some());
}

#[test]
fn what_could_not_run_says_why() {
    let functions = PerSide::new(OLD, NEW).map(function);
    let diff = twincell_syntax::diff(&functions.old, &functions.new);
    let why = Reason::NotRun("it cannot be loaded".into());
    let report = failed(&context_of(&functions, &diff), why.clone());
    assert_eq!((report.verdict, report.reason), (Verdict::Inconclusive, why));
    let notes = [Note::Unevaluated(Unevaluated::Statement { line: 3, error: "E: no".into() })];
    let report = likely_pair_report(Verdict::Inconclusive, case(returned(0), returned(0)), &notes, 1.0);
    assert_eq!(report.notes, notes);
}

#[test]
fn a_pair_of_the_same_text_says_so() {
    let functions = PerSide::new(OLD, OLD).map(function);
    let diff = twincell_syntax::diff(&functions.old, &functions.new);
    let same = identical(&context_of(&functions, &diff));
    assert_eq!((same.reason, same.facts.has_same_text, same.facts.name.as_str()), (Reason::SameText, true, "f"));
}

#[test]
fn calls_that_fail_with_the_new_signature_are_noted() {
    for (old, new, expected) in [
        ("a, b=1", "a, c=1", Some((&["b"][..], &[][..]))),
        ("a, *, b=1", "a, *, c, d=1", Some((&["b"], &["c"]))),
        ("a", "a, b, c=1", Some((&[], &["b"]))),
        ("a", "a, b=1, *rest, **more", None),
        ("a, b", "x, /, **more", None),
        ("*all", "a, b, *all", None),
        ("a, /", "b, /", None),
        ("a", "a", None),
    ] {
        let of = |text: &str| function(&format!("def f({text}):\n    return 1\n"));
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let expected =
            expected.map(|(gone, required)| Note::Signature { gone: names(gone), required: names(required) });
        assert_eq!(signature(&of(old), &of(new)), expected, "{old} -> {new}");
    }
}

#[test]
fn a_line_of_the_function_that_only_one_version_has_counts_before_what_it_uses() {
    let functions = PerSide::new(OLD, NEW).map(function);
    let diff = twincell_syntax::diff(&functions.old, &functions.new);
    // Behind the two lines of the function stand those of a helper.
    let context = PairContext { own_lines: PerSide { old: 2, new: 2 }, ..context_of(&functions, &diff) };
    let changed = |old: &[u32], new: &[u32]| {
        let changed = PerSide::new(old.to_vec(), new.to_vec());
        context.changed_lines(&Target { changed, ..Target::default() })
    };
    assert_eq!(changed(&[2, 5], &[5]), PerSide::new(vec![2], vec![]));
    assert_eq!(changed(&[5], &[5]), PerSide::new(vec![5], vec![5]));
}

#[test]
fn members_of_a_class_are_told_by_name() {
    let members = [member("add", false), member("total", true)];
    let functions = PerSide::new(OLD, NEW).map(function);
    let diff = twincell_syntax::diff(&functions.old, &functions.new);
    let context = PairContext { members: &members, ..context_of(&functions, &diff) };
    let mut execution = case(returned(3), returned(0));
    for (path, number) in [("members used", 1), ("member 1", 1), ("member 2", 0), ("member 3", 1)] {
        execution.record.choices.push(Choice { path: path.into(), decision: Decision::Value(Recipe::Int(number)) });
    }
    let decisive = ["x", "member 2"].map(|path| Decisive { path: path.into(), probability: 1.0 });
    let report = reported(&context, Verdict::Changing, &[execution], decisive.to_vec(), &[]);
    assert_eq!(told(&report), "f(x=0), using total, then add(…): 3 -> 0");
    assert_eq!(report.witness.unwrap().uses, ["total", "add(…)"]);
}

const ACCOUNT: &str = "class Account:
    class Line:
        def add(self, inner):
            return inner
    def __init__(self, amount):
        self.amount = amount
    def take(self, amount, fee=0):
        self.amount -= amount
    def add(self, outer):
        return outer
    @property
    def total(self):
        return self.amount
    @total.setter
    def total(self, value):
        self.amount = value
    @cached
    def found(self, amount):
        return amount
    def __eq__(self, other):
        return self.amount == other.amount
";

#[test]
fn uses_of_a_class_have_the_arguments_that_they_were_called_with() {
    let names =
        [("take", false), ("add", false), ("total", true), ("found", false), ("inherited", false), ("__eq__", false)];
    let members = names.map(|(name, is_property)| member(name, is_property));
    let functions = PerSide::new(ACCOUNT, ACCOUNT).map(|text| twincell_syntax::classes(text).remove(0));
    let diff = twincell_syntax::diff(&functions.old, &functions.new);
    let context = PairContext { members: &members, ..context_of(&functions, &diff) };
    let used = |decisions: &[(&str, i64)], decisive: &[&str]| {
        let mut execution = case(returned(3), returned(0));
        let choice = |(path, value): &(&str, i64)| Choice {
            path: (*path).into(),
            decision: Decision::Value(Recipe::Int(*value)),
        };
        execution.record.choices = decisions.iter().map(choice).collect();
        let decisive = decisive.iter().map(|path| Decisive { path: (*path).into(), probability: 1.0 });
        told(&reported(&context, Verdict::Changing, &[execution], decisive.collect(), &[]))
    };
    // The second argument of a name is numbered, and may be an earlier one again.
    let twice = [("amount", 1), ("members used", 1), ("member 1", 0), ("amount (2)", 5), ("fee", 2), ("member 2", 0)];
    assert_eq!(
        used(&[&twice[..], &[("amount (3)", 7), ("fee (2)", 0)]].concat(), &["amount (3)"]),
        "Account(amount=1), using take(amount=5, fee=2), then take(amount=7, fee=0): 3 -> 0"
    );
    assert_eq!(
        used(&[&twice[..], &[("again for amount (3)", 1), ("fee (2)", 0)]].concat(), &["again for amount (3)"]),
        "Account(amount=1), using take(amount=5, fee=2), then take(amount=1, fee=0): 3 -> 0"
    );
    // What no call passes stays a condition: the value of a setter, and what an inner class names.
    let read = [
        ("amount", 1),
        ("members used", 1),
        ("member 1", 2),
        ("value", 4),
        ("member 2", 1),
        ("outer", 6),
        ("inner", 8),
    ];
    assert_eq!(
        used(&read, &["value", "inner"]),
        "Account(amount=1), using total, then add(outer=6): 3 -> 0, where value = 4, inner = 8"
    );
    // Behind a member of which the parameters are not known, nobody knows the numbers.
    let unknown = [("amount", 1), ("members used", 1), ("amount (2)", 2), ("amount (3)", 3), ("member 2", 0)];
    for (first, name) in [(3, "found"), (4, "inherited")] {
        assert_eq!(
            used(&[&unknown[..], &[("member 1", first)]].concat(), &["amount (3)"]),
            format!("Account(amount=1), using {name}(…), then take(…): 3 -> 0, where amount (3) = 3")
        );
    }
    // Two objects are compared that are made alike.
    let compared =
        [("amount", 1), ("members used", 1), ("member 1", 5), ("operand 1", 0), ("amount (2)", 2), ("member 2", 0)];
    assert_eq!(
        used(&[&compared[..], &[("amount (3)", 4)]].concat(), &["amount (3)"]),
        "Account(amount=1), using __eq__(…), then take(amount=4): 3 -> 0"
    );
}

#[test]
fn a_version_that_does_not_end_is_told_with_the_shortest_values() {
    let stopped = |value: i64| {
        let stopped = Behavior { steps: 20_000, ..behavior(Outcome::Stopped { reason: Limit::Steps }) };
        let mut execution = case(returned(0), stopped);
        execution.record.choices[0].decision = Decision::Value(Recipe::Int(value));
        execution.record.injections = vec![Injection {
            path: "x".into(),
            value: Recipe::Int(value),
            version: 0,
            line: 1,
            kind: None,
            probability: 1.0,
            classes: vec![],
            written: None,
        }];
        execution.record.index = value as u32;
        execution
    };
    let functions = PerSide::new(OLD, NEW).map(function);
    let diff = twincell_syntax::diff(&functions.old, &functions.new);
    let context = context_of(&functions, &diff);
    let executions = [case(returned(0), returned(0)), stopped(1234), stopped(7), stopped(12)];
    let report = reported(&context, Verdict::Inconclusive, &executions, vec![], &[]);
    let stopped = report.stopped.unwrap();
    let shortest = Choice { path: "x".into(), decision: Decision::Value(Recipe::Int(7)) };
    assert_eq!((&stopped.values[0].choice, stopped.values.len(), stopped.execution), (&shortest, 1, 8));
    assert_eq!(report.witness.unwrap().execution, 8);
}

#[test]
fn values_that_read_like_words_of_a_report_are_values() {
    let logged = |message: &str| vec![Logged { level: "nothing".into(), message: message.into(), line: 1 }];
    let mut old = returned(0);
    old.log = logged("");
    let mut new = returned(0);
    new.arguments = vec![(Slot::Argument("members".into()), Observed::Int("1".into()))];
    let report = pair_report(Verdict::Changing, case(old, new));
    let places: Vec<&str> = report.evidence.iter().map(|one| one.place.as_str()).collect();
    assert_eq!(places, ["argument members", "message 1"]);
    assert_eq!(told(&report), "f(x=0): members afterwards unchanged -> 1");
}

/// The headline of a change that these choices lead to, with values for the paths that entered as parameters.
fn headline(text: &str, choices: &[(&str, Decision)], parameters: &[&str], decisive: &[&str], new: Behavior) -> String {
    let functions = PerSide::new(text, text).map(function);
    let mut diff = twincell_syntax::diff(&functions.old, &functions.new);
    diff.lines = PerSide::of(|_| vec![2]);
    let context = context_of(&functions, &diff);
    let mut execution = case(returned(3), new);
    let choice = |(path, decision): &(&str, Decision)| Choice { path: (*path).into(), decision: decision.clone() };
    execution.record.choices = choices.iter().map(choice).collect();
    let injected = |choice: &Choice| match &choice.decision {
        Decision::Value(value) => Some(Injection {
            path: choice.path.as_str().into(),
            value: value.clone(),
            version: 0,
            line: 2,
            kind: (!parameters.contains(&choice.path.as_str())).then_some(SiteKind::Attribute),
            probability: 1.0,
            classes: vec![],
            written: None,
        }),
        _ => None,
    };
    execution.record.injections = execution.record.choices.iter().filter_map(injected).collect();
    let decisive = decisive.iter().map(|path| Decisive { path: (*path).into(), probability: 1.0 }).collect();
    told(&reported(&context, Verdict::Changing, &[execution], decisive, &[]))
}

#[test]
fn the_headline_is_the_call_with_its_decisive_values() {
    let value = |recipe| Decision::Value(recipe);
    let (int, text) = (|number| value(Recipe::Int(number)), |text: &str| value(Recipe::Str(text.into())));
    let many = "def f(a, b, c, d):\n    return a\n";
    let (paths, decisive) = (["a", "b", "c", "d"], ["d", "c", "b", "a"]);
    let choices = paths.map(|path| (path, int(1)));
    assert_eq!(headline(many, &choices, &paths, &decisive, returned(0)), "f(a=1, b=1, c=1, d=1): 3 -> 0");
    assert_eq!(headline(many, &choices, &paths, &["c"], returned(0)), "f(a=1, b=1, c=1, d=1): 3 -> 0");
    let choices = choices.map(|(path, _)| (path, if path == "c" { int(1) } else { text("thirteen long") }));
    assert_eq!(headline(many, &choices, &paths, &["c"], returned(0)), "f(a, b, c=1, d): 3 -> 0");

    let further = "def f(a, *rest, b=1, **options):\n    return a\n";
    let choices = [
        ("len(*rest)", int(1)),
        ("a", int(2)),
        ("rest[0]", text("x")),
        ("b", Decision::Default),
        ("options['key']", int(3)),
        ("raise a.save()", Decision::Raise("ValueError".into())),
    ];
    let parameters = ["a", "rest[0]", "options['key']"];
    let shown = headline(further, &choices, &parameters, &["options['key']", "b", "rest[0]"], returned(0));
    assert_eq!(shown, "f(a=2, 'x', b not given, key=3): 3 -> 0, where raise a.save() Raise(\"ValueError\")");

    let choices = [("len(*rest)", int(1)), ("a", int(2))];
    let shown = headline(further, &choices, &["a"], &["a", "len(*rest)"], returned(0));
    assert_eq!(shown, "f(a=2): 3 -> 0, where len(*rest) = 1");

    let method = "class C:\n    def total(self):\n        return self.x\n";
    let choices = [("self.x", int(0)), ("self.y", Decision::Fail)];
    let shown = headline(method, &choices, &[], &["self.x"], returned(0));
    assert_eq!(shown, "C.total(): 3 -> 0, where self.x = 0, self.y Fail");
}

#[test]
fn long_paths_in_errors_and_calls_keep_their_end() {
    let text = "def f(x):\n    return x\n";
    let attribute = "create('a long argument that nobody reads', 'and another one').load";
    let question = format!("hasattr({attribute})");
    let missing = Decision::Value(Recipe::Bool(false));
    let exception = Observed::Exception { class: "AttributeError".into(), arguments: vec![] };
    let raised = Outcome::Raised { exception, intended: true, line: 2, message: attribute.into() };
    let shown = headline(text, &[(&question, missing)], &[], &[&question], behavior(raised));
    assert_eq!(shown, format!("f(): 3 -> raises AttributeError: create(…).load, where {question} = False"));

    let loads = called(attribute, vec![Observed::None]);
    let shown = headline(text, &[], &[], &[], Behavior { calls: vec![loads], ..returned(3) });
    assert_eq!(shown, "f(): calls None -> Some(\"create(…).load(None)\")");
}

#[test]
fn where_no_value_decides_the_headline_has_the_arguments() {
    let choices = |of: Recipe| [("x", Decision::Value(of)), ("y", Decision::Default)];
    let text = "def f(x, y=1):\n    return x\n";
    assert_eq!(headline(text, &choices(Recipe::Int(7)), &["x"], &[], returned(0)), "f(x=7): 3 -> 0");
    let object = Recipe::Mock(AbstractValue::Object);
    assert_eq!(headline(text, &choices(object), &["x"], &[], returned(0)), "f(x): 3 -> 0");
}

#[test]
fn the_headline_has_parts() {
    let mut changed = returned(0);
    changed.stdout = "a\n".into();
    let headline = pair_report(Verdict::Changing, case(returned(0), changed)).headline.unwrap();
    assert_eq!((headline.call.as_str(), headline.contrast.place.as_str()), ("f(x=0)", "stdout"));
    assert_eq!(headline.contrast.shown, PerSide::new(Some("''".into()), Some(r"'a\n'".into())));
}

#[test]
fn where_a_returned_value_entered_is_told() {
    let value = |number| Decision::Value(Recipe::Int(number));
    let text = "def f(x):\n    return g()\n";
    let choices = [("x", value(7)), ("g()", value(12)), ("h()", value(5))];
    let shown = headline(text, &choices, &["x"], &["x"], returned(12));
    assert!(shown.starts_with("f(x=7): 3 -> 12, where g() = 12"), "{shown}");
}

#[test]
fn of_a_large_object_beside_an_error_the_class_is_enough_and_errors_keep_their_end() {
    let attributes = vec![("text".into(), Observed::Str("a".repeat(60)))];
    let object = behavior(Outcome::Returned(Observed::Object { class: "Text".into(), attributes }));
    let exception = Observed::Exception { class: "AttributeError".into(), arguments: vec![] };
    let message = format!("Context({}) has no attribute 'load'", "a".repeat(80));
    let raised = behavior(Outcome::Raised { exception, intended: true, line: 2, message });
    let sentence = told(&pair_report(Verdict::Changing, case(raised, object)));
    let start = format!("raises AttributeError: Context({}", "a".repeat(17));
    assert_eq!(sentence, format!("f(x=0): {start}…aaaaaaa) has no attribute 'load' -> Text(…)"));
}

#[test]
fn of_long_lists_the_items_are_told_that_one_has_beyond_the_other() {
    let list = |names: &[&str]| Observed::List(names.iter().map(|name| Observed::Str((*name).into())).collect());
    let with = |names: &[&str]| behavior(Outcome::Returned(list(names)));
    let (few, many) = (["one of the names", "another of them"], ["one of the names", "between", "another of them"]);
    let report = pair_report(Verdict::Changing, case(with(&few), with(&many)));
    assert_eq!(told(&report), "f(x=0): result without 'between' -> with 'between'");
    let short = pair_report(Verdict::Changing, case(with(&["a"]), with(&["a", "b"])));
    assert_eq!(told(&short), "f(x=0): ['a'] -> ['a', 'b']");
}

#[test]
fn long_texts_are_shown_from_their_difference() {
    let with = |text: &str| behavior(Outcome::Returned(Observed::Str(text.into())));
    let (start, end) = ("a".repeat(100), "b".repeat(100));
    let report = pair_report(Verdict::Changing, case(with(&format!("{start}1{end}")), with(&format!("{start}2{end}"))));
    let part = |middle: &str| format!("…{}{middle}{}…", "a".repeat(24), "b".repeat(55));
    assert_eq!(told(&report), format!("f(x=0): {} -> {}", part("1"), part("2")));

    // Wherever the difference is, both show it.
    for before in 0..200 {
        let texts = ["1", "2"].map(|middle| format!("{}{middle}{}", "a".repeat(before), "b".repeat(200 - before)));
        let [old, new] = texts.each_ref().map(|text| with(text));
        let sentence = told(&pair_report(Verdict::Changing, case(old, new)));
        assert!(sentence.contains('1') && sentence.contains('2'), "{sentence}");
    }
}

#[test]
fn where_each_version_returns_what_another_call_gave_the_calls_are_told() {
    let gave = |path: &str, side, value| Injection {
        path: path.into(),
        value: Recipe::Int(value),
        version: side,
        line: 2,
        kind: Some(SiteKind::Call),
        probability: 1.0,
        classes: vec![],
        written: None,
    };
    let asks = |of: &str, value| {
        let calls = ["log", "get"].map(|name| called(&format!("{of}.{name}"), vec![]));
        Behavior { calls: calls.into(), ..returned(value) }
    };
    let mut execution = case(asks("a", 3), asks("b", 7));
    execution.record.injections = vec![gave("a.get()", 0, 3), gave("b.get()", 1, 7)];
    let sentence = |execution| told(&pair_report(Verdict::Changing, execution));
    assert_eq!(sentence(execution), "f(x=0): calls a.get() -> b.get()");
    // Without such results, the values are what differs.
    assert_eq!(sentence(case(asks("a", 3), asks("b", 7))), "f(x=0): 3 -> 7");
}
