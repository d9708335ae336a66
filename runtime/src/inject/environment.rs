//! Values of environment variables: a text, which may be empty, or none where the variable is absent.

use twincell_syntax::site::SiteKind;
use twincell_values::value::Recipe;

/// The mapping that holds all variables.
pub(crate) const ENVIRONMENT: &str = "os.environ";

/// Texts about which the code says nothing.
const TEXTS: [&str; 2] = ["1", "a"];
const MAX_TEXTS: usize = 12;
const LONGEST_TEXT: usize = 60;

/// The texts of the code that a variable or an argument of the command line may have, and a few others.
pub(crate) fn texts(literals: &[String]) -> Vec<Recipe> {
    let is_usable = |text: &&String| !text.is_empty() && text.len() <= LONGEST_TEXT && !text.contains('\0');
    let of_code = literals.iter().filter(is_usable).take(MAX_TEXTS).cloned();
    of_code.chain(TEXTS.map(str::to_owned)).map(Recipe::Str).collect()
}

/// The values of a variable that is read in this way. An item of the environment exists.
pub(crate) fn values(literals: &[String], kind: SiteKind) -> Vec<Recipe> {
    let absent = (kind != SiteKind::Subscript).then_some(Recipe::None);
    absent.into_iter().chain([Recipe::Str(String::new())]).chain(texts(literals)).collect()
}

/// Whether a variable that is read in this way can have a value.
pub(crate) fn is_possible(value: &Recipe, kind: SiteKind) -> bool {
    match value {
        Recipe::Str(text) => !text.contains('\0'),
        value => *value == Recipe::None && kind != SiteKind::Subscript,
    }
}
