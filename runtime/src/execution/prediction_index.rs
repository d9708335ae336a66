//! The prediction index: a loaded program in the form that hooks need, with interned names and predictions by access path.

use pyo3::prelude::*;
use pyo3::types::PyString;
use rustc_hash::{FxHashMap, FxHashSet};
use twincell_engine::protocol::{Context, GivenValue, HeldValue, Imported, Program, Version};
use twincell_syntax::site::{Site, SiteKind, Yields};
use twincell_syntax::{Parameter, ParameterKind};
use twincell_values::drawing::{PathKnowledge, Pools};
use twincell_values::path::{AccessPath, AccessPathBuf};
use twincell_values::predictor::{Distribution, unknown};
use twincell_values::reading::Uses;
use twincell_values::value::{AbstractValue, Recipe, library};

use super::given::Supplied;
use super::handlers;
use super::static_paths::{
    asked_attribute, canonical, container, copy, normalise, renamed_attribute, written_arguments,
};

/// Stands for the callee where a generator hands over an item. Its consumer decides what comes back.
pub(crate) const YIELD: &str = "yield";

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
    /// Whether a call may also fail in a way that no handler names.
    pub unwinds: bool,
    sites: u32,
}

/// One version, ready for hooks.
pub(crate) struct IndexedVersion {
    pub version: Version,
    /// The attribute or name of each site, as the hooks pass it to Python.
    pub names: Vec<Py<PyString>>,
    /// The normalised static path of each site.
    paths: Vec<AccessPathBuf>,
    /// The normalised static path of what each attribute, subscript or call site accesses or calls.
    containers: Vec<AccessPathBuf>,
    /// What each site says by itself. If not all have predictions, these are the first sites.
    knowledge: Vec<Knowledge>,
    /// The exceptions that may be raised at each site: those that its own version catches there, or else those that
    /// another catches.
    catches: Vec<Vec<String>>,
    /// Whether each site is a call that may fail in a way that no handler names.
    unwinds: Vec<bool>,
}

/// All versions of a program, with what they share.
pub(crate) struct PredictionIndex {
    pub versions: Vec<IndexedVersion>,
    pub pools: Pools,
    /// The texts among the literals of all versions.
    pub texts: Vec<String>,
    pub raise_probability: f64,
    pub step_budget: u64,
    pub context: Context,
    pub calls_twice: bool,
    /// What somebody gave.
    pub given: Vec<GivenValue>,
    /// The same, by the access path.
    supplied: FxHashMap<String, Supplied>,
    known: SiteKnowledge,
    /// Attributes that some version asks for with an alternative: `hasattr`, `getattr` with a default.
    asked_for: FxHashSet<String>,
    /// The keywords of calls by the callee's last identifier, in the order in which they are first written.
    keywords: FxHashMap<String, Vec<String>>,
    /// The paths of attributes that some version looks up where it catches an `AttributeError`.
    lacking: FxHashSet<AccessPathBuf>,
    /// How a generator uses what its consumer does, in any version.
    pub yields: Yields,
    /// Whether some version collects the failures of awaitables among their results, as `gather` does if it is asked to.
    pub collects_failures: bool,
    /// The exceptions that `except` clauses catch on each line of each version. Empty if no version catches any.
    guards: Vec<FxHashMap<u32, Vec<String>>>,
    /// For a value about which nothing is known.
    generic: Knowledge,
}

/// The keyword of `asyncio.gather` that asks for the failures of awaitables among their results.
const COLLECTING: &str = "return_exceptions";

impl IndexedVersion {
    fn new(py: Python<'_>, version: Version, catches: Vec<Vec<String>>, unwinds: Vec<bool>) -> Self {
        let sites = &version.sites.sites;
        let paths: Vec<AccessPathBuf> = sites.iter().map(|site| normalise(&site.path, &version)).collect();
        let predicted = version.predictions.iter().zip(&version.uses).enumerate();
        Self {
            names: sites.iter().map(|site| PyString::new(py, &site.identifier).unbind()).collect(),
            containers: sites.iter().zip(&paths).map(|(site, path)| container(site.kind, path.as_path())).collect(),
            paths,
            knowledge: predicted
                .map(|(number, (distribution, uses))| Knowledge {
                    distribution: *distribution,
                    uses: uses.clone(),
                    catches: catches.get(number).cloned().unwrap_or_default(),
                    unwinds: unwinds.get(number).copied().unwrap_or_default(),
                    sites: 1,
                })
                .collect(),
            catches,
            unwinds,
            version,
        }
    }
}

/// What the sites of all versions say of values.
#[derive(Default)]
struct SiteKnowledge {
    /// By normalised static access path.
    by_path: FxHashMap<AccessPathBuf, Knowledge>,
    /// The values that some version copies by calling a builtin class.
    copied: FxHashMap<AccessPathBuf, &'static str>,
    /// Calls by the normalised static path of the callee.
    by_callee: FxHashMap<AccessPathBuf, Knowledge>,
    /// What objects of the class hold, by path, for what no site of the versions reads.
    held: FxHashMap<AccessPathBuf, Knowledge>,
    /// By kind and last identifier, for paths that no site has literally.
    by_identifier: FxHashMap<(SiteKind, String), Knowledge>,
}

impl SiteKnowledge {
    fn of(versions: &[Version], unwinds: &[Vec<bool>]) -> Self {
        let mut known = Self::default();
        for (version, unwinds) in versions.iter().zip(unwinds) {
            let mut seen: FxHashSet<(SiteKind, &str)> = FxHashSet::default();
            let sites = version.sites.sites.iter().zip(unwinds);
            for (((site, unwinds), distribution), uses) in sites.zip(&version.predictions).zip(&version.uses) {
                // Sites with the same path share their uses.
                let uses = seen.insert((site.kind, &site.path)).then_some(uses);
                let catches = handlers::caught(site, version);
                let said = Said { distribution, uses, catches: &catches, unwinds: *unwinds };
                known.add(version, site, &said);
            }
        }
        for version in versions {
            for HeldValue { path, distribution, uses } in &version.held {
                known.add_held(normalise(path, version), distribution, uses);
            }
        }
        known
    }

    /// Whatever method uses what an object holds, it is the same value.
    fn add_held(&mut self, path: AccessPathBuf, distribution: &Distribution, uses: &Uses) {
        if let Some(known) = self.by_path.get_mut(path.as_str()) {
            known.uses.merge(uses);
        }
        let held = self.held.entry(path).or_insert_with(|| Knowledge { distribution: *distribution, ..empty() });
        held.uses.merge(uses);
    }

    fn add(&mut self, version: &Version, site: &Site, said: &Said<'_>) {
        let path = normalise(&site.path, version);
        if site.kind == SiteKind::Call {
            if let Some((class, argument)) = copy(&site.path) {
                self.copied.insert(normalise(argument, version), class);
            }
            let callee = path.as_path().before_brackets().to_buf();
            add(self.by_callee.entry(callee).or_insert_with(empty), said);
        }
        add(self.by_path.entry(path).or_insert_with(empty), said);
        if !site.identifier.is_empty() {
            let key = (site.kind, site.identifier.clone());
            let said = Said { catches: &[], unwinds: false, ..*said };
            add(self.by_identifier.entry(key).or_insert_with(empty), &said);
        }
    }
}

fn calls(versions: &[Version]) -> impl Iterator<Item = &Site> {
    let sites = versions.iter().flat_map(|version| &version.sites.sites);
    sites.filter(|site| site.kind == SiteKind::Call)
}

/// Attributes that some version asks for with an alternative: `hasattr`, `getattr` with a default.
fn asked_for(versions: &[Version]) -> FxHashSet<String> {
    calls(versions).filter_map(|site| asked_attribute(&site.path)).collect()
}

/// Keywords of calls by the callee's last identifier, in the order in which they are first written.
fn keywords(versions: &[Version]) -> FxHashMap<String, Vec<String>> {
    let mut keywords: FxHashMap<String, Vec<String>> = FxHashMap::default();
    for site in calls(versions).filter(|site| site.path.contains('=')) {
        let known = keywords.entry(site.identifier.clone()).or_default();
        for name in written_arguments(&site.path).1 {
            if !known.contains(&name) {
                known.push(name);
            }
        }
    }
    keywords
}

impl PredictionIndex {
    pub fn new(py: Python<'_>, program: Program) -> Self {
        let keywords = keywords(&program.versions);
        let unwinds = handlers::unwinding(&program.versions);
        let mut known = SiteKnowledge::of(&program.versions, &unwinds);
        let yields = handlers::consumers(&program.versions);
        known.by_callee.insert(YIELD.into(), Knowledge { catches: yields.thrown.clone(), ..generic(&SENT) });
        let catches = handlers::shared_catches(&program.versions);
        let declared = program.versions.iter().flat_map(Version::all_uses).filter_map(|uses| uses.declared.as_ref());
        let has_tables = declared.flat_map(|own| &own.library).any(|class| library::has_shape(class));
        let mut pools = Pools::new(&program.literals);
        if has_tables {
            pools = pools.small();
        }
        if program.tests_other_truths {
            pools = pools.often_false();
        }
        Self {
            pools,
            texts: texts(&program.literals),
            raise_probability: program.raise_probability,
            step_budget: program.step_budget,
            context: program.context,
            calls_twice: program.calls_twice,
            supplied: (program.given.iter().zip(0..))
                .map(|(value, index)| (value.name.clone(), Supplied::new((index, value))))
                .collect(),
            given: program.given,
            known,
            asked_for: asked_for(&program.versions),
            collects_failures: keywords.get("gather").is_some_and(|names| names.iter().any(|name| name == COLLECTING)),
            keywords,
            lacking: handlers::lacking(&program.versions),
            yields,
            guards: handlers::guards(&program.versions, &catches),
            generic: Knowledge { distribution: unknown(), ..empty() },
            versions: (program.versions.into_iter().zip(catches).zip(unwinds))
                .map(|((version, catches), unwinds)| IndexedVersion::new(py, version, catches, unwinds))
                .collect(),
        }
    }

    /// What somebody gave for a parameter or a global.
    pub fn supplied(&self, path: AccessPath<'_>) -> Option<&Supplied> {
        self.supplied.get(path.as_str())
    }

    /// The facts about a value: by its path or its callee's, else by the asking site, else by what its object's methods do
    /// with it, else by its last identifier.
    pub fn knowledge(
        &self,
        path: AccessPath<'_>,
        callee: AccessPath<'_>,
        site: Option<(usize, u32)>,
        kind: SiteKind,
        identifier: &str,
    ) -> &Knowledge {
        if let Some(known) = self.known.by_path.get(path.as_str()).or_else(|| self.known.by_callee.get(callee.as_str()))
        {
            return known;
        }
        let own = site.and_then(|(version, number)| self.versions[version].knowledge.get(number as usize));
        let of_name = || self.known.by_identifier.get(&(kind, identifier.to_string()));
        own.or_else(|| self.known.held.get(path.as_str())).or_else(of_name).unwrap_or(&self.generic)
    }

    /// The exceptions that may be raised at a site, since some version is prepared for them.
    pub fn catches(&self, version: usize, site: u32) -> &[String] {
        self.versions[version].catches.get(site as usize).map_or(&[], Vec::as_slice)
    }

    /// Whether a call may fail in a way that no handler names, since the versions clean up differently after it.
    pub fn unwinds(&self, version: usize, site: u32) -> bool {
        self.versions[version].unwinds.get(site as usize).copied().unwrap_or_default()
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
    pub fn is_subscripted(&self, path: AccessPath<'_>) -> bool {
        self.known.by_path.keys().any(|known| {
            known.as_path().beyond(path.as_str()).is_some_and(|rest| rest.starts_with('[') && rest.ends_with(']'))
        })
    }

    /// Whether any version iterates over the value of this path, or a method of its class does.
    pub fn is_iterated(&self, path: AccessPath<'_>) -> bool {
        self.known.by_path.get(path.as_str()).is_some_and(|known| known.uses.iterated)
    }

    /// The builtin class that some version calls to copy the value that it writes in this way: `dict` for `dict(x,
    /// a=1)`.
    pub fn copied_by(&self, written: AccessPath<'_>) -> Option<&'static str> {
        self.known.copied.get(written.as_str()).copied()
    }

    /// Whether the static path of a site's container starts with a local name. Such a path means nothing to another
    /// version.
    pub fn is_local(&self, version: usize, site: u32) -> bool {
        let version = &self.versions[version];
        let first = version.containers.get(site as usize).map_or("", |path| path.as_path().split_root().0);
        version.version.locals.names.iter().any(|name| name == first)
    }

    /// The static path of a site, as others write it that access its value.
    pub fn path(&self, version: usize, site: u32) -> AccessPath<'_> {
        self.versions[version].paths.get(site as usize).map(AccessPathBuf::as_path).unwrap_or_default()
    }

    /// The static path of what a site accesses or calls: `a.b` for `a.b.c`, `a.b[0]` and `a.b()`.
    pub fn container_path(&self, version: usize, site: u32) -> AccessPathBuf {
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
            let mut shape = written_arguments(&site.path);
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
    pub fn part_that_may_lack(&self, version: usize, site: u32) -> Option<AccessPath<'_>> {
        let version = &self.versions[version].version;
        let path = normalise(&version.sites.sites.get(site as usize)?.path, version);
        self.lacking.get(path.as_str()).map(AccessPathBuf::as_path)
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
        self.versions.iter().all(|IndexedVersion { version, .. }| {
            version.parameters.iter().any(|parameter| canonical(version, &parameter.name) == name)
        })
    }

    /// The path of the `**kwargs` in which a version without a parameter of this name looks the name up.
    pub fn collector(&self, name: &str) -> Option<&str> {
        self.versions.iter().find_map(|IndexedVersion { version, .. }| {
            let is_free = version.parameters.iter().all(|parameter| parameter.name != name);
            let is_it = |parameter: &&Parameter| parameter.kind == ParameterKind::VarKeyword && is_free;
            let path = canonical(version, &version.parameters.iter().find(is_it)?.name);
            let (_, uses) = self.known(path.into())?;
            uses.key_candidates.contains(&Recipe::Str(name.to_owned())).then_some(path)
        })
    }

    /// The old name of an attribute of the methods' own object that this version renamed.
    pub fn canonical_attribute(&self, version: usize, owner: &str, name: &str) -> Option<&str> {
        renamed_attribute(&self.versions[version].version, owner, name)
    }

    /// Whether this version keeps attributes behind properties that the other does not have.
    pub fn wraps_attributes(&self, version: usize) -> bool {
        !self.versions[version].version.wrapped_attributes.is_empty()
    }

    /// The public name of an attribute that this version alone keeps behind a property: of an object of one of these
    /// classes, or of an object about whose class nothing is known.
    pub fn wrapped_attribute(&self, version: usize, classes: Option<&[String]>, name: &str) -> Option<&str> {
        let mut wrapped = self.versions[version].version.wrapped_attributes.iter();
        let fits = |class: &String| classes.is_none_or(|classes| classes.contains(class));
        wrapped.find(|(class, private, _)| private == name && fits(class)).map(|(_, _, public)| public.as_str())
    }

    /// Whether this version alone has such a property of one of these classes.
    pub fn is_wrapping(&self, version: usize, class: &str, name: &str) -> bool {
        let mut wrapped = self.versions[version].version.wrapped_attributes.iter();
        wrapped.any(|(own, _, public)| own == class && public == name)
    }

    /// The class of the compared method, and the name of its own object.
    pub fn own_object(&self, version: usize) -> Option<(&str, &str)> {
        let version = &self.versions[version].version;
        Some((version.class_name.as_deref()?, version.parameters.first()?.name.as_str()))
    }

    /// Whether this version renamed functions.
    pub fn renames_functions(&self, version: usize) -> bool {
        !self.versions[version].version.function_renames.is_empty()
    }

    /// The old name of a function that this version renamed, by its qualified name.
    pub fn former_function(&self, version: usize, name: &str) -> Option<&str> {
        let mut renames = self.versions[version].version.function_renames.iter();
        renames.find(|(own, _)| own == name).map(|(_, former)| former.as_str())
    }

    /// What the versions import in different ways, by its dotted path.
    pub fn imported(&self, version: usize, target: &str) -> Option<&Imported> {
        self.versions[version].version.imports.iter().find(|import| import.target == target)
    }

    /// The dotted path of a module that a name stands for, if the versions reach something in it in different ways.
    pub fn imported_module(&self, version: usize, name: &str) -> Option<&str> {
        let imports = &self.versions[version].version.imports;
        // What is reached under the name itself may be anything.
        if imports.iter().any(|import| import.written == name) {
            return None;
        }
        imports.iter().find_map(|import| {
            let inner = import.written.strip_prefix(name)?.strip_prefix('.')?;
            import.target.strip_suffix(inner)?.strip_suffix('.')
        })
    }

    /// What the versions import in different ways, by the way in which this version writes it.
    pub fn imported_as(&self, version: usize, written: &str) -> Option<&Imported> {
        self.versions[version].version.imports.iter().find(|import| import.written == written)
    }

    /// Whether it is a module in which the versions reach something in different ways.
    pub fn holds_imported(&self, version: usize, target: &str) -> bool {
        let within = |import: &Imported| import.target.strip_prefix(target).is_some_and(|rest| rest.starts_with('.'));
        self.versions[version].version.imports.iter().any(within)
    }

    /// How this version writes what some version writes so.
    pub fn written_import(&self, version: usize, name: &str) -> Option<&str> {
        let is_it = |at: usize, other: &IndexedVersion| {
            let import = other.version.imports.get(at);
            import.is_some_and(|import| import.written == name || import.canonical == name)
        };
        let imports = &self.versions[version].version.imports;
        let at = (0..imports.len()).find(|&at| self.versions.iter().any(|other| is_it(at, other)))?;
        Some(imports[at].written.as_str())
    }

    /// The name for a name of this version in access paths.
    pub fn canonical<'a>(&'a self, version: usize, name: &'a str) -> &'a str {
        canonical(&self.versions[version].version, name)
    }
}

impl PathKnowledge for PredictionIndex {
    fn known(&self, path: AccessPath<'_>) -> Option<(&Distribution, &Uses)> {
        let known = self.known.by_path.get(path.as_str()).or_else(|| self.known.held.get(path.as_str()));
        known.map(|known| (&known.distribution, &known.uses))
    }

    fn given_by(&self, method: &str) -> Option<&Uses> {
        self.known.by_identifier.get(&(SiteKind::Call, method.to_owned())).map(|known| &known.uses)
    }
}

fn texts(literals: &[Recipe]) -> Vec<String> {
    let text = |literal: &Recipe| match literal {
        Recipe::Str(text) => Some(text.clone()),
        _ => None,
    };
    literals.iter().filter_map(text).collect()
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
    Knowledge {
        distribution: [0.0; AbstractValue::COUNT],
        uses: Uses::default(),
        catches: vec![],
        unwinds: false,
        sites: 0,
    }
}

/// What one site says about its value.
struct Said<'a> {
    distribution: &'a Distribution,
    /// None if they were added before.
    uses: Option<&'a Uses>,
    catches: &'a [String],
    unwinds: bool,
}

/// Adds a site. The distribution is the mean over sites.
fn add(known: &mut Knowledge, Said { distribution, uses, catches, unwinds }: &Said<'_>) {
    known.unwinds |= unwinds;
    for name in *catches {
        if !known.catches.contains(name) {
            known.catches.push(name.clone());
        }
    }
    let before = known.sites as f32;
    known.sites += 1;
    for (mean, &value) in known.distribution.iter_mut().zip(*distribution) {
        *mean = (*mean * before + value) / (before + 1.0);
    }
    if let Some(uses) = uses {
        known.uses.merge(uses);
    }
}
