//! What was enforced while the code of many results ran: of a study, or of a file for other programs.

use std::collections::BTreeSet;

use twincell_engine::protocol::Mechanism;

use crate::words;

/// How many results had code that ran, and how many of them ran without a complete sandbox.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Enforced {
    pub ran: usize,
    pub incomplete: usize,
    /// What was missing in any of them.
    pub lacks: BTreeSet<Mechanism>,
}

impl Enforced {
    pub fn of<'a>(results: impl IntoIterator<Item = Option<&'a [Mechanism]>>) -> Self {
        let mut enforced = Self::default();
        results.into_iter().for_each(|lacks| enforced.add(lacks));
        enforced
    }

    /// Counts a result. `lacks` is what its code ran without, and none if nothing ran or if it is unknown.
    pub fn add(&mut self, lacks: Option<&[Mechanism]>) {
        let Some(lacks) = lacks else { return };
        self.ran += 1;
        self.incomplete += usize::from(!lacks.is_empty());
        self.lacks.extend(lacks);
    }

    /// What people are told. None if everything ran in a complete sandbox.
    pub fn sentence(&self) -> Option<String> {
        if self.incomplete == 0 {
            return None;
        }
        let missing: Vec<String> = self.lacks.iter().map(|mechanism| format!("no {mechanism}")).collect();
        let count = match self.incomplete == self.ran {
            true => "The code".to_owned(),
            false => format!("The code of {} of {}", self.incomplete, words::count(self.ran, "result")),
        };
        Some(format!("{count} ran without a complete sandbox, as --unsafe allows: {}.", missing.join(", ")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_counts_what_ran_and_names_what_was_missing() {
        const NO_LANDLOCK: Option<&[Mechanism]> = Some(&[Mechanism::Landlock]);
        assert_eq!(Enforced::of([None, Some(&[][..])]).sentence(), None);
        assert_eq!(
            Enforced::of([None, NO_LANDLOCK]).sentence().as_deref(),
            Some("The code ran without a complete sandbox, as --unsafe allows: no Landlock.")
        );
        let mixed = Enforced::of([Some(&[][..]), Some(&[Mechanism::Seccomp]), NO_LANDLOCK]);
        assert_eq!(
            mixed.sentence().as_deref(),
            Some(
                "The code of 2 of 3 results ran without a complete sandbox, as --unsafe allows: no Landlock, no seccomp."
            )
        );
    }
}
