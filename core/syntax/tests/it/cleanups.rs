//! Which code runs after a failure at a site, as the table of sites says it.

use twincell_syntax::functions;
use twincell_syntax::instrument::instrument;

/// The fingerprint of what runs after a failure of the call that is written so.
fn cleanup(text: &str, call: &str) -> Option<u64> {
    let (functions, _) = functions(text);
    let table = instrument(&functions[0]).expect("it can be instrumented").sites;
    let site = table.sites.iter().position(|site| site.path == call).expect("the call is a site");
    table.cleanup(site)
}

#[test]
fn what_a_failure_runs_is_told_apart() {
    let bare = "def f(a):\n    a.work()\n    a.close()\n";
    let finished = "def f(a):\n    try:\n        a.work()\n    finally:\n        a.close()\n";
    let within = "def f(a):\n    with a.open() as b:\n        a.work()\n    a.close()\n";
    assert_eq!(cleanup(bare, "a.work()"), None);
    assert_eq!(cleanup(finished, "a.close()"), None);
    assert_eq!(cleanup(within, "a.open()"), None);
    let (by_finally, by_with) = (cleanup(finished, "a.work()"), cleanup(within, "a.work()"));
    assert!(by_finally.is_some() && by_with.is_some() && by_finally != by_with);
}

#[test]
fn layout_and_the_name_of_what_is_opened_say_nothing() {
    let one = "def f(a):\n    with a.open( ) as b:\n        a.work()\n";
    let other = "def f(a):\n    with (a.open()) as other:  # here\n        a.work()\n";
    assert_eq!(cleanup(one, "a.work()"), cleanup(other, "a.work()"));
}

#[test]
fn a_function_within_runs_by_itself() {
    let text = "def f(a):\n    with a.open():\n        def g():\n            a.work()\n        return g\n";
    assert_eq!(cleanup(text, "a.work()"), None);
}
