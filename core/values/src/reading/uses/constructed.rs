//! What a class does with the arguments of its constructor: in `__init__`, and in all methods with the attributes that keep
//! them.

use twincell_syntax::instrument::instrument;
use twincell_syntax::site::SiteKind;
use twincell_syntax::{Function, classes, functions};

use super::{ModuleContext, Uses, read_within};
use crate::path::AccessPath;
use crate::reading::kept_parameters;

/// The parameters of a class's constructor, without the object, each with its uses. `None` for a class without one of its own.
pub(super) fn of_constructor(class: &str, around: &ModuleContext) -> Option<Vec<(String, Uses)>> {
    let name = classes(class).into_iter().next()?.name;
    // Methods of classes within it are of others.
    let is_own = |method: &Function| {
        let is_static = method.decorators.iter().any(|text| matches!(text.as_str(), "staticmethod" | "classmethod"));
        method.qualname == format!("{name}.{}", method.name) && !is_static
    };
    let methods: Vec<Function> = functions(class).0.into_iter().filter(is_own).collect();
    let constructor = methods.iter().find(|method| method.name == "__init__")?;
    let (_, parameters) = constructor.parameters.split_first()?;
    let kept = kept_parameters(constructor);
    let mut found: Vec<(String, Uses)> =
        parameters.iter().map(|parameter| (parameter.name.clone(), Uses::default())).collect();
    for method in &methods {
        let (Some(own), Ok(instrumented)) = (method.parameters.first(), instrument(method)) else { continue };
        let sites = instrumented.sites.sites;
        let is_constructor = method.qualname == constructor.qualname;
        for (site, uses) in sites.iter().zip(read_within(&method.text, &sites, around).uses) {
            for (name, all) in &mut found {
                let is_kept = || {
                    let attribute =
                        AccessPath::new(&site.path).beyond(&own.name).and_then(|rest| rest.strip_prefix('.'));
                    attribute.is_some_and(|attribute| kept.iter().any(|one| one.0 == *name && one.1 == attribute))
                };
                let is_passed = is_constructor && site.kind == SiteKind::Name && site.path == *name;
                if is_passed || is_kept() {
                    all.merge(&uses);
                }
            }
        }
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::AbstractValue;

    #[test]
    fn arguments_of_a_constructor_are_used_as_the_attributes_that_keep_them() {
        let class = "class Insert:\n    class Options:\n        def __init__(self, position):\n            \
                     self.position = position.lower()\n    def __init__(self, position, text, *, label=None):\n        \
                     self.position = position\n        self.words = text.split(',')\n        self.label = label\n    \
                     def apply(self, buffer):\n        return buffer[:self.position] + self.label.upper()\n    @staticmethod\n    \
                     def f(other):\n        return other.position.strip()\n";
        let found = of_constructor(class, &ModuleContext::default()).unwrap();
        let [(_, position), (_, text), (_, label)] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!(position.like, [AbstractValue::Int, AbstractValue::None]);
        assert_eq!(text.separators, [","]);
        assert_eq!(label.attributes, ["upper"]);
        assert_eq!(of_constructor("class C:\n    x: int\n", &ModuleContext::default()), None);
    }
}
