//! Proofs for change impact: whether two versions of a function do the same, by their texts.

use twincell_impact::{FunctionPlace, Prover};
use twincell_prove::{Answer, ModuleNames, prove};
use twincell_syntax::{CodeKind, Function, PerSide, Side, functions};
use twincell_widgets::Texts;

/// Asks for proofs about functions of two versions of a project.
pub(crate) struct Proofs<'t> {
    pub texts: PerSide<&'t Texts>,
}

impl Proofs<'_> {
    /// The text of a module, and the only function of a name in it.
    fn function(&self, side: Side, place: &FunctionPlace) -> Option<(&str, Function)> {
        let text = self.texts[side].get(&place.path)?;
        let mut own = functions(text).0.into_iter().filter(|one| one.entity() == &*place.function);
        match (own.next(), own.next()) {
            (Some(function), None)
                if function.kind == CodeKind::Function
                    && function.parent.is_none()
                    && function.decorators.is_empty() =>
            {
                Some((text, function))
            }
            _ => None,
        }
    }
}

impl Prover for Proofs<'_> {
    fn depth(&self) -> u32 {
        0
    }

    fn proves(&self, old: &FunctionPlace, new: &FunctionPlace, _: u32) -> bool {
        let (Some((old_module, old)), Some((new_module, new))) =
            (self.function(Side::Old, old), self.function(Side::New, new))
        else {
            return false;
        };
        let names = ModuleNames::new([old_module, new_module], [old.entity(), new.entity()]);
        matches!(prove(&old.text, &new.text, &names), Answer::Equivalent(proof) if proof.arguments.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proves(old: &str, new: &str) -> bool {
        let texts = PerSide::new(old, new).map(|text| Texts::from([("shop.py".into(), text.into())]));
        let place = FunctionPlace { path: "shop.py".into(), function: "f".into(), ordinal: 0 };
        Proofs { texts: texts.as_ref() }.proves(&place, &place, 0)
    }

    #[test]
    fn functions_are_found_by_place_and_proved_for_all_arguments() {
        const OLD: &str = "def f(x):\n    if x is None:\n        return 0\n    return x.size\n";
        const NEW: &str = "def f(x):\n    return 0 if x is None else x.size\n";
        assert!(proves(OLD, NEW));
        assert!(!proves(OLD, &NEW.replace("else x", "else 2 * x")));
        assert!(!proves(OLD, &format!("{NEW}\n\n{NEW}")));
        assert!(!proves(OLD, &format!("@cached\n{NEW}")));
        // Only for whole numbers.
        assert!(!proves("def f(x):\n    return x + 0\n", "def f(x):\n    return x\n"));
    }
}
