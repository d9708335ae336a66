//! Dates, times, spans and time zones: ends of months and years, leap days, weekends, the epoch, the hours that clocks
//! skip and repeat.

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

fn places() -> Vec<Recipe> {
    [PLACE, "UTC", "America/New_York"].map(|name| made("zoneinfo.ZoneInfo", [text(name)])).to_vec()
}

fn place() -> Recipe {
    made("zoneinfo.ZoneInfo", [text(PLACE)])
}

/// A fixed distance from UTC, in hours.
fn offset(hours: i64) -> Recipe {
    made("datetime.timezone", [made("datetime.timedelta", ints([0, hours * 3600]))])
}
