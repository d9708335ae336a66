//! Values that somebody gave, on their way to workers.

use std::fs;
use std::io;
use std::path::Path;
use std::sync::Arc;

use tempfile::TempDir;
use twincell_compare::{CompareOptions, NotGiven};
use twincell_engine::protocol::{GivenContent, GivenFile, GivenValue};
use twincell_files::private;

use crate::failure::Failure;
use crate::warm::Engine;

/// The maximum size in bytes of all copies of one comparison.
pub const MOST_BYTES: u64 = 256 << 20;

/// What was given for one comparison.
#[derive(Debug, Clone, Default)]
pub struct GivenValues {
    pub values: Vec<GivenValue>,
    pub not_given: Vec<NotGiven>,
    /// Holds the files for as long as somebody may compare with them.
    pub folder: Option<Arc<TempDir>>,
}

impl GivenValues {
    /// Makes the files readable for the engine's workers, for as long as the second value lives, and puts the values into
    /// the options.
    pub fn hand_over(&self, engine: &Engine, options: &mut CompareOptions) -> Result<Option<TempDir>, Failure> {
        options.not_given.clone_from(&self.not_given);
        options.given.clone_from(&self.values);
        let files = || self.values.iter().filter(|value| matches!(value.content, GivenContent::File(_)));
        if files().next().is_none() {
            return Ok(None);
        }
        let folder = private::temporary_in("given-", &engine.projects()?).map_err(Failure::Given)?;
        for (number, value) in options.given.iter_mut().enumerate() {
            if let GivenContent::File(GivenFile { path, .. }) = &mut value.content {
                let reachable = folder.path().join(number.to_string());
                link(path, &reachable).map_err(Failure::Given)?;
                *path = reachable;
            }
        }
        Ok(Some(folder))
    }
}

/// The same file under another name. Folders may be on different disks.
fn link(file: &Path, name: &Path) -> io::Result<()> {
    fs::hard_link(file, name).or_else(|_| fs::copy(file, name).map(drop))
}
