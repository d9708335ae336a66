//! Analyzes the Python files of two folders, and prints how long that takes and how many statements are in which state.
//! With `AS_JSON` in the environment, it prints the whole result as JSON.
//! With `INSIDE_ONLY` in the environment, no impact goes on through state outside of the project. With a third argument, it prints the statements and chains of functions whose name has it.
//!
//! `cargo run --release -p twincell-impact --example versions -- OLD NEW [FUNCTION]`

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

use twincell_impact::{Entries, ImpactOptions, NoProver, State, StepPlace, VariableName, impact_levels};
use twincell_semantic::{MemoryFiles, Project, Store, calls};

fn main() {
    let folders: Vec<String> = std::env::args().skip(1).collect();
    let [old, new, ..] = &folders[..] else { return eprintln!("give two folders") };
    let store = Store::new();
    let mut lines = 0;
    let start = Instant::now();
    let [old, new] = [old, new].map(|folder| {
        let mut files = MemoryFiles::default();
        lines = read(Path::new(folder), "", &mut files);
        let project = Project::open(files, &store);
        calls(&project);
        project
    });
    if std::env::var_os("AS_JSON").is_some() {
        let found = impact_levels(
            &old,
            &new,
            &Entries::default(),
            &ImpactOptions::default(),
            &NoProver,
            &|| false,
            &mut |_| std::ops::ControlFlow::Continue(()),
        );
        return println!("{}", serde_json::to_string(&found).unwrap_or_default());
    }
    println!("{lines} lines: the calls of both versions in {:.1?}", start.elapsed());
    let start = Instant::now();
    let outside = std::env::var_os("INSIDE_ONLY").is_none();
    let options = ImpactOptions { outside, ..ImpactOptions::default() };
    let mut levels = Vec::new();
    let entries = Entries::default();
    let found = impact_levels(&old, &new, &entries, &options, &NoProver, &|| false, &mut |level| {
        levels.push(format!("level {:?} after {:.2?}", level.summary.k, start.elapsed()));
        std::ops::ControlFlow::Continue(())
    });
    println!("{}", levels.join(", "));
    println!("analyzed in {:.1?}", start.elapsed());
    let mut counts = [0; 3];
    for one in &found.statements {
        counts[match one.state {
            State::Changed => 0,
            State::Impacted { .. } => 1,
            State::NotImpacted => 2,
        }] += 1;
    }
    let [changed, impacted, others] = counts;
    println!("{changed} changed, {impacted} impacted, {others} not, {} removed", found.removed.len());
    for level in &found.levels {
        println!(
            "level {:?}: {} impacted, {} compared, {} facts",
            level.k, level.impacted, level.procedures, level.steps
        );
    }
    println!("{} unsound places, cut: {:?}", found.unsound.len(), found.cut);
    if let Ok(status) = std::fs::read_to_string("/proc/self/status") {
        status.lines().filter(|line| line.starts_with("VmHWM")).for_each(|line| println!("{line}"));
    }
    let mut through: BTreeMap<String, usize> = BTreeMap::new();
    let mut sources: BTreeMap<String, usize> = BTreeMap::new();
    let mut entered: BTreeMap<String, usize> = BTreeMap::new();
    for one in &found.statements {
        let State::Impacted { chain } = &one.state else { continue };
        let mut variables: Vec<String> = chain
            .iter()
            .filter_map(|step| match &step.at {
                StepPlace::Variable(VariableName::Local(_) | VariableName::Expression) => None,
                StepPlace::Variable(variable) => Some(format!("{variable:?}")),
                _ => None,
            })
            .collect();
        // The last variable that procedures share says why a statement is impacted, the first one how it left the change.
        variables.last().into_iter().for_each(|last| *entered.entry(last.clone()).or_default() += 1);
        variables.sort();
        variables.dedup();
        variables.into_iter().for_each(|variable| *through.entry(variable).or_default() += 1);
        let source = chain.first().map(|step| format!("{:?} {:?} {:?}", step.rule, step.side, step.at));
        *sources.entry(source.unwrap_or_default()).or_default() += 1;
    }
    print_most("what most chains go through", through);
    print_most("the last variable of most chains", entered);
    print_most("where most chains begin", sources);
    let Some(function) = folders.get(2) else { return };
    for one in found.statements.iter().filter(|one| one.place.function.contains(function)) {
        println!("{}:{} {}", one.place.path, one.place.lines.0, one.place.function);
        match &one.state {
            State::Impacted { chain } => {
                for step in chain {
                    println!(
                        "    {:?} {:?} {}",
                        step.rule,
                        step.side,
                        serde_json::to_string(&step.at).unwrap_or_default()
                    );
                }
            }
            state => println!("    {state:?}"),
        }
    }
}

fn print_most(title: &str, counts: BTreeMap<String, usize>) {
    let mut counts: Vec<(usize, String)> = counts.into_iter().map(|(name, count)| (count, name)).collect();
    counts.sort_by(|one, other| other.cmp(one));
    println!("{title}:");
    counts.iter().take(12).for_each(|(count, name)| println!("{count:>6} {name}"));
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
