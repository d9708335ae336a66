//! Imports: modules that run, and names that they give.

use ruff_python_ast::{StmtImport, StmtImportFrom};
use ruff_text_size::TextRange;
use twincell_semantic::{Referent, Value, module_always_has, modules_named};

use super::draft::{Builder, Place};
use super::stars::named_in;
use crate::program::{Shared, UnsoundKind, hash_of};

impl<'a> Builder<'_, 'a> {
    pub fn import(&mut self, node: &'a StmtImport) {
        self.begin(node.range, "import", &[node.range]);
        for alias in &node.names {
            let mut dotted = String::new();
            for part in alias.name.split('.') {
                dotted = if dotted.is_empty() { part.to_owned() } else { format!("{dotted}.{part}") };
                for module in modules_named(self.world.project, &dotted) {
                    if let Some(body) = self.world.body_of(module) {
                        self.run_module(alias.range, body);
                    }
                }
            }
            let first = alias.name.split('.').next().unwrap_or_default();
            let writes = self.write_name(alias.asname.as_ref().map_or(first, |name| name.as_str()));
            let reads = self.found(alias.range, Vec::new());
            let node = self.step(alias.range, "import", reads, writes);
            self.draft_node(node).is_whole = true;
        }
    }

    pub fn import_from(&mut self, node: &'a StmtImportFrom) {
        self.begin(node.range, "import", &[node.range]);
        let world = self.world;
        let at = named_in(node);
        let modules: Vec<_> = world
            .referents(self.module, at)
            .iter()
            .filter_map(|referent| match referent {
                Referent::Symbol(symbol) if symbol.is_module() => Some(symbol.module()),
                _ => None,
            })
            .collect();
        for module in &modules {
            if let Some(body) = world.body_of(*module) {
                self.run_module(at, body);
            }
        }
        if node.names.iter().any(|alias| &alias.name == "*") {
            self.found(node.range, Vec::new());
        }
        for alias in &node.names {
            if &alias.name == "*" {
                if modules.is_empty() {
                    self.unsound(alias.range, UnsoundKind::StarImport);
                }
                for module in &modules {
                    let number = world.number_of(*module);
                    for name in number.map_or(&[][..], |number| world.declared.stars.brought_by(number)) {
                        // `__all__` may name modules of the package.
                        let below = format!("{}.{name}", world.project.module_name(*module));
                        for body in
                            modules_named(world.project, &below).into_iter().filter_map(|one| world.body_of(one))
                        {
                            self.run_module(alias.range, body);
                        }
                        let variable = Shared::Global(world.project.path(*module).into(), name.clone());
                        let variable = self.out.shared(variable);
                        self.out.escaped.insert(variable);
                        let place = Place::Shared(variable);
                        let writes = self.write_name(name);
                        self.step(alias.range, name, vec![place], writes);
                    }
                }
                continue;
            }
            let mut reads = Vec::new();
            for module in &modules {
                let path = world.project.path(*module).into();
                let variable = self.out.shared(Shared::Global(path, alias.name.as_str().into()));
                self.out.escaped.insert(variable);
                reads.push(Place::Shared(variable));
            }
            for referent in world.referents(self.module, alias.name.range) {
                if let Referent::Symbol(symbol) = referent
                    && symbol.is_module()
                    && let Some(body) = world.body_of(symbol.module())
                {
                    self.run_module(alias.range, body);
                }
            }
            let writes = self.write_name(alias.asname.as_ref().unwrap_or(&alias.name));
            let mut reads = self.found(alias.range, reads);
            let asked: Vec<_> = modules
                .iter()
                .filter(|module| !module_always_has(world.project, **module, &alias.name))
                .flat_map(|module| world.methods_of_values(&[Value::Module(*module)], "__getattr__"))
                .collect();
            if !asked.is_empty() {
                reads = self.call_any(alias.name.range, "attribute", &asked, reads);
            }
            let step = self.step(alias.range, "import", reads, writes);
            // Which name of which module it is does not depend on the other names.
            let from = hash_of((node.level, node.module.as_ref().map(|name| name.as_str())));
            let draft = self.draft_node(step);
            (draft.is_whole, draft.key) = (true, draft.key ^ from);
        }
    }

    /// What an import finds, for which a handler around it may wait in vain.
    fn found(&mut self, range: TextRange, reads: Vec<Place>) -> Vec<Place> {
        if !self.is_caught() {
            return reads;
        }
        let found = self.temporary();
        self.fails = true;
        let node = self.failing_step(range, "found", reads, vec![found]);
        self.draft_node(node).is_whole = true;
        vec![found]
    }
}
