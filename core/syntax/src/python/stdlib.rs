//! Facts about Python's standard library, except the effects of single calls (`behavior/effects.rs`).

/// Modules whose functions have no effects and depend only on their arguments. In function context, an undefined name
/// that is the name of such a module stands for it. All other modules are missing.
pub const PURE_MODULES: [&str; 30] = [
    "ast",
    "base64",
    "binascii",
    "bisect",
    "cmath",
    "collections",
    "contextlib",
    "copy",
    "dataclasses",
    "decimal",
    "difflib",
    "enum",
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
    "typing",
];

/// Further such modules whose names also have other meanings. Only an import shows that the module is meant.
pub const PURE_WHERE_IMPORTED: [&str; 16] = [
    "abc",
    "calendar",
    "colorsys",
    "csv",
    "datetime",
    "graphlib",
    "hashlib",
    "io",
    "ipaddress",
    "pprint",
    "reprlib",
    "tomllib",
    "types",
    "unicodedata",
    "urllib.parse",
    "zlib",
];

/// Packages whose functions depend on the machine: files, other programs, the network, the platform.
pub const OF_THE_MACHINE: [&str; 23] = [
    "ctypes",
    "ftplib",
    "genericpath",
    "getpass",
    "glob",
    "grp",
    "http",
    "imaplib",
    "locale",
    "os",
    "pathlib",
    "platform",
    "posix",
    "pwd",
    "shutil",
    "smtplib",
    "socket",
    "sqlite3",
    "ssl",
    "subprocess",
    "tempfile",
    "urllib",
    "webbrowser",
];

/// Names in pure modules that mean the same wherever they stand alone, with their modules.
pub const PURE_NAMES: [(&str, &str); 18] = [
    ("ExitStack", "contextlib"),
    ("OrderedDict", "collections"),
    ("attrgetter", "operator"),
    ("contextmanager", "contextlib"),
    ("deepcopy", "copy"),
    ("defaultdict", "collections"),
    ("deque", "collections"),
    ("itemgetter", "operator"),
    ("lru_cache", "functools"),
    ("methodcaller", "operator"),
    ("namedtuple", "collections"),
    ("nullcontext", "contextlib"),
    ("partial", "functools"),
    ("reduce", "functools"),
    ("suppress", "contextlib"),
    ("total_ordering", "functools"),
    ("wraps", "functools"),
    ("zip_longest", "itertools"),
];

/// Packages that are real wherever they are installed, also without the module around the code: nothing invented could
/// answer like their arrays, tables and tasks, and what is outside answers those that ask for it.
const ALWAYS_REAL: [&str; 16] = [
    "asyncio",
    "glob",
    "matplotlib",
    "numpy",
    "os",
    "pandas",
    "pathlib",
    "polars",
    "requests",
    "scipy",
    "seaborn",
    "shutil",
    "sklearn",
    "statsmodels",
    "subprocess",
    "tempfile",
];

/// Whether a module is real wherever it is installed.
pub fn is_always_real(module: &str) -> bool {
    module.split('.').next().is_some_and(|package| ALWAYS_REAL.contains(&package))
}

/// Further names of builtin exceptions.
const EXCEPTION_ALIASES: [(&str, &str); 6] = [
    ("mmap.error", "OSError"),
    ("os.error", "OSError"),
    ("resource.error", "OSError"),
    ("select.error", "OSError"),
    ("socket.error", "OSError"),
    ("socket.timeout", "TimeoutError"),
];

/// The builtin exception that something of the standard library is: `socket.timeout` is `TimeoutError`.
pub fn aliased_exception(dotted: &str) -> Option<&'static str> {
    EXCEPTION_ALIASES.iter().find(|(alias, _)| *alias == dotted).map(|(_, name)| *name)
}

/// Whether this module only computes. This is asked about the target of an import or the origin of a function, which
/// are both certain. A name that stands alone is not certain and means only one of [`PURE_MODULES`].
pub fn is_pure_import(module: &str) -> bool {
    let package = module.split('.').next().unwrap_or(module);
    PURE_MODULES.contains(&package) || PURE_WHERE_IMPORTED.contains(&package) || PURE_WHERE_IMPORTED.contains(&module)
}
