//! Names, sentences and patches: what people read. Nothing decides by them.

use std::collections::BTreeSet;

use similar::TextDiff;
use twincell_syntax::Side;
use twincell_testing::Seen;

use crate::body::places;
use crate::captured_output::told;
use crate::form::asked;
use crate::literal::string;
use crate::observe::{self, Difference};
use crate::result::{AmplifiedTest, Form, Raised, Shown, Technique};
use crate::run::Trial;
use crate::subject::{Addition, Subject, TestModule};

/// A test with its name, its sentence and its patches.
#[allow(clippy::too_many_arguments)]
pub fn written(
    module: &TestModule,
    subject: &Subject,
    origin: &str,
    targets: &BTreeSet<String>,
    others: &[String],
    shown: &Shown,
    trial: &Trial,
    old: &Trial,
    new: Option<&Trial>,
) -> AmplifiedTest {
    // Of the changed functions, one that the test names.
    let text = old.code.text();
    let is_word = |name: &&String| text.split(|it: char| !it.is_alphanumeric() && it != '_').any(|word| word == **name);
    let targets: BTreeSet<String> = targets.iter().filter(is_word).cloned().collect();
    let name = name(module, subject, &targets, others, shown);
    AmplifiedTest {
        origin: origin.to_owned(),
        origin_text: subject.code.lines().to_owned(),
        file: subject.file.clone(),
        technique: Technique::Assertions,
        steps: vec![],
        shows: shown.clone(),
        sentence: sentence(shown, trial),
        old: form(module, subject, &name, old),
        new: new.map(|new| form(module, subject, &name, new)),
    }
}

/// The name of the origin, and what of the change the test shows.
fn name(
    module: &TestModule,
    subject: &Subject,
    targets: &BTreeSet<String>,
    others: &[String],
    shown: &Shown,
) -> String {
    let what = match shown {
        Shown::Value(Difference { heard: Some(heard), .. }) => match heard.channel {
            Seen::Local(_) => String::new(),
            Seen::Output => "output".to_owned(),
            Seen::ErrorOutput => "error_output".to_owned(),
            Seen::Messages => "messages".to_owned(),
            Seen::Warnings => "warnings".to_owned(),
        },
        Shown::Value(difference) => snake(&difference.expression),
        Shown::Raises { expression, raised, returned, .. } => {
            let class = |raised: &Raised| snake(raised.class.rsplit('.').next().unwrap_or(""));
            match &raised.new {
                Some(raised) => format!("raises_{}", class(raised)),
                None => match (&returned.new, expression.split_once(" = ")) {
                    (Some(value), Some((name, _))) => snake(&asked(name, value).0),
                    _ => "raises_nothing".to_owned(),
                },
            }
        }
    };
    let target = targets.iter().next().map(|name| format!("{}_", snake(name))).unwrap_or_default();
    let wish = if subject.name.contains(target.trim_end_matches('_')) || targets.len() > 3 {
        format!("{}_{what}", subject.name)
    } else {
        format!("{}_{target}{what}", subject.name)
    };
    let wish: String = wish.chars().take(80).collect();
    let mut taken: BTreeSet<String> = module.subjects.iter().map(|subject| subject.name.clone()).collect();
    taken.extend(others.iter().cloned());
    crate::body::fresh(&mut taken, wish.trim_end_matches('_'))
}

/// `len(cart.items)` as `len_cart_items`, `ValueError` as `value_error`, `LIMIT` as `limit`.
fn snake(text: &str) -> String {
    let mut name = String::new();
    let mut last = ' ';
    for character in text.chars() {
        if character.is_ascii_uppercase() && last.is_ascii_lowercase() {
            name.push('_');
        }
        last = character;
        if character.is_ascii_alphanumeric() {
            name.push(character.to_ascii_lowercase());
        } else if !name.is_empty() && !name.ends_with('_') {
            name.push('_');
        }
    }
    name.trim_matches('_').chars().take(40).collect()
}

fn form(module: &TestModule, subject: &Subject, name: &str, trial: &Trial) -> Form {
    let added = addition(module, subject, name, trial);
    let (text, imports) = (added.code.lines().to_owned(), added.imports.clone());
    let with = module.with(&[added]);
    Form {
        id: subject.id(name),
        name: name.to_owned(),
        text,
        imports: imports.into_iter().collect(),
        patch: patch(module, &with),
    }
}

/// A test as it is put into its module.
pub fn addition(module: &TestModule, subject: &Subject, name: &str, trial: &Trial) -> Addition {
    let imports = module.missing(&trial.imports);
    Addition { behind: subject.behind, code: trial.code.renamed(name), imports }
}

/// A unified diff that `git apply` takes, from the file of a module to what it is to be for a new text of the module.
pub fn patch(module: &TestModule, new: &str) -> String {
    let file = quoted(&format!("b/{}", module.file));
    let name = if module.is_new { "/dev/null".to_owned() } else { quoted(&format!("a/{}", module.file)) };
    let new = module.as_written(new);
    // For git, nothing else ends a line.
    let [old, new] = [module.original(), &new].map(|text| text.split_inclusive('\n').collect::<Vec<_>>());
    let diff = TextDiff::configure().diff_slices(&old, &new);
    let mut patch = String::new();
    for hunk in diff.unified_diff().context_radius(3).iter_hunks() {
        if patch.is_empty() {
            patch = format!("--- {name}\n+++ {file}\n");
        }
        patch += &format!("{}\n", hunk.header());
        for change in hunk.iter_changes() {
            let end = if change.value().ends_with('\n') { "" } else { "\n\\ No newline at end of file\n" };
            patch += &format!("{}{}{end}", change.tag(), change.value());
        }
    }
    patch
}

/// A path as git writes it in a patch: one with special characters stands between quotes, as in C, so that no name ends its line.
/// For `git apply`, a space would otherwise end the name, too, which git marks by a tab behind it.
fn quoted(path: &str) -> String {
    let is_special = |byte: u8| !(0x20..0x7f).contains(&byte) || matches!(byte, b'"' | b'\\');
    if !path.bytes().any(is_special) {
        return if path.contains(' ') { format!("{path}\t") } else { path.to_owned() };
    }
    let mut written = String::from("\"");
    for byte in path.bytes() {
        match byte {
            b'"' | b'\\' => written.extend(['\\', char::from(byte)]),
            0x07 => written.push_str("\\a"),
            0x08 => written.push_str("\\b"),
            b'\t' => written.push_str("\\t"),
            b'\n' => written.push_str("\\n"),
            0x0b => written.push_str("\\v"),
            0x0c => written.push_str("\\f"),
            b'\r' => written.push_str("\\r"),
            byte if is_special(byte) => written.push_str(&format!("\\{byte:03o}")),
            byte => written.push(char::from(byte)),
        }
    }
    written.push('"');
    written
}

/// What the two versions do, in one line.
fn sentence(shown: &Shown, trial: &Trial) -> String {
    match shown {
        Shown::Value(difference) if difference.heard.is_some() => said(difference, trial),
        Shown::Value(difference) => {
            let subject = origin_of(&difference.expression, trial);
            let [old, new] = [Side::Old, Side::New].map(|side| observe::shown(&difference.values[side]));
            format!("{subject} gave {old}, gives {new}")
        }
        Shown::Raises { expression, raised, returned, .. } => {
            let first = value_of(expression);
            let value = |side: Side| returned[side].as_ref().map(observe::shown);
            let told = |raised: &Raised| match raised.message.lines().next() {
                Some(message) if !message.is_empty() => format!("{}({})", raised.class, string(message)),
                _ => raised.class.clone(),
            };
            match (&raised.old, &raised.new) {
                (Some(old), Some(new)) => format!("{first} raised {}, raises {}", told(old), told(new)),
                (None, Some(new)) => {
                    let did = value(Side::Old).map_or("raised nothing".to_owned(), |value| format!("gave {value}"));
                    format!("{first} {did}, raises {}", told(new))
                }
                (Some(old), None) => {
                    let does = value(Side::New).map_or("raises nothing".to_owned(), |value| format!("gives {value}"));
                    format!("{first} raised {}, {does}", told(old))
                }
                (None, None) => first,
            }
        }
    }
}

/// What the two versions print, log or warn.
fn said(difference: &Difference, trial: &Trial) -> String {
    let Some(heard) = &difference.heard else { return String::new() };
    let place = places(&trial.code).into_iter().nth(difference.point as usize);
    let first = value_of(place.as_ref().map_or("", |place| trial.code.slice(place.range)));
    let [old, new] = [Side::Old, Side::New].map(|side| told(heard, &difference.values, side));
    let (did, does) = match heard.channel {
        Seen::Local(_) => ("gave", "gives"),
        Seen::Output => ("printed", "prints"),
        Seen::ErrorOutput => ("wrote to standard error", "writes"),
        Seen::Messages => ("logged", "logs"),
        Seen::Warnings => ("warned of", "warns of"),
    };
    format!("{first} {did} {old}, {does} {new}")
}

/// The first line of a statement: `f(x)` of `y = f(x)`.
fn value_of(statement: &str) -> String {
    let first = statement.lines().next().unwrap_or("");
    first.split_once(" = ").map_or(first, |(_, value)| value).to_owned()
}

/// `f(x).total` for `result.total`, where the test says `result = f(x)`.
fn origin_of(expression: &str, trial: &Trial) -> String {
    let end = expression.find(|it: char| !it.is_alphanumeric() && it != '_').unwrap_or(expression.len());
    let (name, rest) = expression.split_at(end);
    let prefix = format!("{name} = ");
    // What is used has changed since.
    let text = trial.code.text();
    let mut words = text.split(|it: char| !it.is_alphanumeric() && it != '_');
    if words.by_ref().filter(|word| *word == name).nth(1).is_some() {
        return expression.to_owned();
    }
    let mut bindings = trial.code.text().lines().filter_map(|line| line.trim_start().strip_prefix(&prefix));
    match (bindings.next(), bindings.next()) {
        (Some(value), None) if value.len() <= 100 && value.ends_with([')', ']']) => format!("{value}{rest}"),
        _ => expression.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::Code;

    #[test]
    fn names_are_small_words() {
        for (text, name) in [
            ("len(cart.items)", "len_cart_items"),
            ("ValueError", "value_error"),
            ("LIMIT", "limit"),
            ("HTTPError_2", "httperror_2"),
            ("cart['A-b']", "cart_a_b"),
        ] {
            assert_eq!(snake(text), name);
        }
    }

    #[test]
    fn names_are_quoted_as_git_quotes_them() {
        for (name, written) in [
            ("a/t.py", "a/t.py"),
            ("a/b c.py", "a/b c.py\t"),
            ("a/x\n+++ b/y", r#""a/x\n+++ b/y""#),
            ("a/\"\\\t\r\u{1}\u{7f}", r#""a/\"\\\t\r\001\177""#),
            ("a/é", r#""a/\303\251""#),
        ] {
            assert_eq!(quoted(name), written);
        }
    }

    #[test]
    fn a_patch_has_the_lines_of_the_file_as_they_are() {
        let patch = |original: &str| {
            let module = TestModule::new("t.py", original);
            let (code, imports) = (Code::new("def test_b(): pass\n"), BTreeSet::new());
            patch(&module, &module.with(&[Addition { behind: module.subjects[0].behind, code, imports }]))
        };
        let lines = ["def test_a(): pass\r\n", "\r\n", "\r\n", "def test_b(): pass\r\n"];
        let [old, blank, _, new] = lines;
        assert_eq!(patch(old), format!("--- a/t.py\n+++ b/t.py\n@@ -1 +1,4 @@\n {old}+{blank}+{blank}+{new}"));
        assert_eq!(
            patch("\u{feff}def test_a(): pass"),
            "--- a/t.py\n+++ b/t.py\n@@ -1 +1,4 @@\n-\u{feff}def test_a(): pass\n\\ No newline at end of file\n\
             +\u{feff}def test_a(): pass\n+\n+\n+def test_b(): pass\n"
        );
        assert_eq!(
            patch("def test_a(): pass\r"),
            "--- a/t.py\n+++ b/t.py\n@@ -1 +1 @@\n-def test_a(): pass\r\n\\ No newline at end of file\n\
             +def test_a(): pass\r\r\rdef test_b(): pass\r\n\\ No newline at end of file\n"
        );
        assert_eq!(self::patch(&TestModule::new("t.py", old), "def test_a(): pass\n"), "");
        let new = TestModule::of_one("t.py", "def test_a(): pass\n").unwrap();
        assert_eq!(self::patch(&new, "x = 1\n"), "--- /dev/null\n+++ b/t.py\n@@ -0,0 +1 @@\n+x = 1\n");
    }
}
