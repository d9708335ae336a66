use super::*;
use twincell_syntax::ParameterKind;

fn made(text: &str, material: &Material) -> Vec<String> {
    let variant = Variant { code: Code::new(text), imports: BTreeSet::new(), steps: vec![] };
    variants(&variant, material, 0).into_iter().map(|variant| variant.code.lines().to_owned()).collect()
}

fn touchable(name: &str, class: Option<&str>, parameters: &[(&str, Option<&str>)]) -> Target {
    let parameters = parameters
        .iter()
        .map(|(name, default)| ((*name).to_owned(), ParameterKind::Positional, default.map(str::to_owned)));
    let lines = crate::Touched { first: 1, last: 2 };
    Target {
        module: "shop.cart".into(),
        function: Touchable {
            name: name.into(),
            class: class.map(str::to_owned),
            parameters: parameters.collect(),
            lines,
            is_async: false,
            is_changed: true,
        },
        mentions: ["start".to_owned()].into(),
    }
}

#[test]
fn values_of_each_type_have_others() {
    let material = Material {
        constants: Constants { texts: vec!["near".into()], integers: vec![100], floats: vec![99.95] },
        literals: [("WORD".to_owned(), "'it'".to_owned())].into(),
        ..Material::default()
    };
    let all = made("def test():\n    x = f(7, 'a b', True, None, [1, 2], WORD)\n", &material).join("");
    for expected in [
        "f(8, ",
        "f(6, ",
        "f(0, ",
        "f(101, ",
        "f(99.95, ",
        "f(9223372036854775807, ",
        ", 'near', ",
        ", 'a b near', ",
        ", '', ",
        ", 'b', ",
        ", False, ",
        ", True, True, ",
        ", [], ",
        ", [1], ",
        ", [1, 2, 1], ",
        ", 'IT')",
    ] {
        assert!(all.contains(expected), "{expected} in {all}");
    }
}

#[test]
fn bytes_have_others_and_what_a_test_is_given_may_be_what_the_change_names() {
    let constants = Constants { texts: vec!["near".into()], integers: vec![100], floats: vec![] };
    let material = Material { constants, ..Material::default() };
    let all = made("def test(output):\n    f(b'a b', output)\n", &material).join("");
    for expected in ["f(b'b', output)", "f(b'near', output)", "f(b'a b', 'near')", "f(b'a b', 100)"] {
        assert!(all.contains(expected), "{expected} in {all}");
    }
}

#[test]
fn words_that_texts_share_change_in_all_of_them() {
    let all = made("def test():\n    f('push master', 'no master')\n", &Material::default());
    assert!(all.iter().any(|text| text.contains("f('push mas-ter', 'no mas-ter')")), "{all:?}");
}

#[test]
fn a_fixture_with_a_literal_is_overridden() {
    let material = Material { fixtures: [("out".to_owned(), "'a b'".to_owned())].into(), ..Material::default() };
    let all = made("def test(out):\n    f(out)\n", &material);
    let expected = "@pytest.mark.parametrize('out', ['b'])\ndef test(out):\n    f(out)\n";
    assert!(all.iter().any(|text| text == expected), "{all:?}");
}

#[test]
fn keywords_of_changed_functions_and_calls_of_them_are_added() {
    let material = Material {
        targets: vec![
            touchable("count", None, &[("values", None), ("start", Some("0"))]),
            touchable("__bool__", Some("Cart"), &[("self", None)]),
        ],
        classes: [("c".to_owned(), "shop.cart.Cart".to_owned())].into(),
        ..Material::default()
    };
    let all = made("def test():\n    x = list(count(c))\n", &material);
    for expected in [
        "    x = list(count(c, start=1))\n",
        "    x = list(count(c))\n    result = bool(c)\n",
        "    x = list(count(c))\n    result = count([])\n",
        "    x = list(count())\n",
    ] {
        assert!(all.iter().any(|text| text.ends_with(expected)), "{expected} in {all:?}");
    }
    assert_eq!(all[..20], made("def test():\n    x = list(count(c))\n", &material)[..20]);
}
