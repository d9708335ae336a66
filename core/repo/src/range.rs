//! The commits between two, parents first, as plain data.

use git2::{Oid, Sort};

use crate::error::RepoError;
use crate::history::CommitId;
use crate::repository::Repo;
use crate::tree::TreeId;

/// Who made a commit, and when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Person {
    pub name: Vec<u8>,
    pub email: Vec<u8>,
    /// Since 1970.
    pub seconds: i64,
    /// What the clock there was ahead of UTC.
    pub offset_minutes: i32,
}

/// A commit as plain data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommitRecord {
    pub id: CommitId,
    pub parents: Vec<CommitId>,
    pub tree: TreeId,
    pub author: Person,
    pub message: Vec<u8>,
    /// What the message is encoded in, where that is not UTF-8.
    pub encoding: Option<String>,
}

impl Repo {
    /// The commits that can be reached from `last` and from none of `without`, each after its parents. The order is the same
    /// each time.
    ///
    /// # Errors
    ///
    /// [`RepoError::TooManyCommits`] for more than `most`, and where git cannot read them.
    pub fn commits_between(
        &self,
        without: &[CommitId],
        last: &[CommitId],
        most: usize,
    ) -> Result<Vec<CommitRecord>, RepoError> {
        let mut walk = self.git.revwalk()?;
        walk.set_sorting(Sort::TOPOLOGICAL | Sort::REVERSE)?;
        for id in last {
            walk.push(id.0)?;
        }
        for id in without {
            walk.hide(id.0)?;
        }
        let mut found = Vec::new();
        for id in walk {
            if found.len() == most {
                let names = |ids: &[CommitId]| ids.iter().map(|id| short(id.0)).collect::<Vec<_>>().join(" ");
                return Err(RepoError::TooManyCommits { range: format!("{}..{}", names(without), names(last)), most });
            }
            found.push(self.commit_record(CommitId(id?))?);
        }
        Ok(found)
    }

    /// A commit as plain data.
    ///
    /// # Errors
    ///
    /// Where git cannot read it.
    pub fn commit_record(&self, id: CommitId) -> Result<CommitRecord, RepoError> {
        let commit = self.git.find_commit(id.0)?;
        let author = commit.author();
        Ok(CommitRecord {
            id,
            parents: commit.parent_ids().map(CommitId).collect(),
            tree: TreeId(commit.tree_id()),
            author: Person {
                name: author.name_bytes().to_vec(),
                email: author.email_bytes().to_vec(),
                seconds: author.when().seconds(),
                offset_minutes: author.when().offset_minutes(),
            },
            message: commit.message_raw_bytes().to_vec(),
            encoding: commit.message_encoding().ok().flatten().map(str::to_owned),
        })
    }

    /// The best commits that all of these have in common. Several are equally good after merges in both directions.
    ///
    /// # Errors
    ///
    /// Where git cannot read them.
    pub fn merge_bases(&self, commits: &[CommitId]) -> Result<Vec<CommitId>, RepoError> {
        let ids: Vec<Oid> = commits.iter().map(|id| id.0).collect();
        let found = match ids.as_slice() {
            [only] => return Ok(vec![CommitId(*only)]),
            [one, other] => self.git.merge_bases(*one, *other).map(|found| found.iter().copied().collect()),
            _ => self.git.merge_base_octopus(&ids).map(|found| vec![found]),
        };
        match found {
            Ok(found) => Ok(Vec::into_iter(found).map(CommitId).collect()),
            Err(error) if error.code() == git2::ErrorCode::NotFound => Ok(Vec::new()),
            Err(error) => Err(error.into()),
        }
    }
}

fn short(id: Oid) -> String {
    let mut name = id.to_string();
    name.truncate(10);
    name
}

#[cfg(test)]
mod tests {
    use git2::{Repository, Signature};

    use super::*;

    #[test]
    fn commits_come_after_their_parents_and_are_bounded() {
        let folder = tempfile::tempdir().unwrap();
        let git = Repository::init(folder.path()).unwrap();
        let tree = git.find_tree(git.treebuilder(None).unwrap().write().unwrap()).unwrap();
        let commit = |message: &str, parents: &[CommitId]| {
            let author = Signature::new("A", "a@example.org", &git2::Time::new(100, 60)).unwrap();
            let parents: Vec<git2::Commit> = parents.iter().map(|id| git.find_commit(id.0).unwrap()).collect();
            let parents: Vec<&git2::Commit> = parents.iter().collect();
            CommitId(git.commit(None, &author, &author, message, &tree, &parents).unwrap())
        };
        let base = commit("base", &[]);
        let (one, other) = (commit("one", &[base]), commit("other", &[base]));
        let merge = commit("merge", &[one, other]);
        let repo = Repo::around(folder.path()).unwrap();
        let found = repo.commits_between(&[base], &[merge], 3).unwrap();
        let ids: Vec<CommitId> = found.iter().map(|one| one.id).collect();
        assert_eq!((ids.len(), ids.last()), (3, Some(&merge)));
        assert_eq!(found[2].parents, [one, other]);
        assert_eq!((found[0].author.seconds, found[0].author.offset_minutes), (100, 60));
        assert_eq!(repo.merge_bases(&[one, other]).unwrap(), [base]);
        let error = repo.commits_between(&[base], &[merge], 2).unwrap_err().to_string();
        assert!(error.ends_with("has more than 2 commits: choose a shorter range"), "{error}");
    }
}
