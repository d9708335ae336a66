//! Two studies side by side, as text and as a table.

use crate::samples;
use crate::samples::HOSTILE;
use crate::tree::tree;

use twincell_compare::verdict::Verdict;
use twincell_widgets::{Differences, DifferingRow, differences_fragment, differences_text};

fn differences() -> Differences {
    let evidence = samples::changing_pair().evidence;
    let row = |id: &str, verdict, evidence| DifferingRow {
        id: id.into(),
        verdict,
        reason: ["both ran".into(), format!("none of them differed {HOSTILE}")],
        evidence,
    };
    Differences {
        titles: ["one.parquet".into(), HOSTILE.into()],
        both: 40,
        rows: vec![
            row("a", [Verdict::Changing, Verdict::LikelyPreserving], [evidence.clone(), vec![]]),
            row(HOSTILE, [Verdict::Changing, Verdict::Changing], [evidence.clone(), evidence[..1].to_vec()]),
            row("c", [Verdict::Inconclusive, Verdict::Identical], [vec![], vec![]]),
        ],
        only: [vec!["x".into()], vec![]],
        first: [vec![1, 4], vec![9]],
    }
}

#[test]
fn as_text() {
    insta::assert_snapshot!(differences_text(&differences()));
}

#[test]
fn as_a_table() {
    let html = differences_fragment(&differences());
    assert!(!html.contains("<script") && !html.contains('\u{202e}'));
    insta::assert_snapshot!(tree(&html));
}

#[test]
fn long_lists_are_cut() {
    let mut many = differences();
    many.rows = vec![many.rows[0].clone(); 5000];
    assert!(differences_text(&many).ends_with("and 4800 more\n"));
    assert!(differences_fragment(&many).len() < 150_000);
}
