//! The speed of a study, and the time that it will take.

use std::time::Duration;

/// The progress of a study.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Progress {
    /// The rows that are done, and those of them from an earlier run.
    pub done: u64,
    pub resumed: u64,
    /// The number of all rows, if it is known.
    pub total: Option<u64>,
    /// The time since the study began.
    pub elapsed: Duration,
}

/// Before this many changes a rate says little.
const ENOUGH: u64 = 3;

impl Progress {
    /// The number of changes compared a second. Rows from an earlier run do not count, since they take no time.
    pub fn rate(&self) -> Option<f64> {
        let compared = self.done.saturating_sub(self.resumed);
        let seconds = self.elapsed.as_secs_f64();
        (compared >= ENOUGH && seconds > 0.0).then(|| compared as f64 / seconds)
    }

    /// The time that the rest takes at this rate.
    pub fn left(&self) -> Option<Duration> {
        let rest = self.total?.saturating_sub(self.done) as f64;
        Duration::try_from_secs_f64(rest / self.rate()?).ok()
    }

    /// `12 of 300 changes, 4.1 a second, 1:10 left`
    pub fn text(&self) -> String {
        self.text_of("changes")
    }

    /// The same for a study of other things.
    pub fn text_of(&self, things: &str) -> String {
        let mut text = match self.total {
            Some(total) => format!("{} of {total} {things}", self.done),
            None => format!("{} {things}", self.done),
        };
        if let Some(rate) = self.rate() {
            text.push_str(&match rate {
                rate if rate >= 10.0 => format!(", {rate:.0} a second"),
                rate if rate >= 0.2 => format!(", {rate:.1} a second"),
                rate => format!(", {:.1} a minute", 60.0 * rate),
            });
        }
        if let Some(left) = self.left() {
            text.push_str(&format!(", {} left", clock(left)));
        }
        text
    }
}

/// `0:07`, `12:00`, `3:05:00`, `4 days`.
fn clock(time: Duration) -> String {
    let seconds = time.as_secs_f64().round() as u64;
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    match hours {
        0 => format!("{minutes}:{seconds:02}"),
        1..48 => format!("{hours}:{minutes:02}:{seconds:02}"),
        _ => format!("{} days", hours / 24),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn progress(done: u64, resumed: u64, total: Option<u64>, seconds: u64) -> String {
        Progress { done, resumed, total, elapsed: Duration::from_secs(seconds) }.text()
    }

    #[test]
    fn the_rate_is_of_what_was_compared_now() {
        assert_eq!(progress(60, 40, Some(100), 10), "60 of 100 changes, 2.0 a second, 0:20 left");
        assert_eq!(progress(40, 40, Some(100), 10), "40 of 100 changes");
        assert_eq!(progress(400, 0, None, 10), "400 changes, 40 a second");
    }

    #[test]
    fn long_times_are_short_to_read() {
        assert_eq!(progress(5, 0, Some(600), 100), "5 of 600 changes, 3.0 a minute, 3:18:20 left");
        assert_eq!(progress(100, 0, Some(1_000_000), 100), "100 of 1000000 changes, 1.0 a second, 11 days left");
    }
}
