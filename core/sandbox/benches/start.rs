//! What the sandbox of suites adds to the start of a Python process.

#[cfg(target_os = "linux")]
mod linux {
    use std::os::fd::AsRawFd as _;
    use std::os::unix::net::UnixStream;
    use std::process::Command;

    use criterion::Criterion;
    use twincell_sandbox::{SuiteLimits, spawn};

    fn python() -> Command {
        let mut command = Command::new("python3");
        command.args(["-c", "pass"]);
        command
    }

    pub fn start(criterion: &mut Criterion) {
        let mut group = criterion.benchmark_group("start");
        group.bench_function("plain", |bencher| bencher.iter(|| python().status().unwrap()));
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let home = std::env::home_dir().unwrap_or_default();
        let entries = std::fs::read_dir(home).into_iter().flatten().flatten().map(|entry| entry.path());
        // Its own files may lie in a closed folder.
        let programs = std::env::var_os("PATH").unwrap_or_default();
        let python3 = std::env::split_paths(&programs).map(|folder| folder.join("python3")).find(|path| path.is_file());
        let real = python3.and_then(|path| path.canonicalize().ok());
        let prefix = real.and_then(|path| path.ancestors().nth(2).map(std::path::Path::to_owned));
        let limits = SuiteLimits {
            folder: folder.path().join("run"),
            writable: vec![folder.path().to_owned()],
            readable: prefix.into_iter().collect(),
            closed: entries
                .filter(|path| path.file_name().is_some_and(|name| name.as_encoded_bytes()[0] == b'.'))
                .collect(),
            memory_bytes: 4 << 30,
            file_bytes: 1 << 30,
            network: false,
        };
        group.bench_function("sandbox", |bencher| {
            bencher.iter(|| {
                let (_own, theirs) = UnixStream::pair().unwrap();
                let (mut child, _) = spawn(&mut python(), theirs.as_raw_fd(), &limits, true).unwrap();
                child.wait().unwrap()
            });
        });
        group.finish();
    }
}

#[cfg(target_os = "linux")]
criterion::criterion_group!(benches, linux::start);
#[cfg(target_os = "linux")]
criterion::criterion_main!(benches);

#[cfg(not(target_os = "linux"))]
fn main() {}
