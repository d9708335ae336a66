//! What both versions import, but reach in different ways: `C` after `from a.b import C` and `a.b.C` after `import a.b`.
//! It is one thing, so both versions have one access path for it, the one of the old version.

use std::collections::BTreeMap;

use twincell_engine::protocol::{Context, Imported, Version};
use twincell_syntax::{Import, PerSide, Side};
use twincell_values::path::AccessPath;
use twincell_values::reading::{Hint, HintBasis};
use twincell_values::value::library;

/// The imports by name: those of the module, and those of the code itself.
#[derive(Debug, Clone, Default)]
pub(super) struct Imports {
    pub of_module: BTreeMap<String, Import>,
    pub own: BTreeMap<String, Import>,
}

impl Imports {
    /// Drops what hints declare of classes of libraries that the code cannot mean. Without its module, code has none of
    /// those that do not come with Python.
    pub fn keep_library(&self, context: Context, hints: &mut BTreeMap<String, Hint>) {
        let is_meant = |class: &str, basis: HintBasis| {
            if library::is_model(class) {
                return context == Context::Module;
            }
            (library::is_standard(class) || context == Context::Module) && self.may_mean(class, basis)
        };
        hints.values_mut().for_each(|hint| hint.keep_library(&is_meant));
    }

    /// Whether the code can mean this class of a library. Code that was cut out of its module shows no imports.
    fn may_mean(&self, class: &str, basis: HintBasis) -> bool {
        let module = library::module_of(class);
        let mut all = self.of_module.values().chain(self.own.values()).peekable();
        let is_within = |target: &str| target.strip_prefix(module).is_some_and(|rest| rest.starts_with('.'));
        match basis {
            HintBasis::Name => {
                library::is_standard(class) && (all.peek().is_none() || module == "builtins")
                    || all
                        .any(|import| import.target == class || import.target == module || names(&import.target, class))
            }
            HintBasis::Use => all.any(|import| import.target == module || is_within(&import.target)),
            HintBasis::UniqueUse => {
                let mut targets = all.map(|import| import.target.as_str());
                targets.clone().any(|target| target == module)
                    || targets.all(|target| !library::is_like(module, target))
            }
        }
    }

    fn get(&self, version: &Version, name: &str) -> Option<&Import> {
        let is_local = || {
            version.locals.names.iter().any(|local| local == name)
                || version.parameters.iter().any(|parameter| parameter.name == name)
        };
        self.own.get(name).or_else(|| self.of_module.get(name).filter(|_| !is_local()))
    }
}

/// Whether something imported is another name of the class: `numpy.typing` has `NDArray`, `typing` has `TextIO`.
fn names(target: &str, class: &str) -> bool {
    let (module, name) = target.rsplit_once('.').unwrap_or((target, ""));
    let has_other_names = matches!((target, class), ("numpy.typing", library::ARRAY) | ("typing", _));
    has_other_names || matches!(module, "typing" | "numpy.typing") && library::class_named(name) == Some(class)
}

/// How one version writes what it reaches through imports.
type ImportSpellings = BTreeMap<String, String>;

/// Notes in both versions what they reach in different ways.
pub(super) fn unify(versions: &mut [Version], imports: &PerSide<&Imports>) {
    let [old, new] = versions else { return };
    let written = PerSide::new(written(old, imports.old), written(new, imports.new));
    let evaluated = PerSide::new(!old.module.is_empty(), !new.module.is_empty());
    // A module that is evaluated binds the object itself under this name.
    let binds = |side: Side, name: &str, target: &str| {
        let bound = imports[side].of_module.get(name).filter(|_| !imports[side].own.contains_key(name));
        evaluated[side] && bound.is_some_and(|import| import.target == target)
    };
    for (target, in_old) in &written.old {
        let Some(in_new) = written.new.get(target).filter(|in_new| *in_new != in_old) else { continue };
        let at_load = binds(Side::Old, in_old, target) || binds(Side::New, in_new, target);
        for (version, written) in [(&mut *old, in_old), (&mut *new, in_new)] {
            version.imports.push(Imported {
                target: target.clone(),
                written: written.clone(),
                canonical: in_old.clone(),
                at_load,
            });
        }
    }
}

/// The dotted paths of everything that a version reaches through imports, each as the version first writes it.
fn written(version: &Version, imports: &Imports) -> ImportSpellings {
    let mut found = ImportSpellings::new();
    for site in &version.sites.sites {
        let end = site.path.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '.')).unwrap_or(site.path.len());
        // `a.b.` of `a.b.(c)` is no path, and the name of a call is.
        let dotted = site.path[..end].trim_end_matches('.');
        let (root, rest) = AccessPath::new(dotted).split_root();
        let Some(import) = imports.get(version, root) else { continue };
        let ends = rest.match_indices('.').map(|(at, _)| root.len() + at).chain([dotted.len()]);
        for end in ends {
            let target = format!("{}{}", import.target, &dotted[root.len()..end]);
            found.entry(target).or_insert_with(|| dotted[..end].to_owned());
        }
    }
    found
}
