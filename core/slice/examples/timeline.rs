//! Reads a range of commits with what each needs, and says how long it took and how much memory the process needed at most.
//!
//!     cargo run --release -p twincell-slice --example timeline -- REPOSITORY OLD..NEW [change]

use std::path::PathBuf;
use std::time::Instant;

use twincell_slice::{By, Timeline, TimelineOptions};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(repository), Some(range)) = (arguments.next(), arguments.next()) else {
        return Err("give a repository and a range".into());
    };
    let by = if arguments.next().as_deref() == Some("change") { By::Change } else { By::Commit };
    let began = Instant::now();
    let timeline = Timeline::read(
        &PathBuf::from(repository),
        &range,
        &TimelineOptions { by, max_commits: 10_000, ..TimelineOptions::default() },
    )?;
    let all = timeline.all();
    let text: usize = all.iter().map(|unit| timeline.text_needs(*unit).len()).sum();
    let names: usize = all.iter().map(|unit| timeline.name_needs(*unit).len()).sum();
    println!("{} units, {text} needs of text, {names} of names", all.len());
    println!("{:.1} s, {} MB", began.elapsed().as_secs_f64(), peak() / 1024);
    Ok(())
}

/// The most memory that the process had, in KiB.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}
