//! Remembers predictions, so that the same functions are not sent through the network twice.

mod disk;

use std::num::NonZeroUsize;
use std::ops::Range;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use lru::LruCache;
use sha2::{Digest, Sha256};
use twincell_core::predictor::{Distribution, FunctionSites, PredictError, Predictor};
use twincell_core::value::AbstractValue;

pub use disk::{Disk, Stored};

/// How many answers are remembered; for functions with 50 sites each that is some 3 MB.
const CAPACITY: NonZeroUsize = NonZeroUsize::new(1024).unwrap();

/// What a memory has to know of the predictor whose answers it keeps.
pub trait Remembered: Predictor {
    /// All that the bits of an answer depend on besides the functions; none where nothing can be said.
    fn identity(&self) -> Option<&str>;

    /// Each function of a call is predicted by itself.
    fn one_by_one(&self) -> bool;
}

/// The hash of everything that an answer depends on.
type Key = [u8; 32];

/// A predictor that remembers what the inner one answered; the least recently used answer is forgotten first.
///
/// Where the network takes several functions at once, on a GPU, a whole call is remembered, not each of its functions: the
/// last bits of a prediction may depend on what it is batched with, and then functions remembered one by one would make
/// the answer depend on which call came first. Two answers are the same when the hashes of all that they depend on are: the
/// texts, where the sites are (what a site is follows from both), the model, the back end. So a hit is never another
/// model's, on the disk neither.
pub struct Cached<P> {
    inner: P,
    memory: Mutex<LruCache<Key, Vec<Vec<Distribution>>>>,
    disk: Option<Disk>,
}

impl<P: Remembered> Cached<P> {
    /// Remembers in this process, and in a folder if one is given.
    pub fn new(inner: P, folder: Option<&Path>) -> Self {
        Cached { inner, memory: Mutex::new(LruCache::new(CAPACITY)), disk: folder.map(Disk::in_folder) }
    }

    /// The answers to some calls, one after the other; what is not known is asked for in one call.
    fn answer(&self, calls: &[&[FunctionSites<'_>]]) -> Result<Vec<Vec<Distribution>>, PredictError> {
        let functions: Vec<FunctionSites<'_>> = calls.iter().flat_map(|call| call.iter().copied()).collect();
        let Some(identity) = self.inner.identity() else { return self.inner.predict(&functions) };
        let units = units(calls, self.inner.one_by_one());
        let of = |unit: &Range<usize>| functions.get(unit.clone()).unwrap_or_default();
        let keys: Vec<Key> = units.iter().map(|unit| key(identity, of(unit))).collect();
        let mut answers: Vec<Option<Vec<Vec<Distribution>>>> = {
            let mut memory = self.memory();
            keys.iter().map(|key| memory.get(key).cloned()).collect()
        };
        if let Some(disk) = &self.disk {
            for ((answer, key), unit) in
                answers.iter_mut().zip(&keys).zip(&units).filter(|((answer, ..), _)| answer.is_none())
            {
                *answer = disk.get(key, |bytes| decode(bytes, of(unit)));
                if let Some(answer) = answer {
                    self.memory().put(*key, answer.clone());
                }
            }
        }

        let unknown: Vec<usize> =
            answers.iter().enumerate().filter(|(_, answer)| answer.is_none()).map(|(unit, _)| unit).collect();
        let asked: Vec<FunctionSites<'_>> = unknown.iter().flat_map(|&unit| of(&units[unit]).iter().copied()).collect();
        if !asked.is_empty() {
            // No lock is held while the network runs.
            let mut predicted = self.inner.predict(&asked)?.into_iter();
            let mut stored = Vec::new();
            for &unit in &unknown {
                let answer: Vec<Vec<Distribution>> = predicted.by_ref().take(units[unit].len()).collect();
                stored.push((keys[unit], encode(&answer)));
                self.memory().put(keys[unit], answer.clone());
                answers[unit] = Some(answer);
            }
            if let Some(disk) = &self.disk {
                disk.put(&stored);
            }
        }
        Ok(answers.into_iter().flatten().flatten().collect())
    }

    fn memory(&self) -> std::sync::MutexGuard<'_, LruCache<Key, Vec<Vec<Distribution>>>> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<P: Remembered> Predictor for Cached<P> {
    fn describe(&self) -> String {
        self.inner.describe()
    }

    fn predict(&self, functions: &[FunctionSites<'_>]) -> Result<Vec<Vec<Distribution>>, PredictError> {
        self.answer(&[functions])
    }

    fn ahead(&self) -> usize {
        // Answers must still be there when they are asked for.
        self.inner.ahead().min(CAPACITY.get() / 8)
    }

    fn predict_ahead(&self, calls: &[Vec<FunctionSites<'_>>]) -> Result<(), PredictError> {
        let calls: Vec<&[FunctionSites<'_>]> = calls.iter().map(Vec::as_slice).collect();
        self.answer(&calls).map(|_| ())
    }
}

/// What is remembered together: each function, or each call. As ranges of all functions of all calls.
fn units(calls: &[&[FunctionSites<'_>]], one_by_one: bool) -> Vec<Range<usize>> {
    let mut begins = 0;
    let mut units = Vec::new();
    for call in calls {
        let ends = begins + call.len();
        if one_by_one {
            units.extend((begins..ends).map(|function| function..function + 1));
        } else if begins < ends {
            units.push(begins..ends);
        }
        begins = ends;
    }
    units
}

fn key(identity: &str, functions: &[FunctionSites<'_>]) -> Key {
    let mut hash = Sha256::new();
    // With lengths, so that texts do not run into each other.
    let mut put = |bytes: &[u8]| {
        hash.update((bytes.len() as u64).to_le_bytes());
        hash.update(bytes);
    };
    put(identity.as_bytes());
    for function in functions {
        put(function.text.as_bytes());
        let ranges: Vec<u8> = function
            .sites
            .iter()
            .flat_map(|site| [site.start.to_le_bytes(), site.end.to_le_bytes()].concat())
            .collect();
        put(&ranges);
    }
    hash.finalize().into()
}

/// The numbers, one after the other; how many belong to a function is known from its sites.
fn encode(answer: &[Vec<Distribution>]) -> Vec<u8> {
    answer.iter().flatten().flatten().flat_map(|probability| probability.to_le_bytes()).collect()
}

/// How far the sum of a distribution may be from 1.
const SUM_TOLERANCE: f32 = 1e-3;

/// None unless these are as many distributions as the functions have sites.
fn decode(bytes: &[u8], functions: &[FunctionSites<'_>]) -> Option<Vec<Vec<Distribution>>> {
    let (numbers, rest) = bytes.as_chunks::<4>();
    let numbers: Vec<f32> = numbers.iter().map(|number| f32::from_le_bytes(*number)).collect();
    let (distributions, left) = numbers.as_chunks::<{ AbstractValue::COUNT }>();
    let sites: usize = functions.iter().map(|function| function.sites.len()).sum();
    let sound = |distribution: &Distribution| {
        distribution.iter().all(|probability| (0.0..=1.0).contains(probability))
            && (distribution.iter().sum::<f32>() - 1.0).abs() < SUM_TOLERANCE
    };
    if !rest.is_empty() || !left.is_empty() || distributions.len() != sites || !distributions.iter().all(sound) {
        return None;
    }
    let mut distributions = distributions.iter().copied();
    Some(functions.iter().map(|function| distributions.by_ref().take(function.sites.len()).collect()).collect())
}

#[cfg(test)]
mod tests;
