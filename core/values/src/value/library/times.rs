//! Dates, times, spans and time zones: ends of months and years, leap days, weekends, the epoch, the hours that clocks
//! skip and repeat.

use rand::RngExt;
use rand_pcg::Pcg64Mcg;

use super::{Provider, ints, made, text, with};
use crate::value::Recipe;

pub(super) const PROVIDERS: &[Provider] = &[
    Provider::new("datetime.date", dates),
    Provider::new("datetime.datetime", moments),
    Provider::new("datetime.time", times),
    Provider::new("datetime.timedelta", spans),
    Provider::new("datetime.tzinfo", zones).made_by(&["datetime.timezone", "zoneinfo.ZoneInfo"]),
    Provider::new("zoneinfo.ZoneInfo", places),
];

/// A zone whose clocks change.
const PLACE: &str = "Europe/Berlin";

fn dates() -> Vec<Recipe> {
    let days = [
        [2024, 5, 17],
        [2024, 2, 29],
        [2023, 12, 31],
        [2024, 1, 1],
        [2024, 6, 15],
        [2024, 6, 16],
        [1970, 1, 1],
        [2023, 2, 28],
        [2024, 4, 30],
        [2021, 1, 3],
        [2000, 3, 31],
        [2024, 5, 20],
    ];
    days.into_iter().map(|day| made("datetime.date", ints(day))).collect()
}

fn moments() -> Vec<Recipe> {
    let moment = |arguments: &[i64]| made("datetime.datetime", arguments.iter().map(|number| Recipe::Int(*number)));
    let naive: [&[i64]; 12] = [
        &[2024, 5, 17, 12, 30],
        &[2024, 2, 29, 23, 59, 59, 999_999],
        &[2023, 12, 31, 6, 5, 4, 3],
        &[2024, 1, 1],
        &[2024, 6, 15, 0, 0, 1],
        &[2024, 6, 16, 18],
        &[1970, 1, 1],
        &[2023, 2, 28, 9],
        &[2024, 4, 30, 17, 45],
        &[2021, 1, 3, 11, 59, 59],
        &[2024, 5, 20, 8, 15],
        &[2000, 3, 31, 22],
    ];
    let zoned = |arguments: &[i64], zone: Recipe| with(moment(arguments), "tzinfo", zone);
    let aware = [
        zoned(&[2024, 5, 17, 12, 30], offset(0)),
        zoned(&[2024, 1, 1, 0, 30], offset(2)),
        zoned(&[2024, 3, 31, 1, 59], place()),
        zoned(&[2024, 10, 27, 2, 30], place()),
    ];
    naive.into_iter().map(moment).chain(aware).collect()
}

fn times() -> Vec<Recipe> {
    let time = |arguments: &[i64]| made("datetime.time", arguments.iter().map(|number| Recipe::Int(*number)));
    [&[12, 30][..], &[0, 0], &[23, 59, 59, 999_999], &[6, 5, 4], &[9, 0], &[18, 0, 1]].map(time).to_vec()
}

fn spans() -> Vec<Recipe> {
    let span = |arguments: &[i64]| made("datetime.timedelta", arguments.iter().map(|number| Recipe::Int(*number)));
    let spans: [&[i64]; 8] = [&[1], &[0], &[0, 90], &[2, 3601, 500_000], &[-1, 5], &[400], &[0, 7200], &[0, 59]];
    spans.map(span).to_vec()
}

fn zones() -> Vec<Recipe> {
    vec![offset(0), offset(2), place(), offset(-5)]
}

/// Zones with and without summer time, on both sides of Greenwich, and with half an hour.
const PLACES: [&str; 5] = [PLACE, "UTC", "America/New_York", "Asia/Kolkata", "Asia/Tokyo"];

/// Names of zones, the usual one first.
pub(super) fn place_names() -> impl Iterator<Item = &'static str> {
    PLACES.into_iter()
}

fn places() -> Vec<Recipe> {
    place_names().map(|name| made("zoneinfo.ZoneInfo", [text(name)])).collect()
}

fn place() -> Recipe {
    made("zoneinfo.ZoneInfo", [text(PLACE)])
}

/// A fixed distance from UTC, in hours.
fn offset(hours: i64) -> Recipe {
    made("datetime.timezone", [made("datetime.timedelta", ints([0, hours * 3600]))])
}

/// Distances in days that calendars make much of.
const DAYS: [i64; 12] = [0, 1, -1, 2, 3, 6, 7, -7, 14, 30, 31, -30];
/// Distances in years.
const YEARS: [i64; 8] = [1, -1, 4, -4, -17, -18, 25, -30];
/// Distances in seconds.
const SECONDS: [i64; 8] = [0, 1, -60, 900, 1800, 3600, -7200, 43_200];
/// The largest number of the code that is taken for a distance.
const MAX_DISTANCE: i64 = 4000;

/// A day, by its distance from the first day of 1970.
struct Day(i64);

impl Day {
    /// After Howard Hinnant, *chrono-Compatible Low-Level Date Algorithms*, `days_from_civil`.
    fn of([year, month, day]: [i64; 3]) -> Self {
        let year = if month > 2 { year } else { year - 1 };
        let (era, month) = (year.div_euclid(400), (month + 9) % 12);
        let of_era = year.rem_euclid(400);
        let of_year = (153 * month + 2) / 5 + day - 1;
        Self(era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468)
    }

    /// `civil_from_days` of the same source.
    fn parts(&self) -> [i64; 3] {
        let days = self.0 + 719_468;
        let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
        let years = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
        let of_year = of_era - (365 * years + years / 4 - years / 100);
        let month = (5 * of_year + 2) / 153;
        let day = of_year - (153 * month + 2) / 5 + 1;
        let month = if month < 10 { month + 3 } else { month - 9 };
        [era * 400 + years + i64::from(month <= 2), month, day]
    }

    fn plus(&self, days: i64) -> Self {
        Self(self.0 + days)
    }
}

fn one<T: Copy>(random: &mut Pcg64Mcg, of: &[T]) -> T {
    of[random.random_range(0..of.len())]
}

/// A date or a moment near the one for which `anchor` stands: a few days or a distance that the code knows from it, the
/// same day of another year, or the end of its month.
pub(super) fn near(class: &str, anchor: u64, random: &mut Pcg64Mcg, numbers: &[i64]) -> Option<Recipe> {
    if !matches!(class, "datetime.date" | "datetime.datetime") {
        return None;
    }
    let anchors: [[i64; 3]; 8] = [
        [2024, 5, 17],
        [2024, 2, 29],
        [2023, 12, 31],
        [2024, 6, 15],
        [2023, 1, 31],
        [2024, 4, 30],
        [2021, 1, 3],
        [2000, 3, 1],
    ];
    let base = anchors[(anchor % anchors.len() as u64) as usize];
    // The same distance for the whole execution, so that two values are often exactly so far apart.
    let known =
        numbers.get((anchor >> 8) as usize % numbers.len().max(1)).filter(|number| number.abs() <= MAX_DISTANCE);
    let distance = |random: &mut Pcg64Mcg, of: &[i64]| match known {
        Some(number) if random.random_bool(0.5) => {
            if random.random_bool(0.8) {
                *number
            } else {
                -number
            }
        }
        _ => one(random, of),
    };
    let is_moment = class == "datetime.datetime";
    let day = match random.random_range(0..10) {
        0..3 => Day::of(base),
        // Moments are mostly hours apart.
        3..7 if is_moment && !(anchor >> 24).is_multiple_of(3) => Day::of(base),
        3..7 => Day::of(base).plus(distance(random, &DAYS)),
        7 | 8 => {
            let [year, month, day] = base;
            let year = year + one(random, &YEARS);
            Day::of([year, month, day.min(28)]).plus(day - day.min(28) + one(random, &[0, 0, -1, 1]))
        }
        _ => {
            let [year, month, _] = base;
            let next = if month == 12 { [year + 1, 1, 1] } else { [year, month + 1, 1] };
            Day::of(next).plus(-1)
        }
    };
    if !is_moment {
        return Some(made(class, ints(day.parts())));
    }
    // As `anchor` decides, so that moments of one execution can be compared.
    let times = [[12, 30, 0], [0, 0, 0], [9, 0, 0], [23, 59, 59], [17, 45, 0]];
    let [hour, minute, second] = times[((anchor >> 16) % times.len() as u64) as usize];
    let distance = match random.random_range(0..4) {
        0 | 1 => 0,
        2 => distance(random, &SECONDS),
        _ if (anchor >> 24).is_multiple_of(2) => distance(random, &[1, -1, 2]) * 3600,
        _ => distance(random, &[1, -1, 30]) * 60,
    };
    let seconds = day.0 * 86_400 + hour * 3600 + minute * 60 + second + distance;
    let [year, month, day] = Day(seconds.div_euclid(86_400)).parts();
    let of_day = seconds.rem_euclid(86_400);
    let moment = made(class, ints([year, month, day, of_day / 3600, of_day / 60 % 60, of_day % 60]));
    Some(match (anchor >> 32) % 5 {
        0 => with(moment, "tzinfo", offset(0)),
        1 => with(moment, "tzinfo", place()),
        _ => moment,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::Recipe;
    use rand::SeedableRng;

    #[test]
    fn days_are_counted_as_calendars_count_them() {
        for (parts, number) in [
            ([1970, 1, 1], 0),
            ([1969, 12, 31], -1),
            ([2000, 3, 1], 11_017),
            ([2024, 2, 29], 19_782),
            ([1900, 3, 1], -25_508),
        ] {
            assert_eq!(Day::of(parts).0, number, "{parts:?}");
            assert_eq!(Day(number).parts(), parts);
        }
    }

    #[test]
    fn dates_of_an_execution_are_some_days_or_years_apart() {
        let day = |value: Recipe| {
            let Recipe::Made(call) = value else { panic!() };
            let parts: Vec<i64> =
                call.arguments.iter().map(|part| if let Recipe::Int(part) = part { *part } else { panic!() }).collect();
            Day::of([parts[0], parts[1], parts[2]]).0
        };
        let mut random = Pcg64Mcg::seed_from_u64(1);
        let days: Vec<i64> = (0..400).map(|_| day(near("datetime.date", 3, &mut random, &[45]).unwrap())).collect();
        let has = |distance: i64| days.iter().any(|one| days.iter().any(|other| one - other == distance));
        assert!([0, 1, 7, 45, 365].into_iter().all(has), "{days:?}");
        let mut moments = (0..50).filter_map(|_| near("datetime.datetime", 3, &mut random, &[]));
        assert!(moments.all(|moment| moment.display().starts_with("datetime.datetime(")));
        assert!(near("datetime.time", 3, &mut random, &[]).is_none());
    }
}
