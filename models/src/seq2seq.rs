//! Sequence-to-sequence networks like CodeT5, queried as in LExecutor: one query for each site, answered by a word.
//!
//! The encoder reads `<s> name <sep> kind <sep> code before <mask> code after </s>`, where `<mask>` stands for the
//! expression; `<extra_id_5>` separates, `<extra_id_2>` to `<extra_id_4>` are the kinds name, call and attribute, and
//! each line of the code is tokenized by itself. The decoder would write a word: `int`, or `int_pos` if it was trained
//! on finer values. Here it generates no word. It gives the probability of each word, as far as needed to tell its
//! class.
//!
//! Deliberately absent: subscripts as a kind (LExecutor has none; they are queried as attributes), beams, and caches of
//! the decoder's past (words are one to three tokens).

mod query;
mod words;

use twincell_values::predictor::{Distribution, FunctionSites};
use twincell_values::value::AbstractValue;

use self::query::{Queries, SHORTEST_WINDOW, Special};
use self::words::Words;
use crate::backend::{self, DECODER, ENCODER, Input, Model, Numbers, Opened, Output, Session, Used};
use crate::tokens::Tokens;
use crate::{ModelError, ModelOptions};

/// Predicts every site from its own query.
pub(crate) struct Sequences {
    tokens: Tokens,
    special: Special,
    words: Words,
    encoder: Box<dyn Session>,
    decoder: Box<dyn Session>,
}

impl Sequences {
    pub(crate) fn open(
        origin: &str,
        encoder: Vec<u8>,
        decoder: Vec<u8>,
        tokenizer: &[u8],
        options: &ModelOptions,
    ) -> Result<(Self, Used), ModelError> {
        let tokens = Tokens::of_model(origin, tokenizer)?;
        let wrong = |reason| ModelError::Tokenizer { path: format!("{origin}/tokenizer.json"), reason };
        if tokens.window() < SHORTEST_WINDOW {
            return Err(wrong(format!(
                "its truncation.max_length is {}, and a query takes {SHORTEST_WINDOW} tokens at least",
                tokens.window()
            )));
        }
        let special = Special::of(&tokens).map_err(wrong)?;
        let words = Words::of(&tokens, special.end).map_err(wrong)?;
        let models =
            [Model { bytes: encoder.into(), contract: &ENCODER }, Model { bytes: decoder.into(), contract: &DECODER }];
        let first_pass = |[encoder, decoder]: &[Box<dyn Session>; 2]| {
            let query = vec![0; tokens.window()];
            let read = hidden(encoder.as_ref(), &query)?;
            step(decoder.as_ref(), &[special.start, special.begin], &vec![1; query.len()], &read).map(|_| ())
        };
        let Opened { sessions: [encoder, decoder], used } = backend::open(origin, &models, options, first_pass)?;
        Ok((Sequences { tokens, special, words, encoder, decoder }, used))
    }

    /// Makes one short query and reads its whole answer.
    pub(crate) fn try_out(&self) -> Result<(), String> {
        self.answer(&[self.special.begin, self.special.mask, self.tokens.last_id(), self.special.end]).map(|_| ())
    }

    pub(crate) fn predict(&self, functions: &[FunctionSites<'_>]) -> Result<Vec<Vec<Distribution>>, String> {
        functions
            .iter()
            .map(|function| {
                let queries = Queries::of(function.text, &self.tokens, &self.special)?;
                function.sites.iter().map(|site| self.answer(&queries.about(site)?)).collect()
            })
            .collect()
    }

    /// The network's answer for the site of a query.
    fn answer(&self, query: &[i64]) -> Result<Distribution, String> {
        let (hidden, mask) = (hidden(self.encoder.as_ref(), query)?, vec![1; query.len()]);
        let next = |written: &[i64]| self.next(written, &mask, &hidden);
        let totals = self.words.weigh(&[self.special.start, self.special.begin], &next)?;
        let total: f64 = totals.iter().sum();
        if !(total.is_finite() && total > 0.0) {
            return Err("no word that stands for a class is possible".to_owned());
        }
        Ok(totals.map(|weight| (weight / total) as f32))
    }

    /// The logits of the decoder's next token.
    fn next(&self, written: &[i64], mask: &[i64], hidden: &Output) -> Result<Vec<f32>, String> {
        let logits = step(self.decoder.as_ref(), written, mask, hidden)?;
        let [1, steps, vocabulary] = logits.shape[..] else {
            return Err(format!("`logits` has the shape {:?}", logits.shape));
        };
        if steps != written.len() || vocabulary <= self.words.highest() {
            return Err(format!(
                "`logits` has the shape {:?} where {} steps over at least {} tokens were expected",
                logits.shape,
                written.len(),
                self.words.highest() + 1
            ));
        }
        logits
            .values
            .chunks_exact(vocabulary)
            .next_back()
            .map(<[f32]>::to_vec)
            .ok_or_else(|| "`logits` is empty".to_owned())
    }
}

/// The encoder's output for a query.
fn hidden(encoder: &dyn Session, query: &[i64]) -> Result<Output, String> {
    let (shape, mask) = (vec![1, query.len()], vec![1; query.len()]);
    let hidden = encoder.run(&[
        Input { name: "input_ids", shape: shape.clone(), numbers: Numbers::Int64(query) },
        Input { name: "attention_mask", shape, numbers: Numbers::Int64(&mask) },
    ])?;
    if !matches!(hidden.shape[..], [1, tokens, _] if tokens == query.len()) {
        return Err(format!("`last_hidden_state` has the shape {:?} for {} tokens", hidden.shape, query.len()));
    }
    Ok(hidden)
}

/// One step of the decoder.
fn step(decoder: &dyn Session, written: &[i64], mask: &[i64], hidden: &Output) -> Result<Output, String> {
    decoder.run(&[
        Input { name: "input_ids", shape: vec![1, written.len()], numbers: Numbers::Int64(written) },
        Input { name: "encoder_attention_mask", shape: vec![1, mask.len()], numbers: Numbers::Int64(mask) },
        Input { name: "encoder_hidden_states", shape: hidden.shape.clone(), numbers: Numbers::Float32(&hidden.values) },
    ])
}

/// Weights of the classes.
type Totals = [f64; AbstractValue::COUNT];
