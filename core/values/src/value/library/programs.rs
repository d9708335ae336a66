//! What programs are run with: arguments of the command line, loggers, exceptions.

use super::{Provider, made, of_texts, text};
use crate::value::Recipe;

pub(super) const PROVIDERS: &[Provider] = &[
    Provider::new("logging.Logger", loggers).made_by(&["logging.getLogger"]),
    Provider::new("builtins.Exception", || failures("builtins.Exception")).also(&["BaseException"]).made_by(&[
        "builtins.ValueError",
        "builtins.KeyError",
        "builtins.OSError",
    ]),
    Provider::new("builtins.ValueError", || failures("builtins.ValueError")),
    Provider::new("builtins.KeyError", || failures("builtins.KeyError")),
    Provider::new("builtins.TypeError", || failures("builtins.TypeError")),
    Provider::new("builtins.RuntimeError", || failures("builtins.RuntimeError")),
    Provider::new("builtins.OSError", system_failures)
        .also(&["IOError"])
        .made_by(&["builtins.FileNotFoundError", "builtins.PermissionError"]),
];

fn loggers() -> Vec<Recipe> {
    of_texts("logging.getLogger", &["app", "app.db"])
}

fn failures(class: &str) -> Vec<Recipe> {
    let own = [vec![text("broken")], vec![], vec![text("broken"), Recipe::Int(3)]];
    let others = ["builtins.ValueError", "builtins.KeyError"].map(|other| made(other, [text("a")]));
    let own = own.map(|arguments| made(class, arguments)).into_iter();
    own.chain(others.into_iter().filter(|_| class == "builtins.Exception")).collect()
}

fn system_failures() -> Vec<Recipe> {
    let failure = |class: &str, number: i64, reason: &str| made(class, [Recipe::Int(number), text(reason)]);
    vec![
        failure("builtins.OSError", 5, "Input/output error"),
        made("builtins.OSError", [text("broken")]),
        failure("builtins.FileNotFoundError", 2, "No such file or directory"),
        failure("builtins.PermissionError", 13, "Permission denied"),
    ]
}
