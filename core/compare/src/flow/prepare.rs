//! Makes a pair ready to execute: instruments it, predicts it, loads it into a worker, and plans its campaign.

use std::collections::BTreeSet;
use std::sync::Arc;

use twincell_behavior::Rules;
use twincell_engine::protocol::{Context, Program, Version};
use twincell_engine::{EngineError, Loaded, WorkerPool};
use twincell_search::{Reading, Target, executable_lines};
use twincell_syntax::instrument::Instrumented;
use twincell_syntax::{PerSide, Side, Tested};
use twincell_values::predictor::Predictor;
use twincell_values::reading::Key;

use super::examples::{self, canonical};
use super::pair::Pair;
use super::program::{instrumented, program};
use crate::campaign::{Plan, Techniques};
use crate::note::Note;
use crate::{CompareError, CompareOptions};

pub(super) struct Prepared<'a> {
    pub instrumented: PerSide<Instrumented>,
    pub program: Program,
    pub loaded: Loaded<'a>,
    /// The context that was possible. If evaluating the module ends the worker, it is the function alone.
    pub context: Context,
    pub target: Target,
    pub plan: Plan,
    /// Notes for people.
    pub notes: Vec<Note>,
}

/// The inner error says, for people, why the pair cannot be executed.
pub(super) fn prepare<'a>(
    pair: &Pair,
    predictor: &dyn Predictor,
    pool: &'a WorkerPool,
    options: &CompareOptions,
) -> Result<Result<Prepared<'a>, String>, CompareError> {
    let instrumented = match instrumented(pair) {
        Ok(instrumented) => instrumented,
        Err(error) => {
            return Ok(Err(format!("the function cannot be instrumented: {error}")));
        }
    };
    let mut program = program(pair, &instrumented, predictor, options)?;
    let mut loading = pool.load(&program);
    let mut context = options.context;
    let mut notes = Vec::new();
    if let (Err(EngineError::Dies { reason, .. }), Context::Module) = (&loading, context) {
        notes.push(Note::ModuleEndsWorker { reason: reason.clone() });
        context = Context::Function;
        program.context = context;
        for version in &mut program.versions {
            version.module = std::mem::take(&mut version.alone);
        }
        loading = pool.load(&program);
    }
    if let (Err(EngineError::Dies { reason, .. }), false) = (&loading, program.given.is_empty()) {
        let names = std::mem::take(&mut program.given).into_iter().map(|given| given.name).collect();
        notes.push(Note::GivenEndsWorker { names, reason: reason.clone() });
        loading = pool.load(&program);
    }
    let loaded = match loading {
        Ok(loaded) => loaded,
        Err(EngineError::Load(reason)) => {
            return Ok(Err(format!("the function cannot be loaded: {reason}")));
        }
        Err(error @ (EngineError::Dies { .. } | EngineError::Forged | EngineError::Stopped)) => {
            return Ok(Err(error.to_string()));
        }
        Err(error) => return Err(error.into()),
    };
    notes.extend(loaded.unevaluated.iter().cloned().map(Note::Unevaluated));
    let mut target =
        Target::new(&pair.diff, instrumented.as_ref().map(|instrumented| executable_lines(&instrumented.sites)));
    target.branches = instrumented
        .as_ref()
        .map(|instrumented| instrumented.sites.branches.iter().map(|branch| branch.line).collect());
    let Techniques { directed, observation, mutation, environments, .. } = options.techniques;
    if directed || observation || mutation || environments {
        let renames: PerSide<&[(String, String)]> = PerSide::new(&[], &pair.diff.renames);
        target.readings =
            PerSide::of(|side| Reading::new(&pair.versions[side].parts[0], &instrumented[side].sites, renames[side]));
        target.mappings = mappings(&program, &pair.diff.renames);
    }
    let (mut given, misfits) = examples::of_pair(pair, &options.examples);
    examples::close(&program.versions, &mut given);
    notes.extend(misfits);
    let rules = Rules {
        float_tolerance: options.float_tolerance,
        ordered_keys: options.ordered_keys,
        changed: target.changed.clone(),
        guards: PerSide::of(|side| changed_guards(pair, &target, side)),
        splits: PerSide::of(|side| twincell_syntax::unpacked_splits(&pair.shown[side].text)),
        every_call_acts: !options.techniques.calls,
        ..Rules::default()
    }
    .declaring(&options.declared);
    let plan = Plan {
        budget: options.budget,
        seed: options.seed,
        techniques: options.techniques,
        rules,
        ignore_edge_cases: options.ignore_edge_cases,
        raise_probability: options.raise_probability,
        examples: (examples::of_values(&program.given).map(Arc::new).into_iter()).chain(given).collect(),
        may_replace: context == Context::Module && options.techniques.replacement,
        trial: None,
    };
    Ok(Ok(Prepared { instrumented, program, loaded, context, target, plan, notes }))
}

/// The access paths of the values that some version uses as mappings.
fn mappings(program: &Program, renames: &[(String, String)]) -> BTreeSet<String> {
    let of_version = |(version, renames): (&Version, &[(String, String)])| {
        let sites = version.sites.sites.iter().zip(&version.uses);
        let mappings = sites.filter(|(_, uses)| uses.keys.contains(&Key::Member));
        mappings.map(|(site, _)| canonical(&site.path, renames)).collect::<Vec<_>>()
    };
    program.versions.iter().zip([&[], renames]).flat_map(of_version).collect()
}

/// The changed lines of a version that test a value, each with the lines of the other version that use it.
fn changed_guards(pair: &Pair, target: &Target, side: Side) -> Vec<(u32, Vec<u32>)> {
    let mut guards = twincell_syntax::guards(&pair.shown[side].text);
    let is_changed = |line: &u32| target.changed[side].contains(line);
    // An answer guards none of the values that it is about.
    guards.retain(|guard| guard.tested != Tested::Answer && (is_changed(&guard.line) || is_changed(&guard.statement)));
    let other = &pair.shown[side.other()].text;
    let used = |guard: twincell_syntax::Guard| {
        let lines = (1..).zip(other.lines()).filter(|(_, text)| guard.concerns(text));
        (guard.statement, lines.map(|(line, _)| line).collect())
    };
    guards.into_iter().map(used).collect()
}

#[cfg(test)]
mod tests {
    use super::canonical;

    #[test]
    fn the_root_of_a_path_gets_its_old_name() {
        let renames = [("table".to_owned(), "rows".to_owned())];
        assert_eq!(canonical("table.of['table']", &renames), "rows.of['table']");
        assert_eq!(canonical("tables", &renames), "tables");
    }
}
