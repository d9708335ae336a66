//! Small repositories in temporary folders, and sessions of their tests.

use std::fs;
use std::path::{Path, PathBuf};

use git2::{IndexAddOption, Repository, Signature};
use twincell_repo::{Cache, Checkout, Revision, checkout};
use twincell_testing::{Environment, Request, Session, TestLimits, TestRecord, environment};

/// The Python of these tests: that of TWINCELL_PYTHON, else `python3`.
pub fn python() -> Environment {
    let python = std::env::var_os("TWINCELL_PYTHON").map_or_else(|| PathBuf::from("python3"), PathBuf::from);
    environment(Path::new("/"), Some(&python), &python)
        .unwrap_or_else(|error| panic!("these tests need a Python with pytest, named by TWINCELL_PYTHON: {error}"))
}

/// A repository with one commit, and a cache.
pub struct Project {
    pub folder: tempfile::TempDir,
    pub cache: tempfile::TempDir,
}

impl Project {
    pub fn new(files: &[(&str, &str)]) -> Self {
        Self::of(tempfile::tempdir().unwrap(), files)
    }

    pub fn of(folder: tempfile::TempDir, files: &[(&str, &str)]) -> Self {
        let project = Self { folder, cache: tempfile::tempdir().unwrap() };
        Repository::init(project.folder.path()).unwrap();
        project.write(files);
        project.commit();
        project
    }

    pub fn write(&self, files: &[(&str, &str)]) {
        for (path, text) in files {
            let path = self.folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
    }

    pub fn commit(&self) {
        let repository = Repository::open(self.folder.path()).unwrap();
        let mut index = repository.index().unwrap();
        index.add_all(["*"], IndexAddOption::DEFAULT, None).unwrap();
        index.update_all(["*"], None).unwrap();
        index.write().unwrap();
        let tree = repository.find_tree(index.write_tree().unwrap()).unwrap();
        let who = Signature::now("A", "a@example.org").unwrap();
        let parent = repository.head().ok().and_then(|head| head.peel_to_commit().ok());
        let parents: Vec<_> = parent.iter().collect();
        repository.commit(Some("HEAD"), &who, &who, "A change", &tree, &parents).unwrap();
    }

    pub fn cache(&self) -> Cache {
        Cache::new(self.cache.path().to_owned())
    }

    pub fn at(&self, revision: &Revision) -> Checkout {
        checkout(self.folder.path(), revision, &self.cache()).unwrap()
    }

    pub fn head(&self) -> Checkout {
        self.at(&Revision::Commit("HEAD".into()))
    }
}

/// Limits that no test reaches on a busy machine unless it hangs.
pub fn limits() -> TestLimits {
    TestLimits { test_seconds: 30.0, ..TestLimits::default() }
}

/// All records of a session, with a request that may ask for more.
pub fn run(session: &mut Session, request: Request) -> Vec<TestRecord> {
    let all = || session.tests().iter().map(|test| test.id.clone()).collect();
    let tests = if request.tests.is_empty() { all() } else { request.tests.clone() };
    session.run(&Request { tests, ..request }).unwrap()
}

/// Runs something in a thread on a system that allows no namespaces.
#[cfg(target_os = "linux")]
pub fn without_namespaces(test: impl FnOnce() + Send) {
    let statement = |code: u32, jf, k| libc::sock_filter { code: code as u16, jt: 0, jf, k };
    let mut program = [
        statement(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0),
        statement(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, 1, libc::SYS_unshare as u32),
        statement(libc::BPF_RET | libc::BPF_K, 0, libc::SECCOMP_RET_ERRNO | libc::EPERM as u32),
        statement(libc::BPF_RET | libc::BPF_K, 0, libc::SECCOMP_RET_ALLOW),
    ];
    let (length, filter) = (program.len() as u16, program.as_mut_ptr() as usize);
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let all = libc::sock_fprog { len: length, filter: filter as *mut _ };
            // SAFETY: the program outlives the thread.
            unsafe {
                assert_eq!(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
                assert_eq!(libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const all), 0);
            }
            test();
        });
    });
}
