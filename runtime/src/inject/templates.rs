//! Tables and arrays are made once and copied, since making one takes ten times as long as copying it.

use std::cell::RefCell;

use pyo3::prelude::*;

use twincell_engine::observed::Observed;
use twincell_values::value::{Recipe, library};

use crate::observe;

/// The number of values that are kept. The versions and the repetitions of one execution have the same.
const KEPT: usize = 8;

struct Template {
    recipe: Recipe,
    value: Py<PyAny>,
    observed: Option<Observed>,
}

thread_local! {
    static TEMPLATES: RefCell<Vec<Template>> = const { RefCell::new(Vec::new()) };
}

/// A separate value of a recipe. What is no table is made anew.
pub(super) fn value(
    py: Python<'_>,
    recipe: &Recipe,
    make: impl FnOnce() -> PyResult<Py<PyAny>>,
) -> PyResult<Py<PyAny>> {
    let Recipe::Made(call) = recipe else { return make() };
    if !library::is_copied(&call.class) {
        return make();
    }
    let known = TEMPLATES.with_borrow(|templates| {
        templates.iter().find(|template| template.recipe == *recipe).map(|template| template.value.clone_ref(py))
    });
    let template = match known {
        Some(value) => value,
        None => {
            let value = make()?;
            TEMPLATES.with_borrow_mut(|templates| {
                if templates.len() >= KEPT {
                    templates.remove(0);
                }
                templates.push(Template { recipe: recipe.clone(), value: value.clone_ref(py), observed: None });
            });
            value
        }
    };
    template.call_method0(py, "copy")
}

/// What a value of a recipe is like when it is made.
pub(super) fn observed(
    py: Python<'_>,
    recipe: &Recipe,
    make: impl FnOnce() -> PyResult<Py<PyAny>>,
) -> PyResult<Observed> {
    let of_recipe = |template: &&Template| template.recipe == *recipe;
    let known = TEMPLATES.with_borrow(|templates| {
        templates.iter().find(of_recipe).map(|template| (template.value.clone_ref(py), template.observed.clone()))
    });
    match known {
        Some((_, Some(observed))) => Ok(observed),
        Some((value, None)) => {
            let observed = observe::value(value.bind(py));
            TEMPLATES.with_borrow_mut(|templates| {
                let template = templates.iter_mut().find(|template| template.recipe == *recipe);
                template.into_iter().for_each(|template| template.observed = Some(observed.clone()));
            });
            Ok(observed)
        }
        None => make().map(|value| observe::value(value.bind(py))),
    }
}
