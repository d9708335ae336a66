//! Each kind of chain: the tests that see a change, beside one that does not.

use super::{Files, after, selected, selection};
use crate::selection::{CodeChangeKind, StepKind, TestState};

const SHOP: Files<'_> = &[
    ("shop/__init__.py", ""),
    (
        "shop/cart.py",
        "from .tax import rate\n\nLIMIT = 3\nOTHER = 4\n\nclass Cart:\n    size = 1\n\n    def __init__(self):\n        \
         self.items = []\n\n    def total(self):\n        return rate(self.items)\n\n    def count(self):\n        \
         return len(self.items)\n\ndef limit():\n    return LIMIT\n\ndef other():\n    return OTHER\n",
    ),
    ("shop/tax.py", "def rate(items):\n    return sum(items)\n\ndef unused():\n    pass\n"),
    (
        "tests/test_shop.py",
        "from shop import cart\nfrom shop.cart import Cart, limit\n\ndef make():\n    return Cart()\n\n\
         def test_total():\n    assert make().total() == 0\n\ndef test_count():\n    assert make().count() == 0\n\n\
         def test_limit():\n    assert limit() == 3\n\ndef test_other():\n    assert cart.other() == 4\n\n\
         def test_nothing():\n    pass\n",
    ),
];

fn changed(path: &str, from: &str, to: &str) -> Vec<String> {
    let text = SHOP.iter().find(|(one, _)| *one == path).unwrap().1;
    assert!(text.contains(from));
    after(SHOP, path, &text.replacen(from, to, 1))
}

#[test]
fn a_function_reaches_the_tests_that_call_it() {
    assert_eq!(changed("shop/tax.py", "return sum(items)", "return 0"), ["test_total"]);
    assert!(changed("shop/tax.py", "    pass", "    return 1").is_empty());
}

#[test]
fn a_method_reaches_by_its_name_where_its_class_is_used() {
    assert_eq!(changed("shop/cart.py", "return len(self.items)", "return 0"), ["test_count"]);
    // Another object has a method of the same name, and no cart is made.
    let files = &[
        ("a.py", "class A:\n    def m(self): return 1\n"),
        ("b.py", "class B:\n    def m(self): return 1\n"),
        ("test_a.py", "from a import A\ndef test_a():\n    A().m()\n"),
        ("test_b.py", "from b import B\ndef test_b():\n    B().m()\n"),
    ];
    assert_eq!(after(files, "a.py", "class A:\n    def m(self): return 2\n"), ["test_a"]);
}

#[test]
fn making_an_object_runs_its_special_methods() {
    assert_eq!(changed("shop/cart.py", "self.items = []", "self.items = [1]"), ["test_total", "test_count"]);
}

#[test]
fn constants_reach_those_who_read_them() {
    assert_eq!(changed("shop/cart.py", "LIMIT = 3", "LIMIT = 5"), ["test_limit"]);
    assert_eq!(changed("shop/cart.py", "OTHER = 4", "OTHER = 5"), ["test_other"]);
}

#[test]
fn statements_of_a_module_reach_all_that_import_it() {
    let all = ["test_total", "test_count", "test_limit", "test_other", "test_nothing"];
    assert_eq!(changed("shop/tax.py", "def unused", "print(1)\n\ndef unused"), all);
    assert!(changed("shop/tax.py", "def unused", "X = 1\n\ndef unused").is_empty());
}

#[test]
fn layout_comments_docstrings_and_annotations_are_no_change() {
    assert!(
        changed("shop/tax.py", "def rate(items):\n", "# A comment.\ndef rate(items: list) -> int:\n    'Doc.'\n\n")
            .is_empty()
    );
    assert!(changed("shop/tax.py", "sum(items)", "( sum( items ) )").is_empty());
    assert!(
        changed("shop/tax.py", "", "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import x\n").is_empty()
    );
}

#[test]
fn docstrings_and_annotations_count_where_they_are_read() {
    let files = &[
        ("a.py", "def f(x):\n    'Old.'\ndef g(x):\n    'Old.'\n"),
        (
            "test_a.py",
            "import inspect\nfrom a import f, g\ndef test_doc():\n    assert f.__doc__\ndef test_other():\n    g(1)\n\
             def test_hints():\n    inspect.signature(g)\n",
        ),
    ];
    assert_eq!(after(files, "a.py", "def f(x):\n    'New.'\ndef g(x):\n    'New.'\n"), ["test_doc"]);
    assert_eq!(after(files, "a.py", "def f(x):\n    'Old.'\ndef g(x: int):\n    'Old.'\n"), ["test_hints"]);
}

#[test]
fn a_new_method_that_shadows_an_inherited_one_reaches() {
    let base = ("base.py", "class Base:\n    def m(self): return 1\n    def n(self): return 1\n");
    let files = &[
        base,
        ("sub.py", "from base import Base\nclass Sub(Base):\n    pass\n"),
        ("test_a.py", "from sub import Sub\ndef test_m():\n    Sub().m()\ndef test_n():\n    Sub().n()\n"),
    ];
    let text = "from base import Base\nclass Sub(Base):\n    def m(self): return 2\n";
    assert_eq!(after(files, "sub.py", text), ["test_m"]);
    // And if it goes.
    let old = &[base, ("sub.py", text), files[2]];
    assert_eq!(after(old, "sub.py", files[1].1), ["test_m"]);
}

#[test]
fn a_base_reaches_those_who_inherit() {
    let files = &[
        ("base.py", "class Base:\n    def m(self): return 1\n"),
        ("sub.py", "from base import Base\nclass Sub(Base):\n    pass\nclass Free:\n    def m(self): pass\n"),
        ("test_a.py", "from sub import Sub, Free\ndef test_a():\n    Sub().m()\ndef test_b():\n    Free().m()\n"),
    ];
    assert_eq!(after(files, "base.py", "class Base:\n    def m(self): return 2\n"), ["test_a"]);
}

#[test]
fn a_module_that_shadows_another_one_reaches() {
    let files = &[
        ("util.py", "def f(): return 1\n"),
        ("tests/test_a.py", "import util\ndef test_a():\n    util.f()\ndef test_b():\n    pass\n"),
    ];
    assert_eq!(after(files, "tests/util.py", "def f(): return 2\n"), ["test_a"]);
    assert_eq!(after(files, "tests/util.py", "print(1)\ndef f(): return 2\n"), ["test_a", "test_b"]);
}

#[test]
fn a_module_of_a_folder_that_settings_add_is_found() {
    let files = &[
        ("examples/shop/app/__init__.py", ""),
        ("examples/shop/app/tax.py", "def f(): return 1\n"),
        ("examples/shop/tests/test_a.py", "from app.tax import f\ndef test_a():\n    f()\ndef test_b():\n    pass\n"),
    ];
    assert_eq!(after(files, "examples/shop/app/tax.py", "def f(): return 2\n"), ["test_a"]);
}

#[test]
fn a_name_that_is_imported_from_elsewhere_reaches() {
    let files = &[
        ("a.py", "def f(): return 1\n"),
        ("b.py", "def f(): return 2\n"),
        ("c.py", "from a import f\ndef g(): return f()\ndef h(): return 1\n"),
        ("test_a.py", "import c\ndef test_g():\n    c.g()\ndef test_h():\n    c.h()\n"),
    ];
    let text = "from b import f\ndef g(): return f()\ndef h(): return 1\n";
    assert_eq!(after(files, "c.py", text), ["test_g"]);
}

#[test]
fn an_import_that_fails_reaches_all_importers() {
    let files = &[
        ("a.py", "def f(): pass\ndef g(): pass\n"),
        ("c.py", "from a import f\ndef h(): return 1\n"),
        ("test_a.py", "import c\ndef test_h():\n    c.h()\n"),
        ("test_b.py", "import a\ndef test_g():\n    a.g()\n"),
    ];
    assert_eq!(after(files, "a.py", "def g(): pass\n"), ["test_h"]);
}

#[test]
fn fixtures_reach_by_parameter_and_by_usefixtures_and_by_themselves() {
    let files = &[
        (
            "tests/conftest.py",
            "import pytest\n@pytest.fixture\ndef app():\n    return 1\n@pytest.fixture\ndef client(app):\n    \
             return app\n@pytest.fixture(name='db')\ndef make_db():\n    return 1\n",
        ),
        (
            "tests/test_a.py",
            "import pytest\ndef test_client(client):\n    pass\n@pytest.mark.usefixtures('app')\ndef test_mark():\n    \
             pass\ndef test_db(db):\n    pass\ndef test_free():\n    pass\n",
        ),
        ("other/test_b.py", "def test_elsewhere(app):\n    pass\n"),
    ];
    let change = |from: &str, to: &str| after(files, "tests/conftest.py", &files[0].1.replacen(from, to, 1));
    assert_eq!(change("    return 1", "    return 2"), ["test_client", "test_mark"]);
    assert_eq!(change("def make_db():\n    return 1", "def make_db():\n    return 2"), ["test_db"]);
    assert_eq!(
        change("@pytest.fixture\ndef app", "@pytest.fixture(autouse=True)\ndef app"),
        ["test_client", "test_mark", "test_db", "test_free"]
    );
}

#[test]
fn an_overridden_fixture_reaches() {
    let files = &[
        ("conftest.py", "import pytest\n@pytest.fixture\ndef app():\n    return 1\n"),
        ("tests/test_a.py", "def test_a(app):\n    pass\ndef test_b():\n    pass\n"),
        ("other/test_c.py", "def test_c(app):\n    pass\n"),
    ];
    let text = "import pytest\n@pytest.fixture\ndef app():\n    return 2\n";
    assert_eq!(after(files, "tests/conftest.py", text), ["test_a"]);
}

#[test]
fn hooks_of_a_conftest_reach_every_test_below() {
    let files = &[
        ("tests/conftest.py", "def pytest_runtest_setup(item):\n    pass\ndef helper():\n    pass\n"),
        ("tests/deep/test_a.py", "def test_a():\n    pass\n"),
        ("other/test_b.py", "def test_b():\n    pass\n"),
    ];
    let change = |from: &str, to: &str| after(files, "tests/conftest.py", &files[0].1.replacen(from, to, 1));
    assert_eq!(change("    pass", "    return 1"), ["test_a"]);
    assert!(change("helper():\n    pass", "helper():\n    return 1").is_empty());
}

#[test]
fn what_runs_around_a_test_reaches_it() {
    let files = &[
        ("a.py", "def f(): return 1\n"),
        (
            "test_a.py",
            "import unittest\nfrom a import f\nclass Cases(unittest.TestCase):\n    def setUp(self):\n        f()\n    \
             def test_a(self):\n        pass\nclass TestB:\n    def test_b(self):\n        pass\nclass Base:\n    \
             def test_no(self):\n        f()\nclass TestC(Base):\n    pass\n",
        ),
    ];
    assert_eq!(after(files, "a.py", "def f(): return 2\n"), ["Cases.test_a", "TestC.test_no"]);
}

#[test]
fn parameters_of_a_test_are_of_its_text() {
    let files = &[
        ("a.py", "CASES = [1, 2]\n"),
        (
            "test_a.py",
            "import pytest\nfrom a import CASES\n@pytest.mark.parametrize('x', CASES)\ndef test_a(x):\n    pass\n\
             def test_b():\n    pass\n",
        ),
    ];
    assert_eq!(after(files, "a.py", "CASES = [1, 3]\n"), ["test_a"]);
}

#[test]
fn texts_name_what_is_reached_dynamically() {
    let files = &[
        ("shop/__init__.py", ""),
        ("shop/a.py", "def f(): return 1\nclass C:\n    def m(self): return 1\n    def visit_x(self): return 1\n"),
        (
            "test_a.py",
            "import importlib\nfrom unittest import mock\nfrom shop.a import C\n@mock.patch('shop.a.f')\n\
             def test_patch():\n    pass\ndef test_get():\n    getattr(C(), 'm')()\ndef test_module():\n    \
             importlib.import_module('shop.a').f()\ndef test_prefix(kind):\n    getattr(C(), 'visit_' + kind)()\n\
             def test_free():\n    C()\n",
        ),
    ];
    let change = |from: &str, to: &str| after(files, "shop/a.py", &files[1].1.replacen(from, to, 1));
    assert_eq!(change("f(): return 1", "f(): return 2"), ["test_patch", "test_module"]);
    assert_eq!(change("m(self): return 1", "m(self): return 2"), ["test_get"]);
    assert_eq!(change("visit_x(self): return 1", "visit_x(self): return 2"), ["test_prefix"]);
}

#[test]
fn an_unknown_module_may_be_any() {
    let files = &[
        ("plugins/a.py", "def f(): return 1\n"),
        ("load.py", "import importlib\ndef load(name):\n    return importlib.import_module(name)\n"),
        ("test_a.py", "from load import load\ndef test_a(name):\n    load(name).f()\ndef test_b():\n    pass\n"),
    ];
    assert_eq!(after(files, "plugins/a.py", "def f(): return 2\n"), ["test_a"]);
}

#[test]
fn what_is_registered_on_import_is_used_by_importers() {
    let files = &[
        (
            "app.py",
            "ALL = []\ndef register(f):\n    ALL.append(f)\n    return f\n@register\ndef view():\n    return 1\n",
        ),
        ("test_a.py", "import app\ndef test_a():\n    app.ALL[0]()\n"),
        ("test_b.py", "def test_b():\n    pass\n"),
    ];
    assert_eq!(after(files, "app.py", &files[0].1.replace("return 1", "return 2")), ["test_a"]);
}

#[test]
fn a_decorator_that_only_wraps_registers_nothing() {
    let files = &[
        (
            "app.py",
            "from functools import wraps\ndef checked(f):\n    @wraps(f)\n    def inner(*args):\n        print(args)\n        \
             return f(*args)\n    return inner\n@checked\ndef view():\n    return 1\ndef named(name):\n    def give(f):\n        \
             f.name = name\n        return f\n    return give\n@named('x')\ndef other():\n    return 3\n",
        ),
        (
            "test_a.py",
            "import app\ndef test_a():\n    app.view()\ndef test_b():\n    app.other()\ndef test_c():\n    pass\n",
        ),
    ];
    let change = |from: &str, to: &str| after(files, "app.py", &files[0].1.replace(from, to));
    assert_eq!(change("return 1", "return 2"), ["test_a"]);
    assert_eq!(change("return 3", "return 4"), ["test_b"]);
    assert_eq!(change("print(args)", "pass"), ["test_a"]);
}

#[test]
fn an_object_that_only_holds_registers_nothing() {
    let files = &[
        (
            "app.py",
            "import click\nclass Group(click.Group):\n    def __init__(self, **options):\n        \
             options.setdefault('a', 1)\n        found = []\n        found.append(options)\n        \
             super().__init__(**options)\n        self.add_command(1)\n        self.fill()\n    def fill(self):\n        \
             self.x = 1\nALL = []\nclass Noted:\n    def __init__(self):\n        ALL.append(self)\n        \
             self.note()\n    def note(self):\n        return 1\ngroup = Group()\nnoted = Noted()\n",
        ),
        ("test_a.py", "import app\ndef test_a():\n    app.group\ndef test_b():\n    pass\n"),
    ];
    let change = |from: &str, to: &str| after(files, "app.py", &files[0].1.replace(from, to));
    assert_eq!(change("self.x = 1", "self.x = 2"), ["test_a"]);
    assert_eq!(change("return 1", "return 2"), ["test_a", "test_b"]);
}

#[test]
fn a_class_with_a_base_from_outside_may_be_called_by_anybody() {
    let files = &[
        (
            "a.py",
            "from http.server import Handler\nclass A(Handler):\n    def do_GET(self): return 1\nclass B:\n    def do_GET(self): return 1\n",
        ),
        ("test_a.py", "from a import A, B\ndef test_a(serve):\n    serve(A)\ndef test_b(serve):\n    serve(B)\n"),
    ];
    assert_eq!(after(files, "a.py", &files[0].1.replace("return 1", "return 2")), ["test_a"]);
}

#[test]
fn a_chain_leads_from_the_change_to_the_test() {
    let text = SHOP[2].1.replace("return sum(items)", "return 0");
    let new = [SHOP[0], SHOP[1], ("shop/tax.py", &*text), SHOP[3]];
    let found = selection(SHOP, &new);
    let test = found.tests.iter().find(|test| &*test.test.qualname == "test_total").unwrap();
    let TestState::MustRun { why } = &test.state else { panic!("{test:?}") };
    assert_eq!((why.change.kind, &*why.change.place.qualname), (CodeChangeKind::Changed, "rate"));
    let steps: Vec<(StepKind, &str)> = why.steps.iter().map(|step| (step.kind, &*step.user.qualname)).collect();
    assert_eq!(steps, [(StepKind::Name, "Cart.total"), (StepKind::Attribute, "test_total")]);
    assert_eq!(selected(&found), ["test_total"]);
}

#[test]
fn tests_come_and_go() {
    let old = &[("test_a.py", "def test_a():\n    pass\ndef test_b():\n    pass\n")];
    let new = &[("test_a.py", "def test_b():\n    pass\ndef test_c():\n    pass\n")];
    let found = selection(old, new);
    let added: Vec<(&str, bool)> = found.tests.iter().map(|test| (&*test.test.qualname, test.is_added)).collect();
    assert_eq!(added, [("test_b", false), ("test_c", true)]);
    assert_eq!(&*found.removed[0].qualname, "test_a");
    assert_eq!(selected(&found), ["test_c"]);
}
