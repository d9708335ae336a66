//! The network that reads a function once: functions -> rows of tokens -> forward passes -> one distribution for each
//! site.

use std::borrow::Cow;

use twincell_values::predictor::{Distribution, FunctionSites};
use twincell_values::value::AbstractValue;

use crate::backend::{self, Input, Model, Numbers, Opened, Output, Session, TAGGER, Used};
use crate::tokens::{Encoded, Tokens};
use crate::{ModelError, ModelOptions, windows};

/// Minimum length of a row on a GPU, where shorter rows take as long.
const SHORTEST: usize = 64;

/// Predicts all sites of a function from one forward pass over its text.
pub(crate) struct Tagger {
    tokens: Tokens,
    session: Box<dyn Session>,
}

/// A range of one function's tokens that goes through the network, and the sites that are read from it.
struct Row<'a> {
    ids: &'a [i64],
    reads: Vec<Read>,
}

/// Source and target of a site's prediction.
struct Read {
    /// Of the row.
    token: usize,
    function: usize,
    site: usize,
}

/// Rows of tokens for one forward pass, padded to the same length.
struct Batch {
    rows: usize,
    tokens: usize,
    /// `rows * tokens` numbers, row by row.
    input_ids: Vec<i64>,
    /// 1 for a token, 0 for padding.
    attention_mask: Vec<i64>,
}

impl Tagger {
    pub(crate) fn open(
        origin: &str,
        model: Cow<'static, [u8]>,
        tokenizer: &[u8],
        options: &ModelOptions,
    ) -> Result<(Self, Used), ModelError> {
        let tokens = Tokens::of_model(origin, tokenizer)?;
        let models = [Model { bytes: model, contract: &TAGGER }];
        let Opened { sessions: [session], used } = backend::open(origin, &models, options, |[session]| {
            let row = vec![0; tokens.window()];
            forward(session.as_ref(), &Batch::new(&vec![row.as_slice(); session.rows_at_once()])).map(|_| ())
        })?;
        Ok((Tagger { tokens, session }, used))
    }

    /// Tokenizes a text and sends the first and the last token of the vocabulary through the network. This uncovers a
    /// model that was made for another tokenizer or that answers in another shape.
    pub(crate) fn try_out(&self) -> Result<(), String> {
        self.tokens.encode("def f(a):\n    return a.b['c'](1)\n")?;
        let ids = [0, self.tokens.last_id()];
        self.forward(&Batch::new(&[&ids])).map(|_| ())
    }

    /// Whether a pass takes rows of several functions.
    pub(crate) fn many_at_once(&self) -> bool {
        self.session.rows_at_once() > 1
    }

    pub(crate) fn predict(&self, functions: &[FunctionSites<'_>]) -> Result<Vec<Vec<Distribution>>, String> {
        let mut predictions: Vec<Vec<Distribution>> =
            functions.iter().map(|function| vec![[0.0; AbstractValue::COUNT]; function.sites.len()]).collect();
        let encoded =
            functions.iter().map(|function| self.tokens.encode(function.text)).collect::<Result<Vec<_>, _>>()?;
        let mut rows = Vec::new();
        for (number, (function, encoded)) in functions.iter().zip(&encoded).enumerate() {
            rows.extend(self.rows(number, function, encoded)?);
        }
        let at_once = self.session.rows_at_once();
        if at_once > 1 {
            rows.sort_by_key(|row| self.padded(row));
        }
        let alike = |one: &Row<'_>, other: &Row<'_>| at_once == 1 || self.padded(one) == self.padded(other);
        for rows in rows.chunk_by(alike).flat_map(|rows| rows.chunks(at_once)) {
            let batch = self.batch(rows, at_once);
            let logits = self.forward(&batch)?;
            for (number, row) in rows.iter().enumerate() {
                for read in &row.reads {
                    let at = (number * batch.tokens + read.token) * AbstractValue::COUNT;
                    predictions[read.function][read.site] = softmax(&logits.values[at..at + AbstractValue::COUNT])?;
                }
            }
        }
        Ok(predictions)
    }

    /// The windows of one function from which sites are read. One window if the function fits.
    fn rows<'a>(
        &self,
        number: usize,
        function: &FunctionSites<'_>,
        encoded: &'a Encoded,
    ) -> Result<Vec<Row<'a>>, String> {
        let window = self.tokens.window();
        let starts = windows::starts(encoded.ids.len(), window);
        let mut rows: Vec<Row<'a>> = starts
            .iter()
            .map(|&start| Row { ids: &encoded.ids[start..(start + window).min(encoded.ids.len())], reads: Vec::new() })
            .collect();
        for (site_number, site) in function.sites.iter().enumerate() {
            let token = encoded
                .token_of(site)
                .filter(|_| site.end as usize <= function.text.len())
                .ok_or_else(|| format!("the site {}..{} (`{}`) is not in the text", site.start, site.end, site.path))?;
            let best = windows::best(&starts, window, token);
            rows[best].reads.push(Read { token: token - starts[best], function: number, site: site_number });
        }
        rows.retain(|row| !row.reads.is_empty());
        Ok(rows)
    }

    /// The padded length of a row where passes take many rows: the next power of two, within a minimum and the
    /// network's window.
    fn padded(&self, row: &Row<'_>) -> usize {
        row.ids.len().next_power_of_two().max(SHORTEST).min(self.tokens.window())
    }

    /// Groups rows into passes: each row alone with its own length, or as many as a pass takes, all with the same
    /// length.
    fn batch(&self, rows: &[Row<'_>], at_once: usize) -> Batch {
        let mut ids: Vec<&[i64]> = rows.iter().map(|row| row.ids).collect();
        let Some(first) = rows.first().filter(|_| at_once > 1) else { return Batch::new(&ids) };
        // What fills up is any row; nobody reads what comes of it.
        ids.resize(at_once, first.ids);
        Batch::of_length(&ids, self.padded(first))
    }

    fn forward(&self, batch: &Batch) -> Result<Output, String> {
        forward(self.session.as_ref(), batch)
    }
}

/// Runs one forward pass and checks that the answer has the shape of the contract.
fn forward(session: &dyn Session, batch: &Batch) -> Result<Output, String> {
    let shape = vec![batch.rows, batch.tokens];
    let logits = session.run(&[
        Input { name: "input_ids", shape: shape.clone(), numbers: Numbers::Int64(&batch.input_ids) },
        Input { name: "attention_mask", shape, numbers: Numbers::Int64(&batch.attention_mask) },
    ])?;
    let expected = [batch.rows, batch.tokens, AbstractValue::COUNT];
    if logits.shape != expected {
        return Err(format!("`logits` has the shape {:?} where {expected:?} was expected", logits.shape));
    }
    Ok(logits)
}

impl Batch {
    fn new(rows: &[&[i64]]) -> Self {
        Self::of_length(rows, rows.iter().map(|row| row.len()).max().unwrap_or(0))
    }

    /// Rows of at most `tokens` tokens, padded to this length.
    fn of_length(rows: &[&[i64]], tokens: usize) -> Self {
        let padded = |row: &[i64], number: &dyn Fn(i64) -> i64, out: &mut Vec<i64>| {
            out.extend(row.iter().map(|&id| number(id)));
            out.resize(out.len() + tokens - row.len(), 0);
        };
        let mut batch = Batch { rows: rows.len(), tokens, input_ids: Vec::new(), attention_mask: Vec::new() };
        for row in rows {
            padded(row, &|id| id, &mut batch.input_ids);
            padded(row, &|_| 1, &mut batch.attention_mask);
        }
        batch
    }
}

/// Probabilities of the classes.
fn softmax(logits: &[f32]) -> Result<Distribution, String> {
    if !logits.iter().all(|logit| logit.is_finite()) {
        return Err("the network's output is not finite".to_owned());
    }
    let highest = logits.iter().copied().fold(f32::MIN, f32::max);
    let weights: Distribution = std::array::from_fn(|class| (logits[class] - highest).exp());
    let total: f32 = weights.iter().sum();
    Ok(weights.map(|weight| weight / total))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::weights::{Architecture, Weights};
    use twincell_syntax::site::{Site, SiteKind};

    fn tagger() -> Tagger {
        // Integers have one scale for a whole pass; where passes take several rows there are none.
        let options = ModelOptions { threads: 1, allow_int8: false, ..ModelOptions::default() };
        let weights = Weights::embedded();
        let Architecture::Tagger(model) = weights.architecture else { panic!("the embedded network tags tokens") };
        Tagger::open("embedded", model, &weights.tokenizer, &options).unwrap().0
    }

    #[test]
    fn shorter_rows_are_padded_and_masked() {
        let batch = Batch::new(&[&[5, 6, 7], &[8]]);
        assert_eq!((batch.rows, batch.tokens), (2, 3));
        assert_eq!(batch.input_ids, [5, 6, 7, 8, 0, 0]);
        assert_eq!(batch.attention_mask, [1, 1, 1, 1, 0, 0]);
    }

    #[test]
    fn padding_does_not_change_what_a_row_predicts() {
        let tagger = tagger();
        let long = tagger.tokens.encode("def f(self, items):\n    return self.total + len(items)\n").unwrap().ids;
        let short = tagger.tokens.encode("def f(a):\n    return a.b").unwrap().ids;
        let batch = Batch::new(&[&long, &short]);
        let together = tagger.forward(&batch).unwrap().values;
        for (row, ids) in [&long, &short].into_iter().enumerate() {
            let alone = tagger.forward(&Batch::new(&[ids])).unwrap().values;
            let start = row * batch.tokens * AbstractValue::COUNT;
            for (a, b) in alone.iter().zip(&together[start..]) {
                assert!((a - b).abs() < 1e-4, "{a} and {b} in row {row}");
            }
        }
    }

    /// A session that takes several rows at once, and how many each pass had.
    struct Several(Box<dyn Session>, std::sync::Arc<std::sync::Mutex<Vec<Vec<usize>>>>);

    impl Session for Several {
        fn rows_at_once(&self) -> usize {
            3
        }

        fn run(&self, inputs: &[Input<'_>]) -> Result<Output, String> {
            self.1.lock().unwrap().push(inputs[0].shape.clone());
            self.0.run(inputs)
        }
    }

    #[test]
    fn what_functions_are_batched_with_does_not_change_their_predictions() {
        let passes = std::sync::Arc::default();
        let mut tagger = tagger();
        tagger.session = Box::new(Several(tagger.session, std::sync::Arc::clone(&passes)));
        let site = |text: &str, expression: &str| {
            let start = text.find(expression).unwrap() as u32;
            Site {
                kind: SiteKind::Attribute,
                start,
                end: start + expression.len() as u32,
                line: 1,
                identifier: String::new(),
                path: expression.to_owned(),
                catches: Vec::new(),
                discarded: false,
            }
        };
        let long = format!("def f(a):\n{}    return a.b\n", "    a.c(a.d)\n".repeat(20));
        let texts = ["def f(a): return a.b", &long, "def g(x):\n    return x.y + 1", "def h(s): return s.t"];
        let sites: Vec<_> =
            ["a.b", "a.b", "x.y", "s.t"].iter().zip(texts).map(|(part, text)| [site(text, part)]).collect();
        let functions: Vec<_> = texts.iter().zip(&sites).map(|(text, sites)| FunctionSites { text, sites }).collect();
        let together = tagger.predict(&functions).unwrap();
        for (function, expected) in functions.iter().zip(&together) {
            assert_eq!(&tagger.predict(&[*function]).unwrap()[0], expected, "{}", function.text);
        }
        let passes = passes.lock().unwrap();
        assert_eq!(passes[0], [3, 64]);
        assert!(passes.iter().all(|shape| shape[0] == 3 && shape[1].is_power_of_two()), "{passes:?}");
    }

    #[test]
    fn softmax_bears_large_logits_and_refuses_what_is_no_number() {
        let mut logits = [0.0; 12];
        logits[3] = 1e30;
        assert_eq!(softmax(&logits).unwrap()[3], 1.0);
        logits[4] = f32::NAN;
        assert!(softmax(&logits).is_err());
    }
}
