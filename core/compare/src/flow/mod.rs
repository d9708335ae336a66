//! The main job: two texts -> a [`Comparison`]. `select` finds the pairs, `pair` what belongs to one, `program` what
//! runs of it, and `prepare` makes it ready. `trial` goes without the network. `witness` picks the execution to show.
//! `replay` repeats one execution, and `execute` does those that it is given.

mod attribute_usage;
mod brought;
mod classes;
mod contamination;
mod cross_module;
mod dunder;
mod examples;
mod execute;
mod exhaust;
mod imports;
mod pair;
mod prefetch;
mod prepare;
mod program;
mod prove;
mod reached;
mod replay;
mod select;
mod sources;
mod trial;
mod units;
mod witness;

use std::cell::Cell;
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use cross_module::Elsewhere;
use pair::{Pair, VersionParts};
use prepare::{Prepared, prepare};
use program::{instrumented, program};
use select::{Selected, select};
use sources::Sources;

use twincell_engine::protocol::{Context, ExecutionRecord, Isolation, Program};
use twincell_engine::{Loaded, WorkerPool};
use twincell_syntax::instrument::Instrumented;
use twincell_syntax::{CodeKind, Function, PerSide, Side, too_deep};
use twincell_values::predictor::Predictor;

use crate::assemble;
use crate::campaign::{self, Plan, TestCase, Variations};
use crate::note::{Isolated, Note};
use crate::report::{Bound, Comparison, DecidedBy, FORMAT, PairReport, Reason, Support};
use crate::verdict::Verdict;
use crate::{CompareError, CompareOptions, Continue, Progress, Source, decide, reproduce};

pub use examples::unknown_functions;
pub use execute::{Execution, Executions, Inputs, execute, written_decision};
pub use prefetch::{PredictionRequest, requests};
pub use replay::{Again, Replayed, Then, replay};
pub use units::{Unit, units};

/// Compares every function that the two texts have in common and that changed.
///
/// A pure function of its arguments, apart from times and counts of lost executions.
pub fn compare(
    old: &Source,
    new: &Source,
    predictor: &dyn Predictor,
    pool: &WorkerPool,
    options: &CompareOptions,
    progress: &mut dyn FnMut(Progress) -> Continue,
) -> Result<Comparison, CompareError> {
    let started = Instant::now();
    for source in [old, new] {
        let sizes = texts_of(source).map(str::len);
        if sizes.into_iter().any(|bytes| bytes as u64 > options.max_source) {
            return Err(CompareError::TooLarge { label: source.label.clone(), limit: options.max_source });
        }
        let deep = texts_of(source).into_iter().find_map(too_deep);
        if let Some(place) = deep {
            return Err(CompareError::TooDeep { label: source.label.clone(), place });
        }
    }
    let (old, old_note) = plain(old);
    let (new, new_note) = plain(new);
    let Selected { pairs, added, removed } = select(&old, &new, options)?;
    let sources = Sources::new(&old, &new, options);
    let worth: Vec<bool> = pairs.iter().map(|functions| select::is_worth(&sources, functions, options)).collect();
    // If nothing changed, all pairs are reported as the same.
    let all = !worth.contains(&true);
    let (pairs, taken): (Vec<Pair>, Vec<Duration>) = pairs
        .into_iter()
        .zip(worth)
        .filter(|(_, worth)| all || *worth)
        .map(|(functions, _)| {
            let begun = Instant::now();
            let pair = Pair::new(&sources, functions, options.max_function);
            (pair, begun.elapsed())
        })
        .unzip();
    let count = pairs.len() as u32;
    let mut reports = Vec::new();
    let stopped = Cell::new(false);
    for (number, (pair, taken)) in pairs.iter().zip(taken).enumerate() {
        if stopped.get() && !pair.is_same_program() {
            reports.push(assemble::failed(&pair.context(), Reason::NotReached));
            continue;
        }
        let mut pair_progress = |executions: u32, coverage: f64| {
            let answer =
                progress(Progress { pair: number as u32, pairs: count, executions, budget: options.budget, coverage });
            stopped.set(answer == Continue::Stop);
            answer
        };
        let begun = Instant::now();
        let mut report = compare_pair(pair, taken, predictor, pool, options, &mut pair_progress)?;
        if report.verdict != Verdict::Identical {
            let functions = pair.versions.as_ref().map(|version| version.parts[0].clone());
            let Elsewhere { changed, are_judged } =
                cross_module::changed(&sources, &functions, &options.compared_files);
            if report.verdict == Verdict::Changing && !changed.is_empty() && are_judged && !stopped.get() {
                let taken = taken + begun.elapsed();
                let within = within_one_project(&old, &new, &functions, options);
                // An error here costs nobody the report.
                let alone = within
                    .and_then(|pair| compare_pair(&pair, taken, predictor, pool, options, &mut pair_progress).ok());
                let is_preserving = alone.is_some_and(|alone| {
                    matches!(alone.verdict, Verdict::LikelyPreserving | Verdict::Identical) && !stopped.get()
                });
                if is_preserving {
                    report.decided_by = DecidedBy::OtherModules(changed.clone());
                }
            }
            if let Reason::NoDifference { support, .. } = &mut report.reason
                && options.techniques.proof
                && changed.is_empty()
                && let Some(proof) = prove::proof(&sources, &functions)
            {
                *support = Support::Proved(proof);
            }
            let note = (!changed.is_empty()).then_some(Note::ChangedElsewhere { changed, are_judged });
            report.notes.extend(note);
        }
        // It is told once: of the statements, or of the function that somebody asked for.
        if pair.kind() == CodeKind::Snippet || options.function.is_some() {
            select::note_replacing(&sources, &mut report);
        }
        reports.push(report);
    }
    let pairs: Vec<Pair> = prune_inconclusive(pairs, &mut reports);
    let in_other_modules: Vec<bool> = reports.iter().map(|report| !report.decides_itself()).collect();
    let decided = select::deciders(&sources, &pairs, &reports);
    // Who is covered by others lends nobody its verdict.
    let decides = |(position, report): &(usize, &PairReport)| {
        report.decides_itself() && decided.iter().all(|(other, _)| other != position)
    };
    let changing = reports.iter().enumerate().filter(decides).map(|(_, report)| report);
    let changing = changing.filter(|report| report.verdict == Verdict::Changing);
    let changing: BTreeSet<String> = changing.map(|report| report.new.qualname.clone()).collect();
    for (position, by) in decided {
        if !in_other_modules[position] {
            let is_changing = by.iter().any(|name| changing.contains(name));
            let verdict = if is_changing { Verdict::Changing } else { Verdict::LikelyPreserving };
            reports[position].decided_by = DecidedBy::Pairs { names: by, verdict };
        }
    }
    let has_run = reports.iter().any(|report| !report.executions.is_empty());
    if let Some(report) = reports.first_mut() {
        let unknown = examples::unknown(&sources, &options.examples);
        let not_given = options.not_given.iter().cloned().map(Note::NotGiven);
        let notes = old_note.into_iter().chain(new_note).chain(unknown).chain(not_given);
        report.notes.extend(notes);
    }
    if let Some(report) = reports.iter_mut().find(|report| !report.executions.is_empty()) {
        report.notes.extend(of_project([&old, &new]));
    }
    let verdict = overall(&reports);
    Ok(Comparison {
        format: FORMAT,
        twincell: env!("CARGO_PKG_VERSION").into(),
        verdict,
        verdict_of_pairs: verdict,
        pairs: reports,
        added,
        removed,
        cells_left_out: vec![],
        predictor: predictor.describe(),
        seed: options.seed,
        budget: options.budget,
        sandbox: has_run.then(|| pool.enforced()).flatten(),
        milliseconds: started.elapsed().as_secs_f64() * 1000.0,
    })
}

/// The verdict on all pairs.
fn overall(reports: &[PairReport]) -> Verdict {
    let is_deciding = |report: &&PairReport| report.decides_itself();
    match reports.is_empty() || reports.iter().any(|report| is_deciding(&report)) {
        true => Verdict::worst(reports.iter().filter(is_deciding).map(|report| report.verdict)),
        // Everything that differs comes from other modules, whose own comparisons judge it.
        false => Verdict::LikelyPreserving,
    }
}

/// The same pair with both texts in one version of their project, if one has all that they name of it.
fn within_one_project(
    old: &Source,
    new: &Source,
    functions: &PerSide<Function>,
    options: &CompareOptions,
) -> Option<Pair> {
    [&new.place, &old.place].into_iter().flatten().find_map(|place| {
        let within = |source: &Source| Source { place: Some(place.clone()), ..source.clone() };
        let sources = Sources::new(&within(old), &within(new), options);
        let is_whole = |side: Side| cross_module::is_whole(&sources, side, &functions[side], place);
        let pair = || Pair::new(&sources, (functions.old.clone(), functions.new.clone()), options.max_function);
        Side::BOTH.into_iter().all(is_whole).then(pair)
    })
}

/// What is parsed of a source.
fn texts_of(source: &Source) -> [&str; 3] {
    [&source.text, source.module.as_deref().unwrap_or_default(), &source.context]
}

/// The modules of their projects that the versions import.
fn of_project(sources: [&Source; 2]) -> Option<Note> {
    let placed = sources.into_iter().filter_map(|source| Some((source.place.as_ref()?, source)));
    let texts = placed.flat_map(|(place, source)| texts_of(source).map(|text| (place, text)));
    let modules: BTreeSet<String> = texts.flat_map(|(place, text)| place.imported(text)).collect();
    (!modules.is_empty()).then(|| Note::OfProject(modules.into_iter().collect()))
}

/// A text without notebook syntax, and the notes about it.
fn plain(source: &Source) -> (Source, Option<Note>) {
    let Some((text, lines)) = twincell_syntax::plain_python(&source.text) else { return (source.clone(), None) };
    let note = Note::Magics { label: source.label.clone(), lines };
    (Source { text, ..source.clone() }, Some(note))
}

/// Drops whole classes and snippets that say nothing, if the functions in them are compared as well.
fn prune_inconclusive(pairs: Vec<Pair>, reports: &mut Vec<PairReport>) -> Vec<Pair> {
    let says = |pair: &Pair, report: &PairReport| {
        pair.kind() == CodeKind::Function
            && report.verdict != Verdict::Identical
            && report.verdict != Verdict::Inconclusive
    };
    let others = pairs.iter().zip(reports.iter()).any(|(pair, report)| says(pair, report));
    let keep = |pair: &Pair, report: &PairReport| {
        !(others && pair.kind() == CodeKind::Class && report.verdict == Verdict::Inconclusive)
    };
    let kept: Vec<bool> = pairs.iter().zip(reports.iter()).map(|(pair, report)| keep(pair, report)).collect();
    let mut flags = kept.iter();
    reports.retain(|_| flags.next().copied().unwrap_or(true));
    pairs.into_iter().zip(kept).filter(|(_, keep)| *keep).map(|(pair, _)| pair).collect()
}

/// The programs that [`compare`] loads into workers: one for each pair that can be instrumented. They serve to measure
/// executions by themselves.
pub fn programs(
    old: &Source,
    new: &Source,
    predictor: &dyn Predictor,
    options: &CompareOptions,
) -> Result<Vec<Program>, CompareError> {
    let mut programs = Vec::new();
    let selected = select(old, new, options)?.pairs;
    let sources = Sources::new(old, new, options);
    for functions in selected.into_iter().filter(|functions| select::is_worth(&sources, functions, options)) {
        let pair = Pair::new(&sources, functions, options.max_function);
        if let Ok(instrumented) = instrumented(&pair) {
            programs.push(program(&pair, &instrumented, predictor, options)?);
        }
    }
    Ok(programs)
}

/// `taken`: how much of its time the pair has used so far.
fn compare_pair(
    pair: &Pair,
    taken: Duration,
    predictor: &dyn Predictor,
    pool: &WorkerPool,
    options: &CompareOptions,
    progress: &mut dyn FnMut(u32, f64) -> Continue,
) -> Result<PairReport, CompareError> {
    let about = pair.context();
    if pair.is_same_program() {
        return Ok(assemble::identical(&about));
    }
    if let Some(bound) = &pair.exceeds {
        return Ok(assemble::bounded(&about, bound.clone()));
    }
    let deadline = Instant::now() + options.deadline.saturating_sub(taken);
    let is_over = || Instant::now() >= deadline;
    let mut within = |executions: u32, coverage: f64| match progress(executions, coverage) {
        Continue::Yes if is_over() => Continue::Stop,
        answer => answer,
    };
    let (pool, was_stopped) = (pool.until(deadline), Cell::new(false));
    let mut report = compare_within(pair, predictor, &pool, options, &mut within, &was_stopped)?;
    // One that ended by itself just now is whole.
    if is_over() && (was_stopped.get() || pool.was_cut()) {
        assemble::cut(&mut report, Bound::Deadline { seconds: options.deadline.as_secs_f64() });
    }
    Ok(report)
}

/// Compares a pair until the pool stops. Sets `was_stopped` if something is left undone because `progress` said so.
fn compare_within(
    pair: &Pair,
    predictor: &dyn Predictor,
    pool: &WorkerPool,
    options: &CompareOptions,
    progress: &mut dyn FnMut(u32, f64) -> Continue,
    was_stopped: &Cell<bool>,
) -> Result<PairReport, CompareError> {
    let started = Instant::now();
    let about = pair.context();
    let quick = trial::quick(predictor, options);
    let Prepared { instrumented, mut program, mut loaded, context, target, plan, mut notes } =
        match prepare(pair, quick.unwrap_or(predictor), pool, options)? {
            Ok(prepared) => prepared,
            Err(reason) => return Ok(assemble::failed(&about, Reason::NotRun(reason))),
        };
    let mut predicted_by = quick.unwrap_or(predictor);
    let tried = match quick.map(|_| trial::run(&mut loaded, &target, &plan, progress)) {
        None => None,
        Some(Ok(settled)) => settled,
        Some(Err(error)) => return Ok(assemble::failed(&about, Reason::NotRun(error.to_string()))),
    };
    if tried.is_none() && quick.is_some() {
        predicted_by = predictor;
        if let Err(error) = trial::predict(pair, &instrumented, predictor, &mut program, &mut loaded, options)? {
            return Ok(assemble::failed(&about, Reason::NotRun(error.to_string())));
        }
    }
    let mut campaign = match tried.map_or_else(|| campaign::run(&mut loaded, &target, &plan, progress), Ok) {
        Ok(campaign) => campaign,
        // A worker that cannot be replaced costs only this pair.
        Err(error) => return Ok(assemble::failed(&about, Reason::NotRun(error.to_string()))),
    };
    was_stopped.set(campaign.stopped_early);
    let mut forged = loaded.forged;
    if program.isolation == Isolation::Process {
        notes.push(Note::Isolated(Isolated::All));
    } else if contamination::is_cross_contaminated(&campaign, &mut loaded) {
        let isolated = contamination::run_isolated(pool, &mut program, loaded, campaign, &target, &plan, progress);
        let done;
        (loaded, campaign, done) = match isolated {
            Ok(found) => found,
            Err(error) => return Ok(assemble::failed(&about, Reason::NotRun(error.to_string()))),
        };
        was_stopped.set(was_stopped.get() || campaign.stopped_early);
        notes.extend(done.map(Note::Isolated));
    }
    if let Err(error) = campaign.settle_limits(&mut loaded) {
        return Ok(assemble::failed(&about, Reason::NotRun(error.to_string())));
    }
    if plan.techniques.exhaustion
        && matches!(decide(&campaign, None, &target), (Verdict::LikelyPreserving, Reason::NoDifference { .. }))
        && let Err(error) = exhaust::exhaust(pair, &mut loaded, &mut campaign, &plan)
    {
        return Ok(assemble::failed(&about, Reason::NotRun(error.to_string())));
    }
    // This is only shown. Without it a view says less.
    let classes = campaign::explain(&mut loaded, &campaign).unwrap_or_default();
    let functions = pair.functions();
    let write = |witness: &TestCase, further: &[ExecutionRecord], loaded: &mut Loaded<'_>| {
        let case = case(pair, &functions, &instrumented, &program, &plan, witness, &notes);
        reproduce::verified(&reproduce::Case { further, ..case }, loaded)
    };
    let found = campaign.witness.map(|position| &campaign.executions[position]);
    let is_contaminated = program.isolation == Isolation::Process && options.isolation != Isolation::Process;
    let mut witness = None;
    if let Some(found) = found {
        let mut choose = |loaded: &mut Loaded<'_>| {
            let mut go_on = || {
                let answer = progress(campaign.executed() as u32, found.coverage);
                was_stopped.set(was_stopped.get() || answer == Continue::Stop);
                answer
            };
            witness::choose_reported(found, loaded, &plan, &program.literals, &write, &mut go_on)
        };
        let (chosen, is_forged) = if is_contaminated {
            contamination::choose_in_one_process(pool, &program, loaded, found, &plan, &mut choose, &write)
        } else {
            (choose(&mut loaded), loaded.forged)
        };
        forged |= is_forged;
        witness = Some(chosen);
    } else {
        forged |= loaded.forged;
    }
    let (verdict, reason) = match forged {
        true => decide::forged(),
        false => decide(&campaign, witness.as_ref().map(|witness| &witness.case), &target),
    };
    let report = assemble::report(
        &about,
        &assemble::CampaignSummary {
            sites: instrumented.as_ref().map(|instrumented| instrumented.sites.sites.as_slice()),
            verdict,
            reason,
            campaign: &campaign,
            witness: witness.as_ref().map(|witness| &witness.case),
            decisive: witness.as_ref().map_or(&[], |witness| &witness.decisive),
            variations: witness.as_ref().map_or(&Variations::default(), |witness| &witness.variations),
            reproducer: witness.as_ref().map(|witness| &witness.reproducer),
            target: &target,
            rules: &plan.rules,
            classes: &classes,
            notes: &notes,
            context,
            milliseconds: started.elapsed().as_secs_f64() * 1000.0,
        },
    );
    Ok(PairReport {
        isolation: program.isolation,
        predicted_by: predicted_by.describe(),
        stays_away: report.stays_away && !forged,
        ..report
    })
}

/// A witness with all that its reproducer is made of.
fn case<'a>(
    pair: &'a Pair,
    functions: &'a PerSide<Function>,
    instrumented: &'a PerSide<Instrumented>,
    program: &'a Program,
    plan: &'a Plan,
    witness: &'a TestCase,
    notes: &'a [Note],
) -> reproduce::Case<'a> {
    let alone = campaign::is_without_module(&witness.record.choices);
    let is_left_out = alone || notes.iter().any(|note| matches!(note, Note::ModuleEndsWorker { .. }));
    // The texts of the program have marks that count steps; these have none.
    let module = |version: &'a VersionParts| if is_left_out { version.alone.as_str() } else { &*version.elsewhere };
    reproduce::Case {
        functions,
        bodies: pair.versions.as_ref().map(|version| &version.body),
        decorators: pair.versions.as_ref().map(|version| version.decorators.as_slice()),
        modules: pair.versions.as_ref().map(module),
        context: if alone { Context::Function } else { program.context },
        renames: &pair.diff.renames,
        function_renames: &pair.function_renames,
        sites: instrumented.as_ref().map(|instrumented| &instrumented.sites),
        record: &witness.record,
        further: &[],
        differences: &witness.differences,
        only: None,
        notes,
        rules: &plan.rules,
        seed: plan.seed,
    }
}

#[cfg(test)]
mod tests {
    use twincell_engine::PoolOptions;
    use twincell_values::predictor::{Distribution, FunctionSites, PredictError};

    use super::*;
    use crate::report;

    struct Uniform;

    impl Predictor for Uniform {
        fn describe(&self) -> String {
            "uniform".into()
        }

        fn predict(&self, functions: &[FunctionSites<'_>]) -> Result<Vec<Vec<Distribution>>, PredictError> {
            Ok(functions.iter().map(|function| vec![Distribution::default(); function.sites.len()]).collect())
        }
    }

    fn pair(old: &str, new: &str, most: u32) -> Pair {
        let source = |text: &str| Source { text: text.into(), ..Source::default() };
        let (old, new, options) = (source(old), source(new), CompareOptions::default());
        let functions = select(&old, &new, &options).unwrap().pairs.remove(0);
        Pair::new(&Sources::new(&old, &new, &options), functions, most)
    }

    const OLD: &str = "def f(a):\n    x = a + 1\n    return x\n";
    const NEW: &str = "def f(a):\n    x = a + 2\n    return x\n";

    /// Compares a pair with a pool that has no Python to start, so nothing can run.
    fn compared(pair: &Pair, taken: Duration) -> Result<PairReport, CompareError> {
        let pool = WorkerPool::new(PoolOptions::new("/no/python/here"));
        let options = CompareOptions { deadline: Duration::from_secs(3600), ..CompareOptions::default() };
        compare_pair(pair, taken, &Uniform, &pool, &options, &mut |_, _| Continue::Yes)
    }

    #[test]
    fn the_time_that_a_pair_took_to_make_is_part_of_its_time() {
        let pair = pair(OLD, NEW, u32::MAX);
        let report = compared(&pair, Duration::from_secs(3600)).unwrap();
        assert_eq!(report.bound, Some(Bound::Deadline { seconds: 3600.0 }));
        // With time left, a worker is started.
        assert!(compared(&pair, Duration::ZERO).is_err());
    }

    #[test]
    fn every_listed_line_has_the_number_of_its_own_text() {
        let text = |limit: u32| {
            format!(
                "def limit(x):\n    return x > {limit}\n\n\ndef other():\n    pass\n\n\ndef f(x):\n    return limit(x)\n"
            )
        };
        let sources = PerSide::new(text(1), text(2)).map(|text| Source { text, ..Source::default() });
        let listed = |sources: PerSide<Source>| {
            let options = CompareOptions::default();
            let found = select(&sources.old, &sources.new, &options).unwrap().pairs;
            let uses = found.into_iter().find(|(old, _)| old.qualname == "f").unwrap();
            let pair = Pair::new(&Sources::new(&sources.old, &sources.new, &options), uses, u32::MAX);
            assemble::identical(&pair.context()).new
        };
        let version = listed(sources.clone());
        assert_eq!((version.first_line, version.lines.len()), (9, 4));
        let part = |number, first_line, text| report::PartReport { number, first_line, text };
        assert_eq!(version.parts, [part(3, 1, report::PartText::Own)]);
        // The text of a cell begins behind those of earlier ones.
        let behind = sources.map(|source| Source { context: "import math\n\nx = 1".into(), ..source });
        assert_eq!(listed(behind).parts, [part(3, 1, report::PartText::Own)]);
        let cell = "def f(x):\n    return limit(x)\n";
        let split =
            PerSide::new(text(1), text(2)).map(|context| Source { context, text: cell.into(), ..Source::default() });
        let version = listed(split);
        assert_eq!((version.first_line, version.parts), (1, vec![part(3, 1, report::PartText::EarlierCells)]));
    }

    #[test]
    fn only_what_is_judged_in_other_modules_counts_as_likely_preserving() {
        let pair = pair(OLD, NEW, u32::MAX);
        let mut report = PairReport { verdict: Verdict::Changing, ..assemble::identical(&pair.context()) };
        assert_eq!(overall(&[]), Verdict::Identical);
        assert_eq!(overall(std::slice::from_ref(&report)), Verdict::Changing);
        report.decided_by = DecidedBy::OtherModules(vec![]);
        assert_eq!(overall(&[report]), Verdict::LikelyPreserving);
    }

    #[test]
    fn a_pair_that_needs_no_more_time_is_not_cut() {
        let too_large = pair(OLD, NEW, 3);
        let bound = compared(&too_large, Duration::from_secs(3600)).unwrap().bound;
        assert!(matches!(bound, Some(Bound::Size { most: 3, .. })), "{bound:?}");
        let same = pair(OLD, &OLD.replace('x', "y"), u32::MAX);
        assert_eq!(compared(&same, Duration::from_secs(3600)).unwrap().bound, None);
    }

    #[test]
    fn a_pair_that_is_too_large_is_not_aligned() {
        let large = pair(OLD, NEW, 3);
        assert!(large.exceeds.is_some() && !large.is_same_program() && large.diff.lines.iter().all(Vec::is_empty));
        assert_eq!(pair(OLD, NEW, u32::MAX).diff.lines, PerSide::new(vec![2], vec![2]));
        assert!(pair(OLD, &OLD.replace('x', "y"), 3).is_same_program());
    }
}
