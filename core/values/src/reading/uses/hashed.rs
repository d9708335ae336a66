//! Which values are keys of dictionaries or members of sets that the code makes, so that they need a hash: `x` of
//! `counts[x] += 1` where `counts = {}`.

use std::collections::BTreeMap;

use ruff_python_ast::visitor::{Visitor, walk_expr, walk_stmt};
use ruff_python_ast::{CmpOp, Expr, Stmt};

use super::collector::Collector;
use crate::reading::written::named;

/// Classes whose objects have such keys or members.
const HASHING: [&str; 6] = ["dict", "set", "frozenset", "defaultdict", "Counter", "OrderedDict"];
/// Their methods whose first argument is one.
const METHODS: [&str; 7] = ["add", "discard", "get", "move_to_end", "pop", "remove", "setdefault"];

/// Notes the keys and members in a text.
pub(super) fn note(collector: &mut Collector, body: &[Stmt]) {
    let mut holders = Holders::default();
    body.iter().for_each(|stmt| holders.visit_stmt(stmt));
    let mut keys = Keys { holders: holders.0, found: Vec::new() };
    body.iter().for_each(|stmt| keys.visit_stmt(stmt));
    for key in keys.found {
        collector.note(key, |uses| uses.hashed = true);
    }
}

/// The names that are bound to dictionaries and sets alone.
#[derive(Default)]
struct Holders(BTreeMap<String, bool>);

impl Holders {
    fn note<'a>(&mut self, target: &'a Expr, value: &'a Expr) {
        let hashes = match value {
            Expr::Dict(_) | Expr::Set(_) | Expr::DictComp(_) | Expr::SetComp(_) => true,
            Expr::Call(call) => named(&call.func).is_some_and(|name| HASHING.contains(&last(&name))),
            _ => false,
        };
        match target {
            Expr::Name(name) => {
                self.0.entry(name.id.to_string()).and_modify(|all| *all &= hashes).or_insert(hashes);
            }
            other => self.visit_expr(other),
        }
    }
}

impl<'a> Visitor<'a> for Holders {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::Assign(node) => node.targets.iter().for_each(|target| self.note(target, &node.value)),
            Stmt::AnnAssign(node) => {
                if let Some(value) = &node.value {
                    self.note(&node.target, value);
                }
            }
            // `seen |= {x}` leaves a set a set.
            Stmt::AugAssign(_) => {}
            _ => walk_stmt(self, stmt),
        }
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        if let Expr::Name(name) = expr
            && !name.ctx.is_load()
        {
            // `for counts in ...`, `with ... as counts`.
            self.0.insert(name.id.to_string(), false);
        }
        walk_expr(self, expr);
    }
}

struct Keys<'a> {
    holders: BTreeMap<String, bool>,
    found: Vec<&'a Expr>,
}

impl<'a> Keys<'a> {
    fn hashes(&self, holder: &Expr) -> bool {
        let is_known = |name: &ruff_python_ast::ExprName| self.holders.get(name.id.as_str()) == Some(&true);
        holder.as_name_expr().is_some_and(is_known)
    }

    /// A tuple has a hash if all of its items have one.
    fn note(&mut self, key: &'a Expr) {
        match key {
            Expr::Tuple(tuple) => tuple.elts.iter().for_each(|item| self.note(item)),
            key => self.found.push(key),
        }
    }
}

impl<'a> Visitor<'a> for Keys<'a> {
    fn visit_annotation(&mut self, _: &'a Expr) {}

    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Subscript(node) if self.hashes(&node.value) => self.note(&node.slice),
            Expr::Compare(node) => {
                let rights = node.comparators.iter();
                let lefts = std::iter::once(node.left.as_ref()).chain(rights.clone());
                for ((left, op), right) in lefts.zip(&node.ops).zip(rights) {
                    if matches!(op, CmpOp::In | CmpOp::NotIn) && self.hashes(right) {
                        self.note(left);
                    }
                }
            }
            Expr::Call(call) => {
                if let (Expr::Attribute(method), [key, ..]) = (call.func.as_ref(), call.arguments.args.as_ref())
                    && METHODS.contains(&method.attr.as_str())
                    && self.hashes(&method.value)
                {
                    self.note(key);
                }
            }
            Expr::Dict(node) => node.items.iter().filter_map(|item| item.key.as_ref()).for_each(|key| self.note(key)),
            Expr::DictComp(node) => self.found.extend(node.key.as_deref()),
            Expr::Set(node) => node.elts.iter().for_each(|item| self.note(item)),
            Expr::SetComp(node) => self.note(&node.elt),
            _ => {}
        }
        walk_expr(self, expr);
    }
}

fn last(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::super::read;

    #[test]
    fn keys_of_dictionaries_and_members_of_sets_have_a_hash() {
        let code = "def f(a, b, c, d, e, g, h, i, table, rows):\n    counts = {}\n    seen: set = set()\n    \
                    counts[a] = 1\n    if b not in counts: seen.add(c)\n    counts.setdefault((d, 1), [])\n    \
                    x = {e: 1, **rows}\n    table[g] = 1\n    seen = h in table\n    for row in rows:\n        \
                    key = row['key']\n        counts[key] = row['value']\n    return {n: i for n in i}\n";
        let function = twincell_syntax::functions(code).0.remove(0);
        let sites = twincell_syntax::instrument::instrument(&function).unwrap().sites.sites;
        let reading = read(code, &sites);
        let hashed =
            sites.iter().zip(&reading.uses).filter(|(_, uses)| uses.hashed).map(|(site, _)| site.path.as_str());
        let hashed: std::collections::BTreeSet<&str> = hashed.collect();
        // The set becomes something else, so nothing is known of `c`.
        assert_eq!(hashed.into_iter().collect::<Vec<_>>(), ["a", "b", "d", "e", "key", "n", "row['key']"]);
    }
}
