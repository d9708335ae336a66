//! What a test prints, logs and warns: how two versions differ in it, and how a test expects it.

use std::collections::{BTreeMap, BTreeSet};

use twincell_syntax::{PerSide, Side};
use twincell_testing::{Observation, Observed, Seen};

use crate::block::{import_of, within};
use crate::body::{InsertionPoint, fresh, names};
use crate::channel::{Heard, Style};
use crate::code::{Code, Edit, definition};
use crate::literal::string;
use crate::observe::{Difference, Finder, assertion, is_telling, matching};

/// How telling a difference is, beside values: as if two questions led to it.
const DEPTH: u32 = 2;

/// The first difference of each channel, between two runs that passed.
pub fn differences(
    code: &Code,
    old: &[Observation],
    new: &[Observation],
    hidden: &[String],
    style: Style,
) -> Vec<Difference> {
    let mut found = Vec::new();
    for channel in [Seen::Warnings, Seen::Messages, Seen::Output, Seen::ErrorOutput] {
        let said = |list: &[Observation]| -> BTreeMap<u32, Observed> {
            let own = list.iter().filter(|one| one.seen == channel);
            own.map(|one| (one.point, one.value.clone())).collect()
        };
        let (old, new) = (said(old), said(new));
        let points: BTreeSet<u32> = old.keys().chain(new.keys()).copied().collect();
        let mut earlier = false;
        for point in points {
            let nothing = silence(&channel);
            let (before, after) = (old.get(&point).unwrap_or(&nothing), new.get(&point).unwrap_or(&nothing));
            if before == after {
                earlier = true;
                continue;
            }
            let heard = Heard { channel: channel.clone(), style, earlier };
            found.extend(difference(code, point, heard, before, after, hidden));
            break;
        }
    }
    found
}

fn silence(channel: &Seen) -> Observed {
    match channel {
        Seen::Messages | Seen::Warnings => Observed::List(vec![]),
        _ => Observed::Str(String::new()),
    }
}

fn difference(
    code: &Code,
    point: u32,
    heard: Heard,
    old: &Observed,
    new: &Observed,
    hidden: &[String],
) -> Option<Difference> {
    let mut used = names(code);
    let is_in_block = heard.style == Style::Blocks;
    let expression = match heard.channel {
        Seen::Local(_) => return None,
        Seen::Output if is_in_block => format!("{}.getvalue()", fresh(&mut used, "output")),
        Seen::ErrorOutput if is_in_block => format!("{}.getvalue()", fresh(&mut used, "errors")),
        // What the test itself reads is gone.
        Seen::Output | Seen::ErrorOutput if used.contains("capsys") || used.contains("capfd") => return None,
        Seen::Output => "capsys.readouterr().out".to_owned(),
        Seen::ErrorOutput => "capsys.readouterr().err".to_owned(),
        Seen::Messages if is_in_block => fresh(&mut used, "messages"),
        Seen::Messages => "caplog.messages".to_owned(),
        Seen::Warnings => "warnings".to_owned(),
    };
    let values = PerSide::new(old.clone(), new.clone());
    if let Seen::Messages | Seen::Warnings = heard.channel {
        let is_of_use = Side::BOTH.iter().any(|side| own(&values, *side).is_some());
        let all = Difference { point, expression, values, depth: DEPTH, heard: Some(heard) };
        return (is_of_use && is_telling(old, hidden) && is_telling(new, hidden)).then_some(all);
    }
    let mut finder = Finder::new(hidden, point);
    finder.walk(&expression, old, new, DEPTH);
    let first = finder.found.into_iter().next()?;
    Some(Difference { heard: Some(heard), ..first })
}

/// The first message or warning that one side has and the other has not.
fn own(values: &PerSide<Observed>, side: Side) -> Option<&Observed> {
    let items = values.as_ref().map(|value| match value {
        Observed::List(items) => items.as_slice(),
        _ => &[],
    });
    items[side].iter().find(|one| !matches!(one, Observed::Cut) && !items[side.other()].contains(one))
}

/// A test that expects what a side says at a place. `None` if it cannot be told from what the other says.
pub fn expecting(
    code: &Code,
    place: &InsertionPoint,
    difference: &Difference,
    heard: &Heard,
    side: Side,
    imports: &mut BTreeSet<String>,
) -> Option<Code> {
    let Difference { expression, values, .. } = difference;
    match (&heard.channel, heard.style) {
        (Seen::Local(_), _) => None,
        (Seen::Warnings, _) => warned(code, place, values, side, imports),
        (Seen::Messages, Style::Fixtures) => {
            let line = message(expression, values, side)?;
            code.edited(vec![parameter(code, "caplog")?, behind(place, &[line])])
        }
        (Seen::Messages, Style::Blocks) => {
            if values[side] == silence(&Seen::Messages) {
                return within(code, place, "self.assertNoLogs()", &[], &[]);
            }
            let logs = fresh(&mut names(code), "logs");
            let asked = format!("{expression} = [record.getMessage() for record in {logs}.records]");
            let block = format!("self.assertLogs(level='DEBUG') as {logs}");
            within(code, place, &block, &[], &[asked, message(expression, values, side)?])
        }
        (Seen::Output | Seen::ErrorOutput, style) => {
            let lines = assertion(expression, &values[side], &values[side.other()])?;
            if style == Style::Fixtures {
                let mut edits = vec![parameter(code, "capsys")?, behind(place, &lines)];
                if heard.earlier {
                    let start = crate::code::line_start(code.text(), place.range.start().to_usize());
                    edits.push(Edit::insert(start, format!("{}capsys.readouterr()\n", place.indent)));
                }
                return code.edited(edits);
            }
            imports.extend(["import contextlib".to_owned(), "import io".to_owned()]);
            let stream = if heard.channel == Seen::Output { "stdout" } else { "stderr" };
            let name = expression.split('.').next().unwrap_or(expression);
            within(code, place, &format!("contextlib.redirect_{stream}(io.StringIO()) as {name}"), &[], &lines)
        }
    }
}

fn warned(
    code: &Code,
    place: &InsertionPoint,
    values: &PerSide<Observed>,
    side: Side,
    imports: &mut BTreeSet<String>,
) -> Option<Code> {
    let parts = |warning: &Observed| match warning {
        Observed::Tuple(parts) => match parts.as_slice() {
            [Observed::Str(class), Observed::Str(text)] => Some((class.clone(), text.clone())),
            _ => None,
        },
        _ => None,
    };
    let name = |class: &str| class.rsplit('.').next().unwrap_or(class).to_owned();
    if let Some((class, text)) = own(values, side).and_then(parts) {
        imports.extend(import_of(&class)?);
        imports.insert("import pytest".to_owned());
        return within(code, place, &format!("pytest.warns({}{})", name(&class), matching(&text)), &[], &[]);
    }
    let (class, _) = own(values, side.other()).and_then(parts)?;
    imports.extend(import_of(&class)?);
    imports.insert("import warnings".to_owned());
    let filter = format!("warnings.simplefilter('error', {})", name(&class));
    within(code, place, "warnings.catch_warnings()", &[filter], &[])
}

/// That a message is there, or that one of the other side is not.
fn message(expression: &str, values: &PerSide<Observed>, side: Side) -> Option<String> {
    let text = |value: &Observed| match value {
        Observed::Str(text) => Some(string(text)),
        _ => None,
    };
    match own(values, side) {
        Some(own) => Some(format!("assert {} in {expression}", text(own)?)),
        None => Some(format!("assert {} not in {expression}", text(own(values, side.other())?)?)),
    }
}

/// Lines behind a place.
fn behind(place: &InsertionPoint, lines: &[String]) -> Edit {
    let text: String = lines.iter().map(|line| format!("{}{line}\n", place.indent)).collect();
    Edit::insert(place.behind, text)
}

/// Adds a parameter to the test, if it does not have it.
fn parameter(code: &Code, name: &str) -> Option<Edit> {
    let parsed = code.parse();
    let parameters = &definition(&parsed)?.parameters;
    if parameters.includes(name) {
        return Some(Edit::insert(0, ""));
    }
    if parameters.vararg.is_some() || !parameters.kwonlyargs.is_empty() || parameters.kwarg.is_some() {
        return None;
    }
    Some(match parameters.posonlyargs.iter().chain(&parameters.args).last() {
        Some(last) => Edit::insert(last.range.end().to_usize(), format!(", {name}")),
        None => Edit::insert(parameters.range.start().to_usize() + 1, name),
    })
}

/// What was said, for a sentence.
pub fn told(heard: &Heard, values: &PerSide<Observed>, side: Side) -> String {
    match (&heard.channel, own(values, side)) {
        (Seen::Messages, Some(Observed::Str(text))) => string(text),
        (Seen::Warnings, Some(Observed::Tuple(parts))) => match parts.as_slice() {
            [Observed::Str(class), Observed::Str(text)] => format!("{class}({})", string(text)),
            _ => "nothing".to_owned(),
        },
        (Seen::Messages | Seen::Warnings, _) => "nothing of it".to_owned(),
        _ if values[side] == silence(&heard.channel) => "nothing".to_owned(),
        _ => crate::observe::shown(&values[side]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::body::places;

    fn text(text: &str) -> Observed {
        Observed::Str(text.to_owned())
    }

    fn list(items: &[Observed]) -> Observed {
        Observed::List(items.to_vec())
    }

    /// The test in both forms, for a difference at its last statement.
    fn forms(code: &str, seen: Seen, style: Style, old: Option<Observed>, new: Option<Observed>) -> [String; 2] {
        let code = Code::new(code);
        let place = places(&code).into_iter().next_back().unwrap();
        let point = u32::try_from(places(&code).len()).unwrap() - 1;
        let one = |value: Option<Observed>| -> Vec<Observation> {
            value.map(|value| Observation { point, seen: seen.clone(), value }).into_iter().collect()
        };
        let found = differences(&code, &one(old), &one(new), &[], style);
        let [difference] = found.as_slice() else { panic!("{found:?}") };
        let heard = difference.heard.clone().unwrap();
        Side::BOTH.map(|side| {
            let mut imports = BTreeSet::new();
            let made = expecting(&code, &place, difference, &heard, side, &mut imports);
            made.map_or_else(String::new, |made| made.lines().to_owned())
        })
    }

    #[test]
    fn functions_are_given_fixtures() {
        let code = "def test_a(x):\n    f(x)\n";
        assert_eq!(
            forms(code, Seen::Output, Style::Fixtures, Some(text("a\n")), None),
            [
                "def test_a(x, capsys):\n    f(x)\n    assert capsys.readouterr().out == 'a\\n'\n",
                "def test_a(x, capsys):\n    f(x)\n    assert capsys.readouterr().out == ''\n",
            ]
        );
        let (old, new) = (list(&[text("a"), text("b")]), list(&[text("a")]));
        assert_eq!(
            forms("def test_a():\n    f()\n", Seen::Messages, Style::Fixtures, Some(old), Some(new)),
            [
                "def test_a(caplog):\n    f()\n    assert 'b' in caplog.messages\n",
                "def test_a(caplog):\n    f()\n    assert 'b' not in caplog.messages\n",
            ]
        );
    }

    #[test]
    fn methods_of_test_cases_put_statements_into_blocks() {
        let code = "    def test_a(self):\n        y = f()\n";
        assert_eq!(
            forms(code, Seen::ErrorOutput, Style::Blocks, None, Some(text("a")))[1],
            "    def test_a(self):\n        with contextlib.redirect_stderr(io.StringIO()) as errors:\n            \
             y = f()\n        assert errors.getvalue() == 'a'\n"
        );
        assert_eq!(
            forms(code, Seen::Messages, Style::Blocks, None, Some(list(&[text("a")]))),
            [
                "    def test_a(self):\n        with self.assertNoLogs():\n            y = f()\n",
                "    def test_a(self):\n        with self.assertLogs(level='DEBUG') as logs:\n            y = f()\n        \
                 messages = [record.getMessage() for record in logs.records]\n        assert 'a' in messages\n",
            ]
        );
    }

    #[test]
    fn warnings_are_expected_or_are_errors() {
        let warning = Observed::Tuple(vec![text("DeprecationWarning"), text("f is old")]);
        assert_eq!(
            forms("def test_a():\n    f()\n", Seen::Warnings, Style::Fixtures, None, Some(list(&[warning]))),
            [
                "def test_a():\n    with warnings.catch_warnings():\n        \
                 warnings.simplefilter('error', DeprecationWarning)\n        f()\n",
                "def test_a():\n    with pytest.warns(DeprecationWarning, match='f is old'):\n        f()\n",
            ]
        );
    }

    #[test]
    fn what_is_said_before_is_thrown_away_first() {
        let code = Code::new("def test_a():\n    f()\n    g()\n");
        let said = |last: &str| {
            [(0, "a"), (1, last)].map(|(point, said)| Observation { point, seen: Seen::Output, value: text(said) })
        };
        let found = differences(&code, &said("b"), &said("c"), &[], Style::Fixtures);
        let place = &places(&code)[1];
        let made =
            expecting(&code, place, &found[0], found[0].heard.as_ref().unwrap(), Side::Old, &mut BTreeSet::new());
        assert_eq!(
            made.unwrap().lines(),
            "def test_a(capsys):\n    f()\n    capsys.readouterr()\n    g()\n    assert capsys.readouterr().out == 'b'\n"
        );
    }
}
