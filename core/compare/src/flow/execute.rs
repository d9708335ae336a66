//! Executes both versions of a pair on given decisions, once for each. It neither searches, confirms nor shrinks.

use serde::Serialize;
use twincell_behavior::{Channel, Rules, differences};
use twincell_engine::protocol::{ExecutionRecord, ExecutionRequest};
use twincell_engine::{Executed, WorkerPool};
use twincell_values::predictor::Predictor;
use twincell_values::reading::written_value;
use twincell_values::value::{AbstractValue, Decision, Fixed, Recipe};

use super::pair::Pair;
use super::prepare::{Prepared, prepare};
use super::select::{is_worth, select};
use super::sources::Sources;
use crate::campaign::both;
use crate::{CompareError, CompareOptions, Source};

/// What an execution starts from. Whatever is not fixed is drawn.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Inputs {
    pub seed: u64,
    pub fixed: Fixed,
}

/// What a few executions of one pair gave.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Executions {
    /// One for each of the inputs, in their order.
    pub executions: Vec<Execution>,
    /// Whether they left something in their process that cannot be restored, so that a comparison would not trust them.
    pub tainted: bool,
}

/// What became of one execution.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Execution {
    /// Absent if a worker ended before it had one.
    pub record: Option<ExecutionRecord>,
    /// Why there is no record.
    pub lost: Option<String>,
    /// The channels in which the versions differ, each once. Nothing is confirmed: a difference may be noise.
    pub differing: Vec<Channel>,
}

/// Executes the first pair that changed, or the first one if none did, so that one text can be given twice. There is one
/// execution for each of `inputs`.
pub fn execute(
    old: &Source,
    new: &Source,
    predictor: &dyn Predictor,
    pool: &WorkerPool,
    options: &CompareOptions,
    inputs: &[Inputs],
) -> Result<Executions, CompareError> {
    let (old, _) = super::plain(old);
    let (new, _) = super::plain(new);
    let sources = Sources::new(&old, &new, options);
    let selected = select(&old, &new, options)?.pairs;
    let unchanged = selected.first().cloned();
    let worth = selected.into_iter().filter(|functions| is_worth(&sources, functions, options));
    let mut pairs = worth.map(|functions| Pair::new(&sources, functions, options.max_function));
    let pair = pairs.find(|pair| !pair.is_same_program());
    let pair = pair.or_else(|| Some(Pair::new(&sources, unchanged?, options.max_function)));
    let pair = pair.ok_or_else(|| CompareError::Replay("there is nothing to execute".into()))?;
    let Prepared { mut loaded, plan, .. } = prepare(&pair, predictor, pool, options)?.map_err(CompareError::Replay)?;
    let requests = inputs.iter().zip(0..).map(|(inputs, index)| ExecutionRequest {
        index,
        seed: inputs.seed,
        fixed: inputs.fixed.clone(),
        versions: both(),
        explain: true,
        ..ExecutionRequest::default()
    });
    let executed = loaded.run(requests.collect())?;
    let executions = executed.into_iter().map(|executed| execution(executed, &plan.rules)).collect();
    Ok(Executions { executions, tainted: loaded.is_tainted() })
}

fn execution(executed: Executed, rules: &Rules) -> Execution {
    let record = match executed {
        Executed::Record(record) => *record,
        Executed::Lost { reason, .. } => {
            return Execution { record: None, lost: Some(reason), differing: vec![] };
        }
    };
    let mut differing = match record.behaviors.as_slice() {
        [old, new] => differences(old, new, rules).into_iter().map(|difference| difference.channel).collect(),
        _ => vec![],
    };
    differing.sort_unstable();
    differing.dedup();
    Execution { record: Some(record), lost: None, differing }
}

/// The decision that a person wrote: a value as Python writes it, `object()`, `callable()` or `resource()`, or one of
/// `raises KeyError`, `missing`, `default` and `same as PATH`. `None` for anything else.
///
/// ```
/// use twincell_compare::written_decision;
/// use twincell_values::value::{Decision, Recipe};
///
/// assert_eq!(written_decision("3"), Some(Decision::Value(Recipe::Int(3))));
/// assert_eq!(written_decision("raises KeyError"), Some(Decision::Raise("KeyError".into())));
/// assert_eq!(written_decision("3 +"), None);
/// ```
pub fn written_decision(text: &str) -> Option<Decision> {
    let text = text.trim();
    let named = |start: &str| text.strip_prefix(start).map(str::trim).filter(|name| !name.is_empty());
    let object = |class| Some(Decision::Value(Recipe::Mock(class)));
    match text {
        "missing" => Some(Decision::Fail),
        "default" => Some(Decision::Default),
        "object()" => object(AbstractValue::Object),
        "callable()" => object(AbstractValue::Callable),
        "resource()" => object(AbstractValue::Resource),
        _ => (named("raises ").map(|name| Decision::Raise(name.into())))
            .or_else(|| named("same as ").map(|path| Decision::Same(path.into())))
            .or_else(|| written_value(text).map(Decision::Value)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_decision_is_written_as_a_value_or_in_words() {
        let resource = Decision::Value(Recipe::Mock(AbstractValue::Resource));
        let table = [
            ("missing", Decision::Fail),
            (" default ", Decision::Default),
            ("resource()", resource),
            ("same as a.b", Decision::Same("a.b".into())),
            ("'missing'", Decision::Value(Recipe::Str("missing".into()))),
        ];
        for (text, decision) in table {
            assert_eq!(written_decision(text), Some(decision), "{text}");
        }
        for text in ["", "raises ", "a + b", "lambda: 1"] {
            assert_eq!(written_decision(text), None, "{text}");
        }
    }
}
