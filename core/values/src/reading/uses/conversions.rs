//! What formats require of the values that they write: `'%d' % count`, `f'{price:.2f}'`.

use ruff_python_ast::{Expr, ExprFString, InterpolatedStringElement};

use super::add_missing;
use super::collector::Collector;
use crate::reading::written::literal;
use crate::value::{AbstractValue, Recipe};

/// The classes of numbers.
pub(super) const NUMBERS: [AbstractValue; 2] = [AbstractValue::Int, AbstractValue::Float];
/// The kinds of conversions of `%` that write numbers.
const OF_PERCENT: &str = "diouxXeEfFgG";
/// The last characters of specifications that write numbers.
const OF_SPECIFICATION: &str = "bcdeEfFgGnoxX%";

impl Collector {
    /// `format % values`: what is written as a number is one.
    pub(super) fn note_conversions(&mut self, format: &Expr, values: &Expr) {
        let Some(Recipe::Str(format)) = literal(format) else { return };
        let values = match values {
            Expr::Tuple(tuple) => tuple.elts.as_slice(),
            one => std::slice::from_ref(one),
        };
        let Some(kinds) = conversions(&format).filter(|kinds| kinds.len() == values.len()) else { return };
        for (value, _) in values.iter().zip(kinds).filter(|(_, kind)| OF_PERCENT.contains(*kind)) {
            self.note(value, |uses| add_missing(&mut uses.like, &NUMBERS));
        }
    }

    /// `f'{value:.2f}'`.
    pub(super) fn note_specifications(&mut self, text: &ExprFString) {
        for element in text.value.elements().filter_map(InterpolatedStringElement::as_interpolation) {
            let last = element.format_spec.as_ref().and_then(|specification| specification.elements.last());
            let Some(text) = last.and_then(InterpolatedStringElement::as_literal) else { continue };
            let likely: &[AbstractValue] = match text.chars().last() {
                // `f'{moment:%H:%M}'`.
                _ if text.trim_end_matches('%').contains('%') => &[AbstractValue::Object],
                Some(kind) if OF_SPECIFICATION.contains(kind) => &NUMBERS,
                _ => &[],
            };
            if element.conversion.is_none() {
                self.note(&element.expression, |uses| add_missing(&mut uses.like, likely));
            }
        }
    }
}

/// The kinds of the conversions of a format, in order. `None` if they go by names or their widths are values.
fn conversions(format: &str) -> Option<Vec<char>> {
    let (mut kinds, mut rest) = (vec![], format.chars());
    while rest.any(|character| character == '%') {
        match rest.find(|character| !"#0- +.123456789hlL".contains(*character))? {
            '%' => {}
            '(' | '*' => return None,
            kind => kinds.push(kind),
        }
    }
    Some(kinds)
}

#[cfg(test)]
mod tests {
    use super::conversions;

    #[test]
    fn the_kinds_of_conversions_stand_in_order() {
        assert_eq!(conversions("%s <%-10.3f> 100%% %d").unwrap(), ['s', 'f', 'd']);
        assert_eq!(conversions("%(name)s"), None);
        assert_eq!(conversions("%*d"), None);
        assert_eq!(conversions("no conversion").unwrap(), []);
    }
}
