//! What methods say of the tables and columns that have them.

use crate::value::shape::Content;

/// Methods that only frames have.
pub(super) const OF_FRAMES: &[&str] = &[
    "groupby",
    "merge",
    "iterrows",
    "itertuples",
    "assign",
    "query",
    "sort_values",
    "drop_duplicates",
    "dropna",
    "reset_index",
    "set_index",
    "pivot_table",
    "pivot",
    "melt",
    "nlargest",
    "nsmallest",
    "to_csv",
    "to_parquet",
    "select_dtypes",
    "explode",
    "applymap",
    "stack",
    "unstack",
    "sort_index",
    "fillna",
    "iloc",
    "loc",
    "duplicated",
    "to_frame",
    "rename",
    "resample",
    "describe",
    "agg",
];

/// Those that nothing else has, as far as names tell.
pub(super) const ONLY_FRAMES: &[&str] = &[
    "groupby",
    "iterrows",
    "itertuples",
    "sort_values",
    "drop_duplicates",
    "dropna",
    "reset_index",
    "set_index",
    "pivot_table",
    "nlargest",
    "nsmallest",
    "select_dtypes",
    "applymap",
    "fillna",
    "iloc",
    "loc",
];

/// What frames have, and series have not.
pub(super) const NOT_OF_SERIES: &[&str] = &[
    "applymap",
    "assign",
    "columns",
    "corrwith",
    "iterrows",
    "itertuples",
    "melt",
    "merge",
    "pivot",
    "pivot_table",
    "query",
    "select_dtypes",
    "set_index",
];

/// Methods that give a frame with the same columns.
pub(super) const SAME_COLUMNS: &[&str] = &[
    "copy",
    "head",
    "tail",
    "sample",
    "reset_index",
    "sort_index",
    "dropna",
    "fillna",
    "replace",
    "round",
    "query",
    "sort_values",
    "drop_duplicates",
    "nlargest",
    "nsmallest",
    "convert_dtypes",
    "infer_objects",
    "where",
    "mask",
    "ffill",
    "bfill",
    "reindex",
    "truncate",
    "explode",
    "astype",
    "set_index",
    "rename_axis",
    "interpolate",
    "drop",
    "filter",
    "join",
    "tz_localize",
    "apply",
    "map",
    "shift",
    "clip",
    "abs",
    "diff",
];

/// Methods of a frame that work on numbers only.
pub(super) const ALL_NUMBERS: &[&str] = &[
    "mean",
    "std",
    "var",
    "corr",
    "cov",
    "cumsum",
    "diff",
    "pct_change",
    "abs",
    "clip",
    "median",
    "quantile",
    "cumprod",
    "prod",
];

/// Methods of columns that say what the columns hold.
pub(super) fn of_column(method: &str) -> Option<Content> {
    Some(match method {
        "mean" | "sum" | "std" | "var" | "median" | "quantile" | "round" | "abs" | "clip" | "cumsum" | "cumprod"
        | "pct_change" | "prod" | "rolling" | "expanding" | "ewm" | "rank" | "nlargest" | "nsmallest" | "add"
        | "sub" | "mul" | "div" | "truediv" | "floordiv" | "mod" | "pow" | "corr" | "skew" | "interpolate" => {
            Content::Numbers
        }
        "value_counts" | "nunique" | "unique" | "drop_duplicates" | "duplicated" | "mode" => Content::Keys,
        _ => return None,
    })
}

/// Methods by which an undeclared parameter is known to be a series, or a column to be one of a frame.
pub(super) const OF_SERIES: &[&str] = &[
    "fillna",
    "isna",
    "notna",
    "isnull",
    "notnull",
    "rolling",
    "value_counts",
    "nunique",
    "pct_change",
    "between",
    "sort_values",
    "reset_index",
    "to_frame",
    "groupby",
    "dropna",
    "isin",
    "ffill",
    "bfill",
    "shift",
    "str",
    "dt",
    "iloc",
    "drop_duplicates",
    "sort_index",
    "idxmax",
    "idxmin",
    "cat",
    "duplicated",
    "expanding",
    "ewm",
];

/// Attributes and methods by which an undeclared parameter is known to be an array.
pub(super) const OF_ARRAYS: &[&str] = &[
    "ndim",
    "dtype",
    "reshape",
    "ravel",
    "flatten",
    "argmax",
    "argmin",
    "argsort",
    "T",
    "transpose",
    "dot",
    "cumsum",
    "mean",
    "std",
    "var",
    "clip",
    "astype",
    "shape",
    "nonzero",
    "squeeze",
];

/// Those that nothing else has, as far as names tell.
pub(super) const ONLY_ARRAYS: &[&str] = &["ndim", "reshape", "ravel", "argsort", "nonzero", "squeeze"];

/// Methods of Python's containers that frames have as well. Without anything that only frames have they tell containers.
pub(super) const OF_CONTAINERS: &[&str] = &["append", "insert", "items", "keys", "update"];

/// Methods and attributes that tables do not have.
pub(super) const OF_OTHERS: &[&str] = &[
    "extend",
    "setdefault",
    "popitem",
    "split",
    "strip",
    "lower",
    "upper",
    "startswith",
    "endswith",
    "format",
    "encode",
    "decode",
    "execute",
    "fetchall",
    "read",
    "write",
    "close",
    "open",
    "save",
    "objects",
    "session",
    "meta",
    "filter_by",
    "send",
    "commit",
    "torch",
    "cuda",
    "cpu",
    "backward",
    "requires_grad",
];

/// Methods of cells that say what these hold.
pub(super) fn of_cell(method: &str) -> Option<Content> {
    Some(match method {
        "lower" | "upper" | "strip" | "split" | "startswith" | "endswith" | "replace" | "title" | "capitalize" => {
            Content::Texts
        }
        "weekday" | "isoweekday" | "isoformat" | "strftime" | "date" | "year" | "month" | "day" | "hour" => {
            Content::Dates
        }
        _ => return None,
    })
}

/// Methods that columns have, and arrays as well.
pub(super) const LIKE_COLUMNS: &[&str] = &[
    "max", "min", "isin", "values", "tolist", "to_list", "to_numpy", "astype", "map", "apply", "unique", "cat", "iloc",
];

/// Attributes that only series have, as far as names tell.
pub(super) const ONLY_SERIES: &[&str] = &["str", "dt", "cat", "to_frame", "unique", "between", "is_unique"];

/// Methods of what was calculated from a series, that arrays do not have.
pub(super) const NOT_OF_ARRAYS: &[&str] = &[
    "abs", "apply", "dropna", "fillna", "idxmax", "idxmin", "isin", "isna", "isnull", "map", "median", "notna",
    "quantile",
];

/// Methods of frames and series that no value of Python itself has, and that other libraries seldom have.
pub(super) const USUAL: &[&str] = &[
    "applymap",
    "corrwith",
    "cummax",
    "cummin",
    "describe",
    "idxmax",
    "idxmin",
    "isnull",
    "memory_usage",
    "pct_change",
    "pipe",
    "rank",
    "rolling",
    "sample",
    "swaplevel",
    "to_html",
    "to_latex",
    "tz_convert",
    "tz_localize",
    "value_counts",
    "xs",
];

/// Further attributes of frames, series and arrays. Lists with a meaning of their own are above.
const FURTHER: &[&str] = &[
    "all",
    "any",
    "argmax",
    "argmin",
    "at",
    "at_time",
    "axes",
    "between",
    "between_time",
    "bool",
    "columns",
    "combine",
    "combine_first",
    "copy",
    "count",
    "cummax",
    "cummin",
    "dtype",
    "dtypes",
    "empty",
    "eq",
    "equals",
    "eval",
    "first",
    "flat",
    "ge",
    "get",
    "gt",
    "hist",
    "iat",
    "index",
    "info",
    "isna",
    "item",
    "itemsize",
    "iter",
    "kurt",
    "last",
    "le",
    "loc",
    "lt",
    "max",
    "min",
    "mode",
    "name",
    "nbytes",
    "ndim",
    "ne",
    "notna",
    "notnull",
    "nunique",
    "plot",
    "pop",
    "product",
    "put",
    "reindex_like",
    "repeat",
    "searchsorted",
    "sem",
    "set_axis",
    "shape",
    "size",
    "sort",
    "squeeze",
    "style",
    "sum",
    "swapaxes",
    "take",
    "to_clipboard",
    "to_dict",
    "to_excel",
    "to_feather",
    "to_json",
    "to_list",
    "to_markdown",
    "to_numpy",
    "to_pickle",
    "to_records",
    "to_sql",
    "to_string",
    "to_timestamp",
    "tobytes",
    "tolist",
    "trace",
    "transform",
    "unique",
    "values",
    "where",
    "iterrows",
    "boxplot",
    "abs",
    "add_prefix",
    "add_suffix",
    "align",
    "asfreq",
    "asof",
    "aggregate",
    "get_group",
    "to_xarray",
    "to_period",
    "view",
    "real",
    "imag",
    "conj",
    "round",
    "mean",
    "median",
    "std",
    "var",
    "quantile",
    "skew",
    "T",
    "ravel",
    "ffill",
    "bfill",
    "insert",
    "items",
    "keys",
    "update",
    "append",
];

/// Whether frames, series or arrays have an attribute of this name.
pub(super) fn is_of_tables(name: &str) -> bool {
    [OF_FRAMES, ONLY_FRAMES, SAME_COLUMNS, ALL_NUMBERS, OF_SERIES, OF_ARRAYS, ONLY_ARRAYS, LIKE_COLUMNS, USUAL, FURTHER]
        .iter()
        .any(|list| list.contains(&name))
        || of_column(name).is_some()
}
