//! The maps of elements of containers, one for each kind of container.

use std::collections::BTreeSet;

use ruff_python_ast::Expr;
use twincell_semantic::{Value, elements, fields, is_site_given_away};

use super::draft::{Builder, Place};
use crate::program::{Items, Shared};

pub(super) const ALL_ITEMS: &[Items] = &[Items::Sequence, Items::Mapping, Items::Set];

/// The most containers that are followed into what they hold.
const MAX_HELD: usize = 256;

impl<'a> Builder<'_, 'a> {
    /// The maps of elements of what may be one of some values, or anything.
    pub fn maps(&mut self, kinds: &[Items], values: Option<&'a [Value]>, is_deep: bool, is_write: bool) -> Vec<u32> {
        let held = if is_deep { values.and_then(|values| self.held(values)) } else { values.map(<[Value]>::to_vec) };
        let held = held.filter(|held| !held.contains(&Value::Unknown));
        let mut maps = Vec::new();
        let Some(held) = held else {
            for kind in kinds {
                maps.push(self.out.shared(Shared::Items(*kind)));
                if is_write {
                    maps.push(self.out.shared(Shared::UnknownItems(*kind)));
                }
            }
            if is_write && !kinds.is_empty() {
                maps.push(self.out.shared(Shared::GivenItems));
            }
            return maps;
        };
        if kinds.is_empty() {
            return maps;
        }
        let (mut is_any, mut is_given) = (false, false);
        for value in &held {
            match value {
                Value::Container(site) => {
                    is_any = true;
                    is_given |= is_site_given_away(self.world.project, *site);
                    maps.push(self.out.shared(Shared::ItemsAt(site.number())));
                }
                Value::External(_) => is_given = true,
                Value::Instance(class) if self.world.is_foreign(*class) => is_given = true,
                _ => {}
            }
        }
        if is_given {
            maps.push(self.out.shared(Shared::GivenItems));
        }
        for kind in kinds {
            if is_write && (is_any || is_given) {
                maps.push(self.out.shared(Shared::Items(*kind)));
            } else if is_any {
                maps.push(self.out.shared(Shared::UnknownItems(*kind)));
            }
        }
        maps
    }

    /// What a library may take for the elements of a class: its attributes, such as the members of an enumeration.
    pub fn members(&mut self, values: Option<&'a [Value]>) -> Vec<Place> {
        let mut members = Vec::new();
        for value in values.unwrap_or_default() {
            let Value::Class(class) = value else { continue };
            if !self.world.is_foreign(*class) {
                continue;
            }
            let family = self.world.family(*class);
            for field in fields(self.world.project, *class) {
                if let Some(field) = self.world.project.symbol(field) {
                    members.push(self.shared(Shared::AttributeOf(family, field.name().into())));
                }
            }
        }
        members
    }

    /// The values with all that they hold, or nothing if that is not known.
    pub fn held(&self, values: &[Value]) -> Option<Vec<Value>> {
        let mut found: BTreeSet<Value> = BTreeSet::new();
        let mut open: Vec<Value> = values.to_vec();
        while let Some(next) = open.pop() {
            if found.len() > MAX_HELD {
                return None;
            }
            if let Value::Container(site) = &next
                && !found.contains(&next)
            {
                open.extend_from_slice(elements(self.world.project, *site)?);
            }
            found.insert(next);
        }
        Some(found.into_iter().collect())
    }

    /// The elements of any container, to be read.
    pub fn all_items(&mut self) -> Vec<Place> {
        ALL_ITEMS.iter().map(|kind| self.shared(Shared::Items(*kind))).collect()
    }
}

/// The containers that take a key.
pub(super) fn kinds_of_key(key: &Expr) -> &'static [Items] {
    match key {
        Expr::StringLiteral(_) | Expr::FString(_) | Expr::BytesLiteral(_) | Expr::Tuple(_) => &[Items::Mapping],
        Expr::Slice(_) => &[Items::Sequence],
        _ => &[Items::Sequence, Items::Mapping],
    }
}
