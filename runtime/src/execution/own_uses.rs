//! Which uses of the project's own code have a counterpart in every version. Only these may be answered with injected
//! values: where the other version does the same work by itself, no decision would reach it.
//!
//! A use is a call or the reading of a property. Its counterpart is written in the same way, or is one of equally many
//! uses of the same function. So a helper that one version alone calls is never replaced, and neither is a further call
//! of a helper that both call.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashSet;
use twincell_syntax::site::SiteKind;

/// A call or an attribute of one version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OwnUse {
    pub site: u32,
    pub kind: SiteKind,
    pub identifier: String,
    /// As all versions write it.
    pub path: String,
    /// Whether the path says which object it is: no local and no result of a call stands in it.
    pub is_certain: bool,
    /// The function or class of the program to which its names lead, if they lead to one.
    pub target: Option<String>,
}

/// The uses of all versions.
#[derive(Debug, Default)]
pub(crate) struct OwnUses {
    /// The sites of each version's calls that have a counterpart in all others.
    paired: Vec<FxHashSet<u32>>,
    /// What each version reads, by the name of the attribute.
    read: Vec<BTreeMap<String, BTreeSet<Read>>>,
}

/// What code a use may run, as far as names tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Code<'a> {
    Known(&'a str),
    Named(&'a str),
}

/// How one version reads an attribute of a name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Read {
    /// The path, if it is certain.
    path: Option<String>,
    /// The function that names lead to.
    function: Option<String>,
}

/// The calls of one version, counted.
#[derive(Default)]
struct Calls<'a> {
    counts: BTreeMap<Code<'a>, usize>,
    written: BTreeSet<(Code<'a>, &'a str)>,
}

impl OwnUse {
    fn code(&self) -> Code<'_> {
        self.target.as_deref().map_or(Code::Named(&self.identifier), Code::Known)
    }
}

impl OwnUses {
    pub fn new(versions: &[Vec<OwnUse>]) -> Self {
        let calls: Vec<Calls<'_>> = versions.iter().map(|uses| Calls::of(uses)).collect();
        let paired_of = |(uses, own): (&Vec<OwnUse>, &Calls<'_>)| {
            let is_paired = |call: &&OwnUse| {
                let count = own.counts.get(&call.code());
                let is_it = |others: &Calls<'_>| {
                    others.written.contains(&(call.code(), &call.path)) || others.counts.get(&call.code()) == count
                };
                call.kind == SiteKind::Call && calls.iter().all(is_it)
            };
            uses.iter().filter(is_paired).map(|call| call.site).collect()
        };
        let paired = versions.iter().zip(&calls).map(paired_of).collect();
        let read_of = |uses: &Vec<OwnUse>| {
            let mut found: BTreeMap<String, BTreeSet<Read>> = BTreeMap::new();
            for read in uses.iter().filter(|read| read.kind == SiteKind::Attribute) {
                let path = read.is_certain.then(|| read.path.clone());
                let read_as = Read { path, function: read.target.clone() };
                found.entry(read.identifier.clone()).or_default().insert(read_as);
            }
            found
        };
        Self { paired, read: versions.iter().map(read_of).collect() }
    }

    /// Whether every version makes this call.
    pub fn is_called_by_all(&self, version: usize, site: u32) -> bool {
        self.paired.get(version).is_some_and(|paired| paired.contains(&site))
    }

    /// Whether every version reads this property, whose function has this name, of the object at this path.
    pub fn is_read_by_all(&self, path: &str, name: &str, function: &str) -> bool {
        let paths = [None, Some(path)];
        let ways = paths.into_iter().flat_map(|path| [(path, None), (path, Some(function))]);
        let ways: Vec<Read> = ways
            .map(|(path, function)| Read { path: path.map(str::to_owned), function: function.map(str::to_owned) })
            .collect();
        self.read.iter().all(|read| read.get(name).is_some_and(|found| ways.iter().any(|way| found.contains(way))))
    }
}

impl<'a> Calls<'a> {
    fn of(uses: &'a [OwnUse]) -> Self {
        let mut calls = Self::default();
        for call in uses.iter().filter(|one| one.kind == SiteKind::Call) {
            *calls.counts.entry(call.code()).or_default() += 1;
            calls.written.insert((call.code(), &call.path));
        }
        calls
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Uses written as `helper(a)` or `self.size`, each with its target, if names lead to one.
    fn uses(written: &[(&str, Option<&str>)]) -> Vec<OwnUse> {
        let one = |(site, (path, target)): (u32, &(&str, Option<&str>))| {
            let callee = path.split('(').next().unwrap_or_default();
            OwnUse {
                site,
                kind: if path.ends_with(')') { SiteKind::Call } else { SiteKind::Attribute },
                identifier: callee.rsplit('.').next().unwrap_or_default().to_owned(),
                path: (*path).to_owned(),
                is_certain: callee.starts_with("self"),
                target: target.map(str::to_owned),
            }
        };
        (0..).zip(written).map(one).collect()
    }

    fn paired(old: &[(&str, Option<&str>)], new: &[(&str, Option<&str>)]) -> [Vec<u32>; 2] {
        let all = OwnUses::new(&[uses(old), uses(new)]);
        let of = |version: usize| (0..4).filter(|&site| all.is_called_by_all(version, site)).collect();
        [of(0), of(1)]
    }

    const AMOUNT: Option<&str> = Some("Stock.amount");
    const NONE: [Vec<u32>; 2] = [vec![], vec![]];

    #[test]
    fn a_call_that_one_version_makes_has_no_counterpart() {
        assert_eq!(paired(&[], &[("self.amount(x)", AMOUNT)]), NONE);
        assert_eq!(paired(&[("f(x)", None)], &[("self.amount(x)", AMOUNT)]), NONE);
    }

    #[test]
    fn as_many_calls_of_one_function_are_counterparts() {
        assert_eq!(paired(&[("self.amount(x)", AMOUNT)], &[("self.amount(item)", AMOUNT)]), [vec![0], vec![0]]);
        assert_eq!(paired(&[("one.f(x)", None)], &[("other.f(y)", None)]), [vec![0], vec![0]]);
    }

    #[test]
    fn a_further_call_has_none_unless_it_is_written_the_same() {
        let once = [("self.amount(x)", AMOUNT)];
        assert_eq!(paired(&once, &[once[0], ("self.amount(y)", AMOUNT)]), [vec![0], vec![0]]);
        assert_eq!(paired(&once, &[once[0], once[0]]), [vec![0], vec![0, 1]]);
    }

    #[test]
    fn functions_of_one_name_are_told_apart_where_names_lead_to_them() {
        let base = [("self.amount(x)", Some("Base.amount"))];
        assert_eq!(paired(&base, &[("self.amount(x)", AMOUNT)]), NONE);
        assert_eq!(paired(&[("item.amount(x)", None)], &[("self.amount(x)", AMOUNT)]), NONE);
    }

    #[test]
    fn a_property_counts_where_every_version_reads_it_of_the_same_object() {
        let size = Some("Box.size");
        let read = |old: &[(&str, Option<&str>)], new: &[(&str, Option<&str>)]| {
            OwnUses::new(&[uses(old), uses(new)]).is_read_by_all("self.size", "size", "Box.size")
        };
        assert!(read(&[("self.size", size)], &[("self.size", size)]));
        assert!(read(&[("box.size", None)], &[("self.size", size)]));
        assert!(!read(&[], &[("self.size", size)]));
        assert!(!read(&[("self.inner.size", None)], &[("self.size", size)]));
        assert!(!read(&[("self.size", Some("Base.size"))], &[("self.size", size)]));
    }

    #[test]
    fn many_calls_are_counted_once() {
        // Comparing each call with each other one would not end here.
        let names: Vec<String> = (0..100_000).map(|number| format!("self.f{number}(x)")).collect();
        let written: Vec<(&str, Option<&str>)> = names.iter().map(|name| (name.as_str(), None)).collect();
        let all = OwnUses::new(&[uses(&written), uses(&written[1..])]);
        assert!(!all.is_called_by_all(0, 0) && all.is_called_by_all(0, 99_999) && all.is_called_by_all(1, 0));
    }
}
