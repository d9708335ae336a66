//! How the code uses each value: what a missing value must be able to do.
//!
//! This is a purely syntactic reading of one function: `x.lower()` calls a method of a text, `for a, b in x` takes
//! pairs, `x == 'yes'` and `x in ('a', 'b')` name values worth trying. Uses are hints that weight a predictor's
//! distribution. They are never laws, because the code under comparison may be wrong. `value/` says what a value *is*.

mod calls;
mod collector;
mod constructed;
mod contents;
mod conversions;
mod forms;
mod hashed;
mod mappings;
mod merged;
mod patterns;
mod surroundings;
mod unpacked;

use std::collections::BTreeMap;

use collector::{Collector, Derivation, FlowKind, Holder, collect};
use contents::{note_data, note_entries, note_items};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use twincell_syntax::site::{Site, SiteKind};

use crate::path::AccessPath;
use crate::value::Recipe;

pub use forms::parsed;
pub use surroundings::ModuleContext;

use super::used::{Key, MAX_PARTS, Uses, add_missing};
/// The maximum depth of uses of items within items, and their maximum total.
const MAX_DEPTH: usize = 4;
const MAX_NESTED: usize = 256;

/// The result of reading a function's text once.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Reading {
    /// One for each site.
    pub uses: Vec<Uses>,
    pub locals: Locals,
}

/// Reads a function's text: how it uses each site's value, and what its locals stand for.
pub fn read(text: &str, sites: &[Site]) -> Reading {
    read_within(text, sites, &ModuleContext::default())
}

/// Like [`read`], but with the text around the function.
pub fn read_within(text: &str, sites: &[Site], surroundings: &ModuleContext) -> Reading {
    let collector = collect(text, surroundings);
    Reading { uses: uses(&collector, sites), locals: locals(collector, sites) }
}

/// The uses of every site, in the order of `sites`. Sites with the same access path share theirs.
fn uses(collector: &Collector, sites: &[Site]) -> Vec<Uses> {
    let mut by_path: BTreeMap<(SiteKind, &str), Uses> = BTreeMap::new();
    for site in sites {
        let key = (site.kind, site.path.as_str());
        if site.kind == SiteKind::Name {
            // They are already collected by name, so once is enough.
            by_path.entry(key).or_insert_with(|| collector.names.get(&site.path).cloned().unwrap_or_default());
        } else if let Some(found) = collector.found.get(&(site.kind, site.start, site.end)) {
            by_path.entry(key).or_default().merge(found);
        }
    }
    let places: FxHashMap<collector::ExpressionKey, &str> = match collector.links.as_slice() {
        [] => FxHashMap::default(),
        _ => sites.iter().map(|site| ((site.kind, site.start, site.end), site.path.as_str())).collect(),
    };
    // A value that is bound to a local is used like the local. The rounds follow `a = f(); b = a`.
    for _ in 0..3 {
        note_data(&mut by_path);
        note_items(&mut by_path);
        note_entries(&mut by_path);
        for flow in &collector.flows {
            let Some(mut from) = by_path.get(&(SiteKind::Name, flow.local.as_str())).cloned().map(nested) else {
                continue;
            };
            if collector.of_none.contains(&flow.local) {
                from.candidates.retain(|value| *value != Recipe::None);
            }
            let used = match &flow.kind {
                FlowKind::Value => from,
                FlowKind::Element => Uses { element: Some(Box::new(from)), ..Uses::default() },
                FlowKind::Part(positions) => part(positions, from),
                FlowKind::ElementPart(positions) => {
                    Uses { element: Some(Box::new(part(positions, from))), ..Uses::default() }
                }
                FlowKind::Holder => match from.element {
                    Some(element) => *element,
                    None => continue,
                },
                FlowKind::Awaited => continue,
            };
            for site in sites {
                if (site.kind, site.start, site.end) == flow.value {
                    by_path.entry((site.kind, site.path.as_str())).or_default().merge(&used);
                }
            }
        }
        // A text is used like the value that a method makes of it: `x.strip() == 'a'`, `int(x.split(',')[0])`.
        for link in &collector.links {
            let Some(path) = places.get(&link.call) else { continue };
            let Some(made) = by_path.get(&(SiteKind::Call, *path)).cloned() else { continue };
            let used = match link.made {
                Derivation::Fields => Uses { fields: Some(Box::new(nested(made))), ..Uses::default() },
                Derivation::Halves => Uses { fields: Some(Box::new(nested(halves(made)))), ..Uses::default() },
                Derivation::Json => Uses { matching: forms::json(&made), ..Uses::default() },
                Derivation::Text => as_text(made),
                Derivation::Items => Uses { unpacked: made.unpacked, ..Uses::default() },
            };
            let holder = match &link.holder {
                Holder::Name(name) => (SiteKind::Name, name.as_str()),
                Holder::ExpressionKey(place) => match places.get(place) {
                    Some(path) => (place.0, *path),
                    None => continue,
                },
            };
            by_path.entry(holder).or_default().merge(&used);
        }
    }
    note_data(&mut by_path);
    sites.iter().map(|site| by_path.get(&(site.kind, site.path.as_str())).cloned().unwrap_or_default()).collect()
}

/// The uses as part of another value's uses. They are cut, since code that loops over its own items or unpacks itself
/// has no end.
fn nested(mut uses: Uses) -> Uses {
    cut(&mut uses, MAX_DEPTH, &mut { MAX_NESTED });
    uses
}

fn cut(uses: &mut Uses, depth: usize, left: &mut usize) {
    for inner in [&mut uses.fields, &mut uses.element, &mut uses.entry, &mut uses.result] {
        match inner {
            Some(inner) if depth > 0 && *left > 0 => {
                *left -= 1;
                cut(inner, depth - 1, left);
            }
            _ => *inner = None,
        }
    }
    uses.parts.truncate(if depth > 0 { *left } else { 0 });
    for part in &mut uses.parts {
        *left = left.saturating_sub(1);
        cut(part, depth - 1, left);
    }
    uses.values.truncate(if depth > 0 { *left } else { 0 });
    for (_, value) in &mut uses.values {
        *left = left.saturating_sub(1);
        cut(value, depth - 1, left);
    }
}

/// The uses of a value that has an item with these uses, or items within items.
fn part(positions: &[usize], uses: Uses) -> Uses {
    positions.iter().rev().fold(uses, |inner, position| {
        let mut parts = vec![Uses::default(); *position];
        parts.push(inner);
        Uses { parts, ..Uses::default() }
    })
}

/// The uses of the two sides of a separator, from those of the three parts that `partition` gives.
fn halves(mut made: Uses) -> Uses {
    let after = made.parts.get_mut(2).map(std::mem::take);
    let before = made.parts.first_mut().map(std::mem::take);
    Uses { parts: before.into_iter().chain(after).collect(), ..Uses::default() }
}

/// Those uses of a text made by a method that also hold for the text from which it was made.
pub(super) fn as_text(made: Uses) -> Uses {
    let Uses { numeric, affixed, matching, separators, fields, attributes, data, mut candidates, .. } = made;
    candidates.retain(|value| matches!(value, Recipe::Str(_)));
    Uses { numeric, affixed, matching, separators, fields, attributes, data, candidates, ..Uses::default() }
}

/// What the local names of a function stand for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Locals {
    /// (local, access path of the only value that it is bound to): `x = a.b` makes `x.c` the path `a.b.c`.
    pub aliases: Vec<(String, String)>,
    /// The names that the function binds, without parameters.
    pub names: Vec<String>,
}

/// The local names of a function.
fn locals(collector: Collector, sites: &[Site]) -> Locals {
    let bound_once = |local: &str| collector.bound.get(local) == Some(&1) && !collector.parameters.contains(local);
    let mut locals = Locals::default();
    for flow in collector.flows.iter().filter(|flow| bound_once(&flow.local)) {
        let site = sites.iter().find(|site| (site.kind, site.start, site.end) == flow.value);
        let meant = match &flow.kind {
            FlowKind::Value => site.filter(|site| site.kind != SiteKind::Name).map(|site| site.path.clone()),
            FlowKind::Awaited => site.map(|site| AccessPath::new(&site.path).awaited().into_string()),
            FlowKind::Holder | FlowKind::Element | FlowKind::Part(_) | FlowKind::ElementPart(_) => None,
        };
        locals.aliases.extend(meant.map(|meant| (flow.local.clone(), meant)));
    }
    locals.names = collector.bound.into_keys().filter(|name| !collector.parameters.contains(name)).collect();
    locals
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::AbstractValue;

    fn site(name: &str, at: usize) -> Site {
        Site {
            kind: SiteKind::Name,
            start: at as u32,
            end: (at + name.len()) as u32,
            line: 1,
            identifier: name.into(),
            path: name.into(),
            catches: vec![],
            discarded: false,
        }
    }

    fn name_uses(code: &str, name: &str) -> Uses {
        let sites: Vec<Site> = code.match_indices(name).map(|(at, _)| site(name, at)).collect();
        read(code, &sites).uses.into_iter().next().unwrap_or_default()
    }

    #[test]
    fn a_value_that_is_called_or_iterated_is_noted() {
        assert!(name_uses("qq()", "qq").called);
        assert!(name_uses("for a in qq: pass", "qq").iterated);
        assert_eq!(name_uses("a, b = qq", "qq").unpacked, Some(2));
        assert!(name_uses("raise qq", "qq").exception);
    }

    #[test]
    fn what_a_list_holds_is_used_as_its_items_are() {
        let code = "import asyncio\ntasks = [qq.y for url in urls]\nawait asyncio.gather(*tasks)";
        let at = code.find("qq.y").unwrap_or_default();
        let item = Site { kind: SiteKind::Attribute, end: at as u32 + 4, path: "qq.y".into(), ..site("qq", at) };
        let tasks = site("tasks", code.rfind("tasks").unwrap_or_default());
        assert!(read(code, &[item, tasks]).uses[0].awaited);
    }

    /// The uses of a parameter of a function.
    fn parameter_uses(body: &str) -> Uses {
        let code = format!("def f(qq, other):\n    {body}\n");
        let function = twincell_syntax::functions(&code).0.remove(0);
        let sites = twincell_syntax::instrument::instrument(&function).unwrap().sites.sites;
        let reading = read(&function.text, &sites);
        let at = sites.iter().position(|site| site.kind == SiteKind::Name && site.path == "qq").unwrap();
        reading.uses[at].clone()
    }

    #[test]
    fn items_are_used_as_the_builtin_functions_hand_them_on() {
        for body in [
            "for a, b in sorted(qq): pass",
            "for a, b in list(reversed(qq)): pass",
            "for i, (a, b) in enumerate(qq): pass",
            "for x, (a, b) in zip(other, qq): pass",
            "return [a for a, b in sorted(qq)]",
        ] {
            assert_eq!(parameter_uses(body).element.and_then(|item| item.unpacked), Some(2), "{body}");
        }
        for body in [
            "return sorted(qq, key=lambda p: p['n'])",
            "qq.sort(key=lambda p: p['n'])",
            "return max(qq, key=lambda p: p['n'])",
        ] {
            let element = parameter_uses(body).element.unwrap_or_default();
            assert_eq!(element.key_candidates, [Recipe::Str("n".into())], "{body}");
        }
    }

    #[test]
    fn what_is_looked_up_is_used_as_its_value_is() {
        let uses =
            parameter_uses("for order in qq:\n        if order['status'] == 'paid': other += order['amount'] * 2");
        let element = uses.element.unwrap_or_default();
        let of = |key: &str| element.values.iter().find(|(own, _)| own == key).map(|(_, used)| used.clone());
        assert_eq!(of("status").unwrap().candidates, [Recipe::Str("paid".into())]);
        assert!(of("amount").unwrap().arithmetic);
        assert!(parameter_uses("return qq[1] * 2").parts[1].arithmetic);
        assert!(parameter_uses("for i in range(3): other += qq[i] * 2").element.unwrap().arithmetic);
    }

    #[test]
    fn what_is_unpacked_within_what_is_unpacked_has_parts_as_well() {
        let pair = parameter_uses("for key, (value, stamp) in qq: other += other - stamp").element.unwrap();
        assert_eq!((pair.unpacked, pair.parts[1].unpacked), (Some(2), Some(2)));
        assert!(pair.parts[1].parts[1].arithmetic && !pair.parts[1].parts[0].arithmetic);
        assert_eq!(parameter_uses("a, [b, *c] = qq").parts[1].unpacked, None);
    }

    #[test]
    fn what_is_subtracted_or_compared_with_a_difference_is_a_number() {
        for body in ["return qq - other", "qq -= other\n    return qq", "return other // qq", "return 1 - other >= qq"]
        {
            assert!(parameter_uses(body).subtracted, "{body}");
        }
        for body in ["return qq + other", "return qq * 2", "return qq / 'name'", "return qq > other"] {
            assert!(!parameter_uses(body).subtracted, "{body}");
        }
    }

    #[test]
    fn values_of_a_mapping_are_used_as_its_methods_hand_them_on() {
        for body in [
            "for value in qq.values(): other += value * 2",
            "for key, value in qq.items(): other += value * 2",
            "return qq.get(other, 0) * 2",
            "return qq[other] * 2 if other in qq else 0",
        ] {
            assert!(parameter_uses(body).entry.is_some_and(|entry| entry.arithmetic), "{body}");
        }
        // One value says nothing about the others, and None is what there is without a value.
        assert_eq!(parameter_uses("return qq.get('count', 0) * 2").entry, None);
        assert!(parameter_uses("return qq.get(other) is None").entry.is_none_or(|entry| entry.candidates.is_empty()));
    }

    #[test]
    fn what_is_tested_for_a_key_and_asked_for_it_is_a_mapping() {
        let is_mapping = |code: &str| name_uses(code, "qq").keys.contains(&Key::Member);
        for code in [
            "if x.y in qq: z = qq[x.y]",
            "if 1 not in qq: qq[1] = 2",
            "try:\n    z = f(qq[x])\nexcept KeyError:\n    pass",
            "try:\n    z = qq[x]\nexcept (KeyError, ValueError):\n    pass",
        ] {
            assert!(is_mapping(code), "{code}");
        }
        for code in [
            "if x in qq: z = qq[y]",
            "if x in y: z = qq[x]",
            "if x in qq: z = qq[x:]",
            "try:\n    z = 1\nexcept KeyError:\n    z = qq[x]",
            "try:\n    z = qq[x]\nexcept IndexError:\n    pass",
            "try:\n    z = qq[x]\nexcept (KeyError, IndexError):\n    pass",
            "try:\n    z = t[qq[0]]\nexcept KeyError:\n    pass",
            "try:\n    def f(): return qq[x]\nexcept KeyError:\n    pass",
        ] {
            assert!(!is_mapping(code), "{code}");
        }
    }

    #[test]
    fn attributes_that_are_no_methods_are_noted() {
        let data = |code: &str| {
            let (path, attribute) = ("qq", "qq.items");
            let mut sites: Vec<Site> = code.match_indices(path).map(|(at, _)| site(path, at)).collect();
            let place = |at| Site { kind: SiteKind::Attribute, identifier: "items".into(), ..site(attribute, at) };
            sites.extend(code.match_indices(attribute).map(|(at, _)| place(at)));
            sites.extend(code.match_indices("\nx").map(|(at, _)| site("x", at + 1)));
            read(code, &sites).uses.into_iter().next().unwrap_or_default().data
        };
        for code in [
            "for a in qq.items: pass",
            "sum(a for a in qq.items)",
            "qq.items[0]",
            "x = qq.items\nx[0]",
            "qq.items = 3",
            "del qq.items",
            "qq.items += 1",
            "a, b = qq.items",
            "qq.items > 3",
        ] {
            assert_eq!(data(code), ["items"], "{code}");
        }
        for code in
            ["for a in qq.items(): pass", "f(qq.items)", "x = qq.items\nx()", "qq.items()[0]", "if qq.items: pass"]
        {
            assert!(data(code).is_empty(), "{code}");
        }
    }

    #[test]
    fn literals_that_a_value_is_compared_with_are_candidates() {
        assert_eq!(name_uses("qq == 'yes'", "qq").candidates, [Recipe::Str("yes".into())]);
        assert_eq!(name_uses("qq in (301, 302)", "qq").candidates, [Recipe::Int(301), Recipe::Int(302)]);
        assert_eq!(name_uses("{'yes': 1}.get(qq)", "qq").candidates, [Recipe::Str("yes".into())]);
        for merged in ["{**qq, 'k': 1}", "dict(qq, k=1)", "f(k=1, **qq)", "qq.update(k=1)", "qq | {'k': 1}"] {
            assert_eq!(name_uses(merged, "qq").key_candidates, [Recipe::Str("k".into())], "{merged}");
        }
        assert_eq!(name_uses("qq['k']", "qq").key_candidates, [Recipe::Str("k".into())]);
    }

    #[test]
    fn patterns_ask_for_classes_literals_keys_and_items() {
        let of = |cases: &str| name_uses(&format!("match qq:\n    {}\n", cases.replace(" | case", "\n    case")), "qq");
        let literals = of("case 0 | 1: pass | case None: pass | case Color.RED as color: pass | case str('a'): pass");
        let named = Recipe::Named("Color.RED".into());
        let expected = [Recipe::Int(0), Recipe::Int(1), Recipe::None, named, Recipe::Str("a".into())];
        assert_eq!(literals.candidates, expected);
        assert_eq!(literals.tested, [AbstractValue::Str]);
        let (text, any) = (|text: &str| Recipe::Str(text.into()), || Recipe::Mock(AbstractValue::Object));
        let items = of("case ['go', (1 | 2) as number, _, *rest]: pass");
        let list = |number, rest| {
            let items = [text("go"), Recipe::Int(number), any()];
            Recipe::List(items.into_iter().chain(vec![any(); rest]).collect())
        };
        assert_eq!(items.candidates, [list(1, 0), list(2, 0), list(1, 2), list(2, 2)]);
        let keys = of("case {'kind': 'circle', 'r': r, **rest}: pass | case {'kind': Point()}: pass");
        assert_eq!(keys.key_candidates, [text("kind"), text("r")]);
        assert_eq!(keys.candidates, [Recipe::Dict(vec![(text("kind"), text("circle")), (text("r"), any())])]);
        for unknown in ["Point(x=0)", "_", "[Color.RED]", "int(real=5)", "[Point()]"] {
            let asked = of(&format!("case {unknown}: pass"));
            assert!(asked.tested.len() < 2 && asked.candidates.is_empty(), "{unknown}");
        }
        let any_int = of("case int() | int(n): pass");
        assert_eq!((any_int.tested, any_int.candidates), (vec![AbstractValue::Int], vec![]));
        assert_eq!(
            of("case [int(n), set()]: pass").candidates,
            [Recipe::List(vec![Recipe::Int(1), Recipe::Set(vec![])])]
        );
        assert_eq!(of("case bytes(): pass").candidates, [Recipe::Bytes(b"a".to_vec())]);
        // Each of several subjects counts by itself.
        assert_eq!(name_uses("match a, qq:\n    case 0, 1: pass\n", "qq").candidates, [Recipe::Int(1)]);
    }

    #[test]
    fn what_a_pattern_captures_is_used_as_its_name_is() {
        let code =
            "match qq:\n    case [first, *_]:\n        first.lower()\n    case other if other > 3:\n        pass\n";
        let sites = [("qq", 6), ("first", 42), ("other", 70)].map(|(name, at)| site(name, at));
        let uses = read(code, &sites).uses.swap_remove(0);
        assert_eq!(uses.parts[0].attributes, ["lower"]);
        assert!(uses.ordered && uses.candidates.contains(&Recipe::Int(3)));
    }

    #[test]
    fn patterns_have_bounds() {
        let rows = format!("[{}], ", "0 | 1, ".repeat(8)).repeat(8);
        for items in [format!("{}1{}", "[".repeat(150), "]".repeat(150)), "1, ".repeat(5000), "_, ".repeat(5000), rows]
        {
            assert_eq!(name_uses(&format!("match qq:\n    case [{items}]: pass\n"), "qq").candidates, []);
        }
        let ways = ["(0 | 1)"; 10].join(", ");
        assert_eq!(name_uses(&format!("match qq:\n    case [{ways}]: pass\n"), "qq").candidates.len(), 8);
    }

    #[test]
    fn what_is_added_to_bytes_or_asked_with_them_is_bytes() {
        for code in ["r = bytearray()\nr += qq", "qq.startswith(b'a')", "qq == b'a'", "b'a' + qq", "qq.split(b',')"] {
            assert!(name_uses(code, "qq").bytes, "{code}");
        }
        assert!(!name_uses("qq.send(b'a')", "qq").bytes);
        assert_eq!(name_uses("b''.join(qq)", "qq").element.map(|element| element.bytes), Some(true));
    }

    #[test]
    fn huge_unpackings_and_loops_over_themselves_have_bounds() {
        let names: Vec<String> = (0..5000).map(|index| format!("a{index}")).collect();
        let code = format!("{} = qq\n", names.join(", "));
        let sites: Vec<Site> = ["qq"]
            .into_iter()
            .chain(names.iter().map(String::as_str))
            .map(|name| site(name, code.find(name).unwrap_or_default()))
            .collect();
        assert_eq!(read(&code, &sites).uses[0].parts.len(), MAX_PARTS);

        let code = "for qq, qq in qq: pass\n".repeat(40) + &"qq = qq.split(',')\n".repeat(40);
        let found = name_uses(&code, "qq");
        let (mut same, mut left) = (found.clone(), usize::MAX);
        // An item of an item counts for two.
        cut(&mut same, MAX_DEPTH + 2, &mut left);
        assert!(same == found, "deeper than allowed");
        assert!(usize::MAX - left < 10_000, "{} nested uses", usize::MAX - left);
    }

    #[test]
    fn a_local_that_begins_as_none_says_nothing_of_none() {
        let code = "best = None\nfor x in qq:\n    if best is None:\n        best = x\n";
        let sites = [("qq", 21), ("best", 32), ("x", 61), ("x", 16)].map(|(name, at)| site(name, at));
        let element = |code: &str| read(code, &sites).uses.swap_remove(0).element.unwrap();
        assert_eq!(element(code).candidates, []);
        assert_eq!(element(&code.replace("best = None", "best = some")).candidates, [Recipe::None]);
    }

    #[test]
    fn items_of_items_are_followed() {
        let code = "for row in qq:\n    for a, b in row:\n        a.lower()\n";
        let sites = [site("qq", 11), site("row", 31)];
        let found = read(code, &sites).uses.swap_remove(0);
        let pair = found.element.and_then(|row| row.element).unwrap();
        assert_eq!(pair.unpacked, Some(2));
    }

    #[test]
    fn the_items_of_a_loop_carry_their_own_uses() {
        let found = name_uses("for a, b in qq: pass", "qq");
        assert_eq!(found.element.and_then(|element| element.unpacked), Some(2));
    }
}
