//! What of two whole texts a comparison would run, by name; nothing runs here. For those who compare each by itself.

use crate::source::Form;

use super::pair::{Pair, Texts};
use super::select::{is_worth, select};
use super::{CompareOptions, Source, plain};

/// A function, a class or the statements beside definitions of two texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unit {
    pub form: Form,
    /// The qualified names in both texts, which differ where something was renamed.
    pub old: String,
    pub new: String,
}

/// What both texts have and what is not the same program in them, or uses something that is not; nothing where they are no
/// Python.
pub fn units(old: &str, new: &str) -> Vec<Unit> {
    let source = |text: &str| plain(&Source { text: text.to_owned(), ..Source::default() }).0;
    let (old, new, options) = (source(old), source(new), CompareOptions::default());
    let Ok(selected) = select(&old, &new, &options) else { return vec![] };
    let texts = Texts::new(&old, &new, options.context);
    let worth = selected.pairs.into_iter().filter(|functions| is_worth(&texts, functions, &options));
    let pairs = worth.map(|functions| Pair::new(&texts, functions)).filter(|pair| !pair.is_same_program());
    pairs
        .map(|pair| {
            let [old, new] = &pair.shown;
            Unit { form: pair.form(), old: old.qualname.clone(), new: new.qualname.clone() }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: &str = "LIMIT = 10\n\n\nclass P:\n    size = 3\n\n    def area(self):\n        return self.size\n\n\n\
                       def f(x):\n    return x + LIMIT\n\n\ndef g(x):\n    return x\n";

    fn names(old: &str, new: &str) -> Vec<String> {
        units(old, new).into_iter().map(|unit| unit.new).collect()
    }

    #[test]
    fn what_uses_a_constant_or_an_attribute_that_changed_is_compared() {
        assert_eq!(names(OLD, OLD), Vec::<String>::new());
        // What a module binds is seen by others.
        assert_eq!(names(OLD, &OLD.replace("10", "20")), ["f", crate::source::SNIPPET]);
        assert_eq!(names(OLD, &OLD.replace("size = 3", "size = 4")), ["P.area", "P"]);
        assert_eq!(names(OLD, &OLD.replace("return x\n", "return -x\n")), ["g"]);
        assert_eq!(names(OLD, &OLD.replace("class P", "@dataclass\nclass P")), ["P"]);
        assert_eq!(names(OLD, "def f(:"), Vec::<String>::new());
    }

    #[test]
    fn statements_beside_definitions_count() {
        let old = format!("{OLD}\nprint(f(1))\n");
        assert_eq!(names(&old, &old.replace("f(1)", "f(2)")), [crate::source::SNIPPET]);
    }
}
