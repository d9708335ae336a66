//! What makes the graph unsure, and files that are no code.

use super::{Files, project, selected};
use crate::NoProver;
use crate::selection::{DoubtKind, FileChange, FileContent, Selection, SelectionOptions, select};

const FILES: Files<'_> = &[
    ("a.py", "def page():\n    return open('templates/page.html').read()\n"),
    ("test_a.py", "from a import page\ndef test_page():\n    page()\ndef test_free():\n    pass\n"),
];

fn with_file(path: &str, old: &str, new: &str) -> Selection {
    let content = |text: &str| FileContent::Text(text.into());
    let files = vec![FileChange { path: path.into(), old: content(old), new: content(new) }];
    select(&project(FILES), &project(FILES), &SelectionOptions { files, ..SelectionOptions::default() }, &NoProver)
}

#[test]
fn a_data_file_reaches_the_tests_whose_code_names_it() {
    let found = with_file("templates/page.html", "a", "b");
    assert_eq!(selected(&found), ["test_page"]);
    assert!(!found.run_all && found.doubts.is_empty());
    // By what its name ends with, and by its folder.
    assert_eq!(selected(&with_file("other/base.html", "a", "b")), ["test_page"]);
    assert_eq!(selected(&with_file("templates/style.css", "a", "b")), ["test_page"]);
}

#[test]
fn a_pattern_reaches_what_it_matches_and_a_name_no_other_data() {
    let code = "def all(folder):\n    return folder.glob('old/*.json')\ndef one():\n    return open('one.json')\n";
    let files: Files<'_> = &[
        ("a.py", code),
        ("test_a.py", "from a import all, one\ndef test_all():\n    all(1)\ndef test_one():\n    one()\n"),
    ];
    let run = |path: &str| {
        let file = FileChange { path: path.into(), old: FileContent::Absent, new: FileContent::Binary };
        let options = SelectionOptions { files: vec![file], ..SelectionOptions::default() };
        let found = select(&project(files), &project(files), &options, &NoProver);
        selected(&found).into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(run("tests/old/x.json"), ["test_all"]);
    assert_eq!(run("tests/one.json"), ["test_one"]);
    assert!(run("tests/new/x.json").is_empty());
    let code = "def all(folder):\n    return folder.glob('*')\n";
    let changed = FileChange { path: "x.json".into(), old: FileContent::Absent, new: FileContent::Binary };
    let options = SelectionOptions { files: vec![changed], ..SelectionOptions::default() };
    let open = || project(&[("a.py", code), ("test_a.py", "from a import all\ndef test_all():\n    all(1)\n")]);
    assert!(selected(&select(&open(), &open(), &options, &NoProver)).is_empty());
}

#[test]
fn a_file_that_nobody_names_is_a_doubt() {
    let found = with_file("notes.md", "a", "b");
    assert!(selected(&found).is_empty() && !found.run_all);
    assert_eq!(found.doubts.iter().map(|doubt| doubt.kind).collect::<Vec<_>>(), [DoubtKind::DataFile]);
}

#[test]
fn settings_that_tests_read_concern_all() {
    let old = "[project]\nname = 'a'\nversion = '1'\n[tool.ruff]\nx = 1\n[tool.pytest.ini_options]\naddopts = ''\n";
    for (from, to, all) in [
        ("version = '1'", "version = '2'", false),
        ("x = 1", "x = 2", false),
        ("addopts = ''", "addopts = '-x'", true),
        ("name = 'a'", "name = 'a'\ndependencies = [\n    'b',\n]", true),
    ] {
        let found = with_file("pyproject.toml", old, &old.replace(from, to));
        assert_eq!(found.run_all, all, "{to}");
    }
    assert!(with_file("src/fast.pyx", "a", "b").run_all);
}

#[test]
fn what_is_not_in_the_text_is_a_doubt_with_its_place() {
    let files: Files<'_> =
        &[("a.py", "def f(x, name):\n    exec(x)\n    getattr(x, name)\n    __import__(name)\n"), ("b.py", "def (:\n")];
    let found = select(&project(files), &project(files), &SelectionOptions::default(), &NoProver);
    let doubts: Vec<(&str, u32, DoubtKind)> =
        found.doubts.iter().map(|doubt| (&*doubt.path, doubt.line, doubt.kind)).collect();
    assert_eq!(
        doubts,
        [
            ("a.py", 2, DoubtKind::Exec),
            ("a.py", 3, DoubtKind::DynamicAttribute),
            ("a.py", 4, DoubtKind::DynamicImport),
            ("b.py", 0, DoubtKind::Unread)
        ]
    );
}

#[test]
fn a_long_text_that_changes_concerns_all() {
    let long = |value: u32| format!("X = {value}\n# {}\n", "x".repeat(1 << 20));
    let (one, other) = (long(1), long(2));
    let open = |text: &str| project(&[("big.py", text), FILES[1]]);
    let found = |old: &str, new: &str| select(&open(old), &open(new), &SelectionOptions::default(), &NoProver);
    let same = found(&one, &one);
    assert!(!same.run_all && same.doubts[0].kind == DoubtKind::Unread);
    let changed = found(&one, &other);
    assert!(changed.run_all && changed.doubts[0].kind == DoubtKind::UnreadChange);
}
