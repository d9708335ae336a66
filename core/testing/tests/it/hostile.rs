//! Tests and projects that try to do harm, or that have something which no test expects.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use git2::{ObjectType, Oid, Repository, ResetType};

use crate::common::{Project, limits, python, run};
use twincell_repo::{Cache, Revision, checkout};
use twincell_testing::{Mechanism, Network, Outcome, Request, Session, TestLimits};

/// The outcomes by the name of the test.
fn outcomes(session: &mut Session) -> Vec<(String, Outcome, String)> {
    let records = run(session, Request::default());
    let message = |record: &twincell_testing::TestRecord| {
        record.failure.as_ref().map_or(String::new(), |failure| format!("{}: {}", failure.exception, failure.message))
    };
    let named = records
        .iter()
        .map(|record| (record.id.rsplit("::").next().unwrap().to_owned(), record.outcome, message(record)));
    named.collect()
}

#[test]
fn tests_change_nothing_outside_and_reach_nobody() {
    let python = python();
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let project = Project::new(&[("keep.py", "keep = 1\n"), ("data/file.txt", "kept")]);
    let users = project.folder.path().canonicalize().unwrap();
    fs::write(users.join(".env"), "secret").unwrap();
    let text = r#"import multiprocessing, os, shutil, socket, subprocess, sys, tempfile, threading
import pytest

USERS = "{users}"

def test_write():
    for path in [USERS + "/new", USERS + "/keep.py", "/etc/twincell", "/usr/twincell", "../new", "/dev/tty"]:
        with pytest.raises(OSError):
            open(path, "w")

def test_git():
    for path in [USERS + "/.git/config", USERS + "/.git/HEAD", USERS + "/.env"]:
        with pytest.raises(OSError):
            open(path)

def test_delete_repository():
    shutil.rmtree(USERS, ignore_errors=True)
    subprocess.run(["rm", "-rf", USERS])
    assert os.path.exists(USERS + "/keep.py")

def test_connect_out():
    for address in [("127.0.0.1", {port}), ("192.0.2.1", 80)]:
        with pytest.raises(OSError):
            socket.create_connection(address, 5)

def test_serve():
    with socket.create_server(("127.0.0.1", 0)) as server:
        with socket.create_connection(server.getsockname(), 5) as client, server.accept()[0] as other:
            other.sendall(b"a")
            assert client.recv(1) == b"a"

def test_own_files(tmp_path):
    (tmp_path / "a").write_text("a")
    open("new.txt", "w").close()
    with tempfile.NamedTemporaryFile() as file:
        os.chmod(file.name, 0o600)
        os.utime(file.name, (1, 1))
    os.makedirs(os.path.expanduser("~/.config/own"))

def test_modes():
    def attempt(call, *arguments):
        try:
            call(*arguments)
        except OSError:
            pass
    for path in [USERS, USERS + "/keep.py"]:
        attempt(os.chmod, path, 0)
        attempt(os.utime, path, (1, 1))
        attempt(os.setxattr, path, "user.a", b"")
    shutil.rmtree(USERS, onerror=lambda call, path, error: attempt(os.chmod, path, 0o777))

def test_usual_files(tmp_path):
    import sqlite3
    from multiprocessing import shared_memory
    with sqlite3.connect(tmp_path / "data.sqlite") as database:
        database.execute("PRAGMA journal_mode=wal")
        database.execute("CREATE TABLE a (b)")
    memory = shared_memory.SharedMemory(create=True, size=10)
    memory.close()
    memory.unlink()
    open("first", "w").close()
    os.replace("first", "data/second")
    os.chmod("data/second", 0o700)
    assert os.access("data/second", os.X_OK)
    with tempfile.TemporaryDirectory(dir=".") as folder:
        os.symlink("/", os.path.join(folder, "link"))
    os.listdir("/dev/shm"), os.listdir("/tmp")

def test_processes():
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map(abs, [-1, -2]) == [1, 2]
    assert subprocess.run([sys.executable, "-c", "print(1)"], capture_output=True).stdout == b"1\n"

def test_world():
    assert subprocess.run(["unshare", "-r", "true"], stderr=subprocess.DEVNULL).returncode != 0

def test_others():
    with pytest.raises(OSError):
        open("/proc/1/mem", "rb")

def test_memory():
    bytearray(8 << 30)

def test_delete_files():
    shutil.rmtree(os.getcwd(), ignore_errors=True)
    assert os.listdir(os.getcwd()) == []
"#;
    let port = server.local_addr().unwrap().port().to_string();
    let text = text.replace("{users}", users.to_str().unwrap()).replace("{port}", &port);
    project.write(&[("test_hostile.py", &text)]);
    project.commit();
    let checkout = project.head();
    let stamps = || {
        let about = |path: &str| fs::metadata(users.join(path)).unwrap();
        ["", "keep.py", "data"].map(about).map(|about| (about.ctime(), about.ctime_nsec()))
    };
    let before = stamps();
    let mut session = Session::start(&checkout, &python, &limits()).unwrap();
    let report = session.sandbox().unwrap().clone();
    assert!(report.network == Network::Own || report.lacks[0].mechanism == Mechanism::Namespaces);
    for (name, outcome, message) in outcomes(&mut session) {
        let expected = if name == "test_memory" { Outcome::Failed } else { Outcome::Passed };
        assert_eq!(outcome, expected, "{name}: {message}");
    }
    drop(session);
    assert_eq!(stamps(), before);
    assert_eq!(fs::read_to_string(users.join("keep.py")).unwrap(), "keep = 1\n");
    assert!(users.join(".git/HEAD").exists() && users.join(".env").exists());
    drop(checkout);
    assert_eq!(fs::read_to_string(project.head().root.join("data/file.txt")).unwrap(), "kept");
}

#[test]
fn the_folder_of_git_is_closed_wherever_it_lies() {
    let python = python();
    let text = "def test_a():\n    try:\n        open('MAIN/.git/config').close()\n    except OSError:\n        return\n    \
                raise Exception('open')\ndef test_b():\n    open('MAIN/keep.py').close()\n";
    // Tests see none of the system's temporary folders, so this needs a folder elsewhere.
    let build = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).canonicalize().unwrap();
    if ["/tmp", "/var/tmp", "/dev/shm"].iter().any(|shared| build.starts_with(shared)) {
        eprintln!("not run: {} is a temporary folder", build.display());
        return;
    }
    let place = || tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let project = Project::of(place(), &[("keep.py", "")]);
    let main = project.folder.path().canonicalize().unwrap();
    let text = text.replace("MAIN", main.to_str().unwrap());
    project.write(&[("test_a.py", &text)]);
    project.commit();
    let other = place();
    let folder = other.path().join("worktree");
    Repository::open(&main).unwrap().worktree("other", &folder, None).unwrap();
    for users in [&main, &folder] {
        let checkout = checkout(users, &Revision::Commit("HEAD".into()), &project.cache()).unwrap();
        let mut session = Session::start(&checkout, &python, &limits()).unwrap();
        for (name, outcome, message) in outcomes(&mut session) {
            assert_eq!(outcome, Outcome::Passed, "{} {name}: {message}", users.display());
        }
    }
    let bare = other.path().join("bare");
    git2::build::RepoBuilder::new().bare(true).clone(main.to_str().unwrap(), &bare).unwrap();
    let text = text.replace(&format!("{}/.git", main.display()), bare.canonicalize().unwrap().to_str().unwrap());
    project.write(&[("test_a.py", &text)]);
    project.commit();
    let [theirs, own] = [&bare, &main].map(|folder| Repository::open(folder).unwrap());
    let mut remote = theirs.remote_anonymous(own.path().to_str().unwrap()).unwrap();
    remote.fetch(&["+refs/heads/*:refs/heads/*"], None, None).unwrap();
    let checkout = checkout(&bare, &Revision::Commit("HEAD".into()), &project.cache()).unwrap();
    let mut session = Session::start(&checkout, &python, &limits()).unwrap();
    for (name, outcome, message) in outcomes(&mut session) {
        assert_eq!(outcome, Outcome::Passed, "bare {name}: {message}");
    }
}

#[test]
fn tests_that_break_what_they_share_with_us_stop_no_others() {
    let python = python();
    let project = Project::new(&[(
        "test_hostile.py",
        r#"import os, sys, time
def test_a(): pass
def test_close():
    os.closerange(3, 10000)
def test_b(): pass
def test_garbage():
    for handle in range(3, 100):
        try:
            os.write(handle, b"\xff\x00 garbage \x1b[31m\n" * 100)
        except OSError:
            pass
def test_c(): pass
def test_forged():
    for handle in range(3, 100):
        try:
            os.write(handle, b'{"exit": 0}\n{"record": {"id": "other", "outcome": "passed", "seconds": 0}}\n')
        except OSError:
            pass
def test_d(): pass
def test_pipes():
    import glob
    for line in glob.glob(os.path.dirname(os.environ["HOME"]) + "/pipes/*"):
        os.remove(line)
def test_e(): pass
def test_names():
    pipes = os.path.dirname(os.environ["HOME"]) + "/pipes/"
    for number in range(100):
        if os.path.lexists(pipes + str(number)):
            continue
        if number % 2:
            os.symlink("/dev/zero", pipes + str(number))
        else:
            open(pipes + str(number), "a").close()
    os._exit(1)
def test_g(): pass
def test_closed_pipes():
    os.chmod(os.path.dirname(os.environ["HOME"]) + "/pipes", 0)
    os._exit(1)
def test_h(): pass
def test_many():
    for _ in range(200):
        if os.fork() == 0:
            os.setsid()
            time.sleep(600)
            os._exit(0)
def test_f(): pass
"#,
    )]);
    let checkout = project.head();
    let mut session = Session::start(&checkout, &python, &limits()).unwrap();
    for (name, outcome, message) in outcomes(&mut session) {
        let may_fail =
            ["test_close", "test_garbage", "test_forged", "test_names", "test_closed_pipes"].contains(&name.as_str());
        assert!(outcome == Outcome::Passed || may_fail && outcome == Outcome::Crashed, "{name} {outcome:?} {message}");
    }
}

#[test]
fn forged_results_count_for_no_other_test_and_give_no_more_time() {
    let python = python();
    let project = Project::new(&[(
        "test_hostile.py",
        r#"import json, os, time
def say(*messages):
    for handle in range(3, 100):
        try:
            os.write(handle, b"".join(json.dumps(message).encode() + b"\n" for message in messages))
        except OSError:
            pass
def begin(name):
    return {"begin": "test_hostile.py::" + name}
def record(name, outcome):
    return {"record": {"id": "test_hostile.py::" + name, "outcome": outcome, "seconds": 0}}
def test_a(): pass
def test_end():
    say(record("none", "passed"), "end")
    time.sleep(600)
def test_b(): pass
def test_exit():
    say({"exit": 0})
    time.sleep(600)
def test_others():
    say(record("test_a", "failed"), begin("test_c"), record("test_c", "failed"))
def test_c(): pass
def test_more_time():
    while True:
        say(begin("test_more_time"), begin("test_d"), record("test_d", "failed"))
        time.sleep(0.01)
def test_d(): pass
"#,
    )]);
    let checkout = project.head();
    let limits = TestLimits { test_seconds: 3.0, ..limits() };
    let mut session = Session::start(&checkout, &python, &limits).unwrap();
    let found: Vec<(String, Outcome)> =
        outcomes(&mut session).into_iter().map(|(name, outcome, _)| (name, outcome)).collect();
    let expected = [
        ("test_a", Outcome::Passed),
        ("test_end", Outcome::Crashed),
        ("test_b", Outcome::Passed),
        ("test_exit", Outcome::Crashed),
        ("test_others", Outcome::Passed),
        ("test_c", Outcome::Passed),
        ("test_more_time", Outcome::TimedOut),
        ("test_d", Outcome::Passed),
    ];
    assert_eq!(found, expected.map(|(name, outcome)| (name.to_owned(), outcome)));
}

/// A tree of these bytes, which git would not make.
fn raw_tree(repository: &Repository, entries: &[(&str, &[u8], Oid)]) -> Oid {
    let entry = |(mode, name, id): &(&str, &[u8], Oid)| [mode.as_bytes(), b" ", name, b"\0", id.as_bytes()].concat();
    let bytes: Vec<u8> = entries.iter().flat_map(entry).collect();
    repository.odb().unwrap().write(ObjectType::Tree, &bytes).unwrap()
}

const TREE: &str = "40000";

#[test]
fn nothing_is_written_behind_a_link_of_a_tree() {
    let project = Project::new(&[("keep.py", "")]);
    let repository = Repository::open(project.folder.path()).unwrap();
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("kept.py"), "kept").unwrap();
    let evil = repository.blob(b"evil").unwrap();
    let link = repository.blob(outside.path().to_str().unwrap().as_bytes()).unwrap();
    let files = raw_tree(&repository, &[("100755", b"evil.py", evil), ("100644", b"kept.py", evil)]);
    let folders = raw_tree(&repository, &[(TREE, b"b", files)]);
    // Some disks take `A` for `a`.
    for (is_same, name) in [(true, b"a"), (false, b"A")] {
        for inner in [files, folders] {
            let tree = raw_tree(&repository, &[("120000", name, link), (TREE, b"a", inner)]);
            let made = checkout(project.folder.path(), &Revision::Commit(tree.to_string()), &project.cache());
            if is_same {
                let error = made.unwrap_err().to_string();
                assert!(error.contains("evil.py\": ") && error.lines().count() == 1, "{error}");
            }
            let names: Vec<_> = fs::read_dir(outside.path()).unwrap().map(|one| one.unwrap().file_name()).collect();
            assert_eq!(names, ["kept.py"]);
            assert_eq!(fs::read_to_string(outside.path().join("kept.py")).unwrap(), "kept");
        }
    }
}

#[test]
fn trees_without_end_are_one_line() {
    let project = Project::new(&[("keep.py", "")]);
    let repository = Repository::open(project.folder.path()).unwrap();
    let blob = repository.blob(b"").unwrap();
    let leaf = raw_tree(&repository, &[("100644", b"a.py", blob)]);
    let nested = |levels, names: &[&[u8]]| {
        (0..levels).fold(leaf, |inner, _| {
            raw_tree(&repository, &names.iter().map(|name| (TREE, *name, inner)).collect::<Vec<_>>())
        })
    };
    let long = vec![b'a'; 60_000];
    for (tree, expected) in [
        (nested(10_000, &[b"a"]), "it has folders more than 100 deep"),
        (nested(12, &[b"a", b"b", b"c", b"d", b"e", b"f", b"g", b"h"]), "it has more than 200000 files or folders"),
        (nested(12, &[b"a", b"a", b"a", b"a", b"a", b"a", b"a", b"a"]), "it has more than 200000 files or folders"),
        (nested(50, &[&long]), "a path of more than 4096 bytes"),
    ] {
        let made = checkout(project.folder.path(), &Revision::Commit(tree.to_string()), &project.cache());
        let error = made.unwrap_err().to_string();
        assert!(error.contains(expected) && error.lines().count() == 1, "{error}");
    }
}

/// Other systems have no such names.
#[cfg(target_os = "linux")]
#[test]
fn names_that_are_no_utf_8_are_names() {
    use std::os::unix::ffi::OsStrExt as _;

    let python = python();
    let project = Project::new(&[("keep.py", "")]);
    let repository = Repository::open(project.folder.path()).unwrap();
    let blob = repository.blob(b"def test_a(): pass\n").unwrap();
    let folder = raw_tree(&repository, &[("100644", b"test_a\xe9.py", blob)]);
    let tree = raw_tree(&repository, &[(TREE, b"b\xe9", folder)]);
    let checkout = checkout(project.folder.path(), &Revision::Commit(tree.to_string()), &project.cache()).unwrap();
    let path = std::ffi::OsStr::from_bytes(b"b\xe9/test_a\xe9.py");
    assert_eq!(fs::read(checkout.root.join(path)).unwrap(), b"def test_a(): pass\n");
    let mut session = Session::start(&checkout, &python, &limits()).unwrap();
    assert_eq!(session.tests()[0].id, r"b\udce9/test_a\udce9.py::test_a");
    assert_eq!(outcomes(&mut session)[0].1, Outcome::Passed);
}

/// Whether this program was started once more, with secrets in its environment.
const WITH_SECRETS: &str = "TWINCELL_TEST_WITH_SECRETS";

#[test]
fn runs_with_secrets_in_its_environment() {
    if std::env::var_os(WITH_SECRETS).is_none() {
        return;
    }
    let text = "import os\ndef test_a():\n    names = {'SOME_TOKEN', 'DATABASE_URL', 'password', 'DB_PASS'}\n    \
                assert not names & set(os.environ)\n    assert os.environ['MONKEY'] == 'plain'\n";
    let project = Project::new(&[("test_a.py", text)]);
    let limits = TestLimits { pass_env: vec!["MONKEY".to_owned()], ..limits() };
    let mut session = Session::start(&project.head(), &python(), &limits).unwrap();
    let (_, outcome, message) = outcomes(&mut session).remove(0);
    assert_eq!(outcome, Outcome::Passed, "{message}");
}

#[test]
fn tests_see_no_secrets_of_the_environment() {
    let mut again = Command::new(std::env::current_exe().unwrap());
    again.args(["hostile::runs_with_secrets_in_its_environment", "--exact"]).env(WITH_SECRETS, "1");
    again
        .envs(["SOME_TOKEN", "DATABASE_URL", "password", "DB_PASS"].map(|name| (name, "secret")))
        .env("MONKEY", "plain");
    let ended = again.output().unwrap();
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stdout));
}

/// Where a test program is told what to do when it is started once more, in order to be killed.
const KILLED: &str = "TWINCELL_TEST_KILLED";

fn running(mark: &str) -> usize {
    let line = |process: fs::DirEntry| fs::read(process.path().join("cmdline")).unwrap_or_default();
    let lines = fs::read_dir("/proc").into_iter().flatten().flatten().map(line);
    lines.filter(|line| String::from_utf8_lossy(line).contains(mark)).count()
}

#[test]
fn runs_until_it_is_killed() {
    let Some(folder) = std::env::var_os(KILLED) else { return };
    let folder = Path::new(&folder);
    let cache = Cache::new(folder.join("cache"));
    let checkout = checkout(&folder.join("users"), &Revision::Commit("HEAD".into()), &cache).unwrap();
    let mut session = Session::start(&checkout, &python(), &limits()).unwrap();
    run(&mut session, Request::default());
}

#[test]
fn a_kill_leaves_no_process_and_no_damage() {
    let python = python();
    let mark = format!("{}", 200_000_000 + u64::from(std::process::id()));
    let text = "import os, subprocess, time\ndef test_a():\n    subprocess.Popen(['sleep', 'MARK'], \
                start_new_session=True)\n    open('file.txt', 'w').close()\n    if os.path.exists('slow'):\n        \
                time.sleep(600)\n";
    let folder = tempfile::tempdir().unwrap();
    let users = tempfile::Builder::new().prefix("users").rand_bytes(0).tempdir_in(folder.path()).unwrap();
    let text = text.replace("MARK", &mark);
    let project = Project::of(users, &[("test_a.py", &text), ("file.txt", "kept"), ("slow", "")]);
    let users = project.folder.path();
    let mut killed = Command::new(std::env::current_exe().unwrap())
        .args(["hostile::runs_until_it_is_killed", "--exact"])
        .env(KILLED, folder.path())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let deadline = Instant::now() + Duration::from_secs(60);
    while running(&mark) == 0 && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(running(&mark), 1);
    killed.kill().unwrap();
    killed.wait().unwrap();
    while running(&mark) > 0 && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(running(&mark), 0);
    assert_eq!(fs::read_to_string(users.join("file.txt")).unwrap(), "kept");
    let cache = Cache::new(folder.path().join("cache"));
    let again = checkout(users, &Revision::Commit("HEAD".into()), &cache).unwrap();
    assert_eq!(fs::read_to_string(again.root.join("file.txt")).unwrap(), "kept");
    fs::remove_file(again.root.join("slow")).unwrap();
    let mut session = Session::start(&again, &python, &limits()).unwrap();
    assert_eq!(outcomes(&mut session)[0].1, Outcome::Passed);
}

#[test]
fn repositories_of_every_kind_have_a_result_or_a_line() {
    let python = python();
    let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a2146\nsize 12\n";
    let project = Project::new(&[
        (".gitattributes", "*.bin filter=lfs diff=lfs merge=lfs -text\n"),
        ("data.bin", pointer),
        ("odd\nname.txt", "odd"),
        ("test_a.py", "def test_a():\n    assert open('data.bin').read().startswith('version')\n"),
    ]);
    let repository = Repository::open(project.folder.path()).unwrap();
    let head = repository.head().unwrap().peel_to_commit().unwrap();
    // A submodule that nobody has fetched.
    let mut index = repository.index().unwrap();
    let mut entry = index.get_path(Path::new("data.bin"), 0).unwrap();
    (entry.mode, entry.path, entry.id) = (0o160_000, b"vendor/other".to_vec(), head.id());
    index.add(&entry).unwrap();
    index.write().unwrap();
    let staged = project.at(&Revision::Staged);
    let mut session = Session::start(&staged, &python, &limits()).unwrap();
    assert_eq!(outcomes(&mut session)[0].1, Outcome::Passed);
    // A detached head, and an index that differs from it.
    repository.set_head_detached(head.id()).unwrap();
    let detached = project.head();
    let mut session = Session::start(&detached, &python, &limits()).unwrap();
    assert_eq!(outcomes(&mut session)[0].1, Outcome::Passed);
    assert_eq!(repository.statuses(None).unwrap().len(), 1, "the index is as it was");
    repository.reset(head.as_object(), ResetType::Hard, None).unwrap();
    // Nothing to run.
    let empty = Project::new(&[("a.py", "")]);
    assert!(Session::start(&empty.head(), &python, &limits()).unwrap().tests().is_empty());
    // Only what never ends waits for a limit: a busy machine may take long for the others.
    let short = TestLimits { collect_seconds: 3.0, ..limits() };
    for (conftest, expected) in [
        ("def broken(:\n", "SyntaxError"),
        ("raise SystemExit(3)\n", "pytest did not start: "),
        ("import os\nos._exit(0)\n", "pytest did not start: "),
        ("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n", "pytest did not start: "),
        ("while True: pass\n", "pytest took more than 3 s to collect the tests"),
        ("import os\nos.closerange(3, 1000)\n", "pytest did not start: "),
        ("import os\nprint('\\x1b]0;title\\x07', flush=True)\nos._exit(1)\n", "pytest did not start: "),
    ] {
        let project = Project::new(&[("conftest.py", conftest), ("test_a.py", "def test_a(): pass\n")]);
        let limits = if conftest.starts_with("while") { &short } else { &limits() };
        let error = Session::start(&project.head(), &python, limits).unwrap_err().to_string();
        assert!(error.contains(expected), "{conftest}: {error}");
        assert!(error.lines().count() == 1 && !error.contains('\x1b'), "{error}");
    }
}
