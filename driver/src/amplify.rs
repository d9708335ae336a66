//! Amplifies the tests of a repository with what the options and the environment say.

use std::ops::ControlFlow;
use std::path::Path;

use twincell_amplify::{Amplification, Progress, Runners, amplify, open};
use twincell_project::{Cache, Revision, TestLimits, environment};
use twincell_syntax::PerSide;

use crate::options::Options;
use crate::warm::{Environment, Failure};

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

/// Makes tests that show what a change of a repository does. `progress` is told how far it is, and may end the search: then
/// the result has what was found.
pub fn amplify_repository(
    repository: &Path,
    versions: &PerSide<Revision>,
    options: &Options,
    surroundings: &Environment,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<Amplification, Failure> {
    let cache = checkouts(surroundings);
    let python = environment(repository, options.python.as_deref(), &surroundings.python)?;
    let limits = TestLimits {
        network: options.network,
        incomplete: options.run_unsafe,
        arguments: options.tests.iter().flat_map(|paths| paths.split_whitespace()).map(str::to_owned).collect(),
        // A variant of a test may run for ever.
        test_seconds: 5.0,
        ..TestLimits::default()
    };
    let mut opened = open(repository, versions, &cache, &python, &limits)?;
    let runners = Runners { old: &mut opened.old, new: &mut opened.new };
    Ok(amplify(&opened.change, runners, &options.for_amplify(), progress)?)
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
