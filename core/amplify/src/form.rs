//! A finished test from a variant and the difference that it shows.

use std::collections::BTreeSet;

use ruff_python_ast::{Expr, Stmt, StmtAssign};
use ruff_text_size::{Ranged, TextRange};
use twincell_syntax::{PerSide, Side};
use twincell_testing::{Failure, Observation, Observed, Outcome, Seen};

use crate::block::import_of;
use crate::body::{InsertionPoint, fresh, names, places, suites};
use crate::captured_output;
use crate::channel::Style;
use crate::code::{Code, Edit, definition};
use crate::defined::Defined;
use crate::literal::literal;
use crate::observe::{Difference, assertion, differences, is_mock, is_private, is_telling, matching};
use crate::opened::ending;
use crate::result::{Raised, Shown};
use crate::run::{Trial, Tried};

/// What two runs of a variant show, the best first.
pub fn shown(code: &Code, tried: &Tried, defined: &Defined, hidden: &[String], style: Style) -> Vec<Shown> {
    let runs = tried.records.as_ref().map(|record| run(record.outcome, record.failure.as_ref()));
    let (Some(old), Some(new)) = (&runs.old, &runs.new) else { return vec![] };
    let mut found = Vec::new();
    let mut raised = PerSide::new(old.clone(), new.clone());
    let is_told = raised.iter().flatten().all(|one| !hidden.iter().any(|hidden| one.message.contains(hidden)));
    let are_unlike = match (old, new) {
        (Some(old), Some(new)) => old.class != new.class || tidy(&old.message) != tidy(&new.message),
        (old, new) => old.is_some() != new.is_some(),
    };
    if are_unlike && is_told {
        let at = tried.raised_at.as_ref().map(|at| at.and_then(|at| place_at(code, at)));
        // The version that ends later does not raise where the other one ends.
        if let (Some((old, _)), Some((new, _))) = (&at.old, &at.new)
            && old != new
        {
            raised[if old < new { Side::New } else { Side::Old }] = None;
        }
        let first = at.into_iter().flatten().min_by_key(|(point, _)| *point);
        // In a block that catches exceptions, one that does not leave it was raised as well.
        let is_open = |place: &InsertionPoint| !place.catches || raised.iter().all(Option::is_some);
        // That one version lacks a name of the other is no difference.
        let is_lacking = |place: &InsertionPoint| {
            Side::BOTH.iter().any(|side| {
                let raised = raised[*side].as_ref().filter(|_| tried.is_direct[*side]);
                raised.is_some_and(|raised| defined.lacks(*side, code, place.range, raised))
            })
        };
        if let Some((point, place)) = first.filter(|(_, place)| is_open(place) && !is_lacking(place)) {
            let point = u32::try_from(point).unwrap_or(u32::MAX);
            let returned = PerSide::of(|side| {
                let record = raised[side].is_none().then(|| &tried.records[side])?;
                returned(code, &place, point, &record.observations, hidden)
            });
            found.push(Shown::Raises { expression: code.slice(place.range).to_owned(), point, raised, returned });
        }
    }
    let seen = tried.records.as_ref().map(|record| record.observations.as_slice());
    let mut values = differences(seen.old, seen.new, hidden);
    if let (None, None) = (old, new) {
        values.extend(captured_output::differences(code, seen.old, seen.new, hidden, style));
        values.sort_by_key(|one| (one.depth, one.point));
    }
    found.extend(values.into_iter().map(Shown::Value));
    found
}

/// The value that a statement bound, if it can be written down. Of an object, one attribute that can be.
fn returned(
    code: &Code,
    place: &InsertionPoint,
    point: u32,
    seen: &[Observation],
    hidden: &[String],
) -> Option<Observed> {
    let name = bound(code.slice(place.range))?;
    let is_it = |one: &&Observation| one.point == point && matches!(&one.seen, Seen::Local(local) if local == name);
    let value = &seen.iter().rev().find(is_it)?.value;
    let is_written = |value: &Observed| is_telling(value, hidden) && literal(value).is_some();
    match value {
        value if is_written(value) => Some(value.clone()),
        Observed::Object { class, fields } if !is_mock(class) => {
            let is_public = |access: &str| access.starts_with('.') && !is_private(access) && !access.ends_with(')');
            let written = fields.iter().filter(|(access, value)| is_public(access) && is_written(value));
            // What only repeats a value of the statement tells less.
            let statement = code.slice(place.range);
            let is_repeated = |value: &Observed| match value {
                Observed::Str(text) => statement.contains(text),
                value => literal(value).is_some_and(|text| statement.contains(&text)),
            };
            let field = written.min_by_key(|(_, value)| is_repeated(value))?;
            Some(Observed::Object { class: class.clone(), fields: vec![field.clone()] })
        }
        _ => None,
    }
}

/// What is asserted of a value that a statement bound to a name, and the value that it has.
pub fn asked<'a>(name: &str, value: &'a Observed) -> (String, &'a Observed) {
    match value {
        Observed::Object { fields, .. } if let [(access, value)] = fields.as_slice() => {
            (format!("{name}{access}"), value)
        }
        value => (name.to_owned(), value),
    }
}

/// What ended a run: nothing, or an exception. `None` for a run that says nothing of the code.
fn run(outcome: Outcome, failure: Option<&Failure>) -> Option<Option<Raised>> {
    match (outcome, failure) {
        (Outcome::Passed, _) => Some(None),
        (Outcome::Failed, Some(failure)) => {
            // pytest's own, such as that a block did not raise.
            let is_expected = failure.exception.starts_with("_pytest");
            let raised = Raised { class: failure.exception.clone(), message: failure.message.clone() };
            (!is_expected).then_some(Some(raised))
        }
        _ => None,
    }
}

/// A message without what differs from run to run.
fn tidy(message: &str) -> &str {
    message.split(" at 0x").next().unwrap_or(message)
}

/// The innermost statement at a position, with its number.
fn place_at(code: &Code, at: usize) -> Option<(usize, InsertionPoint)> {
    let holds = |(_, place): &(usize, InsertionPoint)| place.range.to_std_range().contains(&at);
    places(code).into_iter().enumerate().filter(holds).min_by_key(|(_, place)| place.range.len())
}

/// Whether two differences are the same, wherever their statements stand.
pub fn is_same(one: &Shown, other: &Shown) -> bool {
    match (one, other) {
        (Shown::Value(one), Shown::Value(other)) => one.expression == other.expression && one.values == other.values,
        (Shown::Raises { raised: one, .. }, Shown::Raises { raised: other, .. }) => one == other,
        _ => false,
    }
}

/// The test that passes on one side and fails on the other.
///
/// `exactly` tells an exception from those of derived classes, too.
pub fn form(trial: &Trial, shown: &Shown, side: Side, exactly: bool) -> Option<Trial> {
    let mut imports = trial.imports.clone();
    let code = match shown {
        Shown::Value(difference) => {
            let code = valued(&trial.code, difference, side, &mut imports)?;
            tidied(&code, &difference.expression)
        }
        Shown::Raises { point, raised, returned, .. } => {
            let place = places(&trial.code).into_iter().nth(*point as usize)?;
            let code = ending(&trial.code, place.range)?;
            match (&raised[side], &returned[side], bound(trial.code.slice(place.range))) {
                (Some(raised), ..) => expecting(&code, &place, raised, exactly, &mut imports)?,
                (None, Some(value), Some(name)) => {
                    let (expression, value) = asked(name, value);
                    asserting(&code, &place, &expression, value, &Observed::Cut, &mut imports)?
                }
                (None, ..) => without_binding(&code, &place),
            }
        }
    };
    Some(Trial { code, imports })
}

/// The code with an assertion behind the statement that a difference names.
fn valued(code: &Code, difference: &Difference, side: Side, imports: &mut BTreeSet<String>) -> Option<Code> {
    let place = places(code).into_iter().nth(difference.point as usize)?;
    let whole = ending(code, place.range)?;
    // What was cut stands behind the place, so its position is the same.
    let at = places(&whole).into_iter().find(|other| other.range.start() == place.range.start())?;
    if let Some(heard) = &difference.heard {
        return captured_output::expecting(&whole, &at, difference, heard, side, imports);
    }
    let (value, other) = (&difference.values[side], &difference.values[side.other()]);
    let expression = &difference.expression;
    if expression.len() > 100 && matches!(value, Observed::Raised { .. }) {
        return None;
    }
    asserting(&whole, &at, expression, value, other, imports)
}

/// The code with an assertion behind a statement that an expression has a value, where it may also have another one.
fn asserting(
    code: &Code,
    place: &InsertionPoint,
    expression: &str,
    value: &Observed,
    other: &Observed,
    imports: &mut BTreeSet<String>,
) -> Option<Code> {
    let lines = assertion(expression, value, other)?;
    if let Observed::Raised { class, .. } = value {
        imports.extend(import_of(class)?);
    }
    if lines.iter().any(|line| line.contains("pytest.")) {
        imports.insert("import pytest".to_owned());
    }
    let text: String = lines.iter().map(|line| format!("{}{line}\n", place.indent)).collect();
    code.edited(vec![Edit::insert(place.behind, text)])
}

/// The code with a statement within `pytest.raises`.
fn expecting(
    code: &Code,
    place: &InsertionPoint,
    raised: &Raised,
    exactly: bool,
    imports: &mut BTreeSet<String>,
) -> Option<Code> {
    // What was cut stands behind the place, so its position is the same.
    let statement = code.slice(place.range);
    if statement.contains("'''") || statement.contains("\"\"\"") {
        return None;
    }
    imports.extend(import_of(&raised.class)?);
    imports.insert("import pytest".to_owned());
    let class = raised.class.rsplit('.').next().unwrap_or(&raised.class);
    let inner = unbound(statement).unwrap_or_else(|| statement.to_owned()).replace('\n', "\n    ");
    let indent = &place.indent;
    let (name, behind) = if exactly {
        let name = fresh(&mut names(code), "caught");
        (format!(" as {name}"), format!("\n{indent}assert type({name}.value) is {class}"))
    } else {
        (String::new(), String::new())
    };
    let matching = matching(&raised.message);
    let text = format!("with pytest.raises({class}{matching}){name}:\n{indent}    {inner}{behind}");
    code.edited(vec![Edit::replace(place.range, text)])
}

/// `result` of `result = f(x)`.
fn bound(statement: &str) -> Option<&str> {
    let (name, _) = statement.split_once(" = ")?;
    name.chars().all(|it| it.is_alphanumeric() || it == '_').then_some(name)
}

/// `f(x)` of `result = f(x)`, where nothing but the expected statement has the name.
fn unbound(statement: &str) -> Option<String> {
    bound(statement)?;
    statement.split_once(" = ").map(|(_, value)| value.to_owned())
}

/// The code where a statement binds its value to no name, if nothing else has the name.
fn without_binding(code: &Code, place: &InsertionPoint) -> Code {
    without_names(code, |_, assign| assign.range() == place.range)
}

/// The code without names that nothing uses: `result = f(x)` is `f(x)` again.
fn tidied(code: &Code, expression: &str) -> Code {
    let is_asked = |name: &str| words(expression).any(|word| word == name);
    without_names(code, |name, assign| assign.value.is_call_expr() && name.starts_with("result") && !is_asked(name))
}

/// The code where chosen statements do not bind their values to names that nothing else has.
fn without_names(code: &Code, is_chosen: impl Fn(&str, &StmtAssign) -> bool) -> Code {
    let parsed = code.parse();
    let Some(function) = definition(&parsed) else { return code.clone() };
    let mut edits = Vec::new();
    suites(&function.body, &mut |suite| {
        for stmt in suite {
            if let Stmt::Assign(assign) = stmt
                && let [Expr::Name(target)] = assign.targets.as_slice()
                && is_chosen(&target.id, assign)
                && words(code.text()).filter(|word| *word == target.id.as_str()).count() == 1
            {
                // With the parentheses of the value.
                let bound = code.slice(TextRange::new(target.end(), assign.end()));
                let value = bound.trim_start_matches(|it: char| it.is_whitespace() || matches!(it, '=' | '\\'));
                edits.push(Edit::replace(assign.range(), value));
            }
        }
    });
    code.edited(edits).unwrap_or_else(|| code.clone())
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|it: char| !it.is_alphanumeric() && it != '_')
}

#[cfg(test)]
mod tests {
    use twincell_testing::TestRecord;

    use super::*;

    fn trial(code: &str) -> Trial {
        Trial { code: Code::new(code), imports: BTreeSet::new() }
    }

    fn written(code: &str, shown: &Shown, side: Side) -> String {
        form(&trial(code), shown, side, false).unwrap().code.lines().to_owned()
    }

    fn raises(point: u32, side: Side) -> Shown {
        let mut raised = PerSide::<Option<Raised>>::default();
        raised[side] = Some(Raised { class: "ValueError".into(), message: String::new() });
        Shown::Raises { expression: "f()".into(), point, raised, returned: PerSide::default() }
    }

    #[test]
    fn of_equal_statements_the_one_that_raises_is_expected_to() {
        let code = "def t():\n    f()\n    f()\n    g()\n";
        let shown = raises(1, Side::New);
        assert_eq!(written(code, &shown, Side::Old), "def t():\n    f()\n    f()\n");
        let expected = "def t():\n    f()\n    with pytest.raises(ValueError):\n        f()\n";
        assert_eq!(written(code, &shown, Side::New), expected);
    }

    #[test]
    fn a_version_that_raises_nothing_gives_a_value_or_binds_none() {
        let code = Code::new("def t():\n    member = parse('ada;')\n");
        let place = places(&code).remove(0);
        let returned = |value: Observed| {
            let seen = [Observation { point: 0, seen: Seen::Local("member".into()), value }];
            returned(&code, &place, 0, &seen, &[])
        };
        let object = |fields: &[(&str, Observed)]| Observed::Object {
            class: "shop.Member".into(),
            fields: fields.iter().map(|(access, value)| ((*access).to_owned(), value.clone())).collect(),
        };
        let name = Observed::Str("ada".into());
        for (value, expected) in [
            (Observed::Int("3".into()), "    member = parse('ada;')\n    assert member == 3\n"),
            (
                object(&[(".name", name.clone()), (".limit", Observed::None)]),
                "    member = parse('ada;')\n    assert member.limit is None\n",
            ),
            (object(&[(".name", name.clone())]), "    member = parse('ada;')\n    assert member.name == 'ada'\n"),
            (object(&[("._name", name.clone()), ("str()", name)]), "    parse('ada;')\n"),
        ] {
            let Shown::Raises { expression, point, raised, .. } = raises(0, Side::Old) else { unreachable!() };
            let returned = PerSide::new(None, returned(value));
            let shown = Shown::Raises { expression, point, raised, returned };
            assert_eq!(written(code.lines(), &shown, Side::New), format!("def t():\n{expected}"));
        }
    }

    #[test]
    fn a_value_without_its_name_keeps_its_parentheses() {
        for (code, expected) in [
            ("x = (f(1)\n         + 2)", "(f(1)\n         + 2)"),
            ("x = f(1)", "f(1)"),
            ("x = y = f(1)", "x = y = f(1)"),
            ("x = f(x)", "x = f(x)"),
        ] {
            let code = Code::new(&format!("def t():\n    {code}\n"));
            let bare = without_binding(&code, &places(&code)[0]);
            assert_eq!(bare.lines(), format!("def t():\n    {expected}\n"));
        }
    }

    #[test]
    fn what_cleans_up_stays() {
        let code = "def t():\n    try:\n        f()\n        g()\n    finally:\n        h()\n    k()\n";
        let expected = "def t():\n    try:\n        f()\n    finally:\n        h()\n";
        assert_eq!(written(code, &raises(0, Side::New), Side::Old), expected);
        let code = "def t():\n    f()\n    try:\n        g()\n    finally:\n        h()\n";
        assert_eq!(written(code, &raises(0, Side::New), Side::Old), "def t():\n    f()\n");
    }

    #[test]
    fn a_version_that_ends_later_does_not_raise_where_the_other_ends() {
        let code = Code::new("def t():\n    f()\n    g()\n");
        let record = |class: &str| TestRecord {
            id: String::new(),
            outcome: Outcome::Failed,
            failure: Some(Failure {
                exception: class.to_owned(),
                message: String::new(),
                file: String::new(),
                line: 0,
                test_line: Some(1),
                assertion: false,
            }),
            seconds: 0.0,
            lines: Default::default(),
            observations: vec![],
            operands: vec![],
            values: vec![],
            opened: None,
        };
        let at = |statement: &str| code.text().find(statement);
        let tried = Tried {
            records: PerSide::new(record("KeyError"), record("ValueError")),
            raised_at: PerSide::new(at("f()"), at("g()")),
            is_direct: PerSide::default(),
        };
        let shown = shown(&code, &tried, &Defined::default(), &[], Style::Fixtures);
        let [Shown::Raises { expression, point, raised, .. }] = shown.as_slice() else { panic!("{shown:?}") };
        assert_eq!((expression.as_str(), *point), ("f()", 0));
        assert!(raised.old.is_some() && raised.new.is_none());
    }
}
