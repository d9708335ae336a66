//! How code reads environment variables.

use super::{AccessPath, arguments};

/// The name of the environment variable that code reads at a path: `HOME` for `os.environ['HOME']`,
/// `os.environ.get('HOME', '/')` and `os.getenv('HOME')`.
pub fn environment_key(path: &str) -> Option<&str> {
    if !path.starts_with("os.") {
        return None;
    }
    let path = AccessPath::new(path);
    if let Some((holder, key)) = path.split_item() {
        return text(key).filter(|_| holder.as_str() == "os.environ");
    }
    let (callee, passed) = path.split_call()?;
    let key = arguments(passed).next().and_then(text);
    key.filter(|_| matches!(callee.as_str(), "os.environ.get" | "os.getenv"))
}

/// The content of a plain text in quotes.
fn text(written: &str) -> Option<&str> {
    let written = written.trim();
    let inner = ["'", "\""].iter().find_map(|quote| written.strip_prefix(quote)?.strip_suffix(quote))?;
    (!inner.is_empty() && !inner.contains(['\\', '\'', '"', '='])).then_some(inner)
}

#[cfg(test)]
mod tests {
    use super::environment_key;

    #[test]
    fn a_variable_is_known_where_its_name_is_written() {
        for path in
            ["os.environ['HOME']", "os.environ.get('HOME')", "os.environ.get(\"HOME\", '/')", "os.getenv('HOME')"]
        {
            assert_eq!(environment_key(path), Some("HOME"), "{path}");
        }
        for path in ["os.environ", "os.environ[name]", "os.environ.get(name)", "environ.get('HOME')", "os.getenv()"] {
            assert_eq!(environment_key(path), None, "{path}");
        }
    }
}
