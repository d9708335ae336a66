//! Slices of small repositories, from beginning to end.

use std::fs;
use std::ops::ControlFlow;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use git2::{IndexAddOption, Repository, Signature, StatusOptions};
use twincell_engine::Stop;
use twincell_repo::{Cache, Revision};
use twincell_semantic::SymbolName;
use twincell_slice::refine::{Lacking, MissingName, Scheme};
use twincell_slice::{
    Applied, Behavior, By, Ended, Goal, Goes, KnownBy, NotCompared, Outcome, Progress, Setup, Slice, SliceError,
    SliceOptions, SliceUnit, Stays, Timeline, TimelineOptions, UnitState, Version, slice,
};
use twincell_testing::{TestLimits, environment};

struct Project {
    folder: tempfile::TempDir,
    cache: tempfile::TempDir,
}

impl Project {
    fn new() -> Self {
        let project = Self { folder: tempfile::tempdir().unwrap(), cache: tempfile::tempdir().unwrap() };
        Repository::init(project.folder.path()).unwrap();
        project
    }

    /// Writes files, or removes those without a text, and commits.
    fn commit(&self, subject: &str, files: &[(&str, Option<&[u8]>)]) {
        for (path, content) in files {
            let path = self.folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            match content {
                Some(content) => fs::write(path, content).unwrap(),
                None => fs::remove_file(path).unwrap(),
            }
        }
        let repository = Repository::open(self.folder.path()).unwrap();
        let mut index = repository.index().unwrap();
        index.add_all(["*"], IndexAddOption::DEFAULT, None).unwrap();
        index.update_all(["*"], None).unwrap();
        index.write().unwrap();
        let tree = repository.find_tree(index.write_tree().unwrap()).unwrap();
        let who = Signature::now("A", "a@example.org").unwrap();
        let parent = repository.head().ok().and_then(|head| head.peel_to_commit().ok());
        let parents: Vec<_> = parent.iter().collect();
        repository.commit(Some("HEAD"), &who, &who, subject, &tree, &parents).unwrap();
    }

    /// Commits on a new branch that begins at the first commit, and comes back.
    fn branch(&self, name: &str, subject: &str, files: &[(&str, Option<&[u8]>)]) {
        let repository = Repository::open(self.folder.path()).unwrap();
        let before = repository.head().unwrap().name().unwrap().to_owned();
        let mut first = repository.head().unwrap().peel_to_commit().unwrap();
        while let Ok(parent) = first.parent(0) {
            first = parent;
        }
        repository.branch(name, &first, false).unwrap();
        let show = |name: &str| {
            repository.set_head(name).unwrap();
            repository.checkout_head(Some(git2::build::CheckoutBuilder::new().force().remove_untracked(true))).unwrap();
        };
        show(&format!("refs/heads/{name}"));
        self.commit(subject, files);
        show(&before);
    }

    fn timeline(&self, range: &str) -> Timeline {
        Timeline::read(self.folder.path(), range, &TimelineOptions::default()).unwrap()
    }

    fn slice(&self, range: &str, options: &SliceOptions) -> Result<Slice, SliceError> {
        self.slice_within(range, options, None, tests_alone())
    }

    fn slice_with(
        &self,
        range: &str,
        options: &SliceOptions,
        behavior: Option<&dyn Behavior>,
    ) -> Result<Slice, SliceError> {
        self.slice_within(range, options, behavior, tests_alone())
    }

    fn slice_within(
        &self,
        range: &str,
        options: &SliceOptions,
        behavior: Option<&dyn Behavior>,
        limits: TestLimits,
    ) -> Result<Slice, SliceError> {
        let python = std::env::var_os("TWINCELL_PYTHON").map_or_else(|| PathBuf::from("python3"), PathBuf::from);
        let setup = Setup {
            repository: self.folder.path().to_owned(),
            cache: Cache::new(self.cache.path().to_owned()),
            environment: environment(Path::new("/"), Some(&python), &python).unwrap(),
            limits,
            repeat: 1,
        };
        let options = SliceOptions { range: range.to_owned(), ..options.clone() };
        slice(&setup, &options, behavior, &mut |_: Progress| ControlFlow::Continue(())).map(|(slice, _)| slice)
    }
}

fn tests_alone() -> TestLimits {
    TestLimits { arguments: vec!["tests".into()], ..TestLimits::default() }
}

fn options() -> SliceOptions {
    SliceOptions {
        range: String::new(),
        goal: Goal::Pass,
        onto: None,
        scheme: Scheme::Combined,
        by: By::Commit,
        jobs: 1,
        runs: usize::MAX,
        deadline: None,
        watch: true,
    }
}

fn text(text: &str) -> Option<&[u8]> {
    Some(text.as_bytes())
}

fn staying(slice: &Slice) -> Vec<&str> {
    slice.units.iter().filter(|unit| unit.state.stays()).map(|unit| unit.subject.as_str()).collect()
}

/// A feature of two commits among others, with a rename, a deleted and a binary file, another mode, and a syntax error.
fn shop() -> Project {
    let project = Project::new();
    let (plain, taxed) =
        ("def price(n):\n    return n\n", "from tax import tax\n\n\ndef price(n):\n    return tax(n)\n");
    let test = "from shop import price\n\n\ndef test_price():\n    assert price(2) == 4\n";
    project.commit("Begin", &[("shop.py", text(plain)), ("util.py", text("X = 1\n")), ("old.py", text("Y = 1\n"))]);
    project.commit("Say what it is", &[("README.md", text("Shop\n"))]);
    project.commit("Add a tax", &[("tax.py", text("def tax(n):\n    return 2 * n\n"))]);
    project.commit("Rename a module", &[("util.py", None), ("helpers.py", text("X = 1\n"))]);
    project.commit("Break a module", &[("other.py", text("def f(:\n"))]);
    project.commit("Mend it", &[("other.py", text("def f():\n    return 1\n"))]);
    project.commit("Add a logo", &[("logo.png", Some(&[0, 1, 2, 255]))]);
    fs::set_permissions(project.folder.path().join("helpers.py"), fs::Permissions::from_mode(0o755)).unwrap();
    project.commit("Make it run", &[]);
    project.commit("Use the tax", &[("shop.py", text(taxed))]);
    project.commit("Remove a module", &[("old.py", None)]);
    project.commit("Comment", &[("shop.py", text(&format!("# Prices\n{taxed}")))]);
    project.commit("Test the tax", &[("tests/test_shop.py", text(test))]);
    project
}

#[test]
fn a_feature_is_found_among_other_commits() {
    let project = shop();
    let range = "HEAD~11..HEAD";
    let found = project.slice(range, &options()).unwrap();
    assert_eq!(staying(&found), ["Add a tax", "Use the tax"], "{found:#?}");
    assert!(found.is_minimal && found.ended == Ended::Minimal);
    let state = |subject: &str| &found.units.iter().find(|unit| unit.subject == subject).unwrap().state;
    let UnitState::Stays(Stays::TestsFail { first, .. }) = state("Add a tax") else { panic!("{found:#?}") };
    assert!(first[0].failure.as_ref().unwrap().message.contains("No module named 'tax'"), "{first:?}");
    assert!(matches!(state("Say what it is"), UnitState::Goes(Goes::NotRun { .. })));
    // The tests are the question.
    assert!(matches!(state("Test the tax"), UnitState::Goes(_)));
    // Delta debugging finds the same, and so do several jobs.
    for other in [SliceOptions { scheme: Scheme::Basic, ..options() }, SliceOptions { jobs: 3, ..options() }] {
        assert_eq!(staying(&project.slice(range, &other).unwrap()), staying(&found));
    }
    // Its patches are those of the two commits.
    let names: Vec<_> = project.timeline(range).series(&found.selection()).unwrap();
    let names: Vec<_> = names.iter().map(|patch| patch.file_name.as_str()).collect();
    assert_eq!(names, ["0001-Add-a-tax.patch", "0002-Use-the-tax.patch"]);
    // The repository is as it was.
    let repository = Repository::open(project.folder.path()).unwrap();
    assert_eq!(repository.statuses(Some(StatusOptions::new().include_untracked(true))).unwrap().len(), 0);
    assert_eq!(repository.references().unwrap().count(), 1);
}

#[test]
fn what_the_tests_cannot_import_is_known_without_a_run() {
    let project = Project::new();
    let shop = "from .rates import RATE\nfrom .tax import tax\n\n\ndef price(n):\n    return tax(n) * RATE\n";
    let plain =
        [("pkg/__init__.py", ""), ("pkg/shop.py", "def price(n):\n    return n\n"), ("pkg/rates.py", "LOW = 1\n")];
    project.commit("Begin", &plain.map(|(path, content)| (path, text(content))));
    project.commit("Say what it is for", &[("pkg/rates.py", text("LOW = 1  # for food\n"))]);
    project.commit("Add a rate", &[("pkg/rates.py", text("LOW, RATE = 1, 2  # for food\n"))]);
    project.commit("Say what it is", &[("README.md", text("Shop\n"))]);
    project.commit("Add a tax", &[("pkg/tax.py", text("def tax(n):\n    return n\n"))]);
    project.commit("Use both", &[("pkg/shop.py", text(shop))]);
    let test = "from pkg.shop import price\n\n\ndef test_price():\n    assert price(2) == 4\n";
    project.commit("Test it", &[("tests/test_shop.py", text(test))]);
    let found = project.slice("HEAD~6..HEAD", &options()).unwrap();
    assert_eq!(staying(&found), ["Say what it is for", "Add a rate", "Add a tax", "Use both"], "{found:#?}");
    assert!(found.is_minimal && found.predicted > 0, "{found:#?}");
    // One of the two without which there is no rate was tried, and the other one fails for the same reason.
    let lacking = |unit: &SliceUnit| match &unit.state {
        UnitState::Stays(Stays::NameNeeded { lacking, .. }) => Some(lacking.clone()),
        _ => None,
    };
    let lacking: Vec<Lacking> = found.units.iter().filter_map(lacking).collect();
    let member = MissingName::Member { module: "pkg.rates".into(), name: "RATE".into() };
    assert_eq!(lacking, [Lacking { path: "pkg/shop.py".into(), line: 1, missing: member }]);
    // Delta debugging runs all.
    let basic = project.slice("HEAD~6..HEAD", &SliceOptions { scheme: Scheme::Basic, ..options() }).unwrap();
    assert_eq!((staying(&basic), basic.predicted), (staying(&found), 0));
}

#[test]
fn what_only_seems_to_be_missing_holds_no_commit() {
    let project = Project::new();
    let conftest = "import sys\nimport types\n\nmade = types.ModuleType('pkg.made')\nmade.f = lambda: 1\nsys.modules['pkg.made'] = made\n";
    project
        .commit("Begin", &[("pkg/__init__.py", text("")), ("conftest.py", text(conftest)), ("pkg/shop.py", text(""))]);
    project.commit("Use it", &[("pkg/shop.py", text("from pkg.made import f\n"))]);
    project.commit("Say what it is", &[("README.md", text("Shop\n"))]);
    project.commit("Make it", &[("pkg/made.py", text("def f():\n    return 1\n"))]);
    let test = "from pkg.made import f\nfrom pkg.shop import f as g\n\n\ndef test_f():\n    assert f() == g() == 1\n";
    project.commit("Test it", &[("tests/test_shop.py", text(test))]);
    for scheme in [Scheme::Combined, Scheme::Basic] {
        let found = project.slice("HEAD~4..HEAD", &SliceOptions { scheme, ..options() }).unwrap();
        assert_eq!(staying(&found), ["Use it"], "{found:#?}");
    }
}

/// The running example of the paper (Fig. 2), and the larger one of section 4.2, a commit for each change. The paper takes six runs for
/// either; a compiler tells it of names that only a run shows here, so that the larger one takes nine.
#[test]
fn the_running_examples_of_the_paper_give_its_slice() {
    for (last, most) in [(6, 6), (8, 9)] {
        let project = Project::new();
        let foo = |taken: u32| {
            let new = |change: u32, new: &'static str, old: &'static str| if change <= taken { new } else { old };
            [
                "class A:\n    def f(self):\n        return B().g()\n\n\ndef lib():\n    return False\n\n\nclass B:\n",
                "    def __init__(self):\n",
                new(1, "        self.x = 2\n", "        self.x = 1\n"),
                new(2, "        self.y = 3\n", ""),
                new(3, "        self.s = 'abc'\n", "        self.s = None\n"),
                new(7, "        self.t = 4\n", ""),
                "\n    def g(self):\n        z = self.h(self.x, self.s)\n",
                new(6, "        z = z if lib() else self.m()\n", ""),
                "        return z\n\n    def h(self, i, s):\n",
                new(4, "        return i if s is not None else 0\n", "        return i if s is None else 0\n"),
                new(5, "\n    def m(self):\n        return self.y\n", ""),
                new(8, "\n    def n(self):\n        return self.t\n", ""),
            ]
            .concat()
        };
        let test = "from foo import A\n\n\ndef test_a():\n    assert A().f() == 3\n";
        project.commit("0", &[("foo.py", text(&foo(0))), ("tests/test_foo.py", text(test))]);
        (1..=last).for_each(|change| project.commit(&change.to_string(), &[("foo.py", text(&foo(change)))]));
        let found = project.slice(&format!("HEAD~{last}..HEAD"), &options()).unwrap();
        assert_eq!(staying(&found), ["2", "5", "6"], "{found:#?}");
        // The first one is that of the whole history.
        assert!(found.is_minimal && found.steps.len() - 1 <= most, "{found:#?}");
    }
}

#[test]
fn changes_within_a_commit_are_told_apart() {
    let project = Project::new();
    project.commit("Begin", &[("shop.py", text("def a():\n    return 1\n\n\ndef b():\n    return 1\n"))]);
    let test = "import shop\n\n\ndef test_a():\n    assert shop.a() == 2\n";
    project.commit(
        "Change much",
        &[
            ("shop.py", text("def a():\n    return 2\n\n\ndef b():\n    return 2\n")),
            ("more.py", text("Z = 1\n")),
            ("tests/test_a.py", text(test)),
        ],
    );
    let found = project.slice("HEAD~1..HEAD", &SliceOptions { by: By::Change, ..options() }).unwrap();
    let staying: Vec<_> = found.units.iter().filter(|unit| unit.state.stays()).collect();
    assert_eq!(staying.len(), 1, "{found:#?}");
    assert_eq!(staying[0].part.as_ref().unwrap().path, "shop.py");
}

#[test]
fn a_change_and_its_revert_both_go() {
    let project = Project::new();
    let of = |value: u32| format!("def a():\n    return {value}\n");
    project.commit("Begin", &[("shop.py", text(&of(1)))]);
    project.commit("Change", &[("shop.py", text(&of(2)))]);
    project.commit("Revert", &[("shop.py", text(&of(1)))]);
    project.commit("Add b", &[("b.py", text("def b():\n    return 5\n"))]);
    let test = "import b\nimport shop\n\n\ndef test_a():\n    assert (shop.a(), b.b()) == (1, 5)\n";
    project.commit("Test", &[("tests/test_a.py", text(test))]);
    let found = project.slice("HEAD~4..HEAD", &options()).unwrap();
    assert_eq!(staying(&found), ["Add b"], "{found:#?}");
    // The first candidate has neither.
    let states: Vec<_> = found.units.iter().map(|unit| &unit.state).collect();
    assert!(
        matches!(
            states[..2],
            [
                UnitState::Goes(Goes::Reverted { by: 1, step: 1, .. }),
                UnitState::Goes(Goes::Reverts { unit: 0, step: 1, .. })
            ]
        ),
        "{found:#?}"
    );
}

/// A feature of two commits, of which a branch may have the first.
fn taxed() -> Project {
    let project = Project::new();
    let plain = "def price(n):\n    return n\n";
    project.commit("Begin", &[("shop.py", text(plain)), ("rate.py", text("RATE = 2\n"))]);
    project.commit("Say what it is", &[("README.md", text("Shop\n"))]);
    project.commit("Add a tax", &[("tax.py", text(TAX))]);
    project.commit("Use the tax", &[("shop.py", text("from tax import tax\n\n\ndef price(n):\n    return tax(n)\n"))]);
    let test = "from shop import price\n\n\ndef test_price():\n    assert price(2) == 4\n";
    project.commit("Test the tax", &[("tests/test_shop.py", text(test))]);
    project
}

const TAX: &str = "from rate import RATE\n\n\ndef tax(n):\n    return RATE * n\n";

#[test]
fn what_a_branch_has_is_given_and_the_rest_is_tried_on_it() {
    let project = taxed();
    project.branch("stable", "Add the same tax", &[("tax.py", text(TAX)), ("other.py", text("X = 1\n"))]);
    project.branch("picked", "Add a tax too", &[("tax.py", text(TAX))]);
    project.branch("changed", "Price otherwise", &[("shop.py", text("def price(n):\n    return n + 1\n"))]);
    project.branch("dear", "Raise the rate", &[("rate.py", text("RATE = 5\n"))]);
    let range = "HEAD~4..HEAD";
    let repository = Repository::open(project.folder.path()).unwrap();
    let onto = |name: &str| {
        // Runs that nobody needs any more are ended, and not the one on the branch.
        let onto = SliceOptions { onto: Some(name.to_owned()), jobs: 3, ..options() };
        let found = project.slice(range, &onto).unwrap();
        let target = found.target.clone().unwrap();
        assert_eq!(target.name, name);
        (found, target.applied)
    };
    let (found, applied) = onto("picked");
    assert_eq!(found.end, repository.revparse_single("HEAD").unwrap().id().to_string());
    // The branch lacks the tests, which are those of the end.
    assert_eq!(found.tests.differing, ["tests"]);
    assert_eq!(staying(&found), ["Use the tax"], "{found:#?}");
    assert!(matches!(found.units[1].state, UnitState::Goes(Goes::InTarget { known_by: KnownBy::Lines, .. })));
    assert!(matches!(applied, Applied::Passes), "{applied:?}");
    // A commit that does more is another one.
    let (found, applied) = onto("stable");
    assert_eq!(staying(&found), ["Add a tax", "Use the tax"]);
    assert!(matches!(applied, Applied::Passes), "{applied:?}");
    let (found, applied) = onto("changed");
    let Applied::Conflicts { unit, files } = applied else { panic!("{applied:?}") };
    assert_eq!((found.units[unit].subject.as_str(), files), ("Use the tax", vec!["shop.py".to_owned()]));
    let (_, applied) = onto("dear");
    let Applied::Fails { count: 1, first } = applied else { panic!("{applied:?}") };
    assert_eq!(first[0].test, "tests/test_shop.py::test_price");
    // All of the range is there.
    let (found, applied) = onto("HEAD");
    assert!(found.tests.differing.is_empty());
    assert!(found.size() == 0 && found.is_minimal && matches!(applied, Applied::Passes), "{found:#?}");
    assert_eq!(project.slice(range, &options()).unwrap().tests.differing, ["tests"]);
    // The branch stands on the target.
    let read = |name: &str| {
        let onto = Some(Revision::Commit(name.to_owned()));
        Timeline::read(project.folder.path(), range, &TimelineOptions { onto, ..TimelineOptions::default() }).unwrap()
    };
    let (found, _) = onto("picked");
    let timeline = read("picked");
    assert_eq!(timeline.series(&found.selection()).unwrap().len(), 1);
    timeline.branch(&found.selection(), "moved").unwrap();
    let tip =
        |name: &str| repository.find_branch(name, git2::BranchType::Local).unwrap().get().peel_to_commit().unwrap();
    assert_eq!(tip("moved").parent(0).unwrap().id(), tip("picked").id());
    let error = read("changed").branch(&found.selection(), "none").unwrap_err().to_string();
    assert!(error.contains(" does not apply to the branch, because of shop.py: "), "{error}");
}

#[test]
fn the_commits_that_make_a_test_fail_are_found() {
    let project = Project::new();
    let test = "from shop import price\n\n\ndef test_price():\n    assert price(2) == 4\n";
    let shop = |body: &str| format!("def price(n):\n    return {body} * n\n");
    project.commit("Begin", &[("shop.py", text(&shop("2"))), ("tests/test_shop.py", text(test))]);
    project.commit("Say what it is", &[("README.md", text("Shop\n"))]);
    project.commit("Add a rate", &[("rate.py", text("RATE = 3\n"))]);
    project.commit("Use the rate", &[("shop.py", text(&format!("from rate import RATE\n\n\n{}", shop("RATE"))))]);
    project.commit("Do something else", &[("other.py", text("X = 1\n"))]);
    let fail = SliceOptions { goal: Goal::Fail, ..options() };
    let found = project.slice("HEAD~4..HEAD", &fail).unwrap();
    assert_eq!(staying(&found), ["Add a rate", "Use the rate"], "{found:#?}");
    assert!(found.is_minimal && found.tests.failures[0].test == "tests/test_shop.py::test_price");
    assert_eq!(found.tests.reproduced, ["tests/test_shop.py::test_price"]);
    let instead = |unit: usize| match &found.units[unit].state {
        UnitState::Stays(Stays::NotReproduced { first, .. }) => first[0].outcome,
        other => panic!("{other:?}"),
    };
    // Without the rate the test cannot even be collected, which is another failure.
    assert_eq!((instead(1), instead(2)), (Outcome::NotFound, Outcome::Passed));
    // A test that cannot be collected any more fails by the same class of error.
    project.commit("Rename", &[("shop.py", text("def cost(n):\n    return 2 * n\n"))]);
    project.commit("Comment", &[("other.py", text("# Other\nX = 1\n"))]);
    let found = project.slice("HEAD~2..HEAD", &fail).unwrap_err().to_string();
    assert!(
        found.starts_with("tests/test_shop.py fails at the end of the range and does not pass at its start"),
        "{found}"
    );
    let found = project.slice("HEAD~6..HEAD", &fail).unwrap();
    // It replaces what another commit wrote.
    assert_eq!(staying(&found), ["Use the rate", "Rename"], "{found:#?}");
    let UnitState::Stays(Stays::NotReproduced { by, .. }) = &found.units[2].state else { panic!("{found:#?}") };
    assert_eq!(by, &[4]);
    let failure = found.tests.failures[0].failure.as_ref().unwrap();
    assert_eq!(failure.exception, "ImportError");
    let error = project.slice("HEAD~6..HEAD~4", &fail).unwrap_err().to_string();
    assert!(error.starts_with("none of the tests (1) fails at the end of the range"), "{error}");
}

/// Two files whose functions differ only by a needless addition do the same.
struct WithoutZeros<'a>(&'a Project);

impl Behavior for WithoutZeros<'_> {
    fn is_same(&self, function: &SymbolName, old: &Version, new: &Version) -> Result<Option<bool>, NotCompared> {
        let repository = Repository::open(self.0.folder.path()).unwrap();
        let text = |version: &Version| {
            let tree = repository.revparse_single(&version.commit.to_string()).unwrap().peel_to_tree().unwrap();
            let file = tree.get_path(Path::new(&*function.path)).ok()?.to_object(&repository).unwrap();
            let own = file.as_blob().unwrap().content();
            let text = String::from_utf8(version.text.as_deref().unwrap_or(own).to_vec()).unwrap();
            let from = text.find(&format!("def {}(", function.qualname))?;
            let lines = text[from..].lines().take_while(|line| !line.is_empty());
            Some(lines.map(|line| line.replace(" + 0", "")).collect::<Vec<_>>())
        };
        let (old, new) = (text(old).ok_or(NotCompared::NoPair)?, text(new).ok_or(NotCompared::NoPair)?);
        Ok(Some(old == new))
    }
}

#[test]
fn what_does_the_same_in_other_words_goes() {
    let project = Project::new();
    let shop = |f: &str, g: &str| format!("def f():\n    return {f}\n\n\ndef g():\n    return {g}\n");
    let b = |value: &str| format!("def b():\n    return {value}\n");
    project.commit("Begin", &[("shop.py", text(&shop("1", "5")))]);
    project.commit("Clean up", &[("shop.py", text(&shop("1 + 0", "5")))]);
    project.commit("Change g", &[("shop.py", text(&shop("1 + 0", "6")))]);
    project.commit("Undo it", &[("shop.py", text(&shop("1 + 0", "5 + 0")))]);
    project.commit("Add b", &[("b.py", text(&b("5")))]);
    let test = "import b\nimport shop\n\n\ndef test_a():\n    assert (shop.f(), shop.g(), b.b()) == (1, 5, 5)\n";
    project.commit("Test", &[("tests/test_a.py", text(test))]);
    project.branch("stable", "Add b too", &[("b.py", text(&b("5 + 0")))]);
    let behavior = WithoutZeros(&project);
    let range = "HEAD~5..HEAD";
    let found = project.slice_with(range, &options(), Some(&behavior)).unwrap();
    assert_eq!(staying(&found), ["Add b"], "{found:#?}");
    let goes = |unit: usize| match &found.units[unit].state {
        UnitState::Goes(goes) => goes.clone(),
        stays => panic!("{stays:?}"),
    };
    assert!(matches!(goes(0), Goes::Cleanup { step: 1 }), "{found:#?}");
    assert!(matches!(goes(1), Goes::Reverted { by: 2, known_by: KnownBy::Behavior, step: 1 }), "{found:#?}");
    assert!(matches!(goes(2), Goes::Reverts { unit: 1, known_by: KnownBy::Behavior, step: 1 }), "{found:#?}");
    assert!(found.comparisons > 0 && found.uncompared.is_none());
    // A branch that has it in other words.
    let onto = SliceOptions { onto: Some("stable".into()), ..options() };
    let found = project.slice_with(range, &onto, Some(&behavior)).unwrap();
    assert_eq!(found.size(), 0, "{found:#?}");
    assert!(matches!(&found.units[3].state, UnitState::Goes(Goes::InTarget { known_by: KnownBy::Behavior, .. })));
    assert!(matches!(found.target.unwrap().applied, Applied::Passes));
    assert_eq!(staying(&project.slice(range, &onto).unwrap()), ["Add b"]);
    // What cannot be compared is counted, with the first reason.
    let found = project.slice_with(range, &options(), Some(&Unable)).unwrap();
    let uncompared = found.uncompared.unwrap();
    assert!(found.comparisons == 0 && uncompared.count >= 2, "{uncompared:?}");
    assert_eq!((uncompared.path.as_str(), uncompared.function.as_str()), ("shop.py", "f"));
    assert_eq!(uncompared.reason, NotCompared::Failed { reason: "no worker".into() });
}

struct Unable;

impl Behavior for Unable {
    fn is_same(&self, _: &SymbolName, _: &Version, _: &Version) -> Result<Option<bool>, NotCompared> {
        Err(NotCompared::Failed { reason: "no worker".into() })
    }
}

/// What changes only `conftest.py` or packaging is part of the question or does nothing for the tests.
#[test]
fn a_conftest_and_packaging_go() {
    let project = Project::new();
    project.commit("Begin", &[("shop.py", text("def a():\n    return 1\n"))]);
    project.commit("Package", &[("pyproject.toml", text("[project]\nname = \"shop\"\nversion = \"1\"\n"))]);
    let fixture = "import pytest\n\n\n@pytest.fixture\ndef two():\n    return 2\n";
    project.commit("Give a fixture", &[("tests/conftest.py", text(fixture))]);
    project.commit("Change", &[("shop.py", text("def a():\n    return 2\n"))]);
    let test = "import shop\n\n\ndef test_a(two):\n    assert shop.a() == two\n";
    project.commit("Test", &[("tests/test_a.py", text(test))]);
    let found = project.slice("HEAD~4..HEAD", &options()).unwrap();
    assert_eq!(staying(&found), ["Change"], "{found:#?}");
}

/// A commit with its tests is the first guess, and what nobody opens is not run.
#[test]
fn a_feature_of_one_commit_takes_few_runs() {
    let project = Project::new();
    project.commit("Begin", &[("shop.py", text("def a():\n    return 1\n"))]);
    let names: Vec<(String, String)> = (0..30).map(|at| (format!("Add {at}"), format!("more{at}.py"))).collect();
    for (subject, path) in &names {
        project.commit(subject, &[(path.as_str(), text("X = 1\n"))]);
    }
    project.commit("Check elsewhere", &[(".ci.yml", text("run: all\n"))]);
    project.commit("A constant", &[("shop.py", text("A = 1\n\n\ndef a():\n    return 1\n"))]);
    let test = "import shop\n\n\ndef test_a():\n    assert shop.a() == 2\n";
    let feature = [("shop.py", text("A = 1\n\n\ndef a():\n    return 2\n")), ("tests/test_a.py", text(test))];
    project.commit("Feature", &feature);
    let found = project.slice("HEAD~33..HEAD", &options()).unwrap();
    assert_eq!(staying(&found), ["Feature"], "{found:#?}");
    let is_not_run = |unit: &&SliceUnit| matches!(unit.state, UnitState::Goes(Goes::NotRun { .. }));
    assert_eq!(found.units.iter().filter(is_not_run).count(), 31);
    // All, the feature alone, and nothing.
    assert_eq!(found.steps.len(), 3, "{:?}", found.steps);
}

/// A list of changes, which each commit begins at its top, ties no commits together, and is whole in the patches.
#[test]
fn what_nobody_opens_ties_nothing_together() {
    let project = Project::new();
    let of = |value: u32| format!("def a():\n    return {value}\n");
    let changes = |all: &[&str]| all.concat();
    project.commit("Begin", &[("shop.py", text(&of(1))), ("CHANGES.txt", text(""))]);
    project.commit("One", &[("one.py", text("X = 1\n")), ("CHANGES.txt", text("3.0\n---\none\n"))]);
    project.commit(
        "Two",
        &[("shop.py", text(&of(2))), ("CHANGES.txt", text(&changes(&["3.0\n---\n", "two\n", "one\n"])))],
    );
    let test = "import shop\n\n\ndef test_a():\n    assert shop.a() == 2\n";
    project.commit("Test", &[("tests/test_a.py", text(test))]);
    let found = project.slice("HEAD~3..HEAD", &options()).unwrap();
    assert_eq!(staying(&found), ["Two"], "{found:#?}");
}

/// A test that reads a data file beside the code needs the commit of the data.
#[test]
fn data_that_a_test_reads_stays() {
    let project = Project::new();
    project.commit("Begin", &[("shop.py", text("def a():\n    return open('data/x.txt').read()\n"))]);
    project.commit("Data", &[("data/x.txt", text("2"))]);
    project.commit("Other data", &[("data/y.txt", text("3"))]);
    let test = "import shop\n\n\ndef test_a():\n    assert shop.a() == '2'\n";
    project.commit("Test", &[("tests/test_a.py", text(test))]);
    let found = project.slice("HEAD~3..HEAD", &options()).unwrap();
    assert_eq!(staying(&found), ["Data"], "{found:#?}");
}

/// A text that two commits touch next to each other cannot be in conflict: the later one needs the earlier one or stands alone.
#[test]
fn changes_side_by_side_do_not_conflict() {
    let project = Project::new();
    let of = |a: u32, b: u32, c: u32| format!("A = {a}\nB = {b}\nC = {c}\n");
    project.commit("Begin", &[("shop.py", text(&of(1, 1, 1)))]);
    project.commit("A", &[("shop.py", text(&of(2, 1, 1)))]);
    project.commit("B", &[("shop.py", text(&of(2, 2, 1)))]);
    project.commit("C", &[("shop.py", text(&of(2, 2, 2)))]);
    project.commit("B again", &[("shop.py", text(&of(2, 3, 2)))]);
    let test = "import shop\n\n\ndef test_a():\n    assert shop.B == 3\n";
    project.commit("Test", &[("tests/test_a.py", text(test))]);
    let found = project.slice("HEAD~5..HEAD", &options()).unwrap();
    assert_eq!(staying(&found), ["B", "B again"], "{found:#?}");
    let UnitState::Stays(Stays::TextNeeded { by, .. }) = &found.units[1].state else { panic!("{found:#?}") };
    assert_eq!(by, &[3]);
}

/// A removal for which a test hangs fails by its time limit, and a second run, alone, says the same.
#[test]
fn a_candidate_that_hangs_counts_as_failing() {
    let project = Project::new();
    let wait = "def wait(done):\n    while not done():\n        pass\n";
    project.commit("Begin", &[("shop.py", text(wait)), ("end.py", text("def done():\n    return False\n"))]);
    project.commit("End", &[("end.py", text("def done():\n    return True\n"))]);
    let test = "import end\nimport shop\n\n\ndef test_a():\n    shop.wait(end.done)\n";
    project.commit("Test", &[("tests/test_a.py", text(test))]);
    let limits = TestLimits { test_seconds: 3.0, ..tests_alone() };
    let found = project.slice_within("HEAD~2..HEAD", &options(), None, limits).unwrap();
    assert_eq!(staying(&found), ["End"], "{found:#?}");
}

#[test]
fn a_branch_may_have_only_one_of_two_changes_of_a_function() {
    let project = Project::new();
    let k = |a: &str, b: &str| {
        format!("def k(n):\n    a = {a}\n    c = 0\n    d = 0\n    e = 0\n    b = {b}\n    return a, b, c, d, e\n")
    };
    project.commit("Begin", &[("shop.py", text(&k("n", "n")))]);
    project.commit("Change a", &[("shop.py", text(&k("2 * n", "n")))]);
    project.commit("Change b", &[("shop.py", text(&k("2 * n", "3 * n")))]);
    let test = "import shop\n\n\ndef test_k():\n    assert shop.k(1) == (2, 3, 0, 0, 0)\n";
    project.commit("Test", &[("tests/test_k.py", text(test))]);
    project.branch("stable", "Change b otherwise", &[("shop.py", text(&k("n", "3 * n + 0")))]);
    let onto = SliceOptions { onto: Some("stable".into()), ..options() };
    let found = project.slice_with("HEAD~3..HEAD", &onto, Some(&WithoutZeros(&project))).unwrap();
    assert_eq!(staying(&found), ["Change a"], "{found:#?}");
    assert!(matches!(&found.units[1].state, UnitState::Goes(Goes::InTarget { known_by: KnownBy::Behavior, .. })));
    assert!(matches!(found.target.unwrap().applied, Applied::Passes));
}

#[test]
fn a_budget_leaves_the_best_slice_so_far() {
    let found = shop().slice("HEAD~11..HEAD", &SliceOptions { runs: 2, ..options() }).unwrap();
    assert!(!found.is_minimal && found.ended == Ended::Budget && found.steps.len() == 2);
    assert!(staying(&found).contains(&"Add a tax") && staying(&found).contains(&"Use the tax"));
}

#[test]
fn a_deadline_before_the_search_is_told_apart_from_an_interrupt() {
    let project = shop();
    let range = "HEAD~11..HEAD";
    let late =
        project.slice(range, &SliceOptions { deadline: Some(Duration::from_nanos(1)), ..options() }).unwrap_err();
    assert!(matches!(late, SliceError::Deadline(_)), "{late}");
    let stop = Stop::default();
    stop.ask();
    let read = TimelineOptions { stop, ..TimelineOptions::default() };
    let stopped = Timeline::read(project.folder.path(), range, &read).unwrap_err();
    assert!(matches!(stopped, SliceError::Interrupted), "{stopped}");
}

#[test]
fn more_text_than_can_be_held_is_an_error() {
    let project = shop();
    let read = |max_lines, max_bytes| {
        let options = TimelineOptions { max_lines, max_bytes, ..TimelineOptions::default() };
        Timeline::read(project.folder.path(), "HEAD~11..HEAD", &options).map(|_| ()).map_err(|error| error.to_string())
    };
    assert_eq!(read(100, 10_000), Ok(()));
    assert!(read(10, 10_000).unwrap_err().contains("more than 10 lines in all"));
    assert!(read(100, 100).unwrap_err().contains("more than 100 bytes in all"));
}
