//! The table of options as clap arguments, for the command line and for the magics alike.

use clap::{Arg, ArgAction, ArgMatches, Command};

use crate::options::{GivenOption, Job, Kind, OptionError, OptionName, Options, add_given, aliases_of, find_for, of};
use crate::policy::{InForceError, in_force};

/// Adds the options of a job to a command, and their old spellings, which no help lists.
pub fn add_to(command: Command, job: Job) -> Command {
    names(job).into_iter().fold(command, |command, name| command.arg(argument(name)))
}

/// Why a line gives no options. An option is named as it is typed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LineError {
    #[error("--{0}")]
    Option(OptionError),
    #[error(transparent)]
    Policy(#[from] crate::policy::PolicyError),
    #[error("{0}")]
    Examples(String),
}

impl From<InForceError> for LineError {
    fn from(error: InForceError) -> Self {
        match error {
            InForceError::Option(error) => LineError::Option(error),
            InForceError::Policy(error) => LineError::Policy(error),
            InForceError::Examples(error) => LineError::Examples(error),
        }
    }
}

/// clap's message without its usage and hints, on one line.
pub fn one_line(error: &clap::Error) -> String {
    let message = error.render().to_string();
    let lines = message.lines().take_while(|line| !line.starts_with("Usage:") && !line.starts_with("For more"));
    let words: Vec<&str> = lines.flat_map(str::split_whitespace).collect();
    words.join(" ").trim_start_matches("error: ").replace(" tip: ", "; ")
}

/// The given options on top of the policy, and the policy on top of the defaults.
pub fn read(matches: &ArgMatches, job: Job) -> Result<Options, LineError> {
    Ok(in_force(job, &given(matches, job)?)?)
}

/// The given options, checked.
pub fn given(matches: &ArgMatches, job: Job) -> Result<Vec<GivenOption>, LineError> {
    let mut given = Vec::new();
    for name in names(job) {
        let text = match name.kind() {
            Kind::Flag => matches.get_flag(name.name()).then(|| "on".to_owned()),
            _ => matches
                .get_many::<String>(name.name())
                .map(|texts| texts.map(String::as_str).collect::<Vec<_>>().join(",")),
        };
        if let Some(text) = text {
            let one = name.parse(&text).map_err(LineError::Option)?;
            add_given(&mut given, one).map_err(LineError::Option)?;
        }
    }
    Ok(given)
}

/// The names of a job's options, old spellings last.
fn names(job: Job) -> Vec<OptionName> {
    let old = aliases_of(job).filter_map(|alias| find_for(job, alias.name).ok());
    of(job).map(|spec| OptionName { spec, alias: None }).chain(old).collect()
}

fn argument(name: OptionName) -> Arg {
    let argument = Arg::new(name.name()).long(name.name()).hide(name.alias.is_some()).help(name.spec.full_help());
    match name.kind() {
        Kind::Flag => argument.action(ArgAction::SetTrue),
        kind => {
            let argument = argument.value_name(kind.placeholder()).allow_hyphen_values(true);
            if kind.is_list() { argument.action(ArgAction::Append) } else { argument }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_option_of_the_table_is_an_argument_and_nothing_else_is() {
        for job in Job::ALL {
            let command = add_to(Command::new("twincell"), job);
            let shown = command.get_arguments().filter(|argument| !argument.is_hide_set());
            let arguments: Vec<_> = shown.map(|argument| argument.get_id().as_str()).collect();
            let expected: Vec<_> = of(job).map(|spec| spec.name).collect();
            assert_eq!(arguments, expected);
        }
    }

    #[test]
    fn arguments_reach_the_options_by_way_of_the_same_checks() {
        let parse = |words: &[&str]| {
            let command = add_to(Command::new("twincell").no_binary_name(true), Job::Compare);
            read(&command.try_get_matches_from(words).unwrap(), Job::Compare)
        };
        let options = parse(&["--budget", "7", "--raise-probability=0.5", "--predictor", "uniform"]).unwrap();
        assert_eq!((options.budget, options.raise_probability), (7, 0.5));
        assert_eq!(
            parse(&["--seed", "-1"]).unwrap_err().to_string(),
            format!("--seed cannot be -1: give a whole number from 0 to {}", u64::MAX)
        );
    }

    #[test]
    fn lists_add_up_and_old_spellings_mean_the_same() {
        let parse = |job, words: &[&str]| {
            let command = add_to(Command::new("twincell").no_binary_name(true), job);
            read(&command.try_get_matches_from(words).unwrap(), job)
        };
        let disabled = |words: &[&str]| parse(Job::Compare, words).unwrap().techniques;
        let expected = disabled(&["--disable", "calls,trial"]);
        assert!(!expected.calls && !expected.trial && expected.learning);
        for words in [
            &["--disable", "calls", "--disable=trial"][..],
            &["--without", "calls,trial"],
            &["--disable", "calls", "--without", "trial"],
        ] {
            assert_eq!(disabled(words), expected, "{words:?}");
        }
        for (job, old, new) in [
            (
                Job::Prefix,
                &["--skip", "solver", "--rounds", "0", "--tokens", "7"][..],
                &["--disable", "solver", "--budget", "0", "--budget-tokens", "7"][..],
            ),
            (
                Job::Amplify,
                &["--unguided", "--variants", "7", "--search-rounds", "0"],
                &["--disable", "guidance", "--budget", "7", "--budget-rounds", "0"],
            ),
        ] {
            let old = parse(job, old).unwrap();
            assert_eq!(old.deprecations.len(), 3);
            assert_eq!(Options { deprecations: vec![], ..old }, parse(job, new).unwrap());
        }
        let error = parse(Job::Prefix, &["--rounds", "1", "--budget", "2"]).unwrap_err().to_string();
        assert_eq!(error, "--rounds is the old spelling of budget: give only one of them");
        let error = parse(Job::Amplify, &["--disable", "luck"]).unwrap_err().to_string();
        assert_eq!(error, "--disable cannot be 'luck': give guidance");
    }
}
