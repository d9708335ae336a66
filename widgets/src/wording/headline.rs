//! The example of a change as a sentence: `f(x=0): 3 -> 0, where self.discount = 1`.

use twincell_behavior::{short_path, short_text};
use twincell_compare::report::{CallSite, Condition, Contrast, Headline};
use twincell_syntax::PerSide;
use twincell_values::path::{AccessPath, Question};
use twincell_values::value::{Decision, Recipe};

/// `f(x=0): 3 -> 0, where self.discount = 1`.
pub fn headline(headline: &Headline) -> String {
    let colon = if headline.call.is_empty() { "" } else { ": " };
    let mut said = format!("{}{colon}{}", headline.call, contrast(&headline.contrast));
    if !headline.conditions.is_empty() {
        said.push_str(&format!(", where {}", conditions(headline).join(", ")));
    }
    if headline.unlikely {
        said.push_str(" (only for an unlikely value)");
    }
    said
}

pub fn conditions(headline: &Headline) -> Vec<String> {
    headline.conditions.iter().map(condition).collect()
}

/// What differs, in front of both versions' values.
pub fn place(contrast: &Contrast) -> &str {
    if *contrast == Contrast::default() { "the two differ" } else { &contrast.place }
}

/// What differs: `3 -> 0`, `stdout 'a' -> 'b'`, `now calls g(1)`.
pub fn contrast(contrast: &Contrast) -> String {
    let place = place(contrast);
    let spaced = if place.is_empty() { String::new() } else { format!("{place} ") };
    match (&contrast.shown.old, &contrast.shown.new) {
        (Some(old), Some(new)) => format!("{spaced}{old} -> {new}"),
        (Some(old), None) => format!("no longer {spaced}{old}"),
        (None, Some(new)) => format!("now {spaced}{new}"),
        (None, None) => place.to_owned(),
    }
}

/// Two paths within a sentence: whole, where what is left out would tell them apart.
fn apart(one: &str, other: &str) -> PerSide<String> {
    let paths = PerSide::new(one, other);
    let brief = paths.as_ref().map(|path| short_path(path));
    if brief.old == brief.new { paths.map(short_text) } else { brief }
}

/// `x = 0`, `f(x) raises ValueError`, `x is true`, `'a' not in x`, `…(x) on line 7 = 0`.
pub fn condition(Condition { choice, call }: &Condition) -> String {
    let question = Question::parse(&choice.path);
    if let Decision::Value(recipe) = &choice.decision
        && let Some(answer) = answer(question, recipe)
    {
        return answer;
    }
    let path = match question {
        Question::Raise(operation) => operation,
        _ => &choice.path,
    };
    // A plain value that was called says less than the place.
    let path = match (call, AccessPath::new(path).of_called_value()) {
        (CallSite::Code(code), _) => short_path(code),
        (CallSite::Line(line), Some(call)) => format!("…{} on line {line}", short_path(call)),
        (CallSite::Unknown, Some(call)) => format!("…{}", short_path(call)),
        (_, None) => short_path(path),
    };
    match &choice.decision {
        Decision::Value(recipe) => format!("{path} = {}", short_text(&recipe.display())),
        Decision::Raise(class) => format!("{path} raises {class}"),
        Decision::Default => format!("{path} not given"),
        Decision::Same(other) => {
            let PerSide { old: one, new: other } = apart(&choice.path, other);
            format!("{one} is {other}")
        }
        Decision::Fail => format!("{path} missing"),
    }
}

/// The answer to a question about a value, as people say it; none where the question with its answer says it.
fn answer(question: Question<'_>, recipe: &Recipe) -> Option<String> {
    let path = |path: AccessPath<'_>| short_path(path.as_str());
    Some(match (question, recipe) {
        (Question::Truth(of), Recipe::Bool(is)) => format!("{} is {}", path(of), if *is { "true" } else { "false" }),
        (Question::Item { item, holder }, Recipe::Bool(is)) => {
            format!("{} {} {}", short_text(item), if *is { "in" } else { "not in" }, path(holder))
        }
        (Question::Keyword { name, .. }, Recipe::Bool(is)) => {
            format!("{name} {}", if *is { "given" } else { "not given" })
        }
        (Question::Positional(name), Recipe::Int(0)) => format!("*{name} is empty"),
        (Question::Positional(name), Recipe::Int(1)) => format!("*{name} has 1 item"),
        (Question::Positional(name), Recipe::Int(count)) => format!("*{name} has {count} items"),
        (Question::Instance { of, class }, Recipe::Bool(is)) => {
            format!("{} is {} {}", path(of), if *is { "a" } else { "no" }, short_text(class))
        }
        (Question::Succeeds(of), Recipe::Bool(true)) => format!("{} succeeds all the same", path(of)),
        (Question::Succeeds(of), Recipe::Bool(false)) => format!("{} fails", path(of)),
        (Question::Attribute(of), Recipe::Bool(is)) => {
            format!("{} {}", path(of), if *is { "exists" } else { "does not exist" })
        }
        (Question::Order { one, other }, Recipe::Int(order @ 0..=2)) => {
            let PerSide { old: one, new: other } = apart(one, other);
            format!("{one} {} {other}", ["<", "==", ">"][*order as usize])
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use twincell_values::value::Choice;

    use super::*;

    #[test]
    fn decisions_are_told_as_conditions() {
        let attribute = "hasattr(create('a long argument that nobody reads', 'and another one').load)";
        for (path, decision, said) in [
            ("self.x", Decision::Value(Recipe::Int(0)), "self.x = 0"),
            ("self.y", Decision::Fail, "self.y missing"),
            ("b", Decision::Default, "b not given"),
            ("raise a.save()", Decision::Raise("ValueError".into()), "a.save() raises ValueError"),
            ("len(*rest)", Decision::Value(Recipe::Int(0)), "*rest is empty"),
            ("len(*rest)", Decision::Value(Recipe::Int(1)), "*rest has 1 item"),
            ("len(*rest)", Decision::Value(Recipe::Int(2)), "*rest has 2 items"),
            (attribute, Decision::Value(Recipe::Bool(false)), "create(…).load does not exist"),
            ("1('a')", Decision::Value(Recipe::Int(0)), "…('a') = 0"),
        ] {
            let choice = Choice { path: path.into(), decision };
            assert_eq!(condition(&Condition { choice, call: CallSite::Unknown }), said);
        }
        let choice = Choice { path: "1('a')".into(), decision: Decision::Value(Recipe::Int(0)) };
        let at = |call| condition(&Condition { choice: choice.clone(), call });
        assert_eq!(at(CallSite::Line(7)), "…('a') on line 7 = 0");
        assert_eq!(at(CallSite::Code("read('a')".into())), "read('a') = 0");
    }
}
