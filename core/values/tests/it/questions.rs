//! Questions and paths are written and read back as they were, whatever the text.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

use twincell_values::path::{AccessPath, MAX_ARGUMENTS, Question, Segment, cut_at};

/// Pieces of paths, in any order: most texts from them are none that anybody writes.
fn any_text() -> impl Strategy<Value = String> {
    let pieces = vec![
        "x",
        ".",
        "é",
        "नमस्ते",
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        "'",
        "\"",
        "\\",
        ", ",
        " in ",
        "~",
        "~0123456789abcdef",
        "#2",
        " (2)",
        "await ",
        "raise ",
        "len(",
        "len(*",
        "order(",
        "isinstance(",
        "str(",
        "place of ",
        "member ",
        "1",
        "**",
        "...",
        "'''",
        "injected(",
        "again for ",
        " ",
        "\n",
    ];
    prop_oneof![vec(prop::sample::select(pieces), 0..16).prop_map(|pieces| pieces.concat()), any::<String>()]
}

fn name() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["x", "len_", "_y1", "été", "नमस्ते", "名前", "raised"]).prop_map(String::from)
}

/// A value as it stands in a path.
fn literal() -> impl Strategy<Value = String> {
    let texts = vec!["'a'", "'it\\'s ('", "\"it's\"", "0", "-1.5", "b')'", "[1, 'x in y']", "{'a': ']'}", "''", "None"];
    prop::sample::select(texts).prop_map(String::from)
}

fn path() -> impl Strategy<Value = String> {
    let root = (any::<bool>(), name()).prop_map(|(awaited, name)| if awaited { format!("await {name}") } else { name });
    root.prop_recursive(3, 24, 4, |inner| {
        let value = || prop_oneof![literal(), inner.clone()];
        let step = prop_oneof![
            name().prop_map(|name| format!(".{name}")),
            value().prop_map(|key| format!("[{key}]")),
            (vec(value(), 0..4), option::of(1..3_u8)).prop_map(|(arguments, repeated)| {
                let arguments = cut_at(arguments.join(", "), MAX_ARGUMENTS);
                format!("({arguments}){}", repeated.map_or(String::new(), |count| format!("#{count}")))
            }),
        ];
        (name(), vec(step, 1..4)).prop_map(|(root, steps)| root + &steps.concat())
    })
}

/// The questions about these.
fn questions<'a>(path: &'a str, other: &'a str, item: &'a str, name: &'a str) -> Vec<Question<'a>> {
    let of = AccessPath::new(path);
    vec![
        Question::Value(of),
        Question::Truth(of),
        Question::Length(of),
        Question::Number(of),
        Question::Zero(of),
        Question::Class(of),
        Question::Instance { of, class: name },
        Question::Attribute(of),
        Question::Text(of),
        Question::Representation(of),
        Question::Iteration(of),
        Question::Next(of),
        Question::Order { one: path, other: item },
        Question::Order { one: path, other },
        Question::Item { item, holder: of },
        Question::Item { item: path, holder: other.into() },
        Question::Place { item, holder: of },
        Question::Keyword { name, parameter: name.into() },
        Question::Positional(name),
        Question::Raise(path),
        Question::Stable(of),
        Question::Succeeds(of),
        Question::Injected(name),
        Question::WhichMember,
        Question::MembersUsed,
        Question::Member(name.len() as u32),
        Question::Operand(name.len() as u32),
        Question::Again(of),
    ]
}

/// Which of two cuts took a bracket along cannot be told.
fn two_cuts(text: &str) -> bool {
    text.matches('~').count() > 1
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_printed_as_it_was_read(text in any_text()) {
        prop_assert_eq!(Question::parse(&text).to_string(), text.clone());
        let parts: String = AccessPath::new(&text).segments().map(|segment| segment.to_string()).collect();
        prop_assert_eq!(parts, text.clone());
        let path = AccessPath::new(&text);
        if let Some((callee, arguments)) = path.split_call() {
            prop_assert_eq!(callee.call(arguments), text.as_str());
        }
        if let Some((holder, key)) = path.split_item() {
            prop_assert_eq!(holder.item(key), text.as_str());
        }
        if let Some((holder, name)) = path.split_attribute() {
            prop_assert_eq!(holder.attribute(name), text.as_str());
        }
        let is_value = matches!(Question::parse(&text), Question::Value(_));
        let is_sequence = text.starts_with("member ") || text.starts_with("again for ");
        prop_assert!(is_value || is_sequence || Question::is_answer(&text));
    }

    #[test]
    fn any_question_is_read_as_it_was_printed(
        path in path(),
        other in path(),
        item in literal(),
        name in name(),
    ) {
        for question in questions(&path, &other, &item, &name) {
            let text = question.to_string();
            if two_cuts(&text) {
                continue;
            }
            prop_assert_eq!(Question::parse(&text), question, "{}", text);
        }
    }

    #[test]
    fn a_path_has_the_parts_that_it_was_made_of(base in path(), name in name(), key in literal(), arguments in vec(path(), 0..4)) {
        prop_assert!(AccessPath::new(&base).segments().all(|segment| !matches!(segment, Segment::Unknown(_))), "{}", base);
        let arguments = cut_at(arguments.join(", "), MAX_ARGUMENTS);
        let whole = AccessPath::new(&base).attribute(&name).as_path().item(&key).as_path().call(&arguments);
        let whole = whole.as_path();
        prop_assume!(!two_cuts(whole.as_str()));
        prop_assert_eq!(whole.split_call().map(|(_, found)| found), Some(arguments.as_str()));
        let last: Vec<Segment<'_>> = whole.segments().skip(AccessPath::new(&base).segments().count()).collect();
        prop_assert_eq!(last, vec![Segment::Attribute(&name), Segment::Subscript(&key), Segment::Call(&arguments)]);
    }
}
