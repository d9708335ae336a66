//! The network as a predictor: functions -> rows of tokens -> forward passes -> a distribution for every site.

use std::sync::OnceLock;

use twincell_core::predictor::{Distribution, FunctionSites, PredictError, Predictor};
use twincell_core::value::AbstractValue;

use crate::backend::{self, Batch, Logits, Opened};
use crate::tokens::{Encoded, Tokens};
use crate::weights::Weights;
use crate::{BackendReport, ModelError, ModelOptions, windows};

/// Comparisons that are predicted ahead together on a GPU: full passes of several lengths.
const CALLS_AHEAD: usize = 64;

/// Predicts all sites of a function from one forward pass over its text.
pub struct Neural {
    options: ModelOptions,
    network: OnceLock<Result<Network, ModelError>>,
}

impl Neural {
    /// The embedded network is opened at the first prediction, one from a folder at once.
    pub fn new(options: &ModelOptions) -> Result<Self, ModelError> {
        let network = match options.model_dir {
            Some(_) => OnceLock::from(Ok(Network::open(options)?)),
            None => OnceLock::new(),
        };
        Ok(Neural { options: options.clone(), network })
    }

    fn network(&self) -> &Result<Network, ModelError> {
        self.network.get_or_init(|| Network::open(&self.options))
    }
}

impl Predictor for Neural {
    fn describe(&self) -> String {
        self.network().as_ref().map_or_else(|_| "neural (cannot be loaded)".to_owned(), Network::describe)
    }

    fn ahead(&self) -> usize {
        match self.network() {
            Ok(network) if network.opened.session.rows_at_once() > 1 => CALLS_AHEAD,
            _ => 0,
        }
    }

    fn predict(&self, functions: &[FunctionSites<'_>]) -> Result<Vec<Vec<Distribution>>, PredictError> {
        let network = self.network().as_ref().map_err(|error| PredictError(error.to_string()))?;
        network.predict(functions).map_err(|reason| {
            PredictError(format!("{} cannot predict: {reason}; another predictor may serve", network.describe()))
        })
    }
}

/// Tokenizer and session, opened and fitting each other.
pub(crate) struct Network {
    origin: String,
    tokens: Tokens,
    opened: Opened,
}

/// A stretch of one function's tokens that goes through the network, and the sites that are read from it.
struct Row<'a> {
    ids: &'a [i64],
    reads: Vec<Read>,
}

/// Where a site's prediction comes from and goes to.
struct Read {
    /// Of the row.
    token: usize,
    function: usize,
    site: usize,
}

impl Network {
    pub(crate) fn open(options: &ModelOptions) -> Result<Self, ModelError> {
        let weights = Weights::of(options)?;
        let tokens = Tokens::from_json(&weights.tokenizer)
            .map_err(|reason| ModelError::Tokenizer { path: format!("{}/tokenizer.json", weights.origin), reason })?;
        let opened = backend::open(&weights.origin, weights.model, options)?;
        let network = Network { origin: weights.origin, tokens, opened };
        if options.model_dir.is_some() {
            network.try_out().map_err(|reason| ModelError::Contract { model: network.origin.clone(), reason })?;
        }
        Ok(network)
    }

    /// Sends the first and the last token of the vocabulary through: a model that was made for another tokenizer or
    /// that answers in another shape shows it here.
    fn try_out(&self) -> Result<(), String> {
        let ids = [0, self.tokens.last_id()];
        self.forward(&Batch::new(&[&ids])).map(|_| ()).map_err(|reason| format!("a first try failed: {reason}"))
    }

    pub(crate) fn describe(&self) -> String {
        format!("neural ({})", self.opened.session.backend())
    }

    pub(crate) fn report(&self) -> BackendReport {
        BackendReport {
            predictor: self.describe(),
            model: self.origin.clone(),
            in_use: Some(self.opened.session.backend()),
            not_used: self.opened.not_used.clone(),
        }
    }

    fn predict(&self, functions: &[FunctionSites<'_>]) -> Result<Vec<Vec<Distribution>>, String> {
        let mut predictions: Vec<Vec<Distribution>> =
            functions.iter().map(|function| vec![[0.0; AbstractValue::COUNT]; function.sites.len()]).collect();
        let encoded =
            functions.iter().map(|function| self.tokens.encode(function.text)).collect::<Result<Vec<_>, _>>()?;
        let mut rows = Vec::new();
        for (number, (function, encoded)) in functions.iter().zip(&encoded).enumerate() {
            rows.extend(self.rows(number, function, encoded)?);
        }
        let at_once = self.opened.session.rows_at_once();
        if at_once > 1 {
            rows.sort_by_key(|row| backend::padded(row.ids.len()));
        }
        let alike = |one: &Row<'_>, other: &Row<'_>| {
            at_once == 1 || backend::padded(one.ids.len()) == backend::padded(other.ids.len())
        };
        for rows in rows.chunk_by(alike).flat_map(|rows| rows.chunks(at_once)) {
            let batch = batch(rows, at_once);
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

    /// The windows of one function that sites are read from; one window if the function fits.
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

    /// One forward pass whose answer has the shape that the contract says.
    fn forward(&self, batch: &Batch) -> Result<Logits, String> {
        let logits = self.opened.session.forward(batch)?;
        let expected = [batch.rows, batch.tokens, AbstractValue::COUNT];
        if logits.shape != expected || logits.values.len() != expected.iter().product::<usize>() {
            return Err(format!("`logits` has the shape {:?} where {expected:?} was expected", logits.shape));
        }
        Ok(logits)
    }
}

/// The rows of one pass: alone as they are, or as many as passes take, all of one length.
fn batch(rows: &[Row<'_>], at_once: usize) -> Batch {
    let mut ids: Vec<&[i64]> = rows.iter().map(|row| row.ids).collect();
    let Some(first) = ids.first().copied().filter(|_| at_once > 1) else { return Batch::new(&ids) };
    // What fills up is any row; nobody reads what comes of it.
    ids.resize(at_once, first);
    Batch::of_length(&ids, backend::padded(first.len()))
}

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

    #[test]
    fn padding_does_not_change_what_a_row_predicts() {
        let network = Network::open(&ModelOptions { threads: 1, ..ModelOptions::default() }).unwrap();
        let long = network.tokens.encode("def f(self, items):\n    return self.total + len(items)\n").unwrap().ids;
        let short = network.tokens.encode("def f(a):\n    return a.b").unwrap().ids;
        let batch = Batch::new(&[&long, &short]);
        let together = network.forward(&batch).unwrap().values;
        for (row, ids) in [&long, &short].into_iter().enumerate() {
            let alone = network.forward(&Batch::new(&[ids])).unwrap().values;
            let start = row * batch.tokens * AbstractValue::COUNT;
            for (a, b) in alone.iter().zip(&together[start..]) {
                assert!((a - b).abs() < 1e-4, "{a} and {b} in row {row}");
            }
        }
    }

    use twincell_core::site::{Site, SiteKind};

    /// A session that takes several rows at once, and how many each pass had.
    struct Several(Box<dyn backend::Session>, std::sync::Arc<std::sync::Mutex<Vec<(usize, usize)>>>);

    impl backend::Session for Several {
        fn backend(&self) -> crate::Backend {
            crate::Backend::Cuda
        }

        fn rows_at_once(&self) -> usize {
            3
        }

        fn forward(&self, batch: &Batch) -> Result<Logits, String> {
            self.1.lock().unwrap().push((batch.rows, batch.tokens));
            self.0.forward(batch)
        }
    }

    #[test]
    fn what_functions_are_batched_with_does_not_change_their_predictions() {
        let passes = std::sync::Arc::default();
        let mut network = Network::open(&ModelOptions { threads: 1, ..ModelOptions::default() }).unwrap();
        let session = network.opened.session;
        network.opened.session = Box::new(Several(session, std::sync::Arc::clone(&passes)));
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
        let together = network.predict(&functions).unwrap();
        for (function, expected) in functions.iter().zip(&together) {
            assert_eq!(&network.predict(&[*function]).unwrap()[0], expected, "{}", function.text);
        }
        let passes = passes.lock().unwrap();
        assert_eq!(passes[0], (3, 64));
        assert!(passes.iter().all(|(rows, tokens)| *rows == 3 && tokens.is_power_of_two()), "{passes:?}");
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
