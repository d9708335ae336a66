//! What must hold of the parser and the instrumentation for any text. Shared by the property tests and by the fuzz
//! target in `core/syntax/fuzz`.

pub mod grammar;

use twincell_syntax::functions;
use twincell_syntax::instrument::{Instrumented, instrument, instrument_module};

/// Panics where something does not hold.
pub fn check(text: &str) {
    let (found, errors) = functions(text);
    for function in &found {
        match instrument(function) {
            Ok(result) => lines_are_kept(&function.text, &result),
            Err(error) => is_no_bug(&error.to_string(), &function.text),
        }
    }
    match instrument_module(text) {
        Ok(result) => lines_are_kept(text, &result),
        Err(error) if errors.is_empty() => is_no_bug(&error.to_string(), text),
        Err(_) => {}
    }
}

/// A text that is refused says so of itself; one whose result is wrong is a bug.
fn is_no_bug(error: &str, text: &str) {
    assert!(!error.contains("please report") && !error.contains("overlap"), "{error}\n{text}");
}

/// Each mark stands in its line, and there are as many lines as before.
fn lines_are_kept(text: &str, result: &Instrumented) {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text).replace("\r\n", "\n").replace('\r', "\n");
    assert_eq!(text.matches('\n').count(), result.code.matches('\n').count(), "{text}\n->\n{}", result.code);
    for (index, line) in result.code.split('\n').enumerate() {
        for mark in line.split("_tc_l(").skip(1) {
            let number: String = mark.chars().take_while(char::is_ascii_digit).collect();
            // In a text that has hooks of its own, anything may stand there.
            if !text.contains("_tc_") {
                assert_eq!(number, (index + 1).to_string(), "{text}\n->\n{}", result.code);
            }
        }
    }
}
