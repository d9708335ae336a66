//! Channel: calls to code that is not there.
//!
//! Two versions may ask for the same values in another order or more often: that alone is no behavior. What counts
//! are *actions*: calls whose value is not used, or whose name says that they do something. Arguments of the other
//! calls still count, because the values that they give depend on them (see the access paths of calls).

use super::equal::{all_equal, equal};
use super::{Behavior, Call, Difference, Observed, Rules};
use crate::report::{CallRow, Channel, Strength, display_call};

/// First words of names that ask and do not act.
const ASKING: &[&str] = &[
    "get",
    "is",
    "has",
    "can",
    "should",
    "find",
    "lookup",
    "parse",
    "format",
    "to",
    "as",
    "from",
    "len",
    "str",
    "repr",
    "int",
    "float",
    "bool",
    "join",
    "split",
    "rsplit",
    "lower",
    "upper",
    "strip",
    "lstrip",
    "rstrip",
    "title",
    "startswith",
    "endswith",
    "encode",
    "decode",
    "keys",
    "values",
    "items",
    "copy",
    "deepcopy",
    "exists",
    "match",
    "search",
    "compile",
    "count",
    "index",
    "isfile",
    "isdir",
    "basename",
    "dirname",
    "abspath",
    "realpath",
    "expanduser",
    "normpath",
    "splitext",
    "quote",
    "unquote",
    "urljoin",
    "urlparse",
    "replace",
    "isinstance",
    "callable",
    "sorted",
    "max",
    "min",
    "sum",
    "any",
    "all",
    "zip",
    "map",
    "filter",
    "enumerate",
    "range",
    "reversed",
    "wraps",
    "partial",
    "namedtuple",
    "itemgetter",
    "attrgetter",
    "signature",
    "getattr",
    "hasattr",
    "type",
    "id",
    "hash",
];

/// First words of names that act, even where the value is used.
const ACTING: &[&str] = &[
    "set",
    "add",
    "remove",
    "delete",
    "del",
    "write",
    "send",
    "save",
    "store",
    "update",
    "open",
    "close",
    "start",
    "stop",
    "run",
    "register",
    "unregister",
    "emit",
    "log",
    "print",
    "append",
    "extend",
    "push",
    "insert",
    "clear",
    "reset",
    "install",
    "uninstall",
    "connect",
    "disconnect",
    "execute",
    "commit",
    "rollback",
    "put",
    "post",
    "patch",
    "publish",
    "notify",
    "fire",
    "trigger",
    "dispatch",
    "mkdir",
    "makedirs",
    "rmdir",
    "unlink",
    "rename",
    "move",
    "flush",
    "acquire",
    "release",
    "subscribe",
    "cancel",
    "schedule",
    "submit",
    "spawn",
    "kill",
    "terminate",
    "sleep",
    "exit",
    "abort",
    "warn",
    "echo",
    "info",
    "debug",
    "warning",
    "error",
    "exception",
    "critical",
];

/// The first word of a call's own name: `inc` for `self.stats.inc_value`.
fn verb(call: &Call) -> String {
    let name = call.callee.rsplit('.').next().unwrap_or(&call.callee).trim_start_matches('_');
    name.split('_').next().unwrap_or(name).to_lowercase()
}

/// A call that does something, as far as its name and use tell.
fn is_action(call: &Call) -> bool {
    let verb = verb(call);
    if call.discarded {
        return !ASKING.contains(&verb.as_str());
    }
    ACTING.contains(&verb.as_str())
}

/// The same callee and the same arguments; how arguments are passed makes no difference where they are the same.
fn same_call(old: &Call, new: &Call, rules: &Rules) -> bool {
    old.callee == new.callee && same_arguments(old, new, rules)
}

fn same_arguments(old: &Call, new: &Call, rules: &Rules) -> bool {
    if all_equal(&old.arguments, &new.arguments, rules) {
        let matches = |(name, value): &(String, Observed)| {
            new.keywords.iter().any(|(other_name, other)| name == other_name && equal(value, other, rules))
        };
        return old.keywords.len() == new.keywords.len() && old.keywords.iter().all(matches);
    }
    if old.arguments.len() == new.arguments.len() {
        return false;
    }
    let values = |call: &Call| -> Vec<Observed> {
        call.arguments.iter().chain(call.keywords.iter().map(|(_, value)| value)).cloned().collect()
    };
    let (a, mut b) = (values(old), values(new));
    a.len() == b.len()
        && a.iter().all(|value| match b.iter().position(|other| equal(value, other, rules)) {
            Some(index) => {
                b.remove(index);
                true
            }
            None => false,
        })
}

pub(super) fn compare(old: &Behavior, new: &Behavior, rules: &Rules, found: &mut Vec<Difference>) {
    let actions = |behavior: &'_ Behavior| -> Vec<Call> {
        behavior.calls.iter().filter(|call| is_action(call)).cloned().collect()
    };
    let (a, b) = (actions(old), actions(new));
    let first = (0..a.len().max(b.len())).find(|&index| match (a.get(index), b.get(index)) {
        (Some(a), Some(b)) => !same_call(a, b, rules),
        _ => true,
    });
    if let Some(index) = first {
        let text = |call: Option<&Call>| call.map_or(super::NO_CALL.into(), display_call);
        found.push(Difference {
            channel: Channel::Calls,
            place: format!("call {}", index + 1),
            old: text(a.get(index)),
            new: text(b.get(index)),
            strength: Strength::Observable,
        });
    }
}

/// Both call logs side by side, in order: a longest common subsequence of equal calls.
pub fn align(old: &[Call], new: &[Call], rules: &Rules) -> Vec<CallRow> {
    // Logs are bounded for display; the quadratic table stays small.
    const MOST: usize = 300;
    let (old, new) = (&old[..old.len().min(MOST)], &new[..new.len().min(MOST)]);
    let mut length = vec![vec![0u32; new.len() + 1]; old.len() + 1];
    for (i, a) in old.iter().enumerate().rev() {
        for (j, b) in new.iter().enumerate().rev() {
            length[i][j] =
                if same_call(a, b, rules) { length[i + 1][j + 1] + 1 } else { length[i + 1][j].max(length[i][j + 1]) };
        }
    }
    let (mut i, mut j) = (0, 0);
    let mut rows = Vec::new();
    while i < old.len() || j < new.len() {
        let row = match (old.get(i), new.get(j)) {
            (Some(a), Some(b)) if same_call(a, b, rules) => {
                CallRow { old: Some(a.clone()), new: Some(b.clone()), equal: true }
            }
            (Some(a), Some(b)) if a.callee == b.callee && length[i][j] == length[i + 1][j + 1] => {
                CallRow { old: Some(a.clone()), new: Some(b.clone()), equal: false }
            }
            (Some(a), Some(_)) if length[i + 1][j] >= length[i][j + 1] => {
                CallRow { old: Some(a.clone()), new: None, equal: false }
            }
            (_, Some(b)) => CallRow { old: None, new: Some(b.clone()), equal: false },
            (Some(a), None) => CallRow { old: Some(a.clone()), new: None, equal: false },
            (None, None) => break,
        };
        i += usize::from(row.old.is_some());
        j += usize::from(row.new.is_some());
        rows.push(row);
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::behavior::Outcome;

    fn call(callee: &str, arguments: &[i64], discarded: bool) -> Call {
        Call {
            callee: callee.into(),
            arguments: arguments.iter().map(|value| Observed::Int(value.to_string())).collect(),
            keywords: vec![],
            line: 1,
            discarded,
        }
    }

    fn behavior(calls: Vec<Call>) -> Behavior {
        Behavior {
            outcome: Outcome::Returned(Observed::None),
            arguments: vec![],
            stdout: String::new(),
            stderr: String::new(),
            log: vec![],
            calls,
            lines: vec![],
            branches: vec![],
        }
    }

    fn differs(old: Vec<Call>, new: Vec<Call>) -> bool {
        let mut found = Vec::new();
        compare(&behavior(old), &behavior(new), &Rules::default(), &mut found);
        !found.is_empty()
    }

    #[test]
    fn asking_in_another_order_is_no_difference() {
        let (a, b) = (call("x.get", &[1], false), call("y.find", &[2], false));
        assert!(!differs(vec![a.clone(), b.clone()], vec![b, a]));
    }

    #[test]
    fn an_action_that_is_gone_is_a_difference() {
        assert!(differs(vec![call("x.save", &[], true)], vec![]));
        assert!(differs(vec![call("stats.inc", &[1], true)], vec![call("stats.inc", &[2], true)]));
    }

    #[test]
    fn an_argument_by_keyword_is_the_same_argument() {
        let by_keyword =
            Call { keywords: vec![("maxsplit".into(), Observed::Int("1".into()))], ..call("x.send", &[7], true) };
        assert!(!differs(vec![call("x.send", &[7, 1], true)], vec![by_keyword]));
    }

    #[test]
    fn alignment_shows_a_removed_call_beside_nothing() {
        let rows = align(&[call("a", &[], true), call("b", &[], true)], &[call("b", &[], true)], &Rules::default());
        assert_eq!(rows.len(), 2);
        assert!(rows[0].new.is_none() && rows[1].equal);
    }
}
