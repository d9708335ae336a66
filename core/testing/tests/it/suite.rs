//! All tests of a version: what the store keeps, which tests are flaky, and what checkouts leave alone.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

#[cfg(target_os = "linux")]
use crate::common::without_namespaces;
use crate::common::{Project, limits, python};
use twincell_repo::Revision;
use twincell_testing::{Kept, Outcome, Request, Session, Store, SuiteOptions, TestError, TestLimits, run_suite};

#[test]
fn nothing_runs_twice() {
    let python = python();
    let project = Project::new(&[
        ("shop.py", "def one():\n    return 1\n"),
        ("test_a.py", "from shop import one\ndef test_a():\n    assert one() == 1\ndef test_b():\n    assert False\n"),
        ("test_c.py", "def test_c(): pass\n"),
    ]);
    let options = SuiteOptions { coverage: true, workers: 2, ..SuiteOptions::default() };
    let suite = || {
        let mut store = Store::open(project.cache.path()).unwrap();
        run_suite(&project.head(), &python, &mut store, &limits(), &options, &mut |_, _| {}).unwrap()
    };
    let (first, second) = (suite(), suite());
    assert_eq!((first.ran, second.ran), (3, 0));
    assert_eq!(first.outcomes, [(Outcome::Passed, 2), (Outcome::Failed, 1)].into());
    let records = |run: &twincell_testing::SuiteRun| run.tests.iter().map(|t| t.record.clone()).collect::<Vec<_>>();
    assert_eq!(records(&first), records(&second));
    assert_eq!(first.tests[0].record.lines["shop.py"], [2]);
    project.write(&[("shop.py", "def one():\n    return 2\n")]);
    project.commit();
    let third = suite();
    assert_eq!((third.ran, third.outcomes[&Outcome::Failed]), (3, 2));
}

#[test]
fn a_kept_session_runs_own_tests_once_and_variants_always() {
    let python = python();
    let project = Project::new(&[
        ("shop.py", "def one():\n    return 1\n"),
        ("test_a.py", "from shop import one\ndef test_a():\n    assert one() == 1\ndef test_b():\n    assert False\n"),
    ]);
    let ids = ["test_a.py::test_b", "test_a.py::test_a", "test_a.py::test_none"].map(str::to_owned);
    let own = Request { tests: ids.to_vec(), coverage: true, ..Request::default() };
    let variant = Request { files: vec![("test_v.py".into(), "def test_v(): pass\n".into())], ..Request::default() };
    let variant = Request { tests: vec!["test_v.py::test_v".into()], ..variant };
    let run = |request: &Request| {
        let (checkout, store) = (project.head(), Store::open(project.cache.path()).unwrap());
        let session = Session::start(&checkout, &python, &limits()).unwrap();
        Kept::new(session, store, checkout, python.clone(), limits()).run(request).unwrap()
    };
    let (first, second) = (run(&own), run(&own));
    assert_eq!(first, second, "the times of two runs differ");
    let outcomes: Vec<Outcome> = first.iter().map(|record| record.outcome).collect();
    assert_eq!(outcomes, [Outcome::Failed, Outcome::Passed, Outcome::NotFound]);
    assert_eq!(first[1].lines["shop.py"], [2]);
    assert_ne!(run(&variant), run(&variant));
}

#[test]
fn files_that_are_opened_are_known_from_the_store_too() {
    let python = python();
    let test = "import shop\n\ndef test_a():\n    import late\n    assert open('data/a.txt').read() == 'a'\n";
    let project = Project::new(&[
        ("test_a.py", test),
        ("shop.py", "A = 1\n"),
        ("late.py", ""),
        ("never.py", ""),
        ("data/a.txt", "a"),
        ("data/b.txt", "b"),
        (".ci.yml", ""),
    ]);
    for _ in 0..2 {
        let mut store = Store::open(project.cache.path()).unwrap();
        let options = SuiteOptions::default();
        let found = run_suite(&project.head(), &python, &mut store, &limits(), &options, &mut |_, _| {}).unwrap();
        let opened = found.opened.unwrap();
        let is_opened = |path: &&str| opened.contains(*path);
        assert!(["test_a.py", "shop.py", "late.py", "data/a.txt"].iter().all(is_opened), "{opened:?}");
        assert!(!["never.py", "data/b.txt", ".ci.yml"].iter().any(is_opened), "{opened:?}");
    }
}

#[test]
fn what_another_process_opens_is_not_known() {
    let python = python();
    let test = "import subprocess, sys\n\ndef test_a():\n    subprocess.run([sys.executable, '-c', 'open(\"a.txt\")'], check=True)\n";
    let project = Project::new(&[("test_a.py", test), ("a.txt", "a"), ("test_b.py", "def test_b(): pass\n")]);
    let opened = |tests: &str| {
        let mut store = Store::open(project.cache.path()).unwrap();
        let limits = TestLimits { arguments: vec![tests.to_owned()], ..limits() };
        let options = SuiteOptions::default();
        run_suite(&project.head(), &python, &mut store, &limits, &options, &mut |_, _| {}).unwrap().opened
    };
    assert_eq!(opened("test_a.py"), None);
    assert!(opened("test_b.py").is_some_and(|opened| opened.contains("test_b.py")));
}

#[test]
fn a_test_that_ends_its_process_runs_again() {
    let python = python();
    let text = "import os\ndef test_a(): pass\ndef test_exit():\n    os._exit(1)\n";
    let project = Project::new(&[("test_a.py", text)]);
    let suite = || {
        let mut store = Store::open(project.cache.path()).unwrap();
        let options = SuiteOptions::default();
        run_suite(&project.head(), &python, &mut store, &limits(), &options, &mut |_, _| {}).unwrap()
    };
    let (first, second) = (suite(), suite());
    assert_eq!((first.ran, second.ran), (2, 1));
    for run in [first, second] {
        assert_eq!(run.outcomes, [(Outcome::Passed, 1), (Outcome::Crashed, 1)].into());
        assert_eq!(run.tests.len(), 2);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn results_of_another_sandbox_are_no_results() {
    let python = python();
    let text = "import socket\ndef test_a():\n    socket.create_server(('127.0.0.1', 0)).close()\n";
    let project = Project::new(&[("test_a.py", text)]);
    let suite = || {
        let mut store = Store::open(project.cache.path()).unwrap();
        let options = SuiteOptions::default();
        run_suite(&project.head(), &python, &mut store, &limits(), &options, &mut |_, _| {}).unwrap()
    };
    let first = suite();
    without_namespaces(|| {
        let second = suite();
        assert_eq!((second.ran, suite().ran), (1, 0));
        assert_eq!(second.outcomes, [(Outcome::Failed, 1)].into());
    });
    let again = suite();
    assert_eq!(
        (first.outcomes, again.ran, again.outcomes),
        ([(Outcome::Passed, 1)].into(), 0, [(Outcome::Passed, 1)].into())
    );
}

#[test]
fn a_short_limit_of_tests_is_no_missing_python() {
    let project = Project::new(&[("test_a.py", "def test_a(): pass\n")]);
    let mut store = Store::open(project.cache.path()).unwrap();
    let limits = TestLimits { collect_seconds: 0.0, ..limits() };
    let options = SuiteOptions::default();
    let error = run_suite(&project.head(), &python(), &mut store, &limits, &options, &mut |_, _| {}).unwrap_err();
    assert!(matches!(error, TestError::CollectingTookTooLong(_)), "{error}");
}

#[test]
fn tests_that_depend_on_order_are_flaky() {
    let python = python();
    let project = Project::new(&[(
        "test_a.py",
        "seen = []\ndef test_a():\n    seen.append(1)\ndef test_b():\n    assert seen\ndef test_c(): pass\n",
    )]);
    let options = SuiteOptions { runs: 2, ..SuiteOptions::default() };
    let mut store = Store::open(project.cache.path()).unwrap();
    let run = run_suite(&project.head(), &python, &mut store, &limits(), &options, &mut |_, _| {}).unwrap();
    let flaky: Vec<_> = run.tests.iter().map(|test| test.flaky.clone()).collect();
    assert_eq!(flaky, [vec![], vec![Outcome::Passed, Outcome::Failed], vec![]]);
}

#[test]
fn a_checkout_holds_its_version_whatever_tests_have_done_to_it() {
    let project =
        Project::new(&[("a/b.py", "one"), ("keep.py", "keep"), ("gone.py", "gone"), ("odd\nname.txt", "odd")]);
    std::os::unix::fs::symlink("keep.py", project.folder.path().join("link.py")).unwrap();
    fs::set_permissions(project.folder.path().join("a/b.py"), fs::Permissions::from_mode(0o755)).unwrap();
    project.commit();
    let first = project.head();
    let root = first.root.clone();
    let second = project.head();
    assert_ne!(root, second.root, "a checkout that is in use belongs to nobody else");
    assert_eq!(first.tree, second.tree);
    fs::write(root.join("keep.py"), "evil").unwrap();
    fs::remove_file(root.join("gone.py")).unwrap();
    fs::create_dir(root.join("new")).unwrap();
    fs::write(root.join("new/file"), "").unwrap();
    drop(first);
    let again = project.head();
    assert_eq!(again.root, root);
    assert_eq!(fs::read_to_string(root.join("keep.py")).unwrap(), "keep");
    assert_eq!(fs::read_link(root.join("link.py")).unwrap(), std::path::Path::new("keep.py"));
    let is_executable = |path: &str| fs::metadata(root.join(path)).unwrap().permissions().mode() & 0o100 != 0;
    assert!(is_executable("a/b.py") && !is_executable("gone.py"));
    assert!(root.join("gone.py").exists() && root.join("odd\nname.txt").exists() && !root.join("new").exists());
    project.write(&[("keep.py", "changed"), ("untracked.py", "new")]);
    let files = project.at(&Revision::Files);
    assert_eq!(fs::read_to_string(files.root.join("keep.py")).unwrap(), "changed");
    assert!(files.root.join("untracked.py").exists());
    let staged = project.at(&Revision::Staged);
    assert_eq!(staged.tree, again.tree);
    drop((second, again, files, staged));
    let cleaned = project.cache().clean(&twincell_testing::stored(&project.cache().folder));
    assert!(cleaned.bytes > 0 && cleaned.in_use == 0 && cleaned.failed.is_empty(), "{cleaned:?}");
    assert!(!root.exists());
}
