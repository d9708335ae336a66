//! Proofs that look into calls: functions that were extracted, inlined, or changed together with their callers.

use twincell_prove::{Answer, ModuleNames, Proof, prove};
use twincell_syntax::functions;

/// The proof for `f` of two modules, as far as it looks into calls.
fn proof(old: &str, new: &str, depth: u32) -> Option<Proof> {
    let text = |module: &str| functions(module).0.into_iter().find(|one| one.entity() == "f").unwrap().text;
    let names = ModuleNames::new([old, new], ["f", "f"]).looking_into([old, new], depth);
    match prove(&text(old), &text(new), &names) {
        Answer::Equivalent(proof) if proof.arguments.is_empty() => Some(proof),
        _ => None,
    }
}

fn looks_into(old: &str, new: &str, depth: u32) -> Option<Vec<String>> {
    proof(old, new, depth).map(|proof| proof.looked_into.into_iter().collect())
}

const WHOLE: &str = "\
def f(items, log):
    for item in items:
        if item is None:
            log('nothing')
            continue
        price = item.net
        price = price * item.rate
        log(price)
    return len(items)
";
const EXTRACTED: &str = "\
def f(items, log):
    for item in items:
        g(item, log=log)
    return len(items)

def g(item, log):
    if item is None:
        log('nothing')
        return
    log(price(item))

def price(item, factor=None):
    net = item.net
    return net * item.rate
";

#[test]
fn extracted_functions_are_looked_into_as_deep_as_is_said() {
    assert_eq!(looks_into(WHOLE, EXTRACTED, 0), None);
    assert_eq!(looks_into(WHOLE, EXTRACTED, 1), None);
    assert_eq!(looks_into(WHOLE, EXTRACTED, 2), Some(vec!["g".to_owned(), "price".to_owned()]));
    assert_eq!(looks_into(EXTRACTED, WHOLE, 2), Some(vec!["g".to_owned(), "price".to_owned()]));
}

#[test]
fn what_an_extracted_function_does_otherwise_is_no_proof() {
    for (text, other) in [
        ("net * item.rate", "item.rate * net"),
        ("'nothing'", "'none'"),
        ("        return\n    log", "        log('end')\n    log"),
        ("    for item in items:\n        g(item, log=log)", "    for item in items:\n        g(item, log=print)"),
        ("    net = item.net\n    return net *", "    return item.net * net *"),
        ("price(item)", "price(item, 2, 3)"),
        ("def price", "@cached\ndef price"),
        ("def price", "price = None\ndef price"),
        ("    net = item.net\n", "    net = item.net\n    yield net\n"),
    ] {
        assert!(EXTRACTED.contains(text), "{text}");
        assert_eq!(looks_into(WHOLE, &EXTRACTED.replace(text, other), 2), None, "{other}");
    }
}

#[test]
fn classes_and_star_imports_give_names_another_meaning() {
    let old = "class A:\n    def f(self):\n        return self.__n\n";
    let new = "class A:\n    def f(self):\n        return g(self)\ndef g(a):\n    return a.__n\n";
    let method = |module: &str| functions(module).0.into_iter().find(|one| one.entity() == "A.f").unwrap().text;
    let proof = |old: &str, new: &str| {
        let names = ModuleNames::new([old, new], ["A.f", "A.f"]).looking_into([old, new], 1);
        matches!(prove(&method(old), &method(new), &names), Answer::Equivalent(_))
    };
    assert!(!proof(old, new));
    assert!(proof(&old.replace("__n", "n"), &new.replace("__n", "n")));
    let guarded = "try:\n    from fast import *\nexcept ImportError:\n    pass\n";
    let (old, new) = ("def f(x):\n    return x.a\n", "def f(x):\n    return g(x)\ndef g(x):\n    return x.a\n");
    assert!(looks_into(old, new, 1).is_some());
    assert!(looks_into(&format!("{old}{guarded}"), &format!("{new}{guarded}"), 1).is_none());
}

#[test]
fn locals_of_a_function_in_a_loop_begin_unbound_each_time() {
    let old = "def f(items):\n    for item in items:\n        if item is None:\n            last = item\n        print(last)\n";
    let new = "def f(items):\n    for item in items:\n        g(item)\ndef g(item):\n    if item is None:\n        last = item\n    \
               print(last)\n";
    assert_eq!(looks_into(old, new, 2), None);
}

#[test]
fn exceptions_leave_the_function_that_is_looked_into() {
    let old = "def f(x):\n    try:\n        if x is None:\n            raise ValueError('no')\n        y = x.y\n    except ValueError:\n        \
               return 1\n    return y\n";
    let new = "def f(x):\n    try:\n        y = g(x)\n    except ValueError:\n        return 1\n    return y\ndef g(x):\n    if x is None:\n        \
               raise ValueError('no')\n    return x.y\n";
    assert_eq!(looks_into(old, new, 1), Some(vec!["g".to_owned()]));
    assert_eq!(looks_into(old, &new.replace("except ValueError", "except KeyError"), 1), None);
}

#[test]
fn two_functions_that_changed_together_do_the_same() {
    let old = "def f(x):\n    return g(x, 1)\ndef g(x, by):\n    return x.move(by)\n";
    let new = "def f(x):\n    return g(1, x)\ndef g(by, x):\n    return x.move(by)\n";
    assert_eq!(looks_into(old, new, 1), Some(vec!["g".to_owned()]));
    assert_eq!(looks_into(old, &new.replace("g(1, x)", "g(x, 1)"), 1), None);
}
