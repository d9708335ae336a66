//! What holds for every change.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use proptest::prelude::*;

use super::{analyze, project};
use crate::{Entries, ImpactOptions, NoProver, Place, State, impact_levels};

/// A function's body of random statements over a few names.
fn body() -> impl Strategy<Value = String> {
    let name = || prop::sample::select(vec!["a", "b", "c", "self.x", "g(a)", "[a, b]", "c[0]"]);
    let target = || prop::sample::select(vec!["a", "b", "c", "self.x", "c[0]"]);
    let simple = (target(), name(), name()).prop_map(|(to, one, other)| format!("{to} = {one} + {other}"));
    let statement = prop_oneof![
        4 => simple,
        1 => name().prop_map(|value| format!("return {value}")),
        1 => name().prop_map(|value| format!("raise ValueError({value})")),
        1 => (name(), target()).prop_map(|(test, to)| format!("if {test}:\n        {to} = 1\n    else:\n        pass")),
        1 => (target(), name()).prop_map(|(to, over)| format!("for i in {over}:\n        {to} = i\n        if i: break")),
        1 => (target(), name()).prop_map(|(to, over)| {
            format!("try:\n        {to} = {over}\n    except KeyError as error:\n        raise\n    finally:\n        b = 2")
        }),
        1 => name().prop_map(|value| format!("while {value}:\n        a = a - 1\n        continue")),
        1 => name().prop_map(|value| format!("c = [x for x in {value} if x]")),
        1 => name().prop_map(|value| format!("with {value} as b:\n        c.append(b)")),
    ];
    prop::collection::vec(statement, 1..8).prop_map(|all| all.join("\n    "))
}

fn program(body: &str) -> String {
    format!("def g(a):\n    return a\n\ndef f(self, a, b, c):\n    {body}\n    return c\n")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn equal_versions_have_no_impact(body in body()) {
        let text = program(&body);
        let found = analyze(&text, &text);
        prop_assert!(found.statements.iter().all(|one| one.state == State::NotImpacted), "{:?}", found.statements);
    }

    #[test]
    fn every_chain_begins_at_a_change(old in body(), new in body()) {
        let found = analyze(&program(&old), &program(&new));
        for one in &found.statements {
            if let State::Impacted { chain } = &one.state {
                let first = chain.first().map(|step| step.rule);
                prop_assert!(matches!(first, Some(crate::Rule::SyntChanged | crate::Rule::Rewired)), "{chain:?}");
            }
        }
        let again = analyze(&program(&old), &program(&new));
        prop_assert_eq!(found, again);
    }

    #[test]
    fn each_level_only_takes_statements_away(old in body(), new in body()) {
        let (old, new) = (project(&program(&old)), project(&program(&new)));
        let mut before: Option<BTreeSet<Place>> = None;
        let mut grown = Vec::new();
        let found = impact_levels(&old, &new, &Entries::default(), &ImpactOptions::default(), &NoProver, &|| false, &mut |level| {
            let now: BTreeSet<Place> = level.impacted.iter().cloned().collect();
            grown.extend(before.iter().flat_map(|before| now.difference(before)).cloned());
            before = Some(now);
            ControlFlow::Continue(())
        });
        prop_assert!(grown.is_empty(), "{grown:?}");
        let last = found.statements.iter().filter(|one| matches!(one.state, State::Impacted { .. }));
        prop_assert_eq!(before.map(|last| last.len()), Some(last.map(|one| &one.place).collect::<BTreeSet<_>>().len()));
    }

    #[test]
    fn no_text_makes_it_panic(text in "[a-z():=\\[\\]., \n\t'\"@*#%+-]{0,120}") {
        analyze(&text, "def f(:\n  x = (\n");
        analyze("x = 1\n", &text);
    }
}
