//! The changes of a study without those in files that the policy leaves out. Each of the others gets the budget that
//! the policy gives to its file.

use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex};

use twincell_compare::notice::Notice;
use twincell_driver::options::PathRules;

use crate::change::{Change, Changes, Row};

/// Changes, by the rules of a policy for paths.
pub struct Kept<'a> {
    changes: &'a mut dyn Changes,
    rules: &'a PathRules,
    left_out: u64,
    /// The first of these.
    named: Named,
}

/// What the policy leaves out, for whoever writes it down.
pub type Named = Arc<Mutex<Vec<Notice>>>;

/// The maximum number of files that are named.
const MOST: usize = 1000;

impl<'a> Kept<'a> {
    pub fn new(changes: &'a mut dyn Changes, rules: &'a PathRules) -> Self {
        Self { changes, rules, left_out: 0, named: Named::default() }
    }

    /// The files that the policy leaves out, as far as they have been read.
    pub fn named(&self) -> Named {
        self.named.clone()
    }

    fn leave_out(&mut self, change: &Change) {
        self.left_out += 1;
        let (Some(file), Ok(mut named)) = (&change.file, self.named.lock()) else { return };
        let pattern = self.rules.excluded(Path::new(file)).unwrap_or_default();
        let notice = Notice::Excluded { file: file.clone(), pattern: pattern.to_owned() };
        if named.len() < MOST && !named.contains(&notice) {
            named.push(notice);
        }
    }
}

/// Whether the policy keeps a change, which gets the budget of its file.
pub fn settle(change: &mut Change, rules: &PathRules) -> bool {
    let Some(file) = change.file.as_deref().map(Path::new) else { return true };
    change.budget = rules.budget(file);
    rules.excluded(file).is_none()
}

impl Changes for Kept<'_> {
    fn next(&mut self) -> Option<io::Result<Row>> {
        loop {
            let mut row = self.changes.next();
            if let Some(Ok(Ok(change))) = &mut row
                && !settle(change, self.rules)
            {
                self.leave_out(change);
                continue;
            }
            return row;
        }
    }

    fn inner(&self) -> Option<&dyn Changes> {
        Some(self.changes)
    }

    fn notes(&self) -> Vec<String> {
        let left_out = match self.left_out {
            0 => None,
            1 => Some("1 change is in a file that the policy leaves out".to_owned()),
            count => Some(format!("{count} changes are in files that the policy leaves out")),
        };
        self.changes.notes().into_iter().chain(left_out).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scripted::{Script, change};
    use twincell_driver::options::PathBudget;

    #[test]
    fn files_that_the_policy_names_are_left_out_or_get_their_budget() {
        let of =
            |number, file: Option<&str>| Ok(Ok(Change { file: file.map(str::to_owned), ..change(number, "fast") }));
        let rows = [of(1, Some("docs/conf.py")), of(2, Some("src/a.py")), of(3, None), of(4, Some("b.py"))];
        let mut script = Script(rows.into());
        let budgets = vec![PathBudget { paths: "src".to_owned(), budget: 9 }];
        let rules = PathRules { exclude: vec!["docs".to_owned()], budgets, root: None };
        let mut kept = Kept::new(&mut script, &rules);
        let mut found = Vec::new();
        while let Some(Ok(Ok(change))) = kept.next() {
            found.push((change.number, change.budget));
        }
        assert_eq!(found, [(2, Some(9)), (3, None), (4, None)]);
        assert_eq!(kept.notes().last().map(String::as_str), Some("1 change is in a file that the policy leaves out"));
    }
}
