//! Proofs for change impact: whether two versions of a function do the same, by their texts.

use std::cell::RefCell;

use twincell_impact::{FunctionPlace, Prover};
use twincell_prove::{Answer, ModuleNames, prove};
use twincell_syntax::{CodeKind, Function, PerSide, Side, functions};
use twincell_widgets::{ProvedFunction, Texts};

/// Asks for proofs about functions of two versions of a project.
pub(crate) struct Proofs<'t> {
    texts: PerSide<&'t Texts>,
    found: RefCell<Vec<ProvedFunction>>,
}

impl<'t> Proofs<'t> {
    pub fn new(texts: PerSide<&'t Texts>) -> Self {
        Self { texts, found: RefCell::default() }
    }

    /// Those that were found so far, in the order in which they were asked for.
    pub fn found(&self) -> Vec<ProvedFunction> {
        self.found.borrow().clone()
    }

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
        let (Some((old_module, before)), Some((new_module, now))) =
            (self.function(Side::Old, old), self.function(Side::New, new))
        else {
            return false;
        };
        let names = ModuleNames::new([old_module, new_module], [before.entity(), now.entity()]);
        match prove(&before.text, &now.text, &names) {
            Answer::Equivalent(proof) if proof.arguments.is_empty() => {
                let place = new.clone();
                self.found.borrow_mut().push(ProvedFunction { path: place.path, function: place.function, proof });
                true
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proves(old: &str, new: &str) -> bool {
        let texts = PerSide::new(old, new).map(|text| Texts::from([("shop.py".into(), text.into())]));
        let place = FunctionPlace { path: "shop.py".into(), function: "f".into(), ordinal: 0 };
        let proofs = Proofs::new(texts.as_ref());
        let is_shown = proofs.proves(&place, &place, 0);
        assert_eq!(proofs.found().len(), usize::from(is_shown));
        is_shown
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
