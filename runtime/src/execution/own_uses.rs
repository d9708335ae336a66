//! Which uses of the project's own code have a counterpart in every version. Only these may be answered with injected
//! values: where the other version does the same work by itself, no decision would reach it.
//!
//! A use is a call or the reading of a property. Its counterpart is written in the same way, or is one of equally many
//! uses of the same function. So a helper that one version alone calls is never replaced, and neither is a further call
//! of a helper that both call.

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
    versions: Vec<Vec<OwnUse>>,
    /// The sites of each version's calls that have a counterpart in all others.
    paired: Vec<FxHashSet<u32>>,
}

impl OwnUse {
    /// Whether both may run the same code, as far as names tell.
    fn may_be_of(&self, other: &Self) -> bool {
        match (&self.target, &other.target) {
            (None, None) => self.identifier == other.identifier,
            (own, other) => own == other,
        }
    }
}

impl OwnUses {
    pub fn new(versions: Vec<Vec<OwnUse>>) -> Self {
        let calls = |uses: &'_ [OwnUse]| uses.iter().filter(|one| one.kind == SiteKind::Call).cloned().collect();
        let calls: Vec<Vec<OwnUse>> = versions.iter().map(|uses| calls(uses)).collect();
        let is_paired = |call: &OwnUse, own: &[OwnUse], others: &[OwnUse]| {
            let like = |calls: &[OwnUse]| calls.iter().filter(|other| call.may_be_of(other)).count();
            let is_it = |other: &OwnUse| call.may_be_of(other) && call.path == other.path;
            others.iter().any(is_it) || like(others) == like(own)
        };
        let paired_of = |own: &Vec<OwnUse>| {
            let paired = own.iter().filter(|call| calls.iter().all(|others| is_paired(call, own, others)));
            paired.map(|call| call.site).collect()
        };
        let paired = calls.iter().map(paired_of).collect();
        Self { versions, paired }
    }

    /// Whether every version makes this call.
    pub fn is_called_by_all(&self, version: usize, site: u32) -> bool {
        self.paired.get(version).is_some_and(|paired| paired.contains(&site))
    }

    /// Whether every version reads this property, whose function has this name, of the object at this path.
    pub fn is_read_by_all(&self, path: &str, name: &str, function: &str) -> bool {
        let is_it = |read: &OwnUse| {
            let is_of_object = !read.is_certain || read.path == path;
            let is_of_function = read.target.as_deref().is_none_or(|target| target == function);
            read.kind == SiteKind::Attribute && read.identifier == name && is_of_object && is_of_function
        };
        self.versions.iter().all(|uses| uses.iter().any(is_it))
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
        let all = OwnUses::new(vec![uses(old), uses(new)]);
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
            OwnUses::new(vec![uses(old), uses(new)]).is_read_by_all("self.size", "size", "Box.size")
        };
        assert!(read(&[("self.size", size)], &[("self.size", size)]));
        assert!(read(&[("box.size", None)], &[("self.size", size)]));
        assert!(!read(&[], &[("self.size", size)]));
        assert!(!read(&[("self.inner.size", None)], &[("self.size", size)]));
        assert!(!read(&[("self.size", Some("Base.size"))], &[("self.size", size)]));
    }
}
