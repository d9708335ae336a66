//! `twincell compare`: two files, or what changed between two revisions.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::ArgMatches;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use twincell_compare::notice::{Notice, Place};
use twincell_compare::report::Comparison;
use twincell_compare::verdict::Verdict;
use twincell_compare::{CompareError, CompareOptions, Continue, Progress, Source, unknown_functions};
use twincell_driver::command_line;
use twincell_driver::failure::Failure;
use twincell_driver::notebook::NotebookError;
use twincell_driver::options::{Job, Options};
use twincell_driver::policy::{BASELINE, Base, named};
use twincell_driver::warm::Engine;
use twincell_driver::{files, reproducers};
use twincell_engine::protocol::Context;
use twincell_syntax::{SNIPPET, Side};
use twincell_testing::is_test;
use twincell_widgets::export::ExportRow;
use twincell_widgets::{Advice, Format, Notices, Report, SummaryFile, TextOptions, plain_sentence, render};

use crate::accepted::Accepted;
use crate::exports;
use crate::git::{ChangedFile, ChangedFiles, Copies, changed_files, trusted, work_tree};
use crate::pager;
use crate::session::{Abort, Limits, Session, UNCHANGED};

/// The maximum number of functions that are proposed in place of an unknown one.
const ALIKE: usize = 3;
/// The number of digits of a whole hash of git, and how many of them are shown.
const HASH: usize = 40;
const DIGITS: usize = 10;

pub fn run(matches: &ArgMatches, session: &mut Session<'_>) -> Result<i32, Abort> {
    if matches.get_flag("no-color") {
        session.color = false;
    }
    let files: Vec<PathBuf> = matches.get_many::<PathBuf>("files").into_iter().flatten().cloned().collect();
    if let Some(range) = matches.get_one::<String>("git") {
        let here = std::env::current_dir().map_err(Abort::new)?;
        let staged = matches.get_flag("staged");
        let given = command_line::given(matches, Job::Compare).map_err(Abort::new)?;
        let base = trusted(&here, range, staged, named(&given).as_deref()).map_err(Abort::new)?;
        let limits = Limits::of(Job::Compare, base.policy.as_ref(), &given, session)?;
        return revisions(&Range { here, range, staged }, &files, base, limits, matches, session);
    }
    let limits = Limits::read(matches, Job::Compare, session)?;
    match files.as_slice() {
        [old, new] => two_texts(&read_version(old)?, &read_version(new)?, &limits, matches, session),
        _ => Err(Abort::Failed(format!(
            "{} given: give two files, OLD.py and NEW.py, or --git OLD..NEW",
            if files.len() == 1 { "1 file".to_owned() } else { format!("{} files", files.len()) }
        ))),
    }
}

/// What is compared.
struct Range<'a> {
    here: PathBuf,
    range: &'a str,
    staged: bool,
}

fn read_version(path: &Path) -> Result<Source, Abort> {
    files::read_version(path).map_err(Abort::Failed)
}

fn two_texts(
    old: &Source,
    new: &Source,
    limits: &Limits,
    matches: &ArgMatches,
    session: &mut Session<'_>,
) -> Result<i32, Abort> {
    let options = &limits.options;
    let engine = Engine::warm(options, &session.environment).map_err(Abort::new)?;
    let path = std::path::absolute(&new.label).unwrap_or_else(|_| (&new.label).into());
    let Watched { result, stopped } = watched(&engine, old, new, &options.for_file(&path), "", session);
    let comparison = result.map_err(Abort::new)?;
    let mut notices = limits.weakened.clone();
    notices.extend(Notice::of_comparison(&comparison, Some(&new.label), limits.usual));
    let rows = linked(ExportRow::of_comparison(&comparison, Some(&new.label)), matches);
    let file = SummaryFile { path: &new.label, is_test: false, result: Ok(&comparison) };
    let report = Report {
        range: None,
        title: &format!("{} and {}", old.label, new.label),
        verdict: comparison.verdict,
        files: &[file],
        whole: Some(&comparison),
        rows: &rows,
        notices: Notices { all: &notices, allows_changes: options.allow_policy_change },
        advice: Advice { amplify: None, recorded: options.recorded.is_none() },
        layout: layout(session),
        version: env!("CARGO_PKG_VERSION"),
    };
    // A file that cannot be written costs nobody the report.
    let is_whole = shows_details(matches, options) || changes(&comparison) <= 1;
    print(is_whole, &report, matches, session)?;
    write_html(&report, matches)?;
    write_reproducer(&comparison, matches, session)?;
    exports::write(&report, matches)?;
    if stopped { Err(Abort::Interrupted) } else { Ok(exports::status(comparison.verdict, report.notices, matches)) }
}

/// Prints a report in the wanted format, or as text: all of it, or few lines.
fn print(is_whole: bool, report: &Report<'_>, matches: &ArgMatches, session: &mut Session<'_>) -> Result<(), Abort> {
    let format = match is_whole {
        _ if matches.get_flag("json") => Format::Json,
        _ if matches.get_flag("github") => {
            return Ok(session.out.write_commands(&render(Format::Annotations, report))?);
        }
        true => return Ok(pager::show(&render(Format::Text, report), session)?),
        false => Format::Summary,
    };
    write!(session.out, "{}", render(format, report))?;
    Ok(())
}

/// Whether all is printed of each function, and not only what changed in it.
fn shows_details(matches: &ArgMatches, options: &Options) -> bool {
    matches.get_flag("verbose") || options.function.is_some()
}

/// The rows, with links to their lines if an address is given.
fn linked(mut rows: Vec<ExportRow>, matches: &ArgMatches) -> Vec<ExportRow> {
    if let Some(files) = matches.get_one::<String>("link") {
        rows.iter_mut().for_each(|row| row.link_below(files));
    }
    rows
}

/// The number of functions that are not the same program.
fn changes(comparison: &Comparison) -> usize {
    comparison.pairs.iter().filter(|pair| pair.verdict != Verdict::Identical).count()
}

/// One changed file, compared or not.
struct Compared {
    path: String,
    result: Result<Comparison, String>,
}

impl Compared {
    fn in_summary(&self) -> SummaryFile<'_> {
        SummaryFile {
            path: &self.path,
            is_test: is_test(&self.path),
            result: self.result.as_ref().map_err(String::as_str),
        }
    }

    /// Its functions as other programs read them.
    fn rows(&self) -> Vec<ExportRow> {
        match &self.result {
            Ok(comparison) => ExportRow::of_comparison(comparison, Some(&self.path)),
            Err(reason) => vec![ExportRow::failed(&self.path, reason)],
        }
    }
}

fn revisions(
    range: &Range<'_>,
    paths: &[PathBuf],
    base: Base,
    limits: Limits,
    matches: &ArgMatches,
    session: &mut Session<'_>,
) -> Result<i32, Abort> {
    let Range { here, range, staged } = range;
    let (range, staged) = (*range, *staged);
    let Limits { mut options, weakened, usual } = limits;
    // The examples may be of other files of the range.
    options.given.is_shared = true;
    let options = &options;
    let root = work_tree(here).unwrap_or_else(|| here.clone());
    // A file that cannot be read is told before anything runs.
    let accepted = Accepted::of(&base.baseline, &format!("{BASELINE} of the old version")).map_err(Abort::Failed)?;
    let mut files = changed_files(here, range, staged, paths, options.max_source << 20).map_err(Abort::new)?;
    let place = place(range, staged);
    let mut notices = base.changes;
    notices.extend(accepted.notice());
    notices.extend(weakened);
    notices.extend(of_files(&files));
    // Whoever names files, or asks for everything, wants tests as well.
    let is_asked = !paths.is_empty() || options.function.is_some() || matches.get_flag("verbose");
    let tests = if is_asked { vec![] } else { files.leave_out_tests() };
    notices.extend((!tests.is_empty()).then_some(Notice::TestsLeftOut { files: tests }));
    let mut compared: Vec<Compared> = Vec::new();
    let (mut stopped, mut left) = (false, Vec::new());
    // What is accepted depends on the other modules in them.
    let copies: Option<Copies>;
    let mut others: BTreeSet<String> = BTreeSet::new();
    for (path, reason) in &files.unreadable {
        compared.push(Compared { path: path.clone(), result: Err(reason.clone()) });
    }
    if !files.modified.is_empty() {
        let engine = Engine::warm(options, &session.environment).map_err(Abort::new)?;
        engine.check_workers().map_err(Abort::new)?;
        copies = match options.context {
            Context::Function => None,
            Context::Module => match Copies::new(here, range, staged, &engine.projects().map_err(Abort::new)?) {
                Ok(copies) => copies,
                Err(error) => {
                    notices.push(Notice::NotCopied { reason: error.to_string() });
                    None
                }
            },
        };
        // If one function alone is compared, nothing judges the others.
        let is_compared = |file: &&ChangedFile| {
            options.function.is_none() && options.paths.excluded(&root.join(&file.path)).is_none()
        };
        let compared_files: BTreeSet<String> =
            files.modified.iter().filter(is_compared).map(|file| file.path.clone()).collect();
        let count = files.modified.len();
        for (number, file) in files.modified.iter_mut().enumerate() {
            if let Some(copies) = &copies {
                copies.place(file);
            }
            let place = root.join(&file.path);
            if let Some(pattern) = options.paths.excluded(&place) {
                notices.push(Notice::Excluded { file: file.path.clone(), pattern: pattern.to_owned() });
                continue;
            }
            if stopped {
                left.push(file.path.clone());
                continue;
            }
            let core = CompareOptions { compared_files: compared_files.clone(), ..options.for_file(&place) };
            let name = format!("file {} of {count}, {}:", number + 1, file.path);
            let now = watched(&engine, &file.old, &file.new, &core, &name, session);
            stopped = now.stopped;
            match now.result {
                Ok(comparison) => compared.push(Compared { path: file.path.clone(), result: Ok(comparison) }),
                // Another file has it.
                Err(Failure::Compare(CompareError::UnknownFunction { known, .. })) if options.function.is_some() => {
                    others.extend(known);
                }
                Err(failure) if nothing_to_compare(&failure) => {
                    notices.push(Notice::NothingToCompare { file: file.path.clone(), reason: failure.to_string() });
                }
                Err(failure) => compared.push(Compared { path: file.path.clone(), result: Err(failure.to_string()) }),
            }
        }
    }
    notices.extend((!left.is_empty()).then_some(Notice::Stopped { files: left }));
    let found_none = compared.is_empty() && !files.modified.is_empty() && !stopped;
    if let (Some(function), true) = (&options.function, found_none) {
        let alike = alike(function, &others).map_or_else(String::new, |names| format!("; did you mean {names}?"));
        return Err(Abort::Failed(format!(
            "no changed file has the function {function} in both revisions of {range}{alike}"
        )));
    }
    notices.extend(unknown_examples(&files, options));
    let reason = matches.get_one::<String>("accept").map(String::as_str);
    if reason.is_some() && stopped {
        writeln!(session.err, "twincell: nothing was accepted, since the comparison was stopped")?;
    }
    // A partial comparison must not become the baseline.
    accept(accepted, &mut compared, &files, reason.filter(|_| !stopped), &root, session)?;
    for file in &compared {
        if let Ok(comparison) = &file.result {
            notices.extend(Notice::of_comparison(comparison, Some(&file.path), usual));
        }
    }
    let verdict = overall(&compared);
    let rows = linked(compared.iter().flat_map(Compared::rows).collect(), matches);
    let whole = merged(&compared, verdict);
    // It takes no files, and the commit as a whole.
    let amplify = amplify(range, staged, options.python.as_deref()).filter(|_| paths.is_empty());
    let in_summary: Vec<SummaryFile<'_>> = compared.iter().map(Compared::in_summary).collect();
    let report = Report {
        range: Some(range),
        title: &place,
        verdict,
        files: &in_summary,
        whole: whole.as_ref(),
        rows: &rows,
        notices: Notices { all: &notices, allows_changes: options.allow_policy_change },
        advice: Advice { amplify: amplify.as_deref(), recorded: options.recorded.is_none() },
        layout: layout(session),
        version: env!("CARGO_PKG_VERSION"),
    };
    print(compared.is_empty() || shows_details(matches, options), &report, matches, session)?;
    write_html(&report, matches)?;
    if let Some(whole) = &whole {
        write_reproducer(whole, matches, session)?;
    }
    exports::write(&report, matches)?;
    if stopped {
        return Err(Abort::Interrupted);
    }
    if !compared.is_empty() && compared.iter().all(|file| file.result.is_err()) {
        return Err(Abort::Failed(format!("none of the files that changed {place} could be compared")));
    }
    let status = exports::status(verdict, report.notices, matches);
    if report.notices.fail() {
        writeln!(
            session.err,
            "twincell: the policy or the accepted differences changed; --allow-policy-change lets this pass"
        )?;
    }
    // Git's hooks know which index is to be committed.
    if status != UNCHANGED && staged && std::env::var_os("GIT_INDEX_FILE").is_some() {
        writeln!(session.err, "twincell: the commit was stopped; `git commit --no-verify` commits anyway")?;
    }
    Ok(status)
}

/// Suppresses what somebody accepted, and with a reason the rest, too.
fn accept(
    mut accepted: Accepted,
    compared: &mut [Compared],
    files: &ChangedFiles,
    reason: Option<&str>,
    root: &Path,
    session: &mut Session<'_>,
) -> Result<(), Abort> {
    for one in compared {
        let file = files.modified.iter().find(|file| file.path == one.path);
        if let (Ok(comparison), Some(file)) = (&mut one.result, file) {
            accepted.apply(file, comparison, reason);
        }
    }
    if reason.is_none() {
        return Ok(());
    }
    let (fresh, refused) = accepted.fresh();
    let noun = if fresh == 1 { "difference" } else { "differences" };
    for function in refused {
        writeln!(
            session.err,
            "twincell: the difference of {} was not accepted: it comes from nothing that the function or what it uses says",
            plain_sentence(function)
        )?;
    }
    if fresh > 0 {
        accepted.write(root).map_err(Abort::Failed)?;
    }
    writeln!(session.err, "twincell: accepted {fresh} new {noun} in {BASELINE}")?;
    Ok(())
}

/// Where the compared code changed.
fn place(range: &str, staged: bool) -> String {
    match range {
        _ if staged => format!("in what is staged since {range}"),
        range if range.contains("..") => format!("in {range}"),
        range => format!("since {range}"),
    }
}

/// Those of these functions that have the same name within their class, whatever the case: `Cart.total` for `total`.
fn alike(function: &str, others: &BTreeSet<String>) -> Option<String> {
    let last = |name: &str| name.rsplit('.').next().unwrap_or(name).to_lowercase();
    let alike: Vec<&str> =
        others.iter().filter(|other| last(other) == last(function)).take(ALIKE).map(String::as_str).collect();
    (!alike.is_empty()).then(|| alike.join(" or "))
}

/// A range with the first digits of whole hashes, which are enough.
fn abbreviated(range: &str) -> String {
    let words = range.split_inclusive(|one: char| !one.is_ascii_hexdigit());
    let short = words.map(|word| {
        let digits = word.bytes().take_while(u8::is_ascii_hexdigit).count();
        if digits == HASH { [&word[..DIGITS], &word[digits..]].concat() } else { word.to_owned() }
    });
    short.collect()
}

/// The command that amplifies the same change. `amplify` compares a single commit with its parent, so there is none for
/// what changed since an older commit.
fn amplify(range: &str, staged: bool, python: Option<&Path>) -> Option<String> {
    let mut words = vec!["twincell", "amplify"];
    let range = abbreviated(range);
    match range.as_str() {
        "HEAD" => words.extend(staged.then_some("--staged")),
        range if range.contains("..") && !staged => words.push(range),
        _ => return None,
    }
    if let Some(python) = python {
        words.extend(["--python", python.to_str()?]);
    }
    // Shells take these as they are.
    let is_plain = |word: &str| word.chars().all(|one| one.is_alphanumeric() || "-_./~^@:+".contains(one));
    let quoted = |word| if is_plain(word) { Ok(word.into()) } else { shlex::try_quote(word) };
    let words = words.into_iter().map(quoted).collect::<Result<Vec<_>, _>>();
    words.ok().map(|words| words.join(" "))
}

/// A file without functions in common has no behavior to compare. For a whole range this is not a failure.
fn nothing_to_compare(failure: &Failure) -> bool {
    matches!(
        failure,
        Failure::Compare(
            CompareError::NoFunction { .. }
                | CompareError::UnknownFunction { .. }
                | CompareError::NothingInCommon { .. }
        ) | Failure::Notebook(NotebookError::NothingInCommon { .. })
    )
}

/// What to say of examples whose functions no changed file has.
fn unknown_examples(changed: &ChangedFiles, options: &Options) -> Option<Notice> {
    // Cells are compared one by one.
    if changed.modified.iter().any(|file| files::is_notebook(Path::new(&file.path))) {
        return None;
    }
    let texts = changed.modified.iter().flat_map(|file| [file.old.text.as_str(), file.new.text.as_str()]);
    let functions: Vec<String> = unknown_functions(texts, &options.given).into_iter().collect();
    (!functions.is_empty()).then_some(Notice::UnknownExamples { functions })
}

/// What to say of files that are not compared.
fn of_files(files: &ChangedFiles) -> Vec<Notice> {
    let one_sided = |file: &String, side| Notice::OneSided { file: file.clone(), side };
    let added = files.added.iter().map(|file| one_sided(file, Side::New));
    let mut notices: Vec<Notice> = added.chain(files.removed.iter().map(|file| one_sided(file, Side::Old))).collect();
    notices.extend(files.replacing.iter().map(|(file, first, more)| Notice::MayReplace {
        place: Place { file: Some(file.clone()), function: SNIPPET.to_owned() },
        side: Side::New,
        line: first.line,
        more: *more,
        target: first.target.clone(),
    }));
    if !files.untracked.is_empty() {
        notices.push(Notice::Untracked { files: files.untracked.clone() });
    }
    // Where code changed as well, a comparison says what it does.
    if notices.is_empty() && files.modified.is_empty() && files.unreadable.is_empty() && !files.others.is_empty() {
        notices.push(Notice::NotPython { files: files.others.clone() });
    }
    if !files.elsewhere.is_empty() {
        notices.push(Notice::LeadsElsewhere { files: files.elsewhere.clone() });
    }
    notices
}

/// A comparison, and whether the user stopped it: then it holds what was found until then.
struct Watched {
    result: Result<Comparison, Failure>,
    stopped: bool,
}

/// Compares, shows progress, and watches for Ctrl-C.
fn watched(
    engine: &Engine,
    old: &Source,
    new: &Source,
    options: &CompareOptions,
    name: &str,
    session: &mut Session<'_>,
) -> Watched {
    let target = if session.progress { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
    let bar = ProgressBar::with_draw_target(None, target);
    if let Ok(style) = ProgressStyle::with_template("{msg} {wide_bar} {pos}/{len} {elapsed}") {
        bar.set_style(style);
    }
    let (name, mut stopped) = (plain_sentence(name), false);
    let result = engine.compare(old, new, options, &mut |progress: Progress| {
        bar.set_length(progress.budget.into());
        bar.set_position(progress.executions.into());
        bar.set_message(format!("{name} pair {} of {}", progress.pair + 1, progress.pairs).trim().to_owned());
        stopped = stopped || (session.interrupted)();
        if stopped { Continue::Stop } else { Continue::Yes }
    });
    bar.finish_and_clear();
    Watched { result, stopped: stopped || (session.interrupted)() }
}

fn overall(compared: &[Compared]) -> Verdict {
    let verdicts = compared.iter().map(|file| file.result.as_ref().map_or(Verdict::Inconclusive, |one| one.verdict));
    Verdict::worst(verdicts)
}

/// All files as one report, for one page. Functions are called `path::name`.
fn merged(compared: &[Compared], verdict: Verdict) -> Option<Comparison> {
    let files = compared.iter().filter_map(|file| file.result.as_ref().ok().map(|one| (&file.path, one)));
    let named = |path: &str, name: &str| format!("{path}::{name}");
    let prefixed = |path: &str, comparison: &Comparison| {
        let mut one = comparison.clone();
        for pair in &mut one.pairs {
            pair.old.qualname = named(path, &pair.old.qualname);
            pair.new.qualname = named(path, &pair.new.qualname);
        }
        for name in one.added.iter_mut().chain(&mut one.removed) {
            *name = named(path, name);
        }
        one
    };
    let mut whole = Comparison::of_files(files.map(|(path, comparison)| prefixed(path, comparison)))?;
    whole.verdict = verdict;
    Some(whole)
}

fn layout(session: &Session<'_>) -> TextOptions {
    TextOptions { color: session.color, width: session.width }
}

fn write_html(report: &Report<'_>, matches: &ArgMatches) -> Result<(), Abort> {
    let Some(path) = matches.get_one::<PathBuf>("html") else { return Ok(()) };
    files::write_text(path, &render(Format::Html, report), files::TextKind::Markup).map_err(Abort::Failed)
}

/// The messages go to standard error, since standard output may be JSON.
fn write_reproducer(comparison: &Comparison, matches: &ArgMatches, session: &mut Session<'_>) -> Result<(), Abort> {
    let Some(path) = matches.get_one::<PathBuf>("reproducer") else { return Ok(()) };
    for line in reproducers::write(comparison, path).map_err(Abort::Failed)? {
        writeln!(session.err, "{}", plain_sentence(&line))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::command;
    use twincell_samples::{comparison, pair};
    use twincell_widgets::notice_sentence;

    #[test]
    fn notes_name_what_is_not_compared() {
        let names = |count: usize| (0..count).map(|number| format!("{number}.x")).collect::<Vec<_>>();
        let files = ChangedFiles { untracked: names(7), others: names(1), ..ChangedFiles::default() };
        let expected = "not compared, since git does not track it: 0.x, 1.x, 2.x, 3.x, 4.x and 2 more";
        let said = |files| of_files(&files).iter().map(notice_sentence).collect::<Vec<_>>();
        assert_eq!(said(files), [expected]);
        let files = ChangedFiles { others: names(2), ..ChangedFiles::default() };
        assert_eq!(said(files), ["changed, and no Python: 0.x, 1.x"]);
    }

    fn compared(path: &str, verdict: Verdict) -> Compared {
        Compared { path: path.to_owned(), result: Ok(comparison(vec![pair(verdict)])) }
    }

    #[test]
    fn the_exit_status_is_the_worst_verdict_that_may_fail() {
        use Verdict::{Changing, Identical, Inconclusive, LikelyPreserving};
        let status = |verdict: Verdict, arguments: &[&str]| {
            let command = crate::arguments::command();
            let matches = command.try_get_matches_from([&["compare", "a", "b"], arguments].concat()).unwrap();
            exports::status(verdict, Notices::default(), matches.subcommand_matches("compare").unwrap())
        };
        let of = |verdicts: &[Verdict]| {
            let files: Vec<_> = verdicts.iter().map(|verdict| compared("a.py", *verdict)).collect();
            status(overall(&files), &[])
        };
        assert_eq!(of(&[]), 0);
        assert_eq!(of(&[Identical, LikelyPreserving]), 0);
        assert_eq!(of(&[LikelyPreserving, Inconclusive]), 2);
        assert_eq!(of(&[Changing, Inconclusive, Identical]), 1);
        let failed = Compared { path: "b.py".to_owned(), result: Err("not Python".to_owned()) };
        assert_eq!(overall(&[compared("a.py", Identical), failed]), Inconclusive);
        let fail_on = |mildest: &str| [Changing, Inconclusive].map(|worst| status(worst, &["--fail-on", mildest]));
        assert_eq!([fail_on("inconclusive"), fail_on("changing"), fail_on("never")], [[1, 2], [1, 0], [0, 0]]);
    }

    #[test]
    fn files_are_one_report_with_the_path_before_each_function() {
        let whole =
            merged(&[compared("a.py", Verdict::Identical), compared("b.py", Verdict::Changing)], Verdict::Changing);
        let whole = whole.unwrap();
        let names: Vec<_> = whole.pairs.iter().map(|pair| pair.new.qualname.as_str()).collect();
        assert_eq!((names, whole.verdict), (vec!["a.py::f", "b.py::f"], Verdict::Changing));
        assert!(merged(&[], Verdict::Identical).is_none());
    }

    fn report<'a>(files: &'a [SummaryFile<'a>], notices: &'a [Notice]) -> Report<'a> {
        Report {
            range: Some("A..B"),
            title: "in A..B",
            verdict: Verdict::Changing,
            files,
            whole: None,
            rows: &[],
            notices: Notices { all: notices, allows_changes: false },
            advice: Advice::default(),
            layout: TextOptions { color: false, width: 80 },
            version: "1",
        }
    }

    #[test]
    fn the_json_of_a_range_lists_every_file() {
        let failed = Compared { path: "b.py".to_owned(), result: Err("not Python".to_owned()) };
        let all = [compared("a.py", Verdict::Changing), failed];
        let files: Vec<SummaryFile<'_>> = all.iter().map(Compared::in_summary).collect();
        let notices = [Notice::OneSided { file: "n.py".to_owned(), side: Side::New }];
        let report: serde_json::Value = serde_json::from_str(&render(Format::Json, &report(&files, &notices))).unwrap();
        assert_eq!(report["verdict"], "changing");
        assert_eq!(report["files"][0]["comparison"]["verdict"], "changing");
        assert_eq!(report["files"][1]["error"], "not Python");
        assert_eq!(report["notes"][0], "n.py: only in the new revision, not compared");
        assert_eq!(
            (&report["notices"][0]["kind"], &report["notices"][0]["file"]),
            (&"one_sided".into(), &"n.py".into())
        );
    }

    #[test]
    fn names_of_files_cannot_speak_to_the_terminal() {
        let failed = Compared { path: "\x1b]0;a.py".to_owned(), result: Err("\x1b[2J".to_owned()) };
        let files = [failed.in_summary()];
        let notices = [Notice::OneSided { file: "\x1b[31mred.py".to_owned(), side: Side::New }];
        let text = render(Format::Text, &report(&files, &notices));
        assert!(text.contains("\\x1b]0;a.py\nnot compared: \\x1b[2J\n\\x1b[31mred.py: only in"), "{text}");
    }

    #[test]
    fn a_bad_range_says_what_to_write() {
        let (status, _, err) = command(&["compare", "--git", "A..B..C"]);
        assert_eq!(status, 3);
        assert!(err.contains("write OLD..NEW"), "{err}");
    }

    #[test]
    fn functions_of_the_same_name_are_proposed() {
        let others = ["Calendar.gaps", "Cart.total", "Order.Total", "add"].map(String::from).into();
        assert_eq!(alike("total", &others).as_deref(), Some("Cart.total or Order.Total"));
        assert_eq!(alike("Calender.gaps", &others).as_deref(), Some("Calendar.gaps"));
        assert_eq!(alike("sub", &others), None);
    }

    #[test]
    fn the_command_for_tests_is_of_the_same_change() {
        for (range, staged, expected) in [
            ("HEAD", false, Some("twincell amplify")),
            ("HEAD", true, Some("twincell amplify --staged")),
            ("v1..v2", false, Some("twincell amplify v1..v2")),
            ("main...HEAD", false, Some("twincell amplify main...HEAD")),
            ("HEAD^{/a b}..HEAD", false, Some("twincell amplify HEAD'^{/a b}..HEAD'")),
            ("v1", false, None),
            ("v1", true, None),
        ] {
            assert_eq!(amplify(range, staged, None).as_deref(), expected);
        }
        let hash = "0123456789abcdef0123456789abcdef01234567";
        let range = amplify(&format!("{hash}~1..{hash}"), false, None);
        assert_eq!(range.as_deref(), Some("twincell amplify 0123456789~1..0123456789"));
        let python = amplify("HEAD", false, Some(Path::new("/a b/python")));
        assert_eq!(python.as_deref(), Some("twincell amplify --python '/a b/python'"));
    }
}
