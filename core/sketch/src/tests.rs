//! What the text of a snippet tells of its values.

use super::{Scenario, Sketch, json};

/// The value of a free name, as JSON.
fn value(text: &str, name: &str, scene: &Scenario) -> String {
    let sketch = Sketch::read(text, "");
    let node = sketch.environment(scene).names.into_iter().find(|(known, _)| known == name).map(|(_, node)| node);
    node.and_then(|node| json(&node)).unwrap_or_default()
}

#[test]
fn a_list_has_a_row_for_each_side_of_a_condition() {
    let text = "for a in orders:\n    if a['n'] > 10:\n        b(a)\n    elif a['s'] == 'open':\n        c(a)\n";
    let expected = r#"[{"n": 11, "s": "open"}, {"n": 1, "s": "open"}, {"n": 1, "s": "s"}]"#;
    assert_eq!(value(text, "orders", &Scenario::default()), expected);
}

#[test]
fn conditions_turn_around() {
    let text = "if x >= 5 and y in ('a', 'b') and not z.startswith('#'):\n    pass\n";
    let all = Scenario::default();
    let of = |scene: &Scenario| ["x", "y", "z"].map(|name| value(text, name, scene));
    assert_eq!(of(&all), ["5", "\"a\"", "\"z\""]);
    assert_eq!(of(&all.turn(0..3)), ["4", "\"y\"", "\"#z\""]);
}

#[test]
fn values_are_followed_through_functions_of_the_snippet() {
    let text = "def total(rows):\n    return sum(row['price'] for row in rows)\n\nprint(total(load['items']))\n";
    assert_eq!(value(text, "load", &Scenario::default()), r#"{"items": [{"price": 1}]}"#);
}

#[test]
fn a_value_that_is_its_own_part_ends() {
    let text = "node = tree\nwhile node:\n    node = node['next']\ndef f(x):\n    return f(x)\nf(f)\na = a[0]\n";
    assert!(!value(text, "tree", &Scenario::default()).is_empty());
}

#[test]
fn a_value_by_which_another_is_looked_up_is_its_key() {
    assert_eq!(value("print(rows[name]['n'] + 1)\n", "rows", &Scenario::default()), r#"{"name": {"n": 1}}"#);
    assert_eq!(value("if key not in d:\n    d[key] = 1\n", "d", &Scenario::default()), "{}");
    // What counts is no key.
    assert_eq!(value("for i in range(3):\n    print(rows[i] + 1)\n", "rows", &Scenario::default()), "[1]");
}

#[test]
fn values_that_are_looked_up_by_each_other_end() {
    let text = "print(a[b], b[a], c[c], d[d[e]])\n";
    assert!(!value(text, "a", &Scenario::default()).is_empty());
}

#[test]
fn what_is_assigned_to_an_attribute_is_what_it_is_from_there_on() {
    let text = "self.shop = shop\nprint(self.shop['name'])\n";
    assert_eq!(value(text, "shop", &Scenario::default()), r#"{"name": "name"}"#);
}

#[test]
fn what_is_only_passed_on_is_what_its_name_tells() {
    let of = |name: &str| value(&format!("f({name})\n"), name, &Scenario::default());
    assert_eq!(["pages", "title", "use_cache", "debug"].map(of), [r#"["page"]"#, "\"title\"", "true", "true"]);
}
