//! What a change has impact on: the sentences, for terminals and as Markdown. [`chain`] says why, [`state`] has what the other
//! views get.

mod chain;
mod html;
mod levels;
mod sarif;
mod state;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::Serialize;
use twincell_impact::{
    Cut, Equivalence, FunctionImpact, Impact, Place, Pruned, State, StatementImpact, Step, Unsound, UnsoundKind,
};
use twincell_prove::Proof;
use twincell_syntax::{PerSide, Side};

use crate::export::prose;
use crate::{plain, words};

pub use html::{impact_fragment, impact_page};
pub use levels::{impact_level, impact_progress};
pub use sarif::impact_sarif;
pub use state::{
    ImpactFileState, ImpactFunctionState, ImpactLevelState, ImpactLineState, ImpactLink, ImpactPrunedState,
    ImpactState, ImpactStatementState,
};

/// The maximum number of lines of source, and of functions, for terminals.
const LINES: usize = 120;
const FUNCTIONS: usize = 60;
/// The maximum number of lines of one function.
const OF_FUNCTION: usize = 12;
/// The same of Markdown.
const ROWS: usize = 50;
/// The maximum number of places that a line names.
const NAMED: usize = 3;

/// The texts of a version by path.
pub type Texts = BTreeMap<Arc<str>, Arc<str>>;

/// An impact with what its views show beside it.
#[derive(Debug, Clone, Serialize)]
pub struct ImpactReport {
    /// What the versions are called.
    pub versions: PerSide<String>,
    /// Files that neither version has in the analysis.
    pub left_out: Vec<LeftOut>,
    /// What ended the levels, unless it was the last one.
    pub stopped: Option<ImpactStopped>,
    /// The functions that were proved to give the same.
    pub proofs: Vec<ProvedFunction>,
    #[serde(flatten)]
    pub impact: Impact,
    #[serde(skip)]
    pub texts: PerSide<Texts>,
}

/// What may end an analysis before its last level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ImpactStopped {
    /// The time of the options was over.
    Time,
    Interrupt,
}

/// A function of the new version that gives the same as in the old one, for the same arguments and the same state.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ProvedFunction {
    pub path: Arc<str>,
    pub function: Arc<str>,
    #[serde(flatten)]
    pub proof: Proof,
}

/// A file that is not part of the analysis.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct LeftOut {
    pub path: String,
    pub side: Side,
    /// Without the path, as in `is not UTF-8: ...`.
    pub reason: String,
}

/// A statement with its place and its chain in words.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ImpactExplained {
    #[serde(flatten)]
    pub place: Place,
    pub state: &'static str,
    /// A sentence for each link, the change first. Empty for what is not impacted.
    pub sentences: Vec<String>,
    /// The derivation as data.
    pub chain: Vec<Step>,
    /// What showed that it is not impacted, where DCIA takes it to be.
    pub pruned: Option<ImpactPruning>,
}

/// What took a statement away, in data and in words.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ImpactPruning {
    #[serde(flatten)]
    pub pruned: Pruned,
    /// The level, the equivalence, and how it was shown.
    pub because: String,
    /// A sentence for each link of the chain of the level before.
    pub sentences: Vec<String>,
    /// The place among them of the first link that no longer holds.
    pub cut_sentence: usize,
}

/// A statement as tables have it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ImpactRow<'a> {
    #[serde(flatten)]
    pub place: &'a Place,
    /// `changed`, `impacted` or `not_impacted`.
    pub state: &'static str,
    /// The number of links of the shortest chain from a change. None for what is not impacted.
    pub distance: Option<usize>,
    /// The last link of the chain. None for what is not impacted.
    pub because: Option<String>,
    /// The level that took it away, and by which equivalence. None for what DCIA does not take to be impacted.
    pub pruned_at: Option<u32>,
    pub equivalence: Option<Equivalence>,
}

impl ImpactReport {
    fn count(&self, is_it: impl Fn(&State) -> bool) -> usize {
        self.impact.statements.iter().filter(|one| is_it(&one.state)).count()
    }

    /// The number of statements that changed, that may see other values, and that may not.
    pub fn counts(&self) -> (usize, usize, usize) {
        let changed = self.count(|state| matches!(state, State::Changed));
        let impacted = self.count(|state| matches!(state, State::Impacted { .. }));
        (changed, impacted, self.impact.statements.len() - changed - impacted)
    }

    /// Whether there may be more than the result says.
    pub fn is_partial(&self) -> bool {
        let is_dropped = |cut: &Cut| matches!(cut, Cut::Program | Cut::Calls | Cut::Statements);
        let is_unread =
            |one: &Unsound| matches!(one.kind, UnsoundKind::Broken | UnsoundKind::BrokenBefore | UnsoundKind::NotRead);
        let is_cut = self.impact.cut.iter().any(is_dropped) || self.impact.unsound.iter().any(is_unread);
        is_cut || !self.left_out.is_empty()
    }

    fn line(&self, side: Side, path: &str, line: u32) -> &str {
        let text = self.texts[side].get(path).map_or("", |text| text);
        text.lines().nth((line as usize).saturating_sub(1)).unwrap_or("")
    }
}

/// What a state is called in data.
fn state_name(state: &State) -> &'static str {
    match state {
        State::Changed => "changed",
        State::Impacted { .. } => "impacted",
        State::NotImpacted => "not_impacted",
    }
}

/// All statements of the new version, by path and line.
pub fn impact_rows(report: &ImpactReport) -> Vec<ImpactRow<'_>> {
    report.impact.statements.iter().map(row).collect()
}

fn row(statement: &StatementImpact) -> ImpactRow<'_> {
    let links = match &statement.state {
        State::Impacted { chain } => chain::links(chain),
        State::Changed | State::NotImpacted => vec![],
    };
    ImpactRow {
        place: &statement.place,
        state: state_name(&statement.state),
        distance: (!links.is_empty()).then_some(links.len()),
        because: links.last().map(|link| plain::sentence(&link.text)),
        pruned_at: statement.pruned.as_ref().map(|pruned| pruned.k),
        equivalence: statement.pruned.as_ref().map(|pruned| pruned.equivalence),
    }
}

/// The result in one line.
fn headline(report: &ImpactReport) -> String {
    let (changed, impacted, _) = report.counts();
    let removed = report.impact.removed.len();
    let what = match (changed, removed) {
        (0, 0) if impacted == 0 => return "no statement changed, and none may see other values".to_owned(),
        (0, 0) => "no statement changed".to_owned(),
        (0, removed) => format!("{} removed", were(removed)),
        (changed, _) => format!("{} changed", words::count(changed, "statement")),
    };
    let functions = report.impact.functions.iter().filter(|one| one.impacted > 0);
    let (functions, files) = (functions.clone().count(), functions.map(|one| &one.path).collect::<BTreeSet<_>>().len());
    match impacted {
        0 => format!("{what}, and no other statement may see other values"),
        _ => format!(
            "{what}, {} {} may see other values, in {} of {}",
            if changed + removed == 0 { "but" } else { "and" },
            if changed + removed == 0 {
                words::count(impacted, "statement")
            } else if impacted == 1 {
                "1 other".to_owned()
            } else {
                format!("{} others", words::number(impacted))
            },
            words::count(functions, "function"),
            words::count(files, "file"),
        ),
    }
}

fn were(count: usize) -> String {
    format!("{} {}", words::count(count, "statement"), if count == 1 { "was" } else { "were" })
}

/// Figures, as (name, value).
fn facts(report: &ImpactReport) -> Vec<(&'static str, String)> {
    let (changed, impacted, not) = report.counts();
    let pruned = report.impact.statements.iter().filter(|one| one.pruned.is_some()).count();
    let mut facts = vec![
        ("Changed", words::number(changed)),
        ("Removed", words::number(report.impact.removed.len())),
        ("Impacted", words::number(impacted)),
        ("Not impacted", words::number(not)),
    ];
    if pruned > 0 {
        facts.push(("Pruned", words::number(pruned)));
    }
    facts.extend([("Old", report.versions.old.clone()), ("New", report.versions.new.clone())]);
    facts
}

/// What the result leaves open, a line each.
fn remarks(report: &ImpactReport) -> Vec<String> {
    let mut lines: Vec<String> = report
        .left_out
        .iter()
        .take(NAMED)
        .map(|one| format!("{} of the {} version is left out: it {}", one.path, one.side, one.reason))
        .collect();
    if let more @ 1.. = report.left_out.len().saturating_sub(NAMED) {
        lines.push(format!("so {} {} more", if more == 1 { "is" } else { "are" }, words::count(more, "file")));
    }
    lines.extend(levels::stopped(report));
    lines.extend(report.impact.cut.iter().map(|cut| {
        let text = match cut {
            Cut::Program => "a version has more code than is read, so there may be more",
            Cut::Calls => "there are more calls than are followed, so there may be more",
            Cut::Chains => "long chains are shown without their beginning",
            Cut::Statements => "there are more statements than are listed",
        };
        text.to_owned()
    }));
    lines.extend(not_followed(report).into_iter().map(|(what, places)| format!("not followed: {what}: {places}")));
    lines
}

/// What the analysis does not follow: what it is, and the first places.
fn not_followed(report: &ImpactReport) -> Vec<(&'static str, String)> {
    let mut by_kind: BTreeMap<UnsoundKind, Vec<String>> = BTreeMap::new();
    for one in &report.impact.unsound {
        by_kind.entry(one.kind).or_default().push(format!("{}:{}", one.path, one.line));
    }
    let shown = |places: Vec<String>| {
        let more = places.len().saturating_sub(NAMED);
        let rest = if more > 0 { format!(" and {} more", words::number(more)) } else { String::new() };
        places.into_iter().take(NAMED).collect::<Vec<_>>().join(", ") + &rest
    };
    by_kind.into_iter().map(|(kind, places)| (unsound(kind), shown(places))).collect()
}

fn unsound(kind: UnsoundKind) -> &'static str {
    match kind {
        UnsoundKind::DynamicCode => "texts that run as code",
        UnsoundKind::DynamicAttribute => "attributes whose names the text does not say",
        UnsoundKind::Namespace => "variables by globals(), vars() and their like",
        UnsoundKind::Monkeypatch => "attributes of classes and modules that are replaced from elsewhere",
        UnsoundKind::Metaclass => "metaclasses and __init_subclass__",
        UnsoundKind::StarImport => "star imports of libraries",
        UnsoundKind::Broken => "what does not parse",
        UnsoundKind::BrokenBefore => "what does not parse in the old version",
        UnsoundKind::NotRead => "files that are too large to be read",
    }
}

/// A file with the functions that have something to show.
struct Shown<'a> {
    path: &'a str,
    functions: Vec<(&'a FunctionImpact, Vec<&'a StatementImpact>)>,
}

/// How far a statement is from the change.
fn distance(one: &StatementImpact) -> usize {
    match &one.state {
        State::Changed => 0,
        State::Impacted { chain } => chain.len(),
        State::NotImpacted => usize::MAX,
    }
}

/// The functions that the change reaches, with their changed and impacted statements. What is nearest to the change comes first.
fn shown(report: &ImpactReport) -> Vec<Shown<'_>> {
    shown_with(report, |one| one.state != State::NotImpacted)
}

/// The functions with such statements, with these.
fn shown_with(report: &ImpactReport, is_shown: impl Fn(&StatementImpact) -> bool) -> Vec<Shown<'_>> {
    let mut statements: BTreeMap<(&str, &str), Vec<&StatementImpact>> = BTreeMap::new();
    for one in report.impact.statements.iter().filter(|one| is_shown(one)) {
        statements.entry((&one.place.path, &one.place.function)).or_default().push(one);
    }
    let mut files: Vec<Shown<'_>> = Vec::new();
    for function in &report.impact.functions {
        let Some(own) = statements.remove(&(&*function.path, &*function.function)) else { continue };
        match files.last_mut().filter(|file| *file.path == *function.path) {
            Some(file) => file.functions.push((function, own)),
            None => files.push(Shown { path: &function.path, functions: vec![(function, own)] }),
        }
    }
    let nearest = |statements: &[&StatementImpact]| statements.iter().map(|one| distance(one)).min();
    for file in &mut files {
        file.functions.sort_by_key(|(_, own)| (nearest(own), own.first().map(|one| one.place.lines)));
    }
    files.sort_by_key(|file| file.functions.first().map(|(_, own)| nearest(own)));
    files
}

/// The counts of a function in words.
fn counted(function: &FunctionImpact) -> String {
    let all = function.changed + function.impacted + function.not_impacted;
    let reached = if function.is_reached { "" } else { ", which no entry reaches" };
    format!("{} changed, {} impacted of {all}{reached}", function.changed, function.impacted)
}

/// The name of a function where its file is named already.
fn short_name(function: &str) -> &str {
    if function.is_empty() { "(module)" } else { function }
}

/// The sign of a line.
fn sign(state: &State) -> &'static str {
    match state {
        State::Changed => "+",
        State::Impacted { .. } => "~",
        State::NotImpacted => " ",
    }
}

/// An impact as plain text.
pub fn impact_text(report: &ImpactReport) -> String {
    let mut out = format!("{}\n", plain::sentence(&headline(report)));
    if let Some(counts) = levels::counts(report) {
        let pruned = report.impact.statements.iter().find(|one| one.pruned.is_some());
        let asked = pruned.map(|one| format!("; --explain {} says what pruned it", place_name(&one.place)));
        out += &format!("  levels: {counts}{}\n", plain::value(&asked.unwrap_or_default()));
    }
    for line in remarks(report) {
        out += &format!("  {}\n", plain::sentence(&line));
    }
    let files = shown(report);
    let (mut lines, mut functions) = (LINES, FUNCTIONS);
    let mut left = 0;
    for file in &files {
        if functions > 0 && lines > 0 {
            out += &format!("\n{}\n", plain::value(file.path));
        }
        for (function, statements) in &file.functions {
            if functions == 0 || lines == 0 {
                left += statements.len();
                continue;
            }
            functions -= 1;
            out += &format!("  {}: {}\n", plain::value(short_name(&function.function)), counted(function));
            let listed = nearest_of(statements, lines.min(OF_FUNCTION));
            for one in &listed {
                let code = plain::code(report.line(Side::New, &one.place.path, one.place.lines.0));
                out += &format!("  {:>6} {} {code}\n", one.place.lines.0, sign(&one.state));
            }
            let more = statements.len() - listed.len();
            if more > 0 {
                out += &format!("         and {} more\n", words::number(more));
            }
            left += more;
            lines -= listed.len();
        }
    }
    if left > 0 {
        let count = words::count(left, "statement");
        out += &format!(
            "\n{count} more, which are not so near, are not listed here: --html FILE shows them, --json lists all\n"
        );
    }
    let all = files.iter().flat_map(|file| &file.functions).flat_map(|(_, statements)| statements);
    if let Some(one) = all.clone().find(|one| is_impacted(one)) {
        let place = format!("{}:{}", one.place.path, one.place.lines.0);
        out += &format!("\n--explain {} says why.\n", plain::value(&place));
    }
    out
}

/// Those of the statements that are nearest to the change, by line.
fn nearest_of<'a>(statements: &[&'a StatementImpact], most: usize) -> Vec<&'a StatementImpact> {
    let mut nearest = statements.to_vec();
    nearest.sort_by_key(|one| distance(one));
    nearest.truncate(most);
    nearest.sort_by_key(|one| &one.place);
    nearest
}

fn is_impacted(one: &StatementImpact) -> bool {
    matches!(one.state, State::Impacted { .. })
}

/// An impact as Markdown, for a pull request.
pub fn impact_markdown(report: &ImpactReport) -> String {
    let mut out = format!("### twincell: {}\n", prose(&headline(report)));
    if let Some(counts) = levels::counts(report) {
        out += &format!("\n- levels: {}", prose(&counts));
    }
    for line in remarks(report) {
        out += &format!("\n- {}", prose(&line));
    }
    let functions: Vec<_> = shown(report).into_iter().flat_map(|file| file.functions).collect();
    if !functions.is_empty() {
        out += "\n\n| file | function | changed | impacted | of | nearest reason |\n| --- | --- | --: | --: | --: | --- |\n";
    }
    for (function, statements) in functions.iter().take(ROWS) {
        let all = function.changed + function.impacted + function.not_impacted;
        let chains = statements.iter().filter_map(|one| match &one.state {
            State::Impacted { chain } => Some(chain),
            State::Changed | State::NotImpacted => None,
        });
        let reason = chains.min_by_key(|chain| chain.len()).and_then(|chain| chain::nearest(chain));
        out += &format!(
            "| {} | {} | {} | {} | {all} | {} |\n",
            prose(&function.path),
            prose(short_name(&function.function)),
            function.changed,
            function.impacted,
            prose(&reason.unwrap_or_default())
        );
    }
    if let more @ 1.. = functions.len().saturating_sub(ROWS) {
        out += &format!("\nand {}\n", words::count(more, "more function"));
    }
    out
}

/// The statement at a line of the new version with its chain in words: the innermost that has the line. Without a path, that of
/// the only file which has one there.
///
/// # Errors
///
/// One line that says that there is no statement, or several.
pub fn impact_explained(report: &ImpactReport, path: Option<&str>, line: u32) -> Result<ImpactExplained, String> {
    let wanted = path.map(|path| path.trim_start_matches("./"));
    let is_file = |own: &str| wanted.is_none_or(|wanted| own == wanted || own.ends_with(&format!("/{wanted}")));
    let paths: BTreeSet<&str> =
        report.impact.statements.iter().map(|one| &*one.place.path).filter(|own| is_file(own)).collect();
    let exact = wanted.filter(|wanted| paths.contains(wanted));
    if paths.is_empty() {
        return Err(match wanted {
            Some(wanted) => {
                format!("{wanted} is no Python file with statements in the new version: give one of its paths")
            }
            None => "the new version has no statements".to_owned(),
        });
    }
    let in_file = |own: &str| exact.map_or(paths.contains(own), |exact| own == exact);
    let has_line =
        |one: &&StatementImpact| in_file(&one.place.path) && (one.place.lines.0..=one.place.lines.1).contains(&line);
    let found: Vec<&StatementImpact> = report.impact.statements.iter().filter(has_line).collect();
    let files: BTreeSet<&str> = found.iter().map(|one| &*one.place.path).collect();
    if let [one, other, ..] = files.iter().copied().collect::<Vec<_>>()[..] {
        return Err(format!(
            "several files have a statement in line {line}, {one} and {other} among them: name the file"
        ));
    }
    // Of those with the line, what may see other values is asked for.
    let rank = |one: &&StatementImpact| match &one.state {
        State::Impacted { .. } => 0,
        State::Changed => 1,
        State::NotImpacted => 2,
    };
    let innermost = found.into_iter().min_by_key(|one| (one.place.lines.1 - one.place.lines.0, rank(one)));
    let Some(statement) = innermost else {
        let of = wanted.or(paths.iter().copied().next().filter(|_| paths.len() == 1)).unwrap_or("any file");
        return Err(format!("there is no statement in line {line} of {of} in the new version: give the line of one"));
    };
    let chain = match &statement.state {
        State::Impacted { chain } => chain.clone(),
        State::Changed | State::NotImpacted => vec![],
    };
    Ok(ImpactExplained {
        place: statement.place.clone(),
        state: state_name(&statement.state),
        sentences: sentences(report, &chain),
        chain,
        pruned: statement.pruned.as_ref().map(|pruned| pruning(report, pruned)),
    })
}

fn pruning(report: &ImpactReport, pruned: &Pruned) -> ImpactPruning {
    ImpactPruning {
        pruned: pruned.clone(),
        because: plain::sentence(&levels::pruned(report, pruned)),
        sentences: sentences(report, &pruned.chain),
        cut_sentence: chain::cut(&pruned.chain, pruned.cut),
    }
}

/// A sentence for each link of a chain.
fn sentences(report: &ImpactReport, chain: &[Step]) -> Vec<String> {
    chain::links(chain).iter().map(|link| plain::sentence(&link_sentence(report, link))).collect()
}

/// The same as text.
///
/// # Errors
///
/// As [`impact_explained`].
pub fn impact_explanation(report: &ImpactReport, path: Option<&str>, line: u32) -> Result<String, String> {
    let found = impact_explained(report, path, line)?;
    let code = report.line(Side::New, &found.place.path, found.place.lines.0).trim();
    let said = match found.state {
        "changed" => "changed",
        "impacted" => "may see other values",
        _ => "sees the same values",
    };
    let mut out = format!("{} {said}: {}\n", plain::value(&place_name(&found.place)), plain::code(code));
    for (number, sentence) in found.sentences.iter().enumerate() {
        out += &format!("  {}. {sentence}\n", number + 1);
    }
    if let Some(pruned) = &found.pruned {
        out += &format!("  {}\n  without this it may see other values:\n", pruned.because);
        for (number, sentence) in pruned.sentences.iter().enumerate() {
            let cut = if number == pruned.cut_sentence { " (ruled out)" } else { "" };
            out += &format!("  {}. {sentence}{cut}\n", number + 1);
        }
    }
    Ok(out)
}

/// A link as a sentence.
fn link_sentence(report: &ImpactReport, link: &chain::Link) -> String {
    let Some(place) = &link.place else { return link.text.clone() };
    let version = if link.side == Side::Old { " of the old version" } else { "" };
    let code = report.line(link.side, &place.path, place.lines.0).trim();
    format!("{}{version} {}: {code}", place_name(place), link.text)
}

fn place_name(place: &Place) -> String {
    format!("{}:{}", place.path, place.lines.0)
}

/// The place that a text names: `FILE:LINE`, or a line alone.
///
/// # Errors
///
/// One line that says what to write.
pub fn impact_place(text: &str) -> Result<(Option<&str>, u32), String> {
    let (path, line) = match text.rsplit_once(':') {
        Some((path, line)) => (Some(path).filter(|path| !path.is_empty()), line),
        None => (None, text),
    };
    match line.parse() {
        Ok(line @ 1..) => Ok((path, line)),
        _ => Err(format!("{text} is no FILE:LINE: write e.g. src/shop/cart.py:12")),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::ops::ControlFlow;

    use twincell_impact::{Entries, ImpactOptions, NoProver, Prover, impact_levels};
    use twincell_semantic::{MemoryFiles, Project, Store};

    use super::*;

    pub const OLD: &str = "def net(price):\n    return price\n\n\ndef show(price):\n    value = net(price)\n    if value:\n        print(value)\n";
    pub const NEW: &str = "def net(price):\n    return price * 2\n\n\ndef show(price):\n    value = net(price)\n    if value:\n        print(value)\n";

    /// The impact between two versions of a file.
    pub fn report(path: &str, old: &str, new: &str) -> ImpactReport {
        proved_report(path, old, new, &NoProver)
    }

    /// The same with this prover. Each level takes a tenth of a second.
    pub fn proved_report(path: &str, old: &str, new: &str, prover: &dyn Prover) -> ImpactReport {
        let store = Store::new();
        let texts = PerSide::new(old, new);
        let open = |side: Side| Project::open(MemoryFiles::from_iter([(path, texts[side])]), &store);
        let (entries, options) = (Entries::default(), ImpactOptions::default());
        let mut go_on = |_: &twincell_impact::Level| ControlFlow::Continue(());
        let mut impact =
            impact_levels(&open(Side::Old), &open(Side::New), &entries, &options, prover, &|| false, &mut go_on);
        for (level, after) in impact.levels.iter_mut().zip(1..) {
            level.milliseconds = Some(100 * after);
        }
        ImpactReport {
            versions: PerSide::new("old".to_owned(), "new".to_owned()),
            left_out: vec![],
            stopped: None,
            proofs: vec![],
            impact,
            texts: texts.map(|text| Texts::from([(path.into(), text.into())])),
        }
    }

    #[test]
    fn the_text_has_counts_lines_and_what_to_ask_next() {
        insta::assert_snapshot!(impact_text(&report("shop.py", OLD, NEW)));
    }

    #[test]
    fn a_chain_is_told_in_sentences() {
        let found = report("shop.py", OLD, NEW);
        insta::assert_snapshot!(impact_explanation(&found, Some("shop.py"), 8).unwrap());
        assert!(impact_explanation(&found, None, 2).unwrap().starts_with("shop.py:2 changed: return price * 2\n"));
        for (path, line, said) in [
            (None, 3, "there is no statement in line 3 of shop.py"),
            (Some("other.py"), 1, "other.py is no Python file"),
        ] {
            let error = impact_explained(&found, path, line).unwrap_err();
            assert!(error.starts_with(said), "{error}");
        }
    }

    /// A change whose impact level 0 takes away from line 6, and line 9 keeps.
    pub const SPLIT: [&str; 2] = [
        "def f(a, b):\n    return g(a + b)\n\ndef g(x):\n    return x\n\ndef h(a):\n    return a + 1\nprint(h(1))\n",
        "def f(a, b):\n    c = a + b\n    return g(c)\n\ndef g(x):\n    return x\n\ndef h(a):\n    return a + 2\nprint(h(1))\n",
    ];

    #[test]
    fn levels_that_prune_have_a_line_and_a_pruned_statement_says_what_pruned_it() {
        let found = report("shop.py", SPLIT[0], SPLIT[1]);
        insta::assert_snapshot!(impact_text(&found));
        insta::assert_snapshot!(impact_explanation(&found, None, 6).unwrap());
        let markdown = impact_markdown(&found);
        assert!(markdown.lines().any(|line| line.starts_with("- levels: DCIA 2 statements, k=0 1")), "{markdown}");
        let pruned = impact_explained(&found, None, 6).unwrap().pruned.unwrap();
        assert_eq!((pruned.pruned.k, pruned.pruned.equivalence), (0, Equivalence::SameValues));
        assert!(pruned.cut_sentence < pruned.sentences.len(), "{pruned:?}");
        let rows: Vec<_> = impact_rows(&found).iter().map(|row| row.pruned_at).collect();
        assert_eq!(rows.iter().flatten().count(), 1);
    }

    #[test]
    fn places_are_files_with_lines() {
        assert_eq!(impact_place("a/b.py:12"), Ok((Some("a/b.py"), 12)));
        assert_eq!(impact_place("12"), Ok((None, 12)));
        for text in ["", "a.py", "a.py:", "a.py:0", "a.py:-1"] {
            assert!(impact_place(text).is_err(), "{text}");
        }
    }

    #[test]
    fn equal_versions_have_one_line() {
        assert_eq!(impact_text(&report("a.py", OLD, OLD)), "no statement changed, and none may see other values\n");
    }

    #[test]
    fn a_result_is_partial_where_a_version_does_not_parse() {
        assert!(!report("a.py", OLD, OLD).is_partial());
        assert!(report("a.py", OLD, "def f(:\n").is_partial());
        let found = report("a.py", "def f(:\n", OLD);
        assert!(found.is_partial());
        assert_eq!(found.impact.unsound.iter().map(|one| one.kind).collect::<Vec<_>>(), [UnsoundKind::BrokenBefore]);
    }

    #[test]
    fn nothing_of_a_project_changes_a_terminal_or_a_comment() {
        let odd = |value: &str| format!("def f(a):\n    return '\u{1b}[2J <b> @team {value}'\n\nprint(f(1))\n");
        let found = report("a<b>.py", &odd("1"), &odd("2"));
        assert!(!impact_text(&found).contains('\u{1b}'));
        let markdown = impact_markdown(&found);
        assert!(!markdown.contains("<b>") && !markdown.contains("@team"), "{markdown}");
        assert!(markdown.contains("| 1 |"), "{markdown}");
    }
}
