//! Loops: two heads are equal if a relation between the variables of both versions holds whenever both arrive there.
//!
//! At first nothing is taken to change, then what changes is taken to be equal where it was equal at the entry, and of the same
//! type. Each way around the loops that breaks this makes the relation weaker, until it holds.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;

use crate::frame::{Bound, Frame, Relation, Variable, bounded};
use crate::program::BlockId;
use crate::result::{Reason, Rule};
use crate::term::Term;
use crate::types::Type;
use crate::unify::{Bijection, objects, unify};
use crate::walk::{Joint, Stop, Walk};

/// How many loops may be open on one path, and how often a relation is made weaker.
const MAX_FRAMES: usize = 12;
const MAX_REFINED: usize = 80;

impl Walk<'_> {
    /// Both versions arrive at loops for the first time.
    pub fn enter_loop(&mut self, joint: Joint) -> Result<(), Stop> {
        if joint.frames.len() >= MAX_FRAMES {
            return Err(self.fail(&joint, Reason::Budget));
        }
        self.context.rules.insert(Rule::Loops);
        let index = joint.frames.len();
        let mut relation = Relation::default();
        for _ in 0..MAX_REFINED {
            let mut inner = joint.clone();
            let frame = self.generalize(&mut inner, &relation)?;
            inner.frames.push(frame);
            inner.sides.iter_mut().for_each(|side| side.crosses = true);
            self.relations.truncate(index);
            self.relations.push(relation);
            match self.run(inner) {
                Err(Stop::Refine(which)) if which == index => {
                    self.relations.truncate(index + 1);
                    relation = self.relations.pop().unwrap_or_default();
                }
                other => return other,
            }
        }
        Err(self.fail(&joint, Reason::Budget))
    }

    /// Puts a symbol in the place of each variable that changes, the same for those that are related.
    fn generalize(&mut self, joint: &mut Joint, relation: &Relation) -> Result<Frame, Stop> {
        let heads = [0, 1].map(|which| joint.sides[which].block);
        self.drop_dead(joint, heads);
        if !self.share_changing(joint, &relation.changing) {
            return Err(self.fail(joint, Reason::Aliases));
        }
        self.drop_dead(joint, heads);
        let variables = self.variables(joint, heads);
        let terms = &mut self.context.terms;
        let mut parts: BTreeMap<(Term, Vec<usize>), Vec<Variable>> = BTreeMap::new();
        for variable in variables.iter().filter(|variable| relation.changing.contains(variable)) {
            let Some(value) = variable.value(terms, &joint.sides) else { continue };
            let part = relation.parts.get(variable).cloned().unwrap_or_default();
            parts.entry((value, part)).or_default().push(*variable);
        }
        let mut frame_parts = BTreeMap::new();
        let mut bounds = BTreeMap::new();
        for (part, ((value, _), members)) in parts.into_iter().enumerate() {
            let entry = joint.sides[members[0].side()].class(terms, value);
            let class = members
                .iter()
                .filter_map(|variable| relation.classes.get(variable))
                .fold(entry, |class, other| class.join(other));
            let symbol = terms.symbol(class.clone());
            let bound = members.iter().map(|one| relation.bounds.get(one).copied().unwrap_or_default()).max();
            let bound = bound.unwrap_or_default();
            if class == Type::Int
                && let Some(condition) = bounded(terms, bound, symbol, value)
            {
                // The symbol is new, so this contradicts nothing and makes nothing equal.
                joint.facts.assume(terms, condition, true);
                members.iter().for_each(|variable| {
                    bounds.insert(*variable, (bound, value));
                });
            }
            for variable in members {
                variable.set(terms, &mut joint.sides, symbol);
                frame_parts.insert(variable, (part, class.clone()));
            }
        }
        let values =
            variables.iter().filter_map(|variable| Some((*variable, variable.value(terms, &joint.sides)?))).collect();
        Ok(Frame { heads, values, parts: frame_parts, bounds })
    }

    /// Both versions come back to the heads of loops: the relation must hold again.
    pub fn back(&mut self, mut joint: Joint, index: usize) -> Result<(), Stop> {
        let heads = joint.frames[index].heads;
        self.drop_dead(&mut joint, heads);
        let changing = self.relations[index].changing.clone();
        if !self.share_changing(&mut joint, &changing) {
            return Err(self.fail(&joint, Reason::Aliases));
        }
        let frame = joint.frames[index].clone();
        let terms = &mut self.context.terms;
        let mut memo = FxHashMap::default();
        let mut now: BTreeMap<Variable, (Term, Term)> = BTreeMap::new();
        for (variable, head) in &frame.values {
            let Some(value) = variable.value(terms, &joint.sides) else { continue };
            let value = terms.decided(value, &joint.facts, &mut memo);
            let head = terms.decided(*head, &joint.facts, &mut memo);
            now.insert(*variable, (head, value));
        }
        let relation = &mut self.relations[index];
        let more: Vec<Variable> = now
            .iter()
            .filter(|(variable, (head, value))| !changing.contains(variable) && head != value)
            .map(|(variable, _)| *variable)
            .collect();
        let class_of = |terms: &crate::term::Terms, variable: Variable, value: Term| {
            joint.sides[variable.side()].class(terms, value)
        };
        if !more.is_empty() {
            for variable in more {
                relation.changing.insert(variable);
                let class = class_of(terms, variable, now[&variable].1);
                relation.classes.insert(variable, class);
            }
            relation.parts.clear();
            return Err(Stop::Refine(index));
        }
        // Variables that were the same at the head are the same now.
        let mut groups: BTreeMap<usize, Vec<Term>> = BTreeMap::new();
        let mut weaker = false;
        for variable in &changing {
            let (Some((part, head_class)), Some((_, value))) = (frame.parts.get(variable), now.get(variable)) else {
                continue;
            };
            let group = groups.entry(*part).or_default();
            if !group.contains(value) {
                group.push(*value);
                weaker |= group.len() > 1;
            }
            let class = class_of(&self.context.terms, *variable, *value);
            if head_class.join(&class) != *head_class {
                weaker = true;
                let relation = &mut self.relations[index];
                let joined = relation.classes.get(variable).map_or(class.clone(), |known| known.join(&class));
                relation.classes.insert(*variable, joined);
            }
        }
        for (variable, (bound, limit)) in &frame.bounds {
            let Some((_, value)) = now.get(variable) else { continue };
            let terms = &mut self.context.terms;
            let holds = *terms.class(*value) == Type::Int
                && bounded(terms, *bound, *value, *limit)
                    .is_some_and(|condition| joint.facts.decide(terms, condition) == Some(true));
            if !holds {
                weaker = true;
                let next = if *bound == Bound::Above { Bound::Below } else { Bound::None };
                self.relations[index].bounds.insert(*variable, next);
            }
        }
        if !weaker {
            return Ok(());
        }
        for variable in &changing {
            let (Some((part, _)), Some((_, value))) = (frame.parts.get(variable), now.get(variable)) else { continue };
            let place = groups[part].iter().position(|one| one == value).unwrap_or_default();
            self.relations[index].parts.entry(*variable).or_default().push(place);
        }
        Err(Stop::Refine(index))
    }

    /// Forgets what is not read any more.
    fn drop_dead(&mut self, joint: &mut Joint, heads: [BlockId; 2]) {
        let unbound = self.context.terms.unbound();
        for (which, side) in joint.sides.iter_mut().enumerate() {
            let live = &self.programs[which].live[heads[which]];
            for (slot, value) in side.slots.iter_mut().enumerate() {
                if !live[slot] {
                    *value = unbound;
                }
            }
        }
    }

    /// Live variables, and the fields of the objects that they lead to.
    fn variables(&self, joint: &Joint, heads: [BlockId; 2]) -> Vec<Variable> {
        let terms = &self.context.terms;
        let mut all = Vec::new();
        for (which, side) in joint.sides.iter().enumerate() {
            let live = &self.programs[which].live[heads[which]];
            let mut found = Vec::new();
            for (slot, value) in side.slots.iter().enumerate().filter(|(slot, _)| live[*slot]) {
                all.push(Variable::Slot(which, slot));
                objects(terms, *value, &mut found);
            }
            let mut index = 0;
            while let Some(object) = found.get(index).copied() {
                index += 1;
                let Some(content) = side.object(terms, object) else { continue };
                for (field, value) in content.fields.iter().enumerate() {
                    all.push(Variable::Field(which, object, field));
                    objects(terms, *value, &mut found);
                }
            }
            all.push(Variable::Heap(which));
        }
        all
    }

    /// Objects in changing variables become objects that both versions know. False if one has no partner.
    fn share_changing(&mut self, joint: &mut Joint, changing: &BTreeSet<Variable>) -> bool {
        let terms = &self.context.terms;
        let with_object = |joint: &Joint, which: usize| -> Vec<Term> {
            let mut values: Vec<Term> = Vec::new();
            for variable in changing.iter().filter(|variable| variable.side() == which) {
                if let Some(value) = variable.value(terms, &joint.sides)
                    && terms.has_object(value)
                    && !values.contains(&value)
                {
                    values.push(value);
                }
            }
            values
        };
        let [first, mut second] = [0, 1].map(|which| with_object(joint, which));
        if first.is_empty() && second.is_empty() {
            return true;
        }
        let mut bijection = Bijection::new();
        for value in first {
            let found = second.iter().position(|other| {
                let mut trial = bijection.clone();
                let is_same = unify(terms, &joint.sides, value, *other, &mut trial);
                if is_same {
                    bijection = trial;
                }
                is_same
            });
            match found {
                Some(place) => second.remove(place),
                None => return false,
            };
        }
        if !second.is_empty() {
            return false;
        }
        self.share(joint, &bijection);
        true
    }
}
