//! Analyzes the Python files of two folders level by level, and prints one row of JSON: how many statements there are, how many
//! changed, how many each level leaves impacted, and after how many seconds. Functions are proved by their own texts.
//!
//! `cargo run --release -p twincell-impact --example levels -- OLD NEW`

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Instant;

use twincell_impact::{Entries, FunctionPlace, ImpactOptions, Prover, State, impact_levels};
use twincell_prove::{Answer, ModuleNames, prove};
use twincell_semantic::{MemoryFiles, Project, Store, calls};
use twincell_syntax::{CodeKind, Function, PerSide, Side, functions};

type Texts = BTreeMap<String, String>;

fn main() {
    let folders: Vec<String> = std::env::args().skip(1).collect();
    let [old, new] = &folders[..] else { return eprintln!("give two folders") };
    let texts = PerSide::new(old, new).map(|folder| {
        let mut texts = Texts::new();
        read(Path::new(folder), "", &mut texts);
        texts
    });
    let start = Instant::now();
    let store = Store::new();
    let projects = texts.as_ref().map(|texts| {
        let files = MemoryFiles::from_iter(texts.iter().map(|(path, text)| (path.as_str(), text.as_str())));
        let project = Project::open(files, &store);
        calls(&project);
        project
    });
    let model = start.elapsed().as_secs_f64();
    let start = Instant::now();
    let mut seconds = Vec::new();
    let (entries, options) = (Entries::default(), ImpactOptions::default());
    let proofs = Proofs { texts: &texts };
    let found = impact_levels(&projects.old, &projects.new, &entries, &options, &proofs, &|| false, &mut |_| {
        seconds.push(start.elapsed().as_secs_f64());
        ControlFlow::Continue(())
    });
    let levels: Vec<_> = found.levels.iter().zip(seconds).collect();
    let row = serde_json::json!({
        "lines": texts.new.values().map(|text| text.lines().count()).sum::<usize>(),
        "statements": found.statements.len(),
        "changed": found.statements.iter().filter(|one| one.state == State::Changed).count(),
        "model": model,
        "levels": levels.iter().map(|(level, after)| serde_json::json!({
            "k": level.k, "impacted": level.impacted, "seconds": after,
        })).collect::<Vec<_>>(),
    });
    println!("{row}");
}

/// Proofs of plain functions, as the command asks for them.
struct Proofs<'t> {
    texts: &'t PerSide<Texts>,
}

impl Proofs<'_> {
    fn function(&self, side: Side, place: &FunctionPlace) -> Option<(&str, Function)> {
        let text = self.texts[side].get(&*place.path)?;
        let mut own = functions(text).0.into_iter().filter(|one| one.entity() == &*place.function);
        let (function, None) = (own.next()?, own.next()) else { return None };
        let is_plain = function.kind == CodeKind::Function && function.parent.is_none();
        (is_plain && function.decorators.is_empty()).then_some((text, function))
    }
}

impl Prover for Proofs<'_> {
    fn depth(&self) -> u32 {
        0
    }

    fn proves(&self, old: &FunctionPlace, new: &FunctionPlace, _: u32) -> bool {
        let (Some((old_module, old)), Some((new_module, new))) =
            (self.function(Side::Old, old), self.function(Side::New, new))
        else {
            return false;
        };
        let names = ModuleNames::new([old_module, new_module], [old.entity(), new.entity()]);
        matches!(prove(&old.text, &new.text, &names), Answer::Equivalent(proof) if proof.arguments.is_empty())
    }
}

/// The Python files below a folder.
fn read(folder: &Path, prefix: &str, texts: &mut Texts) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let (Ok(name), Ok(kind)) = (entry.file_name().into_string(), entry.file_type()) else { continue };
        let path = if prefix.is_empty() { name } else { format!("{prefix}/{name}") };
        if kind.is_dir() {
            read(&entry.path(), &path, texts);
        } else if path.ends_with(".py")
            && let Ok(bytes) = std::fs::read(entry.path())
        {
            texts.insert(path, String::from_utf8_lossy(&bytes).into_owned());
        }
    }
}
