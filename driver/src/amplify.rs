//! Amplifies the tests of a repository with what the options and the environment say.

use std::cell::RefCell;
use std::ops::ControlFlow;
use std::path::{Component, Path, PathBuf};

use twincell_amplify::{
    Amplification, AmplifiedTest, Change, Opened, Progress, Runners, Witness, amplify, open, rerun, with_test,
};
use twincell_compare::{Continue, Source};
use twincell_project::{Cache, Outcome, Revision, TestLimits, environment};
use twincell_syntax::{PerSide, Side};

use crate::files;
use crate::options::Options;
use crate::reproducers;
use crate::warm::{Engine, Environment, Failure};

/// The maximum number of changed files that are compared where no test runs the change.
const COMPARED: usize = 10;

/// The versions that a user names: `OLD..NEW`, a commit that is compared with its parent, or nothing, for what is not
/// committed yet.
pub fn revisions(range: Option<&str>, staged: bool) -> PerSide<Revision> {
    let commit = |name: &str| Revision::Commit(name.to_owned());
    let or_head = |name: &str| commit(if name.is_empty() { "HEAD" } else { name });
    match range.map(|range| (range, range.split_once(".."))) {
        None if staged => PerSide::new(commit("HEAD"), Revision::Staged),
        None => PerSide::new(commit("HEAD"), Revision::Files),
        Some((_, Some((old, new)))) => PerSide::new(or_head(old), or_head(new)),
        Some((one, None)) => PerSide::new(Revision::Commit(format!("{one}^")), commit(one)),
    }
}

/// Makes tests that show what a change of a repository does. Where no test shows anything, nor what is one step
/// from one, a comparison of the changed functions gives values. `progress` is told how far it is, and may end the search: then the result has what was found.
pub fn amplify_repository(
    repository: &Path,
    versions: &PerSide<Revision>,
    options: &Options,
    surroundings: &Environment,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<Amplification, Failure> {
    let (mut opened, python) = opened(repository, versions, options, surroundings)?;
    let runners = Runners { old: &mut opened.old, new: &mut opened.new };
    let roots = &opened.roots;
    let progress = RefCell::new(progress);
    let mut tell = |done: Progress| (progress.borrow_mut())(done);
    let mut witnesses = |change: &Change| {
        let mut tell = |done: Progress| (progress.borrow_mut())(done);
        witnesses(change, roots, &python, options, surroundings, &mut tell)
    };
    Ok(amplify(&opened.change, runners, &options.for_amplify(), &mut witnesses, &mut tell)?)
}

/// Both versions of a repository with their tests, and the Python that runs these.
fn opened(
    repository: &Path,
    versions: &PerSide<Revision>,
    options: &Options,
    surroundings: &Environment,
) -> Result<(Opened, PathBuf), Failure> {
    let python = environment(repository, options.python.as_deref(), &surroundings.python)?;
    let limits = TestLimits {
        network: options.network,
        incomplete: options.run_unsafe,
        arguments: options.tests.iter().flat_map(|paths| paths.split_whitespace()).map(str::to_owned).collect(),
        // A variant of a test may run for ever.
        test_seconds: 5.0,
        ..TestLimits::default()
    };
    Ok((open(repository, versions, &checkouts(surroundings), &python, &limits)?, python.python))
}

/// Runs a finished test once more in both versions, in one of its forms. `None` if it has no such form.
pub fn rerun_test(
    repository: &Path,
    versions: &PerSide<Revision>,
    options: &Options,
    surroundings: &Environment,
    test: &AmplifiedTest,
    form: Side,
) -> Result<Option<PerSide<Outcome>>, Failure> {
    let (mut opened, _) = opened(repository, versions, options, surroundings)?;
    let mut runners = Runners { old: &mut opened.old, new: &mut opened.new };
    Ok(rerun(&opened.change, &mut runners, test, form)?)
}

/// Adds a finished test to its file in the user's checkout. Returns the path of the file below the repository.
pub fn write_test(repository: &Path, test: &AmplifiedTest, form: Side) -> Result<String, String> {
    // The name comes from a process in which the project's code runs.
    let is_inside = Path::new(&test.file).components().all(|part| matches!(part, Component::Normal(_)));
    if !is_inside {
        return Err(format!("{} lies outside of the repository", test.file));
    }
    let path = repository.join(&test.file);
    let now = path.exists().then(|| files::read_source(&path)).transpose()?;
    let text = with_test(now.as_deref(), test, form).ok_or_else(|| {
        format!(
            "{} is not what it was: it has the test already, or no longer the one that this was made from",
            test.file
        )
    })?;
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)
            .map_err(|error| format!("cannot make {}: {}", folder.display(), files::reason(&error)))?;
    }
    files::write_text(&path, &text)?;
    Ok(test.file.clone())
}

/// Tests of changed functions with values with which the versions differ. Without any, there is still a result that says
/// that no test runs the change, so that nothing here fails.
fn witnesses(
    change: &Change,
    roots: &PerSide<PathBuf>,
    python: &Path,
    options: &Options,
    surroundings: &Environment,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Vec<Witness> {
    // The project's Python may not have twincell, which workers need.
    let pythons = [Some(python.to_owned()), None];
    let mut engines = pythons.into_iter().filter_map(|python| {
        let engine = Engine::warm(&Options { python, ..options.clone() }, surroundings).ok()?;
        engine.check_workers().is_ok().then_some(engine)
    });
    let Some(engine) = engines.next() else { return vec![] };
    let options = options.for_core();
    let mut found = Vec::new();
    let files: Vec<_> = change.files.iter().zip(&change.modules).take(COMPARED).collect();
    for (at, (file, module)) in files.iter().enumerate() {
        let PerSide { old: Some(old), new: Some(new) } = &file.texts else { continue };
        let source = |text: &String, root: &PathBuf| Source {
            text: text.clone(),
            label: file.path.clone(),
            file: Some(root.join(&file.path)),
            ..Source::default()
        };
        let (old, new) = (source(old, &roots.old), source(new, &roots.new));
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
pub fn checkouts(surroundings: &Environment) -> Cache {
    let cache = surroundings.cache.clone().unwrap_or_else(|| std::env::temp_dir().join("twincell"));
    Cache { folder: cache.join("projects") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_commit_alone_is_compared_with_its_parent() {
        let commit = |name: &str| Revision::Commit(name.to_owned());
        for (range, staged, expected) in [
            (None, false, (commit("HEAD"), Revision::Files)),
            (None, true, (commit("HEAD"), Revision::Staged)),
            (Some("abc"), false, (commit("abc^"), commit("abc"))),
            (Some("v1..v2"), false, (commit("v1"), commit("v2"))),
            (Some("v1.."), false, (commit("v1"), commit("HEAD"))),
        ] {
            assert_eq!(revisions(range, staged), PerSide::new(expected.0, expected.1));
        }
    }
}
