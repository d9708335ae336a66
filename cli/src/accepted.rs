//! Differences that somebody accepted, with the reasons: a file at the root of a repository, so that checks are quiet until
//! something new differs.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use twincell_behavior::EvidencePlace;
use twincell_compare::report::{Comparison, PairReport, VersionReport};
use twincell_compare::verdict::Verdict;
use twincell_driver::files;

/// The name of the file.
pub const FILE: &str = "twincell-accepted.json";

/// The version of its format.
const FORMAT: u32 = 1;
/// The maximum size of the file in bytes.
const LARGEST: u64 = 16 << 20;

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    format: u32,
    accepted: Vec<Difference>,
}

/// The difference between two texts of a function, in all places where it shows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Difference {
    /// The path from the root of the repository, and the qualified name.
    file: String,
    function: String,
    /// What a person accepted, and why.
    headline: String,
    reason: String,
    /// SHA-256 of both texts of the function.
    old: String,
    new: String,
    places: Vec<EvidencePlace>,
}

impl Difference {
    fn of(file: &str, pair: &PairReport, reason: &str) -> Self {
        let mut places: Vec<EvidencePlace> = pair.evidence.iter().filter_map(|one| one.at.clone()).collect();
        places.sort();
        places.dedup();
        Self {
            file: file.to_owned(),
            function: pair.new.qualname.clone(),
            headline: pair.sentence.clone(),
            reason: reason.to_owned(),
            old: digest(&pair.old),
            new: digest(&pair.new),
            places,
        }
    }

    /// Whether this is about the same texts, and everything that the other shows was accepted.
    fn covers(&self, other: &Self) -> bool {
        fn key(one: &Difference) -> [&str; 4] {
            [&one.file, &one.function, &one.old, &one.new]
        }
        key(self) == key(other) && other.places.iter().all(|place| self.places.contains(place))
    }
}

fn digest(version: &VersionReport) -> String {
    let mut digest = Sha256::new();
    for line in &version.lines {
        digest.update(line.text.as_bytes());
        digest.update(b"\n");
    }
    digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// What is accepted in a repository.
#[derive(Debug, Default)]
pub struct Accepted {
    path: PathBuf,
    known: Vec<Difference>,
}

impl Accepted {
    /// Reads the file in this folder, if there is one.
    pub fn read(root: &Path) -> Result<Self, String> {
        let path = root.join(FILE);
        let wrong = |reason: String| format!("cannot read {}: {reason}; mend or remove it", path.display());
        let about = match fs::symlink_metadata(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Self { path, known: vec![] }),
            Err(error) => return Err(wrong(files::reason(&error))),
            Ok(about) => about,
        };
        if !about.is_file() || about.len() > LARGEST {
            return Err(wrong(format!("it is no file of at most {} MiB", LARGEST >> 20)));
        }
        let text = fs::read_to_string(&path).map_err(|error| wrong(files::reason(&error)))?;
        let stored: Stored = serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
        if stored.format != FORMAT {
            return Err(wrong(format!("its format is {}, and this twincell knows {FORMAT}", stored.format)));
        }
        Ok(Self { path, known: stored.accepted })
    }

    /// Accepts what is known in a file's comparison, and with a reason the rest. Returns how many are new.
    pub fn apply(&mut self, file: &str, comparison: &mut Comparison, reason: Option<&str>) -> usize {
        let before = self.known.len();
        let changed = comparison.pairs.iter().enumerate();
        let changed = changed.filter(|(_, pair)| pair.decides() && pair.verdict == Verdict::Changing);
        let reasons: Vec<(usize, String)> = changed
            .filter_map(|(number, pair)| {
                let own = Difference::of(file, pair, reason.unwrap_or_default());
                if let Some(known) = self.known.iter().find(|known| known.covers(&own)) {
                    return Some((number, known.reason.clone()));
                }
                let reason = reason?.to_owned();
                self.known.push(own);
                Some((number, reason))
            })
            .collect();
        comparison.accept(reasons);
        self.known.len() - before
    }

    /// Writes the file, without what was accepted for earlier texts of the same functions.
    pub fn write(mut self) -> Result<(), String> {
        let mut kept: Vec<Difference> = Vec::new();
        while let Some(one) = self.known.pop() {
            let is_newer = |other: &Difference| (&other.file, &other.function) == (&one.file, &one.function);
            if !kept.iter().any(is_newer) {
                kept.push(one);
            }
        }
        kept.sort_by(|one, other| (&one.file, &one.function).cmp(&(&other.file, &other.function)));
        let stored = Stored { format: FORMAT, accepted: kept };
        let text = serde_json::to_string_pretty(&stored).map_err(|error| error.to_string())?;
        files::write_text(&self.path, &(text + "\n"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use twincell_samples::{comparison, pair};

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

    #[test]
    fn what_is_accepted_is_quiet_until_something_new_differs() {
        let folder = tempfile::tempdir().unwrap();
        let read = || Accepted::read(folder.path()).unwrap();
        let mut first = changed(&["return_value"]);
        let mut accepted = read();
        assert_eq!(accepted.apply("a.py", &mut first, Some("as planned")), 1);
        assert_eq!((first.verdict, first.pairs[0].accepted.as_deref()), (Verdict::Identical, Some("as planned")));
        accepted.write().unwrap();

        let verdict = |file: &str, mut comparison: Comparison| {
            assert_eq!(read().apply(file, &mut comparison, None), 0);
            comparison.verdict
        };
        assert_eq!(verdict("a.py", changed(&["return_value"])), Verdict::Identical);
        assert_eq!(verdict("b.py", changed(&["return_value"])), Verdict::Changing);
        assert_eq!(verdict("a.py", changed(&["return_value", "exception"])), Verdict::Changing);
        let mut edited = changed(&["return_value"]);
        edited.pairs[0].new.lines = vec![
            serde_json::from_value(serde_json::json!({"number": 1, "text": "x",
            "changed": true, "executable": true, "executions": 1, "witness_hits": 1}))
            .unwrap(),
        ];
        assert_eq!(verdict("a.py", edited), Verdict::Changing);
    }

    #[test]
    fn a_function_has_one_entry() {
        let folder = tempfile::tempdir().unwrap();
        for (places, reason) in [(&["return_value"][..], "first"), (&["return_value", "exception"], "second")] {
            let mut accepted = Accepted::read(folder.path()).unwrap();
            accepted.apply("a.py", &mut changed(places), Some(reason));
            accepted.write().unwrap();
        }
        let known = Accepted::read(folder.path()).unwrap().known;
        assert_eq!((known.len(), known[0].reason.as_str(), known[0].places.len()), (1, "second", 2));
    }

    #[test]
    fn a_file_that_is_none_of_ours_says_what_to_do() {
        let folder = tempfile::tempdir().unwrap();
        for text in ["{", "[]", r#"{"format": 99, "accepted": []}"#] {
            fs::write(folder.path().join(FILE), text).unwrap();
            let error = Accepted::read(folder.path()).unwrap_err();
            assert!(error.contains(FILE) && error.ends_with("mend or remove it") && !error.contains('\n'), "{error}");
        }
    }
}
