//! The floor: what the reproducer of a witness costs, which runs the same functions on the same values without hooks.

use std::time::Instant;

use twincell_behavior::{Rules, differences};
use twincell_compare::{Continue, compare, programs};
use twincell_engine::protocol::{Context, ExecutionRequest};
use twincell_engine::{Executed, WorkerPool};
use twincell_values::predictor::Predictor;
use twincell_values::value::Fixed;

use super::{BATCH, Change, Failure, SPAN};

/// Runs of a reproducer between two looks at the clock.
const RUNS: u32 = 50;

/// Follows a reproducer whose test is called `bare`: module and functions are evaluated once, as a worker does, and each
/// run begins without what the run before left. The time goes out as the reason why a test fails.
const TIMED: &str = "
import time

ready, evaluate = [], globals().get('load')


def load():
    if not ready:
        ready.append(evaluate())
    return ready[0]


def once():
    if 'Standin' in globals():
        for kept in (made, calls, asked, log):
            kept.clear()
    try:
        bare()
    except BaseException:
        pass




def test_floor():
    once()
    done, spent, start = 0, 0, time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    while spent < SPAN:
        for _ in range(RUNS):
            once()
        done, spent = done + RUNS, time.clock_gettime_ns(time.CLOCK_MONOTONIC) - start
    raise SystemExit(spent / done)
";

/// What one execution of a change's witness costs, and its floor, in microseconds.
pub struct Cost {
    pub execution: f64,
    pub bare: f64,
}

/// The costs of the changes that have a reproducer.
pub fn costs(
    changes: &[Change],
    context: Context,
    pool: &WorkerPool,
    predictor: &dyn Predictor,
) -> Result<Vec<Cost>, Failure> {
    let mut costs = Vec::new();
    for change in changes {
        let (old, new, options) = change.sources(context);
        let Ok(comparison) = compare(&old, &new, predictor, pool, &options, &mut |_| Continue::Yes) else { continue };
        let [pair] = comparison.pairs.as_slice() else { continue };
        let (Some(witness), Some(reproducer)) = (&pair.witness, &pair.reproducer) else { continue };
        let Some(source) = reproducer.source.as_deref().filter(|_| reproducer.holds == Some(true)) else { continue };
        let Some(program) = programs(&old, &new, predictor, &options)?.into_iter().next() else { continue };
        let mut loaded = pool.load(&program)?;
        let Some(seed) = pair.executions.iter().find(|kept| kept.number == witness.execution).map(|kept| kept.seed)
        else {
            continue;
        };
        let fixed: Fixed =
            witness.choices.iter().map(|choice| (choice.path.clone(), choice.decision.clone())).collect();
        let mut done = 0;
        let start = Instant::now();
        while start.elapsed() < SPAN {
            let requests = (0..BATCH).map(|index| ExecutionRequest {
                index,
                seed,
                fixed: fixed.clone(),
                versions: vec![0, 1],
                ..ExecutionRequest::default()
            });
            for executed in loaded.run(requests.collect())? {
                if let Executed::Record(record) = executed
                    && let [old, new] = record.behaviors.as_slice()
                {
                    std::hint::black_box(differences(old, new, &Rules::default()));
                    done += 1;
                }
            }
        }
        let execution = start.elapsed().as_secs_f64() * 1e6 / f64::from(done.max(1));
        let Some(at) = source.rfind("\ndef test_") else { continue };
        let Some(end) = source[at..].find("():").map(|end| at + end) else { continue };
        let timed = TIMED.replace("RUNS", &RUNS.to_string()).replace("SPAN", &SPAN.as_nanos().to_string());
        let script = format!("{}\ndef bare{}{timed}", &source[..at], &source[end..]);
        let mut bare = Some(0.0);
        for subject in ["old", "new"] {
            let said = loaded.test(&script, subject, 0)?.failure.unwrap_or_default();
            let nanoseconds =
                said.strip_prefix("SystemExit: ").and_then(|rest| rest.split(' ').next()?.parse::<f64>().ok());
            bare = bare.zip(nanoseconds).map(|(sum, nanoseconds)| sum + nanoseconds / 1e3);
        }
        costs.extend(bare.map(|bare| Cost { execution, bare }));
    }
    Ok(costs)
}
