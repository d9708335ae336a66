//! Prefixes for a snippet: [`prefixes_text`] for terminals, [`prefixes_fragment`] for a notebook's output area, and
//! [`prefixes_page`] for a file of its own, and [`prefixes_pytest`] for a project's tests. This file has the sentences that
//! views say.

mod difference;
mod html;
mod pytest;
pub(crate) mod state;
mod study;
mod text;
mod tree;

use twincell_engine::protocol::{End, Raise};
use twincell_prefix::{Compact, Guidance, Library, NotInstalled, Origin, Prefix, Prefixes};

use crate::{plain, words};

pub use html::{prefixes_fragment, prefixes_page};
pub use pytest::{NO_TEST, prefixes_pytest};
pub use state::{PrefixesState, prefixes_state};
pub use study::{Left, PrefixFigures, Reached, Spread, prefix_study_fragment, prefix_study_page, prefix_study_text};
pub use text::prefixes_text;

pub(crate) use pytest::{beginning, test_of};
pub(crate) use tree::listed;

/// How many lines run, and behind how many prefixes.
pub(crate) fn headline(prefixes: &Prefixes) -> String {
    let covered = words::number(prefixes.covered.len());
    let lines = words::count(prefixes.lines.len(), "line");
    let tried = prefixes.nodes.len();
    match prefixes.chosen.len() {
        0 => format!("{covered} of {lines} run; {} tried", counted(tried)),
        chosen => format!("{covered} of {lines} run, with {} of {} tried", counted(chosen), words::number(tried)),
    }
}

/// A prefix as it is shown.
pub(crate) fn shown(prefixes: &Prefixes, node: &Prefix) -> String {
    match node.text.is_empty() {
        false => plain::file(&node.text),
        true if node.completed.len() < prefixes.lines.len() => "# (nothing is needed for these lines)".to_owned(),
        true => "# (nothing is needed)".to_owned(),
    }
}

/// What there is to say besides the prefixes, as (name, text).
pub(crate) fn facts(prefixes: &Prefixes) -> Vec<(&'static str, String)> {
    let missed = not_reached(prefixes).map(|lines| ("Not reached", lines));
    let uncalled = uncalled(prefixes).map(|names| ("Not called", names));
    let asked = asked(prefixes).map(|said| ("Language model", said));
    let libraries = libraries(prefixes).into_iter().map(|said| ("Libraries", said));
    let stopped = prefixes.stopped.then(|| ("Note", STOPPED.to_owned()));
    let files = beside(prefixes).map(|said| ("Files", said));
    let nothing = nothing(prefixes).map(|end| ("The last one tried", end));
    missed
        .into_iter()
        .chain(uncalled)
        .chain(nothing)
        .chain(asked)
        .chain(libraries)
        .chain(files)
        .chain(stopped)
        .collect()
}

/// The lines of a snippet by number, without the gaps that definitions which nobody needs have left.
pub(crate) fn code_lines(snippet: &str) -> Vec<(u32, &str)> {
    let all: Vec<&str> = snippet.lines().collect();
    let kept = Compact::new(snippet).lines;
    kept.into_iter().filter_map(|number| Some((number, *all.get(number as usize - 1)?))).collect()
}

/// Why nothing runs, behind the prefix that was tried last.
pub(crate) fn nothing(prefixes: &Prefixes) -> Option<String> {
    let last = prefixes.nodes.last().filter(|_| prefixes.covered.is_empty() && !prefixes.lines.is_empty())?;
    ended(&last.end)
}

/// The lines that no prefix covers.
fn not_reached(prefixes: &Prefixes) -> Option<String> {
    let is_missing = |line: &&u32| prefixes.covered.binary_search(line).is_err();
    // Lines without code between two that are missing do not part them.
    let runs = prefixes.lines.chunk_by(|one, next| is_missing(&one) == is_missing(&next));
    let missing: Vec<&[u32]> = runs.filter(|run| run.first().is_some_and(|line| is_missing(&line))).collect();
    let said = missing.iter().map(|run| match *run {
        [first, .., last] => format!("{first}-{last}"),
        [one] => one.to_string(),
        [] => String::new(),
    });
    let said: Vec<String> = said.collect();
    match missing.as_slice() {
        [] => None,
        [[_]] => Some(format!("line {}", said.concat())),
        _ => Some(format!("lines {}", said.join(", "))),
    }
}

/// The functions that the code never calls.
fn uncalled(prefixes: &Prefixes) -> Option<String> {
    (!prefixes.uncalled.is_empty()).then(|| listed_names(prefixes.uncalled.iter()))
}

/// The first few names, and how many there are more.
fn listed_names<'n>(names: impl Iterator<Item = &'n String>) -> String {
    const LISTED: usize = 6;
    let names: Vec<&String> = names.collect();
    let more = names.len().saturating_sub(LISTED);
    let first: Vec<String> = names.iter().take(LISTED).map(|name| plain::value(name)).collect();
    let rest = if more > 0 { format!(" and {} more", words::number(more)) } else { String::new() };
    first.join(", ") + &rest
}

/// What every view says of a search that did not come to its end.
const STOPPED: &str = "the search was stopped before it was done";

/// What a prefix was made from, by whom if not by executions, and what makes it less than real.
pub(crate) fn from(node: &Prefix) -> String {
    let guidance = match node.guidance {
        Guidance::Undefinedness => "from what the code leaves undefined",
        Guidance::Error => "from the error of another",
        Guidance::Coverage => "from lines that nothing had reached",
    };
    let mut said = vec![guidance.to_owned()];
    said.extend((node.origin == Origin::Llm).then(|| "by the language model".to_owned()));
    said.extend((node.mocks() > 0).then(|| format!("with {}", words::count(node.mocks() as usize, "mock"))));
    let redefined = node.redefined();
    said.extend((!redefined.is_empty()).then(|| format!("with another {} than Python's", redefined.join(", "))));
    said.join(", ")
}

/// What the language model has used, and why it was asked no more.
fn asked(prefixes: &Prefixes) -> Option<String> {
    let used = (prefixes.tokens > 0)
        .then(|| format!("the language model used {} tokens", words::number(prefixes.tokens as usize)));
    let said: Vec<String> = used.into_iter().chain(prefixes.problem.as_deref().map(plain::sentence)).collect();
    (!said.is_empty()).then(|| said.join("; "))
}

/// What was installed for the code, and what was not and why.
fn libraries(prefixes: &Prefixes) -> Vec<String> {
    let is_there = |library: &&Library| library.problem.is_none();
    let there: Vec<String> = prefixes.libraries.iter().filter(is_there).map(brought).collect();
    let installed = (!there.is_empty()).then(|| format!("installed for the code: {}", there.join(", ")));
    let missing = prefixes.libraries.iter().filter_map(|library| {
        let reason = match library.problem.as_ref()? {
            NotInstalled::Unknown => "nobody knows which distribution brings it".to_owned(),
            NotInstalled::NoInstaller => "there is neither uv nor pip".to_owned(),
            NotInstalled::Refused { message } => plain::sentence(message),
            NotInstalled::Lacking => "the distribution does not bring it".to_owned(),
            NotInstalled::Stopped => "stopped before it was done".to_owned(),
        };
        Some(format!("not installed, so that something stands in for it: {}: {reason}", brought(library)))
    });
    installed.into_iter().chain(missing).collect()
}

/// What the code uses of the files beside it.
fn beside(prefixes: &Prefixes) -> Option<String> {
    let used = prefixes.beside.as_ref()?;
    let files = listed_names(used.modules.iter().chain(&used.data));
    Some(match &used.problem {
        None => format!("used from {}: {files}", plain::value(&used.folder)),
        Some(problem) => {
            format!("could not be copied, so that something stands in for {files}: {}", plain::sentence(problem))
        }
    })
}

/// `yaml (PyYAML)`
fn brought(library: &Library) -> String {
    let module = plain::value(&library.module);
    match &library.distribution {
        Some(distribution) if *distribution != library.module => format!("{module} ({})", plain::value(distribution)),
        _ => module,
    }
}

/// How the code ends behind a prefix, if not by itself.
pub(crate) fn ended(end: &End) -> Option<String> {
    Some(match end {
        End::Whole => return None,
        End::Steps => "stopped after many steps".into(),
        End::Time => "stopped since it took too long".into(),
        End::Waits => "waits for ever: nothing brings what its event loop waits for".into(),
        End::Unreadable { line, message } => format!("line {line} cannot be read: {}", plain::sentence(message)),
        End::Lost { reason } => format!("lost: {}", plain::sentence(reason)),
        End::Raised(raise) => {
            let Raise { class, message, line, in_snippet, .. } = &**raise;
            let place = if *in_snippet { format!("line {line}") } else { format!("line {line} of the prefix") };
            format!("ends at {place} with {}: {}", plain::sentence(class), plain::sentence(message))
        }
    })
}

fn counted(prefixes: usize) -> String {
    if prefixes == 1 { "1 prefix".into() } else { format!("{} prefixes", words::number(prefixes)) }
}

/// That a text has no such function, and which ones it has.
pub fn no_function(label: &str, text: &str, name: &str) -> String {
    const LISTED: usize = 8;
    let (found, _) = twincell_syntax::functions(text);
    let outer = found.iter().filter(|function| function.parent.is_none());
    let mut names: Vec<&str> = outer.map(|function| function.qualname.as_str()).collect();
    // Of a class, its methods.
    let methods: Vec<&str> =
        names.iter().copied().filter(|known| known.split('.').next() == Some(name) && known.contains('.')).collect();
    if !methods.is_empty() {
        names = methods;
    }
    let more = if names.len() > LISTED { ", ..." } else { "" };
    names.truncate(LISTED);
    let listed = if names.is_empty() { "it has none".to_owned() } else { format!("it has {}{more}", names.join(", ")) };
    format!("{label} has no function {name}: {listed}")
}
