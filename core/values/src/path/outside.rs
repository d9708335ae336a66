//! What is outside of the code, as decisions name it: `file('a.txt')`, `program('git status').stdout`,
//! `http('GET', 'https://example.com/').text`, `shutil.which('git')`.

use super::{AccessPath, text_of};

/// Something outside, of which a decision speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outside<'a> {
    /// What is at a path below the working folder: None, a text, or a list for a folder.
    File(&'a str),
    /// A program, by its command as a shell would have it, or whether there is one.
    Program,
    /// What a server answers.
    Server,
}

impl<'a> Outside<'a> {
    /// Of the value at a path.
    pub fn of(path: AccessPath<'a>) -> Option<Self> {
        let text = path.as_str();
        if let Some(name) = text.strip_prefix("file(").and_then(|rest| rest.strip_suffix(')')) {
            return text_of(name).map(Self::File);
        }
        match text {
            _ if text.starts_with("program(") || text.starts_with("shutil.which(") => Some(Self::Program),
            _ if text.starts_with("http(") => Some(Self::Server),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_outside_is_known_by_how_its_path_begins() {
        let of = |path: &'static str| Outside::of(path.into());
        assert_eq!(of("file('a/b.txt')"), Some(Outside::File("a/b.txt")));
        assert_eq!(of("program('git status').stdout"), Some(Outside::Program));
        assert_eq!(of("shutil.which('git')"), Some(Outside::Program));
        assert_eq!(of("http('GET', 'https://example.com/').text"), Some(Outside::Server));
        assert_eq!([of("profile('a')"), of("file(name)"), of("self.file('a')")], [None; 3]);
    }
}
