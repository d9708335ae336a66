//! Since which commit of a repository a call gives its value, with the warm workers.

use std::ops::ControlFlow;
use std::path::PathBuf;

use twincell_blame::{Blame, BlameError, Call, Continue, Place, Progress, Request, blame};
use twincell_repo::{Range, Repo, RepoError, bound_memory};

use crate::decode::python_source;
use crate::options::Options;
use crate::waiting::watched;
use crate::warm::{Environment, Failure, workers};

/// What a user asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlameRequest {
    /// Any folder of the repository. The file is seen from there.
    pub folder: PathBuf,
    pub file: PathBuf,
    /// The qualified name of the function.
    pub function: String,
    /// A call of it.
    pub call: String,
    /// `OLD..NEW`, or `OLD` up to the current commit. Without one, the search begins at the current commit and goes as far
    /// back as it has to.
    pub range: Option<String>,
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
            let repo = Repo::with_files_around(&asked.folder).map_err(BlameError::from)?;
            let request = request(&repo, asked, &call)?;
            let pool = pool.stopped_by(stop);
            pool.check()?;
            let mut go_on = |now| if tell(now).is_break() { Continue::Stop } else { Continue::Yes };
            Ok(blame(&request, &pool, &options.for_blame(), &mut go_on)?)
        },
        progress,
    )
}

fn request<'a>(repo: &'a Repo, asked: &BlameRequest, call: &'a Call) -> Result<Request<'a>, BlameError> {
    let file = repo.inside(&asked.folder, &asked.file)?;
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
    Ok(Request { repo, place, call, decode: python_source, newest, oldest })
}

#[cfg(test)]
mod tests {
    use super::*;

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
