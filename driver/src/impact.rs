//! What a change has impact on: reads both versions, from files, folders, texts or a repository's objects, and analyzes them.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use twincell_engine::Stop;
use twincell_files::inside;
use twincell_files::names::{is_hidden, lies_hidden};
use twincell_impact::selection::is_extension;
use twincell_impact::{
    Entries, Entry, FunctionImpact, Impact, ImpactOptions, Level, LevelSummary, Snapshot, impact_levels,
};
use twincell_repo::{Content, FileId, Range, Repo, RepoError, Revision, bound_memory};
use twincell_semantic::{MemoryFiles, Project, Store};
use twincell_syntax::{PerSide, Side, similar_names};
use twincell_widgets::{ImpactReport, ImpactStopped, LeftOut, ProvedFunction, Texts};

use crate::decode::python_source;
use crate::failure::Failure;
use crate::files;
use crate::options::Options;
use crate::proofs::Proofs;
use crate::waiting::streamed;

/// The versions between which the change lies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ImpactVersions {
    /// Two files, or two folders.
    Paths(PerSide<PathBuf>),
    /// Two texts of one module, each with its name for people.
    Texts(PerSide<(String, String)>),
    /// Two versions of the repository around a folder.
    Git {
        start: PathBuf,
        /// `OLD..NEW`, or `OLD` up to the working tree.
        range: String,
        /// `OLD` up to what is staged.
        staged: bool,
        /// The files and folders to analyze, as seen from `start`. None stand for all.
        paths: Vec<PathBuf>,
    },
}

/// Why there is no result, in one line.
#[derive(Debug, thiserror::Error)]
pub enum ImpactError {
    #[error("{0}")]
    Read(String),
    #[error("{folder} is a folder and {file} is a file: give two files, or two folders")]
    Mixed { folder: String, file: String },
    #[error("there is no Python file in {0}")]
    NoPython(String),
    #[error("{0} has more than {MOST_FILES} Python files: give a folder in it")]
    TooMany(String),
    #[error("{0} is not a range of revisions: write OLD..NEW, e.g. HEAD~1..HEAD, or OLD for the changes since then")]
    Range(String),
    #[error("{0} ends in a revision, but --staged compares with the index: write OLD alone, e.g. HEAD")]
    Staged(String),
    #[error("{path} is in neither version of {range}: give a file or folder of the repository, as seen from here")]
    Nowhere { path: String, range: String },
    #[error(transparent)]
    Repo(#[from] RepoError),
    #[error("{0} is no MODULE:FUNCTION: write e.g. shop.cart:Cart.total, or shop.cart: for the body of the module")]
    Entry(String),
    #[error("the new version has no function {entry}{}", meant(.similar))]
    NoEntry { entry: String, similar: Vec<String> },
    #[error(transparent)]
    Ended(#[from] Failure),
}

fn meant(similar: &[String]) -> String {
    match similar {
        [] => ": write MODULE:FUNCTION, with the dotted name of the module".to_owned(),
        similar => format!(": did you mean {}?", similar.join(" or ")),
    }
}

/// The largest file that is read, in bytes.
pub(crate) const MOST: u64 = 32 << 20;
/// How many files of a folder are read, and how deep folders are looked into.
const MOST_FILES: usize = 100_000;
const DEEPEST: usize = 64;

/// What the work hands over before its end.
enum Part {
    Read(Context),
    Level(Box<Whole>),
}

/// What a report has beside the analysis.
struct Context {
    versions: PerSide<String>,
    left_out: Vec<LeftOut>,
    texts: PerSide<Texts>,
}

/// A level that is whole.
struct Whole {
    snapshot: Snapshot,
    summary: LevelSummary,
    /// The proofs until then.
    proofs: Vec<ProvedFunction>,
}

/// What a change has impact on. `watch` is told which levels are whole, whenever one is and often between. When it breaks off,
/// or when the time of the options is over, the result is that of the last whole level.
///
/// # Errors
///
/// Where a version cannot be read, or an entry is none of its functions, or where `watch` broke off before DCIA was whole:
/// [`Failure::Stopped`].
pub fn impact_of(
    versions: &ImpactVersions,
    options: &Options,
    watch: &mut dyn FnMut(&[LevelSummary]) -> ControlFlow<()>,
) -> Result<ImpactReport, ImpactError> {
    bound_memory();
    let began = Instant::now();
    let limit = options.impacting.time.map(Duration::from_secs_f64);
    let entries = entries(&options.impacting.entries)?;
    let (versions, options) = (versions.clone(), options.impacting.for_core());
    let work = move |stop: &Stop, tell: &dyn Fn(Part)| Ok(analyze(&versions, &entries, &options, began, stop, tell));
    let (mut context, mut last, mut stopped) = (None, None::<Box<Whole>>, None);
    let mut levels: Vec<LevelSummary> = Vec::new();
    let mut hear = |part: Option<Part>| {
        match part {
            Some(Part::Read(read)) => context = Some(read),
            Some(Part::Level(level)) => {
                levels.push(level.summary.clone());
                last = Some(level);
            }
            None => {}
        }
        let is_open = last.as_ref().is_some_and(|level| !level.snapshot.is_last());
        if watch(&levels).is_break() {
            stopped = Some(ImpactStopped::Interrupt);
        } else if is_open && limit.is_some_and(|limit| began.elapsed() >= limit) {
            stopped = Some(ImpactStopped::Time);
        }
        if stopped.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let done = streamed(work, &mut hear)?.transpose()?;
    let (Some(Context { versions, left_out, texts }), Some(last)) = (context, last) else {
        return Err(Failure::Stopped.into());
    };
    let impact = Impact { levels, ..done.unwrap_or_else(|| last.snapshot.impact()) };
    Ok(ImpactReport { versions, left_out, stopped, proofs: last.proofs, impact, texts })
}

/// Reads both versions and analyzes them, level by level.
fn analyze(
    versions: &ImpactVersions,
    entries: &Entries,
    options: &ImpactOptions,
    began: Instant,
    stop: &Stop,
    tell: &dyn Fn(Part),
) -> Result<Impact, ImpactError> {
    let read = read(versions)?;
    let mut left_out: Vec<LeftOut> = Vec::new();
    for side in Side::BOTH {
        let own = read[side].left_out.iter();
        left_out.extend(own.map(|(path, reason)| LeftOut { path: path.clone(), side, reason: reason.clone() }));
    }
    left_out.sort();
    let names = read.as_ref().map(|version| version.name.clone());
    let texts = read.map(|version| version.texts);
    tell(Part::Read(Context { versions: names, left_out, texts: texts.clone() }));
    let store = Store::new();
    let projects = PerSide::of(|side| {
        let files = texts[side].iter().map(|(path, text)| (&**path, &**text));
        Project::open(files.collect::<MemoryFiles>(), &store)
    });
    let proofs = Proofs::new(texts.as_ref());
    let mut unknown = None;
    let mut on_level = |level: &Level| {
        // The first level knows which functions there are.
        if level.summary.k.is_none() && !entries.0.is_empty() {
            unknown = unknown_entry(&level.snapshot.impact(), &projects.new);
        }
        if unknown.is_some() {
            return ControlFlow::Break(());
        }
        let milliseconds = Some(u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX));
        let summary = LevelSummary { milliseconds, ..level.summary.clone() };
        let proofs = proofs.found();
        tell(Part::Level(Box::new(Whole { snapshot: level.snapshot.clone(), summary, proofs })));
        ControlFlow::Continue(())
    };
    let (old, new) = (&projects.old, &projects.new);
    let found = impact_levels(old, new, entries, options, &proofs, &|| stop.is_asked(), &mut on_level);
    match unknown {
        Some(unknown) => Err(unknown),
        None => Ok(found),
    }
}

/// What to say of an entry that is no function of the new version.
fn unknown_entry(found: &Impact, project: &Project) -> Option<ImpactError> {
    let unknown = found.unknown_entries.first()?;
    let is_meant = |function: &&FunctionImpact| !function.function.is_empty() || unknown.function.is_empty();
    let known = found.functions.iter().filter(is_meant).filter_map(|function| {
        let module = project.module_at(&function.path)?;
        Some(format!("{}:{}", project.module_name(module), function.function))
    });
    let known: Vec<String> = known.collect();
    let entry = format!("{}:{}", unknown.module, unknown.function);
    let similar = similar_names(&entry, known.iter().map(String::as_str));
    let similar = similar.into_iter().map(str::to_owned).collect();
    Some(ImpactError::NoEntry { entry, similar })
}

/// The entries of `MODULE:FUNCTION`.
fn entries(texts: &[String]) -> Result<Entries, ImpactError> {
    let entry = |text: &String| match text.split_once(':') {
        Some((module, function)) if !module.is_empty() && !module.contains('/') => {
            let function = function.trim_start_matches(':').to_owned();
            Ok(Entry { module: module.to_owned(), function })
        }
        _ => Err(ImpactError::Entry(text.clone())),
    };
    texts.iter().map(entry).collect::<Result<_, _>>().map(Entries)
}

/// One version of the code.
pub(crate) struct Version {
    /// What people call it.
    name: String,
    pub(crate) texts: Texts,
    /// Files that cannot be read, with the reason.
    left_out: Vec<(String, String)>,
}

pub(crate) fn read(versions: &ImpactVersions) -> Result<PerSide<Version>, ImpactError> {
    match versions {
        ImpactVersions::Paths(paths) => of_paths(paths),
        ImpactVersions::Texts(texts) => Ok(texts.as_ref().map(|(name, text)| Version {
            name: name.clone(),
            texts: Texts::from([("module.py".into(), text.as_str().into())]),
            left_out: vec![],
        })),
        ImpactVersions::Git { start, range, staged, paths } => of_repository(start, range, *staged, paths),
    }
}

fn of_paths(paths: &PerSide<PathBuf>) -> Result<PerSide<Version>, ImpactError> {
    let shown = paths.as_ref().map(|path| path.display().to_string());
    match (paths.old.is_dir(), paths.new.is_dir()) {
        (true, true) => PerSide::try_of(|side| of_folder(&paths[side])),
        (false, false) => {
            // Both are versions of one module, whatever they are called.
            let name: Arc<str> = paths.new.file_name().map(|name| name.to_string_lossy()).unwrap_or_default().into();
            let name = if name.ends_with(".py") { name } else { format!("{name}.py").into() };
            PerSide::try_of(|side| {
                let text = files::read_source(&paths[side]).map_err(ImpactError::Read)?;
                let texts = Texts::from([(name.clone(), text.into())]);
                Ok(Version { name: shown[side].clone(), texts, left_out: vec![] })
            })
        }
        (true, false) => Err(mixed(shown.old, shown.new, &paths.new)),
        (false, true) => Err(mixed(shown.new, shown.old, &paths.old)),
    }
}

/// One version is a folder, and the other one is none.
fn mixed(folder: String, file: String, path: &Path) -> ImpactError {
    match fs::metadata(path) {
        Err(error) => ImpactError::Read(format!("cannot read {file}: {}", files::reason(&error))),
        Ok(_) => ImpactError::Mixed { folder, file },
    }
}

/// The Python files below a folder. Hidden folders, links and environments are none of the project's.
fn of_folder(folder: &Path) -> Result<Version, ImpactError> {
    let name = folder.display().to_string();
    let unreadable = |error: &io::Error| ImpactError::Read(format!("cannot read {name}: {}", files::reason(error)));
    let mut paths = Vec::new();
    let mut open = vec![(folder.to_owned(), String::new(), 0)];
    while let Some((inner, prefix, depth)) = open.pop() {
        let entries = match fs::read_dir(&inner) {
            Err(error) if depth == 0 => return Err(unreadable(&error)),
            entries => entries.into_iter().flatten().flatten(),
        };
        for entry in entries {
            let (file_name, Ok(kind)) = (entry.file_name(), entry.file_type()) else { continue };
            let Some(own) = file_name.to_str().filter(|_| !is_hidden(&file_name)) else { continue };
            let path = format!("{prefix}{own}");
            if kind.is_dir() && depth < DEEPEST && !entry.path().join("pyvenv.cfg").exists() {
                open.push((entry.path(), format!("{path}/"), depth + 1));
            } else if kind.is_file() && own.ends_with(".py") {
                paths.push(path);
            }
        }
        if paths.len() > MOST_FILES {
            return Err(ImpactError::TooMany(name));
        }
    }
    if paths.is_empty() {
        return Err(ImpactError::NoPython(name));
    }
    let root = inside::open(folder).map_err(|error| unreadable(&error))?;
    let mut version = Version { name, texts: Texts::new(), left_out: vec![] };
    for path in paths {
        let text = match inside::read_in(&root, Path::new(&path), MOST) {
            Ok(Some(bytes)) => python_source(&bytes),
            Ok(None) => Err(too_large()),
            Err(error) => Err(format!("cannot be read: {}", files::reason(&error))),
        };
        version.add(path, text.map(Arc::from));
    }
    Ok(version)
}

fn too_large() -> String {
    format!("has more than {} MiB", MOST >> 20)
}

impl Version {
    fn add(&mut self, path: String, text: Result<Arc<str>, String>) {
        match text {
            Ok(text) => drop(self.texts.insert(path.into(), text)),
            Err(reason) => self.left_out.push((path, reason)),
        }
    }
}

fn of_repository(start: &Path, range: &str, staged: bool, paths: &[PathBuf]) -> Result<PerSide<Version>, ImpactError> {
    let parsed = Range::parse(range).ok_or_else(|| ImpactError::Range(range.to_owned()))?;
    if staged && parsed.new.is_some() {
        return Err(ImpactError::Staged(range.to_owned()));
    }
    let repo = Repo::with_files_around(start)?;
    if parsed.old == "HEAD" {
        repo.check_commit()?;
    }
    let (old, new) = parsed.revisions(staged);
    let wanted = paths.iter().map(|path| repo.inside(start, path)).collect::<Result<Vec<_>, _>>()?;
    let is_python = |path: &Path| path.extension().is_some_and(|ending| ending == "py");
    let is_inside = |path: &Path| wanted.is_empty() || wanted.iter().any(|folder| path.starts_with(folder));
    let is_code = |path: &Path| {
        let is_extension = path.to_str().is_some_and(is_extension);
        (is_python(path) || is_extension && is_inside(path)) && !lies_hidden(path)
    };
    let mut known: HashMap<FileId, Result<Arc<str>, String>> = HashMap::new();
    // Files outside of the analysis, to name those that changed.
    let mut others: PerSide<BTreeMap<String, FileId>> = PerSide::default();
    let mut versions = PerSide::try_of(|side| {
        let revision = if side == Side::Old { &old } else { &new };
        let snapshot = repo.snapshot(revision)?;
        let name = match revision {
            Revision::Base { .. } => format!("the base of {range}"),
            revision => revision.name().to_owned(),
        };
        let mut version = Version { name, texts: Texts::new(), left_out: vec![] };
        for (path, id) in snapshot.files(&is_code, MOST)? {
            let Some(shown) = path.to_str().map(str::to_owned) else { continue };
            if !is_python(&path) || !is_inside(&path) {
                others[side].insert(shown, id);
                continue;
            }
            let text = match known.get(&id) {
                Some(text) => text.clone(),
                None => {
                    let text = match snapshot.content(&path, MOST)? {
                        Content::File(bytes) => python_source(&bytes).map(Arc::from),
                        Content::TooLarge => Err(too_large()),
                        Content::Absent | Content::NoFile => Err("cannot be read".to_owned()),
                    };
                    known.insert(id, text.clone());
                    text
                }
            };
            version.add(shown, text);
        }
        Ok::<_, ImpactError>(version)
    })?;
    let has = |folder: &Path| {
        let mut all = versions.iter().flat_map(|version| {
            version.texts.keys().map(|path| &**path).chain(version.left_out.iter().map(|(path, _)| path.as_str()))
        });
        all.any(|path| Path::new(path).starts_with(folder))
    };
    match wanted.iter().zip(paths).find(|(folder, _)| !has(folder)) {
        Some((_, given)) => Err(ImpactError::Nowhere { path: given.display().to_string(), range: range.to_owned() }),
        None if !has(Path::new("")) => Err(ImpactError::NoPython(range.to_owned())),
        None => {
            let paths: BTreeSet<&String> = others.iter().flat_map(BTreeMap::keys).collect();
            for path in paths.into_iter().filter(|path| others.old.get(*path) != others.new.get(*path)) {
                let reason = match is_python(Path::new(path)) {
                    true => "changed, and lies outside of the given paths",
                    false => "changed, and is not Python",
                };
                let side = if others.new.contains_key(path) { Side::New } else { Side::Old };
                versions[side].left_out.push((path.clone(), reason.to_owned()));
            }
            Ok(versions)
        }
    }
}

#[cfg(test)]
mod tests {
    use twincell_impact::State;

    use super::*;

    fn impacted(report: &ImpactReport) -> Vec<(String, u32)> {
        let all = report.impact.statements.iter().filter(|one| matches!(one.state, State::Impacted { .. }));
        all.map(|one| (one.place.path.to_string(), one.place.lines.0)).collect()
    }

    fn of(versions: &ImpactVersions) -> Result<ImpactReport, String> {
        with(versions, &Options::default())
    }

    fn with(versions: &ImpactVersions, options: &Options) -> Result<ImpactReport, String> {
        impact_of(versions, options, &mut |_| ControlFlow::Continue(())).map_err(|error| error.to_string())
    }

    const TAX: [&str; 2] = ["def rate():\n    return 20\n", "def rate():\n    return 25\n"];
    const CART: &str = "from tax import rate\n\n\ndef price(net):\n    return net * rate()\n";

    fn folder(of: &[(&str, &[u8])]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in of {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        folder
    }

    #[test]
    fn folders_files_and_texts_are_versions() {
        let folders = TAX.map(|tax| {
            folder(&[
                ("tax.py", tax.as_bytes()),
                ("cart.py", CART.as_bytes()),
                ("odd.py", b"x = '\xe9'\n"),
                (".hidden/a.py", b"1"),
                ("env/pyvenv.cfg", b""),
                ("env/a.py", b"1"),
            ])
        });
        let paths = PerSide::new(folders[0].path().to_owned(), folders[1].path().to_owned());
        let found = of(&ImpactVersions::Paths(paths.clone())).unwrap();
        assert_eq!(impacted(&found), [("cart.py".to_owned(), 5)]);
        assert_eq!(found.texts.new.keys().map(|path| &**path).collect::<Vec<_>>(), ["cart.py", "tax.py"]);
        assert!(found.left_out.len() == 2 && found.left_out[0].reason.starts_with("is not UTF-8"), "{found:?}");
        let files = PerSide::new(paths.old.join("tax.py"), paths.new.join("tax.py"));
        assert_eq!(impacted(&of(&ImpactVersions::Paths(files)).unwrap()), []);
        let mixed = of(&ImpactVersions::Paths(PerSide::new(paths.old.clone(), paths.new.join("tax.py")))).unwrap_err();
        assert!(mixed.ends_with("give two files, or two folders"), "{mixed}");
        let empty = folder(&[("a.txt", b"")]);
        let none = of(&ImpactVersions::Paths(PerSide::new(paths.old, empty.path().to_owned()))).unwrap_err();
        assert!(none.starts_with("there is no Python file in "), "{none}");
    }

    #[test]
    fn a_repository_is_read_without_a_checkout() {
        let folder = tempfile::tempdir().unwrap();
        let git = git2::Repository::init(folder.path()).unwrap();
        let author = git2::Signature::now("A", "a@example.org").unwrap();
        let commit = |files: &[(&str, &str)]| {
            let mut index = git.index().unwrap();
            for (path, text) in files {
                fs::write(folder.path().join(path), text).unwrap();
                index.add_path(Path::new(path)).unwrap();
            }
            index.write().unwrap();
            let tree = git.find_tree(index.write_tree().unwrap()).unwrap();
            let parent = git.head().ok().map(|head| head.peel_to_commit().unwrap());
            git.commit(Some("HEAD"), &author, &author, "a commit", &tree, &parent.iter().collect::<Vec<_>>()).unwrap();
        };
        commit(&[("tax.py", TAX[0]), ("cart.py", CART)]);
        commit(&[("tax.py", TAX[1])]);
        let between = |range: &str, staged: bool, paths: &[&str]| {
            let paths = paths.iter().map(PathBuf::from).collect();
            of(&ImpactVersions::Git { start: folder.path().to_owned(), range: range.to_owned(), staged, paths })
        };
        let found = between("HEAD~1..HEAD", false, &[]).unwrap();
        assert_eq!(impacted(&found), [("cart.py".to_owned(), 5)]);
        assert_eq!(found.versions, PerSide::new("HEAD~1".to_owned(), "HEAD".to_owned()));
        assert_eq!(impacted(&between("HEAD~1..HEAD", false, &["tax.py"]).unwrap()), []);
        // Changed files that are not analyzed are named.
        let left_out = |range: &str, paths: &[&str]| -> Vec<String> {
            between(range, false, paths).unwrap().left_out.into_iter().map(|one| one.path).collect()
        };
        assert_eq!(left_out("HEAD~1..HEAD", &["cart.py"]), ["tax.py"]);
        assert_eq!(left_out("HEAD~1..HEAD", &[]), Vec::<String>::new());
        commit(&[("fast.c", "int rate;")]);
        assert_eq!(left_out("HEAD~1..HEAD", &[]), ["fast.c"]);
        assert_eq!(left_out("HEAD..HEAD", &[]), Vec::<String>::new());
        commit(&[("cart.py", CART), ("tax.py", TAX[0])]);
        commit(&[("tax.py", TAX[1])]);
        fs::write(folder.path().join("tax.py"), TAX[0]).unwrap();
        assert_eq!(impacted(&between("HEAD", false, &[]).unwrap()), [("cart.py".to_owned(), 5)]);
        assert_eq!(impacted(&between("HEAD", true, &[]).unwrap()), []);
        for (range, staged, path, said) in [
            ("A..B..C", false, None, "is not a range of revisions"),
            ("HEAD~1..HEAD", true, None, "write OLD alone"),
            ("nowhere..HEAD", false, None, "nowhere is not a revision"),
            ("HEAD~1..HEAD", false, Some("none.py"), "none.py is in neither version of HEAD~1..HEAD"),
        ] {
            let error = between(range, staged, &path.into_iter().collect::<Vec<_>>()).unwrap_err();
            assert!(error.contains(said), "{error}");
        }
    }

    /// A change that DCIA takes to have impact, and that level 0 proves to have none.
    fn refactored() -> ImpactVersions {
        let old = "def rate(x):\n    if x is None:\n        return 0\n    return x.size\n\n\ndef show(x):\n    print(rate(x))\n";
        let new = "def rate(x):\n    return 0 if x is None else x.size\n\n\ndef show(x):\n    print(rate(x))\n";
        ImpactVersions::Texts(PerSide::new(old, new).map(|text| (String::new(), text.to_owned())))
    }

    fn sizes(report: &ImpactReport) -> Vec<(Option<u32>, usize)> {
        report.impact.levels.iter().map(|level| (level.k, level.impacted)).collect()
    }

    #[test]
    fn each_level_is_told_with_its_time_and_the_last_has_its_proofs() {
        let mut told: Vec<usize> = Vec::new();
        let mut watch = |levels: &[LevelSummary]| {
            told.push(levels.len());
            ControlFlow::Continue(())
        };
        let found = impact_of(&refactored(), &Options::default(), &mut watch).unwrap();
        told.dedup();
        assert_eq!((told, sizes(&found)), (vec![0, 1, 2], vec![(None, 1), (Some(0), 0)]));
        assert_eq!((found.stopped, found.impact.is_partial), (None, false));
        let times: Vec<u64> = found.impact.levels.iter().filter_map(|level| level.milliseconds).collect();
        assert!(times.len() == 2 && times.is_sorted(), "{times:?}");
        let proved: Vec<&str> = found.proofs.iter().map(|one| &*one.function).collect();
        assert_eq!(proved, ["rate"]);
    }

    #[test]
    fn the_end_of_the_time_and_an_interrupt_leave_the_last_whole_level() {
        let mut options = Options::default();
        options.impacting.time = Some(0.0);
        let found = with(&refactored(), &options).unwrap();
        assert_eq!((found.stopped, found.impact.is_partial), (Some(ImpactStopped::Time), true));
        assert_eq!((sizes(&found), impacted(&found)), (vec![(None, 1)], vec![("module.py".to_owned(), 6)]));
        let until = |most: usize| {
            let mut watch = |levels: &[LevelSummary]| match levels.len() < most {
                true => ControlFlow::Continue(()),
                false => ControlFlow::Break(()),
            };
            impact_of(&refactored(), &Options::default(), &mut watch)
        };
        assert!(matches!(until(0), Err(ImpactError::Ended(Failure::Stopped))));
        let found = until(1).unwrap();
        assert_eq!((found.stopped, found.impact.is_partial), (Some(ImpactStopped::Interrupt), true));
        assert_eq!((sizes(&found), found.proofs.len()), (vec![(None, 1)], 0));
        // Nothing follows the last level.
        let found = until(2).unwrap();
        assert_eq!(
            (found.stopped, found.impact.is_partial, sizes(&found).len()),
            (Some(ImpactStopped::Interrupt), false, 2)
        );
    }

    #[test]
    fn an_entry_that_is_none_is_answered_with_similar_ones() {
        let from = |entry: &str| {
            let mut options = Options::default();
            options.impacting.entries = vec![entry.to_owned()];
            let text = |text: &str| (String::new(), text.to_owned());
            let versions = ImpactVersions::Texts(PerSide::new(text(TAX[0]), text(TAX[1])));
            with(&versions, &options).map(drop)
        };
        assert_eq!(from("module:rate"), Ok(()));
        assert_eq!(from("module:"), Ok(()));
        assert_eq!(
            from("module:rat").unwrap_err(),
            "the new version has no function module:rat: did you mean module:rate?"
        );
        for wrong in ["rate", ":rate", "a/b.py:rate"] {
            assert!(from(wrong).unwrap_err().contains("is no MODULE:FUNCTION"), "{wrong}");
        }
    }
}
