//! Reports built by hand, one for each thing that a view has to cope with. Used by the tests and by the gallery.

use serde::Serialize;
use serde::de::DeserializeOwned;
use twincell_behavior::{CallRow, EvidencePlace, Stream, Strength};
use twincell_compare::report::{
    CallSite, ChangeReached, Comparison, Condition, Contrast, Divergence, Evidence, ExecutionReport, FORMAT, Headline,
    InputWeight, LineReport, Note, PairFacts, PairReport, Reason, Support, Usable, Varied, VariedOutcome, VariedValue,
    VersionReport, Witness,
};
use twincell_compare::verdict::Verdict;
use twincell_engine::observed::{Behavior, Call, Observed, Outcome, Slot};
use twincell_engine::protocol::{Injection, Unevaluated};
use twincell_syntax::site::SiteKind;
use twincell_syntax::{AlignedRow, PerSide};
use twincell_values::value::{AbstractValue, Choice, Decision, Recipe};
use twincell_widgets::{Label, STATE_FORMAT, StudyRow, StudyState};

/// Everything that a view could be tricked with, as a browser or a terminal would take it.
pub const HOSTILE: &str = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\"' onclick='x' \
    </style></td></table>&lt;b&gt;\u{202e}drow\u{2066}\0\x1b[31mred\x1b]0;title\x07\u{9b}2J\u{200b}`${x}`-->]]>";

pub fn all() -> Vec<(&'static str, Comparison)> {
    vec![
        ("changing", changing()),
        ("preserving", preserving()),
        ("inconclusive", inconclusive()),
        ("identical", identical()),
        ("several_pairs", several_pairs()),
        ("hostile", hostile()),
        ("long_values", long_values()),
        ("empty_function", empty_function()),
        ("many_executions", many_executions()),
    ]
}

/// `Some((text, changed, executions))`; zero executions for a line that never ran, `None` for no code of its own.
type Line<'a> = (&'a str, bool, Option<u32>);

fn version(qualname: &str, lines: &[Line<'_>]) -> VersionReport {
    let number = |index: usize| index as u32 + 1;
    let executable = lines.iter().filter(|line| line.2.is_some()).count();
    let ran = lines.iter().filter(|line| line.2.is_some_and(|runs| runs > 0)).count();
    let changed = lines.iter().filter(|line| line.1);
    VersionReport {
        qualname: qualname.into(),
        first_line: 40,
        parts: vec![],
        lines: lines
            .iter()
            .enumerate()
            .map(|(index, (text, changed, runs))| LineReport {
                number: number(index),
                text: (*text).into(),
                changed: *changed,
                executable: runs.is_some(),
                executions: runs.unwrap_or(0),
                witness_hits: u32::from(runs.is_some_and(|runs| runs > 1)),
            })
            .collect(),
        coverage: if executable == 0 { 0.0 } else { ran as f64 / executable as f64 },
        changed_lines: changed.clone().count() as u32,
        changed_lines_reached: changed.filter(|line| line.2.is_some_and(|runs| runs > 0)).count() as u32,
        branches: vec![],
    }
}

fn weights() -> Vec<InputWeight> {
    let weight = |path: &str, tried, gone| InputWeight { path: path.into(), tried, gone };
    vec![weight("request.meta['max_retry_times']", 9, 9), weight("self.max_retry_times", 6, 2)]
}

fn rows(pairs: &[(i64, i64)]) -> Vec<AlignedRow> {
    let index = |number: i64| u32::try_from(number - 1).ok();
    pairs.iter().map(|&(old, new)| AlignedRow { old: index(old), new: index(new) }).collect()
}

fn straight(lines: usize) -> Vec<AlignedRow> {
    (0..lines as u32).map(|index| AlignedRow { old: Some(index), new: Some(index) }).collect()
}

fn execution(index: u32, old: &str, new: &str, differs: bool, coverage: f64) -> ExecutionReport {
    let valid = !old.contains("TypeError");
    ExecutionReport {
        number: index + 1,
        seed: 7,
        old: old.into(),
        new: new.into(),
        old_valid: valid,
        new_valid: valid,
        differs,
        examined: true,
        new_lines: if index == 0 { 6 } else { index % 3 },
        coverage_so_far: coverage,
        microseconds: 310 + index * 7 % 90,
        example: None,
        lines: 0,
        choices: vec![],
    }
}

fn injection(path: &str, value: Recipe, kind: Option<SiteKind>, line: u32, probability: f32) -> Injection {
    Injection { path: path.into(), value, kind, version: 0, line, probability, classes: vec![], written: None }
}

fn call(callee: &str, arguments: Vec<Observed>, line: u32) -> Option<Call> {
    Some(Call {
        callee: callee.into(),
        arguments,
        keywords: vec![],
        line,
        discarded: true,
        by_all: true,
        state: vec![],
    })
}

fn injected(path: &str) -> Observed {
    Observed::Injected { path: path.into(), assigned: vec![] }
}

fn text(text: &str) -> Observed {
    Observed::Str(text.into())
}

fn comparison(pairs: Vec<PairReport>) -> Comparison {
    let first = &pairs[0];
    Comparison {
        format: FORMAT,
        twincell: "0.1.0".into(),
        verdict: first.verdict,
        verdict_of_pairs: first.verdict,
        pairs,
        added: vec![],
        removed: vec![],
        cells_left_out: vec![],
        predictor: "neural (ONNX Runtime, CPU)".into(),
        seed: 0,
        budget: 300,
        sandbox: None,
        milliseconds: 58.25,
    }
}

fn named(name: &str) -> PairFacts {
    PairFacts { name: name.into(), ..PairFacts::default() }
}

const RETRY_OLD: &[Line<'_>] = &[
    ("def _retry(self, request, reason, spider):", false, None),
    ("    retries = request.meta.get(\"retry_times\", 0) + 1", false, Some(3)),
    ("    limit = self.max_retry_times", true, Some(3)),
    ("    if \"max_retry_times\" in request.meta:", true, Some(3)),
    ("        limit = request.meta[\"max_retry_times\"]", true, Some(2)),
    ("", false, None),
    ("    # Give up after the limit.", false, None),
    ("    if retries > limit:", false, Some(3)),
    ("        self.stats.inc_value(\"retry/max_reached\")", false, Some(2)),
    ("        return None", false, Some(2)),
    ("    copy = request.copy()", false, Some(1)),
    (
        "    if self.priority_adjust is not None and request.priority + self.priority_adjust != request.priority:",
        false,
        Some(1),
    ),
    ("        copy.priority = request.priority + self.priority_adjust", false, Some(0)),
    ("    return copy", false, Some(1)),
];

const RETRY_NEW: &[Line<'_>] = &[
    ("def _retry(self, request, reason, spider):", false, None),
    ("    retries = request.meta.get(\"retry_times\", 0) + 1", false, Some(3)),
    ("    limit = request.meta.get(\"max_retry_times\") or self.max_retry_times", true, Some(3)),
    ("", false, None),
    ("    # Give up after the limit.", false, None),
    ("    if retries > limit:", false, Some(3)),
    ("        self.stats.inc_value(\"retry/max_reached\")", false, Some(0)),
    ("        return None", false, Some(0)),
    ("    copy = request.copy()", false, Some(2)),
    (
        "    if self.priority_adjust is not None and request.priority + self.priority_adjust != request.priority:",
        false,
        Some(2),
    ),
    ("        copy.priority = request.priority + self.priority_adjust", false, Some(0)),
    ("    return copy", false, Some(2)),
];

/// What a user can see in one place, in the third execution.
fn seen(at: EvidencePlace, place: &str, [old, new]: [&str; 2]) -> Evidence {
    Evidence {
        channel: at.channel(),
        place: place.into(),
        at: Some(at),
        old: old.into(),
        new: new.into(),
        strength: Strength::Observable,
        probability: 0.31,
        edge_case: false,
        score: 1.0,
        execution: 3,
    }
}

fn meta(value: i64) -> Recipe {
    Recipe::Dict(vec![(Recipe::Str("max_retry_times".into()), Recipe::Int(value))])
}

/// The witness's difference, by one of its inputs.
fn varied() -> Varied {
    let value = |number: i64, outcome, new: &str| VariedValue {
        value: number.to_string(),
        number: Some(number as f64),
        outcome,
        old: "returned None".into(),
        new: new.into(),
    };
    let copied = "returned request.copy()";
    Varied {
        path: "self.max_retry_times".into(),
        values: vec![
            value(-1, VariedOutcome::Same, "returned None"),
            value(0, VariedOutcome::Same, "returned None"),
            value(1, VariedOutcome::Differs, copied),
            value(10, VariedOutcome::Differs, copied),
            value(100, VariedOutcome::Nothing, "raised TypeError"),
        ],
    }
}

fn changing_witness() -> Witness {
    Witness {
        execution: 3,
        uses: vec![],
        methods: vec![],
        choices: vec![
            Choice { path: "request.meta".into(), decision: Decision::Value(meta(0)) },
            Choice { path: "reason".into(), decision: Decision::Default },
            Choice { path: "bool(self.priority_adjust)".into(), decision: Decision::Value(Recipe::Bool(true)) },
        ],
        example: None,
        replaced: vec![],
        injections: vec![
            injection("self", Recipe::Mock(AbstractValue::Object), None, 0, 0.99),
            injection("request", Recipe::Mock(AbstractValue::Object), None, 0, 0.98),
            injection("request.meta", meta(0), Some(SiteKind::Attribute), 2, 0.932),
            injection("self.max_retry_times", Recipe::Int(10), Some(SiteKind::Attribute), 3, 0.871),
        ],
        decisive: vec!["request.meta['max_retry_times']".into()],
        probabilities: vec![0.31],
        old: Behavior {
            arguments: vec![(Slot::Argument("request".into()), injected("request"))],
            ..Behavior::new(Outcome::Returned(Observed::None))
        },
        new: Behavior {
            arguments: vec![(Slot::Argument("request".into()), injected("request"))],
            stdout: "retrying\n".into(),
            ..Behavior::new(Outcome::Returned(injected("request.copy()")))
        },
        calls: vec![
            CallRow {
                old: call("request.meta.get", vec![text("retry_times"), Observed::Int("0".into())], 2),
                new: call("request.meta.get", vec![text("retry_times"), Observed::Int("0".into())], 2),
                equal: true,
            },
            CallRow { old: call("self.stats.inc_value", vec![text("retry/max_reached")], 9), new: None, equal: false },
            CallRow { old: None, new: call("request.copy", vec![], 9), equal: false },
        ],
        varied: vec![varied()],
        varied_together: None,
        input_weights: weights(),
        parting: Some(Divergence { old_line: 9, new_line: 9, old_hits: 1, new_hits: 0 }),
        chosen: vec![],
    }
}

pub fn changing_pair() -> PairReport {
    let raised = Outcome::Raised {
        exception: Observed::Exception { class: "IgnoreRequest".into(), arguments: vec![text("gave up")] },
        intended: true,
        line: 9,
        message: "gave up".into(),
    };
    PairReport {
        reason: Reason::Differs,
        headline: Some(Headline {
            call: "RetryMiddleware._retry()".into(),
            contrast: Contrast {
                place: String::new(),
                shown: PerSide::new("None", "<request.copy()>").map(|shown| Some(shown.to_owned())),
            },
            conditions: vec![Condition {
                choice: Choice { path: "request.meta".into(), decision: Decision::Value(meta(0)) },
                call: CallSite::Unknown,
            }],
            unlikely: false,
        }),
        facts: named("RetryMiddleware._retry"),
        evidence: vec![
            seen(EvidencePlace::ReturnValue, "return value", ["None", "<request.copy()>"]),
            seen(EvidencePlace::Call { number: 2 }, "call 2", ["self.stats.inc_value('retry/max_reached')", "no call"]),
            seen(EvidencePlace::Output { stream: Stream::Stdout }, "stdout", ["", "retrying\n"]),
        ],
        old: version("RetryMiddleware._retry", RETRY_OLD),
        new: version("RetryMiddleware._retry", RETRY_NEW),
        rows: rows(&[
            (1, 1),
            (2, 2),
            (3, 3),
            (4, 0),
            (5, 0),
            (6, 4),
            (7, 5),
            (8, 6),
            (9, 7),
            (10, 8),
            (11, 9),
            (12, 10),
            (13, 11),
            (14, 12),
        ]),
        executed: 3,
        executions: vec![
            execution(0, "raised TypeError: '>' not supported", "raised TypeError: '>' not supported", false, 0.45),
            execution(1, "returned <request.copy()>", "returned <request.copy()>", false, 0.7),
            execution(2, "returned None", "returned <request.copy()>", true, 0.85),
        ],
        witness: Some(changing_witness()),
        lost: 1,
        notes: vec![
            Note::Unevaluated(Unevaluated::Library { module: "scrapy".into() }),
            Note::Lost { count: 1, first: twincell_behavior::display_outcome(&raised) },
        ],
        milliseconds: 41.3,
        ..twincell_samples::pair(Verdict::Changing)
    }
}

pub fn changing() -> Comparison {
    comparison(vec![changing_pair()])
}

pub fn preserving_pair() -> PairReport {
    let executions = (0..40).map(|index| {
        let value = format!("returned {}", index * 3 % 11);
        execution(index, &value, &value, false, if index < 4 { 0.5 } else { 1.0 })
    });
    PairReport {
        reason: Reason::NoDifference { usable: Usable { valid: 40, all: 40, varied: true }, support: Support::Sampled },
        reached: Some(ChangeReached {
            changed: 5,
            never: PerSide::default(),
            least: None,
            changed_names: vec![],
            stopped_early: false,
        }),
        facts: named("total"),
        old: version(
            "total",
            &[
                ("def total(values):", false, None),
                ("    result = 0", true, Some(40)),
                ("    for value in values:", true, Some(40)),
                ("        result += value", true, Some(31)),
                ("    return result", true, Some(40)),
            ],
        ),
        new: version(
            "total",
            &[("def total(items):", false, None), ("    return sum(item for item in items)", true, Some(40))],
        ),
        rows: rows(&[(1, 1), (2, 2), (3, 0), (4, 0), (5, 0)]),
        executed: 40,
        executions: executions.collect(),
        witness: Some(Witness {
            execution: 5,
            uses: vec![],
            methods: vec![],
            choices: vec![],
            example: None,
            replaced: vec![],
            injections: vec![injection("values", Recipe::List(vec![Recipe::Int(1), Recipe::Int(-10)]), None, 0, 0.61)],
            decisive: vec![],
            probabilities: vec![],
            old: Behavior::new(Outcome::Returned(Observed::Int("-9".into()))),
            new: Behavior::new(Outcome::Returned(Observed::Int("-9".into()))),
            varied: vec![],
            varied_together: None,
            input_weights: vec![],
            parting: None,
            chosen: vec![],
            calls: vec![],
        }),
        notes: vec![Note::Renamed(vec![("items".into(), "values".into())])],
        milliseconds: 96.0,
        ..twincell_samples::pair(Verdict::LikelyPreserving)
    }
}

pub fn preserving() -> Comparison {
    comparison(vec![preserving_pair()])
}

pub fn inconclusive_pair() -> PairReport {
    let message = "raised TypeError: unsupported operand type(s) for +: 'NoneType' and 'str'";
    PairReport {
        reason: Reason::AllRaised { executions: 12 },
        facts: named("render"),
        old: version(
            "render",
            &[
                ("def render(page):", false, None),
                ("    head = page.title + page.subtitle", false, Some(12)),
                ("    return wrap(head, 78)", true, Some(0)),
            ],
        ),
        new: version(
            "render",
            &[
                ("def render(page):", false, None),
                ("    head = page.title + page.subtitle", false, Some(12)),
                ("    return wrap(head, 79)", true, Some(0)),
            ],
        ),
        rows: straight(3),
        executed: 12,
        executions: (0..12).map(|index| execution(index, message, message, false, 0.5)).collect(),
        milliseconds: 1250.0,
        ..twincell_samples::pair(Verdict::Inconclusive)
    }
}

pub fn inconclusive() -> Comparison {
    comparison(vec![inconclusive_pair()])
}

pub fn identical_pair() -> PairReport {
    let lines: [Line<'_>; 2] = [("def area(w, h):", false, None), ("    return w * h", false, Some(0))];
    let renamed: [Line<'_>; 2] =
        [("def area(width, h):  # in pixels", false, None), ("    return width * h", false, Some(0))];
    PairReport {
        reason: Reason::SameProgram { locals: true, private_attributes: false },
        facts: named("area"),
        old: version("area", &lines),
        new: version("area", &renamed),
        rows: straight(2),
        milliseconds: 0.4,
        ..twincell_samples::pair(Verdict::Identical)
    }
}

pub fn identical() -> Comparison {
    comparison(vec![identical_pair()])
}

pub fn several_pairs() -> Comparison {
    let pairs = vec![identical_pair(), preserving_pair(), changing_pair(), inconclusive_pair()];
    Comparison {
        verdict: Verdict::Changing,
        verdict_of_pairs: Verdict::Changing,
        added: vec!["RetryMiddleware.close".into(), "backoff".into()],
        removed: vec!["RetryMiddleware._sleep".into()],
        ..comparison(pairs)
    }
}

/// The changing comparison with [`HOSTILE`] in every text that comes from user code.
pub fn hostile() -> Comparison {
    let mut hostile = several_pairs();
    let texts = [&mut hostile.twincell, &mut hostile.predictor];
    let names = hostile.added.iter_mut().chain(&mut hostile.removed);
    texts.into_iter().chain(names).for_each(|text| text.push_str(HOSTILE));
    for pair in &mut hostile.pairs {
        pair.facts.name.push_str(HOSTILE);
        (pair.old, pair.new) = (poisoned(&pair.old), poisoned(&pair.new));
        (pair.evidence, pair.executions) = (poisoned(&pair.evidence), poisoned(&pair.executions));
        (pair.paths, pair.witness) = (poisoned(&pair.paths), poisoned(&pair.witness));
        pair.notes.push(Note::ModuleEndsWorker { reason: HOSTILE.into() });
        if let Some(headline) = &mut pair.headline {
            headline.call.push_str(HOSTILE);
            headline.conditions[0].choice.path.push_str(HOSTILE);
            headline.contrast.shown.iter_mut().flatten().for_each(|text| text.push_str(HOSTILE));
        }
        if let Some(witness) = &mut pair.witness {
            witness.injections.push(injection(HOSTILE, Recipe::Str(HOSTILE.into()), Some(SiteKind::Name), 2, 0.5));
            witness.old.stdout = HOSTILE.into();
            witness.new.outcome = Outcome::Raised {
                exception: Observed::Exception { class: HOSTILE.into(), arguments: vec![text(HOSTILE)] },
                intended: true,
                line: 1,
                message: HOSTILE.into(),
            };
        }
    }
    hostile
}

fn poisoned<T: Serialize + DeserializeOwned>(part: &T) -> T {
    let mut value = serde_json::to_value(part).expect("it is JSON");
    poison(&mut value);
    serde_json::from_value(value).expect("it is still one")
}

/// Appends the hostile text to every string; the names that serde gave to variants are left alone.
fn poison(value: &mut serde_json::Value) {
    use serde_json::Value;
    match value {
        Value::Array(items) => items.iter_mut().for_each(poison),
        Value::Object(entries) => {
            for (key, item) in entries.iter_mut() {
                match key.as_str() {
                    "verdict" | "channel" | "at" | "strength" | "kind" | "decision" | "value" | "outcome"
                    | "arguments" => {}
                    _ => poison(item),
                }
            }
        }
        Value::String(text) => text.push_str(HOSTILE),
        _ => {}
    }
}

pub fn long_values() -> Comparison {
    let mut pair = changing_pair();
    let long = "abcdefghij".repeat(5_000);
    pair.evidence[0].old = long.clone();
    pair.old.lines[8].text = format!("    value = '{long}'");
    pair.notes.push(Note::ModuleEndsWorker { reason: long.clone() });
    if let Some(witness) = &mut pair.witness {
        let items = (0..20_000).map(Recipe::Int).collect();
        witness.injections.push(injection("values", Recipe::List(items), Some(SiteKind::Name), 8, 0.2));
        let many = (0..250).map(|n| injection(&format!("d.a{n}"), Recipe::Int(n), Some(SiteKind::Attribute), 11, 0.1));
        witness.injections.extend(many);
        witness.old.outcome = Outcome::Returned(text(&long));
        let row = CallRow { old: call("log", vec![text(&long)], 9), new: None, equal: false };
        witness.calls.extend(vec![row; 300]);
    }
    comparison(vec![pair])
}

pub fn empty_function() -> Comparison {
    let mut pair = inconclusive_pair();
    pair.reason = Reason::NothingRan;
    pair.old = version("nothing", &[]);
    pair.new = version("", &[]);
    pair.rows = vec![];
    (pair.executed, pair.executions) = (0, vec![]);
    comparison(vec![pair])
}

pub fn many_executions() -> Comparison {
    let mut pair = changing_pair();
    let coverage = |index: u32| (0.3 + 0.6 * (1.0 - 1.0 / (1.0 + f64::from(index / 9)))).min(0.93);
    let same = "returned <request.copy()>";
    pair.executed = 300;
    pair.executions = (0..300)
        .map(|index| {
            execution(index, same, if index == 271 { "returned None" } else { same }, index == 271, coverage(index))
        })
        .collect();
    pair.evidence.iter_mut().for_each(|one| one.execution = 272);
    if let Some(witness) = &mut pair.witness {
        witness.execution = 272;
    }
    comparison(vec![pair])
}

pub fn study_row(id: &str, verdict: Verdict, label: Option<Label>) -> StudyRow {
    StudyRow {
        id: id.into(),
        project: None,
        commit: None,
        file: None,
        function: None,
        date: None,
        kind: None,
        verdict,
        label,
        reason: "both ran".into(),
        evidence: vec![],
        executions: 12,
        coverage: 0.5,
        first_difference: None,
        complexity: None,
        milliseconds: 71.0,
        reproducer: None,
        comparison: None,
    }
}

/// A hundred changes with everything that results can hold.
pub fn study() -> StudyState {
    let rows = (0..100u32).map(|index| {
        let verdict = match index * 7 % 20 {
            0..=7 => Verdict::Changing,
            8..=15 => Verdict::LikelyPreserving,
            16 | 17 => Verdict::Inconclusive,
            _ => Verdict::Identical,
        };
        let label =
            [Some(Label::Changing), Some(Label::Preserving), None, Some(Label::Unclear)][(index * 5 % 11 % 4) as usize];
        let ran = verdict != Verdict::Identical;
        let is_changing = verdict == Verdict::Changing;
        StudyRow {
            executions: if is_changing { 1 + index * index % 60 } else { 300 * u32::from(ran) },
            coverage: f64::from(u32::from(ran) * (40 + index * 13 % 61)) / 100.0,
            first_difference: is_changing.then_some(1 + index * index % 40),
            complexity: Some(1 + index * 3 % 14),
            milliseconds: f64::from(2 + index * index),
            project: Some(["shop", "post"][(index % 3 % 2) as usize].to_owned()),
            commit: Some(format!("{:040x}", u64::from(index) * 0x9e37_79b9_7f4a)),
            date: Some(format!("2025-{:02}-17T09:30:00Z", 1 + index % 7)),
            file: Some(format!("src/orders_{}.py", index % 5)),
            function: Some(format!("Order.total_{index}")),
            kind: Some(["condition", "loop", "result"][(index * index % 3) as usize].to_owned()),
            ..study_row(&format!("change {index}"), verdict, label)
        }
    });
    let title = "Study of changes.jsonl".into();
    StudyState {
        format: STATE_FORMAT,
        title,
        unfinished: None,
        without_sandbox: None,
        notices: vec![],
        rows: rows.collect(),
    }
}
