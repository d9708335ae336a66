//! Statements of a test that are put into a `with` block, and the imports that this needs.

use crate::body::InsertionPoint;
use crate::code::{Code, Edit};

/// The code with a statement in a `with` block, behind `first` lines of it, and lines behind the block.
pub fn within(code: &Code, place: &InsertionPoint, context: &str, first: &[String], behind: &[String]) -> Option<Code> {
    let statement = code.slice(place.range);
    if statement.contains("'''") || statement.contains("\"\"\"") {
        return None;
    }
    let inner = statement.replace('\n', "\n    ");
    let first: String = first.iter().map(|line| format!("{line}\n{}    ", place.indent)).collect();
    let block = format!("with {context}:\n{}    {first}{inner}", place.indent);
    let lines: String = behind.iter().map(|line| format!("{}{line}\n", place.indent)).collect();
    code.edited(vec![Edit::replace(place.range, block), Edit::insert(place.behind, lines)])
}

/// The import that an exception's class needs. `None` if its name does not say where it is.
#[allow(clippy::option_option)]
pub fn import_of(class: &str) -> Option<Option<String>> {
    match class.rsplit_once('.') {
        None => Some(None),
        Some((module, name)) => {
            let is_module = !module.contains('<') && !module.rsplit('.').next()?.starts_with(char::is_uppercase);
            is_module.then(|| Some(format!("from {module} import {name}")))
        }
    }
}
