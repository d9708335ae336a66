//! One forward pass on each CPU back end, tokenizing and reading included, and opening the network.
//!
//! `cargo bench -p twincell-models`. ONNX Runtime takes part when TWINCELL_ONNXRUNTIME names its shared library.

use std::hint::black_box;
use std::path::PathBuf;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use twincell_core::predictor::{FunctionSites, Predictor};
use twincell_core::site::{Site, SiteKind};
use twincell_models::{ModelOptions, Neural};

/// Functions of about this many tokens: a line of the body is 15.
const TOKENS: [usize; 2] = [64, 512];

fn back_ends() -> Vec<(&'static str, Option<PathBuf>)> {
    let library = std::env::var_os("TWINCELL_ONNXRUNTIME").map(PathBuf::from);
    [("rten", None)].into_iter().chain(library.map(|library| ("onnxruntime", Some(library)))).collect()
}

fn network(library: &Option<PathBuf>, threads: usize) -> Neural {
    let options =
        ModelOptions { onnxruntime_library: library.clone(), threads, allow_gpu: false, ..ModelOptions::default() };
    Neural::new(&options).expect("the embedded network opens")
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

fn forward(criterion: &mut Criterion) {
    for (name, library) in back_ends() {
        for threads in [1, 2] {
            let network = network(&library, threads);
            let mut group = criterion.benchmark_group(format!("{name}, {threads} threads"));
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

fn open(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("open the network");
    group.sample_size(10).warm_up_time(Duration::from_millis(200)).measurement_time(Duration::from_secs(2));
    for (name, library) in back_ends() {
        group.bench_function(name, |bencher| bencher.iter(|| network(&library, 2).describe()));
    }
    group.finish();
}

criterion_group!(benches, forward, open);
criterion_main!(benches);
