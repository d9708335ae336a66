//! Reproducers as files: one for each pair that changed, on request.

use std::collections::BTreeSet;
use std::path::Path;

use serde::{Deserialize, Serialize};

use twincell_compare::report::{Comparison, PairReport, Reproducer};
use twincell_compare::reproduce::ProjectTest;
use twincell_compare::verdict::Verdict;

use crate::files::{TextKind, make_folder, write_text};

/// The pairs that changed, with their reproducers. What others cover has not changed by itself.
fn changed(comparison: &Comparison) -> impl Iterator<Item = (&PairReport, Option<&Reproducer>)> {
    let decides = |pair: &&PairReport| pair.verdict == Verdict::Changing && pair.decides();
    let changed = comparison.pairs.iter().filter(decides);
    changed.map(|pair| (pair, pair.reproducer.as_ref()))
}

/// The offered text: it holds, or it could not be run.
pub fn offered(reproducer: &Reproducer) -> Option<&str> {
    reproducer.source.as_deref().filter(|_| reproducer.holds != Some(false))
}

/// The first reproducer of a comparison.
pub fn first(comparison: &Comparison) -> Option<&str> {
    changed(comparison).find_map(|(_, reproducer)| offered(reproducer?))
}

/// The first reproducer of a comparison that holds.
pub fn held(comparison: &Comparison) -> Option<String> {
    changed(comparison).find_map(|(_, reproducer)| reproducer.filter(|one| one.holds == Some(true))?.source.clone())
}

/// The tests of a comparison's changes that can stand in the project.
pub fn in_project(comparison: &Comparison) -> impl Iterator<Item = &ProjectTest> {
    changed(comparison).filter_map(|(_, reproducer)| reproducer?.in_project.as_ref())
}

/// The status of a reproducer: `holds`, `unknown: why`, `none: why`.
pub fn status(reproducer: Option<&Reproducer>) -> String {
    let Some(reproducer) = reproducer else { return "none".into() };
    let why = reproducer.why_not.as_deref().unwrap_or("no reason was given");
    match (&reproducer.source, reproducer.holds) {
        (Some(_), Some(true)) => "holds".into(),
        (Some(_), None) => format!("unknown: {why}"),
        _ => format!("none: {why}"),
    }
}

/// Writes the reproducers of a comparison's changes. A single one goes to `path`, or into it if that is a folder. Several
/// go into a folder with that name, or beside it if the name is that of a Python file: `test_it_NAME.py`. Returns one line
/// about each for people.
pub fn write(comparison: &Comparison, path: &Path) -> Result<Vec<String>, String> {
    let found: Vec<(&PairReport, Option<&Reproducer>)> = changed(comparison).collect();
    let mut lines = Vec::new();
    if found.is_empty() {
        lines.push("no reproducer: no change in behavior was found".into());
    }
    // A folder that does not exist yet is named by its end.
    let is_folder = path.is_dir() || path.as_os_str().to_string_lossy().ends_with(std::path::is_separator);
    let apart = found.len() > 1 || is_folder;
    let stem = path.file_stem().filter(|_| path.extension().is_some_and(|ending| ending == "py"));
    let stem = stem.map(|stem| stem.to_string_lossy().into_owned()).filter(|_| !is_folder);
    let mut taken: BTreeSet<String> = BTreeSet::new();
    let mut place = |name: &str| {
        let start = stem.as_deref().unwrap_or("test");
        let first = safe(&format!("{start}_{name}"));
        let numbered = (2..).map(|number| format!("{first}_{number}"));
        let own = std::iter::once(first.clone()).chain(numbered).find(|name| taken.insert(name.clone()));
        let file = format!("{}.py", own.unwrap_or_default());
        if stem.is_some() { path.with_file_name(file) } else { path.join(file) }
    };
    if apart && stem.is_none() && found.iter().any(|(_, made)| made.and_then(offered).is_some()) {
        make_folder(path)?;
    }
    for (pair, reproducer) in found {
        let name = &pair.new.qualname;
        match reproducer.and_then(offered) {
            Some(text) => {
                let file = if apart { place(name) } else { path.to_path_buf() };
                write_text(&file, text, TextKind::Python)?;
                let unknown = reproducer.is_some_and(|reproducer| reproducer.holds.is_none());
                let note = if unknown { "; it could not be run here" } else { "" };
                lines.push(format!("reproducer of {name}: {}{note}", file.display()));
            }
            None => lines.push(format!("no reproducer of {name}: {}", status(reproducer).trim_start_matches("none: "))),
        }
    }
    Ok(lines)
}

/// The reproducer of a change of a study, to be written if there is a folder for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReproducerFile {
    /// The suffix after the name of the change: nothing, or `-NAME` if several functions changed.
    suffix: String,
    offered: bool,
    text: String,
}

/// The reproducers of one change of a study. One that does not hold is a text with the reason.
pub fn of_study(comparison: &Comparison) -> Vec<ReproducerFile> {
    let found: Vec<(&PairReport, &Reproducer)> =
        changed(comparison).filter_map(|(pair, reproducer)| Some((pair, reproducer?))).collect();
    let written = found.iter().filter_map(|(pair, reproducer)| {
        let suffix = if found.len() > 1 { format!("-{}", pair.new.qualname) } else { String::new() };
        match (offered(reproducer), &reproducer.source) {
            (Some(text), _) => Some(ReproducerFile { suffix, offered: true, text: text.to_owned() }),
            (None, Some(text)) => {
                Some(ReproducerFile { suffix, offered: false, text: format!("{}\n\n{text}", status(Some(reproducer))) })
            }
            (None, None) => None,
        }
    });
    written.collect()
}

/// Writes the reproducers of one change into a folder: `test_ID.py`, or `test_ID-NAME.py`, as pytest looks for them.
/// The id must be suitable for file names.
pub fn write_all(reproducers: &[ReproducerFile], id: &str, folder: &Path) -> Result<(), String> {
    for ReproducerFile { suffix, offered, text } in reproducers {
        let ending = if *offered { ".py" } else { ".does-not-hold.txt" };
        write_text(&folder.join(format!("test_{id}{}{ending}", safe(suffix))), text, TextKind::Python)?;
    }
    Ok(())
}

/// A name without characters that are special in file names, up to 100 bytes: a file name may have 255, and two of
/// these are in it.
pub fn safe(name: &str) -> String {
    const LONGEST: usize = 100;
    let plain = |c: char| if c.is_alphanumeric() || matches!(c, '_' | '-') { c } else { '_' };
    let mut safe: String = name.chars().take(LONGEST).map(plain).collect();
    safe.truncate(safe.floor_char_boundary(LONGEST));
    safe
}

#[cfg(test)]
mod tests {
    use super::*;
    use twincell_compare::report::DecidedBy;
    use twincell_samples::{comparison, pair};

    fn changing(name: &str, source: Option<&str>, holds: Option<bool>) -> PairReport {
        let mut pair = pair(Verdict::Changing);
        pair.new.qualname = name.into();
        let why_not = (holds != Some(true)).then(|| "reasons".to_string());
        pair.reproducer = Some(Reproducer { source: source.map(String::from), holds, why_not, in_project: None });
        pair
    }

    #[test]
    fn one_reproducer_is_a_file_and_several_are_a_folder() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("test_it.py");
        let lines = write(&comparison(vec![changing("f", Some("a"), Some(true))]), &path).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "a");
        assert!(lines[0].starts_with("reproducer of f: "), "{lines:?}");

        let path = folder.path().join("many");
        let pairs = vec![changing("C.f", Some("a"), Some(true)), changing("g", Some("b"), Some(false))];
        let lines = write(&comparison(pairs), &path).unwrap();
        assert_eq!(std::fs::read_to_string(path.join("test_C_f.py")).unwrap(), "a");
        assert_eq!(lines[1], "no reproducer of g: reasons");
    }

    #[test]
    fn a_folder_gets_a_single_reproducer_as_well() {
        let folder = tempfile::tempdir().unwrap();
        for path in [folder.path().to_owned(), folder.path().join("made.py/")] {
            let lines = write(&comparison(vec![changing("C.f", Some("a"), Some(true))]), &path).unwrap();
            let file = path.join("test_C_f.py");
            assert_eq!(std::fs::read_to_string(&file).unwrap(), "a");
            assert_eq!(lines, [format!("reproducer of C.f: {}", file.display())]);
        }
    }

    #[test]
    fn what_is_judged_elsewhere_has_no_reproducer_of_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let elsewhere =
            PairReport { decided_by: DecidedBy::OtherModules(vec![]), ..changing("C.f", Some("a"), Some(true)) };
        let whole = comparison(vec![elsewhere]);
        let path = folder.path().join("tests");
        assert_eq!(write(&whole, &path).unwrap(), ["no reproducer: no change in behavior was found"]);
        assert!(!path.exists());
        assert_eq!((first(&whole), held(&whole), of_study(&whole)), (None, None, vec![]));
    }

    #[test]
    fn several_reproducers_stand_beside_the_file_that_was_named() {
        let folder = tempfile::tempdir().unwrap();
        let pairs = ["C.f", "main", "main"].map(|name| changing(name, Some("a"), Some(true)));
        write(&comparison(pairs.into()), &folder.path().join("test_it.py")).unwrap();
        let mut found: Vec<String> = std::fs::read_dir(folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        found.sort();
        assert_eq!(found, ["test_it_C_f.py", "test_it_main.py", "test_it_main_2.py"]);
    }

    #[test]
    fn what_does_not_hold_is_not_offered() {
        let whole = comparison(vec![changing("f", Some("a"), Some(false)), changing("g", Some("b"), None)]);
        assert_eq!(first(&whole), Some("b"));
        assert_eq!(status(whole.pairs[0].reproducer.as_ref()), "none: reasons");
        assert_eq!(status(whole.pairs[1].reproducer.as_ref()), "unknown: reasons");
    }

    #[test]
    fn a_comparison_without_a_change_says_so() {
        let lines = write(&comparison(vec![pair(Verdict::Identical)]), Path::new("unused.py")).unwrap();
        assert_eq!(lines, ["no reproducer: no change in behavior was found"]);
    }
}
