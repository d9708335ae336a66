//! Negates conditions: which decisions would give a condition the other result.
//!
//! This is a small one-step solver. Operands are evaluated on the decisions of an execution that reached the condition,
//! or taken as that execution observed them. Then one side is set to the value of the other, through the inverse of
//! each operation on the way to an access path (`assign.rs`). Proposals are executed and thereby checked: a wrong one
//! costs one execution. This is input-to-state correspondence (REDQUEEN, NDSS 2019) with terms instead of bytes where
//! the syntax gives them, and by equal values where it does not. Numbers that neither explains are approached by their
//! distance (Korel, TSE 1990, "Automated software test data generation"). Planning inputs for code that is not reached
//! yet is the idea of Treefix (ICSE 2025), here without a language model.

mod assign;
mod evaluate;
mod shapes;
#[cfg(test)]
mod tests;
mod truths;

use std::cmp::Ordering;
use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use twincell_engine::protocol::{Observation, ObservationPoint};
use twincell_syntax::Side;
use twincell_syntax::site::Comparator;
use twincell_values::path::{AccessPathBuf, Question};
use twincell_values::reading::{Condition, Term};
use twincell_values::value::{AbstractValue, Choice, Decision, Recipe};

pub(super) use evaluate::{length, order};

/// Values of this length, similar to the given one.
pub(super) fn of_length(value: &Recipe, count: usize) -> Vec<Recipe> {
    shapes::of_length(Some(value), count)
}

/// The container with this member or this key.
pub(super) fn holding(holder: &Recipe, member: &Recipe) -> Vec<Recipe> {
    shapes::holding(Some(holder), member)
}

/// Decisions that together may have the wanted result.
pub(super) type Assignment = BTreeMap<String, Decision>;

/// The maximum number of proposals for one condition.
const MAX_PROPOSALS: usize = 8;
/// The maximum number of steps of one solving, so that terms with shared parts do not cost too much.
const FUEL: u32 = 2_000;

/// Facts about an execution that reached a condition.
pub(super) struct Facts<'a> {
    decisions: FxHashMap<&'a str, &'a Decision>,
    observations: &'a [Observation],
    side: Side,
    /// (name in this version, canonical name).
    renames: &'a [(String, String)],
    parameters: &'a [String],
}

impl<'a> Facts<'a> {
    pub(super) fn new(
        choices: &'a [Choice],
        observations: &'a [Observation],
        side: Side,
        renames: &'a [(String, String)],
        parameters: &'a [String],
    ) -> Self {
        let decisions = choices.iter().map(|choice| (choice.path.as_str(), &choice.decision)).collect();
        Self { decisions, observations, side, renames, parameters }
    }

    /// The last evaluation of a comparison.
    fn operands(&self, place: ObservationPoint) -> Option<&'a Observation> {
        self.observations.iter().rev().find(|known| known.version == self.side.number() && known.place == place)
    }
}

/// Proposes decisions under which `condition` is `wanted`.
pub(super) fn solve(facts: &Facts<'_>, condition: &Condition, wanted: bool) -> Vec<Assignment> {
    let mut solver = Solver { facts, fuel: FUEL };
    let mut found = solver.condition(condition, wanted, &Assignment::new());
    found.retain(|assignment| !assignment.is_empty());
    found.dedup();
    found.truncate(MAX_PROPOSALS);
    found
}

/// Proposes decisions under which the two sides of a comparison are in this order.
pub(super) fn solve_order(facts: &Facts<'_>, condition: &Condition, wanted: Ordering) -> Vec<Assignment> {
    let Condition::Compare { number, left, right, .. } = condition else { return vec![] };
    let mut solver = Solver { facts, fuel: FUEL };
    let mut found = solver.ordered(*number, left, right, wanted, &Assignment::new());
    found.retain(|assignment| !assignment.is_empty());
    found.truncate(MAX_PROPOSALS);
    found
}

/// Proposes decisions by equal values: an injected value that equals one operand is replaced by a value that the other
/// needs.
pub(super) fn correspond(choices: &[Choice], observation: &Observation, wanted: Option<Ordering>) -> Vec<Assignment> {
    let [left, right, ..] = observation.operands.as_slice() else { return vec![] };
    let mut found = Vec::new();
    for (from, to, flip) in [(left, right, false), (right, left, true)] {
        let (Some(own), Some(other)) = (&from.value, &to.value) else { continue };
        if matches!(own, Recipe::Mock(_) | Recipe::None | Recipe::Bool(_)) {
            continue;
        }
        let wanted = if flip { wanted.map(Ordering::reverse) } else { wanted };
        for target in shapes::targets(other, wanted) {
            for choice in choices {
                let Decision::Value(value) = &choice.decision else { continue };
                if let Some(replaced) = shapes::replace(value, own, &target) {
                    found.push(Assignment::from([(choice.path.clone(), Decision::Value(replaced))]));
                }
            }
        }
    }
    found.truncate(MAX_PROPOSALS);
    found
}

/// Injected values that were compared, by access path, each with the values that it was compared with. The runtime
/// knows the paths of objects and containers. Those of numbers and short texts are read from the syntax.
pub(super) fn compared(
    facts: &Facts<'_>,
    observation: &Observation,
    condition: Option<&Condition>,
) -> Vec<(String, Recipe)> {
    let [left, right, ..] = observation.operands.as_slice() else { return vec![] };
    let terms = match condition {
        Some(Condition::Compare { left, right, .. }) => [Some(left), Some(right)],
        _ => [None, None],
    };
    let mut found = Vec::new();
    for ((own, term), other) in [(left, terms[0]), (right, terms[1])].into_iter().zip([right, left]) {
        let Some(value) = other.value.as_ref().filter(|value| !matches!(value, Recipe::Mock(_))) else { continue };
        let written = || Solver { facts, fuel: FUEL }.path(term?, &Assignment::new());
        let path = own.path.clone().or_else(written);
        if let Some(path) = path.filter(|path| facts.decisions.contains_key(path.as_str())) {
            found.push((path.into_string(), value.clone()));
        }
    }
    found
}

struct Solver<'a> {
    facts: &'a Facts<'a>,
    fuel: u32,
}

impl Solver<'_> {
    /// Counts a step. `false` if none are left.
    fn step(&mut self) -> bool {
        self.fuel = self.fuel.saturating_sub(1);
        self.fuel > 0
    }

    /// Ways to give a condition the wanted result, each an extension of `so_far`.
    fn condition(&mut self, condition: &Condition, wanted: bool, so_far: &Assignment) -> Vec<Assignment> {
        if !self.step() {
            return vec![];
        }
        if self.truth(condition, so_far) == Some(wanted) {
            return vec![so_far.clone()];
        }
        match (condition, wanted) {
            (Condition::Not(inner), _) => self.condition(inner, !wanted, so_far),
            (Condition::All(parts), true) | (Condition::Any(parts), false) => {
                // All operands, one after the other.
                let mut ways = vec![so_far.clone()];
                for part in parts {
                    let mut next: Vec<Assignment> = Vec::new();
                    for way in &ways {
                        let found = self.condition(part, wanted, way);
                        // An operand without known value may already have the wanted result.
                        if found.is_empty() && self.truth(part, way).is_none() {
                            next.push(way.clone());
                        }
                        next.extend(found);
                    }
                    next.truncate(MAX_PROPOSALS);
                    ways = next;
                }
                ways
            }
            (Condition::All(parts) | Condition::Any(parts), _) => {
                parts.iter().flat_map(|part| self.condition(part, wanted, so_far)).collect()
            }
            (Condition::Compare { number, comparator, left, right }, _) => {
                self.comparison(*number, *comparator, left, right, wanted, so_far)
            }
            (Condition::Truth { term, site }, _) => self.truthy(term, *site, wanted, so_far),
        }
    }

    /// Both sides of a comparison, from terms if they are known, or else as observed.
    fn sides(&mut self, number: Option<u32>, left: &Term, right: &Term, so_far: &Assignment) -> [Option<Recipe>; 2] {
        let mut sides = [self.value(left, so_far), self.value(right, so_far)];
        if so_far.is_empty()
            && let Some(seen) = number.and_then(|number| self.facts.operands(ObservationPoint::Comparison(number)))
        {
            for (side, operand) in sides.iter_mut().zip(&seen.operands) {
                if side.is_none() {
                    side.clone_from(&operand.value);
                }
            }
        }
        for (side, term) in sides.iter_mut().zip([left, right]) {
            if side.is_none() {
                *side = self.named(term);
            }
        }
        sides
    }

    fn comparison(
        &mut self,
        number: Option<u32>,
        comparator: Comparator,
        left: &Term,
        right: &Term,
        wanted: bool,
        so_far: &Assignment,
    ) -> Vec<Assignment> {
        use Comparator as C;
        let equal = |solver: &mut Self| solver.ordered(number, left, right, Ordering::Equal, so_far);
        match (comparator, wanted) {
            (C::Eq, true) | (C::NotEq, false) => equal(self),
            (C::Lt, true) | (C::GtE, false) => self.ordered(number, left, right, Ordering::Less, so_far),
            (C::Gt, true) | (C::LtE, false) => self.ordered(number, left, right, Ordering::Greater, so_far),
            (C::GtE, true) | (C::Lt, false) => {
                let mut ways = equal(self);
                ways.extend(self.ordered(number, left, right, Ordering::Greater, so_far));
                ways
            }
            (C::LtE, true) | (C::Gt, false) => {
                let mut ways = equal(self);
                ways.extend(self.ordered(number, left, right, Ordering::Less, so_far));
                ways
            }
            (C::Eq, false) | (C::NotEq, true) => {
                let [own, other] = self.sides(number, left, right, so_far);
                let mut ways = Vec::new();
                for (term, value) in [(left, other), (right, own)] {
                    for unlike in value.iter().flat_map(shapes::unlike) {
                        ways.extend(self.set(term, &unlike, so_far));
                    }
                }
                ways
            }
            (C::In, _) | (C::NotIn, _) => {
                let inside = (comparator == C::In) == wanted;
                self.membership(number, left, right, inside, so_far)
            }
            (C::Is, true) | (C::IsNot, false) => {
                let [own, other] = self.sides(number, left, right, so_far);
                let mut ways = Vec::new();
                for (term, value) in [(left, other), (right, own)] {
                    if let Some(value @ (Recipe::None | Recipe::Bool(_) | Recipe::Named(_))) = value {
                        ways.extend(self.set(term, &value, so_far));
                    }
                }
                ways.extend(self.same(number, left, right, so_far));
                ways
            }
            (C::Is, false) | (C::IsNot, true) => {
                let some = [
                    Recipe::Mock(AbstractValue::Object),
                    Recipe::Str("a".into()),
                    Recipe::Int(1),
                    Recipe::List(vec![]),
                    Recipe::None,
                ];
                let [own, other] = self.sides(number, left, right, so_far);
                let mut ways = Vec::new();
                for (term, value) in [(left, other), (right, own)] {
                    for unlike in some.iter().filter(|one| Some(*one) != value.as_ref()) {
                        ways.extend(self.set(term, unlike, so_far));
                    }
                }
                ways
            }
        }
    }

    /// Makes the two sides the same object.
    fn same(&mut self, number: Option<u32>, left: &Term, right: &Term, so_far: &Assignment) -> Vec<Assignment> {
        let observed = |side: usize| {
            let seen = self.facts.operands(ObservationPoint::Comparison(number?))?;
            seen.operands.get(side)?.path.clone()
        };
        let paths =
            [(observed(0), left), (observed(1), right)].map(|(path, term)| path.or_else(|| self.path(term, so_far)));
        let [Some(one), Some(other)] = paths else { return vec![] };
        let mut ways = Vec::new();
        for (from, to) in [(&one, &other), (&other, &one)] {
            if from != to && !to.as_str().starts_with(from.as_str()) {
                let mut way = so_far.clone();
                way.insert(from.to_string(), Decision::Same(to.to_string()));
                ways.push(way);
            }
        }
        ways
    }

    fn ordered(
        &mut self,
        number: Option<u32>,
        left: &Term,
        right: &Term,
        wanted: Ordering,
        so_far: &Assignment,
    ) -> Vec<Assignment> {
        let [own, other] = self.sides(number, left, right, so_far);
        let mut ways = Vec::new();
        for (term, value, wanted) in [(left, &other, wanted), (right, &own, wanted.reverse())] {
            let Some(value) = value else { continue };
            for target in shapes::targets(value, Some(wanted)) {
                ways.extend(self.set(term, &target, so_far));
            }
        }
        // Two objects have their own order.
        if let (Some(one), Some(two)) = (self.path(left, so_far), self.path(right, so_far)) {
            for (one, other, wanted) in [(&one, &two, wanted), (&two, &one, wanted.reverse())] {
                let path = Question::Order { one: one.as_str(), other: other.as_str() }.to_string();
                if self.facts.decisions.contains_key(path.as_str()) {
                    let mut way = so_far.clone();
                    way.insert(path, Decision::Value(Recipe::Int(wanted as i64 + 1)));
                    ways.push(way);
                }
            }
        }
        if ways.is_empty() && own.is_none() && other.is_none() {
            // Nothing is known, so both become numbers.
            let ways_left = self.set(left, &Recipe::Int(wanted as i64), so_far);
            for way in ways_left {
                ways.extend(self.set(right, &Recipe::Int(0), &way));
            }
        }
        ways
    }

    fn membership(
        &mut self,
        number: Option<u32>,
        item: &Term,
        container: &Term,
        inside: bool,
        so_far: &Assignment,
    ) -> Vec<Assignment> {
        let [member, holder] = self.sides(number, item, container, so_far);
        let mut ways = Vec::new();
        let key =
            member.as_ref().map(Recipe::display).or_else(|| self.path(item, so_far).map(AccessPathBuf::into_string));
        if let (Some(path), Some(key)) = (self.path(container, so_far), key)
            && matches!(holder, None | Some(Recipe::Mock(_)))
        {
            let aspect = Question::Item { item: &key, holder: path.as_path() }.to_string();
            if self.facts.decisions.contains_key(aspect.as_str()) {
                let mut way = so_far.clone();
                way.insert(aspect, Decision::Value(Recipe::Bool(inside)));
                ways.push(way);
            }
        }
        if let (None, Term::Display(terms), true) = (&holder, container, inside) {
            for term in terms.iter().take(4) {
                if let Some(member) = self.value(term, so_far).or_else(|| self.named(term)) {
                    ways.extend(self.set(item, &member, so_far));
                }
            }
        }
        match (&holder, inside) {
            (Some(holder), true) => {
                for member in shapes::members(holder).into_iter().take(4) {
                    ways.extend(self.set(item, &member, so_far));
                }
            }
            (Some(holder), false) => {
                for stranger in shapes::strangers(holder) {
                    ways.extend(self.set(item, &stranger, so_far));
                }
            }
            (None, _) => {}
        }
        if let Some(member) = &member {
            let changed = if inside {
                shapes::holding(holder.as_ref(), member)
            } else {
                holder.as_ref().map(|holder| shapes::without(holder, member)).into_iter().collect()
            };
            for holder in changed {
                ways.extend(self.set(container, &holder, so_far));
            }
        }
        ways
    }
}
