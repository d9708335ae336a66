//! Remembers predictions, so that the same function is not sent through the network twice.

use std::num::NonZeroUsize;
use std::sync::{Mutex, PoisonError};

use lru::LruCache;
use twincell_core::predictor::{Distribution, FunctionSites, PredictError, Predictor};

/// How many functions are remembered; at 50 sites each that is some 3 MB.
const CAPACITY: NonZeroUsize = NonZeroUsize::new(1024).unwrap();

/// All that a predictor may look at: the text and where its sites are (what a site is follows from both).
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

/// A predictor that remembers what the inner one said; the least recently used function is forgotten first.
///
/// The key is the function itself, by its hash and then compared whole, and each predictor has its own memory: so a
/// hit is never another model's or another function's.
pub struct Cached<P> {
    inner: P,
    seen: Mutex<LruCache<Key, Vec<Distribution>>>,
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
        let keys: Vec<Key> = functions.iter().map(Key::of).collect();
        let mut known: Vec<Option<Vec<Distribution>>> = {
            let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
            keys.iter().map(|key| seen.get(key).cloned()).collect()
        };
        // The lock is free while the network runs.
        let missing: Vec<usize> = (0..functions.len()).filter(|&index| known[index].is_none()).collect();
        let asked: Vec<FunctionSites<'_>> = missing.iter().map(|&index| functions[index]).collect();
        if !asked.is_empty() {
            let predicted = self.inner.predict(&asked)?;
            let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
            for (&index, distributions) in missing.iter().zip(predicted) {
                seen.put(keys[index].clone(), distributions.clone());
                known[index] = Some(distributions);
            }
        }
        Ok(known.into_iter().flatten().collect())
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
    fn only_functions_not_seen_yet_are_predicted() {
        let cached = Cached::new(Counting(AtomicUsize::new(0)));
        assert_eq!(ask(&cached, &["a", "b"]), [0.0, 1.0]);
        assert_eq!(ask(&cached, &["b", "c", "a"]), [1.0, 2.0, 0.0]);
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
