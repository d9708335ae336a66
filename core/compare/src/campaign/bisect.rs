//! The least value that still shows a difference: of numbers by bisection, of texts by leaving parts out. Only the last one is
//! confirmed, which takes many times as long as one execution.

use std::collections::BTreeSet;

use twincell_behavior::{Channel, Rules};
use twincell_engine::EngineError;
use twincell_values::value::{Choice, Decision, Recipe};

use super::shrink::{LOST, changed, differing};
use super::{Execute, TestCase};
use crate::Continue;

/// Numbers up to this one stay: they are as plain as smaller ones, and often the code's own.
const PLAIN: u64 = 12;
/// The maximum number of executions for one text.
const TEXT: u32 = 32;
/// The maximum length of a text of which parts are left out, in characters.
const CHARACTERS: usize = 64;

/// What a search may use.
pub(super) struct Search<'a> {
    pub execute: &'a mut dyn Execute,
    pub channels: &'a BTreeSet<Channel>,
    pub rules: &'a Rules,
    /// The number of executions that are left, and of those that were lost.
    pub left: &'a mut u32,
    pub lost: &'a mut u32,
    pub go_on: &'a mut dyn FnMut() -> Continue,
}

impl Search<'_> {
    /// The witness with the least value in place of this one; none if it is the least one already.
    pub(super) fn least(&mut self, witness: &TestCase, choice: &Choice) -> Result<Option<TestCase>, EngineError> {
        let Decision::Value(recipe) = &choice.decision else { return Ok(None) };
        if witness.is_given(&choice.path) {
            return Ok(None);
        }
        let least = match recipe {
            Recipe::Int(number) if number.unsigned_abs() > PLAIN => Recipe::Int(self.number(witness, choice, *number)?),
            Recipe::Str(text) if text.chars().count() <= CHARACTERS => Recipe::Str(self.text(witness, choice, text)?),
            _ => return Ok(None),
        };
        if least == *recipe {
            return Ok(None);
        }
        let decisions = vec![(choice.path.clone(), Decision::Value(least))];
        changed(self.execute, witness, decisions, self.channels, self.rules, self.lost)
    }

    /// Between zero, which does not show it, and the number, which does.
    fn number(&mut self, witness: &TestCase, choice: &Choice, number: i64) -> Result<i64, EngineError> {
        let (mut without, mut with) = (0_i64, number);
        while without.abs_diff(with) > 1 {
            let between = without + (with - without) / 2;
            match self.shows(witness, choice, Recipe::Int(between))? {
                Some(true) => with = between,
                Some(false) => without = between,
                None => break,
            }
        }
        Ok(with)
    }

    /// Halves are left out first, single characters last. Of what is left, as much as possible becomes a letter.
    fn text(&mut self, witness: &TestCase, choice: &Choice, text: &str) -> Result<String, EngineError> {
        let mut best: Vec<char> = text.chars().collect();
        let mut size = best.len() / 2;
        let mut tries = TEXT;
        while size > 0 {
            let mut at = 0;
            while at + size <= best.len() && best.len() > size {
                if tries == 0 {
                    return Ok(best.into_iter().collect());
                }
                tries -= 1;
                let shorter = [&best[..at], &best[at + size..]].concat();
                match self.shows(witness, choice, Recipe::Str(shorter.iter().collect()))? {
                    Some(true) => best = shorter,
                    Some(false) => at += size,
                    None => return Ok(best.into_iter().collect()),
                }
            }
            size /= 2;
        }
        for at in 0..best.len() {
            if tries == 0 || best[at].is_ascii_lowercase() {
                continue;
            }
            tries -= 1;
            let mut usual = best.clone();
            usual[at] = 'a';
            match self.shows(witness, choice, Recipe::Str(usual.iter().collect()))? {
                Some(true) => best = usual,
                Some(false) => {}
                None => break,
            }
        }
        Ok(best.into_iter().collect())
    }

    /// Whether it has to end.
    pub(super) fn is_over(&mut self) -> bool {
        *self.left == 0 || *self.lost >= LOST || (self.go_on)() == Continue::Stop
    }

    /// Whether the versions differ with another value; none when the search has to end.
    fn shows(&mut self, witness: &TestCase, choice: &Choice, value: Recipe) -> Result<Option<bool>, EngineError> {
        if self.is_over() {
            return Ok(None);
        }
        *self.left -= 1;
        let decisions = vec![(choice.path.clone(), Decision::Value(value))];
        let record = differing(self.execute, witness, decisions, self.channels, self.rules, self.lost)?;
        Ok(Some(record.is_some_and(|record| record.invented() <= witness.record.invented())))
    }
}
