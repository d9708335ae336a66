//! A selection as commits on top of the base or of the target: patches for `git am`, or a new branch of the user's repository,
//! which is written only here.

use std::path::{Path, PathBuf};

use twincell_repo::{BranchCommit, CommitId, CommitRecord, Item, MemoryTrees, Merged, Person, Repo, TreeId};

use super::reader::as_path;
use super::{Timeline, TreeFile, Unit};
use crate::error::SliceError;
use crate::selection::{Selection, UnitId};

/// How `git am` has to be called for patches to apply exactly: line ends of Windows stay, and so do subjects in brackets.
pub const AM_OPTIONS: [&str; 2] = ["--keep-cr", "--keep-non-patch"];

/// How each patch ends.
const SIGNATURE: &[u8] = b"-- \ntwincell\n\n";
/// How the file of a patch ends in its name.
const ENDING: &str = "patch";

/// A file as one that a slice would be written beside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PatchFile {
    /// It is a patch of some slice.
    OfSlice,
    /// It is a patch of something else, which `git am` would take for one of the slice.
    Foreign,
}

impl PatchFile {
    /// What a file is, by its name and its last bytes, at least [`PatchFile::LAST`] of them. `None` for what is no patch.
    pub fn of(name: &Path, last: &[u8]) -> Option<Self> {
        let is_patch = name.extension().is_some_and(|ending| ending == ENDING);
        let kind = if last.ends_with(SIGNATURE) { Self::OfSlice } else { Self::Foreign };
        is_patch.then_some(kind)
    }

    /// How many bytes say whose a patch is.
    pub const LAST: usize = SIGNATURE.len();
}

/// A commit of a slice as a mail that `git am` takes. Each applies after the one before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Patch {
    pub commit: CommitId,
    /// `0001-Add-a-thing.patch`.
    pub file_name: String,
    pub text: Vec<u8>,
}

/// Units of one commit, the first of which is named, and all files with them and all before.
struct Step {
    unit: UnitId,
    tree: TreeId,
}

/// A selection on top of the target, or of the base without one.
struct Steps {
    /// Where they begin.
    on: CommitRecord,
    all: Vec<Step>,
    /// The unit of the first commit that does not apply, and the files that keep it from it.
    conflict: Option<(UnitId, Vec<PathBuf>)>,
}

/// What a selection makes of the target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OnTarget {
    /// The files of the target with it.
    Files(Vec<TreeFile>),
    /// This unit, the first of its commit, does not apply because of these files.
    Conflicts { unit: UnitId, files: Vec<PathBuf> },
}

impl Timeline {
    /// The selection as a series of patches on top of the target, or of the base without one, with message, author and date of
    /// each commit. Units of one commit are one patch. A commit that changes nothing without those that were left out has none.
    ///
    /// `git am` needs [`AM_OPTIONS`].
    ///
    /// # Errors
    ///
    /// Where a commit does not apply to the target, and where git cannot read the repository.
    pub fn series(&self, taken: &Selection) -> Result<Vec<Patch>, SliceError> {
        let trees = MemoryTrees::over(&self.repo())?;
        let steps = self.applying(&trees, taken)?;
        let mut before = steps.on.tree;
        let count = steps.all.len();
        let mut patches = Vec::with_capacity(count);
        for (number, step) in steps.all.iter().enumerate() {
            let Some(unit) = self.unit(step.unit) else { continue };
            let text = mail(unit, self.message(step.unit), (number + 1, count), &trees.patch(before, step.tree)?);
            let file_name = format!("{:04}-{}.{ENDING}", number + 1, slug(&unit.subject));
            patches.push(Patch { commit: unit.commit, file_name, text });
            before = step.tree;
        }
        Ok(patches)
    }

    /// Writes the selection as commits on top of the target, or of the base without one, and a new branch of this name that
    /// ends in the last one. Only objects and this one reference are written, never the index or the working tree.
    ///
    /// # Errors
    ///
    /// Where there is such a branch, where this can be no name of one, where a commit does not apply to the target, and where git
    /// cannot write.
    pub fn branch(&self, taken: &Selection, name: &str) -> Result<Vec<CommitId>, SliceError> {
        self.repo().check_new_branch(name)?;
        let trees = MemoryTrees::over(&self.repo())?;
        let steps = self.applying(&trees, taken)?;
        let repo = self.repo();
        let mut files = Vec::with_capacity(steps.all.len());
        for step in &steps.all {
            files.push(files_of(&repo, &trees, step.tree)?);
        }
        let commits = steps.all.iter().zip(&files).filter_map(|(step, files)| {
            let unit = self.unit(step.unit)?;
            Some(BranchCommit {
                items: files.iter().map(|file| (&*file.path, Item { mode: file.mode, id: file.id })).collect(),
                contents: files.iter().filter_map(|file| file.text.as_deref()).collect(),
                author: &unit.author,
                message: self.message_of(unit.commit),
                encoding: self.commits.get(&unit.commit)?.encoding.as_deref(),
            })
        });
        let commits: Vec<BranchCommit<'_>> = commits.collect();
        Ok(repo.write_branch(name, steps.on.id, &commits)?)
    }

    /// What the selection makes of the target, in memory. `None` without a target.
    ///
    /// # Errors
    ///
    /// Where git cannot read the repository.
    pub fn on_target(&self, taken: &Selection) -> Result<Option<OnTarget>, SliceError> {
        if self.target.is_none() {
            return Ok(None);
        }
        let trees = MemoryTrees::over(&self.repo())?;
        let steps = self.steps(&trees, taken)?;
        if let Some((unit, files)) = steps.conflict {
            return Ok(Some(OnTarget::Conflicts { unit, files }));
        }
        let tree = steps.all.last().map_or(steps.on.tree, |step| step.tree);
        Ok(Some(OnTarget::Files(files_of(&self.repo(), &trees, tree)?)))
    }

    /// Whether a unit changes the target where it is put there. Where it does not apply, nobody can tell, and it does not.
    pub(super) fn changes_target(&self, trees: &MemoryTrees, unit: UnitId) -> Result<bool, SliceError> {
        let Some(target) = &self.target else { return Ok(true) };
        let mut taken: Selection = (0..unit.0).map(UnitId).collect();
        let before = self.kept_tree(trees, &taken)?;
        taken.insert(unit);
        let after = self.kept_tree(trees, &taken)?;
        let merged = trees.merged(before, after, target.last.tree)?;
        Ok(matches!(merged, Merged::Tree(tree) if tree != target.last.tree))
    }

    /// The tree of a selection, in memory.
    fn kept_tree(&self, trees: &MemoryTrees, taken: &Selection) -> Result<TreeId, SliceError> {
        let tree = self.tree(taken)?;
        let items: Vec<(&[u8], Item)> =
            tree.files().iter().map(|file| (&*file.path, Item { mode: file.mode, id: file.id })).collect();
        Ok(trees.keep(&items, tree.files().iter().filter_map(|file| file.text.as_deref()))?)
    }

    /// The steps, or an error for one that does not apply.
    fn applying(&self, trees: &MemoryTrees, taken: &Selection) -> Result<Steps, SliceError> {
        let steps = self.steps(trees, taken)?;
        match &steps.conflict {
            None => Ok(steps),
            Some((unit, files)) => Err(SliceError::Conflict {
                commit: self.unit(*unit).map(|unit| unit.commit.to_string()).unwrap_or_default(),
                files: files.iter().map(|file| file.display().to_string()).collect(),
            }),
        }
    }

    /// The commits of a selection that change something, each with the files after it.
    fn steps(&self, trees: &MemoryTrees, taken: &Selection) -> Result<Steps, SliceError> {
        let on = self.target.as_ref().map_or(&self.base, |target| &target.last).clone();
        let keep = |taken: &Selection| self.kept_tree(trees, taken);
        let mut prefix = self.given.clone();
        let (mut before, mut last) = (keep(&prefix)?, on.tree);
        let mut steps = Steps { on, all: Vec::new(), conflict: None };
        let taken = taken.difference(&self.given);
        let units: Vec<(UnitId, &Unit)> = taken.filter_map(|unit| Some((*unit, self.unit(*unit)?))).collect();
        for parts in units.chunk_by(|(_, one), (_, other)| one.commit == other.commit) {
            let Some((unit, _)) = parts.first() else { continue };
            prefix.extend(parts.iter().map(|(unit, _)| *unit));
            let after = keep(&prefix)?;
            if after == before {
                continue;
            }
            let merged = if last == before { Merged::Tree(after) } else { trees.merged(before, after, last)? };
            before = after;
            match merged {
                // What the target has in other words changes nothing there.
                Merged::Tree(tree) if tree == last => {}
                Merged::Tree(tree) => {
                    last = tree;
                    steps.all.push(Step { unit: *unit, tree });
                }
                Merged::Conflicts(files) => {
                    steps.conflict = Some((*unit, files.iter().map(|file| as_path(file)).collect()));
                    break;
                }
            }
        }
        Ok(steps)
    }
}

/// What git keeps of files.
pub(super) fn items(files: &[TreeFile]) -> Vec<(&[u8], Item)> {
    files.iter().map(|file| (&*file.path, Item { mode: file.mode, id: file.id })).collect()
}

/// The files of a tree in memory, with the contents that the repository lacks.
fn files_of(repo: &Repo, trees: &MemoryTrees, tree: TreeId) -> Result<Vec<TreeFile>, SliceError> {
    let file = |(path, item): (Vec<u8>, Item)| {
        let text = trees.content(repo, item)?.map(Into::into);
        Ok(TreeFile { path: path.into(), mode: item.mode, id: item.id, text })
    };
    trees.items(tree)?.into_iter().map(file).collect()
}

/// A patch as a mail.
pub(super) fn mail(unit: &Unit, message: &[u8], (number, count): (usize, usize), diff: &[u8]) -> Vec<u8> {
    let message = String::from_utf8_lossy(message);
    let (subject, body) = parts(&message);
    let count_width = count.to_string().len();
    let Person { name, email, .. } = &unit.author;
    let (name, email) = (String::from_utf8_lossy(name), String::from_utf8_lossy(email));
    let mut text = format!(
        "From {} Mon Sep 17 00:00:00 2001\nFrom: {} <{email}>\nDate: {}\nSubject: [PATCH {number:0count_width$}/{count}] {}\n\
         MIME-Version: 1.0\nContent-Type: text/plain; charset=UTF-8\nContent-Transfer-Encoding: 8bit\n\n",
        unit.commit,
        header(&name, true),
        date(&unit.author),
        header(&subject, false),
    );
    for (place, line) in body.lines().enumerate() {
        // git takes such lines for the end of the message, for another mail, or for headers.
        let is_end = ["---", "diff -", "Index: ", "From "].iter().any(|start| line.starts_with(start));
        let is_header = place == 0 && ["From:", "Date:", "Subject:"].iter().any(|start| line.starts_with(start));
        text += if is_end || is_header { " " } else { "" };
        text += line;
        text.push('\n');
    }
    text += "---\n\n";
    let mut text = text.into_bytes();
    text.extend_from_slice(diff);
    text.extend_from_slice(SIGNATURE);
    text
}

/// The first paragraph of a message on one line, and the rest.
fn parts(message: &str) -> (String, &str) {
    let message = message.trim_start_matches(['\n', ' ', '\t', '\r']);
    let end = message.find("\n\n").unwrap_or(message.len());
    let (subject, body) = message.split_at(end);
    (subject.split_whitespace().collect::<Vec<_>>().join(" "), body.trim_start_matches('\n'))
}

/// The value of a header. Letters outside of ASCII are encoded (RFC 2047), in words of a bounded length.
fn header(value: &str, is_name: bool) -> String {
    let is_plain = value.bytes().all(|byte| matches!(byte, b' '..=b'~')) && !value.contains("=?");
    if is_plain && is_name && value.contains(|letter| "()<>[]:;@\\,.\"".contains(letter)) {
        return format!("\"{}\"", value.replace('\\', "\\\\").replace('"', "\\\""));
    }
    if is_plain {
        return value.to_owned();
    }
    let mut words: Vec<String> = vec![String::new()];
    for letter in value.chars() {
        let mut bytes = [0; 4];
        let encode = |byte: u8| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => char::from(byte).to_string(),
            byte => format!("={byte:02X}"),
        };
        let encoded: String = letter.encode_utf8(&mut bytes).bytes().map(encode).collect();
        if words.last().is_some_and(|word| word.len() + encoded.len() > 60) {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut() {
            *word += &encoded;
        }
    }
    words.iter().map(|word| format!("=?UTF-8?q?{word}?=")).collect::<Vec<_>>().join("\n ")
}

/// A date of a mail (RFC 2822).
fn date(author: &Person) -> String {
    let local = author.seconds + i64::from(author.offset_minutes) * 60;
    let (days, seconds) = (local.div_euclid(86_400), local.rem_euclid(86_400));
    // From days to a date: Howard Hinnant, "chrono-compatible low-level date algorithms", civil_from_days.
    let shifted = days + 719_468;
    let (era, of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * from_march + 2) / 5 + 1;
    let month = (from_march + 2) % 12;
    let year = year_of_era + era * 400 + i64::from(month < 2);
    const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
    const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let weekday = DAYS.get(days.rem_euclid(7) as usize).copied().unwrap_or_default();
    let month = MONTHS.get(month as usize).copied().unwrap_or_default();
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    let (sign, offset) = (if author.offset_minutes < 0 { '-' } else { '+' }, author.offset_minutes.unsigned_abs());
    let (hours, minutes) = (offset / 60, offset % 60);
    format!("{weekday}, {day} {month} {year} {hour:02}:{minute:02}:{second:02} {sign}{hours:02}{minutes:02}")
}

/// A subject as a file name.
fn slug(subject: &str) -> String {
    let is_kept = |letter: char| letter.is_ascii_alphanumeric() || letter == '.' || letter == '_';
    let words = subject.split(|letter| !is_kept(letter)).filter(|word| !word.is_empty());
    let mut name = words.collect::<Vec<_>>().join("-");
    name.truncate(52);
    name.trim_end_matches(['.', '-']).to_owned()
}
