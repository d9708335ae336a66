//! The files beside a snippet, on their way to workers.

use std::path::Path;

use tempfile::TempDir;
use twincell_engine::protocol::FilesBeside;
use twincell_files::private;
use twincell_prefix::{Beside, Subject, Used};

use crate::failure::Failure;
use crate::files;
use crate::files_beside::beside;
use crate::warm::Engine;

/// The maximum number of bytes of a snippet whose files are looked for.
const MAX_TEXT: usize = 1 << 20;

/// A snippet with the files that it uses of its folder, for as long as their copy is there.
pub struct WithFiles {
    pub subject: Subject,
    /// Why they were not copied.
    pub refused: Option<Used>,
    _copy: Option<TempDir>,
}

impl WithFiles {
    /// Copies what a snippet imports and names of the folder that it lies in, if it has one.
    pub fn new(subject: &Subject, engine: &Engine) -> Result<Self, Failure> {
        let mut with = Self { subject: subject.clone(), refused: None, _copy: None };
        let Some(folder) = subject.folder.as_deref().filter(|_| subject.text.len() <= MAX_TEXT) else {
            return Ok(with);
        };
        // The folder of a file that is named without one.
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        let Some(found) = beside(folder, subject.file.as_deref(), &subject.text) else { return Ok(with) };
        let absolute = |inner: &str| match inner {
            "" => found.root.display().to_string(),
            inner => found.root.join(inner).display().to_string(),
        };
        let used = Used {
            folder: absolute(&found.begin),
            search: found.search.iter().map(|one| absolute(one)).collect(),
            modules: found.modules.clone(),
            data: found.data.clone(),
            problem: None,
        };
        let copy = engine.projects()?;
        let made = private::temporary_in("beside-", &copy).and_then(|place| {
            found.copy(&place.path().join("files"))?;
            Ok(place)
        });
        match made {
            Ok(place) => {
                let folder = place.path().join("files");
                let copy = FilesBeside { folder, search: found.search, begin: found.begin, files: found.data };
                let imports = found.imports.into_iter().collect();
                with.subject.beside = Some(Beside { copy, used, package: found.package, imports });
                with._copy = Some(place);
            }
            Err(error) => with.refused = Some(Used { problem: Some(files::reason(&error)), ..used }),
        }
        Ok(with)
    }
}
