//! Proofs for change impact: whether two versions of a function do the same, by their texts.

use std::cell::RefCell;
use std::sync::Arc;

use twincell_impact::{FunctionPlace, Prover, Shown};
use twincell_prove::{Answer, DEPTH, ModuleNames, prove};
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

    /// The texts of two functions, and what names mean in them where proofs look this deep.
    fn both(&self, old: &FunctionPlace, new: &FunctionPlace, depth: u32) -> Option<(PerSide<String>, ModuleNames)> {
        let (old_module, before) = self.function(Side::Old, old)?;
        let (new_module, now) = self.function(Side::New, new)?;
        let modules = [old_module, new_module];
        let names = ModuleNames::new(modules, [before.entity(), now.entity()]).looking_into(modules, depth);
        Some((PerSide::new(before.text, now.text), names))
    }
}

impl Prover for Proofs<'_> {
    fn depth(&self) -> u32 {
        DEPTH
    }

    fn proves(&self, old: &FunctionPlace, new: &FunctionPlace, depth: u32) -> Option<Shown> {
        let (functions, names) = self.both(old, new, depth)?;
        let Answer::Equivalent(proof) = prove(&functions.old, &functions.new, &names) else { return None };
        if !proof.arguments.is_empty() {
            return None;
        }
        let looked_into = proof.looked_into.iter().map(|name| Arc::from(name.as_str())).collect();
        let place = new.clone();
        self.found.borrow_mut().push(ProvedFunction { path: place.path, function: place.function, proof });
        Some(Shown { looked_into })
    }

    fn is_deeper(&self, old: &FunctionPlace, new: &FunctionPlace, depth: u32) -> bool {
        let both = self.both(old, new, depth);
        both.is_some_and(|(functions, names)| names.is_deeper(functions.as_ref().map(String::as_str)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proves(old: &str, new: &str) -> bool {
        let texts = PerSide::new(old, new).map(|text| Texts::from([("shop.py".into(), text.into())]));
        let place = FunctionPlace { path: "shop.py".into(), function: "f".into(), ordinal: 0 };
        let proofs = Proofs::new(texts.as_ref());
        let is_shown = proofs.proves(&place, &place, 0).is_some();
        assert_eq!(proofs.found().len(), usize::from(is_shown));
        is_shown
    }

    #[test]
    fn proofs_go_as_deep_as_there_are_changed_functions() {
        let old = "def f(x):\n    return x.a.b\n";
        let new = "def f(x):\n    return g(x)\ndef g(x):\n    return h(x.a)\ndef h(x):\n    return x.b\ndef other(x):\n    return x\n";
        let texts = PerSide::new(old, new).map(|text| Texts::from([("shop.py".into(), text.into())]));
        let place = FunctionPlace { path: "shop.py".into(), function: "f".into(), ordinal: 0 };
        let proofs = Proofs::new(texts.as_ref());
        let shown = |depth: u32| proofs.proves(&place, &place, depth).map(|shown| shown.looked_into);
        assert_eq!([1, 2, 3].map(|depth| proofs.is_deeper(&place, &place, depth)), [true, true, false]);
        assert_eq!(shown(1), None);
        assert_eq!(shown(2), Some(vec!["g".into(), "h".into()]));
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
