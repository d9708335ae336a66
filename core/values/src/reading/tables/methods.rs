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

/// Methods and attributes that tables do not have.
pub(super) const OF_OTHERS: &[&str] = &[
    "append",
    "extend",
    "insert",
    "items",
    "keys",
    "setdefault",
    "update",
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
