//! The verdicts of groups of changes: by their kind and by their project.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use twincell_compare::verdict::Verdict;

use super::marks::Mark;
use super::{Plot, Scale, Sheet, axes, font, percent, place, ticks, verdict_text};
use crate::state::StudyRow;
use crate::words::GroupShare;
use crate::{plain, words};

/// The maximum number of groups, the largest ones; the others are one together.
const GROUPS: usize = 10;
const OTHERS: &str = "others";
/// The longest name that is drawn whole, in characters.
const NAME: usize = 22;
/// The height of a group's bar, in pixels, and the room for its name.
const ROW: u32 = 26;
const NAMES: i32 = 150;

pub fn kinds(rows: &[StudyRow]) -> Plot {
    plot("Verdicts by kind of change", "Fewer than two kinds of change are known.", rows, |row| row.kind.as_deref())
}

pub fn projects(rows: &[StudyRow]) -> Plot {
    plot("Verdicts by project", "Fewer than two projects are known.", rows, |row| row.project.as_deref())
}

struct Group {
    name: String,
    /// How many groups of the study it stands for.
    stands_for: usize,
    /// How many changes have each of [`words::VERDICTS`].
    counts: [usize; 4],
}

impl Group {
    fn size(&self) -> usize {
        self.counts.iter().sum()
    }

    fn share(&self) -> GroupShare<'_> {
        let of = words::VERDICTS.iter().zip(self.counts).find(|(verdict, _)| **verdict == Verdict::Changing);
        GroupShare { name: &self.name, changes: self.size(), changing: of.map_or(0, |(_, count)| count) }
    }
}

/// The groups with the most changes first, and the rest as one.
fn groups<'a>(rows: &'a [StudyRow], of: impl Fn(&'a StudyRow) -> Option<&'a str>) -> Vec<Group> {
    let mut found: BTreeMap<&str, [usize; 4]> = BTreeMap::new();
    for row in rows {
        let verdict = words::VERDICTS.iter().position(|verdict| *verdict == row.verdict);
        if let (Some(name), Some(verdict)) = (of(row), verdict)
            && let Some(count) = found.entry(name).or_default().get_mut(verdict)
        {
            *count += 1;
        }
    }
    let mut groups: Vec<Group> =
        found.into_iter().map(|(name, counts)| Group { name: short(name), stands_for: 1, counts }).collect();
    groups.sort_by_key(|group| Reverse(group.size()));
    if groups.len() > GROUPS {
        let rest = groups.split_off(GROUPS - 1);
        let sum = rest.iter().fold([0; 4], |sum: [usize; 4], group| {
            std::array::from_fn(|at| sum.get(at).unwrap_or(&0) + group.counts.get(at).unwrap_or(&0))
        });
        groups.push(Group { name: OTHERS.to_owned(), stands_for: rest.len(), counts: sum });
    }
    groups
}

/// A name from the input, as far as a drawing has room for it.
fn short(name: &str) -> String {
    let shown = plain::value(name);
    match shown.char_indices().nth(NAME) {
        Some(_) => shown.chars().take(NAME - 1).chain(['…']).collect(),
        None => shown,
    }
}

fn plot<'a>(
    title: &'static str,
    none: &str,
    rows: &'a [StudyRow],
    of: impl Fn(&'a StudyRow) -> Option<&'a str>,
) -> Plot {
    let groups = groups(rows, of);
    if groups.len() < 2 {
        return Sheet::empty(title, none);
    }
    let shares: Vec<_> = groups.iter().map(Group::share).collect();
    let sheet = Sheet {
        title,
        description: words::groups_sentence(groups.iter().map(|group| group.stands_for).sum(), &shares),
        legend: (words::VERDICTS.iter().enumerate())
            .filter(|(at, _)| groups.iter().any(|group| group.counts.get(*at).is_some_and(|count| *count > 0)))
            .map(|(_, verdict)| (verdict_text(*verdict), Mark::bar_of(*verdict)))
            .collect(),
        height: 52 + ROW * groups.len() as u32,
    };
    sheet.draw(|area| {
        let x = Scale { name: "changes", from: 0.0, to: 1.0, ticks: ticks(0.0, 1.0, 5, false), text: &percent };
        let y = Scale { name: "", from: groups.len() as f64, to: 0.0, ticks: vec![], text: &|_| String::new() };
        let inner = area.margin(0, 0, NAMES - 62, 0);
        let chart = axes(&inner, &x, &y)?;
        let screen = area.use_screen_coord();
        for (index, group) in groups.iter().enumerate() {
            let (left, middle) = place(&chart, 0.0, index as f64 + 0.5);
            let style = font(12.0).pos(Pos::new(HPos::Right, VPos::Center));
            screen.draw(&Text::new(format!("{} ({})", group.name, group.size()), (left - 8, middle), style))?;
            let mut before = 0;
            for (count, verdict) in group.counts.iter().zip(words::VERDICTS) {
                let at = |count: usize| place(&chart, count as f64 / group.size().max(1) as f64, 0.0).0;
                let corners = ((at(before), middle - 9), (at(before + count), middle + 9));
                Mark::bar_of(verdict).fill(&screen, corners.0, corners.1)?;
                before += count;
            }
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(project: String, verdict: Verdict) -> StudyRow {
        StudyRow {
            id: String::new(),
            project: Some(project),
            commit: None,
            file: None,
            function: None,
            date: None,
            kind: None,
            verdict,
            label: None,
            reason: String::new(),
            executions: 1,
            coverage: 1.0,
            first_difference: None,
            complexity: None,
            milliseconds: 1.0,
            evidence: vec![],
            reproducer: None,
            comparison: None,
        }
    }

    #[test]
    fn the_largest_groups_have_names_and_the_others_are_one() {
        let rows: Vec<_> = (0..60).map(|index| row(format!("p{}", index % 20), Verdict::Changing)).collect();
        let found = groups(&rows, |row| row.project.as_deref());
        assert_eq!((found.len(), found[0].size()), (GROUPS, 3));
        assert_eq!((found[9].name.as_str(), found[9].counts), (OTHERS, [33, 0, 0, 0]));
        assert!(projects(&rows).description.starts_with("60 changes in 20 groups; p0 has"));
    }

    #[test]
    fn a_group_alone_is_not_drawn() {
        let plot = projects(&[row("p".into(), Verdict::Changing)]);
        assert!(!plot.is_drawn && plot.description.contains("Fewer than two"));
    }
}
