//! The generator that asks a language model (Treefix, Algorithm 1): for prefixes from what is undefined, for better ones
//! where they end in an error, and for other ones where lines are left.

use std::collections::BTreeSet;
use std::rc::Rc;

use twincell_engine::protocol::End;
use twincell_syntax::site::SiteKind;

use super::{Generator, Tree, TreePlace, prompt};
use crate::answer;
use crate::lessons::Lessons;
use crate::result::{Guidance, Origin};
use crate::{Continue, PrefixError};
use twincell_values::language_model::{
    Answers, LanguageModel, Message, NoAnswer, Question, Role, SHORTEST_ANSWER, tokens_of,
};

/// The maximum number of tokens of one answer.
const LONGEST: u64 = 4096;
/// The maximum number of bytes of an answer that stays in the conversation.
const KEPT: usize = 20_000;

/// Asks a language model.
pub(super) struct Asking<'a> {
    pub(super) model: &'a dyn LanguageModel,
    /// Only for the lines that are left.
    pub(super) is_second: bool,
}

/// Why no more is asked.
enum Ended {
    Stopped,
    /// One line for people.
    Failed(String),
    Prefix(PrefixError),
}

impl From<PrefixError> for Ended {
    fn from(error: PrefixError) -> Self {
        Self::Prefix(error)
    }
}

impl Generator for Asking<'_> {
    fn grow(&mut self, tree: &mut Tree<'_>) -> Result<(), PrefixError> {
        match self.ask_all(tree) {
            Ok(()) => Ok(()),
            Err(Ended::Stopped) => {
                tree.is_stopped = true;
                Ok(())
            }
            // What was found counts.
            Err(Ended::Failed(problem)) => {
                tree.problem = Some(problem);
                Ok(())
            }
            Err(Ended::Prefix(error)) => Err(error),
        }
    }
}

impl Asking<'_> {
    fn ask_all(&self, tree: &mut Tree<'_>) -> Result<(), Ended> {
        if !self.is_second {
            self.ask_for_undefined(tree)?;
        }
        for _ in 0..tree.options.rounds() {
            if tree.is_done() {
                break;
            }
            let parent = (0..tree.nodes.len())
                .max_by_key(|&number| (tree.nodes[number].completed.len(), std::cmp::Reverse(number)));
            let left: BTreeSet<u32> = tree.lines.iter().copied().filter(|line| !tree.covered.contains(line)).collect();
            let best = parent.map_or("", |number| tree.nodes[number].text.as_str());
            let conversation = [user(prompt::coverage(tree.reading.text(), best, &left))];
            for answer in self.ask(tree, &conversation)? {
                self.add(tree, parent, Guidance::Coverage, &answer)?;
                if tree.is_done() {
                    break;
                }
            }
        }
        Ok(())
    }

    /// The first two steps. The second keeps the conversation that led to the error.
    fn ask_for_undefined(&self, tree: &mut Tree<'_>) -> Result<(), Ended> {
        let first = user(prompt::undefinedness(tree.reading.text(), &tree.reading.undefined, &attributes(tree)));
        let mut added = Vec::new();
        for answer in self.ask(tree, std::slice::from_ref(&first))? {
            if let Some(number) = self.add(tree, None, Guidance::Undefinedness, &answer)? {
                added.push((number, answer));
            }
            if tree.is_done() {
                return Ok(());
            }
        }
        if !tree.options.techniques.errors {
            return Ok(());
        }
        for (number, answer) in added {
            let End::Raised(raise) = &tree.nodes[number].end else { continue };
            if raise.intended {
                continue;
            }
            let error = user(prompt::error(tree.reading.text(), raise));
            let answered = Message { role: Role::Assistant, text: cut(&answer) };
            for answer in self.ask(tree, &[first.clone(), answered, error])? {
                self.add(tree, Some(number), Guidance::Error, &answer)?;
                if tree.is_done() {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Asks for as many answers as a step wants, within the budget.
    fn ask(&self, tree: &mut Tree<'_>, conversation: &[Message]) -> Result<Vec<String>, Ended> {
        let budget = tree.options.tokens;
        let asked = tokens_of(conversation.iter().map(|message| message.text.as_str()));
        let count = u64::from(tree.options.width.max(1));
        let left = budget.saturating_sub(tree.tokens);
        let length = (left.saturating_sub(asked) / count).min(LONGEST);
        if length < SHORTEST_ANSWER {
            return Err(Ended::Failed(format!(
                "the language model has used {} of {budget} tokens, and the next question needs more: raise --budget-tokens",
                tree.tokens
            )));
        }
        let seed = tree.options.seed.wrapping_add(tree.asked);
        tree.asked += 1;
        let question = Question { conversation, count: tree.options.width.max(1), length, left, seed };
        let (progress, until) = (tree.progress_now(), tree.until);
        let watch = &mut tree.progress;
        let mut goes_on = || watch(progress) == Continue::Yes && std::time::Instant::now() < until;
        let Answers { mut texts, tokens, ended } = self.model.answer(&question, &mut goes_on);
        tree.tokens = tree.tokens.saturating_add(tokens);
        match ended {
            Some(NoAnswer::Stopped) => Err(Ended::Stopped),
            Some(NoAnswer::Failed(problem)) if texts.is_empty() => Err(Ended::Failed(problem)),
            // The earlier answers count.
            _ => {
                texts.truncate(count as usize);
                Ok(texts)
            }
        }
    }

    /// Tries the prefix in an answer, if there is one.
    fn add(
        &self,
        tree: &mut Tree<'_>,
        parent: Option<usize>,
        guidance: Guidance,
        answer: &str,
    ) -> Result<Option<usize>, Ended> {
        let Some(code) = answer::code(answer) else { return Ok(None) };
        let place = TreePlace { parent, guidance, origin: Origin::Llm, is_new: false };
        Ok(tree.add_code(place, code, Rc::default(), Lessons::default())?)
    }
}

fn user(text: String) -> Message {
    Message { role: Role::User, text }
}

fn cut(text: &str) -> String {
    text[..text.floor_char_boundary(KEPT)].to_owned()
}

/// The attributes and methods of undefined names that the code uses.
fn attributes(tree: &Tree<'_>) -> BTreeSet<String> {
    let is_of_undefined = |path: &&str| {
        let root = path.split('.').next().unwrap_or_default();
        tree.reading.undefined.iter().any(|name| name == root) && !path.contains(['(', '['])
    };
    let sites = tree.instrumented.sites.sites.iter().filter(|site| site.kind == SiteKind::Attribute);
    sites.map(|site| site.path.as_str()).filter(is_of_undefined).map(str::to_owned).collect()
}
