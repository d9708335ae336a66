//! The listing of a change: what both versions have is listed once, and every line has the number of its own file.

use std::collections::BTreeSet;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use twincell_compare::report::{Comparison, LineReport, PairReport, PartReport, PartText, VersionReport};
use twincell_compare::verdict::Verdict;
use twincell_syntax::{PerSide, Side, diff, functions};
use twincell_widgets::{TextOptions, html_fragment, state, text};

/// Statements of several lines, of which one may change while the others stay.
const STATEMENTS: [&str; 9] = [
    "    first()\n",
    "    second()  # noted\n",
    "    x = call(\n        1,\n        y,\n    )\n",
    "    x = call(\n        2,\n        y,\n    )\n",
    "    x = {\n        'a': 1,\n        'b': 2\n    }\n",
    "    x = {\n        'a': 1,\n        'b': 2,\n        'c': 3,\n    }\n",
    "    if x:\n        return x\n",
    "    while x:\n        return x\n",
    "\n",
];

fn body() -> impl Strategy<Value = String> {
    vec(select(STATEMENTS.to_vec()), 0..8).prop_map(|body| format!("def f(x, y):\n{}    return y\n", body.concat()))
}

fn compared(texts: &PerSide<String>) -> Comparison {
    let functions = texts.as_ref().map(|text| functions(text).0.remove(0));
    let diff = diff(&functions.old, &functions.new);
    let version = |side: Side| VersionReport {
        lines: (functions[side].text.lines().enumerate())
            .map(|(index, text)| {
                let number = index as u32 + 1;
                let changed = diff.lines[side].contains(&number);
                LineReport { text: text.into(), ..twincell_samples::line(number, changed, true, 1) }
            })
            .collect(),
        ..twincell_samples::pair(Verdict::Changing).old
    };
    let (old, new) = (version(Side::Old), version(Side::New));
    comparison(PairReport { old, new, rows: diff.rows, ..twincell_samples::pair(Verdict::Changing) })
}

fn comparison(pair: PairReport) -> Comparison {
    twincell_samples::comparison(vec![pair])
}

fn listed(comparison: &Comparison) -> Vec<String> {
    let text = text(comparison, &TextOptions { color: false, width: 100 });
    let behind = text.lines().skip_while(|line| !line.contains("Old and new")).skip(2);
    behind.take_while(|line| line.contains('│') || line.contains('⋯')).map(str::to_owned).collect()
}

proptest! {
    #[test]
    fn no_line_is_listed_as_gone_and_as_new_at_one_place((old, new) in (body(), body())) {
        let texts = PerSide::new(old, new);
        let (mut gone, mut came) = (BTreeSet::new(), BTreeSet::new());
        let (mut olds, mut news) = (String::new(), String::new());
        let lines = listed(&compared(&texts));
        for line in &lines {
            let Some((gutter, code)) = line.split_once('│') else {
                (gone, came) = Default::default();
                continue;
            };
            let code = code.get(3..).unwrap_or("").trim_end().to_owned();
            let numbers = (gutter[..4].trim().is_empty(), gutter[4..9].trim().is_empty());
            if !numbers.0 { olds += &format!("{code}\n"); }
            if !numbers.1 { news += &format!("{code}\n"); }
            match numbers {
                (false, false) => (gone, came) = Default::default(),
                (false, true) => { gone.insert(code); }
                _ => { came.insert(code); }
            }
            prop_assert!(gone.is_disjoint(&came), "{}", lines.join("\n"));
        }
        if !lines.is_empty() && !lines.iter().any(|line| line.contains('⋯')) {
            let bare = |text: &str| text.lines().map(|line| format!("{}\n", line.trim_end())).collect::<String>();
            prop_assert_eq!((olds, news), (bare(&texts.old), bare(&texts.new)));
        }
    }
}

/// `f` at line 40, with `rate` of the same file and `levy` of another module behind it.
fn with_parts() -> Comparison {
    let mut pair = twincell_samples::pair(Verdict::Changing);
    let texts =
        ["def f(x, y):", "    return rate(x)", "def rate(x):", "    return x * 1", "def levy():", "    return 0"];
    for (side, version) in [&mut pair.old, &mut pair.new].into_iter().enumerate() {
        let line = |(index, text): (usize, &&str)| LineReport {
            text: if index == 3 && side == 1 { "    return x * 2".into() } else { (*text).into() },
            ..twincell_samples::line(index as u32 + 1, index == 3, true, 1)
        };
        version.lines = texts.iter().enumerate().map(line).collect();
        version.first_line = 40;
        version.parts = vec![
            PartReport { number: 3, first_line: 7, text: PartText::Own },
            PartReport { number: 5, first_line: 19, text: PartText::Module("shop.tax".into()) },
        ];
    }
    pair.rows = (0..6).map(|at| twincell_syntax::AlignedRow { old: Some(at), new: Some(at) }).collect();
    comparison(pair)
}

#[test]
fn other_functions_are_listed_with_their_own_numbers() {
    let whole = with_parts();
    let lines = listed(&whole);
    let expected = [
        "40   40     1    1 │   def f(x, y):",
        "41   41     1    1 │       return rate(x)",
        "⋯",
        "7    7     1    1 │   def rate(x):",
        "8          1      │ -     return x * 1",
        "8          1 │ +     return x * 2",
        "⋯ in shop.tax",
        "19   19     1    1 │   def levy():",
        "20   20     1    1 │       return 0",
    ];
    assert_eq!(lines.iter().map(|line| line.trim()).collect::<Vec<_>>(), expected);
    let html = html_fragment(&whole);
    for shown in [">40<", ">41<", ">7<", ">8<", ">19<", ">20<", "⋯ in shop.tax"] {
        assert!(html.contains(shown), "{shown}");
    }
    let state = serde_json::to_value(state(&whole)).unwrap();
    let parts = &state["pairs"][0]["new"]["parts"];
    assert_eq!(parts[0], serde_json::json!({ "number": 3, "first_line": 7, "elsewhere": null }));
    assert_eq!(parts[1]["elsewhere"], "shop.tax");
}
