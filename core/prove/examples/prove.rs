//! Prints as JSON what can be proved of pairs of functions.
//!
//! `cargo run -p twincell-prove --example prove -- OLD NEW FUNCTION` reads two files. Without arguments, each line of the input is
//! a JSON object with the texts `old` and `new` and the name `function`, and each line of the output is its answer.

use std::io::{BufRead, Write};

use twincell_prove::{Answer, DEPTH, ModuleNames, Reason, Unknown, prove};
use twincell_syntax::functions;

fn main() -> std::io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let mut out = std::io::stdout().lock();
    if let [old, new, function] = &arguments[..] {
        let answer = answer(&std::fs::read_to_string(old)?, &std::fs::read_to_string(new)?, function);
        return writeln!(out, "{}", serde_json::to_string(&answer)?);
    }
    for line in std::io::stdin().lock().lines() {
        let pair: serde_json::Value = serde_json::from_str(&line?)?;
        let text = |key: &str| pair[key].as_str().unwrap_or_default();
        writeln!(out, "{}", serde_json::to_string(&answer(text("old"), text("new"), text("function")))?)?;
    }
    Ok(())
}

/// Of the function of this name in two modules.
fn answer(old: &str, new: &str, function: &str) -> Answer {
    // The last one of a name: a setter stands behind its getter.
    let find = |text: &str| functions(text).0.into_iter().rfind(|one| one.qualname == function);
    let (Some(first), Some(second)) = (find(old), find(new)) else {
        return Answer::Unknown(Unknown { reason: Reason::NoFunction, lines: (0, 0) });
    };
    let [first, second] = [first, second].map(|one| {
        let decorators: String = one.decorators.iter().map(|decorator| format!("@{decorator}\n")).collect();
        format!("{decorators}{}", one.text)
    });
    let names = ModuleNames::new([old, new], [function, function]).looking_into([old, new], DEPTH);
    prove(&first, &second, &names)
}
