//! Weights as int8, for CPUs: a quarter of the memory, and products of bytes.
//!
//! `Y = MatMul(X, W)` becomes a product of integers. Each column of W has its own scale, found once. X gets one scale
//! for all of it, found in each pass. The cost in accuracy was measured for the embedded network (models/README.md),
//! and no other network is treated so.

use std::collections::HashSet;

use ::half::f16;

use super::graph::{FLOAT, Graph, INT8, Product, Rewriting, Weight, rewritten};

/// The same model with int8 weights.
pub(super) fn quantized(model: &[u8]) -> Result<Vec<u8>, String> {
    rewritten(model, &mut Int8::default())
}

/// The largest integer of a weight, one bit less than would fit. Processors without VNNI add two products of bytes in
/// 16 bits, which must not overflow, so that every processor calculates the same.
const LARGEST: f32 = 63.0;

#[derive(Default)]
struct Int8 {
    /// Values that already have integers: each may go into several products.
    quantized: HashSet<Vec<u8>>,
}

impl Rewriting for Int8 {
    fn weight(&mut self, weight: &Weight<'_>, graph: &mut Graph) -> bool {
        let [_, columns] = weight.dims[..] else { return false };
        let numbers: Vec<f32> = if weight.element == FLOAT {
            weight.raw.as_chunks::<4>().0.iter().map(|number| f32::from_le_bytes(*number)).collect()
        } else {
            weight.raw.as_chunks::<2>().0.iter().map(|number| f16::from_le_bytes(*number).to_f32()).collect()
        };
        let Ok(width @ 1..) = usize::try_from(columns) else { return false };
        let mut scales = vec![0f32; width];
        for row in numbers.chunks_exact(width) {
            for (scale, number) in scales.iter_mut().zip(row) {
                *scale = scale.max(number.abs());
            }
        }
        if !scales.iter().all(|scale| scale.is_finite()) {
            return false;
        }
        for scale in &mut scales {
            *scale = if *scale > 0.0 { *scale / LARGEST } else { 1.0 };
        }
        let inverse: Vec<f32> = scales.iter().map(|scale| 1.0 / scale).collect();
        let mut integers = Vec::with_capacity(numbers.len());
        for row in numbers.chunks_exact(width) {
            integers.extend(row.iter().zip(&inverse).map(|(number, inverse)| nearest(number * inverse)));
        }
        graph.initializer(&named(weight.name, "int8"), INT8, &weight.dims, &integers);
        let scales: Vec<u8> = scales.iter().flat_map(|scale| scale.to_le_bytes()).collect();
        graph.initializer(&named(weight.name, "scale"), FLOAT, &[columns], &scales);
        true
    }

    fn product(&mut self, product: &Product<'_>, graph: &mut Graph) {
        let of_input = |part| named(product.input, part);
        let (integers, scale, zero) = (of_input("uint8"), of_input("scale"), of_input("zero"));
        if self.quantized.insert(integers.clone()) {
            graph.node("DynamicQuantizeLinear", &[product.input], &[&integers, &scale, &zero], None);
        }
        let of_output = |part| named(product.output, part);
        let (sums, floats, both) = (of_output("int32"), of_output("float"), of_output("scale"));
        graph.node("MatMulInteger", &[&integers, &named(product.weight, "int8"), &zero], &[&sums], None);
        graph.node("Cast", &[&sums], &[&floats], Some(("to", FLOAT)));
        graph.node("Mul", &[&scale, &named(product.weight, "scale")], &[&both], None);
        graph.node("Mul", &[&floats, &both], &[product.output], None);
    }
}

/// The nearest integer from -128 to 127, as its byte. `f32::round` calls a library function on many processors, and
/// there are millions of weights. The added number leaves the integer in the last bits.
fn nearest(number: f32) -> u8 {
    (number + 12_582_912.0).to_bits() as u8
}

fn named(value: &[u8], part: &str) -> Vec<u8> {
    [value, b"/", part.as_bytes()].concat()
}

#[cfg(test)]
mod tests {
    use super::super::graph::tests::product;
    use super::*;

    fn contains(model: &[u8], bytes: &[u8]) -> bool {
        model.windows(bytes.len()).any(|window| window == bytes)
    }

    #[test]
    fn each_column_has_its_own_scale() {
        for stored_as_half in [false, true] {
            let model = quantized(&product(&[63.0, -1.0, 0.0], stored_as_half)).unwrap();
            assert!(contains(&model, &[63, 193, 0]), "{stored_as_half}");
            let scales: Vec<u8> = [1.0f32, 1.0 / 63.0, 1.0].iter().flat_map(|scale| scale.to_le_bytes()).collect();
            assert!(contains(&model, &scales), "{stored_as_half}");
            assert!(contains(&model, b"MatMulInteger"));
        }
    }

    #[test]
    fn the_nearest_integer_is_found() {
        for (number, integer) in [(0.0, 0i8), (0.4, 0), (0.6, 1), (-0.6, -1), (62.7, 63), (-63.0, -63), (126.9, 127)] {
            assert_eq!(nearest(number) as i8, integer, "{number}");
        }
    }

    #[test]
    fn what_is_no_number_stays_as_it_is() {
        assert!(!contains(&quantized(&product(&[f32::INFINITY, 1.0], false)).unwrap(), b"MatMulInteger"));
    }
}
