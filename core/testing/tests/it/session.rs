//! A project's own tests at a version: what pytest collects, what tests do, and what is left of it.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use crate::common::{Project, limits, python, run};
use twincell_testing::{Observed, Operands, Outcome, Request, Seen, Session, TestError, TestKind, TestLimits};

const SHOP: &str = "def price(n):\n    if n > 1:\n        return n * 2\n    return n\n";

#[test]
fn tests_of_every_kind_are_collected_and_run() {
    let python = python();
    let project = Project::new(&[
        ("src/shop/__init__.py", SHOP),
        ("pyproject.toml", "[tool.pytest.ini_options]\naddopts = '--doctest-glob=*.txt -x'\n"),
        ("tests/conftest.py", "import pytest\n@pytest.fixture\ndef two():\n    return 2\n"),
        ("tests/notes.txt", ">>> 1 + 1\n2\n"),
        (
            "tests/test_shop.py",
            r#"import unittest
import pytest
from shop import price

def test_fixture(two):
    assert price(two) == 4

@pytest.mark.parametrize("n", [1, 2], ids=["one", "two"])
def test_cases(n):
    assert price(n) == n, "no"

class TestShop:
    def test_skipped(self):
        pytest.skip("not today")

    @pytest.mark.xfail
    def test_expected(self):
        assert price(1) == 2

class Old(unittest.TestCase):
    def test_method(self):
        with self.assertRaises(TypeError):
            price("a")

    def tearDown(self):
        if type(self).broken:
            raise ValueError("in the end")

    broken = True
"#,
        ),
    ]);
    let checkout = project.head();
    let mut session = Session::start(&checkout, &python, &limits()).unwrap();
    let tests = session.tests().to_vec();
    let named = |id: &str| tests.iter().find(|test| test.id == id).unwrap();
    let case = named("tests/test_shop.py::test_cases[one]");
    assert_eq!((case.function.as_str(), case.line, case.kind), ("test_cases", 8, TestKind::Function));
    let method = named("tests/test_shop.py::Old::test_method");
    assert_eq!((method.function.as_str(), method.kind), ("Old.test_method", TestKind::Unittest));
    assert_eq!(named("tests/notes.txt::notes.txt").kind, TestKind::Doctest);
    let records = run(&mut session, Request::default());
    let outcomes: Vec<(&str, Outcome)> = records.iter().map(|record| (record.id.as_str(), record.outcome)).collect();
    let expected = [
        ("tests/notes.txt::notes.txt", Outcome::Passed),
        ("tests/test_shop.py::test_fixture", Outcome::Passed),
        ("tests/test_shop.py::test_cases[one]", Outcome::Passed),
        ("tests/test_shop.py::test_cases[two]", Outcome::Failed),
        ("tests/test_shop.py::TestShop::test_skipped", Outcome::Skipped),
        ("tests/test_shop.py::TestShop::test_expected", Outcome::XFailed),
        // unittest calls `tearDown` itself.
        ("tests/test_shop.py::Old::test_method", Outcome::Failed),
    ];
    let mut sorted = expected.to_vec();
    sorted.sort();
    let mut found = outcomes.clone();
    found.sort();
    assert_eq!(found, sorted);
    let failure = |id: &str| records.iter().find(|record| record.id.ends_with(id)).unwrap().failure.clone().unwrap();
    let failed = failure("test_cases[two]");
    assert_eq!((failed.exception.as_str(), failed.assertion, failed.test_line), ("AssertionError", true, Some(10)));
    assert!(failed.message.starts_with("no\nassert 4 == 2"), "{}", failed.message);
    assert_eq!(failure("test_skipped").message, "not today");
    assert_eq!((failure("test_method").exception, failure("test_method").line), ("ValueError".into(), 27));
}

#[test]
fn each_test_has_the_lines_that_it_runs() {
    let python = python();
    let project = Project::new(&[
        ("shop.py", SHOP),
        ("other.py", "def same(n):\n    return n\n"),
        (
            "test_shop.py",
            "from shop import price\nfrom other import same\n\
             def test_one():\n    assert same(price(1))\n\
             def test_two():\n    assert price(2)\n",
        ),
    ]);
    let checkout = project.head();
    let mut session = Session::start(&checkout, &python, &limits()).unwrap();
    let covered = Request { coverage: true, covered: vec!["shop.py".into()], ..Request::default() };
    let records = run(&mut session, covered);
    let lines: Vec<_> = records.iter().map(|record| record.lines.clone()).collect();
    assert_eq!(lines, [[("shop.py".into(), vec![2, 4])].into(), [("shop.py".into(), vec![2, 3])].into()]);
    let all = run(&mut session, Request { coverage: true, ..Request::default() });
    let expected = [("other.py", vec![2]), ("shop.py", vec![2, 4]), ("test_shop.py", vec![4])];
    assert_eq!(all[0].lines, expected.map(|(file, lines)| (file.to_owned(), lines)).into());
}

#[test]
fn files_of_a_request_exist_for_that_request_alone() {
    let python = python();
    let project = Project::new(&[("shop.py", SHOP), ("test_shop.py", "def test_a():\n    assert True\n")]);
    let checkout = project.head();
    let mut session = Session::start(&checkout, &python, &limits()).unwrap();
    for (number, outcome) in [(2, Outcome::Passed), (3, Outcome::Failed), (2, Outcome::Passed)] {
        let text = format!(
            "import pytest\nfrom shop import price\n@pytest.mark.parametrize('n', [1])\n\
             def test_more(n):\n    assert price({number}) == 4\n"
        );
        let records = session
            .run(&Request {
                files: vec![("test_shop.py".into(), text.clone()), ("more/test_new.py".into(), text)],
                tests: vec!["test_shop.py::test_more[1]".into(), "more/test_new.py::test_more[1]".into()],
                ..Request::default()
            })
            .unwrap();
        assert_eq!(records.iter().map(|record| record.outcome).collect::<Vec<_>>(), [outcome, outcome]);
        assert!(!checkout.root.join("more").exists());
    }
    let records = session.run(&Request { tests: vec!["test_shop.py::test_a".into()], ..Request::default() }).unwrap();
    assert_eq!(records[0].outcome, Outcome::Passed);
    for path in ["../test_out.py", "/test_out.py"] {
        let files = vec![(path.to_owned(), String::new())];
        let error = session.run(&Request { files, ..Request::default() }).unwrap_err();
        assert!(matches!(error, TestError::Folder { .. }));
    }
}

#[test]
fn what_a_file_of_a_request_cannot_replace_stays() {
    let python = python();
    let project = Project::new(&[("real.py", "def test_a(): pass\n"), ("test_b/test_c.py", "def test_c(): pass\n")]);
    symlink("real.py", project.folder.path().join("test_a.py")).unwrap();
    project.commit();
    let checkout = project.head();
    let mut session = Session::start(&checkout, &python, &limits()).unwrap();
    for path in ["test_a.py", "test_b"] {
        let files = vec![("test_new.py".to_owned(), String::new()), (path.to_owned(), String::new())];
        let error = session.run(&Request { files, ..Request::default() }).unwrap_err();
        assert!(matches!(&error, TestError::Folder { .. }) && error.to_string().contains("in the way"), "{error}");
    }
    assert_eq!(fs::read_link(checkout.root.join("test_a.py")).unwrap(), Path::new("real.py"));
    assert!(checkout.root.join("test_b/test_c.py").exists() && !checkout.root.join("test_new.py").exists());
}

#[test]
fn a_test_that_is_not_there_is_not_found() {
    let python = python();
    let project = Project::new(&[("test_a.py", "def test_a():\n    pass\n")]);
    let checkout = project.head();
    let mut session = Session::start(&checkout, &python, &limits()).unwrap();
    let broken = ("test_broken.py".to_owned(), "def test_a(:\n".to_owned());
    let ids = ["test_a.py::test_none", "none.py::test_a", "test_broken.py::test_a", "test_a.py::test_a"];
    let tests = ids.map(str::to_owned).to_vec();
    let records = session.run(&Request { files: vec![broken], tests, ..Request::default() }).unwrap();
    let outcomes: Vec<Outcome> = records.iter().map(|record| record.outcome).collect();
    assert_eq!(outcomes, [Outcome::NotFound, Outcome::NotFound, Outcome::NotFound, Outcome::Passed]);
    let message = &records[2].failure.as_ref().unwrap().message;
    assert!(message.contains("SyntaxError"), "{message}");
}

#[test]
fn tests_that_hang_or_end_their_process_stop_no_others() {
    let python = python();
    let project = Project::new(&[(
        "test_hostile.py",
        r#"import os, signal, subprocess, sys, time
def test_a(): pass
def test_exit(): os._exit(0)
def test_b(): pass
def test_hang():
    subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
    while True: time.sleep(1)
def test_signal(): os.kill(os.getpid(), signal.SIGSEGV)
def test_parent(): os.kill(os.getppid(), signal.SIGKILL); time.sleep(600)
def test_c(): print("\x1b]0;title\x07")
def test_stop():
    import pytest
    pytest.exit("enough")
def test_interrupt(): raise KeyboardInterrupt
def test_fork():
    if os.fork() == 0:
        return
    os.wait()
def test_d(): pass
"#,
    )]);
    let checkout = project.head();
    let limits = TestLimits { test_seconds: 3.0, ..limits() };
    let mut session = Session::start(&checkout, &python, &limits).unwrap();
    let records = run(&mut session, Request::default());
    let outcomes: Vec<(&str, Outcome)> = records
        .iter()
        .map(|record| (record.id.rsplit("::").next().unwrap(), record.outcome))
        .filter(|(name, _)| *name != "test_fork")
        .collect();
    assert_eq!(
        outcomes,
        [
            ("test_a", Outcome::Passed),
            ("test_exit", Outcome::Crashed),
            ("test_b", Outcome::Passed),
            ("test_hang", Outcome::TimedOut),
            ("test_signal", Outcome::Crashed),
            ("test_parent", Outcome::Crashed),
            ("test_c", Outcome::Passed),
            ("test_stop", Outcome::Failed),
            ("test_interrupt", Outcome::Failed),
            ("test_d", Outcome::Passed),
        ]
    );
    assert_eq!(records[4].failure.as_ref().unwrap().message, "its process ended with signal 11");
}

#[test]
fn modules_that_start_threads_are_run_in_processes_of_their_own() {
    let python = python();
    let project = Project::new(&[
        (
            "conftest.py",
            "import threading, time\nthreading.Thread(target=time.sleep, args=(600,), daemon=True).start()\n",
        ),
        (
            "test_a.py",
            "import os\ndef test_a():\n    assert True\ndef test_exit():\n    os._exit(1)\ndef test_b(): pass\n",
        ),
    ]);
    let checkout = project.head();
    let mut session = Session::start(&checkout, &python, &limits()).unwrap();
    for _ in 0..2 {
        let records = run(&mut session, Request::default());
        let outcomes: Vec<Outcome> = records.iter().map(|record| record.outcome).collect();
        assert_eq!(outcomes, [Outcome::Passed, Outcome::Crashed, Outcome::Passed]);
    }
}

#[test]
fn a_broken_conftest_is_one_line() {
    let python = python();
    let project = Project::new(&[("conftest.py", "import nothing_like_this\n"), ("test_a.py", "def test_a(): pass\n")]);
    let checkout = project.head();
    let error = Session::start(&checkout, &python, &limits()).unwrap_err().to_string();
    assert_eq!(error, "pytest did not start: ModuleNotFoundError: No module named 'nothing_like_this'");
    let project = Project::new(&[("pytest.ini", "[pytest]\naddopts = --nothing-like-this\n"), ("test_a.py", "")]);
    let error = Session::start(&project.head(), &python, &limits()).unwrap_err().to_string();
    assert_eq!(error, "pytest did not start: unrecognized arguments: --nothing-like-this");
    // What ends it while it collects is what pytest tells its plugins, and not a line of its output.
    let hook = "def pytest_collection_modifyitems(items):\n";
    for (line, expected) in [
        ("    raise ValueError('no such thing')\n", "ValueError: no such thing"),
        ("    raise KeyError\n", "KeyError"),
        ("    import pytest; pytest.exit('needs a server')\n", "_pytest.outcomes.Exit: needs a server"),
        ("    import pytest; raise pytest.UsageError('give a server')\n", "give a server"),
    ] {
        let project = Project::new(&[("conftest.py", &format!("{hook}{line}")), ("test_a.py", "def test_a(): pass\n")]);
        let error = Session::start(&project.head(), &python, &limits()).unwrap_err();
        assert!(matches!(&error, TestError::NotStarted(reason) if reason == expected), "{error}");
    }
    let project = Project::new(&[("test_a.py", "import nothing_like_this\n"), ("test_b.py", "def test_b(): pass\n")]);
    let checkout = project.head();
    let mut session = Session::start(&checkout, &python, &limits()).unwrap();
    assert_eq!(session.errors()[0].id, "test_a.py");
    assert_eq!(session.errors()[0].message, "ModuleNotFoundError: No module named 'nothing_like_this'");
    assert_eq!(run(&mut session, Request::default())[0].outcome, Outcome::Passed);
    // The folder of the checkout is another one each time.
    let project = Project::new(&[("shop.py", ""), ("test_a.py", "from shop import price\n")]);
    let session = Session::start(&project.head(), &python, &limits()).unwrap();
    assert_eq!(session.errors()[0].message, "ImportError: cannot import name 'price' from 'shop' (shop.py)");
    let project = Project::new(&[("a.py", "")]);
    let checkout = project.head();
    assert!(Session::start(&checkout, &python, &limits()).unwrap().tests().is_empty());
}

#[test]
fn options_of_pytest_are_one_line() {
    let python = python();
    let project = Project::new(&[("tests/test_a.py", "def test_a(): pass\n")]);
    let arguments = ["tests", "-k", "a"].map(str::to_owned).to_vec();
    let error = Session::start(&project.head(), &python, &TestLimits { arguments, ..limits() }).unwrap_err();
    assert_eq!(error.to_string(), "-k is an option of pytest: only files and folders with tests can be given");
}

#[test]
fn texts_that_are_no_utf_8_are_readable() {
    let python = python();
    let project = Project::new(&[
        ("test_a.py", r#"raise ValueError("\ud800 " + 3000 * "a")"#),
        (
            "test_b.py",
            r#"
def test_b():
    raise type("Odd", (Exception,), {"__qualname__": "\ud800"})("\udfff")
"#,
        ),
    ]);
    let mut session = Session::start(&project.head(), &python, &limits()).unwrap();
    let message = &session.errors()[0].message;
    assert!(message.starts_with(r"ValueError: \ud800 aaa") && message.chars().count() == 2001, "{message}");
    let failure = run(&mut session, Request::default())[0].failure.clone().unwrap();
    assert_eq!((failure.exception.as_str(), failure.message.as_str()), ("test_b.?", r"\udfff"));
}

#[test]
fn observations_are_plain_data() {
    let python = python();
    let project = Project::new(&[(
        "test_a.py",
        r#"import collections, dataclasses, decimal, enum
class Color(enum.Enum):
    RED = 1
@dataclasses.dataclass
class Item:
    name: str
    _hidden: int = 0
    @property
    def upper(self): return self.name.upper()
    def get_length(self): return len(self.name)
    def get_with(self, other): raise AssertionError
    def is_broken(self): raise ValueError("broken")
Point = collections.namedtuple("Point", "x y")
def test_a(tmp_path):
    i, f, s, b, n = 3, 0.5, "é", b"a", None
    mixed = [1, (True, {2, 1})]
    item, color, point = Item("pen"), Color.RED, Point(1, 2)
    place = str(tmp_path / "a")
    anything = object()
    it = iter([1, 2])
    deep = [[[[1]]]]
    __twincell_observe__(7, locals())
    assert list(it) == [1, 2]
"#,
    )]);
    let checkout = project.head();
    let mut session = Session::start(&checkout, &python, &limits()).unwrap();
    let records = run(&mut session, Request { observe: true, ..Request::default() });
    assert_eq!(records[0].outcome, Outcome::Passed, "{records:?}");
    let seen = |name: &str| {
        let found =
            records[0].observations.iter().find(|one| one.seen == Seen::Local(name.to_owned()) && one.point == 7);
        found.map(|one| one.value.clone()).unwrap()
    };
    let int = |number: &str| Observed::Int(number.to_owned());
    let text = |text: &str| Observed::Str(text.to_owned());
    assert_eq!((seen("i"), seen("f"), seen("s")), (int("3"), Observed::Float("0.5".into()), text("é")));
    assert_eq!((seen("b"), seen("n")), (Observed::Bytes(vec![97]), Observed::None));
    let set = Observed::Set(vec![int("1"), int("2")]);
    let pair = Observed::Tuple(vec![Observed::Bool(true), set]);
    assert_eq!(seen("mixed"), Observed::List(vec![int("1"), pair]));
    assert_eq!(seen("color"), Observed::Member { class: "test_a.Color".into(), name: "RED".into() });
    let Observed::Object { class, fields } = seen("item") else { panic!("{:?}", seen("item")) };
    let broken = Observed::Raised { class: "ValueError".into(), message: "broken".into() };
    let expected = [
        (".name", text("pen")),
        (".upper", text("PEN")),
        (".get_length()", int("3")),
        (".is_broken()", broken),
        ("repr()", text("Item(name='pen', _hidden=0)")),
        ("._hidden", int("0")),
    ];
    assert_eq!((class.as_str(), fields), ("test_a.Item", expected.map(|(a, b)| (a.to_owned(), b)).to_vec()));
    let Observed::Object { fields, .. } = seen("point") else { panic!() };
    assert_eq!(fields[..2], [(".x".to_owned(), int("1")), (".y".to_owned(), int("2"))]);
    assert_eq!(seen("place"), Observed::Cut);
    assert_eq!(seen("anything"), Observed::Object { class: "object".into(), fields: vec![] });
    let one = |inner| Observed::List(vec![inner]);
    assert_eq!(seen("deep"), one(one(one(Observed::Cut))));
    let plain = run(&mut session, Request::default());
    assert_eq!((plain[0].outcome, plain[0].observations.len()), (Outcome::Passed, 0));
}

#[test]
fn objects_that_tell_nothing_are_cut() {
    let python = python();
    let project = Project::new(&[(
        "test_a.py",
        r#"class Classless:
    @property
    def __class__(self): raise ValueError("closed")
class Bare:
    @property
    def __dict__(self): raise ValueError("closed")
class Meta(type):
    @property
    def __module__(self): raise ValueError("closed")
class Nowhere(metaclass=Meta): pass
def test_a():
    classless, bare, nowhere = Classless(), Bare(), Nowhere
    among = [1, classless, 2]
    after = 3
    __twincell_observe__(0, locals())
"#,
    )]);
    let mut session = Session::start(&project.head(), &python, &limits()).unwrap();
    let records = run(&mut session, Request { observe: true, ..Request::default() });
    assert_eq!(records[0].outcome, Outcome::Passed, "{records:?}");
    let seen: Vec<_> = records[0].observations.iter().map(|one| (one.seen.clone(), one.value.clone())).collect();
    let int = |number: &str| Observed::Int(number.to_owned());
    let expected = [
        ("classless", Observed::Cut),
        ("bare", Observed::Cut),
        ("nowhere", Observed::Cut),
        ("among", Observed::List(vec![int("1"), Observed::Cut, int("2")])),
        ("after", int("3")),
    ];
    assert_eq!(seen, expected.map(|(name, value)| (Seen::Local(name.to_owned()), value)));
}

#[test]
fn what_a_test_says_is_observed_and_still_heard() {
    let python = python();
    let project = Project::new(&[(
        "test_a.py",
        r#"import logging, sys, warnings
class Loud:
    def __repr__(self):
        print("asked")
        return "loud"
def test_a(capsys, caplog, recwarn):
    print("a")
    loud = Loud()
    __twincell_observe__(0, locals())
    logging.getLogger("x").warning("b %s", 1)
    logging.getLogger("x").debug("no")
    warnings.warn("c", DeprecationWarning)
    sys.stderr.write("d")
    __twincell_observe__(1, locals())
    assert capsys.readouterr().out.startswith("a")
    assert caplog.messages == ["b 1"] and len(recwarn) == 1
"#,
    )]);
    let checkout = project.head();
    let mut session = Session::start(&checkout, &python, &limits()).unwrap();
    let records = run(&mut session, Request { observe: true, ..Request::default() });
    assert_eq!(records[0].outcome, Outcome::Passed, "{records:?}");
    let said: Vec<(u32, Seen, Observed)> = records[0]
        .observations
        .iter()
        .filter(|one| !matches!(one.seen, Seen::Local(_)))
        .map(|one| (one.point, one.seen.clone(), one.value.clone()))
        .collect();
    let text = |text: &str| Observed::Str(text.to_owned());
    let warning = Observed::Tuple(vec![text("DeprecationWarning"), text("c")]);
    assert_eq!(
        said,
        [
            (0, Seen::Output, text("a\n")),
            (1, Seen::ErrorOutput, text("d")),
            (1, Seen::Messages, Observed::List(vec![text("b 1")])),
            (1, Seen::Warnings, Observed::List(vec![warning])),
        ]
    );
}

#[test]
fn requests_run_side_by_side() {
    let python = python();
    let text: String =
        (0..20).map(|n| format!("def test_{n}(tmp_path):\n    (tmp_path / 'a').write_text('a')\n")).collect();
    let project = Project::new(&[("test_a.py", &text)]);
    let checkout = project.head();
    let mut session = Session::start(&checkout, &python, &limits()).unwrap();
    let ids: Vec<String> = session.tests().iter().map(|test| test.id.clone()).collect();
    let requests: Vec<Request> =
        ids.chunks(3).map(|tests| Request { tests: tests.to_vec(), ..Request::default() }).collect();
    let records = session.run_all(&requests, 3).unwrap().concat();
    assert_eq!(records.iter().map(|record| record.id.clone()).collect::<Vec<_>>(), ids);
    assert!(records.iter().all(|record| record.outcome == Outcome::Passed), "{records:?}");
}

#[test]
fn nothing_of_a_session_is_left_in_the_checkout() {
    let python = python();
    let project = Project::new(&[
        ("pkg/a.py", ""),
        ("pkg/__init__.py", ""),
        ("test_a.py", "import pkg.a\ndef test_a(tmp_path): pass\n"),
    ]);
    let checkout = project.head();
    let mut session = Session::start(&checkout, &python, &limits()).unwrap();
    run(&mut session, Request::default());
    drop(session);
    let mut names: Vec<_> = fs::read_dir(&checkout.root).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["pkg", "test_a.py"]);
    assert_eq!(fs::read_dir(checkout.root.join("pkg")).unwrap().count(), 2);
}

#[cfg(target_os = "linux")]
#[test]
fn no_test_runs_in_another_sandbox_than_those_before() {
    let python = python();
    let text = "import os, signal, time\ndef test_a():\n    pass\ndef test_b():\n    os.kill(os.getppid(), signal.SIGKILL)\n    time.sleep(600)\n";
    let project = Project::new(&[("test_a.py", text)]);
    let checkout = project.head();
    let mut session = Session::start(&checkout, &python, &limits()).unwrap();
    assert_eq!(run(&mut session, Request::default())[1].outcome, Outcome::Crashed);
    crate::common::without_namespaces(|| {
        let tests = vec!["test_a.py::test_a".to_owned()];
        let error = session.run(&Request { tests, ..Request::default() }).unwrap_err();
        assert!(matches!(error, TestError::OtherSandbox), "{error}");
    });
}

/// Also in functions that were there before the test, in closures, in methods that call `super()`, and in chains of
/// decorators.
#[test]
fn what_covered_files_compare_is_recorded_and_comes_out_the_same() {
    let python = python();
    let project = Project::new(&[
        (
            "code_of_it.py",
            r#"
import functools
LIMIT = 3
def cached(function):
    @functools.wraps(function)
    def call(*arguments):
        return function(*arguments)
    return call
class Base:
    def is_big(self, size):
        return size > LIMIT
class Shop(Base):
    @cached
    def is_big(self, size):
        return super().is_big(size) and size != 7
def find(text, names):
    return text in names or text.startswith("a-") or (lambda: text == "z")()
"#,
        ),
        ("other.py", "def same(a, b):\n    return a == b\n"),
        (
            "test_a.py",
            r#"
from code_of_it import Shop, find
from other import same
def test_a():
    assert Shop().is_big(5) is True
    assert not find("b", {"c": 1})
    assert not same(1, 2)
def test_b():
    assert find("a-b", [object(), "c"])
"#,
        ),
    ]);
    let checkout = project.head();
    let mut session = Session::start(&checkout, &python, &limits()).unwrap();
    let covered = vec!["code_of_it.py".to_owned()];
    let records = run(&mut session, Request { operands: true, covered, ..Request::default() });
    let said: Vec<Vec<String>> = records
        .iter()
        .map(|record| {
            assert_eq!(record.outcome, Outcome::Passed, "{records:?}");
            let written =
                |one: &Operands| format!("{} {} {:?} {:?} {:?}", one.file, one.line, one.relation, one.left, one.right);
            record.operands.iter().map(written).collect()
        })
        .collect();
    let of_file = |lines: &[&str]| lines.iter().map(|line| format!("code_of_it.py {line}")).collect::<Vec<_>>();
    assert_eq!(
        said[0],
        of_file(&[
            r#"11 Order Int("5") Int("3")"#,
            r#"15 Equal Int("5") Int("7")"#,
            r#"17 Member Str("b") Str("c")"#,
            r#"17 Start Str("b") Str("a-")"#,
            r#"17 Equal Str("b") Str("z")"#,
        ])
    );
    assert_eq!(said[1], of_file(&[r#"17 Member Str("a-b") Str("c")"#, r#"17 Start Str("a-b") Str("a-")"#]));
    let records = run(&mut session, Request::default());
    assert!(records.iter().all(|record| record.outcome == Outcome::Passed && record.operands.is_empty()));
}

#[test]
fn a_case_is_found_where_fixtures_and_classes_add_to_its_id() {
    let python = python();
    let project = Project::new(&[("test_a.py", "def test_a(): pass\n")]);
    let mut session = Session::start(&project.head(), &python, &limits()).unwrap();
    let text = r#"
import pytest
@pytest.fixture(params=["sqlite", "other"])
def base(request):
    return request.param
@pytest.mark.parametrize("a", [1], ids=["case"])
def test_b(base, a):
    assert base == "sqlite"
@pytest.mark.parametrize("a", [1, 2])
class TestA:
    @pytest.mark.parametrize("b", [pytest.param(3, id="case")], ids=["other"])
    def test_c(self, a, b):
        assert b == 3
"#;
    let ids =
        ["test_a.py::test_b[case]", "test_a.py::TestA::test_c[case]", "test_a.py::test_b[none]", "test_a.py::test_d"];
    let request = Request {
        files: vec![("test_a.py".into(), text.into())],
        tests: ids.map(str::to_owned).to_vec(),
        ..Request::default()
    };
    let outcomes: Vec<Outcome> = run(&mut session, request).iter().map(|record| record.outcome).collect();
    assert_eq!(outcomes, [Outcome::Passed, Outcome::Passed, Outcome::NotFound, Outcome::NotFound]);
}
