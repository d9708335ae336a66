//! What is trusted where two versions of a repository are compared: the policy and the accepted differences of the old one.
//! The new one may be a stranger's, so what differs there is only said.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use twincell_compare::notice::{FileChange, Notice};
use twincell_repo::{Content, Repo, RepoError, Revision, Snapshot};
use twincell_syntax::PerSide;

use super::{NONE, Policy, PolicyError, SettingValue, read};
use crate::options::GivenOption;

/// The file with accepted differences, at the root of a repository.
pub const BASELINE: &str = "twincell-accepted.json";
/// The maximum size of that file in bytes.
const LARGEST_BASELINE: u64 = 16 << 20;

/// Whether a path of a repository names a policy or the accepted differences.
pub fn is_trusted(path: &Path) -> bool {
    path == Path::new(BASELINE) || path.file_name().is_some_and(|name| read::FILES.iter().any(|file| name == *file))
}

/// The old version of a comparison, as far as it is trusted.
#[derive(Debug)]
pub struct Base {
    /// The policy that a user names, or else the one that is nearest to a folder in the old version.
    pub policy: Option<Policy>,
    /// What the old version has in the place of [`BASELINE`].
    pub baseline: Content,
    /// What is not the same in the new version.
    pub changes: Vec<Notice>,
}

/// Why it is not known what is trusted, in one line.
#[derive(Debug, thiserror::Error)]
pub enum BaseError {
    #[error(transparent)]
    Policy(#[from] PolicyError),
    #[error("cannot read the policy of the old version: {0}")]
    Unreadable(String),
    #[error(transparent)]
    Repo(RepoError),
}

impl From<RepoError> for BaseError {
    fn from(error: RepoError) -> Self {
        match error {
            RepoError::Git(reason) => BaseError::Unreadable(reason),
            other => BaseError::Repo(other),
        }
    }
}

impl Base {
    /// Reads what the old version has, of which `name` is what people call it. `start` is the folder from which the policy is
    /// looked for, and `named` the policy that a user names.
    pub fn of(
        repo: &Repo,
        start: &Path,
        (old, name): (&Snapshot<'_>, &str),
        new: &Snapshot<'_>,
        named: Option<&Path>,
    ) -> Result<Self, BaseError> {
        let inside = repo.inside(start, Path::new("")).unwrap_or_default();
        let policy = match named {
            Some(named) if named.as_os_str() == NONE => None,
            Some(named) => Some(read::file(named)?),
            None => nearest(repo, old, &inside, name)?,
        };
        let baseline = old.content(Path::new(BASELINE), LARGEST_BASELINE)?;
        let mut changes = Vec::new();
        for path in candidates(old, new, &inside)? {
            let is_baseline = path == Path::new(BASELINE);
            let most = if is_baseline { LARGEST_BASELINE } else { read::MAX_BYTES };
            let sides = PerSide::new(old, new).map(|version| version.content(&path, most));
            let sides = PerSide::new(sides.old?, sides.new?);
            let Some(change) = change(&path, sides) else { continue };
            let file = path.to_string_lossy().into_owned();
            changes.push(match is_baseline {
                true => Notice::BaselineChanged { file, change },
                false => Notice::PolicyChanged { file, change },
            });
        }
        Ok(Self { policy, baseline, changes })
    }

    /// The same for versions by their names. What is no commit is not trusted as an old version.
    pub fn of_revisions(start: &Path, versions: &PerSide<Revision>, named: Option<&Path>) -> Result<Self, BaseError> {
        let repo = Repo::around(start)?;
        if matches!(versions.old, Revision::Staged | Revision::Files) {
            return Ok(Self::nothing());
        }
        let sides = PerSide::try_of(|side| repo.snapshot(&versions[side]))?;
        Self::of(&repo, start, (&sides.old, versions.old.name()), &sides.new, named)
    }

    /// Where there is no old version.
    pub fn nothing() -> Self {
        Self { policy: None, baseline: Content::Absent, changes: vec![] }
    }
}

/// The policy of a version that is nearest to a folder.
fn nearest(repo: &Repo, version: &Snapshot<'_>, inside: &Path, name: &str) -> Result<Option<Policy>, BaseError> {
    let root = repo.root().unwrap_or(repo.path());
    for folder in inside.ancestors() {
        for file in read::FILES {
            let path = folder.join(file);
            let found = version.content(&path, read::MAX_BYTES)?;
            // What belongs to many tools may be a link, and then holds no policy.
            if file == read::FILES[1] && !matches!(found, Content::File(_)) {
                continue;
            }
            // `git show` takes this name.
            let label = format!("{name}:{}", path.display());
            if let Some(policy) = read::of_content(&root.join(&path), label, found)? {
                return Ok(Some(policy));
            }
        }
    }
    Ok(None)
}

/// The files with policies or accepted differences that may differ: all that git knows, and those around a folder.
fn candidates(old: &Snapshot<'_>, new: &Snapshot<'_>, inside: &Path) -> Result<BTreeSet<PathBuf>, BaseError> {
    let mut found = old.differing(new, &[read::FILES[0], read::FILES[1], BASELINE])?;
    found.insert(BASELINE.into());
    found.retain(|path| is_trusted(path));
    found.extend(inside.ancestors().flat_map(|folder| read::FILES.map(|file| folder.join(file))));
    Ok(found)
}

/// What a file says, so that layout, comments and old spellings are no change.
#[derive(PartialEq)]
enum Said {
    Nothing,
    Settings(Vec<(String, SettingValue)>),
    Accepted(serde_json::Value),
    /// What is none of ours.
    Bytes(Vec<u8>),
    NoFile,
}

impl Said {
    fn of(path: &Path, content: Content) -> Self {
        let bytes = match content {
            Content::Absent => return Said::Nothing,
            Content::TooLarge | Content::NoFile => return Said::NoFile,
            Content::File(bytes) => bytes,
        };
        if path == Path::new(BASELINE) {
            return serde_json::from_slice(&bytes).map_or(Said::Bytes(bytes), Said::Accepted);
        }
        match read::of_content(path, String::new(), Content::File(bytes.clone())) {
            Ok(None) => Said::Nothing,
            Ok(Some(policy)) => {
                let mut settings: Vec<_> =
                    policy.settings.into_iter().map(|one| (one.name, without_spelling(one.value))).collect();
                settings.sort_by(|one, other| one.0.cmp(&other.0));
                Said::Settings(settings)
            }
            Err(_) => Said::Bytes(bytes),
        }
    }
}

fn without_spelling(value: SettingValue) -> SettingValue {
    match value {
        SettingValue::Option(option) => SettingValue::Option(GivenOption { alias: None, ..option }),
        other => other,
    }
}

fn change(path: &Path, sides: PerSide<Content>) -> Option<FileChange> {
    if sides.old == sides.new {
        return None;
    }
    let said = sides.map(|content| Said::of(path, content));
    match (said.old, said.new) {
        (old, new) if old == new => None,
        (_, Said::NoFile) => Some(FileChange::NoFile),
        (Said::Nothing, _) => Some(FileChange::Added),
        (_, Said::Nothing) => Some(FileChange::Removed),
        _ => Some(FileChange::Changed),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_a_policy_says_is_a_change() {
        let of = |old: &str, new: &str| {
            let file = |text: &str| Content::File(text.as_bytes().to_vec());
            change(Path::new("twincell.toml"), PerSide::new(file(old), file(new)))
        };
        for (old, new) in [
            ("without = ['mutation']\n", "disable = ['mutation']\n"),
            ("seed = 1\nbudget = 5\n", "# fast\nbudget = 5\nseed = 1\n"),
        ] {
            assert_eq!(of(old, new), None, "{new}");
        }
        for (old, new) in
            [("without = ['mutation']\n", "disable = ['mutation', 'learning']\n"), ("budget = 5\n", "seed = 5\n")]
        {
            assert_eq!(of(old, new), Some(FileChange::Changed), "{new}");
        }
    }
}
