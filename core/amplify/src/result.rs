//! What an amplification found, as plain data.

use serde::{Deserialize, Serialize};
use twincell_syntax::PerSide;
use twincell_testing::{CollectionError, Observed, SuiteReport};

use crate::observe::Difference;
use crate::operators::Operator;
use crate::steering::Steering;

/// The version of this form.
pub const FORMAT: u32 = 3;

/// The tests that show a change.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Amplification {
    pub format: u32,
    pub status: Status,
    pub files: Vec<Reach>,
    /// The project's tests that run changed code, the closest first.
    pub selected: Vec<Selected>,
    /// Tests of the project that pass before the change and fail after it.
    pub detecting: Vec<String>,
    /// Tests that the change adds or alters, which pass with it and fail without it.
    pub brought: Vec<String>,
    /// How many of the project's tests ran to find those that run changed code, and how many there are.
    pub ran: usize,
    pub collected: usize,
    /// What pytest could not collect before the change.
    pub not_collected: Vec<CollectionError>,
    /// How many variants ran.
    pub variants: usize,
    /// Whether the search was stopped, or its time ended, before it was done.
    pub cut: bool,
    /// What the change brings along that can decide what tests say, so that their results prove less.
    #[serde(default)]
    pub steering: Vec<Steering>,
    /// What the system enforced of the sandbox in which the tests ran.
    pub sandbox: Option<SuiteReport>,
    /// The best first.
    pub tests: Vec<AmplifiedTest>,
    /// All tests as unified diffs: in the form that passes before the change, and in the one that passes after it.
    pub patches: PerSide<String>,
}

impl Amplification {
    /// Whether a changed file could not be read or collected, so that nobody knows what of it would show.
    pub fn has_unread(&self) -> bool {
        self.files.iter().any(|file| file.unread.is_some())
    }

    /// Says why nobody knows what files do where pytest cannot collect tests after the change: the file of the tests, if it is
    /// one of those that the change brings, else the changed files that no other test runs.
    pub(crate) fn leave_out(&mut self, errors: &[CollectionError], brought: &[&str]) {
        let is_reached = |file: &Reach| file.executed.iter().any(|executed| *executed > 0);
        let are_all = self.files.iter().all(is_reached);
        let mut own: Vec<Reach> = Vec::new();
        for error in errors {
            let reason = |what: &str| format!("pytest cannot collect {what} after the change: {}", error.message);
            let path = error.id.split("::").next().unwrap_or(&error.id);
            if brought.contains(&path) {
                if own.iter().all(|file| file.path != path) {
                    own.push(Reach::unread(path.to_owned(), reason("it")));
                }
                continue;
            }
            for file in self.files.iter_mut().filter(|file| are_all || !is_reached(file)) {
                file.unread.get_or_insert_with(|| reason(&error.id));
            }
        }
        self.files.extend(own);
    }

    /// Whether a test shows the change. `None` if nobody knows: no test runs it, or files of it cannot be read.
    pub fn is_shown(&self) -> Option<bool> {
        match self.status {
            _ if !self.detecting.is_empty() || !self.brought.is_empty() => Some(true),
            Status::Found => Some(true),
            Status::NotReached => None,
            Status::NoCode | Status::NothingFound if self.has_unread() => None,
            Status::NoCode | Status::NothingFound => Some(false),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// The change touches no code.
    NoCode,
    /// No test runs changed code.
    NotReached,
    /// No test that was tried shows a difference.
    NothingFound,
    Found,
}

/// How many changed statements of a file the selected tests run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reach {
    pub path: String,
    pub changed: PerSide<usize>,
    pub executed: PerSide<usize>,
    /// Whether the old version has nothing that changed.
    pub only_adds: bool,
    /// Why the file cannot be read, or its tests not be collected, so that nothing else is known of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unread: Option<String>,
}

impl Reach {
    /// A changed file that cannot be read.
    pub fn unread(path: String, reason: String) -> Self {
        let none = PerSide::new(0, 0);
        Self { path, changed: none, executed: none, only_adds: false, unread: Some(reason) }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Selected {
    pub id: String,
    /// How many changed statements it runs.
    pub executed: usize,
    /// Whether its text names a changed function.
    pub direct: bool,
}

/// A test that passes before the change and fails after it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AmplifiedTest {
    /// The test that it was made from. For one with injected values, the test itself with the assertion of the comparison.
    pub origin: String,
    /// The definition of that test as it stands in the module. For one with injected values, the whole module.
    pub origin_text: String,
    /// Relative to the repository.
    pub file: String,
    pub technique: Technique,
    pub steps: Vec<Operator>,
    pub shows: Shown,
    pub sentence: String,
    /// Passes before the change, fails after it.
    pub old: Form,
    /// Fails before the change, passes after it. Absent where it cannot be written.
    pub new: Option<Form>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Technique {
    /// The inputs are those of the origin (AAMPL).
    Assertions,
    /// The inputs were searched (SBAMPL).
    Search,
    /// No test runs the change. The values are those of a comparison's witness.
    Injected,
}

/// What differs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Shown {
    Value(Difference),
    /// A statement raises in one version, or raises something else.
    Raises {
        /// The statement.
        expression: String,
        /// Its number among those behind which others can stand.
        point: u32,
        raised: PerSide<Option<Raised>>,
        /// What the statement binds in a version that does not raise, if that can be written down.
        returned: PerSide<Option<Observed>>,
    },
}

impl Shown {
    /// How much it tells a person: differences of values and of what code raises on purpose before those of errors.
    pub fn worth(&self) -> Worth {
        let Self::Raises { raised, .. } = self else { return Worth::Behavior };
        let is_error = |one: &Option<Raised>| one.as_ref().is_some_and(Raised::is_of_the_interpreter);
        match (&raised.old, &raised.new) {
            (Some(old), Some(new)) if old.class == new.class && old.is_of_the_interpreter() => Worth::Words,
            _ if raised.iter().any(is_error) => Worth::Error,
            _ => Worth::Behavior,
        }
    }

    /// What has the value, or raises.
    pub fn expression(&self) -> &str {
        match self {
            Self::Value(difference) => &difference.expression,
            Self::Raises { expression, .. } => expression,
        }
    }
}

/// How much a difference tells, the most first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Worth {
    Behavior,
    /// One version ends in an error that no code raises on purpose, or both do in unlike ones.
    Error,
    /// Both end in the same such error, and only Python words it in another way: `'<' not supported`, `'<=' not supported`.
    Words,
}

impl Raised {
    /// Whether the interpreter raises it for values that do not fit, whose message is its own.
    pub fn is_of_the_interpreter(&self) -> bool {
        const OWN: [&str; 4] = ["TypeError", "AttributeError", "NameError", "UnboundLocalError"];
        OWN.contains(&self.class.as_str())
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Raised {
    /// The dotted name of the exception's class.
    pub class: String,
    pub message: String,
}

/// A test as it is written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Form {
    pub id: String,
    pub name: String,
    /// The definition as it stands in the module.
    pub text: String,
    pub imports: Vec<String>,
    /// A unified diff of the test module.
    pub patch: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_which_pytest_can_collect_no_tests_are_left_out() {
        let reach = |path: &str, executed: [usize; 2]| Reach {
            path: path.into(),
            changed: PerSide::new(1, 1),
            executed: PerSide::new(executed[0], executed[1]),
            only_adds: false,
            unread: None,
        };
        let error = |file: &str| CollectionError {
            id: format!("tests/{file}"),
            exception: "NameError".into(),
            message: "NameError: no a".into(),
        };
        let errors = [error("test_shop.py"), error("test_cart.py::TestCart"), error("test_cart.py")];
        let all = "pytest cannot collect tests/test_shop.py after the change: NameError: no a";
        let class = "pytest cannot collect tests/test_cart.py::TestCart after the change: NameError: no a";
        let own = "pytest cannot collect it after the change: NameError: no a";
        let (none, both) = ([0, 0], [1, 1]);
        for (executed, count, brought, expected) in [
            ([none, both], 1, vec![], vec![Some(all), None]),
            ([none, [1, 0]], 1, vec![], vec![Some(all), None]),
            ([both, both], 1, vec![], vec![Some(all), Some(all)]),
            ([none, both], 1, vec!["tests/test_shop.py"], vec![None, None, Some(own)]),
            ([none, both], 3, vec![], vec![Some(all), None]),
            ([both, both], 3, vec!["tests/test_shop.py"], vec![Some(class), Some(class), Some(own)]),
            ([none, both], 3, vec!["tests/test_cart.py"], vec![Some(all), None, Some(own)]),
        ] {
            let mut found = Amplification {
                format: FORMAT,
                status: Status::NothingFound,
                files: vec![reach("shop.py", executed[0]), reach("cart.py", executed[1])],
                selected: vec![],
                detecting: vec![],
                brought: vec![],
                ran: 1,
                collected: 1,
                not_collected: vec![],
                variants: 0,
                cut: false,
                steering: vec![],
                sandbox: None,
                tests: vec![],
                patches: PerSide::default(),
            };
            assert_eq!(found.is_shown(), Some(false));
            found.leave_out(&errors[..count], &brought);
            let reasons: Vec<Option<&str>> = found.files.iter().map(|file| file.unread.as_deref()).collect();
            assert_eq!(reasons, expected);
            assert_eq!(found.is_shown(), None);
        }
    }
}
