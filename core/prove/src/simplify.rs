//! Normal forms: whole numbers are polynomials, texts and contents of lists are sequences of parts, conditions on numbers
//! compare a polynomial with zero.
//!
//! Each constructor gives the same term for values that are equal by the laws of Python's builtin types. `rebuild` makes a term
//! again after something in it was replaced.

use crate::constant::Constant;
use crate::term::{Operator, Term, Terms};
use crate::types::Type;

/// The bound of terms in a product of sums.
const MAX_PRODUCT: usize = 64;
/// The longest text that is calculated, in bytes, and the most parts that a text or the content of a container is taken into:
/// code may double both again and again.
const MAX_TEXT: usize = 10_000;
const MAX_PARTS: usize = 1000;

/// A sum of terms with factors, and a constant.
type Sum = (i128, Vec<(Term, i128)>);

impl Terms {
    fn sum_of(&self, term: Term) -> Sum {
        match self.operator(term) {
            Operator::Constant(Constant::Int(value)) => (*value, Vec::new()),
            Operator::Linear(constant, factors) => {
                (*constant, self.arguments(term).iter().copied().zip(factors.iter().copied()).collect())
            }
            _ => (0, vec![(term, 1)]),
        }
    }

    fn of_sum(&mut self, (constant, mut parts): Sum) -> Option<Term> {
        parts.sort_unstable();
        let mut merged: Vec<(Term, i128)> = Vec::new();
        for (term, factor) in parts {
            match merged.last_mut() {
                Some((last, total)) if *last == term => *total = total.checked_add(factor)?,
                _ => merged.push((term, factor)),
            }
        }
        merged.retain(|(_, factor)| *factor != 0);
        Some(match &merged[..] {
            [] => self.int(constant),
            [(term, 1)] if constant == 0 => *term,
            _ => {
                let (terms, factors): (Vec<Term>, Vec<i128>) = merged.into_iter().unzip();
                self.intern(Operator::Linear(constant, factors), &terms, Type::Int)
            }
        })
    }

    /// `a + factor * b` of whole numbers. Where numbers get too big, it stays as it is.
    pub fn add_times(&mut self, a: Term, b: Term, factor: i128) -> Term {
        let added = (|| {
            let (constant, mut parts) = self.sum_of(a);
            let (other, others) = self.sum_of(b);
            let constant = constant.checked_add(other.checked_mul(factor)?)?;
            for (term, times) in others {
                parts.push((term, times.checked_mul(factor)?));
            }
            self.of_sum((constant, parts))
        })();
        match added {
            Some(term) => term,
            None => {
                let factor = self.int(factor);
                self.pure("+ times", &[a, b, factor], Type::Int)
            }
        }
    }

    pub fn add(&mut self, a: Term, b: Term) -> Term {
        self.add_times(a, b, 1)
    }

    pub fn subtract(&mut self, a: Term, b: Term) -> Term {
        self.add_times(a, b, -1)
    }

    pub fn plus(&mut self, a: Term, constant: i128) -> Term {
        let constant = self.int(constant);
        self.add(a, constant)
    }

    pub fn negate(&mut self, a: Term) -> Term {
        let zero = self.int(0);
        self.subtract(zero, a)
    }

    pub fn multiply(&mut self, a: Term, b: Term) -> Term {
        let (left, right) = (self.sum_of(a), self.sum_of(b));
        let multiplied = (|| {
            if (left.1.len() + 1) * (right.1.len() + 1) > MAX_PRODUCT {
                return None;
            }
            let mut parts = Vec::new();
            for (term, factor) in &left.1 {
                parts.push((*term, factor.checked_mul(right.0)?));
            }
            for (term, factor) in &right.1 {
                parts.push((*term, factor.checked_mul(left.0)?));
            }
            for (term, factor) in &left.1 {
                for (other, times) in &right.1 {
                    let mut atoms = self.factors_of(*term);
                    atoms.extend(self.factors_of(*other));
                    atoms.sort_unstable();
                    let product = self.intern(Operator::Product, &atoms, Type::Int);
                    parts.push((product, factor.checked_mul(*times)?));
                }
            }
            self.of_sum((left.0.checked_mul(right.0)?, parts))
        })();
        match multiplied {
            Some(term) => term,
            None => {
                let (a, b) = (a.min(b), a.max(b));
                self.pure("* of numbers", &[a, b], Type::Int)
            }
        }
    }

    fn factors_of(&self, term: Term) -> Vec<Term> {
        match self.operator(term) {
            Operator::Product => self.arguments(term).to_vec(),
            _ => vec![term],
        }
    }

    /// Whether a whole number is surely not negative.
    fn is_natural(&self, term: Term) -> bool {
        match self.operator(term) {
            Operator::Constant(Constant::Int(value)) => *value >= 0,
            Operator::Pure(name) if name == "len" => true,
            Operator::Pure(name) if name == "%" => {
                self.arguments(term).get(1).and_then(|by| self.as_int(*by)).is_some_and(|by| by > 0)
            }
            _ => false,
        }
    }

    /// Whether it is surely not less than a constant.
    pub fn is_at_least(&self, term: Term, bound: i128) -> bool {
        let (constant, parts) = self.sum_of(term);
        constant >= bound && parts.iter().all(|(term, factor)| *factor > 0 && self.is_natural(*term))
    }

    /// `term <= 0`
    pub fn at_most_zero(&mut self, term: Term) -> Term {
        let (constant, parts) = self.sum_of(term);
        if parts.is_empty() {
            return self.bool(constant <= 0);
        }
        if self.is_at_least(term, 1) {
            return self.bool(false);
        }
        let negative = self.negate(term);
        if self.is_at_least(negative, 0) {
            return self.bool(true);
        }
        if parts[0].1 < 0 {
            // -term >= 0, so not -term + 1 <= 0
            let other = self.plus(negative, 1);
            let holds = self.at_most_zero(other);
            return self.not(holds);
        }
        if let [(atom, 1)] = parts[..]
            && constant == 0
            && self.is_natural(atom)
        {
            return self.is_zero(atom);
        }
        let divisor = parts.iter().fold(0, |divisor, (_, factor)| greatest_common_divisor(divisor, factor.abs()));
        let reduced = if divisor > 1 {
            let constant = constant.div_euclid(divisor) + i128::from(constant.rem_euclid(divisor) != 0);
            self.of_sum((constant, parts.into_iter().map(|(term, factor)| (term, factor / divisor)).collect()))
        } else {
            None
        };
        self.intern(Operator::AtMostZero, &[reduced.unwrap_or(term)], Type::Bool)
    }

    /// `term == 0`
    pub fn is_zero(&mut self, term: Term) -> Term {
        let (constant, parts) = self.sum_of(term);
        if parts.is_empty() {
            return self.bool(constant == 0);
        }
        let negative = self.negate(term);
        if self.is_at_least(term, 1) || self.is_at_least(negative, 1) {
            return self.bool(false);
        }
        if parts[0].1 < 0 {
            return self.is_zero(negative);
        }
        let divisor = parts.iter().fold(0, |divisor, (_, factor)| greatest_common_divisor(divisor, factor.abs()));
        let mut reduced = None;
        if divisor > 1 {
            if constant % divisor != 0 {
                return self.bool(false);
            }
            let parts = parts.into_iter().map(|(term, factor)| (term, factor / divisor)).collect();
            reduced = self.of_sum((constant / divisor, parts));
        }
        self.intern(Operator::IsZero, &[reduced.unwrap_or(term)], Type::Bool)
    }

    pub fn not(&mut self, term: Term) -> Term {
        match self.operator(term) {
            Operator::Constant(Constant::Bool(value)) => {
                let value = !*value;
                self.bool(value)
            }
            Operator::Not => self.arguments(term)[0],
            _ => self.intern(Operator::Not, &[term], Type::Bool),
        }
    }

    /// `a < b` of whole numbers
    pub fn less(&mut self, a: Term, b: Term) -> Term {
        let difference = self.subtract(a, b);
        let difference = self.plus(difference, 1);
        self.at_most_zero(difference)
    }

    pub fn same_number(&mut self, a: Term, b: Term) -> Term {
        let difference = self.subtract(a, b);
        self.is_zero(difference)
    }

    pub fn concat(&mut self, parts: &[Term]) -> Term {
        let mut flat: Vec<Term> = Vec::new();
        for part in parts {
            let inner = match self.operator(*part) {
                Operator::Concat => self.arguments(*part).to_vec(),
                _ => vec![*part],
            };
            for one in inner {
                let last = flat.last().and_then(|last| self.as_text(*last));
                match (last, self.as_text(one)) {
                    (_, Some("")) => {}
                    (Some(last), Some(text)) if last.len() + text.len() <= MAX_TEXT => {
                        let text = format!("{last}{text}");
                        flat.pop();
                        let text = self.text(&text);
                        flat.push(text);
                    }
                    _ => flat.push(one),
                }
            }
        }
        match flat[..] {
            [] => self.text(""),
            [one] => one,
            // Too long to be taken apart again.
            _ if flat.len() > MAX_PARTS => self.pure("long text", parts, Type::Text),
            _ => self.intern(Operator::Concat, &flat, Type::Text),
        }
    }

    /// The content of a list of these items.
    pub fn elements(&mut self, items: &[Term]) -> Term {
        let class = items.iter().fold(Type::Never, |class, item| class.join(self.class(*item)));
        self.intern(Operator::Elements, items, Type::Items(Box::new(class)))
    }

    pub fn joined(&mut self, parts: &[Term]) -> Term {
        let mut flat: Vec<Term> = Vec::new();
        for part in parts {
            let inner = match self.operator(*part) {
                Operator::Joined => self.arguments(*part).to_vec(),
                _ => vec![*part],
            };
            for one in inner {
                let is_items = |this: &Self, term: Term| matches!(this.operator(term), Operator::Elements);
                match flat.last().copied() {
                    _ if is_items(self, one) && self.arguments(one).is_empty() => {}
                    Some(last)
                        if is_items(self, last)
                            && is_items(self, one)
                            && self.arguments(last).len() + self.arguments(one).len() <= MAX_PARTS =>
                    {
                        let items = [self.arguments(last), self.arguments(one)].concat();
                        flat.pop();
                        let items = self.elements(&items);
                        flat.push(items);
                    }
                    _ => flat.push(one),
                }
            }
        }
        match flat[..] {
            [] => self.elements(&[]),
            [one] => one,
            _ => {
                let class =
                    flat.iter().fold(Type::Items(Box::new(Type::Never)), |class, part| class.join(self.class(*part)));
                match flat.len() > MAX_PARTS {
                    true => self.pure("long content", parts, class),
                    false => self.intern(Operator::Joined, &flat, class),
                }
            }
        }
    }

    /// The length of a text, or of the content of a container.
    pub fn length(&mut self, content: Term) -> Term {
        match self.operator(content).clone() {
            Operator::Constant(Constant::Text(text)) => self.int(text.chars().count() as i128),
            Operator::Elements | Operator::Tuple => self.int(self.arguments(content).len() as i128),
            Operator::Concat | Operator::Joined => {
                let mut total = self.int(0);
                for part in self.arguments(content).to_vec() {
                    let length = self.length(part);
                    total = self.add(total, length);
                }
                total
            }
            Operator::Pure(name) if name == "no entries" => self.int(0),
            Operator::Pure(name) if matches!(name.as_str(), "with item" | "sorted") => {
                let content = self.arguments(content)[0];
                self.length(content)
            }
            Operator::Snapshot => {
                // To set an item changes no length, whichever list it is.
                let [container, heap] = [self.arguments(content)[0], self.arguments(content)[1]];
                if *self.operator(heap) == Operator::Write("set") {
                    let before = self.arguments(heap)[0];
                    let content = self.snapshot(container, before);
                    return self.length(content);
                }
                self.pure("len", &[content], Type::Int)
            }
            _ => self.pure("len", &[content], Type::Int),
        }
    }

    pub fn same_text(&mut self, a: Term, b: Term) -> Term {
        if a == b {
            return self.bool(true);
        }
        match (self.as_text(a), self.as_text(b)) {
            (Some(left), Some(right)) => {
                let same = left == right;
                self.bool(same)
            }
            (Some(""), _) => {
                let length = self.length(b);
                self.is_zero(length)
            }
            (_, Some("")) => {
                let length = self.length(a);
                self.is_zero(length)
            }
            _ => self.pure("same text", &[a.min(b), a.max(b)], Type::Bool),
        }
    }

    pub fn bitwise(&mut self, name: &str, a: Term, b: Term) -> Term {
        if let (Some(left), Some(right)) = (self.as_int(a), self.as_int(b)) {
            return self.int(match name {
                "&" => left & right,
                "|" => left | right,
                _ => left ^ right,
            });
        }
        if name == "&" {
            for (mask, value) in [(a, b), (b, a)] {
                if let Some(mask) = self.as_int(mask)
                    && mask > 0
                    && let Some(modulus) = mask.checked_add(1)
                    && modulus.count_ones() == 1
                {
                    let modulus = self.int(modulus);
                    return self.modulo(value, modulus);
                }
            }
        }
        self.pure(name, &[a.min(b), a.max(b)], Type::Int)
    }

    /// `a % b`, where `b` is not zero.
    pub fn modulo(&mut self, a: Term, b: Term) -> Term {
        if let (Some(a), Some(b)) = (self.as_int(a), self.as_int(b))
            && let Some(quotient) = floor_quotient(a, b)
        {
            return self.int(a - quotient * b);
        }
        self.pure("%", &[a, b], Type::Int)
    }

    /// `a // b`, where `b` is not zero.
    pub fn quotient(&mut self, a: Term, b: Term) -> Term {
        if let (Some(a), Some(b)) = (self.as_int(a), self.as_int(b))
            && let Some(quotient) = floor_quotient(a, b)
        {
            return self.int(quotient);
        }
        if self.as_int(b) == Some(1) {
            return a;
        }
        self.pure("//", &[a, b], Type::Int)
    }

    /// A term with other arguments, in normal form.
    pub fn rebuild(&mut self, term: Term, arguments: &[Term]) -> Term {
        if self.arguments(term) == arguments {
            return term;
        }
        let class = self.class(term).clone();
        match (self.operator(term).clone(), arguments) {
            (Operator::Linear(constant, factors), _) => {
                let mut sum = self.int(constant);
                for (argument, factor) in arguments.iter().zip(factors) {
                    sum = self.add_times(sum, *argument, factor);
                }
                sum
            }
            (Operator::Product, _) => {
                let one = self.int(1);
                arguments.iter().fold(one, |product, argument| self.multiply(product, *argument))
            }
            (Operator::AtMostZero, [number]) => self.at_most_zero(*number),
            (Operator::IsZero, [number]) => self.is_zero(*number),
            (Operator::Not, [truth]) => self.not(*truth),
            (Operator::Concat, _) => self.concat(arguments),
            (Operator::Elements, _) => self.elements(arguments),
            (Operator::Joined, _) => self.joined(arguments),
            (Operator::Pure(name), [a]) if name == "len" => self.length(*a),
            (Operator::Pure(name), [a, b]) => match name.as_str() {
                "same text" => self.same_text(*a, *b),
                "%" if class == Type::Int => self.modulo(*a, *b),
                "//" if class == Type::Int => self.quotient(*a, *b),
                "&" | "|" | "^" => self.bitwise(&name, *a, *b),
                "* of numbers" => self.multiply(*a, *b),
                "is" => self.identical(*a, *b).unwrap_or_else(|| self.pure("is", arguments, Type::Bool)),
                "item" => self.item(*a, *b, class),
                _ => self.pure(&name, arguments, class),
            },
            (Operator::Pure(name), [content, index, value]) if name == "with item" => {
                self.items_with(*content, *index, *value)
            }
            (Operator::Snapshot, [container, heap]) => self.snapshot(*container, *heap),
            (operator, _) => self.intern(operator, arguments, class),
        }
    }

    /// An item of a content, at an index that is in bounds.
    pub fn item(&mut self, content: Term, index: Term, class: Type) -> Term {
        if let (Operator::Elements | Operator::Tuple, Some(index)) = (self.operator(content), self.as_int(index)) {
            let items = self.arguments(content);
            let at = if index < 0 { index + items.len() as i128 } else { index };
            if let Some(item) = usize::try_from(at).ok().and_then(|at| items.get(at)) {
                return *item;
            }
        }
        if let Operator::Pure(name) = self.operator(content)
            && name == "with item"
        {
            let [before, at, value] = [0, 1, 2].map(|index| self.arguments(content)[index]);
            if at == index {
                return value;
            }
            if let (Some(at), Some(index_value)) = (self.as_int(at), self.as_int(index))
                && (at < 0) == (index_value < 0)
            {
                return self.item(before, index, class);
            }
        }
        self.pure("item", &[content, index], class)
    }

    /// Whether two values are one object. Nothing for numbers, texts and tuples, whose identity means nothing.
    pub fn identical(&mut self, a: Term, b: Term) -> Option<Term> {
        let is_single = |this: &Self, term: Term| {
            matches!(this.as_constant(term), Some(Constant::None | Constant::Ellipsis | Constant::Bool(_)))
                || matches!(this.operator(term), Operator::Builtin(_))
        };
        let (single, other) = match (is_single(self, a), is_single(self, b)) {
            (true, true) => return Some(self.bool(a == b)),
            (true, false) => (a, b),
            (false, true) => (b, a),
            (false, false) => return self.identical_objects(a, b),
        };
        match (self.as_constant(single).cloned(), self.class(other).clone()) {
            (Some(Constant::Bool(true)), Type::Bool) => return Some(other),
            (Some(Constant::Bool(false)), Type::Bool) => return Some(self.not(other)),
            (Some(Constant::None), Type::None) => return Some(self.bool(true)),
            (_, class) if class.is_exact() => return Some(self.bool(false)),
            _ => {}
        }
        match self.operator(other) {
            Operator::Object(_) | Operator::Raised(_) => Some(self.bool(false)),
            _ => Some(self.pure("is", &[a.min(b), a.max(b)], Type::Bool)),
        }
    }

    fn identical_objects(&mut self, a: Term, b: Term) -> Option<Term> {
        let is_object = |this: &Self, term: Term| matches!(this.operator(term), Operator::Object(_));
        if is_object(self, a) || is_object(self, b) {
            return Some(self.bool(a == b));
        }
        let has_identity = |this: &Self, term: Term| {
            let by_operator = match this.operator(term) {
                Operator::Symbol(_) | Operator::Name(_) => true,
                Operator::Pure(name) => name == "item",
                _ => false,
            };
            by_operator && !this.class(term).is_exact()
        };
        if !has_identity(self, a) || !has_identity(self, b) {
            return None;
        }
        if a == b {
            return Some(self.bool(true));
        }
        Some(self.pure("is", &[a.min(b), a.max(b)], Type::Bool))
    }
}

fn greatest_common_divisor(a: i128, b: i128) -> i128 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

/// Rounded down, as Python does.
fn floor_quotient(a: i128, b: i128) -> Option<i128> {
    let quotient = a.checked_div(b)?;
    Some(if a % b != 0 && (a < 0) != (b < 0) { quotient - 1 } else { quotient })
}
