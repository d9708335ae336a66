//! Which tests a change in a repository needs: reads both versions from git, with the files that are no code, and selects.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use configparser::ini::Ini;
use toml::{Table, Value};
use twincell_impact::selection::{FileChange, FileContent, Selection, SelectionOptions, select};
use twincell_repo::{Content, FileId, Range, Repo, RepoError, Snapshot, bound_memory};
use twincell_semantic::{MemoryFiles, Project, Store};
use twincell_syntax::{PerSide, Side};

use crate::impact::{ImpactError, ImpactVersions, MOST, read};
use crate::proofs::Proofs;
use crate::waiting::interruptible;

/// The longest file that is no code and is read as a text, in bytes.
const MOST_TEXT: u64 = 1 << 20;

/// A change in a repository whose tests are to be selected.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SelectionRequest {
    /// A folder of the repository.
    pub start: PathBuf,
    /// `OLD..NEW`, or `OLD` up to the working tree.
    pub range: String,
    /// `OLD` up to what is staged.
    pub staged: bool,
    /// The files and folders whose tests count, as seen from `start`. None stand for all.
    pub paths: Vec<PathBuf>,
    /// What pytest calls `python_files`, `python_functions` and `python_classes`. Where they are empty, those in the new
    /// version's settings of pytest count, and then pytest's own.
    pub test_files: Vec<String>,
    pub test_functions: Vec<String>,
    pub test_classes: Vec<String>,
}

/// The tests of a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SelectedTests {
    /// The folder that paths start at.
    pub root: PathBuf,
    pub selection: Selection,
}

/// Selects the tests that may see a change. `interrupted` is asked now and then, and ends the work.
///
/// # Errors
///
/// Where a version cannot be read.
pub fn select_tests(
    request: &SelectionRequest,
    interrupted: &mut dyn FnMut() -> bool,
) -> Result<SelectedTests, ImpactError> {
    bound_memory();
    let request = request.clone();
    interruptible(move |_| Ok(selected(&request)), interrupted)?
}

fn selected(request: &SelectionRequest) -> Result<SelectedTests, ImpactError> {
    let SelectionRequest { start, range, staged, paths, .. } = request;
    let versions = ImpactVersions::Git { start: start.clone(), range: range.clone(), staged: *staged, paths: vec![] };
    let read = read(&versions)?;
    let parsed = Range::parse(range).ok_or_else(|| ImpactError::Range(range.clone()))?;
    let repo = Repo::with_files_around(start)?;
    let (old, new) = parsed.revisions(*staged);
    let snapshots = PerSide::new(repo.snapshot(&old)?, repo.snapshot(&new)?);
    let mut options = options(request, &Settings::read(&snapshots.new)?);
    options.files = changed(&snapshots)?;
    let store = Store::new();
    let projects = PerSide::of(|side: Side| {
        let files = read[side].texts.iter().map(|(path, text)| (&**path, &**text));
        Project::open(files.collect::<MemoryFiles>(), &store)
    });
    let proofs = Proofs::new(read.as_ref().map(|version| &version.texts));
    let mut selection = select(&projects.old, &projects.new, &options, &proofs);
    let wanted = paths.iter().map(|path| repo.inside(start, path)).collect::<Result<Vec<_>, _>>()?;
    let is_there = |path: &Path| snapshots.iter().any(|snapshot| snapshot.entry(path).is_some());
    if let Some((_, given)) = wanted.iter().zip(paths).find(|(path, _)| !is_there(path)) {
        return Err(ImpactError::Nowhere { path: given.display().to_string(), range: range.clone() });
    }
    if !wanted.is_empty() {
        let is_wanted = |path: &str| wanted.iter().any(|folder| Path::new(path).starts_with(folder));
        selection.tests.retain(|one| is_wanted(&one.test.path));
        selection.removed.retain(|one| is_wanted(&one.path));
    }
    let root = repo.root().map(Path::to_owned).unwrap_or_default();
    Ok(SelectedTests { root, selection })
}

/// What a project says to pytest, by the names of options.
#[derive(Debug, Default, PartialEq, Eq)]
struct Settings(BTreeMap<String, Vec<String>>);

impl Settings {
    /// Files in the order in which pytest looks for one with a section of its own, and the name of the section. The first counts even
    /// without it.
    const FILES: [(&str, &str); 4] =
        [("pytest.ini", "pytest"), ("pyproject.toml", ""), ("tox.ini", "pytest"), ("setup.cfg", "tool:pytest")];

    fn read(snapshot: &Snapshot<'_>) -> Result<Self, RepoError> {
        for (name, section) in Self::FILES {
            let FileContent::Text(text) = content(snapshot, Path::new(name))? else { continue };
            match Self::of(&text, section) {
                Some(found) => return Ok(found),
                None if name == "pytest.ini" => return Ok(Self::default()),
                None => {}
            }
        }
        Ok(Self::default())
    }

    /// What a text says in a section of INI, or in TOML where no section is named. Nothing if it has no such part.
    fn of(text: &str, section: &str) -> Option<Self> {
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect();
        if section.is_empty() {
            let table: Table = text.parse().ok()?;
            let own = table.get("tool")?.get("pytest")?.get("ini_options")?.as_table()?;
            let said = |value: &Value| match value {
                Value::String(text) => words(text),
                Value::Array(all) => all.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
                _ => vec![],
            };
            return Some(Self(own.iter().map(|(name, value)| (name.clone(), said(value))).collect()));
        }
        let mut parser = Ini::new_cs();
        parser.set_multiline(true);
        let sections = parser.read(text.to_owned()).ok()?;
        let own = sections.get(section)?.iter();
        Some(Self(own.map(|(name, value)| (name.clone(), value.as_deref().map(words).unwrap_or_default())).collect()))
    }
}

/// What pytest takes for tests.
fn options(request: &SelectionRequest, settings: &Settings) -> SelectionOptions {
    let chosen = |given: &[String], name: &str, default: Vec<String>| match (given, settings.0.get(name)) {
        ([], Some(said)) if !said.is_empty() => said.clone(),
        ([], _) => default,
        (given, _) => given.to_vec(),
    };
    let default = SelectionOptions::default();
    SelectionOptions {
        test_files: chosen(&request.test_files, "python_files", default.test_files),
        test_functions: chosen(&request.test_functions, "python_functions", default.test_functions),
        test_classes: chosen(&request.test_classes, "python_classes", default.test_classes),
        files: vec![],
    }
}

/// The files that differ and are no Python code.
fn changed(snapshots: &PerSide<Snapshot<'_>>) -> Result<Vec<FileChange>, RepoError> {
    let is_other = |path: &Path| path.extension().is_none_or(|ending| ending != "py");
    let listed = PerSide::try_of(|side| {
        let files = snapshots[side].files(&is_other, MOST)?;
        Ok::<BTreeMap<PathBuf, FileId>, RepoError>(files.into_iter().collect())
    })?;
    let mut paths: Vec<&PathBuf> = listed.iter().flat_map(BTreeMap::keys).collect();
    paths.sort();
    paths.dedup();
    let mut found = Vec::new();
    for path in paths.into_iter().filter(|path| listed.old.get(*path) != listed.new.get(*path)) {
        let Some(shown) = path.to_str() else { continue };
        let (old, new) = (content(&snapshots.old, path)?, content(&snapshots.new, path)?);
        found.push(FileChange { path: shown.into(), old, new });
    }
    Ok(found)
}

fn content(snapshot: &Snapshot<'_>, path: &Path) -> Result<FileContent, RepoError> {
    Ok(match snapshot.content(path, MOST_TEXT)? {
        Content::Absent => FileContent::Absent,
        Content::File(bytes) => {
            String::from_utf8(bytes).map_or(FileContent::Binary, |text| FileContent::Text(Arc::from(text)))
        }
        Content::TooLarge | Content::NoFile => FileContent::Binary,
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use twincell_impact::selection::TestState;

    use super::*;

    const SHOP: &str = "def price(n):\n    return n * 2\n\n\ndef rate():\n    return open('rate.txt').read()\n";
    const TESTS: &str = "import shop\n\n\ndef test_price():\n    assert shop.price(1) == 2\n\n\ndef test_rate():\n    assert shop.rate() == '1'\n\n\ndef check_price():\n    shop.price(2)\n";

    fn repository() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let git = git2::Repository::init(folder.path()).unwrap();
        let author = git2::Signature::now("A", "a@example.org").unwrap();
        let mut index = git.index().unwrap();
        for (path, text) in [("shop.py", SHOP), ("rate.txt", "1"), ("test_shop.py", TESTS)] {
            fs::write(folder.path().join(path), text).unwrap();
            index.add_path(Path::new(path)).unwrap();
        }
        let tree = git.find_tree(index.write_tree().unwrap()).unwrap();
        index.write().unwrap();
        git.commit(Some("HEAD"), &author, &author, "a commit", &tree, &[]).unwrap();
        folder
    }

    fn runs(folder: &Path, request: SelectionRequest) -> Vec<String> {
        let request = SelectionRequest { start: folder.to_owned(), range: "HEAD".into(), ..request };
        let found = select_tests(&request, &mut || false).unwrap();
        let tests = found.selection.tests.into_iter().filter(|one| matches!(one.state, TestState::MustRun { .. }));
        tests.map(|one| one.test.qualname.to_string()).collect()
    }

    #[test]
    fn code_and_files_that_it_reads_select_tests() {
        let folder = repository();
        let write = |path: &str, text: &str| fs::write(folder.path().join(path), text).unwrap();
        let asked = || runs(folder.path(), SelectionRequest::default());
        assert_eq!(asked(), Vec::<String>::new());
        write("shop.py", &SHOP.replace("n * 2", "n * 3"));
        assert_eq!(asked(), ["test_price"]);
        write("shop.py", &SHOP.replace("return n * 2", "found = n * 2\n    return found"));
        assert_eq!(asked(), Vec::<String>::new());
        write("shop.py", SHOP);
        write("rate.txt", "2");
        assert_eq!(asked(), ["test_rate"]);
    }

    #[test]
    fn patterns_of_the_request_and_of_the_project_say_what_a_test_is() {
        let folder = repository();
        fs::write(folder.path().join("shop.py"), SHOP.replace("n * 2", "n + 2")).unwrap();
        let checks = SelectionRequest { test_functions: vec!["check".into()], ..SelectionRequest::default() };
        assert_eq!(runs(folder.path(), checks), ["check_price"]);
        let settings = "[tool.pytest.ini_options]\npython_functions = ['check_*']\n";
        let request = SelectionRequest::default();
        let said = |text: &str, section: &str| options(&request, &Settings::of(text, section).unwrap_or_default());
        assert_eq!(said(settings, "").test_functions, ["check_*"]);
        assert_eq!(said("[tool", ""), SelectionOptions::default());
        let ini =
            "[tool:pytest]\naddopts = -v\nmarkers=\n    slow\npython_files=tests_*.py\n    check_*.py\n[other]\na: b\n";
        assert_eq!(said(ini, "tool:pytest").test_files, ["tests_*.py", "check_*.py"]);
        assert_eq!(said(ini, "pytest"), SelectionOptions::default());
        let elsewhere = SelectionRequest { paths: vec!["shop.py".into()], ..SelectionRequest::default() };
        assert_eq!(runs(folder.path(), elsewhere), Vec::<String>::new());
    }
}
