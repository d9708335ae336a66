//! Weights as float16, for GPUs: half the memory, and products on the units that are made for them.
//!
//! `Y = MatMul(X, W)` becomes `Y = Cast(MatMul(Cast(X), W16))`. Weights that do not fit float16 stay as they are.

use std::borrow::Cow;
use std::collections::HashSet;

use ::half::f16;

use super::graph::{FLOAT, FLOAT16, Graph, Product, Rewriting, Weight, rewritten};

/// The same model with float16 weights.
pub(super) fn narrowed(model: &[u8]) -> Result<Vec<u8>, String> {
    rewritten(model, &mut Half::default())
}

#[derive(Default)]
struct Half {
    /// Values that already have a cast: each may go into several products.
    cast: HashSet<Vec<u8>>,
}

impl Rewriting for Half {
    fn weight(&mut self, weight: &Weight<'_>, graph: &mut Graph) -> bool {
        let halves: Cow<'_, [u8]> = if weight.element == FLOAT16 {
            Cow::Borrowed(weight.raw)
        } else {
            let mut halves = Vec::with_capacity(weight.raw.len() / 2);
            for number in weight.raw.as_chunks::<4>().0 {
                let half = f16::from_f32(f32::from_le_bytes(*number));
                if !half.is_finite() {
                    return false;
                }
                halves.extend(half.to_le_bytes());
            }
            Cow::Owned(halves)
        };
        graph.initializer(&named(weight.name), FLOAT16, &weight.dims, &halves);
        true
    }

    fn product(&mut self, product: &Product<'_>, graph: &mut Graph) {
        let (input, output) = (named(product.input), named(product.output));
        if self.cast.insert(input.clone()) {
            graph.node("Cast", &[product.input], &[&input], Some(("to", FLOAT16)));
        }
        graph.node("MatMul", &[&input, &named(product.weight)], &[&output], None);
        graph.node("Cast", &[&output], &[product.output], Some(("to", FLOAT)));
    }
}

/// The name of a value's float16 form.
fn named(value: &[u8]) -> Vec<u8> {
    [value, b"/float16"].concat()
}

#[cfg(test)]
mod tests {
    use super::super::graph::tests::product;
    use super::*;
    use crate::weights::Weights;

    fn casts(model: &[u8]) -> usize {
        model.windows(4).filter(|bytes| bytes == b"Cast").count()
    }

    #[test]
    fn the_embedded_network_is_stored_in_halves_once_and_a_second_time_changes_nothing() {
        let model = Weights::embedded_model();
        let once = narrowed(model).unwrap();
        assert!(once.len() < model.len() + 20_000, "{} of {}", once.len(), model.len());
        assert_eq!(narrowed(&once).unwrap(), once);
    }

    #[test]
    fn what_does_not_fit_stays_as_it_is() {
        assert_eq!(casts(&narrowed(&product(&[0.5, -2.0], false)).unwrap()), 2);
        assert_eq!(casts(&narrowed(&product(&[0.5, 1e6], false)).unwrap()), 0);
        // The cast behind a weight stored as float16 is removed.
        assert_eq!(casts(&narrowed(&product(&[0.5, -2.0], true)).unwrap()), 2);
    }
}
