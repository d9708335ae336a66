//! The meaning of the magics: their arguments and the text of a cell. Python only hands both over.

use std::path::PathBuf;

use clap::{Arg, ArgAction, ArgMatches, Command};
use twincell_cli::arguments;
use twincell_driver::blame::BlameRequest;
use twincell_driver::command_line;
use twincell_driver::command_line::LineError;
use twincell_driver::impact::ImpactVersions;
use twincell_driver::options::{GivenOption, Job, Options};
use twincell_driver::slice::SliceRequest;
use twincell_syntax::python::is_identifier;
use twincell_syntax::runs_python;

/// One line that says what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MagicError {
    #[error("{0}")]
    Arguments(String),
    #[error(transparent)]
    Options(#[from] LineError),
    #[error("the quotes in the line do not match: {0}")]
    Quotes(String),
    #[error("there is only one version: write the old one above and the new one below a line # ---")]
    OneVersion,
    #[error("the cell has {0} lines # ---: leave exactly one, between the old and the new version")]
    ManyVersions(usize),
    #[error("the {0} version is empty: write the old one above and the new one below the line # ---")]
    EmptyVersion(&'static str),
    #[error("give one name or file, or --study ROWS.jsonl for several")]
    ManyCodes,
    #[error("the cell is empty: write a function below the magic")]
    EmptyCell,
    #[error("the notebook has no {0}: run the cell that binds it first, or leave it out of --with")]
    UnknownGlobal(String),
    #[error("--with cannot be {0:?}: give names of the notebook, or PARAMETER=NAME, with commas, as in df=sales,rate")]
    Binding(String),
    #[error("no version is called {name}; {known}")]
    UnknownVersion { name: String, known: String },
}

/// What `%%compare --with-last` says on a first run. Everybody begins with one, so this is not an error.
pub const FIRST_RUN: &str =
    "This is the cell's first run, so there is nothing to compare yet: change it and run it again.";

/// The request in a line.
#[derive(Debug, Clone, PartialEq)]
pub enum MagicLine<T> {
    Run(T),
    /// Show this help.
    Help(String),
}

/// The values of the notebook that are to be injected.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Wanted {
    /// (the name of a parameter or a global, the name in the notebook).
    pub bindings: Vec<(String, String)>,
    /// All that the code names.
    pub all: bool,
}

/// `%%compare`.
#[derive(Debug, Clone, PartialEq)]
pub struct CompareCell {
    pub options: Options,
    pub wanted: Wanted,
    /// Where the reproducer goes.
    pub reproducer: Option<PathBuf>,
    pub with_last: bool,
    pub run: bool,
}

/// `%compare OLD NEW`.
#[derive(Debug, Clone, PartialEq)]
pub struct CompareStored {
    pub options: Options,
    pub wanted: Wanted,
    pub reproducer: Option<PathBuf>,
    pub old: String,
    pub new: String,
}

/// Reads the line of `%%compare`.
pub fn read_compare_cell(line: &str) -> Result<MagicLine<CompareCell>, MagicError> {
    read(compare_cell_command(), line, |matches| {
        Ok(CompareCell {
            options: command_line::read(matches, Job::Compare)?,
            wanted: wanted(matches)?,
            reproducer: matches.get_one::<PathBuf>("reproducer").cloned(),
            with_last: matches.get_flag("with-last"),
            run: matches.get_flag("run"),
        })
    })
}

/// Reads the line of `%compare`.
pub fn read_compare_stored(line: &str) -> Result<MagicLine<CompareStored>, MagicError> {
    read(compare_stored_command(), line, |matches| {
        // clap has checked that both are given.
        let name = |name| matches.get_one::<String>(name).cloned().unwrap_or_default();
        Ok(CompareStored {
            options: command_line::read(matches, Job::Compare)?,
            wanted: wanted(matches)?,
            reproducer: matches.get_one::<PathBuf>("reproducer").cloned(),
            old: name("old"),
            new: name("new"),
        })
    })
}

/// `%study`.
#[derive(Debug, Clone, PartialEq)]
pub struct StudyLine {
    pub options: Options,
    /// A path, or the name of a variable.
    pub changes: PathBuf,
    pub transform: Option<String>,
    pub out: Option<PathBuf>,
    pub fresh: bool,
    pub on: Option<String>,
    pub html: Option<PathBuf>,
    pub reproducers: Option<PathBuf>,
}

/// Reads the line of `%study`.
pub fn read_study(line: &str) -> Result<MagicLine<StudyLine>, MagicError> {
    read(study_command(), line, |matches| {
        let path = |name| matches.get_one::<PathBuf>(name).cloned();
        Ok(StudyLine {
            options: command_line::read(matches, Job::Study)?,
            // clap has checked that it is given.
            changes: path("file").unwrap_or_default(),
            transform: matches.get_one::<String>("transform").cloned(),
            out: path("out"),
            fresh: matches.get_flag("fresh"),
            on: matches.get_one::<String>("on").cloned(),
            html: path("html"),
            reproducers: path("reproducers"),
        })
    })
}

/// `%autocompare`.
#[derive(Debug, Clone, PartialEq)]
pub enum AutocompareLine {
    On(Box<(Options, Wanted)>),
    Off,
    /// Say whether it is on.
    Ask,
}

/// Reads the line of `%autocompare`.
pub fn read_autocompare(line: &str) -> Result<MagicLine<AutocompareLine>, MagicError> {
    read(autocompare_command(), line, |matches| {
        Ok(match matches.get_one::<String>("state").map(String::as_str) {
            Some("on") => AutocompareLine::On(Box::new((command_line::read(matches, Job::Compare)?, wanted(matches)?))),
            Some(_) => AutocompareLine::Off,
            None => AutocompareLine::Ask,
        })
    })
}

/// Reads the line of `%%version`: the name to store the cell under.
pub fn read_version_cell(line: &str) -> Result<MagicLine<String>, MagicError> {
    let command = Command::new("%%version")
        .about("Stores the cell's code under a name for %compare. The code is not run.")
        .arg(Arg::new("name").value_name("NAME").required(true).help("e.g. old"));
    read(command, line, |matches| Ok(matches.get_one::<String>("name").cloned().unwrap_or_default()))
}

/// `%predict CODE` and `%%predict`.
#[derive(Debug, Clone, PartialEq)]
pub struct Predict {
    pub options: Options,
    /// A name of the notebook or a path. Absent if the cell is the code.
    pub code: Option<String>,
}

/// Reads the line of `%predict`, or of `%%predict` where there is a cell.
pub fn read_predict(line: &str, has_cell: bool) -> Result<MagicLine<Predict>, MagicError> {
    read(predict_command(has_cell), line, |matches| {
        let code = if has_cell { None } else { matches.get_one::<String>("code").cloned() };
        Ok(Predict { options: command_line::read(matches, Job::Predict)?, code })
    })
}

fn predict_command(has_cell: bool) -> Command {
    let command = if has_cell {
        Command::new("%%predict").about("Shows which values are expected where in the cell. Nothing is run.")
    } else {
        Command::new("%predict").about("Shows which values are expected where in some code. Nothing is run.").arg(
            Arg::new("code")
                .value_name("CODE")
                .required(true)
                .help("A function, class, method or stored version of the notebook, or a file"),
        )
    };
    command_line::add_to(command, Job::Predict)
}

/// `%prefix CODE` and `%%prefix`.
#[derive(Debug, Clone, PartialEq)]
pub struct PrefixLine {
    pub options: Options,
    /// Names of the notebook or paths: one, or several of a study. None if the cell is the code.
    pub code: Vec<String>,
    /// Call this function.
    pub function: Option<String>,
    /// Put the best prefix into the next cell.
    pub insert: bool,
    /// Where the tests go.
    pub pytest: Option<PathBuf>,
    /// Search prefixes for many snippets.
    pub study: Option<StudyOfPrefixes>,
}

/// `%prefix --study ROWS.jsonl`.
#[derive(Debug, Clone, PartialEq)]
pub struct StudyOfPrefixes {
    /// Where the rows go.
    pub rows: PathBuf,
    pub html: Option<PathBuf>,
    pub fresh: bool,
}

/// Reads the line of `%prefix`, or of `%%prefix` where there is a cell.
pub fn read_prefix(line: &str, has_cell: bool) -> Result<MagicLine<PrefixLine>, MagicError> {
    read(prefix_command(has_cell), line, |matches| {
        let study = matches.try_get_one::<PathBuf>("study").ok().flatten().map(|rows| StudyOfPrefixes {
            rows: rows.clone(),
            html: matches.get_one::<PathBuf>("html").cloned(),
            fresh: matches.get_flag("fresh"),
        });
        let code = matches.try_get_many::<String>("code").ok().flatten();
        Ok(PrefixLine {
            options: command_line::read(matches, Job::Prefix)?,
            code: code.into_iter().flatten().cloned().collect(),
            study,
            function: matches.get_one::<String>("function").cloned(),
            insert: matches.get_flag("insert"),
            pytest: matches.get_one::<PathBuf>("pytest").cloned(),
        })
    })
}

fn prefix_command(has_cell: bool) -> Command {
    let command = if has_cell {
        Command::new("%%prefix")
            .about("Finds code that makes the cell run: imports and values for what it leaves undefined.")
    } else {
        let path = |name: &'static str, placeholder: &'static str| {
            Arg::new(name).long(name).value_name(placeholder).value_parser(clap::value_parser!(PathBuf))
        };
        Command::new("%prefix")
            .about("Finds code that makes other code run: imports and values.")
            .override_usage(
                "%prefix [OPTIONS] CODE\n       %prefix [OPTIONS] --study ROWS.jsonl FOLDER|FILE.py|VARIABLE...",
            )
            .arg(Arg::new("code").value_name("CODE").required(true).num_args(1..).help(
                "A function, class, method or stored version of the notebook, or a file; with --study, files and folders, or \
                 a variable with paths or dictionaries",
            ))
            .arg(
                path("study", "ROWS.jsonl")
                    .conflicts_with_all(["function", "insert", "pytest"])
                    .help("Search prefixes for each .py file of folders, and write a row for each as they come"),
            )
            .arg(path("html", "FILE.html").requires("study").help("With --study: write a page with its tables"))
            .arg(flag("fresh").requires("study").help("With --study: discard the rows that are there"))
    };
    let command = command
        .arg(
            Arg::new("function")
                .long("function")
                .value_name("NAME")
                .help("Call the function with this qualified name, with what it needs of the code"),
        )
        .arg(
            Arg::new("insert")
                .long("insert")
                .action(ArgAction::SetTrue)
                .help("Put the best prefix into a new cell below"),
        )
        .arg(
            Arg::new("pytest")
                .long("pytest")
                .value_name("FILE")
                .value_parser(clap::value_parser!(PathBuf))
                .help("Write a pytest file that runs the code on the values of each prefix, without twincell"),
        );
    command_line::add_to(command, Job::Prefix)
}

/// `%amplify`.
#[derive(Debug, Clone, PartialEq)]
pub struct AmplifyLine {
    /// The options of the line. Those of the policy depend on the change.
    pub given: Vec<GivenOption>,
    pub repository: PathBuf,
    /// A commit, or two of them as `OLD..NEW`. Absent for what is not committed yet.
    pub change: Option<String>,
    pub staged: bool,
    /// Where the tests go in the form that passes after the change.
    pub patch: Option<PathBuf>,
    pub html: Option<PathBuf>,
}

/// Reads the line of `%amplify`.
pub fn read_amplify(line: &str) -> Result<MagicLine<AmplifyLine>, MagicError> {
    read(amplify_command(), line, |matches| {
        let path = |name| matches.get_one::<PathBuf>(name).cloned();
        Ok(AmplifyLine {
            given: command_line::given(matches, Job::Amplify)?,
            repository: path("repository").unwrap_or_else(|| PathBuf::from(".")),
            change: matches.get_one::<String>("revision").cloned(),
            staged: matches.get_flag("staged"),
            patch: path("patch"),
            html: path("html"),
        })
    })
}

fn amplify_command() -> Command {
    let path = |name: &'static str, placeholder: &'static str| {
        Arg::new(name).long(name).value_name(placeholder).value_parser(clap::value_parser!(PathBuf))
    };
    let command = Command::new("%amplify")
        .about(
            "Makes tests that pass with one version of a change and fail with the other, from a project's own tests.",
        )
        .override_usage("%amplify [OPTIONS] [REVISION | OLD..NEW | --staged]")
        .arg(Arg::new("revision").value_name("REVISION").help(
            "The commit, or the two revisions between which the change lies [default: what is not committed yet]",
        ))
        .arg(flag("staged").conflicts_with("revision").help("The change is what is staged for the next commit"))
        .arg(path("repository", "FOLDER").help("The repository [default: the current folder]"))
        .arg(path("patch", "FILE").help("Write a patch that adds the tests, in the form that passes after the change"))
        .arg(path("html", "FILE").help("Write the result as a page"));
    command_line::add_to(command, Job::Amplify)
}

/// `%slice`.
#[derive(Debug, Clone, PartialEq)]
pub struct SliceLine {
    pub given: Vec<GivenOption>,
    pub request: SliceRequest,
    /// Where the slice goes as patches, and as a branch.
    pub patches: Option<PathBuf>,
    pub branch: Option<String>,
    pub html: Option<PathBuf>,
}

/// Reads the line of `%slice`.
pub fn read_slice(line: &str) -> Result<MagicLine<SliceLine>, MagicError> {
    read(slice_command(), line, |matches| {
        Ok(SliceLine {
            given: command_line::given(matches, Job::Slice)?,
            request: arguments::slice_request(matches),
            patches: matches.get_one::<PathBuf>("patches").cloned(),
            branch: matches.get_one::<String>("branch").cloned(),
            html: matches.get_one::<PathBuf>("html").cloned(),
        })
    })
}

fn slice_command() -> Command {
    arguments::slice(false)
        .about("Finds a minimal set of commits of a range that keeps given tests passing.")
        .override_usage("%slice [OPTIONS] OLD..NEW --tests PATHS")
        .after_help("")
}

/// `%blame`.
#[derive(Debug, Clone, PartialEq)]
pub struct BlameLine {
    pub options: Options,
    pub request: BlameRequest,
    pub html: Option<PathBuf>,
}

/// Reads the line of `%blame`.
pub fn read_blame(line: &str) -> Result<MagicLine<BlameLine>, MagicError> {
    read(blame_command(), line, |matches| {
        let request = arguments::blame_request(matches).map_err(MagicError::Arguments)?;
        let html = matches.get_one::<PathBuf>("html").cloned();
        Ok(BlameLine { options: command_line::read(matches, Job::Blame)?, request, html })
    })
}

fn blame_command() -> Command {
    arguments::blame(false)
        .about("Finds the commit since which a call gives the value that it gives now.")
        .override_usage("%blame [OPTIONS] --returns 'CALL' FILE:FUNCTION [OLD..NEW]")
        .after_help("")
}

/// `%impact`.
#[derive(Debug, Clone, PartialEq)]
pub struct ImpactLine {
    pub options: Options,
    pub versions: ImpactVersions,
    pub html: Option<PathBuf>,
}

/// Reads the line of `%impact`.
pub fn read_impact(line: &str) -> Result<MagicLine<ImpactLine>, MagicError> {
    read(impact_command(), line, |matches| {
        let versions = arguments::impact_versions(matches).map_err(MagicError::Arguments)?;
        let html = matches.get_one::<PathBuf>("html").cloned();
        Ok(ImpactLine { options: command_line::read(matches, Job::Impact)?, versions, html })
    })
}

fn impact_command() -> Command {
    arguments::impact(false)
        .about("Finds the statements beyond the changed ones that may see other values, and says why. Nothing is run.")
        .override_usage(
            "%impact [OPTIONS] OLD NEW\n       %impact [OPTIONS] --git OLD..NEW [PATH...]\n       \
             %impact [OPTIONS] --git OLD [--staged] [PATH...]",
        )
        .mut_arg("files", |argument| {
            argument.help(
                "OLD and NEW: two files, two folders, or two versions that cells stored with %%version; with --git, the files and \
                 folders to analyze [default: all]",
            )
        })
        .after_help("")
}

/// The flags that completion offers after this magic. One without options has none.
pub fn flags(magic: &str) -> Vec<String> {
    let command = match magic {
        "%%compare" => compare_cell_command(),
        "%autocompare" => autocompare_command(),
        "%predict" => predict_command(false),
        "%%predict" => predict_command(true),
        "%prefix" => prefix_command(false),
        "%%prefix" => prefix_command(true),
        "%study" => study_command(),
        "%amplify" => amplify_command(),
        "%slice" => slice_command(),
        "%blame" => blame_command(),
        "%impact" => impact_command(),
        "%compare" => compare_stored_command(),
        _ => return vec![],
    };
    let shown = command.get_arguments().filter(|argument| !argument.is_hide_set());
    shown.filter_map(|argument| argument.get_long().map(|long| format!("--{long}"))).collect()
}

/// The old and the new version of a `%%compare` cell. Empty lines before each keep the line numbers that the notebook
/// shows, where the magic is line 1.
pub fn split(cell: &str) -> Result<(String, String), MagicError> {
    let lines: Vec<&str> = cell.lines().collect();
    let separators: Vec<usize> = (0..lines.len()).filter(|index| is_separator(lines[*index])).collect();
    let at = match separators.as_slice() {
        [] if cell.trim().is_empty() => return Err(MagicError::EmptyCell),
        [] => return Err(MagicError::OneVersion),
        [at] => *at,
        many => return Err(MagicError::ManyVersions(many.len())),
    };
    let text = |from: usize, to: usize, name| {
        let lines = &lines[from..to];
        if lines.iter().all(|line| line.trim().is_empty()) {
            return Err(MagicError::EmptyVersion(name));
        }
        Ok(format!("{}{}\n", "\n".repeat(from + 1), lines.join("\n")))
    };
    Ok((text(0, at, "old")?, text(at + 1, lines.len(), "new")?))
}

/// The code in a notebook cell: without the line of `%%compare` or `%%version` and, if that compared two versions, only
/// the new one.
pub fn code_of(cell: &str) -> String {
    let trimmed = cell.trim_start();
    let Some(magic) = ["%%compare", "%%version"].into_iter().find(|magic| trimmed.starts_with(magic)) else {
        return cell.to_owned();
    };
    let (line, body) = trimmed.split_once('\n').unwrap_or((trimmed, ""));
    let body = format!("\n{body}");
    let with_last = shlex::split(line).is_some_and(|words| words.iter().any(|word| word == "--with-last"));
    if magic == "%%compare" && !with_last {
        return split(&body).map_or(body, |(_, new)| new);
    }
    body
}

/// The code of a cell that ran in the notebook. `None` if nothing in it did.
pub fn ran(cell: &str) -> Option<String> {
    let trimmed = cell.trim_start();
    let Some(rest) = trimmed.strip_prefix("%%") else { return Some(cell.to_owned()) };
    let (line, body) = rest.split_once('\n')?;
    match line.split_whitespace().next()? {
        "compare" => line.split_whitespace().any(|word| word == "--run").then(|| code_of(cell)),
        magic if runs_python(magic) => Some(body.to_owned()),
        _ => None,
    }
}

/// The arguments `--with` and `--with-globals`.
fn wanted(matches: &ArgMatches) -> Result<Wanted, MagicError> {
    let mut bindings: Vec<(String, String)> = Vec::new();
    for text in matches.get_many::<String>("with").into_iter().flatten() {
        for binding in text.split(',') {
            let (target, source) = binding.split_once('=').unwrap_or((binding, binding));
            let (target, source) = (target.trim(), source.trim());
            if !is_identifier(target) || !is_identifier(source) || bindings.iter().any(|(known, _)| known == target) {
                return Err(MagicError::Binding(text.clone()));
            }
            bindings.push((target.to_owned(), source.to_owned()));
        }
    }
    Ok(Wanted { bindings, all: matches.get_flag("with-globals") })
}

fn with_values(command: Command) -> Command {
    let with = Arg::new("with").long("with").value_name("NAMES").action(ArgAction::Append).help(
        "Values of the notebook to inject, as they are and varied: names of parameters or globals, e.g. df=sales,rate",
    );
    let all = flag("with-globals").help("Inject every value of the notebook that the code names");
    command.arg(with).arg(all)
}

fn is_separator(line: &str) -> bool {
    let rest = line.trim_end().strip_prefix('#').map(str::trim_start);
    rest.is_some_and(|dashes| dashes.len() >= 3 && dashes.chars().all(|character| character == '-'))
}

fn compare_cell_command() -> Command {
    let command = Command::new("%%compare")
        .about("Compares the two versions in the cell: the old one above a line `# ---`, the new one below it.")
        .arg(flag("with-last").help("Compare the cell with the code that it held when it last ran"))
        .arg(
            flag("run")
                .help("Run the new version in the notebook afterwards; without it, nothing in the cell runs there"),
        )
        .arg(reproducer());
    command_line::add_to(with_values(command), Job::Compare)
}

fn compare_stored_command() -> Command {
    let command = Command::new("%compare")
        .about("Compares two versions that cells stored with %%version.")
        .arg(Arg::new("old").value_name("OLD").required(true).help("Name of the old version"))
        .arg(Arg::new("new").value_name("NEW").required(true).help("Name of the new version"))
        .arg(reproducer());
    command_line::add_to(with_values(command), Job::Compare)
}

fn reproducer() -> Arg {
    Arg::new("reproducer")
        .long("reproducer")
        .value_name("FILE")
        .value_parser(clap::value_parser!(PathBuf))
        .help("Write a pytest file that shows the change without twincell")
}

fn study_command() -> Command {
    arguments::study(false)
        .about("Compares many changes, from a file or from a variable of the notebook.")
        .override_usage("%study [OPTIONS] [--out RESULTS] FILE|VARIABLE")
}

fn autocompare_command() -> Command {
    let command = Command::new("%autocompare")
        .about("From now on, compares each cell that runs again with its earlier content, where it defines functions.")
        .arg(Arg::new("state").value_name("on|off").value_parser(["on", "off"]).help("Without it: say which it is"));
    command_line::add_to(with_values(command), Job::Compare)
}

fn flag(name: &'static str) -> Arg {
    Arg::new(name).long(name).action(ArgAction::SetTrue)
}

fn read<T>(
    command: Command,
    line: &str,
    make: impl FnOnce(&ArgMatches) -> Result<T, MagicError>,
) -> Result<MagicLine<T>, MagicError> {
    let words = shlex::split(line).ok_or_else(|| MagicError::Quotes(line.trim().to_owned()))?;
    match command.no_binary_name(true).try_get_matches_from(words) {
        Ok(matches) => make(&matches).map(MagicLine::Run),
        Err(error) if error.use_stderr() => Err(MagicError::Arguments(command_line::one_line(&error))),
        Err(help) => Ok(MagicLine::Help(help.render().to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use twincell_driver::options::of;

    fn compare_cell(line: &str) -> CompareCell {
        match read_compare_cell(line) {
            Ok(MagicLine::Run(request)) => request,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_cell_is_split_at_its_line_of_dashes() {
        for separator in ["# ---", "#---", "# ----------", "# ---  "] {
            let cell = format!("def f():\n    return 1\n{separator}\ndef f():\n    return 2\n");
            let (old, new) = split(&cell).unwrap();
            assert_eq!(old, "\ndef f():\n    return 1\n");
            assert_eq!(new, "\n\n\n\ndef f():\n    return 2\n");
        }
    }

    #[test]
    fn comments_that_only_resemble_the_line_do_not_split() {
        for line in ["    # ---", "# --", "# --- old", "## ---", "---", "#", ""] {
            assert_eq!(split(&format!("a\n{line}\nb")), Err(MagicError::OneVersion), "{line}");
        }
    }

    #[test]
    fn bad_cells_say_what_to_write() {
        for (cell, expected) in [
            ("", "the cell is empty"),
            ("def f(): pass", "there is only one version: write the old one above and the new one below a line # ---"),
            ("a\n# ---\nb\n# ---\nc", "the cell has 2 lines # ---"),
            ("\n# ---\nb", "the old version is empty"),
            ("a\n# ---\n \n", "the new version is empty"),
        ] {
            let error = split(cell).unwrap_err().to_string();
            assert!(error.starts_with(expected) && !error.contains('\n'), "{error}");
        }
    }

    #[test]
    fn the_line_takes_every_option_of_the_table() {
        let request = compare_cell("--budget 7 --function 'A.b' --with-last");
        assert_eq!((request.options.budget, request.options.function.as_deref()), (7, Some("A.b")));
        assert!(request.with_last && !request.run);
        for spec in of(Job::Compare) {
            assert!(flags("%%compare").contains(&format!("--{}", spec.name)), "{}", spec.name);
            assert!(flags("%compare").contains(&format!("--{}", spec.name)), "{}", spec.name);
        }
        assert!(
            flags("%%compare").contains(&"--with-last".to_owned())
                && !flags("%compare").contains(&"--with-last".to_owned())
        );
    }

    #[test]
    fn values_of_the_notebook_are_bound_by_name() {
        let pairs = |names: &[(&str, &str)]| -> Vec<(String, String)> {
            names.iter().map(|(target, source)| ((*target).to_owned(), (*source).to_owned())).collect()
        };
        assert_eq!(compare_cell("--with df=sales,rate").wanted.bindings, pairs(&[("df", "sales"), ("rate", "rate")]));
        assert_eq!(compare_cell("--with a --with b=c").wanted.bindings, pairs(&[("a", "a"), ("b", "c")]));
        assert!(compare_cell("--with-globals").wanted.all && compare_cell("").wanted == Wanted::default());
        for line in ["--with df=", "--with 'df=a b'", "--with a,a", "--with 1x", "--with df=sales[0]"] {
            let error = read_compare_cell(line).unwrap_err().to_string();
            assert!(error.starts_with("--with cannot be") && !error.contains('\n'), "{error}");
        }
    }

    #[test]
    fn a_cell_counts_as_far_as_it_ran() {
        assert_eq!(ran("def f(): 1\n").as_deref(), Some("def f(): 1\n"));
        assert_eq!(ran("%%time\nx = 1\n").as_deref(), Some("x = 1\n"));
        assert_eq!(ran("%%compare\ndef f(): 1\n# ---\ndef f(): 2"), None);
        assert_eq!(ran("%%compare --run\ndef f(): 1\n# ---\ndef f(): 2").unwrap().trim(), "def f(): 2");
        assert_eq!(ran("%%bash\nls"), None);
        assert_eq!(ran("%matplotlib inline\nx = 1").as_deref(), Some("%matplotlib inline\nx = 1"));
    }

    #[test]
    fn autocompare_is_switched_with_the_options_of_a_comparison() {
        assert_eq!(read_autocompare(" off "), Ok(MagicLine::Run(AutocompareLine::Off)));
        assert_eq!(read_autocompare(""), Ok(MagicLine::Run(AutocompareLine::Ask)));
        let Ok(MagicLine::Run(AutocompareLine::On(on))) = read_autocompare("on --budget 9 --with-globals") else {
            panic!()
        };
        assert!(on.0.budget == 9 && on.1.all);
        let error = read_autocompare("maybe").unwrap_err().to_string();
        assert!(error.contains("maybe") && error.contains("off") && !error.contains('\n'), "{error}");
    }

    #[test]
    fn a_study_takes_what_the_command_line_takes() {
        let line = "changes.jsonl --out 'my results.sqlite' --budget 9 --fresh --on dask://a:1";
        let Ok(MagicLine::Run(request)) = read_study(line) else { panic!() };
        assert_eq!(request.options.budget, 9);
        assert_eq!(request.out, Some(PathBuf::from("my results.sqlite")));
        assert!(request.fresh && request.on.as_deref() == Some("dask://a:1"));
        assert!(read_study("").unwrap_err().to_string().contains("FILE"));
        assert!(matches!(read_study("frame"), Ok(MagicLine::Run(StudyLine { out: None, .. }))));
        assert!(flags("%study").contains(&"--reproducers".to_owned()));
    }

    #[test]
    fn a_study_of_prefixes_takes_what_the_command_line_takes() {
        let line = "--study rows.jsonl --html 'my page.html' --fresh --width 3 snippets/ other.py";
        let Ok(MagicLine::Run(request)) = read_prefix(line, false) else { panic!() };
        let study = request.study.unwrap();
        assert_eq!((request.code.len(), request.options.width, study.rows), (2, 3, PathBuf::from("rows.jsonl")));
        assert!(study.fresh && study.html.is_some());
        for line in ["--study rows.jsonl", "--study rows.jsonl --insert a", "--fresh a", "--html page.html a"] {
            let error = read_prefix(line, false).unwrap_err().to_string();
            assert!(!error.contains('\n'), "{error}");
        }
        assert!(read_prefix("--study rows.jsonl", true).is_err());
    }

    #[test]
    fn histories_are_asked_as_on_the_command_line() {
        let line = "v1..v2 --tests 'tests/a.py tests/b.py' --by change --patches out";
        let Ok(MagicLine::Run(asked)) = read_slice(line) else { panic!() };
        assert_eq!((asked.request.range.as_str(), asked.request.tests.len(), asked.given.len()), ("v1..v2", 2, 1));
        assert_eq!(asked.patches, Some(PathBuf::from("out")));
        let Ok(MagicLine::Run(asked)) = read_blame("shop/text.py:f --returns 'f(\"a  b\")' v1.. --budget 7") else {
            panic!()
        };
        assert_eq!((asked.request.function.as_str(), asked.request.call.as_str()), ("f", "f(\"a  b\")"));
        assert_eq!((asked.request.range.as_deref(), asked.options.commit_budget), (Some("v1.."), 7));
        for error in [read_slice("v1..v2").unwrap_err(), read_blame("a.py --returns f(1)").unwrap_err()] {
            assert!(!error.to_string().contains('\n'), "{error}");
        }
        for (magic, flag) in [("%slice", "--tests"), ("%slice", "--jobs"), ("%blame", "--returns")] {
            assert!(flags(magic).contains(&flag.to_owned()), "{magic} {flag}");
        }
        assert!(!flags("%slice").contains(&"--json".to_owned()));
    }

    #[test]
    fn stored_versions_are_named_by_the_line() {
        let Ok(MagicLine::Run(request)) = read_compare_stored("before after --seed 3") else { panic!() };
        assert_eq!((request.old.as_str(), request.new.as_str(), request.options.seed), ("before", "after", 3));
        assert_eq!(read_version_cell(" old "), Ok(MagicLine::Run("old".to_owned())));
    }

    #[test]
    fn errors_in_the_line_are_one_line() {
        let errors = [
            read_compare_cell("--bugdet 3").unwrap_err().to_string(),
            read_compare_cell("stray").unwrap_err().to_string(),
            read_compare_cell("--budget 0").unwrap_err().to_string(),
            read_compare_cell("--function 'f").unwrap_err().to_string(),
            read_compare_stored("only").unwrap_err().to_string(),
            read_version_cell("").unwrap_err().to_string(),
        ];
        for (error, expected) in errors.iter().zip(["--budget", "stray", "from 1 to", "quotes", "<NEW>", "<NAME>"]) {
            assert!(error.contains(expected) && !error.contains('\n') && !error.starts_with("error"), "{error}");
        }
    }

    #[test]
    fn help_is_shown_on_request() {
        let Ok(MagicLine::Help(help)) = read_compare_cell("--help") else { panic!() };
        assert!(help.contains("--with-last") && help.contains("--raise-probability"), "{help}");
        assert!(matches!(read_version_cell("-h"), Ok(MagicLine::Help(help)) if help.contains("not run")));
    }

    #[test]
    fn the_code_of_a_cell_is_what_stands_below_its_magic() {
        assert_eq!(code_of("def f(): 1\n"), "def f(): 1\n");
        assert_eq!(code_of("%%compare --with-last\ndef f(): 1"), "\ndef f(): 1");
        assert_eq!(code_of("%%version old\ndef f(): 1"), "\ndef f(): 1");
        assert_eq!(code_of("%%compare\ndef f(): 1\n# ---\ndef f(): 2").trim(), "def f(): 2");
    }
}
