//! Differences that somebody accepted, with the reasons: a file at the root of a repository, so that checks are quiet until
//! something new differs.
//!
//! Those of the old version count. Whoever accepts writes into the working tree, from where a commit brings it to the version
//! that later changes are compared with.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};
use twincell_behavior::EvidencePlace;
use twincell_compare::notice::Notice;
use twincell_compare::report::{Comparison, PairReport, VersionReport};
use twincell_compare::verdict::Verdict;
use twincell_driver::files;
use twincell_driver::policy::BASELINE as FILE;
use twincell_repo::Content;
use twincell_semantic::ProjectModule;
use twincell_syntax::{Index, PerSide};
use twincell_widgets::wording;

use crate::git::ChangedFile;

/// The version of its format. Entries of format 1 say nothing of what functions use, so they do not count.
const FORMAT: u32 = 2;
const FIRST_FORMAT: u32 = 1;
/// The maximum size of the file in bytes.
const LARGEST: u64 = 16 << 20;
/// The maximum number of other modules that are looked at.
const MODULES: usize = 500;

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored<Entry> {
    format: u32,
    accepted: Vec<Entry>,
}

/// The difference between two versions of a function, in all places where it shows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Difference {
    /// The path from the root of the repository, and the qualified name.
    file: String,
    function: String,
    /// What a person accepted, and why.
    headline: String,
    reason: String,
    /// SHA-256 of both versions: of the function and of what it uses.
    old: String,
    new: String,
    places: Vec<EvidencePlace>,
}

impl Difference {
    fn of(file: &ChangedFile, versions: &Versions, pair: &PairReport, reason: &str) -> Self {
        let mut places: Vec<EvidencePlace> = pair.evidence.iter().filter_map(|one| one.at.clone()).collect();
        places.sort();
        places.dedup();
        let reports = PerSide::new(&pair.old, &pair.new);
        let PerSide { old, new } = PerSide::of(|side| digest(reports[side], &versions.0[side]));
        Self {
            file: file.path.clone(),
            function: pair.place(),
            headline: wording::pair(pair),
            reason: reason.to_owned(),
            old,
            new,
            places,
        }
    }

    /// Whether this is about the same versions, and everything that the other shows was accepted.
    fn covers(&self, other: &Self) -> bool {
        fn key(one: &Difference) -> [&str; 4] {
            [&one.file, &one.function, &one.old, &one.new]
        }
        key(self) == key(other) && self.is_of_two() && other.places.iter().all(|place| self.places.contains(place))
    }

    /// Whether its versions are two. What comes from elsewhere is none of its own.
    fn is_of_two(&self) -> bool {
        self.old != self.new
    }
}

/// What the functions of a file can use in both versions.
struct Versions(PerSide<Version>);

struct Version {
    text: String,
    /// Absent for a notebook, all of which counts.
    index: Option<Index>,
    /// The texts of other modules of the project that are not the same in both versions.
    modules: BTreeMap<String, String>,
}

impl Versions {
    fn of(file: &ChangedFile) -> Self {
        let sources = PerSide::new(&file.old, &file.new);
        let mut modules =
            sources.map(|source| source.place.as_ref().map(|at| modules(at, &source.text)).unwrap_or_default());
        let same: BTreeSet<String> = (modules.old.iter())
            .filter(|(name, text)| modules.new.get(*name) == Some(text))
            .map(|(name, _)| name.clone())
            .collect();
        modules.old.retain(|name, _| !same.contains(name));
        modules.new.retain(|name, _| !same.contains(name));
        let PerSide { old, new } = modules;
        let version = |source: &twincell_compare::Source, modules| Version {
            text: source.text.clone(),
            index: (!source.is_notebook).then(|| Index::of(&source.text)),
            modules,
        };
        Self(PerSide::new(version(&file.old, old), version(&file.new, new)))
    }
}

/// The modules of the project that a text imports, directly or through others, with their texts.
fn modules(at: &ProjectModule, text: &str) -> BTreeMap<String, String> {
    let mut found: BTreeMap<String, String> = BTreeMap::new();
    let mut waiting: Vec<(ProjectModule, String)> = vec![(at.clone(), text.to_owned())];
    while let Some((at, text)) = waiting.pop() {
        for name in at.imported(&text) {
            if found.len() < MODULES
                && !found.contains_key(&name)
                && let Some(module) = at.find(&name)
            {
                found.insert(name.clone(), module.text().to_owned());
                waiting.push((at.beside(&module, name), module.text().to_owned()));
            }
        }
    }
    found
}

fn digest(report: &VersionReport, version: &Version) -> String {
    let mut digest = Sha256::new();
    let mut put = |text: &str| {
        digest.update((text.len() as u64).to_le_bytes());
        digest.update(text.as_bytes());
    };
    for line in &report.lines {
        put(&line.text);
    }
    put("what it uses");
    let name = twincell_syntax::entity(&report.qualname);
    match version.index.as_ref().and_then(|index| index.texts_of(name)) {
        Some(texts) => {
            for (name, texts) in texts {
                put(&name);
                texts.into_iter().for_each(&mut put);
            }
        }
        // The statements of a module, or a cell: whatever the text holds.
        None => put(&version.text),
    }
    for (name, text) in &version.modules {
        put(name);
        put(text);
    }
    digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// What is accepted.
#[derive(Debug, Default)]
pub struct Accepted {
    known: Vec<Difference>,
    /// What a person accepts now.
    fresh: Vec<Difference>,
    /// The functions whose differences cannot be accepted.
    refused: Vec<String>,
    /// The number of entries that do not count any more.
    outdated: usize,
}

impl Accepted {
    /// What the file of a version says. `name` is the revision as people call it.
    pub fn of(content: &Content, name: &str) -> Result<Self, String> {
        let bytes = match content {
            Content::Absent => return Ok(Self::default()),
            Content::File(bytes) => bytes,
            Content::TooLarge | Content::NoFile => return Err(wrong(name, NO_FILE)),
        };
        let (known, outdated) = entries(bytes).map_err(|reason| wrong(name, &reason))?;
        Ok(Self { known, outdated, ..Self::default() })
    }

    /// What is to say of the file itself.
    pub fn notice(&self) -> Option<Notice> {
        (self.outdated > 0).then(|| Notice::BaselineOutdated { file: FILE.to_owned(), entries: self.outdated })
    }

    /// Accepts what is known in a file's comparison, and with a reason the rest.
    pub fn apply(&mut self, file: &ChangedFile, comparison: &mut Comparison, reason: Option<&str>) {
        let is_known = |pair: &PairReport| {
            let entry = |one: &Difference| one.file == file.path && one.function == pair.place();
            self.known.iter().any(entry)
        };
        let is_open = |pair: &PairReport| {
            pair.decides() && pair.verdict == Verdict::Changing && (reason.is_some() || is_known(pair))
        };
        let open: Vec<usize> =
            (0..comparison.pairs.len()).filter(|number| is_open(&comparison.pairs[*number])).collect();
        if open.is_empty() {
            return;
        }
        let versions = Versions::of(file);
        let mut reasons: Vec<(usize, String)> = Vec::new();
        for number in open {
            let pair = &comparison.pairs[number];
            let own = Difference::of(file, &versions, pair, reason.unwrap_or_default());
            if let Some(known) = self.known.iter().find(|known| known.covers(&own)) {
                reasons.push((number, known.reason.clone()));
            } else if let Some(reason) = reason {
                if own.is_of_two() {
                    self.fresh.push(own);
                    reasons.push((number, reason.to_owned()));
                } else {
                    self.refused.push(format!("{}::{}", file.path, own.function));
                }
            }
        }
        comparison.accept(reasons);
    }

    /// The number of differences that are accepted now, and the functions whose differences cannot be.
    pub fn fresh(&self) -> (usize, &[String]) {
        (self.fresh.len(), &self.refused)
    }

    /// Adds what is accepted now to the file in a folder, in place of what was accepted for earlier texts of the same
    /// functions.
    pub fn write(self, root: &Path) -> Result<(), String> {
        let path = root.join(FILE);
        let mut all = self.fresh;
        all.reverse();
        all.extend(read(&path)?.into_iter().rev());
        let mut kept: Vec<Difference> = Vec::new();
        for one in all {
            let is_newer = |other: &Difference| (&other.file, &other.function) == (&one.file, &one.function);
            if !kept.iter().any(is_newer) {
                kept.push(one);
            }
        }
        kept.sort_by(|one, other| (&one.file, &one.function).cmp(&(&other.file, &other.function)));
        let stored = Stored { format: FORMAT, accepted: kept };
        let text = serde_json::to_string_pretty(&stored).map_err(|error| error.to_string())?;
        files::write_text(&path, &(text + "\n"), files::TextKind::Json)
    }
}

const NO_FILE: &str = "it is no file of at most 16 MiB";

fn wrong(name: &str, reason: &str) -> String {
    format!("cannot read {name}: {reason}; mend or remove it")
}

/// The entries of the file in the working tree, if there is one.
fn read(path: &Path) -> Result<Vec<Difference>, String> {
    let wrong = |reason: &str| wrong(&path.display().to_string(), reason);
    let about = match fs::symlink_metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(vec![]),
        Err(error) => return Err(wrong(&files::reason(&error))),
        Ok(about) => about,
    };
    if !about.is_file() || about.len() > LARGEST {
        return Err(wrong(NO_FILE));
    }
    let bytes = fs::read(path).map_err(|error| wrong(&files::reason(&error)))?;
    entries(&bytes).map(|(entries, _)| entries).map_err(|reason| wrong(&reason))
}

/// The entries of a file, and the number of those that do not count.
fn entries(bytes: &[u8]) -> Result<(Vec<Difference>, usize), String> {
    let stored: Stored<Value> = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
    match stored.format {
        FORMAT => {
            let stored: Stored<Difference> = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
            let all = stored.accepted.len();
            let kept: Vec<Difference> = stored.accepted.into_iter().filter(Difference::is_of_two).collect();
            let outdated = all - kept.len();
            Ok((kept, outdated))
        }
        FIRST_FORMAT => Ok((vec![], stored.accepted.len())),
        other => Err(format!("its format is {other}, and this twincell knows {FORMAT}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use twincell_compare::Source;
    use twincell_samples::{comparison, pair};

    const OLD: &str = "from hashlib import sha256 as h\ndef f(x):\n    return h(x)\n";

    fn file(path: &str, new: &str) -> ChangedFile {
        let source = |text: &str| Source { text: text.to_owned(), ..Source::default() };
        ChangedFile { path: path.to_owned(), old_path: path.to_owned(), old: source(OLD), new: source(new) }
    }

    fn evidence(place: &str) -> twincell_compare::report::Evidence {
        let at = serde_json::json!({"channel": "return", "place": place, "at": {"kind": place}, "old": "1", "new": "2",
            "strength": "observable", "probability": 1.0, "edge_case": false, "score": 1.0, "execution": 1});
        serde_json::from_value(at).unwrap()
    }

    fn changed(places: &[&str]) -> Comparison {
        let mut changing = pair(Verdict::Changing);
        changing.evidence = places.iter().map(|place| evidence(place)).collect();
        comparison(vec![changing, pair(Verdict::Identical)])
    }

    /// What the file in a folder says, as if it were that of the old version.
    fn known(folder: &Path) -> Accepted {
        let content = fs::read(folder.join(FILE)).map_or(Content::Absent, Content::File);
        Accepted::of(&content, FILE).unwrap()
    }

    fn accept(folder: &Path, file: &ChangedFile, places: &[&str], reason: &str) -> usize {
        let mut accepted = known(folder);
        accepted.apply(file, &mut changed(places), Some(reason));
        let count = accepted.fresh().0;
        accepted.write(folder).unwrap();
        count
    }

    #[test]
    fn what_is_accepted_is_quiet_until_something_new_differs() {
        let folder = tempfile::tempdir().unwrap();
        let sha512 = OLD.replace("sha256", "sha512");
        assert_eq!(accept(folder.path(), &file("a.py", &sha512), &["return_value"], "as planned"), 1);
        let verdict = |path: &str, new: &str, places: &[&str]| {
            let mut comparison = changed(places);
            known(folder.path()).apply(&file(path, new), &mut comparison, None);
            (comparison.verdict, comparison.pairs[0].accepted.clone())
        };
        let accepted = (Verdict::Identical, Some("as planned".to_owned()));
        assert_eq!(verdict("a.py", &sha512, &["return_value"]), accepted);
        let moved = format!("\n# a comment\n\nOTHER = 1\n{sha512}");
        assert_eq!(verdict("a.py", &moved, &["return_value"]), accepted);
        let open = (Verdict::Changing, None);
        assert_eq!(verdict("b.py", &sha512, &["return_value"]), open);
        assert_eq!(verdict("a.py", &sha512, &["return_value", "exception"]), open);
        for other in ["md5", "sha1"] {
            assert_eq!(verdict("a.py", &OLD.replace("sha256", other), &["return_value"]), open);
        }
        assert_eq!(verdict("a.py", &format!("{sha512}f.__defaults__ = (1,)\n"), &["return_value"]), open);
    }

    #[test]
    fn what_comes_from_elsewhere_is_not_accepted() {
        let folder = tempfile::tempdir().unwrap();
        let mut accepted = known(folder.path());
        let mut comparison = changed(&["return_value"]);
        accepted.apply(&file("a.py", OLD), &mut comparison, Some("why not"));
        assert_eq!((accepted.fresh(), comparison.verdict), ((0, &["a.py::f".to_owned()][..]), Verdict::Changing));
        let mut own = Difference::of(&file("a.py", OLD), &Versions::of(&file("a.py", OLD)), &comparison.pairs[0], "");
        assert!(!own.covers(&own));
        own.new = String::new();
        assert!(own.covers(&own));
    }

    #[test]
    fn a_function_has_one_entry() {
        let folder = tempfile::tempdir().unwrap();
        let file = file("a.py", &OLD.replace("h(x)", "h(x, x)"));
        for (places, reason) in [(&["return_value"][..], "first"), (&["return_value", "exception"], "second")] {
            accept(folder.path(), &file, places, reason);
        }
        let known = known(folder.path()).known;
        assert_eq!((known.len(), known[0].reason.as_str(), known[0].places.len()), (1, "second", 2));
    }

    #[test]
    fn entries_of_the_first_format_do_not_count_and_say_so() {
        let old = Content::File(br#"{"format": 1, "accepted": [{"file": "a.py"}, {}]}"#.to_vec());
        let accepted = Accepted::of(&old, FILE).unwrap();
        assert!(accepted.known.is_empty());
        assert_eq!(accepted.notice(), Some(Notice::BaselineOutdated { file: FILE.to_owned(), entries: 2 }));
    }

    #[test]
    fn a_file_that_is_none_of_ours_says_what_to_do() {
        let folder = tempfile::tempdir().unwrap();
        for text in ["{", "[]", r#"{"format": 99, "accepted": []}"#] {
            let of_base = Accepted::of(&Content::File(text.into()), "HEAD:twincell-accepted.json").unwrap_err();
            fs::write(folder.path().join(FILE), text).unwrap();
            let of_file = Accepted::default().write(folder.path()).unwrap_err();
            for error in [of_base, of_file] {
                assert!(
                    error.contains(FILE) && error.ends_with("mend or remove it") && !error.contains('\n'),
                    "{error}"
                );
            }
        }
        assert!(Accepted::of(&Content::NoFile, FILE).unwrap_err().contains("it is no file"));
    }
}
