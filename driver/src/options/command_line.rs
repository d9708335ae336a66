//! The table of options as clap arguments, for the command line and for the magics alike.

use clap::{Arg, ArgAction, ArgMatches, Command};

use super::{Job, Kind, OptionError, OptionSpec, Options, Value, of};
use crate::policy::{InForceError, in_force};

/// Adds the options of a job to a command.
pub fn add_to(command: Command, job: Job) -> Command {
    of(job).fold(command, |command, spec| command.arg(argument(spec)))
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
pub fn given(matches: &ArgMatches, job: Job) -> Result<Vec<(&'static OptionSpec, Value)>, LineError> {
    let text = |spec: &OptionSpec| match spec.kind {
        Kind::Flag => matches.get_flag(spec.name).then(|| "on".to_owned()),
        _ => matches.get_one::<String>(spec.name).cloned(),
    };
    let typed = of(job).filter_map(|spec| Some((spec, text(spec)?)));
    typed.map(|(spec, text)| Ok((spec, spec.kind.parse(spec.name, &text).map_err(LineError::Option)?))).collect()
}

fn argument(spec: &'static OptionSpec) -> Arg {
    let argument = Arg::new(spec.name).long(spec.name).help(spec.full_help());
    match spec.kind {
        Kind::Flag => argument.action(ArgAction::SetTrue),
        _ => argument.value_name(spec.kind.placeholder()).allow_hyphen_values(true),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_option_of_the_table_is_an_argument_and_nothing_else_is() {
        for job in Job::ALL {
            let command = add_to(Command::new("twincell"), job);
            let arguments: Vec<_> = command.get_arguments().map(|argument| argument.get_id().as_str()).collect();
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
}
