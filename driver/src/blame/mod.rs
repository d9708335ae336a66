//! Since which commit of a repository a call gives its value, with the warm workers. [`witness`] asks the same of the witness of a
//! comparison that is no call with literals.

mod witness;

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use twincell_blame::{Blame, BlameError, Call, CallProbe, Continue, Place, Progress, Request, blame};
use twincell_compare::Source;
use twincell_compare::report::{Comparison, PairReport};
use twincell_compare::reproduce::witness_call;
use twincell_repo::{CommitId, Range, Repo, RepoError, bound_memory};
use twincell_syntax::{PerSide, Side};

use crate::decode::python_source;
use crate::failure::Failure;
use crate::options::Options;
use crate::waiting::watched;
use crate::warm::{Environment, workers};

use witness::can_run;
pub use witness::{NoWitness, WitnessOf, blame_witness};

/// What a user asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlameRequest {
    /// Any folder of the repository. The file is seen from there. Without one, an absolute path of a file says where it is, and the
    /// current folder otherwise.
    pub folder: Option<PathBuf>,
    pub file: PathBuf,
    /// The qualified name of the function.
    pub function: String,
    /// A call of it.
    pub call: String,
    /// `OLD..NEW`, or `OLD` up to the current commit. Without one, the search begins at the current commit and goes as far
    /// back as it has to.
    pub range: Option<String>,
    /// The text that the file has at the newer end: then this is the newest commit of the range that has it.
    pub text: Option<String>,
}

/// The maximum number of commits in which a text is looked for.
const LOOKED: usize = 1000;
/// The maximum size of such a file, in bytes.
const FILE: usize = 10 << 20;

/// What to ask about a comparison.
pub enum WitnessRequest {
    /// The witness of a pair is a call with literals.
    Call(BlameRequest),
    /// The witness of the pair with this number holds more than a call can say.
    Values { request: BlameRequest, pair: usize },
}

/// What to ask about the witness of a comparison: since which commit one of its versions does what it does there. `folder` is the one in
/// which the compared files were named. An error is one line for people.
pub fn witness_request(
    report: &Comparison,
    sources: PerSide<&Source>,
    folder: &Path,
    side: Side,
    pair: Option<usize>,
) -> Result<WitnessRequest, String> {
    let all: Vec<(usize, &PairReport)> = report.pairs.iter().enumerate().collect();
    let pairs = match pair {
        None => all.into_iter().filter(|(_, pair)| pair.witness.is_some() && !pair.evidence.is_empty()).collect(),
        Some(number) => {
            let count = report.pairs.len();
            let found = all.into_iter().nth(number);
            vec![found.ok_or_else(|| format!("there is no pair {number}: there are {count}, from 0 on"))?]
        }
    };
    let texts = || sources.map(|source| source.text.as_str());
    let call = pairs.iter().find_map(|(_, pair)| witness_call(pair, texts(), side).ok());
    if let Some((function, call)) = call {
        return Ok(WitnessRequest::Call(in_repository(sources, folder, side, function, call)?));
    }
    let usable = pairs.iter().map(|(number, pair)| can_run(pair, side).map(|_| (*number, *pair)));
    let refusals: Vec<NoWitness> = usable.clone().filter_map(Result::err).collect();
    let Some((number, pair)) = usable.filter_map(Result::ok).next() else {
        let first = refusals.first().copied().unwrap_or(NoWitness::NoDifference);
        return Err(match pairs.as_slice() {
            [] => "the comparison shows no difference, so there is nothing to run".to_owned(),
            [(_, one)] => format!("the witness of {} cannot run at other commits: {first}", one.new.qualname),
            many => format!("none of the {} witnesses can run at other commits, the first because {first}", many.len()),
        });
    };
    let function = PerSide::new(&pair.old.qualname, &pair.new.qualname)[side].clone();
    let request = in_repository(sources, folder, side, function, String::new())?;
    Ok(WitnessRequest::Values { request, pair: number })
}

/// The file of one of the versions in a repository, as a request. An error is one line for people.
fn in_repository(
    sources: PerSide<&Source>,
    folder: &Path,
    side: Side,
    function: String,
    call: String,
) -> Result<BlameRequest, String> {
    // A version that was taken out of the repository has another name than there.
    let inside = |side: Side| {
        let file = folder.join(sources[side].file.as_ref()?);
        let repo = Repo::with_files_around(file.parent()?).ok()?;
        (!sources[side].is_notebook && repo.root().is_some()).then_some(file)
    };
    let file = inside(side).or_else(|| inside(side.other()));
    let file =
        file.ok_or("neither version was compared as a Python file of a git repository: compare paths of files")?;
    let folder = file.parent().map(Path::to_owned).unwrap_or_default();
    let text = Some(sources[side].text.clone());
    Ok(BlameRequest { folder: Some(folder), file, function, call, range: None, text })
}

/// The file and the function of `FILE:FUNCTION`. An error is one line for people.
pub fn file_and_function(text: &str) -> Result<(PathBuf, String), String> {
    let found = text.rsplit_once(':').map(|(file, function)| (file.trim_end_matches(':'), function));
    match found.filter(|(file, function)| !file.is_empty() && is_qualified_name(function)) {
        Some((file, function)) => Ok((file.into(), function.to_owned())),
        None => Err(format!("{text} is no FILE:FUNCTION: write e.g. src/shop/cart.py:Cart.total")),
    }
}

fn is_qualified_name(text: &str) -> bool {
    let is_name = |part: &str| {
        part.chars().all(|c| c == '_' || c.is_alphanumeric()) && part.chars().next().is_some_and(|c| !c.is_numeric())
    };
    text.split('.').all(is_name)
}

/// Since which commit the call gives its value. `progress` is told how far the search is, and may end it: then the result has
/// what is known by then.
pub fn blame_repository(
    asked: &BlameRequest,
    options: &Options,
    environment: &Environment,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<Blame, Failure> {
    crate::warm::Engine::check_process()?;
    bound_memory();
    let call = Call::read(&asked.call, &asked.function).map_err(BlameError::from)?;
    let pool = workers(options, environment, vec![]);
    watched(
        Progress { runs: 0 },
        |stop, tell| {
            let folder = asked.start();
            let repo = Repo::with_files_around(folder).map_err(BlameError::from)?;
            let request = request(&repo, folder, asked)?;
            let pool = pool.stopped_by(stop);
            pool.check()?;
            let mut probe = CallProbe::new(&request, &call, &pool)?;
            let mut go_on = |now| if tell(now).is_break() { Continue::Stop } else { Continue::Yes };
            Ok(blame(&request, &mut probe, &options.for_blame(), &mut go_on)?)
        },
        progress,
    )
}

impl BlameRequest {
    /// The folder from which the file is seen. The file may be one of earlier commits, and its folder, too.
    fn start(&self) -> &Path {
        let around = || self.file.ancestors().skip(1).find(|folder| folder.is_dir());
        let own = self.folder.as_deref();
        own.or_else(|| around().filter(|_| self.file.is_absolute())).unwrap_or(Path::new("."))
    }
}

fn request<'a>(repo: &'a Repo, folder: &Path, asked: &BlameRequest) -> Result<Request<'a>, BlameError> {
    let file = repo.inside(folder, &asked.file)?;
    let file = file.to_str().ok_or_else(|| RepoError::Outside(asked.file.clone()))?.to_owned();
    let place = Place { file, function: asked.function.clone() };
    let (newest, oldest) = match asked.range.as_deref() {
        None => (repo.commit_id(None)?, None),
        Some(text) => {
            let no_range = || RepoError::Revision { revision: text.to_owned(), reason: "write OLD..NEW".to_owned() };
            let range = Range::parse(text).ok_or_else(no_range)?;
            let newest = repo.commit_id(Some(range.new.unwrap_or("HEAD")))?;
            let named = repo.commit_id(Some(range.old))?;
            let shared =
                || RepoError::NoBase { old: range.old.to_owned(), new: range.new.unwrap_or("HEAD").to_owned() };
            let oldest = if range.from_base { repo.common(named, newest).ok_or_else(shared)? } else { named };
            (newest, Some(oldest))
        }
    };
    let newest = match &asked.text {
        None => newest,
        Some(text) => with_text(repo, Path::new(&place.file), text, (newest, oldest))?
            .ok_or_else(|| BlameError::NoVersion { file: place.file.clone(), commits: LOOKED })?,
    };
    Ok(Request { repo, place, decode: python_source, newest, oldest })
}

/// The newest commit of a line that has a file with this text.
fn with_text(
    repo: &Repo,
    file: &Path,
    text: &str,
    (newest, oldest): (CommitId, Option<CommitId>),
) -> Result<Option<CommitId>, RepoError> {
    let mut seen = None;
    for commit in repo.line(newest, oldest, LOOKED)? {
        let found = repo.file_at(commit, file)?;
        if found.is_none() || found == seen {
            continue;
        }
        seen = found;
        let bytes = found.map(|id| repo.bytes(id, FILE)).transpose()?.flatten();
        if bytes.is_some_and(|bytes| python_source(&bytes).is_ok_and(|other| other == text)) {
            return Ok(Some(commit));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_absolute_path_says_where_its_repository_is() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("shop");
        std::fs::create_dir(&inner).unwrap();
        let asked = |folder: Option<&Path>, file: PathBuf| BlameRequest {
            folder: folder.map(Path::to_owned),
            file,
            function: "f".into(),
            call: "f()".into(),
            range: None,
            text: None,
        };
        // Its own folder may be gone.
        for file in ["shop/cart.py", "shop/old/cart.py"] {
            assert_eq!(asked(None, folder.path().join(file)).start(), inner);
        }
        assert_eq!(asked(Some(Path::new("/named")), inner.join("cart.py")).start(), Path::new("/named"));
        assert_eq!(asked(None, "shop/cart.py".into()).start(), Path::new("."));
    }

    #[test]
    fn a_function_is_named_with_its_file() {
        let found = |text| file_and_function(text).map(|(file, function)| (file.display().to_string(), function));
        assert_eq!(found("a/b.py:C.f"), Ok(("a/b.py".into(), "C.f".into())));
        assert_eq!(found("a/b.py::f"), Ok(("a/b.py".into(), "f".into())));
        for text in ["a.py", ":f", "a.py:", "a.py:f()", "a.py:1f", "a.py:\u{1b}[31m"] {
            assert!(found(text).is_err(), "{text}");
        }
    }
}
