//! Values that are unpacked: how many items they have, and which names stand for these.

use ruff_python_ast::Expr;

use super::collector::{Collector, ExpressionKey, Flow, FlowKind};
use super::{MAX_DEPTH, MAX_PARTS, Uses};

impl Collector {
    /// `a, (b, c) = value`, or `for a, (b, c) in value`.
    pub(super) fn note_unpacked(&mut self, targets: &Expr, value: &Expr, place: ExpressionKey, is_element: bool) {
        let mut names = vec![];
        let unpacked = unpacked(targets, &mut vec![], &mut names);
        let used = if is_element { Uses { element: Some(Box::new(unpacked)), ..Uses::default() } } else { unpacked };
        self.note(value, |uses| uses.merge(&used));
        for (local, positions) in names {
            let kind = if is_element { FlowKind::ElementPart(positions) } else { FlowKind::Part(positions) };
            self.flows.push(Flow { local, value: place, kind });
        }
    }
}

/// How targets use what is unpacked into them. `names` gets each name with its positions, from the outermost targets on.
fn unpacked(targets: &Expr, outer: &mut Vec<usize>, names: &mut Vec<(String, Vec<usize>)>) -> Uses {
    let elements = match targets {
        Expr::Tuple(tuple) => tuple.elts.as_slice(),
        Expr::List(list) => list.elts.as_slice(),
        _ => return Uses::default(),
    };
    let count = u8::try_from(elements.len()).ok().filter(|_| !elements.iter().any(Expr::is_starred_expr));
    let mut used = Uses { unpacked: count, iterated: true, ..Uses::default() };
    let fixed = elements.iter().take(MAX_PARTS).take_while(|element| !element.is_starred_expr());
    for (position, element) in fixed.enumerate() {
        outer.push(position);
        match element {
            Expr::Name(name) => names.push((name.id.to_string(), outer.clone())),
            _ if outer.len() < MAX_DEPTH => {
                let within = unpacked(element, outer, names);
                if within != Uses::default() {
                    used.note_part(position, &within);
                }
            }
            _ => {}
        }
        outer.pop();
    }
    used
}
