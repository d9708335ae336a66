//! The literals of the helpers and constants that a function uses: its arguments may well be such values.

use twincell_engine::protocol::Context;
use twincell_semantic::ProjectModule;
use twincell_syntax::{CodeKind, Function, Index, Side, global_names, imports};
use twincell_values::reading::{Constants, constants};
use twincell_values::value::Recipe;

use super::sources::Sources;

/// How many helpers and constants count, nearest first, and how many literals.
const MOST_ENTITIES: usize = 12;
const MOST: usize = 40;

/// The literals of helpers and constants that a function uses.
pub(super) fn reached(sources: &Sources, side: Side, function: &Function) -> Vec<Recipe> {
    if sources.context == Context::Function || function.kind == CodeKind::Snippet {
        return vec![];
    }
    let version = &sources[side];
    let project = version.place.as_ref().map(|place| (place, &*version.elsewhere));
    literals(&version.index, &version.surroundings.constants, function.entity(), function, project)
}

/// Those of the module, and of the modules of the project from which the function imports. `module` has absolute imports.
fn literals(
    index: &Index,
    constants_of_module: &Constants,
    entity: &str,
    function: &Function,
    project: Option<(&ProjectModule, &str)>,
) -> Vec<Recipe> {
    let mut found = Vec::new();
    let used = global_names(&function.text);
    // Constants may be imported as well.
    found.extend(used.iter().filter_map(|name| constants_of_module.get(name)).flatten().cloned());
    of_entities(index, constants_of_module, index.reach(entity), &mut found);
    if let Some((place, module)) = project {
        let imports = imports(module);
        for import in used.iter().filter_map(|name| Some((name, imports.get(name)?))) {
            of_import(place, import.0, &import.1.target, function, &mut found);
        }
    }
    found.truncate(MOST);
    found
}

/// What is imported is a function, or a module of which the code names functions.
fn of_import(place: &ProjectModule, name: &str, target: &str, function: &Function, found: &mut Vec<Recipe>) {
    let whole = place.find(target).map(|text| (text, None));
    let part = || {
        let (module, name) = target.rsplit_once('.')?;
        Some((place.find(module)?, Some(name)))
    };
    let Some((text, named)) = whole.or_else(part).filter(|_| found.len() < MOST) else { return };
    let index = text.index();
    let own: Vec<String> = match named {
        Some(named) => vec![named.to_owned()],
        None => {
            let is_named = |own: &&Function| function.text.contains(&format!("{name}.{}(", own.name));
            index.functions.iter().filter(is_named).map(|own| own.qualname.clone()).collect()
        }
    };
    let constants = constants(text.text());
    for entity in own {
        let reached = index.reach(&entity);
        of_entities(index, &constants, std::iter::once(entity).chain(reached).collect(), found);
    }
}

fn of_entities(index: &Index, constants: &Constants, names: Vec<String>, found: &mut Vec<Recipe>) {
    for name in names.iter().take(MOST_ENTITIES) {
        let of_function = index.functions.iter().find(|function| function.qualname == *name);
        let literals = match of_function {
            Some(function) => twincell_values::reading::literals(&[function]),
            None => constants.get(name).cloned().unwrap_or_default(),
        };
        for literal in literals {
            if !found.contains(&literal) {
                found.push(literal);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use twincell_repo::ModulePath;

    use super::*;

    #[test]
    fn helpers_and_constants_nearest_first_and_those_of_other_modules() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(
            folder.path().join("rates.py"),
            "TABLE = {'std': 20}\ndef rate(kind):\n    return TABLE[kind]\n",
        )
        .unwrap();
        let place = ModulePath::of(folder.path(), "shop.py").into();
        let text = |text: &str| Recipe::Str(text.into());
        for (import, call) in [("from rates import rate", "rate"), ("import rates", "rates.rate")] {
            let module = format!(
                "{import}\nLIMIT = 1000\nUNUSED = 7\ndef helper(x):\n    return x.strip('-') > LIMIT\n\
                 def f(x):\n    return helper(x) + {call}(x)\n"
            );
            let index = Index::of(&module);
            let function = index.functions.iter().find(|function| function.name == "f").unwrap();
            let found = literals(&index, &constants(&module), "f", function, Some((&place, &module)));
            assert_eq!(found, [text("-"), Recipe::Int(1000), text("std")], "{import}");
        }
    }
}
