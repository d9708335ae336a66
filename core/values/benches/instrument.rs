//! What precedes the first execution of a pair, predictions aside: reading a function, instrumenting it, and aligning
//! two versions of it.
//!
//! `cargo bench -p twincell-values`.

use std::hint::black_box;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};

use twincell_syntax::Function;
use twincell_syntax::instrument::instrument;

/// Lines of the bodies: a small function, a usual one, a long one.
const LINES: [usize; 3] = [8, 32, 128];

/// A function with a bit of everything in about so many lines.
fn function(lines: usize) -> Function {
    let part = "    for item in self.items(name, limit=limit):
        if item.size > limit and item['state'] not in ('done', 'failed'):
            total += item.price * self.rates[item.currency]
            raise_later.append(LookupError(f'{item.name}: {total}'))
        try:
            found = self.store.get(item.key, default).strip()
        except (KeyError, AttributeError) as error:
            log.warning('no %s: %s', item.key, error)
";
    let text = format!(
        "def collect(self, name, limit=10, default=''):\n    total, raise_later = 0, []\n{}    return total\n",
        part.repeat(lines / 8)
    );
    twincell_syntax::functions(&text).0.remove(0)
}

fn pipeline(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("a function");
    group.sample_size(30).warm_up_time(Duration::from_millis(300)).measurement_time(Duration::from_secs(1));
    for lines in LINES {
        let one = function(lines);
        group.bench_with_input(BenchmarkId::new("read, lines", lines), &one, |bencher, one| {
            bencher.iter(|| twincell_syntax::functions(black_box(&one.text)));
        });
        group.bench_with_input(BenchmarkId::new("instrument, lines", lines), &one, |bencher, one| {
            bencher.iter(|| instrument(black_box(one)).expect("it can be instrumented"));
        });
        let sites = instrument(&one).expect("it can be instrumented").sites.sites;
        group.bench_with_input(BenchmarkId::new("uses, lines", lines), &one, |bencher, one| {
            bencher.iter(|| twincell_values::reading::read(black_box(&one.text), &sites));
        });
        let mut other = one.clone();
        other.text = other.text.replace("total", "amount").replace("> limit", ">= limit");
        group.bench_with_input(BenchmarkId::new("diff, lines", lines), &one, |bencher, one| {
            bencher.iter(|| twincell_syntax::diff(black_box(one), black_box(&other)));
        });
    }
    group.finish();
}

criterion_group!(benches, pipeline);
criterion_main!(benches);
