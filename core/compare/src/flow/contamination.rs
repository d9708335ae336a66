//! Cross-contamination between executions of one process, removed by repeating them, each in its own process.
//!
//! Executions leave something behind that nobody can restore (state in C, in other modules). It may hide a difference
//! or make one up. A difference counts if it also shows in isolation. If it does not, or if none was found and one that
//! did not appear again does so once nothing is left behind, the campaign starts over in isolation. Each such process
//! loads the program anew, which can take a hundred times as long. So where no difference was found, only the first
//! executions are repeated. The witness to report is looked for in one process before it is in isolation.

use twincell_engine::protocol::{Isolation, Program};
use twincell_engine::{EngineError, Loaded, WorkerPool};
use twincell_search::Target;

use super::witness::{ReportedWitness, Write};
use crate::Continue;
use crate::campaign::{self, Campaign, Plan, TestCase};
use crate::note::Isolated;

/// The number of executions in isolation if those of one process showed no difference.
const ISOLATED: u32 = 32;

/// Whether the campaign was contaminated by the leftovers of its own executions, as far as one can tell.
pub(super) fn is_cross_contaminated(campaign: &Campaign, loaded: &mut Loaded<'_>) -> bool {
    !campaign.stopped_early && (loaded.is_tainted() || campaign.witness.is_none() && campaign.noisy.is_some())
}

/// Runs a contaminated campaign again in isolation, where that may help. Returns the final campaign, and what of it ran
/// in isolation.
pub(super) fn run_isolated<'p>(
    pool: &'p WorkerPool,
    program: &mut Program,
    loaded: Loaded<'p>,
    contaminated: Campaign,
    target: &Target,
    plan: &Plan,
    progress: &mut dyn FnMut(u32, f64) -> Continue,
) -> Result<(Loaded<'p>, Campaign, Option<Isolated>), EngineError> {
    let mut loaded = loaded;
    let tainted = loaded.is_tainted();
    drop(loaded);
    program.isolation = Isolation::Process;
    let mut loaded = pool.load(program)?;
    if let Some(noisy) = contaminated.noisy.as_ref().filter(|_| !tainted)
        && !(campaign::differs(&mut loaded, noisy, &plan.rules)?
            && campaign::is_deterministic(&mut loaded, noisy, &plan.rules)?)
    {
        // The difference is not there without leftovers either, or the code itself behaves differently each time. So
        // isolation changes nothing.
        program.isolation = Isolation::Auto;
        return Ok((loaded, contaminated, None));
    }
    if let Some(witness) = contaminated.witness
        && campaign::is_same_again(&mut loaded, &contaminated.executions[witness], &plan.rules)?
    {
        return Ok((loaded, contaminated, Some(Isolated::Witness)));
    }
    let budget = if contaminated.witness.is_some() { plan.budget } else { plan.budget.min(ISOLATED) };
    let isolated = campaign::run(&mut loaded, target, &Plan { budget, ..plan.clone() }, progress)?;
    if isolated.witness.is_none() && contaminated.witness.is_none() {
        let count = u32::try_from(isolated.executed()).unwrap_or(u32::MAX);
        return Ok((loaded, contaminated, Some(Isolated::Some(count))));
    }
    Ok((loaded, isolated, Some(Isolated::All)))
}

/// What a campaign in isolation reports of a witness that it found, and whether the code forged a record. It is chosen in
/// one process, which takes a hundredth of the time, and counts if both versions do the same there as in isolation, with the
/// witness that was found and with the one that was chosen. What other values show is left out, since nothing confirms it.
pub(super) fn choose_in_one_process(
    pool: &WorkerPool,
    program: &Program,
    isolated: Loaded<'_>,
    found: &TestCase,
    plan: &Plan,
    choose: &mut dyn FnMut(&mut Loaded<'_>) -> ReportedWitness,
    write: Write<'_>,
) -> (ReportedWitness, bool) {
    let is_same =
        |loaded: &mut Loaded<'_>, case: &TestCase| campaign::is_same_again(loaded, case, &plan.rules).unwrap_or(false);
    let mut forged = isolated.forged;
    // A pool with one worker lends no second one.
    drop(isolated);
    let chosen = pool.load(&Program { isolation: Isolation::Auto, ..program.clone() }).ok().and_then(|mut together| {
        let chosen = is_same(&mut together, found).then(|| choose(&mut together));
        forged |= together.forged;
        chosen
    });
    // A confirmed difference stays one where there is no time to make it smaller.
    let Ok(mut isolated) = pool.load(program) else { return (ReportedWitness::as_found(found), forged) };
    let confirmed = chosen.and_then(|chosen| {
        let reproducer = is_same(&mut isolated, &chosen.case).then(|| write(&chosen.case, &[], &mut isolated))?;
        let is_lost = chosen.reproducer.holds == Some(true) && reproducer.holds != Some(true);
        (!is_lost).then_some(ReportedWitness { reproducer, variations: Default::default(), ..chosen })
    });
    let reported = confirmed.unwrap_or_else(|| choose(&mut isolated));
    (reported, forged || isolated.forged)
}
