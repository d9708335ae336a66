//! What differs between two contents of a file, as git shows it: hunks of lines.

use git2::{DiffOptions, Patch};
use serde::{Deserialize, Serialize};

use crate::error::RepoError;
use crate::repository::Repo;
use crate::tree::FileId;

/// The maximum number of lines of all hunks, and of bytes of a line.
const MAX_LINES: usize = 400;
const MAX_LINE: usize = 400;
/// The maximum size in bytes of a file that is compared.
const MAX_FILE: usize = 4 << 20;

/// Lines that differ, with a few around them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hunk {
    /// The first line of each version, from 1, and the number of lines.
    pub old: (u32, u32),
    pub new: (u32, u32),
    pub lines: Vec<HunkLine>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HunkLine {
    pub kind: HunkLineKind,
    /// Without its end, and cut where it is long.
    pub text: String,
    /// Its number in each version that has it, from 1.
    pub old: Option<u32>,
    pub new: Option<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HunkLineKind {
    Same,
    Added,
    Removed,
}

impl Repo {
    /// The hunks between two contents. An absent one is empty.
    ///
    /// # Errors
    ///
    /// Where git cannot read them.
    pub fn hunks(&self, old: Option<FileId>, new: Option<FileId>) -> Result<Vec<Hunk>, RepoError> {
        let read = |id: Option<FileId>| match id {
            Some(id) => self.bytes(id, MAX_FILE),
            None => Ok(Some(Vec::new())),
        };
        let (Some(old), Some(new)) = (read(old)?, read(new)?) else { return Ok(vec![]) };
        let mut options = DiffOptions::new();
        options.context_lines(3);
        let patch = Patch::from_buffers(&old, None, &new, None, Some(&mut options))?;
        let (mut found, mut left) = (Vec::new(), MAX_LINES);
        for number in 0..patch.num_hunks() {
            let (hunk, count) = patch.hunk(number)?;
            let mut lines = Vec::new();
            for line in 0..count.min(left) {
                let line = patch.line_in_hunk(number, line)?;
                let kind = match line.origin() {
                    ' ' => HunkLineKind::Same,
                    '+' => HunkLineKind::Added,
                    '-' => HunkLineKind::Removed,
                    // That a file has no newline at its end.
                    _ => continue,
                };
                let text = String::from_utf8_lossy(line.content());
                let text = text.trim_end_matches(['\n', '\r']);
                let end = text.char_indices().nth(MAX_LINE).map_or(text.len(), |(at, _)| at);
                let (old, new) = (line.old_lineno(), line.new_lineno());
                lines.push(HunkLine { kind, text: text[..end].to_owned(), old, new });
            }
            left -= lines.len().min(left);
            let (old, new) = ((hunk.old_start(), hunk.old_lines()), (hunk.new_start(), hunk.new_lines()));
            found.push(Hunk { old, new, lines });
            if left == 0 {
                break;
            }
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changed_lines_stand_in_hunks_with_their_numbers() {
        let folder = tempfile::tempdir().unwrap();
        let git = git2::Repository::init(folder.path()).unwrap();
        let repo = Repo::around(folder.path()).unwrap();
        let id = |text: &str| Some(FileId(git.blob(text.as_bytes()).unwrap()));
        let found = repo.hunks(id("a\nb\nc\n"), id("a\nB\nc\n")).unwrap();
        let changed = |kind, text: &str, old, new| HunkLine { kind, text: text.into(), old, new };
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].old, found[0].new), ((1, 3), (1, 3)));
        assert_eq!(found[0].lines[1], changed(HunkLineKind::Removed, "b", Some(2), None));
        assert_eq!(found[0].lines[2], changed(HunkLineKind::Added, "B", None, Some(2)));
        assert_eq!(repo.hunks(None, id("a\n")).unwrap()[0].lines.len(), 1);
        assert!(repo.hunks(id("a"), id("a")).unwrap().is_empty());
        let many = repo.hunks(None, id(&"x\n".repeat(10_000))).unwrap();
        assert_eq!(many.iter().map(|hunk| hunk.lines.len()).sum::<usize>(), MAX_LINES);
    }
}
