//! Where a function is at each commit of a line: its file and its name may be others further back.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use ruff_python_ast::{Expr, Stmt};
use twincell_repo::{CommitId, FileId, Repo, RepoError};
use twincell_syntax::parse::{Lines, errors, parse};
use twincell_syntax::{Function, classes, entity, functions, pair, similar_names, snippet};

use crate::Decode;
use crate::result::Place;

/// The maximum size in bytes of a module, and of one in which a function is looked for that moved.
const MAX_MODULE: usize = 2 << 20;
const MAX_OTHER: usize = 512 << 10;
/// The maximum number of changed files of one commit in which it is looked for.
const MAX_FILES: usize = 300;
/// The maximum number of functions of one commit that are taken for it.
const MAX_GONE: usize = 5_000;

/// What a commit has of the function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Presence {
    Present,
    Absent,
    /// The file is no valid Python.
    Unreadable {
        message: String,
        line: u32,
    },
}

/// The function at one commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    pub place: Place,
    pub file: Option<FileId>,
    pub presence: Presence,
}

/// What was read of texts, for all lines.
#[derive(Debug, Default)]
pub struct Texts {
    presences: HashMap<(FileId, String), Presence>,
}

/// Follows a function along a line of commits, newest first.
pub struct Follower<'r> {
    repo: &'r Repo,
    decode: Decode,
    line: Vec<CommitId>,
    /// The commit that comes before the line, if one does, and where the function is there.
    before: (Option<CommitId>, Found),
    found: Vec<Found>,
}

impl<'r> Follower<'r> {
    /// From the place at the first commit of a line.
    pub fn at(repo: &'r Repo, decode: Decode, line: Vec<CommitId>, place: Place) -> Self {
        let before = (None, Found { place, file: None, presence: Presence::Absent });
        Self { repo, decode, line, before, found: vec![] }
    }

    /// From the place at a commit of which the first one of the line is a parent.
    pub fn behind(repo: &'r Repo, decode: Decode, line: Vec<CommitId>, child: CommitId, found: Found) -> Self {
        Self { repo, decode, line, before: (Some(child), found), found: vec![] }
    }

    pub fn line(&self) -> &[CommitId] {
        &self.line
    }

    /// The number of commits at which it is known where the function is.
    pub fn known(&self) -> usize {
        self.found.len()
    }

    /// Where the function is at a commit of the line.
    ///
    /// # Errors
    ///
    /// Where git cannot read a version.
    pub fn find(&mut self, at: usize, texts: &mut Texts) -> Result<Found, RepoError> {
        while self.found.len() <= at {
            let index = self.found.len();
            let (child, known) = match index {
                0 => (self.before.0, &self.before.1),
                _ => (Some(self.line[index - 1]), &self.found[index - 1]),
            };
            let next = self.next(self.line[index], child, known, texts)?;
            self.found.push(next);
        }
        Ok(self.found[at].clone())
    }

    /// The functions and classes of a file whose names resemble one.
    ///
    /// # Errors
    ///
    /// Where git cannot read the file.
    pub fn similar(&self, file: FileId, function: &str) -> Result<Vec<String>, RepoError> {
        let text = self.text(file, MAX_MODULE)?.unwrap_or_default();
        let known = definitions(&text);
        let similar = similar_names(function, known.iter().map(Function::entity));
        Ok(similar.into_iter().map(str::to_owned).collect())
    }

    fn next(
        &self,
        commit: CommitId,
        child: Option<CommitId>,
        known: &Found,
        texts: &mut Texts,
    ) -> Result<Found, RepoError> {
        let file = self.repo.file_at(commit, Path::new(&known.place.file))?;
        if file.is_some() && file == known.file {
            return Ok(known.clone());
        }
        let presence = self.presence(file, &known.place.function, texts)?;
        let found = Found { place: known.place.clone(), file, presence };
        if let (Presence::Absent, Presence::Present | Presence::Unreadable { .. }, Some(child)) =
            (&found.presence, &known.presence, child)
            && let Some(place) = self.source(commit, child, known)?
        {
            let file = self.repo.file_at(commit, Path::new(&place.file))?;
            let presence = self.presence(file, &place.function, texts)?;
            return Ok(Found { place, file, presence });
        }
        Ok(found)
    }

    fn presence(&self, file: Option<FileId>, function: &str, texts: &mut Texts) -> Result<Presence, RepoError> {
        let Some(file) = file else { return Ok(Presence::Absent) };
        let key = (file, function.to_owned());
        if let Some(known) = texts.presences.get(&key) {
            return Ok(known.clone());
        }
        let presence = match self.text(file, MAX_MODULE)? {
            Some(text) => presence(&text, function),
            None => Presence::Unreadable { message: "the file is too large".to_owned(), line: 0 },
        };
        texts.presences.insert(key, presence.clone());
        Ok(presence)
    }

    fn text(&self, file: FileId, most: usize) -> Result<Option<String>, RepoError> {
        // What is no text is looked through as well as can be; where it is to run, it is left out.
        let decoded =
            |bytes: Vec<u8>| (self.decode)(&bytes).unwrap_or_else(|_| String::from_utf8_lossy(&bytes).into_owned());
        Ok(self.repo.bytes(file, most)?.map(decoded))
    }

    /// Where the function was at a commit, which the next one has in `known`: in a file of another name, or the most similar
    /// one of those that are gone.
    fn source(&self, commit: CommitId, child: CommitId, known: &Found) -> Result<Option<Place>, RepoError> {
        let changed = self.repo.changed_files(commit, child)?;
        let place = |path: &Path, function: &str| {
            Some(Place { file: path.to_str()?.to_owned(), function: function.to_owned() })
        };
        let own = Path::new(&known.place.file);
        let renamed = changed.iter().find(|one| one.new.as_deref() == Some(own));
        if let Some(old) = renamed.and_then(|one| one.old.as_deref()).filter(|old| *old != own)
            && let Some(file) = self.repo.file_at(commit, old)?
            && let Some(text) = self.text(file, MAX_MODULE)?
            && presence(&text, &known.place.function) != Presence::Absent
        {
            return Ok(place(old, &known.place.function));
        }
        let Some(text) = known.file.map(|file| self.text(file, MAX_MODULE)).transpose()?.flatten() else {
            return Ok(None);
        };
        let Some(function) = definition(&text, &known.place.function) else { return Ok(None) };
        // Each with its file, and whether its file still has one of this name.
        let mut gone: Vec<(&Path, bool, Function)> = Vec::new();
        for one in changed.iter().take(MAX_FILES) {
            let Some(old) = one.old.as_deref() else { continue };
            let Some(before) = self.repo.file_at(commit, old)? else { continue };
            let Some(before) = self.text(before, MAX_OTHER)? else { continue };
            let after = match one.new.as_deref() {
                Some(new) => {
                    self.repo.file_at(child, new)?.map(|file| self.text(file, MAX_OTHER)).transpose()?.flatten()
                }
                None => None,
            };
            // What stays as it was is no source. What stays under its name and lost its text may be one.
            let stays = after.map(|text| definitions(&text)).unwrap_or_default();
            let kept: HashSet<(&str, &str)> =
                stays.iter().map(|one| (one.qualname.as_str(), one.text.as_str())).collect();
            let names: HashSet<&str> = kept.iter().map(|(name, _)| *name).collect();
            let is_kept = |one: &Function| kept.contains(&(one.qualname.as_str(), one.text.as_str()));
            let changed = definitions(&before).into_iter().filter(|one| one.kind == function.kind && !is_kept(one));
            let most = MAX_GONE.saturating_sub(gone.len());
            gone.extend(changed.take(most).map(|one| (old, names.contains(one.qualname.as_str()), one)));
        }
        // One of the same name that is gone has moved. Others are told by their texts: the names here are numbers.
        let same = gone.iter().find(|(_, stays, one)| !stays && one.entity() == function.entity());
        if let Some((path, _, one)) = same {
            return Ok(place(path, one.entity()));
        }
        let numbered = |number: usize, one: &Function| Function { qualname: number.to_string(), ..one.clone() };
        let candidates = gone.iter().enumerate().map(|(number, (.., one))| numbered(number, one)).collect();
        let paired = pair(candidates, vec![numbered(gone.len(), &function)]).pairs;
        let number = paired.first().and_then(|(before, _)| before.qualname.parse::<usize>().ok());
        let source = number.and_then(|number| gone.get(number));
        Ok(source.and_then(|(path, _, one)| place(path, entity(&one.qualname))))
    }
}

/// Functions and classes.
fn definitions(text: &str) -> Vec<Function> {
    let (mut found, _) = functions(text);
    found.extend(classes(text));
    found
}

/// The definition with a qualified name.
pub fn definition(text: &str, function: &str) -> Option<Function> {
    definitions(text).into_iter().find(|one| one.entity() == function)
}

/// Whether a module has what a qualified name asks for: a definition, an import, or a method that its class may inherit.
pub fn presence(text: &str, function: &str) -> Presence {
    let parsed = parse(text);
    if let Some(error) = errors(&parsed, &Lines::new(text)).first() {
        return Presence::Unreadable { message: error.message.clone(), line: error.line };
    }
    let (root, inner) = function.split_once('.').map_or((function, false), |(root, _)| (root, true));
    let is_defined = definition(text, function).is_some();
    let own_class = || classes(text).into_iter().find(|one| one.entity() == root);
    let imports_all = || {
        let imports = parsed.suite().iter().filter_map(|stmt| stmt.as_import_from_stmt());
        imports.flat_map(|import| &import.names).any(|alias| &alias.name == "*")
    };
    let is_bound = || snippet(text).bound.contains(root) || imports_all();
    let is_there = match inner {
        _ if is_defined => true,
        false => is_bound(),
        true => match own_class() {
            Some(class) => may_have(&class, function.rsplit('.').next().unwrap_or_default()),
            None => is_bound(),
        },
    };
    if is_there { Presence::Present } else { Presence::Absent }
}

/// Whether a class may have a method that it does not define by a `def`: it inherits, something else makes it, or every class
/// has it.
fn may_have(class: &Function, method: &str) -> bool {
    if !class.decorators.is_empty() {
        return true;
    }
    let parsed = parse(&class.text);
    let class = parsed.suite().first().and_then(|stmt| stmt.as_class_def_stmt());
    let names = |target: &Expr| target.as_name_expr().is_some_and(|name| name.id == method);
    class.is_some_and(|class| {
        let is_bound = |stmt: &Stmt| match stmt {
            Stmt::Assign(stmt) => stmt.targets.iter().any(names),
            Stmt::AnnAssign(stmt) => names(&stmt.target),
            Stmt::FunctionDef(_) | Stmt::ClassDef(_) | Stmt::Expr(_) | Stmt::Pass(_) => false,
            // Whatever stands in it.
            _ => true,
        };
        let makes = class.arguments.as_ref().is_some_and(|arguments| !arguments.keywords.is_empty());
        makes
            || method.starts_with("__") && method.ends_with("__")
            || class.bases().iter().any(|base| base.as_name_expr().is_none_or(|name| name.id != "object"))
            || class.body.iter().any(is_bound)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn utf8(bytes: &[u8]) -> Result<String, String> {
        String::from_utf8(bytes.to_vec()).map_err(|error| error.to_string())
    }

    #[test]
    fn a_module_has_what_it_defines_imports_or_inherits() {
        let text = "from .a import moved\ntry:\n    import fast as quick\nexcept ImportError:\n    def quick(): pass\n\
                    class A(Base):\n    def f(self): pass\nclass B:\n    def g(self): pass\nh = lambda: 1\n\
                    class P:\n    p = property(h)\n@dataclass\nclass D:\n    x: int\n";
        for there in
            ["moved", "quick", "A", "A.f", "A.inherited", "B.g", "h", "moved.method", "P.p", "D.total", "B.__eq__"]
        {
            assert_eq!(presence(text, there), Presence::Present, "{there}");
        }
        for absent in ["none", "B.f", "C.f", "f", "P.q"] {
            assert_eq!(presence(text, absent), Presence::Absent, "{absent}");
        }
        assert!(matches!(presence("def f(:\n", "f"), Presence::Unreadable { line: 1, .. }));
    }

    /// Commits each of these sets of files on the one before, and returns the places of a function, newest first.
    fn places(commits: &[&[(&str, &str)]], file: &str, function: &str) -> Vec<(String, String, bool)> {
        let folder = tempfile::tempdir().unwrap();
        let git = git2::Repository::init(folder.path()).unwrap();
        let author = git2::Signature::new("A", "a@example.org", &git2::Time::new(1_700_000_000, 0)).unwrap();
        for files in commits {
            let mut builder = git.treebuilder(None).unwrap();
            for (path, text) in *files {
                builder.insert(path, git.blob(text.as_bytes()).unwrap(), 0o100_644).unwrap();
            }
            let tree = git.find_tree(builder.write().unwrap()).unwrap();
            let parent = git.head().ok().map(|head| head.peel_to_commit().unwrap());
            git.commit(Some("HEAD"), &author, &author, "one", &tree, &parent.iter().collect::<Vec<_>>()).unwrap();
        }
        let repo = Repo::around(folder.path()).unwrap();
        let line = repo.line(repo.commit_id(None).unwrap(), None, 100).unwrap();
        let count = line.len();
        let place = Place { file: file.to_owned(), function: function.to_owned() };
        let (mut follower, mut texts) = (Follower::at(&repo, utf8, line, place), Texts::default());
        let found = (0..count).map(|at| follower.find(at, &mut texts).unwrap());
        found.map(|one| (one.place.file, one.place.function, one.presence == Presence::Present)).collect()
    }

    #[test]
    fn renames_and_moves_are_followed() {
        const BODY: &str = "(prices, rate):\n    net = sum(prices)\n    return net + net * rate\n";
        let text = |name: &str| format!("def {name}{BODY}");
        let (old, new) = (text("summed"), text("total"));
        let other = "def apart(x):\n    return [x, x]\n";
        let (with_other, nothing) = (format!("{other}{old}"), "import os\n");
        let found = places(
            &[
                &[("a.py", nothing)],
                &[("a.py", &with_other)],
                &[("a.py", other), ("b.py", &old)],
                &[("a.py", other), ("b.py", &new)],
                &[("a.py", other), ("c.py", &new)],
            ],
            "c.py",
            "total",
        );
        let place = |file: &str, function: &str, is_there| (file.to_owned(), function.to_owned(), is_there);
        assert_eq!(
            found,
            [
                place("c.py", "total", true),
                place("b.py", "total", true),
                place("b.py", "summed", true),
                place("a.py", "summed", true),
                place("a.py", "summed", false),
            ]
        );
    }

    #[test]
    fn a_function_may_go_and_come_back() {
        let text = "def f():\n    return 1\n";
        let found = places(&[&[("a.py", text)], &[("a.py", "x = 1\n")], &[("a.py", text)]], "a.py", "f");
        assert_eq!(found.iter().map(|(.., is_there)| *is_there).collect::<Vec<_>>(), [true, false, true]);
    }
}
