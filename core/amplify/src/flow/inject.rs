//! What a comparison found: calls for tests that run the change, and tests of their own where none does.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use ruff_text_size::Ranged;
use twincell_testing::TestError;

use super::{Flow, Origin, Witness};
use crate::body::stands_alone;
use crate::channel::Style;
use crate::code::{Edit, definition, indent, line_end};
use crate::operators::{Material, Operator, Variant};
use crate::result::Technique;
use crate::strip::strip;
use crate::subject::TestModule;

impl Flow<'_, '_> {
    /// Puts each witness into a test module of its own, and keeps the differences that it shows there.
    pub(super) fn inject(&mut self, witnesses: &[Witness]) -> Result<(), TestError> {
        for witness in witnesses {
            let file = self.file_for(&witness.path);
            let Some(module) = TestModule::of_one(&file, &witness.text) else { continue };
            let subject = module.subjects[0].clone();
            let code = strip(&subject.code);
            let mut origin = Origin {
                number: 0,
                module: self.modules.len(),
                id: subject.id(&subject.name),
                subject,
                style: Style::Fixtures,
                suffix: String::new(),
                seeds: vec![],
                opened: vec![],
                material: Material::default(),
                seen: BTreeSet::new(),
                lines: BTreeSet::new(),
                states: BTreeSet::new(),
                is_quiet: false,
            };
            self.modules.push(module);
            let known = self.tests.len();
            self.round(
                &mut origin,
                vec![Variant { code, imports: BTreeSet::new(), steps: vec![] }],
                Technique::Injected,
                0,
            )?;
            for kept in self.tests.iter_mut().skip(known) {
                kept.test.origin_text.clone_from(&witness.text);
            }
            if self.is_enough() || self.stopped {
                break;
            }
        }
        Ok(())
    }

    /// Puts the calls of each witness whose values any test can give behind a test that runs what it calls.
    pub(super) fn call(&mut self, origins: &mut [Origin], witnesses: &[Witness]) -> Result<(), TestError> {
        for witness in witnesses.iter().filter(|witness| witness.is_plain) {
            let is_near = |origin: &Origin| !origin.material.elsewhere.contains(&witness.name);
            let position = origins.iter().position(is_near).unwrap_or(0);
            let Some(origin) = origins.get_mut(position) else { break };
            let variant = origin.seeds.first().and_then(|seed| with_calls(seed, &witness.text));
            self.round(origin, variant.into_iter().collect(), Technique::Search, 1)?;
            if self.is_enough() || self.stopped {
                break;
            }
        }
        Ok(())
    }

    /// A new test file for a changed one, beside the tests that are nearest to it.
    fn file_for(&self, path: &str) -> String {
        let is_own = |module: &&TestModule| !module.is_new && !module.text.is_empty();
        let beside = nearest(path, self.modules.iter().filter(is_own).map(|module| module.file.as_str()));
        let folder = beside.map_or("tests/", |file| &file[..file.len() - name_of(file).len()]);
        let known = self.modules.iter().map(|module| module.file.as_str());
        let tests = [self.runners.old.tests(), self.runners.new.tests()].into_iter().flatten();
        // Of two files of one name in different folders pytest may refuse one.
        let taken: BTreeSet<&str> = known.chain(tests.map(|test| test.file.as_str())).map(name_of).collect();
        let stem = stem_of(path);
        let names = (1..).map(|number| match number {
            1 => format!("test_{stem}_change.py"),
            _ => format!("test_{stem}_change_{number}.py"),
        });
        let name = names.into_iter().find(|name| !taken.contains(name.as_str())).unwrap_or_default();
        format!("{folder}{name}")
    }
}

/// Of test files, the one that is nearest to a changed file: most folders in common, else its name, else most folders of
/// the same names, as in `tests/cart/` for `shop/cart/`, else the one with the fewest folders.
fn nearest<'a>(path: &str, files: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let (stem, folders) = (stem_of(path), folders_of(path));
    files.min_by_key(|file| {
        let own = folders_of(file);
        let common = folders.iter().zip(&own).take_while(|(one, other)| one == other).count();
        let test = stem_of(file);
        let is_of_other = test.strip_prefix("test_").or(test.strip_suffix("_test")) != Some(stem);
        let alike = folders.iter().filter(|folder| own.contains(folder)).count();
        (Reverse(common), is_of_other, Reverse(alike), own.len())
    })
}

fn name_of(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// `cart` for `shop/cart.py` and for `shop/cart/__init__.py`.
fn stem_of(path: &str) -> &str {
    name_of(path.trim_end_matches("/__init__.py").trim_end_matches(".py"))
}

fn folders_of(path: &str) -> Vec<&str> {
    path.rsplit_once('/').map_or(vec![], |(folders, _)| folders.split('/').collect())
}

/// A variant with the statements of a test behind its own.
fn with_calls(seed: &Variant, text: &str) -> Option<Variant> {
    let module = TestModule::of_one("", text)?;
    let called = strip(&module.subjects[0].code);
    let (parsed, own) = (called.parse(), seed.code.parse());
    let (function, into) = (definition(&parsed)?, definition(&own)?);
    let last = into.body.last()?;
    if last.is_return_stmt() || last.is_raise_stmt() || !stands_alone(seed.code.text(), last.range()) {
        return None;
    }
    let blanks = indent(seed.code.text(), last.start().to_usize());
    let lines: String = function
        .body
        .iter()
        .map(|stmt| {
            let inner = indent(called.text(), stmt.start().to_usize());
            format!("{blanks}{}\n", called.slice(stmt).replace(&format!("\n{inner}"), &format!("\n{blanks}")))
        })
        .collect();
    let end = line_end(seed.code.text(), last.end().to_usize());
    let code = seed.code.edited(vec![Edit::insert(end, lines)])?;
    let imports = seed.imports.iter().cloned().chain(module.imports()).collect();
    let steps = seed.steps.iter().copied().chain([Operator::Witness]).collect();
    Some(Variant { code, imports, steps })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::Code;

    #[test]
    fn the_calls_of_a_witness_stand_behind_a_test() {
        let code = Code::new("    def test_a(self):\n        f()\n");
        let seed = Variant { code, imports: BTreeSet::new(), steps: vec![] };
        let text = "from shop import total\n\n\ndef test_total():\n    prices = [\n        1]\n    assert total(prices) == 1\n";
        let made = with_calls(&seed, text).unwrap();
        assert_eq!(
            made.code.lines(),
            "    def test_a(self):\n        f()\n        prices = [\n            1]\n        result = total(prices)\n"
        );
        assert_eq!(made.imports, ["from shop import total".to_owned()].into());
    }

    #[test]
    fn a_new_test_stands_beside_the_nearest_ones() {
        for (path, files, expected) in [
            ("b/src/cart.py", ["a/tests/test_cart.py", "b/tests/test_shop.py"], "b/tests/test_shop.py"),
            ("cart.py", ["tests/end/test_all.py", "tests/unit/test_cart.py"], "tests/unit/test_cart.py"),
            ("shop/cart/__init__.py", ["tests/a_test.py", "tests/unit/cart_test.py"], "tests/unit/cart_test.py"),
            ("shop/cart/tax.py", ["tests/admin/test_a.py", "tests/cart/test_b.py"], "tests/cart/test_b.py"),
            ("shop/tax.py", ["tests/admin/test_a.py", "tests/test_b.py"], "tests/test_b.py"),
        ] {
            assert_eq!(nearest(path, files.into_iter()), Some(expected), "{path}");
        }
        assert_eq!(nearest("shop.py", [].into_iter()), None);
    }
}
