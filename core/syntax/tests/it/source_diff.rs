//! What counts as a change, on which lines, and which names were only renamed.

use std::collections::BTreeSet;

use proptest::collection::vec;
use proptest::prelude::*;
use twincell_syntax::{Diff, Function, diff, functions, rows};

fn first(text: &str) -> Function {
    functions(text).0.into_iter().next().unwrap_or_else(|| panic!("no function in {text}"))
}

fn compare(old: &str, new: &str) -> Diff {
    diff(&first(old), &first(new))
}

/// Wraps a body: `;;` separates lines.
fn function(body: &str) -> String {
    format!("def f(a, b=0):\n    {}\n", body.replace(";;", "\n    "))
}

#[test]
fn what_has_no_behavior_is_no_change() {
    for (old, new) in [
        ("def f(a): return a\n", "def f(a):\n    # why\n    return a  # so\n"),
        ("def f(a): return a\n", "def f(a):\n    '''Doc.'''\n    return a\n"),
        ("def f(a, b=1): return a\n", "def f(a: int, b: 'T' = 1) -> int: return a\n"),
        ("def f(a):\n    x = a\n    return x\n", "def f(a):\n    y: int\n    x: int = a\n    return x\n"),
        ("@x\ndef f(a): return a\n", "@y\ndef f(a): return a\n"),
        ("def f(a): return a + 1\n", "def f(a): return (a + (1))\n"),
        ("def f(): return 'it' \"s\"\n", "def f(): return \"\"\"its\"\"\"\n"),
        ("def f(a): return f'x{a}y'\n", "def f(a): return 'x' f\"{a}\" 'y'\n"),
        ("def f(): return 'x'\n", "def f(): return f'x'\n"),
        ("def f(): return 0x10, 1_000, 1.50, b'a'\n", "def f(): return 16, 1000, 1.5, b\"\\x61\"\n"),
        ("def f(): pass\n", "def f(): ...\n"),
        ("def f(a):\n    if a: return 1\n", "def f(a):\n    if (a):\n        pass\n        return 1\n"),
        ("f = lambda x: x\n", "f = lambda y: (y)\n"),
    ] {
        let result = compare(old, new);
        assert!(result.identical, "{old}\n{new}\n{result:?}");
        assert_eq!((result.lines.old, result.lines.new), (vec![], vec![]), "{old}\n{new}");
    }
}

#[test]
fn a_consistent_renaming_of_locals_is_no_change() {
    for (old, new) in [
        ("def f(a, b): return a - b\n", "def f(x, y): return x - y\n"),
        ("def f(a, b): return a - b\n", "def f(b, a): return b - a\n"),
        ("def f(*args, **kw): return args, kw\n", "def f(*a, **k): return a, k\n"),
        ("def f(a):\n    n = a\n    return lambda: n\n", "def f(a):\n    m = a\n    return lambda: m\n"),
        ("def f(a): return [x for x in a]\n", "def f(a): return [y for y in a]\n"),
        ("def f(a):\n    def g(): return a\n    return g()\n", "def f(a):\n    def h(): return a\n    return h()\n"),
        ("def f():\n    import os\n    return os\n", "def f():\n    import os as o\n    return o\n"),
        ("def f():\n    try: g()\n    except E as e: h(e)\n", "def f():\n    try: g()\n    except E as x: h(x)\n"),
        (
            "def f(a):\n    match a:\n        case [x, *y]: return x, y\n",
            "def f(a):\n    match a:\n        case [p, *q]: return p, q\n",
        ),
        ("def f(a): return g(a=a)\n", "def f(b): return g(a=b)\n"),
        (
            "def f(a):\n    with a as b: (c := b)\n    return c\n",
            "def f(a):\n    with a as x: (y := x)\n    return y\n",
        ),
        (
            "def f(a):\n    x = 1\n    def g():\n        nonlocal x\n        x = 2\n",
            "def f(a):\n    y = 1\n    def g():\n        nonlocal y\n        y = 2\n",
        ),
    ] {
        let result = compare(old, new);
        assert!(result.identical, "{old}\n{new}\n{result:?}");
    }
}

#[test]
fn what_can_be_told_apart_is_a_change() {
    for (old, new) in [
        ("def f(a, b): return a - b\n", "def f(a, b): return b - a\n"),
        ("def f(a): return a\n", "def f(a): return x\n"),
        ("def f(a): return x\n", "def f(a): return y\n"),
        ("def f(a): return a.x\n", "def f(a): return a.y\n"),
        ("def f(a): return g(x=a)\n", "def f(a): return g(y=a)\n"),
        ("def f(a): return locals()\n", "def f(b): return locals()\n"),
        ("def f(a): return eval('a')\n", "def f(b): return eval('a')\n"),
        ("def f(n): return n and f(n=n - 1)\n", "def f(m): return m and f(n=m - 1)\n"),
        (
            "def f():\n    def g(x): return x\n    return g(x=1)\n",
            "def f():\n    def g(y): return y\n    return g(x=1)\n",
        ),
        ("def f(a): return f'{a=}'\n", "def f(b): return f'{b=}'\n"),
        ("def f(a):\n    x = a\n    return x\n", "def f(a):\n    global x\n    x = a\n    return x\n"),
        ("def f(a, b=1): return a\n", "def f(a, b=2): return a\n"),
        ("def f(a): return a\n", "def f(*a): return a\n"),
        ("def f(a, b): return a\n", "def f(a, *, b): return a\n"),
        ("def f(a, b): return a\n", "def f(a, b, /): return a\n"),
        ("def f(a): return a\n", "async def f(a): return a\n"),
        ("def f(a): return a[1:]\n", "def f(a): return a[:1]\n"),
        ("def f(a): return {**a}\n", "def f(a): return {a}\n"),
        ("def f(a): return 1\n", "def f(a): return 1.0\n"),
        ("def f(a): return '1'\n", "def f(a): return b'1'\n"),
        ("def f(a): return True\n", "def f(a): return 1\n"),
        ("def f(a): return f'{a!r}'\n", "def f(a): return f'{a}'\n"),
        ("def f(a): return a < 1\n", "def f(a): return a <= 1\n"),
        ("def f(a):\n    for x in a: g()\n    else: h()\n", "def f(a):\n    for x in a: g()\n    h()\n"),
        ("def f(a):\n    raise a\n", "def f(a):\n    raise\n"),
        ("def f():\n    import a.b\n    return a\n", "def f():\n    import a.b as a\n    return a\n"),
        ("def f(a):\n    with a: pass\n", "def f(a):\n    a\n"),
        ("def f():\n    class C: x = 1\n    return C\n", "def f():\n    class C: y = 1\n    return C\n"),
        ("def f():\n    @g\n    def h(): pass\n    return h\n", "def f():\n    def h(): pass\n    return h\n"),
        ("def f(a): return [x for x in a for y in x]\n", "def f(a): return [y for x in a for y in x]\n"),
    ] {
        let result = compare(old, new);
        assert!(!result.identical, "{old}\n{new}");
        assert!(result.lines.old.len() + result.lines.new.len() > 0, "no lines:\n{old}\n{new}");
    }
}

#[test]
fn changed_lines_are_those_of_the_smallest_difference() {
    for (old, new, old_lines, new_lines) in [
        ("x = 1;;y = 2;;return x", "x = 1;;y = 3;;return x", vec![3], vec![3]),
        ("x = 1;;return x", "x = 1;;log(x);;return x", vec![], vec![3]),
        ("x = 1;;log(x);;return x", "x = 1;;return x", vec![3], vec![]),
        ("if a:;;    x();;    y();;return b", "if b:;;    x();;    y();;return b", vec![2], vec![2]),
        ("if a:;;    x();;    y();;return b", "if a:;;    x();;    z();;return b", vec![4], vec![4]),
        ("return g(;;    a,;;    b,;;)", "return g(;;    a,;;    1,;;)", vec![4], vec![4]),
        ("for x in a:;;    g(x)", "for x in a:;;    if x:;;        g(x)", vec![3], vec![3, 4]),
        ("return a", "return a", vec![], vec![]),
        ("# why;;return a", "return b", vec![3], vec![2]),
    ] {
        let result = compare(&function(old), &function(new));
        assert_eq!((result.lines.old, result.lines.new), (old_lines, new_lines), "{old}\n{new}");
    }
}

#[test]
fn a_renamed_local_marks_no_line_beside_a_real_change() {
    let result = compare(
        &function("items = a.all();;for item in items:;;    g(item);;return 1"),
        &function("rows = a.all();;for row in rows:;;    g(row);;return 2"),
    );
    assert_eq!((result.lines.old, result.lines.new), (vec![5], vec![5]));
}

#[test]
fn renames_are_found_although_other_parts_differ() {
    for (old, new, expected) in [
        ("def f(a, b):\n    g(a)\n    return b\n", "def f(x, b):\n    g(x)\n    return b + 1\n", vec![("x", "a")]),
        ("def f(a, b): return 1\n", "def f(a, c): return 2\n", vec![("c", "b")]),
        (
            "def f(a):\n    n = a.x\n    return n\n",
            "def f(a):\n    m = a.x\n    log(m)\n    return m\n",
            vec![("m", "n")],
        ),
        // The old name is still there, or the new one was.
        ("def f(a, b): return a\n", "def f(b, a): return a\n", vec![]),
        ("def f(a, b): return a, b\n", "def f(a, b, c): return c, b\n", vec![]),
        ("def f(a): return x(a)\n", "def f(a): return y(a)\n", vec![]),
        ("def f(a):\n    n = 1\n    return n\n", "def f(a):\n    m = g()\n    m.x = 2\n", vec![]),
    ] {
        let expected: Vec<_> = expected.iter().map(|(is, was)| ((*is).to_owned(), (*was).to_owned())).collect();
        assert_eq!(compare(old, new).renames, expected, "{old}\n{new}");
    }
}

#[test]
fn an_identical_function_still_names_its_renames() {
    let result = compare("def f(a):\n    n = a\n    return n\n", "def f(x):\n    m = x\n    return m\n");
    assert!(result.identical);
    assert_eq!(result.renames, [("x".into(), "a".into()), ("m".into(), "n".into())]);
}

/// Lines that repeat, and that differ only in blanks.
fn texts() -> impl Strategy<Value = String> {
    let lines = ["", "    ", "    f()", "    f() ", "    return x", "    )", "    # note", "    x = {", "    }"];
    vec(prop::sample::select(lines.to_vec()), 0..24).prop_map(|lines| lines.join("\n"))
}

proptest! {
    #[test]
    fn no_line_is_both_gone_and_new_in_a_run_of_rows_that_differ((old, new) in (texts(), texts())) {
        let rows = rows(&old, &new);
        let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
        let every = |count: usize| (0..count as u32).collect::<Vec<_>>();
        prop_assert_eq!(rows.iter().filter_map(|row| row.old).collect::<Vec<_>>(), every(old.len()));
        prop_assert_eq!(rows.iter().filter_map(|row| row.new).collect::<Vec<_>>(), every(new.len()));
        let text = |lines: &[&str], at: Option<u32>| at.map(|at| lines[at as usize].trim_end().to_owned());
        let (mut gone, mut came) = (BTreeSet::new(), BTreeSet::new());
        for row in &rows {
            let (one, other) = (text(&old, row.old), text(&new, row.new));
            if one == other {
                (gone, came) = Default::default();
                continue;
            }
            gone.extend(one);
            came.extend(other);
            prop_assert!(gone.is_disjoint(&came), "{:?} and {:?}", gone, came);
        }
    }
}

#[test]
fn rows_hold_every_line_of_both_once_and_in_order() {
    let result = compare(&function("x = 1;;y = 2;;return x"), &function("x = 1;;z = 3;;w = 4;;return x"));
    let rows: Vec<_> = result.rows.iter().map(|row| (row.old, row.new)).collect();
    assert_eq!(rows, [(Some(0), Some(0)), (Some(1), Some(1)), (Some(2), Some(2)), (None, Some(3)), (Some(3), Some(4))]);
}

#[test]
fn texts_that_do_not_parse_are_compared_by_lines() {
    let (old, mut new) = (first("def f(a):\n    return 1\n"), first("def f(a):\n    return 1\n"));
    new.text = "def f(a):\n    return = 1\n".into();
    let result = diff(&old, &new);
    assert!(!result.identical);
    assert_eq!((result.lines.old, result.lines.new), (vec![2], vec![2]));
}
