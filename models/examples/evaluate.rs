//! How often is the likeliest class the true one? Measures a predictor on traced functions.
//!
//! `evaluate PREDICTOR [ONNXRUNTIME_LIBRARY] [float32] < TRACES`, where TRACES has one JSON object a line: `text`, and `sites` with
//! `start`, `end` in characters, `kind`, and `counts` of the observed classes by number. Prints top-1, top-3 and top-5
//! over all sites; a site's true class is its most frequent one. The embedded network is calculated in int8 on a processor, unless
//! `float32` is asked for.

use std::collections::BTreeMap;
use std::error::Error;
use std::io::BufRead;

use serde::Deserialize;

use twincell_models::{ModelOptions, load};
use twincell_syntax::site::{Site, SiteKind};
use twincell_values::predictor::FunctionSites;

#[derive(Deserialize)]
struct Traced {
    text: String,
    sites: Vec<TracedSite>,
}

#[derive(Deserialize)]
struct TracedSite {
    start: usize,
    end: usize,
    kind: SiteKind,
    counts: BTreeMap<usize, u64>,
}

/// The identifier looked up, found without parsing: good enough to count with.
fn identifier(expression: &str, kind: SiteKind) -> String {
    let expression = match kind {
        SiteKind::Name | SiteKind::Attribute => expression,
        SiteKind::Call => before_bracket(expression, '(', ')'),
        SiteKind::Subscript => before_bracket(expression, '[', ']'),
    };
    expression.rsplit(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default().to_owned()
}

/// What stands before the bracket that closes at the end.
fn before_bracket(expression: &str, open: char, close: char) -> &str {
    let mut depth = 0;
    for (index, character) in expression.char_indices().rev() {
        if character == close {
            depth += 1;
        } else if character == open {
            depth -= 1;
            if depth == 0 {
                return expression[..index].trim_end();
            }
        }
    }
    ""
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let kind = arguments.next().unwrap_or_else(|| "neural".to_owned()).parse()?;
    let (exact, library): (Vec<String>, Vec<String>) = arguments.partition(|argument| argument == "float32");
    let onnxruntime_library = library.first().map(Into::into);
    let options = ModelOptions { kind, onnxruntime_library, allow_int8: exact.is_empty(), ..ModelOptions::default() };
    let predictor = load(&options)?;
    println!("{}", predictor.describe());

    let (mut functions, mut total, mut hits) = (0u64, 0u64, [0u64; 12]);
    for line in std::io::stdin().lock().lines() {
        let traced: Traced = serde_json::from_str(&line?)?;
        let offsets: Vec<usize> = traced.text.char_indices().map(|(byte, _)| byte).chain([traced.text.len()]).collect();
        let sites: Vec<Site> = traced
            .sites
            .iter()
            .map(|site| {
                let (start, end) = (offsets[site.start], offsets[site.end]);
                let path = traced.text[start..end].to_owned();
                Site {
                    kind: site.kind,
                    start: start as u32,
                    end: end as u32,
                    line: 1,
                    identifier: identifier(&path, site.kind),
                    path,
                    catches: Vec::new(),
                    discarded: false,
                }
            })
            .collect();
        let predicted = predictor.predict(&[FunctionSites { text: &traced.text, sites: &sites }])?.remove(0);
        for (distribution, site) in predicted.iter().zip(&traced.sites) {
            // The first of equals, as argmax has it.
            let Some((&truth, _)) = site.counts.iter().rev().max_by_key(|(_, count)| **count) else { continue };
            let before = |class: usize| {
                distribution[class] > distribution[truth] || distribution[class] == distribution[truth] && class < truth
            };
            let rank = (0..distribution.len()).filter(|&class| before(class)).count();
            hits[rank] += 1;
            total += 1;
        }
        functions += 1;
    }
    let top = |count: usize| 100.0 * hits[..count].iter().sum::<u64>() as f64 / total.max(1) as f64;
    println!("{functions} functions, {total} sites: top-1 {:.1}, top-3 {:.1}, top-5 {:.1}", top(1), top(3), top(5));
    Ok(())
}
