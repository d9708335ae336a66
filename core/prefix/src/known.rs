//! Names whose meaning everybody knows: `np` is numpy, `Path` comes from pathlib.

use twincell_syntax::python::builtin_now;

use crate::code::{Statement, TypeCounts};
use crate::import::Import;

/// Modules by the short names under which people import them.
const ALIASES: &[(&str, &str)] = &[
    ("np", "numpy"),
    ("pd", "pandas"),
    ("plt", "matplotlib.pyplot"),
    ("mpl", "matplotlib"),
    ("sns", "seaborn"),
    ("tf", "tensorflow"),
    ("nx", "networkx"),
    ("pl", "polars"),
    ("sp", "scipy"),
    ("sm", "statsmodels.api"),
    ("tk", "tkinter"),
    ("dt", "datetime"),
    ("mp", "multiprocessing"),
    ("pa", "pyarrow"),
    ("px", "plotly.express"),
    ("go", "plotly.graph_objects"),
    ("sa", "sqlalchemy"),
    ("ET", "xml.etree.ElementTree"),
    ("t", "typing"),
];

/// Modules whose names mean them wherever an attribute of them is asked for.
const MODULES: &[&str] = &[
    "abc",
    "argparse",
    "ast",
    "asyncio",
    "base64",
    "binascii",
    "bisect",
    "bz2",
    "calendar",
    "cmath",
    "codecs",
    "collections",
    "colorsys",
    "configparser",
    "contextlib",
    "contextvars",
    "copy",
    "cProfile",
    "csv",
    "ctypes",
    "dataclasses",
    "datetime",
    "decimal",
    "difflib",
    "dis",
    "email",
    "enum",
    "errno",
    "faulthandler",
    "fcntl",
    "filecmp",
    "fileinput",
    "fnmatch",
    "fractions",
    "ftplib",
    "functools",
    "gc",
    "getopt",
    "getpass",
    "gettext",
    "glob",
    "graphlib",
    "gzip",
    "hashlib",
    "heapq",
    "hmac",
    "html",
    "http",
    "imaplib",
    "importlib",
    "inspect",
    "io",
    "ipaddress",
    "itertools",
    "json",
    "keyword",
    "linecache",
    "locale",
    "logging",
    "lzma",
    "marshal",
    "math",
    "matplotlib",
    "mimetypes",
    "mmap",
    "multiprocessing",
    "ntpath",
    "numbers",
    "numpy",
    "operator",
    "optparse",
    "os",
    "pandas",
    "pathlib",
    "pickle",
    "pkgutil",
    "platform",
    "plistlib",
    "polars",
    "posixpath",
    "pprint",
    "pstats",
    "queue",
    "random",
    "re",
    "requests",
    "runpy",
    "scipy",
    "secrets",
    "selectors",
    "shelve",
    "shlex",
    "shutil",
    "signal",
    "six",
    "smtplib",
    "socket",
    "socketserver",
    "sqlite3",
    "ssl",
    "stat",
    "statistics",
    "string",
    "struct",
    "subprocess",
    "sys",
    "sysconfig",
    "tarfile",
    "tempfile",
    "textwrap",
    "threading",
    "time",
    "timeit",
    "tkinter",
    "tokenize",
    "traceback",
    "tracemalloc",
    "types",
    "typing",
    "unicodedata",
    "unittest",
    "urllib",
    "uuid",
    "warnings",
    "weakref",
    "webbrowser",
    "xml",
    "xmlrpc",
    "yaml",
    "zipfile",
    "zipimport",
    "zlib",
    "zoneinfo",
];

/// Names that come from a module.
const FROM: &[(&str, &[&str])] = &[
    ("abc", &["ABC", "ABCMeta", "abstractmethod"]),
    ("ast", &["literal_eval"]),
    ("bs4", &["BeautifulSoup"]),
    ("collections", &["Counter", "OrderedDict", "defaultdict", "deque", "namedtuple", "ChainMap"]),
    (
        "collections.abc",
        &[
            "AsyncGenerator",
            "AsyncIterable",
            "AsyncIterator",
            "Awaitable",
            "Coroutine",
            "Generator",
            "Hashable",
            "Iterable",
            "Iterator",
            "Mapping",
            "MutableMapping",
            "MutableSequence",
            "Sequence",
        ],
    ),
    ("concurrent.futures", &["ProcessPoolExecutor", "ThreadPoolExecutor", "as_completed"]),
    ("contextlib", &["ExitStack", "closing", "contextmanager", "suppress"]),
    ("copy", &["deepcopy"]),
    ("dataclasses", &["asdict", "dataclass", "field"]),
    ("datetime", &["timedelta", "tzinfo"]),
    ("decimal", &["Decimal"]),
    ("enum", &["Enum", "IntEnum"]),
    ("fractions", &["Fraction"]),
    (
        "functools",
        &[
            "cached_property",
            "lru_cache",
            "partial",
            "reduce",
            "singledispatch",
            "total_ordering",
            "update_wrapper",
            "wraps",
        ],
    ),
    ("inspect", &["getmembers", "isclass", "iscoroutinefunction", "isfunction", "ismethod", "signature"]),
    ("io", &["BytesIO", "StringIO"]),
    (
        "itertools",
        &[
            "accumulate",
            "chain",
            "combinations",
            "count",
            "cycle",
            "groupby",
            "islice",
            "permutations",
            "product",
            "starmap",
            "takewhile",
            "zip_longest",
            "dropwhile",
            "tee",
        ],
    ),
    ("math", &["ceil", "floor", "sqrt"]),
    ("multiprocessing", &["cpu_count", "Pool"]),
    ("operator", &["attrgetter", "itemgetter", "methodcaller"]),
    ("pathlib", &["Path", "PosixPath", "PurePath"]),
    ("pprint", &["pprint"]),
    ("random", &["randint", "randrange", "shuffle"]),
    ("subprocess", &["PIPE", "Popen", "check_call", "check_output"]),
    ("tempfile", &["NamedTemporaryFile", "TemporaryDirectory", "mkdtemp", "mkstemp"]),
    ("textwrap", &["dedent"]),
    ("threading", &["Lock", "RLock", "Thread"]),
    ("time", &["perf_counter", "sleep"]),
    ("timeit", &["default_timer", "timeit"]),
    ("types", &["FunctionType", "MappingProxyType", "MethodType", "ModuleType", "SimpleNamespace"]),
    (
        "typing",
        &[
            "Any",
            "Callable",
            "ClassVar",
            "DefaultDict",
            "Deque",
            "Dict",
            "Final",
            "FrozenSet",
            "Generic",
            "List",
            "NamedTuple",
            "Literal",
            "NoReturn",
            "Optional",
            "Pattern",
            "Protocol",
            "Set",
            "TYPE_CHECKING",
            "Tuple",
            "Type",
            "TypeVar",
            "TypedDict",
            "Union",
            "cast",
        ],
    ),
    ("unittest", &["TestCase"]),
    ("unittest.mock", &["MagicMock", "Mock", "mock_open", "patch"]),
    (
        "urllib.parse",
        &[
            "quote",
            "unquote",
            "urlencode",
            "urljoin",
            "urlparse",
            "urlsplit",
            "urlunparse",
            "urlunsplit",
            "parse_qs",
            "parse_qsl",
        ],
    ),
    ("urllib.request", &["urlopen"]),
    ("warnings", &["warn"]),
    ("argparse", &["ArgumentParser"]),
    ("base64", &["b64decode", "b64encode", "urlsafe_b64decode", "urlsafe_b64encode"]),
    ("configparser", &["ConfigParser"]),
    ("email.mime.multipart", &["MIMEMultipart"]),
    ("email.mime.text", &["MIMEText"]),
    ("hashlib", &["md5", "sha1", "sha256", "sha512"]),
    ("importlib", &["import_module"]),
    ("importlib.util", &["find_spec", "module_from_spec"]),
    ("logging", &["getLogger"]),
    ("shutil", &["copyfile", "copytree", "rmtree"]),
    ("string", &["ascii_letters", "ascii_lowercase", "ascii_uppercase"]),
    ("uuid", &["UUID", "uuid1", "uuid3", "uuid4", "uuid5"]),
    ("traceback", &["format_exc", "print_exc"]),
    ("http.cookiejar", &["CookieJar"]),
];

/// Modules that have the name of a thing, with what else than constants the code takes from them: a variable of this name
/// is asked for something else.
const OF_THINGS: &[(&str, &[&str])] = &[
    (
        "calendar",
        &[
            "Calendar",
            "February",
            "HTMLCalendar",
            "IllegalMonthError",
            "IllegalWeekdayError",
            "January",
            "LocaleHTMLCalendar",
            "LocaleTextCalendar",
            "TextCalendar",
            "calendar",
            "day_abbr",
            "day_name",
            "different_locale",
            "firstweekday",
            "formatstring",
            "isleap",
            "leapdays",
            "mdays",
            "month",
            "month_abbr",
            "month_name",
            "monthcalendar",
            "monthrange",
            "prcal",
            "prmonth",
            "prweek",
            "setfirstweekday",
            "timegm",
            "weekday",
            "weekheader",
        ],
    ),
    (
        "email",
        &[
            "base64mime",
            "charset",
            "contentmanager",
            "encoders",
            "errors",
            "feedparser",
            "generator",
            "header",
            "headerregistry",
            "iterators",
            "message",
            "message_from_binary_file",
            "message_from_bytes",
            "message_from_file",
            "message_from_string",
            "mime",
            "parser",
            "policy",
            "quoprimime",
            "utils",
        ],
    ),
    ("html", &["entities", "escape", "parser", "unescape"]),
    ("keyword", &["iskeyword", "issoftkeyword", "kwlist", "softkwlist"]),
    ("queue", &["Empty", "Full", "LifoQueue", "PriorityQueue", "Queue", "ShutDown", "SimpleQueue"]),
    ("stat", &["filemode"]),
    (
        "string",
        &[
            "Formatter",
            "Template",
            "ascii_letters",
            "ascii_lowercase",
            "ascii_uppercase",
            "atof",
            "atoi",
            "capwords",
            "digits",
            "hexdigits",
            "letters",
            "lowercase",
            "maketrans",
            "octdigits",
            "printable",
            "punctuation",
            "uppercase",
            "whitespace",
        ],
    ),
    (
        "time",
        &[
            "altzone",
            "asctime",
            "clock",
            "clock_getres",
            "clock_gettime",
            "clock_gettime_ns",
            "clock_settime",
            "clock_settime_ns",
            "ctime",
            "daylight",
            "get_clock_info",
            "gmtime",
            "localtime",
            "mktime",
            "monotonic",
            "monotonic_ns",
            "perf_counter",
            "perf_counter_ns",
            "process_time",
            "process_time_ns",
            "pthread_getcpuclockid",
            "sleep",
            "strftime",
            "strptime",
            "struct_time",
            "thread_time",
            "thread_time_ns",
            "time",
            "time_ns",
            "timezone",
            "tzname",
            "tzset",
        ],
    ),
    ("uuid", &["SafeUUID", "UUID", "getnode", "uuid1", "uuid3", "uuid4", "uuid5", "uuid6", "uuid7", "uuid8"]),
];

/// Whether a module of this name may be what the code asks for these attributes.
fn has_any(name: &str, attributes: &[&str]) -> bool {
    let Some((_, known)) = OF_THINGS.iter().find(|(module, _)| *module == name) else { return true };
    let is_constant = |attribute: &str| attribute.contains(char::is_uppercase) && attribute == attribute.to_uppercase();
    attributes.iter().any(|attribute| known.contains(attribute) || is_constant(attribute))
}

/// Attributes of the class `datetime` that the module of this name does not have.
const OF_MOMENTS: &[&str] = &[
    "now",
    "strptime",
    "today",
    "utcnow",
    "fromtimestamp",
    "utcfromtimestamp",
    "combine",
    "fromisoformat",
    "min",
    "max",
];

/// The import that gives an undefined name its usual meaning. `attributes` are those that the code asks it for, and
/// `plainly` says whether the name also stands by itself.
pub(crate) fn import(name: &str, attributes: &[&str], plainly: bool) -> Option<Import> {
    if name == "datetime" && (plainly || attributes.iter().any(|attribute| OF_MOMENTS.contains(attribute))) {
        return Some(Import::name("datetime", "datetime"));
    }
    if name == "date" && attributes.iter().all(|attribute| OF_MOMENTS.contains(attribute)) && !attributes.is_empty() {
        return Some(Import::name("datetime", "date"));
    }
    if name == "timezone" && attributes == ["utc"] && !plainly {
        return Some(Import::name("datetime", "timezone"));
    }
    let is_module = MODULES.contains(&name) && !attributes.is_empty() && !plainly && has_any(name, attributes);
    if is_module {
        return Some(Import::module(name));
    }
    if let Some((module, _)) = FROM.iter().find(|(_, names)| names.contains(&name)) {
        return Some(Import::name(module, name));
    }
    if attributes.is_empty() {
        return None;
    }
    // `import json as _json`
    let public = name.trim_start_matches('_');
    if public != name && MODULES.contains(&public) && !plainly && has_any(public, attributes) {
        return Some(Import::aliased(public, name));
    }
    let (_, module) = ALIASES.iter().find(|(alias, _)| *alias == name)?;
    Some(Import::aliased(module, name))
}

/// The import of a function that has the name of its module.
pub(crate) fn function_of_module(name: &str, is_called: bool) -> Option<Import> {
    (is_called && matches!(name, "time" | "copy" | "glob" | "pprint")).then(|| Import::name(name, name))
}

/// What gives a name of Python 2 its meaning.
pub(crate) fn old(name: &str) -> Option<Statement> {
    if name == "cmp" {
        return Some(Statement::block("def cmp(a, b):\n    return (a > b) - (a < b)", function()));
    }
    if name == "reload" {
        return Some(Statement::line("from importlib import reload", TypeCounts::new()));
    }
    Some(Statement::line(format!("{name} = {}", builtin_now(name)?), TypeCounts::new()))
}

/// What gives a builtin the meaning that it had in Python 2, with what it needs.
pub(crate) fn of_python_2(name: &str) -> Option<(Option<Import>, Statement)> {
    match name {
        "bytes" => {
            let encodes = "def bytes(text, encoding='utf-8'):\n    return text.encode(encoding)";
            Some((None, Statement::block(encodes, function())))
        }
        "filter" | "map" | "zip" => {
            let lists = format!("def {name}(*args):\n    return list(builtins.{name}(*args))");
            Some((Some(Import::module("builtins")), Statement::block(lists, function())))
        }
        _ => None,
    }
}

/// The builtin that an error shows to be meant as in Python 2.
pub(crate) fn meant_as_in_python_2(message: &str) -> Option<&'static str> {
    if message == "string argument without an encoding" {
        return Some("bytes");
    }
    let of_lists = ["filter", "map", "zip"].into_iter().find(|name| {
        message.contains(&format!("'{name}' object")) || message.ends_with(&format!("of type '{name}' has no len()"))
    })?;
    Some(of_lists)
}

fn function() -> TypeCounts {
    [("function".to_owned(), 1)].into()
}

/// Whether a class of this name is an exception, as far as names tell.
pub(crate) fn is_exception(name: &str) -> bool {
    ["Error", "Exception", "Warning", "Exit", "Interrupt"].iter().any(|ending| name.ends_with(ending))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_show_which_builtins_are_meant_as_in_python_2() {
        assert_eq!(meant_as_in_python_2("'map' object is not subscriptable"), Some("map"));
        assert_eq!(meant_as_in_python_2("object of type 'zip' has no len()"), Some("zip"));
        assert_eq!(meant_as_in_python_2("string argument without an encoding"), Some("bytes"));
        assert_eq!(meant_as_in_python_2("'dict' object is not callable"), None);
    }

    #[test]
    fn a_name_means_what_the_code_does_with_it() {
        let meant =
            |name, attributes: &[&str], plainly| import(name, attributes, plainly).map(|import| import.to_string());
        let is = |import: &str| Some(import.to_owned());
        assert_eq!(meant("np", &["array"], false), is("import numpy as np"));
        assert_eq!(meant("timeit", &["repeat"], false), is("import timeit"));
        assert_eq!(meant("timeit", &[], true), is("from timeit import timeit"));
        assert_eq!(meant("datetime", &["now"], false), is("from datetime import datetime"));
        assert_eq!(meant("datetime", &["timedelta"], false), is("import datetime"));
        assert_eq!(meant("code", &["strip"], false), None);
        assert_eq!(meant("email", &["message_from_file"], false), is("import email"));
        assert_eq!((meant("email", &["subject"], false), meant("queue", &["put"], false)), (None, None));
        assert_eq!(meant("timezone", &["utc"], false), is("from datetime import timezone"));
        assert_eq!(meant("_json", &["loads"], false), is("import json as _json"));
        assert_eq!((meant("_time", &["left"], false), meant("_json", &[], true)), (None, None));
        assert_eq!((meant("t", &[], true), meant("os", &[], true)), (None, None));
    }
}
