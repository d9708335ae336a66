//! Texts that a regular expression finds.

use regex_syntax::hir::{Class, Hir, HirKind};

/// Repetitions of a pattern's part beyond what it asks for at least.
const MAX_SAMPLE: usize = 300;

/// Texts that a pattern of Python's `re` finds, as far as the two dialects agree; or texts that it does not.
pub(in super::super) fn matching(pattern: &str, wanted: bool) -> Vec<String> {
    if !wanted {
        return vec!["~".into(), String::new()];
    }
    let pattern = pattern.replace(r"\Z", r"\z");
    let Ok(tree) = regex_syntax::ParserBuilder::new().utf8(true).build().parse(&pattern) else { return vec![] };
    let mut found: Vec<String> = Vec::new();
    for variant in 0..3 {
        let mut text = String::new();
        sample(&tree, variant, &mut text);
        if text.len() <= MAX_SAMPLE && !found.contains(&text) {
            found.push(text);
        }
    }
    found
}

/// Appends one text that the pattern takes; variants choose other branches and repeat more often.
fn sample(pattern: &Hir, variant: usize, out: &mut String) {
    if out.len() > MAX_SAMPLE {
        return;
    }
    match pattern.kind() {
        HirKind::Empty | HirKind::Look(_) => {}
        HirKind::Literal(literal) => out.push_str(&String::from_utf8_lossy(&literal.0)),
        HirKind::Class(Class::Unicode(class)) => {
            // A letter or digit where it may be one.
            let common = ['a', '1', 'A', ' ', '_', '-', '.', '/'];
            let inside = |c: &char| class.iter().any(|range| range.start() <= *c && *c <= range.end());
            let choice = common.iter().copied().filter(inside).nth(variant % 2);
            let choice = choice.or_else(|| common.iter().copied().find(inside));
            out.extend(choice.or_else(|| class.iter().next().map(|range| range.start())));
        }
        HirKind::Class(Class::Bytes(class)) => {
            out.extend(class.iter().next().map(|range| char::from(range.start())));
        }
        HirKind::Repetition(repetition) => {
            let most = repetition.max.unwrap_or(u32::MAX);
            let times = (repetition.min.max(u32::from(variant > 0)) + u32::from(variant > 1)).min(most);
            for _ in 0..times.min(MAX_SAMPLE as u32) {
                sample(&repetition.sub, variant, out);
            }
        }
        HirKind::Capture(capture) => sample(&capture.sub, variant, out),
        HirKind::Concat(parts) => parts.iter().for_each(|part| sample(part, variant, out)),
        HirKind::Alternation(parts) => {
            if let Some(part) = parts.get(variant % parts.len().max(1)) {
                sample(part, variant, out);
            }
        }
    }
}
