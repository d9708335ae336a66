//! Remembers predictions, so that the same functions are not sent through the network twice. An answer from here has the bits
//! that a new one would have: its key is all that they depend on.

mod disk;

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use lru::LruCache;
use sha2::{Digest, Sha256};

use twincell_values::predictor::{Distribution, FunctionSites, PredictError, Predictor};
use twincell_values::value::AbstractValue;

pub use disk::{Disk, Stored};

/// Maximum number of answers in memory. With 50 sites for each function, this is about 10 MB.
const CAPACITY: NonZeroUsize = NonZeroUsize::new(4096).unwrap();

/// The properties of a predictor that the cache of its answers needs.
pub trait Remembered: Predictor {
    /// Everything besides the functions that the bits of an answer depend on. None if that is unknown.
    fn identity(&self) -> Option<&str>;
}

/// The hash of everything that an answer depends on.
type Key = [u8; 32];

/// A predictor that caches the answers of an inner one. It drops the least recently used answer first.
///
/// The key of an answer hashes everything that it depends on: the text, the places of its sites (which determine the
/// sites), the model and the back end. So a hit is never another model's, not even on the disk. The other functions of
/// a batch are not part of the key: a back end whose passes take several rows gives each pass the same shape.
pub struct Cached<P> {
    inner: P,
    memory: Mutex<LruCache<Key, Vec<Distribution>>>,
    disk: Option<Disk>,
}

impl<P: Remembered> Cached<P> {
    /// Caches in this process, and in a folder if one is given.
    pub fn new(inner: P, folder: Option<&Path>) -> Self {
        Cached { inner, memory: Mutex::new(LruCache::new(CAPACITY)), disk: folder.map(Disk::in_folder) }
    }

    fn memory(&self) -> std::sync::MutexGuard<'_, LruCache<Key, Vec<Distribution>>> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks an answer up in memory and on the disk.
    fn known(&self, key: &Key, function: &FunctionSites<'_>) -> Option<Vec<Distribution>> {
        if let Some(answer) = self.memory().get(key) {
            return Some(answer.clone());
        }
        let answer = self.disk.as_ref()?.get(key, |bytes| decode(bytes, function.sites.len()))?;
        self.memory().put(*key, answer.clone());
        Some(answer)
    }
}

impl<P: Remembered> Predictor for Cached<P> {
    fn describe(&self) -> String {
        self.inner.describe()
    }

    /// Asks the inner predictor for all unknown answers in one call, each function once.
    fn predict(&self, functions: &[FunctionSites<'_>]) -> Result<Vec<Vec<Distribution>>, PredictError> {
        let Some(identity) = self.inner.identity() else { return self.inner.predict(functions) };
        let keys: Vec<Key> = functions.iter().map(|function| key(identity, function)).collect();
        let (mut answers, mut unknown) = (HashMap::new(), Vec::new());
        for (key, function) in keys.iter().zip(functions) {
            if let Entry::Vacant(answer) = answers.entry(*key) {
                let known = self.known(key, function);
                if known.is_none() {
                    unknown.push((*key, *function));
                }
                answer.insert(known);
            }
        }
        if !unknown.is_empty() {
            let asked: Vec<FunctionSites<'_>> = unknown.iter().map(|(_, function)| *function).collect();
            // No lock is held while the network runs.
            let predicted = self.inner.predict(&asked)?;
            let mut stored = Vec::new();
            for ((key, _), answer) in unknown.into_iter().zip(predicted) {
                stored.push((key, encode(&answer)));
                self.memory().put(key, answer.clone());
                answers.insert(key, Some(answer));
            }
            if let Some(disk) = &self.disk {
                disk.put(&stored);
            }
        }
        Ok(keys.iter().filter_map(|key| answers.get(key).cloned().flatten()).collect())
    }

    fn ahead(&self) -> usize {
        self.inner.ahead()
    }

    fn predict_ahead(&self, calls: &[Vec<FunctionSites<'_>>]) -> Result<(), PredictError> {
        let mut functions = calls.concat();
        // Answers must still be there when they are asked for.
        functions.truncate(CAPACITY.get() / 2);
        self.predict(&functions).map(|_| ())
    }
}

fn key(identity: &str, function: &FunctionSites<'_>) -> Key {
    let mut hash = Sha256::new();
    // With lengths, so that texts do not run into each other.
    for text in [identity, function.text] {
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(text);
    }
    for site in function.sites {
        hash.update(site.start.to_le_bytes());
        hash.update(site.end.to_le_bytes());
    }
    hash.finalize().into()
}

/// The numbers of an answer, one after the other.
fn encode(answer: &[Distribution]) -> Vec<u8> {
    answer.iter().flatten().flat_map(|probability| probability.to_le_bytes()).collect()
}

/// How far the sum of a distribution may be from 1.
const SUM_TOLERANCE: f32 = 1e-3;

/// None unless there are as many distributions as sites.
fn decode(bytes: &[u8], sites: usize) -> Option<Vec<Distribution>> {
    let (numbers, rest) = bytes.as_chunks::<4>();
    let numbers: Vec<f32> = numbers.iter().map(|number| f32::from_le_bytes(*number)).collect();
    let (distributions, left) = numbers.as_chunks::<{ AbstractValue::COUNT }>();
    let sound = |distribution: &Distribution| {
        distribution.iter().all(|probability| (0.0..=1.0).contains(probability))
            && (distribution.iter().sum::<f32>() - 1.0).abs() < SUM_TOLERANCE
    };
    let whole = rest.is_empty() && left.is_empty() && distributions.len() == sites;
    (whole && distributions.iter().all(sound)).then(|| distributions.to_vec())
}

#[cfg(test)]
mod tests;
