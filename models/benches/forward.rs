//! The forward pass on each back end, tokenizing and reading included, and opening the network; one pass a function against
//! one query a site; many functions; and what remembering on the disk saves.
//!
//! `cargo bench -p twincell-models`. ONNX Runtime takes part when TWINCELL_ONNXRUNTIME names its shared library, CUDA when
//! that has it and there is a GPU. Functions of the wild are those of the standard library of TWINCELL_PYTHON (or
//! `python3`). Ratios are of turns taken one after the other, so that what else the machine does counts for both.

use std::error::Error;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use criterion::{BenchmarkId, Criterion};

use twincell_models::{Cached, ModelOptions, Neural};
use twincell_syntax::functions;
use twincell_syntax::instrument::instrument;
use twincell_syntax::site::{Site, SiteKind};
use twincell_values::predictor::{FunctionSites, Predictor};

/// Functions of about this many tokens: a line of the body is 15.
const TOKENS: [usize; 2] = [64, 512];
/// Of one call, where many functions are predicted together.
const MANY: usize = 256;
/// Turns of each side of a ratio; the shortest counts.
const TURNS: usize = 9;

struct BackEnd {
    name: &'static str,
    library: Option<PathBuf>,
    gpu: bool,
}

impl BackEnd {
    fn options(&self, threads: usize) -> ModelOptions {
        ModelOptions {
            onnxruntime_library: self.library.clone(),
            threads,
            allow_gpu: self.gpu,
            ..ModelOptions::default()
        }
    }

    fn network(&self, threads: usize) -> Neural {
        Neural::new(&self.options(threads)).expect("the embedded network opens")
    }
}

fn back_ends() -> Vec<BackEnd> {
    let library = std::env::var_os("TWINCELL_ONNXRUNTIME").filter(|name| !name.is_empty()).map(PathBuf::from);
    let mut back_ends = vec![BackEnd { name: "rten", library: None, gpu: false }];
    if let Some(library) = library {
        back_ends.push(BackEnd { name: "ONNX Runtime", library: Some(library.clone()), gpu: false });
        let cuda = BackEnd { name: "CUDA", library: Some(library), gpu: true };
        if cuda.network(1).describe().contains("CUDA") {
            back_ends.push(cuda);
        }
    }
    back_ends
}

fn function(tokens: usize, name: &str) -> (String, Vec<Site>) {
    let body = "    total = items.count(item) + 1\n".repeat(tokens / 15);
    let text = format!("def {name}(items, item):\n{body}");
    let sites = text
        .match_indices("items.count")
        .map(|(start, path)| Site {
            kind: SiteKind::Attribute,
            start: start as u32,
            end: (start + path.len()) as u32,
            line: 1,
            identifier: "count".to_owned(),
            path: path.to_owned(),
            catches: Vec::new(),
            discarded: false,
        })
        .collect();
    (text, sites)
}

fn forward(criterion: &mut Criterion, back_ends: &[BackEnd]) {
    for back_end in back_ends {
        for threads in [1, 2] {
            let network = back_end.network(threads);
            let mut group = criterion.benchmark_group(format!("{}, {threads} threads", back_end.name));
            group.sample_size(20).warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(2));
            for tokens in TOKENS {
                let (old, new) = (function(tokens, "old"), function(tokens, "new"));
                let pair = [&old, &new].map(|(text, sites)| FunctionSites { text, sites });
                for (what, functions) in [("one function", &pair[..1]), ("a pair", &pair[..])] {
                    group.bench_with_input(BenchmarkId::new(what, tokens), functions, |bencher, functions| {
                        bencher.iter(|| network.predict(black_box(functions)).expect("the network predicts"));
                    });
                }
            }
            group.finish();
        }
    }
}

fn open(criterion: &mut Criterion, back_ends: &[BackEnd]) {
    let mut group = criterion.benchmark_group("open the network");
    group.sample_size(10).warm_up_time(Duration::from_millis(200)).measurement_time(Duration::from_secs(2));
    for back_end in back_ends {
        let nothing = FunctionSites { text: "", sites: &[] };
        group.bench_function(back_end.name, |bencher| {
            bencher.iter(|| back_end.network(2).predict(&[nothing]).expect("the network predicts"));
        });
    }
    group.finish();
}

/// A function with its value sites.
type Wild = (String, Vec<Site>);

/// Every function with a site in the modules of the standard library, by the number of sites.
fn wild() -> Result<Vec<Wild>, Box<dyn Error>> {
    let python = std::env::var_os("TWINCELL_PYTHON").map_or_else(|| PathBuf::from("python3"), PathBuf::from);
    let found = Command::new(python).args(["-c", "import os; print(os.path.dirname(os.__file__))"]).output()?;
    let folder = PathBuf::from(String::from_utf8(found.stdout)?.trim());
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(&folder)?.map(|entry| Ok(entry?.path())).collect::<Result<_, std::io::Error>>()?;
    files.retain(|path| path.extension().is_some_and(|extension| extension == "py"));
    files.sort();
    let mut wild = Vec::new();
    for text in files.iter().filter_map(|path| std::fs::read_to_string(path).ok()) {
        for function in functions(&text).0.into_iter().filter(|function| function.parent.is_none()) {
            if let Ok(instrumented) = instrument(&function)
                && !instrumented.sites.sites.is_empty()
            {
                wild.push((function.text.clone(), instrumented.sites.sites));
            }
        }
    }
    wild.sort_by(|one, other| (one.1.len(), &one.0).cmp(&(other.1.len(), &other.0)));
    println!("{} functions of {}", wild.len(), folder.display());
    if wild.is_empty() {
        return Err(format!("no module of {} has a function with a site", folder.display()).into());
    }
    Ok(wild)
}

/// The shortest of some turns of each, taken in turn, in milliseconds.
fn shortest<const N: usize>(mut work: [&mut dyn FnMut(); N]) -> [f64; N] {
    let mut shortest = [f64::INFINITY; N];
    for _ in 0..TURNS {
        for (work, shortest) in work.iter_mut().zip(&mut shortest) {
            let begun = Instant::now();
            work();
            *shortest = shortest.min(begun.elapsed().as_secs_f64() * 1e3);
        }
    }
    shortest
}

/// One pass a function, and one pass for each of its sites, as a model that is asked about single values needs.
fn passes(wild: &[Wild], back_ends: &[BackEnd]) {
    println!("\none pass a function against one query a site, milliseconds, 2 threads");
    println!("{:14} {:>10} {:>7} {:>9} {:>9} {:>8}", "back end", "functions", "sites", "one pass", "queries", "ratio");
    for back_end in back_ends {
        let network = back_end.network(2);
        for (name, percent) in [("10 %", 10), ("median", 50), ("90 %", 90)] {
            let (text, sites) = &wild[(wild.len() - 1) * percent / 100];
            let once = [FunctionSites { text, sites }];
            let predict = |functions: &[FunctionSites<'_>]| {
                black_box(network.predict(functions).expect("the network predicts"));
            };
            let [pass, queries] = shortest([&mut || predict(&once), &mut || {
                for site in sites {
                    predict(&[FunctionSites { text, sites: std::slice::from_ref(site) }]);
                }
            }]);
            println!(
                "{:14} {name:>10} {:>7} {pass:>9.2} {queries:>9.1} {:>7.1}x",
                back_end.name,
                sites.len(),
                queries / pass
            );
        }
    }
}

/// The embedded network in int8, as it is used, and in float32.
fn precisions(wild: &[Wild], back_ends: &[BackEnd]) {
    println!("\nint8 against float32, milliseconds of one function, 1 thread");
    println!("{:14} {:>10} {:>7} {:>9} {:>9} {:>8}", "back end", "function", "sites", "int8", "float32", "ratio");
    for back_end in back_ends.iter().filter(|back_end| !back_end.gpu) {
        let network = |allow_int8| {
            let options = ModelOptions { allow_int8, ..back_end.options(1) };
            Neural::new(&options).expect("the embedded network opens")
        };
        let (int8, float32) = (network(true), network(false));
        for (name, percent) in [("10 %", 10), ("median", 50), ("90 %", 90)] {
            let (text, sites) = &wild[(wild.len() - 1) * percent / 100];
            let once = [FunctionSites { text, sites }];
            let predict = |network: &Neural| {
                black_box(network.predict(&once).expect("the network predicts"));
            };
            let [small, whole] = shortest([&mut || predict(&int8), &mut || predict(&float32)]);
            println!(
                "{:14} {name:>10} {:>7} {small:>9.2} {whole:>9.2} {:>7.2}x",
                back_end.name,
                sites.len(),
                whole / small
            );
        }
    }
}

/// Functions a second, many in one call.
fn throughput(wild: &[Wild], back_ends: &[BackEnd]) {
    let some: Vec<FunctionSites<'_>> = (0..MANY)
        .map(|number| &wild[number * (wild.len() - 1) / (MANY - 1)])
        .map(|(text, sites)| FunctionSites { text, sites })
        .collect();
    println!("\n{MANY} functions in one call, functions a second, 2 threads");
    let networks: Vec<Neural> = back_ends.iter().map(|back_end| back_end.network(2)).collect();
    let mut shortest = vec![f64::INFINITY; networks.len()];
    for _ in 0..3 {
        for (network, shortest) in networks.iter().zip(&mut shortest) {
            let begun = Instant::now();
            black_box(network.predict(&some).expect("the network predicts"));
            *shortest = shortest.min(begun.elapsed().as_secs_f64());
        }
    }
    for (back_end, shortest) in back_ends.iter().zip(shortest) {
        println!("{:14} {:>8.0}", back_end.name, MANY as f64 / shortest);
    }
}

/// A prediction that is on the disk against a forward pass; memory is empty each time, the network is open.
fn remembering(wild: &[Wild], back_ends: &[BackEnd], folder: &Path) {
    println!("\na prediction from the disk against a forward pass, milliseconds, 2 threads");
    println!("{:14} {:>10} {:>7} {:>9} {:>9} {:>9}", "back end", "function", "sites", "pass", "stored", "found");
    for back_end in back_ends {
        let network = back_end.network(2);
        for (name, percent) in [("10 %", 10), ("median", 50), ("90 %", 90)] {
            let (text, sites) = &wild[(wild.len() - 1) * percent / 100];
            let once = [FunctionSites { text, sites }];
            let predict = |predictor: &dyn Predictor| {
                black_box(predictor.predict(&once).expect("the network predicts"));
            };
            let fresh = || Cached::new(Borrowed(&network), Some(folder));
            // The file is opened once by a process, and not by its first prediction here.
            let (mut known, nothing) = (Vec::new(), FunctionSites { text: "", sites: &[] });
            for _ in 0..TURNS {
                let cached = fresh();
                cached.predict(&[nothing]).expect("the network predicts");
                known.push(cached);
            }
            let (mut number, mut turn) = (0, 0);
            let [pass, stored, found] = shortest([
                &mut || predict(&network),
                &mut || {
                    // Another text each time.
                    number += 1;
                    let text = format!("{text}\n# {number}");
                    let once = [FunctionSites { text: &text, sites }];
                    black_box(known[0].predict(&once).expect("the network predicts"));
                },
                &mut || {
                    if turn == 0 {
                        predict(&fresh());
                    }
                    predict(&known[turn]);
                    turn += 1;
                },
            ]);
            println!("{:14} {name:>10} {:>7} {pass:>9.2} {stored:>9.2} {found:>9.3}", back_end.name, sites.len());
        }
    }
}

/// A network that several caches share.
struct Borrowed<'a>(&'a Neural);

impl Predictor for Borrowed<'_> {
    fn describe(&self) -> String {
        self.0.describe()
    }

    fn predict(
        &self,
        functions: &[FunctionSites<'_>],
    ) -> Result<Vec<Vec<twincell_values::predictor::Distribution>>, twincell_values::predictor::PredictError> {
        self.0.predict(functions)
    }
}

impl twincell_models::Remembered for Borrowed<'_> {
    fn identity(&self) -> Option<&str> {
        self.0.identity()
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let back_ends = back_ends();
    let wild = wild()?;
    passes(&wild, &back_ends);
    precisions(&wild, &back_ends);
    throughput(&wild, &back_ends);
    let folder = tempfile::tempdir()?;
    remembering(&wild, &back_ends, folder.path());
    println!();
    let mut criterion = Criterion::default().configure_from_args();
    forward(&mut criterion, &back_ends);
    open(&mut criterion, &back_ends);
    criterion.final_summary();
    Ok(())
}
