//! Tests with injected values, where none of the project runs the change.

use std::collections::BTreeSet;

use twincell_project::TestError;

use super::{Flow, Origin, Witness};
use crate::heard::Style;
use crate::operators::{Material, Variant};
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
