//! What people answer whom a snippet asks with `input()`: what its conditions ask of answers, and a few of each kind.

use twincell_values::value::Recipe;

use crate::reading::Reading;

/// Answers that take both sides of most questions: numbers first, since a program that asks for one fails with any other.
const USUAL: [&str; 6] = ["1", "0", "-1", "y", "n", "TEXT"];
/// The maximum number of answers of each kind that conditions ask for.
const MOST: usize = 6;

/// The answers to try one after the other.
pub(crate) fn asked_for(reading: &Reading) -> Vec<String> {
    let mut texts: Vec<String> = Vec::new();
    let mut numbers: Vec<String> = vec![USUAL[0].into()];
    for recipe in reading.sketch.asked_of("input()") {
        let (kind, written) = match &recipe {
            Recipe::Int(number) => (&mut numbers, number.to_string()),
            Recipe::Float(number) => (&mut numbers, number.to_string()),
            Recipe::Str(text) if text.parse::<f64>().is_ok() => (&mut numbers, text.clone()),
            Recipe::Str(text) if !text.is_empty() => (&mut texts, text.clone()),
            _ => continue,
        };
        if !kind.contains(&written) {
            kind.push(written);
        }
    }
    numbers.truncate(MOST);
    texts.truncate(MOST);
    let mut all = [numbers, texts].concat();
    // Loops may wait for an answer that no condition names: `while not text.isupper()`.
    for usual in USUAL {
        if !all.iter().any(|known| known == usual) {
            all.push(usual.to_owned());
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_what_conditions_ask_for() {
        let text = "age = int(input())\nif age >= 18:\n    pass\nwhile input('?') != 'stop':\n    pass\n";
        let answers = asked_for(&Reading::new(text));
        assert_eq!(answers[..4], ["1", "18", "19", "17"]);
        assert!(answers.contains(&"stop".to_owned()) && answers.contains(&"n".to_owned()), "{answers:?}");
        let many: String = (0..20).map(|n| format!("if input() in ({n}, 'a{n}'):\n    pass\n")).collect();
        let answers = asked_for(&Reading::new(&many));
        assert!(["a0", "TEXT"].iter().all(|known| answers.iter().any(|answer| answer == known)), "{answers:?}");
        assert_eq!(asked_for(&Reading::new("input()\n")), USUAL);
    }
}
