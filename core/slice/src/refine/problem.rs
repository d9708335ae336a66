//! What a search is about: units, what needs what, and which units the tests may concern; and the closures of a removal.

use crate::refine::set::Set;
use crate::{Selection, UnitId};

/// A history to refine. All vectors have an entry for each unit.
#[derive(Clone, Debug, Default)]
pub struct Problem {
    /// For each unit, those whose text it applies to: without one of them it does not apply.
    pub text_needs: Vec<Selection>,
    /// For each unit, the names that its code uses, as the units that provide each, of which one suffices. They say what is
    /// tried and not what is true: code that no test runs may lack a name.
    pub name_needs: Vec<Vec<Selection>>,
    /// What is known of each unit before a run.
    pub relevance: Vec<Relevance>,
    /// Units that are not taken in the first place.
    pub left_out: Selection,
    /// Units that are probably needless together. The first candidate has none of them.
    pub needless: Selection,
}

/// Whether the tests run what a unit changes, by their coverage at the end of the range.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Relevance {
    /// They run it, and its commit wrote them as well.
    WithTests,
    Run,
    /// Nobody can tell: no Python, or no coverage.
    #[default]
    Unknown,
    NotRun,
}

/// The needs of a problem by what mentions them.
#[derive(Debug)]
pub(super) struct Needs {
    pub count: usize,
    pub all: Set,
    text: Vec<Vec<usize>>,
    /// The units that need a unit's text.
    dependents: Vec<Vec<usize>>,
    names: Vec<Name>,
    /// The names that a unit provides, and those that it uses.
    provided: Vec<Vec<usize>>,
    used: Vec<Vec<usize>>,
}

#[derive(Debug)]
struct Name {
    user: usize,
    any_of: Vec<usize>,
}

/// Units that are taken, with the number of units that provide each name.
#[derive(Clone, Debug)]
pub(super) struct Taken {
    pub units: Set,
    providers: Vec<u32>,
}

impl Needs {
    pub fn new(problem: &Problem) -> Self {
        let count = problem.text_needs.len();
        let number = |unit: &UnitId| Some(unit.0 as usize).filter(|unit| *unit < count);
        let all: Selection = (0..count as u32).map(UnitId).filter(|unit| !problem.left_out.contains(unit)).collect();
        let mut needs = Self {
            count,
            all: Set::of(count, &all),
            text: Vec::with_capacity(count),
            dependents: vec![Vec::new(); count],
            names: Vec::new(),
            provided: vec![Vec::new(); count],
            used: vec![Vec::new(); count],
        };
        for (unit, own) in problem.text_needs.iter().enumerate() {
            let own: Vec<usize> = own.iter().filter_map(number).filter(|other| *other != unit).collect();
            own.iter().for_each(|other| needs.dependents[*other].push(unit));
            needs.text.push(own);
        }
        for (user, own) in problem.name_needs.iter().enumerate().take(count) {
            for any_of in own {
                let any_of: Vec<usize> = any_of.iter().filter_map(number).collect();
                if any_of.is_empty() || any_of.contains(&user) {
                    continue;
                }
                any_of.iter().for_each(|unit| needs.provided[*unit].push(needs.names.len()));
                needs.used[user].push(needs.names.len());
                needs.names.push(Name { user, any_of });
            }
        }
        needs
    }

    pub fn taken(&self, units: &Set) -> Taken {
        let providers = |name: &Name| name.any_of.iter().filter(|unit| units.has(**unit)).count() as u32;
        Taken { units: units.clone(), providers: self.names.iter().map(providers).collect() }
    }

    /// Takes a unit out with all that needs its text, and, `by_name`, all that uses a name that nothing provides then. Adds them to
    /// `out`.
    pub fn take_out(&self, taken: &mut Taken, unit: usize, by_name: bool, out: &mut Vec<usize>) {
        let mut left = vec![unit];
        while let Some(unit) = left.pop() {
            if !taken.units.has(unit) {
                continue;
            }
            taken.units.remove(unit);
            out.push(unit);
            left.extend(&self.dependents[unit]);
            for name in &self.provided[unit] {
                taken.providers[*name] -= 1;
                if by_name && taken.providers[*name] == 0 {
                    left.push(self.names[*name].user);
                }
            }
        }
    }

    pub fn put_back(&self, taken: &mut Taken, out: &[usize]) {
        for unit in out {
            taken.units.insert(*unit);
            self.provided[*unit].iter().for_each(|name| taken.providers[*name] += 1);
        }
    }

    /// The units of `within` that remain if all others go but those that these need: by text all, of a name the newest.
    pub fn with_needs(&self, some: impl Iterator<Item = usize>, within: &Set) -> Set {
        let mut taken = self.taken(&Set::of(self.count, &Selection::new()));
        let mut left: Vec<usize> = some.collect();
        while let Some(unit) = left.pop() {
            if taken.units.has(unit) || !within.has(unit) {
                continue;
            }
            self.put_back(&mut taken, &[unit]);
            left.extend(&self.text[unit]);
            let open = self.used[unit].iter().filter(|name| taken.providers[**name] == 0);
            left.extend(open.filter_map(|name| self.names[*name].any_of.iter().rfind(|unit| within.has(**unit))));
        }
        taken.units
    }

    /// The units that directly need the text of one, of those taken.
    pub fn dependents<'a>(&'a self, unit: usize, taken: &'a Set) -> impl Iterator<Item = usize> + 'a {
        self.dependents[unit].iter().copied().filter(|other| taken.has(*other))
    }
}
