//! What tests of a project can do in their sandbox, and what is left of them, also where the system allows less.

#![cfg(target_os = "linux")]

use std::collections::BTreeMap;
use std::fs;
use std::io::Read as _;
use std::net::{Shutdown, TcpListener};
use std::os::fd::AsRawFd as _;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    apply_filter,
};
use twincell_sandbox::{Mechanism, Namespaces, Network, SpawnError, SuiteLimits, SuiteReport, spawn};

/// Folders for a suite: its own, a user's, and one that is closed.
struct SuiteFolders {
    folder: tempfile::TempDir,
    limits: SuiteLimits,
}

impl SuiteFolders {
    fn new() -> Self {
        Self::below(Path::new(env!("CARGO_TARGET_TMPDIR")))
    }

    fn below(folder: &Path) -> Self {
        let folder = tempfile::tempdir_in(folder).unwrap();
        let path = folder.path().canonicalize().unwrap();
        for inner in ["run", "own", "users/.hidden/needed", "users/.settings", "other"] {
            fs::create_dir_all(path.join(inner)).unwrap();
        }
        for (file, text) in [("users/.hidden/secret", "x"), ("users/.hidden/needed/file", "n"), ("users/plain", "p")] {
            fs::write(path.join(file), text).unwrap();
        }
        let limits = SuiteLimits {
            folder: path.join("run"),
            writable: vec![path.join("own")],
            readable: vec![path.join("users"), path.join("users/.hidden/needed")],
            closed: vec![path.join("users/.hidden"), path.join("users/.settings")],
            memory_bytes: 1 << 30,
            file_bytes: 1 << 20,
            network: false,
        };
        Self { folder, limits }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap()
    }

    /// Starts a text in Python. Its own end of the socket comes back.
    fn start(&self, text: &str) -> Result<(std::process::Child, SuiteReport, UnixStream), SpawnError> {
        self.start_where(text, false)
    }

    /// The same, perhaps also where the sandbox is incomplete.
    fn start_where(
        &self,
        text: &str,
        incomplete: bool,
    ) -> Result<(std::process::Child, SuiteReport, UnixStream), SpawnError> {
        let (own, theirs) = UnixStream::pair().unwrap();
        let mut command = Command::new("python3");
        command.args(["-c", text]).current_dir(self.path().join("own")).stdin(Stdio::piped()).stdout(Stdio::piped());
        command.stderr(Stdio::null());
        command.env("FOLDER", self.path());
        let (child, report) = spawn(&mut command, theirs.as_raw_fd(), &self.limits, incomplete)?;
        Ok((child, report, own))
    }

    /// When the user's files were last changed in any way: content, mode, times, attributes, owner.
    fn stamps(&self) -> [(i64, i64); 3] {
        let about = |path| fs::metadata(self.path().join(path)).unwrap();
        ["users", "users/plain", "other"].map(about).map(|about| (about.ctime(), about.ctime_nsec()))
    }

    /// What came of each attempt: `ok`, a result or the name of an exception. The user's files are as they were.
    fn attempts(&self, attempts: &[(&str, &str)]) -> (BTreeMap<String, String>, SuiteReport) {
        let before = self.stamps();
        let mut text =
            "import ctypes, os, resource, socket, subprocess, sys\nfolder = os.environ['FOLDER']\n".to_owned();
        for (name, attempt) in attempts {
            text += &format!(
                "try:\n    result = {attempt}\n    print('{name}|', 'ok' if result is None else result)\n\
                 except Exception as error:\n    print('{name}|', type(error).__name__)\n"
            );
        }
        let (mut child, report, _own) = self.start(&text).unwrap();
        let mut said = String::new();
        child.stdout.take().unwrap().read_to_string(&mut said).unwrap();
        assert!(child.wait().unwrap().success(), "{said}");
        assert_eq!(self.stamps(), before, "{said}");
        let lines = said.lines().filter_map(|line| line.split_once("| "));
        (lines.map(|(name, result)| (name.to_owned(), result.to_owned())).collect(), report)
    }
}

/// Runs a test in a thread on a system that refuses a call with arguments that have these bits.
fn without(call: i64, bits: u64, error: i32, test: impl FnOnce() + Send) {
    let condition = SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::MaskedEq(bits), bits).unwrap();
    let rules = [(call, vec![SeccompRule::new(vec![condition]).unwrap()])].into();
    let refused = SeccompAction::Errno(error as u32);
    let architecture = std::env::consts::ARCH.try_into().unwrap();
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, refused, architecture).unwrap();
    let program: BpfProgram = filter.try_into().unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            apply_filter(&program).unwrap();
            test();
        });
    });
}

/// Requests of a filter's listener, without names in `libc`: SECCOMP_IOCTL_NOTIF_RECV and SECCOMP_IOCTL_NOTIF_SEND.
const RECEIVE: libc::c_ulong = 0xc050_2100;
const SEND: libc::c_ulong = 0xc018_2101;

/// Runs a test in a thread on a system with this version of Landlock. Newer rules exist there, and nobody asks for them.
fn with_landlock(version: i64, test: impl FnOnce() + Send) {
    let statement = |code: u32, jt, jf, k| libc::sock_filter { code: code as u16, jt, jf, k };
    let load = |offset| statement(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, offset);
    let unless = |value, jf| statement(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, 0, jf, value);
    let answer = |value| statement(libc::BPF_RET | libc::BPF_K, 0, 0, value);
    let call = libc::SYS_landlock_create_ruleset as u32;
    // The version is what the call gives with the flag 1, its third argument.
    let mut program = [
        load(0),
        unless(call, 3),
        load(32),
        unless(1, 1),
        answer(libc::SECCOMP_RET_USER_NOTIF),
        answer(libc::SECCOMP_RET_ALLOW),
    ];
    let all = libc::sock_fprog { len: program.len() as u16, filter: program.as_mut_ptr() };
    let address = &raw const all as usize;
    std::thread::scope(|scope| {
        let (to, from) = std::sync::mpsc::channel();
        scope.spawn(move || {
            let listener = from.recv().unwrap();
            loop {
                // SAFETY: the structures are plain data and outlive the calls.
                unsafe {
                    let mut asked: libc::seccomp_notif = std::mem::zeroed();
                    let mut watched = libc::pollfd { fd: listener, events: libc::POLLIN, revents: 0 };
                    libc::poll(&raw mut watched, 1, -1);
                    if watched.revents & libc::POLLIN == 0 || libc::ioctl(listener, RECEIVE, &raw mut asked) < 0 {
                        break libc::close(listener);
                    }
                    let answered = libc::seccomp_notif_resp { id: asked.id, val: version, error: 0, flags: 0 };
                    libc::ioctl(listener, SEND, &raw const answered);
                }
            }
        });
        scope.spawn(move || {
            // SAFETY: the program outlives the calls.
            unsafe {
                assert_eq!(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
                let (set, flag) = (libc::SECCOMP_SET_MODE_FILTER, libc::SECCOMP_FILTER_FLAG_NEW_LISTENER);
                let listener = libc::syscall(libc::SYS_seccomp, set, flag, address);
                assert!(listener >= 0, "{}", std::io::Error::last_os_error());
                libc::fcntl(listener as i32, libc::F_SETFD, libc::FD_CLOEXEC);
                to.send(listener as i32).unwrap();
            }
            test();
        });
    });
}

const FILES: [(&str, &str); 24] = [
    ("own", "open('file', 'w').close()"),
    ("program", "subprocess.run([sys.executable, '-c', 'pass']).check_returncode()"),
    ("mode", "os.chmod('file', 0o600)"),
    ("time", "os.utime('file', (1, 1))"),
    ("null", "open('/dev/null', 'w').close()"),
    ("plain", "open(folder + '/users/plain').close()"),
    ("needed", "open(folder + '/users/.hidden/needed/file').close()"),
    ("process", "open('/proc/self/status').close()"),
    ("secret", "open(folder + '/users/.hidden/secret').close()"),
    ("write users", "open(folder + '/users/plain', 'w').close()"),
    ("write other", "open(folder + '/other/file', 'w').close()"),
    ("rename", "os.rename(folder + '/users/plain', 'plain')"),
    ("root", "open('/etc/shadow').close()"),
    ("terminal", "open('/dev/tty', 'w').close()"),
    ("kernel", "open('/proc/sys/kernel/core_pattern', 'w').close()"),
    ("long", "open('long', 'wb').truncate(2 << 20)"),
    ("memory", "len(bytearray(2 << 30))"),
    ("world", "subprocess.run(['unshare', '-r', 'true'], stderr=-3).returncode"),
    ("foreign mode", "os.chmod(folder + '/users/plain', 0)"),
    ("foreign descriptor", "os.fchmod(os.open(folder + '/users/plain', os.O_RDONLY), 0o4755)"),
    ("foreign time", "os.utime(folder + '/users/plain', (1, 1))"),
    ("foreign owner", "os.chown(folder + '/users/plain', os.getuid(), os.getgid())"),
    ("foreign attribute", "os.setxattr(folder + '/users', 'user.test', b'')"),
    ("foreign device", "os.fchmod(2, 0o666)"),
];

/// Calls that Landlock does not govern. Without namespaces they may pretend to succeed.
fn is_beside_landlock(name: &str) -> bool {
    name.starts_with("foreign ")
}

fn check_files(found: &BTreeMap<String, String>, report: &SuiteReport) {
    let pretends = report.namespaces == Namespaces::None;
    let allowed = ["own", "program", "mode", "time", "null", "plain", "needed", "process"];
    for (name, _) in FILES {
        match found[name].as_str() {
            "ok" if pretends && is_beside_landlock(name) => {}
            "ok" => assert!(allowed.contains(&name), "{name}: {found:?}"),
            "1" => assert_eq!(name, "world"),
            refused => assert!(!allowed.contains(&name) && !refused.is_empty(), "{name}: {found:?}"),
        }
    }
}

const LOOPBACK: &str =
    "(lambda s: socket.create_connection(s.getsockname(), 5).close())(socket.create_server(('127.0.0.1', 0)))";

#[test]
fn a_suite_writes_to_its_own_folders_and_reaches_itself_only() {
    let place = SuiteFolders::new();
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let users = format!("twincell-test-{}", std::process::id());
    let _local = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&users).unwrap()).unwrap();
    let _file = UnixListener::bind(place.path().join("users/.hidden/agent")).unwrap();
    let connect = |address: String| format!("socket.socket(socket.AF_UNIX).connect({address})");
    let out = format!("socket.create_connection(('127.0.0.1', {}), 5)", server.local_addr().unwrap().port());
    let (local, hidden) = (connect(format!("'\\0{users}'")), connect("folder + '/users/.hidden/agent'".into()));
    let more = [
        ("loopback", LOOPBACK),
        ("temporary", "open('/tmp/file', 'w').close()"),
        ("memory of all", "open('/dev/shm/file', 'w').close()"),
        ("settings", "open(folder + '/users/.settings/file', 'w').close()"),
        ("pseudo terminal", "len(os.openpty()) - 2 or None"),
        ("out", &out),
        ("local", &local),
        ("hidden", &hidden),
        ("machine", "socket.socket(40, socket.SOCK_STREAM)"),
        ("first", "open('/proc/1/mem', 'rb').close()"),
        ("number", "os.getpid() < 10 or None"),
    ];
    let (found, report) = place.attempts(&[&FILES[..], &more].concat());
    assert_eq!(report, SuiteReport { network: Network::Own, namespaces: Namespaces::All, lacks: vec![] }, "{found:?}");
    check_files(&found, &report);
    for name in ["loopback", "temporary", "memory of all", "settings", "pseudo terminal"] {
        assert_eq!(found[name], "ok", "{name}: {found:?}");
    }
    for name in ["out", "local", "hidden", "machine", "first"] {
        assert!(found[name].ends_with("Error"), "{name}: {found:?}");
    }
    assert_eq!(found["number"], "True");
    assert!(!Path::new("/tmp/file").exists() && !place.path().join("users/.settings/file").exists());
    assert!(fs::read_to_string(place.path().join("users/plain")).unwrap() == "p");
}

#[test]
fn below_a_temporary_folder_the_same_is_closed() {
    let more = [("temporary", "open('/tmp/file', 'w').close()"), ("memory of all", "open('/dev/shm/a', 'w').close()")];
    let (found, report) = SuiteFolders::below(Path::new("/tmp")).attempts(&[&FILES[..], &more].concat());
    check_files(&found, &report);
    assert_eq!((found["temporary"].as_str(), found["memory of all"].as_str()), ("OSError", "ok"));
    assert_eq!(report.lacks, []);
}

#[test]
fn a_suite_may_be_given_the_network() {
    let mut place = SuiteFolders::new();
    place.limits.network = true;
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let out = format!("socket.create_connection(('127.0.0.1', {}), 5).close()", server.local_addr().unwrap().port());
    let users = format!("twincell-test-network-{}", std::process::id());
    let _local = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&users).unwrap()).unwrap();
    let local = format!("socket.socket(socket.AF_UNIX).connect('\\0{users}')");
    let check = || {
        let (found, report) = place.attempts(&[&FILES[..], &[("out", &out), ("local", &local)]].concat());
        check_files(&found, &report);
        assert_eq!((found["out"].as_str(), report.network), ("ok", Network::Open));
        assert!(found["local"].ends_with("Error"), "{found:?}");
    };
    check();
    // Its rules do not know local sockets.
    with_landlock(5, check);
}

/// Sets a limit of this process, to what it is.
fn limits_of_others() -> String {
    let limit = format!("{}, resource.RLIMIT_CORE", std::process::id());
    format!("len(resource.prlimit({limit}, resource.prlimit({limit}))) - 2 or None")
}

#[test]
fn where_there_are_no_namespaces_a_suite_can_do_less() {
    without(libc::SYS_unshare, libc::CLONE_NEWUSER as u64, libc::EPERM, || {
        let place = SuiteFolders::new();
        let limits = limits_of_others();
        let more = [
            ("pair", "len(socket.socketpair()) - 2 or None"),
            ("loopback", LOOPBACK),
            ("local", "socket.socket(socket.AF_UNIX)"),
            ("temporary", "open('/tmp/file', 'w').close()"),
            ("kill", "os.kill(os.getppid(), 9)"),
            ("parent", "open(f'/proc/{os.getppid()}/mem', 'rb').close()"),
            ("queue", "ctypes.CDLL(None).msgget(0, 0o600)"),
            ("limits", &limits),
        ];
        let (found, report) = place.attempts(&[&FILES[..], &more].concat());
        check_files(&found, &report);
        assert_eq!((found["pair"].as_str(), found["queue"].as_str()), ("ok", "-1"));
        for name in ["loopback", "local", "temporary", "kill", "parent", "limits"] {
            assert!(found[name].ends_with("Error"), "{name}: {found:?}");
        }
        assert_eq!(report.kind(), (Network::None, Namespaces::None, vec![Mechanism::Namespaces]));
    });
}

#[test]
fn what_is_said_without_namespaces_is_true() {
    let sockets = [("loopback", LOOPBACK), ("local", "socket.socket(socket.AF_UNIX).close()")];
    without(libc::SYS_unshare, libc::CLONE_NEWUSER as u64, libc::EPERM, || {
        let mut place = SuiteFolders::new();
        let (found, report) = place.attempts(&sockets);
        assert!(report.lacks[0].reason.starts_with("tests get no sockets and no /tmp"), "{report:?}");
        assert_eq!((found["loopback"].as_str(), found["local"].as_str()), ("PermissionError", "PermissionError"));
        place.limits.network = true;
        let (found, report) = place.attempts(&sockets);
        assert!(report.lacks[0].reason.starts_with("tests get no local sockets and no /tmp"), "{report:?}");
        assert_eq!((found["loopback"].as_str(), found["local"].as_str()), ("ok", "OSError"));
        without(libc::SYS_seccomp, 2, libc::ENOSYS, || {
            let place = SuiteFolders::new();
            let (mut child, report, _own) = place.start_where("pass", true).unwrap();
            assert!(child.wait().unwrap().success());
            assert!(report.lacks[1].reason.starts_with("tests get no network and no /tmp"), "{report:?}");
            assert_eq!(report.network, Network::Open);
        });
    });
}

#[test]
fn where_processes_are_not_apart_the_rest_is() {
    without(libc::SYS_unshare, libc::CLONE_NEWPID as u64, libc::EPERM, || {
        let place = SuiteFolders::new();
        let limits = limits_of_others();
        let more = [("loopback", LOOPBACK), ("temporary", "open('/tmp/file', 'w').close()"), ("limits", &limits)];
        let (found, report) = place.attempts(&[&FILES[..], &more].concat());
        check_files(&found, &report);
        assert_eq!(found["limits"], "PermissionError");
        assert_eq!((found["loopback"].as_str(), found["temporary"].as_str()), ("ok", "ok"));
        assert_eq!(report.kind(), (Network::Own, Namespaces::SharedProcesses, vec![Mechanism::Namespaces]));
    });
}

#[test]
fn without_landlock_or_seccomp_nothing_starts() {
    without(libc::SYS_landlock_create_ruleset, 0, libc::ENOSYS, || {
        let started = SuiteFolders::new().start("pass").map(drop);
        assert!(matches!(&started, Err(SpawnError::Incomplete(lacks)) if lacks[0].mechanism == Mechanism::Landlock));
    });
    without(libc::SYS_seccomp, 2, libc::ENOSYS, || {
        let started = SuiteFolders::new().start("pass").map(drop);
        assert!(matches!(&started, Err(SpawnError::Incomplete(lacks)) if lacks[0].mechanism == Mechanism::Seccomp));
    });
}

#[test]
fn nothing_starts_where_it_could_signal_processes_of_the_user() {
    let lacks_signals = |lacks: &[twincell_sandbox::Lack]| {
        lacks[0].mechanism == Mechanism::Namespaces && lacks[0].reason.contains("can signal your processes")
    };
    for namespace in [libc::CLONE_NEWUSER, libc::CLONE_NEWPID] {
        with_landlock(5, || {
            without(libc::SYS_unshare, namespace as u64, libc::EPERM, || {
                let place = SuiteFolders::new();
                let started = place.start("pass").map(drop);
                assert!(matches!(&started, Err(SpawnError::Incomplete(lacks)) if lacks_signals(lacks)), "{started:?}");
                let (mut child, report, _own) = place.start_where("pass", true).unwrap();
                assert!(child.wait().unwrap().success() && lacks_signals(&report.lacks), "{report:?}");
            });
        });
    }
    with_landlock(5, || assert_eq!(SuiteFolders::new().start("pass").unwrap().1.lacks, []));
}

/// Daemons that nobody waits for, in sessions of their own.
const DAEMONS: &str = "
import os, sys, time
for _ in range(5):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.closerange(0, 100)
            os.execvp('sleep', ['sleep', MARK])
        os._exit(0)
    os.wait()
print('ready', flush=True)
";

/// How many processes have this text in their command line.
fn running(mark: &str) -> usize {
    let line = |process: fs::DirEntry| fs::read(process.path().join("cmdline")).unwrap_or_default();
    let lines = fs::read_dir("/proc").unwrap().flatten().map(line);
    lines.filter(|line| String::from_utf8_lossy(line).contains(mark)).count()
}

fn nothing_stays(number: u32, more: &str, end: impl FnOnce(&mut std::process::Child, &UnixStream)) {
    let place = SuiteFolders::new();
    let mark = format!("{}", 100_000_000 + u64::from(std::process::id()) * 10 + u64::from(number));
    let text = DAEMONS.replace("MARK", &format!("'{mark}'")) + more;
    let (mut child, _, own) = place.start_where(&text, true).unwrap();
    let mut ready = [0; 6];
    child.stdout.as_mut().unwrap().read_exact(&mut ready).unwrap();
    let deadline = Instant::now() + Duration::from_secs(60);
    while running(&mark) < 5 && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(5));
    }
    end(&mut child, &own);
    child.wait().unwrap();
    while running(&mark) > 0 && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(running(&mark), 0);
}

#[test]
fn nothing_runs_on_when_a_suite_ends_or_is_left_or_killed() {
    let check = |first: u32| {
        nothing_stays(first, "sys.stdin.read()", |child, _| drop(child.stdin.take()));
        nothing_stays(first + 1, "time.sleep(600)", |_, own| own.shutdown(Shutdown::Both).unwrap());
    };
    check(0);
    nothing_stays(2, "time.sleep(600)", |child, _| child.kill().unwrap());
    without(libc::SYS_unshare, libc::CLONE_NEWUSER as u64, libc::EPERM, || check(3));
    without(libc::SYS_unshare, libc::CLONE_NEWPID as u64, libc::EPERM, || check(5));
    with_landlock(5, || without(libc::SYS_unshare, libc::CLONE_NEWUSER as u64, libc::EPERM, || check(7)));
}

/// Processes that fork and end at once, so that each soon has another number. They end by themselves after a while.
const HOPPING: &str = r#"
import os, sys, time
HOP = """
import os, time
end = time.monotonic() + 20
while time.monotonic() < end:
    if os.fork():
        os._exit(0)
"""
for _ in range(20):
    if os.fork() == 0:
        os.setsid()
        os.closerange(0, 100)
        os.execvp(sys.executable, [sys.executable, '-Sc', HOP, MARK])
time.sleep(0.5)
print('ready', flush=True)
time.sleep(600)
"#;

#[test]
fn processes_that_always_fork_end_with_a_suite() {
    let check = |number: u32| {
        let place = SuiteFolders::new();
        let mark = format!("{}", 300_000_000 + u64::from(std::process::id()) * 10 + u64::from(number));
        let (mut child, _, own) = place.start(&HOPPING.replace("MARK", &format!("'{mark}'"))).unwrap();
        let mut ready = [0; 6];
        child.stdout.as_mut().unwrap().read_exact(&mut ready).unwrap();
        assert!(running(&mark) > 0);
        own.shutdown(Shutdown::Both).unwrap();
        child.wait().unwrap();
        assert_eq!(running(&mark), 0);
    };
    check(0);
    without(libc::SYS_unshare, libc::CLONE_NEWUSER as u64, libc::EPERM, || check(1));
    without(libc::SYS_unshare, libc::CLONE_NEWPID as u64, libc::EPERM, || check(2));
}
