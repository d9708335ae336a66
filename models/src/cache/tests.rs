use std::sync::atomic::{AtomicUsize, Ordering};

use twincell_syntax::site::{Site, SiteKind};

use super::*;

/// Says of each function the how manieth it was.
struct Counting {
    asked: AtomicUsize,
    identity: &'static str,
}

fn counting() -> Counting {
    Counting { asked: AtomicUsize::new(0), identity: "counting" }
}

impl Predictor for Counting {
    fn describe(&self) -> String {
        "counting".to_owned()
    }

    fn predict(&self, functions: &[FunctionSites<'_>]) -> Result<Vec<Vec<Distribution>>, PredictError> {
        Ok(functions
            .iter()
            .map(|function| {
                let share = self.asked.fetch_add(1, Ordering::Relaxed) as f32 / 65536.0;
                let mut distribution = [0.0; 12];
                (distribution[0], distribution[1]) = (share, 1.0 - share);
                vec![distribution; function.sites.len()]
            })
            .collect())
    }
}

impl Remembered for Counting {
    fn identity(&self) -> Option<&str> {
        Some(self.identity)
    }
}

fn site() -> Site {
    Site {
        kind: SiteKind::Name,
        start: 0,
        end: 1,
        line: 1,
        identifier: String::new(),
        path: String::new(),
        catches: Vec::new(),
        discarded: false,
    }
}

fn ask(cached: &Cached<Counting>, texts: &[&str]) -> Vec<usize> {
    let sites = [site()];
    let functions: Vec<_> = texts.iter().map(|text| FunctionSites { text, sites: &sites }).collect();
    cached.predict(&functions).unwrap().iter().map(|function| (function[0][0] * 65536.0) as usize).collect()
}

#[test]
fn a_function_seen_before_is_answered_from_memory() {
    let cached = Cached::new(counting(), None);
    assert_eq!(ask(&cached, &["a", "b"]), [0, 1]);
    assert_eq!(ask(&cached, &["a", "b"]), [0, 1]);
    assert_eq!(ask(&cached, &["a", "c"]), [0, 2]);
    assert_eq!(ask(&cached, &["c", "b"]), [2, 1]);
}

#[test]
fn what_was_answered_ahead_is_not_asked_again() {
    let cached = Cached::new(counting(), None);
    let sites = [site()];
    let function = |text| FunctionSites { text, sites: &sites };
    ask(&cached, &["a"]);
    let calls = [vec![function("a")], vec![function("b"), function("c")], vec![function("d")]];
    cached.predict_ahead(&calls).unwrap();
    assert_eq!(ask(&cached, &["d", "b"]), [3, 1]);
    assert_eq!(ask(&cached, &["c", "a", "e"]), [2, 0, 4]);
}

#[test]
fn equal_functions_of_a_call_are_asked_about_once() {
    let cached = Cached::new(counting(), None);
    assert_eq!(ask(&cached, &["a", "b", "a", "b", "c"]), [0, 1, 0, 1, 2]);
    assert_eq!(cached.inner.asked.load(Ordering::Relaxed), 3);
}

#[test]
fn other_places_of_sites_are_another_question() {
    let cached = Cached::new(counting(), None);
    let (one, other) = ([site()], [Site { end: 2, ..site() }]);
    for sites in [&one, &other, &one] {
        cached.predict(&[FunctionSites { text: "ab", sites }]).unwrap();
    }
    assert_eq!(cached.inner.asked.load(Ordering::Relaxed), 2);
}

#[test]
fn the_memory_is_bounded() {
    let cached = Cached::new(counting(), None);
    let texts: Vec<String> = (0..=CAPACITY.get()).map(|number| number.to_string()).collect();
    for text in &texts {
        ask(&cached, &[text]);
    }
    assert_eq!(ask(&cached, &["0"]), [CAPACITY.get() + 1], "the first was forgotten");
    assert_eq!(ask(&cached, &["2"]), [2], "a later one was not");
}

#[test]
fn another_process_finds_on_the_disk_what_one_has_left_there() {
    let folder = tempfile::tempdir().unwrap();
    let fresh = || Cached::new(counting(), Some(folder.path()));
    assert_eq!(ask(&fresh(), &["a", "b"]), [0, 1]);
    let second = fresh();
    assert_eq!(ask(&second, &["b", "c", "a"]), [1, 0, 0], "only c was asked for");
    assert_eq!(second.inner.asked.load(Ordering::Relaxed), 1);
}

#[test]
fn another_model_finds_nothing() {
    let folder = tempfile::tempdir().unwrap();
    ask(&Cached::new(counting(), Some(folder.path())), &["a"]);
    let other = Cached::new(Counting { identity: "another", ..counting() }, Some(folder.path()));
    ask(&other, &["a"]);
    assert_eq!(other.inner.asked.load(Ordering::Relaxed), 1);
}

#[test]
fn what_is_no_distribution_for_each_site_is_not_believed() {
    let mut even = [0.0; 12];
    even[3] = 1.0;
    let good = encode(&[even, even]);
    assert_eq!(decode(&good, 2), Some(vec![even, even]));
    for (place, number) in [(0, 0.5f32), (3, 0.5), (3, f32::NAN), (3, -1.0), (15, 2.0)] {
        let mut bad = good.clone();
        bad[place * 4..place * 4 + 4].copy_from_slice(&number.to_le_bytes());
        assert_eq!(decode(&bad, 2), None, "{number} at {place}");
    }
    for bad in [&good[..good.len() - 1], &good[..48], &[good.as_slice(), &[0]].concat(), &[]] {
        assert_eq!(decode(bad, 2), None);
    }
}
