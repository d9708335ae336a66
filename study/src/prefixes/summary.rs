//! The rows of a study of prefixes in figures, by folder and in total.

use std::collections::BTreeMap;

use twincell_prefix::Guidance;
use twincell_widgets::{Left, PrefixFigures, Reached, Spread};

use super::row::PrefixRow;

/// The figures of each folder in the order of their first rows, and of all if there are several.
pub fn figures(rows: &[PrefixRow]) -> Vec<PrefixFigures> {
    let mut folders: Vec<(&str, Vec<&PrefixRow>)> = Vec::new();
    for row in rows {
        match folders.iter_mut().find(|(folder, _)| *folder == row.folder) {
            Some((_, rows)) => rows.push(row),
            None => folders.push((&row.folder, vec![row])),
        }
    }
    if folders.len() > 1 {
        folders.push(("all", rows.iter().collect()));
    }
    folders.into_iter().map(|(folder, rows)| of(folder, &rows)).collect()
}

fn of(name: &str, rows: &[&PrefixRow]) -> PrefixFigures {
    let mean = |value: &dyn Fn(&PrefixRow) -> f64| match rows.len() {
        0 => 0.0,
        count => rows.iter().map(|row| value(row)).sum::<f64>() / count as f64,
    };
    // Nothing runs of a snippet without a result.
    let reached = |share: &dyn Fn(&PrefixRow) -> f64| Reached {
        coverage: mean(share),
        whole: mean(&|row| f64::from(row.reason.is_none() && share(row) >= 1.0)),
    };
    let spread = |count: &dyn Fn(&PrefixRow) -> f64| {
        let mut values: Vec<f64> = rows.iter().map(|row| count(row)).collect();
        values.sort_by(f64::total_cmp);
        Spread { mean: mean(count), quartiles: [0.0, 0.25, 0.5, 0.75, 1.0].map(|share| quantile(&values, share)) }
    };
    let mut seconds: Vec<f64> = rows.iter().map(|row| row.milliseconds / 1000.0).collect();
    seconds.sort_by(f64::total_cmp);
    let mut errors: BTreeMap<&str, usize> = BTreeMap::new();
    for class in rows.iter().filter_map(|row| row.error_before.as_deref()) {
        *errors.entry(class).or_default() += 1;
    }
    let mut errors: Vec<(String, usize)> = errors.into_iter().map(|(class, count)| (class.to_owned(), count)).collect();
    errors.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let is_best = |guidance| rows.iter().filter(|row| row.best_step == Some(guidance)).count();
    PrefixFigures {
        name: name.to_owned(),
        snippets: rows.len(),
        not_run: rows.iter().filter(|row| row.reason.is_some()).count(),
        as_is: reached(&|row| row.as_is),
        best: reached(&|row| row.best),
        steps: [0, 1, 2].map(|step| reached(&|row: &PrefixRow| row.by_step[step])),
        best_steps: [Guidance::Undefinedness, Guidance::Error, Guidance::Coverage].map(is_best),
        tried: [
            spread(&|row| f64::from(row.tried.iter().sum::<u32>())),
            spread(&|row| f64::from(row.tried[0])),
            spread(&|row| f64::from(row.tried[1])),
            spread(&|row| f64::from(row.tried[2])),
            spread(&|row| f64::from(row.chosen)),
        ],
        seconds: [quantile(&seconds, 0.5), quantile(&seconds, 0.9)],
        errors,
        left: left(rows),
    }
}

/// The snippets of which lines are left: first those without a result, then those with the smallest share.
fn left(rows: &[&PrefixRow]) -> Vec<Left> {
    let whole = |row: &&&PrefixRow| row.reason.is_none() && row.coverage >= 1.0;
    let mut left: Vec<&PrefixRow> = rows.iter().filter(|row| !whole(row)).copied().collect();
    left.sort_by(|one, other| {
        let rank = |row: &PrefixRow| (row.reason.is_none(), row.coverage);
        let ((one, share), (other, its)) = (rank(one), rank(other));
        one.cmp(&other).then(share.total_cmp(&its))
    });
    left.into_iter()
        .map(|row| Left {
            snippet: row.id.clone(),
            lines: row.lines as usize,
            coverage: row.coverage,
            problem: row.reason.clone().or_else(|| row.problem.clone()),
        })
        .collect()
}

/// The value below which a share of sorted values lies, one of them.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let last = sorted.len().saturating_sub(1) as f64;
    sorted.get((share * last).round() as usize).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_have_figures_of_their_own_and_together() {
        let row = |folder: &str, by_step: [f64; 3], tried| PrefixRow {
            folder: folder.into(),
            by_step,
            coverage: by_step[2],
            best: by_step[1],
            best_step: Some(Guidance::Error),
            tried,
            error_before: Some("NameError".into()),
            ..PrefixRow::default()
        };
        let missing = PrefixRow { folder: "b".into(), reason: Some("no Python".into()), ..PrefixRow::default() };
        let rows = [row("a", [0.5, 1.0, 1.0], [1, 2, 0]), row("a", [0.0, 0.5, 0.5], [3, 4, 5]), missing];
        let [a, b, all] = figures(&rows).try_into().unwrap();
        assert_eq!(
            (a.steps[0].coverage, a.steps[2], a.best_steps),
            (0.25, Reached { coverage: 0.75, whole: 0.5 }, [0, 2, 0])
        );
        assert_eq!((a.tried[0].mean, a.tried[0].quartiles[4]), (7.5, 12.0));
        assert_eq!((b.not_run, b.steps[2].whole, all.snippets), (1, 0.0, 3));
        assert_eq!(all.errors, [("NameError".to_owned(), 2)]);
        let left: Vec<_> = all.left.iter().map(|one| (one.coverage, one.problem.as_deref())).collect();
        assert_eq!(left, [(0.0, Some("no Python")), (0.5, None)]);
    }
}
