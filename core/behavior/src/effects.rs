//! The effect of a call, inferred from its name and its use: it computes, asks, or acts.
//!
//! Tables hold what is known about builtins and the standard library (`twincell_syntax::python`). For other calls, the
//! first word of the name counts (`inc` in `self.stats.inc_value`, `set` in `setHeader`), together with whether the
//! code uses the value: a call that exists only for its value asks, and one whose value is discarded acts. The meaning
//! of a word was learned from traces of real programs. `verbs.tsv` has, for each word, the number of call sites, the
//! share whose value is discarded, and the share that gives None (made by `models/train/verbs.py`; for packages that
//! were left out, it is right about whether a value is discarded at 92 of 100 sites, where 'never' is right at 77).

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

use twincell_engine::observed::{Call, Observed};
use twincell_syntax::python::{ASKING, ASKING_MODULES, REACHING};
use twincell_values::path::AccessPath;

use crate::declared::{Effects, FunctionEffect};

/// The effect of a call besides giving a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Nothing that counts, by declaration.
    Nothing,
    /// None, or none that matters: the call may be moved, repeated and left out.
    Asks,
    /// Some effect, by its name and use.
    Acts,
    /// An effect that is visible outside the program.
    Reaches,
}

/// First words of calls that act even where the value is used, whatever is usual.
const ACTING: &[&str] = &[
    "connect",
    "dispatch",
    "emit",
    "execute",
    "exit",
    "log",
    "open",
    "pop",
    "popitem",
    "push",
    "run",
    "set",
    "spawn",
    "start",
    "store",
    "submit",
    "subscribe",
    "unsubscribe",
    "patch",
    "disconnect",
    "uninstall",
    "rmdir",
];

/// First words of look-ups that put a default where nothing is. Where the value is used, they ask.
const FILLING: &[&str] = &["setdefault"];

/// A word whose values are used at least this often asks even where a value is discarded. A word whose values are
/// discarded this often acts even where a value is used.
const SELDOM: f32 = 0.05;
const MOSTLY: f32 = 0.6;

/// The share of call sites that discard the value, by first word.
static VERBS: LazyLock<FxHashMap<&'static str, f32>> = LazyLock::new(|| {
    let rows = include_str!("verbs.tsv").lines().filter_map(|line| {
        let mut cells = line.split('\t');
        let word = cells.next()?;
        let discarded_share = cells.nth(1)?.parse().ok()?;
        Some((word, discarded_share))
    });
    rows.collect()
});

/// The effect of a call besides giving a value: as declared, or else as inferred.
pub fn effect_within(call: &Call, declared: &Effects) -> Effect {
    match declared.of(call.callee.as_path()) {
        Some(FunctionEffect::None) => Effect::Nothing,
        Some(FunctionEffect::Asks) => Effect::Asks,
        Some(FunctionEffect::Acts) => Effect::Acts,
        None => effect(call),
    }
}

/// The effect of a call besides giving a value, as inferred.
pub fn effect(call: &Call) -> Effect {
    let (path, callee) = (call.callee.as_path(), call.callee.as_str());
    if callee == "open" && !opens_for_writing(call) || ASKING.contains(&callee) {
        return Effect::Asks;
    }
    if REACHING.contains(&callee) {
        return Effect::Reaches;
    }
    let name = path.own_name();
    if matches!(name, "__enter__" | "__exit__" | "__aenter__" | "__aexit__") {
        return Effect::Acts;
    }
    let name = name.trim_start_matches('_');
    let word = first_word(name);
    let discarded_share = VERBS.get(word.as_str()).copied();
    // A value may have the name of a module. Then its verbs decide.
    let by_verb = call.discarded && discarded_share.is_some_and(|share| share >= MOSTLY);
    if !by_verb && ASKING_MODULES.iter().any(|module| path.is_within(module)) {
        return Effect::Asks;
    }
    let known_to_act = ACTING.contains(&word.as_str());
    let acts = if call.discarded {
        known_to_act || discarded_share.is_none_or(|share| share > SELDOM) || is_class(name)
    } else {
        let fills = FILLING.contains(&word.as_str());
        !is_class(name) && (known_to_act || !fills && discarded_share.is_some_and(|share| share >= MOSTLY))
    };
    if acts { Effect::Acts } else { Effect::Asks }
}

/// Whether the answer of a call that only asks may depend on what others did before: on the state of its receiver and of
/// its arguments. Getters, classes and functions that are known to compute only give what they always give.
pub fn looks(call: &Call) -> bool {
    looking_word(call).is_some()
}

/// Whether nobody knows if a method changes its receiver: it takes something, and its name is no known word.
pub(super) fn may_change(call: &Call) -> bool {
    let takes = !call.arguments.is_empty() || !call.keywords.is_empty();
    let word = first_word(call.callee.as_path().last_name().trim_start_matches('_'));
    takes
        && receiver(call).is_some_and(|on| !on.as_str().is_empty())
        && looking_word(call) == Some(None)
        && !begins_with_getter(&word)
}

/// Whether a word that is not known begins with that of a getter: `getdict`.
fn begins_with_getter(word: &str) -> bool {
    let mut heads = (3..word.len()).filter_map(|end| word.get(..end));
    heads.any(|head| VERBS.get(head).is_some_and(|share| *share <= SELDOM))
}

/// How often the value of a call that looks is discarded. `None` if it does not look, and if the word is not known.
fn looking_word(call: &Call) -> Option<Option<f32>> {
    let (path, callee) = (call.callee.as_path(), call.callee.as_str());
    let name = path.own_name().trim_start_matches('_');
    let is_known = callee == "open" || ASKING.contains(&callee) || is_class(name);
    if is_known || effect(call) != Effect::Asks || ASKING_MODULES.iter().any(|module| path.is_within(module)) {
        return None;
    }
    let share = VERBS.get(first_word(name).as_str()).copied();
    share.is_none_or(|share| share > SELDOM).then_some(share)
}

/// `open(path, 'w')`. The mode of the audit event may be missing.
fn opens_for_writing(call: &Call) -> bool {
    let keyword = call.keywords.iter().find(|(name, _)| name == "mode").map(|(_, value)| value);
    match keyword.or(call.arguments.get(1)) {
        None => false,
        Some(Observed::Str(mode)) => mode.contains(['w', 'a', 'x', '+']),
        Some(_) => true,
    }
}

/// The receiver of a call, if it has one. The order of two calls on the same receiver matters.
pub fn receiver(call: &Call) -> Option<AccessPath<'_>> {
    call.callee.as_path().split_attribute().map(|(receiver, _)| receiver)
}

/// Class names are written in CapWords.
fn is_class(name: &str) -> bool {
    let mut letters = name.chars();
    letters.next().is_some_and(char::is_uppercase) && letters.any(char::is_lowercase)
}

/// The first word of a name in snake or camel case, in lower case: `set` for `setHeader`, `http` for `HTTPServer`.
fn first_word(name: &str) -> String {
    let letters: Vec<char> = name.chars().take_while(|c| c.is_alphabetic()).collect();
    let is_upper = |at: usize| letters.get(at).is_some_and(|c| c.is_uppercase());
    let mut end = usize::from(!letters.is_empty());
    if is_upper(0) && is_upper(1) {
        // An abbreviation ends before the capital letter of the next word.
        while end < letters.len() && is_upper(end) && !(letters.get(end + 1).is_some_and(|c| c.is_lowercase())) {
            end += 1;
        }
    } else {
        while end < letters.len() && !is_upper(end) {
            end += 1;
        }
    }
    letters[..end].iter().flat_map(|c| c.to_lowercase()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(callee: &str, discarded: bool) -> Call {
        Call {
            callee: callee.into(),
            arguments: vec![],
            keywords: vec![],
            line: 1,
            discarded,
            by_all: true,
            state: vec![],
        }
    }

    #[test]
    fn names_are_split_into_words() {
        for (name, word) in [
            ("setHeader", "set"),
            ("inc_value", "inc"),
            ("HTTPServer", "http"),
            ("x", "x"),
            ("Request", "request"),
            ("", ""),
        ] {
            assert_eq!(first_word(name), word, "{name}");
        }
    }

    #[test]
    fn a_call_for_its_value_asks_and_one_whose_value_is_discarded_acts() {
        for callee in ["store.get", "os.path.join", "Request", "self._find_handler", "len", "x.frobnicate", "is_valid"]
        {
            assert_eq!(effect(&call(callee, false)), Effect::Asks, "{callee}");
        }
        for callee in ["store.save", "self.stats.inc_value", "x.frobnicate", "Thread", "lock.__enter__"] {
            assert_eq!(effect(&call(callee, true)), Effect::Acts, "{callee}");
        }
    }

    #[test]
    fn a_question_looks_unless_its_name_is_that_of_a_getter() {
        // Values of `copy` are discarded exactly as often as those of a getter may be.
        for (callee, expected) in [
            ("gateway.charge", true),
            ("x.process", true),
            ("x.get", false),
            ("x.copy", false),
            ("Request", false),
            ("len", false),
        ] {
            assert_eq!(looks(&call(callee, false)), expected, "{callee}");
        }
        let takes = |callee| Call { arguments: vec![Observed::None], ..call(callee, false) };
        assert!(may_change(&takes("s.prune")) && !may_change(&call("s.prune", false)));
        for callee in ["s.get", "s.getdict", "prune"] {
            assert!(!may_change(&takes(callee)), "{callee}");
        }
    }

    #[test]
    fn some_words_say_more_than_the_use() {
        for callee in ["x.get", "text.startswith", "json.dumps", "self.is_ready"] {
            assert_eq!(effect(&call(callee, true)), Effect::Asks, "{callee}");
        }
        for callee in ["queue.append", "items.pop", "response.set_cookie", "conn.commit"] {
            assert_eq!(effect(&call(callee, false)), Effect::Acts, "{callee}");
        }
        let filling = [false, true].map(|discarded| effect(&call("index.setdefault", discarded)));
        assert_eq!(filling, [Effect::Asks, Effect::Acts]);
        assert_eq!(effect(&call("os.remove", true)), Effect::Reaches);
        let open =
            |mode: &str| Call { arguments: vec![Observed::None, Observed::Str(mode.into())], ..call("open", false) };
        assert_eq!((effect(&open("rb")), effect(&open("w"))), (Effect::Asks, Effect::Reaches));
    }
}
