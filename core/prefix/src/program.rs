//! A snippet as the program that workers run with hooks, to find values for what is missing.

use twincell_engine::protocol::{Body, Context, Isolation, Program, Version};
use twincell_repo::ModulePath;
use twincell_search::{Target, executable_lines};
use twincell_syntax::instrument::{InstrumentError, Instrumented, instrument};
use twincell_syntax::{PerSide, imported_modules};
use twincell_values::predictor::{FunctionSites, PredictError, Predictor};
use twincell_values::reading::{ModuleContext, apply_constants, literals, read_within};

use crate::function::Beside;
use crate::import::Import;
use crate::reading::Reading;
use crate::render::{SUPER, stand_ins};

/// The maximum number of marks that an execution may pass.
const STEP_BUDGET: u64 = 20_000;
/// The probability that a call of something missing raises, where an exception is handled.
const RAISE_PROBABILITY: f64 = 0.15;

pub(crate) fn instrumented(reading: &Reading) -> Result<Instrumented, InstrumentError> {
    instrument(&reading.snippet.function)
}

pub(crate) fn program(
    reading: &Reading,
    instrumented: &Instrumented,
    predictor: &dyn Predictor,
    beside: Option<&Beside>,
) -> Result<Program, PredictError> {
    let sites = &instrumented.sites;
    let request = FunctionSites { text: reading.text(), sites: &sites.sites };
    let mut predictions = predictor.predict(&[request])?.pop().unwrap_or_default();
    let read = read_within(reading.text(), &sites.sites, &ModuleContext::default());
    apply_constants(&sites.sites, &mut predictions, &read.uses);
    let mut module: String = reading.imports.iter().map(|import| format!("{import}\n")).collect();
    if reading.has_bare_super {
        module += &format!("{}\n{SUPER}\n", Import::of_mocks());
    }
    module += &stand_ins(reading);
    let imports = imported_modules(&module).into_iter().chain(imported_modules(reading.text()));
    let imports = imports.chain(beside.into_iter().flat_map(|beside| beside.imports.iter().cloned())).collect();
    // What it uses of its folder is real here, too.
    let place = beside.map(|Beside { copy, package, .. }| ModulePath {
        folder: copy.folder.clone(),
        file: "__main__.py".to_owned(),
        name: if package.is_empty() { "__main__".to_owned() } else { format!("{package}.__main__") },
        search: copy.search.clone(),
    });
    let version = Version {
        qualname: reading.snippet.function.qualname.clone(),
        name: String::new(),
        code: instrumented.code.clone(),
        sites: sites.clone(),
        predictions,
        uses: read.uses,
        held: vec![],
        parameters: vec![],
        renames: vec![],
        locals: read.locals,
        class_name: None,
        module,
        alone: String::new(),
        body: Body::Snippet { results: vec![], temporary: reading.snippet.bound.iter().cloned().collect() },
        companions: vec![],
        decorators: vec![],
        attribute_renames: vec![],
        function_renames: vec![],
        wrapped_attributes: vec![],
        imports: vec![],
        place,
    };
    Ok(Program {
        versions: vec![version],
        literals: literals(&[&reading.snippet.function]),
        context: Context::Module,
        raise_probability: RAISE_PROBABILITY,
        step_budget: STEP_BUDGET,
        isolation: Isolation::Auto,
        imports,
        tests_other_truths: false,
        calls_twice: false,
        given: vec![],
    })
}

/// A program without versions: its worker runs nothing but scripts.
pub(crate) fn of_scripts(reading: &Reading, beside: Option<&Beside>) -> Program {
    let imports = imported_modules(reading.text()).into_iter();
    let imports = imports.chain(beside.into_iter().flat_map(|beside| beside.imports.iter().cloned()));
    Program {
        versions: vec![],
        literals: vec![],
        context: Context::Function,
        raise_probability: 0.0,
        step_budget: STEP_BUDGET,
        isolation: Isolation::Process,
        imports: imports.collect(),
        tests_other_truths: false,
        calls_twice: false,
        given: vec![],
    }
}

/// What the search is after: all lines of the snippet.
pub(crate) fn target(reading: &Reading, instrumented: &Instrumented) -> Target {
    let lines = executable_lines(&instrumented.sites);
    Target {
        changed: PerSide::new(lines.clone(), vec![]),
        lines: PerSide::new(lines, vec![]),
        branches: PerSide::new(instrumented.sites.branches.iter().map(|branch| branch.line).collect(), vec![]),
        readings: PerSide::new(
            twincell_search::Reading::new(&reading.snippet.function, &instrumented.sites, &[]),
            Default::default(),
        ),
        ..Target::default()
    }
}
