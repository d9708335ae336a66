//! Pairs of functions with what must be proved of them. Each case of `pairs/*.txt` has an old version, a new one that does the same,
//! and a near miss that does not; the line below its title says for which arguments the proof must hold.

use std::path::Path;

use twincell_prove::{Answer, ModuleNames, prove};

struct Case {
    title: String,
    arguments: String,
    old: String,
    new: String,
    near: String,
}

fn cases() -> Vec<Case> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pairs");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files.iter().flat_map(|file| parse(&std::fs::read_to_string(file).unwrap())).collect()
}

fn parse(text: &str) -> Vec<Case> {
    text.split("=== ")
        .skip(1)
        .map(|case| {
            let (head, rest) = case.split_once("--- old\n").unwrap();
            let (old, rest) = rest.split_once("--- new\n").unwrap();
            let (new, near) = rest.split_once("--- near\n").unwrap();
            let (title, arguments) = head.trim().split_once('\n').unwrap();
            let [old, new, near] = [old, new, near].map(|text| format!("{}\n", text.trim()));
            Case { title: title.to_string(), arguments: arguments.to_string(), old, new, near }
        })
        .collect()
}

fn answer(old: &str, new: &str) -> Answer {
    let names = ModuleNames::new([old, new], ["f", "f"]);
    prove(old, new, &names)
}

/// The arguments of which a proof says something, or why there is none.
fn proved_for(old: &str, new: &str) -> String {
    match answer(old, new) {
        Answer::Equivalent(proof) if proof.arguments.is_empty() => "any".to_string(),
        Answer::Equivalent(proof) => {
            let all: Vec<String> =
                proof.arguments.iter().map(|one| format!("{}: {}", one.parameter, one.class)).collect();
            all.join(", ")
        }
        Answer::Unknown(unknown) => format!("{unknown:?}"),
    }
}

#[test]
fn what_does_the_same_is_proved_for_the_stated_arguments() {
    let wrong: Vec<String> = cases()
        .into_iter()
        .map(|case| (proved_for(&case.old, &case.new), case))
        .filter(|(found, case)| *found != case.arguments)
        .map(|(found, case)| format!("{}: {found}, not {}", case.title, case.arguments))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_near_miss_is_not_proved_for_these_arguments() {
    let proved: Vec<String> = cases()
        .into_iter()
        .filter(|case| proved_for(&case.old, &case.near) == case.arguments)
        .map(|case| case.title)
        .collect();
    assert!(proved.is_empty(), "{}", proved.join("\n"));
}

#[test]
fn every_function_does_the_same_as_itself() {
    for case in cases() {
        for text in [&case.old, &case.new] {
            assert!(matches!(answer(text, text), Answer::Equivalent(_)), "{}", case.title);
        }
    }
}

#[test]
fn a_proof_does_not_depend_on_which_version_is_old() {
    for case in cases() {
        assert!(matches!(answer(&case.new, &case.old), Answer::Equivalent(_)), "{}", case.title);
        assert_ne!(proved_for(&case.near, &case.old), case.arguments, "{}", case.title);
    }
}

#[test]
fn an_answer_is_the_same_each_time_and_serializes() {
    for case in cases() {
        let texts = [0, 1].map(|_| serde_json::to_string(&answer(&case.old, &case.new)).unwrap());
        assert_eq!(texts[0], texts[1]);
        let back: Answer = serde_json::from_str(&texts[0]).unwrap();
        assert_eq!(serde_json::to_string(&back).unwrap(), texts[0]);
    }
}

/// Pairs that executions tell apart.
#[test]
fn what_differs_in_a_subtle_way_is_not_proved() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/refuted/pairs.txt");
    let text = std::fs::read_to_string(file).unwrap();
    let mut proved = Vec::new();
    for case in text.split("=== ").skip(1) {
        let (title, rest) = case.split_once('\n').unwrap();
        let (old, new) = rest.split_once("---\n").unwrap();
        // A guess of other types may be right.
        let is_annotated = old.lines().next().is_some_and(|line| line.contains(": "));
        if matches!(answer(old, new), Answer::Equivalent(proof) if proof.arguments.is_empty() || is_annotated) {
            proved.push(title);
        }
    }
    assert!(proved.is_empty(), "{}", proved.join("\n"));
}

#[test]
fn what_doubles_again_and_again_ends() {
    for (first, step) in [("'q'", "t += t"), ("[1]", "t = t + t"), ("(1,)", "t = t + t"), ("'a' + x", "t = t + t")] {
        let text = format!("def f(x: str):\n    t = {first}\n{}    return t\n", format!("    {step}\n").repeat(40));
        let other = format!("def f(x: str):\n    t = {first}\n{}    return x, t\n", format!("    {step}\n").repeat(39));
        let looped =
            format!("def f(x: str):\n    t = {first}\n    for i in range(10 ** 6):\n        {step}\n    return t\n");
        for (old, new) in [(&text, &text), (&text, &other), (&text, &looped), (&looped, &other)] {
            let _ = answer(old, new);
        }
    }
}
