//! Options that somebody gave: which one a name means for a job, and its checked value.

use super::TABLE;
use super::{Alias, Deprecation, Job, Kind, OptionError, OptionSpec, Options, Value, aliases_of, keywords, of};

/// What a name stands for in a job.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OptionName {
    pub spec: &'static OptionSpec,
    /// The old spelling, if the name is one.
    pub alias: Option<&'static Alias>,
}

/// An option that somebody gave, with its checked value.
#[derive(Debug, Clone, PartialEq)]
pub struct GivenOption {
    pub spec: &'static OptionSpec,
    pub value: Value,
    /// The old spelling, if that was given.
    pub alias: Option<&'static Alias>,
}

/// The option of a job with this name or old spelling, as the command line (`raise-probability`) or as Python
/// (`raise_probability`) writes it.
pub fn find_for(job: Job, name: &str) -> Result<OptionName, OptionError> {
    let dashed = name.replace('_', "-");
    let named = |wanted: &str| of(job).find(|spec| spec.name == wanted);
    if let Some(spec) = named(&dashed) {
        return Ok(OptionName { spec, alias: None });
    }
    let alias = aliases_of(job).find(|alias| alias.name == dashed);
    if let Some((alias, spec)) = alias.and_then(|alias| Some((alias, named(alias.option)?))) {
        return Ok(OptionName { spec, alias: Some(alias) });
    }
    let (name, known) = (name.to_owned(), keywords(job));
    Err(if TABLE.iter().any(|spec| spec.name == dashed) {
        OptionError::OfOtherJob { job: job.name(), name, known }
    } else {
        OptionError::Unknown { name, known }
    })
}

impl OptionName {
    /// The name as it was given, on the command line.
    pub fn name(&self) -> &'static str {
        self.alias.map_or(self.spec.name, |alias| alias.name)
    }

    /// What may be given.
    pub fn kind(&self) -> Kind {
        self.alias.map_or(self.spec.kind, |alias| alias.kind(self.spec))
    }

    /// The option with what a user typed.
    pub fn parse(self, text: &str) -> Result<GivenOption, OptionError> {
        Ok(self.with(self.kind().parse(self.name(), text)?))
    }

    /// The option with a value.
    pub fn check(self, value: Value) -> Result<GivenOption, OptionError> {
        Ok(self.with(self.kind().check(self.name(), value)?))
    }

    fn with(self, value: Value) -> GivenOption {
        let value = self.alias.map_or_else(|| value.clone(), |alias| alias.value(value.clone()));
        GivenOption { spec: self.spec, value, alias: self.alias }
    }
}

impl GivenOption {
    pub(crate) fn apply(&self, options: &mut Options) {
        (self.spec.apply)(options, self.value.clone());
    }

    /// What is to say of an old spelling. `place` is that in a policy.
    pub(crate) fn deprecation(&self, place: Option<String>) -> Option<Deprecation> {
        self.alias.map(|alias| Deprecation { alias, value: self.value.clone(), place })
    }
}

/// Adds an option to those given. Lists under an old and a new name add up; of other options, one name is enough.
pub fn add_given(given: &mut Vec<GivenOption>, one: GivenOption) -> Result<(), OptionError> {
    let Some(before) = given.iter_mut().find(|before| before.spec == one.spec) else {
        given.push(one);
        return Ok(());
    };
    match (&mut before.value, one.value) {
        (Value::Words(words), Value::Words(more)) => words.extend(more),
        (Value::Texts(texts), Value::Texts(more)) => texts.extend(more),
        _ => {
            let old = before.alias.or(one.alias).map_or(one.spec.name, |alias| alias.name);
            return Err(OptionError::Twice { old, new: one.spec.name });
        }
    }
    before.alias = before.alias.or(one.alias);
    Ok(())
}
