//! Commits on a new branch. This is the only place that writes into a user's repository: objects and that one reference, never
//! the index or the working tree.

use git2::{ObjectType, Oid};

use crate::error::RepoError;
use crate::history::CommitId;
use crate::range::Person;
use crate::repository::Repo;
use crate::tree::{Item, write_tree};

/// A commit to write: all items of its tree, sorted by the bytes of their paths, and the contents that the repository may lack.
#[derive(Debug, Clone)]
pub struct BranchCommit<'a> {
    pub items: Vec<(&'a [u8], Item)>,
    pub contents: Vec<&'a [u8]>,
    /// The committer as well, so that the same commits have the same hashes.
    pub author: &'a Person,
    pub message: &'a [u8],
    pub encoding: Option<&'a str>,
}

impl Repo {
    /// Whether there may be a branch of this name and none is there.
    ///
    /// # Errors
    ///
    /// [`RepoError::BranchName`] and [`RepoError::BranchExists`].
    pub fn check_new_branch(&self, name: &str) -> Result<(), RepoError> {
        if !git2::Branch::name_is_valid(name).unwrap_or(false) {
            return Err(RepoError::BranchName(name.to_owned()));
        }
        match self.git.find_branch(name, git2::BranchType::Local) {
            Ok(_) => Err(RepoError::BranchExists(name.to_owned())),
            Err(error) if error.code() == git2::ErrorCode::NotFound => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Writes commits on top of one, and a new branch that ends in the last of them. It stands where `on` is if there are none.
    ///
    /// # Errors
    ///
    /// [`RepoError::BranchName`] and [`RepoError::BranchExists`] before anything is written, and where git cannot write.
    pub fn write_branch(
        &self,
        name: &str,
        on: CommitId,
        commits: &[BranchCommit<'_>],
    ) -> Result<Vec<CommitId>, RepoError> {
        self.check_new_branch(name)?;
        let objects = self.git.odb()?;
        let mut parent = on.0;
        let mut written = Vec::new();
        for commit in commits {
            for content in &commit.contents {
                objects.write(ObjectType::Blob, content)?;
            }
            let tree = write_tree(&self.git, &commit.items)?;
            parent = objects.write(ObjectType::Commit, &commit.text(tree.0, parent))?;
            written.push(CommitId(parent));
        }
        // Not by force: another may have made it meanwhile.
        self.git.reference(&format!("refs/heads/{name}"), parent, false, "twincell: a slice").map_err(|error| {
            match error.code() {
                git2::ErrorCode::Exists => RepoError::BranchExists(name.to_owned()),
                _ => error.into(),
            }
        })?;
        Ok(written)
    }
}

impl BranchCommit<'_> {
    /// The commit as git keeps it. libgit2's own function takes only UTF-8.
    fn text(&self, tree: Oid, parent: Oid) -> Vec<u8> {
        let mut text = format!("tree {tree}\nparent {parent}\n").into_bytes();
        for role in ["author", "committer"] {
            let minutes = self.author.offset_minutes;
            let sign = if minutes < 0 { '-' } else { '+' };
            let (hours, minutes) = (minutes.unsigned_abs() / 60, minutes.unsigned_abs() % 60);
            text.extend_from_slice(role.as_bytes());
            text.push(b' ');
            text.extend_from_slice(&self.author.name);
            text.extend_from_slice(b" <");
            text.extend_from_slice(&self.author.email);
            text.extend_from_slice(format!("> {} {sign}{hours:02}{minutes:02}\n", self.author.seconds).as_bytes());
        }
        if let Some(encoding) = self.encoding {
            text.extend_from_slice(format!("encoding {encoding}\n").as_bytes());
        }
        text.push(b'\n');
        text.extend_from_slice(self.message);
        text
    }
}

#[cfg(test)]
mod tests {
    use git2::{Repository, Signature};

    use super::*;
    use crate::tree::FileId;

    #[test]
    fn a_branch_is_new_and_nothing_else_changes() {
        let folder = tempfile::tempdir().unwrap();
        let git = Repository::init(folder.path()).unwrap();
        let author = Signature::new("A", "a@example.org", &git2::Time::new(100, -90)).unwrap();
        let empty = git.find_tree(git.treebuilder(None).unwrap().write().unwrap()).unwrap();
        let base = CommitId(git.commit(Some("HEAD"), &author, &author, "base", &empty, &[]).unwrap());
        let repo = Repo::around(folder.path()).unwrap();
        let person = repo.commit_record(base).unwrap().author;
        let commit = BranchCommit {
            items: vec![(b"a.py", Item { mode: 0o100_644, id: FileId::of(b"x = 1\n").unwrap() })],
            contents: vec![b"x = 1\n"],
            author: &person,
            message: b"Bl\xf6d\n",
            encoding: Some("ISO-8859-1"),
        };
        let written = repo.write_branch("slice/one", base, std::slice::from_ref(&commit)).unwrap();
        let record = repo.commit_record(*written.last().unwrap()).unwrap();
        assert_eq!(
            (record.author, record.parents, record.message.as_slice()),
            (person.clone(), vec![base], &b"Bl\xf6d\n"[..])
        );
        let branch = git.find_branch("slice/one", git2::BranchType::Local).unwrap();
        assert_eq!(branch.get().target(), Some(written[0].0));
        assert_eq!(git.head().unwrap().target(), Some(base.0));
        assert!(!folder.path().join("a.py").exists() && git.index().unwrap().is_empty());
        let again = |name: &str| repo.write_branch(name, base, std::slice::from_ref(&commit)).unwrap_err().to_string();
        assert_eq!(again("slice/one"), "there is a branch slice/one already: choose another name");
        assert_eq!(again("a..b"), "a..b cannot be the name of a branch: choose another one");
    }
}
