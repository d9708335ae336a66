//! What the views of an impact get: the files that it reaches with their functions and lines, and the chains, which share their
//! beginnings.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use serde::Serialize;
use twincell_impact::{State, StatementImpact, Step};
use twincell_syntax::Side;

use super::{ImpactReport, chain, facts, headline, levels, place_name, remarks, short_name, shown_with};
use crate::plain;
use crate::state::STATE_FORMAT;

/// The maximum number of bytes of source of all files, and of links of all chains.
const SOURCES: usize = 4 << 20;
const LINKS: usize = 100_000;
/// How many statements that begin before a line may have it.
pub(super) const NESTED: usize = 8;
/// A chain of at most so many links has the heat 4, 3 or 2.
const HEATS: [usize; 3] = [2, 4, 8];

/// An impact.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ImpactState {
    /// [`STATE_FORMAT`].
    pub(super) format: u32,
    pub(super) sentence: String,
    /// Figures, as (name, value).
    pub(super) facts: Vec<(&'static str, String)>,
    /// What the result leaves open, a sentence each.
    pub(super) remarks: Vec<String>,
    /// The levels of the analysis, DCIA first. Each leaves fewer statements than the one before, or as many.
    pub(super) levels: Vec<ImpactLevelState>,
    /// The files of the new version with changed, impacted or pruned statements, those with a change first.
    pub(super) reached: Vec<ImpactFileState>,
    /// The number of other files.
    pub(super) others: usize,
    /// The links of all chains. A chain is followed from its last link to the change.
    pub(super) links: Vec<ImpactLink>,
}

/// A level of the analysis.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ImpactLevelState {
    /// `DCIA`, `k=0`.
    pub(super) name: String,
    /// The statements that it leaves impacted, beyond the changed ones.
    pub(super) impacted: usize,
    /// The functions that were compared.
    pub(super) compared: usize,
    /// When it was whole, since the beginning. None if nobody measured it.
    pub(super) milliseconds: Option<f64>,
}

/// A file of the new version.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ImpactFileState {
    pub(super) path: String,
    pub(super) changed: usize,
    pub(super) impacted: usize,
    pub(super) not_impacted: usize,
    /// Those with changed, impacted or pruned statements, by line.
    pub(super) functions: Vec<ImpactFunctionState>,
    pub(super) statements: Vec<ImpactStatementState>,
    /// The text, line by line: the whole file, or the lines around its statements where there is no room for more.
    pub(super) lines: Vec<ImpactLineState>,
}

/// A line of a file.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ImpactLineState {
    /// Counted from 1.
    pub(super) number: u32,
    pub(super) text: String,
}

/// A function of a file, or the body of the module.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ImpactFunctionState {
    pub(super) name: String,
    /// The line of its first changed, impacted or pruned statement.
    pub(super) line: u32,
    pub(super) changed: usize,
    pub(super) impacted: usize,
    pub(super) not_impacted: usize,
    /// Whether an entry reaches it.
    pub(super) reached: bool,
}

/// A changed or impacted statement, or one that a level took away.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ImpactStatementState {
    /// First and last line.
    pub(super) lines: (u32, u32),
    pub(super) changed: bool,
    /// How near to the change it is, 4 to 1. 0 for one that changed.
    pub(super) heat: u8,
    /// The number of links of its chain.
    pub(super) distance: usize,
    /// The last link of its chain. None where there is no room for it, and for one that changed.
    pub(super) link: Option<usize>,
    /// The place of its function among those of the file.
    pub(super) function: usize,
    /// How many levels leave it impacted, from DCIA on. 0 for one that changed.
    pub(super) levels: usize,
    /// What took it away then, in words.
    pub(super) pruned: Option<ImpactPrunedState>,
}

/// What took a statement away.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ImpactPrunedState {
    /// The level, the equivalence, and how it was shown.
    pub(super) because: String,
    /// The place in its chain of the first link that no longer holds.
    pub(super) cut: usize,
}

/// A link of chains.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ImpactLink {
    /// The link before it. None for the change.
    pub(super) from: Option<usize>,
    /// `shop/cart.py:12`. None for what holds of a whole function.
    pub(super) place: Option<String>,
    /// Whether that is a place of the old version.
    pub(super) old: bool,
    pub(super) text: String,
    /// The line of code.
    pub(super) code: String,
}

impl ImpactState {
    pub fn new(report: &ImpactReport) -> Self {
        let mut chains = Chains::default();
        let mut room = SOURCES;
        let mut reached = Vec::new();
        let mut totals: BTreeMap<&str, (usize, usize, usize)> = BTreeMap::new();
        for function in &report.impact.functions {
            let total = totals.entry(&function.path).or_default();
            total.0 += function.changed;
            total.1 += function.impacted;
            total.2 += function.not_impacted;
        }
        for file in shown_with(report, |one| one.state != State::NotImpacted || one.pruned.is_some()) {
            let mut statements: Vec<&StatementImpact> =
                file.functions.iter().flat_map(|(_, statements)| statements.iter().copied()).collect();
            statements.sort_by_key(|one| &one.place);
            let mut ordered: Vec<_> = file.functions.iter().collect();
            ordered.sort_by_key(|(_, own)| own.first().map(|one| one.place.lines.0));
            let functions = ordered.iter().map(|(function, own)| ImpactFunctionState {
                name: plain::value(short_name(&function.function)),
                line: own.first().map_or(1, |one| one.place.lines.0),
                changed: function.changed,
                impacted: function.impacted,
                not_impacted: function.not_impacted,
                reached: function.is_reached,
            });
            let functions: Vec<ImpactFunctionState> = functions.collect();
            let places: HashMap<&str, usize> =
                ordered.iter().enumerate().map(|(at, (function, _))| (&*function.function, at)).collect();
            let text: Arc<str> = report.texts.new.get(file.path).cloned().unwrap_or_else(|| "".into());
            let (changed, impacted, not_impacted) = totals.get(file.path).copied().unwrap_or_default();
            reached.push(ImpactFileState {
                path: plain::value(file.path),
                changed,
                impacted,
                not_impacted,
                functions,
                statements: statements
                    .iter()
                    .map(|one| {
                        let function = places.get(&*one.place.function).copied().unwrap_or_default();
                        ImpactStatementState { function, ..statement_state(report, one, &mut chains) }
                    })
                    .collect(),
                lines: lines(&text, &statements, &mut room),
            });
        }
        Self {
            format: STATE_FORMAT,
            sentence: headline(report),
            facts: facts(report),
            remarks: remarks(report),
            levels: levels_of(report),
            others: totals.len() - reached.len(),
            reached,
            links: chains.links,
        }
    }

    /// Whether a level took a statement away.
    pub(super) fn is_pruned(&self) -> bool {
        matches!((self.levels.first(), self.levels.last()), (Some(first), Some(last)) if last.impacted < first.impacted)
    }

    /// The links of a chain that ends with this one, the change first.
    pub(super) fn chain(&self, last: Option<usize>) -> Vec<&ImpactLink> {
        let mut chain = Vec::new();
        let mut next = last;
        while let Some(link) = next.and_then(|at| self.links.get(at)) {
            chain.push(link);
            next = link.from;
        }
        chain.reverse();
        chain
    }
}

fn levels_of(report: &ImpactReport) -> Vec<ImpactLevelState> {
    let levels = report.impact.levels.iter().map(|level| ImpactLevelState {
        name: levels::name(level.k),
        impacted: level.impacted,
        compared: level.procedures,
        milliseconds: level.milliseconds.map(|after| after as f64),
    });
    levels.collect()
}

fn statement_state(report: &ImpactReport, one: &StatementImpact, chains: &mut Chains) -> ImpactStatementState {
    let chain = match (&one.state, &one.pruned) {
        (State::Impacted { chain }, _) => Some(chain),
        (State::NotImpacted, Some(pruned)) => Some(&pruned.chain),
        (State::Changed | State::NotImpacted, _) => None,
    };
    let (distance, link) = chain.map_or((0, None), |chain| chains.add(report, chain));
    let all = &report.impact.levels;
    let (levels, pruned) = match (&one.state, &one.pruned) {
        (State::NotImpacted, Some(pruned)) => {
            let because = plain::sentence(&levels::pruned(report, pruned));
            let cut = chain::cut(&pruned.chain, pruned.cut);
            let before = all.iter().position(|level| level.k == Some(pruned.k)).unwrap_or(all.len());
            (before, Some(ImpactPrunedState { because, cut }))
        }
        (State::Impacted { .. }, _) => (all.len(), None),
        (State::Changed | State::NotImpacted, _) => (0, None),
    };
    let changed = one.state == State::Changed;
    let heat = 4 - HEATS.iter().filter(|most| distance > **most).count() as u8;
    let heat = if changed { 0 } else { heat };
    ImpactStatementState { lines: one.place.lines, changed, heat, distance, link, function: 0, levels, pruned }
}

/// The lines of a file as long as there is room, and then those of its statements.
fn lines(text: &str, statements: &[&StatementImpact], room: &mut usize) -> Vec<ImpactLineState> {
    let all =
        text.lines().enumerate().map(|(at, text)| ImpactLineState { number: at as u32 + 1, text: plain::code(text) });
    if let Some(rest) = room.checked_sub(text.len()) {
        *room = rest;
        return all.collect();
    }
    let is_named = |line: u32| {
        let after = statements.partition_point(|one| one.place.lines.0 <= line);
        after > 0 && statements[..after].iter().rev().take(NESTED).any(|one| line <= one.place.lines.1)
    };
    all.filter(|line| is_named(line.number)).collect()
}

/// The links of chains, each of which is there once.
#[derive(Default)]
struct Chains {
    links: Vec<ImpactLink>,
    known: HashMap<ImpactLink, usize>,
}

impl Chains {
    /// The number of links of a chain, and its last one.
    fn add(&mut self, report: &ImpactReport, chain: &[Step]) -> (usize, Option<usize>) {
        let links = chain::links(chain);
        let count = links.len();
        let mut from = None;
        for link in links {
            let code = link.place.as_ref().map(|place| report.line(link.side, &place.path, place.lines.0).trim());
            let made = ImpactLink {
                from,
                place: link.place.as_ref().map(|place| plain::value(&place_name(place))),
                old: link.side == Side::Old,
                text: plain::sentence(&link.text),
                code: plain::code(code.unwrap_or("")),
            };
            from = match self.known.get(&made) {
                Some(known) => Some(*known),
                None if self.links.len() >= LINKS => return (count, None),
                None => {
                    self.known.insert(made.clone(), self.links.len());
                    self.links.push(made);
                    Some(self.links.len() - 1)
                }
            };
        }
        (count, from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::impacts::tests::{NEW, OLD, SPLIT, report};

    #[test]
    fn the_state_has_what_a_view_shows() {
        let state = ImpactState::new(&report("shop.py", OLD, NEW));
        insta::assert_snapshot!(serde_json::to_string_pretty(&state).unwrap());
    }

    #[test]
    fn a_pruned_statement_says_until_which_level_and_what_took_it_away() {
        let state = ImpactState::new(&report("shop.py", SPLIT[0], SPLIT[1]));
        let levels: Vec<(&str, usize)> = state.levels.iter().map(|one| (one.name.as_str(), one.impacted)).collect();
        assert_eq!(levels, [("DCIA", 2), ("k=0", 1)]);
        let file = &state.reached[0];
        let pruned: Vec<_> = file.statements.iter().filter(|one| one.pruned.is_some()).collect();
        assert_eq!(pruned.iter().map(|one| (one.lines.0, one.levels)).collect::<Vec<_>>(), [(6, 1)]);
        assert_eq!((file.functions[pruned[0].function].name.as_str(), pruned[0].changed), ("g", false));
        assert!(state.chain(pruned[0].link).len() > pruned[0].pruned.as_ref().unwrap().cut);
        let kept: Vec<_> = file.statements.iter().filter(|one| one.levels == 2).map(|one| one.lines.0).collect();
        assert_eq!(kept, [10]);
    }

    #[test]
    fn chains_share_their_beginnings() {
        let state = ImpactState::new(&report("shop.py", OLD, NEW));
        let ends: Vec<_> = state.reached[0].statements.iter().filter_map(|one| one.link).collect();
        let starts: Vec<_> = ends.iter().map(|end| state.chain(Some(*end))[0].clone()).collect();
        assert!(starts.len() == 3 && starts.iter().all(|one| one.from.is_none() && *one == starts[0]), "{starts:?}");
    }

    #[test]
    fn where_there_is_no_room_the_lines_of_statements_are_left() {
        let found = report("shop.py", OLD, NEW);
        let statements: Vec<_> = found.impact.statements.iter().filter(|one| one.state != State::NotImpacted).collect();
        let mut room = 10;
        let numbers: Vec<u32> = lines(NEW, &statements, &mut room).iter().map(|line| line.number).collect();
        assert_eq!(numbers, [2, 6, 7, 8]);
    }
}
