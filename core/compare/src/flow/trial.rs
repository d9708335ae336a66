//! The trial before the network is asked: a few executions on predictions that cost nothing. A clear difference on likely
//! values ends the search there. Otherwise the trial is forgotten, and the search begins with the network's predictions,
//! as if there had been no trial.

use twincell_engine::protocol::{Isolation, Program};
use twincell_engine::{EngineError, Loaded};
use twincell_search::Target;
use twincell_syntax::PerSide;
use twincell_syntax::instrument::Instrumented;
use twincell_values::predictor::Predictor;

use super::pair::Pair;
use super::program::program;
use crate::campaign::{self, Campaign, Plan};
use crate::{CompareError, CompareOptions, Continue};

/// The maximum number of executions of a trial.
const TRIAL: u32 = 16;

/// The predictor of the trial, if there is one. Where each execution has its own process, a trial costs more than the
/// network.
pub(super) fn quick<'a>(predictor: &'a dyn Predictor, options: &CompareOptions) -> Option<&'a dyn Predictor> {
    predictor.quick().filter(|_| options.techniques.trial && options.isolation != Isolation::Process)
}

/// The campaign of the trial, if it settles the pair.
pub(super) fn run(
    loaded: &mut Loaded<'_>,
    target: &Target,
    plan: &Plan,
    progress: &mut dyn FnMut(u32, f64) -> Continue,
) -> Result<Option<Campaign>, EngineError> {
    let trial = Plan { trial: Some(TRIAL), ..plan.clone() };
    let campaign = campaign::run(loaded, target, &trial, progress)?;
    Ok(campaign.is_settled().then_some(campaign))
}

/// Gives a loaded program the predictions of another predictor. The inner error says, for people, why it cannot go on.
pub(super) fn predict(
    pair: &Pair,
    instrumented: &PerSide<Instrumented>,
    predictor: &dyn Predictor,
    loaded_program: &mut Program,
    loaded: &mut Loaded<'_>,
    options: &CompareOptions,
) -> Result<Result<(), EngineError>, CompareError> {
    let predicted = program(pair, instrumented, predictor, options)?;
    for (own, version) in loaded_program.versions.iter_mut().zip(predicted.versions) {
        own.predictions = version.predictions;
        own.uses = version.uses;
    }
    Ok(loaded.predict(loaded_program))
}
