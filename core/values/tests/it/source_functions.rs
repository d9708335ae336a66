//! Which functions are found in a text, as what, and which of two texts belong together.

use twincell_syntax::{Function, ParameterKind, functions, pair};
use twincell_values::reading::literals;
use twincell_values::value::Recipe;

fn all(text: &str) -> Vec<Function> {
    let (found, errors) = functions(text);
    assert_eq!(errors, [], "{text}");
    found
}

fn qualnames(text: &str) -> Vec<String> {
    functions(text).0.into_iter().map(|function| function.qualname).collect()
}

#[test]
fn functions_are_named_as_python_names_them() {
    for (text, expected) in [
        ("def f(): pass\n", vec!["f"]),
        ("async def f(): pass\n", vec!["f"]),
        ("class C:\n    def m(self): pass\n    class D:\n        def n(self): pass\n", vec!["C.m", "C.D.n"]),
        (
            "def f():\n    def g():\n        def h(): pass\n    class C:\n        def m(self): pass\n",
            vec!["f", "f.<locals>.g", "f.<locals>.g.<locals>.h", "f.<locals>.C.m"],
        ),
        ("def f(): pass\ndef f(): pass\ndef g(): pass\n", vec!["f#2", "f", "g"]),
        (
            "class C:\n    @property\n    def x(self): pass\n    @x.setter\n    def x(self, v): pass\n",
            vec!["C.x", "C.x#2"],
        ),
        ("f = lambda x: x\nclass C:\n    key: object = lambda self: 1\n", vec!["f", "C.key"]),
        ("def f():\n    g = lambda: 1\n", vec!["f"]),
        ("if a:\n    def f(): pass\nelse:\n    def f(): pass\n", vec!["f", "f#2"]),
        ("try:\n    def f(): pass\nfinally:\n    with a:\n        def g(): pass\n", vec!["f", "g"]),
        ("def f():\n    global g\n    def g(): pass\n", vec!["f", "g"]),
        ("def ｆ(): pass\n", vec!["f"]),
        ("x = 1\n", vec![]),
        ("", vec![]),
    ] {
        assert_eq!(qualnames(text), expected, "{text}");
    }
}

#[test]
fn functions_beside_a_syntax_error_are_found_and_the_error_has_its_place() {
    let (found, errors) = functions("def f():\n    return 1\n\nx = = 2\n\ndef g():\n    return 2\n");
    assert_eq!(found.iter().map(|function| function.name.as_str()).collect::<Vec<_>>(), ["f", "g"]);
    assert_eq!((errors[0].line, errors[0].column), (4, 5));
}

#[test]
fn no_text_makes_the_reader_panic() {
    let deep = format!("def f():\n    return {}1{}\n", "(".repeat(3000), ")".repeat(3000));
    let long = format!("def f():\n    return {}\n", vec!["a.b[c]"; 20_000].join(" + "));
    let signs = format!("def f():\n    return {}1\n", "-".repeat(20_000));
    for text in [
        "def",
        "def f(",
        "class",
        "def f():",
        "def f():\n",
        "\\",
        "\0",
        "f'{",
        "def f():\n  x\n y\n",
        "@a\n",
        "lambda",
        "def f():\n    return \"\"\"",
        "\u{feff}",
        "\r",
        "match x:\n  case",
        "f = lambda",
        &deep,
        &long,
        &signs,
    ] {
        for function in functions(text).0 {
            let _ = twincell_syntax::instrument::instrument(&function);
            let _ = twincell_syntax::diff(&function, &function);
            let _ = literals(&[&function]);
        }
    }
}

#[test]
fn the_text_of_a_function_stands_by_itself() {
    for (text, expected, first_line) in [
        (
            "class C:\n    @a.b(\n        1)\n    # why\n    def m(self):\n        # x\n\n        return 1  # end\n\n    y = 2\n",
            "def m(self):\n    # x\n\n    return 1  # end\n",
            5,
        ),
        (
            "class C:\n    def m(self):\n        return '''\n        a\n    b\n'''\n",
            "def m(self):\n    return '''\n        a\n    b\n'''\n",
            2,
        ),
        (
            "if a:\n    def m():\n        return f'''\n        {a}\n        {\n        b}'''\n",
            "def m():\n    return f'''\n        {a}\n        {\n        b}'''\n",
            2,
        ),
        (
            "class C:\n    def m(self):\n        return 'a\\\n        b' + \\\n  c\n",
            "def m(self):\n    return 'a\\\n        b' + \\\nc\n",
            2,
        ),
        ("class C:\n\tdef m(self):\n\t\treturn 1\n", "def m(self):\n\treturn 1\n", 2),
        (
            "class C:\n    def m(self):\n# outside\n        return [\n  1]\n",
            "def m(self):\n# outside\n    return [\n1]\n",
            2,
        ),
        (
            "\u{feff}# -*- coding: utf-8 -*-\r\ndef m():\r\n    return '''a\r\nb'''\r\n",
            "def m():\n    return '''a\nb'''\n",
            2,
        ),
        ("\x0cclass C:\n\x0c    def m(self):\n\x0c        return 1\n", "def m(self):\n    return 1\n", 2),
        ("x = 1; m = lambda a: (a +\n    1); y = 2\n", "m = lambda a: (a +\n    1)\n", 1),
        ("class C:\n    async \\\n    def m(self): return 1; \n", "async \\\ndef m(self): return 1;\n", 2),
        ("def m():\n    return 1 \\\n# end\n\nx = 2\n", "def m():\n    return 1 \\\n# end\n", 1),
        ("def m(): return 1", "def m(): return 1\n", 1),
    ] {
        let found = all(text);
        assert_eq!(found[0].text, expected, "{text}");
        assert_eq!(found[0].first_line, first_line, "{text}");
        assert_eq!(all(&found[0].text).len(), 1, "{text}");
    }
}

#[test]
fn parameters_have_their_kinds_defaults_and_annotations() {
    use ParameterKind::{KeywordOnly, Positional, PositionalOnly, VarKeyword, VarPositional};
    let found = all("class C:\n    def f(self, a, /, b: int = 1, *c, d, e: 'T' = 2, __p, **g): pass\n");
    let shown: Vec<_> = found[0]
        .parameters
        .iter()
        .map(|parameter| {
            (parameter.name.as_str(), parameter.kind, parameter.has_default, parameter.annotation.as_deref())
        })
        .collect();
    assert_eq!(
        shown,
        [
            ("self", PositionalOnly, false, None),
            ("a", PositionalOnly, false, None),
            ("b", Positional, true, Some("int")),
            ("c", VarPositional, false, None),
            ("d", KeywordOnly, false, None),
            ("e", KeywordOnly, true, Some("'T'")),
            ("_C__p", KeywordOnly, false, None),
            ("g", VarKeyword, false, None),
        ]
    );
}

#[test]
fn only_a_yield_of_its_own_makes_a_function_a_generator() {
    for (body, expected) in [
        ("yield", true),
        ("x = yield from a", true),
        ("return (yield)", true),
        ("def g(): yield", false),
        ("return lambda: (yield)", false),
        ("return [x for x in a]", false),
        ("if a:\n        for b in c:\n            yield b", true),
        ("def g(x=(yield)): pass", true),
    ] {
        assert_eq!(all(&format!("def f():\n    {body}\n"))[0].is_generator, expected, "{body}");
    }
    assert!(all("async def f(): pass\n")[0].is_async);
}

#[test]
fn class_parent_and_decorators_are_known() {
    let found = all("class C:\n    @a.b(1)\n    @c\n    def m(self):\n        def g(): pass\n");
    assert_eq!(found[0].decorators, ["a.b(1)", "c"]);
    assert_eq!((found[0].class_name.as_deref(), found[0].parent.as_deref()), (Some("C"), None));
    assert_eq!((found[1].class_name.as_deref(), found[1].parent.as_deref()), (Some("C"), Some("C.m")));
}

#[test]
fn functions_pair_by_name_then_by_likeness() {
    let long = |name: &str| format!("def {name}(a, b):\n    for x in a:\n        b.append(x + 1)\n    return b\n");
    for (old, new, pairs, added, removed) in [
        ("def f(): pass\ndef g(): pass\n", "def g(): return 1\ndef f(): pass\n", vec!["f=f", "g=g"], vec![], vec![]),
        (&long("f"), &long("renamed"), vec!["f=renamed"], vec![], vec![]),
        (&long("f"), "def g():\n    return open('x').read()\n", vec![], vec!["g"], vec!["f"]),
        (&long("f"), &format!("{}{}", long("f"), long("copy")), vec!["f=f"], vec!["copy"], vec![]),
        // A function does not become a method.
        (
            "def f(a):\n    return a.b + 1\n",
            "class C:\n    def f(a):\n        return a.b + 1\n",
            vec![],
            vec!["C.f"],
            vec!["f"],
        ),
        (
            "class A:\n    def m(self):\n        return self.x + 1\n",
            "class B:\n    def m(self):\n        return self.x + 1\n",
            vec!["A.m=B.m"],
            vec![],
            vec![],
        ),
    ] {
        let result = pair(all(old), all(new));
        let shown: Vec<_> =
            result.pairs.iter().map(|(old, new)| format!("{}={}", old.qualname, new.qualname)).collect();
        assert_eq!(
            (shown, result.added, result.removed),
            (
                pairs.iter().map(ToString::to_string).collect(),
                added.iter().map(ToString::to_string).collect(),
                removed.iter().map(ToString::to_string).collect(),
            ),
            "{old}\n{new}"
        );
    }
}

#[test]
fn literals_are_values_each_once_in_order() {
    let text = |text: &str| Recipe::Str(text.into());
    for (body, expected) in [
        (
            "return 1, 0x10, 1, 1.0, -1, - 2.5, +3",
            vec![
                Recipe::Int(1),
                Recipe::Int(16),
                Recipe::Float(1.0),
                Recipe::Int(-1),
                Recipe::Float(-2.5),
                Recipe::Int(3),
            ],
        ),
        (
            "return 'a' \"b\", r'\\n', b'x' b'y', f'p{q!r:>{10}}s' 't'",
            vec![text("ab"), text("\\n"), Recipe::Bytes(b"xy".to_vec()), text("p"), text("s"), text("t")],
        ),
        (
            "'''doc'''\n    x: 'T' = ''\n    return 99999999999999999999, 2j, 1e999, -9223372036854775808",
            vec![text(""), Recipe::Int(i64::MIN)],
        ),
        (
            "match a:\n        case -1 | 'k': return {'d': a[0]}",
            vec![Recipe::Int(-1), text("k"), text("d"), Recipe::Int(0)],
        ),
    ] {
        let found = all(&format!("def f(a: 'A' = None):\n    {body}\n"));
        assert_eq!(literals(&[&found[0], &found[0]]), expected, "{body}");
    }
}

#[test]
fn at_most_two_hundred_literals_are_kept() {
    let numbers: Vec<String> = (0..500).map(|number| number.to_string()).collect();
    let found = all(&format!("def f():\n    return [{}]\n", numbers.join(", ")));
    assert_eq!(literals(&[&found[0]]).len(), 200);
}

#[test]
fn functions_that_nest_deeply_are_paired_without_exhausting_the_stack() {
    let texts = |depth: usize| ["f", "g"].map(|name| format!("def {name}(x):\n    return {}x\n", "-".repeat(depth)));
    let [old, new] = texts(1990).map(|text| all(&text));
    assert_eq!(pair(old, new).pairs.len(), 1);
    for text in texts(100_000) {
        let (found, errors) = functions(&text);
        assert!(found.is_empty() && errors[0].message.starts_with("nested too deep"), "{errors:?}");
    }
}
