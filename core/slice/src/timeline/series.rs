//! A selection as commits: patches for `git am`, or a new branch of the user's repository, which is written only here.

use twincell_repo::{BranchCommit, CommitId, Item, MemoryTrees, Person};

use super::{Timeline, Tree, Unit};
use crate::error::SliceError;
use crate::selection::{Selection, UnitId};

/// How `git am` has to be called for patches to apply exactly: line ends of Windows stay, and so do subjects in brackets.
pub const AM_OPTIONS: [&str; 2] = ["--keep-cr", "--keep-non-patch"];

/// A commit of a slice as a mail that `git am` takes. Each applies after the one before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Patch {
    pub commit: CommitId,
    /// `0001-Add-a-thing.patch`.
    pub file_name: String,
    pub text: Vec<u8>,
}

/// Units of one commit, and the files with them and all before.
struct Step<'a> {
    unit: &'a Unit,
    tree: Tree,
}

impl Timeline {
    /// The selection as a series of patches on top of the base, with message, author and date of each commit. Units of one commit
    /// are one patch. A commit that changes nothing without those that were left out has none.
    ///
    /// `git am` needs [`AM_OPTIONS`].
    ///
    /// # Errors
    ///
    /// Where git cannot read the repository.
    pub fn series(&self, taken: &Selection) -> Result<Vec<Patch>, SliceError> {
        let trees = MemoryTrees::over(&self.repo())?;
        let keep = |tree: &Tree| trees.keep(&items(tree), tree.files().iter().filter_map(|file| file.text.as_deref()));
        let mut before = keep(&self.tree(&Selection::new())?)?;
        let steps = self.steps(taken)?;
        let count = steps.len();
        let mut patches = Vec::with_capacity(count);
        for (number, step) in steps.iter().enumerate() {
            let after = keep(&step.tree)?;
            let message = self.message_of(step.unit.commit);
            let text = mail(step.unit, message, (number + 1, count), &trees.patch(before, after)?);
            let file_name = format!("{:04}-{}.patch", number + 1, slug(&step.unit.subject));
            patches.push(Patch { commit: step.unit.commit, file_name, text });
            before = after;
        }
        Ok(patches)
    }

    /// Writes the selection as commits on top of the base, and a new branch of this name that ends in the last one. Only objects
    /// and this one reference are written, never the index or the working tree.
    ///
    /// # Errors
    ///
    /// Where there is such a branch, where this can be no name of one, and where git cannot write.
    pub fn branch(&self, taken: &Selection, name: &str) -> Result<Vec<CommitId>, SliceError> {
        self.repo().check_new_branch(name)?;
        let steps = self.steps(taken)?;
        let commit =
            |step: &'_ Step<'_>| self.commits.get(&step.unit.commit).and_then(|commit| commit.encoding.clone());
        let encodings: Vec<Option<String>> = steps.iter().map(commit).collect();
        let commits: Vec<BranchCommit<'_>> = steps
            .iter()
            .zip(&encodings)
            .map(|(step, encoding)| BranchCommit {
                items: items(&step.tree),
                contents: step.tree.files().iter().filter_map(|file| file.text.as_deref()).collect(),
                author: &step.unit.author,
                message: self.message_of(step.unit.commit),
                encoding: encoding.as_deref(),
            })
            .collect();
        Ok(self.repo().write_branch(name, self.base(), &commits)?)
    }

    /// The commits of a selection that change something, each with the files after it.
    fn steps(&self, taken: &Selection) -> Result<Vec<Step<'_>>, SliceError> {
        let mut before = self.tree(&Selection::new())?.id();
        let mut prefix = Selection::new();
        let mut steps = Vec::new();
        let units: Vec<(UnitId, &Unit)> = taken.iter().filter_map(|unit| Some((*unit, self.unit(*unit)?))).collect();
        for parts in units.chunk_by(|(_, one), (_, other)| one.commit == other.commit) {
            prefix.extend(parts.iter().map(|(unit, _)| *unit));
            let tree = self.tree(&prefix)?;
            if let Some((_, unit)) = parts.first()
                && tree.id() != before
            {
                before = tree.id();
                steps.push(Step { unit, tree });
            }
        }
        Ok(steps)
    }
}

/// What git keeps of a tree.
pub(super) fn items(tree: &Tree) -> Vec<(&[u8], Item)> {
    tree.files().iter().map(|file| (&*file.path, Item { mode: file.mode, id: file.id })).collect()
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
    text.extend_from_slice(b"-- \ntwincell\n\n");
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
