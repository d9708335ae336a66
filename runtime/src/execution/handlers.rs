//! What `except` clauses and consumers of generators may do to the values of any version.

use std::collections::BTreeSet;

use rustc_hash::{FxHashMap, FxHashSet};
use twincell_engine::protocol::Version;
use twincell_syntax::site::{Site, SiteKind, Yields};
use twincell_values::path::AccessPathBuf;

use super::static_paths::{container, imported, normalise};

/// The classes that handlers around a site catch, in the notation of all versions.
pub(super) fn caught(site: &Site, version: &Version) -> Vec<String> {
    site.catches
        .iter()
        .map(|name| imported(version, name).map_or_else(|| name.clone(), AccessPathBuf::into_string))
        .collect()
}

/// A failure belongs to what fails and not to a version. If one version has a site in a `try` body, it may also fail in
/// the others, which may have moved it out of there or written it differently.
pub(super) fn shared_catches(versions: &[Version]) -> Vec<Vec<Vec<String>>> {
    type Guarded = FxHashMap<(SiteKind, String), Vec<String>>;
    let guarded = |name: &dyn Fn(&Site, &Version) -> String| -> Vec<Guarded> {
        let of_version = |version: &Version| {
            let mut found = Guarded::default();
            for site in version.sites.sites.iter().filter(|site| !site.catches.is_empty()) {
                let known = found.entry((site.kind, name(site, version))).or_default();
                let caught = caught(site, version);
                known.extend(caught.into_iter().filter(|name| !known.contains(name)).collect::<Vec<_>>());
            }
            found
        };
        versions.iter().map(of_version).collect()
    };
    let by_path = guarded(&|site, version| normalise(&site.path, version).into_string());
    let by_name = guarded(&|site, _| site.identifier.clone());
    let of_others = |own: usize, guarded: &[Guarded], key: &(SiteKind, String)| {
        let others = guarded.iter().enumerate().filter(|(number, _)| *number != own);
        others.filter_map(|(_, known)| known.get(key)).next().cloned()
    };
    let shared = |(own, version): (usize, &Version)| {
        let of_site = |site: &Site| {
            if !site.catches.is_empty() || site.kind == SiteKind::Name {
                return caught(site, version);
            }
            let named = (site.kind, site.identifier.clone());
            let path = (site.kind, normalise(&site.path, version).into_string());
            // If this version has a site with this name in a `try` body, the other version's catch belongs to that site.
            let by_name = || of_others(own, &by_name, &named).filter(|_| !by_name[own].contains_key(&named));
            of_others(own, &by_path, &path).or_else(by_name).unwrap_or_default()
        };
        version.sites.sites.iter().map(of_site).collect()
    };
    versions.iter().enumerate().map(shared).collect()
}

/// The calls that may fail although no handler names a failure: those after whose failure one version does other things
/// than another, since a `finally` or a `with` is around them in one and not in the other, or may use something that
/// changed. For each version, whether a site is such a call.
pub(super) fn unwinding(versions: &[Version]) -> Vec<Vec<bool>> {
    type Cleanups = FxHashMap<String, BTreeSet<Option<u64>>>;
    let is_call = |site: &&Site| site.kind == SiteKind::Call;
    let cleanups = |name: &dyn Fn(&Site, &Version) -> String| -> Vec<Cleanups> {
        let of_version = |version: &Version| {
            let mut found = Cleanups::default();
            for (number, site) in version.sites.sites.iter().enumerate().filter(|(_, site)| is_call(site)) {
                found.entry(name(site, version)).or_default().insert(version.sites.cleanup(number));
            }
            found
        };
        versions.iter().map(of_version).collect()
    };
    let callee = |site: &Site, version: &Version| {
        container(SiteKind::Call, normalise(&site.path, version).as_path()).into_string()
    };
    if versions.iter().all(|version| version.sites.cleanups.is_empty()) {
        return versions.iter().map(|version| vec![false; version.sites.sites.len()]).collect();
    }
    let texts = |version: &Version| -> Vec<String> {
        version.companions.iter().map(|companion| companion.code.clone()).collect()
    };
    let helpers_differ = versions.windows(2).any(|pair| texts(&pair[0]) != texts(&pair[1]));
    let by_callee = cleanups(&callee);
    let by_name = cleanups(&|site, _| site.identifier.clone());
    // What every version calls, and not with the same code around it.
    let differs = |known: &[Cleanups], key: &str| -> Option<bool> {
        let all: Vec<_> = known.iter().map(|known| known.get(key)).collect::<Option<_>>()?;
        Some(all.windows(2).any(|pair| pair[0] != pair[1]))
    };
    let of_version = |version: &Version| {
        let of_site = |(number, site): (usize, &Site)| {
            let by_name = || differs(&by_name, &site.identifier).filter(|_| !site.identifier.is_empty());
            let by_helper = helpers_differ && version.sites.cleanup(number).is_some();
            is_call(&site)
                && (by_helper || differs(&by_callee, callee(site, version).as_str()).or_else(by_name).unwrap_or(false))
        };
        version.sites.sites.iter().enumerate().map(of_site).collect()
    };
    versions.iter().map(of_version).collect()
}

/// What consumers may do to a generator of any version.
pub(super) fn consumers(versions: &[Version]) -> Yields {
    let mut all = Yields::default();
    for yields in versions.iter().map(|version| &version.sites.yields) {
        all.sent |= yields.sent;
        for name in &yields.thrown {
            if !all.thrown.contains(name) {
                all.thrown.push(name.clone());
            }
        }
    }
    all
}

/// The exceptions caught on each line of each version: around its sites, or around a name that only the other has in a
/// `try` body.
pub(super) fn guards(versions: &[Version], catches: &[Vec<Vec<String>>]) -> Vec<FxHashMap<u32, Vec<String>>> {
    if catches.iter().flatten().all(Vec::is_empty) {
        return vec![];
    }
    let names = |version: &Version| -> FxHashMap<AccessPathBuf, Vec<String>> {
        let caught = version.sites.sites.iter().filter(|site| site.kind == SiteKind::Name && !site.catches.is_empty());
        caught.map(|site| (normalise(&site.path, version), self::caught(site, version))).collect()
    };
    let names: Vec<_> = versions.iter().map(names).collect();
    let of_version = |(number, version): (usize, &Version)| {
        let elsewhere = |site: &Site| {
            let path = normalise(&site.path, version);
            let others = names.iter().enumerate().filter(|(other, _)| *other != number);
            let caught = others.filter_map(|(_, known)| known.get(&path)).next();
            caught.filter(|_| site.kind == SiteKind::Name && !names[number].contains_key(&path)).cloned()
        };
        let mut lines: FxHashMap<u32, Vec<String>> = FxHashMap::default();
        for (site, caught) in version.sites.sites.iter().zip(&catches[number]) {
            let caught = if caught.is_empty() { elsewhere(site).unwrap_or_default() } else { caught.clone() };
            if caught.is_empty() {
                continue;
            }
            let known = lines.entry(site.line).or_default();
            known.extend(caught.into_iter().filter(|name| !known.contains(name)).collect::<Vec<_>>());
        }
        lines
    };
    versions.iter().enumerate().map(of_version).collect()
}

/// Paths of attributes that some version looks up where it catches an `AttributeError`.
pub(super) fn lacking(versions: &[Version]) -> FxHashSet<AccessPathBuf> {
    let caught =
        |site: &&Site| site.kind == SiteKind::Attribute && site.catches.iter().any(|name| name == "AttributeError");
    let of_version = |version: &Version| -> Vec<AccessPathBuf> {
        version.sites.sites.iter().filter(caught).map(|site| normalise(&site.path, version)).collect()
    };
    versions.iter().flat_map(of_version).collect()
}
