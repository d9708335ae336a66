//! Dates as people write them: `2024`, `2024-05`, `2024-05-17`, optionally with a time, or `3 weeks ago`.

use chrono::{DateTime, Datelike, Days, Months, NaiveDate, NaiveDateTime, NaiveTime};

const EXPECTED: &str = "write 2024-05-17, 2024-05-17T14:30, 2024-05, 2024 or, e.g., 3 weeks ago";

/// Seconds since 1970. A date without a time is its beginning or, with `end`, its end, in UTC. `ago` counts from `now`.
/// An error says what to write.
pub fn seconds(text: &str, end: bool, now: i64) -> Result<i64, String> {
    let wrong = || format!("{text} is not a date: {EXPECTED}");
    let text = text.trim();
    if let Some(ago) = text.strip_suffix("ago") {
        return back(ago.trim(), now).ok_or_else(wrong);
    }
    if let Ok(time) = DateTime::parse_from_rfc3339(text) {
        return Ok(time.timestamp());
    }
    for format in ["%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M"] {
        if let Ok(time) = NaiveDateTime::parse_from_str(text, format) {
            return Ok(time.and_utc().timestamp());
        }
    }
    let mut parts = text.splitn(3, '-').map(str::parse::<u32>);
    let part = |part: Option<Result<u32, _>>| part.transpose().map_err(|_| wrong());
    let (year, month, day) = (part(parts.next())?, part(parts.next())?, part(parts.next())?);
    let year = year.filter(|year| (1970..=9999).contains(year)).ok_or_else(wrong)?;
    let first = NaiveDate::from_ymd_opt(year as i32, month.unwrap_or(1), day.unwrap_or(1)).ok_or_else(wrong)?;
    let after = match (month, day) {
        (None, _) => NaiveDate::from_ymd_opt(first.year() + 1, 1, 1),
        (_, None) => first.checked_add_months(Months::new(1)),
        _ => first.checked_add_days(Days::new(1)),
    };
    let midnight = |date: NaiveDate| date.and_time(NaiveTime::MIN).and_utc().timestamp();
    Ok(if end { midnight(after.ok_or_else(wrong)?) - 1 } else { midnight(first) })
}

/// A time in seconds since 1970 as [`seconds`] reads it: `2024-05-17T14:30:00Z`. None of a time that no calendar has.
pub fn written(seconds: i64) -> Option<String> {
    DateTime::from_timestamp(seconds, 0).map(|time| time.format("%Y-%m-%dT%H:%M:%SZ").to_string())
}

fn back(text: &str, now: i64) -> Option<i64> {
    let (count, unit) = text.split_once(char::is_whitespace)?;
    let count: i64 = count.parse().ok().filter(|count| *count >= 0)?;
    let seconds = match unit.trim().trim_end_matches('s') {
        "minute" => 60,
        "hour" => 3600,
        "day" => 86_400,
        "week" => 7 * 86_400,
        "month" => 30 * 86_400,
        "year" => 365 * 86_400,
        _ => return None,
    };
    now.checked_sub(count.checked_mul(seconds)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_is_read_as_people_write_it() {
        let day = |text: &str, end| seconds(text, end, 0).unwrap();
        assert_eq!(day("2024-05-17", false), 1_715_904_000);
        assert_eq!(day("2024-05-17", true), 1_715_904_000 + 86_399);
        assert_eq!(day("2024-05-17T01:00", true), 1_715_904_000 + 3600);
        assert_eq!(day("2024-05-17T03:00:00+02:00", false), 1_715_904_000 + 3600);
        assert_eq!(day("2024-05-17 00:00:01.5", false), 1_715_904_001);
        assert_eq!(day("2024", false), day("2024-01-01", false));
        assert_eq!(day("2024-12", true), day("2024-12-31", true));
        assert_eq!(seconds("2 weeks ago", false, 10_000_000), Ok(10_000_000 - 14 * 86_400));
        assert_eq!(seconds("1 day ago", true, 86_400), Ok(0));
    }

    #[test]
    fn what_is_no_date_is_told() {
        for text in ["", "yesterday", "2024-13", "2024-02-30", "17", "x ago", "-3 days ago", "99999999999999 years ago"]
        {
            let error = seconds(text, false, 0).unwrap_err();
            assert!(error.starts_with(&format!("{text} is not a date: write 2024-05-17")), "{error}");
        }
    }
}
