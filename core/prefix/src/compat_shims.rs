//! What does the work of something that this Python or this sandbox does not offer: names of Python 2, functions that have
//! moved, programs and processes that must not start. A person would write the same in place of a mock.

use crate::code::{Statement, TypeCounts};
use crate::import::Import;
use crate::reading::Reading;
use twincell_sketch::Test;

/// What a program prints that nobody runs.
const OUTPUT: &str = "name 1 2 3\\n";

/// Modules of Python 2, and where they are now.
const MODULES: &[(&str, &str)] = &[
    ("BaseHTTPServer", "http.server"),
    ("ConfigParser", "configparser"),
    ("Cookie", "http.cookies"),
    ("HTMLParser", "html.parser"),
    ("Queue", "queue"),
    ("SimpleHTTPServer", "http.server"),
    ("SocketServer", "socketserver"),
    ("StringIO", "io"),
    ("__builtin__", "builtins"),
    ("cPickle", "pickle"),
    ("cStringIO", "io"),
    ("commands", "subprocess"),
    ("cookielib", "http.cookiejar"),
    ("copy_reg", "copyreg"),
    ("httplib", "http.client"),
    ("thread", "_thread"),
    ("urlparse", "urllib.parse"),
    ("xmlrpclib", "xmlrpc.client"),
];

/// Functions and classes by their dotted names, with expressions that do their work.
const NAMES: &[(&str, &str)] = &[
    ("cgi.escape", "html.escape"),
    ("concurrent.futures.ProcessPoolExecutor", "concurrent.futures.ThreadPoolExecutor"),
    ("fractions.gcd", "math.gcd"),
    ("inspect.getargspec", "inspect.getfullargspec"),
    ("itertools.ifilter", "filter"),
    ("itertools.imap", "map"),
    ("itertools.izip", "zip"),
    ("itertools.izip_longest", "itertools.zip_longest"),
    ("logging.FileHandler", "lambda *args, **kwargs: logging.StreamHandler()"),
    ("logging.handlers.RotatingFileHandler", "lambda *args, **kwargs: logging.StreamHandler()"),
    ("logging.handlers.TimedRotatingFileHandler", "lambda *args, **kwargs: logging.StreamHandler()"),
    ("multiprocessing.Pool", "multiprocessing.pool.ThreadPool"),
    ("multiprocessing.Process", "threading.Thread"),
    ("numpy.bool", "bool"),
    ("numpy.float", "float"),
    ("numpy.int", "int"),
    ("numpy.object", "object"),
    ("numpy.str", "str"),
    ("os.getcwdu", "os.getcwd"),
    ("os.system", "lambda command: 0"),
    ("pdb.set_trace", "lambda: None"),
    ("string.letters", "string.ascii_letters"),
    ("string.lowercase", "string.ascii_lowercase"),
    ("string.maketrans", "str.maketrans"),
    ("string.uppercase", "string.ascii_uppercase"),
    ("subprocess.call", "lambda *args, **kwargs: 0"),
    ("subprocess.check_call", "lambda *args, **kwargs: 0"),
    ("sys.maxint", "sys.maxsize"),
    ("sys.setdefaultencoding", "lambda encoding: None"),
    ("time.clock", "time.perf_counter"),
    // It runs what is scheduled once: a function that schedules itself would never end.
    ("sched.scheduler.run", "lambda self, blocking=True: [event.action(*event.argument) for event in self.queue]"),
    // It runs what it measures once.
    ("timeit.Timer.timeit", "lambda self, number=1: self.inner([None], self.timer)"),
    ("types.DictType", "dict"),
    ("types.IntType", "int"),
    ("types.ListType", "list"),
    ("types.StringType", "str"),
    ("urllib.quote", "urllib.parse.quote"),
    ("urllib.quote_plus", "urllib.parse.quote_plus"),
    ("urllib.unquote", "urllib.parse.unquote"),
    ("urllib.urlencode", "urllib.parse.urlencode"),
];

/// Classes that moved from `collections` to `collections.abc`.
const COLLECTIONS: &[&str] = &[
    "Callable",
    "Container",
    "Hashable",
    "ItemsView",
    "Iterable",
    "Iterator",
    "KeysView",
    "Mapping",
    "MappingView",
    "MutableMapping",
    "MutableSequence",
    "MutableSet",
    "Sequence",
    "Set",
    "Sized",
    "ValuesView",
];

/// The module that one of Python 2 is now.
pub(crate) fn module(name: &str) -> Option<&'static str> {
    MODULES.iter().find(|(old, _)| *old == name).map(|(_, now)| *now)
}

/// Whether something else does the work of what has this dotted name.
pub(crate) fn is_known(dotted: &str) -> bool {
    expression(dotted).is_some() || of_programs(dotted, false).is_some() || dotted == "subprocess.Popen"
}

fn expression(dotted: &str) -> Option<String> {
    if let Some(class) = dotted.strip_prefix("collections.").filter(|class| COLLECTIONS.contains(class)) {
        return Some(format!("collections.abc.{class}"));
    }
    NAMES.iter().find(|(old, _)| *old == dotted).map(|(_, now)| (*now).to_owned())
}

/// What gives what programs would print.
fn of_programs(dotted: &str, is_bytes: bool) -> Option<String> {
    let output = text("name 1 2 3\\n", is_bytes);
    let nothing = text("", is_bytes);
    Some(match dotted {
        "os.popen" => format!("lambda *args: io.StringIO('{OUTPUT}')"),
        "subprocess.check_output" => format!("lambda *args, **kwargs: {output}"),
        "subprocess.getoutput" => "lambda command: 'name 1 2 3'".into(),
        "subprocess.getstatusoutput" => "lambda command: (0, 'name 1 2 3')".into(),
        "subprocess.run" => {
            format!("lambda *args, **kwargs: subprocess.CompletedProcess(args, 0, {output}, {nothing})")
        }
        _ => return None,
    })
}

fn text(text: &str, is_bytes: bool) -> String {
    format!("{}'{text}'", if is_bytes { "b" } else { "" })
}

/// The statements that put something else in the place of what has this dotted name, with the imports that they need.
pub(crate) fn statements(dotted: &str, reading: &Reading) -> Option<(Vec<Import>, Vec<Statement>)> {
    // Who decodes what a program prints gets bytes.
    let is_bytes = reading.attributes.contains("decode");
    let (module, name) = dotted.rsplit_once('.')?;
    let made = |kind: &str| -> TypeCounts { [(kind.to_owned(), 1)].into() };
    if dotted == "subprocess.Popen" {
        let streams = if has_descriptor(reading) { Import::module("tempfile") } else { Import::module("io") };
        let imports = vec![streams, Import::module("subprocess")];
        let place = Statement::line("subprocess.Popen = Popen", TypeCounts::new());
        return Some((imports, vec![Statement::block(popen(reading, is_bytes), made("type")), place]));
    }
    let now = expression(dotted).or_else(|| of_programs(dotted, is_bytes))?;
    let kind = if now.starts_with("lambda") { made("function") } else { TypeCounts::new() };
    // Methods are within a class of their module.
    let imported = match dotted {
        "sched.scheduler.run" | "timeit.Timer.timeit" => module.split('.').next().unwrap_or(module),
        _ => module,
    };
    let mut imports = vec![Import::module(imported)];
    // The modules that the expression names: what stands before the last dot of dotted words.
    for word in now.split(|character: char| !character.is_alphanumeric() && !matches!(character, '.' | '_')) {
        if let Some((holder, _)) = word.rsplit_once('.')
            && !matches!(holder, "str" | "self" | "event" | "")
            && !word.starts_with(|first: char| first.is_ascii_digit())
            && holder != imported
        {
            imports.push(Import::module(holder));
        }
    }
    let text = format!("{module}.{name} = {now}");
    let text = if imported == module { text } else { format!("# Once is enough.\n{text}") };
    let statement = Statement::line(text, kind);
    // Each trial without it would take as long as what it shortens.
    let statement = if imported == module { statement } else { statement.kept() };
    Some((imports, vec![statement]))
}

/// Whether the snippet asks for the descriptors of files, which only those of the system have.
fn has_descriptor(reading: &Reading) -> bool {
    reading.attributes.contains("fileno")
}

/// A class for programs that have ended, with what the snippet asks of them.
fn popen(reading: &Reading, is_bytes: bool) -> String {
    let asks = |name: &str| reading.attributes.contains(name);
    let is_file = has_descriptor(reading);
    let stream = |printed: &str| match is_bytes {
        _ if is_file => "tempfile.TemporaryFile()".to_owned(),
        true => format!("io.BytesIO(b'{printed}')"),
        false => format!("io.StringIO('{printed}')"),
    };
    // Who waits until it has ended finds it running at first.
    let is_awaited = is_awaited(reading);
    let mut fields: Vec<String> = Vec::new();
    for (name, printed) in [("stdin", ""), ("stdout", OUTPUT), ("stderr", "")] {
        if asks(name) {
            fields.push(format!("        self.{name} = {}", stream(printed)));
            if is_file && !printed.is_empty() {
                fields.push(format!("        self.{name}.write(b'{printed}')\n        self.{name}.seek(0)"));
            }
        }
    }
    if is_awaited {
        fields.push("        self.polls = [None, 0]".into());
    }
    for (name, value) in [("returncode", "0"), ("pid", "1")] {
        if asks(name) {
            fields.push(format!("        self.{name} = {value}"));
        }
    }
    let body = if fields.is_empty() { "        pass".into() } else { fields.join("\n") };
    let mut parts = vec![format!("class Popen:\n    def __init__(self, *args, **kwargs):\n{body}")];
    let (output, nothing) = (text(OUTPUT, is_bytes), text("", is_bytes));
    if asks("communicate") {
        parts.push(format!("    def communicate(self, *args, **kwargs):\n        return {output}, {nothing}"));
    }
    for name in ["poll", "wait"] {
        let status = if name == "poll" && is_awaited { "self.polls.pop(0) if self.polls else 0" } else { "0" };
        if asks(name) {
            parts.push(format!("    def {name}(self, *args, **kwargs):\n        return {status}"));
        }
    }
    for name in ["kill", "send_signal", "terminate"] {
        if asks(name) {
            parts.push(format!("    def {name}(self, *args):\n        pass"));
        }
    }
    if reading.has_with {
        parts.push("    def __enter__(self):\n        return self".into());
        parts.push("    def __exit__(self, *args):\n        pass".into());
    }
    parts.join("\n\n")
}

/// Whether the snippet asks if a program is still running.
fn is_awaited(reading: &Reading) -> bool {
    let sketch = &reading.sketch;
    let polled = sketch.sources.iter().filter(|source| source.origin == "subprocess.Popen().poll");
    polled.flat_map(|source| &sketch.value(source.value).asked).any(|asked| asked.test != Test::Truth)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(dotted: &str, text: &str) -> String {
        let (imports, statements) = statements(dotted, &Reading::new(text)).unwrap();
        crate::code::Code { imports: imports.into_iter().collect(), statements }.text()
    }

    #[test]
    fn what_has_moved_is_where_it_is_now() {
        assert_eq!(
            written("collections.Mapping", ""),
            "import collections\nimport collections.abc\n\ncollections.Mapping = collections.abc.Mapping\n"
        );
        assert_eq!(written("string.maketrans", ""), "import string\n\nstring.maketrans = str.maketrans\n");
        assert_eq!((module("Queue"), module("queue")), (Some("queue"), None));
    }

    #[test]
    fn what_is_scheduled_runs_once() {
        let now = "lambda self, blocking=True: [event.action(*event.argument) for event in self.queue]";
        assert_eq!(
            written("sched.scheduler.run", ""),
            format!("import sched\n\n# Once is enough.\nsched.scheduler.run = {now}\n")
        );
    }

    #[test]
    fn a_program_prints_what_the_code_reads() {
        assert_eq!(
            written("subprocess.check_output", "print(check_output('ls').decode())\n"),
            "import subprocess\n\nsubprocess.check_output = lambda *args, **kwargs: b'name 1 2 3\\n'\n"
        );
        assert_eq!(
            written("os.popen", ""),
            "import io\nimport os\n\nos.popen = lambda *args: io.StringIO('name 1 2 3\\n')\n"
        );
        let popen = written("subprocess.Popen", "out, _ = p.communicate()\nfor line in p.stdout:\n    pass\n");
        let expected = "import io\nimport subprocess\n\nclass Popen:\n    def __init__(self, *args, **kwargs):\n        \
                        self.stdout = io.StringIO('name 1 2 3\\n')\n\n    def communicate(self, *args, **kwargs):\n        \
                        return 'name 1 2 3\\n', ''\n\nsubprocess.Popen = Popen\n";
        assert_eq!(popen, expected);
    }
}
