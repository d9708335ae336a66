//! What methods of frames and functions of polars say. Its expressions (`pl.col('a') > 3`) name columns of the frame whose
//! method takes them.

use ruff_python_ast::{Expr, ExprCall};

use super::Kind;
use super::notes::joined;
use super::roles::{Role, Source, Table};
use super::walk::Walk;
use crate::reading::written::literal;
use crate::value::Recipe;
use crate::value::library;
use crate::value::shape::Content;

/// Methods that only frames of polars have.
const ONLY_FRAMES: &[&str] = &[
    "bottom_k",
    "collect",
    "collect_schema",
    "drop_nans",
    "drop_nulls",
    "fill_null",
    "get_column",
    "group_by",
    "group_by_dynamic",
    "iter_rows",
    "join_asof",
    "lazy",
    "partition_by",
    "select_seq",
    "to_dicts",
    "top_k",
    "unpivot",
    "with_columns",
    "with_columns_seq",
    "with_row_count",
    "with_row_index",
];

/// Methods of frames that other values have as well.
const FURTHER: &[&str] = &[
    "clear",
    "clone",
    "describe",
    "drop",
    "explode",
    "extend",
    "fill_nan",
    "filter",
    "gather_every",
    "head",
    "height",
    "hstack",
    "is_duplicated",
    "is_empty",
    "is_unique",
    "item",
    "join",
    "limit",
    "melt",
    "null_count",
    "n_unique",
    "pipe",
    "pivot",
    "rechunk",
    "rename",
    "reverse",
    "row",
    "rows",
    "sample",
    "schema",
    "select",
    "slice",
    "sort",
    "tail",
    "to_dict",
    "to_pandas",
    "to_series",
    "unique",
    "vstack",
    "width",
];

/// Whether only a frame of polars has this attribute.
pub(super) fn is_only_of_frames(name: &str) -> bool {
    ONLY_FRAMES.contains(&name)
}

/// Whether frames of polars have this attribute.
pub(super) fn is_of_frames(name: &str) -> bool {
    ONLY_FRAMES.contains(&name) || FURTHER.contains(&name)
}

/// Functions that calculate something of the columns whose names they take: `pl.sum('a')`.
const OF_COLUMNS: &[(&str, Option<Content>)] = &[
    ("all_horizontal", Some(Content::Truths)),
    ("any_horizontal", Some(Content::Truths)),
    ("coalesce", None),
    ("col", None),
    ("concat_str", Some(Content::Texts)),
    ("count", None),
    ("first", None),
    ("last", None),
    ("max", None),
    ("max_horizontal", Some(Content::Numbers)),
    ("mean", Some(Content::Numbers)),
    ("mean_horizontal", Some(Content::Numbers)),
    ("median", Some(Content::Numbers)),
    ("min", None),
    ("min_horizontal", Some(Content::Numbers)),
    ("n_unique", Some(Content::Keys)),
    ("quantile", Some(Content::Numbers)),
    ("std", Some(Content::Numbers)),
    ("struct", None),
    ("sum", Some(Content::Numbers)),
    ("sum_horizontal", Some(Content::Numbers)),
    ("var", Some(Content::Numbers)),
];

impl Walk<'_> {
    /// Whether a table is one of polars.
    pub(super) fn is_of_polars(&self, table: &Table) -> bool {
        match table.roots.as_slice() {
            [] => self.known.prefers_polars(),
            roots => roots.iter().any(|root| self.found[*root].is_polars),
        }
    }

    /// What kind of frame a table is.
    pub(super) fn kind_of(&self, table: &Table) -> Kind {
        if self.is_of_polars(table) { Kind::PolarsFrame } else { Kind::Frame }
    }

    /// `pl.col('a')`, `pl.read_csv(...)`.
    pub(super) fn call_of_polars(&mut self, node: &ExprCall, name: &str) -> Role {
        if let Some(given) = library::given_by("polars", name) {
            return self.read_file(node, given);
        }
        if let Some((_, content)) = OF_COLUMNS.iter().find(|(own, _)| *own == name) {
            let mut last = Role::Other;
            for argument in node.arguments.args.iter() {
                last = self.expression(argument, *content);
            }
            self.arguments(node);
            return match (name, last) {
                ("col", column @ Role::Column(_)) if node.arguments.args.len() == 1 => column,
                _ => Role::Column(None),
            };
        }
        match name {
            "concat" => match node.arguments.args.first().map(|first| self.argument(first)).unwrap_or_default() {
                Role::Table(table) | Role::Tables(table) => Role::Table(table),
                _ => Role::Table(Table { is_derived: true, ..Table::default() }),
            },
            "DataFrame" | "LazyFrame" | "from_dict" | "from_dicts" | "from_pandas" | "from_records" | "from_numpy" => {
                self.arguments(node);
                Role::Table(Table { is_derived: true, ..Table::default() })
            }
            "lit" | "when" | "len" | "int_range" | "Series" => {
                self.arguments(node);
                Role::Column(None)
            }
            _ => {
                self.arguments(node);
                Role::Other
            }
        }
    }

    /// An argument that stands for a column: its name, or an expression.
    fn expression(&mut self, argument: &Expr, content: Option<Content>) -> Role {
        if let Expr::List(ast_list) = argument {
            let mut last = Role::Other;
            for element in &ast_list.elts {
                last = self.expression(element, content);
            }
            return last;
        }
        let role = match self.written_names(argument) {
            Some(names) => {
                let mut last = Role::Other;
                for name in names {
                    let source = self.column_at_hand(&name);
                    last = Role::Column(source);
                    content.into_iter().for_each(|content| self.note(&last, content));
                }
                last
            }
            None => self.argument(argument),
        };
        content.into_iter().for_each(|content| self.note(&role, content));
        role
    }

    /// The column of the frame whose method is being read. An expression outside of one is about any of the frames.
    fn column_at_hand(&mut self, name: &str) -> Source {
        let at_hand = self.context.clone().unwrap_or_else(|| {
            let roots = self.found.iter().enumerate().filter(|(_, found)| found.is_polars && found.is_frame());
            Table { roots: roots.map(|(root, _)| root).collect(), ..Table::default() }
        });
        self.column(&at_hand, name)
    }

    /// Reads the arguments of a method of a frame as expressions. Adds the columns that they make to the table.
    fn expressions(&mut self, table: &mut Table, node: &ExprCall, content: Option<Content>) {
        let outer = self.context.replace(table.clone());
        let mut made: Vec<String> = Vec::new();
        for argument in node.arguments.args.iter() {
            self.expression(argument, content);
            aliases(argument, &mut made);
        }
        for keyword in &node.arguments.keywords {
            // A text is the name of a column here, too.
            self.expression(&keyword.value, content);
            made.extend(keyword.arg.as_ref().map(ToString::to_string));
        }
        self.context = outer;
        table.defined.extend(made);
    }

    /// Reads the names of columns that an argument takes.
    fn names_of(&mut self, table: &Table, node: &ExprCall, argument: (&str, usize), content: Option<Content>) {
        let Some(written) = node.arguments.find_argument_value(argument.0, argument.1) else { return };
        let outer = self.context.replace(table.clone());
        self.expression(written, content);
        self.context = outer;
    }

    /// What a method of a frame of polars says.
    pub(super) fn method_of_polars(&mut self, table: &Table, node: &ExprCall, name: &str) -> Role {
        let mut own = table.clone();
        let arguments = &node.arguments;
        match name {
            "filter" | "remove" => {
                let outer = self.context.replace(table.clone());
                for condition in arguments.args.iter() {
                    let role = self.argument(condition);
                    self.note(&role, Content::Truths);
                }
                for keyword in &arguments.keywords {
                    if let (Some(name), Some(value)) = (&keyword.arg, literal(&keyword.value)) {
                        let column = Role::Column(self.column(table, name));
                        self.candidates(&column, [value]);
                    }
                }
                self.context = outer;
                Role::Table(own)
            }
            "with_columns" | "with_columns_seq" | "select" | "select_seq" => {
                self.expressions(&mut own, node, None);
                Role::Table(own)
            }
            "group_by" => {
                self.expressions(&mut own, node, Some(Content::Keys));
                Role::Group(own)
            }
            "group_by_dynamic" | "rolling" => {
                self.names_of(table, node, ("index_column", 0), Some(Content::Dates));
                self.names_of(table, node, ("group_by", 10), Some(Content::Keys));
                Role::Group(own)
            }
            "sort" => {
                arguments.args.iter().for_each(|argument| drop(self.in_context(table, argument)));
                self.names_of(table, node, ("by", 10), None);
                Role::Table(own)
            }
            "top_k" | "bottom_k" => {
                self.names_of(table, node, ("by", 10), Some(Content::Numbers));
                Role::Table(own)
            }
            "unique" | "is_duplicated" | "is_unique" | "partition_by" => {
                arguments.args.iter().for_each(|argument| {
                    let role = self.in_context(table, argument);
                    self.note(&role, Content::Keys);
                });
                self.names_of(table, node, ("subset", 10), Some(Content::Keys));
                self.names_of(table, node, ("by", 10), Some(Content::Keys));
                if name == "partition_by" { Role::Tables(own) } else { Role::Table(own) }
            }
            "drop" | "drop_nulls" | "drop_nans" | "explode" | "get_column" => {
                let mut last = Role::Other;
                arguments.args.iter().for_each(|argument| last = self.in_context(table, argument));
                self.names_of(table, node, ("subset", 10), None);
                if name == "get_column" { last } else { Role::Table(own) }
            }
            "rename" => {
                if let Some(Expr::Dict(dict)) = arguments.find_argument_value("mapping", 0) {
                    for item in &dict.items {
                        let old = item.key.as_ref().and_then(|key| self.written_names(key));
                        old.iter().flatten().for_each(|name| drop(self.column(table, name)));
                        own.defined.extend(self.written_names(&item.value).into_iter().flatten());
                    }
                }
                Role::Table(own)
            }
            "join" | "join_asof" => self.joined_in_polars(table, node),
            "pivot" => {
                self.names_of(table, node, ("on", 0), Some(Content::Keys));
                self.names_of(table, node, ("index", 10), Some(Content::Keys));
                self.names_of(table, node, ("values", 10), Some(Content::Numbers));
                Role::Table(Table { is_derived: true, ..own })
            }
            "unpivot" | "melt" => {
                self.names_of(table, node, ("on", 0), Some(Content::Numbers));
                self.names_of(table, node, ("index", 10), Some(Content::Keys));
                self.names_of(table, node, ("id_vars", 10), Some(Content::Keys));
                self.names_of(table, node, ("value_vars", 10), Some(Content::Numbers));
                Role::Table(Table { is_derived: true, ..own })
            }
            "with_row_index" | "with_row_count" => {
                let named = arguments.find_argument_value("name", 0).and_then(|name| self.written_names(name));
                let usual = if name == "with_row_index" { "index" } else { "row_nr" };
                own.defined.extend(named.unwrap_or_else(|| vec![usual.to_owned()]));
                Role::Table(own)
            }
            "iter_rows" | "rows" | "row" | "to_dicts" => {
                self.arguments(node);
                let is_named = name == "to_dicts" || arguments.find_keyword("named").is_some();
                match (is_named, name) {
                    (true, "row") => Role::Row(own),
                    (true, _) => Role::Rows(own, false),
                    (false, _) => Role::Other,
                }
            }
            "pipe" => self.method(table, node, name),
            "sum" | "mean" | "median" | "std" | "var" | "quantile" => {
                self.arguments(node);
                own.roots.iter().for_each(|root| self.found[*root].shape.is_numeric = true);
                Role::Table(own)
            }
            "describe" | "transpose" | "null_count" | "count" | "corr" | "hstack" => {
                self.arguments(node);
                Role::Table(Table { is_derived: true, ..own })
            }
            "item" => Role::Cell(None),
            "to_series" | "hash_rows" => Role::Column(None),
            "is_empty" | "equals" | "estimated_size" | "glimpse" | "to_dict" | "to_numpy" | "n_unique" => {
                self.arguments(node);
                Role::Other
            }
            _ if name.starts_with("write_") || name.starts_with("sink_") => {
                self.arguments(node);
                Role::Other
            }
            _ => {
                self.arguments(node);
                Role::Table(own)
            }
        }
    }

    fn in_context(&mut self, table: &Table, argument: &Expr) -> Role {
        let outer = self.context.replace(table.clone());
        let role = self.expression(argument, None);
        self.context = outer;
        role
    }

    /// `left.join(right, on='key')`.
    fn joined_in_polars(&mut self, table: &Table, node: &ExprCall) -> Role {
        let arguments = &node.arguments;
        let right = arguments.find_argument_value("other", 0).map(|right| self.argument(right)).unwrap_or_default();
        let right = match right {
            Role::Parameter(root) => {
                self.found[root].frame += 1;
                Table { roots: vec![root], ..Table::default() }
            }
            Role::Table(right) => right,
            _ => Table { is_derived: true, ..Table::default() },
        };
        for (argument, tables) in [
            (("on", 1), vec![table, &right]),
            (("left_on", 10), vec![table]),
            (("right_on", 10), vec![&right]),
            (("by", 10), vec![table, &right]),
        ] {
            tables.into_iter().for_each(|table| self.names_of(table, node, argument, Some(Content::Keys)));
        }
        Role::Table(joined(table, &right))
    }

    /// What a method of a group of polars says.
    pub(super) fn method_of_polars_group(&mut self, mut table: Table, node: &ExprCall, name: &str) -> Role {
        match name {
            "agg" => {
                self.expressions(&mut table, node, None);
                Role::Table(table)
            }
            "len" | "count" => {
                self.arguments(node);
                Role::Table(Table { is_derived: true, ..table })
            }
            "map_groups" => {
                let given = Role::Table(table.clone());
                node.arguments.args.iter().for_each(|argument| drop(self.applied(argument, &given)));
                Role::Table(Table { is_derived: true, ..table })
            }
            _ => {
                self.arguments(node);
                Role::Table(table)
            }
        }
    }

    /// What a method of a column says that only polars has. `None` for others.
    pub(super) fn method_of_polars_column(&mut self, source: &Source, node: &ExprCall, name: &str) -> Option<Role> {
        let column = Role::Column(source.clone());
        let arguments = &node.arguments;
        match name {
            "alias" | "cast" | "fill_nan" | "drop_nulls" | "reverse" | "sort" | "implode" | "explode" => {
                self.arguments(node);
                Some(column)
            }
            "over" | "sort_by" => {
                for argument in arguments.args.iter() {
                    self.expression(argument, (name == "over").then_some(Content::Keys));
                }
                self.arguments(node);
                Some(column)
            }
            "fill_null" => {
                if let Some(value) = arguments.args.first().and_then(literal) {
                    self.candidates(&column, [value]);
                }
                self.arguments(node);
                Some(column)
            }
            "is_in" => {
                let values: Vec<Recipe> = match arguments.args.first() {
                    Some(Expr::List(list)) => list.elts.iter().filter_map(literal).collect(),
                    Some(Expr::Tuple(list)) => list.elts.iter().filter_map(literal).collect(),
                    Some(Expr::Set(list)) => list.elts.iter().filter_map(literal).collect(),
                    _ => vec![],
                };
                self.candidates(&column, values);
                self.arguments(node);
                Some(Role::Column(None))
            }
            "is_between" => {
                arguments.args.iter().for_each(|argument| self.compared(&column, argument, true));
                self.arguments(node);
                Some(Role::Column(None))
            }
            "n_unique" | "is_unique" | "is_duplicated" | "is_first_distinct" => {
                self.note(&column, Content::Keys);
                self.arguments(node);
                Some(Role::Column(None))
            }
            "map_elements" => {
                arguments
                    .args
                    .iter()
                    .take(1)
                    .for_each(|function| drop(self.applied(function, &Role::Cell(source.clone()))));
                self.arguments(node);
                Some(Role::Column(None))
            }
            "not_" => {
                self.note(&column, Content::Truths);
                Some(Role::Column(None))
            }
            "cum_sum" | "cum_prod" | "pow" | "sqrt" | "log" | "exp" | "floor" | "ceil" | "rolling_mean"
            | "rolling_sum" | "ewm_mean" | "cut" | "qcut" => {
                self.note(&column, Content::Numbers);
                self.arguments(node);
                Some(Role::Column(None))
            }
            _ => None,
        }
    }

    /// `pl.col('a').str.to_date()`: the texts are dates.
    pub(super) fn read_as_dates(&mut self, accessor: &Expr) {
        if let Expr::Attribute(accessor) = accessor
            && accessor.attr.as_str() == "str"
        {
            let column = self.role(&accessor.value);
            self.note(&column, Content::DateTexts);
        }
    }
}

/// The names that expressions give what they make: `(pl.col('a') * 2).alias('b')`.
fn aliases(expr: &Expr, found: &mut Vec<String>) {
    match expr {
        Expr::List(list) => list.elts.iter().for_each(|element| aliases(element, found)),
        Expr::Tuple(tuple) => tuple.elts.iter().for_each(|element| aliases(element, found)),
        Expr::Call(call) => {
            let Expr::Attribute(function) = call.func.as_ref() else { return };
            match (function.attr.as_str(), call.arguments.args.first()) {
                ("alias", Some(Expr::StringLiteral(name))) => found.push(name.value.to_str().to_owned()),
                _ => aliases(&function.value, found),
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use ruff_python_ast::Stmt;
    use twincell_syntax::parse::parse;

    use super::*;
    use crate::reading::facts::ModuleFacts;

    fn columns(code: &str) -> Vec<(String, Option<Content>)> {
        let parsed = parse(code);
        let Some(Stmt::FunctionDef(definition)) = parsed.suite().first() else { panic!() };
        let known = ModuleFacts::of("import polars as pl\n");
        let found =
            super::super::read(definition, None, &BTreeMap::new(), &known, &[]).parameters.remove("df").unwrap();
        assert_eq!(found.kind(false), Some((Kind::PolarsFrame, false)), "{code}");
        let columns = found.shape.columns.into_iter();
        columns.map(|column| (column.name, column.contents.first().copied())).collect()
    }

    #[test]
    fn expressions_name_columns_and_say_what_they_hold() {
        use Content as C;
        for (code, expected) in [
            ("df.filter(pl.col('a') > 3)", &[("a", Some(C::Numbers))][..]),
            ("df.filter(pl.col('a'))", &[("a", Some(C::Truths))]),
            ("df.filter(pl.col('a').is_in(['x', 'y']))", &[("a", Some(C::Texts))]),
            ("df.filter(a='x')", &[("a", Some(C::Texts))]),
            ("df.with_columns(b=pl.col('a') * 2).select('b')", &[("a", Some(C::Numbers))]),
            ("df.with_columns((pl.col('a') * 2).alias('b'))['b']", &[("a", Some(C::Numbers))]),
            ("df.select(pl.col('a').str.strip_chars())", &[("a", Some(C::Texts))]),
            ("df.select(pl.col('a').str.to_date())", &[("a", Some(C::DateTexts))]),
            ("df.select(pl.col('a').dt.year())", &[("a", Some(C::Dates))]),
            ("df.group_by('a').agg(pl.sum('b'))", &[("a", Some(C::Keys)), ("b", Some(C::Numbers))]),
            ("df.select(pl.col('a').sum().over('b'))", &[("a", Some(C::Numbers)), ("b", Some(C::Keys))]),
            ("df.join(df, on='a')", &[("a", Some(C::Keys))]),
            ("df.sort('a', 'b')", &[("a", None), ("b", None)]),
            ("df.unique(subset=['a'])", &[("a", Some(C::Keys))]),
            ("[row['a'].lower() for row in df.iter_rows(named=True)]", &[("a", Some(C::Texts))]),
        ] {
            let found = columns(&format!("def f(df):\n    return {code}\n"));
            let mut found: Vec<(&str, Option<C>)> =
                found.iter().map(|(name, content)| (name.as_str(), *content)).collect();
            found.sort_by_key(|(name, _)| *name);
            assert_eq!(found, expected, "{code}");
        }
    }

    #[test]
    fn a_short_name_is_polars_unless_an_import_binds_it_to_another_module() {
        for (module, name, expected) in [
            ("", "pl", true),
            ("import polars\n", "polars", true),
            ("import polars as p\n", "p", true),
            ("import pytorch_lightning as pl\n", "pl", false),
            ("import pandas as pd\nimport pytorch_lightning as pl\n", "pl", false),
            ("import polars as pl\n", "pd", false),
        ] {
            assert_eq!(ModuleFacts::of(module).is_polars(name), expected, "{module}{name}");
        }
    }

    #[test]
    fn an_expression_that_stands_by_itself_is_about_the_frame() {
        let found = columns("def f(df):\n    big = pl.col('a') > 3\n    return df.filter(big)\n");
        assert_eq!(found, [("a".to_owned(), Some(Content::Numbers))]);
    }
}
