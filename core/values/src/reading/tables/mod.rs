//! What a function says of tables and arrays that it gets: the columns that it reads, and what they hold.
//!
//! The text is read once, in order: a column that the code has assigned is none that it needs. Nothing is certain here.
//! A column that is missing makes an execution fail, and such an execution counts for nothing.

mod access;
mod calls;
mod methods;
mod notes;
mod roles;
mod walk;

use std::collections::BTreeMap;

use ruff_python_ast::{Expr, Stmt, StmtFunctionDef};
use ruff_text_size::Ranged;
use twincell_syntax::parse::{parse, with_stack_for};

use super::models::Known;
use crate::value::Recipe;
use crate::value::shape::{Content, Shape};

use walk::Walk;

/// What kind of thing a parameter is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Frame,
    Series,
    Array,
    /// A container of frames.
    Frames,
    /// Not declared.
    Unknown,
}

/// What was found about one parameter.
#[derive(Debug, Clone, Default)]
pub(super) struct Found {
    pub shape: Shape,
    /// How much only a frame, a series or an array can do.
    frame: u32,
    series: u32,
    array: u32,
    /// How much tables cannot do.
    other: u32,
    /// How often a text is looked up in it.
    looked_up: u32,
    /// Names of columns for which the parameter itself stands.
    pub columns: Vec<String>,
    /// Whether values of a column are compared with the parameter.
    pub is_compared: bool,
}

impl Found {
    /// The kind of a parameter that declares nothing, if its uses tell, and whether they tell enough without an import.
    pub fn kind(&self) -> Option<(Kind, bool)> {
        let most = self.frame.max(self.series).max(self.array);
        if self.other > 0 || most == 0 {
            return None;
        }
        // Only tables have columns by name.
        if self.looked_up > 0 {
            return (self.frame + self.series > 0).then_some((Kind::Frame, true));
        }
        let kind = if self.frame == most && self.frame > 0 {
            Kind::Frame
        } else if self.array == most {
            Kind::Array
        } else {
            Kind::Series
        };
        Some((kind, most > 1))
    }
}

/// Reads what a function says of its parameters. `kinds` has those that are declared.
pub(super) fn read(
    definition: &StmtFunctionDef,
    kinds: &BTreeMap<String, Kind>,
    known: &Known,
) -> BTreeMap<String, Found> {
    let parameters: Vec<String> =
        definition.parameters.iter_non_variadic_params().map(|one| one.parameter.name.to_string()).collect();
    let named = defaults(definition);
    let mut walk = Walk::new(parameters, kinds, known, &named);
    walk.body(&definition.body);
    walk.finish()
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
        read(definition, &BTreeMap::new(), &Known::default())
    }

    fn columns(code: &str, name: &str) -> Vec<(String, Vec<Content>)> {
        let found = &found(code)[name];
        found.shape.columns.iter().map(|column| (column.name.clone(), column.contents.clone())).collect()
    }

    fn names(code: &str) -> Vec<String> {
        let parsed = parse(code);
        let Some(Stmt::FunctionDef(definition)) = parsed.suite().first() else { panic!() };
        let kinds = BTreeMap::from([("df".to_owned(), Kind::Frame)]);
        let found = read(definition, &kinds, &Known::default()).remove("df").unwrap();
        found.shape.columns.into_iter().map(|column| column.name).collect()
    }

    #[test]
    fn columns_that_are_read_are_needed_and_those_that_are_assigned_are_not() {
        let code = "def f(df):\n    out = df.dropna()\n    out['m'] = out['price'] - out['cost']\n    return out['m'] / out['price']\n";
        assert_eq!(
            columns(code, "df"),
            [("price".to_owned(), vec![Content::Numbers]), ("cost".to_owned(), vec![Content::Numbers])]
        );
        assert_eq!(found(code)["df"].kind(), Some((Kind::Frame, true)));
    }

    #[test]
    fn what_is_done_with_a_column_says_what_it_holds() {
        use Content as C;
        let of = |use_it: &str| columns(&format!("def f(df):\n    return {use_it}\n"), "df");
        for (use_it, expected) in [
            ("df['a'].dt.dayofweek >= 5", C::Dates),
            ("(df['a'] - df['b']).dt.days", C::Dates),
            ("df['a'].diff().dt.days", C::Dates),
            ("(df['a'] - df['b']) > pd.Timedelta(0)", C::Dates),
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
            assert_eq!(found["x"].kind(), None, "{code}");
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
                (found["x"].kind(), found["x"].shape.dimensions),
                (Some((Kind::Array, true)), dimensions),
                "{code}"
            );
        }
    }

    #[test]
    fn what_is_assigned_to_parts_of_a_copy_says_that_it_is_an_array() {
        let found = found("def f(x, n):\n    y = x.copy()\n    y[:n, :] = 0\n    return y\n");
        assert_eq!((found["x"].kind(), found["x"].shape.dimensions), (Some((Kind::Array, true)), Some(2)));
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
        let found = read(definition, &BTreeMap::new(), &Known::of(module));
        let names: Vec<&str> = found["df"].shape.columns.iter().map(|column| column.name.as_str()).collect();
        assert_eq!(names, ["a", "b"]);
    }

    #[test]
    fn a_parameter_may_name_a_column() {
        let found = found("def f(df, column):\n    return df.groupby(column)['a'].sum()\n");
        assert_eq!(found["column"].columns, ["column_1"]);
        assert!(found["df"].shape.columns.iter().any(|column| column.name == "column_1"));
    }
}
