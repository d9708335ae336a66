//! What a comparison found: calls for tests that run the change, and tests of their own where none does.

use std::collections::BTreeSet;

use ruff_text_size::Ranged;
use twincell_project::TestError;
use twincell_syntax::parse::parse;

use super::{Flow, Origin, Witness};
use crate::body::stands_alone;
use crate::code::{Edit, definition, indent, line_end};
use crate::heard::Style;
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
                material: Material::default(),
                seen: BTreeSet::new(),
                lines: BTreeSet::new(),
                states: BTreeSet::new(),
            };
            self.modules.push(module);
            let known = self.tests.len();
            self.stage(
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
            self.stage(origin, variant.into_iter().collect(), Technique::Search, 1)?;
            if self.is_enough() || self.stopped {
                break;
            }
        }
        Ok(())
    }

    /// A new test file for a changed one, beside other tests.
    fn file_for(&self, path: &str) -> String {
        let beside = self.modules.first().and_then(|module| module.file.rsplit_once('/'));
        let folder = match beside {
            Some((folder, _)) => format!("{folder}/"),
            None if self.modules.is_empty() => "tests/".to_owned(),
            None => String::new(),
        };
        let stem = path.trim_end_matches("/__init__.py").trim_end_matches(".py").rsplit('/').next().unwrap_or(path);
        let taken = |name: &str| self.modules.iter().any(|module| module.file == name);
        let names = (1..).map(|number| match number {
            1 => format!("{folder}test_{stem}_change.py"),
            _ => format!("{folder}test_{stem}_change_{number}.py"),
        });
        names.into_iter().find(|name| !taken(name)).unwrap_or_default()
    }
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
    let mut imports = seed.imports.clone();
    let head = parse(&module.text);
    let statements = head.suite().iter().filter(|stmt| stmt.is_import_stmt() || stmt.is_import_from_stmt());
    imports.extend(statements.filter_map(|stmt| module.text.get(stmt.range().to_std_range())).map(str::to_owned));
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
}
