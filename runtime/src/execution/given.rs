//! What somebody gave for parameters and globals, as a version and a program have it.

use std::cell::RefCell;
use std::rc::Rc;

use pyo3::prelude::*;

use twincell_engine::observed::Observed;
use twincell_engine::protocol::{GivenContent, GivenValue};
use twincell_values::drawing::Supply;
use twincell_values::value::Recipe;

/// How often executions get a value as it was given. A large object is taken whole only where a decision asks for it.
const EXACT: f64 = 0.3;
const EXACT_LARGE: f64 = 0.0;

/// An object as one version sees it, or as all do if no class of the code is in it.
pub(crate) struct GivenObject {
    /// What makes it and its variations.
    pub object: Py<PyAny>,
    /// Whether it is a table or an array of which nothing can be changed but its cells.
    pub is_table: bool,
    /// Whether its file names a class of the code.
    pub is_own: bool,
    /// What tables are like when they are made, by the number of the variation and the rows.
    pub observed: RefCell<Vec<(Part, Observed)>>,
}

/// Which part of an object it is: [`Given::variation`] and [`Given::rows`].
///
/// [`Given::variation`]: twincell_values::value::Given::variation
/// [`Given::rows`]: twincell_values::value::Given::rows
pub(crate) type Part = (u32, Option<(u64, u64)>);

/// Those of a program, by their positions in the program's table. `None` for plain values, and for what cannot be loaded.
pub(crate) type GivenObjects = Vec<Option<Rc<GivenObject>>>;

/// A given value, as decisions have it.
pub(crate) struct Supplied {
    pub value: Recipe,
    exact: f64,
}

impl Supplied {
    pub fn new((index, value): (u32, &GivenValue)) -> Self {
        let is_large = matches!(&value.content, GivenContent::File(file) if file.is_large);
        Self { value: value.recipe(index), exact: if is_large { EXACT_LARGE } else { EXACT } }
    }

    pub fn supply(&self) -> Supply<'_> {
        Supply { value: &self.value, exact: self.exact }
    }
}
