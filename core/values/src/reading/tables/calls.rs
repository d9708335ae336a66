//! What calls say: methods of tables and columns, and functions of their libraries.

use ruff_python_ast::{Expr, ExprCall};
use ruff_text_size::Ranged;

use super::methods::{ALL_NUMBERS, NOT_OF_ARRAYS, OF_ARRAYS, OF_FRAMES, ONLY_ARRAYS, SAME_COLUMNS, of_cell, of_column};
use super::notes::{joined, written_content, written_index};
use super::polars;
use super::roles::{Origin, Role, Source, Table};
use super::walk::{CERTAIN, Walk};
use super::{Kind, texts};
use crate::reading::written::literal;
use crate::value::shape::Content;
use crate::value::{Recipe, library};

/// The column in which pandas says from where the rows of a merge come.
const INDICATOR: &str = "_merge";

/// Methods of tables that take numbers.
const TAKES_NUMBERS: &[&str] = &[
    "between",
    "clip",
    "diff",
    "ge",
    "gt",
    "head",
    "le",
    "lt",
    "nlargest",
    "nsmallest",
    "pct_change",
    "quantile",
    "rolling",
    "round",
    "shift",
    "tail",
];

/// Functions of numpy that take two arrays.
const OF_TWO: &[&str] = &[
    "allclose",
    "array_equal",
    "convolve",
    "corrcoef",
    "correlate",
    "cov",
    "cross",
    "dot",
    "hypot",
    "inner",
    "interp",
    "matmul",
    "maximum",
    "minimum",
    "outer",
    "polyfit",
    "vdot",
];

/// Functions of libraries that compare two arrays of numbers.
const MEASURES: &[&str] = &[
    "mean_absolute_error",
    "mean_squared_error",
    "mean_squared_log_error",
    "median_absolute_error",
    "r2_score",
    "root_mean_squared_error",
    "root_mean_squared_log_error",
    "explained_variance_score",
    "max_error",
    "pearsonr",
    "spearmanr",
    "kendalltau",
];

impl Walk<'_> {
    /// What a call gives. Each of its arguments is read once, however many rules ask for it: else calls within calls would
    /// double with each level.
    pub(super) fn call(&mut self, node: &ExprCall) -> Role {
        let outer = std::mem::take(&mut self.arguments);
        let role = self.called(node);
        self.arguments = outer;
        role
    }

    fn called(&mut self, node: &ExprCall) -> Role {
        let Expr::Attribute(function) = node.func.as_ref() else { return self.call_of_name(node) };
        let name = function.attr.as_str();
        if matches!(function.value.as_ref(), Expr::Name(module) if matches!(module.id.as_str(), "pd" | "pandas")) {
            return self.call_of_pandas(node, name);
        }
        if matches!(function.value.as_ref(), Expr::Name(module) if self.known.is_polars(&module.id)) {
            return self.call_of_polars(node, name);
        }
        if matches!(function.value.as_ref(), Expr::Name(module) if matches!(module.id.as_str(), "np" | "numpy")) {
            return self.call_of_numpy(node, name);
        }
        if TAKES_NUMBERS.contains(&name) {
            for argument in node.arguments.args.iter() {
                if let Role::Parameter(root) = self.argument(argument) {
                    self.found[root].is_operand = true;
                }
            }
        }
        match self.role(&function.value) {
            Role::Parameter(root) => self.method_of_parameter(root, node, name),
            Role::Difference(_) => {
                self.arguments(node);
                Role::Column(None)
            }
            Role::Like(root) => {
                if NOT_OF_ARRAYS.contains(&name) {
                    self.found[root].series += CERTAIN;
                    self.found[root].only_series += 1;
                }
                if node.arguments.find_keyword("axis").is_some() {
                    self.found[root].array += CERTAIN;
                    self.axis(root, node);
                }
                self.arguments(node);
                Role::Like(root)
            }
            Role::Table(table) if self.is_of_polars(&table) => self.method_of_polars(&table, node, name),
            Role::Table(table) => self.method(&table, node, name),
            Role::Group(table) if self.is_of_polars(&table) => self.method_of_polars_group(table, node, name),
            Role::Group(table) => self.method_of_group(table, node, name),
            Role::Column(Some(Origin { root, column: None }))
                if name == "get"
                    && let Some(names) = node.arguments.args.first().and_then(texts) =>
            {
                self.arguments(node);
                self.labels(root, &names)
            }
            Role::Column(source) => self.method_of_column(&source, node, name),
            Role::GroupColumn(source) => {
                // What keeps the values of the column keeps what they are.
                match self.method_of_column(&source, node, name) {
                    column @ Role::Column(_) => column,
                    _ => Role::Column(None),
                }
            }
            Role::Tables(table) => {
                self.arguments(node);
                match name {
                    "items" => Role::Entries(table),
                    "values" | "copy" => Role::Tables(table),
                    "get" | "pop" => Role::Table(table),
                    _ => Role::Other,
                }
            }
            Role::Item(root) => {
                self.ask_item(root, name);
                self.arguments(node);
                Role::Other
            }
            // `pl.col('a').sum().over('b')`.
            Role::Cell(_) if self.known.has_polars && name == "over" => {
                self.method_of_polars_column(&None, node, name).unwrap_or_default()
            }
            Role::Cell(source) => {
                if let Some(Origin { root, column: None }) = &source {
                    self.ask_item(*root, name);
                }
                self.arguments(node);
                if let Some(content) = of_cell(name) {
                    self.note(&Role::Cell(source), content);
                }
                Role::Cell(None)
            }
            Role::Row(table) if name == "get" => {
                match node.arguments.args.first().and_then(|first| self.written_names(first)) {
                    Some(names) if names.len() == 1 => Role::Cell(self.column(&table, &names[0])),
                    _ => Role::Other,
                }
            }
            Role::Accessor => {
                if matches!(name, "to_date" | "to_datetime" | "strptime") {
                    self.read_as_dates(&function.value);
                }
                self.arguments(node);
                Role::Column(None)
            }
            _ => {
                self.arguments(node);
                Role::Other
            }
        }
    }

    pub(super) fn method_of_parameter(&mut self, root: usize, node: &ExprCall, name: &str) -> Role {
        let table = Table { roots: vec![root], ..Table::default() };
        self.attribute_of_parameter(root, name);
        if name == "get"
            && self.found[root].handed == Some(Kind::Series)
            && let Some(names) = node.arguments.args.first().and_then(texts)
        {
            self.arguments(node);
            return self.labels(root, &names);
        }
        if self.found[root].is_polars && polars::is_of_frames(name) {
            return match self.method_of_polars(&table, node, name) {
                Role::Table(own) if own.defined.is_empty() && !own.is_derived => Role::Parameter(root),
                role => role,
            };
        }
        if node.arguments.find_keyword("axis").is_some() {
            self.found[root].array += CERTAIN;
            self.axis(root, node);
        }
        if OF_FRAMES.contains(&name) || SAME_COLUMNS.contains(&name) && name != "copy" {
            // Series have many of these methods too, but no parameters for columns.
            return match self.method(&table, node, name) {
                Role::Table(own) if own.defined.is_empty() && !own.is_derived => Role::Parameter(root),
                role => role,
            };
        }
        self.arguments(node);
        if name == "copy" {
            return Role::Parameter(root);
        }
        if OF_ARRAYS.contains(&name) && !ONLY_ARRAYS.contains(&name) {
            self.found[root].array += 1;
        }
        if of_column(name).is_some() {
            self.found[root].shape.own.note(Content::Numbers);
            self.found[root].shape.is_numeric = true;
        }
        match name {
            "reshape" | "ravel" | "flatten" | "astype" => Role::Parameter(root),
            _ => Role::Other,
        }
    }

    /// `axis=1` is there only in arrays of two dimensions, and `axis=0` says little of others.
    pub(super) fn axis(&mut self, root: usize, node: &ExprCall) {
        let axis = node.arguments.find_keyword("axis").map(|keyword| &keyword.value);
        if axis.and_then(written_index).is_some_and(|axis| axis < 2) {
            let shape = &mut self.found[root].shape;
            shape.dimensions = shape.dimensions.max(Some(2));
        }
    }

    /// What a method of a frame says.
    pub(super) fn method(&mut self, table: &Table, node: &ExprCall, name: &str) -> Role {
        let mut own = table.clone();
        let arguments = &node.arguments;
        let names_of = |walk: &mut Self, keyword: &str, position: usize, content: Option<Content>| {
            if let Some(argument) = arguments.find_argument_value(keyword, position)
                && let Some(names) = walk.written_names(argument)
            {
                for name in names {
                    let source = walk.column(table, &name);
                    if let Some(content) = content {
                        walk.note(&Role::Column(source), content);
                    }
                }
            }
        };
        match name {
            "assign" => {
                for keyword in &arguments.keywords {
                    let given = Role::Table(own.clone());
                    self.applied(&keyword.value, &given);
                    own.defined.extend(keyword.arg.as_ref().map(ToString::to_string));
                }
                return Role::Table(own);
            }
            "pipe" => {
                self.arguments(node);
                if let Some(Expr::Name(helper)) = arguments.args.first() {
                    let further: Vec<Role> =
                        arguments.args.iter().skip(1).map(|further| self.argument(further)).collect();
                    let handed: Vec<Role> = std::iter::once(Role::Table(own.clone())).chain(further).collect();
                    self.hand(&helper.id, &handed);
                    let role = self.helper(&helper.id, &handed);
                    if role != Role::Other {
                        return role;
                    }
                }
                return Role::Table(Table { is_derived: true, ..own });
            }
            "apply" => {
                let is_row = arguments.find_keyword("axis").is_some();
                let given = if is_row { Role::Row(own.clone()) } else { Role::Column(None) };
                for argument in arguments.args.iter() {
                    self.applied(argument, &given);
                }
                return Role::Column(None);
            }
            "query" | "eval" => {
                if let Some(Expr::StringLiteral(text)) = arguments.find_positional(0) {
                    self.query(table, text.value.to_str());
                }
            }
            "groupby" => {
                names_of(self, "by", 0, Some(Content::Keys));
                self.arguments(node);
                return Role::Group(own);
            }
            "sort_values" => names_of(self, "by", 0, None),
            "set_index" => names_of(self, "keys", 0, None),
            "drop_duplicates" | "duplicated" => {
                names_of(self, "subset", 0, Some(Content::Keys));
                self.arguments(node);
                return if name == "duplicated" { Role::Column(None) } else { Role::Table(own) };
            }
            "dropna" => names_of(self, "subset", 10, None),
            "nlargest" | "nsmallest" => names_of(self, "columns", 1, Some(Content::Numbers)),
            "explode" => names_of(self, "column", 0, None),
            "pop" => {
                names_of(self, "item", 0, None);
                return Role::Column(None);
            }
            "drop" => {
                names_of(self, "columns", 10, None);
                let is_old_axis = arguments.args.get(1).and_then(written_index) == Some(1);
                if is_old_axis || arguments.find_keyword("axis").is_some() {
                    names_of(self, "labels", 0, None);
                }
            }
            "filter" => names_of(self, "items", 0, None),
            "pivot_table" | "pivot" => {
                names_of(self, "index", 1, Some(Content::Keys));
                names_of(self, "columns", 2, Some(Content::Keys));
                names_of(self, "values", 0, Some(Content::Numbers));
                own.is_derived = true;
            }
            "melt" => {
                names_of(self, "id_vars", 0, Some(Content::Keys));
                names_of(self, "value_vars", 1, Some(Content::Numbers));
                own.is_derived = true;
            }
            "value_counts" | "agg" | "aggregate" | "stack" | "unstack" | "describe" | "transpose" | "count" => {
                own.is_derived = true;
            }
            "resample" => {
                self.arguments(node);
                match arguments.find_keyword("on") {
                    Some(_) => {
                        names_of(self, "on", 10, Some(Content::Dates));
                        return Role::Group(own);
                    }
                    None => {
                        own.roots.iter().for_each(|root| self.found[*root].shape.index.push(Content::Dates));
                        return Role::Group(own);
                    }
                }
            }
            "merge" | "join" => return self.merged(table, node),
            "rename" => {
                if let Some(Expr::Dict(dict)) = arguments.find_keyword("columns").map(|keyword| &keyword.value) {
                    // A function that changes names leaves those that the code uses as they are, mostly.
                    for item in &dict.items {
                        let old = item.key.as_ref().and_then(|key| self.written_names(key));
                        old.iter().flatten().for_each(|name| drop(self.column(table, name)));
                        own.defined.extend(self.written_names(&item.value).into_iter().flatten());
                    }
                }
                return Role::Table(own);
            }
            "astype" | "fillna" | "replace" | "agg_by" => {
                if let Some(Expr::Dict(dict)) = arguments.args.first() {
                    for item in &dict.items {
                        let names = item.key.as_ref().and_then(|key| self.written_names(key));
                        for name in names.into_iter().flatten() {
                            let source = self.column(table, &name);
                            if let Some(content) = written_content(&item.value) {
                                self.note(&Role::Column(source), content);
                            }
                        }
                    }
                }
            }
            "iterrows" => return Role::Rows(own, true),
            "itertuples" => return Role::Rows(own, false),
            "to_dict" => {
                let is_records = arguments.args.first().and_then(texts).is_some_and(|texts| texts == ["records"]);
                return if is_records { Role::Rows(own, false) } else { Role::Other };
            }
            "isna" | "isnull" | "notna" | "isin" => return Role::Other,
            "reset_index" => {
                let name = arguments.find_keyword("name").and_then(|keyword| texts(&keyword.value));
                own.defined.extend(name.into_iter().flatten());
                // What was the index is a column now.
                own.defined.insert("index".to_owned());
            }
            "insert" => {
                names_of(self, "column", 10, None);
                if let Some(names) = arguments.args.get(1).and_then(texts) {
                    own.defined.extend(names);
                }
            }
            _ => {}
        }
        if ALL_NUMBERS.contains(&name) && arguments.is_empty() {
            own.roots.iter().for_each(|root| self.found[*root].shape.is_numeric = true);
        }
        self.arguments(node);
        if own.is_derived || SAME_COLUMNS.contains(&name) { Role::Table(own) } else { Role::Other }
    }

    /// `left.merge(right, on='key')`.
    pub(super) fn merged(&mut self, table: &Table, node: &ExprCall) -> Role {
        let arguments = &node.arguments;
        let right = arguments.find_argument_value("right", 0).map(|right| self.argument(right)).unwrap_or_default();
        let right = match right {
            Role::Parameter(root) => {
                self.found[root].frame += 1;
                Table { roots: vec![root], ..Table::default() }
            }
            Role::Table(right) => right,
            _ => Table { is_derived: true, ..Table::default() },
        };
        let keys = |keyword: &str| arguments.find_keyword(keyword).map(|keyword| &keyword.value);
        for (keyword, tables) in [("on", vec![table, &right]), ("left_on", vec![table]), ("right_on", vec![&right])] {
            for name in keys(keyword).and_then(|names| self.written_names(names)).into_iter().flatten() {
                for table in &tables {
                    let source = self.column(table, &name);
                    self.note(&Role::Column(source), Content::Keys);
                }
            }
        }
        let mut whole = joined(table, &right);
        if let Some(indicator) = keys("indicator") {
            let named = self.written_names(indicator).into_iter().flatten();
            whole.defined.extend(named.chain(std::iter::once(INDICATOR.to_owned())));
        }
        Role::Table(whole)
    }

    pub(super) fn method_of_group(&mut self, mut table: Table, node: &ExprCall, name: &str) -> Role {
        let arguments = &node.arguments;
        match name {
            "agg" | "aggregate" | "transform" | "apply" | "filter" => {
                let given = Role::Table(table.clone());
                for argument in arguments.args.iter() {
                    if let Expr::Dict(dict) = argument {
                        for item in &dict.items {
                            let names = item.key.as_ref().and_then(|key| self.written_names(key));
                            for name in names.into_iter().flatten() {
                                let source = self.column(&table, &name);
                                self.note(&Role::Column(source), Content::Numbers);
                            }
                        }
                    } else {
                        self.applied(argument, &given);
                    }
                }
                for keyword in &arguments.keywords {
                    if let Expr::Tuple(tuple) = &keyword.value
                        && let [column, how] = tuple.elts.as_slice()
                        && let Some(names) = self.written_names(column)
                    {
                        for name in names {
                            let source = self.column(&table, &name);
                            let is_number = texts(how)
                                .is_some_and(|how| how.iter().any(|how| of_column(how) == Some(Content::Numbers)));
                            if is_number {
                                self.note(&Role::Column(source), Content::Numbers);
                            }
                        }
                    }
                    table.defined.extend(keyword.arg.as_ref().map(ToString::to_string));
                }
                Role::Table(table)
            }
            "size" | "count" | "ngroup" | "cumcount" => {
                self.arguments(node);
                Role::Table(Table { is_derived: true, ..table })
            }
            _ => {
                self.arguments(node);
                Role::Table(table)
            }
        }
    }

    pub(super) fn method_of_column(&mut self, source: &Source, node: &ExprCall, name: &str) -> Role {
        if self.known.has_polars
            && let Some(role) = self.method_of_polars_column(source, node, name)
        {
            return role;
        }
        let column = Role::Column(source.clone());
        self.attribute_of_column(source, name);
        if let Some(Origin { root, column: None }) = source {
            self.axis(*root, node);
        }
        let arguments = &node.arguments;
        let first = arguments.args.first();
        match name {
            "fillna" | "eq" | "ne" => {
                if let Some(content) = first.and_then(written_content) {
                    self.note(&column, content);
                }
            }
            "gt" | "ge" | "lt" | "le" | "between" => {
                for argument in arguments.args.iter() {
                    self.compared(&column, argument, true);
                }
            }
            "isin" => {
                let values: Vec<Recipe> = match first {
                    Some(Expr::List(list)) => list.elts.iter().filter_map(literal).collect(),
                    Some(Expr::Tuple(list)) => list.elts.iter().filter_map(literal).collect(),
                    Some(Expr::Set(list)) => list.elts.iter().filter_map(literal).collect(),
                    Some(other) => self.written_names(other).into_iter().flatten().map(Recipe::Str).collect(),
                    None => vec![],
                };
                self.candidates(&column, values);
            }
            "map" | "replace" => {
                if let Some(Expr::Dict(dict)) = first {
                    let keys: Vec<Recipe> = dict.items.iter().filter_map(|item| literal(item.key.as_ref()?)).collect();
                    self.candidates(&column, keys);
                } else if let Some(first @ Expr::Lambda(_)) = first {
                    self.applied(first, &Role::Cell(source.clone()));
                }
            }
            "apply" => {
                if let Some(first) = first {
                    self.applied(first, &Role::Cell(source.clone()));
                }
            }
            "astype" => {
                let to_number = matches!(first, Some(Expr::Name(kind)) if matches!(kind.id.as_str(), "int" | "float"));
                if to_number {
                    self.note(&column, Content::Numbers);
                }
            }
            "groupby" => {
                let keys: Vec<Role> = arguments.args.iter().map(|argument| self.argument(argument)).collect();
                keys.iter().for_each(|key| self.note(key, Content::Keys));
                return column;
            }
            "all" | "any" => {}
            _ => {
                if let Some(content) = of_column(name) {
                    self.note(&column, content);
                }
            }
        }
        self.arguments(node);
        match name {
            // The index becomes a column.
            "reset_index" if arguments.find_keyword("drop").is_none() => {
                Role::Table(Table { is_derived: true, ..Table::default() })
            }
            "fillna" | "diff" | "dropna" | "head" | "tail" | "sort_values" | "reset_index" | "copy" | "where"
            | "mask" | "ffill" | "bfill" | "drop_duplicates" | "rename" | "shift" | "to_numpy" | "tolist"
            | "to_list" | "unique" | "rolling" | "expanding" | "ewm" | "round" | "abs" => column,
            "to_frame" => Role::Table(Table { is_derived: true, ..Table::default() }),
            "sum" | "mean" | "max" | "min" | "std" | "item" | "median" => Role::Cell(None),
            _ => Role::Column(None),
        }
    }

    pub(super) fn call_of_pandas(&mut self, node: &ExprCall, name: &str) -> Role {
        let arguments = &node.arguments;
        if let Some(given) = library::given_by("pandas", name) {
            return self.read_file(node, given);
        }
        match name {
            "concat" => {
                let role = arguments.args.first().map(|first| self.argument(first)).unwrap_or_default();
                match role {
                    Role::Table(table) | Role::Tables(table) => Role::Table(table),
                    _ => Role::Table(Table { is_derived: true, ..Table::default() }),
                }
            }
            "merge" => {
                let left = arguments.args.first().map(|left| self.argument(left)).unwrap_or_default();
                let left = match left {
                    Role::Table(left) => left,
                    Role::Parameter(root) => {
                        self.found[root].frame += CERTAIN;
                        Table { roots: vec![root], ..Table::default() }
                    }
                    _ => return Role::Other,
                };
                let mut rest = node.clone();
                rest.arguments.args = rest.arguments.args.iter().skip(1).cloned().collect();
                self.merged(&left, &rest)
            }
            "to_datetime" | "to_numeric" | "to_timedelta" => {
                let column = arguments.args.first().map(|first| self.argument(first)).unwrap_or_default();
                let content = if name == "to_datetime" { Content::DateTexts } else { Content::Numbers };
                self.note(&column, content);
                Role::Column(None)
            }
            "cut" | "qcut" => {
                let column = arguments.args.first().map(|first| self.argument(first)).unwrap_or_default();
                self.note(&column, Content::Numbers);
                Role::Column(None)
            }
            "isna" | "notna" | "isnull" | "Series" => {
                self.arguments(node);
                Role::Column(None)
            }
            "DataFrame" | "get_dummies" | "json_normalize" => {
                self.arguments(node);
                Role::Table(Table { is_derived: true, ..Table::default() })
            }
            "crosstab" => {
                let keys: Vec<Role> = arguments.args.iter().map(|argument| self.argument(argument)).collect();
                keys.iter().for_each(|key| self.note(key, Content::Keys));
                Role::Other
            }
            _ => {
                self.arguments(node);
                Role::Other
            }
        }
    }

    /// What a function gives that reads a file: the file is not there, so its columns are those that the code uses.
    pub(super) fn read_file(&mut self, node: &ExprCall, given: library::Given) -> Role {
        let arguments = &node.arguments;
        let first = arguments.args.first().map(|first| self.argument(first));
        if let Some(Role::Parameter(root)) = first {
            self.found[root].is_file = true;
        }
        self.arguments(node);
        let kind = match given {
            library::Given::Frame(library::POLARS_FRAME) => Kind::PolarsFrame,
            library::Given::Frame(library::POLARS_LAZY) => Kind::PolarsLazy,
            library::Given::Frame(_) => Kind::Frame,
            library::Given::Frames => Kind::Frames,
            library::Given::Array => Kind::Array,
            library::Given::Answer(_) => return Role::Other,
        };
        let role = self.other_at(node.range(), kind, None);
        let Role::Table(table) = &role else { return role };
        for (option, content) in
            [("index_col", None), ("usecols", None), ("parse_dates", Some(Content::DateTexts)), ("columns", None)]
        {
            let names = arguments.find_keyword(option).and_then(|keyword| self.written_names(&keyword.value));
            for name in names.into_iter().flatten() {
                let source = self.column(table, &name);
                content.into_iter().for_each(|content| self.note(&Role::Column(source.clone()), content));
            }
        }
        role
    }

    pub(super) fn call_of_numpy(&mut self, node: &ExprCall, name: &str) -> Role {
        let arguments = &node.arguments;
        let roles: Vec<Role> = arguments.args.iter().map(|argument| self.argument(argument)).collect();
        arguments.keywords.iter().for_each(|keyword| drop(self.argument(&keyword.value)));
        if let Some(given) = library::given_by("numpy", name) {
            return self.read_file(node, given);
        }
        if matches!(name, "isnan" | "where" | "array" | "asarray" | "zeros" | "ones" | "full" | "arange" | "linspace") {
            // These take anything, and say little.
            return match roles.into_iter().next() {
                Some(role @ (Role::Parameter(_) | Role::Column(_))) if matches!(name, "array" | "asarray") => role,
                _ => Role::Column(None),
            };
        }
        for (index, role) in roles.iter().enumerate() {
            if let Role::Parameter(root) | Role::Column(Some(Origin { root, column: None })) = role {
                self.found[*root].array += match index {
                    0 => CERTAIN,
                    1 if OF_TWO.contains(&name) => 1,
                    _ => 0,
                };
                if index == 0 {
                    self.axis(*root, node);
                }
                if matches!(name, "dot" | "matmul" | "linalg") {
                    continue;
                }
            }
            if index == 0 {
                self.note(role, Content::Numbers);
            }
        }
        Role::Column(None)
    }

    pub(super) fn call_of_name(&mut self, node: &ExprCall) -> Role {
        let name = match node.func.as_ref() {
            Expr::Name(name) => name.id.as_str(),
            other => {
                self.role(other);
                ""
            }
        };
        let roles: Vec<Role> = node.arguments.args.iter().map(|argument| self.argument(argument)).collect();
        node.arguments.keywords.iter().for_each(|keyword| drop(self.argument(&keyword.value)));
        self.hand(name, &roles);
        if MEASURES.contains(&name) {
            let named = node.arguments.keywords.iter().filter(|keyword| {
                keyword.arg.as_ref().is_some_and(|name| matches!(name.as_str(), "y_true" | "y_pred" | "y_score"))
            });
            let named: Vec<Role> = named.map(|keyword| self.argument(&keyword.value)).collect();
            for role in roles.iter().take(2).chain(&named) {
                if let Role::Parameter(root) = role {
                    self.found[*root].array += CERTAIN;
                    self.note(role, Content::Numbers);
                }
            }
        }
        let of_helper = self.helper(name, &roles);
        if of_helper != Role::Other {
            return of_helper;
        }
        let first = roles.into_iter().next().unwrap_or_default();
        match name {
            "float" | "int" | "abs" | "round" | "sum" => {
                self.note(&first, Content::Numbers);
                Role::Cell(None)
            }
            "list" | "sorted" | "set" | "reversed" | "tuple" | "enumerate" => first,
            _ => Role::Other,
        }
    }

    pub(super) fn arguments(&mut self, node: &ExprCall) {
        node.arguments.args.iter().for_each(|argument| drop(self.argument(argument)));
        node.arguments.keywords.iter().for_each(|keyword| drop(self.argument(&keyword.value)));
    }
}
