//! A pair as the program that workers run: instrumented, with predictions and uses.

use std::collections::{BTreeMap, BTreeSet};

use twincell_engine::protocol::{Companion, GivenValue, HeldValue, Program, Version};
use twincell_syntax::imported_modules;
use twincell_syntax::instrument::{InstrumentError, Instrumented, count_steps, instrument_all};
use twincell_syntax::site::Site;
use twincell_syntax::{Function, PerSide, Side};
use twincell_values::path::{self, AccessPath};
use twincell_values::predictor::{FunctionSites, Predictor, unknown};
use twincell_values::reading::{Hint, Locals, Uses};
use twincell_values::value::{Declared, Recipe};

use super::examples;
use super::imports;
use super::pair::{Pair, VersionParts};
use crate::{CompareError, CompareOptions};

/// The maximum number of marks that one version may pass in one execution: enough for loops over injected values, and
/// few enough to end.
const STEP_BUDGET: u64 = 20_000;

/// Instruments both versions with their companions.
pub(super) fn instrumented(pair: &Pair) -> Result<PerSide<Instrumented>, InstrumentError> {
    let one = |version: &VersionParts| instrument_all(&version.parts.iter().collect::<Vec<_>>(), &version.module);
    Ok(PerSide { old: one(&pair.versions.old)?, new: one(&pair.versions.new)? })
}

/// The sites of one part, at positions of its own text.
struct Part<'a> {
    function: &'a Function,
    sites: Vec<Site>,
}

fn parts<'a>(version: &'a VersionParts, instrumented: &Instrumented) -> Vec<Part<'a>> {
    let mut start = 0;
    let mut line = 0;
    version
        .parts
        .iter()
        .map(|function| {
            let end = start + function.text.len() as u32;
            let own = instrumented.sites.sites.iter().filter(|site| (start..end).contains(&site.start));
            let sites = own
                .map(|site| Site {
                    start: site.start - start,
                    end: site.end - start,
                    line: site.line - line,
                    ..site.clone()
                })
                .collect();
            start = end;
            line += function.text.lines().count() as u32;
            Part { function, sites }
        })
        .collect()
}

/// The renamed attributes, without those that have the public name everywhere.
fn attribute_renames(pair: &Pair) -> Vec<(String, String)> {
    let mut renames = pair.attribute_renames.clone();
    renames.retain(|(is, _)| !pair.wrapped.iter().any(|wrapped| wrapped.side == Side::Old && wrapped.public == *is));
    renames
}

pub(super) fn program(
    pair: &Pair,
    instrumented: &PerSide<Instrumented>,
    predictor: &dyn Predictor,
    options: &CompareOptions,
) -> Result<Program, CompareError> {
    let parts = PerSide::of(|side| parts(&pair.versions[side], &instrumented[side]));
    let requests: Vec<FunctionSites<'_>> =
        parts.iter().flatten().map(|part| FunctionSites { text: &part.function.text, sites: &part.sites }).collect();
    let mut predictions = predictor.predict(&requests)?.into_iter();
    let hints = if options.techniques.hints { hints(pair, &parts, options) } else { PerSide::default() };
    let mut versions = Vec::new();
    for side in Side::BOTH {
        let (own, instrumented, parts) = (&pair.versions[side], &instrumented[side], &parts[side]);
        let mut codes = codes(own, &instrumented.code).into_iter();
        let mut version = Version {
            qualname: own.parts[0].qualname.clone(),
            name: own.parts[0].name.clone(),
            code: codes.next().unwrap_or_default(),
            locals: Locals::default(),
            uses: Vec::new(),
            held: with_hints(&own.held, hints[side].first()),
            sites: instrumented.sites.clone(),
            predictions: Vec::new(),
            parameters: own.parts[0].parameters.clone(),
            renames: if side == Side::New { pair.diff.renames.clone() } else { vec![] },
            class_name: own.parts[0].class_name.clone(),
            module: count_steps(&own.module),
            alone: count_steps(&own.alone),
            body: own.body.clone(),
            companions: (own.parts.iter().zip(&own.modules).skip(1).zip(codes))
                .map(|((part, module), code)| Companion {
                    qualname: part.qualname.clone(),
                    name: part.name.clone(),
                    module: module.clone(),
                    code,
                })
                .collect(),
            decorators: own.decorators.clone(),
            attribute_renames: if side == Side::New { attribute_renames(pair) } else { vec![] },
            wrapped_attributes: (pair.wrapped.iter().filter(|wrapped| wrapped.side == side))
                .map(|wrapped| (wrapped.class.clone(), wrapped.private.clone(), wrapped.public.clone()))
                .collect(),
            function_renames: if side == Side::New { pair.function_renames.to_vec() } else { vec![] },
            imports: vec![],
            place: own.place.clone(),
        };
        let mut first_site = 0;
        for (position, part) in parts.iter().enumerate() {
            let mut reading =
                twincell_values::reading::read_within(&part.function.text, &part.sites, &own.surroundings);
            let mut predicted = predictions.next().unwrap_or_default();
            if let Some(hints) = hints[side].get(position) {
                twincell_values::reading::apply_hints(hints, &part.sites, &mut predicted, &mut reading.uses);
                twincell_values::reading::apply_constants(&part.sites, &mut predicted, &reading.uses);
            }
            version.uses.extend(reading.uses);
            version.predictions.extend(predicted);
            let mut locals = reading.locals;
            if position > 0 {
                let sites = &mut version.sites.sites[first_site..first_site + part.sites.len()];
                separate(part, sites, &mut locals);
                locals.aliases.extend(arguments(part.function, parts));
            }
            version.locals.names.extend(locals.names);
            version.locals.aliases.extend(locals.aliases);
            first_site += part.sites.len();
        }
        versions.push(version);
    }
    examples::admit(&mut versions, &examples::of_pair(pair, &options.examples).0);
    imports::unify(&mut versions, &pair.versions.as_ref().map(|version| &version.imports));
    let mut modules: BTreeSet<String> =
        pair.versions.iter().flat_map(|version| imported_modules(&version.module)).collect();
    // What makes values of a library has to be there as well.
    let declared = versions.iter().flat_map(Version::all_uses).filter_map(|uses| uses.declared.as_ref());
    modules.extend(declared.flat_map(Declared::modules));
    let given = given(pair, options);
    modules.extend(given.iter().flat_map(GivenValue::modules).map(str::to_owned));
    Ok(Program {
        versions,
        literals: literals(pair),
        context: options.context,
        raise_probability: options.raise_probability,
        step_budget: STEP_BUDGET,
        isolation: options.isolation,
        imports: modules.into_iter().collect(),
        tests_other_truths: tests_other_truths(pair),
        calls_twice: pair.versions.iter().any(may_remember),
        given,
    })
}

/// The given values that the pair can use: those of its parameters, and of the names that it reads anywhere.
fn given(pair: &Pair, options: &CompareOptions) -> Vec<GivenValue> {
    let canonical = |name: &str| {
        let renamed = pair.diff.renames.iter().find(|(new, _)| new == name);
        renamed.map_or(name, |(_, old)| old).to_owned()
    };
    if options.given.is_empty() {
        return vec![];
    }
    let parts = || pair.versions.iter().flat_map(|version| &version.parts);
    let texts = parts().map(|part| part.text.as_str()).chain(pair.versions.iter().map(|version| &*version.module));
    let mut names: BTreeSet<String> = texts.flat_map(twincell_syntax::global_names).collect();
    names.extend(parts().flat_map(|part| &part.parameters).map(|parameter| parameter.name.clone()));
    let used = options.given.iter().filter(|value| names.contains(&value.name));
    used.map(|value| GivenValue { name: canonical(&value.name), ..value.clone() }).collect()
}

fn tests_other_truths(pair: &Pair) -> bool {
    let PerSide { old, new } = pair.versions.as_ref().map(|version| version.parts.iter().map(|part| &*part.text));
    twincell_syntax::tests_other_truths(old, new)
}

/// The literals of the code, and then of what it uses.
fn literals(pair: &Pair) -> Vec<Recipe> {
    let texts: Vec<&Function> = pair.shown.iter().collect();
    let mut found = twincell_values::reading::literals(&texts);
    for further in pair.versions.iter().flat_map(|version| &version.reached) {
        if !found.contains(further) {
            found.push(further.clone());
        }
    }
    found
}

/// What each part says of its parameters and of the attributes of its objects. What one version of the function tells of
/// a parameter holds for the other as well.
fn hints(pair: &Pair, parts: &PerSide<Vec<Part<'_>>>, options: &CompareOptions) -> PerSide<Vec<Hints>> {
    let of = |side: Side, position: usize, others: &Hints| {
        let (own, function) = (&pair.versions[side], parts[side][position].function);
        let mut hints = twincell_values::reading::hints_within(function, &own.surroundings.known, others);
        hints.extend(own.fields[position].clone());
        own.imports.keep_library(options.context, &mut hints);
        hints
    };
    let mut found: PerSide<Vec<Hints>> =
        PerSide::of(|side| (0..parts[side].len()).map(|position| of(side, position, &Hints::new())).collect());
    let renamed = |side: Side, name: &str| {
        let pairs = pair.diff.renames.iter().map(|(new, old)| if side == Side::Old { (new, old) } else { (old, new) });
        pairs.into_iter().find(|(other, _)| *other == name).map_or(name, |(_, own)| own).to_owned()
    };
    for side in Side::BOTH {
        let [first, ..] = found[side.other()].as_slice() else { continue };
        let told = first.iter().filter(|(_, hint)| hint.declared.as_ref().is_some_and(Declared::is_of_classes));
        let others: Hints = told.map(|(name, hint)| (renamed(side, name), hint.clone())).collect();
        let parameters = &parts[side][0].function.parameters;
        let others: Hints =
            others.into_iter().filter(|(name, _)| parameters.iter().any(|one| one.name == *name)).collect();
        let is_told = |(name, _): (&String, &Hint)| found[side][0].get(name).is_some_and(|own| own.declared.is_some());
        if !others.iter().all(is_told) {
            found[side][0] = of(side, 0, &others);
        }
    }
    found
}

/// How the methods of a class use what its objects hold, with the hints for the attributes.
fn with_hints(used: &[(String, Uses)], hints: Option<&Hints>) -> Vec<HeldValue> {
    let one = |(path, uses): &(String, Uses)| {
        let mut held = HeldValue { path: path.clone(), distribution: unknown(), uses: uses.clone() };
        if let Some(hint) = hints.and_then(|hints| hints.get(path)) {
            hint.apply(&mut held.distribution, &mut held.uses);
        }
        held
    };
    used.iter().map(one).collect()
}

/// By parameter or attribute.
type Hints = BTreeMap<String, Hint>;

/// Whether the function may remember a call by itself: decorators that run with it may keep results, and defaults that
/// are made once may change.
fn may_remember(version: &VersionParts) -> bool {
    !version.decorators.is_empty() || twincell_syntax::has_lasting_defaults(&version.parts[0].text)
}

/// The instrumented text of each part. Instrumenting keeps lines.
fn codes(version: &VersionParts, code: &str) -> Vec<String> {
    let mut lines = code.split_inclusive('\n');
    version.parts.iter().map(|part| lines.by_ref().take(part.text.lines().count()).collect()).collect()
}

/// The local names of a companion differ from the function's, so they get their own names in paths.
fn separate(part: &Part<'_>, sites: &mut [Site], locals: &mut Locals) {
    locals.names.extend(part.function.parameters.iter().map(|parameter| parameter.name.clone()));
    // `self` is the same object in all methods.
    let own = part.function.class_name.as_ref().and(part.function.parameters.first()).map(|first| first.name.clone());
    locals.names.retain(|name| own.as_ref() != Some(name));
    let renamed = |path: &str| -> Option<String> {
        let (first, rest) = AccessPath::new(path).split_root();
        locals.names.iter().any(|name| name == first).then(|| format!("{}{rest}", local(part.function, first)))
    };
    for site in sites {
        if let Some(path) = renamed(&site.path) {
            site.path = path;
        }
    }
    for (name, path) in &mut locals.aliases {
        *path = renamed(path).unwrap_or_else(|| path.clone());
        *name = local(part.function, name);
    }
    let names: Vec<String> = locals.names.iter().map(|name| local(part.function, name)).collect();
    locals.names = names;
}

fn local(function: &Function, name: &str) -> String {
    format!("{name}__{}", function.name)
}

/// The paths that a companion's parameters stand for, if only one place calls it and with plain paths:
/// `helper(request.meta)` makes the parameter `meta` of `helper` the path `request.meta`.
fn arguments(companion: &Function, parts: &[Part<'_>]) -> Vec<(String, String)> {
    let calls = parts.iter().enumerate().flat_map(|(position, part)| {
        let named =
            move |site: &&Site| site.identifier == companion.name && site.kind == twincell_syntax::site::SiteKind::Call;
        part.sites.iter().filter(named).map(move |site| (position, site))
    });
    let calls: Vec<(usize, &Site)> = calls.collect();
    let [(position, call)] = calls.as_slice() else { return vec![] };
    let Some((callee, passed)) = AccessPath::new(&call.path).split_call() else { return vec![] };
    let is_method = companion.class_name.is_some() && callee.split_attribute().is_some();
    let parameters = companion.parameters.iter().skip(usize::from(is_method));
    let plain = |path: &str| {
        !path.is_empty()
            && path.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.'))
            && !path.starts_with(|c: char| c.is_numeric())
    };
    let caller = &parts[*position].function;
    parameters
        .zip(path::arguments(passed))
        .take_while(|(_, path)| plain(path))
        .map(|(parameter, path)| {
            let (first, rest) = AccessPath::new(path).split_root();
            let own = *position > 0 && caller.parameters.iter().any(|parameter| parameter.name == first);
            let path = if own { local(caller, first) + rest } else { path.to_string() };
            (local(companion, &parameter.name), path)
        })
        .collect()
}
