//! The prefixes that people see, written as a person would have: without needless mocks, values and statements, and with
//! natural values. Each change is tried by a plain run, and stays if the snippet does the same behind it.

use std::collections::BTreeSet;
use std::rc::Rc;

use twincell_engine::EngineError;
use twincell_engine::protocol::End;
use twincell_sketch::environment::Node;
use twincell_sketch::natural;
use twincell_values::path::Question;
use twincell_values::value::{Choice, Decision, Recipe};

use super::{Grown, Seed, Tree};
use crate::answers;
use crate::code::Code;
use crate::flags::is_flag;
use crate::lessons::Lessons;
use crate::render::render;
use crate::result::Prefixes;
use crate::signatures::function_at;
use crate::{Continue, PrefixError};

/// The maximum number of decisions that are tried to be left out of a prefix.
const TIDIED: usize = 60;
/// The maximum number of functions whose parameters are tried one by one.
const SIGNATURES: usize = 40;
/// The maximum number of runs for a prefix.
const TRIALS: u32 = 300;

/// Whether two runs ended for the same reason at the same place.
fn is_alike(one: &End, other: &End) -> bool {
    // With which status the snippet leaves does not matter.
    let leaves = |end: &End| match end {
        End::Raised(raise) => raise.intended && raise.class == "SystemExit",
        end => *end == End::Whole,
    };
    match (one, other) {
        (one, other) if leaves(one) && leaves(other) => true,
        (End::Raised(one), End::Raised(other)) => {
            (&one.class, one.line, one.in_snippet) == (&other.class, other.line, other.in_snippet)
        }
        (one, other) => std::mem::discriminant(one) == std::mem::discriminant(other),
    }
}

/// The paths of results of which nothing is asked.
fn unused_results(node: &Node, paths: &mut Vec<String>) {
    let is_plain = |result: &Node| result.attributes.is_empty() && result.value != Some(Recipe::None);
    let unused = node.calls.iter().filter(|(_, result)| result.is_unused && is_plain(result));
    paths.extend(unused.map(|(_, result)| result.path.clone()));
    node.attributes.iter().chain(&node.items).chain(&node.calls).for_each(|(_, inner)| unused_results(inner, paths));
}

/// The paths of plain values that are only tested.
fn flags(node: &Node, names: &BTreeSet<String>, paths: &mut Vec<String>) {
    let is_plain = node.attributes.is_empty() && node.items.is_empty() && node.calls.is_empty();
    let is_flag = is_flag(&node.path, names);
    if is_plain && is_flag && !matches!(node.value, Some(Recipe::Bool(_) | Recipe::None)) {
        paths.push(node.path.clone());
    }
    node.attributes.iter().chain(&node.items).chain(&node.calls).for_each(|(_, inner)| flags(inner, names, paths));
}

impl Tree<'_> {
    /// Rewrites the prefixes that people see. Where it is stopped, they stay as they are.
    pub(super) fn tidy(&mut self) -> Result<(), PrefixError> {
        let mut tidied = BTreeSet::new();
        // Shorter ones may be chosen in place of others.
        loop {
            let found = Prefixes::new(vec![], self.lines.clone(), self.nodes.clone(), false);
            let waiting: Vec<usize> = found.kept().into_iter().filter(|&number| tidied.insert(number)).collect();
            if waiting.is_empty() {
                return Ok(());
            }
            for number in waiting {
                // Each trial would take as long.
                if matches!(self.nodes[number].end, End::Time | End::Lost { .. }) {
                    continue;
                }
                self.trials = TRIALS;
                match self.tidy_node(number) {
                    Err(PrefixError::Engine(EngineError::Stopped)) => return Ok(()),
                    tidied => tidied?,
                }
            }
        }
    }

    fn tidy_node(&mut self, number: usize) -> Result<(), PrefixError> {
        self.with_signatures(number)?;
        self.with_plain_modules(number)?;
        self.without_mocks(number)?;
        self.without_choices(number)?;
        self.without_sketched(number)?;
        self.without_results(number)?;
        self.without_answers(number)?;
        self.with_flags(number)?;
        self.without_odd_parts(number)?;
        self.with_natural_values(number)?;
        // Parts, from the end, since what comes later may need what comes before.
        let mut part = self.grown[number].code.len();
        while part > 0 {
            part -= 1;
            if !self.grown[number].code.is_kept(part) {
                let code = self.grown[number].code.without(part);
                self.replace(number, code)?;
            }
        }
        Ok(())
    }

    /// Functions with the parameters that the snippet gives them: all, or else one by one.
    fn with_signatures(&mut self, number: usize) -> Result<(), PrefixError> {
        let functions: BTreeSet<String> = self.reading.signatures.functions().cloned().collect();
        let all = |_: &mut Vec<Choice>, lessons: &mut Lessons| lessons.signatures.extend(functions.iter().cloned());
        if self.rewrite(number, all)? {
            return Ok(());
        }
        for function in functions.into_iter().take(SIGNATURES) {
            self.rewrite(number, |_, lessons| {
                lessons.signatures.insert(function);
            })?;
        }
        Ok(())
    }

    /// Modules with what the snippet takes from them: all, or else one by one.
    fn with_plain_modules(&mut self, number: usize) -> Result<(), PrefixError> {
        let modules = self.grown[number].lessons.common.modules.clone();
        let all = |_: &mut Vec<Choice>, lessons: &mut Lessons| lessons.plain_modules.extend(modules.iter().cloned());
        if modules.is_empty() || self.rewrite(number, all)? || modules.len() == 1 {
            return Ok(());
        }
        for module in modules {
            self.rewrite(number, |_, lessons| {
                lessons.plain_modules.insert(module);
            })?;
        }
        Ok(())
    }

    /// Objects that need not be mocks.
    fn without_mocks(&mut self, number: usize) -> Result<(), PrefixError> {
        for path in self.grown[number].lessons.mocked.clone() {
            self.rewrite(number, |_, lessons| {
                lessons.mocked.remove(&path);
            })?;
        }
        Ok(())
    }

    /// What the execution found and the snippet does not need.
    fn without_choices(&mut self, number: usize) -> Result<(), PrefixError> {
        let count = self.grown[number].seed.choices.len();
        // From the end, so that those before keep their places.
        for choice in (count.saturating_sub(TIDIED)..count).rev() {
            self.rewrite(number, |choices, _| drop(choices.remove(choice)))?;
        }
        Ok(())
    }

    /// What the text speaks of and the snippet does not come to.
    fn without_sketched(&mut self, number: usize) -> Result<(), PrefixError> {
        let Some(sketched) = self.grown[number].seed.sketched.clone() else { return Ok(()) };
        let mut waiting: Vec<&Node> = sketched.names.iter().map(|(_, node)| node).collect();
        let mut left = TIDIED;
        while let Some(node) = waiting.pop() {
            // The last rows first, so that the others keep their places.
            for (_, row) in node.items.iter().rev().take_while(|_| node.last_row().is_some()) {
                let is_gone = left > 0
                    && self.rewrite(number, |_, lessons| {
                        lessons.pruned.insert(row.path.clone());
                    })?;
                left = left.saturating_sub(1);
                if !is_gone {
                    break;
                }
            }
            for (_, inner) in node.attributes.iter().chain(&node.items).chain(&node.calls) {
                let may_go = left > 0 && node.attributes.iter().any(|(_, attribute)| std::ptr::eq(attribute, inner));
                left -= usize::from(may_go);
                let is_gone = may_go
                    && self.rewrite(number, |_, lessons| {
                        lessons.pruned.insert(inner.path.clone());
                    })?;
                if !is_gone {
                    waiting.push(inner);
                }
            }
        }
        Ok(())
    }

    /// Answers to `input()` that nothing asks for.
    fn without_answers(&mut self, number: usize) -> Result<(), PrefixError> {
        if self.grown[number].lessons.scene.answers.is_none() {
            return Ok(());
        }
        let answers = answers::asked_for(self.reading);
        for answer in answers.into_iter().rev() {
            self.rewrite(number, |_, lessons| {
                lessons.unanswered.insert(answer);
            })?;
        }
        Ok(())
    }

    /// Results of functions that nothing looks at.
    fn without_results(&mut self, number: usize) -> Result<(), PrefixError> {
        let Some(sketched) = &self.grown[number].seed.sketched else { return Ok(()) };
        let mut paths = Vec::new();
        sketched.names.iter().for_each(|(_, node)| unused_results(node, &mut paths));
        paths
            .retain(|path| function_at(path).strip_suffix("()").is_some_and(|it| !self.reading.signatures.is_used(it)));
        for path in paths.into_iter().take(TIDIED) {
            let choice = Choice { path, decision: Decision::Value(Recipe::None) };
            self.rewrite(number, |choices, _| choices.push(choice))?;
        }
        Ok(())
    }

    /// Truth values where nothing else is asked.
    fn with_flags(&mut self, number: usize) -> Result<(), PrefixError> {
        let mut paths = Vec::new();
        let named = &self.grown[number].seed.environment.names;
        named.iter().for_each(|(_, node)| flags(node, &self.reading.flags, &mut paths));
        for path in paths.into_iter().take(TIDIED) {
            for truth in [true, false] {
                let choice = Choice { path: path.clone(), decision: Decision::Value(Recipe::Bool(truth)) };
                if self.rewrite(number, |choices, _| choices.push(choice))? {
                    break;
                }
            }
        }
        Ok(())
    }

    /// Parts of values that no person would have written, wherever they stand.
    fn without_odd_parts(&mut self, number: usize) -> Result<(), PrefixError> {
        let mut parts: Vec<(Recipe, String)> = Vec::new();
        for choice in &self.grown[number].seed.choices {
            let (Question::Value(at), Decision::Value(value)) = (Question::parse(&choice.path), &choice.decision)
            else {
                continue;
            };
            let mut found = Vec::new();
            natural::odd_parts(value, &mut found);
            // A whole value is a part if another one contains it.
            let is_contained = natural::is_odd_text(value)
                && self.grown[number].seed.choices.iter().any(|other| match (&other.decision, value) {
                    (Decision::Value(Recipe::Str(whole)), Recipe::Str(text)) => whole != text && whole.contains(text),
                    _ => false,
                });
            for part in found.into_iter().filter(|part| is_contained || *part != value) {
                if parts.iter().all(|(known, _)| known != part) {
                    parts.push((part.clone(), natural::singular(at.before_brackets().last_word())));
                }
            }
        }
        for (part, name) in parts.into_iter().take(TIDIED) {
            let other = Recipe::Str(name.to_lowercase());
            // Keys stand in paths, too.
            let (before, after) = (format!("[{}]", part.display()), format!("[{}]", other.display()));
            self.rewrite(number, |choices, _| {
                for choice in choices {
                    choice.path = choice.path.replace(&before, &after);
                    if let Decision::Value(value) = &mut choice.decision {
                        *value = natural::with_part(value, &part, &other);
                    }
                }
            })?;
        }
        Ok(())
    }

    /// A name of a class as one. Says whether it is.
    fn with_class(&mut self, number: usize, name: &str) -> Result<bool, PrefixError> {
        self.rewrite(number, |_, lessons| {
            lessons.classes.insert(name.to_owned());
        })
    }

    /// Values that a person would have written.
    fn with_natural_values(&mut self, number: usize) -> Result<(), PrefixError> {
        let named = &self.grown[number].seed.environment.names;
        let of_classes = named.iter().map(|(name, _)| name).filter(|name| natural::is_of_class(name));
        for name in of_classes.cloned().collect::<Vec<_>>() {
            self.with_class(number, &name)?;
        }
        for choice in 0..self.grown[number].seed.choices.len().min(TIDIED) {
            let Choice { path, decision } = self.grown[number].seed.choices[choice].clone();
            let (Question::Value(at), Decision::Value(value)) = (Question::parse(&path), decision) else { continue };
            let name = at.before_brackets().last_word().to_owned();
            if path.ends_with(')') && value == Recipe::None {
                continue;
            }
            let name = if path.ends_with(')') { natural::result(&name) } else { name };
            if natural::is_of_class(&name) && name == path && self.with_class(number, &name)? {
                continue;
            }
            let mut value = value;
            while let Some(other) = self.more_natural(number, choice, &value, &name)? {
                value = other;
            }
        }
        for name in self.grown[number].lessons.common.names.clone() {
            let environment = &self.grown[number].seed.environment;
            if self.reading.types.contains(&name) || environment.names.iter().any(|(known, _)| *known == name) {
                continue;
            }
            for value in natural::instead_of(None, &name) {
                let choice = Choice { path: name.clone(), decision: Decision::Value(value) };
                if self.rewrite(number, |choices, _| choices.push(choice))? {
                    break;
                }
            }
        }
        Ok(())
    }

    /// A value in place of another one that a choice has, if the snippet does the same with it. Values become smaller, or
    /// what their names promise, so that this ends.
    fn more_natural(
        &mut self,
        number: usize,
        choice: usize,
        value: &Recipe,
        name: &str,
    ) -> Result<Option<Recipe>, PrefixError> {
        let promised = natural::promised(name);
        if promised.as_ref() == Some(value) {
            return Ok(None);
        }
        for other in natural::instead_of(Some(value), name) {
            let change = |choices: &mut Vec<Choice>, _: &mut Lessons| {
                choices[choice].decision = Decision::Value(other.clone());
            };
            if self.rewrite(number, change)? {
                return Ok(Some(other));
            }
        }
        Ok(None)
    }

    /// Writes a prefix in another way if that needs no more mocks and the snippet does the same behind it. Says whether.
    fn rewrite(
        &mut self,
        number: usize,
        change: impl FnOnce(&mut Vec<Choice>, &mut Lessons),
    ) -> Result<bool, PrefixError> {
        let Grown { seed, lessons, code } = &self.grown[number];
        let (mut choices, mut lessons) = (seed.choices.clone(), lessons.clone());
        change(&mut choices, &mut lessons);
        let seed = Rc::new(Seed::new(seed.sketched.clone(), choices));
        let other = render(&seed.environment, self.reading, &lessons);
        let is_taken = other == *code || other.mocks() <= code.mocks() && self.replace(number, other)?;
        if is_taken {
            (self.grown[number].seed, self.grown[number].lessons) = (seed, lessons);
        }
        Ok(is_taken)
    }

    /// Takes other code for a prefix if the snippet does the same behind it. Says whether.
    fn replace(&mut self, number: usize, code: Code) -> Result<bool, PrefixError> {
        if self.trials == 0 || !self.goes_on() {
            return Ok(false);
        }
        self.trials -= 1;
        let text = code.text();
        let mut ran = self.run(&text)?;
        ran.completed.retain(|line| self.lines.binary_search(line).is_ok());
        let node = &mut self.nodes[number];
        let is_same = ran.completed == node.completed && is_alike(&ran.end, &node.end);
        if is_same {
            node.makes = code.makes();
            (node.text, node.end) = (text, ran.end);
            self.grown[number].code = code;
        }
        Ok(is_same)
    }

    /// Whether nobody has asked to stop. What was found before then is whole.
    fn goes_on(&mut self) -> bool {
        let progress = self.progress_now();
        !self.is_stopped && (self.progress)(progress) == Continue::Yes
    }
}
