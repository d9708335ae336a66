//! Messages to loggers, and warnings, which are a channel. A message is what its reader would see, with its arguments
//! filled in, however the code composed it. Its destination depends on how logging is configured, which no module
//! determines by itself.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple, PyType};

use twincell_engine::observed::Logged;
use twincell_values::path::AccessPath;

use crate::execution::object::MockObject;
use crate::execution::{state, steps};
use crate::observe;

/// The maximum number of messages kept from one run.
const MAX_MESSAGES: usize = 1000;

/// Method of a logger -> level. [`BY_NUMBER`] takes the level as an argument.
const LEVELS: [(&str, &str); 8] = [
    ("debug", "debug"),
    ("info", "info"),
    ("warning", "warning"),
    ("warn", "warning"),
    ("error", "error"),
    ("exception", "error"),
    ("critical", "critical"),
    ("fatal", "critical"),
];
const BY_NUMBER: &str = "log";

type Keywords<'a, 'py> = Option<&'a Bound<'py, PyDict>>;

/// The name of a method of a logger, or of a similar function of `logging`, if this is one.
pub(crate) fn real_method(callee: &Bound<'_, PyAny>) -> Option<String> {
    let name: String = callee.getattr("__name__").ok()?.extract().ok()?;
    if !is_level(&name) || callee.getattr("__module__").ok()?.extract::<String>().ok()? != "logging" {
        return None;
    }
    Some(name)
}

/// Whether the path of a missing callee is that of a logger's method (`self.logger.info`,
/// `logging.getLogger('x').error`).
pub(crate) fn missing_method(path: AccessPath<'_>) -> Option<&str> {
    let (owner, name) = path.split_attribute()?;
    if !is_level(name) {
        return None;
    }
    // The result of a call is named after the call.
    let owner = if owner.ends_in_call() { owner.before_first_call().unwrap_or(owner) } else { owner };
    let owner = owner.last_name().trim_matches('_').to_ascii_lowercase();
    (owner == "log" || owner.ends_with("logger") || owner == "logging" || owner.ends_with("_log")).then_some(name)
}

fn is_level(name: &str) -> bool {
    name == BY_NUMBER || LEVELS.iter().any(|(method, _)| *method == name)
}

/// Records the arguments of a call of a logger's method.
pub(crate) fn record(method: &str, arguments: &Bound<'_, PyTuple>, keywords: Keywords<'_, '_>) -> PyResult<()> {
    let mut given = arguments.iter();
    let mut level = LEVELS.iter().find(|(name, _)| *name == method).map_or(method, |(_, level)| level).to_string();
    let keyword = |name: &str| keywords.and_then(|keywords| keywords.get_item(name).ok().flatten());
    if method == BY_NUMBER {
        level = given.next().or_else(|| keyword("level")).map_or(level, |level| level_name(&level));
    }
    let Some(message) = given.next().or_else(|| keyword("msg")) else { return Ok(()) };
    let rest: Vec<Bound<'_, PyAny>> = given.collect();
    let mut message = filled(&message, &rest)?;
    let traceback = match keyword("exc_info") {
        Some(asked) => asked.is_truthy().unwrap_or(true),
        None => method == "exception",
    };
    if traceback {
        message.push_str(" [with traceback]");
    }
    push(level, message);
    Ok(())
}

/// The name of a level that is given as a number or, if `logging` is missing, by its path.
fn level_name(level: &Bound<'_, PyAny>) -> String {
    match level.extract::<i64>() {
        Ok(10) => "debug".into(),
        Ok(20) => "info".into(),
        Ok(30) => "warning".into(),
        Ok(40) => "error".into(),
        Ok(50) => "critical".into(),
        Ok(other) => other.to_string(),
        Err(_) => AccessPath::from(&observe::short(level)).last_name().to_ascii_lowercase(),
    }
}

/// `message % arguments`, as `logging` formats messages. If they do not fit, the arguments are added after the message.
fn filled<'py>(message: &Bound<'py, PyAny>, arguments: &[Bound<'py, PyAny>]) -> PyResult<String> {
    let py = message.py();
    let text = text_of(message);
    if arguments.is_empty() {
        return Ok(text);
    }
    let values: Bound<'py, PyAny> = match arguments {
        [only] if only.cast::<PyDict>().is_ok_and(|dict| !dict.is_empty()) => only.clone(),
        _ => PyTuple::new(py, arguments)?.into_any(),
    };
    match PyString::new(py, &text).as_any().rem(&values) {
        Ok(filled) => Ok(text_of(&filled)),
        Err(error) if error.is_instance_of::<steps::StopExecution>(py) => Err(error),
        Err(_) => Ok(format!("{text} {}", observe::short(&values))),
    }
}

fn text_of(value: &Bound<'_, PyAny>) -> String {
    match value.cast::<PyString>() {
        Ok(text) => observe::characters(text),
        Err(_) => value.str().map_or_else(|_| observe::short(value), |text| observe::characters(&text)),
    }
}

/// Records a warning, without the place that it comes from, which differs between versions.
pub(crate) fn warned(message: &Bound<'_, PyAny>, category: Option<&Bound<'_, PyAny>>) {
    let class = message.get_type();
    let of_class = class.is_subclass_of::<pyo3::exceptions::PyWarning>().unwrap_or(false).then(|| class.into_any());
    let category = of_class.or_else(|| category.filter(|category| !category.is_none()).cloned());
    let name = match category {
        Some(category) => match category.cast::<PyType>() {
            Ok(class) => observe::class_name(class),
            Err(_) => AccessPath::from(&observe::short(&category)).last_name().to_string(),
        },
        None => "UserWarning".to_string(),
    };
    push(name, text_of(message));
}

/// `warnings.warn` if `warnings` is missing: records the warning.
pub(crate) fn missing_warning(
    path: AccessPath<'_>,
    arguments: &Bound<'_, PyTuple>,
    keywords: Keywords<'_, '_>,
) -> PyResult<bool> {
    if path != "warnings.warn".into() {
        return Ok(false);
    }
    let keyword = |name: &str| keywords.and_then(|keywords| keywords.get_item(name).ok().flatten());
    let Some(message) = arguments.get_item(0).ok().or_else(|| keyword("message")) else { return Ok(false) };
    if message.is_instance_of::<MockObject>() && arguments.len() == 1 && keywords.is_none() {
        return Ok(false);
    }
    let category = arguments.get_item(1).ok().or_else(|| keyword("category"));
    warned(&message, category.as_ref());
    Ok(true)
}

fn push(level: String, message: String) {
    let message = observe::bounded(message);
    state::with(|execution| {
        let line = execution.run.line;
        if !execution.loading && execution.run.log.len() < MAX_MESSAGES {
            execution.run.log.push(Logged { level, message, line });
        }
    });
}

#[cfg(test)]
mod tests {
    use super::missing_method;

    #[test]
    fn loggers_are_known_by_what_they_are_called() {
        for path in
            ["logger.info", "self._logger.debug", "LOG.warning", "logging.getLogger('a.b').error", "app.logger.log"]
        {
            assert!(missing_method(path.into()).is_some(), "{path}");
        }
        for path in ["self.error", "catalog.info", "dialog.warning", "logger.setLevel", "log", "self.log"] {
            assert!(missing_method(path.into()).is_none(), "{path}");
        }
    }
}
