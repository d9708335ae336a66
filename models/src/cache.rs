//! Remembers predictions, so that the same functions are not sent through the network twice.

use std::num::NonZeroUsize;
use std::sync::{Mutex, PoisonError};

use lru::LruCache;
use twincell_core::predictor::{Distribution, FunctionSites, PredictError, Predictor};

/// How many calls are remembered; for pairs of functions with 50 sites each that is some 3 MB.
const CAPACITY: NonZeroUsize = NonZeroUsize::new(512).unwrap();

/// All that a predictor may look at in one function: the text and where its sites are (what a site is follows from both).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Key {
    text: Box<str>,
    ranges: Box<[(u32, u32)]>,
}

impl Key {
    fn of(function: &FunctionSites<'_>) -> Self {
        Key { text: function.text.into(), ranges: function.sites.iter().map(|site| (site.start, site.end)).collect() }
    }
}

/// A predictor that remembers what the inner one answered; the least recently used call is forgotten first.
///
/// A whole call is remembered, not each of its functions: on a GPU the last bits of a prediction may depend on what it
/// is batched with, and then functions remembered one by one would make the answer depend on which call came first. The
/// key is found by its hash and compared whole, and each predictor has its own memory: a hit is never another model's.
pub struct Cached<P> {
    inner: P,
    seen: Mutex<LruCache<Vec<Key>, Vec<Vec<Distribution>>>>,
}

impl<P: Predictor> Cached<P> {
    pub fn new(inner: P) -> Self {
        Cached { inner, seen: Mutex::new(LruCache::new(CAPACITY)) }
    }
}

impl<P: Predictor> Predictor for Cached<P> {
    fn describe(&self) -> String {
        self.inner.describe()
    }

    fn predict(&self, functions: &[FunctionSites<'_>]) -> Result<Vec<Vec<Distribution>>, PredictError> {
        let key: Vec<Key> = functions.iter().map(Key::of).collect();
        let seen = || self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let known = seen().get(&key).cloned();
        if let Some(known) = known {
            return Ok(known);
        }
        // The lock is free while the network runs.
        let predicted = self.inner.predict(functions)?;
        seen().put(key, predicted.clone());
        Ok(predicted)
    }

    fn ahead(&self) -> usize {
        // Answers must still be there when they are asked for.
        self.inner.ahead().min(CAPACITY.get() / 4)
    }

    fn predict_ahead(&self, calls: &[Vec<FunctionSites<'_>>]) -> Result<(), PredictError> {
        let keys: Vec<Vec<Key>> = calls.iter().map(|call| call.iter().map(Key::of).collect()).collect();
        let seen = || self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let unknown: Vec<usize> = (0..calls.len()).filter(|call| !seen().contains(&keys[*call])).collect();
        let functions: Vec<FunctionSites<'_>> = unknown.iter().flat_map(|call| calls[*call].iter().copied()).collect();
        if functions.is_empty() {
            return Ok(());
        }
        let mut predicted = self.inner.predict(&functions)?.into_iter();
        for call in unknown {
            let answers = predicted.by_ref().take(calls[call].len()).collect();
            seen().put(keys[call].clone(), answers);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    /// Says how many functions it has been asked for, as the first probability.
    struct Counting(AtomicUsize);

    impl Predictor for Counting {
        fn describe(&self) -> String {
            "counting".to_owned()
        }

        fn predict(&self, functions: &[FunctionSites<'_>]) -> Result<Vec<Vec<Distribution>>, PredictError> {
            Ok(functions
                .iter()
                .map(|_| {
                    let mut distribution = [0.0; 12];
                    distribution[0] = self.0.fetch_add(1, Ordering::Relaxed) as f32;
                    vec![distribution]
                })
                .collect())
        }
    }

    fn ask(cached: &Cached<Counting>, texts: &[&str]) -> Vec<f32> {
        let functions: Vec<_> = texts.iter().map(|text| FunctionSites { text, sites: &[] }).collect();
        cached.predict(&functions).unwrap().iter().map(|function| function[0][0]).collect()
    }

    #[test]
    fn a_call_seen_before_is_answered_from_memory() {
        let cached = Cached::new(Counting(AtomicUsize::new(0)));
        assert_eq!(ask(&cached, &["a", "b"]), [0.0, 1.0]);
        assert_eq!(ask(&cached, &["a", "b"]), [0.0, 1.0]);
        assert_eq!(ask(&cached, &["a", "c"]), [2.0, 3.0]);
    }

    #[test]
    fn what_was_answered_ahead_is_not_asked_again() {
        let cached = Cached::new(Counting(AtomicUsize::new(0)));
        let function = |text| FunctionSites { text, sites: &[] };
        ask(&cached, &["a"]);
        let calls = [vec![function("a")], vec![function("b"), function("c")], vec![function("d")]];
        cached.predict_ahead(&calls).unwrap();
        assert_eq!(ask(&cached, &["d"]), [3.0]);
        assert_eq!(ask(&cached, &["b", "c"]), [1.0, 2.0]);
        assert_eq!(ask(&cached, &["a"]), [0.0]);
        assert_eq!(ask(&cached, &["e"]), [4.0]);
    }

    #[test]
    fn the_memory_is_bounded() {
        let cached = Cached::new(Counting(AtomicUsize::new(0)));
        let texts: Vec<String> = (0..=CAPACITY.get()).map(|number| number.to_string()).collect();
        for text in &texts {
            ask(&cached, &[text]);
        }
        assert_eq!(ask(&cached, &["0"]), [(CAPACITY.get() + 1) as f32], "the first was forgotten");
        assert_eq!(ask(&cached, &["2"]), [2.0], "a later one was not");
    }
}
