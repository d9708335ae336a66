//! One test for several witnesses that are calls with another value in one place: `pytest.mark.parametrize`.

use std::collections::BTreeSet;
use std::fmt::Write;

use twincell_behavior::Difference;
use twincell_syntax::Side;
use twincell_syntax::python::is_identifier;

use super::arguments::{Argument, source};
use super::equality::Equality;
use super::objects::Objects;
use super::shape::shape;
use super::writer::Writer;
use super::{Case, python};

/// What such a test calls the result that it expects.
const EXPECTED: &str = "expected";
/// A name that pytest keeps for itself.
const RESERVED: &str = "request";

/// A call on literals, and what must hold of its result.
struct PlainCall {
    arguments: Vec<Argument>,
    equality: Equality,
}

impl Writer<'_> {
    /// The test function for the witness and the further ones. None where they are no calls on literals of which one
    /// argument is another.
    pub(super) fn of_several(&self, name: &str, called: &str, difference: &Difference) -> Option<String> {
        let case = self.case;
        let further = case.further.iter().map(|record| {
            let of_it = Case { record, further: &[], ..*case };
            Writer::new(&of_it, self.style).plain_call(difference)
        });
        let calls: Vec<PlainCall> =
            std::iter::once(self.plain_call(difference)).chain(further).collect::<Option<_>>()?;
        let [first, others @ ..] = calls.as_slice() else { return None };
        let at = only_change(&first.arguments, others.iter().map(|call| call.arguments.as_slice()))?;
        let parameter = first.arguments[at].path.as_str();
        if !is_identifier(parameter) || [EXPECTED, RESERVED, called].contains(&parameter) {
            return None;
        }
        let (sign, ..) = first.equality.parts()?;
        let mut rows = String::new();
        for call in &calls {
            let (_, expected, said) = call.equality.parts().filter(|(own, ..)| *own == sign)?;
            let id = said.map_or_else(String::new, |said| format!(", id={}", python::string(said)));
            let _ = writeln!(rows, "        pytest.param({}, {expected}{id}),", literal(&call.arguments[at])?);
        }
        let passed = source(&first.arguments, &mut |argument| match argument.path == parameter {
            true => parameter.to_owned(),
            false => literal(argument).unwrap_or_default(),
        });
        let call = shape(case, case.behaviors().ok()?.old).ok()?.around(&format!("{called}({passed})"));
        let mut text =
            format!("@pytest.mark.parametrize(\n    ('{parameter}', '{EXPECTED}'),\n    [\n{rows}    ],\n)\n");
        let _ = write!(
            text,
            "def {name}({parameter}, {EXPECTED}):\n    {called} = subject()\n    assert {call} {sign} {EXPECTED}\n"
        );
        Some(text)
    }

    /// The call of the execution, if its arguments are literals, the same in both versions, and the result alone is looked at.
    fn plain_call(&self, difference: &Difference) -> Option<PlainCall> {
        let behaviors = self.case.behaviors().ok()?;
        let objects = Objects::of(&self.choices_beside_machine(), &|path| self.is_discarded(path));
        let test = self.check(difference, behaviors.old, behaviors.new, &objects).ok()?;
        let arguments = self.arguments(Side::Old).ok()?;
        let roots: BTreeSet<&str> = arguments.iter().map(|argument| argument.path.as_str()).collect();
        let is_plain = arguments.iter().all(|argument| literal(argument).is_some())
            && self.decisions.keys().all(|path| roots.contains(path))
            && arguments == self.arguments(Side::New).ok()?
            && shape(self.case, behaviors.old).ok()?.is_plain();
        let equality = test.of_result().filter(|_| is_plain)?.clone();
        Some(PlainCall { arguments, equality })
    }
}

fn literal(argument: &Argument) -> Option<String> {
    argument.value.as_ref().filter(|recipe| !python::has_standin(recipe)).map(python::literal)
}

/// The position of the only argument that is another one in some call.
fn only_change<'a>(first: &[Argument], others: impl Iterator<Item = &'a [Argument]>) -> Option<usize> {
    let mut changed = BTreeSet::new();
    for other in others {
        let is_alike = |(one, other): (&Argument, &Argument)| one.path == other.path && one.keyword == other.keyword;
        if first.len() != other.len() || !first.iter().zip(other).all(is_alike) {
            return None;
        }
        changed.extend((0..first.len()).filter(|&at| first[at].value != other[at].value));
    }
    changed.first().copied().filter(|_| changed.len() == 1)
}
