//! Small histories, and what their units need and make.

use std::collections::BTreeMap;

use git2::{ObjectType, Oid, Repository, Signature};
use twincell_repo::Item;

use super::*;

/// A repository whose commits are made from whole trees: path to mode and content.
struct History {
    folder: tempfile::TempDir,
    git: Repository,
}

type Files = BTreeMap<String, (u32, Vec<u8>)>;

const PLAIN: u32 = 0o100_644;

impl History {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let git = Repository::init_bare(folder.path()).unwrap();
        Self { folder, git }
    }

    /// Writes a commit, names it by a branch, and gives its files.
    fn commit(&self, name: &str, parents: &[&str], files: &Files) {
        let objects = self.git.odb().unwrap();
        let parents: Vec<git2::Commit> = parents.iter().map(|name| self.find(name)).collect();
        let parents: Vec<&git2::Commit> = parents.iter().collect();
        let tree = self.tree(files, "", &objects);
        let author = Signature::new("A", "a@example.org", &git2::Time::new(1000, 0)).unwrap();
        let tree = self.git.find_tree(tree).unwrap();
        let id = self.git.commit(None, &author, &author, &format!("{name}\n\nMore.\n"), &tree, &parents).unwrap();
        self.git.reference(&format!("refs/heads/{name}"), id, true, "made").unwrap();
    }

    fn tree(&self, files: &Files, folder: &str, objects: &git2::Odb) -> Oid {
        let mut builder = self.git.treebuilder(None).unwrap();
        for (path, (mode, content)) in files {
            let Some(rest) = path.strip_prefix(folder) else { continue };
            match rest.split_once('/') {
                Some((name, _)) if builder.get(name).unwrap().is_none() => {
                    let inner = self.tree(files, &format!("{folder}{name}/"), objects);
                    builder.insert(name, inner, 0o040_000).unwrap();
                }
                Some(_) => {}
                None if *mode == Item::SUBMODULE => {
                    let id = Oid::hash_object(ObjectType::Blob, content).unwrap();
                    builder.insert(rest, id, *mode as i32).unwrap();
                }
                None => {
                    let id = objects.write(ObjectType::Blob, content).unwrap();
                    builder.insert(rest, id, *mode as i32).unwrap();
                }
            }
        }
        builder.write().unwrap()
    }

    fn find(&self, name: &str) -> git2::Commit<'_> {
        self.git.find_branch(name, git2::BranchType::Local).unwrap().get().peel_to_commit().unwrap()
    }

    fn read(&self, range: &str) -> Timeline {
        Timeline::read(self.folder.path(), range, &TimelineOptions::default()).unwrap()
    }
}

fn files(texts: &[(&str, &str)]) -> Files {
    texts.iter().map(|(path, text)| ((*path).to_owned(), (PLAIN, text.as_bytes().to_vec()))).collect()
}

/// A line of commits `0`, `1`, ... with these files.
fn line(versions: &[Files]) -> (History, Timeline) {
    let history = History::new();
    for (number, files) in versions.iter().enumerate() {
        let parent = number.checked_sub(1).map(|parent| parent.to_string());
        history.commit(&number.to_string(), &parent.as_deref().into_iter().collect::<Vec<_>>(), files);
    }
    let timeline = history.read(&format!("0..{}", versions.len() - 1));
    (history, timeline)
}

fn some(units: &[u32]) -> Selection {
    units.iter().copied().map(UnitId).collect()
}

fn needs(timeline: &Timeline) -> Vec<Vec<u32>> {
    let units = 0..timeline.units().len() as u32;
    units.map(|unit| timeline.text_needs(UnitId(unit)).iter().map(|one| one.0).collect()).collect()
}

fn text(timeline: &Timeline, taken: &[u32], path: &str) -> Option<String> {
    let tree = timeline.tree(&some(taken)).unwrap();
    let file = tree.file(path.as_bytes())?;
    Some(String::from_utf8(timeline.content(file, 1 << 20).unwrap()?.to_vec()).unwrap())
}

#[test]
fn lines_that_stand_for_themselves_need_nothing() {
    let (_history, timeline) = line(&[
        files(&[("a.txt", "a\nb\nc\n")]),
        files(&[("a.txt", "A\nb\nc\n")]),
        files(&[("a.txt", "A\nb\nc\nd\n")]),
        files(&[("a.txt", "A\nb\nc\nd\ne\n")]),
        files(&[("a.txt", "A!\nb\nc\nd\ne\n")]),
    ]);
    assert_eq!(needs(&timeline), [vec![], vec![], vec![], vec![0]]);
    assert_eq!(text(&timeline, &[2], "a.txt").as_deref(), Some("a\nb\nc\ne\n"));
    assert_eq!(text(&timeline, &[0, 3], "a.txt").as_deref(), Some("A!\nb\nc\n"));
}

/// The paper's running example (figure 2): the base, then one version for each atomic change.
fn foo() -> Vec<Files> {
    let text = |x: i32, y: bool, s: &str, g: bool, h: &str, m: bool| {
        let (y, g) =
            (if y { "    y = 3\n" } else { "" }, if g { "        z = self.m() if lib() else z\n" } else { "" });
        let m = if m { "\n    def m(self):\n        return self.y\n" } else { "" };
        let text = format!(
            "from ext import lib\n\n\nclass A:\n    def f(self):\n        return B().g()\n\n\nclass B:\n    x = {x}\n{y}    \
             s = {s}\n\n    def g(self):\n        z = self.h(self.s, self.x)\n{g}        return z\n\n    def h(self, v, t):\n        \
             return t if v {h} None else 0\n{m}"
        );
        files(&[("foo.py", &text)])
    };
    vec![
        text(0, false, "None", false, "is", false),
        text(1, false, "None", false, "is", false),
        text(1, true, "None", false, "is", false),
        text(1, true, "'abc'", false, "is", false),
        text(1, true, "'abc'", false, "is not", false),
        text(1, true, "'abc'", false, "is not", true),
        text(1, true, "'abc'", true, "is not", true),
    ]
}

#[test]
fn the_example_of_the_paper_has_its_dependencies() {
    let (_history, timeline) = line(&foo());
    let told: Vec<Vec<(String, EntityChangeKind)>> = timeline
        .units()
        .iter()
        .map(|unit| unit.entities.iter().map(|one| (one.name.qualname.to_string(), one.kind)).collect())
        .collect();
    let [update, insert] = [EntityChangeKind::Update, EntityChangeKind::Insert];
    let one = |name: &str, kind| vec![(name.to_owned(), kind)];
    assert_eq!(
        told,
        [
            one("B.x", update),
            one("B.y", insert),
            one("B.s", update),
            one("B.h", update),
            one("B.m", insert),
            one("B.g", update)
        ]
    );
    assert!(needs(&timeline).iter().all(Vec::is_empty), "{:?}", needs(&timeline));
    let names: Vec<Vec<(String, Vec<u32>)>> = (0..6)
        .map(|unit| {
            let needs = timeline.name_needs(UnitId(unit)).iter();
            needs
                .map(|need| {
                    let units = need.any_of.iter().map(|unit| unit.0).collect();
                    (need.names[0].qualname.to_string(), units)
                })
                .collect()
        })
        .collect();
    let need = |name: &str, unit| vec![(name.to_owned(), vec![unit])];
    assert_eq!(names, [vec![], vec![], vec![], vec![], need("B.y", 1), need("B.m", 4)]);
    // What `B.g` returns may be due to itself, and a step further to `x`, `s`, `h` and `m`.
    let entity = timeline.units()[5].entities[0].name.clone();
    assert_eq!(timeline.influences(&entity, 0), some(&[5]));
    assert_eq!(timeline.influences(&entity, 1), some(&[0, 2, 3, 4, 5]));
}

/// Random closed selections, from a number.
fn selections(timeline: &Timeline, count: u64) -> impl Iterator<Item = Selection> + '_ {
    (0..count).map(|seed| {
        let bits = |unit: u64| (seed * 1_000_003 + unit).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40 & 1 == 1;
        let taken: Selection = timeline.all().into_iter().filter(|unit| bits(u64::from(unit.0))).collect();
        timeline.closed(&taken)
    })
}

/// One version for each trap.
fn traps() -> Vec<Files> {
    let mut versions =
        vec![files(&[("a.py", "import os\n\ndef f():\n    return 1\n"), ("run.sh", "echo\n"), ("old.txt", "x\n")])];
    let mut next = |change: &dyn Fn(&mut Files)| {
        let mut files = versions[versions.len() - 1].clone();
        change(&mut files);
        versions.push(files);
    };
    let put = |files: &mut Files, path: &str, mode: u32, content: &[u8]| {
        files.insert(path.to_owned(), (mode, content.to_vec()));
    };
    // 0: a binary file, 1: changed, 2: executable, 3: a file goes, 4: a rename with a change, 5: a change after the rename.
    next(&|files| put(files, "b.bin", PLAIN, b"\0\x01"));
    next(&|files| put(files, "b.bin", PLAIN, b"\0\x02"));
    next(&|files| put(files, "run.sh", 0o100_755, b"echo\n"));
    next(&|files| {
        files.remove("old.txt");
    });
    next(&|files| {
        files.remove("a.py");
        put(files, "pkg/b.py", PLAIN, b"import os\n\ndef f():\n    return 1\n\ndef g():\n    return 2\n");
    });
    next(&|files| put(files, "pkg/b.py", PLAIN, b"import os\n\ndef f():\n    return 10\n\ndef g():\n    return 2\n"));
    // 6: a syntax error, 7: mended, 8: a link, 9: a submodule, 10: the link becomes a file.
    next(&|files| put(files, "pkg/c.py", PLAIN, b"def f(:\n"));
    next(&|files| put(files, "pkg/c.py", PLAIN, b"def f():\n    pass\n"));
    next(&|files| put(files, "to", Item::LINK, b"pkg/c.py"));
    next(&|files| put(files, "sub", Item::SUBMODULE, b"one"));
    next(&|files| put(files, "to", PLAIN, b"text\n"));
    // 11: no line end, 12: more lines, 13: Windows's line ends, 14: equal lines, 15: a folder where a file was.
    next(&|files| put(files, "to", PLAIN, b"text\nmore"));
    next(&|files| put(files, "to", PLAIN, b"text\nmore\nand more"));
    next(&|files| put(files, "w.txt", PLAIN, b"a\r\nb\r\n"));
    next(&|files| put(files, "w.txt", PLAIN, b"a\r\na\r\nb\r\nb\r\na\r\n"));
    next(&|files| {
        files.remove("run.sh");
        put(files, "run.sh/x", PLAIN, b"x");
    });
    // 16: a removed file returns as it was, 17: another content under a path that was free before.
    next(&|files| put(files, "old.txt", PLAIN, b"x\n"));
    next(&|files| put(files, "a.py", PLAIN, b"other = 1\n"));
    versions
}

#[test]
fn traps_end_in_the_trees_that_git_has() {
    let (_history, timeline) = line(&traps());
    let needs = needs(&timeline);
    assert_eq!(needs[1], [0]);
    assert_eq!(needs[5], [0; 0]);
    assert_eq!((needs[7].as_slice(), needs[10].as_slice()), (&[6][..], &[8][..]));
    assert!(needs[15].is_empty() && needs[16].is_empty());
    assert_eq!(needs[17], [4]);
    assert_eq!(text(&timeline, &[5], "a.py").as_deref(), Some("import os\n\ndef f():\n    return 10\n"));
    assert_eq!(timeline.units()[6].entities[0].name.qualname.as_ref(), "");
    for taken in selections(&timeline, 300) {
        let tree = timeline.tree(&taken).unwrap();
        let paths: Vec<&[u8]> = tree.files().iter().map(|file| &*file.path).collect();
        let is_below = |folder: &[u8], path: &[u8]| path.starts_with(folder) && path.get(folder.len()) == Some(&b'/');
        assert!(!paths.iter().any(|one| paths.iter().any(|other| is_below(one, other))), "{taken:?}");
    }
}

/// The same line elsewhere in a file is not the same change, and what the target took back is not there.
#[test]
fn a_target_has_what_changes_nothing_there() {
    let history = History::new();
    let shop = |f: u32, g: u32| {
        let padding = "    pass\n".repeat(8);
        files(&[("shop.py", &format!("def f():\n{padding}    return {f}\n\n\ndef g():\n{padding}    return {g}\n"))])
    };
    history.commit("base", &[], &shop(1, 1));
    history.commit("f", &["base"], &shop(2, 1));
    history.commit("g", &["base"], &shop(1, 2));
    history.commit("also-f", &["base"], &shop(2, 1));
    history.commit("back", &["also-f"], &shop(1, 1));
    history.commit("more", &["f"], &shop(1, 1));
    let there = |onto: &str| {
        let onto = Some(Revision::Commit(history.find(onto).id().to_string()));
        let options = TimelineOptions { onto, ..TimelineOptions::default() };
        Timeline::read(history.folder.path(), "base..f", &options).unwrap().given().len()
    };
    assert_eq!(["g", "also-f", "back", "f", "more"].map(there), [0, 1, 0, 1, 0]);
}

#[test]
fn files_that_all_are_given_make_no_unit_needed() {
    let (_history, mut timeline) = line(&[
        files(&[("a.py", "A = 1\n")]),
        files(&[("a.py", "A = 2\n"), ("tests/t.py", "def test_a():\n    pass\n")]),
        files(&[("a.py", "A = 2\n"), ("b.py", "B = 1\n"), ("tests/t.py", "def test_a():\n    import b\n")]),
        files(&[("a.py", "A = 3\n"), ("b.py", "B = 1\n"), ("tests/t.py", "def test_a():\n    import b\n")]),
    ]);
    assert_eq!(needs(&timeline), [vec![], vec![0], vec![0]]);
    timeline.free(&|path| path.starts_with("tests"));
    assert_eq!(needs(&timeline), [vec![], vec![], vec![0]]);
    // They are whole in every tree.
    assert_eq!(text(&timeline, &[1], "tests/t.py").as_deref(), Some("def test_a():\n    import b\n"));
    assert_eq!(text(&timeline, &[1], "a.py").as_deref(), Some("A = 1\n"));
    assert_eq!(text(&timeline, &[0, 2], "tests/t.py").as_deref(), Some("def test_a():\n    pass\n"));
}

/// A change around lines that were removed before cannot stand without their removal: they would come back in its middle.
#[test]
fn a_change_around_removed_lines_needs_their_removal() {
    let text = |indent: &str, middle: &str| format!("def f(n):\n{indent}a = n\n{middle}{indent}return a\n");
    let check = "    if n:\n        raise ValueError\n";
    let deeper = "def f(n):\n    with n:\n        a = n\n        return a\n";
    let versions = [text("    ", check), text("    ", ""), deeper.to_owned(), format!("{deeper}X = 1\n")];
    let (_history, timeline) = line(&versions.map(|text| files(&[("a.py", &text)])));
    assert_eq!(needs(&timeline), [vec![], vec![0], vec![]]);
}

/// Lines that come along come along in the file that needs them, and in no other.
#[test]
fn a_free_file_brings_no_other_one_along() {
    let all = |changes: &str, other: &str| files(&[("CHANGES", changes), ("other.lock", other), ("a.py", "")]);
    let (_history, mut timeline) =
        line(&[all("", "1\n"), all("3.0\n---\none\n", "2\n"), all("3.0\n---\ntwo\none\n", "2\n")]);
    assert_eq!(needs(&timeline), [vec![], vec![0]]);
    timeline.free(&|path| path.extension().is_none_or(|ending| ending != "py"));
    assert!(needs(&timeline).iter().all(Vec::is_empty));
    assert_eq!(text(&timeline, &[1], "CHANGES").as_deref(), Some("3.0\n---\ntwo\none\n"));
    assert_eq!(text(&timeline, &[1], "other.lock").as_deref(), Some("1\n"));
    // Whose lines they are is known.
    let brought = Brought { path: "CHANGES".into(), unit: UnitId(0), by: some(&[1]) };
    assert_eq!(timeline.brought(&some(&[1])), [brought]);
    assert_eq!(timeline.brought(&some(&[0, 1])), []);
    assert_eq!(timeline.brought(&some(&[0])), []);
}

/// A large table whose rows come anew, in another order, and again as they were. Steps, not time: quadratic matching would not end.
#[test]
fn a_table_that_is_written_anew_is_read() {
    let rows = |version: usize| (0..20_000).map(|row| format!("{row},{version}\n")).collect::<String>();
    let turned = (0..20_000).rev().map(|row| format!("{row},0\n")).collect::<String>();
    let versions = [rows(0), rows(1), rows(0), turned].map(|text| files(&[("rows.csv", &text)]));
    let (_history, timeline) = line(&versions);
    assert_eq!(needs(&timeline)[1], [0]);
    assert_eq!(timeline.tree(&some(&[])).unwrap().id(), timeline.tree(&some(&[0, 1])).unwrap().id());
}

#[test]
fn a_revert_needs_what_it_reverts_only_where_lines_go() {
    let (old, new) = ("a\nb\nc\n", "a\nB\nc\n");
    let versions = [old, new, old].map(|text| files(&[("a.txt", text)]));
    let (_history, timeline) = line(&versions);
    assert_eq!(needs(&timeline), [vec![], vec![0]]);
    assert_eq!(timeline.tree(&some(&[])).unwrap().id(), timeline.tree(&some(&[0, 1])).unwrap().id());
    // Lines that come back are the old ones, so they are there once.
    let versions = ["a\nb\nc\nd\n", "a\nd\n", "a\nb\nc\nd\n"].map(|text| files(&[("a.txt", text)]));
    let (_history, timeline) = line(&versions);
    assert!(needs(&timeline).iter().all(Vec::is_empty));
    assert_eq!(text(&timeline, &[1], "a.txt").as_deref(), Some("a\nb\nc\nd\n"));
}

#[test]
fn a_merge_is_what_only_the_merge_changed() {
    let history = History::new();
    let text = |top: &str, bottom: &str| format!("{top}\n1\n2\n3\n4\n{bottom}\n");
    let commit = |name: &str, parents: &[&str], text: &str| history.commit(name, parents, &files(&[("a.txt", text)]));
    commit("root", &[], &text("root", "root"));
    commit("base", &["root"], &text("base", "root"));
    // A branch that began before the range.
    commit("side", &["root"], &text("root", "side"));
    commit("main", &["base"], &text("main", "root"));
    commit("clean", &["main", "side"], &text("main", "side"));
    commit("other", &["side"], &text("root", "other"));
    commit("evil", &["clean", "other"], &format!("{}more\n", text("main", "other")));
    let timeline = history.read("base..evil");
    let subjects: Vec<&str> = timeline.units().iter().map(|unit| unit.subject.as_str()).collect();
    assert_eq!(subjects.len(), 4, "{subjects:?}");
    assert!(timeline.units()[3].is_merge && subjects[3] == "evil");
    let number = |name: &str| subjects.iter().position(|subject| *subject == name).unwrap() as u32;
    let needs = needs(&timeline);
    assert_eq!(needs[number("other") as usize], [number("side")]);
    assert!(needs[number("main") as usize].is_empty());
    assert_eq!(text_of(&timeline, &[number("side")]), text("base", "side"));

    fn text_of(timeline: &Timeline, taken: &[u32]) -> String {
        super::tests::text(timeline, taken, "a.txt").unwrap()
    }
}

#[test]
fn a_line_needs_the_block_that_it_stands_in() {
    let (_history, timeline) = line(&[
        files(&[("a.py", "def a():\n    return 1\n")]),
        files(&[("a.py", "def a():\n    return 1\n\n\ndef b(x):\n    return 2\n")]),
        files(&[("a.py", "def a():\n    return 1\n\n\ndef b(x):\n    print(x)\n    return 2\n")]),
        files(&[("a.py", "def a(y):\n    return 1\n\n\ndef b(x):\n    print(x)\n    return 2\n")]),
        files(&[("a.py", "def a(y):\n    print(y)\n    return 1\n\n\ndef b(x):\n    print(x)\n    return 2\n")]),
        files(&[(
            "a.py",
            "def a(y):\n    print(y)\n    return 1\n\n\n@cache\ndef b(x):\n    print(x)\n    return 2\n",
        )]),
    ]);
    // The head of `a` in another form is still the head of `a`.
    assert_eq!(needs(&timeline), [vec![], vec![0], vec![], vec![], vec![0]]);
}

#[test]
fn ranges_that_cannot_be_read_are_one_line() {
    let (history, _timeline) = line(&[files(&[("a", "1\n")]), files(&[("a", "2\n")]), files(&[("a", "3\n")])]);
    let read = |range: &str, max_commits| {
        let options = TimelineOptions { max_commits, ..TimelineOptions::default() };
        Timeline::read(history.folder.path(), range, &options).unwrap_err().to_string()
    };
    assert!(read("0..2", 1).ends_with("has more than 1 commits: choose a shorter range"));
    assert_eq!(read("2..2", 9), "2..2 changes no file: write OLD..NEW with the older commit first");
    assert_eq!(read("2", 9), "2 is no range of commits: write OLD..NEW");
    history.commit("apart", &[], &files(&[("a", "1\n")]));
    assert_eq!(read("apart..2", 9), "apart and 2 have no commit in common: choose a commit that 2 comes after");
}

fn git(folder: &Path, arguments: &[&str]) -> String {
    let mut command = std::process::Command::new("git");
    let names = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "core.autocrlf=false"];
    let output = command.arg("-C").arg(folder).args(names).args(arguments).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

#[test]
fn a_series_applies_in_order_and_gives_the_tree() {
    let (history, timeline) = line(&traps());
    let work = tempfile::tempdir().unwrap();
    let clone = work.path().join("clone");
    git(work.path(), &["clone", "-q", "--branch", "0", &history.folder.path().to_string_lossy(), "clone"]);
    for taken in [timeline.all()].into_iter().chain(selections(&timeline, 6)) {
        git(&clone, &["checkout", "-q", "-f", "--detach", "0"]);
        for patch in timeline.series(&taken).unwrap() {
            let file = work.path().join(&patch.file_name);
            std::fs::write(&file, &patch.text).unwrap();
            git(&clone, &[&["am", "-q"], &AM_OPTIONS[..], &[&*file.to_string_lossy()]].concat());
        }
        let made = timeline.tree(&taken).unwrap();
        assert_eq!(git(&clone, &["rev-parse", "HEAD^{tree}"]), made.id().to_string(), "{taken:?}");
    }
    let told = git(&clone, &["log", "-1", "--format=%an %ae %at %s/%b"]);
    assert!(told.starts_with("A a@example.org 1000 ") && told.ends_with("/More."), "{told}");
}

#[test]
fn mails_keep_names_messages_and_dates() {
    let (history, timeline) = line(&[files(&[("a", "1\n")]), files(&[("a", "2\n")])]);
    let author = Person {
        name: "J\u{f6}rg M., Jr.".into(),
        email: b"j@example.org".to_vec(),
        seconds: 1_730_404_787,
        offset_minutes: -420,
    };
    let unit = Unit { author, ..timeline.units()[0].clone() };
    let message = "[doc] Gr\u{fc}\u{df}e\nand more\n\nFrom: nobody\n--- a/x\ndiff --git\nend\n";
    let text = series::mail(&unit, message.as_bytes(), (1, 1), b"");
    let folder = history.folder.path();
    std::fs::write(folder.join("mail"), &text).unwrap();
    let mail = std::fs::File::open(folder.join("mail")).unwrap();
    let mut command = std::process::Command::new("git");
    let output = command.args(["mailinfo", "-b", "body", "patch"]).current_dir(folder).stdin(mail).output().unwrap();
    let told = String::from_utf8(output.stdout).unwrap();
    let expected = "Author: J\u{f6}rg M., Jr.\nEmail: j@example.org\nSubject: [doc] Gr\u{fc}\u{df}e and more\n\
                    Date: Thu, 31 Oct 2024 12:59:47 -0700\n\n";
    assert_eq!(told, expected);
    assert_eq!(std::fs::read_to_string(folder.join("body")).unwrap(), " From: nobody\n --- a/x\n diff --git\nend\n");
}

#[test]
fn a_branch_has_the_units_and_nothing_else_moves() {
    let (history, timeline) = line(&traps());
    let before = git(history.folder.path(), &["for-each-ref"]);
    let taken = timeline.closed(&some(&[5, 10, 13]));
    let written = timeline.branch(&taken, "slice").unwrap();
    assert_eq!(written.len(), taken.len());
    let tip = history.find("slice");
    assert_eq!(tip.tree_id().to_string(), timeline.tree(&taken).unwrap().id().to_string());
    assert_eq!((tip.author().when().seconds(), tip.message().unwrap()), (1000, "14\n\nMore.\n"));
    let after = git(history.folder.path(), &["for-each-ref"]);
    let others: Vec<&str> = after.lines().filter(|line| !line.ends_with("refs/heads/slice")).collect();
    assert_eq!(others.join("\n"), before);
    let error = timeline.branch(&taken, "slice").unwrap_err().to_string();
    assert_eq!(error, "there is a branch slice already: choose another name");
}

#[test]
fn reverts_and_what_a_branch_has_are_found() {
    let history = History::new();
    let text = |top: &str, bottom: &str| files(&[("a.txt", &format!("{top}\n1\n2\n3\n{bottom}\n"))]);
    history.commit("base", &[], &text("a", "x"));
    history.commit("change", &["base"], &text("b", "x"));
    history.commit("other", &["change"], &text("b", "y"));
    history.commit("undo", &["other"], &text("a", "y"));
    // The target has `other` under another hash.
    history.commit("target", &["base"], &text("a", "y"));
    let onto = Some(Revision::Commit("target".to_owned()));
    let options = TimelineOptions { onto, ..TimelineOptions::default() };
    let timeline = Timeline::read(history.folder.path(), "base..undo", &options).unwrap();
    let target = timeline.repo().commit_id(Some("target")).unwrap();
    let same = |unit, same| SameAs { unit: UnitId(unit), same, known_by: KnownBy::Lines };
    assert_eq!(timeline.same(), [same(2, Same::Reverts(UnitId(0))), same(1, Same::InTarget(target))]);
}

#[test]
fn what_a_branch_undid_again_is_not_there() {
    let history = History::new();
    let text = |top: &str, bottom: &str| files(&[("a.txt", &format!("{top}\n1\n2\n3\n{bottom}\n"))]);
    history.commit("base", &[], &text("a", "x"));
    history.commit("change", &["base"], &text("b", "x"));
    history.commit("more", &["change"], &text("b", "y"));
    history.commit("again", &["base"], &text("b", "x"));
    history.commit("undone", &["again"], &text("a", "x"));
    let read = |onto: &str| {
        let onto = Some(Revision::Commit(onto.to_owned()));
        let options = TimelineOptions { onto, ..TimelineOptions::default() };
        let timeline = Timeline::read(history.folder.path(), "base..more", &options).unwrap();
        timeline.same().iter().map(|same| (same.unit.0, same.known_by)).collect::<Vec<_>>()
    };
    assert_eq!(read("again"), [(0, KnownBy::Lines)]);
    assert_eq!(read("undone"), []);
    assert_eq!(read("change"), [(0, KnownBy::Commit)]);
}

#[test]
fn a_commit_is_split_by_file_and_by_entity() {
    let history = History::new();
    let old =
        files(&[("a.py", "import os\n\n\ndef f():\n    return 1\n\n\ndef g():\n    return 1\n"), ("a.txt", "x\n")]);
    let new = "import os\nimport sys\n\n\ndef f():\n    return 2\n\n\nclass C:\n    x = 1\n\n    def m(self):\n        \
               return f()\n\n\ndef new():\n    return 1\n\n\ndef g():\n    return 3\n";
    history.commit("0", &[], &old);
    history.commit("1", &["0"], &files(&[("a.py", new), ("a.txt", "y\n")]));
    let options = TimelineOptions { by: By::Change, ..TimelineOptions::default() };
    let timeline = Timeline::read(history.folder.path(), "0..1", &options).unwrap();
    let parts: Vec<(String, Option<String>)> = timeline
        .units()
        .iter()
        .filter_map(|unit| unit.part.as_ref())
        .map(|part| (part.path.display().to_string(), part.entity.as_ref().map(ToString::to_string)))
        .collect();
    let part = |path: &str, entity: Option<&str>| (path.to_owned(), entity.map(str::to_owned));
    let python = [None, Some("f"), Some("C"), Some("new"), Some("g")].map(|entity| part("a.py", entity));
    assert_eq!(parts, python.into_iter().chain([part("a.txt", None)]).collect::<Vec<_>>());
    assert!(needs(&timeline).iter().all(Vec::is_empty), "{:?}", needs(&timeline));
    let only_new = "import os\n\n\ndef f():\n    return 1\n\n\ndef new():\n    return 1\n\n\ndef g():\n    return 1\n";
    assert_eq!(text(&timeline, &[3], "a.py").as_deref(), Some(only_new));
    assert_eq!(timeline.series(&timeline.all()).unwrap().len(), 1);
    let entities: Vec<usize> = timeline.units().iter().map(|unit| unit.entities.len()).collect();
    assert_eq!(entities, [1, 1, 3, 1, 1, 0]);
}

#[test]
fn a_unit_has_the_diff_that_its_commit_makes() {
    let (_history, timeline) = line(&[
        files(&[("a.txt", "a\nb\n"), ("other.txt", "x\n")]),
        files(&[("a.txt", "a\nB\n"), ("other.txt", "x\n")]),
        files(&[("b.txt", "a\nB\n"), ("other.txt", "x\n"), ("c.bin", "\0c")]),
    ]);
    let diffs = timeline.diffs().unwrap();
    let of = |unit| String::from_utf8(diffs.of(UnitId(unit)).unwrap()).unwrap();
    assert!(of(0).ends_with("--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n a\n-b\n+B\n"), "{}", of(0));
    let renamed = of(1);
    assert!(renamed.contains("rename from a.txt\nrename to b.txt\n") && !renamed.contains("other"), "{renamed}");
    assert!(renamed.contains("\nBinary files /dev/null and b/c.bin differ\n"), "{renamed}");
    assert_eq!(of(2), "");
}
