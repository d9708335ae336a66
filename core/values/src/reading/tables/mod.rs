//! What a function says of tables and arrays that it gets: the columns that it reads, and what they hold.
//!
//! The text is read once, in order: a column that the code has assigned is none that it needs. Nothing is certain here.
//! A column that is missing makes an execution fail, and such an execution counts for nothing.

mod access;
mod calls;
pub(super) mod kinds;
mod methods;
mod notes;
mod polars;
mod roles;
mod walk;

use std::collections::{BTreeMap, BTreeSet};

use ruff_python_ast::token::Token;
use ruff_python_ast::{Expr, Stmt, StmtFunctionDef};
use ruff_text_size::Ranged;
use twincell_syntax::parse::{parse, with_stack_for};

use super::facts::{Globals, Handed, ModuleFacts};
use crate::value::Recipe;
use crate::value::shape::{Content, Shape};

pub use kinds::Kind;
pub(super) use notes::is_plural;
use walk::{CERTAIN, Walk};

/// What was found about one parameter.
#[derive(Debug, Clone, Default)]
pub(super) struct Found {
    pub shape: Shape,
    /// How much only a frame, a series or an array can do.
    frame: u32,
    series: u32,
    array: u32,
    /// How much only frames can do, of what is asked of its items.
    frames: u32,
    /// How much tables cannot do.
    other: u32,
    /// How much containers of Python can do, and frames too.
    container: u32,
    /// How often a text is looked up in it.
    looked_up: u32,
    /// How much only series can do, and neither frames nor arrays.
    only_series: u32,
    /// How often what is looked up in it is used like a column, in a way that other values know as well.
    like_column: u32,
    /// How many of its attributes are those of a frame, and how many are those of nothing that code asks.
    usual: u32,
    /// The same, with what other libraries have as well, and values of Python itself do not.
    fitting: u32,
    foreign: u32,
    /// Whether a table for which it stands is one of polars, and whether it is collected.
    is_polars: bool,
    is_collected: bool,
    /// Whether it is declared as a table.
    is_declared: bool,
    /// Whether its name is that of a frame, and whether it is that of a row.
    is_named: bool,
    is_named_row: bool,
    /// How often it is asked what frames have and series have not.
    not_series: u32,
    /// The labels that the code has set in it.
    set: BTreeSet<String>,
    /// What callers in the module hand over.
    handed: Option<Kind>,
    /// Whether it is read as a file, by its name.
    pub is_file: bool,
    /// Whether a value of a column is looked up by it.
    pub is_label: bool,
    /// Whether it is calculated with columns, or compared with them.
    pub is_operand: bool,
    /// Names of columns for which the parameter itself stands.
    pub columns: Vec<String>,
    /// Whether values of a column are compared with the parameter.
    pub is_compared: bool,
}

impl Found {
    /// Nothing but what a value of this kind is by itself.
    fn of(kind: Kind, known: &ModuleFacts) -> Self {
        let is_polars = match kind {
            Kind::PolarsFrame | Kind::PolarsLazy | Kind::PolarsSeries => true,
            Kind::Unknown => known.prefers_polars(),
            _ => false,
        };
        Self { is_polars, is_declared: !matches!(kind, Kind::Unknown | Kind::Other), ..Self::default() }
    }

    /// The kind of a value that declares nothing, if its uses tell, and whether they tell enough without an import.
    /// `has_arrays`: arrays are at hand beside series.
    pub fn kind(&self, has_arrays: bool) -> Option<(Kind, bool)> {
        let (kind, is_certain) = self.kind_by_uses(has_arrays)?;
        let kind = match kind {
            Kind::Frame if self.is_polars && self.is_collected => Kind::PolarsLazy,
            Kind::Frame if self.is_polars => Kind::PolarsFrame,
            Kind::Series if self.is_polars => Kind::PolarsSeries,
            // Only what is known of frames of pandas says this.
            Kind::Frames if self.is_polars => return None,
            kind => kind,
        };
        // What polars has, other libraries have as well.
        Some((kind, is_certain && !self.is_polars))
    }

    fn kind_by_uses(&self, has_arrays: bool) -> Option<(Kind, bool)> {
        let most = self.frame.max(self.series).max(self.array);
        if self.is_expected() && self.only_series == 0 {
            return Some((Kind::Frame, self.frame >= CERTAIN));
        }
        if self.frames > 0 && most == 0 && self.looked_up == 0 {
            return Some((Kind::Frames, false));
        }
        if self.is_refuted() {
            return None;
        }
        // Rows of polars are tuples or dictionaries.
        let is_handed_row = self.handed == Some(Kind::Series);
        if self.is_row() && !self.is_polars && (self.looked_up > 0 || is_handed_row) {
            return Some((Kind::Series, self.frame >= CERTAIN));
        }
        // Only tables have columns by name.
        if self.looked_up > 0 {
            if self.frame + self.series > 0 {
                return Some((Kind::Frame, true));
            }
            return (self.like_column + self.usual + self.fitting > 0).then_some((Kind::Frame, false));
        }
        if most == 0 && self.only_series == 0 {
            return (self.usual > 0).then_some((Kind::Frame, false));
        }
        let kind = if self.frame == most && self.frame > 0 {
            Kind::Frame
        } else if self.array == most && self.only_series == 0 && has_arrays {
            Kind::Array
        } else {
            Kind::Series
        };
        Some((kind, most > 1))
    }

    /// Whether its uses so far are those of a frame.
    fn is_frame(&self) -> bool {
        self.is_declared || self.is_expected() || self.frame > 0
    }

    /// Whether its name or a caller says that it is a row of a frame: a series whose labels are names of columns.
    fn is_row(&self) -> bool {
        match self.handed {
            Some(kind) => kind == Kind::Series,
            None => self.is_named_row && !self.is_declared && self.not_series == 0,
        }
    }

    /// Whether its name or a caller says that it is a frame.
    fn is_expected(&self) -> bool {
        self.is_named || self.handed == Some(Kind::Frame)
    }

    /// Whether it is asked what tables do not have.
    fn is_refuted(&self) -> bool {
        let most = self.frame.max(self.series).max(self.array);
        let is_container = self.container > 0 && self.frame < CERTAIN;
        let is_foreign = self.foreign > 0 && self.looked_up == 0 && most < CERTAIN;
        let is_given = self.is_expected() || self.handed == Some(Kind::Series);
        !is_given && (self.other > 0 || is_container || is_foreign)
    }
}

/// Whether a name is one that frames have.
fn is_of_frames(name: &str) -> bool {
    let name = name.trim_matches(|letter: char| letter == '_' || letter.is_ascii_digit()).to_ascii_lowercase();
    matches!(name.as_str(), "df" | "dataframe" | "frame") || name.starts_with("df_") || name.ends_with("_df")
}

/// Whether a name is one that rows of frames have.
fn is_of_rows(name: &str) -> bool {
    name.trim_matches('_').to_ascii_lowercase().rsplit('_').next() == Some("row")
}

/// What a function says of its parameters, and of what else it gets.
#[derive(Debug, Default)]
pub(super) struct Tables {
    pub parameters: BTreeMap<String, Found>,
    /// Globals, attributes and results of calls, by access path, with what they are by themselves.
    pub others: BTreeMap<String, (Kind, Found)>,
}

/// Reads what a function says of its parameters, and of what else it gets. `kinds` has the parameters that are declared;
/// `written` is the text of the function with its tokens; `handed` is what callers in the module hand over.
pub(super) fn read(
    definition: &StmtFunctionDef,
    written: Option<TokenizedText<'_>>,
    kinds: &BTreeMap<String, Kind>,
    known: &ModuleFacts,
    handed: &[Option<Kind>],
) -> Tables {
    let parameters: Vec<String> =
        definition.parameters.iter_non_variadic_params().map(|one| one.parameter.name.to_string()).collect();
    let named = defaults(definition);
    let read = |kinds: &BTreeMap<String, Kind>| {
        let mut walk = Walk::new(parameters.clone(), kinds, known, &named);
        walk.written = written.filter(|_| known.has_tables);
        for (found, kind) in walk.found.iter_mut().zip(handed) {
            found.handed = *kind;
        }
        walk.body(&definition.body);
        walk.finish()
    };
    let found = read(kinds);
    // What is asked of a value that is no table says nothing of tables.
    let refuted = found.parameters.iter().filter(|(name, found)| !kinds.contains_key(*name) && found.is_refuted());
    let refuted: Vec<(String, Kind)> = refuted.map(|(name, _)| (name.clone(), Kind::Other)).collect();
    if refuted.is_empty() || !known.has_tables {
        return found;
    }
    read(&kinds.iter().map(|(name, kind)| (name.clone(), *kind)).chain(refuted).collect())
}

/// What a module says of tables: the globals that are some, and what its functions are called with.
pub(super) fn of_module(module: &str, known: &ModuleFacts) -> (Globals, Handed) {
    with_stack_for(module.len(), || {
        let parsed = parse(module);
        let mut walk = Walk::of_module(TokenizedText { text: module, tokens: parsed.tokens() }, known);
        walk.body(parsed.suite());
        walk.globals()
    })
}

/// A text with its tokens.
#[derive(Clone, Copy)]
pub(super) struct TokenizedText<'a> {
    pub text: &'a str,
    pub tokens: &'a [Token],
}

/// The texts that stand for a parameter which is not passed.
fn defaults(definition: &StmtFunctionDef) -> BTreeMap<String, Vec<String>> {
    let parameters = definition.parameters.iter_non_variadic_params();
    parameters.filter_map(|one| Some((one.parameter.name.to_string(), texts(one.default.as_deref()?)?))).collect()
}

/// The texts, or lists of texts, that a module binds to names at its top level.
pub(super) fn constants(module: &str) -> BTreeMap<String, Vec<String>> {
    let parsed = with_stack_for(module.len(), || parse(module));
    let mut found = BTreeMap::new();
    for stmt in parsed.suite() {
        let (target, value) = match stmt {
            Stmt::Assign(assign) => match assign.targets.as_slice() {
                [target] => (target, assign.value.as_ref()),
                _ => continue,
            },
            Stmt::AnnAssign(assign) => match &assign.value {
                Some(value) => (assign.target.as_ref(), value.as_ref()),
                None => continue,
            },
            _ => continue,
        };
        if let (Expr::Name(name), Some(texts)) = (target, texts(value)) {
            found.insert(name.id.to_string(), texts);
        }
    }
    found
}

/// The number of functions of a module that are kept, and the maximum length of each in bytes.
const MOST_HELPERS: usize = 200;
const LONGEST_HELPER: usize = 10_000;

/// The texts of the functions at the top level of a module.
pub(super) fn helpers(module: &str) -> BTreeMap<String, String> {
    let parsed = with_stack_for(module.len(), || parse(module));
    let functions = parsed.suite().iter().filter_map(|stmt| stmt.as_function_def_stmt());
    let text = |node: &StmtFunctionDef| {
        let range = node.range();
        Some((node.name.to_string(), module.get(range.start().to_usize()..range.end().to_usize())?.to_owned()))
    };
    functions.filter_map(text).filter(|(_, text)| text.len() <= LONGEST_HELPER).take(MOST_HELPERS).collect()
}

/// The functions and classes that a module defines at its top level.
pub(super) fn definitions(module: &str) -> Vec<String> {
    let parsed = with_stack_for(module.len(), || parse(module));
    let name = |stmt: &Stmt| match stmt {
        Stmt::FunctionDef(node) => Some(node.name.to_string()),
        Stmt::ClassDef(node) => Some(node.name.to_string()),
        _ => None,
    };
    parsed.suite().iter().filter_map(name).collect()
}

/// A text, or the texts of a display.
fn texts(expr: &Expr) -> Option<Vec<String>> {
    let one = |expr: &Expr| match expr {
        Expr::StringLiteral(text) => Some(text.value.to_str().to_owned()),
        _ => None,
    };
    match expr {
        Expr::StringLiteral(_) => one(expr).map(|text| vec![text]),
        Expr::List(list) => list.elts.iter().map(one).collect(),
        Expr::Tuple(tuple) => tuple.elts.iter().map(one).collect(),
        Expr::Set(set) => set.elts.iter().map(one).collect(),
        _ => None,
    }
}

/// What a literal says of the column that it is compared with or put into.
fn content_of(value: &Recipe) -> Option<Content> {
    match value {
        Recipe::Bool(_) => Some(Content::Truths),
        Recipe::Int(_) | Recipe::Float(_) => Some(Content::Numbers),
        Recipe::Str(_) => Some(Content::Texts),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(code: &str) -> BTreeMap<String, Found> {
        let parsed = parse(code);
        let Some(Stmt::FunctionDef(definition)) = parsed.suite().first() else { panic!() };
        read(definition, None, &BTreeMap::new(), &ModuleFacts::default(), &[]).parameters
    }

    fn columns(code: &str, name: &str) -> Vec<(String, Vec<Content>)> {
        let found = &found(code)[name];
        found.shape.columns.iter().map(|column| (column.name.clone(), column.contents.clone())).collect()
    }

    fn names_of(code: &str) -> Vec<String> {
        found(code)["row"].shape.columns.iter().map(|column| column.name.clone()).collect()
    }

    fn names(code: &str) -> Vec<String> {
        let parsed = parse(code);
        let Some(Stmt::FunctionDef(definition)) = parsed.suite().first() else { panic!() };
        let kinds = BTreeMap::from([("df".to_owned(), Kind::Frame)]);
        let found = read(definition, None, &kinds, &ModuleFacts::default(), &[]).parameters.remove("df").unwrap();
        found.shape.columns.into_iter().map(|column| column.name).collect()
    }

    #[test]
    fn rows_have_the_labels_that_are_looked_up() {
        let of = |use_it: &str| columns(&format!("def f(row):\n    return {use_it}\n"), "row");
        let labels = [("a".to_owned(), vec![Content::Numbers]), ("b".to_owned(), vec![Content::Texts])];
        for use_it in ["row['a'] * 2, row['b'].lower()", "row.loc['a'] * 2, row.b.lower() + row['b']"] {
            assert_eq!(of(use_it), labels);
            let code = format!("def f(row):\n    return {use_it}\n");
            assert_eq!(found(&code)["row"].kind(true).map(|(kind, _)| kind), Some(Kind::Series));
        }
        // What is set is none that it needs.
        let code = "def f(row):\n    row['m'] = row['a'] * 2\n    row.loc['n'] = row['m'] + len(row['b'].lower())\n    return row['m']\n";
        assert_eq!(names_of(code), ["a", "b"]);
        assert_eq!(found(code)["row"].kind(true).map(|(kind, _)| kind), Some(Kind::Series));
        let annotated =
            "def f(row):\n    row['m'] = row['a'] + row.b + row.get('c')\n    return row['m'] + row[NAME]\n";
        let of_kind = |kind| {
            let parsed = parse(annotated);
            let Some(Stmt::FunctionDef(definition)) = parsed.suite().first() else { panic!() };
            let known = ModuleFacts::of("import pandas as pd\nNAME = 'd'\n");
            let (kinds, handed) = match kind {
                None => (BTreeMap::new(), vec![Some(Kind::Series)]),
                Some(kind) => (BTreeMap::from([("row".to_owned(), kind)]), vec![]),
            };
            let found = read(definition, None, &kinds, &known, &handed).parameters.remove("row").unwrap();
            found.shape.columns.into_iter().map(|column| column.name).collect::<Vec<_>>()
        };
        assert_eq!(of_kind(Some(Kind::Series)), ["a", "b", "c", "d"]);
        assert_eq!(of_kind(None), ["a", "b", "c", "d"]);
        // A series, though nothing is looked up; a frame, whatever its name.
        let kind = |use_it: &str| found(&format!("def f(row):\n    return {use_it}\n"))["row"].kind(false);
        assert_eq!(kind("row - row.mean(), row.between(0, 1)").map(|(kind, _)| kind), Some(Kind::Series));
        assert_eq!(kind("row.set_index('a')['b']").map(|(kind, _)| kind), Some(Kind::Frame));
        // A dictionary, or anything else.
        assert_eq!(found("def f(row):\n    return row['a'], row.items()\n")["row"].kind(true), None);
        assert_eq!(found("def f(row):\n    return row.a\n")["row"].kind(true), None);
    }

    #[test]
    fn columns_that_are_read_are_needed_and_those_that_are_assigned_are_not() {
        let code = "def f(df):\n    out = df.dropna()\n    out['m'] = out['price'] - out['cost']\n    return out['m'] / out['price']\n";
        assert_eq!(
            columns(code, "df"),
            [("price".to_owned(), vec![Content::Numbers]), ("cost".to_owned(), vec![Content::Numbers])]
        );
        assert_eq!(found(code)["df"].kind(true), Some((Kind::Frame, true)));
    }

    #[test]
    fn what_is_done_with_a_column_says_what_it_holds() {
        use Content as C;
        let of = |use_it: &str| columns(&format!("def f(df):\n    return {use_it}\n"), "df");
        for (use_it, expected) in [
            ("df['a'].dt.dayofweek >= 5", C::Dates),
            ("(df['a'] - df['b']).dt.days", C::Dates),
            ("df['a'].diff().dt.days", C::Dates),
            ("df.groupby('k')['a'].diff().dt.days", C::Dates),
            ("(df['a'] - df['b']) > pd.Timedelta(0)", C::Dates),
            ("df['a'] > df['b'] + pd.Timedelta(days=1)", C::Dates),
            ("df['a'].ge(df['b'] - dt.timedelta(1))", C::Dates),
            ("df['a'].str.strip()", C::Texts),
            ("df['a'] == 'x'", C::Texts),
            ("df[df['a'] > 3]", C::Numbers),
            ("df[df['a']]", C::Truths),
            ("df.groupby('a').size()", C::Keys),
            ("df['a'].fillna(0).sum()", C::Numbers),
            ("df.assign(b=lambda d: d['a'] * 2)", C::Numbers),
            ("df.query('a > 3')", C::Numbers),
            ("df.loc[df['a'] > 3, 'a']", C::Numbers),
            ("[row['a'] * 2 for _, row in df.iterrows()]", C::Numbers),
            ("[row.a.lower() for row in df.itertuples()]", C::Texts),
            ("df.apply(lambda row: row['a'] + 1, axis=1)", C::Numbers),
            ("df.groupby('k')['a'].mean()", C::Numbers),
            ("df.merge(df, on='a')", C::Keys),
        ] {
            let found = of(use_it);
            let of_column = found.iter().find(|(name, _)| name == "a");
            assert_eq!(of_column.and_then(|(_, contents)| contents.first()), Some(&expected), "{use_it}: {found:?}");
        }
    }

    #[test]
    fn names_of_columns_are_found_wherever_methods_take_them() {
        for (code, expected) in [
            ("df.sort_values(['a', 'b'])", &["a", "b"][..]),
            ("df.sort_values(by='a')", &["a"]),
            ("df.drop_duplicates(subset=['a'])", &["a"]),
            ("df.dropna(subset=['a', 'b'])", &["a", "b"]),
            ("df.rename(columns={'a': 'z'})['z']", &["a"]),
            ("df.nlargest(3, 'a')[['b', 'a']]", &["a", "b"]),
            ("df.set_index('a')['b']", &["a", "b"]),
            ("df.groupby('a').agg(total=('b', 'sum'))", &["a", "b"]),
            ("df.groupby('a')['b'].sum().reset_index(name='n').sort_values('n')", &["a", "b"]),
            ("df.query(\"a == 'x' and b > 1\")", &["a", "b"]),
            ("df.assign(m=df.a - df.b).sort_values('m')", &["a", "b"]),
            ("df.pivot_table(index='a', columns='b', values='c')", &["a", "b", "c"]),
            ("df.astype({'a': int})", &["a"]),
            ("df.drop(columns=['a'])", &["a"]),
            ("df.merge(df, on='a', indicator=True)['_merge']", &["a"]),
            ("pd.merge(df, df, on='a', indicator='side')['side']", &["a"]),
        ] {
            assert_eq!(names(&format!("def f(df):\n    return {code}\n")), expected, "{code}");
        }
    }

    #[test]
    fn parameters_that_are_no_tables_are_left_alone() {
        for code in
            ["x['a'] + 1", "x.get('a')", "x.items()", "x.append(1)", "x[0]", "x.mean", "len(x)", "x['a'].strip()"]
        {
            let found = found(&format!("def f(x):\n    return {code}\n"));
            assert_eq!(found["x"].kind(true), None, "{code}");
        }
    }

    #[test]
    fn arrays_are_known_by_what_only_they_can_do() {
        for (code, dimensions) in [
            ("np.clip(x, 0, 1)", None),
            ("x.mean() - x.std()", None),
            ("(x > 3).all(axis=1)", Some(2)),
            ("x[:, 0] + x[:, 1]", Some(2)),
            ("x.reshape(-1)", None),
            ("x.min(axis=0)", Some(2)),
        ] {
            let found = found(&format!("def f(x):\n    return {code}\n"));
            assert_eq!(
                (found["x"].kind(true), found["x"].shape.dimensions),
                (Some((Kind::Array, true)), dimensions),
                "{code}"
            );
        }
    }

    #[test]
    fn what_is_assigned_to_parts_of_a_copy_says_that_it_is_an_array() {
        let found = found("def f(x, n):\n    y = x.copy()\n    y[:n, :] = 0\n    return y\n");
        assert_eq!((found["x"].kind(true), found["x"].shape.dimensions), (Some((Kind::Array, true)), Some(2)));
    }

    #[test]
    fn a_parameter_that_a_column_is_compared_with_is_like_its_values() {
        let found = found("def f(df, season):\n    return df[df['season'] == season]\n");
        assert!(found["season"].is_compared);
        assert_eq!(found["df"].shape.columns[0].contents, [Content::Keys]);
    }

    #[test]
    fn helpers_of_the_module_read_columns_as_well() {
        let module = "import pandas\nCOLUMN = 'b'\ndef helper(d):\n    d = d[d['a'] > 3]\n    return d\n";
        let parsed = parse("def f(df):\n    return helper(df.dropna())[COLUMN]\n");
        let Some(Stmt::FunctionDef(definition)) = parsed.suite().first() else { panic!() };
        let found = read(definition, None, &BTreeMap::new(), &ModuleFacts::of(module), &[]).parameters;
        let names: Vec<&str> = found["df"].shape.columns.iter().map(|column| column.name.as_str()).collect();
        assert_eq!(names, ["a", "b"]);
    }

    #[test]
    fn a_parameter_may_name_a_column() {
        let found = found("def f(df, column):\n    return df.groupby(column)['a'].sum()\n");
        assert_eq!(found["column"].columns, ["column_1"]);
        assert!(found["df"].shape.columns.iter().any(|column| column.name == "column_1"));
    }

    /// What is found in a function of a module, by parameter and by access path.
    fn within(module: &str, code: &str) -> Tables {
        let parsed = parse(code);
        let Some(Stmt::FunctionDef(definition)) = parsed.suite().first() else { panic!() };
        let written = TokenizedText { text: code, tokens: parsed.tokens() };
        let known = ModuleFacts::of(module);
        let handed = known.handed.get(definition.name.as_str()).cloned().unwrap_or_default();
        read(definition, Some(written), &BTreeMap::new(), &known, &handed)
    }

    #[test]
    fn weak_uses_and_names_tell_frames_where_pandas_is_imported() {
        for code in [
            "def f(x):\n    return x['a'].std() < 4\n",
            "def f(x):\n    x['a'] /= x['b'].sum()\n    return x\n",
            "def f(group):\n    return group.rank(ascending=False)\n",
            "def f(df):\n    return df.shape\n",
            "def f(group):\n    return group.corrwith(group['SPX'])\n",
            "def f(x):\n    kept = x['a']\n    x = x.drop(columns=['a'])\n    return x.corr(), kept\n",
            "def f(sales_df):\n    return sales_df.isnull().sum() / len(sales_df)\n",
        ] {
            let kind = found(code).into_values().next().and_then(|found| found.kind(true));
            assert_eq!(kind, Some((Kind::Frame, false)), "{code}");
        }
    }

    #[test]
    fn what_calls_give_is_known_by_what_is_done_with_it() {
        let module = "import numpy as np\n";
        let found =
            within(module, "def f(kde):\n    sample = kde.resample(kde.n)\n    return np.percentile(sample, 10)\n");
        assert_eq!(found.parameters["kde"].kind(true), None);
        assert_eq!(found.others["kde.resample(kde.n)"].1.kind(true), Some((Kind::Array, true)));
    }

    #[test]
    fn a_file_that_is_read_has_the_columns_that_the_code_uses() {
        let module = "import pandas as pd\n";
        let code = "def f(path):\n    df = pd.read_csv(path, parse_dates=['day'])\n    return df['a'].sum()\n";
        let found = within(module, code);
        assert!(found.parameters["path"].is_file);
        let (kind, table) = &found.others["pd.read_csv(path, parse_dates=['day'])"];
        let names: Vec<&str> = table.shape.columns.iter().map(|column| column.name.as_str()).collect();
        assert_eq!((*kind, names), (Kind::Frame, vec!["day", "a"]));
    }

    #[test]
    fn a_table_of_the_module_has_the_columns_that_both_use() {
        let module = "import pandas as pd\nsales = pd.read_csv('x.csv')\nsales['t'] = sales.a * 2\n";
        let found = within(module, "def f(year):\n    return sales.groupby('year')['units'].sum()[year]\n");
        let (kind, table) = &found.others["sales"];
        let names: Vec<&str> = table.shape.columns.iter().map(|column| column.name.as_str()).collect();
        assert_eq!((*kind, names), (Kind::Frame, vec!["a", "t", "year", "units"]));
        assert!(found.parameters["year"].is_label);
    }

    #[test]
    fn callers_in_the_module_tell_what_a_function_gets() {
        let module = "import pandas as pd\ndef f(x):\n    return x\ndata = pd.DataFrame({'a': [1]})\nf(data)\ndata.groupby('a').apply(g)\ndef g(x):\n    return x\n";
        for code in ["def f(x):\n    return x\n", "def g(x):\n    return x\n"] {
            assert_eq!(within(module, code).parameters["x"].kind(true), Some((Kind::Frame, false)), "{code}");
        }
    }

    #[test]
    fn calls_within_calls_are_read_once() {
        for (open, close) in [("s.clip(", ")"), ("np.load(", ")"), ("s.map(lambda x: ", ")"), ("pd.merge(", ", s)")] {
            let nested = format!("{}s{}", open.repeat(60), close.repeat(60));
            let found = within("import numpy as np\n", &format!("def f(s):\n    s.dropna()\n    return {nested}\n"));
            assert!(found.parameters.contains_key("s"), "{open}");
        }
        let nested = (0..28).fold("s".to_owned(), |inner, _| format!("[a for a, b in zip({inner}, s)]"));
        assert!(found(&format!("def f(s):\n    return {nested}\n")).contains_key("s"));
    }

    #[test]
    fn what_containers_and_frames_have_does_not_tell_that_a_frame_is_none() {
        for code in [
            "df.insert(0, 'n', 1)\n    return df['a'].mean()",
            "df['a'].mean()\n    return [name for name, _ in df.items()]",
            "df.update(other)\n    return df['a']",
        ] {
            let found = &found(&format!("def f(df, other):\n    {code}\n"))["df"];
            let names: Vec<&str> = found.shape.columns.iter().map(|column| column.name.as_str()).collect();
            assert_eq!((found.kind(true).map(|(kind, _)| kind), names), (Some(Kind::Frame), vec!["a"]), "{code}");
        }
        let found = found("def f(x):\n    x.append(1)\n    return np.mean(x)\n");
        assert_eq!(found["x"].kind(true), None);
    }

    #[test]
    fn what_a_frame_that_is_named_is_asked_does_not_take_its_columns() {
        let found = &within("import pandas as pd\n", "def f(df):\n    df.append(df)\n    return df['a'].mean()\n");
        assert_eq!(found.parameters["df"].shape.columns[0].name, "a");
    }

    #[test]
    fn functions_in_a_function_without_parameters_are_read() {
        let code = "def f():\n    def part(x):\n        return sales['units'].sum()\n    return part(1)\n";
        let found = within("import pandas as pd\nsales = pd.read_csv('x.csv')\n", code);
        assert_eq!(found.others["sales"].1.shape.columns[0].name, "units");
    }

    #[test]
    fn a_container_of_frames_is_known_by_its_items() {
        for code in ["return [one.to_html() for one in frames]", "return frames[0].describe()"] {
            let found = found(&format!("def f(frames):\n    {code}\n"));
            assert_eq!(found["frames"].kind(true), Some((Kind::Frames, false)), "{code}");
        }
    }

    #[test]
    fn attributes_that_are_used_like_columns_are_columns() {
        let code = "def f(x, q):\n    mask = (x.name_ <= x.name_.quantile(q)) & (x.tries <= x.tries.quantile(q))\n    return x[mask]\n";
        let found = &within("import pandas as pd\n", code).parameters["x"];
        let names: Vec<&str> = found.shape.columns.iter().map(|column| column.name.as_str()).collect();
        assert_eq!((found.kind(true), names), (Some((Kind::Frame, true)), vec!["name_", "tries"]));
    }

    #[test]
    fn limits_and_second_arrays_are_known_by_what_takes_them() {
        let found = found("def f(s, low, high):\n    return s.between(low, high).mean()\n");
        assert!(found["low"].is_operand && found["high"].is_operand);
        let found = self::found("def f(x, y):\n    return np.corrcoef(x, y)[0][1]\n");
        assert_eq!(found["y"].kind(true), Some((Kind::Array, false)));
    }

    #[test]
    fn helpers_get_the_names_of_columns_that_pipes_hand_on() {
        let module =
            "import pandas as pd\ndef helper(d, columns):\n    d[columns] = d[columns].apply(str)\n    return d\n";
        let code = "def f(path):\n    return pd.read_csv(path).pipe(helper, ['a', 'b']).drop('c', axis=1)\n";
        let found = within(module, code);
        let names: Vec<&str> =
            found.others["pd.read_csv(path)"].1.shape.columns.iter().map(|column| column.name.as_str()).collect();
        assert_eq!(names, ["a", "b", "c"]);
    }

    #[test]
    fn what_only_series_have_tells_series() {
        let code = "def f(s):\n    score = (s - s.mean()) / s.std()\n    return score.abs().max()\n";
        assert_eq!(found(code)["s"].kind(false).map(|(kind, _)| kind), Some(Kind::Series));
    }
}
