//! Which functions of two texts are compared, and what is said where none can be. No worker is started.

use twincell_compare::report::{Comparison, Reason};
use twincell_compare::verdict::Verdict;
use twincell_compare::{CompareError, CompareOptions, Continue, Source, compare};
use twincell_engine::{PoolOptions, WorkerPool};
use twincell_values::predictor::{Distribution, FunctionSites, PredictError, Predictor};

struct Never;

impl Predictor for Never {
    fn predict(&self, _: &[FunctionSites<'_>]) -> Result<Vec<Vec<Distribution>>, PredictError> {
        panic!("nothing here is executed")
    }

    fn describe(&self) -> String {
        "never".into()
    }
}

fn source(label: &str, text: &str) -> Source {
    Source { text: text.into(), label: label.into(), ..Source::default() }
}

fn select(old: &str, new: &str, function: Option<&str>) -> Result<Comparison, CompareError> {
    let pool = WorkerPool::new(PoolOptions::new("/no/such/python"));
    let options = CompareOptions { function: function.map(String::from), ..CompareOptions::default() };
    compare(&source("old", old), &source("new", new), &Never, &pool, &options, &mut |_| Continue::Yes)
}

fn error(old: &str, new: &str, function: Option<&str>) -> String {
    select(old, new, function).unwrap_err().to_string()
}

#[test]
fn a_syntax_error_names_the_side_and_the_line() {
    let text = error("def f():\n    return (\n", "def f(): pass\n", None);
    assert!(text.starts_with("old is not valid Python: line "), "{text}");
    assert!(error("def f(): pass\n", "def f(:\n", None).starts_with("new is not valid Python: line 1"));
}

#[test]
fn a_text_without_a_function_says_how_to_define_one() {
    assert_eq!(
        error("x = 1\n", "def f(): pass\n", None),
        "old has no function to compare: it has statements, and those are compared with statements only; define one \
         with def, async def or NAME = lambda"
    );
    assert!(error("def f(): pass\n", "", None).starts_with("new has no function to compare: it is empty;"));
    assert!(error("def f(): pass\n", "# later\n", None).starts_with("new has no function to compare: it has no code;"));
}

#[test]
fn tabs_among_spaces_are_named_as_what_is_wrong() {
    let mixed = error("def f(x):\n    if x:\n\treturn 1\n    return 2\n", "def f(): pass\n", None);
    assert!(mixed.starts_with("old is not valid Python: line 3"), "{mixed}");
    assert!(mixed.ends_with("lines begin with tabs and with spaces: indent with one of them"), "{mixed}");
    let spaces = error("def f(x):\n    y = 1\n      z = 2\n", "def f(): pass\n", None);
    assert!(!spaces.contains("tabs"), "{spaces}");
}

#[test]
fn an_unknown_function_lists_what_there_is() {
    let text = error("def f(): pass\ndef g(): pass\n", "def g(): pass\nclass A:\n    def h(self): pass\n", Some("x"));
    assert_eq!(text, "no function is called x in both versions; there are: A.h, f, g");
    assert!(error("def f(): pass\n", "def g(): pass\n", Some("f")).contains("no function is called f in both"));
}

#[test]
fn texts_with_nothing_in_common_say_what_each_has() {
    let old = "def first(a): return a\ndef second(b): return b\n";
    let new = "class Third:\n    def x(self): self.q.w.e()\nclass Fourth:\n    def y(self): yield 1\n";
    match select(old, new, None) {
        Err(CompareError::NothingInCommon { old, new }) => {
            assert_eq!((old.as_str(), new.as_str()), ("first, second", "Third.x, Fourth.y"));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn single_functions_of_different_names_are_compared_all_the_same() {
    assert_eq!(select("def f(a): return a\n", "def g(b): return b\n", None).unwrap().pairs.len(), 1);
}

#[test]
fn what_is_only_in_one_text_is_reported() {
    let old = "def same(a): return a\ndef gone(): raise ValueError('gone')\n";
    let new = "def same(b): return b\nclass New:\n    def fresh(self): yield self.x\n";
    let comparison = select(old, new, None).unwrap();
    assert_eq!((comparison.removed, comparison.added), (vec!["gone".to_string()], vec!["New.fresh".to_string()]));
    assert_eq!(comparison.verdict, Verdict::Identical);
}

#[test]
fn a_nested_function_goes_with_the_function_around_it() {
    let text = "def f():\n    def g():\n        return 1\n    return g\n";
    let comparison = select(text, text, None).unwrap();
    assert_eq!(comparison.pairs.len(), 1);
    assert_eq!(comparison.pairs[0].new.qualname, "f");
    assert_eq!(select(text, text, Some("f.<locals>.g")).unwrap().pairs[0].new.qualname, "f.<locals>.g");
}

#[test]
fn a_cut_out_function_is_known_by_its_place_in_its_module() {
    let module = "class A:\n    def f(self):\n        return 1\n";
    let side = |label: &str| Source {
        text: "def f(self):\n    return 1\n".into(),
        module: Some(module.into()),
        label: label.into(),
        ..Source::default()
    };
    let pool = WorkerPool::new(PoolOptions::new("/no/such/python"));
    let options = CompareOptions { function: Some("A.f".into()), ..CompareOptions::default() };
    let comparison = compare(&side("old"), &side("new"), &Never, &pool, &options, &mut |_| Continue::Yes).unwrap();
    assert_eq!(comparison.pairs[0].new.qualname, "A.f");
}

#[test]
fn identical_programs_say_whether_the_text_is_the_same() {
    let same = select("def f(a): return a\n", "def f(a): return a\n", None).unwrap();
    assert_eq!(same.pairs[0].reason, Reason::SameText);
    let renamed = select("def f(a): return a\n", "def f(b): return b  # the value\n", None).unwrap();
    assert_eq!(renamed.pairs[0].reason, Reason::SameProgram { locals: true, private_attributes: false });
    let class = "class A:\n    def __init__(self):\n        self._x = []\n    def f(self, a):\n        self._x.append(a)\n        \
                 return len(self._x)\n";
    let renamed = select(class, &class.replace("_x", "_y"), Some("A.f")).unwrap();
    assert_eq!(renamed.pairs[0].reason, Reason::SameProgram { locals: false, private_attributes: true });
}
