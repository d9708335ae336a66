//! How the methods of a class use what its objects hold. A method that runs reaches others of its class, and these look at
//! values that it never reads itself.

use std::collections::BTreeMap;
use std::rc::Rc;

use twincell_syntax::{Function, Side};
use twincell_values::path::AccessPath;
use twincell_values::reading::Uses;

use super::classes::{methods, object};
use super::texts::Texts;

/// The maximum number of values of one class. All programs of its methods carry them.
const MAX_HELD: usize = 128;

/// How the methods of an object's class use each value that the object holds, by access path: `self.last`,
/// `self.clock()`. What the class itself defines is not held.
pub(super) fn held(texts: &Texts, side: Side, method: &Function) -> Vec<(String, Uses)> {
    let Some((owner, own)) = object(method) else { return vec![] };
    let mut known = texts.held.borrow_mut();
    let held = known[side].entry(owner.to_owned()).or_insert_with(|| of_class(texts, side, owner));
    held.iter().map(|(path, uses)| (format!("{own}{path}"), uses.clone())).collect()
}

/// By what follows the object in the path: `.last`.
fn of_class(texts: &Texts, side: Side, class: &str) -> Rc<[(String, Uses)]> {
    let index = &texts.indices[side];
    let mut found: BTreeMap<String, Uses> = BTreeMap::new();
    for method in index.ancestry(class).iter().flat_map(|class| methods(index, class)) {
        let Some((_, own)) = object(method) else { continue };
        // What cannot be instrumented says nothing; where it is compared itself, that is told.
        let Ok(instrumented) = twincell_syntax::instrument::instrument(method) else { continue };
        let sites = &instrumented.sites.sites;
        let reading = twincell_values::reading::read_within(&method.text, sites, &texts.surroundings[side]);
        for (site, uses) in sites.iter().zip(reading.uses) {
            let Some(rest) = AccessPath::new(&site.path).beyond(own).filter(|rest| rest.starts_with('.')) else {
                continue;
            };
            let name = rest[1..].split(['.', '(', '[']).next().unwrap_or_default();
            let is_new = !found.contains_key(rest);
            if index.inherited(class, name).is_some() || (is_new && found.len() == MAX_HELD) {
                continue;
            }
            found.entry(rest.to_owned()).or_default().merge(&uses);
        }
    }
    found.retain(|_, uses| *uses != Uses::default());
    found.into_iter().collect()
}
