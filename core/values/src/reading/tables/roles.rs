//! What expressions stand for: tables, columns and cells of parameters.

use std::collections::BTreeSet;

/// A table made from parameters. Rows may be missing, and columns may have been added.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Table {
    /// The parameters that it is made from, by number.
    pub roots: Vec<usize>,
    /// The columns that the code has added.
    pub defined: BTreeSet<String>,
    /// Whether its columns are no longer those of the parameters.
    pub is_derived: bool,
}

/// Where a column or a cell comes from: nowhere if it was calculated.
pub(super) type Source = Option<Origin>;

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Origin {
    pub root: usize,
    /// `None` for a series or an array as a whole.
    pub column: Option<String>,
}

/// What an expression stands for.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) enum Role {
    Table(Table),
    /// `for _, row in df.iterrows()`.
    Row(Table),
    /// `df.groupby(...)`, perhaps of some columns.
    Group(Table),
    /// `df.loc`, `df.at`.
    ByLabel(Table),
    /// `df.iloc`, `df.iat`.
    ByPosition(Table),
    /// `df.iterrows()`, `df.itertuples()`, `df.to_dict('records')`. Whether each row has its number before it.
    Rows(Table, bool),
    /// A container of tables; its `items()`.
    Tables(Table),
    Entries(Table),
    Column(Source),
    /// The column of a group. What is calculated of it is a column.
    GroupColumn(Source),
    Cell(Source),
    /// `df['end'] - df['start']`: a span of time, if it is asked what only such a span has.
    Difference(Vec<Origin>),
    /// `df['start'] + pd.Timedelta(days=1)`: dates.
    Dates,
    /// `df['a'].str`, `df['a'].dt`.
    Accessor,
    /// What was calculated from an array: it has as many dimensions.
    Like(usize),
    /// An item of a parameter.
    Item(usize),
    /// `x.shape`, `x.ndim`.
    Extent(usize),
    Dimensions(usize),
    /// A text, or several.
    Names(Vec<String>),
    /// One text out of several, in a loop over them.
    OneOf(Vec<String>),
    /// A parameter, or another value that the function gets. A parameter may stand for a name of a column.
    Parameter(usize),
    #[default]
    Other,
}
