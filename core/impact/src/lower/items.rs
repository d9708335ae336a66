//! The maps of elements of containers, one for each kind of container.

use ruff_python_ast::Expr;

use super::draft::{Builder, Place};
use crate::program::{Items, Shared};

pub(super) const ALL_ITEMS: &[Items] = &[Items::Sequence, Items::Mapping, Items::Set];

/// The maps of elements as places.
pub(super) trait MapItems {
    fn map_items(&self, builder: &mut Builder<'_, '_>) -> Vec<Place>;
}

impl MapItems for [Items] {
    fn map_items(&self, builder: &mut Builder<'_, '_>) -> Vec<Place> {
        self.iter().map(|kind| builder.shared(Shared::Items(*kind))).collect()
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
