//! What the uses of attributes, items and entries say about the values that hold them.

use std::collections::BTreeMap;

use twincell_syntax::site::SiteKind;

use super::{Key, Uses, add_missing, nested};
use crate::path::{self, AccessPath, text_of};
use crate::value::Recipe;

/// Notes for each value which of its attributes are not methods.
pub(super) fn note_data(by_path: &mut BTreeMap<(SiteKind, &str), Uses>) {
    let no_methods = by_path.iter().filter(|((kind, _), uses)| *kind == SiteKind::Attribute && uses.is_no_method());
    let data: Vec<(AccessPath<'_>, &str)> =
        no_methods.filter_map(|((_, path), _)| AccessPath::new(path).split_attribute()).collect();
    for (holder, name) in data {
        for kind in HOLDERS {
            if let Some(uses) = by_path.get_mut(&(kind, holder.as_str())) {
                add_missing(&mut uses.data, &[name.to_owned()]);
            }
        }
    }
}

/// Notes for each value how what is looked up in it is used: `x['name'].strip()`, `x[1] < 2`, `x[i] < 2`.
pub(super) fn note_items(by_path: &mut BTreeMap<(SiteKind, &str), Uses>) {
    let items = by_path.iter().filter(|((kind, _), uses)| *kind == SiteKind::Subscript && **uses != Uses::default());
    let items: Vec<(AccessPath<'_>, &str, Uses)> = items
        .filter_map(|((_, path), uses)| {
            let (holder, key) = AccessPath::new(path).split_item()?;
            Some((holder, key, nested(uses.clone())))
        })
        .collect();
    for (holder, key, used) in items {
        for kind in HOLDERS {
            let Some(uses) = by_path.get_mut(&(kind, holder.as_str())) else { continue };
            match (text_of(key), key.parse::<usize>()) {
                (Some(key), _) => uses.note_value(key, &used),
                (None, Ok(index)) => uses.note_part(index, &used),
                // A position that counts, or one from the end.
                (None, Err(_)) if uses.keys == [Key::Int] => uses.element.get_or_insert_default().merge(&used),
                (None, Err(_)) if uses.keys.contains(&Key::Member) && is_computed(key) => {
                    uses.entry.get_or_insert_default().merge(&used);
                }
                (None, Err(_)) => {}
            }
        }
    }
}

/// The sites of values that hold others.
const HOLDERS: [SiteKind; 4] = [SiteKind::Name, SiteKind::Attribute, SiteKind::Call, SiteKind::Subscript];

/// Whether a key, as it is written, is neither a literal nor a slice.
fn is_computed(key: &str) -> bool {
    let unsigned = key.strip_prefix('-').unwrap_or(key);
    let is_number = unsigned.starts_with(|first: char| first.is_ascii_digit());
    let is_text = ["'", "\"", "b'", "b\""].iter().any(|quote| key.starts_with(quote));
    !(is_number || is_text || key.contains(':') || matches!(key, "" | "None" | "True" | "False"))
}

/// Notes for each value how what its methods give of its items and entries is used: `x.pop().name`, `for key, value in
/// x.items()`, `x.get(key) + 1`.
pub(super) fn note_entries(by_path: &mut BTreeMap<(SiteKind, &str), Uses>) {
    let calls = || by_path.iter().filter(|((kind, _), uses)| *kind == SiteKind::Call && **uses != Uses::default());
    // What a list or a set gives away was one of its items.
    let items: Vec<(AccessPath<'_>, Uses)> = calls()
        .filter_map(|((_, path), uses)| {
            let (callee, arguments) = AccessPath::new(path).split_call()?;
            let (holder, method) = callee.split_attribute()?;
            let takes_one = matches!((method, arguments), ("pop" | "popleft", "") | ("pop", "0" | "-1"));
            takes_one.then(|| (holder, nested(uses.clone())))
        })
        .collect();
    let entries: Vec<(AccessPath<'_>, Uses)> = calls()
        .filter_map(|((_, path), uses)| {
            let (callee, arguments) = AccessPath::new(path).split_call()?;
            let (holder, method) = callee.split_attribute()?;
            let entry = match (method, arguments) {
                ("values", "") => uses.element.as_deref()?.clone(),
                ("items", "") => uses.element.as_deref()?.parts.get(1)?.clone(),
                // What it has under a literal key says nothing about the others.
                ("get" | "pop" | "setdefault", some) if path::arguments(some).next().is_some_and(is_computed) => {
                    let mut given = uses.clone();
                    // None is what they give where there is no entry.
                    given.candidates.retain(|value| *value != Recipe::None);
                    given
                }
                _ => return None,
            };
            (entry != Uses::default()).then(|| (holder, nested(entry)))
        })
        .collect();
    for kind in HOLDERS {
        for (holder, item) in &items {
            if let Some(uses) = by_path.get_mut(&(kind, holder.as_str())) {
                uses.element.get_or_insert_default().merge(item);
            }
        }
        for (holder, entry) in &entries {
            if let Some(uses) = by_path.get_mut(&(kind, holder.as_str())) {
                uses.entry.get_or_insert_default().merge(entry);
            }
        }
    }
}
