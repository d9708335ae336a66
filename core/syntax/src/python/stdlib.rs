//! What is known of Python's standard library, beside what single calls do (`behavior/effects.rs`).

/// Modules whose functions neither act nor depend on anything but their arguments. In function context a name that nothing
/// defines stands for the module of that name; all other modules are missing.
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

/// More of them, whose names mean other things as well: only an import says that they are meant.
pub const PURE_WHERE_IMPORTED: [&str; 13] = [
    "abc",
    "calendar",
    "colorsys",
    "datetime",
    "graphlib",
    "hashlib",
    "ipaddress",
    "pprint",
    "reprlib",
    "types",
    "unicodedata",
    "urllib.parse",
    "zlib",
];

/// Packages whose functions answer as the machine is: files, other programs, the network, the platform.
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

/// Names of pure modules that mean the same wherever they stand alone, with their modules.
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

/// Does this module only compute? Asked of what an import names and of where a function is from, which both say for sure
/// what is meant; a name that stands alone does not, and means one of [`PURE_MODULES`] only.
pub fn is_pure_import(module: &str) -> bool {
    let package = module.split('.').next().unwrap_or(module);
    PURE_MODULES.contains(&package) || PURE_WHERE_IMPORTED.contains(&package) || PURE_WHERE_IMPORTED.contains(&module)
}
