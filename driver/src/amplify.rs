//! Amplifies the tests of a repository with what the options and the environment say.

use std::cell::RefCell;
use std::ops::ControlFlow;
use std::path::{Component, Path, PathBuf};
use std::time::{Duration, Instant};
use std::{fs, io, str};

use twincell_amplify::{
    Amplification, AmplifiedTest, AmplifyOptions, Change, Opened, Progress, Runners, Witness, amplify, open, rerun,
    with_test,
};
use twincell_compare::notice::Notice;
use twincell_compare::{Continue, Source};
use twincell_engine::Stop;
use twincell_files::private;
use twincell_repo::{Cache, Range, Revision, is_inside};
use twincell_syntax::{PerSide, Side};
use twincell_testing::{Outcome, TestError, TestLimits, environment};

use crate::command_line::LineError;
use crate::decode::python_source;
use crate::failure::Failure;
use crate::files;
use crate::options::{GivenOption, Job, Options};
use crate::policy::{Base, named, resolved};
use crate::reproducers;
use crate::waiting::watched;
use crate::warm::{Engine, Environment};

/// The maximum number of changed files that are compared where no test runs the change.
const COMPARED: usize = 10;
/// The time of a test. A variant of one may run for ever.
const TEST: Duration = Duration::from_secs(5);
/// All ends after this multiple of the deadline and the time of a test, whatever is not yet confirmed.
const MOST_TIMES: f64 = 1.5;

/// What was found in a repository.
pub struct Amplified {
    pub found: Amplification,
    /// The user's own checkout, absolute: where tests run again and are written, wherever the process is by then.
    pub work_tree: PathBuf,
}

/// The versions that a user names: `OLD..NEW`, `OLD...NEW`, a commit that is compared with its parent, or nothing, for what is not
/// committed yet.
pub fn revisions(range: Option<&str>, staged: bool) -> Result<PerSide<Revision>, String> {
    let commit = |name: &str| Revision::Commit(name.to_owned());
    let Some(text) = range else {
        return Ok(PerSide::new(commit("HEAD"), if staged { Revision::Staged } else { Revision::Files }));
    };
    match Range::parse(text) {
        _ if staged => Err(format!("{text} is a revision, but the change is to be what is staged: give one of them")),
        Some(Range { old, new: None, .. }) => Ok(PerSide::new(Revision::Parent(old.to_owned()), commit(old))),
        Some(range) => {
            let (old, new) = range.revisions(false);
            Ok(PerSide::new(old, new))
        }
        None => Err(format!(
            "{text} is not a range of revisions: write OLD..NEW, e.g. HEAD~1..HEAD, or a commit for what it changed"
        )),
    }
}

/// The options in force for a change of a repository: given ones, on top of the policy of the old version. Also what of the
/// policy is to say.
pub fn amplify_options(
    repository: &Path,
    versions: &PerSide<Revision>,
    given: &[GivenOption],
) -> Result<(Options, Vec<Notice>), String> {
    let base = Base::of_revisions(repository, versions, named(given).as_deref()).map_err(|error| error.to_string())?;
    let options = resolved(Job::Amplify, base.policy.as_ref(), given);
    let options = options.map_err(|error| LineError::from(error).to_string())?;
    let weakened = base.policy.map(|policy| policy.weakening(given)).unwrap_or_default();
    Ok((options, base.changes.into_iter().chain(weakened).collect()))
}

/// Makes tests that show what a change of a repository does. Where no test shows anything, nor what is one step from one, a
/// comparison of the changed functions gives values. `repository` may be any folder of it. `progress` is told how far it is,
/// again and again, and may end the search: then the result has what was found, or it is an error if the tests were not yet
/// collected.
pub fn amplify_repository(
    repository: &Path,
    versions: &PerSide<Revision>,
    options: &Options,
    surroundings: &Environment,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<Amplified, Failure> {
    let began = Instant::now();
    let work = |stop: &Stop, progress: &mut dyn FnMut(Progress) -> ControlFlow<()>| {
        let mut opened = opened(repository, versions, options, surroundings, stop)?;
        let runners = Runners { old: &mut opened.old, new: &mut opened.new };
        let python = &opened.environment.python;
        let progress = RefCell::new(progress);
        let mut tell = |done: Progress| (progress.borrow_mut())(done);
        let mut witnesses = |change: &Change| {
            let mut tell = |done: Progress| (progress.borrow_mut())(done);
            witnesses(change, python, options, surroundings, &mut tell)
        };
        // What collecting took is gone.
        let seconds = (options.deadline - began.elapsed().as_secs_f64()).max(0.0);
        let options = AmplifyOptions { seconds, ..options.for_amplify() };
        let mut found = amplify(&opened.change, runners, &options, &mut witnesses, &mut tell)?;
        found.files.extend(opened.unread);
        Ok(Amplified { found, work_tree: opened.work_tree })
    };
    // Runs that have begun may end, and what was found is confirmed, but nothing goes on for ever.
    let end = Duration::from_secs_f64(options.deadline * MOST_TIMES) + TEST;
    let mut until = |now: Progress| if began.elapsed() > end { ControlFlow::Break(()) } else { progress(now) };
    watched(Progress::Collecting, work, &mut until)
}

/// Both versions of a repository with their tests.
fn opened(
    repository: &Path,
    versions: &PerSide<Revision>,
    options: &Options,
    surroundings: &Environment,
    stop: &Stop,
) -> Result<Opened, Failure> {
    let python = |work_tree: &Path| environment(work_tree, options.python.as_deref(), &surroundings.python);
    let limits = TestLimits {
        network: options.network,
        incomplete: options.run_unsafe,
        arguments: options.tests.iter().flat_map(|paths| paths.split_whitespace()).map(str::to_owned).collect(),
        pass_env: names(options.pass_env.as_deref()),
        test_seconds: TEST.as_secs_f64(),
        collect_seconds: options.deadline.min(TestLimits::default().collect_seconds),
        stop: stop.clone(),
        ..TestLimits::default()
    };
    Ok(open(repository, versions, &checkouts(surroundings).map_err(TestError::System)?, python, &limits)?)
}

/// Names that a text has, between commas and spaces.
pub(crate) fn names(text: Option<&str>) -> Vec<String> {
    let names = text.unwrap_or_default().split(|it: char| it == ',' || it.is_whitespace());
    names.filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

/// Runs a finished test once more in both versions, in one of its forms. `None` if it has no such form.
pub fn rerun_test(
    repository: &Path,
    versions: &PerSide<Revision>,
    options: &Options,
    surroundings: &Environment,
    test: &AmplifiedTest,
    form: Side,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<Option<PerSide<Outcome>>, Failure> {
    let work = |stop: &Stop, _: &mut dyn FnMut(Progress) -> ControlFlow<()>| {
        let mut opened = opened(repository, versions, options, surroundings, stop)?;
        let mut runners = Runners { old: &mut opened.old, new: &mut opened.new };
        Ok(rerun(&opened.change, &mut runners, test, form)?)
    };
    watched(Progress::Collecting, work, progress)
}

/// Adds a finished test to its file in the user's checkout. Returns the path of the file below it.
pub fn write_test(work_tree: &Path, test: &AmplifiedTest, form: Side) -> Result<String, String> {
    // The name comes from a process in which the project's code runs.
    let is_plain = |part| matches!(part, Component::Normal(name) if !name.eq_ignore_ascii_case(".git"));
    let path = work_tree.join(&test.file);
    // The file, or a folder above it, may be a link.
    let nearest = path.ancestors().find(|path| path.symlink_metadata().is_ok());
    if !Path::new(&test.file).components().all(is_plain) || !nearest.is_some_and(|path| is_inside(path, work_tree)) {
        return Err(format!("{} lies outside of the repository", test.file));
    }
    let now = text_of_tests(&path)?;
    let text = with_test(now.as_deref(), test, form).ok_or_else(|| {
        format!(
            "{} is not what it was: it has the test already, or no longer the one that this was made from",
            test.file
        )
    })?;
    if let Some(folder) = path.parent() {
        files::make_folder(folder)?;
    }
    files::write_text(&path, &text, files::TextKind::Python)?;
    Ok(test.file.clone())
}

/// The text of a file to which a test is added, with its byte order mark and its line ends. `None` if there is no file.
fn text_of_tests(path: &Path) -> Result<Option<String>, String> {
    let failed = |reason: String| format!("cannot read {}: {reason}", path.display());
    let bytes = match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Ok(about) if !about.is_file() => return Err(failed("it is no file".to_owned())),
        about => about.and_then(|_| fs::read(path)).map_err(|error| failed(files::reason(&error)))?,
    };
    // What is added would be read as something else if the file declares another encoding.
    let added = "é";
    let is_utf8 =
        |text: &&str| python_source(format!("{text}{added}").as_bytes()).is_ok_and(|text| text.ends_with(added));
    match str::from_utf8(&bytes).ok().filter(is_utf8) {
        Some(text) => Ok(Some(text.to_owned())),
        None => Err(format!("{} is not UTF-8, or says that it is not: save it as UTF-8", path.display())),
    }
}

/// Tests of changed functions with values with which the versions differ. Without any, there is still a result that says
/// that no test runs the change, so that nothing here fails.
fn witnesses(
    change: &Change,
    python: &Path,
    options: &Options,
    surroundings: &Environment,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Vec<Witness> {
    let Ok(engine) = Engine::for_project(python, options, surroundings) else { return vec![] };
    let options = options.for_core();
    let mut found = Vec::new();
    let files = change.files.iter().zip(&change.modules).filter_map(|(file, module)| match &file.texts {
        PerSide { old: Some(old), new: Some(new) } => Some((file, module, old, new)),
        _ => None,
    });
    let files: Vec<_> = files.take(COMPARED).collect();
    for (at, (file, module, old, new)) in files.iter().copied().enumerate() {
        let source = |text: &String| Source {
            text: text.clone(),
            label: file.path.clone(),
            // Not the file in the checkout: tests may have made that a repository that leads elsewhere.
            ..Source::default()
        };
        let (old, new) = (source(old), source(new));
        let mut stopped = progress(Progress::Comparing { file: at, of: files.len() }).is_break();
        let compared = engine.compare(&old, &new, &options, &mut |_| {
            stopped |= progress(Progress::Comparing { file: at, of: files.len() }).is_break();
            if stopped { Continue::Stop } else { Continue::Yes }
        });
        let tests = compared.iter().flat_map(reproducers::in_project);
        found.extend(tests.map(|test| Witness {
            path: file.path.clone(),
            name: test.qualname.clone(),
            is_plain: test.is_plain(),
            text: test.of_module(module),
        }));
        if stopped {
            break;
        }
    }
    found
}

/// Where checkouts of repositories are kept, and what their tests did.
pub fn checkouts(surroundings: &Environment) -> io::Result<Cache> {
    let lasting = surroundings.cache.as_ref().map(|cache| cache.join("projects"));
    match lasting.filter(|folder| private::lasting(folder).is_ok()) {
        Some(folder) => Ok(Cache::new(folder)),
        // There is no home, or the folder is not the user's alone. Nobody may know before where another one will be.
        None => Cache::temporary(),
    }
}

#[cfg(test)]
mod tests {
    use twincell_amplify::{Form, Shown, Technique};

    use super::*;

    #[test]
    fn a_commit_alone_is_compared_with_its_parent() {
        let commit = |name: &str| Revision::Commit(name.to_owned());
        for (range, staged, expected) in [
            (None, false, (commit("HEAD"), Revision::Files)),
            (None, true, (commit("HEAD"), Revision::Staged)),
            (Some("abc"), false, (Revision::Parent("abc".to_owned()), commit("abc"))),
            (Some("v1..v2"), false, (commit("v1"), commit("v2"))),
            (Some("v1.."), false, (commit("v1"), commit("HEAD"))),
            (
                Some("main...new"),
                false,
                (Revision::Base { old: "main".to_owned(), new: "new".to_owned() }, commit("new")),
            ),
        ] {
            assert_eq!(revisions(range, staged), Ok(PerSide::new(expected.0, expected.1)));
        }
    }

    #[test]
    fn what_is_no_range_is_said_as_compare_says_it() {
        for range in ["", "..", "...", "A..B..C"] {
            let error = revisions(Some(range), false).unwrap_err();
            assert!(error.starts_with(&format!("{range} is not a range of revisions: write OLD..NEW")), "{error}");
        }
        assert!(revisions(Some("HEAD"), true).unwrap_err().ends_with("give one of them"));
    }

    fn injected(file: &str) -> AmplifiedTest {
        let form = Form {
            id: format!("{file}::test_a"),
            name: "test_a".into(),
            text: "def test_a():\n    assert f() == 1\n".into(),
            imports: vec![],
            patch: String::new(),
        };
        let raised = PerSide::default();
        AmplifiedTest {
            origin: form.id.clone(),
            origin_text: "from shop import f\n\n\ndef test_a():\n    assert f() == 1\n".into(),
            file: file.into(),
            technique: Technique::Injected,
            steps: vec![],
            shows: Shown::Raises { expression: "f()".into(), point: 0, raised, returned: PerSide::default() },
            sentence: String::new(),
            old: form,
            new: None,
        }
    }

    #[test]
    fn a_test_is_written_into_the_work_tree_alone() {
        let (folder, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (root, other) = (folder.path(), other.path());
        std::os::unix::fs::symlink(other, root.join("linked")).unwrap();
        fs::write(other.join("theirs.py"), "").unwrap();
        std::os::unix::fs::symlink(other.join("theirs.py"), root.join("test_link.py")).unwrap();
        std::os::unix::fs::symlink(other.join("none.py"), root.join("test_none.py")).unwrap();
        for file in
            ["../test_a.py", "/test_a.py", "linked/deep/test_a.py", "test_link.py", "test_none.py", ".git/test_a.py"]
        {
            let error = write_test(root, &injected(file), Side::Old).unwrap_err();
            assert_eq!(error, format!("{file} lies outside of the repository"));
        }
        assert_eq!(fs::read_dir(other).unwrap().count(), 1);
        fs::create_dir(root.join("real")).unwrap();
        std::os::unix::fs::symlink("real", root.join("tests")).unwrap();
        assert_eq!(
            write_test(root, &injected("tests/deep/test_a.py"), Side::Old).as_deref(),
            Ok("tests/deep/test_a.py")
        );
        assert!(root.join("real/deep/test_a.py").is_file());
    }

    #[test]
    fn a_test_file_keeps_its_bytes_and_other_encodings_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("test_b.py");
        let now = "\u{feff}X = 'é'\r\n".to_owned();
        fs::write(&path, &now).unwrap();
        write_test(folder.path(), &injected("test_b.py"), Side::Old).unwrap();
        let lines = "\u{feff}from shop import f\n\nX = 'é'\n\n\ndef test_a():\n    assert f() == 1\n";
        assert_eq!(fs::read_to_string(&path).unwrap(), lines.replace('\n', "\r\n"));
        for bytes in [&b"X = '\xe9'\n"[..], b"# coding: latin-1\nX = 1\n", b"# coding: ascii\n", b"\xff\xfeX\x00"] {
            fs::write(&path, bytes).unwrap();
            let error = write_test(folder.path(), &injected("test_b.py"), Side::Old).unwrap_err();
            assert!(error.ends_with("test_b.py is not UTF-8, or says that it is not: save it as UTF-8"), "{error}");
            assert_eq!(fs::read(&path).unwrap(), bytes);
        }
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        assert!(write_test(folder.path(), &injected("test_b.py"), Side::Old).unwrap_err().ends_with("it is no file"));
    }
}
