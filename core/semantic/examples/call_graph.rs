//! Prints the call graph of each folder that is named, one line of JSON each: who calls whom, by dotted names.
//!
//! `cargo run --release -p twincell-semantic --example call_graph -- FOLDER ...`

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use twincell_semantic::{Callee, MemoryFiles, Project, Store, calls, codes};

fn main() {
    for folder in std::env::args().skip(1) {
        let mut files = MemoryFiles::default();
        read(Path::new(&folder), "", &mut files);
        let project = Project::open(files, &Store::new());
        let mut graph: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        let name = |code: &twincell_semantic::Code| {
            let module = project.module_name(code.module()).to_owned();
            let qualname = code.qualname(&project);
            if qualname.is_empty() { module } else { format!("{module}.{qualname}") }
        };
        for code in codes(&project) {
            graph.entry(name(&code)).or_default();
        }
        for call in calls(&project) {
            let callee = match &call.callee {
                Callee::Code(code) => name(code),
                Callee::External(path) => path.to_string(),
                Callee::Class(_) => continue,
            };
            graph.entry(name(&call.caller)).or_default().insert(callee);
        }
        println!("{}", serde_json::json!({ "folder": folder, "calls": graph }));
    }
}

/// The Python files below a folder.
fn read(folder: &Path, prefix: &str, files: &mut MemoryFiles) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let (Ok(name), Ok(kind)) = (entry.file_name().into_string(), entry.file_type()) else { continue };
        let path = if prefix.is_empty() { name } else { format!("{prefix}/{name}") };
        if kind.is_dir() {
            read(&entry.path(), &path, files);
        } else if path.ends_with(".py")
            && let Ok(bytes) = std::fs::read(entry.path())
        {
            files.insert(&path, &String::from_utf8_lossy(&bytes));
        }
    }
}
