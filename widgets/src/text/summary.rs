//! What changed in several files, in few lines: each function that changed with the example that shows it, and the rest
//! counted.

use std::collections::HashMap;

use anstyle::Style;
use twincell_behavior::EvidencePlace;
use twincell_compare::notice::Weight;
use twincell_compare::report::{Comparison, Evidence, PairReport};
use twincell_compare::verdict::Verdict;
use twincell_engine::observed::Slot;
use twincell_syntax::CodeKind;
use twincell_values::path::AccessPath;
use twincell_values::value::{Choice, Decision};
use unicode_width::UnicodeWidthStr;

use super::entry;
use super::page::Page;
use super::{BOLD, DIM, TextOptions, tone};
use crate::notices::{Notices, notice_sentence};
use crate::{plain, words};

/// A file of a change, compared or not.
#[derive(Debug, Clone, Copy)]
pub struct SummaryFile<'a> {
    /// As people find it: from the root of the repository, or as it was given.
    pub path: &'a str,
    /// Whether it holds tests, of which only the names are shown where code changed, too.
    pub is_test: bool,
    /// The comparison, or why there is none.
    pub result: Result<&'a Comparison, &'a str>,
}

/// What a summary names to go on with.
#[derive(Debug, Clone, Copy, Default)]
pub struct Advice<'a> {
    /// The command that looks for tests of the same change.
    pub amplify: Option<&'a str>,
    /// Whether recorded values may still take the place of objects.
    pub recorded: bool,
}

/// The maximum number of lines of functions, and of other remarks of one kind.
const ROWS: usize = 20;
/// The indent of further lines of a function.
const INDENT: usize = 4;
const REMARKS: usize = 3;
const RULES: usize = 10;
/// The maximum width of the name of what a function uses.
const THROUGH: usize = 24;

/// A pair that has a line of its own.
struct Row<'a> {
    file: &'a SummaryFile<'a>,
    pair: &'a PairReport,
    /// The pair whose example shows the change: the pair itself, or the class of a method.
    shown_by: &'a PairReport,
}

impl Row<'_> {
    /// Whether it only uses what changed and shows no difference.
    fn only_uses(&self) -> bool {
        let shows_nothing = match self.pair.verdict {
            Verdict::LikelyPreserving => true,
            // A changing one has a difference, also where no line of its own changed.
            Verdict::Inconclusive => self.pair.stays_away,
            Verdict::Changing | Verdict::Identical => false,
        };
        !self.pair.uses_changed.is_empty() && shows_nothing && !self.file.is_test
    }

    /// Whether fewer than one in ten executions say something about behavior, so that it is hardly known.
    fn hardly_ran(&self) -> bool {
        let all = &self.pair.executions;
        let usable = all.iter().filter(|execution| execution.old_valid && execution.new_valid).count();
        usable * 10 < all.len()
    }
}

/// Each function that changed, as `path:line  verdict  headline`, and how many there are of the others. At most 40 lines on
/// a terminal of 80 columns or more.
pub fn summary(files: &[SummaryFile<'_>], notices: Notices<'_>, advice: Advice<'_>, options: &TextOptions) -> String {
    let mut page = Page::new(options.color, options.width.clamp(40, 240));
    // What only uses a change is told where it differs.
    let (users, rows): (Vec<Row<'_>>, Vec<Row<'_>>) = rows(files).into_iter().partition(Row::only_uses);
    let (users, rows) = if rows.is_empty() { (rows, users) } else { (users, rows) };
    let (through, rows) = told_by_others(rows);
    let code = rows.partition_point(|row| !row.file.is_test);
    // Where code changed, its tests mostly changed with it.
    let (shown, tests) = rows.split_at(if code > 0 { code } else { rows.len() });
    let left_out = table(&mut page, shown);
    if left_out > 0 {
        page.prose("", &format!("… and {} more, which --verbose shows", words::number(left_out)), DIM);
    }
    let differ = match through.len() {
        1 => "1 function that uses what changed differs, too".to_owned(),
        many => format!("{} functions that use what changed differ, too", words::number(many)),
    };
    named(&mut page, &differ, names(through.iter()));
    let (hardly, ran): (Vec<&Row<'_>>, Vec<&Row<'_>>) = users.iter().partition(|row| row.hardly_ran());
    let using = |count: usize| match count {
        1 => "1 function that uses what changed".to_owned(),
        many => format!("{} functions that use what changed", words::number(many)),
    };
    named(&mut page, &format!("no difference was found in {}", using(ran.len())), names(ran.into_iter()));
    let few = format!("few executions of {} were usable", using(hardly.len()));
    named(&mut page, &few, names(hardly.into_iter()));
    named(&mut page, &words::count(tests.len(), "changed test"), names(tests.iter()));
    if code > 0 {
        let new = new_tests(files);
        named(&mut page, &words::count(new.len(), "new test"), new);
    }
    let failed = files.iter().filter_map(|file| Some((file.path, file.result.err()?)));
    let failed: Vec<String> = failed.map(|(path, reason)| format!("{path} not compared: {reason}")).collect();
    remarks(&mut page, &failed, REMARKS, tone(Verdict::Inconclusive));
    let counted = counts(files, &users);
    if counted.is_some() && (!rows.is_empty() || !failed.is_empty()) {
        page.blank();
    }
    if let Some(mark) = files.iter().find_map(|file| words::without_sandbox(file.result.ok()?)) {
        page.prose("", &plain::sentence(&mark), BOLD);
    }
    if let Some(said) = counted {
        page.prose("", &said, BOLD);
    }
    for (weight, most, style) in
        [(Weight::Trust, ROWS, BOLD), (Weight::Rule, RULES, DIM), (Weight::Remark, REMARKS, DIM)]
    {
        let lines: Vec<String> = notices.of(weight).map(notice_sentence).collect();
        remarks(&mut page, &lines, most, style);
    }
    if !rows.is_empty() {
        // Statements have no name.
        let named = rows.iter().map(|row| row.shown_by).find(|pair| pair.facts.kind != CodeKind::Snippet);
        let said = match named {
            Some(pair) => {
                let name = plain::value(&pair.new.qualname);
                format!("--function {name} shows it with values, evidence and changed lines, --verbose all.")
            }
            None => "--verbose shows values, evidence and changed lines.".to_owned(),
        };
        page.prose("", &said, DIM);
    }
    let changes_code = rows[..code].iter().any(|row| row.pair.verdict == Verdict::Changing);
    if let Some(command) = advice.amplify.filter(|_| changes_code) {
        let command = plain::sentence(command);
        page.prose("", &format!("{command} says whether tests show this, and makes new ones that do."), DIM);
    }
    if advice.recorded && rows.iter().any(|row| rests_on_stand_ins(row.shown_by)) {
        page.prose(
            "",
            "<object> stands for a value of which the code does not say enough: --recorded takes real ones from the \
             project's tests (twincell record), --examples from you.",
            DIM,
        );
    }
    page.finish()
}

/// Whether its example needs an object that was made up, and no value that somebody gave.
fn rests_on_stand_ins(pair: &PairReport) -> bool {
    let Some(witness) = pair.witness.as_ref().filter(|witness| witness.example.is_none()) else { return false };
    let is_needed = |choice: &&Choice| witness.decisive.contains(&choice.path);
    let is_object = |choice: &Choice| matches!(&choice.decision, Decision::Value(value) if value.has_object());
    pair.verdict == Verdict::Changing && witness.choices.iter().filter(is_needed).any(is_object)
}

fn names<'a>(rows: impl Iterator<Item = &'a Row<'a>>) -> Vec<String> {
    rows.map(|row| plain::value(&words::pair_name(row.pair))).collect()
}

/// The tests that only the new version has.
fn new_tests(files: &[SummaryFile<'_>]) -> Vec<String> {
    let of_tests = files.iter().filter(|file| file.is_test).filter_map(|file| file.result.ok());
    of_tests.flat_map(|comparison| &comparison.added).map(|name| plain::value(name)).collect()
}

/// Counts pairs and names as many of them as fit into one line.
fn named(page: &mut Page, said: &str, names: Vec<String>) {
    if !names.is_empty() {
        let line = page.cut(&format!("and {said}: {}", names.join(", ")), page.width);
        page.styled(DIM, &line);
        page.end();
    }
}

/// The first of these, one line each, and the number of the others.
fn remarks(page: &mut Page, all: &[String], most: usize, style: Style) {
    for one in all.iter().take(most) {
        let line = page.cut(&plain::sentence(one), page.width);
        page.styled(style, &line);
        page.end();
    }
    if let more @ 1.. = all.len().saturating_sub(most) {
        page.prose("", &format!("… and {} more, which --verbose shows", words::number(more)), DIM);
    }
}

/// The pairs to show: what changed first, and code before its tests. What changed in methods is not told once more of
/// their class.
fn rows<'a>(files: &'a [SummaryFile<'a>]) -> Vec<Row<'a>> {
    let mut rows = Vec::new();
    for file in files {
        let Ok(comparison) = file.result else { continue };
        let own = untold(comparison).filter(|pair| pair.decides() && pair.verdict != Verdict::Identical);
        let mut classes: Vec<&PairReport> = comparison.pairs.iter().filter(|pair| pair.decides()).collect();
        let mut shown_by = |pair| example_of(pair, &comparison.pairs, &mut classes);
        rows.extend(own.map(|pair| Row { file, pair, shown_by: shown_by(pair) }));
    }
    // What changed itself says more than what uses it.
    rows.sort_by_key(|row| (row.file.is_test, words::rank(row.pair), !row.pair.uses_changed.is_empty()));
    rows
}

/// The rows that need no line of their own, and the others: what changed in a function is not told once more of those that use
/// it, unless they show it better, without an object in a drawn state.
fn told_by_others<'a>(rows: Vec<Row<'a>>) -> (Vec<Row<'a>>, Vec<Row<'a>>) {
    let rests_on_state = |row: &Row<'_>| rests_on_state(row.shown_by) && row.shown_by.facts.kind != CodeKind::Class;
    let told: HashMap<(&str, &str), bool> = rows
        .iter()
        .filter(|row| row.pair.verdict == Verdict::Changing && row.pair.uses_changed.is_empty())
        .map(|row| ((row.file.path, row.pair.new.qualname.as_str()), rests_on_state(row)))
        .collect();
    let is_told = |row: &Row<'a>| {
        let by = row.pair.uses_changed.iter().find_map(|used| told.get(&(row.file.path, used.as_str())));
        row.pair.verdict == Verdict::Changing && by.is_some_and(|rests| !rests || rests_on_state(row))
    };
    rows.into_iter().partition(is_told)
}

/// The pair whose example shows a change. Objects whose state was drawn may not occur; what was made through the constructor
/// does. Each class shows one of its methods.
fn example_of<'a>(pair: &'a PairReport, compared: &[PairReport], classes: &mut Vec<&'a PairReport>) -> &'a PairReport {
    let says_as_much = |class: &&PairReport| {
        class.verdict == pair.verdict && (score(class) >= score(pair) || replaces(pair) && !replaces(class))
    };
    let found = classes.iter().position(|class| says_as_much(class) && shows(class, &pair.new.qualname, compared));
    match found.filter(|_| rests_on_state(pair)) {
        Some(at) => classes.remove(at),
        None => pair,
    }
}

/// Whether a pair's example has stand-ins in the place of what the code really has.
fn replaces(pair: &PairReport) -> bool {
    pair.witness.as_ref().is_some_and(|witness| !witness.replaced.is_empty())
}

/// Whether a class shows the change of this method: it ran changed lines of no other that is compared, or the use of this
/// one differs.
fn shows(class: &PairReport, method: &str, compared: &[PairReport]) -> bool {
    let Some(witness) = class.witness.as_ref().filter(|_| !is_of_the_class(class)) else { return false };
    let is_used = match class.evidence.first().and_then(|one| one.at.as_ref()?.slot()) {
        Some(Slot::Use { member, .. }) => method == format!("{}.{member}", class.new.qualname),
        _ => false,
    };
    let is_alone = |ran: &String| ran == method || compared.iter().all(|pair| pair.new.qualname != *ran);
    witness.methods.iter().any(|ran| ran == method) && witness.methods.iter().all(is_alone) || is_used
}

/// Whether what differs first is an attribute of the class itself, which is no method's doing.
fn is_of_the_class(class: &PairReport) -> bool {
    let first = class.evidence.first().and_then(|one| one.at.as_ref()?.slot());
    matches!(first, Some(Slot::ClassAttributes))
}

/// How much the clearest difference of a pair says.
fn score(pair: &PairReport) -> f64 {
    pair.evidence.iter().map(|one| one.score).fold(0.0, f64::max)
}

/// Whether the example needs an object in a drawn state, or shows what such an object is like afterwards.
fn rests_on_state(pair: &PairReport) -> bool {
    let leaves = |evidence: &Evidence| {
        let is_own = |path: &String| path == "self" || AccessPath::new(path).beyond("self").is_some();
        matches!(evidence.at.as_ref().and_then(EvidencePlace::slot), Some(Slot::Argument(path)) if is_own(path))
    };
    pair.headline.as_ref().is_some_and(|headline| !headline.conditions.is_empty())
        || pair.evidence.first().is_some_and(leaves)
}

/// The pairs without the classes of which nothing is said that is not said of a method, or worse.
fn untold(comparison: &Comparison) -> impl Iterator<Item = &PairReport> {
    let mut told: HashMap<&str, Verdict> = HashMap::new();
    for pair in comparison.pairs.iter().filter(|pair| pair.decides()) {
        for (at, _) in pair.new.qualname.match_indices('.') {
            let of_methods = told.entry(&pair.new.qualname[..at]).or_insert(pair.verdict);
            *of_methods = Verdict::worst([*of_methods, pair.verdict]);
        }
    }
    let is_told = move |pair: &PairReport| {
        let of_methods = told.get(pair.new.qualname.as_str()).filter(|_| pair.decides());
        of_methods.is_some_and(|verdict| Verdict::worst([*verdict, pair.verdict]) == *verdict) && !is_of_the_class(pair)
    };
    comparison.pairs.iter().filter(move |pair| !is_told(pair))
}

/// Writes the rows that fit, and returns the number of the others.
fn table(page: &mut Page, rows: &[Row<'_>]) -> usize {
    let mut left = ROWS;
    for (at, row) in rows.iter().enumerate() {
        let (path, line) = (plain::value(row.file.path), words::changed_line(row.pair));
        let place = match row.pair.cell {
            // Lines are counted in the cell.
            Some(cell) => format!("{path}, {cell}, line {line}"),
            None => format!("{path}:{line}"),
        };
        let (icon, word) = words::mark(row.pair);
        let used = row.pair.uses_changed.first().filter(|_| row.pair.verdict == Verdict::Changing);
        let through = used.map(|used| page.cut(&plain::value(used), THROUGH));
        let word = through.map_or_else(|| word.to_owned(), |used| format!("{word} through {used}"));
        let start = format!("{place}  {icon} {word}  ").width();
        let lines = entry::lines(page, row.shown_by, start, INDENT);
        if lines.len() > left {
            return rows.len() - at;
        }
        left -= lines.len();
        page.styled(BOLD, &place);
        page.styled(tone(row.pair.verdict), &format!("  {icon} {word}"));
        for (number, (label, line)) in lines.iter().enumerate() {
            page.styled(Style::new(), &" ".repeat(if number == 0 { 2 } else { INDENT }));
            page.styled(DIM, label);
            page.styled(Style::new(), line);
            page.end();
        }
    }
    0
}

/// `Behavior changed in 3 of 57 functions in 4 files · 2 inconclusive · 52 with the same code`. Classes count as functions.
/// Where statements outside of functions are compared, too, all of them are parts. `users` only use what changed and show no
/// difference. `None` if no file was compared.
fn counts(files: &[SummaryFile<'_>], users: &[Row<'_>]) -> Option<String> {
    let compared = || files.iter().filter_map(|file| file.result.ok());
    compared().next()?;
    let pairs = || compared().flat_map(untold);
    let covered = pairs().filter(|pair| !pair.decides_itself()).count();
    let accepted = pairs().filter(|pair| pair.accepted.is_some()).count();
    let of = |verdict: Verdict| pairs().filter(|pair| pair.decides() && pair.verdict == verdict).count();
    let of_users = |verdict: Verdict| users.iter().filter(|row| row.pair.verdict == verdict).count();
    let total = pairs().count();
    let place = match files {
        [only] => plain::value(only.path),
        several => format!("{} files", several.len()),
    };
    let noun = if pairs().all(|pair| pair.facts.kind != CodeKind::Snippet) { "function" } else { "part" };
    let all = format!("{} in {place}", words::count(total, noun));
    let mut said = vec![match of(Verdict::Changing) {
        _ if total > 0 && of(Verdict::Identical) == total => {
            format!("No difference: the code of {all} is the same but for comments, annotations and names")
        }
        0 => format!("No difference found in {all}"),
        changed => format!("Behavior changed in {} of {all}", words::number(changed)),
    }];
    let numbers = [
        (of(Verdict::Inconclusive).saturating_sub(of_users(Verdict::Inconclusive)), "inconclusive"),
        (of(Verdict::LikelyPreserving).saturating_sub(of_users(Verdict::LikelyPreserving)), "likely preserving"),
        (users.len(), "using what changed, without a difference"),
        (covered, "covered by others"),
        (accepted, "accepted"),
        (of(Verdict::Identical) % total.max(1), "with the same code"),
        (compared().map(|one| one.removed.len()).sum(), "only in old"),
        (compared().map(|one| one.added.len()).sum(), "only in new"),
    ];
    let numbers = numbers.iter().filter(|(number, _)| *number > 0);
    said.extend(numbers.map(|(number, what)| format!("{} {what}", words::number(*number))));
    Some(said.join(" · "))
}
