//! What an assignment or a use of Python's own functions changes, and what has to be given for that.

use ruff_python_ast::Expr;

use super::level::Level;
use super::module::{is_import, roots};
use super::search::Search;

/// The functions of Python that reach names as texts: those of a module's own names, and those of anything's.
const OWN_NAMES: [&str; 2] = ["globals", "locals"];
const REFLECTIVE: [&str; 6] = ["vars", "setattr", "delattr", "exec", "eval", "__import__"];

/// The attributes of a function that say what it does.
const OF_FUNCTIONS: [&str; 7] =
    ["__code__", "__defaults__", "__kwdefaults__", "__globals__", "__dict__", "__class__", "__wrapped__"];

impl<'a> Search<'_, 'a> {
    /// What has to be given for an assignment to this to change a function, a class or a module, and which module.
    pub(super) fn foreign(&self, target: &Expr) -> Option<(Level, Option<String>)> {
        let attribute = target.as_attribute_expr().map(|node| node.attr.as_str());
        // `sys.modules["json"] = fake`
        if let Expr::Subscript(node) = target
            && node.value.as_attribute_expr().is_some_and(|held| &held.attr == "modules")
        {
            let name = node.slice.as_string_literal_expr().map(|text| text.value.to_str().to_owned());
            return Some((Level::Nothing, name));
        }
        let is_known = |attribute: &&str| self.module.by_name.contains_key(attribute);
        let mut root = target;
        let mut parts = Vec::new();
        loop {
            root = match root {
                Expr::Attribute(node) => {
                    parts.push(node.attr.as_str());
                    &node.value
                }
                Expr::Subscript(node) => &node.value,
                // `import_module("json").dumps = fake`
                Expr::Call(call) if is_import(&call.func) => {
                    let name = call.arguments.args.first().and_then(Expr::as_string_literal_expr);
                    return Some((Level::Nothing, name.map(|text| text.value.to_str().to_owned())));
                }
                // `type(self).open = fake`
                Expr::Call(call) if call.func.as_name_expr().is_some_and(|name| &name.id == "type") => {
                    return attribute.filter(is_known).map(|_| (Level::Nothing, None));
                }
                Expr::Name(_) if std::ptr::eq(root, target) => return None,
                Expr::Name(name) => {
                    let name = name.id.as_str();
                    if self.holder == Some(name) || parts.contains(&"__class__") && self.first == Some(name) {
                        return attribute.filter(is_known).map(|_| (Level::Nothing, None));
                    }
                    if self.module.defined.contains_key(name) {
                        return Some((Level::Nothing, None));
                    }
                    let attribute = attribute.filter(|_| self.first != Some(name))?;
                    if let Some((level, target)) = self.locals.get(name) {
                        let is_code = *level == Level::Holder && OF_FUNCTIONS.contains(&attribute);
                        return Some((if is_code { Level::Function } else { *level }, target.clone()));
                    }
                    if self.parameters.contains(name) {
                        let is_code = OF_FUNCTIONS.contains(&attribute);
                        return Some((if is_code { Level::Function } else { Level::Holder }, None));
                    }
                    if name == "__builtins__" {
                        return Some((Level::Nothing, Some("builtins".to_owned())));
                    }
                    // The last part is what is replaced, and the others lead there.
                    let Some(whole) = self.module.imported.get(name) else {
                        let is_code = self.module.is_cell && OF_FUNCTIONS.contains(&attribute);
                        return is_code.then_some((Level::Nothing, None)).or_else(|| self.standing_for(name));
                    };
                    let between = parts.iter().skip(1).rev().copied();
                    let path: Vec<&str> = std::iter::once(whole.as_str()).chain(between).collect();
                    return Some((Level::Nothing, Some(path.join("."))));
                }
                // `(os if is_new else shutil).copy = fake`
                other => {
                    attribute?;
                    let mut names = Vec::new();
                    roots(other, &mut names);
                    return names.into_iter().find_map(|name| self.of_root(name));
                }
            }
        }
    }

    /// What has to be given for an assignment to a part of what a name stands for to change a function.
    pub(super) fn of_root(&self, name: &str) -> Option<(Level, Option<String>)> {
        if self.first == Some(name) {
            return None;
        }
        if let Some(found) = self.locals.get(name) {
            return Some(found.clone());
        }
        if self.parameters.contains(name) {
            return Some((Level::Holder, None));
        }
        let imported = self.module.imported.get(name).map(|target| (Level::Nothing, Some(target.clone())));
        let own = || self.module.defined.contains_key(name).then_some((Level::Nothing, None));
        imported.or_else(own).or_else(|| self.standing_for(name))
    }

    /// The same for a variable, which may stand for a function, a class or a module.
    fn standing_for(&self, name: &str) -> Option<(Level, Option<String>)> {
        let foreign = self.module.foreign.get(name).map(|target| (Level::Nothing, Some(target.clone())));
        foreign.or_else(|| self.module.own.contains(name).then_some((Level::Nothing, None)))
    }

    /// The root of a chain of attributes.
    pub(super) fn root(expr: &Expr) -> Option<&str> {
        match expr {
            Expr::Name(name) => Some(name.id.as_str()),
            Expr::Attribute(node) => Self::root(&node.value),
            _ => None,
        }
    }

    /// Whether this is the object that a method belongs to.
    pub(super) fn is_first(&self, expr: Option<&Expr>) -> bool {
        let name = expr.and_then(Expr::as_name_expr).map(|name| name.id.as_str());
        name.is_some() && name == self.first
    }

    /// Whether this is Python's own module.
    pub(super) fn is_builtins(&self, expr: &Expr) -> bool {
        let is_text = |text: Option<&Expr>| {
            text.and_then(Expr::as_string_literal_expr).is_some_and(|text| text.value.to_str() == "builtins")
        };
        match expr {
            Expr::Name(name) => match self.module.imported.get(name.id.as_str()) {
                Some(whole) => whole == "builtins",
                None => matches!(name.id.as_str(), "builtins" | "__builtins__"),
            },
            Expr::Call(call) => is_import(&call.func) && is_text(call.arguments.args.first()),
            Expr::Subscript(node) => is_text(Some(&node.slice)),
            _ => false,
        }
    }

    /// The name that a function of Python has there, whatever it is called here.
    fn original<'n>(&'n self, name: &'n str) -> &'n str {
        let imported = self.module.imported.get(name);
        imported.and_then(|whole| whole.strip_prefix("builtins.")).unwrap_or(name)
    }

    /// What has to be given for a use of Python's own functions to change a function, and which module it changes.
    pub(super) fn reflective(&self, name: &str, arguments: Option<&'a [Expr]>) -> Option<(Level, Option<String>)> {
        let name = self.original(name);
        if OWN_NAMES.contains(&name) {
            // A file without functions changes nothing of its own.
            return self.module.has_functions.then_some((Level::Nothing, None));
        }
        if !REFLECTIVE.contains(&name) {
            return None;
        }
        let first = arguments.and_then(<[Expr]>::first);
        if self.is_first(first) && name != "exec" && name != "eval" {
            return None;
        }
        let root = first.and_then(Self::root);
        let target = root.and_then(|root| self.module.imported.get(root)).cloned();
        let has_default =
            root.is_some_and(|root| self.locals.get(root).is_some_and(|(level, _)| *level == Level::Nothing));
        let is_given = !has_default
            && root.is_some_and(|root| self.parameters.contains(root) && self.holder != Some(root))
            && name != "exec"
            && name != "eval";
        Some((if is_given { Level::Function } else { Level::Nothing }, target))
    }
}
