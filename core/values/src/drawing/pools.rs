//! Candidates for numbers, texts and bytes: the paper's basic values, literals of both versions, and typical real
//! inputs that the code's own literals do not resemble.

use rand::RngExt;
use rand_pcg::Pcg64Mcg;

use crate::value::Recipe;
use crate::value::library::Cells;

/// The paper's basic values. Literals of both versions and their neighbours are added to them.
const BASIC_INTS: [i64; 7] = [0, 1, -1, 10, -10, 100, -100];
const BASIC_STRINGS: [&str; 2] = ["", "a"];
/// Typical real inputs that the code's own literals do not resemble. They are drawn rarely, because short values make
/// witnesses that a reader grasps at a glance.
const OTHER_INTS: [i64; 10] = [2, 3, 5, -7, 13, 255, 1_000, 65_536, 2_147_483_648, -9_007_199_254_740_993];
const OTHER_FLOATS: [f64; 6] = [0.1, -0.5, 2.675, 1e-9, 1e16, 123.456];
/// No NaN: its hash is its address, so sets that contain it have another order in each process.
const ODD_FLOATS: [f64; 3] = [f64::INFINITY, f64::NEG_INFINITY, -0.0];
const OTHER_STRINGS: [&str; 22] = [
    "aA",
    "aab",
    "stra\u{df}e",
    "\u{b2}",
    "hello world",
    "Some Title",
    "UPPER",
    "a1",
    "42",
    "-7",
    "3.14",
    " padded ",
    "x.y.z",
    "path/to/file.txt",
    "a,b;c",
    "key=value",
    "user@example.com",
    "http://example.com/a?b=c#d",
    "line one\nline two",
    "na\u{ef}ve \u{2713}",
    "$",
    "abcdefghijklmnopqrstuvwxyz0123456789abcdefghijklmnopqrstuvwxyz0123456789",
];
/// How often one of these is drawn where the code has no literal.
const OTHER: f64 = 0.2;
const ODD: f64 = 0.03;
/// How often bytes are drawn that are not the encoding of a text.
const ODD_BYTES: f64 = 0.08;
/// Candidates for concrete values, from the literals of all versions.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Pools {
    ints: Vec<i64>,
    floats: Vec<f64>,
    strings: Vec<String>,
    bytes: Vec<Vec<u8>>,
    /// Whether large numbers are left out: arrays of so many items have no room.
    is_small: bool,
    /// Whether values that are false are drawn more often: `0`, `''`.
    pub(super) is_often_false: bool,
}

/// The number of [`OTHER_INTS`] that are small.
const SMALL: usize = 7;

impl Pools {
    pub fn new(literals: &[Recipe]) -> Self {
        let mut pools = Self::default();
        let mut add_int = |value: i64| {
            for near in [value, value.saturating_sub(1), value.saturating_add(1)] {
                if !BASIC_INTS.contains(&near) && !pools.ints.contains(&near) {
                    pools.ints.push(near);
                }
            }
        };
        for literal in literals {
            if let Recipe::Int(value) = literal {
                add_int(*value);
            }
        }
        for literal in literals {
            match literal {
                Recipe::Float(value) if !pools.floats.contains(value) => pools.floats.push(*value),
                Recipe::Str(text)
                    if text.len() <= 200
                        && !BASIC_STRINGS.contains(&text.as_str())
                        && !pools.strings.contains(text) =>
                {
                    pools.strings.push(text.clone());
                }
                Recipe::Bytes(bytes) if bytes.len() <= 200 && !pools.bytes.contains(bytes) => {
                    pools.bytes.push(bytes.clone());
                }
                _ => {}
            }
        }
        pools
    }

    /// Without large numbers, for code with tables and arrays.
    pub fn small(self) -> Self {
        Self { is_small: true, ..self }
    }

    /// With more values that are false, for versions that differ in what they test for its truth.
    pub fn often_false(self) -> Self {
        Self { is_often_false: true, ..self }
    }

    /// The numbers of the code, and their neighbours.
    pub(super) fn ints(&self) -> &[i64] {
        &self.ints
    }

    /// What the cells of tables are drawn from.
    pub(super) fn cells(&self, rows: usize) -> Cells<'_> {
        Cells { ints: &self.ints, texts: &self.strings, rows }
    }

    pub(super) fn int(&self, random: &mut Pcg64Mcg) -> i64 {
        if !self.ints.is_empty() && random.random_bool(0.5) {
            return self.ints[random.random_range(0..self.ints.len())];
        }
        if random.random_bool(OTHER) {
            let count = if self.is_small { SMALL } else { OTHER_INTS.len() };
            return OTHER_INTS[random.random_range(0..count)];
        }
        BASIC_INTS[random.random_range(0..BASIC_INTS.len())]
    }

    pub(super) fn float(&self, random: &mut Pcg64Mcg) -> f64 {
        if !self.floats.is_empty() && random.random_bool(0.5) {
            return self.floats[random.random_range(0..self.floats.len())];
        }
        if random.random_bool(ODD) {
            return ODD_FLOATS[random.random_range(0..ODD_FLOATS.len())];
        }
        if random.random_bool(OTHER) {
            return OTHER_FLOATS[random.random_range(0..OTHER_FLOATS.len())];
        }
        let basic = BASIC_INTS[random.random_range(0..BASIC_INTS.len())] as f64;
        if random.random_bool(0.3) { basic + 0.5 } else { basic }
    }

    pub(super) fn text(&self, random: &mut Pcg64Mcg) -> String {
        let literals = &self.strings;
        if literals.is_empty() || random.random_bool(0.35) {
            if random.random_bool(OTHER) {
                return OTHER_STRINGS[random.random_range(0..OTHER_STRINGS.len())].to_string();
            }
            return BASIC_STRINGS[random.random_range(0..BASIC_STRINGS.len())].to_string();
        }
        let one = &literals[random.random_range(0..literals.len())];
        match random.random_range(0..10) {
            0 => format!("{one}a"),
            1 => format!("a{one}"),
            2 => format!("{one}{}", literals[random.random_range(0..literals.len())]),
            _ => one.clone(),
        }
    }

    /// A text from the code itself, if it has one.
    pub(super) fn literal(&self, random: &mut Pcg64Mcg) -> &str {
        match self.strings.len() {
            0 => BASIC_STRINGS[random.random_range(0..BASIC_STRINGS.len())],
            count => &self.strings[random.random_range(0..count)],
        }
    }

    pub(super) fn some_bytes(&self, random: &mut Pcg64Mcg) -> Vec<u8> {
        if !self.bytes.is_empty() && random.random_bool(0.5) {
            return self.bytes[random.random_range(0..self.bytes.len())].clone();
        }
        if random.random_bool(ODD_BYTES) {
            return [b"\xff\xfe".to_vec(), b"\0".to_vec(), b"\xc3\xa9".to_vec()][random.random_range(0..3)].clone();
        }
        self.text(random).into_bytes()
    }
}
