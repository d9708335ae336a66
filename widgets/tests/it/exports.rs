//! What other programs get: pinned as a whole, and read back by parsers of their formats.

use crate::samples;
use serde_json::{Value, json};

use twincell_compare::report::Comparison;
use twincell_compare::verdict::Verdict;
use twincell_engine::protocol::{Lack, Mechanism, SandboxReport};
use twincell_widgets::Notices;
use twincell_widgets::export::{ExportRow, annotations, junit, markdown, sarif};

fn rows(comparison: &Comparison) -> Vec<ExportRow> {
    ExportRow::of_comparison(comparison, Some("src/a b.py"))
}

#[test]
fn a_comparison_reads_as_intended_in_every_format() {
    let mut rows = rows(&samples::several_pairs());
    rows.push(ExportRow::failed("src/bad.py", "src/bad.py is not UTF-8"));
    insta::assert_snapshot!("export_sarif", sarif(&rows, Notices::default(), "1.2.3"));
    insta::assert_snapshot!("export_junit", junit(&rows, Notices::default()));
    insta::assert_snapshot!("export_markdown", markdown(&rows, Notices::default()));
    insta::assert_snapshot!("export_annotations", annotations(&rows, Notices::default()));
}

#[test]
fn where_nothing_changed_nothing_is_reported() {
    let rows = rows(&samples::preserving());
    let log: Value = serde_json::from_str(&sarif(&rows, Notices::default(), "1.2.3")).unwrap();
    assert_eq!(log["runs"][0]["results"], Value::Array(vec![]));
    assert!(markdown(&rows, Notices::default()).contains("No difference in behavior was found."));
    assert_eq!(annotations(&rows, Notices::default()), "twincell: 1 likely preserving\n");
    assert_eq!(
        markdown(&[], Notices::default()),
        "### twincell: nothing to compare\n\nNo difference in behavior was found.\n"
    );
}

#[test]
fn changed_lines_are_links_if_there_is_an_address() {
    let mut rows = rows(&samples::changing());
    rows.iter_mut().for_each(|row| row.link_below("https://host.example/a/b/blob/1234/"));
    let expected = "src/a b.py:42](<https://host.example/a/b/blob/1234/src/a%20b.py#L42>)";
    assert!(markdown(&rows, Notices::default()).contains(expected), "{}", markdown(&rows, Notices::default()));
}

#[test]
fn every_export_says_what_the_code_ran_without() {
    let mut comparison = samples::changing();
    let of = |comparison: &Comparison| {
        let rows = rows(comparison);
        let log: Value = serde_json::from_str(&sarif(&rows, Notices::default(), "1")).unwrap();
        let run = log["runs"][0].clone();
        (rows.clone(), run["properties"]["sandbox"].clone(), run["results"][0]["properties"].clone())
    };
    comparison.sandbox = Some(SandboxReport::default());
    let (rows, run, result) = of(&comparison);
    assert_eq!(run, json!({ "ran": 1, "incomplete": 0, "lacks": [] }));
    assert_eq!(result, json!({ "sandboxLacks": [] }));
    assert!(
        junit(&rows, Notices::default()).contains(r#"<property name="twincell.sandbox" value="complete"/>"#),
        "{}",
        junit(&rows, Notices::default())
    );
    assert!(
        !markdown(&rows, Notices::default()).contains("sandbox")
            && !annotations(&rows, Notices::default()).contains("sandbox")
    );

    let lack = Lack { mechanism: Mechanism::Landlock, reason: "the kernel does not have it".into() };
    comparison.sandbox = Some(SandboxReport { lacks: vec![lack], ..SandboxReport::default() });
    let (rows, run, result) = of(&comparison);
    assert_eq!(run, json!({ "ran": 1, "incomplete": 1, "lacks": ["landlock"] }));
    assert_eq!(result, json!({ "sandboxLacks": ["landlock"] }));
    let mark = "The code ran without a complete sandbox, as --unsafe allows: no Landlock.";
    assert!(
        junit(&rows, Notices::default()).contains(mark)
            && markdown(&rows, Notices::default()).contains(&format!("**{mark}**"))
    );
    assert!(
        annotations(&rows, Notices::default()).contains(&format!("::warning title=Sandbox not complete::{mark}\n"))
    );
}

#[test]
fn a_finding_stands_at_the_changed_line_of_the_file() {
    let [one] = rows(&samples::changing()).try_into().unwrap();
    let pair = samples::changing_pair();
    let first = pair.new.lines.iter().find(|line| line.changed).unwrap().number;
    assert_eq!(one.line, Some(pair.new.first_line + first - 1));
}

fn hostile() -> Vec<ExportRow> {
    let mut rows = rows(&samples::hostile());
    let nasty = "|`@everyone` ]]> <script>x</script>\n::set-output name=a::b %0A#1 https://evil.test HTTPS://evil.test ftp://evil.test WWW.evil.test [x](https://evil.test) {0} \u{202e}\x1b[2J\0";
    for one in &mut rows {
        one.name = nasty.to_owned();
        one.file = Some(format!("{nasty}.py"));
        one.sentence = nasty.to_owned();
        one.verdict = Verdict::Changing;
        one.test = Some(format!("```\n</details>\n{nasty}"));
        for evidence in &mut one.evidence {
            (evidence.place, evidence.old, evidence.new) = (nasty.to_owned(), nasty.to_owned(), nasty.to_owned());
        }
    }
    rows
}

#[test]
fn hostile_text_stays_text() {
    let rows = hostile();
    let log: Value = serde_json::from_str(&sarif(&rows, Notices::default(), "1")).unwrap();
    let uri = log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"].clone();
    assert!(uri.as_str().unwrap().bytes().all(|byte| byte.is_ascii_graphic() && byte != b'<'), "{uri}");

    let xml = junit(&rows, Notices::default());
    let document = roxmltree::Document::parse(&xml).unwrap();
    assert!(document.descendants().all(|node| !node.has_tag_name("script")));

    let commands = annotations(&rows, Notices::default());
    assert_eq!(commands.lines().filter(|line| line.trim_start().starts_with("::")).count(), rows.len());
    assert!(commands.lines().all(|line| !line.trim_start().starts_with("::set-output")));

    let text = markdown(&rows, Notices::default());
    let ends = |text: &str| text.lines().filter(|line| *line == "</details>").count();
    let outside: String = text.split("````").step_by(2).collect();
    assert_eq!(ends(&outside), outside.matches("<details>").count(), "{text}");
    assert!(ends(&text) > ends(&outside), "the test holds one that ends nothing");
    for forbidden in ["\u{202e}", "\x1b", "\0"] {
        assert!([&xml, &commands, &text].iter().all(|written| !written.contains(forbidden)), "{forbidden:?}");
    }
}

#[test]
fn nothing_in_markdown_is_a_link_or_a_mention() {
    let text = markdown(&hostile(), Notices::default());
    for line in text.lines().filter(|line| line.starts_with("| ≠")) {
        let prose = line.rsplit_once(" | ").unwrap().1.to_lowercase();
        for forbidden in ["@everyone", "https://", "ftp://", "www.", "[x](", "#1"] {
            assert!(!prose.contains(forbidden), "{forbidden}: {line}");
        }
    }
    let log: Value = serde_json::from_str(&sarif(&hostile(), Notices::default(), "1")).unwrap();
    let message = log["runs"][0]["results"][0]["message"]["text"].as_str().unwrap();
    assert!(message.contains("\\[x\\](") && message.contains("{{0}}"), "{message}");
}
