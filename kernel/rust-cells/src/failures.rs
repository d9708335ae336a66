//! Errors of evcxr as events.

use evcxr::{CompilationError, Error};

use crate::protocol::{Event, Mark, Problem};

/// What is told of an error. The end of the process that runs cells is told by [`crate::cells`].
pub fn event(error: &Error) -> Event {
    match error {
        Error::CompilationErrors(errors) => Event::Compiler { errors: errors.iter().map(problem).collect() },
        Error::SubprocessTerminated(status) => Event::Exited { status: last_line(status) },
        Error::TypeRedefinedVariablesLost(names) => {
            let message =
                format!("a type was defined anew, so these variables of the old type are lost: {}", names.join(", "));
            Event::Error { message }
        }
        Error::Message(message) => Event::Error { message: message.clone() },
    }
}

/// Whether cargo, and not the compiler, refused: perhaps since a crate is not on this machine yet.
pub fn is_of_cargo(error: &Error) -> bool {
    match error {
        Error::CompilationErrors(errors) => errors.iter().all(|one| one.code().is_none() && one.json.is_null()),
        // The cell may have run.
        Error::Message(_) | Error::SubprocessTerminated(_) | Error::TypeRedefinedVariablesLost(_) => false,
    }
}

fn problem(error: &CompilationError) -> Problem {
    let marks = error.spanned_messages().iter().filter_map(|said| {
        let span = said.span.as_ref()?;
        Some(Mark {
            start_line: span.start_line,
            start_column: span.start_column,
            end_line: span.end_line,
            end_column: span.end_column,
            label: said.label.clone(),
            primary: said.is_primary,
        })
    });
    let hint = error.evcxr_extra_hint().map(str::to_owned);
    Problem {
        code: error.code().map(str::to_owned),
        message: error.message(),
        spans: marks.collect(),
        help: error.help().into_iter().chain(hint).collect(),
    }
}

fn last_line(status: &str) -> String {
    status.trim_end().lines().last().unwrap_or_default().to_owned()
}
