//! Slices the history of a repository with what the command and the environment say.

use std::fs;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use twincell_engine::Stop;
use twincell_repo::Repo;
use twincell_slice::{Behavior, Patch, PatchFile, Progress, Setup, Slice, SliceError, Timeline, slice};
use twincell_testing::{TestError, TestLimits, environment};

use crate::amplify::{checkouts, names};
use crate::behavior::Comparing;
use crate::command_line::LineError;
use crate::failure::Failure;
use crate::files;
use crate::options::{GivenOption, Job, Options};
use crate::policy::resolved;
use crate::waiting::watched;
use crate::warm::Environment;

/// What a user asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SliceRequest {
    /// Any folder of it.
    pub repository: PathBuf,
    pub range: String,
    /// Files and folders with tests, or single tests as pytest names them.
    pub tests: Vec<String>,
}

/// Writes a slice as patches into a folder, which is made where there is none, in place of those of another slice, and returns the
/// files in their order. An error is one line for people.
pub fn write_patches(slice: &Slice, timeline: &Timeline, folder: &Path) -> Result<Vec<PathBuf>, String> {
    let earlier = earlier_patches(folder)?;
    let patches = timeline.series(&slice.selection()).map_err(|error| error.to_string())?;
    files::make_folder(folder)?;
    let write = |patch: Patch| {
        let file = folder.join(&patch.file_name);
        files::write_bytes(&file, &patch.text, files::TextKind::Verbatim)?;
        Ok::<_, String>(file)
    };
    let written: Vec<PathBuf> = patches.into_iter().map(write).collect::<Result<_, _>>()?;
    for file in earlier.iter().filter(|file| !written.contains(file)) {
        fs::remove_file(file)
            .map_err(|error| format!("cannot remove {}: {}", file.display(), files::reason(&error)))?;
    }
    Ok(written)
}

/// Checks that a slice can be written into a folder as patches, before there is one. An error is one line for people.
pub fn check_patches(folder: &Path) -> Result<(), String> {
    files::check_folder(folder)?;
    earlier_patches(folder).map(drop)
}

/// The patches of earlier slices in a folder. A patch of something else is an error, since `git am` would take it as well.
fn earlier_patches(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let unreadable = |error: io::Error| format!("cannot read {}: {}", folder.display(), files::reason(&error));
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(unreadable)?,
    };
    let mut earlier = Vec::new();
    for entry in entries {
        let file = entry.map_err(unreadable)?.path();
        match PatchFile::of(&file, &last_bytes(&file, PatchFile::LAST)) {
            Some(PatchFile::OfSlice) => earlier.push(file),
            Some(PatchFile::Foreign) => {
                return Err(format!(
                    "{} is a patch that no slice wrote, and git am would take it for one of this slice: move it, or give another \
                     folder",
                    file.display()
                ));
            }
            None => {}
        }
    }
    Ok(earlier)
}

/// The last bytes of a file. What is none, or cannot be read, has none.
fn last_bytes(file: &Path, count: usize) -> Vec<u8> {
    let mut last = Vec::new();
    let is_file = file.symlink_metadata().is_ok_and(|about| about.is_file());
    if let Some(mut file) = is_file.then(|| fs::File::open(file).ok()).flatten() {
        let from = file.metadata().map_or(0, |about| about.len()).saturating_sub(count as u64);
        let read = file.seek(SeekFrom::Start(from)).and_then(|_| file.take(count as u64).read_to_end(&mut last));
        if read.is_err() {
            last.clear();
        }
    }
    last
}

/// Whether a slice can become a branch of this name. An error is one line for people.
pub fn check_branch(request: &SliceRequest, name: &str) -> Result<(), String> {
    let repo = Repo::around(&request.repository).map_err(|error| error.to_string())?;
    repo.check_new_branch(name).map_err(|error| error.to_string())
}

/// The options in force for a slice: given ones. No policy says anything of slices.
pub fn slice_options(given: &[GivenOption]) -> Result<Options, String> {
    resolved(Job::Slice, None, given).map_err(|error| LineError::from(error).to_string())
}

/// Finds a minimal part of a range that keeps tests passing, or that makes them fail. `progress` is told how far it is, again and
/// again, and may end it: then the result is the best so far, or an error if the tests had not yet run at the end of the range.
pub fn slice_repository(
    request: &SliceRequest,
    options: &Options,
    surroundings: &Environment,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<(Slice, Timeline), Failure> {
    let work = |stop: &Stop, progress: &mut dyn FnMut(Progress) -> ControlFlow<()>| {
        let repo = Repo::around(&request.repository).map_err(TestError::Repo)?;
        let work_tree: &Path = repo.root().unwrap_or(&request.repository);
        let setup = Setup {
            repository: request.repository.clone(),
            cache: checkouts(surroundings).map_err(TestError::System)?,
            environment: environment(work_tree, options.python.as_deref(), &surroundings.python)?,
            limits: TestLimits {
                network: options.network,
                incomplete: options.run_unsafe,
                arguments: request.tests.clone(),
                pass_env: names(options.pass_env.as_deref()),
                stop: stop.clone(),
                ..TestLimits::default()
            },
            repeat: options.slicing.repeat,
        };
        let python = &setup.environment.python;
        let comparing = match options.slicing.compare {
            true => Some(Comparing::new(&request.repository, python, options, surroundings, stop)?),
            false => None,
        };
        let behavior = comparing.as_ref().map(|comparing| comparing as &dyn Behavior);
        slice(&setup, &options.slicing.of_range(&request.range), behavior, progress).map_err(|error| match error {
            SliceError::Interrupted | SliceError::Tests(TestError::Stopped) => Failure::Stopped,
            error => Failure::Slice(error),
        })
    };
    watched(Progress::Reading, work, progress)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patches_of_another_slice_are_known_and_others_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path();
        assert_eq!(earlier_patches(&place.join("none")), Ok(vec![]));
        fs::write(place.join("0001-a.patch"), "From 1\n-- \ntwincell\n\n").unwrap();
        fs::write(place.join("notes.txt"), "-- \ntwincell\n\n").unwrap();
        assert_eq!(earlier_patches(place), Ok(vec![place.join("0001-a.patch")]));
        for other in ["From 1\n-- \n2.39.5\n\n", ""] {
            fs::write(place.join("0002-b.patch"), other).unwrap();
            let said = check_patches(place).unwrap_err();
            assert!(said.contains("0002-b.patch is a patch that no slice wrote"), "{said}");
        }
        fs::remove_file(place.join("0002-b.patch")).unwrap();
        // What a link leads to is nobody's to replace.
        std::os::unix::fs::symlink(place.join("0001-a.patch"), place.join("0003-c.patch")).unwrap();
        assert!(check_patches(place).is_err());
    }
}
