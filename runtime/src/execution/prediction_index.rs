//! A loaded program in the form that hooks need: interned names and predictions by access path.

use pyo3::prelude::*;
use pyo3::types::PyString;
use rustc_hash::{FxHashMap, FxHashSet};

use twincell_engine::protocol::{Context, Isolation, Program, Version};
use twincell_syntax::site::{Site, SiteKind, Yields};
use twincell_values::drawing::{Known, Pools};
use twincell_values::predictor::Distribution;
use twincell_values::reading::Uses;
use twincell_values::value::AbstractValue;

/// Stands for the callee where a generator hands an item over: what comes back is its consumer's doing.
pub(crate) const YIELD: &str = "yield";

/// The classes of a value about which nothing is known.
const UNKNOWN: [(AbstractValue, f32); 5] = [
    (AbstractValue::Object, 0.5),
    (AbstractValue::Str, 0.2),
    (AbstractValue::Int, 0.1),
    (AbstractValue::Bool, 0.1),
    (AbstractValue::None, 0.1),
];

/// The value sent into a generator: none, by most consumers.
const SENT: [(AbstractValue, f32); 5] = [
    (AbstractValue::None, 0.5),
    (AbstractValue::Object, 0.2),
    (AbstractValue::Str, 0.1),
    (AbstractValue::Int, 0.1),
    (AbstractValue::Bool, 0.1),
];

/// The facts about a value before it is drawn.
#[derive(Debug, Clone)]
pub(crate) struct Knowledge {
    pub distribution: Distribution,
    pub uses: Uses,
    /// The exceptions that `except` clauses around its sites catch, in any version.
    pub catches: Vec<String>,
    sites: u32,
}

/// One version, ready for hooks.
pub(crate) struct PreparedVersion {
    pub version: Version,
    /// The attribute or name of each site, as the hooks pass it to Python.
    pub names: Vec<Py<PyString>>,
    /// The normalised static path of each site.
    paths: Vec<String>,
    /// The normalised static path of what each attribute, subscript or call site accesses or calls.
    containers: Vec<String>,
    /// What each site says by itself. If not all have predictions, these are the first sites.
    knowledge: Vec<Knowledge>,
    /// The exceptions that may be raised at each site: those that its own version catches there, or else those that
    /// another catches.
    catches: Vec<Vec<String>>,
}

/// All versions of a program, with what they share.
pub(crate) struct Prepared {
    pub versions: Vec<PreparedVersion>,
    pub pools: Pools,
    pub raise_probability: f64,
    pub step_budget: u64,
    pub context: Context,
    pub isolation: Isolation,
    /// By normalised static access path, over all versions.
    by_path: FxHashMap<String, Knowledge>,
    /// The values that some version copies by calling a builtin class.
    copied: FxHashMap<String, &'static str>,
    /// Calls by the normalised static path of the callee.
    by_callee: FxHashMap<String, Knowledge>,
    /// By kind and last identifier, for paths that no site has literally.
    by_identifier: FxHashMap<(SiteKind, String), Knowledge>,
    /// Attributes that some version asks for with an alternative: `hasattr`, `getattr` with a default.
    asked_for: FxHashSet<String>,
    /// The keywords of calls by the callee's last identifier, in the order in which they are first written.
    keywords: FxHashMap<String, Vec<String>>,
    /// The paths of attributes that some version looks up where it catches an `AttributeError`.
    lacking: FxHashSet<String>,
    /// How a generator uses what its consumer does, in any version.
    pub yields: Yields,
    /// The exceptions that `except` clauses catch on each line of each version. Empty if no version catches any.
    guards: Vec<FxHashMap<u32, Vec<String>>>,
    /// For a value about which nothing is known.
    generic: Knowledge,
}

impl Prepared {
    pub fn new(py: Python<'_>, program: Program) -> Self {
        let mut by_path: FxHashMap<String, Knowledge> = FxHashMap::default();
        let mut copied: FxHashMap<String, &'static str> = FxHashMap::default();
        let mut by_callee: FxHashMap<String, Knowledge> = FxHashMap::default();
        let mut by_identifier: FxHashMap<(SiteKind, String), Knowledge> = FxHashMap::default();
        for version in &program.versions {
            let mut seen: FxHashSet<(SiteKind, &str)> = FxHashSet::default();
            for (index, site) in version.sites.sites.iter().enumerate() {
                let (Some(distribution), Some(uses)) = (version.predictions.get(index), version.uses.get(index)) else {
                    continue;
                };
                // Sites with the same path share their uses.
                let uses = seen.insert((site.kind, &site.path)).then_some(uses);
                let path = normalise(&site.path, version);
                if site.kind == SiteKind::Call {
                    if let Some((class, argument)) = copy(&site.path) {
                        copied.insert(normalise(argument, version), class);
                    }
                    let callee = path[..opening(&path)].to_string();
                    add(by_callee.entry(callee).or_insert_with(empty), distribution, uses, &site.catches);
                }
                add(by_path.entry(path).or_insert_with(empty), distribution, uses, &site.catches);
                if !site.identifier.is_empty() {
                    let key = (site.kind, site.identifier.clone());
                    add(by_identifier.entry(key).or_insert_with(empty), distribution, uses, &[]);
                }
            }
        }
        let asked_for = program
            .versions
            .iter()
            .flat_map(|version| &version.sites.sites)
            .filter(|site| site.kind == SiteKind::Call)
            .filter_map(|site| asked_attribute(&site.path))
            .collect();
        let mut keywords: FxHashMap<String, Vec<String>> = FxHashMap::default();
        for site in program.versions.iter().flat_map(|version| &version.sites.sites) {
            if site.kind == SiteKind::Call && site.path.contains('=') {
                let known = keywords.entry(site.identifier.clone()).or_default();
                for name in written_arguments(&site.path[opening(&site.path)..]).1 {
                    if !known.contains(&name) {
                        known.push(name);
                    }
                }
            }
        }
        let yields = consumers(&program.versions);
        let caught =
            |site: &&Site| site.kind == SiteKind::Attribute && site.catches.iter().any(|name| name == "AttributeError");
        let of_version = |version: &Version| -> Vec<String> {
            version.sites.sites.iter().filter(caught).map(|site| normalise(&site.path, version)).collect()
        };
        let lacking = program.versions.iter().flat_map(of_version).collect();
        by_callee.insert(YIELD.to_owned(), Knowledge { catches: yields.thrown.clone(), ..generic(&SENT) });
        let pools = Pools::new(&program.literals);
        let catches = shared_catches(&program.versions);
        let guards = guards(&program.versions, &catches);
        let versions = program
            .versions
            .into_iter()
            .zip(catches)
            .map(|(version, catches)| PreparedVersion {
                names: version.sites.sites.iter().map(|site| PyString::new(py, &site.identifier).unbind()).collect(),
                containers: version
                    .sites
                    .sites
                    .iter()
                    .map(|site| container(site.kind, &normalise(&site.path, &version)))
                    .collect(),
                paths: version.sites.sites.iter().map(|site| normalise(&site.path, &version)).collect(),
                knowledge: (version.predictions.iter().zip(&version.uses).enumerate())
                    .map(|(index, (distribution, uses))| Knowledge {
                        distribution: *distribution,
                        uses: uses.clone(),
                        catches: catches.get(index).cloned().unwrap_or_default(),
                        sites: 1,
                    })
                    .collect(),
                catches,
                version,
            })
            .collect();
        Self {
            versions,
            pools,
            raise_probability: program.raise_probability,
            step_budget: program.step_budget,
            context: program.context,
            isolation: program.isolation,
            by_path,
            copied,
            by_callee,
            by_identifier,
            asked_for,
            keywords,
            yields,
            lacking,
            guards,
            generic: generic(&UNKNOWN),
        }
    }

    /// The facts about a value: by its path or its callee's, else by the asking site, else by its last identifier.
    pub fn knowledge(
        &self,
        path: &str,
        callee: &str,
        site: Option<(usize, u32)>,
        kind: SiteKind,
        identifier: &str,
    ) -> &Knowledge {
        if let Some(known) = self.by_path.get(path).or_else(|| self.by_callee.get(callee)) {
            return known;
        }
        let own = site.and_then(|(version, number)| self.versions[version].knowledge.get(number as usize));
        own.unwrap_or_else(|| self.by_identifier.get(&(kind, identifier.to_string())).unwrap_or(&self.generic))
    }

    /// The exceptions that may be raised at a site, since some version is prepared for them.
    pub fn catches(&self, version: usize, site: u32) -> &[String] {
        self.versions[version].catches.get(site as usize).map_or(&[], Vec::as_slice)
    }

    /// Whether any version has a `try`.
    pub fn guards_anything(&self) -> bool {
        !self.guards.is_empty()
    }

    /// The exceptions that are caught around a line of a version, or around the same names in another.
    pub fn catches_at(&self, version: usize, line: u32) -> &[String] {
        self.guards.get(version).and_then(|lines| lines.get(&line)).map_or(&[], Vec::as_slice)
    }

    /// How the code uses the value of a site.
    pub fn uses_of(&self, version: usize, site: u32) -> Option<&Uses> {
        Some(&self.versions.get(version)?.knowledge.get(site as usize)?.uses)
    }

    /// Whether any version asks whether something has this attribute.
    pub fn is_asked_for(&self, name: &str) -> bool {
        self.asked_for.contains(name)
    }

    /// Whether any version looks up items of this path.
    pub fn is_subscripted(&self, path: &str) -> bool {
        self.by_path
            .keys()
            .any(|known| known.strip_prefix(path).is_some_and(|rest| rest.starts_with('[')) && known.ends_with(']'))
    }

    /// Whether any version iterates over the value of this path.
    pub fn is_iterated(&self, path: &str) -> bool {
        self.by_path.get(path).is_some_and(|known| known.uses.iterated)
    }

    /// The builtin class that some version calls to copy the value that it writes in this way: `dict` for `dict(x,
    /// a=1)`.
    pub fn copied_by(&self, written: &str) -> Option<&'static str> {
        self.copied.get(written).copied()
    }

    /// Whether the static path of a site's container starts with a local name. Such a path means nothing to another
    /// version.
    pub fn is_local(&self, version: usize, site: u32) -> bool {
        let version = &self.versions[version];
        let path = version.containers.get(site as usize).map_or("", String::as_str);
        let (first, _) = split_first(path);
        version.version.locals.names.iter().any(|name| name == first)
    }

    /// The static path of a site, as others write it that access its value.
    pub fn path(&self, version: usize, site: u32) -> &str {
        self.versions[version].paths.get(site as usize).map_or("", String::as_str)
    }

    /// The static path of what a site accesses or calls: `a.b` for `a.b.c`, `a.b[0]` and `a.b()`.
    pub fn container_path(&self, version: usize, site: u32) -> String {
        self.versions[version].containers.get(site as usize).cloned().unwrap_or_default()
    }

    /// Whether every version calls something with the name that this call site calls.
    pub fn is_called_by_all(&self, version: usize, site: u32) -> bool {
        let called = |version: &Version, name: &str| {
            version.sites.sites.iter().any(|site| site.kind == SiteKind::Call && site.identifier == name)
        };
        let own = self.versions.get(version).and_then(|version| version.version.sites.sites.get(site as usize));
        own.is_some_and(|own| self.versions.iter().all(|other| called(&other.version, &own.identifier)))
    }

    /// Whether every version calls something with this name, with as many arguments and the same keywords.
    pub fn is_called_alike_by_all(&self, version: usize, site: u32) -> bool {
        let shape = |site: &Site| {
            let mut shape = written_arguments(&site.path[opening(&site.path)..]);
            shape.1.sort_unstable();
            shape
        };
        let own = self.versions.get(version).and_then(|version| version.version.sites.sites.get(site as usize));
        let Some((own, of_own)) = own.map(|own| (own, shape(own))) else { return false };
        let alike =
            |site: &Site| site.kind == SiteKind::Call && site.identifier == own.identifier && shape(site) == of_own;
        self.versions.iter().all(|other| other.version.sites.sites.iter().any(alike))
    }

    /// The path of an attribute site, if some version catches that its object has no such attribute.
    pub fn part_that_may_lack(&self, version: usize, site: u32) -> Option<&str> {
        let version = &self.versions[version].version;
        let path = normalise(&version.sites.sites.get(site as usize)?.path, version);
        self.lacking.get(&path).map(String::as_str)
    }

    /// Whether every version reads an attribute with this name.
    pub fn is_read_by_all(&self, name: &str) -> bool {
        let read = |version: &Version| {
            version.sites.sites.iter().any(|site| site.kind == SiteKind::Attribute && site.identifier == name)
        };
        self.versions.iter().all(|version| read(&version.version))
    }

    /// The position of a keyword among those that calls of this name are written with, since versions may order them
    /// differently.
    pub fn keyword_place(&self, callee: &str, keyword: &str) -> usize {
        let known = self.keywords.get(callee).and_then(|known| known.iter().position(|name| name == keyword));
        known.unwrap_or(usize::MAX)
    }

    /// Whether all versions have a parameter with this canonical name.
    pub fn is_shared_parameter(&self, name: &str) -> bool {
        self.versions.iter().all(|PreparedVersion { version, .. }| {
            version.parameters.iter().any(|parameter| canonical(version, &parameter.name) == name)
        })
    }

    /// The old name of an attribute of the methods' own object that this version renamed.
    pub fn canonical_attribute(&self, version: usize, owner: &str, name: &str) -> Option<&str> {
        renamed_attribute(&self.versions[version].version, owner, name)
    }

    /// The name for a name of this version in access paths.
    pub fn canonical<'a>(&'a self, version: usize, name: &'a str) -> &'a str {
        canonical(&self.versions[version].version, name)
    }
}

impl Known for Prepared {
    fn known(&self, path: &str) -> Option<(&Distribution, &Uses)> {
        self.by_path.get(path).map(|known| (&known.distribution, &known.uses))
    }
}

/// A failure belongs to what fails and not to a version. If one version has a site in a `try` body, it may also fail in
/// the others, which may have moved it out of there or written it differently.
fn shared_catches(versions: &[Version]) -> Vec<Vec<Vec<String>>> {
    type Guarded = FxHashMap<(SiteKind, String), Vec<String>>;
    let guarded = |name: &dyn Fn(&Site, &Version) -> String| -> Vec<Guarded> {
        let of_version = |version: &Version| {
            let mut found = Guarded::default();
            for site in version.sites.sites.iter().filter(|site| !site.catches.is_empty()) {
                let known = found.entry((site.kind, name(site, version))).or_default();
                known.extend(site.catches.iter().filter(|name| !known.contains(name)).cloned().collect::<Vec<_>>());
            }
            found
        };
        versions.iter().map(of_version).collect()
    };
    let by_path = guarded(&|site, version| normalise(&site.path, version));
    let by_name = guarded(&|site, _| site.identifier.clone());
    let of_others = |own: usize, guarded: &[Guarded], key: &(SiteKind, String)| {
        let others = guarded.iter().enumerate().filter(|(number, _)| *number != own);
        others.filter_map(|(_, known)| known.get(key)).next().cloned()
    };
    let shared = |(own, version): (usize, &Version)| {
        let of_site = |site: &Site| {
            if !site.catches.is_empty() || site.kind == SiteKind::Name {
                return site.catches.clone();
            }
            let named = (site.kind, site.identifier.clone());
            let path = (site.kind, normalise(&site.path, version));
            // If this version has a site with this name in a `try` body, the other version's catch belongs to that site.
            let by_name = || of_others(own, &by_name, &named).filter(|_| !by_name[own].contains_key(&named));
            of_others(own, &by_path, &path).or_else(by_name).unwrap_or_default()
        };
        version.sites.sites.iter().map(of_site).collect()
    };
    versions.iter().enumerate().map(shared).collect()
}

/// What consumers may do to a generator of any version.
fn consumers(versions: &[Version]) -> Yields {
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
fn guards(versions: &[Version], catches: &[Vec<Vec<String>>]) -> Vec<FxHashMap<u32, Vec<String>>> {
    if catches.iter().flatten().all(Vec::is_empty) {
        return vec![];
    }
    let names = |version: &Version| -> FxHashMap<String, Vec<String>> {
        let caught = version.sites.sites.iter().filter(|site| site.kind == SiteKind::Name && !site.catches.is_empty());
        caught.map(|site| (normalise(&site.path, version), site.catches.clone())).collect()
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

fn canonical<'a>(version: &'a Version, name: &'a str) -> &'a str {
    version.renames.iter().find(|(own, _)| own == name).map_or(name, |(_, canonical)| canonical)
}

fn renamed_attribute<'a>(version: &'a Version, owner: &str, name: &str) -> Option<&'a str> {
    let (_, canonical) = version.attribute_renames.iter().find(|(own, _)| own == name)?;
    let own_object = version.parameters.first().filter(|_| version.class_name.is_some())?;
    (own_object.name == owner).then_some(canonical.as_str())
}

/// A static path in the notation of dynamic ones: with single quotes and a canonical first name.
fn normalise(path: &str, version: &Version) -> String {
    let mut path = path.replace('"', "'");
    for _ in 0..3 {
        // A local that stands for another path.
        let (first, rest) = split_first(&path);
        let Some((_, meant)) = version.locals.aliases.iter().find(|(local, _)| local == first) else { break };
        path = format!("{meant}{rest}");
    }
    let (first, rest) = split_first(&path);
    if let Some((name, after)) = rest.strip_prefix('.').map(split_first)
        && let Some(old) = renamed_attribute(version, first, name)
    {
        return format!("{first}.{old}{after}");
    }
    format!("{}{rest}", canonical(version, first))
}

/// `dict`, `x` for `dict(x, a=1)`: a copy of an existing value.
fn copy(path: &str) -> Option<(&'static str, &str)> {
    const CLASSES: [&str; 3] = ["dict", "list", "set"];
    let arguments = path.strip_suffix(')')?;
    let (class, arguments) =
        CLASSES.iter().find_map(|class| Some((*class, arguments.strip_prefix(class)?.strip_prefix('(')?)))?;
    let first = &arguments[..arguments.find(',').unwrap_or(arguments.len())];
    let is_place = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.');
    (!first.is_empty() && first.chars().all(is_place)).then_some((class, first))
}

/// `name` of `hasattr(x, 'name')` and `getattr(x, 'name', default)`.
fn asked_attribute(path: &str) -> Option<String> {
    let arguments = path.strip_suffix(')')?;
    let (arguments, default) = match arguments.strip_prefix("hasattr(") {
        Some(arguments) => (arguments, false),
        None => (arguments.strip_prefix("getattr(")?, true),
    };
    let quoted = arguments.replace('"', "'");
    let (before, rest) = quoted.split_once(", '")?;
    let (name, after) = rest.split_once('\'')?;
    let fits = if default { after.starts_with(", ") } else { after.is_empty() };
    (fits && !before.is_empty()).then(|| name.to_string())
}

/// The first name of a path, and the rest.
fn split_first(path: &str) -> (&str, &str) {
    let end = path.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(path.len());
    path.split_at(end)
}

/// Cuts the last attribute, subscript or argument list off a path.
fn container(kind: SiteKind, path: &str) -> String {
    let container = match kind {
        SiteKind::Subscript | SiteKind::Call => &path[..opening(path)],
        SiteKind::Name | SiteKind::Attribute => path.rfind('.').map_or(path, |at| &path[..at]),
    };
    awaited(container).unwrap_or(container).to_string()
}

/// `await a` for `(await a)`, which is written without the brackets where it has a name.
fn awaited(path: &str) -> Option<&str> {
    let inner = path.strip_prefix('(')?.strip_suffix(')')?;
    (inner.starts_with("await ") && opening(path) == 0).then_some(inner)
}

/// The position of the bracket that the last character of a path closes, or the path's end if there is none.
pub(crate) fn opening(path: &str) -> usize {
    let mut depth = 0;
    for (at, character) in path.char_indices().rev() {
        match character {
            ']' | ')' => depth += 1,
            '[' | '(' => {
                depth -= 1;
                if depth == 0 {
                    return at;
                }
            }
            _ => {}
        }
    }
    path.len()
}

/// The number of commas in an argument list, and its keywords, as written: `b` and `c` for `(a, b=1, c=f(d=2))`.
fn written_arguments(arguments: &str) -> (usize, Vec<String>) {
    let (mut found, mut commas) = (Vec::new(), 0);
    let (mut depth, mut quote, mut word) = (0, None, String::new());
    let mut characters = arguments.chars().peekable();
    while let Some(character) = characters.next() {
        if let Some(open) = quote {
            match character {
                '\\' => drop(characters.next()),
                _ if character == open => quote = None,
                _ => {}
            }
            continue;
        }
        match character {
            '\'' | '"' => quote = Some(character),
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            ',' if depth == 1 => commas += 1,
            '=' if depth == 1 && !word.is_empty() && characters.peek() != Some(&'=') => found.push(word.clone()),
            _ => {}
        }
        if character.is_alphanumeric() || character == '_' {
            word.push(character);
        } else if !character.is_whitespace() {
            word.clear();
        }
    }
    (commas, found)
}

/// As by no site, with these classes.
fn generic(classes: &[(AbstractValue, f32)]) -> Knowledge {
    let mut knowledge = empty();
    for &(class, share) in classes {
        knowledge.distribution[class as usize] = share;
    }
    knowledge
}

fn empty() -> Knowledge {
    Knowledge { distribution: [0.0; AbstractValue::COUNT], uses: Uses::default(), catches: vec![], sites: 0 }
}

/// Adds a site. The distribution is the mean over sites. `uses` are added unless they were added before.
fn add(known: &mut Knowledge, distribution: &Distribution, uses: Option<&Uses>, catches: &[String]) {
    for name in catches {
        if !known.catches.contains(name) {
            known.catches.push(name.clone());
        }
    }
    let before = known.sites as f32;
    known.sites += 1;
    for (mean, &value) in known.distribution.iter_mut().zip(distribution) {
        *mean = (*mean * before + value) / (before + 1.0);
    }
    if let Some(uses) = uses {
        known.uses.merge(uses);
    }
}

#[cfg(test)]
mod tests {
    use super::written_arguments;

    #[test]
    fn keywords_are_read_off_an_argument_list() {
        let (commas, keywords) = written_arguments("(a, b=1, c=f(d=2), e='x=1', g = [h == 2, 3])");
        assert_eq!((commas, keywords), (4, ["b", "c", "e", "g"].map(String::from).to_vec()));
        assert_eq!(written_arguments("(a == b, c <= d)"), (1, vec![]));
    }
}
