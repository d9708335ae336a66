//! A prefix as its parts: imports, then statements.

use std::collections::{BTreeMap, BTreeSet};

use crate::import::Import;

/// The number of values that code makes, by the name of their type.
pub type TypeCounts = BTreeMap<String, u32>;

/// The type of objects that take whatever is asked of them.
pub(crate) const MOCK: &str = "MagicMock";

/// A statement at the top level.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Statement {
    text: String,
    /// It has a body of its own, so that an empty line stands before and behind it.
    is_block: bool,
    /// The sandbox does the same without it, and other machines do not.
    is_kept: bool,
    makes: TypeCounts,
}

impl Statement {
    pub(crate) fn line(text: impl Into<String>, makes: TypeCounts) -> Self {
        Self { text: text.into(), is_block: false, is_kept: false, makes }
    }

    /// The same, and it must stay.
    pub(crate) fn kept(self) -> Self {
        Self { is_kept: true, ..self }
    }

    pub(crate) fn block(text: impl Into<String>, makes: TypeCounts) -> Self {
        Self { text: text.into(), is_block: true, is_kept: false, makes }
    }
}

/// The parts of a prefix.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Code {
    pub(crate) imports: BTreeSet<Import>,
    pub(crate) statements: Vec<Statement>,
}

impl Code {
    /// The number of imports and statements.
    pub(crate) fn len(&self) -> usize {
        self.imports.len() + self.statements.len()
    }

    /// The values that it makes.
    pub(crate) fn makes(&self) -> TypeCounts {
        let mut makes = TypeCounts::new();
        for (kind, count) in self.statements.iter().flat_map(|statement| &statement.makes) {
            *makes.entry(kind.clone()).or_default() += count;
        }
        makes
    }

    /// The number of mocks among them.
    pub(crate) fn mocks(&self) -> u32 {
        self.statements.iter().filter_map(|statement| statement.makes.get(MOCK)).sum()
    }

    /// Python source. Empty if there are no parts.
    pub(crate) fn text(&self) -> String {
        self.write().0
    }

    /// The same without one part, imports first.
    pub(crate) fn without(&self, part: usize) -> Self {
        let mut rest = self.clone();
        match part.checked_sub(self.imports.len()) {
            Some(statement) => drop(rest.statements.remove(statement)),
            None => rest.imports = self.imports.iter().enumerate().filter(|(at, _)| *at != part).map(second).collect(),
        }
        rest
    }

    /// Whether a part stays although the snippet runs without it here.
    pub(crate) fn is_kept(&self, part: usize) -> bool {
        match part.checked_sub(self.imports.len()) {
            Some(at) => self.statements.get(at).is_some_and(|statement| statement.is_kept),
            None => self.imports.iter().nth(part).is_some_and(|import| self.uses_inner(import)),
        }
    }

    /// Whether a statement uses a module within another one. Somebody else may have imported it here, and that makes it an
    /// attribute of the outer one.
    fn uses_inner(&self, import: &Import) -> bool {
        let Import::Module { module, alias: None } = import else { return false };
        let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
        let uses = |text: &str| {
            text.match_indices(module.as_str()).any(|(at, _)| {
                let (before, behind) = (&text[..at], &text[at + module.len()..]);
                !before.ends_with(|letter| is_part(letter) || letter == '.') && !behind.starts_with(is_part)
            })
        };
        module.contains('.') && self.statements.iter().any(|statement| uses(&statement.text))
    }

    /// The part that holds a line of the text. The first line is 1.
    pub(crate) fn part_at(&self, line: u32) -> Option<usize> {
        let (text, begins) = self.write();
        let is_in = (1..=text.lines().count()).contains(&(line as usize));
        begins.iter().rposition(|&begin| begin <= line as usize).filter(|_| is_in)
    }

    /// The text, and the line on which each part begins.
    fn write(&self) -> (String, Vec<usize>) {
        let mut text = String::new();
        let mut begins = Vec::new();
        let mut line = 1;
        let mut add = |gap: bool, part: &str| {
            if gap && !text.is_empty() {
                text.push('\n');
                line += 1;
            }
            begins.push(line);
            text += part;
            text.push('\n');
            line += part.split('\n').count();
        };
        for import in &self.imports {
            add(false, &import.to_string());
        }
        let mut before: Option<&Statement> = None;
        for statement in &self.statements {
            add(statement.is_block || before.is_none_or(|before| before.is_block), &statement.text);
            before = Some(statement);
        }
        (text, begins)
    }
}

fn second((_, import): (usize, &Import)) -> Import {
    import.clone()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_within_another_one_stays_imported_where_it_is_used() {
        let code = |text: &str| Code {
            imports: [Import::module("a.b")].into(),
            statements: vec![Statement::line(text, TypeCounts::new())],
        };
        for (text, is_kept) in
            [("c = a.b.D()", true), ("a.b = 1", true), ("c = a.bc", false), ("c = x.a.b", false), ("c = a", false)]
        {
            assert_eq!(code(text).is_kept(0), is_kept, "{text}");
        }
    }

    #[test]
    fn a_part_goes_with_all_of_its_lines() {
        let code = Code {
            imports: [Import::module("a")].into(),
            statements: vec![
                Statement::line("b = f(\n    1,\n)", TypeCounts::new()),
                Statement::line("c = 2", [("int".into(), 1)].into()),
                Statement::block("def g():\n    return 2", [("function".into(), 1), ("int".into(), 2)].into()),
            ],
        };
        assert_eq!(code.text(), "import a\n\nb = f(\n    1,\n)\nc = 2\n\ndef g():\n    return 2\n");
        assert_eq!((code.len(), code.makes()), (4, [("function".into(), 1), ("int".into(), 3)].into()));
        let parts: Vec<Option<usize>> = (0..=10).map(|line| code.part_at(line)).collect();
        let expected = [None, Some(0), Some(0), Some(1), Some(1), Some(1), Some(2), Some(2), Some(3), Some(3), None];
        assert_eq!(parts, expected);
        assert_eq!(code.without(0).text(), "b = f(\n    1,\n)\nc = 2\n\ndef g():\n    return 2\n");
        assert_eq!(code.without(3).text(), "import a\n\nb = f(\n    1,\n)\nc = 2\n");
        assert_eq!(Code::default().text(), "");
    }
}
