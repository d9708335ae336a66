//! Reads the Python files below a folder, resolves all references, and prints how long each part takes.
//!
//! `cargo run --release -p twincell-semantic --example load -- FOLDER`

use std::path::Path;
use std::time::Instant;

use twincell_semantic::{MemoryFiles, Project, Referent, Store, calls, calls_are_cut, change, references};

fn main() {
    let folder = std::env::args().nth(1).unwrap_or_else(|| ".".to_owned());
    let mut files = MemoryFiles::default();
    let lines = read(Path::new(&folder), "", &mut files);
    let store = Store::new();

    let start = Instant::now();
    let project = Project::open(files.clone(), &store);
    let symbols = project.symbols().count();
    println!("{lines} lines in {} files, {symbols} symbols: read in {:.1?}", store.len(), start.elapsed());
    let start = Instant::now();
    let count = calls(&project).len();
    let cut = if calls_are_cut(&project) { " (cut)" } else { "" };
    println!("{count} calls{cut} in {:.1?}", start.elapsed());
    let start = Instant::now();
    let symbols: Vec<_> = project.symbols().collect();
    let found: usize = symbols.iter().map(|symbol| references(&project, &Referent::Symbol(*symbol)).len()).sum();
    println!("{found} references to {} symbols in {:.1?}", symbols.len(), start.elapsed());

    files.insert("another_module.py", "x = 1\n");
    let start = Instant::now();
    let next = Project::open(files, &store);
    next.symbols().count();
    println!("the next version is read in {:.1?}", start.elapsed());
    let start = Instant::now();
    let found = change(&project, &next);
    println!("compared in {:.1?}: {} added, {} affected", start.elapsed(), found.added.len(), found.affected.len());
    if let Ok(status) = std::fs::read_to_string("/proc/self/status") {
        status.lines().filter(|line| line.starts_with("VmHWM")).for_each(|line| println!("{line}"));
    }
}

/// The Python files below a folder, and their lines.
fn read(folder: &Path, prefix: &str, files: &mut MemoryFiles) -> usize {
    let Ok(entries) = std::fs::read_dir(folder) else { return 0 };
    let mut lines = 0;
    for entry in entries.flatten() {
        let (Ok(name), Ok(kind)) = (entry.file_name().into_string(), entry.file_type()) else { continue };
        let path = if prefix.is_empty() { name } else { format!("{prefix}/{name}") };
        if kind.is_dir() {
            lines += read(&entry.path(), &path, files);
        } else if path.ends_with(".py")
            && let Ok(bytes) = std::fs::read(entry.path())
        {
            let text = String::from_utf8_lossy(&bytes);
            lines += text.lines().count();
            files.insert(&path, &text);
        }
    }
    lines
}
