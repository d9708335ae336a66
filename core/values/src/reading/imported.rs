//! Classes and constants that a module imports from other modules of its project, as the texts of these define them.

use std::collections::BTreeMap;
use std::sync::Arc;

use twincell_semantic::PlacedText;
use twincell_syntax::imported_modules;

use super::constants::{self, Constants};
use super::facts::Classes;
use super::imported_names::{last, names};
use super::installed::{Packages, TypeNames};
use super::models;
use super::provided::provided;
use crate::value::{Declared, Provider, Recipe};

/// How far imports are followed, and how many modules are read for one.
const MAX_STEPS: u32 = 4;
const MOST_MODULES: usize = 40;

/// What lies around a module.
#[derive(Clone, Copy)]
pub struct Around<'a> {
    /// Its dotted name, if that is known.
    pub name: Option<&'a str>,
    /// Finds another module of its project by its dotted name.
    pub read: &'a dyn Fn(&str) -> Option<Arc<PlacedText>>,
    /// Finds a module of an installed package by its dotted name.
    pub installed: &'a dyn Fn(&str) -> Option<Arc<PlacedText>>,
    /// What makes values of classes, as the project declares it.
    pub providers: &'a [Arc<Provider>],
}

/// The constants that a module can name, by the last part of the name. `text` has absolute imports.
pub(super) fn constants(text: &str, read: &dyn Fn(&str) -> Option<Arc<PlacedText>>) -> Constants {
    let mut modules: BTreeMap<String, Constants> = BTreeMap::new();
    let of_name = |(written, target): (String, String)| {
        let (module, name) = target.rsplit_once('.').filter(|(_, name)| !name.contains(char::is_lowercase))?;
        let known = modules
            .entry(module.to_owned())
            .or_insert_with(|| read(module).map(|found| constants::constants(found.text())).unwrap_or_default());
        Some((last(&written).to_owned(), known.get(name)?.clone()))
    };
    names(text).into_iter().filter_map(of_name).collect()
}

/// The classes that a module can name, by the last part of the name. `text` has absolute imports.
pub(super) fn classes(text: &str, around: &Around<'_>) -> Classes {
    let packages = Packages::new(around.installed);
    let mut project = Project { around, packages, modules: 0, classes: BTreeMap::new() };
    let evaluated = imported_modules(text);
    let asked = TypeNames::of(text, false);
    let of_name = |(written, target): (String, String)| {
        let class = project.class(&target, asked.has(&written), MAX_STEPS)?;
        // What the module binds is the class itself, wherever each version has it.
        let is_bound = !written.contains('.') && evaluated.contains(&target);
        let class = if is_bound { renamed(class, last(&target), &written) } else { class };
        Some((last(&written).to_owned(), class))
    };
    names(text).into_iter().filter_map(of_name).collect()
}

struct Project<'a> {
    around: &'a Around<'a>,
    packages: Packages<'a>,
    /// How many were read.
    modules: usize,
    /// The classes that each module can name.
    classes: BTreeMap<String, Classes>,
}

impl Project<'_> {
    /// `is_asked`: whether the text names it where that says something of values.
    fn class(&mut self, target: &str, is_asked: bool, steps: u32) -> Option<Declared> {
        let (module, name) = target.rsplit_once('.')?;
        let own = self.of_module(module, steps).and_then(|classes| classes.get(name).cloned());
        own.or_else(|| is_asked.then(|| self.packages.class(target)).flatten())
    }

    fn of_module(&mut self, module: &str, steps: u32) -> Option<&Classes> {
        if !self.classes.contains_key(module) {
            let steps = steps.checked_sub(1)?;
            if self.modules >= MOST_MODULES {
                return None;
            }
            // Modules may import each other.
            self.classes.insert(module.to_owned(), Classes::new());
            let found = (self.around.read)(module)?;
            self.modules += 1;
            let text = found.absolute();
            let targets = names(text).into_iter();
            let asked = TypeNames::of(text, true);
            let imported = targets.filter_map(|(name, target)| {
                Some((last(&name).to_owned(), self.class(&target, asked.has(&name), steps)?))
            });
            let imported = imported.collect();
            let provided = provided(text, Some(module), true, self.around.providers);
            self.classes.insert(module.to_owned(), models::classes(text, Some(module), imported, &provided));
        }
        self.classes.get(module)
    }
}

/// The class under the name that the module binds.
fn renamed(mut class: Declared, from: &str, to: &str) -> Declared {
    let is_it = |name: &str| name.split_once(':').is_some_and(|(_, name)| name == from);
    for model in class.models.iter_mut().filter(|model| is_it(&model.class)) {
        model.class = to.to_owned();
    }
    for literal in &mut class.literals {
        if let Recipe::Named(name) = literal
            && let Some((of, member)) = name.rsplit_once('.')
            && is_it(of)
        {
            *name = format!("{to}.{member}");
        }
    }
    class
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODELS: &str = "\
from dataclasses import dataclass
from .levels import Level
@dataclass
class Part:
    level: Level
@dataclass
class Bin:
    sku: str
    parts: list[Part]
";
    const LEVELS: &str = "import enum\nfrom . import models\nclass Level(enum.Enum):\n    LOW = 1\n    HIGH = 2\n";

    fn read(module: &str) -> Option<Arc<PlacedText>> {
        let (package, text) = match module {
            "shop" => ("shop", "from .models import Bin as Bin, Part"),
            "shop.models" => ("shop", MODELS),
            "shop.levels" => ("shop", LEVELS),
            _ => return None,
        };
        PlacedText::of(module, "", package, text.into()).map(Arc::new)
    }

    fn around<'a>(read: &'a dyn Fn(&str) -> Option<Arc<PlacedText>>) -> Around<'a> {
        Around { name: None, read, installed: &|_| None, providers: &[] }
    }

    fn model(text: &str, name: &str) -> Option<String> {
        Some(classes(text, &around(&read)).get(name)?.models.first()?.class.clone())
    }

    #[test]
    fn classes_are_found_wherever_an_import_leads() {
        for (text, name, expected) in [
            ("from shop.models import Bin", "Bin", Some("Bin")),
            ("from shop.models import Bin as Box", "Box", Some("Box")),
            ("from shop import Bin", "Bin", Some("Bin")),
            ("import shop.models\ndef f(b: shop.models.Bin): ...", "Bin", Some("shop.models:Bin")),
            ("from shop import models\ndef f(b: models.Bin): ...", "Bin", Some("shop.models:Bin")),
            ("if TYPE_CHECKING:\n    from shop.models import Bin", "Bin", Some("shop.models:Bin")),
            ("from other.models import Bin", "Bin", None),
        ] {
            assert_eq!(model(text, name).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn constants_are_those_of_the_modules_that_bind_them() {
        let read = |module: &str| {
            let text = "LIMIT = 3\nRATES = {'std': 1}\n";
            (module == "shop.rates").then(|| PlacedText::of(module, "", "shop", text.into())).flatten().map(Arc::new)
        };
        for text in ["from shop.rates import LIMIT", "from shop import rates\nrates.LIMIT"] {
            assert_eq!(constants(text, &read)["LIMIT"], [Recipe::Int(3)], "{text}");
        }
        assert!(constants("from other.rates import LIMIT", &read).is_empty());
    }

    #[test]
    fn their_fields_hold_classes_of_further_modules() {
        let bin = classes("from shop import Bin", &around(&read)).remove("Bin").unwrap();
        let parts = bin.models[0].fields[1].declared.clone().and_then(|own| own.items).unwrap();
        assert_eq!(parts.models[0].class, "shop.models:Part");
        let level = parts.models[0].fields[0].declared.clone().unwrap();
        assert_eq!(level.literals[0], Recipe::Named("shop.levels:Level.LOW".into()));
        let own = classes("from shop.levels import Level", &around(&read)).remove("Level").unwrap();
        assert_eq!(own.literals[0], Recipe::Named("Level.LOW".into()));
    }
}
