//! How long the engine waits for a worker. Time counts in which the worker works or stands still, not the time that it
//! waits for a processor: a busy machine makes it later, and nothing else.

use std::time::{Duration, Instant};

/// The maximum wait, as a multiple of the limit, however busy the machine is.
const AT_MOST: u32 = 60;

/// What the system says of a process.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Activity {
    /// The processor time that it and its children have taken.
    pub spent: Duration,
    /// One of its threads works or waits for a processor.
    pub works: bool,
}

/// A wait for one message.
#[derive(Debug)]
pub struct Patience {
    limit: Duration,
    begun: Instant,
    last: Instant,
    /// What the worker did when it was first looked at. Most messages come before that.
    first: Option<Activity>,
    spent: Duration,
    /// How long it stood still.
    still: Duration,
}

impl Patience {
    pub fn new(limit: Duration) -> Self {
        let begun = Instant::now();
        Self { limit, begun, last: begun, first: None, spent: Duration::ZERO, still: Duration::ZERO }
    }

    /// The time after which it is worth to look again, at most `slice`.
    pub fn slice(&self, slice: Duration) -> Duration {
        let left = match self.first {
            Some(_) => self.limit.saturating_sub(self.still),
            None => self.limit.saturating_sub(self.begun.elapsed()),
        };
        left.min(slice).max(Duration::from_millis(1))
    }

    /// Whether the worker had its time. `look` asks the system what it does.
    pub fn is_over(&mut self, look: impl FnOnce() -> Option<Activity>) -> bool {
        let now = Instant::now();
        let since = now - std::mem::replace(&mut self.last, now);
        let waited = now - self.begun;
        if waited >= self.limit * AT_MOST {
            return true;
        }
        let Some(activity) = look() else { return waited >= self.limit };
        let Some(first) = self.first else {
            self.first = Some(activity);
            self.spent = activity.spent;
            self.still = if activity.works { Duration::ZERO } else { since };
            return self.still >= self.limit;
        };
        if !activity.works && activity.spent <= self.spent {
            self.still += since;
        }
        self.spent = activity.spent;
        self.still >= self.limit || activity.spent.saturating_sub(first.spent) >= self.limit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Duration = Duration::from_millis(30);

    fn activity(spent: u64, works: bool) -> Option<Activity> {
        Some(Activity { spent: Duration::from_millis(spent), works })
    }

    fn pause() {
        std::thread::sleep(LIMIT + Duration::from_millis(5));
    }

    #[test]
    fn a_worker_that_waits_for_a_processor_is_not_late() {
        let mut patience = Patience::new(LIMIT);
        assert!(!patience.is_over(|| activity(100, true)));
        pause();
        assert!(!patience.is_over(|| activity(100, true)));
        assert!(!patience.is_over(|| activity(110, false)));
        assert!(patience.is_over(|| activity(130, true)));
    }

    #[test]
    fn a_worker_that_stands_still_is_late_after_the_limit() {
        let mut patience = Patience::new(LIMIT);
        assert!(!patience.is_over(|| activity(100, false)));
        pause();
        assert!(patience.is_over(|| activity(100, false)));
    }

    #[test]
    fn where_the_system_says_nothing_the_clock_decides() {
        let mut patience = Patience::new(LIMIT);
        assert!(!patience.is_over(|| None));
        pause();
        assert!(patience.is_over(|| None));
    }
}
