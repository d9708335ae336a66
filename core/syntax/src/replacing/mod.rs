//! Statements that run when a module is imported and may put something else in the place of functions and classes, of this
//! module or of another one.
//!
//! `globals()["pay"] = f`, `pay.__code__ = ...`, `from other import *`, `del pay`, `os.getcwd = fake`, and calls of what the
//! module defines and that may do such a thing: functions, methods and closures, by whatever name they are reached. What a
//! function of another module does with what it is given is not known here, and counts as nothing.

mod given;
mod level;
mod module;
mod reach;
mod search;
mod target;

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::PerSide;
use crate::parse::{Lines, normalize_newlines, parse, with_stack_for};

use level::Level;
use module::Module;
use reach::{Reach, Reached};
use search::{Hit, Mention, Search};

/// A statement that may replace functions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replacing {
    /// Its line, from 1.
    pub line: u32,
    /// The other module whose functions it may replace, if the text names it.
    pub target: Option<String>,
}

/// A text, and what ran before it.
#[derive(Debug, Clone, Copy, Default)]
pub struct AfterCells<'a> {
    pub text: &'a str,
    /// How many lines at its beginning ran before it: what earlier cells define.
    pub before: u32,
    /// Whether cells ran before it, perhaps others, too.
    pub is_cell: bool,
}

/// The statements of this kind in each text that the other text does not have. Lines are those of the text without what ran
/// before it.
pub fn replacing(old: AfterCells<'_>, new: AfterCells<'_>) -> PerSide<Vec<Replacing>> {
    let found = PerSide::new(old, new).map(of_text);
    PerSide::of(|side| {
        let mut others: BTreeMap<u64, usize> = BTreeMap::new();
        for (_, content) in &found[side.other()] {
            *others.entry(*content).or_default() += 1;
        }
        let is_own = |(_, content): &&(Replacing, u64)| match others.get_mut(content) {
            Some(left @ 1..) => {
                *left -= 1;
                false
            }
            _ => true,
        };
        let mut own: Vec<Replacing> = found[side].iter().filter(is_own).map(|(one, _)| one.clone()).collect();
        // Of several on one line, what the text names is worth more.
        own.dedup_by(|later, kept| {
            let is_same = later.line == kept.line;
            if is_same && kept.target.is_none() {
                kept.target = later.target.take();
            }
            is_same
        });
        own
    })
}

/// Each such statement with its content. What a statement calls of the module belongs to its content.
fn of_text(after: AfterCells<'_>) -> Vec<(Replacing, u64)> {
    let text = normalize_newlines(after.text);
    with_stack_for(text.len(), || {
        let parsed = parse(&text);
        let body = &parsed.syntax().body;
        let module = Module::of(body, after.is_cell);
        let search = Search::of_module(&module, body);
        let reach = Reach::of(&module);
        let unnamed_calls: Vec<_> = search.unnamed_calls.iter().filter(|call| module.is_unnamed(call.name)).collect();
        // A lambda that is given something is called here, or elsewhere.
        let runs = |hit: &Hit| hit.level == Level::Nothing || hit.in_call || !unnamed_calls.is_empty();
        let hits = search.hits.into_iter().filter(runs);
        let mut found: Vec<_> = hits.map(|hit| (hit.start, hit.target, hit.content)).collect();
        let mut add = |start, content, reached: Option<Reached>| {
            if let Some(Reached { content: reached, target }) = reached {
                let mut hasher = DefaultHasher::new();
                (content, reached).hash(&mut hasher);
                found.push((start, target, hasher.finish()));
            }
        };
        for Mention { start, name, level, content } in search.mentions {
            add(start, content, reach.of_name(name, level));
        }
        if !unnamed_calls.is_empty() {
            let stored = reach.of_names(&search.stored);
            unnamed_calls.into_iter().for_each(|call| add(call.start, call.content, stored.clone()));
        }
        found.sort_by_key(|(start, ..)| *start);
        let lines = Lines::new(&text);
        let own = found.into_iter().filter_map(|(start, target, content)| {
            let line = lines.line(start).checked_sub(after.before)?;
            let target = target.filter(|target| !target.is_empty());
            (line > 0).then_some((Replacing { line, target }, content))
        });
        own.collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODULE: &str =
        "import os\n\ndef pay(x):\n    return x\n\nclass Till:\n    def open(self):\n        return 1\n";

    fn found(old: &str, new: &str) -> PerSide<Vec<Replacing>> {
        let alone = |text| AfterCells { text, ..AfterCells::default() };
        replacing(alone(old), alone(new))
    }

    fn between(old: &str, new: &str) -> PerSide<Vec<u32>> {
        found(old, new).map(|found| found.into_iter().map(|one| one.line).collect())
    }

    fn lines(added: &str) -> Vec<u32> {
        between(MODULE, &format!("{MODULE}{added}")).new
    }

    #[test]
    fn what_may_replace_a_function_is_found() {
        for statement in [
            "globals()['pay'] = print",
            "vars(os)['getcwd'] = print",
            "setattr(os, 'getcwd', None)",
            "pay.__code__ = print.__code__",
            "pay.__defaults__ = (1,)",
            "Till.open = print",
            "os.getcwd = print",
            "__builtins__.len = print",
            "from elsewhere import *",
            "from elsewhere import f as pay",
            "import pay",
            "del pay",
            "pay = print",
            "pay, other = print, 1",
            "for pay in [print]: pass",
            "with open('f') as pay: pass",
            "if (pay := print): pass",
            "try:\n    x = 1\nexcept OSError as pay:\n    pass",
            "match 1:\n    case pay: pass",
            "exec('def pay(x): pass')",
            "def other(x=globals().update(pay=1)): pass",
            "@setattr(os, 'a', 1)\ndef other(): pass",
            "class Other:\n    globals()['pay'] = print",
            "class Other:\n    def f(self): pass\n    f = print",
            "if os.name:\n    def fake(): pass\n    pay = fake",
            "if os.name:\n    def pay(x): pass",
            "try:\n    class Till: pass\nexcept OSError: pass",
            "def setup():\n    global pay\n    pay = print\nsetup()",
            "def inner():\n    globals()['pay'] = 1\ndef setup():\n    inner()\nsetup()",
            "class Patch:\n    def __init__(self):\n        pay.__code__ = 1\nPatch()",
            "def patch(f):\n    os.getcwd = f\n@patch\ndef other(): pass",
            "def patch(module, name, value): setattr(module, name, value)\npatch(os, 'getcwd', print)",
            "def patch(f): f.__code__ = print.__code__\npatch(pay)",
            "class Patch:\n    def __new__(cls): setattr(cls, 'open', 1)\nPatch()",
            "def setup():\n    global pay\n    pay = lambda x: 0\nsetup()",
            "def setup():\n    global pay\n    def pay(x): return 0\nsetup()",
            "if os.name:\n    pay = lambda x: 0",
            "pay = also = lambda x: 0",
            "import sys\nsys.modules['os'] = print",
            "import builtins\nbuiltins.exec('')",
            "pay.__globals__.update(helper=1)",
            "named = lambda x: x\nnamed = print",
            "class A:\n    def go(self): globals()['pay'] = print\nA().go()",
            "class A:\n    def go(self): globals()['pay'] = print\na = A()\na.go()",
            "class A:\n    def go(self): self.on()\n    def on(self): pay.__code__ = 1\nA().go()",
            "class A:\n    @property\n    def go(self): globals()['pay'] = print\nA().go",
            "class A:\n    def __enter__(self): exec('')\n    def __exit__(self, *a): pass\nwith A(): pass",
            "class A:\n    @classmethod\n    def go(cls): Till.open = print\nA.go()",
            "class A:\n    def go(self): globals()['pay'] = print\nclass B(A): pass\nB().go()",
            "class A:\n    def __init_subclass__(cls): exec('')\nclass B(A): pass",
            "class A(type):\n    def __init__(cls, *a): exec('')\nclass B(metaclass=A): pass",
            "class A:\n    def go(self): exec('')\ngetattr(A(), 'go')()",
            "def make():\n    def go(): globals()['pay'] = print\n    return go\nmake()()",
            "def make():\n    def go(): globals()['pay'] = print\n    return go\ngo = make()\ngo()",
            "def make(f):\n    def go(*a): exec('')\n    return go\n@make\ndef other(): pass",
            "from functools import partial\ndef go(x): globals()['pay'] = x\npartial(go, 1)()",
            "def go(): exec('')\nfor f in [go]:\n    f()",
            "def go(): exec('')\nTABLE = {'a': go}\nTABLE['a']()",
            "def go(): exec('')\nalso = go\nalso()",
            "go = lambda: exec('')\ngo()",
            "(lambda: globals().update(pay=1))()",
            "import sys\ndef go(): exec('')\nsys.modules[__name__].go()",
            "import importlib\nimportlib.import_module('os').getcwd = print",
            "also = os\nalso.getcwd = print",
            "class A:\n    def go(self): type(self).open = print\nA().go()",
            "def even(n):\n    odd(n)\ndef odd(n):\n    even(n)\n    exec('')\neven(1)",
            "def even(n):\n    exec('')\n    odd(n)\ndef odd(n):\n    even(n)\nodd(1)",
        ] {
            assert!(!lines(&format!("{statement}\n")).is_empty(), "{statement}");
        }
    }

    #[test]
    fn what_a_function_is_given_may_be_a_module() {
        for given in [
            "sys.modules[__name__]",
            "importlib.import_module('os')",
            "__import__('os')",
            "a if b else os",
            "b or os",
            "(m := os)",
            "[os][0]",
            "*[os]",
            "**{'m': os}",
            "held",
            "m=unknown",
        ] {
            for does in ["m.pay = print", "setattr(m, 'pay', print)"] {
                let text = format!("import sys, importlib\nheld = [os]\ndef patch(m): {does}\npatch({given})\n");
                assert!(!lines(&text).is_empty(), "{does} {given}");
            }
        }
        for given in ["1", "'a'", "-1", "f'{os}'", "[1, 'a']", "{'a': 1}", "known", "len(os)", "'{}'.format(os)", "int"]
        {
            let text = format!("known = 3\ndef mark(m): m.pay = print\nmark({given})\n");
            assert_eq!(lines(&text), [0; 0], "{given}");
        }
    }

    #[test]
    fn annotations_run_unless_they_stay_texts() {
        for statement in [
            "x: globals().update(pay=print) = 1",
            "x: exec('')",
            "def other(x: exec('...')): pass",
            "def other(*x: exec('...')): pass",
            "def other() -> exec(''): pass",
            "class A:\n    x: exec('')",
            "class A:\n    def f(self, x: exec('')): pass",
            "def go(): exec('')\nx: go() = 1",
            "pay: int = print",
        ] {
            assert!(!lines(&format!("{statement}\n")).is_empty(), "{statement}");
        }
        for statement in ["x: globals().update(pay=print) = 1", "def other(x: exec('...')) -> exec(''): pass"] {
            let text = format!("from __future__ import annotations\ndef pay(x): pass\n{statement}\n");
            assert_eq!(between("", &text).new, [0; 0], "{statement}");
        }
        for statement in ["x: Till = 1", "def f(x: Till) -> Till: pass", "def go():\n    x: exec('') = 1\ngo()"] {
            let text = format!("class Till:\n    def __init__(self): exec('')\n{statement}\nd = {{}}\nd['a']()\n");
            assert_eq!(between("", &text).new, [0; 0], "{statement}");
        }
    }

    #[test]
    fn functions_are_called_by_whatever_holds_them() {
        for statement in [
            "(lambda m: setattr(m, 'getcwd', print))(os)",
            "list(map(lambda m: setattr(m, 'x', 1), [os]))",
            "def patch(m): m.getcwd = print\n(lambda m: patch(m))(os)",
            "T = {'a': lambda m: setattr(m, 'x', 1)}\nT['a'](os)",
            "def go(): exec('')\nalso: object = go\nalso()",
            "def go(): exec('')\nalso, b = go, 1\nalso()",
            "def go(): exec('')\na = b = go\na()",
            "def go(): exec('')\na = b = go\nb()",
            "def go(): exec('')\n[f() for f in [go]]",
            "def go(): exec('')\nlist(f() for f in [go])",
            "def patch(m): m.getcwd = print\nlist(f(os) for f in [patch])",
            "def go(): exec('')\nfor f, _ in [(go, 1)]: f()",
            "def go(): exec('')\n(f := go)\nf()",
            "def go(): exec('')\nmatch go:\n    case f: f()",
            "def go(f): exec('')\nT = [go]\n@T[0]\ndef other(): pass",
            "def go(f): exec('')\nalso: object = go\n@also\ndef other(): pass",
            "def go(f): exec('')\nT = [go]\nlist(map(T[0], [1]))",
            "def go(): exec('')\nprint: object = go\nprint()",
            "def go(): exec('')\nc = go\nb = c\nb()",
            "def go(f): exec('')\nalso: object = go\nlist(map(also, [1]))",
            "def go(f): exec('')\nT = [go]\nsorted([1], key=T[0])",
        ] {
            assert!(!lines(&format!("{statement}\n")).is_empty(), "{statement}");
        }
    }

    #[test]
    fn functions_are_changed_by_whatever_stands_for_them() {
        for statement in [
            "p = pay\np.__code__ = print.__code__",
            "K = Till\nK.open = print",
            "K: object = Till\nK.open = print",
            "K, _ = Till, 1\nK.open = print",
            "K, *_ = [Till, 1]\nK.open = print",
            "J = K = Till\nK.open = print",
            "(K := Till)\nK.open = print",
            "for m in [os]: m.getcwd = print",
            "for m, _ in [(os, 1)]: m.getcwd = print",
            "for m in list([os]): m.getcwd = print",
            "m: object = os\nm.getcwd = print",
            "m: object = os\nn = m\nn.getcwd = print",
            "m = [os]\nm[0].getcwd = print",
            "m = {'a': os}\ndel m['a'].getcwd",
            "match os:\n    case m: m.getcwd = print",
            "(os if 1 else 0).getcwd = print",
            "(m := os).getcwd = print",
            "[os][0].getcwd = print",
            "def go():\n    m.getcwd = print\nm: object = os\ngo()",
            "def go():\n    m = os\n    m.getcwd = print\ngo()",
            "def go():\n    for m in [os]: m.getcwd = print\ngo()",
            "def go():\n    K, _ = Till, 1\n    K.open = print\ngo()",
            "def go(m):\n    n = m\n    n.getcwd = print\ngo(os)",
            "def go(f):\n    g = f\n    g.__code__ = print.__code__\ngo(pay)",
            "import importlib\ndef go():\n    m = importlib.import_module('os')\n    m.getcwd = print\ngo()",
            "def go(m=os): m.getcwd = print\ngo()",
            "def go(m=os): setattr(m, 'getcwd', print)\ngo()",
        ] {
            assert!(!lines(&format!("{statement}\n")).is_empty(), "{statement}");
        }
        for statement in ["t = Till()\nt.open = 1", "for n in [1, 2]: n.x = 1", "t, u = Till(), 3\nt.open = 1"] {
            assert_eq!(lines(&format!("{statement}\n")), [0; 0], "{statement}");
        }
    }

    #[test]
    fn the_functions_of_python_have_other_names() {
        for statement in [
            "import builtins as b\nb.exec('')",
            "from builtins import setattr as s\ns(os, 'getcwd', print)",
            "from builtins import globals as g\ng()['pay'] = 1",
            "__builtins__.setattr(os, 'getcwd', print)",
            "__builtins__['exec']('')",
            "import builtins as b\ngetattr(b, 'exec')('')",
            "import builtins as b\nrun = b.exec",
            "__import__('builtins').exec('')",
            "import sys\nsys.modules['builtins'].exec('')",
            "class A:\n    def setattr(self): pass\nsetattr(os, 'getcwd', print)",
        ] {
            assert!(!lines(&format!("{statement}\n")).is_empty(), "{statement}");
        }
        let target = |text: &str| found("", text).new.into_iter().next().and_then(|one| one.target);
        assert_eq!(target("import os, builtins as b\nb.setattr(os, 'a', 1)\n"), Some("os".to_owned()));
    }

    #[test]
    fn of_several_on_one_line_the_one_with_a_target_is_told() {
        let target = |text: &str| found("", text).new.into_iter().map(|one| one.target).collect::<Vec<_>>();
        assert_eq!(target("import os\nexec(''); os.getcwd = print\n"), [Some("os".to_owned())]);
    }

    #[test]
    fn the_work_grows_with_the_text_and_not_faster() {
        const MANY: usize = 20_000;
        let repeated = |one: &str| one.repeat(MANY);
        // Many functions of one name, which all call that name.
        let text = format!("{}f()\n", repeated("def f():f()\n"));
        assert_eq!(between("", &text).new, [0; 0]);
        let text = format!("{}def f():exec('')\n{}", repeated("def f():f()\n"), repeated("f()\n"));
        assert_eq!(between("", &text).new.len(), MANY);
        let classes = |last: &str| {
            let one = |n| format!("class C{n}:\n    def __init__(self):\n        super().__init__(){last}\n");
            (0..MANY).map(one).collect::<String>()
        };
        let calls: String = (0..MANY).map(|n| format!("C{n}()\n")).collect();
        assert_eq!(between("", &format!("{}{calls}", classes(""))).new, [0; 0]);
        assert_eq!(between("", &format!("{}{calls}", classes("; exec('')"))).new.len(), MANY);
        // Many mentions in one statement.
        let row = "class Row:\n    def __init__(self, *a): pass\n";
        assert_eq!(between("", &format!("{row}ROWS = [{}]\n", repeated("Row(1, 'a'), "))).new, [0; 0]);
        let row = "def row(*a): exec('')\n";
        assert_eq!(between("", &format!("{row}ROWS = [{}]\n", repeated("row(1, 'a'), "))).new, [2]);
        assert_eq!(between("", &format!("{row}ROWS = [{}]\n", repeated("T[0](1), globals(), "))).new, [2]);
        // Names that stand for each other, and many names with one value.
        let text = format!("def f():exec('')\ng = f\n{}g()\n", repeated("f = g\ng = f\n"));
        assert!(!between("", &text).new.is_empty());
        let names: String = (0..MANY).map(|n| format!("a{n} = ")).collect();
        let values: String = (0..MANY).map(|n| format!("b{n}, ")).collect();
        assert_eq!(between("", &format!("{names}[{values}]\nfor {values} in [{values}]: pass\n")).new, [0; 0]);
    }

    #[test]
    fn what_leaves_functions_alone_is_not() {
        for statement in [
            "LIMIT = 3",
            "from os.path import join",
            "os.environ['A'] = 'b'",
            "table = {}\ntable['pay'] = pay",
            "pay = lambda x: 1",
            "pay: int",
            "def pay(x):\n    return 2",
            "def later():\n    globals()['pay'] = 1",
            "class Other:\n    pay = 3",
            "class Made:\n    def __init__(self, **given):\n        setattr(self, 'a', given)\nMade()",
            "if __name__ == '__main__':\n    exec('pay = 1')",
            "print(pay(2))",
            "class A:\n    def go(self): globals()['pay'] = print\n    def on(self): pass\nA().on()",
            "class A:\n    def go(self, node): node.value = 1\nA().go(3)",
            "def mark(f):\n    f.is_marked = True\n    return f\n@mark\ndef other(): pass",
            "def go(): exec('')\nTABLE = {'a': go}",
            "def go(): exec('')\nalso = go",
            "class A:\n    def __setattr__(self, name, value): object.__setattr__(self, name, value)\nA()",
            "class A:\n    @classmethod\n    def go(cls): cls.known = {}\nA.go()",
            "import numpy as np\nclass A:\n    def load(self): exec('')\nx = np.core.load('a')",
        ] {
            assert_eq!(lines(&format!("{statement}\n")), [0; 0], "{statement}");
        }
    }

    #[test]
    fn a_text_without_functions_changes_those_of_others() {
        let target = |text: &str| found("", text).new.into_iter().next().map(|one| one.target);
        let named = |target: &str| Some(Some(target.to_owned()));
        for (text, wanted) in [
            ("import shop.tax\nshop.tax.rate = lambda: 0\n", named("shop.tax")),
            ("from shop import tax as t\nt.rate = print\n", named("shop.tax")),
            ("from . import tax\ntax.rate = print\n", named(".tax")),
            ("import os\nsetattr(os, 'getcwd', print)\n", named("os")),
            ("import sys\nsys.modules['json'] = print\n", named("json")),
            ("import builtins\nbuiltins.len = print\n", named("builtins")),
            ("exec('')\n", Some(None)),
            ("from shop import *\n", None),
            ("LIMIT = 3\nglobals()['LIMIT'] = 4\n", None),
            ("import os\nos.environ['A'] = 'b'\n", None),
        ] {
            assert_eq!(target(text), wanted, "{text}");
        }
    }

    #[test]
    fn what_ran_before_has_functions_and_no_lines() {
        let cells = |cell: &str| format!("def pay(x):\n    return x\n\n{cell}");
        let (old, new) = (cells("x = 1\n"), cells("x = 1\npay.__code__ = 1\nglobals()['pay'] = 1\n"));
        let after = |text| AfterCells { text, before: 3, is_cell: true };
        let found = replacing(after(&old), after(&new)).new;
        assert_eq!(found.iter().map(|one| one.line).collect::<Vec<_>>(), [2, 3]);
        let cell = |text| AfterCells { text, before: 0, is_cell: true };
        for statement in ["globals()['pay'] = 1\n", "pay.__code__ = 1\n"] {
            assert_eq!(replacing(cell("x = 1\n"), cell(statement)).new.len(), 1, "{statement}");
        }
        assert_eq!(replacing(cell("x = 1\n"), cell("frame.columns = ['a']\n")).new, []);
    }

    #[test]
    fn only_what_one_text_has_counts_and_a_called_function_belongs_to_it() {
        let with = |value: &str| format!("{MODULE}def setup():\n    globals()['pay'] = {value}\n\n\nsetup()\n");
        assert_eq!(between(&with("1"), &with("1")), PerSide::default());
        assert_eq!(between(&with("1"), &with("2")), PerSide { old: vec![13], new: vec![13] });
        assert_eq!(between(&with("1"), MODULE), PerSide { old: vec![13], new: vec![] });
        // The statement that replaces is the same, and what it puts there is not.
        let with =
            |value: &str| format!("{MODULE}def setup():\n    global pay\n    f = {value}\n    pay = f\nsetup()\n");
        assert_eq!(between(&with("1"), &with("2")).new, [13]);
    }

    #[test]
    fn functions_that_call_each_other_are_searched_once() {
        let functions: String = (0..400).map(|n| format!("def f{n}():\n    f{}(); f{}()\n", n + 1, n + 2)).collect();
        let text = format!("{functions}def f400():\n    f0()\n    exec('')\nf0()\n");
        assert_eq!(between("", &text).new, [804]);
    }
}
