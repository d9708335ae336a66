//! How code reads environment variables.

use super::{AccessPath, arguments, text_of};

/// The name of the environment variable that code reads at a path: `HOME` for `os.environ['HOME']`,
/// `os.environ.get('HOME', '/')`, `os.environ.setdefault('HOME', '/')` and `os.getenv('HOME')`.
pub fn environment_key(path: AccessPath<'_>) -> Option<&str> {
    if !path.as_str().starts_with("os.") {
        return None;
    }
    if let Some((holder, key)) = path.split_item() {
        return name(key).filter(|_| holder.as_str() == "os.environ");
    }
    let (callee, passed) = path.split_call()?;
    let key = arguments(passed).next().and_then(name);
    key.filter(|_| matches!(callee.as_str(), "os.environ.get" | "os.environ.setdefault" | "os.getenv"))
}

/// A text that may be the name of a variable.
fn name(literal: &str) -> Option<&str> {
    text_of(literal).filter(|name| !name.is_empty() && !name.contains('='))
}

#[cfg(test)]
mod tests {
    use super::environment_key;

    #[test]
    fn a_variable_is_known_where_its_name_is_written() {
        for path in
            ["os.environ['HOME']", "os.environ.get('HOME')", "os.environ.get(\"HOME\", '/')", "os.getenv('HOME')"]
        {
            assert_eq!(environment_key(path.into()), Some("HOME"), "{path}");
        }
        for path in ["os.environ", "os.environ[name]", "os.environ.get(name)", "environ.get('HOME')", "os.getenv()"] {
            assert_eq!(environment_key(path.into()), None, "{path}");
        }
    }
}
