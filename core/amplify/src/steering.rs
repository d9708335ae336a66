//! What decides from outside of the tests what pytest says of them: a change that brings it along can make every test pass.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};
use twincell_syntax::PerSide;

/// The largest file whose text is looked at, in bytes.
const MAX_FILE: u64 = 1 << 20;

/// A changed file that can decide what tests say.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Steering {
    /// Relative to the repository, with `/` between its parts.
    pub path: String,
    pub kind: SteeringKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SteeringKind {
    /// A `conftest.py`.
    Conftest,
    /// Another module with hooks of pytest, or that names plugins.
    Plugin,
    /// Settings of pytest.
    Settings,
    /// What runs when Python starts.
    Start,
}

/// What a file may steer, by its name.
pub fn kind(path: &str) -> Option<SteeringKind> {
    match path.rsplit('/').next().unwrap_or(path) {
        "conftest.py" => Some(SteeringKind::Conftest),
        "sitecustomize.py" | "usercustomize.py" => Some(SteeringKind::Start),
        name if name.ends_with(".pth") => Some(SteeringKind::Start),
        "pytest.ini" | ".pytest.ini" | "pytest.toml" | ".pytest.toml" => Some(SteeringKind::Settings),
        "pyproject.toml" | "setup.cfg" | "tox.ini" => Some(SteeringKind::Settings),
        name if name.ends_with(".py") => Some(SteeringKind::Plugin),
        _ => None,
    }
}

/// Whether a file that differs steers tests. `path` is below the `roots` of both versions.
pub fn steers(roots: &PerSide<&Path>, path: &str) -> Option<Steering> {
    let kind = kind(path)?;
    let texts = roots.map(|root| text(&root.join(path)));
    let name = path.rsplit('/').next().unwrap_or(path);
    let does = match kind {
        SteeringKind::Conftest | SteeringKind::Start => true,
        SteeringKind::Plugin => {
            [&texts.old, &texts.new].into_iter().any(|text| text.as_deref().is_none_or(names_hooks))
        }
        SteeringKind::Settings => settings(name, &texts.old) != settings(name, &texts.new),
    };
    does.then(|| Steering { path: path.to_owned(), kind })
}

/// The text of a file. `Some("")` where there is none, and `None` where it cannot be read as text.
fn text(path: &Path) -> Option<String> {
    match fs::symlink_metadata(path) {
        Err(_) => Some(String::new()),
        Ok(about) if about.is_file() && about.len() <= MAX_FILE => String::from_utf8(fs::read(path).ok()?).ok(),
        Ok(_) => None,
    }
}

/// Whether a module names a hook of pytest (`pytest_runtest_makereport`), or `pytest_plugins`.
fn names_hooks(text: &str) -> bool {
    let is_inside = |before: char| before.is_alphanumeric() || before == '_';
    text.match_indices("pytest_").any(|(at, _)| !text[..at].chars().next_back().is_some_and(is_inside))
}

/// Where Python's `str.splitlines` ends a line.
fn is_end_of_line(character: char) -> bool {
    matches!(character, '\n'..='\r' | '\x1c'..='\x1e' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// What of a file of settings is pytest's. `Err` has a text in which nobody can tell.
fn settings(name: &str, text: &Option<String>) -> Result<BTreeMap<String, String>, Option<String>> {
    let Some(text) = text else { return Err(None) };
    let mut found = BTreeMap::new();
    match name {
        "pyproject.toml" => {
            let all: toml::Table = text.parse().map_err(|_| Some(text.clone()))?;
            let own = all.get("tool").and_then(|tools| tools.get("pytest"));
            found.extend(own.map(|own| ("pytest".to_owned(), format!("{own:?}"))));
            // Plugins that an editable installation of the project registers.
            let plugins = all.get("project").and_then(|project| project.get("entry-points")?.get("pytest11"));
            found.extend(plugins.map(|plugins| ("pytest11".to_owned(), format!("{plugins:?}"))));
        }
        "setup.cfg" | "tox.ini" => {
            let mut section = "";
            // Readers of such files end lines as Python does: also at a form feed, for instance.
            for line in text.split(is_end_of_line) {
                if let Some(header) = line.strip_prefix('[') {
                    section = header.split(']').next().unwrap_or(header).trim();
                }
                let is_own = matches!(section, "pytest" | "tool:pytest" | "options.entry_points");
                if is_own && !line.trim().is_empty() {
                    let lines: &mut String = found.entry(section.to_owned()).or_default();
                    *lines += line.trim_end();
                    lines.push('\n');
                }
            }
        }
        _ => drop(found.insert(String::new(), text.clone())),
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_can_decide_for_tests_is_told_from_other_files() {
        let folder = tempfile::tempdir().unwrap();
        let roots = PerSide::new("old", "new").map(|side| folder.path().join(side));
        use SteeringKind::{Conftest, Plugin, Settings, Start};
        for (path, old, new, expected) in [
            ("conftest.py", "", "x = 1\n", Some(Conftest)),
            ("deep/conftest.py", "x = 1\n", "", Some(Conftest)),
            ("shop.py", "x = 1\n", "x = 2\n", None),
            ("shop.py", "x = 1\n", "from pytest import mark\nmy_pytest_x = 2\n", None),
            ("helpers.py", "", "def pytest_runtest_makereport(): pass\n", Some(Plugin)),
            ("helpers.py", "pytest_plugins = ['a']\n", "", Some(Plugin)),
            ("src/sitecustomize.py", "", "x = 1\n", Some(Start)),
            ("src/a.pth", "", "import a\n", Some(Start)),
            ("pytest.ini", "", "[pytest]\n", Some(Settings)),
            ("a/.pytest.ini", "[pytest]\n", "[pytest]\naddopts = -x\n", Some(Settings)),
            ("pyproject.toml", "[project]\nversion = '1'\n", "[project]\nversion = '2'\n", None),
            ("pyproject.toml", "", "[tool.pytest.ini_options]\naddopts = '-p a'\n", Some(Settings)),
            ("pyproject.toml", "", "tool = {pytest = {ini_options = {addopts = '-p a'}}}\n", Some(Settings)),
            ("pyproject.toml", "", "[\"tool\".\"py\\u0074est\".ini_options]\naddopts = '-p a'\n", Some(Settings)),
            ("pyproject.toml", "", "[project.entry-points.pytest11]\na = 'shop.a'\n", Some(Settings)),
            ("pyproject.toml", "", "[tool.pytest", Some(Settings)),
            ("setup.cfg", "[metadata]\nversion = 1\n", "[metadata]\nversion = 2\n", None),
            ("setup.cfg", "", "[tool:pytest]\naddopts = -x\n", Some(Settings)),
            ("tox.ini", "[tox]\n", "[pytest] # here\naddopts = -x\n", Some(Settings)),
            ("tox.ini", "[flake8]\n", "[flake8]\n# note\x0c[pytest]\x0caddopts = -k nothing\n", Some(Settings)),
            ("notes.txt", "", "[pytest]\n", None),
        ] {
            for (root, content) in [(&roots.old, old), (&roots.new, new)] {
                let file = root.join(path);
                fs::create_dir_all(file.parent().unwrap()).unwrap();
                fs::write(file, content).unwrap();
            }
            let found = steers(&roots.as_ref().map(|root| root.as_path()), path);
            assert_eq!(found.map(|found| found.kind), expected, "{path}: {old:?} {new:?}");
        }
    }
}
