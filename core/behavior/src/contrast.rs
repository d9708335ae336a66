//! Shows two differing values as two bounded texts that differ. Where the texts would be cut before the difference,
//! they begin at it.

use twincell_engine::observed::{INDEX, ITEMS, NAMES, Observed, TEXT, VALUE, VALUES, WRITTEN};
use twincell_syntax::PerSide;

use super::Rules;
use super::equal::equal;
use crate::display::displayed;
use crate::{Displayed, Shown, display_observed};

/// The number of characters shown before the first difference.
const BEFORE: usize = 20;
/// The maximum number of items that are named as those of one list alone.
const INSERTED: usize = 3;

pub(super) fn contrast(old: &Observed, new: &Observed, rules: &Rules) -> (Shown, Shown) {
    let (old, new) = texts(old, new, rules);
    (Shown::Text(old), Shown::Text(new))
}

fn texts(old: &Observed, new: &Observed, rules: &Rules) -> (Displayed, Displayed) {
    let texts = (displayed(old), displayed(new));
    if texts.0 != texts.1 {
        return texts;
    }
    let (path, PerSide { old, new }) = innermost(old, new, rules);
    let place = if path.is_empty() { String::new() } else { format!("at {path}: ") };
    match (old, new) {
        (Observed::Str(a), Observed::Str(b)) => {
            let same = a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count();
            let from = same.saturating_sub(BEFORE);
            let rest = |text: &str| {
                let rest = Observed::Str(text.chars().skip(from).collect());
                Displayed::from(format!("{place}from character {from}: ")).then(displayed(&rest))
            };
            (rest(a), rest(b))
        }
        _ => {
            let PerSide { old, new } =
                displayed_parts(old, new, rules).map(|part| Displayed::from(place.as_str()).then(part));
            (old, new)
        }
    }
}

/// The items that one of two lists has beyond the other one.
struct Inserted<'a> {
    into_new: bool,
    items: Vec<&'a Observed>,
}

impl<'a> Inserted<'a> {
    /// The few items that one list has beyond the other, if this is all that differs.
    fn of(old: &'a Observed, new: &'a Observed, rules: &Rules) -> Option<Self> {
        use Observed as O;
        let ((O::List(old), O::List(new)) | (O::Tuple(old), O::Tuple(new))) = (old, new) else { return None };
        let into_new = old.len() < new.len();
        let (few, many) = if into_new { (old, new) } else { (new, old) };
        // Nobody counted what is left out.
        let is_cut = many.iter().chain(few).any(|item| matches!(item, O::Elided { .. }));
        if is_cut || !(1..=INSERTED).contains(&(many.len() - few.len())) {
            return None;
        }
        let mut left = few.iter().peekable();
        let mut items = Vec::new();
        for item in many {
            match left.peek() {
                Some(known) if equal(known, item, rules) => drop(left.next()),
                _ => items.push(item),
            }
        }
        left.peek().is_none().then_some(Self { into_new, items })
    }

    /// `without 'b'` and `with 'b'`.
    fn texts(&self) -> PerSide<Displayed> {
        let mut items = Displayed::default();
        for (index, item) in self.items.iter().enumerate() {
            items = items.then(if index > 0 { ", ".into() } else { "".into() }).then(displayed(item));
        }
        let (with, without) = (Displayed::from("with ").then(items.clone()), Displayed::from("without ").then(items));
        if self.into_new { PerSide::new(without, with) } else { PerSide::new(with, without) }
    }
}

/// Whether all that differs is a few items that one of two lists has beyond the other.
pub fn is_inserted(old: &Observed, new: &Observed, rules: &Rules) -> bool {
    Inserted::of(old, new, rules).is_some()
}

/// Two differing parts as texts: by what one has beyond the other, or by their numbers of items, if nothing else tells
/// them apart.
pub fn display_parts(old: &Observed, new: &Observed, rules: &Rules) -> PerSide<String> {
    displayed_parts(old, new, rules).map(Displayed::into_text)
}

/// The same, with what it shows.
fn displayed_parts(old: &Observed, new: &Observed, rules: &Rules) -> PerSide<Displayed> {
    if let Some(inserted) = Inserted::of(old, new, rules) {
        return inserted.texts();
    }
    let texts = PerSide::new(old, new).map(displayed);
    let items = |value: &Observed| match value {
        // Of more than these, nobody counted the rest.
        Observed::List(items) | Observed::Tuple(items) | Observed::Set(items)
            if !matches!(items.last(), Some(Observed::Elided { .. })) =>
        {
            Some(items.len())
        }
        _ => None,
    };
    match (items(old), items(new)) {
        (Some(one), Some(other)) if texts.old == texts.new && one != other => {
            PerSide::new(one, other).map(|count| format!("{count} item{}", if count == 1 { "" } else { "s" }).into())
        }
        _ => texts,
    }
}

/// The innermost parts of two values that differ, with their position: `['key'][2]` or `.name`.
pub fn innermost<'a>(old: &'a Observed, new: &'a Observed, rules: &Rules) -> (String, PerSide<&'a Observed>) {
    let mut path = String::new();
    let (old, new) = narrow(old, new, rules, &mut path);
    (path, PerSide::new(old, new))
}

fn narrow<'a>(old: &'a Observed, new: &'a Observed, rules: &Rules, path: &mut String) -> (&'a Observed, &'a Observed) {
    use Observed as O;
    let found = match (old, new) {
        _ if is_inserted(old, new, rules) => None,
        (O::List(a), O::List(b)) | (O::Tuple(a), O::Tuple(b)) | (O::Set(a), O::Set(b)) => item(a, b, rules),
        (O::Iterator { items: a, .. }, O::Iterator { items: b, .. }) => item(a, b, rules),
        (O::Dict(a), O::Dict(b)) => a.iter().zip(b).find_map(|((key, value), (other, its))| {
            let differs = equal(key, other, rules) && !equal(value, its, rules);
            differs.then(|| (format!("[{}]", display_observed(key)), value, its))
        }),
        // What is known by its text alone has no parts.
        (O::Object { attributes, .. }, _) if matches!(attributes.as_slice(), [(name, _)] if name == WRITTEN) => None,
        (O::Object { attributes: a, .. }, O::Object { attributes: b, .. }) => {
            named(a, b, rules).map(|(name, value, its)| match name {
                // What an object is has no name of its own.
                ITEMS | TEXT | VALUE => (String::new(), value, its),
                VALUES if !a.iter().any(|(name, _)| name == INDEX) => (String::new(), value, its),
                VALUES => (".values".to_owned(), value, its),
                INDEX => (".index".to_owned(), value, its),
                NAMES => (".index.names".to_owned(), value, its),
                name => (format!(".{}", name.trim_matches(['[', ']'])), value, its),
            })
        }
        // The places of what was assigned are written with their dot or brackets.
        (O::Injected { assigned: a, .. }, O::Injected { assigned: b, .. }) => {
            named(a, b, rules).map(|(place, value, its)| (place.to_owned(), value, its))
        }
        (O::Called { gave: a }, O::Called { gave: b }) => Some((".returned".to_owned(), &**a, &**b)),
        _ => None,
    };
    match found {
        Some((step, old, new)) if path.len() < 200 => {
            path.push_str(&step);
            narrow(old, new, rules, path)
        }
        _ => (old, new),
    }
}

/// The first of the values of the same names that differ.
fn named<'a>(
    old: &'a [(String, Observed)],
    new: &'a [(String, Observed)],
    rules: &Rules,
) -> Option<(&'a str, &'a Observed, &'a Observed)> {
    let mut values = old.iter().zip(new);
    values.find_map(|((name, value), (other, its))| {
        (name == other && !equal(value, its, rules)).then_some((name.as_str(), value, its))
    })
}

fn item<'a>(old: &'a [Observed], new: &'a [Observed], rules: &Rules) -> Option<(String, &'a Observed, &'a Observed)> {
    let at = old.iter().zip(new).position(|(a, b)| !equal(a, b, rules))?;
    Some((format!("[{at}]"), &old[at], &new[at]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use twincell_engine::observed::Elision;

    fn texts(old: &Observed, new: &Observed) -> (String, String) {
        let (old, new) = super::texts(old, new, &Rules::default());
        (old.into_text(), new.into_text())
    }

    #[test]
    fn what_differs_after_the_cut_is_shown_where_it_differs() {
        let long = |last: i64| {
            let items = (0..500).chain([last]).map(|value| Observed::Int(value.to_string()));
            Observed::Dict(vec![(Observed::Str("key".into()), Observed::List(items.collect()))])
        };
        let (old, new) = texts(&long(1), &long(2));
        assert_eq!((old.as_str(), new.as_str()), ("at ['key'][500]: 1", "at ['key'][500]: 2"));
        let text = |last: &str| Observed::Str(format!("{}{last}", "x".repeat(3000)));
        let (old, new) = texts(&text("a"), &text("b"));
        assert!(old.ends_with("xa'") && new.ends_with("xb'") && old.len() < 100, "{old}");
    }

    #[test]
    fn the_innermost_parts_have_their_place() {
        let int = |value: i64| Observed::Int(value.to_string());
        let injected = |value| Observed::Injected { path: "x".into(), assigned: vec![(".size".into(), int(value))] };
        let object = |value| Observed::Object { class: "C".into(), attributes: vec![("part".into(), injected(value))] };
        let array = |value| Observed::Object {
            class: "int64".into(),
            attributes: vec![(VALUES.into(), Observed::List(vec![int(value)]))],
        };
        let column = |value| Observed::Object {
            class: "Series".into(),
            attributes: vec![(VALUES.into(), array(value)), (INDEX.into(), array(0))],
        };
        let (old, new) = (column(1), column(2));
        assert_eq!(innermost(&old, &new, &Rules::default()).0, ".values[0]");

        let decimal = |text: &str| Observed::Object {
            class: "Decimal".into(),
            attributes: vec![(WRITTEN.into(), Observed::Str(text.into()))],
        };
        let (old, new) = (Observed::List(vec![decimal("'1'")]), Observed::List(vec![decimal("'2'")]));
        assert_eq!(innermost(&old, &new, &Rules::default()).0, "[0]");

        let extended = |value| Observed::Object {
            class: "Tags".into(),
            attributes: vec![(ITEMS.into(), Observed::List(vec![int(0), int(value)]))],
        };
        let (old, new) = (extended(1), extended(2));
        assert_eq!(innermost(&old, &new, &Rules::default()).0, "[1]");

        let (old, new) = (Observed::List(vec![int(0), object(1)]), Observed::List(vec![int(0), object(2)]));
        let (path, parts) = innermost(&old, &new, &Rules::default());
        assert_eq!((path.as_str(), parts), ("[1].part.size", PerSide::new(&int(1), &int(2))));
    }

    #[test]
    fn long_lists_of_which_one_has_more_are_told_by_their_numbers_of_items() {
        let items = |count: i64| Observed::List((0..count).map(|value| Observed::Int(value.to_string())).collect());
        let object = |count| Observed::Object { class: "C".into(), attributes: vec![("parts".into(), items(count))] };
        let (old, new) = texts(&object(200), &object(201));
        assert_eq!((old.as_str(), new.as_str()), ("at .parts: without 200", "at .parts: with 200"));
        let (old, new) = texts(&object(200), &object(210));
        assert_eq!((old.as_str(), new.as_str()), ("at .parts: 200 items", "at .parts: 210 items"));
        assert_eq!(texts(&items(1), &items(2)), ("[0]".into(), "[0, 1]".into()));
        let mut cut = vec![Observed::None; 300];
        cut.push(Observed::Elided { reason: Elision::Size });
        let parts = display_parts(&Observed::List(vec![Observed::None; 200]), &Observed::List(cut), &Rules::default());
        assert_eq!(parts.old, parts.new);
    }

    #[test]
    fn what_one_list_has_beyond_the_other_is_named() {
        let list = |names: &[&str]| Observed::List(names.iter().map(|name| Observed::Str((*name).into())).collect());
        let told = |old: &[&str], new: &[&str]| {
            let (old, new) = (list(old), list(new));
            let (path, parts) = innermost(&old, &new, &Rules::default());
            let PerSide { old, new } = display_parts(parts.old, parts.new, &Rules::default());
            format!("{path} {old} -> {new}")
        };
        assert_eq!(told(&["a", "c"], &["a", "b", "c"]), " without 'b' -> with 'b'");
        assert_eq!(told(&["a", "b", "c", "d"], &["b", "d"]), " with 'a', 'c' -> without 'a', 'c'");
        // Another item in place of one is no more and no fewer.
        assert_eq!(told(&["a", "b"], &["a", "x"]), "[1] 'b' -> 'x'");
        assert_eq!(told(&["a", "b"], &["x", "b", "c"]), "[0] 'a' -> 'x'");
    }

    #[test]
    fn short_values_are_shown_whole() {
        let (old, new) = texts(&Observed::Int("1".into()), &Observed::None);
        assert_eq!((old.as_str(), new.as_str()), ("1", "None"));
    }
}
