//! Attempts to get out of the sandbox. Each runs in a process of its own: this test program, started again, locked in,
//! and made to try one thing after the other; it reports what came of each.

#![expect(
    clippy::undocumented_unsafe_blocks,
    reason = "system calls on numbers and on buffers of their own, in a process that exists for them"
)]
#![cfg(target_os = "linux")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use twincell_sandbox::{Limits, Processes, lock};

const FOLDER: &str = "TWINCELL_TEST_FOLDER";
const WITHOUT_LANDLOCK: &str = "TWINCELL_TEST_WITHOUT_LANDLOCK";
const WITHOUT_DUMPS: &str = "TWINCELL_TEST_WITHOUT_DUMPS";

/// What came of each attempt: `ok` or an error number, by the attempt's name.
fn attempts(without_landlock: bool) -> (BTreeMap<String, String>, tempfile::TempDir) {
    attempts_on(if without_landlock { &[WITHOUT_LANDLOCK] } else { &[] })
}

/// On a system that lacks something.
fn attempts_on(lacks: &[&str]) -> (BTreeMap<String, String>, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    for name in ["scratch", "packages", "home", "project"] {
        std::fs::create_dir(folder.path().join(name)).unwrap();
    }
    std::fs::write(folder.path().join("packages/module.py"), "x = 1").unwrap();
    std::fs::write(folder.path().join("home/secret"), "x").unwrap();
    std::fs::write(folder.path().join("project/.env"), "x").unwrap();
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["sandbox::locked_in", "--exact", "--nocapture", "--test-threads=1"])
        .env(FOLDER, folder.path().canonicalize().unwrap())
        .env("HOME", folder.path().join("home"))
        .envs(lacks.iter().map(|lack| (lack, "1")))
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let results: BTreeMap<String, String> = text
        .lines()
        .filter_map(|line| line.strip_prefix("attempt ")?.split_once(": "))
        .map(|(name, result)| (name.to_string(), result.to_string()))
        .collect();
    assert!(results.contains_key("end"), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
    (results, folder)
}

#[test]
fn what_python_needs_works() {
    let (results, _folder) = attempts(false);
    let governed = results["report"].starts_with("Landlock");
    for name in [
        "read a package",
        "list packages",
        "list a project",
        "a lock",
        "another lock",
        "read a system library",
        "read /dev/urandom",
        "thread",
        "socketpair",
        "pipe",
        "raise a signal",
        "read a limit",
        "own processors",
        "256 MiB",
        "close a range",
        "send",
        "receive",
        "a timer",
        "lock a page",
    ] {
        assert_eq!(results[name], "ok", "{name}");
    }
    // Where only the filter of system calls stands, nothing can be written at all.
    for name in
        ["write in scratch", "read back", "make and remove a folder in scratch", "allot space", "write to /dev/null"]
    {
        assert!(!governed || results[name] == "ok", "{name}: {}", results[name]);
    }
}

#[test]
fn the_report_says_what_is_enforced() {
    let (results, _folder) = attempts(false);
    assert_eq!(results["complete"], results["report"].starts_with("Landlock").to_string(), "{results:?}");
    let (results, _folder) = attempts(true);
    assert_eq!(results["complete"], "false");
    assert!(results["report"].starts_with("seccomp: nothing can be written"), "{}", results["report"]);
}

#[test]
fn calls_that_the_c_library_replaces_by_older_ones_do_not_exist() {
    let (results, _folder) = attempts(false);
    for call in ["deny clone3", "deny a call of the future"] {
        assert!(results[call].contains("os error 38"), "{call}: {}", results[call]);
    }
}

#[test]
fn files_have_no_attributes() {
    let (results, _folder) = attempts(false);
    for name in ["list attributes", "list attributes of a package", "read an attribute", "read an attribute of a link"]
    {
        assert!(results[&format!("deny {name}")].contains("os error 95"), "{name}: {results:?}");
    }
}

#[test]
fn where_the_system_would_dump_memory_all_the_same_nobody_may_inspect_the_process() {
    let (results, _folder) = attempts(false);
    assert_eq!(results["limit of dumps"], "1");
    let (results, _folder) = attempts_on(&[WITHOUT_DUMPS]);
    assert_eq!((&*results["limit of dumps"], &*results["dumpable"]), ("0", "0"));
    assert_eq!(results["complete"], results["report"].starts_with("Landlock").to_string(), "{results:?}");
}

#[test]
fn nothing_gets_out() {
    nothing_gets_out_of(attempts(false));
}

#[test]
fn without_landlock_nothing_is_written_started_or_sent_either() {
    nothing_gets_out_of(attempts(true));
}

fn nothing_gets_out_of((results, folder): (BTreeMap<String, String>, tempfile::TempDir)) {
    let reading_is_governed = results["report"].starts_with("Landlock");
    for (name, result) in &results {
        let Some(attempt) = name.strip_prefix("deny ") else { continue };
        let only_landlock_stops_it = attempt.starts_with("read ") || attempt.starts_with("list ");
        if reading_is_governed || !only_landlock_stops_it {
            assert_ne!(result, "ok", "{attempt}");
        }
    }
    assert!(results.keys().filter(|name| name.starts_with("deny ")).count() > 40);
    // Nothing was changed behind a refusal either.
    assert_eq!(std::fs::read_to_string(folder.path().join("home/secret")).unwrap(), "x");
    assert_eq!(std::fs::read_dir(folder.path().join("home")).unwrap().count(), 1);
    assert_eq!(std::fs::read_dir(folder.path().join("packages")).unwrap().count(), 1);
}

/// Not a test: the process that locks itself in.
#[test]
fn locked_in() {
    let Some(folder) = std::env::var_os(FOLDER).map(PathBuf::from) else { return };
    let scratch = folder.join("scratch");
    std::env::set_current_dir(&scratch).unwrap();
    if std::env::var_os(WITHOUT_LANDLOCK).is_some() {
        take_landlock_away();
    }
    if std::env::var_os(WITHOUT_DUMPS).is_some() {
        call(unsafe { libc::setrlimit(libc::RLIMIT_CORE, &libc::rlimit { rlim_cur: 0, rlim_max: 0 }) }).unwrap();
    }
    let report = lock(&Limits {
        scratch: scratch.clone(),
        readable: vec![folder.join("packages"), PathBuf::from("/")],
        listable: vec![folder.join("project")],
        memory_bytes: 512 << 20,
        open_files: 64,
        processes: Processes::None,
    });
    println!("\nattempt report: {}", report.filesystem);
    println!("attempt complete: {}", report.is_complete());
    allowed(&folder, &scratch);
    forbidden_files(&folder, &scratch);
    forbidden_calls();
    println!("attempt end: ok");
    // Exit handlers of the test harness are of no interest.
    unsafe { libc::_exit(0) };
}

/// Makes this kernel look like one that has no Landlock.
fn take_landlock_away() {
    use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, apply_filter};
    let absent = SeccompAction::Errno(libc::ENOSYS as u32);
    let rules = [(libc::SYS_landlock_create_ruleset, Vec::new())].into();
    let target = std::env::consts::ARCH.try_into().unwrap();
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, absent, target).unwrap();
    apply_filter(&BpfProgram::try_from(filter).unwrap()).unwrap();
}

fn report<T>(name: &str, result: std::io::Result<T>) {
    match result {
        Ok(_) => println!("attempt {name}: ok"),
        Err(error) => println!("attempt {name}: {error}"),
    }
}

/// The result of a C function that gives -1 on failure.
fn call(result: impl Into<i64>) -> std::io::Result<()> {
    if result.into() == -1 { Err(std::io::Error::last_os_error()) } else { Ok(()) }
}

fn system_call(number: libc::c_long, arguments: [usize; 5]) -> std::io::Result<()> {
    let [a, b, c, d, e] = arguments;
    call(unsafe { libc::syscall(number, a, b, c, d, e) })
}

fn allowed(folder: &Path, scratch: &Path) {
    report("read a package", std::fs::read(folder.join("packages/module.py")));
    report("list packages", std::fs::read_dir(folder.join("packages")));
    report("list a project", std::fs::read_dir(folder.join("project")));
    report("deny read a file of a project", std::fs::read(folder.join("project/.env")));
    // They lock nothing, or the second one would fail.
    let file = || std::fs::File::open(folder.join("packages/module.py"));
    let (left, right) = (file().unwrap(), file().unwrap());
    report("a lock", left.try_lock().map_err(std::io::Error::from));
    report("another lock", right.try_lock().map_err(std::io::Error::from));
    report("read a system library", std::fs::read_dir("/usr/lib"));
    report("write in scratch", std::fs::write(scratch.join("own"), "x"));
    report("read back", std::fs::read(scratch.join("own")));
    let made = std::fs::create_dir(scratch.join("made")).and_then(|()| std::fs::remove_dir(scratch.join("made")));
    report("make and remove a folder in scratch", made);
    report("write to /dev/null", std::fs::OpenOptions::new().write(true).open("/dev/null"));
    report("read /dev/urandom", std::fs::File::open("/dev/urandom"));
    report("thread", std::thread::Builder::new().spawn(|| {}).map(|thread| thread.join()));
    report("socketpair", std::os::unix::net::UnixStream::pair());
    report("pipe", std::io::pipe());
    unsafe { libc::signal(libc::SIGUSR1, libc::SIG_IGN) };
    report("raise a signal", call(unsafe { libc::raise(libc::SIGUSR1) }));
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    report("read a limit", call(unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit) }));
    report("close a range", system_call(libc::SYS_close_range, [1000, 1001, 0, 0, 0]));
    report("allot space", std::fs::File::create(scratch.join("allotted")).and_then(|file| allot(&file, 0)));
    let later = libc::itimerval {
        it_interval: libc::timeval { tv_sec: 0, tv_usec: 0 },
        it_value: libc::timeval { tv_sec: 3600, tv_usec: 0 },
    };
    report("a timer", call(unsafe { libc::setitimer(libc::ITIMER_REAL, &later, std::ptr::null_mut()) }));
    let mut timer: libc::timer_t = std::ptr::null_mut();
    let counted = unsafe { libc::timer_create(libc::CLOCK_MONOTONIC, std::ptr::null_mut(), &mut timer) };
    report("deny a timer that counts for the user", call(counted));
    let pages = vec![0_u8; 1 << 20];
    report("lock a page", call(unsafe { libc::mlock(pages.as_ptr().cast(), 1) }));
    report("deny lock a MiB", call(unsafe { libc::mlock(pages.as_ptr().cast(), pages.len()) }));
    unsafe { libc::getrlimit(libc::RLIMIT_CORE, &mut limit) };
    println!("attempt limit of dumps: {}", limit.rlim_max);
    println!("attempt dumpable: {}", unsafe { libc::prctl(libc::PR_GET_DUMPABLE) });
    report("256 MiB", reserve(256 << 20));
    report("deny 1 GiB", reserve(1 << 30));
}

fn allot(file: &std::fs::File, mode: libc::c_int) -> std::io::Result<()> {
    use std::os::fd::AsRawFd;
    call(unsafe { libc::fallocate(file.as_raw_fd(), mode, 0, 4096) })
}

fn reserve(bytes: usize) -> std::io::Result<()> {
    Vec::<u8>::new().try_reserve_exact(bytes).map_err(|_| std::io::ErrorKind::OutOfMemory.into())
}

fn forbidden_files(folder: &Path, scratch: &Path) {
    use std::os::unix::fs::symlink;
    let (home, packages) = (folder.join("home"), folder.join("packages"));
    let secret = home.join("secret");
    report("deny read /etc/passwd", std::fs::read("/etc/passwd"));
    report("deny read a file of the home folder", std::fs::read(&secret));
    report("deny read /dev/zero", std::fs::File::open("/dev/zero"));
    report("deny list the home folder", std::fs::read_dir(&home));
    report("deny list the root folder", std::fs::read_dir("/"));
    report("deny read /proc/1/environ", std::fs::read("/proc/1/environ"));
    report("deny read through /proc/self/root", std::fs::read("/proc/self/root/etc/passwd"));
    report("deny read through ..", std::fs::read(scratch.join("../home/secret")));
    let _ = symlink(&secret, scratch.join("link"));
    let _ = symlink(&home, scratch.join("linked"));
    report("deny read through a link", std::fs::read(scratch.join("link")));
    report("deny write through a link", std::fs::write(scratch.join("link"), "y"));
    report("deny write through a linked folder", std::fs::write(scratch.join("linked/new"), "y"));
    report("deny write a new file in the home folder", std::fs::write(home.join("new"), "y"));
    report("deny overwrite", std::fs::write(&secret, "y"));
    report("deny write into packages", std::fs::write(packages.join("new.py"), "y"));
    report("deny write into /tmp", std::fs::write("/tmp/twincell-escape", "y"));
    report("deny write into /dev/shm", std::fs::write("/dev/shm/twincell-escape", "y"));
    report("deny write to own memory file", std::fs::OpenOptions::new().write(true).open("/proc/self/mem"));
    report("deny remove", std::fs::remove_file(&secret));
    report("deny rename out of scratch", std::fs::rename(scratch.join("own"), home.join("own")));
    report("deny rename into scratch", std::fs::rename(&secret, scratch.join("stolen")));
    report("deny hard link into scratch", std::fs::hard_link(&secret, scratch.join("hard")));
    report("deny make a folder", std::fs::create_dir(home.join("made")));
    let path = std::ffi::CString::new(secret.to_str().unwrap()).unwrap();
    report("deny truncate", call(unsafe { libc::truncate(path.as_ptr(), 0) }));
    report("deny chmod", call(unsafe { libc::chmod(path.as_ptr(), 0o777) }));
    let fchmodat2 = unsafe { libc::syscall(libc::SYS_fchmodat2, libc::AT_FDCWD, path.as_ptr(), 0o777, 0) };
    report("deny fchmodat2", call(fchmodat2));
    report("deny chown", call(unsafe { libc::chown(path.as_ptr(), 1, 1) }));
    let (package, name, no_place) = (packages.join("module.py"), c"user.note".as_ptr(), std::ptr::null_mut());
    let package = std::ffi::CString::new(package.to_str().unwrap()).unwrap();
    let listed =
        |path: &std::ffi::CString| call(unsafe { libc::listxattr(path.as_ptr(), std::ptr::null_mut(), 0) } as i64);
    report("deny list attributes", listed(&path));
    report("deny list attributes of a package", listed(&package));
    let read = unsafe { libc::getxattr(path.as_ptr(), name, no_place, 0) };
    report("deny read an attribute", call(read as i64));
    let read = unsafe { libc::lgetxattr(path.as_ptr(), name, no_place, 0) };
    report("deny read an attribute of a link", call(read as i64));
    report("deny utimes", call(unsafe { libc::utimes(path.as_ptr(), std::ptr::null()) }));
    report("deny a device", call(unsafe { libc::mknod(c"node".as_ptr(), libc::S_IFCHR | 0o600, 0x103) }));
    report("deny a second chroot", call(unsafe { libc::chroot(c".".as_ptr()) }));
    let huge = std::fs::File::create(scratch.join("huge"));
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
    report("deny a file of 1 GiB", huge.and_then(|file| file.set_len(1 << 30)));
    let beyond = std::fs::File::create(scratch.join("beyond"));
    report("deny space beyond the end", beyond.and_then(|file| allot(&file, libc::FALLOC_FL_KEEP_SIZE)));
    let files: std::io::Result<Vec<_>> = (0..100).map(|_| std::fs::File::open("/dev/null")).collect();
    report("deny 100 open files", files);
}

fn urgent_data() {
    use std::os::fd::AsRawFd;
    let (left, right) = std::os::unix::net::UnixStream::pair().unwrap();
    let (left, right) = (left.as_raw_fd(), right.as_raw_fd());
    let mut byte = [0_u8];
    let mut part = libc::iovec { iov_base: byte.as_mut_ptr().cast(), iov_len: 1 };
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    (message.msg_iov, message.msg_iovlen) = (&mut part, 1);
    let mut send = |name: &str, receive: &str, flags: i32| {
        let sent = unsafe { libc::send(left, byte.as_ptr().cast(), 1, flags) };
        report(name, call(sent as i64));
        let sent = unsafe { libc::sendmsg(left, &message, flags) };
        report(&format!("{name} a message"), call(sent as i64));
        let received = unsafe { libc::recv(right, byte.as_mut_ptr().cast(), 1, flags | libc::MSG_DONTWAIT) };
        report(receive, call(received as i64));
        let received = unsafe { libc::recvmsg(right, &mut message, flags | libc::MSG_DONTWAIT) };
        report(&format!("{receive} a message"), call(received as i64));
    };
    send("send", "receive", 0);
    send("deny send urgent", "deny receive urgent", libc::MSG_OOB);
    let (one, size) = (1, std::mem::size_of::<i32>() as u32);
    let inline = unsafe {
        libc::setsockopt(left, libc::SOL_SOCKET, libc::SO_OOBINLINE, (&raw const one).cast::<libc::c_void>(), size)
    };
    report("deny urgent data inline", call(inline));
}

fn forbidden_calls() {
    use std::net::{TcpListener, TcpStream, UdpSocket};
    urgent_data();
    report("deny tcp connect", TcpStream::connect("127.0.0.1:9"));
    report("deny tcp listen", TcpListener::bind("127.0.0.1:0"));
    report("deny udp", UdpSocket::bind("127.0.0.1:0"));
    report("deny unix connect", std::os::unix::net::UnixStream::connect("/run/any"));
    report("deny unix datagrams", std::os::unix::net::UnixDatagram::pair());
    for family in [libc::AF_UNIX, libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK, libc::AF_PACKET] {
        report(&format!("deny socket of family {family}"), call(unsafe { libc::socket(family, libc::SOCK_STREAM, 0) }));
    }
    report("deny a program", Command::new("/bin/true").status());
    report("deny exec", system_call(libc::SYS_execve, [c"/bin/true".as_ptr() as usize, 0, 0, 0, 0]));
    let child = unsafe { libc::fork() };
    if child == 0 {
        unsafe { libc::_exit(0) };
    }
    report("deny fork", call(child));
    #[cfg(target_arch = "x86_64")]
    {
        report("deny fork by number", system_call(libc::SYS_fork, [0; 5]));
        // The second set of numbers: getpid as x32.
        report("deny x32", system_call(0x4000_0000 + libc::SYS_getpid, [0; 5]));
    }
    report("deny clone3", system_call(libc::SYS_clone3, [0; 5]));
    report("deny a call of the future", system_call(600, [0; 5]));
    let parent = unsafe { libc::getppid() };
    report("deny ptrace", system_call(libc::SYS_ptrace, [libc::PTRACE_ATTACH as usize, parent as usize, 0, 0, 0]));
    report("deny a signal to the parent", call(unsafe { libc::kill(parent, 0) }));
    report("deny a file's signals to the parent", call(unsafe { libc::fcntl(0, libc::F_SETOWN, parent) }));
    report("deny another signal for a file", call(unsafe { libc::fcntl(0, 10, libc::SIGKILL) }));
    report("deny a file's signals by ioctl", call(unsafe { libc::ioctl(0, 0x8901, &parent) }));
    let mut processors: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    let size = std::mem::size_of::<libc::cpu_set_t>();
    report("own processors", call(unsafe { libc::sched_getaffinity(0, size, &mut processors) }));
    report("deny the parent other processors", call(unsafe { libc::sched_setaffinity(parent, size, &processors) }));
    report("deny a signal to all", call(unsafe { libc::kill(-1, 0) }));
    report("deny a signal to the group", call(unsafe { libc::kill(0, 0) }));
    report("deny a handle on the parent", system_call(libc::SYS_pidfd_open, [parent as usize, 0, 0, 0, 0]));
    let higher = libc::rlimit { rlim_cur: 1000, rlim_max: 1000 };
    report("deny a higher limit", call(unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &higher) }));
    report("deny outliving the engine", call(unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, 0) }));
    report("deny unshare by close_range", system_call(libc::SYS_close_range, [1000, 1001, 2, 0, 0]));
    report("deny unshare", call(unsafe { libc::unshare(libc::CLONE_NEWUSER) }));
    report("deny memfd", system_call(libc::SYS_memfd_create, [c"x".as_ptr() as usize, 0, 0, 0, 0]));
    report("deny shared memory", system_call(libc::SYS_shmget, [0, 4096, 0o1600, 0, 0]));
    report("deny messages", system_call(libc::SYS_msgget, [0, 0o1600, 0, 0, 0]));
    report("deny sending to a queue", system_call(libc::SYS_msgsnd, [0; 5]));
    report("deny semaphores", system_call(libc::SYS_semget, [0, 1, 0o1600, 0, 0]));
    report("deny using a semaphore", system_call(libc::SYS_semop, [0; 5]));
    report("deny a named queue", system_call(libc::SYS_mq_open, [c"/x".as_ptr() as usize, 0o102, 0o600, 0, 0]));
    report("deny watching files", system_call(libc::SYS_inotify_init1, [0; 5]));
    let flags: libc::c_long = 0x10;
    report("deny flags of a file", call(unsafe { libc::ioctl(0, 0x4008_6602, &flags) }));
    report("deny a request to a device", call(unsafe { libc::ioctl(0, 0x1234, &flags) }));
    report("deny a lease", call(unsafe { libc::fcntl(0, libc::F_SETLEASE, libc::F_RDLCK) }));
    report("deny news of a folder", call(unsafe { libc::fcntl(0, libc::F_NOTIFY, 1) }));
    let alone = libc::CLONE_VM | libc::CLONE_FS | libc::CLONE_SIGHAND | libc::CLONE_THREAD;
    report("deny a thread with files of its own", system_call(libc::SYS_clone, [alone as usize, 0, 0, 0, 0]));
    let (protection, flags) = (libc::PROT_READ, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_HUGETLB);
    let huge = unsafe { libc::mmap(std::ptr::null_mut(), 2 << 20, protection, flags, -1, 0) };
    report("deny huge pages", call(huge as i64));
    let (protection, flags) = (libc::PROT_READ, libc::MAP_SHARED | libc::MAP_ANONYMOUS);
    let shared = unsafe { libc::mmap(std::ptr::null_mut(), 4096, protection, flags, -1, 0) };
    report("deny shared anonymous memory", call(shared as i64));
    report("deny io_uring", system_call(libc::SYS_io_uring_setup, [8, 0, 0, 0, 0]));
    report("deny bpf", system_call(libc::SYS_bpf, [0; 5]));
    report("deny another user", call(unsafe { libc::setuid(12345) }));
}
