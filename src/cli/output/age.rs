//! Times as people and programs read them. Kept as milliseconds everywhere else.

use std::cell::OnceCell;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::plural;
use crate::model::Millis;

const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

/// The present time and the local zone, for showing other times.
#[derive(Debug, Clone)]
pub struct Clock {
    now: Millis,
    /// Found when it is first needed: looking for it reads the whole time zone database.
    zone: OnceCell<TimeZone>,
}

impl Clock {
    /// A clock that stands at `now`, in the zone of the person.
    pub fn new(now: Millis) -> Clock {
        Clock { now, zone: OnceCell::new() }
    }

    /// A clock that stands at `now`, in UTC.
    #[cfg(test)]
    pub(crate) fn utc(now: Millis) -> Clock {
        Clock { now, zone: OnceCell::from(TimeZone::UTC) }
    }

    /// How long ago `at` was: `3 minutes ago`. A time yet to come (clocks differ) is `in the future`.
    pub fn age(&self, at: Millis) -> String {
        let seconds = self.now.saturating_sub(at).div_euclid(1000);
        let (count, unit) = match seconds {
            ..0 => return "in the future".to_owned(),
            0..100 => (seconds, "second"),
            100..6_000 => (seconds / MINUTE, "minute"),
            6_000..172_800 => (seconds / HOUR, "hour"),
            172_800..1_209_600 => (seconds / DAY, "day"),
            1_209_600..6_048_000 => (seconds / (7 * DAY), "week"),
            6_048_000..63_072_000 => (seconds / (30 * DAY), "month"),
            _ => (seconds / (365 * DAY), "year"),
        };
        format!("{} ago", plural(count.unsigned_abs(), unit))
    }

    /// The form for tables: an age within the last day, a local date and time before that.
    pub fn when(&self, at: Millis) -> String {
        let within_a_day = (0..DAY * 1000).contains(&self.now.saturating_sub(at));
        if within_a_day { self.age(at) } else { self.local(at, "%Y-%m-%d %H:%M") }
    }

    /// RFC 3339 in the local zone, for people who want to know exactly.
    pub fn local_rfc3339(&self, at: Millis) -> String {
        self.local(at, "%Y-%m-%dT%H:%M:%S%:z")
    }

    /// The form of `git log --date=iso`, in the local zone.
    pub fn git_iso(&self, at: Millis) -> String {
        self.local(at, "%Y-%m-%d %H:%M:%S %z")
    }

    fn local(&self, at: Millis, format: &str) -> String {
        let zone = self.zone.get_or_init(TimeZone::system).clone();
        timestamp(at).to_zoned(zone).strftime(format).to_string()
    }
}

/// RFC 3339 in UTC with milliseconds, for programs.
pub fn rfc3339(at: Millis) -> String {
    timestamp(at).to_zoned(TimeZone::UTC).strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()
}

/// A time that no calendar holds (a hostile import) is shown as the epoch.
fn timestamp(at: Millis) -> Timestamp {
    Timestamp::from_millisecond(at).unwrap_or(Timestamp::UNIX_EPOCH)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_age_names_one_unit() {
        let table = [
            (0, "0 seconds ago"),
            (1, "1 second ago"),
            (99, "99 seconds ago"),
            (120, "2 minutes ago"),
            (2 * HOUR, "2 hours ago"),
            (3 * DAY, "3 days ago"),
            (21 * DAY, "3 weeks ago"),
            (90 * DAY, "3 months ago"),
            (800 * DAY, "2 years ago"),
            (-5, "in the future"),
        ];
        for (seconds, expected) in table {
            assert_eq!(Clock::utc(1_700_000_000_000).age(1_700_000_000_000 - seconds * 1000), expected);
        }
    }

    #[test]
    fn times_for_programs_are_utc_with_milliseconds() {
        assert_eq!(rfc3339(1_700_000_000_123), "2023-11-14T22:13:20.123Z");
        assert_eq!(rfc3339(0), "1970-01-01T00:00:00.000Z");
    }

    #[test]
    fn an_impossible_time_is_no_panic() {
        assert_eq!(rfc3339(i64::MAX), "1970-01-01T00:00:00.000Z");
        assert_eq!(Clock::utc(0).when(i64::MIN), "1970-01-01 00:00");
    }

    #[test]
    fn tables_show_an_age_for_a_day_and_a_date_after_that() {
        assert_eq!(Clock::utc(DAY * 1000).when(1), "23 hours ago");
        assert_eq!(Clock::utc(DAY * 1000 * 3).when(60_000), "1970-01-01 00:01");
    }

    #[test]
    fn times_for_people_name_their_zone() {
        assert_eq!(Clock::utc(0).local_rfc3339(1_700_000_000_000), "2023-11-14T22:13:20+00:00");
        assert_eq!(Clock::utc(0).git_iso(1_700_000_000_000), "2023-11-14 22:13:20 +0000");
    }
}
