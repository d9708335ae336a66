//! What subscripts and attributes say.

use ruff_python_ast::{Expr, ExprAttribute, ExprSubscript};
use twincell_syntax::python::attributes_of;

use super::methods::{
    ALL_NUMBERS, LIKE_COLUMNS, NOT_OF_SERIES, OF_CONTAINERS, OF_FRAMES, OF_OTHERS, OF_SERIES, ONLY_ARRAYS, ONLY_FRAMES,
    ONLY_SERIES, SAME_COLUMNS, USUAL, is_of_tables, of_cell, of_column,
};
use super::notes::{is_column, written_index};
use super::polars;
use super::roles::{Origin, Role, Source, Table};
use super::walk::{CERTAIN, Walk};
use crate::value::shape::Content;

/// Classes whose values hold others by texts or numbers.
const PLAIN: [&str; 5] = ["dict", "list", "set", "str", "tuple"];

impl Walk<'_> {
    pub(super) fn subscript(&mut self, node: &ExprSubscript) -> Role {
        let holder = self.role(&node.value);
        if let Role::Parameter(root) = holder {
            return self.subscript_of_parameter(root, node);
        }
        match &holder {
            Role::Table(table) | Role::Group(table) => {
                let is_group = matches!(holder, Role::Group(_));
                match self.written_names(&node.slice) {
                    Some(names) if self.is_list(&node.slice) || names.len() != 1 => {
                        names.iter().for_each(|name| drop(self.column(table, name)));
                        holder.clone()
                    }
                    Some(names) => {
                        let source = self.column(table, &names[0]);
                        if is_group { Role::GroupColumn(source) } else { Role::Column(source) }
                    }
                    None => {
                        if !is_group {
                            self.mask(&node.slice);
                        }
                        holder.clone()
                    }
                }
            }
            Role::ByLabel(table)
                if let Some(root) = self.row(table)
                    && let Some(names) = self.written_names(&node.slice) =>
            {
                self.found[root].looked_up += 1;
                self.labels(root, &names)
            }
            Role::ByLabel(table) | Role::ByPosition(table) => {
                let by_label = matches!(holder, Role::ByLabel(_));
                match node.slice.as_ref() {
                    Expr::Tuple(tuple) => {
                        tuple.elts.first().into_iter().for_each(|rows| self.mask(rows));
                        match tuple.elts.get(1).filter(|_| by_label) {
                            Some(columns) => match self.written_names(columns) {
                                Some(names) if names.len() == 1 && !self.is_list(columns) => {
                                    Role::Column(self.column(table, &names[0]))
                                }
                                Some(names) => {
                                    names.iter().for_each(|name| drop(self.column(table, name)));
                                    Role::Table(table.clone())
                                }
                                None => Role::Other,
                            },
                            None => Role::Other,
                        }
                    }
                    rows => {
                        self.mask(rows);
                        if matches!(rows, Expr::Slice(_) | Expr::Compare(_) | Expr::BinOp(_) | Expr::Name(_)) {
                            Role::Table(table.clone())
                        } else {
                            Role::Row(table.clone())
                        }
                    }
                }
            }
            Role::Row(table) => match self.written_names(&node.slice) {
                Some(names) if names.len() == 1 => Role::Cell(self.column(table, &names[0])),
                _ => Role::Other,
            },
            Role::Tables(table) => {
                self.role(&node.slice);
                Role::Table(table.clone())
            }
            Role::Column(Some(Origin { root, column: None })) if let Some(names) = self.written_labels(&node.slice) => {
                self.labels(*root, &names)
            }
            Role::Column(source) => {
                self.dimensions(source, &node.slice);
                if let Role::Parameter(root) = self.role(&node.slice)
                    && source.as_ref().is_none_or(|origin| origin.column.is_some())
                {
                    self.found[root].is_label = true;
                }
                match node.slice.as_ref() {
                    Expr::Slice(_) | Expr::Compare(_) | Expr::Tuple(_) | Expr::Name(_) => Role::Column(source.clone()),
                    _ => Role::Cell(source.clone()),
                }
            }
            Role::Extent(root) => {
                if let Some(index) = written_index(&node.slice) {
                    self.has_dimensions(*root, index + 1);
                }
                Role::Other
            }
            Role::Like(root) => {
                self.dimensions(&Some(Origin { root: *root, column: None }), &node.slice);
                Role::Like(*root)
            }
            Role::Cell(source) => {
                // What was calculated for each group has a value for each label.
                if source.is_none()
                    && let Role::Parameter(root) = self.role(&node.slice)
                {
                    self.found[root].is_label = true;
                }
                // A row of an array.
                if let (Some(Origin { root, column: None }), Some(index)) = (source, written_index(&node.slice)) {
                    let shape = &mut self.found[*root].shape;
                    shape.dimensions = shape.dimensions.max(Some(2));
                    shape.width = shape.width.max(index + 1);
                }
                Role::Cell(None)
            }
            _ => {
                self.role(&node.slice);
                Role::Other
            }
        }
    }

    /// What a series has at these labels: a cell, or a part of the series.
    pub(super) fn labels(&mut self, root: usize, names: &[String]) -> Role {
        let is_needed = |walk: &Self, name: &String| !walk.found[root].set.contains(name);
        for name in names {
            if is_needed(self, name) {
                self.note_column(root, name, &[]);
            }
        }
        match names {
            [name] if !is_needed(self, name) => Role::Cell(None),
            [name] => Role::Cell(Some(Origin { root, column: Some(name.clone()) })),
            _ => Role::Column(Some(Origin { root, column: None })),
        }
    }

    /// The labels for which an expression stands, if the code says them.
    fn written_labels(&mut self, expr: &Expr) -> Option<Vec<String>> {
        match expr {
            Expr::Name(name) if let Some(Role::Parameter(_)) = self.names.get(name.id.as_str()) => None,
            other => self.written_names(other),
        }
    }

    /// The parameter or other value of which this is the table, if it is a row.
    fn row(&self, table: &Table) -> Option<usize> {
        match table.roots.as_slice() {
            [root] if !table.is_derived && self.found[*root].is_row() => Some(*root),
            _ => None,
        }
    }

    /// A subscript of what may be a table, an array or anything else.
    pub(super) fn subscript_of_parameter(&mut self, root: usize, node: &ExprSubscript) -> Role {
        let table = Table { roots: vec![root], ..Table::default() };
        if let Some(names) = self.written_names(&node.slice) {
            self.found[root].looked_up += 1;
            if self.found[root].is_row() {
                return self.labels(root, &names);
            }
            if self.is_list(&node.slice) {
                // Nothing else takes a list of names.
                self.found[root].frame += CERTAIN;
                names.iter().for_each(|name| drop(self.column(&table, name)));
                return Role::Table(table);
            }
            return Role::Column(self.column(&table, &names[0]));
        }
        match node.slice.as_ref() {
            Expr::Tuple(tuple) if tuple.elts.iter().any(Expr::is_slice_expr) => {
                self.found[root].array += CERTAIN;
                self.dimensions(&Some(Origin { root, column: None }), &node.slice);
                Role::Column(Some(Origin { root, column: None }))
            }
            slice => {
                let role = self.role(slice);
                if is_column(&role) {
                    self.note(&role, Content::Truths);
                    if matches!(role, Role::Column(_)) || matches!(role, Role::Like(other) if other != root) {
                        self.found[root].frame += 1;
                        self.found[root].array += 1;
                    }
                    return Role::Parameter(root);
                }
                Role::Cell(Some(Origin { root, column: None }))
            }
        }
    }

    /// What a subscript says of the dimensions of an array.
    pub(super) fn dimensions(&mut self, source: &Source, slice: &Expr) {
        let Some(Origin { root, column: None }) = source else { return };
        let shape = &mut self.found[*root].shape;
        match slice {
            Expr::Tuple(tuple) => {
                let is_new_axis = |expr: &Expr| {
                    expr.is_none_literal_expr()
                        || matches!(expr, Expr::Attribute(node) if node.attr.as_str() == "newaxis")
                };
                if tuple.elts.iter().any(is_new_axis) {
                    return;
                }
                shape.dimensions = shape.dimensions.max(Some(2));
                if let Some(index) = tuple.elts.last().and_then(written_index) {
                    shape.width = shape.width.max(index + 1);
                }
            }
            other => {
                if let Some(index) = written_index(other) {
                    shape.width = shape.width.max(index + 1);
                }
            }
        }
    }

    pub(super) fn attribute(&mut self, node: &ExprAttribute) -> Role {
        let holder = self.role(&node.value);
        let name = node.attr.as_str();
        match holder {
            Role::Parameter(root) => self.attribute_of_parameter(root, name),
            Role::Table(table) => match name {
                "loc" | "at" => Role::ByLabel(table),
                "iloc" | "iat" => Role::ByPosition(table),
                _ if self.is_of_polars(&table) => Role::Other,
                "T" | "columns" | "index" | "values" | "shape" | "empty" | "size" | "dtypes" => Role::Other,
                _ if OF_FRAMES.contains(&name) || SAME_COLUMNS.contains(&name) || ALL_NUMBERS.contains(&name) => {
                    Role::Other
                }
                _ => Role::Column(self.column(&table, name)),
            },
            Role::Row(table) if !matches!(name, "name" | "Index" | "to_dict" | "index" | "get" | "_asdict") => {
                Role::Cell(self.column(&table, name))
            }
            Role::Column(Some(Origin { root, column: None }))
                if !is_of_tables(name)
                    && (self.found[root].is_named_row || !self.found[root].shape.columns.is_empty()) =>
            {
                self.labels(root, &[name.to_owned()])
            }
            Role::Column(source) => self.attribute_of_column(&source, name),
            Role::GroupColumn(source) => {
                self.attribute_of_column(&source, name);
                Role::Column(None)
            }
            Role::Item(root) => {
                self.ask_item(root, name);
                Role::Other
            }
            Role::Cell(source) => {
                if let Some(Origin { root, column: None }) = &source {
                    self.ask_item(*root, name);
                }
                if let Some(content) = of_cell(name) {
                    self.note(&Role::Cell(source), content);
                }
                Role::Cell(None)
            }
            Role::Group(table) if !OF_FRAMES.contains(&name) && of_column(name).is_none() => {
                Role::Column(self.column(&table, name))
            }
            Role::Difference(origins) if matches!(name, "dt" | "total_seconds" | "days") => {
                origins.into_iter().for_each(|origin| self.note(&Role::Column(Some(origin)), Content::Dates));
                Role::Accessor
            }
            Role::Accessor => Role::Accessor,
            _ => Role::Other,
        }
    }

    /// Notes what is asked of an item of a parameter.
    pub(super) fn ask_item(&mut self, root: usize, name: &str) {
        if USUAL.contains(&name) || ONLY_FRAMES.contains(&name) {
            self.found[root].frames += 1;
        }
    }

    pub(super) fn attribute_of_column(&mut self, source: &Source, name: &str) -> Role {
        let column = Role::Column(source.clone());
        if let Some(Origin { root, .. }) = source
            && OF_SERIES.contains(&name)
        {
            self.found[*root].series += CERTAIN;
        }
        if let Some(Origin { root, column: Some(_) }) = source
            && (of_column(name).is_some() || LIKE_COLUMNS.contains(&name))
        {
            self.found[*root].like_column += 1;
        }
        match name {
            "str" => {
                self.note(&column, Content::Texts);
                Role::Accessor
            }
            "dt" => {
                self.note(&column, Content::Dates);
                Role::Accessor
            }
            "index" => Role::Other,
            "loc" | "iloc" | "at" | "iat" => column,
            "values" | "T" => column,
            "ndim" | "shape" => match source {
                Some(Origin { root, column: None }) if name == "ndim" => Role::Dimensions(*root),
                Some(Origin { root, column: None }) => Role::Extent(*root),
                _ => Role::Other,
            },
            _ => Role::Other,
        }
    }

    pub(super) fn attribute_of_parameter(&mut self, root: usize, name: &str) -> Role {
        if self.known.has_polars && polars::is_only_of_frames(name) {
            let found = &mut self.found[root];
            found.is_polars = true;
            found.is_collected |= name == "collect";
            found.frame += CERTAIN;
            return Role::Other;
        }
        if self.found[root].is_polars && polars::is_of_frames(name) {
            self.found[root].frame += u32::from(matches!(name, "filter" | "select"));
            return Role::Other;
        }
        let found = &mut self.found[root];
        let table = Table { roots: vec![root], ..Table::default() };
        found.not_series += u32::from(NOT_OF_SERIES.contains(&name));
        if OF_OTHERS.contains(&name) {
            found.other += 1;
        }
        if OF_CONTAINERS.contains(&name) {
            found.container += 1;
        }
        if ONLY_FRAMES.contains(&name) {
            found.frame += CERTAIN;
        } else if OF_FRAMES.contains(&name) {
            found.frame += 1;
        }
        if OF_SERIES.contains(&name) {
            found.series += if matches!(name, "str" | "dt" | "value_counts") { CERTAIN + 1 } else { 1 };
        }
        if ONLY_ARRAYS.contains(&name) {
            found.array += CERTAIN;
        }
        if ONLY_SERIES.contains(&name) {
            found.only_series += 1;
        }
        if USUAL.contains(&name) {
            found.usual += 1;
        } else if !is_of_tables(name) {
            found.foreign += 1;
        } else if !PLAIN.iter().any(|class| attributes_of(class).contains(&name)) {
            found.fitting += 1;
        }
        match name {
            "loc" | "at" => Role::ByLabel(table),
            "iloc" | "iat" => Role::ByPosition(table),
            "str" | "dt" => self.attribute_of_column(&Some(Origin { root, column: None }), name),
            "T" => Role::Parameter(root),
            "ndim" => Role::Dimensions(root),
            "shape" => Role::Extent(root),
            _ if self.found[root].is_row() && !is_of_tables(name) => self.labels(root, &[name.to_owned()]),
            _ => Role::Other,
        }
    }
}
