//! The commands and their arguments, as clap sees them. Options that change a comparison come from the table in
//! [`twincell_driver::options`]. Only the inputs and outputs are here.

use std::path::PathBuf;

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use twincell_driver::blame::{BlameRequest, file_and_function};
use twincell_driver::command_line;
use twincell_driver::impact::ImpactVersions;
use twincell_driver::options::Job;
use twincell_driver::selection::SelectionRequest;
use twincell_driver::slice::SliceRequest;
use twincell_syntax::PerSide;

use crate::exports;

const EXIT_STATUS: &str = "Exit status: 0 nothing changed, 1 behavior changed, 2 inconclusive, 3 bad input or failure. --fail-on \
                           turns 2, or 1 and 2, into 0.";

pub fn command() -> Command {
    Command::new("twincell")
        .no_binary_name(true)
        .version(env!("CARGO_PKG_VERSION"))
        .about(
            "Did this change alter behavior? Runs two versions of Python code side by side and compares what they do.",
        )
        .override_usage("twincell COMMAND ...")
        .after_help(
            "Examples:\n    twincell compare old.py new.py\n    twincell compare --git HEAD~1..HEAD src/\n    \
             twincell mine REPO --grep refactor --out changes.jsonl\n    \
             twincell study changes.jsonl --out findings.jsonl\n\n\
             `twincell COMMAND --help` says more about a command.",
        )
        .subcommand_required(true)
        .arg_required_else_help(true)
        .disable_help_subcommand(true)
        .subcommand(compare())
        .subcommand(record())
        .subcommand(mine())
        .subcommand(study(true))
        .subcommand(predict())
        .subcommand(prefix())
        .subcommand(amplify())
        .subcommand(slice(true))
        .subcommand(blame(true))
        .subcommand(impact(true))
        .subcommand(doctor())
}

fn compare() -> Command {
    let command = Command::new("compare")
        .about("Compare two Python files, or the Python files that changed between two revisions")
        .override_usage(
            "twincell compare [OPTIONS] OLD.py NEW.py\n       twincell compare [OPTIONS] --git OLD..NEW [PATH...]\n       \
             twincell compare [OPTIONS] --git OLD [--staged] [PATH...]",
        )
        .after_help(EXIT_STATUS)
        .arg(
            path("files")
                .value_name("FILE")
                .num_args(0..)
                .help("OLD.py and NEW.py; with --git, the files and folders to compare [default: all]"),
        )
        .arg(
            Arg::new("git")
                .long("git")
                .value_name("OLD..NEW")
                .help(
                    "Compare two revisions of the repository that holds the current folder, e.g. HEAD~1..HEAD or \
                     main...HEAD (since the branch left main), or one revision with the files in the working tree, e.g. HEAD",
                ),
        )
        .arg(flag("staged").requires("git").help("With --git OLD: compare with what is staged for the next commit"))
        .arg(text("accept", "REASON").requires("git").help(
            "With --git: accept what differs now, with this reason, in twincell-accepted.json at the root of the repository. \
             It does not count any more, until these functions change again or differ in another way",
        ))
        .arg(
            flag("verbose")
                .short('v')
                .help("Print values, evidence and changed lines of each function, not only what changed in it"),
        )
        .arg(flag("json").help("Print the whole report as JSON"))
        .arg(
            flag("github")
                .conflicts_with("json")
                .help("Print only the annotations that a GitHub workflow shows beside the changed lines"),
        )
        .arg(text("link", "URL").value_parser(link).requires("markdown").help(
            "With --markdown: link the changed lines below this address of the new version's files, e.g. \
             https://github.com/OWNER/NAME/blob/COMMIT",
        ))
        .arg(path("html").long("html").value_name("FILE").help("Also write the report as an HTML page"))
        .arg(path("reproducer").long("reproducer").value_name("FILE").help(
            "Write a pytest file that shows the change without twincell, one for each function if several changed",
        ))
        .arg(flag("no-color").help("Print without colors"));
    command_line::add_to(exports::add_to(command, "inconclusive"), Job::Compare)
}

fn record() -> Command {
    Command::new("record")
        .about("Run a command, such as the project's tests, and write what its functions receive, for compare --recorded")
        .override_usage("twincell record [OPTIONS] -- COMMAND...")
        .after_help(
            "The command runs as it would without twincell: in your environment and without a sandbox. Functions count whose \
             files lie below the current folder, tests apart. What cannot be written as plain data is left out.\n\
             Example: twincell record -- pytest && twincell compare --git HEAD --recorded recorded.jsonl\n\
             Exit status: that of the command; 3 bad input or failure.",
        )
        .arg(path("out").long("out").value_name("FILE").help("Where to write the calls [default: recorded.jsonl]"))
        .arg(
            Arg::new("calls")
                .long("calls")
                .value_name("N")
                .value_parser(value_parser!(u32).range(1..=1000))
                .help("Maximum number of different calls of one function [default: 20]"),
        )
        .arg(
            Arg::new("command")
                .value_name("COMMAND")
                .num_args(1..)
                .required(true)
                .trailing_var_arg(true)
                .allow_hyphen_values(true)
                .help("The command and its arguments"),
        )
}

fn mine() -> Command {
    Command::new("mine")
        .about("Find the functions that the commits of a git repository modified, as JSON lines for study")
        .override_usage("twincell mine [OPTIONS] REPO [--out CHANGES.jsonl]")
        .after_help(
            "Finds functions that both versions of a Python file have and whose syntax trees differ, apart from comments, \
             docstrings, decorators and annotations. Newest commits come first; merges are left out. --single-function \
             selects what the ChangeGuard paper selects.\n\
             Example: twincell mine ~/flask --since '2 years ago' --grep 'refactor|simplify' | twincell study - --out findings.jsonl\n\
             Exit status: 0 done, 3 bad input or failure.",
        )
        .arg(path("repository").value_name("REPO").required(true).help("The repository's folder, or a folder in it"))
        .arg(text("since", "DATE").help("Only commits from this date on: 2024-05-17, 2024, '3 weeks ago', ..."))
        .arg(text("until", "DATE").help("Only commits up to the end of this date"))
        .arg(
            text("grep", "REGEX")
                .action(ArgAction::Append)
                .help("Only commits whose message matches, ignoring case; if repeated, one of them must match"),
        )
        .arg(flag("single-function").help("Only commits that modify exactly one function and neither add nor remove any"))
        .arg(flag("tests").help("Include functions and files with `test` in their name"))
        .arg(flag("no-modules").help("Leave out the texts of the files that contain the functions"))
        .arg(text("from", "REVISION").help("Where to begin: a branch, a tag or a commit [default: HEAD]"))
        .arg(text("limit", "N").help("Maximum number of changes"))
        .arg(text("jobs", "N").help("Number of threads [default: one for each processor]"))
        .arg(path("policy").long("policy").value_name("FILE").help(
            "Policy whose excluded files are left out; none stands for no policy [default: that of the repository]",
        ))
        .arg(path("out").long("out").value_name("CHANGES.jsonl").help("Where to write the changes [default: standard output]"))
}

/// The command `study`. Its `--out` may be missing where the results are shown.
pub fn study(needs_out: bool) -> Command {
    let command = Command::new("study")
        .about("Compare many changes, with one result for each")
        .override_usage("twincell study [OPTIONS] --out RESULTS.jsonl|.sqlite|.parquet FILE")
        .after_help(
            "Input fields: old, new (the texts of one function); optional: id, old_module, new_module (the texts of the files that \
             contain it), function (its qualified name there), label (changing or preserving).\n\
             Example: {\"id\": \"a1\", \"old\": \"def f(x): return x\", \"new\": \"def f(x): return x + 1\"}\n\
             Output fields: id, verdict, reason, evidence, executions, coverage, changed_lines_reached, milliseconds, reproducer, \
             label, project, commit, date, file, function, kind, first_difference, complexity, sandbox_lacks, key.\n\
             To resume a study that was stopped or killed, run the same command again.\n\
             Exit status: 0 done, 3 bad input or failure; with --fail-on also 1 behavior changed, 2 inconclusive.",
        )
        .arg(path("file").value_name("FILE").required(true).help(
            "The changes: .jsonl, .json, .csv, .tsv or .parquet; a folder of pairs (x_old.py and x_new.py, old/x.py and \
             new/x.py, or x/old.py and x/new.py); - for JSON lines on standard input",
        ))
        .arg(text("transform", "COMMAND").help(
            "Compare the functions in FILE, a folder or a Python file, with what this command makes of them, e.g. \
             'ruff check --fix -q {}'; the command changes copies, many at once, and runs without a sandbox",
        ))
        .arg(path("out").long("out").value_name("RESULTS").required(needs_out).help(
            "Where to write the results as they come: .jsonl, .sqlite or .parquet; changes with a result there are not compared again",
        ))
        .arg(flag("fresh").help("Discard the results in --out and compare everything"))
        .arg(Arg::new("on").long("on").value_name("ADDRESS").help(
            "Compare on other machines: dask://HOST:PORT, the address of a Dask scheduler",
        ))
        .arg(path("html").long("html").value_name("FILE").help("Also write the study as an HTML page"))
        .arg(
            path("reproducers")
                .long("reproducers")
                .value_name("DIR")
                .help("Write a pytest file for every change in behavior, named by the change's id"),
        );
    // A magic returns its study as a value and writes nothing for other programs.
    let command = if needs_out { exports::add_to(command, "never") } else { command };
    command_line::add_to(command, Job::Study)
}

fn predict() -> Command {
    let command = Command::new("predict")
        .about("Show which values are expected where in a Python file, without running anything")
        .override_usage("twincell predict [OPTIONS] FILE.py")
        .after_help(
            "Functions have predictions; code outside them has none. Where part of the file is not Python, the rest has \
             predictions, and standard error says which line is wrong.\n\
             JSON: a list of objects with function, start and end (characters of the file, line ends as they are, a byte \
             order mark not counted), kind, and probabilities of none, bool, int, float, str, list, tuple, dict, set, \
             callable, resource, object.\n\
             Exit status: 0 done, 3 bad input or failure (e.g. no part of the file is Python), 130 interrupted.",
        )
        .arg(path("file").value_name("FILE.py").required(true).help("The file"))
        .arg(flag("json").help("Print as JSON"));
    command_line::add_to(command, Job::Predict)
}

fn amplify() -> Command {
    let command = Command::new("amplify")
        .about("Make tests that pass with one version of a change and fail with the other, from the project's own tests")
        .override_usage("twincell amplify [OPTIONS] [REVISION | OLD..NEW | --staged]")
        .after_help(
            "Without a revision, the change is what is not committed yet. The tests run by pytest in the project's own Python, in \
             checkouts of ours.\n\
             Exit status: 0 no test shows the change, 1 some do, 2 no test runs it, or files of it cannot be read, 3 bad input or \
             failure, 130 interrupted.",
        )
        .arg(Arg::new("revision").value_name("REVISION").help("The commit, or the two revisions between which the change lies"))
        .arg(flag("staged").conflicts_with("revision").help("The change is what is staged for the next commit"))
        .arg(path("repository").long("repository").value_name("FOLDER").help("The repository [default: the current folder]"))
        .arg(flag("json").help("Print everything as JSON"))
        .arg(path("patch").long("patch").value_name("FILE").help(
            "Write a patch that adds the tests in the form that documents the new behavior and passes",
        ))
        .arg(path("patch-old").long("patch-old").value_name("FILE").help(
            "Write a patch that adds the tests in the form that documents the old behavior and fails",
        ))
        .arg(path("html").long("html").value_name("FILE").help("Write the result as a page"))
        .arg(path("markdown").long("markdown").value_name("FILE").help("Write the result as Markdown, for a pull request"))
        .arg(path("junit").long("junit").value_name("FILE").help("Write the result as JUnit XML, for test reports"))
        .arg(exports::fail_on(
            "inconclusive",
            "The mildest result with an exit status other than 0: changing, a test shows the change; inconclusive, no test \
             runs it",
        ));
    command_line::add_to(command, Job::Amplify)
}

/// The command `slice`. A magic returns its result as a value and prints nothing for other programs.
pub fn slice(is_command: bool) -> Command {
    let command = Command::new("slice")
        .about("Find a minimal set of commits of a range that keeps given tests passing, so that a feature can be moved alone")
        .override_usage("twincell slice [OPTIONS] OLD..NEW --tests PATHS")
        .after_help(
            "The tests run by pytest in the project's own Python, in checkouts of ours, and with the files of their own folder as \
             at the end of the range. What ran is kept: a second time it need not run.\n\
             Example: twincell slice v1.0..main --tests tests/test_cart.py --onto stable\n\
             Exit status: 0 some commits can go, 1 all must stay, 2 the search ended early, 3 bad input or failure, 130 \
             interrupted.",
        )
        .arg(Arg::new("range").value_name("OLD..NEW").required(true).help("The commits after OLD, up to NEW"))
        .arg(text("tests", "PATHS").required(true).help(
            "Files and folders with tests, or single tests as pytest names them, separated by spaces",
        ))
        .arg(path("repository").long("repository").value_name("FOLDER").help("The repository [default: the current folder]"))
        .arg(path("patches").long("patches").value_name("FOLDER").help(
            "Write the slice as patches for git am --keep-cr --keep-non-patch, each with its message, author and date",
        ))
        .arg(text("branch", "NAME").help("Write the slice as a new branch that begins where the range does, or on that of --onto"))
        .arg(path("html").long("html").value_name("FILE").help("Write the result as a page"));
    let command = match is_command {
        true => command
            .arg(
                text("explain", "COMMIT")
                    .help("Say only why this commit, or another revision such as HEAD~2, stays or goes"),
            )
            .arg(flag("json").help("Print everything as JSON"))
            .arg(
                path("markdown")
                    .long("markdown")
                    .value_name("FILE")
                    .help("Write the result as Markdown, for a pull request"),
            ),
        false => command,
    };
    command_line::add_to(command, Job::Slice)
}

/// What a line of `slice` asks for. clap has checked that the range and the tests are given.
pub fn slice_request(matches: &ArgMatches) -> SliceRequest {
    let text = |name: &str| matches.get_one::<String>(name).cloned().unwrap_or_default();
    SliceRequest {
        repository: repository(matches),
        range: text("range"),
        tests: text("tests").split_whitespace().map(str::to_owned).collect(),
    }
}

/// The command `blame`. A magic returns its result as a value and prints nothing for other programs.
pub fn blame(is_command: bool) -> Command {
    let command = Command::new("blame")
        .about("Find the commit since which a call gives the value that it gives now")
        .override_usage("twincell blame [OPTIONS] --returns 'CALL' FILE:FUNCTION [OLD..NEW]")
        .after_help(
            "The call runs at commits of the history, in the sandbox, on the files that each has. Nothing is built or installed. \
             Renames and moves are followed. Commits at which the call cannot run are left out, as git bisect skip does.\n\
             Example: twincell blame --returns 'slugify(\"a  b\")' shop/text.py:slugify\n\
             Exit status: 0 the commit was found, 1 no commit changed it, 2 several commits are left, 3 bad input or failure, \
             130 interrupted.",
        )
        .arg(Arg::new("function").value_name("FILE:FUNCTION").required(true).help(
            "The file, and the qualified name of the function in it: src/shop/cart.py:Cart.total",
        ))
        .arg(Arg::new("range").value_name("OLD..NEW").help(
            "The commits between which to look; OLD alone ends at HEAD [default: from HEAD as far back as needed]",
        ))
        .arg(text("returns", "CALL").required(true).help(
            "A call of the function with literal arguments, as its module would write it: Cart(1).total(tax=2)",
        ))
        .arg(path("repository").long("repository").value_name("FOLDER").help("The repository [default: that of an absolute FILE, or the current folder]"))
        .arg(path("html").long("html").value_name("FILE").help("Also write the result as a page"));
    let command = match is_command {
        true => command
            .arg(flag("json").help("Print everything as JSON"))
            .arg(path("markdown").long("markdown").value_name("FILE").help("Also write the result as Markdown")),
        false => command,
    };
    command_line::add_to(command, Job::Blame)
}

/// What a line of `blame` asks. An error is one line for people.
pub fn blame_request(matches: &ArgMatches) -> Result<BlameRequest, String> {
    let text = |name: &str| matches.get_one::<String>(name).cloned();
    let (file, function) = file_and_function(&text("function").unwrap_or_default())?;
    let call = text("returns").unwrap_or_default();
    let folder = matches.get_one::<PathBuf>("repository").cloned();
    Ok(BlameRequest { folder, file, function, call, range: text("range"), text: None })
}

/// The command `impact`. A magic returns its result as a value and prints nothing for other programs.
pub fn impact(is_command: bool) -> Command {
    let command = Command::new("impact")
        .about("Find the statements beyond the changed ones that may see other values, and say why")
        .override_usage(
            "twincell impact [OPTIONS] OLD NEW\n       twincell impact [OPTIONS] --git OLD..NEW [PATH...]\n       \
             twincell impact [OPTIONS] --git OLD [--staged] [PATH...]",
        )
        .after_help(
            "Nothing runs. What is not named may still change where the code does what the analysis does not follow; the result \
             lists such places. The analysis goes level by level, and an interrupt ends it with the last whole one.\n\
             Example: twincell impact --git HEAD~1..HEAD --entry shop.main:run\n\
             Exit status: 0 no other statement may see other values, 1 some may, 2 none is known and a part was left out, 3 bad \
             input or failure, 130 interrupted.",
        )
        .arg(path("files").value_name("PATH").num_args(0..).help(
            "OLD and NEW, two files or two folders; with --git, the files and folders to analyze [default: all]",
        ))
        .arg(text("git", "OLD..NEW").help(
            "Two revisions of a repository, e.g. HEAD~1..HEAD or main...HEAD (since the branch left main), or one revision and the \
             files in the working tree, e.g. HEAD; nothing is checked out",
        ))
        .arg(flag("staged").requires("git").help("With --git OLD: what is staged for the next commit"))
        .arg(
            path("repository")
                .long("repository")
                .value_name("FOLDER")
                .requires("git")
                .help("With --git: the repository [default: the current folder]"),
        )
        .arg(path("html").long("html").value_name("FILE").help("Also write the result as a page"));
    let command = match is_command {
        true => command
            .arg(text("explain", "FILE:LINE").help(
                "Print only why the statement at a line of the new version may see other values: each link from the change to it; or what \
                 showed that it sees the same",
            ))
            .arg(flag("tests").conflicts_with_all(["explain", "markdown", "html", "sarif", "entry", "outside", "depth", "time"]).help(
                "Print the tests that may see the change, each with the reason, in place of the statements; PATH are the files and \
                 folders whose tests count. pytest --twincell-impact OLD runs them",
            ))
            .arg(text("test-files", "PATTERN").requires("tests").action(ArgAction::Append).help(
                "With --tests: a pattern for the names of files that hold tests [default: python_files of pytest's settings, or test_*.py and \
                 *_test.py]",
            ))
            .arg(flag("json").help("Print everything as JSON"))
            .arg(path("markdown").long("markdown").value_name("FILE").help("Also write the result as Markdown"))
            .arg(path("sarif").long("sarif").value_name("FILE").help(
                "Also write the impacted statements as SARIF, for code scanning",
            )),
        false => command,
    };
    command_line::add_to(command, Job::Impact)
}

/// What `impact --tests` asks. An error is one line for people.
pub fn selection_request(matches: &ArgMatches) -> Result<Option<SelectionRequest>, String> {
    if !matches.get_flag("tests") {
        return Ok(None);
    }
    let Some(range) = matches.get_one::<String>("git") else {
        return Err(
            "--tests works with --git only: give --git OLD..NEW, or --git OLD for the changes since then".to_owned()
        );
    };
    let words = |name: &str| matches.get_many::<String>(name).into_iter().flatten().cloned().collect();
    Ok(Some(SelectionRequest {
        start: repository(matches),
        range: range.clone(),
        staged: matches.get_flag("staged"),
        paths: matches.get_many::<PathBuf>("files").into_iter().flatten().cloned().collect(),
        test_files: words("test-files"),
        ..SelectionRequest::default()
    }))
}

/// The versions that a line of `impact` names. An error is one line for people.
pub fn impact_versions(matches: &ArgMatches) -> Result<ImpactVersions, String> {
    let paths: Vec<PathBuf> = matches.get_many::<PathBuf>("files").into_iter().flatten().cloned().collect();
    if let Some(range) = matches.get_one::<String>("git") {
        let (range, staged) = (range.clone(), matches.get_flag("staged"));
        return Ok(ImpactVersions::Git { start: repository(matches), range, staged, paths });
    }
    match <[PathBuf; 2]>::try_from(paths) {
        Ok([old, new]) => Ok(ImpactVersions::Paths(PerSide::new(old, new))),
        Err(_) => Err("give two files or folders, OLD and NEW, or --git OLD..NEW".to_owned()),
    }
}

fn repository(matches: &ArgMatches) -> PathBuf {
    matches.get_one::<PathBuf>("repository").cloned().unwrap_or_else(|| PathBuf::from("."))
}

fn prefix() -> Command {
    let command = Command::new("prefix")
        .about("Find code that makes an incomplete Python file run: imports and values to put before it")
        .override_usage("twincell prefix [OPTIONS] FILE.py\n       twincell prefix [OPTIONS] --study ROWS.jsonl FOLDER|FILE.py...")
        .after_help(
            "The file runs in the sandbox behind each prefix, as plain Python. A line counts as run when its statement \
             completes.\n\
             Rows of a study: id, folder, lines, as_is, error_before, by_step, coverage, best, best_step, tried, chosen, \
             milliseconds, stopped, reason, key. To resume a study that was stopped or killed, run the same command again.\n\
             Exit status: 0 every line runs (of a study: done), 1 some do not, 3 bad input or failure, 130 interrupted.",
        )
        .arg(path("file").value_name("FILE.py").required(true).num_args(1..).help("The file, or - for standard input; with --study, files and folders"))
        .arg(text("function", "NAME").help("Call the function with this qualified name, with what it needs of the file"))
        .arg(path("out").long("out").value_name("DIR").help(
            "Write each prefix with the file as a program that runs, named as in the report, in place of those that an earlier \
             run wrote there",
        ))
        .arg(path("pytest").long("pytest").value_name("FILE.py").help(
            "Write a pytest file that runs the file, or calls the function, on the values of each prefix, without twincell",
        ))
        .arg(path("html").long("html").value_name("FILE.html").help(
            "Write a page with the prefixes and their tree, or with the tables and figures of the study",
        ))
        .arg(
            path("study")
                .long("study")
                .value_name("ROWS.jsonl")
                .conflicts_with_all(["function", "out", "pytest", "json"])
                .help("Search prefixes for each .py file of folders, and write a row for each as they come"),
        )
        .arg(flag("fresh").requires("study").help("With --study: discard the rows that are there"))
        .arg(flag("json").help("Print as JSON"));
    command_line::add_to(command, Job::Prefix)
}

fn doctor() -> Command {
    let command = Command::new("doctor")
        .about("Report the set-up (Python, model, GPU, sandbox) and whether twincell can compare here")
        .override_usage("twincell doctor [OPTIONS]")
        .after_help("Exit status: 0 everything that a comparison needs works, 3 something does not.")
        .arg(
            flag("clean")
                .help("Remove the checkouts of repositories that are kept for amplify and the results of their tests"),
        )
        .arg(flag("json").help("Print as JSON"));
    command_line::add_to(command, Job::Doctor)
}

fn path(name: &'static str) -> Arg {
    Arg::new(name).value_parser(value_parser!(PathBuf))
}

fn text(name: &'static str, placeholder: &'static str) -> Arg {
    Arg::new(name).long(name).value_name(placeholder)
}

/// An address that a link in Markdown can hold.
fn link(text: &str) -> Result<String, String> {
    let is_plain = |c: char| c.is_ascii_graphic() && !matches!(c, '<' | '>' | '\\' | '"' | '`');
    let is_one = ["https://", "http://"].iter().any(|scheme| text.starts_with(scheme)) && text.chars().all(is_plain);
    is_one.then(|| text.to_owned()).ok_or_else(|| "give an address that begins with https://".to_owned())
}

fn flag(name: &'static str) -> Arg {
    Arg::new(name).long(name).action(ArgAction::SetTrue)
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_commands_are_well_formed() {
        super::command().debug_assert();
    }
}
