//! Points in time as people type them.

use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan, Zoned};

use crate::model::Millis;

/// Which end of the span that a coarse time stands for: a second, or the day of a date alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Edge {
    /// Its beginning, for `--since`.
    Start,
    /// Its end, for `--until` and `@{<time>}`.
    End,
}

/// Reads a time: `3h`, `2d` or `1w` before now, `2026-05-09` and `2026-05-09 14:00` in the local zone, RFC 3339, and whatever
/// else git understands, such as `2 hours ago` or `yesterday`.
pub fn parse_time(text: &str, now: Millis, edge: Edge) -> Option<Millis> {
    let text = text.trim();
    let zone = TimeZone::system();
    if let Some(time) = short_span(text) {
        return now.checked_sub(time);
    }
    if let Ok(exact) = text.parse::<Timestamp>() {
        return Some(exact.as_millisecond());
    }
    if let Ok(date) = Date::strptime("%Y-%m-%d", text) {
        let day = match edge {
            Edge::Start => date,
            Edge::End => date.checked_add(1.day()).ok()?,
        };
        let start = day.to_zoned(zone).ok()?.timestamp().as_millisecond();
        return Some(if edge == Edge::End { start - 1 } else { start });
    }
    for format in ["%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M"] {
        if let Ok(time) = DateTime::strptime(format, text) {
            return Some(whole(time.to_zoned(zone).ok()?.timestamp().as_second(), edge));
        }
    }
    let now = Zoned::new(Timestamp::from_millisecond(now).ok()?, zone);
    crate::git::parse_date(text, now).map(|seconds| whole(seconds, edge))
}

/// A time that is known to the second only.
fn whole(seconds: i64, edge: Edge) -> Millis {
    let start = seconds.saturating_mul(1000);
    match edge {
        Edge::Start => start,
        Edge::End => start.saturating_add(999),
    }
}

/// `90s`, `15m`, `3h`, `2d`, `1w` in milliseconds. A number without a unit is no span here: git reads it otherwise.
fn short_span(text: &str) -> Option<Millis> {
    let span = text.strip_suffix("ago").unwrap_or(text).trim_end();
    if !span.ends_with(|c: char| c.is_ascii_alphabetic()) {
        return None;
    }
    let span = crate::git::parse_duration(span)?;
    Millis::try_from(span.as_millis()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2023-11-14T22:13:20Z
    const NOW: Millis = 1_700_000_000_000;

    fn start(text: &str) -> Option<Millis> {
        parse_time(text, NOW, Edge::Start)
    }

    #[test]
    fn short_spans_count_back_from_now() {
        assert_eq!(start("90s"), Some(NOW - 90_000));
        assert_eq!(start("15m"), Some(NOW - 900_000));
        assert_eq!(start("3h"), Some(NOW - 3 * 3_600_000));
        assert_eq!(start("3h ago"), Some(NOW - 3 * 3_600_000));
        assert_eq!(start("2d"), Some(NOW - 2 * 86_400_000));
        assert_eq!(start("1w"), Some(NOW - 7 * 86_400_000));
    }

    #[test]
    fn gits_own_forms_are_understood() {
        assert_eq!(start("2 hours ago"), Some(NOW - 2 * 3_600_000));
        assert_eq!(start("1.hour.ago"), Some(NOW - 3_600_000));
        assert_eq!(start("1700000000"), Some(NOW));
        assert_eq!(start("2023-11-14 22:13:20 +0000"), Some(NOW));
    }

    #[test]
    fn the_form_of_json_is_exact() {
        assert_eq!(start("2023-11-14T22:13:20.123Z"), Some(NOW + 123));
        assert_eq!(parse_time("2023-11-14T23:13:20+01:00", NOW, Edge::End), Some(NOW));
    }

    #[test]
    fn a_date_is_a_whole_day_and_a_second_a_whole_second() {
        let day = start("2023-11-14").unwrap();

        assert_eq!(parse_time("2023-11-14", NOW, Edge::End), Some(day + 86_400_000 - 1));
        assert_eq!(start("2023-11-14 00:00"), Some(day));
        assert_eq!(parse_time("2023-11-14 00:00:07", NOW, Edge::End), Some(day + 7_999));
    }

    #[test]
    fn what_is_no_time_is_refused() {
        for text in ["", "soon", "3x", "h", "2023-13-45", "12345", "99999999999999999999w"] {
            assert_eq!(start(text), None, "{text}");
        }
    }
}
