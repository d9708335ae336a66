//! Revisions and ranges of them, as people write them for git.

use git2::{Commit, Object, Tree};

use crate::error::RepoError;
use crate::repository::Repo;

/// A version of a repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Revision {
    /// A commit, by any name that git understands.
    Commit(String),
    /// The first parent of a commit.
    Parent(String),
    /// The last commit that two have in common.
    Base { old: String, new: String },
    /// What is staged.
    Staged,
    /// The files of the working tree that git tracks, and new ones that it does not ignore.
    Files,
}

impl Revision {
    /// What people call it.
    pub fn name(&self) -> &str {
        match self {
            Revision::Commit(name) | Revision::Parent(name) | Revision::Base { old: name, .. } => name,
            Revision::Staged => "the index",
            Revision::Files => "the working tree",
        }
    }
}

/// Two versions: `OLD..NEW`, or `OLD...NEW` for what a branch changed since it left the other. `OLD` alone has no new one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Range<'a> {
    pub old: &'a str,
    pub new: Option<&'a str>,
    /// Whether the old version is the last commit that both have in common.
    pub from_base: bool,
}

impl<'a> Range<'a> {
    /// An empty side is HEAD. `None` for a text that is no range.
    pub fn parse(text: &'a str) -> Option<Self> {
        let or_head = |side: &'a str| if side.is_empty() { "HEAD" } else { side };
        let Some((old, rest)) = text.split_once("..") else {
            return (!text.is_empty()).then_some(Self { old: text, new: None, from_base: false });
        };
        let (new, from_base) = match rest.strip_prefix('.') {
            Some(new) => (new, true),
            None => (rest, false),
        };
        let is_nothing = old.is_empty() && new.is_empty();
        if is_nothing || new.starts_with('.') || new.contains("..") {
            return None;
        }
        Some(Self { old: or_head(old), new: Some(or_head(new)), from_base })
    }

    /// Both versions. One without an end is compared with what is `staged`, or with the files.
    pub fn revisions(&self, staged: bool) -> (Revision, Revision) {
        let commit = |name: &str| Revision::Commit(name.to_owned());
        let old = match self.new {
            Some(new) if self.from_base => Revision::Base { old: self.old.to_owned(), new: new.to_owned() },
            _ => commit(self.old),
        };
        let new = match self.new {
            Some(new) => commit(new),
            None if staged => Revision::Staged,
            None => Revision::Files,
        };
        (old, new)
    }
}

impl Repo {
    /// Whether a name is one of a commit, or of something else that git keeps.
    pub fn knows(&self, name: &str) -> bool {
        self.object(name).is_ok()
    }

    /// The tree of a revision that is a commit.
    pub(crate) fn tree(&self, revision: &Revision) -> Result<Option<Tree<'_>>, RepoError> {
        let tree = match revision {
            Revision::Staged | Revision::Files => return Ok(None),
            Revision::Commit(name) => {
                let found = self.object(name)?;
                found.peel_to_tree().map_err(|error| self.no_revision(name, error.message().to_owned()))?
            }
            Revision::Parent(name) => {
                let commit = self.commit(name)?;
                if commit.parent_count() == 0 {
                    return Err(RepoError::NoParent(name.clone()));
                }
                commit.parent(0)?.tree()?
            }
            Revision::Base { old, new } => {
                let (one, other) = (self.commit(old)?, self.commit(new)?);
                let base = self.git.merge_base(one.id(), other.id()).and_then(|found| self.git.find_commit(found));
                base.map_err(|_| RepoError::NoBase { old: old.clone(), new: new.clone() })?.tree()?
            }
        };
        Ok(Some(tree))
    }

    pub(crate) fn commit(&self, name: &str) -> Result<Commit<'_>, RepoError> {
        self.object(name)?.peel_to_commit().map_err(|error| self.no_revision(name, error.message().to_owned()))
    }

    /// What a revision names.
    fn object(&self, name: &str) -> Result<Object<'_>, RepoError> {
        if name.starts_with('-') {
            // Other programs take it for an option, and git allows no such name.
            return Err(RepoError::Revision { revision: name.to_owned(), reason: "it begins with -".to_owned() });
        }
        self.git.revparse_single(name).map_err(|error| match self.git.is_empty() {
            Ok(true) => self.no_commit(),
            _ => self.no_revision(name, error.message().to_owned()),
        })
    }

    /// Why a revision is none. Where it goes back too far, the number of commits that there are says more than git's reason.
    fn no_revision(&self, revision: &str, reason: String) -> RepoError {
        let revision = revision.to_owned();
        match self.before(&revision) {
            Some((from, count)) => {
                let from = from.to_owned();
                RepoError::NoAncestor { revision, from, count, is_shallow: self.is_shallow() }
            }
            None => RepoError::Revision { revision, reason },
        }
    }

    /// Of a revision like `HEAD~50` or `main^^` that goes back too far, the commit where it starts, and how many are before
    /// that, each the first parent of the next one.
    fn before<'a>(&self, revision: &'a str) -> Option<(&'a str, usize)> {
        let (from, steps) = revision.split_at(revision.find(['~', '^'])?);
        let is_number = steps.strip_prefix('~').is_some_and(|number| number.bytes().all(|one| one.is_ascii_digit()));
        // `^2` and `^{tree}` do not only go back.
        if !is_number && !steps.bytes().all(|one| matches!(one, b'~' | b'^')) {
            return None;
        }
        let start = self.git.revparse_single(from).ok()?.peel_to_commit().ok()?;
        Some((from, std::iter::successors(start.parent(0).ok(), |commit| commit.parent(0).ok()).count()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_branch_that_looks_like_the_beginning_of_a_hash_is_what_git_takes_it_for() {
        let folder = tempfile::tempdir().unwrap();
        let git = git2::Repository::init(folder.path()).unwrap();
        let author = git2::Signature::now("A", "a@example.org").unwrap();
        let tree = git.find_tree(git.index().unwrap().write_tree().unwrap()).unwrap();
        let mut parent = None;
        let mut hashes = Vec::new();
        for message in ["one", "two"] {
            let parents: Vec<&git2::Commit> = parent.iter().collect();
            let id = git.commit(Some("HEAD"), &author, &author, message, &tree, &parents).unwrap();
            parent = Some(git.find_commit(id).unwrap());
            hashes.push(id.to_string());
        }
        let [one, two] = [hashes[0].as_str(), hashes[1].as_str()];
        let repo = Repo::around(folder.path()).unwrap();
        let of = |name: &str| repo.commit(name).unwrap().id().to_string();
        assert_eq!(of(&two[..7]), two);
        // The branch wins over the beginning of a hash, and a whole hash over a branch.
        for name in [&two[..7], &two[..12], two] {
            git.reference(&format!("refs/heads/{name}"), git2::Oid::from_str(one).unwrap(), true, "made").unwrap();
        }
        assert_eq!((of(&two[..7]), of(&two[..12]), of(two)), (one.to_owned(), one.to_owned(), two.to_owned()));
        let said = |name: &str| {
            let mut git = std::process::Command::new("git");
            let output = git.arg("-C").arg(folder.path()).args(["rev-parse", name]).output().unwrap();
            String::from_utf8(output.stdout).unwrap().trim().to_owned()
        };
        for name in [&two[..7], &two[..12], two] {
            assert_eq!(said(name), of(name), "{name}");
        }
    }

    #[test]
    fn ranges_are_those_of_git() {
        let range = |old, new, from_base| Some(Range { old, new, from_base });
        for (text, expected) in [
            ("A", range("A", None, false)),
            ("A..B", range("A", Some("B"), false)),
            ("v1.0..", range("v1.0", Some("HEAD"), false)),
            ("..B", range("HEAD", Some("B"), false)),
            ("A...B", range("A", Some("B"), true)),
            ("main...", range("main", Some("HEAD"), true)),
            ("", None),
            ("..", None),
            ("...", None),
            ("A....B", None),
            ("A..B..C", None),
        ] {
            assert_eq!(Range::parse(text), expected, "{text}");
        }
    }
}
