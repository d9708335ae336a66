//! Where a policy is looked for: in a folder, and inside a git repository also in the folders above it, up to the
//! repository's root. Outside a repository the folders above belong to anybody.

use std::path::Path;

use super::{Policy, PolicyError, read};

/// The maximum number of folders that are looked into.
const DEEPEST: usize = 64;

/// The policy nearest to a folder.
pub(super) fn nearest(folder: &Path) -> Result<Option<Policy>, PolicyError> {
    let above: Vec<&Path> = folder.ancestors().take(DEEPEST).collect();
    // A work tree has a file of this name in place of the folder.
    let root = above.iter().position(|folder| folder.join(".git").exists());
    for folder in &above[..root.map_or(1, |root| root + 1).min(above.len())] {
        if let Some(policy) = read::folder(folder)? {
            return Ok(Some(policy));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_policy_counts_and_none_from_outside_the_repository() {
        let folder = tempfile::tempdir().unwrap();
        let deep = folder.path().join("repository/src/package");
        std::fs::create_dir_all(&deep).unwrap();
        let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        let budget = || {
            let policy = nearest(&deep).unwrap()?;
            Some(policy.settings[0].value.text())
        };
        write("twincell.toml", "budget = 1");
        assert_eq!(budget(), None, "folders above count only inside a repository");
        std::fs::create_dir(folder.path().join("repository/.git")).unwrap();
        assert_eq!(budget(), None, "what is above the repository is not its own");
        write("repository/pyproject.toml", "[tool.twincell]\nbudget = 2");
        assert_eq!(budget().as_deref(), Some("2"));
        write("repository/src/pyproject.toml", "[tool.other]\nbudget = 3");
        assert_eq!(budget().as_deref(), Some("2"), "a file without a policy is passed over");
        write("repository/src/twincell.toml", "budget = 4");
        assert_eq!(budget().as_deref(), Some("4"));
    }
}
