//! The counts at one value site, in bounded memory.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyDictMethods, PyString};

use twincell_values::value::AbstractValue;

use super::effects::Effects;

/// Lengths are counted by the largest of these numbers that they reach.
pub const LENGTHS: [usize; 8] = [0, 1, 2, 3, 4, 8, 16, 64];
/// The number of dictionaries of a site whose keys are examined, of keys examined in each, and of keys that are kept.
const DICTIONARIES: u32 = 64;
const KEYS_OF_ONE: usize = 8;
const KEYS: usize = 32;
/// The maximum number of characters of a key.
const LONGEST_KEY: usize = 40;
/// The maximum number of exception classes that are distinguished at a call.
const EXCEPTIONS: usize = 8;

/// The values of one site.
#[derive(Debug, Clone, Default)]
pub struct Seen {
    /// How often each class was seen.
    pub counts: [u64; AbstractValue::COUNT],
    /// The lengths of values of a class, by [`LENGTHS`].
    pub lengths: Vec<(AbstractValue, [u64; LENGTHS.len()])>,
    dictionaries: u32,
    /// The keys of dictionaries that are short texts, with the number of dictionaries that had them.
    pub keys: Vec<(String, u64)>,
    /// For an attribute: how often it was found on a value that is not builtin.
    pub on_objects: u64,
    /// For a call: what it changed, and the classes of exceptions that it ended in.
    pub effects: Effects,
    pub raised: Vec<(String, u64)>,
}

/// The facts recorded about one value.
pub(super) struct Note {
    class: AbstractValue,
    length: Option<usize>,
    keys: Vec<String>,
}

impl Note {
    /// Reads a value. `wants_keys` says whether to record the keys of a dictionary.
    pub(super) fn of(value: &Bound<'_, PyAny>, class: AbstractValue, wants_keys: bool) -> Self {
        let is_sized = matches!(
            class,
            AbstractValue::Str | AbstractValue::List | AbstractValue::Tuple | AbstractValue::Dict | AbstractValue::Set
        );
        // These are exact builtin classes, so this is their own length.
        let length = if is_sized { value.len().ok() } else { None };
        let keys = match value.cast_exact::<PyDict>() {
            Ok(dict) if wants_keys => dict.iter().take(KEYS_OF_ONE).filter_map(|(key, _)| short(&key)).collect(),
            _ => Vec::new(),
        };
        Self { class, length, keys }
    }
}

fn short(key: &Bound<'_, PyAny>) -> Option<String> {
    let key = key.cast_exact::<PyString>().ok().filter(|key| key.len().is_ok_and(|length| length <= LONGEST_KEY))?;
    key.extract().ok()
}

impl Seen {
    pub(super) fn wants_keys(&self) -> bool {
        self.dictionaries < DICTIONARIES
    }

    pub(super) fn add(&mut self, note: Note) {
        self.counts[note.class as usize] += 1;
        self.dictionaries += u32::from(note.class == AbstractValue::Dict);
        if let Some(length) = note.length {
            let bucket = LENGTHS.iter().rposition(|least| *least <= length).unwrap_or(0);
            let at = self.lengths.iter().position(|(class, _)| *class == note.class).unwrap_or_else(|| {
                self.lengths.push((note.class, [0; LENGTHS.len()]));
                self.lengths.len() - 1
            });
            self.lengths[at].1[bucket] += 1;
        }
        for key in note.keys {
            count(&mut self.keys, key, KEYS);
        }
    }

    pub(super) fn raised(&mut self, class: String) {
        count(&mut self.raised, class, EXCEPTIONS);
    }

    pub fn is_empty(&self) -> bool {
        self.counts.iter().all(|count| *count == 0)
    }
}

/// Counts a text, and a new one only while there is room.
fn count(counts: &mut Vec<(String, u64)>, text: String, room: usize) {
    if let Some((_, count)) = counts.iter_mut().find(|(known, _)| *known == text) {
        *count += 1;
    } else if counts.len() < room {
        counts.push((text, 1));
    }
}
