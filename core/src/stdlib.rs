//! What is known of Python's standard library, beside what single calls do (`behavior/effects.rs`).

/// Modules whose functions neither act nor depend on anything but their arguments. In function context a name that nothing
/// defines stands for the module of that name; all other modules are missing.
pub const PURE_MODULES: [&str; 26] = [
    "ast",
    "base64",
    "binascii",
    "bisect",
    "cmath",
    "collections",
    "copy",
    "decimal",
    "difflib",
    "fnmatch",
    "fractions",
    "functools",
    "heapq",
    "html",
    "itertools",
    "json",
    "keyword",
    "math",
    "numbers",
    "operator",
    "re",
    "shlex",
    "statistics",
    "string",
    "struct",
    "textwrap",
];
