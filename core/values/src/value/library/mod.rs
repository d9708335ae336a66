//! Values of classes of libraries: what stands in for a declared `date`, `Decimal` or `DataFrame`.
//!
//! Objects in their place answer each question by itself: a day whose `weekday()` is 5 and whose `isoweekday()` is 3.
//! Real ones are consistent. Each family of classes has a file, and [`PROVIDERS`] names all classes. A value is a call
//! with plain arguments ([`Recipe::Made`]), which the runtime makes.

mod arrays;
mod cells;
mod collections;
mod files;
mod numbers;
mod polars;
mod programs;
mod responses;
mod streams;
mod tables;
mod texts;
mod times;

use rand_pcg::Pcg64Mcg;

use super::{AbstractValue, ConstructorCall, Recipe, Shape};

pub use arrays::ARRAY;
pub use cells::{Cells, KEYS};
pub use files::{Given, given_at, given_by};
pub use polars::{FRAME as POLARS_FRAME, LAZY as POLARS_LAZY, SERIES as POLARS_SERIES};
pub use responses::{OF_HTTPX, OF_REQUESTS, drawn as drawn_answer, is_answer, is_filled};
pub use streams::{ASYNC_GENERATOR, GENERATOR, QUEUE, context, gives_items, is_context, written as written_stream};
pub use tables::{FRAME, SERIES};

/// A class of a library, with what makes its values.
#[derive(Clone, Copy)]
struct Provider {
    class: &'static str,
    /// Other names that annotations have for it, without a module.
    also: &'static [&'static str],
    /// What is called to make a value, if not the class itself.
    makers: &'static [&'static str],
    /// Whether code can change a value in place.
    is_changeable: bool,
    /// A few values, the most usual one first.
    values: fn() -> Vec<Recipe>,
}

impl Provider {
    const fn new(class: &'static str, values: fn() -> Vec<Recipe>) -> Self {
        Self { class, also: &[], makers: &[], is_changeable: false, values }
    }

    const fn also(self, also: &'static [&'static str]) -> Self {
        Self { also, ..self }
    }

    const fn made_by(self, makers: &'static [&'static str]) -> Self {
        Self { makers, ..self }
    }

    const fn changeable(self) -> Self {
        Self { is_changeable: true, ..self }
    }

    /// The name of the class without its module.
    fn name(&self) -> &'static str {
        self.class.rsplit_once('.').map_or(self.class, |(_, name)| name)
    }

    fn is_named(&self, name: &str) -> bool {
        self.name() == name || self.also.contains(&name)
    }
}

/// The families, in the order in which a name is looked up.
const PROVIDERS: [&[Provider]; 10] = [
    times::PROVIDERS,
    numbers::PROVIDERS,
    texts::PROVIDERS,
    collections::PROVIDERS,
    programs::PROVIDERS,
    tables::PROVIDERS,
    arrays::PROVIDERS,
    polars::PROVIDERS,
    responses::PROVIDERS,
    streams::PROVIDERS,
];

fn provider(is_it: impl Fn(&Provider) -> bool) -> Option<&'static Provider> {
    PROVIDERS.into_iter().flatten().find(|provider| is_it(provider))
}

/// The class with this name, whatever stands before it: `datetime.date` for `date`.
pub fn class_named(name: &str) -> Option<&'static str> {
    provider(|provider| provider.is_named(name)).map(|provider| provider.class)
}

/// The class with this dotted name.
pub fn class_at(dotted: &str) -> Option<&'static str> {
    provider(|provider| provider.class == dotted).map(|provider| provider.class)
}

/// The classes with this name, whatever stands before it.
pub fn classes_named(name: &str) -> impl Iterator<Item = &'static str> {
    let all = PROVIDERS.into_iter().flatten().filter(move |provider| provider.is_named(name));
    all.map(|provider| provider.class)
}

/// The module that has to be imported for a class.
pub fn module_of(class: &str) -> &str {
    class.rsplit_once('.').map_or(class, |(module, _)| module)
}

/// Whether the values of a class have a shape that the code tells.
pub fn has_shape(class: &str) -> bool {
    matches!(class, FRAME | SERIES | ARRAY | POLARS_FRAME | POLARS_LAZY | POLARS_SERIES)
}

/// Whether the class comes with Python.
pub fn is_standard(class: &str) -> bool {
    packages().all(|package| class.split('.').next() != Some(package))
}

/// Whether a name from another package cannot stand for the class, as `typing.Iterator` does for one of `collections.abc`.
pub fn is_only_of_its_package(class: &str) -> bool {
    !is_standard(class) || class.starts_with("asyncio.")
}

/// The packages with classes that do not come with Python.
pub fn packages() -> impl Iterator<Item = &'static str> {
    ["pandas", "numpy", "polars", "requests", "httpx"].into_iter()
}

/// Whether a module is one of a library of tables or arrays.
pub fn is_of_tables(module: &str) -> bool {
    matches!(module.split('.').next(), Some("pandas" | "numpy" | "polars"))
}

/// Whether an import brings other classes that are used like those of a module.
pub fn is_like(module: &str, import: &str) -> bool {
    const LIKE_PANDAS: [&str; 6] = ["polars", "pyspark", "dask", "modin", "cudf", "geopandas"];
    const LIKE_NUMPY: [&str; 4] = ["torch", "tensorflow", "jax", "cupy"];
    let package = import.split('.').next().unwrap_or_default();
    match module {
        "pandas" => LIKE_PANDAS.contains(&package),
        "numpy" => LIKE_NUMPY.contains(&package),
        _ => false,
    }
}

/// A few values of a class, the most usual one first.
pub fn values(class: &str) -> Vec<Recipe> {
    provider(|provider| provider.class == class).map(|provider| (provider.values)()).unwrap_or_default()
}

/// Whether what a call makes is of the class.
pub fn makes(maker: &str, class: &str) -> bool {
    maker == class || provider(|provider| provider.class == class).is_some_and(|own| own.makers.contains(&maker))
}

/// The class of what a call makes.
fn class_of(maker: &str) -> Option<&'static str> {
    provider(|own| own.class == maker || own.makers.contains(&maker)).map(|own| own.class)
}

/// Whether code can change what a call makes in place.
pub fn is_changeable(maker: &str) -> bool {
    provider(|own| own.class == maker || own.makers.contains(&maker)).is_none_or(|own| own.is_changeable)
}

/// Whether a class is one of the code itself, which has no module before its name, or of another module of its project.
pub fn is_model(class: &str) -> bool {
    !class.contains('.') || class.contains(':')
}

/// Whether what a call makes is copied faster than made.
pub fn is_copied(maker: &str) -> bool {
    matches!(maker, FRAME | SERIES) || makes(maker, ARRAY)
}

/// Other values of the same class.
pub fn others(value: &Recipe) -> Vec<Recipe> {
    let Recipe::Made(call) = value else { return vec![] };
    let of_shape = match call.class.as_str() {
        FRAME | SERIES => tables::others(value),
        POLARS_FRAME | POLARS_LAZY | POLARS_SERIES => polars::others(value),
        maker if streams::is_maker(maker) => streams::others(value),
        maker if makes(maker, ARRAY) => arrays::others(value),
        maker => class_of(maker).map(values).unwrap_or_default(),
    };
    of_shape.into_iter().filter(|other| other != value).collect()
}

/// Simpler values of the same class, the simplest first.
pub fn simpler(value: &Recipe) -> Vec<Recipe> {
    let Recipe::Made(call) = value else { return vec![] };
    match call.class.as_str() {
        FRAME | SERIES => tables::simpler(value),
        POLARS_FRAME | POLARS_LAZY | POLARS_SERIES => polars::simpler(value),
        maker if streams::is_maker(maker) => streams::simpler(value),
        maker if makes(maker, ARRAY) => arrays::simpler(value),
        // The most usual one, which has none that is simpler.
        maker => {
            let usual = class_of(maker).map(values).unwrap_or_default().into_iter().next();
            usual.filter(|usual| usual != value).into_iter().collect()
        }
    }
}

/// Names of time zones, the usual one first.
pub fn zone_names() -> impl Iterator<Item = &'static str> {
    times::place_names()
}

/// A date or a moment that has to do with the others of an execution, which have the same `anchor`. `numbers` are
/// distances that the code may know.
pub fn near(class: &str, anchor: u64, random: &mut Pcg64Mcg, numbers: &[i64]) -> Option<Recipe> {
    times::near(class, anchor, random, numbers)
}

/// A value of a class whose shape the code tells.
pub fn drawn(class: &str, shape: Option<&Shape>, random: &mut Pcg64Mcg, cells: &Cells<'_>) -> Option<Recipe> {
    let unknown = Shape::default();
    let shape = shape.unwrap_or(&unknown);
    match class {
        FRAME => Some(tables::frame(shape, random, cells)),
        SERIES => Some(tables::series(shape, random, cells)),
        ARRAY => Some(arrays::array(shape, random, cells)),
        POLARS_FRAME | POLARS_LAZY => Some(polars::frame(class, shape, random, cells)),
        POLARS_SERIES => Some(polars::series(shape, random, cells)),
        _ => None,
    }
}

/// What a container of a library holds its items as.
pub fn content(class: &str) -> Option<AbstractValue> {
    collections::content(class).or_else(|| streams::content(class))
}

/// A container of a library with this content.
pub fn holding(class: &str, content: Recipe) -> Recipe {
    match streams::content(class) {
        Some(_) => streams::holding(class, content),
        None => collections::holding(class, content),
    }
}

/// A call with positional arguments.
fn made(class: &str, arguments: impl IntoIterator<Item = Recipe>) -> Recipe {
    ConstructorCall { class: class.to_owned(), arguments: arguments.into_iter().collect(), keywords: vec![] }.into()
}

/// The same call with one more keyword argument.
fn with(value: Recipe, name: &str, argument: Recipe) -> Recipe {
    match value {
        Recipe::Made(mut call) => {
            call.keywords.push((name.to_owned(), argument));
            Recipe::Made(call)
        }
        other => other,
    }
}

fn ints<const COUNT: usize>(numbers: [i64; COUNT]) -> [Recipe; COUNT] {
    numbers.map(Recipe::Int)
}

fn text(text: &str) -> Recipe {
    Recipe::Str(text.to_owned())
}

/// One value for each text.
fn of_texts(class: &str, texts: &[&str]) -> Vec<Recipe> {
    texts.iter().map(|one| made(class, [text(one)])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_is_known_by_its_own_name() {
        assert_eq!(class_named("date"), Some("datetime.date"));
        assert_eq!(class_named("datetime"), Some("datetime.datetime"));
        assert_eq!(class_named("Path"), Some("pathlib.Path"));
        assert_eq!(class_named("DataFrame"), Some("pandas.DataFrame"));
        assert_eq!(class_named("NDArray"), Some("numpy.ndarray"));
        for name in ["delta", "", "etime.date", "PurePath"] {
            assert_eq!(class_named(name), None, "{name}");
        }
    }

    #[test]
    fn values_are_written_as_they_are_made() {
        assert_eq!(values("datetime.date")[0].display(), "datetime.date(2024, 5, 17)");
        assert_eq!(values("decimal.Decimal")[0].display(), "decimal.Decimal('1.50')");
        assert_eq!(values("x.Y"), []);
    }

    #[test]
    fn each_value_is_made_by_its_class_and_has_others() {
        for own in PROVIDERS.into_iter().flatten() {
            for value in (own.values)() {
                let Recipe::Made(call) = &value else { panic!("{}", value.display()) };
                assert!(makes(&call.class, own.class), "{} is no {}", value.display(), own.class);
                assert!(!others(&value).is_empty() && !others(&value).contains(&value), "{}", value.display());
            }
        }
    }
}
