//! Every kind of notice in every format.

use twincell_compare::notice::Weight;
use twincell_compare::verdict::Verdict;
use twincell_samples::notices::notices;
use twincell_widgets::{
    Advice, Format, Notices, Report, StudyState, SummaryFile, TextOptions, notice_lines, notice_sentence, render,
    study_page,
};

use crate::samples;

/// A word that every format writes as it is.
const WORD: &str = "qwertz";

fn rendered(format: Format, notices: Notices<'_>, with_files: bool) -> String {
    let comparison = samples::preserving();
    let file = SummaryFile { path: "a.py", is_test: false, result: Ok(&comparison) };
    let files = if with_files { vec![file] } else { vec![] };
    render(
        format,
        &Report {
            range: Some("A..B"),
            title: "in A..B",
            verdict: Verdict::Identical,
            files: &files,
            whole: with_files.then_some(&comparison),
            rows: &[],
            notices,
            advice: Advice::default(),
            layout: TextOptions { color: false, width: 240 },
            version: "1",
        },
    )
}

/// The letters and digits of a text without what formats put between them.
fn letters(text: &str) -> String {
    let text = text.replace("<!-- -->", "").replace("<span>", "").replace("</span>", "");
    text.chars().filter(|character| character.is_ascii_alphanumeric()).collect()
}

#[test]
fn every_format_has_every_kind_of_notice() {
    for notice in notices(WORD) {
        for format in Format::ALL {
            for with_files in [true, false] {
                let shown =
                    rendered(format, Notices { all: std::slice::from_ref(&notice), allows_changes: false }, with_files);
                let sentence = letters(&notice_sentence(&notice));
                assert!(letters(&shown).contains(&sentence), "{format:?} lacks {notice:?}:\n{sentence}\n{shown}");
            }
        }
    }
}

#[test]
fn every_format_has_all_notices_at_once() {
    let all = notices(WORD);
    for format in Format::ALL.into_iter().filter(|format| *format != Format::Summary) {
        let shown = letters(&rendered(format, Notices { all: &all, allows_changes: false }, false));
        for notice in &all {
            assert!(shown.contains(&letters(&notice_sentence(notice))), "{format:?} lacks {notice:?}");
        }
    }
    // A summary is short; nothing that is trusted and no rule is left out of it.
    let shown = letters(&rendered(Format::Summary, Notices { all: &all, allows_changes: false }, false));
    for notice in all.iter().filter(|notice| notice.weight() != Weight::Remark) {
        assert!(shown.contains(&letters(&notice_sentence(notice))), "the summary lacks {notice:?}");
    }
    assert!(shown.contains("morewhichverboseshows"), "{shown}");
}

#[test]
fn the_page_of_a_study_has_every_notice() {
    let all = notices(WORD);
    let notices = notice_lines(Notices { all: &all, allows_changes: false });
    let study = StudyState { notices, ..samples::study() };
    let shown = letters(&study_page(&study, "Study"));
    for notice in &all {
        assert!(shown.contains(&letters(&notice_sentence(notice))), "{notice:?}");
    }
}

#[test]
fn an_allowed_change_is_named_as_well() {
    let mut all = notices(WORD);
    all.truncate(1);
    for format in Format::ALL {
        let [allowed, refused] = [true, false].map(|allows_changes| {
            let notices = Notices { all: &all, allows_changes };
            assert_eq!(notices.fail(), !allows_changes);
            rendered(format, notices, true)
        });
        for shown in [&allowed, &refused] {
            assert!(letters(shown).contains(&letters(&notice_sentence(&all[0]))), "{format:?}");
        }
    }
}

#[test]
fn nothing_in_a_notice_is_markup_or_a_command() {
    let odd = "</script><img src=x onerror=y>\n::error::x\u{202e}\x1b[2J| @team";
    let all = notices(odd);
    let of = |format| rendered(format, Notices { all: &all, allows_changes: false }, false);
    for format in Format::ALL {
        let shown = of(format);
        if format != Format::Json {
            assert!(!shown.contains('\x1b') && !shown.contains('\u{202e}'), "{format:?}");
        }
        assert!(!shown.lines().any(|line| line.starts_with("::error::x")), "{format:?}");
    }
    for format in [Format::Html, Format::Junit] {
        assert!(!of(format).contains("<img"), "{format:?}");
    }
    // The name of a file that is trusted stands in a span of code.
    let markdown = of(Format::Markdown);
    let prose: Vec<&str> = markdown.lines().map(|line| line.rsplit("` |").next().unwrap_or(line)).collect();
    assert!(!prose.iter().any(|line| line.contains("<img") || line.contains("@team")), "{markdown}");
}
