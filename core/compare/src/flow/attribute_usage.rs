//! How the methods of a class use what its objects hold. A method that runs reaches others of its class, and these look at
//! values that it never reads itself.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use twincell_syntax::{CodeKind, Function, Index, PerSide, Side};
use twincell_values::path::AccessPath;
use twincell_values::reading::{Uses, kept_parameters};

use super::classes::{initializer, methods, object};
use super::sources::Sources;

/// The maximum number of values of one object. All programs of its methods carry them.
const MAX_HELD: usize = 128;
/// The maximum length of a method that is read.
const MAX_LENGTH: usize = 50_000;

/// What the methods of one class use, by what follows the object in the path: `last`, `clock()`.
type HeldOfClass = Rc<[(String, Uses)]>;

/// What was found, by class.
#[derive(Default)]
struct UsageMemo(RefCell<PerSide<BTreeMap<String, HeldOfClass>>>);

/// How the methods of an object's class use each value that the object holds, by access path: `self.last`,
/// `self.clock()`. For a class, by what its constructor is given: `clock()` where it keeps that as `self.clock`. What the class
/// itself defines is not held, and what a subscript or a call with arguments gives may be another value each time.
pub(super) fn held(sources: &Sources, side: Side, function: &Function) -> Vec<(String, Uses)> {
    let mut found: Vec<(String, Uses)> = Vec::new();
    if function.kind == CodeKind::Class {
        let class = function.entity();
        let kept = initializer(&sources[side].index, class).map(kept_parameters).unwrap_or_default();
        for (name, uses) in of_ancestry(sources, side, class) {
            for (parameter, attribute) in &kept {
                if let Some(rest) = from(&name, attribute) {
                    add(&mut found, format!("{parameter}{rest}"), &uses);
                }
            }
        }
    } else if let Some((owner, own)) = object(function) {
        for (name, uses) in of_ancestry(sources, side, owner) {
            add(&mut found, format!("{own}.{name}"), &uses);
        }
    }
    found
}

/// What the methods of a class and of its bases use.
fn of_ancestry(sources: &Sources, side: Side, class: &str) -> Vec<(String, Uses)> {
    let index = &sources[side].index;
    let ancestry = index.ancestry(class);
    let known = sources.memo(UsageMemo::default);
    let mut known = known.0.borrow_mut();
    let mut found: Vec<(String, Uses)> = Vec::new();
    for class in &ancestry {
        let of_class = known[side].entry(class.clone()).or_insert_with(|| of_class(sources, side, class));
        found.extend(of_class.iter().filter(|(name, _)| !is_defined(index, &ancestry, name)).cloned());
    }
    found
}

/// How a path goes on from a value: not at all for the value itself.
fn from<'a>(path: &'a str, value: &str) -> Option<&'a str> {
    if path == value { Some("") } else { AccessPath::new(path).beyond(value) }
}

fn add(found: &mut Vec<(String, Uses)>, path: String, uses: &Uses) {
    match found.iter().position(|(known, _)| *known == path) {
        Some(at) => found[at].1.merge(uses),
        None if found.len() < MAX_HELD => found.push((path, uses.clone())),
        None => {}
    }
}

/// Whether one of the classes has a method, a property or a class of this name.
fn is_defined(index: &Index, classes: &[String], name: &str) -> bool {
    let name = name.split(['.', '(']).next().unwrap_or_default();
    classes.iter().any(|class| {
        index.classes.get(class).is_some_and(|one| one.methods.iter().any(|method| method == name))
            || index.classes.contains_key(&format!("{class}.{name}"))
    })
}

fn of_class(sources: &Sources, side: Side, class: &str) -> HeldOfClass {
    let mut found: Vec<(String, Uses)> = Vec::new();
    for method in methods(&sources[side].index, class) {
        let Some((_, own)) = object(method).filter(|_| method.text.len() <= MAX_LENGTH) else { continue };
        // What cannot be instrumented says nothing; where it is compared itself, that is told.
        let Ok(instrumented) = twincell_syntax::instrument::instrument(method) else { continue };
        let sites = &instrumented.sites.sites;
        let reading = twincell_values::reading::read_within(&method.text, sites, &sources[side].surroundings);
        let kept = if method.name == "__init__" { kept_parameters(method) } else { vec![] };
        for (site, mut uses) in sites.iter().zip(reading.uses) {
            let path = AccessPath::new(&site.path);
            // What the constructor does with a parameter, it does with the attribute that keeps it.
            let of_parameter =
                || kept.iter().find_map(|(name, attribute)| Some(format!("{attribute}{}", from(&site.path, name)?)));
            let held = path.beyond(own).and_then(|rest| rest.strip_prefix('.')).map(str::to_owned);
            let rest = match held {
                Some(held) => held,
                None => {
                    let Some(kept) = of_parameter() else { continue };
                    // With what it tests for, it may refuse to make an object.
                    uses.candidates.clear();
                    kept
                }
            };
            if uses == Uses::default() || rest.replace("()", "").contains(['(', '[']) {
                continue;
            }
            add(&mut found, rest, &uses);
        }
    }
    found.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CompareOptions, Source};

    const CODE: &str = "class Base:
    def reset(self):
        return self.total - 1

class Bucket(Base):
    def __init__(self, size, clock, *, names=None):
        if size <= 0:
            raise ValueError
        self.size = size
        self.clock = clock
        self.names = names or []

    def later(self):
        return self.clock() + 1

    def named(self, name):
        return self.names.index(name), self.later.x, self.seen(1).y
";

    fn names(found: &[(String, Uses)]) -> Vec<&str> {
        let mut names: Vec<&str> = found.iter().map(|(path, _)| path.as_str()).collect();
        names.sort_unstable();
        names
    }

    #[test]
    fn methods_share_what_an_object_holds() {
        let source = Source { text: CODE.into(), ..Source::default() };
        let sources = Sources::new(&source, &source, &CompareOptions::default());
        let of = |name: &str| sources.versions.new.index.functions.iter().find(|one| one.qualname == name).unwrap();
        let found = held(&sources, Side::New, of("Bucket.later"));
        let expected = ["clock", "clock()", "names", "names.index", "seen", "size", "total"];
        assert_eq!(names(&found), expected.map(|name| format!("self.{name}")));
        let size = &found.iter().find(|(path, _)| path == "self.size").unwrap().1;
        // The constructor compares what it keeps.
        assert!(size.ordered);
        assert!(held(&sources, Side::New, of("Base.reset")).iter().all(|(path, _)| path == "self.total"));
    }

    #[test]
    fn a_class_is_given_what_its_constructor_keeps() {
        let source = Source { text: CODE.into(), ..Source::default() };
        let sources = Sources::new(&source, &source, &CompareOptions::default());
        let class = twincell_syntax::classes(CODE).into_iter().find(|class| class.qualname == "Bucket").unwrap();
        let found = held(&sources, Side::New, &class);
        assert_eq!(names(&found), ["clock", "clock()", "names", "names.index", "size"]);
        let names = &found.iter().find(|(path, _)| path == "names").unwrap().1;
        assert_eq!(names.attributes, ["index"]);
    }
}
