//! The lines of the end of a range: which unit made each, in which function it stands, and whether the tests run it.

use std::collections::{BTreeMap, BTreeSet};

use twincell_syntax::functions;
use twincell_testing::WatchedFunction;

use crate::refine::Relevance;
use crate::timeline::{Timeline, Unit};
use crate::trial::Criterion;
use crate::{Selection, SliceError, UnitId};

/// Endings of files that nobody runs or reads while tests run.
const PROSE: [&str; 2] = ["md", "rst"];

pub(crate) fn is_prose(ending: &str) -> bool {
    PROSE.contains(&ending)
}

/// The Python files in which some unit has made a line.
pub(crate) struct FinalLines {
    files: BTreeMap<String, FileLines>,
}

struct FileLines {
    /// For each line, from the first, the unit that made it.
    units: Vec<Option<UnitId>>,
    /// The qualified name and the lines of each function, from 1, the last one included.
    functions: Vec<(String, u32, u32)>,
}

impl FinalLines {
    /// # Errors
    ///
    /// Where the files cannot be put together.
    pub fn new(timeline: &Timeline) -> Result<Self, SliceError> {
        let tree = timeline.tree(&timeline.all())?;
        let mut files = BTreeMap::new();
        for (path, units) in timeline.line_units() {
            let name = String::from_utf8_lossy(&path);
            let text = tree.file(&path).and_then(|file| file.text.clone());
            let Some(text) = text.filter(|_| name.ends_with(".py") && units.iter().any(Option::is_some)) else {
                continue;
            };
            let (found, _) = functions(&String::from_utf8_lossy(&text));
            let functions = found.iter().map(|function| {
                let last = function.first_line + function.text.lines().count().saturating_sub(1) as u32;
                (function.entity().to_owned(), function.first_line, last)
            });
            files.insert(name.into_owned(), FileLines { units, functions: functions.collect() });
        }
        Ok(Self { files })
    }

    /// What the coverage of the tests says of each unit.
    pub fn relevance(&self, timeline: &Timeline, criterion: &Criterion) -> Vec<Relevance> {
        let none = BTreeSet::new();
        let mut run = Selection::new();
        // Units with a line outside of all functions, which runs when its module is imported.
        let mut outside = Selection::new();
        // Units with a line that is still there.
        let mut present = Selection::new();
        for (name, file) in &self.files {
            let covered = criterion.lines.get(name).unwrap_or(&none);
            for (line, unit) in (1..).zip(&file.units) {
                let Some(unit) = *unit else { continue };
                present.insert(unit);
                if covered.contains(&line) {
                    run.insert(unit);
                }
                if !file.functions.iter().any(|(_, first, last)| (*first..=*last).contains(&line)) {
                    outside.insert(unit);
                }
            }
        }
        let relevance = |(at, unit): (usize, &Unit)| {
            let id = UnitId(at as u32);
            // What remains of it in a trial, whatever is taken.
            let concerning: Vec<_> = unit.paths.iter().filter(|path| !criterion.owns(path)).collect();
            let are = |wanted: &dyn Fn(&str) -> bool| {
                concerning.iter().all(|path| path.extension().and_then(|ending| ending.to_str()).is_some_and(wanted))
            };
            match () {
                () if are(&is_prose) => Relevance::NotRun,
                () if run.contains(&id) => Relevance::Run,
                // All that it has made stands in functions that no test runs.
                () if are(&|ending| ending == "py" || is_prose(ending))
                    && present.contains(&id)
                    && !outside.contains(&id) =>
                {
                    Relevance::NotRun
                }
                () => Relevance::Unknown,
            }
        };
        timeline.units().iter().enumerate().map(relevance).collect()
    }

    /// The functions with a line of a unit, and these units.
    pub fn changed_functions(&self, criterion: &Criterion) -> BTreeMap<WatchedFunction, Selection> {
        let mut found: BTreeMap<WatchedFunction, Selection> = BTreeMap::new();
        for (name, file) in self.files.iter().filter(|(name, _)| !criterion.owns(name.as_ref())) {
            for (function, first, last) in &file.functions {
                let lines = file.units.iter().skip(*first as usize - 1).take((last - first + 1) as usize);
                let units: Selection = lines.filter_map(|unit| *unit).collect();
                if !units.is_empty() {
                    let watched = WatchedFunction { file: name.clone(), function: function.clone() };
                    found.entry(watched).or_default().extend(units);
                }
            }
        }
        found
    }
}
