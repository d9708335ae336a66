//! A version with its companions as one text: where each part starts, and what differs in it.

use twincell_syntax::{Diff, Function, PerSide, Side};

use super::VersionParts;
use crate::report::{PartReport, PartText};

pub(super) fn line_count(part: &Function) -> u32 {
    part.text.lines().count() as u32
}

/// The number of lines before each part, where all stand in one text.
fn starts(parts: &[Function]) -> impl Iterator<Item = u32> {
    parts.iter().scan(0, |lines, part| {
        let start = *lines;
        *lines += line_count(part);
        Some(start)
    })
}

/// The parts behind the function. Of the text that holds them, `before` lines are those of earlier cells.
pub(super) fn listed(parts: &[Function], modules: &[Option<String>], before: u32) -> Vec<PartReport> {
    let part = |((part, module), start): ((&Function, &Option<String>), u32)| {
        let (text, first_line) = match module {
            Some(module) => (PartText::Module(module.clone()), part.first_line),
            None if part.first_line > before => (PartText::Own, part.first_line - before),
            None => (PartText::EarlierCells, 1),
        };
        PartReport { number: start + 1, first_line, text }
    };
    parts.iter().zip(modules).zip(starts(parts)).skip(1).map(part).collect()
}

/// All parts as one text, under the name of the first.
pub(super) fn whole(parts: &[Function]) -> Function {
    let mut shown = parts[0].clone();
    shown.text = parts.iter().map(|part| part.text.as_str()).collect();
    shown
}

/// The difference of the functions and their companions, in lines of the whole texts.
pub(super) fn whole_diff(versions: &PerSide<VersionParts>, own: Diff, shown: &PerSide<Function>) -> Diff {
    if versions.iter().all(|version| version.parts.len() == 1) {
        return own;
    }
    let mut diff = own;
    for side in Side::BOTH {
        let others = &versions[side.other()].parts;
        let parts = &versions[side].parts;
        for (part, start) in parts.iter().zip(starts(parts)).skip(1) {
            let lines: Vec<u32> = match others.iter().skip(1).find(|twin| twin.qualname == part.qualname) {
                Some(twin) if side == Side::Old => twincell_syntax::diff(part, twin).lines.old,
                Some(twin) => twincell_syntax::diff(twin, part).lines.new,
                None => (1..=line_count(part)).collect(),
            };
            diff.lines[side].extend(lines.into_iter().map(|line| line + start));
        }
    }
    diff.rows = twincell_syntax::rows(&shown.old.text, &shown.new.text);
    diff
}
