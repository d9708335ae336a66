//! The Python files below a folder, such as a copy of a project.

use std::fs::{self, File};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use twincell_files::inside;

use crate::files::{ContentId, Files};
use crate::snapshot::MOST;

/// How many files are listed, and how deep folders are looked into.
const MOST_FILES: usize = 100_000;
const DEEPEST: usize = 64;

/// The Python files below a folder that nobody changes meanwhile. No link is followed, and a text is read when it is asked
/// for. What tells contents apart is where they are, so files of two folders are never the same.
pub struct FolderFiles {
    folder: PathBuf,
    paths: Vec<(Arc<str>, ContentId)>,
}

impl FolderFiles {
    /// Lists the files. Those whose names are not UTF-8 are skipped, and so are those that are too many.
    pub fn of(folder: &Path) -> Self {
        let mut paths = Vec::new();
        let mut open = vec![(folder.to_owned(), String::new(), 0)];
        while let Some((inner, prefix, depth)) = open.pop() {
            let mut entries: Vec<_> = fs::read_dir(&inner).into_iter().flatten().flatten().collect();
            entries.sort_by_key(fs::DirEntry::file_name);
            for entry in entries {
                let (Ok(name), Ok(kind)) = (entry.file_name().into_string(), entry.file_type()) else { continue };
                let path = format!("{prefix}{name}");
                if kind.is_dir() && depth < DEEPEST && name != ".git" {
                    open.push((entry.path(), format!("{path}/"), depth + 1));
                } else if kind.is_file()
                    && (name.ends_with(".py") || name.ends_with(".pyi"))
                    && paths.len() < MOST_FILES
                {
                    let content = ContentId::of_text(&entry.path().to_string_lossy());
                    paths.push((path.into(), content));
                }
            }
        }
        Self { folder: folder.to_owned(), paths }
    }
}

impl Files for FolderFiles {
    fn paths(&self) -> Vec<(Arc<str>, ContentId)> {
        self.paths.clone()
    }

    fn text(&self, path: &str, _: ContentId) -> Option<Arc<str>> {
        let folder = OwnedFd::from(File::open(&self.folder).ok()?);
        let bytes = inside::read_in(&folder, Path::new(path), MOST).ok()??;
        String::from_utf8(bytes).ok().map(Arc::from)
    }
}

#[cfg(test)]
mod tests {
    use twincell_repo::ModulePath;

    use super::*;
    use crate::ProjectModule;

    #[test]
    fn a_folder_is_read_where_imports_lead_and_through_no_link() {
        let folder = tempfile::tempdir().unwrap();
        let outside = tempfile::tempdir().unwrap();
        fs::write(outside.path().join("key.py"), "KEY = 1\n").unwrap();
        let write = |path: &str, text: &str| {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("src/shop/__init__.py", "from .tax import rate\n");
        write("src/shop/tax.py", "from . import levels\ndef rate(): return levels.LOW\n");
        write("src/shop/levels/one.py", "");
        write("large.py", &"#".repeat((1 << 20) + 1));
        std::os::unix::fs::symlink(outside.path().join("key.py"), folder.path().join("key.py")).unwrap();
        let from = ProjectModule::from(ModulePath::of(folder.path(), "src/shop/tax.py"));
        let found = |dotted: &str| from.find(dotted);
        let tax = found("shop.tax").unwrap();
        assert_eq!((&*tax.name, &*tax.path, tax.package.as_str()), ("shop.tax", "src/shop/tax.py", "shop"));
        assert!(tax.absolute().starts_with("from shop import levels"));
        assert_eq!(tax.imports()["levels"].target, "shop.levels");
        assert!(tax.index().defines("rate"));
        assert_eq!(found("shop").unwrap().package, "shop");
        for none in ["key", "large", "shop.levels", "json", "", "..", "shop..tax"] {
            assert!(found(none).is_none(), "{none}");
        }
    }
}
