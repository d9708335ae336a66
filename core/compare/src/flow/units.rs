//! The classes of two whole texts that a comparison would look at, and whether it would look at their statements, found
//! without running anything. This is for callers that compare functions by themselves.

use twincell_syntax::CodeKind;

use super::pair::Pair;
use super::plain;
use super::select::{is_worth, select};
use super::sources::Sources;
use crate::{CompareOptions, Source};

/// A class, or the statements outside definitions, of two texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unit {
    pub kind: CodeKind,
    pub qualname: String,
}

/// The classes and statements that both texts have and that are not the same program in both, or that use something
/// that is not. Empty if the texts are not Python.
pub fn units(old: &str, new: &str) -> Vec<Unit> {
    let source = |text: &str| plain(&Source { text: text.to_owned(), ..Source::default() }).0;
    let (old, new, options) = (source(old), source(new), CompareOptions::default());
    let Ok(selected) = select(&old, &new, &options) else { return vec![] };
    let sources = Sources::new(&old, &new, &options);
    let wanted =
        selected.pairs.into_iter().filter(|(old, new)| new.kind != CodeKind::Function && old.qualname == new.qualname);
    let worth = wanted.filter(|functions| is_worth(&sources, functions, &options));
    let pairs = worth
        .map(|functions| Pair::new(&sources, functions, options.max_function))
        .filter(|pair| !pair.is_same_program());
    pairs.map(|pair| Unit { kind: pair.kind(), qualname: pair.shown.new.qualname.clone() }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: &str = "LIMIT = 10\n\n\nclass P:\n    size = 3\n\n    def area(self):\n        return self.size\n\n\n\
                       def f(x):\n    return x + LIMIT\n\n\ndef g(x):\n    return x\n";

    fn names(old: &str, new: &str) -> Vec<String> {
        units(old, new).into_iter().map(|unit| unit.qualname).collect()
    }

    #[test]
    fn classes_and_statements_that_changed_are_named_and_functions_are_not() {
        assert_eq!(names(OLD, OLD), Vec::<String>::new());
        // Others see the names that a module binds.
        assert_eq!(names(OLD, &OLD.replace("10", "20")), [twincell_syntax::SNIPPET]);
        assert_eq!(names(OLD, &OLD.replace("size = 3", "size = 4")), ["P"]);
        assert_eq!(names(OLD, &OLD.replace("return x\n", "return -x\n")), Vec::<String>::new());
        assert_eq!(names(OLD, &OLD.replace("class P", "@dataclass\nclass P")), ["P"]);
        assert_eq!(names(OLD, "def f(:"), Vec::<String>::new());
    }

    #[test]
    fn statements_beside_definitions_count() {
        let old = format!("{OLD}\nprint(f(1))\n");
        assert_eq!(names(&old, &old.replace("f(1)", "f(2)")), [twincell_syntax::SNIPPET]);
    }
}
