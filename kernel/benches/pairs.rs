//! The engine end to end, with real workers: pairwise executions a second on one core, the time to a
//! verdict, and what an execution costs against its floor.
//!
//! `make bench` runs it. TWINCELL_PYTHON names the Python that has twincell installed, CHANGES a file of changes as
//! `twincell study` reads them, TWINCELL_ONNXRUNTIME ONNX Runtime's shared library, if that back end takes part.

#[path = "pairs/floor.rs"]
mod floor;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde::Deserialize;

use twincell_behavior::{Rules, differences};
use twincell_compare::{CompareOptions, Continue, Source, compare, programs};
use twincell_engine::protocol::{Context, ExecutionRequest, Program};
use twincell_engine::{Executed, PoolOptions, WorkerPool, interpreter};
use twincell_models::{ModelOptions, load};
use twincell_values::predictor::Predictor;

type Failure = Box<dyn std::error::Error>;

/// The pairs that were written for this benchmark.
const OWN: &str = include_str!("changes.jsonl");
const CONTEXTS: [(&str, Context); 2] = [("function", Context::Function), ("module", Context::Module)];
/// Executions of one message to the worker: the campaign's largest.
const BATCH: u32 = 64;
/// How long a program is executed to count executions.
const SPAN: Duration = Duration::from_millis(300);

#[derive(Deserialize)]
struct Change {
    id: String,
    old: String,
    new: String,
    old_module: Option<String>,
    new_module: Option<String>,
    function: Option<String>,
}

impl Change {
    fn sources(&self, context: Context) -> (Source, Source, CompareOptions) {
        let with_modules = context == Context::Module && self.old_module.is_some() && self.new_module.is_some();
        let module = |text: &Option<String>| text.clone().filter(|_| with_modules);
        let old = Source {
            text: self.old.clone(),
            module: module(&self.old_module),
            label: "old".into(),
            ..Source::default()
        };
        let new = Source {
            text: self.new.clone(),
            module: module(&self.new_module),
            label: "new".into(),
            ..Source::default()
        };
        let function = self.function.clone().filter(|_| with_modules);
        (old, new, CompareOptions { context, function, ..CompareOptions::default() })
    }
}

fn read(lines: &str) -> Result<Vec<Change>, serde_json::Error> {
    lines.lines().filter(|line| !line.trim().is_empty()).map(serde_json::from_str).collect()
}

fn pool() -> WorkerPool {
    let python = std::env::var_os("TWINCELL_PYTHON").map_or_else(|| PathBuf::from("python3"), PathBuf::from);
    let own = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("python/twincell");
    let arguments = interpreter::worker(Some(&own), true, false);
    WorkerPool::new(PoolOptions { workers: 1, arguments, ..PoolOptions::new(python) })
}

fn predictor(library: &Option<PathBuf>) -> Result<std::sync::Arc<dyn Predictor>, Failure> {
    let options = ModelOptions { onnxruntime_library: library.clone(), allow_gpu: false, ..ModelOptions::default() };
    Ok(load(&options)?)
}

/// Milliseconds to the verdict of each change. Nothing is cached beforehand; worker and network are warm.
fn times_to_verdict(changes: &[Change], context: Context, library: &Option<PathBuf>) -> Result<Vec<f64>, Failure> {
    let (pool, predictor) = (pool(), predictor(library)?);
    let warm = Source { text: "def f(x):\n    return x.a\n".into(), ..Source::default() };
    let other = Source { text: "def f(x):\n    return x.b\n".into(), ..Source::default() };
    compare(&warm, &other, predictor.as_ref(), &pool, &CompareOptions::default(), &mut |_| Continue::Yes)?;
    let mut times = Vec::new();
    for change in changes {
        let (old, new, options) = change.sources(context);
        let start = Instant::now();
        // A pair that is refused (a syntax error, nothing in common) has its verdict as well.
        let _ = compare(&old, &new, predictor.as_ref(), &pool, &options, &mut |_| Continue::Yes);
        times.push(start.elapsed().as_secs_f64() * 1000.0);
    }
    Ok(times)
}

/// Executions of one pair.
struct Rate<'a> {
    id: &'a str,
    /// Executions of both versions, in one second.
    a_second: f64,
    /// Share in which both versions ended in a way that says something about behavior, 0 to 1.
    valid: f64,
}

/// Request, execution, record and comparison of what was observed, all fresh draws.
fn measure<'a>(id: &'a str, pool: &WorkerPool, program: &Program) -> Result<Rate<'a>, Failure> {
    let mut loaded = pool.load(program)?;
    let mut next = 0;
    let mut run = || -> Result<(u32, u32), Failure> {
        let requests = (next..next + BATCH).map(|index| ExecutionRequest {
            index,
            seed: index.into(),
            versions: vec![0, 1],
            ..ExecutionRequest::default()
        });
        next += BATCH;
        let (mut done, mut valid) = (0, 0);
        for executed in loaded.run(requests.collect())? {
            if let Executed::Record(record) = executed
                && let [old, new] = record.behaviors.as_slice()
            {
                std::hint::black_box(differences(old, new, &Rules::default()));
                done += 1;
                valid += u32::from(old.outcome.is_valid() && new.outcome.is_valid());
            }
        }
        Ok((done, valid))
    };
    run()?;
    let (start, mut done, mut valid) = (Instant::now(), 0, 0);
    while start.elapsed() < SPAN {
        let more = run()?;
        (done, valid) = (done + more.0, valid + more.1);
    }
    let a_second = f64::from(done) / start.elapsed().as_secs_f64();
    Ok(Rate { id, a_second, valid: f64::from(valid) / f64::from(done.max(1)) })
}

/// The rate of each change that has something to execute.
fn rates(changes: &[Change], context: Context) -> Result<Vec<Rate<'_>>, Failure> {
    let (pool, predictor) = (pool(), predictor(&None)?);
    let mut rates = Vec::new();
    for change in changes {
        let (old, new, options) = change.sources(context);
        for program in programs(&old, &new, predictor.as_ref(), &options).unwrap_or_default() {
            // A program that cannot be loaded has no rate.
            rates.extend(measure(&change.id, &pool, &program));
        }
    }
    Ok(rates)
}

/// Memory of this process's workers in MiB, resident and proportional (shared pages divided by those who share them),
/// after everything was compared in function context, where the code imports nothing. None where the system does not say.
fn memory(changes: &[Change]) -> Result<Option<(f64, Option<f64>)>, Failure> {
    let (pool, predictor) = (pool(), predictor(&None)?);
    for change in changes {
        let (old, new, options) = change.sources(Context::Function);
        let _ = compare(&old, &new, predictor.as_ref(), &pool, &options, &mut |_| Continue::Yes);
    }
    let largest = |found: Vec<f64>| found.into_iter().reduce(f64::max);
    let workers = children();
    let resident = largest(workers.iter().filter_map(|process| field(process, "status", "VmRSS:")).collect());
    let proportional = largest(workers.iter().filter_map(|process| field(process, "smaps_rollup", "Pss:")).collect());
    Ok(resident.map(|resident| (resident, proportional)))
}

/// Folders in `/proc` of the processes whose parent is this one.
fn children() -> Vec<PathBuf> {
    let own = format!("PPid:\t{}", std::process::id());
    let Ok(processes) = std::fs::read_dir("/proc") else { return vec![] };
    let folders = processes.filter_map(|entry| entry.ok().map(|entry| entry.path()));
    let is_own = |status: String| status.lines().any(|line| line == own);
    folders.filter(|folder| std::fs::read_to_string(folder.join("status")).is_ok_and(is_own)).collect()
}

/// A size in kB from a file of a process's folder, in MiB.
fn field(process: &std::path::Path, file: &str, name: &str) -> Option<f64> {
    let text = std::fs::read_to_string(process.join(file)).ok()?;
    let line = text.lines().find(|line| line.starts_with(name))?;
    line.split_whitespace().nth(1)?.parse::<f64>().ok().map(|size| size / 1024.0)
}

/// The value below which this share of the values lies.
fn quantile(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let last = sorted.len().saturating_sub(1);
    sorted.get((share * last as f64).round() as usize).copied().unwrap_or(f64::NAN)
}

/// Keeps this process, and the workers it starts from now on, on one core.
fn stay_on_one_core() -> bool {
    #[cfg(target_os = "linux")]
    {
        // SAFETY: a set of cores is a plain array of bits, and both calls are given its own size.
        unsafe {
            let mut cores: libc::cpu_set_t = std::mem::zeroed();
            let size = std::mem::size_of::<libc::cpu_set_t>();
            if libc::sched_getaffinity(0, size, &mut cores) != 0 {
                return false;
            }
            let last = (0..libc::CPU_SETSIZE as usize).rfind(|&core| libc::CPU_ISSET(core, &cores)).unwrap_or(0);
            libc::CPU_ZERO(&mut cores);
            libc::CPU_SET(last, &mut cores);
            libc::sched_setaffinity(0, size, &cores) == 0
        }
    }
    #[cfg(not(target_os = "linux"))]
    false
}

fn main() -> Result<(), Failure> {
    let file = std::env::var_os("CHANGES").filter(|name| !name.is_empty()).map(PathBuf::from);
    let own = read(OWN)?;
    let given = match &file {
        Some(path) => {
            read(&std::fs::read_to_string(path).map_err(|error| format!("cannot read {}: {error}", path.display()))?)?
        }
        None => Vec::new(),
    };
    let name = file.as_ref().and_then(|path| path.file_name()).map(|name| name.to_string_lossy().into_owned());
    let mut sets = vec![("own pairs".to_string(), own.as_slice())];
    sets.extend(name.map(|name| (name, given.as_slice())));
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let load_average = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load_average = load_average.split(' ').next().unwrap_or("unknown");

    println!("\nmachine: {cores} cores, {}, load average {load_average}", std::env::consts::ARCH);
    print_times(&sets)?;
    if let Some((resident, proportional)) = memory(&own)? {
        let shown = proportional.map_or("unknown".to_string(), |size| format!("{size:.0} MiB"));
        println!("\nmemory of a worker: {resident:.0} MiB resident, {shown} proportional");
    }
    let each = print_rates(&sets)?;
    print_floor(&sets)?;
    println!("\n{:<24} {:>10} {:>10}", "own pairs, each", "function", "module");
    for (pair, rates) in each {
        println!("{pair:<24} {}", rates.iter().map(|rate| format!("{rate:>10.0}")).collect::<Vec<_>>().join(" "));
    }
    Ok(())
}

/// Changes under the name of where they come from.
type Set<'a> = (String, &'a [Change]);

fn print_times(sets: &[Set<'_>]) -> Result<(), Failure> {
    println!("\ntime to verdict in milliseconds, warm worker and network, budget 300");
    println!(
        "{:<24} {:<10} {:<12} {:>6} {:>8} {:>8} {:>8}",
        "changes", "context", "back end", "count", "median", "90 %", "longest"
    );
    let library = std::env::var_os("TWINCELL_ONNXRUNTIME").filter(|name| !name.is_empty()).map(PathBuf::from);
    let back_ends = std::iter::once(("rten", None)).chain(library.map(|path| ("onnxruntime", Some(path))));
    for (back_end, library) in back_ends {
        for (set, changes) in sets {
            for (context_name, context) in CONTEXTS {
                let times = times_to_verdict(changes, context, &library)?;
                println!(
                    "{set:<24} {context_name:<10} {back_end:<12} {:>6} {:>8.0} {:>8.0} {:>8.0}",
                    times.len(),
                    quantile(&times, 0.5),
                    quantile(&times, 0.9),
                    quantile(&times, 1.0),
                );
            }
        }
    }
    Ok(())
}

/// Prints the rates of each set, and gives those of each pair of the first one.
fn print_rates<'a>(sets: &[Set<'a>]) -> Result<Vec<(&'a str, Vec<f64>)>, Failure> {
    let place =
        if stay_on_one_core() { "engine and worker on one core" } else { "engine and one worker, not kept on a core" };
    println!("\npairwise executions a second, {place}");
    println!(
        "{:<24} {:<10} {:>6} {:>8} {:>8} {:>8} {:>8}",
        "changes", "context", "pairs", "10 %", "median", "90 %", "valid"
    );
    let mut single: Vec<(&str, Vec<f64>)> = Vec::new();
    for (number, (set, changes)) in sets.iter().enumerate() {
        for (context_name, context) in CONTEXTS {
            let found = rates(changes, context)?;
            let values: Vec<f64> = found.iter().map(|rate| rate.a_second).collect();
            let valid: Vec<f64> = found.iter().map(|rate| rate.valid).collect();
            println!(
                "{set:<24} {context_name:<10} {:>6} {:>8.0} {:>8.0} {:>8.0} {:>6.0} %",
                values.len(),
                quantile(&values, 0.1),
                quantile(&values, 0.5),
                quantile(&values, 0.9),
                quantile(&valid, 0.5) * 100.0,
            );
            for rate in found.into_iter().filter(|_| number == 0) {
                match single.iter_mut().find(|(id, _)| *id == rate.id) {
                    Some((_, rates)) => rates.push(rate.a_second),
                    None => single.push((rate.id, vec![rate.a_second])),
                }
            }
        }
    }
    Ok(single)
}

fn print_floor(sets: &[Set<'_>]) -> Result<(), Failure> {
    println!("\nan execution of the witness against its floor, the reproducer's bare run, in microseconds");
    println!(
        "{:<24} {:<10} {:>6} {:>10} {:>8} {:>8} {:>8}",
        "changes", "context", "pairs", "execution", "bare", "ratio", "90 %"
    );
    for (set, changes) in sets {
        for (context_name, context) in CONTEXTS {
            let (pool, predictor) = (pool(), predictor(&None)?);
            let costs = floor::costs(changes, context, &pool, predictor.as_ref())?;
            let of = |value: &dyn Fn(&floor::Cost) -> f64| costs.iter().map(value).collect::<Vec<f64>>();
            let ratios = of(&|cost| cost.execution / cost.bare);
            println!(
                "{set:<24} {context_name:<10} {:>6} {:>10.1} {:>8.1} {:>8.1} {:>8.1}",
                costs.len(),
                quantile(&of(&|cost| cost.execution), 0.5),
                quantile(&of(&|cost| cost.bare), 0.5),
                quantile(&ratios, 0.5),
                quantile(&ratios, 0.9),
            );
        }
    }
    Ok(())
}
