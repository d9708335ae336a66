//! Old spellings of options: each works for one version, is listed nowhere, and is answered with what to write instead.

use super::{Job, Kind, OptionSpec, Value};

/// An old spelling of an option.
#[derive(Debug, PartialEq)]
pub struct Alias {
    pub name: &'static str,
    pub jobs: &'static [Job],
    /// The option that it stands for.
    pub option: &'static str,
    /// The value that it stands for, if the old spelling was a flag. Otherwise the old values are those of the option.
    pub flag: Option<&'static str>,
}

impl Alias {
    /// What the old spelling accepts.
    pub fn kind(&self, spec: &OptionSpec) -> Kind {
        if self.flag.is_some() { Kind::Flag } else { spec.kind }
    }

    /// The value of the option for a checked value of the old spelling.
    pub(super) fn value(&self, value: Value) -> Value {
        match self.flag {
            Some(word) => Value::Words(if value.flag() { vec![word] } else { vec![] }),
            None => value,
        }
    }
}

/// All old spellings. Those that came with one version go with the next one.
pub static ALIASES: &[Alias] = &[
    Alias { name: "without", jobs: &[Job::Compare, Job::Study], option: "disable", flag: None },
    Alias { name: "skip", jobs: &[Job::Prefix], option: "disable", flag: None },
    Alias { name: "unguided", jobs: &[Job::Amplify], option: "disable", flag: Some("guidance") },
    Alias { name: "rounds", jobs: &[Job::Prefix], option: "budget", flag: None },
    Alias { name: "tokens", jobs: &[Job::Prefix], option: "budget-tokens", flag: None },
    Alias { name: "variants", jobs: &[Job::Amplify], option: "budget", flag: None },
    Alias { name: "search-rounds", jobs: &[Job::Amplify], option: "budget-rounds", flag: None },
];

/// The old spellings that a job takes.
pub fn aliases_of(job: Job) -> impl Iterator<Item = &'static Alias> {
    ALIASES.iter().filter(move |alias| alias.jobs.contains(&job))
}

/// An old spelling that somebody used.
#[derive(Debug, Clone, PartialEq)]
pub struct Deprecation {
    pub(crate) alias: &'static Alias,
    /// The value that was given, as the option takes it.
    pub(crate) value: Value,
    /// The file and line of the policy. Absent if it was given to a command, a magic or a function.
    pub(crate) place: Option<String>,
}

/// How a surface writes options.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spelling {
    /// `--budget-rounds 3`.
    CommandLine,
    /// `budget_rounds=3`.
    Python,
}

impl Deprecation {
    /// What to write instead, in one line.
    pub fn line(&self, spelling: Spelling) -> String {
        let Alias { name: old, option: new, .. } = self.alias;
        match (&self.place, spelling) {
            (Some(place), _) => format!("{place}: {}", said(old, &format!("{new} = {}", quoted(&self.value)))),
            (None, Spelling::CommandLine) => said(&format!("--{old}"), &format!("--{new} {}", self.value)),
            (None, Spelling::Python) => {
                let keyword = |name: &str| name.replace('-', "_");
                said(&keyword(old), &format!("{}={}", keyword(new), quoted(&self.value)))
            }
        }
    }
}

fn said(old: &str, new: &str) -> String {
    format!("{old} is the old spelling of {new}: write that, since the next version drops {old}")
}

/// A value as Python and TOML write it.
fn quoted(value: &Value) -> String {
    match value {
        Value::Words(words) => {
            let words: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
            format!("[{}]", words.join(", "))
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{find_for, of};
    use super::*;

    #[test]
    fn an_alias_stands_for_an_option_of_its_jobs_and_hides_none() {
        for alias in ALIASES {
            assert!(!alias.jobs.is_empty(), "{} is a spelling for nothing", alias.name);
            for job in alias.jobs {
                let name = find_for(*job, alias.name).unwrap();
                assert_eq!((name.spec.name, name.alias), (alias.option, Some(alias)));
                assert!(of(*job).all(|spec| spec.name != alias.name), "{} is an option of its own", alias.name);
                assert_eq!(aliases_of(*job).filter(|other| other.name == alias.name).count(), 1);
                if let Some(word) = alias.flag {
                    assert!(name.spec.kind.parse(alias.option, word).is_ok());
                }
            }
        }
    }

    #[test]
    fn the_line_says_what_to_write_in_the_words_of_its_surface() {
        let of =
            |job, name: &str, text: &str| find_for(job, name).unwrap().parse(text).unwrap().deprecation(None).unwrap();
        let rounds = of(Job::Amplify, "search-rounds", "0");
        assert_eq!(
            rounds.line(Spelling::CommandLine),
            "--search-rounds is the old spelling of --budget-rounds 0: write that, since the next version drops \
             --search-rounds"
        );
        assert!(rounds.line(Spelling::Python).starts_with("search_rounds is the old spelling of budget_rounds=0: "));
        let unguided = of(Job::Amplify, "unguided", "on");
        assert!(unguided.line(Spelling::CommandLine).contains(" of --disable guidance: "));
        assert!(unguided.line(Spelling::Python).contains(" of disable=[\"guidance\"]: "));
        let without = find_for(Job::Compare, "without").unwrap().parse("calls,trial").unwrap();
        let line = without.deprecation(Some("twincell.toml:3".to_owned())).unwrap().line(Spelling::Python);
        assert!(line.starts_with("twincell.toml:3: without is the old spelling of disable = [\"calls\", \"trial\"]: "));
    }
}
