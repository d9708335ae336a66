//! The predictions for every value site of a text, made without running anything, for teaching and for other tools.

use serde::Serialize;

use twincell_syntax::instrument::instrument;
use twincell_syntax::site::SiteKind;
use twincell_syntax::{Function, SourceError, functions, without_escapes};

use crate::predictor::{Distribution, FunctionSites, PredictError, Predictor};
use crate::value::AbstractValue;

/// The prediction for one value site.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SitePrediction {
    /// The qualified name of the function that holds the site. Sites of a nested function belong to the outer one.
    pub function: String,
    /// The position of the expression, in characters of the text, end exclusive.
    pub start: usize,
    pub end: usize,
    /// The line of the site in the text, from 1.
    pub line: u32,
    pub kind: SiteKind,
    /// The static access path, e.g. `request.meta['retries']`.
    pub path: String,
    pub probabilities: Distribution,
}

impl SitePrediction {
    /// The classes by descending probability. Equal ones keep the order of [`AbstractValue::ALL`].
    pub fn ranked(&self) -> Vec<(AbstractValue, f32)> {
        let mut ranked: Vec<_> = AbstractValue::ALL.into_iter().zip(self.probabilities).collect();
        ranked.sort_by(|a, b| b.1.total_cmp(&a.1));
        ranked
    }
}

/// The predictions for a text.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Predicted {
    /// Ordered by function as in the text, and by position within a function.
    pub sites: Vec<SitePrediction>,
    /// The places where the text is not Python. Functions in the other parts have predictions nevertheless.
    pub errors: Vec<SourceError>,
    /// The functions that could not be read, with the reason.
    pub left_out: Vec<(String, String)>,
}

/// Predicts every site of every function of a text, all functions in one batch. Notebook magics have no predictions.
pub fn predict(text: &str, predictor: &dyn Predictor) -> Result<Predicted, PredictError> {
    let (mut found, mut errors) = functions(text);
    // This keeps positions in the parsed text equal to positions in the text.
    let plain = if errors.is_empty() { None } else { without_escapes(text) };
    if let Some(plain) = &plain {
        (found, errors) = functions(plain);
    }
    let text = plain.as_deref().unwrap_or(text);
    errors.sort_by_key(|error| (error.line, error.column));
    let mut predicted = Predicted { errors, ..Predicted::default() };
    let mut read = Vec::new();
    for function in found.into_iter().filter(|function| function.parent.is_none()) {
        match instrument(&function) {
            Ok(instrumented) => read.push((function, instrumented.sites.sites)),
            // Where the function's text is not Python, the errors say why.
            Err(_) if predicted.errors.iter().any(|error| is_within(error, &function)) => {}
            Err(error) => predicted.left_out.push((function.qualname, error.to_string())),
        }
    }
    let asked: Vec<_> = read.iter().map(|(function, sites)| FunctionSites { text: &function.text, sites }).collect();
    let distributions = predictor.predict(&asked)?;
    let lines = FileLines::new(text);
    for ((function, sites), distributions) in read.iter().zip(distributions) {
        let positions = FilePositions::new(function, &lines);
        let mut of_function: Vec<_> = sites
            .iter()
            .zip(distributions)
            .map(|(site, probabilities)| SitePrediction {
                function: function.qualname.clone(),
                start: positions.in_file(site.start as usize),
                end: positions.in_file(site.end as usize),
                line: function.first_line + site.line - 1,
                kind: site.kind,
                path: site.path.clone(),
                probabilities,
            })
            .collect();
        of_function.sort_by_key(|site| (site.start, site.end));
        predicted.sites.extend(of_function);
    }
    Ok(predicted)
}

fn is_within(error: &SourceError, function: &Function) -> bool {
    let last = function.first_line + function.text.lines().count() as u32;
    (function.first_line..=last).contains(&error.line)
}

/// The lines of a text as given, with any kind of line end.
struct FileLines<'a> {
    /// (characters before it, the line without its end)
    lines: Vec<(usize, &'a str)>,
}

impl<'a> FileLines<'a> {
    fn new(text: &'a str) -> Self {
        let (mut lines, mut rest, mut before) = (Vec::new(), text, 0);
        loop {
            let Some(end) = rest.find(['\n', '\r']) else {
                lines.push((before, rest));
                return Self { lines };
            };
            let (line, tail) = rest.split_at(end);
            let ending = if tail.starts_with("\r\n") { 2 } else { 1 };
            lines.push((before, line));
            before += line.chars().count() + ending;
            rest = &tail[ending..];
        }
    }

    fn line(&self, number: usize) -> (usize, &'a str) {
        self.lines.get(number.wrapping_sub(1)).copied().unwrap_or_default()
    }
}

/// Maps a function's text, which has lost its indentation, to positions in the file.
struct FilePositions<'a> {
    text: &'a str,
    /// For each line of the text: the byte where it begins, and the offset from a column to characters of the file.
    lines: Vec<(usize, usize)>,
}

impl<'a> FilePositions<'a> {
    fn new(function: &'a Function, file: &FileLines<'_>) -> Self {
        let mut begins = 0;
        let lines = function
            .text
            .split_inclusive('\n')
            .enumerate()
            .map(|(index, line)| {
                let (before, whole) = file.line(function.first_line as usize + index);
                let shift = if index == 0 {
                    // A function may begin in the middle of a line.
                    whole.find(line.trim_end()).map_or(0, |at| whole[..at].chars().count())
                } else {
                    blanks(whole).saturating_sub(blanks(line))
                };
                let found = (begins, before + shift);
                begins += line.len();
                found
            })
            .collect();
        Self { text: &function.text, lines }
    }

    /// The number of characters of the file before a byte of the text.
    fn in_file(&self, byte: usize) -> usize {
        let index = self.lines.partition_point(|(begins, _)| *begins <= byte).saturating_sub(1);
        let (begins, before) = self.lines.get(index).copied().unwrap_or_default();
        before + self.text.get(begins..byte).map_or(0, |column| column.chars().count())
    }
}

/// The number of blanks at the start of a line.
fn blanks(line: &str) -> usize {
    line.chars().take_while(|character| matches!(character, ' ' | '\t' | '\x0c')).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Predicts int for everything.
    struct Ints;

    impl Predictor for Ints {
        fn describe(&self) -> String {
            "ints".to_owned()
        }

        fn predict(&self, functions: &[FunctionSites<'_>]) -> Result<Vec<Vec<Distribution>>, PredictError> {
            let mut ints = [0.0; AbstractValue::COUNT];
            ints[AbstractValue::Int as usize] = 1.0;
            Ok(functions.iter().map(|function| vec![ints; function.sites.len()]).collect())
        }
    }

    /// The expression of every site, cut out of the text by its offsets.
    fn cut(text: &str) -> Vec<(String, u32, String)> {
        let characters: Vec<char> = text.chars().collect();
        let found = predict(text, &Ints).unwrap();
        let one = |site: SitePrediction| {
            (site.function, site.line, characters[site.start..site.end].iter().collect::<String>())
        };
        found.sites.into_iter().map(one).collect()
    }

    #[test]
    fn offsets_are_characters_of_the_file_whatever_stands_before() {
        let text = "é = 'ü'\r\nclass Ä:\r\n    @decorated\r\n    def f(self, x):\r\n        '''\r\n  ö\r\n'''\r\n        return self.größe[x](\r\n            ñ\r\n        )  # end\r\n\r\na = 1; g = lambda y: y.z\r\n";
        let found = cut(text);
        let expected = [
            ("Ä.f", 8, "self.größe"),
            ("Ä.f", 8, "self.größe[x]"),
            ("Ä.f", 8, "self.größe[x](\r\n            ñ\r\n        )"),
            ("Ä.f", 9, "ñ"),
            ("g", 12, "y.z"),
        ];
        for (function, line, expression) in expected {
            assert!(found.contains(&(function.to_owned(), line, expression.to_owned())), "{expression}: {found:#?}");
        }
    }

    #[test]
    fn magics_are_passed_over_and_move_nothing() {
        let text = "%timeit s.split('\\n')\r\nx = !find ö -name \\*.py\n!ls \\\n  -l\ndef f(a):\n    !cd C:\\temp\n    return a.b\n";
        let found = predict(text, &Ints).unwrap();
        assert_eq!(found.errors, []);
        assert!(cut(text).contains(&("f".to_owned(), 7, "a.b".to_owned())), "{:?}", cut(text));
    }

    #[test]
    fn nested_functions_count_to_the_one_around_them_once() {
        let found = cut("def f(a):\n    def g(b):\n        return b.c\n    return g(a.d)\n");
        let of_c: Vec<_> = found.iter().filter(|(_, _, expression)| expression == "b.c").collect();
        assert_eq!(of_c, [&("f".to_owned(), 3, "b.c".to_owned())]);
    }

    #[test]
    fn what_is_no_python_is_an_error_and_the_rest_is_predicted() {
        let found = predict("def f(x):\n    return x.y\n\ndef g(:\n", &Ints).unwrap();
        assert!(!found.errors.is_empty());
        assert!(found.sites.iter().any(|site| site.path == "x.y"));
        assert_eq!(found.sites[0].ranked()[0], (AbstractValue::Int, 1.0));
        let found = predict("def f(a:\n  return a.\nx = = 3\n", &Ints).unwrap();
        assert!(found.errors.is_sorted_by_key(|error| (error.line, error.column)), "{:?}", found.errors);
        assert_eq!((found.errors[0].line, found.left_out), (1, Vec::new()));
    }
}
