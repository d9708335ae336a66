//! How the methods of a class use what its objects hold. A method that runs reaches others of its class, and these look at
//! values that it never reads itself.

use std::rc::Rc;

use twincell_syntax::{Function, Index, Side};
use twincell_values::path::AccessPath;
use twincell_values::reading::Uses;

use super::classes::{methods, object};
use super::texts::Texts;

/// The maximum number of values of one object. All programs of its methods carry them.
const MAX_HELD: usize = 128;
/// The maximum length of a method that is read.
const MAX_LENGTH: usize = 50_000;

/// What the methods of one class use, by what follows the object in the path: `last`, `clock()`.
pub(super) type HeldOfClass = Rc<[(String, Uses)]>;

/// How the methods of an object's class use each value that the object holds, by access path: `self.last`,
/// `self.clock()`. What the class itself defines is not held, and what a subscript or a call with arguments gives may be
/// another value each time.
pub(super) fn held(texts: &Texts, side: Side, method: &Function) -> Vec<(String, Uses)> {
    let Some((owner, own)) = object(method) else { return vec![] };
    let index = &texts.indices[side];
    let ancestry = index.ancestry(owner);
    let mut known = texts.held.borrow_mut();
    let mut found: Vec<(String, Uses)> = Vec::new();
    for class in &ancestry {
        let of_class = known[side].entry(class.clone()).or_insert_with(|| of_class(texts, side, class));
        for (name, uses) in of_class.iter().filter(|(name, _)| !is_defined(index, &ancestry, name)) {
            let path = format!("{own}.{name}");
            add(&mut found, path, uses);
        }
    }
    found
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

fn of_class(texts: &Texts, side: Side, class: &str) -> HeldOfClass {
    let mut found: Vec<(String, Uses)> = Vec::new();
    for method in methods(&texts.indices[side], class) {
        let Some((_, own)) = object(method).filter(|_| method.text.len() <= MAX_LENGTH) else { continue };
        // What cannot be instrumented says nothing; where it is compared itself, that is told.
        let Ok(instrumented) = twincell_syntax::instrument::instrument(method) else { continue };
        let sites = &instrumented.sites.sites;
        let reading = twincell_values::reading::read_within(&method.text, sites, &texts.surroundings[side]);
        for (site, uses) in sites.iter().zip(reading.uses) {
            let Some(rest) = AccessPath::new(&site.path).beyond(own).and_then(|rest| rest.strip_prefix('.')) else {
                continue;
            };
            if uses == Uses::default() || rest.replace("()", "").contains(['(', '[']) {
                continue;
            }
            add(&mut found, rest.to_owned(), &uses);
        }
    }
    found.into()
}
