//! Opens the last commits of a repository as projects that share what is equal, and prints how long that takes.
//!
//! `cargo run --release -p twincell-semantic --example history -- REPOSITORY [COMMITS]`

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use twincell_repo::{Repo, RepoError, Revision};
use twincell_semantic::{Project, SnapshotFiles, Store};

fn main() -> Result<(), RepoError> {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().unwrap_or_else(|| ".".to_owned());
    let (repo, shared) = (Repo::around(Path::new(&folder))?, Arc::new(Mutex::new(Repo::around(Path::new(&folder))?)));
    let most = arguments.next().and_then(|count| count.parse().ok()).unwrap_or(1_000);
    let (store, start) = (Store::new(), Instant::now());
    let (mut commits, mut symbols) = (0, 0);
    for commit in repo.history(repo.commit_id(None)?)?.take(most) {
        let project = Project::open(SnapshotFiles::of(&shared, &Revision::Commit(commit?.id().to_string()))?, &store);
        commits += 1;
        symbols += project.symbols().count();
    }
    println!("{commits} commits with {} texts and {symbols} symbols in {:.1?}", store.len(), start.elapsed());
    Ok(())
}
