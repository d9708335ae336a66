//! Writes a witness as data: what the code read of a value one by one becomes one value. `f(order={'status': 'paid'})` says
//! at once what `f(order)` says only with `order['status'] = 'paid'`.

use twincell_engine::EngineError;
use twincell_syntax::python::attributes_of;
use twincell_values::path::{AccessPath, Question, text_of};
use twincell_values::value::{AbstractValue, Choice, Decision, Recipe};

use super::TestCase;
use super::bisect::Search;
use super::shrink::changed;

/// The maximum number of values that are written as data.
const VALUES: usize = 4;
/// The maximum length of a value, as it is written, unless it has synthesized results: of a longer one, what was read says
/// more.
const READABLE: usize = 80;
/// Methods of dictionaries that read items. What `get` gives is known as an item.
const OF_DICTIONARIES: [&str; 1] = [".get"];

impl Search<'_> {
    /// The witness with data in place of objects of which only items were read, and of containers that lack what was read, as
    /// far as the difference remains.
    pub(super) fn as_data(&mut self, witness: TestCase) -> Result<TestCase, EngineError> {
        let mut best = witness;
        let paths: Vec<String> = written(&best.record.choices).map(|(path, _)| path).take(VALUES).collect();
        for path in paths {
            let value = written(&best.record.choices).find_map(|(of, value)| (of == path).then_some(value));
            let Some(value) = value.filter(|_| !self.is_over()) else { continue };
            *self.left -= 1;
            let is_short = value.display().chars().count() <= READABLE;
            let decisions = vec![(path, Decision::Value(value))];
            if let Some(found) = changed(self.execute, &best, decisions, self.channels, self.rules, self.lost)?
                && found.record.choices.len() < best.record.choices.len()
                && (found.record.invented() < best.record.invented()
                    || is_short && found.record.invented() == best.record.invented())
            {
                best = found;
            }
        }
        Ok(best)
    }
}

/// The values that can be written as data, by path: those that were drawn, and not what was read of others.
fn written(choices: &[Choice]) -> impl Iterator<Item = (String, Recipe)> {
    choices.iter().filter_map(move |choice| {
        let (Question::Value(path), Decision::Value(recipe)) = (Question::parse(&choice.path), &choice.decision) else {
            return None;
        };
        let written = whole(choices, path.as_str(), recipe);
        (written != *recipe).then(|| (choice.path.clone(), written))
    })
}

/// The value with all that was read of it.
fn whole(choices: &[Choice], path: &str, recipe: &Recipe) -> Recipe {
    let item = |key: String, item: &Recipe| whole(choices, AccessPath::new(path).item(key).as_str(), item);
    let items = |items: &[Recipe]| items.iter().enumerate().map(|(at, value)| item(at.to_string(), value)).collect();
    match recipe {
        Recipe::Mock(AbstractValue::Object | AbstractValue::Resource) => dictionary(choices, path)
            .or_else(|| list(choices, path))
            .or_else(|| text(choices, path))
            .unwrap_or_else(|| recipe.clone()),
        Recipe::List(held) => Recipe::List(items(held)),
        Recipe::Tuple(held) => Recipe::Tuple(items(held)),
        Recipe::Dict(entries) => {
            let held = entries.iter().map(|(key, value)| (key.clone(), item(key.display(), value)));
            let lacks = |key: &Recipe| entries.iter().all(|(own, _)| own != key);
            Recipe::Dict(held.chain(read(choices, path, &lacks).unwrap_or_default()).collect())
        }
        other => other.clone(),
    }
}

/// The dictionary that does for an object what was read of it; none if the code did more than read items.
fn dictionary(choices: &[Choice], path: &str) -> Option<Recipe> {
    let entries = read(choices, path, &|_| true)?;
    let has = |item: &str| entries.iter().any(|(key, _)| key.display() == item);
    let fits = |choice: &Choice| match (Question::parse(&choice.path), &choice.decision) {
        (Question::Value(of), _) => match of.beyond(path) {
            Some(rest) => OF_DICTIONARIES.contains(&rest) || rest.starts_with('['),
            None => true,
        },
        (Question::Item { item, holder }, Decision::Value(Recipe::Bool(is))) if holder.as_str() == path => {
            has(item) == *is
        }
        (Question::Truth(of), Decision::Value(Recipe::Bool(is))) if of.as_str() == path => entries.is_empty() != *is,
        (Question::Instance { of, class: "dict" }, Decision::Value(Recipe::Bool(is))) if of.as_str() == path => *is,
        (question, _) => is_about_another(question, path),
    };
    (!entries.is_empty() && choices.iter().all(fits)).then_some(Recipe::Dict(entries))
}

/// The list that does for an object of which all items were read, in their order, and nothing else.
fn list(choices: &[Choice], path: &str) -> Option<Recipe> {
    let mut items = Vec::new();
    for choice in choices {
        let Question::Value(of) = Question::parse(&choice.path) else { continue };
        let Some((_, key)) = of.split_item().filter(|(holder, _)| holder.as_str() == path) else { continue };
        let Decision::Value(recipe) = &choice.decision else { return None };
        if key != items.len().to_string() {
            return None;
        }
        items.push(whole(choices, &choice.path, recipe));
    }
    let fits = |choice: &Choice| match (Question::parse(&choice.path), &choice.decision) {
        (Question::Value(of), _) => of.beyond(path).is_none_or(|rest| rest.starts_with('[')),
        (Question::Length(of), Decision::Value(Recipe::Int(length))) if of.as_str() == path => {
            usize::try_from(*length) == Ok(items.len())
        }
        (Question::Truth(of), Decision::Value(Recipe::Bool(is))) if of.as_str() == path => items.is_empty() != *is,
        (Question::Instance { of, class: "list" }, Decision::Value(Recipe::Bool(is))) if of.as_str() == path => *is,
        (question, _) => is_about_another(question, path),
    };
    // Without a known length, there may be more.
    let length = Question::Length(AccessPath::new(path)).to_string();
    let is_known = choices.iter().any(|choice| choice.path == length);
    (is_known && !items.is_empty() && choices.iter().all(fits)).then_some(Recipe::List(items))
}

/// The text that does for an object of which the code only called methods of texts: what the first of them gave.
fn text(choices: &[Choice], path: &str) -> Option<Recipe> {
    let mut found = None;
    for choice in choices {
        let question = Question::parse(&choice.path);
        let Question::Value(of) = question else {
            if is_about_another(question, path) { continue } else { return None }
        };
        let Some(rest) = of.beyond(path) else { continue };
        let method = rest.strip_prefix('.')?.split('(').next()?;
        if !attributes_of("str").contains(&method) {
            return None;
        }
        if let Decision::Value(gave @ Recipe::Str(_)) = &choice.decision {
            found.get_or_insert_with(|| gave.clone());
        }
    }
    found
}

/// The items with wanted keys that were read at a path, in the order in which they were; none if one was no value, or known by another key
/// than a text: lists have such items, too.
fn read(choices: &[Choice], path: &str, wanted: &dyn Fn(&Recipe) -> bool) -> Option<Vec<(Recipe, Recipe)>> {
    let mut found = Vec::new();
    for choice in choices {
        let Question::Value(of) = Question::parse(&choice.path) else { continue };
        let Some((_, key)) = of.split_item().filter(|(holder, _)| holder.as_str() == path) else { continue };
        let key = Recipe::Str(text_of(key)?.to_owned());
        if !wanted(&key) {
            continue;
        }
        let Decision::Value(recipe) = &choice.decision else { return None };
        found.push((key, whole(choices, &choice.path, recipe)));
    }
    Some(found)
}

/// Whether a question is not about the object at a path.
fn is_about_another(question: Question<'_>, path: &str) -> bool {
    let is_other = |of: AccessPath<'_>| of.as_str() != path;
    match question {
        Question::Truth(of)
        | Question::Length(of)
        | Question::Number(of)
        | Question::Zero(of)
        | Question::Class(of)
        | Question::Text(of)
        | Question::Representation(of)
        | Question::Iteration(of)
        | Question::Next(of)
        | Question::Instance { of, .. } => is_other(of),
        Question::Item { holder, .. } | Question::Place { holder, .. } => is_other(holder),
        Question::Attribute(attribute) => attribute.beyond(path).is_none(),
        Question::Order { one, other } => one != path && other != path,
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choices(all: &[(&str, Recipe)]) -> Vec<Choice> {
        let choice = |(path, value): &(&str, Recipe)| Choice {
            path: (*path).to_owned(),
            decision: Decision::Value(value.clone()),
        };
        all.iter().map(choice).collect()
    }

    fn text(text: &str) -> Recipe {
        Recipe::Str(text.into())
    }

    fn object() -> Recipe {
        Recipe::Mock(AbstractValue::Object)
    }

    fn shown(all: &[(&str, Recipe)]) -> Vec<(String, String)> {
        written(&choices(all)).map(|(path, value)| (path, value.display())).collect()
    }

    #[test]
    fn what_was_read_of_an_object_is_a_dictionary() {
        let read = [
            ("orders", Recipe::List(vec![object()])),
            ("orders[0]['status']", text("paid")),
            ("orders[0].get", Recipe::Mock(AbstractValue::Callable)),
            ("'refund' in orders[0]", Recipe::Bool(false)),
            ("orders[0]['lines']", object()),
            ("orders[0]['lines']['a']", Recipe::Int(2)),
        ];
        let expected = "[{'status': 'paid', 'lines': {'a': 2}}]".to_owned();
        assert_eq!(shown(&read)[0], ("orders".to_owned(), expected));
    }

    #[test]
    fn an_object_of_which_the_code_wants_more_stays_one() {
        let with = |more: (&'static str, Recipe)| shown(&[("x", object()), ("x['a']", Recipe::Int(1)), more]);
        assert_eq!(with(("y", Recipe::Int(1))), [("x".to_owned(), "{'a': 1}".to_owned())]);
        for more in [
            ("x.name", Recipe::Int(1)),
            ("len(x)", Recipe::Int(1)),
            ("hasattr(x.name)", Recipe::Bool(true)),
            ("bool(x)", Recipe::Bool(false)),
            ("'b' in x", Recipe::Bool(true)),
            ("order(x, 1)", Recipe::Int(0)),
        ] {
            assert_eq!(with(more), []);
        }
        assert_eq!(shown(&[("x", object())]), []);
    }

    #[test]
    fn an_object_of_which_all_items_were_read_is_a_list() {
        let read = [
            ("x", object()),
            ("len(x)", Recipe::Int(2)),
            ("x[0]['a']", Recipe::Int(3)),
            ("x[0]", object()),
            ("x[1]", Recipe::Int(1)),
        ];
        assert_eq!(shown(&read)[0], ("x".to_owned(), "[{'a': 3}, 1]".to_owned()));
        // More items may be there, or it is more than a list.
        for (at, other) in [(1, ("len(x)", Recipe::Int(3))), (1, ("y", Recipe::Int(2))), (4, ("x[2]", Recipe::Int(1)))]
        {
            let mut all = read.clone();
            all[at] = other;
            assert!(shown(&all).iter().all(|(path, _)| path != "x"), "{all:?}");
        }
        assert!(shown(&[&read[..], &[("x.append", object())]].concat()).iter().all(|(path, _)| path != "x"));
    }

    #[test]
    fn an_object_of_which_methods_of_texts_were_called_is_a_text() {
        let read = [
            ("x", Recipe::Mock(AbstractValue::Resource)),
            ("len(x)", Recipe::Int(1)),
            ("x[0]", object()),
            ("x[0].lower", Recipe::Mock(AbstractValue::Callable)),
            ("x[0].lower()", text("a")),
        ];
        assert_eq!(shown(&read)[0], ("x".to_owned(), "['a']".to_owned()));
        let others = [("x[0].name", text("a")), ("x[0]['a']", text("a")), ("bool(x[0])", Recipe::Bool(false))];
        for other in others {
            assert!(shown(&[&read[..], &[other]].concat()).iter().all(|(_, value)| value != "['a']"));
        }
    }

    #[test]
    fn what_holds_itself_many_times_is_written_at_once() {
        let paths: Vec<String> = (0..24).map(|depth| format!("x{}", "['next']".repeat(depth))).collect();
        let read: Vec<(&str, Recipe)> = paths.iter().map(|path| (path.as_str(), object())).collect();
        assert_eq!(shown(&read)[0].1.matches("'next'").count(), 23);
    }

    #[test]
    fn a_dictionary_gets_what_it_lacks() {
        let read = [("x", Recipe::Dict(vec![(text("a"), Recipe::Int(1))])), ("x['b']", Recipe::Int(2))];
        assert_eq!(shown(&read), [("x".to_owned(), "{'a': 1, 'b': 2}".to_owned())]);
    }
}
