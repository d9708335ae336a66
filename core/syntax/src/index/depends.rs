//! The text of everything that a function or class depends on within its own text, to tell whether two versions of a text make
//! it do the same.

use std::collections::{BTreeMap, BTreeSet};

use ruff_python_ast::Stmt;
use ruff_text_size::{Ranged, TextRange};

use super::Index;
use crate::bound::bound;
use crate::parse::{parse, with_stack_for};

impl Index {
    /// The texts of an entity and of all that it depends on, by name: what it reads, directly or through others; the heads and
    /// special methods of its classes and of their bases; and the statements of the module that may change anything, since they
    /// do not only bind names. `None` if the text has no such entity.
    pub fn texts_of(&self, entity: &str) -> Option<BTreeMap<String, Vec<&str>>> {
        if !self.has(entity) {
            return None;
        }
        let mut texts: BTreeMap<String, Vec<&str>> = BTreeMap::new();
        let mut seen = BTreeSet::new();
        let mut waiting = vec![entity.to_owned()];
        while let Some(name) = waiting.pop() {
            if !seen.insert(name.clone()) {
                continue;
            }
            let places = self.places.get(&name).into_iter().flatten();
            let own: Vec<&str> = places.filter_map(|range| self.of_range(*range)).collect();
            if !own.is_empty() {
                texts.insert(name.clone(), own);
            }
            waiting.extend(self.used_by(&name));
            let mut owner = name.as_str();
            while let Some((class, _)) = owner.rsplit_once('.') {
                owner = class;
                waiting.extend(self.surroundings(class, &mut texts));
            }
            if self.classes.contains_key(&name) {
                waiting.extend(self.surroundings(&name, &mut texts));
            }
        }
        let free = self.free_statements();
        texts.extend((!free.is_empty()).then_some((String::new(), free)));
        Some(texts)
    }

    /// What acts on every member of a class, be it named or not.
    fn surroundings<'a>(&'a self, class: &str, texts: &mut BTreeMap<String, Vec<&'a str>>) -> Vec<String> {
        let mut found = Vec::new();
        for class in self.ancestry(class) {
            let is_member = |name: &str| name.strip_prefix(class.as_str()).is_some_and(|rest| rest.starts_with('.'));
            let is_special =
                |name: &str| name.rsplit('.').next().is_some_and(|own| own.is_empty() || own.starts_with("__"));
            let read = self.reads.get(&class).into_iter().flatten();
            // Of a class, these are its members, and what its bases, keywords and decorators read.
            let wanted = read.filter(|name| !is_member(name) || is_special(name));
            found.extend(wanted.filter(|name| self.has(name)).cloned());
            if let Some(head) = self.head_of(&class).and_then(|range| self.of_range(range)) {
                texts.insert(format!("class {class}"), vec![head]);
            }
        }
        found
    }

    /// The statements of the module that do more than define, import or bind a name: calls, changes of attributes and items,
    /// compound statements, and imports of everything.
    fn free_statements(&self) -> Vec<&str> {
        let ranges: Vec<TextRange> = with_stack_for(self.text.len(), || {
            let parsed = parse(&self.text);
            let is_free = |stmt: &&Stmt| match stmt {
                Stmt::FunctionDef(_) | Stmt::ClassDef(_) | Stmt::Pass(_) => false,
                Stmt::Expr(node) => !node.value.is_literal_expr(),
                Stmt::Assign(node) => !node.targets.iter().all(|target| target.is_name_expr()),
                Stmt::AnnAssign(node) => !node.target.is_name_expr(),
                Stmt::Import(_) => false,
                Stmt::ImportFrom(_) => bound(stmt).contains(&"*"),
                _ => true,
            };
            parsed.syntax().body.iter().filter(is_free).map(Ranged::range).collect()
        });
        ranges.into_iter().filter_map(|range| self.of_range(range)).collect()
    }

    fn of_range(&self, range: TextRange) -> Option<&str> {
        self.text.get(range.to_std_range())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn same(old: &str, new: &str, entity: &str) -> bool {
        let [old, new] = [old, new].map(Index::of);
        old.texts_of(entity).unwrap() == new.texts_of(entity).unwrap()
    }

    #[test]
    fn what_a_function_uses_belongs_to_it_and_nothing_else() {
        let text = "from hashlib import sha256 as h\nimport json\nSALT = 'a'\nOTHER = 1\ndef key(x):\n    return SALT + x\n\
                    def f(x):\n    return h(key(x))\ndef g():\n    return json, OTHER\n";
        for (old, new) in [("sha256", "md5"), ("'a'", "'b'"), ("SALT + x", "x + SALT"), ("h(key(x))", "h(x)")] {
            assert!(!same(text, &text.replace(old, new), "f"), "{old}");
        }
        for (old, new) in
            [("OTHER = 1", "OTHER = 2"), ("import json", "import orjson as json"), ("json, OTHER", "OTHER")]
        {
            assert!(same(text, &text.replace(old, new), "f"), "{old}");
        }
        assert!(same(text, &format!("\n# a comment\n{text}"), "f"));
        assert!(Index::of(text).texts_of("none").is_none());
    }

    #[test]
    fn statements_that_may_change_anything_belong_to_every_function() {
        let text = "import hashlib\ndef f(x):\n    return hashlib.sha256(x)\n";
        for added in [
            "hashlib.sha256 = hashlib.md5\n",
            "globals().update(f=1)\n",
            "from odd import *\n",
            "f.__defaults__ = (1,)\n",
            "if True:\n    hashlib.sha256 = hashlib.md5\n",
            "for hashlib.sha256 in [hashlib.md5]: pass\n",
            "with odd as hashlib.sha256: pass\n",
            "del hashlib.sha256\n",
        ] {
            assert!(!same(text, &format!("{text}{added}"), "f"), "{added}");
        }
    }

    #[test]
    fn the_classes_of_a_method_belong_to_it() {
        let text = "def odd(c):\n    return c\nclass B:\n    size = 1\n    def __init__(self):\n        self.x = 1\n\
                    @odd\nclass A(B):\n    def f(self):\n        return self.size\n    def g(self):\n        return 1\n";
        for (old, new) in
            [("size = 1", "size = 2"), ("self.x = 1", "self.x = 2"), ("@odd\n", ""), ("A(B)", "A(object)")]
        {
            assert!(!same(text, &text.replace(old, new), "A.f"), "{old}");
        }
        assert!(!same(text, &text.replace("return c\n", "return None\n"), "A.f"));
        assert!(same(text, &text.replace("        return 1\n", "        return 2\n"), "A.f"));
        assert!(!same(text, &text.replace("        return 1\n", "        return 2\n"), "A"));
    }
}
