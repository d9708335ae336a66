//! The rules of a policy for paths: files to leave out, and budgets.

use std::path::{Path, PathBuf};

use globset::{Glob, GlobBuilder};
use serde::{Deserialize, Serialize};

/// The budget of the files that match a pattern.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PathBudget {
    pub paths: String,
    pub budget: u32,
}

/// Rules for paths. A pattern names files and folders, from the folder of the policy on.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PathRules {
    /// The folder of the policy.
    pub root: Option<PathBuf>,
    pub exclude: Vec<String>,
    /// The last pattern that matches decides.
    pub budgets: Vec<PathBudget>,
}

/// Whether a text is a pattern for paths. An error says why not.
pub(crate) fn check(pattern: &str) -> Result<(), String> {
    glob(pattern).map(drop)
}

fn glob(pattern: &str) -> Result<Glob, String> {
    let pattern = pattern.trim_end_matches('/');
    GlobBuilder::new(pattern).literal_separator(true).build().map_err(|error| error.kind().to_string())
}

impl PathRules {
    /// The pattern because of which a file is left out.
    pub fn excluded(&self, path: &Path) -> Option<&str> {
        self.exclude.iter().map(String::as_str).find(|pattern| self.matches(pattern, path))
    }

    /// The budget of a file, where a pattern gives it one.
    pub fn budget(&self, path: &Path) -> Option<u32> {
        self.budgets.iter().rev().find(|one| self.matches(&one.paths, path)).map(|one| one.budget)
    }

    /// Whether a pattern names the file or a folder that holds it.
    fn matches(&self, pattern: &str, path: &Path) -> bool {
        let Ok(glob) = glob(pattern) else { return false };
        let matcher = glob.compile_matcher();
        let inside = self.root.as_deref().and_then(|root| path.strip_prefix(root).ok()).unwrap_or(path);
        inside.ancestors().any(|part| !part.as_os_str().is_empty() && matcher.is_match(part))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_names_files_and_folders_from_the_policy_on() {
        let excluded = |pattern: &str, path: &str| {
            let rules = PathRules { root: Some("/r".into()), exclude: vec![pattern.into()], ..PathRules::default() };
            rules.excluded(Path::new(path)).is_some()
        };
        for (pattern, path, expected) in [
            ("tests", "tests/a/test_b.py", true),
            ("tests/", "/r/tests/test_b.py", true),
            ("tests", "src/tests/test_b.py", false),
            ("**/tests", "src/tests/test_b.py", true),
            ("*.py", "a.py", true),
            ("*.py", "src/a.py", false),
            ("src/**/generated_*.py", "src/a/b/generated_x.py", true),
            ("docs/conf.py", "/r/docs/conf.py", true),
            ("docs/conf.py", "/elsewhere/docs/conf.py", false),
        ] {
            assert_eq!(excluded(pattern, path), expected, "{pattern} and {path}");
        }
        assert!(check("src/[").is_err() && check("src/**").is_ok());
    }

    #[test]
    fn the_last_budget_that_matches_decides() {
        let budgets = [("src", 10), ("src/core", 20)].map(|(paths, budget)| PathBudget { paths: paths.into(), budget });
        let rules = PathRules { budgets: budgets.to_vec(), ..PathRules::default() };
        let budget = |path: &str| rules.budget(Path::new(path));
        assert_eq!([budget("src/a.py"), budget("src/core/a.py"), budget("a.py")], [Some(10), Some(20), None]);
    }
}
