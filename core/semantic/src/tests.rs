//! Small projects that several queries are asked about.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::*;

fn project(files: &[(&str, &str)]) -> Project {
    Project::open(files.iter().copied().collect::<MemoryFiles>(), &Store::new())
}

fn shown(project: &Project, referents: &[Referent]) -> Vec<String> {
    let shown = referents.iter().map(|referent| match referent {
        Referent::Symbol(symbol) => project.name(*symbol).to_string(),
        Referent::External(path) => format!("<{path}>"),
    });
    let mut shown: Vec<String> = shown.collect();
    shown.sort();
    shown
}

fn named(project: &Project, dotted: &str) -> SymbolId {
    let found = project.symbols().find(|symbol| project.name(*symbol).to_string() == dotted);
    found.unwrap_or_else(|| panic!("no {dotted}"))
}

fn names(project: &Project, symbols: impl IntoIterator<Item = SymbolId>) -> Vec<String> {
    symbols.into_iter().map(|symbol| project.name(symbol).to_string()).collect()
}

/// Who calls whom in `m.py`, without classes.
fn call_pairs(text: &str) -> BTreeSet<String> {
    let project = project(&[("m.py", text)]);
    let pairs = calls(&project).iter().filter_map(|call| {
        let callee = match &call.callee {
            Callee::Code(code) => code.qualname(&project).to_string(),
            Callee::External(path) => format!("<{path}>"),
            Callee::Class(_) => return None,
        };
        Some(format!("{} -> {callee}", call.caller.qualname(&project)))
    });
    pairs.collect()
}

#[test]
fn names_lead_to_what_is_defined() {
    let files = [
        ("pkg/__init__.py", "from .impl import f, C as D\nfrom . import impl as renamed\nfrom .stars import *\n"),
        ("pkg/impl.py", "def f(): pass\nclass Base:\n    def m(self): pass\n    x = 1\nclass C(Base):\n    y: int\n"),
        ("pkg/stars.py", "__all__ = ['shown']\ndef shown(): pass\ndef hidden(): pass\n"),
        ("pkg/one.py", "from .two import a\nb = a\n"),
        ("pkg/two.py", "from .one import b as a\n"),
        (
            "main.py",
            "import pkg\nimport pkg.impl as i\nfrom pkg import *\nfrom json import loads as l\ng = pkg.f\nh = g\nfrom ext import *\n",
        ),
        ("cond.py", "try:\n    from fast import f\nexcept ImportError:\n    def f(): pass\n"),
    ];
    let project = project(&files);
    let main = project.module_at("main.py").unwrap();
    for (dotted, expected) in [
        ("pkg", &["pkg"][..]),
        ("pkg.f", &["pkg.impl.f"]),
        ("pkg.D", &["pkg.impl.C"]),
        ("pkg.D.m", &["pkg.impl.Base.m"]),
        ("i.C.x", &["pkg.impl.Base.x"]),
        ("i.C.y", &["pkg.impl.C.y"]),
        ("pkg.renamed.f", &["pkg.impl.f"]),
        ("h", &["pkg.impl.f"]),
        ("shown", &["pkg.stars.shown"]),
        ("D", &["pkg.impl.C"]),
        ("l", &["<json.loads>"]),
        ("hidden", &["<ext.hidden>"]),
        ("len", &["<builtins.len>"]),
        ("pkg.one.b", &["pkg.one.b"]),
        ("pkg.nothing", &[]),
    ] {
        let found = resolve(&project, main, dotted);
        assert_eq!(shown(&project, &found), expected, "{dotted}");
    }
    let cond = project.module_at("cond.py").unwrap();
    assert_eq!(shown(&project, &resolve(&project, cond, "f")), ["<fast.f>", "cond.f"]);
    assert_eq!(exports(&project, project.module_at("pkg/stars.py").unwrap()), ["shown".into()]);
    assert_eq!(modules_named(&project, "pkg.impl"), [project.module_at("pkg/impl.py").unwrap()]);
}

#[test]
fn classes_are_ordered_as_python_orders_them() {
    let text = "class A: pass\nclass B(A): pass\nclass C(A): pass\nclass D(B, C): pass\nclass E(Exception, metaclass=M): pass\n\
                class X(Y): pass\nclass Y(X): pass\nclass Z(Z): pass\nclass Bad(A, B): pass\nclass O(A.B): pass\n";
    let project = project(&[("m.py", text)]);
    for (class, expected) in [
        ("m.D", "m.D m.B m.C m.A"),
        ("m.E", "m.E <builtins.Exception>"),
        ("m.X", "m.X m.Y"),
        ("m.Z", "m.Z"),
        ("m.Bad", "m.Bad m.A m.B"),
    ] {
        let line = ancestors(&project, named(&project, class));
        let line: Vec<String> = line
            .iter()
            .map(|one| match one {
                Ancestor::Class(class) => project.name(*class).to_string(),
                Ancestor::External(path) => format!("<{path}>"),
            })
            .collect();
        assert_eq!(line.join(" "), expected, "{class}");
    }
}

#[test]
fn fields_and_overrides_follow_inheritance() {
    let text = "class A:\n    size = 1\n    def __init__(self, x):\n        self.x = x\n    def run(self): pass\n\
                class B(A):\n    def __init__(self):\n        self.y, self.size = 1, 2\n    def run(self): pass\n\
                class C(B):\n    def run(self): pass\n";
    let project = project(&[("m.py", text)]);
    let found = names(&project, fields(&project, named(&project, "m.C")));
    assert_eq!(found, ["m.A.x", "m.B.y", "m.B.size"]);
    assert_eq!(names(&project, overrides(&project, named(&project, "m.A.run"))), ["m.B.run", "m.C.run"]);
    assert_eq!(shown(&project, &overridden(&project, named(&project, "m.C.run"))), ["m.B.run"]);
    assert_eq!(names(&project, subclasses(&project, named(&project, "m.A")).iter().copied()), ["m.B"]);
}

#[test]
fn calls_follow_values() {
    for (text, expected) in [
        ("def f(): pass\ndef g(a): a()\ng(f)\n", &[" -> g", "g -> f"][..]),
        ("def f(): pass\ndef g(): pass\na = f\na = g\na()\n", &[" -> g"]),
        ("def f(): pass\ndef g(): pass\nif x:\n    a = f\nelse:\n    a = g\na()\n", &[" -> f", " -> g"]),
        ("def f(): pass\ndef g(): pass\na = f\nfor _ in y:\n    a()\n    a = g\n", &[" -> f", " -> g"]),
        ("def f(): pass\ndef g(): pass\na = f\ntry:\n    a = g\n    b()\nexcept E:\n    a()\n", &[" -> f", " -> g"]),
        ("class A:\n    def f(self): self.g()\n    def g(self): pass\nA().f()\n", &[" -> A.f", "A.f -> A.g"]),
        (
            "class A:\n    def f(self): pass\nclass B(A):\n    def f(self): super().f()\n",
            &["B.f -> <builtins.super>", "B.f -> A.f"],
        ),
        ("class A:\n    @property\n    def p(self): pass\ndef f(a: A): return a.p\n", &["f -> A.p"]),
        (
            "class A:\n    @classmethod\n    def make(cls): return cls()\n    def f(self): pass\nA.make().f()\n",
            &[" -> A.f", " -> A.make"],
        ),
        (
            "def d(f):\n    def inner(): return f()\n    return inner\n@d\ndef g(): pass\ng()\n",
            &[" -> d", " -> d.<locals>.inner", "d.<locals>.inner -> g"],
        ),
        ("def f(): pass\ndef g(*args, **kw):\n    args[1]()\n    kw['k']()\ng(1, f, k=f)\n", &[" -> g", "g -> f"]),
        ("def f(): pass\ndef g(a, b): b()\nargs = (1, f)\ng(*args)\n", &[" -> g", "g -> f"]),
        ("def f(): pass\ndef g(k): k()\ng(**{'k': f})\n", &[" -> g", "g -> f"]),
        ("def f(): pass\ndef g():\n    yield f\nfor h in g(): h()\n", &[" -> f", " -> g"]),
        ("def f(): pass\nfs = [f]\n[h() for h in fs]\n", &[" -> f"]),
        (
            "def f(): pass\nd = {}\nd.update(a=f)\nfor k, v in d.items(): v()\n",
            &[" -> <builtins.dict.items>", " -> <builtins.dict.update>", " -> f"],
        ),
        (
            "class A:\n    def __enter__(self): return self\n    def __exit__(self): pass\n    def f(self): pass\nwith A() as a: a.f()\n",
            &[" -> A.__enter__", " -> A.__exit__", " -> A.f"],
        ),
        ("class A:\n    def __add__(self, other): return self\nA() + 1\n", &[" -> A.__add__"]),
        (
            "import functools\ndef d(f):\n    @functools.wraps(f)\n    def w(): return f()\n    return w\n@d\ndef g(): pass\ng()\n",
            &[" -> d", " -> d.<locals>.w", "d -> <functools.wraps>", "d.<locals>.w -> g"],
        ),
        ("def f():\n    global x\n    x = g\ndef g(): pass\ndef h(): x()\n", &["h -> g"]),
        ("from ext import Base\nclass A(Base):\n    def f(self): self.run()\n", &["A.f -> <ext.Base.run>"]),
        ("async def f(): return g\ndef g(): pass\nasync def h():\n    a = await f()\n    a()\n", &["h -> f", "h -> g"]),
        ("def f(x):\n    match x:\n        case {'k': v}: v()\ndef g(): pass\nf({'k': g})\n", &[" -> f", "f -> g"]),
        ("x = lambda: f()\ndef f(): pass\nx()\n", &[" -> <lambda1>", "<lambda1> -> f"]),
    ] {
        let expected: BTreeSet<String> = expected.iter().map(ToString::to_string).collect();
        assert_eq!(call_pairs(text), expected, "{text}");
    }
}

#[test]
fn uses_and_references_have_their_places() {
    let files = [
        ("a.py", "LIMIT = 3\ndef f(): return LIMIT\nclass C:\n    def m(self): return f()\n"),
        ("b.py", "from a import C\nimport a\nc = C()\ndef g():\n    a.LIMIT = 4\n    return c.m()\n"),
    ];
    let project = project(&files);
    let users = |name: &str| {
        let users = used_by(&project, &Referent::Symbol(named(&project, name)));
        names(&project, users.iter().map(|(user, _)| *user))
            .into_iter()
            .collect::<BTreeSet<_>>()
            .into_iter()
            .collect::<Vec<_>>()
    };
    assert_eq!(users("a.LIMIT"), ["a.f", "b.g"]);
    assert_eq!(users("a.C.m"), ["b.g"]);
    assert_eq!(users("a.C"), ["b", "b.c"]);
    let places = references(&project, &Referent::Symbol(named(&project, "a.LIMIT")));
    let found: Vec<(&str, u32, bool)> =
        places.iter().map(|place| (project.path(place.module), place.range.0, place.is_store)).collect();
    assert_eq!(found, [("a.py", 0, true), ("a.py", 26, false), ("b.py", 48, true)]);
    let from = [named(&project, "b.g")];
    let reached = reaches(&project, &from, Direction::Uses, Bounds::default());
    assert!(reached.contains(named(&project, "a.f")) && !reached.is_cut);
    let near = reaches(&project, &from, Direction::Uses, Bounds { distance: 1, ..Bounds::default() });
    assert!(near.contains(named(&project, "a.C.m")) && !near.contains(named(&project, "a.f")) && near.is_cut);
    let few = reaches(&project, &from, Direction::Uses, Bounds { symbols: 1, ..Bounds::default() });
    assert!(few.symbols.len() == 1 && few.is_cut);
    let back = reaches(&project, &[named(&project, "a.f")], Direction::Users, Bounds::default());
    assert!(back.contains(named(&project, "b.g")));
}

#[test]
fn an_overriding_method_is_reached_over_the_method_that_it_replaces() {
    let text = "class A:\n    def run(self): pass\nclass B(A):\n    def run(self): helper()\ndef helper(): pass\n\
                def main(a: A): a.run()\n";
    let project = project(&[("m.py", text)]);
    let reached = reaches(&project, &[named(&project, "m.main")], Direction::Uses, Bounds::default());
    assert!(reached.contains(named(&project, "m.helper")));
}

/// Added, removed, moved, renamed, changed and affected, in words.
fn compared(old: &[(&str, &str)], new: &[(&str, &str)]) -> Vec<String> {
    let store = Store::new();
    let old = Project::open(old.iter().copied().collect::<MemoryFiles>(), &store);
    let new = Project::open(new.iter().copied().collect::<MemoryFiles>(), &store);
    let change = change(&old, &new);
    let mut words = Vec::new();
    let pair = |(one, other): &(SymbolId, SymbolId)| format!("{} to {}", old.name(*one), new.name(*other));
    words.extend(change.added.iter().map(|one| format!("added {}", new.name(*one))));
    words.extend(change.removed.iter().map(|one| format!("removed {}", old.name(*one))));
    words.extend(change.moved.iter().map(|one| format!("moved {}", pair(one))));
    words.extend(change.renamed.iter().map(|one| format!("renamed {}", pair(one))));
    words.extend(change.changed.iter().map(|(_, one)| format!("changed {}", new.name(*one))));
    words.extend(change.affected.iter().map(|one| format!("affected {}", new.name(one.new))));
    words
}

#[test]
fn a_change_is_in_text_or_in_meaning() {
    for (old, new, expected) in [
        // Layout, comments and docstrings.
        ("def f(): return 1\n", "def f():\n    '''Text.'''\n    return 1  # one\n", &[][..]),
        ("def f(): return 1\n", "def f(): return 2\n", &["changed m.f"]),
        (
            "A = 1\ndef f(): return A\ndef g(): return f()\n",
            "A = 2\ndef f(): return A\ndef g(): return f()\n",
            &["changed m.A", "affected m.f", "affected m.g"],
        ),
        ("def f(): return 1\n", "def f(): return 1\ndef g(): return 2\n", &["added m.g"]),
        ("def f(): return 1\n", "def g(): return 1\n", &["renamed m.f to m.g"]),
        ("def f(): return 1\nh = f\n", "def g(): return 1\nh = g\n", &["renamed m.f to m.g", "changed m.h"]),
        ("def f(): return 1\ndef g(): return f()\n", "def g(): return f()\n", &["removed m.f", "affected m.g"]),
        (
            "from a import f\ndef g(): return f()\n",
            "from b import f\ndef g(): return f()\n",
            &["affected m", "affected m.g"],
        ),
        (
            "class A:\n    x = 1\n    def f(self): return self.x\n",
            "class A:\n    x = 2\n    def f(self): return self.x\n",
            &["changed m.A.x", "affected m.A.f"],
        ),
        (
            "class A: pass\nclass B(A): pass\n",
            "class A(C): pass\nclass B(A): pass\nclass C: pass\n",
            &["added m.C", "changed m.A", "affected m.B"],
        ),
        ("print(1)\n", "print(2)\n", &["changed m"]),
        ("if x:\n    A = 1\n", "if y:\n    A = 1\n", &["changed m.A"]),
        (
            "class A:\n    def run(self): return 1\nclass B(A):\n    def run(self): return 2\ndef f(a: A): return a.run()\n",
            "class A:\n    def run(self): return 1\nclass B(A):\n    def run(self): return 3\ndef f(a: A): return a.run()\n",
            &["changed m.B.run", "affected m.f"],
        ),
    ] {
        assert_eq!(compared(&[("m.py", old)], &[("m.py", new)]), expected, "{old}---\n{new}");
    }
}

#[test]
fn symbols_move_between_files() {
    let user = ("m.py", "from a import f\ndef g(): return f()\n");
    let moved = ("m.py", "from b import f\ndef g(): return f()\n");
    let text = "def f(): return 41\n";
    assert_eq!(
        compared(&[("a.py", text), user], &[("b.py", text), moved]),
        ["moved a.f to b.f", "renamed a to b"],
        "the importer means the same"
    );
    let method = "class A:\n    def f(self): return 41\nclass B:\n    x = 1\n";
    let there = "class A:\n    y = 1\nclass B:\n    x = 1\n    def f(self): return 41\n";
    assert!(compared(&[("m.py", method)], &[("m.py", there)]).contains(&"moved m.A.f to m.B.f".to_owned()));
}

/// Files that count how many texts are read.
struct Counted(MemoryFiles, Arc<AtomicUsize>);

impl Files for Counted {
    fn paths(&self) -> Vec<(Arc<str>, ContentId)> {
        self.0.paths()
    }

    fn text(&self, path: &str, content: ContentId) -> Option<Arc<str>> {
        self.1.fetch_add(1, Ordering::Relaxed);
        self.0.text(path, content)
    }
}

#[test]
fn a_thousand_versions_read_each_text_once() {
    let mut files = MemoryFiles::default();
    for number in 0..20 {
        files.insert(&format!("pkg/m{number}.py"), &format!("def f{number}(): pass\n"));
    }
    let store = Store::new();
    let read = Arc::new(AtomicUsize::new(0));
    for version in 0..1000 {
        files.insert("pkg/m3.py", &format!("def f3(): return {}\n", version % 500));
        let project = Project::open(Counted(files.clone(), read.clone()), &store);
        assert_eq!(project.modules().count(), 21);
        // Nothing is read before somebody asks.
        if version == 0 {
            assert_eq!(read.load(Ordering::Relaxed), 0);
        }
        assert_eq!(project.symbols().count(), 41);
    }
    let read = read.load(Ordering::Relaxed);
    assert_eq!(read, 19 + 500);
    assert_eq!(store.len(), read);
    store.shrink();
    assert!(store.is_empty());
}

#[test]
fn hostile_projects_have_an_answer() {
    let deep = format!("{}x{}\n", "(".repeat(5000), ")".repeat(5000));
    let blocks: String = (0..5000).map(|level| format!("{}if x:\n", " ".repeat(level))).collect();
    let attributes = format!("x = a{}\n", ".b".repeat(5000));
    let chain: String = (0..600).map(|n| format!("class C{}(C{n}): pass\n", n + 1)).collect();
    let aliases: String = (0..3000).map(|n| format!("a{} = a{n}\n", n + 1)).collect();
    let circle: String = (0..30)
        .map(|n| {
            let others: Vec<String> = (0..30).filter(|o| *o != n).map(|o| format!("C{o}")).collect();
            format!("class C{n}({}): pass\n", others.join(", "))
        })
        .collect();
    let rows: String = (0..10_000).map(|n| format!("    ({n}, 'row {n}', [{n}, None]),\n")).collect();
    let data = format!("DATA = [\n{rows}]\nfor a, b, c in DATA:\n    print(a)\n");
    let nested =
        "def f(): \n".to_owned() + &(1..90).map(|n| format!("{}def f{n}():\n", " ".repeat(n))).collect::<String>();
    let grows = "def f(x):\n    while x:\n        x = [x]\n        x = x.next\n        x = x[1:]\n        x = list(x)\n    return f(f)\nimport e\nf(e)\n";
    for text in [
        deep.as_str(),
        &blocks,
        &attributes,
        &chain,
        &aliases,
        &circle,
        &data,
        &nested,
        grows,
        "def f(:\n  return ]\nclass\n",
        "def \u{0}f(): pass\n\u{feff}",
        "class A(A.B.C):\n    class B(A): pass\n",
        "from . import *\nfrom .m import *\nfrom .... import x\nimport m\nfrom m import m as m\nm = m.m.m\n",
        "\tif x:\n        y\n\t\tz\n",
        "del x, y.z, a[0]\nx: int\n(yield)\nawait x\nreturn 3\n*a, *b = c\nf(*a, **b, c=1, *d)\n",
    ] {
        let project = project(&[("m.py", text), ("n.py", "from m import *\n")]);
        let everything = project.symbols().map(|symbol| {
            let referent = Referent::Symbol(symbol);
            references(&project, &referent).len() + ancestors(&project, symbol).len() + fields(&project, symbol).len()
        });
        let _: usize = everything.sum();
        let own = change(&project, &project);
        assert!(own.changed.is_empty() && own.affected.is_empty(), "{}", text.get(..80).unwrap_or(text));
    }
}

#[test]
fn circles_of_imports_end() {
    let files = [
        ("a.py", "from b import *\nfrom c import x\n"),
        ("b.py", "from c import *\nfrom a import x as y\n"),
        ("c.py", "from a import *\nfrom b import y as x\nz = 1\n"),
        ("A.py", "z = 2\n"),
        ("odd name\u{fffd}.py", "import a\n"),
        ("pkg/__init__.py", "from .pkg import pkg\n"),
        ("pkg/pkg.py", "from . import pkg\nfrom .. import pkg\nfrom pkg.pkg import pkg\n"),
    ];
    let project = project(&files);
    let a = project.module_at("a.py").unwrap();
    assert_eq!(shown(&project, &resolve(&project, a, "z")), ["c.z"]);
    assert_eq!(shown(&project, &resolve(&project, a, "x")), [""; 0]);
    assert!(!calls_are_cut(&project));
}

/// What the last place of a text may be, in `m.py`.
fn values_of(text: &str, place: &str) -> Vec<String> {
    let project = project(&[("m.py", text)]);
    let module = project.module_at("m.py").unwrap_or_else(|| panic!("no module"));
    let start = text.rfind(place).unwrap_or_else(|| panic!("no {place}")) as u32;
    let shown = values(&project, module, (start, start + place.len() as u32)).iter().map(|value| match value {
        Value::Class(class) => format!("class {}", project.name(*class)),
        Value::Instance(class) => project.name(*class).to_string(),
        Value::Function(code) | Value::Method(code) | Value::Generator(code) => code.qualname(&project).to_string(),
        Value::Container(_) => "container".to_owned(),
        Value::External(path) => format!("<{path}>"),
        Value::Module(module) => format!("module {}", project.module_name(*module)),
        Value::Plain => "plain".to_owned(),
        Value::Unknown => "unknown".to_owned(),
    });
    let mut shown: Vec<String> = shown.collect();
    shown.sort();
    shown
}

#[test]
fn expressions_are_what_reaches_them() {
    assert_eq!(values_of("class A:\n    pass\nx = A()\nprint(x)\n", "x"), ["m.A"]);
    assert_eq!(values_of("def f(one=None):\n    return one\nf([])\n", "one"), ["container", "plain"]);
}

#[test]
fn parameters_of_functions_that_nobody_calls_are_unknown() {
    let text = "class A:\n    def m(self, given):\n        return given\n";
    assert_eq!(values_of(text, "given"), ["unknown"]);
    assert_eq!(values_of(&text.replace("return given", "return self"), "self"), ["m.A"]);
    assert_eq!(values_of(&text.replace("return given", "return given.size"), "given.size"), ["unknown"]);
}

#[test]
fn declared_classes_are_trusted_where_the_annotation_names_all() {
    let text = "class A:\n    pass\ndef f(one: A | None, other: A | list[int]):\n    return one\n";
    assert_eq!(values_of(text, "one"), ["m.A"]);
    assert_eq!(values_of(&text.replace("return one", "return other"), "other"), ["m.A", "unknown"]);
}

#[test]
fn what_a_library_gets_may_come_out_of_it() {
    let text =
        "import queue\nclass A:\n    pass\nclass B:\n    pass\nwaiting = queue.Queue()\nwaiting.put([A()])\nB()\n";
    let project = project(&[("m.py", text)]);
    assert!(is_given_away(&project, named(&project, "m.A")));
    assert!(!is_given_away(&project, named(&project, "m.B")));
}
