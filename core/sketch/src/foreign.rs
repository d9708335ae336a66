//! What the names of functions and modules tell of where they come from.

use twincell_syntax::python::{is_builtin, is_of_python};

/// Whether a dotted name is one of a library that may not be here, or of a part of Python that does little in a sandbox, so
/// that something may have to stand in for it. Libraries that are known well have stand-ins of their own.
pub(crate) fn is_foreign(origin: &str) -> bool {
    const KNOWN: &[&str] = &["aiohttp", "httpx", "matplotlib", "numpy", "pandas", "requests", "urllib2"];
    const OUTSIDE: &[&str] = &["select", "smtplib", "socket", "tkinter", "turtle"];
    let root = origin.split(['.', '(']).next().unwrap_or_default();
    OUTSIDE.contains(&root) || !KNOWN.contains(&root) && !is_of_python(root) && !is_builtin(root)
}

/// Whether a dotted name is of a function that opens a file as `open` does.
pub fn opens(origin: &str) -> bool {
    matches!(origin, "open" | "io.open" | "codecs.open")
}
