//! The same test for the project itself: it imports what it tests, and holds no copy of it.

/// A test of a function or class that is imported. It needs nothing of its module but this.
#[derive(Debug, Clone, PartialEq)]
pub struct ProjectTest {
    /// What it tests, by its qualified name: `Cart.total`.
    pub qualname: String,
    /// What the lines use, by its qualified name: that, or the class of a method.
    pub used: String,
    /// What the lines call it.
    pub called: String,
    /// The name of the test function.
    pub name: String,
    /// Import statements of the standard library and of pytest.
    pub imports: Vec<String>,
    /// The statements of the test function.
    pub lines: Vec<String>,
    /// Whether mocks stand for objects in them.
    pub has_mocks: bool,
}

impl ProjectTest {
    /// Whether it tests a function or a class by itself, on plain values: no stand-ins for objects, not even for `self`.
    pub fn is_plain(&self) -> bool {
        !self.qualname.contains('.') && !self.has_mocks
    }

    /// The test as a file, for a module by the name that imports have for it.
    pub fn of_module(&self, module: &str) -> String {
        let first = self.qualname.split('.').next().unwrap_or(&self.qualname);
        let mut imports = self.imports.clone();
        let third: Vec<String> = imports.extract_if(.., |line| line.trim() == "import pytest").collect();
        let mut blocks = Vec::new();
        if !imports.is_empty() {
            blocks.push(imports.join("\n"));
        }
        if !third.is_empty() {
            blocks.push("import pytest".to_owned());
        }
        blocks.push(format!("from {module} import {first}"));
        let bound = (self.called != self.used).then(|| format!("{} = {}", self.called, self.used));
        let lines: String =
            bound.iter().chain(&self.lines).map(|line| format!("    {}\n", line.replace('\n', "\n    "))).collect();
        format!("{}\n\n\ndef {}():\n{lines}", blocks.join("\n\n"), self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_imports_what_it_tests() {
        let test = ProjectTest {
            qualname: "Cart.total".into(),
            used: "Cart.total".into(),
            called: "total".into(),
            name: "test_total".into(),
            imports: vec!["import io".into(), "\nimport pytest".into()],
            lines: vec!["assert total(1) == 2".into()],
            has_mocks: false,
        };
        assert_eq!(
            test.of_module("shop.cart"),
            "import io\n\nimport pytest\n\nfrom shop.cart import Cart\n\n\ndef test_total():\n    total = Cart.total\n    \
             assert total(1) == 2\n"
        );
    }
}
