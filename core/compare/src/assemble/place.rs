//! Where the code has a call whose callee only a value tells: `stream.write('a')` for `None.write('a')`.

use std::collections::BTreeSet;

use twincell_engine::observed::Call;
use twincell_syntax::site::Site;
use twincell_syntax::{PerSide, Side};
use twincell_values::path::{AccessPath, Question, arguments};
use twincell_values::value::Choice;

use super::PairContext;
use crate::campaign::TestCase;
use crate::report::CallSite;

/// The sites of both versions, helpers' included.
pub(crate) type Sites<'a> = PerSide<&'a [Site]>;

/// Where a function makes the call that a decision is about.
pub(super) fn call_site(context: &PairContext<'_>, sites: Sites<'_>, case: &TestCase, choice: &Choice) -> CallSite {
    let path = match Question::parse(&choice.path) {
        Question::Raise(operation) => operation,
        Question::Succeeds(operation) => operation.as_str(),
        _ => &choice.path,
    };
    // What fails in place of giving a value has no line.
    let injection = case.record.injections.iter().find(|injection| injection.path == path);
    let at = injection.map(|injection| (Side::numbered(injection.version), injection.line));
    let is_own = |(side, line): &(Side, u32)| (1..=context.own_lines[*side]).contains(line);
    let once = AccessPath::new(path).without_repetition();
    if let Some(written) = at.and_then(|at| of_inner_function(sites, once, at)) {
        return CallSite::Code(written + &path[once.as_str().len()..]);
    }
    let Some((_, given)) = once.split_call() else { return CallSite::Unknown };
    match (callee(sites, path, count(given), at), at.filter(is_own)) {
        (Some(callee), _) => {
            CallSite::Code(AccessPath::new(&callee).call(given).into_string() + &path[once.as_str().len()..])
        }
        (None, Some((side, line))) => CallSite::Line(context.functions[side].first_line + line - 1),
        (None, None) => CallSite::Unknown,
    }
}

/// What the code has for an attribute or an item of what a function within another one gives, whose own name says little:
/// `ctx.session` for `outer.<locals>.inner().session`.
fn of_inner_function(sites: Sites<'_>, path: AccessPath<'_>, (side, line): (Side, u32)) -> Option<String> {
    if !path.as_str().contains(".<locals>.") {
        return None;
    }
    let is_it = |written: &AccessPath<'_>| match (path.split_item(), written.split_item()) {
        (Some((_, one)), Some((_, other))) => one == other,
        (None, None) => {
            path.split_attribute().zip(written.split_attribute()).is_some_and(|((_, one), (_, other))| one == other)
        }
        _ => false,
    };
    let here = sites[side].iter().filter(|site| site.line == line);
    only(here.map(|site| AccessPath::new(&site.path)).filter(is_it))
}

/// A call of a version with the callee that the code has, where only a value tells it.
pub(super) fn as_written(sites: Sites<'_>, side: Side, call: &Call) -> Call {
    let path = call.callee.as_path().call("");
    let count = call.arguments.len() + call.keywords.len();
    let callee = callee(sites, path.as_str(), count, Some((side, call.line)));
    Call { callee: callee.map_or_else(|| call.callee.clone(), Into::into), ..call.clone() }
}

/// The callee that the code has for a call with so many arguments; none if a name tells it, or if it may be one of several.
fn callee(sites: Sites<'_>, call: &str, count: usize, at: Option<(Side, u32)>) -> Option<String> {
    let call = AccessPath::new(call);
    let method = call.of_value_method();
    if method.is_none() && call.of_called_value().is_none() {
        return None;
    }
    let may_be = |(callee, written): &(AccessPath<'_>, &str)| {
        let is_it = method.is_none() || callee.split_attribute().map(|(_, name)| name) == method;
        is_it && self::count(written) == count
    };
    let sides = at.map_or(Side::BOTH.to_vec(), |(side, _)| vec![side]);
    let sites = sides.into_iter().flat_map(|side| sites[side]);
    let calls = sites.filter(|site| at.is_none_or(|(_, line)| site.line == line));
    let calls = calls.filter_map(|site| AccessPath::new(&site.path).split_call()).filter(may_be);
    only(calls.map(|(callee, _)| callee))
}

/// The only one of these; none if they are several.
fn only<'a>(paths: impl Iterator<Item = AccessPath<'a>>) -> Option<String> {
    let mut different: BTreeSet<&str> = paths.map(AccessPath::as_str).collect();
    different.pop_first().filter(|_| different.is_empty()).map(str::to_owned)
}

/// The number of arguments, as they are written.
fn count(written: &str) -> usize {
    arguments(written).filter(|one| !one.is_empty()).count()
}

#[cfg(test)]
mod tests {
    use twincell_syntax::instrument::instrument;

    use super::*;

    #[test]
    fn what_an_inner_function_gives_is_told_as_the_code_has_it() {
        let function =
            twincell_syntax::functions("def f(ctx):\n    return ctx.session or ctx.other or ctx['a']\n").0.remove(0);
        let sites = instrument(&function).unwrap().sites.sites;
        let sites = PerSide::of(|_| sites.as_slice());
        let of = |path: &str, line: u32| of_inner_function(sites, AccessPath::new(path), (Side::New, line));
        assert_eq!(of("Proxy.<locals>.get().session", 2).as_deref(), Some("ctx.session"));
        assert_eq!(of("Proxy.<locals>.get()['a']", 2).as_deref(), Some("ctx['a']"));
        assert_eq!(of("Proxy.<locals>.get().session", 1), None);
        assert_eq!(of("Proxy.get().session", 2), None, "its name is known");
    }

    #[test]
    fn a_callee_is_known_by_its_method_its_arguments_and_its_line() {
        let text =
            "def f(a, s):\n    out = a.out\n    out.write(s)\n    out.write(s, 1)\n    other.write(s)\n    out(s)\n";
        let function = twincell_syntax::functions(text).0.remove(0);
        let sites = instrument(&function).unwrap().sites.sites;
        let sites = PerSide::of(|_| sites.as_slice());
        let of = |call: &str, count: usize, line: Option<u32>| {
            callee(sites, call, count, line.map(|line| (Side::Old, line)))
        };
        assert_eq!(of("None.write('a')", 1, Some(3)).as_deref(), Some("out.write"));
        assert_eq!(of("None.write('a')", 1, None), None, "out or other");
        assert_eq!(of("None.write('a', 1)", 2, None).as_deref(), Some("out.write"));
        assert_eq!(of("1('a')#2", 1, Some(6)).as_deref(), Some("out"));
        assert_eq!(of("1('a')", 1, None), None, "any of those with one argument");
        assert_eq!((of("None.write()", count(""), None), count("a, b")), (None, 2));
        assert_eq!(of("a.out.write('a')", 1, Some(3)), None, "it has a name");
    }
}
