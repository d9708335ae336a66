//! Facts about the running Python: its executable and the location of ONNX Runtime, found without importing anything.
//! Also the user's cache folder, by the platform's convention.

use std::path::{Path, PathBuf};

use etcetera::BaseStrategy;
use pyo3::prelude::*;
use twincell_driver::warm::Environment;

use super::errors::raised;

/// Examines the environment.
pub fn find(py: Python<'_>) -> PyResult<Environment> {
    let sys = py.import("sys")?;
    let executable: Option<PathBuf> = sys.getattr("executable")?.extract()?;
    let implementation: String = sys.getattr("implementation")?.getattr("name")?.extract()?;
    let version = py.version_info();
    Ok(Environment {
        python: executable.unwrap_or_else(|| "python3".into()),
        package: own_folder(py),
        version: format!("{implementation} {}.{}", version.major, version.minor),
        onnxruntime: package_folder(py, "onnxruntime")?.and_then(|folder| library_in(&folder.join("capi"))),
        cache: cache(),
        threads: None,
        problems: super::providers::of_libraries(py)?.to_vec(),
        packages: packages(&sys.getattr("path")?.extract::<Vec<PathBuf>>().unwrap_or_default()),
    })
}

/// Twincell's folder in the user's cache folder, if there is one.
fn cache() -> Option<PathBuf> {
    etcetera::base_strategy::choose_native_strategy().ok().map(|user| user.cache_dir().join("twincell"))
}

/// A folder of this name in twincell's cache folder, which nobody else can write to.
#[pyfunction]
pub fn cache_folder(name: &str) -> PyResult<PathBuf> {
    let folder = cache().ok_or_else(|| raised("there is no cache folder: set XDG_CACHE_HOME"))?.join(name);
    match twincell_files::private::lasting(&folder) {
        Ok(()) => Ok(folder),
        Err(error) => Err(raised(format!("{} cannot be used: {error}", folder.display()))),
    }
}

/// The folder of the running package.
fn own_folder(py: Python<'_>) -> Option<PathBuf> {
    let path = py.import("twincell").and_then(|own| own.getattr("__path__")?.get_item(0)?.extract::<PathBuf>()).ok()?;
    std::path::absolute(path).ok()
}

/// The folders among those where imports look that hold installed packages.
fn packages(search: &[PathBuf]) -> Vec<PathBuf> {
    let is_it = |folder: &&PathBuf| folder.ends_with("site-packages") || folder.ends_with("dist-packages");
    search.iter().filter(is_it).cloned().collect()
}

/// The folder of an installed package, without importing it.
fn package_folder(py: Python<'_>, name: &str) -> PyResult<Option<PathBuf>> {
    // A module that was put into sys.modules by hand has no spec, which find_spec answers with ValueError.
    let Ok(spec) = py.import("importlib.util")?.call_method1("find_spec", (name,)) else { return Ok(None) };
    if spec.is_none() {
        return Ok(None);
    }
    let locations = spec.getattr("submodule_search_locations")?;
    if locations.is_none() {
        return Ok(None);
    }
    locations.try_iter()?.next().map(|folder| folder?.extract()).transpose()
}

/// ONNX Runtime's shared library. On some systems its name contains a version.
fn library_in(folder: &Path) -> Option<PathBuf> {
    let mut found: Vec<PathBuf> = std::fs::read_dir(folder)
        .ok()?
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| path.file_name().and_then(|name| name.to_str()).is_some_and(is_library))
        .collect();
    found.sort();
    found.pop()
}

fn is_library(name: &str) -> bool {
    name.starts_with("libonnxruntime.so")
        || (name.starts_with("libonnxruntime.") && name.ends_with(".dylib"))
        || name == "onnxruntime.dll"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_library_is_told_from_its_companions() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(library_in(folder.path()), None);
        for name in ["libonnxruntime.so.1.31.1", "libonnxruntime_providers_shared.so", "onnxruntime_pybind11_state.so"]
        {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        assert_eq!(library_in(folder.path()), Some(folder.path().join("libonnxruntime.so.1.31.1")));
        assert!(is_library("libonnxruntime.1.31.1.dylib") && is_library("onnxruntime.dll"));
    }
}
