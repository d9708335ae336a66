//! Reads a policy from TOML. Nothing in the file is trusted: its size is bounded, it must be a regular file, and every
//! setting is checked with its line.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use toml::Spanned;
use toml::de::{DeTable, DeValue};
use twincell_behavior::{DeclaredEffect, FunctionEffect, check_functions};
use twincell_repo::Content;
use twincell_syntax::similar_names;
use twincell_values::value::{Makes, Provider};

use super::{OWN, Policy, PolicyError, Setting, SettingValue};
use crate::files::reason;
use crate::options::{GivenOption, Job, Kind, Options, PathBudget, Value, find_for, of, paths};

/// More than any file of settings has.
pub(super) const MAX_BYTES: u64 = 1 << 20;
/// The names of files with policies. The first one counts.
pub(super) const FILES: [&str; 2] = ["twincell.toml", "pyproject.toml"];
const NO_FILE: &str = "it is no regular file: put the policy into one";
const NO_TEXT: &str = "it is not UTF-8: save it as UTF-8";
/// The maximum number of patterns in one setting, and of characters in one pattern.
const MOST_PATTERNS: usize = 200;
const LONGEST_PATTERN: usize = 200;
/// The table of `pyproject.toml`.
const TABLE_NAME: &str = "[tool.twincell]";
/// Options that choose what runs outside the sandbox or leaves the machine, or that are about one command.
const NOT_FOR_POLICIES: [&str; 11] = [
    "python",
    "model",
    "function",
    "policy",
    "allow-policy-change",
    "examples",
    "recorded",
    "generator",
    "budget-tokens",
    "install",
    "pass-env",
];

/// The policy in a folder: `twincell.toml`, or else `pyproject.toml` where it has the table.
pub(super) fn folder(folder: &Path) -> Result<Option<Policy>, PolicyError> {
    for name in FILES {
        let path = folder.join(name);
        if let Some(text) = content(&path)?
            && let Some(policy) = policy(&path, shown(&path), &text, false)?
        {
            return Ok(Some(policy));
        }
    }
    Ok(None)
}

/// The policy in what a version of a repository has at a path. `label` names it for people.
pub(super) fn of_content(path: &Path, label: String, content: Content) -> Result<Option<Policy>, PolicyError> {
    let wrong = |what: String| PolicyError { place: label.clone(), what };
    let bytes = match content {
        Content::Absent => return Ok(None),
        Content::File(bytes) => bytes,
        Content::TooLarge => return Err(wrong(too_large())),
        Content::NoFile => return Err(wrong(NO_FILE.to_owned())),
    };
    let text = String::from_utf8(bytes).map_err(|_| wrong(NO_TEXT.to_owned()))?;
    policy(path, label.clone(), &text, false)
}

fn too_large() -> String {
    format!("it has more than {} MiB: put the policy into twincell.toml", MAX_BYTES >> 20)
}

/// The policy in a file that a user named.
pub(super) fn file(path: &Path) -> Result<Policy, PolicyError> {
    let wrong = |what: &str| PolicyError { place: path.display().to_string(), what: what.to_owned() };
    let text = content(path)?.ok_or_else(|| wrong("there is no such file: give a policy, or none for no policy"))?;
    policy(path, shown(path), &text, true)?
        .ok_or_else(|| wrong("it has no table [tool.twincell]: add one, or name another file"))
}

/// The text of a file, if there is one.
fn content(path: &Path) -> Result<Option<String>, PolicyError> {
    let wrong = |what: String| PolicyError { place: shown(path), what };
    // Opening a pipe without a writer must not wait.
    let file = match OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(path) {
        Ok(file) => file,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return Ok(None),
        Err(error) => return Err(wrong(format!("it cannot be read: {}", reason(&error)))),
    };
    if !file.metadata().is_ok_and(|about| about.is_file()) {
        return Err(wrong(NO_FILE.to_owned()));
    }
    let mut bytes = Vec::new();
    let read = file.take(MAX_BYTES + 1).read_to_end(&mut bytes);
    read.map_err(|error| wrong(format!("it cannot be read: {}", reason(&error))))?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(wrong(too_large()));
    }
    String::from_utf8(bytes).map(Some).map_err(|_| wrong(NO_TEXT.to_owned()))
}

/// A path as seen from the current folder.
fn shown(path: &Path) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    path.strip_prefix(&here).unwrap_or(path).display().to_string()
}

/// The policy in a text, if there is one. `pyproject.toml` belongs to many tools. `is_named`: a user named the file, so it
/// is the user's own.
fn policy(path: &Path, file: String, text: &str, is_named: bool) -> Result<Option<Policy>, PolicyError> {
    let is_shared = path.file_name().is_some_and(|name| name == "pyproject.toml");
    if is_shared && !text.contains("twincell") {
        return Ok(None);
    }
    let source = SettingsText { file: &file, text, is_named };
    let whole = DeTable::parse(text).map_err(|error| {
        let what = error.message().lines().collect::<Vec<_>>().join(" ");
        source.error(error.span().map_or(0, |span| span.start), format!("this is not TOML: {what}"))
    })?;
    let settings = if is_shared { own_table(whole.get_ref(), &source)? } else { Some(whole.get_ref()) };
    let Some(settings) = settings else { return Ok(None) };
    // A name alone has no folder before it is whole.
    let whole_path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let root = whole_path.parent().map(Path::to_owned);
    let settings = source.settings(settings)?;
    Ok(Some(Policy { file, root: root.unwrap_or_default(), settings }))
}

/// `[tool.twincell]`.
fn own_table<'t>(whole: &'t DeTable<'t>, source: &SettingsText<'_>) -> Result<Option<&'t DeTable<'t>>, PolicyError> {
    let inside = |table: &'t DeTable<'t>, name: &str| -> Result<Option<&'t DeTable<'t>>, PolicyError> {
        let Some((key, value)) = table.iter().find(|(key, _)| key.get_ref() == name) else { return Ok(None) };
        let wrong =
            || source.error(key.span().start, format!("{name} is no table: write {TABLE_NAME} above the settings"));
        value.get_ref().as_table().map(Some).ok_or_else(wrong)
    };
    match inside(whole, "tool")? {
        Some(tool) => inside(tool, "twincell"),
        None => Ok(None),
    }
}

/// A text of settings, for errors with their lines.
struct SettingsText<'a> {
    file: &'a str,
    text: &'a str,
    is_named: bool,
}

/// A table's entries in the order of the file.
fn entries<'t>(table: &'t DeTable<'t>) -> Vec<(usize, &'t str, &'t Spanned<DeValue<'t>>)> {
    let mut entries: Vec<_> = table.iter().map(|(key, value)| (key.span().start, &**key.get_ref(), value)).collect();
    entries.sort_by_key(|(at, _, _)| *at);
    entries
}

impl SettingsText<'_> {
    fn line(&self, at: usize) -> usize {
        self.text.as_bytes().iter().take(at).filter(|byte| **byte == b'\n').count() + 1
    }

    fn error(&self, at: usize, what: String) -> PolicyError {
        PolicyError { place: format!("{}:{}", self.file, self.line(at)), what }
    }

    fn settings(&self, table: &DeTable<'_>) -> Result<Vec<Setting>, PolicyError> {
        let mut settings: Vec<Setting> = Vec::new();
        for (at, written, value) in entries(table) {
            let dashed = written.replace('_', "-");
            // An old spelling and a new one are one setting.
            let name = find_for(Job::Compare, &dashed).map_or(dashed, |name| name.spec.name.to_owned());
            if settings.iter().any(|earlier| earlier.name == name) {
                return Err(self.error(at, format!("{name} is there twice: leave one of them")));
            }
            let value = match name.as_str() {
                "effects" => SettingValue::Effects(self.effects(at, value)?),
                "exclude" => SettingValue::Exclude(self.exclude(at, value)?),
                "budgets" => SettingValue::Budgets(self.budgets(at, value)?),
                "values" => SettingValue::Values(self.values(at, value)?),
                _ => SettingValue::Option(self.option(at, written, &name, value.get_ref())?),
            };
            settings.push(Setting { name, value, line: self.line(at) });
        }
        Ok(settings)
    }

    /// The checked value of an option of the table.
    fn option(&self, at: usize, written: &str, name: &str, value: &DeValue<'_>) -> Result<GivenOption, PolicyError> {
        if NOT_FOR_POLICIES.contains(&name) {
            let what = format!("{name} is not for a policy, which comes with the code: give --{name}");
            return Err(self.error(at, what));
        }
        if name == "unsafe" && !self.is_named {
            let what = "unsafe is not for a policy that comes with the code: give --unsafe, or --policy with your own";
            return Err(self.error(at, what.to_owned()));
        }
        let Ok(option) = find_for(Job::Compare, written) else { return Err(self.error(at, unknown(written))) };
        let given = plain(option.kind(), value).ok_or_else(|| {
            self.error(at, format!("{name} cannot be a {}: write it as on the command line", value.type_str()))
        })?;
        let checked = option.check(given).map_err(|error| self.error(at, error.to_string()))?;
        let defaults = Options::default();
        let most = match name {
            "timeout" => defaults.timeout,
            "memory" => defaults.memory as f64,
            "max-source" => defaults.max_source as f64,
            "max-function" => f64::from(defaults.max_function),
            "deadline" => defaults.deadline,
            _ => f64::INFINITY,
        };
        if checked.value.number() > most {
            let what = format!("{name} cannot be above {most} in a policy, which comes with the code: give --{name}");
            return Err(self.error(at, what));
        }
        Ok(checked)
    }

    /// `"metrics.*" = "none"`. Keys with dots that are not quoted are tables in tables, and mean the same.
    fn effects(&self, at: usize, value: &Spanned<DeValue<'_>>) -> Result<Vec<DeclaredEffect>, PolicyError> {
        let mut found = Vec::new();
        self.add_effects(at, "", value.get_ref(), &mut found)?;
        Ok(found)
    }

    fn add_effects(
        &self,
        at: usize,
        before: &str,
        value: &DeValue<'_>,
        found: &mut Vec<DeclaredEffect>,
    ) -> Result<(), PolicyError> {
        let names = FunctionEffect::NAMES.join(", ");
        let Some(table) = value.as_table() else {
            let effect = value.as_str().and_then(FunctionEffect::named).filter(|_| !before.is_empty());
            let effect = effect.ok_or_else(|| {
                self.error(at, format!("effects: write \"functions.*\" = and one of {names}, each in quotes"))
            })?;
            let functions = self.pattern(at, "effects", before, check_functions)?;
            found.push(DeclaredEffect { functions, effect });
            return self.bounded(at, "effects", found.len());
        };
        for (at, name, value) in entries(table) {
            let whole = if before.is_empty() { name.to_owned() } else { format!("{before}.{name}") };
            self.add_effects(at, &whole, value.get_ref(), found)?;
        }
        Ok(())
    }

    fn exclude(&self, at: usize, value: &Spanned<DeValue<'_>>) -> Result<Vec<String>, PolicyError> {
        let wrong = |at| self.error(at, "exclude: write a list of paths, e.g. [\"docs\", \"tests/**\"]".to_owned());
        let items = value.get_ref().as_array().ok_or_else(|| wrong(at))?;
        self.bounded(at, "exclude", items.len())?;
        let one = |item: &Spanned<DeValue<'_>>| {
            let at = item.span().start;
            self.pattern(at, "exclude", item.get_ref().as_str().ok_or_else(|| wrong(at))?, paths::check)
        };
        items.iter().map(one).collect()
    }

    fn budgets(&self, at: usize, value: &Spanned<DeValue<'_>>) -> Result<Vec<PathBudget>, PolicyError> {
        let wrong =
            |at| self.error(at, "budgets: write a table of paths and numbers, e.g. \"src/**\" = 1000".to_owned());
        let table = value.get_ref().as_table().ok_or_else(|| wrong(at))?;
        self.bounded(at, "budgets", table.len())?;
        let option = find_for(Job::Compare, "budget").map_err(|error| self.error(at, error.to_string()))?;
        let one = |(at, pattern, value): (usize, &str, &Spanned<DeValue<'_>>)| {
            let number = plain(option.kind(), value.get_ref()).ok_or_else(|| wrong(at))?;
            let checked = option.check(number).map_err(|error| self.error(at, error.to_string()))?;
            let paths = self.pattern(at, "budgets", pattern, paths::check)?;
            Ok(PathBudget { paths, budget: checked.value.integer() as u32 })
        };
        entries(table).into_iter().map(one).collect()
    }

    /// `"shop.money.Money" = ["Money(0)"]`. Keys with dots that are not quoted are tables in tables, and mean the same.
    fn values(&self, at: usize, value: &Spanned<DeValue<'_>>) -> Result<Vec<Provider>, PolicyError> {
        let mut found = Vec::new();
        self.add_values(at, "", value.get_ref(), &mut found)?;
        Ok(found)
    }

    fn add_values(
        &self,
        at: usize,
        before: &str,
        value: &DeValue<'_>,
        found: &mut Vec<Provider>,
    ) -> Result<(), PolicyError> {
        if let Some(table) = value.as_table() {
            for (at, name, value) in entries(table) {
                let whole = if before.is_empty() { name.to_owned() } else { format!("{before}.{name}") };
                self.add_values(at, &whole, value.get_ref(), found)?;
            }
            return Ok(());
        }
        let makes = match value {
            _ if before.is_empty() => None,
            DeValue::String(function) => Some(Makes::Function(function.to_string())),
            DeValue::Array(items) => {
                let texts = items.iter().map(|item| item.get_ref().as_str().map(str::to_owned));
                texts.collect::<Option<_>>().map(Makes::Expressions)
            }
            _ => None,
        };
        let makes = makes.ok_or_else(|| {
            let form = "\"shop.money.Money\" = [\"Money(0, 'EUR')\"] or = \"tests.factories:make_money\"";
            self.error(at, format!("values: write a class with expressions or a function, e.g. {form}"))
        })?;
        let provider = Provider::new(before, makes).map_err(|what| self.error(at, format!("values: {what}")))?;
        if found.iter().any(|known| known.class == provider.class) {
            return Err(self.error(at, format!("values: {before} is there twice: join its values")));
        }
        found.push(provider);
        if found.len() > MOST_PATTERNS {
            let what = format!("values has more than {MOST_PATTERNS} classes: leave out some");
            return Err(self.error(at, what));
        }
        Ok(())
    }

    fn pattern(
        &self,
        at: usize,
        setting: &str,
        pattern: &str,
        check: impl Fn(&str) -> Result<(), String>,
    ) -> Result<String, PolicyError> {
        if pattern.is_empty() || pattern.chars().count() > LONGEST_PATTERN {
            let what = format!("{setting}: a pattern has 1 to {LONGEST_PATTERN} characters: write another one");
            return Err(self.error(at, what));
        }
        let wrong = |why| self.error(at, format!("{setting}: '{pattern}' is no pattern ({why}): use *, ** and ?"));
        check(pattern).map_err(wrong)?;
        Ok(pattern.to_owned())
    }

    fn bounded(&self, at: usize, setting: &str, count: usize) -> Result<(), PolicyError> {
        if count <= MOST_PATTERNS {
            return Ok(());
        }
        Err(self.error(at, format!("{setting} has more than {MOST_PATTERNS} patterns: join some with * or {{a,b}}")))
    }
}

/// A value of TOML as a user would give it. A list of texts is what commas separate on the command line.
fn plain(kind: Kind, value: &DeValue<'_>) -> Option<Value> {
    match value {
        DeValue::String(text) => Some(Value::Text(text.to_string())),
        DeValue::Integer(number) => i128::from_str_radix(number.as_str(), number.radix()).ok().map(Value::Integer),
        DeValue::Float(number) => number.as_str().parse().ok().map(Value::Number),
        DeValue::Boolean(flag) => Some(Value::Flag(*flag)),
        DeValue::Array(items) if kind.is_list() => {
            let words: Option<Vec<&str>> = items.iter().map(|item| item.get_ref().as_str()).collect();
            words.map(Value::listed)
        }
        _ => None,
    }
}

/// What is said of a setting that does not exist, with similar ones.
fn unknown(written: &str) -> String {
    let allowed = of(Job::Compare).map(|spec| spec.name).filter(|name| !NOT_FOR_POLICIES.contains(name));
    let known: Vec<&str> = allowed.chain(OWN).collect();
    let dashed = written.replace('_', "-");
    let similar = similar_names(&dashed, known.iter().copied());
    let name: String = written.chars().take(LONGEST_PATTERN).collect();
    match similar.first() {
        Some(best) => format!("there is no setting {name}: did you mean {best}?"),
        None => format!("there is no setting {name}: there are {}", known.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(name: &str, text: &str) -> Result<Option<Policy>, String> {
        policy(Path::new(name), name.to_owned(), text, false).map_err(|error| error.to_string())
    }

    #[test]
    fn every_setting_is_read_with_its_line() {
        let text = "# ours\nbudget = 500\nignore = [\"log\", \"exception-message\"]\nunordered = \"items\"\n\
                    exclude = [\"docs\"]\nignore_edge_cases = true\n\n[effects]\n\"metrics.*\" = \"none\"\n\
                    store.sync = \"acts\"\n\n[budgets]\n\"src/**\" = 0x10\n[values]\n\"shop.Money\" = [\"Money(0)\"]\n\
                    shop.Bag = \"tests.make:bag\"\n";
        let policy = read("twincell.toml", text).unwrap().unwrap();
        let found: Vec<(usize, String)> =
            policy.settings.iter().map(|one| (one.line, format!("{} {}", one.name, one.value.text()))).collect();
        let expected = [
            (2, "budget 500"),
            (3, "ignore log,exception-message"),
            (4, "unordered items"),
            (5, "exclude docs"),
            (6, "ignore-edge-cases on"),
            (8, "effects metrics.* = none, store.sync = acts"),
            (12, "budgets src/** = 16"),
            (14, "values shop.Money = [Money(0)], shop.Bag = tests.make:bag"),
        ];
        assert_eq!(found, expected.map(|(line, text)| (line, text.to_owned())));
    }

    #[test]
    fn errors_say_what_where_and_what_to_do_in_one_line() {
        for (text, expected) in [
            ("budgt = 3", "twincell.toml:1: there is no setting budgt: did you mean budget?"),
            (
                "\nraise_probabilty = 0.1",
                "twincell.toml:2: there is no setting raise_probabilty: did you mean raise-probability?",
            ),
            ("budget = 'many'", "twincell.toml:1: budget cannot be 'many': give a whole number from 1 to 1000000"),
            ("budget = 1\nbudget = 2", "twincell.toml:2: this is not TOML: duplicate key"),
            ("float-tolerance = 0.1\nfloat_tolerance = 0.1", "twincell.toml:2: float-tolerance is there twice"),
            ("ignore = ['logs']", "twincell.toml:1: ignore cannot be 'logs': give some of return, arguments"),
            ("ignore = [1]", "twincell.toml:1: ignore cannot be a array"),
            ("seed = 2020-01-01", "twincell.toml:1: seed cannot be a datetime"),
            ("exclude = 'docs'", "twincell.toml:1: exclude: write a list of paths"),
            ("exclude = ['a', 'src/[']", "twincell.toml:1: exclude: 'src/[' is no pattern"),
            (
                "[effects]\n'a.*' = 'pure'",
                "twincell.toml:2: effects: write \"functions.*\" = and one of none, asks, acts",
            ),
            ("effects = 3", "twincell.toml:1: effects: write"),
            ("[budgets]\n\"src\" = 0", "twincell.toml:2: budget cannot be 0"),
            ("[budgets]\n\"src\" = []", "twincell.toml:2: budgets: write a table"),
            ("values = 3", "twincell.toml:1: values: write a class with expressions or a function"),
            ("[values]\n'shop.Money' = 3", "twincell.toml:2: values: write a class with expressions or a function"),
            ("[values]\n'shop.Money' = [1]", "twincell.toml:2: values: write a class with expressions or a function"),
            (
                "[values]\n\n'shop.Money' = ['Money(']",
                "twincell.toml:3: values: 'Money(', a value of shop.Money, is no",
            ),
            ("[values]\n'shop.Money' = 'make'", "twincell.toml:2: values: 'make' makes no values of shop.Money"),
            (
                "[values]\n'shop.Money' = ['1']\nshop.Money = ['2']",
                "twincell.toml:3: values: shop.Money is there twice",
            ),
            ("x = [", "twincell.toml:1: this is not TOML"),
        ] {
            let error = read("twincell.toml", text).unwrap_err();
            assert!(error.starts_with(expected) && !error.contains('\n'), "{error}\n{expected}");
        }
        assert!(unknown("zzz").contains("there are budget, seed"), "{}", unknown("zzz"));
    }

    #[test]
    fn a_file_of_other_tools_holds_no_policy() {
        for text in ["[tool.black]\nline-length = 1\n", "this is [no TOML", "", "[project]\nname = 'twincell-user'\n"] {
            assert_eq!(read("pyproject.toml", text), Ok(None), "{text}");
        }
        let error = read("pyproject.toml", "[tool]\ntwincell = 3\n").unwrap_err();
        assert!(error.starts_with("pyproject.toml:2: twincell is no table"), "{error}");
        assert!(read("pyproject.toml", "[tool.twincell]\n").unwrap().unwrap().settings.is_empty());
    }

    #[test]
    fn files_are_bounded_and_regular() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("twincell.toml");
        std::fs::write(&path, "#".repeat(MAX_BYTES as usize + 1)).unwrap();
        assert!(file(&path).unwrap_err().to_string().contains("more than 1 MiB"));
        std::fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink("/dev/zero", &path).unwrap();
        assert!(file(&path).unwrap_err().to_string().contains("no regular file"));
        let missing = file(&folder.path().join("other.toml")).unwrap_err().to_string();
        assert!(missing.contains("there is no such file"), "{missing}");
        let many: Vec<String> = (0..=MOST_PATTERNS).map(|number| format!("'p{number}'")).collect();
        let error = read("twincell.toml", &format!("exclude = [{}]", many.join(","))).unwrap_err();
        assert!(error.contains("more than 200 patterns"), "{error}");
        let deep = format!("effects = {}'x'{}", "{a=".repeat(5000), "}".repeat(5000));
        assert!(read("twincell.toml", &deep).is_err());
    }
}
