//! Which files of a repository are its tests.

/// Whether a file, by its path with slashes, is one of the tests or of what they need.
pub fn is_test(path: &str) -> bool {
    let mut parts = path.split('/').rev();
    let name = parts.next().unwrap_or("");
    let is_named =
        name.starts_with("test_") || name.ends_with("_test.py") || name == "conftest.py" || name == "setup.py";
    is_named || parts.any(|part| part == "tests" || part == "test")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_and_what_they_need_are_no_changed_code() {
        for path in ["tests/test_a.py", "shop/tests/data.py", "conftest.py", "shop/test_a.py", "a_test.py", "test/x.py"]
        {
            assert!(is_test(path), "{path}");
        }
        for path in ["shop/cart.py", "shop/testing.py", "latest.py", "contest.py"] {
            assert!(!is_test(path), "{path}");
        }
    }
}
