//! What Python 2 had: modules that are gone, and builtins that have other names now.

use super::is_of_stdlib;

/// Modules of Python 2, whose names others have taken since.
const OF_PYTHON_2: &[&str] = &[
    "BaseHTTPServer",
    "CGIHTTPServer",
    "ConfigParser",
    "Cookie",
    "HTMLParser",
    "Queue",
    "ScrolledText",
    "SimpleHTTPServer",
    "SimpleXMLRPCServer",
    "SocketServer",
    "StringIO",
    "Tix",
    "Tkconstants",
    "Tkinter",
    "UserDict",
    "__builtin__",
    "_winreg",
    "anydbm",
    "cPickle",
    "cStringIO",
    "commands",
    "cookielib",
    "copy_reg",
    "exceptions",
    "htmlentitydefs",
    "httplib",
    "md5",
    "popen2",
    "robotparser",
    "sets",
    "sha",
    "thread",
    "tkFileDialog",
    "tkFont",
    "tkMessageBox",
    "tkSimpleDialog",
    "ttk",
    "urllib2",
    "urlparse",
    "xmlrpclib",
];

/// Names of Python 2 that later versions have under other names, each with what it is now.
const OLD: &[(&str, &str)] = &[
    ("basestring", "str"),
    ("long", "int"),
    ("raw_input", "input"),
    ("unichr", "chr"),
    ("unicode", "str"),
    ("xrange", "range"),
];

/// Whether a module comes with some version of Python.
pub fn is_of_python(module: &str) -> bool {
    let root = module.split('.').next().unwrap_or_default();
    root == "__main__" || OF_PYTHON_2.contains(&root) || is_of_stdlib(root)
}

/// The name that a builtin of Python 2 has now.
pub fn builtin_now(name: &str) -> Option<&'static str> {
    OLD.iter().find(|(old, _)| *old == name).map(|(_, now)| *now)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_some_python_has_is_no_library() {
        assert!(
            ["os.path", "urllib2", "distutils.core", "asyncore", "tomllib"].iter().all(|module| is_of_python(module))
        );
        assert!(!["numpy", "yaml", "ujson"].iter().any(|module| is_of_python(module)));
    }
}
