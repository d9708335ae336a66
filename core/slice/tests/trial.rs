//! Refinements with real tests, in a repository whose histories are made in memory.

use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use git2::Repository;
use twincell_repo::{Cache, FileId, MadeFile};
use twincell_slice::refine::{Because, Limits, Problem, Refined, Relevance, Runner, refine};
use twincell_slice::{Criterion, Selection, Setup, SliceError, Trials, UnitId, criterion};
use twincell_testing::{Outcome, Point, TestLimits, Variable, WatchedFunction, environment};

struct Project {
    _folders: [tempfile::TempDir; 2],
    setup: Setup,
}

impl Project {
    /// An empty repository, and a cache. The Python is that of TWINCELL_PYTHON, else `python3`.
    fn new() -> Self {
        let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
        Repository::init(folders[0].path()).unwrap();
        let python = std::env::var_os("TWINCELL_PYTHON").map_or_else(|| PathBuf::from("python3"), PathBuf::from);
        let setup = Setup {
            repository: folders[0].path().to_owned(),
            cache: Cache::new(folders[1].path().to_owned()),
            environment: environment(Path::new("/"), Some(&python), &python).unwrap(),
            limits: TestLimits { arguments: vec!["tests".into()], ..TestLimits::default() },
            repeat: 1,
        };
        Self { _folders: folders, setup }
    }
}

fn units(numbers: &[u32]) -> Selection {
    numbers.iter().copied().map(UnitId).collect()
}

fn file(path: &str, text: &str) -> MadeFile {
    let id = FileId::of(text.as_bytes()).unwrap();
    MadeFile { path: path.into(), mode: 0o100_644, id, text: Some(text.as_bytes().into()) }
}

/// The running example of the paper (Fig. 2), with its changes 1 to 6 as the units 0 to 5.
fn foo(taken: &Selection) -> Vec<MadeFile> {
    let new = |unit: u32, new: &'static str, old: &'static str| if taken.contains(&UnitId(unit)) { new } else { old };
    let text = [
        "class A:\n    def f(self):\n        return B().g()\n\n\ndef lib():\n    return False\n\n\nclass B:\n",
        "    def __init__(self):\n",
        new(0, "        self.x = 2\n", "        self.x = 1\n"),
        new(1, "        self.y = 3\n", ""),
        new(2, "        self.s = 'abc'\n", "        self.s = None\n"),
        "\n    def g(self):\n        z = self.h(self.x, self.s)\n",
        new(3, "        z = z if lib() else self.m()\n", ""),
        "        return z\n\n    def h(self, i, s):\n",
        new(4, "        return 1 if s is not None else 0\n", "        return 1 if s is None else 0\n"),
        new(5, "\n    def m(self):\n        return self.y\n", ""),
    ];
    let test = "from foo import A\n\n\ndef test_a():\n    assert A().f() == 3\n";
    vec![file("foo.py", &text.concat()), file("tests/test_foo.py", test)]
}

fn influencing(point: &Point) -> Selection {
    match (point.function.as_str(), &point.variable) {
        (_, Variable::Attribute(name)) => units(match name.as_str() {
            "x" => &[0],
            "y" => &[1],
            _ => &[2],
        }),
        ("B.g", Variable::Returned) => units(&[3]),
        ("B.h", Variable::Returned) => units(&[4]),
        ("B.m", Variable::Returned) => units(&[5]),
        _ => Selection::new(),
    }
}

fn watched() -> Vec<WatchedFunction> {
    let of = |name: &str| WatchedFunction { file: "foo.py".into(), function: name.to_owned() };
    ["A.f", "B.g", "B.h", "B.m", "B.__init__"].map(of).to_vec()
}

fn problem(count: usize) -> Problem {
    Problem {
        text_needs: vec![Selection::new(); count],
        name_needs: vec![vec![]; count],
        relevance: vec![Relevance::Run; count],
        ..Problem::default()
    }
}

fn refined(
    project: &Project,
    criterion: &Criterion,
    files: &(dyn Fn(&Selection) -> Vec<MadeFile> + Sync),
    problem: &Problem,
    limits: &Limits,
) -> Refined {
    let files = |taken: &Selection| Ok(files(taken));
    let trials = Trials::new(&project.setup, criterion, &files, watched(), &influencing, limits.jobs).unwrap();
    refine(problem, limits, &trials, &mut |_| ControlFlow::Continue(())).unwrap()
}

#[test]
fn the_running_example_of_the_paper() {
    let project = Project::new();
    let all = units(&[0, 1, 2, 3, 4, 5]);
    let criterion = criterion(&project.setup, &foo(&all), None, &mut |_, _| {}).unwrap();
    assert_eq!(criterion.tests, ["tests/test_foo.py::test_a"]);
    assert!(criterion.lines["foo.py"].contains(&3));
    let mut problem = problem(6);
    problem.name_needs[5] = vec![units(&[1])];
    problem.name_needs[3] = vec![units(&[5])];
    let found = refined(&project, &criterion, &foo, &problem, &Limits::default());
    assert_eq!(found.kept, units(&[1, 3, 5]));
    assert!(found.is_minimal && found.steps.len() - 1 <= 6, "{:?}", found.steps);
    let Because::Fails { failed, .. } = &found.because[&UnitId(3)] else { panic!("{:?}", found.because) };
    assert_eq!(failed.first[0].outcome, Outcome::Failed);
    assert_eq!(failed.first[0].failure.as_ref().unwrap().exception, "AssertionError");
    let Because::Fails { failed, .. } = &found.because[&UnitId(5)] else { panic!("{:?}", found.because) };
    assert_eq!(failed.first[0].failure.as_ref().unwrap().exception, "AttributeError");
    // What the removal of some has changed says something of others.
    assert!(found.scores.values().any(|score| *score != 0), "{:?}", found.scores);
    // A second time, and with two jobs, all comes from the store and is the same.
    let again = refined(&project, &criterion, &foo, &problem, &Limits { jobs: 2, ..Limits::default() });
    assert_eq!((&again.kept, &again.steps, &again.scores), (&found.kept, &found.steps, &found.scores));
}

#[test]
fn what_cannot_be_collected_fails_with_its_reason() {
    let project = Project::new();
    let files = |taken: &Selection| {
        let has = |unit| taken.contains(&UnitId(unit));
        let test = "import pathlib\nfrom shop import price\n\n\ndef test_price():\n    assert price() == \
                    int(pathlib.Path(__file__).with_name('price.txt').read_text())\n";
        let mut all = vec![file("tests/test_shop.py", test), file("tests/price.txt", "3")];
        // Without the second unit the first is no Python.
        all.extend(
            has(0).then(|| file("shop.py", if has(1) { "def price():\n    return 3\n" } else { "def price(:\n" })),
        );
        all.extend(has(2).then(|| file("README.md", "Shop")));
        // pytest does not even start.
        all.extend(has(3).then(|| file("conftest.py", if has(4) { "" } else { "import nothing_of_the_kind\n" })));
        all
    };
    let criterion = criterion(&project.setup, &files(&units(&[0, 1, 2, 3, 4])), None, &mut |_, _| {}).unwrap();
    let mut problem = problem(5);
    problem.text_needs[1] = units(&[0]);
    problem.text_needs[4] = units(&[3]);
    let found = refined(&project, &criterion, &files, &problem, &Limits::default());
    assert_eq!(found.kept, units(&[0, 1]));
    let Because::Fails { failed, with } = &found.because[&UnitId(1)] else { panic!("{:?}", found.because) };
    assert!(failed.first[0].outcome == Outcome::NotFound && with.is_empty());
    assert!(failed.first[0].failure.as_ref().unwrap().message.contains("SyntaxError"), "{failed:?}");
}

#[test]
fn tests_that_do_not_pass_at_the_end_decide_nothing() {
    let project = Project::new();
    let of = |test: &str| [file("tests/test_a.py", test)];
    let run = |test: &str| criterion(&project.setup, &of(test), None, &mut |_, _| {});
    let some = run("def test_a():\n    pass\n\n\ndef test_b():\n    assert 0, 'no'\n").unwrap();
    assert_eq!((some.tests.len(), some.failing.len()), (1, 1));
    let [good, bad] = [("a", "def test_a():\n    pass\n"), ("b", "x =\n")];
    let both = [good, bad].map(|(name, text)| file(&format!("tests/test_{name}.py"), text));
    let some = criterion(&project.setup, &both, None, &mut |_, _| {}).unwrap();
    assert_eq!((some.tests.len(), some.failing[0].test.as_str()), (1, "tests/test_b.py"));
    let error = run("def test_b():\n    assert 0, 'no'\n").unwrap_err().to_string();
    assert!(error.starts_with("tests/test_a.py::test_b does not pass at the end of the range ("), "{error}");
    assert!(matches!(run("x = 1\n"), Err(SliceError::NoTests(None))));
    assert!(matches!(run("x =\n"), Err(SliceError::NoTests(Some(_)))));
}

#[test]
fn flaky_tests_are_found_by_repetition() {
    let mut project = Project::new();
    project.setup.repeat = 4;
    // The seed of hashes differs from run to run.
    let one = |name| format!("\n\ndef test_{name}():\n    assert hash('{name}') % 2 == 0\n");
    let test = format!("def test():\n    pass\n{}", ["a", "b", "c", "d", "e", "f", "g", "h"].map(one).concat());
    let flaky = criterion(&project.setup, &[file("tests/test_a.py", &test)], None, &mut |_, _| {}).unwrap();
    assert!(!flaky.flaky.is_empty() && flaky.tests.contains(&"tests/test_a.py::test".to_owned()), "{flaky:?}");
}

#[test]
fn watching_runs_no_code_of_what_it_sees() {
    let project = Project::new();
    let code = "ran = []\n\n\nclass Meta(type):\n    def __getattribute__(cls, name):\n        ran.append(name)\n        return \
                type.__getattribute__(cls, name)\n\n\nclass Odd(metaclass=Meta):\n    def __getattribute__(self, name):\n        \
                ran.append(name)\n        return object.__getattribute__(self, name)\n\n    def __len__(self):\n        \
                ran.append('len')\n        return 1\n\n    def __eq__(self, other):\n        ran.append('eq')\n        return \
                True\n\n\ndef f(x):\n    return [x]\n";
    let test = "import odd\n\n\ndef test_f():\n    one = odd.Odd()\n    odd.ran.clear()\n    odd.f(one)\n    odd.f(one)\n    assert \
                odd.ran == []\n";
    let files = |_: &Selection| Ok(vec![file("odd.py", code), file("tests/test_odd.py", test)]);
    let criterion = criterion(&project.setup, &files(&units(&[])).unwrap(), None, &mut |_, _| {}).unwrap();
    let watched = vec![WatchedFunction { file: "odd.py".into(), function: "f".into() }];
    let trials = Trials::new(&project.setup, &criterion, &files, watched, &influencing, 1).unwrap();
    let trial = trials.run(0, &units(&[])).unwrap();
    assert!(trial.failed.is_empty() && !trial.invariants.is_empty(), "{trial:?}");
}

#[test]
fn the_working_tree_gives_only_what_a_build_made() {
    let project = Project::new();
    let package = project.setup.repository.join("pkg");
    fs::create_dir(&package).unwrap();
    fs::write(project.setup.repository.join(".gitignore"), "pkg/tracked.py\npkg/built.py\n").unwrap();
    fs::write(package.join("built.py"), "X = 1\n").unwrap();
    fs::write(package.join("tracked.py"), "X = 1\n").unwrap();
    let test = "import pkg\nfrom pkg import built, tracked\n\n\ndef test():\n    assert pkg.__file__\n";
    let files = |taken: &Selection| {
        // Old versions of git kept more of the rights of a file.
        let old = MadeFile { mode: 0o100_640, ..file("pkg/__init__.py", "") };
        let tracked = taken.contains(&UnitId(0)).then(|| file("pkg/tracked.py", "X = 1\n"));
        Ok([old, file("tests/test_a.py", test)].into_iter().chain(tracked).collect::<Vec<_>>())
    };
    let criterion = criterion(&project.setup, &files(&units(&[0])).unwrap(), None, &mut |_, _| {}).unwrap();
    let trials = Trials::new(&project.setup, &criterion, &files, vec![], &influencing, 1).unwrap();
    assert_eq!(trials.run(0, &units(&[0])).unwrap().failed, []);
    assert_eq!(trials.run(0, &units(&[])).unwrap().failed.len(), 1);
}

#[test]
fn tests_stand_where_the_end_of_the_range_has_them() {
    let project = Project::new();
    // The first unit makes a folder of what was a file.
    let files = |taken: &Selection| {
        let test = "from shared import X\n\n\ndef test():\n    assert X\n";
        let own = match taken.contains(&UnitId(0)) {
            true => file("a/testing/tests/test_a.py", test),
            false => file("a", "text\n"),
        };
        Ok(vec![own, file("shared.py", "X = 1\n")])
    };
    let mut setup = project.setup.clone();
    setup.limits.arguments = vec!["a".into()];
    let criterion = criterion(&setup, &files(&units(&[0])).unwrap(), None, &mut |_, _| {}).unwrap();
    let owns = |path: &str| criterion.owns(Path::new(path));
    assert!(owns("a/testing/tests/conftest.py") && !owns("a/testing/util.py"));
    let trials = Trials::new(&setup, &criterion, &files, vec![], &influencing, 1).unwrap();
    assert_eq!(trials.run(0, &units(&[])).unwrap().failed, []);
}
