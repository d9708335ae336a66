//! The folder of `prefix --out`: a program for each prefix, and a manifest of what stands there.
//!
//! A later run removes the programs of the earlier one. It touches a file only if the manifest lists it and it still holds
//! what was written: what somebody has changed is theirs.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};
use twincell_driver::files;
use twincell_prefix::Prefixes;
use xxhash_rust::xxh3::xxh3_128;

const MANIFEST: &str = ".twincell-prefixes.json";
const VERSION: u32 = 1;

/// What a run wrote into a folder.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Manifest {
    version: u32,
    /// The hash of each program, by its name.
    files: BTreeMap<String, String>,
}

/// Writes the program of each prefix that the report shows, in place of those of an earlier run.
pub fn write(folder: &Path, prefixes: &Prefixes, snippet: &str) -> Result<(), String> {
    files::make_folder(folder)?;
    let earlier = read(&folder.join(MANIFEST))?;
    let programs: BTreeMap<String, String> =
        prefixes.kept().into_iter().map(|number| (name(prefixes, number), prefixes.program(number, snippet))).collect();
    // Nothing is removed unless everything can be written.
    for name in programs.keys() {
        let path = folder.join(name);
        if path.symlink_metadata().is_ok() && !is_ours(&path, earlier.files.get(name)) {
            return Err(format!(
                "cannot write {}: it is not as an earlier run left it; move it, or give another folder",
                path.display()
            ));
        }
    }
    for (name, hash) in &earlier.files {
        let path = folder.join(name);
        if is_name(name) && !programs.contains_key(name) && is_ours(&path, Some(hash)) {
            std::fs::remove_file(&path)
                .map_err(|error| format!("cannot remove {}: {}", path.display(), files::reason(&error)))?;
        }
    }
    let hashes = programs.iter().map(|(name, text)| (name.clone(), hash(text.as_bytes()))).collect();
    let manifest = serde_json::to_string_pretty(&Manifest { version: VERSION, files: hashes });
    // First, so that a run that is killed leaves no file that nobody removes.
    files::write_text(
        &folder.join(MANIFEST),
        &(manifest.map_err(|error| error.to_string())? + "\n"),
        files::TextKind::Json,
    )?;
    for (name, text) in &programs {
        files::write_text(&folder.join(name), text, files::TextKind::Python)?;
    }
    Ok(())
}

/// As the report calls it: `best_prefix_12.py`, `prefix_7.py`.
fn name(prefixes: &Prefixes, number: usize) -> String {
    let best = if Some(number) == prefixes.best { "best_" } else { "" };
    format!("{best}prefix_{number}.py")
}

/// Whether a file may have this name: what a manifest says leads to no other folder.
fn is_name(name: &str) -> bool {
    let number = name.strip_prefix("best_").unwrap_or(name).strip_prefix("prefix_");
    let number = number.and_then(|rest| rest.strip_suffix(".py"));
    number.is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Whether a file holds what was written, by its hash.
fn is_ours(path: &Path, written: Option<&String>) -> bool {
    let is_file = path.symlink_metadata().is_ok_and(|metadata| metadata.is_file());
    is_file && written.is_some_and(|written| std::fs::read(path).is_ok_and(|bytes| hash(&bytes) == *written))
}

fn hash(bytes: &[u8]) -> String {
    format!("{:032x}", xxh3_128(bytes))
}

fn read(path: &Path) -> Result<Manifest, String> {
    let not_ours =
        || format!("{} is not a list of what twincell wrote: move it, or give another folder", path.display());
    match std::fs::read(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Manifest::default()),
        Err(error) => Err(format!("cannot read {}: {}", path.display(), files::reason(&error))),
        Ok(bytes) => {
            let manifest: Manifest = serde_json::from_slice(&bytes).map_err(|_| not_ours())?;
            if manifest.version == VERSION { Ok(manifest) } else { Err(not_ours()) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manifest_leads_to_no_other_folder() {
        assert!(["best_prefix_12.py", "prefix_0.py"].into_iter().all(is_name));
        assert!(
            !["../prefix_1.py", "prefix_.py", "prefix_1.py/x", "notes.py", "best_.py", ""].into_iter().any(is_name)
        );
    }
}
