//! Small programs, requests, records and reports for tests. No part of the product.

pub mod executions;
pub mod notices;

use twincell_compare::report::{
    Comparison, DecidedBy, FORMAT, LineReport, PairFacts, PairReport, Reason, VersionReport,
};
use twincell_compare::verdict::Verdict;

/// A comparison of these pairs; its verdict is the worst of theirs.
pub fn comparison(pairs: Vec<PairReport>) -> Comparison {
    Comparison {
        format: FORMAT,
        twincell: "0".to_owned(),
        verdict: Verdict::worst(pairs.iter().map(|pair| pair.verdict)),
        verdict_of_pairs: Verdict::worst(pairs.iter().map(|pair| pair.verdict)),
        pairs,
        added: Vec::new(),
        removed: Vec::new(),
        cells_left_out: Vec::new(),
        predictor: "none".to_owned(),
        seed: 0,
        budget: 1,
        sandbox: None,
        milliseconds: 0.0,
    }
}

pub fn pair(verdict: Verdict) -> PairReport {
    let version = || VersionReport {
        qualname: "f".to_owned(),
        first_line: 1,
        parts: Vec::new(),
        lines: Vec::new(),
        coverage: 0.0,
        changed_lines: 0,
        changed_lines_reached: 0,
        branches: Vec::new(),
    };
    PairReport {
        verdict,
        reason: Reason::NotRun("a reason".to_owned()),
        headline: None,
        reached: None,
        stopped: None,
        evidence: Vec::new(),
        old: version(),
        new: version(),
        rows: Vec::new(),
        executed: 0,
        executions: Vec::new(),
        line_sets: Vec::new(),
        paths: Vec::new(),
        witness: None,
        shown_by: None,
        bound: None,
        cell: None,
        decided_by: DecidedBy::Itself,
        uses_changed: vec![],
        accepted: None,
        reproducer: None,
        lost: 0,
        isolation: Default::default(),
        stays_away: false,
        facts: PairFacts { name: "f".to_owned(), ..PairFacts::default() },
        suppressed: Vec::new(),
        predicted_by: String::new(),
        notes: Vec::new(),
        milliseconds: 0.0,
    }
}

pub fn line(number: u32, changed: bool, executable: bool, executions: u32) -> LineReport {
    LineReport { number, text: String::new(), changed, executable, executions, witness_hits: 0 }
}
